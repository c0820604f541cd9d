/* Contact functions for a time step and its adjoint, in addition to contact.h. They handle shifts of rolling bodies,
 * rolling contacts, and products with recorded pairs. */
#ifndef SDRS_CONTACT_STEP_H
#define SDRS_CONTACT_STEP_H

#include "contact/contact.h"

/* ---------------------------------------------------------------- shift of a rolling body */

/* Change of the rotation axis and lever arm of a rolling body from t to its expected state at t + dt. The axis is the
 * axis of the body's hinge. The lever arm is about the centre of mass of its tree. Friction of the body depends on this
 * shift (docs/derivations/friction.md, F15). */
typedef struct RollShift {
  Vec3 axis_then,
      axis_aim; /* unit axis of the link's hinge at t, and in its expected pose, world; zero if the link has no hinge */
  Vec3 lever;   /* lever at t minus lever in the expected poses, world [m]; the lever points from the tree's centre of
                   mass to the link's centre of mass; zero if the tree does not float */
} RollShift;

/* Sets the shifts RollShift of rolling bodies for the following steps, one for each link (links). The array is borrowed
 * and read by every contact_lag. By default, `shift` is NULL, which means that all shifts are zero. */
void contact_set_shifts(ContactSystem* system, const RollShift* shift);
/* Sets the shifts RollShift of rolling bodies, one for each link (links), for the recorded steps that
 * contact_replay_load loads from now on. contact_replay_adjoint adds the derivatives with respect to the shifts to bar
 * (links). Both arrays are borrowed. */
void contact_replay_set_shifts(ContactReplay* replay, const RollShift* shift, RollShift* bar);

/* Coefficients of the displacement of a contact point of a rolling body by a small rotation vector d of the body from
 * its expected pose. The displacement is d x reach + (d . axis) extra (F15). */
typedef struct {
  Vec3 reach, extra, axis; /* reach = e + L; extra = D x e - axis x L with D = axis_then - axis_aim; axis = axis_aim. e:
                              vector from the centre of the ball or circle to the contact point, L: RollShift.lever */
} RollRows;

static inline RollRows roll_rows(const RollShift* s, Vec3 arm) {
  Vec3 change = vec3_sub(s->axis_then, s->axis_aim);
  return (RollRows){vec3_add(arm, s->lever), vec3_sub(vec3_cross(change, arm), vec3_cross(s->axis_aim, s->lever)),
                    s->axis_aim};
}
static inline Vec3 roll_rows_displacement(const RollRows* r, Vec3 d) {
  return vec3_add_scaled(vec3_cross(d, r->reach), vec3_dot(d, r->axis), r->extra);
}
/* Returns the moment of a force g at the contact point: the derivative of the work g . roll_rows_displacement(r, d)
 * with respect to the rotation vector d. */
static inline Vec3 roll_rows_moment(const RollRows* r, Vec3 g) {
  return vec3_add_scaled(vec3_cross(r->reach, g), vec3_dot(r->extra, g), r->axis);
}
/* Differentiates the work g . roll_rows_displacement(r, d) with r = roll_rows(s, arm), for a force g and a rotation
 * vector d. Adds its derivatives with respect to the members of the shift s to *bar. Returns its derivative with
 * respect to `arm`. */
static inline Vec3 roll_rows_reverse(const RollShift* s, Vec3 arm, Vec3 d, Vec3 g, RollShift* bar) {
  double along = vec3_dot(d, s->axis_aim);
  Vec3 change = vec3_sub(s->axis_then, s->axis_aim), by_change = vec3_scale(vec3_cross(arm, g), along);
  Vec3 extra = vec3_sub(vec3_cross(change, arm), vec3_cross(s->axis_aim, s->lever));
  bar->axis_then = vec3_add(bar->axis_then, by_change);
  bar->axis_aim = vec3_sub(bar->axis_aim, vec3_add_scaled(by_change, along, vec3_cross(s->lever, g)));
  bar->axis_aim = vec3_add_scaled(bar->axis_aim, vec3_dot(extra, g), d);
  bar->lever = vec3_add(bar->lever, vec3_cross(g, vec3_add_scaled(d, -along, s->axis_aim)));
  return vec3_cross(g, vec3_add_scaled(d, along, change));
}

/* ---------------------------------------------------------------- rolling contacts */

/* Energy of rolling contacts. Physically, a rolling contact dissipates energy only by slip. The time-stepping scheme
 * removes or adds energy at rolling contacts (docs/derivations/step.md, S23). */

/* Returns the side of term `index` < contact_term_count whose body rolls: 0 for body a, 1 for body b, or -1. A rolling
 * body consists of balls or circles and does not lie flat. If both bodies can roll, a movable body counts before a
 * fixed one, then the smaller body. Returns -1 for pairs with rolling or spinning friction, and under laws that
 * represent round bodies by polyhedra. If the result is not -1, sets three values. *along_gap: sum over balls and
 * circles of the normal force times half of the change of their distance from the other body [J]. *approach:
 * force-weighted mean of the absolute changes of these distances [m]. *slip: friction energy of the step [J], which is
 * at least half of the energy that slip dissipates. pose: poses of all links at t + dt and at t - dt. */
int contact_term_rolls(const ContactSystem* system, int index, const Pose* const pose[2], double* along_gap,
                       double* approach, double* slip);

/* ---------------------------------------------------------------- lever arm of a circle */

/* Weight of the lever arm of a circle that leans on a plane (docs/derivations/spin.md, W21). The arm points from the
 * centre to the point nearest to the plane. The weight is 0 for a circle within the range of the contact force, whose
 * pressure is spread over the circle. */
typedef struct {
  double value, by_square, by_radius, by_support; /* weight, and its derivatives */
} RingArmWeight;

/* Returns the weight (1 - q)^2 with q = (s / 2 a)^2 / sin^2, or 0 for q >= 1. square: sin^2 of the angle between the
 * axis of the circle and the normal of the plane. radius: a > 0 [m]. support: range s of the contact force [m]. */
static inline RingArmWeight ring_arm_weight(double square, double radius, double support) {
  double least = support / (2 * radius), least_square = least * least;
  if (!(square > least_square)) return (RingArmWeight){0, 0, 0, 0};
  double q = least_square / square, rest = 1 - q;
  return (RingArmWeight){rest * rest, 2 * rest * q / square, 4 * rest * q / radius, -4 * rest * q / support};
}

/* Radii of the circles of a body. The axis of the circles is Circle.axis. A point of the surface at the position z
 * along the axis, from the origin of the link frame, has the distance origin + taper z from the axis, without the
 * rounding. All members are 0 for bodies without circles. */
typedef struct {
  double largest, least; /* radii [m] */
  double origin;         /* [m] */
  double taper;          /* 0 for circles of one radius */
} RingProfile;

/* Circle on which a body of a pair rolls. */
typedef struct {
  Vec3 normal;    /* unit normal of the contact; its sign is not defined */
  double radius;  /* largest radius of the body's circles [m]; 0 if the body has no circles */
  double support; /* range of the contact force [m] */
} ContactCircle;
/* Returns the circle on which body `side` (0 or 1) of term `index` < contact_term_count rolls, in the accepted state.
 */
ContactCircle contact_term_circle(const ContactSystem* system, int index, int side);

/* ---------------------------------------------------------------- work of normal forces */

/* Normal force of a pair at t + dt, and the change of its stored energy in the step (docs/derivations/spin.md, W20). */
typedef struct {
  Vec3 force[2], torque[2]; /* on both bodies, without friction; torque about the centre of mass [N, N m] */
  double stored; /* kappa (U+ - U_t), with the stiffness kappa and the potentials U_t at t and U+ at t + dt [J] */
  RingProfile profile[2]; /* radii of the circles on which the bodies roll */
  double support;         /* range of the normal force [m] */
} ContactWork;
/* Returns true if all members are 0. */
static inline bool ring_profile_is_zero(const RingProfile* p) {
  return p->largest == 0 && p->least == 0 && p->origin == 0 && p->taper == 0;
}
/* Returns true if all members are 0. */
static inline bool contact_work_is_zero(const ContactWork* work) {
  bool is_zero = work->stored == 0 && work->support == 0;
  for (int side = 0; side < 2; side++)
    is_zero = is_zero && ring_profile_is_zero(&work->profile[side]) && vec3_is_zero(work->force[side]) &&
              vec3_is_zero(work->torque[side]);
  return is_zero;
}
/* Sets *out for term `index` < contact_term_count in the accepted state. Returns false if the pair exerts no normal
 * force or has restitution, and for laws without impacts. */
bool contact_term_work(const ContactSystem* system, int index, ContactWork* out);
/* Sets *out for pair `index` of the loaded step. Returns false as contact_term_work does. */
bool contact_replay_work(const ContactReplay* replay, int index, ContactWork* out);
/* Sets the derivatives of a scalar with respect to the members of ContactWork of each pair (pairs, borrowed). NULL
 * means that they are zero. The following contact_replay_adjoint adds the derivatives of this scalar to its results. */
void contact_replay_set_work_bars(ContactReplay* replay, const ContactWork* bars);
/* Adds the derivatives of a scalar with respect to the motion of links at t + dt to wrench[links]. bars (pairs):
 * derivatives of the scalar with respect to the members of ContactWork. Returns false if all of them are zero. */
bool contact_replay_add_work_derivatives(const ContactReplay* replay, const ContactWork* bars, double (*wrench)[6]);

/* ---------------------------------------------------------------- substeps */

/* Shortens the substep that begins, so that impacts are resolved (I10). Halves its length *length [s] until the impacts
 * that begin in the substep displace their bodies by at most IMPACT_MAX_DISPLACEMENT supports. dt_before: length of the
 * previous substep [s]. */
void contact_impact_shorten(ContactSystem* system, double dt_before, double* length);

/* ---------------------------------------------------------------- recorded pairs (contact/replay.c) */

/* Each pair passes numbers to the next step that depend on the step lengths at fixed states: the elastic slip and the
 * squared slip, through the expected poses (docs/derivations/friction.md, F13, F16), and a normal force, through the
 * force_ratio (F14). The three following functions differentiate these numbers. entry: a number below
 * CONTACT_CLOCK_ENTRIES, an entry of the clock of the step (its length, two previous lengths, its time). */
enum { CONTACT_CLOCK_ENTRIES = 4 };
/* Sets the derivatives of the history variables of contact with respect to the clock entry `entry` to 0. */
void contact_replay_clear_clock_derivatives(ContactReplay* replay, int entry);
/* Adds `factor` times the numbers at the step lengths of the last contact_replay_refresh to the derivatives with
 * respect to `entry`. Central differences are a sum of such terms. */
void contact_replay_add_difference(ContactReplay* replay, int entry, double factor);
/* Returns the derivative of a scalar with respect to `entry`, through the numbers of all pairs. The derivatives of the
 * scalar with respect to these numbers (PairCarry) belong to the next step or are set by contact_replay_seed_carry.
 * Call at the recorded step lengths. */
double contact_replay_length_derivative(const ContactReplay* replay, int entry);

/* Evaluates the terms of the loaded step again, with or without the Hessian of one kind of friction. If `excludes` is
 * true, the terms leave out the Hessian of friction that is limited by the impulse of an impact
 * (docs/derivations/impact.md, I16). contact_replay_product then adds the product with this Hessian separately, as
 * contact_replay_slip_product does. Loading a step sets `excludes` to false. */
void contact_replay_exclude_impulse_friction(ContactReplay* replay, bool excludes);
/* Adds the product of a Hessian and the twists of `field` to wrench (links x 6: torque about the centre of mass, force)
 * [N m, N]. The Hessian belongs to friction that is limited by the impulse of an impact. The product has the same
 * rounding errors as in contact_replay_adjoint. Returns false if no pair has friction of this kind. */
bool contact_replay_slip_product(const ContactReplay* replay, const ContactField* field, double (*wrench)[6]);

#endif
