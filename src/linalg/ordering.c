#include "linalg/ordering.h"

#include <metis.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <suitesparse/amd.h>
#include "base/base.h"

enum {
  SMALL = ORDERING_SMALL, /* nodes of a graph whose neighbourhoods are single words */
  DISSECTED = 200         /* from here on nested dissection fills in less than minimum degree */
};

_Static_assert(sizeof(idx_t) == sizeof(int), "METIS counts in int");

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

/* AMD wants room to write over the graph. */
static int graph_room(int nodes, int edges) { return edges + edges / 2 + nodes; }

enum { AMD_ARRAYS = 7 }; /* of one number a node */

int ordering_work(int nodes, int edges) {
  return nodes <= SMALL ? 0 : nodes + 1 + graph_room(nodes, edges) + AMD_ARRAYS * nodes;
}

/* The graph again, for those who write over it: of each node first the neighbours before it, then those after it, which
 * ascend. fill: nodes of work. */
static void copy_graph(int nodes, const int* from_start, const int* from, int* start, int* other, int* fill) {
  memcpy(start, from_start, sizeof(int) * (size_t)(nodes + 1));
  memcpy(fill, start, sizeof(int) * (size_t)nodes);
  for (int a = 0; a < nodes; a++)
    for (int k = from_start[a]; k < from_start[a + 1]; k++) {
      if (from[k] >= a) continue;
      other[fill[a]++] = from[k];
      other[fill[from[k]]++] = a;
    }
}

/* Approximate minimum degree. */
static void order_by_degree(int nodes, int edges, int* start, int* other, int* work, int* order) {
  int *length = work, *count = length + nodes, *next = count + nodes, *head = next + nodes, *element = head + nodes;
  int *degree = element + nodes, *mark = degree + nodes, room = graph_room(nodes, edges);
  double control[AMD_CONTROL], info[AMD_INFO];
  amd_defaults(control);
  for (int a = 0; a < nodes; a++) length[a] = start[a + 1] - start[a];
  amd_2(nodes, start, other, length, room, edges, count, next, order, head, element, degree, mark, control, info);
}

/* METIS draws from rand() and has handlers of SIGTERM and SIGABRT while it works, both the whole process's: one graph
 * at a time, so that its order stays a function of it and the handlers are those of before again. */
static int dissect(int nodes, int* start, int* other, int* order, int* inverse) {
  static pthread_mutex_t alone = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&alone);
  int code = METIS_NodeND(&nodes, start, other, NULL, NULL, order, inverse);
  pthread_mutex_unlock(&alone);
  if (code == METIS_ERROR) raise(SIGTERM); /* it took one for itself */
  return code;
}

/* Nested dissection. Without memory for it the nodes' own order: costs fill, not correctness. */
static void order_by_dissection(int nodes, int edges, int* start, int* other, int* inverse, int* order) {
  bool done = edges > 0 && dissect(nodes, start, other, order, inverse) == METIS_OK;
  for (int k = 0; !done && k < nodes; k++) order[k] = k;
}

static void order_large(int nodes, const int* start, const int* other, int* work, int* order) {
  int edges = start[nodes], *own_start = work, *own_other = own_start + nodes + 1;
  int* rest = own_other + graph_room(nodes, edges);
  copy_graph(nodes, start, other, own_start, own_other, rest);
  if (nodes < DISSECTED)
    order_by_degree(nodes, edges, own_start, own_other, rest, order);
  else
    order_by_dissection(nodes, edges, own_start, own_other, rest, order);
}

void ordering_find(int nodes, const int* start, const int* other, int* work, int* order) {
  if (nodes <= SMALL)
    order_small(nodes, start, other, order);
  else
    order_large(nodes, start, other, work, order);
}
