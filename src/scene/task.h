/* task: the contents of a task file: scenarios, design variables, losses and the optimizer. A Task stores names of
 * links as texts with their positions in the file. optimize/design.c and differentiate/loss.c resolve these names in
 * the scene of each scenario. A Task owns everything that it points to. */
#ifndef SDRS_SCENE_TASK_H
#define SDRS_SCENE_TASK_H

#include "scene/scene.h"

/* Value of TaskScenario.steps for `steps: 0`. Nothing is simulated; the losses are evaluated at the initial state. */
enum { TASK_KINEMATIC = -1 };
/* Returns the number of time steps of a run. requested: TaskScenario.steps. scene_steps: number of steps in the scene.
 * Returns `requested` if it is positive, 0 for TASK_KINEMATIC, otherwise `scene_steps`. */
static inline int task_step_count(int requested, int scene_steps) {
  return requested > 0 ? requested : requested == TASK_KINEMATIC ? 0 : scene_steps;
}

typedef struct {
  char* text; /* the name; NULL: not given */
  SourcePosition place;
} TaskName;

/* A scene in which the design is evaluated. The scene is read from a file (path relative to the task) or written in the
 * task. The scenario owns the scene. */
typedef struct {
  SourcePosition place;
  char* name;    /* name of the scenario; "0", "1", ... if the task gives none */
  double weight; /* factor of the losses of this scenario, > 0; default 1 */
  int steps;     /* number of steps; 0 selects the number of the scene; or TASK_KINEMATIC */
  Scene scene;
} TaskScenario;

/* The scenarios in which an item of the task, such as a loss term or a control variable, applies. */
typedef struct {
  bool* in; /* for each scenario, true if the item applies in it; NULL: the item applies in all scenarios */
  int count;
} TaskScenarioSet;
/* Returns true if an item of the task applies in a scenario. where: the scenarios of the item. scenario: index, less
 * than the number of scenarios. */
static inline bool task_applies_in_scenario(const TaskScenarioSet* where, int scenario) {
  return !where->in || where->in[scenario];
}

/* Bounds of a group of variables. A bound is a range around the initial values (within) or an absolute limit (low,
 * high). Absent bounds are infinite. */
typedef struct {
  double within; /* largest change from the initial value, >= 0; INFINITY when absent */
  double low[3], high[3];
  double prior; /* standard deviation around the initial value; INFINITY when absent */
  double step;  /* step of the optimizer for these variables, in their unit; 0: the optimizer's default */
} TaskBounds;

typedef struct {
  SourcePosition place;
  TaskName link;
  int* hulls; /* selected hulls of the link, from 0; NULL: all */
  int hull_count;
  bool has_box; /* true: only vertices that are initially within [box_low, box_high], link frame [m] */
  Vec3 box_low, box_high;
  bool axes[3];      /* x, y, z: whether this coordinate of the vertices is a variable; default all */
  TaskBounds bounds; /* bounds of vertex coordinates, link frame [m] */
} TaskVertices;

/* Vertices of a link that stay fixed while other items of the design change. */
typedef struct {
  SourcePosition place;
  TaskName link;
  int* hulls; /* selected hulls of the link, from 0; NULL: all */
  int hull_count;
  bool has_box;
  Vec3 box_low, box_high;
} TaskFrozen;

/* A grid of control points that deforms the vertices of a link. The displacement is trilinear in each cell. */
typedef struct {
  SourcePosition place;
  TaskName link;
  int cells[3]; /* number of cells along x, y, z; each >= 1 */
  bool has_box; /* true: [box_low, box_high] is the extent of the grid, link frame [m]; false: the grid encloses the
                   link's vertices */
  Vec3 box_low, box_high;
  bool axes[3];      /* x, y, z: whether this coordinate of the control points is a variable; default all */
  TaskBounds bounds; /* bounds of control points, link frame [m] */
} TaskCage;

typedef struct {
  SourcePosition place;
  TaskName link;     /* link whose joint origin is a variable, in the frame of its parent */
  bool axes[3];      /* x, y, z: whether this coordinate is a variable; default all */
  TaskBounds bounds; /* bounds of the joint origin, in the frame of the parent link [m] */
} TaskAttachment;

typedef enum { SYMMETRY_MIRROR, SYMMETRY_ROTATION, SYMMETRY_COPY } TaskSymmetryType;

/* A symmetry between links. The design of links[1..] follows from the design of links[0].
 *   COPY      the vertices are the same in each link's own frame
 *   MIRROR    the vertices are reflected in the plane through the frame's origin with `normal`; a single link is
 *   symmetric to itself
 *   ROTATION  a single link is symmetric under rotations by 2 pi / count about `axis` through the frame's origin */
typedef struct {
  SourcePosition place;
  TaskSymmetryType type;
  TaskName* links;
  int link_count;
  Vec3 normal; /* for MIRROR: normal of the plane, unit vector */
  Vec3 axis;   /* for ROTATION: axis of the rotation, unit vector */
  int count;   /* for SYMMETRY_ROTATION: the link is symmetric under rotations by 2 pi / count; >= 2 */
} TaskSymmetry;

/* A linear constraint on coordinates of attachments and on control parameters: sum_k coefficient_k variable_k is <=, =
 * or >= value. */
typedef enum { RELATION_AT_MOST, RELATION_EQUAL, RELATION_AT_LEAST } TaskRelation;
typedef struct {
  SourcePosition place;
  TaskName*
      variables; /* names of the variables, as in design.csv: "link/attachment/x", "link/values/3", "link/velocity/0" */
  double* coefficients;
  int count;
  TaskRelation relation;
  double value;
} TaskConstraint;

/* Bits for the parameters of a link's controllers and loads that can be design variables. */
enum { CONTROL_VALUES = 1, CONTROL_AMPLITUDE = 2, CONTROL_FREQUENCY = 4, CONTROL_PHASE = 8, CONTROL_GAINS = 16 };
/* Returns the bit for a kind of gain. These bits follow the CONTROL_ bits above. kind must be a GainKind (not
 * checked). */
static inline unsigned control_gain_bit(GainKind kind) { return (unsigned)CONTROL_GAINS << kind; }
typedef struct {
  SourcePosition place;
  TaskName link;       /* link whose signals are meant: controllers of its joint, loads on it, tendons that end on it */
  unsigned of;         /* kinds of signals, as bits CONTROL_DRIVES ...; default: all kinds that the link has */
  unsigned parameters; /* parameters that are variables, as bits; default CONTROL_VALUES, for sines also AMPLITUDE and
                          PHASE */
  bool has_parameters; /* false: `parameters` is the default for the type of the signal */
  bool dof[JOINT_MAX_DOF]; /* channels of the signals, or degrees of freedom of the gains; default all */
  bool has_dof;
  double within;    /* largest change from the initial value; INFINITY when absent */
  double low, high; /* lower and upper bound of the value; -INFINITY and INFINITY when absent */
  double prior;     /* standard deviation around the initial value; INFINITY when absent */
  double step;      /* step of the optimizer for these variables, in their unit; 0: the optimizer's default */
  int tie; /* number of a set of variables that all links of the item with this number share; 0: the link has its own
              variables */
  TaskScenarioSet where; /* scenarios with separate variables; NULL: one set of variables for all scenarios */
} TaskControl;

/* Initial coordinates or velocities of a joint that are design variables. */
typedef struct {
  SourcePosition place;
  TaskName link;
  bool coordinates, velocities; /* coordinates: the scalar coordinates of the joint are variables; velocities: the
                                   joint's velocities are variables */
  bool turns;               /* the three rotations of a ball are variables; at least one of the three flags is set */
  bool dof[JOINT_MAX_DOF];  /* degrees of freedom that are variables; default all */
  double within, low, high; /* largest change from the initial value, lower and upper bound; infinite when absent */
  double prior, step;
  TaskScenarioSet where;
} TaskStart;

/* Physical parameters that can be design variables, in the order of the words in scene/task_table.c. The table in
 * optimize/design_parameters.c has a row for each parameter. */
typedef enum {
  PARAMETER_MASS,    /* mass of links */
  PARAMETER_CENTER,  /* centre of mass of links */
  PARAMETER_INERTIA, /* inertia about the centre of mass */
  PARAMETER_SIZE,    /* edge lengths of the link's box */
  PARAMETER_DAMPING, /* damping; this and the following parameters belong to joints, with one value per degree of
                        freedom */
  PARAMETER_SPRING,
  PARAMETER_DRY,
  PARAMETER_ARMATURE,
  PARAMETER_STATIC,
  PARAMETER_LOWER, /* lower and upper limit of joints */
  PARAMETER_UPPER,
  PARAMETER_LIMIT_RESTITUTION,
  PARAMETER_AXIS,          /* direction of the axis of joints that have one */
  PARAMETER_ROTATION,      /* rotation of the joint frame in the parent frame */
  PARAMETER_SHAPE_SIZE,    /* lengths of the link's convex smooth shapes: sizes, offsets of faces */
  PARAMETER_SHAPE_FORM,    /* exponents and sharpness of the link's convex smooth shapes */
  PARAMETER_LINK_FRICTION, /* friction; this and the following parameters belong to the material of links
                              (SceneMaterial) */
  PARAMETER_LINK_RESTITUTION,
  PARAMETER_LINK_ROLLING,
  PARAMETER_LINK_SPINNING,
  PARAMETER_LINK_FRICTION_ALONG,
  PARAMETER_LINK_STATIC_FRICTION,
  PARAMETER_LINK_STRIBECK_SPEED,
  PARAMETER_PAIR_FRICTION, /* friction; this and the following parameters belong to items of contact.pairs, which set
                              values for pairs of links */
  PARAMETER_PAIR_RESTITUTION,
  PARAMETER_PAIR_ROLLING,
  PARAMETER_PAIR_SPINNING,
  PARAMETER_PAIR_FRICTION_ALONG,
  PARAMETER_PAIR_STATIC_FRICTION,
  PARAMETER_PAIR_STRIBECK_SPEED,
  PARAMETER_CLOSURE_POINT, /* attachment point; this and the following parameters belong to closures between two links
                            */
  PARAMETER_CLOSURE_AXIS,
  PARAMETER_CLOSURE_LENGTH,
  PARAMETER_RATIO,        /* ratios of couplings of a link's coordinates */
  PARAMETER_OFFSET,       /* offset of couplings in which the scene gives an offset */
  PARAMETER_TENDON_POINT, /* points of the path; this and the following parameters belong to tendons that end on the
                             item's link */
  PARAMETER_TENDON_STIFFNESS,
  PARAMETER_TENDON_REST,
  PARAMETER_TENDON_FRICTION,
  PARAMETER_TENDON_WRAP_RADIUS,
  PARAMETER_TENDON_WRAP_POSITION,
  PARAMETER_TENDON_WRAP_AXIS,
  PARAMETER_BUSHING_STIFFNESS, /* stiffness; this and the following parameters belong to bushings whose link a is the
                                  item's link */
  PARAMETER_BUSHING_DAMPING,
  PARAMETER_BUSHING_PRELOAD,
  PARAMETER_BUSHING_POSITION_A,
  PARAMETER_BUSHING_POSITION_B,
  PARAMETER_GRAVITY, /* gravity; this and all following parameters belong to the whole scene */
  PARAMETER_FLUID_DENSITY,
  PARAMETER_FLUID_VISCOSITY,
  PARAMETER_FLUID_VELOCITY,
  PARAMETER_FLUID_LEVEL,
  PARAMETER_FRICTION,
  PARAMETER_SUPPORT,
  PARAMETER_STIFFNESS,
  PARAMETER_SMOOTHING,
  PARAMETER_REST_SPEED,
  PARAMETER_RESTITUTION,
  PARAMETER_ROLLING,
  PARAMETER_SPINNING,
  PARAMETER_STATIC_FRICTION,
  PARAMETER_STRIBECK_SPEED,
  PARAMETER_TYPE_COUNT
} TaskParameterType;
typedef enum { INERTIA_SCALE, INERTIA_DIAGONAL, INERTIA_FULL } TaskInertiaForm;
typedef struct {
  SourcePosition place;
  TaskParameterType type;
  TaskName* links; /* links whose parameters are variables; empty for parameters of the whole scene */
  int link_count;
  TaskName
      pair[2]; /* names of an item of contact.pairs, or names of the links of a closure; NULL for other parameters */
  bool dof[JOINT_MAX_DOF],
      axes[3];      /* degrees of freedom and axes that are variables; default all, for gravity x and y */
  bool has_axes;    /* true: the task gives `axes`; false: `axes` has its default */
  unsigned lengths; /* lengths of round solids that are variables, as bits of task_length_bit; 0: all */
  bool has_anchor;  /* true: the task gives `anchor` */
  Vec3 anchor; /* point of the box that stays in place, in the box's axes and in units of its half edges; each number is
                  between -1 and 1 */
  TaskInertiaForm form;
  bool tie;                 /* true: one variable for all links, degrees of freedom and axes of the item */
  double within, low, high; /* largest change from the initial value, lower and upper bound; infinite when absent */
  double prior;             /* standard deviation around the initial value; INFINITY when absent */
  double step;              /* step of the optimizer for these variables, in their unit; 0: the optimizer's default */
} TaskParameter;
/* Returns the bit in TaskParameter.lengths for length k of a round solid (scene_shape_round_lengths). Bits 0 to 6 stand
 * for the keys radius, width, rim, length, bottom_radius, top_radius and size. Returns 0 for other shapes and other k.
 * (scene/task_parameters.c) */
unsigned task_length_bit(const SceneShape* shape, int k);

typedef enum {
  LOSS_POINT,  /* distance |x - target| for power 1, |x - target|^2 for power 2. x: a point of `link`; the target is in
                  the frame of `other`, if `other` is given */
  LOSS_TRAVEL, /* displacement of the centre of mass in the window along `direction`, with negative sign */
  LOSS_RELATIVE, /* squared displacement of the centre of `other` in the frame of `link`, since the start of the window
                  */
  LOSS_REACH,    /* max(|x - target|^2 - margin^2, 0), where x is the point of the link */
  LOSS_ORIENTATION, /* |a - target direction|^2, where a is the `axis` of the link in world axes */
  LOSS_VELOCITY,    /* |dx/dt - target|^2, where x is the point of the link */
  LOSS_EFFORT, /* sum of the squared joint forces over the degrees of freedom of the link's controllers [N^2, N^2 m^2]
                */
  LOSS_SMOOTHNESS, /* squared rate of change of the controllers' targets [1/s^2] */
  LOSS_FORCE,  /* |F - target|^2 [N^2], where F is the contact force on the link from all links, or from `other` only */
  LOSS_GAP,    /* max(margin - smallest gap between `link` and `other`, 0)^2 [m^2] */
  LOSS_SHAPE,  /* sum of squared distances of the link's vertices from the initial shape, mean over vertices */
  LOSS_VOLUME, /* (volume / initial volume - 1)^2 of the link's hulls, summed hull by hull */
  LOSS_ROUGHNESS, /* squared difference of the displacements of neighbouring vertices, mean over edges of the initial
                     hull */
  LOSS_APPROACH,  /* max(D - margin^2, 0) [m^2], where D is the smoothed squared distance between `link` and `other` */
  LOSS_TOUCH,     /* (gap between two links - margin)^2 plus the squared distances of their nearest points from target
                     points [m^2] */
  LOSS_CLOSURE,   /* for several links that grasp another link: their gaps to it, plus the missing grasp quality */
  LOSS_POSE,      /* |x - target|^2 + length^2 |R - rotation|^2 / 2 [m^2]; x: position of the link's point; R: rotation
                     matrix of the link */
  LOSS_NECK,      /* margin - width of the narrowest overlap that holds the link's hulls together [m] */
  LOSS_WALL,      /* margin - width of the link's thinnest hull [m] */
  LOSS_OVERHANG,  /* area that overhangs by more than `angle` when built along `direction` [m^2] */
  LOSS_EXTENT,    /* extent of the link along the unit vector `direction` [m] */
  LOSS_KEEP_OUT,  /* margin - distance of the link's hulls from a box in its frame [m] */
  LOSS_CLEARANCE, /* margin - smallest distance of link and other over the range of the link's joint [m] */
  LOSS_REMOVAL,   /* margin - smallest distance of link and other on a straight removal path [m] */
  LOSS_MASS,      /* mass of the link [kg] */
  LOSS_COORDINATE /* (joint coordinate of `link` - joint coordinate of `other` - value)^2 [m^2 or rad^2] */
} TaskLossType;
enum { LOSS_TYPE_COUNT = LOSS_COORDINATE + 1 };

typedef enum {
  OVER_MEAN, /* mean of the loss over the states of the window; for LOSS_TRAVEL the value at the last state */
  OVER_BEST, /* smallest loss at a state of the window */
  OVER_WORST /* largest loss at a state of the window */
} LossOver;

typedef struct {
  SourcePosition place;
  TaskLossType type;
  char* name; /* name of the term and of its column in convergence.csv, unique; default: the word of the type, with _2,
                 _3 if it is repeated */
  double weight; /* weight of the term in the loss, > 0 */
  bool bounded; /* true for terms of subject_to and success, which must not exceed `bound` and are not added to the loss
                 */
  double bound;
  /* link: if no link is given, the term applies to all links (only EFFORT, SMOOTHNESS, SHAPE, VOLUME, ROUGHNESS).
   * other: the second link, only for POINT, RELATIVE, GAP, APPROACH, FORCE, COORDINATE. */
  TaskName link, other;
  TaskName* links; /* links, groups and patterns given instead of `link`; the term is the sum over them */
  int links_count;
  SceneSignal motion;       /* offset of the target as a function of time: three channels; no channels if absent */
  Quat rotation;            /* for POSE: target rotation */
  double length;            /* for POSE: length that weights rotations [m] */
  double smoothing;         /* for APPROACH: smoothing length [m] */
  bool has_point;           /* false: the loss refers to the centre of mass instead of `point` */
  Vec3 point;               /* point of the link whose position or velocity the loss measures, link frame [m] */
  Vec3 target;              /* target in world coordinates [m, m/s, N]; for ORIENTATION a unit vector */
  Vec3 direction;           /* for TRAVEL, OVERHANG, EXTENT and REMOVAL: direction, unit vector */
  Vec3 axis;                /* for ORIENTATION: axis of the link, link frame, unit vector */
  bool has_target;          /* for TOUCH: true if a target is given, in the frame of `other` */
  double friction, quality; /* for CLOSURE: friction coefficient, and target of the grasp quality */
  double angle;             /* for OVERHANG: largest angle from the vertical [rad] */
  Vec3 box_low, box_high;   /* for KEEP_OUT: corners of the box, link frame [m] */
  double margin;            /* distance with which the loss compares a gap, width or distance (TaskLossType) [m] */
  int power;                /* for POINT: exponent of the distance, 1 or 2 */
  int dof;                  /* for COORDINATE: index of the degree of freedom */
  double value;             /* for COORDINATE: target value [m or rad] */
  LossOver over; /* rule that combines the values at the states of the window to one value: mean, smallest or largest */
  double from,
      to; /* start and end of the window [s]; -1 = not given: the type's default, the end of the run or all of it */
  /* Half width of the random part of the target. Each axis of the target gets a random number in [-spread, spread],
   * different for each scenario. Task.seed initializes the random numbers. */
  Vec3 spread;
  TaskScenarioSet where; /* the term applies in these scenarios only */
} TaskLoss;

typedef enum {
  OPTIMIZER_AUTO, /* L-BFGS first, then other methods if it makes no progress */
  OPTIMIZER_ADAM,
  OPTIMIZER_STEP_BOUNDED,
  OPTIMIZER_GRADIENT,
  OPTIMIZER_LBFGS,
  OPTIMIZER_CMA_ES,
  OPTIMIZER_LEVENBERG_MARQUARDT /* only for losses that fit measured data */
} TaskOptimizerType;
/* Returns the word for an optimizer type in task files. The text is static, never NULL. type: valid (asserted). */
const char* task_optimizer_name(TaskOptimizerType type);
typedef enum { NORM_INFINITY, NORM_EUCLIDEAN } TaskNorm;
typedef enum { SCHEDULE_CONSTANT, SCHEDULE_STEP, SCHEDULE_COSINE } TaskSchedule;

/* A contact parameter that changes geometrically from one value to another during an optimization. `iterations` is the
 * length of the change. If iterations is 0, the parameter is constant. */
typedef struct {
  SourcePosition place;
  double from, to;
  int iterations;
} TaskRamp;
/* Changes of contact parameters and of the contact law during an optimization. */
typedef struct {
  SourcePosition place;
  TaskRamp support, stiffness;
  ContactModel model; /* contact law from iteration `switch_at` on */
  int switch_at;      /* iteration at which the contact law changes; 0: the law does not change */
} TaskContinuation;

typedef struct {
  SourcePosition place, type_place; /* type_place: position of the key `type`, or `place` if the key is absent */
  TaskOptimizerType type;
  bool type_given;
  int iterations;
  bool step_given[2];               /* for design and control: true if the task gives the step of this block */
  double design_step, control_step; /* learning rate (adam, gradient) or trust radius (step_bounded) of each block */
  TaskNorm norm;                    /* for step_bounded: norm that measures the length of a step */
  double beta1, beta2, epsilon;     /* for adam and auto: decay rates of the means, and constant added to the divisor */
  int memory;     /* for lbfgs and auto: number of earlier steps that approximate the second derivatives of the loss */
  int population; /* for cma_es: number of samples per generation; 0: the number follows from the number of variables */
  uint64_t seed;  /* for cma_es: initial value of the random number generator, the key `seed` of the task */
  TaskSchedule schedule;
  double decay; /* factor on the optimizer's step. SCHEDULE_STEP applies it every `decay_every` iterations;
                   SCHEDULE_COSINE reaches it at the end */
  int decay_every;
  double clip;         /* largest Euclidean norm of the gradient; INFINITY: no limit */
  double discount;     /* factor on the adjoint variables at each time step, > 0 and <= 1; 1 gives the exact gradient */
  double shrink, grow; /* factors of the trust radius after a rejected and an accepted step */
  double stop_loss;    /* the optimization stops when the loss is at most this value; -INFINITY disables the test */
  int stall; /* number of iterations without a new best loss after which the optimization stops; 0 disables the test */
  double stall_decrease; /* relative decrease of the loss that counts as a new best */
  int save_every;        /* number of iterations between two checkpoints, with folders design/<iteration>/ */
  double tolerance;      /* relative residual tolerance of simulation steps; default 1e-10 */
  bool connect_keep; /* true for `connect: keep`: hulls share only the vertices in the `ties` of the scene's links. No
                        vertices are inserted */
  SourcePosition connect_place; /* position of the key `connect` in the task file */
  bool connect;                 /* true: shared vertices are inserted for overlapping hulls and for attachments */
} TaskOptimizer;

typedef enum { WARM_SHIFT, WARM_KEEP } TaskWarmStart;

/* Settings of receding-horizon optimization. Windows of a run are optimized one after another, and only the first steps
 * of each window are executed. */
typedef struct {
  bool given;
  SourcePosition place;
  int horizon, apply; /* horizon: steps of a window; apply: number of these steps that are executed */
  int iterations;     /* iterations per window; 0: TaskOptimizer.iterations */
  int steps;          /* total number of steps to execute, set by receding_create */
  TaskWarmStart warm_start;
} TaskReceding;

/* Names of the columns of measured data that belong to one link. */
typedef struct {
  SourcePosition place;
  TaskName link;
  char *position[3], *quaternion[4]; /* names of the columns with position and quaternion of the link's frame in the
                                        world; NULL: not measured */
  char *velocity[3],
      *angular_velocity[3]; /* names of the columns with the velocity of the link's frame and with its angular velocity.
                               Only the start of a run uses them. NULL: the positions give the velocity */
  bool world_rates;         /* true: angular velocities are in world axes; false: in the axes of the link */
  bool rates_before; /* true: the rates in a row belong to the midpoint in time between the previous row and this one */
  char *coordinates[JOINT_MAX_DOF],
      *rates[JOINT_MAX_DOF]; /* names of columns with the scalar coordinates of the joint, and with their rates */
  int coordinate_count, rate_count;
  double length_scale, angle_scale, weight; /* metres and radians per unit of the columns; weight of the residuals */
} TaskMeasured;

/* Recorded columns of the data that replace one signal of the scene in each run. */
typedef struct {
  SourcePosition place;
  TaskName link;
  unsigned of; /* kind of the signal, one of the bits CONTROL_DRIVES ... */
  int number;  /* index of the controller, load or tendon among all controllers, loads or tendons of the link */
  char* columns[JOINT_MAX_DOF]; /* names of the columns, one per channel */
  int column_count;
  double scale; /* factor from the unit of the columns to the unit of the signal */
  bool cubic;   /* true: cubic spline between the rows; false: straight lines */
} TaskInput;

/* Measured runs, their columns and inputs. `sdrs identify` fits parameters to these runs. */
typedef struct {
  SourcePosition place;
  bool given;
  TaskName* files; /* paths or patterns, relative to the task */
  int file_count;
  char* time;        /* name of the column with the time */
  double time_scale; /* seconds per unit of the time column */
  TaskMeasured* measured;
  int measured_count;
  TaskInput* inputs;
  int input_count;
} TaskData;

typedef struct {
  double window, stride; /* length of a window, and distance between the starts of windows [s]; window 0: whole runs;
                            default of stride: window */
  double position, rotation, coordinate; /* standard deviations of the data [m, rad, m or rad] */
  double velocity, angular_velocity,
      rate;     /* standard deviations of measured rates [m/s, rad/s, m/s or rad/s]; 0: the rates are not compared */
  double huber; /* residual above which the loss is linear, in standard deviations; INFINITY: it is always quadratic */
  double train; /* fraction of the runs used for fitting; the others are used for validation */
  int iterations;
  bool fit_initial;
  double initial_velocity, initial_rate; /* standard deviations of initial velocities [m/s, rad/s] */
  bool keep_undetermined; /* true: parameters that the data does not determine keep their values, and only the others
                             are fitted */
} TaskIdentify;

/* A random number that is added to the target of a controller or to initial coordinates. Its distribution is uniform
 * between low and high. */
typedef enum { DRAW_TARGET, DRAW_START } TaskDrawOf;
typedef struct {
  SourcePosition place;
  TaskName link;
  TaskDrawOf
      of; /* DRAW_TARGET: the target of the link's controller; DRAW_START: the initial coordinates of its joint */
  bool dof[JOINT_MAX_DOF];
  bool turns; /* DRAW_START: true if `dof` is given; rotations of a ball are then drawn, too */
  int*
      knots; /* indices of the knots of the target that the number is added to; NULL: all knots, with the same number */
  int knot_count;
  double low, high; /* bounds of the random number [m or rad] */
} TaskDraw;

/* A discrete design variable: a choice between values of a key. sets[k] is an override "key=value" with value k, as for
 * --set. */
typedef struct {
  char** sets; /* overrides, one for each value (size: count) */
  int count;   /* number of values, >= 1 */
} TaskChoice;
typedef enum { CHOICE_ALL, CHOICE_RANDOM, CHOICE_CLIMB } TaskChoiceMethod;

/* Quantity of a link that stays constant when vertices move: the mass or the density. */
typedef enum { TASK_MASS_FIXED, TASK_MASS_DENSITY } TaskMass;

typedef struct {
  char* path;
  char* name;
  char sha256[65];
  char** sources; /* texts "--set ..." of the overrides */
  int source_count;
  uint64_t seed;
  TaskScenario* scenarios;
  int scenario_count;
  TaskVertices* vertices;
  int vertices_count;
  TaskCage* cages;
  int cage_count;
  TaskFrozen* frozen;
  int frozen_count;
  TaskAttachment* attachments;
  int attachment_count;
  TaskSymmetry* symmetries;
  int symmetry_count;
  TaskConstraint* constraints;
  int constraint_count;
  TaskMass mass;
  double min_thickness; /* smallest thickness of hulls with moving vertices [m]; 0: hulls must only not become flat */
  TaskControl* controls;
  int control_count;
  TaskStart* starts;
  int start_count;
  TaskParameter* parameters;
  int parameter_count;
  TaskLoss* losses; /* the terms of subject_to (subject_count) are the last of the array (size: loss_count) */
  int loss_count, subject_count;
  TaskLoss* success; /* conditions on the final run: each is met if its value is at most its bound */
  int success_count;
  TaskOptimizer optimizer;
  TaskContinuation continuation;
  TaskReceding receding;
  TaskData data;
  TaskIdentify identify;
  TaskName
      from; /* run folder whose best design and control are the initial values; text NULL: the values of the scene */
  TaskName
      before; /* path of a task that is optimized first and whose best design is the initial design; text NULL: none */
  TaskDraw* draws;
  int draw_count;
  int draw_every;       /* number of iterations between two draws of random numbers; 0: the first draw is kept */
  int validation_tries; /* number of draws with which the result is evaluated in every scenario; 0: none */
  TaskChoice* choices;
  int choice_count;
  TaskChoiceMethod choice_method;
  int choice_tries; /* number of combinations of choices that CHOICE_RANDOM and CHOICE_CLIMB evaluate */
  int multistart;   /* number of optimizations, each from different initial values; 1: only from the values of the scene
                     */
  int bundle;       /* number of nearby designs over which gradients are averaged; 0: only the design itself */
  double spread;    /* standard deviation of the nearby designs in `bundle`, in each variable's unit */
  double memory; /* limit of the memory in which the runs of one design are stored for gradients [GiB]; 0: no limit */
  SourcePosition memory_place; /* position of the map `gradient` in the task file */
} Task;
/* Returns the number of combinations of all choices, or 1 without choices. Counting ends at the first product above the
 * limit, which is an error when the task is read. Allocates nothing. */
int64_t task_combinations(const Task* task);

/* Reads a task file, applies the overrides and checks the task. overrides: `override_count` overrides, whose texts are
 * copied. Overrides that begin with `scene.` apply to the scene of every scenario, all others to the task. Errors in
 * scenes are reported with positions in the scene files. After success every link that the task names exists in the
 * scene of every scenario, and the task has at least one variable. Returns STATUS_BAD_INPUT if an error was reported,
 * STATUS_IO if the file cannot be read. Overwrites *task. The caller frees the task with task_free in any case. */
Status task_load(Task* task, const char* path, const SceneOverride* overrides, int override_count,
                 Diagnostics* diagnostics);
/* Reads a task from a text, applies the overrides and checks the task. text: `length` bytes followed by a NUL, which
 * are not kept. json: the text is JSON, otherwise YAML. path: file name in messages; relative paths in the text are
 * relative to its folder. overrides (override_count) are copied. Returns STATUS_BAD_INPUT if an error was reported,
 * also if another file cannot be read. Overwrites *task. The caller frees the task with task_free in any case. */
Status task_parse(Task* task, const char* path, const char* text, size_t length, bool json,
                  const SceneOverride* overrides, int override_count, Diagnostics* diagnostics);
/* Frees everything that the task owns, including the scenes, and zeroes the struct. Accepts a zeroed or partly read
 * task, but not NULL. */
void task_free(Task* task);
/* Returns true if a file is a task, a map with `loss`, `scenarios` or `scene` at its top level. Returns false if the
 * file is unreadable or a pipe. Reports nothing. Allocates temporary memory. */
bool task_recognise(const char* path);
/* Returns true if a file is a scene, a map with `links`, `shapes` or `include` and no key of a task at its top level.
 * Returns false if the file is unreadable or cannot be parsed. Reports nothing. Allocates temporary memory. */
bool task_recognise_scene(const char* path);
/* Returns true if a text is a task, a map with `loss`, `scenarios` or `scene` at its top level. text: `length` bytes
 * followed by a NUL, not kept. json: the text is JSON, otherwise YAML. Returns false if the text cannot be parsed.
 * Reports nothing. Allocates temporary memory. */
bool task_recognise_text(const char* path, const char* text, size_t length, bool json);

/* Appends the JSON Schema (draft 07) of task files to `out`. The caller owns out. Cannot fail. */
void task_schema_json(Text* out);
/* Appends the page docs/task-format.md to `out`, made from the table that the reader uses. The caller owns out. Cannot
 * fail. */
void task_schema_markdown(Text* out);
/* Appends the manual page sdrs-task(5) to `out`, made from the table that the reader uses. The caller owns out. Cannot
 * fail. */
void task_schema_man(Text* out);

#endif
