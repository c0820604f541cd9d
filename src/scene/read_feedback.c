/* Reads the feedback of a controller: measurements, and the matrix or network that is applied to them. */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/outside.h"
#include "scene/parts.h"

enum { MEASURES_MAX = 1000 };

/* ---------------------------------------------------------------- one measurement */

/* Returns the index of the joint's scalar coordinate with the name `name`, `length` characters. Returns -1 if the joint
 * has no such coordinate. */
static int coordinate_named(const SceneJoint* joint, const char* name, size_t length) {
  Joint made = scene_joint(joint);
  for (int k = 0; k < made.scalar_count; k++)
    if (strlen(made.names[k]) == length && strncmp(made.names[k], name, length) == 0) return k;
  return -1;
}

static int axis_of(char c) { return c >= 'x' && c <= 'z' ? c - 'x' : -1; }

/* Reads a measurement that two letters name: the quantity, and its world axis x, y or z. Returns false if the text
 * `what` is no such pair. */
static bool read_axis_letters(const char* what, SceneMeasure* measure) {
  static const struct {
    char letter;
    MeasureKind kind;
  } KINDS[] = {{'p', MEASURE_POSITION},
               {'c', MEASURE_CENTER},
               {'v', MEASURE_VELOCITY},
               {'w', MEASURE_ANGULAR_VELOCITY},
               {'f', MEASURE_FORCE}};
  if (strlen(what) != 2 || axis_of(what[1]) < 0) return false;
  measure->kind = MEASURE_AXIS;
  measure->index = 3 * axis_of(what[0]) + axis_of(what[1]);
  if (axis_of(what[0]) >= 0) return true;
  for (size_t k = 0; k < sizeof KINDS / sizeof *KINDS; k++)
    if (KINDS[k].letter == what[0]) {
      measure->kind = KINDS[k].kind;
      measure->index = axis_of(what[1]);
      return true;
    }
  return false;
}

/* Reads the part of a measurement's name after the name of the link. Sets kind and index of *measure. Returns false if
 * the text is invalid. */
static bool read_quantity(const SceneLink* link, const char* what, SceneMeasure* measure) {
  const char* slash = strchr(what, '/');
  size_t length = slash ? (size_t)(slash - what) : strlen(what);
  bool rate = slash && strcmp(slash, "/rate") == 0;
  int coordinate = coordinate_named(&link->joint, what, length);
  if (coordinate >= 0 && (!slash || rate)) {
    measure->kind = rate ? MEASURE_RATE : MEASURE_COORDINATE;
    measure->index = coordinate;
    return true;
  }
  return !slash && read_axis_letters(what, measure);
}

static void read_measure(Reader* reader, const Node* node, SceneMeasure* measure) {
  char* name = reader_name(reader, node);
  char* slash = name ? strchr(name, '/') : NULL;
  measure->name = name;
  if (!name) return;
  if (!slash) {
    reader_error(reader, node->place, "expected a measurement of the form LINK/QUANTITY, got '%s'",
                 text_excerpt(name).text);
    return;
  }
  *slash = 0;
  int link = names_find(&reader->link_names, name);
  if (link < 0) {
    const char* near = names_nearest(&reader->link_names, name);
    if (!reader->names_incomplete)
      reader_error(reader, node->place, "no link is named '%s'%s", text_excerpt(name).text, text_suggestion(near).text);
  } else if (!reader->joint_broken[link]) {
    measure->link = link;
    if (!read_quantity(&reader->scene->links[link], slash + 1, measure))
      reader_error(reader, node->place,
                   "'%s' is no measurement of link '%s': use a coordinate of its joint, a coordinate with /rate, or a "
                   "quantity such as px, cx, vx, wx, fx or zx (see feedback in docs/scene-format.md)",
                   text_excerpt(slash + 1).text, text_excerpt(name).text);
  }
  *slash = '/';
}

/* ---------------------------------------------------------------- the matrix */

static void read_matrix_row(Reader* reader, const Node* node, int count, double* values) {
  static const ValueRange any = {0};
  if (node->kind == NODE_LIST && node->count != count)
    reader_error(reader, node->place, "expected %d numbers, one per measurement, got %d", count, node->count);
  else
    reader_numbers(reader, node, &any, NULL, count, values);
}

static void read_matrix(Reader* reader, const Node* list, SceneController* controller) {
  int dof = controller->target.channels, count = controller->measure_count;
  bool nested = list->first && list->first->kind == NODE_LIST;
  size_t mark = reader_enter_key(reader, "matrix");
  if (!nested && dof == 1)
    read_matrix_row(reader, list, count, controller->feedback);
  else if (!nested || list->count != dof)
    reader_error(reader, list->place, "expected %d rows, one per degree of freedom, each of %d numbers", dof, count);
  int row = 0;
  for (const Node* item = list->first; nested && list->count == dof && item; item = item->next, row++) {
    size_t below = reader_enter_index(reader, row);
    read_matrix_row(reader, item, count, controller->feedback + row * count);
    reader_leave(reader, below);
  }
  reader_leave(reader, mark);
}

/* ---------------------------------------------------------------- the network */

static bool read_layers(Reader* reader, const Node* node, const Node* list, SceneController* controller) {
  static const ValueRange neurons = RANGE_BETWEEN(1, MLP_WIDTH_MAX);
  int count = 1, before = reader->problem_count;
  controller->hidden[0] = 8;
  if (list) {
    int* layers = reader_integers(reader, list, "layers", &neurons, &count);
    if (count > MLP_HIDDEN_MAX)
      reader_error(reader, list->place, "the network has more than %d hidden layers: give fewer numbers",
                   MLP_HIDDEN_MAX);
    for (int k = 0; k < count && k < MLP_HIDDEN_MAX; k++) controller->hidden[k] = layers[k];
    memory_free(layers);
  }
  controller->hidden_count = count < MLP_HIDDEN_MAX ? count : MLP_HIDDEN_MAX;
  if (controller->measure_count < 1 || controller->measure_count > MLP_WIDTH_MAX)
    reader_error(reader, node->place, "an mlp needs 1 to %d measurements, got %d: change 'measures'", MLP_WIDTH_MAX,
                 controller->measure_count);
  return reader->problem_count == before;
}

/* Initializes a network: random weights in the hidden layers, zeros in the output layer. Its output is then zero, but
 * derivatives with respect to the output layer are not. */
static void draw_weights(SceneController* c, int seed) {
  assert(c->feedback && c->hidden_count <= MLP_HIDDEN_MAX);
  Random random = {(uint64_t)seed};
  double* next = c->feedback;
  for (int layer = 0; layer < c->hidden_count; layer++) {
    int inputs = layer == 0 ? c->measure_count : c->hidden[layer - 1];
    double weight_max = 1 / sqrt(inputs);
    for (int k = 0; k < c->hidden[layer] * inputs; k++) *next++ = random_uniform(&random, -weight_max, weight_max);
    next += c->hidden[layer];
  }
}

static void read_weights(Reader* reader, const Node* list, SceneController* controller) {
  static const ValueRange any = {0};
  int count = controller_feedback_count(controller);
  size_t mark = reader_enter_key(reader, "weights");
  if (list->kind == NODE_LIST && list->count != count)
    reader_error(reader, list->place, "expected %d numbers (weights and biases of %d layers), got %d", count,
                 controller->hidden_count + 1, list->count);
  else
    reader_numbers(reader, list, &any, NULL, count, controller->feedback);
  reader_leave(reader, mark);
}

static void read_mlp(Reader* reader, const Node* node, const FeedbackForm* form, SceneController* controller) {
  controller->feedback_type = FEEDBACK_MLP;
  controller->scale = form->scale;
  if (!read_layers(reader, node, form->layers, controller)) {
    *controller->hidden = controller->hidden_count = 0;
    controller->feedback_type = FEEDBACK_MATRIX; /* any valid type, so that reading continues after the error */
    controller->feedback = MEMORY_NEW(double, controller->measure_count * controller->target.channels);
    return;
  }
  controller->feedback = MEMORY_NEW(double, controller_feedback_count(controller));
  if (form->weights)
    read_weights(reader, form->weights, controller);
  else
    draw_weights(controller, form->seed);
}

/* ---------------------------------------------------------------- both */

static void read_measures(Reader* reader, const Node* list, SceneController* controller) {
  int k = 0;
  controller->measures = MEMORY_NEW(SceneMeasure, list->count);
  controller->measure_count = list->count;
  size_t mark = reader_enter_key(reader, "measures");
  for (const Node* item = list->first; item; item = item->next)
    if (reader_is_text(reader, item)) read_measure(reader, item, &controller->measures[k++]);
  reader_leave(reader, mark);
}

static void read_form(Reader* reader, const Node* node, const FeedbackForm* form, SceneController* controller) {
  int count = form->measures->count;
  if (count > MEASURES_MAX) {
    reader_error(reader, form->measures->place, "the feedback has more than %d measurements: shorten 'measures'",
                 MEASURES_MAX);
    return;
  }
  if (!reader_count_values(reader, node->place, (int64_t)count * (1 + controller->target.channels))) return;
  read_measures(reader, form->measures, controller);
  if (form->type == FEEDBACK_MLP) {
    read_mlp(reader, node, form, controller);
    return;
  }
  controller->feedback = MEMORY_NEW(double, count * controller->target.channels);
  if (form->matrix) read_matrix(reader, form->matrix, controller);
}

/* Returns the root map of a policy file, whose nodes the document owns. Returns NULL after an error. */
static const Node* read_policy_file(Reader* reader, const Node* file) {
  char *path = file_resolve(reader->scene->path, file->text), *text = NULL;
  size_t length;
  const Node* root = NULL;
  int before = reader->diagnostics->error_count;
  if (!file_is_quotable(path)) {
    reader_error(reader, file->place, "%s: %s", path, FILE_NOT_QUOTABLE);
  } else if (file_read(path, &text, &length) != STATUS_OK) {
    reader_error(reader, file->place, "cannot read %s: %s", path, file_error_text(errno));
  } else {
    const char* source = document_text(reader->document, path, strlen(path));
    root = document_read_json(reader->document, source, text, length, reader->diagnostics);
    reader->problem_count += reader->diagnostics->error_count - before;
  }
  memory_free(text);
  memory_free(path);
  return root;
}

/* Reads a feedback policy from a file that the scene names. A policy file must not name another file. */
static void read_policy(Reader* reader, const Node* node, const Node* file, SceneController* controller) {
  FeedbackForm form;
  if (node->count > 1) {
    reader_error(reader, node->place, "'file' defines the whole feedback: remove the other keys");
    return;
  }
  const Node* root = read_policy_file(reader, file);
  if (!root || !schema_read(reader, root, "feedback", &form)) return;
  if (form.file)
    reader_error(reader, form.file->place, "a policy file must not refer to another file: remove the key 'file'");
  else
    read_form(reader, root, &form, controller);
}

void read_feedback(Reader* reader, const Node* node, SceneController* controller) {
  assert(controller->target.channels >= 0);
  FeedbackForm form;
  size_t mark = reader_enter_key(reader, "feedback");
  if (schema_read(reader, node, "feedback", &form)) {
    if (form.file)
      read_policy(reader, node, form.file, controller);
    else
      read_form(reader, node, &form, controller);
  }
  reader_leave(reader, mark);
}
