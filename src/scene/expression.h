/* expression: {i-1} in the names of a repeat, {leg / 2} where a number is meant. */
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
  Names names; /* -> index in values */
  double* values;
  int count, capacity;
} Variables;
/* Frees names and values and zeroes it. */
void variables_free(Variables* variables);
/* Adds a variable; the name is copied. Returns false, without adding it, if the name is taken, or is one of i, j, k, n,
 * pi or a function. */
bool variables_add(Variables* variables, const char* name, double value);

/* The value of "{...}": numbers, variables, i j k n of a repeat (indices NULL: none), pi, + - * / % ^ ( ), sqrt sin cos
 * tan abs min max floor. Angles in radians; ^ binds from the right, and closer than a sign before it. False with
 * *problem (a static text) when it cannot be understood or is not finite. text begins with {. *value is set in any
 * case, to be used only after true; *problem is NULL then. */
bool expression_value(const char* text, const Indices* indices, const Variables* variables, double* value,
                      const char** problem);

/* Appends the text with every {expression} of i, j, k, n, + - * / % ( ) and variables with whole values replaced by its
 * value, an integer. Division rounds down, so that (i-1)%8 is never negative. indices NULL: no repeat. Returns false
 * with *problem (a static text) on a syntax error; out then has a part of the text. */
bool expression_expand(const char* text, const Indices* indices, const Variables* variables, Text* out,
                       const char** problem);

#endif
