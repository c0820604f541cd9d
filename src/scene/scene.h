/* scene: the contents of a scene file (YAML or JSON). The reader expands repeats and resolves names to indices; model/
 * reads the meshes. Each object stores its position in the file for messages. A Scene owns everything that it points
 * to. scene_free accepts a zeroed or partly read scene. SI units, radians, z up. */
#ifndef SDRS_SCENE_H
#define SDRS_SCENE_H

#include "decompose/decompose.h"
#include "joint/joint.h"
#include "shapes/shapes.h"

typedef enum {
  SHAPE_BOX,            /* keys: size */
  SHAPE_SPHERE,         /* keys: radius, resolution (number of subdivisions of an icosahedron, 0..6) */
  SHAPE_CYLINDER,       /* keys: radius, length, segments; axis z */
  SHAPE_CAPSULE,        /* keys: radius, length (straight part), segments; axis z */
  SHAPE_WHEEL,          /* keys: radius, width, rim; hull of two circles, rounded by the radius `rim`; axis z */
  SHAPE_DISC,           /* keys: radius, rim; hull of one circle, rounded by the radius `rim`; axis z */
  SHAPE_CONE,           /* keys: bottom_radius, top_radius, length; hull of two circles; axis z */
  SHAPE_ROUNDED_BOX,    /* keys: radius, size (distances between the centres of the corners, some of which may be 0),
                           segments */
  SHAPE_ROUNDED_POINTS, /* keys: radius, points, segments; all positions within `radius` of the points' convex hull */
  SHAPE_POINTS,         /* key: points; convex hull of a list of points */
  SHAPE_MESH,           /* keys: file, scale, and hulls (whole | groups), max_vertices or decompose */
  SHAPE_HEIGHT_FIELD,   /* keys: file (PNG, CSV), size, origin, base */
  SHAPE_HALF_SPACE, /* keys: normal, offset; all points x with normal . x <= offset; only for fixed or kinematic links
                     */
  SHAPE_SUPERELLIPSOID, /* this type and all following: smooth shapes (shapes/shapes.h) */
  SHAPE_SUPERELLIPTIC_CYLINDER,
  SHAPE_TRUNCATED_CONE,
  SHAPE_SMOOTH_POLYTOPE,
  SHAPE_SUPERQUADRIC,
  SHAPE_ORIENTED_POINTS, /* keys: points, normals, radius */
  SHAPE_UNION,           /* keys: parts, smoothing */
  SHAPE_SUBTRACTION,
} ShapeType;

/* A shape placed in the frame of a link or of a union. */
typedef struct {
  int shape; /* index of the placed shape in Scene.shapes */
  SourcePosition place;
  Vec3 position;
  Quat rotation;
} SceneShapeUse;

/* Constraint that keeps neighbouring blocks of a grid of hulls connected when a design moves their vertices. */
typedef enum {
  TIE_CORNERS, /* the hulls share their common corners */
  TIE_VERTEX,  /* the hulls share one vertex in the middle of their common face */
  TIE_NONE,
} HullTie;

typedef struct {
  char* name; /* "" for a shape written inside a link */
  SourcePosition place;
  ShapeType type;
  Vec3 size;
  double radius, length;
  double width, rim;                /* for WHEEL and DISC: width, and radius of the rounded edge [m] */
  double bottom_radius, top_radius; /* for CONE: radii of the two circles [m] */
  int resolution, segments;
  bool exact; /* round solids: true if the scene gives neither segments nor resolution, so that contact may use the
                 exact solid instead of a polyhedron */
  Vec3* points;
  int point_count;
  bool keep_interior; /* POINTS: true: points inside the hull remain vertices; they carry mass, and a design may move
                         them out of the hull */
  char* file;         /* path, resolved relative to the folder of the scene file */
  double scale;
  bool hull_per_group;
  bool triangles;   /* MESH: each triangle is a piece; POINTS: every three points are one piece */
  bool orient_fix;  /* MESH with triangles: true: uses the repaired surface, closed and oriented outward */
  int max_vertices; /* largest number of vertices of each hull of a mesh; 0: hulls keep all vertices */
  HullTie tie;      /* constraint between the blocks of a grid */
  bool decompose;   /* true: convex hulls that cover the mesh replace the mesh */
  DecomposeOptions decomposition;
  Vec3 origin;   /* for HEIGHT_FIELD: position of the middle of the field at height 0 [m] */
  double base;   /* for HEIGHT_FIELD: thickness of the solid below the lowest point [m]; 0: the reader derives the
                    thickness */
  Vec3 normal;   /* for HALF_SPACE: outward normal as the scene gives it, not necessarily a unit vector */
  double offset; /* for HALF_SPACE: distance of the boundary plane from the frame's origin along the unit normal [m] */
  ShapeDefinition smooth; /* function phi that defines a convex smooth shape as the points z with phi(z) <= 0 */
  double (*faces)[4];     /* for SMOOTH_POLYTOPE: the faces that `smooth` points to */
  Vec3* normals;          /* for ORIENTED_POINTS: normals, of any length except zero (size: point_count) */
  double smoothing;       /* for UNION and SUBTRACTION: smoothing length [m] */
  SceneShapeUse* parts;   /* for UNION and SUBTRACTION: the combined shapes (size: part_count) */
  int part_count;
  /* Members that model_expand_shapes sets when it replaces a shape by shapes of type POINTS: */
  bool replaced;   /* true: shapes of type POINTS replace this shape */
  bool decomposed; /* for POINTS, true: the shape is a hull of a decomposed mesh */
} SceneShape;

/* Returns true for a smooth shape: the points z with phi(z) <= 0 for one or several smooth functions phi
 * (shapes/shapes.h). shape: not NULL. Allocates nothing. */
static inline bool shape_is_smooth(const SceneShape* shape) { return shape->type >= SHAPE_SUPERELLIPSOID; }
/* Returns true for a convex smooth shape: the points z with phi(z) <= 0 for one smooth function phi. Returns false for
 * a union or subtraction. shape must not be NULL. Allocates nothing. */
static inline bool shape_is_convex_smooth(const SceneShape* shape) {
  return shape->type >= SHAPE_SUPERELLIPSOID && shape->type <= SHAPE_SUPERQUADRIC;
}
/* Returns true for a round solid that contact uses exactly, not as a polyhedron. shape: not NULL. Allocates nothing. */
static inline bool shape_is_exact(const SceneShape* shape) {
  return shape->exact && shape->type >= SHAPE_SPHERE && shape->type <= SHAPE_ROUNDED_POINTS;
}
enum { ROUND_PARAMETERS_MAX = 4 };
/* Sets lengths[] to pointers to the lengths of a round solid [m], such as its radius. The pointers point into *shape.
 * Returns the number of lengths, 0 for other shapes. The size of a rounded box may be 0 along an axis. shape: not NULL.
 */
int scene_shape_round_lengths(SceneShape* shape, double* lengths[ROUND_PARAMETERS_MAX]);
/* Returns the number of parameters of a shape that can be design variables. They are the parameters of the function
 * that defines a convex smooth shape, or the lengths of an exact round solid. Returns 0 for other shapes. shape: not
 * NULL. Allocates nothing. */
int scene_shape_parameter_count(const SceneShape* shape);

typedef enum { LIMIT_BARRIER, LIMIT_PENALTY } LimitLaw;

typedef struct {
  char* name; /* owned by the joint; NULL: the scene gives no name */
  SourcePosition place;
  JointType type;
  Vec3 position; /* origin of the joint frame in the parent's link frame (world for a root) [m] */
  Quat rotation; /* orientation of the joint frame in the parent's link frame at zero coordinates */
  Vec3 axes[2];  /* unit vectors of the joint axes, in the joint frame; reading a zero vector is an error */
  unsigned free_axes;
  double parameters[JOINT_MAX_PARAMETER]; /* parameters of the joint type (JOINT_PARAMETER_ROWS) */
  bool limited[JOINT_MAX_DOF]; /* one entry per scalar degree of freedom; a ball joint limits its total angle, swing and
                                  twist in the entries of its three rotations */
  double lower[JOINT_MAX_DOF], upper[JOINT_MAX_DOF]; /* lower and upper limit [m or rad]; -INFINITY or INFINITY if there
                                                        is no limit on that side */
  LimitLaw limit_law;
  double limit_stiffness; /* stiffness of the limit force. Unit with the law barrier: J; with the law penalty: N/m or N
                             m/rad (docs/derivations/drives.md) */
  double limit_margin;    /* distance from the limit at which its force begins [m or rad] */
  double limit_restitution;        /* fraction of its speed that a coordinate keeps when it leaves the limit, 0 to 1 */
  double damping[JOINT_MAX_DOF];   /* viscous damping of each degree of freedom [N s/m or N m s/rad], >= 0 */
  double stiffness[JOINT_MAX_DOF]; /* stiffness of the spring towards `rest` [N/m or N m/rad], >= 0 */
  double rest[JOINT_MAX_DOF];      /* equilibrium of the springs [m or rad]; for a quaternion a rotation vector */
  double friction[JOINT_MAX_DOF];  /* Coulomb friction [N or N m], >= 0; 0 for the rotations of a quaternion */
  double armature[JOINT_MAX_DOF]; /* rotor inertia: inertia that moves with this coordinate only [kg or kg m^2], >= 0 */
  double friction_speed;          /* speed over which friction is smoothed [m/s or rad/s] */
  double static_friction[JOINT_MAX_DOF]; /* static friction [N or N m], >= friction; 0: friction at any rate */
  double stribeck_speed;                 /* rate over which static_friction falls to friction [m/s or rad/s] */
  double velocity_limit[JOINT_MAX_DOF];  /* velocity limit that is reported, not enforced [m/s or rad/s]; 0: none */
} SceneJoint;

/* Indices of the material values of a link, or of a pair of links in contact.pairs. MATERIAL_SUPPORT and
 * MATERIAL_STIFFNESS exist only for a pair that has its own contact law. */
enum {
  MATERIAL_FRICTION,
  MATERIAL_RESTITUTION,
  MATERIAL_ROLLING,
  MATERIAL_SPINNING,
  MATERIAL_FRICTION_ALONG, /* friction coefficient along SceneMaterial.axis; MATERIAL_FRICTION is then the coefficient
                              across this axis */
  MATERIAL_STATIC_FRICTION,
  MATERIAL_STRIBECK_SPEED,
  MATERIAL_SUPPORT,
  MATERIAL_STIFFNESS,
  MATERIAL_COUNT
};
/* Largest number of parameters that only one contact law has. */
enum { CONTACT_LAW_PARAMETERS_MAX = 8 };
/* Indices of the numbers of an item of contact.pairs: first the material values, then the parameters of the
 * item's contact law. Parameter k of the law has the index MATERIAL_LAW_PARAMETER + k. */
enum {
  MATERIAL_LAW_PARAMETER = MATERIAL_COUNT,
  MATERIAL_NUMBERS = MATERIAL_LAW_PARAMETER + CONTACT_LAW_PARAMETERS_MAX
};
typedef struct {
  bool given[MATERIAL_COUNT]; /* false: model_pair_material derives the value from the links or the scene */
  double value[MATERIAL_COUNT];
  Vec3 axis; /* direction to which MATERIAL_FRICTION_ALONG belongs, unit vector in the frame of the link. For a pair it
                is in the frame of the first link */
} SceneMaterial;
/* Returns the key of a material value in scene files, such as "friction". The text is static. which: MATERIAL_FRICTION
 * ... MATERIAL_STIFFNESS (asserted). "friction_along" is not a key of a file, because this value is the first of two
 * numbers of the key `friction`. */
const char* material_value_key(int which);

/* Distribution of the mass of a link. MASS_BY_SHAPE, the default without an inertia, means MASS_UNIFORM if the shapes
 * enclose a volume, otherwise MASS_VERTICES (ModelLink.mass_model). */
typedef enum { MASS_VERTICES, MASS_UNIFORM, MASS_GIVEN, MASS_MODELS, MASS_BY_SHAPE = MASS_MODELS } MassModel;
/* Returns the name of a mass model in scene files, such as "vertices". The text is static. model < MASS_MODELS
 * (asserted). */
const char* mass_model_name(MassModel model);

typedef struct {
  char* name;
  SourcePosition place;
  int parent; /* index of the parent link, which is earlier in Scene.links; -1: the world is the parent */
  SceneJoint joint;
  SceneShapeUse* shapes;
  int shape_count;
  bool has_mass, has_density;
  double mass;    /* total mass of the link [kg] */
  double density; /* mass divided by the sum of the hull volumes [kg/m^3] */
  MassModel mass_model;
  Vec3 center;       /* for MASS_GIVEN: centre of mass, link frame [m] */
  double inertia[6]; /* for MASS_GIVEN: inertia tensor ixx iyy izz ixy ixz iyz about the centre of mass [kg m^2] */
  bool fixed;        /* the link is welded to its parent (a root to the world) by a joint of type fixed */
  bool collide;      /* false: the link has no contact */
  double gravity_compensation; /* fraction of the link's weight that an upward force cancels; default: the value of the
                                  parent link */
  SceneMaterial material;
  int (*ties)[4]; /* pairs of vertices that coincide: {shape use a, vertex of a, shape use b, vertex of b} (tie_count);
                     NULL: not given */
  int tie_count;
  char** groups; /* names of groups, used in contact.exclude and contact.pairs */
  int group_count;
  double color[3]; /* colour of the link, red, green and blue in sRGB from 0 to 1; negative: the colour is taken from a
                      palette */
} SceneLink;

/* A signal: a vector of channels over time. The signal of a joint's drive has one channel per degree of freedom. */
typedef enum {
  SIGNAL_CONSTANT,
  SIGNAL_KEYFRAMES,
  SIGNAL_SPLINE,
  SIGNAL_SINES,
  SIGNAL_SEQUENCE,
  SIGNAL_ZERO_ORDER_HOLD
} SignalType;

typedef struct {
  SignalType type;
  SourcePosition place;
  int channels;
  /* Layout of the arrays by type: CONSTANT: values[channel]. KEYFRAMES (linear interpolation) and SPLINE (natural cubic
   * spline): times[knot], values[knot * channels + channel]. Before the first and after the last knot the value is
   * constant. SINES: values[channel] is the offset. Term k of channel c adds amplitude sin(2 pi frequency t + phase),
   * multiplied by the factor of `ramp`. The index in each array is c * terms + k. SEQUENCE: values[row * channels +
   * channel] at t = row * interval, with linear interpolation. After the last row the value is constant.
   * ZERO_ORDER_HOLD: values[row * channels + channel] from after row * interval to (row + 1) * interval. The last row
   * also applies later. Programs that drive a joint step by step use this type; files do not. */
  double* times;
  double* values;
  int rows; /* number of knots or rows; 1 for CONSTANT and SINES */
  int terms;
  double *amplitude, *frequency, *phase; /* amplitude [m or rad], frequency [Hz], phase [rad] (channels * terms) */
  double interval;                       /* SEQUENCE, ZERO_ORDER_HOLD: time between rows [s] */
  double ramp;                           /* SINES: time over which the terms grow to full amplitude; 0: none [s] */
  bool integrated; /* true: the channels are rates, and the signal is their integral from t = 0 (not for splines) */
  char* file;      /* CSV file with times and values; NULL: they are given in the scene */
} SceneSignal;

/* A quantity of a link that a feedback law measures at the start of a step (docs/derivations/feedback.md, E1). */
typedef enum {
  MEASURE_COORDINATE,       /* index: number of the scalar coordinate of the link's joint [m, rad] */
  MEASURE_RATE,             /* rate of the same coordinate [m/s, rad/s] */
  MEASURE_POSITION,         /* position of the link frame's origin; index: world axis [m] */
  MEASURE_CENTER,           /* position of the centre of mass [m] */
  MEASURE_VELOCITY,         /* velocity of the centre of mass [m/s] */
  MEASURE_ANGULAR_VELOCITY, /* angular velocity of the link [rad/s] */
  MEASURE_FORCE,            /* contact and friction force on the link in the previous step; index: world axis [N] */
  MEASURE_AXIS              /* direction of a link axis; index: 3 link axis + world axis */
} MeasureKind;
typedef struct {
  char* name; /* "pole/angle/rate", as written; owned */
  MeasureKind kind;
  int link, index;
} SceneMeasure;

typedef enum {
  CONTROLLER_PD,         /* spring and damper towards the target and its rate */
  CONTROLLER_PRESCRIBED, /* the joint follows the signal exactly, so that its link is kinematic */
  CONTROLLER_TORQUE,     /* the target signal is the force or torque [N, N m] */
  CONTROLLER_VELOCITY    /* damper towards the target signal, which is a rate */
} ControllerType;

/* Type of a feedback law (docs/derivations/feedback.md, E2, E7). */
typedef enum { FEEDBACK_MATRIX, FEEDBACK_MLP } FeedbackType;
/* Size limits of a feedback network: number of hidden layers, and number of neurons or measurements in a layer. */
enum { MLP_HIDDEN_MAX = 4, MLP_WIDTH_MAX = 128 };

typedef struct {
  SourcePosition place;
  ControllerType type;
  int link;
  double position_gain[JOINT_MAX_DOF]; /* gain on the position error [N/m or N m/rad], >= 0 */
  double velocity_gain[JOINT_MAX_DOF]; /* gain on the rate error [N s^2/m or N m s^2/rad], >= 0. The force is gain / dt
                                          times the rate error */
  double damping_gain[JOINT_MAX_DOF];  /* gain on the rate error [N s/m or N m s/rad], >= 0. The force is the gain times
                                          the rate error */
  double max_force[JOINT_MAX_DOF];     /* largest force or torque of the drive [N or N m]; 0 = no limit */
  double limit_width; /* half width of the smoothed corner at the force limit, as a fraction of max_force */
  SceneSignal target; /* one channel per degree of freedom. Ball joint: a rotation vector [rad], with type velocity the
                         angular velocity in link axes [rad/s] */
  SceneMeasure* measures; /* measurements of the feedback law, whose output is added to the target; NULL: no feedback
 (size: measure_count) */
  int measure_count;
  FeedbackType feedback_type;
  /* for FEEDBACK_MLP, a neural network: number of neurons in each hidden layer */
  int hidden[MLP_HIDDEN_MAX], hidden_count;
  double scale;     /* for FEEDBACK_MLP: factor by which the outputs of the network are multiplied, in the unit of the
                       target */
  double* feedback; /* coefficients of the feedback law, owned (controller_feedback_count). MATRIX: row by row. MLP: for
                       each layer the weights row by row, then the biases */
  double delay;     /* the target at time t is the signal at t - delay [s] */
} SceneController;

/* Kinds of a controller's parameters. The parameters of its signal do not count. Their order is the delay, then for
 * each gain one value per degree of freedom, then the coefficients of the feedback law. */
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
  int index; /* degree of freedom, or index of a coefficient of the feedback law */
} Gain;
/* Returns the number of coefficients of the feedback law. The number is dof x measure_count for a matrix, the count of
 * weights and biases for a network, and 0 without feedback. Allocates nothing, cannot fail. */
int controller_feedback_count(const SceneController* controller);
/* Returns the number of a controller's parameters, not counting its signal. The number is 1 + 4 dof +
 * controller_feedback_count. Allocates nothing, cannot fail. */
int controller_gain_count(const SceneController* controller);
/* Returns the kind of a controller's parameter and its index within this kind. index: 0 ... controller_gain_count - 1
 * (asserted). */
Gain controller_gain_at(const SceneController* controller, int index);
/* Returns a pointer to the value of a controller's parameter, in the unit of the struct's member. The controller owns
 * the value. index: 0 ... controller_gain_count - 1 (asserted). */
double* controller_gain_value(SceneController* controller, int index);
/* Returns true if a small change of a controller's parameter changes its force. Returns false for a parameter that the
 * controller's type does not use, and for a force limit or a delay of 0. index: 0 ... controller_gain_count - 1
 * (asserted). Allocates nothing. */
bool controller_gain_has_effect(const SceneController* controller, int index);

/* A field, such as a magnet's: a force and torque that act on a link at a distance. The opposite force and torque act
 * on another link (docs/derivations/loads.md, L16). */
typedef enum { FIELD_NONE, FIELD_POINT, FIELD_DIPOLE, FIELD_UNIFORM } FieldType;
typedef struct {
  FieldType type;
  int to;           /* index of the link that creates the field; -1: the world creates it */
  bool has_at;      /* false: the field's source is at the centre of mass of link `to`, or at the origin of the world */
  Vec3 at;          /* position of the field's source if has_at, in the frame of link `to` [m] */
  double power;     /* for a point field: exponent of the distance; the force is strength x distance^-power */
  double softening; /* for a point field: softening length [m] */
  Vec3 axis;        /* for dipole and uniform fields: axis of the link's dipole, unit vector, link frame */
  Vec3 other;       /* for a dipole field: magnetic moment of link `to`, in its frame [A m^2]; for a uniform field: flux
                       density, world axes [T] */
} SceneField;

/* A load on a link: a force and a torque, or a field. */
typedef struct {
  SourcePosition place;
  int link;
  bool link_axes; /* true: force and torque are given in link axes and rotate with the link; false: world axes */
  bool has_point; /* false: the force acts at the centre of mass */
  Vec3 point;     /* point of application, link frame [m] */
  SceneSignal force, torque; /* three channels each [N], [N m]; no channels if absent */
  SceneField
      field; /* the field, or FIELD_NONE; the signal `force` is the field's strength, one channel [N m^power, A m^2] */
} SceneLoad;

/* A term of a weighted sum of joint coordinates: ratio * coordinate. */
typedef struct {
  int link, coordinate; /* link, and index of a scalar coordinate of its joint */
  double ratio;
} SceneCouplingTerm;

/* A point of a tendon (docs/derivations/loads.md, L5). */
typedef struct {
  int link;   /* index of the link to which the point is fixed; -1: the world */
  Vec3 point; /* position of the tendon's point in the link's frame [m] */
  int wrap; /* 1 + index in SceneTendon.wraps of the solid around which the tendon bends before the next point; 0: none
             */
} SceneTendonPoint;
/* A solid around which a tendon bends between two neighbouring points of the tendon (L8). */
typedef enum { WRAP_CYLINDER, WRAP_SPHERE } WrapType;
typedef struct {
  SourcePosition place;
  WrapType type;
  int link;      /* index of the link to which the solid is fixed; -1: the world */
  int after;     /* index of the tendon point before the wrap */
  double radius; /* radius of the cylinder or sphere [m] */
  Vec3 position; /* position of the centre, link frame [m] */
  Vec3 axis;     /* unit axis of the cylinder, whose length is not limited */
  bool has_side; /* false: the tendon takes the shorter path */
  Vec3 side;     /* a point on the side on which the tendon passes, link frame [m] */
} SceneTendonWrap;
typedef struct {
  SourcePosition place;
  SceneTendonPoint* points;
  int count;              /* number of points, at least two; 0: `joints` define the length */
  SceneTendonWrap* wraps; /* owned, at most one between two points (size: wrap_count) */
  int wrap_count;
  int end; /* last link along the tendon, or the link of the last of `joints`; in designs the signal `tension` belongs
              to this link */
  SceneSignal tension; /* one channel [N]; no channels if absent */
  double stiffness;    /* stiffness of the tendon [N/m]; 0: the tendon has no spring */
  double rest_length;  /* length below which the tendon is slack [m] */
  double eyelet; /* distance of neighbouring points below which their force decreases to 0 [m] (L5); 0: no decrease */
  SceneCouplingTerm* joints; /* terms of the tendon's length, the sum of ratio times joint coordinate, owned
                                (joint_count); NULL: the length is that of the path through the points */
  int joint_count;
  bool limited;           /* true: a penalty enforces limits of the length (L94); false: the next five members are 0 */
  double lower, upper;    /* limits of the length [m]; infinite: no limit */
  double range_stiffness; /* stiffness of the penalty at the length limits [N/m] */
  double range_margin;    /* distance from a length limit at which the penalty force begins [m] */
  double range_damping;   /* damping of the penalty at the length limits [N s/m] */
  double friction;        /* friction force against changes of the length [N]; 0: none */
  double friction_speed;  /* speed over which the friction is smoothed [m/s]; > 0 if friction > 0 */
} SceneTendon;

/* A bushing: a spring and damper in all six directions between a frame on link a and a frame on link b
 * (docs/derivations/loads.md, L18). The deflection u consists of the translation [m] and the rotation vector [rad] of
 * the frame on b relative to the frame on a. */
typedef struct {
  SourcePosition place;
  int link[2];            /* indices of links a and b; link[1] = -1: b is the world */
  Vec3 position[2];       /* origin of each frame in its link's frame [m] */
  Quat rotation[2];       /* orientation of each frame in its link's frame */
  double stiffness[6][6]; /* force and torque per deflection u; symmetric, positive semidefinite [N/m, N, N m/rad] */
  double damping[6][6];   /* force and torque per rate of u; symmetric, positive semidefinite [N s/m, N s, N m s/rad] */
  double preload[6]; /* force and torque on link b while both frames coincide, in the axes of the frame on link a [N, N
                        m] */
} SceneBushing;
/* Indices of the parameters of a bushing that can be design variables. They are the diagonals of stiffness and damping,
 * the preload, and the position of each frame [m]. */
enum {
  BUSHING_STIFFNESS,
  BUSHING_DAMPING = 6,
  BUSHING_PRELOAD = 12,
  BUSHING_POSITION_A = 18,
  BUSHING_POSITION_B = 21,
  BUSHING_NUMBERS = 24
};

/* Type of a constraint between two links that closes a loop (docs/derivations/closures.md). */
typedef enum { CLOSURE_WELD, CLOSURE_BALL, CLOSURE_HINGE, CLOSURE_SLIDE, CLOSURE_DISTANCE } ClosureType;

typedef struct {
  SourcePosition place;
  ClosureType type;
  int a, b; /* indices of the links; b = -1: world */
  bool has_point, has_axis;
  bool link_axes; /* true: point and axis are given in the frame of link a; false: in world coordinates at the start */
  Vec3 point;     /* point at which the closure connects the links [m] */
  Vec3 axis;      /* axis of the closure, unit vector */
  double length;  /* CLOSURE_DISTANCE: the length; 0: the initial distance of the two points [m] */
  double break_force;   /* force at which the closure breaks for good [N]; 0: never */
  double release_force; /* force at which the closure opens; it can close again [N]; 0: never */
  SceneSignal active;   /* one channel: the closure is active in steps at whose beginning the signal is >= 1/2; no
                           channels: always active */
  double within;        /* largest distance of the two points near[] at which the closure closes [m]; 0: any distance */
  Vec3 near[2]; /* points on links a and b, in the links' frames, or in world coordinates if b is the world [m] */
} SceneClosure;

/* A linear coupling of joint coordinates: q_0 = sum of ratio_k q_k over k >= 1, plus offset. q_k is the joint
 * coordinate of terms[k]. */
typedef struct {
  SourcePosition place;
  SceneCouplingTerm* terms; /* terms[0] is the coupled coordinate q_0, with ratio 1 */
  int count;
  bool has_offset; /* false: the offset follows from the initial state */
  double offset;   /* constant that is added to the weighted sum of coordinates [m or rad] */
} SceneCoupling;

/* Bits for kinds of signals: targets of controllers (drives), forces and torques of loads, tensions of tendons. */
enum { CONTROL_DRIVES = 1, CONTROL_FORCES = 2, CONTROL_TORQUES = 4, CONTROL_TENSIONS = 8, CONTROL_SIGNALS = 15 };

/* Initial coordinates and velocities of one joint. */
typedef struct {
  SourcePosition place;
  int link;
  bool has_coordinates, has_velocities;
  double coordinates[JOINT_MAX_COORDINATE]; /* slides [m], angles [rad]; a quaternion w x y z for three rotations */
  double velocities[JOINT_MAX_DOF];         /* m/s, rad/s; three rotations: angular velocity in link axes */
} SceneInitial;

typedef enum { INTEGRATOR_FIRST_ORDER, INTEGRATOR_SECOND_ORDER, INTEGRATOR_MOMENTUM } Integrator;
/* Contact laws, in the order of the table in contact/laws.c. CONTACT_NONE: bodies have no contact. */
typedef enum {
  CONTACT_NONE,
  CONTACT_SEPARATING_PLANE,
  CONTACT_LONG_RANGE,
  CONTACT_IPC,
  CONTACT_PENALTY,
  CONTACT_MANIFOLD,
} ContactModel;
/* Returns the name of a contact law in scene files, "none" for CONTACT_NONE. The text is static, never NULL.
 * (contact/laws.c) */
const char* contact_model_name(ContactModel model);
/* Returns true if a contact law has a parameter that not all laws have. key: key of the parameter in scene files, not
 * NULL. CONTACT_NONE has the parameters of separating_plane. Allocates nothing. */
bool contact_law_has_parameter(ContactModel law, const char* key);
typedef struct {
  double dt; /* time step [s] */
  int steps;
  Vec3 gravity; /* acceleration of gravity [m/s^2] */
  Integrator integrator;
  double tolerance; /* accepted residual of a step, relative to the acting forces */
  SourcePosition tolerance_place;
  double force_tolerance; /* absolute residual that is always accepted [N]; 0: none */
  int max_iterations;
  bool certificate;
  int record_every; /* number of steps between two rows of the CSV files */
  unsigned output;  /* files and columns that are written on request, as bits OUTPUT_... */
  int substeps;     /* number of equal substeps of every step; values below 1 count as 1 */
} SceneSimulation;

/* The fluid around all links (docs/derivations/fluid.md). */
typedef struct {
  SourcePosition place;
  bool given;
  double density;   /* density of the fluid [kg/m^3] */
  double viscosity; /* dynamic viscosity of the fluid [Pa s] */
  Vec3 velocity;    /* velocity of the fluid, world axes [m/s] */
  bool has_level;   /* false: the fluid fills all space */
  double level;     /* height of the fluid's surface above the world's origin, measured against gravity [m] */
} SceneFluid;
/* Indices of the fluid's parameters in derivatives: density, viscosity, velocity (3), level. */
enum { FLUID_DENSITY, FLUID_VISCOSITY, FLUID_VELOCITY, FLUID_LEVEL = FLUID_VELOCITY + 3, FLUID_NUMBERS };

/* The start of a run from a stored state of an earlier run. */
typedef struct {
  SourcePosition place;
  char* run;         /* folder of the earlier run; NULL: this run starts from `initial` */
  double time;       /* time of the state [s] */
  NumberFile* state; /* the stored state (simulate/start.c), owned; NULL: this run starts from `initial` */
} SceneStart;
/* NumberFile.kind of stored states, and the name of their folder in a run folder. */
#define STATE_KIND "state"
#define STATE_FOLDER "states"
/* Returns the path <run>/<STATE_FOLDER>/<step> of the state that a run stored after `step` steps. run: path of the run
 * folder. The caller frees the path with memory_free. Does not access the file. Cannot fail. */
char* scene_state_path(const char* run, int step);

/* Bits for output that is written on request: files, and columns of contacts.csv. They have the order of the words of
 * the key simulation.output. */
enum {
  OUTPUT_VELOCITIES = 1,
  OUTPUT_FORCES = 2,
  OUTPUT_CONTACT_POINTS = 4,
  OUTPUT_CLOSURES = 8,
  OUTPUT_PRESSURE = 16,
  OUTPUT_REACTIONS = 32,
  OUTPUT_IMU = 64,
  OUTPUT_RANGE = 128
};
#define OUTPUT_WORDS "velocities|forces|contact_points|closures|pressure|reactions|imu|range"

/* Limits on the number of equal substeps of a step. SUBSTEPS_MAX: largest number in a scene. SUBSTEPS_FINEST: largest
 * number with which the solver repeats a failed step. */
enum { SUBSTEPS_MAX = 64, SUBSTEPS_FINEST = 512 };
static inline int simulation_substep_count(const SceneSimulation* simulation) {
  return simulation->substeps > 1 ? simulation->substeps : 1;
}
/* Returns the time step of a substep, dt / substeps [s]. */
static inline double simulation_substep_length(const SceneSimulation* simulation) {
  return simulation->dt / simulation_substep_count(simulation);
}

/* An item of contact.pairs: contact parameters of links named name[0] with links named name[1]. The names are names of
 * links or groups. */
typedef struct {
  SourcePosition place;
  char* name[2];
  SceneMaterial material;
  bool has_model;
  ContactModel model; /* contact law of the pair if has_model; otherwise the pair has the law of `contact` */
  /* Parameters of the pair's contact law that other laws do not have. A parameter that is not given has the value in
   * the section `contact`, if the pair and the section have the same law. Otherwise the parameter has the default of
   * the law. */
  bool law_parameter_given[CONTACT_LAW_PARAMETERS_MAX], hierarchy_given;
  double law_parameters[CONTACT_LAW_PARAMETERS_MAX];
  bool hierarchy; /* true: sums over a hierarchy of bounding spheres; false: sums over all pairs of pieces */
} ScenePair;

typedef struct {
  SourcePosition place;
  ContactModel model;
  /* Support, stiffness and smoothing are 0 if the scene does not give them. model/contact_defaults.c then derives
   * values from the scene. */
  double support;   /* barrier distance s of the contact law; contact forces begin at a gap of about 2 s [m] */
  double stiffness; /* stiffness kappa, the factor of the contact potential; its unit depends on the contact law */
  double friction;  /* Coulomb friction coefficient, >= 0 */
  double rolling, spinning; /* coefficients of rolling and spinning friction [m], >= 0 */
  double static_friction;   /* static friction coefficient; 0: friction at any speed */
  double stribeck_speed;    /* slip speed over which static friction falls to friction [m/s] */
  double smoothing;         /* square of the slip speed below which friction is proportional to slip [(m/s)^2] */
  int friction_iterations;  /* largest number of repetitions of a step with updated normal forces as friction limits. 0:
                               none, the normal forces of the previous step limit friction. -1: at most one, weighted as
                               in friction.md, F14 */
  double rest_speed;        /* impacts below this approach speed have no restitution [m/s] */
  double law_parameters[CONTACT_LAW_PARAMETERS_MAX]; /* parameters that only this contact law has;
                                                        contact_row_law_parameter gives their indices */
  double restitution;
  bool elastic;   /* true: `restitution` is null in the file. The contact potential is then not damped, so that impacts
                     are elastic */
  bool hierarchy; /* true: sums over a hierarchy of bounding spheres; false: sums over all pairs of pieces */
  SourcePosition support_place, stiffness_place, smoothing_place;
  /* exclude[k]: names of two links or groups without contact with each other (size: exclude_count) */
  char* (*exclude)[2];
  SourcePosition* exclude_place;
  int exclude_count;
  ScenePair* pairs; /* items of contact.pairs; later items override earlier ones (size: pair_count) */
  int pair_count;
} SceneContact;

typedef struct {
  char* path; /* path as given; the positions of the scene's objects borrow this text */
  char* name;
  char sha256[65]; /* SHA-256 of the file's bytes */
  char** files;    /* paths of included files; the positions of their objects borrow these texts */
  int file_count;
  char** sources; /* texts of the overrides, the file names in positions of overridden values (size: source_count) */
  int source_count;
  int threads;               /* threads for building a model; 0 counts as 1. Set by the caller after reading */
  bool skip_render_surfaces; /* true: smooth shapes get a triangulated surface only if the contact law needs one. Set by
                                the caller after reading */
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
  double* keep_states; /* times at which the run stores its state [s] (size: keep_state_count) */
  int keep_state_count;
} Scene;
/* Sets the stored state from which a run of the scene starts, and scene->start.time [s] to its time. If state is NULL,
 * the run starts from `initial`. The scene takes ownership of `state` and frees its previous state. */
void scene_set_start(Scene* scene, NumberFile* state);

/* An override: the text of one option `--set path.to.key=value`. The path consists of keys, indices of list items, and
 * values of `name` or `link` of list items (`links.box.mass`). The value is read as YAML. */
typedef struct {
  const char* text; /* the override, such as "contact.friction=0.2" */
} SceneOverride;

/* Reads a scene file, applies the overrides and checks the scene. A path that ends in .json is read as JSON, any other
 * path as YAML. Repeats are expanded, names resolved and units converted to SI. overrides: `override_count` overrides,
 * whose texts are copied; may be NULL if override_count is 0. Returns STATUS_BAD_INPUT if an error was reported,
 * STATUS_IO if the file cannot be read. Overwrites *scene. The caller frees the scene with scene_free in any case. */
Status scene_load(Scene* scene, const char* path, const SceneOverride* overrides, int override_count,
                  Diagnostics* diagnostics);
/* Reads a scene from a text, applies the overrides and checks the scene. text: `length` bytes followed by a NUL, which
 * are not kept. json: the text is JSON, otherwise YAML. path: file name in messages; relative paths in the text are
 * relative to its folder. overrides (override_count): may be NULL if override_count is 0. Returns STATUS_BAD_INPUT if
 * an error was reported, also if an included file cannot be read. Overwrites *scene. The caller frees the scene with
 * scene_free in any case. */
Status scene_parse(Scene* scene, const char* path, const char* text, size_t length, bool json,
                   const SceneOverride* overrides, int override_count, Diagnostics* diagnostics);
/* Frees everything that the scene owns and zeroes the struct. Accepts a zeroed or partly read scene, but not NULL. */
void scene_free(Scene* scene);

/* Returns the kinematics of a scene's joint: motion, screw axes and names of coordinates. The joint must have been read
 * without an error. The result owns nothing. */
Joint scene_joint(const SceneJoint* joint);
/* Returns the number of degrees of freedom of the joint, 0 ... JOINT_MAX_DOF. Allocates nothing, cannot fail. */
int scene_joint_dof(const SceneJoint* joint);
/* Returns the name of a joint's coordinate in column headers, such as "angle", "x" or "qw". index: position among the
 * stored coordinates. Returns "" if the index is out of range. The text is static, never NULL. */
const char* scene_joint_coordinate_name(const SceneJoint* joint, int index);

/* Appends the JSON Schema (draft 07) of scene files to `out`. The schema is made from the table that the reader uses.
 * The caller owns out. Cannot fail. */
void scene_schema_json(Text* out);
/* Appends the page docs/scene-format.md to `out`, made from the table that the reader uses. The caller owns out. Cannot
 * fail. */
void scene_schema_markdown(Text* out);
/* Appends the manual page sdrs-scene(5) to `out`, made from the table that the reader uses. The caller owns out. Cannot
 * fail. */
void scene_schema_man(Text* out);

/* Reads a robot in URDF or MJCF as a scene in SI units, with the default options of `sdrs import`. Reports errors and
 * warnings to diagnostics. Overwrites *scene. The caller frees the scene with scene_free in any case.
 * (robot/import.c) */
void scene_read_robot(Scene* scene, const char* path, Diagnostics* diagnostics);

/* ---------------------------------------------------------------- rules for all modules that create scenes */

#define LINK_MAX 20000
/* Largest length of a name [bytes]. */
#define NAME_MAX_LENGTH 200
/* Returns a pointer to the first character of a name that names must not contain, or NULL if there is none. Slashes,
 * backslashes, commas, quotes and control characters are not allowed, because names become column headers and file
 * names. Allocates nothing. */
const char* name_find_invalid_character(const char* name);
/* Returns true if a name begins or ends with a blank, or begins with a dot, which is not allowed. name: not empty
 * (asserted). Allocates nothing. */
bool name_has_invalid_ends(const char* name);
/* Returns true if an inertia matrix is positive definite. inertia: ixx iyy izz ixy ixz iyz [kg m^2], not NULL. Returns
 * false for NaN. Allocates nothing. */
bool inertia_is_positive_definite(const double inertia[6]);
/* Returns true if a rigid body can have this inertia matrix: no principal moment exceeds the sum of the two others. A
 * tolerance admits rounded files. inertia: ixx iyy izz ixy ixz iyz [kg m^2], not NULL. Returns false for NaN. Allocates
 * nothing. */
bool inertia_is_physical(const double inertia[6]);
/* Default of SceneJoint.friction_speed [m/s or rad/s]; the schema has the same value as text. */
#define FRICTION_SPEED_DEFAULT 1e-4
/* Default of SceneController.limit_width. */
#define LIMIT_WIDTH_DEFAULT 0.05
/* Returns the default margin of the limits of a tendon's length (SceneTendon.range_margin) [m]. lower, upper: limits of
 * the length [m]; infinite if there is no limit. */
double scene_tendon_margin(double lower, double upper);
/* Sets the limit law of a joint to its defaults: limit_law = LIMIT_BARRIER, limit_stiffness [J], limit_margin [m or
 * rad], limit_restitution = 0. The margin depends on the joint's limits, which must be set before. Allocates nothing,
 * cannot fail. */
void joint_default_limits(SceneJoint* joint);
/* Returns true if a length is 1 within 1e-14. Vectors and quaternions of this length are not normalized, so that
 * numbers read from a written file keep the same bits. Returns false for NaN. Allocates nothing. */
bool is_unit_length(double length);
/* Returns the normalized vector v / |v|, also if |v|^2 overflows or underflows. Returns v unchanged if v is zero or
 * is_unit_length(|v|). Returns NaN if v is not finite. */
Vec3 unit_vector(Vec3 v);

/* Sets the contact parameters support [m], stiffness [the law's unit] and smoothing [(m/s)^2] of a scene. The caller
 * passes the values that a model derived (ModelContact), so that a written scene contains them. Does not check the
 * values. Allocates nothing. */
void scene_set_contact_parameters(Scene* scene, double support, double stiffness, double smoothing);
/* Appends the scene as YAML to `out`. Reading this text gives the same model, bit for bit. Paths of meshes are written
 * relative to `folder`, which must be the folder of the file that the text is written to. The caller owns out. Cannot
 * fail; allocates temporarily. */
void scene_write_yaml(const Scene* scene, const char* folder, Text* out);
/* Returns the solid around which a tendon bends between point number `point` and the next point. Returns NULL if there
 * is none. The tendon owns the result. point: 0 ... tendon->count - 2. */
static inline const SceneTendonWrap* scene_tendon_wrap(const SceneTendon* tendon, int point) {
  int wrap = tendon->points[point].wrap;
  return wrap > 0 ? &tendon->wraps[wrap - 1] : NULL;
}
/* Returns the default of SceneTendon.eyelet [m]: 1 % of the mean distance of the tendon's points from the origins of
 * their frames. Returns 0 for a tendon without points. Allocates nothing. */
double scene_tendon_eyelet(const SceneTendon* tendon);

#endif
