/* Checks the files of a run against each other and against its scene (docs/derivations/certificate.md, P7). */
#include "app/run_check.h"
#include <assert.h>
#include <cjson/cJSON.h>
#include <stdarg.h>
#include <string.h>

/* Largest error of positions and rotations, relative to 1 m or the distance from the origin. Files contain all digits,
 * so errors are rounding errors. */
#define POSE_TOLERANCE 1e-9
/* Largest difference of a quaternion's length from 1. */
#define UNIT_TOLERANCE 1e-9
/* Largest relative error of the times in the files of a run. */
#define TIME_TOLERANCE 1e-12
/* Largest relative error of the energies and momenta in solver.csv. */
#define MOTION_TOLERANCE 1e-9
/* Relative rounding error of a coordinate after a few operations. */
#define COORDINATE_ROUNDING 1e-14

/* Factor of the allowed imbalance of forces. The residual in solver.csv is relative to all forces (step.md, S8), but
 * the files omit forces between several hulls of one pair. */
#define RESIDUAL_FACTOR 8.0
#define MOMENTUM_SHARE 1e-3

/* ---------------------------------------------------------------- reading */

static const char* set_path(RunFile* file, const char* folder, const char* name) {
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

static Status require_column(const RunFile* file, const char* name, Diagnostics* diagnostics) {
  if (csv_find_column(csv_rows_header(file->rows), name) >= 0) return STATUS_OK;
  diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){file->path, 1, 0},
                  "column '%s' is missing: simulate the scene again", name);
  return STATUS_BAD_INPUT;
}

static Status read_solver(RunCheck* c, const char* folder, Diagnostics* diagnostics) {
  Status status = csv_rows_open(&c->solver.rows, set_path(&c->solver, folder, "solver.csv"), diagnostics);
  for (size_t k = 0; k < sizeof SOLVER_COLUMNS / sizeof SOLVER_COLUMNS[0] && status == STATUS_OK; k++)
    status = require_column(&c->solver, SOLVER_COLUMNS[k], diagnostics);
  return status;
}

/* Returns STATUS_BAD_INPUT, with a diagnostic, if trajectory.csv lacks a column of a centre of mass. run_pose_rows_open
 * checks the columns of the poses. */
static Status require_center_columns(const RunCheck* c, Diagnostics* diagnostics) {
  static const char* const axes[] = {"cx", "cy", "cz"};
  const Model* model = &c->recorded->model;
  Status status = STATUS_OK;
  for (int i = 0; i < 3 * model->link_count && status == STATUS_OK; i++) {
    Text name = {0};
    text_add(&name, "%s/%s", model->links[i / 3].name, axes[i % 3]);
    status = require_column(&c->trajectory, name.data, diagnostics);
    text_free(&name);
  }
  return status;
}

static Status read_joints(RunCheck* c, const char* folder, Diagnostics* diagnostics) {
  const Model* model = &c->recorded->model;
  Status status = run_coordinates_open(&c->joints.rows, set_path(&c->joints, folder, "joints.csv"), model, diagnostics);
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
  c->state_contacts = MEMORY_NEW(StateContacts, 2);
  c->state_contacts[0].state = c->state_contacts[1].state = -1;
  Status status = run_pose_rows_open(&c->poses, set_path(&c->trajectory, folder, "trajectory.csv"), model, diagnostics);
  if (status == STATUS_OK) c->trajectory.rows = run_pose_rows_table(c->poses);
  if (status == STATUS_OK) status = require_center_columns(c, diagnostics);
  if (status == STATUS_OK) status = read_summary(c, diagnostics);
  if (status == STATUS_OK) status = read_joints(c, folder, diagnostics);
  if (status == STATUS_OK)
    status =
        run_contact_rows_open(&c->contact_rows, set_path(&c->contacts, folder, "contacts.csv"), model, diagnostics);
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
  for (int k = 0; c->state_contacts && k < 2; k++) memory_free(c->state_contacts[k].list);
  memory_free(c->state_contacts);
  memory_free(c->q);
  memory_free(c->summary_path);
  memory_free(c->contact_first_row);
  diagnostics_free(&c->findings);
}

/* ---------------------------------------------------------------- rows */

static int row_count(const RunFile* file) { return csv_rows_count(file->rows); }

double run_check_number(const RunFile* file, int row, int column) {
  assert(row >= 0 && row < row_count(file));
  return csv_number_or_nan(csv_rows_read(file->rows, row), 0, column);
}

static int column_of(const RunFile* file, const char* name) {
  return csv_find_column(csv_rows_header(file->rows), name);
}

double run_check_time(const RunCheck* c, int state) { return run_check_number(&c->joints, state, 0); }

const double* run_check_coordinates(const RunCheck* c, int state) {
  assert(state >= 0 && state < c->states);
  run_coordinates_read_row(c->joints.rows, state, &c->recorded->model, c->q);
  return c->q;
}

const StateContacts* run_check_contacts(const RunCheck* c, int state) {
  assert(state >= 0 && state < c->states);
  StateContacts* poses = &c->state_contacts[state % 2];
  if (poses->state == state) return poses;
  poses->state = state;
  poses->count = 0;
  poses->first = c->contact_first_row ? c->contact_first_row[state] : 0;
  int end = c->contact_first_row ? c->contact_first_row[state + 1] : 0;
  for (int k = poses->first; k < end; k++) {
    poses->list = memory_grow_array(poses->list, sizeof(RunContact), poses->count, &poses->capacity);
    if (!run_contact_rows_read(c->contact_rows, k, &poses->list[poses->count])) break;
    poses->count++;
  }
  return poses;
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
static int expected_state_count(const RunCheck* c) {
  int every = c->recorded->model.simulation.record_every, start = c->recorded->model.start_step;
  int end = start + c->steps;
  return 1 + end / every - start / every + (end % every != 0);
}

int run_check_step(const RunCheck* c, int row) {
  assert(row >= 0);
  int every = c->recorded->model.simulation.record_every, start = c->recorded->model.start_step;
  if (row == 0) return start;
  int64_t step = ((int64_t)start / every + row) * every;
  return step < start + c->steps ? (int)step : start + c->steps;
}

static double expected_time(const RunCheck* c, int row) {
  return run_check_step(c, row) * c->recorded->model.simulation.dt;
}

static bool same_time(double time, double expected) { return fabs(time - expected) <= TIME_TOLERANCE * expected; }

static void check_count(RunCheck* c, const RunFile* file, int count, int expected) {
  if (count == expected) return;
  run_check_add_error(c, file, count < expected ? count - 1 : expected, -1,
                      "%d rows, but summary.json has %d steps, which give %d rows (record_every is %d)", count,
                      c->steps, expected, c->recorded->model.simulation.record_every);
}

/* Checks the times in a file. first_state: index of the state in row 0 of the file. */
static void check_times(RunCheck* c, const RunFile* file, int first_state) {
  assert(first_state == 0 || first_state == 1);
  int column = column_of(file, "time");
  double before = -(double)INFINITY;
  for (int row = 0; row < row_count(file); row++) {
    double time = run_check_number(file, row, column), expected = expected_time(c, row + first_state);
    if (!(time > before))
      run_check_add_error(c, file, row, column,
                          "time %.17g s is not after that of the row before: times must increase from row to row",
                          time);
    else if (!same_time(time, expected))
      run_check_add_error(c, file, row, column, "time %.17g s is not that of step %d, %.17g s", time,
                          run_check_step(c, row + first_state), expected);
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

/* Returns true if `value` is possible in the column `name` of solver.csv. The smallest gap is infinite if no bodies are
 * near each other. */
static bool is_possible_value(const char* name, double value) {
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
      if (strcmp(name, "outcome") == 0 ? is_outcome(cell) : is_possible_value(name, value)) continue;
      run_check_add_error(c, &c->solver, row, column, "'%s' cannot be the %s of a step that was done", cell, name);
    }
}

/* Sets c->contact_first_row from the times in contacts.csv, which must not decrease. On a wrong time adds an error and
 * sets it to NULL. */
static void index_contacts(RunCheck* c) {
  int states = c->states, every = c->recorded->model.simulation.record_every, state = 0, k = 0;
  int column = column_of(&c->contacts, "time"), count = row_count(&c->contacts);
  double dt = c->recorded->model.simulation.dt;
  c->contact_first_row = MEMORY_NEW(int, states + 1);
  for (; k < count; k++) {
    double time = run_check_number(&c->contacts, k, column), step = round(time / dt);
    int start = c->recorded->model.start_step, end = start + c->steps;
    int row = step >= start && step <= end
                  ? ((int)step == end ? expected_state_count(c) - 1 : (int)step / every - start / every)
                  : -1;
    bool fits = row >= 1 && row < states && same_time(time, expected_time(c, row));
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
  /* the quaternion in row 0 is compared with the identity */
  for (int k = 0; k < 4; k++)
    sum += run_check_number(file, row, column + k) * (row > 0 ? run_check_number(file, row - 1, column + k) : k == 0);
  return sum;
}

static int link_column(const RunCheck* c, int link, const char* name) {
  assert(link >= 0 && link < c->recorded->model.link_count);
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
  /* in trajectory.csv, the first column of a link's position, of its rotation and of its centre of mass */
  int position, rotation, center;
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
  double center_error = vec3_norm(vec3_sub(written, center));
  if (!(center_error <= POSE_TOLERANCE * fmax(1.0, vec3_norm(center))))
    run_check_add_error(c, &c->trajectory, row, columns->center,
                        "the centre of mass of '%s' is not that of its pose: they are %.3g m apart",
                        c->recorded->model.links[link].name, center_error);
}

/* Checks that the quaternions in a row of joints.csv have unit length. */
static void check_coordinates(RunCheck* c, int row) {
  const Model* model = &c->recorded->model;
  for (int i = 0, column = 1; i < model->link_count; column += model->links[i++].coordinate_count) {
    const ModelLink* link = &model->links[i];
    if (!link->joint.quaternion) continue;
    double error = unit_error(&c->joints, row, column + link->joint.scalar_count);
    if (!(error <= UNIT_TOLERANCE))
      run_check_add_error(c, &c->joints, row, column + link->joint.scalar_count,
                          "column '%s': the quaternion's length is off 1 by %.3g",
                          csv_rows_header(c->joints.rows)->names[column + link->joint.scalar_count], error);
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

/* Total mass of the movable links [kg], and a bound on the rounding error of their momentum [kg m/s]. */
typedef struct {
  double mass, momentum_rounding;
} MotionScale;

static MotionScale motion_scale(const Model* model, const Pose* poses) {
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

static double momentum_arm(const Model* model, const Pose* poses) {
  double arm = 0;
  for (int i = 0; i < model->link_count; i++)
    if (model->links[i].tree >= 0) arm = fmax(arm, vec3_norm(poses[i].t) + model->links[i].reach);
  return arm;
}

static void check_solver_value(RunCheck* c, int state, const char* name, double value, double tolerance) {
  int column = column_of(&c->solver, name);
  if (column < 0 || state < 1 || state > row_count(&c->solver)) return;
  double written = run_check_number(&c->solver, state - 1, column);
  if (fabs(written - value) <= tolerance) return;
  run_check_add_error(c, &c->solver, state - 1, column, "%s %.17g is not that of the states, %.17g", name, written,
                      value);
}

/* Returns the potential energy of the recorded state `row` [J]. Sets *magnitude to the sum of the magnitudes of its
 * terms [J]. */
static double potential_energy(const RunCheck* c, int row, const Pose* poses, double* magnitude) {
  assert(row >= 0 && row < c->states);
  const Model* model = &c->recorded->model;
  double field = model_field_energy(model, poses), fluid = sim_fluid_energy(model, poses);
  double sum = model_spring_energy(model, run_check_coordinates(c, row)) +
               model_tendon_energy(model, poses, run_check_coordinates(c, row));
  double bushing = model_bushing_energy(model, poses);
  *magnitude = sum + fabs(field) + fabs(fluid) + fabs(bushing);
  sum += field + fluid + bushing;
  for (int i = 0; i < model->link_count; i++) {
    if (model->links[i].tree < 0) continue;
    Vec3 center = pose_apply(poses[i], model->links[i].center), g = model_link_gravity(model, i);
    sum -= model->links[i].mass * vec3_dot(g, center);
    *magnitude += model->links[i].mass * vec3_norm(g) * (vec3_norm(poses[i].t) + model->links[i].reach);
  }
  return sum;
}

/* Checks the column `total`, the sum of kinetic and potential energy at one time (step.md, S20). The time is the end of
 * the step or, for some integrators, its midpoint, with the mean of the potential energies. end, start: potential
 * energies at the end and the start of the step [J]. */
static void check_total(RunCheck* c, int row, double end, double start, double tolerance) {
  const Model* model = &c->recorded->model;
  double kinetic = run_check_number(&c->solver, row - 1, column_of(&c->solver, "kinetic"));
  double total = run_check_number(&c->solver, row - 1, column_of(&c->solver, "total"));
  tolerance += MOTION_TOLERANCE * kinetic;
  bool may_be_end = model->simulation.integrator != INTEGRATOR_MOMENTUM;
  bool may_be_middle = model->simulation.integrator != INTEGRATOR_FIRST_ORDER;
  if (may_be_end && fabs(total - kinetic - end) <= tolerance) return;
  bool start_is_known = model->simulation.record_every == 1 && run_check_substeps(c, row) == 1;
  if (may_be_middle && (!start_is_known || fabs(total - kinetic - 0.5 * (end + start)) <= tolerance)) return;
  run_check_add_error(c, &c->solver, row - 1, column_of(&c->solver, "total"),
                      "total %.17g is not the kinetic energy and the potential energy of the states, %.17g", total,
                      kinetic + (may_be_end ? end : 0.5 * (end + start)));
}

/* Checks the energies in a row of solver.csv. poses[k]: poses of the links k rows before the row. */
static void check_energies(RunCheck* c, int row, Pose* const* poses) {
  double size, size_before, now = potential_energy(c, row, poses[0], &size),
                            old = potential_energy(c, row - 1, poses[1], &size_before);
  check_solver_value(c, row, "potential", now, MOTION_TOLERANCE * size);
  if (row <= row_count(&c->solver)) check_total(c, row, now, old, MOTION_TOLERANCE * (size + size_before));
}

/* Sets *clock to the time and length of the time step that ends at `row`, and the lengths of the two steps before it.
 * Returns false if the step cannot be recomputed from the rows: it or one of the `before` steps before it has substeps
 * or began before the run. */
static bool find_step_clock(const RunCheck* c, int row, int before, StepClock* clock) {
  assert(row >= 1 && before >= 0);
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

/* Returns the distance of `value` from the vector in three consecutive columns of solver.csv. first: name of the first
 * column. */
static double vector_error(const RunCheck* c, int row, const char* first, Vec3 value) {
  int column = column_of(&c->solver, first);
  if (column < 0) return 0;
  double difference[3] = {value.x, value.y, value.z};
  for (int k = 0; k < 3; k++) difference[k] -= run_check_number(&c->solver, row - 1, column + k);
  return vec3_norm(vec3_at(difference));
}

/* Returns the error of a recomputed motion against the values in a row [kg m/s]. It adds three errors: of the momentum,
 * of the angular momentum divided by the length `arm`, and of the kinetic energy divided by `speed`. Kinetic energy is
 * omitted for models with armatures, which store a part of it. */
static double motion_error(const RunCheck* c, int row, const SimMotion* motion, double arm, double speed) {
  double error = vector_error(c, row, "px", motion->momentum);
  if (arm > 0) error += vector_error(c, row, "lx", motion->angular_momentum) / arm;
  int kinetic = column_of(&c->solver, "kinetic");
  if (c->recorded->model.armature || kinetic < 0 || !(speed > 0)) return error;
  return error + fabs(motion->kinetic - run_check_number(&c->solver, row - 1, kinetic)) / speed;
}

/* Sets clock->kind, which no file states: a step of second order, or of first order after an impact. Recomputes the
 * motion for both kinds and chooses the one that is nearer to the recorded values. poses[k]: poses of the links k rows
 * before the row. */
static void find_step_kind(const RunCheck* c, int row, Pose* const* poses, StepClock* clock) {
  const Model* model = &c->recorded->model;
  bool may_strike = model->simulation.integrator == INTEGRATOR_SECOND_ORDER && model->contact.rest_speed > 0;
  if (!may_strike || row > row_count(&c->solver)) return;
  StepClock other = *clock;
  other.kind = STEP_IMPACT_BEGINS;
  SimMotion free_motion = motion_between(model, clock, poses[0], poses[1], poses[2]);
  SimMotion impact_motion = motion_between(model, &other, poses[0], poses[1], poses[2]);
  double mass = motion_scale(model, poses[0]).mass, arm = momentum_arm(model, poses[0]);
  double speed = mass > 0 ? sqrt(2 * fmax(fmax(free_motion.kinetic, impact_motion.kinetic), 0) / mass) : 0;
  if (motion_error(c, row, &impact_motion, arm, speed) < motion_error(c, row, &free_motion, arm, speed)) *clock = other;
}

/* Checks the momenta and the kinetic energy of a row of solver.csv against the poses. poses[k]: poses of the links k
 * rows before the row, k = 0 ... 3. */
static void check_motion(RunCheck* c, int row, Pose* const* poses) {
  const Model* model = &c->recorded->model;
  /* with this integrator bodies have angular momenta that the poses do not determine */
  bool has_spin_state = model->simulation.integrator == INTEGRATOR_MOMENTUM;
  StepClock clock;
  if (!find_step_clock(c, row, model->simulation.integrator == INTEGRATOR_SECOND_ORDER, &clock)) return;
  find_step_kind(c, row, poses, &clock);
  SimMotion motion = motion_between(model, &clock, poses[0], poses[1], poses[2]);
  MotionScale scale = motion_scale(model, poses[0]);
  double size = sqrt(2 * fmax(motion.kinetic, 0) *
                     scale.mass); /* largest momentum that the links can have with this kinetic energy */
  double p = MOTION_TOLERANCE * size + scale.momentum_rounding, l = p * momentum_arm(model, poses[0]);
  double speed = scale.mass > 0 ? (size + scale.momentum_rounding) / scale.mass : 0;
  const double* const found[] = {&motion.momentum.x,         &motion.momentum.y,         &motion.momentum.z,
                                 &motion.angular_momentum.x, &motion.angular_momentum.y, &motion.angular_momentum.z};
  static const char* const names[] = {"px", "py", "pz", "lx", "ly", "lz"};
  if (!has_spin_state && !model->armature) check_solver_value(c, row, "kinetic", motion.kinetic, p * speed);
  for (int k = 0; k < (has_spin_state ? 3 : 6); k++) check_solver_value(c, row, names[k], *found[k], k < 3 ? p : l);
}

static bool in_tree(const Model* model, int link, int tree) { return link >= 0 && model->links[link].tree == tree; }

/* Returns true if a closure, a coupling, a tendon or a bushing acts on the tree. No file lists their forces. */
static bool is_constrained(const Model* model, int tree) {
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

/* Returns true if only loads and contacts act on the tree of the root `link`. The root must be a free joint without
 * drive, damping or limits, and no constraint may act on the tree. */
static bool is_free_tree(const Model* model, int link) {
  const ModelLink* l = &model->links[link];
  if (is_constrained(model, l->tree)) return false;
  if (l->parent >= 0 || l->joint.slide_count != 3 || l->prescribed >= 0) return false;
  for (int k = 0; k < l->dof_count; k++)
    if (l->limited[k] || l->damping[k] != 0 || l->passive) return false;
  for (int k = 0; k < model->controller_count; k++)
    if (model->controllers[k].link == link) return false;
  return true;
}

typedef struct {
  Vec3 imbalance;   /* accelerating force minus loads and forces in contacts.csv [N]; zero in exact arithmetic */
  double size;      /* sum of the magnitudes of the terms of `imbalance`, for the rounding error [N] */
  double force_sum; /* sum of the magnitudes of the forces on the tree, to which the residual is relative [N] */
  int root;         /* root link of the tree */
  bool checked;     /* true if the balance of the tree can be checked */
} TreeBalance;

static void add_loads(const Model* model, const StepClock* clock, Pose* const* poses, TreeBalance* trees) {
  for (int k = 0; k < model->load_count; k++) {
    const ModelLoad* load = &model->loads[k];
    const int link[2] = {load->link, load->field ? load->field->to : -1};
    double size = vec3_norm(sim_load_force(model, k, clock, poses[1], poses[2]));
    for (int side = 0; side < 2; side++) {
      int tree = link[side] < 0 ? -1 : model->links[link[side]].tree;
      if (tree < 0) continue;
      trees[tree].size += size;
      trees[tree].force_sum += size;
    }
  }
}

static TreeBalance* compute_balance(const RunCheck* c, int row, const Vec3* force, Pose* const* poses) {
  assert(row >= 1);
  const Model* model = &c->recorded->model;
  double dt = model->simulation.dt;
  TreeBalance* trees = MEMORY_NEW(TreeBalance, model->tree_count + 1);
  for (int i = model->link_count - 1; i >= 0; i--) {
    if (model->links[i].tree < 0) continue;
    TreeBalance* tree = &trees[model->links[i].tree];
    tree->imbalance = vec3_add(tree->imbalance, force[i]);
    tree->size += model->links[i].mass * (vec3_norm(poses[0][i].t) + model->links[i].reach) / (dt * dt);
    tree->force_sum += vec3_norm(force[i]) + model->links[i].mass * vec3_norm(model->simulation.gravity);
    tree->force_sum += MOMENTUM_SHARE * model->links[i].mass / (dt * dt) *
                       (vec3_norm(vec3_sub(poses[1][i].t, poses[2][i].t)) + 4 * model->links[i].reach);
    tree->root = i;
    tree->checked = is_free_tree(model, i);
  }
  const StateContacts* listed = run_check_contacts(c, row);
  for (int k = 0; k < listed->count; k++) {
    const RunContact* contact = &listed->list[k];
    int a = model->links[contact->a].tree, b = model->links[contact->b].tree;
    if (a >= 0) trees[a].imbalance = vec3_add(trees[a].imbalance, contact->force);
    if (b >= 0) trees[b].imbalance = vec3_sub(trees[b].imbalance, contact->force);
    double size = vec3_norm(contact->force);
    if (a >= 0) trees[a].size += size;
    if (b >= 0) trees[b].size += size;
    if (a >= 0) trees[a].force_sum += size;
    if (b >= 0) trees[b].force_sum += size;
  }
  return trees;
}

/* Checks Newton's second law for free trees. The residual in solver.csv gives the allowed imbalance. */
static void check_forces(RunCheck* c, int row, Pose* const* poses) {
  const Model* model = &c->recorded->model;
  if (!c->contact_first_row || row > row_count(&c->solver)) return;
  if (contact_lists_by_range(model)) return; /* bodies beyond the range of contacts.csv also exert forces */
  Vec3* force = MEMORY_NEW(Vec3, model->link_count);
  StepClock clock;
  bool second = model->simulation.integrator == INTEGRATOR_SECOND_ORDER;
  bool known = find_step_clock(c, row, second ? 2 : 1, &clock);
  if (known) find_step_kind(c, row, poses, &clock);
  if (known && motion_forces(model, &clock, poses[0], poses[1], poses[2], poses[3], force)) {
    double absolute = model->simulation.force_tolerance / model->simulation.tolerance;
    double residual = run_check_number(&c->solver, row - 1, column_of(&c->solver, "residual"));
    TreeBalance* trees = compute_balance(c, row, force, poses);
    add_loads(model, &clock, poses, trees);
    for (int k = 0; k < model->tree_count; k++) {
      double imbalance = vec3_norm(trees[k].imbalance),
             allowed = RESIDUAL_FACTOR * residual * (trees[k].force_sum + absolute);
      if (!trees[k].checked || imbalance <= allowed + COORDINATE_ROUNDING * trees[k].size) continue;
      run_check_add_error(
          c, &c->trajectory, row, -1,
          "the motion of '%s' and the forces of contacts.csv do not balance at this time: the difference is "
          "%.3g N, the residual of solver.csv allows %.3g",
          model->links[trees[k].root].name, imbalance, allowed);
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

static void check_states(RunCheck* c, int rows, Pose* const* pose_rings) {
  const Model* model = &c->recorded->model;
  LinkColumns* columns = find_link_columns(c);
  for (int row = 0; row < rows; row++) {
    Pose* poses[4]; /* poses[k]: poses k rows before the row, from a ring buffer; row 0 is repeated before the start */
    for (int k = 0; k < 4; k++) poses[k] = pose_rings[(row < k ? 0 : row - k) % 4];
    model_poses(model, run_check_coordinates(c, row), poses[0]);
    check_coordinates(c, row);
    for (int i = 0; i < model->link_count; i++) check_link(c, row, i, &columns[i], &poses[0][i]);
    if (row == 0) continue;
    check_energies(c, row, poses);
    if (model->simulation.record_every > 1) continue; /* states between rows are not recorded */
    check_motion(c, row, poses);
    check_forces(c, row, poses);
  }
  memory_free(columns);
}

void run_check_states(RunCheck* c) {
  int links = c->recorded->model.link_count, states = expected_state_count(c);
  check_count(c, &c->trajectory, row_count(&c->trajectory), states);
  check_count(c, &c->joints, row_count(&c->joints), states);
  check_count(c, &c->solver, row_count(&c->solver), states - 1);
  check_times(c, &c->trajectory, 0);
  check_times(c, &c->joints, 0);
  check_times(c, &c->solver, 1);
  check_steps(c);
  check_solver_cells(c);
  index_contacts(c);
  Pose* pose_rings[4];
  for (int k = 0; k < 4; k++) pose_rings[k] = MEMORY_NEW(Pose, links + 1);
  check_start(c, pose_rings[0], pose_rings[1]);
  check_states(c, row_count(&c->trajectory) < c->states ? row_count(&c->trajectory) : c->states, pose_rings);
  for (int k = 0; k < 4; k++) memory_free(pose_rings[k]);
}
