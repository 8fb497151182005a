/* rsk_sections.c: framing and arrays, section 1 of docs/spec/format.md.
 *
 * No byte of a section is read before its place and length are known to be right.
 */
#include "rsk_sections.h"

enum {
    HEADER_CAP = 64 << 10,
    SECTIONS_CAP = 32,
    HEADER_NBYTES = 32,
    ENTRY_NBYTES = 24,
    FORMAT_VERSION = 1,
    REQUIRED = 1
};

static const uint8_t *entry_at(const rsk_reader *r, uint32_t i) {
    return r->file + HEADER_NBYTES + ENTRY_NBYTES * (size_t)i;
}

static uint32_t type_of(const uint8_t *entry) { return rsk_u32(entry); }
static uint32_t flags_of(const uint8_t *entry) { return rsk_u32(entry + 4); }
static uint32_t offset_of(const uint8_t *entry) { return rsk_u32(entry + 8); }
static uint32_t length_of(const uint8_t *entry) { return rsk_u32(entry + 12); }
static uint32_t crc_of(const uint8_t *entry) { return rsk_u32(entry + 16); }

static bool is_known(uint32_t type) {
    if (type >= ROW_GROUP && type < ROW_GROUP + RSK_ROW_GROUP_STRIDE * RSK_MAX_ROW_GROUPS)
        type = ROW_GROUP + (type - ROW_GROUP) % RSK_ROW_GROUP_STRIDE;
    if (type >= STAGE && type < STAGE + RSK_STAGE_STRIDE * RSK_MAX_STAGES)
        type = STAGE + (type - STAGE) % RSK_STAGE_STRIDE;
    switch (type) {
#define SECTION(name, type) case type:
        RSK_SECTIONS(SECTION)
#undef SECTION
        return true;
    default:
        return false;
    }
}

static uint64_t round_up(uint64_t offset) { return (offset + 7u) & ~(uint64_t)7u; }

static rsk_status check_header(rsk_reader *r, uint64_t nbytes) {
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
    RSK_REFUSE_IF(!rsk_are_zero(header + 27, 5), PADDING);
    return RSK_OK;
}

static rsk_status check_entries(const rsk_reader *r, uint64_t nbytes) {
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
        RSK_REFUSE_IF(is_known(type) && type < RSK_FIRST_OPTIONAL && flags != REQUIRED, FLAGS);
        end = offset + length;
    }
    RSK_REFUSE_IF(round_up(end) != nbytes, TRAILING);
    return RSK_OK;
}

rsk_status rsk_framing_check(rsk_reader *r, uint64_t nbytes, uint64_t max_nbytes) {
    RSK_REFUSE_IF(nbytes == 0, EMPTY);
    RSK_REFUSE_IF(nbytes > max_nbytes, FILE_CAP);
    RSK_REFUSE_IF(nbytes < HEADER_NBYTES, TOO_SHORT);
    RSK_TRY(check_header(r, nbytes));
    RSK_TRY(check_entries(r, nbytes));
    for (uint32_t i = 0; i < r->n_sections; i++) {
        const uint8_t *entry = entry_at(r, i);
        const uint64_t offset = offset_of(entry), end = offset + length_of(entry);
        RSK_REFUSE_IF(!rsk_are_zero(r->file + end, round_up(end) - end), PADDING);
        RSK_REFUSE_IF(rsk_crc_add(r->crc_table, 0, r->file + offset, end - offset) != crc_of(entry), SECTION_CRC);
    }
    return RSK_OK;
}

/* ---- arrays ---- */

static const uint8_t *find_entry(const rsk_reader *r, uint32_t type, uint32_t *index) {
    for (uint32_t i = 0; i < r->n_sections; i++) {
        *index = i;
        if (type_of(entry_at(r, i)) == type) return entry_at(r, i);
    }
    return NULL;
}

rsk_status rsk_section_take(rsk_reader *r, uint32_t type, uint64_t n, const uint8_t **bytes) {
    *bytes = NULL;
    if (n == 0) return RSK_OK;
    uint32_t index = 0;
    const uint8_t *entry = find_entry(r, type, &index);
    RSK_REFUSE_IF(entry == NULL, SECTION_MISSING);
    RSK_REFUSE_IF(length_of(entry) != n, SIZE_MISMATCH);
    r->used |= 1u << index;
    *bytes = r->file + offset_of(entry);
    return RSK_OK;
}

rsk_status rsk_left_over_check(const uint8_t *bytes, uint64_t n_bits) {
    RSK_REFUSE_IF(n_bits % 8 != 0 && bytes[n_bits / 8] >> (n_bits % 8) != 0, PADDING);
    return RSK_OK;
}

rsk_status rsk_floats_take(rsk_reader *r, uint32_t type, uint64_t n, uint32_t largest, rsk_status status,
                           const uint8_t **bytes) {
    RSK_TRY(rsk_section_take(r, type, 4 * n, bytes));
    for (uint64_t i = 0; i < n; i++)
        if ((rsk_u32(*bytes + 4 * i) & 0x7FFFFFFFu) > largest) return status;
    return RSK_OK;
}

rsk_status rsk_not_zero_check(const uint8_t *floats, uint64_t n) {
    for (uint64_t i = 0; i < n; i++) RSK_REFUSE_IF((rsk_u32(floats + 4 * i) & 0x7FFFFFFFu) == 0, SCALE);
    return RSK_OK;
}

rsk_status rsk_ints_take(rsk_reader *r, uint32_t type, uint64_t n, uint32_t bits, const uint8_t **bytes) {
    RSK_TRY(rsk_section_take(r, type, (n * bits + 7) / 8, bytes));
    const int32_t most_negative = -(1 << (bits - 1));
    for (uint64_t i = 0; i < n; i++) RSK_REFUSE_IF(rsk_packed_signed(*bytes, i, bits) == most_negative, COUNTER_RANGE);
    return rsk_left_over_check(*bytes, n * bits);
}

rsk_status rsk_indices_take(rsk_reader *r, uint32_t type, uint64_t n, uint32_t limit, bool is_rising,
                            const uint8_t **bytes) {
    const uint32_t bits = rsk_index_bits(limit);
    RSK_TRY(rsk_section_take(r, type, (n * bits + 7) / 8, bytes));
    if (bits == 0) return RSK_OK;
    for (uint64_t i = 0; i < n; i++) RSK_REFUSE_IF(rsk_packed(*bytes, i, bits) >= limit, INDEX_RANGE);
    for (uint64_t i = 1; is_rising && i < n; i++)
        RSK_REFUSE_IF(rsk_packed(*bytes, i, bits) <= rsk_packed(*bytes, i - 1, bits), INDEX_ORDER);
    return rsk_left_over_check(*bytes, n * bits);
}

rsk_status rsk_used_check(const rsk_reader *r) {
    for (uint32_t i = 0; i < r->n_sections; i++) {
        const uint32_t type = type_of(entry_at(r, i));
        RSK_REFUSE_IF(type < RSK_FIRST_OPTIONAL && is_known(type) && (r->used >> i & 1u) == 0, SECTION_UNEXPECTED);
    }
    return RSK_OK;
}

const uint8_t *rsk_section_find(const rsk_reader *r, uint32_t type, uint32_t *nbytes) {
    uint32_t index = 0;
    const uint8_t *entry = find_entry(r, type, &index);
    *nbytes = entry == NULL ? 0 : length_of(entry);
    return entry == NULL ? NULL : r->file + offset_of(entry);
}
