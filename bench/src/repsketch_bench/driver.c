/* Predicts argv[1] queries of the rows in file argv[3] (float32) with the sketch in file argv[2], for counting
 * instructions: `run` is what is counted, everything before it is not. argv[4] is "batch" or "row". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rsk.h"

static void *read_all(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file) exit(2);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    void *bytes = aligned_alloc(64, (*size + 127) / 64 * 64);
    if (fread(bytes, 1, *size, file) != *size) exit(2);
    fclose(file);
    return bytes;
}

__attribute__((noinline)) void run(const rsk_plan *plan, const float *X, size_t n, size_t d, int batch, float *out,
                                   void *scratch) {
    const rsk_rows rows = {X, d, NULL, NULL, 0};
    size_t where[2];
    if (batch) rsk_predict_batch(plan, &rows, n, out, scratch, NULL, where);
    else for (size_t i = 0; i < n; i++) rsk_predict(plan, X + i * d, out + i, scratch);
}

int main(int argc, char **argv) {
    size_t file_size, data_size;
    if (argc != 5) return 2;
    const size_t n = (size_t)atol(argv[1]);
    void *file = read_all(argv[2], &file_size);
    float *X = read_all(argv[3], &data_size);
    rsk_model model;
    if (rsk_open(file, file_size, 0, &model) != RSK_OK) return 3;
    const size_t plan_size = rsk_plan_nbytes(&model, 0);
    void *memory = aligned_alloc(64, (plan_size + 63) / 64 * 64);
    const rsk_plan *plan;
    if (rsk_plan_make(&model, 0, -1, memory, plan_size, &plan) != RSK_OK) return 4;
    void *scratch = aligned_alloc(64, (rsk_scratch_nbytes(plan, 1) + 63) / 64 * 64);
    float *out = malloc(n * sizeof *out);
    run(plan, X, n, model.n_features, strcmp(argv[4], "batch") == 0, out, scratch);
    return 0;
}
