/* Newton's method for one step (docs/derivations/step.md, S8-S9). */
#include <stdlib.h>
#include <string.h>

#include "simulate/loads.h"
#include "simulate/tendons.h"

/* Smallest eigenvalue left after lifting (SDRS section V), of the smallest diagonal entry. */
#define EIGENVALUE_FLOOR 1e-3
/* Fewer components than this are not worth waking other threads for. */
enum { COMPONENTS_PARALLEL = 64, COMPONENTS_GRAIN = 16 };
/* A direction from another model than the objective's own must promise this part of the Newton step's decrease. */
#define LEAST_DESCENT 0.1

JointInput step_joint_input(const Sim* s, const Configuration* c, int link) {
  const ModelLink* l = &s->model->links[link];
  return (JointInput){l,
                      c->q + l->coordinate_first,
                      s->q_now + l->coordinate_first,
                      s->difference_old + l->dof_first,
                      s->drives + s->drive_first[link],
                      s->drive_first[link + 1] - s->drive_first[link],
                      s->gain_dt,
                      s->weights,
                      s->joint_aim ? s->joint_aim + l->dof_first : NULL,
                      step_inertia_weight(s)};
}

static bool evaluate_link(Sim* s, int i, Configuration* c) {
  const ModelLink* link = &s->model->links[i];
  c->inertia[i] = link->tree < 0 ? 0 : inertia_energy(link, c->pose[i], s->target[i], step_inertia_weight(s));
  if (s->loads && s->loads[i].any) c->inertia[i] += load_energy(&s->loads[i], &c->pose[i], &s->pose_now[i]);
  if (link->dof_count == 0) return true;
  JointInput in = step_joint_input(s, c, i);
  return joint_terms(&in, true, &c->joints[i]);
}

typedef struct {
  Sim* s;
  Configuration* to;
} MoveTask;

static void evaluate_tree(void* context, int index, int thread) {
  (void)thread;
  Sim* s = ((MoveTask*)context)->s;
  int tree = s->scope.trees[index];
  s->inside[tree] = true;
  for (int n = s->tree_first[tree]; n < s->tree_first[tree + 1]; n++)
    s->inside[tree] = evaluate_link(s, s->tree_links[n], ((MoveTask*)context)->to) && s->inside[tree];
}

bool configuration_evaluate(Sim* s, Configuration* c) {
  MoveTask task = {s, c};
  bool inside = true;
  for (int i = 0; i < s->model->link_count; i++)
    if (s->model->links[i].tree < 0) inside = evaluate_link(s, i, c) && inside;
  parallel_for(s->options.threads, s->model->tree_count, TREES_PARALLEL, TREES_GRAIN, evaluate_tree, &task);
  for (int k = 0; k < s->model->tree_count; k++) inside = inside && s->inside[k];
  if (s->closures) closures_values(s->closures, c->pose, c->q, c->closures);
  if (s->tendons) tendons_energies(s->tendons, c->pose, c->tendons);
  return inside;
}

/* What the trial makes of a link's own energies. */
static LinkPart change_of(const Sim* s, const Configuration* from, const Configuration* to, int i) {
  LinkPart change = {.inertia = to->inertia[i] - from->inertia[i]};
  if (s->model->links[i].dof_count == 0) return change;
  const JointTerms *a = &from->joints[i], *b = &to->joints[i];
  change.joint =
      (b->controller - a->controller) + (b->limit - a->limit) + (b->damping - a->damping) + (b->inertia - a->inertia);
  return change;
}

/* The links of one tree, parents first. */
static void move_tree(void* context, int index, int thread) {
  (void)thread;
  Sim* s = ((MoveTask*)context)->s;
  int tree = s->moved_trees[index];
  Configuration* to = ((MoveTask*)context)->to;
  const Configuration* from = &s->configuration[s->current];
  bool moves = s->moving[tree] = !step_tree_still(s, tree, s->scaled);
  s->inside[tree] = true;
  for (int n = s->tree_first[tree]; n < s->tree_first[tree + 1]; n++) {
    int i = s->tree_links[n];
    const ModelLink* link = &s->model->links[i];
    int q = link->coordinate_first;
    s->change[i] = (LinkPart){0, 0};
    if (!moves && s->same[i]) continue;
    s->same[i] = !moves;
    s->moved_link[i] = true;
    if (moves) {
      if (link->dof_count > 0) joint_increment(&link->joint, from->q + q, s->scaled + link->dof_first, to->q + q);
      model_link_pose(s->model, i, to->q, to->pose);
      s->inside[tree] = evaluate_link(s, i, to) && s->inside[tree];
      s->change[i] = change_of(s, from, to, i);
      continue;
    }
    if (link->coordinate_count > 0) memcpy(to->q + q, from->q + q, sizeof(double) * (size_t)link->coordinate_count);
    to->pose[i] = from->pose[i];
    to->inertia[i] = from->inertia[i];
    to->joints[i] = from->joints[i];
  }
}

/* Links that cannot move. */
static void keep_fixed(Sim* s, Configuration* to) {
  const Configuration* from = &s->configuration[s->current];
  for (int i = 0; i < s->model->link_count && s->scope.whole; i++) {
    if (s->same[i] || s->link_island[i] >= 0) continue; /* islands must be known */
    s->same[i] = s->moved_link[i] = true;
    to->pose[i] = from->pose[i];
    to->inertia[i] = from->inertia[i];
    to->joints[i] = from->joints[i];
  }
}

bool configuration_move(Sim* s, Configuration* to) {
  MoveTask task = {s, to};
  bool inside = true;
  keep_fixed(s, to);
  parallel_for(s->options.threads, s->moved_count, TREES_PARALLEL, TREES_GRAIN, move_tree, &task);
  for (int n = 0; n < s->scope.tree_count; n++) inside = inside && s->inside[s->scope.trees[n]];
  if (s->closures) closures_values(s->closures, to->pose, to->q, to->closures);
  if (s->tendons) tendons_energies(s->tendons, to->pose, to->tendons);
  return inside;
}

/* ---------------------------------------------------------------- linear system */

/* Room for `count` fresh keys. */
static uint64_t* room_for_couplings(Sim* s, int count) {
  if (count > s->fresh_capacity) {
    int capacity = count + count / 2 + 16;
    s->fresh_couplings = memory_resize(s->fresh_couplings, sizeof(uint64_t) * (size_t)s->fresh_capacity,
                                       sizeof(uint64_t) * (size_t)capacity);
    s->fresh_capacity = capacity;
  }
  return s->fresh_couplings;
}

/* By the places of both trees. */
static int add_coupling(const Sim* s, int link_a, int link_b, uint64_t* keys, int count) {
  int a = s->model->link_tree[link_a], b = s->model->link_tree[link_b];
  if (a < 0 || b < 0 || a == b) return count;
  a = s->scope.place[a];
  b = s->scope.place[b];
  keys[count] = a < b ? (uint64_t)a << 32 | (uint32_t)b : (uint64_t)b << 32 | (uint32_t)a;
  return count + 1;
}

/* Those of closures and tendons; room: for so many keys more. */
static int add_standing(const Sim* s, uint64_t* keys, int count) {
  for (int k = 0; s->closures && k < s->closures->pair_count; k++) keys[count++] = s->closures->pairs[k];
  for (int k = 0; s->tendons && k < s->tendons->pair_count; k++) keys[count++] = s->tendons->pairs[k];
  return count;
}
static int standing_count(const Sim* s) {
  return (s->closures ? s->closures->pair_count : 0) + (s->tendons ? s->tendons->pair_count : 0);
}

/* They are in order already where trees are single bodies. */
static void sort_keys(uint64_t* keys, int count) {
  int sorted = 1;
  while (sorted < count && keys[sorted - 1] <= keys[sorted]) sorted++;
  if (sorted < count) qsort(keys, (size_t)count, sizeof(uint64_t), order_uint64);
}

/* Sorts the keys and drops those that the pattern has. Returns how many are left. */
static int new_couplings(const Sim* s, uint64_t* keys, int count) {
  sort_keys(keys, count);
  int left = 0, j = 0;
  for (int k = 0; k < count; k++) {
    while (j < s->known_couplings && s->couplings[j] < keys[k]) j++;
    bool known = j < s->known_couplings && s->couplings[j] == keys[k];
    if (!known && (left == 0 || keys[left - 1] != keys[k])) keys[left++] = keys[k];
  }
  return left;
}

/* The pattern grows by what it lacks: a heap that moves about soon has what it needs. */
static void adopt_couplings(Sim* s, uint64_t* keys, int count) {
  int fresh = new_couplings(s, keys, count);
  if (fresh == 0 && s->pattern_set) return;
  int total = s->known_couplings + fresh;
  if (total > s->coupling_capacity) {
    int capacity = total + total / 2 + 16;
    s->couplings = memory_resize(s->couplings, sizeof(uint64_t) * (size_t)s->coupling_capacity,
                                 sizeof(uint64_t) * (size_t)capacity);
    s->coupling_capacity = capacity;
  }
  for (int old = s->known_couplings, k = total; fresh > 0; k--) { /* merged from behind */
    bool known = old > 0 && s->couplings[old - 1] > keys[fresh - 1];
    s->couplings[k - 1] = known ? s->couplings[--old] : keys[--fresh];
  }
  s->known_couplings = total;
  s->pattern_set = true;
  block_solver_pattern(s->solver, s->couplings, total);
  for (int n = 0; n < s->scope.tree_count; n++) s->stale_blocks[n] = true;
}

static void update_pattern(Sim* s) {
  int version = s->contact ? contact_version(s->contact) : 0;
  if (version == s->pattern_version) return;
  int count = 0, candidates = s->contact ? contact_candidate_count(s->contact) : 0;
  uint64_t* keys = room_for_couplings(s, candidates + standing_count(s));
  count = add_standing(s, keys, count);
  for (int k = 0; k < candidates; k++) {
    int a, b;
    contact_candidate(s->contact, k, &a, &b);
    count = add_coupling(s, a, b, keys, count);
  }
  adopt_couplings(s, keys, count);
  s->pattern_version = version;
}

void step_pattern(Sim* s, ContactTermList contact) {
  int count = 0, terms = contact.holder ? contact.count(contact.holder) : 0;
  uint64_t* keys = room_for_couplings(s, terms + standing_count(s));
  count = add_standing(s, keys, count);
  for (int k = 0; k < terms; k++) {
    ContactTerms t = contact.at(contact.holder, k);
    count = add_coupling(s, t.link_a, t.link_b, keys, count);
  }
  adopt_couplings(s, keys, count);
}

void step_all_stale(Sim* s) {
  s->all_stale = true;
  for (int n = 0; n < s->scope.tree_count; n++) s->stale[s->scope.trees[n]] = s->stale_blocks[n] = true;
}

/* The trees of these pairs if one of them is among `trees`. */
static void spread_stale(Sim* s, ContactTermList contact, const bool* trees) {
  int count = contact.holder ? contact.count(contact.holder) : 0;
  for (int k = 0; k < count; k++) {
    ContactTerms t = contact.at(contact.holder, k);
    int a = s->model->link_tree[t.link_a], b = s->model->link_tree[t.link_b];
    if (!((a >= 0 && trees[a]) || (b >= 0 && trees[b]))) continue;
    if (a >= 0) s->stale[a] = true;
    if (b >= 0) s->stale[b] = true;
  }
}

void step_moved_stale(Sim* s) {
  for (int n = 0; n < s->scope.tree_count; n++) {
    int k = s->scope.trees[n];
    s->stale[k] = s->stale[k] || s->moving[k];
  }
  spread_stale(s, contact_term_list(s->contact), s->moving);
}

static void mark_stale(Sim* s, const bool* links) {
  for (int n = 0; n < s->scope.link_count; n++) {
    int i = s->scope.links[n];
    if (links[i] && s->model->link_tree[i] >= 0) s->stale[s->model->link_tree[i]] = true;
  }
}

/* What is assembled now is up to date, but for what closures and tendons act on, whose terms change where nothing
 * moves; its part of the Hessian is not yet. */
static void assembled(Sim* s) {
  s->all_stale = false;
  for (int n = 0; n < s->scope.tree_count; n++) {
    int k = s->scope.trees[n];
    s->stale_blocks[n] = s->stale_blocks[n] || s->stale[k];
    s->noted[k] = s->noted[k] && !s->stale[k];
    s->stale[k] = s->always_stale[k];
  }
}

void step_link_terms(Sim* s, int i) {
  const Model* m = s->model;
  const Configuration* c = &s->configuration[s->current];
  model_link_screws(m, i, c->q, c->pose, s->screws);
  s->reference[i] = pose_apply(c->pose[i], m->links[i].center);
  if (m->links[i].tree >= 0) {
    inertia_terms(&m->links[i], c->pose[i], s->target[i], step_inertia_weight(s), &s->link_terms[i]);
    damp_terms(s, i, &s->link_terms[i]);
  } else
    memset(&s->link_terms[i], 0, sizeof(LinkTerms));
}

static void terms_of_link(void* context, int index, int thread) {
  (void)thread;
  Sim* s = context;
  int i = s->scope.links[index];
  if (step_is_stale(s, i)) step_link_terms(s, i);
}

static void link_terms(Sim* s) {
  const Configuration* c = &s->configuration[s->current];
  parallel_for(s->options.threads, s->scope.link_count, TREES_PARALLEL, TREES_GRAIN, terms_of_link, s);
  if (s->closures) closures_assemble(s->closures, c->pose, c->q, s->reference, s->screws, step_inertia_weight(s));
  if (s->tendons) tendons_assemble(s->tendons, c->pose, s->reference, s->screws);
}

void step_closure_slopes(Sim* s) {
  const Configuration* c = &s->configuration[s->current];
  if (s->closures) closures_find_slopes(s->closures, c->pose, c->q, s->reference, s->screws, step_inertia_weight(s));
}

static void list_terms(Sim* s, ContactTermList contact, Assembly* a) {
  *a = (Assembly){.model = s->model,
                  .scope = &s->scope,
                  .threads = s->options.threads,
                  .stiffening = 1,
                  .tree_first = s->tree_first,
                  .tree_links = s->tree_links,
                  .sides = &s->sides,
                  .screws = s->screws,
                  .reference = s->reference,
                  .links = s->link_terms,
                  .joints = s->configuration[s->current].joints,
                  .contact = contact,
                  .closures = closures_terms(s->closures),
                  .tendons = tendons_terms(s->tendons),
                  .stale = s->all_stale ? NULL : s->stale};
  closures_couple(s->closures, a);
  tendons_couple(s->tendons, a);
  assembly_find_sides(a, &s->sides);
}

/* After the forces at work have been measured, of which loads are not part yet. */
static void gather(Sim* s, Assembly* a) {
  const Model* m = s->model;
  const Configuration* c = &s->configuration[s->current];
  for (int n = 0; s->loads && n < s->scope.link_count; n++) {
    int i = s->scope.links[n];
    if (s->loads[i].any && step_is_stale(s, i))
      load_add_terms(&s->loads[i], &m->links[i], c->pose[i], &s->link_terms[i]);
  }
  assemble_gradient(a, s->gradient);
  a->stale = NULL;
  assembled(s);
}

void step_assemble(Sim* s, ContactTermList contact, Assembly* a) {
  link_terms(s);
  list_terms(s, contact, a);
  balance_measure(s, a);
  gather(s, a);
}

void step_assemble_unmeasured(Sim* s, ContactTermList contact, Assembly* a) {
  step_all_stale(s);
  link_terms(s);
  list_terms(s, contact, a);
  gather(s, a);
  step_closure_slopes(s);
}

static void assemble(Sim* s, Assembly* a) { step_assemble(s, contact_term_list(s->contact), a); }

/* How far the prescribed joints still have to go; returns whether they have arrived. */
static bool prescribed_step(Sim* s, double* step) {
  bool arrived = true;
  if (s->fixed_count == 0) return true;
  const double* q = s->configuration[s->current].q;
  for (int i = 0; i < s->model->link_count; i++) {
    const ModelLink* link = &s->model->links[i];
    if (link->prescribed < 0) continue;
    joint_difference(&link->joint, q + link->coordinate_first, s->prescribed + link->coordinate_first,
                     step + link->dof_first);
    for (int k = 0; k < link->dof_count; k++)
      arrived = arrived && fabs(step[link->dof_first + k]) < 1e-13 * (1 + fabs(q[link->coordinate_first + k]));
  }
  return arrived;
}

/* ---------------------------------------------------------------- directions, component by component */

/* How a component's matrix is factored. */
typedef enum { FACTOR_PLAIN, FACTOR_LIFTED } Factor;

typedef struct {
  Sim* s;
  Factor factor;
} ComponentTask;

/* Smallest positive diagonal entry: what eigenvalues are small against. */
static double smallest_diagonal(const Sim* s, int component) {
  double smallest = INFINITY;
  for (int n = 0; n < s->scope.tree_count; n++) {
    int stride, k = s->scope.trees[n];
    if (s->component[k] != component) continue;
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
  if (!s->wanted_component[index]) return;
  bool ok = task->factor == FACTOR_LIFTED ? block_solver_factor_component_lifted(s->solver, index, s->lift[index])
                                          : block_solver_factor_component(s->solver, index);
  if (ok) block_solver_solve_component(s->solver, index, s->solution);
  s->solved_component[index] = ok;
}

/* The components of the filled matrix in which some tree is wanted. */
static int find_wanted(Sim* s, Factor factor) {
  int count = block_solver_component_count(s->solver);
  for (int c = 0; c < count; c++) s->wanted_component[c] = false;
  for (int n = 0; n < s->scope.tree_count; n++) {
    int k = s->scope.trees[n];
    s->component[k] = block_solver_component_of(s->solver, n);
    if (s->wanted[k]) s->wanted_component[s->component[k]] = true;
  }
  if (s->closures) closures_spread(s->closures, s->solver, s->wanted_component);
  for (int c = 0; factor == FACTOR_LIFTED && c < count; c++)
    if (s->wanted_component[c]) s->lift[c] = EIGENVALUE_FLOOR * smallest_diagonal(s, c);
  return count;
}

/* Multipliers with which the direction closes, and the gradient with them (Z3). What closures join is solved together
 * or not at all. */
static void close_direction(Sim* s, int components) {
  ClosureSystem* c = s->closures;
  bool any = false;
  for (int k = 0; k < components; k++) {
    s->failed_component[k] = !(s->wanted_component[k] && s->solved_component[k]);
    any = any || s->failed_component[k];
  }
  if (any) closures_spread(c, s->solver, s->failed_component);
  for (int k = 0; k < components; k++) s->solved_component[k] = !s->failed_component[k];
  (void)closures_solve(c, s->solver, s->solved_component, s->fixed, c->value, s->solution, c->change);
  closures_add_force(c, c->change, s->gradient);
  for (int k = 0; k < c->row_count; k++) c->multiplier[k] += c->change[k];
}

/* Rows and columns that are out of date. Prescribed degrees of freedom are taken out of the matrix: it is filled anew.
 * The stiffness of closures has no part in the direction (Z3): as much of it is put in as makes the rest definite. */
static void fill_hessian(Sim* s, const Assembly* a, bool curvature) {
  Assembly own = *a;
  if (s->closures) own.stiffening = s->closures->stiffening;
  if (own.stiffening == 0) own.rows_count = own.coupling_count = 0;
  for (int n = 0; n < s->scope.tree_count; n++)
    s->stale_blocks[n] = s->stale_blocks[n] || s->always_stale[s->scope.trees[n]];
  own.stale_blocks = s->fixed_count > 0 || s->holds ? NULL : s->stale_blocks;
  own.held = s->holds ? s->held : NULL;
  assemble_hessian(&own, curvature, s->solver);
  for (int n = 0; n < s->scope.tree_count && (curvature || s->holds); n++) s->stale_blocks[n] = s->holds;
}

/* b, by unknowns of the matrix. */
static void fill_right_side(Sim* s) {
  for (int n = 0; n < s->scope.tree_count; n++) {
    const ModelTree* tree = &s->model->trees[s->scope.trees[n]];
    double* own = s->solution + s->scope.dof_first[n];
    for (int d = 0; d < tree->dof_count; d++) own[d] = -s->gradient[tree->dof_first + d];
  }
}

/* H delta = -g for the components with a wanted tree; the others keep their delta. Trees that got one are not wanted
 * any more. Returns whether all did. */
static bool solve_wanted(Sim* s, const Assembly* a, bool curvature, Factor factor) {
  const Model* m = s->model;
  double start = timer_now();
  step_closure_slopes(s);
  fill_hessian(s, a, curvature);
  fill_right_side(s);
  if (s->closures) closures_add_stiff_force(s->closures, 1 - s->closures->stiffening, s->solution);
  if (s->fixed_count > 0) block_solver_constrain(s->solver, s->fixed, s->rhs, s->solution);
  double middle = timer_now();
  s->times.assembly += middle - start;
  int count = find_wanted(s, factor);
  ComponentTask task = {s, factor};
  parallel_for(s->options.threads, count, COMPONENTS_PARALLEL, COMPONENTS_GRAIN, solve_component, &task);
  if (s->closures) close_direction(s, count);
  bool all = true;
  for (int n = 0; n < s->scope.tree_count; n++) {
    int k = s->scope.trees[n], c = s->component[k];
    const ModelTree* tree = &m->trees[k];
    const double* own = s->solution + s->scope.dof_first[n];
    if (!s->wanted_component[c]) continue;
    bool finite = s->solved_component[c];
    for (int d = 0; d < tree->dof_count; d++) finite = finite && isfinite(own[d]);
    s->wanted[k] = !finite;
    all = all && finite;
    if (finite && tree->dof_count > 0)
      memcpy(s->delta + tree->dof_first, own, sizeof(double) * (size_t)tree->dof_count);
  }
  s->times.factor += timer_now() - middle;
  return all;
}

/* Twist (w, v) of a link about its centre of mass while the joints go along s->delta. */
static void find_twist(Sim* s, int i) {
  const ModelLink* link = &s->model->links[i];
  Vec3 w = {0, 0, 0}, v = {0, 0, 0};
  if (link->parent >= 0) {
    const double* up = s->twist[link->parent];
    w = vec3(up[0], up[1], up[2]);
    v = vec3_add(vec3(up[3], up[4], up[5]), vec3_cross(w, vec3_sub(s->reference[i], s->reference[link->parent])));
  }
  for (int k = link->dof_first; k < link->dof_first + link->dof_count; k++) {
    w = vec3_add_scaled(w, s->delta[k], s->screws[k].w);
    v = vec3_add_scaled(v, s->delta[k], screw_velocity(&s->screws[k], s->reference[i]));
  }
  double own[6] = {w.x, w.y, w.z, v.x, v.y, v.z};
  memcpy(s->twist[i], own, sizeof(own));
}

static void twist_tree(void* context, int index, int thread) {
  (void)thread;
  Sim* s = context;
  int tree = s->scope.trees[index];
  bool still = step_tree_still(s, tree, s->delta);
  for (int n = s->tree_first[tree]; n < s->tree_first[tree + 1]; n++)
    if (still)
      memset(s->twist[s->tree_links[n]], 0, sizeof(double[6]));
    else
      find_twist(s, s->tree_links[n]);
}

static void find_twists(Sim* s) {
  for (int i = 0; i < s->model->link_count && s->scope.whole; i++)
    if (s->model->links[i].tree < 0) find_twist(s, i);
  parallel_for(s->options.threads, s->scope.tree_count, TREES_PARALLEL, TREES_GRAIN, twist_tree, s);
}

/* Islands in which delta does not descend well keep the Newton step, which does. */
static void keep_descent(Sim* s) {
  for (int k = 0; k < s->island_count; k++) s->islands[k].slope = s->islands[k].change = 0;
  for (int n = 0; n < s->scope.tree_count; n++) {
    int k = s->scope.trees[n];
    const ModelTree* tree = &s->model->trees[k];
    Island* island = &s->islands[s->island[k]];
    for (int d = tree->dof_first; d < tree->dof_first + tree->dof_count; d++) {
      island->slope += s->gradient[d] * s->delta[d];
      island->change += s->gradient[d] * s->newton_delta[d];
    }
  }
  for (int n = 0; n < s->scope.tree_count; n++) {
    int k = s->scope.trees[n];
    const ModelTree* tree = &s->model->trees[k];
    const Island* island = &s->islands[s->island[k]];
    if (island->slope < LEAST_DESCENT * island->change) continue;
    memcpy(s->delta + tree->dof_first, s->newton_delta + tree->dof_first, sizeof(double) * (size_t)tree->dof_count);
  }
}

/* The trees of the marked links, and no others. */
static void want_marked(Sim* s) {
  for (int n = 0; n < s->scope.tree_count; n++) s->wanted[s->scope.trees[n]] = false;
  for (int n = 0; n < s->scope.link_count; n++) {
    int i = s->scope.links[n];
    int tree = s->model->link_tree[i];
    if (s->marked_link[i] && tree >= 0) s->wanted[tree] = !hold_is_held(s, tree);
  }
}

void step_copy_scope(const Sim* s, double* to, const double* from) {
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

void step_relieve(Sim* s) {
  if (!s->contact) return;
  find_twists(s);
  if (contact_relieve(s->contact, (const double(*)[6])s->twist, s->marked_link) == 0) return;
  Assembly a;
  want_marked(s);
  step_copy_scope(s, s->newton_delta, s->delta);
  step_copy_scope(s, s->true_gradient, s->gradient);
  step_copy_scope(s, s->true_work, s->at_work);
  if (s->closures) closures_keep(s->closures);
  mark_stale(s, s->marked_link);
  step_assemble(s, contact_model_list(s->contact), &a);
  (void)solve_wanted(s, &a, true, FACTOR_PLAIN); /* trees that get none keep their Newton step */
  if (s->closures) closures_put_back(s->closures);
  step_copy_scope(s, s->gradient, s->true_gradient);
  step_copy_scope(s, s->at_work, s->true_work);
  mark_stale(s, s->marked_link);
  keep_descent(s);
}

/* Trees that are not in balance, or whose prescribed joints are under way; the others stay where they are. */
static void want_unbalanced(Sim* s) {
  const Model* m = s->model;
  for (int n = 0; n < s->scope.tree_count; n++) {
    int k = s->scope.trees[n];
    const ModelTree* tree = &m->trees[k];
    s->wanted[k] = false;
    for (int d = tree->dof_first; d < tree->dof_first + tree->dof_count; d++) {
      s->wanted[k] = s->wanted[k] || (s->fixed[d] ? s->rhs[d] != 0 : !balance_reached(s, d));
      s->delta[d] = 0;
    }
    s->wanted[k] = s->wanted[k] && !hold_is_held(s, k);
  }
  for (int k = 0; s->closures && k < s->closures->count; k++)
    if (!closure_holds(s->closures, k)) s->wanted[s->model->links[closure_link(s->closures, k)].tree] = true;
}

/* Newton direction in s->delta. An indefinite Hessian is first made definite where it is cheap and tells most: the
 * curvature of the motion is left out (Gauss-Newton) and each pair of bodies gets its nearest semidefinite Hessian.
 * Only if that is not enough are eigenvalues of the whole lifted. Each component goes its own way. */
static bool solve_direction(Sim* s, Assembly* a, StepReport* report) {
  double start = timer_now();
  update_pattern(s);
  block_solver_hold_new_orders(s->solver, !s->holds);
  s->times.assembly += timer_now() - start;
  want_unbalanced(s);
  if (solve_wanted(s, a, true, FACTOR_PLAIN)) return true;
  while (s->closures && closures_stiffen(s->closures))
    if (solve_wanted(s, a, true, FACTOR_PLAIN)) return true;
  report->factor_retries++;
  for (int n = 0; n < s->scope.link_count; n++) {
    int i = s->scope.links[n], tree = s->model->link_tree[i];
    s->marked_link[i] = tree >= 0 && s->wanted[tree];
  }
  if (s->contact) contact_project(s->contact, s->marked_link);
  if (s->closures) closures_straighten(s->closures, s->marked_link);
  mark_stale(s, s->marked_link);
  assemble(s, a);
  return solve_wanted(s, a, false, FACTOR_PLAIN) || solve_wanted(s, a, false, FACTOR_LIFTED);
}

/* ---------------------------------------------------------------- the loop */

static void report_terms(Sim* s, StepReport* report) {
  const Configuration* c = &s->configuration[s->current];
  const Model* m = s->model;
  for (int i = 0; i < m->link_count; i++) {
    const ModelLink* link = &m->links[i];
    if (link->tree >= 0) {
      Vec3 center = pose_apply(c->pose[i], link->center);
      report->terms.gravity -= link->mass * vec3_dot(model_link_gravity(m, i), center);
      report->terms.inertia += c->inertia[i];
    }
    if (link->dof_count == 0) continue;
    report->terms.controller += c->joints[i].controller;
    report->terms.limit += c->joints[i].limit;
    report->terms.damping += c->joints[i].damping;
    report->terms.inertia += c->joints[i].inertia;
  }
  if (!s->contact) return;
  contact_energy(s->contact, &report->terms.contact, &report->terms.friction);
  report->terms.stored = contact_stored(s->contact);
  report->active_pairs = contact_active_count(s->contact);
  report->candidate_pairs = contact_candidate_count(s->contact);
}

/* What the rounds of Newton's method before this one came to. */
typedef struct {
  double residual;    /* of the last */
  double gap;         /* of closures: what the largest was halved to last, without unit */
  int rounds_as_open; /* since then */
  int rounds_blind;   /* that the energies could not tell, and that left more than BLIND_MUCH */
  bool at_rounding;   /* the last has left no more than the roundings of the coordinates do */
} NewtonProgress;

/* Rounds after which what has not come down to half of what it was open by is not expected to close: where a loop can
 * be closed Newton's method does it in a few. */
enum { ROUNDS_AS_OPEN = 60 };

static bool stalls(NewtonProgress* progress, double gap) {
  bool halved = !(gap > 0.5 * progress->gap);
  progress->rounds_as_open = halved ? 0 : progress->rounds_as_open + 1;
  if (halved) progress->gap = gap;
  return progress->rounds_as_open >= ROUNDS_AS_OPEN;
}

static void tell_open(const ClosureSystem* c, StepReport* report) {
  closures_gap(c, &report->open_closure);
  report->outcome = STEP_OPEN;
  report->open_gap = closure_open_by(c, report->open_closure);
}

/* At the floor of the objective nothing closes any more what Newton's method has not closed; nor where it stalls. */
static bool stays_open(Sim* s, NewtonProgress* progress, StepReport* report) {
  ClosureSystem* c = s->closures;
  double gap = closures_gap(c, NULL), before = c->gap_before;
  c->gap_before = gap;
  bool floor = report->outcome == STEP_ROUNDING_FLOOR && gap > 0.5 * before;
  if (!stalls(progress, gap) && !floor) return false;
  tell_open(c, report);
  return true;
}

/* A search that fails with a loop open as it has been for some rounds fails for that. */
enum { ROUNDS_OPEN_AT_END = 5 };

static bool fails_open(const Sim* s, const NewtonProgress* progress, const StepReport* report) {
  return s->closures && report->outcome == STEP_LINE_SEARCH && progress->rounds_as_open >= ROUNDS_OPEN_AT_END &&
         closures_gap(s->closures, NULL) > 1;
}

/* Steps that find their solution do so in less; where rounding is all that is left more of them find nothing. */
enum { ITERATIONS_UNTIL_ROUNDING = 12 };

/* The bound of the energies' rounding may be a thousand times what it is. Where a round that they could not tell did
 * not halve the residual, it has come to what rounding leaves; where it is above this only if the forces' rounding says
 * so too, or after several. */
#define BLIND_MUCH 1e-8
enum { ROUNDS_BLIND = 12 };

static bool ends_blind(const Sim* s, const Assembly* a, NewtonProgress* before, const StepReport* report) {
  if (report->outcome != STEP_ROUNDING_FLOOR || !(report->residual > 0.5 * before->residual)) return false;
  if (s->damped) return false; /* its step was a part of Newton's */
  if (report->residual <= BLIND_MUCH) return true;
  before->at_rounding = balance_at_rounding(s, a);
  return before->at_rounding || ++before->rounds_blind >= ROUNDS_BLIND;
}

/* A round that held trees and found nothing to gain says nothing of the others: they move from now on. */
static bool held_in_vain(Sim* s, StepSearch found, StepReport* report) {
  if (!s->holds || found == SEARCH_ACCEPTED) return false;
  s->hold_rounds = -1;
  report->iterations++;
  report->outcome = STEP_MAX_ITERATIONS;
  return true;
}

/* One round: residual, direction, search. Returns true when the loop is over. */
static bool newton_round(Sim* s, NewtonProgress* before, StepReport* report) {
  Assembly a;
  double start = timer_now();
  bool arrived = prescribed_step(s, s->rhs);
  if (s->closures) closures_bend(s->closures);
  if (s->closures) closures_begin_round(s->closures, report->iterations, s->tolerance);
  assemble(s, &a);
  s->times.assembly += timer_now() - start;
  report->residual = balance_residual(s, &report->residual_dof);
  report->residual_force = report->residual_dof < 0 ? 0 : fabs(s->gradient[report->residual_dof]);
  if (!isfinite(report->residual)) {
    report->outcome = STEP_NOT_FINITE;
    return true;
  }
  bool closed = closures_gap(s->closures, NULL) <= 1;
  bool enough = arrived && closed && report->residual <= s->tolerance;
  if (enough && balance_of_machines(s)) {
    report->outcome = STEP_CONVERGED;
    return true;
  }
  if (arrived && closed && ends_blind(s, &a, before, report)) return true;
  if (arrived && !closed && stays_open(s, before, report)) return true;
  /* near the origin the rounding of contact's forces leaves little, which the energies tell */
  const Assembly* stiff = report->residual > BLIND_MUCH ? &a : NULL;
  if (arrived && closed && report->iterations >= ITERATIONS_UNTIL_ROUNDING && balance_at_rounding(s, stiff)) {
    before->at_rounding = true;
    report->outcome = STEP_ROUNDING_FLOOR;
    return true;
  }
  bool first = isinf(before->residual);
  before->residual = report->residual;
  if (report->iterations == s->iteration_limit) { /* as many as are allowed */
    before->at_rounding = report->outcome == STEP_ROUNDING_FLOOR && balance_at_rounding(s, &a);
    return true;
  }
  if (first && s->model->simulation.max_iterations > 0 && step_repeat_last(s, report)) return false;
  report->outcome = STEP_NOT_FINITE;
  hold_choose(s);
  if (!solve_direction(s, &a, report)) return true;
  StepSearch found = step_search(s, arrived, report);
  if (held_in_vain(s, found, report)) return false;
  if (found == SEARCH_LEAVES) {
    report->outcome = STEP_MAX_ITERATIONS; /* of those that it was given */
    return true;
  }
  report->outcome = arrived ? STEP_LINE_SEARCH : STEP_BLOCKED;
  if (arrived && (found == SEARCH_LOST || found == SEARCH_FAILED)) before->at_rounding = balance_at_rounding(s, &a);
  if (arrived && (found == SEARCH_LOST || (closed && before->at_rounding))) report->outcome = STEP_ROUNDING_FLOOR;
  if (found == SEARCH_LOST || found == SEARCH_FAILED) {
    if (enough) report->outcome = STEP_CONVERGED; /* more was asked of a foretold step than the tolerance does */
    return true;
  }
  report->iterations++;
  report->outcome = found == SEARCH_AT_ROUNDING ? STEP_ROUNDING_FLOOR : STEP_MAX_ITERATIONS;
  return false;
}

void step_rounds(Sim* s, StepReport* report) {
  NewtonProgress before = {INFINITY, INFINITY, 0, 0, false};
  s->holds = false;
  s->hold_rounds = 0;
  for (int k = 0; k <= s->iteration_limit; k++)
    if (newton_round(s, &before, report)) break;
  damp_reset(s);
  if (fails_open(s, &before, report)) tell_open(s->closures, report);
  /* Rounding may leave a little that cannot be solved; where it leaves much, shorter steps will say what is right. */
  bool much = report->outcome == STEP_ROUNDING_FLOOR && report->residual > FLOOR_MOST;
  if (much && !before.at_rounding) report->outcome = STEP_LINE_SEARCH;
}

StepReport step_solve(Sim* s) {
  StepReport report = {.outcome = STEP_MAX_ITERATIONS, .residual_dof = -1};
  if (s->model->dof_count == 0) {
    report.outcome = STEP_CONVERGED;
    return report;
  }
  if (s->closures) closures_begin(s->closures);
  Configuration* c = &s->configuration[s->current];
  step_all_stale(s);
  for (int i = 0; i < s->model->link_count; i++) s->same[i] = false;
  memcpy(s->configuration[1 - s->current].q, c->q, sizeof(double) * (size_t)s->model->coordinate_count);
  if (!configuration_evaluate(s, c)) {
    report.outcome = STEP_NOT_FINITE;
    return report;
  }
  int most = parts_solve(s, &report);
  if (report.outcome == STEP_MAX_ITERATIONS) step_rounds(s, &report); /* else the parts were all */
  report.iterations = most > report.iterations ? most : report.iterations;
  if (s->closures && report.outcome == STEP_ROUNDING_FLOOR && closures_gap(s->closures, NULL) > 1)
    report.outcome = STEP_MAX_ITERATIONS;
  report_terms(s, &report);
  return report;
}
