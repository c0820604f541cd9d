/* Finds loops of closures that start in a singular configuration (docs/derivations/closures.md, Z11). */
#include <string.h>

#include "linalg/linalg.h"
#include "model/build.h"

/* Step of the finite differences [rad, or relative to Loop.size]. The truncation error of second differences is 1e-7,
 * the rounding error 1e-9. */
#define DIFFERENCE_STEP 3e-4
/* A combination of a loop's equations counts as dependent if its slope is at most this value, relative to the largest
 * slope. The value is above rounding errors and below the slopes of regular loops. */
#define DEPENDENCE_TOLERANCE 1e-5
/* Smallest second derivative that counts as nonzero. Smaller values can be rounding errors. */
#define CURVATURE_MIN 1e-3
/* Largest number of rows of a loop that is checked. The cost of the eigenvectors grows with the cube of this number. */
enum { ROWS_MAX = 96 };
/* Number of random motions that are checked. The curvature can vanish along a single motion. */
enum { MOTION_COUNT = 4 };

/* Loop: trees joined by closures and couplings. Its rows are the equations of the closures, then of the couplings. */
typedef struct {
  const Model* model;
  int *closure, *coupling, *dof, *link;
  int closures, couplings, rows, dofs, links;
  double size;               /* largest ModelClosure.size [m], the unit of translations */
  double *increment, *q;     /* increment: increments of the whole model (size: nv); q: its coordinates (size: nq) */
  Pose* poses;               /* (size: links) */
  double *value, *displaced; /* values of the loop's equations in the initial state and in a displaced state, as set by
                                closure_values (size: rows) */
  double *slope, *motion; /* slope: derivatives of the loop's equations with respect to its degrees of freedom (rows x
                             dofs); motion: displacement of the degrees of freedom (size: dofs) */
  double *eigenvector, *eigenvalue,
      *work; /* eigenvectors of slope slope^T, one per row (rows x rows); eigenvalues (rows); workspace (size: rows) */
} Loop;

/* Returns the error of one closure equation (Z1). at[0], at[1]: world poses of the closure's first and second link.
 * Independent of the code of the time step. */
static double row_value(const ModelClosure* c, const ClosureRow* row, const Pose at[2]) {
  Vec3 d = vec3_sub(pose_apply(at[0], c->end[0]), pose_apply(at[1], c->end[1])), v = mat3_mul_vec(at[1].r, row->v);
  switch (row->kind) {
    case CLOSURE_POINT: /* c->frame is the identity unless c->framed */
      return vec3_dot(vec3_at(c->frame.m[row->axis]), d);
    case CLOSURE_ALIGN:
      return vec3_dot(mat3_mul_vec(at[0].r, row->u), v);
    case CLOSURE_ACROSS:
      return vec3_dot(d, v);
    case CLOSURE_LENGTH:
      break;
  }
  return 0.5 * (vec3_dot(d, d) / c->length - c->length);
}

/* Computes the errors of a closure's equations, value[row_count], with lengths divided by ModelClosure.size and angles
 * in rad. */
static void closure_values(const ModelClosure* c, const Pose* poses, double* value) {
  Pose at[2] = {model_closure_pose(c, 0, poses), model_closure_pose(c, 1, poses)};
  for (int i = 0; i < c->row_count; i++)
    value[i] = row_value(c, &c->rows[i], at) / (c->rows[i].kind == CLOSURE_ALIGN ? 1 : c->size);
}

/* Computes the errors of all equations of the loop after the displacement h * l->motion from the initial state:
 * value[rows].
 */
static void evaluate_displaced(Loop* l, double h, double* value) {
  const Model* m = l->model;
  for (int k = 0; k < l->dofs; k++) {
    const ModelLink* link = &m->links[m->dof_link[l->dof[k]]];
    bool slides = l->dof[k] - link->dof_first < link->joint.slide_count;
    l->increment[l->dof[k]] = h * l->motion[k] * (slides ? l->size : 1);
  }
  for (int k = 0; k < l->links; k++) {
    const ModelLink* link = &m->links[l->link[k]];
    const double* from = m->initial_coordinates + link->coordinate_first;
    if (link->dof_count > 0)
      joint_increment(&link->joint, from, l->increment + link->dof_first, l->q + link->coordinate_first);
    model_link_pose(m, l->link[k], l->q, l->poses);
  }
  for (int k = 0; k < l->closures; k++) {
    const ModelClosure* c = &m->closures[l->closure[k]];
    closure_values(c, l->poses, value);
    value += c->row_count;
  }
  for (int k = 0; k < l->couplings; k++) {
    const ModelCoupling* c = &m->couplings[l->coupling[k]];
    *value = -c->offset;
    for (int i = 0; i < c->count; i++) *value += c->slope[i] * l->q[c->coordinate[i]];
    *value++ /= c->size;
  }
}

static void compute_slopes(Loop* l) {
  memset(l->motion, 0, sizeof(double) * (size_t)l->dofs);
  for (int k = 0; k < l->dofs; k++) {
    l->motion[k] = 1;
    evaluate_displaced(l, DIFFERENCE_STEP, l->displaced);
    for (int i = 0; i < l->rows; i++) l->slope[i * l->dofs + k] = l->displaced[i];
    evaluate_displaced(l, -DIFFERENCE_STEP, l->displaced);
    for (int i = 0; i < l->rows; i++)
      l->slope[i * l->dofs + k] = (l->slope[i * l->dofs + k] - l->displaced[i]) / (2 * DIFFERENCE_STEP);
    l->motion[k] = 0;
  }
}

/* Returns true if no motion changes, to first order, the sum of the loop's equations with the entries of eigenvector e
 * as coefficients. */
static bool is_dependent(const Loop* l, int e) {
  return l->eigenvalue[e] <= DEPENDENCE_TOLERANCE * DEPENDENCE_TOLERANCE * fmax(1, l->eigenvalue[l->rows - 1]);
}

/* Computes the eigenvectors and eigenvalues of slope slope^T, with the matrix Loop.slope of first derivatives. Returns
 * false if all rows of `slope` are linearly independent or the computation fails. */
static bool compute_eigenvectors(Loop* l) {
  for (int i = 0; i < l->rows; i++)
    for (int j = 0; j < l->rows; j++) {
      double sum = 0;
      for (int k = 0; k < l->dofs; k++) sum += l->slope[i * l->dofs + k] * l->slope[j * l->dofs + k];
      l->eigenvector[i * l->rows + j] = sum;
    }
  return symmetric_eigen(l->rows, l->rows, l->eigenvector, l->eigenvalue, l->work) && is_dependent(l, 0);
}

/* Sets l->motion to a random motion of length 1 that changes no equation of the loop to first order. Returns false if
 * there is no such motion. Overwrites l->increment. */
static bool draw_motion(Loop* l, Random* random) {
  double before = 0, after = 0;
  for (int k = 0; k < l->dofs; k++) {
    l->motion[k] = random_normal(random);
    before += l->motion[k] * l->motion[k];
  }
  for (int e = 0; e < l->rows; e++) {
    if (is_dependent(l, e)) continue;
    double along = 0;
    for (int k = 0; k < l->dofs; k++) {
      double sum = 0;
      for (int i = 0; i < l->rows; i++) sum += l->eigenvector[e * l->rows + i] * l->slope[i * l->dofs + k];
      l->increment[k] = sum;
      along += sum * l->motion[k];
    }
    for (int k = 0; k < l->dofs; k++) l->motion[k] -= along / l->eigenvalue[e] * l->increment[k];
  }
  for (int k = 0; k < l->dofs; k++) after += l->motion[k] * l->motion[k];
  for (int k = 0; k < l->dofs; k++) l->motion[k] /= sqrt(after);
  return after > 1e-12 * before;
}

/* Computes the second derivatives of the loop's equations along l->motion by central differences. Overwrites l->work.
 */
static void compute_curvature(Loop* l) {
  evaluate_displaced(l, DIFFERENCE_STEP, l->displaced);
  evaluate_displaced(l, -DIFFERENCE_STEP, l->work);
  for (int i = 0; i < l->rows; i++)
    l->displaced[i] = (l->displaced[i] + l->work[i] - 2 * l->value[i]) / (DIFFERENCE_STEP * DIFFERENCE_STEP);
}

/* Returns the closure with the largest weight in eigenvector e, or -1 if only couplings have weight. */
static int find_main_closure(const Loop* l, int e) {
  const double* share = l->eigenvector + e * l->rows;
  double most = 0;
  int found = -1;
  for (int k = 0; k < l->closures; k++)
    for (int i = 0; i < l->model->closures[l->closure[k]].row_count; i++) {
      if (fabs(*share) > most) {
        most = fabs(*share);
        found = l->closure[k];
      }
      share++;
    }
  return found;
}

/* Returns a closure of a loop in a singular configuration (Z11), or -1 if there is none. */
static int singular_closure(Loop* l) {
  Random random = {1};
  evaluate_displaced(l, 0, l->value);
  compute_slopes(l);
  if (!compute_eigenvectors(l)) return -1;
  double most = CURVATURE_MIN;
  int found = -1;
  for (int n = 0; n < MOTION_COUNT && draw_motion(l, &random); n++) {
    compute_curvature(l);
    for (int e = 0; e < l->rows && is_dependent(l, e); e++) {
      double curvature = 0;
      for (int i = 0; i < l->rows; i++) curvature += l->eigenvector[e * l->rows + i] * l->displaced[i];
      if (!(fabs(curvature) > most)) continue;
      most = fabs(curvature);
      found = find_main_closure(l, e);
    }
  }
  return found;
}

static int tree_of_closure(const Model* m, const ModelClosure* c) {
  int tree = c->link[0] >= 0 ? m->links[c->link[0]].tree : -1;
  return tree >= 0 || c->link[1] < 0 ? tree : m->links[c->link[1]].tree;
}

/* Sets *l to the links, closures and couplings of one loop: the trees of one union-find set. parent: parents of the
 * union-find over trees. root: root of the loop's set. Skips closures without a tree and closures that can be switched.
 */
static void collect_loop(Loop* l, int* parent, int root) {
  const Model* m = l->model;
  l->closures = l->couplings = l->rows = l->dofs = l->links = 0;
  l->size = 0;
  for (int k = 0; k < m->closure_count; k++) {
    int tree = tree_of_closure(m, &m->closures[k]);
    if (tree < 0 || m->closures[k].active.source || disjoint_sets_find(parent, tree) != root) continue;
    l->closure[l->closures++] = k;
    l->rows += m->closures[k].row_count;
    l->size = fmax(l->size, m->closures[k].size);
  }
  for (int k = 0; k < m->coupling_count; k++) {
    if (disjoint_sets_find(parent, m->links[m->dof_link[m->couplings[k].dof[0]]].tree) != root) continue;
    l->coupling[l->couplings++] = k;
    l->rows++;
  }
  for (int i = 0; i < m->link_count; i++) {
    const ModelLink* link = &m->links[i];
    if (link->tree < 0 || disjoint_sets_find(parent, link->tree) != root) continue;
    l->link[l->links++] = i;
    for (int k = 0; link->prescribed < 0 && k < link->dof_count; k++) l->dof[l->dofs++] = link->dof_first + k;
  }
}

static void join_trees(const Model* m, int* parent) {
  disjoint_sets_init(parent, m->tree_count);
  for (int k = 0; k < m->closure_count; k++) {
    const int* link = m->closures[k].link;
    if (link[0] < 0 || link[1] < 0 || m->links[link[0]].tree < 0 || m->links[link[1]].tree < 0) continue;
    disjoint_sets_unite(parent, m->links[link[0]].tree, m->links[link[1]].tree);
  }
  for (int k = 0; k < m->coupling_count; k++)
    for (int i = 1; i < m->couplings[k].count; i++)
      disjoint_sets_unite(parent, m->links[m->dof_link[m->couplings[k].dof[0]]].tree,
                          m->links[m->dof_link[m->couplings[k].dof[i]]].tree);
}

/* Returns a closure of the loop if it is in a singular configuration, otherwise -1. */
static int check_loop(Loop* l) {
  size_t rows = (size_t)l->rows, dofs = (size_t)l->dofs;
  double* memory = MEMORY_NEW(double, rows*(dofs + rows + 4) + dofs);
  l->value = memory;
  l->displaced = l->value + rows;
  l->eigenvalue = l->displaced + rows;
  l->work = l->eigenvalue + rows;
  l->eigenvector = l->work + rows;
  l->slope = l->eigenvector + rows * rows;
  l->motion = l->slope + rows * dofs;
  int found = singular_closure(l);
  memory_free(memory);
  return found;
}

static int find_singular_closure(const Model* m) {
  int found = -1, *parent = MEMORY_NEW(int, m->tree_count);
  Loop l = {.model = m, .poses = initial_poses(m)};
  l.closure = MEMORY_NEW(int, m->closure_count);
  l.coupling = MEMORY_NEW(int, m->coupling_count);
  l.dof = MEMORY_NEW(int, m->dof_count);
  l.link = MEMORY_NEW(int, m->link_count);
  l.increment = MEMORY_NEW(double, m->dof_count);
  l.q = MEMORY_NEW(double, m->coordinate_count);
  memcpy(l.q, m->initial_coordinates, sizeof(double) * (size_t)m->coordinate_count);
  join_trees(m, parent);
  for (int eigenvalue = 0; eigenvalue < m->tree_count && found < 0; eigenvalue++) {
    if (disjoint_sets_find(parent, eigenvalue) != eigenvalue) continue;
    collect_loop(&l, parent, eigenvalue);
    if (l.closures > 0 && l.dofs > 0 && l.rows <= ROWS_MAX) found = check_loop(&l);
  }
  memory_free(l.poses);
  memory_free(l.closure);
  memory_free(l.coupling);
  memory_free(l.dof);
  memory_free(l.link);
  memory_free(l.increment);
  memory_free(l.q);
  memory_free(parent);
  return found;
}

void build_singular(Builder* builder) {
  Model* m = builder->model;
  m->singular_closure = m->closure_count > 0 ? find_singular_closure(m) : -1;
  if (m->singular_closure < 0) return;
  diagnostics_add(builder->diagnostics, SEVERITY_WARNING, builder->scene->closures[m->singular_closure].place,
                  "closures[%d] starts in a singular position (such as links in one line), where no finite force holds "
                  "the loop and gradients do not exist: change the initial position, or fix the joint that cannot move",
                  m->singular_closure);
}
