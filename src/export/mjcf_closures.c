/* Closures and couplings in MJCF (docs/export.md). */
#include <assert.h>
#include "export/mjcf_parts.h"

/* Returns the side (0 or 1) of a slide closure whose link moves along the slide: side 0 if its link has a mass,
 * otherwise side 1. Returns -1 if neither link has a mass. */
static int sliding_side(const Mjcf* m, const ModelClosure* c) {
  assert(c->type == CLOSURE_SLIDE);
  for (int side = 0; side < 2; side++) {
    int link = c->link[side];
    if (link >= 0 && m->model->links[link].tree >= 0 && m->model->links[link].mass > 0) return side;
  }
  return -1;
}

/* Returns the reason why a closure cannot be exported, a static text, or NULL. */
static const char* explain_unsupported_closure(const Mjcf* m, const ModelClosure* c) {
  if (c->type == CLOSURE_SLIDE && sliding_side(m, c) < 0)
    return "a closure of type slide is left out: MuJoCo would need an additional body with mass";
  for (int side = 0; side < 2; side++)
    for (int i = c->link[side]; i >= 0; i = m->model->links[i].parent)
      if (!mjcf_has_initial_coordinates(m, i))
        return "a closure of the link is left out: a ball joint of the loop has a drive, spring or limit, which MuJoCo "
               "measures from a reference pose in which the loop would be open";
  return NULL;
}

static bool has_site(const Mjcf* m, const ModelClosure* c) {
  return c->type == CLOSURE_DISTANCE && !explain_unsupported_closure(m, c);
}

/* Writes the end points of distance closures on a link, or on the world (-1). */
void mjcf_add_closure_sites(Mjcf* m, int index) {
  for (int k = 0; k < m->model->closure_count; k++)
    for (int side = 0; side < 2; side++) {
      const ModelClosure* c = &m->model->closures[k];
      if (c->link[side] != index || !has_site(m, c)) continue;
      mjcf_indent(m);
      text_add(m->out, "<site name=\"closure%d %d\"", k, side);
      xml_vector(m->out, "pos", c->end[side]);
      text_add(m->out, "/>\n");
    }
}

/* Slide closures. MuJoCo has no equality constraint with a free translation. A fraction of the sliding link's mass
 * therefore becomes a separate body on a slide joint of the other link. This body is welded to the rest of the sliding
 * link. A weld between similar masses is as stiff as other constraints. */

static const ModelClosure* slide_closure(const Mjcf* m, int k) {
  const ModelClosure* c = &m->model->closures[k];
  return c->type == CLOSURE_SLIDE && !explain_unsupported_closure(m, c) ? c : NULL;
}

int mjcf_body_count(const Mjcf* m, int index) {
  int parts = 1;
  for (int k = 0; k < m->model->closure_count; k++) {
    const ModelClosure* c = slide_closure(m, k);
    parts += c && c->link[sliding_side(m, c)] == index;
  }
  return parts;
}

/* Returns the initial velocity [m/s] of the material point of a link, or of the world (-1), at the world position x
 * [m]. */
static Vec3 start_velocity(const Mjcf* m, int link, Vec3 x) {
  Screw screws[JOINT_MAX_DOF];
  Vec3 v = vec3(0, 0, 0);
  for (int i = link; i >= 0; i = m->model->links[i].parent) {
    const ModelLink* ancestor = &m->model->links[i];
    Mat3 frame =
        ancestor->parent >= 0 ? mat3_mul(m->start[ancestor->parent].r, ancestor->origin.r) : ancestor->origin.r;
    joint_screws(&ancestor->joint, m->model->initial_coordinates + ancestor->coordinate_first, frame, m->start[i],
                 screws);
    for (int d = 0; d < ancestor->dof_count; d++)
      v = vec3_add_scaled(v, m->model->initial_velocities[ancestor->dof_first + d], screw_velocity(&screws[d], x));
  }
  return v;
}

static void add_slide_body(Mjcf* m, int k) {
  const ModelClosure* c = &m->model->closures[k];
  int side = sliding_side(m, c), link = c->link[side], carrier = c->link[1 - side];
  const ModelLink* slider = &m->model->links[link];
  Pose at = carrier >= 0 ? m->start[carrier] : pose_identity(), link_pose = m->start[link];
  Pose relative = pose_mul(pose_inverse(at), link_pose);
  /* the slide axis is perpendicular to the directions v of the last two constraint rows */
  const ClosureRow* across = &c->rows[c->row_count - 2];
  Pose b = model_closure_pose(c, 1, m->start);
  Vec3 axis = mat3_mul_vec(b.r, vec3_cross(across[0].v, across[1].v));
  axis = vec3_scale(axis, 1 / vec3_norm(axis));
  double speed =
      vec3_dot(axis, vec3_sub(start_velocity(m, link, link_pose.t), start_velocity(m, carrier, link_pose.t)));
  mjcf_indent(m);
  text_add(m->out, "<body name=\"closure%d\"", k);
  xml_vector(m->out, "pos", relative.t);
  xml_quat(m->out, "quat", quat_from_mat3(relative.r));
  text_add(m->out, "><joint type=\"slide\" name=\"closure%d\"", k);
  xml_vector(m->out, "axis", mat3_tmul_vec(link_pose.r, axis));
  text_add(m->out, "/>");
  mjcf_add_inertial(m, slider, 1.0 / mjcf_body_count(m, link));
  text_add(m->out, "</body>\n");
  text_add_numbers(&m->qpos, (const double[]){0}, 1);
  text_add_numbers(&m->qvel, &speed, 1);
}

void mjcf_add_closure_bodies(Mjcf* m, int index) {
  for (int k = 0; k < m->model->closure_count; k++) {
    const ModelClosure* c = slide_closure(m, k);
    if (c && c->link[1 - sliding_side(m, c)] == index) add_slide_body(m, k);
  }
}

static void add_body_attributes(Mjcf* m, const ModelClosure* c) {
  xml_text(m->out, "body1", m->model->links[c->link[0]].name);
  if (c->link[1] >= 0) xml_text(m->out, "body2", m->model->links[c->link[1]].name);
}

static void add_connect(Mjcf* m, const ModelClosure* c, Vec3 anchor) {
  text_add(m->out, "    <connect");
  add_body_attributes(m, c);
  xml_vector(m->out, "anchor", anchor);
  text_add(m->out, "/>\n");
}

static void add_equality(Mjcf* m, int k) {
  const ModelClosure* c = &m->model->closures[k];
  const char* name = m->model->links[c->link[0]].name;
  if (explain_unsupported_closure(m, c)) {
    mjcf_note(m, name, explain_unsupported_closure(m, c));
    return;
  }
  if (c->force_limit > 0 && !c->releases)
    mjcf_note(m, name, "'break_force' of the closure is left out: closures of MuJoCo do not break");
  if (c->active.source) mjcf_note(m, name, "'active' of the closure is left out: the closure always holds in MuJoCo");
  if (c->type == CLOSURE_SLIDE) {
    text_add(m->out, "    <weld");
    xml_text(m->out, "body1", m->model->links[c->link[sliding_side(m, c)]].name);
    text_add(m->out, " body2=\"closure%d\"/>\n", k);
  } else if (c->type == CLOSURE_WELD) {
    text_add(m->out, "    <weld");
    add_body_attributes(m, c);
    text_add(m->out, "/>\n");
  } else if (c->type == CLOSURE_DISTANCE) {
    text_add(m->out, "    <tendon tendon1=\"closure%d\"/>\n", k);
  } else {
    add_connect(m, c, c->end[0]);
    if (c->type == CLOSURE_HINGE) /* a second point of the hinge axis, at the distance c->size along the vector u of the
                                     last row */
      add_connect(m, c, vec3_add_scaled(c->end[0], c->size, c->rows[c->row_count - 1].u));
  }
}

static void add_tendons(Mjcf* m) {
  const Model* model = m->model;
  text_add(m->out, "  <tendon>\n");
  for (int k = 0; k < model->closure_count; k++)
    if (has_site(m, &model->closures[k]))
      text_add(m->out,
               "    <spatial name=\"closure%d\"><site site=\"closure%d 0\"/><site site=\"closure%d 1\"/></spatial>\n",
               k, k, k);
  for (int k = 0; k < model->coupling_count; k++) {
    const ModelCoupling* c = &model->couplings[k];
    text_add(m->out, "    <fixed name=\"coupling%d\">", k);
    for (int i = 0; i < c->count; i++) {
      Text name = {0};
      int link = model->dof_link[c->dof[i]];
      mjcf_joint_name(&name, m, link, c->dof[i] - model->links[link].dof_first);
      text_add(m->out, "<joint");
      xml_text(m->out, "joint", name.data);
      xml_numbers(m->out, "coef", &c->slope[i], 1);
      text_add(m->out, "/>");
      text_free(&name);
    }
    text_add(m->out, "</fixed>\n");
  }
  text_add(m->out, "  </tendon>\n");
}

bool mjcf_has_equality(const Mjcf* m) {
  bool any = mjcf_has_initial_reference(m);
  for (int i = 0; i < m->model->link_count; i++) any = any || mjcf_screw_pitch(&m->model->links[i]) != 0;
  return any;
}

/* Writes the equality of a screw joint: pitch times the rotation gives the displacement, both measured from MuJoCo's
 * reference configuration. */
static void add_screw_equality(Mjcf* m, int index) {
  const ModelLink* link = &m->model->links[index];
  double pitch = mjcf_screw_pitch(link);
  Text name = {0};
  if (pitch == 0) return;
  text_add(&name, "%s/thread", link->name);
  text_add(m->out, "    <joint");
  xml_text(m->out, "joint1", name.data);
  mjcf_joint_name(&name, m, index, 0);
  xml_text(m->out, "joint2", name.data);
  xml_numbers(m->out, "polycoef", (const double[]){0, pitch, 0, 0, 0}, 5);
  text_add(m->out, "/>\n");
  text_free(&name);
}

void mjcf_add_closures(Mjcf* m) {
  if (!mjcf_has_equality(m)) return;
  if (mjcf_has_initial_reference(m)) add_tendons(m);
  text_add(m->out, "  <equality>\n");
  for (int k = 0; k < m->model->closure_count; k++) add_equality(m, k);
  for (int k = 0; k < m->model->coupling_count; k++) text_add(m->out, "    <tendon tendon1=\"coupling%d\"/>\n", k);
  for (int i = 0; i < m->model->link_count; i++) add_screw_equality(m, i);
  text_add(m->out, "  </equality>\n");
}
