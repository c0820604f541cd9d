/* names: texts to indices, for thousands of links. */
#ifndef SDRS_SCENE_NAMES_H
#define SDRS_SCENE_NAMES_H

#include "base/base.h"

/* Initialise with {0}. The texts are borrowed. */
typedef struct {
  const char** texts; /* in the order they were added */
  int* values;
  int count, capacity;
  int* slots; /* open addressing; -1 = free */
  int slot_count;
} Names;

/* False when the text is there already. */
bool names_add(Names* names, const char* text, int value);
/* The value of a text, or -1. */
int names_find(const Names* names, const char* text);
/* The nearest text, or NULL. */
const char* names_nearest(const Names* names, const char* text);
void names_free(Names* names);

#endif
