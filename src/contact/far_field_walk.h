/* Private to contact/: traversal of the trees of two bodies (law-long_range.md, N8, N10), and data of its visitors. The
 * visitors for value, derivatives and contact point are in far_field_derivatives.c, the visitor for the adjoint in
 * far_field_adjoint.c. */
#ifndef SDRS_CONTACT_FAR_FIELD_WALK_H
#define SDRS_CONTACT_FAR_FIELD_WALK_H

#include "base/lanes.h"
#include "contact/far_field.h"

/* The blend of the exact and the point potential of two nodes (N8), while the traversal visits its terms. The outermost
 * blend represents the pair of bodies. Its weight is 1, and its point potential has the weight phi = 0. */
typedef struct Blend {
  struct Blend* parent;
  NodePair nodes;
  BlendWeight phi;
  CentredPotential centred;
  double weight, beta; /* weight: derivative of the whole potential with respect to `inner`; beta: factor of `inner` in
                          the scalar that the adjoint differentiates (N11) */
  double inner, inner_gradient[12]; /* inner: sum A of the potentials inside the two nodes (N8); inner_gradient: its
                                       gradient with respect to the twists of both bodies */
  double inner_rate; /* in the reverse traversal: rate of `inner` if the bodies move with the given twists */
} Blend;

/* The four pairs of a child of one node and a child of another node. Pair k consists of child k / 2 of the first node
 * and child k % 2 of the second. For a leaf, the leaf itself replaces its first child, and pairs with a second child
 * are not used. */
enum { CHILDREN = LANES };
typedef struct {
  int node[CHILDREN][2];
  LaneBits used;
  Lanes3 center[2], direction;
  Lanes distance, radius_sum;
} ChildPairs;

/* Rotations and origins of both bodies, one lane per child: lanes 0 and 1 for the first body's children, 2 and 3 for
 * the second's. */
typedef struct {
  Lanes r[3][3], t[3];
} BodyLanes;

typedef struct FieldTraversal FieldTraversal;
/* Callbacks of the traversal for the nonzero terms. */
typedef struct {
  bool (*pieces)(const FieldTraversal* walk, const NodePair* at,
                 Blend* within); /* visits two leaves; returns false if no plane was found */
  /* Visits the pairs of children whose lanes are marked in `far`, as pairs of points. */
  void (*centres)(const FieldTraversal* walk, const ChildPairs* at, LaneBits far, Blend* within);
  void (*enter)(const FieldTraversal* walk,
                Blend* blend); /* called before the terms of the blend are visited; NULL if not needed */
  void (*leave)(const FieldTraversal* walk, Blend* blend); /* called after all terms of the blend were visited */
} Visitor;

struct FieldTraversal {
  const FarField* field;
  FieldWork* work;
  const FieldPair* pair;
  const Visitor* visitor;
  void* context;
  bool reuses_planes; /* true if planes are read from FieldPair.cache instead of being solved */
  BodyLanes body;
};

/* body_tree returns the tree of a body, body_node a node of this tree. The hierarchy owns both. side: 0 or 1; a
 * half-space has no tree. */
static inline const BodyTree* body_tree(const FarField* f, const FieldPair* pair, int side) {
  return &f->hierarchy->trees[pair->link[side]];
}

static inline const TreeNode* body_node(const FarField* f, const FieldPair* pair, int side, int node) {
  return &body_tree(f, pair, side)->nodes[node];
}

static inline double blend_value(const Blend* b) {
  return (1 - b->phi.value) * b->inner + b->phi.value * b->centred.value;
}

/* First two derivatives of the blended potential (1 - phi) A + phi P_c with respect to the distance r of the centres
 * (N8). The sum A of the potentials inside the nodes is kept fixed; P_c is the potential of two points, phi its
 * weight. */
typedef struct {
  double first, second;
} CenterDerivatives;

static inline CenterDerivatives blend_center_derivatives(const Blend* b) {
  double step = b->centred.value - b->inner;
  return (CenterDerivatives){
      b->phi.first * step + b->phi.value * b->centred.first,
      b->phi.second * step + 2 * b->phi.first * b->centred.first + b->phi.value * b->centred.second};
}

/* The Hessian of a function f(r) of the distance r of two centres, with respect to their difference, is f'' e e^T + f'
 * / r (I - e e^T). e: unit direction of the difference. transverse_stiffness returns f' / r, or 0 for a half-space.
 * center_hessian returns the Hessian times the vector y. first, second: f' and f''. */
static inline double transverse_stiffness(const FieldPair* pair, const NodePair* at, double first) {
  return pair->ground ? 0 : first / at->distance;
}
static inline Vec3 center_hessian(const FieldPair* pair, const NodePair* at, double first, double second, Vec3 y) {
  double across = transverse_stiffness(pair, at, first);
  return vec3_add_scaled(vec3_scale(y, across), (second - across) * vec3_dot(at->direction, y), at->direction);
}

/* Calls the visitor for all nonzero terms of the pair. Sets *all to the outermost blend, with the sums over all terms.
 * Returns false if two hulls intersect or a callback returned false. Allocates while FieldPair.cache grows. */
bool field_traverse(const FarField* field, FieldWork* work, const FieldPair* pair, const Visitor* visitor,
                    void* context, Blend* all);
/* Returns true if the results in FieldPair.cache belong to the present poses of the pair. Otherwise discards the
 * results, stores the present poses, and returns false. Also returns false if the cache is NULL. */
bool field_cache_is_valid(const FieldPair* pair);
/* Returns the relative position of two nodes at the pair's poses; node[1] is -1 for a half-space. */
NodePair field_node_pair(const FarField* field, const FieldPair* pair, const int node[2]);
/* Returns the plane of two leaves. Solves for the plane and stores it in *room, unless at->plane already points to it.
 * The pointer is borrowed. Returns NULL if the plane was not found. */
const PlaneSolution* field_solution(const FieldTraversal* walk, const NodePair* at, PlaneSolution* room);
/* Returns the plane of two leaves, as field_solution does. Also sets *d to the derivatives of the energy and *response
 * to the derivatives of the plane (plane_derivatives). Adds the energy to parent->inner. Returns NULL if the plane was
 * not found. */
const PlaneSolution* field_solution_derivatives(const FieldTraversal* walk, const NodePair* at, Blend* parent,
                                                PlaneSolution* room, PairDerivatives* d, PlaneResponse* response);
/* Converts forces and moments of *d to a gradient with respect to the twists of both bodies, out (12). ground: true if
 * body b is a half-space, whose entries are zero. */
void field_gradient(const PairDerivatives* d, bool ground, double out[12]);
/* Calls the function `one` for each pair of children that is marked in `far`. Adds the potential of each of these pairs
 * to parent->inner. A visitor that processes four pairs at once is faster. */
typedef void (*CenterVisitor)(const FieldTraversal* walk, const NodePair* at, const CentredPotential* centred,
                              Blend* parent);
void field_visit_centers(const FieldTraversal* walk, const ChildPairs* at, LaneBits far, Blend* parent,
                         CenterVisitor one);

#endif
