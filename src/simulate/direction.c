/* Computes Newton's direction of an iteration, one component of the matrix at a time (docs/derivations/step.md, S9). */
#include <assert.h>
#include <string.h>

#include "simulate/bushings.h"
#include "simulate/tendons.h"

/* Lower bound to which eigenvalues of the Hessian are raised (SDRS section V), relative to the smallest diagonal entry
 * of the component's matrix. */
#define EIGENVALUE_FLOOR 1e-3
/* COMPONENTS_PARALLEL: one thread solves all components if there are fewer than this number. COMPONENTS_GRAIN: number
 * of components per task. */
enum { COMPONENTS_PARALLEL = 64, COMPONENTS_GRAIN = 16 };
/* Factorizations of a component's matrix: as assembled, or with its eigenvalues lifted. */
typedef enum { FACTOR_PLAIN, FACTOR_LIFTED } Factor;

typedef struct {
  Sim* s;
  Factor factor;
} ComponentTask;

/* Returns the smallest positive diagonal entry of a component's matrix, the reference size of the eigenvalues; 1 if no
 * diagonal entry is positive. */
static double smallest_diagonal(const Sim* s, int component) {
  double smallest = INFINITY;
  for (int n = 0; n < s->scope.tree_count; n++) {
    int stride, k = s->scope.trees[n];
    if (s->components.of_tree[k] != component) continue;
    const double* block = block_solver_block(s->solver, n, n, &stride);
    for (int d = 0; d < s->model->trees[k].dof_count; d++) {
      double value = block[d * stride + d];
      if (value > 0 && value < smallest) smallest = value;
    }
  }
  return isfinite(smallest) ? smallest : 1;
}

static void solve_component(void* context, int index, int thread) {
  (void)thread;
  const ComponentTask* task = context;
  Sim* s = task->s;
  if (!s->components.wanted[index]) return;
  bool ok = task->factor == FACTOR_LIFTED
                ? block_solver_factor_component_modified(s->solver, index, s->components.lift[index])
                : block_solver_factor_component(s->solver, index);
  if (ok) block_solver_solve_component(s->solver, index, s->newton.solution);
  s->components.solved[index] = ok;
}

/* Marks the components of the matrix that contain a wanted tree, and the components that closures couple to one of the
 * marked components. Sets s->components.lift of the marked components for FACTOR_LIFTED. Returns the number of all
 * components. */
static int mark_components_of_wanted_trees(Sim* s, Factor factor) {
  int count = block_solver_component_count(s->solver);
  for (int c = 0; c < count; c++) s->components.wanted[c] = false;
  for (int n = 0; n < s->scope.tree_count; n++) {
    int k = s->scope.trees[n];
    s->components.of_tree[k] = block_solver_component_of(s->solver, n);
    if (s->marks.needs_direction[k]) s->components.wanted[s->components.of_tree[k]] = true;
  }
  if (s->closures) closures_mark_connected(s->closures, s->solver, s->components.wanted);
  for (int c = 0; factor == FACTOR_LIFTED && c < count; c++)
    if (s->components.wanted[c]) s->components.lift[c] = EIGENVALUE_FLOOR * smallest_diagonal(s, c);
  return count;
}

/* Computes the changes of the multipliers for which Newton's direction closes the linearized closure equations, and
 * updates the multipliers and the gradient (closures.md, Z3). Components coupled by closures are solved together: if
 * the factorization of one failed, all of them count as failed. */
static void satisfy_closures(Sim* s, int components) {
  ClosureSystem* c = s->closures;
  bool any = false;
  for (int k = 0; k < components; k++) {
    s->components.failed[k] = !(s->components.wanted[k] && s->components.solved[k]);
    any = any || s->components.failed[k];
  }
  if (any) closures_mark_connected(c, s->solver, s->components.failed);
  for (int k = 0; k < components; k++) s->components.solved[k] = !s->components.failed[k];
  (void)closures_solve(c, s->solver, s->components.solved, s->prescribed_joints.is_fixed, c->value, s->newton.solution,
                       c->change);
  closures_add_force(c, c->change, s->newton.gradient);
  for (int k = 0; k < c->row_count; k++) c->multiplier[k] += c->change[k];
}

/* Reassembles the blocks of the Hessian that are out of date. If degrees of freedom are prescribed, all blocks are
 * reassembled, because the elimination of these degrees of freedom changes the matrix. The stiffness of closures does
 * not change the direction (Z3). It is added with the factor `stiffening`, so that the matrix becomes positive
 * definite. */
static void assemble_stale_blocks(Sim* s, const Assembly* a, bool curvature) {
  Assembly assembly = *a;
  if (s->closures) assembly.stiffening = s->closures->stiffening;
  if (assembly.stiffening == 0) assembly.rows_count = assembly.coupling_count = 0;
  for (int n = 0; n < s->scope.tree_count; n++)
    s->marks.stale_blocks[n] = s->marks.stale_blocks[n] || s->marks.always_stale[s->scope.trees[n]];
  assembly.stale_blocks = s->prescribed_joints.count > 0 ? NULL : s->marks.stale_blocks;
  assemble_hessian(&assembly, curvature, s->solver);
  for (int n = 0; n < s->scope.tree_count && curvature; n++) s->marks.stale_blocks[n] = false;
}

static void set_right_side(Sim* s) {
  for (int n = 0; n < s->scope.tree_count; n++) {
    const ModelTree* tree = &s->model->trees[s->scope.trees[n]];
    double* right_side = s->newton.solution + s->scope.dof_first[n];
    for (int d = 0; d < tree->dof_count; d++) right_side[d] = -s->newton.gradient[tree->dof_first + d];
  }
}

/* Sets *w and *v to the twist of the half-space `link` about the point `at` that the motion of prescribed joints
 * causes. */
static void half_space_twist(const Sim* s, int link, Vec3 at, Vec3* w, Vec3* v) {
  *w = *v = vec3(0, 0, 0);
  for (int i = link; i >= 0; i = s->model->links[i].parent)
    for (int k = s->model->links[i].dof_first; k < s->model->links[i].dof_first + s->model->links[i].dof_count; k++) {
      *w = vec3_add_scaled(*w, s->newton.rhs[k], s->assembly.screws[k].w);
      *v = vec3_add_scaled(*v, s->newton.rhs[k], screw_velocity(&s->assembly.screws[k], at));
    }
}

/* Subtracts the generalized forces of a wrench on a link from the right-hand side, and adds them to s->newton.push. The
 * wrench acts on the joints of the link and of all ancestors of the link. at: point that the torque refers to. */
static void subtract_wrench(Sim* s, int link, Vec3 at, Vec3 torque, Vec3 force) {
  for (int i = link; i >= 0; i = s->model->links[i].parent)
    for (int k = s->model->links[i].dof_first; k < s->model->links[i].dof_first + s->model->links[i].dof_count; k++) {
      double push =
          vec3_dot(s->assembly.screws[k].w, torque) + vec3_dot(screw_velocity(&s->assembly.screws[k], at), force);
      s->newton.push[k] += push;
      s->newton.solution[k] -= push;
    }
}

/* Subtracts the forces due to moving half-spaces from the right-hand side. A half-space has no rows in the Hessian, but
 * for its pair the motion of the half-space is equivalent to the opposite motion of the body. */
static void subtract_half_space_forces(Sim* s, const Assembly* a) {
  int count = a->contact.holder ? a->contact.count(a->contact.holder) : 0;
  for (int n = 0; n < count; n++) {
    ContactTerms t = a->contact.at(a->contact.holder, n);
    if (s->model->link_tree[t.link_b] < 0 || !term_has_half_space(&t)) continue;
    Vec3 w, v, at = s->assembly.reference[t.link_a];
    half_space_twist(s, t.link_b, at, &w, &v);
    double twist[6] = {w.x, w.y, w.z, v.x, v.y, v.z}, change[6] = {0};
    for (int i = 0; i < 6; i++)
      for (int k = 0; k < 6; k++) change[i] += t.hessian[i][k] * twist[k];
    Vec3 torque = vec3(change[0], change[1], change[2]), force = vec3(change[3], change[4], change[5]);
    subtract_wrench(s, t.link_a, at, vec3_scale(torque, -1), vec3_scale(force, -1));
    subtract_wrench(s, t.link_b, at, torque, force);
  }
}

/* Subtracts the forces due to the motion of prescribed joints from the right-hand side, and eliminates these joints. */
static void eliminate_prescribed_joints(Sim* s, const Assembly* a) {
  block_solver_multiply(s->solver, s->newton.rhs, s->newton.push);
  subtract_half_space_forces(s, a);
  block_solver_constrain(s->solver, s->prescribed_joints.is_fixed, s->newton.rhs, s->newton.solution);
}

/* Returns the contribution of a tree to the second derivative of the energy along delta, which must be the solution for
 * the tree. Uses that the Hessian times delta is minus the gradient at free degrees of freedom. Returns 0 if no degree
 * of freedom is prescribed. */
static double tree_curvature(const Sim* s, const ModelTree* tree, const double* delta) {
  double sum = 0;
  for (int k = tree->dof_first; k < tree->dof_first + tree->dof_count && s->prescribed_joints.count > 0; k++)
    sum += (s->newton.push[k] - (s->prescribed_joints.is_fixed[k] ? 0 : s->newton.gradient[k])) *
           delta[k - tree->dof_first];
  return sum;
}

/* Solves for Newton's direction, Hessian times delta = minus gradient, in the components with a wanted tree; the delta
 * of all other components is unchanged. Clears the marks of the wanted trees whose solution is finite. Returns true if
 * all wanted trees have a finite solution. */
static bool solve_wanted_components(Sim* s, const Assembly* a, bool curvature, Factor factor) {
  const Model* m = s->model;
  double start = timer_now();
  step_compute_closure_jacobian(s);
  assemble_stale_blocks(s, a, curvature);
  set_right_side(s);
  if (s->closures) closures_add_stiffness_force(s->closures, 1 - s->closures->stiffening, s->newton.solution);
  if (s->prescribed_joints.count > 0) eliminate_prescribed_joints(s, a);
  double middle = timer_now();
  s->times.assembly += middle - start;
  int count = mark_components_of_wanted_trees(s, factor);
  ComponentTask task = {s, factor};
  parallel_for(s->options.threads, count, COMPONENTS_PARALLEL, COMPONENTS_GRAIN, solve_component, &task);
  if (s->closures) satisfy_closures(s, count);
  bool all = true;
  for (int n = 0; n < s->scope.tree_count; n++) {
    int k = s->scope.trees[n], c = s->components.of_tree[k];
    const ModelTree* tree = &m->trees[k];
    const double* solution = s->newton.solution + s->scope.dof_first[n];
    if (!s->components.wanted[c]) continue;
    bool finite = s->components.solved[c];
    for (int d = 0; d < tree->dof_count; d++) finite = finite && isfinite(solution[d]);
    s->marks.needs_direction[k] = !finite;
    all = all && finite;
    if (!finite || tree->dof_count == 0) continue;
    memcpy(s->newton.delta + tree->dof_first, solution, sizeof(double) * (size_t)tree->dof_count);
    s->newton.curvature[k] = tree_curvature(s, tree, solution);
  }
  s->times.factor += timer_now() - middle;
  return all;
}

/* Sets s->assembly.twist[i] to the twist (w, v) of link i about its centre of mass for the joint increments
 * s->newton.delta. The twist of the parent must be set. */
static void compute_link_twist(Sim* s, int i) {
  const ModelLink* link = &s->model->links[i];
  Vec3 w = {0, 0, 0}, v = {0, 0, 0};
  if (link->parent >= 0) {
    const double* up = s->assembly.twist[link->parent];
    w = vec3(up[0], up[1], up[2]);
    v = vec3_add(vec3(up[3], up[4], up[5]),
                 vec3_cross(w, vec3_sub(s->assembly.reference[i], s->assembly.reference[link->parent])));
  }
  for (int k = link->dof_first; k < link->dof_first + link->dof_count; k++) {
    w = vec3_add_scaled(w, s->newton.delta[k], s->assembly.screws[k].w);
    v = vec3_add_scaled(v, s->newton.delta[k], screw_velocity(&s->assembly.screws[k], s->assembly.reference[i]));
  }
  double twist[6] = {w.x, w.y, w.z, v.x, v.y, v.z};
  memcpy(s->assembly.twist[i], twist, sizeof(twist));
}

static void compute_tree_twists(void* context, int index, int thread) {
  (void)thread;
  Sim* s = context;
  int tree = s->scope.trees[index];
  bool still = step_tree_is_still(s, tree, s->newton.delta);
  for (int n = s->trees.first[tree]; n < s->trees.first[tree + 1]; n++)
    if (still)
      memset(s->assembly.twist[s->trees.links[n]], 0, sizeof(double[6]));
    else
      compute_link_twist(s, s->trees.links[n]);
}

static void compute_twists(Sim* s) {
  for (int i = 0; i < s->model->link_count && s->scope.whole; i++)
    if (s->model->links[i].tree < 0) compute_link_twist(s, i);
  parallel_for(s->options.threads, s->scope.tree_count, TREES_PARALLEL, TREES_GRAIN, compute_tree_twists, s);
}

void solve_scope_copy(const Sim* s, double* to, const double* from) {
  assert(to != from);
  const ModelTree* trees = s->model->trees;
  if (s->scope.whole) {
    memcpy(to, from, sizeof(double) * (size_t)s->model->dof_count);
    return;
  }
  for (int n = 0; n < s->scope.tree_count; n++) {
    const ModelTree* t = &trees[s->scope.trees[n]];
    if (t->dof_count > 0) memcpy(to + t->dof_first, from + t->dof_first, sizeof(double) * (size_t)t->dof_count);
  }
}

void step_refine_impacts(Sim* s) {
  assert(s->contact);
  Assembly a;
  StepReport none = step_no_work();
  int dof;
  if (s->model->dof_count == 0) return;
  step_assemble(s, contact_term_list(s->contact), &a);
  balance_residual(s, &dof);
  if (!step_direction(s, &a, &none)) return;
  compute_twists(s);
  contact_correct_impact_forces(s->contact, (const double(*)[6])s->assembly.twist);
}

/* Marks as wanted the trees that are not balanced, whose prescribed joints have not reached their targets, or that have
 * a closure above its tolerance. Sets delta to zero. */
static void mark_unbalanced_trees(Sim* s) {
  const Model* m = s->model;
  for (int n = 0; n < s->scope.tree_count; n++) {
    int k = s->scope.trees[n];
    const ModelTree* tree = &m->trees[k];
    s->marks.needs_direction[k] = false;
    s->newton.curvature[k] = 0;
    for (int d = tree->dof_first; d < tree->dof_first + tree->dof_count; d++) {
      s->marks.needs_direction[k] =
          s->marks.needs_direction[k] ||
          (s->prescribed_joints.is_fixed[d] ? s->newton.rhs[d] != 0 : !balance_is_reached(s, d));
      s->newton.delta[d] = 0;
    }
  }
  for (int k = 0; s->closures && k < s->closures->count; k++)
    if (!closure_is_satisfied(s->closures, k))
      s->marks.needs_direction[s->model->links[closure_link(s->closures, k)].tree] = true;
}

bool step_direction(Sim* s, Assembly* a, StepReport* report) {
  double start = timer_now();
  step_update_pattern(s);
  s->times.assembly += timer_now() - start;
  mark_unbalanced_trees(s);
  if (solve_wanted_components(s, a, true, FACTOR_PLAIN)) return true;
  while (s->closures && closures_stiffen(s->closures))
    if (solve_wanted_components(s, a, true, FACTOR_PLAIN)) return true;
  report->factor_retries++;
  for (int n = 0; n < s->scope.link_count; n++) {
    int i = s->scope.links[n], tree = s->model->link_tree[i];
    s->marks.link[i] = tree >= 0 && s->marks.needs_direction[tree];
  }
  if (s->contact) contact_project(s->contact, s->marks.link);
  if (s->closures) closures_omit_curvature(s->closures, s->marks.link);
  if (s->bushings) s->bushings->convex = true;
  step_mark_stale(s, s->marks.link);
  step_assemble(s, contact_term_list(s->contact), a);
  return solve_wanted_components(s, a, false, FACTOR_PLAIN) || solve_wanted_components(s, a, false, FACTOR_LIFTED);
}
