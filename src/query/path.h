/* Path planning: functions shared by path.c, path_search.c and path_smooth.c. Private to query/. */
#ifndef SDRS_QUERY_PATH_H
#define SDRS_QUERY_PATH_H

#include "query/query.h"

/* Returns a proven lower bound of alpha for the body at position `at` [m] and obstacle k. Like all functions in this
 * file, adds the number of its growth queries to *queries. */
double path_alpha(const PathProblem* problem, Vec3 at, int k, int* queries);
/* Returns alpha and sets *slope to the gradient of alpha with respect to the position [1/m], zero where alpha has
 * none. */
double path_alpha_slope(const PathProblem* problem, Vec3 at, int k, Vec3* slope, int* queries);
/* Returns true if alpha >= 1 + clearance is proven along the whole segment by balls (G17). Returns false if it does not
 * hold, or if the proof needs balls below the least radius. */
bool path_segment_free(const PathProblem* problem, Vec3 a, Vec3 b, int* queries);

/* Returns the length of a polyline. points: (count) [m]. */
double path_length(const Vec3* points, int count);
/* Returns a free polyline from problem->from to problem->to, found by two random trees (query/path_search.c): positions
 * [m] including both ends. Sets *count to their number. Returns NULL if none was found. The caller frees the array with
 * memory_free. */
Vec3* path_search(const PathProblem* problem, int* count, int* queries);
/* Minimizes length and curvature of a path subject to alpha >= bound at the points and halfway between them
 * (query/path_smooth.c). points: (problem->points) [m], changed in place; the ends stay fixed. Allocates temporarily.
 * The result is not proven to be free. */
void path_smooth(const PathProblem* problem, Vec3* points, double bound, int* queries);

#endif
