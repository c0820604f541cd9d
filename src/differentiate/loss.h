/* Private to differentiate/: the terms of a loss and their kinds (docs/losses.md). A kind is a file loss_<kind>.c with
 * value and derivative, and a row in loss_table.c. */
#ifndef SDRS_DIFFERENTIATE_LOSS_H
#define SDRS_DIFFERENTIATE_LOSS_H

#include "differentiate/differentiate.h"

typedef struct LossKind LossKind;

/* Reference of a shape loss: one hull of the initial design. */
typedef struct {
  int hull;         /* index in the model; half-spaces are excluded */
  int first_vertex; /* number of its first vertex in LossSeeds.vertices */
  int vertex_count;
  Vec3* vertices; /* link frame [m]  (vertex_count) */
  double volume;  /* m^3 */
  int (*edges)[2];
  int edge_count;
} HullReference;

/* One loss of the task in one scenario, with links looked up by name. Owns its name, links, motion and hulls. */
typedef struct {
  const LossKind* kind;
  char* name;
  double weight;
  bool bounded;    /* TaskLoss.bounded */
  bool absent;     /* has no effect in this scenario */
  int link, other; /* -1 = not given */
  int* links;      /* links that the term sums over, the first is `link`; NULL: `link` only */
  int link_count;
  SceneSignal* motion_source; /* added to the target; NULL: none */
  Signal motion;
  Mat3 rotation;              /* target rotation */
  double length, smoothing;   /* m */
  bool has_point;             /* false: the centre of mass */
  Vec3 point;                 /* link frame [m] */
  Vec3 target;                /* world, with its random part; unit if it is a direction */
  Vec3 direction;             /* unit, world */
  Vec3 axis;                  /* unit, link frame */
  bool has_target;            /* of touch */
  double friction, quality;   /* of closure */
  double angle;               /* of overhang [rad] */
  Vec3 box_low, box_high;     /* of keep_out, link frame [m] */
  struct WitnessBody* bodies; /* for touch between hulls: link and other (2); otherwise NULL */
  double margin;              /* m */
  int power;                  /* 1 or 2 */
  int dof;                    /* of coordinate */
  double value;               /* of coordinate [m or rad] */
  LossOver over;              /* reduction over the states of the window */
  int first, last;            /* first and last state of the window */
  int reference;              /* reference state of relative losses */
  HullReference* hulls;
  int hull_count, vertex_count, edge_count; /* over all hulls */
} LossTerm;

/* Input of loss_resolve: the loss in the task, and the model and horizon that it is checked against. */
typedef struct {
  const Task* task;
  const TaskLoss* source;
  int scenario, index; /* of the loss */
  const Model* model;
  int steps; /* horizon */
  Diagnostics* diagnostics;
} LossOrigin;

/* Default window of a kind. */
typedef enum {
  WINDOW_NONE, /* not over time */
  WINDOW_END,  /* the last state */
  WINDOW_RUN,  /* all states */
  WINDOW_START /* the first state; no window may be given */
} LossWindow;

typedef enum { LINK_UNUSED, LINK_OPTIONAL, LINK_REQUIRED } LossLink;

struct LossKind {
  const char* word; /* word in task files, and the default name */
  LossLink link, other;
  LossWindow window;
  int first_state;  /* 1: defined for steps, so not for the initial state */
  int least_states; /* least number of states in a window */
  /* Further look-ups and checks after links and window are resolved; NULL: none. */
  void (*prepare)(LossTerm* term, const LossOrigin* origin);
  /* Returns weight times value. Adds the derivatives of the result to seeds unless seeds is NULL. Allocates only the
   * faces of volumes. */
  double (*evaluate)(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
};

const LossKind* loss_kind(TaskLossType type); /* Returns the kind (loss_table.c). */

/* ---------------------------------------------------------------- creation (differentiate/loss_resolve.c) */
/* Sets the links, target and window of the term from the task and calls `prepare`; does not set the name. Adds errors
 * to the diagnostics. The term owns the memory; loss_release and loss_hulls_free free it. */
void loss_resolve(LossTerm* term, const LossOrigin* origin);
void loss_release(LossTerm* term); /* Frees what loss_resolve allocated. */
/* Adds an error at `place`; format as of printf. */
void loss_complain(const LossOrigin* origin, SourcePlace place, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
/* Normalizes `direction`. Adds an error if it is zero or not finite, and leaves it unchanged. what: the key of the
 * direction in the task file. */
void loss_unit(const LossOrigin* origin, const char* what, Vec3* direction);

/* ---------------------------------------------------------------- parts of kinds (differentiate/loss_term.c) */
/* Returns the factor on the value of each state of the window: weight / number of states. Independent of dt. */
double loss_share(const LossTerm* term);
/* Returns the target at step `step`, with its motion: world [m], or in the unit of the measured quantity. */
Vec3 loss_target(const LossTerm* term, const Recording* recording, int step);
/* Returns the world position R X + t of the term's point of `link`, or of its centre of mass [m]. The row must be kept.
 */
Vec3 loss_position(const LossTerm* term, const Recording* recording, int link, int step);
/* Chain rule for g = dL/d(loss_position) [1/m], world axes. Adds g (X, 1)^T to the derivative by the link's pose; if
 * the point is the centre of mass, adds R^T g to the derivative by the centre. Here and below, seeds NULL: does
 * nothing. */
void loss_seed_position(const LossTerm* term, const Recording* recording, int link, int step, Vec3 g, LossSeeds* seeds);
/* Chain rule for g = dL/d(R X + t) with constant X = x_local, link frame [m]: adds g (X, 1)^T to the derivative by the
 * link's pose. */
void loss_seed_pose(const Recording* recording, int link, int step, Vec3 x_local, Vec3 g, LossSeeds* seeds);

/* ---------------------------------------------------------------- kinds */
/* weight times the mean over the window of |x - target|^power [m, m^2]. The target is fixed to the link `other` if
 * given, otherwise to the world. The slope of power 1 is zero at the target. */
double loss_point(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* - weight direction . (x_last - x_reference) [m]: negative displacement along the direction. */
double loss_travel(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Normalizes the direction; adds an error if it is zero. Excludes the reference state from the states that `best` and
 * `worst` compare. */
void loss_travel_prepare(LossTerm* term, const LossOrigin* origin);
/* Mean squared displacement of the other link's point in the axes of `link` since the reference state [m^2]. */
double loss_relative(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Sets the reference state. If the task gives no window, only the last state counts. */
void loss_relative_prepare(LossTerm* term, const LossOrigin* origin);
/* Mean of max(|x - target|^2 - margin^2, 0) [m^2]. */
double loss_reach(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Mean of |R axis - target|^2, dimensionless: 2 - 2 cos(angle between axis and target). */
double loss_orientation(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Normalizes axis and target; adds an error if one of them is zero. */
void loss_orientation_prepare(LossTerm* term, const LossOrigin* origin);
/* Mean of |(x_k - x_{k-1}) / dt - target|^2 [(m/s)^2]; reads rows k - 1 and k. */
double loss_velocity(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Mean over states of the sum over drives and degrees of freedom of the squared force [N^2, N^2 m^2]. */
double loss_effort(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Adds an error for a joint without drive and for a drive with feedback. */
void loss_effort_prepare(LossTerm* term, const LossOrigin* origin);
/* Mean over states of the sum of the squared rates of targets [(m/s)^2, (rad/s)^2]. */
double loss_smoothness(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Adds an error for a joint without controller. */
void loss_smoothness_prepare(LossTerm* term, const LossOrigin* origin);
/* Mean of |f - target|^2, f: force on the link from all contacts, or from `other`, world axes [N^2]. */
double loss_force(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Adds an error if `other` is the link itself; warns if the two links cannot touch. */
void loss_force_prepare(LossTerm* term, const LossOrigin* origin);
/* Allocates the derivatives with respect to the forces of pairs[count] in every row ((steps + 1) x count;
 * differentiate/loss_seeds.c). Borrows pairs. loss_seeds_destroy frees the array. */
void loss_seeds_keep_pairs(LossSeeds* seeds, const ForcePair* pairs, int count, int steps);
/* Mean of max(margin - distance of the links' hulls, 0)^2 [m^2]; slope zero where hulls overlap. */
double loss_gap(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Mean over vertices of the squared displacement from the initial design [m^2]. */
double loss_shape(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Sum over hulls of (V / V_0 - 1)^2, without unit. Allocates and frees faces. */
double loss_volume(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Mean over edges of the squared difference of the displacements of both ends [m^2]. */
double loss_roughness(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Mean of max(smoothed squared distance - margin^2, 0) [m^2]; NaN poses give NaN. */
double loss_approach(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Terms `touch` and `closure` are in loss_touch.c. loss_touch_free frees the allocations of loss_touch_prepare. */
double loss_touch(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Allocates the bodies of both links if their shapes are hulls; adds an error for unsupported shapes. */
void loss_touch_prepare(LossTerm* term, const LossOrigin* origin);
/* Frees the bodies. Accepts a term without bodies. */
void loss_touch_free(LossTerm* term);
/* Mean over states, dimensionless. NaN where the contact of two shapes is undefined. Called for each link of the term;
 * the first link returns the value for all, the others return 0. */
double loss_closure(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Adds an error for a wrong number of links, and for shapes that are not smooth and convex. */
void loss_closure_prepare(LossTerm* term, const LossOrigin* origin);
/* Mean of |x - target|^2 + length^2 / 2 |R - rotation|^2, elementwise [m^2]. */
double loss_pose(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Checks the links of gap and approach. Adds an error for a link without hulls and for two half-spaces. */
void loss_gap_prepare(LossTerm* term, const LossOrigin* origin);
/* Computes the point of a segment or triangle nearest to the origin. Sets weight[4] to its barycentric coordinates,
 * with sum 1; entries from `count` on are 0. corner[count] [m], count: 1 to 3. The nearest point must be in the
 * interior. */
void loss_nearest_weights(const Vec3* corner, int count, double* weight);
/* The following terms read HullReference: vertices, volumes and edges of the initial design (loss_hulls.c). */
double loss_neck(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Does the same as loss_hulls_prepare; also adds an error for a link with a single hull. */
void loss_neck_prepare(LossTerm* term, const LossOrigin* origin);
/* margin - width of the thinnest hull between parallel planes [m]. */
double loss_wall(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Size of the link along `direction`, link frame [m]. */
double loss_extent(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Mass of the link [kg]; prepare reports a massless link. */
void loss_mass_prepare(LossTerm* term, const LossOrigin* origin);
double loss_mass(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Mean over the window of (q_link - q_other - value)^2 [m^2 or rad^2]; q_other is 0 if `other` is not given. */
double loss_coordinate(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Adds an error for a degree of freedom that the joint does not have, or that is one of the three rotations of a ball
 * joint. */
void loss_coordinate_prepare(LossTerm* term, const LossOrigin* origin);
/* Sum over triangles of the area times the squared excess over the angle [m^2]. */
double loss_overhang(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Clearance, removal and keep_out are in differentiate/loss_clearance.c. */
double loss_clearance(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Sets `other` to the parent if not given; adds an error for a joint without a range to sweep. */
void loss_clearance_prepare(LossTerm* term, const LossOrigin* origin);
/* margin - least distance of the link from the others while it moves out on a straight path along `direction` [m]. */
double loss_removal(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Normalizes the direction; adds an error if the scene has no other links. */
void loss_removal_prepare(LossTerm* term, const LossOrigin* origin);
/* margin - the distance of the link's hulls from the box [m]. */
double loss_keep_out(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Stores the hulls of `link`, or of all links if `link` is not given. Allocates; adds an error if they have no
 * vertices. */
void loss_hulls_prepare(LossTerm* term, const LossOrigin* origin);
/* Frees the hulls. Accepts a term without hulls. */
void loss_hulls_free(LossTerm* term);

#endif
