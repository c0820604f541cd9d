/* Joint reactions: the force and torque that the parent exerts on a link and its descendants, computed from the terms
 * of the solved step (docs/derivations/observables.md, O1). */
#include <assert.h>
#include <string.h>

#include "simulate/loads.h"
#include "simulate/tree_flight.h"

void reactions_create(Sim* s) {
  if (!(s->model->simulation.output & OUTPUT_REACTIONS)) return;
  size_t size = sizeof(double[6]) * (size_t)s->model->link_count;
  s->joint_reports.substep_reactions = memory_alloc(size);
  s->joint_reports.reactions = memory_alloc(size);
  s->joint_reports.reaction_sum = memory_alloc(size);
}

/* Adds a force and a torque to sum[6], a force followed by a torque. arm: vector from the reference point of sum to the
 * point that `torque` refers to [m]. */
static void add_wrench(double sum[6], Vec3 force, Vec3 torque, Vec3 arm) {
  Vec3 t = vec3_add(torque, vec3_cross(arm, force));
  const double wrench[6] = {force.x, force.y, force.z, t.x, t.y, t.z};
  for (int k = 0; k < 6; k++) sum[k] += wrench[k];
}

/* Adds the change of momentum that the target pose of link i contains, in a tree that conserves momentum (spin.md,
 * W11), at the poses at the start of the step. */
static void add_target_momentum_change(const Sim* s, int i) {
  const TreeFlight* f = s->flight;
  double d[3][4], bar[3][4];
  tree_flight_displacement(s, i, d);
  inertia_second_moment_product(&s->model->links[i], (const double(*)[4])d, bar);
  Mat3 moment;
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) moment.m[r][c] = bar[r][c] / f->gravity_time;
  Vec3 force = vec3_scale(vec3(bar[0][3], bar[1][3], bar[2][3]), 1 / f->gravity_time);
  Vec3 torque = mat3_axial(mat3_mul(moment, mat3_transpose(s->pose_now[i].r)));
  if (f->is_wheel[i])
    torque =
        vec3_add_scaled(torque, flight_wheel_residual(s, i) / f->gravity_time, f->screws_now[flight_wheel_dof(s, i)].w);
  add_wrench(s->joint_reports.reaction_sum[i], force, torque, vec3(0, 0, 0));
}

/* Adds the closure forces that the targets of trees that conserve momentum contain (W15), at the poses at the start of
 * the step. */
static void add_target_closure_forces(const Sim* s) {
  const ClosureSystem* c = s->closures;
  if (!c || !c->has_target_force) return;
  for (int k = 0; k < s->model->closure_count; k++) {
    const ModelClosure* closure = &s->model->closures[k];
    double wrench[12];
    if (c->open[k]) continue;
    closure_row_wrench(c, k, s->pose_now, s->flight->center_now, c->target_force, wrench);
    for (int side = 0; side < 2; side++) {
      int link = closure->link[side];
      if (link < 0) continue;
      Vec3 arm = vec3_sub(s->flight->center_now[link], s->pose_now[link].t);
      add_wrench(s->joint_reports.reaction_sum[link], vec3_at(wrench + 6 * side + 3), vec3_at(wrench + 6 * side), arm);
    }
  }
}

/* Subtracts the loads on link i that the target of its tree contains (W52), at the poses at the start of the step. */
static void subtract_target_loads(const Sim* s, int i) {
  double b[3][4];
  if (!load_is_in_target(s, i)) return;
  load_matrix(&s->loads[i], s->pose_now[i].r, b);
  Vec3 force = vec3(-b[0][3], -b[1][3], -b[2][3]);
  Vec3 torque = vec3_scale(load_origin_torque((const double(*)[4])b, s->pose_now[i].r), -1);
  add_wrench(s->joint_reports.reaction_sum[i], force, torque, vec3(0, 0, 0));
}

static void add_gravity(const Sim* s, int i, const Pose* pose) {
  const ModelLink* link = &s->model->links[i];
  Vec3 force = vec3_scale(model_link_gravity(s->model, i), -link->mass);
  add_wrench(s->joint_reports.reaction_sum[i], force, vec3(0, 0, 0),
             vec3_sub(pose_apply(pose[i], link->center), pose[i].t));
}

/* Adds the wrench of a field on link i. Fields act at the poses at the start of the step. */
static void add_field_wrench(const Sim* s, const ModelLoad* load, int i, const Pose* pose) {
  StepSpan span = step_span(s, SIGNAL_IS_FORCE);
  FieldWrench w = field_wrench(s->model, load, &span, s->pose_now);
  const int link[2] = {load->link, load->field->to};
  for (int side = 0; side < 2; side++)
    if (link[side] == i)
      add_wrench(s->joint_reports.reaction_sum[i], vec3_scale(w.force[side], -1), vec3_scale(w.torque[side], -1),
                 mat3_mul_vec(pose[i].r, s->model->links[i].center));
}

/* Adds the loads on link i, which cannot move. The step itself ignores these loads. */
static void add_load_wrenches(const Sim* s, int i, const Pose* pose) {
  StepSpan span = step_span(s, SIGNAL_IS_FORCE);
  for (int k = 0; k < s->model->load_count; k++) {
    const ModelLoad* l = &s->model->loads[k];
    if (l->field) add_field_wrench(s, l, i, pose);
    if (l->field || l->link != i) continue;
    Vec3 force = load_value(&l->force, &span), torque = load_value(&l->torque, &span);
    if (l->link_axes) force = mat3_mul_vec(pose[i].r, force);
    if (l->link_axes) torque = mat3_mul_vec(pose[i].r, torque);
    add_wrench(s->joint_reports.reaction_sum[i], vec3_scale(force, -1), vec3_scale(torque, -1),
               mat3_mul_vec(pose[i].r, model_load_point(s->model, l)));
  }
}

/* Links that cannot move have no link terms. Their weight and loads are added here and passed on to immovable parents.
 */
void reactions_from_terms(Sim* s, double (*out)[6]) {
  const Model* m = s->model;
  const Pose* pose = s->configuration[s->current].pose;
  memset(s->joint_reports.reaction_sum, 0, sizeof(double[6]) * (size_t)m->link_count);
  add_target_closure_forces(s);
  for (int i = m->link_count - 1; i >= 0; i--) {
    const ModelLink* link = &m->links[i];
    double* sum = s->joint_reports.reaction_sum[i];
    if (tree_flight_has_target(s->flight, link)) add_target_momentum_change(s, i);
    subtract_target_loads(s, i);
    if (link->tree < 0) add_gravity(s, i, pose);
    if (link->tree < 0) add_load_wrenches(s, i, pose);
    memcpy(out[i], sum, sizeof(double[6]));
    const LinkTerms* terms = &s->assembly.terms[i];
    add_wrench(out[i], terms->force, mat3_axial(terms->moment), vec3_sub(s->assembly.reference[i], pose[i].t));
    if (link->parent < 0) continue;
    const double* up = link->tree < 0 ? out[i] : sum;
    const Pose* at = link->tree < 0 ? pose : s->pose_now;
    add_wrench(s->joint_reports.reaction_sum[link->parent], vec3_at(up), vec3_at(up + 3),
               vec3_sub(at[i].t, at[link->parent].t));
  }
}

void reactions_compute(Sim* s) {
  if (!s->joint_reports.substep_reactions) return;
  Assembly assembly;
  step_assemble_keeping_scales(s, s->contact ? contact_term_list(s->contact) : (ContactTermList){0}, &assembly);
  reactions_from_terms(s, s->joint_reports.substep_reactions);
}

void reactions_publish(Sim* s) {
  if (!s->joint_reports.substep_reactions) return;
  memcpy(s->joint_reports.reactions, s->joint_reports.substep_reactions,
         sizeof(double[6]) * (size_t)s->model->link_count);
}

const double (*sim_reactions(const Sim* s))[6] { return (const double(*)[6])s->joint_reports.reactions; }

bool sim_reaction_derives(const Model* model, int link) {
  assert(link >= 0 && link < model->link_count);
  int tree = model->links[link].tree;
  return tree >= 0 && !(model->trees[tree].flies && model->closure_count > 0);
}
