/* Writes forces.csv: the forces of each kind along every joint coordinate. The first column is the time; columns
 * <link>/<coordinate>/<kind> follow. */
#include "run/writer.h"

/* Returns the number of kinds of forces. Forces of closures are a kind only if the model has closures. */
static int force_kind_count(const Model* model) {
  return model->closure_row_count > 0 ? JOINT_FORCE_KINDS : JOINT_FORCE_CLOSURE;
}

static void header(Text* row, const Model* model) {
  text_add(row, "time");
  Text name = {0};
  for (int i = 0; i < model->link_count; i++)
    for (int k = 0; k < model->links[i].dof_count; k++)
      for (int kind = 0; kind < force_kind_count(model); kind++) {
        name.length = 0;
        run_columns_name(&name, model, i, k, RUN_INCREMENTS);
        text_add(&name, "/%s", joint_force_name((JointForceKind)kind));
        run_add_field(row, name.data);
      }
  text_add(row, "\n");
  text_free(&name);
}

static void rows(Text* row, WriterContext* context, const RunFrame* frame) {
  const Model* model = context->model;
  text_add_double(row, frame->state->time);
  for (int i = 0; i < model->link_count; i++)
    for (int k = 0; k < model->links[i].dof_count; k++)
      for (int kind = 0; kind < force_kind_count(model); kind++)
        run_add_numbers(row, &frame->joint_forces[kind * model->dof_count + model->links[i].dof_first + k], 1);
  text_add_bytes(row, "\n", 1);
}

const RunWriter WRITER_FORCES = {"forces.csv", false, header, rows, OUTPUT_FORCES};
