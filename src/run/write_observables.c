/* Writes reactions.csv, imu.csv and range.csv (docs/derivations/observables.md). The first column is the time; six
 * columns <link>/<column> for every link follow. */
#include "run/writer.h"

static void header(Text* row, const Model* model, ObservableKind kind) {
  text_add(row, "time");
  for (int i = 0; i < model->link_count; i++)
    run_add_fields(row, model->links[i].name, observable_at((int)kind)->columns, OBSERVABLE_COLUMNS);
  text_add(row, "\n");
}

static void rows(Text* row, const Observation* in, double time, ObservableKind kind) {
  text_add_double(row, time);
  for (int i = 0; i < in->model->link_count; i++) {
    double values[OBSERVABLE_COLUMNS];
    observable_at((int)kind)->value(in, i, values);
    run_add_numbers(row, values, OBSERVABLE_COLUMNS);
  }
  text_add_bytes(row, "\n", 1);
}

static void reactions_header(Text* row, const Model* model) { header(row, model, OBSERVABLE_REACTIONS); }

static void reactions_rows(Text* row, WriterContext* context, const RunFrame* frame) {
  const Observation in = {.model = context->model, .reaction = frame->reactions};
  rows(row, &in, frame->state->time, OBSERVABLE_REACTIONS);
}

const RunWriter WRITER_REACTIONS = {"reactions.csv", false, reactions_header, reactions_rows, OUTPUT_REACTIONS};

static void imu_header(Text* row, const Model* model) { header(row, model, OBSERVABLE_IMU); }

/* Writes the row of the previous state, because its acceleration needs the states before and after it. */
static void imu_rows(Text* row, WriterContext* context, const RunFrame* frame) {
  double dt = context->model->simulation.dt;
  if (!frame->before[0] || !frame->before[1]) return;
  const Observation in = {context->model, dt, {frame->before[1], frame->before[0], frame->state->pose}, NULL};
  rows(row, &in, (frame->state->step - 1) * dt, OBSERVABLE_IMU);
}

const RunWriter WRITER_IMU = {"imu.csv", false, imu_header, imu_rows, OUTPUT_IMU};

static void range_header(Text* row, const Model* model) { header(row, model, OBSERVABLE_RANGE); }

static void range_rows(Text* row, WriterContext* context, const RunFrame* frame) {
  const Observation in = {.model = context->model, .pose = {NULL, frame->state->pose, NULL}};
  rows(row, &in, frame->state->time, OBSERVABLE_RANGE);
}

const RunWriter WRITER_RANGE = {"range.csv", true, range_header, range_rows, OUTPUT_RANGE};
