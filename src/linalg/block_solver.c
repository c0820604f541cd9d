/* Symmetric block matrices: pattern, entries and products. Each connected component of the filled blocks is factored
 * separately, as one dense front (front.h) or by the multifrontal method (plan.h). */
#include "linalg/block_solver.h"

#include <assert.h>
#include <string.h>

BlockSolver* block_solver_create(int block_count, const int* block_sizes) {
  assert(block_count >= 0);
  BlockSolver* s = MEMORY_NEW(BlockSolver, 1);
  s->block_count = s->block_capacity = block_count;
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
  s->local_first = MEMORY_NEW(int, block_count);
  s->plans = MEMORY_NEW(Plan, block_count);
  s->plan_index = MEMORY_NEW(int, block_count);
  s->plan_owner = MEMORY_NEW(int, block_count);
  for (int k = 0; k < block_count; k++) s->plan_index[k] = -1;
  s->plan_version = MEMORY_NEW(int64_t, block_count);
  s->rank = MEMORY_NEW(int, block_count);
  s->local_rank = MEMORY_NEW(int, block_count);
  s->flops_ratio = MEMORY_NEW(double, block_count);
  s->local = MEMORY_NEW(int, block_count);
  s->local_size = MEMORY_NEW(int, block_count);
  s->eigenvalues = MEMORY_NEW(double, s->order);
  s->off_diagonal = MEMORY_NEW(double, s->order);
  s->spectral = MEMORY_NEW(double, s->order);
  s->pivot_permutation = MEMORY_NEW(int, s->order);
  s->pivot_off_diagonal = MEMORY_NEW(double, s->order);
  s->right_side = MEMORY_NEW(double, s->order);
  s->residual = MEMORY_NEW(double, s->order);
  block_solver_pattern(s, NULL, 0);
  return s;
}

void block_solver_destroy(BlockSolver* s) {
  if (!s) return;
  for (int k = 0; k < s->block_capacity; k++) plan_free(&s->plans[k]);
  void* const arrays[] = {s->size,
                          s->first,
                          s->row_first,
                          s->row,
                          s->column,
                          s->offset,
                          s->values,
                          s->filled,
                          s->components,
                          s->component,
                          s->members,
                          s->component_couplings,
                          s->unknowns,
                          s->local_first,
                          s->plans,
                          s->plan_index,
                          s->plan_owner,
                          s->local,
                          s->local_size,
                          s->local_couplings,
                          s->local_offset,
                          s->storage,
                          s->eigenvalues,
                          s->off_diagonal,
                          s->spectral,
                          s->pivot_permutation,
                          s->pivot_off_diagonal,
                          s->right_side,
                          s->residual,
                          s->component_filled,
                          s->plan_version,
                          s->rank,
                          s->local_rank,
                          s->flops_ratio};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) memory_free(arrays[k]);
  memory_free(s);
}

void block_solver_reshape(BlockSolver* s, int block_count, const int* block_sizes) {
  assert(block_count <= s->block_capacity);
  s->block_count = block_count;
  for (int k = 0; k < block_count; k++) {
    s->size[k] = block_sizes[k];
    s->first[k + 1] = s->first[k] + block_sizes[k];
  }
  s->order = s->first[block_count];
  for (int k = 0; k < s->plan_count; k++) s->plan_index[s->plan_owner[k]] = -1;
  s->plan_count = 0;
  block_solver_pattern(s, NULL, 0);
}

void* block_reallocate_zeroed(void* array, size_t element, size_t count) {
  memory_free(array);
  return memory_alloc(element * count);
}

static void reserve_couplings(BlockSolver* s, int count) {
  if (count <= s->coupling_capacity && s->row) return;
  s->coupling_capacity = count + count / 2 + 16;
  size_t capacity = (size_t)s->coupling_capacity, blocks = (size_t)s->block_capacity;
  s->row = block_reallocate_zeroed(s->row, sizeof(int), capacity);
  s->column = block_reallocate_zeroed(s->column, sizeof(int), capacity);
  s->component_couplings = block_reallocate_zeroed(s->component_couplings, sizeof(int), capacity);
  s->filled = block_reallocate_zeroed(s->filled, sizeof(bool), capacity);
  s->component_filled = block_reallocate_zeroed(s->component_filled, sizeof(bool), capacity);
  s->local_couplings = block_reallocate_zeroed(s->local_couplings, sizeof(uint64_t), capacity);
  s->offset = block_reallocate_zeroed(s->offset, sizeof(size_t), blocks + capacity);
  s->local_offset = block_reallocate_zeroed(s->local_offset, sizeof(size_t), blocks + capacity);
}

static void assign_value_offsets(BlockSolver* s) {
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
  s->values = block_reallocate_zeroed(s->values, sizeof(double), s->value_capacity);
}

void block_solver_pattern(BlockSolver* s, const uint64_t* couplings, int count) {
  for (int k = 0; k < count; k++) {
    assert(couplings[k] >> 32 < (couplings[k] & 0xffffffffu) &&
           (couplings[k] & 0xffffffffu) < (uint64_t)s->block_count);
    assert(k == 0 || couplings[k - 1] < couplings[k]);
  }
  assert(count == 0 || couplings);
  reserve_couplings(s, count);
  s->coupling_count = count;
  memset(s->row_first, 0, sizeof(int) * (size_t)(s->block_count + 1));
  for (int k = 0; k < count; k++) {
    s->row[k] = (int)(couplings[k] >> 32);
    s->column[k] = (int)(couplings[k] & 0xffffffffu);
    s->row_first[s->row[k] + 1]++;
  }
  for (int a = 0; a < s->block_count; a++) s->row_first[a + 1] += s->row_first[a];
  assign_value_offsets(s);
  s->has_components = false;
  block_solver_clear(s);
}

void block_solver_clear(BlockSolver* s) {
  if (s->became_dense) s->has_components = s->became_dense = false;
  size_t diagonal = 0;
  for (int a = 0; a < s->block_count; a++) diagonal += (size_t)s->size[a] * (size_t)s->size[a];
  if (diagonal > 0) memset(s->values, 0, sizeof(double) * diagonal);
  memset(s->filled, 0,
         sizeof(bool) * (size_t)s->coupling_count); /* block_solver_block zeroes a coupling on first access */
  s->filled_checked = false;
}

void block_solver_clear_rows(BlockSolver* s, const bool* selected) {
  if (s->became_dense) s->has_components = s->became_dense = false;
  for (int a = 0; a < s->block_count; a++)
    if (selected[a] && s->size[a] > 0)
      memset(s->values + s->offset[a], 0, sizeof(double) * (size_t)s->size[a] * (size_t)s->size[a]);
  for (int k = 0; k < s->coupling_count; k++)
    if (selected[s->row[k]] || selected[s->column[k]]) s->filled[k] = false;
  s->filled_checked = false;
}

void block_solver_keep_orders(BlockSolver* s) {
  s->keeps_orders = true;
  s->order_version++;
  s->has_components = false; /* plans made with the discarded orders are invalid */
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
  assert(a >= 0 && b >= 0 && a < s->block_count && b < s->block_count);
  *stride = s->size[b];
  if (a == b) return s->values + s->offset[a];
  int k = find_coupling(s, a, b);
  if (k < 0) return NULL;
  double* block = s->values + s->offset[s->block_count + k];
  if (s->filled[k]) return block;
  memset(block, 0, sizeof(double) * (size_t)s->size[a] * (size_t)s->size[b]);
  s->filled[k] = true;
  if (s->filled_checked) s->filled_checked = false;
  return block;
}

bool block_solver_factor(BlockSolver* s) {
  block_find_components(s);
  for (int k = 0; k < s->component_count; k++)
    if (!block_solver_factor_component(s, k)) return false;
  return true;
}

bool block_solver_factor_indefinite(BlockSolver* s, double* smallest) {
  assert(smallest);
  bool regular = true;
  double nearest = HUGE_VAL;
  block_find_components(s);
  for (int k = 0; k < s->component_count && regular; k++)
    regular = block_solver_factor_component(s, k) || block_solver_factor_component_indefinite(s, k, &nearest);
  *smallest = isfinite(nearest) ? nearest : 0;
  return regular;
}

void block_solver_solve(BlockSolver* s, double* x) {
  assert(x || s->order == 0);
  for (int k = 0; k < s->component_count; k++) block_solver_solve_component(s, k, x);
}

void block_solver_multiply(const BlockSolver* s, const double* x, double* y) {
  memset(y, 0, sizeof(double) * (size_t)s->order);
  for (int a = 0; a < s->block_count; a++)
    for (int k = s->row_first[a] - 1; k < s->row_first[a + 1];
         k++) { /* first the diagonal block, then the couplings of the row */
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
  block_find_components(s);
  for (int k = 0; k < s->component_count; k++)
    if (s->components[k].plan >= 0) return true;
  return false;
}
