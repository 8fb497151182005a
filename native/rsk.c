/* rsk.c: single rows, and batches in blocks of the best instruction set. Portable C99. */
#include "rsk_lanes.h"

#define LANES 1
#define IS_INT 0
#define NAME(x) float_##x
#define READ_ROWS float_read_rows
#define PROJECT float_project
#define ACCUMULATE float_accumulate
#include "rsk_predict_block.inc"
#undef IS_INT
#undef NAME
#define IS_INT 1
#define NAME(x) int_##x
#define READ_ROWS int_read_rows
#define PROJECT int_project
#define ACCUMULATE int_accumulate
#include "rsk_predict_block.inc"

rsk_status rsk_block_row(const rsk_plan *plan, const rsk_rows *rows, size_t first, uint32_t n, float *outputs,
                         void *memory, const rsk_trace *trace, size_t *where) {
    if (plan->model.precision == RSK_INT) return int_block(plan, rows, first, n, outputs, memory, trace, where);
    return float_block(plan, rows, first, n, outputs, memory, trace, where);
}

int rsk_isa_exists(int isa) {
    if (isa == RSK_SCALAR) return 1;
#if defined(RSK_HAS_NEON)
    if (isa == RSK_NEON) return 1;
#endif
#if defined(RSK_HAS_X86)
    __builtin_cpu_init();
    if (isa == RSK_AVX2) return __builtin_cpu_supports("avx2") != 0;
    if (isa == RSK_AVX512)
        return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vbmi") &&
               __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("gfni");
#endif
    return 0;
}

int rsk_isa_best(void) {
    int isa = RSK_N_ISAS - 1;
    while (!rsk_isa_exists(isa)) isa--;
    return isa;
}

const char *rsk_isa_name(int isa) {
    static const char *const names[RSK_N_ISAS] = {"scalar", "neon", "avx2", "avx512"};
    return isa >= 0 && isa < RSK_N_ISAS ? names[isa] : "unknown";
}

const rsk_isa *rsk_isa_of(int isa) {
    static const rsk_isa *const isas[RSK_N_ISAS] = {
        [RSK_SCALAR] = &rsk_isa_scalar,
#if defined(RSK_HAS_NEON)
        [RSK_NEON] = &rsk_isa_neon,
#endif
#if defined(RSK_HAS_X86)
        [RSK_AVX2] = &rsk_isa_avx2,
        [RSK_AVX512] = &rsk_isa_avx512,
#endif
    };
    return isas[isa];
}

rsk_status rsk_predict(const rsk_plan *plan, const float *row, float *outputs, void *memory) {
    if (plan->has_fast_row) return plan->isa->row(plan, row, outputs, memory);
    const rsk_rows rows = {row, 0, NULL, NULL, 0};
    size_t where[2];
    return rsk_block_row(plan, &rows, 0, 1, outputs, memory, NULL, where);
}

enum { FEW_ROWS = 6 }; /* a block costs about as much as these one by one */

/* The last rows of a batch, or a small one, one by one. */
static rsk_status predict_few(const rsk_plan *plan, const rsk_rows *rows, size_t first, size_t n, float *outputs,
                              void *memory, size_t where[2]) {
    const uint32_t d = plan->model.n_features;
    for (size_t i = first; i < n; i++) {
        const float *row = (const float *)rows->data + i * rows->stride;
        const rsk_status status = plan->isa->row(plan, row, outputs + i, memory);
        if (status == RSK_OK) continue;
        where[0] = i;
        where[1] = first_bad(row, d, 0);
        return status;
    }
    return RSK_OK;
}

/* Sparse rows, and bytes where blocks read floats only, become a table of floats, a block at a time. */
static rsk_status predict_unpacked(const rsk_plan *plan, const rsk_rows *rows, size_t n, float *outputs, void *memory,
                                   size_t where[2]) {
    const rsk_model *m = &plan->model;
    const rsk_rows dense = {memory, m->n_features, NULL, NULL, 0};
    void *scratch = (uint8_t *)memory + rsk_table_nbytes(m);
    for (size_t first = 0; first < n; first += RSK_LANES) {
        const size_t left = n - first < RSK_LANES ? n - first : RSK_LANES;
        for (size_t i = 0; i < left; i++) unpack_row(rows, first + i, m->n_features, (float *)memory + i * m->n_features);
        const rsk_status status = plan->isa->block(plan, &dense, 0, (uint32_t)left, outputs + first * m->n_outputs,
                                                        scratch, NULL, where);
        if (status == RSK_OK) continue;
        where[0] += first;
        return status;
    }
    return RSK_OK;
}

rsk_status rsk_predict_batch(const rsk_plan *plan, const rsk_rows *rows, size_t n, float *outputs, void *memory,
                             const rsk_trace *trace, size_t where[2]) {
    const rsk_model *m = &plan->model;
    const int is_wide = rsk_is_wide(m);
    const int has_rows = plan->has_fast_row && !trace && !rows->ends && !rows->is_uint8;
    const int reads_bytes = plan->uses_bytes && plan->isa->reads_bytes;
    const int is_packed = rows->ends != NULL || (rows->is_uint8 && !reads_bytes);
    if (is_packed && !trace && rsk_table_nbytes(m) > 0) return predict_unpacked(plan, rows, n, outputs, memory, where);
    const size_t lanes = is_wide ? 1 : RSK_LANES;
    rsk_block *block = is_wide ? rsk_block_row : plan->isa->block;
    for (size_t first = 0; first < n; first += lanes) {
        if (has_rows && n - first <= FEW_ROWS) return predict_few(plan, rows, first, n, outputs, memory, where);
        const uint32_t left = n - first < lanes ? (uint32_t)(n - first) : (uint32_t)lanes;
        const rsk_status status = block(plan, rows, first, left, outputs, memory, trace, where);
        if (status != RSK_OK) return status;
    }
    return RSK_OK;
}
