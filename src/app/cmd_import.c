/* sdrs import ROBOT.urdf: a robot of another program as a scene. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "app/command.h"

/* A spring and damper that hold a joint let it come to rest without swinging. */
#define HOLD_DAMPING_RATIO 1.0
#define PI 3.14159265358979324

/* From the command line to the file. Zeroed or half-built is fine for importing_free. */
typedef struct {
  const Options* options;
  UrdfOptions urdf;
  UrdfPackage* packages; /* names are owned */
  UrdfStart* starts;     /* alike */
  Scene scene;
  Model model;
  UrdfReport report;
  Diagnostics diagnostics;
} Importing;

static void importing_free(Importing* importing) {
  for (int i = 0; i < importing->urdf.package_count; i++) memory_free((char*)importing->packages[i].name);
  for (int i = 0; i < importing->urdf.start_count; i++) memory_free((char*)importing->starts[i].joint);
  memory_free(importing->packages);
  memory_free(importing->starts);
  model_destroy(&importing->model);
  scene_free(&importing->scene);
  urdf_report_free(&importing->report);
  diagnostics_free(&importing->diagnostics);
}

static void remark(Importing* importing, const char* format, ...) __attribute__((format(printf, 2, 3)));
static void remark(Importing* importing, const char* format, ...) {
  Text text = {0};
  va_list arguments;
  va_start(arguments, format);
  text_add_v(&text, format, arguments);
  va_end(arguments);
  diagnostics_add(&importing->diagnostics, SEVERITY_NOTE, (SourcePlace){importing->scene.path, 0, 0}, "%s", text.data);
  text_add(&importing->report.remarks, "%s\n", text.data);
  text_free(&text);
}

/* ---------------------------------------------------------------- options */

static ExitCode read_packages(Importing* importing) {
  const Options* options = importing->options;
  importing->packages = MEMORY_NEW(UrdfPackage, options->item_count + 1);
  importing->urdf.packages = importing->packages;
  const char* item;
  for (int i = 0; (item = option_item(options, "package", i)) != NULL; i++) {
    const char* equals = strchr(item, '=');
    if (!equals || equals == item || !equals[1])
      return usage_error(options, "--package needs NAME=DIR, got '%s'", item);
    char* name = memory_text(item);
    name[equals - item] = '\0';
    importing->packages[importing->urdf.package_count++] = (UrdfPackage){name, equals + 1};
  }
  return EXIT_DONE;
}

static ExitCode read_starts(Importing* importing) {
  const Options* options = importing->options;
  importing->starts = MEMORY_NEW(UrdfStart, options->item_count + 1);
  importing->urdf.starts = importing->starts;
  const char* item;
  for (int i = 0; (item = option_item(options, "start", i)) != NULL; i++) {
    const char* equals = strrchr(item, '=');
    char* end = NULL;
    double value = equals ? strtod(equals + 1, &end) : 0;
    if (!equals || equals == item || end == equals + 1 || *end || !isfinite(value))
      return usage_error(options, "--start needs JOINT=NUMBER (m or rad), got '%s'", item);
    char* name = memory_text(item);
    name[equals - item] = '\0';
    importing->starts[importing->urdf.start_count++] = (UrdfStart){name, value};
  }
  return EXIT_DONE;
}

/* The place of a word in a list that ends with NULL; -1 when it is none of them, `first` when it was not given. */
static int word_of(const Options* options, const char* name, const char* const* words) {
  const char* given = option_text(options, name);
  for (int i = 0; given && words[i]; i++)
    if (strcmp(given, words[i]) == 0) return i;
  return given ? -1 : 0;
}

static ExitCode read_words(Importing* importing) {
  const Options* options = importing->options;
  int base = word_of(options, "base", (const char* const[]){"fixed", "free", NULL});
  int hulls = word_of(options, "hulls", (const char* const[]){"whole", "groups", "decompose", NULL});
  int mass = word_of(options, "mass-model", (const char* const[]){"given", "uniform", "vertices", NULL});
  if (base < 0) return usage_error(options, "--base is fixed or free, got '%s'", option_text(options, "base"));
  if (hulls < 0)
    return usage_error(options, "--hulls is whole, groups or decompose, got '%s'", option_text(options, "hulls"));
  if (mass < 0)
    return usage_error(options, "--mass-model is given, uniform or vertices, got '%s'",
                       option_text(options, "mass-model"));
  importing->urdf.free_base = base == 1;
  importing->urdf.hull_per_group = hulls == 1;
  importing->urdf.decompose = hulls == 2;
  importing->urdf.from_shapes = mass > 0;
  importing->urdf.mass_model = mass == 1 ? MASS_UNIFORM : MASS_VERTICES;
  return EXIT_DONE;
}

static ExitCode read_options(Importing* importing) {
  const Options* options = importing->options;
  UrdfOptions* urdf = &importing->urdf;
  if (!options->folder) return usage_error(options, "-o is missing: the scene to write, e.g. -o robot.yaml");
  if (path_is_folder(options->folder))
    return usage_error(options, "-o names a file, '%s' is a folder", options->folder);
  size_t length = strlen(options->folder);
  if (length >= 5 && strcmp(options->folder + length - 5, ".json") == 0)
    return usage_error(options, "a scene is written as YAML: -o must not end in .json");
  urdf->height = option_number(options, "height", 0);
  urdf->density = option_number(options, "density", 0);
  urdf->max_vertices = option_count(options, "max-vertices", 0);
  if (option_given(options, "max-vertices") && urdf->max_vertices < 4)
    return usage_error(options, "--max-vertices is at least 4, got %d", urdf->max_vertices);
  urdf->ground = option_given(options, "ground");
  urdf->keep_fixed = option_given(options, "keep-fixed");
  urdf->visual = option_given(options, "visual");
  urdf->skip_unsupported = option_given(options, "skip-unsupported");
  urdf->no_self_collision = option_given(options, "no-self-collision");
  ExitCode code = read_words(importing);
  if (code == EXIT_DONE) code = read_packages(importing);
  return code == EXIT_DONE ? read_starts(importing) : code;
}

/* ---------------------------------------------------------------- what touches at the start */

static void exclude(Scene* scene, const char* a, const char* b) {
  SceneContact* contact = &scene->contact;
  size_t count = (size_t)contact->exclude_count, size = sizeof *contact->exclude;
  contact->exclude = memory_resize(contact->exclude, count * size, (count + 1) * size);
  contact->exclude_place =
      memory_resize(contact->exclude_place, count * sizeof(SourcePlace), (count + 1) * sizeof(SourcePlace));
  contact->exclude[count][0] = memory_text(a);
  contact->exclude[count][1] = memory_text(b);
  contact->exclude_place[count] = (SourcePlace){scene->path, 0, 0};
  contact->exclude_count++;
}

/* Do joints join the links? */
static bool is_one_robot(const Model* model, int a, int b) {
  while (model->links[a].parent >= 0) a = model->links[a].parent;
  while (model->links[b].parent >= 0) b = model->links[b].parent;
  return a == b;
}

/* Height of the robot's lowest vertex at the start [m]; HUGE_VAL without one. */
static double lowest_vertex(const Model* model) {
  Pose* poses = MEMORY_NEW(Pose, model->link_count + 1);
  double lowest = HUGE_VAL;
  model_poses(model, model->initial_coordinates, poses);
  for (int h = 0; h < model->hull_count; h++)
    for (int i = 0; i < model->hulls[h].solid.vertex_count; i++)
      lowest = fmin(lowest, pose_apply(poses[model->hulls[h].link], model->hulls[h].solid.vertices[i]).z);
  memory_free(poses);
  return lowest;
}

/* A free robot without a height is put on the ground, as near as it will stand. */
static void put_on_ground(Importing* importing) {
  const Model* model = &importing->model;
  double lowest = lowest_vertex(model), gap = model->contact.gap_at_rest;
  if (!importing->urdf.ground || !importing->urdf.free_base || option_given(importing->options, "height")) return;
  if (!isfinite(lowest) || !(gap > 0)) return;
  SceneJoint* base = &importing->scene.links[1].joint; /* behind the ground */
  base->position.z += gap - lowest;
  remark(importing, "the base starts at a height of %.6g m: the robot stands on the ground", base->position.z);
}

/* Parts of a robot often overlap where no joint says that they belong together. */
static void exclude_touching(Importing* importing) {
  const Model* model = &importing->model;
  if (!model->links) return; /* nothing could be built */
  int(*pairs)[2] = NULL, excluded = 0;
  int count = model_touching(model, &pairs);
  Text names = {0};
  for (int k = 0; k < count; k++) {
    if (!is_one_robot(model, pairs[k][0], pairs[k][1])) continue;
    const char *a = model->links[pairs[k][0]].name, *b = model->links[pairs[k][1]].name;
    exclude(&importing->scene, a, b);
    text_add(&names, "%s%s - %s", excluded++ > 0 ? ", " : "", a, b);
  }
  if (excluded > 0)
    remark(importing, "pairs that touch at the start are never tested (contact.exclude): %s", names.data);
  text_free(&names);
  memory_free(pairs);
}

/* First only to see what touches, with the problems left unsaid; then as simulate will. */
static Status build_model(Importing* importing) {
  Diagnostics unsaid = {0};
  model_create(&importing->model, &importing->scene, &unsaid);
  put_on_ground(importing);
  exclude_touching(importing);
  model_destroy(&importing->model);
  diagnostics_free(&unsaid);
  return model_create(&importing->model, &importing->scene, &importing->diagnostics);
}

/* ---------------------------------------------------------------- masses */

/* Largest entry of a difference of inertias over the largest of the file's. */
static double inertia_error(const ModelLink* link, const SceneLink* source) {
  const double* s = source->inertia;
  const Mat3 wanted = {{{s[0], s[3], s[4]}, {s[3], s[1], s[5]}, {s[4], s[5], s[2]}}};
  Mat3 found = mass_moment_inertia_tensor(&link->moment);
  double worst = 0, size = 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      worst = fmax(worst, fabs(found.m[i][j] - wanted.m[i][j]));
      size = fmax(size, fabs(wanted.m[i][j]));
    }
  return size > 0 ? worst / size : worst > 0 ? HUGE_VAL : 0;
}

/* What a mass model makes of the file's centres and inertias. */
static void tell_masses(Importing* importing) {
  for (int i = 0; i < importing->scene.link_count; i++) {
    const SceneLink* source = &importing->scene.links[i];
    const ModelLink* link = &importing->model.links[i];
    if (!source->has_mass || source->mass_model == MASS_GIVEN) continue;
    remark(importing, "mass of link '%s': centre %.3g m beside the file's, inertia off by %.1f %%", link->name,
           vec3_norm(vec3_sub(link->center, source->center)), 100 * inertia_error(link, source));
  }
}

/* ---------------------------------------------------------------- hold */

/* Inertia that a unit motion of the degree of freedom meets, everything else held: m v^2 or w.I.w. [kg, kg m^2] */
static double carried_inertia(const Model* model, int link, const Screw* screw, const Pose* poses) {
  bool* carried = MEMORY_NEW(bool, model->link_count + 1);
  double sum = 0;
  for (int i = link; i < model->link_count; i++) {
    const ModelLink* one = &model->links[i];
    carried[i] = i == link || (one->parent >= 0 && carried[one->parent]);
    if (!carried[i] || !(one->mass > 0)) continue;
    Vec3 v = screw_velocity(screw, pose_apply(poses[i], one->center));
    Vec3 w = mat3_tmul_vec(poses[i].r, screw->w);
    sum += one->mass * vec3_dot(v, v) + vec3_dot(w, mat3_mul_vec(mass_moment_inertia_tensor(&one->moment), w));
  }
  memory_free(carried);
  return sum;
}

/* kp = I (2 pi f)^2, damping 2 I (2 pi f); the gain of a scene is the damping times the step. */
static void add_hold(Importing* importing, int index, double frequency, const Screw* screws, const Pose* poses) {
  const Model* model = &importing->model;
  const ModelLink* link = &model->links[index];
  SceneController* controller = &importing->scene.controllers[importing->scene.controller_count++];
  *controller = (SceneController){.link = index, .type = CONTROLLER_PD};
  controller->target = (SceneSignal){.type = SIGNAL_CONSTANT, .channels = link->dof_count, .rows = 1};
  controller->target.values = MEMORY_NEW(double, JOINT_MAX_DOF);
  for (int k = 0; k < link->dof_count; k++) {
    double inertia = carried_inertia(model, index, &screws[link->dof_first + k], poses), rate = 2 * PI * frequency;
    controller->position_gain[k] = inertia * rate * rate;
    controller->velocity_gain[k] = 2 * HOLD_DAMPING_RATIO * inertia * rate * model->simulation.dt;
    controller->target.values[k] = model->initial_coordinates[link->coordinate_first + k];
  }
}

static void hold_joints(Importing* importing) {
  const Model* model = &importing->model;
  double frequency = option_number(importing->options, "hold", 0);
  const UrdfReport* report = &importing->report;
  if (!(frequency > 0) || report->joint_count == 0) return;
  Pose* poses = MEMORY_NEW(Pose, model->link_count + 1);
  Screw* screws = MEMORY_NEW(Screw, model->dof_count + 1);
  model_poses(model, model->initial_coordinates, poses);
  model_screws(model, model->initial_coordinates, poses, screws);
  importing->scene.controllers = MEMORY_NEW(SceneController, report->joint_count);
  for (int k = 0; k < report->joint_count; k++)
    if (report->joints[k].dof == 0) add_hold(importing, report->joints[k].link, frequency, screws, poses);
  memory_free(poses);
  memory_free(screws);
}

/* ---------------------------------------------------------------- the file */

static void add_comment(Text* out, const char* lines) {
  while (*lines) {
    size_t length = strcspn(lines, "\n");
    text_add(out, "#   ");
    for (size_t i = 0; i < length; i++) text_add(out, "%c", (unsigned char)lines[i] < 0x20 ? ' ' : lines[i]);
    text_add(out, "\n");
    lines += length + (lines[length] == '\n');
  }
}

static void add_head(const Importing* importing, Text* out) {
  const UrdfReport* report = &importing->report;
  Text lines = {0};
  for (int k = 0; k < report->joint_count; k++) {
    const SceneLink* link = &importing->scene.links[report->joints[k].link];
    text_add(&lines, "joint %s = %s/%s\n", report->joints[k].name, link->name,
             scene_joint_coordinate_name(&link->joint, report->joints[k].dof));
  }
  text_add(out, "# A robot in URDF, written by sdrs import from\n");
  add_comment(out, importing->options->operands[0]);
  if (report->remarks.length > 0) add_comment(out, report->remarks.data);
  if (lines.length > 0) add_comment(out, lines.data);
  text_free(&lines);
}

/* What is written must be what simulate can read. */
static Status check_text(Importing* importing, const char* path, const Text* text) {
  Scene scene;
  Status status = scene_parse(&scene, path, text->data, text->length, false, NULL, 0, &importing->diagnostics);
  scene_free(&scene);
  return status;
}

static Status write_scene(Importing* importing) {
  const char* path = importing->options->folder;
  char* folder = memory_text(path);
  char* slash = strrchr(folder, '/');
  if (slash) slash[slash == folder] = '\0';
  Text text = {0};
  add_head(importing, &text);
  scene_write_yaml(&importing->scene, slash ? folder : ".", &text);
  Status status = check_text(importing, path, &text);
  if (status == STATUS_OK) {
    if (slash) status = file_make_folder(folder);
    if (status == STATUS_OK) status = file_write(path, text.data, text.length);
    if (status != STATUS_OK)
      diagnostics_add(&importing->diagnostics, SEVERITY_ERROR, (SourcePlace){path, 0, 0}, "cannot write: %s",
                      strerror(errno));
  }
  text_free(&text);
  memory_free(folder);
  return status;
}

/* ---------------------------------------------------------------- what the user sees */

static void add_joints(Json* json, const Importing* importing) {
  json_open(json, "joints", '[');
  for (int k = 0; k < importing->report.joint_count; k++) {
    const UrdfJointPlace* joint = &importing->report.joints[k];
    const SceneLink* link = &importing->scene.links[joint->link];
    json_open(json, NULL, '{');
    json_text(json, "joint", joint->name);
    json_text(json, "link", link->name);
    json_text(json, "coordinate", scene_joint_coordinate_name(&link->joint, joint->dof));
    json_close(json, '}');
  }
  json_close(json, ']');
}

static void add_masses(Json* json, const Importing* importing) {
  json_open(json, "masses", '[');
  for (int i = 0; i < importing->scene.link_count; i++) {
    const SceneLink* source = &importing->scene.links[i];
    const ModelLink* link = &importing->model.links[i];
    if (!source->has_mass) continue;
    json_open(json, NULL, '{');
    json_text(json, "link", link->name);
    json_number(json, "mass", link->mass);
    json_number(json, "center_error", vec3_norm(vec3_sub(link->center, source->center)));
    json_number(json, "inertia_error", inertia_error(link, source));
    json_close(json, '}');
  }
  json_close(json, ']');
}

static void print_result(const Importing* importing) {
  Text text = {0};
  Json json = {.out = &text};
  if (!importing->options->json) {
    printf("%s\n", importing->options->folder);
    return;
  }
  json_open(&json, NULL, '{');
  json_text(&json, "file", importing->options->folder);
  json_integer(&json, "links", importing->model.link_count);
  json_integer(&json, "degrees_of_freedom", importing->model.dof_count);
  add_joints(&json, importing);
  add_masses(&json, importing);
  json_diagnostics(&json, "messages", &importing->diagnostics);
  json_close(&json, '}');
  fputs(text.data, stdout);
  text_free(&text);
}

static Status import_all(Importing* importing) {
  Status status = scene_import_urdf(&importing->scene, importing->options->operands[0], &importing->urdf,
                                    &importing->report, &importing->diagnostics);
  importing->scene.threads = importing->options->threads;
  if (status == STATUS_OK) status = build_model(importing);
  if (status != STATUS_OK) return status;
  tell_masses(importing);
  hold_joints(importing);
  return write_scene(importing);
}

static ExitCode import_robot(const Options* options) {
  Importing importing = {.options = options};
  ExitCode code = read_options(&importing);
  if (code == EXIT_DONE) {
    code = status_exit_code(import_all(&importing));
    if (code == EXIT_DONE) print_result(&importing);
  }
  print_diagnostics(options, &importing.diagnostics);
  importing_free(&importing);
  return code;
}

static const OptionRow OPTIONS[] = {
    {"package", 0, OPTION_TEXTS, "NAME=DIR", "where package://NAME/... is; repeatable"},
    {"base", 0, OPTION_TEXT, "WORD", "the root link is fixed to the world or free (default: fixed)"},
    {"height", 0, OPTION_NUMBER, "Z", "height of the root link's frame in metres (default: 0; free: on the ground)"},
    {"ground", 0, OPTION_FLAG, NULL, "add a half-space below z = 0"},
    {"hold", 0, OPTION_NUMBER, "HZ",
     "hold every joint where it starts, by a spring of so many Hz (default: no controllers)"},
    {"start", 0, OPTION_TEXTS, "JOINT=X",
     "where a joint starts, m or rad (default: 0, or inside its limits); repeatable"},
    {"mass-model", 0, OPTION_TEXT, "WORD",
     "given, or masses spread over the shapes: uniform, vertices (default: given)"},
    {"density", 0, OPTION_NUMBER, "RHO", "kg/m^3 for links that move and have no mass (default: an error)"},
    {"keep-fixed", 0, OPTION_FLAG, NULL, "links with mass on fixed joints stay links of their own"},
    {"visual", 0, OPTION_FLAG, NULL, "take visual shapes where a link has no collision shapes"},
    {"hulls", 0, OPTION_TEXT, "WORD", "hulls of a mesh: whole (one), groups (one each) or decompose (default: whole)"},
    {"max-vertices", 0, OPTION_COUNT, "N", "of the hulls of meshes: at most so many"},
    {"no-self-collision", 0, OPTION_FLAG, NULL, "links of the robot never touch one another"},
    {"skip-unsupported", 0, OPTION_FLAG, NULL, "leave out meshes that cannot be read, instead of an error"},
};

const Verb VERB_IMPORT = {
    .name = "import",
    .operands = "ROBOT.urdf",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "a robot in URDF as a scene",
    .examples =
        "  sdrs import panda.urdf -o panda.yaml --package franka_description=../franka --hold 5\n"
        "  sdrs import dog.urdf -o dog.yaml --base free --ground --hold 4 --start knee=-1.2\n",
    .details =
        "Writes a scene that simulate can run: links with their masses, centres and inertias, collision shapes, "
        "joints\n"
        "with limits and damping. Links on fixed joints become part of what carries them. What a scene cannot say, or\n"
        "was changed, is told and stands as a comment in the scene, with the joints' names: docs/urdf.md.\n"
        "Exit codes: 0 done, 2 wrong usage, 3 the robot cannot be used (every problem is told), 5 cannot read or "
        "write.\n",
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof OPTIONS[0],
    .writes_folder = true,
    .run = import_robot,
};
