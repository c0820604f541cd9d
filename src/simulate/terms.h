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

/* Terms of a link: energy, force, first moment sum g r^T and Hessian with respect to its twist (w, v) about its centre
 * of mass, without the curvature of the motion. */
typedef struct {
  Vec3 force;
  Mat3 moment;
  double hessian[6][6];
} LinkTerms;

/* Energy of inertia with gravity folded in (S1): factor/(2 dt^2) tr(D S D^T), D = T - Y. target: Y, an affine map.
 * weight: factor / dt^2 [1/s^2]; result in J. */
double inertia_energy(const ModelLink* link, Pose pose, Pose target, double weight);
/* Sets terms. weight = factor / dt^2. [N, N m] about the centre of mass, world axes; all zero for a link without mass.
 * The Hessian is symmetric. */
void inertia_terms(const ModelLink* link, Pose pose, Pose target, double weight, LinkTerms* terms);
/* For Phi = force and torque of the inertia . a motion dT (3x4, dT = (dR | dt)): its derivatives by the target Y,
 * -weight dT S, added to target_bar, and by the entries of S, weight dT^T (T - Y), added to moment_bar (A2). Nothing
 * for a link without mass. */
void inertia_adjoint(const ModelLink* link, Pose pose, Pose target, double weight, const double motion[3][4],
                     double target_bar[3][4], MassMoment* moment_bar);

/* Returns the rounding error of lambda . (inertial force) and of its derivatives with respect to the link's mass
 * distribution, in units of the link's size. Positions are known to an epsilon, accelerations to weight times that.
 * motion (3x4): that of lambda. 0 for a link without mass. */
double inertia_rounding(const ModelLink* link, Pose pose, double weight, const double motion[3][4]);

/* out = d S: what inertia makes of a displacement [R | t] (3x4) of a link. out may be d. */
void inertia_times(const ModelLink* link, const double d[3][4], double out[3][4]);

/* Links of a model, parents first; links NULL: all of them, count is theirs. */
typedef struct {
  const int* links;
  int count;
} LinkSpan;
/* All links of the model, none of them listed. */
static inline LinkSpan all_links(const Model* model) { return (LinkSpan){NULL, model->link_count}; }
/* Derivatives by poses (3x4, links) become force and first moment sum g r^T about every link's frame origin, summed
 * over what hangs on it. bar[links] is read; force[links] and moment[links] of the span are set, world axes. */
void bars_compose(const Model* model, LinkSpan span, const Pose* pose, double (*bar)[3][4], Vec3* force, Mat3* moment);
/* Adds the composed forces along the screws to derivatives with respect to increments (nv). screws[nv], force[links]
 * and moment[links] from bars_compose. */
void bars_reduce(const Model* model, LinkSpan span, const Pose* pose, const Screw* screws, const Vec3* force,
                 const Mat3* moment, double* reduced);

/* Value, gradient and Hessian of a joint's own energies with respect to its dof (increments of joint_increment). */
typedef struct {
  double controller, limit, damping; /* J; limit: springs too; damping: dry friction too */
  double inertia;                    /* of armatures [J] */
  bool outside;                      /* beyond a barrier limit: nothing else is set */
  double gradient[JOINT_MAX_DOF];
  double hessian[JOINT_MAX_DOF][JOINT_MAX_DOF];
  double inertia_force[JOINT_MAX_DOF]; /* sizes, resistance of limits too: what a step is solved to [N, N m] */
} JointTerms;

/* Target of a controller for a joint at t + dt (docs/derivations/drives.md). */
typedef struct {
  double target[JOINT_MAX_COORDINATE];
  double target_rate[JOINT_MAX_DOF]; /* link axes for balls */
  double position_gain[JOINT_MAX_DOF], velocity_gain[JOINT_MAX_DOF], damping_gain[JOINT_MAX_DOF];
  double max_force[JOINT_MAX_DOF]; /* 0: none; three rotations have one, the mean of theirs */
  double limit_width;              /* of their smooth corners, a part of them */
  double push[JOINT_MAX_DOF];      /* force or torque, whatever the joint does; of balls along the link's axes */
} JointDrive;

/* When springs and position gains act: at ahead q^(t+dt) + now q^t + old q^(t-1), ahead = 1 - now - old, with
 * 1 - missing times their stiffness (M10). All zero: at t + dt, in full. Without unit. */
typedef struct {
  double now, old, missing;
} SpringTime;
/* Share of q^(t+dt). */
static inline double spring_ahead(const SpringTime* at) { return 1 - at->now - at->old; }
/* Returns the sum of the products of the members. */
static inline double spring_time_dot(const SpringTime* a, const SpringTime* b) {
  return a->now * b->now + a->old * b->old + a->missing * b->missing;
}

/* A plain coordinate in a short substep of an impact at its limit (impact.md, I15). Zeroed: there is none. */
typedef struct {
  bool strikes, bounces; /* bounces: the substep reverses its speed; its barrier does not act in either */
  double sign;           /* 1: away from the lower limit, -1: from the upper one */
  double aim;            /* what q - q^t is to be at least, in the direction of sign [m, rad] */
  double by_difference, by_restitution; /* its derivatives by difference_old and by limit_restitution */
  double stiffness;                     /* of the spring that holds it there [N/m, N m/rad] */
  double slack;                         /* way beyond the aim over which the spring still acts [m, rad] */
} JointStop;

typedef struct {
  const ModelLink* link;
  const double *q, *q_now, *difference_old; /* coordinates; those at t; q^t - q^{t-1} (dof) */
  const JointDrive* drives;
  int drive_count;
  double dt; /* that velocity gains are quoted for [s] */
  StepWeights weights;
  const double* aim;     /* what inertia alone would make of q - q^t (dof); NULL: no armature in the model */
  double inertia_weight; /* factor / dt^2 [1/s^2] */
  SpringTime spring;     /* of plain coordinates; three rotations have theirs at t + dt */
  const JointStop* stop; /* impacts at limits (dof); NULL: there are none */
} JointInput;
/* Returns true if the plain coordinate k is in an impact at its limit. */
static inline bool joint_strikes(const JointInput* in, int k) {
  return in->stop && in->stop[k].strikes && in->link->limited[k];
}
/* The plain coordinate k that springs and position gains act at [m, rad]. */
static inline double joint_spring_position(const JointInput* in, int k) {
  const SpringTime* at = &in->spring;
  return spring_ahead(at) * in->q[k] + at->now * in->q_now[k] + at->old * (in->q_now[k] - in->difference_old[k]);
}

/* Limits of a coordinate or of a tendon's length (S6, S7, S22). */
typedef struct {
  LimitLaw law;
  double lower, upper; /* m or rad; infinite: none */
  double stiffness;    /* barrier: J; penalty: N/m or N m/rad */
  double margin;       /* m or rad */
  double restitution;  /* 0 ... 1 */
} Limits;
/* A scalar law with its derivatives. */
typedef struct {
  double value, first, second;
} LimitEnergy;
/* Sets the energy of both limits at x [J]. False: x is beyond a barrier; *sum is zero. (simulate/joint_terms.c) */
bool limits_energy(const Limits* limits, double x, LimitEnergy* sum);
/* Resistance to leaving a limit (S22): takes all but the square of the restitution of what the limit gives back. */
typedef struct {
  double value;           /* J */
  double first;           /* derivative with respect to the coordinate [N, N m] */
  double by_rate, by_now; /* slopes of that by the rate and by the coordinate at t */
} StopTerms;
/* now: coordinate at t; rate: that of the step [m/s, rad/s], whose slope by the coordinate is rate_now [1/s]. Zeros
 * away from the limits. */
StopTerms limits_resistance(const Limits* limits, double now, double rate, double rate_now);
/* Derivatives of the force of a plain coordinate's limits by the limits and by limit_restitution. */
typedef struct {
  double lower, upper, restitution;
} LimitSlopes;
LimitSlopes joint_limit_slopes(const JointInput* in, int k, double rate);
/* k: plain coordinate; rate [m/s, rad/s]. Zeros away from the limits. */
StopTerms joint_stop(const JointInput* in, int k, double rate);
/* Terms of one plain coordinate at this rate (simulate/joint_passive.c). */
typedef struct {
  double spring, friction, inertia; /* J */
  double gradient, hessian, inertia_force;
} PassiveTerms;
/* k: plain coordinate of the joint; rate [m/s, rad/s]. Zeros where the joint has none of the three. */
PassiveTerms joint_passive(const JointInput* in, int k, double rate);
/* Dry friction of three rotations, the mean of theirs [N m]. base: first of the three degrees of freedom. */
double joint_ball_friction(const ModelLink* link, int base);
/* d friction / d rate [N s/m, N m s/rad]. rate [m/s, rad/s]; 0 without friction. */
double joint_friction_slope(const ModelLink* link, int k, double rate);
/* Static friction of one plain coordinate, less its dry friction (M11). */
typedef struct {
  double work;         /* integral of the force over the rate [W] */
  double force, slope; /* N or N m, and its derivative by the rate */
  double by_static;    /* derivative of the force by static_friction; by friction it is the negative */
} StaticFriction;
/* rate [m/s, rad/s]; zeros without static friction. */
StaticFriction joint_static_friction(const ModelLink* link, int k, double rate);
/* Returns q - q^t by inertia alone, in m or rad. d1, d2: displacements of the last step and of the one before [m, rad];
 * dt [s]; start: initial rate [m/s, rad/s]. */
double armature_aim(const StepWeights* weights, double dt, double d1, double d2, double start);

/* false: outside a barrier limit. derivatives = false: energies only. Energies are set either way; gradient and
 * Hessian, with derivatives, by increments of the joint (dof, dof x dof). */
bool joint_terms(const JointInput* in, bool derivatives, JointTerms* out);

/* Gain k of the energy k/2 |rate error|^2, the force of which is rate_now k (rate error): velocity_gain / dt in the
 * scheme of first order, and damping_gain (M1). */
static inline double joint_rate_gain(const JointInput* in, const JointDrive* drive, int dof) {
  return drive->velocity_gain[dof] / (in->dt * in->weights.rate_now) + drive->damping_gain[dof] / in->weights.rate_now;
}

/* Gains of a drive, as they follow one another in controller_gain. */
enum { JOINT_POSITION, JOINT_VELOCITY, JOINT_DAMPING_GAIN, JOINT_MAX_FORCE, JOINT_GAIN_KINDS };

/* Derivatives of lambda . (gradient of joint_terms) (simulate/joint_adjoint.c; docs/derivations/adjoint.md, A3). */
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
/* The same by what the joint has for each of its degrees of freedom (dof), added (A14). lambda[dof]. out is (dof x
 * JOINT_OWN_COUNT); limits of plain coordinates alone. */
void joint_own_adjoint(const JointInput* in, const double* lambda, double (*out)[JOINT_OWN_COUNT]);
/* For a scalar with derivative bar by joint_difference(q_from, q_to): adds its derivatives by increments of both. bar,
 * from_bar[dof], to_bar[dof]; q_from[coordinate_count], q_to[coordinate_count]. */
void joint_difference_adjoint(const Joint* joint, const double* q_from, const double* q_to, const double* bar,
                              double* from_bar, double* to_bar);
/* For a scalar with derivative bar by increments of joint_continue(q, d, factor): adds those by increments of q and by
 * d. bar[dof], d[dof], q_bar[dof], d_bar[dof]. */
void joint_continue_adjoint(const Joint* joint, const double* d, double factor, const double* bar, double* q_bar,
                            double* d_bar);
/* From increments of a target and its rate in link axes to the signal's value and rate (rotation vectors). All arrays
 * (dof); value_bar and value_rate_bar are set, not added to. */
void joint_target_adjoint(const Joint* joint, const double* value, const double* rate, const double* target_bar,
                          const double* rate_bar, double* value_bar, double* value_rate_bar);

/* Rotation vector of q with its first and second derivatives in the increments R Rx(d1) Ry(d2) Rz(d3) at d = 0. */
typedef struct {
  double value[3];
  double first[3][3];     /* [component][increment] */
  double second[3][3][3]; /* [component][increment][increment] */
} RotationVector;
/* q: unit, either sign. Value in rad; smooth below a turn by pi. */
RotationVector rotation_vector_derivatives(Quat q);

/* A drive of three rotations that wants a torque of size u about its rotation at t and has a limit (M8): its energy E
 * becomes one with `scale` times its gradient g, and scale times its Hessian plus bend stiffness g g^T. */
typedef struct {
  double limit;     /* M [N m] */
  double stiffness; /* K, mean of the three [N m/rad] */
  double size;      /* u [N m] */
  double now;       /* E at t [J] */
  double scale;     /* S(u / M) M / u */
  double bend;      /* d scale / d(u^2 / 2) [1/(N m)^2] */
  LimitedForce force;
  double way[3];  /* from the rotation at t to the target, in the axes of the first [rad] */
  double goal[3]; /* what the rate, scaled to steps, is to be [rad/s] */
  double wish[3]; /* the torque that is wanted at t [N m] */
} BallLimit;
/* energy: E. base: first of the three degrees of freedom. scale is 1 where the limit is not reached, or there is
 * none. */
BallLimit ball_limit_of(const JointInput* in, const JointDrive* drive, int base, double energy);
/* E with gradient and Hessian by the increments, added to out; step: the rotation since t. derivatives = false: the
 * energy alone. */
void ball_drive_terms(const JointInput* in, const JointDrive* drive, const RotationVector* step, int base,
                      bool derivatives, JointTerms* out);

/* Bounds on the motion of every link along q (+) alpha delta, alpha in [0, 1] (docs/derivations/certificate.md). q
 * (nq), poses[links], screws[nv] and delta[nv]; sets bounds->link and bounds->joint (links) [m, rad]. */
void motion_bounds(const Model* model, const double* q, const Pose* poses, const Screw* screws, const double* delta,
                   MotionBounds* bounds);
/* The same of link i alone, of the same arrays (q[nq], poses[links], screws[nv] and delta[nv]); its parent has them.
 * Sets entry i of both arrays. */
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
  int rows, count;                 /* of slope */
  const int* dof;                  /* (count) */
  const double *slope, *stiffness; /* (rows x count), (rows) */
  const bool* moves;               /* slope has an entry (rows) */
} RowTerms;
/* Which terms of pairs act on which tree, in the order of the terms: those of contact, of closures, of tendons, of
 * bushings. Behind the trees stand the links that cannot move (simulate/term_sides.c). */
typedef struct {
  int* first;           /* by place (trees + 2) */
  int trees;            /* that there is room for */
  int *items, capacity; /* 2 * term + side */
  int sorted;           /* terms that items stand for, when none of them is of contact: these stay for long; else -1 */
  int count[4];         /* terms of each list */
  ContactTerms* standing; /* all but those of contact */
  int standing_capacity;
} TermSides;

/* Trees that are solved together: the whole scene, or some trees of it (simulate/parts.c). Places are numbers within
 * it. */
typedef struct {
  bool whole;
  const int* trees;     /* ascending */
  const int* links;     /* theirs, parents first; of the whole scene all links, those that cannot move too */
  const int* place;     /* of every tree of it, in `trees`  (trees of the model) */
  const int* dof_first; /* of every one of `trees`: where its unknowns begin in the matrix */
  int tree_count, link_count;
} SolveScope;

/* Gradient (nv) and block Hessian from link terms, contact pairs and joint terms. Trees are looked at each by itself,
 * on so many threads. */
typedef struct {
  const Model* model;
  const SolveScope* scope;
  int threads;
  const int *tree_first, *tree_links; /* links by tree, parents first  (trees + 1, links) */
  const TermSides* sides;             /* of the four lists below */
  const Screw* screws;
  const Vec3* reference; /* world centres of mass */
  LinkTerms* links;      /* own terms on entry; composite on return */
  const JointTerms* joints;
  ContactTermList contact, closures; /* link -1 in closures: the world, or nothing at all */
  ContactTermList tendons, bushings; /* alike */
  const CouplingTerms* couplings;
  int coupling_count;
  const RowTerms* rows; /* of closures */
  int rows_count;
  double stiffening;              /* of rows and couplings: so many times their stiffness stands in the Hessian */
  const CouplingTerms* stretched; /* of tendons, alike */
  int stretched_count;
  const bool* stale;        /* trees whose terms and gradient are to be found, the others have theirs; NULL: all */
  const bool* stale_blocks; /* the same of the Hessian's rows and columns, by place */
} Assembly;
/* Fewer trees than this are not worth waking other threads for. */
enum { TREES_PARALLEL = 128, TREES_GRAIN = 32 };
/* Sets `sides`, which the caller frees with sides_free, from the assembly's lists; assembly.sides must be the same.
 * Allocates only when it has to grow. */
void assembly_find_sides(const Assembly* in, TermSides* sides);
/* Frees and zeroes it; a zeroed one is accepted. */
void sides_free(TermSides* sides);
/* The term with this number in the four lists. index: below the sum of sides->count. */
static inline ContactTerms assembly_term(const Assembly* in, int index) {
  int first = in->sides->count[0];
  return index < first ? in->contact.at(in->contact.holder, index) : in->sides->standing[index - first];
}
/* Returns true if b of a contact pair is a half-space. Its Hessian then has no rows for b. */
static inline bool term_of_half_space(const ContactTerms* t) {
  return t->hessian && !t->across && t->hessian[9][9] == 0 && t->hessian[10][10] == 0 && t->hessian[11][11] == 0;
}
/* gradient[nv] [N, N m]: set, of stale trees alone where `stale` is given. links become composite. */
void assemble_gradient(const Assembly* in, double* gradient);
/* curvature = false leaves out the curvature of the motion (Gauss-Newton): positive definite but for contact. Blocks of
 * the solver are set, of stale trees alone where `stale_blocks` is given; after assemble_gradient, which has made links
 * composite. */
void assemble_hessian(const Assembly* in, bool curvature, BlockSolver* solver);

#endif
