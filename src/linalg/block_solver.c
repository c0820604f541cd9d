/* Symmetric matrices of dense blocks. The blocks that were filled couple; the matrix falls into the connected
 * components of that graph, and each is factored alone: small ones as one dense front (linalg/front.h), large ones by
 * the multifrontal method (linalg/plan.h). Rows and columns of one block are dense, so a component of one block is one
 * front as well. All roundings are in an order that depends on what was filled and on nothing else; where orders are
 * held, on what was filled since then. */
#include <float.h>
#include <string.h>

#include "linalg/eigen.h"
#include "linalg/front.h"
#include "linalg/indefinite.h"
#include "linalg/linalg.h"
#include "linalg/plan.h"

/* Up to this order a plan is not worth making. */
enum { DENSE_ALWAYS = 48 };
/* Fronts pay when their flops are under this part of the dense n^3 / 3: they move more than they compute. */
#define FRONTS_FLOP_SHARE 0.5
/* A held order is given up when it costs so many times what an order that was looked for did for its size (flops of
 * a heap grow with the square of it), or when more than this part of the blocks have no place in it. */
#define HELD_FLOPS 1.5
#define HELD_UNPLACED 0.125
/* Eigenvalues this far below the largest are rounding. */
#define SINGULAR 1e-14

/* Up to this order an indefinite component is decomposed by eigenvalues, which tells all about it. */
enum { SPECTRAL_MOST = 96 };
/* Solutions with pivots that were chosen among few are refined, at most so often, to a backward error of rounding. */
enum { REFINEMENTS = 10 };
#define REFINED 4e-16
/* A factor that refinement does not bring to this is replaced by one with all pivots to choose from. */
#define ACCEPTED 1e-12
/* Pivots below this part of the largest entry are rounding. */
#define PIVOT_TINY 1e-16
/* Of Lanczos' method for the eigenvalue nearest to zero. */
enum { LANCZOS_STEPS = 40 };

typedef enum { FACTOR_NONE, FACTOR_CHOLESKY, FACTOR_SPECTRAL, FACTOR_INDEFINITE } FactorKind;

typedef struct {
  int order;
  int member_first, link_first; /* into members and links, ascending within the component; the next one's end them */
  int unknown_first;            /* into the lists of all unknowns by component */
  size_t storage;               /* of its factor */
  int plan;                     /* -1: one dense front */
  double norm;                  /* largest sum of magnitudes of a row, of FACTOR_INDEFINITE */
  FactorKind factor;
} Component;

struct BlockSolver {
  int block_count, order;
  int *size, *first; /* of every block */
  /* the pattern: coupling k is block (row[k], column[k]); those of row a are row_first[a] .. row_first[a + 1] */
  int coupling_count, coupling_capacity;
  int *row_first, *row, *column;
  size_t* offset; /* of every diagonal block, then of every coupling, into values; row-major */
  double* values;
  size_t value_capacity;
  bool *filled, *grouped_filled; /* per coupling: asked for since block_solver_clear; when the components were found */
  bool grouped, became_dense;    /* became_dense: a component has left its plan for this matrix alone */
  bool checked;                  /* what is filled has been compared with what was grouped, and not changed since */
  /* components, in the order of their smallest blocks */
  int component_count;
  Component* components; /* one more than there are */
  int* component;        /* of every block */
  int *members, *links;  /* blocks and filled couplings by component, ascending */
  int* unknowns;         /* by component */
  int* place;            /* of every block: its first unknown within its component */
  /* plans of components, by the component's smallest block, kept until another component needs the room */
  Plan* plans;
  int *plan_of, *plan_owner;
  int plan_count;
  /* held orders: place of every block in the order that its component had when it was looked for, -1: none; flops per
   * order^2 of that; by place in `members`, the places; per plan, of which version of the places it is, or -1 */
  bool holds;
  int64_t version, *plan_version;
  int *rank, *local_rank;
  double* rate;
  int *local, *local_size; /* number of a block within its component; sizes and couplings by those numbers */
  uint64_t* local_couplings;
  size_t* local_offset; /* per component, what PlanValues wants: members first, then links */
  /* factors */
  double* storage;
  size_t storage_capacity;
  double *eigenvalues, *off;           /* by place in `unknowns` */
  double* turned;                      /* a vector in eigenvectors' coordinates, by place */
  int* pivot_from;                     /* of FACTOR_INDEFINITE (IndefinitePivots), by place */
  double *pivot_beside, *right, *rest; /* right-hand side and residual of refinement, by place */
};

BlockSolver* block_solver_create(int block_count, const int* block_sizes) {
  BlockSolver* s = MEMORY_NEW(BlockSolver, 1);
  s->block_count = block_count;
  s->size = MEMORY_NEW(int, block_count);
  s->first = MEMORY_NEW(int, block_count + 1);
  for (int k = 0; k < block_count; k++) {
    s->size[k] = block_sizes[k];
    s->first[k + 1] = s->first[k] + block_sizes[k];
  }
  s->order = s->first[block_count];
  s->row_first = MEMORY_NEW(int, block_count + 1);
  s->components = MEMORY_NEW(Component, block_count + 1);
  s->component = MEMORY_NEW(int, block_count);
  s->members = MEMORY_NEW(int, block_count);
  s->unknowns = MEMORY_NEW(int, s->order);
  s->place = MEMORY_NEW(int, block_count);
  s->plans = MEMORY_NEW(Plan, block_count);
  s->plan_of = MEMORY_NEW(int, block_count);
  s->plan_owner = MEMORY_NEW(int, block_count);
  for (int k = 0; k < block_count; k++) s->plan_of[k] = -1;
  s->plan_version = MEMORY_NEW(int64_t, block_count);
  s->rank = MEMORY_NEW(int, block_count);
  s->local_rank = MEMORY_NEW(int, block_count);
  s->rate = MEMORY_NEW(double, block_count);
  s->local = MEMORY_NEW(int, block_count);
  s->local_size = MEMORY_NEW(int, block_count);
  s->eigenvalues = MEMORY_NEW(double, s->order);
  s->off = MEMORY_NEW(double, s->order);
  s->turned = MEMORY_NEW(double, s->order);
  s->pivot_from = MEMORY_NEW(int, s->order);
  s->pivot_beside = MEMORY_NEW(double, s->order);
  s->right = MEMORY_NEW(double, s->order);
  s->rest = MEMORY_NEW(double, s->order);
  block_solver_pattern(s, NULL, 0);
  return s;
}

void block_solver_destroy(BlockSolver* s) {
  if (!s) return;
  for (int k = 0; k < s->plan_count; k++) plan_free(&s->plans[k]);
  void* const arrays[] = {s->size,         s->first,        s->row_first,   s->row,        s->column,
                          s->offset,       s->values,       s->filled,      s->components, s->component,
                          s->members,      s->links,        s->unknowns,    s->place,      s->plans,
                          s->plan_of,      s->plan_owner,   s->local,       s->local_size, s->local_couplings,
                          s->local_offset, s->storage,      s->eigenvalues, s->off,        s->turned,
                          s->pivot_from,   s->pivot_beside, s->right,       s->rest,       s->grouped_filled,
                          s->plan_version, s->rank,         s->local_rank,  s->rate};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) memory_free(arrays[k]);
  memory_free(s);
}

/* ---------------------------------------------------------------- pattern */

static void* replaced(void* array, size_t element, size_t count) {
  memory_free(array);
  return memory_alloc(element * count);
}

static void room_for_couplings(BlockSolver* s, int count) {
  if (count <= s->coupling_capacity && s->row) return;
  s->coupling_capacity = count + count / 2 + 16;
  size_t capacity = (size_t)s->coupling_capacity, blocks = (size_t)s->block_count;
  s->row = replaced(s->row, sizeof(int), capacity);
  s->column = replaced(s->column, sizeof(int), capacity);
  s->links = replaced(s->links, sizeof(int), capacity);
  s->filled = replaced(s->filled, sizeof(bool), capacity);
  s->grouped_filled = replaced(s->grouped_filled, sizeof(bool), capacity);
  s->local_couplings = replaced(s->local_couplings, sizeof(uint64_t), capacity);
  s->offset = replaced(s->offset, sizeof(size_t), blocks + capacity);
  s->local_offset = replaced(s->local_offset, sizeof(size_t), blocks + capacity);
}

static void place_values(BlockSolver* s) {
  size_t next = 0;
  for (int a = 0; a < s->block_count; a++) {
    s->offset[a] = next;
    next += (size_t)s->size[a] * (size_t)s->size[a];
  }
  for (int k = 0; k < s->coupling_count; k++) {
    s->offset[s->block_count + k] = next;
    next += (size_t)s->size[s->row[k]] * (size_t)s->size[s->column[k]];
  }
  if (next <= s->value_capacity) return;
  s->value_capacity = next + next / 2;
  s->values = replaced(s->values, sizeof(double), s->value_capacity);
}

void block_solver_pattern(BlockSolver* s, const uint64_t* couplings, int count) {
  room_for_couplings(s, count);
  s->coupling_count = count;
  memset(s->row_first, 0, sizeof(int) * (size_t)(s->block_count + 1));
  for (int k = 0; k < count; k++) {
    s->row[k] = (int)(couplings[k] >> 32);
    s->column[k] = (int)(couplings[k] & 0xffffffffu);
    s->row_first[s->row[k] + 1]++;
  }
  for (int a = 0; a < s->block_count; a++) s->row_first[a + 1] += s->row_first[a];
  place_values(s);
  s->grouped = false;
  block_solver_clear(s);
}

/* ---------------------------------------------------------------- filling */

void block_solver_clear(BlockSolver* s) {
  if (s->became_dense) s->grouped = s->became_dense = false;
  size_t diagonal = 0;
  for (int a = 0; a < s->block_count; a++) diagonal += (size_t)s->size[a] * (size_t)s->size[a];
  if (diagonal > 0) memset(s->values, 0, sizeof(double) * diagonal);
  memset(s->filled, 0, sizeof(bool) * (size_t)s->coupling_count); /* a coupling is cleared when it is asked for */
  s->checked = false;
}

void block_solver_clear_some(BlockSolver* s, const bool* which) {
  if (s->became_dense) s->grouped = s->became_dense = false;
  for (int a = 0; a < s->block_count; a++)
    if (which[a] && s->size[a] > 0)
      memset(s->values + s->offset[a], 0, sizeof(double) * (size_t)s->size[a] * (size_t)s->size[a]);
  for (int k = 0; k < s->coupling_count; k++)
    if (which[s->row[k]] || which[s->column[k]]) s->filled[k] = false;
  s->checked = false;
}

void block_solver_hold_orders(BlockSolver* s) {
  s->holds = true;
  s->version++;
  s->grouped = false; /* plans of held orders are of no use any more */
  for (int a = 0; a < s->block_count; a++) s->rank[a] = -1;
}

static int find_coupling(const BlockSolver* s, int a, int b) {
  int low = s->row_first[a], high = s->row_first[a + 1], end = high;
  while (low < high) {
    int middle = (low + high) / 2;
    if (s->column[middle] < b)
      low = middle + 1;
    else
      high = middle;
  }
  return low < end && s->column[low] == b ? low : -1;
}

double* block_solver_block(BlockSolver* s, int a, int b, int* stride) {
  *stride = s->size[b];
  if (a == b) return s->values + s->offset[a];
  int k = find_coupling(s, a, b);
  if (k < 0) return NULL;
  double* block = s->values + s->offset[s->block_count + k];
  if (s->filled[k]) return block;
  memset(block, 0, sizeof(double) * (size_t)s->size[a] * (size_t)s->size[b]);
  s->filled[k] = true;
  if (s->checked) s->checked = false;
  return block;
}

/* ---------------------------------------------------------------- components */

static void join_blocks(BlockSolver* s) {
  sets_separate(s->component, s->block_count);
  for (int k = 0; k < s->coupling_count; k++)
    if (s->filled[k]) sets_join(s->component, s->row[k], s->column[k]);
}

/* Roots become numbers of components, ascending with their smallest blocks; counts of members and links. */
static void number_components(BlockSolver* s) {
  int count = 0;
  for (int a = 0; a < s->block_count; a++) {
    int root = sets_root(s->component, a);
    s->local[a] = root == a ? count++ : s->local[root]; /* a root is the smallest of its set */
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

/* Counts become first places; one more component ends the last. */
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
  for (int k = s->component_count; k > 0; k--) { /* the ends become the firsts again */
    s->components[k].member_first = s->components[k - 1].member_first;
    s->components[k].link_first = s->components[k - 1].link_first;
  }
  s->components[0].member_first = s->components[0].link_first = 0;
}

/* Local numbers of a component's blocks, couplings and unknowns. */
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

static PlanValues values_of(const BlockSolver* s, const Component* c) {
  return (PlanValues){s->values, s->local_offset + c->member_first + c->link_first};
}

static bool wants_plan(const Component* c) {
  return c[0].order > DENSE_ALWAYS && c[1].member_first - c[0].member_first > 1;
}

/* A plan that no present component may use. */
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

/* Are enough of the component's blocks placed by a held order? Gathers the places. *rate: its flops per order^2. */
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

/* An order that was looked for is held by its blocks. */
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

/* Plans are functions of the pattern, or of the pattern and the places; which it is, and whether the one that is there
 * may stay, must not show in the result. */
static void make_plan(BlockSolver* s, const Component* c, int index) {
  Plan* plan = &s->plans[index];
  PlanPattern pattern = pattern_of(s, c);
  bool fits = plan_fits(plan, &pattern);
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

/* A dense component's matrix and two vectors, and the work of its factorisation behind. */
static size_t dense_size(const Component* c) {
  size_t stride = (size_t)front_stride(c->order);
  return (stride * ((size_t)c->order + 2) + 7) & ~(size_t)7;
}

static size_t dense_storage(const Component* c) { return dense_size(c) + front_work(c->order); }

static void find_components(BlockSolver* s) {
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
    storage += c->plan < 0 ? dense_storage(c) : plan_storage(&s->plans[c->plan]);
  }
  if (storage > s->storage_capacity) {
    s->storage_capacity = storage + storage / 2;
    s->storage = replaced(s->storage, sizeof(double), s->storage_capacity);
  }
  memcpy(s->grouped_filled, s->filled, sizeof(bool) * (size_t)s->coupling_count);
  s->grouped = true;
}

int block_solver_component_count(BlockSolver* s) {
  find_components(s);
  return s->component_count;
}

int block_solver_component_of(BlockSolver* s, int block) {
  find_components(s);
  return s->component[block];
}

int block_solver_component_order(BlockSolver* s, int component) {
  find_components(s);
  return s->components[component].order;
}

/* ---------------------------------------------------------------- factoring one component */

/* All of a component's blocks as one matrix: lower triangle by columns. */
static void fill_dense(const BlockSolver* s, const Component* c, double* matrix, int stride) {
  if (c->order == 0) return;
  memset(matrix, 0, sizeof(double) * (size_t)stride * (size_t)c->order);
  for (int k = c[0].member_first; k < c[1].member_first; k++) {
    int a = s->members[k], size = s->size[a];
    const double* value = s->values + s->offset[a];
    for (int i = 0; i < size; i++)
      for (int j = i; j < size; j++)
        matrix[(size_t)(s->place[a] + i) * (size_t)stride + (size_t)(s->place[a] + j)] = value[i * size + j];
  }
  for (int k = c[0].link_first; k < c[1].link_first; k++) {
    int link = s->links[k], a = s->row[link], b = s->column[link];
    const double* value = s->values + s->offset[s->block_count + link];
    for (int i = 0; i < s->size[a]; i++)
      for (int j = 0; j < s->size[b]; j++)
        matrix[(size_t)(s->place[a] + i) * (size_t)stride + (size_t)(s->place[b] + j)] = value[i * s->size[b] + j];
  }
}

bool block_solver_factor_component(BlockSolver* s, int component) {
  find_components(s);
  Component* c = &s->components[component];
  double* storage = s->storage + c->storage;
  bool definite;
  if (c->plan >= 0)
    definite = plan_factor(&s->plans[c->plan], values_of(s, c), 0, storage);
  else {
    int stride = front_stride(c->order);
    fill_dense(s, c, storage, stride);
    definite = front_factor(c->order, c->order, stride, storage, NULL, storage + dense_size(c));
  }
  c->factor = definite ? FACTOR_CHOLESKY : FACTOR_NONE;
  return definite;
}

/* Eigenvectors in place of the factor, one a row. */
static bool decompose(BlockSolver* s, Component* c) {
  int stride = front_stride(c->order);
  double* matrix = s->storage + c->storage;
  fill_dense(s, c, matrix, stride);
  for (int i = 0; i < c->order; i++)
    for (int j = i + 1; j < c->order; j++)
      matrix[(size_t)j * (size_t)stride + (size_t)i] = matrix[(size_t)i * (size_t)stride + (size_t)j];
  return symmetric_eigen(c->order, stride, matrix, s->eigenvalues + c->unknown_first, s->off + c->unknown_first);
}

bool block_solver_factor_component_lifted(BlockSolver* s, int component, double floor) {
  find_components(s);
  Component* c = &s->components[component];
  c->factor = FACTOR_NONE;
  if (c->plan >= 0) {
    for (double shift = 1e-4; shift < 1e6 && c->factor == FACTOR_NONE; shift *= 10)
      if (plan_factor(&s->plans[c->plan], values_of(s, c), shift, s->storage + c->storage)) c->factor = FACTOR_CHOLESKY;
    return c->factor == FACTOR_CHOLESKY;
  }
  if (!decompose(s, c)) return false;
  double* values = s->eigenvalues + c->unknown_first;
  for (int k = 0; k < c->order; k++) values[k] = fmax(fabs(values[k]), floor);
  c->factor = FACTOR_SPECTRAL;
  return true;
}

/* ---------------------------------------------------------------- components that are not positive definite */

static IndefinitePivots pivots_of(const BlockSolver* s, const Component* c) {
  return (IndefinitePivots){s->pivot_from + c->unknown_first, s->pivot_beside + c->unknown_first};
}

static void add_product(const double* block, int rows, int columns, bool diagonal, const double* x_rows,
                        const double* x_columns, double* y_rows, double* y_columns) {
  for (int r = 0; r < rows; r++)
    for (int c = diagonal ? r : 0; c < columns; c++) {
      y_rows[r] += block[r * columns + c] * x_columns[c];
      if (!diagonal || r != c) y_columns[c] += block[r * columns + c] * x_rows[r];
    }
}

/* y = H x of one component, by its own unknowns. */
static void multiply_component(const BlockSolver* s, const Component* c, const double* x, double* y) {
  memset(y, 0, sizeof(double) * (size_t)c->order);
  for (int k = c[0].member_first; k < c[1].member_first; k++) {
    int a = s->members[k], p = s->place[a];
    add_product(s->values + s->offset[a], s->size[a], s->size[a], true, x + p, x + p, y + p, y + p);
  }
  for (int k = c[0].link_first; k < c[1].link_first; k++) {
    int link = s->links[k], a = s->row[link], b = s->column[link], p = s->place[a], q = s->place[b];
    add_product(s->values + s->offset[s->block_count + link], s->size[a], s->size[b], false, x + p, x + q, y + p,
                y + q);
  }
}

static double largest_of(const double* x, int count) {
  double largest = 0;
  for (int k = 0; k < count; k++) largest = fmax(largest, fabs(x[k]));
  return largest;
}

/* Largest entry; largest sum of magnitudes of a row. */
typedef struct {
  double entry, row;
} Norms;

static Norms norms_of(BlockSolver* s, const Component* c) {
  double *sum = s->rest + c->unknown_first, entry = 0;
  memset(sum, 0, sizeof(double) * (size_t)c->order);
  for (int k = c[0].member_first + c[0].link_first; k < c[1].member_first + c[1].link_first; k++) {
    int own = k - c[0].member_first - c[0].link_first, members = c[1].member_first - c[0].member_first;
    int link = own < members ? -1 : s->links[c->link_first + own - members];
    int a = link < 0 ? s->members[c->member_first + own] : s->row[link], b = link < 0 ? a : s->column[link];
    const double* value = s->values + s->local_offset[k];
    for (int i = 0; i < s->size[a]; i++)
      for (int j = link < 0 ? i : 0; j < s->size[b]; j++) {
        double size = fabs(value[i * s->size[b] + j]);
        entry = fmax(entry, size);
        sum[s->place[a] + i] += size;
        if (link >= 0 || i != j) sum[s->place[b] + j] += size;
      }
  }
  return (Norms){entry, largest_of(sum, c->order)};
}

/* x <- (L D L^T)^-1 x. */
static void solve_pivoted(const BlockSolver* s, const Component* c, double* x) {
  IndefinitePivots pivots = pivots_of(s, c);
  double* storage = s->storage + c->storage;
  if (c->plan >= 0) {
    plan_solve(&s->plans[c->plan], storage, &pivots, x);
    return;
  }
  int n = c->order, stride = front_stride(n);
  double *y = storage + (size_t)stride * (size_t)n, *spare = y + stride;
  memcpy(y, x, sizeof(double) * (size_t)n);
  memset(y + n, 0, sizeof(double) * (size_t)(stride - n));
  indefinite_forward(n, stride, storage, pivots, y, spare);
  indefinite_backward(n, stride, storage, pivots, y, spare);
  memcpy(x, y, sizeof(double) * (size_t)n);
}

/* x <- H^-1 x with refinement; returns the backward error |b - H x| / (|H| |x| + |b|). */
static double solve_refined(BlockSolver* s, const Component* c, double* x) {
  double *b = s->right + c->unknown_first, *rest = s->rest + c->unknown_first, before = HUGE_VAL, error = 0;
  memcpy(b, x, sizeof(double) * (size_t)c->order);
  solve_pivoted(s, c, x);
  for (int round = 0; round <= REFINEMENTS; round++) {
    multiply_component(s, c, x, rest);
    for (int k = 0; k < c->order; k++) rest[k] = b[k] - rest[k];
    double scale = c->norm * largest_of(x, c->order) + largest_of(b, c->order);
    error = scale > 0 ? largest_of(rest, c->order) / scale : 0;
    if (!(error > REFINED) || error > 0.5 * before || round == REFINEMENTS) break;
    before = error;
    solve_pivoted(s, c, rest);
    for (int k = 0; k < c->order; k++) x[k] += rest[k];
  }
  return error;
}

static void start_vector(int count, double* x) {
  Random random = {1};
  for (int k = 0; k < count; k++) x[k] = random_uniform(&random, -1, 1);
}

static double dot_of(int count, const double* x, const double* y) {
  double sum = 0;
  for (int k = 0; k < count; k++) sum += x[k] * y[k];
  return sum;
}

/* The eigenvalue nearest to zero: the inverse of H^-1's largest, by Lanczos' method with full orthogonalisation. */
static double nearest_eigenvalue(BlockSolver* s, const Component* c) {
  int n = c->order, steps = n < LANCZOS_STEPS ? n : LANCZOS_STEPS, done = 0;
  double *basis = MEMORY_NEW(double, (size_t)n*((size_t)steps + 1)), diagonal[LANCZOS_STEPS], off[LANCZOS_STEPS + 1];
  start_vector(n, basis);
  off[0] = 0;
  double length = sqrt(dot_of(n, basis, basis));
  for (; done < steps && length > 0 && isfinite(length); done++) {
    double *v = basis + (size_t)done * (size_t)n, *w = v + n;
    for (int k = 0; k < n; k++) w[k] = v[k] /= length;
    solve_refined(s, c, w);
    diagonal[done] = dot_of(n, v, w);
    double whole = sqrt(dot_of(n, w, w));
    for (int pass = 0; pass < 2; pass++)
      for (int i = 0; i <= done; i++) {
        const double* old = basis + (size_t)i * (size_t)n;
        double along = dot_of(n, old, w);
        for (int k = 0; k < n; k++) w[k] -= along * old[k];
      }
    off[done + 1] = length = sqrt(dot_of(n, w, w));
    if (!(length > 1e-13 * whole)) length = 0; /* the vectors so far span all that H^-1 makes of the first */
  }
  memory_free(basis);
  if (!tridiagonal_eigenvalues(done, diagonal, off) || done == 0) return 0;
  double largest = fabs(diagonal[0]) > fabs(diagonal[done - 1]) ? diagonal[0] : diagonal[done - 1];
  return 1 / largest;
}

/* Storage for one front of the whole component, behind all others, until the matrix is filled anew. */
static void become_dense(BlockSolver* s, Component* c) {
  c->storage = s->storage_capacity;
  s->storage_capacity += dense_storage(c);
  s->storage = memory_resize(s->storage, sizeof(double) * c->storage, sizeof(double) * s->storage_capacity);
  c->plan = -1;
  s->became_dense = true;
}

/* L D L^T. false: not finite. */
static bool factor_pivoted(BlockSolver* s, Component* c, double tiny) {
  IndefinitePivots pivots = pivots_of(s, c);
  double* storage = s->storage + c->storage;
  if (c->plan >= 0) return plan_factor_indefinite(&s->plans[c->plan], values_of(s, c), tiny, storage, &pivots) >= 0;
  int stride = front_stride(c->order);
  fill_dense(s, c, storage, stride);
  return indefinite_factor(c->order, c->order, stride, tiny, storage, NULL, pivots) >= 0;
}

static double trial_error(BlockSolver* s, const Component* c) {
  double* x = s->turned + c->unknown_first;
  start_vector(c->order, x);
  return solve_refined(s, c, x);
}

static bool factor_large_indefinite(BlockSolver* s, Component* c, double* smallest) {
  Norms norms = norms_of(s, c);
  double tiny = norms.entry > 0 ? PIVOT_TINY * norms.entry : 1;
  c->norm = norms.row;
  if (!isfinite(norms.row) || !factor_pivoted(s, c, tiny)) return false;
  if (c->plan >= 0 && !(trial_error(s, c) <= ACCEPTED)) {
    become_dense(s, c);
    if (!factor_pivoted(s, c, tiny)) return false;
  }
  double nearest = nearest_eigenvalue(s, c);
  if (!(fabs(nearest) >= fabs(*smallest))) *smallest = nearest;
  c->factor = FACTOR_INDEFINITE;
  return fabs(nearest) > SINGULAR * norms.row;
}

static bool factor_small_indefinite(BlockSolver* s, Component* c, double* smallest) {
  if (!decompose(s, c)) return false;
  const double* values = s->eigenvalues + c->unknown_first;
  double largest = 0, nearest = HUGE_VAL;
  for (int k = 0; k < c->order; k++) {
    largest = fmax(largest, fabs(values[k]));
    if (fabs(values[k]) < fabs(nearest)) nearest = values[k];
  }
  if (fabs(nearest) < fabs(*smallest)) *smallest = nearest;
  c->factor = FACTOR_SPECTRAL;
  return fabs(nearest) > SINGULAR * largest;
}

bool block_solver_factor_component_indefinite(BlockSolver* s, int component, double* smallest) {
  find_components(s);
  Component* c = &s->components[component];
  c->factor = FACTOR_NONE;
  return c->plan < 0 && c->order <= SPECTRAL_MOST ? factor_small_indefinite(s, c, smallest)
                                                  : factor_large_indefinite(s, c, smallest);
}

/* ---------------------------------------------------------------- solving one component */

/* x <- V diag(1 / values) V^T x; eigenvectors are rows. */
static void solve_spectral(const BlockSolver* s, const Component* c, double* x) {
  const double *v = s->storage + c->storage, *values = s->eigenvalues + c->unknown_first;
  double* turned = s->turned + c->unknown_first;
  int n = c->order, stride = front_stride(n);
  for (int k = 0; k < n; k++, v += stride) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += v[i] * x[i];
    turned[k] = sum / values[k];
  }
  memset(x, 0, sizeof(double) * (size_t)n);
  v = s->storage + c->storage;
  for (int k = 0; k < n; k++, v += stride)
    for (int i = 0; i < n; i++) x[i] += v[i] * turned[k];
}

static void solve_dense(const BlockSolver* s, const Component* c, double* x) {
  int n = c->order, stride = front_stride(n);
  double *panel = s->storage + c->storage, *y = panel + (size_t)stride * (size_t)n;
  if (n == 0) return;
  memcpy(y, x, sizeof(double) * (size_t)n);
  memset(y + n, 0, sizeof(double) * (size_t)(stride - n));
  front_forward(n, stride, panel, y);
  front_backward(n, stride, panel, y);
  memcpy(x, y, sizeof(double) * (size_t)n);
}

void block_solver_solve_component(BlockSolver* s, int component, double* x) {
  const Component* c = &s->components[component];
  const int* unknown = s->unknowns + c->unknown_first;
  double* own = s->off + c->unknown_first;
  for (int k = 0; k < c->order; k++) own[k] = x[unknown[k]];
  if (c->factor == FACTOR_SPECTRAL)
    solve_spectral(s, c, own);
  else if (c->factor == FACTOR_INDEFINITE)
    solve_refined(s, c, own);
  else if (c->plan >= 0)
    plan_solve(&s->plans[c->plan], s->storage + c->storage, NULL, own);
  else
    solve_dense(s, c, own);
  for (int k = 0; k < c->order; k++) x[unknown[k]] = own[k];
}

/* ---------------------------------------------------------------- the whole matrix */

bool block_solver_factor(BlockSolver* s) {
  find_components(s);
  for (int k = 0; k < s->component_count; k++)
    if (!block_solver_factor_component(s, k)) return false;
  return true;
}

bool block_solver_factor_lifted(BlockSolver* s, double floor) {
  find_components(s);
  for (int k = 0; k < s->component_count; k++)
    if (!block_solver_factor_component(s, k) && !block_solver_factor_component_lifted(s, k, floor)) return false;
  return true;
}

bool block_solver_factor_indefinite(BlockSolver* s, double* smallest) {
  bool regular = true;
  double nearest = HUGE_VAL;
  find_components(s);
  for (int k = 0; k < s->component_count && regular; k++)
    regular = block_solver_factor_component(s, k) || block_solver_factor_component_indefinite(s, k, &nearest);
  *smallest = isfinite(nearest) ? nearest : 0;
  return regular;
}

void block_solver_solve(BlockSolver* s, double* x) {
  for (int k = 0; k < s->component_count; k++) block_solver_solve_component(s, k, x);
}

void block_solver_multiply(const BlockSolver* s, const double* x, double* y) {
  memset(y, 0, sizeof(double) * (size_t)s->order);
  for (int a = 0; a < s->block_count; a++)
    for (int k = s->row_first[a] - 1; k < s->row_first[a + 1]; k++) { /* the diagonal block, then the row's couplings */
      bool diagonal = k < s->row_first[a];
      if (!diagonal && !s->filled[k]) continue;
      int b = diagonal ? a : s->column[k];
      const double* block = s->values + s->offset[diagonal ? a : s->block_count + k];
      for (int r = 0; r < s->size[a]; r++)
        for (int c = diagonal ? r : 0; c < s->size[b]; c++) {
          int i = s->first[a] + r, j = s->first[b] + c;
          y[i] += block[r * s->size[b] + c] * x[j];
          if (i != j) y[j] += block[r * s->size[b] + c] * x[i];
        }
    }
}

static void constrain_block(const BlockSolver* s, int a, int b, double* block, const bool* fixed, const double* value,
                            double* rhs) {
  for (int r = 0; r < s->size[a]; r++)
    for (int c = a == b ? r : 0; c < s->size[b]; c++) {
      int i = s->first[a] + r, j = s->first[b] + c;
      double* entry = &block[r * s->size[b] + c];
      if (fixed[i] && !fixed[j]) rhs[j] -= *entry * value[i];
      if (fixed[j] && !fixed[i]) rhs[i] -= *entry * value[j];
      if (fixed[i] || fixed[j]) *entry = i == j ? 1.0 : 0.0;
    }
}

void block_solver_constrain(BlockSolver* s, const bool* fixed, const double* value, double* rhs) {
  for (int a = 0; a < s->block_count; a++) {
    constrain_block(s, a, a, s->values + s->offset[a], fixed, value, rhs);
    for (int k = s->row_first[a]; k < s->row_first[a + 1]; k++)
      if (s->filled[k])
        constrain_block(s, a, s->column[k], s->values + s->offset[s->block_count + k], fixed, value, rhs);
  }
  for (int k = 0; k < s->order; k++)
    if (fixed[k]) rhs[k] = value[k];
}

int block_solver_order(const BlockSolver* s) { return s->order; }

bool block_solver_is_sparse(BlockSolver* s) {
  find_components(s);
  for (int k = 0; k < s->component_count; k++)
    if (s->components[k].plan >= 0) return true;
  return false;
}
