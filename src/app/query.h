/* The input of `sdrs query`: pairs of convex point sets, read from JSON with a place for every message. Private to
 * app/. */
#ifndef SDRS_APP_QUERY_H
#define SDRS_APP_QUERY_H

#include "linalg/linalg.h"

typedef struct {
  Vec3 *a, *b; /* world coordinates [m] */
  int a_count, b_count;
  double support; /* m, > 0 */
} QueryPair;

typedef struct {
  QueryPair* pairs;
  int count;
} QueryList;

/* A list of pairs, or one pair. Every problem goes to diagnostics: STATUS_BAD_INPUT, or STATUS_IO when the file cannot
 * be read. query_free accepts a zeroed or half-read list. */
Status query_read(QueryList* list, const char* path, Diagnostics* diagnostics);
/* The same from a NUL-terminated text; `path` stands for it in messages. */
Status query_parse(QueryList* list, const char* path, const char* text, size_t length, Diagnostics* diagnostics);
void query_free(QueryList* list);

/* Place of the value that is reached through children path[0], path[1], ... of a valid JSON text; key: of its key
 * instead (app/json_place.c). */
SourcePlace json_place(const char* file, const char* text, const int* path, int depth, bool key);

#endif
