/* Writes joints.csv. The first column is the time; a column <link>/<coordinate> for every joint coordinate follows. */
#include "run/writer.h"

static void header(Text* row, const Model* model) { run_columns_header(row, model, RUN_COORDINATES); }

static void rows(Text* row, WriterContext* context, const RunFrame* frame) {
  run_columns_write(row, frame->state->time, frame->state->q, context->model, RUN_COORDINATES);
}

const RunWriter WRITER_JOINTS = {"joints.csv", true, header, rows, 0};
