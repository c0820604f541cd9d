/* Private to optimize/: the variables of a task, and the numbers of the scene that they change
 * (docs/derivations/design.md). A number has the value base + sum over variables of coefficient * (variable -
 * initial value of the variable). */
#ifndef SDRS_OPTIMIZE_DESIGN_H
#define SDRS_OPTIMIZE_DESIGN_H

#include "differentiate/differentiate.h"
#include "optimize/optimizer.h"

/* ---------------------------------------------------------------- shared vertices (optimize/connect.c) */

/* A vertex that two hulls of a link share, so that the hulls stay connected (SDRS section III-B). It is either
 * inserted into both hulls, or a corner with bitwise equal coordinates in both. A corner of n hulls has n - 1
 * consecutive entries with the same hull[0]. */
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

/* Request to connect the hulls of links by shared vertices. The shared vertices are the corners that hulls of a link
 * have in common, and inserted vertices. One vertex is inserted in every intersection of two hulls and at every
 * attachment on a link with shapes[link] true. One is inserted in the parent at every attachment of a link with
 * joints[link] true. shapes, joints: (links of the expanded scene). follows[i]: link that link i follows by a
 * symmetry, or -1. map[i]: maps displacements of the leader to displacements of link i. */
typedef struct {
  const bool *shapes, *joints;
  const int* follows;
  const Mat3* map;
  bool keep; /* true: insert nothing and use the ties of the scene */
} ConnectRequest;
/* Stores the pairs of `shared` in the scene as its list of tied vertices. The scene owns the list. */
void connect_store_ties(Scene* scene, const SharedVertices* shared);
/* Checks the ties of the scene, which `design.connect: keep` uses. Adds an error at `place` for each link that has
 * several hulls but no ties. Warns of ties whose vertices are missing or do not coincide, and of joints without a
 * vertex. */
void connect_check_ties(const Scene* scene, const ConnectRequest* request, SourcePosition place,
                        Diagnostics* diagnostics);
/* Connects the hulls of the scene as requested. Appends the shared vertices to `shared`, which the caller frees with
 * shared_vertices_free. model: model of the scene before the call. */
void connect_hulls(Scene* scene, const Model* model, const ConnectRequest* request, SharedVertices* shared);
/* Warns of links with two hulls that touch but are not connected by a chain of shared vertices. Adds one warning per
 * link whose shape changes. model: as for connect_hulls, which made `shared`. */
void connect_warn_unconnected(const Scene* scene, const Model* model, const ConnectRequest* request,
                              const SharedVertices* shared, Diagnostics* diagnostics);
/* Frees the list and zeroes it. */
void shared_vertices_free(SharedVertices* shared);
/* Sets *center to the centre of the largest ball in the intersection of two hulls, in the frame of the hulls [m]
 * (D5). Returns false, with center undefined, if the hulls overlap too little: the radius must exceed 1e-3 of the
 * size of the smaller hull. If `decomposed`, both hulls come from a decomposed mesh, and the radius must exceed 1e-6
 * of the size of the larger hull. */
bool intersection_center(const ConvexHull* a, const ConvexHull* b, bool decomposed, Vec3* center);

/* ---------------------------------------------------------------- variables (optimize/design*.c) */

typedef struct {
  char* name;   /* "foot/0/17/x", "shank/attachment/x", "hip/amplitude/3", "box/velocity/0" */
  char* former; /* name in earlier versions, accepted with a warning; NULL: none */
  double initial, low, high;
  double scale;         /* a large change of the variable; 0: a tenth of its unit */
  double prior;         /* standard deviation of the prior; 0: no prior */
  double step;          /* optimizer step of the variable; 0: the variable has the step of its block */
  int block;            /* 0: design; 1: control and initial state */
  SourcePosition place; /* task entry that created it */
} DesignVariable;

/* A number of the scene that variables change. All scenarios have the same links, and a number has the same place in
 * every scenario. */
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

/* The six inertia numbers of a link as functions of variables, such that all values are physical (D9). I = tr(P) 1 -
 * P with P = V V^T. V is upper triangular. Its diagonal is exp of the first three variables. Its entries above the
 * diagonal are three more variables if `full`, otherwise they have constant ratios to the diagonal. */
typedef struct {
  int number_first, variable_first;
  bool full;       /* true: the products xy, xz, yz are variables too */
  double above[3]; /* constant ratios V_ij / V_jj if not `full` */
} DesignInertia;

/* Rotation variables that change a direction of a joint (D11). The direction is the joint's axis (three numbers), or
 * the rotation of the joint frame or the initial rotation of the joint (a quaternion, four numbers). */
typedef struct {
  bool of_axis, of_start;
  int number_first;
  int variable[3]; /* variable of the rotation about each axis [rad], of the joint frame or for initial rotations of the
                      link frame; -1: none */
  Vec3 axis;       /* initial axis in the scene; unit */
  Quat rotation;
} DesignRotation;

typedef struct {
  DesignVariable* variables;
  int variable_count, variable_capacity;
  DesignNumber* numbers;
  int number_count, number_capacity;
  DesignTerm* terms;
  int term_count, term_capacity;
  int listing; /* scenario to which new numbers belong, or ALL_SCENARIOS */
  DesignInertia* inertias;
  int inertia_count, inertia_capacity;
  DesignRotation* turns;
  int turn_count, turn_capacity;
  bool* link_changes; /* true if a hull of the link changes (links) */
  bool* hull_changes; /* changing hulls of the first scenario, link by link; unchanged links of other scenarios may have
                         more hulls (hulls) */
  int* hull_first;    /* first entry of a link in hull_changes (links + 1) */
  int* block;         /* block of each variable, for the feasible set */
  FeasibleSet set;    /* bounds and linear constraints; borrows block */
  double* low_high;
  SharedVertices shared; /* shared vertices of the first scenario */
} Design;

/* Creates the variables of a task and prepares its scenes. Expands the scenes and inserts shared vertices. Stores
 * derived values (contact parameters, masses) as constants. Sets horizons and the solver tolerance. Messages refer
 * to places in the task. Returns STATUS_BAD_INPUT, or the status of model_create, with diagnostics if the task has
 * an error. Always sets *design, which the caller frees with design_destroy. The changes of the task are permanent;
 * the task must outlive the design. */
Status design_create(Design* design, Task* task, Diagnostics* diagnostics);
/* Frees all lists and names, not the task. Accepts a zeroed or partly built design. */
void design_destroy(Design* design);
/* Returns true if the design changes this hull of a link. Returns false if the first scenario has no such hull. hull
 * is counted from 0; link < number of links. */
bool design_changes_hull(const Design* design, int link, int hull);
/* Returns the values of all numbers for the design x[variable_count], in the units of the variables (D1). The array
 * has number_count overrides; the caller frees it with memory_free. */
ModelOverride* design_overrides(const Design* design, const double* x);
/* Removes the overrides that belong to other scenarios from overrides[count]. The first number_count overrides must be
 * the overrides of the design. Keeps the order and returns the new count. Allocates and frees nothing. */
int design_overrides_in(const Design* design, int scenario, ModelOverride* overrides, int count);
/* Adds factor times the derivatives with respect to the variables to out[variable_count] (D2). gradient: derivatives
 * with respect to the numbers of `model`, a model of the scenario. */
void design_gradient(const Design* design, int scenario, const Model* model, const ModelGradient* gradient,
                     double factor, double* out);

/* ---------------------------------------------------------------- inertias (optimize/design_inertia.c) */

/* Sets root to the factor V of an inertia (D9): its diagonal, then the entries 01, 02, 12. inertia: xx, yy, zz, xy,
 * xz, yz about the centre of mass [kg m^2]. Returns false if no physical body has this inertia. */
bool inertia_factor(const double inertia[6], double root[6]);
/* Sets inertia to the six numbers xx, yy, zz, xy, xz, yz [kg m^2] for the design x[variables]. */
void design_inertia_values(const DesignInertia* own, const double* x, double inertia[6]);
/* Adds derivatives with respect to the variables to slope[variables], by the chain rule. by_inertia: derivatives
 * with respect to the six numbers, at the values `inertia`. Adds nothing if the values are not an inertia of these
 * variables. */
void design_inertia_gradient(const DesignInertia* own, const double inertia[6], const double by_inertia[6],
                             double* slope);

/* ---------------------------------------------------------------- directions (optimize/design_turn.c) */

/* Sets numbers to the axis (3, unit vector) or quaternion (4, w x y z) for the design x[variables]. The variables
 * are rotations [rad] about the axes of the joint frame, or of the link frame for an initial rotation. */
void design_rotation_values(const DesignRotation* own, const double* x, double* numbers);
/* Adds derivatives with respect to the rotation variables to slope[variables], by the chain rule. by_turn:
 * derivative with respect to a further small rotation, in the axes of the rotated joint frame [1/rad]. */
void design_rotation_gradient(const DesignRotation* own, const double* numbers, Vec3 by_turn, double* slope);

/* ---------------------------------------------------------------- numbers of a scene (optimize/design.c) */

/* Returns the shape of a hull of a link. hull is counted from 0. The scene owns the shape. */
SceneShape* design_hull(const Scene* scene, int link, int hull);
/* Returns the component of v along x (axis 0), y (1) or z (2). */
double design_component(Vec3 v, int axis);

/* ---------------------------------------------------------------- lists (optimize/design.c) */

/* Adds a variable and returns its number. The design takes ownership of the name. */
int design_add_variable(Design* design, const DesignVariable* variable);
/* Adds a number of the scene with its base value, in the unit of the number. The number belongs to the scenario
 * Design.listing. The caller adds its terms before it adds another number. */
void design_add_number(Design* design, OverrideKind kind, int link, int part, int index, double base);
/* Adds the term coefficient * (variable - its initial value) to the last number. Does nothing if coefficient is 0. */
void design_add_term(Design* design, int variable, double coefficient);

#endif
