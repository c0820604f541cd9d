/* Generalized forces on the joints' coordinates, for the output. Each kind of force is computed at the solved
 * configuration from the joint's own terms (joint_terms.c, joint_passive.c), with all other kinds switched off. */
#include <assert.h>
#include <string.h>

#include "simulate/bushings.h"
#include "simulate/fluid.h"
#include "simulate/loads.h"
#include "simulate/tendons.h"
#include "simulate/tree_flight.h"

/* ---------------------------------------------------------------- kinds */

/* Returns a copy of the link whose joint has no passive properties, no limits and no damping. */
static ModelLink bare_link(const ModelLink* link) {
  ModelLink bare = *link;
  bare.passive = false;
  memset(bare.limited, 0, sizeof(bare.limited));
  memset(bare.damping, 0, sizeof(bare.damping));
  memset(bare.stiffness, 0, sizeof(bare.stiffness));
  memset(bare.friction, 0, sizeof(bare.friction));
  memset(bare.static_friction, 0, sizeof(bare.static_friction));
  memset(bare.armature, 0, sizeof(bare.armature));
  return bare;
}

static void with_drive(const ModelLink* link, ModelLink* bare) { (void)link, (void)bare; }

static void with_friction(const ModelLink* link, ModelLink* bare) {
  bare->passive = true;
  memcpy(bare->friction, link->friction, sizeof(bare->friction));
  memcpy(bare->static_friction, link->static_friction, sizeof(bare->static_friction));
}

static void with_damping(const ModelLink* link, ModelLink* bare) {
  memcpy(bare->damping, link->damping, sizeof(bare->damping));
}

static void with_spring(const ModelLink* link, ModelLink* bare) {
  bare->passive = true;
  memcpy(bare->stiffness, link->stiffness, sizeof(bare->stiffness));
}

static void with_limit(const ModelLink* link, ModelLink* bare) {
  memcpy(bare->limited, link->limited, sizeof(bare->limited));
}

/* Kinds of joint forces. name: word in the output. with: function that copies the properties of this kind to a bare
 * link; NULL: joint_terms does not compute this kind. */
static const struct {
  const char* name;
  void (*with)(const ModelLink* link, ModelLink* bare);
} KINDS[JOINT_FORCE_KINDS] = {
    [JOINT_FORCE_DRIVE] = {"drive", with_drive},
    [JOINT_FORCE_LOAD] = {"load", NULL},
    [JOINT_FORCE_FRICTION] = {"friction", with_friction},
    [JOINT_FORCE_DAMPING] = {"damping", with_damping},
    [JOINT_FORCE_SPRING] = {"spring", with_spring},
    [JOINT_FORCE_LIMIT] = {"limit", with_limit},
    [JOINT_FORCE_CLOSURE] = {"closure", NULL},
};

const char* joint_force_name(JointForceKind kind) {
  assert((unsigned)kind < sizeof KINDS / sizeof *KINDS);
  return KINDS[kind].name;
}

/* ---------------------------------------------------------------- one step */

static double* forces_of(const Sim* s, JointForceKind kind) {
  return s->part_forces + (size_t)kind * (size_t)s->model->dof_count;
}

/* Stores the forces on joint i: for each kind, minus the gradient of the energy of this kind. */
static void note_joint(Sim* s, int i, const Configuration* c) {
  const ModelLink* link = &s->model->links[i];
  for (int kind = 0; kind < JOINT_FORCE_KINDS; kind++) {
    if (!KINDS[kind].with) continue;
    ModelLink bare = bare_link(link);
    JointInput in = step_joint_input(s, c, i);
    JointTerms terms;
    KINDS[kind].with(link, &bare);
    in.link = &bare;
    in.aim = NULL;
    in.held = NULL;
    if (kind != JOINT_FORCE_DRIVE) in.drive_count = 0;
    (void)joint_terms(&in, true, &terms);
    double* force = forces_of(s, (JointForceKind)kind) + link->dof_first;
    for (int k = 0; k < link->dof_count; k++) force[k] = 0 - terms.gradient[k];
  }
}

/* Stores the force of the drive of a prescribed joint, the generalized force that is missing for equilibrium. */
static void note_prescribed(Sim* s, int i) {
  const ModelLink* link = &s->model->links[i];
  double* force = forces_of(s, JOINT_FORCE_DRIVE) + link->dof_first;
  memcpy(force, s->gradient + link->dof_first, sizeof(double) * (size_t)link->dof_count);
  for (int k = 0; tree_flight_has_target(s->flight, link) && k < link->dof_count; k++)
    force[k] += s->flight->drive[link->dof_first + k];
}

/* Adds the generalized forces of a wrench on link i to the load forces of all joints between the link and the world.
 * torque: about the origin of the link's frame. */
static void note_wrench(Sim* s, int i, Vec3 push, Vec3 torque, const Configuration* c) {
  const Model* m = s->model;
  double* force = forces_of(s, JOINT_FORCE_LOAD);
  for (int up = i; up >= 0; up = m->links[up].parent)
    for (int k = m->links[up].dof_first; k < m->links[up].dof_first + m->links[up].dof_count; k++)
      force[k] += vec3_dot(s->screws[k].w, torque) + vec3_dot(screw_velocity(&s->screws[k], c->pose[i].t), push);
}

static void note_load(Sim* s, int i, const Configuration* c) {
  Mat3 moment;
  for (int r = 0; r < 3; r++)
    for (int k = 0; k < 3; k++) moment.m[r][k] = s->loads[i].b[r][k];
  Vec3 torque = mat3_axial(mat3_mul(moment, mat3_transpose(c->pose[i].r)));
  note_wrench(s, i, load_force(&s->loads[i]), torque, c);
}

static void note_fluid(Sim* s, int i, const Configuration* c) {
  Vec3 force, torque;
  fluid_wrench(s, i, &c->pose[i], &force, &torque);
  note_wrench(s, i, force, torque, c);
}

/* Adds the forces of tendons and bushings to the load forces. */
static void note_tendons(Sim* s, const Configuration* c) {
  tendons_add_force(s->tendons, c->pose, s->screws, forces_of(s, JOINT_FORCE_LOAD));
  bushings_add_force(s->bushings, s->reference, s->screws, forces_of(s, JOINT_FORCE_LOAD));
}

/* Stores the forces of closures, -C^T mu. mu includes the multipliers that the targets of trees in free flight
 * (tree_flight.h) contain. */
static void note_closures(Sim* s) {
  if (!s->closures) return;
  double* force = forces_of(s, JOINT_FORCE_CLOSURE);
  step_compute_closure_jacobian(s);
  memset(force, 0, sizeof(double) * (size_t)s->model->dof_count);
  closures_add_force(s->closures, s->closures->multiplier, force);
  closures_add_force(s->closures, s->closures->aimed, force);
  for (int k = 0; k < s->model->dof_count; k++) force[k] = 0 - force[k];
}

void joint_forces_compute(Sim* s) {
  const Model* m = s->model;
  if (!s->part_forces) return;
  const Configuration* c = &s->configuration[s->current];
  for (int i = 0; i < m->link_count; i++) {
    if (m->links[i].dof_count == 0) continue;
    note_joint(s, i, c);
    if (m->links[i].prescribed >= 0) note_prescribed(s, i);
  }
  memset(forces_of(s, JOINT_FORCE_LOAD), 0, sizeof(double) * (size_t)m->dof_count);
  note_closures(s);
  if (!s->loads && !s->tendons && !s->bushings && !s->fluid) return;
  model_screws(m, c->q, c->pose, s->screws);
  note_tendons(s, c);
  for (int i = 0; s->loads && i < m->link_count; i++)
    if (s->loads[i].any) note_load(s, i, c);
  for (int i = 0; s->fluid && i < m->link_count; i++)
    if (fluid_acts_on(s->fluid, i)) note_fluid(s, i, c);
}

void joint_forces_publish(Sim* s) {
  if (!s->part_forces) return;
  memcpy(s->joint_forces, s->part_forces, sizeof(double) * JOINT_FORCE_KINDS * (size_t)s->model->dof_count);
}

void joint_forces_create(Sim* s) {
  if (!(s->model->simulation.output & OUTPUT_FORCES)) return;
  s->part_forces = MEMORY_NEW(double, JOINT_FORCE_KINDS * s->model->dof_count);
  s->joint_forces = MEMORY_NEW(double, JOINT_FORCE_KINDS * s->model->dof_count);
}

const double* sim_joint_forces(const Sim* s) { return s->joint_forces; }
