/* Exports a model as URDF (docs/urdf.md). A joint with several degrees of freedom becomes a chain of joints with
 * massless links. Roots are children of a link `world`. A link's frame is its joint's frame after the motion, both in
 * URDF and in a scene. */
#include <assert.h>
#include <string.h>

#include "export/format.h"

/* Value of a limit that URDF requires although the joint has none [m, rad, N, N m, m/s or rad/s]. */
#define NO_LIMIT 1e10
/* Largest number of link names in one message. */
enum { NAMES_MAX = 8 };

typedef struct {
  const Model* model;
  const bool* omitted; /* true for omitted links (size: links); NULL: none */
  Diagnostics* diagnostics;
  SourcePosition place;
  const char* meshes;
  Text* out;
  Text comment;             /* omitted features, one per line */
  float (*color)[3];        /* colour of each link: red, green and blue in linear light (size: links) */
  const char** joint_names; /* names that the scene gives to joints, borrowed; NULL: none (size: links) */
  char* world; /* name of the link that is the parent of all roots; NULL if there is one root, fixed at the origin */
} Urdf;

/* Reports an omitted feature as a note and in the comment. */
static void report_omission(Urdf* u, const char* format, ...) __attribute__((format(printf, 2, 3)));
static void report_omission(Urdf* u, const char* format, ...) {
  Text text = {0};
  va_list arguments;
  va_start(arguments, format);
  text_add_va_list(&text, format, arguments);
  va_end(arguments);
  diagnostics_add(u->diagnostics, SEVERITY_NOTE, u->place, "%s", text.data);
  text_add(&u->comment, "%s\n", text.data);
  text_free(&text);
}

static void xml_origin(Urdf* u, int indent, Pose pose) {
  text_add(u->out, "%*s<origin", indent, "");
  xml_vector(u->out, "xyz", pose.t);
  xml_vector(u->out, "rpy", rpy_from_mat3(pose.r));
  text_add(u->out, "/>\n");
}

/* ---------------------------------------------------------------- names */

static bool is_name_used(const Urdf* u, const char* name) {
  for (int i = 0; i < u->model->link_count; i++)
    if (strcmp(u->model->links[i].name, name) == 0) return true;
  return false;
}

/* Makes a name unique among the links. */
static void make_unique(const Urdf* u, Text* name) {
  while (is_name_used(u, name->data)) text_add(name, "_");
}

static bool is_omitted(const Urdf* u, int index) { return u->omitted && u->omitted[index]; }

static bool is_floating(const ModelLink* link) { return joint_is_floating(&link->joint); }

static int joint_count(const ModelLink* link) {
  return link->dof_count == 0 || is_floating(link) ? 1 : link->dof_count;
}

/* Sets *name to the default name of joint `k` of a link: LINK_fixed, LINK_free, or LINK_COORDINATE for degree of
 * freedom k. */
static void default_joint_name(const Model* model, Text* name, int index, int k) {
  assert(k >= 0);
  const ModelLink* link = &model->links[index];
  name->length = 0;
  text_add(name, "%s_%s", link->name,
           link->dof_count == 0 ? "fixed"
           : is_floating(link)  ? "free"
                                : scene_joint_coordinate_name(&model->scene->links[index].joint, k));
}

static void joint_name(const Urdf* u, Text* name, int index, int k) {
  default_joint_name(u->model, name, index, k);
  if (!u->joint_names[index]) return;
  name->length = 0;
  text_add(name, "%s", u->joint_names[index]);
}

/* Finds the joints that keep their name of the scene: joints that become one joint in the file, and whose name no other
 * joint has. */
static void find_joint_names(Urdf* u) {
  const Model* model = u->model;
  Names taken = {0};
  int room = 0, count = 0;
  for (int i = 0; i < model->link_count; i++) room += joint_count(&model->links[i]);
  char** defaults = MEMORY_NEW(char*, room + 1);
  u->joint_names = MEMORY_NEW(const char*, model->link_count + 1);
  for (int i = 0; i < model->link_count; i++)
    for (int k = 0; k < joint_count(&model->links[i]); k++) {
      Text name = {0};
      default_joint_name(model, &name, i, k);
      names_add(&taken, name.data, i);
      defaults[count++] = name.data;
    }
  for (int i = 0; i < model->link_count; i++) {
    const char* given = model->scene->links[i].joint.name;
    if (!given || is_omitted(u, i)) continue;
    if (joint_count(&model->links[i]) > 1)
      report_omission(u, "link '%s': its joint becomes %d joints, so that its name '%s' is left out",
                      model->links[i].name, joint_count(&model->links[i]), given);
    else if (names_add(&taken, given, i) || names_find(&taken, given) == i)
      u->joint_names[i] = given;
    else
      report_omission(u, "link '%s': another joint has the name '%s' of its joint, which is left out",
                      model->links[i].name, given);
  }
  names_free(&taken);
  for (int i = 0; i < count; i++) memory_free(defaults[i]);
  memory_free(defaults);
}

/* A round shape of URDF. Its axis is z of the body's pose. */
typedef struct {
  const char* name;      /* sphere or cylinder; NULL: neither */
  double radius, length; /* radius, and length of a cylinder along z [m] */
} RoundShape;

static RoundShape find_round_shape(const ModelHull* hull) {
  RoundShape none = {NULL, 0, 0};
  if (!hull_is_round(hull)) return none;
  RoundBody body = hull_contact_geometry(hull);
  if (body.ring_count == 0 && body.points.count == 1) return (RoundShape){"sphere", body.rounding, 0};
  if (!body.rings || !hull_is_cylinder(hull)) return none;
  return (RoundShape){"cylinder", body.rings[0].radius,
                      vec3_norm(vec3_sub(body.rings[1].center, body.rings[0].center))};
}

static bool is_mesh(const ModelHull* hull) {
  Pose pose;
  Vec3 half;
  return hull->kind->bounded && !find_round_shape(hull).name && !hull_is_box(&hull->solid, &pose, &half);
}

bool export_urdf_mesh(const Model* model, int hull, Text* name) {
  assert(hull >= 0 && hull < model->hull_count);
  assert(hull >= 0 && hull < model->hull_count);
  const ModelLink* link = &model->links[model->hulls[hull].link];
  name->length = 0;
  if (!is_mesh(&model->hulls[hull])) return false;
  bool changed = false;
  for (const char* c = link->name; *c; c++) {
    bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') || strchr("_-", *c);
    text_add(name, "%c", plain ? *c : '_');
    changed = changed || !plain;
  }
  if (changed) text_add(name, ".%d", model->hulls[hull].link); /* differs from a link with exactly the same name */
  text_add(name, "_%d.obj", hull - link->hull_first);
  return true;
}

/* ---------------------------------------------------------------- links */

static void add_geometry(Urdf* u, const char* element, int hull) {
  const ModelHull* h = &u->model->hulls[hull];
  Pose pose;
  Vec3 half;
  Text file = {0};
  text_add(u->out, "    <%s>\n", element);
  if (export_urdf_mesh(u->model, hull, &file)) {
    Text path = {0};
    text_add(&path, "%s%s", u->meshes, file.data);
    text_add(u->out, "      <geometry><mesh");
    xml_text(u->out, "filename", path.data);
    text_add(u->out, "/></geometry>\n");
    text_free(&path);
  } else if (find_round_shape(h).name) {
    RoundShape shape = find_round_shape(h);
    xml_origin(u, 6, (Pose){h->smooth->pose.r, h->center});
    text_add(u->out, "      <geometry><%s", shape.name);
    xml_numbers(u->out, "radius", &shape.radius, 1);
    if (shape.length > 0) xml_numbers(u->out, "length", &shape.length, 1);
    text_add(u->out, "/></geometry>\n");
  } else if (hull_is_box(&h->solid, &pose, &half)) {
    xml_origin(u, 6, pose);
    text_add(u->out, "      <geometry><box");
    xml_vector(u->out, "size", vec3_scale(half, 2));
    text_add(u->out, "/></geometry>\n");
  }
  text_free(&file);
  if (strcmp(element, "visual") == 0) {
    const float* color = u->color[h->link];
    text_add(u->out, "      <material");
    xml_text(u->out, "name", u->model->links[h->link].name);
    text_add(u->out, "><color rgba=\"%.3f %.3f %.3f 1\"/></material>\n", srgb_from_linear((double)color[0]),
             srgb_from_linear((double)color[1]), srgb_from_linear((double)color[2]));
  }
  text_add(u->out, "    </%s>\n", element);
}

static bool is_massless(const ModelLink* link) { return link->dof_count > 0 && !(link->mass > 0); }

/* Writes the inertia. A link that only controllers move may have no mass, which URDF readers reject or merge with the
 * next joint. Such a link gets 1 kg and 1 kg m^2, also in MJCF. */
static void add_inertial(Urdf* u, const ModelLink* link) {
  static const char* const NAMES[6] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
  bool massless = is_massless(link);
  if (!(link->mass > 0) && !massless) return;
  Mat3 i = massless ? mat3_identity() : mass_moment_inertia_tensor(&link->moment);
  const double six[6] = {i.m[0][0], i.m[1][1], i.m[2][2], i.m[0][1], i.m[0][2], i.m[1][2]},
               mass = massless ? 1 : link->mass;
  text_add(u->out, "    <inertial>\n");
  xml_origin(u, 6, (Pose){mat3_identity(), link->center});
  text_add(u->out, "      <mass");
  xml_numbers(u->out, "value", &mass, 1);
  text_add(u->out, "/>\n      <inertia");
  for (int k = 0; k < 6; k++) xml_numbers(u->out, NAMES[k], &six[k], 1);
  text_add(u->out, "/>\n    </inertial>\n");
}

static void add_link(Urdf* u, int index) {
  const ModelLink* link = &u->model->links[index];
  text_add(u->out, "  <link");
  xml_text(u->out, "name", link->name);
  text_add(u->out, ">\n");
  add_inertial(u, link);
  for (int k = 0; k < link->hull_count; k++) {
    int hull = link->hull_first + k;
    if (!u->model->hulls[hull].kind->bounded) {
      report_omission(u, "link '%s': its half-space is left out", link->name);
      continue;
    }
    add_geometry(u, "visual", hull);
    if (link->collide) add_geometry(u, "collision", hull);
  }
  text_add(u->out, "  </link>\n");
}

static void add_empty_link(Urdf* u, const char* name) {
  text_add(u->out, "  <link");
  xml_text(u->out, "name", name);
  text_add(u->out, "/>\n");
}

/* ---------------------------------------------------------------- joints */

/* Opens <joint> with origin, parent and child. The caller closes it. */
static void open_joint(Urdf* u, const char* name, const char* type, Pose origin, const char* parent,
                       const char* child) {
  text_add(u->out, "  <joint");
  xml_text(u->out, "name", name);
  xml_text(u->out, "type", type);
  text_add(u->out, ">\n");
  xml_origin(u, 4, origin);
  text_add(u->out, "    <parent");
  xml_text(u->out, "link", parent);
  text_add(u->out, "/>\n    <child");
  xml_text(u->out, "link", child);
  text_add(u->out, "/>\n");
}

static void close_joint(Urdf* u) { text_add(u->out, "  </joint>\n"); }

/* Returns the sum of the force limits of the drives on a degree of freedom. Returns NO_LIMIT if there is no drive or if
 * a drive has no limit. */
static double effort_limit(const Model* model, const ModelLink* link, int dof) {
  double sum = 0;
  for (int c = 0; c < model->controller_count; c++) {
    const ModelController* drive = &model->controllers[c];
    if (&model->links[drive->link] != link) continue;
    if (!(drive->max_force[dof] > 0)) return NO_LIMIT;
    sum += drive->max_force[dof];
  }
  return sum > 0 ? sum : NO_LIMIT;
}

static double speed_limit(const Model* model, const ModelLink* link, int dof) {
  double limit = model->scene->links[link - model->links].joint.velocity_limit[dof];
  return limit > 0 ? limit : NO_LIMIT;
}

static void add_limit(Urdf* u, const ModelLink* link, int dof) {
  double lower = link->limited[dof] && isfinite(link->lower[dof]) ? link->lower[dof] : -NO_LIMIT;
  double upper = link->limited[dof] && isfinite(link->upper[dof]) ? link->upper[dof] : NO_LIMIT;
  double effort = effort_limit(u->model, link, dof), speed = speed_limit(u->model, link, dof);
  text_add(u->out, "    <limit");
  xml_numbers(u->out, "lower", &lower, 1);
  xml_numbers(u->out, "upper", &upper, 1);
  xml_numbers(u->out, "effort", &effort, 1);
  xml_numbers(u->out, "velocity", &speed, 1);
  text_add(u->out, "/>\n");
}

/* Returns the coupling by which a degree of freedom depends on a single other one, or NULL if there is no such
 * coupling. */
static const ModelCoupling* find_mimic(const Model* model, int dof) {
  for (int k = 0; k < model->coupling_count; k++)
    if (model->couplings[k].count == 2 && model->couplings[k].dof[0] == dof) return &model->couplings[k];
  return NULL;
}

static void add_mimic(Urdf* u, int dof) {
  const ModelCoupling* c = find_mimic(u->model, dof);
  if (!c) return;
  int of = u->model->dof_link[c->dof[1]];
  if (is_omitted(u, of)) {
    report_omission(u, "the coupling of link '%s' with link '%s' is left out with that link",
                    u->model->links[u->model->dof_link[dof]].name, u->model->links[of].name);
    return;
  }
  double ratio = -c->slope[1];
  Text name = {0};
  joint_name(u, &name, of, c->dof[1] - u->model->links[of].dof_first);
  text_add(u->out, "    <mimic");
  xml_text(u->out, "joint", name.data);
  xml_numbers(u->out, "multiplier", &ratio, 1);
  xml_numbers(u->out, "offset", &c->offset, 1);
  text_add(u->out, "/>\n");
  text_free(&name);
}

/* Writes the joint of one degree of freedom. Slides are numbered before hinges. */
static void add_single_joint(Urdf* u, int index, int dof, Pose origin, const char* parent, const char* child) {
  const ModelLink* link = &u->model->links[index];
  bool slide = dof < link->joint.slide_count, limited = link->limited[dof];
  Text name = {0};
  joint_name(u, &name, index, dof);
  open_joint(u, name.data, slide ? "prismatic" : limited ? "revolute" : "continuous", origin, parent, child);
  text_add(u->out, "    <axis");
  xml_vector(u->out, "xyz", slide ? link->joint.slide_axis[dof] : link->joint.axis[dof - link->joint.slide_count]);
  text_add(u->out, "/>\n");
  bool bounded = effort_limit(u->model, link, dof) < NO_LIMIT || speed_limit(u->model, link, dof) < NO_LIMIT;
  if (slide || limited || bounded) add_limit(u, link, dof);
  if (link->damping[dof] > 0 || link->friction[dof] > 0) {
    text_add(u->out, "    <dynamics");
    xml_numbers(u->out, "damping", &link->damping[dof], 1);
    xml_numbers(u->out, "friction", &link->friction[dof], 1);
    text_add(u->out, "/>\n");
  }
  add_mimic(u, link->dof_first + dof);
  close_joint(u);
  text_free(&name);
}

/* Writes a chain of massless links between the parent and the link, with one joint each. */
static void add_chain(Urdf* u, int index, const char* parent) {
  const ModelLink* link = &u->model->links[index];
  Text above = {0}, below = {0};
  text_add(&above, "%s", parent);
  for (int k = 0; k < link->dof_count; k++) {
    bool last = k == link->dof_count - 1;
    joint_name(u, &below, index, k);
    if (last)
      below.length = 0, text_add(&below, "%s", link->name);
    else
      make_unique(u, &below), add_empty_link(u, below.data);
    add_single_joint(u, index, k, k == 0 ? link->origin : pose_identity(), above.data, below.data);
    above.length = 0;
    text_add(&above, "%s", below.data);
  }
  text_free(&above);
  text_free(&below);
}

static void add_floating(Urdf* u, const ModelLink* link, const char* parent, const char* name) {
  open_joint(u, name, "floating", link->origin, parent, link->name);
  close_joint(u);
}

static void add_joint(Urdf* u, int index) {
  const ModelLink* link = &u->model->links[index];
  const char* parent = link->parent >= 0 ? u->model->links[link->parent].name : u->world;
  Text name = {0};
  if (!parent) return; /* the link is the root */
  joint_name(u, &name, index, 0);
  if (is_floating(link)) {
    add_floating(u, link, parent, name.data);
  } else if (link->dof_count > 0) {
    add_chain(u, index, parent);
  } else {
    open_joint(u, name.data, "fixed", link->origin, parent, link->name);
    close_joint(u);
  }
  text_free(&name);
}

/* ---------------------------------------------------------------- notes */

/* Reports all links for which has_feature is true in one line: the first names and the number of others. feature:
 * omitted feature, for the message. */
static void report_links(Urdf* u, bool (*has_feature)(const ModelLink*), const char* feature) {
  Text names = {0};
  int count = 0;
  for (int i = 0; i < u->model->link_count; i++)
    if (!is_omitted(u, i) && has_feature(&u->model->links[i]) && ++count <= NAMES_MAX)
      text_add(&names, "%s'%s'", count > 1 ? ", " : "", u->model->links[i].name);
  if (count > NAMES_MAX) text_add(&names, " and %d more", count - NAMES_MAX);
  if (count > 0) report_omission(u, "link%s %s: %s", count > 1 ? "s" : "", names.data, feature);
  text_free(&names);
}

static bool has_chain(const ModelLink* link) { return link->dof_count > 1 && !is_floating(link); }
static bool has_limits(const ModelLink* link) {
  bool any = false;
  for (int k = 0; k < link->dof_count; k++) any = any || link->limited[k];
  return any && !is_floating(link);
}
static bool has_gravity_compensation(const ModelLink* link) { return link->gravity_compensation != 0; }
static bool has_spring(const ModelLink* link) {
  bool any = false;
  for (int k = 0; k < link->dof_count; k++) any = any || link->stiffness[k] > 0 || link->armature[k] > 0;
  return any && !is_floating(link);
}
static bool has_static_friction(const ModelLink* link) {
  bool any = false;
  for (int k = 0; k < link->dof_count; k++) any = any || link->static_friction[k] > link->friction[k];
  return any && !is_floating(link);
}
static bool has_resistance(const ModelLink* link) {
  bool any = false;
  for (int k = 0; k < link->dof_count; k++) any = any || link->damping[k] > 0 || link->limited[k] || link->passive;
  return any && is_floating(link);
}

static void report_joints(Urdf* u) {
  report_links(u, has_chain, "the joint is written as a chain of single joints through links without mass");
  report_links(u, has_limits, "strength and margin of the limits are left out");
  report_links(u, has_resistance, "damping and limits of the free joint are left out");
  report_links(u, has_spring, "springs and armatures are left out");
  report_links(u, has_static_friction, "static friction above the dynamic one is left out");
  report_links(u, is_massless,
               "1 kg and 1 kg m^2 are written, because a controller moves the link and no mass is given");
}

static void report_meshes(Urdf* u) {
  Text text = {0};
  append_mesh_deviation(&text, u->model, is_mesh, u->omitted);
  if (text.length > 0) report_omission(u, "%s", text.data);
  text_free(&text);
}

static void report_excluded_pairs(Urdf* u) {
  if (u->model->excluded_count > 0)
    report_omission(u, "%d pair%s of links that must not touch %s left out", u->model->excluded_count,
                    u->model->excluded_count == 1 ? "" : "s", u->model->excluded_count == 1 ? "is" : "are");
}

static void report_scene(Urdf* u) {
  const Model* model = u->model;
  const Vec3 g = model->simulation.gravity;
  if (model->controller_count > 0)
    report_omission(u, "%d controller%s left out", model->controller_count,
                    model->controller_count == 1 ? " is" : "s are");
  if (model->closure_count > 0) report_omission(u, "%d closed loop(s) left out", model->closure_count);
  int left_out = 0; /* number of couplings that URDF cannot express: a joint can mimic one other joint only */
  for (int k = 0; k < model->coupling_count; k++)
    left_out += find_mimic(model, model->couplings[k].dof[0]) != &model->couplings[k];
  if (left_out > 0) report_omission(u, "%d coupling(s) of joints left out", left_out);
  if (model->tendon_count > 0) report_omission(u, "%d tendon(s) left out", model->tendon_count);
  if (model->bushing_count > 0) report_omission(u, "%d bushing(s) left out", model->bushing_count);
  if (model->load_count > 0)
    report_omission(u, "%d load%s left out", model->load_count, model->load_count == 1 ? " is" : "s are");
  report_links(u, has_gravity_compensation, "gravity compensation is left out");
  if (model->scene->fluid.given) report_omission(u, "the fluid is left out: links move as in empty space");
  if (model->contact_model != CONTACT_NONE && model->contact.friction > 0)
    report_omission(u, "friction of contacts is left out (coefficient %g)", model->contact.friction);
  if (!(g.x == 0 && g.y == 0 && g.z < 0)) report_omission(u, "gravity is left out: %g %g %g m/s^2", g.x, g.y, g.z);
  report_excluded_pairs(u);
  report_meshes(u);
}

/* Appends the nonzero initial coordinates with the names of their joints. */
static void add_start(Urdf* u, Text* out) {
  Text name = {0};
  for (int i = 0; i < u->model->link_count; i++) {
    if (is_omitted(u, i)) continue;
    const ModelLink* link = &u->model->links[i];
    const double* q = u->model->initial_coordinates + link->coordinate_first;
    for (int k = 0; k < link->coordinate_count; k++) {
      double zero = link->joint.quaternion && k == link->joint.scalar_count ? 1 : 0;
      if (q[k] == zero) continue;
      if (is_floating(link)) {
        name.length = 0;
        text_add(&name, "%s_%s", link->name, scene_joint_coordinate_name(&u->model->scene->links[i].joint, k));
      } else {
        joint_name(u, &name, i, k);
      }
      text_add(out, "%s%s ", out->length > 0 ? ", " : "", name.data);
      text_add_double(out, q[k]);
    }
  }
  text_free(&name);
}

/* Appends comment text. XML comments must not contain "--" or end with "-". Continuation lines are indented. */
static void add_comment_text(Text* out, const char* text) {
  for (const char* c = text; *c; c++) {
    text_add(out, c[0] == '-' && c[1] == '-' ? "- " : "%c", *c);
    if (*c == '\n' && c[1]) text_add(out, "     ");
  }
}

static void add_comment(Urdf* u, Text* out) {
  Text start = {0};
  add_start(u, &start);
  text_add(out, "<!-- The scene ");
  add_comment_text(out, u->model->scene->name);
  text_add(out, ", written by sdrs export. Joints are at zero.\n");
  text_add(out, "     The scene starts at: ");
  add_comment_text(out, start.length > 0 ? start.data : "zero");
  text_add(out, ".\n");
  if (u->comment.length > 0) text_add(out, "     "), add_comment_text(out, u->comment.data);
  text_add(out, "-->\n");
  text_free(&start);
}

/* ---------------------------------------------------------------- the file */

static bool has_child(const Model* model, int index) {
  for (int i = index + 1; i < model->link_count; i++)
    if (model->links[i].parent == index) return true;
  return false;
}

/* Returns true for the ground: half-spaces only, no children. */
static bool is_ground(const Model* model, int index) {
  const ModelLink* link = &model->links[index];
  for (int k = 0; k < link->hull_count; k++)
    if (model->hulls[link->hull_first + k].kind->bounded) return false;
  return link->hull_count > 0 && link->parent < 0 && !has_child(model, index);
}

/* Adds a world link unless a single root is fixed at the origin. */
static void find_world(Urdf* u) {
  const Model* model = u->model;
  int roots = 0, root = -1;
  for (int i = 0; i < model->link_count; i++)
    if (model->links[i].parent < 0 && !is_ground(model, i) && !is_omitted(u, i)) roots++, root = i;
  const Pose none = pose_identity();
  if (roots == 1 && model->links[root].dof_count == 0 && memcmp(&model->links[root].origin, &none, sizeof none) == 0)
    return;
  Text name = {0};
  text_add(&name, "world");
  make_unique(u, &name);
  u->world = name.data;
}

static Status check_joints(Urdf* u) {
  Status status = STATUS_OK;
  for (int i = 0; i < u->model->link_count; i++) {
    const ModelLink* link = &u->model->links[i];
    if (!link->joint.quaternion || is_floating(link) || is_omitted(u, i)) continue;
    diagnostics_add(u->diagnostics, SEVERITY_ERROR, u->place,
                    "link '%s': URDF has no ball joint: replace the joint by three hinges, or export to MJCF",
                    link->name);
    status = STATUS_BAD_INPUT;
  }
  return status;
}

static void add_robot(Urdf* u) {
  const Model* model = u->model;
  text_add(u->out, "<robot");
  xml_text(u->out, "name", model->scene->name);
  text_add(u->out, ">\n  <mujoco><compiler strippath=\"false\" fusestatic=\"false\"/></mujoco>\n");
  if (u->world) add_empty_link(u, u->world);
  for (int i = 0; i < model->link_count; i++) {
    if (is_omitted(u, i)) continue;
    if (is_ground(model, i)) {
      report_omission(u, "link '%s' is left out: it is a half-space", model->links[i].name);
      continue;
    }
    add_link(u, i);
    add_joint(u, i);
  }
  text_add(u->out, "</robot>\n");
}

Status export_urdf(const Model* model, const bool* omitted, const char* path, const char* meshes, Text* urdf,
                   Diagnostics* diagnostics) {
  Text robot = {0};
  Urdf u = {.model = model, .omitted = omitted, .diagnostics = diagnostics};
  u.place = (SourcePosition){path, 0, 0};
  u.meshes = meshes;
  u.out = &robot;
  Status status = check_joints(&u);
  if (status == STATUS_OK) {
    u.color = (float(*)[3])memory_alloc(sizeof(float[3]) * (size_t)(model->link_count + 1));
    link_colors(model, u.color);
    find_world(&u);
    find_joint_names(&u);
    add_robot(&u);
    report_joints(&u);
    report_scene(&u);
    text_add(urdf, "<?xml version=\"1.0\"?>\n");
    add_comment(&u, urdf);
    text_add_bytes(urdf, robot.data, robot.length);
  }
  memory_free(u.color);
  memory_free(u.joint_names);
  memory_free(u.world);
  text_free(&u.comment);
  text_free(&robot);
  return status;
}
