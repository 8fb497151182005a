/* fuzz_file.c: everything that the bytes of a file can reach: the reader, plans, predictions.
 *
 * For any fuzzer that calls LLVMFuzzerTestOneInput: mutate_main.c is the one of `make sanitize`, fuzz.sh runs libFuzzer.
 *
 * The bytes lie in a block of exactly their size, plans and working memory too, so that the sanitizers see every step
 * beyond. Of a file that is accepted, plan and working memory must take no more than the reader allowed for, every
 * output must be finite, and every way to predict must give the same bits: otherwise the program stops.
 */
#define _POSIX_C_SOURCE 200809L /* posix_memalign */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rsk_plan.h"

enum { USUAL_WORK = 1 << 11, N_ROWS = 6, NAN_ROW = N_ROWS - 1 };

rsk_status fuzz_status; /* of the last input; for mutate_main.c */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void *allocate(size_t nbytes) {
    void *memory;
    if (posix_memalign(&memory, 64, nbytes) != 0) abort();
    return memory;
}

static void fail(const char *what) {
    fprintf(stderr, "fuzz_file: %s\n", what);
    abort();
}

/* Zeros; small numbers; small integers; the largest and smallest ones; edges of bytes; and NaN here and there. */
static void fill_rows(const rsk_model *m, float *rows) {
    static const float huge[] = {3.4e38f, -3.4e38f, 1e19f, -1e19f, 1e-42f, -1e-45f, 0.0f, -0.0f};
    static const float edges[] = {127.5f, -128.5f, 0.5f, 1.5f, -0.5f, 255.0f, 32767.5f, 1.0f};
    const uint32_t d = m->n_features;
    for (uint32_t j = 0; j < d; j++) {
        const float ordinary = (float)(int32_t)(j * 37u % 101u) / 16.0f - 3.0f;
        rows[j] = 0.0f;
        rows[d + j] = ordinary;
        rows[2 * d + j] = (float)(j % 4u);
        rows[3 * d + j] = huge[j % 8u];
        rows[4 * d + j] = edges[j % 8u];
        rows[NAN_ROW * d + j] = ordinary;
    }
    const uint32_t quiet_nan = 0x7FC00000u;
    for (uint32_t j = d / 2; j < d; j += 3) memcpy(rows + NAN_ROW * d + j, &quiet_nan, sizeof quiet_nan);
}

/* The same bits, of finite numbers. */
static void compare(const float *outputs, const float *wanted, size_t n, const char *what) {
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, wanted + i, sizeof bits);
        if ((bits & 0x7FFFFFFFu) > 0x7F7FFFFFu) fail("an output is not finite");
    }
    if (memcmp(outputs, wanted, n * sizeof *wanted) != 0) fail(what);
}

static void predict_rows(const rsk_model *m, const rsk_plan *plan, const float *rows, float *outputs) {
    const rsk_status nan_status = m->flags & RSK_ACCEPTS_MISSING ? RSK_OK : RSK_INPUT_NOT_FINITE;
    void *scratch = allocate(rsk_scratch_nbytes(plan, 0));
    for (size_t i = 0; i < N_ROWS; i++)
        if (rsk_predict(plan, rows + i * m->n_features, outputs + i * m->n_outputs, scratch) !=
            (i == NAN_ROW ? nan_status : RSK_OK))
            fail("status of one row");
    free(scratch);
}

static void predict_batch(const rsk_model *m, const rsk_plan *plan, const float *rows, float *outputs) {
    const int accepts_nan = (m->flags & RSK_ACCEPTS_MISSING) != 0;
    const rsk_rows dense = {rows, m->n_features, NULL, NULL, 0};
    size_t where[2] = {0, 0};
    void *scratch = allocate(rsk_scratch_nbytes(plan, 1));
    const rsk_status status = rsk_predict_batch(plan, &dense, N_ROWS, outputs, scratch, NULL, where);
    if (status != (accepts_nan ? RSK_OK : RSK_INPUT_NOT_FINITE)) fail("status of a batch");
    if (!accepts_nan) {
        if (where[0] != NAN_ROW || where[1] != m->n_features / 2) fail("place of NaN");
        if (rsk_predict_batch(plan, &dense, NAN_ROW, outputs, scratch, NULL, where) != RSK_OK) fail("a good batch");
    }
    free(scratch);
}

/* Rows of uint8 give what rows of the same floats give. */
static void predict_bytes(const rsk_model *m, const rsk_plan *plan, float *outputs, float *others) {
    const size_t d = m->n_features;
    uint8_t *bytes = allocate(N_ROWS * d);
    float *floats = allocate(N_ROWS * d * sizeof *floats);
    for (size_t i = 0; i < N_ROWS * d; i++) floats[i] = bytes[i] = (uint8_t)(i % 5u == 0 ? 251u * i : i % 3u);
    const rsk_rows byte_rows = {bytes, d, NULL, NULL, 1}, float_rows = {floats, d, NULL, NULL, 0};
    size_t where[2];
    void *scratch = allocate(rsk_scratch_nbytes(plan, 1));
    if (rsk_predict_batch(plan, &byte_rows, N_ROWS, outputs, scratch, NULL, where) != RSK_OK) fail("status of bytes");
    if (rsk_predict_batch(plan, &float_rows, N_ROWS, others, scratch, NULL, where) != RSK_OK) fail("status of floats");
    compare(outputs, others, (size_t)N_ROWS * m->n_outputs, "bytes and floats differ");
    free(scratch);
    free(bytes);
    free(floats);
}

/* Predicts all rows one by one and as a batch; puts the outputs into `wanted` if this is the first way to predict, uses
 * it up if bytes are the last. */
static void predict_with(const rsk_model *m, int compact, int isa, const float *rows, float *wanted, bool is_first,
                         bool has_bytes) {
    const size_t n_good = (size_t)(m->flags & RSK_ACCEPTS_MISSING ? N_ROWS : NAN_ROW) * m->n_outputs;
    const size_t nbytes = rsk_plan_nbytes(m, compact);
    const rsk_plan *plan;
    void *memory = allocate(nbytes);
    float *outputs = allocate((size_t)N_ROWS * m->n_outputs * sizeof *outputs);
    if (rsk_plan_make(m, compact, isa, memory, nbytes, &plan) != RSK_OK) fail("status of a plan");
    predict_rows(m, plan, rows, is_first ? wanted : outputs);
    if (!is_first) compare(outputs, wanted, n_good, "single rows differ");
    predict_batch(m, plan, rows, outputs);
    compare(outputs, wanted, n_good, "a batch and single rows differ");
    if (has_bytes) predict_bytes(m, plan, outputs, wanted);
    free(outputs);
    free(memory);
}

/* With the best instruction set; for every other file also in one of the other ways: all would take too long. */
static void predict_all(const rsk_model *m, uint32_t choice) {
    const int compact = (int)(choice / 2u % 2u), isa = (int)(choice / 4u % RSK_N_ISAS);
    const bool has_bytes = choice / 4u / RSK_N_ISAS % 4u == 0;
    float *rows = allocate((size_t)N_ROWS * m->n_features * sizeof *rows);
    float *wanted = allocate((size_t)N_ROWS * m->n_outputs * sizeof *wanted);
    fill_rows(m, rows);
    predict_with(m, 0, -1, rows, wanted, true, false);
    if (choice % 2u == 0)
        predict_with(m, compact, rsk_isa_exists(isa) ? isa : RSK_SCALAR, rows, wanted, false, has_bytes);
    free(rows);
    free(wanted);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    rsk_model model;
    uint8_t *file = malloc(size + (size == 0));
    if (file == NULL) abort();
    if (size > 0) memcpy(file, data, size);
    fuzz_status = rsk_open(file, size, NULL, &model);
    if (fuzz_status == RSK_OK) {
        const rsk_totals totals = rsk_totals_find(&model);
        const uint64_t taken = rsk_memory_count(&model);
        if (taken > totals.memory) fail("a plan takes more memory than the reader allowed for");
        /* Of files that take long the more are left out the longer they take: the mean time of an input stays short. */
        const uint32_t choice = file[20] | file[21] << 8 | file[22] << 16 | (uint32_t)file[23] << 24; /* a checksum */
        const uint64_t rarity = 1 + (totals.work + taken / 256) / USUAL_WORK;
        if (choice % rarity == 0) predict_all(&model, (uint32_t)(choice / rarity));
    }
    free(file);
    return 0;
}
