/* Energy, force and Hessian of inertia and gravity of a link, computed with the second moment S of its mass
 * (docs/derivations/step.md, S1-S2). */
#include "simulate/terms.h"

#include <assert.h>
#include <float.h>
#include <string.h>

typedef struct {
  double m[3][4];
} Affine;

static Affine pose_difference(Pose pose, Pose target) {
  Affine d;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) d.m[i][j] = pose.r.m[i][j] - target.r.m[i][j];
  d.m[0][3] = pose.t.x - target.t.x;
  d.m[1][3] = pose.t.y - target.t.y;
  d.m[2][3] = pose.t.z - target.t.z;
  return d;
}

static Affine multiply_second_moment(const Affine* d, const MassMoment* s) {
  Affine g;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++)
      g.m[i][j] = d->m[i][0] * s->s[0][j] + d->m[i][1] * s->s[1][j] + d->m[i][2] * s->s[2][j] + d->m[i][3] * s->s[3][j];
  return g;
}

double inertia_energy(const ModelLink* link, Pose pose, Pose target, double weight) {
  assert(!(weight < 0));
  Affine d = pose_difference(pose, target), g = multiply_second_moment(&d, &link->moment);
  double sum = 0;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++) sum += d.m[i][j] * g.m[i][j];
  return 0.5 * weight * sum;
}

double inertia_rounding(const ModelLink* link, Pose pose, double weight, const double motion[3][4]) {
  assert(!(weight < 0));
  if (!(link->mass > 0)) return 0;
  const double(*s)[4] = link->moment.s;
  double turn = 0, size = sqrt((s[0][0] + s[1][1] + s[2][2]) / link->mass);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) turn += motion[i][j] * motion[i][j];
  double moved = vec3_norm(vec3(motion[0][3], motion[1][3], motion[2][3])) + sqrt(turn) * size;
  return weight * DBL_EPSILON * link->mass * moved * (vec3_norm(pose.t) + size);
}

void inertia_second_moment_product(const ModelLink* link, const double d[3][4], double out[3][4]) {
  Affine product;
  memcpy(product.m, d, sizeof(product.m));
  product = multiply_second_moment(&product, &link->moment);
  memcpy(out, product.m, sizeof(product.m));
}

static Mat3 world_inertia(const ModelLink* link, Mat3 r) {
  return mat3_mul(mat3_mul(r, mass_moment_inertia_tensor(&link->moment)), mat3_transpose(r));
}

void inertia_terms(const ModelLink* link, Pose pose, Pose target, double weight, LinkTerms* terms) {
  assert(!(weight < 0));
  *terms = (LinkTerms){.force = {0, 0, 0}};
  if (!(link->mass > 0)) return;
  Affine d = pose_difference(pose, target), g = multiply_second_moment(&d, &link->moment);
  Vec3 f = vec3(g.m[0][3], g.m[1][3], g.m[2][3]);
  Mat3 local = {
      {{g.m[0][0], g.m[0][1], g.m[0][2]}, {g.m[1][0], g.m[1][1], g.m[1][2]}, {g.m[2][0], g.m[2][1], g.m[2][2]}}};
  local = mat3_sub(local, mat3_outer(f, link->center)); /* first moment about the centre of mass: sum over the points of
                                                           gradient times (point - centre of mass)^T */
  terms->force = vec3_scale(f, weight);
  terms->moment = mat3_scale(mat3_mul(local, mat3_transpose(pose.r)), weight);
  Mat3 inertia = world_inertia(link, pose.r);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) terms->hessian[i][j] = weight * inertia.m[i][j];
    terms->hessian[3 + i][3 + i] = weight * link->mass;
  }
}

void inertia_adjoint(const ModelLink* link, Pose pose, Pose target, double weight, const double motion[3][4],
                     double target_bar[3][4], MassMoment* moment_bar) {
  if (!(link->mass > 0)) return;
  Affine d = pose_difference(pose, target), m;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++) m.m[i][j] = motion[i][j];
  Affine ms = multiply_second_moment(&m, &link->moment);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 4; j++) {
      target_bar[i][j] -= weight * ms.m[i][j];
      for (int k = 0; k < 4; k++) moment_bar->s[j][k] += weight * m.m[i][j] * d.m[i][k];
    }
}

Mat3 inertia_mobility(const ModelLink* link) {
  assert(link->spins);
  Mat3 inertia = mass_moment_inertia_tensor(&link->moment);
  if (joint_is_floating(&link->joint)) return mat3_inverse(inertia);
  Vec3 axis = link->joint.axis[0];
  return mat3_scale(mat3_outer(axis, axis), 1 / vec3_dot(axis, mat3_mul_vec(inertia, axis)));
}
