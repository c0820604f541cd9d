/* Private to contact/: a pair of hulls where it stands, and what any law says about it. */
#ifndef SDRS_CONTACT_PAIR_H
#define SDRS_CONTACT_PAIR_H

#include "contact/contact.h"

/* A hull (or half-space) where it stands now. */
typedef struct {
  PointView points;    /* local; count 0 for a half-space */
  const Circle* rings; /* local; a hull with circles (C7) has no points */
  int ring_count;
  double rounding;         /* the solid is all within this of the hull of points or circles [m] */
  const RoundSlope* slope; /* of a hull with circles: by its parameters (slope_count) */
  int slope_count;
  Pose pose;
  Vec3 center; /* world centre of the bounding sphere [m] */
  double radius;
  bool half_space; /* only as the second of a pair */
  Vec3 normal;     /* half-space: outward unit normal, world */
  double offset;   /* half-space: normal . x <= offset inside [m] */
} HullInstance;

/* What a vertex (or the boundary of a half-space) at clearance c > 0 adds to its pair's potential, with derivatives by
 * c [1/m, 1/m^2, 1/m^3]: P_s(c) of the clamped barrier (C2); without support (INFINITY) the reciprocal of the
 * long-range law, 3 / (M c) of a hull of M vertices, 3 / c of a half-space (N1). By value; undefined for c <= 0,
 * where the hull reaches through. */
static inline Barrier vertex_barrier(const HullInstance* hull, double support, double c) {
  if (isinf(support)) {
    double r = 1 / c, share = hull->half_space ? 3 : 3.0 / hull->points.count;
    return (Barrier){share * r, -share * r * r, 2 * share * r * r * r};
  }
  double s2 = support * support;
  Barrier b = barrier_eval(c / support);
  return (Barrier){b.value / support, b.first / s2, b.second / (s2 * support)};
}

/* Clearance of a point of side A: -(n . (x - origin) + o); of side B: n . (x - origin) + o. [m], |n| < 1. */
typedef struct {
  Vec3 origin, n;
  double o;
} Plane;

/* (w, v) of a body's motion: w = axial part of R1 R0^T (the rotation vector to second order), v = displacement.
 * twist: [rad, m], all six set. Cannot fail, allocates nothing. */
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
  PAIR_PRESSED,    /* the law's potential is not zero */
  PAIR_APART,      /* it is zero */
  PAIR_INFEASIBLE, /* the hulls must not stand so */
  PAIR_FAILED,     /* no value was found: treated as infeasible */
} PairOutcome;

/* A pair at one state. */
typedef struct {
  unsigned stamp; /* of the lag it was evaluated with; another one than the system's: not evaluated */
  PairOutcome outcome;
  bool has_plane; /* a plane that separates the hulls is known, with its clearances: the certificate likes it */
  Plane plane;
  double clearance[2];                    /* lower bounds, of either hull [m] */
  double separation;                      /* lower bound of the distance [m] */
  Vec3 axis;                              /* unit, from a to b: direction of the last known gap */
  double contact_energy, friction_energy; /* J */
  double spent_energy; /* part of contact_energy that is not stored: what an impact takes in this step [J] */
  bool has_terms;      /* derivatives are not zero */
  bool rubbed;         /* friction_energy is set */
  bool derived;        /* its derivatives are set */
} PairState;

/* axis: unit, from a to b; separation: a lower bound of the distance [m]. The energies stay as they are. Cannot
 * fail, allocates nothing. */
static inline void pair_set_apart(PairState* state, double separation, Vec3 axis) {
  state->outcome = PAIR_APART;
  state->has_plane = false;
  state->separation = separation;
  state->axis = axis;
}

/* Force, moment and Hessian times a factor. Cannot fail, allocates nothing. */
void pair_scale(PairDerivatives* derivatives, double factor);

/* Distance and direction from a to b [m]; 0 when they meet. A half-space has no witness points. cache may be NULL;
 * result is set whole, its normal from a to b. No allocation. */
double pair_distance(const HullInstance* a, const HullInstance* b, GjkCache* cache, GjkResult* result);
/* Gap of two hulls along a fixed unit direction from a to b [m]; negative when it does not separate them. Over a
 * half-space: the height of a, whatever the axis. Cannot fail, allocates nothing. */
double pair_gap_along(const HullInstance* a, const HullInstance* b, Vec3 axis);
/* Largest direction . (x - pose.t) over a bounded hull [m |direction|]; *at, unless NULL: a point where it is taken,
 * world. direction: world, not 0. Cannot fail, allocates nothing. */
double pair_support(const HullInstance* hull, Vec3 direction, Vec3* at);
/* A hull where its link stands. Borrows the hull's points; of a half-space radius is 0. World axes. By value; cannot
 * fail, allocates nothing. */
HullInstance pair_hull_at(const ModelHull* hull, const Pose* pose);

/* What rubs in proportion to the normal force, times `grip`; 1 changes no bit. */
static inline PairMaterial contact_gripping(PairMaterial material, double grip) {
  material.value[MATERIAL_FRICTION] *= grip;
  material.value[MATERIAL_FRICTION_ALONG] *= grip;
  material.value[MATERIAL_STATIC_FRICTION] *= grip;
  material.value[MATERIAL_ROLLING] *= grip;
  material.value[MATERIAL_SPINNING] *= grip;
  return material;
}

/* ---------------------------------------------------------------- a recorded pair backwards */

/* A body of the pair with its reference point. */
typedef struct {
  HullInstance hull;
  Vec3 reference; /* world */
} PairBody;

/* Shares of the vertices of one side: derivatives in world axes. */
typedef struct {
  int vertex;
  Vec3 next, now; /* with respect to the vertex's position at t + dt and at t */
  Vec3 own;       /* in the solve before, through the force that friction rests on there */
} VertexShare;

/* Derivatives by the motion of a half-space: by its displacement, and by its turning about the origin of its frame
 * (A13). */
typedef struct {
  Vec3 force, torque;
} GroundShare;
/* Adds that of a displacement at the point `at` of a half-space with this origin. [N, N m] for stiffness 1. Cannot
 * fail, allocates nothing. */
static inline void ground_add(GroundShare* share, Vec3 force, Vec3 at, Vec3 origin) {
  share->force = vec3_add(share->force, force);
  share->torque = vec3_add(share->torque, vec3_cross(vec3_sub(at, origin), force));
}

/* How hard a pair presses by its law's potential alone, stiffness 1; zeros out of range. */
typedef struct {
  double potential; /* U [1/m] */
  double force;     /* p: size of the force on either body [1/m^2] */
} Pressure;

/* Derivatives by what a pair has carried into a step from those before it, for the one before to take up (impact.md,
 * I6, I12): by y at t - dt; by its pressure there; by the factor that an impact put on its force at t; and by its
 * potential at t, where that ends a substep (I10). */
typedef struct {
  double y;
  Pressure old;
  double load, event;
  double slip; /* by the square of the slip that led to t, which static friction of the step from t rests on */
} PairCarry;

/* What one pair adds. */
typedef struct {
  VertexShare* share[2];
  int count[2];
  double value;   /* Phi */
  double support; /* dPhi/ds */
  double friction, smoothing, rest_speed, restitution, rolling, spinning;
  double ratio; /* by FrictionDirection.ratio at fixed friction */
  double static_friction, stribeck_speed;
  double own[CONTACT_OWN_PARAMETERS];      /* by the law's own parameters */
  double inertia, stiffness;               /* by ImpactPast.inertia; by the stiffness at a fixed factor of it */
  double dt, dt_before;                    /* by the lengths of the step and of the one before, of contact alone */
  PairCarry carry;                         /* for the step to t */
  GroundShare ground_now, ground_next;     /* of a half-space */
  double pair_support, pair_stiffness;     /* of a pair with a law of its own, instead of support and value */
  double pair_own[CONTACT_OWN_PARAMETERS]; /* and of what it has to itself there, instead of `own` */
  Vec3 turn_now[2];                        /* by turns of the bodies at t, besides what their vertices share */
  Vec3 move_now[2];                        /* and by their displacements */
  Vec3 turn_own[2], move_own[2];           /* the same at t + dt, as VertexShare.own */
  Mat3 aim;                                /* by the rotation that body a was expected to have (FrictionLag.aim) */
  double rounding[2];                      /* by HullInstance.rounding of both */
  Vec3 turn_next[2], move_next[2];         /* of hulls with circles: by the bodies' motion at t + dt */
  double* shape[2];                        /* by parameters of smooth shapes: room lent, zeroed; NULL: it has none */
  int shape_count[2];                      /* so many */
} PairShares;

#endif
