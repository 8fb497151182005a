/* rsk_file.c: rsk_open, the C reader of .rsk files.
 *
 * docs/spec/format.md is the specification; the checks are made in its order, one function a paragraph, so that
 * this reader and src/repsketch/io give the same status to the same bad file. Nothing in the file is trusted:
 * sizes are computed in 64 bits (the caps keep every product below 2^60), and no byte is read before the length of its
 * section is known to be right.
 */
#include "rsk_sections.h"

enum {
    FILE_CAP = 64 << 20,
    COORDINATES_CAP = 1 << 20 /* columns and values too */
};
enum { TWO_TO_40 = 0x53800000 }; /* bits of a float32 number */

const char *rsk_status_text(rsk_status status) {
    switch (status) {
#define RSK_STATUS(name, number, text) \
    case RSK_##name:                   \
        return text;
#include "rsk_status.def"
#undef RSK_STATUS
    }
    return "unknown status";
}

/* ---- section 3, paragraph 1: MODEL ---- */

static void read_model(const uint8_t *bytes, rsk_model *m) {
#define FIELD(name, type, offset) m->name = rsk_##type(bytes + offset);
    RSK_MODEL_FIELDS(FIELD)
#undef FIELD
}

static bool has_zeros(const uint8_t *bytes) {
#define ZEROS(offset, n) rsk_are_zero(bytes + offset, n) &&
    return RSK_MODEL_UNUSED(ZEROS) true;
#undef ZEROS
}

static rsk_status check_precision(const rsk_model *m) {
    const bool has_multipliers = (m->flags & RSK_HAS_MULTIPLIERS) != 0;
    if (m->precision == RSK_FLOAT32) {
        RSK_REFUSE_IF(m->right_shift != 0 || m->low != 0 || m->high != 0 || m->limit != 0 || has_multipliers, FIELD);
        RSK_REFUSE_IF(m->linear > RSK_LINEAR_FLOAT32 || m->offset_stored_as != RSK_OFFSET_FLOAT32, FIELD);
        RSK_REFUSE_IF(rsk_has_stages(m), FIELD);
        return RSK_OK;
    }
    RSK_REFUSE_IF(m->projection == RSK_PROJECTION_SHIFT || m->projection == RSK_PROJECTION_FLOAT32, FIELD);
    RSK_REFUSE_IF(m->linear == RSK_LINEAR_FLOAT32, FIELD);
    RSK_REFUSE_IF(m->low >= m->high || m->low < -RSK_LARGEST_INT16, FIELD);
    if (rsk_has_matrix(m)) {
        RSK_REFUSE_IF(m->limit == 0 || m->limit > RSK_LARGEST_INT16, SHIFT);
    } else {
        RSK_REFUSE_IF(m->limit != 0 || m->right_shift != 0 || has_multipliers, FIELD);
    }
    return RSK_OK;
}

static rsk_status check_float8_bias(const rsk_model *m, int8_t bias) {
    RSK_REFUSE_IF(bias != 0 && (m->stored_as != RSK_STORED_FLOAT8 || bias < -126 || bias > 100), FIELD);
    return RSK_OK;
}

static rsk_status check_model(rsk_reader *r, rsk_model *m) {
    const uint8_t *f;
    RSK_TRY(rsk_section_take(r, MODEL, RSK_MODEL_NBYTES, &f));
    read_model(f, m);
    RSK_REFUSE_IF(m->precision > RSK_LAST_PRECISION, FIELD);
    RSK_REFUSE_IF(m->generator != RSK_GENERATOR_VERSION, GENERATOR);
    RSK_REFUSE_IF(m->task > RSK_LAST_TASK, FIELD);
    RSK_REFUSE_IF(m->n_row_groups == 0 && !(rsk_has_stages(m) && m->linear != RSK_LINEAR_NONE), SIZE_ZERO);
    RSK_REFUSE_IF(m->n_row_groups > RSK_MAX_ROW_GROUPS, SIZE_CAP);
    RSK_REFUSE_IF(m->projection > RSK_LAST_PROJECTION_KIND, FIELD);
    RSK_REFUSE_IF(m->right_shift > RSK_LARGEST_SHIFT, SHIFT);
    RSK_REFUSE_IF(m->linear > RSK_LAST_LINEAR_TYPE || m->stored_as > RSK_LAST_STORED_AS, FIELD);
    RSK_TRY(rsk_count_check(m->n_features, COORDINATES_CAP));
    RSK_TRY(rsk_count_check(m->n_columns, COORDINATES_CAP));
    RSK_TRY(rsk_count_check(m->n_values, COORDINATES_CAP));
    RSK_TRY(rsk_count_check(m->n_components, COORDINATES_CAP));
    RSK_TRY(rsk_count_check(m->n_outputs, RSK_COUNT_CAP));
    RSK_REFUSE_IF(m->kinds > RSK_LAST_KINDS, FIELD);
    RSK_REFUSE_IF(m->flags > RSK_ALL_MODEL_FLAGS, FLAGS);
    RSK_REFUSE_IF(m->offset_stored_as > RSK_OFFSET_NONE, FIELD);
    RSK_REFUSE_IF(m->n_stages != 0 && !rsk_has_stages(m), FIELD);
    if (rsk_has_stages(m)) RSK_TRY(rsk_count_check(m->n_stages, RSK_MAX_STAGES));
    RSK_REFUSE_IF(!has_zeros(f), PADDING);
    RSK_REFUSE_IF(m->n_classes > RSK_COUNT_CAP, SIZE_CAP);
    RSK_REFUSE_IF(m->n_classes != 0 && m->n_classes != (m->n_outputs < 2 ? 2 : m->n_outputs), CLASS_COUNT);
    RSK_REFUSE_IF(m->n_classes != 0 && m->task != RSK_TASK_CLASSIFICATION, CLASS_COUNT);
    RSK_TRY(check_precision(m));
    const bool has_shift = (m->flags & RSK_HAS_SHIFT) != 0, has_columns = (m->flags & RSK_HAS_COLUMNS) != 0;
    RSK_REFUSE_IF(m->projection == RSK_PROJECTION_SHIFT && !has_shift, FIELD);
    RSK_REFUSE_IF((m->projection == RSK_PROJECTION_NONE || rsk_has_stages(m)) && has_shift, FIELD);
    RSK_REFUSE_IF(m->projection <= RSK_PROJECTION_SHIFT && m->n_components != m->n_values, SIZE_MISMATCH);
    if (m->linear >= RSK_LINEAR_INT16) {
        RSK_REFUSE_IF(m->n_linear_gains != 1 && m->n_linear_gains != m->n_outputs, SIZE_MISMATCH);
    } else {
        RSK_REFUSE_IF(m->n_linear_gains != 0, SIZE_MISMATCH);
    }
    RSK_REFUSE_IF(has_columns ? m->n_columns > m->n_features : m->n_columns != m->n_features, SIZE_MISMATCH);
    RSK_TRY(check_float8_bias(m, m->center_bias));
    return check_float8_bias(m, m->scale_bias);
}

/* ---- paragraphs 2 to 4: columns ---- */

static rsk_status check_kinds(rsk_reader *r, rsk_model *m) {
    uint64_t n_values = m->n_columns;
    r->n_numeric = m->kinds == RSK_KINDS_NUMERIC ? m->n_columns : 0;
    if (m->kinds == RSK_KINDS_MIXED) {
        RSK_TRY(rsk_section_take(r, KINDS, 2 * (uint64_t)m->n_columns, &m->column_kinds));
        n_values = 0;
        for (uint32_t i = 0; i < m->n_columns; i++) {
            const uint16_t kind = rsk_u16(m->column_kinds + 2 * (size_t)i);
            r->n_numeric += kind == 0;
            n_values += kind == 0 ? 1 : kind;
        }
    }
    RSK_REFUSE_IF(n_values != m->n_values, SIZE_MISMATCH);
    return RSK_OK;
}

static rsk_status check_scaler(rsk_reader *r, const rsk_model *m, uint32_t type, uint32_t n, const uint8_t **bytes) {
    static const uint8_t nbytes[] = {4, 2, 1};
    const int8_t bias = type == CENTERS ? m->center_bias : m->scale_bias;
    RSK_TRY(rsk_section_take(r, type, nbytes[m->stored_as] * (uint64_t)n, bytes));
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t bits = rsk_stored_bits(*bytes, i, m->stored_as, bias);
        RSK_REFUSE_IF((bits & 0x7FFFFFFFu) > RSK_LARGEST_FINITE, SCALER);
        RSK_REFUSE_IF(type == SCALES && (bits == 0 || bits >> 31 != 0), SCALER);
    }
    return RSK_OK;
}

static rsk_status check_columns(rsk_reader *r, rsk_model *m) {
    if (m->flags & RSK_HAS_COLUMNS)
        RSK_TRY(rsk_indices_take(r, COLUMNS, m->n_columns, m->n_features, true, &m->columns));
    RSK_TRY(check_kinds(r, m));
    RSK_REFUSE_IF(m->n_centers > 1 && m->n_centers != r->n_numeric, SCALER);
    RSK_REFUSE_IF(m->n_scales > 1 && m->n_scales != r->n_numeric, SCALER);
    RSK_REFUSE_IF(r->n_numeric == 0 && (m->n_centers != 0 || m->n_scales != 0), SCALER);
    RSK_TRY(check_scaler(r, m, CENTERS, m->n_centers, &m->centers));
    return check_scaler(r, m, SCALES, m->n_scales, &m->scales);
}

/* ---- paragraphs 5 and 6: projection, linear term, offset ---- */

static rsk_status check_projection(rsk_reader *r, rsk_model *m) {
    const uint64_t n = (uint64_t)m->n_values * m->n_components, p = m->n_components;
    const bool is_int_matrix = m->projection == RSK_PROJECTION_INT8 || m->projection == RSK_PROJECTION_TERNARY;
    if (m->projection == RSK_PROJECTION_FLOAT32)
        RSK_TRY(rsk_floats_take(r, PROJECTION, n, TWO_TO_40, RSK_NOT_FINITE, &m->projection_matrix));
    else if (is_int_matrix)
        RSK_TRY(rsk_ints_take(r, PROJECTION, n, m->projection == RSK_PROJECTION_INT8 ? 8 : 2, &m->projection_matrix));
    if ((m->flags & RSK_HAS_SHIFT) && m->precision == RSK_FLOAT32)
        RSK_TRY(rsk_floats_take(r, SHIFT, p, TWO_TO_40, RSK_NOT_FINITE, &m->shift));
    else if (m->flags & RSK_HAS_SHIFT)
        RSK_TRY(rsk_section_take(r, SHIFT, 4 * p, &m->shift));
    if (m->flags & RSK_HAS_MULTIPLIERS) {
        RSK_TRY(rsk_section_take(r, MULTIPLIERS, 2 * p, &m->multipliers));
        for (uint64_t j = 0; j < p; j++) RSK_REFUSE_IF(rsk_i16(m->multipliers + 2 * j) <= 0, SCALE);
    }
    if (is_int_matrix && m->precision == RSK_FLOAT32) {
        RSK_TRY(rsk_floats_take(r, PROJECTION_SCALES, p, TWO_TO_40, RSK_SCALE, &m->projection_scales));
        RSK_TRY(rsk_not_zero_check(m->projection_scales, p));
    }
    for (uint32_t i = 0; i < m->n_stages; i++) RSK_TRY(rsk_stage_check(r, i, m));
    return RSK_OK;
}

static rsk_status check_offset(rsk_reader *r, rsk_model *m) {
    const uint32_t nbytes = m->offset_stored_as == RSK_OFFSET_FLOAT32 ? 4 : 2;
    if (m->offset_stored_as == RSK_OFFSET_NONE) return RSK_OK;
    RSK_TRY(rsk_section_take(r, OFFSET, (uint64_t)nbytes * m->n_outputs, &m->offset));
    for (uint32_t c = 0; c < m->n_outputs; c++) {
        const uint32_t bits = rsk_offset_bits(m, c);
        RSK_REFUSE_IF((bits & 0x7FFFFFFFu) > RSK_LARGEST_FINITE, NOT_FINITE);
    }
    return RSK_OK;
}

static rsk_status check_outputs(rsk_reader *r, rsk_model *m) {
    const uint64_t n = (uint64_t)m->n_components * m->n_outputs;
    if (m->linear == RSK_LINEAR_FLOAT32)
        RSK_TRY(rsk_floats_take(r, LINEAR, n, TWO_TO_40, RSK_NOT_FINITE, &m->linear_matrix));
    else if (m->linear != RSK_LINEAR_NONE)
        RSK_TRY(rsk_ints_take(r, LINEAR, n, rsk_linear_bits(m), &m->linear_matrix));
    RSK_TRY(rsk_floats_take(r, LINEAR_GAIN, m->n_linear_gains, RSK_LARGEST_FINITE, RSK_SCALE, &m->linear_gain));
    RSK_TRY(rsk_not_zero_check(m->linear_gain, m->n_linear_gains));
    return check_offset(r, m);
}

/* ---- paragraph 12: the other sections ---- */

static rsk_status check_optional(const rsk_reader *r, rsk_model *m) {
    m->classes = rsk_section_find(r, CLASSES, &m->classes_nbytes);
    m->names = rsk_section_find(r, NAMES, &m->names_nbytes);
    m->sums = rsk_section_find(r, SUMS, &m->sums_nbytes);
    m->metadata = rsk_section_find(r, METADATA, &m->metadata_nbytes);
    m->categories = rsk_section_find(r, CATEGORIES, &m->categories_nbytes);
    m->intervals = rsk_section_find(r, INTERVALS, &m->intervals_nbytes);
    RSK_REFUSE_IF((m->classes != NULL) != (m->n_classes > 0), CLASS_COUNT);
    if (m->classes != NULL) RSK_TRY(rsk_classes_check(m->classes, m->classes_nbytes, m->n_classes));
    if (m->names != NULL)
        RSK_TRY(rsk_table_check(m->names, m->names_nbytes, m->n_features, RSK_NAME_COUNT, RSK_NAME_DUPLICATE));
    if (m->sums != NULL) RSK_TRY(rsk_sums_check(m));
    if (m->metadata != NULL) RSK_TRY(rsk_metadata_check(m->metadata, m->metadata_nbytes));
    if (m->categories != NULL)
        RSK_TRY(rsk_categories_check(m->categories, m->categories_nbytes, m->column_kinds,
                                     m->column_kinds == NULL ? 0 : m->n_columns));
    if (m->intervals != NULL) RSK_TRY(rsk_intervals_check(m));
    return RSK_OK;
}

rsk_status rsk_open(const void *file, size_t nbytes, const rsk_limits *limits, rsk_model *model) {
    const rsk_limits defaults = {0, 0, 0}, *accepted = limits == NULL ? &defaults : limits;
    rsk_reader r;
    memset(model, 0, sizeof *model);
    memset(&r, 0, sizeof r);
    r.file = file;
    rsk_crc_prepare(r.crc_table);
    RSK_TRY(rsk_framing_check(&r, nbytes, accepted->max_nbytes == 0 ? FILE_CAP : accepted->max_nbytes));
    RSK_TRY(check_model(&r, model));
    RSK_TRY(check_columns(&r, model));
    RSK_TRY(check_projection(&r, model));
    RSK_TRY(check_outputs(&r, model));
    if (model->precision == RSK_INT) RSK_TRY(rsk_bounds_check_model(model, r.n_numeric > 0, &r.bounds.linear));
    for (uint32_t i = 0; i < model->n_row_groups; i++) RSK_TRY(rsk_row_group_check(&r, i, model,
                                                                                   &model->row_groups[i]));
    RSK_TRY(rsk_totals_check(model, accepted));
    RSK_TRY(rsk_magnitudes_check(model, &r.bounds));
    RSK_TRY(rsk_used_check(&r));
    return check_optional(&r, model);
}
