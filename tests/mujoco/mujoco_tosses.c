/* Measured runs followed in MuJoCo: how far off they are at given values of a model's parameters.
 *   mujoco_tosses MODEL.xml STEPS POSITION ROTATION COORDINATE HUBER PARAMETER... -- FILE.csv...
 * A file's rows are time, qpos, qvel of the model, in its order; STEPS of MuJoCo lie between two rows, which are
 * equally far apart. Runs begin with the first row. A parameter is friction (of all geoms), gravity/K, height (of the
 * first plane), solref/K (of all geoms), ipos/BODY/K, inertia/BODY (a factor), damping/JOINT or frictionloss/JOINT.
 * Each line of standard input is a number of files and the parameters' values; the answer has, for each of the first so
 * many files, half the sum of squares (Huber's) in the standard deviations POSITION [m], ROTATION [rad], COORDINATE,
 * and the mean distances of position, rotation and other coordinates, then those of the last row's position and
 * rotation. */
#include <math.h>
#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, MOST_FILES = 1000 };

typedef struct {
  double* rows; /* (count x width) */
  int count, width;
} Run;

typedef struct {
  mjModel* m;
  mjData* d;
  mjtNum* inertia; /* of the bodies, as the file has them (nbody x 3) */
  const char* parameters[MOST];
  int parameter_count, steps, run_count;
  double deviation[3], huber;
  Run runs[MOST_FILES];
} Tosses;

static void fail(const char* text, const char* what) {
  fprintf(stderr, "mujoco_tosses: %s %s\n", text, what);
  exit(1);
}

static Run read_run(const char* path, const mjModel* m) {
  Run run = {.width = 1 + m->nq + m->nv};
  int values = 0, capacity = 4096, c;
  FILE* file = fopen(path, "r");
  if (!file) fail("cannot open", path);
  while ((c = fgetc(file)) != EOF && c != '\n') continue;
  run.rows = malloc(sizeof(double) * (size_t)capacity);
  while (fscanf(file, "%lf%*[,\n]", &run.rows[values]) == 1)
    if (++values == capacity) run.rows = realloc(run.rows, sizeof(double) * (size_t)(capacity *= 2));
  fclose(file);
  run.count = values / run.width;
  if (run.count < 2 || values % run.width != 0) fail("the columns are not those of the model:", path);
  double apart = run.rows[(run.count - 1) * run.width] / (run.count - 1) - run.rows[0] / (run.count - 1);
  for (int k = 0; k < run.count; k++)
    if (fabs(run.rows[k * run.width] - run.rows[0] - k * apart) > 0.01 * apart)
      fail("rows are not equally far apart:", path);
  return run;
}

static int number_of(const mjModel* m, mjtObj type, const char* name, int length) {
  char own[200];
  snprintf(own, sizeof own, "%.*s", length, name);
  int id = mj_name2id(m, type, own);
  if (id < 0) fail("the model has no", own);
  return id;
}

/* The joints of links with one degree of freedom are called LINK/angle or the like. */
static void set_joint(mjModel* m, mjtNum* of_dofs, const char* name, double value) {
  of_dofs[m->jnt_dofadr[number_of(m, mjOBJ_JOINT, name, (int)strlen(name))]] = value;
}

static void set_parameter(Tosses* t, const char* name, double value) {
  mjModel* m = t->m;
  const char *rest = strchr(name, '/') ? strchr(name, '/') + 1 : "", *end = strrchr(name, '/');
  int number = end ? atoi(end + 1) : 0;
  if (strcmp(name, "friction") == 0) {
    for (int g = 0; g < m->ngeom; g++) m->geom_friction[3 * g] = value;
  } else if (strcmp(name, "height") == 0) {
    for (int g = 0; g < m->ngeom; g++)
      if (m->geom_type[g] == mjGEOM_PLANE) m->geom_pos[3 * g + 2] = value;
  } else if (strncmp(name, "gravity/", 8) == 0) {
    m->opt.gravity[number] = value;
  } else if (strncmp(name, "solref/", 7) == 0) {
    for (int g = 0; g < m->ngeom; g++) m->geom_solref[mjNREF * g + number] = value;
  } else if (strncmp(name, "ipos/", 5) == 0) {
    m->body_ipos[3 * number_of(m, mjOBJ_BODY, rest, (int)(end - rest)) + number] = value;
  } else if (strncmp(name, "inertia/", 8) == 0) {
    int body = number_of(m, mjOBJ_BODY, rest, (int)strlen(rest));
    for (int k = 0; k < 3; k++) m->body_inertia[3 * body + k] = value * t->inertia[3 * body + k];
  } else if (strncmp(name, "damping/", 8) == 0) {
    set_joint(m, m->dof_damping, rest, value);
  } else if (strncmp(name, "frictionloss/", 13) == 0) {
    set_joint(m, m->dof_frictionloss, rest, value);
  } else {
    fail("no parameter is called", name);
  }
}

/* Rotation vector of measured^-1 now, by quaternions w x y z. */
static void rotation_apart(const double* measured, const mjtNum* now, double out[3]) {
  mjtNum seen[4] = {measured[0], -measured[1], -measured[2], -measured[3]}, turn[4];
  mju_normalize4(seen);
  mju_mulQuat(turn, seen, now);
  mju_quat2Vel(out, turn, 1);
}

static double robust(double r, double threshold) {
  double size = fabs(r);
  return size <= threshold ? 0.5 * r * r : threshold * (size - 0.5 * threshold);
}

/* qpos is three places, a quaternion, and coordinates of hinges. Adds to sums cost and distances; two are of this row.
 */
static void compare(const Tosses* t, const double* seen, double sums[6]) {
  const mjtNum* now = t->d->qpos;
  double r[MOST], sizes[3] = {0};
  int count = t->m->nq - 1;
  for (int k = 0; k < 3; k++) r[k] = now[k] - seen[k];
  rotation_apart(seen + 3, now + 3, r + 3);
  for (int k = 6; k < count; k++) r[k] = remainder(now[k + 1] - seen[k + 1], 2 * mjPI);
  for (int k = 0; k < count; k++) {
    int kind = k < 3 ? 0 : k < 6 ? 1 : 2;
    sizes[kind] += r[k] * r[k];
    sums[0] += robust(r[k] / t->deviation[kind], t->huber);
  }
  for (int k = 0; k < 3; k++) sums[1 + k] += sqrt(sizes[k]);
  for (int k = 0; k < 2; k++) sums[4 + k] = sqrt(sizes[k]);
}

static void follow(const Tosses* t, const Run* run, double sums[6]) {
  mjModel* m = t->m;
  mjData* d = t->d;
  memset(sums, 0, 6 * sizeof(double));
  m->opt.timestep = (run->rows[(run->count - 1) * run->width] - run->rows[0]) / (run->count - 1) / t->steps;
  mj_resetData(m, d);
  for (int k = 0; k < m->nq; k++) d->qpos[k] = run->rows[1 + k];
  for (int k = 0; k < m->nv; k++) d->qvel[k] = run->rows[1 + m->nq + k];
  mju_normalize4(d->qpos + 3);
  for (int row = 0; row < run->count; row++) {
    for (int k = 0; k < t->steps && row > 0; k++) mj_step(m, d);
    compare(t, run->rows + row * run->width + 1, sums);
  }
  for (int k = 1; k < 4; k++) sums[k] /= run->count;
}

static void answer(Tosses* t) {
  int files;
  while (scanf("%d", &files) == 1) {
    double value, sums[6];
    for (int k = 0; k < t->parameter_count; k++) {
      if (scanf("%lf", &value) != 1) fail("a value is missing for", t->parameters[k]);
      set_parameter(t, t->parameters[k], value);
    }
    mj_setConst(t->m, t->d);
    for (int k = 0; k < files && k < t->run_count; k++) {
      follow(t, &t->runs[k], sums);
      for (int n = 0; n < 6; n++) printf("%.9g%c", sums[n], n < 5 ? ' ' : '\n');
    }
    fflush(stdout);
  }
}

int main(int argc, char** argv) {
  static Tosses t;
  char error[1000] = "";
  int k = 7;
  if (argc < 9) fail("usage: MODEL.xml STEPS POSITION ROTATION COORDINATE HUBER PARAMETER... -- FILE.csv...", "");
  t.m = mj_loadXML(argv[1], NULL, error, sizeof error);
  if (!t.m) fail(error, argv[1]);
  if (t.m->nq > MOST || t.m->njnt < 1 || t.m->jnt_type[0] != mjJNT_FREE) fail("not one body with hinges:", argv[1]);
  t.d = mj_makeData(t.m);
  t.inertia = malloc(sizeof(mjtNum) * 3 * (size_t)t.m->nbody);
  mju_copy(t.inertia, t.m->body_inertia, 3 * t.m->nbody);
  t.steps = atoi(argv[2]);
  for (int i = 0; i < 3; i++) t.deviation[i] = atof(argv[3 + i]);
  t.huber = atof(argv[6]);
  for (; k < argc && strcmp(argv[k], "--") != 0 && t.parameter_count < MOST; k++)
    t.parameters[t.parameter_count++] = argv[k];
  for (k++; k < argc && t.run_count < MOST_FILES; k++) t.runs[t.run_count++] = read_run(argv[k], t.m);
  answer(&t);
  for (int i = 0; i < t.run_count; i++) free(t.runs[i].rows);
  free(t.inertia);
  mj_deleteData(t.d);
  mj_deleteModel(t.m);
  return 0;
}
