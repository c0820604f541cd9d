/* Computes the inputs of drives from a signal and the feedback of measurements, with or without a delay, and the
 * derivatives of these inputs. */
#include <assert.h>

#include "simulate/delay.h"
#include "simulate/feedback.h"

/* Returns measurement j of a drive as the drive receives it: its value at t, or, with a delay, its value at t - delay
 * (E6). */
static double received_measurement(const Sim* s, const ModelController* c, int j) {
  assert(j >= 0 && j < c->source->measure_count);
  return c->delayed_first >= 0 ? s->state.delayed[2 * c->delayed_first + j] : sensor_value(s, &c->source->measures[j]);
}

/* Returns the time before t + dt at which the target position of a PD drive is evaluated [s]. This time matches the
 * time weights of the joint's position gains (M10). Returns 0 for all other drives. */
static double target_lag(const Sim* s, const ModelController* c) {
  if (c->type != CONTROLLER_PD) return 0;
  SpringTimeWeights at = step_spring_time_weights(s, c->link);
  return at.now * s->clock.dt + at.old * (s->clock.dt + s->clock.dt_before);
}

void controller_input(const Sim* s, int controller, double* value, double* rate) {
  assert(controller >= 0 && controller < s->model->controller_count);
  const ModelController* c = &s->model->controllers[controller];
  const SceneController* source = c->source;
  double t = s->clock.time - source->delay, lag = target_lag(s, c), unused[JOINT_MAX_DOF];
  signal_eval(&c->target, t, value, rate);
  if (lag != 0) signal_eval(&c->target, t - lag, value, unused);
  if (source->feedback_type == FEEDBACK_MLP) {
    double y[MLP_WIDTH_MAX];
    for (int j = 0; j < source->measure_count; j++) y[j] = received_measurement(s, c, j);
    mlp_eval(source, y, value);
    return;
  }
  for (int j = 0; j < source->measure_count; j++) {
    double y = received_measurement(s, c, j);
    for (int k = 0; k < source->target.channels; k++) value[k] += source->feedback[k * source->measure_count + j] * y;
  }
}

/* Adds the derivatives of a scalar with respect to the signal's parameters and to the delay, given its derivatives
 * value_bar and rate_bar with respect to the signal. The delay shifts the time t at which the signal is evaluated. */
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

/* Backward pass of the product of the feedback matrix and the measurements, for measurement j with the value y. Adds
 * the derivatives of the scalar with respect to column j of the matrix to `matrix`. Returns the derivative with respect
 * to the measurement (E3). */
static double feedback_matrix_adjoint(const SceneController* source, int j, double y, const double* value_bar,
                                      double* matrix) {
  double bar = 0;
  for (int k = 0; k < source->target.channels; k++) {
    matrix[k * source->measure_count + j] += value_bar[k] * y;
    bar += value_bar[k] * source->feedback[k * source->measure_count + j];
  }
  return bar;
}

/* Propagates `bar`, the derivative of a scalar with respect to measurement j, backward. Without a delay, adds the
 * derivatives of the scalar with respect to the state. With a delay, stores `bar` in late[j] for the earlier states and
 * adds the derivative with respect to the delay (E6). late: pending derivatives of the drive; NULL: the drive has no
 * delay. */
static void propagate_measurement_bar(const Sim* s, const ModelController* c, int j, double bar, double* late,
                                      const FeedbackBars* out) {
  const SceneController* source = c->source;
  if (late) {
    late[j] = bar;
    out->gradient->gains[c->gain_first] -= bar * s->state.delayed[2 * c->delayed_first + source->measure_count + j];
  } else if (bar != 0) {
    sensor_adjoint(s, &source->measures[j], bar, out);
  }
}

/* Adds the derivative of a scalar with respect to the implicitness theta of the joint's springs, which determines the
 * time lag of the target position (M10). */
static void target_lag_adjoint(const Sim* s, const ModelController* c, double t, const double* value_bar,
                               ModelGradient* gradient) {
  double value[JOINT_MAX_DOF], rate[JOINT_MAX_DOF], by_lag = 0;
  SpringTimeWeights by_theta = step_spring_time_weights_derivative(s, c->link);
  signal_eval(&c->target, t, value, rate);
  for (int k = 0; k < c->target.source->channels; k++) by_lag -= value_bar[k] * rate[k];
  gradient->thetas[c->link] +=
      by_lag * (by_theta.now * s->clock.dt + by_theta.old * (s->clock.dt + s->clock.dt_before));
}

void controller_input_adjoint(const Sim* s, int controller, const double* value_bar, const double* rate_bar,
                              const FeedbackBars* out) {
  assert(controller >= 0 && controller < s->model->controller_count);
  const ModelController* c = &s->model->controllers[controller];
  const SceneController* source = c->source;
  double t = s->clock.time - source->delay, lag = target_lag(s, c), zero[JOINT_MAX_DOF] = {0};
  signal_adjoint(c, t, lag != 0 ? zero : value_bar, rate_bar, out->gradient);
  if (lag != 0) {
    signal_adjoint(c, t - lag, value_bar, zero, out->gradient);
    target_lag_adjoint(s, c, t - lag, value_bar, out->gradient);
  }
  double* numbers = out->gradient->gains + c->gain_first + 1 + 4 * source->target.channels;
  double* late = c->delayed_first >= 0 ? delay_pending_add(out->pending, s, controller) : NULL;
  if (source->feedback_type == FEEDBACK_MLP) {
    double y[MLP_WIDTH_MAX], y_bar[MLP_WIDTH_MAX];
    for (int j = 0; j < source->measure_count; j++) y[j] = received_measurement(s, c, j);
    mlp_eval_vjp(source, y, value_bar, numbers, y_bar);
    for (int j = 0; j < source->measure_count; j++) propagate_measurement_bar(s, c, j, y_bar[j], late, out);
    return;
  }
  for (int j = 0; j < source->measure_count; j++)
    propagate_measurement_bar(
        s, c, j, feedback_matrix_adjoint(source, j, received_measurement(s, c, j), value_bar, numbers), late, out);
}
