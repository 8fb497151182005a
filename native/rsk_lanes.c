/* rsk_lanes.c: blocks of RSK_LANES rows, and single rows, for one instruction set. Compiled once for each, with
 * RSK_ISA_NAME set to its name; what is special to it lies in rsk_<name>.inc. docs/spec/loops.md says which loop runs when.
 */
#include "rsk_lanes.h"

#ifndef RSK_ISA_NAME
#define RSK_ISA_NAME scalar
#endif
#define RSK_JOIN_(a, b) a##_##b
#define RSK_JOIN(a, b) RSK_JOIN_(a, b)
#define RSK_TEXT_(words) #words
#define RSK_TEXT(words) RSK_TEXT_(words)

#include RSK_TEXT(RSK_JOIN(rsk, RSK_ISA_NAME).inc)
#ifndef ISA_COLUMNS
#define ISA_COLUMNS RSK_COLUMNS_SINGLES
#endif
#ifndef ISA_READS_BYTES
#define ISA_READS_BYTES 0
#endif
#ifdef ISA_FLOAT
#include "rsk_float.inc"
#endif
#ifdef ISA_INT16
#include "rsk_int16.inc"
#endif

/* ---- blocks in float32 ---- */

#define LANES RSK_LANES
#define IS_INT 0
#define NAME(x) RSK_JOIN(float, x)
#ifdef ISA_FLOAT
#define READ_ROWS fast_float_read
#define PROJECT fast_float_project
#define ACCUMULATE fast_float_accumulate
#else
#define READ_ROWS float_read_rows
#define PROJECT float_project
#define ACCUMULATE float_accumulate
#endif
#include "rsk_predict_block.inc"
#undef IS_INT
#undef NAME

/* ---- blocks of integers ---- */

static void int_accumulate(const rsk_plan *plan, const rsk_plan_group *p, int16_t *z, scratch *work,
                             int32_t *buckets, size_t bucket_stride, uint32_t n, int32_t *accumulators);

/* The one place that chooses among the loops for a group of rows. */
static void fast_accumulate(const rsk_plan *plan, const rsk_plan_group *p, int16_t *z, scratch *work,
                            int32_t *buckets, size_t bucket_stride, uint32_t n, int32_t *accumulators) {
#ifdef ISA_BITS
    if (p->bits && work->columns) {
        bits_accumulate(p, work->columns, work, buckets, bucket_stride, n, accumulators);
        return;
    }
#endif
#ifdef ISA_BYTE_TABLES
    if (p->byte_tables && !buckets) {
        tables_accumulate(p, z, work, accumulators);
        return;
    }
#endif
#ifdef ISA_INT16
    if (p->is_plain) {
        int16_accumulate(p, z, work, buckets, bucket_stride, n, accumulators);
        return;
    }
#endif
    int_accumulate(plan, p, z, work, buckets, bucket_stride, n, accumulators);
}

#define IS_INT 1
#define NAME(x) RSK_JOIN(int, x)
#ifdef ISA_ROWS
#define READ_ROWS fast_read_rows
#define PROJECT fast_project
#else
#define READ_ROWS int_read_rows
#define PROJECT int_project
#endif
#define ACCUMULATE fast_accumulate
#include "rsk_predict_block.inc"

/* ---- single rows ---- */

#include "rsk_predict_row.inc"

static rsk_status block(const rsk_plan *plan, const rsk_rows *rows, size_t first, uint32_t n, float *outputs,
                        void *memory, const rsk_trace *trace, size_t *where) {
    if (plan->model.precision == RSK_INT) return int_block(plan, rows, first, n, outputs, memory, trace, where);
    return float_block(plan, rows, first, n, outputs, memory, trace, where);
}

const rsk_isa RSK_JOIN(rsk_isa, RSK_ISA_NAME) = {
    .block = block, .row = one_row, .columns = ISA_COLUMNS, .reads_bytes = ISA_READS_BYTES};
