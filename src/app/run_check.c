/* Checks the files of a run against each other and against the scene (docs/derivations/certificate.md, P7). */
#include "app/run_check.h"
#include <cjson/cJSON.h>
#include <stdarg.h>
#include <string.h>

/* Largest difference between recomputed and recorded positions and rotations, relative to 1 m or the distance from the
 * origin. Files contain all digits, so differences are rounding errors. */
#define POSE_TOLERANCE 1e-9
/* Largest difference of a quaternion's length from 1. */
#define UNIT_TOLERANCE 1e-9
/* Relative tolerance of times. */
#define TIME_TOLERANCE 1e-12
/* Relative tolerance of energies and momenta. */
#define MOTION_TOLERANCE 1e-9
/* Relative rounding error of a coordinate after a few operations. */
#define COORDINATE_ROUNDING 1e-14

/* Factor of the allowed imbalance of forces, for what the files do not determine. The residual in solver.csv is
 * relative to the acting forces (step.md, S8), of which the files omit those between several hulls of one pair. */
#define RESIDUAL_ROOM 8.0
#define MOMENTUM_SHARE 1e-3

/* ---------------------------------------------------------------- reading */

static const char* name_in(RunFile* file, const char* folder, const char* name) {
  file->path = file_join(folder, name);
  return file->path;
}

static Status read_summary(RunCheck* c, Diagnostics* diagnostics) {
  const cJSON* result = cJSON_GetObjectItem(c->recorded->summary, "result");
  const cJSON *steps = cJSON_GetObjectItem(result, "steps"), *gap = cJSON_GetObjectItem(result, "smallest_gap");
  c->smallest_gap = cJSON_IsNumber(gap) ? gap->valuedouble : (double)INFINITY;
  if (cJSON_IsNumber(steps) && steps->valuedouble >= 0 && steps->valuedouble < 1e9) {
    c->steps = (int)steps->valuedouble;
    return STATUS_OK;
  }
  diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){c->summary_path, 0, 0},
                  "result.steps must be the number of steps, a whole number from 0 to 1e9: the summary is damaged or "
                  "was edited; run the scene again");
  return STATUS_BAD_INPUT;
}

/* Columns that every solver.csv contains. */
static const char* const SOLVER_COLUMNS[] = {
    "step",         "time",     "iterations", "trials", "residual", "outcome", "kinetic", "potential", "total",
    "smallest_gap", "substeps", "px",         "py",     "pz",       "lx",      "ly",      "lz"};

static Status need_column(const RunFile* file, const char* name, Diagnostics* diagnostics) {
  if (csv_find_column(csv_rows_header(file->rows), name) >= 0) return STATUS_OK;
  diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){file->path, 1, 0},
                  "column '%s' is missing: simulate the scene again", name);
  return STATUS_BAD_INPUT;
}

static Status read_solver(RunCheck* c, const char* folder, Diagnostics* diagnostics) {
  Status status = csv_rows_open(&c->solver.rows, name_in(&c->solver, folder, "solver.csv"), diagnostics);
  for (size_t k = 0; k < sizeof SOLVER_COLUMNS / sizeof SOLVER_COLUMNS[0] && status == STATUS_OK; k++)
    status = need_column(&c->solver, SOLVER_COLUMNS[k], diagnostics);
  return status;
}

/* Returns STATUS_BAD_INPUT, with a diagnostic, if trajectory.csv lacks a column of a centre of mass. run_pose_rows_open
 * checks the columns of the poses. */
static Status need_centers(const RunCheck* c, Diagnostics* diagnostics) {
  static const char* const axes[] = {"cx", "cy", "cz"};
  const Model* model = &c->recorded->model;
  Status status = STATUS_OK;
  for (int i = 0; i < 3 * model->link_count && status == STATUS_OK; i++) {
    Text name = {0};
    text_add(&name, "%s/%s", model->links[i / 3].name, axes[i % 3]);
    status = need_column(&c->trajectory, name.data, diagnostics);
    text_free(&name);
  }
  return status;
}

static Status read_joints(RunCheck* c, const char* folder, Diagnostics* diagnostics) {
  const Model* model = &c->recorded->model;
  Status status = run_coordinates_open(&c->joints.rows, name_in(&c->joints, folder, "joints.csv"), model, diagnostics);
  if (status != STATUS_OK) return status;
  c->states = csv_rows_count(c->joints.rows);
  c->q = MEMORY_NEW(double, model->coordinate_count + 1);
  if (c->states > 0) return STATUS_OK;
  diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){c->joints.path, 1, 0},
                  "the table has no rows, so the run has no state: simulate the scene again");
  return STATUS_BAD_INPUT;
}

Status run_check_read(RunCheck* c, const Recorded* recorded, const char* folder, Diagnostics* diagnostics) {
  const Model* model = &recorded->model;
  c->recorded = recorded;
  c->summary_path = file_join(folder, "summary.json");
  c->at = MEMORY_NEW(StateContacts, 2);
  c->at[0].state = c->at[1].state = -1;
  Status status = run_pose_rows_open(&c->poses, name_in(&c->trajectory, folder, "trajectory.csv"), model, diagnostics);
  if (status == STATUS_OK) c->trajectory.rows = run_pose_rows_table(c->poses);
  if (status == STATUS_OK) status = need_centers(c, diagnostics);
  if (status == STATUS_OK) status = read_summary(c, diagnostics);
  if (status == STATUS_OK) status = read_joints(c, folder, diagnostics);
  if (status == STATUS_OK)
    status = run_contact_rows_open(&c->contact_rows, name_in(&c->contacts, folder, "contacts.csv"), model, diagnostics);
  if (status == STATUS_OK) c->contacts.rows = run_contact_rows_table(c->contact_rows);
  if (status == STATUS_OK) status = read_solver(c, folder, diagnostics);
  return status;
}

void run_check_free(RunCheck* c) {
  run_pose_rows_close(c->poses);
  csv_rows_close(c->joints.rows);
  run_contact_rows_close(c->contact_rows);
  csv_rows_close(c->solver.rows);
  RunFile* const files[] = {&c->trajectory, &c->joints, &c->contacts, &c->solver};
  for (size_t k = 0; k < sizeof files / sizeof files[0]; k++) memory_free(files[k]->path);
  for (int k = 0; c->at && k < 2; k++) memory_free(c->at[k].list);
  memory_free(c->at);
  memory_free(c->q);
  memory_free(c->summary_path);
  memory_free(c->contact_first_row);
  diagnostics_free(&c->findings);
}

/* ---------------------------------------------------------------- rows */

double run_check_number(const RunFile* file, int row, int column) {
  return csv_number_or_nan(csv_rows_read(file->rows, row), 0, column);
}

static int column_of(const RunFile* file, const char* name) {
  return csv_find_column(csv_rows_header(file->rows), name);
}

static int row_count(const RunFile* file) { return csv_rows_count(file->rows); }

double run_check_time(const RunCheck* c, int state) { return run_check_number(&c->joints, state, 0); }

const double* run_check_coordinates(const RunCheck* c, int state) {
  run_coordinates_read_row(c->joints.rows, state, &c->recorded->model, c->q);
  return c->q;
}

const StateContacts* run_check_contacts(const RunCheck* c, int state) {
  StateContacts* at = &c->at[state % 2];
  if (at->state == state) return at;
  at->state = state;
  at->count = 0;
  at->first = c->contact_first_row ? c->contact_first_row[state] : 0;
  int end = c->contact_first_row ? c->contact_first_row[state + 1] : 0;
  for (int k = at->first; k < end; k++) {
    at->list = memory_grow_array(at->list, sizeof(RunContact), at->count, &at->capacity);
    if (!run_contact_rows_read(c->contact_rows, k, &at->list[at->count])) break;
    at->count++;
  }
  return at;
}

/* ---------------------------------------------------------------- findings */

void run_check_add_error(RunCheck* c, const RunFile* file, int row, int column, const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  SourcePosition place = {file->path, 1, 0};
  if (row >= 0 && row < row_count(file)) {
    const CsvTable* table = csv_rows_read(file->rows, row);
    place.line = table->lines[0];
    if (column >= 0) place.column = 1 + (int)(csv_cell(table, 0, column) - csv_cell(table, 0, 0));
  }
  diagnostics_add(&c->findings, SEVERITY_ERROR, place, "%s", text);
}

/* ---------------------------------------------------------------- rows and times */

/* Returns the expected number of recorded states: the start, every record_every-th step, and the end. */
static int states_expected(const RunCheck* c) {
  int every = c->recorded->model.simulation.record_every, start = c->recorded->model.start_step;
  int end = start + c->steps;
  return 1 + end / every - start / every + (end % every != 0);
}

int run_check_step(const RunCheck* c, int row) {
  int every = c->recorded->model.simulation.record_every, start = c->recorded->model.start_step;
  if (row == 0) return start;
  int64_t step = ((int64_t)start / every + row) * every;
  return step < start + c->steps ? (int)step : start + c->steps;
}

static double time_expected(const RunCheck* c, int row) {
  return run_check_step(c, row) * c->recorded->model.simulation.dt;
}

static bool same_time(double time, double expected) { return fabs(time - expected) <= TIME_TOLERANCE * expected; }

static void check_count(RunCheck* c, const RunFile* file, int count, int expected) {
  if (count == expected) return;
  run_check_add_error(c, file, count < expected ? count - 1 : expected, -1,
                      "%d rows, but summary.json has %d steps, which give %d rows (record_every is %d)", count,
                      c->steps, expected, c->recorded->model.simulation.record_every);
}

/* Checks the times in a file. first: index of the state in row 0 of the file. */
static void check_times(RunCheck* c, const RunFile* file, int first) {
  int column = column_of(file, "time");
  double before = -(double)INFINITY;
  for (int row = 0; row < row_count(file); row++) {
    double time = run_check_number(file, row, column), expected = time_expected(c, row + first);
    if (!(time > before))
      run_check_add_error(c, file, row, column,
                          "time %.17g s is not after that of the row before: times must increase from row to row",
                          time);
    else if (!same_time(time, expected))
      run_check_add_error(c, file, row, column, "time %.17g s is not that of step %d, %.17g s", time,
                          run_check_step(c, row + first), expected);
    before = time;
  }
}

static void check_steps(RunCheck* c) {
  int column = column_of(&c->solver, "step");
  for (int row = 0; row < row_count(&c->solver); row++) {
    double step = run_check_number(&c->solver, row, column);
    if (step != run_check_step(c, row + 1))
      run_check_add_error(c, &c->solver, row, column, "step '%s' must be %d",
                          csv_cell(csv_rows_read(c->solver.rows, row), 0, column), run_check_step(c, row + 1));
  }
}

static bool is_whole(double value) { return isfinite(value) && value == floor(value); }

/* Returns true if `value` is possible in the column `name` of solver.csv. The smallest gap is infinite if no pair of
 * bodies is near. */
static bool may_stand(const char* name, double value) {
  static const char* const counts[] = {"iterations",          "trials",        "active_pairs", "candidate_pairs",
                                       "certified_intervals", "factor_retries"};
  if (strcmp(name, "smallest_gap") == 0) return value > 0;
  if (strcmp(name, "kinetic") == 0 || strcmp(name, "residual") == 0) return value >= 0 && isfinite(value);
  if (strcmp(name, "substeps") == 0) return value >= 1 && is_whole(value);
  for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++)
    if (strcmp(name, counts[k]) == 0) return value >= 0 && is_whole(value);
  return isfinite(value);
}

static bool is_outcome(const char* text) {
  return strcmp(text, step_outcome_text(STEP_CONVERGED)) == 0 ||
         strcmp(text, step_outcome_text(STEP_ROUNDING_FLOOR)) == 0;
}

static void check_solver_cells(RunCheck* c) {
  const CsvTable* header = csv_rows_header(c->solver.rows);
  for (int row = 0; row < row_count(&c->solver); row++)
    for (int column = 0; column < header->column_count; column++) {
      const char* name = header->names[column];
      double value = run_check_number(&c->solver, row, column);
      const char* cell = csv_cell(csv_rows_read(c->solver.rows, row), 0, column);
      if (strcmp(name, "outcome") == 0 ? is_outcome(cell) : may_stand(name, value)) continue;
      run_check_add_error(c, &c->solver, row, column, "'%s' cannot be the %s of a step that was done", cell, name);
    }
}

/* Sets c->contact_first_row from the times in contacts.csv, which must not decrease. Adds an error and sets
 * c->contact_first_row to NULL if a time is wrong. */
static void sort_contacts(RunCheck* c) {
  int states = c->states, every = c->recorded->model.simulation.record_every, state = 0, k = 0;
  int column = column_of(&c->contacts, "time"), count = row_count(&c->contacts);
  double dt = c->recorded->model.simulation.dt;
  c->contact_first_row = MEMORY_NEW(int, states + 1);
  for (; k < count; k++) {
    double time = run_check_number(&c->contacts, k, column), step = round(time / dt);
    int start = c->recorded->model.start_step, end = start + c->steps;
    int row = step >= start && step <= end
                  ? ((int)step == end ? states_expected(c) - 1 : (int)step / every - start / every)
                  : -1;
    bool fits = row >= 1 && row < states && same_time(time, time_expected(c, row));
    if (!fits || row < state) {
      run_check_add_error(c, &c->contacts, k, column,
                          fits ? "time %.17g s is before that of the row above: times must not decrease"
                               : "time %.17g s is that of no recorded step after the start",
                          time);
      memory_free(c->contact_first_row);
      c->contact_first_row = NULL;
      return;
    }
    while (state < row) c->contact_first_row[++state] = k;
  }
  while (state < states) c->contact_first_row[++state] = k;
}

int run_check_substeps(const RunCheck* c, int row) {
  int column = column_of(&c->solver, "substeps");
  if (column < 0 || row < 1 || row > row_count(&c->solver)) return 1;
  return (int)run_check_number(&c->solver, row - 1, column);
}

/* ---------------------------------------------------------------- poses */

static double unit_error(const RunFile* file, int row, int column) {
  double sum = 0;
  for (int k = 0; k < 4; k++) {
    double value = run_check_number(file, row, column + k);
    sum += value * value;
  }
  return fabs(sqrt(sum) - 1);
}

static double cosine_of_rows(const RunFile* file, int row, int column) {
  double sum = 0;
  for (int k = 0; k < 4; k++)
    sum +=
        run_check_number(file, row, column + k) * (row > 0 ? run_check_number(file, row - 1, column + k)
                                                           : k == 0); /* the first row is compared with the identity */
  return sum;
}

static int link_column(const RunCheck* c, int link, const char* name) {
  Text text = {0};
  text_add(&text, "%s/%s", c->recorded->model.links[link].name, name);
  int column = column_of(&c->trajectory, text.data);
  text_free(&text);
  return column;
}

static void check_rotation(RunCheck* c, int row, int column) {
  double error = unit_error(&c->trajectory, row, column);
  if (!(error <= UNIT_TOLERANCE))
    run_check_add_error(c, &c->trajectory, row, column, "column '%s': the quaternion's length is off 1 by %.3g",
                        csv_rows_header(c->trajectory.rows)->names[column], error);
  else if (!(row == 0 && c->recorded->model.start) && !(cosine_of_rows(&c->trajectory, row, column) >= -UNIT_TOLERANCE))
    run_check_add_error(c, &c->trajectory, row, column,
                        "column '%s': the sign of the quaternion must be the one nearer to the row before",
                        csv_rows_header(c->trajectory.rows)->names[column]);
}

static double pose_difference(Pose a, Pose b) {
  double worst = vec3_norm(vec3_sub(a.t, b.t)) / fmax(1.0, vec3_norm(b.t));
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) worst = fmax(worst, fabs(a.r.m[i][j] - b.r.m[i][j]));
  return worst;
}

typedef struct {
  int position, rotation, center; /* first columns of a link in trajectory.csv */
} LinkColumns;

static void check_link(RunCheck* c, int row, int link, const LinkColumns* columns, const Pose* pose) {
  const RunFile* file = &c->trajectory;
  check_rotation(c, row, columns->rotation);
  double error = pose_difference(*pose, run_pose_rows_read(c->poses, row, link));
  if (!(error <= POSE_TOLERANCE))
    run_check_add_error(c, &c->trajectory, row, columns->position,
                        "the pose of '%s' is not that of the coordinates in joints.csv: they differ by %.3g",
                        c->recorded->model.links[link].name, error);
  Vec3 center = pose_apply(*pose, c->recorded->model.links[link].center), written;
  written = vec3(run_check_number(file, row, columns->center), run_check_number(file, row, columns->center + 1),
                 run_check_number(file, row, columns->center + 2));
  double miss = vec3_norm(vec3_sub(written, center));
  if (!(miss <= POSE_TOLERANCE * fmax(1.0, vec3_norm(center))))
    run_check_add_error(c, &c->trajectory, row, columns->center,
                        "the centre of mass of '%s' is not that of its pose: they are %.3g m apart",
                        c->recorded->model.links[link].name, miss);
}

/* Checks that the quaternions in a row of joints.csv have unit length. */
static void check_coordinates(RunCheck* c, int row) {
  const Model* model = &c->recorded->model;
  for (int i = 0, column = 1; i < model->link_count; column += model->links[i++].coordinate_count) {
    const ModelLink* link = &model->links[i];
    if (!link->joint.quaternion) continue;
    double error = unit_error(&c->joints, row, column + link->joint.plain_count);
    if (!(error <= UNIT_TOLERANCE))
      run_check_add_error(c, &c->joints, row, column + link->joint.plain_count,
                          "column '%s': the quaternion's length is off 1 by %.3g",
                          csv_rows_header(c->joints.rows)->names[column + link->joint.plain_count], error);
  }
}

static void check_start(RunCheck* c, Pose* given, Pose* found) {
  const Model* model = &c->recorded->model;
  if (model->start) return; /* a start state from another run is not checked */
  model_poses(model, model->initial_coordinates, given);
  model_poses(model, run_check_coordinates(c, 0), found);
  for (int i = 0; i < model->link_count; i++)
    if (!(pose_difference(found[i], given[i]) <= POSE_TOLERANCE))
      run_check_add_error(c, &c->joints, 0, -1,
                          "the first row is not the initial state of the scene: the pose of '%s' differs",
                          model->links[i].name);
}

/* ---------------------------------------------------------------- energies, momenta, forces */

/* Sums over the movable links of a state: total mass, and a bound on the rounding error of the momentum. */
typedef struct {
  double mass, momentum_rounding; /* [kg], [kg m/s] */
} MotionScale;

static MotionScale scale_of(const Model* model, const Pose* poses) {
  MotionScale scale = {0, 0};
  for (int i = 0; i < model->link_count; i++) {
    const ModelLink* link = &model->links[i];
    if (link->tree < 0) continue;
    scale.mass += link->mass;
    scale.momentum_rounding +=
        link->mass * COORDINATE_ROUNDING * (vec3_norm(poses[i].t) + link->reach) / model->simulation.dt;
  }
  return scale;
}

static double arm_of(const Model* model, const Pose* poses) {
  double arm = 0;
  for (int i = 0; i < model->link_count; i++)
    if (model->links[i].tree >= 0) arm = fmax(arm, vec3_norm(poses[i].t) + model->links[i].reach);
  return arm;
}

static void compare(RunCheck* c, int state, const char* name, double value, double tolerance) {
  int column = column_of(&c->solver, name);
  if (column < 0 || state < 1 || state > row_count(&c->solver)) return;
  double written = run_check_number(&c->solver, state - 1, column);
  if (fabs(written - value) <= tolerance) return;
  run_check_add_error(c, &c->solver, state - 1, column, "%s %.17g is not that of the states, %.17g", name, written,
                      value);
}

/* Returns the potential energy of the recorded state `row` [J]. Sets *size to the sum of the magnitudes of its terms
 * [J]. */
static double potential_of(const RunCheck* c, int row, const Pose* poses, double* size) {
  const Model* model = &c->recorded->model;
  double field = model_field_energy(model, poses), fluid = sim_fluid_energy(model, poses);
  double sum = model_spring_energy(model, run_check_coordinates(c, row)) +
               model_tendon_energy(model, poses, run_check_coordinates(c, row));
  double bushing = model_bushing_energy(model, poses);
  *size = sum + fabs(field) + fabs(fluid) + fabs(bushing);
  sum += field + fluid + bushing;
  for (int i = 0; i < model->link_count; i++) {
    if (model->links[i].tree < 0) continue;
    Vec3 center = pose_apply(poses[i], model->links[i].center), g = model_link_gravity(model, i);
    sum -= model->links[i].mass * vec3_dot(g, center);
    *size += model->links[i].mass * vec3_norm(g) * (vec3_norm(poses[i].t) + model->links[i].reach);
  }
  return sum;
}

/* Checks the column `total`, kinetic plus potential energy at the same time (step.md, S20). The time is the end of the
 * step or, for some integrators, its midpoint, with the mean of the potential energies. now, old: potential energies at
 * the end and the start of the step [J]. */
static void check_total(RunCheck* c, int row, double now, double old, double tolerance) {
  const Model* model = &c->recorded->model;
  double kinetic = run_check_number(&c->solver, row - 1, column_of(&c->solver, "kinetic"));
  double total = run_check_number(&c->solver, row - 1, column_of(&c->solver, "total"));
  tolerance += MOTION_TOLERANCE * kinetic;
  bool may_be_end = model->simulation.integrator != INTEGRATOR_MOMENTUM;
  bool may_be_middle = model->simulation.integrator != INTEGRATOR_FIRST_ORDER;
  if (may_be_end && fabs(total - kinetic - now) <= tolerance) return;
  bool old_is_known = model->simulation.record_every == 1 && run_check_substeps(c, row) == 1;
  if (may_be_middle && (!old_is_known || fabs(total - kinetic - 0.5 * (now + old)) <= tolerance)) return;
  run_check_add_error(c, &c->solver, row - 1, column_of(&c->solver, "total"),
                      "total %.17g is not the kinetic energy and the potential energy of the states, %.17g", total,
                      kinetic + (may_be_end ? now : 0.5 * (now + old)));
}

/* Checks the energies in a row of solver.csv. at[0]: poses in this row; at[1]: poses in the row before. */
static void check_energies(RunCheck* c, int row, Pose* const* at) {
  double size, size_before, now = potential_of(c, row, at[0], &size),
                            old = potential_of(c, row - 1, at[1], &size_before);
  compare(c, row, "potential", now, MOTION_TOLERANCE * size);
  if (row <= row_count(&c->solver)) check_total(c, row, now, old, MOTION_TOLERANCE * (size + size_before));
}

/* Sets *clock to the times of the step that ends at `row`. Returns false if the step cannot be recomputed from the
 * rows: one of the steps, or of the `before` steps before it, has substeps or began before the run. */
static bool clock_of(const RunCheck* c, int row, int before, StepClock* clock) {
  double dt = c->recorded->model.simulation.dt;
  if (c->recorded->model.start && row <= before + 2) return false; /* the states before the start are not recorded */
  for (int k = 0; k <= before && k < row; k++)
    if (run_check_substeps(c, row - k) != 1) return false;
  *clock = (StepClock){.time = run_check_number(&c->trajectory, row, 0),
                       .dt = dt,
                       .dt_before = row > 1 ? dt : 0,
                       .dt_older = row > 2 ? dt : 0};
  return true;
}

/* Returns the distance between `value` and the vector in three consecutive columns of solver.csv. first: name of the
 * first column. */
static double vector_miss(const RunCheck* c, int row, const char* first, Vec3 value) {
  int column = column_of(&c->solver, first);
  if (column < 0) return 0;
  double miss[3] = {value.x, value.y, value.z};
  for (int k = 0; k < 3; k++) miss[k] -= run_check_number(&c->solver, row - 1, column + k);
  return vec3_norm(vec3_at(miss));
}

/* Returns the difference between a recomputed motion and the values recorded in a row [kg m/s]. The result adds the
 * differences of the momentum, of the angular momentum / arm, and of the kinetic energy / speed. The kinetic energy is
 * omitted for models with armatures, which store a part of it. */
static double motion_miss(const RunCheck* c, int row, const SimMotion* motion, double arm, double speed) {
  double miss = vector_miss(c, row, "px", motion->momentum);
  if (arm > 0) miss += vector_miss(c, row, "lx", motion->angular_momentum) / arm;
  int kinetic = column_of(&c->solver, "kinetic");
  if (c->recorded->model.armature || kinetic < 0 || !(speed > 0)) return miss;
  return miss + fabs(motion->kinetic - run_check_number(&c->solver, row - 1, kinetic)) / speed;
}

/* Sets clock->kind, which no file states: a step of second order, or of first order after an impact. Recomputes the
 * motion for both kinds and chooses the one that is nearer to the recorded values. at: as for check_motion. */
static void find_kind(const RunCheck* c, int row, Pose* const* at, StepClock* clock) {
  const Model* model = &c->recorded->model;
  bool may_strike = model->simulation.integrator == INTEGRATOR_SECOND_ORDER && model->contact.rest_speed > 0;
  if (!may_strike || row > row_count(&c->solver)) return;
  StepClock other = *clock;
  other.kind = STEP_IMPACT_BEGINS;
  SimMotion free = motion_between(model, clock, at[0], at[1], at[2]);
  SimMotion struck = motion_between(model, &other, at[0], at[1], at[2]);
  double mass = scale_of(model, at[0]).mass, arm = arm_of(model, at[0]);
  double speed = mass > 0 ? sqrt(2 * fmax(fmax(free.kinetic, struck.kinetic), 0) / mass) : 0;
  if (motion_miss(c, row, &struck, arm, speed) < motion_miss(c, row, &free, arm, speed)) *clock = other;
}

/* Checks the momenta and the kinetic energy of a row of solver.csv against the poses. at[k]: poses k rows before the
 * row, k = 0 ... 3. */
static void check_motion(RunCheck* c, int row, Pose* const* at) {
  const Model* model = &c->recorded->model;
  /* true if bodies have an angular momentum of their own, which the poses do not determine */
  bool carried = model->simulation.integrator == INTEGRATOR_MOMENTUM;
  StepClock clock;
  if (!clock_of(c, row, model->simulation.integrator == INTEGRATOR_SECOND_ORDER, &clock)) return;
  find_kind(c, row, at, &clock);
  SimMotion motion = motion_between(model, &clock, at[0], at[1], at[2]);
  MotionScale scale = scale_of(model, at[0]);
  double size = sqrt(2 * fmax(motion.kinetic, 0) *
                     scale.mass); /* largest momentum that the links can have with this kinetic energy */
  double p = MOTION_TOLERANCE * size + scale.momentum_rounding, l = p * arm_of(model, at[0]);
  double speed = scale.mass > 0 ? (size + scale.momentum_rounding) / scale.mass : 0;
  const double* const found[] = {&motion.momentum.x,         &motion.momentum.y,         &motion.momentum.z,
                                 &motion.angular_momentum.x, &motion.angular_momentum.y, &motion.angular_momentum.z};
  static const char* const names[] = {"px", "py", "pz", "lx", "ly", "lz"};
  if (!carried && !model->armature) compare(c, row, "kinetic", motion.kinetic, p * speed);
  for (int k = 0; k < (carried ? 3 : 6); k++) compare(c, row, names[k], *found[k], k < 3 ? p : l);
}

static bool in_tree(const Model* model, int link, int tree) { return link >= 0 && model->links[link].tree == tree; }

/* Returns true if a closure, a coupling, a tendon or a bushing acts on the tree. No file lists such forces. */
static bool is_held(const Model* model, int tree) {
  for (int k = 0; k < model->tendon_count; k++) {
    const SceneTendon* tendon = model->tendons[k].source;
    for (int i = 0; i < tendon->count; i++)
      if (in_tree(model, tendon->points[i].link, tree)) return true;
    for (int i = 0; i < tendon->wrap_count; i++)
      if (in_tree(model, tendon->wraps[i].link, tree)) return true;
  }
  for (int k = 0; k < 2 * model->bushing_count; k++)
    if (in_tree(model, model->bushings[k / 2].source->link[k % 2], tree)) return true;
  for (int k = 0; k < model->closure_count; k++)
    for (int side = 0; side < 2; side++)
      if (in_tree(model, model->closures[k].link[side], tree)) return true;
  for (int k = 0; k < model->coupling_count; k++)
    for (int side = 0; side < model->couplings[k].count; side++)
      if (in_tree(model, model->dof_link[model->couplings[k].dof[side]], tree)) return true;
  return false;
}

/* Returns true if the forces on the tree of the root `link` are only loads and contacts. The root must be a free joint
 * without drive, damping or limits, and no constraint may act on the tree. */
static bool floats(const Model* model, int link) {
  const ModelLink* l = &model->links[link];
  if (is_held(model, l->tree)) return false;
  if (l->parent >= 0 || l->joint.slide_count != 3 || l->prescribed >= 0) return false;
  for (int k = 0; k < l->dof_count; k++)
    if (l->limited[k] || l->damping[k] != 0 || l->passive) return false;
  for (int k = 0; k < model->controller_count; k++)
    if (model->controllers[k].link == link) return false;
  return true;
}

typedef struct {
  Vec3 lack;    /* force that accelerates the tree, minus loads and the forces in contacts.csv [N]; zero in exact
                   arithmetic */
  double size;  /* sum of the magnitudes of the terms of `lack`, for the rounding error [N] */
  double work;  /* sum of the magnitudes of the forces on the tree, to which the residual is relative [N] */
  int root;     /* the tree's first link */
  bool checked; /* true if the balance of the tree can be checked */
} TreeBalance;

static void add_loads(const Model* model, const StepClock* clock, Pose* const* at, TreeBalance* trees) {
  for (int k = 0; k < model->load_count; k++) {
    const ModelLoad* load = &model->loads[k];
    const int link[2] = {load->link, load->field ? load->field->to : -1};
    double size = vec3_norm(sim_load_force(model, k, clock, at[1], at[2]));
    for (int side = 0; side < 2; side++) {
      int tree = link[side] < 0 ? -1 : model->links[link[side]].tree;
      if (tree < 0) continue;
      trees[tree].size += size;
      trees[tree].work += size;
    }
  }
}

static TreeBalance* balance_of(const RunCheck* c, int row, const Vec3* force, Pose* const* at) {
  const Model* model = &c->recorded->model;
  double dt = model->simulation.dt;
  TreeBalance* trees = MEMORY_NEW(TreeBalance, model->tree_count + 1);
  for (int i = model->link_count - 1; i >= 0; i--) {
    if (model->links[i].tree < 0) continue;
    TreeBalance* tree = &trees[model->links[i].tree];
    tree->lack = vec3_add(tree->lack, force[i]);
    tree->size += model->links[i].mass * (vec3_norm(at[0][i].t) + model->links[i].reach) / (dt * dt);
    tree->work += vec3_norm(force[i]) + model->links[i].mass * vec3_norm(model->simulation.gravity);
    tree->work += MOMENTUM_SHARE * model->links[i].mass / (dt * dt) *
                  (vec3_norm(vec3_sub(at[1][i].t, at[2][i].t)) + 4 * model->links[i].reach);
    tree->root = i;
    tree->checked = floats(model, i);
  }
  const StateContacts* listed = run_check_contacts(c, row);
  for (int k = 0; k < listed->count; k++) {
    const RunContact* contact = &listed->list[k];
    int a = model->links[contact->a].tree, b = model->links[contact->b].tree;
    if (a >= 0) trees[a].lack = vec3_add(trees[a].lack, contact->force);
    if (b >= 0) trees[b].lack = vec3_sub(trees[b].lack, contact->force);
    double size = vec3_norm(contact->force);
    if (a >= 0) trees[a].size += size;
    if (b >= 0) trees[b].size += size;
    if (a >= 0) trees[a].work += size;
    if (b >= 0) trees[b].work += size;
  }
  return trees;
}

/* Checks Newton's second law for free trees. The allowed imbalance follows from the residual in solver.csv. */
static void check_forces(RunCheck* c, int row, Pose* const* at) {
  const Model* model = &c->recorded->model;
  if (!c->contact_first_row || row > row_count(&c->solver)) return;
  if (contact_lists_by_range(model)) return; /* bodies beyond the range of contacts.csv exert forces, too */
  Vec3* force = MEMORY_NEW(Vec3, model->link_count);
  StepClock clock;
  bool second = model->simulation.integrator == INTEGRATOR_SECOND_ORDER;
  bool known = clock_of(c, row, second ? 2 : 1, &clock);
  if (known) find_kind(c, row, at, &clock);
  if (known && motion_forces(model, &clock, at[0], at[1], at[2], at[3], force)) {
    double absolute = model->simulation.force_tolerance / model->simulation.tolerance;
    double residual = run_check_number(&c->solver, row - 1, column_of(&c->solver, "residual"));
    TreeBalance* trees = balance_of(c, row, force, at);
    add_loads(model, &clock, at, trees);
    for (int k = 0; k < model->tree_count; k++) {
      double lack = vec3_norm(trees[k].lack), allowed = RESIDUAL_ROOM * residual * (trees[k].work + absolute);
      if (!trees[k].checked || lack <= allowed + COORDINATE_ROUNDING * trees[k].size) continue;
      run_check_add_error(
          c, &c->trajectory, row, -1,
          "the motion of '%s' and the forces of contacts.csv do not balance at this time: the difference is "
          "%.3g N, the residual of solver.csv allows %.3g",
          model->links[trees[k].root].name, lack, allowed);
    }
    memory_free(trees);
  }
  memory_free(force);
}

/* ---------------------------------------------------------------- all states */

static LinkColumns* find_link_columns(const RunCheck* c) {
  LinkColumns* columns = MEMORY_NEW(LinkColumns, c->recorded->model.link_count + 1);
  for (int i = 0; i < c->recorded->model.link_count; i++)
    columns[i] = (LinkColumns){link_column(c, i, "px"), link_column(c, i, "qw"), link_column(c, i, "cx")};
  return columns;
}

static void check_states(RunCheck* c, int rows, Pose* const* room) {
  const Model* model = &c->recorded->model;
  LinkColumns* columns = find_link_columns(c);
  for (int row = 0; row < rows; row++) {
    Pose* at[4]; /* at[k]: poses k rows before this row, in a ring buffer; before the start the first row is repeated */
    for (int k = 0; k < 4; k++) at[k] = room[(row < k ? 0 : row - k) % 4];
    model_poses(model, run_check_coordinates(c, row), at[0]);
    check_coordinates(c, row);
    for (int i = 0; i < model->link_count; i++) check_link(c, row, i, &columns[i], &at[0][i]);
    if (row == 0) continue;
    check_energies(c, row, at);
    if (model->simulation.record_every > 1) continue; /* the states between rows are not recorded */
    check_motion(c, row, at);
    check_forces(c, row, at);
  }
  memory_free(columns);
}

void run_check_states(RunCheck* c) {
  int links = c->recorded->model.link_count, states = states_expected(c);
  check_count(c, &c->trajectory, row_count(&c->trajectory), states);
  check_count(c, &c->joints, row_count(&c->joints), states);
  check_count(c, &c->solver, row_count(&c->solver), states - 1);
  check_times(c, &c->trajectory, 0);
  check_times(c, &c->joints, 0);
  check_times(c, &c->solver, 1);
  check_steps(c);
  check_solver_cells(c);
  sort_contacts(c);
  Pose* room[4];
  for (int k = 0; k < 4; k++) room[k] = MEMORY_NEW(Pose, links + 1);
  check_start(c, room[0], room[1]);
  check_states(c, row_count(&c->trajectory) < c->states ? row_count(&c->trajectory) : c->states, room);
  for (int k = 0; k < 4; k++) memory_free(room[k]);
}
