/* rsk_plan.c: a model unpacked into memory that the caller gave. */
#include "rsk_arena.h"
#include "rsk_hash.h"

static void lay_out_columns(rsk_plan *plan, rsk_arena *a) {
    const rsk_model *m = &plan->model;
    rsk_column *columns = take(a, m->n_columns, sizeof(rsk_column));
    plan->columns = columns;
    if (!columns) return;
    uint32_t value = 0, n_numeric = 0;
    for (uint32_t i = 0; i < m->n_columns; i++) {
        rsk_column *column = columns + i;
        column->index = m->flags & RSK_HAS_COLUMNS ? rsk_packed(m->columns, i, rsk_index_bits(m->n_features)) : i;
        column->kind = m->column_kinds ? rsk_u16(m->column_kinds + 2 * (size_t)i) : m->kinds;
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
static void lay_out_bytes(rsk_plan *plan, rsk_arena *a) {
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
    plan->byte_base = m->projection != RSK_PROJECTION_NONE && m->low - has_missing < 0 ? -128 : 0;
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
static void lay_out_packed(rsk_plan *plan, rsk_arena *a) {
    const rsk_model *m = &plan->model;
    if (!plan->uses_bytes || !rsk_has_matrix(m)) return;
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
            const int8_t entry = plan->int_projection[(size_t)i * p + j];
            const uint32_t column = plan->columns[i].index;
            packed[(((size_t)(j / 8u) * n_words + column / 4u) * 8u + j % 8u) * 4u + column % 4u] = entry;
            total += entry;
        }
        /* Modulo 2^32, as the sums of bytes are: their true values fit. */
        const int64_t start = (plan->int_shift ? plan->int_shift[j] : 0) + plan->byte_base * total;
        const uint32_t bits = (uint32_t)(uint64_t)start;
        memcpy(shift + j, &bits, sizeof bits);
    }
}

/* The same as pairs of 16-bit entries. */
static void lay_out_pairs(rsk_plan *plan, rsk_arena *a) {
    const rsk_model *m = &plan->model;
    if (m->precision != RSK_INT || !rsk_has_matrix(m)) return;
    const uint32_t n_pairs = (m->n_values + 1u) / 2u, p = m->n_components;
    plan->pair_stride = (p + 3u) & ~3u;
    int16_t *pairs = take(a, (uint64_t)n_pairs * plan->pair_stride, 4);
    plan->pair_projection = (const int32_t *)(const void *)pairs;
    if (!pairs) return;
    memset(pairs, 0, (size_t)n_pairs * plan->pair_stride * 4u);
    for (uint32_t i = 0; i < m->n_values; i++)
        for (uint32_t j = 0; j < p; j++)
            pairs[((size_t)(i / 2u) * plan->pair_stride + j) * 2u + i % 2u] = plan->int_projection[(size_t)i * p + j];
}

static void lay_out_projection(rsk_plan *plan, rsk_arena *a) {
    const rsk_model *m = &plan->model;
    const uint64_t n_matrix = (uint64_t)m->n_values * m->n_components, n_linear = (uint64_t)m->n_components * m->n_outputs;
    if (m->projection == RSK_PROJECTION_FLOAT32) {
        plan->projection = take_floats(a, m->projection_matrix, n_matrix);
    } else if (rsk_has_matrix(m)) {
        plan->int_projection = take_int8(a, m->projection_matrix, n_matrix, m->projection == RSK_PROJECTION_INT8 ? 8 : 2);
    }
    plan->projection_scales = take_floats(a, m->projection_scales, m->n_components);
    if (m->shift && m->precision == RSK_FLOAT32) plan->shift = take_floats(a, m->shift, m->n_components);
    if (m->shift && m->precision == RSK_INT) {
        int32_t *shift = take(a, m->n_components, 4);
        plan->int_shift = shift;
        if (shift)
            for (uint32_t i = 0; i < m->n_components; i++) shift[i] = rsk_i32(m->shift + 4 * (size_t)i);
    }
    if (m->multipliers) plan->multipliers = take_int16(a, m->multipliers, m->n_components, 16);
    if (m->linear == RSK_LINEAR_FLOAT32) plan->linear = take_floats(a, m->linear_matrix, n_linear);
    if (m->linear >= RSK_LINEAR_INT16)
        plan->int_linear = take_int16(a, m->linear_matrix, n_linear, m->linear == RSK_LINEAR_INT16 ? 16 : 8);
    plan->linear_gain = take_gain(a, m->linear_gain, m->n_linear_gains, m->n_outputs);
    float *offset = take(a, m->n_outputs, sizeof(float));
    plan->offset = offset;
    if (offset)
        for (uint32_t c = 0; c < m->n_outputs; c++) offset[c] = rsk_float_of(rsk_offset_bits(m, c));
}

/* Which codes of a pool the rows name, in rising order, and where each row finds its own among them. */
static uint32_t lay_out_used(rsk_plan_group *p, rsk_arena *a) {
    const rsk_row_group *group = p->group;
    const uint64_t named = (uint64_t)group->n_rows * group->n_concat;
    if (!(group->flags & RSK_HAS_INDICES)) return (uint32_t)(named > UINT32_MAX ? UINT32_MAX : named);
    const uint32_t bits = rsk_index_bits(group->n_codes);
    uint32_t *places = take(a, group->n_codes, 4), *rows = take(a, named, 4);
    uint32_t *ids = take(a, group->n_codes < named ? group->n_codes : named, 4);
    p->row_codes = rows;
    p->code_ids = ids;
    if (!places) return (uint32_t)(group->n_codes < named ? group->n_codes : named);
    memset(places, 0, 4 * (size_t)group->n_codes);
    for (uint64_t i = 0; i < named; i++) places[rsk_packed(group->indices, i, bits)] = 1;
    uint32_t n = 0;
    for (uint32_t code = 0; code < group->n_codes; code++)
        if (places[code]) {
            ids[n] = code;
            places[code] = n++;
        }
    for (uint64_t i = 0; i < named; i++) rows[i] = places[rsk_packed(group->indices, i, bits)];
    return n;
}

/* Largest size of what a group of rows reads. */
static int64_t largest_input(const rsk_model *m, const rsk_row_group *group) {
    if (group->source == RSK_SOURCE_PROJECTED && m->projection >= RSK_PROJECTION_INT8) return rsk_projected_largest(m);
    const int64_t low = m->low < 0 ? -(int64_t)m->low : m->low, high = m->high < 0 ? -(int64_t)m->high : m->high;
    return (low > high ? low : high) + ((m->flags & RSK_ACCEPTS_MISSING) != 0);
}

static void lay_out_terms(rsk_plan *plan, rsk_plan_group *p, rsk_arena *a) {
    const rsk_row_group *group = p->group;
    const int is_int = plan->model.precision == RSK_INT;
    const uint64_t most = rsk_most_terms(group);
    uint32_t *ends = take(a, p->n_used, 4);
    int32_t *starts = is_int ? take(a, p->n_used, 4) : NULL;
    float *float_starts = is_int ? NULL : take(a, p->n_used, 4);
    uint8_t *shifts = group->flags & RSK_NORMALISED ? take(a, p->n_used, 1) : NULL;
    uint32_t *terms = take(a, p->n_used * most, 4);
    /* Their places are 32-bit numbers: beyond, report a size that cannot be allocated; a compact plan will do. */
    if (p->n_used * most > UINT32_MAX) a->used += (uint64_t)1 << 60;
    p->term_ends = ends;
    p->terms = terms;
    p->starts = starts;
    p->float_starts = float_starts;
    p->shifts = shifts;
    if (!ends) return;
    const int64_t largest = largest_input(&plan->model, group);
    /* In 16 bits: levels too, and the sum behind an own one after half of them is added. */
    const int64_t half = rsk_has_centred_levels(group) ? group->n_levels / 2u : 0;
    const rsk_family *family = rsk_family_of(group);
    int fits = is_int && group->n_levels <= INT16_MAX;
    uint32_t end = 0;
    for (uint32_t i = 0; i < p->n_used; i++) {
        const uint32_t code = p->code_ids ? p->code_ids[i] : i;
        const uint32_t n = family->draw_terms(group, code, terms + end);
        if (is_int) {
            starts[i] = family->draw_start(&plan->model, group, code, terms + end, n);
            const int64_t start = starts[i] < 0 ? -(int64_t)starts[i] : starts[i];
            if (start > INT16_MAX || n * largest + start + half > INT16_MAX) fits = 0;
        } else {
            float_starts[i] = family->draw_float_start(&plan->model, group, code, terms + end, n);
        }
        if (shifts) shifts[i] = (uint8_t)rsk_term_shift(group, n);
        end += n;
        ends[i] = end;
    }
    p->fits_int16 = (uint8_t)(fits || (is_int && rsk_wraps16(group)));
}

static void lay_out_dense(rsk_plan *plan, rsk_plan_group *p, rsk_arena *a) {
    const rsk_row_group *group = p->group;
    const int is_int = plan->model.precision == RSK_INT;
    const uint64_t n_codes = (uint64_t)group->n_rows * group->n_concat, n = n_codes * group->n_inputs;
    const rsk_family *family = rsk_family_of(group);
    if (p->code == RSK_CODE_LEAST) {
        uint32_t *words = take(a, n, 4);
        p->words = words;
        for (uint64_t i = 0; words && i < n; i++)
            words[i] = rsk_cell_draw(group, (uint32_t)(i / group->n_inputs),
                                     (uint32_t)(i % group->n_inputs)).multiplier;
        return;
    }
    float *weights = is_int ? NULL : take(a, n, 4);
    int16_t *int_weights = is_int ? take(a, n, 2) : NULL;
    p->weights = weights;
    p->int_weights = int_weights;
    uint32_t *words = NULL, *addends = NULL;
    float *offsets = NULL, *float_starts = NULL;
    int32_t *int_offsets = NULL, *starts = NULL;
    if (p->code == RSK_CODE_CELL) {
        p->words = words = take(a, n, 4);
        p->addends = addends = take(a, n_codes, 4);
        if (is_int) p->int_cell_offsets = int_offsets = take(a, n, 4);
        else p->cell_offsets = offsets = take(a, n, 4);
    } else if (is_int) {
        p->starts = starts = take(a, n_codes, 4);
    } else {
        p->float_starts = float_starts = take(a, n_codes, 4);
    }
    if (!a->memory) return;
    for (uint64_t i = 0; i < n; i++) {
        const uint32_t code = (uint32_t)(i / group->n_inputs), j = (uint32_t)(i % group->n_inputs);
        const rsk_cell cell = family->draw_cell(group, code / group->n_concat, code % group->n_concat, j);
        if (is_int) int_weights[i] = rsk_int_weight(group, cell.weight);
        else weights[i] = cell.weight;
        if (words) words[i] = cell.multiplier;
        if (int_offsets) int_offsets[i] = (int32_t)rsk_top_bits(cell.offset_word, p->width_bits);
        if (offsets) offsets[i] = rsk_offset(cell.offset_word);
    }
    for (uint32_t code = 0; code < n_codes; code++) {
        if (addends)
            addends[code] = rsk_word(group->seed, RSK_STREAM_CELL, code / group->n_concat, code % group->n_concat, 0);
        if (starts) starts[code] = family->draw_start(&plan->model, group, code, NULL, 0);
        if (float_starts) float_starts[code] = family->draw_float_start(&plan->model, group, code, NULL, 0);
    }
}

static void lay_out_fold(rsk_plan_group *p, rsk_arena *a) {
    const rsk_row_group *group = p->group;
    uint32_t *addends = take(a, group->n_rows, 4), *multipliers = take(a, (uint64_t)group->n_rows * group->n_concat, 4);
    p->fold_addends = addends;
    p->fold_multipliers = multipliers;
    if (!addends) return;
    for (uint32_t row = 0; row < group->n_rows; row++) {
        uint32_t pair[2]; /* of code 0: its multiplier and the row's addend */
        rsk_threefry(group->seed, RSK_STREAM_FOLD, row, 0, pair);
        addends[row] = pair[1];
        multipliers[(size_t)row * group->n_concat] = pair[0];
        for (uint32_t k = 1; k < group->n_concat; k++)
            multipliers[(size_t)row * group->n_concat + k] = rsk_word(group->seed, RSK_STREAM_FOLD, row, k, 0);
    }
}

static void lay_out_group(rsk_plan *plan, uint32_t index, rsk_arena *a) {
    const rsk_model *m = &plan->model;
    rsk_plan_group *p = plan->row_groups + index;
    const rsk_row_group *group = p->group = m->row_groups + index;
    const uint64_t n = (uint64_t)group->n_rows * group->n_buckets * group->n_numbers;
    p->code = rsk_family_of(group)->code;
    p->is_pool = rsk_is_pool(group);
    p->is_bit = rsk_has_bits(group);
    p->has_terms = rsk_has_terms(group);
    p->is_centred = rsk_has_centred_levels(group);
    p->wraps16 = rsk_wraps16(group);
    p->width_bits = group->width_bits + (p->has_terms ? 0u : rsk_family_of(group)->weight_bits);
    p->n_used = lay_out_used(p, a);
    if (group->counter_type == RSK_COUNTER_FLOAT32) p->counters = take_floats(a, group->counters, n);
    else if (group->counter_type == RSK_COUNTER_INT16) p->counters = take_int16(a, group->counters, n, 16);
    else p->counters = take_int8(a, group->counters, n, group->counter_type == RSK_COUNTER_INT8 ? 8 : 4);
    if (group->decode != RSK_DECODE_NONE) {
        const uint64_t rows = group->decode == RSK_DECODE_SHARED ? group->n_numbers : group->n_rows;
        if (m->precision == RSK_INT) p->decode = take_int8(a, group->decode_matrix, rows * m->n_outputs,
                                                           group->decode_stored_as == RSK_DECODE_BITS_INT4 ? 4 : 8);
        else p->decode = take_floats(a, group->decode_matrix, rows * m->n_outputs);
    }
    p->gain = take_gain(a, group->gain, group->n_gains, m->n_outputs);
    if (plan->is_compact) return;
    if (group->fold == RSK_UNIVERSAL) lay_out_fold(p, a);
    if (p->has_terms) {
        lay_out_terms(plan, p, a);
        rsk_lay_out_lanes(plan, p, a);
    } else lay_out_dense(plan, p, a);
    p->is_plain = (uint8_t)(p->fits_int16 && group->n_inputs <= RSK_WIDEST_BLOCK && rsk_has_single_counters(group));
    p->is_plain_float = (uint8_t)(m->precision == RSK_FLOAT32 && p->has_terms && !p->is_pool &&
                                  group->fold == RSK_UNIVERSAL && rsk_has_single_counters(group) &&
                                  group->counter_type == RSK_COUNTER_FLOAT32 && group->n_inputs <= RSK_WIDEST_BLOCK);
    rsk_lay_out_tables(plan, p, a);
    rsk_lay_out_rows(plan, p, a);
}

/* Bytes a block of `lanes` rows works in; rsk_predict_block.inc takes them in the same order. */
static size_t scratch_nbytes(const rsk_plan *plan, size_t lanes) {
    const rsk_model *m = &plan->model;
    uint64_t size = ((uint64_t)m->n_values + m->n_components) * lanes * 4 + /* float, or int16 and its negative */ (uint64_t)m->n_features * 4;
    uint64_t widest = 0;
    for (uint32_t i = 0; i < m->n_row_groups; i++) {
        const rsk_row_group *group = m->row_groups + i;
        const uint64_t width = group->n_numbers > m->n_outputs ? group->n_numbers : m->n_outputs;
        uint64_t need = (uint64_t)group->n_groups * width * lanes * 4 + group->n_groups * 4u + width * lanes * 4;
        if (group->flags & RSK_HAS_INDICES) need += (uint64_t)plan->row_groups[i].n_used * lanes * 4;
        need += (uint64_t)group->n_inputs * 4 + (uint64_t)plan->row_groups[i].n_used * 8;
        if (lanes > 1) need += (uint64_t)(64u + group->n_concat) * lanes * 2; /* codes of a chunk */
        if (lanes > 1 && m->precision == RSK_FLOAT32) /* float_rows: coordinates, negatives, codes of a chunk */
            need += ((uint64_t)group->n_inputs * 2u + 64u + group->n_concat) * lanes * 4;
        if (lanes > 1) need += (uint64_t)27u * RSK_MOST_TRIPLES * lanes * 2;
        if (need > widest) widest = need;
    }
    for (uint32_t i = 0; i < m->n_row_groups; i++) /* one_columns */
        if (plan->row_groups[i].column_stride)
            size += (uint64_t)plan->row_groups[i].column_stride * (4u * m->row_groups[i].n_concat + 4u) +
                    24u * (uint64_t)m->row_groups[i].n_inputs + 512u;
    if (lanes > 1 && plan->is_plain_float) size += ((uint64_t)m->n_features + 16u) * lanes * 4; /* float_read_dense */
    if (lanes > 1) size += (uint64_t)plan->byte_stride * lanes * 4;
    if (lanes == 1) size += (uint64_t)m->n_components * 4 + 256; /* sums of one_project */
    for (uint32_t i = 0; i < m->n_stages; i++) size += (uint64_t)m->stages[i].n_components * lanes * 2 + 64;
    size += (uint64_t)plan->n_stage_terms * m->n_outputs * lanes * 4;
    size += widest + (uint64_t)m->n_outputs * lanes * 4 + 16 * 128;
    return size > SIZE_MAX ? SIZE_MAX : (size_t)size;
}

static void lay_out(rsk_plan *plan, const rsk_model *model, int compact, int isa, rsk_arena *a) {
    memset(plan, 0, sizeof *plan);
    plan->model = *model;
    plan->isa = rsk_isa_of(isa);
    plan->is_compact = (uint8_t)(compact != 0);
    plan->n_row_groups = model->n_row_groups;
    lay_out_columns(plan, a);
    lay_out_bytes(plan, a);
    lay_out_projection(plan, a);
    lay_out_packed(plan, a);
    lay_out_pairs(plan, a);
    rsk_lay_out_stages(plan, a);
    for (uint32_t i = 0; i < model->n_row_groups; i++) lay_out_group(plan, i, a);
    plan->is_plain_float = model->precision == RSK_FLOAT32 && model->n_values == model->n_features &&
                           !(model->flags & (RSK_HAS_COLUMNS | RSK_ACCEPTS_MISSING)) && model->column_kinds == NULL &&
                           model->kinds == RSK_KINDS_NUMERIC;
    plan->has_fast_row = model->n_outputs == 1 && !(model->flags & RSK_ACCEPTS_MISSING) && !rsk_has_stages(model) &&
                         (plan->uses_bytes || (plan->is_plain_float && (model->projection == RSK_PROJECTION_NONE ||
                                                                        model->projection == RSK_PROJECTION_FLOAT32)));
    for (uint32_t i = 0; i < model->n_row_groups; i++)
        if (!plan->row_groups[i].column_stride && !plan->row_groups[i].bit_terms) plan->has_fast_row = 0;
    plan->row_scratch = scratch_nbytes(plan, 1);
    const size_t table = rsk_table_nbytes(model);
    const size_t block = rsk_is_wide(model) ? plan->row_scratch : scratch_nbytes(plan, RSK_LANES);
    plan->block_scratch = block > SIZE_MAX - table ? SIZE_MAX : block + table;
}

/* Bytes of a plan, whose record comes back in `plan`. */
static uint64_t count_nbytes(const rsk_model *model, int compact, rsk_plan *plan) {
    rsk_arena a = {NULL, 0};
    lay_out(plan, model, compact, RSK_SCALAR, &a); /* all take the same */
    return a.used + ((sizeof(rsk_plan) + 63u) & ~(uint64_t)63u);
}

size_t rsk_plan_nbytes(const rsk_model *model, int compact) {
    rsk_plan plan;
    const uint64_t nbytes = count_nbytes(model, compact, &plan);
    return nbytes > SIZE_MAX ? SIZE_MAX : (size_t)nbytes;
}

uint64_t rsk_memory_count(const rsk_model *model) {
    rsk_plan plan;
    const uint64_t nbytes = count_nbytes(model, 0, &plan);
    return nbytes + (plan.row_scratch > plan.block_scratch ? plan.row_scratch : plan.block_scratch);
}

rsk_status rsk_plan_make(const rsk_model *model, int compact, int isa, void *memory, size_t nbytes,
                         const rsk_plan **made) {
    if (isa >= 0 && !rsk_isa_exists(isa)) return RSK_ARGUMENT;
    if (memory == NULL || (uintptr_t)memory % 64u != 0 || nbytes < rsk_plan_nbytes(model, compact)) return RSK_MEMORY;
    rsk_plan *plan = memory;
    rsk_arena a = {(uint8_t *)memory + ((sizeof(rsk_plan) + 63u) & ~(size_t)63u), 0};
    lay_out(plan, model, compact, isa < 0 ? rsk_isa_best() : isa, &a);
    *made = plan;
    return RSK_OK;
}

size_t rsk_scratch_nbytes(const rsk_plan *plan, int batch) { return batch ? plan->block_scratch : plan->row_scratch; }
