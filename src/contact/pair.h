/* Private to contact/: a pair of hulls in one state, and its derivatives. This file does not depend on the contact
 * law. */
#ifndef SDRS_CONTACT_PAIR_H
#define SDRS_CONTACT_PAIR_H

#include <assert.h>

#include "contact/contact.h"
#include "contact/step.h"

/* A hull (or half-space) at a given pose. */
typedef struct {
  PointView points;    /* vertices in the frame of the hull's link [m]; count is 0 for a half-space and for a hull with
                          circles */
  const Circle* rings; /* circles whose convex hull is the core of a round solid (cylinder, cone, disc), link frame [m]
                          (contact.md, C7); a hull has either points or circles */
  int ring_count;
  double rounding;         /* radius of the rounding around the hull of points or circles [m] */
  const RoundSlope* slope; /* derivatives of the circles and of `rounding` with respect to the parameters of a hull with
                              circles (size: slope_count) */
  int slope_count;
  Pose pose;
  Vec3 center; /* world centre of the bounding sphere [m] */
  double radius;
  bool half_space; /* true for a half-space, which is always the second body of a pair */
  Vec3 normal;     /* half-space: outward unit normal, world */
  double offset;   /* half-space: normal . x <= offset inside [m] */
} HullInstance;

/* Returns the energy of a vertex (or of a half-space) at clearance c > 0 (asserted), with two derivatives [1/m, 1/m^2,
 * 1/m^3]. The energy is P_s(c) of the clamped barrier (C2). With support INFINITY, it is the energy of the long-range
 * law: 3 / (M c) for a hull of M vertices, 3 / c for a half-space (law-long_range.md, N1). */
static inline Barrier vertex_barrier(const HullInstance* hull, double support, double c) {
  assert(!(c <= 0));
  if (isinf(support)) {
    double r = 1 / c, share = hull->half_space ? 3 : 3.0 / hull->points.count;
    return (Barrier){share * r, -share * r * r, 2 * share * r * r * r};
  }
  double s2 = support * support;
  Barrier b = barrier_eval(c / support);
  return (Barrier){b.value / support, b.first / s2, b.second / (s2 * support)};
}

/* A separating plane with the normal n, |n| < 1, and the offset o from its origin. A point x of body a has the
 * clearance -(n . (x - origin) + o), a point of body b the clearance n . (x - origin) + o [m]. */
typedef struct {
  Vec3 origin, n;
  double o;
} Plane;

/* Sets twist to the motion (w, v) [rad, m] from the rotation r0 to the rotation r1. w is half the axial vector of r1
 * r0^T, which equals the rotation vector to second order. v is `displacement` [m]. */
static inline void motion_twist(Mat3 r0, Mat3 r1, Vec3 displacement, double twist[6]) {
  Mat3 turn = mat3_mul(r1, mat3_transpose(r0));
  twist[0] = 0.5 * (turn.m[2][1] - turn.m[1][2]);
  twist[1] = 0.5 * (turn.m[0][2] - turn.m[2][0]);
  twist[2] = 0.5 * (turn.m[1][0] - turn.m[0][1]);
  twist[3] = displacement.x;
  twist[4] = displacement.y;
  twist[5] = displacement.z;
}
/* Energy of a pair, and its derivatives with respect to the twists (w, v) of both bodies about their reference points:
 *   force[i] = sum g, moment[i] = sum g r^T, hessian 12x12 (rows of body a before rows of body b).
 * g: derivative of the energy with respect to a point of body i. r: position of this point relative to the body's
 * reference point. The sums are over all points of body i. */
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
  PAIR_FAILED,     /* no value was found; callers treat the pair as infeasible */
} PairOutcome;

/* A pair in one state. */
typedef struct {
  unsigned stamp; /* number of the friction reference with which the state was evaluated. If it differs from
                     ContactSystem.stamp, the state counts as not evaluated */
  PairOutcome outcome;
  bool has_plane; /* true if a separating plane and its clearances are known. The certificate uses the plane and the
                     clearances */
  Plane plane;
  double clearance[2];                    /* lower bounds on the clearances of both hulls from the plane [m] */
  double separation;                      /* lower bound on the distance of the hulls [m] */
  Vec3 axis;                              /* unit vector from a to b; direction along which the gap was last computed */
  double contact_energy, friction_energy; /* energies of contact and of friction in this state [J] */
  double spent_energy;                    /* part of contact_energy that an impact dissipates in this step [J] */
  bool has_terms;                         /* true if the derivatives of the energy are not zero */
  bool has_friction;                      /* true if friction_energy is set */
  bool convex;  /* true if the Hessian is known to be positive semidefinite (ContactLaw.derive) */
  bool derived; /* true if the derivatives of the energy are set */
} PairState;

/* Marks a state as out of contact (PAIR_APART). axis: unit direction of the gap, from a to b. separation: lower bound
 * on the distance [m]. Does not change the energies. */
static inline void pair_set_apart(PairState* state, double separation, Vec3 axis) {
  state->outcome = PAIR_APART;
  state->has_plane = false;
  state->separation = separation;
  state->axis = axis;
}

/* Marks a state as in contact under a law without barrier, with a plane that contact_wrench reads. separation: gap,
 * negative for an overlap [m]. point: contact point, world [m]. normal: unit normal from a to b. Does not change the
 * energies. */
static inline void pair_set_in_contact(PairState* state, double separation, Vec3 point, Vec3 normal) {
  state->outcome = PAIR_PRESSED;
  state->separation = separation;
  state->axis = normal;
  state->has_plane = true;
  state->plane = (Plane){point, normal, 0};
}

/* Multiplies forces, moments and Hessian, but not the energy, by `factor`. */
void pair_scale(PairDerivatives* derivatives, double factor);

/* Adds the derivatives of an energy to *out, after a change of the points about which the twists of both bodies are
 * taken. gradient, hessian: derivatives with respect to twists (w, v) about given points. arm: vector from each body's
 * reference point to its given point, world axes [m]. half_space: true if b is a half-space; the entries of b are then
 * ignored. */
void pair_add_shifted(const Vec3 arm[2], bool half_space, const double gradient[12], const double (*hessian)[12],
                      PairDerivatives* out);

/* Converts twists (w, v) of both bodies to other points. twist: twists about the reference points. out: twists about
 * the points that are displaced from the reference points by `arm`, world axes [m]. half_space: true if b is a
 * half-space; its twist becomes zero. */
void pair_shift_twists(const Vec3 arm[2], bool half_space, const double twist[2][6], double out[12]);

/* Returns the distance of two hulls [m], 0 if they intersect. Sets *result; result->normal points from a to b. If b is
 * a half-space, the witness points are zero. cache may be NULL. */
double pair_distance(const HullInstance* a, const HullInstance* b, GjkCache* cache, GjkResult* result);
/* Returns the gap of two hulls along `axis`, a unit direction from a to b [m]. The gap is negative if the axis does not
 * separate the hulls. If b is a half-space, returns the height of a above the boundary of b for every axis. */
double pair_gap_along(const HullInstance* a, const HullInstance* b, Vec3 axis);
/* Returns the largest extent of a bounded hull along a direction: the maximum of direction . (x - pose.t) over all
 * points x of the hull [m |direction|]. pose.t: origin of its link. direction: world axes, not 0. Sets *at, unless
 * NULL, to a point of largest extent, world frame [m]. */
double pair_support(const HullInstance* hull, Vec3 direction, Vec3* at);
/* Returns the hull at its link's pose, in world axes. Borrows the hull's points. A half-space has radius 0. */
HullInstance pair_hull_at(const ModelHull* hull, const Pose* pose);

/* Returns `material` with all coefficients of sliding, static, rolling and spinning friction multiplied by `grip`. For
 * grip 1, the result is bit-identical to `material`. */
static inline PairMaterial material_with_friction_factor(PairMaterial material, double grip) {
  material.value[MATERIAL_FRICTION] *= grip;
  material.value[MATERIAL_FRICTION_ALONG] *= grip;
  material.value[MATERIAL_STATIC_FRICTION] *= grip;
  material.value[MATERIAL_ROLLING] *= grip;
  material.value[MATERIAL_SPINNING] *= grip;
  return material;
}

/* ---------------------------------------------------------------- derivatives of a recorded pair */

/* A body of a pair, with the reference point of its twist. */
typedef struct {
  HullInstance hull;
  Vec3 reference; /* reference point of the body's twist, world [m] */
} PairBody;

/* Derivatives of a scalar with respect to the position of one vertex of one body of the pair, world axes. */
typedef struct {
  int vertex;
  Vec3 next, now; /* with respect to the position of the vertex at t + dt and at t */
  Vec3 solve;     /* with respect to its position in the previous solve of the step, if the force of that solve limits
                   friction */
} VertexShare;

/* Derivatives of a scalar with respect to the motion of a half-space (adjoint.md, A13). force: with respect to the
 * displacement of the half-space. torque: with respect to its rotation about the origin of its frame. */
typedef struct {
  Vec3 force, torque;
} GroundShare;
/* Adds the contribution of one point of a half-space to *share. force: derivative of the scalar with respect to the
 * displacement of the point. at: the point,
 * origin: origin of the half-space's frame, world [m]. */
static inline void ground_add(GroundShare* share, Vec3 force, Vec3 at, Vec3 origin) {
  share->force = vec3_add(share->force, force);
  share->torque = vec3_add(share->torque, vec3_cross(vec3_sub(at, origin), force));
}

/* Barrier potential U of a pair and the force p that results from it, without the impact factor, for stiffness 1. Both
 * are 0 out of range. */
typedef struct {
  double potential; /* potential U [1/m] */
  double force;     /* p: magnitude of the force on either body [1/m^2] */
} Pressure;

/* Derivatives of a scalar with respect to numbers that one step passes to the next step for a pair, besides poses
 * (impact.md, I6, I12). t: start of the later step. y: with respect to the compression (impact_compression) at t - dt.
 * old: with respect to the Pressure of the pair at t - dt. load: with respect to the impact factor of the force at t.
 * event: with respect to the potential at t, if it determines the end of a substep (I10). */
typedef struct {
  double y;
  Pressure old;
  double load, event;
  /* Derivative with respect to the squared slip of the step to t, on which static friction of the step from t
   * depends. */
  double slip;
  /* With respect to FrictionScale.net_limit of the step to t (friction.md, F14). In an impact with restitution, with
   * respect to minus ImpactPast.impulse of the step to t (impact.md, I9). */
  double net_limit;
  Vec3 elastic; /* with respect to the elastic slip at t (friction.md, F16) */
} PairCarry;

/* Contribution of one pair to the derivatives of a scalar, for stiffness 1. The scalar is usually Phi (A4), the work of
 * the contact forces along given twists. `with respect to` below names the quantity by which the scalar is
 * differentiated. */
typedef struct {
  VertexShare* share[2];
  int count[2];
  double value;   /* value of the scalar Phi */
  double support; /* with respect to the support, the range of the vertex barrier */
  double friction, smoothing, rest_speed, restitution, rolling, spinning;
  double ratio; /* with respect to FrictionDirection.ratio at fixed friction coefficient */
  double static_friction, stribeck_speed;
  double law_parameters[CONTACT_LAW_PARAMETERS_MAX]; /* with respect to the parameters that only this law has */
  double grip; /* with respect to the factor ContactRecord.grip on friction, except through the friction coefficients
                  (friction.md, F14) */
  /* inertia: with respect to the mass ImpactPast.inertia of the pair in impacts. stiffness: with respect to the
   * stiffness, as far as the impact factor and the weight of friction (F14) depend on it. The factor `stiffness` on the
   * energy of the pair is not included. */
  double inertia, stiffness;
  /* With respect to ImpactReturn.value, ImpactPast.latest and ImpactPast.impulse of an impact with restitution. */
  double by_return, by_latest, by_impulse;
  double dt, dt_before; /* with respect to the lengths of the step and of the previous step, through contact only */
  Vec3 elastic;         /* with respect to the elastic slip at t (FrictionLag.elastic) */
  PairCarry carry;      /* derivatives with respect to the numbers that the previous step passed to this step */
  GroundShare ground_now, ground_next; /* with respect to the motion of a half-space at t and at t + dt */
  double pair_law_parameters[CONTACT_LAW_PARAMETERS_MAX]; /* with respect to parameters that only this law has and that
                                                  the pair's entry of contact.pairs sets */
  Vec3 turn_now[2];                  /* with respect to rotations of the bodies at t, except through their vertices */
  Vec3 move_now[2];                  /* with respect to displacements of the bodies at t */
  Vec3 turn_solve[2], move_solve[2]; /* with respect to rotations and displacements of the bodies in the previous solve
                                    of the step (VertexShare.solve) */
  Mat3 aim[2];                       /* with respect to the expected rotations of the bodies (FrictionLag.aim) */
  RollShift shift[2];                /* with respect to FrictionLag.shift */
  double rounding[2];                /* with respect to HullInstance.rounding of both bodies */
  Vec3 turn_next[2], move_next[2];   /* with respect to the motion of the bodies at t + dt, for hulls with circles */
  /* Derivatives with respect to parameters of smooth shapes (shape_count). The caller zeroes the memory. A shape
   * without parameters has NULL. */
  double* shape[2];
  int shape_count[2];
} PairShares;

#endif
