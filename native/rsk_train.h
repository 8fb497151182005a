/* rsk_train.h: histograms of slopes and curvatures, for choosing rows; training, not inference. */
#ifndef RSK_TRAIN_H
#define RSK_TRAIN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    uint32_t n_columns, n_rows;
    uint32_t n_buckets, n_bins; /* every bucket is below n_buckets, every bin below n_bins */
    uint32_t n_numbers;         /* numbers a row has */
} rsk_train_shape;

/* sums[column][bucket][bin][number] = sum of numbers[row] over the rows in that bucket and bin.
 * bins[n_columns][n_rows], buckets[n_rows], numbers[n_rows][n_numbers]. Rows whose bucket or bin is too large are
 * left out. */
void rsk_train_histogram(const rsk_train_shape *shape, const uint8_t *bins, const uint8_t *buckets,
                         const float *numbers, double *sums);

#ifdef __cplusplus
}
#endif
#endif
