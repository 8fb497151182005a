/* One call from file to outputs, for tests that load the runtime as built by some compiler. */
#include <stdlib.h>

#include "rsk.h"
#include "rsk_plan.h"

/* Outputs (n, n_outputs) of n dense rows of floats, in batches or one row at a time; returns the status, or -1 without
 * memory. isa: an instruction set, -1 for the best. */
int shim_predict(const void *file, size_t n_bytes, int isa, int compact, int one_by_one, const float *X, size_t n,
                 float *out) {
    rsk_model model;
    const rsk_limits limits = {n_bytes, UINT64_MAX, UINT64_MAX};
    rsk_status status = rsk_open(file, n_bytes, &limits, &model);
    if (status != RSK_OK) return (int)status;
    const size_t plan_nbytes = rsk_plan_nbytes(&model, compact);
    /* Room to move both up to the next 64 bytes. */
    char *memory = malloc(plan_nbytes + 64);
    if (memory == NULL) return -1;
    const rsk_plan *plan = NULL;
    status = rsk_plan_make(&model, compact, isa, memory + (64 - (size_t)memory % 64), plan_nbytes, &plan);
    char *scratch = status == RSK_OK ? malloc(rsk_scratch_nbytes(plan, !one_by_one) + 64) : NULL;
    if (scratch != NULL) {
        void *aligned = scratch + (64 - (size_t)scratch % 64);
        size_t where[2];
        const rsk_rows rows = {X, model.n_features, NULL, NULL, 0};
        if (!one_by_one) status = rsk_predict_batch(plan, &rows, n, out, aligned, NULL, where);
        for (size_t i = 0; one_by_one && i < n && status == RSK_OK; i++)
            status = rsk_predict(plan, X + i * model.n_features, out + i * model.n_outputs, aligned);
    }
    const int has_failed = status == RSK_OK && scratch == NULL;
    free(scratch);
    free(memory);
    return has_failed ? -1 : (int)status;
}

int shim_isa_exists(int isa) { return rsk_isa_exists(isa); }

/* What the reader says about a file; a limit of 0 is the default one. */
int shim_status(const void *file, size_t n_bytes, uint64_t max_nbytes, uint64_t max_memory, uint64_t max_work) {
    rsk_model model;
    const rsk_limits limits = {max_nbytes, max_memory, max_work};
    return (int)rsk_open(file, n_bytes, &limits, &model);
}

/* Bounds of memory and work of a good file, and the memory that it takes. */
void shim_totals(const void *file, size_t n_bytes, uint64_t totals[3]) {
    rsk_model model;
    const rsk_limits limits = {n_bytes, UINT64_MAX, UINT64_MAX};
    if (rsk_open(file, n_bytes, &limits, &model) != RSK_OK) return;
    const rsk_totals found = rsk_totals_find(&model);
    totals[0] = found.memory;
    totals[1] = found.work;
    totals[2] = rsk_memory_count(&model);
}
