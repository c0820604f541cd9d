/* Loss "pose": mean over the time window of |x - target|^2 + length^2 |R - G|^2 / 2. x: position of a point of the
 * link. R: rotation matrix of the link. G: target rotation. The squared Frobenius norm |R - G|^2 is 8 sin^2(angle / 2),
 * so that a small angle counts as length^2 angle^2. */
#include "differentiate/loss.h"

double loss_pose(const LossTerm* term, const Recording* recording, LossSeeds* seeds) {
  double sum = 0, share = loss_state_weight(term), square = term->length * term->length;
  for (int k = term->first; k <= term->last; k++) {
    Vec3 e = vec3_sub(loss_position(term, recording, term->link, k), loss_target(term, recording, k));
    Mat3 d = mat3_sub(recording_link_pose(recording, k, term->link).r, term->rotation);
    double turn = 0;
    for (int i = 0; i < 9; i++) turn += d.m[i / 3][i % 3] * d.m[i / 3][i % 3];
    sum += vec3_dot(e, e) + 0.5 * square * turn;
    loss_seed_position(term, recording, term->link, k, vec3_scale(e, 2 * share), seeds);
    if (!seeds) continue;
    double(*pose)[4] = seeds->pose[row_index(seeds->selection, recording->model, k, term->link).pose];
    for (int i = 0; i < 9; i++) pose[i / 3][i % 3] += share * square * d.m[i / 3][i % 3];
  }
  return share * sum;
}
