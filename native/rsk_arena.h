/* rsk_arena.h: where a plan's arrays lie. Internal to the runtime. */
#ifndef RSK_ARENA_H
#define RSK_ARENA_H

#include <string.h>

#include "rsk_bytes.h"
#include "rsk_plan.h"

/* A place for arrays; without memory it only counts. */
typedef struct rsk_arena {
    uint8_t *memory;
    uint64_t used;
} rsk_arena;

static inline void *take(rsk_arena *a, uint64_t n, uint64_t size) {
    /* Room behind every array: vector loads may read past its end, up to 64 bytes. */
    const uint64_t nbytes = (n * size + 64u + 63u) & ~(uint64_t)63u;
    void *place = a->memory ? a->memory + a->used : NULL;
    a->used += nbytes;
    if (place) memset((uint8_t *)place + n * size, 0, (size_t)(nbytes - n * size));
    return place;
}

static inline const float *take_floats(rsk_arena *a, const uint8_t *bytes, uint64_t n) {
    if (bytes == NULL) return NULL;
    float *array = take(a, n, sizeof(float));
    if (array)
        for (uint64_t i = 0; i < n; i++) array[i] = rsk_f32(bytes + 4 * i);
    return array;
}

/* n numbers, repeated if only one is stored. */
static inline const float *take_gain(rsk_arena *a, const uint8_t *bytes, uint32_t stored, uint32_t n) {
    if (bytes == NULL) return NULL;
    float *array = take(a, n, sizeof(float));
    if (array)
        for (uint32_t i = 0; i < n; i++) array[i] = rsk_f32(bytes + 4 * (size_t)(stored == 1 ? 0 : i));
    return array;
}

static inline const int8_t *take_int8(rsk_arena *a, const uint8_t *bytes, uint64_t n, uint32_t bits) {
    int8_t *array = take(a, n, 1);
    if (array && bits == 8) memcpy(array, bytes, (size_t)n);
    else if (array)
        for (uint64_t i = 0; i < n; i++) array[i] = (int8_t)rsk_packed_signed(bytes, i, bits);
    return array;
}

static inline const int16_t *take_int16(rsk_arena *a, const uint8_t *bytes, uint64_t n, uint32_t bits) {
    int16_t *array = take(a, n, 2);
    if (array)
        for (uint64_t i = 0; i < n; i++) array[i] = (int16_t)rsk_packed_signed(bytes, i, bits);
    return array;
}

/* Steps of laying out a plan, and a group of rows, that are files of their own. */
void rsk_lay_out_stages(rsk_plan *plan, rsk_arena *a);
void rsk_lay_out_lanes(rsk_plan *plan, rsk_plan_group *p, rsk_arena *a);
void rsk_lay_out_tables(const rsk_plan *plan, rsk_plan_group *p, rsk_arena *a);
void rsk_lay_out_rows(const rsk_plan *plan, rsk_plan_group *p, rsk_arena *a);

#endif
