/* Private to contact/: long-range potential of two bodies, summed over hierarchies of their hulls
 * (docs/derivations/law-long_range.md, N7-N13). For distant nodes of the hierarchies, the potential of two points at
 * the nodes' centres replaces the sum over the hulls below the nodes:
 *   P_ab = (1 - phi) A + phi P_c(r),   phi = Phi((r - d) / (blend d)).                                           (N8)
 * P_ab: potential of two nodes. r: distance of their centres. d = R_a + R_b: sum of their radii. blend: relative width
 * of the transition. phi: weight of the point potential, with the smooth step Phi. A: sum of the potentials of the
 * pairs of their children, or the exact potential of two leaves. P_c: potential of two points. If phi = 1, only P_c is
 * evaluated; if phi = 0, only A. All values are for stiffness 1.
 *
 * One traversal of both trees visits the nonzero terms. Different visitors compute value, derivatives and reverse
 * derivatives. No list of terms is stored, because each blend of A and P_c is a stack frame of the traversal. */
#ifndef SDRS_CONTACT_FAR_FIELD_H
#define SDRS_CONTACT_FAR_FIELD_H

#include "contact/hierarchy.h"
#include "contact/reciprocal.h"

/* Weight phi of the point potential (N7), and its derivatives with respect to the distance r of the centres, the sum d
 * of the radii, and the relative width `blend` of the transition. */
typedef struct {
  double value, first, second;     /* weight phi, and its derivatives dphi/dr [1/m] and d2phi/dr2 [1/m^2] */
  double by_near, first_by_near;   /* derivatives of value and first with respect to d [1/m, 1/m^2] */
  double by_blend, first_by_blend; /* derivatives of value and first with respect to blend */
} BlendWeight;
/* Returns the weight phi of the point potential. It is 0 for r <= near and 1 for r >= (1 + blend) near. r: distance of
 * the centres [m]; near: sum d of the radii [m]; blend >= 0: relative width of the transition. */
BlendWeight blend_weight(double r, double near, double blend);

/* Relative position of two nodes. */
typedef struct {
  int node[2];                 /* node[1] is -1 for a half-space */
  Vec3 center[2];              /* world [m]; center[1] is unused for a half-space */
  Vec3 direction;              /* unit, from the second centre to the first, or the half-space's normal */
  double distance, radius_sum; /* distance r of the centres; sum d of the radii [m] */
  const PlaneSolution* plane;  /* plane between the hulls of two leaves; NULL if not computed yet */
} NodePair;

/* Workspace of one thread. */
typedef struct {
  PlaneScratch scratch;
  NodeBars bars[2];
  int count, piece_count, blend_count; /* numbers of nonzero terms, of pairs of hulls whose exact potential was
                                          evaluated, and of blends of both, in the last traversal */
} FieldWork;

/* Cached results of the last evaluation of two links: the planes between their hulls in the order of the traversal, the
 * potential, and its derivatives. A later evaluation at the same poses reuses these results, and is bit-identical. The
 * caller zeroes the struct before the first use. field_cache_destroy frees the arrays. */
typedef struct {
  Pose pose[2];
  bool planes_known, value_known, derivatives_known; /* results that are known for these poses */
  int count, capacity;
  ReciprocalPlane* planes; /* planes of the pairs of leaves, in the order of the traversal (size: count) */
  double value;
  Vec3 reference[2];
  PairDerivatives* derivatives; /* derivatives of the potential; NULL if not computed yet */
} FieldCache;
/* Frees the arrays of *cache, which may be zeroed. NULL is not accepted. */
void field_cache_destroy(FieldCache* cache);

/* Allocates the workspace for the largest two hulls and trees of the model. The caller frees it with
 * field_work_destroy. */
void field_work_create(FieldWork* work, const Model* model, const Hierarchy* hierarchy);
/* Frees the arrays of *work, which may be zeroed. NULL is not accepted. */
void field_work_destroy(FieldWork* work);

typedef struct {
  const Model* model;
  const Hierarchy* hierarchy;
  double blend;
  bool without_hierarchy; /* true if the potential is the sum over all pairs of hulls, without hierarchy and blends (N3)
                           */
} FarField;

/* The two bodies of a pair: two links, or a hull and a half-space. */
typedef struct {
  int link[2];
  int root[2]; /* nodes at which the traversal starts; root[1] is -1 for a half-space */
  Pose pose[2];
  Vec3 reference[2];          /* reference points of the twists, world [m] */
  const HullInstance* ground; /* the half-space; NULL for two links */
  FieldCache* cache;          /* results for these two links, borrowed; NULL if not stored */
} FieldPair;

/* Sets *value to the long-range potential P of the pair for stiffness 1. Returns false, with *value unset, if two hulls
 * intersect or a plane was not found. This function and the functions below allocate only while FieldPair.cache
 * grows. */
bool field_value(const FarField* field, FieldWork* work, const FieldPair* pair, double* value);
/* Sets *out to the energy P, with its gradient and Hessian with respect to the twists of both bodies. Returns false,
 * with *out zero, if two hulls intersect or a plane was not found. */
bool field_derivatives(const FarField* field, FieldWork* work, const FieldPair* pair, PairDerivatives* out);

/* Sets *point to the force-weighted mean contact point of the pair, world [m]. Sets `press` to the sum of the
 * magnitudes of the forces [1/m^2]. Each term of the potential has a contact point. It lies on the plane between two
 * hulls, or halfway between the centres of two nodes. Returns false, with `press` 0 and *point unchanged, if two hulls
 * intersect, a plane was not found, or the pair exerts no force. */
bool field_force_center(const FarField* field, FieldWork* work, const FieldPair* pair, Vec3* point, double* press);

/* Power Phi of the forces of a pair of bodies along given twists: the directional derivative of the potential P along
 * the twists. Also its derivatives with respect to vertices, to FarField.blend and to the pose of the half-space. */
typedef struct {
  double value, by_blend;
  Vec3* vertices[2];  /* derivatives of Phi with respect to the vertices of each link, or of the hull paired with a
                         half-space; world axes; zeroed by the caller */
  GroundShare ground; /* derivatives with respect to the motion of the half-space */
} FieldShares;
/* Sets out->value to Phi, and adds the derivatives of Phi to the other members of *out. Returns false, with unspecified
 * *out, if a plane was not found. The caller owns the memory of out->vertices. */
bool field_reverse(const FarField* field, FieldWork* work, const FieldPair* pair, const double twist[2][6],
                   FieldShares* out);

/* Factor 1 - phi on the friction between the hulls of two leaves, with its derivatives (paper, A.3; N14). phi is the
 * weight of the point potential (BlendWeight), so that friction vanishes where the point potential replaces the
 * hulls. */
typedef struct {
  double value, by_distance; /* value: 1 - phi; by_distance: derivative of `value` with respect to the distance r of the
                                centres [1/m] */
  double by_radius_sum, by_blend;
  Vec3 direction;
} FieldFrictionFactor;
/* Returns the friction factor of the pair of two leaves. leaf: one leaf of each tree; leaf[1] is -1 for a
 * half-space. */
FieldFrictionFactor field_friction_factor(const FarField* field, const int leaf[2], const FieldPair* pair);

#endif
