/* Private to contact/: traversal of the trees of two bodies (law-long_range.md, N8, N10) and data that its visitors
 * share. far_field_derivatives.c has the visitors for value, derivatives and contact point, far_field_adjoint.c the
 * reverse one. */
#ifndef SDRS_CONTACT_FAR_FIELD_WALK_H
#define SDRS_CONTACT_FAR_FIELD_WALK_H

#include "base/lanes.h"
#include "contact/far_field.h"

/* A blend whose terms are being walked through; the outermost stands for the pair and blends nothing. */
typedef struct Blend {
  struct Blend* within;
  NodePlaces at;
  BlendWeight phi;
  CentredPotential centred;
  double weight, beta;              /* dP_total/d(inner), and that of the reverse (N11) */
  double inner, inner_gradient[12]; /* A, and its derivatives by both twists */
  double inner_rate;                /* reverse: of A with the twists */
} Blend;

/* The four pairs of both nodes' children, the second's side by side. A leaf stands for itself, once: pairs with a
 * second of it are not used. */
enum { CHILDREN = LANES };
typedef struct {
  int node[CHILDREN][2];
  LaneBits used;
  Lanes3 center[2], direction;
  Lanes distance, near;
} ChildPlaces;

/* The rotations and places of both bodies, of each twice: for the first's two children, then the second's. */
typedef struct {
  Lanes r[3][3], t[3];
} BodyLanes;

typedef struct Walk Walk;
/* Callbacks for the nonzero terms. */
typedef struct {
  bool (*pieces)(const Walk* walk, const NodePlaces* at, Blend* within);                 /* false: no plane was found */
  void (*centres)(const Walk* walk, const ChildPlaces* at, LaneBits far, Blend* within); /* of those that are marked */
  void (*enter)(const Walk* walk, Blend* blend);                                         /* NULL: nothing */
  void (*leave)(const Walk* walk, Blend* blend); /* called after all terms of the blend */
} Visitor;

struct Walk {
  const FarField* field;
  FieldWork* work;
  const FieldPair* pair;
  const Visitor* visitor;
  void* context;
  bool recalls; /* the planes of this walk are known */
  BodyLanes body;
};

/* The tree of a side; a node of it. Borrowed from the hierarchy; side 0 or 1, a half-space has none. */
static inline const BodyTree* tree_of(const FarField* f, const FieldPair* pair, int side) {
  return &f->hierarchy->trees[pair->link[side]];
}

static inline const TreeNode* node_of(const FarField* f, const FieldPair* pair, int side, int node) {
  return &tree_of(f, pair, side)->nodes[node];
}

static inline double blend_value(const Blend* b) {
  return (1 - b->phi.value) * b->inner + b->phi.value * b->centred.value;
}

/* A blend as a function of r, the terms in it held: derivatives of (1 - phi) A + phi P_c. */
typedef struct {
  double first, second;
} CenterSlopes;

static inline CenterSlopes slopes_of(const Blend* b) {
  double step = b->centred.value - b->inner;
  return (CenterSlopes){b->phi.first * step + b->phi.value * b->centred.first,
                        b->phi.second * step + 2 * b->phi.first * b->centred.first + b->phi.value * b->centred.second};
}

/* A function of r with its first two derivatives, as one of both centres: gradient f' e, Hessian f'' e e^T +
 * f' / r (I - e e^T); before a half-space the second part is none. */
static inline double across_of(const FieldPair* pair, const NodePlaces* at, double first) {
  return pair->ground ? 0 : first / at->distance;
}
static inline Vec3 center_hessian(const FieldPair* pair, const NodePlaces* at, double first, double second, Vec3 y) {
  double across = across_of(pair, at, first);
  return vec3_add_scaled(vec3_scale(y, across), (second - across) * vec3_dot(at->direction, y), at->direction);
}

/* all: set, with what the outermost terms add up to. false: a visitor said so, or two pieces meet. Allocates while
 * FieldPair.kept grows. */
bool field_walk(const FarField* field, FieldWork* work, const FieldPair* pair, const Visitor* visitor, void* context,
                Blend* all);
/* Is what is kept of the pair of these poses? From here on it is. false where nothing is kept, which is no error. */
bool field_stands(const FieldPair* pair);
/* Two nodes where they stand; node[1] -1 before a half-space. By value; cannot fail. */
NodePlaces field_places(const FarField* field, const FieldPair* pair, const int node[2]);
/* The plane of two leaves, in room unless it is known; NULL: not found. Not to be freed. */
const PlaneSolution* field_solution(const Walk* walk, const NodePlaces* at, PlaneSolution* room);
/* The same with its derivatives [as plane_derivatives]; its energy goes into what is within. NULL: not found. */
const PlaneSolution* field_solution_derivatives(const Walk* walk, const NodePlaces* at, Blend* within,
                                                PlaneSolution* room, PairDerivatives* d, PlaneResponse* response);
/* By both twists (12), from forces and moments; those on a half-space are none of its own. Cannot fail, allocates
 * nothing. */
void field_gradient(const PairDerivatives* d, bool ground, double out[12]);
/* Children that are marked, one by one: for what need not be fast. Their values go into what is within. Allocates
 * nothing. */
typedef void (*OneCenter)(const Walk* walk, const NodePlaces* at, const CentredPotential* centred, Blend* within);
void field_each_center(const Walk* walk, const ChildPlaces* at, LaneBits far, Blend* within, OneCenter one);

#endif
