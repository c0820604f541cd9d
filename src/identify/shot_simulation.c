/* Inputs and initial state of a simulated shot (docs/derivations/identify.md, Q2). */
#include <assert.h>
#include <string.h>

#include "identify/shot.h"

/* Returns the smallest height of a body's vertices above a half-space, world frame [m]. */
static double tree_height(const Model* m, const Pose* pose, int tree, const ModelHull* ground) {
  Vec3 normal = mat3_mul_vec(pose[ground->link].r, ground->normal);
  double level = ground->offset + vec3_dot(normal, pose[ground->link].t), least = HUGE_VAL;
  for (int h = 0; h < m->hull_count; h++) {
    const ModelHull* hull = &m->hulls[h];
    if (m->links[hull->link].tree != tree || !m->links[hull->link].collide) continue;
    for (int k = 0; k < hull->points.count; k++) {
      Vec3 x = pose_apply(pose[hull->link], point_at(hull->points, k));
      least = fmin(least, vec3_dot(normal, x) - level);
    }
  }
  return least;
}

/* Lifts free bodies onto the ground at the start of a window in contact. The measured pose may be below the ground
 * because of noise, or because the shape is not yet fitted. */
static void lift_onto_ground(Model* m) {
  Pose* pose = MEMORY_NEW(Pose, m->link_count);
  double gap = m->contact.gap_at_rest > 0 ? m->contact.gap_at_rest : m->contact.support;
  for (int h = 0; h < m->hull_count; h++) {
    const ModelHull* ground = &m->hulls[h];
    if (ground->kind != &SOLID_HALF_SPACE) continue;
    for (int i = 0; i < m->link_count; i++) {
      const ModelLink* link = &m->links[i];
      if (link->parent >= 0 || link->joint.slide_count != 3 || link->prescribed >= 0) continue;
      model_poses(m, m->initial_coordinates, pose);
      double below = gap - tree_height(m, pose, link->tree, ground);
      Vec3 up = mat3_tmul_vec(link->origin.r, mat3_mul_vec(pose[ground->link].r, ground->normal));
      double* q = m->initial_coordinates + link->coordinate_first;
      if (below > 0 && isfinite(below)) vec3_store(vec3_add_scaled(vec3_at(q), below, up), q);
    }
  }
  memory_free(pose);
}

double shot_height(const Identification* id, const Shot* shot, int* ground) {
  assert(shot && ground);
  Model m;
  Diagnostics unheard = {0};
  double least = HUGE_VAL;
  if (optimization_model(id->optimization, 0, id->x, &m, &unheard) == STATUS_OK) {
    measured_state(shot->run, shot->first, &m, m.initial_coordinates, m.initial_velocities);
    Pose* pose = MEMORY_NEW(Pose, m.link_count);
    model_poses(&m, m.initial_coordinates, pose);
    for (int h = 0; h < m.hull_count; h++)
      for (int t = 0; t < m.tree_count && m.hulls[h].kind == &SOLID_HALF_SPACE; t++) {
        double height = tree_height(&m, pose, t, &m.hulls[h]);
        if (height < least) *ground = m.hulls[h].link;
        least = fmin(least, height);
      }
    memory_free(pose);
  }
  model_destroy(&m);
  diagnostics_free(&unheard);
  return least;
}

/* Sets the inputs of the run from the start time of the shot. */
static void set_inputs(Simulation* s) {
  const MeasuredData* data = &s->id->data;
  const MeasuredRun* run = s->shot->run;
  for (int k = 0; k < data->input_count; k++) model_set_signal(&s->model, data->inputs[k], &run->inputs[k]);
  if (data->input_count > 0 || s->shot->first > 0) model_begin_signals(&s->model, run->time[s->shot->first]);
}

static void set_initial_state(Simulation* s, const double* local) {
  Model* m = &s->model;
  if (m->closure_count > 0) { /* closures are closed at the initial state of the scene, not of the run */
    s->closure_coordinates = MEMORY_NEW(double, m->coordinate_count);
    memcpy(s->closure_coordinates, m->initial_coordinates, sizeof(double) * (size_t)m->coordinate_count);
  }
  measured_state(s->shot->run, s->shot->first, m, m->initial_coordinates, m->initial_velocities);
  m->simulation.steps = s->shot->steps;
  if (local && s->id->locals > 0) {
    model_increment(m, m->initial_coordinates, local, 1, m->initial_coordinates);
    for (int k = 0; k < m->dof_count; k++) m->initial_velocities[k] += local[m->dof_count + k];
  }
  if (s->shot->first > 0) lift_onto_ground(m);
  if (!s->closure_coordinates)
    model_place_spring_thetas(m); /* else they belong to the closure coordinates (drives.md, M10) */
}

/* Returns true if the run completes, or fails after at least one step; s->recording has the rows before the failure. */
bool shot_simulate(Simulation* s, const double* x, const double* local) {
  assert(s->id && s->shot && x && !s->has_model && !s->has_recording);
  Diagnostics unheard = {0};
  RecordReport report;
  s->has_model = true;
  Status status = optimization_model(s->id->optimization, 0, x, &s->model, &unheard);
  if (status == STATUS_OK) {
    set_inputs(s);
    set_initial_state(s, local);
    s->has_recording = true;
    recording_create(&s->recording, &s->model, s->shot->steps);
    RecordOptions options = {.threads = 1, .interrupted = s->id->options.interrupted};
    status = recording_run(&s->recording, &s->model, &options, &report, &unheard);
  }
  diagnostics_free(&unheard);
  return status == STATUS_OK || (status == STATUS_SOLVER && s->recording.steps > 0);
}

void shot_simulation_free(Simulation* s) {
  if (s->has_recording) recording_destroy(&s->recording);
  if (s->has_model) model_destroy(&s->model);
  memory_free(s->closure_coordinates);
}
