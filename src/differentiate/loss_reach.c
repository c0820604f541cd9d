/* Loss "reach": mean over the time window of max(|x - target|^2 - margin^2, 0), with x the position of a point of the
 * link. */
#include "differentiate/loss.h"

double loss_reach(const LossTerm* term, const Recording* recording, LossSeeds* seeds) {
  double sum = 0, share = loss_state_weight(term);
  for (int k = term->first; k <= term->last; k++) {
    Vec3 e = vec3_sub(loss_position(term, recording, term->link, k), loss_target(term, recording, k));
    double excess = vec3_dot(e, e) - term->margin * term->margin;
    if (excess <= 0) continue; /* if `excess` is NaN, the sum becomes NaN */
    sum += excess;
    loss_seed_position(term, recording, term->link, k, vec3_scale(e, 2 * share), seeds);
  }
  return share * sum;
}
