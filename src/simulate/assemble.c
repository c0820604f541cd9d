/* Assembles the gradient and the Hessian of the step objective with respect to joint increments from the terms of
 * links, pairs and joints (docs/derivations/kinematics.md, K2-K5). */
#include <assert.h>
#include <string.h>

#include "simulate/terms.h"

/* Adds the terms of `below` to `sum`. d: vector from the reference point of `sum` to the reference point of `below`,
 * world axes [m]. A twist (w, v) about the reference point of `sum` is the twist (w, v + w x d) about the reference
 * point of `below`. */
static void add_shifted_link_terms(LinkTerms* sum, const LinkTerms* below, Vec3 d) {
  sum->force = vec3_add(sum->force, below->force);
  sum->moment = mat3_add(sum->moment, mat3_add(below->moment, mat3_outer(below->force, d)));
  /* adds the Hessian of `below`, converted to twists about the reference point of `sum`: X^T B X with X = [I 0; x:
   * minus the matrix of the cross product with d I] */
  double bx[6][6];
  double x[3][3] = {{0, d.z, -d.y}, {-d.z, 0, d.x}, {d.y, -d.x, 0}}; /* -[d]x */
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) {
      bx[i][j] = below->hessian[i][j];
      if (j < 3)
        for (int k = 0; k < 3; k++) bx[i][j] += below->hessian[i][3 + k] * x[k][j];
    }
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) {
      double v = bx[i][j];
      if (i < 3)
        for (int k = 0; k < 3; k++) v += x[k][i] * bx[3 + k][j];
      sum->hessian[i][j] += v;
    }
}

/* ---------------------------------------------------------------- gradient */

typedef struct {
  const Assembly* in;
  double* gradient;
} GradientTask;

/* Returns the first moment of the contact force on the half-space t->link_b about the reference point of link_b. The
 * energy does not change in a common motion of both bodies, so this moment is minus the moment on link_a, shifted to
 * the reference point of link_b. */
static Mat3 moment_on_half_space(const Assembly* in, const ContactTerms* t) {
  Vec3 arm = vec3_sub(in->reference[t->link_a], in->reference[t->link_b]);
  return mat3_scale(mat3_add(t->moment[0], mat3_outer(t->force[0], arm)), -1);
}

/* Adds the pair terms that act on the links of one tree to the terms of these links. place: index of the tree in the
 * scope; tree_count selects the immovable links. */
static void add_pair_terms(const Assembly* in, int place) {
  for (int n = in->sides->first[place]; n < in->sides->first[place + 1]; n++) {
    int side = in->sides->items[n] & 1;
    ContactTerms t = assembly_term(in, in->sides->items[n] >> 1);
    LinkTerms* l = &in->links[side == 0 ? t.link_a : t.link_b];
    l->force = vec3_add(l->force, t.force[side]);
    bool of_contact = in->sides->items[n] >> 1 < in->sides->count[0];
    bool half_space = side == 1 && of_contact && term_has_half_space(&t);
    l->moment = mat3_add(l->moment, half_space ? moment_on_half_space(in, &t) : t.moment[side]);
    if (t.only_cross_block || !t.hessian) continue;
    for (int i = 0; i < 6; i++)
      for (int j = 0; j < 6; j++) l->hessian[i][j] += t.hessian[6 * side + i][6 * side + j];
  }
}

static void add_to_parent(const Assembly* in, int link) {
  int parent = in->model->links[link].parent;
  add_shifted_link_terms(&in->links[parent], &in->links[link], vec3_sub(in->reference[link], in->reference[parent]));
}

static void sum_over_descendants(const Assembly* in, int tree) {
  for (int n = in->tree_first[tree + 1] - 1; n >= in->tree_first[tree]; n--) {
    int parent = in->model->links[in->tree_links[n]].parent;
    if (parent >= 0 && in->model->links[parent].tree >= 0) add_to_parent(in, in->tree_links[n]);
  }
}

/* Adds the sum of each tree to the immovable link that carries the tree. Runs on one thread, because several trees can
 * share a link. */
static void add_trees_to_immovable_parents(const Assembly* in) {
  const Model* m = in->model;
  for (int i = m->link_count - 1; i >= 0; i--) {
    int parent = m->links[i].parent;
    if (parent < 0 || m->links[i].tree < 0 || m->links[parent].tree >= 0) continue;
    if (!in->stale || in->stale[m->links[i].tree]) add_to_parent(in, i);
  }
}

static void compute_link_gradient(const Assembly* in, int i, double* gradient) {
  const ModelLink* link = &in->model->links[i];
  Vec3 torque = mat3_axial(in->links[i].moment), force = in->links[i].force;
  for (int k = 0; k < link->dof_count; k++) {
    const Screw* s = &in->screws[link->dof_first + k];
    gradient[link->dof_first + k] =
        vec3_dot(s->w, torque) + vec3_dot(screw_velocity(s, in->reference[i]), force) + in->joints[i].gradient[k];
  }
}

static void compute_tree_gradient(void* context, int place, int thread) {
  (void)thread;
  const GradientTask* task = context;
  const Assembly* in = task->in;
  bool still = place == in->scope->tree_count;
  int tree = still ? -1 : in->scope->trees[place];
  if (in->stale && (still || !in->stale[tree])) return;
  add_pair_terms(in, place);
  if (still) return;
  sum_over_descendants(in, tree);
  for (int n = in->tree_first[tree]; n < in->tree_first[tree + 1]; n++)
    compute_link_gradient(in, in->tree_links[n], task->gradient);
}

static void add_coupling_gradient(const CouplingTerms* terms, int count, double* gradient) {
  for (int k = 0; k < count; k++)
    for (int i = 0; i < terms[k].count; i++) gradient[terms[k].dof[i]] += terms[k].push * terms[k].slope[i];
}

void assemble_gradient(const Assembly* in, double* gradient) {
  assert(in->sides && in->scope && gradient);
  GradientTask task = {in, gradient};
  int count = in->scope->tree_count + in->scope->whole; /* `whole` adds one task, for the immovable links */
  parallel_for(in->threads, count, TREES_PARALLEL, TREES_GRAIN, compute_tree_gradient, &task);
  if (in->scope->whole) add_trees_to_immovable_parents(in);
  add_coupling_gradient(in->couplings, in->coupling_count, gradient);
}

/* ---------------------------------------------------------------- Hessian */

/* Adds `value` to entry (i, j) of the symmetric Hessian. The caller passes each pair of degrees of freedom once. */
static void add_coupling_entry(const Model* model, BlockSolver* solver, int i, int j, double value) {
  int a = model->links[model->dof_link[i]].tree, b = model->links[model->dof_link[j]].tree, stride;
  int r = i - model->trees[a].dof_first, c = j - model->trees[b].dof_first;
  double* block = a <= b ? block_solver_block(solver, a, b, &stride) : block_solver_block(solver, b, a, &stride);
  bool swap = a > b || (a == b && r > c);
  block[swap ? c * stride + r : r * stride + c] += value;
}

static void add_coupling_hessian(const Model* model, const CouplingTerms* terms, int count, double stiffening,
                                 BlockSolver* solver) {
  for (int k = 0; k < count; k++) {
    const CouplingTerms* t = &terms[k];
    double stiffness = stiffening * t->stiffness;
    for (int i = 0; i < t->count; i++)
      for (int j = i; j < t->count; j++)
        add_coupling_entry(model, solver, t->dof[i], t->dof[j], stiffness * t->slope[i] * t->slope[j]);
  }
}

/* Adds row i of the upper triangle of slope^T stiffness slope, the stiffness terms of a closure, to the Hessian. The
 * degrees of freedom from i on are grouped by tree, so that each block is looked up once. */
static void add_row_entries(const Model* model, const RowTerms* t, int i, double stiffening, BlockSolver* solver) {
  int tree = -1, tree_a = model->links[model->dof_link[t->dof[i]]].tree,
      row = t->dof[i] - model->trees[tree_a].dof_first;
  int stride = 0, first = 0;
  double* block = NULL;
  for (int j = i; j < t->count; j++) {
    double value = 0;
    for (int r = 0; r < t->rows; r++)
      if (t->moves[r]) value += t->stiffness[r] * t->slope[r * t->count + i] * t->slope[r * t->count + j];
    int other = model->links[model->dof_link[t->dof[j]]].tree;
    if (!block || other != tree) {
      tree = other;
      first = model->trees[tree].dof_first;
      block = tree_a <= tree ? block_solver_block(solver, tree_a, tree, &stride)
                             : block_solver_block(solver, tree, tree_a, &stride);
    }
    int column = t->dof[j] - first;
    bool swap = tree_a > tree || (tree_a == tree && row > column);
    block[swap ? column * stride + row : row * stride + column] += stiffening * value;
  }
}

static void add_rows_hessian(const Model* model, const RowTerms* terms, int count, double stiffening,
                             BlockSolver* solver) {
  for (int k = 0; k < count; k++)
    for (int i = 0; i < terms[k].count && terms[k].rows > 0; i++)
      add_row_entries(model, &terms[k], i, stiffening, solver);
}

static inline void multiply_screw(const double (*a)[6], Vec3 w, Vec3 v, double y[6]) {
  for (int i = 0; i < 6; i++)
    y[i] = a[i][0] * w.x + a[i][1] * w.y + a[i][2] * w.z + a[i][3] * v.x + a[i][4] * v.y + a[i][5] * v.z;
}

static inline double dot6(Vec3 w, Vec3 v, const double y[6]) {
  return w.x * y[0] + w.y * y[1] + w.z * y[2] + v.x * y[3] + v.y * y[4] + v.z * y[5];
}

/* Sets velocity[k] to the velocity of the world point `at` for a unit rate of the link's degree of freedom k. */
static inline void compute_dof_velocities(const Assembly* in, const ModelLink* link, Vec3 at,
                                          Vec3 velocity[JOINT_MAX_DOF]) {
  for (int k = 0; k < link->dof_count; k++) velocity[k] = screw_velocity(&in->screws[link->dof_first + k], at);
}

/* Adds the Hessian entries between the degrees of freedom of link i, and between these and the degrees of freedom of
 * all ancestors of link i. */
static void add_link_hessian(const Assembly* in, int i, bool curvature, double* block, int stride, int tree_first) {
  const Model* model = in->model;
  const ModelLink* link = &model->links[i];
  const LinkTerms* t = &in->links[i];
  Vec3 at = in->reference[i];
  double trace = mat3_trace(t->moment);
  Vec3 velocity[JOINT_MAX_DOF];
  compute_dof_velocities(in, link, at, velocity);
  for (int k = 0; k < link->dof_count; k++) {
    const Screw* s = &in->screws[link->dof_first + k];
    Vec3 v = velocity[k];
    double y[6];
    multiply_screw(t->hessian, s->w, v, y);
    /* curvature of the motion (K2): w_j . [ (K^T - tr K) w_k + v_k x f ]. K: first moment of the force f on the link;
     * (w_k, v_k): twist by degree of freedom k */
    Vec3 curvature_torque =
        vec3_add(vec3_sub(mat3_tmul_vec(t->moment, s->w), vec3_scale(s->w, trace)), vec3_cross(v, t->force));
    if (curvature) {
      y[0] += curvature_torque.x;
      y[1] += curvature_torque.y;
      y[2] += curvature_torque.z;
    }
    int column = link->dof_first + k - tree_first;
    for (int j = k; j >= 0; j--)
      block[(link->dof_first + j - tree_first) * stride + column] +=
          dot6(in->screws[link->dof_first + j].w, velocity[j], y);
    for (int up = link->parent; up >= 0; up = model->links[up].parent)
      for (int j = model->links[up].dof_first; j < model->links[up].dof_first + model->links[up].dof_count; j++)
        block[(j - tree_first) * stride + column] += dot6(in->screws[j].w, screw_velocity(&in->screws[j], at), y);
  }
}

static void add_joint_block(const JointTerms* t, int dof, int first, double* block, int stride) {
  for (int j = 0; j < dof; j++)
    for (int k = j; k < dof; k++) block[(first + j) * stride + first + k] += t->hessian[j][k];
}

static inline double dot3(Vec3 w, const double y[3]) { return w.x * y[0] + w.y * y[1] + w.z * y[2]; }

/* Sets y to the product of the block of the pair's Hessian between bodies a and b, and a twist of body b. The twist is
 * `screw`, a motion by one degree of freedom, about the point `at`. y has six entries, or three if the block couples
 * only rotations (t->across). */
static inline void multiply_cross_block(const ContactTerms* t, const Screw* screw, Vec3 at, double y[6]) {
  Vec3 w = screw->w, v = t->only_cross_block ? vec3(0, 0, 0) : screw_velocity(screw, at);
  for (int i = 0; i < (t->only_cross_block ? 3 : 6); i++) {
    const double* c = t->hessian[i] + 6;
    y[i] = c[0] * w.x + c[1] * w.y + c[2] * w.z;
    if (!t->only_cross_block) y[i] = y[i] + c[3] * v.x + c[4] * v.y + c[5] * v.z;
  }
}

/* Block of the Hessian between the trees a and b, which can be the same tree. first_a, first_b: first degree of freedom
 * of tree a and of tree b. */
typedef struct {
  double* entries;
  int stride, tree_a, tree_b, first_a, first_b;
} CrossBlock;

static inline void add_cross_entry(const CrossBlock* to, int j, int k, double value) {
  int r = j - to->first_a, c = k - to->first_b, stride = to->stride;
  if (to->tree_a < to->tree_b)
    to->entries[r * stride + c] += value;
  else if (to->tree_a > to->tree_b)
    to->entries[c * stride + r] += value;
  else if (r == c) /* the block between the two bodies and its transpose both contribute to an entry on the diagonal */
    to->entries[r * stride + r] += 2 * value;
  else
    to->entries[(r < c ? r : c) * stride + (r < c ? c : r)] += value;
}

/* Adds the Hessian entries between every degree of freedom j of link la and k of link lb to the block. Each is the
 * scalar product of the screw of j and y[k]. y[k]: result of multiply_cross_block for degree of freedom k. */
static inline void add_link_pair_entries(const Assembly* in, const ContactTerms* t, const ModelLink* la,
                                         const ModelLink* lb, const double (*y)[6], const CrossBlock* to) {
  Vec3 velocity[JOINT_MAX_DOF];
  compute_dof_velocities(in, la, in->reference[t->link_a], velocity);
  for (int k = 0; k < lb->dof_count; k++)
    for (int j = 0; j < la->dof_count; j++) {
      Vec3 w = in->screws[la->dof_first + j].w;
      double value = t->only_cross_block ? dot3(w, y[k]) : dot6(w, velocity[j], y[k]);
      add_cross_entry(to, la->dof_first + j, lb->dof_first + k, value);
    }
}

/* Adds the contribution of a pair's Hessian between link_a and link_b to the Hessian of the step. Entries: all degrees
 * of freedom of link_a and its ancestors with those of link_b and its ancestors. */
static void add_cross_hessian(const Assembly* in, const ContactTerms* t, BlockSolver* solver) {
  const Model* model = in->model;
  if (t->link_a < 0 || t->link_b < 0 || !t->hessian) return;
  int ta = model->links[t->link_a].tree, tb = model->links[t->link_b].tree;
  if (ta < 0 || tb < 0) return;
  int pa = in->scope->place[ta], pb = in->scope->place[tb];
  CrossBlock to = {NULL, 0, ta, tb, model->trees[ta].dof_first, model->trees[tb].dof_first};
  to.entries =
      pa <= pb ? block_solver_block(solver, pa, pb, &to.stride) : block_solver_block(solver, pb, pa, &to.stride);
  for (int lb = t->link_b; lb >= 0; lb = model->links[lb].parent) {
    const ModelLink* below = &model->links[lb];
    double y[JOINT_MAX_DOF][6];
    for (int k = 0; k < below->dof_count; k++)
      multiply_cross_block(t, &in->screws[below->dof_first + k], in->reference[t->link_b], y[k]);
    for (int la = t->link_a; la >= 0 && below->dof_count > 0; la = model->links[la].parent)
      add_link_pair_entries(in, t, &model->links[la], below, (const double(*)[6])y, &to);
  }
}

typedef struct {
  const Assembly* in;
  bool curvature;
  BlockSolver* solver;
} HessianTask;

static bool is_block_stale(const Assembly* in, int place) { return !in->stale_blocks || in->stale_blocks[place]; }

/* If at least this many consecutive terms act on the same two links, their Hessians are summed before the sum is
 * converted to joint coordinates. Triangle meshes produce thousands of such terms. Fewer terms are added one by one, so
 * that the order of summation in small scenes, and with it the last bits of the results, stays the same. */
#define SUMMED_TERMS_MIN 256

/* Returns the number of consecutive terms, from the n-th on, that act on the same two links and the same side as
 * `first`. end: end of the list of terms. */
static int count_terms_of_same_links(const Assembly* in, int n, int end, const ContactTerms* first) {
  int side = in->sides->items[n] & 1, next = n + 1;
  for (; next < end && (in->sides->items[next] & 1) == side; next++) {
    ContactTerms t = assembly_term(in, in->sides->items[next] >> 1);
    if (t.link_a != first->link_a || t.link_b != first->link_b || t.only_cross_block || !t.hessian) break;
  }
  return next - n;
}

/* Sets the block sum[0..5][6..11], between a and b, to the sum of this block over `count` terms from the n-th on. All
 * other entries are 0, because add_cross_hessian does not read them. */
static void sum_cross_blocks(const Assembly* in, int n, int count, double sum[12][12]) {
  memset(sum, 0, sizeof(double[12][12]));
  for (int k = n; k < n + count; k++) {
    ContactTerms t = assembly_term(in, in->sides->items[k] >> 1);
    for (int i = 0; i < 6; i++)
      for (int j = 6; j < 12; j++) sum[i][j] += t.hessian[i][j];
  }
}

/* Adds the off-diagonal blocks of the pairs between the tree at index `place` of the scope and the trees at the same or
 * later indices. */
static void add_tree_cross_blocks(const HessianTask* task, int place) {
  const Assembly* in = task->in;
  int end = in->sides->first[place + 1], run = 1,
      few = 0; /* terms before index `few` belong to a run shorter than SUMMED_TERMS_MIN */
  for (int n = in->sides->first[place]; n < end; n += run) {
    int side = in->sides->items[n] & 1;
    ContactTerms t = assembly_term(in, in->sides->items[n] >> 1);
    int link = side == 0 ? t.link_b : t.link_a, tree = link < 0 ? -1 : in->model->link_tree[link];
    int other = tree < 0 ? -1 : in->scope->place[tree];
    run = 1;
    if (other < place || (other == place && side == 1)) continue;
    if (!is_block_stale(in, place) && !is_block_stale(in, other)) continue;
    double sum[12][12];
    int count = n >= few && end - n >= SUMMED_TERMS_MIN && t.hessian && !t.only_cross_block
                    ? count_terms_of_same_links(in, n, end, &t)
                    : 1;
    if (count > 1 && count < SUMMED_TERMS_MIN) few = n + count;
    if (count >= SUMMED_TERMS_MIN) {
      sum_cross_blocks(in, n, count, sum);
      t.hessian = (const double(*)[12])sum;
      run = count;
    }
    add_cross_hessian(in, &t, task->solver);
  }
}

static void compute_tree_hessian(void* context, int place, int thread) {
  (void)thread;
  const HessianTask* task = context;
  const Assembly* in = task->in;
  int tree = in->scope->trees[place], first = in->model->trees[tree].dof_first, stride;
  for (int n = in->tree_first[tree]; n < in->tree_first[tree + 1] && is_block_stale(in, place); n++) {
    int i = in->tree_links[n];
    const ModelLink* link = &in->model->links[i];
    if (link->dof_count == 0) continue;
    double* block = block_solver_block(task->solver, place, place, &stride);
    add_link_hessian(in, i, task->curvature, block, stride, first);
    add_joint_block(&in->joints[i], link->dof_count, link->dof_first - first, block, stride);
  }
  add_tree_cross_blocks(task, place);
}

void assemble_hessian(const Assembly* in, bool curvature, BlockSolver* solver) {
  assert(in->scope && !(in->stiffening < 0));
  const Model* model = in->model;
  HessianTask task = {in, curvature, solver};
  if (in->stale_blocks)
    block_solver_clear_rows(solver, in->stale_blocks);
  else
    block_solver_clear(solver);
  parallel_for(in->threads, in->scope->tree_count, TREES_PARALLEL, TREES_GRAIN, compute_tree_hessian, &task);
  add_rows_hessian(model, in->rows, in->rows_count, in->stiffening, solver);
  add_coupling_hessian(model, in->couplings, in->coupling_count, in->stiffening, solver);
  add_coupling_hessian(model, in->stretched, in->stretched_count, 1, solver);
}
