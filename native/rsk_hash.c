#include "rsk_hash.h"

#include <string.h>

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
    rsk_ternary_draw_from(seed, row, code, 0, n_features, out);
}

void rsk_ternary_draw_from(uint32_t seed, uint32_t row, uint32_t code, uint32_t first, uint32_t n, int8_t *out) {
    uint32_t pair[2] = {0, 0};
    uint32_t fraction = 0;
    for (uint32_t j = 0; j < n; j++) {
        if (j % 16 == 0) rsk_threefry(seed, RSK_STREAM_TERNARY, row, (code << 20) + (first + j) / 16, pair);
        if (j % 8 == 0) fraction = pair[(j / 8) % 2];
        const uint64_t product = (uint64_t)fraction * 6u; /* the next base-6 digit moves above bit 31 */
        const uint32_t digit = (uint32_t)(product >> 32);
        fraction = (uint32_t)product;
        out[j] = (int8_t)((digit == 5) - (digit == 0));
    }
}

float rsk_offset(uint32_t word) { return (float)(word >> 8) * 0x1p-24f; }

/* The middle of a word's share of (0, 1). */
static double unit_of(uint32_t word) { return ((double)word + 0.5) * 0x1p-32; }

/* Natural logarithm of a positive normal number. Libraries differ in the last bit. */
static double logarithm(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int32_t exponent = (int32_t)(bits >> 52) - 1022;
    bits = (bits & 0x000FFFFFFFFFFFFFu) | 0x3FE0000000000000u; /* the mantissa in [1/2, 1) */
    double mantissa;
    memcpy(&mantissa, &bits, sizeof mantissa);
    if (mantissa < 0.7071067811865476) {
        mantissa *= 2.0;
        exponent--;
    }
    const double s = (mantissa - 1.0) / (mantissa + 1.0), square = s * s;
    double series = 1.0 / 23.0;
    for (int power = 21; power > 0; power -= 2) series = series * square + 1.0 / power;
    return exponent * 0.6931471805599453 + 2.0 * s * series;
}

/* Square root of 1 <= x < 2^52, correctly rounded, digit by digit in integers: compilers keep a call of libm's
 * sqrt beside the instruction, and the smallest devices have neither. */
static double square_root(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const uint32_t exponent = (uint32_t)(bits >> 52) - 1023u;
    const uint64_t radicand = ((bits & 0x000FFFFFFFFFFFFFu) | 0x0010000000000000u) << (exponent % 2u);
    uint64_t root = 0, rest = 0; /* 54 bits of the root: one more than a float64 has; never exactly half-way */
    for (int32_t shift = 52; shift > -56; shift -= 2) {
        rest = rest << 2 | (shift >= 0 ? radicand >> shift & 3u : 0u);
        const uint64_t trial = root << 2 | 1u;
        root <<= 1;
        if (rest >= trial) {
            rest -= trial;
            root |= 1u;
        }
    }
    const uint64_t scale_bits = (uint64_t)(1023u - 52u + exponent / 2u) << 52;
    double scale;
    memcpy(&scale, &scale_bits, sizeof scale);
    return (double)((root + 1u) >> 1) * scale;
}

/* Wichura's AS 241 (PPND16), highest power first; generator.py says where it comes from. */
enum { N_COEFFICIENTS = 8 };
static const double centre[2][N_COEFFICIENTS] = {
    {2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457, 13731.693765509461125,
     1971.5909503065514427, 133.14166789178437745, 3.387132872796366608},
    {5226.495278852854561, 28729.085735721942674, 39307.89580009271061, 21213.794301586595867, 5394.1960214247511077,
     687.1870074920579083, 42.313330701600911252, 1.0},
};
static const double outer[2][N_COEFFICIENTS] = {
    {7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177, 1.27045825245236838258,
     3.64784832476320460504, 5.7694972214606914055, 4.6303378461565452959, 1.42343711074968357734},
    {1.05075007164441684324e-9, 5.475938084995344946e-4, 0.0151986665636164571966, 0.14810397642748007459,
     0.68976733498510000455, 1.6763848301838038494, 2.05319162663775882187, 1.0},
};

static double ratio(const double coefficients[2][N_COEFFICIENTS], double x) {
    double above = coefficients[0][0], below = coefficients[1][0];
    for (uint32_t i = 1; i < N_COEFFICIENTS; i++) {
        above = above * x + coefficients[0][i];
        below = below * x + coefficients[1][i];
    }
    return above / below;
}

float rsk_gaussian(uint32_t word) {
    const double q = unit_of(word) - 0.5, size = q < 0.0 ? -q : q;
    if (size <= 0.425) return (float)(q * ratio(centre, 0.180625 - q * q));
    const double tail = ratio(outer, square_root(-logarithm(0.5 - size)) - 1.6);
    return (float)(q < 0.0 ? -tail : tail);
}

float rsk_inverse_pitch(uint32_t word0, uint32_t word1) {
    return (float)(1.0 / -(logarithm(unit_of(word0)) + logarithm(unit_of(word1))));
}

uint32_t rsk_pool_sparse(uint32_t seed, uint32_t code, uint32_t n_features, uint32_t n_nonzeros, uint32_t n_axes,
                         uint32_t positions[RSK_MAX_NONZEROS], int8_t signs[RSK_MAX_NONZEROS]) {
    if (code < n_axes) {
        positions[0] = code;
        signs[0] = 1;
        return 1;
    }
    uint32_t words[1 + RSK_MAX_NONZEROS];
    rsk_threefry(seed, RSK_STREAM_SPARSE, code, 0, words);
    rsk_threefry(seed, RSK_STREAM_SPARSE, code, 1, words + 2);
    const uint32_t n = 1 + ((words[0] >> 16) * (n_nonzeros < n_features ? n_nonzeros : n_features) >> 16);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t place = (uint32_t)((uint64_t)(words[i + 1] >> 1) * (n_features - i) >> 31); /* among those left */
        uint32_t rank = 0;
        while (rank < i && positions[rank] <= place) { /* each one taken below moves it up */
            rank++;
            place++;
        }
        for (uint32_t k = i; k > rank; k--) {
            positions[k] = positions[k - 1];
            signs[k] = signs[k - 1];
        }
        positions[rank] = place;
        signs[rank] = words[i + 1] & 1u ? -1 : 1;
    }
    return n;
}

void rsk_bias_start(rsk_bias *bias, uint32_t seed, uint32_t code, bool is_int, uint32_t bias_scale) {
    memset(bias, 0, sizeof *bias);
    bias->seed = seed;
    bias->code = code;
    bias->pair_index = 0xFFFFFFFFu;
    bias->is_int = is_int;
    if (is_int)
        bias->int_scale = bias_scale;
    else
        memcpy(&bias->scale, &bias_scale, sizeof bias->scale);
}

void rsk_bias_add(rsk_bias *bias, int8_t sign, bool is_boolean) {
    const uint32_t index = bias->n_nonzeros++;
    bias->n_minus += sign < 0;
    if (is_boolean) {
        bias->n_booleans++;
        return;
    }
    if (bias->pair_index != index / 2) {
        bias->pair_index = index / 2;
        rsk_threefry(bias->seed, RSK_STREAM_BIAS, bias->code, index / 2, bias->pair);
    }
    const uint32_t word = bias->pair[index % 2];
    const int32_t g = (int32_t)((word & 255u) + (word >> 8 & 255u) + (word >> 16 & 255u) + (word >> 24)) - 510;
    if (bias->is_int) {
        const int64_t product = g * bias->int_scale, step = (product - (product & 255)) / 256; /* rounded down */
        bias->int_sum += sign < 0 ? -step : step;
    } else {
        const float step = (float)g * bias->scale;
        bias->sum = sign < 0 ? bias->sum - step : bias->sum + step;
    }
}

/* Where all non-zeros sit on boolean values: between two of the sums they can have. */
static int32_t boolean_bias(const rsk_bias *bias) {
    const uint32_t word = rsk_word(bias->seed, RSK_STREAM_BIAS, bias->code, 0, 0);
    const uint32_t step = (uint32_t)((uint64_t)(word >> 16) * bias->n_nonzeros >> 16);
    return 1 - (int32_t)bias->n_minus + (int32_t)step;
}

float rsk_bias_float(const rsk_bias *bias) {
    return bias->n_booleans == bias->n_nonzeros ? (float)boolean_bias(bias) : bias->sum;
}

int32_t rsk_bias_int(const rsk_bias *bias) {
    return bias->n_booleans == bias->n_nonzeros ? boolean_bias(bias) : (int32_t)bias->int_sum;
}

uint32_t rsk_fold(uint32_t seed, uint32_t row, const int32_t *codes, uint32_t n_concat, uint32_t n_buckets) {
    uint32_t total = rsk_word(seed, RSK_STREAM_FOLD, row, 0, 1);
    for (uint32_t k = 0; k < n_concat; k++)
        total += ((uint32_t)codes[k] & 0xFFFFu) * rsk_word(seed, RSK_STREAM_FOLD, row, k, 0);
    return ((total >> 16) * n_buckets) >> 16;
}
