/* closures.csv: time, then of every closure how far it is open and its force and torque on a, about its end, world
 * axes, and of every coupling how far it is open and its force along the coordinate that follows. What has broken is 0.
 */
#include "run/writer.h"

static const char* const COLUMNS[] = {"gap", "angle", "fx", "fy", "fz", "mx", "my", "mz"};
enum { COLUMN_COUNT = sizeof COLUMNS / sizeof COLUMNS[0] };

static void add_field(Text* row, Text* name, const char* column) {
  size_t length = name->length;
  text_add(name, "/%s", column);
  text_add(row, ",");
  csv_add_field(row, name->data);
  name->length = length;
}

/* `coupler-rocker`, with its number among those of the same two links from the second on: `coupler-rocker.1`. */
static void name_closure(Text* name, const Model* model, int index) {
  const ModelClosure* c = &model->closures[index];
  int before = 0;
  for (int k = 0; k < index; k++)
    before += model->closures[k].link[0] == c->link[0] && model->closures[k].link[1] == c->link[1];
  name->length = 0;
  text_add(name, "%s-%s", model->links[c->link[0]].name, c->link[1] < 0 ? "world" : model->links[c->link[1]].name);
  if (before > 0) text_add(name, ".%d", before);
}

static void name_coupling(Text* name, const Model* model, int index) {
  int dof = model->couplings[index].dof[0], link = model->dof_link[dof];
  name->length = 0;
  text_add(name, "coupling ");
  run_columns_name(name, model, link, dof - model->links[link].dof_first, RUN_INCREMENTS);
}

static void header(Text* row, const Model* model) {
  Text name = {0};
  text_add(row, "time");
  for (int k = 0; k < model->closure_count; k++) {
    name_closure(&name, model, k);
    for (int c = 0; c < COLUMN_COUNT; c++) add_field(row, &name, COLUMNS[c]);
  }
  for (int k = 0; k < model->coupling_count; k++) {
    name_coupling(&name, model, k);
    add_field(row, &name, "open");
    add_field(row, &name, "force");
  }
  text_add(row, "\n");
  text_free(&name);
}

static void add_number(Text* row, double value) {
  text_add_bytes(row, ",", 1);
  text_add_double(row, value);
}

static void rows(Text* row, WriterContext* context, const RunFrame* frame) {
  const Model* model = context->model;
  text_add_double(row, frame->state->time);
  for (int k = 0; k < model->closure_count; k++) {
    const SimClosure* c = &frame->closures[k];
    const double values[COLUMN_COUNT] = {c->gap,     c->angle,    c->force.x,  c->force.y,
                                         c->force.z, c->torque.x, c->torque.y, c->torque.z};
    for (int i = 0; i < COLUMN_COUNT; i++) add_number(row, values[i]);
  }
  for (int k = model->closure_count; k < model->closure_count + model->coupling_count; k++) {
    add_number(row, frame->closures[k].gap);
    add_number(row, frame->closures[k].force.x);
  }
  text_add_bytes(row, "\n", 1);
}

const RunWriter WRITER_CLOSURES = {"closures.csv", false, header, rows, OUTPUT_CLOSURES};
