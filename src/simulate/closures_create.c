/* Creates the closures of a run, with the degrees of freedom that move each closure and the pairs of trees that each
 * closure couples. */
#include <assert.h>
#include <string.h>

#include "simulate/closures.h"

/* Tolerance of closure errors, relative to the closure's size or in rad. It is far above the rounding of positions and
 * far below any measurable error. */
#define CLOSURE_TOLERANCE 1e-9
/* Upper bound of the closures' tolerance as a fraction of the tolerance of the step, for steps with a very small
 * tolerance. */
#define CLOSURE_TOLERANCE_FACTOR 1e-4

static int chain_length(const Model* m, int link) {
  int count = 0;
  for (int i = link; i >= 0; i = m->links[i].parent) count += m->links[i].dof_count;
  return count;
}

/* Lists in dof the degrees of freedom on the chains from both links to their roots, each once. Sets side[n] to the ends
 * that dof[n] moves, as bits. Returns the number of degrees of freedom. */
static int list_dofs(const Model* m, const ModelClosure* c, int* dof, unsigned char* side) {
  int count = 0;
  for (int end = 0; end < 2; end++)
    for (int i = c->link[end]; i >= 0; i = m->links[i].parent)
      for (int k = m->links[i].dof_first; k < m->links[i].dof_first + m->links[i].dof_count; k++) {
        int at = 0;
        while (at < count && dof[at] != k) at++;
        if (at == count) {
          dof[count] = k;
          side[count++] = 0;
        }
        side[at] |= (unsigned char)(1u << end);
      }
  return count;
}

static int list_coupling_dofs(const ModelCoupling* c, int* dof) {
  memcpy(dof, c->dof, sizeof(int) * (size_t)c->count);
  return c->count;
}

static void create_dof_lists(ClosureSystem* s) {
  const Model* m = s->model;
  int most = 0;
  for (int k = 0; k < s->count; k++)
    for (int end = 0; end < 2; end++)
      most += k < m->closure_count ? chain_length(m, m->closures[k].link[end]) : COUPLING_TERMS;
  s->dof = MEMORY_NEW(int, most);
  s->side = MEMORY_NEW(unsigned char, most);
  s->tree_link = MEMORY_NEW(int, s->count);
  s->dof_first = MEMORY_NEW(int, s->count + 1);
  s->slope_first = MEMORY_NEW(size_t, s->count + 1);
  for (int k = 0; k < s->count; k++) {
    int first = s->dof_first[k], count;
    if (k < m->closure_count)
      count = list_dofs(m, &m->closures[k], s->dof + first, s->side + first);
    else
      count = list_coupling_dofs(closure_coupling(s, k), s->dof + first);
    s->tree_link[k] = m->dof_link[s->dof[first]];
    s->dof_first[k + 1] = first + count;
    s->slope_first[k + 1] = s->slope_first[k] + (size_t)count * (size_t)closure_row_count(s, k);
  }
  s->dof_tree = MEMORY_NEW(int, s->dof_first[s->count]);
  for (int n = 0; n < s->dof_first[s->count]; n++) s->dof_tree[n] = m->links[m->dof_link[s->dof[n]]].tree;
  s->dof_beyond = MEMORY_NEW(int, s->dof_first[s->count]);
  for (int k = 0; k < s->count; k++)
    for (int n = s->dof_first[k + 1] - 1, end = n + 1; n >= s->dof_first[k]; n--) {
      if (n + 1 < end && s->dof_tree[n] != s->dof_tree[n + 1]) end = n + 1;
      s->dof_beyond[n] = end;
    }
  s->slope = MEMORY_NEW(double, s->slope_first[s->count]);
  for (int k = m->closure_count; k < s->count; k++) { /* the derivatives of couplings are constant */
    const ModelCoupling* c = closure_coupling(s, k);
    memcpy(s->slope + s->slope_first[k], c->slope, sizeof(double) * (size_t)c->count);
  }
}

static uint64_t tree_pair(const Model* m, int dof_a, int dof_b) {
  uint64_t a = (uint64_t)m->links[m->dof_link[dof_a]].tree, b = (uint64_t)m->links[m->dof_link[dof_b]].tree;
  return a < b ? a << 32 | b : b << 32 | a;
}

/* Lists all pairs of different trees that a closure couples. Sets group[trees] to the number of the first tree of each
 * group of trees that closures couple, directly or through other trees. */
static void create_tree_pairs(ClosureSystem* s) {
  int capacity = 0;
  for (int k = 0; k < s->count; k++)
    for (int i = s->dof_first[k]; i < s->dof_first[k + 1]; i++)
      for (int j = s->dof_first[k]; j < i; j++) {
        uint64_t key = tree_pair(s->model, s->dof[i], s->dof[j]);
        if (key >> 32 == (key & UINT32_MAX) || (s->pair_count > 0 && s->pairs[s->pair_count - 1] == key)) continue;
        s->pairs = memory_grow_array(s->pairs, sizeof(uint64_t), s->pair_count, &capacity);
        s->pairs[s->pair_count++] = key;
      }
  s->pair_count = sort_unique_uint64(s->pairs, s->pair_count);
  disjoint_sets_init(s->group, s->model->tree_count);
  for (int k = 0; k < s->pair_count; k++)
    disjoint_sets_unite(s->group, (int)(s->pairs[k] >> 32), (int)(s->pairs[k] & UINT32_MAX));
  for (int k = 0; k < s->model->tree_count; k++) s->group[k] = disjoint_sets_find(s->group, k);
}

/* Sets the inverse mass 1/m and the inverse inertia 1/I of both links. The entries of a link that cannot move stay
 * 0. */
static void set_mobility(const Model* m, const ModelClosure* c, ClosureMobility* ease) {
  for (int side = 0; side < 2; side++) {
    if (c->link[side] < 0) continue;
    const ModelLink* link = &m->links[c->link[side]];
    if (link->tree < 0 || !(link->mass > 0)) continue;
    double inertia = 0.5 * mat3_trace(mass_moment_inertia_tensor(&link->moment));
    ease->move[side] = 1 / link->mass;
    ease->turn[side] = inertia > 0 ? 1 / inertia : 0;
  }
}

/* Returns the derivatives, stiffness and moving rows of closure k as a term for the assembly. The arrays belong to s.
 */
static RowTerms row_terms(const ClosureSystem* s, int k) {
  int first = s->dof_first[k], row = s->model->closures[k].row_first;
  return (RowTerms){.count = s->dof_first[k + 1] - first,
                    .dof = s->dof + first,
                    .slope = s->slope + s->slope_first[k],
                    .stiffness = s->stiffness + row,
                    .moves = s->moves + row};
}

ClosureSystem* closures_create(const Model* m, double tolerance) {
  assert(tolerance > 0);
  if (m->closure_row_count == 0) return NULL;
  ClosureSystem* s = MEMORY_NEW(ClosureSystem, 1);
  s->model = m;
  s->exact = fmin(CLOSURE_TOLERANCE, CLOSURE_TOLERANCE_FACTOR * tolerance);
  s->count = m->closure_count + m->coupling_count;
  s->row_count = m->closure_row_count;
  double** of_rows[] = {&s->multiplier,      &s->accepted, &s->saved,        &s->stiffness, &s->value,
                        &s->evaluated_value, &s->change,   &s->target_force, &s->pushed};
  for (size_t k = 0; k < sizeof(of_rows) / sizeof(of_rows[0]); k++) *of_rows[k] = MEMORY_NEW(double, s->row_count);
  s->open = MEMORY_NEW(bool, s->count);
  s->open_saved = MEMORY_NEW(bool, s->count);
  s->convex = MEMORY_NEW(bool, s->count);
  s->done = MEMORY_NEW(bool, s->count);
  s->broken_at = MEMORY_NEW(double, s->count);
  for (int k = 0; k < s->count; k++) s->broken_at[k] = INFINITY;
  bool second = m->simulation.integrator == INTEGRATOR_SECOND_ORDER;
  s->closing_substeps = second ? CLOSING_SUBSTEPS_SECOND_ORDER : CLOSING_SUBSTEPS;
  for (int k = 0; k < m->closure_count; k++) s->limited = s->limited || m->closures[k].force_limit > 0;
  if (s->limited) s->load = MEMORY_NEW(ClosureForceHistory, m->closure_count);
  if (s->limited) s->load_saved = MEMORY_NEW(ClosureForceHistory, m->closure_count);
  for (int k = 0; s->limited && k < m->closure_count; k++)
    s->load[k] = (ClosureForceHistory){.skipped = s->closing_substeps, .opening_fraction = INFINITY};
  s->sum = MEMORY_NEW(ClosureLinkTerms, s->count);
  s->extent = MEMORY_NEW(double, s->count);
  s->gap = MEMORY_NEW(double, s->count);
  s->energy = MEMORY_NEW(double, s->count);
  s->evaluated_q = MEMORY_NEW(double, m->coordinate_count);
  s->evaluated_weight = -1;
  s->tolerance_factor = 1;
  s->attachments = MEMORY_NEW(ClosureAttachments, m->closure_count);
  s->arm = memory_alloc(sizeof(Vec3[2]) * (size_t)m->closure_count);
  s->place = MEMORY_NEW(ClosureRowGeometry, s->row_count);
  s->run = MEMORY_NEW(DofRun, m->tree_count);
  s->active = MEMORY_NEW(int, s->row_count);
  int** of_trees[] = {&s->group, &s->cluster, &s->component, &s->first_tree, &s->solved_for, &s->touched};
  for (size_t k = 0; k < sizeof(of_trees) / sizeof(of_trees[0]); k++) *of_trees[k] = MEMORY_NEW(int, m->tree_count);
  s->touching = MEMORY_NEW(unsigned, m->tree_count);
  s->moved = MEMORY_NEW(unsigned, m->closure_count);
  s->nonzero_rows = MEMORY_NEW(NonzeroRow, s->row_count);
  s->rows = MEMORY_NEW(RowTerms, m->closure_count);
  s->moves = MEMORY_NEW(bool, s->row_count);
  for (int k = 0; k < m->coupling_count; k++) s->moves[m->couplings[k].row] = true;
  s->coupled = MEMORY_NEW(CouplingTerms, m->coupling_count);
  s->mobility = MEMORY_NEW(ClosureMobility, s->count);
  for (int k = 0; k < m->closure_count; k++) set_mobility(m, &m->closures[k], &s->mobility[k]);
  create_dof_lists(s);
  create_tree_pairs(s);
  for (int k = 0; k < m->closure_count; k++) s->rows[k] = row_terms(s, k);
  s->past_increments = MEMORY_NEW(double, 2 * EXTRAPOLATION_STEPS * m->dof_count);
  s->tree_has_closures = MEMORY_NEW(bool, m->tree_count);
  for (int n = 0; n < s->dof_first[s->count]; n++) s->tree_has_closures[s->dof_tree[n]] = true;
  return s;
}

void closures_destroy(ClosureSystem* s) {
  if (!s) return;
  void* owned[] = {s->multiplier,
                   s->accepted,
                   s->saved,
                   s->stiffness,
                   s->value,
                   s->change,
                   s->open,
                   s->open_saved,
                   s->convex,
                   s->done,
                   s->broken_at,
                   s->sum,
                   s->extent,
                   s->run,
                   s->column,
                   s->active,
                   s->dof,
                   s->side,
                   s->matrix,
                   s->right,
                   s->work,
                   s->tree_link,
                   s->unit,
                   s->separation,
                   s->pairs,
                   s->coupled,
                   s->rows,
                   s->moves,
                   s->slope,
                   s->slope_first,
                   s->dof_first,
                   s->gap,
                   s->energy,
                   s->evaluated_q,
                   s->evaluated_value,
                   s->attachments,
                   s->arm,
                   s->place,
                   s->past_increments,
                   s->tree_has_closures};
  for (size_t k = 0; k < sizeof(owned) / sizeof(owned[0]); k++) memory_free(owned[k]);
  memory_free(s->joined);
  memory_free(s->joined_saved);
  memory_free(s->load);
  memory_free(s->load_saved);
  memory_free(s->direction);
  memory_free(s->nonzero_rows);
  memory_free(s->moved);
  memory_free(s->group);
  memory_free(s->cluster);
  memory_free(s->first_tree);
  memory_free(s->dof_tree);
  memory_free(s->dof_beyond);
  memory_free(s->component);
  memory_free(s->solved_for);
  memory_free(s->touched);
  memory_free(s->touching);
  memory_free(s->mobility);
  memory_free(s->target_force);
  memory_free(s->pushed);
  memory_free(s);
}
