/* Private to contact/: adjoint of the friction force of a pair (docs/derivations/adjoint.md, A7-A8), shared by
 * friction_adjoint.c and friction_adjoint_arms.c. The head of friction_adjoint.c defines Phi. */
#ifndef SDRS_CONTACT_FRICTION_ADJOINT_H
#define SDRS_CONTACT_FRICTION_ADJOINT_H

#include "contact/adjoint.h"
#include "contact/ring.h"

/* Motion of a hull, and the velocities that its twist gives to its contact points in the contact plane. The velocity of
 * contact point m is zeta_m = E^T field + spin n x y_m, with the tangents E of the contact plane, its normal n, and the
 * position y_m of the point relative to FrictionLag.center. */
typedef struct {
  FrictionMotion motion;
  Vec3 field;  /* velocity of the body's point at c - arm, plus the velocity of the arm's end relative to this point */
  double spin; /* rate of rotation about n */
  Vec3 w;      /* angular part of the twist */
} HullField;

/* Derivatives of Phi with respect to the plane of the friction reference, summed over the contact points. */
typedef struct {
  Vec3 direction;  /* with respect to n^ = n / |n| */
  double length;   /* with respect to |n| */
  double plane[4]; /* with respect to (n, o), through the clearances of the points only */
} LagBar;

/* Derivatives of Phi with respect to the motion of a hull and to the velocities of its twist (A7b). */
typedef struct {
  Vec3 displacement, field; /* with respect to displacement and velocity of the hull's point at c */
  double slip[2], dual[2];  /* with respect to the tangential components of displacement and velocity */
  double spin, field_spin;  /* with respect to FrictionMotion.spin and HullField.spin */
} HullBar;

/* Arguments of friction_adjoint, and derivatives of Phi with respect to quantities that all contact points share. */
typedef struct {
  const FrictionLag* lag;
  const FrictionParameters* parameters;
  double support, length; /* support of the barrier; length |n| of the normal of the plane */
  const PairBody *now,
      *next;     /* now: bodies in the state of the friction reference, at t or in the previous solve of the step */
  bool at_solve; /* `now` belongs to the previous solve of the step, and slip is measured from FrictionLag.start */
  const Plane* plane;
  Pose ground;       /* motion of a half-space from t to t + dt */
  double a[3];       /* adjoint of the slip (head of friction_adjoint.c) */
  HullField hull[2]; /* unused over a half-space */
  HullBar by[2];     /* with respect to the motion of each hull */
  Vec3 by_center;    /* with respect to the centre c */
  bool centers[2];   /* result of friction_centers */
  Vec3 by_mean[2];   /* with respect to the mean arms of two hulls */
  Vec3 by_e[2];      /* with respect to the tangents e1, e2 */
  Vec3 by_axis;      /* with respect to the axis of directed friction, world */
  Vec3 fixed;        /* part of LagBar.direction that results from quantities that do not rotate with the bodies at t */
  FrictionRoll roll; /* rotation of body A over a half-space */
  Vec3 displacement; /* copy of DisplacementBar.displacement; zero if there is no DisplacementBar */
  Vec3 by_displacement;           /* copy of DisplacementBar.by_displacement; zero if there is no DisplacementBar */
  double by_offset[2];            /* with respect to FrictionLag.offset */
  Vec3 by_drift[2];               /* with respect to RingDrift.weight times RingDrift.displacement */
  double by_radius[2];            /* with respect to FrictionLag.mean_radius of two hulls */
  Vec3 by_roll[2];                /* with respect to FrictionLag.roll */
  Vec3 by_angle[2], by_change[2]; /* with respect to FrictionRoll.change, and to the rate of FrictionRoll.change if the
                                     bodies move with their twists */
  Vec3 by_arms; /* over a half-space: with respect to a common rotation of the arms at t + dt and of the axis at t */
} FrictionReverse;

/* Derivatives of Phi with respect to the friction points of a circle, their arms and their weights. */
typedef struct {
  VertexShare by[RING_POINTS];
  Vec3 arm[RING_POINTS]; /* with respect to the arms at t + dt */
  double weight[RING_POINTS];
} RingBar;

/* axial(M) is the axial vector of the matrix M (mat3_axial). Returns the change of axial(M) / 2 if M changes to exp(w)
 * M for a small rotation vector w. It is (tr(M) w - M w) / 2. */
static inline Vec3 axial_change(Mat3 m, Vec3 w) {
  return vec3_scale(vec3_sub(vec3_scale(w, mat3_trace(m)), mat3_mul_vec(m, w)), 0.5);
}

/* Returns the derivative of Phi with respect to the radius of a circle through its displacement (friction.md, F17).
 * by_r: derivative with respect to this displacement. */
static inline double friction_by_drift_radius(const FrictionLag* lag, int side, Vec3 by_r) {
  return 0.5 * lag->drift_weight[side] * vec3_dot(lag->drift[side], by_r);
}

/* ---- lever arms and circles (contact/friction_adjoint_arms.c) */

/* (A8d) Differentiates the sum by_r . displacement + by_q . velocity. Displacement and velocity are those of the end of
 * a rotating arm relative to the start of the arm. Adds the derivatives of this sum with respect to the angles and the
 * shift of the arm. Returns its derivative with respect to the arm. radius: radius of the circle at the end of the arm.
 */
Vec3 friction_turning_reverse(FrictionReverse* f, int side, Vec3 arm, double radius, Vec3 by_r, Vec3 by_q, Vec3 change,
                              Vec3 rate, PairShares* out);
/* (A8d) Sets derivatives of Phi that result from the lever arm of a hull. They are derivatives with respect to the mean
 * arm, the roll angle and the rate of the roll angle. by_point: derivative of Phi with respect to the point c - arm,
 * which moves with the arm. */
void friction_arm_reverse(FrictionReverse* f, int side, Vec3 by_point, LagBar* bar, PairShares* out);
/* (A8e) Adds the contribution of the displacement of the contact points round the bodies (F17) to the derivatives of
 * Phi. Call after all contributions to by_drift. */
void friction_drift_reverse(FrictionReverse* f, int side, LagBar* bar, PairShares* out);
/* (A8d) Adds the contribution of the roll angle of the arms to derivatives of Phi. They are derivatives with respect to
 * the rotation at t and to the expected rotation at t + dt. */
void friction_roll_reverse(const FrictionReverse* f, int side, const double twist[6], PairShares* out);
/* (A8c) Friction of a circle acts at the points y_j = x + R (m + b e_j) - sigma r n^ with the weights A(F |n| / N). m
 * is the force-weighted mean of the unit vectors from the centre to the rim, and b = 2/3 (1 - m^2)^2. e_j is a unit
 * vector from the centre to the rim that is fixed in the body. Adds the contribution of these points and weights to the
 * derivatives of Phi. v: the friction points of the circle. nodes: the nodes of the circle, over which F and m are
 * sums. */
void friction_ring_reverse(const FrictionReverse* f, int side, const FrictionVertex* v, const RingBar* ring,
                           const ActiveVertex* nodes, int node_count, LagBar* bar, PairShares* out);

#endif
