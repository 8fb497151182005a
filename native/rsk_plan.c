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
    plan->reads_in_place = 1;
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
        if (column->kind > 1 || column->index != i) plan->reads_in_place = 0;
    }
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
    p->term_ends = ends;
    p->terms = terms;
    p->starts = starts;
    p->float_starts = float_starts;
    p->shifts = shifts;
    if (!ends) return;
    const int64_t largest = largest_input(&plan->model, part);
    int fits = is_whole;
    uint32_t end = 0;
    for (uint32_t i = 0; i < p->n_used; i++) {
        const uint32_t code = p->code_ids ? p->code_ids[i] : i;
        const uint32_t n = rsk_terms_draw(&plan->model, part, code, terms + end);
        if (is_whole) {
            starts[i] = rsk_start_draw(&plan->model, part, code, terms + end, n);
            const int64_t start = starts[i] < 0 ? -(int64_t)starts[i] : starts[i];
            if (start > INT16_MAX || n * largest + start > INT16_MAX) fits = 0;
        } else {
            float_starts[i] = rsk_float_start_draw(&plan->model, part, code, terms + end, n);
        }
        if (shifts) shifts[i] = (uint8_t)rsk_term_shift(part, n);
        if (n > p->most_terms) p->most_terms = n;
        end += n;
        ends[i] = end;
    }
    p->fits_int16 = (uint8_t)fits;
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

static void lay_out_fold(rsk_plan_part *p, arena *a) {
    const rsk_part *part = p->part;
    uint32_t *addends = take(a, part->n_rows, 4), *multipliers = take(a, (uint64_t)part->n_rows * part->n_concat, 4);
    p->fold_addends = addends;
    p->fold_multipliers = multipliers;
    if (!addends) return;
    for (uint32_t row = 0; row < part->n_rows; row++) {
        addends[row] = rsk_word(part->seed, RSK_STREAM_FOLD, row, 0, 1);
        for (uint32_t k = 0; k < part->n_concat; k++)
            multipliers[(size_t)row * part->n_concat + k] = rsk_word(part->seed, RSK_STREAM_FOLD, row, k, 0);
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
    if (has_terms(part)) lay_out_terms(plan, p, a);
    else lay_out_dense(plan, p, a);
    p->is_plain = (uint8_t)(p->fits_int16 && part->n_numbers == 1 && part->decode == RSK_NO_DECODE &&
                            part->n_groups == 1 && !(part->flags & RSK_INTERPOLATED));
}

/* Bytes a block of `lanes` rows works in; rsk_block.inc takes them in the same order. */
static size_t scratch_nbytes(const rsk_plan *plan, size_t lanes) {
    const rsk_model *m = &plan->model;
    uint64_t size = ((uint64_t)m->n_values + m->n_components) * lanes * 4 + (uint64_t)m->n_features * 4;
    uint64_t widest = 0;
    for (uint32_t i = 0; i < m->n_parts; i++) {
        const rsk_part *part = m->parts + i;
        const uint64_t width = part->n_numbers > m->n_outputs ? part->n_numbers : m->n_outputs;
        uint64_t need = (uint64_t)part->n_groups * width * lanes * 4 + part->n_groups * 4u + width * lanes * 4;
        if (part->flags & RSK_HAS_INDICES) need += (uint64_t)plan->parts[i].n_used * lanes * 4;
        need += (uint64_t)part->n_inputs * 4;
        if (need > widest) widest = need;
    }
    return (size_t)(size + widest + (uint64_t)m->n_outputs * lanes * 4 + 16 * 128);
}

static void lay_out(rsk_plan *plan, const rsk_model *model, int compact, arena *a) {
    memset(plan, 0, sizeof *plan);
    plan->model = *model;
    plan->is_compact = (uint8_t)(compact != 0);
    plan->n_parts = model->n_parts;
    lay_out_columns(plan, a);
    lay_out_projection(plan, a);
    for (uint32_t i = 0; i < model->n_parts; i++) lay_out_part(plan, i, a);
    plan->row_scratch = scratch_nbytes(plan, 1);
    const int is_wide = model->n_values > RSK_WIDEST_BLOCK || model->n_components > RSK_WIDEST_BLOCK;
    plan->block_scratch = is_wide ? plan->row_scratch : scratch_nbytes(plan, RSK_LANES);
}

size_t rsk_plan_nbytes(const rsk_model *model, int compact) {
    rsk_plan plan;
    arena a = {NULL, 0};
    lay_out(&plan, model, compact, &a);
    const uint64_t nbytes = a.used + ((sizeof(rsk_plan) + 63u) & ~(uint64_t)63u);
    return nbytes > SIZE_MAX ? SIZE_MAX : (size_t)nbytes;
}

rsk_status rsk_plan_make(const rsk_model *model, int compact, int level, void *memory, size_t nbytes,
                         const rsk_plan **made) {
    if (level >= 0 && !rsk_level_exists(level)) return RSK_ARGUMENT;
    if ((uintptr_t)memory % 64u != 0 || nbytes < rsk_plan_nbytes(model, compact)) return RSK_MEMORY;
    rsk_plan *plan = memory;
    arena a = {(uint8_t *)memory + ((sizeof(rsk_plan) + 63u) & ~(size_t)63u), 0};
    lay_out(plan, model, compact, &a);
    plan->level = (uint8_t)(level < 0 ? rsk_level_best() : level);
    *made = plan;
    return RSK_OK;
}

size_t rsk_scratch_nbytes(const rsk_plan *plan, int batch) { return batch ? plan->block_scratch : plan->row_scratch; }
