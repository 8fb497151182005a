/* rsk_stages.h: what the reader and the runtime ask about stages: docs/spec/inference.md, section 2. */
#ifndef RSK_STAGES_H
#define RSK_STAGES_H

#include <stdbool.h>

#include "rsk.h"

enum { RSK_LARGEST_ACTIVATION = 127 };

static inline bool rsk_has_stages(const rsk_model *m) { return m->projection == RSK_PROJECTION_STAGES; }
/* A projection of one matrix. */
static inline bool rsk_has_matrix(const rsk_model *m) {
    return m->projection >= RSK_PROJECTION_FLOAT32 && !rsk_has_stages(m);
}
/* Bound of what a stage hands on. */
static inline uint32_t rsk_stage_largest(const rsk_stage *s) {
    return s->activation == RSK_ACTIVATION_NONE ? s->limit : (uint32_t)RSK_LARGEST_ACTIVATION;
}
/* Bound of the coordinates behind a projection, in the int precision. */
static inline uint32_t rsk_projected_largest(const rsk_model *m) {
    return rsk_has_stages(m) ? rsk_stage_largest(m->stages + m->n_stages - 1) : m->limit;
}
static inline bool rsk_stage_is_sparse(const rsk_stage *s) { return s->matrix >= RSK_STAGE_MATRIX_SPARSE_INT8; }
static inline uint32_t rsk_stage_bits(const rsk_stage *s) {
    return s->matrix == RSK_STAGE_MATRIX_INT4 || s->matrix == RSK_STAGE_MATRIX_SPARSE_INT4 ? 4 : 8;
}
/* Numbers of the matrix, at most 2^36. */
static inline uint64_t rsk_stage_size(const rsk_stage *s) { return (uint64_t)s->n_inputs * s->n_components; }
/* Bytes of the bitmap of a sparse matrix. */
static inline uint64_t rsk_bitmap_nbytes(const rsk_stage *s) { return (rsk_stage_size(s) + 7) / 8; }
static inline bool rsk_bitmap_has(const uint8_t *bitmap, uint64_t place) {
    return (bitmap[place / 8] >> place % 8 & 1) != 0;
}

/* Values or coordinates, those of stages too, of which a model has the most. */
static inline uint32_t rsk_width_find(const rsk_model *m) {
    uint32_t widest = m->n_values > m->n_components ? m->n_values : m->n_components;
    for (uint32_t i = 0; i < m->n_stages; i++)
        if (m->stages[i].n_components > widest) widest = m->stages[i].n_components;
    return widest;
}

#endif
