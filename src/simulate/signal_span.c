/* Time at which a step uses the value of a signal (docs/derivations/loads.md, L98). */
#include "simulate/signal_span.h"

#include <assert.h>

SignalUse controller_signal_use(const ModelController* c) {
  if (c->target.source->type == SIGNAL_ZERO_ORDER_HOLD) return SIGNAL_IS_HELD;
  return c->type == CONTROLLER_TORQUE ? SIGNAL_IS_FORCE : SIGNAL_IS_RATE;
}

SignalSpan signal_span(Integrator integrator, const StepClock* clock, SignalUse use) {
  assert(clock->dt > 0);
  double begin = clock->time - clock->dt;
  SignalSpan step = {begin, clock->time}, end = {clock->time, clock->time};
  SignalSpan between_middles = {begin - 0.5 * fmax(clock->dt_before, 0), begin + 0.5 * clock->dt};
  bool free = clock->kind == STEP_FREE, second = integrator == INTEGRATOR_SECOND_ORDER;
  switch (use) {
    case SIGNAL_IS_FORCE:
      if (free && second) return end;
      return free && integrator == INTEGRATOR_FIRST_ORDER ? step : between_middles;
    case SIGNAL_IS_RATE:
      return second ? end : step;
    case SIGNAL_IS_HELD:
      break;
  }
  return step;
}

StepSpan step_span_between(SignalSpan recorded, SignalSpan now) {
  return (StepSpan){recorded, {now.from - recorded.from, now.to - recorded.to}};
}

StepSpan step_span(const Sim* s, SignalUse use) {
  Integrator integrator = s->model->simulation.integrator;
  SignalSpan now = signal_span(integrator, &s->clock, use);
  return step_span_between(s->replayed.clock ? signal_span(integrator, s->replayed.clock, use) : now, now);
}

void step_signal_mean(const Signal* signal, const StepSpan* span, double* value, double* rate) {
  signal_mean(signal, span->at, value, rate);
  if (span->change.from == 0 && span->change.to == 0) return;
  double by_value[JOINT_MAX_DOF], by_rate[JOINT_MAX_DOF];
  signal_mean_change(signal, span->at, span->change, by_value, by_rate);
  for (int c = 0; c < signal->source->channels; c++) {
    value[c] += by_value[c];
    rate[c] += by_rate[c];
  }
}

/* Returns the earlier of `before` and the first jump of the signal in the interval [s]. */
static double earlier_jump(const Sim* s, const Signal* signal, SignalSpan interval, double before) {
  if (!signal->source || signal->source->channels == 0) return before;
  return fmin(before, signal_first_jump(signal, interval, simulation_substep_length(&s->model->simulation)));
}

double step_first_jump(const Sim* s, SignalSpan interval) {
  const Model* m = s->model;
  double first = (double)INFINITY;
  if (m->simulation.integrator != INTEGRATOR_MOMENTUM) return first;
  for (int k = 0; k < m->load_count; k++) {
    first = earlier_jump(s, &m->loads[k].force, interval, first);
    first = earlier_jump(s, &m->loads[k].torque, interval, first);
  }
  for (int k = 0; k < m->tendon_count; k++) first = earlier_jump(s, &m->tendons[k].tension, interval, first);
  for (int k = 0; k < m->closure_count; k++) first = earlier_jump(s, &m->closures[k].active, interval, first);
  for (int k = 0; k < m->controller_count; k++) {
    const ModelController* c = &m->controllers[k];
    bool acts = c->type == CONTROLLER_TORQUE || c->type == CONTROLLER_PD;
    if (acts && c->source->delay == 0) first = earlier_jump(s, &c->target, interval, first);
  }
  return first;
}

/* Substeps end at a corner of a prescribed coordinate only if corners are at least this number of steps apart. Each
 * corner adds one or two substeps, so all corners together add at most a fifth to the number of substeps. */
#define CORNER_DISTANCE 10

double step_first_rate_jump(const Sim* s, SignalSpan interval) {
  const Model* m = s->model;
  const double step = simulation_substep_length(&m->simulation);
  double first = (double)INFINITY;
  if (m->simulation.integrator != INTEGRATOR_MOMENTUM) return first;
  for (int k = 0; k < m->controller_count; k++) {
    const ModelController* c = &m->controllers[k];
    if (c->type == CONTROLLER_PRESCRIBED)
      first = fmin(first, signal_first_rate_jump(&c->target, interval, step, CORNER_DISTANCE * step));
  }
  return first;
}
