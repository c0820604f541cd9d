/* Path planning: functions shared by path.c, path_search.c and path_smooth.c. Private to query/. */
#ifndef SDRS_QUERY_PATH_H
#define SDRS_QUERY_PATH_H

#include "query/query.h"

/* Proven lower bound of alpha of the body at position `at` [m] against obstacle k. Like all functions here, adds its
 * growth queries to *queries. */
double path_alpha(const PathProblem* problem, Vec3 at, int k, int* queries);
/* alpha, with its gradient by the position in *slope [1/m]; a zero gradient where there is none. */
double path_alpha_slope(const PathProblem* problem, Vec3 at, int k, Vec3* slope, int* queries);
/* True if alpha >= 1 + clearance is proven along the whole segment by balls (G17). False: it does not hold, or the
 * proof needs balls below the least radius. */
bool path_segment_free(const PathProblem* problem, Vec3 a, Vec3 b, int* queries);

/* Sum of the lengths of the segments of a polyline; points: (count) [m]. */
double path_length(const Vec3* points, int count);
/* Free polyline from problem->from to problem->to by two random trees (query/path_search.c): positions [m] including
 * both ends, *count of them. NULL: none found. Owned by the caller, freed by memory_free. */
Vec3* path_search(const PathProblem* problem, int* count, int* queries);
/* Minimizes length and curvature subject to alpha >= bound at the points and halfway between (query/path_smooth.c).
 * points: (problem->points) [m], changed in place; the ends stay fixed. Allocates temporarily. The result is not
 * proven. */
void path_smooth(const PathProblem* problem, Vec3* points, double bound, int* queries);

#endif
