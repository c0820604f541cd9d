/* Effort: mean over the rows k >= 1 of the window of the squared joint forces, summed over drives and degrees of
 * freedom [N^2, N^2 m^2]. The force is limited (drives.md, M1, M2): force = kp (target - q) + (kd / dt + damping gain)
 * (target rate - rate) + feedforward. q: joint coordinate. kp, kd: gains. dt: time step. For joints with three
 * rotations the limit applies to the norm of the torque (M8). target - q is then minus the rotation vector e of
 * target^-1 q. The target rate is the angular velocity J(v) dv/dt in the axes of the rotated link, with v the rotation
 * vector of the target. The target belongs to the time of the row. The target rate, and the signals of motors, are
 * means over the span of the step that ends at the row (loads.md, L98). Feedback adds its input in this step to the
 * target or signal (feedback.md, E8). */
#include "differentiate/loss.h"

static bool drive_counts(const LossTerm* term, const ModelController* controller, const Model* model) {
  return controller->type != CONTROLLER_PRESCRIBED && model->links[controller->link].prescribed < 0 &&
         (term->link < 0 || controller->link == term->link);
}

void loss_effort_prepare(LossTerm* term, const LossContext* context) {
  const Model* model = context->model;
  for (int c = 0; c < model->controller_count; c++)
    if (drive_counts(term, &model->controllers[c], model)) return;
  if (term->link < 0)
    loss_report_error(
        context, context->source->place,
        "the scene has no drive with an effort: add a controller of type pd, velocity or torque, or remove the loss");
  else
    loss_report_error(
        context, context->source->link.place,
        "no drive moves the joint of '%.60s': add a controller of type pd, velocity or torque, or name another link",
        model->links[term->link].name);
}

/* Controller at a recorded row. */
typedef struct {
  const ModelController* controller;
  const ModelLink* link;
  const double *q, *rate;           /* coordinates and velocities of the joint */
  SignalSpan value_span, rate_span; /* spans of time of the target and of its rate */
  double rate_per_step;             /* inverse of the time step for which the gains are given [1/s] */
  const double* feedback;           /* feedback input of the step that ends at the row (size: channels), or NULL */
  double* feedback_bar;             /* derivatives of the loss with respect to `feedback` (size: channels), or NULL */
  /* value and time derivative of the controller's target signal */
  double value[JOINT_MAX_DOF], value_rate[JOINT_MAX_DOF];
  /* joint coordinate minus target, joint velocity minus target velocity */
  double error[JOINT_MAX_DOF], rate_error[JOINT_MAX_DOF];
} EffortDrive;

static void compute_drive_errors(EffortDrive* d) {
  double unused[JOINT_MAX_DOF];
  signal_mean(&d->controller->target, d->value_span, d->value, unused);
  signal_mean(&d->controller->target, d->rate_span, unused, d->value_rate);
  for (int i = 0; d->feedback && i < d->link->dof_count; i++) d->value[i] += d->feedback[i];
  if (d->controller->type != CONTROLLER_PD) {
    bool velocity = d->controller->type == CONTROLLER_VELOCITY;
    for (int i = 0; i < d->link->dof_count; i++) {
      d->error[i] = 0;
      d->rate_error[i] = d->rate[i] - (velocity ? d->value[i] : 0);
    }
    return;
  }
  double target[JOINT_MAX_COORDINATE], rate[JOINT_MAX_DOF];
  joint_coordinates_from_target(&d->link->joint, d->value, target);
  joint_difference(&d->link->joint, target, d->q, d->error);
  joint_rates_from_target(&d->link->joint, d->value, d->value_rate, rate);
  for (int i = 0; i < d->link->dof_count; i++) d->rate_error[i] = d->rate[i] - rate[i];
}

/* Adds the derivatives of the effort with respect to the target's value: to the signal's parameters and to the feedback
 * input. */
static void add_value_seeds(const EffortDrive* d, const double* by_value, double* control) {
  const double none[JOINT_MAX_DOF] = {0};
  signal_mean_vjp(&d->controller->target, d->value_span, by_value, none, control);
  for (int i = 0; d->feedback_bar && i < d->link->dof_count; i++) d->feedback_bar[i] += by_value[i];
}

/* Adds the derivatives of the effort with respect to the joint state and the signal's parameters. by_error, by_rate:
 * derivatives of the effort with respect to coordinate error and velocity error. e: error. v: rotation vector of the
 * target. d e = J(e)^-1 dq,   d e = -J(e)^-T J(v) dv,   d (J(v) dv/dt): rotation_rate of linalg.h,   J(v)^T = J(-v) */
static void add_target_seeds(const EffortDrive* d, const double* by_error, const double* by_rate, double* q,
                             double* rate, double* control) {
  double by_value[JOINT_MAX_DOF] = {0}, by_value_rate[JOINT_MAX_DOF] = {0};
  int ball = d->link->joint.scalar_count;
  for (int i = 0; i < d->link->dof_count; i++) rate[i] += by_rate[i];
  for (int i = 0; i < ball; i++) {
    q[i] += by_error[i];
    by_value[i] = -by_error[i];
    by_value_rate[i] = -by_rate[i];
  }
  if (d->link->joint.quaternion) {
    Vec3 e = vec3_at(d->error + ball), v = vec3_at(d->value + ball), h = vec3_at(by_rate + ball);
    Vec3 g = vec3_at(by_error + ball), back = vec3_scale(v, -1), by_spin, by_own_rate;
    Vec3 by_turn = rotation_rate_inverse(vec3_scale(e, -1), g), by_goal = rotation_rate_inverse(e, g);
    for (int i = 0; i < 3; i++) q[ball + i] += (const double[]){by_turn.x, by_turn.y, by_turn.z}[i];
    rotation_rate_vjp(v, vec3_at(d->value_rate + ball), h, &by_spin, &by_own_rate);
    vec3_store(vec3_scale(vec3_add(rotation_rate(back, by_goal), by_spin), -1), by_value + ball);
    vec3_store(vec3_scale(by_own_rate, -1), by_value_rate + ball);
  }
  const double none[JOINT_MAX_DOF] = {0};
  add_value_seeds(d, by_value, control);
  signal_mean_vjp(&d->controller->target, d->rate_span, none, by_value_rate, control);
}

/* Adds the derivatives of the effort for a drive whose signal is a velocity or a force. by_force: derivative of the
 * effort with respect to the force before limiting. */
static void add_signal_seeds(const EffortDrive* d, const double* by_rate, const double* by_force, double* rate,
                             double* control) {
  double by_value[JOINT_MAX_DOF];
  for (int i = 0; i < d->link->dof_count; i++) {
    rate[i] += by_rate[i];
    by_value[i] = d->controller->type == CONTROLLER_VELOCITY ? -by_rate[i] : by_force[i];
  }
  add_value_seeds(d, by_value, control);
}

/* Returns the derivative of the effort with respect to the controller's delay, which shifts target and target rate in
 * time. Not for joints with three rotations. */
static double delay_derivative(const EffortDrive* d, const double* by_error, const double* by_rate,
                               const double* by_force) {
  const SignalSpan shift = {1, 1};
  double by_shift[JOINT_MAX_DOF], change[JOINT_MAX_DOF], unused[JOINT_MAX_DOF], slope = 0;
  bool follows = d->controller->type == CONTROLLER_PD, velocity = d->controller->type == CONTROLLER_VELOCITY;
  signal_mean_change(&d->controller->target, d->value_span, shift, by_shift, unused);
  signal_mean_change(&d->controller->target, d->rate_span, shift, unused, change);
  for (int i = 0; i < d->link->dof_count; i++) {
    double rate = by_shift[i];
    slope += follows ? by_error[i] * rate + by_rate[i] * change[i] : velocity ? by_rate[i] * rate : -by_force[i] * rate;
  }
  return slope;
}

/* Drive force along each degree of freedom before limiting, derivatives of the sum of squares with respect to that
 * force and to the limit, and the sum of squares of the limited forces. */
typedef struct {
  double unlimited[JOINT_MAX_DOF], slope[JOINT_MAX_DOF], by_limit[JOINT_MAX_DOF], sum;
} EffortForces;

static EffortForces compute_forces(const EffortDrive* d) {
  const ModelController* c = d->controller;
  int ball = d->link->joint.quaternion ? d->link->joint.scalar_count : d->link->dof_count;
  EffortForces out = {.sum = 0};
  double square = 0;
  for (int i = 0; i < d->link->dof_count; i++) {
    double kp = c->position_gain[i], kd = c->velocity_gain[i] * d->rate_per_step + c->damping_gain[i];
    double push = c->type == CONTROLLER_TORQUE ? d->value[i] : 0;
    double unlimited = out.unlimited[i] = push - kp * d->error[i] - kd * d->rate_error[i];
    if (i >= ball) square += unlimited * unlimited;
    if (i >= ball) continue;
    LimitedForce f = limited_force(unlimited, c->max_force[i], c->limit_width);
    out.sum += f.force * f.force;
    out.slope[i] = 2 * f.force * f.slope;
    if (c->max_force[i] > 0) out.by_limit[i] = 2 * f.force * (f.force - f.slope * unlimited) / c->max_force[i];
  }
  if (ball == d->link->dof_count) return out;
  const double* m = c->max_force + ball;
  double limit = (m[0] + m[1] + m[2]) / 3, size = sqrt(square);
  LimitedForce f = limited_force(size, limit, c->limit_width);
  out.sum += f.force * f.force;
  for (int i = ball; i < d->link->dof_count; i++) {
    out.slope[i] = size > 0 ? 2 * f.force * f.slope * out.unlimited[i] / size : 0;
    if (limit > 0) out.by_limit[i] = 2 * f.force * (f.force - f.slope * size) / limit / 3;
  }
  return out;
}

/* Returns the sum of the squared drive forces at a row. Adds `factor` times its derivatives to seeds and control. */
static double evaluate_drive(EffortDrive* d, double factor, size_t seed, double* control, LossSeeds* seeds) {
  double* gains = seeds ? seeds->gains + d->controller->gain_first + 1 : NULL;
  int dof = d->link->dof_count;
  const ModelController* c = d->controller;
  double by_error[JOINT_MAX_DOF] = {0}, by_rate[JOINT_MAX_DOF] = {0}, by_force[JOINT_MAX_DOF] = {0};
  compute_drive_errors(d);
  EffortForces forces = compute_forces(d);
  for (int i = 0; i < dof; i++) {
    by_force[i] = factor * forces.slope[i];
    by_error[i] = -by_force[i] * c->position_gain[i];
    by_rate[i] = -by_force[i] * (c->velocity_gain[i] * d->rate_per_step + c->damping_gain[i]);
    if (!gains) continue;
    gains[i] -= by_force[i] * d->error[i];
    gains[dof + i] -= by_force[i] * d->rate_error[i] * d->rate_per_step;
    gains[2 * dof + i] -= by_force[i] * d->rate_error[i];
    gains[3 * dof + i] += factor * forces.by_limit[i];
  }
  if (!seeds) return forces.sum;
  if (c->source->delay > 0) gains[-1] += delay_derivative(d, by_error, by_rate, by_force);
  if (c->type == CONTROLLER_PD)
    add_target_seeds(d, by_error, by_rate, seeds->q + seed, seeds->rate + seed, control);
  else
    add_signal_seeds(d, by_rate, by_force, seeds->rate + seed, control);
  return forces.sum;
}

/* Sets the spans of time of the signal in the last substep before row k, for substeps of equal length. */
static void set_spans(EffortDrive* d, const Model* model, int k) {
  const ModelController* c = d->controller;
  double t = model_row_time(model, k) - c->source->delay, h = simulation_substep_length(&model->simulation);
  const StepClock clock = {.time = t, .dt = h, .dt_before = h};
  d->rate_span = signal_span(model->simulation.integrator, &clock, controller_signal_use(c));
  d->value_span = c->type == CONTROLLER_PD ? (SignalSpan){t, t} : d->rate_span;
}

static void set_feedback(EffortDrive* d, const Recording* recording, int k, LossSeeds* seeds) {
  if (d->controller->feedback_first < 0) return;
  size_t at = (size_t)k * (size_t)recording->model->feedback_count + (size_t)d->controller->feedback_first;
  d->feedback = recording->feedback + at;
  if (seeds) d->feedback_bar = seeds->feedback + at;
}

double loss_effort(const LossTerm* term, const Recording* recording, LossSeeds* seeds) {
  const Model* model = recording->model;
  double sum = 0, share = loss_state_weight(term);
  for (int c = 0; c < model->controller_count; c++) {
    const ModelController* controller = &model->controllers[c];
    const ModelLink* link = &model->links[controller->link];
    for (int k = term->first; drive_counts(term, controller, model) && k <= term->last; k++) {
      RowIndex place = row_index(recording->selection, model, k, controller->link);
      size_t seed = seeds ? row_index(seeds->selection, model, k, controller->link).dof : 0;
      EffortDrive drive = {
          .controller = controller, .link = link, .rate_per_step = 1 / simulation_substep_length(&model->simulation)};
      set_spans(&drive, model, k);
      drive.q = recording->q + place.coordinate;
      drive.rate = recording->rate + place.dof;
      set_feedback(&drive, recording, k, seeds);
      sum += evaluate_drive(&drive, share, seed, seeds ? seeds->control + controller->parameter_first : NULL, seeds);
    }
  }
  return share * sum;
}
