/* Finds closures and couplings that the initial velocities violate (docs/derivations/closures.md, Z22). */
#include <assert.h>
#include <string.h>

#include "linalg/linalg.h"
#include "model/build.h"
#include "model/tree.h"

/* Smallest reported violation, relative to the sum of the magnitudes that the joint rates contribute to the equation.
 * Velocities that a user has rounded to three digits are not reported. */
#define VIOLATION_MIN 0.01
/* Largest violation of the equations by suggested velocities, relative as for VIOLATION_MIN. */
#define SUGGESTION_ERROR_MAX 1e-6
/* Largest rows x degrees of freedom that are examined. */
#define ENTRIES_MAX 1000000
/* Largest number of rows for which velocities are suggested. The cost is the cube of this number. */
enum { SUGGESTION_ROWS_MAX = 200, SUGGESTION_LINKS_MAX = 6 };

/* Rows: the equations of all closures, then of all couplings. jacobian (rows x nv): time derivatives of the equations
 * per unit rate of each degree of freedom, at the start. total (rows): time derivatives for the initial velocities.
 * scale (rows): sums of the magnitudes of their summands. */
typedef struct {
  const Model* model;
  int rows, columns;
  Pose* poses;   /* (size: links) */
  Screw* screws; /* (size: nv) */
  /* angular velocities of the links, and velocities of their points at the world's origin (size: links) */
  Vec3 *w, *origin;
  double *jacobian, *total, *scale;
} Start;

/* Returns the time derivative of one closure equation (Z1) for the link velocities in s->w and s->origin. */
static double row_rate(const Start* s, const ModelClosure* c, const ClosureRow* row) {
  Pose at[2];
  Vec3 x[2], w[2], v[2];
  for (int side = 0; side < 2; side++) {
    int link = c->link[side];
    at[side] = model_closure_pose(c, side, s->poses);
    x[side] = pose_apply(at[side], c->end[side]);
    w[side] = link < 0 ? vec3(0, 0, 0) : s->w[link];
    v[side] = link < 0 ? vec3(0, 0, 0) : vec3_add(s->origin[link], vec3_cross(w[side], x[side]));
  }
  Vec3 apart = vec3_sub(x[0], x[1]), rate = vec3_sub(v[0], v[1]);
  Vec3 across = mat3_mul_vec(at[1].r, row->v), along = mat3_mul_vec(at[0].r, row->u);
  switch (row->kind) {
    case CLOSURE_POINT:
      return vec3_dot(vec3_at(c->frame.m[row->axis]), rate);
    case CLOSURE_ALIGN:
      return vec3_dot(vec3_cross(along, across), vec3_sub(w[1], w[0]));
    case CLOSURE_ACROSS:
      return vec3_dot(rate, across) + vec3_dot(apart, vec3_cross(w[1], across));
    case CLOSURE_LENGTH:
      break;
  }
  return vec3_dot(apart, rate) / c->length;
}

/* Sets column `dof` of the Jacobian. */
static void set_column(Start* s, int dof) {
  const Model* m = s->model;
  int owner = m->dof_link[dof];
  const Screw* screw = &s->screws[dof];
  for (int i = 0; i < m->link_count; i++) {
    bool moves = model_descends(m, i, owner);
    s->w[i] = moves ? screw->w : vec3(0, 0, 0);
    s->origin[i] = moves ? screw_velocity(screw, vec3(0, 0, 0)) : vec3(0, 0, 0);
  }
  for (int k = 0; k < m->closure_count; k++) {
    const ModelClosure* c = &m->closures[k];
    for (int i = 0; i < c->row_count && !c->active.source; i++)
      s->jacobian[(c->row_first + i) * s->columns + dof] = row_rate(s, c, &c->rows[i]);
  }
  for (int k = 0; k < m->coupling_count; k++)
    for (int i = 0; i < m->couplings[k].count; i++)
      if (m->couplings[k].dof[i] == dof)
        s->jacobian[m->couplings[k].row * s->columns + dof] += m->couplings[k].slope[i];
}

static void compute_rates(Start* s) {
  const Model* m = s->model;
  model_screws(m, m->initial_coordinates, s->poses, s->screws);
  for (int dof = 0; dof < s->columns; dof++) set_column(s, dof);
  for (int row = 0; row < s->rows; row++)
    for (int dof = 0; dof < s->columns; dof++) {
      double summand = s->jacobian[row * s->columns + dof] * m->initial_velocities[dof];
      s->total[row] += summand;
      s->scale[row] += fabs(summand);
    }
}

/* Returns the norm of those entries of x that belong to the angle equations of a closure (angles true) or to its length
 * equations (angles false). */
static double norm_of_kind(const ModelClosure* c, const double* x, bool angles) {
  double sum = 0;
  for (int i = 0; i < c->row_count; i++)
    if ((c->rows[i].kind == CLOSURE_ALIGN) == angles) sum += x[c->row_first + i] * x[c->row_first + i];
  return sqrt(sum);
}

/* Returns the violation of closure or coupling k, relative to the scale of its equations. */
static double relative_violation(const Start* s, int k) {
  const Model* m = s->model;
  if (k >= m->closure_count) {
    int row = m->couplings[k - m->closure_count].row;
    return s->scale[row] > 0 ? fabs(s->total[row]) / s->scale[row] : 0;
  }
  const ModelClosure* c = &m->closures[k];
  double most = 0, reach = norm_of_kind(c, s->scale, false) + c->size * norm_of_kind(c, s->scale, true);
  if (!(reach > 0)) return 0;
  most = norm_of_kind(c, s->total, false) / reach;
  return fmax(most, c->size * norm_of_kind(c, s->total, true) / reach);
}

static bool is_given(const Model* m, int link) {
  if (m->links[link].prescribed >= 0) return true;
  for (int k = 0; k < m->scene->initial_count; k++)
    if (m->scene->initials[k].link == link && m->scene->initials[k].has_velocities) return true;
  return false;
}

/* Sets rate[nv] to the smallest velocities of the other joints that satisfy all equations together with the given
 * velocities, and to 0 for given joints. Returns false if there are none. */
static bool find_velocities(const Start* s, double* rate) {
  int n = s->rows;
  if (n > SUGGESTION_ROWS_MAX) return false;
  double* memory = MEMORY_NEW(double, n*(n + 4));
  double *matrix = memory, *x = matrix + n * n, *unit = x + n, *work = unit + n;
  bool found = true;
  memset(rate, 0, sizeof(double) * (size_t)s->columns);
  for (int dof = 0; dof < s->columns; dof++) {
    if (is_given(s->model, s->model->dof_link[dof])) continue;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        matrix[i * n + j] += s->jacobian[i * s->columns + dof] * s->jacobian[j * s->columns + dof];
  }
  for (int i = 0; i < n; i++) {
    unit[i] = matrix[i * n + i] > 0 ? 1 / sqrt(matrix[i * n + i]) : 1;
    x[i] = -s->total[i];
  }
  found = symmetric_pseudo_solve(n, matrix, x, unit, work, NULL);
  double most = 0;
  for (int i = 0; i < n; i++) most = fmax(most, s->scale[i]);
  for (int dof = 0; dof < s->columns; dof++)
    for (int i = 0; i < n && !is_given(s->model, s->model->dof_link[dof]); i++)
      rate[dof] += s->jacobian[i * s->columns + dof] * x[i];
  for (int i = 0; i < n && found; i++) {
    double left = s->total[i];
    for (int dof = 0; dof < s->columns; dof++) left += s->jacobian[i * s->columns + dof] * rate[dof];
    found = fabs(left) <= SUGGESTION_ERROR_MAX * most;
  }
  memory_free(memory);
  return found;
}

/* Appends the velocities as items of the scene's list `initial`. */
static void append_velocities(const Model* m, const double* rate, Text* text) {
  double most = 0;
  int count = 0;
  for (int dof = 0; dof < m->dof_count; dof++) most = fmax(most, fabs(rate[dof]));
  for (int i = 0; i < m->link_count; i++) {
    const ModelLink* link = &m->links[i];
    bool moves = false;
    for (int k = 0; k < link->dof_count; k++) moves = moves || fabs(rate[link->dof_first + k]) > 1e-9 * most;
    if (!moves) continue;
    if (count++ == SUGGESTION_LINKS_MAX) {
      text_add(text, ", ...");
      return;
    }
    text_add(text, "%s{link: %s, velocities: [", count > 1 ? ", " : "", text_excerpt(link->name).text);
    for (int k = 0; k < link->dof_count; k++) {
      double v = rate[link->dof_first + k];
      text_add(text, "%s%.6g", k > 0 ? ", " : "", fabs(v) > 1e-9 * most ? v : 0.0);
    }
    text_add(text, "]}");
  }
}

/* Returns true if only prescribed joints contribute to the equations of closure or coupling k. */
static bool is_prescribed_alone(const Start* s, int k) {
  const Model* m = s->model;
  int first = k < m->closure_count ? m->closures[k].row_first : m->couplings[k - m->closure_count].row;
  int count = k < m->closure_count ? m->closures[k].row_count : 1;
  for (int row = first; row < first + count; row++)
    for (int dof = 0; dof < s->columns; dof++)
      if (m->links[m->dof_link[dof]].prescribed < 0 &&
          s->jacobian[row * s->columns + dof] * m->initial_velocities[dof] != 0)
        return false;
  return true;
}

static void report_violation(Builder* builder, const Start* s, int k) {
  const Model* m = s->model;
  bool closure = k < m->closure_count;
  Text what = {0}, remedy = {0};
  if (closure) {
    const ModelClosure* c = &m->closures[k];
    double apart = norm_of_kind(c, s->total, false), turn = norm_of_kind(c, s->total, true);
    bool parts = apart > VIOLATION_MIN * c->size * turn;
    text_add(&what, "closures[%d]: at the start its links ", k);
    if (parts) text_add(&what, "separate at %.3g m/s", apart);
    if (turn * c->size > VIOLATION_MIN * apart)
      text_add(&what, "%srotate against each other at %.3g rad/s", parts ? " and " : "", turn);
  } else {
    const ModelCoupling* c = &m->couplings[k - m->closure_count];
    text_add(&what, "couplings[%d]: at the start its joint rates miss the ratio by %.3g %s", k - m->closure_count,
             fabs(s->total[c->row]),
             c->dof[0] - m->links[m->dof_link[c->dof[0]]].dof_first < m->links[m->dof_link[c->dof[0]]].joint.slide_count
                 ? "m/s"
                 : "rad/s");
  }
  double* rate = MEMORY_NEW(double, s->columns);
  if (find_velocities(s, rate)) {
    text_add(&remedy, "add the initial velocities ");
    append_velocities(m, rate, &remedy);
  } else {
    text_add(&remedy, "change the initial velocities");
  }
  diagnostics_add(builder->diagnostics, is_prescribed_alone(s, k) ? SEVERITY_NOTE : SEVERITY_WARNING,
                  closure ? builder->scene->closures[k].place : builder->scene->couplings[k - m->closure_count].place,
                  "%s, so the first step changes velocities abruptly, like an impact: %s", what.data, remedy.data);
  memory_free(rate);
  text_free(&what);
  text_free(&remedy);
}

void build_start_velocities(Builder* builder) {
  const Model* m = builder->model;
  bool moves = false;
  for (int dof = 0; dof < m->dof_count; dof++) moves = moves || m->initial_velocities[dof] != 0;
  Start s = {.model = m, .rows = m->closure_row_count, .columns = m->dof_count};
  if (!moves || m->start || s.rows == 0 || (double)s.rows * s.columns > ENTRIES_MAX) return;
  s.poses = initial_poses(m);
  s.screws = MEMORY_NEW(Screw, m->dof_count);
  s.w = MEMORY_NEW(Vec3, m->link_count);
  s.origin = MEMORY_NEW(Vec3, m->link_count);
  s.jacobian = MEMORY_NEW(double, (size_t)s.rows*(size_t)s.columns);
  s.total = MEMORY_NEW(double, s.rows);
  s.scale = MEMORY_NEW(double, s.rows);
  compute_rates(&s);
  int worst = -1;
  double most = VIOLATION_MIN;
  for (int k = 0; k < m->closure_count + m->coupling_count; k++) {
    double violation = relative_violation(&s, k);
    if (violation > most) most = violation, worst = k;
  }
  if (worst >= 0) report_violation(builder, &s, worst);
  void* owned[] = {s.poses, s.screws, s.w, s.origin, s.jacobian, s.total, s.scale};
  for (size_t k = 0; k < sizeof owned / sizeof owned[0]; k++) memory_free(owned[k]);
}
