#include "linalg/ordering.h"

#include <stdint.h>
#include <suitesparse/cholmod.h>
#include "base/base.h"

enum {
  SMALL = ORDERING_SMALL, /* nodes of a graph whose neighbourhoods are single words */
  DISSECTED = 200         /* from here on nested dissection fills in less than minimum degree */
};

struct Ordering {
  cholmod_common common;
};

Ordering* ordering_create(void) {
  Ordering* o = MEMORY_NEW(Ordering, 1);
  cholmod_start(&o->common);
  o->common.print = 0;
  return o;
}

void ordering_destroy(Ordering* o) {
  if (!o) return;
  cholmod_finish(&o->common);
  memory_free(o);
}

/* Minimum degree, exact: eliminating a node makes its neighbours a clique. The first of equals goes first. */
static void order_small(int nodes, const int* start, const int* other, int* order) {
  uint64_t near[SMALL] = {0}, left = nodes == 64 ? ~(uint64_t)0 : ((uint64_t)1 << nodes) - 1;
  for (int a = 0; a < nodes; a++)
    for (int k = start[a]; k < start[a + 1]; k++) near[a] |= (uint64_t)1 << other[k];
  for (int k = 0; k < nodes; k++) {
    int best = __builtin_ctzll(left), degree = SMALL + 1;
    for (uint64_t rest = left; rest; rest &= rest - 1) {
      int a = __builtin_ctzll(rest), own = __builtin_popcountll(near[a]);
      if (own < degree) {
        best = a;
        degree = own;
      }
    }
    order[k] = best;
    left &= ~((uint64_t)1 << best);
    for (uint64_t rest = near[best]; rest; rest &= rest - 1) {
      int a = __builtin_ctzll(rest);
      near[a] = (near[a] | near[best]) & left & ~((uint64_t)1 << a);
    }
  }
}

/* The graph as CHOLMOD sees it: the upper triangle of a symmetric pattern. */
static void order_large(Ordering* o, int nodes, const int* start, const int* other, int* order) {
  cholmod_common* c = &o->common;
  size_t n = (size_t)nodes;
  cholmod_sparse* graph = cholmod_allocate_sparse(n, n, (size_t)start[nodes] / 2 + n, 0, 1, 1, CHOLMOD_PATTERN, c);
  bool ok = graph != NULL;
  if (ok) {
    int *p = graph->p, *row = graph->i, next = 0;
    for (int a = 0; a < nodes; a++) {
      p[a] = next;
      for (int k = start[a]; k < start[a + 1]; k++)
        if (other[k] < a) row[next++] = other[k];
    }
    p[nodes] = next;
    ok = nodes < DISSECTED ? cholmod_amd(graph, NULL, 0, order, c) : cholmod_metis(graph, NULL, 0, 0, order, c);
  }
  cholmod_free_sparse(&graph, c);
  for (int k = 0; !ok && k < nodes; k++) order[k] = k; /* costs fill, not correctness */
}

void ordering_find(Ordering* o, int nodes, const int* start, const int* other, int* order) {
  if (nodes <= SMALL)
    order_small(nodes, start, other, order);
  else
    order_large(o, nodes, start, other, order);
}
