/* Neural network of measurements (feedback.md, E7). Each layer has weights and biases. All layers but the output layer
 * are followed by tanh. */
#include <assert.h>

#include "control/control.h"

/* Inputs of the network (row 0), then the outputs of each hidden layer after tanh. */
typedef struct {
  double row[MLP_HIDDEN_MAX + 1][MLP_WIDTH_MAX];
} Activations;

/* Returns tanh x = sign(x) (1 - e^(-2|x|)) / (1 + e^(-2|x|)) with an absolute error below 4e-16. */
static double stable_tanh(double x) {
  double e = math_exp_nonpositive(-2 * fabs(x));
  return copysign((1 - e) / (1 + e), x);
}

static int count_inputs(const SceneController* c, int layer) {
  assert(layer >= 0);
  return layer == 0 ? c->measure_count : c->hidden[layer - 1];
}

static int count_outputs(const SceneController* c, int layer) {
  return layer == c->hidden_count ? c->target.channels : c->hidden[layer];
}

/* Returns the output of neuron k before tanh: entry k of W a + b, with weights W and biases b. a[inputs]: inputs of the
 * layer. */
static double neuron_output(const double* weights, const double* biases, int k, const double* a, int inputs) {
  double sum = biases[k];
  for (int j = 0; j < inputs; j++) sum += weights[k * inputs + j] * a[j];
  return sum;
}

/* Evaluates all hidden layers. Returns the weights of the output layer, borrowed from c. */
static const double* evaluate_hidden_layers(const SceneController* c, const double* y, Activations* a) {
  const double* weights = c->feedback;
  for (int j = 0; j < c->measure_count; j++) a->row[0][j] = y[j];
  for (int layer = 0; layer < c->hidden_count; layer++) {
    int inputs = count_inputs(c, layer), outputs = count_outputs(c, layer);
    const double* biases = weights + outputs * inputs;
    for (int k = 0; k < outputs; k++)
      a->row[layer + 1][k] = stable_tanh(neuron_output(weights, biases, k, a->row[layer], inputs));
    weights = biases + outputs;
  }
  return weights;
}

void mlp_eval(const SceneController* c, const double* y, double* value) {
  assert(c && y && value);
  Activations a;
  const double* weights = evaluate_hidden_layers(c, y, &a);
  int inputs = count_inputs(c, c->hidden_count), outputs = count_outputs(c, c->hidden_count);
  for (int k = 0; k < outputs; k++)
    value[k] += c->scale * neuron_output(weights, weights + outputs * inputs, k, a.row[c->hidden_count], inputs);
}

/* Backward pass of a layer s = W a + b with weights W, inputs a and biases b. s_bar[outputs]: derivative with respect
 * to s. Adds the derivatives with respect to W and b, s_bar a^T and s_bar, to weights_bar. Sets a_bar[inputs] to W^T
 * s_bar. */
static void layer_vjp(const double* weights, const double* a, int inputs, int outputs, const double* s_bar,
                      double* weights_bar, double* a_bar) {
  for (int j = 0; j < inputs; j++) a_bar[j] = 0;
  for (int k = 0; k < outputs; k++) {
    for (int j = 0; j < inputs; j++) {
      weights_bar[k * inputs + j] += s_bar[k] * a[j];
      a_bar[j] += weights[k * inputs + j] * s_bar[k];
    }
    weights_bar[outputs * inputs + k] += s_bar[k];
  }
}

void mlp_eval_vjp(const SceneController* c, const double* y, const double* value_bar, double* numbers_bar,
                  double* y_bar) {
  Activations a;
  const double* weights = evaluate_hidden_layers(c, y, &a);
  double bar[2][MLP_WIDTH_MAX] = {{0}}, output_bar[JOINT_MAX_DOF];
  for (int k = 0; k < c->target.channels; k++) output_bar[k] = c->scale * value_bar[k];
  const double* s_bar = output_bar;
  for (int layer = c->hidden_count;; layer--) {
    int inputs = count_inputs(c, layer), outputs = count_outputs(c, layer);
    double* a_bar = layer == 0 ? y_bar : bar[layer % 2];
    layer_vjp(weights, a.row[layer], inputs, outputs, s_bar, numbers_bar + (weights - c->feedback), a_bar);
    if (layer == 0) return;
    for (int j = 0; j < inputs; j++) a_bar[j] *= 1 - a.row[layer][j] * a.row[layer][j];
    weights -= inputs * (count_inputs(c, layer - 1) + 1);
    s_bar = a_bar;
  }
}
