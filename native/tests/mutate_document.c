/* mutate_document.c: random numbers, and sections that can be changed, added and dropped. */
#include "mutate.h"

static uint8_t arena[1 << 20]; /* own bytes of sections of one input */
static size_t arena_used;
static uint64_t random_state;

void begin(uint64_t seed) {
    random_state = seed;
    arena_used = 0;
}

/* ---- random numbers ---- */

/* SplitMix64: Steele, Lea, Flood 2014. */
uint64_t next_word(void) {
    uint64_t z = random_state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

uint32_t below(uint32_t n) { return (uint32_t)((next_word() >> 32) * n >> 32); }

bool one_in(uint32_t n) { return below(n) == 0; }

/* Small ones, caps and their neighbours, powers of two, all bits set. */
uint32_t interesting(void) {
    static const uint32_t numbers[] = {0,     1,     2,       3,       4,       5,       8,          15,         16,
                                       17,    31,    32,      33,      63,      64,      65,         127,        128,
                                       255,   256,   4095,    4096,    4097,    16384,   32767,      32768,      65535,
                                       65536, 65537, 1048575, 1048576, 1048577, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
    if (one_in(3)) return below(20);
    if (one_in(3)) {
        const uint32_t power = 1u << below(17);
        return power - 1u + below(3);
    }
    return numbers[below(sizeof numbers / sizeof numbers[0])];
}

uint32_t interesting_float(void) {
    static const uint32_t bits[] = {0,          0x80000000, 1,          0x007FFFFF, 0x00800000, 0x3F800000, 0xBF800000,
                                    0x53800000, 0x53800001, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000};
    return bits[below(sizeof bits / sizeof bits[0])];
}

/* ---- bytes ---- */

void put(uint8_t *to, uint32_t number, uint32_t n_bytes) {
    for (uint32_t i = 0; i < n_bytes; i++) to[i] = (uint8_t)(number >> (8 * i));
}

uint8_t *own(section *s, uint32_t n) {
    if (arena_used + n > sizeof arena) n = 0;
    uint8_t *bytes = arena + arena_used;
    arena_used += n;
    for (uint32_t i = 0; i < n; i++) bytes[i] = s->nbytes == 0 ? 0 : s->bytes[i % s->nbytes];
    s->bytes = bytes;
    s->nbytes = n;
    return bytes;
}

section *find(document *doc, uint32_t type) {
    for (uint32_t i = 0; i < doc->n_sections; i++)
        if (doc->sections[i].type == type) return &doc->sections[i];
    return NULL;
}

void drop(document *doc, uint32_t index) {
    doc->n_sections--;
    for (uint32_t i = index; i < doc->n_sections; i++) doc->sections[i] = doc->sections[i + 1];
}

section *add(document *doc, section added) {
    if (doc->n_sections == MOST_SECTIONS) return NULL;
    uint32_t i = doc->n_sections++;
    for (; i > 0 && doc->sections[i - 1].type > added.type; i--) doc->sections[i] = doc->sections[i - 1];
    doc->sections[i] = added;
    return &doc->sections[i];
}
