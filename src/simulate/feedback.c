/* Computes the inputs of drives from a signal and the feedback of measurements, with or without a delay, and the
 * derivatives of these inputs. */
#include <assert.h>
#include <string.h>

#include "simulate/delay.h"
#include "simulate/feedback.h"
#include "simulate/signal_span.h"

/* Returns measurement j of a drive as the drive receives it: its value at t, or, with a delay, its value at t - delay
 * (feedback.md, E6). */
static double received_measurement(const Sim* s, const ModelController* c, int j) {
  assert(j >= 0 && j < c->source->measure_count);
  return c->delayed_first >= 0 ? s->state.delayed[2 * c->delayed_first + j] : sensor_value(s, &c->source->measures[j]);
}

/* Returns true for drives whose target position belongs to the time at which the spring of the drive acts (drives.md,
 * M10). */
static bool follows_coordinate(const ModelController* c) {
  return c->type == CONTROLLER_PD && controller_signal_use(c) != SIGNAL_IS_HELD;
}

/* Returns the span of a drive's target position in the step of `clock`. The middle of the span is the mean time of the
 * positions that the spring uses (M10). The length of the span is the time from its middle to t + dt. For theta = 1/2
 * the span extends half a step to both sides of t; for theta = 1 it has no length. */
static SignalSpan coordinate_span(const Sim* s, const ModelController* c, const StepClock* clock) {
  SpringTimeWeights at = spring_time_weights(clock, &s->weights, s->model->links[c->link].spring_theta, false);
  double lag = at.now * clock->dt + at.old * (clock->dt + clock->dt_before);
  return (SignalSpan){clock->time - 1.5 * lag, clock->time - 0.5 * lag};
}

/* Returns true for drives whose target rate belongs to the time at which dampers act (M12). */
static bool follows_rate(const Sim* s, const ModelController* c) {
  return s->model->simulation.integrator == INTEGRATOR_MOMENTUM && controller_signal_use(c) == SIGNAL_IS_RATE;
}

/* Returns the span of a drive's target rate in the step of `clock`. It consists of the last fraction 1 - theta of the
 * previous step and the first fraction theta of this step. theta: implicitness of the joint's dampers (M12). */
static SignalSpan rate_span(const Sim* s, const ModelController* c, const StepClock* clock) {
  double past = 1 - s->model->links[c->link].damper_theta, begin = clock->time - clock->dt;
  return (SignalSpan){begin - past * fmax(clock->dt_before, 0), clock->time - past * clock->dt};
}

/* Spans of time over which a drive takes the means of the value and of the rate of its signal (E2). */
typedef struct {
  StepSpan value, rate;
} InputSpans;

static StepSpan shift_span(StepSpan span, double by) {
  span.at = (SignalSpan){span.at.from + by, span.at.to + by};
  return span;
}

static InputSpans input_spans(const Sim* s, const ModelController* c) {
  InputSpans spans;
  const StepClock* recorded = s->replayed.clock ? s->replayed.clock : &s->clock;
  spans.rate = follows_rate(s, c) ? step_span_between(rate_span(s, c, recorded), rate_span(s, c, &s->clock))
                                  : step_span(s, controller_signal_use(c));
  spans.value = spans.rate;
  if (follows_coordinate(c))
    spans.value = step_span_between(coordinate_span(s, c, recorded), coordinate_span(s, c, &s->clock));
  return (InputSpans){shift_span(spans.value, -c->source->delay), shift_span(spans.rate, -c->source->delay)};
}

/* Sets value[JOINT_MAX_DOF] to the feedback of measurements; zeros without feedback. */
static void compute_feedback(const Sim* s, const ModelController* c, double* value) {
  const SceneController* source = c->source;
  memset(value, 0, sizeof(double) * JOINT_MAX_DOF);
  double y[MLP_WIDTH_MAX];
  for (int j = 0; j < source->measure_count; j++) y[j] = received_measurement(s, c, j);
  if (source->feedback_type == FEEDBACK_MLP) {
    mlp_eval(source, y, value);
    return;
  }
  for (int j = 0; j < source->measure_count; j++)
    for (int k = 0; k < source->target.channels; k++)
      value[k] += source->feedback[k * source->measure_count + j] * y[j];
}

void controller_input(const Sim* s, int controller, DriveInput* input) {
  assert(controller >= 0 && controller < s->model->controller_count);
  const ModelController* c = &s->model->controllers[controller];
  InputSpans spans = input_spans(s, c);
  double unused[JOINT_MAX_DOF];
  step_signal_mean(&c->target, &spans.rate, input->at_rate, input->rate);
  memcpy(input->value, input->at_rate, sizeof(input->value));
  if (follows_coordinate(c)) step_signal_mean(&c->target, &spans.value, input->value, unused);
  compute_feedback(s, c, input->feedback);
  for (int k = 0; k < c->target.source->channels; k++) {
    input->value[k] += input->feedback[k];
    input->at_rate[k] += input->feedback[k];
  }
}

/* Adds the derivatives of a scalar with respect to the signal's parameters and to the delay, given its derivatives
 * value_bar and rate_bar with respect to the means over the span. The delay shifts the span. */
static void signal_adjoint(const ModelController* c, SignalSpan span, const double* value_bar, const double* rate_bar,
                           ModelGradient* gradient) {
  double by_value[JOINT_MAX_DOF], by_rate[JOINT_MAX_DOF], slope = 0;
  signal_mean_vjp(&c->target, span, value_bar, rate_bar, gradient->control + c->parameter_first);
  if (!(c->source->delay > 0)) return;
  signal_mean_change(&c->target, span, (SignalSpan){1, 1}, by_value, by_rate);
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

/* Adds the derivative of a scalar with respect to the implicitness theta of the joint's springs, on which the span of
 * the target position depends (M10). */
static void coordinate_span_adjoint(const Sim* s, const ModelController* c, SignalSpan span, const double* value_bar,
                                    ModelGradient* gradient) {
  double by_value[JOINT_MAX_DOF], unused[JOINT_MAX_DOF];
  SpringTimeWeights by_theta = step_spring_time_weights_derivative(s, c->link);
  double lag = by_theta.now * s->clock.dt + by_theta.old * (s->clock.dt + s->clock.dt_before);
  if (!(span.from < span.to)) return;
  signal_mean_change(&c->target, span, (SignalSpan){-1.5 * lag, -0.5 * lag}, by_value, unused);
  for (int k = 0; k < c->target.source->channels; k++) gradient->thetas[c->link] += value_bar[k] * by_value[k];
}

/* Adds the derivative of a scalar with respect to the implicitness theta of the joint's dampers, on which the span of
 * the target rate depends (M12). */
static void rate_span_adjoint(const Sim* s, const ModelController* c, SignalSpan span, const double* value_bar,
                              const double* rate_bar, ModelGradient* gradient) {
  double by_value[JOINT_MAX_DOF], by_rate[JOINT_MAX_DOF], sum = 0;
  if (!follows_rate(s, c) || !(s->model->links[c->link].damper_theta < 1)) return;
  signal_mean_change(&c->target, span, (SignalSpan){fmax(s->clock.dt_before, 0), s->clock.dt}, by_value, by_rate);
  for (int k = 0; k < c->target.source->channels; k++) sum += value_bar[k] * by_value[k] + rate_bar[k] * by_rate[k];
  gradient->thetas[model_theta_index(s->model, THETA_JOINT_DAMPER, c->link)] += sum;
}

void controller_input_adjoint(const Sim* s, int controller, const DriveInput* bar, const FeedbackBars* out) {
  assert(controller >= 0 && controller < s->model->controller_count);
  const ModelController* c = &s->model->controllers[controller];
  const SceneController* source = c->source;
  const double zero[JOINT_MAX_DOF] = {0};
  double value_bar[JOINT_MAX_DOF], feedback_bar[JOINT_MAX_DOF];
  for (int k = 0; k < JOINT_MAX_DOF; k++) {
    value_bar[k] = bar->value[k] + bar->at_rate[k];
    feedback_bar[k] = value_bar[k] + bar->feedback[k];
  }
  InputSpans spans = input_spans(s, c);
  bool follows = follows_coordinate(c);
  signal_adjoint(c, spans.rate.at, follows ? bar->at_rate : value_bar, bar->rate, out->gradient);
  rate_span_adjoint(s, c, spans.rate.at, follows ? bar->at_rate : value_bar, bar->rate, out->gradient);
  if (follows) signal_adjoint(c, spans.value.at, bar->value, zero, out->gradient);
  if (follows) coordinate_span_adjoint(s, c, spans.value.at, bar->value, out->gradient);
  double* numbers = out->gradient->gains + c->gain_first + 1 + 4 * source->target.channels;
  double* late = c->delayed_first >= 0 ? delay_pending_add(out->pending, s, controller) : NULL;
  if (source->feedback_type == FEEDBACK_MLP) {
    double y[MLP_WIDTH_MAX], y_bar[MLP_WIDTH_MAX];
    for (int j = 0; j < source->measure_count; j++) y[j] = received_measurement(s, c, j);
    mlp_eval_vjp(source, y, feedback_bar, numbers, y_bar);
    for (int j = 0; j < source->measure_count; j++) propagate_measurement_bar(s, c, j, y_bar[j], late, out);
    return;
  }
  for (int j = 0; j < source->measure_count; j++)
    propagate_measurement_bar(
        s, c, j, feedback_matrix_adjoint(source, j, received_measurement(s, c, j), feedback_bar, numbers), late, out);
}

const double* sim_feedback(const Sim* s) { return s->feedback; }

double feedback_product(const Sim* s, const double* slopes) {
  double sum = 0;
  for (int k = 0; slopes && k < s->model->feedback_count; k++) sum += slopes[k] * s->feedback[k];
  return sum;
}

void feedback_adjoint(const Sim* s, const double* slopes, const FeedbackBars* out) {
  for (int c = 0; slopes && c < s->model->controller_count; c++) {
    const ModelController* controller = &s->model->controllers[c];
    DriveInput bar = {.value = {0}};
    bool any = false;
    for (int k = 0; controller->feedback_first >= 0 && k < controller->target.source->channels; k++) {
      bar.feedback[k] = slopes[controller->feedback_first + k];
      any = any || bar.feedback[k] != 0;
    }
    if (any) controller_input_adjoint(s, c, &bar, out);
  }
}
