/* rsk_file.c: rsk_open, the C reader of .rsk files.
 *
 * docs/spec/format.md is the specification; the checks are made in its order, one function a paragraph, so that
 * this reader and src/repsketch/io give the same status to the same bad file. Nothing in the file is trusted:
 * sizes are computed in 64 bits (the caps keep every product below 2^60), and no byte is read before the length of its
 * section is known to be right.
 */
#include "rsk_bytes.h"
#include "rsk_check.h"
#include "rsk_hash.h"

enum {
    FILE_CAP = 64 << 20,
    HEADER_CAP = 64 << 10,
    SECTIONS_CAP = 32,
    COORDINATES_CAP = 1 << 20, /* columns and values too */
    COUNT_CAP = 65536,         /* rows, codes, buckets, outputs, classes */
    CONCAT_CAP = 4096,
    HEADER_NBYTES = 32,
    ENTRY_NBYTES = 24,
    MODEL_NBYTES = 64,
    PART_NBYTES = 80,
    FORMAT_VERSION = 1,
    GENERATOR = 1,
    REQUIRED = 1,
    LARGEST_SHIFT = 31,
    LARGEST_WIDTH_BITS = 15,
    LARGEST_WHOLE = 32767
};
enum { TWO_TO_40 = 0x53800000 }; /* bits of a float32 number */

/* Types of sections; those of part i lie 8 i above those of part 0. */
enum { MODEL = 1, COLUMNS, KINDS, CENTERS, SCALES, PROJECTION, SHIFT, MULTIPLIERS, PROJECTION_SCALES };
enum { LINEAR = 10, LINEAR_GAIN, OFFSET };
enum { PART = 16, INDICES, CODE_COLUMNS, THRESHOLDS, COUNTERS, DECODE, GAIN, PART_STRIDE = 8 };
enum { CLASSES = 64, NAMES, SUMS, METADATA, CATEGORIES, INTERVALS, FIRST_OPTIONAL = CLASSES };

typedef struct {
    const uint8_t *file;
    uint32_t n_sections;
    uint32_t asked;     /* bit i: section i belongs to the model */
    uint32_t n_numeric; /* columns */
    uint32_t crc_table[256];
} reader;

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

/* ---- section 1: framing ---- */

static const uint8_t *entry_at(const reader *r, uint32_t i) {
    return r->file + HEADER_NBYTES + ENTRY_NBYTES * (size_t)i;
}

static uint32_t type_of(const uint8_t *entry) { return rsk_u32(entry); }
static uint32_t flags_of(const uint8_t *entry) { return rsk_u32(entry + 4); }
static uint32_t offset_of(const uint8_t *entry) { return rsk_u32(entry + 8); }
static uint32_t length_of(const uint8_t *entry) { return rsk_u32(entry + 12); }
static uint32_t crc_of(const uint8_t *entry) { return rsk_u32(entry + 16); }

static bool is_known(uint32_t type) {
    if (type >= PART && type < PART + PART_STRIDE * RSK_MAX_PARTS) return type % PART_STRIDE <= GAIN - PART;
    return (type >= MODEL && type <= OFFSET) || (type >= CLASSES && type <= INTERVALS);
}

static bool are_zero(const uint8_t *bytes, uint64_t n) {
    for (uint64_t i = 0; i < n; i++)
        if (bytes[i] != 0) return false;
    return true;
}

static uint64_t round_up(uint64_t offset) { return (offset + 7u) & ~(uint64_t)7u; }

static rsk_status check_header(reader *r, uint64_t nbytes) {
    static const uint8_t magic[4] = {0x89, 'R', 'S', 'K'}, swapped[4] = {'K', 'S', 'R', 0x89}, zeros[4] = {0};
    const uint8_t *header = r->file;
    RSK_REFUSE_IF(memcmp(header, swapped, 4) == 0, SWAPPED);
    RSK_REFUSE_IF(memcmp(header, magic, 4) != 0, MAGIC);
    RSK_REFUSE_IF(rsk_u16(header + 4) == 0, VERSION_ZERO);
    RSK_REFUSE_IF(rsk_u16(header + 4) > FORMAT_VERSION, VERSION_FUTURE);
    RSK_REFUSE_IF(rsk_u16(header + 6) != 0, FLAGS);
    const uint32_t length = rsk_u32(header + 8);
    r->n_sections = rsk_u32(header + 12);
    RSK_REFUSE_IF(length > HEADER_CAP, HEADER_CAP);
    RSK_REFUSE_IF(r->n_sections == 0, NO_SECTIONS);
    RSK_REFUSE_IF(r->n_sections > SECTIONS_CAP, SECTION_CAP);
    RSK_REFUSE_IF(length != HEADER_NBYTES + ENTRY_NBYTES * r->n_sections, HEADER_LENGTH);
    RSK_REFUSE_IF(length > nbytes || rsk_u32(header + 16) > nbytes, TRUNCATED);
    RSK_REFUSE_IF(rsk_u32(header + 16) < nbytes, TRAILING);
    uint32_t crc = rsk_crc_add(r->crc_table, 0, header, 20);
    crc = rsk_crc_add(r->crc_table, crc, zeros, 4);
    RSK_REFUSE_IF(rsk_crc_add(r->crc_table, crc, header + 24, length - 24u) != rsk_u32(header + 20), HEADER_CRC);
    RSK_REFUSE_IF(!are_zero(header + 27, 5), PADDING);
    return RSK_OK;
}

static rsk_status check_entries(const reader *r, uint64_t nbytes) {
    const uint64_t header_end = HEADER_NBYTES + ENTRY_NBYTES * (uint64_t)r->n_sections;
    uint64_t end = header_end;
    for (uint32_t i = 0; i < r->n_sections; i++) {
        const uint8_t *entry = entry_at(r, i);
        const uint32_t type = type_of(entry), flags = flags_of(entry);
        const uint64_t offset = offset_of(entry), length = length_of(entry);
        RSK_REFUSE_IF(flags > REQUIRED || rsk_u32(entry + 20) != 0, FLAGS);
        RSK_REFUSE_IF(i > 0 && type == type_of(entry_at(r, i - 1)), SECTION_DUPLICATE);
        RSK_REFUSE_IF(i > 0 && type < type_of(entry_at(r, i - 1)), SECTION_ORDER);
        RSK_REFUSE_IF(offset % 8 != 0, SECTION_ALIGNMENT);
        RSK_REFUSE_IF(offset < header_end, SECTION_IN_HEADER);
        RSK_REFUSE_IF(offset + length > nbytes, SECTION_BEYOND);
        RSK_REFUSE_IF(length == 0, SECTION_EMPTY);
        RSK_REFUSE_IF(offset < end, SECTION_OVERLAP);
        RSK_REFUSE_IF(offset != round_up(end), SECTION_HOLE);
        RSK_REFUSE_IF(!is_known(type) && flags == REQUIRED, SECTION_UNKNOWN);
        RSK_REFUSE_IF(is_known(type) && type < FIRST_OPTIONAL && flags != REQUIRED, FLAGS);
        end = offset + length;
    }
    RSK_REFUSE_IF(round_up(end) != nbytes, TRAILING);
    return RSK_OK;
}

static rsk_status check_framing(reader *r, uint64_t nbytes, uint64_t max_nbytes) {
    RSK_REFUSE_IF(nbytes == 0, EMPTY);
    RSK_REFUSE_IF(nbytes > max_nbytes, FILE_CAP);
    RSK_REFUSE_IF(nbytes < HEADER_NBYTES, TOO_SHORT);
    RSK_TRY(check_header(r, nbytes));
    RSK_TRY(check_entries(r, nbytes));
    for (uint32_t i = 0; i < r->n_sections; i++) {
        const uint8_t *entry = entry_at(r, i);
        const uint64_t offset = offset_of(entry), end = offset + length_of(entry);
        RSK_REFUSE_IF(!are_zero(r->file + end, round_up(end) - end), PADDING);
        RSK_REFUSE_IF(rsk_crc_add(r->crc_table, 0, r->file + offset, end - offset) != crc_of(entry), SECTION_CRC);
    }
    return RSK_OK;
}

/* ---- arrays ---- */

static const uint8_t *find_entry(const reader *r, uint32_t type, uint32_t *index) {
    for (uint32_t i = 0; i < r->n_sections; i++) {
        *index = i;
        if (type_of(entry_at(r, i)) == type) return entry_at(r, i);
    }
    return NULL;
}

/* A section that the model needs, of exactly n bytes; none at all if n is 0. */
static rsk_status take(reader *r, uint32_t type, uint64_t n, const uint8_t **bytes) {
    *bytes = NULL;
    if (n == 0) return RSK_OK;
    uint32_t index = 0;
    const uint8_t *entry = find_entry(r, type, &index);
    RSK_REFUSE_IF(entry == NULL, SECTION_MISSING);
    RSK_REFUSE_IF(length_of(entry) != n, SIZE_MISMATCH);
    r->asked |= 1u << index;
    *bytes = r->file + offset_of(entry);
    return RSK_OK;
}

static rsk_status check_left_over(const uint8_t *bytes, uint64_t n_bits) {
    RSK_REFUSE_IF(n_bits % 8 != 0 && bytes[n_bits / 8] >> (n_bits % 8) != 0, PADDING);
    return RSK_OK;
}

/* n float32 numbers of at most `largest` (its bits) in size. */
static rsk_status take_floats(reader *r, uint32_t type, uint64_t n, uint32_t largest, rsk_status status,
                              const uint8_t **bytes) {
    RSK_TRY(take(r, type, 4 * n, bytes));
    for (uint64_t i = 0; i < n; i++)
        if ((rsk_u32(*bytes + 4 * i) & 0x7FFFFFFFu) > largest) return status;
    return RSK_OK;
}

static rsk_status check_not_zero(const uint8_t *floats, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) RSK_REFUSE_IF((rsk_u32(floats + 4 * i) & 0x7FFFFFFFu) == 0, SCALE);
    return RSK_OK;
}

/* n whole numbers of 2, 4, 8 or 16 bits, the most negative one not among them. */
static rsk_status take_whole(reader *r, uint32_t type, uint64_t n, uint32_t bits, const uint8_t **bytes) {
    RSK_TRY(take(r, type, (n * bits + 7) / 8, bytes));
    const int32_t most_negative = -(1 << (bits - 1));
    for (uint64_t i = 0; i < n; i++) RSK_REFUSE_IF(rsk_packed_signed(*bytes, i, bits) == most_negative, COUNTER_RANGE);
    return check_left_over(*bytes, n * bits);
}

/* n packed indices below `limit`. */
static rsk_status take_indices(reader *r, uint32_t type, uint64_t n, uint32_t limit, bool is_rising,
                               const uint8_t **bytes) {
    const uint32_t bits = rsk_index_bits(limit);
    RSK_TRY(take(r, type, (n * bits + 7) / 8, bytes));
    if (bits == 0) return RSK_OK;
    for (uint64_t i = 0; i < n; i++) RSK_REFUSE_IF(rsk_packed(*bytes, i, bits) >= limit, INDEX_RANGE);
    for (uint64_t i = 1; is_rising && i < n; i++)
        RSK_REFUSE_IF(rsk_packed(*bytes, i, bits) <= rsk_packed(*bytes, i - 1, bits), INDEX_ORDER);
    return check_left_over(*bytes, n * bits);
}

/* ---- section 3, paragraph 1: MODEL ---- */

static void read_model(const uint8_t *f, rsk_model *m) {
    m->precision = f[0];
    m->task = f[2];
    m->n_parts = f[3];
    m->projection_kind = f[4];
    m->right_shift = f[5];
    m->linear_type = f[6];
    m->stored_as = f[7];
    m->n_features = rsk_u32(f + 8);
    m->n_columns = rsk_u32(f + 12);
    m->n_values = rsk_u32(f + 16);
    m->n_components = rsk_u32(f + 20);
    m->n_outputs = rsk_u32(f + 24);
    m->kinds_of_all = f[28];
    m->flags = rsk_u16(f + 30);
    m->low = rsk_i16(f + 32);
    m->high = rsk_i16(f + 34);
    m->limit = rsk_u16(f + 36);
    m->offset_stored_as = f[38];
    m->n_classes = rsk_u32(f + 40);
    m->n_centers = rsk_u32(f + 44);
    m->n_scales = rsk_u32(f + 48);
    m->n_linear_gains = rsk_u32(f + 52);
    m->center_bias = rsk_i8(f + 56);
    m->scale_bias = rsk_i8(f + 57);
}

static rsk_status check_precision(const rsk_model *m) {
    const bool has_multipliers = (m->flags & RSK_HAS_MULTIPLIERS) != 0;
    if (m->precision == RSK_FLOAT32) {
        RSK_REFUSE_IF(m->right_shift != 0 || m->low != 0 || m->high != 0 || m->limit != 0 || has_multipliers, FIELD);
        RSK_REFUSE_IF(m->linear_type > RSK_LINEAR_FLOAT32 || m->offset_stored_as != RSK_STORED_FLOAT32, FIELD);
        return RSK_OK;
    }
    RSK_REFUSE_IF(m->projection_kind == RSK_SHIFT_ONLY || m->projection_kind == RSK_MATRIX_FLOAT32, FIELD);
    RSK_REFUSE_IF(m->linear_type == RSK_LINEAR_FLOAT32, FIELD);
    RSK_REFUSE_IF(m->low >= m->high || m->low < -LARGEST_WHOLE, FIELD);
    if (rsk_has_matrix(m)) {
        RSK_REFUSE_IF(m->limit == 0 || m->limit > LARGEST_WHOLE, SHIFT);
    } else {
        RSK_REFUSE_IF(m->limit != 0 || m->right_shift != 0 || has_multipliers, FIELD);
    }
    return RSK_OK;
}

static rsk_status check_float8_bias(const rsk_model *m, int8_t bias) {
    RSK_REFUSE_IF(bias != 0 && (m->stored_as != RSK_STORED_FLOAT8 || bias < -126 || bias > 100), FIELD);
    return RSK_OK;
}

static rsk_status check_model(reader *r, rsk_model *m) {
    const uint8_t *f;
    RSK_TRY(take(r, MODEL, MODEL_NBYTES, &f));
    read_model(f, m);
    RSK_REFUSE_IF(m->precision > RSK_INT, FIELD);
    RSK_REFUSE_IF(f[1] != GENERATOR, GENERATOR);
    RSK_REFUSE_IF(m->task > 2, FIELD);
    RSK_TRY(rsk_count_check(m->n_parts, RSK_MAX_PARTS));
    RSK_REFUSE_IF(m->projection_kind > RSK_MATRIX_TERNARY, FIELD);
    RSK_REFUSE_IF(m->right_shift > LARGEST_SHIFT, SHIFT);
    RSK_REFUSE_IF(m->linear_type > RSK_LINEAR_INT8 || m->stored_as > RSK_STORED_FLOAT8, FIELD);
    RSK_TRY(rsk_count_check(m->n_features, COORDINATES_CAP));
    RSK_TRY(rsk_count_check(m->n_columns, COORDINATES_CAP));
    RSK_TRY(rsk_count_check(m->n_values, COORDINATES_CAP));
    RSK_TRY(rsk_count_check(m->n_components, COORDINATES_CAP));
    RSK_TRY(rsk_count_check(m->n_outputs, COUNT_CAP));
    RSK_REFUSE_IF(rsk_u16(f + 28) > RSK_KINDS_MIXED, FIELD);
    RSK_REFUSE_IF(m->flags > 15, FLAGS);
    RSK_REFUSE_IF(m->offset_stored_as > RSK_STORED_BFLOAT16, FIELD);
    RSK_REFUSE_IF(f[39] != 0 || !are_zero(f + 58, 6), PADDING);
    RSK_REFUSE_IF(m->n_classes > COUNT_CAP, SIZE_CAP);
    RSK_REFUSE_IF(m->n_classes != 0 && m->n_classes != (m->n_outputs < 2 ? 2 : m->n_outputs), CLASS_COUNT);
    RSK_REFUSE_IF(m->n_classes != 0 && m->task != 1, CLASS_COUNT);
    RSK_TRY(check_precision(m));
    const bool has_shift = (m->flags & RSK_HAS_SHIFT) != 0, has_columns = (m->flags & RSK_HAS_COLUMNS) != 0;
    RSK_REFUSE_IF(m->projection_kind == RSK_SHIFT_ONLY && !has_shift, FIELD);
    RSK_REFUSE_IF(m->projection_kind == RSK_NO_PROJECTION && has_shift, FIELD);
    RSK_REFUSE_IF(!rsk_has_matrix(m) && m->n_components != m->n_values, SIZE_MISMATCH);
    if (m->linear_type >= RSK_LINEAR_INT16) {
        RSK_REFUSE_IF(m->n_linear_gains != 1 && m->n_linear_gains != m->n_outputs, SIZE_MISMATCH);
    } else {
        RSK_REFUSE_IF(m->n_linear_gains != 0, SIZE_MISMATCH);
    }
    RSK_REFUSE_IF(has_columns ? m->n_columns > m->n_features : m->n_columns != m->n_features, SIZE_MISMATCH);
    RSK_TRY(check_float8_bias(m, m->center_bias));
    return check_float8_bias(m, m->scale_bias);
}

/* ---- paragraphs 2 to 4: columns ---- */

static rsk_status check_kinds(reader *r, rsk_model *m) {
    uint64_t n_values = m->n_columns;
    r->n_numeric = m->kinds_of_all == RSK_KINDS_NUMERIC ? m->n_columns : 0;
    if (m->kinds_of_all == RSK_KINDS_MIXED) {
        RSK_TRY(take(r, KINDS, 2 * (uint64_t)m->n_columns, &m->kinds));
        n_values = 0;
        for (uint32_t i = 0; i < m->n_columns; i++) {
            const uint16_t kind = rsk_u16(m->kinds + 2 * (size_t)i);
            r->n_numeric += kind == 0;
            n_values += kind == 0 ? 1 : kind;
        }
    }
    RSK_REFUSE_IF(n_values != m->n_values, SIZE_MISMATCH);
    return RSK_OK;
}

static rsk_status check_scaler(reader *r, const rsk_model *m, uint32_t type, uint32_t n, const uint8_t **bytes) {
    static const uint8_t nbytes[] = {4, 2, 1};
    const int8_t bias = type == CENTERS ? m->center_bias : m->scale_bias;
    RSK_TRY(take(r, type, nbytes[m->stored_as] * (uint64_t)n, bytes));
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t bits = rsk_stored_bits(*bytes, i, m->stored_as, bias);
        RSK_REFUSE_IF((bits & 0x7FFFFFFFu) > RSK_LARGEST_FINITE, SCALER);
        RSK_REFUSE_IF(type == SCALES && (bits == 0 || bits >> 31 != 0), SCALER);
    }
    return RSK_OK;
}

static rsk_status check_columns(reader *r, rsk_model *m) {
    if (m->flags & RSK_HAS_COLUMNS)
        RSK_TRY(take_indices(r, COLUMNS, m->n_columns, m->n_features, true, &m->columns));
    RSK_TRY(check_kinds(r, m));
    RSK_REFUSE_IF(m->n_centers > 1 && m->n_centers != r->n_numeric, SCALER);
    RSK_REFUSE_IF(m->n_scales > 1 && m->n_scales != r->n_numeric, SCALER);
    RSK_REFUSE_IF(r->n_numeric == 0 && (m->n_centers != 0 || m->n_scales != 0), SCALER);
    RSK_TRY(check_scaler(r, m, CENTERS, m->n_centers, &m->centers));
    return check_scaler(r, m, SCALES, m->n_scales, &m->scales);
}

/* ---- paragraphs 5 and 6: projection, linear term, offset ---- */

static rsk_status check_projection(reader *r, rsk_model *m) {
    const uint64_t n = (uint64_t)m->n_values * m->n_components, p = m->n_components;
    const bool is_whole_matrix = m->projection_kind >= RSK_MATRIX_INT8;
    if (m->projection_kind == RSK_MATRIX_FLOAT32)
        RSK_TRY(take_floats(r, PROJECTION, n, TWO_TO_40, RSK_NOT_FINITE, &m->projection));
    else if (is_whole_matrix)
        RSK_TRY(take_whole(r, PROJECTION, n, m->projection_kind == RSK_MATRIX_INT8 ? 8 : 2, &m->projection));
    if ((m->flags & RSK_HAS_SHIFT) && m->precision == RSK_FLOAT32)
        RSK_TRY(take_floats(r, SHIFT, p, TWO_TO_40, RSK_NOT_FINITE, &m->shift));
    else if (m->flags & RSK_HAS_SHIFT)
        RSK_TRY(take(r, SHIFT, 4 * p, &m->shift));
    if (m->flags & RSK_HAS_MULTIPLIERS) {
        RSK_TRY(take(r, MULTIPLIERS, 2 * p, &m->multipliers));
        for (uint64_t j = 0; j < p; j++) RSK_REFUSE_IF(rsk_i16(m->multipliers + 2 * j) <= 0, SCALE);
    }
    if (is_whole_matrix && m->precision == RSK_FLOAT32) {
        RSK_TRY(take_floats(r, PROJECTION_SCALES, p, TWO_TO_40, RSK_SCALE, &m->projection_scales));
        RSK_TRY(check_not_zero(m->projection_scales, p));
    }
    return RSK_OK;
}

static rsk_status check_offset(reader *r, rsk_model *m) {
    const uint32_t nbytes = m->offset_stored_as == RSK_STORED_FLOAT32 ? 4 : 2;
    RSK_TRY(take(r, OFFSET, (uint64_t)nbytes * m->n_outputs, &m->offset));
    for (uint32_t c = 0; c < m->n_outputs; c++) {
        const uint32_t bits = rsk_stored_bits(m->offset, c, m->offset_stored_as, 0);
        RSK_REFUSE_IF((bits & 0x7FFFFFFFu) > RSK_LARGEST_FINITE, NOT_FINITE);
    }
    return RSK_OK;
}

static rsk_status check_outputs(reader *r, rsk_model *m) {
    const uint64_t n = (uint64_t)m->n_components * m->n_outputs;
    if (m->linear_type == RSK_LINEAR_FLOAT32)
        RSK_TRY(take_floats(r, LINEAR, n, TWO_TO_40, RSK_NOT_FINITE, &m->linear));
    else if (m->linear_type != RSK_NO_LINEAR)
        RSK_TRY(take_whole(r, LINEAR, n, rsk_linear_bits(m), &m->linear));
    RSK_TRY(take_floats(r, LINEAR_GAIN, m->n_linear_gains, RSK_LARGEST_FINITE, RSK_SCALE, &m->linear_gain));
    RSK_TRY(check_not_zero(m->linear_gain, m->n_linear_gains));
    return check_offset(r, m);
}

/* ---- paragraph 8: parts ---- */

static bool has_bandwidth(const rsk_part *p) { return p->hash == RSK_L2 || p->hash == RSK_L1; }

static void read_part(const uint8_t *f, const rsk_model *m, rsk_part *p) {
    p->source = f[0];
    p->hash = f[1];
    p->directions = f[2];
    p->fold = f[3];
    p->counter_type = f[4];
    p->aggregate = f[5];
    p->decode = f[6];
    p->decode_shift = f[7];
    p->width_bits = f[8];
    p->flags = f[9];
    p->n_nonzeros = f[10];
    p->threshold_nbytes = f[12];
    p->decode_stored_as = f[13];
    p->seed = rsk_u32(f + 24);
    p->n_rows = rsk_u32(f + 28);
    p->n_concat = rsk_u32(f + 32);
    p->n_buckets = rsk_u32(f + 36);
    p->n_levels = rsk_u32(f + 40);
    p->n_codes = rsk_u32(f + 44);
    p->n_axes = rsk_u32(f + 48);
    p->n_numbers = rsk_u32(f + 52);
    p->n_groups = rsk_u32(f + 56);
    p->n_gains = rsk_u32(f + 60);
    p->spread = rsk_u32(f + 64);
    p->n_inputs = p->source == 0 ? m->n_values : m->n_components;
}

static rsk_status check_part_kinds(const uint8_t *f, const rsk_model *m, const rsk_part *p) {
    const bool is_whole = m->precision == RSK_INT;
    RSK_REFUSE_IF(p->source > 1 || (p->source == 0 && m->projection_kind == RSK_NO_PROJECTION), FIELD);
    RSK_REFUSE_IF(p->hash > RSK_L1 && (p->hash < RSK_POOL_TERNARY || p->hash > RSK_POOL_THRESHOLD), HASH);
    RSK_REFUSE_IF(p->directions > 1 || (p->directions != 0 && p->hash > RSK_ANGULAR), FIELD);
    RSK_REFUSE_IF(p->fold > RSK_DIRECT || (p->fold == RSK_UNIVERSAL && rsk_is_pool(p)), FIELD);
    RSK_REFUSE_IF(p->fold == RSK_DIRECT && (p->hash == RSK_MINHASH || p->hash == RSK_L1), FIELD);
    RSK_REFUSE_IF(p->counter_type > RSK_COUNTER_INT4, COUNTER_TYPE);
    RSK_REFUSE_IF(is_whole && p->counter_type == RSK_COUNTER_FLOAT32, COUNTER_TYPE);
    RSK_REFUSE_IF(p->aggregate > RSK_MEDIAN_OF_MEANS || p->decode > RSK_DECODE_ROWS, FIELD);
    RSK_REFUSE_IF(p->decode_shift > LARGEST_SHIFT, SHIFT);
    RSK_REFUSE_IF(p->decode_shift != 0 && !(is_whole && p->decode == RSK_DECODE_SHARED), FIELD);
    RSK_REFUSE_IF(p->decode_stored_as > 1, FIELD);
    RSK_REFUSE_IF(p->decode_stored_as != 0 && !(is_whole && p->decode != RSK_NO_DECODE), FIELD);
    RSK_REFUSE_IF(p->width_bits > LARGEST_WIDTH_BITS, SHIFT);
    RSK_REFUSE_IF(p->width_bits != 0 && !is_whole, FIELD);
    RSK_REFUSE_IF(p->flags > 31, FLAGS);
    RSK_REFUSE_IF(p->flags != 0 && !rsk_is_pool(p), FIELD);
    RSK_REFUSE_IF(f[11] != has_bandwidth(p), PARAMETER_COUNT);
    RSK_REFUSE_IF(!are_zero(f + 14, 2) || !are_zero(f + 72, 8), PADDING);
    const double bandwidth = rsk_f64(f + 16);
    RSK_REFUSE_IF(has_bandwidth(p) && !(bandwidth >= 1e-30 && bandwidth <= 1e30), WIDTH);
    RSK_REFUSE_IF(!has_bandwidth(p) && !are_zero(f + 16, 8), FIELD);
    return RSK_OK;
}

static rsk_status check_part_sizes(const rsk_part *p) {
    RSK_TRY(rsk_count_check(p->n_rows, COUNT_CAP));
    RSK_TRY(rsk_count_check(p->n_concat, CONCAT_CAP));
    RSK_TRY(rsk_count_check(p->n_buckets, COUNT_CAP));
    RSK_TRY(rsk_count_check(p->n_codes, rsk_is_pool(p) ? COUNT_CAP : UINT32_MAX));
    RSK_TRY(rsk_count_check(p->n_numbers, COUNT_CAP));
    RSK_TRY(rsk_count_check(p->n_groups, p->n_rows));
    RSK_TRY(rsk_count_check(p->n_gains, COUNT_CAP));
    RSK_REFUSE_IF(p->n_buckets < 2, SIZE_ZERO);
    return RSK_OK;
}

static rsk_status check_levels(const rsk_part *p) {
    RSK_REFUSE_IF(p->n_levels < 2 || (rsk_has_bits(p) && p->n_levels != 2), BUCKETS);
    uint64_t power = 1;
    for (uint32_t k = 0; k < p->n_concat && power <= p->n_buckets; k++) power *= p->n_levels;
    RSK_REFUSE_IF(power != p->n_buckets, BUCKETS);
    return RSK_OK;
}

static rsk_status check_own(const rsk_part *p) {
    RSK_REFUSE_IF(p->n_codes != p->n_rows * p->n_concat, SIZE_MISMATCH); /* at most 2^28 */
    RSK_REFUSE_IF(p->n_axes != 0 || p->n_nonzeros != 0 || p->threshold_nbytes != 0 || p->spread != 0, FIELD);
    if (p->fold == RSK_DIRECT) return check_levels(p);
    RSK_REFUSE_IF(p->n_levels != 0, FIELD);
    return RSK_OK;
}

static rsk_status check_spread(const rsk_model *m, const rsk_part *p) {
    if (m->precision == RSK_INT) {
        RSK_REFUSE_IF(p->spread > LARGEST_WHOLE, SCALE);
    } else {
        const float spread = rsk_float_of(p->spread);
        RSK_REFUSE_IF(!(spread >= 0.0f && spread <= 0x1p40f), SCALE);
    }
    RSK_REFUSE_IF(p->spread != 0 && !(rsk_has_flag(p, RSK_SEEDED) && rsk_has_bits(p)), FIELD);
    return RSK_OK;
}

static rsk_status check_pool(const rsk_model *m, const rsk_part *p) {
    const bool is_whole = m->precision == RSK_INT;
    RSK_TRY(check_levels(p));
    RSK_REFUSE_IF(p->n_axes > p->n_codes || p->n_axes > p->n_inputs, FIELD);
    if (p->hash == RSK_POOL_SPARSE) {
        RSK_REFUSE_IF(p->n_nonzeros < 1 || p->n_nonzeros > RSK_MAX_NONZEROS, FIELD);
    } else {
        RSK_REFUSE_IF(p->n_nonzeros != 0, FIELD);
    }
    if (p->hash == RSK_POOL_THRESHOLD) {
        RSK_REFUSE_IF(p->n_axes != 0 || (p->flags & ~(uint32_t)RSK_HAS_INDICES) != 0, FIELD);
        RSK_REFUSE_IF(!is_whole && p->threshold_nbytes != 4, FIELD);
        RSK_REFUSE_IF(is_whole && p->threshold_nbytes != 1 && p->threshold_nbytes != 2, FIELD);
    } else {
        RSK_REFUSE_IF(p->threshold_nbytes != 0, FIELD);
    }
    RSK_REFUSE_IF(rsk_has_bits(p) && rsk_has_flag(p, RSK_NORMALISED | RSK_INTERPOLATED), FIELD);
    RSK_REFUSE_IF(rsk_has_flag(p, RSK_INTERPOLATED) && p->n_concat != 1, FIELD);
    RSK_REFUSE_IF(is_whole && !rsk_has_bits(p) && !rsk_has_flag(p, RSK_SEEDED) && p->width_bits == 0, SHIFT);
    RSK_TRY(check_spread(m, p));
    RSK_REFUSE_IF(!rsk_has_flag(p, RSK_HAS_INDICES) && p->n_codes != p->n_rows * p->n_concat, SIZE_MISMATCH);
    return RSK_OK;
}

static rsk_status check_reading(const rsk_model *m, const rsk_part *p) {
    RSK_REFUSE_IF(p->decode == RSK_NO_DECODE && p->n_numbers != m->n_outputs, SIZE_MISMATCH);
    RSK_REFUSE_IF(p->decode == RSK_DECODE_ROWS && p->n_numbers != 1, SIZE_MISMATCH);
    RSK_REFUSE_IF(p->n_gains != 1 && p->n_gains != m->n_outputs, SIZE_MISMATCH);
    RSK_REFUSE_IF(p->aggregate != RSK_MEDIAN_OF_MEANS && p->n_groups != 1, FIELD);
    RSK_REFUSE_IF(p->aggregate == RSK_MEDIAN_OF_MEANS && p->decode != RSK_NO_DECODE, FIELD);
    RSK_REFUSE_IF(m->precision == RSK_INT && p->n_rows % p->n_groups != 0, FIELD);
    return RSK_OK;
}

static rsk_status check_part_arrays(reader *r, uint32_t base, const rsk_model *m, rsk_part *p) {
    const bool is_whole = m->precision == RSK_INT;
    const uint64_t n_counters = (uint64_t)p->n_rows * p->n_buckets * p->n_numbers;
    const uint64_t n_decode = (uint64_t)(p->decode == RSK_DECODE_ROWS ? p->n_rows : p->n_numbers) * m->n_outputs;
    if (rsk_has_flag(p, RSK_HAS_INDICES))
        RSK_TRY(take_indices(r, base + INDICES, (uint64_t)p->n_rows * p->n_concat, p->n_codes, false, &p->indices));
    if (p->hash == RSK_POOL_THRESHOLD) {
        RSK_TRY(take_indices(r, base + CODE_COLUMNS, p->n_codes, p->n_inputs, false, &p->code_columns));
        if (is_whole)
            RSK_TRY(take_whole(r, base + THRESHOLDS, p->n_codes, 8u * p->threshold_nbytes, &p->thresholds));
        else
            RSK_TRY(take_floats(r, base + THRESHOLDS, p->n_codes, RSK_LARGEST_FINITE, RSK_NOT_FINITE, &p->thresholds));
    }
    if (p->counter_type == RSK_COUNTER_FLOAT32)
        RSK_TRY(take_floats(r, base + COUNTERS, n_counters, RSK_LARGEST_FINITE, RSK_NOT_FINITE, &p->counters));
    else
        RSK_TRY(take_whole(r, base + COUNTERS, n_counters, rsk_counter_bits(p), &p->counters));
    if (p->decode != RSK_NO_DECODE && is_whole)
        RSK_TRY(take_whole(r, base + DECODE, n_decode, rsk_decode_bits(p), &p->decode_matrix));
    else if (p->decode != RSK_NO_DECODE)
        RSK_TRY(take_floats(r, base + DECODE, n_decode, RSK_LARGEST_FINITE, RSK_NOT_FINITE, &p->decode_matrix));
    RSK_TRY(take_floats(r, base + GAIN, p->n_gains, RSK_LARGEST_FINITE, RSK_NOT_FINITE, &p->gain));
    return check_not_zero(p->gain, p->n_gains);
}

static rsk_status check_part(reader *r, uint32_t index, const rsk_model *m, rsk_part *p) {
    const uint32_t base = PART_STRIDE * index;
    const uint8_t *f;
    RSK_TRY(take(r, base + PART, PART_NBYTES, &f));
    read_part(f, m, p);
    RSK_TRY(check_part_kinds(f, m, p));
    RSK_TRY(check_part_sizes(p));
    RSK_TRY(rsk_is_pool(p) ? check_pool(m, p) : check_own(p));
    RSK_TRY(check_reading(m, p));
    RSK_TRY(check_part_arrays(r, base, m, p));
    if (m->precision == RSK_INT) RSK_TRY(rsk_bounds_check_part(m, p, r->n_numeric > 0));
    RSK_REFUSE_IF(rsk_digest_find(m, p, r->crc_table) != rsk_u32(f + 68), DIGEST);
    return RSK_OK;
}

/* ---- paragraphs 9 and 10: the other sections ---- */

static rsk_status check_nothing_else(const reader *r) {
    for (uint32_t i = 0; i < r->n_sections; i++) {
        const uint32_t type = type_of(entry_at(r, i));
        RSK_REFUSE_IF(type < FIRST_OPTIONAL && is_known(type) && (r->asked >> i & 1u) == 0, SECTION_UNEXPECTED);
    }
    return RSK_OK;
}

static const uint8_t *find_optional(const reader *r, uint32_t type, uint32_t *nbytes) {
    uint32_t index = 0;
    const uint8_t *entry = find_entry(r, type, &index);
    *nbytes = entry == NULL ? 0 : length_of(entry);
    return entry == NULL ? NULL : r->file + offset_of(entry);
}

static rsk_status check_optional(const reader *r, rsk_model *m) {
    m->classes = find_optional(r, CLASSES, &m->classes_nbytes);
    m->names = find_optional(r, NAMES, &m->names_nbytes);
    m->sums = find_optional(r, SUMS, &m->sums_nbytes);
    m->metadata = find_optional(r, METADATA, &m->metadata_nbytes);
    m->categories = find_optional(r, CATEGORIES, &m->categories_nbytes);
    m->intervals = find_optional(r, INTERVALS, &m->intervals_nbytes);
    RSK_REFUSE_IF((m->classes != NULL) != (m->n_classes > 0), CLASS_COUNT);
    if (m->classes != NULL) RSK_TRY(rsk_classes_check(m->classes, m->classes_nbytes, m->n_classes));
    if (m->names != NULL)
        RSK_TRY(rsk_table_check(m->names, m->names_nbytes, m->n_features, RSK_NAME_COUNT, RSK_NAME_DUPLICATE));
    if (m->sums != NULL) RSK_TRY(rsk_sums_check(m));
    if (m->metadata != NULL) RSK_TRY(rsk_metadata_check(m->metadata, m->metadata_nbytes));
    if (m->categories != NULL)
        RSK_TRY(rsk_categories_check(m->categories, m->categories_nbytes, m->kinds, m->kinds == NULL ? 0 : m->n_columns));
    if (m->intervals != NULL) RSK_TRY(rsk_intervals_check(m));
    return RSK_OK;
}

rsk_status rsk_open(const void *file, size_t nbytes, size_t max_nbytes, rsk_model *model) {
    reader r;
    memset(model, 0, sizeof *model);
    memset(&r, 0, sizeof r);
    r.file = file;
    rsk_crc_prepare(r.crc_table);
    RSK_TRY(check_framing(&r, nbytes, max_nbytes == 0 ? FILE_CAP : max_nbytes));
    RSK_TRY(check_model(&r, model));
    RSK_TRY(check_columns(&r, model));
    RSK_TRY(check_projection(&r, model));
    RSK_TRY(check_outputs(&r, model));
    if (model->precision == RSK_INT) RSK_TRY(rsk_bounds_check_model(model, r.n_numeric > 0));
    for (uint32_t i = 0; i < model->n_parts; i++) RSK_TRY(check_part(&r, i, model, &model->parts[i]));
    RSK_TRY(check_nothing_else(&r));
    return check_optional(&r, model);
}
