/* What drives are told: a signal and measurements times a matrix, late or not, forward and backwards. */
#include "simulate/delay.h"
#include "simulate/feedback.h"

/* What the j-th measurement of a drive comes to it as: at t, or `delay` before (E6). */
static double heard(const Sim* s, const ModelController* c, int j) {
  return c->delayed_first >= 0 ? s->state.delayed[2 * c->delayed_first + j] : sense(s, &c->source->measures[j]);
}

/* How long before t + dt the position of a target counts: as long as that of the joint (M10) [s]. */
static double target_lag(const Sim* s, const ModelController* c) {
  if (c->type != CONTROLLER_PD) return 0;
  SpringTime at = step_spring_time(s, c->link);
  return at.now * s->clock.dt + at.old * (s->clock.dt + s->clock.dt_before);
}

void controller_input(const Sim* s, int controller, double* value, double* rate) {
  const ModelController* c = &s->model->controllers[controller];
  const SceneController* source = c->source;
  double t = s->clock.time - source->delay, lag = target_lag(s, c), unused[JOINT_MAX_DOF];
  signal_eval(&c->target, t, value, rate);
  if (lag != 0) signal_eval(&c->target, t - lag, value, unused);
  for (int j = 0; j < source->measure_count; j++) {
    double y = heard(s, c, j);
    for (int k = 0; k < source->target.channels; k++) value[k] += source->feedback[k * source->measure_count + j] * y;
  }
}

/* By the signal at t, and by the delay: the signal is as much earlier. */
static void signal_adjoint(const ModelController* c, double t, const double* value_bar, const double* rate_bar,
                           ModelGradient* gradient) {
  double value[JOINT_MAX_DOF], rate[JOINT_MAX_DOF], acceleration[JOINT_MAX_DOF], slope = 0;
  signal_eval_vjp(&c->target, t, value_bar, rate_bar, gradient->control + c->parameter_first);
  if (!(c->source->delay > 0)) return;
  signal_eval(&c->target, t, value, rate);
  signal_acceleration(&c->target, t, acceleration);
  for (int k = 0; k < c->target.source->channels; k++) slope -= value_bar[k] * rate[k] + rate_bar[k] * acceleration[k];
  gradient->gains[c->gain_first] += slope;
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
  double t = s->clock.time - source->delay, lag = target_lag(s, c), zero[JOINT_MAX_DOF] = {0};
  signal_adjoint(c, t, lag != 0 ? zero : value_bar, rate_bar, out->gradient);
  if (lag != 0) signal_adjoint(c, t - lag, value_bar, zero, out->gradient);
  double* gains = out->gradient->gains + c->gain_first;
  double* matrix = gains + 1 + 4 * source->target.channels;
  for (int j = 0; j < source->measure_count; j++) {
    double y = heard(s, c, j), bar = measure_bar(source, j, value_bar);
    for (int k = 0; k < source->target.channels; k++) matrix[k * source->measure_count + j] += value_bar[k] * y;
    if (bar != 0 && c->delayed_first < 0) sense_adjoint(s, &source->measures[j], bar, out);
  }
  if (c->delayed_first >= 0) hand_back_late(s, controller, value_bar, out);
}
