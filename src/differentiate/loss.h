/* Private to differentiate/: terms of a loss and kinds of terms (docs/losses.md). Each kind has a file loss_<kind>.c
 * with value and derivative, and an entry in loss_table.c. */
#ifndef SDRS_DIFFERENTIATE_LOSS_H
#define SDRS_DIFFERENTIATE_LOSS_H

#include "differentiate/differentiate.h"

typedef struct LossKind LossKind;

/* Hull of the initial design, to which shape losses refer. */
typedef struct {
  int hull;         /* index in the model; never a half-space */
  int first_vertex; /* index of the hull's first vertex in LossSeeds.vertices */
  int vertex_count;
  Vec3* vertices; /* vertices of the hull in the initial design, link frame [m] (size: vertex_count) */
  double volume;  /* volume of the hull [m^3] */
  int (*edges)[2];
  int edge_count;
} HullReference;

/* One loss of a task in one scenario, with resolved links. Owns its name, links, motion and hulls. */
typedef struct {
  const LossKind* kind;
  char* name;
  double weight;
  bool bounded;     /* true if the value is a constraint of the optimizer (TaskLoss.bounded) */
  bool is_inactive; /* true if the loss does not apply in the scenario */
  int link, other;  /* link indices; -1: not given */
  int* links;       /* links that the loss sums over (link_count), or NULL for `link` alone */
  int link_count;
  SceneSignal* motion_source; /* signal added to the target, or NULL */
  Signal motion;
  Mat3 rotation;              /* for the kind pose: target rotation matrix of the link */
  double length, smoothing;   /* lengths of the loss, as in TaskLoss [m] */
  bool has_point;             /* false: the centre of mass is used */
  Vec3 point;                 /* point of the link whose position the loss measures, link frame [m] */
  Vec3 target;                /* world frame, random part included; a unit vector for directions */
  Vec3 direction;             /* direction in which the loss measures a motion or size, unit vector */
  Vec3 axis;                  /* axis of the link, unit vector, link frame */
  bool has_target;            /* for the kind touch: true if the task gives a target */
  double friction, quality;   /* for the kind closure: friction coefficient, and target of the grasp quality */
  double angle;               /* for the kind overhang: largest angle from the vertical [rad] */
  Vec3 box_low, box_high;     /* for the kind keep_out: corners of the box that the hulls must avoid, link frame [m] */
  struct WitnessBody* bodies; /* for the kind touch between hulls: data for distance queries of `link` and `other` (2);
                                 otherwise NULL */
  double margin;              /* distance or width that the loss requires [m] */
  int power;                  /* for the kind point: exponent of the distance to the target, 1 or 2 */
  int dof;                    /* for the kind coordinate: index of the degree of freedom */
  double value;               /* for the kind coordinate: target value [m or rad] */
  LossOver reduction;         /* value over the states of the window: mean, best or worst */
  int first, last;            /* first and last row of the window */
  int reference;              /* reference row of kinds that measure a displacement */
  HullReference* hulls;
  int hull_count, vertex_count,
      edge_count; /* numbers of hulls, of their vertices and of their edges, for shape losses */
} LossTerm;

/* Task, loss, model and horizon for which a term is resolved. */
typedef struct {
  const Task* task;
  const TaskLoss* source;
  int scenario, index; /* index of the scenario and index of the loss in the task */
  const Model* model;
  int steps; /* number of steps of the run */
  Diagnostics* diagnostics;
} LossContext;

/* Default time window of a kind. */
typedef enum {
  WINDOW_NONE, /* the loss does not depend on time */
  WINDOW_END,  /* the last row of the run */
  WINDOW_RUN,  /* all rows of the run */
  WINDOW_START /* first row; the task must not give a window */
} LossWindow;

typedef enum { LINK_UNUSED, LINK_OPTIONAL, LINK_REQUIRED } LossLink;

struct LossKind {
  const char* name_in_task; /* name in task files and default name of the loss */
  LossLink link, other;
  LossWindow window;
  int first_state;  /* 1 if the kind reads the previous row, so that row 0 has no value; otherwise 0 */
  int least_states; /* smallest number of rows in a window */
  /* Resolves the members that only this kind has, after links and window. NULL: nothing to resolve. */
  void (*prepare)(LossTerm* term, const LossContext* context);
  /* Returns weight times value. Adds the derivatives of the result to seeds unless NULL. */
  double (*evaluate)(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
};

const LossKind* loss_kind(TaskLossType type);

/* ---------------------------------------------------------------- creation (differentiate/loss_resolve.c) */
/* Fills a term from the task, except its name: links, target and window, then LossKind.prepare. Adds errors to the
 * diagnostics. The caller frees the members with loss_release and loss_hulls_free. */
void loss_resolve(LossTerm* term, const LossContext* context);
void loss_release(LossTerm* term);
/* Adds an error at `place` of the task file; format: as for printf. */
void loss_report_error(const LossContext* context, SourcePosition place, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
/* Normalizes a direction of the task. Adds an error for a zero or infinite direction and leaves it unchanged. what: its
 * key in the task file. */
void loss_normalize_direction(const LossContext* context, const char* what, Vec3* direction);

/* ---------------------------------------------------------------- functions for several kinds
 * (differentiate/loss_term.c) */
/* Returns the weight of the loss divided by the number of rows in its time window: the factor of each row's value. */
double loss_state_weight(const LossTerm* term);
/* Returns the target at a row, motion included: world [m], or in the unit of the measured quantity. */
Vec3 loss_target(const LossTerm* term, const Recording* recording, int step);
/* Returns the world position [m] of the term's point on `link`, or of the link's centre of mass without a point. The
 * row must be stored. */
Vec3 loss_position(const LossTerm* term, const Recording* recording, int link, int step);
/* Adds the derivatives of the loss with respect to pose and centre of mass of the link to `seeds`. g: derivative of the
 * loss with respect to the point that loss_position returns, world axes [1/m]. Does nothing if seeds is NULL. */
void loss_seed_position(const LossTerm* term, const Recording* recording, int link, int step, Vec3 g, LossSeeds* seeds);
/* Adds the derivative of the loss with respect to the pose of a link to `seeds`. x_local: point fixed in the link frame
 * [m]. g: derivative of the loss with respect to the world position of this point, world axes. Does nothing if seeds is
 * NULL. */
void loss_seed_pose(const Recording* recording, int link, int step, Vec3 x_local, Vec3 g, LossSeeds* seeds);

/* ---------------------------------------------------------------- kinds */
/* Returns weight times the mean of |x - target|^power [m or m^2], with x the position of a point of the link. The
 * target is fixed to the link `other`, or to the world if `other` is not given. For power 1 the derivative at the
 * target is zero. */
double loss_point(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Returns the weighted negative displacement of the link's point along the direction [m], so that a larger displacement
 * lowers the loss. The displacement is measured from the reference row. */
double loss_travel(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Normalizes the direction, and adds an error for a zero direction. Excludes the reference row from the rows that
 * `best` and `worst` compare. */
void loss_travel_prepare(LossTerm* term, const LossContext* context);
/* Returns the mean squared displacement of a point of `other`, seen from `link`, since the reference row [m^2]. */
double loss_relative(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Sets the reference row. If the task gives no window, the window is the last row. */
void loss_relative_prepare(LossTerm* term, const LossContext* context);
/* Returns the mean of max(|x - target|^2 - margin^2, 0) [m^2], with x the position of a point of the link. */
double loss_reach(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Returns the mean of |R axis - target|^2, equal to 2 - 2 cos(angle between axis and target). R: rotation matrix of the
 * link. */
double loss_orientation(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Normalizes axis and target. Adds an error for a zero vector. */
void loss_orientation_prepare(LossTerm* term, const LossContext* context);
/* Returns the mean of |v - target|^2 [(m/s)^2]. v: velocity of a point of the link, the difference of its positions in
 * consecutive rows divided by the step length. */
double loss_velocity(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Returns the mean squared drive force, summed over drives and degrees of freedom [N^2 or N^2 m^2]. */
double loss_effort(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Adds an error for a joint without drive. */
void loss_effort_prepare(LossTerm* term, const LossContext* context);
/* Returns the mean squared rate of the controllers' targets, summed over controllers [(m/s)^2 or (rad/s)^2]. */
double loss_smoothness(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Adds an error for a joint without controller. */
void loss_smoothness_prepare(LossTerm* term, const LossContext* context);
/* Returns the mean of |f - target|^2 [N^2]. f: contact force on the link in world axes, from `other` only if given. */
double loss_force(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Adds an error if `other` is the link itself. Warns if the two links cannot collide. */
void loss_force_prepare(LossTerm* term, const LossContext* context);
/* Allocates the derivatives with respect to the contact forces of the given pairs in every row ((steps + 1) x count).
 * Borrows `pairs`. loss_seeds_destroy frees the array. */
void loss_seeds_add_pair_forces(LossSeeds* seeds, const ForcePair* pairs, int count, int steps);
/* Returns the mean of max(margin - distance, 0)^2 [m^2]. distance: smallest distance of hulls of the two links. The
 * derivative is zero where the hulls overlap. */
double loss_gap(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Returns the mean squared displacement of the vertices from the initial design [m^2]. */
double loss_shape(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Returns the sum over hulls of (volume / initial volume - 1)^2. */
double loss_volume(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Returns the mean over hull edges of the squared difference of the displacements of both ends [m^2]. */
double loss_roughness(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Returns the mean of max(squared distance - margin^2, 0) [m^2], with a smoothed distance of the hulls of two links.
 * Returns NaN if a pose is NaN. */
double loss_approach(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Returns the mean of the squared deviation of the two links' distance from the margin, and of their nearest points
 * from the targets [m^2]. */
double loss_touch(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Allocates the bodies for distance queries if both shapes are hulls, to be freed with loss_touch_free. Adds an error
 * for unsupported shapes. */
void loss_touch_prepare(LossTerm* term, const LossContext* context);
/* Frees the data for distance queries that loss_touch_prepare allocated. Accepts a term without such data. */
void loss_touch_free(LossTerm* term);
/* Returns the mean of the grasp closure measure, or NaN if the contact of two shapes is undefined. Is called once per
 * link of the term: the call for the first link returns the value of all links, the other calls return 0. */
double loss_closure(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Adds an error for a wrong number of links, and for shapes that are not smooth and convex. */
void loss_closure_prepare(LossTerm* term, const LossContext* context);
/* Returns the mean of |x - target|^2 + length^2 / 2 |R - rotation|^2 [m^2]. x: position of a point of the link. R:
 * rotation matrix of the link, compared with the target rotation in the Frobenius norm. */
double loss_pose(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Prepares the loss kinds gap and approach: adds an error for a link without hulls and for two half-spaces. */
void loss_gap_prepare(LossTerm* term, const LossContext* context);
/* Computes the barycentric coordinates of the point of a segment or triangle that is nearest to the origin.
 * corner[count] [m], with count 1 to 3. Sets weight[4]; entries from `count` on are 0. The nearest point must be in the
 * interior. */
void loss_nearest_weights(const Vec3* corner, int count, double* weight);
/* Returns margin minus the width of the narrowest connection between hulls of the link [m]. */
double loss_neck(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Stores the initial hulls (loss_hulls_prepare), and adds an error for a link with a single hull. */
void loss_neck_prepare(LossTerm* term, const LossContext* context);
/* Returns margin minus the smallest distance of two parallel planes that enclose a hull of the link [m]. */
double loss_wall(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Returns the size of the link along `direction` of its frame [m]. */
double loss_extent(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Prepares the loss kind mass: adds an error for a massless link. */
void loss_mass_prepare(LossTerm* term, const LossContext* context);
double loss_mass(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Returns the mean of (q_link - q_other - value)^2 [m^2 or rad^2], with the same joint coordinate q of the two links.
 * q_other is 0 if `other` is not given. */
double loss_coordinate(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Adds an error for a degree of freedom that the joint lacks, and for the rotations of a ball joint. */
void loss_coordinate_prepare(LossTerm* term, const LossContext* context);
/* Returns the sum over the link's surface triangles of area times squared excess over the allowed overhang angle [m^2].
 */
double loss_overhang(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Returns margin minus the smallest distance of the link from others over the range of its joint [m]. */
double loss_clearance(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Uses the parent link if `other` is not given. Adds an error for a joint without a range. */
void loss_clearance_prepare(LossTerm* term, const LossContext* context);
/* Returns margin minus the smallest distance of the link from all others while it moves straight along `direction` [m].
 */
double loss_removal(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Normalizes the direction. Adds an error if the scene has no other links. */
void loss_removal_prepare(LossTerm* term, const LossContext* context);
/* Returns margin minus the distance of the link's hulls from the box [m]. */
double loss_keep_out(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Stores the initial hulls of `link`, or of all links if `link` is not given. Adds an error if they have no vertices.
 * loss_hulls_free frees the hulls. */
void loss_hulls_prepare(LossTerm* term, const LossContext* context);
/* Frees the initial hulls that loss_hulls_prepare stored in the term. Accepts a term without hulls. */
void loss_hulls_free(LossTerm* term);

#endif
