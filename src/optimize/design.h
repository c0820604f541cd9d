/* Private to optimize/: the variables of a task, and the scene numbers that they change (docs/derivations/design.md). A
 * number is base + sum coefficient (variable - its initial value). */
#ifndef SDRS_OPTIMIZE_DESIGN_H
#define SDRS_OPTIMIZE_DESIGN_H

#include "differentiate/differentiate.h"
#include "optimize/optimizer.h"

/* ---------------------------------------------------------------- shared vertices (optimize/connect.c) */

/* A vertex shared by two hulls, so that they stay connected (SDRS section III-B): an inserted vertex, or a corner with
 * bitwise equal coordinates in both hulls. A corner of n hulls has n - 1 consecutive entries with the same hull[0]. */
typedef struct {
  int link;
  int hull[2], vertex[2]; /* hulls of the link; hull[1] = -1: an attachment */
  bool corner;            /* a corner, not an inserted vertex */
  int child; /* for an attachment: the link whose joint sits here, or the link itself for its own joint; -1: two hulls
              */
  Vec3 position;  /* link frame [m] */
  double outside; /* distance outside the hull it was inserted into [m] */
} SharedVertex;

typedef struct {
  SharedVertex* items;
  int count, capacity;
} SharedVertices;

/* Request to find the corners that hulls of each link of `shapes` (links) share in the expanded scene, and to insert
 * vertices: one in every intersection of two hulls, one at every attachment on the link, and one at every attachment of
 * `joints` (links) in the parent. follows[i]: link whose vertices link i maps, or -1. */
typedef struct {
  const bool *shapes, *joints;
  const int* follows;
  const Mat3* map;
  bool keep; /* insert nothing; use the ties of the scene */
} ConnectRequest;
/* Replaces the scene's list of tied vertices by `shared`. The scene owns the list. */
void connect_note_ties(Scene* scene, const SharedVertices* shared);
/* Checks the ties that `keep` would use. Adds an error, at place, for each link of several hulls without ties. Warns of
 * ties of missing or separate vertices, and of joints that are at no vertex. */
void connect_check_kept(const Scene* scene, const ConnectRequest* request, SourcePlace place, Diagnostics* diagnostics);
/* Applies the request to the scene and appends the shared vertices to `shared`, which the caller frees with
 * shared_vertices_free. model: of the scene before the call. */
void connect_hulls(Scene* scene, const Model* model, const ConnectRequest* request, SharedVertices* shared);
/* Warns, at each changing link, of two hulls that touch without a chain of shared vertices between them. model: as for
 * connect_hulls, which made `shared`. */
void connect_warn_loose(const Scene* scene, const Model* model, const ConnectRequest* request,
                        const SharedVertices* shared, Diagnostics* diagnostics);
/* Frees the list and zeroes it. */
void shared_vertices_free(SharedVertices* shared);
/* Computes the centre of a largest ball in the intersection of two hulls by a linear program (D5), frame of the hulls
 * [m]. False, with center undefined, unless they overlap by a thousandth of the smaller hull; for two hulls of a
 * decomposed mesh, whose overlaps are all intended, by a millionth of the larger. */
bool intersection_center(const ConvexHull* a, const ConvexHull* b, bool decomposed, Vec3* center);

/* ---------------------------------------------------------------- variables (optimize/design*.c) */

typedef struct {
  char* name;   /* "foot/0/17/x", "shank/attachment/x", "hip/amplitude/3", "box/velocity/0" */
  char* former; /* name in earlier versions, which is accepted with a warning; NULL: none */
  double initial, low, high;
  double scale;      /* a large change; 0: a tenth of the unit */
  double prior;      /* standard deviation of prior knowledge; 0: none */
  double step;       /* optimizer step of this variable; 0: step of the block */
  int block;         /* 0: design; 1: control and initial state */
  SourcePlace place; /* task entry that created it */
} DesignVariable;

/* A scene number that variables change. All scenarios have the same links, and changed numbers have the same place in
 * each. */
enum { ALL_SCENARIOS = -1 };
typedef struct {
  OverrideKind kind;
  int link, part, index; /* as in ModelOverride; for a vertex, part is a hull of the link */
  int scenario;          /* the only scenario it belongs to, or ALL_SCENARIOS */
  double base;
  int term_first, term_count;
} DesignNumber;

typedef struct {
  int variable;
  double coefficient;
} DesignTerm;

/* Six inertia numbers of a link as functions of variables: I = tr(P) 1 - P, P = V V^T. V is upper triangular; its
 * diagonal is exp of the first three variables, its off-diagonal entries are the other variables, if any (D9). */
typedef struct {
  int number_first, variable_first;
  bool full;       /* xy, xz, yz are variables too */
  double above[3]; /* otherwise: constant ratios V_ij / V_jj */
} DesignInertia;

/* A joint's axis (three numbers), its frame's rotation (four), or its initial rotation (four), changed by rotation
 * variables (D11). */
typedef struct {
  bool of_axis, of_start;
  int number_first;
  int variable[3]; /* rotation about an axis of the joint frame, for initial rotations of the link frame [rad]; -1: none
                    */
  Vec3 axis;       /* initial axis in the scene; unit */
  Quat rotation;
} DesignTurn;

typedef struct {
  DesignVariable* variables;
  int variable_count, variable_capacity;
  DesignNumber* numbers;
  int number_count, number_capacity;
  DesignTerm* terms;
  int term_count, term_capacity;
  int listing; /* scenario of numbers being added, or ALL_SCENARIOS */
  DesignInertia* inertias;
  int inertia_count, inertia_capacity;
  DesignTurn* turns;
  int turn_count, turn_capacity;
  bool* link_changes; /* some hull of the link changes (links) */
  bool* hull_changes; /* changing hulls of the first scenario, link by link; unchanged links of other scenarios may have
                         more hulls (hulls) */
  int* hull_first;    /* first entry of a link in hull_changes (links + 1) */
  int* block;         /* block of each variable, for the feasible set */
  FeasibleSet set;    /* bounds and linear constraints; borrows block */
  double* low_high;
  SharedVertices shared; /* shared vertices of the first scenario */
} Design;

/* Expands the task's scenes, inserts shared vertices, fixes derived values (contact parameters, masses), sets horizons
 * and solver tolerance, and lists the variables. Problems refer to places in the task. Returns STATUS_BAD_INPUT, or the
 * status of model_create. *design is always set, for design_destroy. Changes the task permanently; the task must
 * outlive the design. */
Status design_create(Design* design, Task* task, Diagnostics* diagnostics);
/* Frees all lists and names, not the task. Accepts a zeroed or partly built design. */
void design_destroy(Design* design);
/* Returns true if this hull of a link changes (hull: from 0). False if the first scenario has no such hull. link <
 * number of links. */
bool design_changes_hull(const Design* design, int link, int hull);
/* Returns the values of all numbers for x[variable_count], in the units of the variables: number_count overrides, freed
 * by the caller with memory_free. */
ModelOverride* design_overrides(const Design* design, const double* x);
/* Removes overrides of other scenarios from the list (count), whose first number_count belong to the design. Keeps the
 * order and returns the new count. Allocates and frees nothing. */
int design_overrides_in(const Design* design, int scenario, ModelOverride* overrides, int count);
/* Adds factor times the derivatives by the variables to out[variable_count], from the gradient of a model of the
 * scenario. */
void design_gradient(const Design* design, int scenario, const Model* model, const ModelGradient* gradient,
                     double factor, double* out);

/* ---------------------------------------------------------------- inertias (optimize/design_inertia.c) */

/* Sets the factor V of an inertia xx, yy, zz, xy, xz, yz about the centre of mass [kg m^2]. root: diagonal, then 01,
 * 02, 12. False if no physical body has this inertia. */
bool inertia_root(const double inertia[6], double root[6]);
/* Sets the six numbers xx, yy, zz, xy, xz, yz [kg m^2] for x[variables]. */
void design_inertia_values(const DesignInertia* own, const double* x, double inertia[6]);
/* Adds to slope[variables] the derivatives that follow from those by the six numbers at these values. Adds nothing if
 * the values are not an inertia of these variables. */
void design_inertia_slope(const DesignInertia* own, const double inertia[6], const double by_inertia[6], double* slope);

/* ---------------------------------------------------------------- directions (optimize/design_turn.c) */

/* Sets the axis (3, unit) or quaternion (4, w x y z) for x[variables] [rad], joint frame axes. */
void design_turn_values(const DesignTurn* own, const double* x, double* numbers);
/* Adds to slope[variables] the derivatives that follow from that by a further rotation [1/rad], in the axes of the
 * rotated joint frame. */
void design_turn_slope(const DesignTurn* own, const double* numbers, Vec3 by_turn, double* slope);

/* ---------------------------------------------------------------- numbers of a scene (optimize/design.c) */

/* Returns the shape of the k-th hull of a link, owned by the scene. */
SceneShape* design_hull(const Scene* scene, int link, int hull);
/* Returns a component; axis: 0 x, 1 y, 2 z. */
double design_component(Vec3 v, int axis);

/* ---------------------------------------------------------------- lists (optimize/design.c) */

/* Returns the variable's number; the design owns the name. */
int design_add_variable(Design* design, const DesignVariable* variable);
/* Adds a number with its base value in its own unit, for the scenario `listing`. Its terms must follow directly. */
void design_add_number(Design* design, OverrideKind kind, int link, int part, int index, double base);
/* Adds coefficient * (variable - its initial value) to the last number. Does nothing for coefficient 0. */
void design_add_term(Design* design, int variable, double coefficient);

#endif
