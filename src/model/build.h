/* Private to model/: the stages of model_create. Each fills its part of the Model and reports what is wrong with the
 * scene; none stops at the first problem. build.c runs them in the order below. */
#ifndef SDRS_MODEL_BUILD_H
#define SDRS_MODEL_BUILD_H

#include "model/model.h"

/* The convex pieces of one shape of the scene, in the shape's own frame. */
typedef struct {
  ConvexHull* pieces;
  double* feature; /* hull_feature of each piece [m] */
  int piece_count;
  bool triangles; /* every piece is one triangle (`solid` of a hull with three vertices) */
} ShapeSolid;

/* What the stages share while the model is being built. */
typedef struct {
  Model* model;
  const Scene* scene;
  Diagnostics* diagnostics;
  ShapeSolid* solids; /* one per shape of the scene */
  double* feature;    /* of every model hull [m] (hull_count) */
  Text note;          /* becomes Model.dropped_note */
  bool unreadable;    /* a mesh file could not be opened */
  char* hull_folder;  /* where decompositions are kept; NULL = nowhere */
} Builder;

/* model/tree.c: links, joints, trees, numbering of degrees of freedom. */
void build_tree(Builder* builder);
/* model/drive.c: controllers and prescribed joints, then loads. Errors go to the diagnostics, as in all stages. */
void build_controllers(Builder* builder);
/* Allocates Model.loads, with the signals of force and torque. */
void build_loads(Builder* builder);
/* model/tendons.c: after the loads. */
void build_tendons(Builder* builder);
/* model/bushings.c: after the tree. Adds an error for a matrix that is not symmetric or has a negative eigenvalue. */
void build_bushings(Builder* builder);
/* After the start is known: adds an error for a bushing whose frames are turned by nearly pi. */
void check_bushings(const Model* model, Diagnostics* diagnostics);
/* After the initial coordinates: errors where an end of a wrapped part stands within its wrap. */
void check_wraps(const Model* model, Diagnostics* diagnostics);
/* The signal is created, and its parameters are numbered behind those there are; returns the first. Borrows source; the
 * model destroys the signal. */
int build_signal(Model* model, Signal* signal, const SceneSignal* source);
/* Warns of gains that mean something else than they seem to. */
void check_gains(const Model* model, Diagnostics* diagnostics);
/* model/initial.c: initial coordinates and velocities. Allocates (nq) and (nv) numbers [m, rad, m/s, rad/s]. */
void build_initial(Builder* builder);
/* Where the joint's signal is when the run begins, of a link that is prescribed. Sets its coordinates and velocities
 * [m, rad, m/s, rad/s]. */
void initial_from_signal(Model* model, const ModelLink* link);
/* What build_initial allocated, anew from the scene's numbers. Problems go to diagnostics. */
void set_initial(Builder* builder);
/* model/closures.c: closures, from the initial coordinates; their sizes need the masses. Allocates Model.closures. */
void build_closures(Builder* builder);
/* Sets ModelClosure.size and ModelCoupling.size. */
void build_closure_sizes(Builder* builder);
/* model/singular.c: does a loop stand in a singular position? Needs the sizes. Sets Model.singular_closure, with a
 * warning. Allocates and frees. */
void build_singular(Builder* builder);
/* model/couplings.c: after the closures; sizes alike. Allocates Model.couplings; each has one row, behind those of
 * closures. */
void build_couplings(Builder* builder);
/* model/pairs.c: link pairs excluded by the user. Allocates Model.excluded, sorted. */
void build_exclusions(Builder* builder);
/* The same: values of pairs of links (contact.pairs). Allocates Model.pair_items, sorted by key, then item. */
void build_materials(Builder* builder);
/* model/shapes.c: meshes, primitives and their hulls. Allocates a ShapeSolid per shape; a mesh that cannot be read sets
 * `unreadable`: the stages from build_hulls on are left out then. Solids that are there already, lent, stay. */
void build_solids(Builder* builder);
/* Frees the folder's name too; accepts a builder without solids. */
void free_solids(Builder* builder);
/* model/hulls.c: hulls placed in their links. Allocates Model.hulls, sorted by link, and Builder.feature [m]. */
void build_hulls(Builder* builder);
/* Accepts a model without hulls. */
void free_hulls(Model* model);
double hull_volume(const ModelHull* hull); /* m^3; 0 for what has no end */
/* model/solid_hull.c, solid_triangle.c, solid_half_space.c: the piece or shape of a scene, moved into the link's frame.
 * hull: zero but for link and shape; its arrays are the model's. piece is copied, not kept; pose: of the shape in the
 * link. */
void place_hull(ModelHull* hull, const ConvexHull* piece, Pose pose);
/* Alike, of a piece of three vertices. */
void place_triangle(ModelHull* hull, const ConvexHull* piece, Pose pose);
/* Returns why there is no such shape (static); NULL: it stands. Owned by the model either way. */
const char* place_smooth(ModelHull* hull, const Scene* scene, const SceneShape* shape, Pose pose);
/* Frees it and all that it owns; NULL is accepted. */
void free_smooth(ModelSmooth* smooth);
/* Derivative of a vertex of a convex smooth shape, link frame, by its parameter k. sphere: primitive_sphere's points
 * of the same resolution (hull's points). [m per unit of the parameter]. */
Vec3 smooth_vertex_slope(const ModelHull* hull, const Vec3* sphere, int vertex, int k);
/* model/solid_round.c: an exact round solid; drawn: the inscribed polyhedron, which is copied. */
void place_round(ModelHull* hull, const SceneShape* shape, const ConvexHull* drawn, Pose pose);
/* The polyhedron inscribed in a wheel, disc or cone, of shape->segments around. HULL_FAILED: of fewer than 3
 * or more than 1024. Result and ownership as of primitive_box. */
HullResult draw_round(ConvexHull* hull, const SceneShape* shape);
/* Derivative of a vertex of the polyhedron, link frame, by the solid's parameter k. By value. */
Vec3 round_vertex_slope(const ModelHull* hull, int vertex, int k);
/* The normal becomes unit; no allocation. */
void place_half_space(ModelHull* hull, const SceneShape* shape, Pose pose);
/* model/masses.c: moments, centres of mass, reach. Needs the hulls. */
void build_masses(Builder* builder);
/* model/check_scale.c: warns once of a moving link whose size [m] looks like millimetres, of a wheel whose hinge is not
 * its axis, and of a time step in which a body falls farther than the largest moving link is long. Needs hulls and
 * masses. */
void check_scale(const Model* model, Diagnostics* diagnostics);
/* model/spinning.c: which bodies carry their momentum, and may they? Needs the masses and the start. Errors for bodies
 * that cannot; under first_order a warning where it takes much of a spin that the run begins with. */
void build_spinning(Builder* builder);
/* model/spring_theta.c: when springs act in a step, by their frequencies at the start. Needs build_spinning. Sets
 * ModelLink.spring_theta, ModelTendon.theta and ModelBushing.theta; 1 under other integrators than `momentum`. */
void build_spring_thetas(Model* model);
/* model/contact_defaults.c: contact parameters in force. Needs hulls and masses. Sets Model.contact [m, m/s, N]; what
 * is given stays. */
void build_contact(Builder* builder);
/* model/limits.c: coordinates and targets against the joints' limits. Adds to the diagnostics only. */
void check_limits(const Model* model, Diagnostics* diagnostics);
/* model/start.c: the state that the run begins in, if it is of a model like this one. Needs everything. Nothing once
 * there are errors. */
void build_start(Builder* builder);
/* model/checks.c: the gap below which hulls touch [m], and the depth up to which they do no more. */
double touch_depth(const Model* model);
/* model/checks.c: hulls that intersect or nearly touch at the start. Needs everything. Allocates and frees. */
void check_intersections(const Model* model, Diagnostics* diagnostics);

/* model/feature.c: smallest size of a hull that contact has to resolve [m] (R3):
 * min( least extent over its face normals, 6 volume / area ); the latter is a sphere's diameter, a cube's edge. */
double hull_feature(const ConvexHull* hull);

/* The poses of all links at the initial coordinates; owned by the caller. */
static inline Pose* initial_poses(const Model* model) {
  Pose* poses = MEMORY_NEW(Pose, model->link_count);
  model_poses(model, model->initial_coordinates, poses);
  return poses;
}

/* May some joint between the link and the world move by forces? (Not when all are fixed or prescribed.) */
static inline bool link_is_dynamic(const Model* model, int link) {
  for (int i = link; i >= 0; i = model->links[i].parent)
    if (model->links[i].dof_count > 0 && model->links[i].prescribed < 0) return true;
  return false;
}

/* Offsets that the scene does not give, from the initial coordinates. Of each coupling's first coordinate's unit [m or
 * rad]. */
void place_couplings(Model* model);

#endif
