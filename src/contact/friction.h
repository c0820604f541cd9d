/* Private to contact/: lagged plane friction of one pair (SDRS Eq. 8-13; docs/derivations/friction.md).
 *   D = mu dt sum_m weight_m sqrt(|r_m|^2 + eps),  U_f = min over (u, omega) of D                               (F1)
 *   r_m = Pi [ v_m - omega n^ x (x_m^t - c) - u ],  weight_m = A(|P'(c_m^t)| |n^t|)                             (F2)
 * with plane, weights and positions x^t at time t, the start of the step; v_m is the velocity of the body's point x_m
 * in the plane. All quantities are for stiffness 1. */
#ifndef SDRS_CONTACT_FRICTION_H
#define SDRS_CONTACT_FRICTION_H

#include "contact/plane.h"
#include "contact/step.h"

/* The weight is A(f) = sqrt(f^2 + d^2) - d with the smoothing d = FRICTION_WEIGHT_FLOOR / s^2. d scales like the force
 * of the barrier, whose |P'| is 288 / s^2 at mid range. The paper uses the smoothing of friction, a speed, for d. */
#define FRICTION_WEIGHT_FLOOR 1e-10

/* Slip r of a contact point in one state, and the vector z with |z| <= 1 that replaces r / rho in the Hessian (F5). */
typedef struct {
  double slip[2]; /* m/s */
  double dual[2];
} SlipState;

/* A contact point of the friction reference. It is a vertex, or a friction point of a ball or circle. */
typedef struct {
  Vec3 local; /* position in the link's frame [m]; for balls and circles their centre, from which `arm` starts (F13) */
  Vec3 arm;   /* from `local` to the contact point at t, world axes [m]; zero for a vertex */
  double position[2]; /* x^t - c in the tangent basis [m]; for directed friction between two hulls multiplied by adj(S)
                         (F11) */
  double scaled[2];   /* position / FrictionLag.length */
  double height;      /* x^t - c along the normal [m] */
  double weight;      /* normal force for stiffness 1 */
  int vertex;         /* index of the vertex in its hull */
  double velocity[2]; /* workspace: present velocity of the point in the contact plane [m/s] */
  SlipState at[2];    /* slip in state 0 and 1 (FrictionParameters.state) */
} FrictionVertex;

/* Direction-dependent friction (F11). The friction axis d is fixed in a body. With P = I - n n^T and p = P d at t,
 * tangents are multiplied by S = P + (ratio - 1) p p^T. */
typedef struct {
  double ratio; /* friction along the axis divided by friction across it */
  Vec3 axis;    /* unit, in the frame of body `side` */
  int side;
} FrictionDirection;

/* Friction reference of a pair: the state of the pair at t. `vertices` contains the contact points of body a before
 * those of body b. */
typedef struct {
  Vec3 center; /* c: centroid of the contact points of the sides selected by friction_centers, weighted by their weights
                  [m] */
  /* Right-handed tangent basis with normal = n^t / |n^t|. With directed friction, e1 and e2 are S times the
   * tangents. */
  Vec3 e1, e2, normal;
  bool directed; /* directed friction: direction, axis and basis are set */
  FrictionDirection direction;
  Vec3 axis, basis[2]; /* axis d, and the tangents before S, world axes */
  int count[2];
  FrictionVertex* vertices; /* (count[0] + count[1]), borrowed */
  Pose then[2];             /* poses of both bodies at t */
  Mat3 aim[2];              /* rotations that the bodies are expected to have at t + dt; may be affine (F13) */
  Vec3 roll[2];             /* rotation vectors from t to `aim` [rad] */
  bool aimed;               /* true if `aim` are expected rotations; false if they are the rotations at t */
  RollShift shift[2];       /* zero unless shifted (F15) */
  bool shifted[2];          /* true if the body has balls or circles and its expected rotation is known */
  Vec3 mean_arm[2];         /* weighted mean of the arms of a side's points (F13) [m]; zero for vertices */
  Vec3 arm[2];              /* part of mean_arm that does not rotate with the body (F13) [m] */
  Vec3 from[2]; /* positions at t of the points of both bodies that are at c [m]; they differ from c only if friction
                   depends on the force of the same step */
  double ground_weight; /* weight of the single term of a half-space b, whose spin omega is 0 */
  SlipState ground_at[2];
  bool half_space;
  int order; /* number of unknowns of the slip: 3, or 2 if the spin is fixed at zero (half-space, or one contact point)
              */
  double slip[3]; /* u1, u2 [m/s] and omega * length [m/s]; the next minimisation starts from this slip */
  double length;  /* scale of omega: rms distance of the vertices from c [m], > 0 */
  double total_weight;
} FrictionLag;

/* Returns true if the contact points of `side` contribute to the centroid c. If one body has balls or circles and the
 * other has none, only the contact points of the round body contribute, so that friction acts at the surface of this
 * body (F13). Otherwise the points of both bodies contribute. Cannot fail. */
bool friction_centers(const FrictionLag* lag, const HullInstance* a, const HullInstance* b, int side);

/* Returns the unit axis of the circles of a hull, world axes. Returns zero if the hull has no circles. Cannot fail. */
Vec3 friction_ring_axis(const HullInstance* h);

/* Rotation of a body from its expected rotation `aim` to its present rotation R (F13). */
typedef struct {
  Mat3 turn;   /* R aim^T */
  Vec3 change; /* half of the axial part of `turn` [rad] */
} FrictionRoll;
/* Returns the rotation of the body of `side` from its expected rotation to its rotation at `pose`. Cannot fail. */
FrictionRoll friction_roll(const FrictionLag* lag, int side, const Pose* pose);

/* Motion of a hull from t to a pose (F2, F13). It consists of the displacement of the hull's point at c - arm, of the
 * rotation of the arm by the angle of `roll`, and of the rotation about the normal by the sine of the angle. If two
 * hulls without arms move as one rigid body, their motions are equal at every vertex. */
typedef struct {
  Mat3 rotation;     /* R R_t^T */
  Vec3 sine;         /* axial vector of the antisymmetric part of `rotation`: sin(angle) times the axis */
  Vec3 center;       /* present position of the body's point at c - arm [m] */
  Vec3 displacement; /* displacement of c: the displacement of `center` plus the displacement of the arm's end relative
                        to `center` [m] */
  FrictionRoll roll; /* set if `rolls` */
  bool rolls;        /* the arm is not zero */
  double spin;       /* n . sine */
} FrictionMotion;
/* Returns the motion of the body of `side` from t to `pose`. Cannot fail, allocates nothing. */
FrictionMotion friction_motion(const FrictionLag* lag, int side, const Pose* pose);
/* Slip between the points of both bodies at c, in the contact plane, over the step from t to given poses (F12). */
typedef struct {
  bool known;    /* true if friction acted in that step; also true, with zero slip, at the start of a run */
  double square; /* squared slip [(m/s)^2] */
  Vec3 by; /* derivative of `square` with respect to point[0]; the derivative with respect to point[1] is its negative
              [m/s^2] */
  Vec3 point[2]; /* positions of both points [m] */
  double dt;     /* length of the step [s] */
} FrictionSlip;
/* Returns the slip over a step of length dt [s] from t to the poses pose_a and pose_b. Undefined if friction depends on
 * the force of the same step. Cannot fail, allocates nothing. */
FrictionSlip friction_slip(const FrictionLag* lag, const Pose* pose_a, const Pose* pose_b, double dt);
/* Returns the derivative of the spin about `normal` with respect to a rotation vector of the body, (tr(R) n - R^T n) /
 * 2. */
Vec3 friction_spin_by_rotation(const FrictionMotion* motion, Vec3 normal);

/* Returns the displacement of the end of an arm by the rotation of its body [m]: roll x arm plus the displacement of
 * roll_rows for roll->change (F13, F15). Without a shift, the result is bit-identical to (roll + change) x arm. */
static inline Vec3 friction_arm_displacement(const FrictionLag* lag, int side, Vec3 arm, const FrictionRoll* roll) {
  RollRows rows = roll_rows(&lag->shift[side], arm);
  Vec3 turned = vec3_cross(vec3_add(lag->roll[side], roll->change), arm);
  Vec3 moved = vec3_add(turned, vec3_cross(roll->change, lag->shift[side].lever));
  return vec3_add_scaled(moved, vec3_dot(roll->change, rows.axis), rows.extra);
}

/* Returns an upper bound of the number of contact points that friction_lag stores. The bound is the number of vertices
 * of both hulls with a clearance below slightly more than `support` [m], plus the friction points of their circles. A
 * half-space has no points. Cannot fail, allocates nothing. */
int friction_count(const HullInstance* a, const HullInstance* b, double support, const Plane* plane);
/* Sets *lag to the friction reference of the pair in its present state. vertices: memory for friction_count points (not
 * checked), which the lag borrows. support: s [m]. begin: poses of both bodies from which slip is measured. aim:
 * expected poses of both bodies at t + dt, of which only the rotations are used; ignored if `begin` is given. If begin
 * or aim is NULL, the present poses replace it. shift: shifts of both bodies (step.h), zero if NULL; ignored
 * without expected poses. direction: direction-dependent friction; if NULL, friction is isotropic. Cannot fail,
 * allocates nothing. */
void friction_lag(const HullInstance* a, const HullInstance* b, double support, const Plane* plane, const Pose* begin,
                  const Pose* const aim[2], const RollShift* const shift[2], const FrictionDirection* direction,
                  FrictionVertex* vertices, FrictionLag* lag);

typedef struct {
  double coefficient; /* Coulomb */
  double smoothing;   /* eps [(m/s)^2] */
  double dt;          /* s */
  int state;          /* index (0 or 1) in FrictionVertex.at of the state that is evaluated */
  bool follow;        /* true: z is computed from the other state (F5); false: z = r / rho, and the Hessian is exact */
} FrictionParameters;

/* Sets *energy to the friction energy for stiffness 1 [J], and to 0 for a pair without a normal force. The energy does
 * not contain the constant mu dt sum weight sqrt(eps), so that differences of energies lose no digits (F4). Sets
 * lag->slip to the minimiser, from which the next call starts. Returns the number of Newton iterations, or -1 if the
 * minimum over the slip was not found. Allocates nothing. */
int friction_value(FrictionLag* lag, const FrictionParameters* parameters, const Pose* pose_a, const Pose* pose_b,
                   double* energy);
/* Prepares friction_derivatives for a recorded state whose minimiser is lag->slip. Changes lag->slip only by rounding,
 * and computes no energy. Returns the number of Newton iterations, or -1 if the minimum over the slip was not found.
 * Allocates nothing. */
int friction_recall(FrictionLag* lag, const FrictionParameters* parameters, const Pose* pose_a, const Pose* pose_b);
/* Adds the derivatives of the friction energy to *out, with respect to the twists of both bodies about their reference
 * points. pose_a, pose_b: poses of the last friction_value. *out may already contain the derivatives of contact. Does
 * nothing for a pair without a normal force. Undefined after friction_value has failed. Allocates nothing. */
void friction_derivatives(FrictionLag* lag, const FrictionParameters* parameters, const Pose* pose_a,
                          const Pose* pose_b, Vec3 reference_a, Vec3 reference_b, PairDerivatives* out);
/* Calls friction_value and then friction_derivatives. Returns the result of friction_value; if it is -1, out is
 * unchanged. Allocates nothing. */
int friction_evaluate(FrictionLag* lag, const FrictionParameters* parameters, const Pose* pose_a, const Pose* pose_b,
                      Vec3 reference_a, Vec3 reference_b, PairDerivatives* out, double* energy);
/* Copies the slip of all contact points from state 1 - to to state `to` (FrictionVertex.at). Cannot fail, allocates
 * nothing. */
void friction_keep(FrictionLag* lag, int to);
#endif
