/* rsk_sections.h: the sections of a file, as the files of the reader use them. */
#ifndef RSK_SECTIONS_H
#define RSK_SECTIONS_H

#include "rsk_bytes.h"
#include "rsk_check.h"

enum { RSK_COUNT_CAP = 65536, RSK_LARGEST_SHIFT = 31, RSK_LARGEST_INT16 = 32767 }; /* the cap: of most sizes */

/* Types of sections; those of group of rows i lie RSK_ROW_GROUP_STRIDE i above those of group 0, those of stage i
 * RSK_STAGE_STRIDE i above those of stage 0. */
enum {
#define SECTION(name, type) name = type,
    RSK_SECTIONS(SECTION)
#undef SECTION
};

typedef struct {
    const uint8_t *file;
    uint32_t n_sections;
    uint32_t used;      /* bit i: section i belongs to the model */
    uint32_t n_numeric; /* columns */
    rsk_sum_bounds bounds;
    uint32_t crc_table[256];
} rsk_reader;

static inline bool rsk_are_zero(const uint8_t *bytes, uint64_t n) {
    for (uint64_t i = 0; i < n; i++)
        if (bytes[i] != 0) return false;
    return true;
}

/* Section 1 of the specification: header, table of sections, padding, checksums. */
rsk_status rsk_framing_check(rsk_reader *r, uint64_t nbytes, uint64_t max_nbytes);

/* A section that the model needs, of exactly n bytes; none at all if n is 0. */
rsk_status rsk_section_take(rsk_reader *r, uint32_t type, uint64_t n, const uint8_t **bytes);

/* n float32 numbers of at most `largest` (its bits) in size, or `status`. */
rsk_status rsk_floats_take(rsk_reader *r, uint32_t type, uint64_t n, uint32_t largest, rsk_status status,
                           const uint8_t **bytes);
rsk_status rsk_not_zero_check(const uint8_t *floats, uint64_t n);

/* n integers of 2, 4, 8 or 16 bits, the most negative one not among them. */
rsk_status rsk_ints_take(rsk_reader *r, uint32_t type, uint64_t n, uint32_t bits, const uint8_t **bytes);

/* No bits behind n_bits packed ones. */
rsk_status rsk_left_over_check(const uint8_t *bytes, uint64_t n_bits);

/* n packed indices below `limit`. */
rsk_status rsk_indices_take(rsk_reader *r, uint32_t type, uint64_t n, uint32_t limit, bool is_rising,
                            const uint8_t **bytes);

/* No section of a model that has not been taken. */
rsk_status rsk_used_check(const rsk_reader *r);

/* A section a model may do without, or NULL. */
const uint8_t *rsk_section_find(const rsk_reader *r, uint32_t type, uint32_t *nbytes);

/* rsk_row_group.c: group of rows `index`. Everything before it must have been checked. */
rsk_status rsk_row_group_check(rsk_reader *r, uint32_t index, const rsk_model *m, rsk_row_group *p);

/* rsk_stages.c: stage `index` of the model. Everything before it must have been checked. */
rsk_status rsk_stage_check(rsk_reader *r, uint32_t index, rsk_model *m);

#endif
