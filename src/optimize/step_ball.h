/* Private to optimize/: the least of a linear function within a ball for each block and a polyhedron around zero. */
#ifndef SDRS_OPTIMIZE_STEP_BALL_H
#define SDRS_OPTIMIZE_STEP_BALL_H

#include "optimize/project.h"

/* minimise  g . d   subject to   low <= d <= high,   |d_block|_2 <= radius of the block;   low <= 0 <= high       (O7)
 *   d_i = -t g_i, clamped; t of each block by a monotone iteration that ends after at most as many steps as variables.
 * Exact to rounding. g_i = 0 gives d_i = 0. All arrays (count) but radius, one for each block, in its units; d is
 * the result. No allocation; never fails. */
void step_ball_bounds(int count, const int* block, const double* low, const double* high, const double* gradient,
                      const double radius[2], double* d);

/* The same with rows, within limits that contain zero and are within the radius in every variable:                (O8)
 * proximal steps, d <- argmin  g . d + sum over blocks |d - d_last|^2 / (2 T), over limits and balls, until no block
 * moves by more than 1e-10 of its radius. The multiplier of each ball is found by a bracketing search (one within the
 * other when both balls hold), the rest is projector_nearest. Zero gradients move only as far as rows make them.
 * `work`: 3 x count. false: the limits are empty. No allocation. block[count], gradient[count] and d[count]; radius [2]
 * in units of the blocks. */
bool step_ball_rows(Projector* projector, int count, const int* block, const ProjectLimits* limits,
                    const double* gradient, const double radius[2], double* work, double* d);

/* Euclidean norm of a block of d; d[count], block[count]. Without overflow; 0 for a block without variables. */
double step_ball_norm(int count, const int* block, const double* d, int which);

#endif
