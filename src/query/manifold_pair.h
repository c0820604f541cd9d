/* State of a contact query of two bodies, in dual or plain numbers (query/dual.h). Private to query/.
 * docs/derivations/manifold.md */
#ifndef SDRS_QUERY_MANIFOLD_PAIR_H
#define SDRS_QUERY_MANIFOLD_PAIR_H

#include "query/dual.h"
#include "query/query.h"

/* Regularization of normals: n / sqrt(NORMAL_FLOOR + |n|^2). */
#define NORMAL_FLOOR 1e-12
/* Regularization of the direction between edges, relative to the smoothing. The direction vanishes for edges nearer
 * than this. */
#define APART_FLOOR 1e-2

/* Columns of the derivatives of an answer. */
enum { COLUMNS = 12 };
/* A third of a row: four columns. */
typedef double DualHalf __attribute__((vector_size(32)));

/* Points whose fields are evaluated together. */
enum { BLOCK = 32 };

/* Sums over contacts of distance times weight (`activity`), and of the weights (X14). */
typedef struct {
  Dual weighted, activity;
} MeanSums;

typedef struct {
  const ManifoldBody* body[2];
  const ManifoldOptions* options;
  Pose pose_a, pose_b;
  Pose relative; /* of a in b's frame */
  ManifoldCause cause;
  int first, lanes;     /* parameters first ... first + lanes - 1 of a body are the dual variables */
  Dual smoothing;       /* options->smoothing as a variable */
  char* room;           /* unused part of the workspace */
  ManifoldContact* out; /* all contacts are written here, or, if NULL, ... */
  MeanSums* sums;       /* ... the sums over the contacts are accumulated here */
  int left_out;         /* number of points and edges not chosen although as deep as a chosen one (X1) */
  DualHalf axis[3];     /* component k, in b's frame, of the three world axes (lanes) */
  DualHalf swept[3];    /* component k, in b's frame, of (world axis) x relative.t (lanes) */
} ManifoldPair;

/* Field of a body at a point. */
typedef struct {
  Dual value;
  Dual3 normal; /* outward */
} DualField;

/* Does the same as manifold_query without derivatives, or, if out is NULL, as manifold_mean. room is as in these
 * functions, but not NULL. Returns the number of points and edges left out, as these functions do. */
int manifold_values(const ManifoldBody* a, Pose pose_a, const ManifoldBody* b, Pose pose_b,
                    const ManifoldOptions* options, ManifoldContact* out, ManifoldMean* mean, void* room);

/* Returns an uninitialized array of `size` bytes, 64-byte aligned, borrowed from the workspace s->room and not given
 * back. */
static inline void* take(ManifoldPair* s, size_t size) {
  void* out = s->room;
  s->room += (size + 63) / 64 * 64;
  return out;
}

/* Returns the point `place` of b's frame in the body's own frame. */
static inline Vec3 own_place(const ManifoldPair* s, int body, Vec3 place) {
  return body == 1 ? place : mat3_tmul_vec(s->relative.r, vec3_sub(place, s->relative.t));
}

static inline void add_to_sums(MeanSums* sums, Dual distance, Dual activity) {
  sums->weighted += dual_mul(activity, distance);
  sums->activity += activity;
}

static inline int wanted_of(int all, int asked) { return asked > 0 && asked < all ? asked : all; }
static inline int points_in(const ManifoldBody* body) { return body->only ? body->only_count : body->point_count; }

static inline ManifoldPair pair_of(const ManifoldBody* a, Pose pose_a, const ManifoldBody* b, Pose pose_b,
                                   const ManifoldOptions* options) {
  return (ManifoldPair){
      .body = {a, b},
      .options = options,
      .pose_a = pose_a,
      .pose_b = pose_b,
      .relative = {mat3_mul(mat3_transpose(pose_b.r), pose_a.r), pose_apply_inverse(pose_b, pose_a.t)},
      .smoothing = dual_of(options->smoothing)};
}

#endif
