#include "linalg/ordering.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>
#include <suitesparse/amd.h>
#include "base/base.h"

enum { SMALL = ORDERING_SMALL }; /* a set of nodes fits into one 64-bit word */

/* Orders a small graph by exact minimum degree. Eliminating a node makes its neighbours a clique. Nodes of equal degree
 * are eliminated in ascending order of their numbers. */
static void order_by_minimum_degree(int nodes, const int* start, const int* neighbours, int* order) {
  uint64_t adjacency[SMALL] = {0}, remaining = nodes == 64 ? ~(uint64_t)0 : ((uint64_t)1 << nodes) - 1;
  for (int a = 0; a < nodes; a++)
    for (int k = start[a]; k < start[a + 1]; k++) adjacency[a] |= (uint64_t)1 << neighbours[k];
  for (int k = 0; k < nodes; k++) {
    int best = __builtin_ctzll(remaining), degree = SMALL + 1;
    for (uint64_t rest = remaining; rest; rest &= rest - 1) {
      int a = __builtin_ctzll(rest), candidate_degree = __builtin_popcountll(adjacency[a]);
      if (candidate_degree < degree) {
        best = a;
        degree = candidate_degree;
      }
    }
    order[k] = best;
    remaining &= ~((uint64_t)1 << best);
    for (uint64_t rest = adjacency[best]; rest; rest &= rest - 1) {
      int a = __builtin_ctzll(rest);
      adjacency[a] = (adjacency[a] | adjacency[best]) & remaining & ~((uint64_t)1 << a);
    }
  }
}

/* Returns the size of the array of neighbours for AMD, in ints. AMD overwrites the graph, and needs more space than the
 * graph. */
static int amd_array_size(int nodes, int edges) { return edges + edges / 2 + nodes; }

enum { AMD_ARRAYS = 7 }; /* number of arrays with one int per node */

int ordering_work(int nodes, int edges) {
  assert(nodes >= 0 && edges >= 0);
  return nodes <= SMALL ? 0 : nodes + 1 + amd_array_size(nodes, edges) + AMD_ARRAYS * nodes;
}

/* Copies a graph for AMD, which overwrites it. The neighbours of each node are sorted in ascending order. fill (nodes):
 * workspace. */
static void copy_graph(int nodes, const int* from_start, const int* from, int* start, int* neighbours, int* fill) {
  memcpy(start, from_start, sizeof(int) * (size_t)(nodes + 1));
  memcpy(fill, start, sizeof(int) * (size_t)nodes);
  for (int a = 0; a < nodes; a++)
    for (int k = from_start[a]; k < from_start[a + 1]; k++) {
      if (from[k] >= a) continue;
      neighbours[fill[a]++] = from[k];
      neighbours[fill[from[k]]++] = a;
    }
}

/* Orders a graph by approximate minimum degree (AMD). */
static void order_by_approximate_degree(int nodes, int edges, int* start, int* neighbours, int* work, int* order) {
  int *length = work, *count = length + nodes, *next = count + nodes, *head = next + nodes, *element = head + nodes;
  int *degree = element + nodes, *mark = degree + nodes, room = amd_array_size(nodes, edges);
  double control[AMD_CONTROL], info[AMD_INFO];
  amd_defaults(control);
  for (int a = 0; a < nodes; a++) length[a] = start[a + 1] - start[a];
  amd_2(nodes, start, neighbours, length, room, edges, count, next, order, head, element, degree, mark, control, info);
}

static void order_large(int nodes, const int* start, const int* neighbours, int* work, int* order) {
  int edges = start[nodes], *start_copy = work, *neighbours_copy = start_copy + nodes + 1;
  int* rest = neighbours_copy + amd_array_size(nodes, edges);
  copy_graph(nodes, start, neighbours, start_copy, neighbours_copy, rest);
  order_by_approximate_degree(nodes, edges, start_copy, neighbours_copy, rest, order);
}

void ordering_find(int nodes, const int* start, const int* neighbours, int* work, int* order) {
  assert(nodes >= 0);
  if (nodes <= SMALL)
    order_by_minimum_degree(nodes, start, neighbours, order);
  else
    order_large(nodes, start, neighbours, work, order);
}
