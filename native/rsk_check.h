/* rsk_check.h: what the files of the reader share: rsk_file.c, rsk_sections.c, rsk_row_group.c, rsk_family.c,
 * rsk_stages.c, rsk_bounds.c, rsk_digest.c, rsk_totals.c, rsk_magnitudes.c, rsk_extras.c, rsk_text.c. */
#ifndef RSK_CHECK_H
#define RSK_CHECK_H

#include <stdbool.h>

#include "rsk.h"
#include "rsk_family.h"
#include "rsk_stages.h"

/* Leave a check with the status of the first one that fails. */
#define RSK_TRY(check)                                       \
    do {                                                     \
        const rsk_status rsk_try_status = (check);           \
        if (rsk_try_status != RSK_OK) return rsk_try_status; \
    } while (0)
#define RSK_REFUSE_IF(condition, name)    \
    do {                                  \
        if (condition) return RSK_##name; \
    } while (0)

enum { RSK_LARGEST_FINITE = 0x7F7FFFFF }; /* bits of a float32 number */

static inline rsk_status rsk_count_check(uint32_t n, uint32_t cap) {
    RSK_REFUSE_IF(n == 0, SIZE_ZERO);
    RSK_REFUSE_IF(n > cap, SIZE_CAP);
    return RSK_OK;
}

static inline uint32_t rsk_linear_bits(const rsk_model *m) { return m->linear == RSK_LINEAR_INT16 ? 16 : 8; }
static inline uint32_t rsk_counter_bits(const rsk_row_group *p) { return 32u >> p->counter_type; }
/* Of the int precision. */
static inline uint32_t rsk_decode_bits(const rsk_row_group *p) {
    return p->decode_stored_as == RSK_DECODE_BITS_INT4 ? 4 : 8;
}

/* rsk_digest.c: zlib's CRC-32 of what `crc` stands for (0: nothing) followed by n bytes; the digest of a
 * group of rows, of a family or of a pool. */
void rsk_crc_prepare(uint32_t table[256]);
uint32_t rsk_crc_add(const uint32_t table[256], uint32_t crc, const uint8_t *bytes, uint64_t n);
uint32_t rsk_digest_own(const rsk_model *model, const rsk_row_group *group, const uint32_t crc_table[256]);
uint32_t rsk_digest_pool(const rsk_model *model, const rsk_row_group *group, const uint32_t crc_table[256]);
uint32_t rsk_digest_find(const rsk_model *model, const rsk_row_group *group, const uint32_t crc_table[256]);

/* rsk_bounds.c: the int precision keeps within 32 bits. All arrays must have been checked before. `largest`: in, 0; out,
 * the largest size of the linear term, or of an accumulator. */
rsk_status rsk_bounds_check_model(const rsk_model *model, bool has_numeric, uint32_t *largest);
rsk_status rsk_bounds_check_stage(const rsk_model *model, uint32_t index, bool has_numeric, uint32_t *largest);
rsk_status rsk_bounds_check_group(const rsk_model *model, const rsk_row_group *group, bool has_numeric,
                                  uint32_t *largest);

/* rsk_totals.c: memory and work within what the caller accepts. All groups of rows must have been checked before. */
rsk_status rsk_totals_check(const rsk_model *model, const rsk_limits *limits);

/* rsk_magnitudes.c: outputs are finite for every finite input. All arrays must have been checked before. */
typedef struct rsk_sum_bounds { /* of the int precision, from rsk_bounds.c */
    uint32_t linear, accumulators[RSK_MAX_ROW_GROUPS], stages[RSK_MAX_STAGES]; /* of linear terms */
} rsk_sum_bounds;
rsk_status rsk_magnitudes_check(const rsk_model *model, const rsk_sum_bounds *bounds);

/* rsk_extras.c: sections SUMS and INTERVALS. All other arrays must have been checked before. */
rsk_status rsk_sums_check(const rsk_model *model);
rsk_status rsk_intervals_check(const rsk_model *model);

/* rsk_text.c: a table of n >= 1 strings, with the statuses of the section it lies in; section CATEGORIES; section
 * CLASSES with n >= 1 labels; section METADATA. */
rsk_status rsk_table_check(const uint8_t *bytes, uint32_t nbytes, uint32_t n, rsk_status too_short,
                           rsk_status duplicate);
rsk_status rsk_categories_check(const uint8_t *bytes, uint32_t nbytes, const uint8_t *kinds, uint32_t n_columns);
rsk_status rsk_classes_check(const uint8_t *bytes, uint32_t nbytes, uint32_t n);
rsk_status rsk_metadata_check(const uint8_t *bytes, uint32_t nbytes);

#endif
