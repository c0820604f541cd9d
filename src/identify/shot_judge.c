/* Errors of a whole run, and their agreement with the predicted uncertainty (docs/derivations/identify.md, Q8). */
#include <assert.h>
#include <string.h>

#include "identify/shot.h"

/* Returns the variance of residual k that follows from the uncertainty of the fitted variables, without measurement
 * noise (Q8). Unit: squared standard deviation of the measurement in the task. */
static double predicted_variance(const Identification* id, const Residuals* s, size_t k) {
  if (!s->j) return NAN;
  const double* row = s->j + k * (size_t)s->columns;
  double sum = 0;
  for (int i = 0; i < id->variables; i++)
    for (int n = 0; n < id->variables; n++) sum += row[i] * id->covariance[i * id->variables + n] * row[n];
  for (int i = 0; i < id->locals; i++) {
    double deviation = local_deviation(id, i) * row[id->variables + i];
    sum += deviation * deviation;
  }
  return sum;
}

static void add_number(Text* rows, bool known, double value) {
  text_add(rows, ",");
  if (known && !isnan(value)) text_add_double(rows, value);
}

/* Adds the residuals r of a link in a sample. first: index of the link's first residual. */
static void add_residual_rows(ErrorRows* out, const Identification* id, const Residuals* s, const MeasuredLink* l,
                              int sample, size_t first) {
  const TaskIdentify* t = s->settings;
  Text* rows = &out->text;
  const MeasuredRun* run = s->simulation->shot->run;
  const double unit[3] = {t->position / l->source->weight, t->rotation / l->source->weight,
                          t->coordinate / l->source->weight};
  double value[7], deviation[7];
  int part_of[7] = {0, 0, 0, 1, 1, 1, 2};
  for (int k = 0, at = 0; k < 7; k++) {
    bool has = k < 3 ? l->has_position : k < 6 ? l->has_rotation : l->coordinate_count > 0;
    value[k] = has ? s->r[first + (size_t)at] : (double)NAN;
    deviation[k] = has && !isnan(value[k]) ? sqrt(id->noise * id->noise + predicted_variance(id, s, first + (size_t)at))
                                           : (double)NAN;
    at += has;
    if (!isnan(value[k]) && !isnan(deviation[k])) {
      out->residual_count++;
      out->inside += fabs(value[k]) <= 1.959963984540054 * deviation[k];
    }
  }
  csv_add_field(rows, run->path);
  text_add(rows, ",%s,", run->train ? "training" : "validation");
  csv_add_field(rows, id->model.links[l->link].name);
  text_add(rows, ",");
  text_add_double(rows, run->time[s->simulation->shot->first + sample]);
  for (int k = 0; k < 7; k++) add_number(rows, true, unit[part_of[k]] * value[k]);
  for (int k = 0; k < 7; k++) add_number(rows, true, unit[part_of[k]] * deviation[k]);
  text_add(rows, "\n");
  int bin = (int)(run->time[s->simulation->shot->first + sample] / out->bin);
  if (bin >= ERROR_BINS) bin = ERROR_BINS - 1;
  for (int part = 0; part < ERROR_KINDS; part++) {
    double square = 0;
    for (int k = 3 * part; k < (part < 2 ? 3 * part + 3 : 7); k++) square += value[k] * value[k];
    if (isnan(square)) continue;
    out->sum[part][bin] += unit[part] * sqrt(square);
    out->count[part][bin]++;
  }
}

static void add_misfits(ErrorRows* rows, const Residuals* s, const MeasuredRun* run, int samples) {
  const TaskIdentify* t = s->settings;
  const double unit[ERROR_KINDS] = {t->position, t->rotation, t->coordinate};
  for (int i = 0, at = 0; i < run->link_count; i++) {
    const MeasuredLink* l = &run->links[i];
    const int counts[ERROR_KINDS] = {3 * l->has_position, 3 * l->has_rotation, l->coordinate_count};
    for (int part = 0; part < ERROR_KINDS; part++)
      for (int k = 0; k < counts[part]; k++, at++)
        add_misfit_samples(rows, part, unit[part] / l->source->weight, s->r + at, samples, s->count);
  }
}

/* Adds the norm of the vector r[count], times `unit`, to the sum of a mean, unless it was not measured. */
static void add_magnitude(const double* r, int count, double unit, double* sum, int* seen) {
  double square = 0;
  for (int k = 0; k < count; k++) square += r[k] * r[k];
  if (isnan(square)) return;
  *sum += unit * sqrt(square);
  (*seen)++;
}

/* Computes the position and rotation error of a sample, averaged over its links: out[2]. */
static void compute_sample_errors(const Residuals* s, int sample, double out[2]) {
  const TaskIdentify* t = s->settings;
  const MeasuredRun* run = s->simulation->shot->run;
  const double* r = s->r + (size_t)sample * (size_t)s->count;
  int seen[2] = {0};
  out[0] = out[1] = 0;
  for (int i = 0; i < run->link_count; i++) {
    const MeasuredLink* l = &run->links[i];
    double weight = l->source->weight;
    if (l->has_position) add_magnitude(r, 3, t->position / weight, &out[0], &seen[0]);
    if (l->has_rotation) add_magnitude(r + 3 * l->has_position, 3, t->rotation / weight, &out[1], &seen[1]);
    r += residuals_state_count(l);
  }
  for (int k = 0; k < 2; k++) out[k] = seen[k] > 0 ? out[k] / seen[k] : (double)NAN;
}

static void compute_errors(const Identification* id, const Residuals* s, int samples, double out[ERROR_NUMBERS],
                           ErrorRows* rows) {
  const TaskIdentify* t = s->settings;
  const MeasuredRun* run = s->simulation->shot->run;
  int seen[3] = {0};
  for (int k = 0; k < samples; k++) {
    const double* r = s->r + (size_t)k * (size_t)s->count;
    for (int i = 0; i < run->link_count; i++) {
      const MeasuredLink* l = &run->links[i];
      if (rows) add_residual_rows(rows, id, s, l, k, (size_t)(r - s->r));
      double weight = l->source->weight;
      if (l->has_position) add_magnitude(r, 3, t->position / weight, &out[0], &seen[0]);
      r += 3 * l->has_position;
      if (l->has_rotation) add_magnitude(r, 3, t->rotation / weight, &out[1], &seen[1]);
      r += 3 * l->has_rotation;
      for (int n = 0; n < l->coordinate_count; n++) add_magnitude(r + n, 1, t->coordinate / weight, &out[2], &seen[2]);
      r += l->coordinate_count;
    }
  }
  for (int k = 0; k < 3; k++) out[k] = seen[k] > 0 ? out[k] / seen[k] : 0;
  if (samples > 0) compute_sample_errors(s, samples - 1, out + 3);
}

/* Computes the derivatives of the residuals. Returns false if only the residuals are available. */
static bool compute_derivatives(Residuals* s) {
  if (residuals_forward(s)) return true;
  memory_free(s->j);
  s->j = NULL;
  s->forward = NULL;
  s->next_sample = 0;
  memset(s->r, 0, sizeof(double) * (size_t)(s->simulation->shot->count * s->count));
  return false;
}

bool shot_compute_errors(const Identification* id, const double* x, const MeasuredRun* run, double out[ERROR_NUMBERS],
                         ErrorRows* rows) {
  assert(x && run && out);
  Shot shot = shot_of_run(id, run);
  Simulation simulation = {.id = id, .shot = &shot};
  bool whole = shot_simulate(&simulation, x, NULL);
  for (int k = 0; k < ERROR_NUMBERS; k++) out[k] = NAN;
  if (whole) {
    Residuals s = {.simulation = &simulation, .settings = &id->task->identify};
    s.count = residuals_per_sample(s.settings, run, false);
    int steps = simulation.recording.steps, samples = shot.count;
    while (samples > 0 && shot.sample_times[samples - 1].row + (shot.sample_times[samples - 1].fraction > 0) > steps)
      samples--;
    whole = samples == shot.count;
    shot.count = samples;
    s.r = MEMORY_NEW(double, (size_t)(samples * s.count) + 1);
    for (int k = 0; k < 3; k++) out[k] = 0;
    if (!rows || !compute_derivatives(&s))
      for (int row = 0; row <= steps; row++) residuals_visit_row(&s, NULL, row);
    if (rows) add_misfits(rows, &s, run, samples);
    compute_errors(id, &s, samples, out, rows);
    memory_free(s.r);
    memory_free(s.j);
    memory_free(s.pose_derivative);
  }
  shot_simulation_free(&simulation);
  memory_free(shot.sample_times);
  return whole;
}
