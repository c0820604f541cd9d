/* Parameters of a controller other than its signal, numbered in one list. */
#include <assert.h>

#include "scene/parts.h"

int controller_feedback_count(const SceneController* c) {
  assert(c->hidden_count >= 0 && c->hidden_count <= MLP_HIDDEN_MAX);
  int inputs = c->measure_count, count = 0;
  if (c->feedback_type == FEEDBACK_MATRIX) return c->target.channels * inputs;
  for (int layer = 0; layer < c->hidden_count; layer++) {
    count += c->hidden[layer] * (inputs + 1);
    inputs = c->hidden[layer];
  }
  return count + c->target.channels * (inputs + 1);
}

int controller_gain_count(const SceneController* c) {
  return 1 + 4 * c->target.channels + controller_feedback_count(c);
}

Gain controller_gain_at(const SceneController* c, int index) {
  int dof = c->target.channels;
  assert(index >= 0 && index < controller_gain_count(c));
  if (index == 0) return (Gain){GAIN_DELAY, 0};
  if (index <= 4 * dof) return (Gain){(GainKind)(GAIN_POSITION + (index - 1) / dof), (index - 1) % dof};
  return (Gain){GAIN_FEEDBACK, index - 1 - 4 * dof};
}

double* controller_gain_value(SceneController* c, int index) {
  Gain gain = controller_gain_at(c, index);
  double* const first[GAIN_KINDS] = {
      [GAIN_DELAY] = &c->delay,         [GAIN_POSITION] = c->position_gain, [GAIN_VELOCITY] = c->velocity_gain,
      [GAIN_DAMPING] = c->damping_gain, [GAIN_MAX_FORCE] = c->max_force,    [GAIN_FEEDBACK] = c->feedback};
  return first[gain.kind] + gain.index;
}

bool controller_gain_has_effect(const SceneController* c, int index) {
  Gain gain = controller_gain_at(c, index);
  switch (gain.kind) {
    case GAIN_DELAY:
      return c->delay > 0;
    case GAIN_POSITION:
    case GAIN_VELOCITY:
      return c->type == CONTROLLER_PD;
    case GAIN_DAMPING:
      return c->type != CONTROLLER_PRESCRIBED;
    case GAIN_MAX_FORCE:
      return c->max_force[gain.index] > 0;
    case GAIN_FEEDBACK:
    case GAIN_KINDS:
      break;
  }
  return true;
}
