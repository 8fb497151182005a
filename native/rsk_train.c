/* rsk_train.c: see rsk_train.h. */
#include "rsk_train.h"

#include <math.h>
#include <string.h>

static uint32_t count_codes(const rsk_train_columns *columns, uint32_t column) {
    return columns->codes[column + 1] - columns->codes[column];
}

uint64_t rsk_train_work(const rsk_train_columns *columns, const rsk_train_slopes *slopes) {
    uint64_t most = 1;
    for (uint32_t column = 0; column < columns->n_columns; column++) {
        const uint64_t n_bins = (uint64_t)count_codes(columns, column) + 1;
        if (n_bins > most) most = n_bins;
    }
    return (most + 2) * slopes->n_buckets * 2 * slopes->n_outputs;
}

static void add(double *sum, const float *number, size_t width) {
    for (size_t i = 0; i < width; i++) sum[i] += (double)number[i];
}

/* histogram[bucket][bin][2 C] of one column; what is not listed is in the usual bin. */
static void fill(const rsk_train_columns *columns, const rsk_train_slopes *slopes, uint32_t column,
                 const double *totals, double *histogram) {
    const size_t width = 2 * (size_t)slopes->n_outputs, n_bins = (size_t)count_codes(columns, column) + 1;
    memset(histogram, 0, slopes->n_buckets * n_bins * width * sizeof *histogram);
    for (uint64_t entry = columns->starts[column]; entry < columns->starts[column + 1]; entry++) {
        const uint32_t row = columns->rows[entry];
        const uint8_t bin = columns->bins[entry];
        if (row >= columns->n_rows || bin >= n_bins || slopes->buckets[row] >= slopes->n_buckets) continue;
        add(histogram + (slopes->buckets[row] * n_bins + bin) * width, slopes->numbers + row * width, width);
    }
    const uint8_t usual = columns->usual[column];
    if (usual >= n_bins) return;
    for (size_t bucket = 0; bucket < slopes->n_buckets; bucket++) {
        double *bins = histogram + bucket * n_bins * width, *rest = bins + usual * width;
        for (size_t i = 0; i < width; i++) {
            double others = 0.0;
            for (size_t bin = 0; bin < n_bins; bin++) others += bins[bin * width + i];
            rest[i] += totals[bucket * width + i] - others;
        }
    }
}

/* Gain of one half, and of what it leaves of the bucket. */
static double gain(const double *half, const double *total, size_t n_outputs, double strength) {
    double sum = 0.0;
    for (size_t i = 0; i < n_outputs; i++) {
        const double slope = half[i], curvature = half[n_outputs + i];
        const double other = total[i] - slope, left = total[n_outputs + i] - curvature;
        sum += slope * slope / (curvature + strength) + other * other / (left + strength);
    }
    return sum;
}

void rsk_train_gains(const rsk_train_columns *columns, const rsk_train_slopes *slopes, double *work, double *gains) {
    const size_t n_outputs = slopes->n_outputs, width = 2 * n_outputs;
    double *totals = work, *above = totals + slopes->n_buckets * width, *histogram = above + width;
    memset(totals, 0, slopes->n_buckets * width * sizeof *totals);
    for (size_t row = 0; row < columns->n_rows; row++)
        if (slopes->buckets[row] < slopes->n_buckets)
            add(totals + slopes->buckets[row] * width, slopes->numbers + row * width, width);
    for (uint32_t column = 0; column < columns->n_columns; column++) {
        const size_t n_codes = count_codes(columns, column);
        double *gained = gains + columns->codes[column];
        fill(columns, slopes, column, totals, histogram);
        memset(gained, 0, n_codes * sizeof *gained);
        for (size_t bucket = 0; bucket < slopes->n_buckets; bucket++) {
            const double *total = totals + bucket * width, *bins = histogram + bucket * (n_codes + 1) * width;
            memset(above, 0, width * sizeof *above);
            for (size_t code = n_codes; code-- > 0;) {
                const double *bin = bins + code * width;
                if (!columns->is_category[column])
                    for (size_t i = 0; i < width; i++) above[i] += bin[width + i];
                gained[code] += gain(columns->is_category[column] ? bin : above, total, n_outputs, slopes->strength);
            }
        }
    }
}

/* The best change of one counter: a Newton step, shortened, and rounded to the grid. */
static double change(const rsk_train_fit *fit, double value, double wanted, double slope, double curvature) {
    double step = (slope + fit->strength * (value - wanted)) / (curvature + fit->strength);
    step = step < -fit->longest ? -fit->longest : step > fit->longest ? fit->longest : step;
    if (fit->grid <= 0.0) return -step;
    double steps = rint((value - step) / fit->grid);
    steps = steps < -fit->largest ? -fit->largest : steps > fit->largest ? fit->largest : steps;
    return steps * fit->grid - value;
}

void rsk_train_fit_rows(const rsk_train_fit *fit, const uint8_t *buckets, const double *wanted, double *values,
                        double *outputs, double *slope, const double *curvature, double *work) {
    const size_t width = fit->n_outputs, cells = fit->n_buckets * width;
    double *slopes = work, *curvatures = work + cells; /* of the buckets; the slopes become changes */
    for (uint32_t row = 0; row < fit->n_rows; row++, buckets += fit->n_data, wanted += cells, values += cells) {
        memset(work, 0, 2 * cells * sizeof *work);
        for (size_t i = 0; i < fit->n_data; i++)
            for (size_t c = 0; c < width; c++) {
                slopes[buckets[i] * width + c] += slope[i * width + c];
                curvatures[buckets[i] * width + c] += curvature[i * width + c];
            }
        for (size_t cell = 0; cell < cells; cell++) {
            slopes[cell] = change(fit, values[cell], wanted[cell], slopes[cell], curvatures[cell]);
            values[cell] += slopes[cell];
        }
        for (size_t i = 0; i < fit->n_data; i++)
            for (size_t c = 0; c < width; c++) {
                const double moved = slopes[buckets[i] * width + c];
                outputs[i * width + c] += moved;
                slope[i * width + c] += curvature[i * width + c] * moved;
            }
    }
}
