/* rsk_row_group.c: section 3, paragraph 8 of docs/spec/format.md: the groups of rows of a model. */
#include "rsk_family.h"
#include "rsk_hash.h"
#include "rsk_sections.h"

enum { CONCAT_CAP = 4096, LARGEST_WIDTH_BITS = 15 };

static void read_group(const uint8_t *bytes, const rsk_model *m, rsk_row_group *p) {
#define FIELD(name, type, offset) p->name = rsk_##type(bytes + offset);
    RSK_ROW_GROUP_FIELDS(FIELD)
#undef FIELD
    p->n_inputs = p->source == RSK_SOURCE_VALUES ? m->n_values : m->n_components;
}

static bool has_zeros(const uint8_t *bytes) {
#define ZEROS(offset, n) rsk_are_zero(bytes + offset, n) &&
    return RSK_ROW_GROUP_UNUSED(ZEROS) true;
#undef ZEROS
}

static rsk_status check_group_kinds(const uint8_t *bytes, const rsk_model *m, const rsk_row_group *p) {
    const bool is_int = m->precision == RSK_INT;
    const rsk_family *family = rsk_family_find(p->hash);
    RSK_REFUSE_IF(p->source > RSK_LAST_SOURCE, FIELD);
    RSK_REFUSE_IF(p->source == RSK_SOURCE_VALUES && m->projection == RSK_PROJECTION_NONE, FIELD);
    RSK_REFUSE_IF(family == NULL, HASH);
    RSK_REFUSE_IF(p->directions > RSK_LAST_DIRECTION_KIND || (p->directions != 0 && !family->has_directions), FIELD);
    RSK_REFUSE_IF(p->fold > RSK_LAST_FOLD || (p->fold == RSK_UNIVERSAL && rsk_is_pool(p)), FIELD);
    RSK_REFUSE_IF(p->fold == RSK_DIRECT && !family->has_order, FIELD);
    RSK_REFUSE_IF(p->counter_type > RSK_LAST_COUNTER_TYPE, COUNTER_TYPE);
    RSK_REFUSE_IF(is_int && p->counter_type == RSK_COUNTER_FLOAT32, COUNTER_TYPE);
    RSK_REFUSE_IF(p->aggregate > RSK_LAST_AGGREGATE || p->decode > RSK_LAST_DECODE_KIND, FIELD);
    RSK_REFUSE_IF(p->decode_shift > RSK_LARGEST_SHIFT, SHIFT);
    RSK_REFUSE_IF(p->decode_shift != 0 && !(is_int && p->decode == RSK_DECODE_SHARED), FIELD);
    RSK_REFUSE_IF(p->decode_stored_as > RSK_LAST_DECODE_BITS, FIELD);
    RSK_REFUSE_IF(p->decode_stored_as != 0 && !(is_int && p->decode != RSK_DECODE_NONE), FIELD);
    RSK_REFUSE_IF(p->width_bits > LARGEST_WIDTH_BITS, SHIFT);
    RSK_REFUSE_IF(p->width_bits != 0 && !is_int, FIELD);
    RSK_REFUSE_IF(p->flags > RSK_ALL_ROW_GROUP_FLAGS, FLAGS);
    RSK_REFUSE_IF(p->flags != 0 && !rsk_is_pool(p), FIELD);
    RSK_REFUSE_IF(p->n_parameters != family->has_bandwidth, PARAMETER_COUNT);
    RSK_REFUSE_IF(!has_zeros(bytes), PADDING);
    const double none = 0.0; /* all its bits: a negative zero is refused, too */
    RSK_REFUSE_IF(family->has_bandwidth && !(p->width >= 1e-30 && p->width <= 1e30), WIDTH);
    RSK_REFUSE_IF(!family->has_bandwidth && memcmp(&p->width, &none, sizeof none) != 0, FIELD);
    return RSK_OK;
}

static rsk_status check_group_sizes(const rsk_row_group *p) {
    RSK_TRY(rsk_count_check(p->n_rows, RSK_COUNT_CAP));
    RSK_TRY(rsk_count_check(p->n_concat, CONCAT_CAP));
    RSK_TRY(rsk_count_check(p->n_buckets, RSK_COUNT_CAP));
    RSK_TRY(rsk_count_check(p->n_codes, rsk_is_pool(p) ? RSK_COUNT_CAP : UINT32_MAX));
    RSK_TRY(rsk_count_check(p->n_numbers, RSK_COUNT_CAP));
    RSK_TRY(rsk_count_check(p->n_groups, p->n_rows));
    RSK_TRY(rsk_count_check(p->n_gains, RSK_COUNT_CAP));
    RSK_REFUSE_IF(p->n_buckets < 2, SIZE_ZERO);
    return RSK_OK;
}

static rsk_status check_levels(const rsk_row_group *p) {
    RSK_REFUSE_IF(p->n_levels < 2 || (rsk_has_bits(p) && p->n_levels != 2), BUCKETS);
    uint64_t power = 1;
    for (uint32_t k = 0; k < p->n_concat && power <= p->n_buckets; k++) power *= p->n_levels;
    RSK_REFUSE_IF(power != p->n_buckets, BUCKETS);
    return RSK_OK;
}

static rsk_status check_own(const rsk_row_group *p) {
    RSK_REFUSE_IF(p->n_codes != p->n_rows * p->n_concat, SIZE_MISMATCH); /* at most 2^28 */
    RSK_REFUSE_IF(p->n_axes != 0 || p->n_nonzeros != 0 || p->threshold_nbytes != 0 || p->bias_scale != 0, FIELD);
    if (p->fold == RSK_DIRECT) return check_levels(p);
    RSK_REFUSE_IF(p->n_levels != 0, FIELD);
    return RSK_OK;
}

static rsk_status check_bias_scale(const rsk_model *m, const rsk_row_group *p) {
    if (m->precision == RSK_INT) {
        RSK_REFUSE_IF(p->bias_scale > RSK_LARGEST_INT16, SCALE);
    } else {
        const float bias_scale = rsk_float_of(p->bias_scale);
        RSK_REFUSE_IF(!(bias_scale >= 0.0f && bias_scale <= 0x1p40f), SCALE);
    }
    RSK_REFUSE_IF(p->bias_scale != 0 && !(rsk_has_flag(p, RSK_SEEDED) && rsk_has_bits(p)), FIELD);
    return RSK_OK;
}

static rsk_status check_pool(const rsk_model *m, const rsk_row_group *p) {
    const bool is_int = m->precision == RSK_INT, is_stored = rsk_family_of(p)->is_stored;
    RSK_TRY(check_levels(p));
    RSK_REFUSE_IF(p->n_axes > p->n_codes || p->n_axes > p->n_inputs, FIELD);
    if (rsk_family_of(p)->most_nonzeros != 0 && !is_stored) {
        RSK_REFUSE_IF(p->n_nonzeros < 1 || p->n_nonzeros > rsk_family_of(p)->most_nonzeros, FIELD);
    } else {
        RSK_REFUSE_IF(p->n_nonzeros != 0, FIELD);
    }
    if (is_stored) {
        RSK_REFUSE_IF(p->n_axes != 0 || (p->flags & ~(uint32_t)RSK_HAS_INDICES) != 0, FIELD);
        RSK_REFUSE_IF(!is_int && p->threshold_nbytes != 4, FIELD);
        RSK_REFUSE_IF(is_int && p->threshold_nbytes != 1 && p->threshold_nbytes != 2, FIELD);
    } else {
        RSK_REFUSE_IF(p->threshold_nbytes != 0, FIELD);
    }
    RSK_REFUSE_IF(rsk_has_bits(p) && rsk_has_flag(p, RSK_NORMALISED | RSK_INTERPOLATED), FIELD);
    RSK_REFUSE_IF(rsk_has_flag(p, RSK_INTERPOLATED) && p->n_concat != 1, FIELD);
    RSK_REFUSE_IF(is_int && !rsk_has_bits(p) && !rsk_has_flag(p, RSK_SEEDED) && p->width_bits == 0, SHIFT);
    RSK_TRY(check_bias_scale(m, p));
    RSK_REFUSE_IF(!rsk_has_flag(p, RSK_HAS_INDICES) && p->n_codes != p->n_rows * p->n_concat, SIZE_MISMATCH);
    return RSK_OK;
}

static rsk_status check_reading(const rsk_model *m, const rsk_row_group *p) {
    RSK_REFUSE_IF(p->decode == RSK_DECODE_NONE && p->n_numbers != m->n_outputs, SIZE_MISMATCH);
    RSK_REFUSE_IF(p->decode == RSK_DECODE_ROWS && p->n_numbers != 1, SIZE_MISMATCH);
    RSK_REFUSE_IF(p->n_gains != 1 && p->n_gains != m->n_outputs, SIZE_MISMATCH);
    RSK_REFUSE_IF(p->aggregate != RSK_MEDIAN_OF_MEANS && p->n_groups != 1, FIELD);
    RSK_REFUSE_IF(p->aggregate == RSK_MEDIAN_OF_MEANS && p->decode != RSK_DECODE_NONE, FIELD);
    RSK_REFUSE_IF(m->precision == RSK_INT && p->n_rows % p->n_groups != 0, FIELD);
    return RSK_OK;
}

static rsk_status check_group_arrays(rsk_reader *r, uint32_t base, const rsk_model *m, rsk_row_group *p) {
    const bool is_int = m->precision == RSK_INT;
    const uint64_t n_counters = (uint64_t)p->n_rows * p->n_buckets * p->n_numbers;
    const uint64_t n_decode = (uint64_t)(p->decode == RSK_DECODE_ROWS ? p->n_rows : p->n_numbers) * m->n_outputs;
    if (rsk_has_flag(p, RSK_HAS_INDICES))
        RSK_TRY(rsk_indices_take(r, base + INDICES, (uint64_t)p->n_rows * p->n_concat, p->n_codes, false, &p->indices));
    if (rsk_family_of(p)->is_stored) {
        RSK_TRY(rsk_indices_take(r, base + CODE_COLUMNS, p->n_codes, p->n_inputs, false, &p->code_columns));
        if (is_int)
            RSK_TRY(rsk_ints_take(r, base + THRESHOLDS, p->n_codes, 8u * p->threshold_nbytes, &p->thresholds));
        else
            RSK_TRY(rsk_floats_take(r, base + THRESHOLDS, p->n_codes, RSK_LARGEST_FINITE, RSK_NOT_FINITE,
                                    &p->thresholds));
    }
    if (p->counter_type == RSK_COUNTER_FLOAT32)
        RSK_TRY(rsk_floats_take(r, base + COUNTERS, n_counters, RSK_LARGEST_FINITE, RSK_NOT_FINITE, &p->counters));
    else
        RSK_TRY(rsk_ints_take(r, base + COUNTERS, n_counters, rsk_counter_bits(p), &p->counters));
    if (p->decode != RSK_DECODE_NONE && is_int)
        RSK_TRY(rsk_ints_take(r, base + DECODE, n_decode, rsk_decode_bits(p), &p->decode_matrix));
    else if (p->decode != RSK_DECODE_NONE)
        RSK_TRY(rsk_floats_take(r, base + DECODE, n_decode, RSK_LARGEST_FINITE, RSK_NOT_FINITE, &p->decode_matrix));
    RSK_TRY(rsk_floats_take(r, base + GAIN, p->n_gains, RSK_LARGEST_FINITE, RSK_NOT_FINITE, &p->gain));
    return rsk_not_zero_check(p->gain, p->n_gains);
}

rsk_status rsk_row_group_check(rsk_reader *r, uint32_t index, const rsk_model *m, rsk_row_group *p) {
    const uint32_t base = RSK_ROW_GROUP_STRIDE * index;
    const uint8_t *f;
    RSK_TRY(rsk_section_take(r, base + ROW_GROUP, RSK_ROW_GROUP_NBYTES, &f));
    read_group(f, m, p);
    RSK_TRY(check_group_kinds(f, m, p));
    RSK_TRY(check_group_sizes(p));
    RSK_TRY(rsk_is_pool(p) ? check_pool(m, p) : check_own(p));
    RSK_TRY(check_reading(m, p));
    RSK_TRY(check_group_arrays(r, base, m, p));
    if (m->precision == RSK_INT)
        RSK_TRY(rsk_bounds_check_group(m, p, r->n_numeric > 0, &r->bounds.accumulators[index]));
    RSK_REFUSE_IF(rsk_digest_find(m, p, r->crc_table) != p->digest, DIGEST);
    return RSK_OK;
}
