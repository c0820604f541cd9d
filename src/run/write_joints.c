/* joints.csv: time, then every stored joint coordinate as <link>/<coordinate>. */
#include "run/writer.h"

static void header(Text* row, const Model* model) {
  text_add(row, "time");
  Text name = {0};
  for (int i = 0; i < model->link_count; i++)
    for (int k = 0; k < model->links[i].coordinate_count; k++) {
      name.length = 0;
      text_add(&name, "%s/%s", model->links[i].name, scene_joint_coordinate_name(&model->scene->links[i].joint, k));
      text_add(row, ",");
      csv_add_field(row, name.data);
    }
  text_add(row, "\n");
  text_free(&name);
}

static void rows(Text* row, WriterContext* context, const RunFrame* frame) {
  text_add_double(row, frame->state->time);
  for (int i = 0; i < context->model->link_count; i++) {
    const ModelLink* link = &context->model->links[i];
    for (int k = 0; k < link->coordinate_count; k++) {
      text_add_bytes(row, ",", 1);
      text_add_double(row, frame->state->q[link->coordinate_first + k]);
    }
  }
  text_add_bytes(row, "\n", 1);
}

const RunWriter WRITER_JOINTS = {"joints.csv", true, header, rows};
