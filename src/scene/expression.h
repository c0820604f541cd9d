/* expression: evaluates expressions in braces. Examples are {i-1} in a name inside a `repeat`, and {leg / 2} in place
 * of a number. */
#ifndef SDRS_SCENE_EXPRESSION_H
#define SDRS_SCENE_EXPRESSION_H

#include "base/base.h"

/* Indices of one item of a `repeat`, a grid of items with up to three axes. step[axis] counts the items along an
 * axis from 0. In expressions i, j, k are step[0], step[1], step[2] plus `start`, and n counts all items from 0. */
typedef struct {
  int axis_count;
  int step[3];
  int start;
  int n;
} RepeatIndices;

/* Named numbers of a scene (key `variables`). The struct owns names and values. variables_free accepts a zeroed
 * struct. */
typedef struct {
  Names names; /* names of the numbers; a name gives the index of its number in `values` */
  double* values;
  int count, capacity;
} Variables;
/* Frees the names and values, and zeroes the struct. */
void variables_free(Variables* variables);
/* Adds a variable with a copy of `name`. Returns false, without adding the variable, if the name is not a word of
 * letters, digits and _, or is already used. The names i, j, k, n, pi and the names of functions are reserved. */
bool variables_add(Variables* variables, const char* name, double value);

/* Evaluates an expression in braces, such as "{leg / 2}", and sets *value to the result. The expression must be the
 * whole text. An expression may contain numbers, variables, the indices i j k n of a `repeat`, pi, the operators + - *
 * / % ^ ( ), and the functions sqrt sin cos tan abs min max floor. Angles are in radians. ^ is right-associative and
 * has a higher precedence than a sign before it. indices: indices of the current item, or NULL outside a `repeat`.
 * Returns false, with a static message in *problem, if the expression is invalid or its value is not finite. Sets
 * *problem to NULL if the function returns true. */
bool expression_evaluate(const char* text, const RepeatIndices* indices, const Variables* variables, double* value,
                         const char** problem);

/* Appends `text` to `out`, with each {expression} replaced by its integer value. An expression may contain i, j, k, n,
 * + - * / % ( ) and variables with integer values. Division rounds down, so that (i-1)%8 is never negative. indices:
 * indices of the current item, or NULL outside a `repeat`. Returns false, with a static message in *problem, if the
 * syntax is wrong; `out` then contains only part of the text. */
bool expression_expand(const char* text, const RepeatIndices* indices, const Variables* variables, Text* out,
                       const char** problem);

#endif
