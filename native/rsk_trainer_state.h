/* rsk_trainer_state.h: a trainer in memory, and the loops of an instruction set. Internal. */
#ifndef RSK_TRAINER_STATE_H
#define RSK_TRAINER_STATE_H

#include <string.h>

#include "rsk_trainer.h"

/* A linear term: outputs += sum over the source of entries * source, times step * unit. */
typedef struct {
    uint32_t n;          /* numbers of the source; 0: there is none */
    uint64_t place;      /* among the parameters */
    float *entries;      /* [n][n_outputs] integers, or the parameters themselves */
    float *backward;     /* [n][n_outputs] slopes of the outputs by the source */
    float step, unit;    /* of an entry and of the source */
    uint32_t chunk;      /* sources whose sum is exact in float32 */
    const float *source; /* [n][stride] */
    int32_t *sums;       /* [n_outputs][stride] when rounded */
} rsk_trainer_term;

/* A stage. "Now" are the numbers of the present step: integers when rounded, else the parameters. */
typedef struct {
    uint32_t n, p, activation, n_entries, largest; /* largest: of an entry of the matrix */
    uint64_t matrix, shift, tables;                /* places among the parameters */
    uint64_t n_pruned;                             /* entries that are 0 in the end */
    float *mask;           /* [n][p] 0 or 1; NULL: nothing is pruned */
    float *forward_matrix; /* [n][p] now, in steps of z */
    float *backward_matrix; /* [n][p] slopes of z by what the stage takes; NULL in the first stage */
    float *constant;       /* [p] shift now, in steps of z */
    int32_t *multipliers;  /* [p] */
    uint32_t right_shift, shift_bits, chunk, largest_input;
    float *tables_now;     /* [p][n_entries] */
    float step;            /* size of 1 in what the stage hands on, now */
    float *z, *h;          /* [p][stride]; the same without an activation */
    float *slope;          /* [p][stride] of h by z, then of the loss by z */
    rsk_trainer_term linear;
} rsk_trainer_layer;

typedef struct rsk_trainer_isa {
    void (*prepare)(rsk_trainer *t, int is_rounded); /* "now" from the parameters */
    void (*forward)(rsk_trainer *t);                 /* from values and standard to outputs */
    void (*slopes)(rsk_trainer *t);                  /* of the loss by the outputs */
    double (*loss)(rsk_trainer *t, uint32_t n);      /* sum over the first n rows of the batch */
    void (*backward)(rsk_trainer *t);                /* to the gradients */
    void (*update)(rsk_trainer *t, float rate, double first, double second); /* one step of AdamW; 1 - beta^step */
    void (*standardise)(rsk_trainer *t);
} rsk_trainer_isa;

extern const rsk_trainer_isa rsk_trainer_isa_scalar;
#if defined(RSK_HAS_X86)
extern const rsk_trainer_isa rsk_trainer_isa_avx2, rsk_trainer_isa_avx512;
#endif
#if defined(RSK_HAS_NEON)
extern const rsk_trainer_isa rsk_trainer_isa_neon;
#endif

struct rsk_trainer {
    rsk_trainer_shape shape;
    rsk_trainer_settings settings;
    rsk_trainer_rows train, validation;
    const rsk_trainer_isa *isa;
    uint32_t n_lanes, stride; /* rows of a batch, rounded up to 32; with a gap, so that columns fall into other cache sets */
    int is_rounded;
    float mixture; /* 0 without soft labels */

    uint64_t n_parameters;
    float *parameters, *gradients, *first_moments, *second_moments, *best; /* [n_parameters] */
    float *decays;                                                        /* [n_parameters] 1 where weights decay, else 0 */

    uint32_t n_layers;
    rsk_trainer_layer layers[RSK_TRAINER_MAX_STAGES];

    /* The head. */
    uint32_t n_rows, n_numbers;        /* a row over each coordinate of the last stage, or none; numbers of a counter */
    uint64_t counters, decode, offset; /* places */
    float *counters_now, *decode_now, *decode_backward, *offset_now;
    float counter_step, decode_step;
    float *reads;          /* [n_rows][stride] */
    int32_t *accumulators; /* [n_outputs][stride] */
    rsk_trainer_term linear;

    /* The batch: [number][stride]. */
    float *values, *standard, *labels, *soft_labels, *weights;
    float *outputs, *output_slopes;
    float *inverse_deviations; /* [n_values] */
    uint32_t *picked;          /* [n_lanes] the rows of the batch */

    /* Working memory. */
    float *product;      /* [most numbers][stride] */
    int32_t *sums;       /* the same */
    float *hats;         /* [2 n_levels][stride] */
    float *columns;      /* [3][widest] */
    float *units;        /* [most inputs of a stage] size of 1 in each */

    /* The run. */
    uint32_t step, position;
    uint64_t generator;
    double first_power, second_power; /* of the betas */
    uint32_t *order;                  /* [training rows] */
    double best_loss, check_losses[RSK_TRAINER_MAX_CHECKS];
    uint32_t n_checks, check_steps[RSK_TRAINER_MAX_CHECKS];
};

/* SplitMix64 (Steele, Lea, Flood 2014): 64 bits, and the state goes on by a constant. */
static inline uint64_t rsk_trainer_draw(uint64_t *state) {
    uint64_t word = *state += UINT64_C(0x9E3779B97F4A7C15);
    word = (word ^ word >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    word = (word ^ word >> 27) * UINT64_C(0x94D049BB133111EB);
    return word ^ word >> 31;
}

/* 1 / sqrt(x) to 2e-7 for normal x, by Newton's method from a guess that halves the exponent: no libm. */
static inline float rsk_trainer_inverse_root(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = UINT32_C(0x5F3759DF) - (bits >> 1);
    float y;
    memcpy(&y, &bits, sizeof y);
    for (int k = 0; k < 3; k++) y = y * (1.5f - (0.5f * x * y) * y);
    return y;
}

/* rsk_trainer_layout.c */
uint64_t rsk_trainer_lay_out(rsk_trainer *t, uint8_t *memory); /* returns the bytes used; memory NULL: only counts */
int rsk_trainer_is_sound(const rsk_trainer_shape *shape);
int rsk_trainer_are_sound(const rsk_trainer_settings *settings, const rsk_trainer_shape *shape);
/* rsk_trainer_start.c */
void rsk_trainer_start(rsk_trainer *t, const float *first_matrix);
/* rsk_trainer_schedule.c */
double rsk_trainer_rate(const rsk_trainer *t);
void rsk_trainer_shuffle(rsk_trainer *t);
void rsk_trainer_prune(rsk_trainer *t);
uint32_t rsk_trainer_prune_end(const rsk_trainer *t);
#endif
