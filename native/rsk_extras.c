/* rsk_extras.c: the reader's checks of exact sums and of tables of intervals.
 *
 * docs/spec/format.md, the end of section 3; src/repsketch/io/extras.py is the same in Python.
 */
#include "rsk_bytes.h"
#include "rsk_check.h"

static rsk_status check_sum_sizes(const uint8_t *sums, uint64_t n) {
    const int64_t limit = (int64_t)1 << 62;
    for (uint64_t i = 0; i < n; i++) {
        const int64_t sum = rsk_i64(sums + 8 * i);
        RSK_REFUSE_IF(sum >= limit || sum <= -limit, SUMS);
    }
    return RSK_OK;
}

/* True if float32(value) is this number; not so for values that round to infinity. */
static bool rounds_to(double value, float number) {
    return value > -0x1.ffffffp127 && value < 0x1.ffffffp127 && (float)value == number;
}

/* Probability that the universal fold sends two different tuples to one bucket: exact, a multiple of 2^-32. */
static double collision_rate(const rsk_row_group *p) {
    uint64_t squares = 0;
    uint32_t start = 0;
    for (uint32_t bucket = 1; p->fold == RSK_UNIVERSAL && bucket <= p->n_buckets; bucket++) {
        const uint32_t end = (uint32_t)(((uint64_t)bucket * 65536 + p->n_buckets - 1) / p->n_buckets);
        squares += (uint64_t)(end - start) * (end - start);
        start = end;
    }
    return (double)squares * 0x1p-32;
}

/* The gains and offsets are those that the sums give. */
static rsk_status check_affine(const rsk_model *m, const uint8_t *totals) {
    const rsk_row_group *p = &m->row_groups[0];
    const uint8_t *scales = totals + 8 * (size_t)m->n_outputs, *biases = scales + 8 * (size_t)m->n_outputs;
    const double step = rsk_f64(m->sums), rate = rsk_u32(m->sums + 8) != 0 ? collision_rate(p) : 0.0;
    for (size_t c = 0; c < m->n_outputs; c++) {
        const double gain = rsk_f64(scales + 8 * c) / (1.0 - rate);
        const double collided = gain * rate * ((double)rsk_i64(totals + 8 * c) * step);
        const double offset = rate == 0.0 ? rsk_f64(biases + 8 * c) : rsk_f64(biases + 8 * c) - collided;
        RSK_REFUSE_IF(!rounds_to(gain, rsk_f32(p->gain + (p->n_gains == 1 ? 0 : 4 * c))), SUMS);
        RSK_REFUSE_IF(!rounds_to(offset, rsk_f32(m->offset + 4 * c)), SUMS);
    }
    return RSK_OK;
}

rsk_status rsk_sums_check(const rsk_model *m) {
    const rsk_row_group *p = &m->row_groups[0];
    RSK_REFUSE_IF(m->n_row_groups != 1 || rsk_is_pool(p) || m->precision != RSK_FLOAT32, SUMS);
    RSK_REFUSE_IF(p->counter_type != RSK_COUNTER_FLOAT32 || p->decode != RSK_DECODE_NONE, SUMS);
    const uint64_t n = (uint64_t)p->n_rows * p->n_buckets * p->n_numbers, n_outputs = m->n_outputs;
    RSK_REFUSE_IF(m->sums_nbytes != 16 + 8 * n + 24 * n_outputs, SIZE_MISMATCH);
    const uint64_t step_bits = rsk_u64(m->sums), exponent = step_bits >> 52;
    RSK_REFUSE_IF(step_bits << 12 != 0 || exponent < 1023 - 1000 || exponent > 1023 + 1000, SUMS);
    RSK_REFUSE_IF(rsk_u32(m->sums + 8) > 1, FIELD);
    RSK_REFUSE_IF(rsk_u32(m->sums + 12) != 0, PADDING);
    const uint8_t *sums = m->sums + 16, *affine = sums + 8 * (n + n_outputs);
    RSK_TRY(check_sum_sizes(sums, n + n_outputs));
    for (uint64_t i = 0; i < n; i++) {
        const double value = (double)rsk_i64(sums + 8 * i) * rsk_f64(m->sums);
        const float counter = rsk_f32(p->counters + 4 * i);
        RSK_REFUSE_IF(!rounds_to(value, counter) || rsk_bits_of((float)value) != rsk_bits_of(counter), SUMS);
    }
    for (uint64_t i = 0; i < 2 * n_outputs; i++)
        RSK_REFUSE_IF((rsk_u64(affine + 8 * i) >> 52 & 0x7FF) == 0x7FF, NOT_FINITE);
    return check_affine(m, sums + 8 * n);
}

/* Confidences of a table of intervals, in per cent: docs/spec/format.md, INTERVALS. */
static const uint8_t interval_confidences[] = {50, 55, 60, 65, 70, 75, 80, 85, 90, 92, 94, 95, 96, 97, 98, 99};
enum { N_CONFIDENCES = sizeof interval_confidences, MAX_INTERVAL_BINS = 256 };

/* (n, width) float32 numbers, each line rising; or not falling, from 0 up. */
static rsk_status check_lines(const uint8_t *bytes, uint64_t n, uint32_t width, bool may_repeat) {
    for (uint64_t i = 0; i < n * width; i++)
        RSK_REFUSE_IF((rsk_u32(bytes + 4 * i) & 0x7FFFFFFF) > RSK_LARGEST_FINITE, NOT_FINITE);
    for (uint64_t i = 0; i < n * width; i++) {
        const float number = rsk_f32(bytes + 4 * i);
        if (may_repeat) RSK_REFUSE_IF(number < (i % width == 0 ? 0.0f : rsk_f32(bytes + 4 * (i - 1))), INDEX_ORDER);
        else RSK_REFUSE_IF(i % width != 0 && number <= rsk_f32(bytes + 4 * (i - 1)), INDEX_ORDER);
    }
    return RSK_OK;
}

rsk_status rsk_intervals_check(const rsk_model *m) {
    RSK_REFUSE_IF(m->task == RSK_TASK_CLASSIFICATION, SECTION_UNEXPECTED);
    RSK_REFUSE_IF(m->intervals_nbytes < 8, SIZE_MISMATCH);
    const uint64_t n_rows = rsk_u32(m->intervals), n = m->n_outputs;
    const uint32_t n_confidences = rsk_u16(m->intervals + 4), n_bins = rsk_u16(m->intervals + 6);
    RSK_TRY(rsk_count_check(n_confidences, N_CONFIDENCES));
    RSK_TRY(rsk_count_check(n_bins, MAX_INTERVAL_BINS));
    RSK_REFUSE_IF(((n_rows + 1) * interval_confidences[n_confidences - 1] + 99) / 100 > n_rows, SIZE_MISMATCH);
    RSK_REFUSE_IF(m->intervals_nbytes != 8 + 4 * n * (2 * n_bins - 1 + n_confidences), SIZE_MISMATCH);
    const uint8_t *borders = m->intervals + 8, *scales = borders + 4 * n * (n_bins - 1), *quantiles = scales + 4 * n * n_bins;
    RSK_TRY(check_lines(borders, n, n_bins - 1, false));
    for (uint64_t i = 0; i < n * n_bins; i++) {
        const uint32_t bits = rsk_u32(scales + 4 * i);
        RSK_REFUSE_IF(bits == 0 || bits > RSK_LARGEST_FINITE, SCALE);
    }
    return check_lines(quantiles, n, n_confidences, true);
}
