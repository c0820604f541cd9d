/* Energies, forces and Hessians of bushings in a step (docs/derivations/loads.md, L18). */
#include "simulate/bushings.h"

#include <assert.h>
#include <float.h>
#include <string.h>

/* Relative rounding error of a position. The product of a position's error and a force is the rounding error of an
 * energy. */
#define BUSHING_POSITION_ROUNDING (16 * DBL_EPSILON)

/* Sets BushingSystem.meets_tendon. */
static void mark_tendons(BushingSystem* s, const Model* m) {
  int* set = MEMORY_NEW(int, m->link_count);
  bool* touched = MEMORY_NEW(bool, m->link_count);
  disjoint_sets_init(set, m->link_count);
  for (int i = 0; i < m->link_count; i++)
    if (m->links[i].parent >= 0 && m->links[m->links[i].parent].tree >= 0)
      disjoint_sets_unite(set, i, m->links[i].parent);
  for (int k = 0; k < m->bushing_count; k++) {
    const int* link = m->bushings[k].source->link;
    if (link[1] >= 0 && m->links[link[0]].tree >= 0 && m->links[link[1]].tree >= 0)
      disjoint_sets_unite(set, link[0], link[1]);
  }
  for (int k = 0; k < m->tendon_count; k++) {
    const SceneTendon* tendon = m->tendons[k].source;
    for (int i = 0; i < tendon->count + tendon->wrap_count; i++) {
      int link = i < tendon->count ? tendon->points[i].link : tendon->wraps[i - tendon->count].link;
      if (link >= 0) touched[disjoint_sets_find(set, link)] = true;
    }
  }
  for (int k = 0; k < m->bushing_count; k++)
    for (int side = 0; side < 2; side++) {
      int link = m->bushings[k].source->link[side];
      if (link >= 0 && touched[disjoint_sets_find(set, link)]) s->meets_tendon[k] = true;
    }
  memory_free(set);
  memory_free(touched);
}

BushingSystem* bushings_create(const Model* m) {
  if (m->bushing_count == 0) return NULL;
  BushingSystem* s = MEMORY_NEW(BushingSystem, 1);
  size_t values = sizeof(double[6]) * (size_t)m->bushing_count;
  s->model = m;
  s->at = MEMORY_NEW(BushingTimeWeights, m->bushing_count);
  s->rate_now = MEMORY_NEW(double, m->bushing_count);
  s->rate_old = MEMORY_NEW(double, m->bushing_count);
  s->now = memory_alloc(values);
  s->old = memory_alloc(values);
  s->older = memory_alloc(values);
  s->term = MEMORY_NEW(BushingTerm, m->bushing_count);
  s->meets_tendon = MEMORY_NEW(bool, m->bushing_count);
  s->pairs = MEMORY_NEW(uint64_t, m->bushing_count);
  for (int k = 0; k < m->bushing_count; k++) {
    const int* link = m->bushings[k].source->link;
    int a = m->links[link[0]].tree, b = link[1] < 0 ? -1 : m->links[link[1]].tree;
    if (a >= 0 && b >= 0 && a != b)
      s->pairs[s->pair_count++] = (uint64_t)(a < b ? a : b) << 32 | (uint64_t)(a < b ? b : a);
  }
  s->pair_count = sort_unique_uint64(s->pairs, s->pair_count);
  mark_tendons(s, m);
  return s;
}

void bushings_destroy(BushingSystem* s) {
  if (!s) return;
  void* owned[] = {s->at, s->rate_now, s->rate_old, s->now, s->old, s->older, s->term, s->pairs, s->meets_tendon, s};
  for (size_t k = 0; k < sizeof(owned) / sizeof(owned[0]); k++) memory_free(owned[k]);
}

/* Roots of the polynomial that gives the weights of the four states for a spring that the step length does not resolve.
 * The weights are the coefficients of (z + r)^2 (z + s), divided by its value at z = 1. r = OSCILLATION_FACTOR; s =
 * OSCILLATION_FACTOR_LAST = (1 - r) / (2 r). The deformation of a spring of infinite stiffness is multiplied by -r in
 * each step. */
#define OSCILLATION_FACTOR 0.8
#define OSCILLATION_FACTOR_LAST ((1 - OSCILLATION_FACTOR) / (2 * OSCILLATION_FACTOR))
#define SCALE ((1 + OSCILLATION_FACTOR) * (1 + OSCILLATION_FACTOR) * (1 + OSCILLATION_FACTOR_LAST))
static const BushingTimeWeights WEIGHTS_UNRESOLVED = {
    1 / SCALE, (2 * OSCILLATION_FACTOR + OSCILLATION_FACTOR_LAST) / SCALE,
    OSCILLATION_FACTOR*(OSCILLATION_FACTOR + 2 * OSCILLATION_FACTOR_LAST) / SCALE,
    OSCILLATION_FACTOR* OSCILLATION_FACTOR* OSCILLATION_FACTOR_LAST / SCALE, 0};
/* Weights of the four states for a spring whose oscillation the step length resolves: implicitness theta = 1/2
 * (drives.md, M10).
 */
static const BushingTimeWeights WEIGHTS_RESOLVED = {0.25, 0.5, 0.25, 0, 0};

/* Returns true if this step and the two steps before it have the same length and none of these lengths depends on the
 * state. */
static bool has_equal_steps(const StepClock* c) {
  return c->dt_older > 0 && is_step_length(c, c->dt_before) && is_step_length(c, c->dt_older) && !c->dt_varies &&
         !c->before_varies && !c->older_varies;
}

BushingTimeWeights bushing_time_weights(const Sim* sim, int k, BushingTimeWeights* slope) {
  assert(k >= 0 && k < sim->model->bushing_count);
  const ModelBushing* bushing = &sim->model->bushings[k];
  bool keeps = sim->model->simulation.integrator == INTEGRATOR_MOMENTUM && bushing->home >= 0;
  if (!keeps || sim->weights.factor != 1 || !has_equal_steps(&sim->clock)) {
    SpringTimeWeights at = spring_time_weights(&sim->clock, &sim->weights, bushing->theta, true);
    SpringTimeWeights by = spring_time_weights_derivative(&sim->clock, &sim->weights, bushing->theta, true);
    *slope = (BushingTimeWeights){-by.now - by.old, by.now, by.old, 0, by.missing};
    return (BushingTimeWeights){spring_weight_of_end(&at), at.now, at.old, 0, at.missing};
  }
  const BushingTimeWeights *from = &WEIGHTS_RESOLVED, *to = &WEIGHTS_UNRESOLVED;
  double part = 2 * bushing->theta - 1;
  *slope = (BushingTimeWeights){2 * (to->ahead - from->ahead), 2 * (to->now - from->now), 2 * (to->old - from->old),
                                2 * to->older, 0};
  return (BushingTimeWeights){from->ahead + part * (to->ahead - from->ahead), from->now + part * (to->now - from->now),
                              from->old + part * (to->old - from->old), part * to->older, 0};
}

/* Sets the factors of the rate of bushing k. The first step uses its own rate alone. */
static void set_rate_weights(Sim* sim, int k) {
  double theta = sim->model->bushings[k].damper_theta, before = sim->clock.dt_before;
  double past = before > 0 ? 1 - theta : 0;
  sim->bushings->rate_now[k] = (1 - past) * sim->weights.rate_now;
  sim->bushings->rate_old[k] = (1 - past) * sim->weights.rate_old - (past > 0 ? past / before : 0);
}

void bushings_prepare_step(Sim* sim) {
  BushingSystem* s = sim->bushings;
  for (int k = 0; s && k < s->model->bushing_count; k++) {
    const SceneBushing* source = s->model->bushings[k].source;
    BushingTimeWeights slope;
    s->at[k] = bushing_time_weights(sim, k, &slope);
    set_rate_weights(sim, k);
    bushing_difference(source, sim->pose_now, s->now[k]);
    bushing_difference(source, sim->pose_old, s->old[k]);
    bushing_difference(source, sim->pose_older, s->older[k]);
  }
}

/* Sets out to the weighted mean, over the states, of the displacement at which the springs of bushing k act (L20). u:
 * displacement at t + dt. */
static void weighted_displacement(const BushingSystem* s, int k, const double u[6], double out[6]) {
  const BushingTimeWeights* at = &s->at[k];
  for (int i = 0; i < 6; i++)
    out[i] = at->ahead * u[i] + at->now * s->now[k][i] + at->old * s->old[k][i] + at->older * s->older[k][i];
}

static void displacement_rate(const BushingSystem* s, int k, const double u[6], double out[6]) {
  for (int i = 0; i < 6; i++)
    out[i] = s->rate_now[k] * (u[i] - s->now[k][i]) - s->rate_old[k] * (s->now[k][i] - s->old[k][i]);
}

static double product(const double x[6], const double y[6]) {
  double sum = 0;
  for (int i = 0; i < 6; i++) sum += x[i] * y[i];
  return sum;
}

void bushings_energies(const BushingSystem* s, const Pose* poses, double* energies) {
  assert(s && poses && energies);
  for (int k = 0; k < s->model->bushing_count; k++) {
    const SceneBushing* b = s->model->bushings[k].source;
    double u[6], place[6], rate[6], pull[6], drag[6];
    bushing_difference(b, poses, u);
    weighted_displacement(s, k, u, place);
    displacement_rate(s, k, u, rate);
    bushing_times(b->stiffness, place, pull);
    bushing_times(b->damping, rate, drag);
    double spring = 0.5 * product(place, pull) / s->at[k].ahead - product(b->preload, u);
    energies[k] = (1 - s->at[k].missing) * spring + 0.5 * product(rate, drag) / s->rate_now[k];
    if (bushing_rotation(b, u) > BUSHING_ROTATION_MAX) energies[k] = INFINITY;
  }
}

void bushing_spring_gradient(const BushingSystem* s, int k, const double u[6], double energy_gradient[6]) {
  assert(k >= 0 && k < s->model->bushing_count);
  const SceneBushing* b = s->model->bushings[k].source;
  double place[6];
  weighted_displacement(s, k, u, place);
  bushing_times(b->stiffness, place, energy_gradient);
  for (int i = 0; i < 6; i++) energy_gradient[i] = (1 - s->at[k].missing) * (energy_gradient[i] - b->preload[i]);
}

double bushing_rounding(const BushingSystem* s, int k) {
  assert(k >= 0 && k < s->model->bushing_count);
  const BushingTerm* t = &s->term[k];
  double size = vec3_norm(t->frame[0].t) + vec3_norm(t->frame[1].t);
  return BUSHING_POSITION_ROUNDING *
         (vec3_norm(vec3_at(t->energy_gradient)) * size + vec3_norm(vec3_at(t->energy_gradient + 3)));
}

/* Adds factor times a 3x3 block to h at (row, column). If row and column differ, also adds the transpose of the block
 * at (column, row). */
static void add_block(double h[12][12], int row, int column, double factor, Mat3 block) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      h[row + i][column + j] += factor * block.m[i][j];
      if (row != column) h[column + j][row + i] += factor * block.m[i][j];
    }
}

/* Returns the second derivative of g . (r rotated by the rotation vector w) with respect to w at w = 0. */
static Mat3 rotation_curvature_of_vector(Vec3 g, Vec3 r) {
  Mat3 out = mat3_scale(mat3_add(mat3_outer(g, r), mat3_outer(r, g)), 0.5);
  return mat3_sub(out, mat3_scale(mat3_identity(), vec3_dot(g, r)));
}

/* Returns the sum over i of torque_i times the second derivative of component i of the rotation vector phi between both
 * frames. The derivative is with respect to a small rotation vector of link b in the axes of its frame. phi->second
 * refers to three successive rotations, so the second-order terms of their product are subtracted. */
static Mat3 rotation_curvature(const RotationVector* phi, const double torque[3]) {
  Mat3 out = mat3_zero();
  double by[3] = {0, 0, 0};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      by[j] += 0.5 * torque[i] * phi->first[i][j];
      for (int k = 0; k < 3; k++) out.m[j][k] += torque[i] * phi->second[i][j][k];
    }
  const double less[3] = {by[2], -by[1], by[0]};
  for (int n = 0; n < 3; n++) {
    int j = n == 2, k = n == 0 ? 1 : 2;
    out.m[j][k] -= less[n];
    out.m[k][j] -= less[n];
  }
  return out;
}

static void set_displacement_jacobian(BushingTerm* t, Mat3 by_turn, Vec3 lever) {
  Mat3 back = mat3_transpose(t->frame[0].r);
  Mat3 turn[2] = {mat3_mul(back, mat3_cross(lever)), mat3_scale(mat3_mul(back, mat3_cross(t->arm[1])), -1)};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      for (int side = 0; side < 2; side++) {
        double sign = side == 0 ? -1 : 1;
        t->slope[i][6 * side + j] = turn[side].m[i][j];
        t->slope[i][6 * side + 3 + j] = sign * back.m[i][j];
        t->slope[3 + i][6 * side + j] = sign * by_turn.m[i][j];
        t->slope[3 + i][6 * side + 3 + j] = 0;
      }
}

/* Sets t->hessian to slope^T H slope. slope: derivative of the displacement u with respect to both twists; H:
 * t->energy_hessian. */
static void set_gauss_newton_hessian(BushingTerm* t) {
  double half[6][12];
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 12; j++) {
      half[i][j] = 0;
      for (int k = 0; k < 6; k++) half[i][j] += t->energy_hessian[i][k] * t->slope[k][j];
    }
  for (int i = 0; i < 12; i++)
    for (int j = 0; j < 12; j++) {
      t->hessian[i][j] = 0;
      for (int k = 0; k < 6; k++) t->hessian[i][j] += t->slope[k][i] * half[k][j];
    }
}

/* Adds the force times the second derivative of the bushing's displacement to the Hessian. g: force at b's frame;
 * torque: torque on b; lever: vector from a's centre of mass to the origin of b's frame; all in world axes. */
static void add_displacement_curvature(BushingTerm* t, const RotationVector* phi, Vec3 g, Vec3 torque, Vec3 lever) {
  Mat3 cross = mat3_cross(g), r = t->frame[1].r;
  Mat3 turn = mat3_mul(r, mat3_mul(rotation_curvature(phi, t->energy_gradient + 3), mat3_transpose(r)));
  add_block(t->hessian, 0, 0, 1, mat3_add(rotation_curvature_of_vector(g, lever), turn));
  add_block(t->hessian, 6, 6, 1, mat3_add(rotation_curvature_of_vector(g, t->arm[1]), turn));
  add_block(t->hessian, 0, 3, -1, cross);
  add_block(t->hessian, 0, 9, 1, cross);
  Mat3 both = mat3_mul(cross, mat3_cross(t->arm[1]));
  add_block(t->hessian, 0, 6, -1, mat3_add(mat3_add(both, turn), mat3_scale(mat3_cross(torque), -0.5)));
}

static void assemble_bushing(BushingSystem* s, int k, const Pose* poses, const Vec3* reference) {
  const SceneBushing* b = s->model->bushings[k].source;
  BushingTerm* t = &s->term[k];
  double u[6], rate[6], drag[6];
  bushing_difference(b, poses, u);
  displacement_rate(s, k, u, rate);
  bushing_spring_gradient(s, k, u, t->energy_gradient);
  bushing_times(b->damping, rate, drag);
  double ahead = (1 - s->at[k].missing) * s->at[k].ahead;
  for (int i = 0; i < 6; i++) {
    t->energy_gradient[i] += drag[i];
    for (int j = 0; j < 6; j++)
      t->energy_hessian[i][j] = ahead * b->stiffness[i][j] + s->rate_now[k] * b->damping[i][j];
  }
  for (int side = 0; side < 2; side++) {
    t->frame[side] = bushing_frame(b, side, poses);
    t->arm[side] = vec3_sub(t->frame[side].t, b->link[side] < 0 ? vec3(0, 0, 0) : reference[b->link[side]]);
  }
  RotationVector phi =
      rotation_vector_derivatives(quat_from_mat3(mat3_mul(mat3_transpose(t->frame[0].r), t->frame[1].r)));
  Mat3 first;
  memcpy(first.m, phi.first, sizeof first.m);
  Mat3 by_turn = mat3_mul(first, mat3_transpose(t->frame[1].r));
  Vec3 lever = vec3_add(t->arm[0], vec3_sub(t->frame[1].t, t->frame[0].t));
  Vec3 g = mat3_mul_vec(t->frame[0].r, vec3_at(t->energy_gradient)),
       torque = mat3_tmul_vec(by_turn, vec3_at(t->energy_gradient + 3));
  set_displacement_jacobian(t, by_turn, lever);
  set_gauss_newton_hessian(t);
  if (!s->convex) add_displacement_curvature(t, &phi, g, torque, lever);
  for (int side = 0; side < 2; side++) {
    double sign = side == 0 ? -1 : 1;
    Vec3 about = vec3_add(vec3_cross(side == 0 ? lever : t->arm[1], g), torque);
    t->force[side] = vec3_scale(g, sign);
    t->moment[side] = mat3_scale(mat3_cross(about), 0.5 * sign);
  }
}

void bushings_assemble(BushingSystem* s, const Pose* poses, const Vec3* reference) {
  assert(s && poses && reference);
  for (int k = 0; k < s->model->bushing_count; k++) assemble_bushing(s, k, poses, reference);
  s->convex = false;
}

static int term_count(const void* holder) { return ((const BushingSystem*)holder)->model->bushing_count; }

static ContactTerms term_at(const void* holder, int index) {
  const BushingSystem* s = holder;
  const BushingTerm* t = &s->term[index];
  const int* link = s->model->bushings[index].source->link;
  return (ContactTerms){link[0], link[1], t->force, t->moment, t->hessian, false, false};
}

ContactTermList bushings_terms(const BushingSystem* s) {
  return s ? (ContactTermList){s, term_count, term_at} : (ContactTermList){0};
}

void bushings_add_force(const BushingSystem* s, const Vec3* reference, const Screw* screws, double* force) {
  for (int k = 0; s && k < s->model->bushing_count; k++)
    for (int side = 0; side < 2; side++) {
      const BushingTerm* t = &s->term[k];
      int link = s->model->bushings[k].source->link[side];
      if (link < 0) continue;
      model_add_generalized_force(s->model, link, screws, reference[link], vec3_scale(t->force[side], -1),
                                  vec3_scale(mat3_axial(t->moment[side]), -1), force);
    }
}
