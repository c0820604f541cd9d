/* Exports a model as one self-contained MJCF file for MuJoCo (docs/export.md). Link frames and body frames are equal,
 * because MuJoCo applies the joints of a body in the same order as this program (kinematics.md, K1). MuJoCo numbers
 * coordinates body by body, children after parents. */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "export/mjcf_parts.h"

/* Contact margin in units of a resting body's equilibrium gap. Bodies at rest are thus supported from the start. */
#define CONTACT_MARGIN 2.0
/* Time constant of limits [steps], the shortest that MuJoCo allows. */
#define LIMIT_STEPS 2.0
/* Numbers of contacts for which memory is reserved: fixed, and per link. */
enum { CONTACTS_FIXED = 200, CONTACTS_PER_LINK = 6 };
/* A file with at least ARENA_LINKS links sets `memory` [MB], because contacts of 1000 bodies overflow the default arena
 * of MuJoCo 2.3 and later. Earlier versions do not support the keyword. */
enum { ARENA_LINKS = 150, MEMORY_FIXED = 64, LINKS_PER_MEGABYTE = 4 };
/* Largest time step [s]. The scene's step may be too long for contacts and gains that MuJoCo integrates explicitly. */
#define STEP_MAX 1e-3
/* Value that the file gives for a limit of a coordinate that is limited on one side only [m or rad]. */
#define LIMIT_OPEN 1e10
/* Half thickness and half width of the slab that represents a moving half-space [m]. */
#define SLAB_HALF_THICKNESS 1.0
#define SLAB_HALF_WIDTH 100.0

void mjcf_note(Mjcf* m, const char* name, const char* text) {
  if (name)
    diagnostics_add(m->diagnostics, SEVERITY_NOTE, m->place, "link '%s': %s", name, text);
  else
    diagnostics_add(m->diagnostics, SEVERITY_NOTE, m->place, "%s", text);
}

void mjcf_indent(Mjcf* m) { text_add(m->out, "%*s", 2 * m->depth, ""); }

/* ---------------------------------------------------------------- the tree */

static void find_children(Mjcf* m) {
  int count = m->model->link_count;
  m->first_child = MEMORY_NEW(int, count + 1);
  m->next_sibling = MEMORY_NEW(int, count + 1);
  m->subtree_mass = MEMORY_NEW(double, count + 1);
  for (int i = 0; i <= count; i++) m->first_child[i] = -1;
  for (int i = count - 1; i >= 0; i--) {
    int parent = m->model->links[i].parent, place = parent < 0 ? count : parent;
    m->next_sibling[i] = m->first_child[place];
    m->first_child[place] = i;
    m->subtree_mass[i] += m->model->links[i].mass;
    if (parent >= 0) m->subtree_mass[parent] += m->subtree_mass[i];
  }
}

/* ---------------------------------------------------------------- reference configuration (qpos0) */

bool mjcf_has_initial_reference(const Mjcf* m) { return m->model->closure_row_count > 0; }

static const double* initial_coordinates(const Mjcf* m, int link) {
  return m->model->initial_coordinates + m->model->links[link].coordinate_first;
}

/* MuJoCo's ball joints are zero in its reference configuration, so a ball joint with a drive, spring or limit has zero
 * coordinates there. */
bool mjcf_has_initial_coordinates(const Mjcf* m, int index) {
  const ModelLink* link = &m->model->links[index];
  if (!mjcf_has_initial_reference(m)) return false;
  if (!link->joint.quaternion) return true;
  bool acted_on = mjcf_is_driven(m, index);
  for (int k = link->joint.scalar_count; k < link->dof_count; k++)
    acted_on = acted_on || link->limited[k] || (link->passive && link->stiffness[k] > 0);
  return !acted_on;
}

static Pose reference_pose(const Mjcf* m, int index) {
  const ModelLink* link = &m->model->links[index];
  if (!mjcf_has_initial_coordinates(m, index)) return link->origin;
  return pose_mul(link->origin, joint_motion(&link->joint, initial_coordinates(m, index)));
}

/* Returns a joint axis in the body frame of the reference configuration, in which later joints may be rotated. */
static Vec3 reference_axis(const Mjcf* m, int index, int dof) {
  const Joint* joint = &m->model->links[index].joint;
  bool slides = dof < joint->slide_count;
  Vec3 axis = slides ? joint->slide_axis[dof] : joint->axis[dof - joint->slide_count];
  if (!mjcf_has_initial_coordinates(m, index)) return axis;
  Mat3 after = joint->quaternion ? joint_motion(joint, initial_coordinates(m, index)).r : mat3_identity();
  for (int k = slides ? 0 : dof - joint->slide_count + 1; k < joint->hinge_count; k++)
    after = mat3_mul(
        after,
        mat3_from_quat(quat_exp(vec3_scale(joint->axis[k], initial_coordinates(m, index)[joint->slide_count + k]))));
  return mat3_tmul_vec(after, axis);
}

/* ---------------------------------------------------------------- hulls */

static bool is_static(const Mjcf* m, int link) { return m->model->links[link].tree < 0; }

static bool is_mesh(const ModelHull* hull) {
  Pose pose;
  Vec3 half;
  if (hull_is_round(hull))
    return hull_contact_geometry(hull).points.count > 2 ||
           (hull_contact_geometry(hull).ring_count > 0 && !hull_is_cylinder(hull));
  return hull->kind->bounded && !hull_is_box(&hull->solid, &pose, &half);
}

void mjcf_hull_name(Text* name, const Model* model, int hull) {
  assert(hull >= 0 && hull < model->hull_count);
  const ModelLink* link = &model->links[model->hulls[hull].link];
  name->length = 0;
  text_add(name, "%s/%d", link->name, hull - link->hull_first);
}

static void add_assets(Mjcf* m) {
  const Model* model = m->model;
  Text name = {0};
  text_add(m->out, "  <asset>\n");
  for (int h = 0; h < model->hull_count; h++) {
    const ConvexHull* solid = &model->hulls[h].solid;
    if (!is_mesh(&model->hulls[h])) continue;
    mjcf_hull_name(&name, model, h);
    text_add(m->out, "    <mesh");
    xml_text(m->out, "name", name.data);
    text_add(m->out, " vertex=\"");
    for (int i = 0; i < solid->vertex_count; i++)
      text_add_numbers(m->out, (const double[]){solid->vertices[i].x, solid->vertices[i].y, solid->vertices[i].z}, 3);
    text_add(m->out, "\"/>\n");
  }
  text_add(m->out, "  </asset>\n");
  text_free(&name);
}

/* Returns the smallest rotation from the z axis to a unit normal. */
static Quat quat_from_z(Vec3 normal) {
  if (normal.z < -1.0 + 1e-12) return (Quat){0, 1, 0, 0};
  return quat_normalized((Quat){1.0 + normal.z, -normal.y, normal.x, 0});
}

/* Writes a half-space. MuJoCo's planes are static, so a moving half-space becomes a slab. */
static void add_half_space(Mjcf* m, const ModelHull* hull) {
  Quat turn = quat_from_z(hull->normal);
  if (is_static(m, hull->link)) {
    text_add(m->out, " type=\"plane\" size=\"0 0 1\"");
    xml_vector(m->out, "pos", vec3_scale(hull->normal, hull->offset));
  } else {
    mjcf_note(m, m->model->links[hull->link].name,
              "the half-space moves with the link and is written as a box of 200 x 200 x 2 m, because planes of MuJoCo "
              "cannot move");
    text_add(m->out, " type=\"box\"");
    xml_vector(m->out, "size", vec3(SLAB_HALF_WIDTH, SLAB_HALF_WIDTH, SLAB_HALF_THICKNESS));
    xml_vector(m->out, "pos", vec3_scale(hull->normal, hull->offset - SLAB_HALF_THICKNESS));
  }
  xml_quat(m->out, "quat", turn);
}

/* Writes a sphere, capsule or cylinder by its radius and half the length of its straight part. */
static void add_round(Mjcf* m, const ModelHull* hull) {
  RoundBody body = hull_contact_geometry(hull);
  PointView core = body.points;
  const char* type = "sphere";
  double radius = body.rounding, half = 0;
  Quat turn = quat_from_mat3(hull->smooth->pose.r);
  if (body.ring_count > 0) {
    type = "cylinder";
    radius = body.rings[0].radius;
    half = 0.5 * vec3_norm(vec3_sub(body.rings[1].center, body.rings[0].center));
  } else if (core.count > 1) {
    type = "capsule";
    Vec3 along = vec3(core.x[1] - core.x[0], core.y[1] - core.y[0], core.z[1] - core.z[0]);
    Vec3 axis = mat3_mul_vec(hull->smooth->pose.r, vec3(0, 0, 1));
    half = 0.5 * vec3_norm(along);
    /* the axis of a capsule that is a rounded box or two points need not be along z */
    if (vec3_dot(axis, along) < 2 * half * (1 - 1e-12)) turn = quat_from_z(vec3_normalized(along));
  }
  text_add(m->out, " type=\"%s\" size=\"", type);
  text_add_numbers(m->out, (const double[]){radius, half}, half > 0 ? 2 : 1);
  text_add(m->out, "\"");
  xml_vector(m->out, "pos", hull->center);
  xml_quat(m->out, "quat", turn);
}

static void add_geom(Mjcf* m, int index) {
  const ModelHull* hull = &m->model->hulls[index];
  Text name = {0};
  Pose pose;
  Vec3 half;
  mjcf_hull_name(&name, m->model, index);
  mjcf_indent(m);
  text_add(m->out, "<geom");
  xml_text(m->out, "name", name.data);
  if (!hull->kind->bounded) {
    add_half_space(m, hull);
  } else if (hull_is_round(hull) && !is_mesh(hull)) {
    add_round(m, hull);
  } else if (hull_is_box(&hull->solid, &pose, &half)) {
    text_add(m->out, " type=\"box\"");
    xml_vector(m->out, "size", half);
    xml_vector(m->out, "pos", pose.t);
    xml_quat(m->out, "quat", quat_from_mat3(pose.r));
  } else {
    text_add(m->out, " type=\"mesh\"");
    xml_text(m->out, "mesh", name.data);
  }
  if (!m->model->links[hull->link].collide) text_add(m->out, " contype=\"0\" conaffinity=\"0\"");
  const float* color = m->color[hull->link];
  text_add(m->out, " rgba=\"%.3f %.3f %.3f 1\"/>\n", srgb_from_linear((double)color[0]),
           srgb_from_linear((double)color[1]), srgb_from_linear((double)color[2]));
  text_free(&name);
}

/* ---------------------------------------------------------------- mass */

void mjcf_add_inertial(Mjcf* m, const ModelLink* link, double share) {
  assert(share >= 0 && share <= 1);
  Mat3 i = mat3_scale(mass_moment_inertia_tensor(&link->moment), share);
  const double mass = link->mass * share;
  const double six[6] = {i.m[0][0], i.m[1][1], i.m[2][2], i.m[0][1], i.m[0][2], i.m[1][2]};
  text_add(m->out, "<inertial");
  xml_vector(m->out, "pos", link->center);
  xml_numbers(m->out, "mass", &mass, 1);
  xml_numbers(m->out, "fullinertia", six, 6);
  text_add(m->out, "/>");
}

static void add_inertial(Mjcf* m, int index) {
  const ModelLink* link = &m->model->links[index];
  if (is_static(m, index)) return;
  if (!(link->mass > 0)) {
    if (link->dof_count == 0) return;
    mjcf_note(m, link->name,
              "the link moves and has no mass: 1 kg and 1 kg m^2 are written; set the mass of the link in the scene");
    mjcf_indent(m);
    text_add(m->out, "<inertial pos=\"0 0 0\" mass=\"1\" diaginertia=\"1 1 1\"/>\n");
    return;
  }
  mjcf_indent(m);
  mjcf_add_inertial(m, link, 1.0 / mjcf_body_count(m, index));
  text_add(m->out, "\n");
}

/* ---------------------------------------------------------------- joints */

/* Returns true for a joint with six degrees of freedom relative to the world without drive, damping, limits or springs.
 */
bool mjcf_is_free(const Mjcf* m, int index) {
  assert(index >= 0 && index < m->model->link_count);
  const ModelLink* link = &m->model->links[index];
  if (link->parent >= 0 || !joint_is_floating(&link->joint) || mjcf_is_driven(m, index)) return false;
  for (int k = 0; k < link->dof_count; k++)
    if (link->damping[k] > 0 || link->limited[k] || link->passive) return false;
  return true;
}

static void add_coordinates(Text* out, const double* values, int count) { text_add_numbers(out, values, count); }

/* Writes a free joint. Its coordinates are world position and orientation; its velocity is in world axes, its angular
 * velocity in body axes. */
static void add_free_joint(Mjcf* m, int index) {
  const ModelLink* link = &m->model->links[index];
  const double* v = m->model->initial_velocities + link->dof_first;
  Pose pose =
      pose_mul(link->origin, joint_motion(&link->joint, m->model->initial_coordinates + link->coordinate_first));
  Quat q = quat_from_mat3(pose.r);
  Vec3 speed = vec3(0, 0, 0);
  for (int k = 0; k < 3; k++) speed = vec3_add_scaled(speed, v[k], link->joint.slide_axis[k]);
  speed = mat3_mul_vec(link->origin.r, speed);
  mjcf_indent(m);
  text_add(m->out, "<freejoint");
  xml_text(m->out, "name", link->name);
  text_add(m->out, "/>\n");
  add_coordinates(&m->qpos, (const double[]){pose.t.x, pose.t.y, pose.t.z, q.w, q.x, q.y, q.z}, 7);
  add_coordinates(&m->qvel, (const double[]){speed.x, speed.y, speed.z, v[3], v[4], v[5]}, 6);
}

void mjcf_joint_name(Text* name, const Mjcf* m, int index, int dof) {
  assert(dof >= 0 && dof < m->model->links[index].dof_count);
  const ModelLink* link = &m->model->links[index];
  const SceneJoint* joint = &m->model->scene->links[index].joint;
  bool ball = dof >= link->joint.scalar_count;
  name->length = 0;
  text_add(name, "%s/%s", link->name, ball ? "rotation" : scene_joint_coordinate_name(joint, dof));
}

static void add_limits(Mjcf* m, const ModelLink* link, int dof, bool ball) {
  if (ball && (link->limited[dof + 1] || link->limited[dof + 2]))
    mjcf_note(m, link->name,
              "the limits of swing and twist are left out: MuJoCo limits only the total rotation of a ball joint");
  if (!link->limited[dof]) return;
  double low = isfinite(link->lower[dof]) ? link->lower[dof] : -LIMIT_OPEN;
  double high = isfinite(link->upper[dof]) ? link->upper[dof] : LIMIT_OPEN;
  if (ball) low = 0;
  text_add(m->out, " limited=\"true\"");
  xml_numbers(m->out, "range", (const double[]){low, high}, 2);
}

static void add_passive(Mjcf* m, const ModelLink* link, int dof, bool plain) {
  if (!link->passive) return;
  if (link->stiffness[dof] > 0) xml_numbers(m->out, "stiffness", &link->stiffness[dof], 1);
  if (link->stiffness[dof] > 0 && plain) xml_numbers(m->out, "springref", &link->rest[dof], 1);
  if (link->stiffness[dof] > 0 && !plain)
    mjcf_note(m, link->name,
              "the spring of the ball joint acts towards zero rotation in MuJoCo, with the stiffness of the first axis "
              "about all axes");
  if (link->friction[dof] > 0 && !plain)
    mjcf_note(m, link->name,
              "the dry friction of the ball joint acts about each axis separately in MuJoCo, not along the relative "
              "angular velocity");
  if (link->static_friction[dof] > link->friction[dof])
    mjcf_note(m, link->name,
              "the static friction of the joint is left out: friction of MuJoCo does not depend on the speed");
  if (link->friction[dof] > 0) xml_numbers(m->out, "frictionloss", &link->friction[dof], 1);
}

/* Writes the attribute armature: the armature of the joint plus the rotor inertia of its drive. */
static void add_armature(Mjcf* m, int index, int dof) {
  const ModelLink* link = &m->model->links[index];
  double armature = mjcf_rotor_inertia(m, index, dof) + (link->passive ? link->armature[dof] : 0);
  if (armature > 0) xml_numbers(m->out, "armature", &armature, 1);
}

static void add_joint(Mjcf* m, int index, int dof, const char* type, const Vec3* axis) {
  const ModelLink* link = &m->model->links[index];
  Text name = {0};
  mjcf_joint_name(&name, m, index, dof);
  mjcf_indent(m);
  text_add(m->out, "<joint type=\"%s\"", type);
  xml_text(m->out, "name", name.data);
  if (axis) xml_vector(m->out, "axis", reference_axis(m, index, dof));
  if (axis && mjcf_has_initial_coordinates(m, index))
    xml_numbers(m->out, "ref", &initial_coordinates(m, index)[dof], 1);
  add_limits(m, link, dof, !axis);
  double damping = link->damping[dof];
  if (!axis) {
    damping = fmax(damping, fmax(link->damping[dof + 1], link->damping[dof + 2]));
    if (link->damping[dof] < damping || link->damping[dof + 1] < damping || link->damping[dof + 2] < damping)
      mjcf_note(m, link->name,
                "the damping of the ball joint differs between its axes: the largest value is written for all axes");
  }
  if (damping > 0) xml_numbers(m->out, "damping", &damping, 1);
  add_passive(m, link, dof, axis != NULL);
  add_armature(m, index, dof);
  text_add(m->out, "/>\n");
  text_free(&name);
}

/* Writes a screw joint as a slide along the axis and a hinge, which mjcf_add_closures couples. */
static void add_screw_joint(Mjcf* m, int index) {
  const ModelLink* link = &m->model->links[index];
  double displacement = mjcf_screw_pitch(link) * initial_coordinates(m, index)[0];
  double speed = mjcf_screw_pitch(link) * m->model->initial_velocities[link->dof_first];
  Text name = {0};
  text_add(&name, "%s/thread", link->name);
  mjcf_indent(m);
  text_add(m->out, "<joint type=\"slide\"");
  xml_text(m->out, "name", name.data);
  xml_vector(m->out, "axis", link->joint.axis[0]);
  if (mjcf_has_initial_reference(m)) xml_numbers(m->out, "ref", &displacement, 1);
  text_add(m->out, "/>\n");
  text_free(&name);
  add_joint(m, index, 0, "hinge", &link->joint.axis[0]);
  add_coordinates(&m->qpos, &displacement, 1);
  add_coordinates(&m->qvel, &speed, 1);
}

static void add_joints(Mjcf* m, int index) {
  const ModelLink* link = &m->model->links[index];
  if (mjcf_is_free(m, index)) {
    add_free_joint(m, index);
    return;
  }
  if (mjcf_screw_pitch(link) != 0) add_screw_joint(m, index);
  for (int k = 0; k < link->joint.slide_count; k++) add_joint(m, index, k, "slide", &link->joint.slide_axis[k]);
  for (int k = 0; k < link->joint.hinge_count; k++)
    add_joint(m, index, link->joint.slide_count + k, "hinge", &link->joint.axis[k]);
  if (link->joint.quaternion) add_joint(m, index, link->joint.scalar_count, "ball", NULL);
  bool turned = link->joint.quaternion && mjcf_has_initial_coordinates(m, index);
  add_coordinates(&m->qpos, initial_coordinates(m, index), turned ? link->joint.scalar_count : link->coordinate_count);
  if (turned) add_coordinates(&m->qpos, (const double[]){1, 0, 0, 0}, 4);
  add_coordinates(&m->qvel, m->model->initial_velocities + link->dof_first, link->dof_count);
}

/* ---------------------------------------------------------------- bodies */

static void open_body(Mjcf* m, int index) {
  const ModelLink* link = &m->model->links[index];
  mjcf_indent(m);
  text_add(m->out, "<body");
  xml_text(m->out, "name", link->name);
  Pose pose = reference_pose(m, index);
  xml_vector(m->out, "pos", pose.t);
  xml_quat(m->out, "quat", quat_from_mat3(pose.r));
  text_add(m->out, ">\n");
  m->depth++;
  add_joints(m, index);
  add_inertial(m, index);
  mjcf_add_load_sites(m, index);
  mjcf_add_closure_sites(m, index);
  mjcf_add_tendon_sites(m, index);
  for (int k = 0; k < link->hull_count; k++) add_geom(m, link->hull_first + k);
  mjcf_add_closure_bodies(m, index);
}

static void close_body(Mjcf* m) {
  m->depth--;
  mjcf_indent(m);
  text_add(m->out, "</body>\n");
}

/* Writes the bodies depth first, without recursion because chains may be long. */
static void add_bodies(Mjcf* m) {
  int link = m->first_child[m->model->link_count];
  while (link >= 0) {
    open_body(m, link);
    if (m->first_child[link] >= 0) {
      link = m->first_child[link];
      continue;
    }
    close_body(m);
    while (m->next_sibling[link] < 0) {
      link = m->model->links[link].parent;
      if (link < 0) return;
      close_body(m);
    }
    link = m->next_sibling[link];
  }
}

/* ---------------------------------------------------------------- the file */

/* Returns the name of MuJoCo's integrator. Large rate gains need an implicit integrator, unless rotor inertias
 * represent the gains. */
/* Writes the fluid as attributes of <option>. MuJoCo's drag of a box is that of (fluid.md, L12): the pressure of its
 * faces. MuJoCo represents every other body by the box with the same inertia. */
static void add_fluid(Mjcf* m) {
  const SceneFluid* fluid = &m->model->scene->fluid;
  if (!(fluid->density > 0 || fluid->viscosity > 0)) return;
  if (fluid->has_level) {
    mjcf_note(m, NULL, "the fluid is left out: a fluid of MuJoCo has no surface and no buoyancy");
    return;
  }
  xml_numbers(m->out, "density", &fluid->density, 1);
  xml_numbers(m->out, "viscosity", &fluid->viscosity, 1);
  xml_vector(m->out, "wind", fluid->velocity);
  mjcf_note(m, NULL,
            "a fluid of MuJoCo has no buoyancy, and its drag is that of boxes with the inertia of the links: bodies "
            "other than boxes have another drag");
}

static const char* integrator_name(const Mjcf* m) {
  if (m->rotors) return "Euler";
  bool second = m->model->simulation.integrator == INTEGRATOR_SECOND_ORDER;
  return second && !mjcf_has_rate_gain(m->model) ? "RK4" : "implicit";
}

static void add_options(Mjcf* m) {
  const Model* model = m->model;
  const Vec3 gravity = model->simulation.gravity;
  int contacts = CONTACTS_FIXED + CONTACTS_PER_LINK * model->link_count;
  text_add(m->out, "  <compiler angle=\"radian\" coordinate=\"local\" inertiafromgeom=\"false\"/>\n");
  if (model->link_count < ARENA_LINKS)
    text_add(m->out, "  <size nconmax=\"%d\" njmax=\"%d\"/>\n", contacts, 3 * contacts);
  else
    text_add(m->out, "  <size memory=\"%dM\"/>\n", MEMORY_FIXED + model->link_count / LINKS_PER_MEGABYTE);
  text_add(m->out, "  <option");
  xml_numbers(m->out, "timestep", &m->step, 1);
  xml_vector(m->out, "gravity", gravity);
  add_fluid(m);
  text_add(m->out, " integrator=\"%s\" cone=\"elliptic\" solver=\"Newton\" tolerance=\"1e-12\" iterations=\"200\">\n",
           integrator_name(m));
  text_add(m->out, "    <flag filterparent=\"disable\" multiccd=\"enable\"%s/>\n  </option>\n",
           model->contact_model == CONTACT_NONE ? " contact=\"disable\"" : "");
  bool small = mjcf_has_small_restitution(model), step = m->step != model->simulation.dt;
  /* INTEGRATOR_MOMENTUM is the default when the file is imported again */
  bool other = model->simulation.integrator != INTEGRATOR_MOMENTUM;
  if (!small && !step && !other) return;
  text_add(m->out,
           "  <custom>\n"); /* for re-import: the scene's own values, and the meaning of damping ratios above 1 */
  if (step) {
    text_add(m->out, "    <numeric name=\"sdrs_dt\"");
    xml_numbers(m->out, "data", &model->simulation.dt, 1);
    text_add(m->out, "/>\n");
  }
  if (other)
    text_add(m->out, "    <numeric name=\"sdrs_integrator\" data=\"%d\"/>\n", (int)model->simulation.integrator);
  if (small) text_add(m->out, "    <numeric name=\"sdrs_restitution\" data=\"1\"/>\n");
  text_add(m->out, "  </custom>\n");
}

static bool has_dry_friction(const Model* model) {
  for (int k = 0; k < model->dof_count; k++) {
    const ModelLink* link = &model->links[model->dof_link[k]];
    if (link->passive && link->friction[k - link->dof_first] > 0) return true;
  }
  return false;
}

static void add_defaults(Mjcf* m) {
  const ModelContact* contact = &m->model->contact;
  const double limit[2] = {LIMIT_STEPS * m->step, 1.0};
  double solref[2];
  mjcf_contact_solref(m, contact->restitution, solref);
  double margin = m->model->contact_model == CONTACT_NONE ? 0.0 : CONTACT_MARGIN * contact->gap_at_rest;
  text_add(m->out, "  <default>\n    <geom condim=\"%d\"",
           mjcf_contact_dimension(contact->friction, contact->spinning, contact->rolling));
  xml_numbers(m->out, "friction", (const double[]){contact->friction, contact->spinning, contact->rolling}, 3);
  xml_numbers(m->out, "solref", solref, 2);
  text_add(m->out, " solimp=\"" MJCF_CONTACT_IMPEDANCE "\"");
  xml_numbers(m->out, "margin", &margin, 1);
  if (m->model->has_materials) { /* explicit pairs do not inherit these values from their geoms */
    text_add(m->out, "/>\n    <pair");
    xml_numbers(m->out, "solref", solref, 2);
    text_add(m->out, " solimp=\"" MJCF_CONTACT_IMPEDANCE "\"");
    xml_numbers(m->out, "margin", &margin, 1);
  }
  text_add(m->out, "/>\n    <joint");
  xml_numbers(m->out, "solreflimit", limit, 2);
  /* with MuJoCo's default solimpfriction, a joint at rest would creep a hundred times as fast */
  if (has_dry_friction(m->model)) {
    xml_numbers(m->out, "solreffriction", limit, 2);
    text_add(m->out, " solimpfriction=\"" MJCF_CONTACT_IMPEDANCE "\"");
  }
  if (mjcf_has_equality(m)) {
    text_add(m->out, "/>\n    <equality");
    xml_numbers(m->out, "solref", limit, 2);
    text_add(m->out, " solimp=\"" MJCF_CONTACT_IMPEDANCE "\"");
  }
  text_add(m->out, "/>\n  </default>\n");
}

static void add_keyframe(Mjcf* m) {
  text_add(m->out, "  <keyframe>\n    <key name=\"initial\"");
  if (m->qpos.length > 0) text_add(m->out, " qpos=\"%s\"", m->qpos.data + 1);
  if (m->qvel.length > 0) text_add(m->out, " qvel=\"%s\"", m->qvel.data + 1);
  if (m->control.length > 0) text_add(m->out, " ctrl=\"%s\"", m->control.data + 1);
  text_add(m->out, "/>\n  </keyframe>\n");
}

/* SOFT_DEPTH: penetration of a free body that lands without restitution, in steps times the landing speed. SOFT_TIME:
 * number of steps in which the penetration decays by a factor of e. A contact with a time constant of ten steps and
 * five times the critical damping has the rates 0.198 and 0.00202 per step. By these rates the depth is 4.8 steps times
 * the speed. MuJoCo 3.3.8 gives 4.5: 19.7 mm at 4.43 m/s and a step of 1 ms. The time is 1 / 0.00202. */
#define SOFT_DEPTH 4.5
#define SOFT_TIME 495.0

static void note_restitution(Mjcf* m) {
  if (m->model->scene->contact.elastic && m->model->contact_model != CONTACT_NONE)
    mjcf_note(m, NULL,
              "contact.restitution is null (barrier without damping), which MuJoCo does not support: the contacts in "
              "the file are damped");
  else if (mjcf_has_soft_contact(m->model)) {
    Text text = {0};
    text_add(&text,
             "contact with a restitution below 0.135 is soft in MuJoCo: a body that lands at 1 m/s penetrates by %.2g "
             "mm and comes out in %.2g s; for harder contact, set a shorter time constant in 'solref'",
             SOFT_DEPTH * m->step * 1e3, SOFT_TIME * m->step);
    mjcf_note(m, NULL, text.data);
    text_free(&text);
  }
}

static void note_meshes(Mjcf* m) {
  Text text = {0};
  append_mesh_deviation(&text, m->model, is_mesh, NULL);
  if (text.length > 0) mjcf_note(m, NULL, text.data);
  text_free(&text);
}

static void add_model(Mjcf* m) {
  note_restitution(m);
  note_meshes(m);
  mjcf_add_drives(m);
  mjcf_add_loads(m);
  mjcf_add_compensation(m);
  mjcf_add_tendon_motors(m);
  text_add(m->out, "<mujoco");
  xml_text(m->out, "model", m->model->scene->name);
  text_add(m->out, ">\n");
  add_options(m);
  add_defaults(m);
  add_assets(m);
  text_add(m->out, "  <worldbody>\n");
  if (mjcf_has_world_loads(m)) text_add(m->out, "    <site name=\"world\"/>\n");
  m->depth = 2;
  mjcf_add_closure_sites(m, -1);
  mjcf_add_tendon_sites(m, -1);
  mjcf_add_closure_bodies(m, -1);
  add_bodies(m);
  text_add(m->out, "  </worldbody>\n");
  mjcf_add_contacts(m);
  mjcf_add_tendons(m);
  mjcf_add_closures(m);
  if (m->actuators.length > 0) text_add(m->out, "  <actuator>\n%s  </actuator>\n", m->actuators.data);
  mjcf_add_sensors(m);
  add_keyframe(m);
  text_add(m->out, "</mujoco>\n");
}

static void mjcf_free(Mjcf* m) {
  text_free(&m->qpos);
  text_free(&m->qvel);
  text_free(&m->actuators);
  text_free(&m->control);
  text_free(&m->names);
  memory_free(m->first_child);
  memory_free(m->next_sibling);
  memory_free(m->subtree_mass);
  memory_free(m->start);
  memory_free(m->color);
}

/* ---------------------------------------------------------------- table of controls over time */

static void add_control_row(Text* out, const Mjcf* m, double time) {
  text_add_double(out, time);
  mjcf_add_drive_controls(out, m, time);
  mjcf_add_load_controls(out, m->model, time);
  mjcf_add_compensation_controls(out, m);
  mjcf_add_tendon_controls(out, m->model, time);
  text_add(out, "\n");
}

static void add_controls(Text* out, const Mjcf* m) {
  text_add(out, "time%s\n", m->names.length > 0 ? m->names.data : "");
  for (int k = 0; k <= m->model->simulation.steps; k++) add_control_row(out, m, k * m->model->simulation.dt);
}

void export_mjcf(const Model* model, const char* path, Text* mjcf, Text* controls, Text* feedback,
                 Diagnostics* diagnostics) {
  Mjcf m = {.model = model, .diagnostics = diagnostics, .place = {path, 0, 0}, .out = mjcf, .feedback = feedback};
  m.step = fmin(model->simulation.dt, STEP_MAX);
  m.color = (float(*)[3])memory_alloc(sizeof(float[3]) * (size_t)(model->link_count + 1));
  link_colors(model, m.color);
  find_children(&m);
  m.start = MEMORY_NEW(Pose, model->link_count + 1);
  model_poses(model, model->initial_coordinates, m.start);
  add_model(&m);
  if (mjcf_drives_vary(model) || mjcf_loads_vary(model) || mjcf_tendons_vary(model)) add_controls(controls, &m);
  mjcf_free(&m);
}
