/* test_predict.c: the runtime without Python. All ways to predict give the same bits; wrong arguments give a status.
 *
 *     test_predict FILE...                     good .rsk files, such as those of write_seeds.py
 *
 * Every block of memory has exactly the requested size, and inputs end where a page ends that nobody may read behind:
 * so the sanitizers see what plain C does, and the machine what vector instructions do.
 */
#define _DEFAULT_SOURCE /* mmap without a file */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rsk.h"

enum { N_ROWS = 130, N_THREADS = 4, EXTRA = 3 }; /* two blocks and two rows; EXTRA: a row's unused numbers */

static int n_failures = 0;
static const char *file_name = "";

static void expect(bool is_good, const char *what) {
    if (is_good) return;
    printf("%s: %s\n", file_name, what);
    n_failures++;
}

static void *allocate(size_t nbytes) {
    void *memory;
    if (posix_memalign(&memory, 64, nbytes) != 0) abort();
    return memory;
}

/* nbytes that end with a page; the next page cannot be read. Tests are short: nothing is given back. */
static void *allocate_before_guard(size_t nbytes) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), used = (nbytes + page - 1) / page * page;
    uint8_t *memory = mmap(NULL, used + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory + used, page, PROT_NONE) != 0) abort();
    return memory + used - nbytes;
}

static uint32_t next_word(void) { /* xorshift32: Marsaglia 2003 */
    static uint32_t state = 1;
    state ^= state << 13;
    state ^= state >> 17;
    return state ^= state << 5;
}

/* ---- one model and all that is predicted with it ---- */

typedef struct {
    rsk_model model;
    float *rows;         /* (N_ROWS, n_features + EXTRA) */
    size_t stride;       /* n_features + EXTRA */
    float *wanted;       /* (N_ROWS, n_outputs) */
    int32_t *buckets;    /* (N_ROWS, n_all_rows) */
    void *accumulators;  /* (N_ROWS, n_row_groups, n_outputs) */
    size_t n_all_rows;   /* of all groups of rows */
} fixture;

static float draw_number(uint32_t row) {
    static const float special[] = {0.0f,    -0.0f, 1.0f,  -1.0f,  0.5f,   -0.5f, 1e-42f, -1e-45f, 3.4e38f,
                                    -3.4e38f, 1e19f, 2.0f, 127.5f, -128.5f, 3.0f,  4.0f,   255.0f};
    const uint32_t word = next_word();
    if (row % 8 == 0) return (float)(word >> 8 & 3u); /* categories, booleans */
    if (word % 4 == 0) return special[(word >> 8) % (sizeof special / sizeof special[0])];
    return (float)(int32_t)(word >> 8 & 0xFFFu) / 256.0f - 8.0f;
}

static void set_nan(float *number) {
    const uint32_t bits = 0x7FC00000u;
    memcpy(number, &bits, sizeof bits);
}

static void set_infinite(float *number) {
    const uint32_t bits = 0xFF800000u;
    memcpy(number, &bits, sizeof bits);
}

static void fill_rows(fixture *f) {
    const uint32_t d = f->model.n_features;
    f->stride = d + EXTRA;
    f->rows = allocate_before_guard((N_ROWS * f->stride - EXTRA) * sizeof(float)); /* nothing behind the last row */
    for (uint32_t i = 0; i < N_ROWS; i++)
        for (uint32_t j = 0; j < f->stride; j++) {
            float *number = f->rows + i * f->stride + j;
            if (j < d) {
                *number = draw_number(i);
                if (f->model.flags & RSK_ACCEPTS_MISSING && next_word() % 8 == 0) set_nan(number);
            } else if (i + 1 < N_ROWS) {
                set_nan(number); /* between rows: nobody looks */
            }
        }
}

/* The same bits, of finite numbers. */
static bool are_equal(const float *a, const float *b, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!(a[i] - a[i] == 0.0f)) return false;
    return memcmp(a, b, n * sizeof *a) == 0;
}

static const rsk_plan *make_plan(const rsk_model *model, int compact, int isa, void **memory) {
    const rsk_plan *plan = NULL;
    const size_t nbytes = rsk_plan_nbytes(model, compact);
    *memory = allocate(nbytes);
    expect(rsk_plan_make(model, compact, isa, *memory, nbytes, &plan) == RSK_OK, "making a plan");
    return plan;
}

static rsk_status predict(const rsk_plan *plan, const rsk_rows *rows, size_t n, float *outputs, const rsk_trace *trace,
                          size_t where[2]) {
    void *scratch = allocate(rsk_scratch_nbytes(plan, 1));
    const rsk_status status = rsk_predict_batch(plan, rows, n, outputs, scratch, trace, where);
    free(scratch);
    return status;
}

/* ---- the same bits every way ---- */

/* Row by row from a compact plan: nothing but rsk_predict_block.inc, one lane. */
static void find_wanted(fixture *f) {
    const rsk_model *m = &f->model;
    void *memory;
    const rsk_plan *plan = make_plan(m, 1, RSK_SCALAR, &memory);
    void *scratch = allocate(rsk_scratch_nbytes(plan, 0));
    f->wanted = allocate((size_t)N_ROWS * m->n_outputs * sizeof(float));
    for (size_t i = 0; i < N_ROWS; i++)
        expect(rsk_predict(plan, f->rows + i * f->stride, f->wanted + i * m->n_outputs, scratch) == RSK_OK, "one row");
    free(scratch);
    f->n_all_rows = 0;
    for (uint32_t i = 0; i < m->n_row_groups; i++) f->n_all_rows += m->row_groups[i].n_rows;
    f->buckets = allocate(N_ROWS * f->n_all_rows * sizeof(int32_t));
    f->accumulators = allocate((size_t)N_ROWS * m->n_row_groups * m->n_outputs * 4);
    const rsk_rows rows = {f->rows, f->stride, NULL, NULL, 0};
    const rsk_trace trace = {f->buckets, f->accumulators};
    float *outputs = allocate((size_t)N_ROWS * m->n_outputs * sizeof(float));
    size_t where[2];
    expect(predict(plan, &rows, N_ROWS, outputs, &trace, where) == RSK_OK, "a traced batch");
    expect(are_equal(outputs, f->wanted, (size_t)N_ROWS * m->n_outputs), "the first batch differs");
    free(outputs);
    free(memory);
}

static void test_rows(const fixture *f, const rsk_plan *plan) {
    const uint32_t n_outputs = f->model.n_outputs;
    void *scratch = allocate(rsk_scratch_nbytes(plan, 0));
    float *outputs = allocate(n_outputs * sizeof(float));
    for (size_t i = 0; i < N_ROWS; i++) {
        expect(rsk_predict(plan, f->rows + i * f->stride, outputs, scratch) == RSK_OK, "status of one row");
        expect(are_equal(outputs, f->wanted + i * n_outputs, n_outputs), "one row differs");
    }
    free(outputs);
    free(scratch);
}

static void test_batches(const fixture *f, const rsk_plan *plan) {
    static const size_t sizes[] = {0, 1, 63, 64, 65, N_ROWS};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const size_t n = sizes[i], first = N_ROWS - n, n_numbers = n * f->model.n_outputs;
        const rsk_rows rows = {f->rows + first * f->stride, f->stride, NULL, NULL, 0};
        float *outputs = allocate(n_numbers * sizeof(float));
        size_t where[2];
        expect(predict(plan, &rows, n, outputs, NULL, where) == RSK_OK, "status of a batch");
        expect(are_equal(outputs, f->wanted + first * f->model.n_outputs, n_numbers), "a batch differs");
        free(outputs);
    }
}

static void test_trace(const fixture *f, const rsk_plan *plan) {
    const rsk_model *m = &f->model;
    const size_t n_buckets = N_ROWS * f->n_all_rows, n_accumulators = (size_t)N_ROWS * m->n_row_groups * m->n_outputs;
    const rsk_rows rows = {f->rows, f->stride, NULL, NULL, 0};
    const rsk_trace trace = {allocate(n_buckets * sizeof(int32_t)), allocate(n_accumulators * 4)};
    float *outputs = allocate((size_t)N_ROWS * m->n_outputs * sizeof(float));
    size_t where[2];
    expect(predict(plan, &rows, N_ROWS, outputs, &trace, where) == RSK_OK, "status of a traced batch");
    expect(are_equal(outputs, f->wanted, (size_t)N_ROWS * m->n_outputs), "a traced batch differs");
    expect(memcmp(trace.buckets, f->buckets, n_buckets * sizeof(int32_t)) == 0, "buckets differ");
    if (m->precision == RSK_INT)
        expect(memcmp(trace.accumulators, f->accumulators, n_accumulators * 4) == 0, "accumulators differ");
    else
        expect(are_equal(trace.accumulators, f->accumulators, n_accumulators), "accumulators differ");
    free(trace.buckets);
    free(trace.accumulators);
    free(outputs);
}

/* ---- bytes and sparse rows ---- */

static void test_bytes(const fixture *f, const rsk_plan *plan) {
    const size_t d = f->model.n_features, n_outputs = (size_t)N_ROWS * f->model.n_outputs;
    uint8_t *bytes = allocate_before_guard(N_ROWS * d);
    float *floats = allocate(N_ROWS * d * sizeof(float));
    for (size_t i = 0; i < N_ROWS * d; i++) {
        bytes[i] = (uint8_t)(next_word() >> 8 & (i % 3 == 0 ? 255u : 3u));
        floats[i] = bytes[i];
    }
    const rsk_rows byte_rows = {bytes, d, NULL, NULL, 1}, float_rows = {floats, d, NULL, NULL, 0};
    float *outputs = allocate(n_outputs * sizeof(float)), *wanted = allocate(n_outputs * sizeof(float));
    size_t where[2];
    expect(predict(plan, &byte_rows, N_ROWS, outputs, NULL, where) == RSK_OK, "status of uint8 rows");
    expect(predict(plan, &float_rows, N_ROWS, wanted, NULL, where) == RSK_OK, "status of float rows");
    expect(are_equal(outputs, wanted, n_outputs), "uint8 and float rows differ");
    free(floats);
    free(outputs);
    free(wanted);
}

static void test_sparse(const fixture *f, const rsk_plan *plan, bool is_uint8) {
    const size_t d = f->model.n_features, n_outputs = (size_t)N_ROWS * f->model.n_outputs;
    float *dense = allocate(N_ROWS * d * sizeof(float)), *outputs = allocate(n_outputs * sizeof(float));
    float *wanted = allocate(n_outputs * sizeof(float));
    int32_t *ends = allocate((N_ROWS + 1) * sizeof(int32_t)), n = 0;
    ends[0] = 0;
    for (size_t i = 0; i < N_ROWS; i++) {
        for (size_t j = 0; j < d; j++) {
            const float drawn = is_uint8 ? (float)(next_word() >> 8 & 255u) : f->rows[i * f->stride + j];
            dense[i * d + j] = next_word() % 2 ? drawn : 0.0f;
            n += dense[i * d + j] != 0.0f;
        }
        ends[i + 1] = n;
    }
    const size_t nbytes = (size_t)n * (is_uint8 ? 1 : sizeof(float));
    void *data = allocate_before_guard(nbytes);
    int32_t *columns = allocate_before_guard((size_t)n * sizeof(int32_t)), at = 0;
    for (size_t i = 0; i < N_ROWS * d; i++) {
        if (dense[i] == 0.0f) continue;
        if (is_uint8) ((uint8_t *)data)[at] = (uint8_t)dense[i];
        else ((float *)data)[at] = dense[i];
        columns[at++] = (int32_t)(i % d);
    }
    const rsk_rows sparse_rows = {data, 0, ends, columns, is_uint8}, dense_rows = {dense, d, NULL, NULL, 0};
    size_t where[2];
    expect(predict(plan, &sparse_rows, N_ROWS, outputs, NULL, where) == RSK_OK, "status of sparse rows");
    expect(predict(plan, &dense_rows, N_ROWS, wanted, NULL, where) == RSK_OK, "status of dense rows");
    expect(are_equal(outputs, wanted, n_outputs), "sparse and dense rows differ");
    free(dense);
    free(outputs);
    free(wanted);
    free(ends);
}

/* ---- what is refused ---- */

static void expect_refused(const rsk_plan *plan, const rsk_rows *rows, uint32_t n_outputs, size_t row, size_t column,
                           const char *what) {
    float *outputs = allocate((size_t)N_ROWS * n_outputs * sizeof(float));
    size_t where[2] = {~(size_t)0, ~(size_t)0};
    expect(predict(plan, rows, N_ROWS, outputs, NULL, where) == RSK_INPUT_NOT_FINITE, what);
    expect(where[0] == row && where[1] == column, "row and column of a bad input");
    free(outputs);
}

/* One bad number among good ones, at the ends of rows and blocks; also in columns that are not used. */
static void test_not_finite(const fixture *f, const rsk_plan *plan) {
    static const size_t places[] = {0, 1, 63, 64, 127, 128, N_ROWS - 1};
    const rsk_model *m = &f->model;
    const size_t d = m->n_features;
    void *scratch = allocate(rsk_scratch_nbytes(plan, 0));
    float *outputs = allocate(m->n_outputs * sizeof(float));
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        for (int kind = m->flags & RSK_ACCEPTS_MISSING ? 1 : 0; kind < 2; kind++) {
            const size_t row = places[i], column = next_word() % d;
            float *rows = allocate(N_ROWS * d * sizeof(float)), *bad = rows + row * d + column;
            int32_t *ends = allocate((N_ROWS + 1) * sizeof(int32_t)), *columns = allocate(N_ROWS * d * sizeof(int32_t));
            for (size_t k = 0; k < N_ROWS * d; k++) rows[k] = 1.0f;
            for (size_t k = 0; k <= N_ROWS; k++) ends[k] = (int32_t)(k * d);
            for (size_t k = 0; k < N_ROWS * d; k++) columns[k] = (int32_t)(k % d);
            if (kind == 0) set_nan(bad);
            else set_infinite(bad);
            if (row + 1 < N_ROWS) set_infinite(rows + N_ROWS * d - 1); /* a later one does not count */
            const rsk_rows dense = {rows, d, NULL, NULL, 0}, sparse = {rows, 0, ends, columns, 0};
            expect_refused(plan, &dense, m->n_outputs, row, column, "a bad number in a dense row");
            expect_refused(plan, &sparse, m->n_outputs, row, column, "a bad number in a sparse row");
            const rsk_status status = rsk_predict(plan, rows + row * d, outputs, scratch);
            expect(status == RSK_INPUT_NOT_FINITE, "a bad number in one row");
            free(rows);
            free(ends);
            free(columns);
        }
    free(scratch);
    free(outputs);
}

static void test_arguments(const rsk_model *m) {
    const size_t nbytes = rsk_plan_nbytes(m, 0);
    uint8_t *memory = allocate(nbytes + 64);
    const rsk_plan *plan = NULL;
    expect(rsk_plan_make(m, 0, -1, memory + 1, nbytes, &plan) == RSK_MEMORY, "misaligned memory");
    expect(rsk_plan_make(m, 0, -1, memory + 32, nbytes, &plan) == RSK_MEMORY, "memory aligned to 32");
    expect(rsk_plan_make(m, 0, -1, memory, nbytes - 1, &plan) == RSK_MEMORY, "a byte too few");
    expect(rsk_plan_make(m, 0, -1, memory, 0, &plan) == RSK_MEMORY, "no bytes");
    expect(rsk_plan_make(m, 0, -1, NULL, nbytes, &plan) == RSK_MEMORY, "no memory");
    expect(rsk_plan_make(m, 0, RSK_N_ISAS, memory, nbytes, &plan) == RSK_ARGUMENT, "an unknown isa");
    expect(rsk_plan_make(m, 0, 1000000, memory, nbytes, &plan) == RSK_ARGUMENT, "an isa far out");
    for (int isa = 0; isa < RSK_N_ISAS; isa++)
        if (!rsk_isa_exists(isa))
            expect(rsk_plan_make(m, 0, isa, memory, nbytes, &plan) == RSK_ARGUMENT, "an isa that is not there");
    expect(plan == NULL, "a refused plan is not handed out");
    expect(rsk_plan_nbytes(m, 1) <= nbytes, "a compact plan is not larger");
    free(memory);
}

/* More terms than 32 bits count: nobody can give the memory, but for a compact plan. */
static void test_too_many_terms(void) {
    rsk_model m;
    rsk_row_group *p = m.row_groups;
    file_name = "too many terms";
    memset(&m, 0, sizeof m);
    m.n_row_groups = 1;
    m.n_features = m.n_columns = m.n_values = m.n_components = p->n_inputs = 1 << 20;
    p->source = 1;
    p->n_rows = p->n_codes = 65536;
    p->n_buckets = 2;
    m.n_outputs = p->n_concat = p->n_numbers = p->n_groups = p->n_gains = 1;
    expect(rsk_plan_nbytes(&m, 0) > SIZE_MAX / 32, "a plan that cannot be made");
    expect(rsk_plan_nbytes(&m, 1) < 1 << 28, "a compact plan");
}

/* ---- threads ---- */

typedef struct {
    const fixture *f;
    const rsk_plan *plan;
    bool is_good;
} task;

static void *run_thread(void *argument) {
    task *t = argument;
    const fixture *f = t->f;
    const size_t n_numbers = (size_t)N_ROWS * f->model.n_outputs;
    const rsk_rows rows = {f->rows, f->stride, NULL, NULL, 0};
    float *outputs = allocate(n_numbers * sizeof(float));
    size_t where[2];
    t->is_good = true;
    for (int i = 0; i < 5; i++) {
        memset(outputs, 0, n_numbers * sizeof(float));
        t->is_good &= predict(t->plan, &rows, N_ROWS, outputs, NULL, where) == RSK_OK;
        t->is_good &= are_equal(outputs, f->wanted, n_numbers);
    }
    free(outputs);
    return NULL;
}

static void test_threads(const fixture *f, const rsk_plan *plan) {
    pthread_t threads[N_THREADS];
    task tasks[N_THREADS];
    for (int i = 0; i < N_THREADS; i++) {
        tasks[i].f = f;
        tasks[i].plan = plan;
        if (pthread_create(&threads[i], NULL, run_thread, &tasks[i]) != 0) abort();
    }
    for (int i = 0; i < N_THREADS; i++) {
        pthread_join(threads[i], NULL);
        expect(tasks[i].is_good, "a thread's outputs differ");
    }
}

/* ---- the program ---- */

static void test_model(fixture *f) {
    fill_rows(f);
    find_wanted(f);
    test_arguments(&f->model);
    for (int compact = 0; compact < 2; compact++)
        for (int isa = -1; isa < RSK_N_ISAS; isa++) {
            if (isa >= 0 && !rsk_isa_exists(isa)) continue;
            void *memory;
            const rsk_plan *plan = make_plan(&f->model, compact, isa, &memory);
            test_rows(f, plan);
            test_batches(f, plan);
            test_trace(f, plan);
            test_bytes(f, plan);
            test_sparse(f, plan, false);
            test_sparse(f, plan, true);
            test_not_finite(f, plan);
            if (isa == -1) test_threads(f, plan);
            free(memory);
        }
    free(f->wanted);
    free(f->buckets);
    free(f->accumulators);
}

/* The file in memory that is aligned to nothing and ends where nobody may read. */
static void test_file(const char *path) {
    fixture f;
    FILE *stream = fopen(path, "rb");
    if (stream == NULL || fseek(stream, 0, SEEK_END) != 0) abort();
    const size_t nbytes = (size_t)ftell(stream);
    file_name = path;
    uint8_t *aligned = allocate_before_guard(nbytes), *file = allocate_before_guard(nbytes + 5);
    rewind(stream);
    expect(fread(aligned, 1, nbytes, stream) == nbytes, "cannot be read");
    fclose(stream);
    expect(rsk_open(aligned, nbytes, NULL, &f.model) == RSK_OK, "is not accepted");
    memcpy(file + 3, aligned, nbytes);
    memset(aligned, 0, nbytes);
    const rsk_status status = rsk_open(file + 3, nbytes, NULL, &f.model);
    expect(status == RSK_OK, rsk_status_text(status));
    if (status == RSK_OK) test_model(&f);
}

static void test_isas(void) {
    const int best = rsk_isa_best();
    file_name = "isas";
    expect(rsk_isa_exists(RSK_SCALAR) == 1 && rsk_isa_exists(best) == 1, "those that exist");
    expect(rsk_isa_exists(-1) == 0 && rsk_isa_exists(RSK_N_ISAS) == 0, "those that do not exist");
    for (int isa = best + 1; isa < RSK_N_ISAS; isa++)
        expect(!rsk_isa_exists(isa), "none better than the best");
    expect(strcmp(rsk_isa_name(RSK_SCALAR), "scalar") == 0, "the name of an isa");
    expect(strcmp(rsk_isa_name(-1), "unknown") == 0 && strcmp(rsk_isa_name(99), "unknown") == 0, "unknown ones");
}

int main(int argc, char **argv) {
    test_isas();
    test_too_many_terms();
    for (int i = 1; i < argc; i++) test_file(argv[i]);
    printf("test_predict: %d files, best isa %s, ", argc - 1, rsk_isa_name(rsk_isa_best()));
    printf(n_failures == 0 ? "ok\n" : "%d failures\n", n_failures);
    return argc < 2 || n_failures != 0;
}
