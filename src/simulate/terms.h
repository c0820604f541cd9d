/* Private to simulate/: terms of the step objective without contact (docs/derivations/step.md). Each term has value,
 * gradient and Hessian. */
#ifndef SDRS_SIMULATE_TERMS_H
#define SDRS_SIMULATE_TERMS_H

#include "contact/contact.h"
#include "model/model.h"

/* Weights of the integrator at the present step. They define the inertial energy and the rate of a coordinate q:
 *   inertia   factor / (2 dt^2) sum m |x - y|^2,
 *             y = y_now x^t + y_old x^{t-1} + y_older x^{t-2} + y_rate dt v0 + g dt^2/factor                     (S2)
 *   rate      rate_now (q - q^t) - rate_old (q^t - q^{t-1})                      (S3)
 * x: position of a point of mass m at t + dt; x^t, x^{t-1}, x^{t-2}: its earlier positions; v0: initial velocity; g:
 * gravity. q, q^t, q^{t-1}: the coordinate at t + dt, t and one step before. */
typedef struct {
  double factor, y_now, y_old, y_older, y_rate;
  double rate_now, rate_old; /* weights of the two displacements in the rate (S3) [1/s] */
} StepWeights;

/* Derivatives of an energy with respect to the motion of a link. force: sum over the link's points of the energy's
 * gradients g. moment: first moment sum g r^T, with the vector r from the centre of mass to the point. hessian: with
 * respect to the twist (w, v) of the link about its centre of mass, without the curvature of the motion (kinematics.md,
 * K2). */
typedef struct {
  Vec3 force;
  Mat3 moment;
  double hessian[6][6];
} LinkTerms;

/* Returns the energy of inertia of a link [J], weight / 2 tr(D S D^T) (S1). D = pose - target, as 3x4 matrices; S:
 * second moment of the link's mass. target: pose without forces except gravity, an affine map. weight:
 * StepWeights.weight of inertial energies, StepWeights.factor / dt^2 [1/s^2]. */
double inertia_energy(const ModelLink* link, Pose pose, Pose target, double weight);
/* Sets *terms to the derivatives of inertia_energy about the centre of mass, world axes [N, N m]; all zero for a link
 * without mass. target and weight as for inertia_energy. The Hessian is symmetric. */
void inertia_terms(const ModelLink* link, Pose pose, Pose target, double weight, LinkTerms* terms);
/* Let Phi be the directional derivative of inertia_energy for a change `motion` (3x4) of the pose. Adds the derivatives
 * of Phi with respect to the target to target_bar. Adds the derivatives of Phi with respect to the second moment of the
 * link's mass to moment_bar (A2). Does nothing for a link without mass. */
void inertia_adjoint(const ModelLink* link, Pose pose, Pose target, double weight, const double motion[3][4],
                     double target_bar[3][4], MassMoment* moment_bar);

/* Returns the rounding error of lambda . (inertial force) and of the derivatives of this product with respect to the
 * link's mass distribution, in units of the link's size. Positions have a relative error of an epsilon; accelerations
 * have `weight` times the error of a position. motion (3x4): directional derivative of the pose along lambda. Returns 0
 * for a link without mass. */
double inertia_rounding(const ModelLink* link, Pose pose, double weight, const double motion[3][4]);

/* Sets out to the product d S. d (3x4): change of the link's rotation matrix and position; S: second moment of the
 * link's mass. out may be the same array as d. */
void inertia_second_moment_product(const ModelLink* link, const double d[3][4], double out[3][4]);
/* Returns the angular velocity of a link with ModelLink.spins per unit of angular momentum, link axes [1/(kg m^2)]. It
 * is the inverse of the inertia tensor I about the centre of mass. For a body in a plane with the normal a, it is a a^T
 * / (a . I a) (docs/derivations/spin.md, W53). */
Mat3 inertia_mobility(const ModelLink* link);

/* A list of links of a model, parents first. links NULL: all links of the model; count is their number. */
typedef struct {
  const int* links;
  int count;
} LinkSpan;
static inline LinkSpan link_span_of_model(const Model* model) { return (LinkSpan){NULL, model->link_count}; }
/* Converts bar[links], the derivatives of a scalar with respect to poses (3x4), into force and first moment about the
 * origin of each link's frame, summed over the link and its descendants. The first moment is sum g r^T, with the force
 * g on a point and the vector r from the origin to the point. Sets the entries force[links] and moment[links] of the
 * links in the span, world axes. */
void pose_bars_sum_forces(const Model* model, LinkSpan span, const Pose* pose, double (*bar)[3][4], Vec3* force,
                          Mat3* moment);
/* Adds to reduced[nv] the derivatives of a scalar of the poses with respect to increments of the joint coordinates.
 * force[links] and moment[links]: results of pose_bars_sum_forces. screws[nv]: of the joints. */
void pose_bars_reduce(const Model* model, LinkSpan span, const Pose* pose, const Screw* screws, const Vec3* force,
                      const Mat3* moment, double* reduced);

/* Energies of a joint in a step, with their gradient and Hessian with respect to increments of the joint's degrees of
 * freedom (joint_increment). */
typedef struct {
  double controller, limit, damping; /* energies [J]. `limit` includes the springs, `damping` includes dry friction */
  double inertia;                    /* energy of armatures [J] */
  bool outside; /* true if a coordinate is beyond a barrier limit; the other members are then undefined */
  double gradient[JOINT_MAX_DOF];
  double hessian[JOINT_MAX_DOF][JOINT_MAX_DOF];
  double inertia_force[JOINT_MAX_DOF]; /* sum of the magnitudes of the armature force, of limits and of their
                                          resistance, for the scale of the residual [N, N m] */
} JointTerms;

/* Target, gains and force of one drive of a joint at t + dt (docs/derivations/drives.md). */
typedef struct {
  double target[JOINT_MAX_COORDINATE];
  double target_rate[JOINT_MAX_DOF]; /* rates of the target; in link axes for ball joints */
  double position_gain[JOINT_MAX_DOF], velocity_gain[JOINT_MAX_DOF], damping_gain[JOINT_MAX_DOF];
  double max_force[JOINT_MAX_DOF]; /* force limit; 0 if there is none. Three rotations have a common limit, the mean of
                                      their three entries */
  double limit_width;              /* width of the smooth corners of the force limit, as a fraction of the limit */
  double push[JOINT_MAX_DOF]; /* force or torque that does not depend on the joint's motion; for ball joints in link
                                 axes */
} JointDrive;

/* Time weights of springs and position gains. They act at a weighted mean of the joint coordinate at t + dt, t and one
 * step before t. `now` and `old` are the weights of the last two, and the weights add up to 1. The stiffness is
 * multiplied by 1 - missing (M10). No units. */
typedef struct {
  double now, old, missing;
} SpringTimeWeights;
/* Returns the weight of the coordinate at t + dt, 1 minus the other weights. */
static inline double spring_weight_of_end(const SpringTimeWeights* at) { return 1 - at->now - at->old; }
/* Returns the scalar product of two sets of time weights, for the chain rule. */
static inline double spring_time_dot(const SpringTimeWeights* a, const SpringTimeWeights* b) {
  return a->now * b->now + a->old * b->old + a->missing * b->missing;
}

/* State of a scalar coordinate in a short substep of its impact with a limit (impact.md, I15). A scalar coordinate
 * belongs to one translation or one rotation, not to a ball joint. A zeroed struct means that there is no impact. */
typedef struct {
  bool is_in_impact, rebounds; /* `is_in_impact`: the coordinate is in an impact, and the barrier of its limit does not
                            act. `rebounds`: the substep reverses the speed of the coordinate */
  double sign;                 /* direction away from the limit: 1 at the lower limit, -1 at the upper limit */
  double aim; /* rebound displacement: the coordinate must move from its value at t by at least `aim` away from the
                 limit [m, rad] */
  double by_difference, by_restitution; /* derivatives of `aim`: by_difference with respect to difference_old,
                                           by_restitution with respect to limit_restitution */
  double stiffness;                     /* stiffness of the one-sided spring that enforces `aim` [N/m, N m/rad] */
  double slack; /* displacement beyond `aim` up to which the spring acts; 0 unless recorded [m, rad] */
} JointStop;

typedef struct {
  const ModelLink* link;
  const double *q, *q_now, *difference_old; /* q: coordinates at t + dt; q_now: at t; difference_old: increments from
                                               the state before t to t (dof) */
  const JointDrive* drives;
  int drive_count;
  double dt; /* time step for which velocity gains are defined [s] */
  StepWeights weights;
  const double* aim; /* displacement since t that armature inertia alone predicts (dof); NULL if there is no armature in
                        the model */
  double inertia_weight;     /* factor / dt^2 [1/s^2] */
  SpringTimeWeights spring;  /* time weights of springs and position gains */
  double rate_past;          /* weight 1 - theta of the previous step's rate in the rate of dampers (M12) */
  const double* rate_before; /* rates in the previous step (dof) [m/s, rad/s]; NULL if rate_past is 0 */
  /* impacts at limits, one entry for each degree of freedom; NULL if no limit of the model has restitution */
  const JointStop* stop;
  const double* held; /* joint forces that the target pose of a tree in free flight (tree_flight.h) already contains [N,
                         N m] (W51). They are subtracted from the gradient. NULL if there are none (dof) */
} JointInput;
/* Returns true if the scalar coordinate k is in an impact at its limit. */
static inline bool joint_is_in_impact(const JointInput* in, int k) {
  return in->stop && in->stop[k].is_in_impact && in->link->limited[k];
}
/* Returns the time-weighted position at which springs and position gains of scalar coordinate k act [m, rad]. */
static inline double joint_spring_position(const JointInput* in, int k) {
  const SpringTimeWeights* at = &in->spring;
  return spring_weight_of_end(at) * in->q[k] + at->now * in->q_now[k] +
         at->old * (in->q_now[k] - in->difference_old[k]);
}

/* Returns the rate of scalar coordinate k in the step (S3) [m/s, rad/s]. */
static inline double joint_step_rate(const JointInput* in, int k) {
  return in->weights.rate_now * (in->q[k] - in->q_now[k]) - in->weights.rate_old * in->difference_old[k];
}
/* Returns the derivative of the damper rate with respect to the coordinate (M12) [1/s]. */
static inline double joint_damper_slope(const JointInput* in) { return (1 - in->rate_past) * in->weights.rate_now; }
/* Returns minus the damper rate of degree of freedom k for q = q^t (M12) [m/s, rad/s]. */
static inline double joint_damper_offset(const JointInput* in, int k) {
  double past = in->rate_past > 0 ? in->rate_past * in->rate_before[k] : 0;
  return (1 - in->rate_past) * in->weights.rate_old * in->difference_old[k] - past;
}
/* Returns the rate at which dampers and rate gains of scalar coordinate k act (M12) [m/s, rad/s]. */
static inline double joint_damper_rate(const JointInput* in, int k) {
  double rate = joint_step_rate(in, k);
  return in->rate_past > 0 ? (1 - in->rate_past) * rate + in->rate_past * in->rate_before[k] : rate;
}

/* Lower and upper limit of a coordinate or of a tendon's length, and the law of their force (S6, S7, S22). */
typedef struct {
  LimitLaw law;
  double lower, upper; /* limits of the coordinate [m or rad]; infinite without a limit */
  double
      stiffness; /* stiffness of the limit force. Unit with the law barrier: J; with the law penalty: N/m or N m/rad */
  double margin; /* distance from a limit at which its force begins [m or rad] */
  double restitution; /* coefficient of restitution of impacts with the limit, 0 to 1 */
} Limits;
/* Returns the limits of a degree of freedom. The three degrees of freedom of a ball joint hold the limits of the total
 * angle, of the swing and of the twist. */
Limits joint_limits(const ModelLink* link, int dof);
/* Energy of a limit, and its first and second derivatives with respect to the limited coordinate. */
typedef struct {
  double value, first, second;
} LimitEnergy;
/* Sets *sum to the energy of the lower and the upper limit at the coordinate x [J]. Returns false if x is beyond a
 * barrier; *sum is then zero. (simulate/joint_terms.c) */
bool limits_energy(const Limits* limits, double x, LimitEnergy* sum);
/* Force that resists the motion of a coordinate away from its limit (S22). It dissipates the energy that the limit
 * returns, except the fraction restitution^2. */
typedef struct {
  double value;           /* energy of the resistance [J] */
  double first;           /* derivative with respect to the coordinate [N, N m] */
  double by_rate, by_now; /* derivatives of `first`. by_rate: with respect to the rate; by_now: with respect to the
                             coordinate at t */
} LimitResistance;
/* Returns energy and force of the resistance to leaving a limit; zeros away from the limits. now: coordinate at t.
 * rate: rate of the coordinate in the step [m/s, rad/s]. rate_now: derivative of the rate with respect to the
 * coordinate [1/s]. */
LimitResistance limits_resistance(const Limits* limits, double now, double rate, double rate_now);
/* Derivatives of the limit force of a scalar coordinate with respect to lower, upper and limit_restitution. */
typedef struct {
  double lower, upper, restitution;
} LimitForceDerivatives;
LimitForceDerivatives joint_limit_force_derivatives(const JointInput* in, int k, double rate);
/* Returns the energy and the force that resist the motion of scalar coordinate k away from its limit (step.md, S22).
 * All members are 0 away from the limits and during impacts. rate: of the coordinate [m/s, rad/s]. */
LimitResistance joint_limit_resistance(const JointInput* in, int k, double rate);
/* Energies of spring, friction and armature of one scalar coordinate, with the derivatives of their sum
 * (simulate/joint_passive.c). */
typedef struct {
  double spring, friction, inertia; /* energies of spring, friction and armature [J] */
  double gradient, hessian, inertia_force;
} PassiveTerms;
/* Returns the terms of spring, friction and armature for scalar coordinate k of the joint. rate: of the coordinate
 * [m/s, rad/s]. The terms are zero for properties that the joint does not have. */
PassiveTerms joint_passive(const JointInput* in, int k, double rate);
/* Returns the dry friction torque of a joint with three rotations, the mean of their three friction parameters [N m].
 * base: first of the three degrees of freedom. */
double joint_ball_friction(const ModelLink* link, int base);
/* Returns the derivative of the friction force of scalar coordinate k with respect to the rate [N s/m, N m s/rad],
 * static friction included. rate: of the coordinate [m/s, rad/s]. */
double joint_friction_slope(const ModelLink* link, int k, double rate);
/* Excess of static over dry friction of one scalar coordinate (M11). */
typedef struct {
  double work;         /* integral of the friction force over the rate [W] */
  double force, slope; /* friction force [N or N m], and its derivative with respect to the rate */
  double by_static; /* derivative of the force with respect to static_friction; the derivative with respect to friction
                       is -by_static */
} StaticFriction;
/* Returns the excess of static friction of scalar coordinate k; zeros if the joint has no static friction. rate: of the
 * coordinate [m/s, rad/s]. */
StaticFriction joint_static_friction(const ModelLink* link, int k, double rate);
/* Returns the displacement since t of a joint coordinate that the inertia of its armature (rotor) alone predicts [m or
 * rad]. d1: displacement in the previous step; d2: displacement in the step before that [m, rad]. dt: step length [s].
 * start: initial rate [m/s, rad/s]. */
double armature_aim(const StepWeights* weights, double dt, double d1, double d2, double start);

/* Sets *out to the joint's energies; if derivatives is true, also to their gradient (dof) and Hessian (dof x dof) with
 * respect to increments. Returns false if a coordinate is beyond a barrier limit. */
bool joint_terms(const JointInput* in, bool derivatives, JointTerms* out);

/* Returns the gain k of the drive energy k/2 |rate error|^2. The force is k (rate error) times joint_damper_slope. It
 * equals (velocity_gain / dt + damping_gain) (rate error) (M1). */
static inline double joint_rate_gain(const JointInput* in, const JointDrive* drive, int dof) {
  double slope = joint_damper_slope(in);
  return drive->velocity_gain[dof] / (in->dt * slope) + drive->damping_gain[dof] / slope;
}

/* Kinds of gains of a drive, in the order of controller_gain_at. */
enum { JOINT_POSITION, JOINT_VELOCITY, JOINT_DAMPING_GAIN, JOINT_MAX_FORCE, JOINT_GAIN_KINDS };

/* Derivatives of the scalar lambda . (gradient of the joint's energy) with respect to the input of joint_terms. lambda:
 * adjoint solution of the step (simulate/joint_adjoint.c; docs/derivations/adjoint.md, A3). */
typedef struct {
  double now[JOINT_MAX_DOF]; /* derivatives of the scalar with respect to increments of the coordinates at t */
  double difference_old[JOINT_MAX_DOF]; /* derivatives of the scalar with respect to JointInput.difference_old */
  double aim[JOINT_MAX_DOF];            /* derivatives of the scalar with respect to JointInput.aim */
  SpringTimeWeights spring;          /* derivatives of the scalar with respect to the time weights JointInput.spring */
  double rate_before[JOINT_MAX_DOF]; /* derivatives of the scalar with respect to JointInput.rate_before */
  double damper_theta;               /* derivative of the scalar with respect to 1 - JointInput.rate_past */
  double (*target)[JOINT_MAX_DOF];   /* derivatives of the scalar with respect to increments of each drive's target;
                                        memory of the caller (size: drives) */
  double (*target_rate)[JOINT_MAX_DOF]; /* derivatives of the scalar with respect to JointDrive.target_rate; memory of
                                           the caller (size: drives) */
  double (*push)[JOINT_MAX_DOF]; /* derivatives of the scalar with respect to JointDrive.push; memory of the caller
                                    (size: drives) */
  double (*gains)[JOINT_GAIN_KINDS][JOINT_MAX_DOF]; /* derivatives of the scalar with respect to the gains of each
                                                       drive; memory of the caller (size: drives) */
} JointBars;
/* Sets all members of *out, including the arrays of the caller. lambda[dof]; if lambda is zero, all results are zero.
 */
void joint_adjoint(const JointInput* in, const double* lambda, JointBars* out);
/* Adds to out (dof x JOINT_OWN_COUNT) the derivatives of lambda . (gradient of joint_terms) with respect to the
 * parameters of the joint (A14). lambda[dof]. Derivatives with respect to limits are added for scalar coordinates
 * only. */
void joint_own_adjoint(const JointInput* in, const double* lambda, double (*out)[JOINT_OWN_COUNT]);
/* Given bar[dof], the derivatives of a scalar with respect to the increments from q_from to q_to (joint_difference):
 * adds the derivatives of the scalar with respect to increments of q_from to from_bar[dof], and of q_to to to_bar[dof].
 * q_from[coordinate_count], q_to[coordinate_count]. */
void joint_difference_adjoint(const Joint* joint, const double* q_from, const double* q_to, const double* bar,
                              double* from_bar, double* to_bar);
/* Given bar[dof], the derivatives of a scalar with respect to q moved by factor times the increments d
 * (joint_extrapolate): adds the derivatives of the scalar with respect to increments of q to q_bar[dof], and with
 * respect to d[dof] to d_bar[dof]. */
void joint_continue_adjoint(const Joint* joint, const double* d, double factor, const double* bar, double* q_bar,
                            double* d_bar);
/* Converts derivatives with respect to a joint's target into derivatives with respect to the signal of the target,
 * whose value and rate are rotation vectors. target_bar: derivatives with respect to increments of the target;
 * rate_bar: with respect to the rate in link axes. value, rate: of the signal. Sets value_bar and value_rate_bar to the
 * derivatives with respect to value and rate. All arrays (dof). */
void joint_target_adjoint(const Joint* joint, const double* value, const double* rate, const double* target_bar,
                          const double* rate_bar, double* value_bar, double* value_rate_bar);

/* Rotation vector of a rotation R [rad], with first and second derivatives with respect to three small angles. The
 * rotation is followed by rotations by these angles about its own x, y and z axis. */
typedef struct {
  double value[3];
  double first[3][3];     /* first derivatives: [component][increment] */
  double second[3][3][3]; /* second derivatives: [component][increment][increment] */
} RotationVector;
/* Returns the rotation vector of q and its derivatives; smooth for rotations below pi. q: unit quaternion; q and -q
 * give the same result. */
RotationVector rotation_vector_derivatives(Quat q);

/* Torque limit of a drive of three rotations (M8). Without the limit, the drive has an energy with gradient g and
 * Hessian H. With the limit, the gradient is scale g and the Hessian is scale H + bend stiffness g g^T. */
typedef struct {
  double limit;     /* largest torque [N m] */
  double stiffness; /* mean of the three stiffnesses of the drive [N m/rad] */
  double size;      /* magnitude of the unlimited torque [N m] */
  double now;       /* energy of the drive at t without the limit [J] */
  double scale;     /* ratio of the limited torque to the unlimited torque */
  double bend;      /* derivative of `scale` with respect to half the square of `size` [1/(N m)^2] */
  LimitedForce force;
  double displacement[3];     /* mean rotation vector to the target (M10) for no rotation since t [rad] */
  double rate_target[3];      /* target for joint_damper_slope times the rotation vector of the step [rad/s] */
  double unlimited_torque[3]; /* unlimited torque at t [N m] */
} BallTorqueLimit;
/* Returns the torque limit of a drive; scale is 1 if there is no limit or the torque is below the limit. energy: energy
 * of the drive at t + dt without the limit [J]. base: first of the three degrees of freedom. */
BallTorqueLimit ball_torque_limit(const JointInput* in, const JointDrive* drive, int base, double energy);
/* Adds the energy of a drive of three rotations to *out; if derivatives is true, also the gradient and Hessian of this
 * energy with respect to the increments. step: rotation since t. base: first of the three degrees of freedom. */
void ball_drive_terms(const JointInput* in, const JointDrive* drive, const RotationVector* step, int base,
                      bool derivatives, JointTerms* out);

/* Sets bounds->link and bounds->joint (links) [m, rad] to bounds on the motion of every link while the coordinates q
 * move by increments delta (docs/derivations/certificate.md). Any fraction of delta is covered. q[nq]; poses[links] and
 * screws[nv] at q; delta[nv]. */
void motion_bounds(const Model* model, const double* q, const Pose* poses, const Screw* screws, const double* delta,
                   MotionBounds* bounds);
/* Sets the bounds of link i: its entries of bounds->link and bounds->joint [m, rad]. The bounds of the parent of
 * link i must be set. q[nq]: coordinates; poses[links] and screws[nv] at q; delta[nv]: increments of the straight
 * path. */
void motion_bounds_of_link(const Model* model, int i, const double* q, const Pose* poses, const Screw* screws,
                           const double* delta, MotionBounds* bounds);
/* Terms of a coupling of joint coordinates. They add push times slope to the gradient and stiffness times slope slope^T
 * to the Hessian. slope[count]: derivatives of the coupling's equation with respect to the degrees of freedom
 * dof[count]. */
typedef struct {
  int count;
  const int* dof;
  const double* slope;
  double push, stiffness;
} CouplingTerms;
/* Terms of a closure (a loop of links), which add stiffness slope slope^T to the Hessian for each row. slope:
 * derivatives of the row's equation with respect to the degrees of freedom. */
typedef struct {
  int rows, count;                 /* number of rows and of columns of `slope` */
  const int* dof;                  /* degree of freedom of each column of `slope` (size: count) */
  const double *slope, *stiffness; /* derivatives of the row equations, and stiffness of each row (slope: rows x count;
                                      stiffness: rows) */
  const bool* moves;               /* true if the row of slope has a nonzero entry (size: rows) */
} RowTerms;
/* For each tree, the list of the pair terms that act on the tree: contact, closures, tendons and bushings, in this
 * order (simulate/tree_terms.c). A place is the number of a tree within the scope; the place after the last tree holds
 * the links that cannot move. */
typedef struct {
  int* first; /* index in `items` of the first item of every place (trees + 2) */
  int trees;  /* number of trees for which `first` is allocated */
  int *items,
      capacity; /* items: 2 * term + side, where side is 0 for the first link of the term and 1 for the second */
  int sorted;   /* if no term is a contact, the number of terms from which `items` was built, so that `items` can be
                   reused; otherwise -1 */
  int count[4]; /* number of terms of each of the four lists */
  ContactTerms* permanent; /* copies of all terms except contacts */
  int permanent_capacity;
} TreeTermLists;

/* Trees that are solved together: all trees of the scene or a subset (simulate/subsystems.c). The place of a tree is
 * its number in `trees`. */
typedef struct {
  bool whole;
  const int* trees; /* indices of the trees, ascending */
  const int* links; /* links of these trees, parents first; for the whole scene all links, immovable ones included */
  const int* place; /* index in `trees` of every tree of the model that is in `trees` (trees of the model) */
  const int* dof_first; /* for each place: index of the first unknown of the tree in the matrix */
  int tree_count, link_count;
} SolveScope;

/* Input for the gradient (nv) and the block Hessian of the step's energy: link terms, pair terms and joint terms. Trees
 * are processed independently, on `threads` threads. */
typedef struct {
  const Model* model;
  const SolveScope* scope;
  int threads;
  const int *tree_first, *tree_links; /* links by tree, parents first  (trees + 1, links) */
  const TreeTermLists* sides;         /* for each tree, the terms of the four lists of pair terms below */
  const Screw* screws;
  const Vec3* reference; /* centres of mass of the links, world axes [m] (size: links) */
  LinkTerms* links;      /* on entry: each link's own terms; on return: sums over the link and its descendants */
  const JointTerms* joints;
  ContactTermList contact, closures; /* link -1 in closures: the world, or no link of an open closure */
  ContactTermList tendons, bushings; /* pair terms of tendons and bushings; link -1 is the world */
  const CouplingTerms* couplings;
  int coupling_count;
  const RowTerms* rows; /* stiffness terms of the closures: stiffness times the square of the equations' derivatives */
  int rows_count;
  double stiffening;              /* factor on the stiffness of closures and couplings in the Hessian */
  const CouplingTerms* stretched; /* stiffness terms of tendons */
  int stretched_count;
  const bool* stale;        /* for each tree, true: terms and gradient must be recomputed; NULL: all trees */
  const bool* stale_blocks; /* for each place of the scope, true: the rows and columns of the tree's block of the
                               Hessian must be recomputed; NULL: all trees */
} Assembly;
/* Below TREES_PARALLEL trees, assembly by one thread is faster. TREES_GRAIN: trees per task. */
enum { TREES_PARALLEL = 128, TREES_GRAIN = 32 };
/* Sets *sides to the list of pair terms of each tree, from the four lists of pair terms of the assembly; in->sides must
 * point to the same object. The caller frees the arrays with tree_term_lists_free. Allocates only while they grow. */
void assembly_list_tree_terms(const Assembly* in, TreeTermLists* sides);
/* Frees the arrays of *sides and sets the struct to zero. Accepts a zeroed struct. */
void tree_term_lists_free(TreeTermLists* sides);
/* Returns term `index` of the four lists of pair terms, numbered consecutively. index must be below the sum of
 * sides->count. */
static inline ContactTerms assembly_term(const Assembly* in, int index) {
  int first = in->sides->count[0];
  return index < first ? in->contact.at(in->contact.holder, index) : in->sides->permanent[index - first];
}
/* Returns true if body b of a contact pair is a half-space. The pair's Hessian then has no rows for b. */
static inline bool term_has_half_space(const ContactTerms* t) {
  return t->hessian && !t->only_cross_block && !t->has_rows_of_b && t->hessian[9][9] == 0 && t->hessian[10][10] == 0 &&
         t->hessian[11][11] == 0;
}
/* Computes the gradient of the step's energy, gradient[nv] [N, N m]; if in->stale is not NULL, only the entries of
 * trees that are marked in it. Replaces in->links by sums over each link and its descendants. */
void assemble_gradient(const Assembly* in, double* gradient);
/* Sets the blocks of the solver to the Hessian; if in->stale_blocks is not NULL, only the blocks that are marked in it.
 * If curvature is false, omits the curvature of the motion (Gauss-Newton); the Hessian is then positive definite except
 * for contact. Call after assemble_gradient, which sums in->links over descendants. */
void assemble_hessian(const Assembly* in, bool curvature, BlockSolver* solver);

/* Adds the derivatives of a scalar with respect to the pose of the link, by_i (x, 1)_j for entry i, j, to bar[link].
 * by: derivative with respect to the world position of a point of the link. x: this point in the link frame. Does
 * nothing for link < 0. */
static inline void pose_bar_add_point(double (*bar)[3][4], int link, Vec3 by, Vec3 x) {
  if (link >= 0) pose_matrix_add_point(bar[link], by, x);
}

#endif
