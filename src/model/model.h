/* model: builds and validates the Model of a Scene: trees of links, joints, hulls, masses, contact parameters. The
 * Model is constant during a run. It owns its arrays and borrows the Scene, which must outlive the Model.
 *
 * Kinematics (docs/derivations/kinematics.md): the world pose of a link frame is
 *   T_link = T_parent  origin  joint_motion(q)                                                                (K1)
 * `origin` is the pose of the joint frame in the parent's link frame. joint_motion(q) is the pose of the link frame in
 * the joint frame at the joint coordinates q. The nv degrees of freedom and the nq joint coordinates of the model are
 * numbered tree by tree, in link order within a tree. */
#ifndef SDRS_MODEL_H
#define SDRS_MODEL_H

#include "control/control.h"
#include "geometry/geometry.h"
#include "scene/scene.h"

typedef struct SolidKind SolidKind;
extern const SolidKind SOLID_HULL, SOLID_HALF_SPACE, SOLID_TRIANGLE, SOLID_SMOOTH, SOLID_ROUND;

/* A convex piece of a link, called hull, in the link frame. A bounded piece has a triangulated surface. An unbounded
 * piece, a half-space, has infinite bounds. */
typedef struct {
  const SolidKind* kind;
  int link;
  int shape;        /* index into Scene.shapes */
  PointView points; /* vertices as separate arrays of x, y and z for inner loops, link frame [m]; count is 0 if the
                       piece has no vertices */
  ConvexHull
      solid;     /* the same vertices in the same order, with triangles; empty without vertices; owned by the model */
  Vec3 center;   /* centre of the bounding box [m] */
  double radius; /* radius of the bounding sphere about center [m] */
  Vec3 half_extent;           /* half extents of the bounding box [m] */
  Vec3 normal;                /* unit normal of a half-space { x : normal . x <= offset } */
  double offset;              /* offset of a half-space along its normal [m] */
  int vertex_first;           /* index of the piece's first vertex among the vertices of all hulls */
  struct ModelSmooth* smooth; /* for SOLID_SMOOTH and SOLID_ROUND, owned by the model; otherwise NULL */
} ModelHull;

enum { ROUND_CORNERS = 8 };
/* Derivatives of the core and rounding radius of a round solid with respect to one of its lengths, such as the height
 * of a cylinder; link frame. The core is ModelSmooth.core. */
typedef struct {
  double rounding;
  bool moves;                 /* true: the core depends on the parameter; false: `center` and `radius` are not set */
  Vec3 center[ROUND_CORNERS]; /* derivatives of the corners of a rounded box, or of the centres of the circles */
  double radius[ROUND_RINGS_MAX];
} RoundSlope;

/* A smooth shape placed in a link. The vertices and triangles of its ModelHull approximate its surface. */
typedef struct ModelSmooth {
  Field field;         /* implicit surface; kind FIELD_SHAPE is one convex shape with its own parameters */
  Pose pose;           /* pose of the shape's frame in the link frame */
  MassMoment moment;   /* mass moment for density 1 kg/m^3, link frame */
  int resolution;      /* resolution of the triangulated surface, as in scene files */
  int parameter_first; /* index of the shape's first parameter in the list of the parameters of all shapes; -1 without
                        * parameters
                        */
  RoundBody core;    /* for SOLID_ROUND: points and circles, link frame; the solid is all points within core.rounding of
                        their convex hull. Owns its points; its circles are `rings` */
  double core_width; /* least width of the convex hull of the core's points [m]; 0 for circles */
  Circle rings[ROUND_RINGS_MAX];
  RoundSlope slope[ROUND_PARAMETERS_MAX];        /* derivatives of `core` with respect to each parameter of the solid
 (size: parameter_count) */
  MassMoment moment_slope[ROUND_PARAMETERS_MAX]; /* derivatives of `moment` with respect to each parameter of the solid
 (size: parameter_count) */
  int parameter_count;
} ModelSmooth;
/* Returns true if contact treats the hull as an exact round solid. */
static inline bool hull_is_round(const ModelHull* hull) { return hull->kind == &SOLID_ROUND; }
/* Returns true if the hull is one convex smooth shape with parameters. */
static inline bool hull_is_convex_smooth(const ModelHull* hull) {
  return hull->smooth && !hull_is_round(hull) && hull->smooth->field.kind == FIELD_SHAPE;
}
/* Returns the number of the hull's parameters in ModelGradient.shapes. The parameters of a convex smooth shape are its
 * form parameters. The parameters of a round solid are its lengths, in the order of the keys of the scene. Returns 0
 * for other hulls. */
static inline int hull_parameter_count(const ModelHull* hull) {
  if (hull_is_round(hull)) return hull->smooth->parameter_count;
  return hull_is_convex_smooth(hull) ? shape_parameter_count(&hull->smooth->field.shape) : 0;
}
/* Returns the geometry that contact uses for the hull: the exact round solid, or the convex hull of the vertices. Its
 * arrays are borrowed from the hull. */
static inline RoundBody hull_contact_geometry(const ModelHull* hull) {
  return hull_is_round(hull) ? hull->smooth->core : (RoundBody){hull->points, NULL, 0, 0};
}

/* Functions of a kind of convex piece, defined in model/solid_<kind>.c. No function allocates or fails. */
struct SolidKind {
  bool bounded; /* true: has vertices, triangles, a bounding box and a volume */
  /* Support function: returns the maximum of the scalar product direction . x over the points x of the solid, or
   * HUGE_VAL if unbounded [m times the length of direction]. direction: link frame, any length. Sets *vertex to the
   * index of the maximizing vertex, or to -1 if there is none. */
  double (*support)(const ModelHull* hull, Vec3 direction, int* vertex);
  MassMoment (*moment)(
      const ModelHull* hull); /* Returns the mass moment for density 1 kg/m^3, link frame; zero if unbounded. */
  double (*thickness)(const ModelHull* hull); /* Returns the smallest size that contact has to resolve [m] (R3), or
                                                 HUGE_VAL if unbounded. */
};

typedef struct {
  const char* name; /* borrowed from the scene */
  int parent;       /* -1 = world */
  int tree;         /* index into Model.trees; -1 for links fixed to the world */
  Pose origin;      /* pose of the joint frame in the parent's link frame [m] */
  Joint joint;
  /* index of the joint's first degree of freedom in the model, and number of its degrees of freedom */
  int dof_first, dof_count;
  int coordinate_first, coordinate_count;            /* the same for the joint coordinates */
  bool limited[JOINT_MAX_DOF];                       /* true: the degree of freedom has limits */
  double lower[JOINT_MAX_DOF], upper[JOINT_MAX_DOF]; /* limits [m or rad] */
  LimitLaw limit_law;
  double limit_stiffness;            /* stiffness of the limits: LIMIT_BARRIER [J], LIMIT_PENALTY [N/m or N m/rad] */
  double limit_margin;               /* distance from a limit at which its force begins to act [m or rad] */
  double limit_restitution;          /* coefficient of restitution of the limits, 0 to 1 */
  double damping[JOINT_MAX_DOF];     /* viscous damping [N s/m or N m s/rad] */
  bool passive;                      /* true: the joint has a spring, dry friction or an armature */
  double stiffness[JOINT_MAX_DOF];   /* spring stiffness [N/m or N m/rad] */
  double rest[JOINT_MAX_COORDINATE]; /* rest coordinates of the springs */
  double friction[JOINT_MAX_DOF];    /* dry friction [N or N m] */
  double armature[JOINT_MAX_DOF];    /* armature inertia [kg or kg m^2] */
  double friction_speed;             /* width of the smoothing of dry friction [m/s or rad/s] */
  double static_friction[JOINT_MAX_DOF]; /* static friction [N or N m]; 0 disables static friction */
  double stribeck_speed; /* Stribeck speed [m/s or rad/s]; >= friction_speed where static_friction > 0 */
  double spring_theta;   /* weight of the position at the end of a step in the forces of springs and position gains
                            (drives.md, M10). 1/2 conserves energy; 1, fully implicit, damps oscillations */
  double damper_theta;   /* weight of the new rate in the forces of dampers and rate gains (M12), 1/2 to 1 */
  int prescribed;        /* index of the controller that prescribes the motion of the joint; -1 if there is none */
  double gravity_compensation; /* fraction of the link's weight that an upward force cancels, 0 to 1 */
  bool spins; /* true: the time integrator advances the link's angular momentum. The integrator is `momentum`, and the
                 link is the only link of its tree. It is a free body with six degrees of freedom, or moves freely in a
                 plane (joint_is_free_in_plane) */
  MassMoment moment; /* 4 x 4 mass moment: sum over all mass points of mass times X X^T, with X = (x, y, z, 1), link
                        frame [kg m^2, kg m, kg]; zero for massless links */
  double mass;
  MassModel mass_model; /* distribution of the link's mass; never MASS_BY_SHAPE */
  Vec3 center;  /* centre of mass, link frame [m]; of a massless link the centre of the bounding box of its hulls.
                   Velocities of the link refer to this point. */
  double reach; /* largest distance of a vertex of the link from its frame origin [m] */
  int hull_first, hull_count;
  bool collide;
  int rigid_group; /* links with the same number never move relative to each other */
} ModelLink;

/* A tree of links. Its degrees of freedom are consecutive, so its second derivatives of the step's energy form one
 * dense block. */
typedef struct {
  int dof_first, dof_count;
  bool flies; /* true: the tree conserves momentum, together with all trees connected to it by closures and couplings.
                 The integrator is `momentum`, and the tree has degrees of freedom and no link with `spins`. */
} ModelTree;

typedef struct {
  ControllerType type;
  int link;
  Signal target;
  double position_gain[JOINT_MAX_DOF]; /* [N/m or N m/rad] */
  double velocity_gain[JOINT_MAX_DOF]; /* damping constant times the substep [N s^2/m or N m s^2/rad] */
  double damping_gain[JOINT_MAX_DOF], max_force[JOINT_MAX_DOF]; /* damping gain, and force limit of each degree of
                                                                   freedom; max_force 0 means no limit */
  double limit_width; /* width of the smooth transition to the force limit, relative to max_force (drives.md, M2) */
  const SceneController*
      source;         /* controller of the scene with feedback measurements, gain matrix and delay; borrowed */
  int delayed_first;  /* index of the controller's first delayed measurement among the delayed measurements of all
                         controllers; -1 without delay */
  int feedback_first; /* index of the controller's first feedback input among those of all controllers; -1 without
                         feedback */
  int gain_first; /* index of the controller's first gain, in the order of controller_gain_at, among the gains of all
                     controllers */
  int parameter_first; /* index of the first parameter of `target` among the signal parameters of all controllers, loads
                          and tendons */
} ModelController;

/* Force and torque on a link (docs/derivations/loads.md). */
typedef struct {
  int link;
  bool link_axes;       /* true: force and torque are in link axes; false: in world axes */
  bool at_center;       /* true: the force acts at the centre of mass; false: at `point` */
  Vec3 point;           /* point of application unless at_center, link frame [m] */
  Signal force, torque; /* signals of force [N] and torque [N m], three channels each; zero channels if the load lacks
                           the signal */
  int force_first, torque_first; /* indices of the first parameters of both signals among the signal parameters of all
                                    controllers, loads and tendons */
  const SceneField* field; /* field whose strength is the single channel of `force`, borrowed from the scene; NULL if
                              `force` and `torque` act directly */
} ModelLoad;

/* Geometry of a field between two bodies, world axes (docs/derivations/loads.md, L16). The field acts between point a
 * of the load's link and point b of the other body, which may be the world. */
typedef struct {
  Vec3 d, u, v; /* d: vector a - b [m]. u, v: unit axes fixed to the link and to the other body, for dipoles and uniform
                   fields */
  Vec3 arm_a, arm_b; /* lever arms of a and b about the centres of mass of their bodies [m] */
} FieldGeometry;
/* Energy of a field of unit strength. The members d, u and v are the derivatives of this energy with respect to the
 * vectors d, u and v of FieldGeometry. */
typedef struct {
  double energy; /* energy divided by the strength [J per unit of strength] */
  Vec3 d, u, v;
} FieldEnergy;

/* A tendon through points of links (docs/derivations/loads.md, L5). */
typedef struct {
  const SceneTendon* source; /* tendon of the scene with points, stiffness and rest length; borrowed */
  Signal tension;            /* tension signal, one channel [N]; zero channels if the tendon has none */
  int tension_first; /* index of the first parameter of `tension` among the signal parameters of all controllers, loads
                        and tendons */
  int point_first;   /* index of the tendon's first point among the points of all tendons */
  int wrap_first;    /* index of the tendon's first wrap, a cylinder or sphere that the tendon passes around, among the
                        wraps of all tendons */
  double theta;      /* implicitness, 1/2 to 1 (drives.md, M10) */
  int home; /* one of the tendon's links that belong to a tree, as index into Model.links; -1 if all its links are fixed
               to the world */
} ModelTendon;

/* Bushing: a spring and damper between frames of two links (docs/derivations/loads.md, L18). */
typedef struct {
  const SceneBushing* source; /* borrowed from the model's scene */
  double theta, damper_theta; /* implicitness of spring and damper, 1/2 to 1 (drives.md, M10, M12) */
  int home; /* one of the two links, which belongs to a tree, as index into Model.links; -1 if neither link does */
} ModelBushing;

/* Type of a closure equation c = 0 (docs/derivations/closures.md, Z1). Links a and b have the attachment points x_a and
 * x_b [m] and the rotation matrices R_a and R_b, all in the world frame. d = x_a - x_b is the difference of the
 * attachment points. */
typedef enum {
  CLOSURE_POINT,  /* c = f_k . d: the component of d along the direction f_k, one of three unit vectors fixed in the
                     world (ModelClosure.frame) [m] */
  CLOSURE_ALIGN,  /* c = (R_a u) . (R_b v): direction u of link a stays perpendicular to direction v of link b */
  CLOSURE_ACROSS, /* c = d . R_b v: the component of d along the direction v of link b [m] */
  CLOSURE_LENGTH  /* c = (|d|^2 - length^2) / (2 length): the distance of the attachment points equals `length` [m] */
} ClosureEquation;
typedef struct {
  ClosureEquation kind;
  int axis;  /* for CLOSURE_POINT: index k of the world direction f_k, 0 to 2 */
  Vec3 u, v; /* unit directions: u in the frame of link a, v in the frame of link b; in the world frame if the link is
                the world (-1) */
} ClosureRow;

enum { CLOSURE_ROWS = 6 };
/* A loop closure: a constraint between two links that closes a kinematic loop, given by up to CLOSURE_ROWS equations.
 */
typedef struct {
  ClosureType type;
  int link[2];   /* links a and b; -1 = world */
  Vec3 end[2];   /* attachment points in the frames of the links [m] */
  double length; /* for a distance closure: distance of the attachment points [m] */
  double size;   /* reference length to which the tolerance of the closure's error is relative [m]: extent of the links
                    about the attachment points */
  double force_limit; /* force limit [N], at which the closure breaks, or opens if `releases` is true; 0: no limit */
  bool releases;      /* true: the closure may close again after its force exceeded the limit */
  Signal active;      /* activation signal, one channel; zero channels if the closure is always active */
  ClosureRow rows[CLOSURE_ROWS];
  Mat3 frame;  /* row k is the unit vector f_k, world frame, along which CLOSURE_POINT compares the attachment points */
  bool framed; /* true: `frame` differs from the world axes */
  int row_count, row_first; /* row_first: index of the first row among the rows of all closures */
} ModelClosure;

/* A coupling, such as a gear: the linear equation sum slope_k q_k = offset between joint coordinates q_k
 * (docs/derivations/closures.md, Z7). No q_k is part of a quaternion. Rows of couplings follow the rows of closures. */
enum { COUPLING_TERMS = 8 };
typedef struct {
  int count;
  int dof[COUPLING_TERMS],
      coordinate[COUPLING_TERMS]; /* degree of freedom and coordinate of each term, as indices of the model */
  double
      slope[COUPLING_TERMS]; /* coefficients slope_k of the equation: 1 for the first term, then the negative ratios */
  double offset;             /* offset of the equation, in the unit of the first coordinate */
  double size; /* reference size to which the tolerance of the equation's error is relative: 1 rad, or a length of the
                  first link [m] */
  int row;
} ModelCoupling;

/* Contact parameters that the model uses, given by the scene or derived (docs/contact-parameters.md). */
typedef struct {
  double support;           /* barrier distance s [m]: contact forces act at smaller gaps */
  double stiffness;         /* stiffness kappa: factor of the contact force of the law */
  double friction;          /* Coulomb friction coefficient */
  double rolling, spinning; /* coefficients of rolling and spinning friction [m] */
  double static_friction;   /* coefficient of static friction; 0 disables static friction */
  double stribeck_speed; /* Stribeck speed [m/s]: scale of the slip speed over which the friction coefficient decreases
                            from static_friction to friction */
  double smoothing;      /* smoothing of Coulomb friction at zero slip [(m/s)^2]: square of the slip speed below which
                            friction is proportional to the slip speed */
  int friction_iterations; /* number of friction iterations of a step, as in SceneContact.friction_iterations */
  double rest_speed;       /* largest separation speed after an impact [m/s]; 0: barrier without damping */
  double restitution;      /* coefficient of restitution, for impacts well above rest_speed */
  bool bounces;            /* true: some pair of links can have restitution */
  double law_parameters[CONTACT_LAW_PARAMETERS_MAX]; /* parameters that only this contact law has
                                                        (ContactLaw.parameters) */
  bool hierarchy; /* true: the contact law sums over a hierarchy of bounding spheres; false: the law sums over all pairs
                     of hulls (SceneContact.hierarchy) */
  bool support_derived, stiffness_derived, smoothing_derived, rest_speed_derived;
  double feature;         /* smallest thickness of a colliding moving hull [m] */
  double reference_force; /* weight for which the contact stiffness is chosen [N] */
  double gap_at_rest;     /* equilibrium gap under reference_force [m] */
  double gap_under_all;   /* equilibrium gap under the weight of all moving bodies on one face [m] */
} ModelContact;

/* One item of the scene's list contact.pairs, and one pair of links a and b to which it applies. */
typedef struct {
  uint64_t key; /* a << 32 | b with a < b */
  int item;
  bool swapped; /* true: the first name of the item denotes link b */
} ModelPairItem;

/* A contact law that an item of the scene's list contact.pairs names, with its parameters. */
typedef struct {
  ContactModel law;
  int item;
  ModelContact contact;
} ModelPairLaw;

typedef struct {
  const Scene* scene; /* the scene given to model_create (borrowed), or own_scene */
  const Scene* given; /* scene from which own_scene was copied, borrowed; both share unchanged arrays */
  Scene* own_scene;   /* copy of the scene with overridden numbers; NULL if no number is overridden */
  SceneSimulation simulation;
  ContactModel contact_model;
  ModelContact contact;
  ModelLink* links;
  int link_count;
  ModelHull* hulls; /* sorted by link */
  int hull_count;
  int vertex_count;          /* number of vertices over all hulls */
  int shape_parameter_count; /* number of parameters over all convex smooth shapes and round solids */
  ModelTree* trees;
  int tree_count;
  ModelController* controllers;
  int controller_count;
  ModelLoad* loads;
  int load_count;
  ModelTendon* tendons;
  int tendon_count, tendon_point_count, tendon_wrap_count; /* numbers of points and wraps over all tendons */
  ModelBushing* bushings;
  int bushing_count;
  ModelClosure* closures;
  int closure_count, closure_row_count; /* closure_row_count: rows of all closures and couplings */
  ModelCoupling* couplings;
  int coupling_count;
  int singular_closure; /* index of a closure whose loop starts in a singular configuration (Z11); -1 if there is none
                         */
  bool armature;        /* true: some joint has an armature */
  int parameter_count;  /* number of parameters over all signals of controllers, loads and tendons */
  int gain_count;       /* number of gains over all controllers */
  int feedback_count;   /* number of input channels over all controllers with feedback */
  bool feels;           /* true: the feedback of some controller measures a contact force */
  int delayed_count;    /* number of delayed measurements over all controllers with feedback */
  int dof_count;        /* number nv of degrees of freedom */
  int coordinate_count; /* number nq of joint coordinates */
  int* dof_link;        /* link of each degree of freedom (size: nv) */
  int* link_tree;       /* ModelLink.tree of every link, as an array for loops over pairs of links (size: links) */
  double* initial_coordinates;       /* initial coordinates (size: nq) */
  const double* closure_coordinates; /* coordinates at which closures and couplings were placed, if they differ from
                              initial_coordinates; otherwise NULL. Borrowed (size: nq) */
  double* initial_velocities; /* initial velocities (size: nv); the rates of a joint with a quaternion are angular
                                 velocities about the link's axes */
  bool continues; /* true: with the integrator `momentum`, the initial velocities belong to the middle of a step that
                     ended in the initial state, as the velocities that a run returns; false: to the initial state */
  uint64_t* excluded; /* pairs of links that never collide, as keys a << 32 | b of the link indices a < b, sorted */
  int excluded_count;
  /* false: the initial coordinates or velocities of prescribed joints follow from their signals */
  bool prescribed_coordinates_are_given, prescribed_velocities_are_given;
  const NumberFile* start; /* stored state from which the run starts, borrowed from the scene; NULL: the run starts from
                              the initial state of the scene */
  int start_step;          /* number of the step that ended in the stored state; 0 without a stored state */
  bool has_materials;      /* true: some link or pair of links has its own material */
  ModelPairItem* pair_items; /* sorted by key, then item */
  int pair_item_count;
  ModelPairLaw* pair_laws; /* contact laws of single pairs of links, in the order of contact.pairs; if empty, all pairs
                              use contact_model */
  int pair_law_count;
  char* dropped_note; /* text, one line for each simplification at the import of shapes: dropped interior points,
                         reduced hulls with their error; "" if there is none */
} Model;

/* Returns true if a run has states before its initial state: a stored state, or a state before the initial velocities.
 */
static inline bool model_has_earlier_states(const Model* model) {
  return model->start || (model->continues && model->simulation.integrator == INTEGRATOR_MOMENTUM);
}

/* Returns the time of a row of the results [s]. Row 0 has the time of the stored state if the run starts from one,
 * otherwise time 0. row is not checked. */
static inline double model_row_time(const Model* model, int row) {
  return (double)(model->start_step + row) * model->simulation.dt;
}

/* Parts of a model with separate hashes, which tell whether a stored state of a run fits the model (model/start.c). A
 * run can start from a stored state only if the parts before MODEL_ALIKE agree. */
enum { MODEL_CLOCK, MODEL_TREE, MODEL_HULLS, MODEL_PAIRS, MODEL_ALIKE, MODEL_NUMBERS = MODEL_ALIKE, MODEL_PARTS };
enum { MODEL_IDENTITY = 4 * MODEL_PARTS };
/* Sets words[MODEL_IDENTITY] to the hashes of the model's parts, 4 words per part. Equal models give equal words on
 * every machine. Allocates and frees. Never fails. */
void model_identity(const Model* model, int64_t words[MODEL_IDENTITY]);

/* Equilibrium of two parallel faces in contact, with n_a and n_b vertices, for contact stiffness kappa = 1
 * (docs/contact-parameters.md). */
typedef struct {
  double gap;       /* distance of the faces [m] */
  double force;     /* force between the faces [N per unit of kappa] */
  double stiffness; /* magnitude of the derivative of the force with respect to the gap [1/m], up to relative errors of
                       about 1e-3 */
} ContactEquilibrium;
/* Returns true if two faces in contact have an equilibrium gap under the law, for each force > 0. For CONTACT_NONE,
 * returns the answer of the first law in the table of laws. The contact_ functions are defined in contact/laws.c. */
bool contact_has_equilibrium_gap(ContactModel model);
/* Returns the equilibrium of two parallel faces under a given force >= 0. force: in N, divided by the contact stiffness
 * kappa. support: barrier distance [m], > 0. n_a, n_b: numbers of vertices of the faces. The law must have an
 * equilibrium gap. */
ContactEquilibrium contact_rest_under_force(ContactModel model, double support, int n_a, int n_b, double force);
/* Returns the equilibrium of two parallel faces at a given gap > 0 [m] within the range of the law. support: barrier
 * distance [m], > 0. n_a, n_b: numbers of vertices of the faces. The law must have an equilibrium gap. */
ContactEquilibrium contact_rest_at_gap(ContactModel model, double support, int n_a, int n_b, double gap);
/* Returns the force [N] between two bodies that overlap by `overlap` > 0 [m], for contact stiffness 1. Returns 0 if the
 * law does not allow overlap. law_parameters: parameters that only this law has (ModelContact.law_parameters). */
double contact_force_at_overlap(ContactModel model, const double* law_parameters, double overlap);
/* Returns true if the law allows bodies to overlap, also at the start. Such a run cannot be certified. */
bool contact_allows_overlap(ContactModel model);
/* Returns true if the law uses smooth shapes exactly, and for CONTACT_NONE. Other laws use the triangulated surfaces of
 * smooth shapes. */
bool contact_supports_smooth_shapes(ContactModel model);
/* Returns true if the law uses round solids exactly. Returns true for CONTACT_NONE. */
bool contact_supports_round_solids(ContactModel model);
/* Returns true if the law supports direction-dependent and static friction. Returns true for CONTACT_NONE. */
bool contact_supports_directional_friction(ContactModel model);
/* Returns true if models of the scene represent the shape as an exact round solid: every contact law of the scene
 * supports it (model/solid_round.c). */
bool model_uses_round_solid(const Scene* scene, const SceneShape* shape);
/* Returns NULL if the law supports the hull, otherwise the reason as the end of a sentence (static text). */
const char* contact_refusal_reason(ContactModel model, const ModelHull* hull);
/* Returns the number of parameters that only this law has, at most CONTACT_LAW_PARAMETERS_MAX. Returns 0 for
 * CONTACT_NONE.
 */
int contact_own_count(ContactModel model);
/* Sets law_parameters[k] to the default value of parameter k among the parameters that only this law has. Sets 0 for a
 * parameter that is derived from the scene (model/contact_defaults.c), and for k beyond the law's parameters. */
void contact_own_defaults(ContactModel law, double law_parameters[CONTACT_LAW_PARAMETERS_MAX]);

/* Builds and validates the model of a scene. Warns of contact parameters that cannot work. Returns STATUS_BAD_INPUT
 * with diagnostics for meshes, masses <= 0, initial coordinates outside limits, links that intersect at the start, and
 * other errors. Borrows the scene, which must outlive the model. The caller frees the model with model_destroy, also
 * after errors. */
Status model_create(Model* model, const Scene* scene, Diagnostics* diagnostics);
/* Builds the model of a scene after lifting bodies that touch or slightly overlap others at the start (model_lift).
 * Changes the joint positions in the scene, unless the lifted scene is invalid too. Adds a note with the names of the
 * lifted bodies. Returns STATUS_BAD_INPUT with diagnostics for an invalid scene. The caller frees the model with
 * model_destroy, also after errors. */
Status model_create_lifted(Model* model, Scene* scene, Diagnostics* diagnostics);
/* Frees the model, not the scene. Accepts an incomplete or zeroed model. */
void model_destroy(Model* model);
/* Computes the principal moments of inertia about the centre of mass, ascending: moments[3] [kg m^2]. link: mass > 0.
 * Returns false if the inertia is not finite. Allocates nothing. */
bool link_principal_moments(const ModelLink* link, double moments[3]);

/* ---------------------------------------------------------------- other numbers (model/override.c) */

/* Kind of a scene number that a ModelOverride replaces. The comments give the meaning of `part` and `index`. */
typedef enum {
  OVERRIDE_VERTEX, /* coordinate of a point of a shape. part: number of the shape among the shapes of the link, a point
                      list; index: 3 times the point's number, plus 0, 1 or 2 for x, y or z [m] */
  OVERRIDE_ATTACHMENT, /* position of the joint frame in the parent; index: 0, 1, 2 for x, y, z [m] */
  OVERRIDE_CONTROL, /* parameter of a signal of the link. part: number of the signal (model_scene_signal); index: number
                       of the parameter, as in signal_parameter */
  OVERRIDE_COORDINATE, /* index: initial coordinate of the link's joint */
  OVERRIDE_VELOCITY,   /* index: initial velocity of the link's joint */
  OVERRIDE_MASS,       /* mass of the link [kg], or its density if the scene gives the density [kg/m^3] */
  OVERRIDE_CONTACT,    /* contact parameter of the scene; index: CONTACT_SUPPORT, ... */
  OVERRIDE_JOINT,   /* constant of the link's joint. part: JOINT_DAMPING, JOINT_STIFFNESS, ...; index: degree of freedom
                       within the joint */
  OVERRIDE_GRAVITY, /* acceleration of gravity; index: 0, 1, 2 for x, y, z [m/s^2] */
  OVERRIDE_CENTER,  /* centre of mass of a link with `mass_model: given`; index: 0, 1, 2 for x, y, z [m] */
  OVERRIDE_INERTIA, /* inertia of a link with `mass_model: given`; index: as SceneLink.inertia [kg m^2] */
  OVERRIDE_SHAPE,   /* parameter of a shape. part: number of the shape among the shapes of the link, a convex smooth
                     * shape; index: number of the parameter (shapes/shapes.h)
                     */
  OVERRIDE_GAIN,    /* gain of a controller. part: number of the controller among the controllers of the link; index:
                       number of the gain, as in controller_gain_at */
  OVERRIDE_MATERIAL, /* contact material. index: MATERIAL_FRICTION, ... If link >= 0, the value of this link. If link is
                        -1, the value of item number `part` of contact.pairs. If link and part are -1, the value in
                        `contact`, for all pairs */
  OVERRIDE_AXIS,     /* index: component of the joint's first axis; the axis has unit length */
  OVERRIDE_ROTATION, /* index: component w, x, y, z of the rotation of the joint frame; the quaternion has unit length
                      */
  OVERRIDE_CLOSURE,  /* constant of a closure. part: index of the closure in the scene; index: CLOSURE_NUMBER_POINT, ...
                      */
  OVERRIDE_TENDON,  /* constant of a tendon. part: index of the tendon in the scene; index: TENDON_NUMBER_STIFFNESS, ...
                     */
  OVERRIDE_WRAP,    /* constant of a wrap, a solid around which a tendon runs. part: index of the tendon in the scene;
                       index: WRAP_NUMBERS times the index of the wrap in the tendon, plus WRAP_NUMBER_RADIUS, ... */
  OVERRIDE_BUSHING, /* constant of a bushing. part: index of the bushing in the scene; index: BUSHING_STIFFNESS, ... */
  OVERRIDE_FLUID,   /* constant of the fluid of the scene; index: FLUID_DENSITY, ... */
  OVERRIDE_RATIO /* ratio or offset of a joint coupling. part: index of the coupling in the scene; index: number of the
                    term, from 1, or 0 for the offset */
} OverrideKind;
/* Constants of a joint that an OVERRIDE_JOINT can replace. Each degree of freedom has one constant of each kind. */
enum {
  JOINT_DAMPING,
  JOINT_STIFFNESS,
  JOINT_FRICTION,
  JOINT_ARMATURE,
  JOINT_STATIC_FRICTION,
  JOINT_LOWER, /* lower limit; JOINT_UPPER is the upper limit */
  JOINT_UPPER,
  JOINT_RESTITUTION, /* coefficient of restitution of the joint limits; a joint has one value, stored at its first
                        degree of freedom */
  JOINT_OWN_COUNT
};
/* Constants of a closure that overrides replace and gradients contain: point (3) [m], axis (3) of any length, length
 * [m]. */
enum { CLOSURE_NUMBER_POINT, CLOSURE_NUMBER_AXIS = 3, CLOSURE_NUMBER_LENGTH = 6, CLOSURE_NUMBERS };
/* Constants of a tendon that overrides replace and gradients contain: stiffness [N/m], rest length [m], friction [N],
 * points (3 each) [m]. */
enum { TENDON_NUMBER_STIFFNESS, TENDON_NUMBER_REST, TENDON_NUMBER_FRICTION, TENDON_NUMBER_POINTS };
/* Returns true if the force of the tendon depends on its constant `index` (TENDON_NUMBER_STIFFNESS, ...). The force
 * always depends on the points. The force depends on stiffness and rest length if stiffness > 0, and on friction if
 * friction > 0. */
static inline bool tendon_parameter_has_effect(const SceneTendon* tendon, int index) {
  if (index == TENDON_NUMBER_FRICTION) return tendon->friction > 0;
  return index >= TENDON_NUMBER_POINTS || tendon->stiffness > 0;
}
/* Constants of a wrap, a cylinder or sphere around which a tendon runs: radius [m], position (3) [m], axis (3) of any
 * length. */
enum { WRAP_NUMBER_RADIUS, WRAP_NUMBER_POSITION, WRAP_NUMBER_AXIS = 4, WRAP_NUMBERS = 7 };
typedef struct {
  OverrideKind kind;
  int link, part, index;
  double value;
} ModelOverride;

/* Builds the model of a copy of a scene in which overrides[count] replace values. The model owns the copy; `scene` is
 * unchanged and must outlive the model. Returns STATUS_BAD_INPUT with diagnostics for an invalid scene. The caller
 * frees the model with model_destroy, also after errors. */
Status model_create_with(Model* model, const Scene* scene, const ModelOverride* overrides, int count,
                         Diagnostics* diagnostics);
/* Convex pieces of the shapes of a scene, computed once for several models with different overrides. */
typedef struct ModelSolids ModelSolids;
/* Computes the convex pieces of all shapes of a scene. Returns NULL if a shape fails; model_create_with then reports
 * the reason. The caller frees the solids with model_solids_destroy. */
ModelSolids* model_solids_create(const Scene* scene);
/* Frees the solids, to which models hold no reference. Accepts NULL. */
void model_solids_destroy(ModelSolids* solids);
/* Builds the model of model_create_with, but takes the convex pieces from `solids` of the same scene unless an override
 * changes a shape. solids NULL: all pieces are computed. Returns STATUS_BAD_INPUT with diagnostics for an invalid
 * scene. The caller frees the model with model_destroy, also after errors. */
Status model_create_from(Model* model, const Scene* given, const ModelSolids* solids, const ModelOverride* overrides,
                         int count, Diagnostics* diagnostics);
/* Returns true if model_restart can replace building the model anew, for a run without steps. Conditions:
 * overrides[count] are all OVERRIDE_COORDINATE. The model was built with overrides. The scene has no closures,
 * couplings, tendons, bushings, stored state, or contact law that refuses overlap. */
bool model_can_restart(const Model* model, const ModelOverride* overrides, int count);
/* Replaces the overridden values of a model that model_create_with built without error. overrides[count] must name the
 * same numbers as before. The result equals a newly built model, except for contact parameters derived from the scene.
 * Returns STATUS_BAD_INPUT, with diagnostics, if initial coordinates are outside their limits. */
Status model_restart(Model* model, const ModelOverride* overrides, int count, Diagnostics* diagnostics);
/* Returns a copy of a scene in which overrides[count] replace values. The copy shares unchanged parts with `given`,
 * which must outlive it. The caller frees the copy with model_scene_destroy. */
Scene* model_scene_create(const Scene* given, const ModelOverride* overrides, int count);
/* Frees a copy made by model_scene_create, except for the parts shared with `given`, the same scene as at its creation.
 * Accepts NULL. */
void model_scene_destroy(Scene* scene, const Scene* given);
/* Returns the address of the value that an override replaces, borrowed from the scene, or NULL for an unknown kind. */
double* model_scene_number(const Scene* scene, const ModelOverride* override);
/* A signal that acts on a link or its joint. */
typedef struct {
  SceneSignal* signal; /* NULL if the link has no signal of the requested number; channels 0 if the load or tendon lacks
                          this signal */
  unsigned kind;       /* kind of the signal: CONTROL_DRIVES, ... */
  int ordinal;         /* index of the controller, load or tendon among the link's controllers, loads or tendons */
  int item;            /* index into the scene's controllers, loads or tendons */
} SignalPlace;
/* Returns signal `number` of the link, borrowed from the scene. The order is: targets of controllers, force and torque
 * of each load (given or not), tensions of tendons that end on the link. The member `signal` is NULL if number is too
 * large. */
SignalPlace model_scene_signal(const Scene* scene, int link, int number);
/* Returns the index in the scene of a link's controller, or -1 if there is none. ordinal: 0 for the link's first
 * controller in the order of the scene. */
int model_scene_controller(const Scene* scene, int link, int ordinal);
/* Returns the index of the signal's first parameter in ModelGradient.control. place must name an existing signal
 * (asserted). */
int model_signal_first(const Model* model, SignalPlace place);
/* Replaces a signal of the model by `source`, which must have as many channels. Renumbers the signal parameters, so
 * every existing ModelGradient has the wrong size afterwards. Borrows source, which must outlive the model. Allocates
 * for splines and integrated signals. */
void model_set_signal(Model* model, SignalPlace place, const SceneSignal* source);
/* Shifts all signals so that they begin at `time` [s] instead of 0, and sets the initial state of prescribed joints
 * from the shifted signals. */
void model_begin_signals(Model* model, double time);
/* Returns the initial state that the scene gives for the link's joint. Returns NULL if the scene gives none. Borrowed
 * from the scene. */
SceneInitial* model_scene_initial(const Scene* scene, int link);
/* Returns true if the two links can collide. Returns false for the same link, parent and child, links without relative
 * motion, excluded pairs, and links with collide: false. Symmetric in the links. Asserts the link numbers. Allocates
 * nothing. */
bool model_pair_allowed(const Model* model, int link_a, int link_b);
/* Material of a pair of links (model/materials.c). Each value comes from the first of four sources that gives it: the
 * last matching item of contact.pairs, the geometric mean of both links' values, the value of the one link that has
 * one, and `contact` of the scene. Axial and static friction default to the friction of the same link or item. */
typedef struct {
  double value[MATERIAL_COUNT];
  bool directed; /* true: the friction coefficient along `axis` differs from the coefficient perpendicular to `axis` */
  int axis_side; /* 0: axis is fixed to link_a; 1: to link_b */
  Vec3 axis;     /* unit vector in the frame of the link of axis_side */
} PairMaterial;
/* Returns the largest friction coefficient of the pair over all slip directions and speeds. */
static inline double pair_largest_friction(const PairMaterial* material) {
  const double* v = material->value;
  double directed = fmax(v[MATERIAL_FRICTION], v[MATERIAL_FRICTION_ALONG]);
  return v[MATERIAL_FRICTION] > 0 ? directed * fmax(1, v[MATERIAL_STATIC_FRICTION] / v[MATERIAL_FRICTION]) : directed;
}
/* Returns the material of a pair of links. Friction and restitution are dimensionless; rolling and spinning friction
 * are in m. Symmetric in the links. Asserts the link numbers. */
PairMaterial model_pair_material(const Model* model, int link_a, int link_b);
/* Returns the contact law of two links as an index into Model.pair_laws, or -1 for the law that the scene gives for all
 * pairs. The last item of contact.pairs that matches both links and names a law decides. Returns -1 for link numbers
 * out of range. Symmetric in the links. */
int model_pair_law(const Model* model, int link_a, int link_b);
/* Writes the barrier distance and stiffness of each contact law of single pairs, as the model uses them, into the items
 * of contact.pairs of `scene`. Derived values then stay the same when the scene changes. scene must have the same
 * items. */
void model_fix_pairs(const Model* model, Scene* scene);
/* Returns a material value that a row of ModelGradient.material gives: the value of link `link` if link >= 0, of item
 * number `item` of contact.pairs if item >= 0, otherwise the value of `contact`. Returns NaN if the row does not give
 * it. which: MATERIAL_FRICTION ... MATERIAL_STIFFNESS (asserted). */
double model_given_material(const Model* model, int link, int item, int which);
/* Returns the largest value of a material number over all links and pairs, whether they touch or not. which:
 * MATERIAL_FRICTION, ... (asserted). */
double model_largest_material(const Model* model, int which);
/* Warns of contact parameters of the scene that cannot work. model_create calls it. Allocates temporary memory, never
 * fails.
 */
void model_check_contact(const Model* model, Diagnostics* diagnostics);

/* Two links that intersect or touch at the start. */
typedef struct {
  int a, b;     /* indices of the two links */
  double depth; /* depth of the overlap of the two links [m]; 0 if the links only touch */
} ModelTouch;
/* Finds all pairs of links that intersect or touch in the initial state. Returns the number of pairs. Sets *pairs to
 * the list, never NULL, which the caller frees with memory_free. Also accepts a model that model_create rejected
 * because of such pairs (model/checks.c). */
int model_touching(const Model* model, ModelTouch** pairs);
/* Returns the depth of the overlap of a link with its parent [m], negative for a gap (model/overlap.c). A positive
 * depth is possible, because a link and its parent have no contact. poses: world poses of the links. Returns -INFINITY
 * if the parent can move, the link is fixed, or one of the two has no shape. Allocates temporary memory. */
double model_parent_overlap(const Model* model, const Pose* poses, int link);
/* Lifts bodies that touch other bodies at the start, or overlap them by at most `deepest` [m]. Each body moves against
 * gravity by the overlap plus the equilibrium gap. The upper one of two bodies moves, along its root joint. A body that
 * still touches another body afterwards is moved back. Changes joint positions in the scene and rebuilds the model.
 * Also accepts a model that model_create rejected. Appends to `names` a list such as "box 0.0005 m, ball 0.001 m".
 * Returns true if a body was lifted. Returns false without gravity. (model/lift.c) */
bool model_lift(Model* model, Scene* scene, double deepest, Text* names);

/* Replaces the shapes of `scene` by one list of points per hull of the model, link frame (model/expand.c). scene must
 * be the scene of the model. Half-spaces, smooth shapes and exact round solids are kept. Hull k of a link becomes the
 * link's k-th shape, a list of points that keeps interior points. Contact parameters are set to the values of the
 * model. A model built from the result equals `model`. Allocates in the scene, which frees the lists. Never fails. */
void model_expand_shapes(const Model* model, Scene* scene);

/* Returns the acceleration of gravity on a link after gravity compensation, world axes [m/s^2]. Undefined for a link
 * number out of range. */
static inline Vec3 model_link_gravity(const Model* model, int link) {
  return vec3_scale(model->simulation.gravity, 1 - model->links[link].gravity_compensation);
}
/* Returns the energy of the joint springs at coordinates q[nq] [J] (docs/derivations/drives.md, M4). Cannot fail,
 * allocates nothing. */
double model_spring_energy(const Model* model, const double* q);
/* Returns the elastic energy of stretched tendons, sum stiffness/2 (length - rest length)^2 [J] (model/tendons.c).
 * poses[links], q[nq]. */
double model_tendon_energy(const Model* model, const Pose* poses, const double* q);
/* Returns the world pose of a bushing's frame on link a (side 0) or link b (side 1). poses[links]. Asserts that side is
 * 0 or 1. */
Pose bushing_frame(const SceneBushing* bushing, int side, const Pose* poses);
/* Sets u to the pose of the bushing's frame on link b relative to its frame on link a: translation [m], then rotation
 * vector [rad] (L18). The rotation vector has a length of at most pi and is discontinuous at pi. poses[links].
 */
void bushing_difference(const SceneBushing* bushing, const Pose* poses, double u[6]);
/* Returns the relative rotation angle of a bushing's two frames [rad]: the length of the rotation vector u[3] to u[5]
 * from bushing_difference. Returns 0 if the bushing does not resist rotations. */
double bushing_rotation(const SceneBushing* bushing, const double u[6]);
/* Sets out to the product of a bushing's 6 x 6 matrix, row-major, and the vector v. */
void bushing_times(const double (*matrix)[6], const double v[6], double out[6]);
/* Returns the energy u . K u / 2 - preload . u of a bushing [J]. K: stiffness matrix of the bushing. u: relative pose
 * of the two frames (bushing_difference). preload: force and torque at u = 0. poses[links]. */
double bushing_energy(const SceneBushing* bushing, const Pose* poses);
/* Returns the sum of bushing_energy over all bushings [J]; 0 without bushings. poses[links]. */
double model_bushing_energy(const Model* model, const Pose* poses);
/* Returns the vectors of the force field of a load in the world: difference of its two points, axes and lever arms
 * (L16). poses[links]. Asserts that load has a field. (model/fields.c) */
FieldGeometry field_geometry(const Model* model, const ModelLoad* load, const Pose* poses);
/* Returns the energy of a force field of unit strength, and the derivatives of the energy with respect to the vectors
 * in `at`. Not finite if both points coincide and the field has no softening. */
FieldEnergy field_energy_gradient(const SceneField* field, const FieldGeometry* at);
/* Returns the first-order change of field_energy_gradient when the vectors d, u and v of *at change by displacement->d,
 * displacement->u and displacement->v. The member energy is the change of the energy; the members d, u and v are the
 * changes of its derivatives. */
FieldEnergy field_hessian_product(const SceneField* field, const FieldGeometry* at, const FieldEnergy* displacement);
/* Returns the potential energy of all fields of constant strength [J]. poses[links]. */
double model_field_energy(const Model* model, const Pose* poses);
/* Returns the world position of a tendon point [m]. poses[links]. The link of the point must exist; this is not
 * checked. */
static inline Vec3 tendon_point(const SceneTendonPoint* point, const Pose* poses) {
  return point->link < 0 ? point->point : pose_apply(poses[point->link], point->point);
}
/* Length of a straight tendon segment between two points a and b, and its derivatives (L5). apart: the vector a - b
 * [m]. The length equals |apart| if |apart| >= eyelet, and is a smooth function below. slope: gradient of the length
 * with respect to apart. curvature: second derivatives of the length [1/m], symmetric and positive semidefinite. */
typedef struct {
  double length;
  Vec3 slope;
  Mat3 curvature;
} TendonPiece;
/* Returns the length of a tendon segment and its derivatives with respect to the vector `apart` between its ends [m].
 * eyelet: distance [m] below which the length is smoothed, >= 0 (asserted). The gradient has a length of at most 1. If
 * the points coincide and eyelet is 0, gradient and Hessian are zero. */
TendonPiece tendon_piece(Vec3 apart, double eyelet);
/* Path of a tendon from point a to point b around a wrap, a cylinder or sphere (L8). The derivatives with respect to
 * the positions of a and b hold for a fixed wrap. */
typedef struct {
  bool touches;      /* false: the straight path does not touch the wrap, and all other members are unset */
  double length;     /* length of the path [m] */
  double by_radius;  /* derivative of the path's length with respect to the wrap's radius [rad]; for a path in a plane,
                        the angle of the arc on the wrap */
  Vec3 slope[2];     /* gradients of the path's length with respect to the positions of a and b, world axes */
  Mat3 curvature[3]; /* second derivatives of the path's length: with respect to a twice, b twice, and a and b [1/m] */
  Vec3 slope_by_radius[2]; /* derivatives of `slope` with respect to the wrap's radius [1/m] */
} TendonWrap;
/* Returns the path of a tendon from a to b around a wrap. pose: pose of the wrap's link, identity for the world. a, b:
 * world positions outside the solid [m]. A point inside the solid is treated as a point of its surface. wrap must not
 * be NULL. */
TendonWrap tendon_wrap(const SceneTendonWrap* wrap, Pose pose, Vec3 a, Vec3 b);
/* Returns the pose of the wrap's link, or the identity for the world. poses[links]. */
static inline Pose tendon_wrap_pose(const SceneTendonWrap* wrap, const Pose* poses) {
  return wrap->link < 0 ? pose_identity() : poses[wrap->link];
}
/* Path of a tendon between two neighbouring points. */
typedef struct {
  bool touches;  /* true: the path touches a wrap */
  Vec3 end[2];   /* positions of both points, world frame [m] */
  Vec3 slope[2]; /* gradients of the path's length with respect to these positions */
} TendonSpan;
/* Returns the path of a tendon from point number `point` to the next point. poses[links]. */
TendonSpan tendon_span(const SceneTendon* tendon, int point, const Pose* poses);
/* Point of a tendon inside a solid around which the tendon wraps. The path and its derivatives are then not defined. */
typedef struct {
  int tendon, point; /* indices of the tendon and of its point; tendon -1: no point is inside */
  double depth;      /* distance of the point from the surface [m] */
} WrapEntry;
/* Returns the first point of a tendon inside its wrap. poses[links]. */
WrapEntry model_find_wrap_entry(const Model* model, const Pose* poses);
/* Returns the tendon's length [m], the length of its path through its points. For a tendon of joints, returns the sum
 * over the joints of ratio times coordinate. poses[links], q[nq]. */
double tendon_length(const Model* model, const SceneTendon* tendon, const Pose* poses, const double* q);
/* Returns the elongation of a tendon beyond its rest length [m], >= 0. Returns 0 if the tendon is slack or has no
 * stiffness. length: as returned by tendon_length [m]. */
double tendon_stretch(const SceneTendon* tendon, double length);
/* Returns the world pose of the first link (side 0) or the second link (side 1) of a closure; the identity if this is
 * the world. poses[links]. Undefined for other sides. */
static inline Pose model_closure_pose(const ModelClosure* closure, int side, const Pose* poses) {
  return closure->link[side] < 0 ? pose_identity() : poses[closure->link[side]];
}
/* Recomputes the attachment points and directions of all closures from the model's initial coordinates
 * (model/closures.c). Allocates and frees. Cannot fail; sim_create reports a closure that is open. */
void model_place_closures(Model* model);
/* Attachment points of a closure [m] and its axis in the initial state, world frame. axis: unit vector, or zero if the
 * closure has no axis. */
typedef struct {
  Vec3 end[2], axis;
} ClosureStart;
/* Returns the attachment points [m] and the axis of a closure in the initial state, world frame. at[0], at[1]: world
 * poses in the initial state of the closure's first and second link (model_closure_pose). If source gives no point, the
 * origin of the first link's frame is used. source and at must not be NULL. */
ClosureStart model_closure_start(const SceneClosure* source, const Pose at[2]);
/* Returns the point of application of a load, link frame [m]. load must not be NULL. */
static inline Vec3 model_load_point(const Model* model, const ModelLoad* load) {
  return load->at_center ? model->links[load->link].center : load->point;
}

/* ---------------------------------------------------------------- implicitness theta of springs and dampers
 * (model/spring_theta.c) */
/* Returns the implicitness theta of a spring, 1/2 to 1. square: squared product of the spring's angular frequency and
 * the substep [rad^2]. Sets *slope to the derivative of theta with respect to square. */
double spring_implicitness(double square, double* slope);
/* Returns the implicitness theta of a damper, 1 / (1 - exp(-z)) - 1 / z, 1/2 to 1 (drives.md, M12). z: decay >= 0, the
 * substep divided by the time constant of the rate. Sets *slope to the derivative of theta with respect to z. */
double damper_implicitness(double z, double* slope);
/* Kinds of implicitness weights theta, in the order of ModelGradient.thetas. */
typedef enum {
  THETA_JOINT_SPRING,
  THETA_TENDON,
  THETA_BUSHING_SPRING,
  THETA_JOINT_DAMPER,
  THETA_BUSHING_DAMPER
} ThetaKind;
/* One direction x (nv), a vector of joint increments, in which springs or dampers act at the start. Theta is the weight
 * of a step's end in their force. For a joint, tendon or bushing, it is a smooth function of coefficient times mobility
 * in all its directions (drives.md, M10, M12). */
typedef struct {
  ThetaKind kind;
  int index;     /* of the link, tendon or bushing */
  int component; /* which direction. joint: degree of freedom within the joint; bushing: 0 to 5, component of its pose
                    difference; tendon: 0 */
  double coefficient; /* spring: sum of stiffness and position gains [N/m, N m/rad]. Damper: sum of damping and rate
                         gains [N s/m, N m s/rad] */
  double mobility;    /* x . y, with the acceleration y by the generalized force x under the couplings: inverse of the
                         inertia in this direction [1/kg, 1/(kg m^2)] */
  double slope;       /* derivative of theta with respect to coefficient times mobility [s^2; damper: s] */
  const double* response;       /* y = M^-1 (x - C^T force) with C y = 0 (size: nv), for the mass matrix M and the
                                   coefficients       C of the couplings; valid until the visit ends */
  const double* coupling_force; /* forces of the couplings (size: couplings); valid until the visit ends */
} SpringDirection;
typedef void (*SpringVisit)(void* context, const SpringDirection* direction);
/* Sets ModelLink.spring_theta and damper_theta, ModelTendon.theta, and ModelBushing.theta and damper_theta from the
 * initial coordinates. All thetas are 1 if the integrator is not `momentum`. Allocates temporary memory. Cannot fail.
 */
void model_place_spring_thetas(Model* model);
/* Calls visit for each spring direction at coordinates q[nq] whose slope is not 0. Allocates temporary memory. Cannot
 * fail.
 */
void model_visit_springs(const Model* model, const double* q, SpringVisit visit, void* context);
/* Returns the index in ModelGradient.thetas of a theta. index: of the link, tendon or bushing. */
static inline int model_theta_index(const Model* model, ThetaKind kind, int index) {
  const int first[] = {0, model->link_count, model->tendon_count, model->bushing_count, model->link_count};
  for (int k = 1; k <= (int)kind; k++) index += first[k];
  return index;
}
/* Returns the number of thetas. */
static inline int model_theta_count(const Model* model) {
  return model_theta_index(model, THETA_BUSHING_DAMPER, model->bushing_count);
}

/* ---------------------------------------------------------------- kinematics (model/kinematics.c) */
/* Sets poses[links] to the world poses of all links [m]. q[nq]. Quaternions in q must have unit length; this is not
 * checked. */
void model_poses(const Model* model, const double* q, Pose* poses);
/* Sets poses[i] to the world pose of link i, from q[nq] and the pose of the link's parent in poses. Asserts the range
 * of i. */
void model_link_pose(const Model* model, int i, const double* q, Pose* poses);
/* Sets out[nq] to the coordinates q[nq] displaced by fraction * increments[nv], joint by joint. increments in m and
 * rad. out may be q. Quaternions keep unit length to rounding. Cannot fail. */
void model_increment(const Model* model, const double* q, const double* increments, double fraction, double* out);
/* Sets the world poses of link i and of its ancestors at displaced coordinates. The coordinates are q displaced by
 * fraction * increments, as in model_increment. The function sets the poses of i and of its ancestors up to, but
 * without, link `from`; if from is -1, up to the root. All other links keep their poses. q[nq], increments[nv].
 * displaced[nq]: workspace, receives the coordinates of the links that are set. */
void model_displaced_link_pose(const Model* model, int i, int from, const double* q, const double* increments,
                               double fraction, double* displaced, Pose* poses);

/* Sets screws[nv] to the screw axes of all degrees of freedom at q[nq], world axes. poses[links]: as set by model_poses
 * for q. The caller owns screws. Cannot fail. */
void model_screws(const Model* model, const double* q, const Pose* poses, Screw* screws);
/* Adds the generalized forces of a wrench on a link to out[nv]: the wrench's power at a unit rate of each degree of
 * freedom between the link and the world. at: reference point of the torque; force, torque: world axes [N, N m].
 * screws[nv]: as set by model_screws. */
void model_add_generalized_force(const Model* model, int link, const Screw* screws, Vec3 at, Vec3 force, Vec3 torque,
                                 double* out);
/* Sets the screw axes of the degrees of freedom of link i at q[nq] and poses[links]: dof_count entries of screws[nv]
 * from dof_first on. Sets nothing for a link without degrees of freedom. */
void model_link_screws(const Model* model, int i, const double* q, const Pose* poses, Screw* screws);

/* ---------------------------------------------------------------- the clamped barrier
 * The barrier P_s(c) is the potential that keeps two hulls apart: P_s(c) = (c - s)^4 / c^5 for gaps 0 < c < s, and 0
 * for larger gaps (SDRS Eq. 7). s is the barrier distance [m], z = c / s the relative gap.
 *     P_s = Q(z) / s,  P_s' = Q'(z) / s^2,  P_s'' = Q''(z) / s^3                                                  (C2)
 *     Q(z) = (1-z)^4 z^-5,  Q'(z) = -(1-z)^3 (5-z) z^-6,  Q''(z) = 2 (1-z)^2 (z^2 - 10 z + 15) z^-7
 * Q is three times continuously differentiable at z = 1. docs/derivations/contact.md */
typedef struct {
  double value, first, second;
} Barrier;

/* Returns the barrier Q(z) and its first and second derivatives for a relative gap z in (0, 1): the gap divided by the
 * barrier distance. Undefined, unchecked, for z <= 0, where hulls intersect. */
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
  CONTACT_OWN, /* first parameter that only the contact law has */
  CONTACT_PARAMETER_COUNT = CONTACT_OWN + CONTACT_LAW_PARAMETERS_MAX
};

/* Derivatives of a scalar, for example of a loss, with respect to all numbers of a model and to the initial state. Each
 * comment names the numbers with respect to which the member is the derivative. Units hold for a dimensionless scalar.
 * Round brackets contain array lengths. */
typedef struct {
  Vec3* vertices;     /* hull vertices in their link's frame [1/m] (size: vertices) */
  Vec3* attachments;  /* positions of the joint frames in the parent's frame [1/m] (size: links) */
  Vec3* turns;        /* small rotations of the joint frames about their own axes and origins [1/rad] (size: links) */
  Vec3* axes;         /* small rotations of the joint axes alone, about the joint frame's axes [1/rad] (size: links) */
  bool without_turns; /* true: turns and axes are not computed and stay 0. Set by the owner; unchanged by
                         model_gradient_clear */
  double* mass;       /* total masses at constant mass distribution [1/kg] (size: links) */
  double* control;    /* parameters of signals of controllers, loads, tendons (size: parameters) */
  double contact[CONTACT_PARAMETER_COUNT]; /* derivatives with respect to the contact parameters of ModelContact:
                                              support, stiffness, friction, smoothing, rest speed, own parameters */
  /* derivatives with respect to the numbers of joints: JOINT_DAMPING, ... (size: nv) */
  double (*joint)[JOINT_OWN_COUNT];
  Vec3 gravity;                /* acceleration of gravity, world axes [s^2/m] */
  double fluid[FLUID_NUMBERS]; /* constants of the fluid: FLUID_DENSITY, ... */
  Vec3* center;                /* centre of mass of links with mass_model given [1/m] (size: links) */
  double (*inertia)[6];        /* SceneLink.inertia of links with mass_model given [1/(kg m^2)] (size: links) */
  double (*material)[MATERIAL_NUMBERS]; /* material of contact (except friction, see `contact`), of each link and of
                                           each item of contact.pairs; row: model_material_row (1 + links + items) */
  double* shapes;                       /* parameters of convex smooth shapes (shape parameters) */
  double* gains;                        /* gains of all controllers, consecutively (size: gains) */
  double (*closures)[CLOSURE_NUMBERS];  /* point, axis and length of every closure, as in the scene (size: closures) */
  double (*tendons)[TENDON_NUMBER_POINTS]; /* stiffness, rest length, friction of every tendon (size: tendons) */
  Vec3* tendon_points;                     /* tendon points in the frames of their links (tendon points) */
  double (*tendon_wraps)[WRAP_NUMBERS];    /* numbers of wraps: WRAP_NUMBER_RADIUS, ... (tendon wraps) */
  double (*bushings)[BUSHING_NUMBERS];     /* numbers of bushings: BUSHING_STIFFNESS, ... (size: bushings) */
  double* thetas;                          /* thetas of springs and dampers, see ThetaKind (model_theta_count) */
  double (*ratios)[COUPLING_TERMS]; /* ratios of coupling terms; entry 0: offset given by the scene (size: couplings) */
  double* coordinates;              /* increments of the initial coordinates, as in joint_increment (size: nv) */
  double* velocities;               /* initial velocities (size: nv) */
  MassMoment* moment; /* entries of the mass moments; model_gradient_masses converts them to derivatives of vertices,
                         mass and center (size: links) */
} ModelGradient;

/* Allocates the arrays of the gradient for a model, and sets them to zero. The caller frees them with
 * model_gradient_destroy. Neither argument may be NULL. Never fails. */
void model_gradient_create(ModelGradient* gradient, const Model* model);
/* Frees the arrays of the gradient. Accepts a zeroed gradient, but not NULL. */
void model_gradient_destroy(ModelGradient* gradient);
/* Sets all derivatives to zero. model must have the sizes for which the gradient was created; this is not checked. */
void model_gradient_clear(ModelGradient* gradient, const Model* model);
/* Returns the derivative of the gradient's scalar with respect to a number of a tendon. index: TENDON_NUMBER_STIFFNESS,
 * ..., as in an OVERRIDE_TENDON. Undefined for an index out of range. */
double model_gradient_tendon(const Model* model, const ModelGradient* gradient, int tendon, int index);
/* Returns the derivative of the gradient's scalar with respect to a number of a wrap, a solid around which a tendon
 * runs. index: as in an OVERRIDE_WRAP; not checked. Allocates nothing. */
static inline double model_gradient_wrap(const Model* model, const ModelGradient* gradient, int tendon, int index) {
  return gradient->tendon_wraps[model->tendons[tendon].wrap_first + index / WRAP_NUMBERS][index % WRAP_NUMBERS];
}
/* Returns the index of the row of ModelGradient.material that belongs to a link. If link is -1, returns the row of item
 * number `item` of contact.pairs. If link and item are -1, returns the row of the material of all pairs. */
static inline int model_material_row(const Model* model, int link, int item) {
  return link >= 0 ? 1 + link : item >= 0 ? 1 + model->link_count + item : 0;
}
/* Backward pass of model_pair_material: converts derivatives of a scalar with respect to the material of a pair of
 * links. by[MATERIAL_COUNT]: derivatives of the scalar with respect to the values of the pair. Adds the derivatives
 * with respect to the values of links, items and contact to gradient->material and gradient->contact. If a value is the
 * geometric mean of two link values and one of the two is 0, its derivative is infinite and nothing is added. */
void model_gradient_material(const Model* model, int link_a, int link_b, const double by[MATERIAL_COUNT],
                             ModelGradient* gradient);
/* Adds derivatives of a scalar with respect to the parameters of a contact law of single pairs to gradient->material.
 * by: the derivatives at the indices MATERIAL_SUPPORT [m], MATERIAL_STIFFNESS and MATERIAL_LAW_PARAMETER + k for the
 * law's own parameter k; all other entries are 0. Asserts pair_law < Model.pair_law_count. */
void model_gradient_pair_law(const Model* model, int pair_law, const double by[MATERIAL_NUMBERS],
                             ModelGradient* gradient);
/* Converts the derivative of a scalar with respect to a link's centre of mass, ModelLink.center. bar: this derivative,
 * link frame [1/m]. Adds to gradient->moment. For a massless link, whose center is the centre of a bounding box, adds
 * to the vertices that touch the box. Adds nothing for a link without hulls and mass. */
void model_gradient_center(const Model* model, int link, Vec3 bar, ModelGradient* gradient);
/* Converts gradient->moment, derivatives with respect to the links' mass moments, into derivatives with respect to
 * vertices and mass. Uses each link's mass model (docs/derivations/adjoint.md, A9). Then sets gradient->moment to
 * zero. Skips massless links. Allocates temporary memory. Cannot fail. */
void model_gradient_masses(const Model* model, ModelGradient* gradient);
/* Converts the derivatives with respect to vertices of convex smooth shapes into derivatives with respect to shape
 * parameters. Adds the result to gradient->shapes. Call after model_gradient_masses. Allocates temporary memory. Cannot
 * fail. */
void model_gradient_shapes(const Model* model, ModelGradient* gradient);
/* Adds the derivatives of the volume of a hull with respect to the parameters of its round solid or smooth shape to
 * out[shape_parameter_count] (ModelGradient.shapes). hull->smooth must not be NULL. */
void model_volume_derivatives(const ModelHull* hull, double* out);

#endif
