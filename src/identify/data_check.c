/* Checks measured runs, and reports faults with probable causes. */
#include "identify/data.h"

#include <assert.h>

/* Largest deviation of a quaternion's length from 1, for files with four digits. */
#define LENGTH_TOLERANCE 0.02
/* Largest plausible speed [m/s]. */
#define SPEED_MAX 200.0
/* Largest plausible joint rotation [rad]. A larger value is probably in degrees. */
#define ROTATION_MAX 100.0
/* Largest number of time steps between two samples. If there are more, the measured time probably has another unit. */
#define STEPS_MAX 1000.0
/* Relative difference of measured rotations and integrated angular velocities above which the two probably refer to
 * different axes. */
#define SPIN_TOLERANCE 0.5

typedef struct {
  MeasuredRun* run;
  Diagnostics* diagnostics;
  int faults;
} DataCheck;

/* Reports a fault. columns[count]: names of the columns, or NULL if the text names them. */
static void report_fault(DataCheck* c, int sample, char* const* columns, int count, const char* text) {
  Text said = {0};
  for (int k = 0; k < count; k++)
    text_add(&said, "%s'%s'", k == 0 ? (count > 1 ? "columns " : "column ") : ", ", columns[k]);
  text_add(&said, "%s%s", count > 0 ? ": " : "", text);
  diagnostics_add(c->diagnostics, SEVERITY_ERROR, (SourcePosition){c->run->path, c->run->line[sample], 0}, "%s",
                  said.data);
  text_free(&said);
  c->faults++;
}

static void check_times(DataCheck* c, const Task* task, double dt) {
  char text[300];
  MeasuredRun* r = c->run;
  if (r->count < 3) {
    diagnostics_add(c->diagnostics, SEVERITY_ERROR, (SourcePosition){r->path, 0, 0},
                    "the run has %d rows, but needs at least 3: add rows, or leave the file out", r->count);
    c->faults++;
    return;
  }
  for (int k = 1; k < r->count && c->faults == 0; k++) {
    if (r->time[k] > r->time[k - 1]) continue;
    snprintf(text, sizeof text, "'%s' must rise: %.9g after %.9g%s", task->data.time, r->time[k], r->time[k - 1],
             r->time[k] == r->time[k - 1] ? ": is a row written twice?"
                                          : ": are rows out of order, or two runs in one file?");
    report_fault(c, k, NULL, 0, text);
  }
  double apart = (r->time[r->count - 1] - r->time[0]) / (r->count - 1);
  if (c->faults == 0 && apart > STEPS_MAX * dt) {
    snprintf(
        text, sizeof text,
        "rows are %.4g s apart, %.3g steps of the scene: is the time in milliseconds? then data.time_scale is 0.001",
        apart, apart / dt);
    report_fault(c, 1, &task->data.time, 1, text);
  }
  double start = r->time[0];
  for (int k = 0; k < r->count; k++) r->time[k] -= start;
}

static void check_rotations(DataCheck* c, MeasuredLink* l) {
  char text[300];
  for (int k = 0; k < c->run->count && c->faults == 0 && l->has_rotation; k++) {
    Quat* q = &l->rotation[k];
    if (!quat_known(*q)) continue;
    double length = sqrt(q->w * q->w + q->x * q->x + q->y * q->y + q->z * q->z);
    if (!(fabs(length - 1) < LENGTH_TOLERANCE)) {
      snprintf(text, sizeof text,
               "the quaternion (%.4g, %.4g, %.4g, %.4g) has length %.4g, not 1: are the columns "
               "those of w, x, y, z?",
               q->w, q->x, q->y, q->z, length);
      report_fault(c, k, l->source->quaternion, 4, text);
      return;
    }
    *q = quat_normalized(*q);
  }
}

static void check_positions(DataCheck* c, const MeasuredLink* l) {
  char text[300];
  int last = -1;
  for (int k = 0; k < c->run->count && c->faults == 0 && l->has_position; k++) {
    if (!vec3_known(l->position[k])) continue;
    if (last >= 0) {
      double speed = vec3_norm(vec3_sub(l->position[k], l->position[last])) / (c->run->time[k] - c->run->time[last]);
      if (speed > SPEED_MAX) {
        snprintf(text, sizeof text,
                 "the position jumps with %.4g m/s: are lengths in millimetres? then "
                 "length_scale is 0.001",
                 speed);
        report_fault(c, k, l->source->position, 3, text);
      }
    }
    last = k;
  }
}

static void check_coordinates(DataCheck* c, const MeasuredLink* l, const Model* model) {
  char text[300];
  const Joint* joint = &model->links[l->link].joint;
  for (int k = 0; k < c->run->count * l->coordinate_count && c->faults == 0; k++) {
    bool is_angle = k % l->coordinate_count >= joint->slide_count;
    if (!is_angle || !(fabs(l->coordinates[k]) > ROTATION_MAX)) continue;
    snprintf(text, sizeof text, "an angle of %.4g rad: is it in degrees? then angle_scale is 0.017453292519943295",
             l->coordinates[k]);
    report_fault(c, k / l->coordinate_count, l->source->coordinates + k % l->coordinate_count, 1, text);
  }
}

/* Number of samples between compared rotations. Rotations of neighbouring samples differ by little more than noise. */
enum { SAMPLE_DISTANCE = 8 };

/* RATE_RATIO_MAX: ratio of measured changes to integrated rates above which their units probably differ. CHANGE_MIN:
 * smallest change that counts, in standard deviations of the data. */
#define RATE_RATIO_MAX 3.0
#define CHANGE_MIN 5.0

/* Measured values of one quantity and its measured time derivative, at the samples of a run. noise: standard deviation
 * of the values. */
typedef struct {
  const double *value, *rate;
  int stride, rate_stride;
  double noise;
  bool is_angle; /* angle modulo one revolution */
} RateSeries;

/* Compares values with the time integral of their measured derivatives, over intervals of a few samples. Adds to
 * *product the change of the value times the integral, and to *square the squared integral. */
static void add_rate_sums(const MeasuredRun* r, const RateSeries* series, double* product, double* square) {
  for (int k = 0; k + SAMPLE_DISTANCE < r->count; k += SAMPLE_DISTANCE) {
    bool whole = true;
    double said = 0, change = series->value[(k + SAMPLE_DISTANCE) * series->stride] - series->value[k * series->stride];
    for (int i = k; i < k + SAMPLE_DISTANCE; i++) {
      whole = whole && !(series->is_angle &&
                         fabs(series->value[(i + 1) * series->stride] - series->value[i * series->stride]) > TURN / 2);
      said += 0.5 * (r->time[i + 1] - r->time[i]) *
              (series->rate[i * series->rate_stride] + series->rate[(i + 1) * series->rate_stride]);
    }
    if (!whole || isnan(said) || isnan(change) || fmax(fabs(said), fabs(change)) < CHANGE_MIN * series->noise) continue;
    *product += change * said;
    *square += said * said;
  }
}

/* Reports columns of values and of their time derivatives whose units do not fit together. */
static void check_rate_units(DataCheck* c, double product, double square, char* const* columns, int count, bool joint) {
  char text[300];
  if (c->faults > 0 || !(square > 0)) return;
  double factor = product / square;
  if (factor > 1 / RATE_RATIO_MAX && factor < RATE_RATIO_MAX) return;
  snprintf(text, sizeof text, "the %s changes %.3g times as fast as %s say: %s", joint ? "coordinate" : "position",
           factor, joint ? "its rates" : "the velocities",
           factor > 5e-4 && factor < 2e-3   ? "is the time in milliseconds? then data.time_scale is 0.001"
           : factor > 500 && factor < 2000  ? "is it in thousandths of their unit (length_scale), or the time?"
           : factor > 0.01 && factor < 0.03 ? "is it in radians, and they are in degrees (angle_scale)?"
           : factor > 40 && factor < 80     ? "is it in degrees, and they are in radians (angle_scale)?"
                                            : "are they in other units, or other columns?");
  report_fault(c, 1, columns, count, text);
}

static void check_rates(DataCheck* c, const MeasuredLink* l, const TaskIdentify* noise, int turns_from) {
  const MeasuredRun* r = c->run;
  double product = 0, square = 0;
  for (int axis = 0; axis < 3 && l->has_position && l->has_velocity; axis++) {
    const double* const value[3] = {&l->position->x, &l->position->y, &l->position->z};
    const double* const rate[3] = {&l->velocity->x, &l->velocity->y, &l->velocity->z};
    const RateSeries series = {
        value[axis], rate[axis], sizeof(Vec3) / sizeof(double), sizeof(Vec3) / sizeof(double), noise->position, false};
    add_rate_sums(r, &series, &product, &square);
  }
  check_rate_units(c, product, square, l->source->position, 3, false);
  for (int k = 0; k < l->coordinate_count && k < l->rate_count; k++) {
    const RateSeries series = {l->coordinates + k, l->rates + k,      l->coordinate_count,
                               l->rate_count,      noise->coordinate, k >= turns_from};
    product = square = 0;
    add_rate_sums(r, &series, &product, &square);
    check_rate_units(c, product, square, l->source->coordinates + k, 1, true);
  }
}

/* Integrates the angular velocities of the samples from..to, link axes, to the rotation *turn. Returns false if a
 * sample is missing. */
static bool integrate_spin(const MeasuredRun* r, const MeasuredLink* l, int from, int to, Quat* turn) {
  *turn = (Quat){1, 0, 0, 0};
  for (int k = from; k < to; k++) {
    if (!vec3_known(l->spin[k]) || !vec3_known(l->spin[k + 1])) return false;
    Vec3 mean = vec3_scale(vec3_add(l->spin[k], l->spin[k + 1]), 0.5 * (r->time[k + 1] - r->time[k]));
    *turn = quat_mul(*turn, quat_exp(mean));
  }
  return true;
}

/* Returns the sum of the squared angles between measured and integrated rotations. Adds the squared integrated angles
 * to *size. swapped: the quaternion columns have the order x, y, z, w. */
static double compare_spin(const MeasuredRun* r, const MeasuredLink* l, bool swapped, double* size) {
  double sum = 0;
  *size = 0;
  for (int k = 0; k + 1 < r->count; k += SAMPLE_DISTANCE) {
    int to = k + SAMPLE_DISTANCE < r->count ? k + SAMPLE_DISTANCE : r->count - 1;
    Quat a = l->rotation[k], b = l->rotation[to], said;
    if (!quat_known(a) || !quat_known(b) || !integrate_spin(r, l, k, to, &said)) continue;
    if (swapped) {
      a = (Quat){a.z, a.w, a.x, a.y};
      b = (Quat){b.z, b.w, b.x, b.y};
    }
    Quat apart = quat_mul(quat_conjugate(said), quat_mul(quat_conjugate(a), b));
    if (apart.w < 0) apart = (Quat){-apart.w, -apart.x, -apart.y, -apart.z};
    Vec3 off = quat_log(apart), turn = quat_log(said);
    sum += vec3_dot(off, off);
    *size += vec3_dot(turn, turn);
  }
  return sum;
}

/* Converts measured angular velocities to link axes. Reports angular velocities that contradict the measured rotations.
 */
static void check_spin(DataCheck* c, MeasuredLink* l) {
  char text[300];
  MeasuredRun* r = c->run;
  if (!l->has_rotation || !l->has_spin || c->faults > 0) return;
  for (int k = 0; k < r->count && l->source->world_rates; k++)
    if (quat_known(l->rotation[k])) l->spin[k] = mat3_tmul_vec(mat3_from_quat(l->rotation[k]), l->spin[k]);
  double size, other, apart = compare_spin(r, l, false, &size);
  if (!(apart > SPIN_TOLERANCE * size) || !(size > 0)) return;
  double swapped = compare_spin(r, l, true, &other);
  snprintf(text, sizeof text, "the rotations do not turn as the angular velocities say (relative difference %.2g)%s",
           sqrt(apart / size),
           swapped < 0.25 * apart ? ": the quaternion's columns are in the order x, y, z, w; name them w, x, y, z"
                                  : ": are they in other axes (rate_axes), or in degrees (angle_scale)?");
  report_fault(c, 1, l->source->quaternion, 4, text);
}

bool measured_check(MeasuredRun* run, const Task* task, const Model* model, Diagnostics* diagnostics) {
  assert(run && task && model && run->count >= 0);
  DataCheck c = {run, diagnostics, 0};
  check_times(&c, task, model->simulation.dt);
  for (int k = 0; k < run->link_count && c.faults == 0; k++) {
    MeasuredLink* l = &run->links[k];
    check_rotations(&c, l);
    check_positions(&c, l);
    check_coordinates(&c, l, model);
    check_rates(&c, l, &task->identify, model->links[l->link].joint.slide_count);
    check_spin(&c, l);
  }
  return c.faults == 0;
}
