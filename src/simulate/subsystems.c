/* Subsystems: groups of small islands of trees that do not interact in a step. Each subsystem is solved separately
 * through all its iterations (docs/derivations/step.md, S17). The data of a subsystem fit into a cache, and threads
 * process whole subsystems without synchronization. Each subsystem needs only its own number of iterations, not the
 * number of the slowest island of the scene. */
#include <assert.h>
#include <string.h>

#include "simulate/sim.h"

/* SUBSYSTEM_LINKS: islands are added to a subsystem until it has this many links. ISLAND_LINKS_MOST: an island with
 * more links is solved with the whole scene, whose loops are divided among the threads. */
enum { SUBSYSTEM_LINKS = 16, ISLAND_LINKS_MOST = 64 };
enum { ROOM = SUBSYSTEM_LINKS + ISLAND_LINKS_MOST, TREE_PAIRS = ROOM * (ROOM - 1) / 2 };

/* Accepted moves of all subsystems that one worker solves in a step, one subsystem after the other. A move consists of
 * the increments of the degrees of freedom of the subsystem's trees. */
struct SubsystemMoves {
  double* deltas;
  size_t count, capacity;
};

typedef struct {
  StepReport report;
  int worker, moves;
  size_t first;     /* index of the first move of the subsystem in the worker's moves */
  bool left_region; /* true if the solution would leave the regions of the subsystem's links */
} SubsystemResult;

/* Data of one worker. The worker owns its contact system, its moves and some arrays of `sim`. All other arrays of `sim`
 * are shared, and no two workers change the same tree. */
typedef struct {
  Sim sim;
  ContactSystem* contact;
  struct SubsystemMoves moves;
} SubsystemWorker;

typedef struct Subsystems {
  int* sets;               /* sets of interacting trees, stored as disjoint sets (size: trees) */
  int* of;                 /* index of the subsystem of each tree, or -1 if the tree is in no subsystem (size: trees) */
  int* size;               /* number of links of each set, stored at the smallest member of the set (size: trees) */
  int* place;              /* index of each tree among the trees of its subsystem (size: trees) */
  int *trees, *tree_first; /* trees: trees in the order of the subsystems (trees); tree_first: index of the first tree
                              of each subsystem (trees + 1) */
  int *links, *link_first; /* links: links in the order of the subsystems (links); link_first: index of the first link
                              of each subsystem (trees + 1) */
  int* dof_first;          /* SolveScope.dof_first for all `trees` (size: trees) */
  int count, assigned_trees; /* count: number of subsystems; assigned_trees: number of trees in subsystems */
  SubsystemResult* result;   /* result of each subsystem (size: trees) */
  SubsystemWorker* worker;
  int worker_count;
} Subsystems;

/* ---------------------------------------------------------------- creation of workers */

static bool can_be_divided(const Sim* s) { return s->contact && s->model->tree_count > 1; }

static void create_worker(SubsystemWorker* w, const Sim* s, int thread) {
  Sim* sim = &w->sim;
  int sizes[ROOM];
  for (int k = 0; k < ROOM; k++) sizes[k] = JOINT_MAX_DOF;
  w->contact = contact_subsystem_create(s->contact, thread);
  sim->solver = block_solver_create(ROOM, sizes);
  sim->island_set.list = MEMORY_NEW(Island, ROOM);
  sim->island_set.refused = MEMORY_NEW(bool, ROOM);
  sim->island_set.group = MEMORY_NEW(int, ROOM);
  sim->trial.moved_trees = MEMORY_NEW(int, ROOM);
  sim->marks.stale_blocks = MEMORY_NEW(bool, ROOM);
  sim->components.wanted = MEMORY_NEW(bool, ROOM);
  sim->components.solved = MEMORY_NEW(bool, ROOM);
  sim->components.lift = MEMORY_NEW(double, ROOM);
  sim->newton.solution = MEMORY_NEW(double, ROOM* JOINT_MAX_DOF);
  sim->marks.link = MEMORY_NEW(bool, s->model->link_count);
  sim->pattern.couplings = MEMORY_NEW(uint64_t, TREE_PAIRS);
  sim->pattern.fresh_couplings = MEMORY_NEW(uint64_t, TREE_PAIRS);
  sim->pattern.capacity = sim->pattern.fresh_capacity = TREE_PAIRS;
}

static void destroy_worker(SubsystemWorker* w) {
  Sim* sim = &w->sim;
  void* const owned[] = {sim->island_set.list,   sim->island_set.refused,      sim->island_set.group,
                         sim->trial.moved_trees, sim->marks.stale_blocks,      sim->components.lift,
                         sim->newton.solution,   sim->components.wanted,       sim->components.solved,
                         sim->pattern.couplings, sim->pattern.fresh_couplings, sim->marks.link,
                         w->moves.deltas};
  for (size_t k = 0; k < sizeof owned / sizeof owned[0]; k++) memory_free(owned[k]);
  block_solver_destroy(sim->solver);
  tree_term_lists_free(&sim->assembly.sides);
  contact_subsystem_destroy(w->contact);
}

void subsystems_create(Sim* s) {
  if (!can_be_divided(s) || !contact_subsystems_create(s->contact)) return;
  const Model* m = s->model;
  Subsystems* p = s->subsystems.parts = MEMORY_NEW(Subsystems, 1);
  p->sets = MEMORY_NEW(int, m->tree_count);
  p->of = MEMORY_NEW(int, m->tree_count);
  p->size = MEMORY_NEW(int, m->tree_count);
  p->place = MEMORY_NEW(int, m->tree_count);
  p->trees = MEMORY_NEW(int, m->tree_count);
  p->tree_first = MEMORY_NEW(int, m->tree_count + 2);
  p->links = MEMORY_NEW(int, m->link_count);
  p->link_first = MEMORY_NEW(int, m->tree_count + 2);
  p->dof_first = MEMORY_NEW(int, m->tree_count);
  p->result = MEMORY_NEW(SubsystemResult, m->tree_count);
  p->worker_count = s->options.threads > 1 ? s->options.threads : 1;
  p->worker = MEMORY_NEW(SubsystemWorker, p->worker_count);
  for (int k = 0; k < p->worker_count; k++) create_worker(&p->worker[k], s, k);
}

void subsystems_destroy(Subsystems* p) {
  if (!p) return;
  for (int k = 0; k < p->worker_count; k++) destroy_worker(&p->worker[k]);
  void* const owned[] = {p->sets,  p->of,         p->size,      p->place,  p->trees, p->tree_first,
                         p->links, p->link_first, p->dof_first, p->result, p->worker};
  for (size_t k = 0; k < sizeof owned / sizeof owned[0]; k++) memory_free(owned[k]);
  memory_free(p);
}

/* ---------------------------------------------------------------- division into subsystems */

/* Returns true if the tree has prescribed joints, closures, couplings, tendons or bushings. Such a tree, and every tree
 * that interacts with it, is solved with the whole scene. */
static bool must_be_solved_with_scene(const Sim* s, int tree) {
  const ModelTree* t = &s->model->trees[tree];
  bool driven = s->marks.always_stale[tree];
  for (int d = t->dof_first; s->prescribed_joints.count > 0 && d < t->dof_first + t->dof_count; d++)
    driven = driven || s->prescribed_joints.is_fixed[d];
  return driven;
}

/* Sets p->size to the number of links of each island. Islands that are solved with the whole scene get a size above
 * ISLAND_LINKS_MOST. */
static void compute_island_sizes(const Sim* s, Subsystems* p) {
  const Model* m = s->model;
  memset(p->size, 0, sizeof(int) * (size_t)m->tree_count);
  for (int k = 0; k < m->tree_count; k++) {
    int* size = &p->size[disjoint_sets_find(p->sets, k)];
    *size += s->trees.first[k + 1] - s->trees.first[k];
    if (must_be_solved_with_scene(s, k) || *size > ISLAND_LINKS_MOST) *size = 2 * ISLAND_LINKS_MOST;
  }
}

/* Assigns the small islands to subsystems, in ascending order. Trees of all other islands get the number -1. */
static void assign_islands(const Sim* s, Subsystems* p) {
  int links = 0;
  p->count = p->assigned_trees = 0;
  for (int k = 0; k < s->model->tree_count; k++) {
    int root = disjoint_sets_find(p->sets, k);
    p->of[k] = root != k ? p->of[root] : p->size[k] > ISLAND_LINKS_MOST ? -1 : p->count;
    p->assigned_trees += p->of[k] >= 0;
    if (root != k || p->of[k] < 0) continue;
    links += p->size[k];
    if (links < SUBSYSTEM_LINKS) continue;
    p->count++;
    links = 0;
  }
  if (links > 0) p->count++;
}

static void list_subsystems(const Sim* s, Subsystems* p) {
  const Model* m = s->model;
  size_t room = sizeof(int) * (size_t)(p->count + 2);
  memset(p->tree_first, 0, room);
  memset(p->link_first, 0, room);
  for (int k = 0; k < m->tree_count; k++) {
    if (p->of[k] < 0) continue;
    p->tree_first[p->of[k] + 2]++;
    p->link_first[p->of[k] + 2] += s->trees.first[k + 1] - s->trees.first[k];
  }
  for (int k = 2; k < p->count + 2; k++) {
    p->tree_first[k] += p->tree_first[k - 1];
    p->link_first[k] += p->link_first[k - 1];
  }
  for (int k = 0; k < m->tree_count; k++) /* advances the start index of each subsystem to the start of the next one */
    if (p->of[k] >= 0) p->trees[p->tree_first[p->of[k] + 1]++] = k;
  for (int i = 0; i < m->link_count; i++)
    if (m->link_tree[i] >= 0 && p->of[m->link_tree[i]] >= 0) p->links[p->link_first[p->of[m->link_tree[i]] + 1]++] = i;
  for (int k = 0; k < p->count; k++)
    for (int n = p->tree_first[k], dof = 0; n < p->tree_first[k + 1]; n++) {
      p->place[p->trees[n]] = n - p->tree_first[k];
      p->dof_first[n] = dof;
      dof += m->trees[p->trees[n]].dof_count;
    }
}

/* Assigns trees to subsystems. Returns true if some island is small enough for a subsystem. */
static bool assign_trees(const Sim* s, Subsystems* p) {
  compute_island_sizes(s, p);
  assign_islands(s, p);
  return p->assigned_trees > 0;
}

/* Finds the subsystems. Returns false if there are none, so that the whole scene must be solved at once. The pairs with
 * contact terms can show this before the regions of the links are computed. */
static bool find_subsystems(Sim* s) {
  Subsystems* p = s->subsystems.parts;
  disjoint_sets_init(p->sets, s->model->tree_count);
  for (int k = 0; k < contact_term_count(s->contact); k++) {
    ContactTerms pair = contact_term(s->contact, k);
    int a = s->model->link_tree[pair.link_a], b = s->model->link_tree[pair.link_b];
    if (a >= 0 && b >= 0) disjoint_sets_unite(p->sets, a, b);
  }
  if (!assign_trees(s, p)) return false;
  contact_subsystems_find(s->contact, s->target, p->sets);
  return assign_trees(s, p);
}

/* ---------------------------------------------------------------- solution of one subsystem */

static void copy_sim_to_worker(SubsystemWorker* w, const Sim* s) {
  Sim buffers = w->sim;
  w->sim = *s;
  w->sim.solver = buffers.solver;
  w->sim.island_set.list = buffers.island_set.list;
  w->sim.island_set.refused = buffers.island_set.refused;
  w->sim.island_set.group = buffers.island_set.group;
  w->sim.trial.moved_trees = buffers.trial.moved_trees;
  w->sim.marks.stale_blocks = buffers.marks.stale_blocks;
  w->sim.components.wanted = buffers.components.wanted;
  w->sim.components.solved = buffers.components.solved;
  w->sim.components.lift = buffers.components.lift;
  w->sim.newton.solution = buffers.newton.solution;
  w->sim.marks.link = buffers.marks.link;
  w->sim.pattern.couplings = buffers.pattern.couplings;
  w->sim.pattern.capacity = buffers.pattern.capacity;
  w->sim.pattern.fresh_couplings = buffers.pattern.fresh_couplings;
  w->sim.pattern.fresh_capacity = buffers.pattern.fresh_capacity;
  w->sim.assembly.sides = buffers.assembly.sides;
  w->sim.contact = w->contact;
  w->sim.subsystems.moves = &w->moves;
  w->sim.options.threads = 1;
  w->sim.prescribed_joints.count = 0;
  w->sim.closures = NULL; /* closures, tendons and bushings act on no tree of a subsystem */
  w->sim.tendons = NULL;
  w->sim.bushings = NULL;
  w->sim.times = (SimTimes){0};
  w->sim.subsystems.parts = NULL;
  w->moves.count = 0;
  contact_subsystem_attach(w->contact, s->contact);
}

static void begin_subsystem(Sim* s, const Subsystems* p, int index) {
  const Model* m = s->model;
  int first = p->tree_first[index], link = p->link_first[index], sizes[ROOM];
  s->scope = (SolveScope){.trees = p->trees + first,
                          .links = p->links + link,
                          .place = p->place,
                          .dof_first = p->dof_first + first,
                          .tree_count = p->tree_first[index + 1] - first,
                          .link_count = p->link_first[index + 1] - link};
  for (int n = 0; n < s->scope.tree_count; n++) sizes[n] = m->trees[s->scope.trees[n]].dof_count;
  block_solver_reshape(s->solver, s->scope.tree_count, sizes);
  s->pattern.version = -1;
  s->pattern.is_set = s->subsystems.leaves_region = false;
  s->pattern.known_couplings = 0;
  step_mark_all_stale(s);
}

/* Copies configuration `from` of the links in the scope to the other of the two configurations. */
static void copy_configuration_of_scope(Sim* s, int from) {
  const Configuration* a = &s->configuration[from];
  Configuration* b = &s->configuration[1 - from];
  for (int n = 0; n < s->scope.link_count; n++) {
    int i = s->scope.links[n];
    const ModelLink* link = &s->model->links[i];
    size_t size = sizeof(double) * (size_t)link->coordinate_count;
    if (size > 0) memcpy(b->q + link->coordinate_first, a->q + link->coordinate_first, size);
    b->pose[i] = a->pose[i];
    b->inertia[i] = a->inertia[i];
    b->joints[i] = a->joints[i];
    s->trial.same[i] = true;
  }
}

static void solve_subsystem(void* context, int index, int thread) {
  Sim* whole = context;
  Subsystems* p = whole->subsystems.parts;
  SubsystemWorker* w = &p->worker[thread];
  SubsystemResult* result = &p->result[index];
  Sim* s = &w->sim;
  s->current = whole->current;
  begin_subsystem(s, p, index);
  contact_subsystem_begin(s->contact, whole->contact, index, s->scope.links, s->scope.link_count);
  *result = (SubsystemResult){.report = step_unsolved(0), .worker = thread, .first = w->moves.count};
  newton_iterate(s, &result->report);
  result->left_region = s->subsystems.leaves_region;
  int dofs = block_solver_order(s->solver);
  if (dofs > 0) result->moves = (int)((w->moves.count - result->first) / (size_t)dofs);
  contact_subsystem_end(s->contact, whole->contact);
  if (s->current == whole->current) copy_configuration_of_scope(s, s->current);
}

void subsystem_add_move(Sim* s) {
  assert(s->subsystems.moves);
  struct SubsystemMoves* to = s->subsystems.moves;
  size_t dofs = (size_t)block_solver_order(s->solver);
  if (to->count + dofs > to->capacity) {
    size_t capacity = 2 * (to->count + dofs) + 64;
    to->deltas = memory_resize(to->deltas, sizeof(double) * to->capacity, sizeof(double) * capacity);
    to->capacity = capacity;
  }
  for (int n = 0; n < s->scope.tree_count; n++) {
    const ModelTree* t = &s->model->trees[s->scope.trees[n]];
    for (int d = 0; d < t->dof_count; d++) to->deltas[to->count++] = s->newton.scaled[t->dof_first + d];
  }
}

/* ---------------------------------------------------------------- solution of all subsystems */

static void set_immovable_links(Sim* s) {
  const Model* m = s->model;
  const Configuration* a = &s->configuration[s->current];
  Configuration* b = &s->configuration[1 - s->current];
  for (int i = 0; i < m->link_count; i++) {
    if (m->links[i].tree >= 0) continue;
    s->island_set.of_link[i] = -1;
    b->pose[i] = a->pose[i];
    b->inertia[i] = a->inertia[i];
    b->joints[i] = a->joints[i];
    s->trial.same[i] = true;
    step_link_terms(s, i);
    memset(s->assembly.twist[i], 0, sizeof(s->assembly.twist[i]));
    motion_bounds_of_link(m, i, a->q, a->pose, s->assembly.screws, s->newton.delta, &s->certificate.bounds);
  }
}

/* Appends the moves of all subsystems to the recorded path. The first moves of all subsystems form one move of the
 * scene, then the second moves, and so on. */
static void append_moves_of_subsystems(Sim* s) {
  const Subsystems* p = s->subsystems.parts;
  int rows = 0;
  for (int k = 0; k < p->count; k++) rows = p->result[k].moves > rows ? p->result[k].moves : rows;
  for (int row = 0; row < rows; row++) {
    double* to = path_append_zero_move(s);
    for (int k = 0; k < p->count && to; k++) {
      const SubsystemResult* r = &p->result[k];
      if (row >= r->moves) continue;
      int last = p->tree_first[k + 1] - 1;
      size_t dofs = (size_t)p->dof_first[last] + (size_t)s->model->trees[p->trees[last]].dof_count;
      const double* from = p->worker[r->worker].moves.deltas + r->first + (size_t)row * dofs;
      for (int n = p->tree_first[k]; n <= last; n++) {
        const ModelTree* t = &s->model->trees[p->trees[n]];
        for (int d = 0; d < t->dof_count; d++) to[t->dof_first + d] = *from++;
      }
    }
  }
}

/* Copies the configuration of trees outside of all subsystems to the other configuration, because these trees have
 * not moved. Also copies the values of closures, tendons and bushings. */
static void copy_trees_outside(Sim* s) {
  const Configuration* from = &s->configuration[s->current];
  Configuration* to = &s->configuration[1 - s->current];
  if (s->closures) memcpy(to->closures, from->closures, sizeof(double) * (size_t)s->closures->row_count);
  if (s->tendons) memcpy(to->tendons, from->tendons, sizeof(double) * (size_t)s->model->tendon_count);
  if (s->bushings) memcpy(to->bushings, from->bushings, sizeof(double) * (size_t)s->model->bushing_count);
  Sim rest = *s;
  for (int k = 0; k < s->model->tree_count; k++) {
    if (s->subsystems.parts->of[k] >= 0) continue;
    rest.scope.links = s->trees.links + s->trees.first[k];
    rest.scope.link_count = s->trees.first[k + 1] - s->trees.first[k];
    copy_configuration_of_scope(&rest, s->current);
  }
}

static int larger(int a, int b) { return a > b ? a : b; }

static void update_largest_residual(const StepReport* one, StepReport* report) {
  if (!(one->residual > report->residual)) return;
  report->residual = one->residual;
  report->residual_force = one->residual_force;
  report->residual_dof = one->residual_dof;
}

/* Returns true if the subsystem is solved to the tolerance or the rounding floor. Iterations of the whole scene
 * would not improve its solution. */
static bool is_subsystem_solved(const StepReport* one) {
  bool floor = one->outcome == STEP_ROUNDING_FLOOR && one->residual <= ROUNDING_FLOOR_RESIDUAL_MAX;
  return one->outcome == STEP_CONVERGED || floor;
}

/* Returns the largest number of iterations of a subsystem. Adds the counts of the subsystems to *report. Sets the
 * outcome of the step if all trees are solved, or if the step was interrupted. */
static int sum_results(const Sim* s, StepReport* report) {
  const Subsystems* p = s->subsystems.parts;
  int iterations = 0, trials = 0, retries = 0;
  bool all = p->assigned_trees == s->model->tree_count;
  StepOutcome worst = STEP_CONVERGED;
  for (int k = 0; k < p->count; k++) {
    const StepReport* one = &p->result[k].report;
    iterations = larger(iterations, one->iterations);
    trials = larger(trials, one->trials);
    retries = larger(retries, one->factor_retries);
    report->certified_intervals += one->certified_intervals;
    if (!is_subsystem_solved(one)) report->iterations = larger(report->iterations, one->iterations);
    all = all && is_subsystem_solved(one);
    worst = step_worse(worst, one->outcome);
  }
  for (int k = 0; k < p->count && all; k++) update_largest_residual(&p->result[k].report, report);
  if (all || worst == STEP_INTERRUPTED) report->outcome = worst;
  report->trials += trials;
  report->factor_retries += retries;
  return iterations;
}

static void add_worker_times(Sim* s) {
  const Subsystems* p = s->subsystems.parts;
  for (int k = 0; k < p->worker_count; k++) {
    const SimTimes* one = &p->worker[k].sim.times;
    s->times.assembly += one->assembly / p->worker_count;
    s->times.factor += one->factor / p->worker_count;
    s->times.certificate += one->certificate / p->worker_count;
    contact_add_times(s->contact, contact_times(p->worker[k].contact), 1.0 / p->worker_count);
  }
}

int subsystems_left_region(const Sim* s) {
  int count = 0;
  for (int k = 0; s->subsystems.solved_in && k < s->subsystems.parts->count; k++)
    count += s->subsystems.parts->result[k].left_region;
  return count;
}

int subsystems_solve(Sim* s, StepReport* report) {
  Subsystems* p = s->subsystems.parts;
  s->subsystems.solved_in = NULL;
  if (!p || s->iteration_limit < 1) return 0;
  if (!find_subsystems(s)) return 0;
  list_subsystems(s, p);
  set_immovable_links(s);
  contact_subsystems_list(s->contact, p->of, p->count);
  for (int k = 0; k < p->worker_count; k++) copy_sim_to_worker(&p->worker[k], s);
  parallel_for(s->options.threads, p->count, 2, 1, solve_subsystem, s);
  append_moves_of_subsystems(s);
  copy_trees_outside(s);
  contact_subsystems_end(s->contact, s->pose_now);
  s->current = 1 - s->current;
  s->marks.all_stale = false;
  s->subsystems.solved_in = p->of;
  add_worker_times(s);
  return sum_results(s, report);
}
