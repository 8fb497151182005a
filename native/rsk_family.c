/* rsk_family.c: the LSH families and pools, one record each: docs/spec/inference.md, docs/spec/generator.md. */
#include "rsk_family.h"

#include "rsk_bytes.h"
#include "rsk_check.h"
#include "rsk_hash.h"
#include "rsk_plan.h"

/* ---- entries and terms of codes, drawn from the seed ---- */

static uint32_t draw_gaussian(const rsk_row_group *group, uint32_t row, uint32_t k, uint32_t j) {
    return rsk_bits_of(rsk_gaussian(rsk_word(group->seed, RSK_STREAM_GAUSSIAN, row, k, j)));
}

static uint32_t draw_word(const rsk_row_group *group, uint32_t row, uint32_t k, uint32_t j) {
    return rsk_word(group->seed, RSK_STREAM_MINHASH, row, k, j);
}

static uint32_t draw_inverse_pitch(const rsk_row_group *group, uint32_t row, uint32_t k, uint32_t j) {
    return rsk_bits_of(rsk_inverse_pitch(rsk_word(group->seed, RSK_STREAM_PITCH, row, k, 2 * j),
                                         rsk_word(group->seed, RSK_STREAM_PITCH, row, k, 2 * j + 1)));
}

static uint32_t draw_ternary(const rsk_row_group *group, uint32_t row, uint32_t k, uint32_t *terms) {
    uint32_t n = 0;
    for (uint32_t first = 0; first < group->n_inputs; first += 16) { /* what one call of the generator gives */
        int8_t entries[16];
        const uint32_t n_entries = group->n_inputs - first < 16 ? group->n_inputs - first : 16;
        rsk_ternary_draw_from(group->seed, row, k, first, n_entries, entries);
        for (uint32_t i = 0; i < n_entries; i++)
            if (entries[i] != 0) terms[n++] = 2u * (first + i) + (entries[i] < 0);
    }
    return n;
}

static uint32_t draw_own_terms(const rsk_row_group *group, uint32_t code, uint32_t *terms) {
    return draw_ternary(group, code / group->n_concat, code % group->n_concat, terms);
}

static uint32_t draw_pool_ternary(const rsk_row_group *group, uint32_t code, uint32_t *terms) {
    if (code >= group->n_axes) return draw_ternary(group, code, 0, terms);
    terms[0] = 2u * code;
    return 1;
}

static uint32_t draw_pool_sparse(const rsk_row_group *group, uint32_t code, uint32_t *terms) {
    uint32_t positions[RSK_MAX_NONZEROS];
    int8_t signs[RSK_MAX_NONZEROS];
    const uint32_t n = rsk_pool_sparse(group->seed, code, group->n_inputs, group->n_nonzeros, group->n_axes, positions,
                                       signs);
    for (uint32_t i = 0; i < n; i++) terms[i] = 2u * positions[i] + (signs[i] < 0);
    return n;
}

static uint32_t read_column(const rsk_row_group *group, uint32_t code, uint32_t *terms) {
    terms[0] = 2u * rsk_packed(group->code_columns, code, rsk_index_bits(group->n_inputs));
    return 1;
}

uint32_t rsk_term_shift(const rsk_row_group *group, uint32_t n) {
    if (!rsk_has_flag(group, RSK_NORMALISED)) return 0;
    uint32_t length = 0;
    for (; n != 0; n >>= 1) length++;
    return length >> 1;
}

static rsk_cell draw_gaussian_cell(const rsk_row_group *group, uint32_t row, uint32_t k, uint32_t j) {
    const rsk_cell cell = {rsk_gaussian(rsk_word(group->seed, RSK_STREAM_GAUSSIAN, row, k, j)), 0, 0};
    return cell;
}

static rsk_cell draw_word_cell(const rsk_row_group *group, uint32_t row, uint32_t k, uint32_t j) {
    const rsk_cell cell = {0.0f, draw_word(group, row, k, j), 0};
    return cell;
}

static rsk_cell draw_grid_cell(const rsk_row_group *group, uint32_t row, uint32_t k, uint32_t j) {
    rsk_cell cell;
    cell.weight = rsk_float_of(draw_inverse_pitch(group, row, k, j));
    cell.multiplier = rsk_word(group->seed, RSK_STREAM_CELL, row, k, j + 1);
    cell.offset_word = rsk_word(group->seed, RSK_STREAM_OFFSET, row, k, j);
    return cell;
}

/* ---- starts and biases ---- */

static uint32_t own_offset(const rsk_row_group *group, uint32_t code) {
    return rsk_word(group->seed, RSK_STREAM_OFFSET, code / group->n_concat, code % group->n_concat, 0);
}

static uint32_t pool_offset(const rsk_row_group *group, uint32_t code) {
    return rsk_word(group->seed, RSK_STREAM_OFFSET, code, 0, 0);
}

static int32_t draw_no_start(const rsk_model *m, const rsk_row_group *p, uint32_t code, const uint32_t *terms,
                             uint32_t n) {
    (void)m, (void)p, (void)code, (void)terms, (void)n;
    return 0;
}

static float draw_no_float_start(const rsk_model *m, const rsk_row_group *p, uint32_t code, const uint32_t *terms,
                                 uint32_t n) {
    (void)m, (void)p, (void)code, (void)terms, (void)n;
    return 0.0f;
}

static int32_t draw_offset(const rsk_model *m, const rsk_row_group *p, uint32_t code, const uint32_t *terms,
                           uint32_t n) {
    (void)m, (void)terms, (void)n;
    const uint32_t weight_bits = rsk_has_terms(p) ? 0u : rsk_family_of(p)->weight_bits;
    return (int32_t)rsk_top_bits(own_offset(p, code), p->width_bits + weight_bits);
}

static float draw_float_offset(const rsk_model *m, const rsk_row_group *p, uint32_t code, const uint32_t *terms,
                               uint32_t n) {
    (void)m, (void)terms, (void)n;
    return rsk_offset(own_offset(p, code));
}

static rsk_bias draw_bias(const rsk_model *m, const rsk_row_group *p, uint32_t code, const uint32_t *terms,
                          uint32_t n) {
    rsk_bias bias;
    rsk_value_walk walk = {0, 0, 0};
    rsk_bias_start(&bias, p->seed, code, m->precision == RSK_INT, p->bias_scale);
    for (uint32_t i = 0; i < n; i++) {
        const bool is_boolean = rsk_reads_values(m, p) && rsk_value_is_boolean(m, &walk, terms[i] >> 1);
        rsk_bias_add(&bias, terms[i] & 1u ? -1 : 1, is_boolean);
    }
    return bias;
}

static int32_t draw_pool_start(const rsk_model *m, const rsk_row_group *p, uint32_t code, const uint32_t *terms,
                               uint32_t n) {
    const uint32_t w = p->width_bits;
    if (rsk_has_bits(p)) {
        if (!rsk_has_flag(p, RSK_SEEDED)) return 0;
        const rsk_bias bias = draw_bias(m, p, code, terms, n);
        return rsk_bias_int(&bias);
    }
    if (rsk_has_flag(p, RSK_SEEDED))
        return (int32_t)((p->n_levels / 2u) << w) + (int32_t)rsk_top_bits(pool_offset(p, code), w);
    return (int32_t)((p->n_levels - rsk_has_flag(p, RSK_INTERPOLATED)) << (w - 1u));
}

static float draw_float_pool_start(const rsk_model *m, const rsk_row_group *p, uint32_t code, const uint32_t *terms,
                                   uint32_t n) {
    if (rsk_has_bits(p)) {
        if (!rsk_has_flag(p, RSK_SEEDED)) return 0.0f;
        const rsk_bias bias = draw_bias(m, p, code, terms, n);
        return rsk_bias_float(&bias);
    }
    if (rsk_has_flag(p, RSK_SEEDED)) return (float)(p->n_levels / 2u) + rsk_offset(pool_offset(p, code));
    return (float)(p->n_levels - rsk_has_flag(p, RSK_INTERPOLATED)) * 0.5f;
}

static int32_t read_threshold(const rsk_model *m, const rsk_row_group *p, uint32_t code, const uint32_t *terms,
                              uint32_t n) {
    (void)m, (void)terms, (void)n;
    return rsk_packed_signed(p->thresholds, code, 8u * p->threshold_nbytes);
}

static float read_float_threshold(const rsk_model *m, const rsk_row_group *p, uint32_t code, const uint32_t *terms,
                                  uint32_t n) {
    (void)m, (void)terms, (void)n;
    return rsk_f32(p->thresholds + 4 * (size_t)code);
}

/* ---- bounds of the sums behind codes, docs/spec/inference.md, *Bounds of the int precision* ---- */

static uint64_t sum_of_directions(const rsk_row_group *p, uint64_t coordinate) {
    const uint64_t width = (uint64_t)1 << p->width_bits, all = p->n_inputs * coordinate;
    return p->directions == RSK_DIRECTIONS_TERNARY ? all + width : 512 * all + 64 * width;
}

static uint64_t no_sum(const rsk_row_group *p, uint64_t coordinate) {
    (void)p, (void)coordinate;
    return 0;
}

static uint64_t sum_of_cell(const rsk_row_group *p, uint64_t coordinate) {
    return 32767 * coordinate + 256 * ((uint64_t)1 << p->width_bits);
}

static uint64_t sum_of_terms(const rsk_row_group *p, uint64_t n_terms, uint64_t coordinate) {
    return n_terms * coordinate + p->n_levels * ((uint64_t)1 << p->width_bits);
}

static uint64_t sum_of_all(const rsk_row_group *p,
                           uint64_t coordinate) { return sum_of_terms(p, p->n_inputs, coordinate); }

static uint64_t sum_of_few(const rsk_row_group *p, uint64_t coordinate) {
    return sum_of_terms(p, p->n_inputs < RSK_MAX_NONZEROS ? p->n_inputs : RSK_MAX_NONZEROS, coordinate);
}

/* ---- the table ---- */

const rsk_family rsk_families[RSK_LAST_HASH + 1] = {
    [RSK_L2] = {.exists = true, .has_bandwidth = true, .has_directions = true, .has_order = true, .has_offset = true,
                .wraps = true, .code = RSK_CODE_SUM, .weight_bits = 6, .entry_nbytes = 4,
                .largest_sum = sum_of_directions, .draw_entry = draw_gaussian, .draw_cell = draw_gaussian_cell,
                .draw_terms = draw_own_terms,
                .draw_start = draw_offset, .draw_float_start = draw_float_offset, .digest = rsk_digest_own},
    [RSK_ANGULAR] = {.exists = true, .has_directions = true, .has_order = true, .has_signs = true,
                     .code = RSK_CODE_SUM, .weight_bits = 6, .entry_nbytes = 4,
                     .largest_sum = sum_of_directions, .draw_entry = draw_gaussian, .draw_cell = draw_gaussian_cell,
                     .draw_terms = draw_own_terms,
                     .draw_start = draw_no_start, .draw_float_start = draw_no_float_start, .digest = rsk_digest_own},
    [RSK_MINHASH] = {.exists = true, .code = RSK_CODE_LEAST, .entry_nbytes = 4,
                     .largest_sum = no_sum, .draw_entry = draw_word, .draw_cell = draw_word_cell,
                     .draw_start = draw_no_start, .draw_float_start = draw_no_float_start, .digest = rsk_digest_own},
    [RSK_L1] = {.exists = true, .has_bandwidth = true, .code = RSK_CODE_CELL, .weight_bits = 8, .entry_nbytes = 12,
                .largest_sum = sum_of_cell, .draw_entry = draw_inverse_pitch, .draw_cell = draw_grid_cell,
                .draw_start = draw_no_start, .draw_float_start = draw_no_float_start, .digest = rsk_digest_own},
    [RSK_POOL_TERNARY] = {.exists = true, .has_order = true, .code = RSK_CODE_SUM,
                          .largest_sum = sum_of_all, .draw_terms = draw_pool_ternary,
                          .draw_start = draw_pool_start, .draw_float_start = draw_float_pool_start,
                          .digest = rsk_digest_pool},
    [RSK_POOL_SPARSE] = {.exists = true, .has_order = true, .code = RSK_CODE_SUM, .most_nonzeros = RSK_MAX_NONZEROS,
                         .largest_sum = sum_of_few, .draw_terms = draw_pool_sparse,
                         .draw_start = draw_pool_start, .draw_float_start = draw_float_pool_start,
                         .digest = rsk_digest_pool},
    [RSK_POOL_THRESHOLD] = {.exists = true, .has_order = true, .is_stored = true, .code = RSK_CODE_SUM,
                            .most_nonzeros = 1, .largest_sum = sum_of_few, .draw_terms = read_column,
                            .draw_start = read_threshold, .draw_float_start = read_float_threshold},
};

const rsk_family *rsk_family_find(uint32_t hash) {
    return hash <= RSK_LAST_HASH && rsk_families[hash].exists ? rsk_families + hash : NULL;
}

uint32_t rsk_terms_draw(const rsk_row_group *group, uint32_t code, uint32_t *terms) {
    return rsk_family_of(group)->draw_terms(group, code, terms);
}

int32_t rsk_start_draw(const rsk_model *model, const rsk_row_group *group, uint32_t code, const uint32_t *terms,
                       uint32_t n) {
    return rsk_family_of(group)->draw_start(model, group, code, terms, n);
}

float rsk_float_start_draw(const rsk_model *model, const rsk_row_group *group, uint32_t code, const uint32_t *terms,
                           uint32_t n) {
    return rsk_family_of(group)->draw_float_start(model, group, code, terms, n);
}

rsk_cell rsk_cell_draw(const rsk_row_group *group, uint32_t code, uint32_t j) {
    return rsk_family_of(group)->draw_cell(group, code / group->n_concat, code % group->n_concat, j);
}

int16_t rsk_int_weight(const rsk_row_group *group, float weight) {
    const float scaled = weight * (float)(1u << rsk_family_of(group)->weight_bits);
    return (int16_t)rsk_round(scaled < 32767.0f ? scaled : 32767.0f);
}
