/* Writes a measured run and its simulation as one run folder, whose scene has two copies of every measured link. */
#include <assert.h>
#include <string.h>

#include "identify/fit.h"

/* Run that is written. A link without a measurement keeps the pose of the previous sample. */
typedef struct {
  Identification* id;
  const MeasuredRun* run;
  Model model;    /* model of the scene with the fitted parameters */
  bool* measured; /* true for measured links and their descendants (size: links) */
  char* folder;
} Overlay;

/* Returns the index of the validation run with the median error. Without validation runs, considers all runs. */
static int find_median_run(const Identification* id) {
  int best = -1, count = 0;
  bool any = false;
  for (int k = 0; k < id->data.count; k++) any = any || !id->data.runs[k].train;
  for (int k = 0; k < id->data.count; k++) count += any ? !id->data.runs[k].train : 1;
  for (int k = 0; k < id->data.count && best < 0; k++) {
    if (any && id->data.runs[k].train) continue;
    const double* errors = id->run_errors + 2 * ERROR_NUMBERS * k;
    int smaller = 0;
    for (int i = 0; i < id->data.count; i++) {
      const double* other = id->run_errors + 2 * ERROR_NUMBERS * i;
      double apart = other[0] + other[1] + other[2] - errors[0] - errors[1] - errors[2];
      if (any && id->data.runs[i].train) continue;
      smaller += apart < 0 || (apart == 0 && i < k);
    }
    if (smaller == count / 2 && !isnan(errors[0])) best = k;
  }
  return best >= 0 ? best : 0;
}

/* Returns a name that no link of the scene has, because link names contain no slash. The caller frees it. */
static char* measured_link_name(const char* name) {
  Text text = {0};
  text_add(&text, "%s.measured", name);
  return text.data;
}

/* Writes the fitted scene with a copy of each measured link that does not collide. */
static Status write_overlay_scene(const Overlay* o, Diagnostics* diagnostics) {
  const Scene* fitted = optimization_scene_of(o->id->optimization, 0, o->id->x);
  Scene both = *fitted;
  int links = fitted->link_count;
  both.links = MEMORY_NEW(SceneLink, 2 * links + 1);
  memcpy(both.links, fitted->links, sizeof(SceneLink) * (size_t)links);
  int* copy = MEMORY_NEW(int, links + 1);
  for (int i = 0; i < links; i++) {
    if (!o->measured[i]) continue;
    copy[i] = both.link_count;
    SceneLink* link = &both.links[both.link_count++];
    *link = fitted->links[i];
    link->name = measured_link_name(fitted->links[i].name);
    link->collide = false;
    link->parent = link->parent >= 0 && o->measured[link->parent] ? copy[link->parent] : link->parent;
    const double pale[3] = {0.75, 0.75, 0.78};
    memcpy(link->color, pale, sizeof(pale));
  }
  Text text = {0};
  text_add(&text, "# %s as it was measured (*.measured) and as the fitted scene moves.\n", o->run->path);
  scene_write_yaml(&both, o->folder, &text);
  char* path = file_join(o->folder, "overlay.scene.yaml");
  Status status = file_write_reported(path, &text, diagnostics);
  for (int i = links; i < both.link_count; i++) memory_free(both.links[i].name);
  memory_free(both.links);
  memory_free(copy);
  memory_free(path);
  text_free(&text);
  return status;
}

static void add_pose(Text* row, const Model* m, int link, Pose pose) {
  Quat q = quat_from_mat3(pose.r);
  Vec3 c = pose_apply(pose, m->links[link].center);
  const double values[10] = {pose.t.x, pose.t.y, pose.t.z, q.w, q.x, q.y, q.z, c.x, c.y, c.z};
  for (int k = 0; k < 10; k++) {
    text_add(row, ",");
    text_add_double(row, values[k]);
  }
}

static void add_names(Text* row, const char* name) {
  static const char* const columns[10] = {"px", "py", "pz", "qw", "qx", "qy", "qz", "cx", "cy", "cz"};
  for (int k = 0; k < 10; k++) {
    Text column = {0};
    text_add(&column, "%s/%s", name, columns[k]);
    text_add(row, ",");
    csv_add_field(row, column.data);
    text_free(&column);
  }
}

static int find_sample(const MeasuredRun* r, double time) {
  int k = 0;
  while (k < r->count - 1 && r->time[k + 1] <= time + 1e-9) k++;
  return k;
}

/* Returns the pose at a fraction between a and b: linear in position, rotation about one axis. */
static Pose interpolate_pose(Pose a, Pose b, double fraction) {
  Quat from = quat_from_mat3(a.r), turn = quat_mul(quat_conjugate(from), quat_from_mat3(b.r));
  if (turn.w < 0) turn = (Quat){-turn.w, -turn.x, -turn.y, -turn.z};
  Pose pose = {mat3_from_quat(quat_mul(from, quat_exp(vec3_scale(quat_log(turn), fraction)))),
               vec3_add_scaled(vec3_scale(a.t, 1 - fraction), fraction, b.t)};
  return pose;
}

/* Computes the measured poses of all links at a time of the run by interpolation. q, v: joint coordinates and
 * velocities at the previous sample, for links without a measurement. */
static void compute_measured_poses(const Overlay* o, double time, double* q, double* v, Pose* out) {
  const Model* m = &o->model;
  int before = find_sample(o->run, time), after = before + 1 < o->run->count ? before + 1 : before;
  double apart = o->run->time[after] - o->run->time[before];
  double fraction = apart > 0 ? fmin(fmax((time - o->run->time[before]) / apart, 0), 1) : 0;
  size_t size = sizeof(double) * (size_t)m->coordinate_count;
  double* next = MEMORY_NEW(double, m->coordinate_count + 1);
  Pose* next_poses = MEMORY_NEW(Pose, m->link_count);
  measured_state(o->run, before, m, q, v);
  model_poses(m, q, out);
  memcpy(next, q, size);
  measured_state(o->run, after, m, next, v);
  model_poses(m, next, next_poses);
  for (int i = 0; i < m->link_count && fraction > 0; i++) out[i] = interpolate_pose(out[i], next_poses[i], fraction);
  memory_free(next);
  memory_free(next_poses);
}

static Status write_trajectory(const Overlay* o, const Pose* poses, int rows, double begin, Diagnostics* diagnostics) {
  const Model* m = &o->model;
  Text text = {0};
  Pose* seen = MEMORY_NEW(Pose, m->link_count);
  double *q = MEMORY_NEW(double, m->coordinate_count + 1), *v = MEMORY_NEW(double, m->dof_count + 1);
  text_add(&text, "time");
  for (int i = 0; i < m->link_count; i++) add_names(&text, m->links[i].name);
  for (int i = 0; i < m->link_count; i++) {
    char* name = o->measured[i] ? measured_link_name(m->links[i].name) : NULL;
    if (name) add_names(&text, name);
    memory_free(name);
  }
  text_add(&text, "\n");
  memcpy(q, m->initial_coordinates, sizeof(double) * (size_t)m->coordinate_count);
  for (int row = 0; row < rows; row++) {
    double time = row * m->simulation.dt;
    compute_measured_poses(o, begin + time, q, v, seen);
    text_add_double(&text, time);
    for (int i = 0; i < m->link_count; i++)
      add_pose(&text, m, i, poses[(size_t)row * (size_t)m->link_count + (size_t)i]);
    for (int i = 0; i < m->link_count; i++)
      if (o->measured[i]) add_pose(&text, m, i, seen[i]);
    text_add(&text, "\n");
  }
  char* path = file_join(o->folder, "trajectory.csv");
  Status status = file_write_reported(path, &text, diagnostics);
  memory_free(path);
  memory_free(seen);
  memory_free(q);
  memory_free(v);
  text_free(&text);
  return status;
}

/* Writes the part of a run's summary that pictures and pages read. */
static Status write_summary(const Overlay* o, Diagnostics* diagnostics) {
  Text text = {0};
  Json json = {.out = &text};
  json_open(&json, NULL, '{');
  json_text(&json, "name", "overlay");
  json_text(&json, "run", o->run->path);
  json_open(&json, "inputs", '[');
  json_open(&json, NULL, '{');
  json_text(&json, "file", "overlay.scene.yaml");
  json_close(&json, '}');
  json_close(&json, ']');
  json_close(&json, '}');
  text_add(&text, "\n");
  char* path = file_join(o->folder, "summary.json");
  Status status = file_write_reported(path, &text, diagnostics);
  memory_free(path);
  text_free(&text);
  return status;
}

Status overlay_write(Identification* id, const char* folder, Diagnostics* diagnostics) {
  assert(folder && diagnostics);
  if (id->data.count == 0) return STATUS_OK;
  Overlay o = {.id = id, .run = &id->data.runs[find_median_run(id)], .folder = file_join(folder, "overlay")};
  int rows;
  double begin;
  Pose* poses = shot_poses(id, id->x, o.run, &rows, &begin);
  Diagnostics unheard = {0};
  Status status = STATUS_OK;
  if (poses && optimization_model(id->optimization, 0, id->x, &o.model, &unheard) == STATUS_OK) {
    o.measured = MEMORY_NEW(bool, o.model.link_count);
    for (int k = 0; k < o.run->link_count; k++) o.measured[o.run->links[k].link] = true;
    for (int i = 0; i < o.model.link_count; i++)
      if (o.model.links[i].parent >= 0 && o.measured[o.model.links[i].parent]) o.measured[i] = true;
    status = file_make_folder_reported(o.folder, diagnostics);
    if (status == STATUS_OK) status = write_overlay_scene(&o, diagnostics);
    if (status == STATUS_OK) status = write_trajectory(&o, poses, rows, begin, diagnostics);
    if (status == STATUS_OK) status = write_summary(&o, diagnostics);
  }
  model_destroy(&o.model);
  diagnostics_free(&unheard);
  memory_free(o.measured);
  memory_free(o.folder);
  memory_free(poses);
  return status;
}
