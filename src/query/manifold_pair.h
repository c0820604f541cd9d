/* A pair of bodies asked for its contacts, in numbers with derivatives or in numbers alone (query/dual.h). Private to
 * query/. docs/derivations/manifold.md */
#ifndef SDRS_QUERY_MANIFOLD_PAIR_H
#define SDRS_QUERY_MANIFOLD_PAIR_H

#include "query/dual.h"
#include "query/query.h"

/* Normals are n / sqrt(NORMAL_FLOOR + |n|^2). */
#define NORMAL_FLOOR 1e-12
/* Edges nearer than this part of the smoothing have no direction between them. */
#define APART_FLOOR 1e-2

/* Columns of the derivatives of an answer. */
enum { COLUMNS = 12 };
/* Three of them. */
typedef double DualHalf __attribute__((vector_size(32)));

/* Places whose fields are asked for together. */
enum { BLOCK = 32 };

/* Sums of distances times activities, and of activities (X14). */
typedef struct {
  Dual weighted, activity;
} MeanSums;

typedef struct {
  const ManifoldBody* body[2];
  const ManifoldOptions* options;
  Pose pose_a, pose_b;
  Pose relative; /* of a in b's frame */
  ManifoldCause cause;
  int first, lanes;     /* parameters first ... first + lanes - 1 of a body */
  Dual smoothing;       /* of the options */
  char* room;           /* what is left of it */
  ManifoldContact* out; /* all contacts are written here; NULL: */
  MeanSums* sums;       /* they are added up here */
  int left_out;         /* points and edges as deep as one that was chosen (X1) */
  DualHalf axis[3];     /* component k, in b's frame, of the world's axes, in lanes */
  DualHalf swept[3];    /* likewise of axis x the place of a's origin */
} ManifoldPair;

/* Field of a body at a point. */
typedef struct {
  Dual value;
  Dual3 normal; /* outward */
} DualField;

/* manifold_query without derivatives; with out NULL manifold_mean. room: as there, not NULL. Returns what those do. */
int manifold_values(const ManifoldBody* a, Pose pose_a, const ManifoldBody* b, Pose pose_b,
                    const ManifoldOptions* options, ManifoldContact* out, ManifoldMean* mean, void* room);

/* Array of the given size, borrowed from the workspace permanently. */
static inline void* take(ManifoldPair* s, size_t size) {
  void* out = s->room;
  s->room += (size + 63) / 64 * 64;
  return out;
}

/* From b's frame to a body's own. */
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
