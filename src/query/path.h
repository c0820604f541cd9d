/* Between the files of paths. Private to query/. */
#ifndef SDRS_QUERY_PATH_H
#define SDRS_QUERY_PATH_H

#include "query/query.h"

/* Lower bound of alpha, certain, of the body at a place [m] against obstacle k. Adds 1 to *queries, as all here add
 * theirs. */
double path_alpha(const PathProblem* problem, Vec3 at, int k, int* queries);
/* alpha itself, with its gradient by the place [1/m]; zero where there is none. */
double path_alpha_slope(const PathProblem* problem, Vec3 at, int k, Vec3* slope, int* queries);
/* Is alpha >= 1 + clearance all along a segment? Proved by balls (G17). false: it is not, or the proof came to steps
 * too small. */
bool path_segment_free(const PathProblem* problem, Vec3 a, Vec3 b, int* queries);

/* Sum of the lengths of the segments of a polyline; points: (count) [m]. */
double path_length(const Vec3* points, int count);
/* A free polyline from `from` to `to` by two trees; *count corners, NULL when there is none (query/path_search.c).
 * Owned by the caller, freed by memory_free; with both ends [m]. */
Vec3* path_search(const PathProblem* problem, int* count, int* queries);
/* Points of least length and curvature with alpha >= bound at them and halfway between; the ends stay
 * (query/path_smooth.c). points: (problem->points) [m], changed in place; bound: of alpha. Allocates for the time of
 * the call. Nothing is proved. */
void path_smooth(const PathProblem* problem, Vec3* points, double bound, int* queries);

#endif
