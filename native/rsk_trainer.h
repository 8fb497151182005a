/* rsk_trainer.h: training, not inference: stages, interpolated rows and linear terms fitted by gradient descent.
 *
 * docs/spec/inference.md (*Stages*) says what is trained, docs/spec/training.md how. Parameters are float32; from a
 * share of the steps on they are rounded in every step as they are stored, and the forward pass computes the deployed
 * integers. Sums have a fixed order: every machine and every instruction set gets the same bits.
 */
#ifndef RSK_TRAINER_H
#define RSK_TRAINER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { RSK_TRAINER_MAX_STAGES = 4, RSK_TRAINER_MAX_CHECKS = 64 };
enum { RSK_TRAINER_STEPS = 64 };    /* integer steps of z between two entries of a table */
enum { RSK_TRAINER_RANGE_BITS = 2 }; /* bits of z that ReLU and clip drop: they end at 127 / 16 widths */
enum { RSK_TRAINER_LIMIT = 4095 };  /* largest z, in steps */
/* Limits within which every integer sum fits 32 bits. */
enum { RSK_TRAINER_MAX_VALUES = 65536, RSK_TRAINER_MAX_WIDTH = 4096, RSK_TRAINER_MAX_ROWS = 2048 };
enum { RSK_TRAINER_MAX_OUTPUTS = 4096, RSK_TRAINER_MAX_VALUE = 32768, RSK_TRAINER_MAX_BATCH = 4096 };

typedef enum { RSK_NO_ACTIVATION = 0, RSK_TABLE, RSK_RELU, RSK_CLIP, RSK_N_ACTIVATIONS } rsk_trainer_activation;
typedef enum { RSK_LOGISTIC = 0, RSK_SOFTMAX, RSK_SQUARED, RSK_ABSOLUTE, RSK_QUANTILE, RSK_N_LOSSES } rsk_trainer_loss;

typedef struct {
    uint32_t width;       /* coordinates, p */
    uint32_t activation;  /* RSK_NO_ACTIVATION in the last stage if there are rows, and only there */
    uint32_t n_entries;   /* of a table: 4, 8 or 16 */
    uint32_t matrix_bits; /* 8 or 4 */
    uint32_t has_linear;  /* a linear term on z; not without an activation */
    float sparsity;       /* share of the matrix that is pruned, 0 to 0.99 */
} rsk_trainer_stage;

typedef struct {
    uint32_t n_values, n_outputs, n_stages;
    rsk_trainer_stage stages[RSK_TRAINER_MAX_STAGES];
    uint32_t has_rows;         /* one over each coordinate of the last stage; else a network, with an activation there */
    uint32_t n_levels;         /* of a row: 4, 8 or 16 */
    uint32_t is_factored;      /* one counter a level and a decode vector a row, else n_outputs counters a level */
    uint32_t has_linear;       /* on the coordinates that rows read; a network always has one on what it hands on */
    uint32_t has_offset;       /* else it stays 0 */
    uint32_t largest_value;    /* bound of the values */
    const float *means, *deviations; /* [n_values] of the training rows; deviations are above 0 */
} rsk_trainer_shape;

typedef struct {
    uint32_t n_steps, n_batch; /* n_batch: a multiple of 16 */
    uint32_t loss;
    float level;         /* of the quantile */
    float learning_rate; /* the largest of the cycle */
    float decay;
    float noise;         /* standard deviation, in standardised values */
    float mixture;       /* weight of the soft labels */
    float rounding_from; /* share of the steps after which parameters are rounded, 0 to 0.5 */
    uint64_t seed;
} rsk_trainer_settings;

typedef struct {
    uint32_t n;
    const int16_t *values;     /* [n][n_values], of at most largest_value in size */
    const float *labels;       /* [n][n_outputs] probabilities or values */
    const float *soft_labels;  /* the same of a teacher, or NULL */
    const float *weights;      /* [n] of mean 1, or NULL */
} rsk_trainer_rows;

typedef struct rsk_trainer rsk_trainer;

/* Numbers beside the integers of the rounded parameters. A step is the size of 1 in the parameter's own unit. */
typedef struct {
    uint32_t right_shift[RSK_TRAINER_MAX_STAGES], shift_bits[RSK_TRAINER_MAX_STAGES];
    const int32_t *multipliers[RSK_TRAINER_MAX_STAGES]; /* [width] each */
    float output_step[RSK_TRAINER_MAX_STAGES];          /* of what a stage hands on */
    float linear_step[RSK_TRAINER_MAX_STAGES];          /* of its linear term */
    float counter_step, decode_step, head_linear_step;
} rsk_trainer_scales;

/* Parameters lie one behind the other. For every stage: matrix [inputs][width], shift [width], tables
 * [width][n_entries], linear [width][n_outputs]; then counters [last width][n_levels][1 or n_outputs], decode
 * [last width][n_outputs], linear [last width][n_outputs], offset [n_outputs]; those that the shape has. 0: refused. */
uint64_t rsk_trainer_n_parameters(const rsk_trainer_shape *shape);
/* Bytes of memory for these sizes; 0: refused. */
uint64_t rsk_trainer_nbytes(const rsk_trainer_shape *shape, const rsk_trainer_settings *settings, uint32_t n_rows);
/* memory: aligned to 64. isa: an instruction set of rsk.h, -1 for the best. Pointers in the arguments must stay valid.
 * first_matrix: [n_values][first width], or NULL. Returns NULL if anything is refused. */
rsk_trainer *rsk_trainer_make(const rsk_trainer_shape *shape, const rsk_trainer_settings *settings,
                              const rsk_trainer_rows *train, const rsk_trainer_rows *validation,
                              const float *first_matrix, int isa, void *memory, uint64_t nbytes);
/* Up to n_steps further steps; returns the steps made since the beginning. After the last one the parameters are those
 * of the lowest validation loss. */
uint32_t rsk_trainer_run(rsk_trainer *trainer, uint32_t n_steps);
/* Validation losses so far, and the steps after which they were found; returns their number. */
uint32_t rsk_trainer_checks(const rsk_trainer *trainer, const double **losses, const uint32_t **steps);

float *rsk_trainer_parameters(rsk_trainer *trainer);
/* Rounds the parameters; integers: as the parameters, the offset as it is stored. */
void rsk_trainer_round(rsk_trainer *trainer, float *integers, rsk_trainer_scales *scales);
double rsk_trainer_mean_loss(rsk_trainer *trainer, const rsk_trainer_rows *rows, int is_rounded);
/* Gradients of the mean loss of at most n_batch rows, as the parameters; valid until the next call. */
const float *rsk_trainer_gradients(rsk_trainer *trainer, const rsk_trainer_rows *rows, int is_rounded);
/* outputs [n][n_outputs]; sums, unless NULL or not rounded: [terms][n][n_outputs] accumulators of the rows, then sums of the
 * linear terms of the head and of the stages. */
void rsk_trainer_outputs(rsk_trainer *trainer, const int16_t *values, uint32_t n, int is_rounded, float *outputs,
                         int32_t *sums);
uint32_t rsk_trainer_n_terms(const rsk_trainer *trainer);

#ifdef __cplusplus
}
#endif
#endif
