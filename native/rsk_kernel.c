#include "rsk_kernel.h"

#include <stddef.h>
#include <string.h>

#if !defined(__GNUC__)
#error "repsketch's training kernel needs the vector types of GCC or Clang (on Windows: clang-cl)"
#endif

/* One binary for every machine: the loops below are compiled for each of these and the best one is
 * chosen when the library is loaded. Lanes are summed in a fixed order, so all give the same bits. */
#if !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__)
#define RSK_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define RSK_CLONES
#endif

enum {
    LANES = RSK_KERNEL_LANES,
    QUERIES = 4, /* handled together in the backward pass */
    TILE = 128 /* points whose partial sums (8 KiB) and positions (8 KiB a code) stay in the first-level cache */
};

/* One block of hash rows; aligned(4) because NumPy promises no more. */
typedef float lanes __attribute__((vector_size(LANES * 4), aligned(4), may_alias));
typedef int32_t masks __attribute__((vector_size(LANES * 4), aligned(4), may_alias));

#define BITS(x) ((masks)(x))
#define SIZE(gap) ((lanes)(BITS(gap) & 0x7FFFFFFF))
/* Height max(0, 1 - |gap|) of the triangle, and its slope times grad: -sign(gap) grad inside (-1, 1), 0 outside. */
#define HEIGHT(gap) ((lanes)(BITS(1.0f - SIZE(gap)) & (SIZE(gap) < 1.0f)))
#define SLOPE(gap, grad) ((lanes)((BITS(grad) ^ (~BITS(gap) & INT32_MIN)) & (SIZE(gap) < 1.0f)))

RSK_CLONES
void rsk_kernel_forward(const rsk_kernel_shape *shape, const float *u, const float *v, float *kernel) {
    const size_t n_concat = shape->n_concat;
    const size_t n_queries = shape->n_queries, n_points = shape->n_points, n_blocks = shape->n_blocks;
    const float share = 1.0f / (float)(n_blocks * LANES);
    lanes sums[TILE];
    for (size_t first = 0; first < n_points; first += TILE) {
        const size_t n_tile = n_points - first < TILE ? n_points - first : TILE;
        for (size_t i = 0; i < n_queries; i++) {
            memset(sums, 0, sizeof sums);
            for (size_t block = 0; block < n_blocks; block++) {
                const lanes *a = (const lanes *)u + (block * n_queries + i) * n_concat;
                const lanes *b = (const lanes *)v + (block * n_points + first) * n_concat;
                for (size_t j = 0; j < n_tile; j++, b += n_concat) {
                    lanes product = HEIGHT(a[0] - b[0]);
                    for (size_t k = 1; k < n_concat; k++) product *= HEIGHT(a[k] - b[k]);
                    sums[j] += product;
                }
            }
            for (size_t j = 0; j < n_tile; j++) {
                float total = 0.0f;
                for (size_t lane = 0; lane < LANES; lane++) total += sums[j][lane];
                kernel[i * n_points + first + j] = total * share;
            }
        }
    }
}

/* Backward pass of one block of rows for n (1 to QUERIES) queries with one code: own[n] is written, to[n_points]
 * reduced. Several queries at once, because each visit of to[j] costs a load and a store. */
static inline __attribute__((always_inline)) void backward_one_code(const lanes *a, const lanes *b, const float *grads,
                                                                    float share, size_t n_points, size_t n, lanes *own,
                                                                    lanes *to) {
    lanes sums[QUERIES] = {{0}};
    for (size_t j = 0; j < n_points; j++) {
        lanes all = {0};
        for (size_t i = 0; i < n; i++) {
            const lanes gap = a[i] - b[j], grad = (lanes){0} + grads[i * n_points + j] * share;
            const lanes slope = SLOPE(gap, grad);
            sums[i] += slope;
            all += slope;
        }
        to[j] -= all;
    }
    memcpy(own, sums, n * sizeof(lanes));
}

/* The same for one query with several codes. */
static inline __attribute__((always_inline)) void backward_codes(const lanes *a, const lanes *b, const float *grads,
                                                                 float share, size_t n_points, size_t n_concat,
                                                                 lanes *own, lanes *to) {
    lanes sums[RSK_KERNEL_MAX_CONCAT] = {{0}};
    for (size_t j = 0; j < n_points; j++, b += n_concat, to += n_concat) {
        /* before[k]: product of the heights of codes 0 .. k-1, so that nothing is divided by 0. */
        lanes before[RSK_KERNEL_MAX_CONCAT];
        lanes after = (lanes){0} + 1.0f;
        const lanes grad = (lanes){0} + grads[j] * share;
        before[0] = after;
        for (size_t k = 1; k < n_concat; k++) before[k] = before[k - 1] * HEIGHT(a[k - 1] - b[k - 1]);
        for (size_t k = n_concat; k-- > 0;) {
            const lanes gap = a[k] - b[k];
            const lanes slope = SLOPE(gap, grad) * before[k] * after;
            after *= HEIGHT(gap);
            sums[k] += slope;
            to[k] -= slope;
        }
    }
    memcpy(own, sums, n_concat * sizeof(lanes));
}

RSK_CLONES
void rsk_kernel_backward(const rsk_kernel_shape *shape, const float *u, const float *v, const float *grad_kernel,
                         float *grad_u, float *grad_v) {
    const size_t n_concat = shape->n_concat, n_queries = shape->n_queries, n_points = shape->n_points;
    const float share = 1.0f / (float)(shape->n_blocks * LANES);
    memset(grad_v, 0, shape->n_blocks * n_points * n_concat * sizeof(lanes));
    for (size_t block = 0; block < shape->n_blocks; block++) {
        const lanes *a = (const lanes *)u + block * n_queries * n_concat;
        const lanes *b = (const lanes *)v + block * n_points * n_concat;
        lanes *own = (lanes *)grad_u + block * n_queries * n_concat;
        lanes *to = (lanes *)grad_v + block * n_points * n_concat;
        size_t i = 0;
        if (n_concat == 1) {
            for (; i + QUERIES <= n_queries; i += QUERIES)
                backward_one_code(a + i, b, grad_kernel + i * n_points, share, n_points, QUERIES, own + i, to);
            for (; i < n_queries; i++)
                backward_one_code(a + i, b, grad_kernel + i * n_points, share, n_points, 1, own + i, to);
        } else {
            for (; i < n_queries; i++)
                backward_codes(a + i * n_concat, b, grad_kernel + i * n_points, share, n_points, n_concat,
                               own + i * n_concat, to);
        }
    }
}
