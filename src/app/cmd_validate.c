/* sdrs validate FILE...: reads and checks scenes and tasks, and reports all problems of all files. */
#include <string.h>
#include "app/command.h"
#include "app/design_run.h"
#include "app/plan.h"
#include "robot/robot.h"

/* Returns a coordinate, or 0 if it is only rounding error relative to `size`. */
static double without_rounding(double x, double size) { return fabs(x) > 1e-12 * size ? x : 0; }

static void add_masses(Json* json, const Model* model) {
  json_open(json, "masses", '[');
  for (int i = 0; i < model->link_count; i++) {
    const ModelLink* link = &model->links[i];
    double moments[3];
    if (!(link->mass > 0) || !link_principal_moments(link, moments)) continue;
    json_open(json, NULL, '{');
    json_text(json, "link", link->name);
    json_text(json, "mass_model", mass_model_name(link->mass_model));
    json_number(json, "mass", link->mass);
    json_vector(json, "center", (const double[3]){link->center.x, link->center.y, link->center.z}, 3);
    json_vector(json, "principal_moments", moments, 3);
    json_close(json, '}');
  }
  json_close(json, ']');
}

/* Prints mass, centre of mass and principal moments of inertia of each link with mass. */
static void print_masses(const Model* model) {
  for (int i = 0; i < model->link_count; i++) {
    const ModelLink* link = &model->links[i];
    double moments[3], size = link->reach;
    if (!(link->mass > 0) || !link_principal_moments(link, moments)) continue;
    printf("  %s: mass %.6g kg (%s), centre of mass (%.6g, %.6g, %.6g) m, principal moments %.6g, %.6g, %.6g kg m^2\n",
           text_excerpt(link->name).text, link->mass, mass_model_name(link->mass_model),
           without_rounding(link->center.x, size), without_rounding(link->center.y, size),
           without_rounding(link->center.z, size), moments[0], moments[1], moments[2]);
  }
}

/* Prints the result for one file on standard output, or appends its object to the JSON array with --json. */
static void report_file(const Options* options, Json* json, const char* path, const Loaded* loaded,
                        const Diagnostics* diagnostics, bool is_valid) {
  const Model* model = &loaded->model;
  Text text = {0};
  loaded_append_summary(&text, loaded);
  if (options->json) {
    json_open(json, NULL, '{');
    json_text(json, "file", path);
    json_bool(json, "ok", is_valid);
    if (is_valid) {
      json_integer(json, "links", model->link_count);
      json_integer(json, "degrees_of_freedom", model->dof_count);
      json_integer(json, "hulls", model->hull_count);
      json_integer(json, "hull_vertices", loaded_vertex_count(loaded));
      if (options->verbose) add_masses(json, model);
    }
    json_diagnostics(json, "diagnostics", diagnostics);
    json_close(json, '}');
  } else if (is_valid) {
    printf("%s: ok: %s\n", path, text.data);
    if (options->verbose) print_masses(model);
  }
  if (is_valid && options->verbose && model->dropped_note && *model->dropped_note)
    fprintf(stderr, "%s: %s\n", path, model->dropped_note);
  text_free(&text);
}

/* Returns the exit code for one file. EXIT_CHECK_FAILED means an error in the file or in a mesh that the file names,
 * EXIT_IO a file that cannot be opened. */
static ExitCode exit_code(bool is_valid, bool unreadable) {
  if (is_valid) return EXIT_DONE;
  return unreadable ? EXIT_IO : EXIT_CHECK_FAILED;
}

/* Adds a note for each mesh that is nearly a solid of revolution, with the smooth shape to use instead. The mesh would
 * roll unevenly over its facets. */
static void report_round_meshes(const Loaded* loaded, Diagnostics* diagnostics) {
  const Scene* scene = &loaded->scene;
  if (!contact_supports_round_solids(loaded->model.contact_model)) return;
  for (int i = 0; i < scene->shape_count; i++) {
    const SceneShape* shape = &scene->shapes[i];
    RobotRound fit;
    int link = robot_round_shape(scene, &loaded->model, i, &fit);
    if (link < 0) continue;
    Text text = {0};
    bool named = shape->name && *shape->name;
    robot_append_round_yaml(&fit, &text);
    if (vec3_norm(fit.position) > 0)
      text_add(&text, ", position: [%.6g, %.6g, %.6g]", fit.position.x, fit.position.y, fit.position.z);
    if (fit.type != SHAPE_SPHERE && fit.rotation.w * fit.rotation.w < 1)
      text_add(&text, ", rotation: [%.9g, %.9g, %.9g, %.9g]", fit.rotation.w, fit.rotation.x, fit.rotation.y,
               fit.rotation.z);
    diagnostics_add(diagnostics, SEVERITY_NOTE, shape->place,
                    "shape %s%s%sof link '%s' is a nearly round polyhedron and rolls unevenly over its facets: to roll "
                    "evenly, use the following smooth shape (deviation at most %.3g m, %.2g %% of the radius): {%s}",
                    named ? "'" : "", named ? shape->name : "", named ? "' " : "", loaded->model.links[link].name,
                    fit.deviation, 100 * fit.relative, text.data);
    text_free(&text);
  }
}

/* Returns true for the quaternion [0, 0, 0, 1]: a half turn about z in the order w, x, y, z, but the identity in the
 * order x, y, z, w. */
static bool is_half_turn_about_z(Quat q) { return q.w == 0 && q.x == 0 && q.y == 0 && q.z == 1; }

/* Adds a note for the first rotation [0, 0, 0, 1], which was probably written in the order x, y, z, w. */
static void report_half_turns(const Scene* scene, Diagnostics* diagnostics) {
  for (int i = 0; i < scene->link_count; i++) {
    const SceneLink* link = &scene->links[i];
    bool joint = is_half_turn_about_z(link->joint.rotation);
    int k = 0;
    while (k < link->shape_count && !is_half_turn_about_z(link->shapes[k].rotation)) k++;
    if (!joint && k == link->shape_count) continue;
    diagnostics_add(diagnostics, SEVERITY_NOTE, joint ? link->joint.place : link->shapes[k].place,
                    "link '%s': the rotation [0, 0, 0, 1] is a half turn about z, because the order is w, x, y, z: "
                    "write [1, 0, 0, 0] for no rotation",
                    link->name);
    return;
  }
}

static ExitCode validate_scene(const Options* options, const char* path, Json* json) {
  Loaded loaded = {0};
  Diagnostics diagnostics = {0};
  Status status = loaded_create(&loaded, options, path, 0, true, &diagnostics);
  bool is_valid = status == STATUS_OK && diagnostics.error_count == 0;
  if (is_valid) report_round_meshes(&loaded, &diagnostics);
  if (is_valid) report_half_turns(&loaded.scene, &diagnostics);
  bool unreadable = status == STATUS_IO && loaded.scene.link_count == 0;
  print_diagnostics(options, &diagnostics);
  report_file(options, json, path, &loaded, &diagnostics, is_valid);
  diagnostics_free(&diagnostics);
  loaded_free(&loaded);
  return exit_code(is_valid, unreadable);
}

static void report_task(const Options* options, Json* json, const char* path, const Task* task,
                        const Diagnostics* diagnostics, bool is_valid) {
  if (options->json) {
    json_open(json, NULL, '{');
    json_text(json, "file", path);
    json_bool(json, "ok", is_valid);
    if (is_valid) {
      json_integer(json, "scenarios", task->scenario_count);
      json_integer(json, "losses", task->loss_count);
    }
    json_diagnostics(json, "diagnostics", diagnostics);
    json_close(json, '}');
  } else if (is_valid) {
    printf("%s: ok: a task of %d scenario%s and %d loss%s\n", path, task->scenario_count,
           task->scenario_count == 1 ? "" : "s", task->loss_count, task->loss_count == 1 ? "" : "es");
  }
}

/* Builds the model of each scenario and adds its errors and warnings. Equal messages of several scenarios are added
 * once. */
static void check_scenarios(Task* task, int threads, Diagnostics* diagnostics) {
  for (int i = 0; i < task->scenario_count; i++) {
    Model model;
    Diagnostics problems = {0};
    task->scenarios[i].scene.threads = threads;
    model_create_lifted(&model, &task->scenarios[i].scene, &problems);
    diagnostics_merge(diagnostics, &problems);
    diagnostics_free(&problems);
    model_destroy(&model);
  }
}

/* Checks everything that `sdrs optimize` checks before its first run: variables, losses, bounds, and the run named by
 * `from`. */
static Status check_design(Task* task, int threads, Diagnostics* diagnostics) {
  DesignStart start;
  Diagnostics problems = {0};
  OptimizationOptions settings = {threads, NULL};
  Status status = design_start(&start, task, &settings, &problems);
  if (status == STATUS_OK) status = design_check_previous_tasks(task, &problems);
  diagnostics_merge(diagnostics, &problems);
  diagnostics_free(&problems);
  design_start_free(&start);
  return status;
}

static ExitCode validate_task(const Options* options, const char* path, Json* json) {
  Task task;
  Diagnostics diagnostics = {0};
  Status status = task_load(&task, path, options->overrides, options->override_count, &diagnostics);
  if (status == STATUS_OK) check_scenarios(&task, options->threads, &diagnostics);
  if (status == STATUS_OK && diagnostics.error_count == 0) status = check_design(&task, options->threads, &diagnostics);
  bool is_valid = status == STATUS_OK && diagnostics.error_count == 0;
  print_diagnostics(options, &diagnostics);
  report_task(options, json, path, &task, &diagnostics, is_valid);
  diagnostics_free(&diagnostics);
  task_free(&task);
  return exit_code(is_valid, status == STATUS_IO);
}

/* Validates one file: a motion planning task, another task, or a scene. */
static ExitCode validate_file(const Options* options, const char* path, Json* json) {
  ExitCode code = EXIT_DONE;
  if (!plan_run(options, path, false, &code))
    return task_recognise(path) ? validate_task(options, path, json) : validate_scene(options, path, json);
  if (options->json) {
    json_open(json, NULL, '{');
    json_text(json, "file", path);
    json_bool(json, "ok", code == EXIT_DONE);
    json_close(json, '}');
  } else if (code == EXIT_DONE) {
    printf("%s: ok: a task of planning\n", path);
  }
  return code == EXIT_DONE ? code : EXIT_CHECK_FAILED;
}

static ExitCode validate(const Options* options) {
  Text text = {0};
  Json json = {.out = &text};
  ExitCode code = EXIT_DONE;
  if (options->json) json_open(&json, NULL, '[');
  for (int i = 0; i < options->operand_count; i++) {
    ExitCode one = validate_file(options, options->operands[i], &json);
    if (one > code) code = one;
  }
  if (options->json) {
    json_close(&json, ']');
    fputs(text.data, stdout);
  }
  text_free(&text);
  return code;
}

const Verb VERB_VALIDATE = {
    .name = "validate",
    .operands = "FILE...",
    .operand_min = 1,
    .operand_max = OPERANDS_UNBOUNDED,
    .summary = "parse and check scenes and tasks; every problem at once",
    .examples =
        "  sdrs validate scenes/slide.yaml\n"
        "  sdrs validate scenes/*.yaml -q\n"
        "  sdrs validate scenes/spider.yaml -v\n"
        "  sdrs validate my.yaml --set contact.barrier_distance=0.01 --json\n",
    .details =
        "Reads each scene and its meshes and builds the model, like `sdrs simulate`. A file with a loss or\n"
        "scenarios is a task, which is read with its scenes.\n"
        "Prints one line per valid file on standard output, and with -v the mass, centre of mass and\n"
        "principal moments of inertia of each link. Prints all problems of the other files on standard error.\n"
        "Exit codes: 0 every file is valid (warnings allowed), 1 a file has an error, 5 a file cannot be\n"
        "read.\n",
    .reads_scene = true,
    .run = validate,
};
