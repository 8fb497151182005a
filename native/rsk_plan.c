#include "rsk_plan.h"

#include <string.h>

#include "rsk_bytes.h"
#include "rsk_hash.h"

/* ---- terms and starts of sum codes ---- */

static int reads_values(const rsk_model *model, const rsk_part *part) {
    return part->source == 0 || model->projection_kind == RSK_NO_PROJECTION;
}

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
        const int is_boolean = reads_values(model, part) && rsk_value_is_boolean(model, &walk, terms[i] >> 1);
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

static uint32_t top_bits(uint32_t word, uint32_t bits) { return bits == 0 ? 0 : word >> (32u - bits); }

int32_t rsk_start_draw(const rsk_model *model, const rsk_part *part, uint32_t code, const uint32_t *terms, uint32_t n) {
    const uint32_t w = part->width_bits;
    if (part->hash == RSK_L2) return (int32_t)top_bits(offset_word(part, code), w + (part->directions ? 6u : 0u));
    if (part->hash < RSK_POOL_TERNARY) return 0;
    if (part->hash == RSK_POOL_THRESHOLD) return rsk_packed_signed(part->thresholds, code, 8u * part->threshold_nbytes);
    if (part->flags & RSK_LEVELS) {
        if (part->flags & RSK_SEEDED)
            return (int32_t)((part->n_levels / 2u) << w) + (int32_t)top_bits(offset_word(part, code), w);
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

/* ---- laying out memory ---- */

/* A place for arrays; without memory it only counts. */
typedef struct arena {
    uint8_t *memory;
    uint64_t used;
} arena;

static void *take(arena *a, uint64_t n, uint64_t size) {
    /* Room behind every array: vector loads may read past its end, up to 64 bytes. */
    const uint64_t nbytes = (n * size + 64u + 63u) & ~(uint64_t)63u;
    void *place = a->memory ? a->memory + a->used : NULL;
    a->used += nbytes;
    if (place) memset((uint8_t *)place + n * size, 0, (size_t)(nbytes - n * size));
    return place;
}

static const float *take_floats(arena *a, const uint8_t *bytes, uint64_t n) {
    if (bytes == NULL) return NULL;
    float *array = take(a, n, sizeof(float));
    if (array)
        for (uint64_t i = 0; i < n; i++) array[i] = rsk_f32(bytes + 4 * i);
    return array;
}

/* n numbers, repeated if only one is stored. */
static const float *take_gain(arena *a, const uint8_t *bytes, uint32_t stored, uint32_t n) {
    if (bytes == NULL) return NULL;
    float *array = take(a, n, sizeof(float));
    if (array)
        for (uint32_t i = 0; i < n; i++) array[i] = rsk_f32(bytes + 4 * (size_t)(stored == 1 ? 0 : i));
    return array;
}

static const int8_t *take_int8(arena *a, const uint8_t *bytes, uint64_t n, uint32_t bits) {
    int8_t *array = take(a, n, 1);
    if (array)
        for (uint64_t i = 0; i < n; i++) array[i] = (int8_t)rsk_packed_signed(bytes, i, bits);
    return array;
}

static const int16_t *take_int16(arena *a, const uint8_t *bytes, uint64_t n, uint32_t bits) {
    int16_t *array = take(a, n, 2);
    if (array)
        for (uint64_t i = 0; i < n; i++) array[i] = (int16_t)rsk_packed_signed(bytes, i, bits);
    return array;
}

static void lay_out_columns(rsk_plan *plan, arena *a) {
    const rsk_model *m = &plan->model;
    rsk_column *columns = take(a, m->n_columns, sizeof(rsk_column));
    plan->columns = columns;
    if (!columns) return;
    uint32_t value = 0, n_numeric = 0;
    for (uint32_t i = 0; i < m->n_columns; i++) {
        rsk_column *column = columns + i;
        column->index = m->flags & RSK_HAS_COLUMNS ? rsk_packed(m->columns, i, rsk_index_bits(m->n_features)) : i;
        column->kind = m->kinds ? rsk_u16(m->kinds + 2 * (size_t)i) : m->kinds_of_all;
        column->value = value;
        column->center = 0.0f;
        column->scale = 1.0f;
        if (column->kind == 0) {
            const uint32_t center = m->n_centers == 1 ? 0 : n_numeric, scale = m->n_scales == 1 ? 0 : n_numeric;
            if (m->n_centers) column->center = rsk_stored(m->centers, center, m->stored_as, m->center_bias);
            if (m->n_scales) column->scale = rsk_stored(m->scales, scale, m->stored_as, m->scale_bias);
            n_numeric++;
        }
        value += column->kind > 1 ? column->kind : 1;
    }
}

/* What reading rows as bytes needs. */
static void lay_out_bytes(rsk_plan *plan, arena *a) {
    const rsk_model *m = &plan->model;
    const int has_missing = (m->flags & RSK_ACCEPTS_MISSING) != 0;
    if (m->precision != RSK_INT || m->low - has_missing < -128 || m->high > 127 || m->n_features > RSK_WIDEST_BLOCK) return;
    if (m->n_values != m->n_columns || m->n_components > RSK_WIDEST_BLOCK) return;
    plan->byte_stride = (m->n_features + 63u) & ~63u;
    float *centers = take(a, plan->byte_stride, 4), *scales = take(a, plan->byte_stride, 4);
    uint16_t *masks = take(a, plan->byte_stride / 16u, 2);
    int32_t *are_boolean = take(a, plan->byte_stride, 4);
    plan->are_boolean = are_boolean;
    plan->centers = centers;
    plan->scales = scales;
    plan->boolean_masks = masks;
    plan->uses_bytes = 1;
    plan->byte_base = m->projection_kind != RSK_NO_PROJECTION && m->low - has_missing < 0 ? -128 : 0;
    if (!centers) return;
    for (uint32_t i = 0; i < plan->byte_stride; i++) {
        centers[i] = 0.0f;
        scales[i] = 1.0f;
        are_boolean[i] = 0;
    }
    memset(masks, 0, plan->byte_stride / 16u * sizeof *masks);
    uint32_t n_boolean = 0;
    for (uint32_t i = 0; i < m->n_columns; i++) {
        const rsk_column *column = plan->columns + i;
        centers[column->index] = column->center;
        scales[column->index] = column->scale;
        if (column->kind == 1) {
            masks[column->index / 16u] = (uint16_t)(masks[column->index / 16u] | 1u << column->index % 16u);
            are_boolean[column->index] = -1;
            n_boolean++;
        }
    }
    plan->all_boolean = n_boolean == m->n_columns;
    if (plan->all_boolean) plan->byte_base = 0;
}

/* The matrix as words of four entries of one component, for products of bytes; columns that are not used have zeros. */
static void lay_out_packed(rsk_plan *plan, arena *a) {
    const rsk_model *m = &plan->model;
    if (!plan->uses_bytes || m->projection_kind < RSK_MATRIX_INT8) return;
    const uint32_t n_words = (m->n_features + 3u) / 4u, p = m->n_components, n_blocks = (p + 7u) / 8u;
    int8_t *packed = take(a, (uint64_t)n_blocks * 8u * n_words, 4);
    int32_t *shift = take(a, n_blocks * 8u, 4);
    plan->packed_projection = (const int32_t *)(const void *)packed;
    plan->packed_shift = shift;
    if (!packed) return;
    memset(packed, 0, (size_t)n_blocks * 8u * n_words * 4u);
    memset(shift, 0, n_blocks * 8u * sizeof *shift);
    for (uint32_t j = 0; j < p; j++) {
        int64_t total = 0;
        for (uint32_t i = 0; i < m->n_values; i++) {
            const int8_t entry = plan->whole_projection[(size_t)i * p + j];
            const uint32_t column = plan->columns[i].index;
            packed[(((size_t)(j / 8u) * n_words + column / 4u) * 8u + j % 8u) * 4u + column % 4u] = entry;
            total += entry;
        }
        /* Modulo 2^32, as the sums of bytes are: their true values fit. */
        const int64_t start = (plan->whole_shift ? plan->whole_shift[j] : 0) + plan->byte_base * total;
        const uint32_t bits = (uint32_t)(uint64_t)start;
        memcpy(shift + j, &bits, sizeof bits);
    }
}

/* The same as pairs of 16-bit entries. */
static void lay_out_pairs(rsk_plan *plan, arena *a) {
    const rsk_model *m = &plan->model;
    if (m->precision != RSK_INT || m->projection_kind < RSK_MATRIX_INT8) return;
    const uint32_t n_pairs = (m->n_values + 1u) / 2u, p = m->n_components;
    plan->pair_stride = (p + 3u) & ~3u;
    int16_t *pairs = take(a, (uint64_t)n_pairs * plan->pair_stride, 4);
    plan->pair_projection = (const int32_t *)(const void *)pairs;
    if (!pairs) return;
    memset(pairs, 0, (size_t)n_pairs * plan->pair_stride * 4u);
    for (uint32_t i = 0; i < m->n_values; i++)
        for (uint32_t j = 0; j < p; j++)
            pairs[((size_t)(i / 2u) * plan->pair_stride + j) * 2u + i % 2u] = plan->whole_projection[(size_t)i * p + j];
}

static void lay_out_projection(rsk_plan *plan, arena *a) {
    const rsk_model *m = &plan->model;
    const uint64_t n_matrix = (uint64_t)m->n_values * m->n_components, n_linear = (uint64_t)m->n_components * m->n_outputs;
    if (m->projection_kind == RSK_MATRIX_FLOAT32) {
        plan->projection = take_floats(a, m->projection, n_matrix);
    } else if (m->projection_kind >= RSK_MATRIX_INT8) {
        plan->whole_projection = take_int8(a, m->projection, n_matrix, m->projection_kind == RSK_MATRIX_INT8 ? 8 : 2);
    }
    plan->projection_scales = take_floats(a, m->projection_scales, m->n_components);
    if (m->shift && m->precision == RSK_FLOAT32) plan->shift = take_floats(a, m->shift, m->n_components);
    if (m->shift && m->precision == RSK_INT) {
        int32_t *shift = take(a, m->n_components, 4);
        plan->whole_shift = shift;
        if (shift)
            for (uint32_t i = 0; i < m->n_components; i++) shift[i] = rsk_i32(m->shift + 4 * (size_t)i);
    }
    if (m->multipliers) plan->multipliers = take_int16(a, m->multipliers, m->n_components, 16);
    if (m->linear_type == RSK_LINEAR_FLOAT32) plan->linear = take_floats(a, m->linear, n_linear);
    if (m->linear_type >= RSK_LINEAR_INT16)
        plan->whole_linear = take_int16(a, m->linear, n_linear, m->linear_type == RSK_LINEAR_INT16 ? 16 : 8);
    plan->linear_gain = take_gain(a, m->linear_gain, m->n_linear_gains, m->n_outputs);
    plan->offset = take_floats(a, m->offset, m->n_outputs);
}

static int has_terms(const rsk_part *part) {
    return part->hash >= RSK_POOL_TERNARY || (part->hash <= RSK_ANGULAR && part->directions == 0);
}

/* Which codes of a pool the rows name, in rising order, and where each row finds its own among them. */
static uint32_t lay_out_used(rsk_plan_part *p, arena *a) {
    const rsk_part *part = p->part;
    const uint64_t named = (uint64_t)part->n_rows * part->n_concat;
    if (!(part->flags & RSK_HAS_INDICES)) return (uint32_t)(named > UINT32_MAX ? UINT32_MAX : named);
    const uint32_t bits = rsk_index_bits(part->n_codes);
    uint32_t *places = take(a, part->n_codes, 4), *rows = take(a, named, 4);
    uint32_t *ids = take(a, part->n_codes < named ? part->n_codes : named, 4);
    p->row_codes = rows;
    p->code_ids = ids;
    if (!places) return (uint32_t)(part->n_codes < named ? part->n_codes : named);
    memset(places, 0, 4 * (size_t)part->n_codes);
    for (uint64_t i = 0; i < named; i++) places[rsk_packed(part->indices, i, bits)] = 1;
    uint32_t n = 0;
    for (uint32_t code = 0; code < part->n_codes; code++)
        if (places[code]) {
            ids[n] = code;
            places[code] = n++;
        }
    for (uint64_t i = 0; i < named; i++) rows[i] = places[rsk_packed(part->indices, i, bits)];
    return n;
}

/* Largest size of what a part reads. */
static int64_t largest_input(const rsk_model *m, const rsk_part *part) {
    if (part->source == 1 && m->projection_kind >= RSK_MATRIX_INT8) return m->limit;
    const int64_t low = m->low < 0 ? -(int64_t)m->low : m->low, high = m->high < 0 ? -(int64_t)m->high : m->high;
    return (low > high ? low : high) + ((m->flags & RSK_ACCEPTS_MISSING) != 0);
}

static void lay_out_terms(rsk_plan *plan, rsk_plan_part *p, arena *a) {
    const rsk_part *part = p->part;
    const int is_whole = plan->model.precision == RSK_INT;
    const uint64_t most = part->hash == RSK_POOL_SPARSE ? 3u : part->hash == RSK_POOL_THRESHOLD ? 1u : part->n_inputs;
    uint32_t *ends = take(a, p->n_used, 4);
    int32_t *starts = is_whole ? take(a, p->n_used, 4) : NULL;
    float *float_starts = is_whole ? NULL : take(a, p->n_used, 4);
    uint8_t *shifts = part->flags & RSK_NORMALISED ? take(a, p->n_used, 1) : NULL;
    uint32_t *terms = take(a, p->n_used * most, 4);
    /* Their places are 32-bit numbers: beyond, ask for more than anybody has; a compact plan will do. */
    if (p->n_used * most > UINT32_MAX) a->used += (uint64_t)1 << 60;
    p->term_ends = ends;
    p->terms = terms;
    p->starts = starts;
    p->float_starts = float_starts;
    p->shifts = shifts;
    if (!ends) return;
    const int64_t largest = largest_input(&plan->model, part);
    /* In 16 bits: levels too, and the sum behind an own one after half of them is added. */
    const int64_t half = part->fold == RSK_DIRECT && part->hash == RSK_L2 ? part->n_levels / 2u : 0;
    int fits = is_whole && part->n_levels <= INT16_MAX;
    uint32_t end = 0;
    for (uint32_t i = 0; i < p->n_used; i++) {
        const uint32_t code = p->code_ids ? p->code_ids[i] : i;
        const uint32_t n = rsk_terms_draw(&plan->model, part, code, terms + end);
        if (is_whole) {
            starts[i] = rsk_start_draw(&plan->model, part, code, terms + end, n);
            const int64_t start = starts[i] < 0 ? -(int64_t)starts[i] : starts[i];
            if (start > INT16_MAX || n * largest + start + half > INT16_MAX) fits = 0;
        } else {
            float_starts[i] = rsk_float_start_draw(&plan->model, part, code, terms + end, n);
        }
        if (shifts) shifts[i] = (uint8_t)rsk_term_shift(part, n);
        if (n > p->most_terms) p->most_terms = n;
        end += n;
        ends[i] = end;
    }
    p->fits_int16 = (uint8_t)(fits || (is_whole && wraps16(part)));
}

static void lay_out_dense(rsk_plan *plan, rsk_plan_part *p, arena *a) {
    const rsk_part *part = p->part;
    const int is_whole = plan->model.precision == RSK_INT;
    const uint64_t n_codes = (uint64_t)part->n_rows * part->n_concat, n = n_codes * part->n_inputs;
    if (part->hash == RSK_MINHASH) {
        uint32_t *words = take(a, n, 4);
        p->words = words;
        if (!words) return;
        for (uint64_t i = 0; i < n; i++) {
            const uint32_t code = (uint32_t)(i / part->n_inputs);
            words[i] = rsk_word(part->seed, RSK_STREAM_MINHASH, code / part->n_concat, code % part->n_concat,
                                (uint32_t)(i % part->n_inputs));
        }
        return;
    }
    float *weights = is_whole ? NULL : take(a, n, 4);
    int16_t *whole = is_whole ? take(a, n, 2) : NULL;
    p->weights = weights;
    p->whole_weights = whole;
    uint32_t *words = NULL, *addends = NULL;
    float *offsets = NULL, *float_starts = NULL;
    int32_t *whole_offsets = NULL, *starts = NULL;
    if (part->hash == RSK_L1) {
        p->words = words = take(a, n, 4);
        p->addends = addends = take(a, n_codes, 4);
        if (is_whole) p->whole_cell_offsets = whole_offsets = take(a, n, 4);
        else p->cell_offsets = offsets = take(a, n, 4);
    } else if (is_whole) {
        p->starts = starts = take(a, n_codes, 4);
    } else {
        p->float_starts = float_starts = take(a, n_codes, 4);
    }
    if (!a->memory) return;
    for (uint64_t i = 0; i < n; i++) {
        const uint32_t code = (uint32_t)(i / part->n_inputs), j = (uint32_t)(i % part->n_inputs);
        const rsk_cell cell = rsk_cell_draw(part, code, j);
        if (is_whole) whole[i] = rsk_cell_whole_weight(part, cell.weight);
        else weights[i] = cell.weight;
        if (words) words[i] = cell.multiplier;
        if (whole_offsets) whole_offsets[i] = (int32_t)top_bits(cell.offset_word, p->width_bits);
        if (offsets) offsets[i] = rsk_offset(cell.offset_word);
    }
    for (uint32_t code = 0; code < n_codes; code++) {
        if (addends)
            addends[code] = rsk_word(part->seed, RSK_STREAM_CELL, code / part->n_concat, code % part->n_concat, 0);
        if (starts) starts[code] = rsk_start_draw(&plan->model, part, code, NULL, 0);
        if (float_starts) float_starts[code] = rsk_float_start_draw(&plan->model, part, code, NULL, 0);
    }
}

/* What 16-bit lanes need of the terms. */
static void lay_out_lanes(rsk_plan_part *p, arena *a) {
    const rsk_part *part = p->part;
    const uint64_t most = part->hash == RSK_POOL_SPARSE ? 3u : part->hash == RSK_POOL_THRESHOLD ? 1u : part->n_inputs;
    if (part->n_inputs > RSK_WIDEST_BLOCK) return;
    p->chunk_rows = part->n_concat > 64u ? 1u : 64u / part->n_concat;
    uint32_t *terms = take(a, p->n_used * most, 4);
    rsk_lane_code *codes = take(a, p->n_used, sizeof(rsk_lane_code));
    p->lane_terms = terms;
    p->lane_codes = codes;
    if (!codes) return;
    const uint32_t chunk = part->flags & RSK_HAS_INDICES ? p->n_used : p->chunk_rows * part->n_concat;
    for (uint32_t first = 0; first < p->n_used; first += chunk) {
        const uint32_t end = p->n_used - first < chunk ? p->n_used : first + chunk;
        /* A counting sort without counters: passes over the few lengths there are. */
        for (uint32_t length = 0, left = end - first; left > 0; length++)
            for (uint32_t place = first; place < end; place++) {
                const uint32_t begin = place ? p->term_ends[place - 1] : 0;
                if (p->term_ends[place] - begin != length) continue;
                codes->place = place;
                codes->n_terms = (uint16_t)length;
                codes++->start = p->starts ? (int16_t)p->starts[place] : 0;
                for (uint32_t i = begin; i < p->term_ends[place]; i++)
                    *terms++ = ((p->terms[i] >> 1) + (p->terms[i] & 1u ? part->n_inputs : 0)) * RSK_LANES;
                left--;
            }
    }
}

/* The paper's codes over few coordinates: all sums of three neighbouring coordinates are made once a block, and a code
 * adds one of each three. */
static void lay_out_triples(const rsk_plan *plan, rsk_plan_part *p, arena *a) {
    const rsk_part *part = p->part;
    const uint32_t n = (part->n_inputs + 2u) / 3u;
    if (plan->model.precision != RSK_INT || !wraps16(part) || n > RSK_MOST_TRIPLES || part->n_concat > 4) return;
    uint16_t *triples = take(a, (uint64_t)p->n_used * n, 2);
    p->triples = triples;
    p->n_triples = n;
    if (!triples) return;
    static const uint16_t powers[3] = {1, 3, 9};
    for (uint32_t place = 0; place < p->n_used; place++) {
        uint16_t *triple = triples + (size_t)place * n;
        for (uint32_t i = 0; i < n; i++) triple[i] = (uint16_t)(27u * i + 13u); /* three zeros */
        for (uint32_t i = place ? p->term_ends[place - 1] : 0; i < p->term_ends[place]; i++) {
            const uint32_t j = p->terms[i] >> 1;
            if (p->terms[i] & 1u) triple[j / 3u] = (uint16_t)(triple[j / 3u] - powers[j % 3u]);
            else triple[j / 3u] = (uint16_t)(triple[j / 3u] + powers[j % 3u]);
        }
        for (uint32_t i = 0; i < n; i++) triple[i] = (uint16_t)(triple[i] * RSK_LANES); /* where it begins */
    }
}

/* One number a bucket, all rows in one sum, nothing decoded or interpolated. */
static int has_single_counters(const rsk_part *part) {
    return part->n_numbers == 1 && part->decode == RSK_NO_DECODE && part->n_groups == 1 && !(part->flags & RSK_INTERPOLATED);
}

/* One code as a bit of columns of bytes; its kind, or RSK_N_BITS if it has too many terms. */
static uint32_t make_bit(const rsk_plan *plan, const rsk_plan_part *p, uint32_t place, rsk_bit *bit) {
    const uint32_t begin = place ? p->term_ends[place - 1] : 0, n = p->term_ends[place] - begin;
    if (n == 0 || n > 3) return RSK_N_BITS;
    uint32_t n_subtracted = 0, added = 0, last = n;
    for (uint32_t i = 0; i < n; i++) n_subtracted += p->terms[begin + i] & 1u;
    /* More subtracted than added: turn all signs, then the bit is that the sum stays below. */
    const int below = 2 * n_subtracted > n;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t term = p->terms[begin + i];
        bit->columns[(term & 1u) == (uint32_t)below ? added++ : --last] = plan->columns[term >> 1].index * RSK_LANES;
    }
    const int32_t threshold = below ? 1 - p->starts[place] : p->starts[place];
    bit->place = place;
    bit->n_columns = (uint8_t)n;
    bit->n_subtracted = (uint8_t)(n - added);
    bit->threshold = (int16_t)(threshold > 512 ? 512 : threshold < -512 ? -512 : threshold); /* beyond any sum */
    if (n == 1 && threshold > 127) { /* never reached, as nothing is below -128 */
        bit->threshold = -128;
        return below ? RSK_BIT_ONE : RSK_BIT_ONE_BELOW;
    }
    if (n == 1) {
        if (threshold < -128) bit->threshold = -128;
        return below ? RSK_BIT_ONE_BELOW : RSK_BIT_ONE;
    }
    /* A saturated sum of two bytes compares like the true one as long as the threshold is within a byte. */
    if (n == 2 && threshold >= -127 && threshold <= 127) {
        if (bit->n_subtracted) return RSK_BIT_MINUS;
        return below ? RSK_BIT_PLUS_BELOW : RSK_BIT_PLUS;
    }
    bit->is_below = (uint8_t)below;
    return RSK_BIT_WIDE;
}

static void lay_out_bits(rsk_plan *plan, rsk_plan_part *p, arena *a) {
    const rsk_part *part = p->part;
    const int is_bits = part->hash >= RSK_POOL_TERNARY && !(part->flags & RSK_LEVELS) && part->n_buckets <= 16 &&
                        has_single_counters(part) &&
                        (part->counter_type == RSK_COUNTER_INT8 || part->counter_type == RSK_COUNTER_INT4);
    if (!plan->uses_bytes || !reads_values(&plan->model, part) || !is_bits) return;
    rsk_bit *bits = take(a, p->n_used, sizeof(rsk_bit)), *all = take(a, p->n_used, sizeof(rsk_bit));
    uint8_t *kinds = take(a, p->n_used, 1);
    if (!bits) return;
    for (uint32_t place = 0; place < p->n_used; place++) {
        memset(all + place, 0, sizeof *all);
        const uint32_t kind = make_bit(plan, p, place, all + place);
        if (kind == RSK_N_BITS) return;
        kinds[place] = (uint8_t)kind;
    }
    uint32_t n = 0;
    for (uint32_t kind = 0; kind < RSK_N_BITS; kind++) {
        for (uint32_t place = 0; place < p->n_used; place++)
            if (kinds[place] == kind) bits[n++] = all[place];
        p->bit_ends[kind] = n;
    }
    p->bits = bits;
}

static void lay_out_fold(rsk_plan_part *p, arena *a) {
    const rsk_part *part = p->part;
    uint32_t *addends = take(a, part->n_rows, 4), *multipliers = take(a, (uint64_t)part->n_rows * part->n_concat, 4);
    p->fold_addends = addends;
    p->fold_multipliers = multipliers;
    if (!addends) return;
    for (uint32_t row = 0; row < part->n_rows; row++) {
        uint32_t pair[2]; /* of code 0: its multiplier and the row's addend */
        rsk_threefry(part->seed, RSK_STREAM_FOLD, row, 0, pair);
        addends[row] = pair[1];
        multipliers[(size_t)row * part->n_concat] = pair[0];
        for (uint32_t k = 1; k < part->n_concat; k++)
            multipliers[(size_t)row * part->n_concat + k] = rsk_word(part->seed, RSK_STREAM_FOLD, row, k, 0);
    }
}

static int has_row_columns(const rsk_part *part) {
    const uint64_t n = (part->n_rows + 63u) & ~63u;
    return has_single_counters(part) && wraps16(part) && n * part->n_concat * part->n_inputs <= RSK_MOST_COLUMNS;
}

/* How single rows read the directions of 64 codes: in AVX-512 three entries of a code in a byte, as the place of their
 * sum among all 27 there are; in AVX2 pairs of bytes, with 1 added so that they are not negative; else a byte each. */
static size_t column_group_nbytes(const rsk_plan *plan, uint32_t n_inputs) {
    if (plan->level == RSK_AVX512) return (n_inputs + 2u) / 3u * 64u;
    return (plan->level == RSK_AVX2 ? (n_inputs + 1u) & ~1u : n_inputs) * (size_t)64u;
}

static void add_to_column(const rsk_plan *plan, uint8_t *group, uint32_t lane, uint32_t j, int sign) {
    static const int powers[3] = {1, 3, 9};
    if (plan->level == RSK_AVX512) group += (size_t)(j / 3u) * 64u + lane;
    else if (plan->level == RSK_AVX2) group += (size_t)(j / 2u) * 128u + lane * 2u + j % 2u;
    else group += (size_t)j * 64u + lane;
    *group = (uint8_t)(*group + sign * (plan->level == RSK_AVX512 ? powers[j % 3u] : 1));
}

/* What single rows need of the paper's parts: everything in columns, a lane a row of counters. */
static void lay_out_row_columns(const rsk_plan *plan, rsk_plan_part *p, arena *a) {
    const rsk_part *part = p->part;
    const uint32_t n = (part->n_rows + 63u) & ~63u, n_concat = part->n_concat;
    const size_t n_codes = (size_t)n * n_concat, group_nbytes = column_group_nbytes(plan, part->n_inputs);
    uint8_t *directions = take(a, n_codes * ((uint64_t)part->n_inputs + 1u), 1); /* enough for every instruction set */
    int16_t *starts = take(a, n_codes, 2);
    uint16_t *multipliers = take(a, 2u * n_codes, 2), *addends = take(a, 2u * (uint64_t)n, 2);
    int16_t *counters = part->n_buckets <= 16 ? take(a, (uint64_t)n * part->n_buckets, 2) : NULL;
    p->column_stride = n;
    p->column_directions = directions;
    p->column_starts = starts;
    p->column_multipliers = multipliers;
    p->column_addends = addends;
    p->column_counters = counters;
    if (!a->memory) return;
    memset(directions, plan->level == RSK_AVX512 ? 13 : plan->level == RSK_AVX2 ? 1 : 0, n_codes / 64u * group_nbytes);
    memset(starts, 0, n_codes * sizeof *starts);
    memset(multipliers, 0, 2u * n_codes * sizeof *multipliers);
    memset(addends, 0, 2u * (size_t)n * sizeof *addends);
    if (counters) memset(counters, 0, (size_t)n * part->n_buckets * sizeof *counters);
    for (uint32_t row = 0; row < part->n_rows; row++) {
        addends[row] = (uint16_t)(p->fold_addends[row] >> 16);
        addends[n + row] = (uint16_t)(p->fold_addends[row] & 0xFFFFu);
        for (uint32_t k = 0; k < n_concat; k++) {
            const uint32_t place = row * n_concat + k;
            const size_t at = (size_t)k * n + row;
            multipliers[at] = (uint16_t)(p->fold_multipliers[place] >> 16);
            multipliers[n_codes + at] = (uint16_t)(p->fold_multipliers[place] & 0xFFFFu);
            starts[at] = (int16_t)p->starts[place];
            uint8_t *group = directions + at / 64u * group_nbytes;
            for (uint32_t i = place ? p->term_ends[place - 1] : 0; i < p->term_ends[place]; i++)
                add_to_column(plan, group, at % 64u, p->terms[i] >> 1, p->terms[i] & 1u ? -1 : 1);
        }
        for (uint32_t bucket = 0; counters && bucket < part->n_buckets; bucket++) {
            const size_t at = (size_t)row * part->n_buckets + bucket;
            counters[(size_t)bucket * n + row] = part->counter_type == RSK_COUNTER_INT16
                                                     ? ((const int16_t *)p->counters)[at]
                                                     : ((const int8_t *)p->counters)[at];
        }
    }
}

static void lay_out_float_columns(rsk_plan_part *p, arena *a) {
    const rsk_part *part = p->part;
    const uint32_t n = (part->n_rows + 63u) & ~63u, n_concat = part->n_concat;
    const size_t n_codes = (size_t)n * n_concat, n_entries = n_codes * part->n_inputs;
    float *directions = take(a, n_entries, 4), *starts = take(a, n_codes, 4);
    uint32_t *multipliers = take(a, n_codes, 4), *addends = take(a, n, 4);
    p->column_stride = n;
    p->float_column_directions = directions;
    p->float_column_starts = starts;
    p->float_column_multipliers = multipliers;
    p->float_column_addends = addends;
    if (!a->memory) return;
    for (size_t i = 0; i < n_entries; i++) directions[i] = 0.0f;
    for (size_t i = 0; i < n_codes; i++) starts[i] = 0.0f;
    memset(multipliers, 0, n_codes * sizeof *multipliers);
    memset(addends, 0, n * sizeof *addends);
    for (uint32_t row = 0; row < part->n_rows; row++) {
        addends[row] = p->fold_addends[row];
        for (uint32_t k = 0; k < n_concat; k++) {
            const uint32_t place = row * n_concat + k;
            const size_t at = (size_t)k * n + row;
            multipliers[at] = p->fold_multipliers[place];
            starts[at] = p->float_starts[place];
            for (uint32_t i = place ? p->term_ends[place - 1] : 0; i < p->term_ends[place]; i++)
                directions[(p->terms[i] >> 1) * n_codes + at] = p->terms[i] & 1u ? -1.0f : 1.0f;
        }
    }
}

/* What single rows need of rows of bits; only where no bit has more than three terms. */
static void lay_out_row_bits(const rsk_plan *plan, rsk_plan_part *p, arena *a) {
    const rsk_part *part = p->part;
    const int is_bits = part->hash >= RSK_POOL_SPARSE && !(part->flags & RSK_LEVELS) && has_single_counters(part) &&
                        part->counter_type != RSK_COUNTER_INT16 && part->n_concat <= 8;
    if (plan->model.precision != RSK_INT || !is_bits) return;
    uint32_t *terms = take(a, (uint64_t)p->n_used * 3u, 4);
    p->bit_terms = terms;
    if (!terms) return;
    for (uint32_t place = 0; place < p->n_used; place++) {
        uint32_t begin = place ? p->term_ends[place - 1] : 0;
        for (uint32_t i = 0; i < 3; i++, begin++) {
            const int has_term = begin < p->term_ends[place];
            const uint32_t term = has_term ? p->terms[begin] : 0;
            *terms++ = has_term ? (term >> 1) + (term & 1u ? part->n_inputs : 0) : 2u * part->n_inputs;
        }
    }
}

static void lay_out_raised(const rsk_plan *plan, rsk_plan_part *p, arena *a) {
    const rsk_part *part = p->part;
    if (plan->model.precision != RSK_INT || part->counter_type == RSK_COUNTER_INT16 || !has_single_counters(part)) return;
    const uint64_t n = (uint64_t)part->n_rows * part->n_buckets;
    uint8_t *raised = take(a, n, 1);
    p->raised_counters = raised;
    if (raised)
        for (uint64_t i = 0; i < n; i++) raised[i] = (uint8_t)(((const int8_t *)p->counters)[i] + 128);
}

/* Where a row has one code, and its bucket width is 2^8 in sums of 16 bits, there are 256 codes: look the counter up
 * by the code itself, and leave the fold out. */
static void lay_out_tables(const rsk_plan *plan, rsk_plan_part *p, arena *a) {
    const rsk_part *part = p->part;
    /* Counting asks the same questions as filling: nothing here may depend on what has been drawn. */
    if (plan->model.precision != RSK_INT || !wraps16(part) || !has_single_counters(part)) return;
    if (part->n_concat != 1 || part->width_bits != 8 || part->n_inputs > RSK_WIDEST_BLOCK) return;
    if (part->counter_type == RSK_COUNTER_INT16 || part->n_rows > RSK_MOST_TABLES) return;
    uint8_t *tables = take(a, (uint64_t)part->n_rows * 256u, 1);
    p->byte_tables = tables;
    if (!tables) return;
    for (uint32_t row = 0; row < part->n_rows; row++) {
        const uint8_t *counters = p->raised_counters + (size_t)row * part->n_buckets;
        uint8_t *table = tables + (size_t)row * 256u;
        for (uint32_t half = 0; half < 2; half++) { /* codes 0 to 127, then -128 to -1 as 16 bits */
            uint32_t total = p->fold_addends[row] + p->fold_multipliers[row] * (half ? 0xFF80u : 0u);
            for (uint32_t byte = 0; byte < 128; byte++, total += p->fold_multipliers[row])
                table[128u * half + byte] = counters[((total >> 16) * part->n_buckets) >> 16];
        }
    }
}

static void lay_out_part(rsk_plan *plan, uint32_t index, arena *a) {
    const rsk_model *m = &plan->model;
    rsk_plan_part *p = plan->parts + index;
    const rsk_part *part = p->part = m->parts + index;
    const uint64_t n = (uint64_t)part->n_rows * part->n_buckets * part->n_numbers;
    p->width_bits = part->width_bits + (part->hash == RSK_L1 ? 8u : part->directions ? 6u : 0u);
    p->n_used = lay_out_used(p, a);
    if (part->counter_type == RSK_COUNTER_FLOAT32) p->counters = take_floats(a, part->counters, n);
    else if (part->counter_type == RSK_COUNTER_INT16) p->counters = take_int16(a, part->counters, n, 16);
    else p->counters = take_int8(a, part->counters, n, part->counter_type == RSK_COUNTER_INT8 ? 8 : 4);
    if (part->decode != RSK_NO_DECODE) {
        const uint64_t rows = part->decode == RSK_DECODE_SHARED ? part->n_numbers : part->n_rows;
        if (m->precision == RSK_INT) p->decode = take_int8(a, part->decode_matrix, rows * m->n_outputs, 8);
        else p->decode = take_floats(a, part->decode_matrix, rows * m->n_outputs);
    }
    p->gain = take_gain(a, part->gain, part->n_gains, m->n_outputs);
    if (plan->is_compact) return;
    if (part->fold == RSK_UNIVERSAL) lay_out_fold(p, a);
    if (has_terms(part)) {
        lay_out_terms(plan, p, a);
        lay_out_lanes(p, a);
        lay_out_triples(plan, p, a);
        lay_out_bits(plan, p, a);
    } else lay_out_dense(plan, p, a);
    p->is_plain = (uint8_t)(p->fits_int16 && part->n_inputs <= RSK_WIDEST_BLOCK && has_single_counters(part));
    p->is_plain_float = (uint8_t)(m->precision == RSK_FLOAT32 && part->hash <= RSK_ANGULAR && part->directions == 0 &&
                                  part->fold == RSK_UNIVERSAL && has_single_counters(part) &&
                                  part->counter_type == RSK_COUNTER_FLOAT32 && part->n_inputs <= RSK_WIDEST_BLOCK);
    lay_out_raised(plan, p, a);
    if (has_row_columns(part) && m->precision == RSK_INT) lay_out_row_columns(plan, p, a);
    if (has_row_columns(part) && p->is_plain_float) lay_out_float_columns(p, a);
    lay_out_row_bits(plan, p, a);
    lay_out_tables(plan, p, a);
}

/* Bytes a block of `lanes` rows works in; rsk_block.inc takes them in the same order. */
static size_t scratch_nbytes(const rsk_plan *plan, size_t lanes) {
    const rsk_model *m = &plan->model;
    uint64_t size = ((uint64_t)m->n_values + m->n_components) * lanes * 4 + /* float, or int16 and its negative */ (uint64_t)m->n_features * 4;
    uint64_t widest = 0;
    for (uint32_t i = 0; i < m->n_parts; i++) {
        const rsk_part *part = m->parts + i;
        const uint64_t width = part->n_numbers > m->n_outputs ? part->n_numbers : m->n_outputs;
        uint64_t need = (uint64_t)part->n_groups * width * lanes * 4 + part->n_groups * 4u + width * lanes * 4;
        if (part->flags & RSK_HAS_INDICES) need += (uint64_t)plan->parts[i].n_used * lanes * 4;
        need += (uint64_t)part->n_inputs * 4 + (uint64_t)plan->parts[i].n_used * 8;
        if (lanes > 1) need += (uint64_t)(64u + part->n_concat) * lanes * 2; /* codes of a chunk */
        if (lanes > 1 && m->precision == RSK_FLOAT32) /* float_rows: coordinates, negatives, codes of a chunk */
            need += ((uint64_t)part->n_inputs * 2u + 64u + part->n_concat) * lanes * 4;
        if (lanes > 1) need += (uint64_t)27u * RSK_MOST_TRIPLES * lanes * 2;
        if (need > widest) widest = need;
    }
    for (uint32_t i = 0; i < m->n_parts; i++) /* one_columns */
        if (plan->parts[i].column_stride)
            size += (uint64_t)plan->parts[i].column_stride * (4u * m->parts[i].n_concat + 4u) +
                    24u * (uint64_t)m->parts[i].n_inputs + 512u;
    if (lanes > 1 && m->precision == RSK_FLOAT32) size += ((uint64_t)m->n_features + 16u) * lanes * 4;
    if (lanes > 1) size += (uint64_t)plan->byte_stride * lanes * 4;
    if (lanes == 1) size += (uint64_t)m->n_components * 4 + 256; /* sums of one_project */
    size += widest + (uint64_t)m->n_outputs * lanes * 4 + 16 * 128;
    return size > SIZE_MAX ? SIZE_MAX : (size_t)size;
}

static void lay_out(rsk_plan *plan, const rsk_model *model, int compact, int level, arena *a) {
    memset(plan, 0, sizeof *plan);
    plan->model = *model;
    plan->level = (uint8_t)level;
    plan->is_compact = (uint8_t)(compact != 0);
    plan->n_parts = model->n_parts;
    lay_out_columns(plan, a);
    lay_out_bytes(plan, a);
    lay_out_projection(plan, a);
    lay_out_packed(plan, a);
    lay_out_pairs(plan, a);
    for (uint32_t i = 0; i < model->n_parts; i++) lay_out_part(plan, i, a);
    plan->is_plain_float = model->precision == RSK_FLOAT32 && model->n_values == model->n_features &&
                           !(model->flags & (RSK_HAS_COLUMNS | RSK_ACCEPTS_MISSING)) && model->kinds == NULL &&
                           model->kinds_of_all == RSK_KINDS_NUMERIC;
    plan->has_fast_row = model->n_outputs == 1 && !(model->flags & RSK_ACCEPTS_MISSING) &&
                         (plan->uses_bytes || (plan->is_plain_float && (model->projection_kind == RSK_NO_PROJECTION ||
                                                                        model->projection_kind == RSK_MATRIX_FLOAT32)));
    for (uint32_t i = 0; i < model->n_parts; i++)
        if (!plan->parts[i].column_stride && !plan->parts[i].bit_terms) plan->has_fast_row = 0;
    plan->row_scratch = scratch_nbytes(plan, 1);
    const int is_wide = model->n_values > RSK_WIDEST_BLOCK || model->n_components > RSK_WIDEST_BLOCK;
    plan->block_scratch = is_wide ? plan->row_scratch : scratch_nbytes(plan, RSK_LANES);
}

size_t rsk_plan_nbytes(const rsk_model *model, int compact) {
    rsk_plan plan;
    arena a = {NULL, 0};
    lay_out(&plan, model, compact, RSK_SCALAR, &a); /* all take the same */
    const uint64_t nbytes = a.used + ((sizeof(rsk_plan) + 63u) & ~(uint64_t)63u);
    return nbytes > SIZE_MAX ? SIZE_MAX : (size_t)nbytes;
}

rsk_status rsk_plan_make(const rsk_model *model, int compact, int level, void *memory, size_t nbytes,
                         const rsk_plan **made) {
    if (level >= 0 && !rsk_level_exists(level)) return RSK_ARGUMENT;
    if (memory == NULL || (uintptr_t)memory % 64u != 0 || nbytes < rsk_plan_nbytes(model, compact)) return RSK_MEMORY;
    rsk_plan *plan = memory;
    arena a = {(uint8_t *)memory + ((sizeof(rsk_plan) + 63u) & ~(size_t)63u), 0};
    lay_out(plan, model, compact, level < 0 ? rsk_level_best() : level, &a);
    *made = plan;
    return RSK_OK;
}

size_t rsk_scratch_nbytes(const rsk_plan *plan, int batch) { return batch ? plan->block_scratch : plan->row_scratch; }
