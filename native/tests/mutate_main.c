/* mutate_main.c: damaged files by the million, for fuzz_file.c.
 *
 *     mutate [--seed N] [--inputs N] [--first N] FILE...
 *
 * Input number i of a seed is always the same bytes, whatever came before: --first i --inputs 1 repeats it.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mutate.h"
#include "rsk.h"

extern rsk_status fuzz_status;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { N_STATUSES = 128 };

static uint64_t run_seed, input_number;

static void read_seed(const char *path) {
    rsk_model model;
    FILE *stream = fopen(path, "rb");
    uint8_t *bytes = malloc(LARGEST_FILE);
    if (n_seeds == MOST_SEEDS || stream == NULL || bytes == NULL) {
        fprintf(stderr, "mutate: cannot read %s\n", path);
        exit(2);
    }
    const size_t nbytes = fread(bytes, 1, LARGEST_FILE, stream);
    fclose(stream);
    const rsk_status status = rsk_open(bytes, nbytes, NULL, &model);
    if (status != RSK_OK) {
        fprintf(stderr, "mutate: %s: %s\n", path, rsk_status_text(status));
        exit(2);
    }
    take_apart(bytes, nbytes, &seeds[n_seeds++]);
}

/* The sanitizers end with abort(), as fuzz_file.c does, so that the input that was too much can be named. */
static void say_which(int signal_number) {
    (void)signal_number;
    fprintf(stderr, "mutate: died; again with --seed %llu --first %llu --inputs 1\n", (unsigned long long)run_seed,
            (unsigned long long)input_number);
}

const char *__asan_default_options(void);
const char *__ubsan_default_options(void);
const char *__asan_default_options(void) { return "abort_on_error=1:quarantine_size_mb=4"; }
const char *__ubsan_default_options(void) { return "abort_on_error=1:print_stacktrace=1"; }

static void print_histogram(const uint64_t counts[N_STATUSES]) {
    static const struct {
        int32_t number;
        const char *name;
    } known[] = {
#define RSK_STATUS(name, number, text) {number, #name},
#include "rsk_status.def"
#undef RSK_STATUS
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (counts[known[i].number] != 0)
            printf("%10llu %s\n", (unsigned long long)counts[known[i].number], known[i].name);
}

int main(int argc, char **argv) {
    static uint64_t counts[N_STATUSES];
    uint64_t n_inputs = 100000, first = 0;
    run_seed = 1;
    for (int i = 1; i < argc; i++) {
        if (i + 1 < argc && strcmp(argv[i], "--seed") == 0) run_seed = strtoull(argv[++i], NULL, 10);
        else if (i + 1 < argc && strcmp(argv[i], "--inputs") == 0) n_inputs = strtoull(argv[++i], NULL, 10);
        else if (i + 1 < argc && strcmp(argv[i], "--first") == 0) first = strtoull(argv[++i], NULL, 10);
        else read_seed(argv[i]);
    }
    if (n_seeds == 0) {
        fprintf(stderr, "usage: mutate [--seed N] [--inputs N] [--first N] FILE...\n");
        return 2;
    }
    signal(SIGABRT, say_which);
    const clock_t start = clock();
    for (input_number = first; input_number < first + n_inputs; input_number++) {
        begin((run_seed << 40) + input_number * 0xD1B54A32D192ED03u);
        const size_t nbytes = make_input(seeds[below(n_seeds)]);
        const bool keeps_digests = one_in(8);
        LLVMFuzzerTestOneInput(output, nbytes);
        for (uint32_t n = 0; n < RSK_MAX_ROW_GROUPS && fuzz_status == RSK_DIGEST && !keeps_digests; n++) {
            repair_digests(nbytes);
            LLVMFuzzerTestOneInput(output, nbytes);
        }
        counts[fuzz_status]++;
    }
    const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    printf("mutate: seed %llu, %u files, %llu inputs, %llu accepted, %.0f inputs/s\n", (unsigned long long)run_seed,
           (unsigned)n_seeds, (unsigned long long)n_inputs, (unsigned long long)counts[RSK_OK],
           (double)n_inputs / seconds);
    print_histogram(counts);
    return 0;
}
