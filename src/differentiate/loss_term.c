/* Functions of several losses: weights in a window, points of links. */
#include <assert.h>
#include "differentiate/loss.h"

double loss_state_weight(const LossTerm* term) {
  assert(term->last >= term->first);
  return term->weight / (term->last - term->first + 1);
}

Vec3 loss_target(const LossTerm* term, const Recording* recording, int step) {
  double value[3], rate[3];
  if (!term->motion_source) return term->target;
  signal_eval(&term->motion, model_row_time(recording->model, step), value, rate);
  return vec3_add(term->target, vec3_at(value));
}

static Vec3 local_point(const LossTerm* term, const Model* model, int link) {
  return term->has_point ? term->point : model->links[link].center;
}

Vec3 loss_position(const LossTerm* term, const Recording* recording, int link, int step) {
  return pose_apply(recording_link_pose(recording, step, link), local_point(term, recording->model, link));
}

void loss_seed_pose(const Recording* recording, int link, int step, Vec3 x_local, Vec3 g, LossSeeds* seeds) {
  if (!seeds) return;
  pose_matrix_add_point(seeds->pose[row_index(seeds->selection, recording->model, step, link).pose], g, x_local);
}

void loss_seed_position(const LossTerm* term, const Recording* recording, int link, int step, Vec3 g,
                        LossSeeds* seeds) {
  if (!seeds) return;
  loss_seed_pose(recording, link, step, local_point(term, recording->model, link), g, seeds);
  if (term->has_point) return;
  Vec3* center = &seeds->center[link];
  *center = vec3_add(*center, mat3_tmul_vec(recording_link_pose(recording, step, link).r, g));
}
