/* Private to contact/: a pair of hulls in a given state, and its derivatives, independent of the law. */
#ifndef SDRS_CONTACT_PAIR_H
#define SDRS_CONTACT_PAIR_H

#include "contact/contact.h"
#include "contact/roll_shift.h"

/* A hull (or half-space) at a given pose. */
typedef struct {
  PointView points;    /* local frame; count 0 for a half-space */
  const Circle* rings; /* local frame; a hull with circles (C7) has no points */
  int ring_count;
  double rounding;         /* radius of the rounding around the hull of points or circles [m] */
  const RoundSlope* slope; /* derivatives with respect to the parameters of a hull with circles (slope_count) */
  int slope_count;
  Pose pose;
  Vec3 center; /* world centre of the bounding sphere [m] */
  double radius;
  bool half_space; /* only as second body of a pair */
  Vec3 normal;     /* half-space: outward unit normal, world */
  double offset;   /* half-space: normal . x <= offset inside [m] */
} HullInstance;

/* Returns the share of a vertex (or of a half-space) at clearance c > 0 in its pair's potential, with derivatives with
 * respect to c [1/m, 1/m^2, 1/m^3]. It is P_s(c) of the clamped barrier (C2). With support INFINITY it is that of the
 * long-range law: 3 / (M c) for a hull of M vertices, 3 / c for a half-space (N1). Undefined for c <= 0, where the
 * hulls intersect. */
static inline Barrier vertex_barrier(const HullInstance* hull, double support, double c) {
  if (isinf(support)) {
    double r = 1 / c, share = hull->half_space ? 3 : 3.0 / hull->points.count;
    return (Barrier){share * r, -share * r * r, 2 * share * r * r * r};
  }
  double s2 = support * support;
  Barrier b = barrier_eval(c / support);
  return (Barrier){b.value / support, b.first / s2, b.second / (s2 * support)};
}

/* A separating plane. Clearance of a point of side A: -(n . (x - origin) + o); of side B: n . (x - origin) + o [m]; |n|
 * < 1. */
typedef struct {
  Vec3 origin, n;
  double o;
} Plane;

/* Sets the twist (w, v) of a motion [rad, m]: w = axial part of R1 R0^T (the rotation vector to second order), v =
 * displacement. Cannot fail, allocates nothing. */
static inline void motion_twist(Mat3 r0, Mat3 r1, Vec3 displacement, double twist[6]) {
  Mat3 turn = mat3_mul(r1, mat3_transpose(r0));
  twist[0] = 0.5 * (turn.m[2][1] - turn.m[1][2]);
  twist[1] = 0.5 * (turn.m[0][2] - turn.m[2][0]);
  twist[2] = 0.5 * (turn.m[1][0] - turn.m[0][1]);
  twist[3] = displacement.x;
  twist[4] = displacement.y;
  twist[5] = displacement.z;
}
/* Derivatives with respect to the twists (w, v) of both bodies about their reference points:
 *   force[i], moment[i] = sum g r^T, hessian 12x12 (A first). */
typedef struct {
  double energy;
  Vec3 force[2];
  Mat3 moment[2];
  double hessian[12][12];
} PairDerivatives;

typedef enum {
  PAIR_PRESSED,    /* in contact: the law's potential is not zero */
  PAIR_APART,      /* the law's potential is zero */
  PAIR_INFEASIBLE, /* the hulls intersect */
  PAIR_FAILED,     /* no value was found: treated as infeasible */
} PairOutcome;

/* A pair in one state. */
typedef struct {
  unsigned stamp; /* number of the friction reference it was evaluated with; differs from the system's: not evaluated */
  PairOutcome outcome;
  bool has_plane; /* a separating plane and its clearances are known; the certificate uses them */
  Plane plane;
  double clearance[2];                    /* lower bounds for both hulls [m] */
  double separation;                      /* lower bound of the distance [m] */
  Vec3 axis;                              /* unit, from a to b: direction of the last known gap */
  double contact_energy, friction_energy; /* J */
  double spent_energy;                    /* part of contact_energy that an impact dissipates in this step [J] */
  bool has_terms;                         /* derivatives are not zero */
  bool has_friction;                      /* friction_energy is set */
  bool derived;                           /* the derivatives are set */
} PairState;

/* Marks a pair as separated. axis: unit, from a to b; separation: a lower bound of the distance [m]. Leaves the
 * energies unchanged. Cannot fail, allocates nothing. */
static inline void pair_set_apart(PairState* state, double separation, Vec3 axis) {
  state->outcome = PAIR_APART;
  state->has_plane = false;
  state->separation = separation;
  state->axis = axis;
}

/* Multiplies force, moment and Hessian by a factor. Cannot fail, allocates nothing. */
void pair_scale(PairDerivatives* derivatives, double factor);

/* Returns the distance [m], 0 if the hulls intersect. Sets result; its normal points from a to b. A half-space has no
 * witness points. cache may be NULL. Allocates nothing. */
double pair_distance(const HullInstance* a, const HullInstance* b, GjkCache* cache, GjkResult* result);
/* Returns the gap of two hulls along a fixed unit direction from a to b [m]; negative if it does not separate them. For
 * a half-space: the height of a, whatever the axis. Cannot fail, allocates nothing. */
double pair_gap_along(const HullInstance* a, const HullInstance* b, Vec3 axis);
/* Returns the maximum of direction . (x - pose.t) over a bounded hull [m |direction|]. Sets *at, unless NULL, to a
 * maximizing point in the world. direction: world, not 0. Cannot fail, allocates nothing. */
double pair_support(const HullInstance* hull, Vec3 direction, Vec3* at);
/* Returns the hull at its link's pose, in world axes. Borrows the hull's points. A half-space has radius 0. Cannot
 * fail, allocates nothing. */
HullInstance pair_hull_at(const ModelHull* hull, const Pose* pose);

/* Returns the material with all friction coefficients multiplied by `grip`; bit-identical for 1. */
static inline PairMaterial contact_gripping(PairMaterial material, double grip) {
  material.value[MATERIAL_FRICTION] *= grip;
  material.value[MATERIAL_FRICTION_ALONG] *= grip;
  material.value[MATERIAL_STATIC_FRICTION] *= grip;
  material.value[MATERIAL_ROLLING] *= grip;
  material.value[MATERIAL_SPINNING] *= grip;
  return material;
}

/* ---------------------------------------------------------------- derivatives of a recorded pair */

/* A body of the pair with its reference point. */
typedef struct {
  HullInstance hull;
  Vec3 reference; /* world */
} PairBody;

/* Derivatives with respect to a vertex of one side, world axes. */
typedef struct {
  int vertex;
  Vec3 next, now; /* with respect to its position at t + dt and at t */
  Vec3 own;       /* with respect to its position in the previous solve of the step, on whose force friction depends */
} VertexShare;

/* Derivatives with respect to the motion of a half-space: its displacement, and its rotation about its frame's origin
 * (A13). */
typedef struct {
  Vec3 force, torque;
} GroundShare;
/* Adds the derivative `force` with respect to a displacement at the point `at` of a half-space with this origin [N, N
 * m] for stiffness 1. Cannot fail, allocates nothing. */
static inline void ground_add(GroundShare* share, Vec3 force, Vec3 at, Vec3 origin) {
  share->force = vec3_add(share->force, force);
  share->torque = vec3_add(share->torque, vec3_cross(vec3_sub(at, origin), force));
}

/* Potential and force of a pair by its law's potential, without impact factor, for stiffness 1. Zero out of range. */
typedef struct {
  double potential; /* U [1/m] */
  double force;     /* p: magnitude of the force on either body [1/m^2] */
} Pressure;

/* Derivatives with respect to the numbers that a pair carries into a step (impact.md, I6, I12): y at t - dt; its
 * pressure there; the impact factor of its force at t; its potential at t if that ends a substep (I10). */
typedef struct {
  double y;
  Pressure old;
  double load, event;
  /* With respect to the squared slip of the step to t, on which static friction of the step from t depends. */
  double slip;
  double left; /* with respect to Payment.left of the step to t (friction.md, F14) */
} PairCarry;

/* Derivatives contributed by one pair, for stiffness 1. */
typedef struct {
  VertexShare* share[2];
  int count[2];
  double value;   /* Phi */
  double support; /* dPhi/ds */
  double friction, smoothing, rest_speed, restitution, rolling, spinning;
  double ratio; /* with respect to FrictionDirection.ratio at fixed friction */
  double static_friction, stribeck_speed;
  double own[CONTACT_OWN_PARAMETERS]; /* with respect to the law's own parameters */
  double grip; /* with respect to ContactRecord.grip, except through the friction coefficients (friction.md, F14) */
  double inertia, stiffness; /* dPhi by ImpactPast.inertia; dPhi by the stiffness, the impact factor constant */
  double dt, dt_before;      /* with respect to the lengths of the step and of the one before, of contact only */
  PairCarry carry;           /* derivatives for the step that ends at t */
  GroundShare ground_now, ground_next;     /* for a half-space */
  double pair_own[CONTACT_OWN_PARAMETERS]; /* with respect to those of the law's parameters that the pair's item of
                                              contact.pairs sets */
  Vec3 turn_now[2];              /* with respect to rotations of the bodies at t, except through their vertices */
  Vec3 move_now[2];              /* with respect to displacements of the bodies at t */
  Vec3 turn_own[2], move_own[2]; /* with respect to rotations and displacements of the bodies in the previous solve, as
                                    VertexShare.own */
  Mat3 aim[2];                   /* with respect to the expected rotations of the bodies (FrictionLag.aim) */
  RollShift shift[2];            /* with respect to FrictionLag.shift */
  double rounding[2];            /* with respect to HullInstance.rounding of both */
  Vec3 turn_next[2], move_next[2]; /* hulls with circles: with respect to the motion of the bodies at t + dt */
  /* With respect to parameters of smooth shapes (shape_count); zeroed memory of the caller; NULL: none. */
  double* shape[2];
  int shape_count[2];
} PairShares;

#endif
