/* Imports MuJoCo's bodies and joints as links and joints of urdf.h. The frame of a link is at the anchor of its joint,
 * so body frames are moved to the anchor. A body with several joints becomes a chain of links, one per joint. */
#include <assert.h>
#include <string.h>

#include "robot/mjcf.h"

enum { JOINTS_MAX = 6 };
/* Fraction of a body's mass and inertia that each link between its joints gets, because a moving link needs mass. Does
 * not apply if the joints become one joint. */
#define INTERMEDIATE_MASS_SHARE 0.01

/* A <body> element with its joints, while it is read. */
typedef struct {
  MjcfElement element;
  UrdfPose frame; /* pose of the body in its parent's frame */
  const XmlElement* inertial;
  MjcfElement joints[JOINTS_MAX];
  UrdfPose joint_frame[JOINTS_MAX]; /* pose of the <frame> elements around each joint in the body's frame */
  int joint_count;
} Body;

static UrdfPose translation(Vec3 position) { return (UrdfPose){position, {1, 0, 0, 0}}; }

/* ---------------------------------------------------------------- elements of a body */

static const char* inner_class(const XmlElement* element, const char* outside) {
  const XmlAttribute* given = xml_attribute(element, "childclass");
  return given ? given->value : outside;
}

/* Callback for an element of a body or of a <frame> in it. frame: pose of the enclosing <frame> in the body's frame. */
typedef void (*Visitor)(MjcfModel* model, MjcfElement element, UrdfPose frame, void* context);

static void visit_elements(MjcfModel* model, MjcfElement container, UrdfPose frame, const char* names, Visitor visitor,
                           void* context) {
  for (const XmlElement* child = container.element->first; child; child = child->next) {
    MjcfElement element = {child, container.class_name};
    if (words_index(names, child->name) >= 0) visitor(model, element, frame, context);
    if (strcmp(child->name, "frame") != 0) continue;
    MjcfElement children = {child, inner_class(child, container.class_name)};
    visit_elements(model, children, urdf_pose_mul(frame, mjcf_pose(model, element)), names, visitor, context);
  }
}

static void visit_joint(MjcfModel* model, MjcfElement element, UrdfPose frame, void* context) {
  Body* body = context;
  if (body->joint_count == JOINTS_MAX) {
    mjcf_error(model, element.element->place,
               "a body has at most %d joints: remove joints, or give some of them to a new parent body", JOINTS_MAX);
    return;
  }
  body->joint_frame[body->joint_count] = frame;
  body->joints[body->joint_count++] = element;
}

static void visit_inertial(MjcfModel* model, MjcfElement element, UrdfPose frame, void* context) {
  Body* body = context;
  (void)model, (void)frame;
  body->inertial = element.element;
}

static void visit_site(MjcfModel* model, MjcfElement element, UrdfPose frame, void* context) {
  const int* link = context;
  const char* name = mjcf_text(model, element, "name");
  UrdfPose pose = urdf_pose_mul(frame, mjcf_pose(model, element));
  if (!*name) return;
  if (!names_add(&model->site_names, name, model->site_count)) {
    mjcf_error(model, element.element->place, "another site has the name '%s' too: rename one of the sites",
               text_excerpt(name).text);
    return;
  }
  model->sites = memory_grow_array(model->sites, sizeof(MjcfSite), model->site_count, &model->site_capacity);
  model->sites[model->site_count++] = (MjcfSite){*link, pose};
}

/* ---------------------------------------------------------------- links and joints */

static int add_link(MjcfModel* model, const char* name, SourcePosition place) {
  UrdfRobot* robot = &model->robot;
  robot->links = memory_grow_array(robot->links, sizeof(UrdfLink), robot->link_count, &robot->link_capacity);
  robot->links[robot->link_count] =
      (UrdfLink){.name = name, .place = place, .inertial_place = place, .joint = -1, .color = {-1, -1, -1}};
  model->anchors = memory_grow_array(model->anchors, sizeof(Vec3), robot->link_count, &model->anchor_capacity);
  return robot->link_count++;
}

static UrdfJoint* add_joint(MjcfModel* model, const char* name, SourcePosition place, int parent, int child) {
  UrdfRobot* robot = &model->robot;
  robot->joints = memory_grow_array(robot->joints, sizeof(UrdfJoint), robot->joint_count, &robot->joint_capacity);
  UrdfJoint* joint = &robot->joints[robot->joint_count];
  *joint = (UrdfJoint){.name = name, .place = place, .parent = parent, .child = child, .axis = {0, 0, 1}};
  joint->lower = -HUGE_VAL;
  joint->upper = HUGE_VAL;
  joint->start[0] = 1;
  robot->links[child].joint = robot->joint_count++;
  return joint;
}

/* ---------------------------------------------------------------- a joint */

static bool is_limited(MjcfModel* model, MjcfElement element, bool has_range) {
  int flag = mjcf_flag(model, element, "limited");
  return flag >= 0 ? flag == 1 : has_range && mjcf_compiler(model, element.element->place)->auto_limits;
}

static void read_limits(MjcfModel* model, MjcfElement element, UrdfJoint* joint, double reference) {
  double range[2] = {0, 0};
  bool turns = joint->type != URDF_PRISMATIC;
  bool has_range = mjcf_numbers(model, element, "range", 2, 2, range) > 0;
  if (!is_limited(model, element, has_range)) return;
  for (int k = 0; k < 2; k++) range[k] = turns ? mjcf_angle(model, element.element->place, range[k]) : range[k];
  if (!has_range || !(range[0] < range[1])) {
    mjcf_error(model, element.element->place, "range of joint '%s': the lower limit must be below the upper limit",
               text_excerpt(joint->name).text);
    return;
  }
  if (joint->type == URDF_BALL) {
    joint->upper = fmin(range[1], 3.14159265358979324);
    return;
  }
  joint->lower = range[0] - reference;
  joint->upper = range[1] - reference;
}

/* Reads the limit on the total force of a joint's actuators (actuatorfrcrange). */
static void read_effort(MjcfModel* model, MjcfElement element, UrdfJoint* joint) {
  double range[2] = {0, 0};
  bool given = mjcf_numbers(model, element, "actuatorfrcrange", 2, 2, range) > 0;
  int flag = mjcf_flag(model, element, "actuatorfrclimited");
  bool limits = flag >= 0 ? flag == 1 : given && mjcf_compiler(model, element.element->place)->auto_limits;
  if (!limits || !(range[0] < range[1])) return;
  joint->effort = fmax(fabs(range[0]), fabs(range[1]));
  if (range[0] != -range[1])
    mjcf_report_dropped(model, "actuatorfrcrange that is not symmetric (the larger end counts for both)");
}

static double read_nonnegative(MjcfModel* model, MjcfElement element, const char* name) {
  double value = mjcf_number(model, element, name, 0);
  if (value >= 0) return value;
  mjcf_error(model, element.element->place, "%s of <joint> must be >= 0, got %.10g", name, value);
  return 0;
}

static void read_passive(MjcfModel* model, MjcfElement element, UrdfJoint* joint, double reference) {
  double rest = mjcf_number(model, element, "springref", 0);
  joint->damping = read_nonnegative(model, element, "damping");
  joint->stiffness = read_nonnegative(model, element, "stiffness");
  joint->armature = read_nonnegative(model, element, "armature");
  if (joint->type == URDF_BALL) {
    if (read_nonnegative(model, element, "frictionloss") > 0) mjcf_report_lost_force(model, "frictionloss of balls");
    return;
  }
  joint->friction = read_nonnegative(model, element, "frictionloss");
  if (joint->stiffness > 0)
    joint->rest = (joint->type == URDF_PRISMATIC ? rest : mjcf_angle(model, element.element->place, rest)) - reference;
}

static UrdfJointType read_joint_type(MjcfModel* model, MjcfElement element) {
  static const UrdfJointType TYPES[] = {URDF_FLOATING, URDF_BALL, URDF_PRISMATIC, URDF_CONTINUOUS};
  const char* word = mjcf_text(model, element, "type");
  if (strcmp(element.element->name, "freejoint") == 0) return URDF_FLOATING;
  int index = words_index("free|ball|slide|hinge", *word ? word : "hinge");
  if (index >= 0) return TYPES[index];
  mjcf_error(model, element.element->place, "the type of a joint must be free, ball, slide or hinge, got '%s'",
             text_excerpt(word).text);
  return URDF_CONTINUOUS;
}

static void add_coordinate(MjcfModel* model, int joint, const char* name, double reference) {
  model->coordinates = memory_grow_array(model->coordinates, sizeof(MjcfCoordinate), model->coordinate_count,
                                         &model->coordinate_capacity);
  model->coordinates[model->coordinate_count++] =
      (MjcfCoordinate){.joint = joint, .name = name, .reference = reference, .start = {1, 0, 0, 0}};
}

/* Returns the position of a joint's anchor in the body's frame [m], zero for a free joint. A slide joint has no
 * particular anchor: it gets that of the next joint, so that both can become one joint. */
static Vec3 find_anchor(MjcfModel* model, const Body* body, int index) {
  assert(index >= 0 && index < body->joint_count);
  double position[3] = {0};
  while (index + 1 < body->joint_count && read_joint_type(model, body->joints[index]) == URDF_PRISMATIC) index++;
  if (read_joint_type(model, body->joints[index]) == URDF_FLOATING) return vec3(0, 0, 0);
  mjcf_numbers(model, body->joints[index], "pos", 3, 3, position);
  return urdf_pose_mul(body->joint_frame[index], translation(vec3(position[0], position[1], position[2]))).position;
}

static const char* joint_name(MjcfModel* model, const Body* body, int index, const char* link) {
  const XmlAttribute* name = xml_attribute(body->joints[index].element, "name");
  if (name && *name->value) return name->value;
  Text text = {0};
  text_add(&text, body->joint_count > 1 ? "%s_joint%d" : "%s_joint", link, index);
  while (names_find(&model->joint_names, text.data) >= 0) text_add(&text, "_");
  const char* made = mjcf_own_text(model, &text);
  names_add(&model->joint_names, made, 0);
  return made;
}

/* Adds joint `index` of the body to the robot, from link `parent` to link `child`. */
static void add_body_joint(MjcfModel* model, const Body* body, int index, int parent, int child, UrdfPose origin) {
  assert(index >= 0 && index < body->joint_count);
  MjcfElement element = body->joints[index];
  const char* name = joint_name(model, body, index, model->robot.links[child].name);
  UrdfJoint* joint = add_joint(model, name, element.element->place, parent, child);
  double axis[3] = {0, 0, 1}, reference = 0;
  joint->type = read_joint_type(model, element);
  joint->origin = origin;
  mjcf_numbers(model, element, "axis", 3, 3, axis);
  Vec3 unit = unit_vector(vec3(axis[0], axis[1], axis[2]));
  bool single = joint->type == URDF_PRISMATIC || joint->type == URDF_CONTINUOUS;
  if (single && !(vec3_norm(unit) > 0))
    mjcf_error(model, element.element->place, "the axis of joint '%s' must have a length other than zero",
               text_excerpt(name).text);
  else if (single)
    joint->axis = mat3_mul_vec(mat3_from_quat(body->joint_frame[index].rotation), unit);
  if (single) reference = mjcf_number(model, element, "ref", 0);
  if (joint->type == URDF_CONTINUOUS) reference = mjcf_angle(model, element.element->place, reference);
  add_coordinate(model, model->robot.joint_count - 1, xml_attribute(element.element, "name") ? name : "", reference);
  if (joint->type == URDF_FLOATING) {
    joint->damping = read_nonnegative(model, element, "damping");
    joint->armature = read_nonnegative(model, element, "armature");
    if (read_nonnegative(model, element, "frictionloss") > 0)
      mjcf_report_lost_force(model, "frictionloss of free joints");
    return;
  }
  read_limits(model, element, joint, reference);
  if (single) read_effort(model, element, joint);
  read_passive(model, element, joint, reference);
}

/* ---------------------------------------------------------------- the body */

typedef struct {
  int link;
  Vec3 anchor; /* origin of the link's frame in the body's frame [m] */
  MassMoment* moment;
} GeomTarget;

static void visit_geom(MjcfModel* model, MjcfElement element, UrdfPose frame, void* context) {
  const GeomTarget* target = context;
  UrdfPose seen = urdf_pose_mul(translation(vec3_scale(target->anchor, -1)), frame);
  mjcf_read_geom(model, element, target->link, seen, target->moment);
}

static const char* body_name(MjcfModel* model, const XmlElement* element) {
  const XmlAttribute* name = xml_attribute(element, "name");
  Text text = {0};
  if (name && *name->value) return name->value;
  int number = model->robot.link_count;
  do {
    text.length = 0;
    text_add(&text, "body%d", number++);
  } while (names_find(&model->bodies, text.data) >= 0 || names_find(&model->written_bodies, text.data) >= 0);
  return mjcf_own_text(model, &text);
}

/* Assigns a fraction of a body's mass to each link between its joints, unless the joints become one joint. */
static void split_mass(MjcfModel* model, int first, int last) {
  assert(first >= 0 && first <= last && last < model->robot.link_count);
  UrdfRobot* robot = &model->robot;
  UrdfLink* body = &robot->links[last];
  const UrdfJoint* chain[JOINTS_MAX];
  int count = 0;
  bool together = true;
  for (int k = first; k <= last; k++) {
    chain[count] = &robot->joints[robot->links[k].joint];
    Vec3 offset = chain[count]->origin.position;
    bool single = chain[count]->type == URDF_PRISMATIC || chain[count]->type == URDF_CONTINUOUS;
    together = together && single && (k == first || vec3_norm(offset) == 0);
    count++;
  }
  if (count < 2 || (together && urdf_is_one_joint(chain, count)) || !(body->mass > 0)) return;
  for (int k = first; k < last; k++) {
    UrdfLink* between = &robot->links[k];
    Vec3 ahead =
        vec3(0, 0, 0); /* vector from the origin of the present link's frame to that of the last link's frame [m] */
    for (int n = k + 1; n <= last; n++) ahead = vec3_add(ahead, robot->joints[robot->links[n].joint].origin.position);
    between->mass = INTERMEDIATE_MASS_SHARE * body->mass;
    between->inertia = mat3_scale(body->inertia, INTERMEDIATE_MASS_SHARE);
    between->center = vec3_add(body->center, ahead);
  }
  double left = 1 - INTERMEDIATE_MASS_SHARE * (last - first);
  body->mass *= left;
  body->inertia = mat3_scale(body->inertia, left);
  robot_remark(
      model->report, model->diagnostics, body->place,
      "the joints of body '%s' are imported as a chain: each link between two joints gets 1 %% of the mass of the body",
      text_excerpt(body->name).text);
}

/* Returns true if the joints of a body form a free joint: slides along x, y, z and a ball. `sdrs export` writes free
 * joints with forces in this form. */
static bool is_composite_free_joint(MjcfModel* model, const Body* body) {
  if (body->joint_count != 4 || read_joint_type(model, body->joints[3]) != URDF_BALL) return false;
  if (vec3_norm(find_anchor(model, body, 3)) != 0) return false;
  for (int k = 0; k < 3; k++) {
    double axis[3] = {0, 0, 1};
    mjcf_numbers(model, body->joints[k], "axis", 3, 3, axis);
    bool turned = body->joint_frame[k].rotation.w != 1;
    if (read_joint_type(model, body->joints[k]) != URDF_PRISMATIC || turned) return false;
    for (int i = 0; i < 3; i++)
      if (axis[i] != (i == k)) return false;
  }
  return true;
}

static int add_free_body(MjcfModel* model, const Body* body, int parent, UrdfPose origin, const char* name) {
  int link = add_link(model, name, body->element.element->place);
  UrdfJoint* joint = add_joint(model, joint_name(model, body, 3, name), body->joints[3].element->place, parent, link);
  joint->type = URDF_FLOATING;
  joint->origin = origin;
  add_coordinate(model, model->robot.joint_count - 1, "", 0);
  model->coordinates[model->coordinate_count - 1].relative = true;
  for (int k = 0; k < 4; k++)
    if (*mjcf_text(model, body->joints[k], "damping") || *mjcf_text(model, body->joints[k], "stiffness") ||
        mjcf_number(model, body->joints[k], "armature", 0) > 0)
      mjcf_report_lost_force(model, "damping, springs and armature of free joints");
  return link;
}

/* Adds the links of a body, one per joint, and returns the last link, which has the body's mass and shapes. Sets
 * *anchor to the origin of its frame in the body's frame [m]. */
static int add_body_links(MjcfModel* model, const Body* body, int parent, Vec3 parent_anchor, const char* name,
                          Vec3* anchor) {
  UrdfPose origin = urdf_pose_mul(translation(vec3_scale(parent_anchor, -1)), body->frame);
  SourcePosition place = body->element.element->place;
  *anchor = vec3(0, 0, 0);
  if (body->joint_count == 0) {
    int link = add_link(model, name, place);
    UrdfJoint* joint = add_joint(model, name, place, parent, link);
    joint->type = URDF_FIXED;
    joint->origin = origin;
    return link;
  }
  if (is_composite_free_joint(model, body)) return add_free_body(model, body, parent, origin, name);
  for (int k = 0; k < body->joint_count; k++) {
    Text between = {0};
    Vec3 here = find_anchor(model, body, k);
    bool last = k + 1 == body->joint_count;
    if (!last) text_add(&between, "%s_between%d", name, k);
    int link = add_link(model, last ? name : mjcf_own_text(model, &between), place);
    UrdfPose step = k == 0 ? urdf_pose_mul(origin, translation(here)) : translation(vec3_sub(here, *anchor));
    add_body_joint(model, body, k, parent, link, step);
    *anchor = here;
    parent = link;
  }
  return parent;
}

typedef struct {
  int link;
  Vec3 anchor;
} BodyParent;

typedef struct {
  int link, before; /* indices in robot->links */
} Segment;

static void visit_elasticity(MjcfModel* model, MjcfElement element, UrdfPose frame, void* context) {
  (void)frame;
  const Segment* segment = context;
  double stiffness[3] = {0}, rest[3] = {0};
  mjcf_numbers(model, element, "stiffness", 3, 3, stiffness);
  mjcf_numbers(model, element, "rest", 3, 3, rest);
  model->elasticities = memory_grow_array(model->elasticities, sizeof *model->elasticities, model->elasticity_count,
                                          &model->elasticity_capacity);
  model->elasticities[model->elasticity_count++] =
      (MjcfElasticity){element.element->place, segment->link, segment->before, vec3_at(stiffness), vec3_at(rest)};
}

static void read_children(MjcfModel* model, MjcfElement children, const Body* body, int link, Vec3 anchor) {
  UrdfPose none = translation(vec3(0, 0, 0)), shifted = translation(vec3_scale(anchor, -1));
  MassMoment moment = mass_moment_zero();
  int mode = mjcf_compiler(model, children.element->place)->from_geoms;
  bool from_geoms = link > 0 && (mode == 1 || (mode < 0 && !body->inertial));
  GeomTarget target = {link, anchor, from_geoms ? &moment : NULL};
  visit_elements(model, children, none, "geom", visit_geom, &target);
  if (link > 0)
    mjcf_set_body_mass(model, children.element, from_geoms ? NULL : body->inertial, from_geoms ? &moment : NULL,
                       shifted, &model->robot.links[link]);
  model->anchors[link] = anchor;
  visit_elements(model, children, none, "site", visit_site, &link);
}

static void read_body(MjcfModel* model, MjcfElement element, UrdfPose frame, void* context) {
  const BodyParent* parent = context;
  Body body = {.element = element, .frame = urdf_pose_mul(frame, mjcf_pose(model, element))};
  MjcfElement children = {element.element, inner_class(element.element, element.class_name)};
  const char* name = body_name(model, element.element);
  if (model->robot.link_count + JOINTS_MAX > LINK_MAX) {
    if (model->robot.link_count < LINK_MAX)
      mjcf_error(model, element.element->place, "the model has more than %d links: remove bodies or joints", LINK_MAX);
    return;
  }
  visit_elements(model, children, translation(vec3(0, 0, 0)), "joint|freejoint", visit_joint, &body);
  visit_elements(model, children, translation(vec3(0, 0, 0)), "inertial", visit_inertial, &body);
  int first = model->robot.link_count;
  Vec3 anchor;
  int link = add_body_links(model, &body, parent->link, parent->anchor, name, &anchor);
  if (!names_add(&model->bodies, name, link))
    mjcf_error(model, element.element->place, "another body has the name '%s' too: rename one of the bodies",
               text_excerpt(name).text);
  model->robot.links[link].gravity_compensation = mjcf_number(model, (MjcfElement){element.element, ""}, "gravcomp", 0);
  if (*mjcf_text(model, (MjcfElement){element.element, ""}, "mocap"))
    mjcf_report_dropped(model, "mocap (the body stands still)");
  read_children(model, children, &body, link, anchor);
  if (link > first) split_mass(model, first, link);
  Segment segment = {link, parent->link};
  visit_elements(model, children, translation(vec3(0, 0, 0)), MJCF_ELASTICITY, visit_elasticity, &segment);
  BodyParent child_parent = {link, anchor};
  visit_elements(model, children, translation(vec3(0, 0, 0)), "body", read_body, &child_parent);
}

static void read_world(MjcfModel* model, const XmlElement* world) {
  MjcfElement children = {world, inner_class(world, "")};
  Body none = {.element = children};
  BodyParent child_parent = {0, {0, 0, 0}};
  read_children(model, children, &none, 0, vec3(0, 0, 0));
  visit_elements(model, children, translation(vec3(0, 0, 0)), "body", read_body, &child_parent);
}

/* Collects the name of a joint. Reports a name that occurs twice. */
static void collect_joint_name(MjcfModel* model, const XmlElement* joint) {
  const XmlAttribute* name = xml_attribute(joint, "name");
  if (name && *name->value && !names_add(&model->joint_names, name->value, 0))
    mjcf_error(model, name->place, "another joint has the name '%s' too: rename one of the joints",
               text_excerpt(name->value).text);
  if (joint->parent && strcmp(joint->parent->name, "worldbody") == 0)
    mjcf_error(model, joint->place, "the world cannot have joints: move <%s> into a <body>", joint->name);
}

/* Collects the names of bodies and joints below an element. Made names differ from them. */
static void collect_names(MjcfModel* model, const XmlElement* element) {
  for (const XmlElement* child = element->first; child; child = child->next) {
    bool is_body = strcmp(child->name, "body") == 0;
    const XmlAttribute* name = is_body ? xml_attribute(child, "name") : NULL;
    if (name && *name->value) names_add(&model->written_bodies, name->value, 0);
    if (words_index("joint|freejoint", child->name) >= 0) collect_joint_name(model, child);
    if (is_body || strcmp(child->name, "frame") == 0) collect_names(model, child);
  }
}

bool mjcf_read_bodies(MjcfModel* model) {
  int before = model->diagnostics->error_count;
  UrdfRobot* robot = &model->robot;
  const XmlAttribute* name = xml_attribute(model->root, "model");
  robot->name = name ? name->value : "";
  robot->has_drives = true;
  mjcf_find_pairs(model);
  robot->root = add_link(model, "ground", model->root->place);
  for (const XmlElement* world = xml_child(model->root, "worldbody"); world; world = xml_next(world))
    collect_names(model, world);
  for (const XmlElement* world = xml_child(model->root, "worldbody"); world; world = xml_next(world))
    read_world(model, world);
  if (robot->link_count < 2 && robot->links[0].collision.count == 0)
    mjcf_error(model, model->root->place, "<worldbody> has no body: add a <body>");
  robot->order = MEMORY_NEW(int, robot->link_count + 1);
  for (int i = 0; i < robot->link_count; i++) robot->order[i] = i; /* each link comes after its parent */
  return model->diagnostics->error_count == before;
}
