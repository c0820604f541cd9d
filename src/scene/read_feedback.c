/* Feedback of a controller: what is measured, and the matrix that it is multiplied by. */
#include <string.h>

#include "scene/parts.h"

enum { MEASURES_MAX = 1000 };

/* ---------------------------------------------------------------- one measurement */

/* Plain coordinate of the joint by its name; -1: there is none. */
static int coordinate_named(const SceneJoint* joint, const char* name, size_t length) {
  Joint made = scene_joint(joint);
  for (int k = 0; k < made.plain_count; k++)
    if (strlen(made.names[k]) == length && strncmp(made.names[k], name, length) == 0) return k;
  return -1;
}

static int axis_of(char c) { return c >= 'x' && c <= 'z' ? c - 'x' : -1; }

/* Two letters: what, and of which world axis. */
static bool read_letters(const char* what, SceneMeasure* measure) {
  static const struct {
    char letter;
    MeasureKind kind;
  } KINDS[] = {{'p', MEASURE_POSITION},
               {'c', MEASURE_CENTER},
               {'v', MEASURE_VELOCITY},
               {'w', MEASURE_TURN},
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

/* What stands behind the link's name. */
static bool read_what(const SceneLink* link, const char* what, SceneMeasure* measure) {
  const char* slash = strchr(what, '/');
  size_t length = slash ? (size_t)(slash - what) : strlen(what);
  bool rate = slash && strcmp(slash, "/rate") == 0;
  int coordinate = coordinate_named(&link->joint, what, length);
  if (coordinate >= 0 && (!slash || rate)) {
    measure->kind = rate ? MEASURE_RATE : MEASURE_COORDINATE;
    measure->index = coordinate;
    return true;
  }
  return !slash && read_letters(what, measure);
}

static void read_measure(Reader* reader, const Node* node, SceneMeasure* measure) {
  char* name = reader_name(reader, node);
  char* slash = name ? strchr(name, '/') : NULL;
  measure->name = name;
  if (!name) return;
  if (!slash) {
    reader_error(reader, node->place, "a measurement is a link, '/' and what is measured, got '%s'",
                 text_excerpt(name).text);
    return;
  }
  *slash = 0;
  int link = names_find(&reader->link_names, name);
  if (link < 0) {
    const char* near = names_nearest(&reader->link_names, name);
    if (!reader->names_incomplete)
      reader_error(reader, node->place, "no link '%s'%s%s%s", text_excerpt(name).text, near ? " (did you mean '" : "",
                   near ? text_excerpt(near).text : "", near ? "'?)" : "");
  } else if (!reader->joint_broken[link]) {
    measure->link = link;
    if (!read_what(&reader->scene->links[link], slash + 1, measure))
      reader_error(reader, node->place,
                   "'%s' is no measurement of link '%s': a coordinate of its joint, or that and /rate, or px, cx, vx, "
                   "wx, fx, zx ... (see feedback in docs/scene-format.md)",
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

void read_feedback(Reader* reader, const Node* node, SceneController* controller) {
  FeedbackForm form;
  size_t mark = reader_enter_key(reader, "feedback");
  if (schema_read(reader, node, "feedback", &form) && form.measures) {
    int count = form.measures->count, k = 0;
    if (count > MEASURES_MAX) {
      reader_error(reader, form.measures->place, "more than %d measurements", MEASURES_MAX);
    } else if (reader_work(reader, node->place, (int64_t)count * (1 + controller->target.channels))) {
      controller->measures = MEMORY_NEW(SceneMeasure, count);
      controller->measure_count = count;
      controller->feedback = MEMORY_NEW(double, count * controller->target.channels);
      size_t below = reader_enter_key(reader, "measures");
      for (const Node* item = form.measures->first; item; item = item->next)
        if (reader_is_text(reader, item)) read_measure(reader, item, &controller->measures[k++]);
      reader_leave(reader, below);
      if (form.matrix) read_matrix(reader, form.matrix, controller);
    }
  }
  reader_leave(reader, mark);
}
