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
/* Links, target, window and what the kind prepares; every problem to the diagnostics. Without the name. The term owns
 * what it allocates, for loss_release and loss_hulls_free. */
void loss_resolve(LossTerm* term, const LossOrigin* origin);
void loss_release(LossTerm* term); /* what it made */
/* Adds an error at `place`; printf's format. */
void loss_complain(const LossOrigin* origin, SourcePlace place, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
/* Make `direction` unit; complain when it is zero. what: its key. One that is not finite, too; direction stays then. */
void loss_unit(const LossOrigin* origin, const char* what, Vec3* direction);

/* ---------------------------------------------------------------- parts of kinds (differentiate/loss_term.c) */
/* What a state of the window counts: weight / number of states, so that a finer dt does not count more. */
double loss_share(const LossTerm* term);
/* The target at a state, where it is then. World [m], or the quantity's own unit. */
Vec3 loss_target(const LossTerm* term, const Recording* recording, int step);
/* World position of the term's point of `link`, or of its centre of mass: R X + t. [m]. The row must be kept. */
Vec3 loss_position(const LossTerm* term, const Recording* recording, int link, int step);
/* g = dL/dx of that position: g (X, 1)^T to the pose, R^T g to the centre. seeds may be NULL here and below. World axes
 * [1/m]. */
void loss_seed_position(const LossTerm* term, const Recording* recording, int link, int step, Vec3 g, LossSeeds* seeds);
/* g = dL/dx of R X + t, X constant. x_local: link frame [m]. */
void loss_seed_pose(const Recording* recording, int link, int step, Vec3 x_local, Vec3 g, LossSeeds* seeds);

/* ---------------------------------------------------------------- kinds */
/* Mean over the window of |x - target|^power, times weight [m, m^2]. With power 1 no slope at the target itself. */
double loss_point(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* - weight direction . (x_last - x_first) [m]. */
double loss_travel(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Makes the direction unit; complains when it is zero. */
void loss_travel_prepare(LossTerm* term, const LossOrigin* origin);
/* Mean squared way of the other link's point in the axes of `link` since the state of reference [m^2]. */
double loss_relative(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Sets the state of reference; without a window the last state alone counts. */
void loss_relative_prepare(LossTerm* term, const LossOrigin* origin);
/* Mean of max(|x - target|^2 - margin^2, 0) [m^2]. */
double loss_reach(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Mean of |R axis - target|^2, without unit: 2 - 2 cos of the angle. */
double loss_orientation(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Makes axis and target unit; complains when one is zero. */
void loss_orientation_prepare(LossTerm* term, const LossOrigin* origin);
/* Mean of |(x_k - x_{k-1}) / dt - target|^2 [(m/s)^2]; rows k - 1 and k are looked at. */
double loss_velocity(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Mean over states of the sum over drives and degrees of freedom of the squared force [N^2, N^2 m^2]. */
double loss_effort(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Complains when no drive moves the link's joint, or one has feedback. */
void loss_effort_prepare(LossTerm* term, const LossOrigin* origin);
/* Mean over states of the sum of the squared rates of targets [(m/s)^2, (rad/s)^2]. */
double loss_smoothness(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Complains when no controller drives the link's joint. */
void loss_smoothness_prepare(LossTerm* term, const LossOrigin* origin);
/* Mean of |f - target|^2, f on the link, or on it by `other`, world axes [N^2]. */
double loss_force(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Complains when `other` is the link; warns where nothing touches. */
void loss_force_prepare(LossTerm* term, const LossOrigin* origin);
/* Room for derivatives by the forces of these pairs in every row (differentiate/loss_seeds.c). pairs are borrowed;
 * allocates ((steps + 1) x count), which loss_seeds_destroy frees. */
void loss_seeds_keep_pairs(LossSeeds* seeds, const ForcePair* pairs, int count, int steps);
/* Mean of max(margin - distance of the links' hulls, 0)^2 [m^2]; no slope where two hulls overlap. */
double loss_gap(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Mean over vertices of the squared way from the initial design [m^2]. */
double loss_shape(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Sum over hulls of (V / V_0 - 1)^2, without unit. Allocates and frees faces. */
double loss_volume(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Mean over edges of the squared difference of the ways of both ends [m^2]. */
double loss_roughness(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Mean of max(smoothed squared distance - margin^2, 0) [m^2]; NaN poses give NaN. */
double loss_approach(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Of both kinds in loss_touch.c; what touch has made is freed. */
double loss_touch(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Allocates both bodies for hulls; complains about shapes that it cannot take. */
void loss_touch_prepare(LossTerm* term, const LossOrigin* origin);
/* Frees the bodies; accepts a term without. */
void loss_touch_free(LossTerm* term);
/* Mean over states; without unit. NaN where two shapes have no meeting. 0 of all links but the first. */
double loss_closure(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Complains about too few or many links, and shapes that are not smooth and convex. */
void loss_closure_prepare(LossTerm* term, const LossOrigin* origin);
/* Mean of |x - target|^2 + length^2 / 2 |R - rotation|^2, entry by entry [m^2]. */
double loss_pose(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Of both kinds that are of distances: the links have hulls. And barycentric coordinates (4) of the point of a segment
 * or triangle nearest to the origin, which lies inside of it. Complains when they have none, or two half-spaces. */
void loss_gap_prepare(LossTerm* term, const LossOrigin* origin);
/* corner (count, 1 to 3) [m]; weight (4) is set, sums to 1. */
void loss_nearest_weights(const Vec3* corner, int count, double* weight);
/* Of all three (differentiate/loss_hulls.c): vertices, volumes and edges of the initial design. */
double loss_neck(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* As loss_hulls_prepare; complains about a link of one hull. */
void loss_neck_prepare(LossTerm* term, const LossOrigin* origin);
/* margin - width of the thinnest hull between parallel planes [m]. */
double loss_wall(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* How long the link is along `direction`, of its own frame [m]. */
double loss_extent(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* The link's mass [kg]; prepare complains about one without. */
void loss_mass_prepare(LossTerm* term, const LossOrigin* origin);
double loss_mass(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Sum over triangles of the area times the squared excess over the angle [m^2]. */
double loss_overhang(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Of all three in differentiate/loss_clearance.c. */
double loss_clearance(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* `other` becomes the parent where none is given; complains when the joint has no range to sweep. */
void loss_clearance_prepare(LossTerm* term, const LossOrigin* origin);
/* margin - the least distance on a straight way out along `direction` [m]. */
double loss_removal(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Makes the direction unit; complains when there is nothing to be removed from. */
void loss_removal_prepare(LossTerm* term, const LossOrigin* origin);
/* margin - the distance of the link's hulls from the box [m]. */
double loss_keep_out(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Of `link`, or of all links. Allocates; complains when there is no vertex. */
void loss_hulls_prepare(LossTerm* term, const LossOrigin* origin);
/* Frees the hulls; accepts a term without. */
void loss_hulls_free(LossTerm* term);

#endif
