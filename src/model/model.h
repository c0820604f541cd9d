/* model: Scene + meshes -> Model, validated and constant: tree of links, joints, hulls, masses, contact parameters.
 * The Model owns its arrays and borrows the Scene, which must outlive it. model_destroy accepts a half-built model.
 *
 * Kinematics (docs/derivations/kinematics.md): link frame = frame of its joint after the motion,
 *   T_link = T_parent  origin  joint_motion(q)                                                                (K1)
 * Degrees of freedom (nv) are numbered tree by tree, in link order within a tree; coordinates (nq) alike. */
#ifndef SDRS_MODEL_H
#define SDRS_MODEL_H

#include "control/control.h"
#include "geometry/geometry.h"
#include "scene/scene.h"

typedef struct SolidKind SolidKind;
extern const SolidKind SOLID_HULL, SOLID_HALF_SPACE, SOLID_TRIANGLE, SOLID_SMOOTH, SOLID_ROUND;

/* A convex piece of a link, link frame. A bounded piece has a triangulated surface; an unbounded one has infinite
 * bounds. */
typedef struct {
  const SolidKind* kind;
  int link;
  int shape;        /* index into Scene.shapes */
  PointView points; /* vertex arrays for the inner loops; count 0 if the piece has no vertices */
  ConvexHull solid; /* the same vertices in the same order, with triangles; empty if there are no vertices; owned by the
                       model */
  Vec3 center;      /* centre of the bounding box [m] */
  double radius;    /* radius of the bounding sphere about center [m] */
  Vec3 half_extent; /* half extents of the bounding box [m] */
  Vec3 normal;      /* half-space { x : normal . x <= offset }: unit */
  double offset;    /* offset along the normal [m] */
  int vertex_first; /* number of the piece's first vertex among the vertices of all hulls */
  struct ModelSmooth* smooth; /* for SOLID_SMOOTH and SOLID_ROUND, owned by the model; otherwise NULL */
} ModelHull;

enum { ROUND_CORNERS = 8 };
/* Derivatives of a round solid with respect to one of its parameters: derivative of the rounding radius, and of the
 * points or circles of the core, link frame. */
typedef struct {
  double rounding;
  bool moves;                 /* true: the core depends on the parameter; false: center and radius are unused */
  Vec3 center[ROUND_CORNERS]; /* corners of a rounded box, or centres of the circles */
  double radius[ROUND_RINGS_MAX];
} RoundSlope;

/* A smooth shape placed in a link. The members `solid` and `points` of its ModelHull are samples of its surface. */
typedef struct ModelSmooth {
  Field field;         /* kind FIELD_SHAPE: one convex shape with its own parameters */
  Pose pose;           /* pose of the shape's frame in the link frame */
  MassMoment moment;   /* moments for density 1 kg/m^3, link frame */
  int resolution;      /* resolution of the sampled surface, as in scenes */
  int parameter_first; /* number of the shape's first parameter among the parameters of all shapes; -1: no parameters */
  RoundBody core;      /* core of a SOLID_ROUND, link frame; owns its points; its circles are `rings` */
  double core_width;   /* least width of the hull of the core's points [m]; 0 for circles */
  Circle rings[ROUND_RINGS_MAX];
  RoundSlope slope[ROUND_PARAMETERS_MAX]; /* derivatives of `core` with respect to the parameters (parameter_count) */
  MassMoment moment_slope[ROUND_PARAMETERS_MAX]; /* derivatives of `moment` with respect to the parameters */
  int parameter_count;
} ModelSmooth;
/* True if the hull is a round solid that contact treats exactly. hull must not be NULL. Allocates nothing. */
static inline bool hull_is_round(const ModelHull* hull) { return hull->kind == &SOLID_ROUND; }
/* True if the hull is one convex smooth shape with parameters. hull must not be NULL. Allocates nothing. */
static inline bool hull_is_convex_smooth(const ModelHull* hull) {
  return hull->smooth && !hull_is_round(hull) && hull->smooth->field.kind == FIELD_SHAPE;
}
/* Returns the number of parameters of the hull in ModelGradient.shapes: the form parameters of a convex smooth shape,
 * or the lengths of a round solid in the order of the keys in the scene; 0 for other hulls. hull must not be NULL.
 * Allocates nothing. */
static inline int hull_parameter_count(const ModelHull* hull) {
  if (hull_is_round(hull)) return hull->smooth->parameter_count;
  return hull_is_convex_smooth(hull) ? shape_parameter_count(&hull->smooth->field.shape) : 0;
}
/* Returns the body that contact computes with: the round solid itself, or the hull of the vertices for other kinds.
 * Borrowed from the hull. */
static inline RoundBody hull_body(const ModelHull* hull) {
  return hull_is_round(hull) ? hull->smooth->core : (RoundBody){hull->points, NULL, 0, 0};
}

/* Operations of a kind of piece, defined in model/solid_<kind>.c. None allocates or fails. */
struct SolidKind {
  bool bounded; /* has vertices, triangles, a box and a volume; otherwise unbounded */
  /* Returns the maximum of direction . x over the solid [m |direction|], or HUGE_VAL if unbounded. *vertex: the
   * maximizing vertex, or -1. direction: link frame, any length. */
  double (*support)(const ModelHull* hull, Vec3 direction, int* vertex);
  MassMoment (*moment)(
      const ModelHull* hull); /* Returns the moment for density 1 kg/m^3, link frame; zero if unbounded. */
  double (*thickness)(const ModelHull* hull); /* Returns the smallest size that contact has to resolve [m] (R3);
                                                 HUGE_VAL if unbounded. */
};

typedef struct {
  const char* name; /* borrowed from the scene */
  int parent;       /* -1 = world */
  int tree;         /* index into Model.trees; -1 for links that cannot move (welded to the world) */
  Pose origin;      /* joint frame in the parent's link frame [m] */
  Joint joint;
  int dof_first, dof_count; /* the joint's degrees of freedom */
  int coordinate_first, coordinate_count;
  bool limited[JOINT_MAX_DOF];
  double lower[JOINT_MAX_DOF], upper[JOINT_MAX_DOF]; /* limits [m or rad] */
  LimitLaw limit_law;
  double limit_stiffness, limit_margin, limit_restitution;
  double damping[JOINT_MAX_DOF];
  bool passive;                          /* has a spring, dry friction or an armature */
  double stiffness[JOINT_MAX_DOF];       /* spring stiffness [N/m or N m/rad] */
  double rest[JOINT_MAX_COORDINATE];     /* rest coordinates of the springs */
  double friction[JOINT_MAX_DOF];        /* dry friction [N or N m] */
  double armature[JOINT_MAX_DOF];        /* armature inertia [kg or kg m^2] */
  double friction_speed;                 /* width of the smoothing of dry friction [m/s or rad/s] */
  double static_friction[JOINT_MAX_DOF]; /* N or N m; 0: friction at any rate */
  double stribeck_speed;                 /* m/s or rad/s; >= friction_speed where static_friction is above 0 */
  double spring_theta; /* implicitness of springs and position gains: 1/2 conserves energy, 1 damps (drives.md, M10) */
  int prescribed;      /* index of the controller that prescribes the joint, or -1 */
  double gravity_compensation; /* compensated fraction of the weight */
  bool spins; /* integrates its angular momentum: integrator `momentum`, alone in its tree, six free degrees of freedom
               */
  MassMoment moment; /* S = sum m X~ X~^T in the link frame [kg, kg m, kg m^2]; zero for massless fixed links */
  double mass;
  MassModel mass_model; /* mass model in force, MASS_BY_SHAPE resolved */
  Vec3 center;  /* centre of mass (of the hulls' boxes when massless), link frame: the reference point of twists */
  double reach; /* largest distance of a vertex of the link from its frame origin [m] */
  int hull_first, hull_count;
  bool collide;
  int rigid_group; /* links with equal numbers never move relative to each other */
} ModelLink;

/* A tree of links whose degrees of freedom are one dense block. */
typedef struct {
  int dof_first, dof_count;
  bool flies; /* conserves its momentum together with all trees joined to it by closures and couplings: integrator
                 `momentum`, some degree of freedom, no body with `spins` */
} ModelTree;

typedef struct {
  ControllerType type;
  int link;
  Signal target;
  double position_gain[JOINT_MAX_DOF], velocity_gain[JOINT_MAX_DOF];
  double damping_gain[JOINT_MAX_DOF], max_force[JOINT_MAX_DOF]; /* max_force 0: no limit */
  double limit_width;                                           /* width relative to max_force (drives.md, M2) */
  const SceneController* source; /* feedback measurements, gain matrix and delay; borrowed */
  int delayed_first;   /* number of the controller's first delayed measurement among those of all controllers; -1: no
                          delay */
  int gain_first;      /* number of the controller's first gain (controller_gain) among the gains of all controllers */
  int parameter_first; /* number of the first parameter of `target` among the signal parameters of all controllers,
                          loads and tendons */
} ModelController;

/* Force and torque on a link (docs/derivations/loads.md). */
typedef struct {
  int link;
  bool link_axes;                /* true: force and torque are in link axes; false: in world axes */
  bool at_center;                /* true: the force acts at the centre of mass; false: at `point` */
  Vec3 point;                    /* point of application unless at_center, link frame [m] */
  Signal force, torque;          /* three channels each [N], [N m]; zero channels if absent */
  int force_first, torque_first; /* numbers of the first parameters of both signals */
  const SceneField* field;       /* field whose strength `force` is, one channel; NULL: none. Borrowed from the scene */
} ModelLoad;

/* Geometry of a field in the world, between a point of the link (a) and a point of the other body (b): d = a - b,
 * directions fixed to the two links, and lever arms about their centres of mass (docs/derivations/loads.md, L16). */
typedef struct {
  Vec3 d, u, v;      /* d [m]; u: axis of the link, v: axis of the other, for dipole and uniform */
  Vec3 arm_a, arm_b; /* lever arms of the link and of the other [m] */
} FieldPlace;
/* Energy of a field of unit strength, and its derivatives with respect to d, u and v. */
typedef struct {
  double energy; /* J per strength */
  Vec3 d, u, v;
} FieldEnergy;

/* A tendon through points of links (docs/derivations/loads.md, L5). */
typedef struct {
  const SceneTendon* source; /* points, stiffness and rest length; borrowed from the model's scene */
  Signal tension;            /* one channel [N]; zero channels if absent */
  int tension_first;         /* number of its first parameter */
  int point_first;           /* number of the tendon's first point among the points of all tendons */
  int wrap_first;            /* number of the tendon's first wrap among the wraps of all tendons */
  double theta;              /* as ModelLink.spring_theta */
  int home;                  /* a link of the tendon that belongs to a tree; -1: none */
} ModelTendon;

/* Spring and damper between frames of two links (docs/derivations/loads.md, L18). */
typedef struct {
  const SceneBushing* source; /* borrowed from the model's scene */
  double theta;               /* as ModelLink.spring_theta */
  int home;                   /* one of the two links that belongs to a tree; -1: none */
} ModelBushing;

/* Type of a closure equation c = 0 (docs/derivations/closures.md, Z1). x_a, x_b: attachment points, d = x_a - x_b. */
typedef enum {
  CLOSURE_POINT,  /* f_k . d, a component of d along a fixed direction of the world [m] */
  CLOSURE_ALIGN,  /* (R_a u) . (R_b v): perpendicular directions */
  CLOSURE_ACROSS, /* d . R_b v [m] */
  CLOSURE_LENGTH  /* (|d|^2 - length^2) / 2 length [m] */
} ClosureEquation;
typedef struct {
  ClosureEquation kind;
  int axis;  /* for CLOSURE_POINT: index k of the direction f_k */
  Vec3 u, v; /* u in the frame of link a, v in that of link b; world frame if the link is -1 */
} ClosureRow;

enum { CLOSURE_ROWS = 6 };
/* A loop closure between two links. */
typedef struct {
  ClosureType type;
  int link[2];        /* a, b; -1 = world */
  Vec3 end[2];        /* in the links' frames [m] */
  double length;      /* for a distance closure [m] */
  double size;        /* extent of the links about the attachment points: reference length of the tolerance [m] */
  double force_limit; /* force at which the closure breaks or, with `releases`, opens [N]; 0: none */
  bool releases;      /* true: may close again after its force exceeded the limit */
  Signal active;      /* one channel; zero channels if the closure is always active */
  ClosureRow rows[CLOSURE_ROWS];
  Mat3 frame;               /* rows f_k: the directions along which points are measured */
  bool framed;              /* frame differs from the world axes */
  int row_count, row_first; /* number of its first row among those of all closures */
} ModelClosure;

/* Coupling: sum slope_k q_k = offset, with q_k coordinates that are not part of a quaternion. Adds one row after those
 * of the closures (docs/derivations/closures.md, Z7). */
enum { COUPLING_TERMS = 8 };
typedef struct {
  int count;
  int dof[COUPLING_TERMS],
      coordinate[COUPLING_TERMS]; /* model indices of the degree of freedom and of the coordinate of each term */
  double slope[COUPLING_TERMS];   /* 1, then the negative ratios */
  double offset;                  /* constant offset, in the unit of the first coordinate */
  double size;                    /* reference size of the tolerance: 1 rad, or a length of the first link [m] */
  int row;
} ModelCoupling;

/* Contact parameters in force, given or derived (docs/contact-parameters.md). */
typedef struct {
  double support;           /* barrier distance s [m] */
  double stiffness;         /* kappa */
  double friction;          /* Coulomb coefficient */
  double rolling, spinning; /* coefficients of rolling and spinning friction [m] */
  double static_friction;   /* 0: no static friction */
  double stribeck_speed;    /* slip speed over which static friction falls to friction [m/s] */
  double smoothing;         /* epsilon [(m/s)^2] */
  int friction_iterations;  /* as SceneContact.friction_iterations */
  double rest_speed;        /* largest separation speed after an impact [m/s]; 0: the undamped barrier */
  double restitution;       /* fraction of the approach speed that is returned, for impacts well above the rest speed */
  bool bounces;             /* some pair may have restitution */
  double own[CONTACT_OWN_PARAMETERS]; /* parameters of the law itself (ContactLaw.parameters) */
  bool hierarchy;                     /* as SceneContact.hierarchy */
  bool support_derived, stiffness_derived, smoothing_derived, rest_speed_derived;
  double feature;         /* smallest thickness of a colliding moving hull [m] */
  double reference_force; /* weight that the stiffness is matched to [N] */
  double gap_at_rest;     /* equilibrium gap under reference_force [m] */
  double gap_under_all;   /* equilibrium gap under the weight of all moving bodies on one face [m] */
} ModelContact;

/* One item of contact.pairs that applies to two links. */
typedef struct {
  uint64_t key; /* a << 32 | b, a < b */
  int item;
  bool swapped; /* true: the first name of the item is link b */
} ModelPairItem;

/* A contact law named by an item of contact.pairs, with its parameters in force. */
typedef struct {
  ContactModel law;
  int item;
  ModelContact contact;
} ModelPairLaw;

typedef struct {
  const Scene* scene; /* borrowed, or own_scene */
  const Scene* given; /* scene from which own_scene was copied; they share unchanged arrays */
  Scene* own_scene;   /* copy of the scene with overridden numbers; NULL if no number is overridden */
  SceneSimulation simulation;
  ContactModel contact_model;
  ModelContact contact;
  ModelLink* links;
  int link_count;
  ModelHull* hulls; /* sorted by link */
  int hull_count;
  int vertex_count;          /* number of vertices of all hulls */
  int shape_parameter_count; /* number of parameters of all convex smooth shapes and round solids */
  ModelTree* trees;
  int tree_count;
  ModelController* controllers;
  int controller_count;
  ModelLoad* loads;
  int load_count;
  ModelTendon* tendons;
  int tendon_count, tendon_point_count, tendon_wrap_count; /* points and wraps: over all tendons */
  ModelBushing* bushings;
  int bushing_count;
  ModelClosure* closures;
  int closure_count, closure_row_count; /* rows: closures, then couplings */
  ModelCoupling* couplings;
  int coupling_count;
  int singular_closure; /* index of a closure whose loop is in a singular configuration in the initial state (Z11); -1:
                           none */
  bool armature;        /* some joint has an armature */
  int parameter_count;  /* number of parameters of all signals of controllers, loads and tendons */
  int gain_count;       /* number of gains of all controllers */
  bool feedback;        /* some controller has feedback */
  bool feels;           /* some feedback measures a contact force */
  int delayed_count;    /* delayed measurements over all controllers with feedback */
  int dof_count;        /* nv */
  int coordinate_count; /* nq */
  int* dof_link;        /* link of each degree of freedom (nv) */
  int* link_tree;       /* ModelLink.tree of every link, contiguous for loops over pairs (links) */
  double* initial_coordinates; /* initial coordinates (nq) */
  const double* placed_at;     /* initial coordinates from which closures and couplings were placed, if the run starts
                                  elsewhere; otherwise NULL. Borrowed (nq) */
  double* initial_velocities;  /* initial velocities (nv), in the model's degrees of freedom (ball: link axes) */
  uint64_t* excluded;          /* excluded link pairs (a << 32 | b), a < b, sorted */
  int excluded_count;
  const NumberFile* start; /* stored state that the run starts from, borrowed from the scene; NULL: the initial state */
  int start_step;          /* number of the step that led to the stored state; 0 without a stored state */
  bool has_materials;      /* a link or a pair of links has its own material */
  ModelPairItem* pair_items; /* sorted by key, then item */
  int pair_item_count;
  ModelPairLaw* pair_laws; /* in the order of contact.pairs; empty: all pairs use contact_model */
  int pair_law_count;
  char* dropped_note; /* simplifications by the import: dropped interior points, hulls thinned with their error; one
                         line each, "" if none */
} Model;

/* Returns the time of a row [s]; row 0 of a run that starts from a stored state has the time of that state. row is not
 * checked and may lie outside the run. Allocates nothing. */
static inline double model_row_time(const Model* model, int row) {
  return (double)(model->start_step + row) * model->simulation.dt;
}

/* Identity of a model, stored with a state: one hash of 4 words for each part of the model (model/start.c). A run can
 * start from the state only if the parts before MODEL_ALIKE agree. */
enum { MODEL_CLOCK, MODEL_TREE, MODEL_HULLS, MODEL_PAIRS, MODEL_ALIKE, MODEL_NUMBERS = MODEL_ALIKE, MODEL_PARTS };
enum { MODEL_IDENTITY = 4 * MODEL_PARTS };
/* Sets words[MODEL_IDENTITY] to the hashes of the parts, 4 words per part. Equal models give equal words on every
 * machine. Allocates and frees. Never fails. */
void model_identity(const Model* model, int64_t words[MODEL_IDENTITY]);

/* Equilibrium of two parallel faces with n_a and n_b vertices, for stiffness kappa = 1 (docs/contact-parameters.md). */
typedef struct {
  double gap;       /* gap D between the faces [m] */
  double force;     /* N / kappa */
  double stiffness; /* |d force / d D| [1/m], to order sigma */
} ContactRest;
/* The following functions, defined in contact/laws.c, are the interface from the contact laws to the model.
 * contact_rests returns true if the law defines an equilibrium gap for each force > 0 and an equilibrium force for each
 * gap within its range. CONTACT_NONE: the answer of the first law. Cannot fail, allocates nothing. */
bool contact_rests(ContactModel model);
/* Returns the equilibrium of two faces in contact. force: force between the faces [N], divided by kappa, >= 0. support
 * > 0 [m]. Valid only if contact_rests(model) (asserted). */
ContactRest contact_rest_under_force(ContactModel model, double support, int n_a, int n_b, double force);
/* Returns the equilibrium of two faces at a gap > 0 within the law's range [m]. support > 0 [m]. Valid only if
 * contact_rests(model) (asserted). */
ContactRest contact_rest_at_gap(ContactModel model, double support, int n_a, int n_b, double gap);
/* Returns the force of two bodies that overlap by `overlap` > 0 [m], for stiffness 1 [N]; 0 if the law does not allow
 * overlap. own: ModelContact.own. Cannot fail, allocates nothing. */
double contact_force_at_overlap(ContactModel model, const double* own, double overlap);
/* True if the law allows overlap: the run is not certified, and bodies may overlap at the start. Independent of the
 * parameters. False for CONTACT_NONE. Allocates nothing. */
bool contact_overlaps(ContactModel model);
/* True if the law uses smooth shapes exactly, so that their triangulated surfaces are not needed. True for
 * CONTACT_NONE. Allocates nothing. */
bool contact_takes_shapes(ContactModel model);
/* True if the law uses round solids exactly. True for CONTACT_NONE. */
bool contact_takes_round(ContactModel model);
/* True if the law supports direction-dependent and static friction. True for CONTACT_NONE. */
bool contact_takes_directions(ContactModel model);
/* True if models of the scene represent the shape as a round solid (SOLID_ROUND): the shape is exact, and all laws of
 * the scene support it. No argument may be NULL. Allocates nothing. (model/solid_round.c) */
bool model_takes_round(const Scene* scene, const SceneShape* shape);
/* Returns NULL if the law supports the piece. Otherwise returns the reason as the end of a sentence (static text). */
const char* contact_refuses(ContactModel model, const ModelHull* hull);
/* Returns the number of parameters that only this law has, at most CONTACT_OWN_PARAMETERS; 0 for CONTACT_NONE. */
int contact_own_count(ContactModel model);
/* Sets own[k] to the default value of the law's own parameter k, 0 if the parameter is derived from the scene
 * (model/contact_defaults.c). Entries beyond the law's parameters are set to 0. Cannot fail, allocates nothing. */
void contact_own_defaults(ContactModel law, double own[CONTACT_OWN_PARAMETERS]);

/* Builds and validates the model. Adds errors for mesh problems, nonpositive masses, initial coordinates outside limits
 * and initial intersections (both bodies and the depth); warns of contact parameters that cannot work. Returns
 * STATUS_BAD_INPUT if any error was added; the caller must call model_destroy in any case. Borrows the scene, which
 * must outlive the model. */
Status model_create(Model* model, const Scene* scene, Diagnostics* diagnostics);
/* Builds the model as model_create does. If bodies touch or overlap slightly at the start, lifts them by the overlap
 * plus the equilibrium gap (model_lift) and builds the model again. A note names the lifted bodies. Changes the joint
 * positions in the scene, except if the second build fails too. Errors and status as of model_create. */
Status model_create_lifted(Model* model, Scene* scene, Diagnostics* diagnostics);
/* Frees everything the model owns, but not the scene. Accepts a partly built or zeroed model, but not NULL. */
void model_destroy(Model* model);

/* ---------------------------------------------------------------- other numbers (model/override.c) */

/* Kind of a scene number that a design replaces. */
typedef enum {
  OVERRIDE_VERTEX,     /* part: use of a point list in the link; index: 3 point + axis [m] */
  OVERRIDE_ATTACHMENT, /* index: axis of the joint's position  [m] */
  OVERRIDE_CONTROL,    /* part: number of the signal (model_scene_signal); index: as of signal_parameter */
  OVERRIDE_COORDINATE, /* index: in the link's initial coordinates */
  OVERRIDE_VELOCITY,
  OVERRIDE_MASS,     /* mass of the link, or its density if given [kg, kg/m^3] */
  OVERRIDE_CONTACT,  /* index: CONTACT_SUPPORT, ... */
  OVERRIDE_JOINT,    /* part: JOINT_DAMPING, ...; index: degree of freedom of the link's joint */
  OVERRIDE_GRAVITY,  /* index: axis  [m/s^2] */
  OVERRIDE_CENTER,   /* index: 0 to 2, component of the centre of mass; links with `mass_model: given` [m] */
  OVERRIDE_INERTIA,  /* index: of SceneLink.inertia, for such a link [kg m^2] */
  OVERRIDE_SHAPE,    /* part: use of a convex smooth shape in the link; index: its parameter (shapes/shapes.h) */
  OVERRIDE_GAIN,     /* part: number of the link's controller; index: index of controller_gain */
  OVERRIDE_MATERIAL, /* index: MATERIAL_FRICTION, ... of the link; link -1: of item `part` of contact.pairs; part -1 as
                        well: of contact */
  OVERRIDE_AXIS,     /* index: component of the joint's first axis; the three form a unit vector */
  OVERRIDE_ROTATION, /* index: w, x, y, z of the joint frame's rotation; the four have length 1 */
  OVERRIDE_CLOSURE,  /* part: closure of the scene; index: CLOSURE_NUMBER_POINT, ... */
  OVERRIDE_TENDON,   /* part: tendon of the scene; index: TENDON_NUMBER_STIFFNESS, ... */
  OVERRIDE_WRAP,     /* part: tendon of the scene; index: WRAP_NUMBERS times the wrap + WRAP_NUMBER_RADIUS, ... */
  OVERRIDE_BUSHING,  /* part: bushing of the scene; index: BUSHING_STIFFNESS, ... */
  OVERRIDE_FLUID,    /* index: FLUID_DENSITY, ... */
  OVERRIDE_RATIO     /* part: coupling of the scene; index: its term, from 1; 0: its offset */
} OverrideKind;
/* Joint numbers that exist once per degree of freedom. */
enum {
  JOINT_DAMPING,
  JOINT_STIFFNESS,
  JOINT_FRICTION,
  JOINT_ARMATURE,
  JOINT_STATIC_FRICTION,
  JOINT_LOWER, /* limits */
  JOINT_UPPER,
  JOINT_RESTITUTION, /* limit_restitution: one of the joint, at its first degree of freedom */
  JOINT_OWN_COUNT
};
/* Numbers of a closure: point, three [m]; axis, three [1], of any length; length [m]. */
enum { CLOSURE_NUMBER_POINT, CLOSURE_NUMBER_AXIS = 3, CLOSURE_NUMBER_LENGTH = 6, CLOSURE_NUMBERS };
/* Numbers of a tendon: stiffness [N/m], rest length [m], friction [N], then its points, three each [m]. */
enum { TENDON_NUMBER_STIFFNESS, TENDON_NUMBER_REST, TENDON_NUMBER_FRICTION, TENDON_NUMBER_POINTS };
/* Returns true if the force of the tendon depends on the number. Points: always. Stiffness and rest length: if the
 * stiffness is > 0. Friction: if it is > 0. */
static inline bool tendon_number_lives(const SceneTendon* tendon, int index) {
  if (index == TENDON_NUMBER_FRICTION) return tendon->friction > 0;
  return index >= TENDON_NUMBER_POINTS || tendon->stiffness > 0;
}
/* Numbers of a wrap: radius [m], position [m], axis of any length. */
enum { WRAP_NUMBER_RADIUS, WRAP_NUMBER_POSITION, WRAP_NUMBER_AXIS = 4, WRAP_NUMBERS = 7 };
typedef struct {
  OverrideKind kind;
  int link, part, index;
  double value;
} ModelOverride;

/* Builds a model of a copy of the scene with overrides[count] applied. `given` is unchanged and must outlive the model.
 * Overrides are copied and may be NULL if count is 0. Status as of model_create. The model owns the changed scene. */
Status model_create_with(Model* model, const Scene* given, const ModelOverride* overrides, int count,
                         Diagnostics* diagnostics);
/* Solids of a scene's shapes, computed once and used by many models of this scene that differ in their numbers. */
typedef struct ModelSolids ModelSolids;
/* Computes the solids. The caller frees them with model_solids_destroy. Returns NULL if a shape fails;
 * model_create_with then reports the reason. Only reads the scene. */
ModelSolids* model_solids_create(const Scene* scene);
/* Frees the solids. Models made with them hold no reference. Accepts NULL. */
void model_solids_destroy(ModelSolids* solids);
/* Builds the same model as model_create_with, but uses given solids of the same scene, to which the model holds no
 * reference. If an override moves a shape, all solids are recomputed. solids NULL: as model_create_with. */
Status model_create_from(Model* model, const Scene* given, const ModelSolids* solids, const ModelOverride* overrides,
                         int count, Diagnostics* diagnostics);
/* Returns true if model_restart may be called instead of building the model anew, for a run without steps. Conditions:
 * overrides[count] are all OVERRIDE_COORDINATE; the model was made with overrides; there are no closures, couplings,
 * tendons, bushings, stored state, or contact law that refuses overlap. Allocates nothing. */
bool model_can_restart(const Model* model, const ModelOverride* overrides, int count);
/* Replaces the overridden values of a model that model_create_with built without error. overrides[count] must name the
 * same numbers. The result equals a newly built model, except for contact parameters derived from the scene. Returns
 * STATUS_BAD_INPUT, with diagnostics, if the initial coordinates are outside their limits. */
Status model_restart(Model* model, const ModelOverride* overrides, int count, Diagnostics* diagnostics);
/* Returns a copy of the scene with overrides[count] applied, to be written to a file. The copy shares unchanged parts
 * with `given`, which must outlive it. The caller frees it with model_scene_destroy. Overrides are copied; never
 * returns NULL. Undefined for an override that names no part of the scene. */
Scene* model_scene_create(const Scene* given, const ModelOverride* overrides, int count);
/* Frees the parts not shared with `given`, which must be the scene passed at creation and still exist; this is not
 * checked. Accepts NULL. */
void model_scene_destroy(Scene* scene, const Scene* given);
/* Returns the address of the overridden number in a scene, in the unit of its kind [m, kg, rad ...]; NULL for an
 * unknown kind. Callers with a const scene must not write through it. Borrowed from the scene. Undefined for an index
 * out of range. */
double* model_scene_number(const Scene* scene, const ModelOverride* override);
/* A signal that acts on a link or its joint. */
typedef struct {
  SceneSignal* signal; /* NULL: number is too large; channels 0: the load or tendon lacks this signal */
  unsigned kind;       /* CONTROL_DRIVES, ... */
  int ordinal;         /* number of the controller, load or tendon within the link */
  int item;            /* index into the scene's controllers, loads or tendons */
} SignalPlace;
/* Returns signal `number` of the link. Order: targets of controllers, force and torque of each load (given or not),
 * tensions of tendons that end on the link. Borrowed from the scene. If number is too large, the member `signal` is
 * NULL. scene must not be NULL. Allocates nothing. */
SignalPlace model_scene_signal(const Scene* scene, int link, int number);
/* Returns the scene index of a link's controller, or -1 if there is none. ordinal: 0 for the link's first controller in
 * the scene's order. Allocates nothing. */
int model_scene_controller(const Scene* scene, int link, int ordinal);
/* Returns the number of the signal's first parameter in ModelGradient.control. place must name an existing signal
 * (asserted). Allocates nothing. */
int model_signal_first(const Model* model, SignalPlace place);
/* Replaces a signal of the model by `source`, which must have as many channels. Frees the old signal and renumbers the
 * signal parameters. Borrows source, which must outlive the model. Allocates for splines and integrals. Every existing
 * ModelGradient then has the wrong size. */
void model_set_signal(Model* model, SignalPlace place, const SceneSignal* source);
/* Makes all signals begin at `time` [s] instead of 0, and sets the initial coordinates and velocities of prescribed
 * joints from the shifted signals. Cannot fail, allocates nothing. */
void model_begin_signals(Model* model, double time);
/* Returns the initial state that the scene gives for the link's joint, or NULL. Borrowed from the scene. */
SceneInitial* model_scene_initial(const Scene* scene, int link);
/* Returns true if the two links can collide. Returns false if both are the same link, parent and child, without
 * relative motion, an excluded pair, or if one has collide: false. Symmetric. Link numbers in range are asserted.
 * Allocates nothing. */
bool model_pair_allowed(const Model* model, int link_a, int link_b);
/* Material of a pair of links (model/materials.c). Sources, in order: the last item of contact.pairs that gives the
 * value; sqrt(value of a times value of b); the value of the one link that has one; contact. Axial and static friction
 * default to the friction of the same link or item. */
typedef struct {
  double value[MATERIAL_COUNT];
  bool directed; /* true: friction along `axis` differs from friction across it */
  int axis_side; /* 0: the axis of link_a, 1: of link_b */
  Vec3 axis;     /* unit vector in the frame of that link */
} PairMaterial;
/* Returns the largest coefficient of the pair over directions and speeds. */
static inline double pair_largest_friction(const PairMaterial* material) {
  const double* v = material->value;
  double directed = fmax(v[MATERIAL_FRICTION], v[MATERIAL_FRICTION_ALONG]);
  return v[MATERIAL_FRICTION] > 0 ? directed * fmax(1, v[MATERIAL_STATIC_FRICTION] / v[MATERIAL_FRICTION]) : directed;
}
/* Returns the material of a pair of links. Friction and restitution are dimensionless; rolling and spinning friction
 * are in m. Symmetric in the links, whose numbers are asserted. */
PairMaterial model_pair_material(const Model* model, int link_a, int link_b);
/* Returns the contact law of two links as an index into Model.pair_laws: the law of the last item of contact.pairs that
 * matches both links and names a law; -1: the law of contact, also for link numbers out of range. Symmetric. Allocates
 * nothing. */
int model_pair_law(const Model* model, int link_a, int link_b);
/* Writes the values of support and stiffness that the model uses, given or derived, into the items of contact.pairs of
 * `scene`: they then remain the same when the scene changes. scene must have the same items. Cannot fail, allocates
 * nothing. */
void model_fix_pairs(const Model* model, Scene* scene);
/* Returns the largest value of one material number over all links and pairs, whether they ever touch or not. which:
 * MATERIAL_FRICTION, ... (asserted). Allocates nothing. */
double model_largest_material(const Model* model, int which);
/* Warns of given contact parameters that cannot work. Called by model_create. Allocates temporarily, never fails. */
void model_check_contact(const Model* model, Diagnostics* diagnostics);

/* Two links that intersect or touch at the start. model_create refuses such pairs; model_touching also works on a model
 * that was refused for them. */
typedef struct {
  int a, b;     /* links */
  double depth; /* depth of overlap [m]; 0: touching */
} ModelTouch;
/* Finds all pairs of links that intersect or touch at the start. Returns their number and sets *pairs to the list,
 * never NULL; the caller frees it with memory_free. (model/checks.c) */
int model_touching(const Model* model, ModelTouch** pairs);
/* Lifts bodies that touch other bodies at the start, or overlap them by at most `deepest` [m]. They move against
 * gravity by the overlap plus the equilibrium gap. Of two bodies the upper one moves, along its root joint. Bodies that
 * remain in contact keep their positions. Changes joint positions of the scene and rebuilds the model, which may be one
 * that model_create refused. Appends to `names` a list such as "box 0.0005 m, ball 0.001 m". Returns true if a body was
 * lifted; false without gravity. (model/lift.c) */
bool model_lift(Model* model, Scene* scene, double deepest, Text* names);

/* Rewrites `scene`, from which the model was built, so that every hull becomes a list of points (model/expand.c). Hull
 * k of a link becomes its shape use k, in the link frame, with keep_interior. Contact parameters become those of the
 * model. Half-spaces are kept. Replaced shapes stay in the scene, marked as replaced. A model built from the result
 * equals `model`. Allocates in the scene, which frees it. Never fails. */
void model_expand_shapes(const Model* model, Scene* scene);

/* Returns the acceleration of gravity on a link, world axes [m/s^2]. Undefined for a link number out of range. */
static inline Vec3 model_link_gravity(const Model* model, int link) {
  return vec3_scale(model->simulation.gravity, 1 - model->links[link].gravity_compensation);
}
/* Returns the energy of the joint springs at coordinates q[nq] [J] (docs/derivations/drives.md, M4). Cannot fail,
 * allocates nothing. */
double model_spring_energy(const Model* model, const double* q);
/* Returns the elastic energy of stretched tendons, sum stiffness/2 (length - rest length)^2 [J] (model/tendons.c).
 * poses[links], q[nq]. Cannot fail, allocates nothing. */
double model_tendon_energy(const Model* model, const Pose* poses, const double* q);
/* Returns the world pose of a bushing's frame on a (side 0) or b (side 1). poses[links]. Other sides: assertion. */
Pose bushing_frame(const SceneBushing* bushing, int side, const Pose* poses);
/* (L18) Sets u: translation [m] and rotation vector [rad], |.| <= pi, of b's frame in a's frame. poses[links]. The
 * vector is discontinuous at a rotation by pi. Cannot fail, allocates nothing. */
void bushing_difference(const SceneBushing* bushing, const Pose* poses, double u[6]);
/* Returns the angle [rad] of the rotation in u if the bushing resists rotations, otherwise 0. Cannot fail. */
double bushing_rotation(const SceneBushing* bushing, const double u[6]);
/* Sets out = matrix v. No error. */
void bushing_times(const double (*matrix)[6], const double v[6], double out[6]);
/* Returns the energy u . K u / 2 - preload . u of one bushing [J]. poses[links]. Cannot fail, allocates nothing. */
double bushing_energy(const SceneBushing* bushing, const Pose* poses);
/* Returns the sum of bushing_energy over all bushings [J]; 0 without bushings. poses[links]. */
double model_bushing_energy(const Model* model, const Pose* poses);
/* (L16) model/fields.c: returns the geometry of a field in the world. poses[links]. load must have a field
 * (asserted). */
FieldPlace field_place(const Model* model, const ModelLoad* load, const Pose* poses);
/* Returns the energy of a field of unit strength and its derivatives at the geometry `at`. Not finite if both points
 * coincide and the field has no softening. */
FieldEnergy field_slope(const SceneField* field, const FieldPlace* at);
/* Returns the Hessian of the energy times `way`: the changes of the derivatives with respect to d, u and v for
 * displacements way->d, way->u and way->v. The member `energy` is the change of the energy. */
FieldEnergy field_product(const SceneField* field, const FieldPlace* at, const FieldEnergy* way);
/* Returns the potential energy of all fields of constant strength [J]. poses[links]. Allocates nothing. */
double model_field_energy(const Model* model, const Pose* poses);
/* Returns the world position of a tendon point [m]. poses[links]. The point's link must exist; this is not checked. */
static inline Vec3 tendon_point(const SceneTendonPoint* point, const Pose* poses) {
  return point->link < 0 ? point->point : pose_apply(poses[point->link], point->point);
}
/* A tendon segment between neighbouring points b and a, with apart = a - b [m]. Length l(|apart|): equal to |apart|
 * from `eyelet` on, smooth below. slope: gradient of the length with respect to apart. curvature: its Hessian [1/m],
 * symmetric and positive semidefinite (L5). */
typedef struct {
  double length;
  Vec3 slope;
  Mat3 curvature;
} TendonPiece;
/* Returns the length of a tendon segment and its derivatives. apart and eyelet in m, eyelet >= 0 (asserted). The
 * gradient has at most length 1. If the points coincide and eyelet is 0, gradient and Hessian are zero. */
TendonPiece tendon_piece(Vec3 apart, double eyelet);
/* The path of a tendon from a to b around a wrap (L8). The wrap is fixed in the derivatives with respect to a and b. */
typedef struct {
  bool touches;      /* false: the straight path does not touch the wrap, and no other member is set */
  double length;     /* length of the path [m] */
  double by_radius;  /* derivative of the length with respect to the radius: the wrap angle, seen along the path */
  Vec3 slope[2];     /* gradients of the length with respect to a and b, world axes */
  Mat3 curvature[3]; /* Hessian blocks aa, bb, ab [1/m] */
  Vec3 slope_by_radius[2]; /* derivatives of `slope` with respect to the radius [1/m] */
} TendonWrap;
/* Returns the path from a to b. pose: pose of the wrap's link, identity for the world. a, b: world [m], outside the
 * solid; an end inside is treated as a point of the surface. wrap must not be NULL. Cannot fail, allocates nothing. */
TendonWrap tendon_wrap(const SceneTendonWrap* wrap, Pose pose, Vec3 a, Vec3 b);
/* Returns the pose of the wrap's link, or the identity for the world. poses[links]. */
static inline Pose tendon_wrap_pose(const SceneTendonWrap* wrap, const Pose* poses) {
  return wrap->link < 0 ? pose_identity() : poses[wrap->link];
}
/* Returns the tendon's length [m]: the length of its path through the points, or the sum of ratio * q over its joints.
 * poses[links], q[nq]. Cannot fail, allocates nothing. */
double tendon_length(const Model* model, const SceneTendon* tendon, const Pose* poses, const double* q);
/* Returns the elongation beyond the rest length [m], >= 0; 0 if the tendon is slack or has no stiffness. length: as
 * returned by tendon_length [m]. Cannot fail, allocates nothing. */
double tendon_stretch(const SceneTendon* tendon, double length);
/* Returns the world pose of link a (side 0) or b (side 1) of a closure; identity for the world. poses[links]. Undefined
 * for other sides. */
static inline Pose model_closure_pose(const ModelClosure* closure, int side, const Pose* poses) {
  return closure->link[side] < 0 ? pose_identity() : poses[closure->link[side]];
}
/* Recomputes the ends and directions of all closures from the present initial coordinates of the model
 * (model/closures.c). Allocates and frees. Cannot fail: sim_create reports a closure that is open. */
void model_place_closures(Model* model);
/* Both attachment points of a closure [m] and its axis, world frame, initial state. axis: unit, or zero if there is
 * none. */
typedef struct {
  Vec3 end[2], axis;
} ClosureStart;
/* Returns the attachment points and the axis of a closure in the initial state, world axes [m]. at[side]: initial pose
 * of each side (model_closure_pose). If source gives no point, the origin of side a is used. Neither source nor at may
 * be NULL. */
ClosureStart model_closure_start(const SceneClosure* source, const Pose at[2]);
/* Returns the point of application of a load, link frame [m]. load must not be NULL. Allocates nothing. */
static inline Vec3 model_load_point(const Model* model, const ModelLoad* load) {
  return load->at_center ? model->links[load->link].center : load->point;
}

/* ---------------------------------------------------------------- implicitness of springs (model/spring_theta.c) */
/* One direction x (nv) in which springs act at the start. The theta of a joint, tendon or bushing is a smooth function
 * of stiffness times mobility of all its directions (drives.md, M10). */
typedef struct {
  int theta;              /* index into ModelGradient.thetas */
  int component;          /* coordinate of the joint, or direction of the bushing; 0 for a tendon */
  double stiffness;       /* springs and position gains combined [N/m, N m/rad] */
  double mobility;        /* x . M^-1 x [1/kg, 1/(kg m^2)] */
  double slope;           /* derivative of theta with respect to stiffness times mobility [s^2] */
  const double* response; /* M^-1 x (nv); borrowed until the visit ends */
} SpringDirection;
typedef void (*SpringVisit)(void* context, const SpringDirection* direction);
/* Sets ModelLink.spring_theta, ModelTendon.theta and ModelBushing.theta from the initial coordinates. They are 1 under
 * integrators other than `momentum`. Allocates temporarily. Cannot fail. */
void model_place_spring_thetas(Model* model);
/* Visits the directions at coordinates q[nq] whose slope is not 0. Allocates temporarily. Cannot fail. */
void model_visit_springs(const Model* model, const double* q, SpringVisit visit, void* context);
/* Returns the number of thetas: links, then tendons, then bushings. */
static inline int model_theta_count(const Model* model) {
  return model->link_count + model->tendon_count + model->bushing_count;
}

/* ---------------------------------------------------------------- kinematics (model/kinematics.c) */
/* Sets poses[links] to the world poses of all links [m], parents first. q[nq]. The caller owns poses. Quaternions in q
 * are assumed to have unit length. Cannot fail, allocates nothing. */
void model_poses(const Model* model, const double* q, Pose* poses);
/* Sets poses[i] to the world pose of link i, from q[nq] and the pose of its parent in poses. The range of i is
 * asserted. Allocates nothing. */
void model_link_pose(const Model* model, int i, const double* q, Pose* poses);
/* Sets out to q displaced by fraction * increments, joint by joint (nv -> nq). increments[nv] in m and rad; q and out
 * have nq numbers; out may be q. Quaternions keep unit length to rounding. Cannot fail. */
void model_increment(const Model* model, const double* q, const double* increments, double fraction, double* out);
/* Sets the poses of link i and of its ancestors, up to but without link `from` (-1: all ancestors). The coordinates are
 * q displaced by fraction * increments, as in model_increment. Other poses are unchanged. q[nq], increments[nv].
 * there[nq]: workspace of the caller, receives the coordinates of these links. Cannot fail, allocates nothing. */
void model_link_way(const Model* model, int i, int from, const double* q, const double* increments, double fraction,
                    double* there, Pose* poses);

/* Sets screws[nv] to the screw axes of all degrees of freedom at q[nq], world axes. poses[links]: as set by model_poses
 * for q. The caller owns screws. Cannot fail. */
void model_screws(const Model* model, const double* q, const Pose* poses, Screw* screws);
/* Sets the screw axes of the degrees of freedom of link i at q[nq] and poses[links]: dof_count entries of screws[nv]
 * from dof_first on. Sets nothing for a link without degrees of freedom. Allocates nothing. */
void model_link_screws(const Model* model, int i, const double* q, const Pose* poses, Screw* screws);

/* ---------------------------------------------------------------- the clamped barrier
 * P_s(c) = (c - s)^4 / c^5 for 0 < c < s, else 0 (SDRS Eq. 7), in units of s. With z = c / s:
 *   P_s = Q(z) / s,  P_s' = Q'(z) / s^2,  P_s'' = Q''(z) / s^3,                                                (C2)
 *   Q(z) = (1-z)^4 z^-5,  Q'(z) = -(1-z)^3 (5-z) z^-6,  Q''(z) = 2 (1-z)^2 (z^2 - 10 z + 15) z^-7.
 * Q is three times continuously differentiable at z = 1. docs/derivations/contact.md */
typedef struct {
  double value, first, second;
} Barrier;

/* Returns the barrier and its derivatives for z in (0, 1). Undefined, unchecked, for z <= 0, where hulls intersect. */
static inline Barrier barrier_eval(double z) {
  double t = 1.0 - z, r = 1.0 / z;
  double t2 = t * t, r3 = r * r * r, r6 = r3 * r3;
  Barrier b;
  b.value = t2 * t2 * r3 * r * r;
  b.first = -t2 * t * r6 * (5.0 - z);
  b.second = 2.0 * t2 * r6 * r * (z * (z - 10.0) + 15.0);
  return b;
}

/* ---------------------------------------------------------------- derivatives (model/gradient.c) */

enum {
  CONTACT_SUPPORT,
  CONTACT_STIFFNESS,
  CONTACT_FRICTION,
  CONTACT_SMOOTHING,
  CONTACT_REST_SPEED,
  CONTACT_OWN, /* first parameter of the law itself */
  CONTACT_PARAMETER_COUNT = CONTACT_OWN + CONTACT_OWN_PARAMETERS
};

/* Derivatives of a scalar with respect to all numbers of a model and to the initial state. */
typedef struct {
  Vec3* vertices;     /* hull vertices in their link's frame  [1/m]  (vertices) */
  Vec3* attachments;  /* joint origins in the parent's frame  [1/m]  (links) */
  Vec3* turns;        /* rotations of joint frames about their own axes and origins (links) */
  Vec3* axes;         /* rotations of the joint axes only, in the joint frame's axes (links) */
  bool without_turns; /* true: turns and axes are not computed and stay 0. Set by the owner; clearing keeps it */
  double* mass;       /* total masses at constant distribution [1/kg] (links) */
  double* control;    /* parameters of signals of controllers, loads, tendons (parameters) */
  double contact[CONTACT_PARAMETER_COUNT]; /* with respect to ModelContact: support, stiffness, friction, smoothing,
                                              rest speed, own parameters */
  double (*joint)[JOINT_OWN_COUNT];        /* w.r.t. joint numbers: JOINT_DAMPING, ... (nv) */
  Vec3 gravity;                            /* world axes  [s^2/m] */
  double fluid[FLUID_NUMBERS];             /* numbers of Scene.fluid */
  Vec3* center;                            /* centre of mass of links with mass_model given  [1/m]  (links) */
  double (*inertia)[6];                    /* SceneLink.inertia of such links  [1/(kg m^2)]  (links) */
  double (*material)[MATERIAL_NUMBERS];    /* of contact (except friction, above), of each link, of each item of
                                              contact.pairs: model_material_row (1 + links + items) */
  double* shapes;                          /* parameters of convex smooth shapes (shape parameters) */
  double* gains;                           /* gains of all controllers, consecutively (gains) */
  double (*closures)[CLOSURE_NUMBERS];     /* point, axis and length of every closure, as in the scene (closures) */
  double (*tendons)[TENDON_NUMBER_POINTS]; /* stiffness, rest length, friction of every tendon  (tendons) */
  Vec3* tendon_points;                     /* in their links' frames  (tendon points) */
  double (*tendon_wraps)[WRAP_NUMBERS];    /* w.r.t. numbers of wraps: WRAP_NUMBER_RADIUS, ... (tendon wraps) */
  double (*bushings)[BUSHING_NUMBERS];     /* w.r.t. numbers of bushings: BUSHING_STIFFNESS, ... (bushings) */
  double* thetas;                          /* ModelLink.spring_theta, ModelTendon.theta, ModelBushing.theta
                                              (model_theta_count) */
  double (*ratios)[COUPLING_TERMS];        /* coefficients of coupling terms; entry 0: a given offset (couplings) */
  double* coordinates;                     /* initial coordinates, as increments of joint_increment  (nv) */
  double* velocities;                      /* initial velocities  (nv) */
  MassMoment* moment; /* elementwise; model_gradient_masses converts it to vertices, mass and center (links) */
} ModelGradient;

/* Allocates all arrays of the gradient for the sizes of the model, and sets them to zero. The caller frees them with
 * model_gradient_destroy. Never fails; neither argument may be NULL. */
void model_gradient_create(ModelGradient* gradient, const Model* model);
/* Frees the arrays. Accepts a zeroed gradient, but not NULL. */
void model_gradient_destroy(ModelGradient* gradient);
/* Sets all entries to zero. model must have the sizes the gradient was created for; this is not checked. Allocates
 * nothing. */
void model_gradient_clear(ModelGradient* gradient, const Model* model);
/* Returns the derivative with respect to a number of a tendon (TENDON_NUMBER_STIFFNESS, ...). index: as
 * ModelOverride.index of OVERRIDE_TENDON. Undefined for an index out of range. Allocates nothing. */
double model_gradient_tendon(const Model* model, const ModelGradient* gradient, int tendon, int index);
/* Returns the derivative with respect to a number of a wrap. index: as ModelOverride.index of OVERRIDE_WRAP, not
 * checked. Allocates nothing. */
static inline double model_gradient_wrap(const Model* model, const ModelGradient* gradient, int tendon, int index) {
  return gradient->tendon_wraps[model->tendons[tendon].wrap_first + index / WRAP_NUMBERS][index % WRAP_NUMBERS];
}
/* Returns the row of ModelGradient.material that holds a link's values. link -1: the row of item `item` of
 * contact.pairs. link and item -1: the row of contact. */
static inline int model_material_row(const Model* model, int link, int item) {
  return link >= 0 ? 1 + link : item >= 0 ? 1 + model->link_count + item : 0;
}
/* Chain rule from the material of a pair of links to the link, item or contact that gives each value; adds to
 * gradient->material and gradient->contact. by: derivatives with respect to the pair's values [1 / unit of the value].
 * A value combined from two link values has an infinite derivative where one of them is 0; nothing is added then.
 * Cannot fail, allocates nothing. */
void model_gradient_material(const Model* model, int link_a, int link_b, const double by[MATERIAL_COUNT],
                             ModelGradient* gradient);
/* Adds derivatives with respect to the own parameters of one of Model.pair_laws (MATERIAL_SUPPORT [m],
 * MATERIAL_STIFFNESS, MATERIAL_OWN + k; other entries of `by` are 0) to the row of its item. pair_law <
 * Model.pair_law_count is asserted. Allocates nothing. */
void model_gradient_pair_law(const Model* model, int pair_law, const double by[MATERIAL_NUMBERS],
                             ModelGradient* gradient);
/* Chain rule for a scalar with the derivative bar [1/m], link frame, with respect to ModelLink.center. Adds to
 * gradient->moment; for a massless link, to the vertices that bound the boxes of its hulls. Adds nothing for a link
 * without hulls and mass. Allocates nothing. */
void model_gradient_center(const Model* model, int link, Vec3 bar, ModelGradient* gradient);
/* Converts `moment` into derivatives with respect to vertices and mass, by the link's mass model
 * (docs/derivations/adjoint.md, A9). Leaves `moment` zero. Skips massless links. Allocates temporarily; cannot fail. */
void model_gradient_masses(const Model* model, ModelGradient* gradient);
/* Adds to `shapes` the derivatives with respect to shape parameters that follow from the vertices of convex smooth
 * shapes. Call after model_gradient_masses. Allocates temporarily; cannot fail. */
void model_gradient_shapes(const Model* model, ModelGradient* gradient);

#endif
