/* rsk_trainer.c: see rsk_trainer.h. */
#include "rsk_trainer.h"

#include <string.h>

#include "rsk.h"
#include "rsk_trainer_state.h"

enum { N_TOGETHER = 16 }; /* rows whose values are turned into columns together */
#define N_CHECKS 16 /* of the validation loss, in the second half of the steps */

static const rsk_trainer_isa *isa_of(int isa) {
    if (isa < 0) isa = rsk_isa_best();
    if (isa >= RSK_N_ISAS || !rsk_isa_exists(isa)) return NULL;
#if defined(RSK_HAS_X86)
    if (isa == RSK_AVX2) return &rsk_trainer_isa_avx2;
    if (isa == RSK_AVX512) return &rsk_trainer_isa_avx512;
#endif
#if defined(RSK_HAS_NEON)
    if (isa == RSK_NEON) return &rsk_trainer_isa_neon;
#endif
    return &rsk_trainer_isa_scalar;
}

uint64_t rsk_trainer_nbytes(const rsk_trainer_shape *shape, const rsk_trainer_settings *settings, uint32_t n_rows) {
    if (!rsk_trainer_is_sound(shape) || !rsk_trainer_are_sound(settings, shape) || n_rows == 0) return 0;
    rsk_trainer t = {.shape = *shape, .settings = *settings, .train = {.n = n_rows}};
    return ((sizeof t + 63u) & ~(uint64_t)63u) + rsk_trainer_lay_out(&t, NULL);
}

rsk_trainer *rsk_trainer_make(const rsk_trainer_shape *shape, const rsk_trainer_settings *settings,
                              const rsk_trainer_rows *train, const rsk_trainer_rows *validation,
                              const float *first_matrix, int isa, void *memory, uint64_t nbytes) {
    const uint64_t needed = rsk_trainer_nbytes(shape, settings, train->n);
    if (needed == 0 || nbytes < needed || validation->n == 0 || isa_of(isa) == NULL) return NULL;
    rsk_trainer *t = memory;
    memset(t, 0, sizeof *t);
    t->shape = *shape;
    t->settings = *settings;
    t->train = *train;
    t->validation = *validation;
    t->isa = isa_of(isa);
    rsk_trainer_lay_out(t, (uint8_t *)memory + ((sizeof *t + 63u) & ~(size_t)63u));
    t->generator = settings->seed;
    t->first_power = t->second_power = 1.0;
    t->best_loss = 1e300;
    rsk_trainer_start(t, first_matrix);
    t->position = train->n; /* the first batch begins with a shuffle */
    return t;
}

/* Rows t->picked[0 .. n - 1] into the lanes of the batch, each with the weight `share` in the loss. Lanes behind them get
 * some row, of weight 0. */
static void fill_lanes(rsk_trainer *t, const rsk_trainer_rows *rows, uint32_t n, float share) {
    const size_t n_values = t->shape.n_values, n_outputs = t->shape.n_outputs, stride = t->stride;
    for (uint32_t b = n; b < t->n_lanes; b++) t->picked[b] = t->picked[0];
    for (uint32_t b = 0; b < t->n_lanes; b += N_TOGETHER) {
        const int16_t *from[N_TOGETHER];
        for (uint32_t k = 0; k < N_TOGETHER; k++) from[k] = rows->values + t->picked[b + k] * n_values;
        for (size_t i = 0; i < n_values; i++)
            for (uint32_t k = 0; k < N_TOGETHER; k++) t->values[i * stride + b + k] = (float)from[k][i];
    }
    for (uint32_t b = 0; b < t->n_lanes; b++) {
        const size_t row = t->picked[b];
        t->weights[b] = b >= n ? 0.0f : rows->weights ? share * rows->weights[row] : share;
        for (size_t c = 0; c < n_outputs; c++) {
            const float label = rows->labels ? rows->labels[row * n_outputs + c] : 0.0f;
            t->labels[c * stride + b] = label;
            t->soft_labels[c * stride + b] = rows->soft_labels ? rows->soft_labels[row * n_outputs + c] : label;
        }
    }
    t->mixture = rows->soft_labels ? t->settings.mixture : 0.0f;
}

/* Rows first, first + 1, ... of at most n_batch; returns how many there are. */
static uint32_t fill_rows(rsk_trainer *t, const rsk_trainer_rows *rows, uint32_t first, float share) {
    const uint32_t left = rows->n - first, n = left < t->settings.n_batch ? left : t->settings.n_batch;
    for (uint32_t b = 0; b < n; b++) t->picked[b] = first + b;
    fill_lanes(t, rows, n, share);
    t->isa->standardise(t);
    return n;
}

/* Sums of four random bytes, of standard deviation 1 after the division; values stay within their bound. */
static void add_noise(rsk_trainer *t) {
    const float bound = (float)t->shape.largest_value;
    for (uint32_t i = 0; i < t->shape.n_values; i++) {
        const float scale = t->settings.noise * t->shape.deviations[i] / 147.80054f;
        float *column = t->values + i * (size_t)t->stride;
        for (uint32_t b = 0; b < t->n_lanes; b += 2) {
            const uint64_t word = rsk_trainer_draw(&t->generator);
            for (uint32_t k = 0; k < 2; k++) {
                const uint32_t half = (uint32_t)(word >> 32 * k), pairs = (half & 0xFF00FF) + (half >> 8 & 0xFF00FF);
                const float moved = column[b + k] + scale * ((float)((pairs & 0xFFFF) + (pairs >> 16)) - 510.0f);
                column[b + k] = moved > bound ? bound : moved < -bound ? -bound : moved;
            }
        }
    }
}

/* Weight of a row in a mean loss of n rows: regressions average over the outputs as well. */
static float share_of(const rsk_trainer *t, uint32_t n) {
    return 1.0f / ((float)n * (t->settings.loss >= RSK_SQUARED ? (float)t->shape.n_outputs : 1.0f));
}

/* The next rows of a stream of permutations of the training rows. */
static void fill_batch(rsk_trainer *t) {
    const uint32_t n_batch = t->settings.n_batch;
    for (uint32_t b = 0; b < n_batch; b++) {
        if (t->position == t->train.n) {
            rsk_trainer_shuffle(t);
            t->position = 0;
        }
        t->picked[b] = t->order[t->position++];
    }
    fill_lanes(t, &t->train, n_batch, share_of(t, n_batch));
    if (t->settings.noise > 0.0f) add_noise(t);
    t->isa->standardise(t);
}

static double mean_loss(rsk_trainer *t, const rsk_trainer_rows *rows) {
    double sum = 0.0;
    for (uint32_t first = 0; first < rows->n; first += t->settings.n_batch) {
        const uint32_t n = fill_rows(t, rows, first, 1.0f);
        t->isa->forward(t);
        sum += t->isa->loss(t, n);
    }
    return sum / ((double)rows->n * (t->settings.loss >= RSK_SQUARED ? (double)t->shape.n_outputs : 1.0));
}

double rsk_trainer_mean_loss(rsk_trainer *t, const rsk_trainer_rows *rows, int is_rounded) {
    t->isa->prepare(t, is_rounded);
    return mean_loss(t, rows);
}

const float *rsk_trainer_gradients(rsk_trainer *t, const rsk_trainer_rows *rows, int is_rounded) {
    t->isa->prepare(t, is_rounded);
    fill_rows(t, rows, 0, share_of(t, rows->n));
    t->isa->forward(t);
    t->isa->slopes(t);
    t->isa->backward(t);
    return t->gradients;
}

/* Whether the validation loss is due: about N_CHECKS times in the second half, once nothing is pruned any more. */
static int is_check_due(const rsk_trainer *t) {
    const uint32_t n_steps = t->settings.n_steps, every = n_steps / (2 * N_CHECKS) ? n_steps / (2 * N_CHECKS) : 1;
    uint32_t from = n_steps / 2;
    for (uint32_t k = 0; k < t->n_layers; k++)
        if (t->layers[k].mask && from <= rsk_trainer_prune_end(t)) from = rsk_trainer_prune_end(t) + 1;
    if (t->step == n_steps) return 1;
    return t->step >= from && t->step % every == 0 && t->n_checks + 1 < RSK_TRAINER_MAX_CHECKS;
}

static void check(rsk_trainer *t) {
    const double loss = rsk_trainer_mean_loss(t, &t->validation, 1);
    t->check_losses[t->n_checks] = loss;
    t->check_steps[t->n_checks++] = t->step;
    if (loss < t->best_loss) {
        t->best_loss = loss;
        memcpy(t->best, t->parameters, t->n_parameters * sizeof *t->best);
    }
}

static void make_step(rsk_trainer *t) {
    rsk_trainer_prune(t);
    t->isa->prepare(t, (double)t->step >= (double)t->settings.rounding_from * (double)t->settings.n_steps);
    fill_batch(t);
    t->isa->forward(t);
    t->isa->slopes(t);
    t->isa->backward(t);
    t->first_power *= 0.9;
    t->second_power *= 0.999;
    t->isa->update(t, (float)rsk_trainer_rate(t), 1.0 - t->first_power, 1.0 - t->second_power);
    t->step++;
}

uint32_t rsk_trainer_run(rsk_trainer *t, uint32_t n_steps) {
    for (uint32_t i = 0; i < n_steps && t->step < t->settings.n_steps; i++) {
        make_step(t);
        if (is_check_due(t)) check(t);
        if (t->step == t->settings.n_steps && t->best_loss < 1e300)
            memcpy(t->parameters, t->best, t->n_parameters * sizeof *t->best);
    }
    return t->step;
}

uint32_t rsk_trainer_checks(const rsk_trainer *t, const double **losses, const uint32_t **steps) {
    *losses = t->check_losses;
    *steps = t->check_steps;
    return t->n_checks;
}

float *rsk_trainer_parameters(rsk_trainer *t) { return t->parameters; }

void rsk_trainer_round(rsk_trainer *t, float *integers, rsk_trainer_scales *scales) {
    const rsk_trainer_shape *shape = &t->shape;
    t->isa->prepare(t, 1);
    for (uint32_t k = 0; k < t->n_layers; k++) {
        const rsk_trainer_layer *layer = &t->layers[k];
        memcpy(integers + layer->matrix, layer->forward_matrix, (size_t)layer->n * layer->p * sizeof *integers);
        for (uint32_t j = 0; j < layer->p; j++)
            integers[layer->shift + j] = layer->constant[j] / (float)(UINT32_C(1) << layer->shift_bits);
        memcpy(integers + layer->tables, layer->tables_now, (size_t)layer->p * layer->n_entries * sizeof *integers);
        if (layer->linear.n)
            memcpy(integers + layer->linear.place, layer->linear.entries,
                   (size_t)layer->linear.n * shape->n_outputs * sizeof *integers);
        scales->right_shift[k] = layer->right_shift;
        scales->shift_bits[k] = layer->shift_bits;
        scales->multipliers[k] = layer->multipliers;
        scales->output_step[k] = layer->step;
        scales->linear_step[k] = layer->linear.step;
    }
    if (shape->has_rows) {
        const size_t n_counters = (size_t)t->n_rows * shape->n_levels * t->n_numbers;
        memcpy(integers + t->counters, t->counters_now, n_counters * sizeof *integers);
        if (shape->is_factored)
            memcpy(integers + t->decode, t->decode_now, (size_t)t->n_rows * shape->n_outputs * sizeof *integers);
    }
    if (t->linear.n)
        memcpy(integers + t->linear.place, t->linear.entries,
               (size_t)t->linear.n * shape->n_outputs * sizeof *integers);
    memcpy(integers + t->offset, t->offset_now, shape->n_outputs * sizeof *integers);
    scales->counter_step = t->counter_step;
    scales->decode_step = t->decode_step;
    scales->head_linear_step = t->linear.step;
}

uint32_t rsk_trainer_n_terms(const rsk_trainer *t) {
    uint32_t n = (t->shape.has_rows > 0) + (t->linear.n > 0);
    for (uint32_t k = 0; k < t->n_layers; k++) n += t->layers[k].linear.n > 0;
    return n;
}

void rsk_trainer_outputs(rsk_trainer *t, const int16_t *values, uint32_t n, int is_rounded, float *outputs,
                         int32_t *sums) {
    const rsk_trainer_rows rows = {.n = n, .values = values};
    const size_t n_outputs = t->shape.n_outputs, stride = t->stride;
    const int32_t *terms[2 + RSK_TRAINER_MAX_STAGES];
    uint32_t n_terms = 0;
    if (t->shape.has_rows) terms[n_terms++] = t->accumulators;
    if (t->linear.n) terms[n_terms++] = t->linear.sums;
    for (uint32_t k = 0; k < t->n_layers; k++)
        if (t->layers[k].linear.n) terms[n_terms++] = t->layers[k].linear.sums;
    t->isa->prepare(t, is_rounded);
    for (uint32_t first = 0; first < n; first += t->settings.n_batch) {
        const uint32_t n_filled = fill_rows(t, &rows, first, 1.0f);
        t->isa->forward(t);
        for (size_t b = 0; b < n_filled; b++)
            for (size_t c = 0; c < n_outputs; c++) {
                const size_t to = (first + b) * n_outputs + c;
                outputs[to] = t->outputs[c * stride + b];
                for (size_t term = 0; sums && is_rounded && term < n_terms; term++)
                    sums[term * n * n_outputs + to] = terms[term][c * stride + b];
            }
    }
}
