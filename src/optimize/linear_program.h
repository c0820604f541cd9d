/* Private to optimize/: minimization of a linear function over a polyhedron by GLPK. The result is the face of the
 * polyhedron on which the function is minimal. */
#ifndef SDRS_OPTIMIZE_LINEAR_PROGRAM_H
#define SDRS_OPTIMIZE_LINEAR_PROGRAM_H

#include "optimize/project.h"

typedef struct LinearProgram LinearProgram;

/* Returns a new linear program, never NULL. Borrows the rows, which must outlive the program. The caller frees the
 * program with linear_program_destroy. */
LinearProgram* linear_program_create(const ProjectRows* rows);
/* Frees the program, not the rows. Accepts NULL. */
void linear_program_destroy(LinearProgram* program);
/* Finds the face of all minima of cost . x within the limits, for the variables that occur in rows. Sets
 * face_low[count], face_high[count], face_row_low[row_count] and face_row_high[row_count] to the limits of the face.
 * Bounds and rows whose multiplier exceeds 1e-9 become equations. Entries of face_low and face_high for variables in no
 * row are not set. cost and limits have an entry for each variable. Variables are divided by unit[block] > 0 and costs
 * by the largest cost; the multipliers refer to these scaled quantities. Limits of variables in rows must be finite
 * with 0 between them, and the rows must admit 0. Returns false, with face_* undefined, if no minimum is found.
 * GLPK determines only which bounds and rows are active: first by the simplex method in doubles, then by the exact
 * simplex method in rational numbers. The result is therefore reproducible to the bit. No state is kept between
 * calls. Only GLPK allocates. */
bool linear_program_solve(LinearProgram* program, const int* block, const double unit[2], const double* cost,
                          const ProjectLimits* limits, double* face_low, double* face_high, double* face_row_low,
                          double* face_row_high);

#endif
