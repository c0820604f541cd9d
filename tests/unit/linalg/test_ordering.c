/* Tests elimination orders: each node occurs once, fill-in is low, and the order depends on the graph only, for any
 * number of threads. */
#include <signal.h>
#include <string.h>
#include "base/base.h"
#include "linalg/ordering.h"
#include "support/sweep.h"

/* A square grid: neighbours left, right, above, below. */
typedef struct Grid {
  int nodes;
  int *start, *other;
} Grid;

static Grid grid_create(int side) {
  Grid g = {.nodes = side * side};
  g.start = MEMORY_NEW(int, g.nodes + 1);
  g.other = MEMORY_NEW(int, 4 * g.nodes);
  for (int a = 0, next = 0; a < g.nodes; a++) {
    int i = a % side, j = a / side;
    if (j > 0) g.other[next++] = a - side;
    if (i > 0) g.other[next++] = a - 1;
    if (i < side - 1) g.other[next++] = a + 1;
    if (j < side - 1) g.other[next++] = a + side;
    g.start[a + 1] = next;
  }
  return g;
}

static void grid_free(Grid* g) {
  memory_free(g->start);
  memory_free(g->other);
}

/* Entries below the diagonal of the factor, by playing the elimination. */
static int filled(const Grid* g, const int* order) {
  size_t n = (size_t)g->nodes;
  char* near = MEMORY_NEW(char, n* n);
  int count = 0;
  for (int a = 0; a < g->nodes; a++)
    for (int k = g->start[a]; k < g->start[a + 1]; k++) near[(size_t)a * n + (size_t)g->other[k]] = 1;
  for (size_t k = 0; k < n; k++) {
    size_t a = (size_t)order[k];
    for (size_t b = 0; b < n; b++) {
      if (!near[a * n + b]) continue;
      count++;
      for (size_t c = 0; c < n; c++)
        if (near[a * n + c] && c != b) near[b * n + c] = 1;
      near[b * n + a] = 0;
    }
  }
  memory_free(near);
  return count;
}

static void find_order(const Grid* g, int* order) {
  int* work = MEMORY_NEW(int, ordering_work(g->nodes, g->start[g->nodes]));
  ordering_find(g->nodes, g->start, g->other, work, order);
  memory_free(work);
}

static void check_order(int side, double share) {
  Grid g = grid_create(side);
  int *order = MEMORY_NEW(int, g.nodes), *rows = MEMORY_NEW(int, g.nodes), *seen = MEMORY_NEW(int, g.nodes);
  find_order(&g, order);
  for (int k = 0; k < g.nodes; k++) {
    rows[k] = k;
    assert_in_range(order[k], 0, g.nodes - 1);
    assert_int_equal(seen[order[k]]++, 0);
  }
  int found = filled(&g, order), by_rows = filled(&g, rows);
  if (found > share * by_rows) fail_msg("%d x %d: %d entries, row by row %d", side, side, found, by_rows);
  memory_free(order);
  memory_free(rows);
  memory_free(seen);
  grid_free(&g);
}

/* A band of `side` row by row; the shares are those of nested dissection in the books, 31/4 n log2 n of George's. */
static void orders_fill_in_little(void** state) {
  (void)state;
  check_order(8, 0.8);
  check_order(12, 0.75);
  check_order(20, 0.6);
}

typedef struct Same {
  const Grid* grid;
  const int* wanted;
  int others[64];
} Same;

static void order_again(void* context, int index, int thread) {
  (void)thread;
  Same* same = context;
  int* order = MEMORY_NEW(int, same->grid->nodes);
  find_order(same->grid, order);
  same->others[index] = memcmp(order, same->wanted, sizeof(int) * (size_t)same->grid->nodes) != 0;
  memory_free(order);
}

static void on_term(int number) { (void)number; }

static void orders_are_the_graph_s_on_many_threads(void** state) {
  (void)state;
  Grid g = grid_create(30);
  int* wanted = MEMORY_NEW(int, g.nodes);
  Same same = {.grid = &g, .wanted = wanted};
  void (*before)(int) = signal(SIGTERM, on_term);
  find_order(&g, wanted);
  parallel_for(4, 64, 2, 1, order_again, &same);
  for (int k = 0; k < 64; k++) assert_int_equal(same.others[k], 0);
  assert_ptr_equal(signal(SIGTERM, before), on_term);
  memory_free(wanted);
  grid_free(&g);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(orders_fill_in_little),
      cmocka_unit_test(orders_are_the_graph_s_on_many_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
