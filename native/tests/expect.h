/* expect.h: what the C tests of training share: counted failures, and random words. */
#ifndef EXPECT_H
#define EXPECT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

static int n_failures = 0;

static void expect(bool is_good, const char *what) {
    if (is_good) return;
    printf("%s\n", what);
    n_failures++;
}

static uint32_t next_word(void) { /* xorshift32: Marsaglia 2003 */
    static uint32_t state = 1;
    state ^= state << 13;
    state ^= state >> 17;
    return state ^= state << 5;
}

#endif
