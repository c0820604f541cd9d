/* Private to contact/: contact points of a pair at the start t of a step (docs/derivations/point-friction.md). A law
 * lists the points (ContactLaw.points), and Coulomb friction acts at them (point_friction.c). Each contact point is
 * fixed to both bodies during the step, so that it has two positions: x_a moves with body a, x_b with body b. u: change
 * of x_b - x_a since t, the slip of the contact [m]. */
#ifndef SDRS_CONTACT_FRICTION_POINTS_H
#define SDRS_CONTACT_FRICTION_POINTS_H

#include "contact/pair.h"

enum { POINT_NUMBERS = 2 };

/* A contact point of a pair at t. */
typedef struct {
  double load;                   /* normal force for stiffness 1 */
  Vec3 n;                        /* normal from a to b, world axes; its length is at most 1 */
  Vec3 at[2];                    /* contact point in the frames of both links [m] */
  Vec3 apart;                    /* x_b - x_a at t, world axes [m] */
  double numbers[POINT_NUMBERS]; /* data that the law stores for the point */
} FrictionPoint;

/* Derivatives of the scalar Phi (PairShares) with respect to the data of a contact point. u: slip x_b - x_a since t.
 * zeta: rate of u if the bodies move with given twists; Phi depends on it linearly. */
typedef struct {
  double load, numbers[POINT_NUMBERS];
  Vec3 n, u, zeta;
  Vec3 x[2]; /* with respect to the world positions of the point at t, as points that move with the contact */
} PointBar;

/* Growing list of contact points. Owns its arrays. */
typedef struct {
  FrictionPoint* list;
  PointBar* bars; /* derivatives with respect to the points; used for recorded pairs only */
  int count, capacity, bar_capacity;
} FrictionPoints;

/* Adds a contact point to the list and returns it, with `numbers` zero. pose: poses of both links at t. load: normal
 * force for stiffness 1. x_a, x_b: contact point of each body, world [m]. The list owns the point; the pointer is valid
 * until the next call. Allocates while the list grows. */
FrictionPoint* friction_points_add(FrictionPoints* points, const Pose* const pose[2], double load, Vec3 n, Vec3 x_a,
                                   Vec3 x_b);
/* Zeroes the derivatives with respect to all points of the list. Allocates while the list grows. */
void friction_points_zero_bars(FrictionPoints* points);
/* Frees the arrays of the list. */
void friction_points_free(FrictionPoints* points);

/* Returns the sign with which the position of the point of body `side` enters the slip u, the change of x_b - x_a: -1
 * for body a, 1 for body b. */
static inline double point_side_sign(int side) { return side == 0 ? -1 : 1; }

/* Motion of a contact point since t. x: its present positions as a point of body a and of body b, world [m]. u: change
 * of x[1] - x[0] since t [m]. */
typedef struct {
  Vec3 x[2], u;
} PointDisplacement;
/* Returns the motion of a contact point to the given poses of both links. */
PointDisplacement point_motion(const FrictionPoint* point, const Pose* a, const Pose* b);
/* Returns the rate of PointDisplacement.u if the bodies move with the given twists about the points `reference`.
 * half_space: true if b is a half-space, whose twist is ignored. */
Vec3 point_rate(const PointDisplacement* motion, const Vec3 reference[2], bool half_space, const double twist[2][6]);

/* Adds the derivatives of an energy e(u) of the slip u (PointDisplacement) to *out: with respect to the twists of both
 * bodies about the points `reference`. pull, bend: gradient and Hessian of e with respect to u. half_space: true if b
 * is a half-space, which has no rows in the Hessian. */
void point_derivatives(const PointDisplacement* motion, const Vec3 reference[2], bool half_space, Vec3 pull, Mat3 bend,
                       PairDerivatives* out);

#endif
