/* mutate.c: good files with something wrong in them, by the million, for fuzz_file.c.
 *
 *     mutate [--seed N] [--inputs N] [--first N] FILE...
 *
 * Knows the format (docs/spec/format.md): it changes fields to the values where readers break, moves, cuts, copies and
 * exchanges sections, and then repairs most of what earlier checks would stumble over (sizes that follow from others,
 * lengths of sections, checksums, digests), so that the later checks and the predictions see wrong files too.
 * Input number i of a seed is always the same bytes, whatever came before: --first i --inputs 1 repeats it.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rsk_sections.h"

extern rsk_status fuzz_status;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_SEEDS = 256, MOST_SECTIONS = 36, LARGEST_SECTION = 24576, LARGEST_FILE = 1 << 16, N_STATUSES = 128 };

typedef struct {
    uint32_t type, flags, nbytes;
    const uint8_t *bytes; /* of the seed, or own ones in `arena` */
} section;

typedef struct {
    uint32_t n_sections;
    section sections[MOST_SECTIONS];
} document;

typedef struct {
    size_t nbytes;
    uint8_t *bytes;
    document sections;
} seed_file;

static seed_file seeds[MOST_SEEDS];
static uint32_t n_seeds;
static uint8_t arena[1 << 20], output[2 * LARGEST_FILE]; /* of one input */
static size_t arena_used;
static uint64_t run_seed, input_number, random_state;
static uint32_t crc_table[256];
static bool must_agree; /* the input has sizes that only make sense with all that follows from them */

/* ---- random numbers ---- */

/* SplitMix64: Steele, Lea, Flood 2014. */
static uint64_t next_word(void) {
    uint64_t z = random_state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

/* 0 to n - 1. */
static uint32_t below(uint32_t n) { return (uint32_t)((next_word() >> 32) * n >> 32); }

static bool one_in(uint32_t n) { return below(n) == 0; }

/* A number on which a reader may stumble: small ones, caps and their neighbours, powers of two, all bits set. */
static uint32_t interesting(void) {
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

static uint32_t interesting_float(void) {
    static const uint32_t bits[] = {0,          0x80000000, 1,          0x007FFFFF, 0x00800000, 0x3F800000, 0xBF800000,
                                    0x53800000, 0x53800001, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000};
    return bits[below(sizeof bits / sizeof bits[0])];
}

/* ---- bytes ---- */

static void put(uint8_t *to, uint32_t number, uint32_t n_bytes) {
    for (uint32_t i = 0; i < n_bytes; i++) to[i] = (uint8_t)(number >> (8 * i));
}

static uint32_t crc32(const uint8_t *bytes, size_t n) { return rsk_crc_add(crc_table, 0, bytes, n); }

/* Own bytes of a section, to be changed: n of them, new ones repeating those there are, or 0. */
static uint8_t *own(section *s, uint32_t n) {
    if (arena_used + n > sizeof arena) n = 0;
    uint8_t *bytes = arena + arena_used;
    arena_used += n;
    for (uint32_t i = 0; i < n; i++) bytes[i] = s->nbytes == 0 ? 0 : s->bytes[i % s->nbytes];
    s->bytes = bytes;
    s->nbytes = n;
    return bytes;
}

static section *find(document *doc, uint32_t type) {
    for (uint32_t i = 0; i < doc->n_sections; i++)
        if (doc->sections[i].type == type) return &doc->sections[i];
    return NULL;
}

static void drop(document *doc, uint32_t index) {
    doc->n_sections--;
    for (uint32_t i = index; i < doc->n_sections; i++) doc->sections[i] = doc->sections[i + 1];
}

/* Adds a section where its type belongs. */
static section *add(document *doc, section added) {
    if (doc->n_sections == MOST_SECTIONS) return NULL;
    uint32_t i = doc->n_sections++;
    for (; i > 0 && doc->sections[i - 1].type > added.type; i--) doc->sections[i] = doc->sections[i - 1];
    doc->sections[i] = added;
    return &doc->sections[i];
}

/* ---- fields ---- */

typedef struct {
    uint8_t offset, n_bytes, most; /* most: a value up to it is often allowed; 0: a size */
} field;

static const field model_fields[] = {
    {0, 1, 1},  {1, 1, 1},  {2, 1, 2},  {3, 1, 4},  {4, 1, 4},  {5, 1, 31}, {6, 1, 3},  {7, 1, 2},    {8, 4, 0},
    {12, 4, 0}, {16, 4, 0}, {20, 4, 0}, {24, 4, 0}, {28, 2, 2}, {30, 2, 15}, {32, 2, 0}, {34, 2, 0},  {36, 2, 0},
    {38, 1, 1}, {39, 1, 1}, {40, 4, 3}, {44, 4, 1}, {48, 4, 1}, {52, 4, 1}, {56, 1, 100}, {57, 1, 100}, {58, 4, 1},
};
static const field part_fields[] = {
    {0, 1, 1},  {1, 1, 3},  {1, 1, 18}, {2, 1, 1},  {3, 1, 1},   {4, 1, 3},  {5, 1, 2},  {6, 1, 2},  {7, 1, 31},
    {8, 1, 15}, {9, 1, 31}, {10, 1, 3}, {11, 1, 1}, {12, 1, 4},  {13, 1, 1}, {14, 2, 1}, {16, 4, 1}, {20, 4, 0}, {24, 4, 0},
    {28, 4, 0}, {32, 4, 4}, {36, 4, 0}, {40, 4, 6}, {44, 4, 0},  {48, 4, 3}, {52, 4, 0}, {56, 4, 4}, {60, 4, 1},
    {64, 4, 0}, {68, 4, 0}, {72, 4, 1},
};

static void change_field(document *doc) {
    const bool in_part = one_in(2);
    section *s = find(doc, in_part ? PART + (one_in(4) ? 8 * below(4) : 0) : MODEL);
    if (s == NULL || s->nbytes < 64) return;
    uint8_t *bytes = own(s, s->nbytes);
    const field *f = in_part ? &part_fields[below(sizeof part_fields / sizeof part_fields[0])]
                             : &model_fields[below(sizeof model_fields / sizeof model_fields[0])];
    if (s->nbytes < f->offset + (uint32_t)f->n_bytes) return;
    if (f->most == 0 && one_in(4)) put(bytes + f->offset, below(20) + 1, f->n_bytes);
    else if (f->most != 0 && !one_in(4)) put(bytes + f->offset, below(f->most + 1u), f->n_bytes);
    else if (f->offset == 1 && in_part) bytes[1] = (uint8_t)(16 + below(3));
    else put(bytes + f->offset, f->n_bytes == 4 && one_in(4) ? interesting_float() : interesting(), f->n_bytes);
}

/* Some size becomes a large one, of all magnitudes alike; others small where the file would become too long. */
static void change_size(document *doc) {
    static const uint8_t offsets[] = {8, 20, 24, 28, 32, 36, 40, 44};
    const uint32_t offset = offsets[below(sizeof offsets)], bits = below(17), size = (1u << bits) + below(1u << bits);
    section *s = find(doc, offset <= 24 ? MODEL : PART);
    if (s == NULL || s->nbytes < 64) return;
    uint8_t *bytes = own(s, s->nbytes);
    if (s->nbytes < 64) return;
    put(bytes + offset, size, 4);
    if (offset > 24 && offset != 28) put(bytes + 28, 1 + below(3), 4);
    if (offset == 36 || offset == 40) put(bytes + 32, 1, 4);
    if (offset <= 24) bytes[4] = (uint8_t)(one_in(2) ? RSK_MATRIX_TERNARY : bytes[4]);
    must_agree = true;
}

/* ---- what follows from fields ---- */

/* Sizes of MODEL that others give. */
static void agree_model(uint8_t *m) {
    const bool has_matrix = m[4] >= RSK_MATRIX_FLOAT32;
    if (!(m[30] & RSK_HAS_COLUMNS)) put(m + 12, rsk_u32(m + 8), 4);
    if (m[28] != RSK_KINDS_MIXED) put(m + 16, rsk_u32(m + 12), 4);
    if (!has_matrix) put(m + 20, rsk_u32(m + 16), 4);
    if (m[4] == RSK_SHIFT_ONLY) m[30] |= RSK_HAS_SHIFT;
    if (m[4] == RSK_NO_PROJECTION) m[30] &= (uint8_t)~RSK_HAS_SHIFT;
    if (m[0] == RSK_INT) {
        if (m[4] == RSK_SHIFT_ONLY || m[4] == RSK_MATRIX_FLOAT32) m[4] = RSK_MATRIX_INT8;
        if (m[6] == RSK_LINEAR_FLOAT32) m[6] = RSK_LINEAR_INT8;
        if (rsk_i16(m + 32) >= rsk_i16(m + 34)) put(m + 32, 0x007FFF81u, 4); /* -127 to 127 */
        if (has_matrix && rsk_u16(m + 36) == 0) put(m + 36, 300, 2);
    }
    if (m[0] == RSK_INT && !has_matrix) {
        put(m + 36, 0, 2);
        m[5] = 0;
        m[30] &= (uint8_t)~RSK_HAS_MULTIPLIERS;
    }
    if (m[0] != RSK_INT) {
        m[5] = 0;
        memset(m + 32, 0, 6);
        m[30] &= (uint8_t)~RSK_HAS_MULTIPLIERS;
        if (m[6] > RSK_LINEAR_FLOAT32) m[6] = RSK_LINEAR_FLOAT32;
        m[38] = RSK_STORED_FLOAT32;
    }
    put(m + 52, m[6] >= RSK_LINEAR_INT16, 4);
    if (m[28] == RSK_KINDS_BOOLEAN) memset(m + 44, 0, 8);
    if (m[28] == RSK_KINDS_NUMERIC)
        for (uint32_t at = 44; at <= 48; at += 4)
            if (rsk_u32(m + at) > 1) put(m + at, rsk_u32(m + 12), 4);
    if (m[7] != RSK_STORED_FLOAT8) m[56] = m[57] = 0;
}

/* And of PART. */
static void agree_part(const uint8_t *m, uint8_t *p) {
    const bool is_pool = p[1] >= RSK_POOL_TERNARY, is_whole = m[0] == RSK_INT;
    const bool has_bits = is_pool ? !(p[9] & RSK_LEVELS) : p[1] == RSK_ANGULAR;
    const bool has_width = p[1] == RSK_L2 || p[1] == RSK_L1;
    if (m[4] == RSK_NO_PROJECTION) p[0] = 1;
    if (p[1] > RSK_ANGULAR) p[2] = 0;
    if (is_pool) p[3] = RSK_DIRECT;
    if (p[1] == RSK_MINHASH || p[1] == RSK_L1) p[3] = RSK_UNIVERSAL;
    if (is_whole && p[4] == RSK_COUNTER_FLOAT32) p[4] = RSK_COUNTER_INT8;
    if (!is_whole) p[8] = 0;
    if (!is_whole || p[6] != RSK_DECODE_SHARED) p[7] = 0;
    if (!is_whole || p[6] == RSK_NO_DECODE) p[13] = 0;
    p[11] = has_width;
    put(p + 16, 0, 4);
    put(p + 20, has_width ? 0x3FF00000u : 0, 4); /* 1.0 */
    p[10] = p[1] != RSK_POOL_SPARSE ? 0 : p[10] == 0 ? 3 : p[10];
    p[12] = p[1] != RSK_POOL_THRESHOLD ? 0 : !is_whole ? 4 : p[12] == 2 ? 2 : 1;
    if (!is_pool) p[9] = 0;
    if (p[1] == RSK_POOL_THRESHOLD) p[9] &= RSK_HAS_INDICES;
    if (has_bits) p[9] &= RSK_HAS_INDICES | RSK_SEEDED;
    if (p[9] & RSK_INTERPOLATED) put(p + 32, 1, 4);
    if (is_whole && (p[9] & RSK_LEVELS) && !(p[9] & RSK_SEEDED) && p[8] == 0) p[8] = 1;
    if (!is_pool || p[1] == RSK_POOL_THRESHOLD) put(p + 48, 0, 4);
    if (!(p[9] & RSK_SEEDED) || !has_bits) put(p + 64, 0, 4);
    if (!(p[9] & RSK_HAS_INDICES)) put(p + 44, rsk_u32(p + 28) * rsk_u32(p + 32), 4);
    if (p[3] == RSK_DIRECT) {
        if (has_bits || rsk_u32(p + 40) < 2) put(p + 40, 2, 4);
        uint64_t power = 1;
        for (uint32_t k = 0; k < rsk_u32(p + 32) && power <= 65536; k++) power *= rsk_u32(p + 40);
        put(p + 36, (uint32_t)power, 4);
    } else {
        put(p + 40, 0, 4);
    }
    if (p[6] == RSK_NO_DECODE) put(p + 52, rsk_u32(m + 24), 4);
    if (p[6] == RSK_DECODE_ROWS) put(p + 52, 1, 4);
    if (p[6] != RSK_NO_DECODE && p[5] == RSK_MEDIAN_OF_MEANS) p[5] = RSK_MEAN;
    if (p[5] != RSK_MEDIAN_OF_MEANS) put(p + 56, 1, 4);
    if (rsk_u32(p + 60) != 1) put(p + 60, rsk_u32(m + 24), 4);
}

static void agree(document *doc) {
    section *s = find(doc, MODEL);
    if (s == NULL || s->nbytes != 64) return;
    uint8_t *model = own(s, 64);
    if (s->nbytes == 64) agree_model(model);
    for (uint32_t i = 0; i < 4 && s->nbytes == 64; i++) {
        section *part = find(doc, PART + 8 * i);
        if (part == NULL || part->nbytes != 80) continue;
        uint8_t *bytes = own(part, 80);
        if (part->nbytes == 80) agree_part(model, bytes);
    }
}

/* Gives a section the length that fields ask for; makes it if there is none. */
static void fit(document *doc, uint32_t type, uint64_t n_bits) {
    static const uint8_t ones[] = {0, 0, 0x80, 0x3F}, small[] = {1};
    const uint32_t n = (uint32_t)((n_bits + 7) / 8);
    section *s = find(doc, type);
    if (n_bits > 8 * LARGEST_SECTION) return;
    if (n == 0) {
        if (s != NULL) drop(doc, (uint32_t)(s - doc->sections));
        return;
    }
    if (s == NULL) {
        const section floats = {type, 1, sizeof ones, ones}, bytes = {type, 1, sizeof small, small};
        s = add(doc, one_in(3) ? floats : bytes);
    }
    if (s == NULL || s->nbytes == n) return;
    uint8_t *bytes = own(s, n);
    if (s->nbytes == n && n_bits % 8 != 0) bytes[n - 1] &= (uint8_t)((1u << n_bits % 8) - 1u);
}

static void fit_part(document *doc, const uint8_t *m, uint32_t base) {
    const section *s = find(doc, base + PART);
    if (s == NULL || s->nbytes != 80) return;
    const uint8_t *p = s->bytes;
    const bool is_threshold = p[1] == RSK_POOL_THRESHOLD, has_indices = (p[9] & RSK_HAS_INDICES) != 0;
    const uint64_t n_rows = rsk_u32(p + 28) % 65537, n_concat = rsk_u32(p + 32) % 4097;
    const uint64_t n_buckets = rsk_u32(p + 36) % 65537, n_numbers = rsk_u32(p + 52) % 65537;
    const uint32_t n_codes = rsk_u32(p + 44) % 65537, n_outputs = rsk_u32(m + 24) % 65537;
    const uint32_t n_inputs = rsk_u32(m + (p[0] == 0 ? 16 : 20)) % 1048577;
    const uint64_t n_decode = p[6] == 0 ? 0 : (p[6] == RSK_DECODE_ROWS ? n_rows : n_numbers) * n_outputs;
    fit(doc, base + INDICES, has_indices ? n_rows * n_concat * rsk_index_bits(n_codes + (n_codes == 0)) : 0);
    fit(doc, base + CODE_COLUMNS, is_threshold ? (uint64_t)n_codes * rsk_index_bits(n_inputs + (n_inputs == 0)) : 0);
    fit(doc, base + THRESHOLDS, is_threshold ? (uint64_t)n_codes * p[12] * 8 : 0);
    fit(doc, base + COUNTERS, n_rows * n_buckets * n_numbers * (32u >> p[4] % 4u));
    fit(doc, base + DECODE, n_decode * (m[0] != RSK_INT ? 32 : p[13] == 0 ? 8 : 4));
    fit(doc, base + GAIN, 32 * (uint64_t)(rsk_u32(p + 60) % 65537));
}

/* Lengths of sections. The remainders keep products within 64 bits; sizes over their caps are refused anyway. */
static void fit_all(document *doc) {
    static const uint8_t stored[] = {32, 16, 8}, matrix[] = {0, 0, 32, 8, 2}, linear[] = {0, 32, 16, 8};
    const section *s = find(doc, MODEL);
    if (s == NULL || s->nbytes != 64) return;
    uint8_t m[64];
    memcpy(m, s->bytes, 64);
    const uint64_t n_columns = rsk_u32(m + 12) % 1048577, n_values = rsk_u32(m + 16) % 1048577;
    const uint64_t p = rsk_u32(m + 20) % 1048577, n_outputs = rsk_u32(m + 24) % 65537;
    const uint32_t n_features = rsk_u32(m + 8) % 1048577;
    fit(doc, COLUMNS, m[30] & RSK_HAS_COLUMNS ? n_columns * rsk_index_bits(n_features + (n_features == 0)) : 0);
    fit(doc, KINDS, m[28] == RSK_KINDS_MIXED ? 16 * n_columns : 0);
    fit(doc, CENTERS, (uint64_t)rsk_u32(m + 44) * stored[m[7] % 3]);
    fit(doc, SCALES, (uint64_t)rsk_u32(m + 48) * stored[m[7] % 3]);
    fit(doc, PROJECTION, n_values * p * matrix[m[4] % 5]);
    fit(doc, SHIFT, m[30] & RSK_HAS_SHIFT ? 32 * p : 0);
    fit(doc, MULTIPLIERS, m[30] & RSK_HAS_MULTIPLIERS ? 16 * p : 0);
    fit(doc, PROJECTION_SCALES, m[0] == RSK_FLOAT32 && m[4] >= RSK_MATRIX_INT8 ? 32 * p : 0);
    fit(doc, LINEAR, p * n_outputs * linear[m[6] % 4]);
    fit(doc, LINEAR_GAIN, 32 * (uint64_t)rsk_u32(m + 52));
    fit(doc, OFFSET, (m[38] == RSK_STORED_FLOAT32 ? 32 : 16) * n_outputs);
    for (uint32_t i = 0; i < 4; i++) fit_part(doc, m, 8 * i);
}

/* ---- contents ---- */

static section *any_section(document *doc) {
    return doc->n_sections == 0 ? NULL : &doc->sections[below(doc->n_sections)];
}

static void change_bytes(document *doc) {
    section *s = any_section(doc);
    if (s == NULL || s->nbytes == 0) return;
    uint8_t *bytes = own(s, s->nbytes);
    for (uint32_t n = 1 + below(4); n > 0 && s->nbytes > 0; n--) {
        uint8_t *byte = bytes + below(s->nbytes);
        *byte = one_in(2) ? (uint8_t)(*byte ^ 1u << below(8)) : (uint8_t)next_word();
    }
}

/* Some, or all, 32-bit numbers of a section. */
static void change_numbers(document *doc) {
    section *s = any_section(doc);
    if (s == NULL || s->nbytes < 4 || s->type == MODEL) return;
    uint8_t *bytes = own(s, s->nbytes);
    const uint32_t number = one_in(2) ? interesting_float() : interesting(), rarity = one_in(4) ? 1 : 1 + below(16);
    for (uint32_t at = 0; at + 4 <= s->nbytes; at += 4)
        if (one_in(rarity)) put(bytes + at, number, 4);
}

static void fill_bytes(document *doc) {
    static const uint8_t bytes[] = {0, 1, 0x7F, 0x80, 0x81, 0xFF, 0x55, 0x11};
    section *s = any_section(doc);
    if (s == NULL || s->nbytes == 0 || s->type == MODEL || s->type % 8 == 0) return;
    memset(own(s, s->nbytes), bytes[below(sizeof bytes)], s->nbytes);
}

static void resize(document *doc) {
    section *s = any_section(doc);
    if (s == NULL) return;
    const uint32_t n = one_in(2) ? s->nbytes + below(17) : s->nbytes - (s->nbytes < 16 ? s->nbytes : below(17));
    own(s, one_in(8) ? below(600) : n);
}

static void drop_any(document *doc) {
    if (doc->n_sections > 0) drop(doc, below(doc->n_sections));
}

/* The same type again, or the same content under another type. */
static void duplicate(document *doc) {
    const section *s = any_section(doc);
    if (s == NULL) return;
    section copy = *s;
    if (one_in(2)) copy.type = one_in(2) ? below(70) : interesting();
    if (one_in(2)) copy.flags = below(3);
    add(doc, copy);
}

static void swap(document *doc) {
    section *a = any_section(doc), *b = any_section(doc);
    if (a == NULL || b == NULL) return;
    const section kept = *a;
    *a = *b;
    *b = kept;
    if (one_in(2)) { /* contents alone */
        b->type = a->type;
        a->type = kept.type;
    }
}

/* A section of another file, in place of the one of that type. */
static void splice(document *doc) {
    const document *other = &seeds[below(n_seeds)].sections;
    const section taken = other->sections[below(other->n_sections)];
    section *s = find(doc, taken.type);
    if (s != NULL) *s = taken;
    else add(doc, taken);
}

/* All sections of a part of another file become a further part of this one. */
static void splice_part(document *doc) {
    const document *other = &seeds[below(n_seeds)].sections;
    section *model = find(doc, MODEL);
    const uint32_t base = 8 * below(4);
    for (uint32_t i = doc->n_sections; i-- > 0;)
        if (doc->sections[i].type >= PART + base && doc->sections[i].type < PART + base + 8) drop(doc, i);
    for (uint32_t i = 0; i < other->n_sections; i++) {
        section taken = other->sections[i];
        taken.type += base;
        if (other->sections[i].type >= PART && other->sections[i].type < PART + 8) add(doc, taken);
    }
    model = find(doc, MODEL);
    if (model == NULL || model->nbytes != 64) return;
    uint8_t *bytes = own(model, 64);
    if (model->nbytes == 64 && bytes[3] < base / 8 + 1) bytes[3] = (uint8_t)(base / 8 + 1);
}

/* ---- text ---- */

static void change_metadata(document *doc) {
    static const char *const tokens[] = {
        "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u00e9", "\\x", "1e308", "1e307", "-", "0", ".", "e+99999999",
        "NaN", "-Infinity", "true", "null", " ", "\n", "\xC3\xA9", "\xC3", "\xED\xA0\x80", "\xF4\x90\x80\x80",
        "[[[[", "\"a\":1,", "01", "1.5e-3",
    };
    static const section fresh = {METADATA, 0, 2, (const uint8_t *)"{}"};
    section *s = find(doc, METADATA);
    if (s == NULL) s = add(doc, fresh);
    if (s == NULL) return;
    for (uint32_t n = 1 + below(3); n > 0; n--) {
        const char *token = tokens[below(sizeof tokens / sizeof tokens[0])];
        const uint32_t length = (uint32_t)strlen(token), old = s->nbytes;
        const uint32_t at = old > 0 && one_in(4) ? 1 : below(old + 1); /* 1: behind the brace, where keys begin */
        const uint32_t cut = one_in(3) ? below(old - at + 1 < 12 ? old - at + 1 : 12) : 0; /* replaced by the token */
        const uint8_t *before = s->bytes;
        uint8_t *bytes = own(s, old + length - cut);
        if (s->nbytes != old + length - cut) return;
        memcpy(bytes, before, at);
        memcpy(bytes + at, token, length);
        memcpy(bytes + at + length, before + at + cut, old - at - cut);
    }
    if (one_in(50)) own(s, 32760 + below(20));
    if (one_in(50)) { /* a long string */
        const uint32_t n = 1020 + below(10);
        uint8_t *bytes = own(s, n + 8);
        if (s->nbytes != n + 8) return;
        memset(bytes, 'x', n + 8);
        memcpy(bytes, "{\"k\":\"", 6);
        memcpy(bytes + n + 6, "\"}", 2);
    }
}

/* Kinds, order and ends of labels, names and categories; counts, borders and quantiles of intervals. */
static void change_table(document *doc) {
    static const uint8_t types[] = {CLASSES, CLASSES, NAMES, SUMS, CATEGORIES, INTERVALS};
    section *s = find(doc, types[below(sizeof types)]);
    if (s == NULL || s->nbytes < 4) return;
    uint8_t *bytes = own(s, s->nbytes);
    const uint32_t n_words = s->nbytes / 4, front = n_words < 12 ? n_words : 12;
    if (n_words == 0) return;
    uint8_t *word = bytes + 4 * below(one_in(2) ? n_words : front), *other = bytes + 4 * below(front);
    uint8_t kept[4];
    memcpy(kept, word, 4);
    if (one_in(3)) {
        memcpy(word, other, 4);
        memcpy(other, kept, 4);
        return;
    }
    put(word, one_in(2) ? below(6) : one_in(2) ? rsk_u32(word) + 1 : interesting(), 4);
}

/* ---- files ---- */

static size_t assemble(const document *doc) {
    const uint32_t header = 32 + 24 * doc->n_sections;
    uint32_t offset = header;
    memset(output, 0, header);
    memcpy(output, "\x89RSK", 4);
    put(output + 4, 1, 2);
    put(output + 8, header, 4);
    put(output + 12, doc->n_sections, 4);
    for (uint32_t i = 0; i < doc->n_sections; i++) {
        const section *s = &doc->sections[i];
        uint8_t *entry = output + 32 + 24 * i;
        const uint32_t nbytes = offset + s->nbytes > LARGEST_FILE ? 0 : s->nbytes, end = (offset + nbytes + 7) / 8 * 8;
        put(entry, s->type, 4);
        put(entry + 4, s->flags, 4);
        put(entry + 8, offset, 4);
        put(entry + 12, nbytes, 4);
        memcpy(output + offset, s->bytes, nbytes);
        memset(output + offset + nbytes, 0, end - offset - nbytes);
        put(entry + 16, crc32(output + offset, nbytes), 4);
        offset = end;
    }
    put(output + 16, offset, 4);
    put(output + 20, crc32(output, header), 4);
    return offset;
}

static void repair_header(size_t nbytes) {
    const uint32_t n = rsk_u32(output + 8);
    put(output + 20, 0, 4);
    if (n <= nbytes) put(output + 20, crc32(output, n), 4);
}

static void repair_checksums(size_t nbytes) {
    for (uint32_t i = 0; i < rsk_u32(output + 12) && 56 + 24 * (uint64_t)i <= nbytes && i < MOST_SECTIONS; i++) {
        uint8_t *entry = output + 32 + 24 * i;
        const uint64_t offset = rsk_u32(entry + 8), length = rsk_u32(entry + 12);
        if (offset + length <= nbytes) put(entry + 16, crc32(output + offset, (size_t)length), 4);
    }
    repair_header(nbytes);
}

/* Framing: bytes anywhere, fields of the header and of entries, the end of the file. Returns the new length. */
static size_t change_framing(size_t nbytes) {
    const uint32_t n_sections = rsk_u32(output + 12) % MOST_SECTIONS; /* it may have been changed already */
    uint8_t *entry = output + 32 + 24 * (n_sections == 0 ? 0 : below(n_sections));
    static const uint8_t header_fields[] = {0, 4, 6, 8, 12, 16, 20, 24, 28};
    /* One random number a statement: C does not say which argument of a call comes first. */
    uint32_t place, number;
    switch (below(8)) {
    case 0:
        place = below((uint32_t)nbytes);
        output[place] ^= (uint8_t)(1u << below(8));
        break;
    case 1:
        place = header_fields[below(sizeof header_fields)];
        number = interesting();
        put(output + place, number, one_in(2) ? 2 : 4);
        break;
    case 2:
        place = 4 * below(6);
        put(entry + place, interesting(), 4);
        break;
    case 3:
    case 4: /* a small step of a type, a flag, an offset or a length */
        place = 4 * below(4);
        number = one_in(2) ? 8 : 1;
        put(entry + place, rsk_u32(entry + place) + (one_in(2) ? number : 0u - number), 4);
        break;
    case 5: nbytes -= below((uint32_t)nbytes); break;
    case 6:
        number = 1 + below(64);
        memset(output + nbytes, one_in(2) ? 0 : (int)below(256), number);
        nbytes += number;
        if (one_in(2)) put(output + 16, (uint32_t)nbytes, 4);
        break;
    default:
        place = 32 + below((uint32_t)nbytes - 32);
        output[place] = (uint8_t)next_word();
    }
    return nbytes;
}

/* Writes the digests that the hash functions of a file really have, into one that is good but for them. */
static void repair_digests(size_t nbytes) {
    rsk_model model; /* filled up to the part that was refused */
    rsk_open(output, nbytes, 0, &model);
    for (uint32_t i = 0; i < rsk_u32(output + 12); i++) {
        const uint8_t *entry = output + 32 + 24 * i;
        const uint32_t type = rsk_u32(entry), index = (type - PART) / 8;
        if (type < PART || type % 8 != 0 || index >= model.n_parts || model.parts[index].n_rows == 0) continue;
        put(output + rsk_u32(entry + 8) + 68, rsk_digest_find(&model, &model.parts[index], crc_table), 4);
    }
    repair_checksums(nbytes);
}

typedef void mutation(document *doc);
static mutation *const mutations[] = {
    change_field, change_field, change_field,   change_field,    change_field,   change_field,
    change_field, change_size,  change_size,    change_bytes,    change_bytes,   fill_bytes,
    resize,       drop_any,     change_numbers, duplicate,       swap,           splice,
    splice,       splice_part,  change_table,   change_metadata, change_metadata, change_table,
};

/* The next input in `output`; its length. */
static size_t make_input(void) {
    document doc = seeds[below(n_seeds)].sections;
    arena_used = 0;
    must_agree = false;
    for (uint32_t n = one_in(4) ? 1 : 1 + below(5); n > 0; n--)
        mutations[below(sizeof mutations / sizeof mutations[0])](&doc);
    if (must_agree || !one_in(4)) agree(&doc);
    if (must_agree || !one_in(4)) fit_all(&doc);
    size_t nbytes = assemble(&doc);
    if (one_in(8)) {
        for (uint32_t n = 1 + below(3); n > 0 && nbytes > 32; n--) nbytes = change_framing(nbytes);
        if (!one_in(4) && nbytes >= 32) repair_checksums(nbytes);
    }
    return nbytes;
}

/* ---- the program ---- */

static void read_seed(const char *path) {
    rsk_model model;
    FILE *stream = fopen(path, "rb");
    seed_file *seed = &seeds[n_seeds++];
    seed->bytes = malloc(LARGEST_FILE);
    if (n_seeds == MOST_SEEDS || stream == NULL || seed->bytes == NULL) {
        fprintf(stderr, "mutate: cannot read %s\n", path);
        exit(2);
    }
    seed->nbytes = fread(seed->bytes, 1, LARGEST_FILE, stream);
    fclose(stream);
    const rsk_status status = rsk_open(seed->bytes, seed->nbytes, 0, &model);
    if (status != RSK_OK) {
        fprintf(stderr, "mutate: %s: %s\n", path, rsk_status_text(status));
        exit(2);
    }
    seed->sections.n_sections = rsk_u32(seed->bytes + 12);
    for (uint32_t i = 0; i < seed->sections.n_sections; i++) {
        const uint8_t *entry = seed->bytes + 32 + 24 * i;
        const section s = {rsk_u32(entry), rsk_u32(entry + 4), rsk_u32(entry + 12), seed->bytes + rsk_u32(entry + 8)};
        seed->sections.sections[i] = s;
    }
}

/* The sanitizers end with abort(), as fuzz_file.c does, so that the input that was too much can be named. */
static void say_which(int signal_number) {
    (void)signal_number;
    fprintf(stderr, "mutate: died; again with --seed %llu --first %llu --inputs 1\n", (unsigned long long)run_seed,
            (unsigned long long)input_number);
}

const char *__asan_default_options(void);
const char *__ubsan_default_options(void);
const char *__asan_default_options(void) { return "abort_on_error=1:quarantine_size_mb=4"; }
const char *__ubsan_default_options(void) { return "abort_on_error=1:print_stacktrace=1"; }

static void print_histogram(const uint64_t counts[N_STATUSES]) {
    static const struct {
        int32_t number;
        const char *name;
    } known[] = {
#define RSK_STATUS(name, number, text) {number, #name},
#include "rsk_status.def"
#undef RSK_STATUS
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (counts[known[i].number] != 0)
            printf("%10llu %s\n", (unsigned long long)counts[known[i].number], known[i].name);
}

int main(int argc, char **argv) {
    static uint64_t counts[N_STATUSES];
    uint64_t n_inputs = 100000, first = 0;
    run_seed = 1;
    for (int i = 1; i < argc; i++) {
        if (i + 1 < argc && strcmp(argv[i], "--seed") == 0) run_seed = strtoull(argv[++i], NULL, 10);
        else if (i + 1 < argc && strcmp(argv[i], "--inputs") == 0) n_inputs = strtoull(argv[++i], NULL, 10);
        else if (i + 1 < argc && strcmp(argv[i], "--first") == 0) first = strtoull(argv[++i], NULL, 10);
        else read_seed(argv[i]);
    }
    if (n_seeds == 0) {
        fprintf(stderr, "usage: mutate [--seed N] [--inputs N] [--first N] FILE...\n");
        return 2;
    }
    signal(SIGABRT, say_which);
    rsk_crc_prepare(crc_table);
    const clock_t start = clock();
    for (input_number = first; input_number < first + n_inputs; input_number++) {
        random_state = (run_seed << 40) + input_number * 0xD1B54A32D192ED03u;
        const size_t nbytes = make_input();
        const bool keeps_digests = one_in(8);
        LLVMFuzzerTestOneInput(output, nbytes);
        for (uint32_t n = 0; n < RSK_MAX_PARTS && fuzz_status == RSK_DIGEST && !keeps_digests; n++) {
            repair_digests(nbytes);
            LLVMFuzzerTestOneInput(output, nbytes);
        }
        counts[fuzz_status]++;
    }
    const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    printf("mutate: seed %llu, %u files, %llu inputs, %llu accepted, %.0f inputs/s\n", (unsigned long long)run_seed,
           (unsigned)n_seeds, (unsigned long long)n_inputs, (unsigned long long)counts[RSK_OK],
           (double)n_inputs / seconds);
    print_histogram(counts);
    return 0;
}
