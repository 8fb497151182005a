/* rsk_magnitudes.c: the reader refuses stored magnitudes from which outputs could become infinite.
 *
 * docs/spec/inference.md, *Bounds of magnitudes*; src/repsketch/model/magnitudes.py is the same in Python. Largest
 * sizes do not depend on an order, and the few float64 operations have the one of the page: readers agree to the bit.
 */
#include "rsk_bytes.h"
#include "rsk_check.h"

static const double LARGEST_MAGNITUDE = 0x1p126, LARGEST_COORDINATE = 0x1p64;

static double largest_float(const uint8_t *floats, uint64_t n) {
    uint32_t largest = 0; /* without signs, the bits of floats are in the order of their sizes */
    for (uint64_t i = 0; i < n; i++) {
        const uint32_t size = rsk_u32(floats + 4 * i) & 0x7FFFFFFFu;
        if (size > largest) largest = size;
    }
    return rsk_float_of(largest);
}

static double largest_int(const uint8_t *numbers, uint64_t n, uint32_t bits) {
    int32_t largest = 0;
    for (uint64_t i = 0; i < n; i++) {
        const int32_t number = rsk_packed_signed(numbers, i, bits), size = number < 0 ? -number : number;
        if (size > largest) largest = size;
    }
    return largest;
}

static double largest_offset(const rsk_model *m) {
    uint32_t largest = 0;
    for (uint32_t c = 0; c < m->n_outputs; c++) {
        const uint32_t size = rsk_offset_bits(m, c) & 0x7FFFFFFFu;
        if (size > largest) largest = size;
    }
    return rsk_float_of(largest);
}

/* Largest accumulator of a group of rows in the float32 precision. */
static rsk_status find_accumulator(const rsk_model *m, const rsk_row_group *p, double *accumulator) {
    const uint64_t n_counters = (uint64_t)p->n_rows * p->n_buckets * p->n_numbers;
    const uint64_t n_decode = (uint64_t)(p->decode == RSK_DECODE_ROWS ? p->n_rows : p->n_numbers) * m->n_outputs;
    const double decode = p->decode == RSK_DECODE_NONE ? 1.0 : largest_float(p->decode_matrix, n_decode);
    double read = p->counter_type == RSK_COUNTER_FLOAT32 ? largest_float(p->counters, n_counters)
                                                         : largest_int(p->counters, n_counters, rsk_counter_bits(p));
    if (rsk_has_flag(p, RSK_INTERPOLATED)) read = read * 3.0;
    RSK_REFUSE_IF(read > LARGEST_MAGNITUDE, MAGNITUDE);
    if (p->decode == RSK_DECODE_ROWS) read = read * decode;
    const double sum = (double)p->n_rows * read;
    RSK_REFUSE_IF(sum > LARGEST_MAGNITUDE, MAGNITUDE);
    *accumulator = p->aggregate == RSK_SUM ? sum : read;
    if (p->decode == RSK_DECODE_SHARED) *accumulator = *accumulator * (double)p->n_numbers * decode;
    RSK_REFUSE_IF(*accumulator > LARGEST_MAGNITUDE, MAGNITUDE);
    return RSK_OK;
}

rsk_status rsk_magnitudes_check(const rsk_model *m, const rsk_sum_bounds *bounds) {
    double output = largest_offset(m);
    for (uint32_t i = 0; i < m->n_row_groups; i++) {
        const rsk_row_group *p = m->row_groups + i;
        double accumulator = (double)bounds->accumulators[i];
        if (m->precision == RSK_FLOAT32) RSK_TRY(find_accumulator(m, p, &accumulator));
        output = output + accumulator * largest_float(p->gain, p->n_gains);
    }
    if (m->linear == RSK_LINEAR_FLOAT32) {
        const double slope = largest_float(m->linear_matrix, (uint64_t)m->n_components * m->n_outputs);
        output = output + (double)m->n_components * LARGEST_COORDINATE * slope;
    } else if (m->linear != RSK_LINEAR_NONE) {
        output = output + (double)bounds->linear * largest_float(m->linear_gain, m->n_linear_gains);
    }
    for (uint32_t i = 0; i < m->n_stages; i++) {
        const rsk_stage *s = m->stages + i;
        if (s->linear != NULL) output = output + (double)bounds->stages[i] * largest_float(s->linear, s->n_gains);
    }
    RSK_REFUSE_IF(output > LARGEST_MAGNITUDE, MAGNITUDE);
    return RSK_OK;
}
