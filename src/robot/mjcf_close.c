/* Finds an initial state that satisfies all equality constraints, by Gauss-Newton on the joint coordinates and the
 * positions of free bodies, with steps within the joint limits. Quaternions do not change. Derivatives are central
 * differences of poses. */
#include <string.h>

#include "linalg/arrays.h"
#include "linalg/dense.h"
#include "robot/mjcf_equality.h"

enum { STEPS_MAX = 100 };
/* DIFFERENCE: half step of the central differences. STEP_MAX: largest change of a coordinate in an iteration [m, rad].
 */
#define DIFFERENCE 1e-6
#define STEP_MAX 0.3
/* Smallest distance of a joint from its limits as a fraction of its range, because the limit force acts near a limit.
 */
#define LIMIT_SHARE 0.01
/* Singular values below this fraction of the largest one count as zero, because the equations are then dependent. */
#define RANK_TOLERANCE 1e-6
/* The iteration ends below this closure error [m, rad], the accuracy of the differences. */
#define CLOSURE_TOLERANCE 1e-11

typedef struct {
  const Model* model;
  const Equalities* equalities;
  int rows, count; /* number of equations, and of coordinates that can change */
  int* coordinate; /* model indices of the coordinates that can change (size: count) */
  double *low, *high;
  double* q;
  Pose* poses;
  double *residual, *residual_plus,
      *residual_minus; /* residuals of the equations; _plus, _minus: at the ends of a central difference (size: rows) */
  double* jacobian;    /* derivatives of the residuals with respect to the coordinates (rows x count) */
  double *matrix, *right; /* matrix and right-hand side of the least-squares problem: (rows x count), (rows or count) */
  double* step;           /* change of each coordinate in this iteration (size: count) */
  bool* is_fixed;         /* true: fixed at a limit that the step would exceed (size: count) */
} ClosureSolver;

static Pose end_pose(const ClosureSolver* c, const EqualityClosure* e, int side) {
  return e->link[side] < 0 ? e->end[side] : pose_mul(c->poses[e->link[side]], e->end[side]);
}

static int equation_count(const EqualityClosure* e) {
  return e->type == CLOSURE_WELD ? 6 : e->type == CLOSURE_DISTANCE ? 1 : 3;
}

static void compute_residual(ClosureSolver* c, double* out) {
  const Equalities* all = c->equalities;
  model_poses(c->model, c->q, c->poses);
  for (int k = 0; k < all->closure_count; k++) {
    const EqualityClosure* e = &all->closures[k];
    Pose a = end_pose(c, e, 0), b = end_pose(c, e, 1);
    Vec3 separation = vec3_sub(a.t, b.t);
    if (e->type == CLOSURE_DISTANCE)
      *out = vec3_norm(separation) - e->length;
    else
      vec3_store(separation, out);
    if (e->type == CLOSURE_WELD) vec3_store(quat_log(quat_from_mat3(mat3_mul(a.r, mat3_transpose(b.r)))), out + 3);
    out += equation_count(e);
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

static void compute_jacobian(ClosureSolver* c) {
  for (int j = 0; j < c->count; j++) {
    double* q = &c->q[c->coordinate[j]];
    double before = *q;
    *q = before + DIFFERENCE;
    compute_residual(c, c->residual_plus);
    *q = before - DIFFERENCE;
    compute_residual(c, c->residual_minus);
    *q = before;
    for (int i = 0; i < c->rows; i++)
      c->jacobian[i * c->count + j] = (c->residual_plus[i] - c->residual_minus[i]) / (2 * DIFFERENCE);
  }
}

/* Sets the step of the coordinates that are not fixed at a limit: the shortest least-squares solution of the linearized
 * equations. */
static void compute_shortest_step(ClosureSolver* c) {
  int m = c->rows, n = c->count;
  if (n == 0) return;
  for (int i = 0; i < m; i++) {
    c->right[i] = -c->residual[i];
    for (int j = 0; j < n; j++) {
      if (c->is_fixed[j]) c->right[i] -= c->jacobian[i * n + j] * c->step[j];
      c->matrix[i * n + j] = c->is_fixed[j] ? 0 : c->jacobian[i * n + j];
    }
  }
  bool sound = dense_least_squares(m, n, c->matrix, c->right, RANK_TOLERANCE) >= 0;
  for (int j = 0; j < n; j++)
    if (!c->is_fixed[j]) c->step[j] = sound ? c->right[j] : 0;
}

/* Sets a step within the joint limits. A coordinate that would exceed a limit is fixed there, and the other steps are
 * recomputed. */
static void compute_bounded_step(ClosureSolver* c) {
  bool more = true;
  memset(c->is_fixed, 0, sizeof(bool) * (size_t)c->count);
  while (more) {
    compute_shortest_step(c);
    more = false;
    for (int j = 0; j < c->count; j++) {
      double value = c->q[c->coordinate[j]], bounded = fmin(fmax(value + c->step[j], c->low[j]), c->high[j]);
      if (c->is_fixed[j] || bounded == value + c->step[j]) continue;
      c->is_fixed[j] = more = true;
      c->step[j] = bounded - value;
    }
  }
}

static double iterate(ClosureSolver* c) {
  compute_residual(c, c->residual);
  for (int n = 0; n < STEPS_MAX && array_largest(c->rows, c->residual) > CLOSURE_TOLERANCE; n++) {
    compute_jacobian(c);
    compute_bounded_step(c);
    double most = array_largest(c->count, c->step), share = most > STEP_MAX ? STEP_MAX / most : 1;
    if (!(most > 0)) break;
    for (int j = 0; j < c->count; j++) c->q[c->coordinate[j]] += share * c->step[j];
    compute_residual(c, c->residual);
  }
  return array_largest(c->rows, c->residual);
}

/* Returns the index of the constraint with the residual `open`. Couplings follow the closures. */
static int find_worst(const ClosureSolver* c, double open) {
  const Equalities* all = c->equalities;
  const double* residual = c->residual;
  for (int k = 0; k < all->closure_count; k++) {
    int rows = equation_count(&all->closures[k]);
    if (array_largest(rows, residual) >= open) return k;
    residual += rows;
  }
  for (int k = 0; k < all->coupling_count; k++)
    if (fabs(residual[k]) >= open) return all->closure_count + k;
  return 0;
}

static void add_coordinate(ClosureSolver* c, const RobotJointPlace* place) {
  const SceneJoint* joint = &c->model->scene->links[place->link].joint;
  double low = joint->lower[place->dof], high = joint->upper[place->dof], range = high - low;
  double margin = isfinite(range) ? LIMIT_SHARE * range : 0;
  c->coordinate[c->count] = c->model->links[place->link].coordinate_first + place->dof;
  c->low[c->count] = joint->limited[place->dof] ? fmin(low + margin, c->q[c->coordinate[c->count]]) : -HUGE_VAL;
  c->high[c->count] = joint->limited[place->dof] ? fmax(high - margin, c->q[c->coordinate[c->count]]) : HUGE_VAL;
  c->count++;
}

/* Adds the three translations of each free body. */
static void add_translations(ClosureSolver* c) {
  for (int i = 0; i < c->model->link_count; i++) {
    const ModelLink* link = &c->model->links[i];
    if (link->tree < 0 || link->parent >= 0 || !joint_is_floating(&link->joint)) continue;
    for (int k = 0; k < 3; k++) {
      c->coordinate[c->count] = link->coordinate_first + k;
      c->low[c->count] = -HUGE_VAL;
      c->high[c->count++] = HUGE_VAL;
    }
  }
}

// NOLINTNEXTLINE(readability-non-const-parameter): its steps move q
double mjcf_solve_closures(const Model* model, const Equalities* equalities, const RobotReport* report, double* q,
                           int* worst) {
  ClosureSolver c = {.model = model, .equalities = equalities, .rows = equalities->coupling_count, .q = q};
  for (int k = 0; k < equalities->closure_count; k++) c.rows += equation_count(&equalities->closures[k]);
  size_t n = (size_t)(report->joint_count + 3 * model->link_count) + 1, m = (size_t)c.rows + 1;
  double* numbers = MEMORY_NEW(double, 4 * n + 4 * m + 2 * m * n);
  c.low = numbers;
  c.high = c.low + n;
  c.step = c.high + n;
  c.residual = c.step + n;
  c.residual_plus = c.residual + m;
  c.residual_minus = c.residual_plus + m;
  c.right = c.residual_minus + m;
  c.matrix = c.right + m + n;
  c.jacobian = c.matrix + m * n;
  c.coordinate = MEMORY_NEW(int, n);
  c.is_fixed = MEMORY_NEW(bool, n);
  c.poses = MEMORY_NEW(Pose, model->link_count + 1);
  for (int k = 0; k < report->joint_count; k++) add_coordinate(&c, &report->joints[k]);
  add_translations(&c);
  double open = iterate(&c);
  *worst = find_worst(&c, open);
  memory_free(numbers);
  memory_free(c.coordinate);
  memory_free(c.is_fixed);
  memory_free(c.poses);
  return open;
}
