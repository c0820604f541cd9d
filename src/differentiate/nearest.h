/* Private to differentiate/: where two hulls are nearest, or deepest in each other, as combinations of their vertices.
 *
 * Hulls: d = |sum_i w_i (a_i - b_i)| with n from a to b at the nearest points. w is where d is least, so d changes with
 * the vertices as if w were constant: dd/da_i = -w_i n, dd/db_i = w_i n.
 * Hulls that overlap: d = -depth, the least shift along n that parts them, between the vertices farthest along n.
 * Hull over a half-space: d = min_i n . x_i - offset, in the half-space's frame.
 * Where several w reach the same d - faces or edges that lie parallel, as bodies start - d has a kink. Of its slopes
 * the one with the least sum of squared weights is taken: one corner of a box alone raises nothing, all together do. */
#ifndef SDRS_DIFFERENTIATE_NEAREST_H
#define SDRS_DIFFERENTIATE_NEAREST_H

#include "differentiate/loss.h"

/* The nearest points of hulls a and b, in their links' frames, as combinations of up to three vertices. Borrows both.
 */
typedef struct {
  double distance; /* m; below a half-space's surface negative */
  const ModelHull *a, *b;
  Vec3 normal; /* of the distance, from a to b, world */
  Vec3 point_a, point_b;
  int count;                    /* 0: hulls that meet have no direction to part in */
  int vertex_a[4], vertex_b[4]; /* -1: of a half-space */
  double weight[4];
} Nearest;

/* Of two hulls, at most one of them a half-space, which is then a of the answer. Where they meet the distance is 0 and
 * the count 0; nearest_signed has minus the depth then, and its direction (allocates). */
Nearest nearest_between(const ModelHull* a, const ModelHull* b, Pose pose_a, Pose pose_b);
/* The same, negative where they overlap; of a half-space as nearest_between. */
Nearest nearest_signed(const ModelHull* a, const ModelHull* b, Pose pose_a, Pose pose_b);
/* What the distance cannot be below, by the bounding spheres; NaN when a pose is not a number. [m]; -HUGE_VAL with a
 * half-space. */
double nearest_bound(const ModelHull* a, const ModelHull* b, Pose pose_a, Pose pose_b);

/* Most vertices of a side; more are left to those where GJK ended. */
enum { CARRIER_MAX = 128 };
/* The nearest point of one side as a combination of vertices of its hull. */
typedef struct {
  int count;               /* 0: of hulls deep in each other, whose faces have too many vertices */
  int vertex[CARRIER_MAX]; /* -1: of a half-space */
  double weight[CARRIER_MAX];
  Vec3 point; /* link frame */
} Carrier;

/* Both sides: what carries the distance. pose: of the links of nearest->a and nearest->b. count 0 where nothing carries
 * it. No allocation. */
void nearest_carry(const Nearest* nearest, const Pose pose[2], Carrier side[2]);
/* g = dL/dx of the point in its link's frame: to the vertices that carry it. Added to seeds->vertices; nothing for a
 * half-space. */
void nearest_seed_vertices(const ModelHull* hull, const Carrier* side, Vec3 g, LossSeeds* seeds);

#endif
