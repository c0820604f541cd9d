/* Loss "smoothness": mean over the time window of the squared time derivative of the controllers' targets, summed over
 * controllers and their degrees of freedom. */
#include "differentiate/loss.h"

static bool controller_counts(const LossTerm* term, const ModelController* controller) {
  return term->link < 0 || controller->link == term->link;
}

void loss_smoothness_prepare(LossTerm* term, const LossContext* context) {
  const Model* model = context->model;
  for (int c = 0; c < model->controller_count; c++)
    if (controller_counts(term, &model->controllers[c])) return;
  if (term->link < 0)
    loss_report_error(context, context->source->place,
                      "the scene has no controller with a target: add one, or remove the loss");
  else
    loss_report_error(context, context->source->link.place,
                      "no controller drives the joint of '%.60s': add a controller, or name another link",
                      model->links[term->link].name);
}

double loss_smoothness(const LossTerm* term, const Recording* recording, LossSeeds* seeds) {
  const Model* model = recording->model;
  const double none[JOINT_MAX_DOF] = {0};
  double sum = 0, share = loss_state_weight(term), value[JOINT_MAX_DOF], rate[JOINT_MAX_DOF], by_rate[JOINT_MAX_DOF];
  for (int c = 0; c < model->controller_count; c++) {
    const ModelController* controller = &model->controllers[c];
    for (int k = term->first; controller_counts(term, controller) && k <= term->last; k++) {
      double t = model_row_time(model, k);
      signal_eval(&controller->target, t, value, rate);
      for (int i = 0; i < model->links[controller->link].dof_count; i++) {
        sum += rate[i] * rate[i];
        by_rate[i] = 2 * share * rate[i];
      }
      if (seeds) signal_eval_vjp(&controller->target, t, none, by_rate, seeds->control + controller->parameter_first);
    }
  }
  return share * sum;
}
