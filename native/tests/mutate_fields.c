/* mutate_fields.c: fields of MODEL, ROW_GROUP and STAGE that are changed, and what follows from fields. */
#include <string.h>

#include "mutate.h"
#include "rsk_sections.h"

/* ---- fields ---- */

typedef struct {
    uint8_t offset, n_bytes, most; /* most: a value up to it is often allowed; 0: a size */
} field;

static const field model_fields[] = {
    {0, 1, 1},  {1, 1, 1},  {2, 1, 2},  {3, 1, 4},  {4, 1, 5},  {5, 1, 31}, {6, 1, 3},  {7, 1, 2},    {8, 4, 0},
    {12, 4, 0}, {16, 4, 0}, {20, 4, 0}, {24, 4, 0}, {28, 2, 2}, {30, 2, 15}, {32, 2, 0}, {34, 2, 0},  {36, 2, 0},
    {38, 1, 1}, {39, 1, 4}, {40, 4, 3}, {44, 4, 1}, {48, 4, 1}, {52, 4, 1}, {56, 1, 100}, {57, 1, 100}, {58, 4, 1},
};
static const field row_group_fields[] = {
    {0, 1, 1},  {1, 1, 3},  {1, 1, 18}, {2, 1, 1},  {3, 1, 1},   {4, 1, 3},  {5, 1, 2},  {6, 1, 2},  {7, 1, 31},
    {8, 1, 15}, {9, 1, 31}, {10, 1, 3}, {11, 1, 1}, {12, 1, 4},  {13, 1, 1}, {14, 2, 1}, {16, 4, 1}, {20, 4, 0}, {24, 4, 0},
    {28, 4, 0}, {32, 4, 4}, {36, 4, 0}, {40, 4, 6}, {44, 4, 0},  {48, 4, 3}, {52, 4, 0}, {56, 4, 4}, {60, 4, 1},
    {64, 4, 0}, {68, 4, 0}, {72, 4, 1},
};

static const field stage_fields[] = {
    {0, 1, 3}, {1, 1, 3}, {2, 1, 31}, {3, 1, 15}, {4, 1, 15}, {5, 1, 16}, {6, 2, 0}, {8, 4, 0}, {12, 4, 0}, {16, 4, 1},
    {20, 4, 1}, {28, 4, 1},
};

#define ANY(fields) &fields[below(sizeof fields / sizeof fields[0])]

void change_field(document *doc) {
    const bool in_stage = find(doc, STAGE) != NULL && one_in(3), in_group = !in_stage && one_in(2);
    const uint32_t group = ROW_GROUP + (one_in(4) ? 8 * below(4) : 0), stage = STAGE + RSK_STAGE_STRIDE * below(4);
    section *s = find(doc, in_stage ? stage : in_group ? group : (uint32_t)MODEL);
    if (s == NULL || s->nbytes < RSK_STAGE_NBYTES) return;
    uint8_t *bytes = own(s, s->nbytes);
    const field *f = in_stage ? ANY(stage_fields) : in_group ? ANY(row_group_fields) : ANY(model_fields);
    if (s->nbytes < f->offset + (uint32_t)f->n_bytes) return;
    if (f->most == 0 && one_in(4)) put(bytes + f->offset, below(20) + 1, f->n_bytes);
    else if (f->most != 0 && !one_in(4)) put(bytes + f->offset, below(f->most + 1u), f->n_bytes);
    else if (f->offset == 1 && in_group) bytes[1] = (uint8_t)(16 + below(3));
    else put(bytes + f->offset, f->n_bytes == 4 && one_in(4) ? interesting_float() : interesting(), f->n_bytes);
}

/* Some size becomes a large one, of all magnitudes alike; others small where the file would become too long. */
void change_size(document *doc) {
    static const uint8_t offsets[] = {8, 20, 24, 28, 32, 36, 40, 44};
    const uint32_t offset = offsets[below(sizeof offsets)], bits = below(offset <= 20 ? 21 : 17);
    const uint32_t size = (1u << bits) + below(1u << bits);
    section *s = find(doc, offset <= 24 ? MODEL : ROW_GROUP);
    if (s == NULL || s->nbytes < 64) return;
    uint8_t *bytes = own(s, s->nbytes);
    if (s->nbytes < 64) return;
    put(bytes + offset, size, 4);
    if (offset > 24 && offset != 28) put(bytes + 28, 1 + below(3), 4);
    if (offset == 36 || offset == 40) put(bytes + 32, 1, 4);
    if (offset <= 24) bytes[4] = (uint8_t)(one_in(2) ? RSK_PROJECTION_TERNARY : bytes[4]);
    doc->must_agree = true;
}

/* ---- what follows from fields ---- */

/* Sizes of MODEL that others give. */
static void agree_model(uint8_t *m) {
    if (m[4] == RSK_PROJECTION_STAGES && m[0] != RSK_INT) m[4] = RSK_PROJECTION_INT8;
    const bool has_stages = m[4] == RSK_PROJECTION_STAGES, has_matrix = m[4] >= RSK_PROJECTION_FLOAT32 && !has_stages;
    m[39] = (uint8_t)(!has_stages ? 0 : m[39] == 0 ? 1 : m[39]);
    if (!(m[30] & RSK_HAS_COLUMNS)) put(m + 12, rsk_u32(m + 8), 4);
    if (m[28] != RSK_KINDS_MIXED) put(m + 16, rsk_u32(m + 12), 4);
    if (!has_matrix && !has_stages) put(m + 20, rsk_u32(m + 16), 4);
    if (m[4] == RSK_PROJECTION_SHIFT) m[30] |= RSK_HAS_SHIFT;
    if (m[4] == RSK_PROJECTION_NONE || has_stages) m[30] &= (uint8_t)~RSK_HAS_SHIFT;
    if (m[0] == RSK_INT) {
        if (m[4] == RSK_PROJECTION_SHIFT || m[4] == RSK_PROJECTION_FLOAT32) m[4] = RSK_PROJECTION_INT8;
        if (m[6] == RSK_LINEAR_FLOAT32) m[6] = RSK_LINEAR_INT8;
        if (rsk_i16(m + 32) >= rsk_i16(m + 34)) put(m + 32, 0x007FFF81u, 4); /* -127 to 127 */
        if (has_matrix && rsk_u16(m + 36) == 0) put(m + 36, 300, 2);
    }
    if (m[0] == RSK_INT && !has_matrix) {
        put(m + 36, 0, 2);
        m[5] = 0;
        m[30] &= (uint8_t)~RSK_HAS_MULTIPLIERS;
    }
    if (m[0] != RSK_INT) {
        m[5] = 0;
        memset(m + 32, 0, 6);
        m[30] &= (uint8_t)~RSK_HAS_MULTIPLIERS;
        if (m[6] > RSK_LINEAR_FLOAT32) m[6] = RSK_LINEAR_FLOAT32;
        m[38] = RSK_STORED_FLOAT32;
    }
    put(m + 52, m[6] >= RSK_LINEAR_INT16, 4);
    if (m[28] == RSK_KINDS_BOOLEAN) memset(m + 44, 0, 8);
    if (m[28] == RSK_KINDS_NUMERIC)
        for (uint32_t at = 44; at <= 48; at += 4)
            if (rsk_u32(m + at) > 1) put(m + at, rsk_u32(m + 12), 4);
    if (m[7] != RSK_STORED_FLOAT8) m[56] = m[57] = 0;
}

/* And of ROW_GROUP. */
static void agree_group(const uint8_t *m, uint8_t *p) {
    const bool is_pool = p[1] >= RSK_POOL_TERNARY, is_int = m[0] == RSK_INT;
    const bool has_bits = is_pool ? !(p[9] & RSK_LEVELS) : p[1] == RSK_ANGULAR;
    const bool has_width = p[1] == RSK_L2 || p[1] == RSK_L1;
    if (m[4] == RSK_PROJECTION_NONE) p[0] = 1;
    if (p[1] > RSK_ANGULAR) p[2] = 0;
    if (is_pool) p[3] = RSK_DIRECT;
    if (p[1] == RSK_MINHASH || p[1] == RSK_L1) p[3] = RSK_UNIVERSAL;
    if (is_int && p[4] == RSK_COUNTER_FLOAT32) p[4] = RSK_COUNTER_INT8;
    if (!is_int) p[8] = 0;
    if (!is_int || p[6] != RSK_DECODE_SHARED) p[7] = 0;
    if (!is_int || p[6] == RSK_DECODE_NONE) p[13] = 0;
    p[11] = has_width;
    put(p + 16, 0, 4);
    put(p + 20, has_width ? 0x3FF00000u : 0, 4); /* 1.0 */
    p[10] = p[1] != RSK_POOL_SPARSE ? 0 : p[10] == 0 ? 3 : p[10];
    p[12] = p[1] != RSK_POOL_THRESHOLD ? 0 : !is_int ? 4 : p[12] == 2 ? 2 : 1;
    if (!is_pool) p[9] = 0;
    if (p[1] == RSK_POOL_THRESHOLD) p[9] &= RSK_HAS_INDICES;
    if (has_bits) p[9] &= RSK_HAS_INDICES | RSK_SEEDED;
    if (p[9] & RSK_INTERPOLATED) put(p + 32, 1, 4);
    if (is_int && (p[9] & RSK_LEVELS) && !(p[9] & RSK_SEEDED) && p[8] == 0) p[8] = 1;
    if (!is_pool || p[1] == RSK_POOL_THRESHOLD) put(p + 48, 0, 4);
    if (!(p[9] & RSK_SEEDED) || !has_bits) put(p + 64, 0, 4);
    if (!(p[9] & RSK_HAS_INDICES)) put(p + 44, rsk_u32(p + 28) * rsk_u32(p + 32), 4);
    if (p[3] == RSK_DIRECT) {
        if (has_bits || rsk_u32(p + 40) < 2) put(p + 40, 2, 4);
        uint64_t power = 1;
        for (uint32_t k = 0; k < rsk_u32(p + 32) && power <= 65536; k++) power *= rsk_u32(p + 40);
        put(p + 36, (uint32_t)power, 4);
    } else {
        put(p + 40, 0, 4);
    }
    if (p[6] == RSK_DECODE_NONE) put(p + 52, rsk_u32(m + 24), 4);
    if (p[6] == RSK_DECODE_ROWS) put(p + 52, 1, 4);
    if (p[6] != RSK_DECODE_NONE && p[5] == RSK_MEDIAN_OF_MEANS) p[5] = RSK_MEAN;
    if (p[5] != RSK_MEDIAN_OF_MEANS) put(p + 56, 1, 4);
    if (rsk_u32(p + 60) != 1) put(p + 60, rsk_u32(m + 24), 4);
}

/* And of STAGE. */
static void agree_stage(const uint8_t *m, uint8_t *s, bool is_last) {
    if (s[0] == RSK_ACTIVATION_NONE && !is_last) s[0] = RSK_ACTIVATION_CLIP;
    if (s[0] == RSK_ACTIVATION_NONE) s[4] = 0;
    if (s[0] == RSK_ACTIVATION_TABLE) s[4] = (uint8_t)(1 + s[4] % 8);
    s[5] = (uint8_t)(s[0] != RSK_ACTIVATION_TABLE ? 0 : s[5] == 4 || s[5] == 16 ? s[5] : 8);
    if (rsk_u16(s + 6) == 0 || rsk_u16(s + 6) > 32767) put(s + 6, 300, 2);
    if (is_last) put(s + 8, rsk_u32(m + 20), 4);
    if (s[1] < RSK_STAGE_MATRIX_SPARSE_INT8) put(s + 12, 0, 4);
    if (s[0] == RSK_ACTIVATION_NONE) put(s + 16, 0, 4);
    else if (rsk_u32(s + 16) > 1) put(s + 16, rsk_u32(m + 24), 4);
}

void agree(document *doc) {
    section *s = find(doc, MODEL);
    if (s == NULL || s->nbytes != 64) return;
    uint8_t *model = own(s, 64);
    if (s->nbytes == 64) agree_model(model);
    for (uint32_t i = 0; i < 4 && s->nbytes == 64; i++) {
        section *group = find(doc, ROW_GROUP + 8 * i);
        if (group == NULL || group->nbytes != 80) continue;
        uint8_t *bytes = own(group, 80);
        if (group->nbytes == 80) agree_group(model, bytes);
    }
    for (uint32_t i = 0; i < 4 && s->nbytes == 64; i++) {
        section *stage = find(doc, STAGE + RSK_STAGE_STRIDE * i);
        if (stage == NULL || stage->nbytes != RSK_STAGE_NBYTES) continue;
        uint8_t *bytes = own(stage, RSK_STAGE_NBYTES);
        if (stage->nbytes == RSK_STAGE_NBYTES) agree_stage(model, bytes, i + 1u == model[39]);
    }
}

/* Gives a section the length that fields require; makes it if there is none. */
static void fit(document *doc, uint32_t type, uint64_t n_bits) {
    static const uint8_t ones[] = {0, 0, 0x80, 0x3F}, small[] = {1};
    const uint32_t n = (uint32_t)((n_bits + 7) / 8);
    section *s = find(doc, type);
    if (n_bits > 8 * LARGEST_SECTION) return;
    if (n == 0) {
        if (s != NULL) drop(doc, (uint32_t)(s - doc->sections));
        return;
    }
    if (s == NULL) {
        const section floats = {type, 1, sizeof ones, ones}, bytes = {type, 1, sizeof small, small};
        s = add(doc, one_in(3) ? floats : bytes);
    }
    if (s == NULL || s->nbytes == n) return;
    uint8_t *bytes = own(s, n);
    if (s->nbytes == n && n_bits % 8 != 0) bytes[n - 1] &= (uint8_t)((1u << n_bits % 8) - 1u);
}

static void fit_group(document *doc, const uint8_t *m, uint32_t base) {
    const section *s = find(doc, base + ROW_GROUP);
    if (s == NULL || s->nbytes != 80) return;
    const uint8_t *p = s->bytes;
    const bool is_threshold = p[1] == RSK_POOL_THRESHOLD, has_indices = (p[9] & RSK_HAS_INDICES) != 0;
    const uint64_t n_rows = rsk_u32(p + 28) % 65537, n_concat = rsk_u32(p + 32) % 4097;
    const uint64_t n_buckets = rsk_u32(p + 36) % 65537, n_numbers = rsk_u32(p + 52) % 65537;
    const uint32_t n_codes = rsk_u32(p + 44) % 65537, n_outputs = rsk_u32(m + 24) % 65537;
    const uint32_t n_inputs = rsk_u32(m + (p[0] == 0 ? 16 : 20)) % 1048577;
    const uint64_t n_decode = p[6] == 0 ? 0 : (p[6] == RSK_DECODE_ROWS ? n_rows : n_numbers) * n_outputs;
    fit(doc, base + INDICES, has_indices ? n_rows * n_concat * rsk_index_bits(n_codes + (n_codes == 0)) : 0);
    fit(doc, base + CODE_COLUMNS, is_threshold ? (uint64_t)n_codes * rsk_index_bits(n_inputs + (n_inputs == 0)) : 0);
    fit(doc, base + THRESHOLDS, is_threshold ? (uint64_t)n_codes * p[12] * 8 : 0);
    fit(doc, base + COUNTERS, n_rows * n_buckets * n_numbers * (32u >> p[4] % 4u));
    fit(doc, base + DECODE, n_decode * (m[0] != RSK_INT ? 32 : p[13] == 0 ? 8 : 4));
    fit(doc, base + GAIN, 32 * (uint64_t)(rsk_u32(p + 60) % 65537));
}

/* The matrix of a sparse stage has as many entries as its bitmap has ones; their number is written into the record. */
static void fit_sparse(document *doc, uint32_t type, uint64_t n, uint32_t bits) {
    const uint64_t nbytes = (n + 7) / 8;
    section *s = find(doc, type);
    uint32_t n_ones = 0;
    if (nbytes > LARGEST_SECTION) return;
    if (s == NULL) fit(doc, type, n);
    else if (s->nbytes < nbytes) own(s, (uint32_t)nbytes);
    s = find(doc, type);
    if (s == NULL || s->nbytes < nbytes || nbytes == 0) return;
    uint8_t *bytes = own(s, s->nbytes);
    if (s->nbytes < nbytes) return;
    if (n % 8 != 0) bytes[nbytes - 1] &= (uint8_t)((1u << n % 8) - 1u);
    for (uint64_t i = 0; i < nbytes; i++) n_ones += rsk_ones_count(bytes[i]);
    fit(doc, type, 8 * nbytes + (uint64_t)n_ones * bits);
    section *record = find(doc, type - 1);
    if (record == NULL || record->nbytes != RSK_STAGE_NBYTES) return;
    uint8_t *fields = own(record, RSK_STAGE_NBYTES);
    if (record->nbytes == RSK_STAGE_NBYTES) put(fields + 12, n_ones, 4);
}

static void fit_stage(document *doc, const uint8_t *m, uint32_t type, uint64_t *n_inputs) {
    section *record = find(doc, type);
    if (record == NULL || record->nbytes != RSK_STAGE_NBYTES) return;
    const uint8_t *s = record->bytes;
    const uint64_t p = rsk_u32(s + 8) % 65537, n = *n_inputs * p, n_outputs = rsk_u32(m + 24) % 65537;
    const uint64_t n_gains = rsk_u32(s + 16) % 65537, n_coordinates = p * (2u + s[5]);
    const uint32_t bits = s[1] % 2 == 0 ? 8 : 4;
    const bool is_sparse = s[1] >= RSK_STAGE_MATRIX_SPARSE_INT8;
    *n_inputs = p;
    fit(doc, type + 2, 8 * n_coordinates);
    fit(doc, type + 3, n_gains == 0 ? 0 : 32 * n_gains + 8 * p * n_outputs);
    if (is_sparse) fit_sparse(doc, type + 1, n, bits);
    else fit(doc, type + 1, n * bits);
}

/* Lengths of sections. The remainders keep products within 64 bits; sizes over their caps are refused anyway. */
void fit_all(document *doc) {
    static const uint8_t stored[] = {32, 16, 8}, matrix[] = {0, 0, 32, 8, 2, 0}, linear[] = {0, 32, 16, 8};
    const section *s = find(doc, MODEL);
    if (s == NULL || s->nbytes != 64) return;
    uint8_t m[64];
    memcpy(m, s->bytes, 64);
    const uint64_t n_columns = rsk_u32(m + 12) % 1048577, n_values = rsk_u32(m + 16) % 1048577;
    const uint64_t p = rsk_u32(m + 20) % 1048577, n_outputs = rsk_u32(m + 24) % 65537;
    const uint32_t n_features = rsk_u32(m + 8) % 1048577;
    fit(doc, COLUMNS, m[30] & RSK_HAS_COLUMNS ? n_columns * rsk_index_bits(n_features + (n_features == 0)) : 0);
    fit(doc, KINDS, m[28] == RSK_KINDS_MIXED ? 16 * n_columns : 0);
    fit(doc, CENTERS, (uint64_t)rsk_u32(m + 44) * stored[m[7] % 3]);
    fit(doc, SCALES, (uint64_t)rsk_u32(m + 48) * stored[m[7] % 3]);
    fit(doc, PROJECTION, n_values * p * matrix[m[4] % 6]);
    fit(doc, SHIFT, m[30] & RSK_HAS_SHIFT ? 32 * p : 0);
    fit(doc, MULTIPLIERS, m[30] & RSK_HAS_MULTIPLIERS ? 16 * p : 0);
    const bool is_scaled = m[0] == RSK_FLOAT32 && (m[4] == RSK_PROJECTION_INT8 || m[4] == RSK_PROJECTION_TERNARY);
    fit(doc, PROJECTION_SCALES, is_scaled ? 32 * p : 0);
    fit(doc, LINEAR, p * n_outputs * linear[m[6] % 4]);
    fit(doc, LINEAR_GAIN, 32 * (uint64_t)rsk_u32(m + 52));
    fit(doc, OFFSET, (m[38] == RSK_STORED_FLOAT32 ? 32 : 16) * n_outputs);
    for (uint32_t i = 0; i < 4; i++) fit_group(doc, m, 8 * i);
    uint64_t n_inputs = n_values;
    for (uint32_t i = 0; i < 4; i++) fit_stage(doc, m, STAGE + RSK_STAGE_STRIDE * i, &n_inputs);
}
