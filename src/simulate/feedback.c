/* What drives are told: a signal and measurements times a matrix, late or not, forward and backwards. */
#include "simulate/delay.h"
#include "simulate/feedback.h"

/* What the j-th measurement of a drive comes to it as: at t, or `delay` before (E6). */
static double heard(const Sim* s, const ModelController* c, int j) {
  return c->delayed_first >= 0 ? s->state.delayed[2 * c->delayed_first + j] : sense(s, &c->source->measures[j]);
}

void controller_input(const Sim* s, int controller, double* value, double* rate) {
  const ModelController* c = &s->model->controllers[controller];
  const SceneController* source = c->source;
  signal_eval(&c->target, s->clock.time - source->delay, value, rate);
  for (int j = 0; j < source->measure_count; j++) {
    double y = heard(s, c, j);
    for (int k = 0; k < source->target.channels; k++) value[k] += source->feedback[k * source->measure_count + j] * y;
  }
}

/* By the delay: the signal is as much earlier. */
static double delay_slope(const ModelController* c, double t, const double* value_bar, const double* rate_bar) {
  double value[JOINT_MAX_DOF], rate[JOINT_MAX_DOF], acceleration[JOINT_MAX_DOF], slope = 0;
  signal_eval(&c->target, t, value, rate);
  signal_acceleration(&c->target, t, acceleration);
  for (int k = 0; k < c->target.source->channels; k++) slope -= value_bar[k] * rate[k] + rate_bar[k] * acceleration[k];
  return slope;
}

/* y-bar = K^T z-bar (E3). */
static double measure_bar(const SceneController* source, int j, const double* value_bar) {
  double bar = 0;
  for (int k = 0; k < source->target.channels; k++)
    bar += value_bar[k] * source->feedback[k * source->measure_count + j];
  return bar;
}

/* Late measurements: by the delay, and on to the states that they were taken in (E6). */
static void hand_back_late(const Sim* s, int controller, const double* value_bar, const FeedbackBars* out) {
  const ModelController* c = &s->model->controllers[controller];
  const SceneController* source = c->source;
  const double* slope = s->state.delayed + 2 * c->delayed_first + source->measure_count;
  double* bar = delay_pending_add(out->pending, s, controller);
  for (int j = 0; j < source->measure_count; j++) {
    bar[j] = measure_bar(source, j, value_bar);
    out->gradient->gains[c->gain_first] -= bar[j] * slope[j];
  }
}

void controller_input_adjoint(const Sim* s, int controller, const double* value_bar, const double* rate_bar,
                              const FeedbackBars* out) {
  const ModelController* c = &s->model->controllers[controller];
  const SceneController* source = c->source;
  double t = s->clock.time - source->delay;
  signal_eval_vjp(&c->target, t, value_bar, rate_bar, out->gradient->control + c->parameter_first);
  double* gains = out->gradient->gains + c->gain_first;
  if (source->delay > 0) gains[0] += delay_slope(c, t, value_bar, rate_bar);
  double* matrix = gains + 1 + 4 * source->target.channels;
  for (int j = 0; j < source->measure_count; j++) {
    double y = heard(s, c, j), bar = measure_bar(source, j, value_bar);
    for (int k = 0; k < source->target.channels; k++) matrix[k * source->measure_count + j] += value_bar[k] * y;
    if (bar != 0 && c->delayed_first < 0) sense_adjoint(s, &source->measures[j], bar, out);
  }
  if (c->delayed_first >= 0) hand_back_late(s, controller, value_bar, out);
}
