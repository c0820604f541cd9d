/* Private to differentiate/: the terms of a loss and their kinds (docs/losses.md). A new kind is one file
 * loss_<kind>.c with value and derivative side by side, and one row in loss_table.c. */
#ifndef SDRS_DIFFERENTIATE_LOSS_H
#define SDRS_DIFFERENTIATE_LOSS_H

#include "differentiate/differentiate.h"

typedef struct LossKind LossKind;

/* What a shape loss remembers of a hull of the initial design. */
typedef struct {
  int hull;         /* index in the model; half-spaces are left out */
  int first_vertex; /* its place in LossSeeds.vertices */
  int vertex_count;
  Vec3* vertices; /* link frame [m]  (vertex_count) */
  double volume;  /* m^3 */
  int (*edges)[2];
  int edge_count;
} HullReference;

/* One loss of the task with its names resolved. Owns its name, links, motion and what stands behind hulls. */
typedef struct {
  const LossKind* kind;
  char* name;
  double weight;
  bool bounded;    /* TaskLoss.bounded */
  bool absent;     /* it does not count in this scenario */
  int link, other; /* -1 = not given */
  int* links;      /* all that the term is the sum over; the first is `link`. NULL: that one alone */
  int link_count;
  SceneSignal* motion_source; /* comes to the target; NULL: nothing does */
  Signal motion;
  Mat3 rotation;              /* wanted */
  double length, smoothing;   /* m */
  bool has_point;             /* false: the centre of mass */
  Vec3 point;                 /* link frame [m] */
  Vec3 target;                /* world, with its random part; a direction is unit */
  Vec3 direction;             /* unit, world */
  Vec3 axis;                  /* unit, link frame */
  bool has_target;            /* of touch */
  double friction, quality;   /* of closure */
  double angle;               /* of overhang [rad] */
  Vec3 box_low, box_high;     /* of keep_out, link frame [m] */
  struct WitnessBody* bodies; /* of touch between hulls (2), link and other; else NULL */
  double margin;              /* m */
  int power;                  /* 1 or 2 */
  int first, last;            /* states of the window */
  int reference;              /* the state that others are compared with */
  HullReference* hulls;
  int hull_count, vertex_count, edge_count; /* of all hulls together */
} LossTerm;

/* Where a loss is made from. */
typedef struct {
  const Task* task;
  const TaskLoss* source;
  int scenario, index; /* of the loss */
  const Model* model;
  int steps; /* horizon */
  Diagnostics* diagnostics;
} LossOrigin;

/* Which states count when no window is given. */
typedef enum {
  WINDOW_NONE, /* not a loss over time */
  WINDOW_END,  /* the last */
  WINDOW_RUN,  /* all */
  WINDOW_START /* the first; no window can be given */
} LossWindow;

typedef enum { LINK_UNUSED, LINK_OPTIONAL, LINK_REQUIRED } LossLink;

struct LossKind {
  const char* word; /* as the task's file has it; the default name */
  LossLink link, other;
  LossWindow window;
  int first_state;  /* 1: the quantity belongs to a step, and the initial state has none */
  int least_states; /* that a window must hold */
  /* What else has to be looked up or checked, once links and window stand; NULL = nothing. */
  void (*prepare)(LossTerm* term, const LossOrigin* origin);
  /* Value times weight; adds the derivatives of that to seeds unless they are NULL. No allocation, but for the faces of
   * volumes. */
  double (*evaluate)(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
};

const LossKind* loss_kind(TaskLossType type); /* loss_table.c */

/* ---------------------------------------------------------------- creation (differentiate/loss_resolve.c) */
/* Links, target, window and what the kind prepares; every problem to the diagnostics. Without the name. */
void loss_resolve(LossTerm* term, const LossOrigin* origin);
void loss_release(LossTerm* term); /* what it made */
void loss_complain(const LossOrigin* origin, SourcePlace place, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
/* Make `direction` unit; complain when it is zero. what: its key. */
void loss_unit(const LossOrigin* origin, const char* what, Vec3* direction);

/* ---------------------------------------------------------------- parts of kinds (differentiate/loss_term.c) */
/* What a state of the window counts: weight / number of states, so that a finer dt does not count more. */
double loss_share(const LossTerm* term);
/* The target at a state, where it is then. */
Vec3 loss_target(const LossTerm* term, const Recording* recording, int step);
/* World position of the term's point of `link`, or of its centre of mass: R X + t. */
Vec3 loss_position(const LossTerm* term, const Recording* recording, int link, int step);
/* g = dL/dx of that position: g (X, 1)^T to the pose, R^T g to the centre. seeds may be NULL here and below. */
void loss_seed_position(const LossTerm* term, const Recording* recording, int link, int step, Vec3 g, LossSeeds* seeds);
/* g = dL/dx of R X + t, X constant. */
void loss_seed_pose(const Recording* recording, int link, int step, Vec3 x_local, Vec3 g, LossSeeds* seeds);

/* ---------------------------------------------------------------- kinds */
double loss_point(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
double loss_travel(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
void loss_travel_prepare(LossTerm* term, const LossOrigin* origin);
double loss_relative(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
void loss_relative_prepare(LossTerm* term, const LossOrigin* origin);
double loss_reach(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
double loss_orientation(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
void loss_orientation_prepare(LossTerm* term, const LossOrigin* origin);
double loss_velocity(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
double loss_effort(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
void loss_effort_prepare(LossTerm* term, const LossOrigin* origin);
double loss_smoothness(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
void loss_smoothness_prepare(LossTerm* term, const LossOrigin* origin);
double loss_force(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
void loss_force_prepare(LossTerm* term, const LossOrigin* origin);
/* Room for derivatives by the forces of these pairs in every row (differentiate/loss_seeds.c). */
void loss_seeds_keep_pairs(LossSeeds* seeds, const ForcePair* pairs, int count, int steps);
double loss_gap(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
double loss_shape(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
double loss_volume(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
double loss_roughness(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
double loss_approach(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Of both kinds in loss_touch.c; what touch has made is freed. */
double loss_touch(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
void loss_touch_prepare(LossTerm* term, const LossOrigin* origin);
void loss_touch_free(LossTerm* term);
double loss_closure(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
void loss_closure_prepare(LossTerm* term, const LossOrigin* origin);
double loss_pose(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Of both kinds that are of distances: the links have hulls. And barycentric coordinates (4) of the point of a segment
 * or triangle nearest to the origin, which lies inside of it. */
void loss_gap_prepare(LossTerm* term, const LossOrigin* origin);
void loss_nearest_weights(const Vec3* corner, int count, double* weight);
/* Of all three (differentiate/loss_hulls.c): vertices, volumes and edges of the initial design. */
double loss_neck(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
void loss_neck_prepare(LossTerm* term, const LossOrigin* origin);
double loss_wall(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
double loss_extent(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
double loss_overhang(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Of all three in differentiate/loss_clearance.c. */
double loss_clearance(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
void loss_clearance_prepare(LossTerm* term, const LossOrigin* origin);
double loss_removal(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
void loss_removal_prepare(LossTerm* term, const LossOrigin* origin);
double loss_keep_out(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
void loss_hulls_prepare(LossTerm* term, const LossOrigin* origin);
void loss_hulls_free(LossTerm* term);

#endif
