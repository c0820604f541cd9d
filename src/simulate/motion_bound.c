/* Bounds on the motion of links along a straight line in joint increments (docs/derivations/certificate.md, P1-P3). */
#include "simulate/terms.h"

/* Angular speed of the joint's own rotation and the bound on its derivative. */
static void own_rotation(const ModelLink* link, const double* d, double* spin, double* rate) {
  const double* r = d + link->slide_count;
  *spin = *rate = 0;
  if (link->rotation == ROTATION_HINGE) *spin = fabs(r[0]);
  if (link->rotation == ROTATION_UNIVERSAL) {
    *spin = fabs(r[0]) + fabs(r[1]);
    *rate = fabs(r[0] * r[1]);
  }
  if (link->rotation == ROTATION_BALL) { /* axes 1-2 and 2-3 stay perpendicular; 1-3 have cosine sin(alpha d2) */
    double cross = 2 * fabs(r[0] * r[2]) * fmin(1.0, fabs(r[1]));
    *spin = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + cross);
    *rate = fabs(r[0] * r[1]) + fabs(r[0] * r[2]) + fabs(r[1] * r[2]);
  }
}

void motion_bounds(const Model* model, const double* q, const double* delta, MotionBound* bounds) {
  for (int i = 0; i < model->link_count; i++) {
    const ModelLink* link = &model->links[i];
    MotionBound up = link->parent < 0 ? (MotionBound){0, 0, 0, 0} : bounds[link->parent];
    double turning = up.spin * up.spin + up.spin_rate, arm = vec3_norm(link->origin.t);
    MotionBound b = {up.speed + up.spin * arm, up.acceleration + turning * arm, up.spin, up.spin_rate};
    if (link->dof_count > 0) {
      const double *d = delta + link->dof_first, *at = q + link->coordinate_first;
      double length = 0, slide = 0;
      for (int k = 0; k < link->slide_count; k++) {
        length += fabs(at[k]) + fabs(d[k]);
        slide += d[k] * d[k];
      }
      slide = sqrt(slide);
      b.speed += up.spin * length + slide;
      b.acceleration += turning * length + 2 * up.spin * slide;
      double spin, rate;
      own_rotation(link, d, &spin, &rate);
      b.spin_rate += up.spin * spin + rate;
      b.spin += spin;
    }
    bounds[i] = b;
  }
}
