/* rsk_totals.c: what a model costs at most, from its sizes alone.
 *
 * docs/spec/format.md, *Totals*; src/repsketch/io/totals.py is the same in Python, tests compare them with what plans
 * really take. Nothing here can wrap in 64 bits: the caps keep every product below 2^54, and there are few of them.
 */
#include "rsk_check.h"
#include "rsk_hash.h"
#include "rsk_plan.h"

enum { FIXED = 1 << 20, OWN_CODE = 40, POOL_CODE = 112 }; /* bytes */
enum { ACTIVATION = 8 }; /* operations that map a coordinate of a stage */
static const uint64_t DEFAULT_MEMORY = 64u << 20, DEFAULT_WORK = 100000000;

static uint64_t lanes_of(const rsk_model *m) { return rsk_is_wide(m) ? 1 : RSK_LANES; }

/* In int a projection of few columns is also laid out for bytes, with entries for all columns. */
static uint64_t entries_beside(const rsk_model *m) {
    const bool is_narrow = m->n_features <= RSK_WIDEST_BLOCK && m->n_components <= RSK_WIDEST_BLOCK;
    const bool has_bytes = rsk_has_matrix(m) && m->precision == RSK_INT && is_narrow;
    return has_bytes ? (uint64_t)m->n_features * m->n_components : 0;
}

static uint64_t named_codes(const rsk_row_group *p) { return (uint64_t)p->n_rows * p->n_concat; }

static uint64_t used_codes(const rsk_row_group *p) {
    const uint64_t named = named_codes(p);
    return rsk_has_flag(p, RSK_HAS_INDICES) && p->n_codes < named ? p->n_codes : named;
}

static uint64_t nbytes_of_term(const rsk_row_group *p) {
    if (!rsk_has_terms(p)) return rsk_family_of(p)->entry_nbytes;
    return p->n_inputs > RSK_WIDEST_BLOCK ? 4 : 8;
}

static uint64_t width_of(const rsk_model *m, const rsk_row_group *p) {
    return p->n_numbers > m->n_outputs ? p->n_numbers : m->n_outputs;
}

static uint64_t decode_entries(const rsk_model *m, const rsk_row_group *p) {
    if (p->decode == RSK_DECODE_NONE) return 0;
    return (uint64_t)(p->decode == RSK_DECODE_ROWS ? p->n_rows : p->n_numbers) * m->n_outputs;
}

/* Directions laid out once more for single rows. */
static uint64_t columns_nbytes(const rsk_row_group *p) {
    const uint64_t n_codes = (((uint64_t)p->n_rows + 63u) & ~(uint64_t)63u) * p->n_concat;
    if (!rsk_wraps16(p) || !rsk_has_single_counters(p) || n_codes * p->n_inputs > RSK_MOST_COLUMNS) return 0;
    return 5 * n_codes * ((uint64_t)p->n_inputs + 5);
}

static uint64_t group_memory(const rsk_model *m, const rsk_row_group *p) {
    static const uint8_t counter_nbytes[] = {4, 2, 1, 1};
    const uint64_t lanes = lanes_of(m), is_int = m->precision == RSK_INT, buckets = (uint64_t)p->n_rows * p->n_buckets;
    uint64_t nbytes = counter_nbytes[p->counter_type] * buckets * p->n_numbers;
    if (is_int && p->n_numbers == 1) nbytes += 3 * buckets;
    nbytes += (is_int ? 1u : 4u) * decode_entries(m, p) + 4 * (uint64_t)m->n_outputs;
    nbytes += used_codes(p) * (nbytes_of_term(p) * rsk_most_terms(p) + (rsk_is_pool(p) ? POOL_CODE : OWN_CODE));
    nbytes += 8 * named_codes(p) + 4 * (uint64_t)p->n_rows + columns_nbytes(p);
    nbytes += 4 * lanes * width_of(m, p) * ((uint64_t)p->n_groups + 1) + 4 * (uint64_t)p->n_groups;
    nbytes += 4 * (uint64_t)p->n_inputs + 6 * lanes * p->n_concat;
    if (!is_int && lanes > 1) nbytes += 8 * lanes * p->n_inputs;
    if (rsk_has_flag(p, RSK_HAS_INDICES)) nbytes += 4 * (uint64_t)p->n_codes + 4 * lanes * used_codes(p);
    return nbytes;
}

static uint64_t group_work(const rsk_model *m, const rsk_row_group *p) {
    const bool has_kinds = m->kinds == RSK_KINDS_MIXED && rsk_reads_values(m, p);
    uint64_t work = used_codes(p) * rsk_most_terms(p) + named_codes(p) + m->n_outputs;
    if (rsk_has_flag(p, RSK_HAS_INDICES)) work += p->n_codes;
    if (rsk_has_flag(p, RSK_SEEDED) && rsk_has_bits(p) && has_kinds) work += used_codes(p) * m->n_columns;
    work += (uint64_t)p->n_rows * p->n_numbers + decode_entries(m, p);
    if (p->aggregate == RSK_MEDIAN_OF_MEANS) {
        uint64_t bits = 0;
        for (uint32_t n = p->n_groups; n != 0; n >>= 1) bits++;
        work += 2 * (uint64_t)p->n_groups * width_of(m, p) * bits;
    }
    return work;
}

static void add_stage(const rsk_model *m, const rsk_stage *s, rsk_totals *totals) {
    const uint64_t p = s->n_components, n_outputs = m->n_outputs, lanes = lanes_of(m), products = rsk_stage_size(s);
    const uint64_t linear = s->n_gains == 0 ? 0 : p * n_outputs;
    totals->memory += products + (5 + s->n_levels + 2 * lanes) * p + linear;
    if (s->n_gains != 0) totals->memory += 4 * (1 + lanes) * n_outputs;
    totals->work += products + ACTIVATION * p + linear;
}

rsk_totals rsk_totals_find(const rsk_model *m) {
    const uint64_t d = m->n_features, n_values = m->n_values, p = m->n_components, n_outputs = m->n_outputs;
    const uint64_t lanes = lanes_of(m), entries = rsk_has_matrix(m) ? n_values * p : 0, beside = entries_beside(m);
    const uint64_t linear = m->linear == RSK_LINEAR_NONE ? 0 : p * n_outputs;
    rsk_totals totals;
    totals.memory = FIXED + 20 * (uint64_t)m->n_columns + 4 * d + 8 * p + 8 * n_outputs + 4 * linear;
    totals.memory += 4 * lanes * (2 * n_values + p + n_outputs);
    if (d <= RSK_WIDEST_BLOCK) totals.memory += (8 * lanes + 24) * d;
    if (rsk_has_matrix(m)) totals.memory += 4 * entries + beside + 8 * n_values + 16 * p;
    totals.work = d + n_values + entries + beside + linear + n_outputs;
    for (uint32_t i = 0; i < m->n_row_groups; i++) {
        totals.memory += group_memory(m, m->row_groups + i);
        totals.work += group_work(m, m->row_groups + i);
    }
    for (uint32_t i = 0; i < m->n_stages; i++) add_stage(m, m->stages + i, &totals);
    return totals;
}

rsk_status rsk_totals_check(const rsk_model *m, const rsk_limits *limits) {
    const rsk_totals totals = rsk_totals_find(m);
    RSK_REFUSE_IF(totals.memory > (limits->max_memory == 0 ? DEFAULT_MEMORY : limits->max_memory), MEMORY_CAP);
    RSK_REFUSE_IF(totals.work > (limits->max_work == 0 ? DEFAULT_WORK : limits->max_work), WORK_CAP);
    return RSK_OK;
}
