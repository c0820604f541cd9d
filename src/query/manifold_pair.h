/* State of a contact query of two bodies. Private to query/. Included twice, for dual numbers and for plain numbers
 * (query/dual.h). docs/derivations/manifold.md */
#ifndef SDRS_QUERY_MANIFOLD_PAIR_H
#define SDRS_QUERY_MANIFOLD_PAIR_H

#include "query/dual.h"
#include "query/query.h"

/* Added to the squared length before a normal n is normalized: n / sqrt(NORMAL_FLOOR + |n|^2). Avoids division by zero.
 */
#define NORMAL_FLOOR 1e-12
/* Distance, relative to the smoothing, that regularizes the direction between two edges. If the edges are nearer than
 * this distance, the direction vector tends to zero. */
#define DIRECTION_FLOOR 1e-2

/* Number of derivatives of each number of a contact: with respect to six motions of body a, then six of body b. */
enum { COLUMNS = 12 };
/* SIMD vector of four derivatives, a third of the twelve derivatives of a number. */
typedef double DualHalf __attribute__((vector_size(32)));

/* Number of points at which a body's signed distance field is evaluated in one call. */
enum { BLOCK = 32 };

/* Sums over contacts for the mean distance (X14): sum of activity * distance, and sum of activities. */
typedef struct {
  Dual weighted, activity;
} MeanSums;

typedef struct {
  const ManifoldBody* body[2];
  const ManifoldOptions* options;
  Pose pose_a, pose_b;
  Pose relative; /* pose of body a in the frame of body b */
  ManifoldCause cause;
  int first, lanes; /* the derivatives are with respect to the shape parameters first ... first + lanes - 1 of a body */
  Dual smoothing;   /* smoothing length options->smoothing, as a dual variable */
  char* room;       /* start of the unused part of the workspace */
  ManifoldContact* out; /* array for all contacts; NULL if only the sums are computed */
  MeanSums* sums;       /* sums over the contacts, accumulated if out is NULL */
  int omitted; /* number of points and edges that are not chosen, although a chosen point or edge has the same depth
                  (X1) */
  DualHalf axis[3];  /* axis[k]: component k, in the frame of body b, of each of the three world axes */
  DualHalf swept[3]; /* swept[k]: component k, in the frame of body b, of the cross product of each world axis with
                        relative.t */
} ManifoldPair;

/* Signed distance field of a body and its gradient at a point, with derivatives. */
typedef struct {
  Dual value;
  Dual3 normal; /* unit gradient of the field, outward from the body */
} DualField;

/* Computes the contacts of two bodies without derivatives, or their mean distance if out is NULL. room: workspace of
 * manifold_room bytes, 64-byte aligned, not NULL. Returns the number of points and edges that were left out, although a
 * chosen point or edge has the same depth. */
int manifold_values(const ManifoldBody* a, Pose pose_a, const ManifoldBody* b, Pose pose_b,
                    const ManifoldOptions* options, ManifoldContact* out, ManifoldMean* mean, void* room);

/* Returns an uninitialized array of `size` bytes, 64-byte aligned. The array is borrowed from the workspace s->room and
 * is never freed. */
static inline void* allocate_from_workspace(ManifoldPair* s, size_t size) {
  void* out = s->room;
  s->room += (size + 63) / 64 * 64;
  return out;
}

/* Converts the point `place` from b's frame to the frame of `body` (0: a, 1: b). */
static inline Vec3 point_in_body_frame(const ManifoldPair* s, int body, Vec3 place) {
  return body == 1 ? place : mat3_tmul_vec(s->relative.r, vec3_sub(place, s->relative.t));
}

static inline void add_to_sums(MeanSums* sums, Dual distance, Dual activity) {
  sums->weighted = dual_add(sums->weighted, dual_mul(activity, distance));
  sums->activity = dual_add(sums->activity, activity);
}

static inline int chosen_count(int all, int asked) { return asked > 0 && asked < all ? asked : all; }
static inline int count_points(const ManifoldBody* body) { return body->only ? body->only_count : body->point_count; }

static inline ManifoldPair create_pair(const ManifoldBody* a, Pose pose_a, const ManifoldBody* b, Pose pose_b,
                                       const ManifoldOptions* options) {
  return (ManifoldPair){
      .body = {a, b},
      .options = options,
      .pose_a = pose_a,
      .pose_b = pose_b,
      .relative = {mat3_mul(mat3_transpose(pose_b.r), pose_a.r), pose_apply_inverse(pose_b, pose_a.t)},
      .smoothing = dual_constant(options->smoothing)};
}

#endif
