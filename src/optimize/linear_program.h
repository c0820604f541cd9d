/* Private to optimize/: minimization of a linear function over a polyhedron by GLPK. The result is the face on which
 * the function is minimal. */
#ifndef SDRS_OPTIMIZE_LINEAR_PROGRAM_H
#define SDRS_OPTIMIZE_LINEAR_PROGRAM_H

#include "optimize/project.h"

typedef struct LinearProgram LinearProgram;

/* Creates a linear program. Borrows the rows, which must outlive it. The caller frees it with linear_program_destroy.
 */
LinearProgram* linear_program_create(const ProjectRows* rows);
/* Frees the program, not the rows. Accepts NULL. */
void linear_program_destroy(LinearProgram* program);
/* Finds all x that minimize cost . x within the limits; they form a face of the feasible polyhedron. Sets
 * face_low[count], face_high[count], face_row_low[row_count] and face_row_high[row_count] to the limits of the face.
 * Bounds and rows whose Lagrange multiplier exceeds 1e-9 become equations. Variables that occur in no row are not set.
 * cost and limits have an entry per variable. Variables are divided by unit[block] > 0 (asserted), costs by the largest
 * cost, and the multipliers refer to these scaled quantities. Limits are finite and admit 0. Returns false without a
 * minimum; the results are then unspecified. GLPK determines only which bounds and rows are active: by the simplex
 * method in doubles, then exactly in rational numbers. The result is therefore reproducible to the bit. */
bool linear_program_solve(LinearProgram* program, const int* block, const double unit[2], const double* cost,
                          const ProjectLimits* limits, double* face_low, double* face_high, double* face_row_low,
                          double* face_row_high);

#endif
