/* task: a design task: scenarios, design variables, losses, optimizer. Read through the same kind of schema table as a
 * scene. Names of links are kept as texts with their places; they are resolved in every scenario's scene later
 * (optimize/design.c, differentiate/loss.c). A Task owns everything it points to. */
#ifndef SDRS_SCENE_TASK_H
#define SDRS_SCENE_TASK_H

#include "scene/scene.h"

/* `steps: 0`: no simulation, losses of the initial state. */
enum { TASK_KINEMATIC = -1 };
/* Returns the number of steps of a run: `asked` (TaskScenario.steps) if positive, 0 for TASK_KINEMATIC, otherwise the
 * scene's own. */
static inline int task_horizon(int asked, int own) { return asked > 0 ? asked : asked == TASK_KINEMATIC ? 0 : own; }

typedef struct {
  char* text; /* NULL = not given */
  SourcePlace place;
} TaskName;

/* A scene in which the design is evaluated, owned: read from a file (path relative to the task) or written in the task.
 */
typedef struct {
  SourcePlace place;
  char* name;    /* "0", "1", ... when not given */
  double weight; /* weight of its losses, > 0; default 1 */
  int steps;     /* horizon; 0 = the scene's own length; TASK_KINEMATIC */
  Scene scene;
} TaskScenario;

/* Scenarios to which an item applies; none given: all. */
typedef struct {
  bool* in; /* (scenarios); NULL: all */
  int count;
} TaskWhere;
/* Returns true if the item applies in this scenario. scenario must be one of the task's (not checked). */
static inline bool task_where(const TaskWhere* where, int scenario) { return !where->in || where->in[scenario]; }

/* Bounds of a group of variables: relative to the initial value (within) or absolute (low, high). Infinite if absent.
 */
typedef struct {
  double within; /* >= 0; INFINITY when absent */
  double low[3], high[3];
  double prior; /* standard deviation around the initial value; INFINITY when absent */
  double step;  /* overrides the optimizer's step, in the variable's unit; 0 when absent */
} TaskBounds;

typedef struct {
  SourcePlace place;
  TaskName link;
  int* hulls; /* selected hulls of the link, from 0; NULL: all */
  int hull_count;
  bool has_box; /* true: only initial vertices within [box_low, box_high], link frame [m] */
  Vec3 box_low, box_high;
  bool axes[3];      /* selected coordinates; default all */
  TaskBounds bounds; /* m, link frame */
} TaskVertices;

/* Vertices that do not move, whatever else the design changes. */
typedef struct {
  SourcePlace place;
  TaskName link;
  int* hulls; /* as in TaskVertices */
  int hull_count;
  bool has_box;
  Vec3 box_low, box_high;
} TaskFrozen;

/* A grid of control points that deforms a link's vertices, trilinear in each cell. */
typedef struct {
  SourcePlace place;
  TaskName link;
  int cells[3]; /* along x, y, z; each >= 1 */
  bool has_box; /* the grid's extent, link frame [m]; otherwise around the link's vertices */
  Vec3 box_low, box_high;
  bool axes[3];      /* selected coordinates of control points; default all */
  TaskBounds bounds; /* bounds of control points, link frame [m] */
} TaskCage;

typedef struct {
  SourcePlace place;
  TaskName link;     /* the link whose joint origin moves in its parent's frame */
  bool axes[3];      /* default all */
  TaskBounds bounds; /* m, parent's frame */
} TaskAttachment;

typedef enum { SYMMETRY_MIRROR, SYMMETRY_ROTATION, SYMMETRY_COPY } TaskSymmetryType;

/* The design of links[1..] follows that of links[0]:
 *   COPY      the same vertices in each link's own frame
 *   MIRROR    reflected in the plane through the origin with `normal`, in the links' frames; with one link, the link is
 *             symmetric in itself
 *   ROTATION  with one link: symmetric in itself under turns of 2 pi / count about `axis` through the frame's origin */
typedef struct {
  SourcePlace place;
  TaskSymmetryType type;
  TaskName* links;
  int link_count;
  Vec3 normal; /* MIRROR; unit */
  Vec3 axis;   /* ROTATION; unit */
  int count;   /* ROTATION, >= 2 */
} TaskSymmetry;

/* sum_k coefficient_k variable_k  (<=, =, >=)  value; over coordinates of attachments and control parameters. */
typedef enum { RELATION_AT_MOST, RELATION_EQUAL, RELATION_AT_LEAST } TaskRelation;
typedef struct {
  SourcePlace place;
  TaskName* variables; /* "link/attachment/x", "link/values/3", "link/velocity/0": names as in design.csv */
  double* coefficients;
  int count;
  TaskRelation relation;
  double value;
} TaskConstraint;

/* Parameters of a link's controllers and loads that are design variables. */
enum { CONTROL_VALUES = 1, CONTROL_AMPLITUDE = 2, CONTROL_FREQUENCY = 4, CONTROL_PHASE = 8, CONTROL_GAINS = 16 };
/* Returns the bit of a kind of gain, after those of the signal. kind must be a GainKind (not checked). */
static inline unsigned control_gain_bit(GainKind kind) { return (unsigned)CONTROL_GAINS << kind; }
typedef struct {
  SourcePlace place;
  TaskName link;           /* all controllers of this link's joint, all loads on it, tendons that end on it */
  unsigned of;             /* CONTROL_DRIVES ... bits; default: all that exist */
  unsigned parameters;     /* CONTROL_* bits; default VALUES, for sines AMPLITUDE | PHASE | VALUES */
  bool has_parameters;     /* false: the default of the signal's kind */
  bool dof[JOINT_MAX_DOF]; /* channels of the signals, degrees of freedom of the gains; default all */
  bool has_dof;
  double within;    /* bounds around the initial value; INFINITY when absent */
  double low, high; /* absolute; -INFINITY, INFINITY when absent */
  double prior;     /* standard deviation around the initial value; INFINITY when absent */
  double step;      /* as in TaskBounds */
  int tie;          /* 0: none; else the same number for all links of an item that ties them */
  TaskWhere where;  /* scenarios that each have their own variable; NULL: one variable for all */
} TaskControl;

/* Initial coordinates or velocities of a joint that are design variables. */
typedef struct {
  SourcePlace place;
  TaskName link;
  bool coordinates, velocities; /* coordinates: except the three rotations of a joint that has them */
  bool turns;                   /* the three rotations; at least one of the three flags is set */
  bool dof[JOINT_MAX_DOF];      /* selected degrees of freedom; default all */
  double within, low, high;     /* as in TaskControl */
  double prior, step;
  TaskWhere where;
} TaskStart;

/* Physical parameters that are design variables, in the order of the words in scene/task_table.c;
 * optimize/design_parameters.c has a row for each. */
typedef enum {
  PARAMETER_MASS,    /* of links */
  PARAMETER_CENTER,  /* centre of mass of links */
  PARAMETER_INERTIA, /* about the centre of mass */
  PARAMETER_SIZE,    /* edge lengths of the link's box */
  PARAMETER_DAMPING, /* joints, by degree of freedom */
  PARAMETER_SPRING,
  PARAMETER_DRY,
  PARAMETER_ARMATURE,
  PARAMETER_STATIC,
  PARAMETER_LOWER, /* limits of joints */
  PARAMETER_UPPER,
  PARAMETER_LIMIT_RESTITUTION,
  PARAMETER_AXIS,          /* direction of the axis of joints that have one */
  PARAMETER_ROTATION,      /* rotation of the joint frame in the parent frame */
  PARAMETER_SHAPE_SIZE,    /* lengths of the link's convex smooth shapes: sizes, offsets of faces */
  PARAMETER_SHAPE_FORM,    /* their exponents and sharpness */
  PARAMETER_LINK_FRICTION, /* material of links (SceneMaterial) */
  PARAMETER_LINK_RESTITUTION,
  PARAMETER_LINK_ROLLING,
  PARAMETER_LINK_SPINNING,
  PARAMETER_LINK_FRICTION_ALONG,
  PARAMETER_LINK_STATIC_FRICTION,
  PARAMETER_LINK_STRIBECK_SPEED,
  PARAMETER_PAIR_FRICTION, /* items of contact.pairs */
  PARAMETER_PAIR_RESTITUTION,
  PARAMETER_PAIR_ROLLING,
  PARAMETER_PAIR_SPINNING,
  PARAMETER_PAIR_FRICTION_ALONG,
  PARAMETER_PAIR_STATIC_FRICTION,
  PARAMETER_PAIR_STRIBECK_SPEED,
  PARAMETER_CLOSURE_POINT, /* closures of two links */
  PARAMETER_CLOSURE_AXIS,
  PARAMETER_CLOSURE_LENGTH,
  PARAMETER_RATIO,        /* ratios of couplings of a link's coordinates */
  PARAMETER_OFFSET,       /* offset of couplings that give one */
  PARAMETER_TENDON_POINT, /* tendons that end on a link */
  PARAMETER_TENDON_STIFFNESS,
  PARAMETER_TENDON_REST,
  PARAMETER_TENDON_FRICTION,
  PARAMETER_TENDON_WRAP_RADIUS,
  PARAMETER_TENDON_WRAP_POSITION,
  PARAMETER_TENDON_WRAP_AXIS,
  PARAMETER_BUSHING_STIFFNESS, /* bushings whose a is the link */
  PARAMETER_BUSHING_DAMPING,
  PARAMETER_BUSHING_PRELOAD,
  PARAMETER_BUSHING_POSITION_A,
  PARAMETER_BUSHING_POSITION_B,
  PARAMETER_GRAVITY, /* this and all following types: the scene */
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
  SourcePlace place;
  TaskParameterType type;
  TaskName* links; /* empty for parameters of the whole scene */
  int link_count;
  TaskName pair[2]; /* names in contact.pairs, or of the links of a closure; NULL for parameters that do not belong to a
                       pair */
  bool dof[JOINT_MAX_DOF], axes[3]; /* default all; gravity: x and y */
  bool has_axes;                    /* the task gives them */
  unsigned lengths;                 /* lengths of round solids that are variables, bits of task_length_bit; 0: all */
  TaskInertiaForm form;
  bool tie;                 /* one variable for all links, degrees of freedom and axes of the item */
  double within, low, high; /* as in TaskControl */
  double prior;             /* standard deviation around the initial value; INFINITY when absent */
  double step;              /* as in TaskBounds */
} TaskParameter;
/* Returns the bit of length k of a round solid in TaskParameter.lengths, by the key that the length has in a scene:
 * radius, width, rim, length, bottom_radius, top_radius, size (bits 0 to 6); 0 for other shapes and other k.
 * (scene/task_parameters.c) */
unsigned task_length_bit(const SceneShape* shape, int k);

typedef enum {
  LOSS_POINT,       /* distance of a point of `link` to `target`, of `other` if given: power 1 = |x - target|, power 2 =
                       its square */
  LOSS_TRAVEL,      /* - direction . (centre at the end of the window - centre at its beginning) */
  LOSS_RELATIVE,    /* motion of link against other: |T_link^-1 x_other - its value at the window's start|^2, x_other =
                       centre */
  LOSS_REACH,       /* max(|x - target|^2 - margin^2, 0) */
  LOSS_ORIENTATION, /* |a_world - target direction|^2, a = `axis` of the link */
  LOSS_VELOCITY,    /* |dx/dt - target|^2 of the point */
  LOSS_EFFORT,      /* sum over its controllers' degrees of freedom of the squared joint force [N^2, N^2 m^2] */
  LOSS_SMOOTHNESS,  /* squared rate of change of the controllers' targets [1/s^2] */
  LOSS_FORCE,       /* |contact force on link, of all or of other alone, - target|^2 [N^2] */
  LOSS_GAP,         /* max(margin - smallest gap of link and other, 0)^2 [m^2] */
  LOSS_SHAPE,       /* sum of squared distances of the link's vertices from the initial shape, mean over vertices */
  LOSS_VOLUME,      /* (volume / initial volume - 1)^2 of the link's hulls, summed hull by hull */
  LOSS_ROUGHNESS,   /* squared difference of the displacements of neighbouring vertices, mean over edges of the initial
                       hull */
  LOSS_APPROACH,    /* max(D - margin^2, 0), D the squared distance of link and other, smoothed [m^2] */
  LOSS_TOUCH,       /* (gap - margin)^2 plus the distance of the nearest points from their targets [m^2] */
  LOSS_CLOSURE,     /* links touch and hold another: gaps, and the missing grasp quality */
  LOSS_POSE,        /* |x - target|^2 + length^2 |R - rotation|^2 / 2 [m^2] */
  LOSS_NECK,        /* margin - width of the narrowest overlap that holds the link's hulls together [m] */
  LOSS_WALL,        /* margin - width of the link's thinnest hull [m] */
  LOSS_OVERHANG,    /* area that overhangs by more than `angle` when built along `direction` [m^2] */
  LOSS_EXTENT,      /* size along `direction` [m] */
  LOSS_KEEP_OUT,    /* margin - distance of the link's hulls from a box in its frame [m] */
  LOSS_CLEARANCE,   /* margin - smallest distance of link and other over the range of the link's joint [m] */
  LOSS_REMOVAL,     /* margin - smallest distance of link and other on a straight removal path [m] */
  LOSS_MASS,        /* mass of the link [kg] */
  LOSS_COORDINATE   /* (coordinate of link - coordinate of other - value)^2 [m^2 or rad^2] */
} TaskLossType;
enum { LOSS_TYPE_COUNT = LOSS_COORDINATE + 1 };

typedef enum {
  OVER_MEAN, /* mean over the states of the window; TRAVEL: its last state */
  OVER_BEST, /* least value of all states of the window */
  OVER_WORST /* largest value */
} LossOver;

typedef struct {
  SourcePlace place;
  TaskLossType type;
  char* name;    /* column of convergence.csv, unique; default: the type's word, with _2, _3 when repeated */
  double weight; /* > 0 */
  bool bounded;  /* true in subject_to and success: the term must not exceed `bound` and is not part of the loss */
  double bound;
  /* link not given: all links (EFFORT, SMOOTHNESS, SHAPE, VOLUME, ROUGHNESS only). other: POINT,
     RELATIVE, GAP, APPROACH, FORCE, COORDINATE only */
  TaskName link, other;
  TaskName* links; /* several links instead of `link`: links, groups and patterns; the term is their sum */
  int links_count;
  SceneSignal motion;       /* added to the target over the time of the run: three channels; zero channels if absent */
  Quat rotation;            /* POSE */
  double length;            /* POSE: length that weights rotations [m] */
  double smoothing;         /* APPROACH [m] */
  bool has_point;           /* false: the centre of mass */
  Vec3 point;               /* link frame [m] */
  Vec3 target;              /* world: m, m/s, N, or (ORIENTATION) a unit vector */
  Vec3 direction;           /* TRAVEL; unit */
  Vec3 axis;                /* ORIENTATION, link frame; unit */
  bool has_target;          /* TOUCH: a target is given, in the frame of other */
  double friction, quality; /* CLOSURE */
  double angle;             /* OVERHANG: from the vertical [rad] */
  Vec3 box_low, box_high;   /* KEEP_OUT, link frame [m] */
  double margin;            /* m */
  int power;                /* POINT: 1 or 2 */
  int dof;                  /* COORDINATE: number of the degree of freedom */
  double value;             /* COORDINATE [m or rad] */
  LossOver over;            /* how the values of the window's states make one */
  double from, to;          /* window of time [s]; -1 = not given: type's default (end of the run, or all of it) */
  /* random targets: target += a number in [-spread, spread] per axis, a different one per scenario, from task.seed */
  Vec3 spread;
  TaskWhere where; /* the term applies in these scenarios only */
} TaskLoss;

typedef enum {
  OPTIMIZER_AUTO, /* L-BFGS first, then others if it makes no progress */
  OPTIMIZER_ADAM,
  OPTIMIZER_STEP_BOUNDED,
  OPTIMIZER_GRADIENT,
  OPTIMIZER_LBFGS,
  OPTIMIZER_CMA_ES,
  OPTIMIZER_LEVENBERG_MARQUARDT /* for fits */
} TaskOptimizerType;
/* Returns the word of an optimizer in tasks; static, never NULL. type: valid (asserted). */
const char* task_optimizer_name(TaskOptimizerType type);
typedef enum { NORM_INFINITY, NORM_EUCLIDEAN } TaskNorm;
typedef enum { SCHEDULE_CONSTANT, SCHEDULE_STEP, SCHEDULE_COSINE } TaskSchedule;

/* A contact parameter that changes geometrically from one value to another over a number of iterations; 0: constant. */
typedef struct {
  SourcePlace place;
  double from, to;
  int iterations;
} TaskRamp;
/* Contact over the iterations of an optimization. */
typedef struct {
  SourcePlace place;
  TaskRamp support, stiffness;
  ContactModel model; /* law from iteration `switch_at` on */
  int switch_at;      /* 0: no change of the law */
} TaskContinuation;

typedef struct {
  SourcePlace place, type_place; /* type_place: position of `type`; `place` if absent */
  TaskOptimizerType type;
  bool type_given;
  int iterations;
  bool step_given[2];               /* true: the task gives the step of the block (design, control) */
  double design_step, control_step; /* learning rate (adam, gradient) or trust radius (step_bounded), per block */
  TaskNorm norm;                    /* step_bounded */
  double beta1, beta2, epsilon;     /* adam */
  int memory;                       /* lbfgs */
  int population;                   /* cma_es: samples per generation; 0: by the number of variables */
  uint64_t seed;                    /* cma_es: seed of the task */
  TaskSchedule schedule;
  double decay; /* STEP: factor every `decay_every` iterations; COSINE: final factor */
  int decay_every;
  double clip;               /* largest Euclidean norm of the gradient; INFINITY: no limit */
  double discount;           /* factor per step backwards in time; 1: the exact gradient */
  double shrink, grow;       /* factors of the trust radius after a rejected and an accepted step */
  double stop_loss;          /* stop when the loss is at most this; -INFINITY = off */
  int stall;                 /* stop after this many iterations without a new best; 0 = off */
  double stall_decrease;     /* relative decrease of the loss that counts as a new best */
  int save_every;            /* iterations between design/<iteration>/ and checkpoints */
  double tolerance;          /* relative tolerance of the steps; default 1e-10 */
  bool connect_keep;         /* connect: only vertices that the scene shares */
  SourcePlace connect_place; /* position of `connect` */
  bool connect;              /* insert shared vertices for overlapping hulls and attachments */
} TaskOptimizer;

typedef enum { WARM_SHIFT, WARM_KEEP } TaskWarmStart;

/* Receding horizon: only the first steps of every optimized window are executed. */
typedef struct {
  bool given;
  SourcePlace place;
  int horizon, apply; /* steps of a window, and number of them that are executed */
  int iterations;     /* iterations per window; 0: those of the optimizer */
  int steps;          /* total number of steps to execute, set by receding_create */
  TaskWarmStart warm_start;
} TaskReceding;

/* Columns of the data that measure a link. */
typedef struct {
  SourcePlace place;
  TaskName link;
  char *position[3], *quaternion[4];       /* names of columns; NULL: not measured. World pose of the link's frame */
  char *velocity[3], *angular_velocity[3]; /* at the start of a run only; NULL: derived from the positions */
  bool world_rates;                        /* angular velocities are in world axes, else in the link's */
  bool rates_before;                       /* rates of a row are those over the time since the row before */
  char *coordinates[JOINT_MAX_DOF], *rates[JOINT_MAX_DOF]; /* columns of the plain coordinates of the joint */
  int coordinate_count, rate_count;
  double length_scale, angle_scale, weight; /* m and rad per unit of the columns; weight of its residuals */
} TaskMeasured;

/* Columns of the data that replace a signal of the scene. */
typedef struct {
  SourcePlace place;
  TaskName link;
  unsigned of;                  /* CONTROL_DRIVES, ... */
  int number;                   /* index of its controller or load among the link's */
  char* columns[JOINT_MAX_DOF]; /* one per channel */
  int column_count;
  double scale; /* unit of the signal per unit of the columns */
  bool cubic;   /* interpolated by a cubic spline instead of straight lines */
} TaskInput;

/* Measured runs and how they are fitted (`sdrs identify`). */
typedef struct {
  SourcePlace place;
  bool given;
  TaskName* files; /* paths or patterns, relative to the task */
  int file_count;
  char* time;        /* column */
  double time_scale; /* s per unit */
  TaskMeasured* measured;
  int measured_count;
  TaskInput* inputs;
  int input_count;
} TaskData;

typedef struct {
  double window, stride;                 /* s; window 0: whole runs; stride defaults to the window */
  double position, rotation, coordinate; /* standard deviations of the data [m, rad, m or rad] */
  double velocity, angular_velocity,
      rate;     /* standard deviations of rates [m/s, rad/s, either]; 0: rates are not compared */
  double huber; /* in standard deviations; INFINITY: plain squares */
  double train; /* fraction of the runs that is fitted */
  int iterations;
  bool fit_initial;
  double initial_velocity, initial_rate; /* standard deviations of initial velocities [m/s, rad/s] */
  bool keep_undetermined;                /* fit the parameters that can be determined, keep the others */
} TaskIdentify;

/* Uniform random numbers between low and high that are added to numbers of the scenes. */
typedef enum { DRAW_TARGET, DRAW_START } TaskDrawOf;
typedef struct {
  SourcePlace place;
  TaskName link;
  TaskDrawOf of; /* target of the link's controller, or initial coordinates of its joint */
  bool dof[JOINT_MAX_DOF];
  bool turns; /* START: dof is given, so that three rotations are drawn, too */
  int* knots; /* indices of the target's knots; NULL: all, by the same number */
  int knot_count;
  double low, high; /* m or rad */
} TaskDraw;

/* A discrete choice: for each value the override "key=value", as for --set. */
typedef struct {
  char** sets; /* (count) */
  int count;   /* >= 1 */
} TaskChoice;
typedef enum { CHOICE_ALL, CHOICE_RANDOM, CHOICE_CLIMB } TaskChoiceMethod;

/* Treatment of the mass while vertices move. */
typedef enum { TASK_MASS_FIXED, TASK_MASS_DENSITY } TaskMass;

typedef struct {
  char* path;
  char* name;
  char sha256[65];
  char** sources; /* texts of overrides */
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
  double min_thickness; /* smallest thickness of hulls that move [m]; 0: only not flat */
  TaskControl* controls;
  int control_count;
  TaskStart* starts;
  int start_count;
  TaskParameter* parameters;
  int parameter_count;
  TaskLoss* losses; /* terms of subject_to are last */
  int loss_count, subject_count;
  TaskLoss* success; /* conditions on the final run: each is met if it is at most its bound */
  int success_count;
  TaskOptimizer optimizer;
  TaskContinuation continuation;
  TaskReceding receding;
  TaskData data;
  TaskIdentify identify;
  TaskName from;   /* run folder whose best design and control are the start; text NULL: the scene's values */
  TaskName before; /* path of a task that is optimized first, whose best design is the start; text NULL: none */
  TaskDraw* draws;
  int draw_count;
  int draw_every;       /* iterations between two draws; 0: always the first draw */
  int validation_tries; /* draws on which the result is evaluated, in every scenario; 0: none */
  TaskChoice* choices;
  int choice_count;
  TaskChoiceMethod choice_method;
  int choice_tries; /* number of combinations that RANDOM and CLIMB evaluate */
  int multistart;   /* number of optimizations, each from another start; 1: only from the scene's values */
  int bundle;       /* number of nearby designs over which gradients are averaged; 0: only the design itself */
  double spread;    /* standard deviation of those designs, in each variable's unit */
  double memory;    /* memory limit for the runs of one design during gradients [GiB]; 0: runs are stored whole */
  SourcePlace memory_place; /* of `gradient` */
} Task;
/* Returns the number of combinations of all choices; 1 without any. Stops at the first product above the limit, which
 * is an error when the task is read. Allocates nothing. */
int64_t task_combinations(const Task* task);

/* Reads a task, applies overrides[override_count] and checks it; errors of scenes have their own files' places.
 * Overrides that begin with `scene.` apply to the scenes of all scenarios, others to the task. After success every link
 * that the task names exists in every scenario's scene, and there is at least one variable. Returns STATUS_BAD_INPUT if
 * an error was reported, STATUS_IO if the file cannot be read. *task is overwritten; the caller frees it with task_free
 * in any case. overrides are copied. */
Status task_load(Task* task, const char* path, const SceneOverride* overrides, int override_count,
                 Diagnostics* diagnostics);
/* As task_load, for a text of `length` bytes with a NUL behind it, which is not kept. json selects the format. `path`
 * names the text in messages and anchors relative paths. Returns STATUS_BAD_INPUT if an error was reported, also for a
 * file that cannot be read. */
Status task_parse(Task* task, const char* path, const char* text, size_t length, bool json,
                  const SceneOverride* overrides, int override_count, Diagnostics* diagnostics);
/* Frees everything the task owns, its scenes too, and zeroes it. Accepts a zeroed or partly read task, but not NULL. */
void task_free(Task* task);
/* Returns true if the file is a task rather than a scene: a map with `loss`, `scenarios` or `scene` at its top. False
 * if it is unreadable, and for a pipe, which counts as a scene. Reports nothing. Allocates temporarily. */
bool task_recognise(const char* path);
/* Returns true if the file is a scene: a map with `links`, `shapes` or `include` and none of the task's keys. False if
 * it is unreadable or cannot be parsed. Reports nothing. Allocates temporarily. */
bool task_recognise_scene(const char* path);
/* As task_recognise for a text of `length` bytes with a NUL behind it, which is not kept. False if it cannot be parsed.
 * Reports nothing. Allocates temporarily. */
bool task_recognise_text(const char* path, const char* text, size_t length, bool json);

/* Appends the JSON Schema (draft 07) of tasks. The caller owns out. Cannot fail. */
void task_schema_json(Text* out);
/* Appends docs/task-format.md. The caller owns out. Cannot fail. */
void task_schema_markdown(Text* out);
/* Appends the manual page sdrs-task(5), from the same table. The caller owns out. Cannot fail. */
void task_schema_man(Text* out);

#endif
