/* rsk_plan.h: a model unpacked for speed. Internal to the runtime.
 *
 * Everything a prediction reads, in native types and aligned, in memory the caller gave. Codes that add up
 * coordinates (ternary, sparse, axis and threshold ones) are lists of terms: coordinate * 2 + (1 if subtracted).
 */
#ifndef RSK_PLAN_H
#define RSK_PLAN_H

#include "rsk.h"
#include "rsk_family.h"
#include "rsk_stages.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { RSK_LANES = 64 };           /* queries in a block */
enum { RSK_MOST_COLUMNS = 1 << 22 }; /* entries of the directions laid out for single rows: 8 MiB */
enum { RSK_MOST_TRIPLES = 6 };     /* of coordinates: 162 sums, 20 KiB, which the nearest cache holds */
enum { RSK_MOST_TABLES = 512 };    /* rows with a table of 256 counters each: 128 KiB, made while loading */
enum { RSK_WIDEST_BLOCK = 16384 }; /* values or coordinates, of stages too; wider models are run row by row */

typedef struct rsk_column {
    uint32_t index; /* of the input column */
    uint32_t kind;  /* 0 numeric, 1 boolean, n categories */
    uint32_t value; /* its first value */
    float center, scale;
} rsk_column;

/* A bit of at most three columns of bytes: the sum of those added less those subtracted, against a threshold. */
typedef struct rsk_bit {
    uint32_t columns[3]; /* where they begin: 64 bytes each */
    uint32_t place;      /* of the code among the used ones */
    int16_t threshold;
    uint8_t n_columns, n_subtracted; /* the last ones are subtracted */
    uint8_t is_below;                /* WIDE ones: the bit is that the sum stays below */
} rsk_bit;

/* Kinds of bits, in the order in which a plan keeps them: sum >= threshold, or below it. WIDE ones take 16 bits. */
enum { RSK_BIT_ONE = 0, RSK_BIT_ONE_BELOW, RSK_BIT_PLUS, RSK_BIT_PLUS_BELOW, RSK_BIT_MINUS, RSK_BIT_WIDE, RSK_N_BITS };

/* A code for 16-bit lanes. */
typedef struct rsk_lane_code {
    uint32_t place; /* among the used ones */
    uint16_t n_terms;
    int16_t start;
} rsk_lane_code;

typedef struct rsk_plan_group {
    const rsk_row_group *group;
    uint32_t width_bits; /* of a level or bucket; 6 or 8 more for Gaussian directions and L1 */
    uint32_t n_used;     /* codes that rows name */
    uint8_t code;        /* how codes are computed: RSK_CODE_SUM ... */
    uint8_t is_pool, is_bit, has_terms; /* rows share codes; codes are bits; codes are lists of terms */
    uint8_t is_centred, wraps16;        /* rsk_has_centred_levels, rsk_wraps16 */
    uint8_t fits_int16;  /* sums behind codes and biases stay within 16 bits */
    uint8_t is_plain_float; /* the paper's, in float32: ternary directions, universal fold, one number a counter, one mean */
    uint8_t is_plain;    /* sum codes, integers, one number a counter, no decode, one group: the fast kernel */
    const uint32_t *row_codes;  /* (n_rows, n_concat) places among the used codes; NULL: in order */
    const uint32_t *code_ids;   /* (n_used) codes of the pool; NULL: all in order */
    const uint32_t *term_ends;  /* (n_used) NULL: directions are drawn when needed */
    const uint32_t *terms;
    /* For 16-bit lanes: */
    const uint32_t *lane_terms; /* where coordinates, or behind them their negatives, begin; code after code in order */
    const rsk_lane_code *lane_codes; /* (n_used) those of chunk_rows rows at a time, by number of terms: loops of equal
                                        length one after the other are foreseen by the processor */
    uint32_t chunk_rows;
    const uint16_t *triples;    /* (n_used, n_triples) which of the 27 sums of three coordinates; NULL: too many */
    uint32_t n_triples;
    /* For single rows, a lane a row of counters: code k of row l at k * column_stride + l. */
    uint32_t column_stride;         /* n_rows rounded up to 64 */
    const uint8_t *column_directions; /* of 64 codes after the other, laid out for the instruction set */
    const int16_t *column_starts;   /* (n_concat, column_stride) */
    const uint16_t *column_multipliers, *column_addends; /* (2, codes) and (2, column_stride): high halves, low halves */
    const int16_t *column_counters; /* (n_buckets, column_stride); NULL: many buckets */
    /* The same in the float32 precision; its multipliers and addends are not split. */
    const float *float_column_directions, *float_column_starts; /* (n_inputs, codes), (codes) */
    const uint32_t *float_column_multipliers, *float_column_addends;
    /* For single rows, bits sorted by their number of terms: bit_counts[n - 1] of n terms. */
    const uint32_t *bit_terms; /* coordinates, negatives behind them, or the zero behind those */
    const int32_t *bit_biases; /* (n_used) */
    const uint32_t *bit_codes; /* (n_rows, n_concat) places among the sorted ones */
    uint32_t bit_counts[3];
    const uint8_t *raised_counters; /* int8 and int4 counters + 128: without signs they are cheaper to add up */
    const uint8_t *byte_tables; /* (n_rows, 256) such a counter for every code of one byte; NULL: fold codes into buckets */
    const int32_t *starts;      /* (n_used) integer start of a level or bias of a bit */
    const float *float_starts;  /* the same in the float32 precision */
    const uint8_t *shifts;      /* (n_used) of normalised pools, NULL: 0 */
    const float *weights;       /* (n_codes, n_inputs) Gaussian entries or inverse pitches */
    const int16_t *int_weights;
    const uint32_t *words;      /* (n_codes, n_inputs) of MinHash; multipliers of L1's cells */
    const uint32_t *addends;    /* (n_codes) of L1's cells */
    const float *cell_offsets;  /* (n_codes, n_inputs) of L1 */
    const int32_t *int_cell_offsets;
    const uint32_t *fold_addends;     /* (n_rows) */
    const uint32_t *fold_multipliers; /* (n_rows, n_concat) */
    const void *counters;             /* (n_rows, n_buckets, n_numbers) float, int16_t or int8_t */
    const rsk_bit *bits; /* (n_used) sorted by kind; NULL: not bits over columns of bytes */
    uint32_t bit_ends[RSK_N_BITS];
    const void *decode;               /* float or int8_t */
    const float *gain;                /* (n_outputs) */
} rsk_plan_group;

/* A stage, unpacked. */
typedef struct rsk_plan_stage {
    const rsk_stage *stage;
    const int8_t *matrix;       /* (n_components, n_inputs), turned: the entries of a coordinate lie together */
    const uint8_t *multipliers; /* (n_components) */
    const int32_t *starts;      /* (n_components) shifts in steps of a coordinate */
    const int8_t *tables;       /* (n_components, n_levels) */
    const int8_t *linear;       /* (n_components, n_outputs), NULL: no linear term */
    const float *gain;          /* (n_outputs) of the linear term */
} rsk_plan_stage;

struct rsk_plan {
    rsk_model model;
    const struct rsk_isa *isa; /* the instruction set's loops */
    uint8_t is_compact; /* directions are drawn from the seed when needed */
    uint8_t uses_bytes;     /* values fit bytes and no column is categorical: rows are read as bytes */
    uint8_t all_boolean;
    uint8_t is_plain_float; /* float32 without columns left out, categories or missing values */
    uint8_t has_fast_row;   /* one output, and every group of rows has columns or bit_terms */
    int16_t byte_base;      /* a byte is a value less this: 0, or -128 so that it is not negative */
    uint32_t byte_stride;   /* bytes of a row: n_features rounded up to 64 */
    const float *centers, *scales;         /* (byte_stride) of all columns */
    const int32_t *are_boolean;            /* (byte_stride) 0, or -1 for boolean columns */
    const uint16_t *boolean_masks;         /* (byte_stride / 16) which columns are boolean */
    const int32_t *packed_projection;      /* blocks of 8 components: (n_features / 4, 8) words of 4 entries */
    const int32_t *pair_projection;        /* (n_values / 2, pair_stride) two entries of one component in a word */
    uint32_t pair_stride;
    const int32_t *packed_shift;           /* (n_components rounded up to 8) with the bytes' base taken out */
    const rsk_column *columns; /* (n_columns) */
    const float *projection;   /* (n_values, n_components) */
    const int8_t *int_projection;
    const float *projection_scales;
    const float *shift;
    const int32_t *int_shift;
    const int16_t *multipliers;
    const float *linear; /* (n_components, n_outputs) */
    const int16_t *int_linear;
    const float *linear_gain, *offset; /* (n_outputs) */
    uint32_t n_row_groups;
    rsk_plan_group row_groups[RSK_MAX_ROW_GROUPS];
    rsk_plan_stage stages[RSK_MAX_STAGES];
    uint32_t n_stage_terms; /* stages with a linear term */
    /* Of the memory a block of one row and of RSK_LANES rows needs. */
    size_t row_scratch, block_scratch;
};

/* Bytes that a plan which is not compact and the working memory of one thread take: what rsk_totals_find bounds. */
uint64_t rsk_memory_count(const rsk_model *model);

/* One number a bucket, all rows in one sum, nothing decoded or interpolated. */
static inline int rsk_has_single_counters(const rsk_row_group *group) {
    return group->n_numbers == 1 && group->decode == RSK_DECODE_NONE && group->n_groups == 1 &&
           !(group->flags & RSK_INTERPOLATED);
}
/* Rows are run one by one. */
static inline int rsk_is_wide(const rsk_model *model) { return rsk_width_find(model) > RSK_WIDEST_BLOCK; }
/* Bytes of a block of rows as floats; 0 where it would be too large, or no blocks are used. */
static inline size_t rsk_table_nbytes(const rsk_model *model) {
    if (model->n_features > RSK_WIDEST_BLOCK || rsk_is_wide(model)) return 0;
    return (size_t)model->n_features * RSK_LANES * sizeof(float);
}
static inline uint32_t rsk_top_bits(uint32_t word, uint32_t bits) { return bits == 0 ? 0 : word >> (32u - bits); }
/* Nearest integer, halves to even, for sizes up to 2^22: adding 1.5 * 2^23 leaves no bits for a fraction. */
static inline int32_t rsk_round(float x) {
    const float magic = 12582912.0f;
    volatile float moved = x + magic; /* volatile: x87 must not keep more bits than float32 has */
    return (int32_t)(moved - magic);
}

/* A block of at most `lanes` rows from `first` on; what each instruction set provides. */
typedef rsk_status rsk_block(const struct rsk_plan *plan, const rsk_rows *rows, size_t first, uint32_t n, float *outputs,
                             void *scratch, const rsk_trace *trace, size_t *where);
/* One row, for plans that have_fast_row. */
typedef rsk_status rsk_row(const struct rsk_plan *plan, const float *row, float *outputs, void *scratch);
rsk_block rsk_block_row;

/* How single rows read the directions of 64 codes: a byte for each entry of a code; two neighbouring entries of a code
 * in neighbouring bytes, with 1 added so that they are not negative; three in one byte, as the place of their sum among
 * all 27 there are. */
#define RSK_COLUMNS_SINGLES 0
#define RSK_COLUMNS_PAIRS 1
#define RSK_COLUMNS_TRIPLES 2

/* What rsk_lanes.c, compiled for one instruction set, has to offer. */
typedef struct rsk_isa {
    rsk_block *block;
    rsk_row *row;
    uint8_t columns;     /* RSK_COLUMNS_SINGLES ... */
    uint8_t reads_bytes; /* blocks read rows of uint8_t as they lie */
} rsk_isa;
extern const rsk_isa rsk_isa_scalar;
#if defined(RSK_HAS_X86)
extern const rsk_isa rsk_isa_avx2, rsk_isa_avx512;
#endif
#if defined(RSK_HAS_NEON)
extern const rsk_isa rsk_isa_neon;
#endif
/* The record of an instruction set that exists. */
const rsk_isa *rsk_isa_of(int isa);

#ifdef __cplusplus
}
#endif
#endif
