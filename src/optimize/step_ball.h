/* Private to optimize/: minimization of a linear function over a polyhedron that contains zero and a ball per block. */
#ifndef SDRS_OPTIMIZE_STEP_BALL_H
#define SDRS_OPTIMIZE_STEP_BALL_H

#include "optimize/project.h"

/* Minimizes g . d subject to low <= d <= high and |d_block|_2 <= radius of the block; low <= 0 <= high (O7).
 * d_i = clamp(-t g_i, low_i, high_i). An iteration increases t of each block monotonically and ends after at most as
 * many steps as there are variables. The result d is exact to rounding; g_i = 0 gives d_i = 0. All arrays (count), but
 * radius has one entry per block in its units. Allocates nothing, never fails. */
void step_ball_bounds(int count, const int* block, const double* low, const double* high, const double* gradient,
                      const double radius[2], double* d);

/* As step_ball_bounds, with rows (O8). The limits contain zero, and low and high are within the radius.
 * Proximal steps: d <- argmin g . d + sum over blocks |d - d_last|^2 / (2 T), over limits and balls, until no block
 * moves by more than 1e-10 of its radius. A bracketing search finds the multiplier of each ball; the searches are
 * nested if both balls are active. projector_nearest solves the rest. Variables with zero gradient move only if rows
 * require it. work[3 count], block[count], gradient[count], d[count]; radius[2] in the units of the blocks. Returns
 * false if the limits are empty. Allocates nothing. */
bool step_ball_rows(Projector* projector, int count, const int* block, const ProjectLimits* limits,
                    const double* gradient, const double radius[2], double* work, double* d);

/* Returns the Euclidean norm of a block of d, without overflow; 0 for a block without variables. d[count],
 * block[count]. */
double step_ball_norm(int count, const int* block, const double* d, int which);

#endif
