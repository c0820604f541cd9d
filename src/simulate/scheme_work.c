/* Energy that the integration scheme adds or dissipates (docs/derivations/step.md, S23): change of kinetic and
 * potential energy minus the work of all forces. It is computed for each group of trees whose target poses are solved
 * together. Any other tree forms a group of its own. */
#include <float.h>
#include <limits.h>
#include <string.h>

#include "contact/step.h"
#include "simulate/ball_springs.h"
#include "simulate/bushings.h"
#include "simulate/fluid.h"
#include "simulate/internal_forces.h"
#include "simulate/spin.h"
#include "simulate/tendons.h"
#include "simulate/tree_flight.h"

/* Sums and previous values of the energy balance, in one block of doubles that scheme_balance_save copies and
 * scheme_balance_restore restores. */
typedef struct {
  /* energy: present energy; work: energy change by the scheme; exchanged: sum of the magnitudes of the work of forces;
   * scale: largest energy (groups) [J] */
  double *energy, *work, *exchanged, *scale;
  double *rate, *displacement;    /* joint rates and displacements of the previous substep (size: nv) */
  double *force_work, *is_driven; /* force_work: work of forces [J]; is_driven: nonzero if anything except fixed bodies
                             acts on the group (size: groups) */
  double *rolling_loss, *slip_loss_max; /* rolling_loss: work that contacts of rolling bodies absorb, without the work
                                           along the gap; slip_loss_max: largest work that slip can have absorbed
                                           (contact_term_rolls) (size: groups) [J] */
  double* initial_change;               /* energy change by the scheme in the first substep of the run (groups) [J] */
  double* stored;                       /* energy stored in contact at the start [J] */
  double* is_started;                   /* 0 until the member `energy` is set, then 1 */
} BalanceState;

typedef struct SchemeBalance {
  int group_count, *group; /* group_count: number of groups; group: index of the group of every tree */
  BalanceState at;
  double *block, *saved;
  size_t count; /* number of doubles in `block` and in `saved` */
  double* q;    /* coordinates at the time of the rates (size: nq) */
  Pose* pose;
  Screw* screws;
  double (*bar)[3][4];
  Vec3 *force, *v,
      *w; /* v, w: velocities of the centres of mass and angular velocities of the links at the time of the rates */
  Mat3* moment;
  double *reduced, *slope, *done; /* scratch: reduced (nv), slope (nv), done (size: groups) */
} SchemeBalance;

/* ---------------------------------------------------------------- creation */

static void assign_state_arrays(SchemeBalance* b, const Model* m) {
  size_t group_count = (size_t)b->group_count, nv = (size_t)m->dof_count;
  b->count = 9 * group_count + 2 * nv + 2;
  b->block = MEMORY_NEW(double, b->count);
  b->saved = MEMORY_NEW(double, b->count);
  double* next = b->block;
  double** const of_units[] = {&b->at.energy,         &b->at.work,         &b->at.exchanged,
                               &b->at.scale,          &b->at.force_work,   &b->at.is_driven,
                               &b->at.initial_change, &b->at.rolling_loss, &b->at.slip_loss_max};
  for (int k = 0; k < 9; k++, next += group_count) *of_units[k] = next;
  b->at.rate = next;
  b->at.displacement = next + nv;
  b->at.is_started = next + 2 * nv;
  b->at.stored = b->at.is_started + 1;
}

/* Lower bound of the energy scale of a group. It is the energy of a fall through this fraction of the sizes of the
 * group's links. */
#define FALL_FRACTION_MIN 1e-3

static SchemeBalance* create_balance(const Sim* s) {
  const Model* m = s->model;
  SchemeBalance* b = MEMORY_NEW(SchemeBalance, 1);
  size_t links = (size_t)m->link_count;
  b->group = MEMORY_NEW(int, m->tree_count);
  if (s->flight) b->group_count = s->flight->group_count;
  for (int k = 0; k < m->tree_count; k++)
    b->group[k] = s->flight && s->flight->group_of[k] >= 0 ? s->flight->group_of[k] : b->group_count++;
  assign_state_arrays(b, m);
  b->q = MEMORY_NEW(double, m->coordinate_count);
  b->pose = MEMORY_NEW(Pose, m->link_count);
  b->screws = MEMORY_NEW(Screw, m->dof_count);
  b->bar = memory_alloc(sizeof(double[3][4]) * links);
  b->force = MEMORY_NEW(Vec3, m->link_count);
  b->v = MEMORY_NEW(Vec3, m->link_count);
  b->w = MEMORY_NEW(Vec3, m->link_count);
  b->moment = MEMORY_NEW(Mat3, m->link_count);
  b->reduced = MEMORY_NEW(double, m->dof_count);
  b->slope = MEMORY_NEW(double, m->dof_count);
  b->done = MEMORY_NEW(double, b->group_count);
  for (int i = 0; i < m->link_count; i++)
    if (m->links[i].tree >= 0)
      b->at.scale[b->group[m->links[i].tree]] +=
          FALL_FRACTION_MIN * m->links[i].mass * vec3_norm(m->simulation.gravity) * m->links[i].reach;
  return b;
}

void scheme_balance_destroy(SchemeBalance* b) {
  if (!b) return;
  void* owned[] = {b->group, b->block, b->saved,  b->q,       b->pose,  b->screws, b->bar, b->force,
                   b->v,     b->w,     b->moment, b->reduced, b->slope, b->done,   b};
  for (size_t k = 0; k < sizeof(owned) / sizeof(owned[0]); k++) memory_free(owned[k]);
}

void scheme_balance_save(Sim* s) {
  if (s->balance) memcpy(s->balance->saved, s->balance->block, sizeof(double) * s->balance->count);
}

void scheme_balance_restore(Sim* s) {
  if (s->balance) memcpy(s->balance->block, s->balance->saved, sizeof(double) * s->balance->count);
}

void scheme_balance_reset_reference(Sim* s) {
  if (s->balance) *s->balance->at.is_started = 0;
}

/* If the stored state has no sums, or the sums of other groups, these sums are skipped and the balance starts anew. */
void scheme_balance_serialize_state(Sim* s, StateBlock* block) {
  SchemeBalance* b = s->balance;
  int count = b ? (int)b->count : 0, expected = count;
  state_block_int(block, &count, 0, INT_MAX);
  if (b && count == expected) {
    state_block_doubles(block, b->block, b->count);
    return;
  }
  double unread = 0;
  for (int k = 0; k < count && !block->failed; k++) state_block_doubles(block, &unread, 1);
  scheme_balance_reset_reference(s);
}

/* ---------------------------------------------------------------- energies of groups */

/* Adds factor times the potential energy of each group, of its links, springs, tendons, bushings and of its buoyancy,
 * to out[groups]. */
static void add_potential_energies(const Sim* s, const Pose* pose, const double* q, double factor, double* out) {
  const Model* m = s->model;
  for (int i = 0; i < m->link_count; i++) {
    const ModelLink* link = &m->links[i];
    if (link->tree < 0) continue;
    double sum = -link->mass * vec3_dot(model_link_gravity(m, i), pose_apply(pose[i], link->center));
    sum += fluid_potential(s->fluid, i, &pose[i]);
    double displacement[JOINT_MAX_DOF];
    if (link->passive) joint_difference(&link->joint, link->rest, q + link->coordinate_first, displacement);
    for (int k = 0; link->passive && k < link->dof_count; k++)
      sum += 0.5 * link->stiffness[k] * displacement[k] * displacement[k];
    out[s->balance->group[link->tree]] += factor * sum;
  }
  for (int k = 0; k < m->tendon_count; k++) {
    const SceneTendon* tendon = m->tendons[k].source;
    double stretch = tendon_stretch(tendon, tendon_length(m, tendon, pose, q));
    if (m->tendons[k].home >= 0)
      out[s->balance->group[m->links[m->tendons[k].home].tree]] += factor * 0.5 * tendon->stiffness * stretch * stretch;
  }
  for (int k = 0; k < m->bushing_count; k++)
    if (m->bushings[k].home >= 0)
      out[s->balance->group[m->links[m->bushings[k].home].tree]] +=
          factor * bushing_energy(m->bushings[k].source, pose);
}

/* Sets b->v[i] to the velocity of the centre of mass of link i and b->w[i] to its angular velocity for the rates `rate`
 * (nv). Sets b->force[i] to the centre of mass. The entries of the parent must be set. pose[links] and b->screws must
 * belong to the same time. */
static void set_twist(const Sim* s, int i, const Pose* pose, const double* rate) {
  SchemeBalance* b = s->balance;
  const ModelLink* link = &s->model->links[i];
  Vec3 center = pose_apply(pose[i], link->center), v = vec3(0, 0, 0), w = vec3(0, 0, 0);
  if (link->parent >= 0) {
    w = b->w[link->parent];
    v = vec3_add(b->v[link->parent], vec3_cross(w, vec3_sub(center, b->force[link->parent])));
  }
  for (int dof = link->dof_first; dof < link->dof_first + link->dof_count; dof++) {
    w = vec3_add_scaled(w, rate[dof], b->screws[dof].w);
    v = vec3_add_scaled(v, rate[dof], screw_velocity(&b->screws[dof], center));
  }
  b->force[i] = center;
  b->v[i] = v;
  b->w[i] = w;
}

/* Sets the velocities of link i at b->pose. The velocities of its parent must be set. Returns the kinetic energy of
 * link i [J]. */
static double compute_kinetic_energy(const Sim* s, int i) {
  SchemeBalance* b = s->balance;
  const ModelLink* link = &s->model->links[i];
  double energy = 0;
  set_twist(s, i, b->pose, s->state.rate);
  for (int k = 0; k < link->dof_count && link->passive; k++)
    energy += 0.5 * link->armature[k] * s->state.rate[link->dof_first + k] * s->state.rate[link->dof_first + k];
  if (link->tree < 0 || !(link->mass > 0)) return 0;
  Vec3 v = b->v[i], w = b->w[i];
  Vec3 local = mat3_tmul_vec(b->pose[i].r, w);
  return energy + 0.5 * link->mass * vec3_dot(v, v) +
         0.5 * vec3_dot(local, mat3_mul_vec(mass_moment_inertia_tensor(&link->moment), local));
}

/* Sets energy[groups] to the energies at the time of the rates, which is the middle or the end of the substep. Updates
 * the energy scale with the kinetic energies. */
static void compute_energies(Sim* s, bool middle, double* energy) {
  const Model* m = s->model;
  SchemeBalance* b = s->balance;
  memset(energy, 0, sizeof(double) * (size_t)b->group_count);
  for (int i = 0; i < m->link_count; i++) {
    const ModelLink* link = &m->links[i];
    double* q = b->q + link->coordinate_first;
    joint_extrapolate(&link->joint, s->q_now + link->coordinate_first, s->difference_old + link->dof_first,
                      middle ? -0.5 : 0, q);
    model_link_pose(m, i, b->q, b->pose);
    model_link_screws(m, i, b->q, b->pose, b->screws);
    double kinetic = compute_kinetic_energy(s, i);
    if (link->tree >= 0) energy[b->group[link->tree]] += kinetic;
  }
  for (int k = 0; k < b->group_count; k++) b->at.scale[k] = fmax(b->at.scale[k], energy[k]);
  add_potential_energies(s, s->pose_now, s->q_now, middle ? 0.5 : 1, energy);
  if (middle) add_potential_energies(s, s->pose_old, s->q_old, 0.5, energy);
}

/* ---------------------------------------------------------------- work in a substep */

/* Returns true if this substep and the previous one differ in length, so that the substep has the weights for unequal
 * lengths (step.md, S15). */
static bool is_uneven(const Sim* s) {
  return s->clock.dt_before > 0 && s->clock.dt != s->clock.dt_before && s->clock.kind != STEP_FREE;
}

/* Returns the displacement along which the forces of a substep do work: from the middle of the previous substep to the
 * middle of this substep. For substeps of unequal length the force acts over step_force_time (S15). */
static double force_displacement(const Sim* s, int dof) {
  double time = is_uneven(s) ? step_force_time(s->model->simulation.integrator, &s->clock) : s->clock.dt;
  return 0.5 * time * (s->state.rate[dof] + s->balance->at.rate[dof]);
}

/* Adds the work of gravity along the displacement of the forces, minus its work between the middles of both substeps,
 * to done[groups] [J]. The two displacements differ for substeps of unequal length if the rates change (S23). */
static void add_gravity_difference(const Sim* s, double* done) {
  const Model* m = s->model;
  const double h = s->clock.dt, before = s->clock.dt_before;
  const double half = 0.5 * step_force_time(m->simulation.integrator, &s->clock);
  for (int i = 0; i < m->link_count; i++) {
    const ModelLink* link = &m->links[i];
    if (link->tree < 0) continue;
    Vec3 weight = vec3_scale(model_link_gravity(m, i), link->mass), old = pose_apply(s->pose_old[i], link->center);
    double now = vec3_dot(weight, vec3_sub(pose_apply(s->pose_now[i], link->center), old));
    double earlier = vec3_dot(weight, vec3_sub(old, pose_apply(s->pose_older[i], link->center)));
    done[s->balance->group[link->tree]] += half * (now / h + earlier / before) - 0.5 * (now + earlier);
  }
}

/* Sets force[nv] to the generalized forces of closures and couplings at the end of the substep, for trees of a flight
 * group, and to 0 for other trees. Forces that the targets contain are not included. */
static void compute_closure_forces(Sim* s, double* force) {
  memset(force, 0, sizeof(double) * (size_t)s->model->dof_count);
  if (!s->closures || !s->flight) return;
  step_compute_closure_jacobian(s);
  closures_add_force(s->closures, s->closures->multiplier, force);
  for (int dof = 0; dof < s->model->dof_count; dof++) {
    int tree = s->model->links[s->model->dof_link[dof]].tree;
    force[dof] = tree >= 0 && s->flight->group_of[tree] >= 0 ? -force[dof] : 0;
  }
}

/* Returns the torque by which the lever arms at t change the torque of contact on link i (spin.md, W21) [N m]. */
static Vec3 arm_torque(const Sim* s, int i) {
  return s->spin_bodies ? vec3_scale(s->spin_bodies[i].arm_change, 1 / spin_force_time(s)) : vec3(0, 0, 0);
}

/* Adds the work of all forces that balance inertia at the end of the substep to done[groups]. The drag of a fluid is
 * included; gravity and buoyancy are not. Forces of closures and couplings within a group do no work. The work of these
 * forces along the displacement of the substep is therefore an error of the scheme and is left out. */
static void add_work_of_forces(Sim* s, double* done) {
  const Model* m = s->model;
  SchemeBalance* b = s->balance;
  double weight = step_inertia_weight(s);
  for (int i = 0; i < m->link_count; i++) {
    const Pose *now = &s->pose_now[i], *aim = &s->target[i];
    double d[3][4], t[3] = {now->t.x - aim->t.x, now->t.y - aim->t.y, now->t.z - aim->t.z};
    for (int r = 0; r < 3; r++) {
      for (int c = 0; c < 3; c++) d[r][c] = weight * (now->r.m[r][c] - aim->r.m[r][c]);
      d[r][3] = weight * t[r];
    }
    memset(b->bar[i], 0, sizeof(b->bar[i]));
    if (m->links[i].tree >= 0 && m->links[i].mass > 0)
      inertia_second_moment_product(&m->links[i], (const double(*)[4])d, b->bar[i]);
    if (fluid_acts_on(s->fluid, i)) fluid_add_buoyancy_slope(s, i, b->bar[i]);
  }
  model_screws(m, s->q_now, s->pose_now, b->screws);
  memset(b->reduced, 0, sizeof(double) * (size_t)m->dof_count);
  pose_bars_sum_forces(m, link_span_of_model(m), s->pose_now, b->bar, b->force, b->moment);
  pose_bars_reduce(m, link_span_of_model(m), s->pose_now, b->screws, b->force, b->moment, b->reduced);
  compute_closure_forces(s, b->slope);
  for (int i = 0; i < m->link_count; i++) b->v[i] = pose_apply(s->pose_now[i], m->links[i].center);
  internal_forces_add_buoyancy(s, b->screws, b->v, b->slope);
  for (int i = 0; i < m->link_count; i++) {
    const ModelLink* link = &m->links[i];
    if (link->tree < 0) continue;
    for (int dof = link->dof_first, k = 0; k < link->dof_count; k++, dof++) {
      double force = b->reduced[dof] - b->slope[dof];
      if (s->armature_target && link->armature[k] > 0)
        force += link->armature[k] * weight * (s->difference_old[dof] - s->armature_target[dof]);
      if (link->prescribed >= 0 && tree_flight_has_target(s->flight, link)) force += s->flight->drive[dof];
      if (flight_joint_forces(s->flight, link)) force += s->flight->load_force[dof] - s->flight->joint_force[dof];
      force += vec3_dot(arm_torque(s, i), b->screws[dof].w);
      done[b->group[link->tree]] += force * force_displacement(s, dof);
    }
  }
}

/* Returns the work of the springs of link i's joint in the substep, with the time weights of the substep (drives.md,
 * M10) [J]. */
static double spring_work(const Sim* s, int i) {
  const ModelLink* link = &s->model->links[i];
  const double *q = s->q_now + link->coordinate_first, *old = s->q_old + link->coordinate_first;
  SpringTimeWeights at = step_spring_time_weights(s, i);
  double sum = 0;
  int plain = link->joint.scalar_count;
  for (int k = 0; k < plain; k++) {
    double earlier = old[k] - s->balance->at.displacement[link->dof_first + k];
    double place = spring_weight_of_end(&at) * q[k] + at.now * old[k] + at.old * earlier;
    sum -= (1 - at.missing) * link->stiffness[k] * (place - link->rest[k]) * force_displacement(s, link->dof_first + k);
  }
  if (!link->joint.quaternion) return sum;
  const JointInput in = {.link = link,
                         .q = q,
                         .q_now = old,
                         .difference_old = s->balance->at.displacement + link->dof_first,
                         .spring = at};
  BallSpring spring = ball_spring(&in, plain, link->rest + plain);
  for (int k = 0; k < 3; k++)
    for (int j = 0; j < 3; j++)
      sum -= (1 - at.missing) * link->stiffness[plain + k] * (spring.weight * spring.end.value[k] - spring.minus[k]) *
             spring.end.first[k][j] * force_displacement(s, link->dof_first + plain + j);
  if (!s->internal_forces || !s->internal_forces->has_ball_torque[i]) return sum;
  const BallStart start = ball_start(&in, &s->clock, BALL_SPRING);
  double change[3];
  ball_start_force(s, i, &start, s->pose_old, s->pose_now, change);
  for (int j = 0; j < 3; j++) sum += change[j] * force_displacement(s, link->dof_first + plain + j);
  return sum;
}

/* Sets b->reduced[nv] to the displacements in the substep (force_displacement). Sets b->v and b->w to the displacements
 * and rotations of the links, with the joint axes at the end of the substep. Assembles tendons and bushings at the end
 * of the substep. b->screws must be set for the end of the substep. */
static void compute_displacements(Sim* s) {
  const Model* m = s->model;
  const SchemeBalance* b = s->balance;
  if (!s->tendons && !s->bushings) return;
  for (int dof = 0; dof < m->dof_count; dof++) b->reduced[dof] = force_displacement(s, dof);
  for (int i = 0; i < m->link_count; i++) set_twist(s, i, s->pose_now, b->reduced);
  if (s->tendons) tendons_assemble(s->tendons, s->pose_now, s->q_now, b->force, b->screws);
  if (s->bushings) bushings_assemble(s->bushings, s->pose_now, b->force);
}

/* Returns the work of the tendon's spring in the substep [J]. It includes the loads that give the force its direction
 * at the start (loads.md, L21). */
static double tendon_work(const Sim* s, int k) {
  const Model* m = s->model;
  const SchemeBalance* b = s->balance;
  const SceneTendon* tendon = m->tendons[k].source;
  double length = tendon_length(m, tendon, s->pose_now, s->q_now), displacement = 0;
  memset(b->slope, 0, sizeof(double) * (size_t)m->dof_count);
  tendon_add_slope(s->tendons, k, s->pose_now, b->screws, b->slope);
  for (int dof = 0; dof < m->dof_count; dof++) displacement += b->slope[dof] * b->reduced[dof];
  double work = -(1 - s->tendons->at[k].missing) * tendon->stiffness * tendon_weighted_stretch(s->tendons, k, length) *
                displacement;
  memset(b->slope, 0, sizeof(double) * (size_t)m->dof_count);
  internal_forces_add_spring_force(s, k, b->screws, b->force, b->slope);
  for (int dof = 0; dof < m->dof_count; dof++) work += b->slope[dof] * b->reduced[dof];
  return work;
}

/* Returns the work of the bushing's spring and preload on both links in the substep [J]. It includes the loads that
 * give the force its direction at the start (loads.md, L24). */
static double bushing_work(const Sim* s, int k) {
  const SceneBushing* bushing = s->model->bushings[k].source;
  const SchemeBalance* b = s->balance;
  double u[6], push[6], displacement[12] = {0}, sum = 0;
  bushing_difference(bushing, s->pose_now, u);
  bushing_spring_gradient(s->bushings, k, u, push);
  for (int side = 0; side < 2; side++) {
    if (bushing->link[side] < 0) continue;
    vec3_store(b->w[bushing->link[side]], displacement + (ptrdiff_t)6 * side);
    vec3_store(b->v[bushing->link[side]], displacement + (ptrdiff_t)6 * side + 3);
  }
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 12; j++) sum -= push[i] * s->bushings->term[k].slope[i][j] * displacement[j];
  memset(b->slope, 0, sizeof(double) * (size_t)s->model->dof_count);
  internal_forces_add_bushing_force(s, k, b->screws, b->force, b->slope);
  for (int dof = 0; dof < s->model->dof_count; dof++) sum += b->slope[dof] * b->reduced[dof];
  return sum;
}

/* Speed along the contact normal above which a rolling body counts as colliding or separating [m/s]. */
#define IMPACT_SPEED 0.01

/* Returns the work against the force of a contact term on one of its bodies, for half of the motion of the body from
 * t - dt to t + dt [J]. */
static double work_of_poses(const Sim* s, const ContactTerms* t, int side) {
  int link = side == 0 ? t->link_a : t->link_b;
  Vec3 center = s->model->links[link].center;
  Vec3 displacement = vec3_sub(pose_apply(s->pose_now[link], center), pose_apply(s->pose_older[link], center));
  Vec3 rotation = mat3_axial(mat3_mul(s->pose_now[link].r, mat3_transpose(s->pose_older[link].r)));
  return 0.5 * vec3_dot(t->force[side], displacement) + 0.25 * vec3_dot(mat3_axial(t->moment[side]), rotation);
}

/* Returns true if a prescribed joint moves the link. */
static bool is_prescribed(const Model* m, int link) {
  for (int i = link; i >= 0; i = m->links[i].parent)
    if (m->links[i].prescribed >= 0) return true;
  return false;
}

/* Adds the energy that contacts of rolling bodies remove, without the work along the gap, to b->at.rolling_loss of the
 * rolling body's group. If the rolling body is fixed, adds it to the group of the other body. Adds the largest energy
 * that slip can have absorbed to b->at.slip_loss_max. The work on the rolling body is computed from rates. The work on
 * the other body is computed from poses, because contacts with other bodies can cancel an error of its rates. b->screws
 * must be set for the end of the substep. */
static void add_rolling_loss(Sim* s) {
  const Model* m = s->model;
  SchemeBalance* b = s->balance;
  int count = s->contact ? contact_term_count(s->contact) : 0;
  const Pose* const pose[2] = {s->pose_now, s->pose_older};
  if (count == 0) return;
  for (int dof = 0; dof < m->dof_count; dof++) b->reduced[dof] = force_displacement(s, dof);
  for (int i = 0; i < m->link_count; i++) set_twist(s, i, s->pose_now, b->reduced);
  for (int k = 0; k < count; k++) {
    double along_gap, approach, slip, taken = 0;
    int side = contact_term_rolls(s->contact, k, pose, &along_gap, &approach, &slip);
    if (side < 0 || approach > IMPACT_SPEED * (s->clock.dt + s->clock.dt_before)) continue;
    ContactTerms t = contact_term(s->contact, k);
    const int link[2] = {t.link_a, t.link_b};
    int tree = m->link_tree[link[side]] >= 0 ? m->link_tree[link[side]] : m->link_tree[link[1 - side]];
    if (tree < 0 || is_prescribed(m, link[1 - side])) continue;
    for (int i = 0; i < 2; i++)
      taken += i == side ? vec3_dot(t.force[i], b->v[link[i]]) + vec3_dot(mat3_axial(t.moment[i]), b->w[link[i]])
                         : work_of_poses(s, &t, i);
    taken -= vec3_dot(arm_torque(s, link[side]), b->w[link[side]]);
    b->at.rolling_loss[b->group[tree]] += taken + along_gap;
    b->at.slip_loss_max[b->group[tree]] += 2 * slip;
  }
}

/* Marks the groups on which a load, a fluid or another group acts. */
static void mark_driven_groups(Sim* s) {
  const Model* m = s->model;
  SchemeBalance* b = s->balance;
  int count = s->contact ? contact_term_count(s->contact) : 0;
  for (int k = 0; k < count; k++) {
    ContactTerms t = contact_term(s->contact, k);
    int tree[2] = {m->link_tree[t.link_a], m->link_tree[t.link_b]};
    if (tree[0] >= 0 && tree[1] >= 0 && b->group[tree[0]] != b->group[tree[1]])
      b->at.is_driven[b->group[tree[0]]] = b->at.is_driven[b->group[tree[1]]] = 1;
  }
  for (int i = 0; s->loads && i < m->link_count; i++)
    if (s->loads[i].any && m->links[i].tree >= 0) b->at.is_driven[b->group[m->links[i].tree]] = 1;
  for (int i = 0; s->fluid && i < m->link_count; i++)
    if (fluid_acts_on(s->fluid, i)) b->at.is_driven[b->group[m->links[i].tree]] = 1;
}

void scheme_balance_add_substep(Sim* s) {
  const Model* m = s->model;
  SchemeBalance* b = s->balance;
  if (!b) return;
  memset(b->done, 0, sizeof(double) * (size_t)b->group_count);
  add_work_of_forces(s, b->done);
  if (is_uneven(s) && s->weights.rate_old == 0) add_gravity_difference(s, b->done);
  for (int i = 0; i < m->link_count; i++)
    if (m->links[i].passive && m->links[i].tree >= 0) b->done[b->group[m->links[i].tree]] -= spring_work(s, i);
  if (*b->at.is_started != 0 && s->clock.dt_before > 0) add_rolling_loss(s);
  compute_displacements(s);
  for (int k = 0; k < m->tendon_count; k++)
    if (m->tendons[k].home >= 0) b->done[b->group[m->links[m->tendons[k].home].tree]] -= tendon_work(s, k);
  for (int k = 0; k < m->bushing_count; k++)
    if (m->bushings[k].home >= 0) b->done[b->group[m->links[m->bushings[k].home].tree]] -= bushing_work(s, k);
  mark_driven_groups(s);
  bool is_started = *b->at.is_started != 0, first = s->clock.dt_before == 0;
  for (int k = 0; k < b->group_count && is_started; k++) {
    b->at.work[k] -= b->at.energy[k] + b->done[k];
    b->at.exchanged[k] += fabs(b->done[k]);
    b->at.force_work[k] += b->done[k];
  }
  compute_energies(s, s->weights.rate_old == 0, b->at.energy);
  for (int k = 0; k < b->group_count && is_started; k++) {
    b->at.work[k] += b->at.energy[k];
    b->at.scale[k] = fmax(b->at.scale[k], b->at.exchanged[k]);
    if (first) b->at.initial_change[k] = b->at.work[k];
  }
  *b->at.is_started = 1;
  memcpy(b->at.rate, s->state.rate, sizeof(double) * (size_t)m->dof_count);
  memcpy(b->at.displacement, s->difference_old, sizeof(double) * (size_t)m->dof_count);
}

/* Marks the groups on which a controller, closure, tendon or bushing can act. */
static void mark_actuated_groups(Sim* s) {
  const Model* m = s->model;
  SchemeBalance* b = s->balance;
  for (int k = 0; k < b->group_count; k++)
    b->at.is_driven[k] = m->closure_count > 0 || m->tendon_count > 0 || m->bushing_count > 0;
  for (int i = 0; i < m->link_count; i++)
    if (m->links[i].tree >= 0 && m->links[i].prescribed >= 0) b->at.is_driven[b->group[m->links[i].tree]] = 1;
  for (int k = 0; k < m->controller_count; k++) {
    int tree = m->links[m->controllers[k].link].tree;
    if (tree >= 0) b->at.is_driven[b->group[tree]] = 1;
  }
}

void scheme_balance_create(Sim* s) {
  if (!s->options.scheme_work) return;
  s->balance = create_balance(s);
  memcpy(s->balance->at.rate, s->state.rate, sizeof(double) * (size_t)s->model->dof_count);
  memcpy(s->balance->at.displacement, s->difference_old, sizeof(double) * (size_t)s->model->dof_count);
  compute_energies(s, false, s->balance->at.energy);
  *s->balance->at.is_started = s->model->start ? 0 : 1;
  mark_actuated_groups(s);
}

void scheme_balance_set_contact_energy(Sim* s) {
  if (!s->balance || !s->contact) return;
  bool is_restored = s->model->start && *s->balance->at.is_started != 0; /* the sums of an earlier run go on */
  if (!is_restored) *s->balance->at.stored = contact_stored_energy(s->contact);
}

/* Returns the energy that a group received from fixed bodies beyond the stored contact energy [J]. Fixed bodies cannot
 * do work, so this energy comes from the scheme. */
static double energy_from_fixed_bodies(const SchemeBalance* b, int group) {
  return b->at.is_driven[group] != 0 ? 0 : fmax(0, b->at.force_work[group] - *b->at.stored);
}

/* Returns the energy that contacts of rolling bodies removed from a group and that neither slip nor stored contact
 * energy explains [J]; negative if the contacts added energy to the group. */
static double energy_lost_by_rolling(const SchemeBalance* b, int group) {
  double taken = b->at.rolling_loss[group], most = b->at.slip_loss_max[group] + *b->at.stored;
  return taken > 0 ? fmax(0, taken - most) : fmin(0, taken + *b->at.stored);
}

/* Returns true if the signals of prescribed joints determine the motion of the tree, so that no force changes it. */
static bool is_tree_prescribed(const Model* m, int tree) {
  for (int dof = m->trees[tree].dof_first; dof < m->trees[tree].dof_first + m->trees[tree].dof_count; dof++)
    if (m->links[m->dof_link[dof]].prescribed < 0) return false;
  return true;
}

SimSchemeWork sim_scheme_work(const Sim* s) {
  SimSchemeWork out = {.link = -1};
  const SchemeBalance* b = s->balance;
  double worst = 0;
  for (int k = 0; b && k < b->group_count; k++) out.work += b->at.work[k];
  for (int i = 0; b && i < s->model->link_count; i++) {
    const ModelLink* link = &s->model->links[i];
    if (link->tree < 0 || link->dof_count == 0 || is_tree_prescribed(s->model, link->tree)) continue;
    int group = b->group[link->tree];
    double lost = energy_lost_by_rolling(b, group), force_work = lost != 0 ? -lost : energy_from_fixed_bodies(b, group);
    double work = b->at.work[group] - b->at.initial_change[group] + force_work;
    double share = b->at.scale[group] > 0 ? fabs(work) / b->at.scale[group] : 0;
    if (!(share > worst)) continue;
    worst = share;
    out.link = i;
    out.link_work = work;
    out.link_scale = b->at.scale[group];
  }
  return out;
}
