#define _POSIX_C_SOURCE 200112L /* posix_memalign */
/* test_trainer.c: trainings of all options, in memory of exactly the stated size, with parameters that learn and with
 * some that diverge; every instruction set gives the same bits, and prints the digest that every processor gives. Run
 * under the sanitizers. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "rsk.h"
#include "rsk_trainer.h"

enum { N = 75, N_VALUES = 3, N_OUTPUTS = 3, WIDTH = 4, N_STEPS = 50 };

static int16_t values[N * N_VALUES];
static float labels[N * N_OUTPUTS], soft_labels[N * N_OUTPUTS], weights[N];
static uint32_t digest = 2166136261u; /* of all that was trained */
static const float means[N_VALUES] = {3.0f, -20.0f, 0.0f}, deviations[N_VALUES] = {40.0f, 30.0f, 60.0f};

static void add_to_digest(const void *numbers, size_t nbytes) { /* FNV-1a */
    for (size_t i = 0; i < nbytes; i++) digest = (digest ^ ((const uint8_t *)numbers)[i]) * 16777619u;
}

static void fill(uint32_t n_outputs) {
    for (int i = 0; i < N * N_VALUES; i++) values[i] = (int16_t)(next_word() % 255) - 127;
    for (int i = 0; i < N; i++) {
        weights[i] = (float)(next_word() % 100) / 50.0f;
        for (uint32_t c = 0; c < n_outputs; c++) {
            labels[(uint32_t)i * n_outputs + c] = values[i * N_VALUES] > 0 ? (float)(c == 0) : 1.0f / (float)n_outputs;
            soft_labels[(uint32_t)i * n_outputs + c] = 1.0f / (float)n_outputs;
        }
    }
}

static rsk_trainer_shape shape_of(uint32_t activation, uint32_t head, uint32_t n_outputs) {
    rsk_trainer_shape shape = {.n_values = N_VALUES, .n_outputs = n_outputs, .n_stages = 2, .largest_value = 127,
                               .means = means, .deviations = deviations};
    const rsk_trainer_stage hidden = {5, activation, 8, 8, 1, 0.5f}, last = {WIDTH, RSK_NO_ACTIVATION, 0, 4, 0, 0.0f};
    shape.stages[0] = hidden;
    shape.stages[1] = last;
    shape.has_rows = 1;
    shape.n_levels = 4;
    shape.has_linear = head == 1;
    shape.has_offset = head != 2;
    shape.is_factored = head == 2;
    if (head == 0) { /* a network */
        shape.has_rows = 0;
        shape.stages[1].activation = activation;
        shape.stages[1].n_entries = 16;
    }
    return shape;
}

/* Parameters after all steps; NULL if the trainer refuses. */
static float *train(const rsk_trainer_shape *shape, const rsk_trainer_settings *settings, int isa, int piece) {
    const rsk_trainer_rows rows = {N, values, labels, soft_labels, weights};
    const uint64_t nbytes = rsk_trainer_nbytes(shape, settings, N), n = rsk_trainer_n_parameters(shape);
    if (nbytes == 0 || n == 0) return NULL;
    char *memory = NULL;
    if (posix_memalign((void **)&memory, 64, nbytes)) return NULL;
    expect(!rsk_trainer_make(shape, settings, &rows, &rows, NULL, isa, memory, nbytes - 1), "too little memory");
    rsk_trainer *trainer = rsk_trainer_make(shape, settings, &rows, &rows, NULL, isa, memory, nbytes);
    expect(trainer != NULL, "a trainer");
    uint32_t done = 0;
    while (done < settings->n_steps) done = rsk_trainer_run(trainer, (uint32_t)piece);
    expect(rsk_trainer_run(trainer, 5) == settings->n_steps, "no steps behind the last one");
    const double *losses;
    const uint32_t *steps;
    const uint32_t n_checks = rsk_trainer_checks(trainer, &losses, &steps);
    expect(n_checks > 0, "a check");
    float *found = malloc(n * sizeof *found), *integers = malloc(n * sizeof *integers);
    memcpy(found, rsk_trainer_parameters(trainer), n * sizeof *found);
    rsk_trainer_scales scales;
    rsk_trainer_round(trainer, integers, &scales);
    const uint32_t n_terms = rsk_trainer_n_terms(trainer);
    float *outputs = malloc(N * shape->n_outputs * sizeof *outputs);
    int32_t *sums = malloc((size_t)n_terms * N * shape->n_outputs * sizeof *sums);
    rsk_trainer_outputs(trainer, values, N, 1, outputs, sums);
    rsk_trainer_outputs(trainer, values, N, 0, outputs, NULL);
    if (isa == RSK_SCALAR) {
        add_to_digest(found, n * sizeof *found);
        add_to_digest(losses, n_checks * sizeof *losses);
        add_to_digest(outputs, N * shape->n_outputs * sizeof *outputs);
    }
    rsk_trainer_gradients(trainer, &rows, 1);
    free(outputs);
    free(sums);
    free(integers);
    free(memory);
    return found;
}

static float *make(const rsk_trainer_shape *shape, const rsk_trainer_settings *settings, const rsk_trainer_rows *rows,
                   rsk_trainer **trainer) {
    const uint64_t nbytes = rsk_trainer_nbytes(shape, settings, rows->n);
    void *memory = NULL;
    if (nbytes == 0 || posix_memalign(&memory, 64, nbytes)) exit(2);
    *trainer = rsk_trainer_make(shape, settings, rows, rows, NULL, -1, memory, nbytes);
    return rsk_trainer_parameters(*trainer);
}

/* The loss falls along the gradient of some of the parameters as fast as the gradient says; not rounded. */
static void test_gradients(void) {
    for (uint32_t activation = RSK_TABLE; activation < RSK_N_ACTIVATIONS; activation++)
        for (uint32_t head = 0; head < 4; head++) {
            fill(N_OUTPUTS);
            const rsk_trainer_shape shape = shape_of(activation, head, N_OUTPUTS);
            const rsk_trainer_settings settings = {N_STEPS, 80, RSK_SQUARED, 0.7f, 0.02f, 0.0f, 0.0f, 0.3f, 0.3f, 1};
            const rsk_trainer_rows rows = {N, values, labels, soft_labels, weights};
            const uint64_t n = rsk_trainer_n_parameters(&shape);
            rsk_trainer *trainer;
            float *parameters = make(&shape, &settings, &rows, &trainer), *start = malloc(n * sizeof *start);
            float *gradients = malloc(n * sizeof *gradients);
            rsk_trainer_run(trainer, N_STEPS);
            memcpy(start, parameters, n * sizeof *start);
            memcpy(gradients, rsk_trainer_gradients(trainer, &rows, 0), n * sizeof *gradients);
            for (uint64_t first = 0; first < n; first += 9) {
                double square = 0.0, losses[2];
                for (uint64_t i = first; i < n && i < first + 9; i++) square += (double)gradients[i] * gradients[i];
                if (square < 1e-6) continue;
                for (int side = 0; side < 2; side++) {
                    const double step = (side ? -2e-3 : 2e-3) / sqrt(square);
                    memcpy(parameters, start, n * sizeof *start);
                    for (uint64_t i = first; i < n && i < first + 9; i++)
                        parameters[i] += (float)(step * (double)gradients[i]);
                    losses[side] = rsk_trainer_mean_loss(trainer, &rows, 0);
                }
                const double slope = (losses[0] - losses[1]) / 4e-3;
                expect(fabs(slope - sqrt(square)) < 0.1 * sqrt(square), "the gradient is not the slope of the loss");
            }
            memcpy(parameters, start, n * sizeof *start);
            free(start);
            free(gradients);
            free(trainer);
        }
}

/* Entries times multipliers are the weights of the first stage, up to half of a multiplier. */
static void check_rounding(rsk_trainer *trainer, const rsk_trainer_shape *shape) {
    const float *parameters = rsk_trainer_parameters(trainer);
    float *integers = malloc(rsk_trainer_n_parameters(shape) * sizeof *integers);
    rsk_trainer_scales scales;
    rsk_trainer_round(trainer, integers, &scales);
    const uint32_t width = shape->stages[0].width;
    for (uint32_t i = 0; i < N_VALUES * width; i++) {
        const double unit = scales.multipliers[0][i % width] / (double)(UINT32_C(1) << scales.right_shift[0]);
        const double wanted = 64.0 * (double)parameters[i] / (double)deviations[i / width];
        expect(fabs((double)integers[i] * unit - wanted) < 0.501 * unit, "a weight is not rounded to the nearest");
    }
    free(integers);
}

/* What was trained: lower loss, the parameters of the best check, pruned weights, rounded numbers close to the others. */
static void test_training(void) {
    int n_early = 0;
    for (uint32_t activation = RSK_TABLE; activation < RSK_N_ACTIVATIONS; activation++)
        for (uint32_t head = 0; head < 4; head++) {
            fill(N_OUTPUTS);
            const rsk_trainer_shape shape = shape_of(activation, head, N_OUTPUTS);
            const rsk_trainer_settings settings = {400, 32, RSK_SQUARED, 0.5f, 0.02f, 0.0f, 0.05f, 0.0f, 0.3f, 3};
            const rsk_trainer_rows rows = {N, values, labels, NULL, NULL};
            rsk_trainer *trainer;
            const float *parameters = make(&shape, &settings, &rows, &trainer);
            const double before = rsk_trainer_mean_loss(trainer, &rows, 1);
            rsk_trainer_run(trainer, 400);
            const double after = rsk_trainer_mean_loss(trainer, &rows, 1);
            expect(after < 0.5 * before && after < 0.05, "nothing is learned");
            const double *losses;
            const uint32_t *steps;
            const uint32_t n_checks = rsk_trainer_checks(trainer, &losses, &steps);
            double least = losses[0];
            for (uint32_t i = 0; i < n_checks; i++) least = losses[i] < least ? losses[i] : least;
            expect(n_checks >= 12 && n_checks <= 20 && steps[0] > 240 && steps[n_checks - 1] == 400, "checks");
            expect(fabs(after - least) < 1e-9, "the best parameters are not taken");
            check_rounding(trainer, &shape);
            n_early += least < losses[n_checks - 1];
            uint32_t n_zeros = 0;
            for (int i = 0; i < N_VALUES * 5; i++) n_zeros += parameters[i] == 0.0f;
            expect(n_zeros == 8, "half of the weights of the first stage are pruned");
            float exact[N * N_OUTPUTS], rounded[N * N_OUTPUTS];
            double difference = 0.0;
            rsk_trainer_outputs(trainer, values, N, 0, exact, NULL);
            rsk_trainer_outputs(trainer, values, N, 1, rounded, NULL);
            for (int i = 0; i < N * N_OUTPUTS; i++) difference += fabs((double)exact[i] - (double)rounded[i]);
            expect(difference < 0.06 * N * N_OUTPUTS, "rounded numbers are far from the others");
            free(trainer);
        }
    expect(n_early > 4, "the last parameters are always the best");
}

static void test_options(float learning_rate, float noise, float size) {
    for (uint32_t activation = RSK_TABLE; activation < RSK_N_ACTIVATIONS; activation++)
        for (uint32_t head = 0; head < 4; head++)
            for (uint32_t loss = 0; loss < RSK_N_LOSSES; loss++) {
                const uint32_t n_outputs = loss == RSK_LOGISTIC ? 1 : N_OUTPUTS;
                fill(n_outputs);
                for (uint32_t i = 0; i < N * n_outputs; i++) labels[i] *= size;
                const rsk_trainer_shape shape = shape_of(activation, head, n_outputs);
                const rsk_trainer_settings settings = {N_STEPS, 80, loss, 0.7f, learning_rate, 0.01f, noise, 0.3f,
                                                       0.3f, 1};
                float *wanted = train(&shape, &settings, RSK_SCALAR, N_STEPS);
                expect(wanted != NULL, "an option is refused");
                const uint64_t n = rsk_trainer_n_parameters(&shape);
                for (uint64_t i = 0; i < n; i++) expect(isfinite(wanted[i]) != 0, "a parameter that is not finite");
                for (int isa = 0; isa < RSK_N_ISAS; isa++) {
                    if (!rsk_isa_exists(isa)) continue;
                    float *found = train(&shape, &settings, isa, 7);
                    expect(memcmp(found, wanted, n * sizeof *found) == 0, "an instruction set gives other bits");
                    free(found);
                }
                free(wanted);
            }
}

static bool is_refused(rsk_trainer_shape shape, rsk_trainer_settings settings) {
    return rsk_trainer_nbytes(&shape, &settings, N) == 0;
}

#define REFUSED(field, value)                                                            \
    do {                                                                                 \
        rsk_trainer_shape shape = good_shape;                                            \
        rsk_trainer_settings settings = good_settings;                                   \
        field = value;                                                                   \
        expect(is_refused(shape, settings), #field " = " #value " is accepted");         \
    } while (0)

static void test_refusals(void) {
    const rsk_trainer_shape good_shape = shape_of(RSK_TABLE, 1, N_OUTPUTS);
    const rsk_trainer_settings good_settings = {N_STEPS, 80, RSK_SQUARED, 0.5f, 0.01f, 0.0f, 0.0f, 0.0f, 0.3f, 1};
    expect(!is_refused(good_shape, good_settings), "a good shape is refused");
    expect(rsk_trainer_nbytes(&good_shape, &good_settings, 0) == 0, "no training rows");
    REFUSED(shape.n_values, 0);
    REFUSED(shape.n_values, RSK_TRAINER_MAX_VALUES + 1);
    REFUSED(shape.n_outputs, 0);
    REFUSED(shape.n_outputs, RSK_TRAINER_MAX_OUTPUTS + 1);
    REFUSED(shape.n_stages, 0);
    REFUSED(shape.n_stages, 5);
    REFUSED(shape.largest_value, 0);
    REFUSED(shape.largest_value, 32769);
    REFUSED(shape.stages[1].width, RSK_TRAINER_MAX_ROWS + 1);
    REFUSED(shape.has_rows, 0);
    REFUSED(shape.n_levels, 5);
    REFUSED(shape.stages[0].width, 0);
    REFUSED(shape.stages[0].width, RSK_TRAINER_MAX_WIDTH + 1);
    REFUSED(shape.stages[0].activation, RSK_NO_ACTIVATION);
    REFUSED(shape.stages[0].activation, RSK_N_ACTIVATIONS);
    REFUSED(shape.stages[0].n_entries, 17);
    REFUSED(shape.stages[0].matrix_bits, 6);
    REFUSED(shape.stages[0].sparsity, 1.0f);
    REFUSED(shape.stages[1].has_linear, 1);
    REFUSED(settings.n_steps, 0);
    REFUSED(settings.n_batch, 8);
    REFUSED(settings.n_batch, 90);
    REFUSED(settings.n_batch, RSK_TRAINER_MAX_BATCH + 16);
    REFUSED(settings.loss, RSK_N_LOSSES);
    REFUSED(settings.loss, RSK_LOGISTIC);
    REFUSED(settings.level, 1.0f);
    REFUSED(settings.learning_rate, NAN);
    REFUSED(settings.decay, -1.0f);
    REFUSED(settings.noise, INFINITY);
    REFUSED(settings.mixture, 1.5f);
    REFUSED(settings.rounding_from, 0.6f);
}

int main(void) {
    test_options(0.02f, 0.1f, 1.0f);
    test_options(10.0f, 100.0f, 1e25f); /* diverges: numbers stay finite, integers within 32 bits */
    test_gradients();
    test_training();
    test_refusals();
    if (n_failures == 0) printf("test_trainer: digest %08lx, ok\n", (unsigned long)digest);
    if (n_failures > 0) printf("test_trainer: %d failures\n", n_failures);
    return n_failures != 0;
}
