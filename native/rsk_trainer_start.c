/* rsk_trainer_start.c: parameters before the first step, from the seed. */
#include "rsk_hash.h"
#include "rsk_trainer_state.h"

#include <string.h>

static float draw_normal(rsk_trainer *t) { return rsk_gaussian((uint32_t)(rsk_trainer_draw(&t->generator) >> 32)); }

static void fill_normal(rsk_trainer *t, uint64_t place, uint64_t n, float deviation) {
    for (uint64_t i = 0; i < n; i++) t->parameters[place + i] = deviation * draw_normal(t);
}

/* tanh x for |x| <= 1.5, by its continued fraction: a few operations, the same everywhere. */
static float tanh_of(float x) {
    const float y = x * x;
    return x / (1.0f + y / (3.0f + y / (5.0f + y / (7.0f + y / 9.0f))));
}

/* Typical size of what a stage hands on, 1 but for a clip, which is linear unless it comes near its ends. */
static float typical_size(uint32_t activation) { return activation == RSK_CLIP ? 5.0f : 1.0f; }

/* Standard deviation of a weight on n inputs of this size, so that z reaches most of its table, or both ends. */
static float weight_deviation(uint32_t activation, uint32_t n_entries, uint32_t n, float size) {
    const float one = rsk_trainer_inverse_root((float)n) / size;
    if (activation == RSK_RELU) return 1.4142135f * one; /* He et al. 2015 */
    if (activation == RSK_CLIP) return 6.0f * one;
    return 1.5f * (float)n_entries / 7.0f * one;
}

static void start_layer(rsk_trainer *t, const rsk_trainer_layer *layer, float size_in) {
    const uint32_t n_entries = layer->activation == RSK_NO_ACTIVATION ? t->shape.n_levels : layer->n_entries;
    const uint64_t size = (uint64_t)layer->n * layer->p;
    fill_normal(t, layer->matrix, size, weight_deviation(layer->activation, n_entries, layer->n, size_in));
    for (uint64_t i = 0; i < size; i++) t->decays[layer->matrix + i] = 1.0f;
    for (uint64_t i = 0; i < size && layer->mask; i++) layer->mask[i] = 1.0f;
    for (uint64_t i = 0; i < (uint64_t)layer->p * layer->n_entries; i++) {
        const float at = 2.0f * (float)(i % layer->n_entries) / (float)(layer->n_entries - 1) - 1.0f;
        t->parameters[layer->tables + i] = tanh_of(1.5f * at) + 0.1f * draw_normal(t);
        t->decays[layer->tables + i] = 1.0f;
    }
    for (uint64_t i = 0; i < (uint64_t)layer->linear.n * t->shape.n_outputs; i++) t->decays[layer->linear.place + i] = 1.0f;
}

void rsk_trainer_start(rsk_trainer *t, const float *first_matrix) {
    const rsk_trainer_shape *shape = &t->shape;
    const rsk_trainer_layer *first = &t->layers[0], *last = &t->layers[t->n_layers - 1];
    const uint64_t n_counters = (uint64_t)t->n_rows * shape->n_levels * t->n_numbers;
    const uint64_t n_decode = shape->is_factored ? (uint64_t)t->n_rows * shape->n_outputs : 0;
    const uint64_t n_linear = (uint64_t)t->linear.n * shape->n_outputs;
    memset(t->parameters, 0, t->n_parameters * sizeof *t->parameters);
    memset(t->gradients, 0, t->n_parameters * sizeof *t->gradients);
    memset(t->first_moments, 0, t->n_parameters * sizeof *t->first_moments);
    memset(t->second_moments, 0, t->n_parameters * sizeof *t->second_moments);
    memset(t->best, 0, t->n_parameters * sizeof *t->best);
    memset(t->decays, 0, t->n_parameters * sizeof *t->decays);
    for (uint32_t k = 0; k < t->n_layers; k++)
        start_layer(t, &t->layers[k], k == 0 ? 1.0f : typical_size(t->layers[k - 1].activation));
    if (first_matrix)
        memcpy(t->parameters + first->matrix, first_matrix, (size_t)first->n * first->p * sizeof *first_matrix);
    fill_normal(t, t->counters, n_counters, shape->is_factored ? 0.3f : 0.05f);
    fill_normal(t, t->decode, n_decode, 0.3f);
    if (!shape->has_rows)
        fill_normal(t, t->linear.place, n_linear,
                    rsk_trainer_inverse_root((float)last->p) / typical_size(last->activation));
    for (uint64_t i = 0; i < n_counters; i++) t->decays[t->counters + i] = 1.0f;
    for (uint64_t i = 0; i < n_decode; i++) t->decays[t->decode + i] = 1.0f;
    for (uint64_t i = 0; i < n_linear; i++) t->decays[t->linear.place + i] = 1.0f;
    for (uint32_t i = 0; i < shape->n_values; i++) t->inverse_deviations[i] = 1.0f / shape->deviations[i];
    for (uint32_t i = 0; i < t->train.n; i++) t->order[i] = i;
}
