/* rsk_lanes.h: the small arithmetic that blocks share. Internal to the runtime. */
#ifndef RSK_LANES_H
#define RSK_LANES_H

#include <string.h>

#include "rsk_bytes.h"
#include "rsk_hash.h"
#include "rsk_plan.h"

/* What rsk_<isa>.inc may define. Whatever it does not define runs as plain loops; all of it gives the same bits.
 *
 * ISA_INT16    vectors V of N16 int16 lanes, N_V = RSK_LANES / N16 of them a block: rsk_int16.inc, single rows
 *     V_SET(x) V_LOAD(p) V_STORE(p, v)     all lanes x; aligned load; store
 *     V_ADD V_SUB V_MIN V_MAX V_XOR V_OR   modulo 2^16; signed
 *     V_MULTIPLY V_MULTIPLY_HIGH           low half of a product; high half of an unsigned one
 *     V_COUNT, V_COUNT_OF(n)               a number of bits to shift by
 *     V_SHIFT_BY(v, count) V_SHIFT(v, n)   right, with the sign          V_SHIFT_LEFT(v, n)
 *     V_NOT_NEGATIVE(v)                    1 where v >= 0, else 0        V_IS_ZERO(v)   no lane differs from 0
 *     V_ADD_IF_BELOW(v, a, b)              v + (a < b), unsigned
 *     V_PICK(v, a, b, p)                   v, which is 0 there, and where a equals b the numbers at p
 *     V_MULTIPLY_BYTES(a, b)               unsigned a times signed b, neighbouring products added (RSK_COLUMNS_PAIRS)
 *     V_BYTE_TABLE, V_ADD_BYTES(table, n, bucket[N_V], sums[N_V])
 *                                          adds bytes out of a table of n <= V_BYTE_TABLE by 16-bit indices
 *     V_FLUSH(sums[N_V], accumulators)     adds to int32 and clears, at least every ROWS_BETWEEN_FLUSHES rows
 *     W_SET W_LOAD W_STORE W_ADD, N32      the same vectors as N32 int32 lanes
 *     W_MULTIPLY_PAIRS(a, b)               int16 products, neighbouring ones added to an int32
 * ISA_COLUMNS  the layout of directions for single rows, RSK_COLUMNS_...; of RSK_COLUMNS_TRIPLES
 *     V_LOOK_UP(table, bytes)              entries of a vector by N16 bytes
 * ISA_BYTE_TABLES (with ISA_INT16)         rows of one code of 8 bits
 *     V_ODD_BYTES() V_ADD_TABLE(table, odd, t[N_V], sums[N_V]) V_FLUSH_TABLE(sums, accumulators)
 * ISA_BITS     bits_accumulate             rows of bits over columns of bytes
 * ISA_ROWS     fast_read_rows, fast_project   reading rows and projecting them, in the int precision
 * ISA_READS_BYTES 1                        fast_read_rows takes rows of uint8_t as they lie
 * ISA_FLOAT    vectors F of NF floats and I of as many int32: rsk_float.inc
 *     F_SET F_LOAD F_STORE F_ADD F_MULTIPLY F_DIVIDE F_MIN F_MAX
 *     F_FLOOR(x) F_NOT_NEGATIVE(x)         as I           F_LOOK_UP(counters, n, bucket)   floats by index
 *     F_TURN(from, stride, n_columns, to)  16 rows as columns, RSK_LANES apart
 *     I_SET I_LOAD I_STORE I_ADD I_AND I_MULTIPLY I_HALF(x)   the upper 16 bits
 */

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

/* Floor as an integer; clamped before it is converted, so that no conversion overflows. */
static inline int32_t floor_code(float x) {
    x = x < -32768.0f ? -32768.0f : x > 32767.0f ? 32767.0f : x;
    const int32_t number = (int32_t)x;
    return number - ((float)number > x);
}

static inline int32_t floor_level(float x, float n) {
    x = x < -1.0f ? -1.0f : x > n ? n : x;
    const int32_t number = (int32_t)x;
    return number - ((float)number > x);
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

/* All columns of one row as integers; none may be missing. */
static inline void one_columns_of(const rsk_plan *plan, const float *restrict row, int16_t *restrict all) {
    const rsk_model *m = &plan->model;
    const float low = m->low, high = m->high;
    for (uint32_t i = 0; i < m->n_features; i++) {
        float x = (row[i] - plan->centers[i]) * plan->scales[i];
        x = x < low ? low : x;
        x = x > high ? high : x;
        uint32_t bits; /* adding 1.5 * 2^23 rounds to an integer and leaves it in the lowest bits */
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
