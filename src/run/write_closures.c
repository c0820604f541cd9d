/* Writes closures.csv: the errors and forces of all closures and couplings. The first column is the time. Columns of a
 * closure are its error, and its force and torque on link a about the closure's point, in world axes. Columns of a
 * coupling are its error and its force along the dependent coordinate. Force and torque of a broken closure or coupling
 * are 0. */
#include <assert.h>
#include "run/writer.h"

static const char* const COLUMNS[] = {"gap", "angle", "fx", "fy", "fz", "mx", "my", "mz"};
static const char* const COUPLING_COLUMNS[] = {"open", "force"};
enum {
  COLUMN_COUNT = sizeof COLUMNS / sizeof COLUMNS[0],
  COUPLING_COLUMN_COUNT = sizeof COUPLING_COLUMNS / sizeof COUPLING_COLUMNS[0]
};

/* Appends the names of a closure's links, for example `coupler-rocker`. A number distinguishes closures of the same
 * links: `coupler-rocker.1`. */
static void name_closure(Text* name, const Model* model, int index) {
  assert(index >= 0 && index < model->closure_count);
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
    run_add_fields(row, name.data, COLUMNS, COLUMN_COUNT);
  }
  for (int k = 0; k < model->coupling_count; k++) {
    name_coupling(&name, model, k);
    run_add_fields(row, name.data, COUPLING_COLUMNS, COUPLING_COLUMN_COUNT);
  }
  text_add(row, "\n");
  text_free(&name);
}

static void rows(Text* row, WriterContext* context, const RunFrame* frame) {
  const Model* model = context->model;
  text_add_double(row, frame->state->time);
  for (int k = 0; k < model->closure_count; k++) {
    const SimClosure* c = &frame->closures[k];
    const double values[COLUMN_COUNT] = {c->gap,     c->angle,    c->force.x,  c->force.y,
                                         c->force.z, c->torque.x, c->torque.y, c->torque.z};
    run_add_numbers(row, values, COLUMN_COUNT);
  }
  for (int k = model->closure_count; k < model->closure_count + model->coupling_count; k++) {
    const double values[COUPLING_COLUMN_COUNT] = {frame->closures[k].gap, frame->closures[k].force.x};
    run_add_numbers(row, values, COUPLING_COLUMN_COUNT);
  }
  text_add_bytes(row, "\n", 1);
}

const RunWriter WRITER_CLOSURES = {"closures.csv", false, header, rows, OUTPUT_CLOSURES};
