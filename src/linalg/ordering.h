/* Private to linalg/: fill-reducing elimination order of a graph. */
#ifndef SDRS_LINALG_ORDERING_H
#define SDRS_LINALG_ORDERING_H

enum { ORDERING_SMALL = 64 }; /* for at most this many nodes the ordering takes negligible time */

/* Finds an elimination order: sets order[k] to the node eliminated k-th, (nodes). Neighbours of node a are
 * other[start[a] .. start[a + 1] - 1]. Each edge is listed from both sides; there are no loops. work:
 * ordering_work(nodes, start[nodes]) ints. The result depends on the graph alone. Thread-safe; does not allocate. */
void ordering_find(int nodes, const int* start, const int* other, int* work, int* order);
/* Returns the workspace of ordering_find [ints]; 0 for at most ORDERING_SMALL nodes, when work may be NULL. edges:
 * number of edges, each counted from both sides. */
int ordering_work(int nodes, int edges);

#endif
