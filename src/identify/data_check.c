/* Checks measured runs, and reports faults with probable causes. */
#include "identify/data.h"

/* Largest deviation of a quaternion's length from 1, for quaternions written with four digits. */
#define UNIT_SLACK 0.02
/* Larger speeds are reported as implausible [m/s]. */
#define FASTEST 200.0
/* Larger joint rotations are reported as implausible for angles in radians [rad]. */
#define FARTHEST_TURN 100.0
/* If samples are farther apart than this number of time steps, the time probably has another unit. */
#define STEPS_APART 1000.0
/* If a rotation and the angular velocity differ by more than this fraction, they probably refer to different axes. */
#define SPIN_DIFFERS 0.5

typedef struct {
  MeasuredRun* run;
  Diagnostics* diagnostics;
  int faults;
} DataCheck;

/* Reports a fault. columns[count]: names of the columns concerned, or NULL if the text names the columns. */
static void tell(DataCheck* c, int sample, char* const* columns, int count, const char* text) {
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
    tell(c, k, NULL, 0, text);
  }
  double apart = (r->time[r->count - 1] - r->time[0]) / (r->count - 1);
  if (c->faults == 0 && apart > STEPS_APART * dt) {
    snprintf(
        text, sizeof text,
        "rows are %.4g s apart, %.3g steps of the scene: is the time in milliseconds? then data.time_scale is 0.001",
        apart, apart / dt);
    tell(c, 1, &task->data.time, 1, text);
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
    if (!(fabs(length - 1) < UNIT_SLACK)) {
      snprintf(text, sizeof text,
               "the quaternion (%.4g, %.4g, %.4g, %.4g) has length %.4g, not 1: are the columns "
               "those of w, x, y, z?",
               q->w, q->x, q->y, q->z, length);
      tell(c, k, l->source->quaternion, 4, text);
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
      if (speed > FASTEST) {
        snprintf(text, sizeof text,
                 "the position jumps with %.4g m/s: are lengths in millimetres? then "
                 "length_scale is 0.001",
                 speed);
        tell(c, k, l->source->position, 3, text);
      }
    }
    last = k;
  }
}

static void check_coordinates(DataCheck* c, const MeasuredLink* l, const Model* model) {
  char text[300];
  const Joint* joint = &model->links[l->link].joint;
  for (int k = 0; k < c->run->count * l->coordinate_count && c->faults == 0; k++) {
    bool turns = k % l->coordinate_count >= joint->slide_count;
    if (!turns || !(fabs(l->coordinates[k]) > FARTHEST_TURN)) continue;
    snprintf(text, sizeof text, "an angle of %.4g rad: is it in degrees? then angle_scale is 0.017453292519943295",
             l->coordinates[k]);
    tell(c, k / l->coordinate_count, l->source->coordinates + k % l->coordinate_count, 1, text);
  }
}

/* Number of samples between compared rotations. Rotations of neighbouring samples differ by little more than noise. */
enum { APART = 8 };

/* RATES_DIFFER: ratio of measured changes to integrated rates above which the units probably differ. CHANGE_SEEN:
 * number of standard deviations of the data above which a change counts. */
#define RATES_DIFFER 3.0
#define CHANGE_SEEN 5.0

/* Values and rates of one number in the rows of a run, with a stride. noise: standard deviation of the values. */
typedef struct {
  const double *place, *rate;
  int stride, rate_stride;
  double noise;
  bool turns; /* true for an angle known modulo one revolution */
} RatedCourse;

/* Adds to sums over intervals of a few samples. product: change of the value times integrated rate. square: integrated
 * rate squared. */
static void add_course(const MeasuredRun* r, const RatedCourse* course, double* product, double* square) {
  for (int k = 0; k + APART < r->count; k += APART) {
    bool whole = true;
    double said = 0, change = course->place[(k + APART) * course->stride] - course->place[k * course->stride];
    for (int i = k; i < k + APART; i++) {
      whole = whole && !(course->turns &&
                         fabs(course->place[(i + 1) * course->stride] - course->place[i * course->stride]) > TURN / 2);
      said += 0.5 * (r->time[i + 1] - r->time[i]) *
              (course->rate[i * course->rate_stride] + course->rate[(i + 1) * course->rate_stride]);
    }
    if (!whole || isnan(said) || isnan(change) || fmax(fabs(said), fabs(change)) < CHANGE_SEEN * course->noise)
      continue;
    *product += change * said;
    *square += said * said;
  }
}

/* Reports columns of values and columns of rates if their units differ. */
static void check_course(DataCheck* c, double product, double square, char* const* columns, int count, bool joint) {
  char text[300];
  if (c->faults > 0 || !(square > 0)) return;
  double factor = product / square;
  if (factor > 1 / RATES_DIFFER && factor < RATES_DIFFER) return;
  snprintf(text, sizeof text, "the %s changes %.3g times as fast as %s say: %s", joint ? "coordinate" : "position",
           factor, joint ? "its rates" : "the velocities",
           factor > 5e-4 && factor < 2e-3   ? "is the time in milliseconds? then data.time_scale is 0.001"
           : factor > 500 && factor < 2000  ? "is it in thousandths of their unit (length_scale), or the time?"
           : factor > 0.01 && factor < 0.03 ? "is it in radians, and they are in degrees (angle_scale)?"
           : factor > 40 && factor < 80     ? "is it in degrees, and they are in radians (angle_scale)?"
                                            : "are they in other units, or other columns?");
  tell(c, 1, columns, count, text);
}

static void check_rates(DataCheck* c, const MeasuredLink* l, const TaskIdentify* noise, int turns_from) {
  const MeasuredRun* r = c->run;
  double product = 0, square = 0;
  for (int axis = 0; axis < 3 && l->has_position && l->has_velocity; axis++) {
    const double* const place[3] = {&l->position->x, &l->position->y, &l->position->z};
    const double* const rate[3] = {&l->velocity->x, &l->velocity->y, &l->velocity->z};
    const RatedCourse course = {
        place[axis], rate[axis], sizeof(Vec3) / sizeof(double), sizeof(Vec3) / sizeof(double), noise->position, false};
    add_course(r, &course, &product, &square);
  }
  check_course(c, product, square, l->source->position, 3, false);
  for (int k = 0; k < l->coordinate_count && k < l->rate_count; k++) {
    const RatedCourse course = {l->coordinates + k, l->rates + k,      l->coordinate_count,
                                l->rate_count,      noise->coordinate, k >= turns_from};
    product = square = 0;
    add_course(r, &course, &product, &square);
    check_course(c, product, square, l->source->coordinates + k, 1, true);
  }
}

/* Sets *turn to the integral of the angular velocities of the samples from..to, link axes. Returns false if a sample is
 * missing. */
static bool spin_turn(const MeasuredRun* r, const MeasuredLink* l, int from, int to, Quat* turn) {
  *turn = (Quat){1, 0, 0, 0};
  for (int k = from; k < to; k++) {
    if (!vec3_known(l->spin[k]) || !vec3_known(l->spin[k + 1])) return false;
    Vec3 mean = vec3_scale(vec3_add(l->spin[k], l->spin[k + 1]), 0.5 * (r->time[k + 1] - r->time[k]));
    *turn = quat_mul(*turn, quat_exp(mean));
  }
  return true;
}

/* Returns the sum of the squared angles between measured and integrated rotations. Adds the squared angles of the
 * integrated rotations to *size. swapped: true if the quaternion columns have the order x, y, z, w. */
static double spin_apart(const MeasuredRun* r, const MeasuredLink* l, bool swapped, double* size) {
  double sum = 0;
  *size = 0;
  for (int k = 0; k + 1 < r->count; k += APART) {
    int to = k + APART < r->count ? k + APART : r->count - 1;
    Quat a = l->rotation[k], b = l->rotation[to], said;
    if (!quat_known(a) || !quat_known(b) || !spin_turn(r, l, k, to, &said)) continue;
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

/* Converts angular velocities to link axes. Reports angular velocities that do not match the rotations. */
static void check_spin(DataCheck* c, MeasuredLink* l) {
  char text[300];
  MeasuredRun* r = c->run;
  if (!l->has_rotation || !l->has_spin || c->faults > 0) return;
  for (int k = 0; k < r->count && l->source->world_rates; k++)
    if (quat_known(l->rotation[k])) l->spin[k] = mat3_tmul_vec(mat3_from_quat(l->rotation[k]), l->spin[k]);
  double size, other, apart = spin_apart(r, l, false, &size);
  if (!(apart > SPIN_DIFFERS * size) || !(size > 0)) return;
  double swapped = spin_apart(r, l, true, &other);
  snprintf(text, sizeof text, "the rotations do not turn as the angular velocities say (relative difference %.2g)%s",
           sqrt(apart / size),
           swapped < 0.25 * apart ? ": the quaternion's columns are in the order x, y, z, w; name them w, x, y, z"
                                  : ": are they in other axes (rate_axes), or in degrees (angle_scale)?");
  tell(c, 1, l->source->quaternion, 4, text);
}

bool measured_check(MeasuredRun* run, const Task* task, const Model* model, Diagnostics* diagnostics) {
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
