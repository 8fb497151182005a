/* rsk_trainer_schedule.c: what changes from step to step: learning rate, order of the rows, pruned weights. */
#include "rsk_trainer_state.h"

#include <string.h>

#define WARM_UP 0.3      /* share of the steps in which the learning rate rises */
#define FIRST_RATE 0.04  /* of the largest */
#define LAST_RATE 4e-6   /* of the largest */
#define PRUNE_FROM 0.2   /* share of the steps */
#define PRUNE_TO 0.6
#define N_PRUNINGS 100

/* Rises from 0 to 1 like half a wave of the cosine, which would need libm. */
static double rise(double x) { return x * x * (3.0 - 2.0 * x); }

/* One cycle (Smith, Topin 2018). */
double rsk_trainer_rate(const rsk_trainer *t) {
    const double most = (double)t->settings.learning_rate, share = (double)t->step / (double)t->settings.n_steps;
    if (share < WARM_UP) return most * (FIRST_RATE + (1.0 - FIRST_RATE) * rise(share / WARM_UP));
    return most * (1.0 + (LAST_RATE - 1.0) * rise((share - WARM_UP) / (1.0 - WARM_UP)));
}

void rsk_trainer_shuffle(rsk_trainer *t) {
    for (uint32_t i = t->train.n; i-- > 1;) {
        const uint64_t word = rsk_trainer_draw(&t->generator) >> 32;
        const uint32_t other = (uint32_t)(word * ((uint64_t)i + 1) >> 32), row = t->order[i];
        t->order[i] = t->order[other];
        t->order[other] = row;
    }
}

uint32_t rsk_trainer_prune_end(const rsk_trainer *t) { return (uint32_t)(PRUNE_TO * (double)t->settings.n_steps); }

/* Size of a weight as a share of its column's largest; the bits of such numbers are in the order of the numbers. */
static uint32_t size_bits(float weight, float largest) {
    const float share = largest > 0.0f ? weight / largest : 0.0f;
    uint32_t bits;
    memcpy(&bits, &share, sizeof bits);
    return bits & UINT32_C(0x7FFFFFFF);
}

static void prune_layer(rsk_trainer *t, rsk_trainer_layer *layer, uint64_t n_pruned) {
    const uint64_t n = (uint64_t)layer->n * layer->p;
    float *weights = t->parameters + layer->matrix, *largest = t->columns;
    for (uint32_t j = 0; j < layer->p; j++) largest[j] = 0.0f;
    for (uint64_t i = 0; i < n; i++) {
        const float size = weights[i] < 0.0f ? -weights[i] : weights[i];
        if (size > largest[i % layer->p]) largest[i % layer->p] = size;
    }
    uint32_t low = 0, high = UINT32_C(0x3F800000); /* 0 to 1: the smallest size below or at which enough weights lie */
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        uint64_t n_below = 0;
        for (uint64_t i = 0; i < n; i++) n_below += size_bits(weights[i], largest[i % layer->p]) <= middle;
        if (n_below >= n_pruned) high = middle;
        else low = middle + 1;
    }
    uint64_t n_left = n_pruned; /* smaller ones first, then the first of those of just this size */
    for (uint64_t i = 0; i < n; i++) n_left -= size_bits(weights[i], largest[i % layer->p]) < low;
    for (uint64_t i = 0; i < n; i++) {
        const uint32_t bits = size_bits(weights[i], largest[i % layer->p]);
        const int is_pruned = bits < low || (bits == low && n_left > 0);
        n_left -= bits == low && n_left > 0;
        layer->mask[i] = is_pruned ? 0.0f : 1.0f;
    }
    for (uint64_t i = 0; i < n; i++) weights[i] *= layer->mask[i];
}

/* Magnitude pruning on a cubic schedule (Zhu, Gupta 2017); later, masks stay. */
void rsk_trainer_prune(rsk_trainer *t) {
    const uint32_t n_steps = t->settings.n_steps, end = rsk_trainer_prune_end(t);
    const uint32_t start = (uint32_t)(PRUNE_FROM * (double)n_steps);
    const uint32_t every = n_steps / N_PRUNINGS ? n_steps / N_PRUNINGS : 1;
    if (t->step < start || t->step > end || (t->step != end && t->step % every != 0)) return;
    const double left = end > start ? 1.0 - (double)(t->step - start) / (double)(end - start) : 0.0;
    for (uint32_t k = 0; k < t->n_layers; k++) {
        rsk_trainer_layer *layer = &t->layers[k];
        const double share = 1.0 - left * left * left;
        const uint64_t n_pruned = (uint64_t)(share * (double)layer->n_pruned + 0.5);
        if (layer->mask && n_pruned) prune_layer(t, layer, n_pruned);
    }
}
