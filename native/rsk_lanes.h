/* rsk_lanes.h: the small arithmetic that blocks share. Internal to the runtime. */
#ifndef RSK_LANES_H
#define RSK_LANES_H

#include <string.h>

#include "rsk_bytes.h"
#include "rsk_hash.h"
#include "rsk_plan.h"

#if defined(__GNUC__)
#define RSK_MAYBE_UNUSED __attribute__((unused)) /* some instruction sets have their own */
#define RSK_NOINLINE __attribute__((noinline))   /* what is rare must not take registers from what is hot */
#else
#define RSK_MAYBE_UNUSED
#define RSK_NOINLINE
#endif

#define LIMIT 18446744073709551616.0f /* 2^64: coordinates saturate here */

/* Working memory, handed out front to back in pieces aligned to 64. */
typedef struct scratch {
    uint8_t *next;
    uint8_t *rows;   /* values as bytes, (RSK_LANES, byte_stride), where an instruction set reads them so */
    int8_t *columns; /* the same turned around */
} scratch;

static inline void *scratch_take(scratch *work, size_t n, size_t size) {
    uint8_t *place = work->next;
    work->next += (n * size + 63u) & ~(size_t)63u;
    return place;
}

static inline float saturate(float x) { return x < -LIMIT ? -LIMIT : x > LIMIT ? LIMIT : x; }

/* Floor of x / 2^n: C leaves the shift of a negative number to the compiler, every one we know does this. */
static inline int32_t shift_right(int32_t x, uint32_t n) { return x >> n; }

static inline int32_t clamp16(int32_t x) { return x < -32768 ? -32768 : x > 32767 ? 32767 : x; }

static inline int32_t clamp_level(int32_t x, int32_t n) { return x < 0 ? 0 : x > n - 1 ? n - 1 : x; }

/* Floor as a whole number; clamped before it is converted, so that no conversion overflows. */
static inline int32_t floor_code(float x) {
    x = x < -32768.0f ? -32768.0f : x > 32767.0f ? 32767.0f : x;
    const int32_t whole = (int32_t)x;
    return whole - ((float)whole > x);
}

static inline int32_t floor_level(float x, float n) {
    x = x < -1.0f ? -1.0f : x > n ? n : x;
    const int32_t whole = (int32_t)x;
    return whole - ((float)whole > x);
}

/* The first NaN or infinity of a row, or n. */
static inline size_t first_bad(const float *row, size_t n, int accepts_nan) {
    uint32_t any = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, row + i, sizeof bits);
        bits &= 0x7FFFFFFFu;
        any |= accepts_nan ? bits == 0x7F800000u : bits >= 0x7F800000u;
    }
    if (!any) return n;
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, row + i, sizeof bits);
        bits &= 0x7FFFFFFFu;
        if (accepts_nan ? bits == 0x7F800000u : bits >= 0x7F800000u) return i;
    }
    return n;
}

/* All columns of one row as whole numbers; none may be missing. */
static inline void one_columns_of(const rsk_plan *plan, const float *restrict row, int16_t *restrict all) {
    const rsk_model *m = &plan->model;
    const float low = m->low, high = m->high;
    for (uint32_t i = 0; i < m->n_features; i++) {
        float x = (row[i] - plan->centers[i]) * plan->scales[i];
        x = x < low ? low : x;
        x = x > high ? high : x;
        uint32_t bits; /* adding 1.5 * 2^23 rounds to a whole number and leaves it in the lowest bits */
        x += 12582912.0f;
        memcpy(&bits, &x, sizeof bits);
        const int32_t number = (int32_t)(bits - 0x4B400000u), is_boolean = plan->are_boolean[i];
        all[i] = (int16_t)((is_boolean & (row[i] != 0.0f)) | (~is_boolean & number));
    }
}

/* A row of bytes, or a sparse row, as n floats. */
static inline void unpack_row(const rsk_rows *rows, size_t row, uint32_t n, float *dense) {
    if (!rows->ends) {
        const uint8_t *numbers = (const uint8_t *)rows->data + row * rows->stride;
        for (uint32_t i = 0; i < n; i++) dense[i] = numbers[i];
        return;
    }
    memset(dense, 0, n * sizeof *dense);
    for (int32_t i = rows->ends[row]; i < rows->ends[row + 1]; i++) {
        const float x = rows->is_uint8 ? ((const uint8_t *)rows->data)[i] : ((const float *)rows->data)[i];
        if ((uint32_t)rows->columns[i] < n) dense[rows->columns[i]] = x;
    }
}

#endif
