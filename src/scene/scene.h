/* scene: what the user wrote, read from YAML or JSON through one schema table, with a place for every message.
 * A Scene owns everything it points to; scene_free accepts a zeroed or half-read scene.
 * Repeats are expanded and names resolved to indices here; meshes are read by model/. SI units, radians, z up. */
#ifndef SDRS_SCENE_H
#define SDRS_SCENE_H

#include "decompose/decompose.h"
#include "joint/joint.h"
#include "shapes/shapes.h"

typedef enum {
  SHAPE_BOX,            /* size */
  SHAPE_SPHERE,         /* radius, resolution (icosphere level 0..6) */
  SHAPE_CYLINDER,       /* radius, length, segments; axis z */
  SHAPE_CAPSULE,        /* radius, length (straight part), segments; axis z */
  SHAPE_WHEEL,          /* radius, width, rim: two circles with a radius about them; axis z */
  SHAPE_DISC,           /* radius, rim: one circle with a radius about it; axis z */
  SHAPE_CONE,           /* bottom_radius, top_radius, length: two circles; axis z */
  SHAPE_ROUNDED_BOX,    /* radius, size (extent of the 96-point link shape) */
  SHAPE_POINTS,         /* points: hull of a list */
  SHAPE_MESH,           /* file, scale, and hulls (whole | groups), max_vertices or decompose */
  SHAPE_HEIGHT_FIELD,   /* file (PNG, CSV), size, origin, base */
  SHAPE_HALF_SPACE,     /* normal, offset: the solid { x : normal . x <= offset }, fixed or kinematic links only */
  SHAPE_SUPERELLIPSOID, /* from here on smooth shapes (shapes/shapes.h), resolution: smooth */
  SHAPE_SUPERELLIPTIC_CYLINDER,
  SHAPE_TRUNCATED_CONE,
  SHAPE_SMOOTH_POLYTOPE,
  SHAPE_SUPERQUADRIC,
  SHAPE_ORIENTED_POINTS, /* points, normals, radius */
  SHAPE_UNION,           /* parts, smoothing */
  SHAPE_SUBTRACTION,
} ShapeType;

/* A shape placed in a link's frame, or in that of a union. */
typedef struct {
  int shape; /* index into Scene.shapes */
  SourcePlace place;
  Vec3 position;
  Quat rotation;
} SceneShapeUse;

/* What holds neighbouring blocks of a grid together while they are designed. */
typedef enum {
  TIE_CORNERS, /* the corners that they have in common */
  TIE_VERTEX,  /* one vertex in the middle of their common face */
  TIE_NONE,
} HullTie;

typedef struct {
  char* name; /* "" for a shape written inside a link */
  SourcePlace place;
  ShapeType type;
  Vec3 size;
  double radius, length;
  double width, rim;                /* WHEEL, DISC [m] */
  double bottom_radius, top_radius; /* CONE [m] */
  int resolution, segments;
  bool exact; /* round solids: neither is given, so contact may take the solid itself, not the polyhedron in it */
  Vec3* points;
  int point_count;
  bool keep_interior; /* POINTS: points inside the hull stay vertices (they weigh, and may come out in a design) */
  char* file;         /* resolved against the scene file's folder */
  double scale;
  bool hull_per_group;
  bool triangles;   /* MESH: the pieces are its triangles; POINTS: every three points are one */
  bool orient_fix;  /* MESH with triangles: those of the repaired surface, closed and outward */
  int max_vertices; /* 0 = keep all */
  HullTie tie;      /* of a grid's blocks, while their vertices are designed */
  bool decompose;   /* into hulls that cover the mesh, by these options */
  DecomposeOptions decomposition;
  Vec3 origin;          /* HEIGHT_FIELD: of the middle at height 0 [m] */
  double base;          /* thickness below the lowest point [m]; 0: derived */
  Vec3 normal;          /* as written; not necessarily unit */
  double offset;        /* m along the unit normal */
  SmoothForm smooth;    /* of a convex smooth shape */
  double (*faces)[4];   /* SMOOTH_POLYTOPE: those of `smooth` */
  Vec3* normals;        /* ORIENTED_POINTS, of any length but zero (point_count) */
  double smoothing;     /* UNION, SUBTRACTION [m] */
  SceneShapeUse* parts; /* UNION, SUBTRACTION (part_count) */
  int part_count;
  /* Of a scene that was expanded (model_expand_shapes): */
  bool replaced;   /* lists of points stand in its place */
  bool decomposed; /* POINTS: a hull of a decomposed mesh */
} SceneShape;

/* Is the surface smooth? And is it one convex shape, with parameters of its own? shape must not be NULL; nothing is
 * allocated. */
static inline bool shape_is_smooth(const SceneShape* shape) { return shape->type >= SHAPE_SUPERELLIPSOID; }
/* Is it one level function, and no union or subtraction? shape must not be NULL; nothing is allocated. */
static inline bool shape_is_convex_smooth(const SceneShape* shape) {
  return shape->type >= SHAPE_SUPERELLIPSOID && shape->type <= SHAPE_SUPERQUADRIC;
}
/* Is it a round solid that contact may take as it is? shape must not be NULL; nothing is allocated. */
static inline bool shape_is_exact(const SceneShape* shape) {
  return shape->exact && shape->type >= SHAPE_SPHERE && shape->type <= SHAPE_CONE;
}
/* Lengths of a round solid, in the order of its parameters: value at most three; the count is returned, 0 of others.
 * shape must not be NULL. Pointers into the shape. (scene/round.c) */
int shape_round_lengths(SceneShape* shape, double* lengths[3]);
/* Numbers of a shape that a design may change: those of its form (shapes/shapes.h), or the lengths of a round solid
 * that is exact. 0 of all others. shape must not be NULL; nothing is allocated. (scene/round.c) */
int scene_shape_number_count(const SceneShape* shape);

typedef enum { LIMIT_BARRIER, LIMIT_PENALTY } LimitLaw;

typedef struct {
  SourcePlace place;
  JointType type;
  Vec3 position; /* origin of the joint frame in the parent's link frame (world for a root) [m] */
  Quat rotation; /* joint frame at zero coordinates */
  Vec3 axes[2];  /* in the joint frame; unit after reading (zero is an error) */
  unsigned free_axes;
  double parameters[JOINT_MAX_PARAMETER]; /* of the type, see JOINT_NUMBER_ROWS */
  bool limited[JOINT_MAX_DOF]; /* per scalar dof; a ball: its total angle, swing, twist, in the slots of its rotations
                                */
  double lower[JOINT_MAX_DOF], upper[JOINT_MAX_DOF]; /* m or rad; -INFINITY / INFINITY when one-sided */
  LimitLaw limit_law;
  double limit_stiffness;                /* barrier: J; penalty: N/m or N m/rad; see docs */
  double limit_margin;                   /* m or rad: where the limit begins to be felt */
  double limit_restitution;              /* 0 ... 1: part of its speed that a coordinate leaves its limit with */
  double damping[JOINT_MAX_DOF];         /* N s/m or N m s/rad, >= 0 */
  double stiffness[JOINT_MAX_DOF];       /* N/m or N m/rad, >= 0, towards `rest` [m or rad] */
  double rest[JOINT_MAX_DOF];            /* a quaternion: rotation vector */
  double friction[JOINT_MAX_DOF];        /* dry, N or N m, >= 0; not of a quaternion, and so are armatures */
  double armature[JOINT_MAX_DOF];        /* inertia of what turns with the coordinate alone, kg or kg m^2, >= 0 */
  double friction_speed;                 /* width of friction's smoothing [m/s or rad/s] */
  double static_friction[JOINT_MAX_DOF]; /* dry at rest, N or N m, >= friction; 0: friction at any rate */
  double stribeck_speed;                 /* rate over which static_friction falls to friction [m/s or rad/s] */
  double velocity_limit[JOINT_MAX_DOF];  /* m/s or rad/s; 0 = none; told, not enforced */
} SceneJoint;

/* What a link, or a pair of links, is made of as contact feels it (contact.pairs); support and stiffness only of pairs
 * that name a law. */
enum {
  MATERIAL_FRICTION,
  MATERIAL_RESTITUTION,
  MATERIAL_ROLLING,
  MATERIAL_SPINNING,
  MATERIAL_FRICTION_ALONG, /* of links alone: MATERIAL_FRICTION then is that across */
  MATERIAL_STATIC_FRICTION,
  MATERIAL_STRIBECK_SPEED,
  MATERIAL_SUPPORT,
  MATERIAL_STIFFNESS,
  MATERIAL_COUNT
};
/* Most parameters that a contact law may have to itself. */
enum { CONTACT_OWN_PARAMETERS = 8 };
/* Numbers of an item of contact.pairs: behind those above its law's own (MATERIAL_OWN + their index). */
enum { MATERIAL_OWN = MATERIAL_COUNT, MATERIAL_NUMBERS = MATERIAL_OWN + CONTACT_OWN_PARAMETERS };
typedef struct {
  bool given[MATERIAL_COUNT]; /* what nothing is said of comes from elsewhere (model_pair_material) */
  double value[MATERIAL_COUNT];
  Vec3 axis; /* MATERIAL_FRICTION_ALONG: its direction in the link's frame, unit */
} SceneMaterial;
/* which: MATERIAL_FRICTION ... MATERIAL_STIFFNESS. Constant. "friction_along" is no key: it stands in a list of
 * `friction`. */
const char* material_key(int which); /* "friction", ... */

/* MASS_BY_SHAPE, the default of links without an inertia, is no model of its own: the model of the scene makes it
 * MASS_UNIFORM where the shapes enclose a volume, else MASS_VERTICES (ModelLink.mass_model). */
typedef enum { MASS_VERTICES, MASS_UNIFORM, MASS_GIVEN, MASS_MODELS, MASS_BY_SHAPE = MASS_MODELS } MassModel;
/* The word of `mass_model` in a scene. Constant; model is below MASS_MODELS. */
const char* mass_model_word(MassModel model); /* "vertices", ... */

typedef struct {
  char* name;
  SourcePlace place;
  int parent; /* index of an earlier link, or -1 = world */
  SceneJoint joint;
  SceneShapeUse* shapes;
  int shape_count;
  bool has_mass, has_density;
  double mass;    /* kg, total */
  double density; /* kg/m^3 of the sum of hull volumes */
  MassModel mass_model;
  Vec3 center;                 /* MASS_GIVEN: centre of mass, link frame */
  double inertia[6];           /* MASS_GIVEN: ixx iyy izz ixy ixz iyz about the centre of mass */
  bool fixed;                  /* welded to its parent (world for a root): a joint of type fixed */
  bool collide;                /* false: takes part in no contact */
  double gravity_compensation; /* part of its weight that is taken off; the parent's where nothing is said */
  SceneMaterial material;
  int (*ties)[4]; /* vertices that are one: shape use a, its vertex, use b, its vertex (tie_count); NULL: not told */
  int tie_count;
  char** groups; /* names for contact.exclude and contact.pairs */
  int group_count;
  double color[3]; /* sRGB 0..1; negative = choose from the palette */
} SceneLink;

/* ---- signals: a vector of channels over time, one channel per dof of the joint they drive */
typedef enum {
  SIGNAL_CONSTANT,
  SIGNAL_KEYFRAMES,
  SIGNAL_SPLINE,
  SIGNAL_SINES,
  SIGNAL_SEQUENCE,
  SIGNAL_HELD
} SignalType;

typedef struct {
  SignalType type;
  SourcePlace place;
  int channels;
  /* CONSTANT: values[channel].  KEYFRAMES (linear between) and SPLINE (natural cubic through the knots): times[knot],
   * values[knot * channels + channel], held constant outside.  SINES: values[channel] is the offset; term k of channel
   * c adds amplitude sin(2 pi frequency t + phase) at [c * terms + k], times what `ramp` makes of it.  SEQUENCE:
   * values[row * channels + channel], row k held at t = k * interval, linear between, last row held.  HELD: the same
   * rows, row k from after k * interval to (k + 1) * interval, the last one held; of a program that drives a joint step
   * by step, never of a file. */
  double* times;
  double* values;
  int rows; /* knots or rows; 1 for CONSTANT and SINES */
  int terms;
  double *amplitude, *frequency, *phase; /* m or rad, Hz, rad     (channels * terms) */
  double interval;                       /* SEQUENCE, HELD: s between rows */
  double ramp;                           /* SINES: they grow to their size over so long; 0: they have it at once [s] */
  bool integrated; /* these are rates: the signal's value is their integral from t = 0 (not of splines) */
  char* file;      /* CSV file that times and values were read from; NULL: they stand in the scene */
} SceneSignal;

/* A number that the state has at the start of a step, for feedback (docs/derivations/feedback.md, E1). */
typedef enum {
  MEASURE_COORDINATE, /* index: of a slide or an angle of the link's joint [m, rad] */
  MEASURE_RATE,       /* of the same [m/s, rad/s] */
  MEASURE_POSITION,   /* index: world axis; of the origin of the link's frame [m] */
  MEASURE_CENTER,     /* of its centre of mass [m] */
  MEASURE_VELOCITY,   /* of the same [m/s] */
  MEASURE_TURN,       /* its angular velocity [rad/s] */
  MEASURE_FORCE,      /* index: world axis; of contact and friction on it, over the step before [N] */
  MEASURE_AXIS        /* index: 3 link axis + world axis; of that axis of the link */
} MeasureKind;
typedef struct {
  char* name; /* "pole/angle/rate", as written; owned */
  MeasureKind kind;
  int link, index;
} SceneMeasure;

typedef enum {
  CONTROLLER_PD,         /* spring and damper to the target and its rate */
  CONTROLLER_PRESCRIBED, /* the joint follows the signal exactly: a kinematic link */
  CONTROLLER_TORQUE,     /* the signal is the force or torque */
  CONTROLLER_VELOCITY    /* damper to a rate, which the signal is */
} ControllerType;

/* How feedback makes its numbers from measurements (docs/derivations/feedback.md, E2, E7). */
typedef enum { FEEDBACK_MATRIX, FEEDBACK_MLP } FeedbackType;
/* Most hidden layers of a network, and most numbers of a layer or measurements. */
enum { MLP_HIDDEN_MAX = 4, MLP_WIDTH_MAX = 128 };

typedef struct {
  SourcePlace place;
  ControllerType type;
  int link;
  double position_gain[JOINT_MAX_DOF]; /* N/m or N m/rad, >= 0 */
  double velocity_gain[JOINT_MAX_DOF]; /* N s^2/m or N m s^2/rad, >= 0: the force is gain / dt times the rate error */
  double damping_gain[JOINT_MAX_DOF];  /* N s/m or N m s/rad, >= 0: the force is gain times the rate error */
  double max_force[JOINT_MAX_DOF];     /* N or N m; 0 = no limit */
  double limit_width;                  /* half the width of max_force's smooth corner, a part of it */
  SceneSignal target;     /* channels = dof of the joint; for a ball: rotation vector [rad], of velocity the
                             angular velocity in the link's axes */
  SceneMeasure* measures; /* the target grows by the feedback of these; none: NULL  (measure_count) */
  int measure_count;
  FeedbackType feedback_type;
  int hidden[MLP_HIDDEN_MAX], hidden_count; /* MLP: neurons of each hidden layer */
  double scale;                             /* MLP: its outputs are multiplied by this, in the unit of the target */
  double* feedback; /* matrix: row by row; MLP: of each layer the weights row by row, then the biases; owned
                       (controller_feedback_count) */
  double delay;     /* the target is that of so long ago [s] */
} SceneController;

/* Numbers of a controller besides its signal, in this order: the delay, a gain of each kind for every degree of
 * freedom, the numbers of its feedback. */
typedef enum {
  GAIN_DELAY,
  GAIN_POSITION,
  GAIN_VELOCITY,
  GAIN_DAMPING,
  GAIN_MAX_FORCE,
  GAIN_FEEDBACK,
  GAIN_KINDS
} GainKind;
typedef struct {
  GainKind kind;
  int index; /* degree of freedom, or number of the feedback */
} Gain;
/* How many numbers its feedback has: dof x measure_count of a matrix; of a network weights and biases. 0 without
 * feedback. Allocates nothing, never fails. */
int controller_feedback_count(const SceneController* controller);
/* Number of parameters of a controller besides its signal: 1 + 4 dof + controller_feedback_count. Allocates nothing,
 * never fails. */
int controller_gain_count(const SceneController* controller);
/* The index-th of them; index < controller_gain_count, asserted. Copied out. */
Gain controller_gain(const SceneController* controller, int index);
/* Where the index-th of them stands in the controller, which owns it, to be read or written, in the unit of its field;
 * index < controller_gain_count, asserted. */
double* controller_gain_value(SceneController* controller, int index);
/* Does another value mean a little more or less of it? Not where the type of drive has none, nor where a limit or a
 * delay is none at all. index as of controller_gain. false is no error. Allocates nothing. */
bool controller_gain_lives(const SceneController* controller, int index);

/* A field: force and torque at a distance on a link, and the reaction on the other (docs/derivations/loads.md, L16). */
typedef enum { FIELD_NONE, FIELD_POINT, FIELD_DIPOLE, FIELD_UNIFORM } FieldType;
typedef struct {
  FieldType type;
  int to;           /* the other link; -1 = world */
  bool has_at;      /* false: the other's centre of mass; the origin of the world */
  Vec3 at;          /* in the other's frame [m] */
  double power;     /* point: the force is strength x distance^-power */
  double softening; /* point [m] */
  Vec3 axis;        /* dipole, uniform: of the link's own dipole, unit, its frame */
  Vec3 other;       /* dipole: the other's moment, its frame [A m^2]; uniform: flux density, world axes [T] */
} SceneField;

/* Force and torque on a link, or a field. */
typedef struct {
  SourcePlace place;
  int link;
  bool link_axes;            /* both in the link's axes, and turn with it; else in the world's */
  bool has_point;            /* false: the force acts at the centre of mass */
  Vec3 point;                /* where the force acts, link frame [m] */
  SceneSignal force, torque; /* three channels [N], [N m]; none (0) where there is none */
  SceneField field;          /* `force` is then its strength, one channel [N m^power, A m^2] */
} SceneLoad;

/* A coordinate of a joint in a sum. */
typedef struct {
  int link, coordinate; /* a plain coordinate of its joint */
  double ratio;
} SceneCouplingTerm;

/* A cord that pulls its points together (docs/derivations/loads.md, L5). */
typedef struct {
  int link;   /* -1 = world */
  Vec3 point; /* in its frame [m] */
  int wrap;   /* number of the wrap between it and the next point, from 1; 0 = none */
} SceneTendonPoint;
/* A solid that the tendon bends round between two neighbouring points if it is in the way (L8). */
typedef enum { WRAP_CYLINDER, WRAP_SPHERE } WrapType;
typedef struct {
  SourcePlace place;
  WrapType type;
  int link;      /* -1 = world */
  int after;     /* the point in front of it */
  double radius; /* m */
  Vec3 position; /* of the centre, in the link's frame [m] */
  Vec3 axis;     /* of the cylinder, which has no ends; unit as read */
  bool has_side; /* else the tendon takes the shorter path */
  Vec3 side;     /* a point that it passes on the side of, in the link's frame [m] */
} SceneTendonWrap;
typedef struct {
  SourcePlace place;
  SceneTendonPoint* points;
  int count;              /* at least two; 0: `joints` make the length */
  SceneTendonWrap* wraps; /* owned, at most one between two points  (wrap_count) */
  int wrap_count;
  int end;                   /* the last link it passes: the one that its tension belongs to */
  SceneSignal tension;       /* one channel [N]; none (0) where there is none */
  double stiffness;          /* N/m; 0 = it has none */
  double rest_length;        /* below it the cord hangs loose [m] */
  double eyelet;             /* where two neighbouring points are nearer their pull fades [m]; 0 = nowhere */
  SceneCouplingTerm* joints; /* owned: the length is sum ratio q; NULL: that of the points  (joint_count) */
  int joint_count;
  bool limited;           /* the length has limits, which are penalties (L94); else the five below are 0 */
  double lower, upper;    /* m; infinite: none */
  double range_stiffness; /* N/m */
  double range_margin;    /* m */
  double range_damping;   /* N s/m */
} SceneTendon;

/* Spring and damper in all six directions between a frame of link a and one of link b (docs/derivations/loads.md, L18).
 * u = (translation, rotation vector) of b's frame in a's, a's axes [m, rad]. */
typedef struct {
  SourcePlace place;
  int link[2];            /* a; b, -1 = world */
  Vec3 position[2];       /* of the frames in their links' frames [m] */
  Quat rotation[2];       /* alike */
  double stiffness[6][6]; /* symmetric, not negative [N/m, N, N m/rad] */
  double damping[6][6];   /* alike [N s/m, N s, N m s/rad] */
  double preload[6];      /* force and torque on b while u = 0, a's axes [N, N m] */
} SceneBushing;
/* Numbers of a bushing: diagonals of stiffness and damping, preload, positions on a and b [m]. */
enum {
  BUSHING_STIFFNESS,
  BUSHING_DAMPING = 6,
  BUSHING_PRELOAD = 12,
  BUSHING_POSITION_A = 18,
  BUSHING_POSITION_B = 21,
  BUSHING_NUMBERS = 24
};

/* What holds two links of a closed loop together (docs/derivations/closures.md). */
typedef enum { CLOSURE_WELD, CLOSURE_BALL, CLOSURE_HINGE, CLOSURE_SLIDE, CLOSURE_DISTANCE } ClosureType;

typedef struct {
  SourcePlace place;
  ClosureType type;
  int a, b; /* links; b: -1 = world */
  bool has_point, has_axis;
  bool link_axes;     /* point and axis stand in a's frame, not in the world at the start */
  Vec3 point;         /* [m] */
  Vec3 axis;          /* unit, as read */
  double length;      /* of distance; 0 = as far as the ends are apart [m] */
  double break_force; /* N; 0 = it never breaks */
  SceneSignal active; /* one channel: it holds in steps that begin at 1/2 or more; none (0): always */
} SceneClosure;

/* A coordinate of a joint that follows from others: q_0 = sum ratio_k q_k + offset, k = 1 ... */
typedef struct {
  SourcePlace place;
  SceneCouplingTerm* terms; /* ratio 1 of the first */
  int count;
  bool has_offset; /* else what they have at the start */
  double offset;   /* m or rad */
} SceneCoupling;

/* What signals act on: targets of controllers, forces and torques of loads, tensions of tendons. Bits. */
enum { CONTROL_DRIVES = 1, CONTROL_FORCES = 2, CONTROL_TORQUES = 4, CONTROL_TENSIONS = 8, CONTROL_SIGNALS = 15 };

/* Initial coordinates and velocities of one joint. */
typedef struct {
  SourcePlace place;
  int link;
  bool has_coordinates, has_velocities;
  double coordinates[JOINT_MAX_COORDINATE]; /* slides, angles; quaternion w x y z for three rotations */
  double velocities[JOINT_MAX_DOF];         /* m/s, rad/s; three rotations: angular velocity in link axes */
} SceneInitial;

typedef enum { INTEGRATOR_FIRST_ORDER, INTEGRATOR_SECOND_ORDER, INTEGRATOR_MOMENTUM } Integrator;
/* After `none` the contact laws in the order of their table (contact/laws.c). */
typedef enum {
  CONTACT_NONE,
  CONTACT_SEPARATING_PLANE,
  CONTACT_LONG_RANGE,
  CONTACT_IPC,
  CONTACT_PENALTY,
  CONTACT_MANIFOLD,
} ContactModel;
/* The word of `contact.model`; contact/laws.c defines it. Constant; "none" for CONTACT_NONE. Never NULL, not to be
 * freed. */
const char* contact_model_name(ContactModel model);
/* Has the law such a key of contact, beside those of all? none has those of separating_plane. key must not be NULL;
 * nothing is allocated. */
bool contact_law_has(ContactModel law, const char* key);
typedef struct {
  double dt; /* s */
  int steps;
  Vec3 gravity; /* m/s^2 */
  Integrator integrator;
  double tolerance; /* imbalance of a step relative to the forces at work */
  SourcePlace tolerance_place;
  double force_tolerance; /* N: imbalance that is always allowed; 0 = none */
  int max_iterations;
  bool certificate;
  int record_every; /* steps between rows of the CSV files */
  unsigned output;  /* OUTPUT_..., files of the run folder that are written only when asked for */
  int substeps;     /* equal parts that every step is taken in; below 1 counts as 1 */
} SceneSimulation;

/* The fluid around all links (docs/derivations/fluid.md). */
typedef struct {
  SourcePlace place;
  bool given;
  double density;   /* kg/m^3 */
  double viscosity; /* Pa s */
  Vec3 velocity;    /* world axes [m/s] */
  bool has_level;   /* it ends at a surface; else it is everywhere */
  double level;     /* height of the surface above the world's origin, against gravity [m] */
} SceneFluid;
/* Of its numbers, for derivatives: density, viscosity, three of the velocity, level. */
enum { FLUID_DENSITY, FLUID_VISCOSITY, FLUID_VELOCITY, FLUID_LEVEL = FLUID_VELOCITY + 3, FLUID_NUMBERS };

/* The state of a recorded run that this one begins in. */
typedef struct {
  SourcePlace place;
  char* run;         /* its folder; NULL: the run begins as `initial` says */
  double time;       /* of the state [s] */
  NumberFile* state; /* the file of it, which simulate/start.c makes and reads; NULL alike */
} SceneStart;
/* The kind of such files, where they stand in a run folder, and one that was kept at the end of a step. */
#define STATE_KIND "state"
#define STATE_FOLDER "states"
/* <run>/<STATE_FOLDER>/<step>, the file of the state after so many steps; freed by the caller with memory_free.
 * Nothing is looked up, this never fails. */
char* scene_state_path(const char* run, int step);

/* What a run leaves only when it is asked for it: two files, and columns of contacts.csv. Bits, in the order of the
 * words of simulation.output. */
enum {
  OUTPUT_VELOCITIES = 1,
  OUTPUT_FORCES = 2,
  OUTPUT_CONTACT_POINTS = 4,
  OUTPUT_CLOSURES = 8,
  OUTPUT_PRESSURE = 16,
  OUTPUT_REACTIONS = 32,
  OUTPUT_IMU = 64
};
#define OUTPUT_WORDS "velocities|forces|contact_points|closures|pressure|reactions|imu"

/* Most equal parts that a scene may ask for, and that a step that fails is tried in. */
enum { SUBSTEPS_MAX = 64, SUBSTEPS_FINEST = 512 };
static inline int simulation_substeps(const SceneSimulation* simulation) {
  return simulation->substeps > 1 ? simulation->substeps : 1;
}
/* The length that the solver's steps have, as a rule [s]. Copied out; never fails for a scene that was read without
 * an error. */
static inline double simulation_substep(const SceneSimulation* simulation) {
  return simulation->dt / simulation_substeps(simulation);
}

/* Of every link named a against every link named b, links or groups. */
typedef struct {
  SourcePlace place;
  char* name[2];
  SceneMaterial material;
  bool has_model;
  ContactModel model; /* the law between them; else that of contact */
  /* What the law has to itself; what is not given is that of contact where the law is the same, else its default. */
  bool own_given[CONTACT_OWN_PARAMETERS], hierarchy_given;
  double own[CONTACT_OWN_PARAMETERS];
  bool hierarchy; /* as SceneContact.hierarchy */
} ScenePair;

typedef struct {
  SourcePlace place;
  ContactModel model;
  /* 0 = not given: derived from the scene by model/contact_defaults.c */
  double support;                     /* s, m */
  double stiffness;                   /* kappa */
  double friction;                    /* Coulomb coefficient >= 0 */
  double rolling, spinning;           /* m, >= 0 */
  double static_friction;             /* Coulomb coefficient at rest; 0: friction at any speed */
  double stribeck_speed;              /* slip over which static friction falls to friction [m/s] */
  double smoothing;                   /* epsilon, (m/s)^2 */
  int friction_iterations;            /* of the force that friction rests on; 0: that of the step before */
  double rest_speed;                  /* m/s */
  double own[CONTACT_OWN_PARAMETERS]; /* of the law alone */
  double restitution;
  bool elastic;   /* restitution: null, the bare barrier */
  bool hierarchy; /* of bounding spheres; else the sum over all pairs of pieces */
  SourcePlace support_place, stiffness_place, smoothing_place;
  char* (*exclude)[2]; /* pairs of link or group names */
  SourcePlace* exclude_place;
  int exclude_count;
  ScenePair* pairs; /* of several that say the same of two links the last one counts */
  int pair_count;
} SceneContact;

typedef struct {
  char* path; /* as given; every SourcePlace.file points here */
  char* name;
  char sha256[65]; /* of the file's bytes */
  char** files;    /* that were included; SourcePlace.file of what they hold */
  int file_count;
  char** sources; /* "--set ..." texts of the overrides; the SourcePlace.file of values they set */
  int source_count;
  int threads;  /* for what takes long when a model is made from it; 0 = 1. Set by who has read the scene */
  bool undrawn; /* nobody looks at triangles of smooth shapes: where the law does not either, they are left out.
                   Likewise */
  SceneSimulation simulation;
  SceneContact contact;
  SceneShape* shapes;
  int shape_count;
  SceneLink* links;
  int link_count;
  SceneController* controllers;
  int controller_count;
  SceneLoad* loads;
  int load_count;
  SceneTendon* tendons;
  int tendon_count;
  SceneBushing* bushings;
  int bushing_count;
  SceneClosure* closures;
  int closure_count;
  SceneCoupling* couplings;
  int coupling_count;
  SceneInitial* initials;
  int initial_count;
  SceneFluid fluid;
  SceneStart start;
  double* keep_states; /* times at which the run's state is kept [s]  (keep_state_count) */
  int keep_state_count;
} Scene;
/* The run is to begin in a state that is at hand, which the scene takes over; what it had before is freed. NULL: as
 * `initial` says. A state goes with the scene (scene_free), its time [s] is read from it. */
void scene_set_start(Scene* scene, NumberFile* state);

/* One `--set path.to.key=value` of the command line. Path parts: keys, list indices, or the `name`/`link` of a list
 * item (`links.box.mass`). The value is read as YAML. */
typedef struct {
  const char* text; /* "contact.friction=0.2" */
} SceneOverride;

/* Read, override, check. Every problem goes to diagnostics; STATUS_BAD_INPUT when there was an error, STATUS_IO when
 * the file cannot be read. The caller frees with scene_free in any case. The format is taken from the extension: .json
 * is JSON, everything else YAML. *scene is overwritten, never read; overrides[override_count] are copied and may be
 * NULL for none. SI units afterwards, whatever was written; repeats are expanded, names resolved. */
Status scene_load(Scene* scene, const char* path, const SceneOverride* overrides, int override_count,
                  Diagnostics* diagnostics);
/* The same from memory; json selects the format; `path` names the text in messages and anchors relative paths. text:
 * `length` bytes and a NUL behind them; it is not kept. STATUS_BAD_INPUT and freeing as of scene_load. Never
 * STATUS_IO for the text itself; files that it includes are read. */
Status scene_parse(Scene* scene, const char* path, const char* text, size_t length, bool json,
                   const SceneOverride* overrides, int override_count, Diagnostics* diagnostics);
/* Frees all that the scene points to and zeroes it; accepts a zeroed or half-read one, and may be called twice. NULL
 * is not accepted. */
void scene_free(Scene* scene);

/* How a joint moves: its degrees of freedom, coordinates and their names, as its type, axes and parameters say. A
 * value that owns nothing. Never fails: a type that is none was an error of reading. */
Joint scene_joint(const SceneJoint* joint);
/* Degrees of freedom of the joint: 0 ... JOINT_MAX_DOF. Allocates nothing, never fails. */
int scene_joint_dof(const SceneJoint* joint);
/* Names of the stored coordinates for column headers: "angle", "position", "x", "qw", "rz", ...; "" for others.
 * Constant. index: 0 ... coordinate_count - 1 of scene_joint. Never NULL, not to be freed. */
const char* scene_joint_coordinate_name(const SceneJoint* joint, int index);

/* Draft-07 JSON Schema, from the same table that drives the reader. Appended to the caller's text, as the two below;
 * never fails. Text that the caller frees. */
void scene_schema_json(Text* out);
/* docs/scene-format.md, from the same table. Never fails; the text is the caller's own. */
void scene_schema_markdown(Text* out);
/* The manual page sdrs-scene(5), from the same table. Never fails; the text is the caller's own. */
void scene_schema_man(Text* out);

/* A robot in URDF or MJCF as a scene, with what import does where nothing is said; defined in robot/import.c, where
 * such files are read. Errors and warnings go to diagnostics; scene is zeroed, to be freed in any case. SI units, as
 * in the files. Nothing is returned: errors are counted in diagnostics. Allocates what the scene owns. */
void scene_read_robot(Scene* scene, const char* path, Diagnostics* diagnostics);

/* ---------------------------------------------------------------- what every maker of scenes keeps to */

#define LINK_MAX 20000
/* Bytes of a name as written. */
#define NAME_MAX_LENGTH 200
/* Names become column headers and file names: the character that must not be in one, borrowed from it, or NULL.
 * Control characters too. Allocates nothing. */
const char* name_bad_character(const char* name);
/* True when a name begins or ends with a blank, or begins with a dot; it must not be empty. Not for the empty text,
 * whose last character is asked for. The empty text is undefined. Allocates nothing. */
bool name_is_blank(const char* name);
/* True when ixx iyy izz ixy ixz iyz [kg m^2] is positive definite. False for NaN. Six numbers, not NULL; nothing is
 * allocated. */
bool inertia_is_positive(const double inertia[6]);
/* True when no principal moment of ixx iyy izz ixy ixz iyz [kg m^2] is larger than the sum of the two others, up to
 * rounding. False for NaN. Six numbers, not NULL; nothing is allocated. */
bool inertia_of_a_body(const double inertia[6]);
/* Width of a dry friction's smoothing where nothing is said [m/s or rad/s]; the schema has it as a text. */
#define FRICTION_SPEED_DEFAULT 1e-4
/* Of SceneController.limit_width. */
#define LIMIT_WIDTH_DEFAULT 0.05
/* Margin of a tendon's limits that says none [m]. Infinite limits count as none. */
double scene_tendon_margin(double lower, double upper);
/* Strength and margin as they are when only the limits are given. Sets limit_law (barrier), limit_stiffness [J] and
 * limit_margin [m or rad] alone. Called again it sets the same; never fails, allocates nothing. */
void joint_default_limits(SceneJoint* joint);
/* Unit vectors and quaternions are left as they are when their length is this near to 1, so that a number written out
 * reads back to the same bits: above the rounding of a few products, far below what anybody types. length: of the
 * vector or quaternion, without unit. False for NaN. Nothing is allocated. */
bool is_unit(double length);
/* v / |v| for every finite v, those whose squares are no doubles too; zero stays zero. A vector that is of length 1
 * to rounding comes back bit for bit. By value; a vector that is not finite gives NaN, no error. */
Vec3 unit_vector(Vec3 v);

/* Contact parameters as numbers: what was derived for a model (ModelContact) is kept when its scene is written.
 * support [m], stiffness in the law's unit, smoothing [(m/s)^2]. Nothing is checked here, an error is the next
 * reader's to tell. Allocates nothing. */
void scene_give_contact(Scene* scene, double support, double stiffness, double smoothing);
/* The scene as YAML that reads back to the same model, bit for bit: what an optimized design is handed over as. Paths
 * of meshes are written relative to `folder`. Appended to the caller's text; the scene is only read. `folder` must
 * be that of the file it is written to. Never fails; allocates for the time of the call. */
void scene_write_yaml(const Scene* scene, const char* folder, Text* out);
/* The wrap between a point and the next one, NULL: none. point below count - 1, not checked. Borrowed. */
static inline const SceneTendonWrap* scene_tendon_wrap(const SceneTendon* tendon, int point) {
  int wrap = tendon->points[point].wrap;
  return wrap > 0 ? &tendon->wraps[wrap - 1] : NULL;
}
/* The eyelet of a tendon that says none [m]. A part of the mean distance of its points from their frames' origins.
 * 0 without points. Allocates nothing. */
double scene_tendon_eyelet(const SceneTendon* tendon);

#endif
