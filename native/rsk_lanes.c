/* rsk_lanes.c: blocks of RSK_LANES rows. Compiled once for every instruction set, with RSK_LEVEL_NAME set. */
#include "rsk_lanes.h"

#ifndef RSK_LEVEL_NAME
#define RSK_LEVEL_NAME scalar
#endif
#define RSK_JOIN_(a, b) a##_##b
#define RSK_JOIN(a, b) RSK_JOIN_(a, b)

#define LANES RSK_LANES
#define WHOLE 0
#define NAME(x) RSK_JOIN(float, x)
#define READ_ROWS float_read_rows
#define PROJECT float_project
#define ACCUMULATE float_accumulate
#include "rsk_block.inc"
#undef WHOLE
#undef NAME
#define WHOLE 1
#define NAME(x) RSK_JOIN(whole, x)
#define READ_ROWS whole_read_rows
#define PROJECT whole_project
#define ACCUMULATE whole_accumulate
#include "rsk_block.inc"

rsk_status RSK_JOIN(rsk_block, RSK_LEVEL_NAME)(const rsk_plan *plan, const rsk_rows *rows, size_t first, uint32_t n,
                                               float *outputs, void *memory, const rsk_trace *trace, size_t *where) {
    if (plan->model.precision == RSK_INT) return whole_block(plan, rows, first, n, outputs, memory, trace, where);
    return float_block(plan, rows, first, n, outputs, memory, trace, where);
}
