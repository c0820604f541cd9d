/* Loss "orientation": mean over the time window of |R axis - target|^2, with R the rotation matrix of the link. It is 4
 * sin^2(angle / 2) for the angle between the two directions. */
#include "differentiate/loss.h"

void loss_orientation_prepare(LossTerm* term, const LossContext* context) {
  loss_normalize_direction(context, "axis", &term->axis);
  loss_normalize_direction(context, "target", &term->target);
}

/* Adds the derivative of the loss with respect to the link's rotation matrix R, which is g axis^T. g: derivative of the
 * loss with respect to the world axis R axis. */
static void add_rotation_seeds(const LossTerm* term, const Recording* recording, int step, Vec3 g, LossSeeds* seeds) {
  if (!seeds) return;
  double(*pose)[4] = seeds->pose[row_index(seeds->selection, recording->model, step, term->link).pose];
  pose_matrix_add_rotation(pose, mat3_outer(g, term->axis));
}

double loss_orientation(const LossTerm* term, const Recording* recording, LossSeeds* seeds) {
  double sum = 0, share = loss_state_weight(term);
  for (int k = term->first; k <= term->last; k++) {
    Vec3 e = vec3_sub(mat3_mul_vec(recording_link_pose(recording, k, term->link).r, term->axis), term->target);
    sum += vec3_dot(e, e);
    add_rotation_seeds(term, recording, k, vec3_scale(e, 2 * share), seeds);
  }
  return share * sum;
}
