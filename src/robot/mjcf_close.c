/* Finds an initial state that satisfies all equality constraints. The method is Gauss-Newton on the joint coordinates
 * (not quaternions), with the shortest step within the joint limits. Derivatives are central differences of poses. */
#include <string.h>

#include "linalg/arrays.h"
#include "linalg/dense.h"
#include "robot/mjcf_equality.h"

enum { STEPS_MAX = 100 };
/* Step of the central differences (DIFFERENCE) and largest change of a coordinate in an iteration (STEP_MOST) [m, rad].
 */
#define DIFFERENCE 1e-6
#define STEP_MOST 0.3
/* A joint stays at least this fraction of its range away from its limits, because the limit force acts there. */
#define LIMIT_SHARE 0.01
/* Singular values below this fraction of the largest singular value count as zero. The equations are then dependent. */
#define RANK 1e-6
/* The iteration ends below this closure error [m, rad], which is the accuracy of the differences. */
#define CLOSED 1e-11

typedef struct {
  const Model* model;
  const Equalities* equalities;
  int rows, count; /* number of equations; number of coordinates that can change */
  int* coordinate; /* indices, in the model, of the coordinates that can change (count) */
  double *low, *high;
  double* q;
  Pose* poses;
  double *residual, *ahead, *behind; /* (rows) */
  double* slope;                     /* (rows x count) */
  double *matrix, *right;            /* (rows x count), (rows or count) */
  double* step;                      /* (count) */
  bool* bound;                       /* true: the coordinate is fixed at a limit that the step would exceed (count) */
} Closing;

static Pose end_of(const Closing* c, const EqualityClosure* e, int side) {
  return e->link[side] < 0 ? e->end[side] : pose_mul(c->poses[e->link[side]], e->end[side]);
}

static int rows_of(const EqualityClosure* e) {
  return e->type == CLOSURE_WELD ? 6 : e->type == CLOSURE_DISTANCE ? 1 : 3;
}

static void evaluate(Closing* c, double* out) {
  const Equalities* all = c->equalities;
  model_poses(c->model, c->q, c->poses);
  for (int k = 0; k < all->closure_count; k++) {
    const EqualityClosure* e = &all->closures[k];
    Pose a = end_of(c, e, 0), b = end_of(c, e, 1);
    Vec3 apart = vec3_sub(a.t, b.t);
    if (e->type == CLOSURE_DISTANCE)
      *out = vec3_norm(apart) - e->length;
    else
      vec3_store(apart, out);
    if (e->type == CLOSURE_WELD) vec3_store(quat_log(quat_from_mat3(mat3_mul(a.r, mat3_transpose(b.r)))), out + 3);
    out += rows_of(e);
  }
  for (int k = 0; k < all->coupling_count; k++) {
    const EqualityCoupling* e = &all->couplings[k];
    *out = -e->constant;
    for (int i = 0; i < e->sum.count; i++) {
      const RobotJointPlace* place = e->sum.place[i];
      *out += e->sum.coefficient[i] * c->q[c->model->links[place->link].coordinate_first + place->dof];
    }
    out++;
  }
}

static void differentiate(Closing* c) {
  for (int j = 0; j < c->count; j++) {
    double* q = &c->q[c->coordinate[j]];
    double before = *q;
    *q = before + DIFFERENCE;
    evaluate(c, c->ahead);
    *q = before - DIFFERENCE;
    evaluate(c, c->behind);
    *q = before;
    for (int i = 0; i < c->rows; i++) c->slope[i * c->count + j] = (c->ahead[i] - c->behind[i]) / (2 * DIFFERENCE);
  }
}

/* Sets the step of the coordinates that are not fixed at a limit: the shortest least-squares solution of the linearized
 * equations. */
static void least_step(Closing* c) {
  int m = c->rows, n = c->count;
  if (n == 0) return;
  for (int i = 0; i < m; i++) {
    c->right[i] = -c->residual[i];
    for (int j = 0; j < n; j++) {
      if (c->bound[j]) c->right[i] -= c->slope[i * n + j] * c->step[j];
      c->matrix[i * n + j] = c->bound[j] ? 0 : c->slope[i * n + j];
    }
  }
  bool sound = dense_least_squares(m, n, c->matrix, c->right, RANK) >= 0;
  for (int j = 0; j < n; j++)
    if (!c->bound[j]) c->step[j] = sound ? c->right[j] : 0;
}

/* Sets a step within the joint limits. Coordinates that would exceed a limit are fixed at the limit, and the step of
 * the other coordinates is recomputed. */
static void bounded_step(Closing* c) {
  bool more = true;
  memset(c->bound, 0, sizeof(bool) * (size_t)c->count);
  while (more) {
    least_step(c);
    more = false;
    for (int j = 0; j < c->count; j++) {
      double here = c->q[c->coordinate[j]], there = fmin(fmax(here + c->step[j], c->low[j]), c->high[j]);
      if (c->bound[j] || there == here + c->step[j]) continue;
      c->bound[j] = more = true;
      c->step[j] = there - here;
    }
  }
}

static double iterate(Closing* c) {
  evaluate(c, c->residual);
  for (int n = 0; n < STEPS_MAX && array_largest(c->rows, c->residual) > CLOSED; n++) {
    differentiate(c);
    bounded_step(c);
    double most = array_largest(c->count, c->step), share = most > STEP_MOST ? STEP_MOST / most : 1;
    if (!(most > 0)) break;
    for (int j = 0; j < c->count; j++) c->q[c->coordinate[j]] += share * c->step[j];
    evaluate(c, c->residual);
  }
  return array_largest(c->rows, c->residual);
}

static void add_coordinate(Closing* c, const RobotJointPlace* place) {
  const SceneJoint* joint = &c->model->scene->links[place->link].joint;
  double low = joint->lower[place->dof], high = joint->upper[place->dof], range = high - low;
  double margin = isfinite(range) ? LIMIT_SHARE * range : 0;
  c->coordinate[c->count] = c->model->links[place->link].coordinate_first + place->dof;
  c->low[c->count] = joint->limited[place->dof] ? fmin(low + margin, c->q[c->coordinate[c->count]]) : -HUGE_VAL;
  c->high[c->count] = joint->limited[place->dof] ? fmax(high - margin, c->q[c->coordinate[c->count]]) : HUGE_VAL;
  c->count++;
}

// NOLINTNEXTLINE(readability-non-const-parameter): its steps move q
double mjcf_solve_closures(const Model* model, const Equalities* equalities, const RobotReport* report, double* q) {
  Closing c = {.model = model, .equalities = equalities, .rows = equalities->coupling_count, .q = q};
  for (int k = 0; k < equalities->closure_count; k++) c.rows += rows_of(&equalities->closures[k]);
  size_t n = (size_t)report->joint_count + 1, m = (size_t)c.rows + 1;
  double* numbers = MEMORY_NEW(double, 4 * n + 4 * m + 2 * m * n);
  c.low = numbers;
  c.high = c.low + n;
  c.step = c.high + n;
  c.residual = c.step + n;
  c.ahead = c.residual + m;
  c.behind = c.ahead + m;
  c.right = c.behind + m;
  c.matrix = c.right + m + n;
  c.slope = c.matrix + m * n;
  c.coordinate = MEMORY_NEW(int, n);
  c.bound = MEMORY_NEW(bool, n);
  c.poses = MEMORY_NEW(Pose, model->link_count + 1);
  for (int k = 0; k < report->joint_count; k++) add_coordinate(&c, &report->joints[k]);
  double open = iterate(&c);
  memory_free(numbers);
  memory_free(c.coordinate);
  memory_free(c.bound);
  memory_free(c.poses);
  return open;
}
