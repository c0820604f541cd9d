/* Mass of a link. Its derivatives with respect to vertices or masses follow from model_gradient_masses. */
#include "differentiate/loss.h"

void loss_mass_prepare(LossTerm* term, const LossContext* context) {
  const ModelLink* link = &context->model->links[term->link];
  if (!(link->mass > 0))
    loss_report_error(context, context->source->link.place,
                      "'%.60s' has no mass: give the link a mass, or name another link", link->name);
}

double loss_mass(const LossTerm* term, const Recording* recording, LossSeeds* seeds) {
  if (seeds) seeds->mass[term->link] += term->weight;
  return term->weight * recording->model->links[term->link].mass;
}
