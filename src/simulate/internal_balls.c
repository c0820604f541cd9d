/* Axes of the torques of ball joints at t (docs/derivations/loads.md, L25). */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "simulate/ball_springs.h"
#include "simulate/internal_forces.h"

/* Three rotations. */
static const Joint BALL = {.quaternion = true};

/* A torque of a ball joint as the derivative of an energy with respect to a rotation vector, that from the rotation
 * `from` to the rotation of the joint (L25). */
typedef struct {
  const double* from; /* quaternion; NULL: the rotation at t */
  double value[3];    /* derivative of the energy with respect to the rotation vector at t [N m] */
  double fraction;    /* fraction of the torque that acts about the axes at t */
} BallTorque;

/* Parts of the torque of a drive without its limit: proportional to the position error, to the rate error, constant. */
enum { DRIVE_SPRING, DRIVE_DAMPER, DRIVE_PUSH, DRIVE_PARTS };

/* The torques of one drive, and the effect of the limit. */
typedef struct {
  BallTorque part[DRIVE_PARTS];
  double error[3], slow[3]; /* rotation vector from the target [rad]; rate minus target rate [rad/s] */
  double total[3], size;    /* sum in the axes at t, and its length [N m] */
  double share, by_size;    /* limited over unlimited torque, and the derivative by `size` */
  LimitedForce force;
} BallDrive;

bool ball_torque_acts(const Model* m, int link) {
  assert(link >= 0 && link < m->link_count);
  const ModelLink* l = &m->links[link];
  if (!l->joint.quaternion || l->tree < 0 || l->prescribed >= 0) return false;
  bool acts = false;
  for (int k = l->joint.scalar_count; k < l->dof_count; k++)
    acts = acts || l->damping[k] > 0 || (l->passive && l->stiffness[k] > 0);
  for (int c = 0; c < m->controller_count; c++) acts = acts || m->controllers[c].link == link;
  return acts;
}

/* Adds the torque on the joint at the rotation q, in the axes of the link, to out. The derivative of the rotation
 * vector turns the torque (L25). */
static void add_torque(const JointInput* in, int base, const BallTorque* torque, const double* q, double factor,
                       double out[3]) {
  const double* from = torque->from ? torque->from : in->q_now + base;
  RotationVector phi = rotation_vector_derivatives(quat_mul(quat_conjugate(quat_at(from)), quat_at(q)));
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) out[j] += factor * torque->value[i] * phi.first[i][j];
}

/* Adds the derivatives of a scalar through add_torque with the factor 1. bar: derivatives with respect to the torque.
 * Adds those with respect to torque->value to value_bar, to increments of q to q_bar, and of `from` to from_bar. */
static void torque_adjoint(const JointInput* in, int base, const BallTorque* torque, const double* q, double factor,
                           const double bar[3], double value_bar[3], double* q_bar, double* from_bar) {
  const double *from = torque->from ? torque->from : in->q_now + base, zero[3] = {0, 0, 0};
  Quat p = quat_mul(quat_conjugate(quat_at(from)), quat_at(q));
  RotationVector phi = rotation_vector_derivatives(p);
  double by_right[3] = {0}, along[3], scaled[3];
  for (int i = 0; i < 3; i++) scaled[i] = factor * bar[i];
  rotation_vector_energy_adjoint(&phi, torque->value, zero, NULL, scaled, by_right, along);
  for (int i = 0; i < 3; i++) {
    value_bar[i] += along[i];
    q_bar[i] += by_right[i];
  }
  add_left_increment_bars(p, by_right, from_bar);
}

static double spring_fraction(const JointInput* in) { return 2 - 2 * in->link->spring_theta; }
static double damper_fraction(const JointInput* in) { return 2 - 2 * in->link->damper_theta; }

static BallTorque passive_spring(const JointInput* in, int base) {
  BallTorque out = {.from = in->link->rest + base, .fraction = spring_fraction(in)};
  joint_difference(&BALL, out.from, in->q_now + base, out.value);
  for (int i = 0; i < 3; i++) out.value[i] *= in->link->stiffness[base + i];
  return out;
}

static BallTorque passive_damper(const JointInput* in, int base) {
  BallTorque out = {.from = NULL, .fraction = damper_fraction(in)};
  for (int i = 0; i < 3; i++) out.value[i] = in->link->damping[base + i] * in->rate_before[base + i];
  return out;
}

static double rate_gain(const JointInput* in, const JointDrive* drive, int dof) {
  return drive->velocity_gain[dof] / in->dt + drive->damping_gain[dof];
}

static double torque_limit(const JointDrive* drive, int base) {
  return (drive->max_force[base] + drive->max_force[base + 1] + drive->max_force[base + 2]) / 3;
}

static BallDrive ball_drive(const JointInput* in, const JointDrive* drive, int base) {
  BallDrive out = {.share = 1};
  out.part[DRIVE_SPRING] = (BallTorque){.from = drive->target + base, .fraction = spring_fraction(in)};
  out.part[DRIVE_DAMPER] = (BallTorque){.fraction = damper_fraction(in)};
  out.part[DRIVE_PUSH] = (BallTorque){.fraction = 1};
  joint_difference(&BALL, drive->target + base, in->q_now + base, out.error);
  for (int i = 0; i < 3; i++) {
    out.slow[i] = in->rate_before[base + i] - drive->target_rate[base + i];
    out.part[DRIVE_SPRING].value[i] = drive->position_gain[base + i] * out.error[i];
    out.part[DRIVE_DAMPER].value[i] = rate_gain(in, drive, base + i) * out.slow[i];
    out.part[DRIVE_PUSH].value[i] = -drive->push[base + i];
  }
  double limit = torque_limit(drive, base);
  if (!(limit > 0)) return out;
  for (int n = 0; n < DRIVE_PARTS; n++) add_torque(in, base, &out.part[n], in->q_now + base, 1, out.total);
  out.size = vec3_norm(vec3_at(out.total));
  out.force = limited_force(out.size, limit, drive->limit_width);
  if (!(out.force.force < out.size)) return out;
  out.share = out.force.force / out.size;
  out.by_size = (out.force.slope - out.share) / out.size;
  return out;
}

/* Sets q[4] to the rotation at t + dt if the joint continues to rotate as in the previous step. */
static void predict_rotation(const JointInput* in, int base, double q[4]) {
  joint_extrapolate(&BALL, in->q_now + base, in->difference_old + base, 1, q);
}

/* Adds a torque with its fraction, times `share`, to both torques of *out. */
static void add_both(const JointInput* in, int base, const BallTorque* torque, const double* ahead, double share,
                     BallStart* out) {
  add_torque(in, base, torque, in->q_now + base, share * torque->fraction, out->now);
  add_torque(in, base, torque, ahead, share * torque->fraction, out->ahead);
}

BallStart ball_start(const JointInput* in, const StepClock* clock, unsigned kinds) {
  int base = in->link->joint.scalar_count;
  BallStart out = {.acts = internal_forces_predict_rotations(clock)};
  double ahead[4];
  if (!out.acts) return out;
  predict_rotation(in, base, ahead);
  if ((kinds & BALL_SPRING) && in->link->passive) {
    BallTorque spring = passive_spring(in, base);
    add_both(in, base, &spring, ahead, 1, &out);
  }
  if (kinds & BALL_DAMPER) {
    BallTorque damper = passive_damper(in, base);
    add_both(in, base, &damper, ahead, 1, &out);
  }
  for (int c = 0; (kinds & BALL_DRIVES) && c < in->drive_count; c++) {
    BallDrive drive = ball_drive(in, &in->drives[c], base);
    for (int n = 0; n < DRIVE_PARTS; n++) add_both(in, base, &drive.part[n], ahead, drive.share, &out);
  }
  return out;
}

/* Derivatives of a scalar with respect to the torque at t and at the predicted rotation, in the axes of the link, and
 * the results that all torques of a joint share. */
typedef struct {
  const JointInput* in;
  int base;
  const double *now, *ahead;
  double q_ahead[4], ahead_bar[3]; /* predicted rotation, and the derivatives with respect to its increments */
  double by_spring_theta;          /* derivative with respect to ModelLink.spring_theta */
  JointBars* out;
} BallAdjoint;

/* Adds the derivatives through one torque, times `share`. Adds those with respect to its value to value_bar, and those
 * with respect to its neutral rotation to from_bar. Returns the derivative with respect to fraction times share. */
static double both_adjoint(BallAdjoint* a, const BallTorque* torque, double share, double value_bar[3],
                           double* from_bar) {
  double *by_now = a->out->now + a->base, by[3] = {0}, factor = share * torque->fraction;
  if (!torque->from) from_bar = by_now;
  torque_adjoint(a->in, a->base, torque, a->in->q_now + a->base, factor, a->now, by, by_now, from_bar);
  torque_adjoint(a->in, a->base, torque, a->q_ahead, factor, a->ahead, by, a->ahead_bar, from_bar);
  for (int i = 0; i < 3; i++) value_bar[i] += by[i];
  return factor > 0 ? vec3_dot(vec3_at(by), vec3_at(torque->value)) / factor : 0;
}

static void drive_adjoint(BallAdjoint* a, int c) {
  const JointInput* in = a->in;
  const JointDrive* drive = &in->drives[c];
  int base = a->base;
  BallDrive d = ball_drive(in, drive, base);
  double by[DRIVE_PARTS][3] = {{0}}, *by_target = a->out->target[c] + base, *by_now = a->out->now + base;
  double by_share = 0, error_slope[3];
  for (int n = 0; n < DRIVE_PARTS; n++) {
    double by_factor = both_adjoint(a, &d.part[n], d.share, by[n], by_target);
    by_share += d.part[n].fraction * by_factor;
    if (n == DRIVE_SPRING) a->by_spring_theta -= 2 * d.share * by_factor;
    if (n == DRIVE_DAMPER) a->out->damper_theta -= 2 * d.share * by_factor;
  }
  if (d.share < 1) {
    double by_total[3];
    for (int i = 0; i < 3; i++) by_total[i] = by_share * d.by_size * d.total[i] / d.size;
    for (int n = 0; n < DRIVE_PARTS; n++)
      torque_adjoint(in, base, &d.part[n], in->q_now + base, 1, by_total, by[n], by_now,
                     d.part[n].from ? by_target : by_now);
    double limit = torque_limit(drive, base);
    double by_limit = by_share * (d.force.force - d.size * d.force.slope) / (limit * d.size);
    for (int i = 0; i < 3; i++) a->out->gains[c][JOINT_MAX_FORCE][base + i] += by_limit / 3;
  }
  for (int i = 0; i < 3; i++) {
    double by_rate = rate_gain(in, drive, base + i) * by[DRIVE_DAMPER][i], by_gain = by[DRIVE_DAMPER][i] * d.slow[i];
    error_slope[i] = drive->position_gain[base + i] * by[DRIVE_SPRING][i];
    a->out->gains[c][JOINT_POSITION][base + i] += by[DRIVE_SPRING][i] * d.error[i];
    a->out->gains[c][JOINT_VELOCITY][base + i] += by_gain / in->dt;
    a->out->gains[c][JOINT_DAMPING_GAIN][base + i] += by_gain;
    a->out->push[c][base + i] -= by[DRIVE_PUSH][i];
    a->out->target_rate[c][base + i] -= by_rate;
    a->out->rate_before[base + i] += by_rate;
  }
  joint_difference_adjoint(&BALL, drive->target + base, in->q_now + base, error_slope, by_target, by_now);
}

static void passive_adjoint(BallAdjoint* a, double (*own)[JOINT_OWN_COUNT]) {
  const JointInput* in = a->in;
  int base = a->base;
  BallTorque damper = passive_damper(in, base);
  double by_damper[3] = {0};
  a->out->damper_theta -= 2 * both_adjoint(a, &damper, 1, by_damper, NULL);
  for (int i = 0; i < 3; i++) {
    own[base + i][JOINT_DAMPING] += in->rate_before[base + i] * by_damper[i];
    a->out->rate_before[base + i] += in->link->damping[base + i] * by_damper[i];
  }
  if (!in->link->passive) return;
  BallTorque spring = passive_spring(in, base);
  double by_spring[3] = {0}, bend_slope[3], by_rest[3] = {0}, bend[3];
  a->by_spring_theta -= 2 * both_adjoint(a, &spring, 1, by_spring, by_rest);
  joint_difference(&BALL, in->link->rest + base, in->q_now + base, bend);
  for (int i = 0; i < 3; i++) {
    bend_slope[i] = in->link->stiffness[base + i] * by_spring[i];
    own[base + i][JOINT_STIFFNESS] += bend[i] * by_spring[i];
  }
  joint_difference_adjoint(&BALL, in->link->rest + base, in->q_now + base, bend_slope, by_rest, a->out->now + base);
}

double ball_start_adjoint(const JointInput* in, const double now[3], const double ahead[3], JointBars* out,
                          double (*own)[JOINT_OWN_COUNT]) {
  BallAdjoint a = {.in = in, .base = in->link->joint.scalar_count, .now = now, .ahead = ahead, .out = out};
  predict_rotation(in, a.base, a.q_ahead);
  passive_adjoint(&a, own);
  for (int c = 0; c < in->drive_count; c++) drive_adjoint(&a, c);
  joint_continue_adjoint(&BALL, in->difference_old + a.base, 1, a.ahead_bar, out->now + a.base,
                         out->difference_old + a.base);
  return a.by_spring_theta;
}

void ball_start_force(const Sim* s, int i, const BallStart* start, const Pose* now, const Pose* pose, double out[3]) {
  assert(i >= 0 && i < s->model->link_count);
  Mat3 at_t = now[i].r, ahead = s->internal_forces->predicted[i].r;
  Vec3 at_start = vec3_at(start->now), at_end = mat3_tmul_vec(pose[i].r, mat3_mul_vec(ahead, vec3_at(start->ahead)));
  if (!load_is_in_target(s, i)) at_start = mat3_tmul_vec(pose[i].r, mat3_mul_vec(at_t, at_start));
  vec3_store(vec3_sub(at_end, at_start), out);
}

void ball_add_wrenches(const Sim* s, int i, const BallStart* start) {
  InternalForces* f = s->internal_forces;
  Vec3 now = mat3_mul_vec(s->pose_now[i].r, vec3_at(start->now));
  Vec3 ahead = mat3_mul_vec(f->predicted[i].r, vec3_at(start->ahead));
  const int link[2] = {i, s->model->links[i].parent};
  for (int side = 0; side < 2; side++) {
    int k = link[side];
    double sign = side == 0 ? 1 : -1;
    if (k < 0 || s->model->links[k].tree < 0) continue;
    s->loads[k].any = true; /* also for the torque 0, so that the step is differentiable there */
    f->start[k].torque = vec3_add_scaled(f->start[k].torque, -sign, now);
    f->start_in_step[k].torque = vec3_add_scaled(f->start_in_step[k].torque, -sign, now);
    f->ahead[k].torque = vec3_add_scaled(f->ahead[k].torque, sign, ahead);
  }
}
