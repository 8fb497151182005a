/* rsk_lanes.c: blocks of RSK_LANES rows. Compiled once for every instruction set, with RSK_LEVEL_NAME set. */
#include "rsk_lanes.h"

#ifndef RSK_LEVEL_NAME
#define RSK_LEVEL_NAME scalar
#endif
#define RSK_JOIN_(a, b) a##_##b
#define RSK_JOIN(a, b) RSK_JOIN_(a, b)

#if defined(__AVX512VBMI__)
#define HAS_INT16
#define HAS_BYTES
#include "rsk_avx512.inc"
#include "rsk_float.inc"
#include "rsk_int16.inc"
#elif defined(__AVX2__)
#include "rsk_avx2.inc"
#include "rsk_float.inc"
#include "rsk_int16.inc"
#define HAS_INT16
#endif


#define LANES RSK_LANES
#define WHOLE 0
#define NAME(x) RSK_JOIN(float, x)
#ifdef HAS_INT16
#define READ_ROWS fast_float_read
#define PROJECT fast_float_project
#define ACCUMULATE fast_float_accumulate
#else
#define READ_ROWS float_read_rows
#define PROJECT float_project
#define ACCUMULATE float_accumulate
#endif
#include "rsk_block.inc"
#undef WHOLE
#undef NAME

#define WHOLE 1
#define NAME(x) RSK_JOIN(whole, x)
#ifdef HAS_INT16
#define READ_ROWS fast_read_rows
#define PROJECT fast_project
#else
#define READ_ROWS whole_read_rows
#define PROJECT whole_project
#endif
#ifdef HAS_INT16
#define ACCUMULATE fast_accumulate
static void whole_accumulate(const rsk_plan *plan, const rsk_plan_part *p, int16_t *z, scratch *work,
                             int32_t *buckets, size_t bucket_stride, uint32_t n, int32_t *accumulators);

static void fast_accumulate(const rsk_plan *plan, const rsk_plan_part *p, int16_t *z, scratch *work,
                            int32_t *buckets, size_t bucket_stride, uint32_t n, int32_t *accumulators) {
#ifdef HAS_BYTES
    if (p->bits && work->columns) {
        bits_accumulate(p, work->columns, work, buckets, bucket_stride, n, accumulators);
        return;
    }
    if (p->byte_tables && !buckets) {
        tables_accumulate(p, z, work, accumulators);
        return;
    }
#endif
    if (p->is_plain) int16_accumulate(p, z, work, buckets, bucket_stride, n, accumulators);
    else whole_accumulate(plan, p, z, work, buckets, bucket_stride, n, accumulators);
}
#else
#define ACCUMULATE whole_accumulate
#endif
#include "rsk_block.inc"

#include "rsk_one.inc"

rsk_status RSK_JOIN(rsk_row, RSK_LEVEL_NAME)(const rsk_plan *plan, const float *row, float *outputs, void *memory) {
    return one_row(plan, row, outputs, memory);
}

rsk_status RSK_JOIN(rsk_block, RSK_LEVEL_NAME)(const rsk_plan *plan, const rsk_rows *rows, size_t first, uint32_t n,
                                               float *outputs, void *memory, const rsk_trace *trace, size_t *where) {
    if (plan->model.precision == RSK_INT) return whole_block(plan, rows, first, n, outputs, memory, trace, where);
    return float_block(plan, rows, first, n, outputs, memory, trace, where);
}
