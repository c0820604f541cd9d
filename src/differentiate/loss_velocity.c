/* Loss "velocity": mean over the rows k >= 1 of the time window of |(x_k - x_(k-1)) / dt - target|^2. x_k: position of
 * a point of the link at row k. dt: time step. */
#include "differentiate/loss.h"

double loss_velocity(const LossTerm* term, const Recording* recording, LossSeeds* seeds) {
  double sum = 0, share = loss_state_weight(term), per_second = 1 / recording->model->simulation.dt;
  for (int k = term->first; k <= term->last; k++) {
    Vec3 before = loss_position(term, recording, term->link, k - 1);
    Vec3 now = loss_position(term, recording, term->link, k);
    Vec3 e = vec3_sub(vec3_scale(vec3_sub(now, before), per_second), loss_target(term, recording, k));
    Vec3 g = vec3_scale(e, 2 * share * per_second);
    sum += vec3_dot(e, e);
    loss_seed_position(term, recording, term->link, k, g, seeds);
    loss_seed_position(term, recording, term->link, k - 1, vec3_scale(g, -1), seeds);
  }
  return share * sum;
}
