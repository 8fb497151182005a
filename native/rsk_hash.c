#include "rsk_hash.h"

static uint32_t rotate_left(uint32_t x, unsigned n) { return (x << n) | (x >> (32u - n)); }

void rsk_threefry(uint32_t key0, uint32_t key1, uint32_t counter0, uint32_t counter1, uint32_t out[2]) {
    static const unsigned rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
    const uint32_t schedule[3] = {key0, key1, key0 ^ key1 ^ 0x1BD11BDAu};
    uint32_t x0 = counter0 + key0, x1 = counter1 + key1;
    for (uint32_t group = 0; group < 5; group++) {
        for (int i = 0; i < 4; i++) {
            x0 += x1;
            x1 = rotate_left(x1, rotations[group % 2][i]) ^ x0;
        }
        x0 += schedule[(group + 1) % 3];
        x1 += schedule[(group + 2) % 3] + group + 1;
    }
    out[0] = x0;
    out[1] = x1;
}

uint32_t rsk_word(uint32_t seed, uint32_t stream, uint32_t row, uint32_t code, uint32_t index) {
    uint32_t pair[2];
    rsk_threefry(seed, stream, row, (code << 20) + index / 2, pair);
    return pair[index % 2];
}

void rsk_ternary_draw(uint32_t seed, uint32_t row, uint32_t code, uint32_t n_features, int8_t *out) {
    uint32_t pair[2] = {0, 0};
    uint32_t fraction = 0;
    for (uint32_t j = 0; j < n_features; j++) {
        if (j % 16 == 0) rsk_threefry(seed, RSK_STREAM_TERNARY, row, (code << 20) + j / 16, pair);
        if (j % 8 == 0) fraction = pair[(j / 8) % 2];
        const uint64_t product = (uint64_t)fraction * 6u; /* the next base-6 digit moves above bit 31 */
        const uint32_t digit = (uint32_t)(product >> 32);
        fraction = (uint32_t)product;
        out[j] = (int8_t)((digit == 5) - (digit == 0));
    }
}

uint32_t rsk_fold(uint32_t seed, uint32_t row, const int32_t *codes, uint32_t n_concat, uint32_t n_buckets) {
    uint32_t total = rsk_word(seed, RSK_STREAM_FOLD, row, 0, 1);
    for (uint32_t k = 0; k < n_concat; k++)
        total += ((uint32_t)codes[k] & 0xFFFFu) * rsk_word(seed, RSK_STREAM_FOLD, row, k, 0);
    return ((total >> 16) * n_buckets) >> 16;
}
