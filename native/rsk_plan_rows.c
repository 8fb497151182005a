/* rsk_plan_rows.c: what single rows need; a lane is a row of counters there. */
#include "rsk_arena.h"

static int has_row_columns(const rsk_row_group *group) {
    const uint64_t n = (group->n_rows + 63u) & ~63u;
    return rsk_has_single_counters(group) && rsk_wraps16(group) &&
           n * group->n_concat * group->n_inputs <= RSK_MOST_COLUMNS;
}

/* Bytes of the directions of 64 codes, and where an entry is added: as RSK_COLUMNS_... says. */
static size_t column_chunk_nbytes(const rsk_plan *plan, uint32_t n_inputs) {
    const uint8_t columns = plan->isa->columns;
    if (columns == RSK_COLUMNS_TRIPLES) return (n_inputs + 2u) / 3u * 64u;
    return (columns == RSK_COLUMNS_PAIRS ? (n_inputs + 1u) & ~1u : n_inputs) * (size_t)64u;
}

static void add_to_column(const rsk_plan *plan, uint8_t *chunk, uint32_t lane, uint32_t j, int sign) {
    static const int powers[3] = {1, 3, 9};
    const uint8_t columns = plan->isa->columns;
    if (columns == RSK_COLUMNS_TRIPLES) chunk += (size_t)(j / 3u) * 64u + lane;
    else if (columns == RSK_COLUMNS_PAIRS) chunk += (size_t)(j / 2u) * 128u + lane * 2u + j % 2u;
    else chunk += (size_t)j * 64u + lane;
    *chunk = (uint8_t)(*chunk + sign * (columns == RSK_COLUMNS_TRIPLES ? powers[j % 3u] : 1));
}

/* What single rows need of the paper's groups: everything in columns, a lane a row of counters. */
static void lay_out_row_columns(const rsk_plan *plan, rsk_plan_group *p, rsk_arena *a) {
    const rsk_row_group *group = p->group;
    const uint32_t n = (group->n_rows + 63u) & ~63u, n_concat = group->n_concat;
    const size_t n_codes = (size_t)n * n_concat, chunk_nbytes = column_chunk_nbytes(plan, group->n_inputs);
    uint8_t *directions = take(a, n_codes * ((uint64_t)group->n_inputs + 1u), 1); /* enough for every instruction set */
    int16_t *starts = take(a, n_codes, 2);
    uint16_t *multipliers = take(a, 2u * n_codes, 2), *addends = take(a, 2u * (uint64_t)n, 2);
    int16_t *counters = group->n_buckets <= 16 ? take(a, (uint64_t)n * group->n_buckets, 2) : NULL;
    p->column_stride = n;
    p->column_directions = directions;
    p->column_starts = starts;
    p->column_multipliers = multipliers;
    p->column_addends = addends;
    p->column_counters = counters;
    if (!a->memory) return;
    static const uint8_t zeros[] = {[RSK_COLUMNS_SINGLES] = 0, [RSK_COLUMNS_PAIRS] = 1, [RSK_COLUMNS_TRIPLES] = 13};
    memset(directions, zeros[plan->isa->columns], n_codes / 64u * chunk_nbytes);
    memset(starts, 0, n_codes * sizeof *starts);
    memset(multipliers, 0, 2u * n_codes * sizeof *multipliers);
    memset(addends, 0, 2u * (size_t)n * sizeof *addends);
    if (counters) memset(counters, 0, (size_t)n * group->n_buckets * sizeof *counters);
    for (uint32_t row = 0; row < group->n_rows; row++) {
        addends[row] = (uint16_t)(p->fold_addends[row] >> 16);
        addends[n + row] = (uint16_t)(p->fold_addends[row] & 0xFFFFu);
        for (uint32_t k = 0; k < n_concat; k++) {
            const uint32_t place = row * n_concat + k;
            const size_t at = (size_t)k * n + row;
            multipliers[at] = (uint16_t)(p->fold_multipliers[place] >> 16);
            multipliers[n_codes + at] = (uint16_t)(p->fold_multipliers[place] & 0xFFFFu);
            starts[at] = (int16_t)p->starts[place];
            uint8_t *chunk = directions + at / 64u * chunk_nbytes;
            for (uint32_t i = place ? p->term_ends[place - 1] : 0; i < p->term_ends[place]; i++)
                add_to_column(plan, chunk, at % 64u, p->terms[i] >> 1, p->terms[i] & 1u ? -1 : 1);
        }
    }
    const int8_t *bytes = p->counters;
    const int16_t *shorts = p->counters;
    const int is_int16 = group->counter_type == RSK_COUNTER_INT16;
    for (uint32_t bucket = 0, n_buckets = counters ? group->n_buckets : 0; bucket < n_buckets; bucket++)
        for (size_t row = 0, at = bucket; row < group->n_rows; row++, at += n_buckets)
            counters[(size_t)bucket * n + row] = is_int16 ? shorts[at] : bytes[at];
}

static void lay_out_float_columns(rsk_plan_group *p, rsk_arena *a) {
    const rsk_row_group *group = p->group;
    const uint32_t n = (group->n_rows + 63u) & ~63u, n_concat = group->n_concat;
    const size_t n_codes = (size_t)n * n_concat, n_entries = n_codes * group->n_inputs;
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
    for (uint32_t row = 0; row < group->n_rows; row++) {
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
static void lay_out_row_bits(const rsk_plan *plan, rsk_plan_group *p, rsk_arena *a) {
    const rsk_row_group *group = p->group;
    const int is_bits = p->is_pool && p->is_bit && rsk_family_of(group)->most_nonzeros != 0 &&
                        rsk_has_single_counters(group) && group->counter_type != RSK_COUNTER_INT16 &&
                        group->n_concat <= 8;
    if (plan->model.precision != RSK_INT || !is_bits) return;
    const size_t n_named = (size_t)group->n_rows * group->n_concat;
    uint32_t *terms = take(a, (uint64_t)p->n_used * 3u, 4), *codes = take(a, n_named, 4);
    uint32_t *places = take(a, p->n_used, 4);
    int32_t *biases = take(a, p->n_used, 4);
    p->bit_terms = terms;
    p->bit_biases = biases;
    p->bit_codes = codes;
    if (!terms) return;
    uint32_t n = 0;
    for (uint32_t length = 1; length <= 3; length++)
        for (uint32_t place = 0; place < p->n_used; place++) {
            const uint32_t begin = place ? p->term_ends[place - 1] : 0, n_terms = p->term_ends[place] - begin;
            if (n_terms != length && !(n_terms == 0 && length == 1)) continue;
            for (uint32_t i = 0; i < n_terms; i++) {
                const uint32_t term = p->terms[begin + i];
                *terms++ = (term >> 1) + (term & 1u ? group->n_inputs : 0);
            }
            if (n_terms == 0) *terms++ = 2u * group->n_inputs; /* the zero */
            biases[n] = p->starts[place];
            places[place] = n++;
            p->bit_counts[length - 1]++;
        }
    for (size_t i = 0; i < n_named; i++) codes[i] = places[p->row_codes ? p->row_codes[i] : i];
}

void rsk_lay_out_rows(const rsk_plan *plan, rsk_plan_group *p, rsk_arena *a) {
    if (has_row_columns(p->group) && plan->model.precision == RSK_INT) lay_out_row_columns(plan, p, a);
    if (has_row_columns(p->group) && p->is_plain_float) lay_out_float_columns(p, a);
    lay_out_row_bits(plan, p, a);
}
