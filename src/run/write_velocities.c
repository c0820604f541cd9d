/* Writes velocities.csv. The first column is the time. For every link follow the velocity of the centre of mass and the
 * angular velocity, in world axes. The rates of all joint coordinates come last. */
#include "run/writer.h"

static const char* const COLUMNS[] = {"vx", "vy", "vz", "wx", "wy", "wz"};
enum { COLUMN_COUNT = sizeof COLUMNS / sizeof COLUMNS[0] };

static void header(Text* row, const Model* model) {
  text_add(row, "time");
  for (int i = 0; i < model->link_count; i++) run_add_fields(row, model->links[i].name, COLUMNS, COLUMN_COUNT);
  Text name = {0};
  for (int i = 0; i < model->link_count; i++)
    for (int k = 0; k < model->links[i].dof_count; k++) {
      name.length = 0;
      run_columns_name(&name, model, i, k, RUN_INCREMENTS);
      text_add(&name, "/rate");
      run_add_field(row, name.data);
    }
  text_add(row, "\n");
  text_free(&name);
}

static void rows(Text* row, WriterContext* context, const RunFrame* frame) {
  const Model* model = context->model;
  text_add_double(row, frame->state->time);
  for (int i = 0; i < model->link_count; i++) {
    Vec3 v = frame->velocity[i], w = frame->angular_velocity[i];
    const double values[COLUMN_COUNT] = {v.x, v.y, v.z, w.x, w.y, w.z};
    run_add_numbers(row, values, COLUMN_COUNT);
  }
  for (int i = 0; i < model->link_count; i++)
    run_add_numbers(row, frame->state->rate + model->links[i].dof_first, model->links[i].dof_count);
  text_add_bytes(row, "\n", 1);
}

const RunWriter WRITER_VELOCITIES = {"velocities.csv", true, header, rows, OUTPUT_VELOCITIES};
