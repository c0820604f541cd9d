/* expression: evaluates {i-1} in names of a repeat, and {leg / 2} in place of a number. */
#ifndef SDRS_SCENE_EXPRESSION_H
#define SDRS_SCENE_EXPRESSION_H

#include "base/base.h"

/* Indices of an item in a repeat. `step` counts from 0 on each axis; i, j, k = step + start; n counts all items from 0.
 */
typedef struct {
  int axis_count;
  int step[3];
  int start;
  int n;
} Indices;

/* Numbers by name, of the scene's `variables`. Owns its names and values; variables_free accepts a zeroed one. */
typedef struct {
  Names names; /* name to index in values */
  double* values;
  int count, capacity;
} Variables;
/* Frees names and values and zeroes it. */
void variables_free(Variables* variables);
/* Adds a variable; the name is copied. Returns false, without adding it, if the name is taken, or is one of i, j, k, n,
 * pi or a function. */
bool variables_add(Variables* variables, const char* name, double value);

/* Sets *value to that of "{...}": numbers, variables, i j k n of a repeat (indices NULL: none), pi, + - * / % ^ ( ),
 * sqrt sin cos tan abs min max floor. Angles in radians; ^ is right-associative and binds closer than a sign before it.
 * text begins with {. Returns false, with a static text in *problem, if it is invalid or not finite; *problem is NULL
 * after true. */
bool expression_value(const char* text, const Indices* indices, const Variables* variables, double* value,
                      const char** problem);

/* Appends the text with every {expression} of i, j, k, n, + - * / % ( ) and variables with whole values replaced by its
 * value, an integer. Division rounds down, so that (i-1)%8 is never negative. indices NULL: no repeat. Returns false
 * with *problem (a static text) on a syntax error; out then has a part of the text. */
bool expression_expand(const char* text, const Indices* indices, const Variables* variables, Text* out,
                       const char** problem);

#endif
