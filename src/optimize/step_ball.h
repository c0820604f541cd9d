/* Private to optimize/: minimization of a linear function over a polyhedron and a ball for each block of variables. */
#ifndef SDRS_OPTIMIZE_STEP_BALL_H
#define SDRS_OPTIMIZE_STEP_BALL_H

#include "optimize/project.h"

/* Sets d to the minimizer of g . d subject to low <= d <= high and |d_block|_2 <= radius[block] (update.md, O7).
 * d_block: the entries of d in a block (0 design, 1 control). g is the gradient, and low <= 0 <= high. The result is
 * d_i = clamp(-t g_i, low_i, high_i) with one t per block, exact to rounding. At most as many iterations are needed as
 * there are variables. All arrays have the length count, except radius[2] in the units of the blocks. Allocates
 * nothing, never fails. */
void step_ball_bounds(int count, const int* block, const double* low, const double* high, const double* gradient,
                      const double radius[2], double* d);

/* Sets d[count] to the minimizer of g . d subject to the limits and |d_block|_2 <= radius of the block (O8). g is
 * the gradient. The limits contain zero, and low and high are within the radius. The method takes proximal steps
 * with lengths T: d <- argmin g . d + sum over blocks |d - d_last|^2 / (2 T). The steps end when no block moves by
 * more than 1e-10 of its radius. Variables with zero gradient move only if rows require the move. work[3 count],
 * block[count], gradient[count]; radius[2] in the units of the blocks. Returns false if the limits are empty.
 * Allocates nothing. */
bool step_ball_rows(Projector* projector, int count, const int* block, const ProjectLimits* limits,
                    const double* gradient, const double radius[2], double* work, double* d);

/* Returns the Euclidean norm of the entries of d that belong to block `which`, without overflow. Returns 0 for a block
 * without variables. d[count], block[count]. */
double step_ball_norm(int count, const int* block, const double* d, int which);

#endif
