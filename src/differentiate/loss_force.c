/* Force: |contact and friction force on the link - target|^2, mean over the window's states k >= 1. */
#include "differentiate/loss.h"

void loss_force_prepare(LossTerm* term, const LossOrigin* origin) {
  if (origin->model->contact_model != CONTACT_NONE && origin->model->links[term->link].collide) return;
  diagnostics_add(origin->diagnostics, SEVERITY_WARNING, origin->source->place,
                  "nothing touches '%.60s': the force on it is always zero", origin->model->links[term->link].name);
}

double loss_force(const LossTerm* term, const Recording* recording, LossSeeds* seeds) {
  double sum = 0, share = loss_share(term);
  for (int k = term->first; k <= term->last; k++) {
    size_t at = row_place(recording->keep, recording->model, k, term->link).pose;
    Vec3 e = vec3_sub(recording->force[at], term->target);
    sum += vec3_dot(e, e);
    if (seeds) {
      Vec3* seed = &seeds->force[row_place(seeds->keep, recording->model, k, term->link).pose];
      *seed = vec3_add_scaled(*seed, 2 * share, e);
    }
  }
  return share * sum;
}
