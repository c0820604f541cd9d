/* Writes pressure.csv: the resultant contact force on every movable link with a shape, in world axes.
 * The first column is the time. The columns of a link are the centre of pressure of all its contacts, the sum of the
 * contact forces on the link, their moment about the centre of pressure, and the sum of the normal forces. All are nan
 * if the link has no contact. */
#include "run/writer.h"

static const char* const COLUMNS[] = {"x", "y", "z", "fx", "fy", "fz", "mx", "my", "mz", "press"};
enum { COLUMN_COUNT = sizeof COLUMNS / sizeof COLUMNS[0] };

static bool has_columns(const ModelLink* link) { return link->tree >= 0 && link->hull_count > 0; }

static void header(Text* row, const Model* model) {
  text_add(row, "time");
  for (int i = 0; i < model->link_count; i++)
    if (has_columns(&model->links[i])) run_add_fields(row, model->links[i].name, COLUMNS, COLUMN_COUNT);
  text_add(row, "\n");
}

/* Appends the numbers of a link. The centre of pressure is the mean of the centres of its contact pairs, weighted by
 * their normal forces. The moment is about it. */
static void add_link(Text* row, const RunFrame* frame, int link) {
  Vec3 point = {0, 0, 0}, force = {0, 0, 0}, moment = {0, 0, 0};
  double press = 0;
  for (int k = 0; k < frame->contact_count; k++) {
    const SimContact* c = &frame->contacts[k];
    if (c->a != link && c->b != link) continue;
    double sign = c->b == link ? 1 : -1;
    point = vec3_add_scaled(point, c->press, c->point);
    force = vec3_add_scaled(force, sign, c->force);
    /* moment about the world origin */
    moment = vec3_add_scaled(moment, sign, vec3_add(c->moment, vec3_cross(c->point, c->force)));
    press += c->press;
  }
  point = press > 0 ? vec3_scale(point, 1 / press) : vec3((double)NAN, (double)NAN, (double)NAN);
  if (press > 0) moment = vec3_sub(moment, vec3_cross(point, force));
  const double values[COLUMN_COUNT] = {point.x, point.y,  point.z,  force.x,  force.y,
                                       force.z, moment.x, moment.y, moment.z, press};
  run_add_numbers(row, values, COLUMN_COUNT);
}

static void rows(Text* row, WriterContext* context, const RunFrame* frame) {
  const Model* model = context->model;
  text_add_double(row, frame->state->time);
  for (int i = 0; i < model->link_count; i++)
    if (has_columns(&model->links[i])) add_link(row, frame, i);
  text_add_bytes(row, "\n", 1);
}

const RunWriter WRITER_PRESSURE = {"pressure.csv", false, header, rows, OUTPUT_PRESSURE};
