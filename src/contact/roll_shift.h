/* Shift of a rolling body: the motion of its hinge axis, and of its lever about the centre of mass of its tree, from t
 * to the expected state at t + dt. Friction of the body depends on the shift (docs/derivations/friction.md, F15). */
#ifndef SDRS_CONTACT_ROLL_SHIFT_H
#define SDRS_CONTACT_ROLL_SHIFT_H

#include "contact/contact.h"

typedef struct RollShift {
  Vec3 axis_then,
      axis_aim; /* unit axis of the link's hinge at t and in its expected pose, world; zero if the link has no hinge */
  Vec3 lever;   /* lever at t minus lever in the expected poses, world [m]; the lever is the centre of mass of the link
                   minus that of its tree; zero if the tree does not float */
} RollShift;

/* Sets the shifts of all links (links) for the following steps. The array is borrowed, and every contact_lag reads it.
 * If shift is NULL, which is the initial value, all shifts are zero. */
void contact_set_shifts(ContactSystem* system, const RollShift* shift);
/* Sets the shifts of all links (links), as contact_set_shifts does, for the steps that are loaded from now on.
 * contact_replay_adjoint adds the derivatives with respect to the shifts to bar (links), which is borrowed. */
void contact_replay_set_shifts(ContactReplay* replay, const RollShift* shift, RollShift* bar);

/* Displacement of a contact point by a small rotation d of its body relative to the expected pose: d x reach + (d .
 * axis) extra (F15). */
typedef struct {
  Vec3 reach, extra, axis; /* reach = e + L; extra = D x e - axis x L with D = axis_then - axis_aim; axis = axis_aim; e:
                              arm, L: lever */
} RollRows;

static inline RollRows roll_rows(const RollShift* s, Vec3 arm) {
  Vec3 change = vec3_sub(s->axis_then, s->axis_aim);
  return (RollRows){vec3_add(arm, s->lever), vec3_sub(vec3_cross(change, arm), vec3_cross(s->axis_aim, s->lever)),
                    s->axis_aim};
}
static inline Vec3 roll_rows_displacement(const RollRows* r, Vec3 d) {
  return vec3_add_scaled(vec3_cross(d, r->reach), vec3_dot(d, r->axis), r->extra);
}
/* Returns the derivative of g . roll_rows_displacement(r, d) with respect to d, which is the moment of the force g. */
static inline Vec3 roll_rows_moment(const RollRows* r, Vec3 g) {
  return vec3_add_scaled(vec3_cross(r->reach, g), vec3_dot(r->extra, g), r->axis);
}
/* Adds the derivatives of g . roll_rows_displacement(r, d) with respect to the shift to *bar, with r = roll_rows(s,
 * arm). Returns the derivative with respect to the arm. */
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
#endif
