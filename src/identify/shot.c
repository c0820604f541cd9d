/* One shot: simulate it, and compare it with what was measured (docs/derivations/identify.md, Q2). */
#include <string.h>

#include "identify/fit.h"

/* A sample that is this part of a step beside a row is taken for that row's: times are written with few digits. */
#define SAME_TIME 2e-3

/* ---------------------------------------------------------------- windows */

static void place_samples(Shot* s, double dt) {
  s->places = MEMORY_NEW(SamplePlace, s->count);
  for (int k = 0; k < s->count; k++) {
    double at = (s->run->time[s->first + k] - s->run->time[s->first]) / dt;
    int row = (int)at;
    double part = at - row;
    if (part > 1 - SAME_TIME) row++, part = 0;
    if (part < SAME_TIME) part = 0;
    s->places[k] = (SamplePlace){row, part};
    s->steps = row + (part > 0);
  }
  if (s->steps < 1) s->steps = 1;
}

static void add_shot(Identification* id, int run, int first, int last) {
  Shot* s = &id->shots[id->shot_count++];
  *s = (Shot){.run = &id->data.runs[run], .run_index = run, .first = first, .count = last - first + 1, .usable = true};
  place_samples(s, id->model.simulation.dt);
  if (id->locals > 0) s->local = MEMORY_NEW(double, id->locals);
}

/* Does a window begin with everything that its state is read from? */
static bool can_begin(const MeasuredRun* r, int sample) {
  for (int k = 0; k < r->link_count; k++) {
    const MeasuredLink* l = &r->links[k];
    if (l->has_position && !vec3_known(l->position[sample])) return false;
    if (l->has_rotation && !quat_known(l->rotation[sample])) return false;
    for (int i = 0; i < l->coordinate_count; i++)
      if (isnan(l->coordinates[sample * l->coordinate_count + i])) return false;
  }
  return true;
}

static int sample_at(const MeasuredRun* r, double time) {
  int k = 0;
  while (k < r->count - 1 && r->time[k + 1] <= time + 1e-9) k++;
  return k;
}

static void cut_run(Identification* id, int run) {
  const MeasuredRun* r = &id->data.runs[run];
  double window = id->task->identify.window, stride = id->task->identify.stride, end = r->time[r->count - 1];
  int first = 0;
  while (first < r->count - 1 && !can_begin(r, first)) first++;
  if (!(window > 0)) {
    add_shot(id, run, first, r->count - 1);
    return;
  }
  for (double begin = r->time[first]; begin == r->time[first] || begin + 0.5 * window <= end; begin += stride) {
    int from = sample_at(r, begin), to = sample_at(r, begin + window);
    while (from < to && !can_begin(r, from)) from++;
    if (to - from >= 2) add_shot(id, run, from, to);
  }
}

void shots_create(Identification* id) {
  double stride = id->task->identify.stride;
  int most = 0;
  for (int k = 0; k < id->data.count; k++) {
    const MeasuredRun* r = &id->data.runs[k];
    most += 2 + (id->task->identify.window > 0 ? (int)(r->time[r->count - 1] / stride) : 0);
  }
  id->shots = MEMORY_NEW(Shot, most);
  for (int k = 0; k < id->data.count; k++)
    if (id->data.runs[k].train) cut_run(id, k);
}

void shots_free(Identification* id) {
  for (int k = 0; k < id->shot_count; k++) {
    memory_free(id->shots[k].places);
    memory_free(id->shots[k].local);
  }
  memory_free(id->shots);
}

/* ---------------------------------------------------------------- the simulation */

typedef struct {
  const Identification* id;
  const Shot* shot;
  Model model;
  Recording recording;
  bool has_model, has_recording;
  double* placed; /* coordinates that closures' ends were found at: the scene's; NULL: there are none */
} Simulation;

/* Least height of a body's vertices above a half-space, hulls in the world [m]. */
static double height_above(const Model* m, const Pose* pose, int tree, const ModelHull* ground) {
  Vec3 normal = mat3_mul_vec(pose[ground->link].r, ground->normal);
  double level = ground->offset + vec3_dot(normal, pose[ground->link].t), least = HUGE_VAL;
  for (int h = 0; h < m->hull_count; h++) {
    const ModelHull* hull = &m->hulls[h];
    if (m->links[hull->link].tree != tree || !m->links[hull->link].collide) continue;
    for (int k = 0; k < hull->points.count; k++) {
      Vec3 x = pose_apply(pose[hull->link], vec3(hull->points.x[k], hull->points.y[k], hull->points.z[k]));
      least = fmin(least, vec3_dot(normal, x) - level);
    }
  }
  return least;
}

/* A window that begins in a contact begins where the measured body may be below the ground, by noise or because its
 * shape is still to be found: free bodies are put on it. */
static void lift(Model* m) {
  Pose* pose = MEMORY_NEW(Pose, m->link_count);
  double gap = m->contact.gap_at_rest > 0 ? m->contact.gap_at_rest : m->contact.support;
  for (int h = 0; h < m->hull_count; h++) {
    const ModelHull* ground = &m->hulls[h];
    if (ground->kind != &SOLID_HALF_SPACE) continue;
    for (int i = 0; i < m->link_count; i++) {
      const ModelLink* link = &m->links[i];
      if (link->parent >= 0 || link->joint.slide_count != 3 || link->prescribed >= 0) continue;
      model_poses(m, m->initial_coordinates, pose);
      double below = gap - height_above(m, pose, link->tree, ground);
      Vec3 up = mat3_tmul_vec(link->origin.r, mat3_mul_vec(pose[ground->link].r, ground->normal));
      double* q = m->initial_coordinates + link->coordinate_first;
      if (below > 0 && isfinite(below)) vec3_store(vec3_add_scaled(vec3_at(q), below, up), q);
    }
  }
  memory_free(pose);
}

double shot_height(const Identification* id, const Shot* shot, int* ground) {
  Model m;
  Diagnostics unheard = {0};
  double least = HUGE_VAL;
  if (optimization_model(id->optimization, 0, id->x, &m, &unheard) == STATUS_OK) {
    measured_state(shot->run, shot->first, &m, m.initial_coordinates, m.initial_velocities);
    Pose* pose = MEMORY_NEW(Pose, m.link_count);
    model_poses(&m, m.initial_coordinates, pose);
    for (int h = 0; h < m.hull_count; h++)
      for (int t = 0; t < m.tree_count && m.hulls[h].kind == &SOLID_HALF_SPACE; t++) {
        double height = height_above(&m, pose, t, &m.hulls[h]);
        if (height < least) *ground = m.hulls[h].link;
        least = fmin(least, height);
      }
    memory_free(pose);
  }
  model_destroy(&m);
  diagnostics_free(&unheard);
  return least;
}

/* What drives the run, from the time on at which the shot begins. */
static void drive(Simulation* s) {
  const MeasuredData* data = &s->id->data;
  const MeasuredRun* run = s->shot->run;
  for (int k = 0; k < data->input_count; k++) model_set_signal(&s->model, data->inputs[k], &run->inputs[k]);
  if (data->input_count > 0 || s->shot->first > 0) model_begin_signals(&s->model, run->time[s->shot->first]);
}

static void begin_at(Simulation* s, const double* local) {
  Model* m = &s->model;
  if (m->closure_count > 0) { /* links are held together as the scene has them, wherever a run begins */
    s->placed = MEMORY_NEW(double, m->coordinate_count);
    memcpy(s->placed, m->initial_coordinates, sizeof(double) * (size_t)m->coordinate_count);
  }
  measured_state(s->shot->run, s->shot->first, m, m->initial_coordinates, m->initial_velocities);
  m->simulation.steps = s->shot->steps;
  if (local && s->id->locals > 0) {
    model_increment(m, m->initial_coordinates, local, 1, m->initial_coordinates);
    for (int k = 0; k < m->dof_count; k++) m->initial_velocities[k] += local[m->dof_count + k];
  }
  if (s->shot->first > 0) lift(m);
}

/* false: the model is refused, or the start intersects. A run that stops before its end keeps its rows. */
static bool simulate(Simulation* s, const double* x, const double* local) {
  Diagnostics unheard = {0};
  RecordReport report;
  s->has_model = true;
  Status status = optimization_model(s->id->optimization, 0, x, &s->model, &unheard);
  if (status == STATUS_OK) {
    drive(s);
    begin_at(s, local);
    s->has_recording = true;
    recording_create(&s->recording, &s->model, s->shot->steps);
    RecordOptions options = {.threads = 1, .interrupted = s->id->options.interrupted};
    status = recording_run(&s->recording, &s->model, &options, &report, &unheard);
  }
  diagnostics_free(&unheard);
  return status == STATUS_OK || (status == STATUS_SOLVER && s->recording.steps > 0);
}

static void simulation_free(Simulation* s) {
  if (s->has_recording) recording_destroy(&s->recording);
  if (s->has_model) model_destroy(&s->model);
  memory_free(s->placed);
}

/* ---------------------------------------------------------------- residuals (Q2) */

/* R_m^T R as a rotation vector, and d phi / d(turn, link's axes). */
static Vec3 rotation_residual(Quat measured, Mat3 r, Mat3* slope) {
  Quat turn = quat_mul(quat_conjugate(measured), quat_from_mat3(r));
  if (turn.w < 0) turn = (Quat){-turn.w, -turn.x, -turn.y, -turn.z};
  Vec3 phi = quat_log(turn);
  double angle = vec3_norm(phi), factor = 1.0 / 12;
  if (angle > 1e-4) factor = 1 / (angle * angle) - turn.w / (2 * angle * sqrt(1 - turn.w * turn.w));
  Mat3 cross = mat3_cross(phi);
  *slope = mat3_add(mat3_add(mat3_identity(), mat3_scale(cross, 0.5)), mat3_scale(mat3_mul(cross, cross), factor));
  return phi;
}

/* Residuals of a sample's links stand one after the other: position, rotation, coordinates, and where rates are
 * compared, velocity, angular velocity, rates of the joint. */
typedef struct {
  bool velocity, spin;
  int rates, count;
} RatesOf;

static RatesOf rates_of(const TaskIdentify* t, const MeasuredLink* l, bool compared) {
  RatesOf r = {compared && t->velocity > 0 && l->has_velocity,
               compared && t->angular_velocity > 0 && l->has_spin && l->has_rotation,
               compared && t->rate > 0 ? l->rate_count : 0, 0};
  r.count = 3 * r.velocity + 3 * r.spin + r.rates;
  return r;
}

static int states_of(const MeasuredLink* l) { return 3 * l->has_position + 3 * l->has_rotation + l->coordinate_count; }

static int residuals_of_sample(const TaskIdentify* t, const MeasuredRun* r, bool rates) {
  int count = 0;
  for (int k = 0; k < r->link_count; k++) count += states_of(&r->links[k]) + rates_of(t, &r->links[k], rates).count;
  return count;
}

typedef struct {
  Simulation* simulation;
  const TaskIdentify* settings;
  int count, columns;  /* residuals of a sample; variables and locals */
  bool rates;          /* velocities are among them, where the task compares them */
  int next;            /* the first sample that lies in later rows only */
  double* r;           /* (samples x count), NaN where nothing was measured */
  double* j;           /* (samples x count x columns); NULL: values only */
  double (*bar)[3][4]; /* (links) */
  StepForward* forward;
  const double* pull; /* of the cost by each residual, for the adjoint (samples x count); NULL: values or j */
  LossSeeds seeds;    /* what it comes to */
} Residuals;

static double* jacobian_row(const Residuals* s, int sample, int index) {
  return s->j ? s->j + ((size_t)sample * (size_t)s->count + (size_t)index) * (size_t)s->columns : NULL;
}

/* Of the cost by a residual; 0: it pulls at nothing. */
static double pull_of(const Residuals* s, int sample, int index) {
  return s->pull ? s->pull[(size_t)sample * (size_t)s->count + (size_t)index] : 0;
}

/* Derivative of a residual by a pose's small turn (world) and shift, as functional of its entries: to its row of j by
 * the variables, or with its pull to the seeds. */
static void add_pose_row(Residuals* s, int row, int link, Vec3 turn, Vec3 shift, int sample, int index) {
  const Recording* r = &s->simulation->recording;
  const RecordedState* state = &r->states[r->row_state[row]];
  const Pose* pose = recording_state_pose(r, state);
  double pull = pull_of(s, sample, index);
  if (!s->j && (pull == 0 || !s->seeds.pose)) return;
  Mat3 by_r = mat3_scale(mat3_mul(mat3_cross(turn), pose[link].r), 0.5);
  const double by_t[3] = {shift.x, shift.y, shift.z};
  double(*bar)[4] = s->j ? s->bar[link] : s->seeds.pose[(size_t)row * (size_t)r->model->link_count + (size_t)link];
  double factor = s->j ? 1 : pull;
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++) bar[i][k] += factor * by_r.m[i][k];
    bar[i][3] += factor * by_t[i];
  }
  if (!s->j) return;
  step_forward_row(s->forward, recording_state_q(r, state), pose, 0, s->bar, jacobian_row(s, sample, index));
  memset(bar, 0, sizeof(double[3][4]));
}

/* The same by a coordinate's increment. */
static void add_coordinate_row(Residuals* s, int row, int dof, double weight, int sample, int index) {
  double *out = jacobian_row(s, sample, index), pull = pull_of(s, sample, index);
  if (pull != 0 && s->seeds.q)
    s->seeds.q[(size_t)row * (size_t)s->simulation->model.dof_count + (size_t)dof] += pull * weight;
  if (!out) return;
  const double* from = step_forward_state(s->forward, 0) + (size_t)dof * (size_t)s->columns;
  for (int n = 0; n < s->columns; n++) out[n] += weight * from[n];
}

static Vec3 axis_of(int k) { return vec3(k == 0, k == 1, k == 2); }

static void add_position(Residuals* s, int sample, int at, const MeasuredLink* l, int row, double part) {
  int own = s->simulation->shot->first + sample;
  Vec3 seen = l->position[own], is = recording_pose(&s->simulation->recording, row)[l->link].t;
  double weight = part * l->source->weight / s->settings->position;
  double apart[3] = {is.x - seen.x, is.y - seen.y, is.z - seen.z};
  for (int k = 0; k < 3; k++) {
    s->r[sample * s->count + at + k] += weight * apart[k];
    add_pose_row(s, row, l->link, vec3(0, 0, 0), vec3_scale(axis_of(k), weight), sample, at + k);
  }
}

static void add_rotation(Residuals* s, int sample, int at, const MeasuredLink* l, int row, double part) {
  int own = s->simulation->shot->first + sample;
  Mat3 slope, r = recording_pose(&s->simulation->recording, row)[l->link].r;
  Vec3 phi = rotation_residual(l->rotation[own], r, &slope);
  double weight = part * l->source->weight / s->settings->rotation, value[3] = {phi.x, phi.y, phi.z};
  for (int k = 0; k < 3; k++) {
    s->r[sample * s->count + at + k] += weight * value[k];
    Vec3 own_axes = vec3(slope.m[k][0], slope.m[k][1], slope.m[k][2]);
    add_pose_row(s, row, l->link, vec3_scale(mat3_mul_vec(r, own_axes), weight), vec3(0, 0, 0), sample, at + k);
  }
}

static void add_coordinates(Residuals* s, int sample, int at, const MeasuredLink* l, int row, double part) {
  const Recording* r = &s->simulation->recording;
  const ModelLink* link = &s->simulation->model.links[l->link];
  const double* q = recording_state_q(r, &r->states[r->row_state[row]]) + link->coordinate_first;
  double weight = part * l->source->weight / s->settings->coordinate;
  int own = s->simulation->shot->first + sample;
  for (int k = 0; k < l->coordinate_count; k++) {
    double apart = q[k] - l->coordinates[own * l->coordinate_count + k];
    s->r[sample * s->count + at + k] += weight * (k < link->joint.slide_count ? apart : same_turn(apart));
    add_coordinate_row(s, row, link->dof_first + k, weight, sample, at + k);
  }
}

/* ---------------------------------------------------------------- velocities (Q7) */

/* The rows whose difference a rate is compared with. */
static void rate_rows(const Shot* shot, int sample, int rows[2]) {
  SamplePlace p = shot->places[sample];
  bool between = p.part > 0;
  rows[0] = between || p.row == 0 ? p.row : p.row - 1;
  rows[1] = p.row < shot->steps ? p.row + 1 : p.row;
}

static Pose pose_in_row(const Residuals* s, int row, int link) {
  return recording_pose(&s->simulation->recording, row)[link];
}

/* side: is the row the one before (0) or the one after; scale: 1 / (time between them). */
static void add_velocity(Residuals* s, int sample, int at, const MeasuredLink* l, int row, int side, double scale) {
  Vec3 seen = l->velocity[s->simulation->shot->first + sample], is = pose_in_row(s, row, l->link).t;
  double weight = l->source->weight / s->settings->velocity, sign = side ? scale : -scale;
  double value[3] = {sign * is.x, sign * is.y, sign * is.z}, said[3] = {seen.x, seen.y, seen.z};
  for (int k = 0; k < 3; k++) {
    s->r[sample * s->count + at + k] += weight * (value[k] - (side ? said[k] : 0));
    add_pose_row(s, row, l->link, vec3(0, 0, 0), vec3_scale(axis_of(k), sign * weight), sample, at + k);
  }
}

/* log(R_a^T R_b), in the link's axes: by a turn of b it changes by J_r^-1 R_b^T, by one of a by -J_r^-1 R_b^T, too. */
static void add_spin(Residuals* s, int sample, int at, const MeasuredLink* l, const int rows[2], int side,
                     double scale) {
  Vec3 seen = l->spin[s->simulation->shot->first + sample];
  Mat3 slope, before = pose_in_row(s, rows[0], l->link).r, after = pose_in_row(s, rows[1], l->link).r;
  Vec3 phi = rotation_residual(quat_from_mat3(before), after, &slope);
  double weight = l->source->weight / s->settings->angular_velocity, sign = side ? scale : -scale;
  double value[3] = {phi.x, phi.y, phi.z}, said[3] = {seen.x, seen.y, seen.z};
  for (int k = 0; k < 3; k++) {
    if (side) s->r[sample * s->count + at + k] += weight * (scale * value[k] - said[k]);
    Vec3 own_axes = vec3(slope.m[k][0], slope.m[k][1], slope.m[k][2]);
    add_pose_row(s, rows[side], l->link, vec3_scale(mat3_mul_vec(after, own_axes), sign * weight), vec3(0, 0, 0),
                 sample, at + k);
  }
}

static void add_joint_rates(Residuals* s, int sample, int at, const MeasuredLink* l, int row, int side, double scale) {
  const Recording* r = &s->simulation->recording;
  const ModelLink* link = &s->simulation->model.links[l->link];
  const double* q = recording_state_q(r, &r->states[r->row_state[row]]) + link->coordinate_first;
  double weight = l->source->weight / s->settings->rate, sign = side ? scale : -scale;
  int own = s->simulation->shot->first + sample;
  for (int k = 0; k < l->rate_count; k++) {
    s->r[sample * s->count + at + k] += weight * (sign * q[k] - (side ? l->rates[own * l->rate_count + k] : 0));
    add_coordinate_row(s, row, link->dof_first + k, sign * weight, sample, at + k);
  }
}

static void add_rates(Residuals* s, int sample, int row) {
  const Shot* shot = s->simulation->shot;
  int rows[2];
  rate_rows(shot, sample, rows);
  if (row != rows[0] && row != rows[1]) return;
  int side = row == rows[1];
  double scale = 1 / ((rows[1] - rows[0]) * s->simulation->model.simulation.dt);
  for (int k = 0, at = 0; k < shot->run->link_count; k++) {
    const MeasuredLink* l = &shot->run->links[k];
    RatesOf of = rates_of(s->settings, l, true);
    at += states_of(l);
    if (of.velocity) add_velocity(s, sample, at, l, row, side, scale);
    at += 3 * of.velocity;
    if (of.spin) add_spin(s, sample, at, l, rows, side, scale);
    at += 3 * of.spin;
    if (of.rates > 0) add_joint_rates(s, sample, at, l, row, side, scale);
    at += of.rates;
  }
}

static void add_sample(Residuals* s, int sample, int row, double part) {
  const MeasuredRun* run = s->simulation->shot->run;
  for (int k = 0, at = 0; k < run->link_count; k++) {
    const MeasuredLink* l = &run->links[k];
    if (l->has_position) add_position(s, sample, at, l, row, part);
    at += 3 * l->has_position;
    if (l->has_rotation) add_rotation(s, sample, at, l, row, part);
    at += 3 * l->has_rotation;
    add_coordinates(s, sample, at, l, row, part);
    at += l->coordinate_count + rates_of(s->settings, l, s->rates).count;
  }
}

/* All samples that this row has a part in: those between the rows beside it, and for rates on these. Samples and rows
 * rise together. */
static void visit_row(void* context, StepForward* forward, int row) {
  Residuals* s = context;
  (void)forward;
  const Shot* shot = s->simulation->shot;
  while (s->next < shot->count && shot->places[s->next].row + 1 < row) s->next++;
  for (int k = s->next; k < shot->count && shot->places[k].row <= row + s->rates; k++) {
    SamplePlace p = shot->places[k];
    if (p.row == row) add_sample(s, k, row, 1 - p.part);
    if (p.row == row - 1 && p.part > 0) add_sample(s, k, row, p.part);
    if (s->rates) add_rates(s, k, row);
  }
}

static void chain(void* context, const ModelGradient* gradient, double* row) {
  const Residuals* s = context;
  const Identification* id = s->simulation->id;
  optimization_chain(id->optimization, 0, &s->simulation->model, gradient, row);
  for (int k = 0; k < id->locals / 2; k++) {
    row[id->variables + k] += gradient->coordinates[k];
    row[id->variables + id->locals / 2 + k] += gradient->velocities[k];
  }
}

/* ---------------------------------------------------------------- all of a shot */

/* Residuals with their derivatives, which are made room for here; r and count are there. false: a step has none. */
static bool residuals_forward(Residuals* s) {
  const Simulation* simulation = s->simulation;
  const Identification* id = simulation->id;
  size_t bars = sizeof(double[3][4]) * (size_t)simulation->model.link_count;
  int failed;
  s->columns = id->variables + id->locals;
  s->j = MEMORY_NEW(double, (size_t)simulation->shot->count*(size_t)s->count*(size_t)s->columns + 1);
  s->bar = memory_alloc(bars);
  memset(s->bar, 0, bars);
  s->forward = step_forward_create(&simulation->model, s->columns, chain, s);
  if (!optimization_turns_joints(id->optimization)) step_forward_skip_turns(s->forward);
  if (simulation->placed) step_forward_place(s->forward, simulation->placed);
  bool sound = recording_forward(s->forward, &simulation->recording, visit_row, s, &failed);
  step_forward_destroy(s->forward);
  return sound;
}

/* Which residuals of a sample say how something is turned. Owned by the caller. */
static bool* turns_of_sample(const Residuals* s) {
  bool* turns = MEMORY_NEW(bool, s->count + 1);
  const MeasuredRun* run = s->simulation->shot->run;
  for (int i = 0, at = 0; i < run->link_count; i++) {
    const MeasuredLink* l = &run->links[i];
    const Joint* joint = &s->simulation->model.links[l->link].joint;
    RatesOf of = rates_of(s->settings, l, s->rates);
    at += 3 * l->has_position;
    for (int k = 0; k < 3 * l->has_rotation; k++) turns[at++] = true;
    for (int k = 0; k < l->coordinate_count; k++) turns[at++] = k >= joint->slide_count;
    at += 3 * of.velocity;
    for (int k = 0; k < 3 * of.spin; k++) turns[at++] = true;
    for (int k = 0; k < of.rates; k++) turns[at++] = k >= joint->slide_count;
  }
  return turns;
}

/* The first sample that lies behind a state in which bodies press on each other. */
static int first_touched(const Residuals* s) {
  const Recording* r = &s->simulation->recording;
  const Shot* shot = s->simulation->shot;
  int step = shot->steps + 1, sample = 0;
  for (int k = 0; k < r->state_count && step > shot->steps; k++)
    for (int c = 0; c < r->states[k].contact_count; c++)
      if (r->contacts[r->states[k].contact_first + c].active) step = r->states[k].step;
  while (sample < shot->count && shot->places[sample].row + (shot->places[sample].part > 0) < step) sample++;
  return sample;
}

static bool sum_up(const Residuals* s, const double* local, bool derivatives, ShotSums* out) {
  bool* turns = turns_of_sample(s);
  const ShotResiduals all = {
      s->simulation->shot->count, s->count, s->columns, s->settings->huber, s->r, s->j, turns, first_touched(s)};
  bool sound = shot_sum(s->simulation->id, &all, local, derivatives, out);
  memory_free(turns);
  return sound;
}

void shot_evaluate(const Identification* id, const double* x, const Shot* shot, const double* local, bool derivatives,
                   ShotSums* out) {
  Simulation simulation = {.id = id, .shot = shot};
  out->ran = simulate(&simulation, x, local) && simulation.recording.steps == shot->steps;
  if (out->ran) {
    Residuals s = {.simulation = &simulation, .settings = &id->task->identify};
    s.rates = true;
    s.count = residuals_of_sample(s.settings, shot->run, true);
    s.r = MEMORY_NEW(double, (size_t)shot->count*(size_t)s.count + 1);
    if (derivatives) {
      out->ran = residuals_forward(&s);
    } else {
      for (int row = 0; row <= shot->steps; row++) visit_row(&s, NULL, row);
    }
    out->ran = out->ran && sum_up(&s, local, derivatives, out);
    memory_free(s.r);
    memory_free(s.j);
    memory_free(s.bar);
  }
  simulation_free(&simulation);
}

/* ---------------------------------------------------------------- the cost's gradient alone (Q13) */

/* Of the cost by every residual, 0 where nothing was measured. Owned by the caller. */
static double* pulls(const Residuals* s) {
  int all = s->simulation->shot->count * s->count;
  double* pull = MEMORY_NEW(double, all + 1);
  for (int k = 0; k < all; k++) {
    double weight;
    if (isnan(s->r[k])) continue;
    robust_loss(s->r[k], s->settings->huber, &weight);
    pull[k] = weight * s->r[k];
  }
  return pull;
}

/* false: a step has no derivative. */
static bool gradient_backward(Residuals* s, double* gradient) {
  Simulation* simulation = s->simulation;
  const Identification* id = simulation->id;
  double* pull = pulls(s);
  s->pull = pull;
  s->seeds = loss_seeds_create(&simulation->model, simulation->shot->steps);
  s->next = 0;
  for (int row = 0; row <= simulation->shot->steps; row++) visit_row(s, NULL, row);
  simulation->model.placed_at = simulation->placed;
  ModelGradient by_model = {0};
  model_gradient_create(&by_model, &simulation->model);
  by_model.without_turns = !optimization_turns_joints(id->optimization);
  RunAdjoint* adjoint = run_adjoint_create(&simulation->model, 1);
  double discount = id->task->optimizer.discount;
  bool sound = run_adjoint(adjoint, &simulation->recording, &s->seeds, discount, &by_model).sound;
  memset(gradient, 0, sizeof(double) * (size_t)id->variables);
  if (sound) optimization_chain(id->optimization, 0, &simulation->model, &by_model, gradient);
  run_adjoint_destroy(adjoint);
  model_gradient_destroy(&by_model);
  loss_seeds_destroy(&s->seeds);
  memory_free(pull);
  return sound;
}

void shot_gradient(const Identification* id, const double* x, const Shot* shot, ShotSums* out) {
  Simulation simulation = {.id = id, .shot = shot};
  out->ran = simulate(&simulation, x, NULL) && simulation.recording.steps == shot->steps;
  if (out->ran) {
    Residuals s = {.simulation = &simulation, .settings = &id->task->identify, .rates = true};
    s.count = residuals_of_sample(s.settings, shot->run, true);
    s.r = MEMORY_NEW(double, (size_t)shot->count*(size_t)s.count + 1);
    for (int row = 0; row <= shot->steps; row++) visit_row(&s, NULL, row);
    out->ran = sum_up(&s, NULL, false, out) && gradient_backward(&s, out->g);
    memory_free(s.r);
  }
  simulation_free(&simulation);
}

/* ---------------------------------------------------------------- judging a whole run */

/* Variance of what is predicted of residual k, without noise, in standard deviations of the task (Q8). */
static double variance_of(const Identification* id, const Residuals* s, size_t k) {
  if (!s->j) return NAN;
  const double* row = s->j + k * (size_t)s->columns;
  double sum = 0;
  for (int i = 0; i < id->variables; i++)
    for (int n = 0; n < id->variables; n++) sum += row[i] * id->covariance[i * id->variables + n] * row[n];
  for (int i = 0; i < id->locals; i++) {
    double own = local_deviation(id, i) * row[id->variables + i];
    sum += own * own;
  }
  return sum;
}

static void add_number(Text* rows, bool known, double value) {
  text_add(rows, ",");
  if (known && !isnan(value)) text_add_double(rows, value);
}

/* r, first: the residuals of the link in the sample, and the number of the first. */
static void add_judged(JudgedRows* out, const Identification* id, const Residuals* s, const MeasuredLink* l, int sample,
                       size_t first) {
  const TaskIdentify* t = s->settings;
  Text* rows = &out->text;
  const MeasuredRun* run = s->simulation->shot->run;
  const double unit[3] = {t->position / l->source->weight, t->rotation / l->source->weight,
                          t->coordinate / l->source->weight};
  double value[7], deviation[7];
  int part_of[7] = {0, 0, 0, 1, 1, 1, 2};
  for (int k = 0, at = 0; k < 7; k++) {
    bool has = k < 3 ? l->has_position : k < 6 ? l->has_rotation : l->coordinate_count > 0;
    value[k] = has ? s->r[first + (size_t)at] : (double)NAN;
    deviation[k] =
        has && !isnan(value[k]) ? sqrt(id->noise * id->noise + variance_of(id, s, first + (size_t)at)) : (double)NAN;
    at += has;
    if (!isnan(value[k]) && !isnan(deviation[k])) {
      out->seen++;
      out->inside += fabs(value[k]) <= 1.959963984540054 * deviation[k];
    }
  }
  csv_add_field(rows, run->path);
  text_add(rows, ",%s,", run->train ? "training" : "validation");
  csv_add_field(rows, id->model.links[l->link].name);
  text_add(rows, ",");
  text_add_double(rows, run->time[s->simulation->shot->first + sample]);
  for (int k = 0; k < 7; k++) add_number(rows, true, unit[part_of[k]] * value[k]);
  for (int k = 0; k < 7; k++) add_number(rows, true, unit[part_of[k]] * deviation[k]);
  text_add(rows, "\n");
  int bin = (int)(run->time[s->simulation->shot->first + sample] / out->bin);
  if (bin >= JUDGED_BINS) bin = JUDGED_BINS - 1;
  for (int part = 0; part < JUDGED_PARTS; part++) {
    double square = 0;
    for (int k = 3 * part; k < (part < 2 ? 3 * part + 3 : 7); k++) square += value[k] * value[k];
    if (isnan(square)) continue;
    out->sum[part][bin] += unit[part] * sqrt(square);
    out->count[part][bin]++;
  }
}

static void judge_misfits(JudgedRows* rows, const Residuals* s, const MeasuredRun* run, int samples) {
  const TaskIdentify* t = s->settings;
  const double unit[JUDGED_PARTS] = {t->position, t->rotation, t->coordinate};
  for (int i = 0, at = 0; i < run->link_count; i++) {
    const MeasuredLink* l = &run->links[i];
    const int counts[JUDGED_PARTS] = {3 * l->has_position, 3 * l->has_rotation, l->coordinate_count};
    for (int part = 0; part < JUDGED_PARTS; part++)
      for (int k = 0; k < counts[part]; k++, at++)
        judge_misfit(rows, part, unit[part] / l->source->weight, s->r + at, samples, s->count);
  }
}

/* Adds the size of three residuals to a mean. */
static void add_mean(const double* r, int count, double unit, double* sum, int* seen) {
  double square = 0;
  for (int k = 0; k < count; k++) square += r[k] * r[k];
  if (isnan(square)) return;
  *sum += unit * sqrt(square);
  (*seen)++;
}

/* Distances in one sample: means over its links. */
static void judge_end(const Residuals* s, int sample, double out[2]) {
  const TaskIdentify* t = s->settings;
  const MeasuredRun* run = s->simulation->shot->run;
  const double* r = s->r + (size_t)sample * (size_t)s->count;
  int seen[2] = {0};
  out[0] = out[1] = 0;
  for (int i = 0; i < run->link_count; i++) {
    const MeasuredLink* l = &run->links[i];
    double weight = l->source->weight;
    if (l->has_position) add_mean(r, 3, t->position / weight, &out[0], &seen[0]);
    if (l->has_rotation) add_mean(r + 3 * l->has_position, 3, t->rotation / weight, &out[1], &seen[1]);
    r += states_of(l);
  }
  for (int k = 0; k < 2; k++) out[k] = seen[k] > 0 ? out[k] / seen[k] : (double)NAN;
}

static void judge_rows(const Identification* id, const Residuals* s, int samples, double out[JUDGED_NUMBERS],
                       JudgedRows* rows) {
  const TaskIdentify* t = s->settings;
  const MeasuredRun* run = s->simulation->shot->run;
  int seen[3] = {0};
  for (int k = 0; k < samples; k++) {
    const double* r = s->r + (size_t)k * (size_t)s->count;
    for (int i = 0; i < run->link_count; i++) {
      const MeasuredLink* l = &run->links[i];
      if (rows) add_judged(rows, id, s, l, k, (size_t)(r - s->r));
      double weight = l->source->weight;
      if (l->has_position) add_mean(r, 3, t->position / weight, &out[0], &seen[0]);
      r += 3 * l->has_position;
      if (l->has_rotation) add_mean(r, 3, t->rotation / weight, &out[1], &seen[1]);
      r += 3 * l->has_rotation;
      for (int n = 0; n < l->coordinate_count; n++) add_mean(r + n, 1, t->coordinate / weight, &out[2], &seen[2]);
      r += l->coordinate_count;
    }
  }
  for (int k = 0; k < 3; k++) out[k] = seen[k] > 0 ? out[k] / seen[k] : 0;
  if (samples > 0) judge_end(s, samples - 1, out + 3);
}

/* Derivatives of a run that is judged; false: values only. */
static bool judge_forward(Residuals* s) {
  if (residuals_forward(s)) return true;
  memory_free(s->j);
  s->j = NULL;
  s->forward = NULL;
  s->next = 0;
  memset(s->r, 0, sizeof(double) * (size_t)(s->simulation->shot->count * s->count));
  return false;
}

bool shot_judge(const Identification* id, const double* x, const MeasuredRun* run, double out[JUDGED_NUMBERS],
                JudgedRows* rows) {
  int first = 0;
  while (first < run->count - 1 && !can_begin(run, first)) first++;
  Shot shot = {.run = run, .first = first, .count = run->count - first};
  place_samples(&shot, id->model.simulation.dt);
  Simulation simulation = {.id = id, .shot = &shot};
  bool whole = simulate(&simulation, x, NULL);
  for (int k = 0; k < JUDGED_NUMBERS; k++) out[k] = NAN;
  if (whole) {
    Residuals s = {.simulation = &simulation, .settings = &id->task->identify};
    s.count = residuals_of_sample(s.settings, run, false);
    int steps = simulation.recording.steps, samples = shot.count;
    while (samples > 0 && shot.places[samples - 1].row + (shot.places[samples - 1].part > 0) > steps) samples--;
    whole = samples == shot.count;
    shot.count = samples;
    s.r = MEMORY_NEW(double, (size_t)(samples * s.count) + 1);
    for (int k = 0; k < 3; k++) out[k] = 0;
    if (!rows || !judge_forward(&s))
      for (int row = 0; row <= steps; row++) visit_row(&s, NULL, row);
    if (rows) judge_misfits(rows, &s, run, samples);
    judge_rows(id, &s, samples, out, rows);
    memory_free(s.r);
    memory_free(s.j);
    memory_free(s.bar);
  }
  simulation_free(&simulation);
  memory_free(shot.places);
  return whole;
}

Pose* shot_poses(const Identification* id, const double* x, const MeasuredRun* run, int* rows, double* begin) {
  int first = 0;
  while (first < run->count - 1 && !can_begin(run, first)) first++;
  Shot shot = {.run = run, .first = first, .count = run->count - first};
  place_samples(&shot, id->model.simulation.dt);
  Simulation simulation = {.id = id, .shot = &shot};
  Pose* out = NULL;
  size_t links = (size_t)id->model.link_count;
  if (simulate(&simulation, x, NULL)) {
    *rows = simulation.recording.steps + 1;
    *begin = run->time[first];
    out = MEMORY_NEW(Pose, (size_t)*rows * links);
    for (int row = 0; row < *rows; row++)
      memcpy(out + (size_t)row * links, recording_pose(&simulation.recording, row), sizeof(Pose) * links);
  }
  simulation_free(&simulation);
  memory_free(shot.places);
  return out;
}
