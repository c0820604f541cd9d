/* Computes quantities of a state for the output: energies, momenta, gaps, contact forces. */
#include <assert.h>
#include <stdlib.h>

#include "simulate/fluid.h"
#include "simulate/spin.h"

/* ---------------------------------------------------------------- velocities and momenta */

/* Time derivative of the 3x4 matrix of a pose. As an affine map it gives the velocities of all points of a link. */
typedef struct {
  double m[3][4];
} Velocity;

/* Returns w->rate_now (now - old) - w->rate_old (old - older), the velocity by the difference formula of the integrator
 * (step.md, S3). */
static Velocity difference_velocity(const StepWeights* w, const Pose* now, const Pose* old, const Pose* older) {
  double a = w->rate_now, b = w->rate_old;
  Velocity v;
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++)
      v.m[r][c] = a * (now->r.m[r][c] - old->r.m[r][c]) - (b != 0 ? b * (old->r.m[r][c] - older->r.m[r][c]) : 0);
  Vec3 t = vec3_scale(vec3_sub(now->t, old->t), a);
  if (b != 0) t = vec3_add_scaled(t, -b, vec3_sub(old->t, older->t));
  v.m[0][3] = t.x;
  v.m[1][3] = t.y;
  v.m[2][3] = t.z;
  return v;
}

static Velocity velocity_at_start(const Pose* rate) {
  Velocity v;
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) v.m[r][c] = rate->r.m[r][c];
  v.m[0][3] = rate->t.x;
  v.m[1][3] = rate->t.y;
  v.m[2][3] = rate->t.z;
  return v;
}

/* Returns the velocity of the frame of link i: the initial velocity at the start of the run, later the difference
 * formula of the integrator. */
static Velocity link_velocity(const Sim* s, int i) {
  return s->state.step == 0 ? velocity_at_start(&s->pose_rate[i])
                            : difference_velocity(&s->weights, &s->pose_now[i], &s->pose_old[i], &s->pose_older[i]);
}

static Vec3 velocity_at(const Velocity* v, Vec3 x) {
  const double(*m)[4] = v->m;
  return vec3(m[0][0] * x.x + m[0][1] * x.y + m[0][2] * x.z + m[0][3],
              m[1][0] * x.x + m[1][1] * x.y + m[1][2] * x.z + m[1][3],
              m[2][0] * x.x + m[2][1] * x.y + m[2][2] * x.z + m[2][3]);
}

void sim_link_velocities(Sim* s, Vec3* v, Vec3* w) {
  assert(v && w);
  const Model* m = s->model;
  model_screws(m, s->q_now, s->pose_now, s->assembly.screws);
  for (int i = 0; i < m->link_count; i++) {
    const ModelLink* link = &m->links[i];
    Velocity velocity = link_velocity(s, i);
    v[i] = velocity_at(&velocity, link->center);
    w[i] = link->parent >= 0 ? w[link->parent] : vec3(0, 0, 0);
    for (int k = link->dof_first; k < link->dof_first + link->dof_count; k++)
      w[i] = vec3_add_scaled(w[i], s->state.rate[k], s->assembly.screws[k].w);
  }
}

/* Adds the kinetic energy and the momenta of a link to *sum (S19). Kinetic energy: 1/2 tr(V S V^T). Momentum f: last
 * column of V S. Angular momentum: c x f + spin, with the centre of mass c. spin = sum m (x - c) x v is the axial
 * vector of (first columns of V S - f X_c^T) R^T. */
static void add_link_motion(const ModelLink* link, const Pose* pose, const Velocity* v, SimMotion* sum) {
  double g[3][4] = {{0}}, kinetic = 0;
  for (int r = 0; r < 3; r++)
    for (int j = 0; j < 4; j++)
      for (int k = 0; k < 4; k++) {
        kinetic += v->m[r][j] * link->moment.s[j][k] * v->m[r][k];
        g[r][j] += v->m[r][k] * link->moment.s[k][j];
      }
  Vec3 f = vec3(g[0][3], g[1][3], g[2][3]);
  Mat3 local = {{{g[0][0], g[0][1], g[0][2]}, {g[1][0], g[1][1], g[1][2]}, {g[2][0], g[2][1], g[2][2]}}};
  local = mat3_sub(local, mat3_outer(f, link->center));
  Vec3 spin = mat3_axial(mat3_mul(local, mat3_transpose(pose->r)));
  sum->kinetic += 0.5 * kinetic;
  sum->momentum = vec3_add(sum->momentum, f);
  sum->angular_momentum =
      vec3_add(sum->angular_momentum, vec3_add(spin, vec3_cross(pose_apply(*pose, link->center), f)));
}

SimMotion motion_between(const Model* model, const StepClock* clock, const Pose* now, const Pose* old,
                         const Pose* older) {
  SimMotion sum = {0};
  StepWeights weights = step_weights(model->simulation.integrator, clock);
  for (int i = 0; i < model->link_count; i++) {
    if (model->links[i].tree < 0) continue;
    Velocity v = difference_velocity(&weights, &now[i], &old[i], &older[i]);
    add_link_motion(&model->links[i], &now[i], &v, &sum);
  }
  return sum;
}

/* Returns the rotational energy of a link [J], from its angular momentum about the centre of mass. */
static double rotational_energy(const ModelLink* link, const Pose* pose, Vec3 momentum) {
  Vec3 local = mat3_tmul_vec(pose->r, momentum);
  return 0.5 * vec3_dot(local, mat3_mul_vec(mat3_inverse(mass_moment_inertia_tensor(&link->moment)), local));
}

/* Adds the kinetic energy and the momenta of a body that integrates its angular momentum to *sum (spin.md, W7). spin:
 * this angular momentum, which also determines the rotational energy. */
static void add_spin_body_motion(const ModelLink* link, const Pose* pose, const Velocity* v, Vec3 spin,
                                 SimMotion* sum) {
  SimMotion motion = {0};
  add_link_motion(link, pose, v, &motion);
  Vec3 orbit = vec3_cross(pose_apply(*pose, link->center), motion.momentum);
  sum->kinetic += 0.5 * vec3_dot(motion.momentum, motion.momentum) / link->mass + rotational_energy(link, pose, spin);
  sum->momentum = vec3_add(sum->momentum, motion.momentum);
  sum->angular_momentum = vec3_add(sum->angular_momentum, vec3_add(spin, orbit));
}

void middle_motion_create(Sim* s) {
  const Model* m = s->model;
  if (m->simulation.integrator != INTEGRATOR_MOMENTUM) return;
  s->middle = MEMORY_NEW(MiddleMotion, 1);
  *s->middle = (MiddleMotion){.q = MEMORY_NEW(double, m->coordinate_count),
                              .pose = MEMORY_NEW(Pose, m->link_count),
                              .screws = MEMORY_NEW(Screw, m->dof_count),
                              .center = MEMORY_NEW(Vec3, m->link_count),
                              .v = MEMORY_NEW(Vec3, m->link_count),
                              .w = MEMORY_NEW(Vec3, m->link_count)};
}

void middle_motion_destroy(MiddleMotion* middle) {
  if (!middle) return;
  void* owned[] = {middle->q, middle->pose, middle->screws, middle->center, middle->v, middle->w, middle};
  for (size_t k = 0; k < sizeof(owned) / sizeof(owned[0]); k++) memory_free(owned[k]);
}

/* Sets the pose, the velocity of the centre of mass and the angular velocity of link i in the middle of the last
 * substep (S19). The entries of the parent must be set. */
static void compute_middle_motion(const Sim* s, int i) {
  const MiddleMotion* at = s->middle;
  const ModelLink* link = &s->model->links[i];
  joint_extrapolate(&link->joint, s->q_now + link->coordinate_first, s->difference_old + link->dof_first, -0.5,
                    at->q + link->coordinate_first);
  model_link_pose(s->model, i, at->q, at->pose);
  model_link_screws(s->model, i, at->q, at->pose, at->screws);
  Vec3 center = pose_apply(at->pose[i], link->center), v = vec3(0, 0, 0), w = vec3(0, 0, 0);
  if (link->parent >= 0) {
    w = at->w[link->parent];
    v = vec3_add(at->v[link->parent], vec3_cross(w, vec3_sub(center, at->center[link->parent])));
  }
  for (int dof = link->dof_first; dof < link->dof_first + link->dof_count; dof++) {
    double rate = s->state.rate[dof];
    w = vec3_add_scaled(w, rate, at->screws[dof].w);
    v = vec3_add_scaled(v, rate, screw_velocity(&at->screws[dof], center));
  }
  at->center[i] = center;
  at->v[i] = v;
  at->w[i] = w;
}

/* Largest deviation of a balanced wheel from rotational symmetry, as a fraction of its inertia and size. */
#define WHEEL_ASYMMETRY 1e-6

/* Returns true if the link is a wheel on a hinge: its centre of mass is on the axis, and its inertia is symmetric about
 * the axis. */
static bool is_balanced_wheel(const ModelLink* link) {
  if (link->joint.kind != &JOINT_KIND_HINGE || link->joint.slide_count > 0 || !(link->mass > 0)) return false;
  Vec3 axis = link->joint.axis[0], u = vec3_perpendicular(axis), v = vec3_cross(axis, u);
  Mat3 inertia = mass_moment_inertia_tensor(&link->moment);
  Vec3 by_u = mat3_mul_vec(inertia, u), by_v = mat3_mul_vec(inertia, v), offset = vec3_cross(axis, link->center);
  double tolerance = WHEEL_ASYMMETRY * vec3_dot(axis, mat3_mul_vec(inertia, axis));
  return vec3_norm(offset) <= WHEEL_ASYMMETRY * link->reach &&
         fabs(vec3_dot(u, by_u) - vec3_dot(v, by_v)) <= tolerance && fabs(vec3_dot(u, by_v)) <= tolerance &&
         fabs(vec3_dot(axis, by_u)) <= tolerance && fabs(vec3_dot(axis, by_v)) <= tolerance;
}

/* Adds the kinetic energy and the momenta of wheel i to *sum. The rotation is that in the middle of the last substep.
 * compute_middle_motion must have been called for the link. */
static void add_wheel_motion(const Sim* s, int i, SimMotion* sum) {
  const MiddleMotion* at = s->middle;
  const ModelLink* link = &s->model->links[i];
  Vec3 local = mat3_tmul_vec(at->pose[i].r, at->w[i]);
  Vec3 spin = mat3_mul_vec(mass_moment_inertia_tensor(&link->moment), local);
  Velocity difference = link_velocity(s, i);
  Vec3 v = velocity_at(&difference, link->center), orbit = vec3_cross(pose_apply(s->pose_now[i], link->center), v);
  sum->kinetic += 0.5 * link->mass * vec3_dot(v, v) + 0.5 * vec3_dot(local, spin);
  sum->momentum = vec3_add_scaled(sum->momentum, link->mass, v);
  sum->angular_momentum = vec3_add(sum->angular_momentum, mat3_mul_vec(at->pose[i].r, spin));
  sum->angular_momentum = vec3_add_scaled(sum->angular_momentum, link->mass, orbit);
}

static SimMotion compute_motion(const Sim* s) {
  SimMotion sum = {0};
  bool middle = s->middle && s->state.step > 0;
  for (int i = 0; i < s->model->link_count; i++) {
    const ModelLink* link = &s->model->links[i];
    if (middle && !link->spins) compute_middle_motion(s, i);
    if (link->tree < 0) continue;
    Velocity v = link_velocity(s, i);
    if (link->spins)
      add_spin_body_motion(link, &s->pose_now[i], &v, s->state.momentum[i], &sum);
    else if (middle && is_balanced_wheel(link))
      add_wheel_motion(s, i, &sum);
    else
      add_link_motion(link, &s->pose_now[i], &v, &sum);
    const double* rate = s->state.rate + link->dof_first;
    for (int k = 0; link->passive && k < link->joint.scalar_count; k++)
      sum.kinetic += 0.5 * link->armature[k] * rate[k] * rate[k];
  }
  return sum;
}

/* The force is mass times (acceleration - gravity) minus the loads. Acceleration: factor / dt^2 times the distance of
 * the centre of mass from its target without gravity (S1-S3). */
bool motion_forces(const Model* model, const StepClock* clock, const Pose* now, const Pose* old, const Pose* older,
                   const Pose* oldest, Vec3* force) {
  StepWeights w = step_weights(model->simulation.integrator, clock);
  if (w.y_rate != 0 || model->scene->fluid.given) return false;
  for (int i = 0; i < model->link_count; i++) {
    const ModelLink* link = &model->links[i];
    Vec3 y = vec3_scale(pose_apply(old[i], link->center), w.y_now);
    y = vec3_add_scaled(y, w.y_old, pose_apply(older[i], link->center));
    if (w.y_older != 0) y = vec3_add_scaled(y, w.y_older, pose_apply(oldest[i], link->center));
    Vec3 pull = vec3_scale(vec3_sub(pose_apply(now[i], link->center), y), w.factor / (clock->dt * clock->dt));
    force[i] = vec3_scale(vec3_sub(pull, model_link_gravity(model, i)), link->mass);
  }
  for (int k = 0; k < model->load_count; k++) {
    Vec3 load_force = sim_load_force(model, k, clock, old, older);
    const ModelLoad* load = &model->loads[k];
    force[load->link] = vec3_sub(force[load->link], load_force);
    if (load->field && load->field->to >= 0) force[load->field->to] = vec3_add(force[load->field->to], load_force);
  }
  return true;
}

/* ---------------------------------------------------------------- energies and contacts of a state */

/* Returns the potential energy of springs, tendons, bushings, fields, gravity and buoyancy at poses (links) and
 * coordinates (nq) [J]. */
static double potential_energy(const Sim* s, const Pose* pose, const double* q) {
  const Model* m = s->model;
  double sum = model_spring_energy(m, q) + model_tendon_energy(m, pose, q) + model_bushing_energy(m, pose) +
               model_field_energy(m, pose);
  for (int i = 0; i < m->link_count; i++) {
    const ModelLink* link = &m->links[i];
    if (link->tree < 0) continue;
    sum -= link->mass * vec3_dot(model_link_gravity(m, i), pose_apply(pose[i], link->center));
    sum += fluid_potential(s->fluid, i, &pose[i]);
  }
  return sum;
}

/* Returns the potential energy at the time to which the kinetic energy belongs (S20) [J]. If rates are differences over
 * one step, this is the middle of the step, where the potential energy is the mean of both ends. For first_order and in
 * all other cases it is the end of the step. now: potential energy at the end. */
static double potential_energy_at_rates(const Sim* s, double now) {
  bool middle = s->state.step > 0 && s->weights.rate_old == 0;
  if (!middle || s->model->simulation.integrator == INTEGRATOR_FIRST_ORDER) return now;
  return 0.5 * (now + potential_energy(s, s->pose_old, s->q_old));
}

SimMeasure sim_measure(Sim* s) {
  SimMotion motion = compute_motion(s);
  double potential = potential_energy(s, s->pose_now, s->q_now);
  SimMeasure out = {.kinetic = motion.kinetic,
                    .potential = potential,
                    .total = motion.kinetic + potential_energy_at_rates(s, potential),
                    .smallest_gap = INFINITY,
                    .momentum = motion.momentum,
                    .angular_momentum = motion.angular_momentum};
  for (int k = 0; s->contact && k < contact_candidate_count(s->contact); k++) {
    double gap = contact_gap(s->contact, k);
    if (gap < out.smallest_gap) out.smallest_gap = gap;
  }
  return out;
}

/* Smallest weight of a hull pair in the mean that gives the centre of pressure [N]. It applies to pairs with friction
 * but without normal force. */
#define PAIR_WEIGHT_MIN 1e-300

static int compare_contacts(const void* x, const void* y) {
  const SimContact *a = x, *b = y;
  if (a->a != b->a) return a->a < b->a ? -1 : 1;
  return a->b < b->b ? -1 : a->b > b->b;
}

static void merge_pairs_of_same_links(SimContact* list, int* count) {
  int kept = 0;
  for (int k = 0; k < *count; k++) {
    SimContact* last = kept > 0 ? &list[kept - 1] : NULL;
    if (last && last->a == list[k].a && last->b == list[k].b) {
      last->force = vec3_add(last->force, list[k].force);
      last->gap = fmin(last->gap, list[k].gap);
      last->point = vec3_add(last->point, list[k].point);
      last->moment = vec3_add(last->moment, list[k].moment);
      last->press += list[k].press;
      last->exerts_force = last->exerts_force || list[k].exerts_force;
      last->friction_load += list[k].friction_load;
      last->friction_owed += list[k].friction_owed;
      last->friction_lost += list[k].friction_lost;
    } else
      list[kept++] = list[k];
  }
  *count = kept;
}

/* Removes pairs beyond the range in which contacts are listed, for laws with long-range forces. */
static void drop_pairs_beyond_range(const Model* model, SimContact* list, int* count) {
  int kept = 0;
  for (int k = 0; k < *count; k++)
    if (list[k].gap < contact_listed_range(model, list[k].a, list[k].b)) list[kept++] = list[k];
  *count = kept;
}

/* Sets the contact point times the normal force, the moment about the origin, and the normal force of a hull pair.
 * These quantities of pairs of the same two links can be added. set_contact_points converts the sums into the point and
 * the moment about it. */
static void add_wrench(const ContactSystem* system, int candidate, bool is_swapped, SimContact* out) {
  ContactWrench w = contact_wrench(system, candidate);
  double weight = fmax(w.normal_force, PAIR_WEIGHT_MIN);
  out->point = vec3_scale(w.point, weight);
  out->moment = vec3_scale(w.torque, is_swapped ? -1 : 1);
  out->press = weight;
}

static bool has_contact_point_output(const Sim* s) {
  return s->model->simulation.output & (OUTPUT_CONTACT_POINTS | OUTPUT_PRESSURE);
}

static void set_contact_points(SimContact* list, int count) {
  for (int k = 0; k < count; k++) {
    SimContact* c = &list[k];
    c->point = vec3_scale(c->point, 1 / c->press);
    c->moment = vec3_sub(c->moment, vec3_cross(c->point, c->force));
  }
}

static void add_friction_account(const ContactSystem* system, int candidate, SimContact* out) {
  FrictionAccount account = contact_account(system, candidate);
  out->friction_load = account.load;
  out->friction_owed = account.deferred_force;
  out->friction_lost = account.lost;
}

/* Removes pairs of links without force, which were listed only for the friction accounts of their hull pairs. */
static void drop_pairs_without_force(SimContact* list, int* count) {
  int kept = 0;
  for (int k = 0; k < *count; k++)
    if (list[k].exerts_force) list[kept++] = list[k];
  *count = kept;
}

const SimContact* sim_contacts(Sim* s, int* count) {
  *count = 0;
  if (!s->contact) return NULL;
  int candidates = contact_candidate_count(s->contact);
  if (candidates > s->reported.contact_capacity) {
    memory_free(s->reported.contacts);
    s->reported.contact_capacity = 2 * candidates;
    s->reported.contacts = MEMORY_NEW(SimContact, s->reported.contact_capacity);
  }
  const bool accounts = contact_keeps_account(s->model);
  bool by_range =
      contact_lists_by_range(s->model); /* the gap and the force of a link pair can come from different hull pairs */
  for (int k = 0; k < candidates; k++) {
    Vec3 force;
    SimContact c = {0};
    contact_candidate(s->contact, k, &c.a, &c.b);
    if (accounts) add_friction_account(s->contact, k, &c);
    c.exerts_force =
        contact_force(s->contact, k, &force) || (by_range && isfinite(contact_listed_range(s->model, c.a, c.b)));
    if (!c.exerts_force && c.friction_owed == 0 && c.friction_load == 0) continue;
    c.gap = contact_gap(s->contact, k);
    c.force = force;
    const int first = c.a;
    bool is_swapped = c.a > c.b;
    if (is_swapped) {
      c.a = c.b;
      c.b = first;
      c.force = vec3_scale(force, -1.0);
    }
    if (has_contact_point_output(s)) add_wrench(s->contact, k, is_swapped, &c);
    s->reported.contacts[(*count)++] = c;
  }
  if (*count > 1) qsort(s->reported.contacts, (size_t)*count, sizeof(SimContact), compare_contacts);
  merge_pairs_of_same_links(s->reported.contacts, count);
  if (accounts) drop_pairs_without_force(s->reported.contacts, count);
  if (has_contact_point_output(s)) set_contact_points(s->reported.contacts, *count);
  if (by_range) drop_pairs_beyond_range(s->model, s->reported.contacts, count);
  return s->reported.contacts;
}

const ContactRecord* sim_contact_records(Sim* s, int* count) {
  *count = 0;
  if (!s->contact) return NULL;
  contact_find_records(s->contact);
  int candidates = contact_candidate_count(s->contact);
  if (candidates > s->reported.record_capacity) {
    memory_free(s->reported.records);
    s->reported.record_capacity = 2 * candidates;
    s->reported.records = MEMORY_NEW(ContactRecord, s->reported.record_capacity);
  }
  *count = contact_record(s->contact, s->reported.records);
  return s->reported.records;
}

void sim_pair_forces(const Sim* s, const ForcePair* pairs, int count, Vec3* force) {
  assert((pairs && force) || count == 0);
  for (int i = 0; i < count; i++) force[i] = vec3(0, 0, 0);
  int terms = s->contact ? contact_term_count(s->contact) : 0;
  for (int k = 0; k < terms; k++) {
    ContactTerms t = contact_term(s->contact, k);
    for (int i = 0; i < count; i++) {
      if (t.link_a == pairs[i].link && t.link_b == pairs[i].other) force[i] = vec3_sub(force[i], t.force[0]);
      if (t.link_b == pairs[i].link && t.link_a == pairs[i].other) force[i] = vec3_sub(force[i], t.force[1]);
    }
  }
}

void sim_link_forces(const Sim* s, Vec3* force) {
  for (int i = 0; i < s->model->link_count; i++) force[i] = vec3(0, 0, 0);
  int count = s->contact ? contact_term_count(s->contact) : 0;
  for (int k = 0; k < count; k++) {
    ContactTerms t = contact_term(s->contact, k);
    force[t.link_a] = vec3_sub(force[t.link_a], t.force[0]);
    force[t.link_b] = vec3_sub(force[t.link_b], t.force[1]);
  }
}
