/* rsk_trainer_lanes.c: the loops of the trainer for one instruction set. Compiled once for each, with RSK_ISA_NAME set
 * to its name. Plain C, vectorised by the compiler, but for the look-ups of tables: no operation is fused, reordered or
 * approximated, so that all instruction sets give the same bits. */
#include <string.h>

#include "rsk_trainer_state.h"

#ifndef RSK_ISA_NAME
#define RSK_ISA_NAME scalar
#endif
#define RSK_JOIN_(a, b) a##_##b
#define RSK_JOIN(a, b) RSK_JOIN_(a, b)

#include "rsk_trainer_products.inc"
#include "rsk_trainer_round.inc"
#if defined(__GNUC__) && defined(__AVX512F__)
#define HAS_LOOK_UP
#include "rsk_trainer_avx512.inc"
#elif defined(__GNUC__) && defined(__AVX2__)
#define HAS_LOOK_UP
#include "rsk_trainer_avx2.inc"
#endif
#include "rsk_trainer_forward.inc"
#include "rsk_trainer_losses.inc"
#include "rsk_trainer_backward.inc"

#define LARGEST_PARAMETER 1048576.0f /* a training that diverges stays among numbers that fit integers */

/* AdamW (Loshchilov, Hutter 2019): betas 0.9 and 0.999; only sizes decay, not shifts and offsets. */
static void update(rsk_trainer *t, float rate, double first, double second) {
    const float step = (float)((double)rate / first), scale = (float)(1.0 / second), decay = rate * t->settings.decay;
    float *restrict parameters = t->parameters, *restrict m = t->first_moments, *restrict v = t->second_moments;
    const float *restrict gradients = t->gradients, *restrict decays = t->decays;
    for (uint64_t i = 0; i < t->n_parameters; i++) {
        m[i] = 0.9f * m[i] + 0.1f * gradients[i];
        v[i] = 0.999f * v[i] + 0.001f * (gradients[i] * gradients[i]);
        const float share = larger(1.0f - decay * decays[i], 0.0f);
        const float square = smaller(v[i] * scale, 1e30f), root = square * rsk_trainer_inverse_root(square);
        const float moved = share * parameters[i] - step * m[i] / (root + 1e-8f);
        parameters[i] = clamped(moved, LARGEST_PARAMETER);
    }
    for (uint32_t k = 0; k < t->n_layers; k++) {
        const rsk_trainer_layer *layer = &t->layers[k];
        float *matrix_of = t->parameters + layer->matrix;
        for (size_t i = 0; layer->mask && i < (size_t)layer->n * layer->p; i++) matrix_of[i] *= layer->mask[i];
    }
}

static void standardise(rsk_trainer *t) {
    const float *means = t->shape.means;
    for (uint32_t i = 0; i < t->shape.n_values; i++)
        for (size_t b = 0; b < t->n_lanes; b++)
            t->standard[i * (size_t)t->stride + b] =
                (t->values[i * (size_t)t->stride + b] - means[i]) * t->inverse_deviations[i];
}

const rsk_trainer_isa RSK_JOIN(rsk_trainer_isa, RSK_ISA_NAME) = {.prepare = prepare,
                                                                 .forward = forward,
                                                                 .slopes = slopes,
                                                                 .loss = loss_sum,
                                                                 .backward = backward,
                                                                 .update = update,
                                                                 .standardise = standardise};
