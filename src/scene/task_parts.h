/* task_parts: forms of the objects of a task, and the readers of its sections. As in forms.h, a VALUE_CHOICE is an int
 * here, and nodes are borrowed from the document and NULL when absent. */
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

/* A planning task, which app/plan.c reads; here for the schema and for --set (scene/plan.c). */
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

/* The links that an item is about: one of the two. */
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

/* ---------------------------------------------------------------- guards
 * Items of one list of a task. */
#define TASK_ITEM_MAX 100000
#define SCENARIO_MAX 1000
/* Cells of a cage along an axis. */
#define CAGE_CELLS_MAX 64

/* Overrides that begin so are for the scenes. */
#define TASK_SCENE_PREFIX "scene."

/* ---------------------------------------------------------------- readers
 * Each reads its section of the task; node NULL: the section is absent. */

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

/* Contact over the iterations. */
void read_schedule(Reader* reader, Task* task, const Node* node);
/* Reads the settings of gradients. */
void read_gradient(Reader* reader, Task* task, const Node* node);
/* Another run's design and control. */
void read_from(Reader* reader, Task* task, const Node* node);
/* Windows; after all that may change is known. */
void read_receding(Reader* reader, Task* task, const Node* node);
/* task_scenario.c: the scenarios with their scenes, read and checked; the task owns them. */
void read_scenarios(Reader* reader, Task* task, const Node* root, const TaskForm* form);
/* Frees its name and scene, not the struct. */
void scenario_free(TaskScenario* scenario);

/* task_design.c: reads the design; its `connect` belongs to the optimizer. */
void read_design(Reader* reader, Task* task, const Node* node);
/* Frees all lists of the design, not the task. */
void design_free(Task* task);

/* The list `control` (task_control.c); NULL: it is absent. */
void read_controls(Reader* reader, Task* task, const Node* list);
/* The list `initial`; NULL: it is absent. */
void read_starts(Reader* reader, Task* task, const Node* list);
/* Interval of a variable; infinite by default. */
typedef struct {
  double within, low, high, prior; /* prior: INFINITY when absent */
  double step;                     /* 0 when absent */
} Interval;
/* Returns the bounds of an item in the unit of its quantity; reports an error if low is above high. */
Interval read_interval(Reader* reader, const Node* item, const IntervalForm* form);
/* Sets the degrees of freedom that a list of numbers names; all without a list. All false after an error. */
void read_dof(Reader* reader, const Node* list, bool dof[JOINT_MAX_DOF]);

/* The list `parameters` (task_parameters.c); NULL: it is absent. */
void read_parameters(Reader* reader, Task* task, const Node* list);
/* Frees the list and its texts. */
void parameters_free(Task* task);

/* Reads the map `data`: files, columns and their quantities (task_data.c); NULL: absent. */
void read_data(Reader* reader, Task* task, const Node* node);
/* The map `identify`, with its defaults where it is absent: windows [s], deviations [m, rad, ...]. */
void read_identify(Reader* reader, Task* task, const Node* node);
/* Frees the memory of read_data. */
void data_free(Task* task);

/* Reads the lists `loss` and `subject_to`, whose terms come last in task->losses (task_loss.c). */
void read_losses(Reader* reader, Task* task, const Node* list, const Node* subjects);
/* The list `success`, into task->success; NULL: it is absent. */
void read_success(Reader* reader, Task* task, const Node* list);
/* Frees the array (count) and all that its terms own. */
void losses_free(TaskLoss* losses, int count);

/* The map `optimizer`, with its defaults where it is absent; connect, of the design, stays (task_optimizer.c). */
void read_optimizer(Reader* reader, Task* task, const Node* node);
/* The map `draws`, after windows are known (task_draws.c); NULL: it is absent. */
void read_draws(Reader* reader, Task* task, const Node* node);
/* The map `validation`, after success and draws; NULL: it is absent. */
void read_validation(Reader* reader, Task* task, const Node* node);
/* Frees the list and its texts. */
void draws_free(Task* task);
/* The map `choices`, after windows are known (task_choices.c); NULL: it is absent. */
void read_choices(Reader* reader, Task* task, const Node* node);
/* Frees the memory of read_choices. */
void choices_free(Task* task);
/* Several starts; after windows and contact over the iterations are known. */
void read_multistart(Reader* reader, Task* task, const Node* root, const TaskForm* form);

/* task_names.c: returns a copy of a text with its place; text NULL for node NULL and after an error. The caller frees
 * it with task_name_free. */
TaskName task_name(Reader* reader, const Node* node, const char* key);
/* Frees the text and zeroes it. */
void task_name_free(TaskName* name);
/* The names of a list, none twice, freed by the caller with task_names_free; those that are wrong have text NULL.
 * NULL and *count 0 for list NULL. */
TaskName* task_names(Reader* reader, const Node* list, const char* key, int* count);
/* Frees the array (count) and its texts; NULL is accepted. */
void task_names_free(TaskName* names, int count);
/* task_design.c. `box` of an item; false: there is none, or it is wrong. low, high in the link's frame [m]; they
 * stay where it is false. */
bool read_box(Reader* reader, const Node* node, Vec3* low, Vec3* high);
/* The scenarios that an item is about, by their names or *; the item owns the array. All without a list. */
TaskWhere read_where(Reader* reader, const Task* task, const Node* list);
/* Returns the links of an item: those of `link` or of `links`, where a shell pattern means all matching links of the
 * first scenario. Freed with task_names_free; NULL and *count 0 if neither is given. */
TaskName* read_which(Reader* reader, const Task* task, const Node* item, const WhichForm* form, int* count);
/* Complain about names that are no link of every scenario's scene. */
void check_link_names(Reader* reader, const Task* task);

/* ---- for several (task_items.c)
 * Read the items of a list into an array of the task; capacity: of that array, for memory_grown. */
typedef void (*ReadItem)(Reader* reader, Task* task, const Node* item, int* capacity);
/* Reads at most TASK_ITEM_MAX items; list NULL: none. */
void task_items(Reader* reader, Task* task, const Node* list, const char* key, ReadItem read);
/* Returns a section; an absent one as empty and owned by the document, so that the schema is the only place for
 * defaults. */
const Node* task_section(Reader* reader, const Task* task, const Node* node);
/* Complain at the key `high` of a map when low is above high, or one is NaN; false then. */
bool check_order(Reader* reader, const Node* map, double low, double high);
/* Returns the unit vector along the value of a key. Zero is an error, after which `written` is returned. */
Vec3 task_direction(Reader* reader, const Node* map, const char* key, Vec3 written);

/* The objects of tasks, for the table (scene/task_objects.c). */
enum { TASK_OBJECT_COUNT = 37 };
extern const SchemaObject TASK_OBJECTS[];

#endif
