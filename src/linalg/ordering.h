/* Private to linalg/: fill-reducing elimination order of a graph. */
#ifndef SDRS_LINALG_ORDERING_H
#define SDRS_LINALG_ORDERING_H

enum { ORDERING_SMALL = 64 }; /* up to this many nodes ordering costs almost nothing */

/* order[k]: the node eliminated k-th, (nodes). Neighbours of node a are other[start[a] .. start[a + 1] - 1]; each edge
 * is listed from both sides, without loops. work: ordering_work(nodes, start[nodes]) ints. The result depends on the
 * graph alone. Thread-safe; does not allocate. */
void ordering_find(int nodes, const int* start, const int* other, int* work, int* order);
/* Workspace of ordering_find [ints]; edges: counted from both sides. 0 up to ORDERING_SMALL nodes; work may then be
 * NULL. */
int ordering_work(int nodes, int edges);

#endif
