#include "support/losses.h"

#include <stdio.h>
#include <string.h>

#include "support/bodies.h"
#include "support/sweep.h"

const char LOSS_SCENE[] =
    "simulation: {dt: 0.01, steps: 6, tolerance: 1.0e-8%s}\n"
    "contact: {friction: 0.4}\n"
    "shapes:\n"
    "  brick: {type: box, size: [0.1, 0.16, 0.3]}\n"
    "  wedge: {type: points, points: [[0, 0, 0], [0.3, 0, 0.02], [0, 0.2, 0], [0.05, 0.04, 0.25], [0.2, 0.15, 0.1]]}\n"
    "links:\n"
    "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
    "  - {name: arm, joint: {type: hinge, axis: [0, 1, 0.2], position: [0, 0, 1]}, mass: 1, shape: brick}\n"
    "  - {name: hand, parent: arm, joint: {type: ball, position: [0.1, 0, -0.4]}, mass: 0.5, shape: wedge}\n"
    "  - {name: crate, mass: 2, mass_model: vertices, position: [0.8, 0, 0.16], shape: brick}\n"
    "  - name: cart\n"
    "    joint: {type: free, free_axes: [x, y, rz], position: [0, 2, 1]}\n"
    "    mass: 1\n"
    "    shapes: [brick, {shape: wedge, position: [0.2, 0, 0.1]}]\n"
    "  - {name: drone, joint: {type: free, position: [0, -2, 1]}, mass: 1, shape: wedge}\n"
    "  - {name: piston, joint: {type: slide, axis: [1, 0, 0], position: [0, 4, 1], limits: [-1, 1]}, shape: brick}\n"
    "controllers:\n"
    "  - link: arm\n"
    "    type: pd\n"
    "    position_gain: 40\n"
    "    velocity_gain: 0.02\n"
    "    target: {type: sines, offset: 0.2, terms: [{amplitude: 0.3, frequency: 3, phase: 0.4}]}\n"
    "  - link: hand\n"
    "    type: pd\n"
    "    position_gain: [3, 4, 5]\n"
    "    velocity_gain: [0.003, 0.002, 0.001]\n"
    "    target: {type: spline, times: [0, 0.02, 0.05], values: [[0.3, 0.2, -0.4], [0.5, -0.1, 0.2], [1.5, 2, -0.5]]}\n"
    "  - link: cart\n"
    "    type: pd\n"
    "    position_gain: [10, 20, 30]\n"
    "    velocity_gain: [0.1, 0.2, 0.3]\n"
    "    target: {type: sequence, interval: 0.025, values: [[0, 0, 0], [0.1, 0.2, 0.3], [0.3, -0.1, 0.2]]}\n"
    "  - {link: cart, type: pd, position_gain: 7, target: [0.1, -0.2, 0.3]}\n"
    "  - link: drone\n"
    "    type: pd\n"
    "    position_gain: [9, 8, 7, 6, 5, 4]\n"
    "    velocity_gain: 0.05\n"
    "    target:\n"
    "      type: keyframes\n"
    "      times: [0, 0.035, 0.2]\n"
    "      values: [[0, 0, 0, 0.1, 0.2, 0.3], [0.1, 0.2, 0.3, 2, 0.2, 1.2], [0, 0, 1, -0.1, 0.2, 0.3]]\n"
    "  - {link: piston, type: prescribed, target: {type: sines, terms: [{amplitude: 0.1, frequency: 4}]}}\n"
    "initial:\n"
    "  - {link: crate, coordinates: [0, 0, 0, 0.05, 0.08, 0.3], velocities: [0.3, 0.1, -0.2, 0, 0, 1]}\n"
    "  - {link: drone, coordinates: [0.1, 0, 0, 0.4, -0.3, 0.2], velocities: [0.5, 0, 0, 1, 2, 3]}\n"
    "  - {link: hand, coordinates: [-0.4, 0.3, 0.1], velocities: [2, -1, 1]}\n";

/* ---------------------------------------------------------------- a recording */

static size_t states_of(const Recording* r) { return (size_t)r->steps + 1; }

static size_t feedback_size(const Recording* r) { return states_of(r) * (size_t)r->model->feedback_count; }

static void recording_allocate(Recording* r, const Model* model, int steps) {
  *r = (Recording){.model = model, .steps = steps};
  r->q = MEMORY_NEW(double, states_of(r) * (size_t)model->coordinate_count);
  r->rate = MEMORY_NEW(double, states_of(r) * (size_t)model->dof_count);
  r->pose = MEMORY_NEW(Pose, states_of(r) * (size_t)model->link_count);
  r->force = MEMORY_NEW(Vec3, states_of(r) * (size_t)model->link_count);
  r->feedback = MEMORY_NEW(double, feedback_size(r) + 1);
}

static void recording_release(Recording* r) {
  memory_free(r->q);
  memory_free(r->rate);
  memory_free(r->pose);
  memory_free(r->force);
  memory_free(r->pair_force);
  memory_free(r->feedback);
}

static void recording_copy(Recording* to, const Recording* from) {
  const Model* m = from->model;
  size_t states = states_of(from);
  memcpy(to->q, from->q, sizeof(double) * states * (size_t)m->coordinate_count);
  memcpy(to->rate, from->rate, sizeof(double) * states * (size_t)m->dof_count);
  memcpy(to->pose, from->pose, sizeof(Pose) * states * (size_t)m->link_count);
  memcpy(to->force, from->force, sizeof(Vec3) * states * (size_t)m->link_count);
  memcpy(to->feedback, from->feedback, sizeof(double) * feedback_size(from));
}

static void record_state(Recording* r, Sim* sim, int step) {
  const Model* m = r->model;
  const SimState* state = sim_state(sim);
  size_t links = (size_t)m->link_count, row = (size_t)step;
  memcpy(r->q + row * (size_t)m->coordinate_count, state->q, sizeof(double) * (size_t)m->coordinate_count);
  memcpy(r->rate + row * (size_t)m->dof_count, state->rate, sizeof(double) * (size_t)m->dof_count);
  memcpy(r->pose + row * links, state->pose, sizeof(Pose) * links);
  if (step == 0) return;
  size_t inputs = (size_t)m->feedback_count;
  if (inputs > 0) memcpy(r->feedback + row * inputs, sim_feedback(sim), sizeof(double) * inputs);
  int count;
  const SimContact* contacts = sim_contacts(sim, &count);
  Vec3* force = r->force + row * links;
  for (int i = 0; i < count; i++) {
    force[contacts[i].a] = vec3_sub(force[contacts[i].a], contacts[i].force);
    force[contacts[i].b] = vec3_add(force[contacts[i].b], contacts[i].force);
  }
}

/* ---------------------------------------------------------------- the model as vectors */

static int vertices_of(const Model* m) {
  int count = 0;
  for (int h = 0; h < m->hull_count; h++) count += m->hulls[h].points.count;
  return count;
}

/* Returns the model's array for a read-only view. The model owns the array. */
static double* writable(const double* read) {
  union {
    const double* read;
    double* own;
  } pointer = {.read = read};
  return pointer.own;
}

static void set_hull(ModelHull* hull, const Vec3* vertices, const double* moved) {
  double *x = writable(hull->points.x), *y = writable(hull->points.y), *z = writable(hull->points.z);
  int last = hull->points.count - 1;
  hull->radius = 0;
  for (int i = 0; i < hull->points.padded; i++) {
    int from = i < last ? i : last;
    Vec3 v = vec3_add(vertices[from], vec3(moved[3 * from], moved[3 * from + 1], moved[3 * from + 2]));
    x[i] = v.x, y[i] = v.y, z[i] = v.z;
    hull->solid.vertices[from] = v;
    hull->radius = fmax(hull->radius, vec3_norm(vec3_sub(v, hull->center)));
  }
}

/* Returns the address of parameter p of a signal, in the order values, amplitude, frequency, phase. */
static double* parameter_of(const SceneSignal* signal, int p) {
  int values = signal->rows * signal->channels, terms = signal->channels * signal->terms;
  if (signal->type == SIGNAL_CONSTANT || signal->type == SIGNAL_SINES) values = signal->channels;
  if (p < values) return &signal->values[p];
  p -= values;
  return p < terms       ? &signal->amplitude[p]
         : p < 2 * terms ? &signal->frequency[p - terms]
                         : &signal->phase[p - 2 * terms];
}

static void read_controls(const Model* m, double* to) {
  for (int c = 0, k = 0; c < m->controller_count; c++) {
    const Signal* signal = &m->controllers[c].target;
    for (int p = 0; p < signal_parameter_count(signal); p++) to[k++] = *parameter_of(signal->source, p);
  }
}

/* Parameters to base + moved. */
static void set_controls(Model* m, const double* base, const double* moved) {
  for (int c = 0, k = 0; c < m->controller_count; c++) {
    Signal* signal = &m->controllers[c].target;
    const SceneSignal* source = signal->source;
    for (int p = 0; p < signal_parameter_count(signal); p++, k++) *parameter_of(source, p) = base[k] + moved[k];
    signal_destroy(signal);
    signal_create(signal, source);
  }
}

static int controls_of(const Model* m) {
  int count = 0;
  for (int c = 0; c < m->controller_count; c++) count += signal_parameter_count(&m->controllers[c].target);
  return count;
}

/* Returns the address of a gain of the model, or NULL if the model has no such gain, limit or delay. */
static double* gain_of(LossRun* run, int controller, int index) {
  SceneController* source = &run->run->scene.controllers[controller];
  ModelController* c = &run->run->model.controllers[controller];
  Gain gain = controller_gain_at(source, index);
  double* const first[GAIN_KINDS] = {&source->delay,  c->position_gain, c->velocity_gain,
                                     c->damping_gain, c->max_force,     source->feedback};
  bool none = (gain.kind == GAIN_DELAY || gain.kind == GAIN_MAX_FORCE) && !(first[gain.kind][gain.index] > 0);
  return none ? NULL : first[gain.kind] + gain.index;
}

static void read_gains(LossRun* run, double* to) {
  for (int c = 0; c < run->run->model.controller_count; c++)
    for (int k = 0; k < controller_gain_count(&run->run->scene.controllers[c]); k++, to++) {
      const double* gain = gain_of(run, c, k);
      *to = gain ? *gain : 0;
    }
}

static void set_gains(LossRun* run, const double* moved) {
  const double* base = run->gains;
  for (int c = 0; c < run->run->model.controller_count; c++)
    for (int k = 0; k < controller_gain_count(&run->run->scene.controllers[c]); k++, base++, moved++) {
      double* gain = gain_of(run, c, k);
      if (gain) *gain = *base + *moved;
    }
}

void loss_run_rebase(LossRun* run) {
  Model* m = &run->run->model;
  recording_copy(&run->base, &run->recording);
  for (int i = 0; i < m->link_count; i++) run->center[i] = m->links[i].center;
  for (int h = 0, k = 0; h < m->hull_count; h++)
    for (int i = 0; i < m->hulls[h].points.count; i++) run->vertices[k++] = m->hulls[h].solid.vertices[i];
  read_controls(m, run->control);
  read_gains(run, run->gains);
}

/* ---------------------------------------------------------------- displacements, in the order of LossSeeds */

static void move_pose(Pose* to, const Pose* from, const double* x, bool rigid) {
  if (rigid) {
    *to = pose_twisted(*from, vec3(0, 0, 0), x);
    return;
  }
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) to->r.m[i][j] = from->r.m[i][j] + x[4 * i + j];
  to->t = vec3_add(from->t, vec3(x[3], x[7], x[11]));
}

static void move_coordinates(const LossRun* run, int step, const double* x) {
  const Model* m = &run->run->model;
  size_t first = (size_t)step * (size_t)m->coordinate_count;
  model_increment(m, run->base.q + first, x, 1, run->recording.q + first);
}

/* Everything at base + x. */
static void displace(LossRun* run, const double* x, bool rigid) {
  Model* m = &run->run->model;
  Recording *to = &run->recording, *from = &run->base;
  int states = to->steps + 1, links = m->link_count, dofs = m->dof_count;
  for (int i = 0; i < states * links; i++, x += 12) move_pose(&to->pose[i], &from->pose[i], x, rigid);
  for (int k = 0; k < states; k++, x += dofs) move_coordinates(run, k, x);
  for (int i = 0; i < states * dofs; i++) to->rate[i] = from->rate[i] + *x++;
  for (int i = 0; i < states * links; i++, x += 3) to->force[i] = vec3_add(from->force[i], vec3(x[0], x[1], x[2]));
  for (int i = 0; i < links; i++, x += 3) m->links[i].center = vec3_add(run->center[i], vec3(x[0], x[1], x[2]));
  const Vec3* vertices = run->vertices;
  for (int h = 0; h < m->hull_count; h++) {
    int count = m->hulls[h].points.count;
    if (count > 0) set_hull(&m->hulls[h], vertices, x);
    vertices += count;
    x += 3 * count;
  }
  set_controls(m, run->control, x);
  set_gains(run, x + controls_of(m));
  x += controls_of(m) + m->gain_count + links;
  for (size_t i = 0; i < feedback_size(to); i++) to->feedback[i] = from->feedback[i] + x[i];
}

void loss_run_deform(LossRun* run, Random* random, double size) {
  LossSeeds x = loss_seeds_create(&run->run->model, run->recording.steps);
  for (int i = 0; i < 3 * vertices_of(&run->run->model); i++)
    ((double*)x.vertices)[i] = random_uniform(random, -size, size);
  displace(run, &x.pose[0][0][0], false);
  loss_seeds_destroy(&x);
  loss_run_rebase(run);
}

/* ---------------------------------------------------------------- runs and tasks */

LossRun* loss_run_create(int steps, const char* format, ...) {
  Text text = {0};
  va_list arguments;
  va_start(arguments, format);
  text_add_va_list(&text, format, arguments);
  va_end(arguments);
  LossRun* run = MEMORY_NEW(LossRun, 1);
  run->run = run_create(1, 0, "%s", text.data);
  text_free(&text);
  const Model* m = &run->run->model;
  recording_allocate(&run->recording, m, steps);
  recording_allocate(&run->base, m, steps);
  run->center = MEMORY_NEW(Vec3, m->link_count);
  run->vertices = MEMORY_NEW(Vec3, vertices_of(m));
  run->control = MEMORY_NEW(double, controls_of(m));
  run->gains = MEMORY_NEW(double, m->gain_count);
  run->clock = MEMORY_NEW(StepClock, steps + 1);
  for (int k = 0; k <= steps; k++) {
    if (k > 0) run_steps(run->run, 1);
    record_state(&run->recording, run->run->sim, k);
    run->clock[k] = sim_clock(run->run->sim);
  }
  loss_run_rebase(run);
  return run;
}

void loss_run_free(LossRun* run) {
  recording_release(&run->recording);
  recording_release(&run->base);
  memory_free(run->center);
  memory_free(run->vertices);
  memory_free(run->control);
  memory_free(run->gains);
  memory_free(run->clock);
  run_free(run->run);
  memory_free(run);
}

void loss_task_set(LossTask* task, TaskLoss* losses, int count) {
  *task = (LossTask){.scenario = {.weight = 1}};
  task->task = (Task){.scenarios = &task->scenario, .scenario_count = 1, .losses = losses, .loss_count = count};
}

char* name_text(const char* text) {
  union {
    const char* read;
    char* text;
  } name = {.read = text};
  return name.text;
}

TaskLoss loss_of(TaskLossType type, const char* link) {
  return (TaskLoss){.type = type, .weight = 1, .link = {.text = name_text(link)}, .power = 2, .from = -1, .to = -1};
}

Loss* loss_make(const LossRun* run, const TaskLoss* loss) {
  TaskLoss copy = *loss;
  LossTask task;
  loss_task_set(&task, &copy, 1);
  task.scenario.steps = run->recording.steps;
  Loss* made;
  Diagnostics diagnostics = {0};
  if (loss_create(&made, &task.task, 0, &run->run->model, &diagnostics) != STATUS_OK)
    fail_msg("the test's loss cannot be made: %s", diagnostics.items[0].text);
  diagnostics_free(&diagnostics);
  return made;
}

double loss_value(const LossRun* run, const TaskLoss* loss) {
  Loss* made = loss_make(run, loss);
  double term, sum = loss_evaluate(made, &run->recording, &term, NULL);
  compare_bytes(&sum, &term, sizeof sum, "the sum of one term");
  loss_destroy(made);
  return sum;
}

/* ---------------------------------------------------------------- sweeps */

typedef struct {
  LossRun* run;
  const Loss* loss;
  double* all; /* displacement of everything; the part swept over begins at `first` */
  size_t first;
  int count;
  bool rigid;
} Probe;

static bool loss_at(void* context, const double* x, double* y) {
  Probe* probe = context;
  memcpy(probe->all + probe->first, x, sizeof(double) * (size_t)probe->count);
  displace(probe->run, probe->all, probe->rigid);
  double term;
  *y = loss_evaluate(probe->loss, &probe->run->recording, &term, NULL);
  return true;
}

/* By the six motions (w, v) of a body, x -> x + w x x + v, instead of by the entries of its pose; the rest is zero. */
static void make_rigid(double (*seed)[4], const Pose* pose) {
  double twist[12] = {0};
  for (int j = 0; j < 4; j++) {
    Vec3 column = j < 3 ? vec3(pose->r.m[0][j], pose->r.m[1][j], pose->r.m[2][j]) : pose->t;
    Vec3 turn = vec3_cross(column, vec3(seed[0][j], seed[1][j], seed[2][j]));
    twist[0] += turn.x, twist[1] += turn.y, twist[2] += turn.z;
  }
  for (int i = 0; i < 3; i++) twist[3 + i] = seed[i][3];
  memcpy(seed, twist, sizeof twist);
}

static double largest(const double* x, size_t count) {
  double most = 0;
  for (size_t i = 0; i < count; i++) most = fabs(x[i]) > most ? fabs(x[i]) : most;
  return most;
}

typedef struct {
  const char* name;
  unsigned bit;
  const void* begin;
  size_t count;
} Part;

static void check_part(Probe* probe, const Part* part, const double* all, unsigned moved, double whole, double first,
                       const char* what) {
  const double* gradient = part->begin;
  double most = largest(gradient, part->count);
  if (part->count == 0) return;
  if ((moved & part->bit) && !(most > 0)) fail_msg("%s: no derivative by %s", what, part->name);
  if (!(moved & part->bit) && most != 0)
    fail_msg("%s: derivative %g by %s, of which it is free", what, most, part->name);
  probe->first = (size_t)(gradient - all);
  probe->count = (int)part->count;
  Sweep sweep = {loss_at, probe, probe->count, 1, NULL, NULL, NULL, first, 4, 8};
  sweep_expect(&sweep, gradient, most > 0 ? 0 : whole, 1e-7, "%s: by %s", what, part->name);
  memset(probe->all + probe->first, 0, sizeof(double) * part->count);
}

void loss_check_seeds(LossRun* run, const Loss* loss, unsigned moved, bool rigid, double first, const char* what) {
  const Model* m = &run->run->model;
  size_t states = states_of(&run->recording), links = (size_t)m->link_count, dofs = (size_t)m->dof_count;
  LossSeeds seeds = loss_seeds_create(m, run->recording.steps);
  double term, alone = loss_evaluate(loss, &run->recording, &term, NULL);
  double with = loss_evaluate(loss, &run->recording, &term, &seeds);
  compare_bytes(&with, &alone, sizeof with, "%s: value with and without seeds", what);
  if (rigid)
    for (size_t i = 0; i < states * links; i++) make_rigid(seeds.pose[i], &run->recording.pose[i]);
  const double* all = &seeds.pose[0][0][0];
  const Part parts[] = {
      {"pose", SEED_POSE, seeds.pose, 12 * states * links},
      {"q", SEED_Q, seeds.q, states * dofs},
      {"rate", SEED_RATE, seeds.rate, states * dofs},
      {"force", SEED_FORCE, seeds.force, 3 * states * links},
      {"center", SEED_CENTER, seeds.center, 3 * links},
      {"vertices", SEED_VERTICES, seeds.vertices, 3 * (size_t)vertices_of(m)},
      {"control", SEED_CONTROL, seeds.control, (size_t)controls_of(m)},
      {"gains", SEED_GAINS, seeds.gains, (size_t)m->gain_count},
      {"feedback", SEED_FEEDBACK, seeds.feedback, feedback_size(&run->recording)},
  };
  Probe probe = {run, loss, MEMORY_NEW(double, seeds.length), 0, 0, rigid};
  double whole = largest(all, seeds.length);
  for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++)
    check_part(&probe, &parts[k], all, moved, whole, first, what);
  displace(run, probe.all, rigid);
  memory_free(probe.all);
  loss_seeds_destroy(&seeds);
}
