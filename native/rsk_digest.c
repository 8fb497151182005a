/* rsk_digest.c: checksums that the reader computes: of bytes, and of regenerated hash functions.
 *
 * docs/spec/format.md, sections 1 and 2; src/repsketch/io/digest.py is the same in Python.
 */
#include "rsk_bytes.h"
#include "rsk_check.h"
#include "rsk_hash.h"

enum { DIGEST_COORDINATES = 64 };

void rsk_crc_prepare(uint32_t table[256]) {
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (uint32_t bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (0xEDB88320u & (0u - (crc & 1u)));
        table[byte] = crc;
    }
}

uint32_t rsk_crc_add(const uint32_t table[256], uint32_t crc, const uint8_t *bytes, uint64_t n) {
    crc = ~crc;
    for (uint64_t i = 0; i < n; i++) crc = crc >> 8 ^ table[(crc ^ bytes[i]) & 255u];
    return ~crc;
}

static uint32_t add_word(const uint32_t table[256], uint32_t crc, uint32_t word) {
    const uint8_t bytes[4] = {(uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16), (uint8_t)(word >> 24)};
    return rsk_crc_add(table, crc, bytes, 4);
}

static uint32_t add_offset(const uint32_t table[256], uint32_t crc, uint32_t seed, uint32_t row, uint32_t code) {
    return add_word(table, crc, rsk_bits_of(rsk_offset(rsk_word(seed, RSK_STREAM_OFFSET, row, code, 0))));
}

static uint32_t add_entries(const uint32_t table[256], uint32_t crc, const int8_t *entries, uint32_t n) {
    for (uint32_t j = 0; j < n; j++) {
        const uint8_t byte = (uint8_t)entries[j];
        crc = rsk_crc_add(table, crc, &byte, 1);
    }
    return crc;
}

static uint32_t digest_own_code(const uint32_t table[256], const rsk_row_group *p, uint32_t row, uint32_t code,
                                uint32_t crc) {
    const rsk_family *family = rsk_family_of(p);
    const uint32_t n = p->n_inputs < DIGEST_COORDINATES ? p->n_inputs : DIGEST_COORDINATES, seed = p->seed;
    if (rsk_has_terms(p)) {
        int8_t entries[DIGEST_COORDINATES];
        rsk_ternary_draw(seed, row, code, n, entries);
        crc = add_entries(table, crc, entries, n);
    } else {
        for (uint32_t j = 0; j < n; j++) crc = add_word(table, crc, family->draw_entry(p, row, code, j));
    }
    if (family->has_offset) crc = add_offset(table, crc, seed, row, code);
    if (p->fold == RSK_UNIVERSAL) {
        crc = add_word(table, crc, rsk_word(seed, RSK_STREAM_FOLD, row, 0, 1));
        crc = add_word(table, crc, rsk_word(seed, RSK_STREAM_FOLD, row, code, 0));
    }
    return crc;
}

/* The seeded bias of a code of a sparse pool, as 32 bits. */
static uint32_t draw_bias_bits(const rsk_model *m, const rsk_row_group *p, uint32_t code, uint32_t n,
                               const uint32_t *positions, const int8_t *signs) {
    rsk_value_walk walk = {0, 0, 0};
    rsk_bias bias;
    rsk_bias_start(&bias, p->seed, code, m->precision == RSK_INT, p->bias_scale);
    for (uint32_t i = 0; i < n; i++)
        rsk_bias_add(&bias, signs[i], rsk_reads_values(m, p) && rsk_value_is_boolean(m, &walk, positions[i]));
    return m->precision == RSK_INT ? (uint32_t)rsk_bias_int(&bias) : rsk_bits_of(rsk_bias_float(&bias));
}

static uint32_t digest_pool_code(const uint32_t table[256], const rsk_model *m, const rsk_row_group *p, uint32_t code,
                                 uint32_t crc) {
    const uint32_t n = p->n_inputs < DIGEST_COORDINATES ? p->n_inputs : DIGEST_COORDINATES;
    uint32_t positions[RSK_MAX_NONZEROS], n_nonzeros = 0;
    int8_t signs[RSK_MAX_NONZEROS], entries[DIGEST_COORDINATES] = {0};
    const bool has_few = rsk_family_of(p)->most_nonzeros != 0;
    if (!has_few && code >= p->n_axes)
        rsk_ternary_draw(p->seed, code, 0, n, entries);
    else
        n_nonzeros = rsk_pool_sparse(p->seed, code, p->n_inputs, p->n_nonzeros, p->n_axes, positions, signs);
    for (uint32_t i = 0; i < n_nonzeros; i++)
        if (positions[i] < n) entries[positions[i]] = signs[i];
    crc = add_entries(table, crc, entries, n);
    if (!rsk_has_flag(p, RSK_SEEDED)) return crc;
    if (!rsk_has_bits(p)) return add_offset(table, crc, p->seed, code, 0);
    if (!has_few) return crc;
    return add_word(table, crc, draw_bias_bits(m, p, code, n_nonzeros, positions, signs));
}

uint32_t rsk_digest_own(const rsk_model *m, const rsk_row_group *p, const uint32_t table[256]) {
    (void)m;
    return digest_own_code(table, p, p->n_rows - 1, p->n_concat - 1, digest_own_code(table, p, 0, 0, 0));
}

uint32_t rsk_digest_pool(const rsk_model *m, const rsk_row_group *p, const uint32_t table[256]) {
    return digest_pool_code(table, m, p, p->n_codes - 1, digest_pool_code(table, m, p, 0, 0));
}

uint32_t rsk_digest_find(const rsk_model *m, const rsk_row_group *p, const uint32_t table[256]) {
    const rsk_family *family = rsk_family_of(p);
    return family->digest == NULL ? 0 : family->digest(m, p, table);
}
