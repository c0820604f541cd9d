/* Private to contact/: the potential of two bodies over the hierarchies of their pieces
 * (docs/derivations/law-long_range.md, N7-N12), and of a piece before a half-space (N13). With r the distance of two
 * nodes' centres, d = R_a + R_b and phi = Phi((r - d) / (blend d)):
 *   P_ab = (1 - phi) A + phi P_c(r),   A = sum over their children, or the exact potential of two leaves (N8) P_c where
 * phi = 1, A where it is 0. All for stiffness 1. One walk down both trees visits the terms that are not zero; value,
 * derivatives and reverse derivatives are visitors of it. Nothing is listed: a blend is a frame of the walk. */
#ifndef SDRS_CONTACT_FAR_FIELD_H
#define SDRS_CONTACT_FAR_FIELD_H

#include "contact/hierarchy.h"
#include "contact/reciprocal.h"

/* phi of N7 with its derivatives by r, by d (radius) and by the width (blend). */
typedef struct {
  double value, first, second;     /* by r: 1, 1/m, 1/m^2 */
  double by_near, first_by_near;   /* of value and first by d [1/m, 1/m^2] */
  double by_blend, first_by_blend; /* of value and first by blend */
} BlendWeight;
/* r and near in m, blend > 0 without unit; 0 up to near, 1 from near (1 + blend) on. By value; cannot fail. */
BlendWeight blend_weight(double r, double near, double blend);

/* Where two nodes are to each other. */
typedef struct {
  int node[2];                 /* the second: -1 of a half-space */
  Vec3 center[2];              /* world [m]; the second not of a half-space */
  Vec3 direction;              /* unit, from the second centre to the first, or the half-space's normal */
  double distance, near;       /* r, d [m] */
  const PlaneSolution* solved; /* of two leaves; NULL: their plane has not been looked for */
} NodePlaces;

/* Workspace of one thread. */
typedef struct {
  PlaneScratch scratch;
  NodeBars bars[2];
  int count, piece_count, blend_count; /* of the last walk: terms, of these exact ones and blends */
} FieldWork;

/* Results of the last evaluation of two links: the planes between their pieces in the order of the walk, the potential,
 * its derivatives. An evaluation at the same poses reuses them, bit-identically. Initially zeroed; owns its arrays,
 * freed with field_kept_destroy. */
typedef struct {
  Pose pose[2];
  bool planes_known, value_known, derivatives_known; /* at these poses */
  int count, capacity;
  ReciprocalPlane* planes; /* (count) */
  double value;
  Vec3 reference[2];
  PairDerivatives* derivatives; /* (1) */
} FieldKept;
/* Frees what it owns; NULL is not accepted, a zeroed one is. */
void field_kept_destroy(FieldKept* kept);

/* Room for the largest two hulls and trees. Freed with field_work_destroy. Never fails. */
void field_work_create(FieldWork* work, const Model* model, const Hierarchy* hierarchy);
/* Frees what it owns; accepts a zeroed one. NULL is not accepted. */
void field_work_destroy(FieldWork* work);

typedef struct {
  const Model* model;
  const Hierarchy* hierarchy;
  double blend;
  bool plain; /* the sum over all pairs of pieces, without hierarchy and blending (N3) */
} FarField;

/* Two links, or a hull and a half-space. */
typedef struct {
  int link[2];
  int root[2]; /* nodes; the second -1: a half-space */
  Pose pose[2];
  Vec3 reference[2];          /* that twists are about */
  const HullInstance* ground; /* NULL: two links */
  FieldKept* kept;            /* results for these two links, borrowed; NULL: not stored */
} FieldPair;

/* P. false: two pieces meet, or a plane was not found; value is set only where it was. Nothing below allocates but
 * FieldPair.kept while it grows. */
bool field_value(const FarField* field, FieldWork* work, const FieldPair* pair, double* value);
/* Gradient and Hessian, set. out->energy is P. false: out is zero. Returns false where two pieces meet, or a plane
 * was not found. Nothing below allocates. */
bool field_derivatives(const FarField* field, FieldWork* work, const FieldPair* pair, PairDerivatives* out);

/* Sets the mean contact point of the pair, weighted by the magnitude of the forces of its terms, world [m], and `press`
 * to the sum of these magnitudes [1/m^2]. Points are on the planes of pieces, or halfway between centres. Returns false
 * as field_value does, and without a force (`press` is then 0, point unchanged). Allocates nothing. */
bool field_center(const FarField* field, FieldWork* work, const FieldPair* pair, Vec3* point, double* press);

/* Derivatives of Phi = dP/d(twists) . twist with respect to everything else. */
typedef struct {
  double value, by_blend;
  Vec3* vertices[2]; /* world axes, of all vertices of a link, or of the hull before a half-space; zeroed by who asks */
  GroundShare ground; /* derivatives with respect to the motion of the half-space */
} FieldShares;
/* false: a plane was not found, and what out has means nothing. Vertices are added to. Room for vertices is the
 * caller's own; nothing is allocated. */
bool field_reverse(const FarField* field, FieldWork* work, const FieldPair* pair, const double twist[2][6],
                   FieldShares* out);

/* The part of a pair of leaves that is local (A.3 of the paper, N14): 1 - phi, and what it changes with. */
typedef struct {
  double part, slope; /* of r [1/m] */
  double by_near, by_blend;
  Vec3 direction;
} FieldLocal;
/* leaf: a node of either tree; the second -1: the half-space. By value; cannot fail, allocates nothing. */
FieldLocal field_local(const FarField* field, const int leaf[2], const FieldPair* pair);

#endif
