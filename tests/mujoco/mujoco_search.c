/* A controller found without gradients in MuJoCo: CMA-ES (src/optimize) over a few numbers of a gait or a path.
 *   mujoco_search MODEL.xml CONTROLLER.txt DURATION SAMPLES SEED [CONTROLS.csv]
 * Lines of the controller:
 *   parameter NAME START STEP LOW HIGH                      numbered from 0
 *   sine ACTUATOR OFFSET PARAMETER AMPLITUDE PARAMETER PHASE PARAMETER
 *                                     offset + amplitude sin(2 pi p0 t + phase): a parameter comes to
 *                                                           the offset and the phase, and is a factor of the
 *                                                           amplitude; -1: none. The joint begins on it
 *   bump ACTUATOR PARAMETER T0 T1 T2 T3                     added to CONTROLS: from 0 at T0 to the parameter at T1, to
 * T2, 0 at T3 walk BODY X Y Z            cost: - way along the direction [m] + half of what is aside + 2 x mean of (1 -
 * cosine of the tilt) lift BODY                  cost: - 10 x mean height above its start over the last second [m]
 * ACTUATOR is that of the position; the one called `ACTUATOR rate` follows. Prints `samples,best cost` after every
 * generation's worth of samples, then the best parameters. Runs that MuJoCo gives up cost 10. */
#include <math.h>
#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/linalg.h"
#include "optimize/optimizer.h"

enum { MOST = 64, MOST_ROWS = 4096, EVERY = 10 };

typedef struct {
  bool sine;
  int actuator, rate; /* rate: -1 for none */
  double offset, amplitude, phase, time[4];
  int of_offset, of_amplitude, of_phase; /* parameters; a bump has the first; -1: none */
} Term;

typedef struct {
  mjModel* m;
  mjData* d;
  double* rows; /* CONTROLS (count x (1 + nu)) */
  int row_count;
  Term terms[MOST];
  int term_count, count;                                 /* count: of parameters */
  double start[MOST], step[MOST], low[MOST], high[MOST]; /* bounds in steps from the start */
  int body;
  bool lifts;
  double way[3], duration;
} Search;

static void fail(const char* text, const char* what) {
  fprintf(stderr, "mujoco_search: %s %s\n", text, what);
  exit(1);
}

/* ---------------------------------------------------------------- reading */

static void read_rows(Search* s, const char* path) {
  FILE* file = fopen(path, "r");
  int c, values = 0, width = 1 + s->m->nu;
  if (!file) fail("cannot open", path);
  while ((c = fgetc(file)) != EOF && c != '\n') continue;
  s->rows = malloc(sizeof(double) * (size_t)(MOST_ROWS * width));
  while (values < MOST_ROWS * width && fscanf(file, "%lf%*[,\n]", &s->rows[values]) == 1) values++;
  s->row_count = values / width;
  if (values % width != 0 || values == 0) fail("the controls do not fit the model:", path);
  fclose(file);
}

static int id_of(const mjModel* m, mjtObj type, const char* name) {
  int id = mj_name2id(m, type, name);
  if (id < 0) fail("the model has no", name);
  return id;
}

static void add_term(Search* s, Term term, const char* actuator) {
  char rate[240];
  snprintf(rate, sizeof rate, "%s rate", actuator);
  term.actuator = id_of(s->m, mjOBJ_ACTUATOR, actuator);
  term.rate = mj_name2id(s->m, mjOBJ_ACTUATOR, rate);
  if (s->term_count == MOST) fail("too many lines:", actuator);
  s->terms[s->term_count++] = term;
}

static void add_parameter(Search* s, double start, double step, double low, double high) {
  int k = s->count++;
  if (k == MOST) fail("too many", "parameters");
  s->start[k] = start, s->step[k] = step;
  s->low[k] = (low - start) / step, s->high[k] = (high - start) / step;
}

static void read_line(Search* s, const char* line) {
  char name[200];
  double v[5];
  Term t = {.of_offset = -1, .of_amplitude = -1, .of_phase = -1};
  if (sscanf(line, "parameter %199s %lf %lf %lf %lf", name, v, v + 1, v + 2, v + 3) == 5) {
    add_parameter(s, v[0], v[1], v[2], v[3]);
  } else if (sscanf(line, "sine %199s %lf %d %lf %d %lf %d", name, &t.offset, &t.of_offset, &t.amplitude,
                    &t.of_amplitude, &t.phase, &t.of_phase) == 7) {
    t.sine = true;
    add_term(s, t, name);
  } else if (sscanf(line, "bump %199s %d %lf %lf %lf %lf", name, &t.of_offset, t.time, t.time + 1, t.time + 2,
                    t.time + 3) == 6) {
    add_term(s, t, name);
  } else if (sscanf(line, "walk %199s %lf %lf %lf", name, s->way, s->way + 1, s->way + 2) == 4) {
    s->body = id_of(s->m, mjOBJ_BODY, name);
  } else if (sscanf(line, "lift %199s", name) == 1) {
    s->body = id_of(s->m, mjOBJ_BODY, name), s->lifts = true;
  } else {
    fail("not understood:", line);
  }
}

static void read_controller(Search* s, const char* path) {
  char line[400];
  FILE* file = fopen(path, "r");
  if (!file) fail("cannot open", path);
  while (fgets(line, sizeof line, file)) read_line(s, line);
  fclose(file);
  if (s->body == 0) fail("nothing is asked for in", path);
  for (int k = 0; k < s->term_count; k++) {
    const Term* t = &s->terms[k];
    if (t->of_offset >= s->count || t->of_amplitude >= s->count || t->of_phase >= s->count)
      fail("no such parameter in", path);
  }
}

/* ---------------------------------------------------------------- a run */

/* Value and rate of a term at a time. p: parameters. */
static double term_at(const Term* t, const double* p, double time, double* rate) {
  double offset = t->of_offset < 0 ? 0 : p[t->of_offset];
  if (t->sine) {
    double amplitude = t->of_amplitude < 0 ? t->amplitude : t->amplitude * p[t->of_amplitude];
    double turn = 2 * M_PI * p[0], angle = turn * time + t->phase + (t->of_phase < 0 ? 0 : p[t->of_phase]);
    *rate = amplitude * turn * cos(angle);
    return t->offset + offset + amplitude * sin(angle);
  }
  const double* at = t->time;
  *rate = 0;
  if (time < at[0] || time > at[3]) return 0;
  if (time < at[1]) {
    *rate = offset / (at[1] - at[0]);
    return *rate * (time - at[0]);
  }
  if (time <= at[2]) return offset;
  *rate = -offset / (at[3] - at[2]);
  return offset * (at[3] - time) / (at[3] - at[2]);
}

/* Rates of balls are angular velocities: the export's actuators are x, x rate, y, y rate, z, z rate (docs/export.md).
 */
static void turn_rates(const mjModel* m, double* ctrl) {
  for (int a = 0; a + 5 < m->nu; a++) {
    int joint = m->actuator_trnid[2 * a];
    if (m->jnt_type[joint] != mjJNT_BALL) continue;
    Vec3 turning = rotation_rate(vec3(ctrl[a], ctrl[a + 2], ctrl[a + 4]), vec3(ctrl[a + 1], ctrl[a + 3], ctrl[a + 5]));
    ctrl[a + 1] = turning.x, ctrl[a + 3] = turning.y, ctrl[a + 5] = turning.z;
    a += 5;
  }
}

static void set_controls(const Search* s, const double* p, double time) {
  const mjModel* m = s->m;
  double* ctrl = s->d->ctrl;
  if (s->row_count > 1) {
    int width = 1 + m->nu, row = (int)floor(time / s->rows[width] + 1e-6);
    if (row >= s->row_count) row = s->row_count - 1;
    memcpy(ctrl, s->rows + (size_t)row * (size_t)width + 1, sizeof(double) * (size_t)m->nu);
  }
  bool sines = false;
  for (int k = 0; k < s->term_count; k++) {
    const Term* t = &s->terms[k];
    double rate, value = term_at(t, p, time, &rate);
    ctrl[t->actuator] = (t->sine ? 0 : ctrl[t->actuator]) + value;
    if (t->rate >= 0) ctrl[t->rate] = (t->sine ? 0 : ctrl[t->rate]) + rate;
    sines = sines || t->sine;
  }
  if (sines) turn_rates(m, ctrl);
}

/* Joints that follow sines begin on them. */
static void begin(const Search* s, const double* p) {
  const mjModel* m = s->m;
  mjData* d = s->d;
  mj_resetDataKeyframe(m, d, 0);
  set_controls(s, p, 0);
  for (int k = 0; k < s->term_count; k++) {
    int a = s->terms[k].actuator, joint = m->actuator_trnid[2 * a];
    double* q = d->qpos + m->jnt_qposadr[joint];
    if (!s->terms[k].sine) continue;
    if (m->jnt_type[joint] != mjJNT_BALL) {
      q[0] = d->ctrl[a];
    } else if (m->actuator_gear[6 * a] == 1) {
      Quat turn = quat_exp(vec3(d->ctrl[a], d->ctrl[a + 2], d->ctrl[a + 4]));
      q[0] = turn.w, q[1] = turn.x, q[2] = turn.y, q[3] = turn.z;
    }
  }
  mj_forward(m, d);
}

static double cost_of(const Search* s, const double* p) {
  const mjModel* m = s->m;
  mjData* d = s->d;
  long steps = lround(s->duration / m->opt.timestep), second = lround(1.0 / m->opt.timestep);
  double raised = 0, tilt = 0, from[3], up[3];
  begin(s, p);
  for (int k = 0; k < 3; k++) from[k] = d->xpos[3 * s->body + k], up[k] = d->xmat[9 * s->body + 3 * k + 2];
  for (long step = 1; step <= steps; step++) {
    set_controls(s, p, d->time + m->opt.timestep);
    mj_step(m, d);
    const double *x = d->xpos + 3 * s->body, *r = d->xmat + 9 * s->body;
    if (step > steps - second) raised += (x[2] - from[2]) / (double)second;
    tilt += (1 - r[2] * up[0] - r[5] * up[1] - r[8] * up[2]) / (double)steps;
  }
  for (int w = 0; w < mjNWARNING; w++)
    if (d->warning[w].number > 0) return 10;
  if (s->lifts) return -10 * raised;
  const double* x = d->xpos + 3 * s->body;
  const double moved[3] = {x[0] - from[0], x[1] - from[1], x[2] - from[2]};
  double way = moved[0] * s->way[0] + moved[1] * s->way[1] + moved[2] * s->way[2];
  double aside = (moved[1] * s->way[0] - moved[0] * s->way[1]) / hypot(s->way[0], s->way[1]);
  return -way + 0.5 * fabs(aside) + 2 * tilt;
}

/* ---------------------------------------------------------------- the search */

/* In steps from the start, of which the optimizer knows one for all. */
static double value_at(const Search* s, const double* x) {
  double p[MOST];
  for (int k = 0; k < s->count; k++) p[k] = s->start[k] + s->step[k] * x[k];
  return cost_of(s, p);
}

static void search(Search* s, int samples, int seed) {
  static const int block[MOST] = {0};
  static int no_row[1] = {0};
  FeasibleSet set = {.count = s->count, .block = block, .low = s->low, .high = s->high, .row_first = no_row};
  TaskOptimizer settings = {.type = OPTIMIZER_CMA_ES, .seed = (unsigned)seed, .design_step = 1, .control_step = 1};
  Optimizer* optimizer = optimizer_create(&settings, &set);
  double x[MOST] = {0}, none[MOST] = {0}, trial[MOST], best = value_at(s, x);
  printf("0,%.6g\n", best);
  for (int k = 1; k <= samples; k++) {
    optimizer_propose(optimizer, x, best, none, trial);
    double found = value_at(s, trial);
    if (found < best) best = found, memcpy(x, trial, sizeof x);
    if (k % EVERY == 0) printf("%d,%.6g\n", k, best);
    if (!optimizer_report_loss(optimizer, found, -HUGE_VAL)) break;
  }
  for (int k = 0; k < s->count; k++) printf("%s%.6g", k > 0 ? " " : "parameters ", s->start[k] + s->step[k] * x[k]);
  printf("\n");
  optimizer_destroy(optimizer);
}

int main(int argc, char** argv) {
  char error[1000] = "";
  static Search s;
  if (argc < 6) fail("usage:", "mujoco_search MODEL.xml CONTROLLER.txt DURATION SAMPLES SEED [CONTROLS.csv]");
  s.m = mj_loadXML(argv[1], NULL, error, sizeof error);
  if (!s.m) fail("cannot read the model:", error);
  if (s.m->nkey < 1) fail("no keyframe in", argv[1]);
  s.d = mj_makeData(s.m);
  s.duration = atof(argv[3]);
  if (argc > 6) read_rows(&s, argv[6]);
  read_controller(&s, argv[2]);
  search(&s, atoi(argv[4]), atoi(argv[5]));
  free(s.rows);
  mj_deleteData(s.d);
  mj_deleteModel(s.m);
  return 0;
}
