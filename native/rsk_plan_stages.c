/* rsk_plan_stages.c: stages as the runtime reads them. */
#include "rsk_arena.h"

static const int8_t *lay_out_matrix(const rsk_stage *s, rsk_arena *a) {
    const uint32_t n = s->n_inputs, p = s->n_components, bits = rsk_stage_bits(s);
    const uint8_t *entries = s->entries + (rsk_stage_is_sparse(s) ? rsk_bitmap_nbytes(s) : 0);
    int8_t *matrix = take(a, rsk_stage_size(s), 1);
    uint64_t place = 0, passed = 0;
    if (!matrix) return NULL;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < p; j++, place++) {
            const bool is_stored = !rsk_stage_is_sparse(s) || rsk_bitmap_has(s->entries, place);
            matrix[(size_t)j * n + i] = (int8_t)(is_stored ? rsk_packed_signed(entries, passed++, bits) : 0);
        }
    return matrix;
}

void rsk_lay_out_stages(rsk_plan *plan, rsk_arena *a) {
    const rsk_model *m = &plan->model;
    for (uint32_t i = 0; i < m->n_stages; i++) {
        rsk_plan_stage *made = plan->stages + i;
        const rsk_stage *s = made->stage = m->stages + i;
        const uint32_t p = s->n_components;
        const uint8_t *shifts = s->coordinates + p;
        uint8_t *multipliers = take(a, p, 1);
        int32_t *starts = take(a, p, 4);
        made->matrix = lay_out_matrix(s, a);
        made->multipliers = multipliers;
        made->starts = starts;
        if (s->n_levels != 0) made->tables = take_int8(a, shifts + p, (uint64_t)p * s->n_levels, 8);
        if (multipliers) memcpy(multipliers, s->coordinates, p);
        for (uint32_t j = 0; starts && j < p; j++) starts[j] = rsk_i8(shifts + j) * (int32_t)(1u << s->shift_bits);
        if (s->linear == NULL) continue;
        made->linear = take_int8(a, s->linear + 4 * (size_t)s->n_gains, (uint64_t)p * m->n_outputs, 8);
        made->gain = take_gain(a, s->linear, s->n_gains, m->n_outputs);
        plan->n_stage_terms++;
    }
}
