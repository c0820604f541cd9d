/* Private to contact/: tree of bounding spheres of the hulls of a link (docs/derivations/law-long_range.md, N4-N6). The
 * hulls are called pieces. Each node represents the pieces below it by a centre x and a radius R:
 *   leaf:   x = mean of the vertices,  R = ( sum |x_m - x|^p )^(1/p)
 *   inner:  x = mean of the pieces' centres,  R = ( sum over children (|x_c - x| + R_c)^p )^(1/p),   p = 32
 * x_m: vertices of the piece; x_c, R_c: centre and radius of a child node. R is a smooth upper bound on the distance
 * from x to all vertices below the node. A coarse grid assigns pieces to nodes, so that the tree does not change when a
 * vertex moves slightly. The trees own their arrays. */
#ifndef SDRS_CONTACT_HIERARCHY_H
#define SDRS_CONTACT_HIERARCHY_H

#include "contact/pair.h"

typedef struct {
  int child[2];    /* indices of the child nodes, larger than the index of the node; -1 for a leaf */
  int hull;        /* hull of a leaf; -1 for an inner node */
  int piece_count; /* number of pieces below the node */
  Vec3 center;     /* centre x of the node, link frame [m] */
  double radius;
} TreeNode;

/* Tree of the pieces of a link. The first node is the root. A link without bounded hulls has no nodes. */
typedef struct {
  TreeNode* nodes;
  int count;
  int vertex_first, vertex_count; /* range of the link's vertices among the vertices of all hulls */
} BodyTree;

/* Trees of all links (links), and the leaf node of each hull (hulls; -1 if the hull has none). */
typedef struct {
  BodyTree* trees;
  int* leaf;
  int link_count, largest; /* largest: number of nodes of the largest tree */
} Hierarchy;

/* Builds the trees of all links of a model. Does not borrow the model. The caller frees the trees with
 * hierarchy_destroy. */
void hierarchy_create(Hierarchy* hierarchy, const Model* model);
/* Frees the arrays of *hierarchy, which may be zeroed. NULL is not accepted. */
void hierarchy_destroy(Hierarchy* hierarchy);

/* Callbacks of a traversal of two trees. The caller owns context. */
typedef struct {
  /* Returns a lower bound on a value over all pairs of pieces below two nodes. The traversal skips pairs of nodes with
   * a bound above 0, and visits the pair with the smaller bound first. */
  double (*lower_bound)(const void* context, const TreeNode* a, const TreeNode* b);
  /* Visits a pair of pieces, given by the numbers of their hulls. Returns false to end the traversal. */
  bool (*visit)(void* context, int hull_a, int hull_b);
  void* context;
} PieceTraversal;
/* Traverses two nonempty trees from their roots. Returns false if a visit ended the traversal. */
bool hierarchy_traverse(const BodyTree* a, const BodyTree* b, const PieceTraversal* walk);

/* Derivatives of a scalar with respect to centres and radii of a link's nodes, world axes (nodes). */
typedef struct {
  Vec3* center;
  double* radius;
} NodeBars;
/* Converts derivatives of a scalar with respect to the nodes of a link into derivatives with respect to the link's
 * vertices, world axes. Adds the result to vertices (BodyTree.vertex_count). bars (nodes): derivatives with respect to
 * centres and radii;
 * overwritten. rotation: rotation of the link. */
void hierarchy_to_vertices(const Model* model, const BodyTree* tree, Mat3 rotation, const NodeBars* bars,
                           Vec3* vertices);
/* Converts derivatives of a scalar with respect to centre and radius of leaf `index` into derivatives with respect to
 * the vertices of its hull, world axes. bars (nodes): derivatives of the scalar with respect to centres and radii of
 * all nodes; overwritten. rotation: rotation of the link. Adds the result to `out` (vertices of the hull). */
void hierarchy_leaf_to_vertices(const Model* model, const BodyTree* tree, int index, Mat3 rotation,
                                const NodeBars* bars, Vec3* out);

#endif
