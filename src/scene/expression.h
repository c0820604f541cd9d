/* expression: evaluates expressions in braces, such as {i-1} in names inside a `repeat`, and {leg / 2} in place of a
 * number. */
#ifndef SDRS_SCENE_EXPRESSION_H
#define SDRS_SCENE_EXPRESSION_H

#include "base/base.h"

/* Indices of one item of a `repeat`. `step` counts from 0 along each axis. In expressions i, j, k are step[0], step[1],
 * step[2] plus `start`, and n counts all items from 0. */
typedef struct {
  int axis_count;
  int step[3];
  int start;
  int n;
} Indices;

/* The scene's `variables`: numbers with names. Owns names and values. variables_free accepts a zeroed struct. */
typedef struct {
  Names names; /* name to index in values */
  double* values;
  int count, capacity;
} Variables;
/* Frees names and values, and zeroes the struct. */
void variables_free(Variables* variables);
/* Adds a variable with a copy of `name`. Returns false, without adding it, if the name is already taken, or is i, j, k,
 * n, pi or the name of a function. */
bool variables_add(Variables* variables, const char* name, double value);

/* Evaluates the expression in braces "{...}", which must be the whole text, and sets *value to the result. An
 * expression may contain numbers, variables, the indices i j k n of a `repeat`, pi, the operators + - * / % ^ ( ), and
 * the functions sqrt sin cos tan abs min max floor. Angles are in radians. ^ is right-associative and has a higher
 * precedence than a sign before it. indices: NULL outside a `repeat`. Returns false, with a static message in *problem,
 * if the expression is invalid or its value is not finite. Sets *problem to NULL if it returns true. */
bool expression_value(const char* text, const Indices* indices, const Variables* variables, double* value,
                      const char** problem);

/* Appends `text` to `out`, each {expression} replaced by its value, an integer. An expression may contain i, j, k, n, +
 * - * / % ( ) and variables with integer values. Division rounds down, so that (i-1)%8 is never negative. indices: NULL
 * outside a `repeat`. Returns false, with a static message in *problem, if the syntax is wrong; `out` then contains
 * only part of the text. */
bool expression_expand(const char* text, const Indices* indices, const Variables* variables, Text* out,
                       const char** problem);

#endif
