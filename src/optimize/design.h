/* Private to optimize/: the variables of a task, and the values in the scene that depend on them
 * (docs/derivations/design.md). Each such scene value is its initial value plus the sum over variables of coefficient *
 * (variable - initial value of the variable). */
#ifndef SDRS_OPTIMIZE_DESIGN_H
#define SDRS_OPTIMIZE_DESIGN_H

#include "differentiate/differentiate.h"
#include "optimize/optimizer.h"

/* ---------------------------------------------------------------- shared vertices (optimize/connect.c) */

/* A vertex that two hulls of a link share, so that the hulls stay connected (paper SDRS, section III-B). It is either
 * inserted into both hulls, or a corner with bitwise equal coordinates in both. A corner that n hulls share has n - 1
 * consecutive entries, which have the same hull[0]. */
typedef struct {
  int link;
  int hull[2], vertex[2]; /* the two hulls of the link, and the index of the vertex in each hull. hull[1] is -1 for a
                             vertex at a joint */
  bool corner;            /* true: the vertex is a corner of both hulls; false: the vertex was inserted */
  int child;              /* for a vertex at a joint: link that the joint moves; -1 for a vertex of two hulls */
  Vec3 position;          /* position of the vertex, link frame [m] */
  double outside;         /* distance of the vertex from the hull into which it was inserted [m] */
} SharedVertex;

typedef struct {
  SharedVertex* items;
  int count, capacity;
} SharedVertices;

/* Request to connect the hulls of links by shared vertices. For a link with shapes[link] true, a vertex is inserted in
 * every intersection of two of its hulls and at each of its joints. For a link with joints[link] true, a vertex is
 * inserted in the parent at the joint of the link. Corners that hulls have in common are shared too. shapes, joints:
 * one entry per link of the expanded scene. leader[i]: link of which link i is a mirror image, or -1. map[i]: maps
 * displacements of the leader to displacements of link i. */
typedef struct {
  const bool *shapes, *joints;
  const int* leader;
  const Mat3* map;
  bool keep_ties; /* true: insert nothing and use the list of tied vertices that the scene contains */
} ConnectRequest;
/* Stores the shared vertices in the scene as its list of tied vertices. The scene owns the list. */
void connect_store_ties(Scene* scene, const SharedVertices* shared);
/* Checks the tied vertices of the scene for `design.connect: keep`. Adds an error at `place` for each link that has
 * several hulls but no tied vertices. Warns of tied vertices that are missing or do not coincide, and of joints without
 * a tied vertex. */
void connect_check_ties(const Scene* scene, const ConnectRequest* request, SourcePosition place,
                        Diagnostics* diagnostics);
/* Inserts shared vertices into the hulls of the scene and appends them to `shared`, which the caller frees with
 * shared_vertices_free. model: model of the scene before the call. */
void connect_hulls(Scene* scene, const Model* model, const ConnectRequest* request, SharedVertices* shared);
/* Warns of links with two hulls that touch but are not connected by a chain of shared vertices. Adds one warning per
 * link whose shape changes. model: model of the scene before connect_hulls. */
void connect_warn_unconnected(const Scene* scene, const Model* model, const ConnectRequest* request,
                              const SharedVertices* shared, Diagnostics* diagnostics);
/* Frees the list and zeroes it. */
void shared_vertices_free(SharedVertices* shared);
/* Computes the centre of the largest ball in the intersection of two hulls, in the frame of the hulls [m] (D5). Returns
 * false if the radius is at most 1e-3 of the size of the smaller hull, or 1e-6 of the size of the larger hull if both
 * come from a decomposed mesh. *center is then undefined. */
bool intersection_center(const ConvexHull* a, const ConvexHull* b, bool decomposed, Vec3* center);

/* ---------------------------------------------------------------- variables (optimize/design*.c) */

typedef struct {
  /* name in design.csv, for example "foot/0/17/x" for the x coordinate of vertex 17 of hull 0 of link foot */
  char* name;
  char* former; /* name of the variable in earlier versions, which is accepted with a warning; NULL if the name has not
                   changed */
  double initial, low, high;
  double scale;         /* typical large change of the variable; 0: 0.1 in the unit of the variable */
  double prior;         /* standard deviation of the normal prior distribution around the initial value; 0: no prior */
  double step;          /* step size of the optimizer for the variable; 0: common step size of its block */
  int block;            /* group of the variable with a common step size. 0: design; 1: control and initial state */
  SourcePosition place; /* entry of the task that defines the variable */
} DesignVariable;

/* Value in the scene that depends linearly on variables, with its terms in Design.terms. It has the same position in
 * every scenario, because all scenarios have the same links. */
enum { ALL_SCENARIOS = -1 };
typedef struct {
  OverrideKind kind;
  /* identify the value in the scene, as in ModelOverride; for a vertex, `part` is a hull of the link */
  int link, part, index;
  int scenario; /* scenario to which the value belongs; ALL_SCENARIOS: it belongs to all */
  double base;
  int term_first, term_count;
} DesignNumber;

typedef struct {
  int variable;
  double coefficient;
} DesignTerm;

/* Inertia of a link as a function of variables that admit only physical inertias (D9): The inertia matrix is I = tr(P)
 * 1 - P, with the second moment P = V V^T of the mass and an upper triangular matrix V. The logarithms of the diagonal
 * of V are the first three variables. If `full` is true, the entries of V above the diagonal are three more variables.
 * Otherwise they have constant ratios to the diagonal entry of their column. */
typedef struct {
  int number_first, variable_first;
  bool full;       /* true: the products xy, xz, yz are variables too */
  double above[3]; /* if `full` is false: ratios of the entries 01, 02, 12 of V to the diagonal entry of their column */
} DesignInertia;

/* Rotation variables of a joint (D11). They rotate the joint's axis (three values), the joint frame, or the initial
 * joint rotation (four values of a quaternion). */
typedef struct {
  bool changes_axis, changes_initial_rotation;
  int number_first;
  int variable[3]; /* index of the variable that is the rotation about each axis [rad]; -1: none. Axes of the joint
                      frame, or of the link frame for the initial rotation */
  Vec3 axis;       /* axis of the joint in the scene, before optimization; unit vector */
  Quat rotation;
} DesignRotation;

typedef struct {
  DesignVariable* variables;
  int variable_count, variable_capacity;
  DesignNumber* numbers;
  int number_count, number_capacity;
  DesignTerm* terms;
  int term_count, term_capacity;
  int current_scenario; /* scenario to which design_add_number assigns new scene values, or ALL_SCENARIOS */
  DesignInertia* inertias;
  int inertia_count, inertia_capacity;
  DesignRotation* turns;
  int turn_count, turn_capacity;
  bool* link_changes; /* true if a hull of the link changes (size: links) */
  bool* hull_changes; /* true if the hull changes; hulls of the first scenario, link by link (size: hulls) */
  int* hull_first;    /* index in hull_changes of each link's first hull (links + 1) */
  int* block;         /* block of each variable: 0 design; 1 control and initial state (size: variables) */
  FeasibleSet set;    /* bounds and linear constraints of the variables; borrows `block` */
  double* low_high;
  SharedVertices shared; /* shared vertices of the hulls in the first scenario */
} Design;

/* Creates the variables of a task and prepares its scenes: expands them, inserts shared vertices, stores derived values
 * (contact parameters, masses), sets horizons and solver tolerance. The changes of the task are permanent, and the task
 * must outlive the design. Returns STATUS_BAD_INPUT or the status of model_create with diagnostics for an invalid task.
 * The caller frees *design with design_destroy, also after errors. */
Status design_create(Design* design, Task* task, Diagnostics* diagnostics);
/* Frees the design, not the task. Accepts a zeroed or incomplete design. */
void design_destroy(Design* design);
/* Returns true if the design changes a hull of a link, with hull counted from 0. Returns false if the first scenario
 * has no such hull. */
bool design_changes_hull(const Design* design, int link, int hull);
/* Evaluates all scene values that depend on variables, for the variables x[variable_count] (D1). Returns an array of
 * number_count overrides, which the caller frees with memory_free. */
ModelOverride* design_overrides(const Design* design, const double* x);
/* Removes the overrides of other scenarios from overrides[count], whose first number_count entries must come from
 * design_overrides. Keeps the order and returns the new count. */
int design_overrides_in(const Design* design, int scenario, ModelOverride* overrides, int count);
/* Adds factor times the derivatives of a loss with respect to the variables to out[variable_count] (D2). gradient:
 * derivatives of the loss with respect to the parameters of `model`, a model of the scenario. */
void design_gradient(const Design* design, int scenario, const Model* model, const ModelGradient* gradient,
                     double factor, double* out);

/* ---------------------------------------------------------------- inertias (optimize/design_inertia.c) */

/* Factorizes the second moment of the mass, which follows from the inertia, as V V^T with V upper triangular (D9). Sets
 * root to the diagonal of V, then its entries 01, 02, 12. inertia: xx, yy, zz, xy, xz, yz about the centre of mass [kg
 * m^2]. Returns false if no physical body has this inertia. */
bool inertia_factor(const double inertia[6], double root[6]);
/* Computes the inertia xx, yy, zz, xy, xz, yz of a link [kg m^2] from the variables x[variables]. */
void design_inertia_values(const DesignInertia* parameters, const double* x, double inertia[6]);
/* Adds the derivatives of a loss with respect to the variables of an inertia to gradient[variables]. by_inertia:
 * derivatives of the loss with respect to the six values `inertia`. Adds nothing if no physical body has this inertia.
 */
void design_inertia_gradient(const DesignInertia* parameters, const double inertia[6], const double by_inertia[6],
                             double* gradient);

/* ---------------------------------------------------------------- directions (optimize/design_turn.c) */

/* Computes numbers[3], the unit vector of a joint axis, or numbers[4], a quaternion w x y z, rotated by the variables
 * x[variables]. */
void design_rotation_values(const DesignRotation* rotation, const double* x, double* numbers);
/* Adds the derivatives of a loss with respect to the rotation variables of a joint to gradient[variables]. by_turn:
 * derivative of the loss with respect to a small additional rotation, in the axes of the rotated joint frame [1/rad].
 */
void design_rotation_gradient(const DesignRotation* rotation, const double* numbers, Vec3 by_turn, double* gradient);

/* Returns a hull's shape in the scene, with hull counted from 0. Owned by the scene. */
SceneShape* design_hull(const Scene* scene, int link, int hull);
/* Returns v.x, v.y or v.z for axis 0, 1 or 2. */
double design_component(Vec3 v, int axis);

/* Adds a variable and returns its index. The design takes ownership of the name. */
int design_add_variable(Design* design, const DesignVariable* variable);
/* Adds a scene value that depends on variables, for the scenario Design.current_scenario. base: its initial value. Call
 * design_add_term for each of its variables before the next scene value is added. */
void design_add_number(Design* design, OverrideKind kind, int link, int part, int index, double base);
/* Adds a scene value that earlier variables may already change, with the initial value `base`. If the design has an
 * entry for this value, its terms move to the new entry. The new entry is applied later and replaces the earlier one.
 */
void design_extend_number(Design* design, OverrideKind kind, int link, int part, int index, double base);
/* Adds the term coefficient * (variable - its initial value) to the last scene value. Does nothing for coefficient 0.
 */
void design_add_term(Design* design, int variable, double coefficient);

#endif
