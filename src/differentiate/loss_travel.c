/* Loss "travel": -direction . (x_last - x_reference), the negative displacement of a point of the link along a
 * direction. x_last: point at the last row of the time window. x_reference: point at its first row. */
#include "differentiate/loss.h"

void loss_travel_prepare(LossTerm* term, const LossContext* context) {
  loss_normalize_direction(context, "direction", &term->direction);
  if (term->reduction != OVER_MEAN) term->first = term->reference + 1;
}

double loss_travel(const LossTerm* term, const Recording* recording, LossSeeds* seeds) {
  Vec3 from = loss_position(term, recording, term->link, term->reference);
  Vec3 to = loss_position(term, recording, term->link, term->last);
  Vec3 g = vec3_scale(term->direction, term->weight);
  loss_seed_position(term, recording, term->link, term->reference, g, seeds);
  loss_seed_position(term, recording, term->link, term->last, vec3_scale(g, -1), seeds);
  return -vec3_dot(g, vec3_sub(to, from));
}
