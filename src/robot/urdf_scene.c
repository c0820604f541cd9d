/* Converts links and joints of a URDF file into links and joints of a scene (docs/urdf.md). Fixed joints are merged
 * into their parents. Chains of joints through links without mass and shape become one joint with several degrees of
 * freedom. */
#include <assert.h>
#include <string.h>

#include "base/outside.h"
#include "robot/urdf.h"

/* Largest number of joints that become one: three slides and two hinges. */
enum { CHAIN_MAX = 5 };
#define PARALLEL_SINE 1e-6
#define ROBOT_GROUP "robot"
/* Default of friction_speed in scenes, for joints with dry friction. */
#define FRICTION_SPEED 1e-4

static UrdfPose identity(void) { return (UrdfPose){{0, 0, 0}, {1, 0, 0, 0}}; }

/* ---------------------------------------------------------------- links */

/* Returns a valid scene name, in which '_' replaces all other characters. The caller frees it. */
static char* make_valid_name(const char* name) {
  char* safe = memory_copy_text(name);
  if (strlen(safe) > NAME_MAX_LENGTH - 8) safe[NAME_MAX_LENGTH - 8] = '\0';
  for (char* bad; (bad = (char*)name_find_invalid_character(safe)) != NULL;) *bad = '_';
  for (char* c = safe; *c; c++)
    if (*c == '{' || *c == '}' || (unsigned char)*c == 0x7f) *c = '_';
  if (*safe == '.' || *safe == ' ') *safe = '_';
  if (safe[strlen(safe) - 1] == ' ') safe[strlen(safe) - 1] = '_';
  return safe;
}

/* Returns a scene name that is valid and unique among the links. The caller frees it. */
static char* make_unique_name(UrdfBuild* build, const char* name) {
  char* safe = make_valid_name(*name ? name : "link");
  while (names_find(&build->names, safe) >= 0) {
    Text longer = {0};
    text_add(&longer, "%s_", safe);
    memory_free(safe);
    safe = longer.data;
  }
  return safe;
}

static int add_link(UrdfBuild* build, const char* name, SourcePosition place) {
  Scene* scene = build->scene;
  int index = scene->link_count++;
  SceneLink* link = &scene->links[index];
  *link = (SceneLink){.name = make_unique_name(build, name), .place = place, .parent = -1, .collide = true};
  for (int k = 0; k < 3; k++) link->color[k] = -1;
  names_add(&build->names, link->name, index);
  if (strcmp(link->name, name) != 0)
    robot_remark(build->report, build->diagnostics, place, "link '%s' of the file is renamed '%s' in the scene",
                 text_excerpt(name).text, text_excerpt(link->name).text);
  SceneJoint* joint = &link->joint;
  *joint = (SceneJoint){.place = place, .rotation = quat_identity(), .free_axes = FREE_ALL};
  joint->axes[0] = vec3(0, 0, 1);
  joint->axes[1] = vec3(1, 0, 0);
  joint->friction_speed = FRICTION_SPEED;
  for (int i = 0; i < JOINT_MAX_DOF; i++) joint->lower[i] = -HUGE_VAL, joint->upper[i] = HUGE_VAL;
  joint_default_limits(joint);
  return index;
}

static bool is_empty(const UrdfBuild* build, const UrdfLink* link) {
  return !(link->mass > 0) && urdf_used_shapes(build, link)->count == 0;
}

/* Assigns a robot link to a scene link at `pose` in its frame, and adds its shapes and mass. target: scene link, or -1
 * for the world. */
static void assign_link(UrdfBuild* build, int from, int target, UrdfPose pose) {
  assert(from >= 0 && target >= -1);
  const UrdfLink* link = &build->robot->links[from];
  build->carrier[from] = target;
  build->pose[from] = pose;
  if (target < 0) return;
  SceneLink* to = &build->scene->links[target];
  urdf_add_mass(build, link, target, pose);
  build->shape_first[from] = to->shape_count;
  urdf_add_shapes(build, link, target, pose);
  build->shape_number[from] = to->shape_count - build->shape_first[from];
  if (link->gravity_compensation != 0) to->gravity_compensation = link->gravity_compensation;
  if (to->color[0] < 0) memcpy(to->color, link->color, sizeof to->color);
}

/* Gives the joint of a scene link its name in the URDF file. */
static void name_joint(UrdfBuild* build, const UrdfJoint* from, int target) {
  if (build->robot->has_drives || !*from->name) return;
  char* name = make_valid_name(from->name);
  if (strcmp(name, from->name) != 0)
    robot_remark(build->report, build->diagnostics, from->place, "joint '%s' of the file is renamed '%s' in the scene",
                 text_excerpt(from->name).text, text_excerpt(name).text);
  build->scene->links[target].joint.name = name;
}

/* Adds a scene link for a robot link. The caller sets its joint. */
static int add_link_for(UrdfBuild* build, int from, int parent, UrdfPose origin, JointType type) {
  const UrdfLink* link = &build->robot->links[from];
  int target = add_link(build, link->name, link->place);
  SceneLink* to = &build->scene->links[target];
  to->parent = parent;
  to->joint.type = type;
  to->fixed = type == JOINT_FIXED;
  to->joint.position = origin.position;
  to->joint.rotation = origin.rotation;
  build->moves[target] = type != JOINT_FIXED || (parent >= 0 && build->moves[parent]);
  build->body[target].from = link;
  assign_link(build, from, target, identity());
  return target;
}

/* ---------------------------------------------------------------- fixed joints and the root */

static void place_root(UrdfBuild* build, int root) {
  UrdfPose base = identity();
  base.position.z = build->options->height;
  if (build->options->free_base)
    add_link_for(build, root, -1, base, JOINT_FREE);
  else if (is_empty(build, &build->robot->links[root]))
    assign_link(build, root, -1, base); /* the root represents the world */
  else
    add_link_for(build, root, -1, base, JOINT_FIXED);
}

static void place_fixed(UrdfBuild* build, int link, const UrdfJoint* joint) {
  int carrier = build->carrier[joint->parent];
  UrdfPose pose = urdf_pose_mul(build->pose[joint->parent], joint->origin);
  const UrdfLink* robot_link = &build->robot->links[link];
  /* a movable link of a scene needs a mass */
  bool keep = build->options->keep_fixed && carrier >= 0 && (robot_link->mass > 0 || !build->moves[carrier]);
  if (keep || (carrier < 0 && !is_empty(build, robot_link)))
    name_joint(build, joint, add_link_for(build, link, carrier, pose, JOINT_FIXED));
  else
    assign_link(build, link, carrier, pose);
}

/* ---------------------------------------------------------------- movable joints */

static bool is_slide(const UrdfJoint* joint) { return joint->type == URDF_PRISMATIC; }

static bool is_single(const UrdfJoint* joint) {
  return joint->type == URDF_REVOLUTE || joint->type == URDF_CONTINUOUS || joint->type == URDF_PRISMATIC;
}

/* Returns the number of the coordinate axis that a joint axis equals: 0, 1, 2 for +x, +y, +z, and -1 for other
 * directions. */
static int axis_number(Vec3 axis) {
  if (axis.x == 1) return 0;
  if (axis.y == 1) return 1;
  return axis.z == 1 ? 2 : -1;
}

/* Returns the bits of the directions in which one joint must be free to have the motion of a chain of joints. The chain
 * consists of slides and at most two hinges, each along x, y, z in this order. Returns 0 for other chains. */
static unsigned find_free_axes(const UrdfJoint* const* chain, int count) {
  unsigned axes = 0;
  int hinges = 0;
  for (int i = 0; i < count; i++) {
    int axis = axis_number(chain[i]->axis), number = axis + (is_slide(chain[i]) ? 0 : 3);
    if (axis < 0 || axes >> number != 0) return 0;
    axes |= 1u << number;
    hinges += !is_slide(chain[i]);
  }
  return hinges <= 2 ? axes : 0;
}

/* Sets type and axes of one joint that has the same motion as a chain of joints. Returns false if no joint type has
 * this motion. */
static bool fill_axes(const UrdfJoint* const* chain, int count, SceneJoint* joint) {
  joint->axes[0] = chain[0]->axis;
  joint->type = is_slide(chain[0]) ? JOINT_SLIDE : JOINT_HINGE;
  if (count == 1) return true;
  joint->axes[1] = chain[1]->axis;
  joint->type = JOINT_UNIVERSAL;
  bool turn = vec3_norm(vec3_cross(joint->axes[0], joint->axes[1])) > PARALLEL_SINE;
  if (count == 2 && !is_slide(chain[0]) && !is_slide(chain[1]) && turn) return true;
  joint->type = JOINT_FREE;
  joint->free_axes = find_free_axes(chain, count);
  return joint->free_axes != 0;
}

bool urdf_is_one_joint(const UrdfJoint* const* chain, int count) {
  SceneJoint joint = {0};
  return count <= CHAIN_MAX && fill_axes(chain, count, &joint);
}

static void add_joint_place(UrdfBuild* build, const UrdfJoint* joint, int link, int dof) {
  RobotReport* report = build->report;
  report->joints[report->joint_count++] = (RobotJointPlace){memory_copy_text(joint->name), link, dof, joint->effort};
}

/* Sets chain[] to the joints between robot link `link` and its nearest ancestor that is a scene link, beginning at the
 * ancestor. Returns their number, or 0 if there are more than CHAIN_MAX. */
static int find_chain(const UrdfBuild* build, int link, const UrdfJoint** chain) {
  int count = 0;
  for (int at = link; at == link || build->deferred[at];
       at = build->robot->joints[build->robot->links[at].joint].parent)
    count++;
  if (count > CHAIN_MAX) return 0;
  for (int i = count - 1; i >= 0; i--) {
    chain[i] = &build->robot->joints[build->robot->links[link].joint];
    link = chain[i]->parent;
  }
  return count;
}

static SceneInitial* find_or_add_initial(UrdfBuild* build, int link);

static bool is_moving(const UrdfJoint* joint, int count) {
  for (int k = 0; k < count; k++)
    if (joint->velocity[k] != 0) return true;
  return false;
}

static void set_velocities(UrdfBuild* build, int link, const UrdfJoint* joint, int first, int count) {
  if (!is_moving(joint, count)) return;
  SceneInitial* initial = find_or_add_initial(build, link);
  initial->has_velocities = true;
  memcpy(initial->velocities + first, joint->velocity, sizeof(double) * (size_t)count);
}

/* Makes a link with an immovable parent a child of the world, so that it collides with fixed bodies. MuJoCo's parent
 * filter does not apply to the world and bodies welded to it. */
static void detach_from_fixed_parent(const UrdfBuild* build, int* carrier, UrdfPose* origin) {
  while (*carrier >= 0 && !build->moves[*carrier]) {
    const SceneLink* link = &build->scene->links[*carrier];
    *origin = urdf_pose_mul((UrdfPose){link->joint.position, link->joint.rotation}, *origin);
    *carrier = link->parent;
  }
}

static void place_single_joint(UrdfBuild* build, int link) {
  const UrdfJoint* chain[CHAIN_MAX];
  int count = find_chain(build, link, chain);
  SceneJoint axes = {0};
  /* is_deferred has checked that the chain of joints can become one joint */
  bool is_one_joint = count > 0 && fill_axes(chain, count, &axes);
  assert(is_one_joint);
  (void)is_one_joint;
  int above = chain[0]->parent;
  bool known = !build->deferred[above];
  UrdfPose origin = known ? urdf_pose_mul(build->pose[above], chain[0]->origin) : identity();
  int carrier = known ? build->carrier[above] : -1;
  if (build->robot->has_drives) detach_from_fixed_parent(build, &carrier, &origin);
  int target = add_link_for(build, link, carrier, origin, axes.type);
  SceneJoint* joint = &build->scene->links[target].joint;
  joint->place = chain[0]->place;
  if (count == 1) name_joint(build, chain[0], target);
  memcpy(joint->axes, axes.axes, sizeof joint->axes);
  if (axes.type == JOINT_FREE) joint->free_axes = axes.free_axes;
  for (int i = 0; i < count; i++) {
    joint->lower[i] = chain[i]->lower;
    joint->upper[i] = chain[i]->upper;
    joint->limited[i] = isfinite(chain[i]->lower) || isfinite(chain[i]->upper);
    joint->damping[i] = chain[i]->damping;
    joint->stiffness[i] = chain[i]->stiffness;
    joint->rest[i] = chain[i]->rest;
    joint->armature[i] = chain[i]->armature;
    joint->velocity_limit[i] = chain[i]->speed;
    joint->friction[i] = chain[i]->friction;
    joint->friction_speed = FRICTION_SPEED_DEFAULT;
    add_joint_place(build, chain[i], target, i);
    set_velocities(build, target, chain[i], i, 1);
  }
  joint_default_limits(joint);
}

/* Returns true if a link gets no scene link, because it becomes part of its child's joint. */
static bool is_deferred(const UrdfBuild* build, int link) {
  const UrdfRobot* robot = build->robot;
  const UrdfLink* robot_link = &robot->links[link];
  if (robot_link->joint < 0 || !is_single(&robot->joints[robot_link->joint])) return false;
  if (!is_empty(build, robot_link) || build->children[link] != 1) return false;
  const UrdfJoint *below = &robot->joints[build->child_joint[link]], *chain[CHAIN_MAX + 1];
  if (!is_single(below) || !urdf_is_identity(&below->origin)) return false;
  int count = find_chain(build, link, chain); /* joints that cannot become one get one link each */
  chain[count] = below;
  return count > 0 && urdf_is_one_joint(chain, count + 1);
}

static void place_floating(UrdfBuild* build, int link, const UrdfJoint* joint) {
  static const unsigned PLANES[3] = {FREE_Y | FREE_Z | FREE_RX, FREE_X | FREE_Z | FREE_RY, FREE_X | FREE_Y | FREE_RZ};
  UrdfPose origin = urdf_pose_mul(build->pose[joint->parent], joint->origin);
  int carrier = build->carrier[joint->parent], normal = axis_number(joint->axis);
  detach_from_fixed_parent(build, &carrier, &origin);
  int target = add_link_for(build, link, carrier, origin, JOINT_FREE);
  build->scene->links[target].joint.place = joint->place;
  name_joint(build, joint, target);
  if (joint->type == URDF_FLOATING) {
    set_velocities(build, target, joint, 0, 6);
    for (int k = 0; k < 6; k++) build->scene->links[target].joint.damping[k] = joint->damping;
    return;
  }
  if (normal < 0)
    diagnostics_add(build->diagnostics, SEVERITY_ERROR, joint->place,
                    "the normal of the planar joint '%s' must be x, y or z", text_excerpt(joint->name).text);
  else
    build->scene->links[target].joint.free_axes = PLANES[normal];
}

/* Adds a ball joint with one limit on the total rotation angle, and equal damping and stiffness about all axes. */
static void place_ball(UrdfBuild* build, int link, const UrdfJoint* from) {
  UrdfPose origin = urdf_pose_mul(build->pose[from->parent], from->origin);
  int carrier = build->carrier[from->parent];
  if (build->robot->has_drives) detach_from_fixed_parent(build, &carrier, &origin);
  int target = add_link_for(build, link, carrier, origin, JOINT_BALL);
  SceneJoint* joint = &build->scene->links[target].joint;
  joint->place = from->place;
  name_joint(build, from, target);
  joint->upper[0] = from->upper;
  joint->limited[0] = isfinite(from->upper);
  for (int k = 0; k < 3; k++) {
    joint->damping[k] = from->damping;
    joint->stiffness[k] = from->stiffness;
  }
  joint_default_limits(joint);
  set_velocities(build, target, from, 0, 3);
  if (from->start[0] == 1) return;
  SceneInitial* initial = find_or_add_initial(build, target);
  initial->has_coordinates = true;
  memcpy(initial->coordinates, from->start, sizeof from->start);
}

static void place_link(UrdfBuild* build, int link) {
  const UrdfRobot* robot = build->robot;
  const UrdfJoint* joint = robot->links[link].joint < 0 ? NULL : &robot->joints[robot->links[link].joint];
  build->deferred[link] = is_deferred(build, link);
  if (build->deferred[link]) return;
  if (!joint)
    place_root(build, link);
  else if (joint->type == URDF_FIXED || build->has_no_content[link]) /* a joint that carries nothing has no effect */
    place_fixed(build, link, joint);
  else if (is_single(joint))
    place_single_joint(build, link);
  else if (joint->type == URDF_BALL)
    place_ball(build, link, joint);
  else
    place_floating(build, link, joint);
}

/* ---------------------------------------------------------------- masses of the scene's links */

static void store_inertia(const UrdfBody* body, SceneLink* link) {
  const double(*i)[3] = body->inertia.m;
  const double six[6] = {
      i[0][0], i[1][1], i[2][2], 0.5 * (i[0][1] + i[1][0]), 0.5 * (i[0][2] + i[2][0]), 0.5 * (i[1][2] + i[2][1])};
  link->has_mass = true;
  link->mass = body->mass;
  link->center = body->center;
  memcpy(link->inertia, six, sizeof six);
}

/* Fraction of the mass and inertia of a carried link (descendant) that a link without mass and shape gets. */
#define MASSLESS_LINK_SHARE 0.01
/* Mass of a link without mass and shape if the carried link has no <inertial> [kg]. */
#define MASSLESS_LINK_MASS 0.01

/* Returns the moment of inertia of a solid sphere of mass m and DEFAULT_DENSITY [kg m^2]: 2/5 m r^2 with r = (3 m / (4
 * pi density))^(1/3). */
static double ball_moment(double mass) {
  assert(mass >= 0);
  double radius = math_cbrt(3 * mass / (4 * M_PI * DEFAULT_DENSITY));
  return 0.4 * mass * radius * radius;
}

/* Gives a moving link without mass and shape a share of the mass of a link that it carries, with all joints at zero,
 * and warns. A link carries its descendants. Call for children before their parents. */
static void assign_mass_share(UrdfBuild* build, int index) {
  const Scene* scene = build->scene;
  UrdfBody* body = &build->body[index];
  const SceneLink* link = &scene->links[index];
  if (!build->moves[index] || body->mass > 0 || link->shape_count > 0) return;
  int child = index + 1;
  while (child < scene->link_count && !(scene->links[child].parent == index && build->body[child].mass > 0)) child++;
  if (child == scene->link_count) {
    *body = (UrdfBody){MASSLESS_LINK_MASS, vec3(0, 0, 0), mat3_scale(mat3_identity(), ball_moment(MASSLESS_LINK_MASS)),
                       body->from};
    robot_warn(build->report, build->diagnostics, link->place,
               "link '%s' moves and has neither mass nor shape: %.3g kg are assumed; give the link an <inertial>",
               text_excerpt(link->name).text, MASSLESS_LINK_MASS);
    return;
  }
  UrdfBody* from = &build->body[child];
  const SceneJoint* joint = &scene->links[child].joint;
  UrdfLink share = {.mass = MASSLESS_LINK_SHARE * from->mass, .center = from->center};
  share.inertia = mat3_scale(from->inertia, MASSLESS_LINK_SHARE);
  const UrdfLink* first = body->from;
  *body = urdf_transformed_body(&share, (UrdfPose){joint->position, joint->rotation});
  body->from = first;
  from->mass *= 1 - MASSLESS_LINK_SHARE;
  from->inertia = mat3_scale(from->inertia, 1 - MASSLESS_LINK_SHARE);
  robot_warn(build->report, build->diagnostics, link->place,
             "link '%s' moves and has neither mass nor shape: 1 %% of the mass of '%s' is assumed, %.3g kg; give the "
             "link an <inertial>",
             text_excerpt(link->name).text, text_excerpt(scene->links[child].name).text, body->mass);
}

/* Replaces a zero inertia of a URDF link by that of a ball with the link's mass, and warns. */
static void replace_zero_inertia(UrdfBuild* build, SourcePosition place, SceneLink* link) {
  double moment = ball_moment(link->mass);
  for (int k = 0; k < 6; k++) link->inertia[k] = k < 3 ? moment : 0;
  robot_warn(build->report, build->diagnostics, place,
             "the inertia of link '%s' is zero: the inertia of a solid sphere of the same mass and 1000 kg/m^3 is "
             "assumed, %.3g kg m^2; correct <inertia>",
             text_excerpt(link->name).text, moment);
}

/* Relative tolerance of the triangle inequality of the inertia of a free body (model/spinning.c), halved for rounding.
 */
#define FREE_TRIANGLE_TOLERANCE 5e-7

/* Returns true if a body can have the inertia m: xx, yy, zz, xy, xz, yz. The matrix trace / 2 - inertia contains the
 * second moments of the mass, which must be positive. is_free: true for a free body, whose integrator needs this with
 * six digits; false: with three digits. */
static bool is_possible(const double m[6], bool is_free) {
  double half = (0.5 + FREE_TRIANGLE_TOLERANCE) * (m[0] + m[1] + m[2]);
  const double second[6] = {half - m[0], half - m[1], half - m[2], -m[3], -m[4], -m[5]};
  return inertia_is_positive_definite(m) && inertia_is_physical(m) &&
         (!is_free || inertia_is_positive_definite(second));
}

/* Increases the moments of inertia about all axes equally until a physical body can have them, and warns. */
static void correct_inertia(UrdfBuild* build, SourcePosition place, SceneLink* link, bool is_free) {
  double* i = link->inertia;
  double size = fmax(fmax(fabs(i[0]), fabs(i[1])), fmax(fabs(i[2]), fmax(fabs(i[3]), fmax(fabs(i[4]), fabs(i[5])))));
  double added = 0, more = fmax(1e-6 * size, 1e-9 * link->mass);
  for (int tries = 0; tries < 200 && !is_possible(i, is_free); tries++, more *= 1.5) {
    for (int k = 0; k < 3; k++) i[k] += more;
    added += more;
  }
  robot_warn(
      build->report, build->diagnostics, place,
      "no physical body can have the inertia of link '%s': %.3g kg m^2 are added about all axes; correct <inertia>",
      text_excerpt(link->name).text, added);
}

/* Sets the mass of a link without mass from its shapes and the option `density`, or 1000 kg/m^3 for URDF files. Reports
 * an error for other files without the option. */
static void compute_mass_of_shapes(UrdfBuild* build, const UrdfBody* body, SceneLink* link) {
  bool given = build->options->density > 0, is_mjcf = build->robot->has_drives;
  bool shaped = link->shape_count > 0, left_out = body->from && body->from->left_out;
  if (shaped && (given || !is_mjcf)) {
    link->has_density = true;
    link->density = given ? build->options->density : DEFAULT_DENSITY;
    link->mass_model = MASS_UNIFORM;
    if (!given)
      robot_warn(
          build->report, build->diagnostics, link->place,
          "link '%s' moves and has no mass: its shapes get 1000 kg/m^3, as in MuJoCo; set another density by --density",
          text_excerpt(link->name).text);
    return;
  }
  SourcePosition place = left_out ? body->from->left_out_place : link->place;
  diagnostics_add(build->diagnostics, SEVERITY_ERROR, place, "link '%s' moves and has no mass: %s%s%s",
                  text_excerpt(link->name).text, left_out ? body->from->left_out : "", left_out ? ": " : "",
                  left_out ? "replace the geom by primitives or a mesh"
                  : shaped ? "give the link an <inertial>, or give its shapes a density by --density"
                           : "give the link an <inertial>");
}

/* Returns true if no entry exceeds a millionth of the inertia of a ball with the link's mass and a radius of 1 mm. */
static bool inertia_is_zero(const SceneLink* link) {
  double most = 0;
  for (int k = 0; k < 6; k++) most = fmax(most, fabs(link->inertia[k]));
  return most < 1e-6 * 0.4 * link->mass * 1e-6;
}

/* Returns true if a link is a free body without children. Its integrator needs a physical inertia (model/spinning.c).
 */
static bool is_free_body(const Scene* scene, int index) {
  const SceneLink* link = &scene->links[index];
  if (link->joint.type != JOINT_FREE || link->joint.free_axes != FREE_ALL || link->parent >= 0) return false;
  for (int i = index + 1; i < scene->link_count; i++)
    if (scene->links[i].parent == index) return false;
  return true;
}

static void compute_mass(UrdfBuild* build, int index) {
  SceneLink* link = &build->scene->links[index];
  const UrdfBody* body = &build->body[index];
  bool moves = build->moves[index];
  if (!(body->mass > 0)) {
    if (moves) compute_mass_of_shapes(build, body, link);
    return;
  }
  store_inertia(body, link);
  link->mass_model = build->options->from_shapes && link->shape_count > 0 ? build->options->mass_model : MASS_GIVEN;
  if (link->mass_model != MASS_GIVEN) return;
  SourcePosition place = body->from->inertial_place;
  Excerpt name = text_excerpt(link->name);
  bool good = inertia_is_positive_definite(link->inertia);
  bool is_urdf = !build->robot->has_drives;
  if (moves && is_urdf && inertia_is_zero(link)) { /* rounding decides whether 1e-20 kg m^2 is positive */
    replace_zero_inertia(build, place, link);
    return;
  }
  bool is_free = is_free_body(build->scene, index), must_be_possible = build->options->lenient || is_free;
  if (moves && is_urdf && (!good || (must_be_possible && !is_possible(link->inertia, is_free)))) {
    correct_inertia(build, place, link, is_free);
    return;
  }
  if (!good && !moves) { /* the inertia has no effect on a fixed link */
    link->has_mass = false;
    link->mass_model = MASS_VERTICES;
    diagnostics_add(build->diagnostics, SEVERITY_WARNING, place,
                    "the inertia of link '%s' is not positive definite: the mass is ignored, because the link does not "
                    "move; correct the inertia",
                    name.text);
  } else if (!good)
    diagnostics_add(build->diagnostics, SEVERITY_ERROR, place,
                    "the inertia of link '%s' must be positive definite: correct the inertia%s", name.text,
                    link->shape_count > 0 ? ", or compute the inertia from the shapes by --mass-model uniform" : "");
  else if (!inertia_is_physical(link->inertia))
    diagnostics_add(build->diagnostics, SEVERITY_WARNING, place,
                    "no physical body can have the inertia of link '%s', because a principal moment exceeds the sum of "
                    "the other two: correct the inertia",
                    name.text);
}

/* ---------------------------------------------------------------- initial joint coordinates */

static const RobotStart* find_start(const UrdfBuild* build, const char* joint) {
  for (int i = build->options->start_count - 1; i >= 0; i--)
    if (strcmp(build->options->starts[i].joint, joint) == 0) return &build->options->starts[i];
  return NULL;
}

static SceneInitial* find_or_add_initial(UrdfBuild* build, int link) {
  Scene* scene = build->scene;
  for (int i = 0; i < scene->initial_count; i++)
    if (scene->initials[i].link == link) return &scene->initials[i];
  SceneInitial* initial = &scene->initials[scene->initial_count++];
  *initial = (SceneInitial){.place = scene->links[link].joint.place, .link = link};
  return initial;
}

static void check_starts(UrdfBuild* build) {
  const RobotReport* report = build->report;
  for (int i = 0; i < build->options->start_count; i++) {
    const char* name = build->options->starts[i].joint;
    bool found = false;
    for (int k = 0; k < report->joint_count && !found; k++) found = strcmp(report->joints[k].name, name) == 0;
    if (found) continue;
    const char** names = MEMORY_NEW(const char*, report->joint_count + 1);
    for (int k = 0; k < report->joint_count; k++) names[k] = report->joints[k].name;
    const char* nearest = text_nearest(name, names, report->joint_count);
    memory_free(names);
    diagnostics_add(build->diagnostics, SEVERITY_ERROR, (SourcePosition){build->scene->path, 0, 0},
                    "--start: no joint with a coordinate is named '%s'%s", text_excerpt(name).text,
                    text_suggestion(nearest).text);
  }
}

static const RobotJointPlace* find_joint_place(const UrdfBuild* build, const char* joint) {
  for (int k = 0; k < build->report->joint_count; k++)
    if (strcmp(build->report->joints[k].name, joint) == 0) return &build->report->joints[k];
  return NULL;
}

static const UrdfJoint* find_joint(const UrdfBuild* build, const char* name) {
  for (int k = 0; k < build->robot->joint_count; k++)
    if (strcmp(build->robot->joints[k].name, name) == 0) return &build->robot->joints[k];
  return NULL;
}

/* Returns true if the coordinate can be coupled: it is not one of three rotations. */
static bool can_be_coupled(const UrdfBuild* build, const RobotJointPlace* place) {
  return place && place->dof < scene_joint(&build->scene->links[place->link].joint).scalar_count;
}

typedef struct {
  double low, high;
} FreeRange;

/* Returns the range of a joint coordinate in which no limit force acts. */
static FreeRange find_free_range(const UrdfBuild* build, const RobotJointPlace* place) {
  const SceneJoint* joint = &build->scene->links[place->link].joint;
  return (FreeRange){joint->lower[place->dof] + joint->limit_margin, joint->upper[place->dof] - joint->limit_margin};
}

/* Narrows the range of a joint so that a follower (mimic) stays in its own range `follower_range`. */
static void narrow_range(FreeRange* range, const UrdfJoint* follower, FreeRange follower_range) {
  assert(range->low <= range->high);
  if (follower->ratio == 0) return;
  double a = (follower_range.low - follower->offset) / follower->ratio,
         b = (follower_range.high - follower->offset) / follower->ratio;
  range->low = fmax(range->low, fmin(a, b));
  range->high = fmin(range->high, fmax(a, b));
}

/* Returns true if there is a position within the limits of a joint and of the joint that it follows. */
static bool can_satisfy_mimic(const UrdfBuild* build, const UrdfJoint* joint) {
  FreeRange range = find_free_range(build, find_joint_place(build, joint->mimic));
  FreeRange follower_range = find_free_range(build, find_joint_place(build, joint->name));
  narrow_range(&range, joint, follower_range);
  bool constant = joint->ratio == 0 && !(follower_range.low <= joint->offset && joint->offset <= follower_range.high);
  return range.low <= range.high && !constant;
}

/* Returns the reason why a joint cannot follow the joint that it names, or NULL. */
static const char* explain_mimic_failure(const UrdfBuild* build, const UrdfJoint* joint) {
  int steps = 0;
  if (!can_be_coupled(build, find_joint_place(build, joint->name)) ||
      !can_be_coupled(build, find_joint_place(build, joint->mimic)))
    return "one of the two joints cannot move";
  for (const UrdfJoint* at = joint; at && at->mimic; at = find_joint(build, at->mimic))
    if (steps++ > build->robot->joint_count) return "the joints mimic each other in a cycle";
  if (build->options->lenient && !can_satisfy_mimic(build, joint))
    return "no position is within the limits of both joints";
  return NULL;
}

/* Returns the range of a joint coordinate in which no limit force acts on the joint and its followers. */
static FreeRange find_start_range(const UrdfBuild* build, const RobotJointPlace* place) {
  FreeRange range = find_free_range(build, place);
  for (int k = 0; k < build->robot->joint_count; k++) {
    const UrdfJoint* other = &build->robot->joints[k];
    if (!other->mimic || strcmp(other->mimic, place->name) != 0 || explain_mimic_failure(build, other)) continue;
    narrow_range(&range, other, find_start_range(build, find_joint_place(build, other->name)));
  }
  return range;
}

/* Returns the initial coordinate of a joint: the given one, else that by the followed joint, else the admissible one
 * nearest to zero. */
static double find_start_coordinate(const UrdfBuild* build, const RobotJointPlace* place) {
  const RobotStart* start = find_start(build, place->name);
  const UrdfJoint* joint = find_joint(build, place->name);
  if (start) return start->value;
  if (joint && joint->mimic && !explain_mimic_failure(build, joint))
    return joint->ratio * find_start_coordinate(build, find_joint_place(build, joint->mimic)) + joint->offset;
  FreeRange range = find_start_range(build, place);
  return fmax(fmin(0, range.high), range.low);
}

static void add_coupling(UrdfBuild* build, const UrdfJoint* joint) {
  Scene* scene = build->scene;
  const RobotJointPlace *follower_place = find_joint_place(build, joint->name),
                        *leader_place = find_joint_place(build, joint->mimic);
  double wanted = joint->ratio * find_start_coordinate(build, leader_place) + joint->offset;
  if (!(fabs(find_start_coordinate(build, follower_place) - wanted) <= 1e-9 * (1 + fabs(wanted))))
    diagnostics_add(build->diagnostics, SEVERITY_ERROR, joint->place,
                    "joint '%s' mimics '%s' and must start at %.9g: change or remove the --start of the joint",
                    text_excerpt(joint->name).text, text_excerpt(joint->mimic).text, wanted);
  const SceneJoint *follower = &scene->links[follower_place->link].joint,
                   *leader = &scene->links[leader_place->link].joint;
  if (!(wanted > follower->lower[follower_place->dof] && wanted < follower->upper[follower_place->dof])) {
    diagnostics_add(
        build->diagnostics, SEVERITY_ERROR, joint->mimic_place,
        "<mimic>: joint '%s' must start at %.6g '%s' + %.6g = %.6g, outside of its limits %.6g and %.6g (limits of the "
        "other joint: %.6g and %.6g): correct multiplier, offset, <limit> or --start, or drop the <mimic> by --lenient",
        text_excerpt(joint->name).text, joint->ratio, text_excerpt(joint->mimic).text, joint->offset, wanted,
        follower->lower[follower_place->dof], follower->upper[follower_place->dof], leader->lower[leader_place->dof],
        leader->upper[leader_place->dof]);
    return;
  }
  if (!scene->couplings) scene->couplings = MEMORY_NEW(SceneCoupling, build->robot->joint_count);
  SceneCoupling* c = &scene->couplings[scene->coupling_count++];
  *c = (SceneCoupling){.place = joint->place, .terms = MEMORY_NEW(SceneCouplingTerm, 2), .count = 2};
  c->terms[0] = (SceneCouplingTerm){follower_place->link, follower_place->dof, 1};
  c->terms[1] = (SceneCouplingTerm){leader_place->link, leader_place->dof, joint->ratio};
}

static void add_couplings(UrdfBuild* build) {
  for (int k = 0; k < build->robot->joint_count; k++) {
    const UrdfJoint* joint = &build->robot->joints[k];
    const char* why = joint->mimic ? explain_mimic_failure(build, joint) : NULL;
    if (why)
      robot_remark(build->report, build->diagnostics, joint->mimic_place, "left out: <mimic> of joint '%s', because %s",
                   text_excerpt(joint->name).text, why);
    else if (joint->mimic)
      add_coupling(build, joint);
  }
}

static void set_starts(UrdfBuild* build) {
  Text moved = {0};
  check_starts(build);
  for (int k = 0; k < build->report->joint_count; k++) {
    const RobotJointPlace* place = &build->report->joints[k];
    const RobotStart* start = find_start(build, place->name);
    double value = find_start_coordinate(build, place);
    if (value == 0) continue;
    SceneInitial* initial = find_or_add_initial(build, place->link);
    initial->has_coordinates = true;
    initial->coordinates[place->dof] = value;
    if (start) continue;
    text_add(&moved, "%s%s ", moved.length > 0 ? ", " : "", text_excerpt(place->name).text);
    text_add_double(&moved, value);
  }
  robot_shorten_names(&moved);
  if (moved.length > 0)
    robot_remark(
        build->report, build->diagnostics, (SourcePosition){build->scene->path, 0, 0},
        "some joints cannot start at zero, which is outside of their limits or too close to a limit; they start at: %s",
        moved.data);
  text_free(&moved);
}

/* ---------------------------------------------------------------- unsupported features */

static void report_unsupported(UrdfBuild* build, const char* what, bool (*has)(const UrdfJoint*), const char* why) {
  const UrdfRobot* robot = build->robot;
  Text names = {0};
  int count = 0;
  for (int k = 0; k < robot->joint_count; k++) {
    if (!has(&robot->joints[k])) continue;
    text_add(&names, "%s%s", count++ > 0 ? ", " : "", text_excerpt(robot->joints[k].name).text);
  }
  robot_shorten_names(&names);
  if (count > 0)
    robot_remark(build->report, build->diagnostics, (SourcePosition){build->scene->path, 0, 0}, "left out: %s of %s%s",
                 what, names.data, why);
  text_free(&names);
}

static bool has_effort(const UrdfJoint* joint) { return joint->effort > 0; }
static bool has_safety(const UrdfJoint* joint) { return joint->has_safety; }

static void report_unsupported_features(UrdfBuild* build) {
  if (!(build->options->hold > 0) && !build->robot->has_drives)
    report_unsupported(build, "limits of effort", has_effort, ": no drive moves these joints (--hold adds drives)");
  report_unsupported(build, "safety_controller and calibration", has_safety, "");
  if (build->robot->ignored.length > 0)
    robot_remark(build->report, build->diagnostics, (SourcePosition){build->scene->path, 0, 0}, "elements left out: %s",
                 build->robot->ignored.data);
}

static void report_merged_links(UrdfBuild* build) {
  const UrdfRobot* robot = build->robot;
  const UrdfLink* first = NULL;
  Text names = {0};
  for (int n = 0; n < robot->link_count; n++) {
    const UrdfLink* link = &robot->links[robot->order[n]];
    int carrier = build->carrier[robot->order[n]];
    if (link->joint < 0) continue;
    const UrdfJoint* joint = &robot->joints[link->joint];
    if (joint->type != URDF_FIXED && build->has_no_content[robot->order[n]])
      robot_warn(build->report, build->diagnostics, joint->place,
                 "joint '%s' is imported as fixed, because neither link '%s' nor a link below has a mass or a shape: "
                 "give one of the links an <inertial>",
                 text_excerpt(joint->name).text, text_excerpt(link->name).text);
    if (joint->type != URDF_FIXED || carrier < 0) continue;
    const SceneLink* to = &build->scene->links[carrier];
    if (to->place.line == link->place.line && to->place.column == link->place.column) continue;
    text_add(&names, "%s'%s' of '%s'", first ? ", " : "", text_excerpt(link->name).text, text_excerpt(to->name).text);
    if (!first) first = link;
  }
  robot_shorten_names(&names);
  if (first)
    robot_remark(build->report, build->diagnostics, first->place,
                 "links on fixed joints are merged into their parents (--keep-fixed keeps all links): %s", names.data);
  text_free(&names);
}

/* Lists moving links of a URDF file whose shapes are all visual or left out. */
static void report_links_without_contact(UrdfBuild* build) {
  const UrdfRobot* robot = build->robot;
  const UrdfLink* first = NULL;
  Text names = {0};
  for (int n = 0; n < robot->link_count; n++) {
    const UrdfLink* link = &robot->links[robot->order[n]];
    int carrier = build->carrier[robot->order[n]];
    if (carrier < 0 || !build->moves[carrier] || build->scene->links[carrier].shape_count > 0) continue;
    if (!link->has_visual && link->collision.count == 0) continue;
    text_add(&names, "%s'%s'", first ? ", " : "", text_excerpt(link->name).text);
    if (!first) first = link;
  }
  robot_shorten_names(&names);
  if (first)
    robot_remark(build->report, build->diagnostics, first->place,
                 "links without a collision shape have no contact%s: %s",
                 build->options->visual ? "" : " (--visual takes their visual shapes)", names.data);
  text_free(&names);
}

/* ---------------------------------------------------------------- complete scene */

static void add_ground(UrdfBuild* build) {
  Scene* scene = build->scene;
  SourcePosition place = {scene->path, 1, 1};
  int target = add_link(build, "ground", place);
  SceneLink* ground = &scene->links[target];
  ground->fixed = true;
  scene->shapes = memory_grow_array(scene->shapes, sizeof(SceneShape), scene->shape_count, &build->shape_capacity);
  scene->shapes[scene->shape_count] = (SceneShape){
      .name = memory_copy_text("ground"), .place = place, .type = SHAPE_HALF_SPACE, .scale = 1, .normal = {0, 0, 1}};
  ground->shapes = MEMORY_NEW(SceneShapeUse, 1);
  ground->shapes[ground->shape_count++] = (SceneShapeUse){scene->shape_count++, place, {0, 0, 0}, {1, 0, 0, 0}};
}

static void exclude_robot(Scene* scene, int first_link) {
  SceneContact* contact = &scene->contact;
  for (int i = first_link; i < scene->link_count; i++) {
    scene->links[i].groups = MEMORY_NEW(char*, 1);
    scene->links[i].groups[scene->links[i].group_count++] = memory_copy_text(ROBOT_GROUP);
  }
  contact->exclude = memory_alloc(sizeof *contact->exclude);
  contact->exclude_place = MEMORY_NEW(SourcePosition, 1);
  contact->exclude[0][0] = memory_copy_text(ROBOT_GROUP);
  contact->exclude[0][1] = memory_copy_text(ROBOT_GROUP);
  contact->exclude_place[contact->exclude_count++] = (SourcePosition){scene->path, 1, 1};
}

static void find_empty_subtrees(UrdfBuild* build) {
  const UrdfRobot* robot = build->robot;
  if (robot->has_drives) return;
  for (int i = 0; i < robot->link_count; i++) build->has_no_content[i] = is_empty(build, &robot->links[i]);
  for (int n = robot->link_count - 1; n >= 0; n--) { /* children come after their parents */
    const UrdfLink* link = &robot->links[robot->order[n]];
    if (link->joint >= 0 && !build->has_no_content[robot->order[n]])
      build->has_no_content[robot->joints[link->joint].parent] = false;
  }
}

/* Adds the armature of each ball joint on the world to the inertia of its link about all axes. This is exact, because
 * MuJoCo's rotor has the kinetic energy armature/2 |w|^2 with the link's angular velocity w. Warns of ball joints with
 * armature between two moving links. */
static void add_ball_armatures(UrdfBuild* build) {
  const UrdfJoint* first = NULL;
  int count = 0;
  for (int k = 0; k < build->robot->joint_count; k++) {
    const UrdfJoint* joint = &build->robot->joints[k];
    if (joint->type != URDF_BALL || !(joint->armature > 0)) continue;
    int link = build->carrier[joint->child];
    if (build->scene->links[link].parent >= 0) {
      first = first ? first : joint;
      count++;
    } else if (build->body[link].mass > 0) {
      build->body[link].inertia = mat3_add(build->body[link].inertia, mat3_scale(mat3_identity(), joint->armature));
    }
  }
  if (count > 0)
    robot_warn(build->report, build->diagnostics, first->place,
               "the armature of %d ball joints between moving links is left out (first: '%s'), so the inertia is "
               "smaller than in MuJoCo: add the armature to the inertia of the links",
               count, text_excerpt(first->name).text);
}

static void build_links(UrdfBuild* build) {
  const UrdfRobot* robot = build->robot;
  for (int k = 0; k < robot->joint_count; k++) {
    build->children[robot->joints[k].parent]++;
    build->child_joint[robot->joints[k].parent] = k;
  }
  if (build->options->ground) add_ground(build);
  int first = build->scene->link_count;
  find_empty_subtrees(build);
  for (int n = 0; n < robot->link_count; n++) place_link(build, robot->order[n]);
  if (!robot->has_drives) urdf_add_shape_masses(build);
  for (int i = build->scene->link_count - 1; i >= first && !robot->has_drives; i--) assign_mass_share(build, i);
  add_ball_armatures(build);
  for (int i = first; i < build->scene->link_count; i++) compute_mass(build, i);
  report_links_without_contact(build);
  report_merged_links(build);
  report_unsupported_features(build);
  set_starts(build);
  add_couplings(build);
  if (build->options->no_self_collision) exclude_robot(build->scene, first);
}

bool urdf_scene(const UrdfRobot* robot, const RobotOptions* options, Scene* scene, RobotReport* report, int* carrier,
                UrdfPose* carrier_poses, Diagnostics* diagnostics) {
  int count = robot->link_count, errors_before = diagnostics->error_count;
  UrdfBuild build = {.robot = robot, .options = options, .scene = scene, .report = report, .diagnostics = diagnostics};
  build.carrier = MEMORY_NEW(int, count + 1);
  build.pose = MEMORY_NEW(UrdfPose, count + 1);
  build.children = MEMORY_NEW(int, count + 1);
  build.child_joint = MEMORY_NEW(int, count + 1);
  build.has_no_content = MEMORY_NEW(bool, count + 1);
  build.deferred = MEMORY_NEW(bool, count + 1);
  build.shape_first = MEMORY_NEW(int, count + 1);
  build.shape_number = MEMORY_NEW(int, count + 1);
  build.body = MEMORY_NEW(UrdfBody, count + 2);
  build.moves = MEMORY_NEW(bool, count + 2);
  build.link_shape_capacity = MEMORY_NEW(int, count + 2);
  scene->links = MEMORY_NEW(SceneLink, count + 2); /* the ground may be one more link */
  scene->initials = MEMORY_NEW(SceneInitial, count + 2);
  report->joints = MEMORY_NEW(RobotJointPlace, robot->joint_count + 1);
  urdf_load_shape_defaults(&build);
  build_links(&build);
  for (int i = 0; carrier && i < count; i++) carrier[i] = build.carrier[i];
  for (int i = 0; carrier_poses && i < count; i++) carrier_poses[i] = build.pose[i];
  scene_free(&build.defaults);
  names_free(&build.names);
  memory_free(build.carrier);
  memory_free(build.pose);
  memory_free(build.children);
  memory_free(build.child_joint);
  memory_free(build.has_no_content);
  memory_free(build.deferred);
  memory_free(build.shape_first);
  memory_free(build.shape_number);
  memory_free(build.body);
  memory_free(build.moves);
  memory_free(build.link_shape_capacity);
  memory_free(build.mesh_sources);
  memory_free(build.mesh_shapes);
  return diagnostics->error_count == errors_before;
}
