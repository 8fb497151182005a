/* rsk_kernel.h: the kernel of the hashes really used, for training (stage 1), not for inference.
 *
 * For queries u and points v given by their positions along every hash direction, in bucket units,
 *
 *     kernel[i][j] = (1 / n_rows) * sum over rows l of
 *                    product over codes k of max(0, 1 - |u[i][l,k] - v[j][l,k]|)
 *
 * is the probability, over the random offsets, that query i and point j share all codes of a row.
 */
#ifndef RSK_KERNEL_H
#define RSK_KERNEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    RSK_KERNEL_LANES = 16,     /* rows handled together, one block */
    RSK_KERNEL_MAX_CONCAT = 16 /* codes of a row */
};

typedef struct {
    uint32_t n_queries, n_points;
    uint32_t n_blocks; /* blocks of RSK_KERNEL_LANES hash rows */
    uint32_t n_concat; /* codes of a row, at most RSK_KERNEL_MAX_CONCAT */
} rsk_kernel_shape;

/* u[n_blocks][n_queries][n_concat][LANES], v[n_blocks][n_points][n_concat][LANES]
 * -> kernel[n_queries][n_points]. */
void rsk_kernel_forward(const rsk_kernel_shape *shape, const float *u, const float *v, float *kernel);

/* Given grad_kernel[n_queries][n_points], writes grad_u and grad_v, shaped like u and v. */
void rsk_kernel_backward(const rsk_kernel_shape *shape, const float *u, const float *v, const float *grad_kernel,
                         float *grad_u, float *grad_v);

#ifdef __cplusplus
}
#endif
#endif
