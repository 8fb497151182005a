/* rsk_hash.h: the generator of a sketch's hash functions and the fold of codes into buckets.
 *
 * docs/spec/generator.md is the specification; src/repsketch/lsh is the oracle. Only additions,
 * multiplications, rotations and shifts of unsigned words, so the results are the same everywhere.
 */
#ifndef RSK_HASH_H
#define RSK_HASH_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a word is used for; Stream in src/repsketch/lsh/generator.py. */
enum {
    RSK_STREAM_TERNARY = 1,
    RSK_STREAM_GAUSSIAN = 2,
    RSK_STREAM_OFFSET = 3,
    RSK_STREAM_FOLD = 4,
    RSK_STREAM_PITCH = 5,
    RSK_STREAM_CELL = 6,
    RSK_STREAM_MINHASH = 7
};

/* Threefry-2x32-20: two words for a key and a counter of two words each. */
void rsk_threefry(uint32_t key0, uint32_t key1, uint32_t counter0, uint32_t counter1, uint32_t out[2]);

/* Word `index` of (seed, stream, row, code). row < 2^32, code < 2^12, index < 2^21. */
uint32_t rsk_word(uint32_t seed, uint32_t stream, uint32_t row, uint32_t code, uint32_t index);

/* Directions in {-1, 0, +1} of one code: out[n_features]. */
void rsk_ternary_draw(uint32_t seed, uint32_t row, uint32_t code, uint32_t n_features, int8_t *out);

/* Bucket in [0, n_buckets) of the n_concat codes of one row; n_buckets <= 65536. */
uint32_t rsk_fold(uint32_t seed, uint32_t row, const int32_t *codes, uint32_t n_concat, uint32_t n_buckets);

#ifdef __cplusplus
}
#endif
#endif
