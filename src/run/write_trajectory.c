/* Writes trajectory.csv. The first column is the time; the pose of the frame and the centre of mass of every link
 * follow. */
#include "run/writer.h"

static const char* const COLUMNS[] = {"px", "py", "pz", "qw", "qx", "qy", "qz", "cx", "cy", "cz"};
enum { COLUMN_COUNT = sizeof COLUMNS / sizeof COLUMNS[0] };

static void header(Text* row, const Model* model) {
  text_add(row, "time");
  for (int i = 0; i < model->link_count; i++) run_add_fields(row, model->links[i].name, COLUMNS, COLUMN_COUNT);
  text_add(row, "\n");
}

/* Returns q or -q, the same rotation, whichever is nearer to the quaternion of the previous row, so that columns are
 * continuous in time. */
static Quat continue_rotation(Quat before, Quat q) {
  double side = before.w * q.w + before.x * q.x + before.y * q.y + before.z * q.z;
  return side < 0.0 ? (Quat){-q.w, -q.x, -q.y, -q.z} : q;
}

static void rows(Text* row, WriterContext* context, const RunFrame* frame) {
  const SimState* state = frame->state;
  text_add_double(row, state->time);
  for (int i = 0; i < context->model->link_count; i++) {
    Vec3 p = state->pose[i].t, c = state->center[i];
    Quat q = continue_rotation(context->rotations[i], quat_from_mat3(state->pose[i].r));
    context->rotations[i] = q;
    const double values[COLUMN_COUNT] = {p.x, p.y, p.z, q.w, q.x, q.y, q.z, c.x, c.y, c.z};
    run_add_numbers(row, values, COLUMN_COUNT);
  }
  text_add_bytes(row, "\n", 1);
}

const RunWriter WRITER_TRAJECTORY = {"trajectory.csv", true, header, rows, 0};
