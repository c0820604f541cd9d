/* forces.csv: time, then for every joint coordinate what acts along it, <link>/<coordinate>/<kind>. */
#include "run/writer.h"

static void header(Text* row, const Model* model) {
  text_add(row, "time");
  Text name = {0};
  for (int i = 0; i < model->link_count; i++)
    for (int k = 0; k < model->links[i].dof_count; k++)
      for (int kind = 0; kind < JOINT_FORCE_KINDS; kind++) {
        name.length = 0;
        run_columns_name(&name, model, i, k, RUN_INCREMENTS);
        text_add(&name, "/%s", joint_force_name((JointForceKind)kind));
        text_add(row, ",");
        csv_add_field(row, name.data);
      }
  text_add(row, "\n");
  text_free(&name);
}

static void rows(Text* row, WriterContext* context, const RunFrame* frame) {
  const Model* model = context->model;
  text_add_double(row, frame->state->time);
  for (int i = 0; i < model->link_count; i++)
    for (int k = 0; k < model->links[i].dof_count; k++)
      for (int kind = 0; kind < JOINT_FORCE_KINDS; kind++) {
        text_add_bytes(row, ",", 1);
        text_add_double(row, frame->joint_forces[kind * model->dof_count + model->links[i].dof_first + k]);
      }
  text_add_bytes(row, "\n", 1);
}

const RunWriter WRITER_FORCES = {"forces.csv", false, header, rows, OUTPUT_FORCES};
