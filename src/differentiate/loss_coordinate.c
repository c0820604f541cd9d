/* Coordinate: mean over the window of (q_i - value)^2, with q_i coordinate i of a joint, or its difference from the
 * coordinate of the joint `other`. */
#include "differentiate/loss.h"

static void check_joint(const LossTerm* term, const LossContext* context, int link, SourcePosition place) {
  const ModelLink* found = &context->model->links[link];
  if (term->dof >= found->dof_count)
    loss_report_error(context, place,
                      "'dof' is %d, but the joint of '%.60s' has %d degree%s of freedom, numbered from 0", term->dof,
                      found->name, found->dof_count, found->dof_count == 1 ? "" : "s");
  else if (term->dof >= found->joint.scalar_count)
    loss_report_error(context, place,
                      "'dof' %d of '%.60s' is one of three rotations, which have no single coordinates: use the loss "
                      "'orientation' or 'pose'",
                      term->dof, found->name);
}

void loss_coordinate_prepare(LossTerm* term, const LossContext* context) {
  for (int k = 0; k < (term->link_count > 0 ? term->link_count : 1); k++)
    check_joint(term, context, term->link_count > 0 ? term->links[k] : term->link, context->source->place);
  if (term->other >= 0) check_joint(term, context, term->other, context->source->other.place);
}

static double coordinate(const LossTerm* term, const Recording* r, int link, int step) {
  return r->q[row_index(r->selection, r->model, step, link).coordinate + (size_t)term->dof];
}

/* Adds g to the derivatives of the loss at a row: its derivative with respect to the term's coordinate of the link's
 * joint. */
static void add_seed(const LossTerm* term, const Recording* r, int link, int step, double g, LossSeeds* seeds) {
  seeds->q[row_index(seeds->selection, r->model, step, link).dof + (size_t)term->dof] += g;
}

double loss_coordinate(const LossTerm* term, const Recording* recording, LossSeeds* seeds) {
  double sum = 0, share = loss_state_weight(term);
  for (int k = term->first; k <= term->last; k++) {
    double e = coordinate(term, recording, term->link, k) - term->value;
    if (term->other >= 0) e -= coordinate(term, recording, term->other, k);
    sum += e * e;
    if (!seeds) continue;
    add_seed(term, recording, term->link, k, 2 * share * e, seeds);
    if (term->other >= 0) add_seed(term, recording, term->other, k, -2 * share * e, seeds);
  }
  return share * sum;
}
