#include "linalg/plan.h"

#include <math.h>
#include <string.h>
#include "base/base.h"
#include "linalg/front.h"

/* Limits for merging a front with its last child. The merged front may have at most `columns` pivots and at most the
 * fraction `zeros` of stored zeros among its entries. */
static const struct {
  int columns;
  double zeros;
} JOINED[] = {{12, 1.0}, {24, 0.6}, {48, 0.2}, {1 << 30, 0.05}};

/* Ensures capacity for `count` elements and returns the array. The content is kept. */
static void* room(Room* r, size_t element, size_t count) {
  if (count <= r->capacity) return r->at;
  size_t capacity = count + count / 2 + 16;
  r->at = memory_resize(r->at, element * r->capacity, element * capacity);
  r->capacity = capacity;
  return r->at;
}

static int* ints(Room* r, int count) { return room(r, sizeof(int), (size_t)count); }

void plan_free(Plan* plan) {
  if (!plan) return;
  Room* const all[] = {&plan->size,    &plan->couplings, &plan->unknown, &plan->fronts,     &plan->rows,    &plan->map,
                       &plan->entries, &plan->columns,   &plan->base,    &plan->base_order, &plan->ordering};
  enum { ALL = 11, WORK = 8 };
  for (int k = 0; k < ALL; k++) memory_free(all[k]->at);
  for (int k = 0; k < WORK; k++) memory_free(plan->work[k].at);
  *plan = (Plan){0};
}

bool plan_matches(const Plan* plan, const PlanPattern* p) {
  return plan->block_count == p->block_count && plan->coupling_count == p->coupling_count &&
         memcmp(plan->size.at, p->size, sizeof(int) * (size_t)p->block_count) == 0 &&
         (p->coupling_count == 0 ||
          memcmp(plan->couplings.at, p->couplings, sizeof(uint64_t) * (size_t)p->coupling_count) == 0);
}

/* ---------------------------------------------------------------- order of the blocks */

/* Neighbours of every block: all blocks that are coupled to it, with the index of the coupling. */
typedef struct {
  int *start, *other, *coupling;
} Neighbours;

static Neighbours neighbours(Plan* plan, const PlanPattern* p) {
  Neighbours n = {ints(&plan->work[0], p->block_count + 2), ints(&plan->work[1], 2 * p->coupling_count),
                  ints(&plan->work[2], 2 * p->coupling_count)};
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
  return n; /* the neighbours of block a are at start[a] .. start[a + 1] - 1 */
}

/* Finds the elimination order of a pattern, or reuses the last order if the pattern is the same. */
static void look_for_order(Plan* plan, const PlanPattern* p, Neighbours near, int* order) {
  size_t keys = sizeof(uint64_t) * (size_t)p->coupling_count, places = sizeof(int) * (size_t)p->block_count;
  bool known = plan->base_blocks == p->block_count && plan->base_couplings == p->coupling_count &&
               (keys == 0 || memcmp(plan->base.at, p->couplings, keys) == 0);
  int* base = ints(&plan->base_order, p->block_count);
  if (!known) {
    int* work = ints(&plan->ordering, ordering_work(p->block_count, near.start[p->block_count]));
    ordering_find(p->block_count, near.start, near.other, work, base);
    plan->base_blocks = p->block_count;
    plan->base_couplings = p->coupling_count;
    memcpy(room(&plan->base, sizeof(uint64_t), (size_t)p->coupling_count + 1), p->couplings, keys);
  }
  memcpy(order, base, places);
}

/* Orders blocks by ascending rank (counting sort). Blocks without a rank (-1) come first. */
static void order_by_rank(Plan* plan, const PlanPattern* p, const int* rank, int* order) {
  int most = 0;
  for (int a = 0; a < p->block_count; a++)
    if (rank[a] > most) most = rank[a];
  int* next = ints(&plan->work[7], most + 3);
  memset(next, 0, sizeof(int) * (size_t)(most + 3));
  for (int a = 0; a < p->block_count; a++) next[rank[a] + 2]++;
  for (int k = 0; k <= most + 1; k++) next[k + 1] += next[k];
  for (int a = 0; a < p->block_count; a++) order[next[rank[a] + 1]++] = a;
}

/* Computes the elimination tree by Liu's algorithm. Sets parent[j] to the row of the first off-diagonal block in column
 * j of L, or to -1 if there is none. */
static void elimination_tree(int count, Neighbours near, const int* order, const int* position, int* parent,
                             int* ancestor) {
  for (int j = 0; j < count; j++) {
    parent[j] = ancestor[j] = -1;
    for (int k = near.start[order[j]]; k < near.start[order[j] + 1]; k++)
      for (int i = position[near.other[k]]; i < j && i >= 0 && ancestor[i] != j;) {
        int up = ancestor[i];
        ancestor[i] = j;
        if (up < 0) parent[i] = j;
        i = up;
      }
  }
}

/* Renumbers order and parent so that children come before their parents and subtrees are contiguous. */
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
      if (head[j] >= 0) { /* visit a child that was not visited yet */
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

static int append_new(int* row, int count, const int* from, int from_count, int above, int mark, int* marked) {
  for (int k = 0; k < from_count; k++)
    if (from[k] > above && marked[from[k]] != mark) {
      marked[from[k]] = mark;
      row[count++] = from[k];
    }
  return count;
}

/* Computes the block structure of L. A column has the rows of its own couplings and the rows of its children in the
 * elimination tree. */
static Columns columns_of(Plan* plan, int count, Neighbours near, const int* order, const int* position,
                          const int* parent, int* start, int* marked) {
  int *first_child = ints(&plan->work[6], 2 * count), *next = first_child + count, end = 0;
  for (int j = 0; j < count; j++) marked[j] = first_child[j] = -1;
  for (int j = 0; j < count; j++) {
    int near_first = near.start[order[j]], near_count = near.start[order[j] + 1] - near_first, most = near_count;
    for (int c = first_child[j]; c >= 0; c = next[c]) most += start[c + 1] - start[c];
    int* row = ints(&plan->columns, end + most);
    start[j] = end;
    for (int k = 0; k < near_count; k++) {
      int i = position[near.other[near_first + k]];
      if (i > j) {
        marked[i] = j;
        row[end++] = i;
      }
    }
    for (int c = first_child[j]; c >= 0; c = next[c])
      end = append_new(row, end, row + start[c], start[c + 1] - start[c], j, j, marked);
    sort_ints(row + start[j], end - start[j]);
    start[j + 1] = end;
    if (parent[j] >= 0) {
      next[j] = first_child[parent[j]];
      first_child[parent[j]] = j;
    }
  }
  return (Columns){start, ints(&plan->columns, end)};
}

/* ---------------------------------------------------------------- fronts */

/* State while columns are merged into one front: number of pivots, and number of entries that are not stored zeros. */
typedef struct {
  int width;
  double filled;
} Gathered;

static double trapezoid(int width, int below) { return (double)width * (0.5 * width + below); }

static bool joins(Gathered g, int size, int below) {
  int width = g.width + size;
  double area = trapezoid(width, below), zeros = area - g.filled - trapezoid(size, below);
  for (size_t k = 0;; k++)
    if (width <= JOINED[k].columns) return zeros <= JOINED[k].zeros * area;
}

typedef struct {
  Plan* plan;
  const PlanPattern* pattern;
  Neighbours near;
  const int *order, *position, *parent;
  Columns columns;
  int *front_of, *offset; /* for each block in elimination order: its front, and its first row in the current front */
  int entry_count, row_count, map_count;
} Layout;

static int size_at(const Layout* l, int j) { return l->pattern->size[l->order[j]]; }

static int size_below(const Layout* l, int j) {
  int size = 0;
  for (int k = l->columns.start[j]; k < l->columns.start[j + 1]; k++) size += size_at(l, l->columns.row[k]);
  return size;
}

/* Merges blocks from `first` on into one front. Returns the index after the last block of the front. */
static int front_end(const Layout* l, int first) {
  Gathered g = {size_at(l, first), trapezoid(size_at(l, first), size_below(l, first))};
  int last = first;
  for (int j = first + 1; j < l->pattern->block_count && l->parent[last] == j; j++) {
    int below = size_below(l, j);
    if (!joins(g, size_at(l, j), below)) break;
    g.width += size_at(l, j);
    g.filled += trapezoid(size_at(l, j), below);
    last = j;
  }
  return last + 1;
}

static void add_entries(Layout* l, Front* f, int j) {
  int block = l->order[j], most = l->near.start[block + 1] - l->near.start[block] + 1;
  FrontEntry* e = room(&l->plan->entries, sizeof(FrontEntry), (size_t)l->entry_count + (size_t)most);
  e[l->entry_count++] = (FrontEntry){block, l->offset[j], l->offset[j], true};
  for (int k = l->near.start[block]; k < l->near.start[block + 1]; k++) {
    int other = l->near.other[k], i = l->position[other];
    if (i > j) /* the rows of a stored coupling belong to the block with the lower number */
      e[l->entry_count++] =
          (FrontEntry){l->pattern->block_count + l->near.coupling[k], l->offset[i], l->offset[j], block < other};
  }
  f->entry_count = l->entry_count - f->entry_first;
}

/* Lists the rows of a front: first the rows of the blocks that it eliminates, then the rows below its last column. */
static void add_rows(Layout* l, Front* f, int first, int last, const int* place) {
  int own = 0, count = l->columns.start[last + 1] - l->columns.start[last], total = 0;
  for (int j = first; j <= last; j++) own += size_at(l, j);
  int* rows = ints(&l->plan->rows, l->row_count + own + size_below(l, last));
  for (int k = 0; k < last - first + 1 + count; k++) {
    int j = k <= last - first ? first + k : l->columns.row[l->columns.start[last] + k - (last - first + 1)];
    l->offset[j] = total;
    for (int i = 0; i < size_at(l, j); i++) rows[l->row_count + total++] = place[j] + i;
  }
  f->first = place[first];
  f->pivots = own;
  f->rows = total;
  f->stride = front_stride(total);
  f->row_first = l->row_count;
  l->row_count += total;
}

/* Maps the rows of a child's Schur complement to rows of the current front. */
static void add_map(Layout* l, Front* child, int last_of_child) {
  int* map = ints(&l->plan->map, l->map_count + child->rows - child->pivots);
  child->map_first = l->map_count;
  for (int k = l->columns.start[last_of_child]; k < l->columns.start[last_of_child + 1]; k++) {
    int j = l->columns.row[k];
    for (int i = 0; i < size_at(l, j); i++) map[l->map_count++] = l->offset[j] + i;
  }
}

static double flops_of(const Front* f) {
  double flops = 0;
  for (int k = 0; k < f->pivots; k++) flops += (double)(f->rows - k) * (f->rows - k);
  return flops;
}

static size_t rounded(size_t count) { return (count + 7) & ~(size_t)7; }

/* Assigns storage to the panels and to the Schur complements that wait for their parents. The stack is empty after a
 * root. */
static void place_storage(Plan* plan) {
  Front* fronts = plan->fronts.at;
  size_t top = 0;
  plan->panels = plan->update = plan->stack = plan->longest = 0;
  plan->flops = 0;
  for (int s = 0; s < plan->front_count; s++) {
    Front* f = &fronts[s];
    size_t below = (size_t)(f->rows - f->pivots);
    f->panel = plan->panels;
    plan->panels += rounded((size_t)f->stride * (size_t)f->pivots);
    if ((size_t)f->stride * below > plan->update) plan->update = (size_t)f->stride * below;
    if ((size_t)f->stride > plan->longest) plan->longest = (size_t)f->stride;
    for (int c = f->child; c >= 0; c = fronts[c].next)
      top = fronts[c].waiting; /* children are listed from the last to the first, so the final value belongs to the
                                  first child */
    f->waiting = top;
    top += below * below;
    if (top > plan->stack) plan->stack = top;
    plan->flops += flops_of(f);
  }
  plan->update = rounded(plan->update);
  plan->stack = rounded(plan->stack);
}

static void make_fronts(Layout* l, const int* place, int* last_of) {
  int blocks = l->pattern->block_count, count = 0;
  for (int first = 0, end; first < blocks; first = end, count++) {
    end = front_end(l, first);
    for (int j = first; j < end; j++) l->front_of[j] = count;
    last_of[count] = end - 1;
  }
  Front* fronts = room(&l->plan->fronts, sizeof(Front), (size_t)count);
  for (int s = 0; s < count; s++) fronts[s] = (Front){.parent = -1, .child = -1, .next = -1};
  for (int s = 0; s < count; s++) {
    Front* f = &fronts[s];
    int first = s == 0 ? 0 : last_of[s - 1] + 1, up = l->parent[last_of[s]];
    add_rows(l, f, first, last_of[s], place);
    f->entry_first = l->entry_count;
    for (int j = first; j <= last_of[s]; j++) add_entries(l, f, j);
    for (int c = f->child; c >= 0; c = fronts[c].next) add_map(l, &fronts[c], last_of[c]);
    if (up < 0) continue;
    f->parent = l->front_of[up];
    f->next = fronts[f->parent].child;
    fronts[f->parent].child = s;
  }
  l->plan->front_count = count;
}

/* Sets place to the first position of every block in the elimination order, and plan->unknown to the unknown at every
 * position. */
static void place_unknowns(Plan* plan, const PlanPattern* p, const int* order, int* place) {
  int *unknown = ints(&plan->unknown, plan->order), *first = ints(&plan->work[6], p->block_count + 1), next = 0;
  first[0] = 0;
  for (int a = 0; a < p->block_count; a++) first[a + 1] = first[a] + p->size[a];
  for (int j = 0; j < p->block_count; j++) {
    place[j] = next;
    for (int i = 0; i < p->size[order[j]]; i++) unknown[next++] = first[order[j]] + i;
  }
}

static void remember(Plan* plan, const PlanPattern* p) {
  plan->block_count = p->block_count;
  plan->coupling_count = p->coupling_count;
  memcpy(ints(&plan->size, p->block_count), p->size, sizeof(int) * (size_t)p->block_count);
  uint64_t* couplings = room(&plan->couplings, sizeof(uint64_t), (size_t)p->coupling_count + 1);
  memcpy(couplings, p->couplings, sizeof(uint64_t) * (size_t)p->coupling_count);
  plan->order = 0;
  for (int a = 0; a < p->block_count; a++) plan->order += p->size[a];
}

const int* plan_order(const Plan* plan) { return plan->work[3].at; }

void plan_make(Plan* plan, const PlanPattern* p, const int* rank) {
  int n = p->block_count;
  remember(plan, p);
  Neighbours near = neighbours(plan, p);
  int *order = ints(&plan->work[3], 3 * n + 1), *position = order + n, *parent = position + n;
  if (rank)
    order_by_rank(plan, p, rank, order);
  else
    look_for_order(plan, p, near, order);
  int *work = ints(&plan->work[4], 3 * n + 1), *starts = ints(&plan->work[5], n + 1),
      *place = ints(&plan->work[7], 2 * n);
  for (int j = 0; j < n; j++) position[order[j]] = j;
  elimination_tree(n, near, order, position, parent, work);
  postorder(n, order, parent, work, work + n, work + 2 * n);
  for (int j = 0; j < n; j++) position[order[j]] = j;
  Columns columns = columns_of(plan, n, near, order, position, parent, starts, work);
  place_unknowns(plan, p, order, place);
  Layout l = {plan, p, near, order, position, parent, columns, work, work + n, 0, 0, 0};
  make_fronts(&l, place, place + n);
  place_storage(plan);
}

/* ---------------------------------------------------------------- numerical factorization and solution */

size_t plan_storage(const Plan* plan) {
  return plan->panels + plan->update + plan->stack + rounded((size_t)plan->order) + 2 * rounded(plan->longest) +
         front_work((int)plan->longest);
}

static double* column_of(const Front* f, double* panel, double* update, int column) {
  return column < f->pivots ? panel + (size_t)column * (size_t)f->stride
                            : update + (size_t)(column - f->pivots) * (size_t)f->stride;
}

/* Copies the blocks of the matrix into a front's panel. All of them lie in the pivot columns of the front. */
static void add_blocks(const Plan* plan, const Front* f, PlanValues matrix, double* panel) {
  const int* size = plan->size.at;
  const uint64_t* couplings = plan->couplings.at;
  const FrontEntry* entries = (const FrontEntry*)plan->entries.at + f->entry_first;
  for (int k = 0; k < f->entry_count; k++) {
    FrontEntry e = entries[k];
    bool diagonal = e.block < plan->block_count;
    uint64_t key = diagonal ? (uint64_t)e.block << 32 | (uint32_t)e.block : couplings[e.block - plan->block_count];
    int rows = size[key >> 32], columns = size[key & 0xffffffffu];
    const double* value = matrix.values + matrix.offset[e.block];
    double* to = panel + (size_t)e.column * (size_t)f->stride + e.row;
    for (int r = 0; r < rows; r++)
      for (int c = diagonal ? r : 0; c < columns; c++)
        to[e.flipped ? (size_t)r * (size_t)f->stride + (size_t)c : (size_t)c * (size_t)f->stride + (size_t)r] =
            value[r * columns + c];
  }
}

/* Adds a child's Schur complement to a front (extend-add). */
static void add_child(const Plan* plan, const Front* f, const Front* child, const double* stack, double* panel,
                      double* update) {
  const int* map = (const int*)plan->map.at + child->map_first;
  int count = child->rows - child->pivots;
  const double* from = stack + child->waiting;
  for (int j = 0; j < count; j++, from += count) {
    double* to = column_of(f, panel, update, map[j]);
    for (int i = j; i < count; i++) to[map[i]] += from[i];
  }
}

static void raise_diagonal(const Front* f, double shift, double largest, double* panel) {
  for (int k = 0; k < f->pivots; k++) {
    double* d = &panel[(size_t)k * (size_t)f->stride + (size_t)k];
    *d += shift * (fabs(*d) + 1e-6 * largest);
  }
}

static double largest_diagonal(const Plan* plan, PlanValues matrix) {
  const int* size = plan->size.at;
  double largest = 0;
  for (int a = 0; a < plan->block_count; a++)
    for (int i = 0; i < size[a]; i++)
      largest = fmax(largest, fabs(matrix.values[matrix.offset[a] + (size_t)(i * size[a] + i)]));
  return largest;
}

/* Copies the Schur complement of a front to the stack, where the parent front reads it. */
static void put_aside(const Front* f, const double* update, double* stack) {
  int count = f->rows - f->pivots;
  double* to = stack + f->waiting;
  for (int j = 0; j < count; j++, to += count)
    for (int i = j; i < count; i++) to[i] = update[(size_t)j * (size_t)f->stride + (size_t)(f->pivots + i)];
}

/* Sections of the storage of a factor. */
typedef struct {
  double *panels, *update, *stack, *places, *part, *spare, *work;
} Parts;

static Parts parts_of(const Plan* plan, double* storage) {
  Parts p;
  p.panels = storage;
  p.update = p.panels + plan->panels;
  p.stack = p.update + plan->update;
  p.places = p.stack + plan->stack;
  p.part = p.places + rounded((size_t)plan->order);
  p.spare = p.part + rounded(plan->longest);
  p.work = p.spare + rounded(plan->longest);
  return p;
}

/* Assembles a front from the blocks of the matrix and the Schur complements of its children. */
static void assemble(const Plan* plan, const Front* f, PlanValues matrix, double shift, double largest,
                     const Parts* parts, double* panel) {
  const Front* fronts = plan->fronts.at;
  memset(panel, 0, sizeof(double) * (size_t)f->stride * (size_t)f->pivots);
  memset(parts->update, 0, sizeof(double) * (size_t)f->stride * (size_t)(f->rows - f->pivots));
  add_blocks(plan, f, matrix, panel);
  if (shift > 0) raise_diagonal(f, shift, largest, panel);
  for (int c = f->child; c >= 0; c = fronts[c].next) add_child(plan, f, &fronts[c], parts->stack, panel, parts->update);
}

bool plan_factor(const Plan* plan, PlanValues matrix, double relative_shift, double* storage) {
  Parts parts = parts_of(plan, storage);
  const Front* fronts = plan->fronts.at;
  double largest = relative_shift > 0 ? largest_diagonal(plan, matrix) : 0;
  for (int s = 0; s < plan->front_count; s++) {
    const Front* f = &fronts[s];
    double* panel = storage + f->panel;
    assemble(plan, f, matrix, relative_shift, largest, &parts, panel);
    if (!front_factor(f->rows, f->pivots, f->stride, panel, parts.update, parts.work)) return false;
    put_aside(f, parts.update, parts.stack);
  }
  return true;
}

static IndefinitePivots pivots_of(const IndefinitePivots* all, const Front* f) {
  return (IndefinitePivots){all->from + f->first, all->beside + f->first};
}

int plan_factor_indefinite(const Plan* plan, PlanValues matrix, double tiny, double* storage,
                           const IndefinitePivots* pivots) {
  Parts parts = parts_of(plan, storage);
  const Front* fronts = plan->fronts.at;
  int replaced = 0;
  for (int s = 0; s < plan->front_count; s++) {
    const Front* f = &fronts[s];
    double* panel = storage + f->panel;
    assemble(plan, f, matrix, 0, 0, &parts, panel);
    int own = indefinite_factor(f->rows, f->pivots, f->stride, tiny, panel, parts.update, pivots_of(pivots, f));
    if (own < 0) return -1;
    replaced += own;
    put_aside(f, parts.update, parts.stack);
  }
  return replaced;
}

/* Copies the entries that belong to the rows of a front from y, a vector in elimination order, to x. Padding rows
 * become zero. */
static void gather(const Front* f, const int* rows, const double* y, double* x) {
  for (int r = 0; r < f->rows; r++) x[r] = y[rows[r]];
  for (int r = f->rows; r < f->stride; r++) x[r] = 0;
}

static void solve_front(const Front* f, const double* panel, const IndefinitePivots* pivots, bool forward,
                        const Parts* parts) {
  if (!pivots)
    (forward ? front_forward : front_backward)(f->pivots, f->stride, panel, parts->part);
  else
    (forward ? indefinite_forward : indefinite_backward)(f->pivots, f->stride, panel, pivots_of(pivots, f), parts->part,
                                                         parts->spare);
}

void plan_solve(const Plan* plan, double* storage, const IndefinitePivots* pivots, double* x) {
  Parts parts = parts_of(plan, storage);
  double *y = parts.places, *part = parts.part;
  const Front* fronts = plan->fronts.at;
  const int *unknown = plan->unknown.at, *all_rows = plan->rows.at;
  for (int k = 0; k < plan->order; k++) y[k] = x[unknown[k]];
  for (int s = 0; s < plan->front_count; s++) {
    const int* rows = all_rows + fronts[s].row_first;
    gather(&fronts[s], rows, y, part);
    solve_front(&fronts[s], storage + fronts[s].panel, pivots, true, &parts);
    for (int r = 0; r < fronts[s].rows; r++) y[rows[r]] = part[r];
  }
  for (int s = plan->front_count - 1; s >= 0; s--) {
    const int* rows = all_rows + fronts[s].row_first;
    gather(&fronts[s], rows, y, part);
    solve_front(&fronts[s], storage + fronts[s].panel, pivots, false, &parts);
    for (int r = 0; r < fronts[s].pivots; r++) y[rows[r]] = part[r];
  }
  for (int k = 0; k < plan->order; k++) x[unknown[k]] = y[k];
}
