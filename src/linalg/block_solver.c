#include <lapacke.h>
#include <string.h>
#include <suitesparse/cholmod.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "linalg/linalg.h"

/* Up to this order a dense factorisation is not worth avoiding. */
enum { DENSE_ALWAYS = 96 };
/* Sparse pays when its flops are under this part of the dense n^3 / 3: dense runs in blocked kernels. */
#define SPARSE_FLOP_SHARE 0.25

typedef struct {
  uint64_t key;
  size_t offset; /* into values; row-major, rows = size of a */
} Block;

struct BlockSolver {
  int block_count, order;
  int *size, *first; /* of every block */
  bool sparse;
  /* dense: row-major upper = column-major lower, leading dimension `order` */
  double *dense, *factor;
  /* eigen-decomposition, of either */
  double *eigenvalues, *vectors, *rotated, *work;
  int* integer_work;
  int work_size, integer_work_size;
  bool spectral; /* the last factorisation is an eigen-decomposition */
  /* dense: blocks that were asked for couple; the matrix falls into the components of that graph, each factored alone
   */
  bool* coupled;        /* (a, b), a < b, asked for since block_solver_clear  (block_count^2) */
  int* component;       /* of every block: the smallest block it hangs together with  (block_count) */
  int* component_first; /* first entry of every component in `permutation`; component_count + 1 */
  int component_count;
  double* gathered; /* right-hand side of one component (order) */
  /* sparse */
  Block* blocks; /* diagonal ones first, then the couplings, sorted by key within each */
  int coupling_count, block_capacity;
  double* values;
  size_t value_count, value_capacity;
  cholmod_common common;
  bool started;
  cholmod_sparse* matrix; /* permuted; upper (simplicial) or lower (supernodal) */
  size_t* source;         /* of every entry of matrix, into values */
  size_t source_capacity;
  int* permutation; /* scalar: new -> old */
  cholmod_factor* l;
  cholmod_dense *rhs, *solution, *y, *e;
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
  s->permutation = MEMORY_NEW(int, s->order);
  if (s->order > DENSE_ALWAYS) {
    cholmod_start(&s->common);
    s->started = true;
    s->common.final_ll = 1;
    s->common.print = 0;
    s->common.nmethods = 1;
    s->common.quick_return_if_not_posdef = 1;
  }
  return s;
}

static void free_sparse(BlockSolver* s) {
  if (!s->started) return;
  cholmod_free_sparse(&s->matrix, &s->common);
  cholmod_free_factor(&s->l, &s->common);
  cholmod_free_dense(&s->rhs, &s->common);
  cholmod_free_dense(&s->solution, &s->common);
  cholmod_free_dense(&s->y, &s->common);
  cholmod_free_dense(&s->e, &s->common);
}

void block_solver_destroy(BlockSolver* s) {
  if (!s) return;
  free_sparse(s);
  if (s->started) cholmod_finish(&s->common);
  memory_free(s->size);
  memory_free(s->first);
  memory_free(s->permutation);
  memory_free(s->dense);
  memory_free(s->factor);
  memory_free(s->eigenvalues);
  memory_free(s->vectors);
  memory_free(s->rotated);
  memory_free(s->work);
  memory_free(s->integer_work);
  memory_free(s->coupled);
  memory_free(s->component);
  memory_free(s->component_first);
  memory_free(s->gathered);
  memory_free(s->blocks);
  memory_free(s->values);
  memory_free(s->source);
  memory_free(s);
}

/* ---------------------------------------------------------------- pattern */

/* Fill-reducing, postordered order of the blocks, from CHOLMOD's analysis of the block graph. */
static bool order_blocks(BlockSolver* s, const uint64_t* couplings, int count, int* order) {
  cholmod_common* c = &s->common;
  cholmod_sparse* graph = cholmod_allocate_sparse((size_t)s->block_count, (size_t)s->block_count,
                                                  (size_t)s->block_count + (size_t)count, 1, 1, 1, CHOLMOD_PATTERN, c);
  int *p = graph->p, *i = graph->i;
  memset(p, 0, sizeof(int) * (size_t)(s->block_count + 1));
  for (int k = 0; k < count; k++) p[(couplings[k] & 0xffffffffu) + 1]++;
  for (int k = 0; k < s->block_count; k++) p[k + 1] += p[k] + 1; /* and the diagonal, last in its column */
  int* next = MEMORY_NEW(int, s->block_count);
  for (int k = 0; k < s->block_count; k++) next[k] = p[k];
  for (int k = 0; k < count; k++) i[next[couplings[k] & 0xffffffffu]++] = (int)(couplings[k] >> 32);
  for (int k = 0; k < s->block_count; k++) i[next[k]] = k;
  memory_free(next);
  c->method[0].ordering = CHOLMOD_AMD;
  c->postorder = 1;
  c->supernodal = CHOLMOD_SIMPLICIAL;
  cholmod_factor* l = cholmod_analyze(graph, c);
  bool ok = l != NULL;
  if (ok) memcpy(order, l->Perm, sizeof(int) * (size_t)s->block_count);
  cholmod_free_factor(&l, c);
  cholmod_free_sparse(&graph, c);
  return ok;
}

static const Block* find_block(const BlockSolver* s, int a, int b) {
  if (a == b) return &s->blocks[a];
  uint64_t key = (uint64_t)a << 32 | (uint32_t)b;
  const Block* list = s->blocks + s->block_count;
  int low = 0, high = s->coupling_count;
  while (low < high) {
    int middle = (low + high) / 2;
    if (list[middle].key < key)
      low = middle + 1;
    else
      high = middle;
  }
  return low < s->coupling_count && list[low].key == key ? &list[low] : NULL;
}

static void store_blocks(BlockSolver* s, const uint64_t* couplings, int count) {
  int total = s->block_count + count;
  if (total > s->block_capacity) {
    memory_free(s->blocks);
    s->block_capacity = total + total / 2;
    s->blocks = MEMORY_NEW(Block, s->block_capacity);
  }
  s->coupling_count = count;
  size_t offset = 0;
  for (int k = 0; k < total; k++) {
    uint64_t key = k < s->block_count ? (uint64_t)k << 32 | (uint32_t)k : couplings[k - s->block_count];
    s->blocks[k] = (Block){key, offset};
    offset += (size_t)s->size[key >> 32] * (size_t)s->size[key & 0xffffffffu];
  }
  s->value_count = offset;
  if (offset > s->value_capacity) {
    memory_free(s->values);
    s->value_capacity = offset + offset / 2;
    s->values = MEMORY_NEW(double, s->value_capacity);
  }
}

/* Neighbours of every block in the new order, as compressed lists. */
typedef struct {
  int *start, *other;
} Adjacency;

static Adjacency adjacency(const BlockSolver* s, const int* position, bool upper) {
  Adjacency a = {MEMORY_NEW(int, s->block_count + 1), MEMORY_NEW(int, s->coupling_count + 1)};
  const Block* list = s->blocks + s->block_count;
  for (int pass = 0; pass < 2; pass++) {
    for (int k = 0; k < s->coupling_count; k++) {
      int x = (int)(list[k].key >> 32), y = (int)(list[k].key & 0xffffffffu);
      bool x_first = position[x] < position[y];
      int column = (x_first == upper) ? y : x, row = column == x ? y : x; /* upper: the later one holds the column */
      if (pass == 0)
        a.start[position[column] + 1]++;
      else
        a.other[a.start[position[column]]++] = position[row];
    }
    if (pass == 0)
      for (int k = 0; k < s->block_count; k++) a.start[k + 1] += a.start[k];
  }
  for (int k = s->block_count; k > 0; k--) a.start[k] = a.start[k - 1];
  a.start[0] = 0;
  for (int k = 0; k < s->block_count; k++) /* ascending rows */
    for (int i = a.start[k] + 1; i < a.start[k + 1]; i++)
      for (int j = i; j > a.start[k] && a.other[j - 1] > a.other[j]; j--) {
        int swap = a.other[j];
        a.other[j] = a.other[j - 1];
        a.other[j - 1] = swap;
      }
  return a;
}

/* Where entry (r of x, c of y) is stored. */
static size_t source_of(const BlockSolver* s, int x, int r, int y, int c) {
  if (x == y) return s->blocks[x].offset + (size_t)((r < c ? r : c) * s->size[x] + (r < c ? c : r));
  const Block* b = x < y ? find_block(s, x, y) : find_block(s, y, x);
  return b->offset + (size_t)(x < y ? r * s->size[y] + c : c * s->size[x] + r);
}

/* Compressed columns in the new order with the place of every entry. upper: rows <= column. */
static void build_matrix(BlockSolver* s, const int* order, bool upper) {
  int* position = MEMORY_NEW(int, s->block_count);
  int* new_first = MEMORY_NEW(int, s->block_count + 1);
  for (int k = 0; k < s->block_count; k++) {
    position[order[k]] = k;
    new_first[k + 1] = new_first[k] + s->size[order[k]];
    for (int i = 0; i < s->size[order[k]]; i++) s->permutation[new_first[k] + i] = s->first[order[k]] + i;
  }
  Adjacency near = adjacency(s, position, upper);
  cholmod_free_sparse(&s->matrix, &s->common);
  s->matrix = cholmod_allocate_sparse((size_t)s->order, (size_t)s->order, s->value_count, 1, 1, upper ? 1 : -1,
                                      CHOLMOD_REAL, &s->common);
  if (s->value_count > s->source_capacity) {
    memory_free(s->source);
    s->source_capacity = s->value_capacity;
    s->source = MEMORY_NEW(size_t, s->source_capacity);
  }
  int *p = s->matrix->p, *row = s->matrix->i, entry = 0;
  for (int k = 0; k < s->block_count; k++)
    for (int c = 0; c < s->size[order[k]]; c++) {
      p[new_first[k] + c] = entry;
      int low = upper ? 0 : c, high = upper ? c + 1 : s->size[order[k]];
      if (!upper)
        for (int r = low; r < high; r++, entry++) {
          row[entry] = new_first[k] + r;
          s->source[entry] = source_of(s, order[k], r, order[k], c);
        }
      for (int n = near.start[k]; n < near.start[k + 1]; n++)
        for (int r = 0; r < s->size[order[near.other[n]]]; r++, entry++) {
          row[entry] = new_first[near.other[n]] + r;
          s->source[entry] = source_of(s, order[near.other[n]], r, order[k], c);
        }
      if (upper)
        for (int r = low; r < high; r++, entry++) {
          row[entry] = new_first[k] + r;
          s->source[entry] = source_of(s, order[k], r, order[k], c);
        }
    }
  p[s->order] = entry;
  memory_free(near.start);
  memory_free(near.other);
  memory_free(position);
  memory_free(new_first);
}

static bool analyse(BlockSolver* s) {
  cholmod_common* c = &s->common;
  c->method[0].ordering = CHOLMOD_NATURAL;
  c->postorder = 0;
  c->supernodal = CHOLMOD_AUTO;
  cholmod_free_factor(&s->l, c);
  s->l = cholmod_analyze(s->matrix, c);
  return s->l != NULL;
}

static bool try_sparse(BlockSolver* s, const uint64_t* couplings, int count) {
  if (!s->started) return false;
  int* order = MEMORY_NEW(int, s->block_count);
  store_blocks(s, couplings, count);
  bool ok = order_blocks(s, couplings, count, order);
  if (ok) {
    build_matrix(s, order, true);
    ok = analyse(s);
    double n = s->order;
    ok = ok && s->common.fl < SPARSE_FLOP_SHARE * n * n * n / 3.0;
    if (ok && s->l->is_super) { /* supernodal wants the lower part */
      build_matrix(s, order, false);
      ok = analyse(s);
    }
  }
  memory_free(order);
  if (!ok) return false;
  if (!s->rhs) s->rhs = cholmod_allocate_dense((size_t)s->order, 1, (size_t)s->order, CHOLMOD_REAL, &s->common);
  return true;
}

static void prepare_dense(BlockSolver* s) {
  if (s->dense) return;
  size_t n = (size_t)s->order, blocks = (size_t)s->block_count;
  s->dense = MEMORY_NEW(double, n* n);
  s->factor = MEMORY_NEW(double, n* n);
  s->gathered = MEMORY_NEW(double, n);
  s->coupled = MEMORY_NEW(bool, blocks* blocks);
  s->component = MEMORY_NEW(int, blocks);
  s->component_first = MEMORY_NEW(int, blocks + 1);
}

void block_solver_pattern(BlockSolver* s, const uint64_t* couplings, int count) {
  s->sparse = try_sparse(s, couplings, count);
  if (!s->sparse) prepare_dense(s);
}

/* ---------------------------------------------------------------- filling */

void block_solver_clear(BlockSolver* s) {
  if (s->sparse)
    memset(s->values, 0, sizeof(double) * s->value_count);
  else
    memset(s->dense, 0, sizeof(double) * (size_t)s->order * (size_t)s->order);
  if (!s->sparse) memset(s->coupled, 0, sizeof(bool) * (size_t)s->block_count * (size_t)s->block_count);
}

static double* block_at(BlockSolver* s, int a, int b, int* stride) {
  if (!s->sparse) {
    *stride = s->order;
    return s->dense + (size_t)s->first[a] * (size_t)s->order + s->first[b];
  }
  const Block* block = find_block(s, a, b);
  *stride = s->size[b];
  return block ? s->values + block->offset : NULL;
}

double* block_solver_block(BlockSolver* s, int a, int b, int* stride) {
  if (!s->sparse && a != b) s->coupled[(size_t)a * (size_t)s->block_count + (size_t)b] = true;
  return block_at(s, a, b, stride);
}

/* ---------------------------------------------------------------- factoring and solving */

/* Blocks that hang together, and the unknowns sorted by them. */
static void find_components(BlockSolver* s) {
  int blocks = s->block_count;
  sets_separate(s->component, blocks);
  for (int a = 0; a < blocks; a++)
    for (int b = a + 1; b < blocks; b++)
      if (s->coupled[(size_t)a * (size_t)blocks + (size_t)b]) sets_join(s->component, a, b);
  for (int a = 0; a < blocks; a++) s->component[a] = sets_root(s->component, a);
  int next = 0;
  s->component_count = 0;
  for (int root = 0; root < blocks; root++) {
    if (s->component[root] != root) continue;
    s->component_first[s->component_count++] = next;
    for (int b = root; b < blocks; b++)
      for (int k = s->first[b]; s->component[b] == root && k < s->first[b + 1]; k++) s->permutation[next++] = k;
  }
  s->component_first[s->component_count] = next;
}

static bool factor_dense(BlockSolver* s) {
  size_t n = (size_t)s->order;
  double* factor = s->factor;
  s->spectral = false;
  find_components(s);
  for (int c = 0; c < s->component_count; c++) {
    const int* index = s->permutation + s->component_first[c];
    int size = s->component_first[c + 1] - s->component_first[c];
    for (int i = 0; i < size; i++)
      for (int j = i; j < size; j++)
        factor[(size_t)i * (size_t)size + (size_t)j] = s->dense[(size_t)index[i] * n + (size_t)index[j]];
    if (size > 0 && LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', size, factor, size) != 0) return false;
    factor += (size_t)size * (size_t)size;
  }
  return true;
}

static void solve_dense(BlockSolver* s, double* x) {
  const double* factor = s->factor;
  for (int c = 0; c < s->component_count; c++) {
    const int* index = s->permutation + s->component_first[c];
    int size = s->component_first[c + 1] - s->component_first[c];
    for (int i = 0; i < size; i++) s->gathered[i] = x[index[i]];
    if (size > 0) LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'L', size, 1, factor, size, s->gathered, size);
    for (int i = 0; i < size; i++) x[index[i]] = s->gathered[i];
    factor += (size_t)size * (size_t)size;
  }
}

/* CHOLMOD opens parallel regions of its own, each for a few microseconds of work: keep it in this thread. */
static void allow_parallel(bool allowed) {
#ifdef _OPENMP
  omp_set_max_active_levels(allowed ? 1 : 0);
#else
  (void)allowed;
#endif
}

static bool factor_sparse(BlockSolver* s, double relative_shift) {
  double* x = s->matrix->x;
  s->spectral = false;
  const int *p = s->matrix->p, *row = s->matrix->i;
  for (int k = 0; k < p[s->order]; k++) x[k] = s->values[s->source[k]];
  if (relative_shift > 0) {
    double largest = 0;
    for (int j = 0; j < s->order; j++)
      for (int k = p[j]; k < p[j + 1]; k++)
        if (row[k] == j && fabs(x[k]) > largest) largest = fabs(x[k]);
    for (int j = 0; j < s->order; j++)
      for (int k = p[j]; k < p[j + 1]; k++)
        if (row[k] == j) x[k] += relative_shift * (fabs(x[k]) + 1e-6 * largest);
  }
  allow_parallel(false);
  bool ok = cholmod_factorize(s->matrix, s->l, &s->common) && s->common.status == CHOLMOD_OK;
  allow_parallel(true);
  return ok;
}

bool block_solver_factor(BlockSolver* s) {
  if (s->order == 0) return true;
  return s->sparse ? factor_sparse(s, 0) : factor_dense(s);
}

static void prepare_spectral(BlockSolver* s) {
  if (s->eigenvalues) return;
  size_t n = (size_t)s->order;
  s->eigenvalues = MEMORY_NEW(double, n);
  s->vectors = MEMORY_NEW(double, n* n);
  s->rotated = MEMORY_NEW(double, n);
  double size;
  int integer_size;
  LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, 'V', 'L', s->order, s->vectors, s->order, s->eigenvalues, &size, -1,
                      &integer_size, -1);
  s->work_size = (int)size;
  s->integer_work_size = integer_size;
  s->work = MEMORY_NEW(double, s->work_size);
  s->integer_work = MEMORY_NEW(int, s->integer_work_size);
}

bool block_solver_factor_lifted(BlockSolver* s, double floor) {
  if (s->order == 0) return true;
  if (s->sparse) {
    for (double shift = 1e-4; shift < 1e6; shift *= 10)
      if (factor_sparse(s, shift)) return true;
    return false;
  }
  size_t n = (size_t)s->order;
  prepare_spectral(s);
  memcpy(s->vectors, s->dense, sizeof(double) * n * n);
  for (size_t k = 0; k < n * n; k++)
    if (!isfinite(s->vectors[k])) return false;
  if (LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, 'V', 'L', s->order, s->vectors, s->order, s->eigenvalues, s->work,
                          s->work_size, s->integer_work, s->integer_work_size) != 0)
    return false;
  for (size_t k = 0; k < n; k++) s->eigenvalues[k] = fmax(fabs(s->eigenvalues[k]), floor);
  s->spectral = true;
  return true;
}

static void solve_spectral(BlockSolver* s, double* x) {
  size_t n = (size_t)s->order;
  for (size_t k = 0; k < n; k++) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += s->vectors[k * n + i] * x[i];
    s->rotated[k] = sum / s->eigenvalues[k];
  }
  memset(x, 0, sizeof(double) * n);
  for (size_t k = 0; k < n; k++)
    for (size_t i = 0; i < n; i++) x[i] += s->vectors[k * n + i] * s->rotated[k];
}

/* All blocks as one dense matrix, row-major upper = column-major lower. */
static void fill_vectors(BlockSolver* s) {
  size_t n = (size_t)s->order;
  if (!s->sparse) {
    memcpy(s->vectors, s->dense, sizeof(double) * n * n);
    return;
  }
  memset(s->vectors, 0, sizeof(double) * n * n);
  for (int k = 0; k < s->block_count + s->coupling_count; k++) {
    int a = (int)(s->blocks[k].key >> 32), b = (int)(s->blocks[k].key & 0xffffffffu);
    for (int r = 0; r < s->size[a]; r++)
      for (int c = 0; c < s->size[b]; c++)
        s->vectors[(size_t)(s->first[a] + r) * n + (size_t)(s->first[b] + c)] =
            s->values[s->blocks[k].offset + (size_t)(r * s->size[b] + c)];
  }
}

/* Eigenvalues this far below the largest are rounding. */
#define SINGULAR 1e-14

bool block_solver_factor_indefinite(BlockSolver* s, double* smallest) {
  *smallest = 0;
  if (s->order == 0) return true;
  size_t n = (size_t)s->order;
  prepare_spectral(s);
  fill_vectors(s);
  for (size_t k = 0; k < n * n; k++)
    if (!isfinite(s->vectors[k])) return false;
  if (LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, 'V', 'L', s->order, s->vectors, s->order, s->eigenvalues, s->work,
                          s->work_size, s->integer_work, s->integer_work_size) != 0)
    return false;
  double largest = 0;
  *smallest = s->eigenvalues[0];
  for (size_t k = 0; k < n; k++) {
    largest = fmax(largest, fabs(s->eigenvalues[k]));
    if (fabs(s->eigenvalues[k]) < fabs(*smallest)) *smallest = s->eigenvalues[k];
  }
  s->spectral = true;
  return fabs(*smallest) > SINGULAR * largest;
}

void block_solver_multiply(const BlockSolver* s, const double* x, double* y) {
  memset(y, 0, sizeof(double) * (size_t)s->order);
  int pairs = s->sparse ? s->block_count + s->coupling_count : s->block_count * s->block_count;
  for (int k = 0; k < pairs; k++) {
    int a = s->sparse ? (int)(s->blocks[k].key >> 32) : k / s->block_count;
    int b = s->sparse ? (int)(s->blocks[k].key & 0xffffffffu) : k % s->block_count;
    if (b < a || (!s->sparse && a != b && !s->coupled[(size_t)k])) continue;
    const double* block =
        s->sparse ? s->values + s->blocks[k].offset : s->dense + (size_t)s->first[a] * (size_t)s->order + s->first[b];
    int stride = s->sparse ? s->size[b] : s->order;
    for (int r = 0; r < s->size[a]; r++)
      for (int c = a == b ? r : 0; c < s->size[b]; c++) {
        int i = s->first[a] + r, j = s->first[b] + c;
        y[i] += block[r * stride + c] * x[j];
        if (i != j) y[j] += block[r * stride + c] * x[i];
      }
  }
}

void block_solver_solve(BlockSolver* s, double* x) {
  if (s->order == 0) return;
  if (s->spectral) {
    solve_spectral(s, x);
    return;
  }
  if (!s->sparse) {
    solve_dense(s, x);
    return;
  }
  double* b = s->rhs->x;
  for (int k = 0; k < s->order; k++) b[k] = x[s->permutation[k]];
  cholmod_solve2(CHOLMOD_A, s->l, s->rhs, NULL, &s->solution, NULL, &s->y, &s->e, &s->common);
  const double* y = s->solution->x;
  for (int k = 0; k < s->order; k++) x[s->permutation[k]] = y[k];
}

static void constrain_block(BlockSolver* s, int a, int b, const bool* fixed, const double* value, double* rhs) {
  int stride;
  double* block = block_at(s, a, b, &stride);
  for (int r = 0; block && r < s->size[a]; r++)
    for (int c = a == b ? r : 0; c < s->size[b]; c++) {
      int i = s->first[a] + r, j = s->first[b] + c;
      double* entry = &block[r * stride + c];
      if (fixed[i] && !fixed[j]) rhs[j] -= *entry * value[i];
      if (fixed[j] && !fixed[i]) rhs[i] -= *entry * value[j];
      if (fixed[i] || fixed[j]) *entry = i == j ? 1.0 : 0.0;
    }
}

void block_solver_constrain(BlockSolver* s, const bool* fixed, const double* value, double* rhs) {
  for (int a = 0; a < s->block_count; a++) {
    constrain_block(s, a, a, fixed, value, rhs);
    if (!s->sparse)
      for (int b = a + 1; b < s->block_count; b++) constrain_block(s, a, b, fixed, value, rhs);
  }
  for (int k = 0; s->sparse && k < s->coupling_count; k++) {
    uint64_t key = s->blocks[s->block_count + k].key;
    constrain_block(s, (int)(key >> 32), (int)(key & 0xffffffffu), fixed, value, rhs);
  }
  for (int k = 0; k < s->order; k++)
    if (fixed[k]) rhs[k] = value[k];
}

int block_solver_order(const BlockSolver* s) { return s->order; }

bool block_solver_is_sparse(const BlockSolver* s) { return s->sparse; }
