/* Creates a Sim with its memory and initial state. Advances a Sim from one state to the next. */
#include "contact/step.h"
#include "simulate/bushings.h"
#include "simulate/delay.h"
#include "simulate/fluid.h"
#include "simulate/internal_forces.h"
#include "simulate/roll_shift.h"
#include "simulate/spin.h"
#include "simulate/stops.h"
#include "simulate/tendons.h"
#include "simulate/tree_flight.h"

#include <assert.h>
#include <math.h>
#include <string.h>

const char* step_outcome_text(StepOutcome outcome) {
  assert((unsigned)outcome <= STEP_INTERRUPTED);
  static const char* const text[] = {"converged", "rounding_floor", "no_solution", "blocked",
                                     "open",      "crossed",        "interrupted"};
  return text[outcome];
}

void unconverged_add(UnconvergedSteps* u, const StepReport* report, double time) {
  assert(u && report);
  if (report->friction_open && u->friction_open++ == 0) {
    u->friction_time = time;
    memcpy(u->friction_links, report->friction_links, sizeof(u->friction_links));
  }
  if (report->late_friction > u->late_friction) {
    u->late_friction = report->late_friction;
    u->late_time = time;
    memcpy(u->late_links, report->late_links, sizeof(u->late_links));
  }
  if (report->outcome != STEP_ROUNDING_FLOOR) return;
  u->speed = fmax(u->speed, report->speed_error);
  if (u->steps++ > 0 && !(report->residual > u->residual)) return;
  u->residual = report->residual;
  u->time = time;
  u->dof = report->residual_dof;
}

bool step_outcome_failed(StepOutcome outcome) { return outcome != STEP_CONVERGED && outcome != STEP_ROUNDING_FLOOR; }

/* ---------------------------------------------------------------- creation and destruction */

static Configuration configuration_create(const Model* model) {
  return (Configuration){MEMORY_NEW(double, model->coordinate_count),
                         MEMORY_NEW(Pose, model->link_count),
                         MEMORY_NEW(double, model->link_count),
                         MEMORY_NEW(JointTerms, model->link_count),
                         model->tendon_count > 0 ? MEMORY_NEW(double, model->tendon_count) : NULL,
                         model->bushing_count > 0 ? MEMORY_NEW(double, model->bushing_count) : NULL,
                         model->closure_row_count > 0 ? MEMORY_NEW(double, model->closure_row_count) : NULL};
}

static void configuration_destroy(Configuration* c) {
  memory_free(c->q);
  memory_free(c->pose);
  memory_free(c->inertia);
  memory_free(c->joints);
  memory_free(c->closures);
  memory_free(c->tendons);
  memory_free(c->bushings);
}

static void mark_trees_always_stale(Sim* s, const int* dof, int count) {
  for (int n = 0; n < count; n++) s->marks.always_stale[s->model->links[s->model->dof_link[dof[n]]].tree] = true;
}

static void mark_always_stale_trees(Sim* s) {
  s->marks.always_stale = MEMORY_NEW(bool, s->model->tree_count);
  if (s->closures) mark_trees_always_stale(s, s->closures->dof, s->closures->dof_first[s->closures->count]);
  if (s->tendons) mark_trees_always_stale(s, s->tendons->dof, s->tendons->dof_first[s->model->tendon_count]);
  for (int k = 0; k < 2 * s->model->bushing_count; k++) {
    int link = s->model->bushings[k / 2].source->link[k % 2];
    if (link >= 0 && s->model->links[link].tree >= 0) s->marks.always_stale[s->model->links[link].tree] = true;
  }
}

static void list_links_by_tree(Sim* s) {
  const Model* m = s->model;
  s->trees.first = MEMORY_NEW(int, m->tree_count + 1);
  s->trees.links = MEMORY_NEW(int, m->link_count);
  for (int i = 0; i < m->link_count; i++)
    if (m->links[i].tree >= 0) s->trees.first[m->links[i].tree + 1]++;
  for (int k = 0; k < m->tree_count; k++) s->trees.first[k + 1] += s->trees.first[k];
  for (int i = m->link_count - 1; i >= 0; i--) /* filling backward turns end indices into first indices */
    if (m->links[i].tree >= 0) s->trees.links[--s->trees.first[m->links[i].tree + 1]] = i;
  for (int k = 0; k < m->tree_count; k++) s->trees.first[k] = s->trees.first[k + 1];
  int movable = 0;
  for (int i = 0; i < m->link_count; i++) movable += m->links[i].tree >= 0;
  s->trees.first[m->tree_count] = movable;
}

static SolveScope whole_scope(const Model* m) {
  int* trees = MEMORY_NEW(int, m->tree_count);
  int* links = MEMORY_NEW(int, m->link_count);
  int* dof_first = MEMORY_NEW(int, m->tree_count);
  for (int i = 0; i < m->link_count; i++) links[i] = i;
  for (int k = 0, dof = 0; k < m->tree_count; k++) {
    trees[k] = k;
    dof_first[k] = dof;
    dof += m->trees[k].dof_count;
  }
  return (SolveScope){true, trees, links, trees, dof_first, m->tree_count, m->link_count};
}

static void initialize_switched_closures(Sim* s) {
  const Model* m = s->model;
  if (!s->own_model) return;
  Pose* start = MEMORY_NEW(Pose, m->link_count);
  model_poses(m, m->closure_coordinates ? m->closure_coordinates : m->initial_coordinates, start);
  closures_switch_create(s->closures, start);
  memory_free(start);
}

static void allocate_states(Sim* s) {
  const Model* m = s->model;
  s->scope = whole_scope(m);
  s->state.q = MEMORY_NEW(double, m->coordinate_count);
  s->state.rate = MEMORY_NEW(double, m->dof_count);
  s->state.center = MEMORY_NEW(Vec3, m->link_count);
  s->state.momentum = MEMORY_NEW(Vec3, m->link_count);
  if (m->feels) s->state.contact_force = MEMORY_NEW(Vec3, m->link_count);
  if (m->delayed_count > 0) s->state.delayed = MEMORY_NEW(double, 2 * m->delayed_count);
  s->delays = delays_create(m);
  s->certificate.extent = crossing_link_radii(m);
  s->certificate.moved = MEMORY_NEW(Vec3, m->link_count);
  s->spin_bodies = spin_bodies_create(m);
  s->closures = closures_create(m, s->tolerance);
  initialize_switched_closures(s);
  s->q_now = MEMORY_NEW(double, m->coordinate_count);
  s->q_old = MEMORY_NEW(double, m->coordinate_count);
  s->difference_old = MEMORY_NEW(double, m->dof_count);
  if (m->armature) s->q_older = MEMORY_NEW(double, m->coordinate_count);
  if (m->armature) s->armature_target = MEMORY_NEW(double, m->dof_count);
  s->pose_now = MEMORY_NEW(Pose, m->link_count);
  s->pose_old = MEMORY_NEW(Pose, m->link_count);
  s->pose_older = MEMORY_NEW(Pose, m->link_count);
  s->pose_rate = MEMORY_NEW(Pose, m->link_count);
  s->start_rate = MEMORY_NEW(double, m->dof_count);
  s->rate_before = MEMORY_NEW(double, m->dof_count);
  s->target = MEMORY_NEW(Pose, m->link_count);
  s->drive_list.drives = MEMORY_NEW(JointDrive, m->controller_count);
  s->drive_list.first = MEMORY_NEW(int, m->link_count + 1);
  s->tendons = tendons_create(m);
  s->bushings = bushings_create(m);
  s->fluid = fluid_create(m);
  s->internal_forces = internal_forces_create(s);
  s->loads = loads_create(s);
  s->prescribed_joints.target = MEMORY_NEW(double, m->coordinate_count);
  s->prescribed_joints.is_fixed = MEMORY_NEW(bool, m->dof_count);
}

static void allocate_terms(Sim* s) {
  const Model* m = s->model;
  for (int k = 0; k < 2; k++) s->configuration[k] = configuration_create(m);
  s->newton.gradient = MEMORY_NEW(double, m->dof_count);
  s->newton.delta = MEMORY_NEW(double, m->dof_count);
  s->newton.scaled = MEMORY_NEW(double, m->dof_count);
  s->assembly.screws = MEMORY_NEW(Screw, m->dof_count);
  s->assembly.reference = MEMORY_NEW(Vec3, m->link_count);
  s->assembly.terms = MEMORY_NEW(LinkTerms, m->link_count);
  s->force_scales.link = MEMORY_NEW(ForceMagnitudes, m->link_count);
  s->force_scales.dof = MEMORY_NEW(double, m->dof_count);
  s->certificate.bounds = (MotionBounds){MEMORY_NEW(MotionBound, m->link_count), MEMORY_NEW(JointBound, m->link_count)};
  s->newton.rhs = MEMORY_NEW(double, m->dof_count);
  s->newton.solution = MEMORY_NEW(double, m->dof_count);
  s->newton.push = MEMORY_NEW(double, m->dof_count);
  s->newton.curvature = MEMORY_NEW(double, m->tree_count);
}

static void allocate_trees(Sim* s) {
  const Model* m = s->model;
  s->marks.needs_direction = MEMORY_NEW(bool, m->tree_count);
  s->trial.moving = MEMORY_NEW(bool, m->tree_count);
  s->trial.step_length = MEMORY_NEW(double, m->tree_count);
  s->trial.moved_trees = MEMORY_NEW(int, m->tree_count);
  s->trial.same = MEMORY_NEW(bool, m->link_count);
  s->marks.stale = MEMORY_NEW(bool, m->tree_count);
  s->trial.inside = MEMORY_NEW(bool, m->tree_count);
  s->marks.balanced = MEMORY_NEW(bool, m->tree_count);
  s->marks.is_balance_current = MEMORY_NEW(bool, m->tree_count);
  s->trial.moved_link = MEMORY_NEW(bool, m->link_count);
  s->certificate.is_still = MEMORY_NEW(bool, m->tree_count);
  s->trial.rounding = MEMORY_NEW(LinkPart, m->link_count);
  s->trial.change = MEMORY_NEW(LinkPart, m->link_count);
  list_links_by_tree(s);
  s->flight = tree_flight_create(s);
  s->shifts = roll_shifts_create(s);
  s->marks.stale_blocks = MEMORY_NEW(bool, m->tree_count);
  mark_always_stale_trees(s);
}

static void allocate_islands(Sim* s) {
  const Model* m = s->model;
  s->marks.link = MEMORY_NEW(bool, m->link_count);
  s->components.of_tree = MEMORY_NEW(int, m->tree_count);
  s->components.wanted = MEMORY_NEW(bool, m->tree_count);
  s->components.solved = MEMORY_NEW(bool, m->tree_count);
  s->components.failed = MEMORY_NEW(bool, m->tree_count);
  s->components.lift = MEMORY_NEW(double, m->tree_count);
  s->assembly.twist = memory_alloc(sizeof(double[6]) * (size_t)m->link_count);
  s->island_set.of_tree = MEMORY_NEW(int, m->tree_count);
  s->island_set.list = MEMORY_NEW(Island, m->tree_count);
  s->island_set.of_link = MEMORY_NEW(int, m->link_count);
  s->island_set.refused = MEMORY_NEW(bool, m->tree_count);
  s->island_set.group = MEMORY_NEW(int, m->tree_count);
  s->certificate.q = MEMORY_NEW(double, m->coordinate_count);
}

/* Allocates all arrays. The order matters: each function uses arrays that an earlier function allocated. */
static void allocate(Sim* s) {
  allocate_states(s);
  allocate_terms(s);
  allocate_trees(s);
  allocate_islands(s);
}

static void free_all(void* const* owned, size_t count) {
  for (size_t k = 0; k < count; k++) memory_free(owned[k]);
}

static void free_states(Sim* s) {
  void* const owned[] = {(int*)s->scope.trees,
                         (int*)s->scope.links,
                         (int*)s->scope.dof_first,
                         s->spin_bodies,
                         s->state.momentum,
                         s->state.contact_force,
                         s->state.delayed,
                         s->state.q,
                         s->state.rate,
                         s->state.center,
                         s->q_now,
                         s->q_old,
                         s->difference_old,
                         s->q_older,
                         s->armature_target,
                         s->pose_now,
                         s->pose_old,
                         s->pose_older,
                         s->pose_rate,
                         s->start_rate,
                         s->rate_before,
                         s->target,
                         s->shifts,
                         s->drive_list.drives,
                         s->drive_list.first,
                         s->loads,
                         s->joint_stops.stop,
                         s->joint_stops.mass,
                         s->prescribed_joints.target,
                         s->prescribed_joints.is_fixed,
                         s->certificate.extent,
                         s->certificate.moved};
  free_all(owned, sizeof(owned) / sizeof(owned[0]));
}

static void free_terms(Sim* s) {
  void* const owned[] = {
      s->newton.gradient,    s->newton.delta,      s->newton.scaled,           s->assembly.screws,
      s->assembly.reference, s->assembly.terms,    s->certificate.bounds.link, s->certificate.bounds.joint,
      s->newton.rhs,         s->force_scales.link, s->force_scales.dof,        s->newton.solution,
      s->newton.push,        s->newton.curvature,  s->assembly.twist};
  free_all(owned, sizeof(owned) / sizeof(owned[0]));
}

static void free_trees(Sim* s) {
  void* const owned[] = {s->marks.needs_direction, s->trial.moving,         s->trial.step_length,
                         s->trial.moved_trees,     s->trial.same,           s->marks.stale,
                         s->trial.inside,          s->marks.balanced,       s->marks.is_balance_current,
                         s->trial.moved_link,      s->certificate.is_still, s->trial.rounding,
                         s->trial.change,          s->trees.first,          s->trees.links,
                         s->marks.stale_blocks,    s->marks.always_stale};
  free_all(owned, sizeof(owned) / sizeof(owned[0]));
}

static void free_islands(Sim* s) {
  void* const owned[] = {s->island_set.of_tree,
                         s->island_set.list,
                         s->island_set.of_link,
                         s->island_set.refused,
                         s->island_set.group,
                         s->pattern.couplings,
                         s->reported.contacts,
                         s->certificate.q,
                         s->reported.records,
                         s->marks.link,
                         s->components.of_tree,
                         s->components.wanted,
                         s->components.solved,
                         s->components.failed,
                         s->components.lift,
                         s->pattern.fresh_couplings,
                         s->joint_reports.substep_forces,
                         s->joint_reports.forces,
                         s->joint_reports.substep_reactions,
                         s->joint_reports.reactions,
                         s->joint_reports.reaction_sum,
                         s->feedback};
  free_all(owned, sizeof(owned) / sizeof(owned[0]));
}

void sim_destroy(Sim* s) {
  if (!s) return;
  free_states(s);
  free_terms(s);
  free_trees(s);
  free_islands(s);
  for (int k = 0; k < 2; k++) configuration_destroy(&s->configuration[k]);
  path_destroy(&s->path);
  tree_term_lists_free(&s->assembly.sides);
  substates_free(s);
  initial_friction_free(s);
  friction_iteration_free(s);
  tree_flight_destroy(s->flight);
  scheme_balance_destroy(s->balance);
  middle_motion_destroy(s->middle);
  closures_destroy(s->closures);
  closures_free_model(s->own_model);
  internal_forces_destroy(s->internal_forces);
  tendons_destroy(s->tendons);
  bushings_destroy(s->bushings);
  fluid_destroy(s->fluid);
  delays_destroy(s->delays);
  block_solver_destroy(s->solver);
  subsystems_destroy(s->subsystems.parts);
  contact_destroy(s->contact);
  memory_free(s);
}

/* ---------------------------------------------------------------- start of a run */

/* Sets pose_rate of each link to dT/dt from the initial velocities, as an affine map x' = r X + t. */
static void initial_pose_rates(Sim* s) {
  const Model* m = s->model;
  model_screws(m, s->q_now, s->pose_now, s->assembly.screws);
  for (int i = 0; i < m->link_count; i++) {
    Vec3 w = {0, 0, 0}, v = {0, 0, 0}; /* twist about the origin of the link's frame */
    for (int up = i; up >= 0; up = m->links[up].parent)
      for (int k = m->links[up].dof_first; k < m->links[up].dof_first + m->links[up].dof_count; k++) {
        const Screw* screw = &s->assembly.screws[k];
        double rate = m->initial_velocities[k];
        w = vec3_add_scaled(w, rate, screw->w);
        v = vec3_add_scaled(v, rate, screw_velocity(screw, s->pose_now[i].t));
      }
    s->pose_rate[i] = (Pose){mat3_mul(mat3_cross(w), s->pose_now[i].r), v};
  }
}

void sim_coordinates_before_start(const Model* m, const double* q, double dt, double* difference, double* q_old) {
  for (int dof = 0; dof < m->dof_count; dof++) difference[dof] = dt * m->initial_velocities[dof];
  for (int i = 0; i < m->link_count; i++) {
    const ModelLink* link = &m->links[i];
    joint_extrapolate(&link->joint, q + link->coordinate_first, difference + link->dof_first, -1,
                      q_old + link->coordinate_first);
  }
}

static void set_state_before_start(Sim* s) {
  const Model* m = s->model;
  sim_coordinates_before_start(m, s->q_now, s->clock.dt, s->difference_old, s->q_old);
  model_poses(m, s->q_old, s->pose_old);
  memcpy(s->pose_older, s->pose_old, sizeof(Pose) * (size_t)m->link_count);
  if (s->q_older) memcpy(s->q_older, s->q_old, sizeof(double) * (size_t)m->coordinate_count);
  s->clock.dt_before = s->clock.dt;
}

void sim_update_public_state(Sim* s) {
  const Model* m = s->model;
  memcpy(s->state.q, s->q_now, sizeof(double) * (size_t)m->coordinate_count);
  s->state.pose = s->pose_now;
  for (int i = 0; i < m->link_count; i++) s->state.center[i] = pose_apply(s->pose_now[i], m->links[i].center);
}

static void create_solver(Sim* s) {
  const Model* m = s->model;
  int* sizes = MEMORY_NEW(int, m->tree_count);
  for (int k = 0; k < m->tree_count; k++) sizes[k] = m->trees[k].dof_count;
  s->solver = block_solver_create(m->tree_count, sizes);
  memory_free(sizes);
  s->pattern.version = -1;
}

/* Sets s->drive_list.first[links + 1], the index of the first drive of each link's joint. Marks the degrees of freedom
 * of prescribed joints as fixed. */
static void list_drives(Sim* s) {
  const Model* m = s->model;
  int count = 0;
  for (int i = 0; i < m->link_count; i++) {
    s->drive_list.first[i] = count;
    for (int c = 0; c < m->controller_count; c++)
      count += m->controllers[c].link == i && m->controllers[c].type != CONTROLLER_PRESCRIBED;
    if (m->links[i].prescribed < 0) continue;
    for (int k = 0; k < m->links[i].dof_count; k++) {
      s->prescribed_joints.is_fixed[m->links[i].dof_first + k] = true;
      s->prescribed_joints.count++;
    }
  }
  s->drive_list.first[m->link_count] = count;
}

static Sim* create_at_start(const Model* model, const SimOptions* options) {
  Sim* s = MEMORY_NEW(Sim, 1);
  s->own_model = closures_copy_model(model);
  s->model = s->own_model ? s->own_model : model;
  s->options = *options;
  s->iteration_limit = model->simulation.max_iterations;
  s->tolerance = options->tolerance > 0 ? options->tolerance : model->simulation.tolerance;
  allocate(s);
  list_drives(s);
  if (model->feedback_count > 0) s->feedback = MEMORY_NEW(double, model->feedback_count);
  create_solver(s);
  memcpy(s->q_now, model->initial_coordinates, sizeof(double) * (size_t)model->coordinate_count);
  memcpy(s->q_old, s->q_now, sizeof(double) * (size_t)model->coordinate_count);
  if (s->q_older) memcpy(s->q_older, s->q_now, sizeof(double) * (size_t)model->coordinate_count);
  memcpy(s->start_rate, model->initial_velocities, sizeof(double) * (size_t)model->dof_count);
  memcpy(s->state.rate, s->start_rate, sizeof(double) * (size_t)model->dof_count);
  model_poses(model, s->q_now, s->pose_now);
  s->gain_dt = simulation_substep_length(&model->simulation);
  sim_set_clock(s, simulation_substep_count(&model->simulation), 0);
  initial_pose_rates(s);
  if (!model->start && model_has_earlier_states(model)) set_state_before_start(s);
  stops_create(s);
  joint_forces_create(s);
  reactions_create(s);
  spin_set_initial_momenta(s);
  delays_append_state(s);
  scheme_balance_create(s);
  middle_motion_create(s);
  sim_update_public_state(s);
  return s;
}

Sim* sim_create_without_contact(const Model* model, int threads) {
  SimOptions options = {.threads = threads};
  return create_at_start(model, &options);
}

/* Starts the run from the model's recorded state, including the state of contact. If this fails, destroys the Sim and
 * sets *out to NULL. */
static Status start_from_stored_state(Sim** out, Diagnostics* diagnostics) {
  Sim* s = *out;
  const Model* m = s->model;
  if (m->contact_model != CONTACT_NONE && m->hull_count > 0) {
    s->contact = contact_create(m, s->options.threads, s->tolerance);
    contact_set_expected_poses(s->contact, s->target);
    contact_set_shifts(s->contact, s->shifts);
    path_create(s);
    subsystems_create(s);
  }
  Status status = sim_start_from_stored_state(s, diagnostics);
  if (status == STATUS_OK) return status;
  sim_destroy(s);
  *out = NULL;
  return status;
}

/* Checks that the initial state satisfies all closures. The initial state of a scene always does; the state from a file
 * may not. If the check fails, destroys the Sim and sets *out to NULL. */
static Status check_closures_are_closed(Sim** out, Diagnostics* diagnostics) {
  Sim* s = *out;
  (void)closures_update_active(s->closures, s->pose_now, s->pose_now, s->state.time, s->state.time);
  int open = closures_find_open_at_start(s->closures, s->pose_now, s->q_now);
  if (open < 0) return STATUS_OK;
  Text name = {0};
  closure_add_name(&name, s->model, open);
  SourcePosition place = {s->model->scene->path, 0, 0};
  diagnostics_add(diagnostics, SEVERITY_ERROR, place,
                  "%s is open by %.3g m (or rad) in the initial state: correct the state that the run starts from",
                  name.data, closure_absolute_error(s->closures, open));
  text_free(&name);
  sim_destroy(s);
  *out = NULL;
  return STATUS_BAD_INPUT;
}

Status sim_create(Sim** out, const Model* model, const SimOptions* options, Diagnostics* diagnostics) {
  assert(out && model && options && options->threads >= 1);
  Sim* s = *out = create_at_start(model, options);
  if (model->start && start_from_stored_state(out, diagnostics) != STATUS_OK) return STATUS_BAD_INPUT;
  scheme_balance_set_contact_energy(s);
  if (check_closures_are_closed(out, diagnostics) != STATUS_OK) return STATUS_BAD_INPUT;
  if (model->start) return STATUS_OK;
  if (model->contact_model == CONTACT_NONE || model->hull_count == 0) return STATUS_OK;
  s->contact = contact_create(model, options->threads, s->tolerance);
  contact_set_expected_poses(s->contact, s->target);
  contact_set_shifts(s->contact, s->shifts);
  if (contact_reset(s->contact, s->pose_now)) {
    path_create(s);
    subsystems_create(s);
    scheme_balance_set_contact_energy(s);
    return STATUS_OK;
  }
  SourcePosition place = {model->scene->path, 0, 0};
  diagnostics_add(diagnostics, SEVERITY_ERROR, place, "bodies intersect in the initial state: move them apart");
  sim_destroy(s);
  *out = NULL;
  return STATUS_BAD_INPUT;
}

/* ---------------------------------------------------------------- rates and state of the next step */

/* Sets the joint rates of the state, which are output only, by the difference formula of the integrator. */
static void update_rates(Sim* s) {
  const Model* m = s->model;
  for (int i = 0; i < m->link_count; i++) {
    const ModelLink* link = &m->links[i];
    if (link->dof_count == 0) continue;
    double d[JOINT_MAX_DOF];
    joint_difference(&link->joint, s->q_old + link->coordinate_first, s->q_now + link->coordinate_first, d);
    for (int k = 0; k < link->dof_count; k++) {
      int dof = link->dof_first + k;
      s->state.rate[dof] = s->weights.rate_now * d[k] - s->weights.rate_old * s->difference_old[dof];
      s->difference_old[dof] = d[k];
    }
  }
}

void sim_advance(Sim* s) {
  const Configuration* c = &s->configuration[s->current];
  joint_forces_compute(s);
  reactions_compute(s);
  if (s->state.contact_force) sim_link_forces(s, s->state.contact_force);
  spin_update_momenta(s);
  Pose* oldest = s->pose_older;
  s->pose_older = s->pose_old;
  s->pose_old = s->pose_now;
  s->pose_now = oldest;
  memcpy(s->pose_now, c->pose, sizeof(Pose) * (size_t)s->model->link_count);
  if (s->q_older) memcpy(s->q_older, s->q_old, sizeof(double) * (size_t)s->model->coordinate_count);
  double* q = s->q_old;
  s->q_old = s->q_now;
  s->q_now = q;
  memcpy(s->q_now, c->q, sizeof(double) * (size_t)s->model->coordinate_count);
  update_rates(s);
  spin_update_rates(s);
  scheme_balance_add_substep(s);
  if (s->closures) closures_advance(s->closures, &s->clock);
  if (s->closures) closures_store_increments(s->closures, s->difference_old, s->clock.dt == s->clock.dt_before);
  s->reached = s->clock;
  s->clock.dt_older = s->clock.dt_before;
  s->clock.dt_before = s->clock.dt;
  s->clock.kind_before = s->clock.kind;
  s->clock.older_varies = s->clock.before_varies;
  s->clock.before_varies = s->clock.dt_varies;
  s->clock.begin_varies = step_end_depends_on_state(&s->reached);
  delays_append_state(s);
}

const SimState* sim_state(const Sim* sim) { return &sim->state; }

SimTimes sim_times(const Sim* sim) { return sim->times; }

SimClosure sim_closure(const Sim* sim, int index) {
  assert(index >= 0 && index < sim->model->closure_count);
  return closure_state(sim->closures, index, sim->pose_now);
}

SimClosure sim_coupling(const Sim* sim, int index) {
  assert(index >= 0 && index < sim->model->coupling_count);
  return coupling_state(sim->closures, index, sim->q_now);
}

const SimJoin* sim_closures_joined(const Sim* sim) { return sim->closures ? sim->closures->joined : NULL; }

const double* sim_closures_broken(const Sim* sim) { return sim->closures ? sim->closures->broken_at : NULL; }
