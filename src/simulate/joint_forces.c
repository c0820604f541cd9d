/* Generalized forces on the joints' coordinates, for the output. Each kind of force is computed at the solved
 * configuration from the joint's own terms (joint_terms.c, joint_passive.c), with all other kinds switched off. */
#include <assert.h>
#include <string.h>

#include "simulate/bushings.h"
#include "simulate/fluid.h"
#include "simulate/internal_forces.h"
#include "simulate/loads.h"
#include "simulate/tendons.h"
#include "simulate/tree_flight.h"

static ModelLink copy_link_without_forces(const ModelLink* link) {
  ModelLink target = *link;
  target.passive = false;
  memset(target.limited, 0, sizeof(target.limited));
  memset(target.damping, 0, sizeof(target.damping));
  memset(target.stiffness, 0, sizeof(target.stiffness));
  memset(target.friction, 0, sizeof(target.friction));
  memset(target.static_friction, 0, sizeof(target.static_friction));
  memset(target.armature, 0, sizeof(target.armature));
  return target;
}

static void copy_drive(const ModelLink* link, ModelLink* target) { (void)link, (void)target; }

static void copy_friction(const ModelLink* link, ModelLink* target) {
  target->passive = true;
  memcpy(target->friction, link->friction, sizeof(target->friction));
  memcpy(target->static_friction, link->static_friction, sizeof(target->static_friction));
}

static void copy_damping(const ModelLink* link, ModelLink* target) {
  memcpy(target->damping, link->damping, sizeof(target->damping));
}

static void copy_spring(const ModelLink* link, ModelLink* target) {
  target->passive = true;
  memcpy(target->stiffness, link->stiffness, sizeof(target->stiffness));
}

static void copy_limits(const ModelLink* link, ModelLink* target) {
  memcpy(target->limited, link->limited, sizeof(target->limited));
}

/* Kinds of joint forces. name: word in the output. copy_properties: function that copies the properties of this kind to
 * a link without any other joint force; NULL: joint_terms does not compute this kind. */
static const struct {
  const char* name;
  void (*copy_properties)(const ModelLink* link, ModelLink* target);
  unsigned ball; /* kinds of torques of ball joints (loads.md, L25); loads contain them all, and must not report them */
} KINDS[JOINT_FORCE_KINDS] = {
    [JOINT_FORCE_DRIVE] = {"drive", copy_drive, BALL_DRIVES},
    [JOINT_FORCE_LOAD] = {"load", NULL, BALL_ALL},
    [JOINT_FORCE_FRICTION] = {"friction", copy_friction, 0},
    [JOINT_FORCE_DAMPING] = {"damping", copy_damping, BALL_DAMPER},
    [JOINT_FORCE_SPRING] = {"spring", copy_spring, BALL_SPRING},
    [JOINT_FORCE_LIMIT] = {"limit", copy_limits, 0},
    [JOINT_FORCE_CLOSURE] = {"closure", NULL, 0},
};

const char* joint_force_name(JointForceKind kind) {
  assert((unsigned)kind < sizeof KINDS / sizeof *KINDS);
  return KINDS[kind].name;
}

static double* forces_of_kind(const Sim* s, JointForceKind kind) {
  return s->joint_reports.substep_forces + (size_t)kind * (size_t)s->model->dof_count;
}

/* Adds factor times the changes of the torques of ball joint i by (L25) to the forces of a kind. */
static void add_ball_torques(Sim* s, int i, int kind, double factor, const Configuration* c) {
  const ModelLink* link = &s->model->links[i];
  if (!s->internal_forces || !s->internal_forces->has_ball_torque[i] || !KINDS[kind].ball) return;
  const JointInput in = step_joint_input(s, c, i);
  const BallStart start = ball_start(&in, &s->clock, KINDS[kind].ball);
  double change[3], *force = forces_of_kind(s, (JointForceKind)kind) + link->dof_first + link->joint.scalar_count;
  ball_start_force(s, i, &start, s->pose_now, c->pose, change);
  for (int k = 0; k < 3; k++) force[k] += factor * change[k];
}

/* Stores the forces on joint i: for each kind, minus the gradient of the energy of this kind. */
static void store_joint_forces(Sim* s, int i, const Configuration* c) {
  const ModelLink* link = &s->model->links[i];
  for (int kind = 0; kind < JOINT_FORCE_KINDS; kind++) {
    if (!KINDS[kind].copy_properties) continue;
    ModelLink target = copy_link_without_forces(link);
    JointInput in = step_joint_input(s, c, i);
    JointTerms terms;
    KINDS[kind].copy_properties(link, &target);
    in.link = &target;
    in.aim = NULL;
    in.held = NULL;
    if (kind != JOINT_FORCE_DRIVE) in.drive_count = 0;
    (void)joint_terms(&in, true, &terms);
    double* force = forces_of_kind(s, (JointForceKind)kind) + link->dof_first;
    for (int k = 0; k < link->dof_count; k++) force[k] = 0 - terms.gradient[k];
    add_ball_torques(s, i, kind, 1, c);
  }
}

/* Stores the force of the drive of a prescribed joint, the generalized force that is missing for equilibrium. */
static void store_prescribed_force(Sim* s, int i) {
  const ModelLink* link = &s->model->links[i];
  double* force = forces_of_kind(s, JOINT_FORCE_DRIVE) + link->dof_first;
  memcpy(force, s->newton.gradient + link->dof_first, sizeof(double) * (size_t)link->dof_count);
  for (int k = 0; tree_flight_has_target(s->flight, link) && k < link->dof_count; k++)
    force[k] += s->flight->drive[link->dof_first + k];
}

/* Adds the generalized forces of a wrench on link i to the load forces of all joints between the link and the world.
 * push: force. torque: about the origin of the link's frame. */
static void add_wrench_to_load_forces(Sim* s, int i, Vec3 push, Vec3 torque, const Configuration* c) {
  model_add_generalized_force(s->model, i, s->assembly.screws, c->pose[i].t, push, torque,
                              forces_of_kind(s, JOINT_FORCE_LOAD));
}

static void add_link_load(Sim* s, int i, const Configuration* c) {
  Vec3 torque = load_origin_torque(load_in_step(&s->loads[i]), c->pose[i].r);
  add_wrench_to_load_forces(s, i, load_force(&s->loads[i]), torque, c);
}

static void add_fluid_force(Sim* s, int i, const Configuration* c) {
  Vec3 force, torque;
  fluid_wrench(s, i, &c->pose[i], &force, &torque);
  add_wrench_to_load_forces(s, i, force, torque, c);
}

static void add_tendon_and_bushing_forces(Sim* s, const Configuration* c) {
  tendons_add_force(s->tendons, c->pose, s->assembly.screws, forces_of_kind(s, JOINT_FORCE_LOAD));
  bushings_add_force(s->bushings, s->assembly.reference, s->assembly.screws, forces_of_kind(s, JOINT_FORCE_LOAD));
}

/* Stores the generalized forces of the closures. They include the forces that the targets of trees in free flight
 * (tree_flight.h) contain. */
static void store_closure_forces(Sim* s) {
  if (!s->closures) return;
  double* force = forces_of_kind(s, JOINT_FORCE_CLOSURE);
  step_compute_closure_jacobian(s);
  memset(force, 0, sizeof(double) * (size_t)s->model->dof_count);
  closures_add_force(s->closures, s->closures->multiplier, force);
  closures_add_force(s->closures, s->closures->target_force, force);
  for (int k = 0; k < s->model->dof_count; k++) force[k] = 0 - force[k];
}

void joint_forces_compute(Sim* s) {
  const Model* m = s->model;
  if (!s->joint_reports.substep_forces) return;
  const Configuration* c = &s->configuration[s->current];
  for (int i = 0; i < m->link_count; i++) {
    if (m->links[i].dof_count == 0) continue;
    store_joint_forces(s, i, c);
    if (m->links[i].prescribed >= 0) store_prescribed_force(s, i);
  }
  memset(forces_of_kind(s, JOINT_FORCE_LOAD), 0, sizeof(double) * (size_t)m->dof_count);
  store_closure_forces(s);
  if (!s->loads && !s->tendons && !s->bushings && !s->fluid) return;
  model_screws(m, c->q, c->pose, s->assembly.screws);
  add_tendon_and_bushing_forces(s, c);
  for (int i = 0; s->loads && i < m->link_count; i++)
    if (load_acts_in_step(s, i)) add_link_load(s, i, c);
  for (int k = 0; s->flight && k < m->dof_count; k++)
    forces_of_kind(s, JOINT_FORCE_LOAD)[k] += s->flight->load_force[k];
  for (int i = 0; s->fluid && i < m->link_count; i++)
    if (fluid_acts_on(s->fluid, i)) add_fluid_force(s, i, c);
  for (int i = 0; i < m->link_count; i++) add_ball_torques(s, i, JOINT_FORCE_LOAD, -1, c);
}

void joint_forces_publish(Sim* s) {
  if (!s->joint_reports.substep_forces) return;
  memcpy(s->joint_reports.forces, s->joint_reports.substep_forces,
         sizeof(double) * JOINT_FORCE_KINDS * (size_t)s->model->dof_count);
}

void joint_forces_create(Sim* s) {
  if (!(s->model->simulation.output & OUTPUT_FORCES)) return;
  s->joint_reports.substep_forces = MEMORY_NEW(double, JOINT_FORCE_KINDS * s->model->dof_count);
  s->joint_reports.forces = MEMORY_NEW(double, JOINT_FORCE_KINDS * s->model->dof_count);
}

const double* sim_joint_forces(const Sim* s) { return s->joint_reports.forces; }
