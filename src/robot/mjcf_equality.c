/* Imports equality constraints. MuJoCo's soft constraints become exact closures or couplings. Their constants follow
 * from MuJoCo's reference configuration, in which the file describes the bodies. Then the initial state is changed to
 * satisfy all constraints. */
#include <assert.h>
#include <string.h>

#include "robot/mjcf_equality.h"

/* Constraints with a larger remaining error [m, rad] count as unsatisfiable. */
#define ERROR_MAX 1e-8

/* State of reading the equality constraints, with poses in the reference configuration. */
typedef struct {
  MjcfModel* model;
  Scene* scene;
  const int* carrier;        /* for each robot link, the scene link that contains it */
  UrdfPose* reference_poses; /* world poses of the robot's links */
  Pose* poses;               /* world poses of the scene's links */
  Equalities found;
} EqualityReading;

/* ---------------------------------------------------------------- the reference */

void mjcf_reference_poses(const MjcfModel* model, UrdfPose* drawn) {
  const UrdfRobot* robot = &model->robot;
  for (int i = 0; i < robot->link_count; i++) {
    int joint = robot->links[i].joint;
    drawn[i] = (UrdfPose){{0, 0, 0}, {1, 0, 0, 0}};
    if (joint >= 0) drawn[i] = urdf_pose_mul(drawn[robot->joints[joint].parent], robot->joints[joint].origin);
  }
}

/* Sets r->poses to the poses of the scene's links in the reference configuration. All joint coordinates are zero, and
 * ball joints have no rotation. Free bodies have their initial poses. */
static void compute_reference_poses(EqualityReading* r, const Model* model) {
  double* q = MEMORY_NEW(double, model->coordinate_count + 1);
  memcpy(q, model->initial_coordinates, sizeof(double) * (size_t)model->coordinate_count);
  for (int i = 0; i < model->link_count; i++) {
    const ModelLink* link = &model->links[i];
    if (link->tree < 0 || joint_is_floating(&link->joint)) continue;
    memset(q + link->coordinate_first, 0, sizeof(double) * (size_t)link->joint.coordinate_count);
    if (link->joint.quaternion) q[link->coordinate_first + link->joint.scalar_count] = 1;
  }
  model_poses(model, q, r->poses);
  memory_free(q);
}

static Pose to_pose(UrdfPose pose) { return (Pose){mat3_from_quat(pose.rotation), pose.position}; }

/* Attaches end number `side`, 0 or 1, of a closure to the scene link that carries a body, or to the world. body: robot
 * link; 0 or negative for the world. place: world pose of the end. */
static void set_end(const EqualityReading* r, EqualityClosure* e, int side, int body, Pose place) {
  assert(side == 0 || side == 1);
  int link = body > 0 ? r->carrier[body] : -1;
  e->link[side] = link;
  e->end[side] = link < 0 ? place : pose_mul(pose_inverse(r->poses[link]), place);
}

static bool nearly_equal(double a, double b) { return fabs(a - b) <= 1e-12; }

static bool is_fixed(const EqualityReading* r, int link) { return link < 0 || r->scene->links[link].fixed; }

static void add_closure(EqualityReading* r, EqualityClosure e) {
  if (is_fixed(r, e.link[0])) { /* the world must be the second end */
    int link = e.link[0];
    Pose end = e.end[0];
    e.link[0] = e.link[1];
    e.end[0] = e.end[1];
    e.link[1] = link;
    e.end[1] = end;
  }
  if (is_fixed(r, e.link[0]) || e.link[0] == e.link[1]) return;
  Equalities* found = &r->found;
  found->closures =
      memory_grow_array(found->closures, sizeof(EqualityClosure), found->closure_count, &found->closure_capacity);
  found->closures[found->closure_count++] = e;
}

/* ---------------------------------------------------------------- bodies */

/* Returns the robot link of the body that a <connect> or <weld> names by the attribute `key`. Returns 0 for the world
 * and -1 after an error. optional: an absent attribute means the world. */
static int find_body(EqualityReading* r, const XmlElement* item, const char* key, bool optional) {
  const XmlAttribute* name = xml_attribute(item, key);
  if ((!name && optional) || (name && strcmp(name->value, "world") == 0)) return 0;
  int body = name ? names_find(&r->model->bodies, name->value) : -1;
  if (body < 0)
    mjcf_error(r->model, name ? name->place : item->place, "<%s>: %s: no body is named '%s'%s", item->name, key,
               name ? text_excerpt(name->value).text : "", mjcf_missing_body_hint(r->model));
  return body;
}

UrdfPose mjcf_body_frame(const MjcfModel* model, const UrdfPose* drawn, int body) {
  assert(body >= 0 && body < model->robot.link_count);
  UrdfPose back = {vec3_scale(model->anchors[body], -1), {1, 0, 0, 0}};
  return urdf_pose_mul(drawn[body], back);
}

static Pose body_frame(const EqualityReading* r, int body) {
  return to_pose(mjcf_body_frame(r->model, r->reference_poses, body));
}

static void read_connect(EqualityReading* r, const XmlElement* item) {
  int a = find_body(r, item, "body1", false), b = find_body(r, item, "body2", true);
  double anchor[3] = {0};
  if (a < 0 || b < 0) return;
  mjcf_numbers(r->model, (MjcfElement){item, ""}, "anchor", 3, 3, anchor);
  Pose frame = body_frame(r, a);
  frame.t = pose_apply(frame, vec3(anchor[0], anchor[1], anchor[2]));
  EqualityClosure e = {.place = item->place, .type = CLOSURE_BALL};
  set_end(r, &e, 0, a, frame);
  set_end(r, &e, 1, b, frame);
  add_closure(r, e);
}

/* Reads a <weld>. relpose is the pose of body2 in the frame of body1; the default is the relative pose in the reference
 * configuration. */
static void read_weld(EqualityReading* r, const XmlElement* item) {
  int a = find_body(r, item, "body1", false), b = find_body(r, item, "body2", true);
  double relative[7] = {0};
  if (a < 0 || b < 0) return;
  int given = mjcf_numbers(r->model, (MjcfElement){item, ""}, "relpose", 7, 7, relative);
  Pose first = body_frame(r, a), second = body_frame(r, b), wanted = second;
  Quat turn = {relative[3], relative[4], relative[5], relative[6]};
  double length = sqrt(turn.w * turn.w + turn.x * turn.x + turn.y * turn.y + turn.z * turn.z);
  if (given > 0 && length > 0) {
    turn = (Quat){turn.w / length, turn.x / length, turn.y / length, turn.z / length};
    wanted = pose_mul(first, (Pose){mat3_from_quat(turn), {relative[0], relative[1], relative[2]}});
  }
  EqualityClosure e = {.place = item->place, .type = CLOSURE_WELD};
  set_end(r, &e, 0, a, wanted);
  set_end(r, &e, 1, b, second);
  add_closure(r, e);
}

/* ---------------------------------------------------------------- joints and fixed tendons */

static const RobotJointPlace* find_joint_place(const MjcfModel* model, const char* joint) {
  for (int k = 0; k < model->report->joint_count; k++)
    if (*joint && strcmp(model->report->joints[k].name, joint) == 0) return &model->report->joints[k];
  return NULL;
}

static void add_coupling(EqualityReading* r, SourcePosition place, JointCombination sum, double constant) {
  Equalities* found = &r->found;
  if (sum.count < 2) {
    mjcf_report_lost_force(r->model, "equality of a single joint");
    return;
  }
  found->couplings =
      memory_grow_array(found->couplings, sizeof(EqualityCoupling), found->coupling_count, &found->coupling_capacity);
  found->couplings[found->coupling_count++] = (EqualityCoupling){place, sum, constant};
}

/* Sets line[0] to the constant and line[1] to the slope of the linear polynomial in the attribute `polycoef`. Returns
 * false, with a report, if the polynomial has a higher degree. */
static bool read_linear_coefficients(EqualityReading* r, const XmlElement* item, double line[2]) {
  double polynomial[5] = {0, 1, 0, 0, 0};
  mjcf_numbers(r->model, (MjcfElement){item, ""}, "polycoef", 1, 5, polynomial);
  memcpy(line, polynomial, 2 * sizeof(double));
  if (polynomial[2] == 0 && polynomial[3] == 0 && polynomial[4] == 0) return true;
  mjcf_report_lost_force(r->model, "equality by polynomials of degree two and more");
  return false;
}

static void read_joints(EqualityReading* r, const XmlElement* item) {
  MjcfElement e = {item, ""};
  const char* second = mjcf_text(r->model, e, "joint2");
  double line[2];
  if (!read_linear_coefficients(r, item, line)) return;
  JointCombination sum = {.count = *second ? 2 : 1};
  sum.place[0] = find_joint_place(r->model, mjcf_text(r->model, e, "joint1"));
  sum.place[1] = find_joint_place(r->model, second);
  sum.coefficient[0] = 1;
  sum.coefficient[1] = -line[1];
  if (!sum.place[0] || (*second && !sum.place[1]))
    mjcf_report_lost_force(r->model, "equality of joints that are no hinge or slide");
  else
    add_coupling(r, item->place, sum, line[0]);
}

const XmlElement* mjcf_find_tendon(const MjcfModel* model, const char* kind, const char* name) {
  if (!*name) return NULL;
  for (const XmlElement* section = xml_child(model->root, "tendon"); section; section = xml_next(section))
    for (const XmlElement* item = xml_child(section, kind); item; item = xml_next(item)) {
      const XmlAttribute* item_name = xml_attribute(item, "name");
      if (item_name && strcmp(item_name->value, name) == 0) return item;
    }
  return NULL;
}

bool mjcf_fixed_tendon_length(MjcfModel* model, const XmlElement* tendon, JointCombination* sum) {
  *sum = (JointCombination){.count = 0};
  if (!tendon) return false;
  for (const XmlElement* joint = xml_child(tendon, "joint"); joint; joint = xml_next(joint)) {
    MjcfElement e = {joint, ""};
    const RobotJointPlace* place = find_joint_place(model, mjcf_text(model, e, "joint"));
    double coefficient = mjcf_number(model, e, "coef", 1);
    if (!place || sum->count == TENDON_JOINTS_MAX) return false;
    if (coefficient == 0) continue;
    sum->place[sum->count] = place;
    sum->coefficient[sum->count++] = coefficient;
  }
  return sum->count > 0;
}

static const MjcfSite* find_site(const MjcfModel* model, const XmlElement* part) {
  const XmlAttribute* name = part ? xml_attribute(part, "site") : NULL;
  int index = name ? names_find(&model->site_names, name->value) : -1;
  return index < 0 ? NULL : &model->sites[index];
}

/* Adds a distance constraint for a spatial tendon with two sites. Returns false if the tendon has more points. */
static bool read_distance_tendon(EqualityReading* r, const XmlElement* item, const char* name) {
  const XmlElement* tendon = mjcf_find_tendon(r->model, "spatial", name);
  const XmlElement* part = tendon ? tendon->first : NULL;
  const MjcfSite *a = find_site(r->model, part), *b = find_site(r->model, part ? part->next : NULL);
  if (!a || !b || part->next->next) return false;
  EqualityClosure e = {.place = item->place, .type = CLOSURE_DISTANCE};
  Pose ends[2];
  for (int k = 0; k < 2; k++) {
    const MjcfSite* site = k == 0 ? a : b;
    ends[k] = pose_mul(body_frame(r, site->link), (Pose){mat3_identity(), site->pose.position});
    set_end(r, &e, k, site->link, ends[k]);
  }
  e.length = vec3_norm(vec3_sub(ends[0].t, ends[1].t));
  if (!(e.length > 0)) return false;
  add_closure(r, e);
  return true;
}

static void read_tendons(EqualityReading* r, const XmlElement* item) {
  MjcfElement e = {item, ""};
  const char *first = mjcf_text(r->model, e, "tendon1"), *second = mjcf_text(r->model, e, "tendon2");
  double line[2] = {0, 1};
  JointCombination sum, other = {.count = 0};
  if (!read_linear_coefficients(r, item, line)) return;
  if (!*second && line[0] == 0 && read_distance_tendon(r, item, first)) return;
  bool good = mjcf_fixed_tendon_length(r->model, mjcf_find_tendon(r->model, "fixed", first), &sum);
  if (*second) good = mjcf_fixed_tendon_length(r->model, mjcf_find_tendon(r->model, "fixed", second), &other) && good;
  if (!good || sum.count + other.count > TENDON_JOINTS_MAX) {
    mjcf_report_lost_force(r->model, "equality of tendons");
    return;
  }
  for (int k = 0; k < other.count; k++) {
    sum.place[sum.count] = other.place[k];
    sum.coefficient[sum.count++] = -line[1] * other.coefficient[k];
  }
  add_coupling(r, item->place, sum, line[0]);
}

/* Reads a constraint between two sites, which coincide as points (<connect>) or frames (<weld>), whatever their poses
 * in the reference configuration. */
static void read_sites(EqualityReading* r, const XmlElement* item) {
  EqualityClosure e = {.place = item->place};
  e.type = strcmp(item->name, "weld") == 0 ? CLOSURE_WELD : CLOSURE_BALL;
  for (int k = 0; k < 2; k++) {
    const XmlAttribute* name = xml_attribute(item, k == 0 ? "site1" : "site2");
    int index = name ? names_find(&r->model->site_names, name->value) : -1;
    if (index < 0) {
      mjcf_error(r->model, name ? name->place : item->place, "<%s>: no site is named '%s'", item->name,
                 name ? text_excerpt(name->value).text : "");
      return;
    }
    const MjcfSite* site = &r->model->sites[index];
    set_end(r, &e, k, site->link, pose_mul(body_frame(r, site->link), to_pose(site->pose)));
  }
  add_closure(r, e);
}

static void read_all(EqualityReading* r) {
  static const struct {
    const char* name;
    void (*read)(EqualityReading* r, const XmlElement* item);
  } KINDS[] = {{"connect", read_connect}, {"weld", read_weld}, {"joint", read_joints}, {"tendon", read_tendons}};
  for (const XmlElement* section = xml_child(r->model->root, "equality"); section; section = xml_next(section))
    for (const XmlElement* item = section->first; item; item = item->next) {
      size_t k = 0;
      while (k < sizeof KINDS / sizeof *KINDS && strcmp(item->name, KINDS[k].name) != 0) k++;
      MjcfElement e = {item, ""};
      if (mjcf_flag(r->model, e, "active") == 0) {
        mjcf_report_dropped(r->model, "equality that is not active");
      } else if (k == sizeof KINDS / sizeof *KINDS) {
        mjcf_report_lost_force(r->model, "equality of other kinds");
      } else if (xml_attribute(item, "site1") || xml_attribute(item, "site2")) {
        read_sites(r, item);
      } else {
        KINDS[k].read(r, item);
      }
    }
}

/* ---------------------------------------------------------------- into the scene */

static void set_initial_coordinate(Scene* scene, const RobotJointPlace* place, double value) {
  SceneInitial* initial = NULL;
  for (int i = 0; i < scene->initial_count; i++)
    if (scene->initials[i].link == place->link) initial = &scene->initials[i];
  if (!initial) { /* the array has capacity for every link */
    initial = &scene->initials[scene->initial_count++];
    *initial = (SceneInitial){.place = scene->links[place->link].joint.place, .link = place->link};
  }
  initial->has_coordinates = true;
  initial->coordinates[place->dof] = value;
}

/* Stores the changed coordinates in q as initial coordinates of the scene, and reports the joints. */
static void store_initial_coordinates(EqualityReading* r, const Model* model, const double* q) {
  const RobotReport* report = r->model->report;
  Text moved = {0};
  for (int k = 0; k < report->joint_count; k++) {
    const RobotJointPlace* place = &report->joints[k];
    int at = model->links[place->link].coordinate_first + place->dof;
    if (nearly_equal(q[at], model->initial_coordinates[at])) continue;
    set_initial_coordinate(r->scene, place, q[at]);
    text_add(&moved, "%s%s %.6g", moved.length > 0 ? ", " : "", text_excerpt(place->name).text, q[at]);
  }
  if (moved.length > 0)
    robot_remark(r->model->report, r->model->diagnostics, (SourcePosition){r->model->path, 0, 0},
                 "some joints start at other coordinates than in the file, so that the equality constraints hold at "
                 "the start: %s",
                 moved.data);
  text_free(&moved);
}

/* Adds the changed translations in q to the positions of free bodies, and reports the bodies. */
static void move_free_bodies(EqualityReading* r, const Model* model, const double* q) {
  Text moved = {0};
  for (int i = 0; i < model->link_count; i++) {
    const ModelLink* link = &model->links[i];
    if (link->tree < 0 || link->parent >= 0 || !joint_is_floating(&link->joint)) continue;
    const double *to = &q[link->coordinate_first], *from = &model->initial_coordinates[link->coordinate_first];
    Vec3 step = vec3(to[0] - from[0], to[1] - from[1], to[2] - from[2]);
    if (nearly_equal(vec3_norm(step), 0)) continue;
    SceneJoint* joint = &r->scene->links[i].joint;
    joint->position = vec3_add(joint->position, mat3_mul_vec(mat3_from_quat(joint->rotation), step));
    text_add(&moved, "%s%s %.3g m", moved.length > 0 ? ", " : "", text_excerpt(link->name).text, vec3_norm(step));
  }
  robot_shorten_names(&moved);
  if (moved.length > 0)
    robot_remark(r->model->report, r->model->diagnostics, (SourcePosition){r->model->path, 0, 0},
                 "some bodies start at other positions than in the file, so that the equality constraints hold at the "
                 "start: %s",
                 moved.data);
  text_free(&moved);
}

static void store_closures(EqualityReading* r) {
  Scene* scene = r->scene;
  int count = r->found.closure_count;
  scene->closures = MEMORY_NEW(SceneClosure, count + 1);
  for (int k = 0; k < count; k++) {
    const EqualityClosure* e = &r->found.closures[k];
    Pose a = pose_mul(r->poses[e->link[0]], e->end[0]);
    Pose b = e->link[1] < 0 ? e->end[1] : pose_mul(r->poses[e->link[1]], e->end[1]);
    SceneClosure* c = &scene->closures[scene->closure_count++];
    *c = (SceneClosure){.place = e->place, .type = e->type, .a = e->link[0], .b = e->link[1]};
    if (e->link[1] >= 0 && scene->links[e->link[1]].fixed) c->b = -1;
    c->has_point = true;
    c->point = a.t;
    if (e->type != CLOSURE_DISTANCE) continue;
    c->has_axis = true;
    c->axis = unit_vector(vec3_sub(b.t, a.t));
    c->length = vec3_norm(vec3_sub(b.t, a.t));
  }
}

static void store_couplings(EqualityReading* r) {
  Scene* scene = r->scene;
  int count = r->found.coupling_count;
  scene->couplings = MEMORY_NEW(SceneCoupling, count + 1);
  for (int k = 0; k < count; k++) {
    const EqualityCoupling* e = &r->found.couplings[k];
    SceneCoupling* c = &scene->couplings[scene->coupling_count++];
    *c = (SceneCoupling){.place = e->place, .count = e->sum.count};
    c->terms = MEMORY_NEW(SceneCouplingTerm, e->sum.count);
    for (int i = 0; i < e->sum.count; i++)
      c->terms[i] = (SceneCouplingTerm){e->sum.place[i]->link, e->sum.place[i]->dof,
                                        i == 0 ? 1 : -e->sum.coefficient[i] / e->sum.coefficient[0]};
  }
}

/* Removes constraint number `index`, closures first, then couplings. Warns that it is left out. */
static void leave_out(EqualityReading* r, int index, double error) {
  Equalities* found = &r->found;
  int coupling = index - found->closure_count;
  SourcePosition place = coupling < 0 ? found->closures[index].place : found->couplings[coupling].place;
  robot_warn(r->model->report, r->model->diagnostics, place,
             "the equality constraint is left out, because no initial state was found that satisfies it (remaining "
             "error %.2g m or rad): give other initial coordinates by --start",
             error);
  if (coupling < 0)
    memmove(&found->closures[index], &found->closures[index + 1],
            sizeof(EqualityClosure) * (size_t)(--found->closure_count - index));
  else
    memmove(&found->couplings[coupling], &found->couplings[coupling + 1],
            sizeof(EqualityCoupling) * (size_t)(--found->coupling_count - coupling));
}

/* Changes the initial state so that all constraints hold, and adds the constraints to the scene. Leaves out the
 * constraint with the largest error until the others can be satisfied. */
static void satisfy_constraints(EqualityReading* r, const Model* model) {
  double* q = MEMORY_NEW(double, model->coordinate_count + 1);
  while (r->found.closure_count + r->found.coupling_count > 0) {
    int worst;
    memcpy(q, model->initial_coordinates, sizeof(double) * (size_t)model->coordinate_count);
    double open = mjcf_solve_closures(model, &r->found, r->model->report, q, &worst);
    if (!(open < ERROR_MAX)) {
      leave_out(r, worst, open);
      continue;
    }
    store_initial_coordinates(r, model, q);
    move_free_bodies(r, model, q);
    model_poses(model, q, r->poses);
    store_closures(r);
    store_couplings(r);
    break;
  }
  memory_free(q);
}

void mjcf_read_equality(MjcfModel* model, Scene* scene, const int* carrier) {
  Diagnostics unsaid = {0};
  Model built;
  if (!xml_child(model->root, "equality")) return;
  if (model_create(&built, scene, &unsaid) == STATUS_OK || built.links) {
    EqualityReading r = {.model = model, .scene = scene, .carrier = carrier};
    r.reference_poses = MEMORY_NEW(UrdfPose, model->robot.link_count + 1);
    r.poses = MEMORY_NEW(Pose, built.link_count + 1);
    mjcf_reference_poses(model, r.reference_poses);
    compute_reference_poses(&r, &built);
    read_all(&r);
    if (r.found.closure_count + r.found.coupling_count > 0) satisfy_constraints(&r, &built);
    memory_free(r.found.closures);
    memory_free(r.found.couplings);
    memory_free(r.reference_poses);
    memory_free(r.poses);
  }
  model_destroy(&built);
  diagnostics_free(&unsaid);
}
