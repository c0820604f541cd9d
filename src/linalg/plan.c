#include "linalg/plan.h"

#include <math.h>
#include <string.h>
#include "base/base.h"
#include "linalg/front.h"

/* Limits for merging a front with its last child: at most `columns` pivots, with at most the fraction `zeros` of stored
 * zeros among the entries. */
static const struct {
  int columns;
  double zeros;
} MERGE_LIMITS[] = {{12, 1.0}, {24, 0.6}, {48, 0.2}, {1 << 30, 0.05}};

/* Ensures capacity for `count` elements and returns the array with its content. */
static void* reserve(GrowableArray* r, size_t element, size_t count) {
  if (count <= r->capacity) return r->data;
  size_t capacity = count + count / 2 + 16;
  r->data = memory_resize(r->data, element * r->capacity, element * capacity);
  r->capacity = capacity;
  return r->data;
}

static int* reserve_ints(GrowableArray* r, int count) { return reserve(r, sizeof(int), (size_t)count); }

void plan_free(Plan* plan) {
  if (!plan) return;
  GrowableArray* const arrays[] = {&plan->size,           &plan->couplings,  &plan->unknown, &plan->fronts,
                                   &plan->rows,           &plan->map,        &plan->entries, &plan->columns,
                                   &plan->last_couplings, &plan->last_order, &plan->ordering};
  enum { ALL = 11, WORK = 8 };
  for (int k = 0; k < ALL; k++) memory_free(arrays[k]->data);
  for (int k = 0; k < WORK; k++) memory_free(plan->work[k].data);
  *plan = (Plan){0};
}

bool plan_matches(const Plan* plan, const PlanPattern* p) {
  return plan->block_count == p->block_count && plan->coupling_count == p->coupling_count &&
         memcmp(plan->size.data, p->size, sizeof(int) * (size_t)p->block_count) == 0 &&
         (p->coupling_count == 0 ||
          memcmp(plan->couplings.data, p->couplings, sizeof(uint64_t) * (size_t)p->coupling_count) == 0);
}

/* ---------------------------------------------------------------- elimination order of the blocks */

/* Adjacency lists of the blocks: for each block its coupled blocks (`other`), with the index of the coupling. Block a
 * has the entries start[a] to start[a + 1] - 1. */
typedef struct {
  int *start, *other, *coupling;
} Neighbours;

static Neighbours find_neighbours(Plan* plan, const PlanPattern* p) {
  Neighbours n = {reserve_ints(&plan->work[0], p->block_count + 2), reserve_ints(&plan->work[1], 2 * p->coupling_count),
                  reserve_ints(&plan->work[2], 2 * p->coupling_count)};
  memset(n.start, 0, sizeof(int) * (size_t)(p->block_count + 2));
  for (int k = 0; k < p->coupling_count; k++) {
    n.start[(p->couplings[k] >> 32) + 2]++;
    n.start[(p->couplings[k] & 0xffffffffu) + 2]++;
  }
  for (int a = 0; a < p->block_count; a++) n.start[a + 2] += n.start[a + 1];
  for (int k = 0; k < p->coupling_count; k++) {
    int a = (int)(p->couplings[k] >> 32), b = (int)(p->couplings[k] & 0xffffffffu);
    n.other[n.start[a + 1]] = b;
    n.coupling[n.start[a + 1]++] = k;
    n.other[n.start[b + 1]] = a;
    n.coupling[n.start[b + 1]++] = k;
  }
  return n;
}

/* Finds the elimination order of a sparsity pattern, or reuses the last order if the pattern is the same. */
static void find_order(Plan* plan, const PlanPattern* p, Neighbours adjacency, int* order) {
  size_t keys = sizeof(uint64_t) * (size_t)p->coupling_count, solution = sizeof(int) * (size_t)p->block_count;
  bool known = plan->last_block_count == p->block_count && plan->last_coupling_count == p->coupling_count &&
               (keys == 0 || memcmp(plan->last_couplings.data, p->couplings, keys) == 0);
  int* last_couplings = reserve_ints(&plan->last_order, p->block_count);
  if (!known) {
    int* work = reserve_ints(&plan->ordering, ordering_work(p->block_count, adjacency.start[p->block_count]));
    ordering_find(p->block_count, adjacency.start, adjacency.other, work, last_couplings);
    plan->last_block_count = p->block_count;
    plan->last_coupling_count = p->coupling_count;
    memcpy(reserve(&plan->last_couplings, sizeof(uint64_t), (size_t)p->coupling_count + 1), p->couplings, keys);
  }
  memcpy(order, last_couplings, solution);
}

/* Orders blocks by ascending rank (counting sort). Blocks without a rank (-1) come first. */
static void order_by_rank(Plan* plan, const PlanPattern* p, const int* rank, int* order) {
  int max_rank = 0;
  for (int a = 0; a < p->block_count; a++)
    if (rank[a] > max_rank) max_rank = rank[a];
  int* next = reserve_ints(&plan->work[7], max_rank + 3);
  memset(next, 0, sizeof(int) * (size_t)(max_rank + 3));
  for (int a = 0; a < p->block_count; a++) next[rank[a] + 2]++;
  for (int k = 0; k <= max_rank + 1; k++) next[k + 1] += next[k];
  for (int a = 0; a < p->block_count; a++) order[next[rank[a] + 1]++] = a;
}

/* Computes the elimination tree of the blocks by Liu's algorithm. Sets parent[j] to the row of the first off-diagonal
 * block in column j of the Cholesky factor, or to -1 if there is none. */
static void elimination_tree(int count, Neighbours adjacency, const int* order, const int* position, int* parent,
                             int* ancestor) {
  for (int j = 0; j < count; j++) {
    parent[j] = ancestor[j] = -1;
    for (int k = adjacency.start[order[j]]; k < adjacency.start[order[j] + 1]; k++)
      for (int i = position[adjacency.other[k]]; i < j && i >= 0 && ancestor[i] != j;) {
        int up = ancestor[i];
        ancestor[i] = j;
        if (up < 0) parent[i] = j;
        i = up;
      }
  }
}

/* Renumbers the elimination order and the elimination tree so that children come before their parents and subtrees are
 * contiguous. */
static void postorder(int count, int* order, int* parent, int* head, int* next, int* renumbered) {
  for (int j = 0; j < count; j++) head[j] = -1;
  for (int j = count - 1; j >= 0; j--)
    if (parent[j] >= 0) {
      next[j] = head[parent[j]];
      head[parent[j]] = j;
    }
  int done = 0;
  for (int root = 0; root < count; root++)
    for (int j = parent[root] < 0 ? root : -1; j >= 0;) {
      if (head[j] >= 0) { /* visit an unvisited child */
        int child = head[j];
        head[j] = next[child];
        j = child;
      } else {
        renumbered[j] = done++;
        j = parent[j];
      }
    }
  for (int j = 0; j < count; j++) {
    head[renumbered[j]] = order[j];
    next[renumbered[j]] = parent[j] < 0 ? -1 : renumbered[parent[j]];
  }
  memcpy(order, head, sizeof(int) * (size_t)count);
  memcpy(parent, next, sizeof(int) * (size_t)count);
}

/* ---------------------------------------------------------------- columns of L, by blocks */

static void sort_ints(int* list, int count) {
  static const int gaps[] = {701, 301, 132, 57, 23, 10, 4, 1}; /* Ciura's gaps for Shell sort */
  for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++)
    for (int i = gaps[g]; i < count; i++) {
      int value = list[i], j = i;
      for (; j >= gaps[g] && list[j - gaps[g]] > value; j -= gaps[g]) list[j] = list[j - gaps[g]];
      list[j] = value;
    }
}

typedef struct {
  int *start, *row; /* block rows below the diagonal of column j: row[start[j]] .. row[start[j + 1] - 1], ascending */
} Columns;

static int append_unmarked(int* row, int count, const int* from, int source_count, int min_row, int mark, int* marked) {
  for (int k = 0; k < source_count; k++)
    if (from[k] > min_row && marked[from[k]] != mark) {
      marked[from[k]] = mark;
      row[count++] = from[k];
    }
  return count;
}

/* Computes which blocks of the Cholesky factor L are nonzero. A column has the rows of its own couplings and the rows
 * of its children in the elimination tree. */
static Columns compute_columns(Plan* plan, int count, Neighbours adjacency, const int* order, const int* position,
                               const int* parent, int* start, int* marked) {
  int *last_child_of = reserve_ints(&plan->work[6], 2 * count), *next = last_child_of + count, end = 0;
  for (int j = 0; j < count; j++) marked[j] = last_child_of[j] = -1;
  for (int j = 0; j < count; j++) {
    int near_first = adjacency.start[order[j]], near_count = adjacency.start[order[j] + 1] - near_first,
        max_rank = near_count;
    for (int c = last_child_of[j]; c >= 0; c = next[c]) max_rank += start[c + 1] - start[c];
    int* row = reserve_ints(&plan->columns, end + max_rank);
    start[j] = end;
    for (int k = 0; k < near_count; k++) {
      int i = position[adjacency.other[near_first + k]];
      if (i > j) {
        marked[i] = j;
        row[end++] = i;
      }
    }
    for (int c = last_child_of[j]; c >= 0; c = next[c])
      end = append_unmarked(row, end, row + start[c], start[c + 1] - start[c], j, j, marked);
    sort_ints(row + start[j], end - start[j]);
    start[j + 1] = end;
    if (parent[j] >= 0) {
      next[j] = last_child_of[parent[j]];
      last_child_of[parent[j]] = j;
    }
  }
  return (Columns){start, reserve_ints(&plan->columns, end)};
}

/* ---------------------------------------------------------------- fronts */

/* State while columns are merged into one front: number of pivots, and number of entries that are not stored zeros. */
typedef struct {
  int width;
  double filled;
} MergedFront;

static double trapezoid(int width, int below) { return (double)width * (0.5 * width + below); }

static bool can_merge(MergedFront g, int size, int below) {
  int width = g.width + size;
  double area = trapezoid(width, below), zeros = area - g.filled - trapezoid(size, below);
  for (size_t k = 0;; k++)
    if (width <= MERGE_LIMITS[k].columns) return zeros <= MERGE_LIMITS[k].zeros * area;
}

typedef struct {
  Plan* plan;
  const PlanPattern* pattern;
  Neighbours adjacency;
  const int *order, *position, *parent;
  Columns columns;
  int *front_of, *offset; /* for each block in elimination order: its front, and its first row in the current front */
  int entry_count, row_count, map_count;
} FrontBuilder;

static int block_size(const FrontBuilder* l, int j) { return l->pattern->size[l->order[j]]; }

static int rows_below(const FrontBuilder* l, int j) {
  int size = 0;
  for (int k = l->columns.start[j]; k < l->columns.start[j + 1]; k++) size += block_size(l, l->columns.row[k]);
  return size;
}

/* Merges blocks from `first` on into one front. Returns the index after the front's last block. */
static int find_front_end(const FrontBuilder* l, int first) {
  MergedFront g = {block_size(l, first), trapezoid(block_size(l, first), rows_below(l, first))};
  int last = first;
  for (int j = first + 1; j < l->pattern->block_count && l->parent[last] == j; j++) {
    int below = rows_below(l, j);
    if (!can_merge(g, block_size(l, j), below)) break;
    g.width += block_size(l, j);
    g.filled += trapezoid(block_size(l, j), below);
    last = j;
  }
  return last + 1;
}

static void append_entries(FrontBuilder* l, Front* f, int j) {
  int block = l->order[j], max_rank = l->adjacency.start[block + 1] - l->adjacency.start[block] + 1;
  FrontEntry* e = reserve(&l->plan->entries, sizeof(FrontEntry), (size_t)l->entry_count + (size_t)max_rank);
  e[l->entry_count++] = (FrontEntry){block, l->offset[j], l->offset[j], true};
  for (int k = l->adjacency.start[block]; k < l->adjacency.start[block + 1]; k++) {
    int other = l->adjacency.other[k], i = l->position[other];
    if (i > j) /* a stored coupling has the rows of the block with the lower number */
      e[l->entry_count++] =
          (FrontEntry){l->pattern->block_count + l->adjacency.coupling[k], l->offset[i], l->offset[j], block < other};
  }
  f->entry_count = l->entry_count - f->entry_first;
}

/* Appends the rows of a front: first the rows of the blocks that it eliminates, then the rows below its last column. */
static void append_rows(FrontBuilder* l, Front* f, int first, int last, const int* first_position) {
  int pivots = 0, count = l->columns.start[last + 1] - l->columns.start[last], total = 0;
  for (int j = first; j <= last; j++) pivots += block_size(l, j);
  int* rows = reserve_ints(&l->plan->rows, l->row_count + pivots + rows_below(l, last));
  for (int k = 0; k < last - first + 1 + count; k++) {
    int j = k <= last - first ? first + k : l->columns.row[l->columns.start[last] + k - (last - first + 1)];
    l->offset[j] = total;
    for (int i = 0; i < block_size(l, j); i++) rows[l->row_count + total++] = first_position[j] + i;
  }
  f->first = first_position[first];
  f->pivots = pivots;
  f->rows = total;
  f->stride = front_stride(total);
  f->row_first = l->row_count;
  l->row_count += total;
}

/* Maps the rows of a child's Schur complement to rows of the current front. */
static void append_map(FrontBuilder* l, Front* child, int last_of_child) {
  int* map = reserve_ints(&l->plan->map, l->map_count + child->rows - child->pivots);
  child->map_first = l->map_count;
  for (int k = l->columns.start[last_of_child]; k < l->columns.start[last_of_child + 1]; k++) {
    int j = l->columns.row[k];
    for (int i = 0; i < block_size(l, j); i++) map[l->map_count++] = l->offset[j] + i;
  }
}

static double count_flops(const Front* f) {
  double flops = 0;
  for (int k = 0; k < f->pivots; k++) flops += (double)(f->rows - k) * (f->rows - k);
  return flops;
}

static size_t round_up_to_eight(size_t count) { return (count + 7) & ~(size_t)7; }

/* Assigns storage to the panels and to the stack of Schur complements. The stack is empty after a root. */
static void assign_storage(Plan* plan) {
  Front* fronts = plan->fronts.data;
  size_t top = 0;
  plan->panels = plan->update = plan->stack = plan->max_stride = 0;
  plan->flops = 0;
  for (int s = 0; s < plan->front_count; s++) {
    Front* f = &fronts[s];
    size_t below = (size_t)(f->rows - f->pivots);
    f->panel_offset = plan->panels;
    plan->panels += round_up_to_eight((size_t)f->stride * (size_t)f->pivots);
    if ((size_t)f->stride * below > plan->update) plan->update = (size_t)f->stride * below;
    if ((size_t)f->stride > plan->max_stride) plan->max_stride = (size_t)f->stride;
    for (int c = f->last_child; c >= 0; c = fronts[c].previous_sibling)
      top = fronts[c].schur_offset; /* children are listed from the last to the first, so the final value is the first
                                       child's offset */
    f->schur_offset = top;
    top += below * below;
    if (top > plan->stack) plan->stack = top;
    plan->flops += count_flops(f);
  }
  plan->update = round_up_to_eight(plan->update);
  plan->stack = round_up_to_eight(plan->stack);
}

static void build_fronts(FrontBuilder* l, const int* first_position, int* last_of) {
  int blocks = l->pattern->block_count, count = 0;
  for (int first = 0, end; first < blocks; first = end, count++) {
    end = find_front_end(l, first);
    for (int j = first; j < end; j++) l->front_of[j] = count;
    last_of[count] = end - 1;
  }
  Front* fronts = reserve(&l->plan->fronts, sizeof(Front), (size_t)count);
  for (int s = 0; s < count; s++) fronts[s] = (Front){.parent = -1, .last_child = -1, .previous_sibling = -1};
  for (int s = 0; s < count; s++) {
    Front* f = &fronts[s];
    int first = s == 0 ? 0 : last_of[s - 1] + 1, up = l->parent[last_of[s]];
    append_rows(l, f, first, last_of[s], first_position);
    f->entry_first = l->entry_count;
    for (int j = first; j <= last_of[s]; j++) append_entries(l, f, j);
    for (int c = f->last_child; c >= 0; c = fronts[c].previous_sibling) append_map(l, &fronts[c], last_of[c]);
    if (up < 0) continue;
    f->parent = l->front_of[up];
    f->previous_sibling = fronts[f->parent].last_child;
    fronts[f->parent].last_child = s;
  }
  l->plan->front_count = count;
}

/* Sets first_position to the first position of every block, and plan->unknown to the unknown at every position. */
static void assign_positions(Plan* plan, const PlanPattern* p, const int* order, int* first_position) {
  int *unknown = reserve_ints(&plan->unknown, plan->order), *first = reserve_ints(&plan->work[6], p->block_count + 1),
      next = 0;
  first[0] = 0;
  for (int a = 0; a < p->block_count; a++) first[a + 1] = first[a] + p->size[a];
  for (int j = 0; j < p->block_count; j++) {
    first_position[j] = next;
    for (int i = 0; i < p->size[order[j]]; i++) unknown[next++] = first[order[j]] + i;
  }
}

static void copy_pattern(Plan* plan, const PlanPattern* p) {
  plan->block_count = p->block_count;
  plan->coupling_count = p->coupling_count;
  memcpy(reserve_ints(&plan->size, p->block_count), p->size, sizeof(int) * (size_t)p->block_count);
  uint64_t* couplings = reserve(&plan->couplings, sizeof(uint64_t), (size_t)p->coupling_count + 1);
  memcpy(couplings, p->couplings, sizeof(uint64_t) * (size_t)p->coupling_count);
  plan->order = 0;
  for (int a = 0; a < p->block_count; a++) plan->order += p->size[a];
}

const int* plan_order(const Plan* plan) { return plan->work[3].data; }

void plan_make(Plan* plan, const PlanPattern* p, const int* rank) {
  int n = p->block_count;
  copy_pattern(plan, p);
  Neighbours adjacency = find_neighbours(plan, p);
  int *order = reserve_ints(&plan->work[3], 3 * n + 1), *position = order + n, *parent = position + n;
  if (rank)
    order_by_rank(plan, p, rank, order);
  else
    find_order(plan, p, adjacency, order);
  int *work = reserve_ints(&plan->work[4], 3 * n + 1), *starts = reserve_ints(&plan->work[5], n + 1),
      *first_position = reserve_ints(&plan->work[7], 2 * n);
  for (int j = 0; j < n; j++) position[order[j]] = j;
  elimination_tree(n, adjacency, order, position, parent, work);
  postorder(n, order, parent, work, work + n, work + 2 * n);
  for (int j = 0; j < n; j++) position[order[j]] = j;
  Columns columns = compute_columns(plan, n, adjacency, order, position, parent, starts, work);
  assign_positions(plan, p, order, first_position);
  FrontBuilder l = {plan, p, adjacency, order, position, parent, columns, work, work + n, 0, 0, 0};
  build_fronts(&l, first_position, first_position + n);
  assign_storage(plan);
}

/* ---------------------------------------------------------------- numerical factorization and solution */

size_t plan_storage(const Plan* plan) {
  return plan->panels + plan->update + plan->stack + round_up_to_eight((size_t)plan->order) +
         2 * round_up_to_eight(plan->max_stride) + front_work((int)plan->max_stride);
}

static double* column_of(const Front* f, double* panel, double* update, int column) {
  return column < f->pivots ? panel + (size_t)column * (size_t)f->stride
                            : update + (size_t)(column - f->pivots) * (size_t)f->stride;
}

/* Copies the blocks of the matrix into a front's panel. All blocks lie in the pivot columns of the front. */
static void add_blocks(const Plan* plan, const Front* f, PlanValues matrix, double* panel) {
  const int* size = plan->size.data;
  const uint64_t* couplings = plan->couplings.data;
  const FrontEntry* entries = (const FrontEntry*)plan->entries.data + f->entry_first;
  for (int k = 0; k < f->entry_count; k++) {
    FrontEntry e = entries[k];
    bool diagonal = e.block < plan->block_count;
    uint64_t key = diagonal ? (uint64_t)e.block << 32 | (uint32_t)e.block : couplings[e.block - plan->block_count];
    int rows = size[key >> 32], columns = size[key & 0xffffffffu];
    const double* value = matrix.values + matrix.offset[e.block];
    double* to = panel + (size_t)e.column * (size_t)f->stride + e.row;
    for (int r = 0; r < rows; r++)
      for (int c = diagonal ? r : 0; c < columns; c++)
        to[e.transposed ? (size_t)r * (size_t)f->stride + (size_t)c : (size_t)c * (size_t)f->stride + (size_t)r] =
            value[r * columns + c];
  }
}

/* Adds a child's Schur complement to a front (extend-add). */
static void add_child(const Plan* plan, const Front* f, const Front* child, const double* stack, double* panel,
                      double* update) {
  const int* map = (const int*)plan->map.data + child->map_first;
  int count = child->rows - child->pivots;
  const double* from = stack + child->schur_offset;
  for (int j = 0; j < count; j++, from += count) {
    double* to = column_of(f, panel, update, map[j]);
    for (int i = j; i < count; i++) to[map[i]] += from[i];
  }
}

static void shift_diagonal(const Front* f, double shift, double largest, double* panel) {
  for (int k = 0; k < f->pivots; k++) {
    double* d = &panel[(size_t)k * (size_t)f->stride + (size_t)k];
    *d += shift * (fabs(*d) + 1e-6 * largest);
  }
}

static double largest_diagonal(const Plan* plan, PlanValues matrix) {
  const int* size = plan->size.data;
  double largest = 0;
  for (int a = 0; a < plan->block_count; a++)
    for (int i = 0; i < size[a]; i++)
      largest = fmax(largest, fabs(matrix.values[matrix.offset[a] + (size_t)(i * size[a] + i)]));
  return largest;
}

/* Copies the Schur complement of a front to the stack, where the parent front reads it. */
static void push_schur_complement(const Front* f, const double* update, double* stack) {
  int count = f->rows - f->pivots;
  double* to = stack + f->schur_offset;
  for (int j = 0; j < count; j++, to += count)
    for (int i = j; i < count; i++) to[i] = update[(size_t)j * (size_t)f->stride + (size_t)(f->pivots + i)];
}

/* Sections of the storage of a factor. */
typedef struct {
  double *panels, *update, *stack, *solution, *local, *spare, *work;
} Workspace;

static Workspace storage_workspace(const Plan* plan, double* storage) {
  Workspace p;
  p.panels = storage;
  p.update = p.panels + plan->panels;
  p.stack = p.update + plan->update;
  p.solution = p.stack + plan->stack;
  p.local = p.solution + round_up_to_eight((size_t)plan->order);
  p.spare = p.local + round_up_to_eight(plan->max_stride);
  p.work = p.spare + round_up_to_eight(plan->max_stride);
  return p;
}

/* Assembles a front from the blocks of the matrix and the Schur complements of its children. */
static void assemble(const Plan* plan, const Front* f, PlanValues matrix, double shift, double largest,
                     const Workspace* workspace, double* panel) {
  const Front* fronts = plan->fronts.data;
  memset(panel, 0, sizeof(double) * (size_t)f->stride * (size_t)f->pivots);
  memset(workspace->update, 0, sizeof(double) * (size_t)f->stride * (size_t)(f->rows - f->pivots));
  add_blocks(plan, f, matrix, panel);
  if (shift > 0) shift_diagonal(f, shift, largest, panel);
  for (int c = f->last_child; c >= 0; c = fronts[c].previous_sibling)
    add_child(plan, f, &fronts[c], workspace->stack, panel, workspace->update);
}

bool plan_factor(const Plan* plan, PlanValues matrix, double relative_shift, double* storage) {
  Workspace workspace = storage_workspace(plan, storage);
  const Front* fronts = plan->fronts.data;
  double largest = relative_shift > 0 ? largest_diagonal(plan, matrix) : 0;
  for (int s = 0; s < plan->front_count; s++) {
    const Front* f = &fronts[s];
    double* panel = storage + f->panel_offset;
    assemble(plan, f, matrix, relative_shift, largest, &workspace, panel);
    if (!front_factor(f->rows, f->pivots, f->stride, panel, workspace.update, workspace.work)) return false;
    push_schur_complement(f, workspace.update, workspace.stack);
  }
  return true;
}

static IndefinitePivots front_pivots(const IndefinitePivots* all_pivots, const Front* f) {
  return (IndefinitePivots){all_pivots->permutation + f->first, all_pivots->off_diagonal + f->first};
}

int plan_factor_indefinite(const Plan* plan, PlanValues matrix, double tiny, double* storage,
                           const IndefinitePivots* pivots) {
  Workspace workspace = storage_workspace(plan, storage);
  const Front* fronts = plan->fronts.data;
  int replaced = 0;
  for (int s = 0; s < plan->front_count; s++) {
    const Front* f = &fronts[s];
    double* panel = storage + f->panel_offset;
    assemble(plan, f, matrix, 0, 0, &workspace, panel);
    int front_replaced =
        indefinite_factor(f->rows, f->pivots, f->stride, tiny, panel, workspace.update, front_pivots(pivots, f));
    if (front_replaced < 0) return -1;
    replaced += front_replaced;
    push_schur_complement(f, workspace.update, workspace.stack);
  }
  return replaced;
}

/* Copies the entries of y, a vector in elimination order, at the rows of a front to x. Padding rows become zero. */
static void gather(const Front* f, const int* rows, const double* y, double* x) {
  for (int r = 0; r < f->rows; r++) x[r] = y[rows[r]];
  for (int r = f->rows; r < f->stride; r++) x[r] = 0;
}

static void solve_front(const Front* f, const double* panel, const IndefinitePivots* pivots, bool forward,
                        const Workspace* workspace) {
  if (!pivots)
    (forward ? front_forward : front_backward)(f->pivots, f->stride, panel, workspace->local);
  else
    (forward ? indefinite_forward : indefinite_backward)(f->pivots, f->stride, panel, front_pivots(pivots, f),
                                                         workspace->local, workspace->spare);
}

void plan_solve(const Plan* plan, double* storage, const IndefinitePivots* pivots, double* x) {
  Workspace workspace = storage_workspace(plan, storage);
  double *y = workspace.solution, *local = workspace.local;
  const Front* fronts = plan->fronts.data;
  const int *unknown = plan->unknown.data, *all_rows = plan->rows.data;
  for (int k = 0; k < plan->order; k++) y[k] = x[unknown[k]];
  for (int s = 0; s < plan->front_count; s++) {
    const int* rows = all_rows + fronts[s].row_first;
    gather(&fronts[s], rows, y, local);
    solve_front(&fronts[s], storage + fronts[s].panel_offset, pivots, true, &workspace);
    for (int r = 0; r < fronts[s].rows; r++) y[rows[r]] = local[r];
  }
  for (int s = plan->front_count - 1; s >= 0; s--) {
    const int* rows = all_rows + fronts[s].row_first;
    gather(&fronts[s], rows, y, local);
    solve_front(&fronts[s], storage + fronts[s].panel_offset, pivots, false, &workspace);
    for (int r = 0; r < fronts[s].pivots; r++) y[rows[r]] = local[r];
  }
  for (int k = 0; k < plan->order; k++) x[unknown[k]] = y[k];
}
