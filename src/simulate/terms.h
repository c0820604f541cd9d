/* Private to simulate/: the terms of the step objective that are not contact, each with value, gradient and Hessian
 * (docs/derivations/step.md). */
#ifndef SDRS_SIMULATE_TERMS_H
#define SDRS_SIMULATE_TERMS_H

#include "contact/contact.h"
#include "model/model.h"

/* Weights of the integrator at the present step:
 *   inertia   factor / (2 dt^2) sum m |x - y|^2,   y = y_now x^t + y_old x^{t-1} + y_older x^{t-2} + y_rate dt v0 + g
 * dt^2/factor (S2) rate      rate_now (q - q^t) - rate_old (q^t - q^{t-1}) (S3) */
typedef struct {
  double factor, y_now, y_old, y_older, y_rate;
  double rate_now, rate_old; /* 1/s */
} StepWeights;

/* Energy derivatives of a link: force, first moment sum g r^T and Hessian with respect to its twist (w, v) about its
 * centre of mass, without the curvature of the motion (K2). */
typedef struct {
  Vec3 force;
  Mat3 moment;
  double hessian[6][6];
} LinkTerms;

/* Returns the energy of inertia, gravity included through the target (S1): factor/(2 dt^2) tr(D S D^T), D = T - Y [J].
 * target: Y, an affine map. weight: factor / dt^2 [1/s^2]. */
double inertia_energy(const ModelLink* link, Pose pose, Pose target, double weight);
/* Sets terms of the inertia energy, world axes, about the centre of mass [N, N m]; all zero for a link without mass.
 * weight: factor / dt^2. The Hessian is symmetric. */
void inertia_terms(const ModelLink* link, Pose pose, Pose target, double weight, LinkTerms* terms);
/* For Phi = (derivative of inertia_energy) . (motion dT = (dR | dt), 3x4): adds its derivatives with respect to the
 * target Y, -weight dT S, to target_bar and those with respect to the entries of S, weight dT^T (T - Y), to moment_bar
 * (A2). Does nothing for a link without mass. */
void inertia_adjoint(const ModelLink* link, Pose pose, Pose target, double weight, const double motion[3][4],
                     double target_bar[3][4], MassMoment* moment_bar);

/* Returns the rounding error of lambda . (inertial force) and of its derivatives with respect to the link's mass
 * distribution, in units of the link's size. Positions are known to an epsilon, accelerations to weight times that.
 * motion (3x4): that of lambda. 0 for a link without mass. */
double inertia_rounding(const ModelLink* link, Pose pose, double weight, const double motion[3][4]);

/* out = d S, S the link's second moment, for a displacement d of [R | t] (3x4). out may be d. */
void inertia_times(const ModelLink* link, const double d[3][4], double out[3][4]);

/* A list of links of a model, parents first. links NULL: all links, count is their number. */
typedef struct {
  const int* links;
  int count;
} LinkSpan;
/* Returns the span of all links of the model. */
static inline LinkSpan all_links(const Model* model) { return (LinkSpan){NULL, model->link_count}; }
/* Converts derivatives bar[links] with respect to poses (3x4) into force and first moment sum g r^T about each link's
 * frame origin, summed over the link and its descendants. Sets force[links] and moment[links] of the span, world
 * axes. */
void bars_compose(const Model* model, LinkSpan span, const Pose* pose, double (*bar)[3][4], Vec3* force, Mat3* moment);
/* Adds the composed forces along the screws to derivatives with respect to increments (nv). screws[nv], force[links]
 * and moment[links] from bars_compose. */
void bars_reduce(const Model* model, LinkSpan span, const Pose* pose, const Screw* screws, const Vec3* force,
                 const Mat3* moment, double* reduced);

/* Energies of a joint in a step, with gradient and Hessian with respect to increments of its degrees of freedom
 * (joint_increment). */
typedef struct {
  double controller, limit, damping; /* J; limit: includes springs; damping: includes dry friction */
  double inertia;                    /* energy of armatures [J] */
  bool outside;                      /* a coordinate is beyond a barrier limit; the other members are then undefined */
  double gradient[JOINT_MAX_DOF];
  double hessian[JOINT_MAX_DOF][JOINT_MAX_DOF];
  double inertia_force[JOINT_MAX_DOF]; /* magnitudes of armature and limit-resistance forces, for the scale of the
                                          residual [N, N m] */
} JointTerms;

/* Input of one drive of a joint at t + dt (docs/derivations/drives.md). */
typedef struct {
  double target[JOINT_MAX_COORDINATE];
  double target_rate[JOINT_MAX_DOF]; /* link axes for balls */
  double position_gain[JOINT_MAX_DOF], velocity_gain[JOINT_MAX_DOF], damping_gain[JOINT_MAX_DOF];
  double max_force[JOINT_MAX_DOF]; /* force limit; 0: none; three rotations have one limit, the mean of their numbers */
  double limit_width;              /* width of the limit's smooth corners, as a fraction of it */
  double push[JOINT_MAX_DOF];      /* force or torque independent of the joint's motion; of balls in link axes */
} JointDrive;

/* Time weights of springs and position gains: they act at ahead q^(t+dt) + now q^t + old q^(t-1), ahead = 1 - now -
 * old, with 1 - missing times their stiffness (M10). All zero: at t + dt with full stiffness. No units. */
typedef struct {
  double now, old, missing;
} SpringTime;
/* Returns the weight of q^(t+dt). */
static inline double spring_ahead(const SpringTime* at) { return 1 - at->now - at->old; }
/* Returns the sum of the products of the members: chain rule through a SpringTime. */
static inline double spring_time_dot(const SpringTime* a, const SpringTime* b) {
  return a->now * b->now + a->old * b->old + a->missing * b->missing;
}

/* State of a plain coordinate in a short substep of an impact at its limit (impact.md, I15). Zeroed: no impact. */
typedef struct {
  bool strikes, bounces; /* the coordinate is in an impact, its barrier does not act; the substep reverses its speed */
  double sign;           /* 1: away from the lower limit, -1: from the upper one */
  double aim;            /* least displacement q - q^t, in the direction of sign [m, rad] */
  double by_difference,
      by_restitution; /* derivatives of `aim` with respect to difference_old and to limit_restitution */
  double stiffness;   /* stiffness of the one-sided spring that enforces `aim` [N/m, N m/rad] */
  double slack;       /* displacement beyond `aim` over which the spring still acts (recorded steps only) [m, rad] */
} JointStop;

typedef struct {
  const ModelLink* link;
  const double *q, *q_now, *difference_old; /* coordinates at t + dt; at t; q^t - q^{t-1} (dof) */
  const JointDrive* drives;
  int drive_count;
  double dt; /* time step for which velocity gains are defined [s] */
  StepWeights weights;
  const double* aim;     /* q - q^t predicted by armature inertia alone (dof); NULL: no armature in the model */
  double inertia_weight; /* factor / dt^2 [1/s^2] */
  SpringTime spring;     /* for plain coordinates; springs of three rotations act at t + dt */
  const JointStop* stop; /* impacts at limits (dof); NULL: the model has no such limits */
  const double* held; /* forces F^ that the aim of the tree contains (dof): subtracted from the gradient (W51) [N, N m];
                         NULL: none */
  bool aimed;         /* only the terms of the aim (W51): springs, damping, armatures and drives of plain coordinates */
} JointInput;
/* Returns true if the plain coordinate k is in an impact at its limit. */
static inline bool joint_strikes(const JointInput* in, int k) {
  return in->stop && in->stop[k].strikes && in->link->limited[k];
}
/* Returns the time-weighted position at which springs and position gains of plain coordinate k act [m, rad]. */
static inline double joint_spring_position(const JointInput* in, int k) {
  const SpringTime* at = &in->spring;
  return spring_ahead(at) * in->q[k] + at->now * in->q_now[k] + at->old * (in->q_now[k] - in->difference_old[k]);
}

/* Limits of a coordinate or of a tendon's length, with their law (S6, S7, S22). */
typedef struct {
  LimitLaw law;
  double lower, upper; /* m or rad; infinite: none */
  double stiffness;    /* barrier: J; penalty: N/m or N m/rad */
  double margin;       /* m or rad */
  double restitution;  /* 0 ... 1 */
} Limits;
/* Returns the limits of a degree of freedom; of three rotations those of the whole angle, the swing and the twist. */
Limits joint_limits(const ModelLink* link, int dof);
/* Value and derivatives of a scalar energy. */
typedef struct {
  double value, first, second;
} LimitEnergy;
/* Sets *sum to the energy of both limits at x [J]. Returns false if x is beyond a barrier; *sum is then zero.
 * (simulate/joint_terms.c) */
bool limits_energy(const Limits* limits, double x, LimitEnergy* sum);
/* Resistance to leaving a limit (S22): dissipates the energy that the limit returns, except the fraction
 * restitution^2. */
typedef struct {
  double value;           /* J */
  double first;           /* derivative with respect to the coordinate [N, N m] */
  double by_rate, by_now; /* derivatives of `first` with respect to the rate and to the coordinate at t */
} StopTerms;
/* Returns the resistance. now: coordinate at t; rate: of the step [m/s, rad/s]; rate_now: d rate / d coordinate [1/s].
 * Zeros away from the limits. */
StopTerms limits_resistance(const Limits* limits, double now, double rate, double rate_now);
/* Derivatives of the limit force of a plain coordinate with respect to lower, upper and limit_restitution. */
typedef struct {
  double lower, upper, restitution;
} LimitSlopes;
LimitSlopes joint_limit_slopes(const JointInput* in, int k, double rate);
/* Returns the resistance of plain coordinate k. rate [m/s, rad/s]. Zeros away from the limits and during impacts. */
StopTerms joint_stop(const JointInput* in, int k, double rate);
/* Passive terms of one plain coordinate: spring, friction, armature (simulate/joint_passive.c). */
typedef struct {
  double spring, friction, inertia; /* J */
  double gradient, hessian, inertia_force;
} PassiveTerms;
/* Returns the terms of plain coordinate k of the joint. rate [m/s, rad/s]. Zeros for properties that the joint
 * lacks. */
PassiveTerms joint_passive(const JointInput* in, int k, double rate);
/* Returns the dry friction of three rotations, the mean of their numbers [N m]. base: first of the three degrees of
 * freedom. */
double joint_ball_friction(const ModelLink* link, int base);
/* Returns d (friction force) / d rate [N s/m, N m s/rad], static friction included. rate [m/s, rad/s]. */
double joint_friction_slope(const ModelLink* link, int k, double rate);
/* Excess of static over dry friction of one plain coordinate (M11). */
typedef struct {
  double work;         /* integral of the force over the rate [W] */
  double force, slope; /* force [N or N m] and its derivative with respect to the rate */
  double by_static;    /* derivative of the force with respect to static_friction; with respect to friction it is the
                          negative */
} StaticFriction;
/* Returns the excess. rate [m/s, rad/s]; zeros without static friction. */
StaticFriction joint_static_friction(const ModelLink* link, int k, double rate);
/* Returns q - q^t by inertia alone, in m or rad. d1, d2: displacements of the last step and of the one before [m, rad];
 * dt [s]; start: initial rate [m/s, rad/s]. */
double armature_aim(const StepWeights* weights, double dt, double d1, double d2, double start);

/* Sets the joint's energies; with derivatives = true also gradient (dof) and Hessian (dof x dof) with respect to
 * increments. Returns false beyond a barrier limit. */
bool joint_terms(const JointInput* in, bool derivatives, JointTerms* out);

/* Returns the gain k of the energy k/2 |rate error|^2, whose force is rate_now k (rate error): velocity_gain / dt under
 * the first-order scheme, plus damping_gain (M1). */
static inline double joint_rate_gain(const JointInput* in, const JointDrive* drive, int dof) {
  return drive->velocity_gain[dof] / (in->dt * in->weights.rate_now) + drive->damping_gain[dof] / in->weights.rate_now;
}

/* Kinds of gains of a drive, in the order of controller_gain. */
enum { JOINT_POSITION, JOINT_VELOCITY, JOINT_DAMPING_GAIN, JOINT_MAX_FORCE, JOINT_GAIN_KINDS };

/* Derivatives of lambda . (gradient of joint_terms) with respect to inputs of the step (simulate/joint_adjoint.c;
 * docs/derivations/adjoint.md, A3). */
typedef struct {
  double now[JOINT_MAX_DOF];            /* derivatives with respect to increments of the coordinates at t */
  double difference_old[JOINT_MAX_DOF]; /* derivatives with respect to q^t - q^{t-1} */
  double aim[JOINT_MAX_DOF];            /* derivatives with respect to JointInput.aim */
  SpringTime spring;                    /* derivatives with respect to JointInput.spring */
  double (
      *target)[JOINT_MAX_DOF]; /* with respect to increments of each drive's target; memory of the caller (drives) */
  double (*target_rate)[JOINT_MAX_DOF]; /* memory of the caller (drives) */
  double (*push)[JOINT_MAX_DOF];        /* memory of the caller (drives) */
  double (
      *gains)[JOINT_GAIN_KINDS][JOINT_MAX_DOF]; /* with respect to each drive's gains; memory of the caller (drives) */
} JointShares;
/* Sets all of out, including the caller's memory; zeros if lambda is zero. lambda[dof]. */
void joint_adjoint(const JointInput* in, const double* lambda, JointShares* out);
/* Adds to out (dof x JOINT_OWN_COUNT) the derivatives of lambda . (gradient of joint_terms) with respect to the joint's
 * own numbers (A14). lambda[dof]. Limits: of plain coordinates only. */
void joint_own_adjoint(const JointInput* in, const double* lambda, double (*out)[JOINT_OWN_COUNT]);
/* For a scalar with derivative bar with respect to joint_difference(q_from, q_to): adds its derivatives with respect to
 * increments of both. bar, from_bar[dof], to_bar[dof]; q_from[coordinate_count], q_to[coordinate_count]. */
void joint_difference_adjoint(const Joint* joint, const double* q_from, const double* q_to, const double* bar,
                              double* from_bar, double* to_bar);
/* For a scalar with derivative bar with respect to increments of joint_continue(q, d, factor): adds its derivatives
 * with respect to increments of q and to d. bar[dof], d[dof], q_bar[dof], d_bar[dof]. */
void joint_continue_adjoint(const Joint* joint, const double* d, double factor, const double* bar, double* q_bar,
                            double* d_bar);
/* Converts derivatives with respect to increments of a target and to its rate in link axes into those with respect to
 * the signal's value and rate (rotation vectors). All arrays (dof); value_bar and value_rate_bar are set, not added
 * to. */
void joint_target_adjoint(const Joint* joint, const double* value, const double* rate, const double* target_bar,
                          const double* rate_bar, double* value_bar, double* value_rate_bar);

/* Rotation vector of q, with first and second derivatives with respect to the increments R Rx(d1) Ry(d2) Rz(d3) at d =
 * 0. */
typedef struct {
  double value[3];
  double first[3][3];     /* [component][increment] */
  double second[3][3][3]; /* [component][increment][increment] */
} RotationVector;
/* q: unit, either sign. Value in rad; smooth for rotations below pi. */
RotationVector rotation_vector_derivatives(Quat q);

/* A drive of three rotations with a torque limit (M8). u: magnitude of the unlimited torque about the rotation at t.
 * The limited energy has the gradient scale g and the Hessian scale H + bend stiffness g g^T, with g and H those of the
 * unlimited energy E. */
typedef struct {
  double limit;     /* M [N m] */
  double stiffness; /* K, mean of the three [N m/rad] */
  double size;      /* u [N m] */
  double now;       /* E at t [J] */
  double scale;     /* S(u / M) M / u */
  double bend;      /* d scale / d(u^2 / 2) [1/(N m)^2] */
  LimitedForce force;
  double way[3];  /* from the rotation at t to the target, as rotation vector in the axes at t [rad] */
  double goal[3]; /* target of rate_now times the rotation of the step [rad/s] */
  double wish[3]; /* unlimited torque at t [N m] */
} BallLimit;
/* energy: E at t + dt. base: first of the three degrees of freedom. scale is 1 if the limit is not reached or there is
 * none. */
BallLimit ball_limit_of(const JointInput* in, const JointDrive* drive, int base, double energy);
/* Adds E to out, with derivatives = true also its gradient and Hessian with respect to the increments. step: rotation
 * since t. */
void ball_drive_terms(const JointInput* in, const JointDrive* drive, const RotationVector* step, int base,
                      bool derivatives, JointTerms* out);

/* Computes bounds on the motion of every link along q (+) alpha delta, alpha in [0, 1]
 * (docs/derivations/certificate.md). q (nq), poses[links], screws[nv] and delta[nv]; sets bounds->link and
 * bounds->joint (links) [m, rad]. */
void motion_bounds(const Model* model, const double* q, const Pose* poses, const Screw* screws, const double* delta,
                   MotionBounds* bounds);
/* As motion_bounds for link i alone, with the same arrays q[nq], poses[links], screws[nv] and delta[nv]; bounds of its
 * parent must be set. Sets entry i of bounds->link and bounds->joint. */
void motion_bound_of(const Model* model, int i, const double* q, const Pose* poses, const Screw* screws,
                     const double* delta, MotionBounds* bounds);
/* Terms of a coupling: adds push times slope to the gradient, stiffness times slope slope^T to the Hessian. */
typedef struct {
  int count;
  const int* dof;
  const double* slope;
  double push, stiffness;
} CouplingTerms;
/* Terms of a closure: adds the sum over its rows of stiffness slope slope^T to the Hessian. */
typedef struct {
  int rows, count;                 /* size of slope: rows x count */
  const int* dof;                  /* (count) */
  const double *slope, *stiffness; /* (rows x count), (rows) */
  const bool* moves;               /* slope has an entry (rows) */
} RowTerms;
/* Index of pair terms by tree, in the order of the terms: contact, closures, tendons, bushings. A place is the number
 * of a tree within the scope; the place after the last tree holds the links that cannot move
 * (simulate/term_sides.c). */
typedef struct {
  int* first;           /* first item of every place (trees + 2) */
  int trees;            /* number of trees that `first` has room for */
  int *items, capacity; /* 2 * term + side */
  int sorted;   /* number of terms that items were built from, if none of them is a contact: such items are reused; else
                   -1 */
  int count[4]; /* number of terms of each of the four lists */
  ContactTerms* standing; /* copies of all terms except contacts */
  int standing_capacity;
} TermSides;

/* Trees that are solved together: all trees of the scene or a subset (simulate/parts.c). The place of a tree is its
 * number in `trees`. */
typedef struct {
  bool whole;
  const int* trees; /* ascending */
  const int* links; /* links of these trees, parents first; for the whole scene all links, immovable ones included */
  const int* place; /* place of every tree of the model that is in `trees` (trees of the model) */
  const int* dof_first; /* by place: first unknown of the tree in the matrix */
  int tree_count, link_count;
} SolveScope;

/* Input for gradient (nv) and block Hessian: link terms, pair terms and joint terms. Trees are processed independently,
 * on `threads` threads. */
typedef struct {
  const Model* model;
  const SolveScope* scope;
  int threads;
  const int *tree_first, *tree_links; /* links by tree, parents first  (trees + 1, links) */
  const TermSides* sides;             /* index of the four lists of pair terms below by tree */
  const Screw* screws;
  const Vec3* reference; /* world centres of mass */
  LinkTerms* links;      /* on entry: each link's own terms; on return: sums over the link and its descendants */
  const JointTerms* joints;
  ContactTermList contact, closures; /* link -1 in closures: the world, or no link of an open closure */
  ContactTermList tendons, bushings; /* link -1: the world */
  const CouplingTerms* couplings;
  int coupling_count;
  const RowTerms* rows; /* rho C^T C of closures */
  int rows_count;
  double stiffening;              /* factor of the stiffness of rows and couplings in the Hessian */
  const CouplingTerms* stretched; /* stiffness terms of tendons */
  int stretched_count;
  const bool* stale;        /* by tree: terms and gradient must be recomputed; the others are up to date; NULL: all */
  const bool* stale_blocks; /* by position of a tree in the scope: rows and columns of its block of the Hessian must be
                               recomputed; NULL: all */
} Assembly;
/* Below TREES_PARALLEL trees one thread is faster. TREES_GRAIN: trees per task. */
enum { TREES_PARALLEL = 128, TREES_GRAIN = 32 };
/* Builds sides from the lists of the assembly. in->sides must be the same object. The caller frees it with sides_free.
 * Allocates only to grow. */
void assembly_find_sides(const Assembly* in, TermSides* sides);
/* Frees and zeroes sides. Accepts a zeroed one. */
void sides_free(TermSides* sides);
/* Returns the term with this index in the concatenated four lists. index: below the sum of sides->count. */
static inline ContactTerms assembly_term(const Assembly* in, int index) {
  int first = in->sides->count[0];
  return index < first ? in->contact.at(in->contact.holder, index) : in->sides->standing[index - first];
}
/* Returns true if body b of a contact pair is a half-space. The pair's Hessian then has no rows for b. */
static inline bool term_of_half_space(const ContactTerms* t) {
  return t->hessian && !t->across && !t->rows_of_b && t->hessian[9][9] == 0 && t->hessian[10][10] == 0 &&
         t->hessian[11][11] == 0;
}
/* Sets gradient[nv] [N, N m], only of stale trees if `stale` is given. in->links become sums over descendants. */
void assemble_gradient(const Assembly* in, double* gradient);
/* Sets the blocks of the solver, only stale ones if `stale_blocks` is given. curvature = false leaves out the curvature
 * of the motion (Gauss-Newton); the result is then positive definite except for contact. Call after assemble_gradient,
 * which makes links composite. */
void assemble_hessian(const Assembly* in, bool curvature, BlockSolver* solver);

/* bar[link] += by [x 1]: the derivative with respect to the pose, given `by` with respect to a point x of the link,
 * link frame. Does nothing for link < 0. */
static inline void pose_bar_add_point(double (*bar)[3][4], int link, Vec3 by, Vec3 x) {
  double f[3], at[4] = {x.x, x.y, x.z, 1};
  vec3_store(by, f);
  for (int n = 0; link >= 0 && n < 12; n++) bar[link][n / 4][n % 4] += f[n / 4] * at[n % 4];
}

#endif
