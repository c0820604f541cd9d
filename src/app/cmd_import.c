/* sdrs import ROBOT: converts a robot in URDF or MJCF to a scene. */
#include <stdlib.h>
#include <string.h>
#include "app/command.h"
#include "robot/robot.h"

/* State of one import. importing_free accepts a zeroed or partly built struct. */
typedef struct {
  const Options* options;
  RobotOptions robot_options;
  RobotPackage* packages; /* packages of --package; their names are owned */
  RobotStart* starts;     /* start coordinates of --start; their names are owned */
  Robot robot;
  Diagnostics diagnostics;
} Importing;

static void importing_free(Importing* importing) {
  for (int i = 0; i < importing->robot_options.package_count; i++) memory_free((char*)importing->packages[i].name);
  for (int i = 0; i < importing->robot_options.start_count; i++) memory_free((char*)importing->starts[i].joint);
  memory_free(importing->packages);
  memory_free(importing->starts);
  robot_free(&importing->robot);
  diagnostics_free(&importing->diagnostics);
}

static ExitCode read_packages(Importing* importing) {
  const Options* options = importing->options;
  importing->packages = MEMORY_NEW(RobotPackage, options->item_count + 1);
  importing->robot_options.packages = importing->packages;
  const char* item;
  for (int i = 0; (item = option_item(options, "package", i)) != NULL; i++) {
    const char* equals = strchr(item, '=');
    if (!equals || equals == item || !equals[1])
      return usage_error(options, "--package needs NAME=DIR, got '%s'", item);
    char* name = memory_copy_text(item);
    name[equals - item] = '\0';
    importing->packages[importing->robot_options.package_count++] = (RobotPackage){name, equals + 1};
  }
  return EXIT_DONE;
}

static ExitCode read_starts(Importing* importing) {
  const Options* options = importing->options;
  importing->starts = MEMORY_NEW(RobotStart, options->item_count + 1);
  importing->robot_options.starts = importing->starts;
  const char* item;
  for (int i = 0; (item = option_item(options, "start", i)) != NULL; i++) {
    const char* equals = strrchr(item, '=');
    char* end = NULL;
    double value = equals ? strtod(equals + 1, &end) : 0;
    if (!equals || equals == item || end == equals + 1 || *end || !isfinite(value))
      return usage_error(options, "--start needs JOINT=NUMBER (m or rad), got '%s'", item);
    char* name = memory_copy_text(item);
    name[equals - item] = '\0';
    importing->starts[importing->robot_options.start_count++] = (RobotStart){name, value};
  }
  return EXIT_DONE;
}

/* Returns the index in `words`, a list that ends with NULL, of the option's text. Returns -1 if the list does not
 * contain the text, and 0 if the option was not given. */
static int find_option_word(const Options* options, const char* name, const char* const* words) {
  const char* given = option_text(options, name);
  for (int i = 0; given && words[i]; i++)
    if (strcmp(given, words[i]) == 0) return i;
  return given ? -1 : 0;
}

static ExitCode read_words(Importing* importing) {
  const Options* options = importing->options;
  int base = find_option_word(options, "base", (const char* const[]){"fixed", "free", NULL});
  int hulls = find_option_word(options, "hulls", (const char* const[]){"whole", "groups", "decompose", NULL});
  int mass = find_option_word(options, "mass-model", (const char* const[]){"given", "uniform", "vertices", NULL});
  if (base < 0) return usage_error(options, "--base must be fixed or free, got '%s'", option_text(options, "base"));
  if (hulls < 0)
    return usage_error(options, "--hulls must be whole, groups or decompose, got '%s'", option_text(options, "hulls"));
  if (mass < 0)
    return usage_error(options, "--mass-model must be given, uniform or vertices, got '%s'",
                       option_text(options, "mass-model"));
  importing->robot_options.free_base = base == 1;
  importing->robot_options.hull_per_group = hulls == 1;
  importing->robot_options.decompose = hulls == 2;
  importing->robot_options.from_shapes = mass > 0;
  importing->robot_options.mass_model = mass == 1 ? MASS_UNIFORM : MASS_VERTICES;
  return EXIT_DONE;
}

static ExitCode read_options(Importing* importing) {
  const Options* options = importing->options;
  RobotOptions* robot_options = &importing->robot_options;
  if (!options->folder) return usage_error(options, "-o is missing: the scene to write, e.g. -o robot.yaml");
  if (path_is_folder(options->folder))
    return usage_error(options, "-o must name a file, but '%s' is a folder: append a file name such as robot.yaml",
                       options->folder);
  size_t length = strlen(options->folder);
  if (length >= 5 && strcmp(options->folder + length - 5, ".json") == 0)
    return usage_error(options, "a scene is written as YAML: -o must not end in .json");
  robot_options->threads = options->threads;
  robot_options->has_height = option_given(options, "height");
  robot_options->height = option_number(options, "height", 0);
  robot_options->hold = option_number(options, "hold", 0);
  robot_options->key = option_text(options, "key");
  robot_options->density = option_number(options, "density", 0);
  robot_options->max_vertices = option_count(options, "max-vertices", 0);
  if (option_given(options, "max-vertices") && robot_options->max_vertices < 4)
    return usage_error(options, "--max-vertices must be at least 4, got %d", robot_options->max_vertices);
  robot_options->ground = option_given(options, "ground");
  robot_options->primitives = option_given(options, "primitives");
  robot_options->keep_fixed = option_given(options, "keep-fixed");
  robot_options->visual = option_given(options, "visual");
  robot_options->skip_unsupported = option_given(options, "skip-unsupported");
  robot_options->lenient = option_given(options, "lenient");
  robot_options->no_self_collision = option_given(options, "no-self-collision");
  ExitCode code = read_words(importing);
  if (code == EXIT_DONE) code = read_packages(importing);
  return code == EXIT_DONE ? read_starts(importing) : code;
}

static Status write_scene(Importing* importing) {
  const char* path = importing->options->folder;
  char* folder = memory_copy_text(path);
  char* slash = strrchr(folder, '/');
  if (slash) slash[slash == folder] = '\0';
  Text text = {0};
  Status status = robot_write_yaml(&importing->robot, importing->options->operands[0], path, slash ? folder : ".",
                                   &text, &importing->diagnostics);
  if (status == STATUS_OK) status = file_make_folder_of(path, &importing->diagnostics);
  if (status == STATUS_OK) status = file_write_reported(path, &text, &importing->diagnostics);
  text_free(&text);
  memory_free(folder);
  return status;
}

static void add_joints(Json* json, const Importing* importing) {
  json_open(json, "joints", '[');
  for (int k = 0; k < importing->robot.report.joint_count; k++) {
    const RobotJointPlace* joint = &importing->robot.report.joints[k];
    const SceneLink* link = &importing->robot.scene.links[joint->link];
    json_open(json, NULL, '{');
    json_text(json, "joint", joint->name);
    json_text(json, "link", link->name);
    json_text(json, "coordinate", scene_joint_coordinate_name(&link->joint, joint->dof));
    json_close(json, '}');
  }
  json_close(json, ']');
}

static void add_masses(Json* json, const Importing* importing) {
  const Robot* robot = &importing->robot;
  json_open(json, "masses", '[');
  for (int i = 0; i < robot->scene.link_count; i++) {
    if (!robot->scene.links[i].has_mass) continue;
    json_open(json, NULL, '{');
    json_text(json, "link", robot->model.links[i].name);
    json_number(json, "mass", robot->model.links[i].mass);
    json_number(json, "center_error", robot_center_error(robot, i));
    json_number(json, "inertia_error", robot_inertia_error(robot, i));
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
  json_integer(&json, "links", importing->robot.model.link_count);
  json_integer(&json, "degrees_of_freedom", importing->robot.model.dof_count);
  add_joints(&json, importing);
  add_masses(&json, importing);
  json_diagnostics(&json, "messages", &importing->diagnostics);
  json_close(&json, '}');
  fputs(text.data, stdout);
  text_free(&text);
}

static ExitCode import_robot(const Options* options) {
  Importing importing = {.options = options};
  ExitCode code = read_options(&importing);
  if (code == EXIT_DONE) {
    Status status =
        robot_import(&importing.robot, options->operands[0], &importing.robot_options, &importing.diagnostics);
    if (status == STATUS_OK) status = write_scene(&importing);
    code = status_exit_code(status);
    if (code == EXIT_DONE) print_result(&importing);
  }
  print_diagnostics(options, &importing.diagnostics);
  importing_free(&importing);
  return code;
}

static const OptionRow OPTIONS[] = {
    {"package", 0, OPTION_TEXT_LIST, "NAME=DIR", "where package://NAME/... is; repeatable"},
    {"base", 0, OPTION_TEXT, "WORD", "the root link is fixed to the world or free (default: fixed)"},
    {"height", 0, OPTION_NUMBER, "Z", "height of the root link's frame in metres (default: 0; free: on the ground)"},
    {"ground", 0, OPTION_FLAG, NULL, "add a half-space below z = 0"},
    {"hold", 0, OPTION_NUMBER, "HZ",
     "hold every joint where it starts, by a spring of so many Hz (default: no controllers)"},
    {"start", 0, OPTION_TEXT_LIST, "JOINT=X",
     "where a joint starts, m or rad (default: 0, or inside its limits); repeatable"},
    {"mass-model", 0, OPTION_TEXT, "WORD",
     "given, or masses spread over the shapes: uniform, vertices (default: given)"},
    {"density", 0, OPTION_NUMBER, "RHO", "kg/m^3 for links that move and have no mass (default: 1000, reported)"},
    {"keep-fixed", 0, OPTION_FLAG, NULL, "links with mass on fixed joints stay links of their own"},
    {"visual", 0, OPTION_FLAG, NULL, "take visual shapes where a link has no collision shapes"},
    {"hulls", 0, OPTION_TEXT, "WORD", "hulls of a mesh: whole (one), groups (one each) or decompose (default: whole)"},
    {"primitives", 0, OPTION_FLAG, NULL,
     "meshes that are nearly round (1 % of the radius) become spheres, cylinders, capsules, cones, discs or wheels"},
    {"max-vertices", 0, OPTION_COUNT, "N", "of the hulls of meshes: at most so many"},
    {"key", 0, OPTION_TEXT, "NAME", "of MJCF: the keyframe that it starts in (default: home, else the first), or none"},
    {"lenient", 0, OPTION_FLAG, NULL,
     "leave out missing meshes, meshes of other formats and joints of missing links, and mend inertias; warns of each"},
    {"no-self-collision", 0, OPTION_FLAG, NULL, "links of the robot never touch one another"},
    {"skip-unsupported", 0, OPTION_FLAG, NULL, "leave out meshes that cannot be read, instead of an error"},
};

const Verb VERB_IMPORT = {
    .name = "import",
    .operands = "ROBOT",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "a robot in URDF or MJCF as a scene",
    .examples =
        "  sdrs import panda.urdf -o panda.yaml --package franka_description=../franka --hold 5\n"
        "  sdrs import dog.urdf -o dog.yaml --base free --ground --hold 4 --start knee=-1.2\n"
        "  sdrs import menagerie/franka_emika_panda/scene.xml -o panda.yaml --key home\n",
    .details =
        "Writes a scene that simulate can run: links with their masses, centres and inertias, collision shapes, "
        "joints\n"
        "with limits and damping. Links on fixed joints become part of what carries them. Changes, and features\n"
        "that a scene lacks, are reported and listed in a comment of the scene, with the joints' names: docs/urdf.md,\n"
        "docs/mjcf.md. A file\n"
        "whose first element is <mujoco> is MJCF: its bases, actuators and keyframe are those of the file.\n"
        "Exit codes: 0 done, 2 wrong usage, 3 the robot cannot be used (every problem is reported), 5 cannot read or "
        "write.\n",
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof OPTIONS[0],
    .writes_folder = true,
    .run = import_robot,
};
