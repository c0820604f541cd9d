/* Connected components of the filled blocks, and the choice of a factorization method for each component. */
#include <assert.h>
#include <string.h>

#include "linalg/block_solver.h"
#include "linalg/front.h"

/* Components up to this order are always factored as dense matrices. */
enum { DENSE_ALWAYS = 48 };
/* The multifrontal method is used only if its number of floating-point operations is below this fraction of n^3 / 3,
 * the number of the dense method. The multifrontal method moves more data per operation. */
#define FRONTS_FLOP_SHARE 0.5
/* Limits for keeping an elimination order (block_solver_keep_orders). The elimination order is dropped if the flops per
 * squared matrix order exceed HELD_FLOPS times the flops per squared order when the elimination order was computed. It
 * is also dropped if more than the fraction HELD_UNPLACED of the blocks has no rank. For piles of bodies, the flops per
 * squared order do not depend on the size of the pile. */
#define HELD_FLOPS 1.5
#define HELD_UNPLACED 0.125

static void join_blocks(BlockSolver* s) {
  disjoint_sets_init(s->component, s->block_count);
  for (int k = 0; k < s->coupling_count; k++)
    if (s->filled[k]) disjoint_sets_unite(s->component, s->row[k], s->column[k]);
}

/* Numbers the components in ascending order of their smallest blocks. Counts the members and links of each
 * component. */
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
    if (s->filled[k]) s->components[s->component[s->row[k]]].link_first++;
}

/* Replaces the numbers of members and links of each component by the indices of its first member and link. An
 * additional component marks the end. */
static void accumulate_counts(BlockSolver* s) {
  int member = 0, link = 0, unknown = 0;
  for (int k = 0; k <= s->component_count; k++) {
    Component* c = &s->components[k];
    int members = c->member_first, links = c->link_first;
    c->member_first = member;
    c->link_first = link;
    c->unknown_first = unknown;
    member += members;
    link += links;
    unknown += c->order;
  }
}

static void list_members(BlockSolver* s) {
  for (int a = 0; a < s->block_count; a++) s->members[s->components[s->component[a]].member_first++] = a;
  for (int k = 0; k < s->coupling_count; k++)
    if (s->filled[k]) s->links[s->components[s->component[s->row[k]]].link_first++] = k;
  for (int k = s->component_count; k > 0;
       k--) { /* the loops above moved each first index to the end of its range; this loop restores it */
    s->components[k].member_first = s->components[k - 1].member_first;
    s->components[k].link_first = s->components[k - 1].link_first;
  }
  s->components[0].member_first = s->components[0].link_first = 0;
}

/* Assigns indices within the component to the blocks, couplings and unknowns of a component. */
static void number_locally(BlockSolver* s, const Component* c) {
  int order = 0;
  for (int k = c[0].member_first; k < c[1].member_first; k++) {
    int a = s->members[k];
    s->local[a] = k - c->member_first;
    s->local_size[k] = s->size[a];
    s->local_offset[k + c->link_first] = s->offset[a];
    s->place[a] = order;
    for (int i = 0; i < s->size[a]; i++) s->unknowns[c->unknown_first + order++] = s->first[a] + i;
  }
  for (int k = c[0].link_first; k < c[1].link_first; k++) {
    int link = s->links[k];
    s->local_couplings[k] = (uint64_t)s->local[s->row[link]] << 32 | (uint32_t)s->local[s->column[link]];
    s->local_offset[c[1].member_first + k] = s->offset[s->block_count + link];
  }
}

static PlanPattern pattern_of(const BlockSolver* s, const Component* c) {
  return (PlanPattern){c[1].member_first - c[0].member_first, c[1].link_first - c[0].link_first,
                       s->local_size + c->member_first, s->local_couplings + c->link_first};
}

PlanValues block_values_of(const BlockSolver* s, const Component* c) {
  return (PlanValues){s->values, s->local_offset + c->member_first + c->link_first};
}

static bool wants_plan(const Component* c) {
  return c[0].order > DENSE_ALWAYS && c[1].member_first - c[0].member_first > 1;
}

/* Returns the index of a plan that no current component uses, and makes block `owner` its owner. */
static int spare_plan(BlockSolver* s, int owner) {
  int slot = 0;
  for (; slot < s->plan_count; slot++) {
    int old = s->plan_owner[slot];
    const Component* c = &s->components[s->component[old]];
    if (s->members[c->member_first] != old || !wants_plan(c)) break;
  }
  if (slot == s->plan_count)
    s->plan_count++;
  else
    s->plan_of[s->plan_owner[slot]] = -1;
  s->plan_owner[slot] = owner;
  return slot;
}

/* Returns true if the kept order ranks enough blocks of a component. Sets local_rank to the ranks of the blocks, and
 * *rate to the largest flops per order^2 stored with the ranks. */
static bool placed_by_held_order(BlockSolver* s, const Component* c, double* rate) {
  int count = c[1].member_first - c[0].member_first, unplaced = 0;
  if (!s->holds || count <= ORDERING_SMALL) return false;
  *rate = 0;
  for (int k = c[0].member_first; k < c[1].member_first; k++) {
    int a = s->members[k];
    s->local_rank[k] = s->rank[a];
    if (s->rank[a] < 0)
      unplaced++;
    else
      *rate = fmax(*rate, s->rate[a]);
  }
  return unplaced <= HELD_UNPLACED * count;
}

/* Keeps the elimination order of a plan: stores the rank of every block. */
static void hold_order(BlockSolver* s, const Component* c, const Plan* plan) {
  if (!s->holds) return;
  const int* order = plan_order(plan);
  s->version++;
  for (int k = 0; k < c[1].member_first - c[0].member_first; k++) {
    int a = s->members[c->member_first + order[k]];
    s->rank[a] = k;
    s->rate[a] = plan->flops / ((double)c->order * c->order);
  }
}

/* Computes the symbolic factorization (plan) of a component. The plan depends only on the pattern, or on the pattern
 * and the kept ranks, so results do not depend on whether an existing plan is reused. */
static void make_plan(BlockSolver* s, const Component* c, int index) {
  Plan* plan = &s->plans[index];
  PlanPattern pattern = pattern_of(s, c);
  bool fits = plan_matches(plan, &pattern);
  double rate, n = c->order;
  if (placed_by_held_order(s, c, &rate)) {
    if (fits && s->plan_version[index] == s->version) return;
    plan_make(plan, &pattern, s->local_rank + c->member_first);
    s->plan_version[index] = s->version;
    if (plan->flops <= HELD_FLOPS * rate * n * n) return;
  }
  if (!fits || s->plan_version[index] >= 0) plan_make(plan, &pattern, NULL);
  s->plan_version[index] = -1;
  hold_order(s, c, plan);
}

static void choose_method(BlockSolver* s, Component* c) {
  c->plan = -1;
  if (!wants_plan(c)) return;
  int owner = s->members[c->member_first];
  if (s->plan_of[owner] < 0) s->plan_of[owner] = spare_plan(s, owner);
  Plan* plan = &s->plans[s->plan_of[owner]];
  make_plan(s, c, s->plan_of[owner]);
  double n = c->order;
  if (plan->flops < FRONTS_FLOP_SHARE * n * n * n / 3) c->plan = s->plan_of[owner];
}

/* Returns the size of a dense component in doubles: the matrix and two vectors, rounded up. The workspace of the
 * factorization follows. */
size_t block_dense_size(const Component* c) {
  size_t stride = (size_t)front_stride(c->order);
  return (stride * ((size_t)c->order + 2) + 7) & ~(size_t)7;
}
size_t block_dense_storage(const Component* c) { return block_dense_size(c) + front_work(c->order); }

void block_find_components(BlockSolver* s) {
  if (s->grouped && s->checked) return;
  s->checked = true;
  if (s->grouped && memcmp(s->filled, s->grouped_filled, sizeof(bool) * (size_t)s->coupling_count) == 0) return;
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
    s->storage = block_replaced(s->storage, sizeof(double), s->storage_capacity);
  }
  memcpy(s->grouped_filled, s->filled, sizeof(bool) * (size_t)s->coupling_count);
  s->grouped = true;
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
