/* Adjoint of the thetas, the implicitnesses of springs and dampers, with respect to their coefficients, inertia and
 * initial coordinates. The thetas set the time weights of springs and dampers (docs/derivations/drives.md, M10, M12).
 */
#include <string.h>

#include "simulate/bushings.h"
#include "simulate/step_adjoint.h"
#include "simulate/tendons.h"

typedef struct {
  StepAdjoint* a;
  const Pose* pose;
  double (*motion)[3][4]; /* time derivatives dT/dt of the link poses for the joint rates `response` (size: links) */
  double (*pose_bar)[3][4],
      (*rate_bar)[3][4]; /* derivatives with respect to the poses T of the links and to dT/dt (size: links) */
  double* q_bar;         /* derivatives with respect to increments of the coordinates (size: nv) */
  ModelGradient* gradient;
} ThetaBars;

/* Adds the derivatives of a scalar with respect to all stiffnesses, dampings and gains whose sum is
 * SpringDirection.coefficient of the direction d. by: derivative of the scalar with respect to this sum. */
static void add_coefficient_bar(const ThetaBars* t, const SpringDirection* d, double by) {
  const Model* m = t->a->model;
  bool damps = d->kind == THETA_JOINT_DAMPER;
  if (d->kind == THETA_TENDON) t->gradient->tendons[d->index][TENDON_NUMBER_STIFFNESS] += by;
  if (d->kind == THETA_BUSHING_SPRING) t->gradient->bushings[d->index][BUSHING_STIFFNESS + d->component] += by;
  if (d->kind == THETA_BUSHING_DAMPER) t->gradient->bushings[d->index][BUSHING_DAMPING + d->component] += by;
  if (d->kind != THETA_JOINT_SPRING && !damps) return;
  const ModelLink* link = &m->links[d->index];
  t->gradient->joint[link->dof_first + d->component][damps ? JOINT_DAMPING : JOINT_STIFFNESS] += by;
  for (int c = 0; c < m->controller_count; c++) {
    if (m->controllers[c].link != d->index) continue;
    double* gains = t->gradient->gains + m->controllers[c].gain_first + 1 + d->component;
    if (!damps && m->controllers[c].type == CONTROLLER_PD) gains[JOINT_POSITION * link->dof_count] += by;
    if (!damps) continue;
    gains[JOINT_VELOCITY * link->dof_count] += by / simulation_substep_length(&m->simulation);
    gains[JOINT_DAMPING_GAIN * link->dof_count] += by;
  }
}

/* Sets t->motion[links] to the time derivatives of the link poses for the joint rates response[nv]. */
static void compute_pose_rates(const ThetaBars* t, const double* response) {
  StepAdjoint* a = t->a;
  for (int i = 0; i < a->model->link_count; i++) a->force[i] = t->pose[i].t;
  step_adjoint_twists(a->model, a->sim->assembly.screws, a->force, response, a->twist);
  for (int i = 0; i < a->model->link_count; i++) {
    Twist w = twist_from_array(a->twist[i]);
    Mat3 turn = mat3_mul(mat3_cross(w.w), t->pose[i].r);
    double v[3];
    vec3_store(w.v, v);
    for (int n = 0; n < 12; n++) t->motion[i][n / 4][n % 4] = n % 4 < 3 ? turn.m[n / 4][n % 4] : v[n / 4];
  }
}

/* Adds the derivatives of factor (response . M response) at constant response. M: mass matrix of links and armatures.
 * Adds the derivatives with respect to masses and armatures to the gradient, and the derivatives with respect to dT/dt
 * to t->rate_bar. */
static void add_inertia_bars(const ThetaBars* t, const double* response, double factor) {
  const Model* m = t->a->model;
  const Pose nothing = {mat3_zero(), vec3(0, 0, 0)};
  for (int i = 0; i < m->link_count; i++) {
    const ModelLink* link = &m->links[i];
    for (int k = 0; k < link->joint.scalar_count; k++) {
      double y = response[link->dof_first + k];
      t->gradient->joint[link->dof_first + k][JOINT_ARMATURE] += factor * y * y;
    }
    if (link->tree < 0 || !(link->mass > 0)) continue;
    double bar[3][4] = {{0}};
    Pose rate;
    for (int n = 0; n < 9; n++) rate.r.m[n / 3][n % 3] = t->motion[i][n / 3][n % 3];
    rate.t = vec3(t->motion[i][0][3], t->motion[i][1][3], t->motion[i][2][3]);
    inertia_adjoint(link, rate, nothing, factor, (const double(*)[4])t->motion[i], bar, &t->gradient->moment[i]);
    for (int n = 0; n < 12; n++) t->rate_bar[i][n / 4][n % 4] -= 2 * bar[n / 4][n % 4];
  }
}

/* Adds the derivatives of the theta of one direction x with respect to coefficient, inertia, ratios of couplings and
 * configuration, through d (x . y) = 2 y . dx - y . dM y - 2 force . dC y with the response y and the forces of the
 * couplings (SpringDirection). */
static void add_spring_direction_bars(void* context, const SpringDirection* d) {
  const ThetaBars* t = context;
  const Model* m = t->a->model;
  double by = t->gradient->thetas[model_theta_index(m, d->kind, d->index)] * d->slope;
  double by_mobility = by * d->coefficient;
  if (by == 0) return;
  memset(t->rate_bar, 0, sizeof(double[3][4]) * (size_t)m->link_count);
  add_coefficient_bar(t, d, by * d->mobility);
  compute_pose_rates(t, d->response);
  add_inertia_bars(t, d->response, -by_mobility);
  for (int k = 0; k < m->coupling_count; k++)
    for (int i = 1; i < m->couplings[k].count; i++)
      t->gradient->ratios[k][i] += 2 * by_mobility * d->coupling_force[k] * d->response[m->couplings[k].dof[i]];
  if (d->kind == THETA_TENDON)
    tendon_rate_adjoint(m, d->index, t->pose, (const double(*)[3][4])t->motion, 2 * by_mobility, t->pose_bar,
                        t->rate_bar, t->gradient);
  if (d->kind == THETA_BUSHING_SPRING || d->kind == THETA_BUSHING_DAMPER)
    bushing_rate_adjoint(m->bushings[d->index].source, d->component, t->pose, (const double(*)[3][4])t->motion,
                         2 * by_mobility, t->pose_bar, t->rate_bar, t->gradient->bushings[d->index]);
  step_adjoint_rates(t->a, t->pose, t->a->sim->assembly.screws, t->rate_bar, t->q_bar, d->response, NULL, t->gradient);
}

static bool has_theta_bars(const Model* m, const ModelGradient* gradient) {
  for (int k = 0; k < model_theta_count(m); k++)
    if (gradient->thetas[k] != 0) return true;
  return false;
}

void step_adjoint_spring_thetas(StepAdjoint* a, ModelGradient* gradient) {
  const Model* m = a->model;
  if (m->simulation.integrator != INTEGRATOR_MOMENTUM || !has_theta_bars(m, gradient)) return;
  size_t size = sizeof(double[3][4]) * (size_t)m->link_count;
  const double* q = m->closure_coordinates ? m->closure_coordinates : m->initial_coordinates;
  Pose* pose = a->sim->configuration[a->sim->current].pose;
  double* unused = MEMORY_NEW(double, m->dof_count);
  bool starts = !m->closure_coordinates && !m->start;
  ThetaBars t = {a,
                 pose,
                 memory_alloc(size),
                 memory_alloc(size),
                 memory_alloc(size),
                 starts ? gradient->coordinates : unused,
                 gradient};
  memset(t.pose_bar, 0, size);
  model_poses(m, q, pose);
  model_screws(m, q, pose, a->sim->assembly.screws);
  for (int i = 0; i < m->link_count; i++) a->sim->assembly.reference[i] = pose_apply(pose[i], m->links[i].center);
  if (a->sim->tendons) tendons_assemble(a->sim->tendons, pose, q, a->sim->assembly.reference, a->sim->assembly.screws);
  model_visit_springs(m, q, add_spring_direction_bars, &t);
  step_adjoint_compose(a, pose, t.pose_bar);
  step_adjoint_reduce(a, pose, a->sim->assembly.screws, t.q_bar);
  step_adjoint_frames(a, pose, gradient);
  memset(gradient->thetas, 0, sizeof(double) * (size_t)model_theta_count(m));
  memory_free(t.motion);
  memory_free(t.pose_bar);
  memory_free(t.rate_bar);
  memory_free(unused);
}
