/* Derivatives of the scalar lambda . (gradient of a joint's energies), with the adjoint solution lambda, with respect
 * to earlier states and the targets (docs/derivations/adjoint.md, A3). The Hessian gives the derivatives with respect
 * to the state at t + dt. */
#include <assert.h>
#include <string.h>

#include "simulate/ball_limits.h"
#include "simulate/ball_springs.h"
#include "simulate/terms.h"

static Quat relative_rotation(const double* from, const double* to) {
  return quat_mul(quat_conjugate(quat_at(from)), quat_at(to));
}

/* ---------------------------------------------------------------- hinge angles and displacements */

/* Returns the force that a drive would exert on one coordinate without its force limit (drives.md, M3) [N, N m].
 * damping: gain of the rate error. */
static double unlimited_drive_force(const JointInput* in, const JointDrive* drive, int k, double damping) {
  double rate = joint_damper_rate(in, k);
  double spring_force =
      (1 - in->spring.missing) * drive->position_gain[k] * (joint_spring_position(in, k) - drive->target[k]);
  return drive->push[k] - spring_force - damping * (rate - drive->target_rate[k]);
}

/* Adds the derivatives of -lambda F with respect to the gains of a drive to out (feedback.md, E5), with its force F = M
 * S(u / M). u: force without the limit M, u = tau + kp (p - q) + (kv / h + c) (p' - r). The derivative with respect to
 * M is taken at constant u. share: lambda S'. */
static void add_gain_bars(const JointInput* in, const JointDrive* drive, int k, double lambda, double share,
                          double (*out)[JOINT_MAX_DOF]) {
  double rate = joint_damper_rate(in, k);
  double slow = drive->target_rate[k] - rate, limit = drive->max_force[k];
  out[JOINT_POSITION][k] -= share * (1 - in->spring.missing) * (drive->target[k] - joint_spring_position(in, k));
  out[JOINT_VELOCITY][k] -= share * slow / in->dt;
  out[JOINT_DAMPING_GAIN][k] -= share * slow;
  if (!(limit > 0)) return;
  double wanted = unlimited_drive_force(in, drive, k, joint_rate_gain(in, drive, k) * joint_damper_slope(in));
  out[JOINT_MAX_FORCE][k] -= (lambda * limited_force(wanted, limit, drive->limit_width).force - share * wanted) / limit;
}

/* Adds the derivatives of lambda times the rebound force with respect to the coordinate at t and the previous
 * displacement. The rebound force reverses the speed of a coordinate at its limit (impact.md, I15). */
static void rebound_adjoint(const JointInput* in, int k, double lambda, JointBars* out) {
  const JointStop* stop = &in->stop[k];
  if (!stop->rebounds || !(stop->sign * (in->q[k] - in->q_now[k] - stop->aim) < stop->slack)) return;
  out->now[k] -= lambda * stop->stiffness;
  out->difference_old[k] -= lambda * stop->stiffness * stop->by_difference;
}

/* Adds the derivatives of a scalar with respect to the previous rate and to theta, through the rate at which dampers of
 * coordinate k act (M12). by_damped: derivative of the scalar with respect to this rate. Returns the derivative with
 * respect to the rate in the step. */
static double damper_rate_adjoint(const JointInput* in, int k, double by_damped, JointBars* out) {
  if (!(in->rate_past > 0)) return by_damped;
  out->rate_before[k] += in->rate_past * by_damped;
  out->damper_theta += by_damped * (joint_step_rate(in, k) - in->rate_before[k]);
  return (1 - in->rate_past) * by_damped;
}

/* Adds all derivatives of lambda times the energy gradient of coordinate k, a hinge angle or a displacement. Limits,
 * damping, springs, armature and drives contribute to the derivatives (A3, M3, M7, M10, S22, I15). */
static void scalar_coordinate_adjoint(const JointInput* in, int k, double lambda, JointBars* out) {
  double a = in->weights.rate_now, b = in->weights.rate_old, by_rate = 0, by_damped = lambda * in->link->damping[k];
  double stiffness = 1 - in->spring.missing, by_spring = 0, place = joint_spring_position(in, k);
  double rate = joint_step_rate(in, k);
  LimitResistance stop = joint_limit_resistance(in, k, rate);
  by_rate += lambda * stop.by_rate;
  if (in->link->passive) {
    by_rate += lambda * joint_friction_slope(in->link, k, rate);
    by_spring += lambda * stiffness * in->link->stiffness[k];
    out->spring.missing -= lambda * in->link->stiffness[k] * (place - in->link->rest[k]);
    out->aim[k] = in->aim ? -lambda * in->link->armature[k] * in->inertia_weight : 0;
    out->now[k] += out->aim[k];
  }
  for (int c = 0; c < in->drive_count; c++) {
    const JointDrive* drive = &in->drives[c];
    double damping = joint_rate_gain(in, drive, k) * joint_damper_slope(in), share = lambda;
    double wanted = unlimited_drive_force(in, drive, k, damping);
    if (drive->max_force[k] > 0) share *= limited_force(wanted, drive->max_force[k], drive->limit_width).slope;
    out->push[c][k] -= share;
    out->target[c][k] -= share * stiffness * drive->position_gain[k];
    by_spring += share * stiffness * drive->position_gain[k];
    out->spring.missing -= share * drive->position_gain[k] * (place - drive->target[k]);
    out->target_rate[c][k] -= share * damping;
    by_damped += share * damping;
    add_gain_bars(in, drive, k, lambda, share, out->gains[c]);
  }
  by_rate += damper_rate_adjoint(in, k, by_damped, out);
  out->spring.now += by_spring * (in->q_now[k] - in->q[k]);
  out->spring.old += by_spring * (in->q_now[k] - in->difference_old[k] - in->q[k]);
  out->now[k] += (in->spring.now + in->spring.old) * by_spring - a * by_rate + lambda * stop.by_now;
  out->difference_old[k] -= in->spring.old * by_spring + b * by_rate;
  if (joint_is_in_impact(in, k)) rebound_adjoint(in, k, lambda, out);
}

/* ---------------------------------------------------------------- ball joints */

/* An increment of p is applied before the increments d; where R Rx Ry Rz has the opposite order, the commutator e_k x
 * e_j is added. */
void rotation_vector_energy_adjoint(const RotationVector* phi, const double f1[3], const double f2[3],
                                    const double* rank, const double lambda[3], double by_right[3], double along[3]) {
  double g[3] = {0}, common = 0;
  for (int i = 0; i < 3; i++) {
    along[i] = 0;
    for (int j = 0; j < 3; j++) {
      g[j] += f1[i] * phi->first[i][j];
      along[i] += phi->first[i][j] * lambda[j];
    }
  }
  for (int i = 0; rank && i < 3; i++) common += rank[i] * along[i];
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < 3; i++) {
      by_right[k] += f2[i] * phi->first[i][k] * along[i];
      for (int j = 0; j < 3; j++) by_right[k] += f1[i] * phi->second[i][j][k] * lambda[j];
      if (rank) by_right[k] -= common * rank[i] * phi->first[i][k];
    }
  by_right[1] -= g[2] * lambda[0]; /* commutator e_1 x e_0 = -e_2 */
  by_right[2] += g[1] * lambda[0]; /* commutator e_2 x e_0 = e_1 */
  by_right[2] -= g[0] * lambda[1]; /* commutator e_2 x e_1 = -e_0 */
}

/* Does the same as rotation_vector_energy_adjoint for the energy E = sum_i k_i/2 (scale phi_i - b_i)^2. phi: rotation
 * vector of p. Adds the derivatives with respect to increments of p to by_right, and with respect to b to by_b. */
static void quadratic_energy_adjoint(Quat p, const double gain[3], double scale, const double b[3],
                                     const double lambda[3], double by_right[3], double by_b[3]) {
  RotationVector phi = rotation_vector_derivatives(p);
  double f1[3], f2[3], along[3];
  for (int i = 0; i < 3; i++) {
    f1[i] = gain[i] * scale * (scale * phi.value[i] - b[i]);
    f2[i] = gain[i] * scale * scale;
  }
  rotation_vector_energy_adjoint(&phi, f1, f2, NULL, lambda, by_right, along);
  for (int i = 0; i < 3; i++) by_b[i] -= gain[i] * scale * along[i];
}

/* Does the same as rotation_vector_energy_adjoint for dry friction, E = f / a (sqrt(|r|^2 + v^2) - v) (M5). r = a phi -
 * b: rate of the rotation; f: friction torque; v: speed of the smoothing. Adds to by_right and by_b. Returns the
 * derivative with respect to f. */
static double ball_friction_adjoint(const JointInput* in, int base, Quat p, const double b[3], const double lambda[3],
                                    double by_right[3], double by_b[3]) {
  RotationVector phi = rotation_vector_derivatives(p);
  double a = in->weights.rate_now, v = in->link->friction_speed, f = joint_ball_friction(in->link, base);
  double r[3], f1[3], f2[3], rank[3], along[3], square = v * v, common = 0, slope = 0;
  for (int i = 0; i < 3; i++) {
    r[i] = a * phi.value[i] - b[i];
    square += r[i] * r[i];
  }
  double root = sqrt(square);
  for (int i = 0; i < 3; i++) {
    f1[i] = f * r[i] / root;
    f2[i] = f * a / root;
    rank[i] = sqrt(f * a / root) * r[i] / root;
  }
  rotation_vector_energy_adjoint(&phi, f1, f2, rank, lambda, by_right, along);
  for (int i = 0; i < 3; i++) {
    common += rank[i] * along[i];
    slope += r[i] / root * along[i];
  }
  for (int i = 0; i < 3; i++) by_b[i] -= (f2[i] * along[i] - common * rank[i]) / a;
  return slope;
}

/* An increment d of q_left changes p by -R(p)^T d, with the rotation matrix R(p). */
void add_left_increment_bars(Quat p, const double by_right[3], double* out) {
  Vec3 d = mat3_mul_vec(mat3_from_quat(p), vec3(by_right[0], by_right[1], by_right[2]));
  out[0] -= d.x;
  out[1] -= d.y;
  out[2] -= d.z;
}

/* Sets out to the derivatives of lambda . (gradient of the energy sum_i k_i/2 (scale phi_i - b_i)^2) with respect to
 * the three gains k (E5). phi: rotation vector of the rotation p. */
static void ball_gain_bars(Quat p, double scale, const double b[3], const double lambda[3], double out[3]) {
  RotationVector phi = rotation_vector_derivatives(p);
  for (int i = 0; i < 3; i++) {
    double along = 0;
    for (int j = 0; j < 3; j++) along += phi.first[i][j] * lambda[j];
    out[i] = scale * (scale * phi.value[i] - b[i]) * along;
  }
}

/* Adds the derivatives of lambda . (gradient of the energy of a spring) to *bars. gain: three stiffnesses of the
 * spring. Adds the derivatives with respect to the stiffnesses to by_gain[3]. */
static void spring_energy_adjoint(const JointInput* in, const BallSpring* spring, const double gain[3],
                                  const double lambda[3], BallSpringBars* bars, double by_gain[3]) {
  double scaled[3], by_minus[3] = {0};
  for (int i = 0; i < 3; i++) scaled[i] = spring->factor * gain[i];
  quadratic_energy_adjoint(spring->rotation, scaled, spring->weight, spring->minus, lambda, bars->rotation, by_minus);
  for (int i = 0; i < 3; i++) {
    double along = vec3_dot(vec3_at(spring->end.first[i]), vec3_at(lambda));
    double mean = spring->weight * spring->end.value[i] - spring->minus[i];
    bars->minus[i] += by_minus[i];
    bars->weight += (1 - in->spring.missing) * gain[i] * spring->end.value[i] * along;
    bars->missing -= gain[i] * mean * along;
    by_gain[i] += (1 - in->spring.missing) * mean * along;
  }
}

/* Derivatives of lambda . (gradient of a drive's energy) with respect to the inputs of a drive of a ball joint. */
typedef struct {
  BallSpringBars spring;
  double rate_target[3], push[3], kp[3], kd[3]; /* rate_target: derivatives with respect to the target of the scaled
                                            rate; kd: with respect to the gain of the rate energy */
} BallBars;

/* Adds the derivatives of lambda . (gradient of the drive's energy) to *out. Adds the derivatives with respect to
 * increments on the right of the rotation since t to by_step. */
static void unlimited_ball_drive_adjoint(const JointInput* in, const JointDrive* drive, const BallSpring* spring,
                                         int base, const double lambda[3], double by_step[3], BallBars* out) {
  double a = joint_damper_slope(in), zero[3] = {0, 0, 0}, kd[3], goal[3], by_kd[3];
  Quat step = relative_rotation(in->q_now + base, in->q + base);
  spring_energy_adjoint(in, spring, drive->position_gain + base, lambda, &out->spring, out->kp);
  for (int i = 0; i < 3; i++) {
    kd[i] = joint_rate_gain(in, drive, base + i);
    goal[i] = joint_damper_offset(in, base + i) + drive->target_rate[base + i];
  }
  quadratic_energy_adjoint(step, kd, a, goal, lambda, by_step, out->rate_target);
  ball_gain_bars(step, a, goal, lambda, by_kd);
  RotationVector phi = rotation_vector_derivatives(step);
  double push[3], along[3];
  for (int i = 0; i < 3; i++) push[i] = -drive->push[base + i];
  rotation_vector_energy_adjoint(&phi, push, zero, NULL, lambda, by_step, along);
  for (int i = 0; i < 3; i++) {
    out->kd[i] += by_kd[i];
    out->push[i] -= along[i];
  }
}

/* Adds the contribution of the scale of a torque-limited drive of a ball joint to the derivatives of lambda . (gradient
 * of the drive's energy) (M9). The contribution is c times the change of half the squared unlimited torque, with c =
 * (lambda . gradient) bend. Sets *share to the scale. Returns the derivative with respect to each of the three numbers
 * of the torque limit. */
static double torque_limit_adjoint(const JointInput* in, const JointDrive* drive, const BallSpring* spring, int base,
                                   const double lambda[3], double* share, double by_step[3], BallBars* out) {
  double a = joint_damper_slope(in), weight = spring->weight, active = 1 - in->spring.missing;
  RotationVector phi = rotation_vector_derivatives(relative_rotation(in->q_now + base, in->q + base));
  JointTerms unlimited = {.controller = 0};
  ball_drive_terms(in, drive, &phi, base, true, &unlimited);
  BallTorqueLimit l = ball_torque_limit(in, drive, base, unlimited.controller);
  double along = 0, by_phi[3] = {0};
  for (int i = 0; i < 3; i++) along += lambda[i] * unlimited.gradient[base + i];
  *share = l.scale;
  if (!(l.scale < 1)) return 0;
  double c = along * l.bend, more = unlimited.controller - l.now;
  for (int i = 0; i < 3; i++) {
    double gain = drive->position_gain[base + i], kp = active * gain, kd = joint_rate_gain(in, drive, base + i);
    double slow = a * phi.value[i] - l.rate_target[i], from = l.displacement[i];
    double mean = weight * spring->end.value[i] - spring->minus[i];
    double by_kp = c * (l.stiffness * 0.5 / weight * (mean * mean - from * from) + l.unlimited_torque[i] * from +
                        weight * more / 3);
    double by_from = c * kp * (l.unlimited_torque[i] - l.stiffness / weight * from);
    for (int k = 0; k < 3; k++) {
      out->spring.rotation[k] += c * l.stiffness * kp * mean * spring->end.first[i][k];
      by_phi[k] += c * l.stiffness * (a * kd * slow - drive->push[base + i]) * phi.first[i][k];
    }
    out->spring.now[i] -= weight * by_from;
    out->spring.minus[i] += by_from - c * l.stiffness * kp / weight * mean;
    out->spring.weight +=
        c * kp *
            (l.stiffness / weight * (mean * spring->end.value[i] - 0.5 / weight * (mean * mean - from * from)) +
             more / 3) -
        by_from * spring->now[i];
    out->spring.missing -= gain * by_kp;
    out->rate_target[i] += c * kd * (a * l.unlimited_torque[i] - l.stiffness * (l.rate_target[i] + slow));
    out->push[i] += c * (l.unlimited_torque[i] - l.stiffness * phi.value[i]);
    out->kp[i] += active * by_kp;
    out->kd[i] += c * (l.stiffness * 0.5 * (slow * slow - l.rate_target[i] * l.rate_target[i]) +
                       a * l.unlimited_torque[i] * l.rate_target[i] + a * a * more / 3);
  }
  for (int k = 0; k < 3; k++) by_step[k] += by_phi[k];
  return along * (l.force.force - l.size * l.force.slope) / (l.limit * l.size) / 3;
}

static void ball_drive_adjoint(const JointInput* in, int c, int base, const double* lambda, double by_step[3],
                               double by_b[3], JointBars* out) {
  const JointDrive* drive = &in->drives[c];
  double a = joint_damper_slope(in), share = 1, scaled[3], by_limit = 0;
  BallSpring spring = ball_spring(in, base, drive->target + base);
  BallBars bars = {.kp = {0}};
  if (drive->max_force[base] + drive->max_force[base + 1] + drive->max_force[base + 2] > 0)
    by_limit = torque_limit_adjoint(in, drive, &spring, base, lambda, &share, by_step, &bars);
  for (int i = 0; i < 3; i++) scaled[i] = share * lambda[i];
  unlimited_ball_drive_adjoint(in, drive, &spring, base, scaled, by_step, &bars);
  ball_spring_adjoint(in, base, drive->target + base, &spring, &bars.spring, out->target[c] + base, out);
  for (int i = 0; i < 3; i++) {
    double kd = bars.kd[i], goal = bars.rate_target[i];
    out->gains[c][JOINT_POSITION][base + i] += bars.kp[i];
    out->gains[c][JOINT_VELOCITY][base + i] += kd / (in->dt * a);
    out->gains[c][JOINT_DAMPING_GAIN][base + i] += kd / a;
    out->gains[c][JOINT_MAX_FORCE][base + i] += by_limit;
    out->target_rate[c][base + i] += goal;
    out->push[c][base + i] += bars.push[i];
    by_b[i] += goal;
    if (!(in->rate_past > 0)) continue;
    double fast = in->rate_before[base + i] - drive->target_rate[base + i];
    out->damper_theta += (joint_rate_gain(in, drive, base + i) * kd + fast * goal) / (1 - in->rate_past);
  }
}

static void ball_passive_spring_adjoint(const JointInput* in, int base, const double* lambda, JointBars* out) {
  const ModelLink* link = in->link;
  if (in->spring.now == 0 && in->spring.old == 0 && in->spring.missing == 0) return;
  BallSpring spring = ball_spring(in, base, link->rest + base);
  BallSpringBars bars = {.weight = 0};
  double by_stiffness[3] = {0}, by_rest[3] = {0};
  spring_energy_adjoint(in, &spring, link->stiffness + base, lambda, &bars, by_stiffness);
  ball_spring_adjoint(in, base, link->rest + base, &spring, &bars, by_rest, out);
}

/* Adds the derivatives of a scalar with respect to the previous displacement and the previous rate of a ball joint.
 * by_offset: derivatives of the scalar with respect to joint_damper_offset. */
static void damper_offset_adjoint(const JointInput* in, int base, const double by_offset[3], JointBars* out) {
  double b = (1 - in->rate_past) * in->weights.rate_old;
  for (int i = 0; i < 3; i++) {
    out->difference_old[base + i] += b * by_offset[i];
    out->rate_before[base + i] -= in->rate_past * by_offset[i];
  }
}

/* Adds the derivatives of lambda . (gradient of the damping energy) of a ball joint. Adds those with respect to
 * increments on the right of the rotation `step` to by_step and those with respect to joint_damper_offset to by_offset.
 */
static void ball_damping_adjoint(const JointInput* in, int base, Quat step, const double* lambda, double by_step[3],
                                 double by_offset[3], JointBars* out) {
  double a = joint_damper_slope(in), damping[3], offset[3];
  RotationVector phi = rotation_vector_derivatives(step);
  for (int i = 0; i < 3; i++) {
    damping[i] = in->link->damping[base + i] / a;
    offset[i] = joint_damper_offset(in, base + i);
  }
  quadratic_energy_adjoint(step, damping, a, offset, lambda, by_step, by_offset);
  for (int i = 0; in->rate_past > 0 && i < 3; i++)
    out->damper_theta -=
        by_offset[i] * (a * phi.value[i] - offset[i] - in->rate_before[base + i]) / (1 - in->rate_past);
}

static void ball_adjoint(const JointInput* in, int base, const double* lambda, JointBars* out) {
  double b_old = in->weights.rate_old, b[3], by_step[3] = {0}, by_b[3] = {0}, by_offset[3] = {0};
  Quat step = relative_rotation(in->q_now + base, in->q + base);
  for (int i = 0; i < 3; i++) b[i] = b_old * in->difference_old[base + i];
  ball_damping_adjoint(in, base, step, lambda, by_step, by_offset, out);
  if (in->link->passive) ball_passive_spring_adjoint(in, base, lambda, out);
  if (in->link->passive && joint_ball_friction(in->link, base) > 0)
    (void)ball_friction_adjoint(in, base, step, b, lambda, by_step, by_b);
  for (int c = 0; c < in->drive_count; c++) ball_drive_adjoint(in, c, base, lambda, by_step, by_offset, out);
  damper_offset_adjoint(in, base, by_offset, out);
  ball_limits_adjoint(in, base, lambda, out->now + base, out->difference_old + base);
  add_left_increment_bars(step, by_step, out->now + base);
  for (int i = 0; i < 3; i++) out->difference_old[base + i] += b_old * by_b[i];
}

static bool all_zero(const double* x, int count) {
  for (int k = 0; k < count; k++)
    if (x[k] != 0) return false;
  return true;
}

void joint_adjoint(const JointInput* in, const double* lambda, JointBars* out) {
  assert(in->drive_count >= 0 && lambda && out);
  int plain = in->link->joint.scalar_count;
  memset(out->now, 0, sizeof(out->now));
  memset(out->difference_old, 0, sizeof(out->difference_old));
  memset(out->aim, 0, sizeof(out->aim));
  out->spring = (SpringTimeWeights){0};
  memset(out->rate_before, 0, sizeof(out->rate_before));
  out->damper_theta = 0;
  for (int c = 0; c < in->drive_count; c++) {
    memset(out->target[c], 0, sizeof(out->target[c]));
    memset(out->target_rate[c], 0, sizeof(out->target_rate[c]));
    memset(out->push[c], 0, sizeof(out->push[c]));
    memset(out->gains[c], 0, sizeof(out->gains[c]));
  }
  bool limited = false;
  for (int k = 0; k < in->link->dof_count; k++) limited = limited || in->link->limited[k];
  bool free =
      !limited && in->drive_count == 0 && !in->link->passive && all_zero(in->link->damping, in->link->dof_count);
  if (free || all_zero(lambda, in->link->dof_count)) return;
  for (int k = 0; k < plain; k++) scalar_coordinate_adjoint(in, k, lambda[k], out);
  if (in->link->joint.quaternion) ball_adjoint(in, plain, lambda + plain, out);
}

/* ---------------------------------------------------------------- derivatives with respect to the joint's own numbers
 * (A14) */

/* Adds the derivatives of lambda times the energy gradient of coordinate k with respect to the parameters of this
 * coordinate to out. Adds its derivative with respect to the restitution to `first`, the entry of the joint's first
 * degree of freedom. */
static void scalar_parameter_adjoint(const JointInput* in, int k, double lambda, double out[JOINT_OWN_COUNT],
                                     double first[JOINT_OWN_COUNT]) {
  const ModelLink* link = in->link;
  double rate = joint_step_rate(in, k);
  double speed = link->friction_speed, root = sqrt(rate * rate + speed * speed);
  double by_static = lambda * joint_static_friction(link, k, rate).by_static;
  out[JOINT_DAMPING] += lambda * joint_damper_rate(in, k);
  out[JOINT_STIFFNESS] += lambda * (1 - in->spring.missing) * (joint_spring_position(in, k) - link->rest[k]);
  if (root > 0) out[JOINT_FRICTION] += lambda * rate / root - by_static;
  out[JOINT_STATIC_FRICTION] += by_static;
  if (in->aim) out[JOINT_ARMATURE] += lambda * in->inertia_weight * (in->q[k] - in->q_now[k] - in->aim[k]);
  LimitForceDerivatives limits = joint_limit_force_derivatives(in, k, rate);
  out[JOINT_LOWER] += lambda * limits.lower;
  out[JOINT_UPPER] += lambda * limits.upper;
  first[JOINT_RESTITUTION] += lambda * limits.restitution;
}

/* Adds to column `which` of out: factor times the derivatives of lambda . (gradient of k/2 |scale phi - b|^2) with
 * respect to the three gains k. phi: rotation vector of p. */
static void ball_quadratic_parameter_adjoint(Quat p, double scale, const double b[3], const double lambda[3],
                                             double factor, int which, double (*out)[JOINT_OWN_COUNT]) {
  RotationVector phi = rotation_vector_derivatives(p);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      out[i][which] += factor * scale * (scale * phi.value[i] - b[i]) * phi.first[i][j] * lambda[j];
}

static void ball_parameter_adjoint(const JointInput* in, int base, const double* lambda,
                                   double (*out)[JOINT_OWN_COUNT]) {
  double a = joint_damper_slope(in), b[3], offset[3];
  BallSpring spring = ball_spring(in, base, in->link->rest + base);
  for (int i = 0; i < 3; i++) {
    b[i] = in->weights.rate_old * in->difference_old[base + i];
    offset[i] = joint_damper_offset(in, base + i);
  }
  ball_quadratic_parameter_adjoint(relative_rotation(in->q_now + base, in->q + base), a, offset, lambda, 1 / a,
                                   JOINT_DAMPING, out + base);
  ball_quadratic_parameter_adjoint(spring.rotation, spring.weight, spring.minus, lambda, spring.factor, JOINT_STIFFNESS,
                                   out + base);
  double unused[2][3] = {{0}}, slope;
  slope = ball_friction_adjoint(in, base, relative_rotation(in->q_now + base, in->q + base), b, lambda, unused[0],
                                unused[1]);
  for (int i = 0; i < 3; i++) out[base + i][JOINT_FRICTION] += slope / 3;
  ball_limits_parameter_adjoint(in, base, lambda, out + base, out[0]);
}

void joint_own_adjoint(const JointInput* in, const double* lambda, double (*out)[JOINT_OWN_COUNT]) {
  int plain = in->link->joint.scalar_count;
  if (all_zero(lambda, in->link->dof_count)) return;
  for (int k = 0; k < plain; k++) scalar_parameter_adjoint(in, k, lambda[k], out[k], out[0]);
  if (in->link->joint.quaternion) ball_parameter_adjoint(in, plain, lambda + plain, out);
}

void joint_difference_adjoint(const Joint* joint, const double* q_from, const double* q_to, const double* bar,
                              double* from_bar, double* to_bar) {
  int plain = joint->scalar_count;
  if (all_zero(bar, joint->quaternion ? plain + 3 : plain)) return;
  for (int k = 0; k < plain; k++) {
    from_bar[k] -= bar[k];
    to_bar[k] += bar[k];
  }
  if (!joint->quaternion) return;
  Quat p = relative_rotation(q_from + plain, q_to + plain);
  RotationVector phi = rotation_vector_derivatives(p);
  double by_right[3] = {0};
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < 3; i++) by_right[k] += bar[plain + i] * phi.first[i][k];
  for (int k = 0; k < 3; k++) to_bar[plain + k] += by_right[k];
  add_left_increment_bars(p, by_right, from_bar + plain);
}

/* For a ball joint the result is q exp(factor v). A change dv adds the rotation factor J_r(factor v) dv on the right.
 * An increment on the right of q becomes an increment of the result by a rotation with exp(-factor v). */
void joint_continue_adjoint(const Joint* joint, const double* d, double factor, const double* bar, double* q_bar,
                            double* d_bar) {
  int plain = joint->scalar_count;
  for (int k = 0; k < plain; k++) {
    q_bar[k] += bar[k];
    d_bar[k] += factor * bar[k];
  }
  if (!joint->quaternion) return;
  Vec3 v = vec3_scale(vec3_at(d + plain), factor), turn = vec3_at(bar + plain), unused, by_v;
  rotation_rate_vjp(v, vec3(0, 0, 0), turn, &unused, &by_v);
  Vec3 by_q = mat3_mul_vec(mat3_from_quat(quat_exp(v)), turn);
  vec3_store(vec3_add(vec3_at(q_bar + plain), by_q), q_bar + plain);
  vec3_store(vec3_add_scaled(vec3_at(d_bar + plain), factor, by_v), d_bar + plain);
}

void joint_target_adjoint(const Joint* joint, const double* value, const double* rate, const double* target_bar,
                          const double* rate_bar, double* value_bar, double* value_rate_bar) {
  int plain = joint->scalar_count;
  for (int k = 0; k < plain; k++) {
    value_bar[k] = target_bar[k];
    value_rate_bar[k] = rate_bar[k];
  }
  if (!joint->quaternion) return;
  Vec3 v = vec3_at(value + plain), w = vec3_at(rate + plain), by_v, by_rate, unused;
  Vec3 turn = vec3_at(target_bar + plain), spin = vec3_at(rate_bar + plain);
  rotation_rate_vjp(v, w, spin, &by_v, &by_rate);
  rotation_rate_vjp(v, vec3(0, 0, 0), turn, &unused,
                    &turn); /* a change dv of the rotation vector v is the increment J_r(v) dv of the rotation */
  vec3_store(vec3_add(by_v, turn), value_bar + plain);
  vec3_store(by_rate, value_rate_bar + plain);
}
