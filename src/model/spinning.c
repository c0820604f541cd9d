/* Selects the bodies that integrate their angular momentum, and the trees that conserve momentum
 * (docs/derivations/spin.md). */
#include "model/build.h"

/* Tolerance of the triangle inequality of principal moments of inertia, relative to their sum, for rounding in the
 * scene's numbers. */
#define TRIANGLE_TOLERANCE 1e-6
/* Largest entry of the inverse of a body's inertia tensor after division by its trace. If an entry is larger, the
 * inverse loses nearly all digits. */
#define CONDITION_MAX 1e12
/* Fraction of a body's initial spin above which the dissipation of the integrator is reported. */
#define DISSIPATION_MAX 0.5

/* Largest change of the direction of a principal axis of inertia by the inertia tensor, relative to its trace. */
#define PRINCIPAL_TOLERANCE 1e-6

/* Returns true if a link moves freely in a plane (free_axes, W53), and its hinge's axis is a principal axis of inertia.
 * Otherwise the joint exerts a torque that depends on the angular velocity. No limit and no force of the joint may act,
 * except of controllers. */
static bool is_free_in_plane(const Model* model, const ModelLink* link) {
  if (model->scene->links[link - model->links].joint.type != JOINT_FREE) return false;
  if (!joint_is_free_in_plane(&link->joint) || link->passive) return false;
  for (int k = 0; k < link->dof_count; k++)
    if (link->limited[k] || link->damping[k] != 0) return false;
  Mat3 inertia = mass_moment_inertia_tensor(&link->moment);
  Vec3 axis = link->joint.axis[0], response = mat3_mul_vec(inertia, axis);
  double about = vec3_dot(axis, response);
  Vec3 rest = vec3_add_scaled(response, -about, axis);
  return about > 0 && vec3_norm(rest) <= PRINCIPAL_TOLERANCE * mat3_trace(inertia);
}

/* Sets free_alone[links] to true for free rigid bodies: links that are alone in their tree, are not prescribed, and
 * have no closure, coupling, tendon or bushing. They have six degrees of freedom, or move freely in a plane without
 * controllers. */
static void find_free_bodies(const Model* model, bool* free_alone) {
  int* members = MEMORY_NEW(int, model->tree_count);
  bool* closed = MEMORY_NEW(bool, model->link_count);
  for (int k = 0; k < 2 * model->closure_count; k++)
    if (model->closures[k / 2].link[k % 2] >= 0) closed[model->closures[k / 2].link[k % 2]] = true;
  for (int k = 0; k < model->coupling_count; k++)
    for (int i = 0; i < model->couplings[k].count; i++) closed[model->dof_link[model->couplings[k].dof[i]]] = true;
  for (int k = 0; k < model->tendon_count; k++) {
    const SceneTendon* tendon = model->tendons[k].source;
    for (int i = 0; i < tendon->count; i++)
      if (tendon->points[i].link >= 0) closed[tendon->points[i].link] = true;
    for (int i = 0; i < tendon->wrap_count; i++)
      if (tendon->wraps[i].link >= 0) closed[tendon->wraps[i].link] = true;
    for (int i = 0; i < tendon->joint_count; i++) closed[tendon->joints[i].link] = true;
  }
  for (int k = 0; k < 2 * model->bushing_count; k++)
    if (model->bushings[k / 2].source->link[k % 2] >= 0) closed[model->bushings[k / 2].source->link[k % 2]] = true;
  bool* driven = MEMORY_NEW(bool, model->link_count);
  for (int k = 0; k < model->controller_count; k++) driven[model->controllers[k].link] = true;
  for (int i = 0; i < model->link_count; i++)
    if (model->links[i].tree >= 0) members[model->links[i].tree]++;
  for (int i = 0; i < model->link_count; i++) {
    const ModelLink* link = &model->links[i];
    bool alone = link->tree >= 0 && members[link->tree] == 1 && link->prescribed < 0;
    bool is_free = joint_is_floating(&link->joint) || (!driven[i] && is_free_in_plane(model, link));
    free_alone[i] = alone && !closed[i] && link->mass > 0 && is_free;
  }
  memory_free(driven);
  memory_free(members);
  memory_free(closed);
}

/* Returns true if a symmetric matrix is positive definite: its three leading minors are positive (Sylvester's
 * criterion). */
static bool is_positive_definite(Mat3 a) {
  return a.m[0][0] > 0 && a.m[0][0] * a.m[1][1] - a.m[0][1] * a.m[1][0] > 0 && mat3_det(a) > 0;
}

static double largest_entry(Mat3 a) {
  double largest = 0;
  for (int i = 0; i < 9; i++) largest = fmax(largest, fabs(a.m[i / 3][i % 3]));
  return largest;
}

/* Returns the reason why the integrator cannot use a link's inertia (static text), or NULL. Euler's equations need the
 * inverse of the inertia. Their series expansion needs principal moments that satisfy the triangle inequality. */
static const char* find_inertia_fault(const ModelLink* link) {
  Mat3 inertia = mass_moment_inertia_tensor(&link->moment);
  double trace = mat3_trace(inertia);
  if (!(trace > 0) || !isfinite(trace)) return "its inertia is zero";
  inertia = mat3_scale(inertia, 1 / trace);
  if (!is_positive_definite(inertia) || !(largest_entry(mat3_inverse(inertia)) < CONDITION_MAX))
    return "its inertia about some axis is zero";
  if (!is_positive_definite(mat3_sub(mat3_scale(mat3_identity(), 0.5 + TRIANGLE_TOLERANCE), inertia)))
    return "a principal moment of its inertia exceeds the sum of the other two";
  return NULL;
}

/* Sets ModelTree.flies of the trees with joints whose momentum the integrator `momentum` conserves in free flight
 * (W11). Trees of a single spinning body are not selected. If signals prescribe all joints of a tree, their drive
 * forces are evaluated at the start of a step (W17). */
static void select_momentum_trees(Model* model) {
  for (int i = 0; i < model->link_count; i++) {
    const ModelLink* link = &model->links[i];
    if (link->tree >= 0 && link->dof_count > 0) model->trees[link->tree].flies = true;
  }
  for (int i = 0; i < model->link_count; i++)
    if (model->links[i].spins) model->trees[model->links[i].tree].flies = false;
}

/* Returns the fraction of the angular velocity `spin` [rad/s] that the integrator dissipates during a run without
 * contact (W19). */
static double dissipated_fraction(const SceneSimulation* simulation, double spin) {
  double duration = simulation->dt * simulation->steps, step = simulation_substep_length(simulation),
         turn = spin * step;
  if (simulation->integrator == INTEGRATOR_SECOND_ORDER)
    return 1 - 1 / sqrt(sqrt(1 + 4 * turn * turn * turn * spin * duration));
  return 1 - 1 / sqrt(1 + 2 * turn * spin * duration);
}

/* Warns of the free body with the largest initial spin if the integrator dissipates too much of it. */
static void warn_dissipation(const Model* model, const bool* free_alone, Diagnostics* diagnostics) {
  double most = 0;
  int link = -1;
  for (int i = 0; i < model->link_count; i++) {
    const ModelLink* body = &model->links[i];
    const double* rate = model->initial_velocities + body->dof_first;
    double spin = free_alone[i] ? vec3_norm(joint_free_angular_velocity(&body->joint, rate)) : 0;
    if (!(spin > most)) continue;
    most = spin;
    link = i;
  }
  double taken = dissipated_fraction(&model->simulation, most);
  if (!(taken > DISSIPATION_MAX)) return;
  diagnostics_add(diagnostics, SEVERITY_WARNING, model->scene->links[link].place,
                  "simulation.integrator %s removes %.0f %% of the angular velocity of link '%s', %.3g rad/s, in %.3g "
                  "s of flight: set simulation.integrator: momentum",
                  model->simulation.integrator == INTEGRATOR_SECOND_ORDER ? "second_order" : "first_order", 100 * taken,
                  model->links[link].name, most, model->simulation.dt * model->simulation.steps);
}

void build_spinning(Builder* builder) {
  Model* model = builder->model;
  bool* free_alone = MEMORY_NEW(bool, model->link_count + 1);
  find_free_bodies(model, free_alone);
  if (model->simulation.integrator != INTEGRATOR_MOMENTUM && !builder->scene->start.run)
    warn_dissipation(model, free_alone, builder->diagnostics);
  for (int i = 0; i < model->link_count && model->simulation.integrator == INTEGRATOR_MOMENTUM; i++)
    model->links[i].spins = free_alone[i];
  memory_free(free_alone);
  if (model->simulation.integrator != INTEGRATOR_MOMENTUM) return;
  select_momentum_trees(model);
  for (int i = 0; i < model->link_count; i++) {
    const char* fault = model->links[i].spins && joint_is_floating(&model->links[i].joint)
                            ? find_inertia_fault(&model->links[i])
                            : NULL;
    if (!fault) continue;
    diagnostics_add(builder->diagnostics, SEVERITY_ERROR, builder->scene->links[i].place,
                    "simulation.integrator momentum cannot integrate the rotation of link '%s': %s; correct 'inertia', "
                    "or use another integrator",
                    model->links[i].name, fault);
  }
}
