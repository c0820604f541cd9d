/* Private to model/: the stages of model_create. Each stage sets some members of the Model and adds errors of the scene
 * to the diagnostics. A stage continues after an error. build.c runs the stages. */
#ifndef SDRS_MODEL_BUILD_H
#define SDRS_MODEL_BUILD_H

#include "model/model.h"

/* Convex pieces of one shape of the scene, in the shape's frame. */
typedef struct {
  ConvexHull* pieces;
  double* feature; /* smallest thickness of each piece (hull_feature) [m] */
  int piece_count;
  bool triangles;      /* true: every piece is one triangle, a hull with three vertices */
  MassMoment enclosed; /* mass moment of the solid that a closed mesh encloses, for density 1 kg/m^3, shape frame; zero
                          without a closed mesh, and where the pieces are its triangles */
} ShapeSolid;

/* State that the stages of model_create share. */
typedef struct {
  Model* model;
  const Scene* scene;
  Diagnostics* diagnostics;
  ShapeSolid* solids; /* convex pieces of each shape of the scene (size: shape_count) */
  double* feature;    /* smallest thickness of each hull of the model (hull_feature) [m] (size: hull_count) */
  Text note;          /* text of Model.dropped_note */
  bool unreadable;    /* true: a mesh file could not be opened */
  char* hull_folder;  /* cache folder of convex decompositions; NULL disables the cache */
} Builder;

/* Returns the pose of a shape in its link's frame. */
static inline Pose shape_use_pose(const SceneShapeUse* use) {
  return (Pose){mat3_from_quat(use->rotation), use->position};
}

/* model/tree.c: builds links, joints and trees. Numbers the degrees of freedom. */
void build_tree(Builder* builder);
/* model/drive.c: builds the controllers. Sets ModelLink.prescribed. */
void build_controllers(Builder* builder);
/* Builds Model.loads, the forces and torques of the scene on links, with their signals. Allocates. */
void build_loads(Builder* builder);
/* model/tendons.c: builds the tendons. Runs after build_loads. */
void build_tendons(Builder* builder);
/* model/bushings.c: builds the bushings. Runs after build_tree. Adds an error for a stiffness or damping matrix that is
 * asymmetric or has a negative eigenvalue. */
void build_bushings(Builder* builder);
/* Adds an error for each bushing whose two frames are rotated relative to each other by nearly pi in the initial state.
 * Runs after build_initial.
 */
void check_bushings(const Model* model, Diagnostics* diagnostics);
/* Checks the tendons in the initial state. Adds an error for each tendon end inside its wrap, and a warning for each
 * tendon whose length is outside its range. Runs after build_initial. */
void check_tendons(const Model* model, Diagnostics* diagnostics);
/* Reports fields whose two points coincide at the start, where the force is not defined (loads.md, L16). Allocates
 * temporary memory. */
void check_fields(const Model* model, Diagnostics* diagnostics);
/* Creates *signal from source. The parameters of the signal follow the parameters of existing signals. Returns the
 * index of the first parameter. Borrows source. The model destroys the signal. */
int build_signal(Model* model, Signal* signal, const SceneSignal* source);
/* Warns of velocity gains of controllers. Under the integrator `first_order`, warns of gains that are too large for a
 * joint to reach its constant target within the run. Under other integrators, warns of the first controller with a
 * velocity gain. Runs after build_initial. */
void check_gains(const Model* model, Diagnostics* diagnostics);
/* model/check_gains.c: warns of the first drive whose position gain the substep does not resolve, so that time
 * integration damps it more than the dampers of drive and joint do (drives.md, M10). Needs model_place_spring_thetas.
 */
void check_position_gains(const Model* model, Diagnostics* diagnostics);
/* Warns of torque drives whose feedback of their own joint is unstable with the time step (feedback.md, E2).
 * (model/check_gains.c) */
void check_feedback_gains(const Model* model, Diagnostics* diagnostics);
/* Angular frequency of a spring's oscillation times the substep [rad] below which a spring conserves energy (theta 1/2,
 * drives.md, M10). */
#define SPRING_RESOLVED 0.5
/* Returns the sum of the spring stiffness and the position gains that act on a degree of freedom of a link [N/m, N m].
 */
double model_joint_stiffness(const Model* model, int link, int dof);
/* Returns the sum of the damping and the rate gains that act on a degree of freedom of a link [N s/m, N m s]. */
double model_joint_damping(const Model* model, int link, int dof);
/* Returns the 8-norm over the degrees of freedom of a link's joint of c dt / I (damps true; c: damping constant) or
 * k dt^2 / I (damps false; k: stiffness) at the start of the run. I: inertia that moves with the degree of freedom.
 * INFINITY without inertia. coefficients[dof_count]: c or k; values <= 0 do not count. */
double model_joint_step_number(const Model* model, int link, const double* coefficients, bool damps);
/* model/initial.c: sets Model.initial_coordinates (nq) [m, rad] and Model.initial_velocities (nv) [m/s, rad/s].
 * Allocates both. */
void build_initial(Builder* builder);
/* Sets the initial coordinates and velocities of a prescribed link from its signal at t = 0 [m, rad, m/s, rad/s]. */
void initial_from_signal(Model* model, const ModelLink* link);
/* Recomputes Model.initial_coordinates and Model.initial_velocities from the scene. Adds errors and warnings to the
 * diagnostics. */
void set_initial(Builder* builder);
/* model/closures.c: builds Model.closures from the initial coordinates. Allocates. Runs before build_closure_sizes,
 * which needs the masses. */
void build_closures(Builder* builder);
/* Sets ModelClosure.size and ModelCoupling.size, the scales of the closure errors. Runs after build_masses. */
void build_closure_sizes(Builder* builder);
/* model/singular.c: finds a loop that starts in a singular configuration. Sets Model.singular_closure and adds a
 * warning. Runs after build_closure_sizes. Allocates and frees. */
void build_singular(Builder* builder);
/* model/start_velocities.c: adds a warning, or a note if only prescribed joints move, if the initial velocities violate
 * a closure or coupling. Runs after build_closure_sizes and build_start. Allocates and frees. */
void build_start_velocities(Builder* builder);
/* model/couplings.c: builds Model.couplings. Allocates. Runs after build_closures. Each coupling has one row, numbered
 * after the rows of the closures. */
void build_couplings(Builder* builder);
/* model/pairs.c: builds Model.excluded, the sorted list of excluded link pairs. The key contact.exclude of the scene
 * excludes pairs, and so do permanent closures and the contact law `none`. Allocates. */
void build_exclusions(Builder* builder);
/* Builds Model.pair_items: the link pairs to which the items of the scene's list contact.pairs apply. The entries are
 * sorted by the pair of links, then by the item's index. Allocates. */
void build_materials(Builder* builder);
/* model/shapes.c: builds the convex pieces of each shape of the scene and reads meshes. Allocates one ShapeSolid per
 * shape, unless builder->solids exists. Sets builder->unreadable if a mesh cannot be read. The stages from build_hulls
 * on are then skipped. */
void build_solids(Builder* builder);
/* Frees builder->solids and builder->hull_folder. Accepts a builder without solids. */
void free_solids(Builder* builder);
/* model/hulls.c: builds the hulls of all links from the pieces of their shapes. Allocates Model.hulls, sorted by link,
 * and Builder.feature [m]. */
void build_hulls(Builder* builder);
/* Frees Model.hulls. Accepts a model without hulls. */
void free_hulls(Model* model);
double hull_volume(const ModelHull* hull); /* Returns the volume of a hull [m^3], or 0 for an unbounded hull. */
/* model/solid_hull.c: places a convex piece in the link frame. hull: zeroed except link and shape; the model owns its
 * arrays. piece is copied. pose: pose of the shape in the link frame. */
void place_hull(ModelHull* hull, const ConvexHull* piece, Pose pose);
/* model/solid_triangle.c: places a triangle, a piece with three vertices. Arguments as in place_hull. */
void place_triangle(ModelHull* hull, const ConvexHull* piece, Pose pose);
/* model/solid_smooth.c: places a smooth shape in the link frame. Returns NULL, or a static text with the reason if the
 * shape is impossible. The model owns the result in both cases. */
const char* place_smooth(ModelHull* hull, const Scene* scene, const SceneShape* shape, Pose pose);
/* Frees the smooth shape and everything that it owns. Accepts NULL. */
void free_smooth(ModelSmooth* smooth);
/* Returns the derivative of the position of one vertex of a smooth shape with respect to parameter number k. The
 * derivative is in the link frame [m per unit of the parameter]. sphere: unit directions from primitive_sphere_points
 * at the resolution of the shape, one for every vertex of the hull. */
Vec3 smooth_vertex_slope(const ModelHull* hull, const Vec3* sphere, int vertex, int k);
/* model/solid_round.c: places an exact round solid in the link frame. drawn: polyhedron inscribed in the solid, copied.
 */
void place_round(ModelHull* hull, const SceneShape* shape, const ConvexHull* drawn, Pose pose);
/* Builds the polyhedron inscribed in a wheel, disc or cone with shape->segments segments. Returns HULL_FAILED for fewer
 * than 3 or more than 1024 segments. The caller owns *hull, as after primitive_box. */
HullResult draw_round(ConvexHull* hull, const SceneShape* shape);
/* Returns the support function of a round solid: the largest value of n . x over its points x, in the frame of the
 * shape [m]. n: unit direction. Allocates nothing. */
double round_height(const SceneShape* shape, Vec3 n);
/* Fineness of the polyhedra that represent round solids in pictures and exported files by default. DRAWN_RESOLUTION:
 * subdivisions of an icosahedron for a sphere. DRAWN_SEGMENTS: straight segments of a circle.
 */
enum { DRAWN_RESOLUTION = 2, DRAWN_SEGMENTS = 24 };
/* model/shapes.c: builds the polyhedron of a primitive with shape->segments segments, or an icosphere of
 * shape->resolution. Returns HULL_FAILED for other shapes. The caller owns the hull,
 * as after primitive_box. */
HullResult draw_primitive(ConvexHull* hull, const SceneShape* shape);
/* model/drawn.c: returns the largest distance of a face of `solid` from the parallel tangent plane of the round solid
 * that it represents [m]. solid: in the frame of the shape. Allocates nothing. */
double polyhedron_deviation(const SceneShape* shape, const ConvexHull* solid);
/* Returns the derivative of the position of one vertex of a round solid's inscribed polyhedron with respect to
 * parameter number k, a length of the solid. The derivative is in the link frame [m per unit of the parameter]. */
Vec3 round_vertex_slope(const ModelHull* hull, int vertex, int k);
/* model/solid_half_space.c: places a half-space in the link frame and normalizes its normal. Does not allocate. */
void place_half_space(ModelHull* hull, const SceneShape* shape, Pose pose);
/* model/masses.c: computes mass moments, centres of mass and ModelLink.reach of all links. Runs after build_hulls. */
void build_masses(Builder* builder);
/* model/check_scale.c: warns of sizes, inertias, wheels and time steps that are probably mistakes. Examples: a moving
 * link with a size in millimetres; a given inertia that is far too large for the link's shapes; a wheel whose hinge is
 * not along the wheel's axis; a time step in which a body falls farther than a fraction of its size. Runs after
 * build_masses. */
void check_scale(const Model* model, Diagnostics* diagnostics);
/* Returns the longest edge of the boxes around a link's bounded hulls [m], or 0 if it has no bounded hull. */
double link_size(const Model* model, const ModelLink* link);
/* model/hull_mass.c: warns of movable links whose mass or centre of mass differs from that of their closed meshes,
 * because overlaps of hulls count twice, or because hulls fill hollows. Gives the values of the meshes. */
void check_hull_masses(Builder* builder);
/* model/spinning.c: selects the links whose angular momentum the integrator `momentum` advances (ModelLink.spins), and
 * the trees whose momentum it conserves (ModelTree.flies). Adds an error for a free body without a usable inertia.
 * Warns if the integrator removes much of a body's initial spin. Runs after build_masses and build_initial. */
void build_spinning(Builder* builder);
/* model/contact_defaults.c: sets Model.contact. Derives the contact parameters that the scene does not give. Runs after
 * build_masses. */
void build_contact(Builder* builder);
/* model/limits.c: checks initial coordinates and controller targets against the joint limits. Changes only the
 * diagnostics. */
void check_limits(const Model* model, Diagnostics* diagnostics);
/* model/start.c: reads the stored state from which the run starts, and checks that the state fits the model. Runs last.
 * Does nothing after an error. */
void build_start(Builder* builder);
/* model/checks.c: returns the tolerance of touching [m]. Hulls with a smaller gap, or with an overlap up to this depth,
 * count as touching. */
double touch_depth(const Model* model);
/* Adds an error for each pair of links that intersects or touches at the start. Adds a warning for each pair with a
 * very small gap. Runs after all other stages. Allocates and frees. */
void check_intersections(const Model* model, Diagnostics* diagnostics);

/* model/feature.c: returns the smallest size of a hull that contact has to resolve [m]. The size is the smaller of two
 * lengths: the hull's least extent along a face normal, and 6 times its volume divided by its surface area (R3). */
double hull_feature(const ConvexHull* hull);

/* Returns the world poses of all links at the initial coordinates. The caller frees the array with memory_free. */
static inline Pose* initial_poses(const Model* model) {
  Pose* poses = MEMORY_NEW(Pose, model->link_count);
  model_poses(model, model->initial_coordinates, poses);
  return poses;
}

/* Returns true if forces can move the link: some joint between link and world is neither fixed nor prescribed. */
static inline bool link_is_dynamic(const Model* model, int link) {
  for (int i = link; i >= 0; i = model->links[i].parent)
    if (model->links[i].dof_count > 0 && model->links[i].prescribed < 0) return true;
  return false;
}

/* Computes the offsets of couplings from the initial coordinates, if the scene gives no offset. The unit is the unit of
 * the coupling's first coordinate [m or rad]. */
void place_couplings(Model* model);

#endif
