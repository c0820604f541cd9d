/* Between the files of paths. Private to query/. */
#ifndef SDRS_QUERY_PATH_H
#define SDRS_QUERY_PATH_H

#include "query/query.h"

/* alpha of the body at a place against obstacle k, at least: bounds from below that hold for certain. */
double path_alpha(const PathProblem* problem, Vec3 at, int k, int* queries);
/* The same with its gradient by the place [1/m]; zero where there is none. */
double path_alpha_slope(const PathProblem* problem, Vec3 at, int k, Vec3* slope, int* queries);
/* Is alpha >= 1 + clearance all along a segment? Proved by balls (G17). */
bool path_segment_free(const PathProblem* problem, Vec3 a, Vec3 b, int* queries);

/* A free polyline from `from` to `to` by two trees; *count corners, NULL when there is none (query/path_search.c). */
Vec3* path_search(const PathProblem* problem, int* count, int* queries);
/* Points of least length and curvature with alpha >= bound at them and halfway between; the ends stay
 * (query/path_smooth.c). */
void path_smooth(const PathProblem* problem, Vec3* points, double bound, int* queries);

#endif
