/* Loss "force": mean over the rows k >= 1 of the window of |f - target|^2. f: contact force on the link, from all
 * contacts or from `other` only. */
#include <assert.h>

#include "differentiate/loss.h"

void loss_force_prepare(LossTerm* term, const LossContext* context) {
  const Model* model = context->model;
  if (term->other == term->link)
    loss_report_error(context, context->source->other.place, "'other' is the link itself: name another link");
  else if (term->other >= 0 && model->contact_model != CONTACT_NONE && !model->links[term->other].collide)
    diagnostics_add(context->diagnostics, SEVERITY_WARNING, context->source->place,
                    "'%.60s' takes part in no contact, so its force is always zero: check 'collide' and contact.model",
                    model->links[term->other].name);
  if (model->contact_model != CONTACT_NONE && model->links[term->link].collide) return;
  diagnostics_add(
      context->diagnostics, SEVERITY_WARNING, context->source->place,
      "'%.60s' takes part in no contact, so the force on it is always zero: check 'collide' and contact.model",
      model->links[term->link].name);
}

/* Returns the index, among the link pairs whose contact forces are recorded, of the two links of the term. */
static size_t find_pair(const LossTerm* term, const Recording* recording) {
  int k = 0;
  while (k < recording->pair_count &&
         (recording->pairs[k].link != term->link || recording->pairs[k].other != term->other))
    k++;
  assert(k < recording->pair_count);
  return (size_t)k;
}

static Vec3* force_at(const LossTerm* term, const Recording* recording, const RowSelection* selection, size_t pair,
                      int row, Vec3* of_link, Vec3* of_pair) {
  if (term->other >= 0) return &of_pair[(size_t)row * (size_t)recording->pair_count + pair];
  return &of_link[row_index(selection, recording->model, row, term->link).pose];
}

double loss_force(const LossTerm* term, const Recording* recording, LossSeeds* seeds) {
  double sum = 0, share = loss_state_weight(term);
  size_t pair = term->other >= 0 ? find_pair(term, recording) : 0;
  for (int k = term->first; k <= term->last; k++) {
    Vec3 force = *force_at(term, recording, recording->selection, pair, k, recording->force, recording->pair_force);
    Vec3 e = vec3_sub(force, term->target);
    sum += vec3_dot(e, e);
    if (seeds) {
      Vec3* seed = force_at(term, recording, seeds->selection, pair, k, seeds->force, seeds->pair_force);
      *seed = vec3_add_scaled(*seed, 2 * share, e);
    }
  }
  return share * sum;
}
