#include "linalg/ordering.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>
#include <suitesparse/amd.h>
#include "base/base.h"

enum { SMALL = ORDERING_SMALL }; /* up to this size the neighbours of a node fit into one 64-bit word */

/* Orders a small graph by exact minimum degree. Eliminating a node makes its neighbours a clique. Nodes of equal degree
 * are eliminated in ascending order of their numbers. */
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

/* Returns the size of the array of neighbours for the AMD algorithm, in ints. AMD overwrites the graph, and needs more
 * space than the graph. */
static int graph_room(int nodes, int edges) { return edges + edges / 2 + nodes; }

enum { AMD_ARRAYS = 7 }; /* number of arrays with one int per node */

int ordering_work(int nodes, int edges) {
  assert(nodes >= 0 && edges >= 0);
  return nodes <= SMALL ? 0 : nodes + 1 + graph_room(nodes, edges) + AMD_ARRAYS * nodes;
}

/* Copies a graph for AMD, which overwrites it. The neighbours of each node are sorted in ascending order. fill (nodes):
 * workspace. */
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

/* Orders a graph by approximate minimum degree (AMD). */
static void order_by_degree(int nodes, int edges, int* start, int* other, int* work, int* order) {
  int *length = work, *count = length + nodes, *next = count + nodes, *head = next + nodes, *element = head + nodes;
  int *degree = element + nodes, *mark = degree + nodes, room = graph_room(nodes, edges);
  double control[AMD_CONTROL], info[AMD_INFO];
  amd_defaults(control);
  for (int a = 0; a < nodes; a++) length[a] = start[a + 1] - start[a];
  amd_2(nodes, start, other, length, room, edges, count, next, order, head, element, degree, mark, control, info);
}

static void order_large(int nodes, const int* start, const int* other, int* work, int* order) {
  int edges = start[nodes], *own_start = work, *own_other = own_start + nodes + 1;
  int* rest = own_other + graph_room(nodes, edges);
  copy_graph(nodes, start, other, own_start, own_other, rest);
  order_by_degree(nodes, edges, own_start, own_other, rest, order);
}

void ordering_find(int nodes, const int* start, const int* other, int* work, int* order) {
  assert(nodes >= 0);
  if (nodes <= SMALL)
    order_small(nodes, start, other, order);
  else
    order_large(nodes, start, other, work, order);
}
