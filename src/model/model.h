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

/* A convex piece of a link, in the link frame. What is bounded has a surface of triangles; what is not has infinite
 * bounds. */
typedef struct {
  const SolidKind* kind;
  int link;
  int shape;        /* index into Scene.shapes */
  PointView points; /* hot arrays of the vertices; count 0 without any */
  ConvexHull solid; /* the same vertices in the same order, with triangles; empty without any. Owned by the model */
  Vec3 center;      /* of the bounding box [m] */
  double radius;    /* of the bounding sphere about center [m] */
  Vec3 half_extent; /* of the bounding box [m] */
  Vec3 normal;      /* half-space { x : normal . x <= offset }: unit */
  double offset;    /* m */
  int vertex_first; /* number of its first vertex among those of all hulls */
  struct ModelSmooth* smooth; /* SOLID_SMOOTH, SOLID_ROUND, owned by the model; NULL of others */
} ModelHull;

/* Derivative of a round solid by one of its parameters: of its rounding, and of its points or circles, link frame. */
typedef struct {
  double rounding;
  Vec3 center[2];
  double radius[2];
} RoundSlope;
enum { ROUND_PARAMETERS_MAX = 3 };

/* A smooth shape where it stands in a link; `solid` and `points` of its hull are points of its surface. */
typedef struct ModelSmooth {
  Field field;         /* of kind FIELD_SHAPE: one convex shape, with parameters of its own */
  Pose pose;           /* of its frame in the link's */
  MassMoment moment;   /* of density 1 kg/m^3, link frame */
  int resolution;      /* of its surface, as in scenes */
  int parameter_first; /* of its parameters (hull_parameter_count) among those of all shapes; -1: it has none */
  RoundBody core;      /* SOLID_ROUND: what it is, link frame; its points are owned, its circles are `rings` */
  Circle rings[ROUND_RINGS_MAX];
  RoundSlope slope[ROUND_PARAMETERS_MAX];        /* by its parameters (parameter_count) */
  MassMoment moment_slope[ROUND_PARAMETERS_MAX]; /* of `moment` */
  int parameter_count;
} ModelSmooth;
/* Is it a round solid that contact takes as it is? hull must not be NULL; nothing is allocated. */
static inline bool hull_is_round(const ModelHull* hull) { return hull->kind == &SOLID_ROUND; }
/* Is it one convex smooth shape, with parameters of its own? hull must not be NULL; nothing is allocated. */
static inline bool hull_is_convex_smooth(const ModelHull* hull) {
  return hull->smooth && !hull_is_round(hull) && hull->smooth->field.kind == FIELD_SHAPE;
}
/* Number of parameters in ModelGradient.shapes: of a convex smooth shape those of its form, of a round solid its
 * lengths in the order of its keys. hull must not be NULL; nothing is allocated. */
static inline int hull_parameter_count(const ModelHull* hull) {
  if (hull_is_round(hull)) return hull->smooth->parameter_count;
  return hull_is_convex_smooth(hull) ? shape_parameter_count(&hull->smooth->field.shape) : 0;
}
/* The body that contact looks at: of a round solid itself, else the hull of its vertices. Borrowed from the hull. */
static inline RoundBody hull_body(const ModelHull* hull) {
  return hull_is_round(hull) ? hull->smooth->core : (RoundBody){hull->points, NULL, 0, 0};
}

/* What a kind of piece is: a row in a file of its own, model/solid_<kind>.c. Nothing allocates or fails. */
struct SolidKind {
  bool bounded; /* it has vertices, which a design may move, triangles, a box, a volume; else it has no end */
  /* Largest direction . x over the solid [m |direction|], HUGE_VAL where there is none; *vertex: where it is taken, -1
   * at none of its vertices. direction: link frame, any length. */
  double (*support)(const ModelHull* hull, Vec3 direction, int* vertex);
  MassMoment (*moment)(const ModelHull* hull); /* of density 1 kg/m^3, link frame; zero without end */
  double (*thickness)(const ModelHull* hull);  /* smallest size that contact has to resolve [m] (R3); HUGE_VAL */
};

typedef struct {
  const char* name; /* borrowed from the scene */
  int parent;       /* -1 = world */
  int tree;         /* index into Model.trees; -1 for links that cannot move (welded to the world) */
  Pose origin;      /* joint frame in the parent's link frame [m] */
  Joint joint;
  int dof_first, dof_count; /* the count is the joint's */
  int coordinate_first, coordinate_count;
  bool limited[JOINT_MAX_DOF];
  double lower[JOINT_MAX_DOF], upper[JOINT_MAX_DOF]; /* m or rad */
  LimitLaw limit_law;
  double limit_stiffness, limit_margin, limit_restitution;
  double damping[JOINT_MAX_DOF];
  bool passive;                          /* has a spring, dry friction or an armature */
  double stiffness[JOINT_MAX_DOF];       /* N/m or N m/rad */
  double rest[JOINT_MAX_COORDINATE];     /* coordinates that springs pull to */
  double friction[JOINT_MAX_DOF];        /* N or N m */
  double armature[JOINT_MAX_DOF];        /* kg or kg m^2 */
  double friction_speed;                 /* m/s or rad/s */
  double static_friction[JOINT_MAX_DOF]; /* N or N m; 0: friction at any rate */
  double stribeck_speed;                 /* m/s or rad/s; >= friction_speed where static_friction is above 0 */
  double spring_theta; /* 1/2: springs and position gains of the joint keep energy, 1: they damp (drives.md, M10) */
  int prescribed;      /* index of the controller that prescribes the joint, or -1 */
  double gravity_compensation; /* part of its weight that is taken off */
  bool spins;        /* carries its angular momentum: integrator `momentum`, alone in its tree, six free dof */
  MassMoment moment; /* S = sum m X~ X~^T in the link frame [kg, kg m, kg m^2]; zero for massless fixed links */
  double mass;
  MassModel mass_model; /* in force: the scene's, and what its MASS_BY_SHAPE comes to */
  Vec3 center;  /* centre of mass (of the hulls' boxes when massless), link frame: the reference point of twists */
  double reach; /* largest distance of a vertex of the link from its frame origin [m] */
  int hull_first, hull_count;
  bool collide;
  int rigid_group; /* links with the same number never move against each other */
} ModelLink;

/* A tree of links whose degrees of freedom are one dense block. */
typedef struct {
  int dof_first, dof_count;
  bool flies; /* keeps its momentum, with all that closures and couplings join to it: integrator `momentum`, something
                 free to move in it, no body that spins */
} ModelTree;

typedef struct {
  ControllerType type;
  int link;
  Signal target;
  double position_gain[JOINT_MAX_DOF], velocity_gain[JOINT_MAX_DOF];
  double damping_gain[JOINT_MAX_DOF], max_force[JOINT_MAX_DOF]; /* max_force 0: no limit */
  double limit_width;                                           /* a part of max_force (drives.md, M2) */
  const SceneController* source; /* measures and matrix of its feedback, and its delay; borrowed */
  int delayed_first;             /* number of its first measurement among those that come late; -1: it has none */
  int gain_first;                /* number of its first gain (controller_gain) among those of all controllers */
  int parameter_first;           /* number of its signal's first parameter among those of all controllers and loads */
} ModelController;

/* Force and torque on a link (docs/derivations/loads.md). */
typedef struct {
  int link;
  bool link_axes;                /* both in the link's axes, else the world's */
  bool at_center;                /* the force acts at the centre of mass ... */
  Vec3 point;                    /* ... or here, link frame [m] */
  Signal force, torque;          /* of three channels [N], [N m]; of none where there is none */
  int force_first, torque_first; /* numbers of their first parameters */
  const SceneField* field;       /* whose strength `force` is, of one channel; NULL: none. Borrowed from the scene */
} ModelLoad;

/* Where a field acts in the world: d = a - b from the other's point to the link's, what turns with the links, levers
 * about their centres of mass (docs/derivations/loads.md, L16). */
typedef struct {
  Vec3 d, u, v;      /* [m]; of dipole and uniform: axis of the link, `other` of the other */
  Vec3 arm_a, arm_b; /* m */
} FieldPlace;
/* Energy of a field of strength 1, and its derivatives by d, u and v. */
typedef struct {
  double energy; /* J per strength */
  Vec3 d, u, v;
} FieldEnergy;

/* A cord through points of links (docs/derivations/loads.md, L5). */
typedef struct {
  const SceneTendon* source; /* its points, stiffness and rest length; borrowed from the model's scene */
  Signal tension;            /* of one channel [N]; of none where there is none */
  int tension_first;         /* number of its first parameter */
  int point_first;           /* number of its first point among those of all tendons */
  int wrap_first;            /* of its first wrap likewise */
  double theta;              /* as ModelLink.spring_theta */
  int home;                  /* a link of its that has a tree; -1: none has */
} ModelTendon;

/* Spring and damper between frames of two links (docs/derivations/loads.md, L18). */
typedef struct {
  const SceneBushing* source; /* borrowed from the model's scene */
  double theta;               /* as ModelLink.spring_theta */
  int home;                   /* a link of its two that has a tree; -1: none has */
} ModelBushing;

/* One equation c = 0 of a closure (docs/derivations/closures.md, Z1). x_a, x_b: its ends, d = x_a - x_b. */
typedef enum {
  CLOSURE_POINT,  /* f_k . d, a component of d along a fixed direction of the world [m] */
  CLOSURE_ALIGN,  /* (R_a u) . (R_b v): directions that stand at right angles */
  CLOSURE_ACROSS, /* d . R_b v [m] */
  CLOSURE_LENGTH  /* (|d|^2 - length^2) / 2 length [m] */
} ClosureEquation;
typedef struct {
  ClosureEquation kind;
  int axis;  /* POINT: which component */
  Vec3 u, v; /* in the frames of a and b; the world where there is no link */
} ClosureRow;

enum { CLOSURE_ROWS = 6 };
/* Two links held together. */
typedef struct {
  ClosureType type;
  int link[2];        /* a, b; -1 = world */
  Vec3 end[2];        /* in the links' frames [m] */
  double length;      /* of distance [m] */
  double size;        /* of the links about the ends: what is exact is so against it [m] */
  double break_force; /* N; 0 = it never breaks */
  Signal active;      /* of one channel; of none where it always holds */
  ClosureRow rows[CLOSURE_ROWS];
  Mat3 frame;               /* f, its rows: what points are measured along */
  bool framed;              /* these are not the world's axes */
  int row_count, row_first; /* number of its first row among those of all closures */
} ModelClosure;

/* sum slope_k q_k = offset over plain coordinates: one more row (docs/derivations/closures.md, Z7). */
enum { COUPLING_TERMS = 8 };
typedef struct {
  int count;
  int dof[COUPLING_TERMS], coordinate[COUPLING_TERMS]; /* numbers in the model */
  double slope[COUPLING_TERMS];                        /* 1, minus the ratios */
  double offset;                                       /* of the first coordinate's unit */
  double size; /* what the row is exact against: 1 rad, or m of the first link */
  int row;
} ModelCoupling;

/* Contact parameters in force, given or derived (docs/contact-parameters.md). */
typedef struct {
  double support;                     /* s [m] */
  double stiffness;                   /* kappa */
  double friction;                    /* Coulomb coefficient */
  double rolling, spinning;           /* of rolling and spinning friction [m] */
  double static_friction;             /* 0: friction at any speed */
  double stribeck_speed;              /* m/s */
  double smoothing;                   /* epsilon [(m/s)^2] */
  int friction_iterations;            /* SceneContact */
  double rest_speed;                  /* nothing that meets leaves faster [m/s]; 0: the bare barrier */
  double restitution;                 /* what is left of the speed of approach, of impacts well above the rest speed */
  bool bounces;                       /* some pair may have restitution above 0 */
  double own[CONTACT_OWN_PARAMETERS]; /* of the law alone (ContactLaw.parameters) */
  bool hierarchy;                     /* SceneContact */
  bool support_derived, stiffness_derived, smoothing_derived, rest_speed_derived;
  double feature;         /* smallest thickness of a colliding moving hull [m] */
  double reference_force; /* weight that the stiffness was matched to [N] */
  double gap_at_rest;     /* expected gap under reference_force [m] */
  double gap_under_all;   /* the same under the weight of all that moves, on one face [m] */
} ModelContact;

/* One item of contact.pairs that says something of two links. */
typedef struct {
  uint64_t key; /* a << 32 | b, a < b */
  int item;
} ModelPairItem;

/* The law that an item of contact.pairs names, with its parameters in force. */
typedef struct {
  ContactModel law;
  int item;
  ModelContact contact;
} ModelPairLaw;

typedef struct {
  const Scene* scene; /* borrowed, or own_scene */
  const Scene* given; /* what own_scene shares its parts with */
  Scene* own_scene;   /* with overridden numbers; NULL without */
  SceneSimulation simulation;
  ContactModel contact_model;
  ModelContact contact;
  ModelLink* links;
  int link_count;
  ModelHull* hulls; /* sorted by link */
  int hull_count;
  int vertex_count;          /* of all hulls */
  int shape_parameter_count; /* of all convex smooth shapes and round solids */
  ModelTree* trees;
  int tree_count;
  ModelController* controllers;
  int controller_count;
  ModelLoad* loads;
  int load_count;
  ModelTendon* tendons;
  int tendon_count, tendon_point_count, tendon_wrap_count; /* points, wraps: of all tendons */
  ModelBushing* bushings;
  int bushing_count;
  ModelClosure* closures;
  int closure_count, closure_row_count; /* rows: of closures, then of couplings */
  ModelCoupling* couplings;
  int coupling_count;
  int singular_closure;        /* whose loop stands in a singular position at the start (Z11); -1: none */
  bool armature;               /* some joint has one */
  int parameter_count;         /* of the signals of all controllers, of all loads, of all tendons */
  int gain_count;              /* of all controllers */
  bool feedback;               /* some controller has one */
  bool feels;                  /* and measures a contact force */
  int delayed_count;           /* measurements of all controllers that have feedback and a delay */
  int dof_count;               /* nv */
  int coordinate_count;        /* nq */
  int* dof_link;               /* link of each degree of freedom (nv) */
  int* link_tree;              /* ModelLink.tree of every link, side by side for loops over pairs  (links) */
  double* initial_coordinates; /* (nq) */
  const double* placed_at;    /* initial coordinates that closures and couplings were placed by, where the run begins in
                                 others; NULL: in these. Borrowed (nq) */
  double* initial_velocities; /* (nv), in the model's own degrees of freedom (ball: link axes) */
  uint64_t* excluded;         /* sorted (a << 32 | b), a < b: link pairs excluded by the user */
  int excluded_count;
  const NumberFile* start;   /* the state that the run begins in, borrowed from the scene; NULL: the initial one */
  int start_step;            /* number of the step that led to it; 0 without */
  bool has_materials;        /* a link or a pair of links has values of its own */
  ModelPairItem* pair_items; /* sorted by key, then item */
  int pair_item_count;
  ModelPairLaw* pair_laws; /* in the order of contact.pairs; none: all pairs have contact_model */
  int pair_law_count;
  char* dropped_note; /* what import did: interior points dropped, hulls thinned with error; one line each, "" if
                         nothing */
} Model;

/* Time of a run's row [s]: rows count from where it begins. Also of rows that no run has: row is not checked.
 * Allocates nothing. */
static inline double model_row_time(const Model* model, int row) {
  return (double)(model->start_step + row) * model->simulation.dt;
}

/* What a state is told from another model's by (model/start.c): a hash of each part, of 4 words. Those before
 * MODEL_ALIKE must be the same for a run to begin in it. */
enum { MODEL_CLOCK, MODEL_TREE, MODEL_HULLS, MODEL_PAIRS, MODEL_ALIKE, MODEL_NUMBERS = MODEL_ALIKE, MODEL_PARTS };
enum { MODEL_IDENTITY = 4 * MODEL_PARTS };
/* words: set, 4 a part. Allocates and frees. Never fails; words of equal models are equal on every machine. */
void model_identity(const Model* model, int64_t words[MODEL_IDENTITY]);

/* Two parallel faces at rest on each other with n_a and n_b vertices, for stiffness 1 (docs/contact-parameters.md). */
typedef struct {
  double gap;       /* D [m] */
  double force;     /* N / kappa */
  double stiffness; /* |d force / d D| [1/m], to order sigma */
} ContactRest;
/* What the contact laws tell the model; contact/laws.c, where they stand in their table, defines these. Is a rest known
 * to the law? Then under a force > 0 (already divided by kappa), or at a gap within its range. support > 0. Of
 * CONTACT_NONE the first law's answer. Cannot fail, allocates nothing. */
bool contact_rests(ContactModel model);
/* Only of a law with rests. force [N] over kappa. Calling it of another law is a NULL call, not asserted. Copied
 * out. */
ContactRest contact_rest_under_force(ContactModel model, double support, int n_a, int n_b, double force);
/* The same at a gap > 0 within the law's range [m]. Calling it of a law without rests is a NULL call, not asserted.
 * Copied out. */
ContactRest contact_rest_at_gap(ContactModel model, double support, int n_a, int n_b, double gap);
/* Force [N] of two bodies that overlap by so much > 0 [m], for stiffness 1; 0: the law knows none. own:
 * ModelContact.own. Cannot fail; nothing is allocated. */
double contact_force_at_overlap(ContactModel model, const double* own, double overlap);
/* Does the law let bodies overlap, so that nothing is certified and a start may overlap, too? Of a law as a whole,
 * whatever the parameters. false for CONTACT_NONE: no error to ask. Allocates nothing. */
bool contact_overlaps(ContactModel model);
/* Does the law take smooth shapes as they are, so that nothing reads the triangles of their surfaces? true for
 * CONTACT_NONE: no error to ask. Allocates nothing. */
bool contact_takes_shapes(ContactModel model);
/* Does the law take round solids as they are? true for CONTACT_NONE: no error to ask. */
bool contact_takes_round(ContactModel model);
/* Has the law friction by direction and static friction? true for CONTACT_NONE: no error to ask. */
bool contact_takes_directions(ContactModel model);
/* Does a shape stand in models of the scene as a round solid (SOLID_ROUND)? It is exact, and all laws of the scene take
 * such. Neither may be NULL; nothing is allocated. (model/solid_round.c) */
bool model_takes_round(const Scene* scene, const SceneShape* shape);
/* Why the law cannot take a piece, as the end of a sentence; NULL: it can. Static text, not to be freed. */
const char* contact_refuses(ContactModel model, const ModelHull* hull);
/* How many parameters of its own a law has. At most CONTACT_OWN_PARAMETERS, the length of `own` below; 0 for
 * CONTACT_NONE, no error. */
int contact_own_count(ContactModel model);
/* They, where nothing is said of them; 0: derived from the scene (model/contact_defaults.c). All of own is set, 0
 * beyond those that the law has. Cannot fail, allocates nothing. */
void contact_own_defaults(ContactModel law, double own[CONTACT_OWN_PARAMETERS]);

/* Build and validate. Reports mesh problems, masses that are not positive, initial coordinates outside limits, initial
 * intersections (both bodies and the depth) and contact parameters that cannot work (warnings). STATUS_BAD_INPUT when
 * any error was told; the model is to be destroyed all the same. The scene is borrowed and must outlive the model,
 * which frees with model_destroy what it owns. */
Status model_create(Model* model, const Scene* scene, Diagnostics* diagnostics);
/* model_create, after bodies that touch others at the start are lifted by the gap at rest (model_lift): with a note
 * that names them. Changes positions of joints in the scene, which then stays as it is: a second call lifts nothing.
 * Errors and status as of model_create. */
Status model_create_lifted(Model* model, Scene* scene, Diagnostics* diagnostics);
/* Frees all that the model owns, also of a half-built one; not the scene. NULL is not accepted; a zeroed model is. */
void model_destroy(Model* model);

/* ---------------------------------------------------------------- other numbers (model/override.c) */

/* A number of a scene that a model takes another value of: what a design moves. */
typedef enum {
  OVERRIDE_VERTEX,     /* part: use of a list of points in the link; index: 3 point + axis  [m] */
  OVERRIDE_ATTACHMENT, /* index: axis of the joint's position  [m] */
  OVERRIDE_CONTROL,    /* part: which of the signals of model_scene_signal; index: as in signal_parameter */
  OVERRIDE_COORDINATE, /* index: in what is said about the link's start */
  OVERRIDE_VELOCITY,
  OVERRIDE_MASS,     /* of the link, or its density where that is given  [kg, kg/m^3] */
  OVERRIDE_CONTACT,  /* index: CONTACT_SUPPORT, ... */
  OVERRIDE_JOINT,    /* part: JOINT_DAMPING, ...; index: degree of freedom of the link's joint */
  OVERRIDE_GRAVITY,  /* index: axis  [m/s^2] */
  OVERRIDE_CENTER,   /* index: axis of the centre of mass, of a link with mass_model given  [m] */
  OVERRIDE_INERTIA,  /* index: of SceneLink.inertia, of such a link  [kg m^2] */
  OVERRIDE_SHAPE,    /* part: use of a convex smooth shape in the link; index: of its parameter (shapes/shapes.h) */
  OVERRIDE_GAIN,     /* part: which of the controllers of the link; index: as in controller_gain */
  OVERRIDE_MATERIAL, /* index: MATERIAL_FRICTION, ... of the link; link -1: of item `part` of contact.pairs; part -1,
                        too: of contact itself */
  OVERRIDE_AXIS,     /* index: component of the joint's first axis; all three together are a unit vector */
  OVERRIDE_ROTATION, /* index: w, x, y, z of the rotation of the joint's frame; together of length 1 */
  OVERRIDE_CLOSURE,  /* part: of the scene's closures; index: CLOSURE_NUMBER_POINT, ... */
  OVERRIDE_TENDON,   /* part: of the scene's tendons; index: TENDON_NUMBER_STIFFNESS, ... */
  OVERRIDE_WRAP,     /* part: of the scene's tendons; index: WRAP_NUMBERS times the wrap + WRAP_NUMBER_RADIUS, ... */
  OVERRIDE_BUSHING,  /* part: of the scene's bushings; index: BUSHING_STIFFNESS, ... */
  OVERRIDE_FLUID,    /* index: FLUID_DENSITY, ... */
  OVERRIDE_RATIO     /* part: of the scene's couplings; index: of its term, from 1; 0: its offset */
} OverrideKind;
/* What a joint has for each of its degrees of freedom. */
enum { JOINT_DAMPING, JOINT_STIFFNESS, JOINT_FRICTION, JOINT_ARMATURE, JOINT_STATIC_FRICTION, JOINT_OWN_COUNT };
/* Numbers of a closure: point and axis have three [m], [1], the axis as long as it likes; length [m]. */
enum { CLOSURE_NUMBER_POINT, CLOSURE_NUMBER_AXIS = 3, CLOSURE_NUMBER_LENGTH = 6, CLOSURE_NUMBERS };
/* Numbers of a tendon: stiffness [N/m], rest length [m], then its points, three each [m]. */
enum { TENDON_NUMBER_STIFFNESS, TENDON_NUMBER_REST, TENDON_NUMBER_POINTS };
/* Numbers of a wrap: radius [m], position [m], axis, as long as it likes. */
enum { WRAP_NUMBER_RADIUS, WRAP_NUMBER_POSITION, WRAP_NUMBER_AXIS = 4, WRAP_NUMBERS = 7 };
typedef struct {
  OverrideKind kind;
  int link, part, index;
  double value;
} ModelOverride;

/* model_create with other numbers, overrides[count]; the scene stays as it is, and must outlive the model. overrides
 * are copied. Status as of model_create. overrides may be NULL when count is 0; the model owns a scene with these
 * numbers. */
Status model_create_with(Model* model, const Scene* given, const ModelOverride* overrides, int count,
                         Diagnostics* diagnostics);
/* The thetas of springs become those of another model of the same scene, so that they count as constants. */
void model_share_spring_thetas(Model* model, const Model* from);
/* Solids of the shapes of a scene, made once for many models of it that have other numbers. */
typedef struct ModelSolids ModelSolids;
/* Owned by the caller, freed by model_solids_destroy. NULL: one cannot be made, of which model_create_with tells why.
 * The scene is only read. */
ModelSolids* model_solids_create(const Scene* scene);
/* Frees the solids, which models made with them do not keep; NULL is accepted. */
void model_solids_destroy(ModelSolids* solids);
/* The same model as model_create_with, with solids of the same scene, which it does not keep; overrides that move
 * shapes have all of them made anew. solids NULL: as model_create_with. */
Status model_create_from(Model* model, const Scene* given, const ModelSolids* solids, const ModelOverride* overrides,
                         int count, Diagnostics* diagnostics);
/* Can model_restart take the place of making it anew, for a run without steps? When all of overrides[count] are
 * OVERRIDE_COORDINATE, the model was made with overrides, and nothing that such a run asks of it follows from where it
 * starts: no closures, couplings, tendons, bushings, kept state, and no law that refuses overlaps. Allocates nothing.
 */
bool model_can_restart(const Model* model, const ModelOverride* overrides, int count);
/* Of a model that model_create_with made without an error: other values, overrides[count], of the same numbers.
 * Afterwards it is what would be made of them, but for contact parameters that follow from the scene. STATUS_BAD_INPUT:
 * a start outside its limits; diagnostics tell. Ownership stays. */
Status model_restart(Model* model, const ModelOverride* overrides, int count, Diagnostics* diagnostics);
/* The scene with these overrides[count], to be written. Shares what is the same, so `given` must outlive it; both are
 * asked for at the end. The caller destroys it with model_scene_destroy; overrides are copied. Never NULL. An override
 * that names no part of the scene is undefined, not checked. */
Scene* model_scene_create(const Scene* given, const ModelOverride* overrides, int count);
/* Frees what it does not share with `given`, which must be there still; NULL is accepted. The same `given` as at
 * model_scene_create, which is not checked. */
void model_scene_destroy(Scene* scene, const Scene* given);
/* Where the number stands in a scene, which is const to those that only look; its part must be there. Borrowed from the
 * scene, in the unit of its kind [m, kg, rad ...]. NULL for a kind that is none. Indices beyond the part are
 * undefined, not checked; not to be freed. */
double* model_scene_number(const Scene* scene, const ModelOverride* override);
/* A signal that acts on a link or its joint. */
typedef struct {
  SceneSignal* signal; /* NULL: there are no more; channels 0: a load or tendon without this part */
  unsigned kind;       /* CONTROL_DRIVES, ... */
  int ordinal;         /* of its controller, load or tendon among the link's */
  int item;            /* index into the scene's controllers, loads or tendons */
} SignalPlace;
/* The number-th of them: targets of controllers first, then force and torque of every load, given or not, then
 * tensions of tendons that end on the link. Borrowed from the scene. signal is NULL when number is too large. scene
 * must not be NULL; nothing is allocated. */
SignalPlace model_scene_signal(const Scene* scene, int link, int number);
/* The scene's index of a link's controller; -1: it has no such one. ordinal: 0 for the link's first one, in the scene's
 * order. No error to ask for one too many. Allocates nothing. */
int model_scene_controller(const Scene* scene, int link, int ordinal);
/* Number of its first parameter in ModelGradient.control. place must name a signal that is there: not checked.
 * Allocates nothing. */
int model_signal_first(const Model* model, SignalPlace place);
/* Another signal of as many channels in the place of one of the model's own; the caller keeps it alive. Parameters of
 * signals are numbered anew. Frees the signal that was there; allocates for splines and integrals. The parameters'
 * number may change: a ModelGradient that was created before is of the wrong size then. */
void model_set_signal(Model* model, SignalPlace place, const SceneSignal* source);
/* All signals begin at this time instead of 0, and with them the joints that they prescribe. time [s]. Sets initial
 * coordinates and velocities of prescribed joints. Cannot fail; nothing is allocated. */
void model_begin_signals(Model* model, double time);
/* What is said about the start of a link's joint; NULL = nothing. Borrowed from the scene. Not to be freed. */
SceneInitial* model_scene_initial(const Scene* scene, int link);
/* May the links' hulls touch? Not: the same link, parent and child, no relative motion, excluded, collide: false.
 * Symmetric in its links. Numbers of links are not checked: undefined beyond link_count. Allocates nothing. */
bool model_pair_allowed(const Model* model, int link_a, int link_b);
/* What the contact of two links has (model/materials.c): of the last item of contact.pairs that says it, else
 * sqrt(value of a  value of b) of the links, else of the one link that has a value, else of contact. Friction along the
 * axis and static friction are friction where a link or an item gives that alone. */
typedef struct {
  double value[MATERIAL_COUNT];
  bool directed; /* friction along the axis is another one */
  int axis_side; /* 0: the axis of link_a, 1: of link_b */
  Vec3 axis;     /* in that link's frame, unit */
} PairMaterial;
/* Largest coefficient of the pair, in any direction and at any speed. By value, cannot fail. */
static inline double pair_largest_friction(const PairMaterial* material) {
  const double* v = material->value;
  double directed = fmax(v[MATERIAL_FRICTION], v[MATERIAL_FRICTION_ALONG]);
  return v[MATERIAL_FRICTION] > 0 ? directed * fmax(1, v[MATERIAL_STATIC_FRICTION] / v[MATERIAL_FRICTION]) : directed;
}
/* Friction and restitution without unit, rolling and spinning in m. By value, links in either order. Numbers of
 * links are not checked: undefined beyond link_count. */
PairMaterial model_pair_material(const Model* model, int link_a, int link_b);
/* Which of Model.pair_laws two links have: that of the last item of contact.pairs that names a law for them; -1: that
 * of contact. Symmetric in its links; always -1 where no item names a law. Numbers of links beyond link_count are no
 * error here: -1. Allocates nothing. */
int model_pair_law(const Model* model, int link_a, int link_b);
/* The scene's items of contact.pairs with the support and stiffness that their laws have in the model, derived ones
 * too: they stay what they are, however the scene changes. scene: of the same items, not const in them. Changes numbers
 * of `scene` alone, and allocates nothing. Cannot fail. */
void model_fix_pairs(const Model* model, Scene* scene);
/* Largest of all that occur, whether the links ever meet or not. which: MATERIAL_FRICTION, ... Any other number is
 * undefined, not checked. Allocates nothing. */
double model_largest_material(const Model* model, int which);
/* Warnings about given contact parameters that cannot work; called by model_create. Adds warnings only, so no status
 * changes. Allocates for the time of the call, never fails. */
void model_check_contact(const Model* model, Diagnostics* diagnostics);

/* Pairs of links that intersect or touch at the start: what model_create refuses, and works on a model that was refused
 * for it. Returns their number; *pairs is owned by the caller. (model/checks.c) */
typedef struct {
  int a, b;     /* links */
  double depth; /* m; 0: they touch, no more */
} ModelTouch;
/* Freed with memory_free; never NULL, even for none. Returns how many. Does not fail where bodies overlap: it tells
 * of these, too. */
int model_touching(const Model* model, ModelTouch** pairs);
/* Lifts bodies that touch others at the start, or intersect them by at most `deepest` [m], against gravity by that
 * depth and the gap at rest: the upper one of two, along what its root's joint lets it do. Bodies that this does not
 * free stay where they are. Moves positions of joints of the scene and builds the model again, which may be one that
 * model_create refused. Adds to names, such as "box 0.0005 m, ball 0.001 m". Returns whether any was lifted; none
 * without gravity. (model/lift.c) */
bool model_lift(Model* model, Scene* scene, double deepest, Text* names);

/* Rewrite the model's own scene so that every hull is a list of points (model/expand.c): hull k of a link is its shape
 * use k, with keep_interior and in the link's frame, and contact parameters are the model's numbers. Half-spaces stay
 * as they are. The shapes that the lists stand for stay, marked as replaced. The model built from it is the same.
 * Allocates in the scene, which frees it with the rest. Never fails. */
void model_expand_shapes(const Model* model, Scene* scene);

/* Acceleration of gravity that a link feels [m/s^2]. World axes; link is not checked, undefined beyond link_count.
 * By value. */
static inline Vec3 model_link_gravity(const Model* model, int link) {
  return vec3_scale(model->simulation.gravity, 1 - model->links[link].gravity_compensation);
}
/* Energy of the joints' springs at coordinates q[nq] [J] (docs/derivations/drives.md, M4). 0 without springs; no
 * allocation. Cannot fail. */
double model_spring_energy(const Model* model, const double* q);
/* Elastic energy of stretched tendons, sum stiffness/2 (length - rest length)^2 [J] (model/tendons.c). poses
 * (links). 0 without tendons. Cannot fail, allocates nothing. */
double model_tendon_energy(const Model* model, const Pose* poses);
/* World pose of a bushing's frame on a (side 0) or b (side 1). poses[links]. By value; another side is undefined. */
Pose bushing_frame(const SceneBushing* bushing, int side, const Pose* poses);
/* (L18) Sets u: translation [m] and rotation vector [rad], |.| <= pi, of b's frame in a's. poses[links]. Allocates
 * nothing, cannot fail; at a rotation by pi the vector jumps. */
void bushing_difference(const SceneBushing* bushing, const Pose* poses, double u[6]);
/* The rotation [rad] of u if anything of the bushing acts against rotations, else 0. Cannot fail. */
double bushing_rotation(const SceneBushing* bushing, const double u[6]);
/* Sets out = matrix v. No error. */
void bushing_times(const double (*matrix)[6], const double v[6], double out[6]);
/* u . K u / 2 - preload . u of one bushing [J]. poses[links]. Cannot fail; allocates nothing. */
double bushing_energy(const SceneBushing* bushing, const Pose* poses);
/* Sum of bushing_energy over all bushings [J]; 0 without bushings. poses[links]. */
double model_bushing_energy(const Model* model, const Pose* poses);
/* (L16) model/fields.c; poses[links]; load: one with a field, not checked. By value, nothing is allocated. */
FieldPlace field_place(const Model* model, const ModelLoad* load, const Pose* poses);
/* By value; not finite where the points coincide and no softening is given. */
FieldEnergy field_slope(const SceneField* field, const FieldPlace* at);
/* Change of the slopes while d, u, v change by way: the Hessian times way; its energy is the change of the energy. */
FieldEnergy field_product(const SceneField* field, const FieldPlace* at, const FieldEnergy* way);
/* Potential energy of all fields of constant strength [J]; 0 without fields. poses: (links). Allocates nothing. */
double model_field_energy(const Model* model, const Pose* poses);
/* Point of a tendon in the world [m]. poses[links]. The point's link must be one of them: not checked. By value. */
static inline Vec3 tendon_point(const SceneTendonPoint* point, const Pose* poses) {
  return point->link < 0 ? point->point : pose_apply(poses[point->link], point->point);
}
/* Between neighbouring points that are `apart`, from b to a [m]: the length l(|apart|), which is |apart| from `eyelet`
 * on and smooth below, its slope by `apart` and the slope's slope, symmetric and not negative [1/m] (L5). */
typedef struct {
  double length;
  Vec3 slope;
  Mat3 curvature;
} TendonPiece;
/* Points that coincide, with eyelet 0: slope and curvature are zero. apart and eyelet in m; the slope has no unit and
 * is at most of length 1. An eyelet below 0 is an error of the caller, not checked. By value. */
TendonPiece tendon_piece(Vec3 apart, double eyelet);
/* The way from a to b round a wrap (L8). Derivatives by a and b are those with the wrap held; they turn with it. */
typedef struct {
  bool touches;            /* false: the straight way is free, nothing else is set */
  double length;           /* m */
  double by_radius;        /* its slope: the angle of the part on the solid, seen along the way */
  Vec3 slope[2];           /* by a and by b, world axes */
  Mat3 curvature[3];       /* a a, b b, a b: slopes of these [1/m] */
  Vec3 slope_by_radius[2]; /* of slope [1/m] */
} TendonWrap;
/* pose: of the wrap's link, identity for the world; a, b: ends in the world [m], outside the solid. By value; wrap must
 * not be NULL. Allocates nothing, cannot fail: an end within the solid counts as on it. */
TendonWrap tendon_wrap(const SceneTendonWrap* wrap, Pose pose, Vec3 a, Vec3 b);
/* Pose of the wrap's link; identity for the world. poses: (links). By value. */
static inline Pose tendon_wrap_pose(const SceneTendonWrap* wrap, const Pose* poses) {
  return wrap->link < 0 ? pose_identity() : poses[wrap->link];
}
/* Its length [m], and how far it is stretched beyond its rest length: 0 where it is loose or has no stiffness. poses
 * (links). Cannot fail, allocates nothing. */
double tendon_length(const SceneTendon* tendon, const Pose* poses);
/* length: of tendon_length [m]. [m] Never below 0; cannot fail, allocates nothing. */
double tendon_stretch(const SceneTendon* tendon, double length);
/* Of a closure's side in the world, from poses[links]. side 0 or 1: another one is undefined. By value, [m]. */
static inline Pose model_closure_pose(const ModelClosure* closure, int side, const Pose* poses) {
  return closure->link[side] < 0 ? pose_identity() : poses[closure->link[side]];
}
/* Ends and directions of all closures from the initial coordinates, which have changed (model/closures.c). Allocates
 * and frees. Cannot fail: a closure that is open then is told of by sim_create. */
void model_place_closures(Model* model);
/* Both ends of a closure [m] and its axis, in the world at the start; axis: unit, or zero where there is none. */
typedef struct {
  Vec3 end[2], axis;
} ClosureStart;
/* at: poses of its sides at the start (model_closure_pose). World axes [m]; where source has no point, the origin of
 * side a is meant. By value; source and both poses must not be NULL. */
ClosureStart model_closure_start(const SceneClosure* source, const Pose at[2]);
/* Where the force of a load acts, in the link's frame [m]. load must not be NULL. By value, nothing is allocated. */
static inline Vec3 model_load_point(const Model* model, const ModelLoad* load) {
  return load->at_center ? model->links[load->link].center : load->point;
}

/* ---------------------------------------------------------------- kinematics (model/kinematics.c) */
/* World poses of all links (link_count). q: all coordinates (nq). Set, parents first; world frame [m]. poses must
 * have room for all of them. Cannot fail, allocates nothing; a quaternion in q is taken as of unit length. */
void model_poses(const Model* model, const double* q, Pose* poses);
/* Of link i, whose parent's stands in poses already. poses[i] alone is set. i below link_count, not checked.
 * Allocates nothing. */
void model_link_pose(const Model* model, int i, const double* q, Pose* poses);
/* out = q moved by fraction * increments, joint by joint (nv -> nq); out may be q. increments[nv] in m and rad, q and
 * out[nq]. out is the caller's own. Cannot fail; quaternions stay of unit length to rounding. */
void model_increment(const Model* model, const double* q, const double* increments, double fraction, double* out);
/* Of link i and of the links that carry it, up to `from`, whose pose is set (-1: all of them), moved by fraction *
 * increments from q as model_increment does; the others' poses stay as they are. q (nq), increments (nv); `there` (nq):
 * the caller's room, of which these links' coordinates are set. Cannot fail; allocates nothing. */
void model_link_way(const Model* model, int i, int from, const double* q, const double* increments, double fraction,
                    double* there, Pose* poses);

/* All screws at the configuration q[nq], with poses[links] of model_poses. screws[nv]: set, world axes, numbered as
 * degrees of freedom. Room is the caller's own. Cannot fail. */
void model_screws(const Model* model, const double* q, const Pose* poses, Screw* screws);
/* Those of link i, at q[nq] and poses[links]. Only its own dof_count of screws[nv] are set, from dof_first on. Nothing
 * is set for a link without degrees of freedom, no error. Allocates nothing. */
void model_link_screws(const Model* model, int i, const double* q, const Pose* poses, Screw* screws);

/* ---------------------------------------------------------------- the clamped barrier
 * P_s(c) = (c - s)^4 / c^5 for 0 < c < s, else 0 (SDRS Eq. 7), in units of s. With z = c / s:
 *   P_s = Q(z) / s,  P_s' = Q'(z) / s^2,  P_s'' = Q''(z) / s^3,                                                (C2)
 *   Q(z) = (1-z)^4 z^-5,  Q'(z) = -(1-z)^3 (5-z) z^-6,  Q''(z) = 2 (1-z)^2 (z^2 - 10 z + 15) z^-7.
 * Q is three times continuously differentiable at z = 1. docs/derivations/contact.md */
typedef struct {
  double value, first, second;
} Barrier;

/* z in (0, 1). Undefined at 0 and below, where hulls meet; not asserted. By value. */
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
  CONTACT_OWN, /* the first of the law's own */
  CONTACT_PARAMETER_COUNT = CONTACT_OWN + CONTACT_OWN_PARAMETERS
};

/* Derivatives of a scalar with respect to all that a model holds and a run starts from. */
typedef struct {
  Vec3* vertices;     /* hull vertices in their link's frame  [1/m]  (vertices) */
  Vec3* attachments;  /* joint origins in the parent's frame  [1/m]  (links) */
  Vec3* turns;        /* turns of joint frames about their own axes and origins  (links) */
  Vec3* axes;         /* turns of the joints' axes alone, in the joint frame's axes  (links) */
  bool without_turns; /* nobody reads these two: they stay 0. Set by the owner; clearing keeps it */
  double* mass;       /* total masses at fixed distribution  [1/kg]  (links) */
  double* control;    /* parameters of signals of controllers, loads, tendons (parameters) */
  double contact[CONTACT_PARAMETER_COUNT]; /* support, stiffness, friction, smoothing, rest speed, own */
  double (*joint)[JOINT_OWN_COUNT];        /* JOINT_DAMPING, ... of the joints  (nv) */
  Vec3 gravity;                            /* world axes  [s^2/m] */
  double fluid[FLUID_NUMBERS];             /* of Scene.fluid, by its numbers */
  Vec3* center;                            /* centre of mass of links with mass_model given  [1/m]  (links) */
  double (*inertia)[6];                    /* SceneLink.inertia of such links  [1/(kg m^2)]  (links) */
  double (*material)[MATERIAL_NUMBERS];    /* of contact (but friction, which stands above), of every link, of every
                                              item of contact.pairs: model_material_row  (1 + links + items) */
  double* shapes;                          /* parameters of convex smooth shapes (shape parameters) */
  double* gains;                           /* of all controllers, one after the other (gains) */
  double (*closures)[CLOSURE_NUMBERS];     /* point, axis, length of every closure, as the scene has them  (closures) */
  double (*tendons)[2];                    /* stiffness, rest length of every tendon  (tendons) */
  Vec3* tendon_points;                     /* in their links' frames  (tendon points) */
  double (*tendon_wraps)[WRAP_NUMBERS];    /* of every wrap of the tendons  (tendon wraps) */
  double (*bushings)[BUSHING_NUMBERS];     /* of every bushing, BUSHING_STIFFNESS ...  (bushings) */
  double (*ratios)[COUPLING_TERMS]; /* of terms of couplings; the first: of an offset that is given  (couplings) */
  double* coordinates;              /* initial coordinates, as increments of joint_increment  (nv) */
  double* velocities;               /* initial velocities  (nv) */
  MassMoment* moment; /* entry by entry; model_gradient_masses turns it into vertices, mass, center  (links) */
} ModelGradient;

/* Allocates all arrays of the size that models with these links, hulls, signals and scene items have, zeroed. The
 * caller frees them with model_gradient_destroy. Never fails; NULL is not accepted for either. */
void model_gradient_create(ModelGradient* gradient, const Model* model);
/* Frees the arrays; accepts a zeroed gradient. NULL is not accepted. */
void model_gradient_destroy(ModelGradient* gradient);
/* All zero again; allocates nothing. model must be the one, or of the same numbers, that it was created for: not
 * checked. */
void model_gradient_clear(ModelGradient* gradient, const Model* model);
/* By a number of a tendon (TENDON_NUMBER_STIFFNESS, ...). index: as in ModelOverride.index of OVERRIDE_TENDON.
 * Indices beyond are undefined, not checked. Allocates nothing. */
double model_gradient_tendon(const Model* model, const ModelGradient* gradient, int tendon, int index);
/* By a number of a wrap. index: as in ModelOverride.index of OVERRIDE_WRAP, not checked. Allocates nothing. */
static inline double model_gradient_wrap(const Model* model, const ModelGradient* gradient, int tendon, int index) {
  return gradient->tendon_wraps[model->tendons[tendon].wrap_first + index / WRAP_NUMBERS][index % WRAP_NUMBERS];
}
/* Row of ModelGradient.material of a link; link -1: of an item of contact.pairs; item -1, too: of contact. */
static inline int model_material_row(const Model* model, int link, int item) {
  return link >= 0 ? 1 + link : item >= 0 ? 1 + model->link_count + item : 0;
}
/* Adds the derivatives by the values of a pair of links to those by what the values come from. Where a link of two that
 * have a value has 0 the derivative by it is infinite; nothing is added. by: in 1 / the unit of each value. Cannot
 * fail, allocates nothing. */
void model_gradient_material(const Model* model, int link_a, int link_b, const double by[MATERIAL_COUNT],
                             ModelGradient* gradient);
/* Adds the derivatives by what one of Model.pair_laws has to itself (MATERIAL_SUPPORT [m], MATERIAL_STIFFNESS,
 * MATERIAL_OWN + k; the rest of `by` is 0) to its item's row. pair_law must be below Model.pair_law_count: not checked,
 * undefined beyond. Allocates nothing. */
void model_gradient_pair_law(const Model* model, int pair_law, const double by[MATERIAL_NUMBERS],
                             ModelGradient* gradient);
/* For a scalar that grows by bar . (change of ModelLink.center): adds to `moment`, or for a link without mass, whose
 * centre is the middle of its hulls' boxes, to the vertices that bound these. bar: link frame [1/m]; added. Nothing
 * is added for a link without hulls and mass, no error. Allocates nothing. */
void model_gradient_center(const Model* model, int link, Vec3 bar, ModelGradient* gradient);
/* Spend `moment`: S depends on the vertices by the link's mass model, and on its mass (docs/derivations/adjoint.md,
 * A9). Leaves `moment` zero; links without mass are passed over. Allocates for the time of the call; cannot fail. */
void model_gradient_masses(const Model* model, ModelGradient* gradient);
/* After it: what is said of the vertices of convex smooth shapes, said of their parameters (`shapes`). Added to
 * `shapes`; nothing for other hulls. Allocates for the time of the call; cannot fail. */
void model_gradient_shapes(const Model* model, ModelGradient* gradient);

#endif
