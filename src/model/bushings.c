/* Bushings: relative pose of two frames and elastic energy (docs/derivations/loads.md, L18). */
#include <assert.h>
#include <float.h>
#include <string.h>

#include "model/build.h"

/* Largest rotation between the two frames at the start [rad]. Beyond this angle, the rotation vector may jump at pi
 * during the run. */
#define ROTATION_MAX 3.0

/* Tolerance for a negative eigenvalue, relative to the largest eigenvalue, and for an asymmetry, relative to the
 * largest entry. */
#define MATRIX_TOLERANCE 1e-9

Pose bushing_frame(const SceneBushing* bushing, int side, const Pose* poses) {
  assert(side == 0 || side == 1);
  assert(side == 0 || side == 1);
  Pose frame = {mat3_from_quat(bushing->rotation[side]), bushing->position[side]};
  return bushing->link[side] < 0 ? frame : pose_mul(poses[bushing->link[side]], frame);
}

void bushing_difference(const SceneBushing* bushing, const Pose* poses, double u[6]) {
  assert(bushing && poses);
  Pose a = bushing_frame(bushing, 0, poses), b = bushing_frame(bushing, 1, poses);
  vec3_store(mat3_tmul_vec(a.r, vec3_sub(b.t, a.t)), u);
  vec3_store(quat_log(quat_from_mat3(mat3_mul(mat3_transpose(a.r), b.r))), u + 3);
}

double bushing_rotation(const SceneBushing* bushing, const double u[6]) {
  bool acts = false;
  for (int i = 3; i < 6; i++)
    acts = acts || bushing->stiffness[i][i] > 0 || bushing->damping[i][i] > 0 || bushing->preload[i] != 0;
  return acts ? vec3_norm(vec3_at(u + 3)) : 0;
}

void bushing_times(const double (*matrix)[6], const double v[6], double out[6]) {
  for (int i = 0; i < 6; i++) {
    out[i] = 0;
    for (int j = 0; j < 6; j++) out[i] += matrix[i][j] * v[j];
  }
}

double bushing_energy(const SceneBushing* bushing, const Pose* poses) {
  double u[6], pull[6], sum = 0;
  bushing_difference(bushing, poses, u);
  bushing_times(bushing->stiffness, u, pull);
  for (int i = 0; i < 6; i++) sum += u[i] * (0.5 * pull[i] - bushing->preload[i]);
  return sum;
}

double model_bushing_energy(const Model* model, const Pose* poses) {
  double sum = 0;
  for (int k = 0; k < model->bushing_count; k++) sum += bushing_energy(model->bushings[k].source, poses);
  return sum;
}

/* Adds an error for an asymmetric matrix or a negative eigenvalue. */
static void check_matrix(const SceneBushing* bushing, const double (*matrix)[6], const char* key,
                         Diagnostics* diagnostics) {
  double a[6][6], values[6], off[6], largest = 0;
  for (int k = 0; k < 36; k++) largest = fmax(largest, fabs(matrix[k / 6][k % 6]));
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < i; j++) {
      if (fabs(matrix[i][j] - matrix[j][i]) <= MATRIX_TOLERANCE * largest) continue;
      diagnostics_add(diagnostics, SEVERITY_ERROR, bushing->place,
                      "'%s' must be symmetric, but row %d has %.6g in column %d and row %d has %.6g in column %d: make "
                      "both entries equal",
                      key, i + 1, matrix[i][j], j + 1, j + 1, matrix[j][i], i + 1);
      return;
    }
  memcpy(a, matrix, sizeof a);
  if (!symmetric_eigen(6, 6, &a[0][0], values, off) || values[0] < -MATRIX_TOLERANCE * largest)
    diagnostics_add(diagnostics, SEVERITY_ERROR, bushing->place,
                    "'%s' must have no negative eigenvalue, because the bushing would create energy; the smallest "
                    "eigenvalue is %.6g: raise the diagonal entries",
                    key, values[0]);
}

void build_bushings(Builder* builder) {
  Model* model = builder->model;
  const Scene* scene = builder->scene;
  model->bushing_count = scene->bushing_count;
  model->bushings = MEMORY_NEW(ModelBushing, scene->bushing_count);
  for (int k = 0; k < scene->bushing_count; k++) {
    const SceneBushing* source = &scene->bushings[k];
    model->bushings[k] = (ModelBushing){.source = source, .theta = 1, .damper_theta = 1, .home = -1};
    for (int side = 1; side >= 0; side--)
      if (source->link[side] >= 0 && model->links[source->link[side]].tree >= 0)
        model->bushings[k].home = source->link[side];
    check_matrix(source, source->stiffness, "stiffness", builder->diagnostics);
    check_matrix(source, source->damping, "damping", builder->diagnostics);
  }
}

void check_bushings(const Model* model, Diagnostics* diagnostics) {
  if (model->bushing_count == 0) return;
  Pose* poses = initial_poses(model);
  for (int k = 0; k < model->bushing_count; k++) {
    double u[6];
    bushing_difference(model->bushings[k].source, poses, u);
    double angle = bushing_rotation(model->bushings[k].source, u);
    if (angle > ROTATION_MAX)
      diagnostics_add(diagnostics, SEVERITY_ERROR, model->bushings[k].source->place,
                      "the rotation between 'frame_a' and 'frame_b' is %.4g rad at the start, but must stay below pi: "
                      "give 'frame_a' and 'frame_b' rotations that agree at rest",
                      angle);
  }
  memory_free(poses);
}
