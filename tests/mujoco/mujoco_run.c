/* Runs an MJCF file in MuJoCo from its keyframe 0, or its reference without one or with the environment's
 * KEY=none, and prints body poses and centres of
 * mass in the columns of trajectory.csv. mujoco_run MODEL.xml DURATION INTERVAL [TIMESTEP [CONTROLS.csv]] DURATION,
 * INTERVAL (between rows), TIMESTEP in seconds (0 = the file's; below 0: as long, by Runge and Kutta). Controls over
 * time hold each row until the next. With FEEDBACK=TABLE.csv in the environment (sdrs export writes it): what
 * measurements add to them at every step, late or not. With FORCES=1 in the environment: the mean vertical contact
 * force between bodies over the last second, on stderr. With CONTACTS=1: the vertical contact forces between bodies at
 * every printed row, on stderr. */
#include <math.h>
#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Controls over time. */
typedef struct {
  double* rows; /* (count x (1 + nu)) */
  int count, width;
} Controls;

static void fail(const char* text) {
  fprintf(stderr, "mujoco_run: %s\n", text);
  exit(1);
}

static void read_controls(Controls* controls, const char* path, int nu) {
  FILE* file = fopen(path, "r");
  int c, capacity = 1024, values = 0;
  if (!file) fail("cannot open the controls");
  while ((c = fgetc(file)) != EOF && c != '\n')
    ;
  controls->width = 1 + nu;
  controls->rows = malloc(sizeof(double) * (size_t)capacity);
  while (fscanf(file, "%lf%*[,\n]", &controls->rows[values]) == 1) {
    values++;
    if (values == capacity) controls->rows = realloc(controls->rows, sizeof(double) * (size_t)(capacity *= 2));
  }
  controls->count = values / controls->width;
  if (values % controls->width != 0) fail("the controls do not fit the model");
  fclose(file);
}

/* Sets the controls in the middle of MuJoCo's step, linear between the rows. */
static void set_controls(const Controls* controls, const mjModel* m, mjData* d, double interval) {
  double t = (d->time + 0.5 * m->opt.timestep) / interval, part = t - floor(t);
  if (controls->count == 0) return;
  int row = (int)floor(t), next = row + 1;
  if (row >= controls->count) row = controls->count - 1;
  if (next >= controls->count) next = controls->count - 1;
  for (int k = 0; k < m->nu; k++) {
    const double *from = controls->rows + (size_t)row * (size_t)controls->width + 1 + k,
                 *to = controls->rows + (size_t)next * (size_t)controls->width + 1 + k;
    d->ctrl[k] = *from + part * (*to - *from);
  }
}

/* ---------------------------------------------------------------- feedback */

/* control += factor * measurement, taken every `period`, of `delay` ago; between two of them linearly, before the start
 * as it was there. Rates are means over the period, as differences of two states are (docs/derivations/feedback.md,
 * E1).
 */
typedef struct {
  int actuator, number; /* number: of the sensors' */
  int rate;
  double factor, delay, period; /* s */
} Feedback;
enum { FEEDBACKS = 1000 };

static int read_feedback(Feedback* out, const char* path, const mjModel* m) {
  FILE* file = fopen(path, "r");
  char line[1000], actuator[400], sensor[400];
  int count = 0, component;
  if (!file || !fgets(line, sizeof line, file)) fail("cannot open the feedback");
  while (fgets(line, sizeof line, file)) {
    Feedback* f = &out[count++];
    if (count > FEEDBACKS) fail("too much feedback");
    if (sscanf(line, "%399[^,],%399[^,],%d,%lf,%lf,%lf", actuator, sensor, &component, &f->factor, &f->delay,
               &f->period) != 6)
      fail("the feedback cannot be read");
    f->actuator = mj_name2id(m, mjOBJ_ACTUATOR, actuator);
    int id = mj_name2id(m, mjOBJ_SENSOR, sensor);
    if (f->actuator < 0 || id < 0) fail("the feedback does not fit the model");
    f->number = m->sensor_adr[id] + component;
    int type = m->sensor_type[id];
    f->rate = type == mjSENS_JOINTVEL || type == mjSENS_FRAMELINVEL || type == mjSENS_FRAMEANGVEL;
  }
  fclose(file);
  return count;
}

/* The n-th measurement; every: steps from one to the next. measured: numbers of all sensors at every step so far. */
static double measurement(const Feedback* f, const double* measured, const mjModel* m, long n, long every) {
  long first = f->rate && n > 0 ? (n - 1) * every + 1 : n * every;
  double sum = 0;
  for (long step = first; step <= n * every; step++) sum += measured[step * m->nsensordata + f->number];
  return sum / (double)(n * every - first + 1);
}

/* measured: as above, the present one the last. */
static void add_feedback(const Feedback* all, int count, const double* measured, long step, const mjModel* m,
                         mjData* d) {
  for (int k = 0; k < count; k++) {
    const Feedback* f = &all[k];
    long every = lround(f->period / m->opt.timestep);
    if (every < 1) every = 1;
    long taken = step / every;
    double late = fmax(0, (double)taken - f->delay / ((double)every * m->opt.timestep));
    long before = (long)late;
    double share = late - (double)before, y = measurement(f, measured, m, before, every);
    if (share > 0) y += share * (measurement(f, measured, m, before + 1, every) - y);
    d->ctrl[f->actuator] += f->factor * y;
  }
}

static const char* body_name(const mjModel* m, int body) {
  const char* name = mj_id2name(m, mjOBJ_BODY, body);
  return name ? name : "";
}

static void print_header(const mjModel* m) {
  static const char* const columns[] = {"px", "py", "pz", "qw", "qx", "qy", "qz", "cx", "cy", "cz"};
  printf("time");
  for (int b = 1; b < m->nbody; b++)
    for (int k = 0; k < 10; k++) printf(",%s/%s", body_name(m, b), columns[k]);
  printf("\n");
}

static void print_row(const mjModel* m, const mjData* d) {
  printf("%.9g", d->time);
  for (int b = 1; b < m->nbody; b++) {
    for (int k = 0; k < 3; k++) printf(",%.12g", d->xpos[3 * b + k]);
    for (int k = 0; k < 4; k++) printf(",%.12g", d->xquat[4 * b + k]);
    for (int k = 0; k < 3; k++) printf(",%.12g", d->xipos[3 * b + k]);
  }
  printf("\n");
}

/* Add the vertical forces of all contacts of every pair of bodies. force: (nbody x nbody) */
static void add_forces(const mjModel* m, const mjData* d, double* force) {
  for (int c = 0; c < d->ncon; c++) {
    const mjContact* contact = &d->contact[c];
    mjtNum six[6];
    int a = m->geom_bodyid[contact->geom1], b = m->geom_bodyid[contact->geom2];
    mj_contactForce(m, d, c, six);
    double up = 0; /* frame rows: normal, tangents; force on the second */
    for (int k = 0; k < 3; k++) up += contact->frame[3 * k + 2] * six[k];
    force[(a < b ? a : b) * m->nbody + (a < b ? b : a)] += fabs(up);
  }
}

static void print_contacts(const mjModel* m, const mjData* d, double* force) {
  memset(force, 0, sizeof(double) * (size_t)m->nbody * (size_t)m->nbody);
  add_forces(m, d, force);
  for (int a = 0; a < m->nbody; a++)
    for (int b = a + 1; b < m->nbody; b++)
      if (force[a * m->nbody + b] > 0)
        fprintf(stderr, "contact,%.9g,%s,%s,%.9g\n", d->time, body_name(m, a), body_name(m, b),
                force[a * m->nbody + b]);
}

static void print_forces(const mjModel* m, const double* force, long count) {
  for (int a = 0; a < m->nbody; a++)
    for (int b = a + 1; b < m->nbody; b++)
      if (force[a * m->nbody + b] > 0)
        fprintf(stderr, "force,%s,%s,%.9g\n", mj_id2name(m, mjOBJ_BODY, a), mj_id2name(m, mjOBJ_BODY, b),
                force[a * m->nbody + b] / (double)count);
}

int main(int argc, char** argv) {
  char error[1000] = "";
  if (argc < 4) fail("usage: mujoco_run MODEL.xml DURATION INTERVAL [TIMESTEP [CONTROLS.csv]]");
  double duration = atof(argv[2]), interval = atof(argv[3]);
  mjModel* m = mj_loadXML(argv[1], NULL, error, sizeof error);
  if (!m) fail(error);
  if (argc > 4 && atof(argv[4]) != 0) m->opt.timestep = fabs(atof(argv[4]));
  if (argc > 4 && atof(argv[4]) < 0) m->opt.integrator = mjINT_RK4;
  mjData* d = mj_makeData(m);
  Controls controls = {0};
  if (argc > 5) read_controls(&controls, argv[5], m->nu);
  double hold = controls.count > 1 ? controls.rows[controls.width] - controls.rows[0] : 1.0;
  const char* key = getenv("KEY");
  if (m->nkey > 0 && !(key && strcmp(key, "none") == 0))
    mj_resetDataKeyframe(m, d, 0);
  else
    mj_resetData(m, d);
  mj_forward(m, d);
  print_header(m);
  print_row(m, d);
  long steps = lround(duration / m->opt.timestep), every = lround(interval / m->opt.timestep);
  long second = lround(1.0 / m->opt.timestep);
  static Feedback feedback[FEEDBACKS];
  int feedbacks = getenv("FEEDBACK") ? read_feedback(feedback, getenv("FEEDBACK"), m) : 0;
  size_t numbers = (size_t)(m->nsensordata > 0 ? m->nsensordata : 1), controlled = (size_t)(m->nu > 0 ? m->nu : 1);
  double* measured = calloc(feedbacks > 0 ? (size_t)(steps + 1) * numbers : 1, sizeof(double));
  double* constant = calloc(controlled, sizeof(double));
  memcpy(constant, d->ctrl, sizeof(double) * (size_t)m->nu);
  double* force = calloc((size_t)m->nbody * (size_t)m->nbody, sizeof(double));
  double* now = calloc((size_t)m->nbody * (size_t)m->nbody, sizeof(double));
  for (long step = 1; step <= steps; step++) {
    if (feedbacks > 0) {
      memcpy(d->ctrl, constant, sizeof(double) * (size_t)m->nu);
      mj_forward(m, d);
      memcpy(measured + (size_t)(step - 1) * numbers, d->sensordata, sizeof(double) * numbers);
    }
    set_controls(&controls, m, d, hold);
    if (feedbacks > 0) add_feedback(feedback, feedbacks, measured, step - 1, m, d);
    mj_step(m, d);
    if (step > steps - second) add_forces(m, d, force);
    if (step % every != 0) continue;
    mj_kinematics(m, d);
    print_row(m, d);
    if (getenv("CONTACTS")) print_contacts(m, d, now);
  }
  if (getenv("FORCES")) print_forces(m, force, second);
  for (int w = 0; w < mjNWARNING; w++)
    if (d->warning[w].number > 0) fprintf(stderr, "mujoco_run: warning %d came up %d times\n", w, d->warning[w].number);
  free(force);
  free(now);
  free(measured);
  free(constant);
  free(controls.rows);
  mj_deleteData(d);
  mj_deleteModel(m);
  return 0;
}
