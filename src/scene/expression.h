/* expression: {i-1} in the names of a repeat. */
#ifndef SDRS_SCENE_EXPRESSION_H
#define SDRS_SCENE_EXPRESSION_H

#include "base/base.h"

/* Where a repeat stands. `step` counts from 0 on each axis; i, j, k = step + start; n counts all items from 0. */
typedef struct {
  int axis_count;
  int step[3];
  int start;
  int n;
} Indices;

/* Replace every {expression} of i, j, k, n with + - * / % ( ) by its value, an integer. Division rounds down, so that
 * (i-1)%8 is never negative. indices NULL: braces are an error. False with *problem (a static text) when it cannot be
 * understood. */
bool expression_expand(const char* text, const Indices* indices, Text* out, const char** problem);

#endif
