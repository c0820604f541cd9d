/* Connected components of the filled blocks, and the choice of each component's factorization method. */
#include <assert.h>
#include <string.h>

#include "linalg/block_solver.h"
#include "linalg/front.h"

/* Components up to this order are always factored as dense matrices. */
enum { DENSE_MAX_ORDER = 48 };
/* The multifrontal method is used only if its number of floating-point operations is below this fraction of n^3 / 3,
 * the number of the dense method. The multifrontal method moves more data per operation. */
#define FRONTS_FLOP_SHARE 0.5
/* Limits for using a kept elimination order (block_solver_keep_orders). The cost of an order is the number of
 * floating-point operations of the factorization, divided by the squared number of unknowns. A kept order is used under
 * two conditions: its cost is at most KEPT_ORDER_MAX_FLOPS times its cost when it was computed, and at most the
 * fraction KEPT_ORDER_MAX_UNRANKED of the blocks is new. */
#define KEPT_ORDER_MAX_FLOPS 1.5
#define KEPT_ORDER_MAX_UNRANKED 0.125

static void join_blocks(BlockSolver* s) {
  disjoint_sets_init(s->component, s->block_count);
  for (int k = 0; k < s->coupling_count; k++)
    if (s->filled[k]) disjoint_sets_unite(s->component, s->row[k], s->column[k]);
}

/* Numbers the components by ascending smallest block. Counts the blocks and couplings of each component. */
static void number_components(BlockSolver* s) {
  int count = 0;
  for (int a = 0; a < s->block_count; a++) {
    int root = disjoint_sets_find(s->component, a);
    s->local[a] = root == a ? count++ : s->local[root]; /* the root of a component is its smallest block */
  }
  s->component_count = count;
  memset(s->components, 0, sizeof(Component) * (size_t)(count + 1));
  for (int a = 0; a < s->block_count; a++) {
    Component* c = &s->components[s->component[a] = s->local[a]];
    c->order += s->size[a];
    c->member_first++;
  }
  for (int k = 0; k < s->coupling_count; k++)
    if (s->filled[k]) s->components[s->component[s->row[k]]].coupling_first++;
}

/* Replaces the counts of blocks and couplings of each component by the indices of its first block and first coupling.
 * An additional component marks the end. */
static void accumulate_counts(BlockSolver* s) {
  int member = 0, link = 0, unknown = 0;
  for (int k = 0; k <= s->component_count; k++) {
    Component* c = &s->components[k];
    int members = c->member_first, component_couplings = c->coupling_first;
    c->member_first = member;
    c->coupling_first = link;
    c->unknown_first = unknown;
    member += members;
    link += component_couplings;
    unknown += c->order;
  }
}

static void list_members(BlockSolver* s) {
  for (int a = 0; a < s->block_count; a++) s->members[s->components[s->component[a]].member_first++] = a;
  for (int k = 0; k < s->coupling_count; k++)
    if (s->filled[k]) s->component_couplings[s->components[s->component[s->row[k]]].coupling_first++] = k;
  for (int k = s->component_count; k > 0;
       k--) { /* restores the first indices, which the loops above moved to the ends of their ranges */
    s->components[k].member_first = s->components[k - 1].member_first;
    s->components[k].coupling_first = s->components[k - 1].coupling_first;
  }
  s->components[0].member_first = s->components[0].coupling_first = 0;
}

static void number_locally(BlockSolver* s, const Component* c) {
  int order = 0;
  for (int k = c[0].member_first; k < c[1].member_first; k++) {
    int a = s->members[k];
    s->local[a] = k - c->member_first;
    s->local_size[k] = s->size[a];
    s->local_offset[k + c->coupling_first] = s->offset[a];
    s->local_first[a] = order;
    for (int i = 0; i < s->size[a]; i++) s->unknowns[c->unknown_first + order++] = s->first[a] + i;
  }
  for (int k = c[0].coupling_first; k < c[1].coupling_first; k++) {
    int link = s->component_couplings[k];
    s->local_couplings[k] = (uint64_t)s->local[s->row[link]] << 32 | (uint32_t)s->local[s->column[link]];
    s->local_offset[c[1].member_first + k] = s->offset[s->block_count + link];
  }
}

static PlanPattern component_pattern(const BlockSolver* s, const Component* c) {
  return (PlanPattern){c[1].member_first - c[0].member_first, c[1].coupling_first - c[0].coupling_first,
                       s->local_size + c->member_first, s->local_couplings + c->coupling_first};
}

PlanValues block_component_values(const BlockSolver* s, const Component* c) {
  return (PlanValues){s->values, s->local_offset + c->member_first + c->coupling_first};
}

static bool can_be_sparse(const Component* c) {
  return c[0].order > DENSE_MAX_ORDER && c[1].member_first - c[0].member_first > 1;
}

/* Returns the index of a plan that no current component uses, and makes block `owner` its owner. */
static int acquire_plan(BlockSolver* s, int owner) {
  int slot = 0;
  for (; slot < s->plan_count; slot++) {
    int old = s->plan_owner[slot];
    const Component* c = &s->components[s->component[old]];
    if (s->members[c->member_first] != old || !can_be_sparse(c)) break;
  }
  if (slot == s->plan_count)
    s->plan_count++;
  else
    s->plan_index[s->plan_owner[slot]] = -1;
  s->plan_owner[slot] = owner;
  return slot;
}

/* Returns true if a kept elimination order can be used for the component: it ranks all blocks except at most the
 * fraction KEPT_ORDER_MAX_UNRANKED. Sets local_rank to the ranks of the blocks, and *flops_ratio to the largest ratio
 * stored with the ranks. */
static bool rank_by_kept_order(BlockSolver* s, const Component* c, double* flops_ratio) {
  int count = c[1].member_first - c[0].member_first, unranked = 0;
  if (!s->keeps_orders || count <= ORDERING_SMALL) return false;
  *flops_ratio = 0;
  for (int k = c[0].member_first; k < c[1].member_first; k++) {
    int a = s->members[k];
    s->local_rank[k] = s->rank[a];
    if (s->rank[a] < 0)
      unranked++;
    else
      *flops_ratio = fmax(*flops_ratio, s->flops_ratio[a]);
  }
  return unranked <= KEPT_ORDER_MAX_UNRANKED * count;
}

/* Stores the position (rank) of every block of a component in the elimination order of its symbolic factorization. */
static void keep_order(BlockSolver* s, const Component* c, const Plan* plan) {
  if (!s->keeps_orders) return;
  const int* order = plan_order(plan);
  s->order_version++;
  for (int k = 0; k < c[1].member_first - c[0].member_first; k++) {
    int a = s->members[c->member_first + order[k]];
    s->rank[a] = k;
    s->flops_ratio[a] = plan->flops / ((double)c->order * c->order);
  }
}

/* Updates the symbolic factorization of a component. It depends only on the sparsity pattern and on kept ranks, so
 * results do not depend on whether an existing plan is reused. */
static void update_plan(BlockSolver* s, const Component* c, int index) {
  Plan* plan = &s->plans[index];
  PlanPattern pattern = component_pattern(s, c);
  bool fits = plan_matches(plan, &pattern);
  double flops_ratio, n = c->order;
  if (rank_by_kept_order(s, c, &flops_ratio)) {
    if (fits && s->plan_version[index] == s->order_version) return;
    plan_make(plan, &pattern, s->local_rank + c->member_first);
    s->plan_version[index] = s->order_version;
    if (plan->flops <= KEPT_ORDER_MAX_FLOPS * flops_ratio * n * n) return;
  }
  if (!fits || s->plan_version[index] >= 0) plan_make(plan, &pattern, NULL);
  s->plan_version[index] = -1;
  keep_order(s, c, plan);
}

static void choose_method(BlockSolver* s, Component* c) {
  c->plan = -1;
  if (!can_be_sparse(c)) return;
  int owner = s->members[c->member_first];
  if (s->plan_index[owner] < 0) s->plan_index[owner] = acquire_plan(s, owner);
  Plan* plan = &s->plans[s->plan_index[owner]];
  update_plan(s, c, s->plan_index[owner]);
  double n = c->order;
  if (plan->flops < FRONTS_FLOP_SHARE * n * n * n / 3) c->plan = s->plan_index[owner];
}

size_t block_dense_size(const Component* c) {
  size_t stride = (size_t)front_stride(c->order);
  return (stride * ((size_t)c->order + 2) + 7) & ~(size_t)7;
}
size_t block_dense_storage(const Component* c) { return block_dense_size(c) + front_work(c->order); }

void block_find_components(BlockSolver* s) {
  if (s->has_components && s->filled_checked) return;
  s->filled_checked = true;
  if (s->has_components && memcmp(s->filled, s->component_filled, sizeof(bool) * (size_t)s->coupling_count) == 0)
    return;
  join_blocks(s);
  number_components(s);
  accumulate_counts(s);
  list_members(s);
  size_t storage = 0;
  for (int k = 0; k < s->component_count; k++) number_locally(s, &s->components[k]);
  for (int k = 0; k < s->component_count; k++) {
    Component* c = &s->components[k];
    choose_method(s, c);
    c->storage = storage;
    storage += c->plan < 0 ? block_dense_storage(c) : plan_storage(&s->plans[c->plan]);
  }
  if (storage > s->storage_capacity) {
    s->storage_capacity = storage + storage / 2;
    s->storage = block_reallocate_zeroed(s->storage, sizeof(double), s->storage_capacity);
  }
  memcpy(s->component_filled, s->filled, sizeof(bool) * (size_t)s->coupling_count);
  s->has_components = true;
}

int block_solver_component_count(BlockSolver* s) {
  block_find_components(s);
  return s->component_count;
}

int block_solver_component_of(BlockSolver* s, int block) {
  assert(block >= 0 && block < s->block_count);
  block_find_components(s);
  return s->component[block];
}
