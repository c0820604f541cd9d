/* Loss "relative": mean over the rows k of the time window of |y_k - y_reference|^2. y = R^T (x - t): point x of
 * `other`, seen from the frame of `link` with rotation matrix R and position t. */
#include "differentiate/loss.h"

/* Sets the reference row: the first row of the window if the task gives a window, best or worst, otherwise row 0. */
void loss_relative_prepare(LossTerm* term, const LossContext* context) {
  bool given = context->source->from != -1 || context->source->to != -1 || term->reduction != OVER_MEAN;
  term->reference = term->first;
  term->first = given ? term->first + 1 : term->last;
}

static Vec3 relative_position(const LossTerm* term, const Recording* recording, int step) {
  return pose_apply_inverse(recording_link_pose(recording, step, term->link),
                            loss_position(term, recording, term->other, step));
}

/* Adds the derivatives of the loss with respect to the point x of `other`, and to rotation R and position t of `link`.
 * They are R g, (x - t) g^T and -R g. g: derivative of the loss with respect to y = R^T (x - t). */
static void add_relative_seeds(const LossTerm* term, const Recording* recording, int step, Vec3 g, LossSeeds* seeds) {
  if (!seeds) return;
  Pose link = recording_link_pose(recording, step, term->link);
  Vec3 x = loss_position(term, recording, term->other, step), turned = mat3_mul_vec(link.r, g);
  loss_seed_position(term, recording, term->other, step, turned, seeds);
  double(*pose)[4] = seeds->pose[row_index(seeds->selection, recording->model, step, term->link).pose];
  pose_matrix_add(pose, mat3_outer(vec3_sub(x, link.t), g), vec3_scale(turned, -1));
}

double loss_relative(const LossTerm* term, const Recording* recording, LossSeeds* seeds) {
  double sum = 0, share = loss_state_weight(term);
  Vec3 before = relative_position(term, recording, term->reference), total = vec3(0, 0, 0);
  for (int k = term->first; k <= term->last; k++) {
    Vec3 moved = vec3_sub(relative_position(term, recording, k), before), g = vec3_scale(moved, 2 * share);
    sum += vec3_dot(moved, moved);
    total = vec3_sub(total, g);
    add_relative_seeds(term, recording, k, g, seeds);
  }
  add_relative_seeds(term, recording, term->reference, total, seeds);
  return share * sum;
}
