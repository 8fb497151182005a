/* rsk.h: predict with a sketch, in C99, without malloc, globals, stdio or libm.
 *
 *     rsk_model model;
 *     rsk_status status = rsk_open(file, n_bytes, NULL, &model);                check a .rsk file that lies in memory
 *     size_t size = rsk_plan_nbytes(&model, 0);                                 memory is the caller's
 *     status = rsk_plan_make(&model, 0, -1, memory, size, &plan);               unpack the hash functions
 *     status = rsk_predict(plan, row, outputs, scratch);                        one row
 *     status = rsk_predict_batch(plan, &rows, n, outputs, scratch, NULL, where); many
 *
 * docs/spec/inference.md is what is computed, docs/spec/format.md what is read. A model points into the
 * file, so the file must stay where it is; everything is read byte by byte, it need not be aligned.
 */
#ifndef RSK_H
#define RSK_H

#include <stddef.h>
#include <stdint.h>

#include "rsk_format.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum rsk_status {
#define RSK_STATUS(name, number, text) RSK_##name = number,
#include "rsk_status.def"
#undef RSK_STATUS
} rsk_status;

/* The sentence of a status, or "unknown status". */
const char *rsk_status_text(rsk_status status);

/* Fields as in docs/spec/format.md, section 2; pointers are to the sections' bytes, NULL where there is none. */
/* A group of rows of counters: section ROW_GROUP of the file. */
typedef struct rsk_row_group {
    uint8_t source, hash, directions, fold, counter_type, aggregate, decode, decode_shift;
    uint8_t width_bits, flags, n_nonzeros, n_parameters, threshold_nbytes, decode_stored_as;
    double width; /* the family's bandwidth */
    uint32_t seed, n_rows, n_concat, n_buckets, n_levels, n_codes, n_axes, n_numbers, n_groups, n_gains, digest;
    uint32_t n_inputs;      /* coordinates this group of rows reads: the model's n_components or n_values */
    uint32_t bias_scale;    /* of seeded bits; the field's 32 bits: a float32 or, in the int precision, an integer */
    const uint8_t *indices; /* (n_rows, n_concat) packed */
    const uint8_t *code_columns; /* (n_codes) packed */
    const uint8_t *thresholds;   /* (n_codes) */
    const uint8_t *counters;     /* (n_rows, n_buckets, n_numbers) */
    const uint8_t *decode_matrix; /* (n_numbers, n_outputs) or (n_rows, n_outputs) */
    const uint8_t *gain;         /* (n_gains) float32 */
} rsk_row_group;

/* A stage in place of a projection: section STAGE of the file. */
typedef struct rsk_stage {
    uint8_t activation, matrix, right_shift, shift_bits, width_bits, n_levels;
    uint16_t limit;
    uint32_t n_components, n_nonzeros, n_gains;
    uint32_t n_inputs;          /* the model's n_values, or n_components of the stage before */
    const uint8_t *entries;     /* (n_inputs, n_components) packed; sparse: a bitmap, then the entries that are not 0 */
    const uint8_t *coordinates; /* multipliers u8 and shifts i8 (n_components), tables i8 (n_components, n_levels) */
    const uint8_t *linear;      /* gains (n_gains) float32, then (n_components, n_outputs) i8 */
} rsk_stage;

typedef struct rsk_model {
    uint8_t precision, generator, task, n_row_groups, projection, right_shift, linear, stored_as, offset_stored_as;
    uint8_t n_stages;
    uint16_t kinds, flags, limit;
    int16_t low, high;
    int8_t center_bias, scale_bias;
    uint32_t n_features, n_columns, n_values, n_components, n_outputs, n_classes;
    uint32_t n_centers, n_scales, n_linear_gains;
    const uint8_t *columns;           /* (n_columns) packed, NULL: all */
    const uint8_t *column_kinds;      /* (n_columns) u16, NULL: all alike */
    const uint8_t *centers, *scales;  /* (n_centers), (n_scales), as stored */
    const uint8_t *projection_matrix; /* (n_values, n_components) */
    const uint8_t *shift;             /* (n_components) float32 or int32 */
    const uint8_t *multipliers;       /* (n_components) int16 */
    const uint8_t *projection_scales; /* (n_components) float32 */
    const uint8_t *linear_matrix;     /* (n_components, n_outputs) */
    const uint8_t *linear_gain;       /* (n_linear_gains) float32 */
    const uint8_t *offset;            /* (n_outputs) float32 or bfloat16 */
    const uint8_t *classes, *names, *sums, *metadata, *categories, *intervals; /* all of a section, NULL: none */
    uint32_t classes_nbytes, names_nbytes, sums_nbytes, metadata_nbytes, categories_nbytes, intervals_nbytes;
    rsk_row_group row_groups[RSK_MAX_ROW_GROUPS];
    rsk_stage stages[RSK_MAX_STAGES];
} rsk_model;

/* What a model costs at most, computed from its sizes alone (docs/spec/format.md, *Totals*). */
typedef struct rsk_totals {
    uint64_t memory; /* bytes of a plan that is not compact and of the working memory of one thread */
    uint64_t work;   /* operations of one row */
} rsk_totals;

/* What a caller accepts. 0: the default; UINT64_MAX: no limit. */
typedef struct rsk_limits {
    uint64_t max_nbytes; /* of the file; 64 MiB */
    uint64_t max_memory; /* of rsk_totals; 64 MiB. A compact plan takes less: a caller who uses one may raise this */
    uint64_t max_work;   /* of rsk_totals; 10^8 */
} rsk_limits;

/* Check all of a file and find its way around in it. limits: NULL for the defaults. */
rsk_status rsk_open(const void *file, size_t nbytes, const rsk_limits *limits, rsk_model *model);
rsk_totals rsk_totals_find(const rsk_model *model);

/* Instruction sets (isa). Every one gives the same bits. */
enum { RSK_SCALAR = 0, RSK_NEON, RSK_AVX2, RSK_AVX512, RSK_N_ISAS };

/* The best instruction set of this machine, among those compiled in. */
int rsk_isa_best(void);
/* 1 if this machine and this build have it. */
int rsk_isa_exists(int isa);
const char *rsk_isa_name(int isa);

/* A model unpacked into memory that the caller owns. It points into the file too: keep both. */
typedef struct rsk_plan rsk_plan;

/* Bytes a plan needs; compact: directions are not unpacked but drawn from the seed, row by row, when needed. */
size_t rsk_plan_nbytes(const rsk_model *model, int compact);
/* memory: aligned to 64, rsk_plan_nbytes long. isa: an instruction set, -1 for the best. */
rsk_status rsk_plan_make(const rsk_model *model, int compact, int isa, void *memory, size_t nbytes,
                         const rsk_plan **plan);

/* Rows of inputs: dense in memory, or sparse (CSR). */
typedef struct rsk_rows {
    const void *data;      /* dense: row i begins at data + i * stride numbers; sparse: the stored numbers */
    size_t stride;         /* numbers from one dense row to the next */
    const int32_t *ends;   /* sparse: row i has numbers ends[i] up to ends[i + 1]; NULL: dense */
    const int32_t *columns; /* sparse: the column of each number, rising within a row */
    uint8_t is_uint8;      /* numbers are uint8_t instead of float */
} rsk_rows;

/* What a prediction passed through, for tests: NULL where it is not wanted. */
typedef struct rsk_trace {
    int32_t *buckets;   /* (n_rows, rows of all groups) */
    void *accumulators; /* (n_rows, n_row_groups, n_outputs) float, or int32_t in the int precision */
} rsk_trace;

/* Bytes of working memory, aligned to 64, for one thread: for single rows, or for batches. */
size_t rsk_scratch_nbytes(const rsk_plan *plan, int batch);

/* Outputs (n_outputs) of one dense row of n_features floats. */
rsk_status rsk_predict(const rsk_plan *plan, const float *row, float *outputs, void *scratch);

/* Outputs (n, n_outputs). On RSK_INPUT_NOT_FINITE where[0] and where[1] are the row and the column. */
rsk_status rsk_predict_batch(const rsk_plan *plan, const rsk_rows *rows, size_t n, float *outputs, void *scratch,
                             const rsk_trace *trace, size_t where[2]);

#ifdef __cplusplus
}
#endif
#endif
