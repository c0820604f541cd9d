/* Private to linalg/: elimination order of the unknowns of a sparse matrix, given as a graph, that keeps its Cholesky
 * factor sparse. */
#ifndef SDRS_LINALG_ORDERING_H
#define SDRS_LINALG_ORDERING_H

enum { ORDERING_SMALL = 64 }; /* largest graph that is ordered by exact minimum degree, in negligible time */

/* Finds an order in which to eliminate the nodes of a graph (the unknowns of a sparse matrix) with few additional
 * nonzeros (fill). Sets order[k] (nodes) to the node eliminated k-th. The neighbours of node a are neighbours[start[a]]
 * to neighbours[start[a + 1] - 1]. Each edge is listed at both ends; no node is its own neighbour. work:
 * ordering_work(nodes, start[nodes]) ints. The result depends on the graph alone. Thread-safe. Does not allocate. */
void ordering_find(int nodes, const int* start, const int* neighbours, int* work, int* order);
/* Returns the size of the workspace of ordering_find, in ints. edges: number of edges, each counted at both ends. For
 * at most ORDERING_SMALL nodes the size is 0, and work may be NULL. */
int ordering_work(int nodes, int edges);

#endif
