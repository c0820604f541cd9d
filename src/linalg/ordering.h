/* Private to linalg/: the order in which the nodes of a graph are eliminated, so that little fills in. */
#ifndef SDRS_LINALG_ORDERING_H
#define SDRS_LINALG_ORDERING_H

enum { ORDERING_SMALL = 64 }; /* up to so many nodes an order costs next to nothing */

typedef struct Ordering Ordering;
Ordering* ordering_create(void);
void ordering_destroy(Ordering* ordering);

/* order[k]: the node to eliminate k-th. Neighbours of node a are other[start[a] .. start[a + 1]), each edge seen from
 * both sides, no loops. A function of the graph alone. Not for several threads at a time: METIS draws from rand(). */
void ordering_find(Ordering* ordering, int nodes, const int* start, const int* other, int* order);

#endif
