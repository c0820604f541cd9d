/* Simulation of a shot, and comparison with its measurement (docs/derivations/identify.md, Q2). */
#include <string.h>

#include "identify/shot.h"

/* A sample belongs to a row if their times differ by less than this fraction of a step. Files give times with few
 * digits. */
#define SAME_TIME 2e-3

/* ---------------------------------------------------------------- windows */

static void place_samples(Shot* s, double dt) {
  s->places = MEMORY_NEW(SampleTime, s->count);
  for (int k = 0; k < s->count; k++) {
    double at = (s->run->time[s->first + k] - s->run->time[s->first]) / dt;
    int row = (int)at;
    double part = at - row;
    if (part > 1 - SAME_TIME) row++, part = 0;
    if (part < SAME_TIME) part = 0;
    s->places[k] = (SampleTime){row, part};
    s->steps = row + (part > 0);
  }
  if (s->steps < 1) s->steps = 1;
}

static void add_shot(Identification* id, int run, int first, int last) {
  Shot* s = &id->shots[id->shot_count++];
  *s = (Shot){.run = &id->data.runs[run], .run_index = run, .first = first, .count = last - first + 1, .usable = true};
  place_samples(s, id->model.simulation.dt);
  if (id->locals > 0) s->local = MEMORY_NEW(double, id->locals);
}

/* Returns true if a window can begin at the sample, which needs all measurements of the initial state. */
static bool can_begin(const MeasuredRun* r, int sample) {
  for (int k = 0; k < r->link_count; k++) {
    const MeasuredLink* l = &r->links[k];
    if (l->has_position && !vec3_known(l->position[sample])) return false;
    if (l->has_rotation && !quat_known(l->rotation[sample])) return false;
    for (int i = 0; i < l->coordinate_count; i++)
      if (isnan(l->coordinates[sample * l->coordinate_count + i])) return false;
  }
  return true;
}

static int sample_at(const MeasuredRun* r, double time) {
  int k = 0;
  while (k < r->count - 1 && r->time[k + 1] <= time + 1e-9) k++;
  return k;
}

static void cut_run(Identification* id, int run) {
  const MeasuredRun* r = &id->data.runs[run];
  double window = id->task->identify.window, stride = id->task->identify.stride, end = r->time[r->count - 1];
  int first = 0;
  while (first < r->count - 1 && !can_begin(r, first)) first++;
  if (!(window > 0)) {
    add_shot(id, run, first, r->count - 1);
    return;
  }
  for (double begin = r->time[first]; begin == r->time[first] || begin + 0.5 * window <= end; begin += stride) {
    int from = sample_at(r, begin), to = sample_at(r, begin + window);
    while (from < to && !can_begin(r, from)) from++;
    if (to - from >= 2) add_shot(id, run, from, to);
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
    if (id->data.runs[k].train) cut_run(id, k);
}

void shots_free(Identification* id) {
  for (int k = 0; k < id->shot_count; k++) {
    memory_free(id->shots[k].places);
    memory_free(id->shots[k].local);
  }
  memory_free(id->shots);
}

Shot shot_of_run(const Identification* id, const MeasuredRun* run) {
  int first = 0;
  while (first < run->count - 1 && !can_begin(run, first)) first++;
  Shot shot = {.run = run, .first = first, .count = run->count - first};
  place_samples(&shot, id->model.simulation.dt);
  return shot;
}

/* ---------------------------------------------------------------- complete shot */

/* Returns a flag for each residual of a sample, true for a component of a rotation. Owned by the caller. */
static bool* turns_of_sample(const Residuals* s) {
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
static int first_touched(const Residuals* s) {
  const Recording* r = &s->simulation->recording;
  const Shot* shot = s->simulation->shot;
  int step = shot->steps + 1, sample = 0;
  for (int k = 0; k < r->state_count && step > shot->steps; k++)
    for (int c = 0; c < r->states[k].contact_count; c++)
      if (r->contacts[r->states[k].contact_first_row + c].active) step = r->states[k].step;
  while (sample < shot->count && shot->places[sample].row + (shot->places[sample].part > 0) < step) sample++;
  return sample;
}

static bool sum_up(const Residuals* s, const double* local, bool derivatives, ShotSums* out) {
  bool* turns = turns_of_sample(s);
  const ShotResiduals all = {
      s->simulation->shot->count, s->count, s->columns, s->settings->huber, s->r, s->j, turns, first_touched(s)};
  bool sound = shot_sum(s->simulation->id, &all, local, derivatives, out);
  memory_free(turns);
  return sound;
}

void shot_evaluate(const Identification* id, const double* x, const Shot* shot, const double* local, bool derivatives,
                   ShotSums* out) {
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
    out->ran = out->ran && sum_up(&s, local, derivatives, out);
    memory_free(s.r);
    memory_free(s.j);
    memory_free(s.bar);
  }
  shot_simulation_free(&simulation);
}

/* ---------------------------------------------------------------- gradient of the cost (Q13) */

/* Returns the derivatives of the cost with respect to all residuals, 0 for those not measured. Owned by the caller. */
static double* pulls(const Residuals* s) {
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
static bool gradient_backward(Residuals* s, double* gradient) {
  Simulation* simulation = s->simulation;
  const Identification* id = simulation->id;
  double* pull = pulls(s);
  s->pull = pull;
  s->seeds = loss_seeds_create(&simulation->model, simulation->shot->steps);
  s->next = 0;
  for (int row = 0; row <= simulation->shot->steps; row++) residuals_visit_row(s, NULL, row);
  simulation->model.closure_coordinates = simulation->placed;
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
  Simulation simulation = {.id = id, .shot = shot};
  out->ran = shot_simulate(&simulation, x, NULL) && simulation.recording.steps == shot->steps;
  if (out->ran) {
    Residuals s = {.simulation = &simulation, .settings = &id->task->identify, .rates = true};
    s.count = residuals_per_sample(s.settings, shot->run, true);
    s.r = MEMORY_NEW(double, (size_t)shot->count*(size_t)s.count + 1);
    for (int row = 0; row <= shot->steps; row++) residuals_visit_row(&s, NULL, row);
    out->ran = sum_up(&s, NULL, false, out) && gradient_backward(&s, out->g);
    memory_free(s.r);
  }
  shot_simulation_free(&simulation);
}

Pose* shot_poses(const Identification* id, const double* x, const MeasuredRun* run, int* rows, double* begin) {
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
  memory_free(shot.places);
  return out;
}
