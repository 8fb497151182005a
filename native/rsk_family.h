/* rsk_family.h: what differs between the LSH families, and between the pools of codes that rows share.
 *
 * One record each, found by the number in the file (`hash` of ROW_GROUP). The reader, the bounds, the digest and the
 * plan read the record and never the number; a new family is a new record in rsk_family.c and, if its codes are
 * computed in a new way, one loop in rsk_predict_block_codes.inc. src/repsketch/lsh has the same as classes.
 */
#ifndef RSK_FAMILY_H
#define RSK_FAMILY_H

#include <stdbool.h>

#include "rsk.h"

/* How a code is computed: a sum of coordinates, the smallest word among those that are not 0, the cell of a grid. */
enum { RSK_CODE_SUM = 0, RSK_CODE_LEAST, RSK_CODE_CELL };

/* Coordinate j of a code whose entries are no terms: its weight and, for the cell of a grid, multiplier and offset; of
 * RSK_CODE_LEAST the word is the multiplier. */
typedef struct rsk_cell {
    float weight;
    uint32_t multiplier, offset_word;
} rsk_cell;

typedef struct rsk_family {
    /* What a file may say. */
    bool exists;
    bool has_bandwidth;  /* one parameter, the bucket width */
    bool has_directions; /* ternary or Gaussian */
    bool has_order;      /* neighbouring codes belong to neighbouring points: the direct fold is allowed */
    bool has_signs;      /* codes are bits; of pools the flag LEVELS says so */
    bool is_stored;      /* columns and thresholds of the codes are in the file, not drawn */
    bool has_offset;     /* a code begins with a random offset of stream OFFSET */
    bool wraps;          /* sums of ternary directions that are hashed count modulo 2^16 in the int precision */
    uint8_t code;          /* RSK_CODE_SUM ... */
    uint8_t most_nonzeros; /* of a direction; 0: as many as there are coordinates */
    uint8_t weight_bits;   /* of an integer weight behind the point, where directions are not ternary */
    uint8_t entry_nbytes;  /* a coordinate of a code in an unpacked plan, where codes are not lists of terms */
    /* Bound of the integer sum behind a code, for coordinates of at most this size. */
    uint64_t (*largest_sum)(const rsk_row_group *group, uint64_t coordinate);
    /* Entry j of code k of a row as 32 bits, a word or a float32; and all that is drawn for that coordinate. NULL for
     * pools; ternary directions have terms instead. */
    uint32_t (*draw_entry)(const rsk_row_group *group, uint32_t row, uint32_t k, uint32_t j);
    rsk_cell (*draw_cell)(const rsk_row_group *group, uint32_t row, uint32_t k, uint32_t j);
    /* Non-zeros of a ternary code, in rising order, as coordinate * 2 + (1 if subtracted); returns how many. */
    uint32_t (*draw_terms)(const rsk_row_group *group, uint32_t code, uint32_t *terms);
    /* Start of a level, or bias of a bit, of a code with these terms. */
    int32_t (*draw_start)(const rsk_model *model, const rsk_row_group *group, uint32_t code, const uint32_t *terms,
                          uint32_t n);
    float (*draw_float_start)(const rsk_model *model, const rsk_row_group *group, uint32_t code, const uint32_t *terms,
                              uint32_t n);
    /* Checksum of what a reader must be able to draw; NULL: nothing is drawn, 0. */
    uint32_t (*digest)(const rsk_model *model, const rsk_row_group *group, const uint32_t crc_table[256]);
} rsk_family;

/* The record of a number, or NULL. */
const rsk_family *rsk_family_find(uint32_t hash);
/* The record of a group of rows that has been checked. */
extern const rsk_family rsk_families[RSK_LAST_HASH + 1];
static inline const rsk_family *rsk_family_of(const rsk_row_group *group) { return rsk_families + group->hash; }

static inline bool rsk_is_pool(const rsk_row_group *group) { return group->hash >= RSK_FIRST_POOL; }
static inline bool rsk_has_flag(const rsk_row_group *group, uint32_t flag) { return (group->flags & flag) != 0; }
/* Codes are bits. */
static inline bool rsk_has_bits(const rsk_row_group *group) {
    return rsk_is_pool(group) ? !rsk_has_flag(group, RSK_LEVELS) : rsk_family_of(group)->has_signs;
}
/* Codes are lists of coordinates that are added or subtracted. */
static inline bool rsk_has_terms(const rsk_row_group *group) {
    return rsk_is_pool(group) || (rsk_family_of(group)->has_directions && group->directions == RSK_DIRECTIONS_TERNARY);
}
static inline uint32_t rsk_most_terms(const rsk_row_group *group) {
    const uint32_t most = rsk_family_of(group)->most_nonzeros;
    return most == 0 ? group->n_inputs : most;
}
/* Sums behind codes count modulo 2^16 in the int precision. */
static inline bool rsk_wraps16(const rsk_row_group *group) {
    return rsk_family_of(group)->wraps && group->fold == RSK_UNIVERSAL && group->directions == RSK_DIRECTIONS_TERNARY;
}
/* Levels of the direct fold lie around code 0, half of them below it. */
static inline bool rsk_has_centred_levels(const rsk_row_group *group) {
    return group->fold == RSK_DIRECT && !rsk_is_pool(group) && !rsk_family_of(group)->has_signs;
}
/* The group hashes values, not coordinates behind a projection. */
static inline bool rsk_reads_values(const rsk_model *model, const rsk_row_group *group) {
    return group->source == RSK_SOURCE_VALUES || model->projection == RSK_PROJECTION_NONE;
}

/* By how many bits a sum of n terms is moved down in a normalised pool: half the bit length of n. */
uint32_t rsk_term_shift(const rsk_row_group *group, uint32_t n);

/* What compact plans draw for every row, one code or coordinate at a time. */
uint32_t rsk_terms_draw(const rsk_row_group *group, uint32_t code, uint32_t *terms);
int32_t rsk_start_draw(const rsk_model *model, const rsk_row_group *group, uint32_t code, const uint32_t *terms,
                       uint32_t n);
float rsk_float_start_draw(const rsk_model *model, const rsk_row_group *group, uint32_t code, const uint32_t *terms,
                           uint32_t n);
rsk_cell rsk_cell_draw(const rsk_row_group *group, uint32_t code, uint32_t j);
/* A weight as an integer, with the family's weight_bits behind the point. */
int16_t rsk_int_weight(const rsk_row_group *group, float weight);

#endif
