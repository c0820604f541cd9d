/* Private to differentiate/: terms of a loss and kinds of terms (docs/losses.md). Each kind has a file loss_<kind>.c
 * with value and derivative, and a row in loss_table.c. */
#ifndef SDRS_DIFFERENTIATE_LOSS_H
#define SDRS_DIFFERENTIATE_LOSS_H

#include "differentiate/differentiate.h"

typedef struct LossKind LossKind;

/* One hull of the initial design, as reference of shape losses. */
typedef struct {
  int hull;         /* index in the model; half-spaces are excluded */
  int first_vertex; /* index of the hull's first vertex in LossSeeds.vertices */
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
  bool absent;     /* true if the term has no effect in the scenario */
  int link, other; /* -1 if not given */
  int* links;      /* links that the term sums over, `link` first; NULL for `link` only */
  int link_count;
  SceneSignal* motion_source; /* signal added to the target, or NULL */
  Signal motion;
  Mat3 rotation;              /* target rotation */
  double length, smoothing;   /* m */
  bool has_point;             /* false if the term uses the centre of mass */
  Vec3 point;                 /* link frame [m] */
  Vec3 target;                /* world frame, with its random part; a unit vector if the target is a direction */
  Vec3 direction;             /* unit, world */
  Vec3 axis;                  /* unit, link frame */
  bool has_target;            /* of the kind touch: the task gives a target */
  double friction, quality;   /* of the kind closure */
  double angle;               /* of the kind overhang [rad] */
  Vec3 box_low, box_high;     /* of the kind keep_out, link frame [m] */
  struct WitnessBody* bodies; /* bodies of link and other, for touch between hulls (2); otherwise NULL */
  double margin;              /* m */
  int power;                  /* 1 or 2 */
  int dof;                    /* of the kind coordinate */
  double value;               /* of the kind coordinate [m or rad] */
  LossOver over;              /* reduction over the states of the window: mean, best or worst */
  int first, last;            /* first and last state of the window */
  int reference;              /* reference state of relative losses */
  HullReference* hulls;
  int hull_count, vertex_count, edge_count; /* sums over all hulls */
} LossTerm;

/* Input of loss_resolve: a loss of the task, and the model and horizon for which it is checked. */
typedef struct {
  const Task* task;
  const TaskLoss* source;
  int scenario, index; /* indices of the scenario and of the loss */
  const Model* model;
  int steps; /* horizon */
  Diagnostics* diagnostics;
} LossContext;

/* Default window of a kind. */
typedef enum {
  WINDOW_NONE, /* the loss is not evaluated over time */
  WINDOW_END,  /* the last state */
  WINDOW_RUN,  /* all states */
  WINDOW_START /* the first state; no window may be given */
} LossWindow;

typedef enum { LINK_UNUSED, LINK_OPTIONAL, LINK_REQUIRED } LossLink;

struct LossKind {
  const char* word; /* word in task files, and the default name */
  LossLink link, other;
  LossWindow window;
  int first_state;  /* 1 if the kind needs a previous state, so that the initial state is excluded; otherwise 0 */
  int least_states; /* smallest number of states in a window */
  /* Performs the kind's own look-ups and checks, after links and window are resolved. NULL if there are none. */
  void (*prepare)(LossTerm* term, const LossContext* origin);
  /* Returns weight times value. Adds the derivatives of the result to seeds unless NULL. Allocates only the faces of
   * volumes. */
  double (*evaluate)(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
};

const LossKind* loss_kind(TaskLossType type); /* Returns the kind of a loss type (loss_table.c). */

/* ---------------------------------------------------------------- creation (differentiate/loss_resolve.c) */
/* Sets the links, target and window of the term from the task, calls `prepare`, but does not set the name. Adds errors
 * to the diagnostics. The caller frees the term's memory with loss_release and loss_hulls_free. */
void loss_resolve(LossTerm* term, const LossContext* origin);
void loss_release(LossTerm* term); /* Frees the memory allocated by loss_resolve. */
/* Adds an error at `place`; format as of printf. */
void loss_report_error(const LossContext* origin, SourcePosition place, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
/* Normalizes `direction`. If it is zero or not finite, adds an error and leaves it unchanged. what: key of the
 * direction in the task file. */
void loss_normalize_direction(const LossContext* origin, const char* what, Vec3* direction);

/* ---------------------------------------------------------------- parts of kinds (differentiate/loss_term.c) */
/* Returns weight / number of states, the factor on the value of each state of the window. The factor does not depend on
 * dt. */
double loss_state_weight(const LossTerm* term);
/* Returns the target at step `step`, including its motion: world [m], or in the unit of the measured quantity. */
Vec3 loss_target(const LossTerm* term, const Recording* recording, int step);
/* Returns the world position [m] of the term's point of `link`, or of its centre of mass if the term has no point. The
 * row must be kept. */
Vec3 loss_position(const LossTerm* term, const Recording* recording, int link, int step);
/* Applies the chain rule to g = dL/d(loss_position) [1/m], world axes. Adds g (X, 1)^T to the derivative with respect
 * to the link's pose, X: the point in the link frame. For the centre of mass, also adds R^T g to the derivative with
 * respect to the centre. Does nothing if seeds is NULL. */
void loss_seed_position(const LossTerm* term, const Recording* recording, int link, int step, Vec3 g, LossSeeds* seeds);
/* Applies the chain rule to g = dL/d(R X + t) for the constant point X = x_local, link frame [m]. Adds g (X, 1)^T to
 * the derivative with respect to the link's pose. Does nothing if seeds is NULL. */
void loss_seed_pose(const Recording* recording, int link, int step, Vec3 x_local, Vec3 g, LossSeeds* seeds);

/* ---------------------------------------------------------------- kinds */
/* Returns weight times the mean over the window of |x - target|^power [m or m^2]. The target is fixed to the link
 * `other` if given, otherwise to the world. For power 1 the slope at the target is zero. */
double loss_point(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Returns the negative displacement of the point along the direction, - weight direction . (x_last - x_reference) [m].
 */
double loss_travel(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Normalizes the direction, and adds an error if it is zero. Excludes the reference state from the states compared by
 * `best` and `worst`. */
void loss_travel_prepare(LossTerm* term, const LossContext* origin);
/* Returns the mean squared displacement, since the reference state, of the point of `other` in the axes of `link`
 * [m^2]. */
double loss_relative(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Sets the reference state. If the task gives no window, only the last state counts. */
void loss_relative_prepare(LossTerm* term, const LossContext* origin);
/* Returns the mean of max(|x - target|^2 - margin^2, 0) [m^2]. */
double loss_reach(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Returns the mean of |R axis - target|^2, which is 2 - 2 cos(angle between axis and target). */
double loss_orientation(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Normalizes axis and target, and adds an error if one of the two is zero. */
void loss_orientation_prepare(LossTerm* term, const LossContext* origin);
/* Returns the mean of |(x_k - x_{k-1}) / dt - target|^2 [(m/s)^2]. Reads the rows k - 1 and k. */
double loss_velocity(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Returns the mean over states of the squared force, summed over drives and degrees of freedom [N^2 or N^2 m^2]. */
double loss_effort(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Adds an error for a joint without drive and for a drive with feedback. */
void loss_effort_prepare(LossTerm* term, const LossContext* origin);
/* Returns the mean over states of the squared rate of the targets, summed over controllers [(m/s)^2 or (rad/s)^2]. */
double loss_smoothness(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Adds an error for a joint without controller. */
void loss_smoothness_prepare(LossTerm* term, const LossContext* origin);
/* Returns the mean of |f - target|^2 [N^2]. f: contact force on the link, world axes, from all contacts or from `other`
 * only. */
double loss_force(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Adds an error if `other` is the link itself. Warns if the two links cannot touch. */
void loss_force_prepare(LossTerm* term, const LossContext* origin);
/* Allocates the derivatives with respect to the forces of pairs[count] in every row ((steps + 1) x count). Borrows
 * pairs. loss_seeds_destroy frees the array (differentiate/loss_seeds.c). */
void loss_seeds_add_pair_forces(LossSeeds* seeds, const ForcePair* pairs, int count, int steps);
/* Returns the mean of max(margin - distance, 0)^2 [m^2], distance: distance of the links' hulls. The slope is zero
 * where hulls overlap. */
double loss_gap(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Returns the mean over vertices of the squared displacement from the initial design [m^2]. */
double loss_shape(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Returns the sum over hulls of (V / V_0 - 1)^2, V: volume, V_0: initial volume. Allocates faces temporarily. */
double loss_volume(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Returns the mean over edges of the squared difference between the displacements of both ends [m^2]. */
double loss_roughness(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Returns the mean of max(smoothed squared distance - margin^2, 0) [m^2], or NaN if a pose is NaN. */
double loss_approach(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Kinds touch and closure (loss_touch.c). The caller frees the allocations of loss_touch_prepare with loss_touch_free.
 */
double loss_touch(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Allocates the bodies of both links if their shapes are hulls. Adds an error for unsupported shapes. */
void loss_touch_prepare(LossTerm* term, const LossContext* origin);
/* Frees the bodies. Accepts a term without bodies. */
void loss_touch_free(LossTerm* term);
/* Returns the mean over states of the closure measure, or NaN if the contact of two shapes is undefined. Called for
 * each link of the term. The call for the first link returns the value for all links, and the other calls return 0. */
double loss_closure(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Adds an error for a wrong number of links, and for shapes that are not smooth and convex. */
void loss_closure_prepare(LossTerm* term, const LossContext* origin);
/* Returns the mean of |x - target|^2 + length^2 / 2 |R - rotation|^2 [m^2], with the Frobenius norm of matrices. */
double loss_pose(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Checks the links of the kinds gap and approach. Adds an error for a link without hulls and for two half-spaces. */
void loss_gap_prepare(LossTerm* term, const LossContext* origin);
/* Sets weight[4] to the barycentric coordinates of the point of a segment or triangle nearest to the origin.
 * corner[count] [m], count 1 to 3. The weights have the sum 1, and entries from `count` on are 0. The nearest point
 * must be in the interior. */
void loss_nearest_weights(const Vec3* corner, int count, double* weight);
/* The kinds below read HullReference: vertices, volumes and edges of the initial design (loss_hulls.c). */
double loss_neck(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Calls loss_hulls_prepare, and adds an error for a link with a single hull. */
void loss_neck_prepare(LossTerm* term, const LossContext* origin);
/* Returns margin minus the smallest width between parallel planes of any hull of the link [m]. */
double loss_wall(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Returns the size of the link along `direction`, link frame [m]. */
double loss_extent(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Adds an error for a massless link. */
void loss_mass_prepare(LossTerm* term, const LossContext* origin);
double loss_mass(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Returns the mean over the window of (q_link - q_other - value)^2 [m^2 or rad^2]. q_other is 0 if `other` is not
 * given. */
double loss_coordinate(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Adds an error for a degree of freedom that the joint lacks, and for the three rotations of a ball joint. */
void loss_coordinate_prepare(LossTerm* term, const LossContext* origin);
/* Returns the sum over triangles of the area times the squared excess over the overhang angle [m^2]. */
double loss_overhang(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Kinds clearance, removal and keep_out (differentiate/loss_clearance.c). */
double loss_clearance(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Sets `other` to the parent link if not given. Adds an error for a joint without a range to sweep. */
void loss_clearance_prepare(LossTerm* term, const LossContext* origin);
/* Returns margin minus the smallest distance of the link from the others during a straight removal along `direction`
 * [m]. */
double loss_removal(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Normalizes the direction. Adds an error if the scene has no other links. */
void loss_removal_prepare(LossTerm* term, const LossContext* origin);
/* Returns margin minus the distance of the link's hulls from the box [m]. */
double loss_keep_out(const LossTerm* term, const Recording* recording, LossSeeds* seeds);
/* Stores the hulls of `link`, or of all links if `link` is not given. Adds an error if these links have no vertices.
 * loss_hulls_free frees the hulls. */
void loss_hulls_prepare(LossTerm* term, const LossContext* origin);
/* Frees the hulls. Accepts a term without hulls. */
void loss_hulls_free(LossTerm* term);

#endif
