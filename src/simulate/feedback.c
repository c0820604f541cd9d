/* Computes the inputs of drives from a signal and the feedback of measurements, with or without a delay, and the
 * derivatives of these inputs. */
#include <assert.h>
#include <string.h>

#include "simulate/delay.h"
#include "simulate/feedback.h"
#include "simulate/signal_span.h"

/* Returns measurement j of a drive as the drive receives it: its value at t, or, with a delay, its value at t - delay
 * (E6). */
static double received_measurement(const Sim* s, const ModelController* c, int j) {
  assert(j >= 0 && j < c->source->measure_count);
  return c->delayed_first >= 0 ? s->state.delayed[2 * c->delayed_first + j] : sensor_value(s, &c->source->measures[j]);
}

/* Spans of time over which a drive takes the means of the value and of the rate of its signal (E2). */
typedef struct {
  SignalSpan value, rate;
} InputSpans;

static SignalUse signal_use(const ModelController* c) {
  if (c->target.source->type == SIGNAL_ZERO_ORDER_HOLD) return SIGNAL_IS_HELD;
  return c->type == CONTROLLER_TORQUE ? SIGNAL_IS_FORCE : SIGNAL_IS_RATE;
}

static bool follows_coordinate(const ModelController* c) {
  return c->type == CONTROLLER_PD && signal_use(c) != SIGNAL_IS_HELD;
}

/* Returns the time from the middle of the span of a PD drive's target position to t + dt [s]. It matches the time weights
 * of the joint's position gains (M10). Returns 0 for all other drives. */
static double target_lag(const Sim* s, const ModelController* c) {
  if (!follows_coordinate(c)) return 0;
  SpringTimeWeights at = step_spring_time_weights(s, c->link);
  return at.now * s->clock.dt + at.old * (s->clock.dt + s->clock.dt_before);
}

/* Returns the spans of a drive's input. The target position has a span as long as its lag: half a step before and after
 * t for a spring of theta 1/2, no length for theta 1. */
static InputSpans input_spans(const Sim* s, const ModelController* c) {
  SignalSpan span = signal_span(s->model->simulation.integrator, &s->clock, signal_use(c));
  double delay = c->source->delay, end = s->clock.time - delay, lag = target_lag(s, c);
  span = (SignalSpan){span.from - delay, span.to - delay};
  return (InputSpans){follows_coordinate(c) ? (SignalSpan){end - 1.5 * lag, end - 0.5 * lag} : span, span};
}

/* Adds the feedback of measurements to value[channels]. */
static void add_feedback(const Sim* s, const ModelController* c, double* value) {
  const SceneController* source = c->source;
  double y[MLP_WIDTH_MAX];
  for (int j = 0; j < source->measure_count; j++) y[j] = received_measurement(s, c, j);
  if (source->feedback_type == FEEDBACK_MLP) {
    mlp_eval(source, y, value);
    return;
  }
  for (int j = 0; j < source->measure_count; j++)
    for (int k = 0; k < source->target.channels; k++) value[k] += source->feedback[k * source->measure_count + j] * y[j];
}

void controller_input(const Sim* s, int controller, DriveInput* input) {
  assert(controller >= 0 && controller < s->model->controller_count);
  const ModelController* c = &s->model->controllers[controller];
  InputSpans spans = input_spans(s, c);
  double unused[JOINT_MAX_DOF];
  signal_mean(&c->target, spans.rate, input->at_rate, input->rate);
  memcpy(input->value, input->at_rate, sizeof(input->value));
  if (follows_coordinate(c)) signal_mean(&c->target, spans.value, input->value, unused);
  add_feedback(s, c, input->value);
  add_feedback(s, c, input->at_rate);
}

/* Adds the derivatives of a scalar with respect to the signal's parameters and to the delay, given its derivatives
 * value_bar and rate_bar with respect to the means over the span. The delay shifts the span. */
static void signal_adjoint(const ModelController* c, SignalSpan span, const double* value_bar, const double* rate_bar,
                           ModelGradient* gradient) {
  double by_value[JOINT_MAX_DOF], by_rate[JOINT_MAX_DOF], slope = 0;
  signal_mean_vjp(&c->target, span, value_bar, rate_bar, gradient->control + c->parameter_first);
  if (!(c->source->delay > 0)) return;
  signal_mean_slope(&c->target, span, by_value, by_rate);
  for (int k = 0; k < c->target.source->channels; k++) slope -= value_bar[k] * by_value[k] + rate_bar[k] * by_rate[k];
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

/* Adds the derivative of a scalar with respect to the implicitness theta of the joint's springs (M10). The span of the
 * target position is as long as its lag behind t + dt, which depends on theta. */
static void target_lag_adjoint(const Sim* s, const ModelController* c, SignalSpan span, const double* value_bar,
                               ModelGradient* gradient) {
  double mean[JOINT_MAX_DOF], from[JOINT_MAX_DOF], to[JOINT_MAX_DOF], unused[JOINT_MAX_DOF], by_lag = 0;
  SpringTimeWeights by_theta = step_spring_time_weights_derivative(s, c->link);
  signal_mean(&c->target, span, mean, unused);
  signal_eval(&c->target, span.from, from, unused);
  signal_eval(&c->target, span.to, to, unused);
  for (int k = 0; k < c->target.source->channels; k++)
    by_lag += value_bar[k] * (1.5 * from[k] - 0.5 * to[k] - mean[k]) / (span.to - span.from);
  gradient->thetas[c->link] +=
      by_lag * (by_theta.now * s->clock.dt + by_theta.old * (s->clock.dt + s->clock.dt_before));
}

void controller_input_adjoint(const Sim* s, int controller, const DriveInput* bar, const FeedbackBars* out) {
  assert(controller >= 0 && controller < s->model->controller_count);
  const ModelController* c = &s->model->controllers[controller];
  const SceneController* source = c->source;
  const double zero[JOINT_MAX_DOF] = {0};
  double value_bar[JOINT_MAX_DOF];
  for (int k = 0; k < JOINT_MAX_DOF; k++) value_bar[k] = bar->value[k] + bar->at_rate[k];
  InputSpans spans = input_spans(s, c);
  bool follows = follows_coordinate(c);
  signal_adjoint(c, spans.rate, follows ? bar->at_rate : value_bar, bar->rate, out->gradient);
  if (follows) signal_adjoint(c, spans.value, bar->value, zero, out->gradient);
  if (follows && spans.value.from < spans.value.to)
    target_lag_adjoint(s, c, spans.value, bar->value, out->gradient);
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
