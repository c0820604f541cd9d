/* Imports a robot file as a scene that can start: on the ground, without intersections of bodies that can collide. */
#include <assert.h>
#include <string.h>

#include "model/lift.h"
#include "model/tree.h"
#include "robot/robot.h"

/* Damping ratio of the springs that hold joints; 1 is critical damping. */
#define HOLD_DAMPING_RATIO 1.0

/* Adds a text to the diagnostics and to the remarks of the report, then frees the text. */
static void remark(RobotReport* report, Diagnostics* diagnostics, Severity severity, SourcePosition place, Text* text) {
  diagnostics_add(diagnostics, severity, place, "%s", text->data);
  text_add(&report->remarks, "%s\n", text->data);
  text_free(text);
}

void robot_remark(RobotReport* report, Diagnostics* diagnostics, SourcePosition place, const char* format, ...) {
  Text text = {0};
  va_list arguments;
  va_start(arguments, format);
  text_add_va_list(&text, format, arguments);
  va_end(arguments);
  remark(report, diagnostics, SEVERITY_NOTE, place, &text);
}

void robot_warn(RobotReport* report, Diagnostics* diagnostics, SourcePosition place, const char* format, ...) {
  Text text = {0};
  va_list arguments;
  va_start(arguments, format);
  text_add_va_list(&text, format, arguments);
  va_end(arguments);
  remark(report, diagnostics, SEVERITY_WARNING, place, &text);
}

/* Largest number of names in a remark. */
enum { NAMES_MAX = 10 };

void robot_shorten_names(Text* names) {
  size_t end = 0;
  int count = names->length > 0;
  for (size_t i = 0; i + 1 < names->length; i++)
    if (names->data[i] == ',' && names->data[i + 1] == ' ' && count++ == NAMES_MAX) end = i;
  if (count <= NAMES_MAX) return;
  names->length = end;
  text_add(names, " and %d more", count - NAMES_MAX);
}

void robot_exclude(Scene* scene, const char* a, const char* b) {
  assert(a && b);
  SceneContact* contact = &scene->contact;
  size_t count = (size_t)contact->exclude_count, size = sizeof *contact->exclude;
  contact->exclude = memory_resize(contact->exclude, count * size, (count + 1) * size);
  contact->exclude_place =
      memory_resize(contact->exclude_place, count * sizeof(SourcePosition), (count + 1) * sizeof(SourcePosition));
  contact->exclude[count][0] = memory_copy_text(a);
  contact->exclude[count][1] = memory_copy_text(b);
  contact->exclude_place[count] = (SourcePosition){scene->path, 0, 0};
  contact->exclude_count++;
}

static bool are_in_same_tree(const Model* model, int a, int b) { return model_root(model, a) == model_root(model, b); }

/* Returns the largest initial depth of a link below the surface of the ground [m], negative above it, or -INFINITY if
 * no link with a hull has to be above it. Link 0 is the ground. moving: true if only links that can move count. */
static double deepest_below_ground(const Model* model, bool moving) {
  Pose* poses = MEMORY_NEW(Pose, model->link_count + 1);
  double deepest = -INFINITY;
  model_poses(model, model->initial_coordinates, poses);
  for (int i = 1; i < model->link_count; i++) {
    Vec3 normal;
    if (!moving || model->links[i].tree >= 0) deepest = fmax(deepest, model_link_overlap(model, poses, 0, i, &normal));
  }
  memory_free(poses);
  return deepest;
}

/* Places a free robot on the ground, such that its lowest point has the equilibrium gap. Does nothing if
 * options->height is given. Suggests a height for a robot with a fixed base whose links start below the ground. The
 * poses of an MJCF file are kept. */
static void place_on_ground(Robot* robot, const RobotOptions* options, Diagnostics* diagnostics) {
  const Model* model = &robot->model;
  double gap = model->contact.gap_at_rest;
  if (robot->is_mjcf || !options->ground || !model->links || !(gap > 0)) return;
  double depth = deepest_below_ground(model, !options->free_base);
  SourcePosition place = {robot->scene.path, 0, 0};
  SceneJoint* base = &robot->scene.links[1].joint; /* link 0 is the ground */
  if (options->free_base && !options->has_height && isfinite(depth)) {
    base->position.z += gap + depth;
    robot_remark(&robot->report, diagnostics, place,
                 "the base starts at a height of %.6g m: the robot stands on the ground", base->position.z);
  } else if (depth > -gap) {
    diagnostics_add(diagnostics, SEVERITY_NOTE, place,
                    "the robot reaches %.3g m below the ground: --height %.4g raises the robot above the ground", depth,
                    ceil(1000 * (options->height + depth + 2 * gap)) / 1000);
  }
}

/* Warns of options that have no effect on MJCF files, which define the poses and joints of their bodies. */
static void report_unused_options(Robot* robot, const RobotOptions* options, Diagnostics* diagnostics) {
  if (robot->is_mjcf && (options->free_base || options->has_height))
    robot_warn(&robot->report, diagnostics, (SourcePosition){robot->scene.path, 0, 0},
               "--base and --height have no effect on MJCF files: add a <freejoint/> to the root body, or change its "
               "'pos'");
}

/* Excludes contact between a link and the world if they intersect initially and could not be separated, because a scene
 * must start without intersections. Warns of each pair, since the motion then differs from MuJoCo's. Returns false, and
 * changes nothing, for a URDF file and for a pair of two moving or two fixed links. */
static bool exclude_from_world(Robot* robot, const ModelTouch* pair, Diagnostics* diagnostics) {
  const Model* model = &robot->model;
  const ModelLink *a = &model->links[pair->a], *b = &model->links[pair->b];
  if (!robot->is_mjcf || (a->tree >= 0) == (b->tree >= 0)) return false;
  Text text = {0};
  text_add(&text,
           "'%s' and '%s' intersect at the start by %.3g m and cannot be separated, so contact between the two links "
           "is excluded (contact.exclude): start the robot elsewhere by --start or a keyframe",
           a->name, b->name, fmax(pair->depth, 0));
  remark(&robot->report, diagnostics, SEVERITY_WARNING, (SourcePosition){robot->scene.path, 0, 0}, &text);
  robot_exclude(&robot->scene, a->name, b->name);
  return true;
}

/* Excludes contact between links of one robot that touch or intersect initially although no joint connects them. */
static void exclude_touching(Robot* robot, const RobotOptions* options, Diagnostics* diagnostics) {
  const Model* model = &robot->model;
  if (!model->links || model->contact_model == CONTACT_NONE) return;
  ModelTouch* pairs = NULL;
  int excluded = 0;
  int count = model_touching(model, &pairs);
  Text names = {0};
  for (int k = 0; k < count; k++) {
    if (exclude_from_world(robot, &pairs[k], diagnostics)) continue;
    /* A URDF file is one robot, although its links on a fixed root are separate trees of the model. */
    bool ground = options->ground && (pairs[k].a == 0 || pairs[k].b == 0);
    if (!are_in_same_tree(model, pairs[k].a, pairs[k].b) && (robot->is_mjcf || ground)) continue;
    const char *a = model->links[pairs[k].a].name, *b = model->links[pairs[k].b].name;
    robot_exclude(&robot->scene, a, b);
    text_add(&names, "%s%s - %s", excluded++ > 0 ? ", " : "", a, b);
  }
  robot_shorten_names(&names);
  if (excluded > 0)
    robot_remark(&robot->report, diagnostics, (SourcePosition){robot->scene.path, 0, 0},
                 "pairs of links that touch at the start never collide (contact.exclude): %s", names.data);
  text_free(&names);
  memory_free(pairs);
}

/* Largest penetration at which bodies of a MuJoCo file are lifted [m]. */
#define LIFT_DEPTH_MAX 0.05

void robot_rebuild_model(Robot* robot) {
  Diagnostics unsaid = {0};
  model_destroy(&robot->model);
  model_create(&robot->model, &robot->scene, &unsaid);
  diagnostics_free(&unsaid);
}

static bool has_touching_bodies(const Robot* robot) {
  ModelTouch* pairs = NULL;
  int count = robot->model.links ? model_touching(&robot->model, &pairs) : 0;
  bool found = false;
  for (int k = 0; k < count && !found; k++) found = !are_in_same_tree(&robot->model, pairs[k].a, pairs[k].b);
  memory_free(pairs);
  return found;
}

/* Shrinks bodies that still touch after lifting. file_positions[links]: positions in the file, to which bodies return
 * first. */
static void shrink_bodies(Robot* robot, const Vec3* file_positions, Diagnostics* diagnostics) {
  Scene* scene = &robot->scene;
  Text names = {0};
  for (int i = 0; i < scene->link_count; i++) scene->links[i].joint.position = file_positions[i];
  model_move_links(&robot->model, scene);
  if (!robot->model.links || !robot_shrink_touching(robot, &names)) return;
  robot_rebuild_model(robot);
  robot_warn(&robot->report, diagnostics, (SourcePosition){scene->path, 0, 0},
             "bodies that touch at the start are shrunk by the gap that contact needs: %s; masses and inertias stay "
             "those of the file. To keep the sizes, move the bodies apart in the file",
             names.data);
  text_free(&names);
}

/* Moves free bodies out of half-spaces. file_positions[links]: positions in the file; those of moved bodies change,
 * too. */
static void move_out_of_half_spaces(Robot* robot, Vec3* file_positions, Diagnostics* diagnostics) {
  int links = robot->scene.link_count;
  Vec3* before = MEMORY_NEW(Vec3, links + 1);
  Text names = {0};
  for (int i = 0; i < links; i++) before[i] = robot->scene.links[i].joint.position;
  if (robot_move_out_of_half_spaces(robot, LIFT_DEPTH_MAX, &names))
    robot_warn(&robot->report, diagnostics, (SourcePosition){robot->scene.path, 0, 0},
               "bodies that start inside planes, or touch bodies inside planes, are moved out: %s; to keep the "
               "positions, correct 'pos' in the file",
               names.data);
  for (int i = 0; i < links; i++)
    file_positions[i] = vec3_add(file_positions[i], vec3_sub(robot->scene.links[i].joint.position, before[i]));
  text_free(&names);
  memory_free(before);
}

/* Separates bodies that lifting and shrinking did not separate, from their positions in the file. Returns false, with
 * the lifted positions, if bodies still touch. file_positions: (links). */
static bool separate_bodies(Robot* robot, const Vec3* file_positions, Diagnostics* diagnostics) {
  Scene* scene = &robot->scene;
  Text names = {0};
  Vec3* lifted = MEMORY_NEW(Vec3, scene->link_count + 1);
  for (int i = 0; i < scene->link_count; i++) {
    lifted[i] = scene->links[i].joint.position;
    scene->links[i].joint.position = file_positions[i];
  }
  model_move_links(&robot->model, scene);
  bool are_separate = robot->model.links && robot_separate_bodies(robot, LIFT_DEPTH_MAX, &names);
  if (!are_separate) {
    for (int i = 0; i < scene->link_count; i++) scene->links[i].joint.position = lifted[i];
    if (robot->model.links) model_move_links(&robot->model, scene);
  } else
    robot_warn(&robot->report, diagnostics, (SourcePosition){scene->path, 0, 0},
               "bodies that overlap at the start are moved apart: %s; to keep the positions, correct 'pos' in the file",
               names.data);
  memory_free(lifted);
  text_free(&names);
  return are_separate;
}

static void separate_initially(Robot* robot, Diagnostics* diagnostics) {
  if (!robot->is_mjcf || !robot->model.links || robot->model.contact_model == CONTACT_NONE) return;
  int links = robot->scene.link_count;
  Vec3* file_positions = MEMORY_NEW(Vec3, links + 1);
  Text names = {0};
  for (int i = 0; i < links; i++) file_positions[i] = robot->scene.links[i].joint.position;
  bool lifted = model_lift(&robot->model, &robot->scene, LIFT_DEPTH_MAX, &names);
  if (has_touching_bodies(robot)) move_out_of_half_spaces(robot, file_positions, diagnostics);
  if (has_touching_bodies(robot)) {
    names.length = 0;
    shrink_bodies(robot, file_positions, diagnostics);
    lifted = robot->model.links && model_lift(&robot->model, &robot->scene, LIFT_DEPTH_MAX, &names);
  }
  if (has_touching_bodies(robot) && separate_bodies(robot, file_positions, diagnostics)) lifted = false;
  robot_shorten_names(&names);
  if (lifted)
    robot_remark(&robot->report, diagnostics, (SourcePosition){robot->scene.path, 0, 0},
                 "bodies are raised at the start by the gap that contact needs: %s", names.data);
  text_free(&names);
  memory_free(file_positions);
}

/* Replaces meshes that are nearly solids of revolution by round solids, which roll smoothly. Returns true if a mesh was
 * replaced. */
static bool fit_primitives(Robot* robot, Diagnostics* diagnostics) {
  Scene* scene = &robot->scene;
  bool any = false;
  for (int i = 0; i < scene->shape_count; i++) {
    SceneShape* shape = &scene->shapes[i];
    RobotRound fit;
    if (robot_round_shape(scene, &robot->model, i, &fit) < 0) continue;
    Text text = {0};
    robot_append_round_yaml(&fit, &text);
    robot_remark(&robot->report, diagnostics, shape->place,
                 "the mesh of shape '%s' is replaced by {%s}, whose surface deviates from the mesh by %.3g m, %.2g %% "
                 "of the radius",
                 shape->name, text.data, fit.deviation, 100 * fit.relative);
    text_free(&text);
    shape->type = fit.type;
    shape->exact = true;
    shape->decompose = shape->hull_per_group = false;
    shape->radius = fit.radius;
    shape->length = fit.length;
    shape->width = fit.width;
    shape->rim = fit.rim;
    shape->bottom_radius = fit.bottom_radius;
    shape->top_radius = fit.top_radius;
    robot_transform_uses(scene, i, (Pose){mat3_from_quat(fit.rotation), fit.position});
    any = true;
  }
  return any;
}

static bool tree_has_hull(const Model* model, int root) {
  for (int h = 0; h < model->hull_count; h++)
    if (model_root(model, model->hulls[h].link) == root) return true;
  return false;
}

/* Warns of free robots and bodies without a shape, because they pass through all others. */
static void warn_of_free_fall(Robot* robot, Diagnostics* diagnostics) {
  const Model* model = &robot->model;
  if (vec3_norm(robot->scene.simulation.gravity) == 0) return;
  for (int i = 0; i < model->link_count; i++) {
    bool falls = model->links[i].parent < 0 && robot_stands_free(model, i) && !tree_has_hull(model, i);
    if (falls)
      robot_warn(&robot->report, diagnostics, robot->scene.links[i].place,
                 "'%s' is free, and neither it nor a link below it has a shape that collides: it passes through all "
                 "others; %s",
                 model->links[i].name,
                 robot->is_mjcf ? "give a geom 'contype' and 'conaffinity' other than 0"
                                : "add a <collision>, or take the visual shapes by --visual");
  }
}

/* Builds the model twice: silently to find touching links, then with the contacts of `sdrs simulate`. */
static Status build_model(Robot* robot, const RobotOptions* options, Diagnostics* diagnostics) {
  Diagnostics unsaid = {0};
  model_create(&robot->model, &robot->scene, &unsaid);
  if (options->primitives && robot->model.links && fit_primitives(robot, diagnostics)) {
    model_destroy(&robot->model);
    model_create(&robot->model, &robot->scene, &unsaid);
  }
  report_unused_options(robot, options, diagnostics);
  place_on_ground(robot, options, diagnostics);
  separate_initially(robot, diagnostics);
  exclude_touching(robot, options, diagnostics);
  model_destroy(&robot->model);
  diagnostics_free(&unsaid);
  return model_create(&robot->model, &robot->scene, diagnostics);
}

double robot_center_error(const Robot* robot, int link) {
  assert(link >= 0 && link < robot->model.link_count);
  assert(link >= 0);
  return vec3_norm(vec3_sub(robot->model.links[link].center, robot->scene.links[link].center));
}

double robot_inertia_error(const Robot* robot, int link) {
  assert(link >= 0 && link < robot->model.link_count);
  assert(link >= 0);
  const double* s = robot->scene.links[link].inertia;
  const Mat3 wanted = {{{s[0], s[3], s[4]}, {s[3], s[1], s[5]}, {s[4], s[5], s[2]}}};
  Mat3 found = mass_moment_inertia_tensor(&robot->model.links[link].moment);
  double worst = 0, size = 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      worst = fmax(worst, fabs(found.m[i][j] - wanted.m[i][j]));
      size = fmax(size, fabs(wanted.m[i][j]));
    }
  return size > 0 ? worst / size : worst > 0 ? HUGE_VAL : 0;
}

/* Reports by how much the mass model changes the file's centres of mass and inertias. */
static void report_mass_changes(Robot* robot, Diagnostics* diagnostics) {
  for (int i = 0; i < robot->scene.link_count; i++) {
    const SceneLink* source = &robot->scene.links[i];
    if (!source->has_mass || source->mass_model == MASS_GIVEN) continue;
    robot_remark(&robot->report, diagnostics, (SourcePosition){robot->scene.path, 0, 0},
                 "link '%s': --mass-model moves the centre of mass by %.3g m and changes the inertia by %.1f %%",
                 source->name, robot_center_error(robot, i), 100 * robot_inertia_error(robot, i));
  }
}

/* ---------------------------------------------------------------- drives that hold joints (--hold) */

bool robot_stands_free(const Model* model, int link) {
  assert(link >= 0 && link < model->link_count);
  return joint_is_floating(&model->links[model_root(model, link)].joint);
}

/* Returns the inertia that a joint moves in one degree of freedom [kg, kg m^2]: twice the kinetic energy of the moved
 * links at unit rate. With a free base, the other links of the tree move instead when the robot stands; the larger
 * inertia is returned. */
static double carried_inertia(const Model* model, int link, const Screw* screw, const Pose* poses) {
  bool* carried = MEMORY_NEW(bool, model->link_count + 1);
  double sum[2] = {0, 0};
  for (int i = 0; i < model->link_count; i++) {
    const ModelLink* one = &model->links[i];
    carried[i] = i == link || (one->parent >= 0 && carried[one->parent]);
    if (one->tree != model->links[link].tree || !(one->mass > 0)) continue;
    Vec3 v = screw_velocity(screw, pose_apply(poses[i], one->center));
    Vec3 w = mat3_tmul_vec(poses[i].r, screw->w);
    sum[carried[i]] +=
        one->mass * vec3_dot(v, v) + vec3_dot(w, mat3_mul_vec(mass_moment_inertia_tensor(&one->moment), w));
  }
  memory_free(carried);
  return robot_stands_free(model, link) ? fmax(sum[0], sum[1]) : sum[1];
}

/* Returns the force limit of a drive in the file [N, N m], or 0 if there is none. */
static double find_effort_limit(const RobotReport* report, int link, int dof) {
  for (int k = 0; k < report->joint_count; k++)
    if (report->joints[k].link == link && report->joints[k].dof == dof) return report->joints[k].effort;
  return 0;
}

/* Adds a controller that holds a joint at its initial coordinates. With the moved inertia I and the natural frequency f
 * [Hz], the stiffness is I (2 pi f)^2 and the damping 2 I (2 pi f). */
static void add_holding_controller(Robot* robot, int index, double frequency, const Screw* screws, const Pose* poses) {
  assert(frequency > 0);
  const Model* model = &robot->model;
  const ModelLink* link = &model->links[index];
  SceneController* controller = &robot->scene.controllers[robot->scene.controller_count++];
  *controller = (SceneController){.link = index, .type = CONTROLLER_PD, .limit_width = LIMIT_WIDTH_DEFAULT};
  controller->target = (SceneSignal){.type = SIGNAL_CONSTANT, .channels = link->dof_count, .rows = 1};
  controller->target.values = MEMORY_NEW(double, JOINT_MAX_DOF);
  for (int k = 0; k < link->dof_count; k++) {
    double inertia = carried_inertia(model, index, &screws[link->dof_first + k], poses), rate = 2 * M_PI * frequency;
    controller->position_gain[k] = inertia * rate * rate;
    controller->damping_gain[k] = 2 * HOLD_DAMPING_RATIO * inertia * rate;
    controller->max_force[k] = find_effort_limit(&robot->report, index, k);
    controller->target.values[k] = model->initial_coordinates[link->coordinate_first + k];
  }
}

static void hold_joints(Robot* robot, double frequency) {
  const Model* model = &robot->model;
  const RobotReport* report = &robot->report;
  if (!(frequency > 0) || report->joint_count == 0) return;
  Pose* poses = MEMORY_NEW(Pose, model->link_count + 1);
  Screw* screws = MEMORY_NEW(Screw, model->dof_count + 1);
  model_poses(model, model->initial_coordinates, poses);
  model_screws(model, model->initial_coordinates, poses, screws);
  robot->scene.controllers = MEMORY_NEW(SceneController, report->joint_count);
  for (int k = 0; k < report->joint_count; k++)
    if (report->joints[k].dof == 0) add_holding_controller(robot, report->joints[k].link, frequency, screws, poses);
  memory_free(poses);
  memory_free(screws);
}

/* ---------------------------------------------------------------- import */

Status robot_import(Robot* robot, const char* path, const RobotOptions* options, Diagnostics* diagnostics) {
  assert(path && options);
  char* text;
  size_t length;
  *robot = (Robot){0};
  if (file_read_reported(path, &text, &length, diagnostics) != STATUS_OK) return STATUS_IO;
  robot->is_mjcf = robot_is_mjcf(text);
  Status status = (robot->is_mjcf ? robot_parse_mjcf : robot_parse_urdf)(&robot->scene, path, text, length, options,
                                                                         &robot->report, diagnostics);
  memory_free(text);
  robot->scene.threads = options->threads;
  if (status == STATUS_OK) status = build_model(robot, options, diagnostics);
  if (status != STATUS_OK) return status;
  warn_of_free_fall(robot, diagnostics);
  if (!robot->is_mjcf && !options->free_base)
    robot_remark(&robot->report, diagnostics, (SourcePosition){robot->scene.path, 0, 0},
                 "the base is fixed to the world%s",
                 options->ground ? " (--base free lets it move)"
                                 : " (--base free lets it move, --ground adds a ground to stand on)");
  report_mass_changes(robot, diagnostics);
  hold_joints(robot, options->hold);
  return STATUS_OK;
}

void robot_free(Robot* robot) {
  model_destroy(&robot->model);
  scene_free(&robot->scene);
  robot_report_free(&robot->report);
  *robot = (Robot){0};
}

/* Reads a robot file that a scene includes. Drops remarks about changes, which would be repeated in every run; `sdrs
 * import` prints them. */
void scene_read_robot(Scene* scene, const char* path, Diagnostics* diagnostics) {
  static const RobotOptions PLAIN = {0};
  Robot robot;
  Diagnostics all = {0};
  Status status = robot_import(&robot, path, &PLAIN, &all);
  for (int i = 0; i < all.count; i++) {
    const Diagnostic* item = &all.items[i];
    if (item->severity == SEVERITY_NOTE) continue;
    diagnostics_add(diagnostics, item->severity, (SourcePosition){item->file, item->line, item->column}, "%s",
                    item->text);
  }
  if (status != STATUS_OK && all.error_count == 0)
    diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){path, 0, 0},
                    "the robot file cannot be imported: run `sdrs import` on the file to see the reason");
  *scene = robot.scene;
  robot.scene = (Scene){0};
  scene->files = robot.report.files; /* files that the robot file includes */
  scene->file_count = robot.report.file_count;
  robot.report.files = NULL;
  robot.report.file_count = 0;
  robot_free(&robot);
  diagnostics_free(&all);
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

static void add_head(const Robot* robot, const char* source, Text* out) {
  const RobotReport* report = &robot->report;
  Text lines = {0};
  for (int k = 0; k < report->joint_count; k++) {
    const SceneLink* link = &robot->scene.links[report->joints[k].link];
    text_add(&lines, "joint %s = %s/%s\n", report->joints[k].name, link->name,
             scene_joint_coordinate_name(&link->joint, report->joints[k].dof));
  }
  text_add(out, "# A robot in %s, written by sdrs import from\n", robot->is_mjcf ? "MJCF" : "URDF");
  add_comment(out, source);
  if (report->remarks.length > 0) add_comment(out, report->remarks.data);
  if (lines.length > 0) add_comment(out, lines.data);
  text_free(&lines);
}

/* Writes the scene as YAML, and parses the text to check that `sdrs simulate` can read it. */
Status robot_write_yaml(const Robot* robot, const char* source, const char* path, const char* folder, Text* out,
                        Diagnostics* diagnostics) {
  assert(out->length == 0);
  add_head(robot, source, out);
  scene_write_yaml(&robot->scene, folder, out);
  Scene scene;
  Status status = scene_parse(&scene, path, out->data, out->length, false, NULL, 0, diagnostics);
  scene_free(&scene);
  return status;
}
