/* path.csv: the moves of the solver between recorded states, where the straight way is not known to do as well. */
#include "run/writer.h"

static void header(Text* row, const Model* model) {
  text_add(row, "time");
  Text name = {0};
  for (int i = 0; i < model->link_count; i++)
    for (int k = 0; k < model->links[i].dof_count; k++) {
      name.length = 0;
      run_increment_name(&name, model, i, k);
      text_add(row, ",");
      csv_add_field(row, name.data);
    }
  text_add(row, "\n");
  text_free(&name);
}

static void rows(Text* row, WriterContext* context, const RunFrame* frame) {
  const Model* model = context->model;
  for (int move = 0; move < frame->path.count; move++) {
    const double* delta = frame->path.delta + (size_t)move * (size_t)model->dof_count;
    text_add_double(row, frame->path.time[move]);
    for (int i = 0; i < model->link_count; i++)
      for (int k = 0; k < model->links[i].dof_count; k++) {
        text_add_bytes(row, ",", 1);
        text_add_double(row, delta[model->links[i].dof_first + k]);
      }
    text_add_bytes(row, "\n", 1);
  }
}

const RunWriter WRITER_PATH = {"path.csv", false, header, rows};
