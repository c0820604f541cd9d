/* Private to optimize/: the face of a polyhedron on which a linear function is minimal, found by GLPK. */
#ifndef SDRS_OPTIMIZE_LINEAR_PROGRAM_H
#define SDRS_OPTIMIZE_LINEAR_PROGRAM_H

#include "optimize/project.h"

typedef struct LinearProgram LinearProgram;

/* Returns a new linear program, freed with linear_program_destroy. Borrows the rows, which must outlive it. Never NULL.
 */
LinearProgram* linear_program_create(const ProjectRows* rows);
/* Frees the program, not the rows. Accepts NULL. */
void linear_program_destroy(LinearProgram* program);
/* Minimizes cost . x over the limits, for the variables that occur in rows. All arrays have the length of all
 * variables. Variables are divided by unit[block] > 0, and costs by the largest of them. Sets face_* to the limits of
 * the face of all minima: bounds and rows with a multiplier above 1e-9 (in these units) become equations. Each of these
 * variables must have finite limits with 0 between them, and the rows must admit 0. GLPK determines only which bounds
 * and rows are active: by the simplex method in doubles, then by the exact one in rational numbers, which confirms or
 * corrects the result. The result is reproducible to the bit, and no state is kept between calls. Only GLPK allocates.
 * Returns false, with face_* undefined, if no minimum is found. face_low and face_high (count) are set only for
 * variables in rows; face_row_low[row_count], face_row_high[row_count]. */
bool linear_program_face(LinearProgram* program, const int* block, const double unit[2], const double* cost,
                         const ProjectLimits* limits, double* face_low, double* face_high, double* face_row_low,
                         double* face_row_high);

#endif
