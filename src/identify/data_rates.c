/* Detects whether a measured velocity refers to the time of its sample or, as a backward difference, to half a sample
 * interval before (identify.md, Q11). */
#include "identify/data.h"

#include <assert.h>

/* Velocities count as backward differences if their deviation from central differences is more than DEVIATION_RATIO
 * times their deviation from backward differences. In addition, the displacements by both kinds of velocities within
 * TEST_INTERVAL [s] must differ by more than the position noise. */
#define DEVIATION_RATIO 4.0
#define TEST_INTERVAL 0.1

/* Computes the weights by which the velocities of a sample and of the next sample are interpolated to the time of the
 * sample. Both velocities belong to midpoints between samples. */
static void midpoint_weights(const MeasuredRun* r, int row, double* weight, double* next) {
  double after = r->time[row + 1] - r->time[row], before = row > 0 ? r->time[row] - r->time[row - 1] : after;
  *weight = after / (before + after);
  *next = before / (before + after);
}

static void shift_vectors(const MeasuredRun* r, Vec3* v) {
  for (int k = 0; k < r->count; k++) {
    double weight, next;
    if (k + 1 == r->count) {
      v[k] = vec3(NAN, NAN, NAN);
      break;
    }
    midpoint_weights(r, k, &weight, &next);
    v[k] = vec3_add_scaled(vec3_scale(v[k], weight), next, v[k + 1]);
  }
}

static void shift_numbers(const MeasuredRun* r, double* v, int width) {
  for (int k = 0; k < r->count; k++)
    for (int i = 0; i < width; i++) {
      double weight, next;
      if (k + 1 == r->count) {
        v[k * width + i] = NAN;
        continue;
      }
      midpoint_weights(r, k, &weight, &next);
      v[k * width + i] = weight * v[k * width + i] + next * v[(k + 1) * width + i];
    }
}

void measured_rates_to_rows(MeasuredRun* run) {
  assert(run && run->count >= 0);
  for (int i = 0; i < run->link_count; i++) {
    MeasuredLink* l = &run->links[i];
    if (!l->source->rates_before) continue;
    if (l->has_velocity) shift_vectors(run, l->velocity);
    if (l->has_spin) shift_vectors(run, l->spin);
    if (l->rate_count > 0) shift_numbers(run, l->rates, l->rate_count);
  }
}

/* Adds the squared deviations of velocities from backward (square[0]) and central differences (square[1]). */
static void add_deviations(const MeasuredRun* r, const MeasuredLink* l, double square[2], int* count) {
  for (int k = 1; k + 1 < r->count; k++) {
    Vec3 before = l->position[k - 1], now = l->position[k], after = l->position[k + 1];
    if (!vec3_known(before) || !vec3_known(now) || !vec3_known(after) || !vec3_known(l->velocity[k])) continue;
    Vec3 late = vec3_scale(vec3_sub(now, before), 1 / (r->time[k] - r->time[k - 1]));
    Vec3 around = vec3_scale(vec3_sub(after, before), 1 / (r->time[k + 1] - r->time[k - 1]));
    Vec3 off[2] = {vec3_sub(l->velocity[k], late), vec3_sub(l->velocity[k], around)};
    for (int n = 0; n < 2; n++) square[n] += vec3_dot(off[n], off[n]);
    (*count)++;
  }
}

void measured_check_rates(const MeasuredData* data, const Task* task, Diagnostics* diagnostics) {
  assert(data && task && diagnostics && data->count >= 0);
  for (int i = 0; i < task->data.measured_count; i++) {
    const TaskMeasured* source = &task->data.measured[i];
    double square[2] = {0};
    int count = 0;
    for (int k = 0; k < data->count && !source->rates_before; k++) {
      const MeasuredLink* l = &data->runs[k].links[i];
      if (l->has_position && l->has_velocity) add_deviations(&data->runs[k], l, square, &count);
    }
    double apart = count > 0 ? sqrt(square[1] / count) : 0;
    if (!(apart * TEST_INTERVAL > task->identify.position) ||
        !(DEVIATION_RATIO * DEVIATION_RATIO * square[0] < square[1]))
      continue;
    diagnostics_add(
        diagnostics, SEVERITY_WARNING, source->place,
        "the velocities are backward differences, which lag by half a row (error %.2g m/s): set rates_at: before",
        apart);
  }
}
