/* Simulation of a shot, and comparison with its measurement (docs/derivations/identify.md, Q2). */
#include <assert.h>
#include <string.h>

#include "identify/shot.h"

/* Largest difference of the times of a sample and its row, in steps. Files give times with few digits. */
#define TIME_TOLERANCE 2e-3

static void compute_sample_times(Shot* s, double dt) {
  s->sample_times = MEMORY_NEW(SampleTime, s->count);
  for (int k = 0; k < s->count; k++) {
    double at = (s->run->time[s->first + k] - s->run->time[s->first]) / dt;
    int row = (int)at;
    double part = at - row;
    if (part > 1 - TIME_TOLERANCE) row++, part = 0;
    if (part < TIME_TOLERANCE) part = 0;
    s->sample_times[k] = (SampleTime){row, part};
    s->steps = row + (part > 0);
  }
  if (s->steps < 1) s->steps = 1;
}

static void append_shot(Identification* id, int run, int first, int last) {
  Shot* s = &id->shots[id->shot_count++];
  *s = (Shot){.run = &id->data.runs[run], .run_index = run, .first = first, .count = last - first + 1, .usable = true};
  compute_sample_times(s, id->model.simulation.dt);
  if (id->locals > 0) s->local = MEMORY_NEW(double, id->locals);
}

/* Returns true if a window can begin at the sample: all measurements of the initial state exist there. */
static bool can_start_window(const MeasuredRun* r, int sample) {
  for (int k = 0; k < r->link_count; k++) {
    const MeasuredLink* l = &r->links[k];
    if (l->has_position && !vec3_known(l->position[sample])) return false;
    if (l->has_rotation && !quat_known(l->rotation[sample])) return false;
    for (int i = 0; i < l->coordinate_count; i++)
      if (isnan(l->coordinates[sample * l->coordinate_count + i])) return false;
  }
  return true;
}

static int find_sample(const MeasuredRun* r, double time) {
  int k = 0;
  while (k < r->count - 1 && r->time[k + 1] <= time + 1e-9) k++;
  return k;
}

static void divide_run(Identification* id, int run) {
  const MeasuredRun* r = &id->data.runs[run];
  double window = id->task->identify.window, stride = id->task->identify.stride, end = r->time[r->count - 1];
  int first = 0;
  while (first < r->count - 1 && !can_start_window(r, first)) first++;
  if (!(window > 0)) {
    append_shot(id, run, first, r->count - 1);
    return;
  }
  for (double begin = r->time[first]; begin == r->time[first] || begin + 0.5 * window <= end; begin += stride) {
    int from = find_sample(r, begin), to = find_sample(r, begin + window);
    while (from < to && !can_start_window(r, from)) from++;
    if (to - from >= 2) append_shot(id, run, from, to);
  }
}

void shots_create(Identification* id) {
  double stride = id->task->identify.stride;
  int most = 0;
  for (int k = 0; k < id->data.count; k++) {
    const MeasuredRun* r = &id->data.runs[k];
    most += 2 + (id->task->identify.window > 0 ? (int)(r->time[r->count - 1] / stride) : 0);
  }
  id->shots = MEMORY_NEW(Shot, most);
  for (int k = 0; k < id->data.count; k++)
    if (id->data.runs[k].train) divide_run(id, k);
}

void shots_free(Identification* id) {
  for (int k = 0; k < id->shot_count; k++) {
    memory_free(id->shots[k].sample_times);
    memory_free(id->shots[k].local);
  }
  memory_free(id->shots);
}

Shot shot_of_run(const Identification* id, const MeasuredRun* run) {
  int first = 0;
  while (first < run->count - 1 && !can_start_window(run, first)) first++;
  Shot shot = {.run = run, .first = first, .count = run->count - first};
  compute_sample_times(&shot, id->model.simulation.dt);
  return shot;
}

/* Returns a flag for each residual of a sample, true for a component of a rotation. The caller frees it. */
static bool* find_rotation_residuals(const Residuals* s) {
  bool* turns = MEMORY_NEW(bool, s->count + 1);
  const MeasuredRun* run = s->simulation->shot->run;
  for (int i = 0, at = 0; i < run->link_count; i++) {
    const MeasuredLink* l = &run->links[i];
    const Joint* joint = &s->simulation->model.links[l->link].joint;
    LinkRates of = residuals_link_rates(s->settings, l, s->rates);
    at += 3 * l->has_position;
    for (int k = 0; k < 3 * l->has_rotation; k++) turns[at++] = true;
    for (int k = 0; k < l->coordinate_count; k++) turns[at++] = k >= joint->slide_count;
    at += 3 * of.velocity;
    for (int k = 0; k < 3 * of.spin; k++) turns[at++] = true;
    for (int k = 0; k < of.rates; k++) turns[at++] = k >= joint->slide_count;
  }
  return turns;
}

/* Returns the first sample after a state with contact forces. */
static int find_first_contact(const Residuals* s) {
  const Recording* r = &s->simulation->recording;
  const Shot* shot = s->simulation->shot;
  int step = shot->steps + 1, sample = 0;
  for (int k = 0; k < r->state_count && step > shot->steps; k++)
    for (int c = 0; c < r->states[k].contact_count; c++)
      if (r->contacts[r->states[k].contact_first_row + c].active) step = r->states[k].step;
  while (sample < shot->count && shot->sample_times[sample].row + (shot->sample_times[sample].fraction > 0) < step)
    sample++;
  return sample;
}

static bool sum_shot(const Residuals* s, const double* local, bool derivatives, ShotSums* out) {
  bool* turns = find_rotation_residuals(s);
  const ShotResiduals all = {s->simulation->shot->count, s->count, s->columns, s->settings->huber, s->r, s->j, turns,
                             find_first_contact(s)};
  bool sound = shot_sum(s->simulation->id, &all, local, derivatives, out);
  memory_free(turns);
  return sound;
}

void shot_evaluate(const Identification* id, const double* x, const Shot* shot, const double* local, bool derivatives,
                   ShotSums* out) {
  assert(x && shot && out && shot->steps >= 0);
  Simulation simulation = {.id = id, .shot = shot};
  out->ran = shot_simulate(&simulation, x, local) && simulation.recording.steps == shot->steps;
  if (out->ran) {
    Residuals s = {.simulation = &simulation, .settings = &id->task->identify};
    s.rates = true;
    s.count = residuals_per_sample(s.settings, shot->run, true);
    s.r = MEMORY_NEW(double, (size_t)shot->count*(size_t)s.count + 1);
    if (derivatives) {
      out->ran = residuals_forward(&s);
    } else {
      for (int row = 0; row <= shot->steps; row++) residuals_visit_row(&s, NULL, row);
    }
    out->ran = out->ran && sum_shot(&s, local, derivatives, out);
    memory_free(s.r);
    memory_free(s.j);
    memory_free(s.pose_derivative);
  }
  shot_simulation_free(&simulation);
}

/* Returns the derivatives of the cost with respect to all residuals, 0 for residuals that were not measured. The caller
 * frees the array. */
static double* cost_derivatives(const Residuals* s) {
  int all = s->simulation->shot->count * s->count;
  double* pull = MEMORY_NEW(double, all + 1);
  for (int k = 0; k < all; k++) {
    double weight;
    if (isnan(s->r[k])) continue;
    robust_loss(s->r[k], s->settings->huber, &weight);
    pull[k] = weight * s->r[k];
  }
  return pull;
}

/* Computes the gradient by the adjoint. Returns false if a step has no derivative. */
static bool compute_gradient(Residuals* s, double* gradient) {
  Simulation* simulation = s->simulation;
  const Identification* id = simulation->id;
  double* pull = cost_derivatives(s);
  s->cost_derivative = pull;
  s->seeds = loss_seeds_create(&simulation->model, simulation->shot->steps);
  s->next_sample = 0;
  for (int row = 0; row <= simulation->shot->steps; row++) residuals_visit_row(s, NULL, row);
  simulation->model.closure_coordinates = simulation->closure_coordinates;
  ModelGradient by_model = {0};
  model_gradient_create(&by_model, &simulation->model);
  bool sound = optimization_run_adjoint(id->optimization, &simulation->recording, &s->seeds,
                                        id->task->optimizer.discount, 1, &by_model)
                   .sound;
  memset(gradient, 0, sizeof(double) * (size_t)id->variables);
  if (sound) optimization_add_gradient(id->optimization, 0, &simulation->model, &by_model, gradient);
  model_gradient_destroy(&by_model);
  loss_seeds_destroy(&s->seeds);
  memory_free(pull);
  return sound;
}

void shot_gradient(const Identification* id, const double* x, const Shot* shot, ShotSums* out) {
  assert(x && shot && out && !shot->local);
  Simulation simulation = {.id = id, .shot = shot};
  out->ran = shot_simulate(&simulation, x, NULL) && simulation.recording.steps == shot->steps;
  if (out->ran) {
    Residuals s = {.simulation = &simulation, .settings = &id->task->identify, .rates = true};
    s.count = residuals_per_sample(s.settings, shot->run, true);
    s.r = MEMORY_NEW(double, (size_t)shot->count*(size_t)s.count + 1);
    for (int row = 0; row <= shot->steps; row++) residuals_visit_row(&s, NULL, row);
    out->ran = sum_shot(&s, NULL, false, out) && compute_gradient(&s, out->g);
    memory_free(s.r);
  }
  shot_simulation_free(&simulation);
}

Pose* shot_poses(const Identification* id, const double* x, const MeasuredRun* run, int* rows, double* begin) {
  assert(x && run && rows && begin);
  Shot shot = shot_of_run(id, run);
  Simulation simulation = {.id = id, .shot = &shot};
  Pose* out = NULL;
  size_t links = (size_t)id->model.link_count;
  if (shot_simulate(&simulation, x, NULL)) {
    *rows = simulation.recording.steps + 1;
    *begin = run->time[shot.first];
    out = MEMORY_NEW(Pose, (size_t)*rows * links);
    for (int row = 0; row < *rows; row++)
      memcpy(out + (size_t)row * links, recording_pose(&simulation.recording, row), sizeof(Pose) * links);
  }
  shot_simulation_free(&simulation);
  memory_free(shot.sample_times);
  return out;
}
