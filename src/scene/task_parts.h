/* task_parts: structs that receive the keys of a task's objects (forms), and the functions that read the sections of a
 * task. As in forms.h, a VALUE_CHOICE is an int, and nodes are borrowed from the document and NULL when absent. */
#ifndef SDRS_SCENE_TASK_PARTS_H
#define SDRS_SCENE_TASK_PARTS_H

#include "scene/parts.h"
#include "scene/task.h"

/* ---------------------------------------------------------------- forms */

typedef struct {
  const Node *name, *scene, *scenarios, *set, *design, *control, *initial, *parameters, *loss, *optimizer, *gradient,
      *schedule, *receding, *data, *identify, *from, *subject_to, *success, *draws, *validation, *choices, *plan;
  int seed, steps, multistart;
} TaskForm;

typedef struct {
  double memory, spread;
  int bundle;
} GradientForm;

typedef struct {
  const Node* numbers;
  int every;
} DrawsForm;

typedef struct {
  const Node *link, *dof, *knots;
  int of;
  double low, high;
} DrawForm;

typedef struct {
  int tries;
} ValidationForm;

typedef struct {
  const Node* of;
  int method, tries;
} ChoicesForm;

typedef struct {
  const Node *key, *values;
} ChoiceForm;

typedef struct {
  const Node *run, *task;
} FromForm;

typedef struct {
  TaskReceding receding;
  int warm_start;
} RecedingForm;

/* Struct of a planning task, which serves the schema and --set (scene/plan.c). app/plan.c reads the task itself. */
typedef struct {
  const Node *body, *obstacles;
  Vec3 from, to, low, high;
  double clearance, smoothness;
  int points, seed;
} PlanForm;

typedef struct {
  const Node *size, *exponents, *normals, *offsets;
  Vec3 position;
  Quat quaternion;
  double exponent, radius, half_length, bottom_radius, top_radius, below, above, sharpness, length;
  int type;
} PlanShapeForm;

typedef struct {
  const Node *files, *time, *measured, *inputs;
  double time_scale;
} DataForm;

typedef struct {
  const Node *link, *columns;
  int of, number, interpolation;
  double scale;
} InputForm;

typedef struct {
  const Node *link, *position, *quaternion, *velocity, *angular_velocity, *coordinates, *rates;
  int rate_axes, rates_at;
  double length_scale, angle_scale, weight;
} MeasuredForm;

typedef struct {
  const Node *name, *scene, *set;
  int steps;
  double weight;
} ScenarioForm;

typedef struct {
  const Node *vertices, *cage, *frozen, *attachments, *symmetry, *constraints;
  int mass;
  double min_thickness;
  const Node* connect;
} DesignForm;

/* Names of the links of an item: either `link` or `links` is given. */
typedef struct {
  const Node *link, *links;
} WhichForm;

typedef struct {
  double within, prior, step;
  NumberList low, high;
} BoundsForm;

typedef struct {
  double within, low, high, prior, step;
} IntervalForm;

typedef struct {
  Vec3 low, high;
} BoxForm;

typedef struct {
  WhichForm which;
  BoundsForm bounds;
  const Node *hulls, *box;
  unsigned axes;
} VerticesForm;

typedef struct {
  WhichForm which;
  const Node *hulls, *box;
} FrozenForm;

typedef struct {
  WhichForm which;
  BoundsForm bounds;
  const Node *cells, *box;
  unsigned axes;
} CageForm;

typedef struct {
  WhichForm which;
  BoundsForm bounds;
  unsigned axes;
} AttachmentForm;

typedef struct {
  int type;
  const Node* links;
  Vec3 normal, axis;
  int count;
} SymmetryForm;

typedef struct {
  const Node *variables, *coefficients;
  int relation;
  double value;
} ConstraintForm;

typedef struct {
  WhichForm which;
  IntervalForm interval;
  const Node *dof, *scenarios;
  unsigned parameters, of;
  bool tie;
} ControlForm;

typedef struct {
  WhichForm which;
  IntervalForm interval;
  bool coordinates, velocities, turns;
  const Node *dof, *scenarios;
} StartForm;

typedef struct {
  WhichForm which;
  IntervalForm interval;
  int type, form;
  const Node* dof;
  unsigned axes, lengths;
  bool tie;
  const Node* pair[2];
} ParameterForm;

typedef struct {
  TaskLoss loss;
  int type, over;
  const Node *name, *link, *links, *other, *motion, *scenarios, *box;
} LossForm;

typedef struct {
  LossForm loss;
  double max;
} SubjectForm;

typedef struct {
  TaskOptimizer optimizer;
  int type, norm, schedule;
} OptimizerForm;

/* ---------------------------------------------------------------- limits
 * Largest number of items in one list of a task. */
#define TASK_ITEM_MAX 100000
#define SCENARIO_MAX 1000
/* Largest number of cells of a cage along an axis. */
#define CAGE_CELLS_MAX 64

/* Prefix of overrides that apply to the scenes of a task. */
#define TASK_SCENE_PREFIX "scene."

/* ---------------------------------------------------------------- readers
 * Each read_ function reads one section of the task and reports errors through `reader`; node is NULL if the section is
 * absent. */

/* task_scenario.c: the scenarios with their scenes. */
typedef struct {
  double from, to;
  int iterations;
} RampForm;

typedef struct {
  int to, at;
} SwitchForm;

typedef struct {
  const Node *support, *stiffness, *model;
} ScheduleForm;

/* Reads the map `schedule`: changes of contact parameters and of the contact law during the optimization. */
void read_schedule(Reader* reader, Task* task, const Node* node);
/* Reads the map `gradient`: memory limit, number and spread of nearby designs. */
void read_gradient(Reader* reader, Task* task, const Node* node);
/* Reads the map `from`: a run folder or an earlier task, whose best design and control are the initial values. */
void read_from(Reader* reader, Task* task, const Node* node);
/* Reads the map `receding`. Call it after all sections with variables. */
void read_receding(Reader* reader, Task* task, const Node* node);
/* Reads the scenarios and their scenes, which the task owns (task_scenario.c). root: root node of the task. */
void read_scenarios(Reader* reader, Task* task, const Node* root, const TaskForm* form);
/* Frees name and scene of the scenario, but not the struct. */
void scenario_free(TaskScenario* scenario);

/* Reads the map `design` (task_design.c). Its key `connect` sets task->optimizer.connect. */
void read_design(Reader* reader, Task* task, const Node* node);
/* Frees all lists of the design, but not the task. */
void design_free(Task* task);

/* Reads the list `control` (task_control.c); list is NULL if the key is absent. */
void read_controls(Reader* reader, Task* task, const Node* list);
/* Reads the list `initial`; list is NULL if the key is absent. */
void read_starts(Reader* reader, Task* task, const Node* list);
/* Bounds of a variable; infinite by default. */
typedef struct {
  double within, low, high, prior; /* prior: INFINITY when absent */
  double step;                     /* 0 when absent */
} Interval;
/* Returns the bounds of an item, in the unit of the variable. Reports an error if low > high. */
Interval read_interval(Reader* reader, const Node* item, const IntervalForm* form);
/* Sets dof[i] to true for each degree of freedom i in the list, and to false for the others. Sets all to true if list
 * is NULL, and all to false after an error. */
void read_dof(Reader* reader, const Node* list, bool dof[JOINT_MAX_DOF]);

/* Reads the list `parameters` (task_parameters.c); list is NULL if the key is absent. */
void read_parameters(Reader* reader, Task* task, const Node* list);
/* Frees task->parameters with their texts. */
void parameters_free(Task* task);

/* Reads the map `data`: the files of measured runs, and the quantity in each column (task_data.c); node is NULL if the
 * key is absent. */
void read_data(Reader* reader, Task* task, const Node* node);
/* Reads the map `identify`: lengths of windows [s], standard deviations [m, rad, ...]. If node is NULL, sets the
 * defaults. */
void read_identify(Reader* reader, Task* task, const Node* node);
/* Frees the memory of read_data. */
void data_free(Task* task);

/* Reads the lists `loss` (list) and `subject_to` (subjects) into task->losses; the terms of `subject_to` are last
 * (task_loss.c). */
void read_losses(Reader* reader, Task* task, const Node* list, const Node* subjects);
/* Reads the list `success` into task->success; list is NULL if the key is absent. */
void read_success(Reader* reader, Task* task, const Node* list);
/* Frees losses[count] and everything that the terms own. */
void losses_free(TaskLoss* losses, int count);

/* Reads the map `optimizer` (task_optimizer.c). If node is NULL, sets the defaults. Does not change optimizer.connect,
 * which read_design sets. */
void read_optimizer(Reader* reader, Task* task, const Node* node);
/* Reads the map `draws` (task_draws.c); node is NULL if the key is absent. Call it after read_receding. */
void read_draws(Reader* reader, Task* task, const Node* node);
/* Reads the map `validation`; node is NULL if the key is absent. Call it after read_success and read_draws. */
void read_validation(Reader* reader, Task* task, const Node* node);
/* Frees task->draws with their texts and knots. */
void draws_free(Task* task);
/* Reads the map `choices` (task_choices.c); node is NULL if the key is absent. Call it after read_receding. */
void read_choices(Reader* reader, Task* task, const Node* node);
/* Frees the memory of read_choices. */
void choices_free(Task* task);
/* Reads `multistart`, the number of optimizations from different initial values. root: root node of the task. Call it
 * after read_receding and read_schedule. */
void read_multistart(Reader* reader, Task* task, const Node* root, const TaskForm* form);

/* Returns a copy of the node's text with its place (task_names.c). The text is NULL if node is NULL, and after an
 * error. The caller frees it with task_name_free. key: key of the node, for messages. */
TaskName task_name(Reader* reader, const Node* node, const char* key);
/* Frees the text of the name and zeroes the struct. */
void task_name_free(TaskName* name);
/* Returns the names of a list as an array, and sets *count to their number. Reports a name that occurs twice; an
 * invalid name has text NULL. key: key of the list, for messages. Returns NULL, with *count 0, if list is NULL. The
 * caller frees the array with task_names_free. */
TaskName* task_names(Reader* reader, const Node* list, const char* key, int* count);
/* Frees names[count] and their texts; names may be NULL. */
void task_names_free(TaskName* names, int count);
/* Reads the map `box` of an item into low and high, in the link's frame [m] (task_design.c). Returns false, with low
 * and high unchanged, if node is NULL or after an error. */
bool read_box(Reader* reader, const Node* node, Vec3* low, Vec3* high);
/* Returns the scenarios in a list of names, in which * means all; all scenarios if list is NULL. The caller frees the
 * array `in` of the result with memory_free. */
TaskWhere read_where(Reader* reader, const Task* task, const Node* list);
/* Returns the names of the links of an item, given by `link` or by `links`, and sets *count to their number. In `links`
 * a shell pattern stands for all matching links of the first scenario. Returns NULL, with *count 0, if neither key is
 * given. The caller frees the array with task_names_free. */
TaskName* read_which(Reader* reader, const Task* task, const Node* item, const WhichForm* form, int* count);
/* Reports an error for each name of a link in the task that does not exist in the scene of every scenario. */
void check_link_names(Reader* reader, const Task* task);

/* ---- shared functions (task_items.c)
 * Reads one item of a list into an array of the task. capacity: capacity of this array, for memory_grown. */
typedef void (*ReadItem)(Reader* reader, Task* task, const Node* item, int* capacity);
/* Calls `read` for each item of the list, at most TASK_ITEM_MAX; list may be NULL. key: key of the list, for
 * messages. */
void task_items(Reader* reader, Task* task, const Node* list, const char* key, ReadItem read);
/* Returns `node`, or if it is NULL an empty map that the document owns. All defaults thus come from the schema. */
const Node* task_section(Reader* reader, const Task* task, const Node* node);
/* Reports an error at the key `high` of the map and returns false if low > high or one of them is NaN. */
bool check_order(Reader* reader, const Node* map, double low, double high);
/* Returns the unit vector along `written`, the value of a key. Reports an error and returns `written` if it is zero. */
Vec3 task_direction(Reader* reader, const Node* map, const char* key, Vec3 written);

/* The objects of the schema of tasks (scene/task_objects.c). */
enum { TASK_OBJECT_COUNT = 37 };
extern const SchemaObject TASK_OBJECTS[];

#endif
