/* Private to contact/: friction of one pair in the plane of contact (SDRS Eq. 8-13; docs/derivations/friction.md).
 *   D = mu dt sum_m weight_m sqrt(|r_m|^2 + eps),  U_f = min over (u, omega) of D                               (F1)
 *   r_m = Pi [ v_m - omega n^ x (x_m^t - c) - u ],  weight_m = A(|P'(c_m^t)| |n^t|)                             (F2)
 * D: friction energy of the step. The index m counts the contact points; r_m is the slip velocity of point m, weight_m
 * its normal force. Plane, weights and positions x^t are those at the start of the step, time t. Pi: projection onto
 * the plane with the unit normal n^. c: weighted mean of the points; c_m: clearance of point m; P': derivative of the
 * barrier; A: smooth absolute value. v_m: velocity of the contact point x_m in the plane. u, omega: common slip
 * velocity and spin of the pair. mu: friction coefficient, eps: smoothing. All values are for stiffness
 * 1. */
#ifndef SDRS_CONTACT_FRICTION_H
#define SDRS_CONTACT_FRICTION_H

#include "contact/plane.h"
#include "contact/ring_drift.h"
#include "contact/step.h"

/* Friction of a contact point is proportional to the smoothed normal force A(f) = sqrt(f^2 + d^2) - d instead of the
 * normal force f. The smoothing is d = FRICTION_WEIGHT_FLOOR / s^2 with the support s (contact range of a vertex). It
 * is proportional to 1 / s^2, like the force of the barrier, which is 288 / s^2 at half the range. The paper uses the
 * smoothing of friction, a speed, for d. */
#define FRICTION_WEIGHT_FLOOR 1e-10

/* Slip velocity r of a contact point in one state. dual: vector z with |z| <= 1. It replaces r / rho in the Hessian of
 * friction, with rho = sqrt(|r|^2 + eps) and the smoothing eps of friction (F5). */
typedef struct {
  double slip[2]; /* slip r [m/s] */
  double dual[2];
} SlipState;

/* A contact point at which friction acts. It is a vertex, or a point of a ball or circle. */
typedef struct {
  Vec3 local; /* position in the link's frame [m]; for balls and circles their centre, where `arm` starts (F13) */
  Vec3 arm;   /* from `local` to the contact point at t, world axes [m]; zero for a vertex */
  double position[2]; /* position at t minus FrictionLag.center, in the tangent basis [m]; for direction-dependent
                         friction between two hulls multiplied by the adjugate matrix of S (FrictionDirection, F11) */
  double scaled[2];   /* `position` divided by FrictionLag.length */
  double height;      /* component of the position at t minus FrictionLag.center along the normal [m] */
  double weight;      /* normal force at the point for stiffness 1 [1/m^2] */
  double radius;      /* radius of the point's circle [m]; 0 for a vertex or ball */
  int vertex;         /* index of the vertex in its hull */
  double velocity[2]; /* workspace: present velocity of the point in the contact plane [m/s] */
  SlipState at[2];    /* slip in the two stored states of the pair (FrictionParameters.state) */
} FrictionVertex;

/* Friction that depends on the direction of slip (F11). The friction axis d is fixed in a body, and n is the contact
 * normal. The tangents of the contact plane are multiplied by the matrix S = P + (ratio - 1) p p^T. P = I - n n^T
 * projects onto the contact plane, and p = P d is the projected axis at t. */
typedef struct {
  double ratio; /* friction along the axis divided by friction across it */
  Vec3 axis;    /* friction axis, a unit vector in the frame of body `side` */
  int side;
} FrictionDirection;

/* State of a pair at t from which friction of the step is computed, called the friction reference. `vertices` contains
 * the contact points of body a before the contact points of body b. */
typedef struct {
  Vec3 center; /* c: weighted centroid of the contact points of the sides that friction_centers selects [m] */
  /* Right-handed basis: two unit tangents of the contact plane at t, and its unit normal. With direction-dependent
   * friction, e1 and e2 are the matrix S (FrictionDirection) times the tangents. */
  Vec3 e1, e2, normal;
  bool directed; /* true for friction that depends on the direction: direction, axis and basis are set */
  FrictionDirection direction;
  Vec3 axis, basis[2]; /* friction axis d, and the tangents before their multiplication by S, world axes */
  int count[2];
  FrictionVertex* vertices; /* contact points of body a, then of body b, borrowed (count[0] + count[1]) */
  Pose start[2];            /* poses of both bodies at t */
  Mat3 aim[2];              /* rotations that the bodies are expected to have at t + dt; may be affine (F13) */
  Vec3 roll[2];             /* rotation vectors from the rotations of the bodies at t to the rotations `aim` [rad] */
  bool aimed;               /* true if `aim` are expected rotations; false if they are the rotations at t */
  RollShift shift[2];       /* shifts of the lever arms of both bodies; zero unless `shifted` (F15) */
  bool shifted[2];          /* true if the body has balls or circles and its expected rotation is known */
  Vec3 mean_arm[2]; /* mean of FrictionVertex.arm over the contact points of a body, weighted by their normal forces
                       (F13) [m]; zero for vertices */
  Vec3 arm[2];      /* part of `mean_arm` that does not rotate with the body (F13) [m] */
  double mean_radius[2];  /* mean of FrictionVertex.radius, weighted in the same way [m] */
  Vec3 drift[2];          /* RingDrift.displacement of both bodies (F17) */
  double drift_weight[2]; /* RingDrift.weight of both bodies; 0 without a displacement */
  Vec3 from[2]; /* positions at t of those points of both bodies that lie at `center` in the friction reference [m].
                   They differ from `center` only if the normal force of the same step limits friction */
  double ground_weight; /* normal force of the single contact point of a half-space, which is body b and has no spin */
  SlipState ground_at[2];
  bool half_space;
  Vec3 elastic;     /* elastic slip a of the pair at t (F16) [m/s], added to the velocity of the points of body a */
  double offset[2]; /* components elastic . e1 and elastic . e2 of the elastic slip in the contact plane [m/s] */
  int order; /* number of unknowns of the slip: 3, or 2 if the spin is fixed at zero (half-space, or one contact point)
              */
  double slip[3]; /* common slip velocity u1, u2 along e1 and e2 [m/s], and spin omega times `length` [m/s]; start of
                     the next minimisation */
  double length;  /* length that makes the spin omega a speed: root mean square distance of the contact points from
                     `center` [m], > 0 */
  double total_weight;
} FrictionLag;

/* Returns true if the contact points of the body `side` (0 or 1) contribute to the centroid FrictionLag.center. Usually
 * the points of both bodies
 * contribute. If only one body has balls or circles, only its points contribute, so that friction acts at the surface
 * of this body (F13). */
bool friction_centers(const FrictionLag* lag, const HullInstance* a, const HullInstance* b, int side);

/* Returns the unit axis of the circles of a hull, world axes, or zero if the hull has no circles. */
Vec3 friction_ring_axis(const HullInstance* h);

/* Returns the weight of FrictionLag.mean_arm in FrictionLag.arm (F13). It is the weight of the lever arm of the circles
 * (spin.md, W21). For balls it is the squared sine of the angle between axis and normal. cosine: axis
 * of the circles . normal. support: range of the contact force [m]. */
RingArmWeight friction_mean_arm_weight(const HullInstance* hull, double cosine, double support);

/* Returns the displacement (F17) of the body of `side`; RingDrift.acts is false without expected poses. hull: this body
 * at t. support: range of the contact force [m]. Call after `aim`, `roll` and `normal` of *lag are set. */
RingDrift friction_ring_drift(const FrictionLag* lag, int side, const HullInstance* hull, double support);

/* Rotation of a body from its expected rotation `aim` to its present rotation R (F13). */
typedef struct {
  Mat3 turn;   /* rotation R aim^T from the expected to the present rotation */
  Vec3 change; /* half of the axial part of `turn` [rad] */
} FrictionRoll;
/* Returns the rotation of the body of `side` from its expected rotation to its rotation at `pose`. */
FrictionRoll friction_roll(const FrictionLag* lag, int side, const Pose* pose);

/* Motion of a hull from t to a pose (F2, F13). Let c be FrictionLag.center, and arm be FrictionLag.arm of the hull. The
 * motion is the sum of three motions: the displacement of the hull's point at c - arm, the rotation of the arm, and the
 * rotation about the contact normal. The last rotation is measured by the sine of its
 * angle. If two hulls without arms move as one rigid body, their motions are equal at every vertex. */
typedef struct {
  Mat3 rotation;     /* rotation R R_t^T of the hull since t */
  Vec3 sine;         /* axial vector of the antisymmetric part of `rotation`: sin(angle) times the axis */
  Vec3 center;       /* present position of the body's point at c - arm [m] */
  Vec3 displacement; /* displacement of c [m]: the displacement of `center` plus the displacement of the arm's end
                        relative to `center` */
  FrictionRoll roll; /* rotation from the expected rotation; set if `rolls` is true */
  bool rolls;        /* true if the arm is not zero */
  double spin;       /* rotation about the normal n: n . sine */
} FrictionMotion;
/* Returns the motion of the body of `side` from t to `pose`. */
FrictionMotion friction_motion(const FrictionLag* lag, int side, const Pose* pose);
/* Adds the elastic slip a of the pair at t to the slip of the points of body a (F16) [m/s]. Before the call, a is 0. */
void friction_set_elastic(FrictionLag* lag, Vec3 elastic);
/* Returns the displacement of body a relative to body b at FrictionLag.center, from t to the poses pose_a and pose_b
 * [m]. Undefined if the normal force of the same step limits friction. */
Vec3 friction_displacement(const FrictionLag* lag, const Pose* pose_a, const Pose* pose_b);
/* axial(M) is the axial vector of the matrix M (mat3_axial). Returns the derivative of x . axial(M) / 2 with respect to
 * a small rotation vector w that changes M to exp(w) M. It is (tr(M) x - M^T x) / 2. */
Vec3 friction_axial_by_rotation(Mat3 m, Vec3 x);

/* Adds a force and a torque to wrench[6], the torque before the force. */
static inline void friction_add_wrench(Vec3 force, Vec3 torque, double wrench[6]) {
  const double x[6] = {torque.x, torque.y, torque.z, force.x, force.y, force.z};
  for (int i = 0; i < 6; i++) wrench[i] += x[i];
}

/* Returns the displacement of the end of an arm by the rotation of its body [m]. It is lag->roll[side] x arm, plus the
 * displacement of the arm's end by the small rotation roll->change (roll_rows; F13, F15), plus the displacement of the
 * contact point round the body. radius: radius of the point's circle, or lag->mean_radius [m]. Without shift and drift,
 * the result is bit-identical to (roll + change) x arm. */
static inline Vec3 friction_arm_displacement(const FrictionLag* lag, int side, Vec3 arm, double radius,
                                             const FrictionRoll* roll) {
  RollRows rows = roll_rows(&lag->shift[side], arm);
  Vec3 turned = vec3_cross(vec3_add(lag->roll[side], roll->change), arm);
  Vec3 moved = vec3_add(turned, vec3_cross(roll->change, lag->shift[side].lever));
  moved = vec3_add_scaled(moved, vec3_dot(roll->change, rows.axis), rows.extra);
  return vec3_add_scaled(moved, 0.5 * radius * lag->drift_weight[side], lag->drift[side]);
}

/* Returns an upper bound on the number of contact points that friction_lag stores. It is the number of vertices with a
 * clearance below slightly more than `support` [m], plus the friction points of circles. A half-space has no points. */
int friction_count(const HullInstance* a, const HullInstance* b, double support, const Plane* plane);
/* Sets *lag to the friction reference of the pair in its present state. vertices: memory for friction_count points (not
 * checked), which the lag borrows. support: s [m]. begin: poses of both bodies from which slip is measured; NULL means
 * the present poses. aim: expected poses of both bodies at t + dt, of which only the rotations are used; NULL means the
 * present poses. aim is ignored if `begin` is given. shift: shifts of both bodies (step.h), zero if NULL; ignored
 * without expected poses. direction: direction-dependent friction, or NULL for isotropic friction. */
void friction_lag(const HullInstance* a, const HullInstance* b, double support, const Plane* plane, const Pose* begin,
                  const Pose* const aim[2], const RollShift* const shift[2], const FrictionDirection* direction,
                  FrictionVertex* vertices, FrictionLag* lag);

typedef struct {
  double coefficient; /* Coulomb coefficient */
  double smoothing;   /* smoothing eps of friction [(m/s)^2] */
  double dt;          /* length of the step [s] */
  int state;          /* index (0 or 1) in FrictionVertex.at of the state that is evaluated */
  bool follow; /* true if SlipState.dual is computed from the other state (F5). Otherwise it is the slip r divided by
                  sqrt(|r|^2 + eps), and the Hessian is exact */
} FrictionParameters;

/* Sets *energy to the friction energy for stiffness 1 [J], or to 0 for a pair without a normal force. The energy at
 * zero slip, mu dt sum weight sqrt(eps), is omitted, so that energy differences lose no digits (F4). Sets lag->slip to
 * the slip that minimises the energy, from which the next call starts. Returns the number of Newton iterations, or -1
 * if the minimum over the slip was not
 * found. */
int friction_value(FrictionLag* lag, const FrictionParameters* parameters, const Pose* pose_a, const Pose* pose_b,
                   double* energy);
/* Prepares friction_derivatives for a recorded state. lag->slip is the slip that minimises the friction energy in this
 * state. Changes lag->slip only by rounding, and computes no energy. Returns the number of Newton iterations, or -1 if
 * the minimum over the slip was not found. */
int friction_recall(FrictionLag* lag, const FrictionParameters* parameters, const Pose* pose_a, const Pose* pose_b);
/* Adds the derivatives of the friction energy with respect to the twists of both bodies to *out. The twists are about
 * the reference points. pose_a, pose_b: poses of the last friction_value. *out may already contain derivatives of the
 * contact energy. Does nothing for a pair without a normal force. Undefined after friction_value has failed. */
void friction_derivatives(FrictionLag* lag, const FrictionParameters* parameters, const Pose* pose_a,
                          const Pose* pose_b, Vec3 reference_a, Vec3 reference_b, PairDerivatives* out);
/* Sets *energy as friction_value does, and then adds the derivatives of the friction energy to *out as
 * friction_derivatives does. Returns the result of friction_value. If the result is -1, *out is unchanged. */
int friction_evaluate(FrictionLag* lag, const FrictionParameters* parameters, const Pose* pose_a, const Pose* pose_b,
                      Vec3 reference_a, Vec3 reference_b, PairDerivatives* out, double* energy);
/* Copies the slip of all contact points from state 1 - `to` to state `to`. Both numbers are indices into
 * FrictionVertex.at. */
void friction_keep(FrictionLag* lag, int to);
#endif
