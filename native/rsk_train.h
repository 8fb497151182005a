/* rsk_train.h: training, not inference: what splitting the buckets of a row by each code would gain, and counters
 * fitted to slopes. */
#ifndef RSK_TRAIN_H
#define RSK_TRAIN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Columns of bins. Most rows of many columns share one bin, the usual one; only the others are listed. */
typedef struct {
    uint32_t n_columns, n_rows;
    const uint64_t *starts;      /* [n_columns + 1] first entry of each column, and the end */
    const uint32_t *rows;        /* [entries] row of an entry */
    const uint8_t *bins;         /* [entries] its bin, at most the number of codes of the column */
    const uint8_t *usual;        /* [n_columns] bin of all rows that are not listed */
    const uint32_t *codes;       /* [n_columns + 1] first code of each column, and the end */
    const uint8_t *is_category;  /* [n_columns] code i is "bin = i"; otherwise "bin > i" */
} rsk_train_columns;

/* Slopes and curvatures of a loss with n_outputs outputs. */
typedef struct {
    uint32_t n_buckets, n_outputs;
    const uint8_t *buckets; /* [n_rows] below n_buckets */
    const float *numbers;   /* [n_rows][2 n_outputs] slopes, then curvatures */
    double strength;        /* added to every sum of curvatures */
} rsk_train_slopes;

/* doubles of `work` that gains need: a histogram of the widest column, and one sum a bucket */
uint64_t rsk_train_work(const rsk_train_columns *columns, const rsk_train_slopes *slopes);

/* gains[code] = sum over both halves of all buckets and all outputs of slope^2 / (curvature + strength).
 * Entries whose row, bin or bucket is too large are left out. */
void rsk_train_gains(const rsk_train_columns *columns, const rsk_train_slopes *slopes, double *work, double *gains);

/* Rows whose counters are fitted one after the other to a quadratic model of the loss. */
typedef struct {
    uint32_t n_rows, n_data; /* rows of counters, rows of data */
    uint32_t n_buckets, n_outputs;
    double strength;    /* weight of the squared distance from `wanted` */
    double longest;     /* step of a counter at most */
    double grid;        /* counters are multiples of it; 0 for any number */
    double largest;     /* of those multiples */
} rsk_train_fit;

/* buckets[n_rows][n_data], each below n_buckets; values and wanted[n_rows][n_buckets][n_outputs]; outputs, slope and
 * curvature[n_data][n_outputs]; work[2 n_buckets n_outputs]. Changes values, and with them outputs and slope. */
void rsk_train_fit_rows(const rsk_train_fit *fit, const uint8_t *buckets, const double *wanted, double *values,
                        double *outputs, double *slope, const double *curvature, double *work);

#ifdef __cplusplus
}
#endif
#endif
