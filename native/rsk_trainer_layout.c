/* rsk_trainer_layout.c: what a trainer accepts, and where its arrays lie. */
#include "rsk_arena.h"
#include "rsk_trainer_state.h"

#define IS_TABLE_SIZE(n) ((n) == 4 || (n) == 8 || (n) == 16)
#define EXACT 16777215u /* integers up to here are exact in float32 */

static int is_sound_stage(const rsk_trainer_shape *shape, uint32_t k) {
    const rsk_trainer_stage *stage = &shape->stages[k];
    const int is_last = k + 1 == shape->n_stages, is_none = stage->activation == RSK_NO_ACTIVATION;
    return stage->width >= 1 && stage->width <= RSK_TRAINER_MAX_WIDTH && stage->activation < RSK_N_ACTIVATIONS &&
           is_none == (is_last && shape->has_rows) && !(is_none && stage->has_linear) &&
           (stage->activation != RSK_TABLE || IS_TABLE_SIZE(stage->n_entries)) &&
           (stage->matrix_bits == 8 || stage->matrix_bits == 4) && stage->sparsity >= 0.0f && stage->sparsity <= 0.99f;
}

int rsk_trainer_is_sound(const rsk_trainer_shape *shape) {
    if (shape->n_values < 1 || shape->n_values > RSK_TRAINER_MAX_VALUES || shape->n_outputs < 1 ||
        shape->n_outputs > RSK_TRAINER_MAX_OUTPUTS || shape->n_stages < 1 || shape->n_stages > RSK_TRAINER_MAX_STAGES ||
        shape->largest_value < 1 || shape->largest_value > RSK_TRAINER_MAX_VALUE)
        return 0;
    for (uint32_t k = 0; k < shape->n_stages; k++)
        if (!is_sound_stage(shape, k)) return 0;
    return !shape->has_rows ||
           (shape->stages[shape->n_stages - 1].width <= RSK_TRAINER_MAX_ROWS && IS_TABLE_SIZE(shape->n_levels));
}

int rsk_trainer_are_sound(const rsk_trainer_settings *s, const rsk_trainer_shape *shape) {
    return s->n_steps >= 1 && s->n_batch >= 16 && s->n_batch <= RSK_TRAINER_MAX_BATCH && s->n_batch % 16 == 0 &&
           s->loss < RSK_N_LOSSES && !(s->loss == RSK_LOGISTIC && shape->n_outputs > 1) &&
           !(s->loss == RSK_SOFTMAX && shape->n_outputs < 2) && s->level > 0.0f && s->level < 1.0f &&
           s->learning_rate > 0.0f && s->learning_rate <= 10.0f && s->decay >= 0.0f && s->decay <= 1000.0f &&
           s->noise >= 0.0f && s->noise <= 100.0f && s->mixture >= 0.0f && s->mixture <= 1.0f &&
           s->rounding_from >= 0.0f && s->rounding_from <= 0.5f;
}

static uint64_t take_places(uint64_t *places, uint64_t n) {
    *places += n;
    return *places - n;
}

/* Places of the parameters; returns their number. */
static uint64_t place_parameters(rsk_trainer *t) {
    const rsk_trainer_shape *shape = &t->shape;
    const uint64_t n_outputs = shape->n_outputs;
    uint64_t n = 0, inputs = shape->n_values;
    t->n_layers = shape->n_stages;
    for (uint32_t k = 0; k < shape->n_stages; k++) {
        const rsk_trainer_stage *stage = &shape->stages[k];
        rsk_trainer_layer *layer = &t->layers[k];
        layer->n = (uint32_t)inputs;
        layer->p = stage->width;
        layer->activation = stage->activation;
        layer->n_entries = stage->activation == RSK_TABLE ? stage->n_entries : 0;
        layer->largest = stage->matrix_bits == 8 ? 127 : 7;
        layer->largest_input = k == 0 ? shape->largest_value : 127;
        layer->chunk = EXACT / (layer->largest * layer->largest_input);
        layer->n_pruned = (uint64_t)((double)stage->sparsity * (double)(inputs * stage->width) + 0.5);
        layer->matrix = take_places(&n, inputs * stage->width);
        layer->shift = take_places(&n, stage->width);
        layer->tables = take_places(&n, (uint64_t)stage->width * layer->n_entries);
        layer->linear.n = stage->has_linear ? stage->width : 0;
        layer->linear.place = take_places(&n, layer->linear.n * n_outputs);
        layer->linear.chunk = EXACT / (127u * RSK_TRAINER_LIMIT);
        inputs = stage->width;
    }
    t->n_rows = shape->has_rows ? (uint32_t)inputs : 0;
    t->n_numbers = shape->is_factored ? 1 : shape->n_outputs;
    t->counters = take_places(&n, (uint64_t)t->n_rows * shape->n_levels * t->n_numbers);
    t->decode = take_places(&n, shape->is_factored ? t->n_rows * n_outputs : 0);
    t->linear.n = shape->has_linear || !shape->has_rows ? (uint32_t)inputs : 0;
    t->linear.place = take_places(&n, t->linear.n * n_outputs);
    t->linear.chunk = EXACT / (127u * (shape->has_rows ? (uint32_t)RSK_TRAINER_LIMIT : 127u));
    t->offset = take_places(&n, n_outputs);
    return n;
}

uint64_t rsk_trainer_n_parameters(const rsk_trainer_shape *shape) {
    if (!rsk_trainer_is_sound(shape)) return 0;
    rsk_trainer t = {.shape = *shape};
    return place_parameters(&t);
}

static void lay_out_term(rsk_trainer *t, rsk_trainer_term *term, const float *source, rsk_arena *a) {
    const uint64_t n_outputs = t->shape.n_outputs;
    if (term->n == 0) return;
    term->entries = take(a, term->n * n_outputs, sizeof(float));
    term->backward = take(a, term->n * n_outputs, sizeof(float));
    term->sums = take(a, n_outputs * t->stride, sizeof(int32_t));
    term->source = source;
}

static void lay_out_layer(rsk_trainer *t, uint32_t k, rsk_arena *a) {
    rsk_trainer_layer *layer = &t->layers[k];
    const uint64_t size = (uint64_t)layer->n * layer->p, lanes = (uint64_t)layer->p * t->stride;
    if (layer->n_pruned) layer->mask = take(a, size, sizeof(float));
    layer->forward_matrix = take(a, size, sizeof(float));
    if (k > 0) layer->backward_matrix = take(a, size, sizeof(float));
    layer->constant = take(a, layer->p, sizeof(float));
    layer->multipliers = take(a, layer->p, sizeof(int32_t));
    layer->tables_now = take(a, (uint64_t)layer->p * layer->n_entries, sizeof(float));
    layer->z = take(a, lanes, sizeof(float));
    layer->h = layer->activation == RSK_NO_ACTIVATION ? layer->z : take(a, lanes, sizeof(float));
    layer->slope = take(a, lanes, sizeof(float));
    lay_out_term(t, &layer->linear, layer->z, a);
}

static uint64_t most(uint64_t a, uint64_t b) { return a > b ? a : b; }

uint64_t rsk_trainer_lay_out(rsk_trainer *t, uint8_t *memory) {
    const rsk_trainer_shape *shape = &t->shape;
    const uint64_t n_values = shape->n_values, n_outputs = shape->n_outputs;
    rsk_arena arena = {memory, 0}, *a = &arena;
    t->n_lanes = (t->settings.n_batch + 31u) & ~31u;
    t->stride = t->n_lanes + 16;
    t->n_parameters = place_parameters(t);
    float **const arrays[] = {&t->parameters, &t->gradients, &t->first_moments, &t->second_moments, &t->best, &t->decays};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) *arrays[i] = take(a, t->n_parameters, sizeof(float));
    uint64_t widest = n_outputs, inputs = n_values;
    for (uint32_t k = 0; k < t->n_layers; k++) {
        lay_out_layer(t, k, a);
        widest = most(widest, t->layers[k].p);
        inputs = most(inputs, t->layers[k].n);
    }
    if (shape->has_rows) {
        const uint64_t n_rows = t->n_rows;
        t->counters_now = take(a, n_rows * shape->n_levels * t->n_numbers, sizeof(float));
        t->decode_now = take(a, n_rows * n_outputs, sizeof(float));
        t->decode_backward = take(a, n_rows * n_outputs, sizeof(float));
        t->reads = take(a, n_rows * t->stride, sizeof(float));
        t->accumulators = take(a, n_outputs * t->stride, sizeof(int32_t));
    }
    lay_out_term(t, &t->linear, t->layers[t->n_layers - 1].h, a);
    t->offset_now = take(a, n_outputs, sizeof(float));
    t->values = take(a, n_values * t->stride, sizeof(float));
    t->standard = take(a, n_values * t->stride, sizeof(float));
    t->labels = take(a, n_outputs * t->stride, sizeof(float));
    t->soft_labels = take(a, n_outputs * t->stride, sizeof(float));
    t->weights = take(a, t->stride, sizeof(float));
    t->outputs = take(a, n_outputs * t->stride, sizeof(float));
    t->output_slopes = take(a, n_outputs * t->stride, sizeof(float));
    t->inverse_deviations = take(a, n_values, sizeof(float));
    t->picked = take(a, t->n_lanes, sizeof(uint32_t));
    t->product = take(a, widest * t->stride, sizeof(float));
    t->sums = take(a, widest * t->stride, sizeof(int32_t));
    t->hats = take(a, (uint64_t)most(2 * shape->n_levels, 2) * t->stride, sizeof(float));
    t->columns = take(a, 3 * widest, sizeof(float));
    t->units = take(a, inputs, sizeof(float));
    t->order = take(a, t->train.n, sizeof(uint32_t));
    return arena.used;
}
