/* Path planning: functions shared by path.c, path_search.c and path_smooth.c. Private to query/. */
#ifndef SDRS_QUERY_PATH_H
#define SDRS_QUERY_PATH_H

#include "query/query.h"

/* Returns a proven lower bound of the growth distance alpha between the body at position `at` [m] and obstacle k. Adds
 * the number of evaluations of alpha to *queries; so do all functions with this argument. */
double path_alpha_lower_bound(const PathProblem* problem, Vec3 at, int k, int* queries);
/* Returns the growth distance alpha between the body at position `at` [m] and obstacle k. Sets *slope to the gradient
 * of alpha with respect to the body's position [1/m], or to zero where alpha is not differentiable. */
double path_alpha_gradient(const PathProblem* problem, Vec3 at, int k, Vec3* slope, int* queries);
/* Returns true if the body provably moves free of all obstacles along the straight segment from a to b (growth.md,
 * G17). Free: the growth distance is at least 1 + clearance. The proof covers the segment with balls of free positions.
 * Returns false if the segment is not free, or if the proof needs too small balls. */
bool path_is_segment_free(const PathProblem* problem, Vec3 a, Vec3 b, int* queries);

/* Returns the length of a polyline [m]. points: (count) [m]. */
double path_length(const Vec3* points, int count);
/* Searches a collision-free polyline by two random trees (query/path_search.c). Returns the positions [m] from
 * problem->from to problem->to, both included. Sets *count to the number of positions. Returns NULL if no path was
 * found. The caller frees the array with memory_free. */
Vec3* path_search(const PathProblem* problem, int* count, int* queries);
/* Minimizes length and curvature of a path (query/path_smooth.c). Keeps the growth distance from the obstacles at least
 * `bound`, at the points and at the midpoints of the segments. points: (problem->points) [m], changed in place; the
 * ends stay fixed. The result is not proven to be free of collisions. Allocates temporary memory. */
void path_smooth(const PathProblem* problem, Vec3* points, double bound, int* queries);

#endif
