/* Feedback of drives for MuJoCo: measurements as sensors, gains as a table for the program that runs the file
 * (docs/export.md). MuJoCo has no feedback control. */
#include <string.h>

#include "export/mjcf_parts.h"

static void add_frame_sensor(Mjcf* m, const char* element, const SceneMeasure* measure, const char* frame) {
  text_add(m->out, "    <%s", element);
  xml_text(m->out, "name", measure->name);
  xml_text(m->out, "objtype", frame);
  xml_text(m->out, "objname", m->model->links[measure->link].name);
  text_add(m->out, "/>\n");
}

static void add_joint_sensor(Mjcf* m, const char* element, const SceneMeasure* measure) {
  Text joint = {0};
  mjcf_joint_name(&joint, m, measure->link, measure->index);
  text_add(m->out, "    <%s", element);
  xml_text(m->out, "name", measure->name);
  xml_text(m->out, "joint", joint.data);
  text_add(m->out, "/>\n");
  text_free(&joint);
}

/* Returns the reason why a measurement has no sensor, a static text, or NULL. */
static const char* explain_missing_sensor(const Mjcf* m, const SceneMeasure* measure) {
  if (measure->kind == MEASURE_FORCE)
    return "feedback of a contact force is left out: MuJoCo has no sensor of the total contact force on a body";
  bool coordinate = measure->kind == MEASURE_COORDINATE || measure->kind == MEASURE_RATE;
  if (coordinate && mjcf_is_free(m, measure->link))
    return "feedback of a coordinate of a free body is left out: measure its position (px, vx, ...)";
  return NULL;
}

static void add_sensor(Mjcf* m, const SceneMeasure* measure) {
  static const char* const AXES[] = {"framexaxis", "frameyaxis", "framezaxis"};
  switch (measure->kind) {
    case MEASURE_COORDINATE:
      add_joint_sensor(m, "jointpos", measure);
      break;
    case MEASURE_RATE:
      add_joint_sensor(m, "jointvel", measure);
      break;
    case MEASURE_POSITION:
      add_frame_sensor(m, "framepos", measure, "xbody");
      break;
    case MEASURE_CENTER:
      add_frame_sensor(m, "framepos", measure, "body");
      break;
    case MEASURE_VELOCITY:
      add_frame_sensor(m, "framelinvel", measure, "body");
      break;
    case MEASURE_ANGULAR_VELOCITY:
      add_frame_sensor(m, "frameangvel", measure, "body");
      break;
    case MEASURE_AXIS:
      add_frame_sensor(m, AXES[measure->index / 3], measure, "xbody");
      break;
    case MEASURE_FORCE:
      break;
  }
}

/* Returns the component of the sensor's output that is the measurement. */
static int sensor_component(const SceneMeasure* measure) {
  bool coordinate = measure->kind == MEASURE_COORDINATE || measure->kind == MEASURE_RATE;
  return coordinate ? 0 : measure->index % 3;
}

/* Returns true if no earlier measurement has the same name. */
static bool is_first_of_name(const Model* model, int controller, int measure) {
  const char* name = model->controllers[controller].source->measures[measure].name;
  for (int c = 0; c <= controller; c++)
    for (int j = 0; j < model->controllers[c].source->measure_count; j++) {
      if (c == controller && j == measure) return true;
      if (strcmp(model->controllers[c].source->measures[j].name, name) == 0) return false;
    }
  return true;
}

void mjcf_add_sensors(Mjcf* m) {
  const Model* model = m->model;
  if (model->feedback_count == 0) return;
  text_add(m->out, "  <sensor>\n");
  for (int c = 0; c < model->controller_count; c++)
    for (int j = 0; j < model->controllers[c].source->measure_count; j++) {
      const SceneMeasure* measure = &model->controllers[c].source->measures[j];
      if (!is_first_of_name(model, c, j)) continue;
      const char* why = explain_missing_sensor(m, measure);
      if (why)
        mjcf_note(m, model->links[measure->link].name, why);
      else
        add_sensor(m, measure);
    }
  text_add(m->out, "  </sensor>\n");
}

void mjcf_add_feedback_rows(Mjcf* m, const ModelController* c, int dof, const char* actuator, double slope) {
  const SceneController* source = c->source;
  if (source->feedback_type != FEEDBACK_MATRIX) return;
  for (int j = 0; j < source->measure_count && slope != 0; j++) {
    double factor = slope * source->feedback[dof * source->measure_count + j];
    if (factor == 0 || explain_missing_sensor(m, &source->measures[j])) continue;
    if (m->feedback->length == 0) text_add(m->feedback, "actuator,sensor,component,factor,delay,period\n");
    csv_add_field(m->feedback, actuator);
    text_add(m->feedback, ",");
    csv_add_field(m->feedback, source->measures[j].name);
    text_add(m->feedback, ",%d,", sensor_component(&source->measures[j]));
    text_add_double(m->feedback, factor);
    text_add(m->feedback, ",");
    text_add_double(m->feedback, source->delay);
    text_add(m->feedback, ",");
    text_add_double(m->feedback, m->model->simulation.dt);
    text_add(m->feedback, "\n");
  }
}
