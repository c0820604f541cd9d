/* Loss "point": mean over the time window of |x - target| or its square, with x the position of a point of the link.
 * The target is fixed to the link `other` if given, otherwise to the world. */
#include "differentiate/loss.h"

double loss_point(const LossTerm* term, const Recording* recording, LossSeeds* seeds) {
  double sum = 0, share = loss_state_weight(term);
  for (int k = term->first; k <= term->last; k++) {
    Vec3 local = loss_target(term, recording, k), target = local;
    if (term->other >= 0) target = pose_apply(recording_link_pose(recording, k, term->other), local);
    Vec3 e = vec3_sub(loss_position(term, recording, term->link, k), target);
    /* the derivative with respect to the point is slope times e, the deviation from the target */
    double distance = vec3_norm(e), slope = 2;
    /* at the target itself, where the distance has no derivative, zero is used */
    if (term->power == 1) slope = distance > 0 ? 1 / distance : 0;
    sum += term->power == 1 ? distance : vec3_dot(e, e);
    loss_seed_position(term, recording, term->link, k, vec3_scale(e, share * slope), seeds);
    if (term->other >= 0) loss_seed_pose(recording, term->other, k, local, vec3_scale(e, -share * slope), seeds);
  }
  return share * sum;
}
