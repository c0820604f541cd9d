/* Effort: mean over the states k >= 1 of the window of the squared joint forces, summed over drives and degrees of
 * freedom [N^2, N^2 m^2]. The force is limited (M1, M2): force = kp (target - q) + (kd / dt + damping gain) (target
 * rate - rate) + push.
 * For joints with three rotations the limit applies to the magnitude of the torque (M8). target - q is then minus the
 * rotation vector e of target^-1 q. The target rate is the angular velocity J(v) dv/dt, in the axes of the rotated
 * link, with v the target's rotation vector. */
#include "differentiate/loss.h"

static bool counts(const LossTerm* term, const ModelController* controller, const Model* model) {
  return controller->type != CONTROLLER_PRESCRIBED && model->links[controller->link].prescribed < 0 &&
         (term->link < 0 || controller->link == term->link);
}

void loss_effort_prepare(LossTerm* term, const LossContext* origin) {
  const Model* model = origin->model;
  for (int c = 0; c < model->controller_count; c++)
    if (counts(term, &model->controllers[c], model) && model->controllers[c].source->measure_count > 0)
      loss_report_error(origin, term->link < 0 ? origin->source->place : origin->source->link.place,
                        "the drive of '%.60s' has feedback, for which effort is not implemented: name another link, or "
                        "remove the loss",
                        model->links[model->controllers[c].link].name);
  for (int c = 0; c < model->controller_count; c++)
    if (counts(term, &model->controllers[c], model)) return;
  if (term->link < 0)
    loss_report_error(
        origin, origin->source->place,
        "the scene has no drive with an effort: add a controller of type pd, velocity or torque, or remove the loss");
  else
    loss_report_error(
        origin, origin->source->link.place,
        "no drive moves the joint of '%.60s': add a controller of type pd, velocity or torque, or name another link",
        model->links[term->link].name);
}

/* A controller at a recorded state. */
typedef struct {
  const ModelController* controller;
  const ModelLink* link;
  const double *q, *rate;                                 /* coordinates and rates of the link's joint */
  double t, per_second;                                   /* time [s]; 1 / (time step for which the gains are given) */
  double value[JOINT_MAX_DOF], value_rate[JOINT_MAX_DOF]; /* value and rate of the signal */
  double error[JOINT_MAX_DOF], rate_error[JOINT_MAX_DOF]; /* q - target, rate - target rate */
} EffortDrive;

static void drive_errors(EffortDrive* d) {
  signal_eval(&d->controller->target, d->t, d->value, d->value_rate);
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

/* Applies the chain rule to by_error = dL/d(error) and by_rate = dL/d(rate error). Adds the derivatives with respect to
 * the joint's state and the signal's parameters. With e the error and v the rotation vector of the target:
 * d e = J(e)^-1 dq,   d e = -J(e)^-T J(v) dv,   d (J(v) dv/dt): rotation_rate of linalg.h,   J(v)^T = J(-v) */
static void drive_seed(const EffortDrive* d, const double* by_error, const double* by_rate, double* q, double* rate,
                       double* control) {
  double by_value[JOINT_MAX_DOF], by_value_rate[JOINT_MAX_DOF];
  int ball = d->link->joint.plain_count;
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
  signal_eval_vjp(&d->controller->target, d->t, by_value, by_value_rate, control);
}

/* Applies the chain rule for drives whose signal is a rate or a force. by_force: derivative of L with respect to the
 * force before limiting. */
static void signal_seed(const EffortDrive* d, const double* by_rate, const double* by_force, double* rate,
                        double* control) {
  double by_value[JOINT_MAX_DOF];
  const double none[JOINT_MAX_DOF] = {0};
  for (int i = 0; i < d->link->dof_count; i++) {
    rate[i] += by_rate[i];
    by_value[i] = d->controller->type == CONTROLLER_VELOCITY ? -by_rate[i] : by_force[i];
  }
  signal_eval_vjp(&d->controller->target, d->t, by_value, none, control);
}

/* Returns the derivative of the effort with respect to the delay of the controller. A delay shifts target and target
 * rate in time. Not for joints with three rotations. */
static double delay_effort(const EffortDrive* d, const double* by_error, const double* by_rate,
                           const double* by_force) {
  double change[JOINT_MAX_DOF], slope = 0;
  bool follows = d->controller->type == CONTROLLER_PD, velocity = d->controller->type == CONTROLLER_VELOCITY;
  signal_acceleration(&d->controller->target, d->t, change);
  for (int i = 0; i < d->link->dof_count; i++) {
    double own = d->value_rate[i];
    slope += follows ? by_error[i] * own + by_rate[i] * change[i] : velocity ? by_rate[i] * own : -by_force[i] * own;
  }
  return slope;
}

/* Force of a drive along each degree of freedom, before and after limiting, and the derivative of the sum of squares
 * with respect to the force before limiting. */
typedef struct {
  double wanted[JOINT_MAX_DOF], slope[JOINT_MAX_DOF], by_limit[JOINT_MAX_DOF], sum;
} EffortForces;

static EffortForces effort_forces(const EffortDrive* d) {
  const ModelController* c = d->controller;
  int ball = d->link->joint.quaternion ? d->link->joint.plain_count : d->link->dof_count;
  EffortForces out = {.sum = 0};
  double square = 0;
  for (int i = 0; i < d->link->dof_count; i++) {
    double kp = c->position_gain[i], kd = c->velocity_gain[i] * d->per_second + c->damping_gain[i];
    double push = c->type == CONTROLLER_TORQUE ? d->value[i] : 0;
    double wanted = out.wanted[i] = push - kp * d->error[i] - kd * d->rate_error[i];
    if (i >= ball) square += wanted * wanted;
    if (i >= ball) continue;
    LimitedForce f = limited_force(wanted, c->max_force[i], c->limit_width);
    out.sum += f.force * f.force;
    out.slope[i] = 2 * f.force * f.slope;
    if (c->max_force[i] > 0) out.by_limit[i] = 2 * f.force * (f.force - f.slope * wanted) / c->max_force[i];
  }
  if (ball == d->link->dof_count) return out;
  const double* m = c->max_force + ball;
  double limit = (m[0] + m[1] + m[2]) / 3, size = sqrt(square);
  LimitedForce f = limited_force(size, limit, c->limit_width);
  out.sum += f.force * f.force;
  for (int i = ball; i < d->link->dof_count; i++) {
    out.slope[i] = size > 0 ? 2 * f.force * f.slope * out.wanted[i] / size : 0;
    if (limit > 0) out.by_limit[i] = 2 * f.force * (f.force - f.slope * size) / limit / 3;
  }
  return out;
}

/* Returns the sum of the squared forces of a controller at a state. Adds `factor` times the derivatives of the sum to
 * seeds and control. */
static double drive_effort(EffortDrive* d, double factor, size_t seed, double* control, LossSeeds* seeds) {
  double* gains = seeds ? seeds->gains + d->controller->gain_first + 1 : NULL;
  int dof = d->link->dof_count;
  const ModelController* c = d->controller;
  double by_error[JOINT_MAX_DOF] = {0}, by_rate[JOINT_MAX_DOF] = {0}, by_force[JOINT_MAX_DOF] = {0};
  drive_errors(d);
  EffortForces forces = effort_forces(d);
  for (int i = 0; i < dof; i++) {
    by_force[i] = factor * forces.slope[i];
    by_error[i] = -by_force[i] * c->position_gain[i];
    by_rate[i] = -by_force[i] * (c->velocity_gain[i] * d->per_second + c->damping_gain[i]);
    if (!gains) continue;
    gains[i] -= by_force[i] * d->error[i];
    gains[dof + i] -= by_force[i] * d->rate_error[i] * d->per_second;
    gains[2 * dof + i] -= by_force[i] * d->rate_error[i];
    gains[3 * dof + i] += factor * forces.by_limit[i];
  }
  if (!seeds) return forces.sum;
  if (c->source->delay > 0) gains[-1] += delay_effort(d, by_error, by_rate, by_force);
  if (c->type == CONTROLLER_PD)
    drive_seed(d, by_error, by_rate, seeds->q + seed, seeds->rate + seed, control);
  else
    signal_seed(d, by_rate, by_force, seeds->rate + seed, control);
  return forces.sum;
}

double loss_effort(const LossTerm* term, const Recording* recording, LossSeeds* seeds) {
  const Model* model = recording->model;
  double sum = 0, share = loss_state_weight(term);
  for (int c = 0; c < model->controller_count; c++) {
    const ModelController* controller = &model->controllers[c];
    const ModelLink* link = &model->links[controller->link];
    for (int k = term->first; counts(term, controller, model) && k <= term->last; k++) {
      RowIndex place = row_index(recording->keep, model, k, controller->link);
      size_t seed = seeds ? row_index(seeds->keep, model, k, controller->link).dof : 0;
      EffortDrive drive = {.controller = controller,
                           .link = link,
                           .t = model_row_time(model, k) - controller->source->delay,
                           .per_second = 1 / simulation_substep_length(&model->simulation)};
      drive.q = recording->q + place.coordinate;
      drive.rate = recording->rate + place.dof;
      sum += drive_effort(&drive, share, seed, seeds ? seeds->control + controller->parameter_first : NULL, seeds);
    }
  }
  return share * sum;
}
