/* Private to linalg/: the order in which the nodes of a graph are eliminated, so that little fills in. */
#ifndef SDRS_LINALG_ORDERING_H
#define SDRS_LINALG_ORDERING_H

enum { ORDERING_SMALL = 64 }; /* up to so many nodes an order costs next to nothing */

/* order[k]: the node to eliminate k-th. Neighbours of node a are other[start[a] .. start[a + 1]), each edge seen from
 * both sides, no loops. work: ordering_work(nodes, start[nodes]) ints. order: (nodes), each node once.
 * A function of the graph alone, on any thread. Allocates nothing; touches neither signals nor random numbers. */
void ordering_find(int nodes, const int* start, const int* other, int* work, int* order);
/* Ints of work that finding an order needs; edges: from both sides. 0 up to ORDERING_SMALL nodes, then work may be
 * NULL. */
int ordering_work(int nodes, int edges);

#endif
