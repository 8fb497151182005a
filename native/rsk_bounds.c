/* rsk_bounds.c: the reader refuses a sketch whose integer sums could leave 32 bits.
 *
 * docs/spec/inference.md, *Bounds of the int precision*. Nothing here can wrap in 64 bits: values and coordinates are
 * at most 2^15, entries of projections and decode matrices below 2^7, of linear terms and counters below 2^15; there
 * are at most 2^20 coordinates and 2^16 rows. So a projected sum is below 2^42 + 2^31, times a multiplier below 2^58; a
 * linear sum is at most 2^50, a code's 2^44 + 2^31, a sum of a stage below 2^50 + 2^31. Sums of counters are given up
 * once above 2^31 - 1.
 */
#include "rsk_bytes.h"
#include "rsk_check.h"

enum { LARGEST_INT = 0x7FFFFFFF, TILE = 64 };

static uint32_t size_at(const uint8_t *bytes, uint64_t index, uint32_t bits) {
    const int32_t number = rsk_packed_signed(bytes, index, bits);
    return (uint32_t)(number < 0 ? -number : number);
}

/* Sizes of a matrix (n_rows, n_columns) summed over its rows, for up to TILE columns from `first` on. */
static uint32_t sum_columns(const uint8_t *matrix, uint32_t bits, uint32_t n_rows, uint32_t n_columns, uint32_t first,
                            uint64_t sums[TILE]) {
    const uint32_t n = n_columns - first < TILE ? n_columns - first : TILE;
    memset(sums, 0, TILE * sizeof sums[0]);
    for (uint32_t i = 0; i < n_rows; i++)
        for (uint32_t j = 0; j < n; j++) sums[j] += size_at(matrix, (uint64_t)i * n_columns + first + j, bits);
    return n;
}

static uint64_t largest_value(const rsk_model *m, bool has_numeric) {
    if (!has_numeric) return 1;
    const int32_t low = m->low < 0 ? -m->low : m->low, high = m->high < 0 ? -m->high : m->high;
    return (uint64_t)(low > high ? low : high) + (m->flags & RSK_ACCEPTS_MISSING ? 1 : 0);
}

static uint64_t largest_coordinate(const rsk_model *m, bool has_numeric) {
    return rsk_has_matrix(m) || rsk_has_stages(m) ? rsk_projected_largest(m) : largest_value(m, has_numeric);
}

/* The sum as the largest one, if it is; refused where 32 bits do not hold it. */
static rsk_status keep_largest(uint64_t sum, uint32_t *largest) {
    RSK_REFUSE_IF(sum > LARGEST_INT, OVERFLOW);
    if (sum > *largest) *largest = (uint32_t)sum;
    return RSK_OK;
}

rsk_status rsk_bounds_check_model(const rsk_model *m, bool has_numeric, uint32_t *largest) {
    uint64_t sums[TILE];
    const uint64_t value = largest_value(m, has_numeric), coordinate = largest_coordinate(m, has_numeric);
    const uint32_t bits = m->projection == RSK_PROJECTION_INT8 ? 8 : 2;
    for (uint32_t first = 0; rsk_has_matrix(m) && first < m->n_components; first += TILE) {
        const uint32_t n = sum_columns(m->projection_matrix, bits, m->n_values, m->n_components, first, sums);
        for (uint32_t j = 0; j < n; j++) {
            const size_t component = first + j;
            const int64_t shift = m->shift == NULL ? 0 : rsk_i32(m->shift + 4 * component);
            const uint64_t multiplier = m->multipliers == NULL ? 1 : rsk_u16(m->multipliers + 2 * component);
            const uint64_t bound = (uint64_t)(shift < 0 ? -shift : shift) + value * sums[j];
            RSK_REFUSE_IF(bound * multiplier > LARGEST_INT, OVERFLOW);
        }
    }
    for (uint32_t first = 0; m->linear_matrix != NULL && first < m->n_outputs; first += TILE) {
        const uint32_t n = sum_columns(m->linear_matrix, rsk_linear_bits(m), m->n_components, m->n_outputs, first, sums);
        for (uint32_t j = 0; j < n; j++) RSK_TRY(keep_largest(coordinate * sums[j], largest));
    }
    return RSK_OK;
}

/* Columns of a sparse matrix that are summed up together: more of them take several passes over its bitmap. */
enum { SPARSE_TILE = 1024 };

/* Ones among bits from .. to - 1. */
static uint64_t count_ones(const uint8_t *bitmap, uint64_t from, uint64_t to) {
    uint64_t n = 0;
    for (; from < to && from % 8 != 0; from++) n += rsk_bitmap_has(bitmap, from);
    for (; from + 32 <= to; from += 32) n += rsk_ones_count(rsk_u32(bitmap + from / 8));
    for (; from < to; from++) n += rsk_bitmap_has(bitmap, from);
    return n;
}

/* Sizes of a sparse matrix summed over its rows, for n columns from `first` on; sums stay below 2^27. */
static void sum_sparse_columns(const rsk_stage *s, uint32_t first, uint32_t n, uint32_t *sums) {
    const uint8_t *entries = s->entries + rsk_bitmap_nbytes(s);
    const uint32_t bits = rsk_stage_bits(s);
    uint64_t passed = 0;
    memset(sums, 0, n * sizeof sums[0]);
    for (uint32_t i = 0; i < s->n_inputs; i++) {
        const uint64_t row = (uint64_t)i * s->n_components, begin = row + first;
        passed += count_ones(s->entries, row, begin);
        for (uint32_t j = 0; j < n; j++)
            if (rsk_bitmap_has(s->entries, begin + j)) sums[j] += size_at(entries, passed++, bits);
        passed += count_ones(s->entries, begin + n, row + s->n_components);
    }
}

/* The sum behind coordinate j, whose entries have this sum of sizes, and all that is added to it. */
static rsk_status check_stage_sum(const rsk_stage *s, uint64_t input, uint32_t j, uint64_t size) {
    const int32_t shift = rsk_i8(s->coordinates + s->n_components + j);
    const uint64_t moved = (uint64_t)(shift < 0 ? -shift : shift) << s->shift_bits;
    const uint64_t half = ((uint64_t)1 << s->right_shift) >> 1;
    RSK_REFUSE_IF(input * s->coordinates[j] * size + half + moved > LARGEST_INT, OVERFLOW);
    return RSK_OK;
}

rsk_status rsk_bounds_check_stage(const rsk_model *m, uint32_t index, bool has_numeric, uint32_t *largest) {
    const rsk_stage *s = m->stages + index;
    const uint64_t input = index == 0 ? largest_value(m, has_numeric) : (uint64_t)RSK_LARGEST_ACTIVATION;
    const uint32_t p = s->n_components;
    uint64_t sums[TILE];
    for (uint32_t first = 0; rsk_stage_is_sparse(s) && first < p; first += SPARSE_TILE) {
        uint32_t sizes[SPARSE_TILE];
        const uint32_t n = p - first < SPARSE_TILE ? p - first : SPARSE_TILE;
        sum_sparse_columns(s, first, n, sizes);
        for (uint32_t j = 0; j < n; j++) RSK_TRY(check_stage_sum(s, input, first + j, sizes[j]));
    }
    for (uint32_t first = 0; !rsk_stage_is_sparse(s) && first < p; first += TILE) {
        const uint32_t n = sum_columns(s->entries, rsk_stage_bits(s), s->n_inputs, p, first, sums);
        for (uint32_t j = 0; j < n; j++) RSK_TRY(check_stage_sum(s, input, first + j, sums[j]));
    }
    for (uint32_t first = 0; s->linear != NULL && first < m->n_outputs; first += TILE) {
        const uint32_t n = sum_columns(s->linear + 4 * (size_t)s->n_gains, 8, p, m->n_outputs, first, sums);
        for (uint32_t c = 0; c < n; c++) RSK_TRY(keep_largest(s->limit * sums[c], largest));
    }
    return RSK_OK;
}

/* Numbers handled together. Without a heap the decoded sums of more than OUTPUTS outputs take several passes, each
 * over all counters where there are more than FACTORS factors: at most 64 passes, and none of it in common sketches. */
enum { FACTORS = 512, OUTPUTS = 1024 };

/* Largest size of n counters. */
static uint32_t largest_size(const uint8_t *counters, uint64_t first, uint32_t n, uint32_t bits) {
    int32_t low = 0, high = 0;
    for (uint32_t i = 0; i < n; i++) {
        const int32_t number = rsk_packed_signed(counters, first + i, bits);
        if (number < low) low = number;
        if (number > high) high = number;
    }
    return (uint32_t)(high > -low ? high : -low);
}

/* Largest sizes over the buckets of a row of numbers first .. first + n - 1, as they are added up. */
static void find_row_sizes(const rsk_row_group *p, uint32_t row, uint32_t first, uint32_t n, uint32_t *sizes) {
    const uint32_t bits = rsk_counter_bits(p), shift = rsk_has_flag(p, RSK_INTERPOLATED) ? p->width_bits : 0;
    if (p->n_numbers == 1) {
        sizes[0] = largest_size(p->counters, (uint64_t)row * p->n_buckets, p->n_buckets, bits) << shift;
        return;
    }
    memset(sizes, 0, n * sizeof sizes[0]);
    for (uint32_t bucket = 0; bucket < p->n_buckets; bucket++) {
        const uint64_t start = ((uint64_t)row * p->n_buckets + bucket) * p->n_numbers + first;
        for (uint32_t k = 0; k < n; k++) {
            const uint32_t size = size_at(p->counters, start + k, bits);
            if (size > sizes[k]) sizes[k] = size;
        }
    }
    for (uint32_t k = 0; k < n; k++) sizes[k] <<= shift; /* at most 2^30 */
}

/* The bounds A_k of accumulators k = first .. first + n - 1. */
static rsk_status sum_row_sizes(const rsk_row_group *p, uint32_t first, uint32_t n, uint32_t *sums) {
    uint32_t sizes[FACTORS];
    memset(sums, 0, n * sizeof sums[0]);
    for (uint32_t row = 0; row < p->n_rows; row++) {
        find_row_sizes(p, row, first, n, sizes);
        for (uint32_t k = 0; k < n; k++) {
            sums[k] += sizes[k];
            RSK_REFUSE_IF(sums[k] > LARGEST_INT, OVERFLOW);
        }
    }
    return RSK_OK;
}

/* What entries of rows first .. first + n - 1 of the decode matrix are multiplied by at most. */
static rsk_status find_factors(const rsk_row_group *p, uint32_t first, uint32_t n, uint32_t *factors) {
    if (p->decode == RSK_DECODE_ROWS) {
        for (uint32_t i = 0; i < n; i++) find_row_sizes(p, first + i, 0, 1, factors + i);
        return RSK_OK;
    }
    RSK_TRY(sum_row_sizes(p, first, n, factors));
    for (uint32_t i = 0; i < n; i++) factors[i] = (factors[i] >> p->decode_shift) + 1;
    return RSK_OK;
}

static rsk_status add_decoded(const rsk_model *m, const rsk_row_group *p, const uint32_t *factors, uint32_t first,
                              uint32_t n_factors, uint32_t output, uint32_t n_outputs, uint32_t *sums) {
    const uint32_t bits = rsk_decode_bits(p);
    for (uint32_t i = 0; i < n_factors; i++) {
        const uint64_t start = (uint64_t)(first + i) * m->n_outputs + output;
        for (uint32_t c = 0; c < n_outputs; c++) {
            const uint64_t sum = sums[c] + (uint64_t)factors[i] * size_at(p->decode_matrix, start + c, bits);
            RSK_REFUSE_IF(sum > LARGEST_INT, OVERFLOW);
            sums[c] = (uint32_t)sum;
        }
    }
    return RSK_OK;
}

static rsk_status check_decoded_bounds(const rsk_model *m, const rsk_row_group *p, uint32_t *largest) {
    uint32_t factors[FACTORS], sums[OUTPUTS];
    const uint32_t n_factors = p->decode == RSK_DECODE_ROWS ? p->n_rows : p->n_numbers;
    for (uint32_t output = 0; output < m->n_outputs; output += OUTPUTS) {
        const uint32_t n_outputs = m->n_outputs - output < OUTPUTS ? m->n_outputs - output : OUTPUTS;
        memset(sums, 0, sizeof sums);
        for (uint32_t first = 0; first < n_factors; first += FACTORS) {
            const uint32_t n = n_factors - first < FACTORS ? n_factors - first : FACTORS;
            if (output == 0 || n_factors > FACTORS) RSK_TRY(find_factors(p, first, n, factors));
            RSK_TRY(add_decoded(m, p, factors, first, n, output, n_outputs, sums));
        }
        for (uint32_t c = 0; c < n_outputs; c++) RSK_TRY(keep_largest(sums[c], largest));
    }
    return RSK_OK;
}

rsk_status rsk_bounds_check_group(const rsk_model *m, const rsk_row_group *p, bool has_numeric, uint32_t *largest) {
    uint32_t sums[FACTORS];
    const uint64_t coordinate = p->source == RSK_SOURCE_VALUES ? largest_value(m, has_numeric) : largest_coordinate(m, has_numeric);
    RSK_REFUSE_IF(rsk_family_of(p)->largest_sum(p, coordinate) > LARGEST_INT, OVERFLOW);
    if (p->decode != RSK_DECODE_NONE) return check_decoded_bounds(m, p, largest);
    for (uint32_t first = 0; first < p->n_numbers; first += FACTORS) {
        const uint32_t n = p->n_numbers - first < FACTORS ? p->n_numbers - first : FACTORS;
        RSK_TRY(sum_row_sizes(p, first, n, sums));
        for (uint32_t k = 0; k < n; k++) RSK_TRY(keep_largest(sums[k], largest));
    }
    return RSK_OK;
}
