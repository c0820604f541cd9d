/* task_parts: structs that receive the keys of a task's objects (forms), and functions that read the sections of a
 * task. A VALUE_CHOICE is an int in these structs. Nodes are borrowed from the document and NULL if the key is absent.
 */
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

/* Keys of a planning task. The schema and --set use this struct (scene/plan.c). app/plan.c reads the values of the task
 * without it. */
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

/* Keys that name the links of an item. Either `link` or `links` is given. */
typedef struct {
  const Node *link, *links;
} LinkSelectionForm;

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
  LinkSelectionForm which;
  BoundsForm bounds;
  const Node *hulls, *box;
  unsigned axes;
} VerticesForm;

typedef struct {
  LinkSelectionForm which;
  const Node *hulls, *box;
} FrozenForm;

typedef struct {
  LinkSelectionForm which;
  BoundsForm bounds;
  const Node *cells, *box;
  unsigned axes;
} CageForm;

typedef struct {
  LinkSelectionForm which;
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
  LinkSelectionForm which;
  IntervalForm interval;
  const Node *dof, *scenarios;
  unsigned parameters, of;
  bool tie;
} ControlForm;

typedef struct {
  LinkSelectionForm which;
  IntervalForm interval;
  bool coordinates, velocities, turns;
  const Node *dof, *scenarios;
} StartForm;

typedef struct {
  LinkSelectionForm which;
  IntervalForm interval;
  int type, form;
  const Node* dof;
  unsigned axes, lengths;
  bool tie;
  Vec3 anchor;
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
/* Largest number of cells per axis of a deformation cage. A cage is a lattice around a link whose nodes deform the
 * link's shapes. */
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

/* Reads the map `schedule`: changes of contact parameters and of the contact law during an optimization. */
void read_schedule(Reader* reader, Task* task, const Node* node);
/* Reads the map `gradient`: the memory limit, and the number and spread of nearby designs whose gradients are
 * averaged. */
void read_gradient(Reader* reader, Task* task, const Node* node);
/* Reads the map `from`. It names a run folder or an earlier task, whose best design and control are the initial
 * values. */
void read_from(Reader* reader, Task* task, const Node* node);
/* Reads the map `receding` (receding-horizon optimization). Read all sections with variables first. */
void read_receding(Reader* reader, Task* task, const Node* node);
/* Reads the scenarios of a task and their scenes (task_scenario.c). The task owns the scenes. root: root node of the
 * task. */
void read_scenarios(Reader* reader, Task* task, const Node* root, const TaskForm* form);
/* Frees the name and the scene of a scenario, but not the struct. */
void scenario_free(TaskScenario* scenario);

/* Reads the map `design`: the design variables of links (task_design.c). The key `connect` of the map sets
 * task->optimizer.connect. */
void read_design(Reader* reader, Task* task, const Node* node);
/* Frees all lists of the design in the task, but not the task. */
void design_free(Task* task);

/* Reads the list `control` (task_control.c); list is NULL if the key is absent. */
void read_controls(Reader* reader, Task* task, const Node* list);
/* Reads the list `initial`; list is NULL if the key is absent. */
void read_starts(Reader* reader, Task* task, const Node* list);
/* Bounds of one variable. Absent bounds are infinite. */
typedef struct {
  double within, low, high, prior; /* within: largest change from the initial value; prior: standard deviation around
                                      the initial value, INFINITY when absent */
  double step;                     /* step of the optimizer for this variable, in its unit; 0 when absent */
} Interval;
/* Returns the bounds of an item's variables, in the unit of the variables. Reports an error if low > high. */
Interval read_interval(Reader* reader, const Node* item, const IntervalForm* form);
/* Sets dof[i] to true for each degree of freedom i in a list, and to false for all others. If list is NULL, sets all to
 * true. After an error, sets all to false. */
void read_dof(Reader* reader, const Node* list, bool dof[JOINT_MAX_DOF]);

/* Reads the list `parameters` (task_parameters.c); list is NULL if the key is absent. */
void read_parameters(Reader* reader, Task* task, const Node* list);
/* Frees the array task->parameters and the texts that it owns. */
void parameters_free(Task* task);

/* Reads the map `data` (task_data.c): the files of measured runs, and the quantity in each column. node is NULL if the
 * key is absent. */
void read_data(Reader* reader, Task* task, const Node* node);
/* Reads the map `identify`: settings of the fit, such as lengths of windows [s] and standard deviations [m, rad, ...].
 * If node is NULL, sets the defaults. */
void read_identify(Reader* reader, Task* task, const Node* node);
/* Frees everything that read_data stored in the task. */
void data_free(Task* task);

/* Reads the lists `loss` (list) and `subject_to` (subjects) into task->losses (task_loss.c). The terms of `subject_to`
 * are the last in the array. */
void read_losses(Reader* reader, Task* task, const Node* list, const Node* subjects);
/* Reads the list `success` into task->success; list is NULL if the key is absent. */
void read_success(Reader* reader, Task* task, const Node* list);
/* Frees an array of `count` loss terms and everything that the terms own. */
void losses_free(TaskLoss* losses, int count);

/* Reads the map `optimizer` (task_optimizer.c). If node is NULL, sets the defaults. optimizer.connect stays unchanged,
 * because read_design sets it. */
void read_optimizer(Reader* reader, Task* task, const Node* node);
/* Reads the map `draws`: random numbers that are added to the scenes (task_draws.c). node is NULL if the key is absent.
 * Call read_receding first. */
void read_draws(Reader* reader, Task* task, const Node* node);
/* Reads the map `validation`: the number of random draws with which the result is evaluated. node is NULL if the key is
 * absent. Call read_success and read_draws first. */
void read_validation(Reader* reader, Task* task, const Node* node);
/* Frees the array task->draws and the texts and knots that it owns. */
void draws_free(Task* task);
/* Reads the map `choices`: discrete choices between values of keys (task_choices.c). node is NULL if the key is absent.
 * Call read_receding first. */
void read_choices(Reader* reader, Task* task, const Node* node);
/* Frees everything that read_choices stored in the task. */
void choices_free(Task* task);
/* Reads the key `multistart`, the number of optimizations from different initial values. root: root node of the task.
 * Call read_receding and read_schedule first. */
void read_multistart(Reader* reader, Task* task, const Node* root, const TaskForm* form);

/* Returns the text of a node as a name with its position. The text is NULL if node is NULL, and after an error. key:
 * key of the node, for messages. The caller frees the name with task_name_free. */
TaskName task_name(Reader* reader, const Node* node, const char* key);
/* Frees the text of the name and zeroes the struct. */
void task_name_free(TaskName* name);
/* Returns the names in a list as an array, and sets *count to their number. Reports a name that occurs twice. An
 * invalid name has the text NULL. key: key of the list, for messages. Returns NULL, with *count 0, if list is NULL. The
 * caller frees the array with task_names_free. */
TaskName* task_names(Reader* reader, const Node* list, const char* key, int* count);
/* Frees an array of `count` names and their texts. names may be NULL. */
void task_names_free(TaskName* names, int count);
/* Reads the map `box` of an item: two corners *low and *high in the link's frame [m] (task_design.c). Returns false,
 * with *low and *high unchanged, if node is NULL or after an error. */
bool read_box(Reader* reader, const Node* node, Vec3* low, Vec3* high);
/* Returns the scenarios that a list names. The name * means all scenarios. Returns all scenarios if list is NULL. The
 * caller frees the array `in` of the result with memory_free. */
TaskScenarioSet read_scenario_set(Reader* reader, const Task* task, const Node* list);
/* Returns the names of the links of an item, and sets *count to their number. The key `link` or `links` gives the
 * names. In `links` a shell pattern stands for all matching links of the first scenario. Returns NULL, with *count 0,
 * if neither key is given. The caller frees the array with task_names_free. */
TaskName* read_item_links(Reader* reader, const Task* task, const Node* item, const LinkSelectionForm* form,
                          int* count);
/* Reports an error for each link name in the task that is missing in the scene of some scenario. */
void check_link_names(Reader* reader, const Task* task);

/* ---- shared functions (task_read_list.c)
 * Reads one item of a list into an array of the task. capacity: capacity of this array, for memory_grow_array. */
typedef void (*ReadItem)(Reader* reader, Task* task, const Node* item, int* capacity);
/* Calls `read` for each item of a list, for at most TASK_ITEM_MAX items. list may be NULL. key: key of the list, for
 * messages. */
void task_read_list(Reader* reader, Task* task, const Node* list, const char* key, ReadItem read);
/* Returns a section of the task, or an empty map if `node` is NULL, so that the schema sets all defaults. The document
 * owns the map. */
const Node* task_section_or_empty(Reader* reader, const Task* task, const Node* node);
/* Returns true if low <= high. Otherwise, also for NaN, reports an error at the key `high` of the map and returns
 * false. */
bool check_order(Reader* reader, const Node* map, double low, double high);
/* Returns the unit vector along `written`, the value of the key `key`. Reports an error and returns `written` if it is
 * zero. */
Vec3 task_unit_direction(Reader* reader, const Node* map, const char* key, Vec3 written);

/* Objects of the schema of tasks (scene/task_objects.c). */
enum { TASK_OBJECT_COUNT = 37 };
extern const SchemaObject TASK_OBJECTS[];

/* Words for the types of parameters, in the order of TaskParameterType, separated by '|'. */
extern const char TASK_PARAMETER_WORDS[];

#endif
