/* Private to model/: the stages of model_create. Each stage fills its part of the Model and reports the errors of the
 * scene. No stage stops at the first error. build.c runs the stages in the order below. */
#ifndef SDRS_MODEL_BUILD_H
#define SDRS_MODEL_BUILD_H

#include "model/model.h"

/* The convex pieces of one shape of the scene, in the frame of the shape. */
typedef struct {
  ConvexHull* pieces;
  double* feature; /* hull_feature of each piece [m] */
  int piece_count;
  bool triangles; /* every piece is one triangle (`solid` of a hull with three vertices) */
} ShapeSolid;

/* State shared by the stages of model_create. */
typedef struct {
  Model* model;
  const Scene* scene;
  Diagnostics* diagnostics;
  ShapeSolid* solids; /* one per shape of the scene */
  double* feature;    /* hull_feature of every model hull [m] (hull_count) */
  Text note;          /* becomes Model.dropped_note */
  bool unreadable;    /* a mesh file could not be opened */
  char* hull_folder;  /* folder where decompositions are cached; NULL: no cache */
} Builder;

/* model/tree.c: builds links, joints and trees, and numbers the degrees of freedom. */
void build_tree(Builder* builder);
/* model/drive.c: builds the controllers and finds the prescribed joints. Errors are added to the diagnostics, as in all
 * stages. */
void build_controllers(Builder* builder);
/* Builds Model.loads, with the signals of force and torque. Allocates. */
void build_loads(Builder* builder);
/* model/tendons.c: builds the tendons. Runs after build_loads. */
void build_tendons(Builder* builder);
/* model/bushings.c: builds the bushings. Runs after build_tree. Adds an error for a matrix that is asymmetric or has a
 * negative eigenvalue. */
void build_bushings(Builder* builder);
/* Adds an error for each bushing whose frames are rotated by nearly pi in the initial state. Runs after build_initial.
 */
void check_bushings(const Model* model, Diagnostics* diagnostics);
/* Adds an error for each tendon end that lies inside its wrap in the initial state, and a warning for each tendon
 * whose length is outside its range there. Runs after build_initial. */
void check_tendons(const Model* model, Diagnostics* diagnostics);
/* Creates *signal from source and numbers its parameters after those of the existing signals. Returns the number of its
 * first parameter. Borrows source; the model destroys the signal. */
int build_signal(Model* model, Signal* signal, const SceneSignal* source);
/* Warns of controller gains whose effect probably differs from the intention. */
void check_gains(const Model* model, Diagnostics* diagnostics);
/* model/initial.c: sets Model.initial_coordinates (nq) [m, rad] and Model.initial_velocities (nv) [m/s, rad/s].
 * Allocates both. */
void build_initial(Builder* builder);
/* Sets the initial coordinates and velocities [m, rad, m/s, rad/s] of a prescribed link from its signal at the start of
 * the run. */
void initial_from_signal(Model* model, const ModelLink* link);
/* Recomputes both arrays of build_initial from the scene. Adds errors and warnings to the diagnostics. */
void set_initial(Builder* builder);
/* model/closures.c: builds the closures from the initial coordinates. Allocates Model.closures. Runs before
 * build_closure_sizes, which needs the masses. */
void build_closures(Builder* builder);
/* Sets ModelClosure.size and ModelCoupling.size. Runs after build_masses. */
void build_closure_sizes(Builder* builder);
/* model/singular.c: sets Model.singular_closure and warns when a loop starts in a singular configuration. Needs the
 * sizes. Allocates and frees. */
void build_singular(Builder* builder);
/* model/couplings.c: builds the couplings. Runs after build_closures. Allocates Model.couplings. Each coupling has one
 * row; the rows follow those of the closures. */
void build_couplings(Builder* builder);
/* model/pairs.c: builds Model.excluded, the sorted list of link pairs that the user excluded from contact.
 * Allocates. */
void build_exclusions(Builder* builder);
/* Builds Model.pair_items, the link pairs to which items of contact.pairs apply, sorted by key, then item.
 * Allocates. */
void build_materials(Builder* builder);
/* model/shapes.c: reads meshes and builds the convex pieces of each shape. Allocates one ShapeSolid per shape, unless
 * the builder already has solids. A mesh that cannot be read sets `unreadable`; the stages from build_hulls on are then
 * skipped. */
void build_solids(Builder* builder);
/* Frees the solids and the folder's name. Accepts a builder without solids. */
void free_solids(Builder* builder);
/* model/hulls.c: places the pieces in their links. Allocates Model.hulls, sorted by link, and Builder.feature [m]. */
void build_hulls(Builder* builder);
/* Frees Model.hulls. Accepts a model without hulls. */
void free_hulls(Model* model);
double hull_volume(const ModelHull* hull); /* Returns the volume [m^3]; 0 for an unbounded hull. */
/* model/solid_hull.c, solid_triangle.c, solid_half_space.c: place a piece or shape in the link frame. hull: zeroed
 * except link and shape; its arrays belong to the model. piece is copied. pose: pose of the shape in the link. */
void place_hull(ModelHull* hull, const ConvexHull* piece, Pose pose);
/* Places a piece of three vertices; arguments as of place_hull. */
void place_triangle(ModelHull* hull, const ConvexHull* piece, Pose pose);
/* Places a smooth shape in the link frame. Returns NULL, or a static text that states why the shape is impossible. The
 * model owns the result in both cases. */
const char* place_smooth(ModelHull* hull, const Scene* scene, const SceneShape* shape, Pose pose);
/* Frees the shape and everything it owns. Accepts NULL. */
void free_smooth(ModelSmooth* smooth);
/* Returns the derivative of a vertex of a convex smooth shape, link frame, with respect to its parameter k [m per unit
 * of the parameter]. sphere: points of primitive_sphere at the same resolution (one per hull point). */
Vec3 smooth_vertex_slope(const ModelHull* hull, const Vec3* sphere, int vertex, int k);
/* model/solid_round.c: places an exact round solid. drawn: its inscribed polyhedron, copied. */
void place_round(ModelHull* hull, const SceneShape* shape, const ConvexHull* drawn, Pose pose);
/* Builds the polyhedron inscribed in a wheel, disc or cone with shape->segments segments. HULL_FAILED for fewer than 3
 * or more than 1024 segments. Result and ownership as of primitive_box. */
HullResult draw_round(ConvexHull* hull, const SceneShape* shape);
/* Returns the largest value of n . x over a round solid, in the frame of the shape [m]. n: unit. Allocates nothing. */
double round_height(const SceneShape* shape, Vec3 n);
/* model/shapes.c: builds the polyhedron of a primitive with shape->segments segments, or an icosphere of
 * shape->resolution. HULL_FAILED for other shapes. Result and ownership as of primitive_box. */
HullResult draw_primitive(ConvexHull* hull, const SceneShape* shape);
/* model/drawn.c: returns the largest distance of a face of `solid` from the parallel tangent plane of the round solid
 * that it represents [m]. solid: in the frame of the shape. Allocates nothing. */
double polyhedron_deviation(const SceneShape* shape, const ConvexHull* solid);
/* Returns the derivative of a vertex of the polyhedron, link frame, with respect to the solid's parameter k. */
Vec3 round_vertex_slope(const ModelHull* hull, int vertex, int k);
/* Places a half-space and normalizes its normal. Does not allocate. */
void place_half_space(ModelHull* hull, const SceneShape* shape, Pose pose);
/* model/masses.c: computes mass moments, centres of mass, and ModelLink.reach, the largest distance of a vertex from
 * the origin of the link frame. Runs after build_hulls. */
void build_masses(Builder* builder);
/* model/check_scale.c: warns once of each of these: a moving link whose size [m] looks like millimetres; a wheel whose
 * hinge is not its axis; a time step in which a body falls farther than the size of the largest moving link. Needs
 * hulls and masses. */
void check_scale(const Model* model, Diagnostics* diagnostics);
/* model/spinning.c: selects the bodies that carry their angular momentum. Needs masses and initial state. Adds an error
 * for a body that cannot carry it. Under first_order, warns when the scheme dissipates much of the initial spin. */
void build_spinning(Builder* builder);
/* model/contact_defaults.c: derives the contact parameters that the scene does not give. Needs hulls and masses. Sets
 * Model.contact [m, m/s, N]. */
void build_contact(Builder* builder);
/* model/limits.c: checks initial coordinates and controller targets against the joint limits. Only adds diagnostics. */
void check_limits(const Model* model, Diagnostics* diagnostics);
/* model/start.c: reads the stored state that the run starts from and checks that it fits this model. Runs last. Does
 * nothing after an error. */
void build_start(Builder* builder);
/* model/checks.c: returns a length [m]: hulls with a smaller gap count as touching; an overlap up to this depth still
 * counts as touching. */
double touch_depth(const Model* model);
/* model/checks.c: adds errors for hulls that intersect or nearly touch at the start. Runs after all other stages.
 * Allocates and frees. */
void check_intersections(const Model* model, Diagnostics* diagnostics);

/* model/feature.c: returns the smallest size of a hull that contact has to resolve [m] (R3): min(least extent over its
 * face normals, 6 volume / area). The second term is a sphere's diameter or a cube's edge. */
double hull_feature(const ConvexHull* hull);

/* Returns the poses of all links at the initial coordinates. The caller frees them. */
static inline Pose* initial_poses(const Model* model) {
  Pose* poses = MEMORY_NEW(Pose, model->link_count);
  model_poses(model, model->initial_coordinates, poses);
  return poses;
}

/* True if forces can move some joint between the link and the world (not all are fixed or prescribed). */
static inline bool link_is_dynamic(const Model* model, int link) {
  for (int i = link; i >= 0; i = model->links[i].parent)
    if (model->links[i].dof_count > 0 && model->links[i].prescribed < 0) return true;
  return false;
}

/* Computes coupling offsets that the scene does not give from the initial coordinates [m or rad, unit of the coupling's
 * first coordinate]. */
void place_couplings(Model* model);

#endif
