/* rsk_hash.h: the generator of a sketch's hash functions and the fold of codes into buckets.
 *
 * docs/spec/generator.md and docs/spec/inference.md (*Codes of a pool*) are the specification; src/repsketch/lsh
 * is the oracle. Integer arithmetic and single IEEE operations only, so the results are the same everywhere
 * (compile with -ffp-contract=off).
 */
#ifndef RSK_HASH_H
#define RSK_HASH_H

#include <stdbool.h>
#include <stdint.h>

#include "rsk_format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Threefry-2x32-20: two words for a key and a counter of two words each. */
void rsk_threefry(uint32_t key0, uint32_t key1, uint32_t counter0, uint32_t counter1, uint32_t out[2]);

/* Word `index` of (seed, stream, row, code). row < 2^32, code < 2^12, index < 2^21. */
uint32_t rsk_word(uint32_t seed, uint32_t stream, uint32_t row, uint32_t code, uint32_t index);

/* Directions in {-1, 0, +1} of one code: out[n_features]. */
void rsk_ternary_draw(uint32_t seed, uint32_t row, uint32_t code, uint32_t n_features, int8_t *out);

/* The same for coordinates first .. first + n - 1 alone; first is a multiple of 16. */
void rsk_ternary_draw_from(uint32_t seed, uint32_t row, uint32_t code, uint32_t first, uint32_t n, int8_t *out);

/* An offset in [0, 1): the word's top 24 bits, exact. */
float rsk_offset(uint32_t word);

/* A standard normal number: the quantile of (word + 1/2) / 2^32. At most 6.34 in size. */
float rsk_gaussian(uint32_t word);

/* 1 / pitch of an axis of the L1 family, from its two words of stream PITCH. */
float rsk_inverse_pitch(uint32_t word0, uint32_t word1);

/* Non-zeros of code `code` of a sparse pool, or of one of the n_axes first codes of any pool: returns their number,
 * positions in rising order, signs +1 or -1. n_nonzeros is 1 to 3 (of any value where code < n_axes). */
enum { RSK_MAX_NONZEROS = 3 };
uint32_t rsk_pool_sparse(uint32_t seed, uint32_t code, uint32_t n_features, uint32_t n_nonzeros, uint32_t n_axes,
                         uint32_t positions[RSK_MAX_NONZEROS], int8_t signs[RSK_MAX_NONZEROS]);

/* The seeded bias of one code of a pool of bits, from the non-zeros of its direction one after the other, so that a
 * direction of any length needs no memory:
 *
 *     rsk_bias bias;
 *     rsk_bias_start(&bias, group->seed, code, model->precision == RSK_INT, group->bias_scale);
 *     rsk_bias_add(&bias, sign, is_boolean);                      for every non-zero, in rising order of position
 *     float in_float32 = rsk_bias_float(&bias);                   or
 *     int32_t in_int = rsk_bias_int(&bias);
 */
typedef struct rsk_bias {
    uint32_t seed, code;
    uint32_t n_nonzeros, n_minus, n_booleans;
    uint32_t pair[2];    /* words of non-zeros 2i and 2i + 1, i = pair_index */
    uint32_t pair_index; /* 0xFFFFFFFF: none yet */
    bool is_int;
    float scale, sum; /* float32 precision */
    int64_t int_scale, int_sum;
} rsk_bias;

/* bias_scale: the 32 bits of the field of ROW_GROUP, a float32 or (is_int) an integer up to 32767. */
void rsk_bias_start(rsk_bias *bias, uint32_t seed, uint32_t code, bool is_int, uint32_t bias_scale);
/* is_boolean: the non-zero sits on a boolean or categorical value. */
void rsk_bias_add(rsk_bias *bias, int8_t sign, bool is_boolean);
float rsk_bias_float(const rsk_bias *bias);
/* Of up to 2^20 non-zeros with random signs: 2^31 is 190 standard deviations away, so 32 bits are enough. */
int32_t rsk_bias_int(const rsk_bias *bias);

/* Bucket in [0, n_buckets) of the n_concat codes of one row; n_buckets <= 65536. */
uint32_t rsk_fold(uint32_t seed, uint32_t row, const int32_t *codes, uint32_t n_concat, uint32_t n_buckets);

#ifdef __cplusplus
}
#endif
#endif
