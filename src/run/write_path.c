/* Writes path.csv: the joint increments of the solver between recorded states. It has rows for steps for which a
 * straight path between the states may not be provably free of intersections. */
#include "run/writer.h"

static void header(Text* row, const Model* model) { run_columns_header(row, model, RUN_INCREMENTS); }

static void rows(Text* row, WriterContext* context, const RunFrame* frame) {
  const Model* model = context->model;
  for (int move = 0; move < frame->path.count; move++)
    run_columns_write(row, frame->path.time[move], frame->path.delta + (size_t)move * (size_t)model->dof_count, model,
                      RUN_INCREMENTS);
}

const RunWriter WRITER_PATH = {"path.csv", false, header, rows, 0};
