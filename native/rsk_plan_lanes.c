/* rsk_plan_lanes.c: what blocks of rows need beyond the terms of codes. */
#include "rsk_arena.h"

/* What 16-bit lanes need of the terms. */
static void lay_out_codes(rsk_plan_group *p, rsk_arena *a) {
    const rsk_row_group *group = p->group;
    const uint64_t most = rsk_most_terms(group);
    if (group->n_inputs > RSK_WIDEST_BLOCK) return;
    p->chunk_rows = group->n_concat > 64u ? 1u : 64u / group->n_concat;
    uint32_t *terms = take(a, p->n_used * most, 4);
    rsk_lane_code *codes = take(a, p->n_used, sizeof(rsk_lane_code));
    p->lane_terms = terms;
    p->lane_codes = codes;
    if (!codes) return;
    const uint32_t chunk = group->flags & RSK_HAS_INDICES ? p->n_used : p->chunk_rows * group->n_concat;
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
                    *terms++ = ((p->terms[i] >> 1) + (p->terms[i] & 1u ? group->n_inputs : 0)) * RSK_LANES;
                left--;
            }
    }
}

/* The paper's codes over few coordinates: all sums of three neighbouring coordinates are made once a block, and a code
 * adds one of each three. */
static void lay_out_triples(const rsk_plan *plan, rsk_plan_group *p, rsk_arena *a) {
    const rsk_row_group *group = p->group;
    const uint32_t n = (group->n_inputs + 2u) / 3u;
    if (plan->model.precision != RSK_INT || !rsk_wraps16(group) || n > RSK_MOST_TRIPLES || group->n_concat > 4) return;
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

/* One code as a bit of columns of bytes; its kind, or RSK_N_BITS if it has too many terms. */
static uint32_t make_bit(const rsk_plan *plan, const rsk_plan_group *p, uint32_t place, rsk_bit *bit) {
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

static void lay_out_bits(rsk_plan *plan, rsk_plan_group *p, rsk_arena *a) {
    const rsk_row_group *group = p->group;
    const int is_bits = p->is_pool && p->is_bit && group->n_buckets <= 16 &&
                        rsk_has_single_counters(group) &&
                        (group->counter_type == RSK_COUNTER_INT8 || group->counter_type == RSK_COUNTER_INT4);
    if (!plan->uses_bytes || !rsk_reads_values(&plan->model, group) || !is_bits) return;
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

/* What blocks need of a group of rows whose codes have terms. */
void rsk_lay_out_lanes(rsk_plan *plan, rsk_plan_group *p, rsk_arena *a) {
    lay_out_codes(p, a);
    lay_out_triples(plan, p, a);
    lay_out_bits(plan, p, a);
}

static void lay_out_raised(const rsk_plan *plan, rsk_plan_group *p, rsk_arena *a) {
    const rsk_row_group *group = p->group;
    if (plan->model.precision != RSK_INT || group->counter_type == RSK_COUNTER_INT16 ||
        !rsk_has_single_counters(group)) return;
    const uint64_t n = (uint64_t)group->n_rows * group->n_buckets;
    uint8_t *restrict raised = take(a, n, 1);
    const uint8_t *restrict counters = p->counters;
    p->raised_counters = raised;
    if (raised)
        for (uint64_t i = 0; i < n; i++) raised[i] = counters[i] ^ 128u;
}

/* Where a row has one code, and its bucket width is 2^8 in sums of 16 bits, there are 256 codes: look the counter up
 * by the code itself, and leave the fold out. */
static void lay_out_byte_tables(const rsk_plan *plan, rsk_plan_group *p, rsk_arena *a) {
    const rsk_row_group *group = p->group;
    /* Counting runs through the same code as filling: nothing here may depend on what has been drawn. */
    if (plan->model.precision != RSK_INT || !rsk_wraps16(group) || !rsk_has_single_counters(group)) return;
    if (group->n_concat != 1 || group->width_bits != 8 || group->n_inputs > RSK_WIDEST_BLOCK) return;
    if (group->counter_type == RSK_COUNTER_INT16 || group->n_rows > RSK_MOST_TABLES) return;
    uint8_t *tables = take(a, (uint64_t)group->n_rows * 256u, 1);
    p->byte_tables = tables;
    if (!tables) return;
    for (uint32_t row = 0; row < group->n_rows; row++) {
        const uint8_t *counters = p->raised_counters + (size_t)row * group->n_buckets;
        uint8_t *table = tables + (size_t)row * 256u;
        for (uint32_t half = 0; half < 2; half++) { /* codes 0 to 127, then -128 to -1 as 16 bits */
            uint32_t total = p->fold_addends[row] + p->fold_multipliers[row] * (half ? 0xFF80u : 0u);
            for (uint32_t byte = 0; byte < 128; byte++, total += p->fold_multipliers[row])
                table[128u * half + byte] = counters[((total >> 16) * group->n_buckets) >> 16];
        }
    }
}

/* Counters as blocks read them. */
void rsk_lay_out_tables(const rsk_plan *plan, rsk_plan_group *p, rsk_arena *a) {
    lay_out_raised(plan, p, a);
    lay_out_byte_tables(plan, p, a);
}
