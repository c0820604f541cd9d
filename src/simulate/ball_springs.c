/* Springs and position gains of three rotations, with the time weights of springs (docs/derivations/drives.md, M10). */
#include "simulate/ball_springs.h"

#include <assert.h>

/* Three rotations. */
static const Joint BALL = {.quaternion = true};

/* Sets out[4] to the rotation one step before t, as a quaternion. */
static void rotation_before(const JointInput* in, int base, double* out) {
  joint_extrapolate(&BALL, in->q_now + base, in->difference_old + base, -1, out);
}

BallSpring ball_spring(const JointInput* in, int base, const double* neutral) {
  assert(base >= 0 && base + 3 <= in->link->dof_count);
  const SpringTimeWeights* at = &in->spring;
  BallSpring out = {.rotation = quat_mul(quat_conjugate(quat_at(neutral)), quat_at(in->q + base)),
                    .weight = spring_weight_of_end(at)};
  out.factor = (1 - at->missing) / out.weight;
  out.end = rotation_vector_derivatives(out.rotation);
  joint_difference(&BALL, neutral, in->q_now + base, out.now);
  if (at->old != 0) {
    double before[4];
    rotation_before(in, base, before);
    joint_difference(&BALL, neutral, before, out.old);
  }
  for (int i = 0; i < 3; i++) out.minus[i] = -at->now * out.now[i] - at->old * out.old[i];
  return out;
}

void ball_spring_adjoint(const JointInput* in, int base, const double* neutral, const BallSpring* spring,
                         const BallSpringBars* bars, double* neutral_bar, JointBars* out) {
  const SpringTimeWeights* at = &in->spring;
  double by_now[3], by_old[3], before[4], before_bar[3] = {0};
  add_left_increment_bars(spring->rotation, bars->rotation, neutral_bar);
  out->spring.now -= bars->weight;
  out->spring.old -= bars->weight;
  out->spring.missing += bars->missing;
  for (int i = 0; i < 3; i++) {
    by_now[i] = bars->now[i] - at->now * bars->minus[i];
    by_old[i] = -at->old * bars->minus[i];
    out->spring.now -= bars->minus[i] * spring->now[i];
    out->spring.old -= bars->minus[i] * spring->old[i];
  }
  joint_difference_adjoint(&BALL, neutral, in->q_now + base, by_now, neutral_bar, out->now + base);
  if (at->old == 0) return;
  rotation_before(in, base, before);
  joint_difference_adjoint(&BALL, neutral, before, by_old, neutral_bar, before_bar);
  joint_continue_adjoint(&BALL, in->difference_old + base, -1, before_bar, out->now + base, out->difference_old + base);
}
