/* Warnings of gains that time integration damps numerically, or that are unstable with the time step
 * (docs/derivations/drives.md, M10; feedback.md, E2). */
#include <math.h>

#include "model/build.h"

/* Largest stable values of c dt / I and k dt^2 / I for sampled feedback of a rate and of a coordinate (E2). */
#define SAMPLED_DAMPER_MAX 2.0
#define SAMPLED_SPRING_MAX 4.0

/* Returns the largest position gain of the drives of a link's degree of freedom [N/m, N m/rad], and sets *drive to its
 * controller; 0 without a drive. */
static double largest_position_gain(const Model* m, int link, int dof, const ModelController** drive) {
  double largest = 0;
  for (int c = 0; c < m->controller_count; c++) {
    const ModelController* one = &m->controllers[c];
    if (one->link != link || one->type != CONTROLLER_PD || !(one->position_gain[dof] > largest)) continue;
    largest = one->position_gain[dof];
    *drive = one;
  }
  return largest;
}

/* Damping constants that the implicit spring adds to a link's joint, and the joint's own. */
typedef struct {
  const ModelController* drive; /* its controller; NULL if the joint's own damping is larger */
  int link;
  double gain, added, own; /* gain: position gain; added: (2 theta - 1) k dt (drives.md, M10) */
} DampedDrive;

/* Returns the first degree of freedom of a link whose position gain damps more than its dampers do. */
static DampedDrive find_damped_drive(const Model* m, int link) {
  const ModelLink* l = &m->links[link];
  DampedDrive out = {.link = link};
  for (int k = 0; k < l->dof_count && l->prescribed < 0; k++) {
    out.gain = largest_position_gain(m, link, k, &out.drive);
    out.added =
        (2 * l->spring_theta - 1) * model_joint_stiffness(m, link, k) * simulation_substep_length(&m->simulation);
    out.own = model_joint_damping(m, link, k);
    if (out.gain > 0 && out.added > out.own) return out;
  }
  out.drive = NULL;
  return out;
}

static void warn_damped_drive(const Model* m, const DampedDrive* first, int others, Diagnostics* diagnostics) {
  double stiffness[JOINT_MAX_DOF], dt = m->simulation.dt;
  for (int k = 0; k < m->links[first->link].dof_count; k++) stiffness[k] = model_joint_stiffness(m, first->link, k);
  double angle = sqrt(model_joint_step_number(m, first->link, stiffness, false));
  Text more = {0}, smaller = {0};
  if (others > 0) text_add(&more, " (and %d more)", others);
  if (isfinite(angle)) text_add(&smaller, ", or simulation.dt at most %.2g", SPRING_RESOLVED / angle * dt);
  bool slides = m->links[first->link].joint.slide_count > 0;
  diagnostics_add(diagnostics, SEVERITY_WARNING, first->drive->source->place,
                  "position_gain %.6g of link '%s'%s swings the joint too fast for dt = %.6g s: time integration damps "
                  "it with %.3g %s, and its own damping is %.3g: give a damping_gain that damps the drive%s",
                  first->gain, text_excerpt(m->links[first->link].name).text, more.data ? more.data : "", dt,
                  first->added, slides ? "N s/m" : "N m s/rad", first->own, smaller.data ? smaller.data : "");
  text_free(&more);
  text_free(&smaller);
}

void check_position_gains(const Model* m, Diagnostics* diagnostics) {
  DampedDrive first = {0};
  int others = -1;
  for (int i = 0; i < m->link_count && m->simulation.integrator == INTEGRATOR_MOMENTUM; i++) {
    DampedDrive one = find_damped_drive(m, i);
    if (!one.drive) continue;
    if (others++ < 0) first = one;
  }
  if (first.drive) warn_damped_drive(m, &first, others, diagnostics);
}

/* Sets gains[dof] of a torque drive to the feedback of its own joint: minus the coefficients of the rate (rate true) or
 * of the coordinate of each degree of freedom. */
static void own_feedback(const Model* m, const ModelController* c, bool rate, double* gains) {
  const SceneController* source = c->source;
  for (int k = 0; k < m->links[c->link].dof_count; k++) {
    gains[k] = 0;
    for (int j = 0; j < source->measure_count; j++) {
      const SceneMeasure* y = &source->measures[j];
      if (y->link == c->link && y->index == k && y->kind == (rate ? MEASURE_RATE : MEASURE_COORDINATE))
        gains[k] -= source->feedback[k * source->measure_count + j];
    }
  }
}

/* Warns if the sampled feedback of a torque drive on its own joint is unstable. Returns true if it does. */
static bool check_own_feedback(const Model* m, const ModelController* c, bool rate, Diagnostics* diagnostics) {
  double gains[JOINT_MAX_DOF], most = rate ? SAMPLED_DAMPER_MAX : SAMPLED_SPRING_MAX, dt = m->simulation.dt;
  own_feedback(m, c, rate, gains);
  double number = model_joint_step_number(m, c->link, gains, rate);
  if (!(number > most)) return false;
  double part = rate ? most / number : sqrt(most / number);
  Text smaller = {0};
  if (isfinite(number)) text_add(&smaller, ", or simulation.dt below %.2g", part * dt);
  diagnostics_add(
      diagnostics, SEVERITY_WARNING, c->source->place,
      "the feedback of the %s of link '%s' is unstable with dt = %.6g s, because it is measured once a step: "
      "use %s of a drive, which is stable for every dt%s",
      rate ? "rate" : "coordinate", text_excerpt(m->links[c->link].name).text, dt,
      rate ? "damping_gain" : "position_gain", smaller.data ? smaller.data : "");
  text_free(&smaller);
  return true;
}

void check_feedback_gains(const Model* m, Diagnostics* diagnostics) {
  for (int k = 0; k < m->controller_count; k++) {
    const ModelController* c = &m->controllers[k];
    bool sampled = c->type == CONTROLLER_TORQUE && c->source->measure_count > 0 && c->source->delay == 0 &&
                   c->source->feedback_type == FEEDBACK_MATRIX && m->links[c->link].prescribed < 0;
    if (sampled && !check_own_feedback(m, c, true, diagnostics)) (void)check_own_feedback(m, c, false, diagnostics);
  }
}
