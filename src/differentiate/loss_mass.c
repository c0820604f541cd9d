/* Mass of a link. model_gradient_masses computes the derivatives with respect to vertices or masses. */
#include "differentiate/loss.h"

void loss_mass_prepare(LossTerm* term, const LossContext* origin) {
  const ModelLink* link = &origin->model->links[term->link];
  if (!(link->mass > 0))
    loss_report_error(origin, origin->source->link.place,
                      "'%.60s' has no mass: give the link a mass, or name another link", link->name);
}

double loss_mass(const LossTerm* term, const Recording* recording, LossSeeds* seeds) {
  if (seeds) seeds->mass[term->link] += term->weight;
  return term->weight * recording->model->links[term->link].mass;
}
