/* rsk_bytes.h: numbers out of the bytes of a .rsk file, little-endian and not aligned.
 *
 * docs/spec/format.md, section 2. Shared by the reader (rsk_file.c) and the runtime. Nothing here checks:
 * rsk_open has checked that every index lies inside its section.
 */
#ifndef RSK_BYTES_H
#define RSK_BYTES_H

#include <stdbool.h>
#include <string.h>

#include "rsk.h"

static inline uint8_t rsk_u8(const uint8_t *bytes) { return bytes[0]; }

static inline uint16_t rsk_u16(const uint8_t *bytes) { return (uint16_t)(bytes[0] | bytes[1] << 8); }

static inline uint32_t rsk_u32(const uint8_t *bytes) {
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static inline uint64_t rsk_u64(const uint8_t *bytes) {
    return (uint64_t)rsk_u32(bytes) | (uint64_t)rsk_u32(bytes + 4) << 32;
}

/* Bits are copied, not converted: C leaves the conversion of large unsigned numbers to the compiler. */
static inline int8_t rsk_i8(const uint8_t *bytes) {
    int8_t number;
    memcpy(&number, bytes, sizeof number);
    return number;
}

static inline int16_t rsk_i16(const uint8_t *bytes) {
    const uint16_t bits = rsk_u16(bytes);
    int16_t number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static inline int32_t rsk_i32(const uint8_t *bytes) {
    const uint32_t bits = rsk_u32(bytes);
    int32_t number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static inline int64_t rsk_i64(const uint8_t *bytes) {
    const uint64_t bits = rsk_u64(bytes);
    int64_t number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static inline float rsk_float_of(uint32_t bits) {
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static inline uint32_t rsk_bits_of(float number) {
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static inline float rsk_f32(const uint8_t *bytes) { return rsk_float_of(rsk_u32(bytes)); }

static inline double rsk_f64(const uint8_t *bytes) {
    const uint64_t bits = rsk_u64(bytes);
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* Bits that tell n >= 1 things apart: the bit length of n - 1. */
static inline uint32_t rsk_index_bits(uint32_t n) {
    uint32_t bits = 0;
    for (n -= 1; n != 0; n >>= 1) bits++;
    return bits;
}

/* Ones among the bits of a word. */
static inline uint32_t rsk_ones_count(uint32_t word) {
    word -= word >> 1 & 0x55555555u;
    word = (word & 0x33333333u) + (word >> 2 & 0x33333333u);
    return ((word + (word >> 4)) & 0x0F0F0F0Fu) * 0x01010101u >> 24;
}

/* Packed number `index` of 0 to 25 bits; 0 bits give 0 and touch no memory, so `bytes` may then be NULL. */
static inline uint32_t rsk_packed(const uint8_t *bytes, uint64_t index, uint32_t bits) {
    if (bits == 0) return 0;
    const uint64_t first = index * bits;
    const uint32_t skip = (uint32_t)(first & 7u), n_bytes = (skip + bits + 7u) >> 3;
    const uint8_t *at = bytes + (first >> 3);
    uint32_t word = 0;
    for (uint32_t i = 0; i < n_bytes; i++) word |= (uint32_t)at[i] << (8u * i);
    return (word >> skip) & ((1u << bits) - 1u);
}

/* The same for 2, 4, 8 or 16 bits, which never lie across a boundary of their own size, as a signed number. */
static inline int32_t rsk_packed_signed(const uint8_t *bytes, uint64_t index, uint32_t bits) {
    if (bits == 16) return rsk_i16(bytes + 2 * index);
    if (bits == 8) return (bytes[index] ^ 128) - 128;
    const uint64_t first = index * bits;
    const int32_t half = 1 << (bits - 1u), raw = (bytes[first >> 3] >> (first & 7u)) & (2 * half - 1);
    return (raw ^ half) - half;
}

/* The bits of stored center or scale `index` as a float32; float8 has its own exponent bias of -126 to 100. */
static inline uint32_t rsk_stored_bits(const uint8_t *bytes, uint32_t index, uint8_t stored_as, int8_t bias) {
    if (stored_as == RSK_STORED_FLOAT32) return rsk_u32(bytes + 4 * (size_t)index);
    if (stored_as == RSK_STORED_BFLOAT16) return (uint32_t)rsk_u16(bytes + 2 * (size_t)index) << 16;
    const uint32_t byte = bytes[index], size = byte & 127u;
    if (size == 0) return 0;
    return (byte >> 7) << 31 | (size / 8u + (uint32_t)(127 + bias)) << 23 | (size % 8u) << 20;
}

static inline float rsk_stored(const uint8_t *bytes, uint32_t index, uint8_t stored_as, int8_t bias) {
    return rsk_float_of(rsk_stored_bits(bytes, index, stored_as, bias));
}

/* The bits of offset c as a float32. */
static inline uint32_t rsk_offset_bits(const rsk_model *m, uint32_t c) {
    return m->offset_stored_as == RSK_OFFSET_NONE ? 0 : rsk_stored_bits(m->offset, c, m->offset_stored_as, 0);
}

/* Tells which values are boolean or categorical; called for values in rising order. Begin with {0, 0, 0}. */
typedef struct rsk_value_walk {
    uint32_t n_columns; /* of which the values have been passed */
    uint32_t end;       /* their values, counted */
    uint32_t kind;      /* of the last of them */
} rsk_value_walk;

static inline bool rsk_value_is_boolean(const rsk_model *model, rsk_value_walk *walk, uint32_t value) {
    if (model->column_kinds == NULL) return model->kinds == RSK_KINDS_BOOLEAN;
    while (walk->end <= value) {
        walk->kind = rsk_u16(model->column_kinds + 2 * (size_t)walk->n_columns++);
        walk->end += walk->kind == 0 ? 1 : walk->kind;
    }
    return walk->kind != 0;
}

#endif
