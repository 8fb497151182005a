/* fuzz_mutator.c: lets libFuzzer change files as mutate.c does, so that checksums and digests fit and coverage guides it
 * past the first checks. fuzz.sh builds and runs it.
 */
#include <stdlib.h>
#include <string.h>

#include "mutate.h"
#include "rsk.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

/* Keeps a copy of an input: sections of inputs seen before are put into later ones. */
static void keep(const uint8_t *data, size_t size) {
    static uint8_t *copies[MOST_SEEDS];
    const uint32_t place = n_seeds < MOST_SEEDS ? n_seeds : below(MOST_SEEDS);
    uint8_t *copy = malloc(size);
    if (copy == NULL) abort();
    memcpy(copy, data, size);
    if (!take_apart(copy, size, &seeds[place])) {
        free(copy);
        return;
    }
    free(copies[place]);
    copies[place] = copy;
    if (place == n_seeds) n_seeds++;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed) {
    rsk_model model;
    document doc;
    begin(seed);
    if (one_in(64) || !take_apart(data, size, &doc)) return LLVMFuzzerMutate(data, size, max_size);
    if (n_seeds == 0 || one_in(16)) keep(data, size);
    const size_t nbytes = make_input(doc);
    for (uint32_t n = 0; n < RSK_MAX_ROW_GROUPS && rsk_open(output, nbytes, NULL, &model) == RSK_DIGEST; n++)
        repair_digests(nbytes);
    if (nbytes == 0 || nbytes > max_size) return size;
    memcpy(data, output, nbytes);
    return nbytes;
}
