/* rsk_draw.c: terms, starts and weights of codes, drawn from the seed. docs/spec/inference.md, docs/spec/generator.md. */
#include "rsk_bytes.h"
#include "rsk_hash.h"
#include "rsk_plan.h"

uint32_t rsk_terms_draw(const rsk_model *model, const rsk_part *part, uint32_t code, uint32_t *terms) {
    (void)model;
    if (part->hash == RSK_POOL_THRESHOLD) {
        terms[0] = 2u * rsk_packed(part->code_columns, code, rsk_index_bits(part->n_inputs));
        return 1;
    }
    if (part->hash >= RSK_POOL_TERNARY && code < part->n_axes) {
        terms[0] = 2u * code;
        return 1;
    }
    if (part->hash == RSK_POOL_SPARSE) {
        uint32_t positions[3];
        int8_t signs[3];
        const uint32_t n = rsk_pool_sparse(part->seed, code, part->n_inputs, part->n_nonzeros, part->n_axes, positions,
                                           signs);
        for (uint32_t i = 0; i < n; i++) terms[i] = 2u * positions[i] + (signs[i] < 0);
        return n;
    }
    const int is_pool = part->hash == RSK_POOL_TERNARY;
    const uint32_t row = is_pool ? code : code / part->n_concat, k = is_pool ? 0 : code % part->n_concat;
    uint32_t n = 0;
    for (uint32_t first = 0; first < part->n_inputs; first += 16) { /* what one call of the generator gives */
        int8_t entries[16];
        const uint32_t n_entries = part->n_inputs - first < 16 ? part->n_inputs - first : 16;
        rsk_ternary_draw_from(part->seed, row, k, first, n_entries, entries);
        for (uint32_t i = 0; i < n_entries; i++)
            if (entries[i] != 0) terms[n++] = 2u * (first + i) + (entries[i] < 0);
    }
    return n;
}

uint32_t rsk_term_shift(const rsk_part *part, uint32_t n) {
    if (!(part->flags & RSK_NORMALISED)) return 0;
    uint32_t length = 0;
    for (; n != 0; n >>= 1) length++;
    return length >> 1;
}

/* The bias of a seeded bit, whole or float32. */
static void draw_bias(const rsk_model *model, const rsk_part *part, uint32_t code, const uint32_t *terms, uint32_t n,
                      int32_t *whole, float *real) {
    rsk_bias bias;
    rsk_value_walk walk = {0, 0, 0};
    rsk_bias_start(&bias, part->seed, code, model->precision == RSK_INT, part->spread);
    for (uint32_t i = 0; i < n; i++) {
        const int is_boolean = rsk_reads_values(model, part) && rsk_value_is_boolean(model, &walk, terms[i] >> 1);
        rsk_bias_add(&bias, terms[i] & 1u ? -1 : 1, is_boolean);
    }
    if (whole) *whole = rsk_bias_whole(&bias);
    if (real) *real = rsk_bias_float(&bias);
}

static uint32_t offset_word(const rsk_part *part, uint32_t code) {
    const int is_pool = part->hash >= RSK_POOL_TERNARY;
    return rsk_word(part->seed, RSK_STREAM_OFFSET, is_pool ? code : code / part->n_concat,
                    is_pool ? 0 : code % part->n_concat, 0);
}

int32_t rsk_start_draw(const rsk_model *model, const rsk_part *part, uint32_t code, const uint32_t *terms, uint32_t n) {
    const uint32_t w = part->width_bits;
    if (part->hash == RSK_L2) return (int32_t)rsk_top_bits(offset_word(part, code), w + (part->directions ? 6u : 0u));
    if (part->hash < RSK_POOL_TERNARY) return 0;
    if (part->hash == RSK_POOL_THRESHOLD) return rsk_packed_signed(part->thresholds, code, 8u * part->threshold_nbytes);
    if (part->flags & RSK_LEVELS) {
        if (part->flags & RSK_SEEDED)
            return (int32_t)((part->n_levels / 2u) << w) + (int32_t)rsk_top_bits(offset_word(part, code), w);
        return (int32_t)((part->n_levels - ((part->flags & RSK_INTERPOLATED) != 0)) << (w - 1u));
    }
    int32_t bias = 0;
    if (part->flags & RSK_SEEDED) draw_bias(model, part, code, terms, n, &bias, NULL);
    return bias;
}

float rsk_float_start_draw(const rsk_model *model, const rsk_part *part, uint32_t code, const uint32_t *terms,
                           uint32_t n) {
    if (part->hash == RSK_L2) return rsk_offset(offset_word(part, code));
    if (part->hash < RSK_POOL_TERNARY) return 0.0f;
    if (part->hash == RSK_POOL_THRESHOLD) return rsk_f32(part->thresholds + 4 * (size_t)code);
    if (part->flags & RSK_LEVELS) {
        if (part->flags & RSK_SEEDED) return (float)(part->n_levels / 2u) + rsk_offset(offset_word(part, code));
        return (float)(part->n_levels - ((part->flags & RSK_INTERPOLATED) != 0)) * 0.5f;
    }
    float bias = 0.0f;
    if (part->flags & RSK_SEEDED) draw_bias(model, part, code, terms, n, NULL, &bias);
    return bias;
}

rsk_cell rsk_cell_draw(const rsk_part *part, uint32_t code, uint32_t j) {
    const uint32_t row = code / part->n_concat, k = code % part->n_concat;
    rsk_cell cell = {0.0f, 0, 0};
    if (part->hash != RSK_L1) {
        cell.weight = rsk_gaussian(rsk_word(part->seed, RSK_STREAM_GAUSSIAN, row, k, j));
        return cell;
    }
    cell.weight = rsk_inverse_pitch(rsk_word(part->seed, RSK_STREAM_PITCH, row, k, 2 * j),
                                    rsk_word(part->seed, RSK_STREAM_PITCH, row, k, 2 * j + 1));
    cell.multiplier = rsk_word(part->seed, RSK_STREAM_CELL, row, k, j + 1);
    cell.offset_word = rsk_word(part->seed, RSK_STREAM_OFFSET, row, k, j);
    return cell;
}

int16_t rsk_cell_whole_weight(const rsk_part *part, float weight) {
    const float scaled = weight * (part->hash == RSK_L1 ? 256.0f : 64.0f);
    return (int16_t)rsk_round(scaled < 32767.0f ? scaled : 32767.0f);
}
