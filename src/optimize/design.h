/* Private to optimize/: the variables of a task and the numbers of scenes that they move
 * (docs/derivations/design.md). A number is  base + sum coefficient (variable - its initial value). */
#ifndef SDRS_OPTIMIZE_DESIGN_H
#define SDRS_OPTIMIZE_DESIGN_H

#include "differentiate/differentiate.h"
#include "optimize/optimizer.h"

/* ---------------------------------------------------------------- shared vertices (optimize/connect.c) */

/* A vertex that belongs to two hulls, so that what belongs together stays together (SDRS section III-B): one that was
 * put there, or a corner that the hulls have in common, bit for bit. Of a corner of more hulls there is one entry for
 * each but the first, which is hull[0] of all of them; they follow one another. */
typedef struct {
  int link;
  int hull[2], vertex[2]; /* of the link; hull[1] = -1: an attachment */
  bool corner;            /* it was there before */
  int child;      /* attachment: the link whose joint sits here; the link itself: its own joint; -1 = two hulls */
  Vec3 position;  /* link frame [m] */
  double outside; /* how far it lies outside the hull it was put into [m] */
} SharedVertex;

typedef struct {
  SharedVertex* items;
  int count, capacity;
} SharedVertices;

/* Find in the expanded scene the corners that hulls of a link of `shapes` (links) have in common, and insert one vertex
 * inside the intersection of every two overlapping hulls of it, one at every attachment on it, and one at every
 * attachment of `joints` (links) in the parent.
 * follows[i]: link whose vertices link i copies with its map, or -1. */
typedef struct {
  const bool *shapes, *joints;
  const int* follows;
  const Mat3* map;
  bool keep; /* nothing is inserted: ties that the scene tells of */
} ConnectRequest;
/* Write down in the scene which vertices are one, for who keeps them. The scene owns them, in place of those it had. */
void connect_note_ties(Scene* scene, const SharedVertices* shared);
/* What `keep` would find, before anything is done: an error, at place, for every link of several hulls whose ties are
 * not told, warnings for ties of vertices that are not there or not in one place, and for joints that stand at no
 * vertex. */
void connect_check_kept(const Scene* scene, const ConnectRequest* request, SourcePlace place, Diagnostics* diagnostics);
/* Does what the request asks for in the scene, and appends what is shared to `shared`, whose owner calls
 * shared_vertices_free. model: of the same scene, as it was before. */
void connect_hulls(Scene* scene, const Model* model, const ConnectRequest* request, SharedVertices* shared);
/* Frees the list and zeroes it. */
void shared_vertices_free(SharedVertices* shared);
/* Centre of a largest ball in the intersection of two hulls, by a linear program (D5); false: they do not overlap by
 * a thousandth of the smaller one, or when both are of a decomposed mesh, where each overlap is meant, by a millionth
 * of the larger one. center in the frame of the hulls [m], of no use after false. */
bool intersection_center(const ConvexHull* a, const ConvexHull* b, bool decomposed, Vec3* center);

/* ---------------------------------------------------------------- variables (optimize/design*.c) */

typedef struct {
  char* name; /* "foot/0/17/x", "shank/attachment/x", "hip/amplitude/3", "box/velocity/0" */
  double initial, low, high;
  double scale;      /* a change that counts as large; 0: a tenth of the unit */
  double prior;      /* standard deviation of what is known beforehand; 0: nothing */
  double step;       /* of the optimizer, instead of the block's; 0: that one */
  int block;         /* 0 design, 1 control and start */
  SourcePlace place; /* in the task, of what asked for it */
} DesignVariable;

/* A number of a scene; all scenarios have the same links, and what moves is at the same place in each. */
enum { ALL_SCENARIOS = -1 };
typedef struct {
  OverrideKind kind;
  int link, part, index; /* as in ModelOverride; the part of a vertex is a hull of the link */
  int scenario;          /* whose it is alone; ALL_SCENARIOS */
  double base;
  int term_first, term_count;
} DesignNumber;

typedef struct {
  int variable;
  double coefficient;
} DesignTerm;

/* Six numbers of a link's inertia that variables move together: I = tr(P) 1 - P, P = V V^T, V upper triangular with
 * exp of the first three variables on its diagonal, and the others, where there are any, above it (D9). */
typedef struct {
  int number_first, variable_first;
  bool full;       /* xy, xz, yz above the diagonal are variables too */
  double above[3]; /* where they are not: columns scaled with their diagonal, V_ij / V_jj */
} DesignInertia;

/* Numbers of a joint's axis (three), of its frame's rotation (four), or of the rotation that it has at the start
 * (four), that rotations move (D11). */
typedef struct {
  bool of_axis, of_start;
  int number_first;
  int variable[3]; /* turn about the axes of the joint's frame, at the start the link's [rad]; -1: none */
  Vec3 axis;       /* in the scene; unit */
  Quat rotation;
} DesignTurn;

typedef struct {
  DesignVariable* variables;
  int variable_count, variable_capacity;
  DesignNumber* numbers;
  int number_count, number_capacity;
  DesignTerm* terms;
  int term_count, term_capacity;
  int listing; /* scenario of the numbers that are added; ALL_SCENARIOS */
  DesignInertia* inertias;
  int inertia_count, inertia_capacity;
  DesignTurn* turns;
  int turn_count, turn_capacity;
  bool* link_changes; /* does a hull of the link change?  (links) */
  bool* hull_changes; /* of the first scenario's hulls, link by link; other links of others may have more  (hulls) */
  int* hull_first;    /* of a link in hull_changes  (links + 1) */
  int* block;         /* of every variable, for the feasible set */
  FeasibleSet set;    /* bounds and rows; borrows block */
  double* low_high;
  SharedVertices shared; /* of the first scenario */
} Design;

/* Expand the task's scenes, insert shared vertices, fix what is derived (contact parameters, masses), set horizons and
 * the solver's tolerance, list variables. Problems name the place in the task. STATUS_BAD_INPUT, or the status of
 * model_create. *design is set in any case, for design_destroy; the task is changed for good, and must outlive it. */
Status design_create(Design* design, Task* task, Diagnostics* diagnostics);
/* Frees all lists and names, not the task; accepts a half-built and a zeroed one. */
void design_destroy(Design* design);
/* Does this hull (of the link, from 0) of a link 0 ... links - 1 change? false where the first scenario has none. */
bool design_changes_hull(const Design* design, int link, int hull);
/* What a scenario's scene is to have for x[variable_count], in the units of the variables: number_count of them,
 * which the caller frees with memory_free. */
ModelOverride* design_overrides(const Design* design, const double* x);
/* Those of other scenarios alone leave the list (count), of which the first number_count are the design's; how many
 * stay, in order. Nothing is allocated or freed. */
int design_overrides_in(const Design* design, int scenario, ModelOverride* overrides, int count);
/* Add factor times the derivative by the variables to out[variable_count], of a model of a scenario and the
 * gradient by it. */
void design_gradient(const Design* design, int scenario, const Model* model, const ModelGradient* gradient,
                     double factor, double* out);

/* ---------------------------------------------------------------- inertias (optimize/design_inertia.c) */

/* V of an inertia xx, yy, zz, xy, xz, yz about the centre of mass [kg m^2]; root: the diagonal first, then 01, 02,
 * 12. false: it is none of a body. */
bool inertia_root(const double inertia[6], double root[6]);
/* The six numbers xx, yy, zz, xy, xz, yz [kg m^2] for x[variables]. */
void design_inertia_values(const DesignInertia* own, const double* x, double inertia[6]);
/* Derivatives by the six numbers, at such values, back to slope[variables], added; nothing is added where they are
 * no inertia of these variables. */
void design_inertia_slope(const DesignInertia* own, const double inertia[6], const double by_inertia[6], double* slope);

/* ---------------------------------------------------------------- directions (optimize/design_turn.c) */

/* The axis (3, unit) or quaternion (4, w x y z) for x[variables] [rad], in the axes of the joint's frame. */
void design_turn_values(const DesignTurn* own, const double* x, double* numbers);
/* From the derivative by a further turn of it [per rad], in the axes of the joint's frame as it is then, back to
 * slope[variables], added. */
void design_turn_slope(const DesignTurn* own, const double* numbers, Vec3 by_turn, double* slope);

/* ---------------------------------------------------------------- numbers of a scene (optimize/design.c) */

/* The shape of the k-th hull of a link, in the scene, which owns it. */
SceneShape* design_hull(const Scene* scene, int link, int hull);
/* axis: 0 x, 1 y, 2 z. */
double design_component(Vec3 v, int axis);

/* ---------------------------------------------------------------- lists (optimize/design.c) */

/* Returns the variable's number; the design owns the name. */
int design_add_variable(Design* design, const DesignVariable* variable);
/* Terms of a number follow it directly. base in its own unit (m, rad, kg, ...); it belongs to the scenario that is
 * listed (listing). */
void design_add_number(Design* design, OverrideKind kind, int link, int part, int index, double base);
/* Adds coefficient x (variable - its initial value) to the number that was added last; nothing when the coefficient
 * is 0. */
void design_add_term(Design* design, int variable, double coefficient);

#endif
