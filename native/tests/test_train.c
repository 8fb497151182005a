/* test_train.c: gains of codes and refitted counters against their definitions, in memory of exactly the stated size. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "expect.h"
#include "rsk_train.h"

enum { N = 40, N_COLUMNS = 2, N_CODES = 5, N_BUCKETS = 3, N_OUTPUTS = 2, WIDTH = 2 * N_OUTPUTS };

static double next_unit(void) { return (double)(next_word() >> 8) / 16777216.0; }

/* A numeric column of three borders and a category of two labels; bins of every row, the usual ones among them. */
static void test_gains(void) {
    static const uint32_t first_codes[N_COLUMNS + 1] = {0, 3, N_CODES};
    static const uint8_t usual[N_COLUMNS] = {1, 2}, is_category[N_COLUMNS] = {0, 1};
    uint8_t all_bins[N_COLUMNS][N], buckets[N], *bins = malloc(N_COLUMNS * N);
    uint32_t *rows = malloc(N_COLUMNS * N * sizeof *rows);
    uint64_t starts[N_COLUMNS + 1] = {0};
    float *numbers = malloc(N * WIDTH * sizeof *numbers);
    for (uint32_t column = 0, n = 0; column < N_COLUMNS; column++) {
        for (uint32_t i = 0; i < N; i++) {
            all_bins[column][i] = (uint8_t)(next_word() >> 8) % (first_codes[column + 1] - first_codes[column] + 1);
            if (all_bins[column][i] == usual[column]) continue;
            rows[n] = i;
            bins[n++] = all_bins[column][i];
        }
        starts[column + 1] = n;
    }
    for (uint32_t i = 0; i < N; i++) buckets[i] = (uint8_t)((next_word() >> 8) % N_BUCKETS);
    for (uint32_t i = 0; i < N * WIDTH; i++) numbers[i] = (float)(i % WIDTH < N_OUTPUTS ? next_unit() - 0.5 : next_unit());
    const rsk_train_columns columns = {N_COLUMNS, N, starts, rows, bins, usual, first_codes, is_category};
    const rsk_train_slopes slopes = {N_BUCKETS, N_OUTPUTS, buckets, numbers, 0.5};
    double *work = malloc(rsk_train_work(&columns, &slopes) * sizeof *work), *gains = malloc(N_CODES * sizeof *gains);
    rsk_train_gains(&columns, &slopes, work, gains);
    for (uint32_t code = 0; code < N_CODES; code++) {
        const uint32_t column = code >= first_codes[1], place = code - first_codes[column];
        double sums[N_BUCKETS][2][WIDTH] = {{{0.0}}}, wanted = 0.0;
        for (uint32_t i = 0; i < N; i++) {
            const uint8_t bin = all_bins[column][i];
            for (uint32_t c = 0; c < WIDTH; c++)
                sums[buckets[i]][is_category[column] ? bin == place : bin > place][c] += numbers[i * WIDTH + c];
        }
        for (uint32_t k = 0; k < 2 * N_BUCKETS * N_OUTPUTS; k++) {
            const double *half = sums[k / N_OUTPUTS / 2][k / N_OUTPUTS % 2];
            const double slope = half[k % N_OUTPUTS];
            wanted += slope * slope / (half[N_OUTPUTS + k % N_OUTPUTS] + 0.5);
        }
        expect(fabs(gains[code] - wanted) < 1e-9 * wanted, "the gain of a code");
    }
    free(bins);
    free(rows);
    free(numbers);
    free(work);
    free(gains);
}

/* One row of two buckets: Newton steps towards `wanted`, no longer than the longest, on the grid and within it. */
static void test_fit(double grid, double largest, double longest) {
    const rsk_train_fit fit = {1, 4, 2, 1, 0.5, longest, grid, largest};
    static const uint8_t buckets[4] = {0, 1, 1, 0};
    static const double wanted[2] = {0.25, -0.5}, curvature[4] = {0.25, 0.5, 0.25, 0.125};
    static const double start[4] = {-2.0, 1.5, 1.0, -1.0};
    double values[2] = {0.0, 0.0}, outputs[4] = {0.0}, slope[4] = {-2.0, 1.5, 1.0, -1.0}, *work = malloc(4 * sizeof *work);
    rsk_train_fit_rows(&fit, buckets, wanted, values, outputs, slope, curvature, work);
    for (int bucket = 0; bucket < 2; bucket++) {
        double slopes = 0.0, curvatures = 0.0;
        for (int i = 0; i < 4; i++)
            if (buckets[i] == bucket) slopes += start[i], curvatures += curvature[i];
        double value = -(slopes - 0.5 * wanted[bucket]) / (curvatures + 0.5);
        value = fmax(-longest, fmin(longest, value));
        if (grid > 0.0) value = fmax(-largest, fmin(largest, rint(value / grid))) * grid;
        expect(fabs(values[bucket] - value) < 1e-12, "a fitted counter");
    }
    for (int i = 0; i < 4; i++) {
        expect(outputs[i] == values[buckets[i]], "outputs move with the counters");
        expect(fabs(slope[i] - (start[i] + curvature[i] * outputs[i])) < 1e-12, "slopes move with the outputs");
    }
    free(work);
}

int main(void) {
    test_gains();
    test_fit(0.0, 0.0, 100.0);
    test_fit(0.0, 0.0, 0.5);
    test_fit(0.25, 100.0, 100.0);
    test_fit(0.25, 3.0, 100.0);
    printf(n_failures == 0 ? "test_train: ok\n" : "test_train: %d failures\n", n_failures);
    return n_failures != 0;
}
