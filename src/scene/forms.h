/* forms: structs that receive the keys of the schema's objects. A form is filled before names are resolved and before
 * sections are checked against each other. A VALUE_CHOICE is an int in these structs. Nodes are borrowed from the
 * document, and NULL if the key is absent. */
#ifndef SDRS_SCENE_FORMS_H
#define SDRS_SCENE_FORMS_H

#include "scene/schema.h"

#define STEPS_MAX 1000000000
#define REPEAT_MAX 100000
#define SYMMETRY_WORDS "auto|none|x|y|z|xy|xz|yz|xyz"

typedef struct {
  const Node *name, *variables, *include, *simulation, *contact, *shapes, *rods, *links, *controllers, *loads, *tendons,
      *bushings, *closures, *couplings;
  const Node *initial, *start, *fluid;
} SceneForm;

typedef struct {
  const Node* run;
  double time;
} StartStateForm;

typedef struct {
  SceneSimulation simulation;
  double duration;
  int steps;
  const Node* keep_states;
} SimulationForm;

typedef struct {
  SceneFluid fluid;
  double level;
} FluidForm;

typedef struct {
  SceneShape shape;
  int hulls, pieces, orient;
  const Node *points, *file, *decompose;
  const Node *normals, *offsets, *of;
  NumberList exponents;
} SceneShapeForm;

typedef struct {
  DecomposeOptions options;
  const Node* grid;
  int symmetry, tie;
} DecomposeForm;

typedef struct {
  Vec3 position;
  Quat rotation;
  Vec3 rotation_vector, rpy;
} PoseForm;

typedef struct {
  const Node* name;
  SceneShapeForm shape;
  PoseForm pose;
} ShapeUseForm;

typedef struct {
  const Node *file, *prefix, *attach, *set, *without;
  PoseForm pose;
} IncludeForm;

typedef struct {
  int type;
  const Node* name;
  PoseForm pose;
  Vec3 axis;
  const Node *axes, *free_axes, *limits, *twist;
  double swing; /* for a ball joint: largest angle between `twist_axis` and its direction at zero coordinates [rad]; 0:
                   not given */
  Vec3 twist_axis;
  int limit_law;
  double limit_stiffness, limit_margin, limit_restitution;
  NumberList damping, stiffness, rest, friction, armature, velocity_limit;
  double friction_speed, stribeck_speed;
  NumberList static_friction;
  double parameters[JOINT_MAX_PARAMETER];
} JointForm;

typedef struct {
  const Node* ties;
  const Node *name, *parent, *joint, *shapes, *shape, *groups, *color, *repeat;
  PoseForm pose;
  bool fixed, collide;
  double mass, density;
  int mass_model;
  double gravity_compensation;
  SceneMaterial material;
  NumberList friction;
  Vec3 friction_axis;
  Vec3 center;
  NumberList inertia;
} LinkForm;

typedef struct {
  const Node *count, *first, *position, *rotation_vector, *coordinates, *velocities;
  int start;
  Vec3 around;
} RepeatForm;

typedef struct {
  SceneController controller;
  const Node *link, *target, *velocity, *repeat;
  const Node* feedback;
  NumberList position_gain, velocity_gain, damping_gain, max_force;
} ControllerForm;

typedef struct {
  int type;
  const Node *measures, *matrix, *layers, *weights, *file;
  int seed;
  double scale;
} FeedbackForm;

typedef struct {
  const Node *link, *force, *torque, *field, *repeat;
  Vec3 point;
  int axes;
} LoadForm;

typedef struct {
  SceneField field;
  int type;
  const Node *to, *strength;
  Vec3 at, axis, moment, flux_density;
} FieldForm;

typedef struct {
  SceneTendon tendon;
  const Node *points, *wrap, *joints, *tension, *range;
  double rest_length, eyelet;
} TendonForm;

typedef struct {
  SceneTendonWrap wrap;
  const Node* link;
  int after;
  Vec3 side;
} TendonWrapForm;

typedef struct {
  const Node *link, *repeat;
  Vec3 point;
} TendonPointForm;

typedef struct {
  const Node *a, *b, *frame_a, *frame_b, *stiffness, *damping;
  NumberList preload;
} BushingForm;

typedef struct {
  PoseForm pose;
} BushingFrameForm;

enum { ROD_REST_POINTS, ROD_REST_STRAIGHT };
typedef struct {
  const Node *name, *points, *from, *to, *color;
  int segments, rest;
  double radius, young, shear, density, damping, friction;
  bool collide;
} RodForm;

enum { ROD_END_CLAMPED, ROD_END_PINNED };
typedef struct {
  const Node* link;
  int type;
} RodEndForm;

typedef struct {
  SceneClosure closure;
  const Node *a, *b, *active;
  int axes;
  Vec3 point, axis;
} ClosureForm;

typedef struct {
  const Node *link, *coordinate, *of, *terms;
  double ratio, offset;
} CouplingForm;

typedef struct {
  const Node *link, *coordinate;
  double ratio;
} CouplingTermForm;

typedef struct {
  int type, rows;
  const Node *times, *values, *terms;
  double duration, interval, ramp;
  NumberList value, offset;
  const Node *file, *time, *column, *columns;
  int interpolation;
} SignalForm;

typedef struct {
  double amplitude, frequency, phase;
} SineForm;

typedef struct {
  const Node *link, *repeat;
  NumberList coordinates, velocities;
} InitialForm;

typedef struct {
  const Node *a, *b;
  SceneMaterial material;
  NumberList friction;
  Vec3 friction_axis;
  int model;
  ContactForm law; /* parameters that only the item's contact law has */
} ContactPairForm;

/* The objects of the schema of scenes (scene/schema_objects.c). */
enum { SCENE_OBJECT_COUNT = 40 };
extern const SchemaObject SCENE_OBJECTS[];

#endif
