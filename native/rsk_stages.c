/* rsk_stages.c: section 3, paragraph 5 of docs/spec/format.md: the stages of a model. */
#include "rsk_sections.h"
#include "rsk_stages.h"

enum { LARGEST_BITS = 15, LARGEST_TABLE_BITS = 8 }; /* of a shift and of what ReLU and clip drop; between two entries */

static void read_stage(const uint8_t *bytes, rsk_stage *s) {
#define FIELD(name, type, offset) s->name = rsk_##type(bytes + offset);
    RSK_STAGE_FIELDS(FIELD)
#undef FIELD
}

static bool has_zeros(const uint8_t *bytes) {
#define ZEROS(offset, n) rsk_are_zero(bytes + offset, n) &&
    return RSK_STAGE_UNUSED(ZEROS) true;
#undef ZEROS
}

static rsk_status check_activation(const rsk_stage *s) {
    const bool is_table = s->activation == RSK_ACTIVATION_TABLE, is_none = s->activation == RSK_ACTIVATION_NONE;
    const uint32_t most = is_none ? 0 : is_table ? LARGEST_TABLE_BITS : LARGEST_BITS;
    RSK_REFUSE_IF(s->width_bits < is_table || s->width_bits > most, SHIFT);
    if (is_table) {
        RSK_REFUSE_IF(s->n_levels != 4 && s->n_levels != 8 && s->n_levels != 16, FIELD);
    } else {
        RSK_REFUSE_IF(s->n_levels != 0, FIELD);
    }
    return RSK_OK;
}

static rsk_status check_fields(const uint8_t *bytes, const rsk_model *m, const rsk_stage *s, bool is_last) {
    const bool is_none = s->activation == RSK_ACTIVATION_NONE;
    RSK_REFUSE_IF(s->activation > RSK_LAST_ACTIVATION || (is_none && !is_last), FIELD);
    RSK_REFUSE_IF(s->matrix > RSK_LAST_STAGE_MATRIX, FIELD);
    RSK_REFUSE_IF(s->right_shift > RSK_LARGEST_SHIFT || s->shift_bits > LARGEST_BITS, SHIFT);
    RSK_TRY(check_activation(s));
    RSK_REFUSE_IF(s->limit == 0 || s->limit > RSK_LARGEST_INT16, SHIFT);
    RSK_TRY(rsk_count_check(s->n_components, RSK_COUNT_CAP));
    RSK_REFUSE_IF(is_last && s->n_components != m->n_components, SIZE_MISMATCH);
    RSK_REFUSE_IF(s->n_nonzeros > (rsk_stage_is_sparse(s) ? rsk_stage_size(s) : 0), SIZE_MISMATCH);
    RSK_REFUSE_IF(s->n_gains > 1 && s->n_gains != m->n_outputs, SIZE_MISMATCH);
    RSK_REFUSE_IF(s->n_gains != 0 && is_none, FIELD);
    RSK_REFUSE_IF(!has_zeros(bytes), PADDING);
    return RSK_OK;
}

static rsk_status check_sparse(rsk_reader *r, uint32_t type, rsk_stage *s) {
    const uint64_t n = rsk_stage_size(s), bits = rsk_stage_bits(s), nbytes = rsk_bitmap_nbytes(s);
    const int32_t most_negative = -(1 << (bits - 1));
    RSK_TRY(rsk_section_take(r, type, nbytes + (s->n_nonzeros * bits + 7) / 8, &s->entries));
    RSK_TRY(rsk_left_over_check(s->entries, n));
    uint64_t n_ones = 0;
    for (uint64_t i = 0; i < nbytes; i++) n_ones += rsk_ones_count(s->entries[i]);
    RSK_REFUSE_IF(n_ones != s->n_nonzeros, SIZE_MISMATCH);
    const uint8_t *entries = s->entries + nbytes;
    for (uint64_t i = 0; i < s->n_nonzeros; i++) {
        const int32_t entry = rsk_packed_signed(entries, i, (uint32_t)bits);
        RSK_REFUSE_IF(entry == 0 || entry == most_negative, COUNTER_RANGE);
    }
    return rsk_left_over_check(entries, s->n_nonzeros * bits);
}

static rsk_status check_coordinates(rsk_reader *r, uint32_t type, rsk_stage *s) {
    const uint64_t p = s->n_components, n = p * (2 + (uint64_t)s->n_levels);
    RSK_TRY(rsk_section_take(r, type, n, &s->coordinates));
    for (uint64_t j = 0; j < p; j++) RSK_REFUSE_IF(s->coordinates[j] == 0, SCALE);
    for (uint64_t j = p; j < n; j++) RSK_REFUSE_IF(rsk_i8(s->coordinates + j) == -128, COUNTER_RANGE);
    return RSK_OK;
}

static rsk_status check_linear(rsk_reader *r, uint32_t type, const rsk_model *m, rsk_stage *s) {
    if (s->n_gains == 0) return RSK_OK;
    const uint64_t n_gains = s->n_gains, nbytes = 4 * n_gains + (uint64_t)s->n_components * m->n_outputs;
    RSK_TRY(rsk_section_take(r, type, nbytes, &s->linear));
    for (uint64_t i = 0; i < n_gains; i++)
        RSK_REFUSE_IF((rsk_u32(s->linear + 4 * i) & 0x7FFFFFFFu) > RSK_LARGEST_FINITE, SCALE);
    RSK_TRY(rsk_not_zero_check(s->linear, n_gains));
    for (uint64_t i = 4 * n_gains; i < nbytes; i++) RSK_REFUSE_IF(rsk_i8(s->linear + i) == -128, COUNTER_RANGE);
    return RSK_OK;
}

rsk_status rsk_stage_check(rsk_reader *r, uint32_t index, rsk_model *m) {
    const uint32_t base = RSK_STAGE_STRIDE * index;
    rsk_stage *s = m->stages + index;
    const uint8_t *f;
    RSK_TRY(rsk_section_take(r, base + STAGE, RSK_STAGE_NBYTES, &f));
    read_stage(f, s);
    s->n_inputs = index == 0 ? m->n_values : s[-1].n_components;
    RSK_TRY(check_fields(f, m, s, index + 1 == m->n_stages));
    if (rsk_stage_is_sparse(s)) RSK_TRY(check_sparse(r, base + STAGE_MATRIX, s));
    else RSK_TRY(rsk_ints_take(r, base + STAGE_MATRIX, rsk_stage_size(s), rsk_stage_bits(s), &s->entries));
    RSK_TRY(check_coordinates(r, base + STAGE_COORDINATES, s));
    RSK_TRY(check_linear(r, base + STAGE_LINEAR, m, s));
    return rsk_bounds_check_stage(m, index, r->n_numeric > 0, &r->bounds.stages[index]);
}
