/* Relative: mean over the window of |y_k - y_reference|^2, with y = R^T (x - t) the point x of `other` in the frame (R,
 * t) of `link`. */
#include "differentiate/loss.h"

/* Sets the reference state to the first state of the window if the task gives a window, best or worst. Otherwise the
 * last state is compared with the initial state. */
void loss_relative_prepare(LossTerm* term, const LossContext* origin) {
  bool given = origin->source->from != -1 || origin->source->to != -1 || term->over != OVER_MEAN;
  term->reference = term->first;
  term->first = given ? term->first + 1 : term->last;
}

static Vec3 seen_from_link(const LossTerm* term, const Recording* recording, int step) {
  return pose_apply_inverse(recording_link_pose(recording, step, term->link),
                            loss_position(term, recording, term->other, step));
}

/* Applies the chain rule to g = dL/dy. Adds R g to the derivative with respect to x, (x - t) g^T to that with respect
 * to R, and -R g to that with respect to t. */
static void seed_seen(const LossTerm* term, const Recording* recording, int step, Vec3 g, LossSeeds* seeds) {
  if (!seeds) return;
  Pose link = recording_link_pose(recording, step, term->link);
  Vec3 x = loss_position(term, recording, term->other, step), turned = mat3_mul_vec(link.r, g);
  loss_seed_position(term, recording, term->other, step, turned, seeds);
  double(*pose)[4] = seeds->pose[row_index(seeds->keep, recording->model, step, term->link).pose];
  Mat3 by_rotation = mat3_outer(vec3_sub(x, link.t), g);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) pose[i][j] += by_rotation.m[i][j];
  pose[0][3] -= turned.x;
  pose[1][3] -= turned.y;
  pose[2][3] -= turned.z;
}

double loss_relative(const LossTerm* term, const Recording* recording, LossSeeds* seeds) {
  double sum = 0, share = loss_state_weight(term);
  Vec3 before = seen_from_link(term, recording, term->reference), total = vec3(0, 0, 0);
  for (int k = term->first; k <= term->last; k++) {
    Vec3 moved = vec3_sub(seen_from_link(term, recording, k), before), g = vec3_scale(moved, 2 * share);
    sum += vec3_dot(moved, moved);
    total = vec3_sub(total, g);
    seed_seen(term, recording, k, g, seeds);
  }
  seed_seen(term, recording, term->reference, total, seeds);
  return share * sum;
}
