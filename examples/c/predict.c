/* predict.c: one prediction with a .rsk file, in C alone.
 *
 *     ./predict model.rsk 0.5 1.25 -3        one number a feature; missing ones are 0
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rsk.h"

/* Ends the program with a sentence unless all is well. */
static void check(rsk_status status) {
    if (status == RSK_OK) return;
    fprintf(stderr, "predict: %s\n", rsk_status_text(status));
    exit(1);
}

/* The runtime allocates nothing itself; memory is aligned to 64 bytes. */
static void *allocate(size_t nbytes) {
    void *memory = aligned_alloc(64, (nbytes + 63) / 64 * 64);
    check(memory == NULL ? RSK_MEMORY : RSK_OK);
    return memory;
}

int main(int argc, char **argv) {
    /* 1. The file, mapped: the model points into it. rsk_open checks every byte, so it may come from anywhere. */
    const int file = open(argc > 1 ? argv[1] : "model.rsk", O_RDONLY);
    const size_t nbytes = (size_t)lseek(file, 0, SEEK_END);
    const void *bytes = mmap(NULL, nbytes, PROT_READ, MAP_PRIVATE, file, 0);
    rsk_model model;
    check(bytes == MAP_FAILED ? RSK_NOT_REGULAR : rsk_open(bytes, nbytes, NULL, &model));

    /* 2. The plan, once: hash functions unpacked for the best instruction set of this machine (-1). */
    const rsk_plan *plan;
    const size_t plan_nbytes = rsk_plan_nbytes(&model, 0);
    check(rsk_plan_make(&model, 0, -1, allocate(plan_nbytes), plan_nbytes, &plan));

    /* 3. Predictions, as many as you like; every thread has its own working memory. */
    float *row = allocate(model.n_features * sizeof(float)), *outputs = allocate(model.n_outputs * sizeof(float));
    for (int i = 0; i < (int)model.n_features; i++) row[i] = i + 2 < argc ? strtof(argv[i + 2], NULL) : 0.0f;
    check(rsk_predict(plan, row, outputs, allocate(rsk_scratch_nbytes(plan, 0))));
    for (uint32_t c = 0; c < model.n_outputs; c++) printf("%.9g\n", outputs[c]);
}
