/* Private to contact/: lagged plane friction of one pair (SDRS Eq. 8-13; docs/derivations/friction.md).
 *   D = mu dt sum_m weight_m sqrt(|r_m|^2 + eps),  U_f = min over (u, omega) of D                               (F1)
 *   r_m = Pi [ v_m - omega n^ x (x_m^t - c) - u ],  weight_m = A(|P'(c_m^t)| |n^t|)                             (F2)
 * with plane, weights and x^t of the time step before; v_m is the velocity of the body in the plane at x_m. All
 * quantities for stiffness 1. */
#ifndef SDRS_CONTACT_FRICTION_H
#define SDRS_CONTACT_FRICTION_H

#include "contact/plane.h"

/* A(f) = sqrt(f^2 + d^2) - d, d = FRICTION_WEIGHT_FLOOR / s^2: a force in the units of the barrier's own, so that it
 * scales with it (the paper takes friction's smoothing, a speed, here). At mid range |P'| is 288 / s^2. */
#define FRICTION_WEIGHT_FLOOR 1e-10

/* The slip of a contact point at a state, and z in its place r / rho in the Hessian (F5): the direction of friction as
 * Newton's method has it, |z| <= 1. */
typedef struct {
  double slip[2]; /* m/s */
  double dual[2];
} SlipState;

/* One lagged contact vertex. */
typedef struct {
  Vec3 local;         /* in the link's frame [m]; of balls and circles their centre, where `arm` begins (F13) */
  Vec3 arm;           /* from there to the point of contact at t, world [m]; zero of a vertex */
  double position[2]; /* x^t - c in the tangent basis, of directed friction of two hulls turned by adj(S) (F11) [m] */
  double scaled[2];   /* position / length of the lag */
  double height;      /* x^t - c along the normal [m] */
  double weight;      /* normal force for stiffness 1 */
  int vertex;         /* index in its hull */
  double velocity[2]; /* workspace: in-plane velocity of the vertex now [m/s] */
  SlipState at[2];    /* in each of two states */
} FrictionVertex;

/* Friction by direction (F11): S = P + (ratio - 1) p p^T, with P = I - n n^T and p = P d of the axis d at t. */
typedef struct {
  double ratio; /* of friction along the axis to that across */
  Vec3 axis;    /* unit, in the frame of body `side` */
  int side;
} FrictionDirection;

/* Lagged data of a pair. The vertices of side A come first. */
typedef struct {
  Vec3 center;         /* c: weighted centroid of the contact vertices [m] */
  Vec3 e1, e2, normal; /* right-handed basis, normal = n^t / |n^t|; of directed friction S e1, S e2 */
  bool directed;       /* the three that follow are set */
  FrictionDirection direction;
  Vec3 axis, basis[2]; /* d and the basis before S, world */
  int count[2];
  FrictionVertex* vertices; /* borrowed from the step's store */
  Pose then[2];             /* poses of both bodies at t */
  Mat3 aim[2];              /* rotations that the bodies are expected to have at t + dt; may be affine (F13) */
  Vec3 roll[2];             /* rotation vectors from t to `aim` [rad] */
  bool aimed;               /* false: `aim` is the rotation at t */
  Vec3 arm[2];              /* weighted mean arm of a side's points (F13); zero of vertices [m] */
  Vec3 from[2];             /* where their points at c were at t [m]: c, but for a lag of the step's own force */
  double ground_weight;     /* half-space: its one weight; spin is held at zero */
  SlipState ground_at[2];
  bool half_space;
  int order;      /* unknowns of the slip: 3, or 2 where the spin is pinned (half-space, or one contact point) */
  double slip[3]; /* warm start: u1, u2 [m/s], omega * length [m/s] */
  double length;  /* scale of omega: rms distance of the vertices from c [m], > 0 */
  double total_weight;
} FrictionLag;

/* Rotation of a body (F13). */
typedef struct {
  Mat3 turn;  /* R aim^T */
  Vec3 angle; /* roll + axial part of `turn` [rad] */
} FrictionRoll;
/* pose: of the body of that side now. By value; cannot fail. */
FrictionRoll friction_roll(const FrictionLag* lag, int side, const Pose* pose);

/* Motion of a hull from t to a pose (F2, F13): its point at c - arm is displaced, the arm turns by the angle of `roll`,
 * and the hull turns about the normal by the sine of its rotation. Two hulls without arms that move as one rigid body
 * have the same motion at every vertex. */
typedef struct {
  Mat3 rotation;     /* R R_t^T */
  Vec3 sine;         /* axial vector of its antisymmetric part: sin(angle) times the axis */
  Vec3 center;       /* where the body's point at c - arm is now [m] */
  Vec3 displacement; /* of c: of that point and of the arm from it [m] */
  FrictionRoll roll; /* set if `rolls` */
  bool rolls;        /* the arm is not zero */
  double spin;       /* n . sine */
} FrictionMotion;
/* pose: of the body of that side now. Cannot fail, allocates nothing. */
FrictionMotion friction_motion(const FrictionLag* lag, int side, const Pose* pose);
/* Slip of the bodies against each other over the step from the lag to these poses: of their points at c, in the plane
 * (F12). */
typedef struct {
  bool known;    /* friction acted in the step; of a run's first step it rests */
  double square; /* of the slip [(m/s)^2] */
  Vec3 by;       /* its derivative by where body a's point is; by that of b the opposite [m/s^2] */
  Vec3 point[2]; /* where the points are [m] */
  double dt;     /* length of the step [s] */
} FrictionSlip;
/* By value; cannot fail, allocates nothing. The lag of the step's own force has none. */
FrictionSlip friction_slip(const FrictionLag* lag, const Pose* pose_a, const Pose* pose_b, double dt);
/* Derivative of the spin about `normal` by a rotation vector of the body now: (tr(R) n - R^T n) / 2. By value. */
Vec3 friction_spin_by_rotation(const FrictionMotion* motion, Vec3 normal);

/* Arm of a lagged point now, over a half-space: arm + angle x arm [m]. */
static inline Vec3 friction_arm(const FrictionVertex* v, const FrictionRoll* roll) {
  return vec3_add(v->arm, vec3_cross(roll->angle, v->arm));
}

/* Upper bound of the number of vertices friction_lag will store. Both hulls' vertices nearer to the plane than a little
 * over support [m]; a half-space has none. At most the vertices of both. Nothing is allocated, nothing fails. */
int friction_count(const HullInstance* a, const HullInstance* b, double support, const Plane* plane);
/* Fill the lag at an accepted state: vertices has room for friction_count. Borrows `vertices`; support [m]. begin:
 * poses of both bodies since which they slip (NULL: where they stand). aim: expected poses of both at t + dt, of which
 * the rotations count (NULL: where it stands); of no effect with `begin`. direction: NULL: the same in all. No
 * allocation. Room for less is not checked. Cannot fail. */
void friction_lag(const HullInstance* a, const HullInstance* b, double support, const Plane* plane, const Pose* begin,
                  const Pose* const aim[2], const FrictionDirection* direction, FrictionVertex* vertices,
                  FrictionLag* lag);

typedef struct {
  double coefficient; /* Coulomb */
  double smoothing;   /* eps [(m/s)^2] */
  double dt;          /* s */
  int state;          /* 0 or 1: which state of the points is evaluated */
  bool follow; /* the other state is known: z follows from it, else z = r / rho and the Hessian is D's own (F5) */
} FrictionParameters;

/* Computes the friction energy for stiffness 1 [J], 0 without a normal force. The constant mu dt sum weight sqrt(eps)
 * is left out, so that differences lose no digits (F4). Updates lag->slip, the start of the next search. Returns the
 * number of Newton iterations of the inner problem, or -1 if it failed. Allocates nothing. */
int friction_value(FrictionLag* lag, const FrictionParameters* parameters, const Pose* pose_a, const Pose* pose_b,
                   double* energy);
/* In its place where lag->slip is the minimiser already, as a record has it. */
/* Returns as friction_value does; slip stays but for rounding. -1 when the search failed. No allocation. */
int friction_recall(FrictionLag* lag, const FrictionParameters* parameters, const Pose* pose_a, const Pose* pose_b);
/* Adds the derivatives at the poses of the last friction_value, with respect to the twists of both bodies about their
 * references, to out (which may hold the contact terms). Does nothing without a normal force. Undefined after
 * friction_value failed. Allocates nothing. */
void friction_derivatives(FrictionLag* lag, const FrictionParameters* parameters, const Pose* pose_a,
                          const Pose* pose_b, Vec3 reference_a, Vec3 reference_b, PairDerivatives* out);
/* Both, when the first has not failed. Returns as friction_value does; -1: out is as it was. No allocation. */
int friction_evaluate(FrictionLag* lag, const FrictionParameters* parameters, const Pose* pose_a, const Pose* pose_b,
                      Vec3 reference_a, Vec3 reference_b, PairDerivatives* out, double* energy);
/* State `to` becomes what the other one is. Cannot fail, allocates nothing. */
void friction_keep(FrictionLag* lag, int to);
#endif
