/* rsk_train.c: see rsk_train.h. */
#include "rsk_train.h"

#include <string.h>

void rsk_train_histogram(const rsk_train_shape *shape, const uint8_t *bins, const uint8_t *buckets,
                         const float *numbers, double *sums) {
    const size_t width = shape->n_numbers, cells = (size_t)shape->n_buckets * shape->n_bins;
    memset(sums, 0, shape->n_columns * cells * width * sizeof *sums);
    for (size_t column = 0; column < shape->n_columns; column++, sums += cells * width, bins += shape->n_rows) {
        for (size_t row = 0; row < shape->n_rows; row++) {
            if (buckets[row] >= shape->n_buckets || bins[row] >= shape->n_bins) continue;
            double *sum = sums + ((size_t)buckets[row] * shape->n_bins + bins[row]) * width;
            const float *number = numbers + row * width;
            for (size_t i = 0; i < width; i++) sum[i] += (double)number[i];
        }
    }
}
