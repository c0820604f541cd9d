/* Private to optimize/: the face of a polyhedron on which a linear function is least, by GLPK. */
#ifndef SDRS_OPTIMIZE_LINEAR_PROGRAM_H
#define SDRS_OPTIMIZE_LINEAR_PROGRAM_H

#include "optimize/project.h"

typedef struct LinearProgram LinearProgram;

/* Borrows the rows, which must outlive it. Never NULL. */
LinearProgram* linear_program_create(const ProjectRows* rows);
/* Frees it, not the rows; NULL is accepted. */
void linear_program_destroy(LinearProgram* program);
/* Minimise cost . x over the limits, for the variables that stand in rows; all arrays are those of all variables.
 * Variables are seen in units of `unit` (> 0, per block), costs relative to the largest of them. `face` gets limits
 * tightened to what holds at every minimum: bounds and rows whose multiplier is above 1e-9 (in these units). Every
 * column must have finite limits with 0 between them; rows must allow 0.
 * Only the choice of what holds comes from GLPK: by the simplex method in doubles, then confirmed or mended by the one
 * in rational numbers. The same bits every time; nothing is kept from one call to the next. No memory is taken but by
 * GLPK. false: no minimum found; face is of no use. face_low, face_high as long as all variables, of which only
 * those in rows are set; face_row_low[row_count], face_row_high[row_count]. */
bool linear_program_face(LinearProgram* program, const int* block, const double unit[2], const double* cost,
                         const ProjectLimits* limits, double* face_low, double* face_high, double* face_row_low,
                         double* face_row_high);

#endif
