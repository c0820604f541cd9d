/* Writes the feedback of a drive as JSON, which a scene can read, or as a C table with an evaluation function. */
#include <assert.h>
#include <ctype.h>

#include "export/export.h"

static void add_numbers(Text* out, const double* numbers, int count, const char* line) {
  for (int k = 0; k < count; k++) {
    text_add(out, k == 0 ? "" : k % 6 == 0 ? ",%s" : ", ", line);
    text_add_double(out, numbers[k]);
  }
}

void export_policy_json(const Model* model, int controller, Text* out) {
  assert(controller >= 0 && controller < model->controller_count);
  const SceneController* c = model->controllers[controller].source;
  bool mlp = c->feedback_type == FEEDBACK_MLP;
  text_add(out, "{\n  \"type\": \"%s\",\n  \"measures\": [", mlp ? "mlp" : "matrix");
  for (int k = 0; k < c->measure_count; k++) {
    text_add(out, k ? ", " : "");
    text_add_json_string(out, c->measures[k].name);
  }
  text_add(out, "],\n");
  if (mlp) {
    text_add(out, "  \"layers\": [");
    for (int k = 0; k < c->hidden_count; k++) text_add(out, "%s%d", k ? ", " : "", c->hidden[k]);
    text_add(out, "],\n  \"scale\": ");
    text_add_double(out, c->scale);
    text_add(out, ",\n  \"weights\": [\n    ");
    add_numbers(out, c->feedback, controller_feedback_count(c), "\n    ");
  } else {
    text_add(out, "  \"matrix\": [\n    ");
    for (int row = 0; row < c->target.channels; row++) {
      text_add(out, row ? ",\n    [" : "[");
      add_numbers(out, c->feedback + row * c->measure_count, c->measure_count, "\n     ");
      text_add(out, "]");
    }
  }
  text_add(out, "\n  ]\n}\n");
}

static const char EVALUATE[] =
    "/* z = the last layer of a = tanh(W a + b), a = y at first. sizes[layers + 1]: numbers of y, of each hidden layer "
    "and\n"
    " * of z. numbers: of each layer W row by row, then b. */\n"
    "static inline void policy_evaluate(const double* numbers, const int* sizes, int layers, const double* y, double* "
    "z) {\n"
    "  double hidden[2][POLICY_WIDTH_MAX];\n"
    "  for (int layer = 0; layer < layers; layer++) {\n"
    "    const double* a = layer == 0 ? y : hidden[layer % 2];\n"
    "    double* next = layer == layers - 1 ? z : hidden[(layer + 1) % 2];\n"
    "    int inputs = sizes[layer], outputs = sizes[layer + 1];\n"
    "    for (int k = 0; k < outputs; k++) {\n"
    "      double sum = numbers[outputs * inputs + k];\n"
    "      for (int j = 0; j < inputs; j++) sum += numbers[k * inputs + j] * a[j];\n"
    "      next[k] = layer == layers - 1 ? sum : tanh(sum);\n"
    "    }\n"
    "    numbers += outputs * (inputs + 1);\n"
    "  }\n"
    "}\n";

static int policy_ordinal(const Model* model, int controller) {
  int before = 0;
  for (int c = 0; c < controller; c++)
    before += model->controllers[c].link == model->controllers[controller].link &&
              model->controllers[c].source->measure_count > 0;
  return before;
}

/* Appends the C identifier of a drive's feedback: policy_LINK, or policy_LINK_2 for the second drive with feedback of
 * the link. */
static void add_identifier(const Model* model, int controller, Text* name) {
  text_add(name, "policy_");
  for (const char* c = model->links[model->controllers[controller].link].name; *c; c++)
    text_add(name, "%c", isalnum((unsigned char)*c) && (unsigned char)*c < 128 ? *c : '_');
  int ordinal = policy_ordinal(model, controller);
  if (ordinal > 0) text_add(name, "_%d", ordinal + 1);
}

static void add_comment(const Model* model, int controller, Text* out) {
  const SceneController* c = model->controllers[controller].source;
  static const char* const TARGETS[] = {"the target [m, rad]", "", "the force [N, N m]", "the rate [m/s, rad/s]"};
  text_add(out, "\n/* Added to %s of a drive every ", TARGETS[c->type]);
  text_add_double(out, simulation_substep_length(&model->simulation));
  text_add(out, " s, from what was measured ");
  text_add_double(out, c->delay);
  text_add(out, " s before:\n");
  for (int k = 0; k < c->measure_count; k++) {
    text_add(out, " * y[%d] = ", k);
    for (const char* at = c->measures[k].name; *at; at++) text_add(out, *at == '*' ? "_" : "%c", *at);
    text_add(out, "\n");
  }
  text_add(out, " */\n");
}

static void add_policy(const Model* model, int controller, Text* out) {
  const SceneController* c = model->controllers[controller].source;
  static const double ZERO[JOINT_MAX_DOF] = {0};
  int count = controller_feedback_count(c), dof = c->target.channels;
  bool mlp = c->feedback_type == FEEDBACK_MLP;
  Text name = {0};
  add_identifier(model, controller, &name);
  add_comment(model, controller, out);
  text_add(out, "static const double %s_numbers[%d] = {\n    ", name.data, count + (mlp ? 0 : dof));
  add_numbers(out, c->feedback, count, "\n    ");
  text_add(out, mlp ? "" : ",\n    ");
  if (!mlp) add_numbers(out, ZERO, dof, "\n    ");
  text_add(out, "};\nstatic const int %s_sizes[%d] = {%d", name.data, c->hidden_count + 2, c->measure_count);
  for (int k = 0; k < c->hidden_count; k++) text_add(out, ", %d", c->hidden[k]);
  text_add(out, ", %d};\n", dof);
  text_add(out, "static inline void %s(const double y[%d], double z[%d]) {\n", name.data, c->measure_count, dof);
  text_add(out, "  policy_evaluate(%s_numbers, %s_sizes, %d, y, z);\n", name.data, name.data, c->hidden_count + 1);
  if (mlp) {
    text_add(out, "  for (int k = 0; k < %d; k++) z[k] *= ", dof);
    text_add_double(out, c->scale);
    text_add(out, ";\n");
  }
  text_add(out, "}\n");
  text_free(&name);
}

void export_policy_c(const Model* model, int controller, Text* out) {
  assert(controller < model->controller_count);
  text_add(out,
           "/* Feedback of drives for C. Measurements: docs/scene-format.md of sdrs, feedback of a controller. */\n");
  text_add(out, "#ifndef POLICY_WIDTH_MAX\n#define POLICY_WIDTH_MAX %d\n#include <math.h>\n", MLP_WIDTH_MAX);
  text_add(out, "%s#endif\n", EVALUATE);
  for (int c = 0; c < model->controller_count; c++)
    if (model->controllers[c].source->measure_count > 0 && (controller < 0 || c == controller))
      add_policy(model, c, out);
}
