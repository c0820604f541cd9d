/* Motion planning tasks: reads the task, finds a path of a body around obstacles and writes the path.
 * docs/planning.md */
#include "app/plan.h"

#include <assert.h>
#include <string.h>

#include "ask/reader.h"
#include "scene/plan.h"

typedef struct {
  char* name;
  QueryList shapes;   /* shapes of the body and, after it, of the obstacles */
  Pose* poses;        /* poses of the body and the obstacles */
  char** shape_texts; /* shapes of the body and the obstacles as JSON text without pose, for the scene file */
  int pose_capacity, shape_text_capacity;
  PathProblem problem;
} PlanTask;

static void plan_free(PlanTask* task) {
  for (int k = 0; k < task->shapes.body_count; k++) cJSON_free(task->shape_texts[k]);
  memory_free(task->shape_texts);
  query_free(&task->shapes);
  memory_free(task->poses);
  memory_free(task->name);
}

/* ---------------------------------------------------------------- reading */

static char* format_json(const cJSON* item) {
  cJSON* copy = cJSON_Duplicate(item, true);
  cJSON_DeleteItemFromObject(copy, "position");
  cJSON_DeleteItemFromObject(copy, "quaternion");
  char* text = cJSON_PrintUnformatted(copy);
  cJSON_Delete(copy);
  return text;
}

static void read_shape(QueryReader* reader, const cJSON* item, PlanTask* task) {
  Pose pose = pose_identity();
  int made = query_reader_body(reader, item, &task->shapes, -1, &pose);
  if (made < 0) return;
  if (!task->shapes.bodies[made].smooth)
    query_reader_error(reader, false,
                       "a path needs smooth shapes: superellipsoid, superquadric, "
                       "superelliptic_cylinder, truncated_cone, smooth_polytope");
  task->poses = memory_grow_array(task->poses, sizeof(Pose), made, &task->pose_capacity);
  task->poses[made] = pose;
  task->shape_texts = memory_grow_array(task->shape_texts, sizeof(char*), made, &task->shape_text_capacity);
  task->shape_texts[made] = format_json(item);
}

static void read_obstacles(QueryReader* reader, const cJSON* item, PlanTask* task) {
  if (!cJSON_IsArray(item)) {
    query_reader_error(reader, false, "expected a list of shapes, got %s", query_reader_kind_name(item));
    return;
  }
  int index = 0;
  for (const cJSON* child = item->child; child; child = child->next, index++) {
    size_t mark = query_reader_enter(reader, index);
    text_add(&reader->trail, "[%d]", index);
    read_shape(reader, child, task);
    query_reader_leave(reader, mark);
  }
}

static int read_whole(QueryReader* reader, const cJSON* item, int least, int most) {
  assert(least <= most);
  double value = query_reader_number_in_unit(reader, item, least, most, "");
  if (value != floor(value)) query_reader_error(reader, false, "must be a whole number, got %g", value);
  return value >= least && value <= most ? (int)value : least;
}

enum {
  PLAN_BODY,
  PLAN_FROM,
  PLAN_TO,
  PLAN_LOW,
  PLAN_HIGH,
  PLAN_REQUIRED,
  PLAN_OBSTACLES = PLAN_REQUIRED,
  PLAN_CLEARANCE,
  PLAN_SMOOTHNESS,
  PLAN_POINTS,
  PLAN_SEED,
  PLAN_KEYS
};
static const char* const KEYS[PLAN_KEYS] = {"body",      "from",      "to",         "low",    "high",
                                            "obstacles", "clearance", "smoothness", "points", "seed"};

static void read_member(QueryReader* reader, const cJSON* item, int key, void* context) {
  PlanTask* task = context;
  PathProblem* p = &task->problem;
  if (key == PLAN_BODY && task->shapes.body_count > 0)
    query_reader_error(reader, true, "'body' must stand before 'obstacles'");
  else if (key == PLAN_BODY)
    read_shape(reader, item, task);
  if (key == PLAN_FROM) p->from = query_reader_point(reader, item);
  if (key == PLAN_TO) p->to = query_reader_point(reader, item);
  if (key == PLAN_LOW) p->low = query_reader_point(reader, item);
  if (key == PLAN_HIGH) p->high = query_reader_point(reader, item);
  if (key == PLAN_OBSTACLES) read_obstacles(reader, item, task);
  if (key == PLAN_CLEARANCE) p->clearance = query_reader_number_in_unit(reader, item, 1e-6, 10, "");
  if (key == PLAN_SMOOTHNESS) p->smoothness = query_reader_number_in_unit(reader, item, 0, 1e6, " m^2");
  if (key == PLAN_POINTS) p->points = read_whole(reader, item, 3, 2000);
  if (key == PLAN_SEED) p->seed = (uint64_t)read_whole(reader, item, 0, 1000000000);
}

static bool is_within_bounds(const PathProblem* p, Vec3 at) {
  return at.x >= p->low.x && at.x <= p->high.x && at.y >= p->low.y && at.y <= p->high.y && at.z >= p->low.z &&
         at.z <= p->high.z;
}

static void read_plan(QueryReader* reader, const cJSON* item, PlanTask* task) {
  bool seen[PLAN_KEYS] = {false};
  if (!cJSON_IsObject(item)) {
    query_reader_error(reader, false, "expected a map, got %s", query_reader_kind_name(item));
    return;
  }
  query_reader_object(reader, item, KEYS, PLAN_KEYS, read_member, task, seen);
  for (int k = 0; k < PLAN_REQUIRED; k++)
    if (!seen[k]) query_reader_error(reader, false, "the key '%s' is missing", KEYS[k]);
  if (reader->problems == 0 &&
      !(is_within_bounds(&task->problem, task->problem.from) && is_within_bounds(&task->problem, task->problem.to)))
    query_reader_error(reader, false, "'from' and 'to' must lie between 'low' and 'high'");
}

enum { ROOT_NAME, ROOT_PLAN, ROOT_KEYS };
static const char* const ROOT[ROOT_KEYS] = {"name", "plan"};

static void read_root_member(QueryReader* reader, const cJSON* item, int key, void* context) {
  PlanTask* task = context;
  if (key == ROOT_PLAN) read_plan(reader, item, task);
  if (key != ROOT_NAME) return;
  if (cJSON_IsString(item) && *item->valuestring && !strpbrk(item->valuestring, "/\\"))
    task->name = memory_copy_text(item->valuestring);
  else
    query_reader_error(reader, false, "'name' must be a text without slashes");
}

static Status plan_parse(PlanTask* task, const char* path, const Text* text, Diagnostics* diagnostics) {
  *task = (PlanTask){.problem = {.clearance = 0.05, .smoothness = 0.01, .points = 60, .seed = 1}};
  bool seen[ROOT_KEYS] = {false};
  QueryReader reader = {.file = path, .whole = text->data, .text = text->data, .diagnostics = diagnostics};
  cJSON* root = cJSON_Parse(text->data);
  if (root) query_reader_object(&reader, root, ROOT, ROOT_KEYS, read_root_member, task, seen);
  cJSON_Delete(root);
  text_free(&reader.trail);
  if (!task->name) task->name = file_stem(path);
  return root && reader.problems == 0 ? STATUS_OK : STATUS_BAD_INPUT;
}

/* ---------------------------------------------------------------- planning */

static const char* outcome_text(const PlannedPath* path) {
  static const char* const texts[] = {"found", "an end is too near to an obstacle", "the search found no path"};
  if (path->outcome == PATH_FOUND && !path->smoothed) return "found, not smoothed";
  return texts[path->outcome];
}

static PlannedPath find_path(PlanTask* task) {
  int count = task->shapes.body_count - 1;
  Shape* obstacles = MEMORY_NEW(Shape, count + 1);
  for (int k = 0; k < count; k++) obstacles[k] = task->shapes.bodies[k + 1].shape;
  task->problem.body = &task->shapes.bodies[0].shape;
  task->problem.turn = task->poses[0].r;
  task->problem.obstacles = obstacles;
  task->problem.poses = task->poses + 1;
  task->problem.count = count;
  PlannedPath path = path_plan(&task->problem);
  memory_free(obstacles);
  return path;
}

static Status write_path(const char* folder, const PlannedPath* path, Diagnostics* diagnostics) {
  Text text = {0};
  char* file = file_join(folder, "path.csv");
  text_add(&text, "point,x,y,z\n");
  for (int i = 0; i < path->count; i++) {
    const double row[3] = {path->points[i].x, path->points[i].y, path->points[i].z};
    text_add(&text, "%d", i);
    for (int k = 0; k < 3; k++) {
      text_add(&text, ",");
      text_add_double(&text, row[k]);
    }
    text_add(&text, "\n");
  }
  Status status = file_write_reported(file, &text, diagnostics);
  memory_free(file);
  text_free(&text);
  return status;
}

static void add_numbers(Text* text, const char* key, const double* numbers, int count) {
  text_add(text, ", %s: [", key);
  for (int k = 0; k < count; k++) {
    if (k > 0) text_add(text, ", ");
    text_add_double(text, numbers[k]);
  }
  text_add(text, "]");
}

static void add_rotation(Text* text, Mat3 rotation) {
  Quat q = quat_from_mat3(rotation);
  add_numbers(text, "rotation", (const double[4]){q.w, q.x, q.y, q.z}, 4);
}

/* Displayed path: STEPS_BETWEEN steps between two points, at FLYING_SPEED [m/s]. */
enum { STEPS_BETWEEN = 4 };
#define FLYING_SPEED 1.0

/* Writes path.scene.yaml, in which the body moves along the path between fixed obstacles. */
static Status write_scene(const char* folder, const PlanTask* task, const PlannedPath* path, Diagnostics* diagnostics) {
  Text text = {0}, times = {0}, places = {0};
  double time = 0;
  for (int i = 0; i < path->count; i++) {
    const Vec3* p = &path->points[i];
    if (i > 0) time += vec3_norm(vec3_sub(p[0], p[-1])) / FLYING_SPEED;
    text_add(&times, "%s", i > 0 ? ", " : "");
    text_add_double(&times, time);
    text_add(&places, "%s", i > 0 ? ",\n                       " : "");
    text_add(&places, "[%.17g, %.17g, %.17g, 0, 0, 0]", p->x, p->y, p->z);
  }
  text_add(
      &text,
      "# The path that sdrs optimize has found, flown at 1 m/s, to be looked at: simulate, render, --view.\nname: ");
  text_add(&text, "\"%s-path\"\nsimulation: {dt: ", task->name);
  text_add_double(&text, time / (STEPS_BETWEEN * (path->count - 1)));
  text_add(&text, ", steps: %d, gravity: [0, 0, 0]}\ncontact: {model: none}\n", STEPS_BETWEEN * (path->count - 1));
  text_add(&text, "shapes:\n  body: %s\nlinks:\n", task->shape_texts[0]);
  for (int k = 1; k < task->shapes.body_count; k++) {
    const Pose* pose = &task->poses[k];
    text_add(&text, "  - {name: obstacle%d, fixed: true, shape: %s", k, task->shape_texts[k]);
    add_numbers(&text, "position", (const double[3]){pose->t.x, pose->t.y, pose->t.z}, 3);
    add_rotation(&text, pose->r);
    text_add(&text, "}\n");
  }
  text_add(&text, "  - name: body\n    shapes:\n      - {shape: body");
  add_rotation(&text, task->poses[0].r);
  text_add(&text,
           "}\n    mass: 1\ncontrollers:\n  - link: body\n    type: prescribed\n    target:\n      type: keyframes\n");
  text_add(&text, "      times: [%s]\n      values: [%s]\n", times.data, places.data);
  char* file = file_join(folder, "path.scene.yaml");
  Status status = file_write_reported(file, &text, diagnostics);
  memory_free(file);
  text_free(&text);
  text_free(&times);
  text_free(&places);
  return status;
}

static Status write_summary(const char* folder, const PlanTask* task, const PlannedPath* path, double seconds,
                            Text* text, Diagnostics* diagnostics) {
  Json json = {.out = text};
  json_open(&json, NULL, '{');
  json_text(&json, "task", task->name);
  json_bool(&json, "success", path->outcome == PATH_FOUND);
  json_text(&json, "outcome", outcome_text(path));
  json_number(&json, "length", path->length);
  json_number(&json, "start_length", path->start_length);
  json_number(&json, "least_alpha", path->least);
  json_number(&json, "clearance", task->problem.clearance);
  json_integer(&json, "points", path->count);
  json_integer(&json, "queries", path->queries);
  json_integer(&json, "seed", (int64_t)task->problem.seed);
  json_open(&json, "seconds", '{');
  json_number(&json, "total", seconds);
  json_close(&json, '}');
  json_close(&json, '}');
  char* file = file_join(folder, "summary.json");
  Status status = file_write_reported(file, text, diagnostics);
  memory_free(file);
  return status;
}

static ExitCode plan_all(const Options* options, PlanTask* task, Diagnostics* diagnostics) {
  double start = timer_now();
  PlannedPath path = find_path(task);
  double seconds = timer_now() - start;
  char* folder = run_folder_path(options, task->name);
  Text summary = {0};
  Status status = file_make_folder_reported(folder, diagnostics);
  if (status == STATUS_OK) status = write_path(folder, &path, diagnostics);
  if (status == STATUS_OK && path.count > 1) status = write_scene(folder, task, &path, diagnostics);
  if (status == STATUS_OK) status = write_summary(folder, task, &path, seconds, &summary, diagnostics);
  if (status == STATUS_OK && path.count > 1 && !options->quiet && option_given(options, "view"))
    fprintf(stderr, "%s: planning has no live view; to view the path: sdrs simulate %s/path.scene.yaml --view\n",
            task->name, folder);
  if (!options->quiet && path.outcome == PATH_FOUND)
    fprintf(stderr, "%s: a path of %d points, %.4g m (the search's %.4g m), alpha at least %.4g, proved%s; %.3g s\n",
            task->name, path.count, path.length, path.start_length, path.least,
            path.smoothed ? "" : "; not smoothed: the smoothed ones were not free", seconds);
  else if (!options->quiet)
    fprintf(stderr, "%s: no path: %s; %.3g s\n", task->name, outcome_text(&path), seconds);
  if (status == STATUS_OK && options->json) fputs(summary.data, stdout);
  if (status == STATUS_OK && !options->json) printf("%s\n", folder);
  ExitCode found = path.outcome == PATH_FOUND ? EXIT_DONE : EXIT_SOLVER;
  text_free(&summary);
  memory_free(folder);
  path_free(&path);
  return status == STATUS_OK ? found : status_exit_code(status);
}

bool plan_run(const Options* options, const char* path, bool run, ExitCode* code) {
  Text text = {0};
  bool found = false;
  Diagnostics diagnostics = {0};
  Status status = plan_read_json(path, options->overrides, options->override_count, &text, &found, &diagnostics);
  if (found) {
    PlanTask task = {.name = NULL};
    if (status == STATUS_OK) status = plan_parse(&task, path, &text, &diagnostics);
    *code = status_exit_code(status);
    if (status == STATUS_OK && run) *code = plan_all(options, &task, &diagnostics);
    print_diagnostics(options, &diagnostics);
    plan_free(&task);
  }
  diagnostics_free(&diagnostics);
  text_free(&text);
  return found;
}
