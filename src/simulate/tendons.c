/* Energies, forces and Hessians of tendons in a step (docs/derivations/loads.md, L5-L6, L8, L94, L95, L97). */
#include "simulate/tendons.h"

#include <assert.h>
#include <float.h>
#include <string.h>

#include "simulate/signal_span.h"

/* Relative rounding error of a length. The product of a length's error and a force is the rounding error of a tendon's
 * energy. */
#define LENGTH_ROUNDING_ERROR (16 * DBL_EPSILON)

/* ---------------------------------------------------------------- creation */

/* Returns the number of links that a tendon acts on: one for each point, wrap and joint. */
static int count_link_entries(const SceneTendon* tendon) {
  return tendon->count + tendon->wrap_count + tendon->joint_count;
}
static int link_of_entry(const SceneTendon* tendon, int index) {
  if (index < tendon->count) return tendon->points[index].link;
  index -= tendon->count;
  return index < tendon->wrap_count ? tendon->wraps[index].link : tendon->joints[index - tendon->wrap_count].link;
}

/* Lists in dof the degrees of freedom that change the tendon's length, each once. dof may be NULL to count only.
 * seen[nv]: workspace. Returns their number. */
static int list_dofs(const Model* m, const SceneTendon* tendon, bool* seen, int* dof) {
  int count = 0;
  memset(seen, 0, sizeof(bool) * (size_t)m->dof_count);
  for (int i = 0; i < tendon->joint_count; i++, count++) {
    if (dof) dof[count] = tendon_dof(m, &tendon->joints[i]);
    seen[tendon_dof(m, &tendon->joints[i])] = true;
  }
  for (int i = 0; i < tendon->count + tendon->wrap_count; i++)
    for (int up = link_of_entry(tendon, i); up >= 0; up = m->links[up].parent)
      for (int d = m->links[up].dof_first; d < m->links[up].dof_first + m->links[up].dof_count; d++) {
        if (!seen[d] && dof) dof[count] = d;
        count += !seen[d];
        seen[d] = true;
      }
  return count;
}

static void create_dof_lists(TendonSystem* s) {
  const Model* m = s->model;
  bool* seen = MEMORY_NEW(bool, m->dof_count);
  s->dof_first = MEMORY_NEW(int, m->tendon_count + 1);
  s->first = MEMORY_NEW(int, m->tendon_count + 1);
  for (int k = 0; k < m->tendon_count; k++) {
    s->dof_first[k + 1] = s->dof_first[k] + list_dofs(m, m->tendons[k].source, seen, NULL);
    s->first[k + 1] = s->first[k];
    for (int i = 0; i + 1 < m->tendons[k].source->count; i++) s->first[k + 1] += tendon_terms(m->tendons[k].source, i);
  }
  s->count = s->first[m->tendon_count];
  s->dof = MEMORY_NEW(int, s->dof_first[m->tendon_count]);
  s->slope = MEMORY_NEW(double, s->dof_first[m->tendon_count]);
  s->tendon = MEMORY_NEW(int, s->count);
  for (int k = 0; k < m->tendon_count; k++) {
    list_dofs(m, m->tendons[k].source, seen, s->dof + s->dof_first[k]);
    for (int n = s->first[k]; n < s->first[k + 1]; n++) s->tendon[n] = k;
  }
  memory_free(seen);
}

static void create_terms(TendonSystem* s) {
  s->segment = MEMORY_NEW(TendonSegment, s->count);
  TendonSegment* next = s->segment;
  for (int k = 0; k < s->model->tendon_count; k++) {
    const SceneTendon* tendon = s->model->tendons[k].source;
    for (int i = 0; i + 1 < tendon->count; i++) {
      const SceneTendonWrap* wrap = scene_tendon_wrap(tendon, i);
      int a = tendon->points[i].link, b = tendon->points[i + 1].link;
      for (int side = 0; wrap && side < 2; side++, next++) {
        next->link[0] = side == 0 ? a : b;
        next->link[1] = wrap->link;
      }
      next->link[0] = a;
      next->link[1] = b;
      next++;
    }
  }
}

static void create_tree_pairs(TendonSystem* s) {
  const Model* m = s->model;
  int capacity = 0;
  for (int k = 0; k < m->tendon_count; k++) {
    const SceneTendon* tendon = m->tendons[k].source;
    for (int i = 0; i < count_link_entries(tendon); i++)
      for (int j = 0; j < i; j++) {
        int a = link_of_entry(tendon, i), b = link_of_entry(tendon, j);
        a = a < 0 ? -1 : m->links[a].tree;
        b = b < 0 ? -1 : m->links[b].tree;
        if (a < 0 || b < 0 || a == b) continue;
        uint64_t low = (uint64_t)(a < b ? a : b), high = (uint64_t)(a < b ? b : a);
        s->pairs = memory_grow_array(s->pairs, sizeof(uint64_t), s->pair_count, &capacity);
        s->pairs[s->pair_count++] = low << 32 | high;
      }
  }
  s->pair_count = sort_unique_uint64(s->pairs, s->pair_count);
}

TendonSystem* tendons_create(const Model* m) {
  if (m->tendon_count == 0) return NULL;
  TendonSystem* s = MEMORY_NEW(TendonSystem, 1);
  s->model = m;
  s->tension = MEMORY_NEW(double, m->tendon_count);
  s->past = MEMORY_NEW(double, m->tendon_count);
  s->now = MEMORY_NEW(double, m->tendon_count);
  s->old = MEMORY_NEW(double, m->tendon_count);
  s->at = MEMORY_NEW(SpringTimeWeights, m->tendon_count);
  s->pull = MEMORY_NEW(double, m->tendon_count);
  s->force_magnitude = MEMORY_NEW(double, m->tendon_count);
  s->extent = MEMORY_NEW(double, m->tendon_count);
  s->stretched = MEMORY_NEW(CouplingTerms, m->tendon_count);
  s->place = MEMORY_NEW(int, m->dof_count);
  create_dof_lists(s);
  create_terms(s);
  create_tree_pairs(s);
  return s;
}

void tendons_destroy(TendonSystem* s) {
  if (!s) return;
  void* owned[] = {s->tension,   s->past,  s->now,       s->old,   s->at,  s->pull,  s->force_magnitude, s->extent,
                   s->stretched, s->place, s->dof_first, s->first, s->dof, s->slope, s->tendon,          s->segment,
                   s->pairs,     s};
  for (size_t k = 0; k < sizeof(owned) / sizeof(owned[0]); k++) memory_free(owned[k]);
}

/* ---------------------------------------------------------------- energy of a tendon */

void tendons_prepare_step(Sim* sim) {
  TendonSystem* s = sim->tendons;
  StepSpan span = step_span(sim, SIGNAL_IS_FORCE);
  for (int k = 0; s && k < s->model->tendon_count; k++) {
    const Signal* signal = &s->model->tendons[k].tension;
    double rate;
    s->tension[k] = 0;
    if (signal->source->channels > 0) step_signal_mean(signal, &span, &s->tension[k], &rate);
    const ModelTendon* tendon = &s->model->tendons[k];
    SpringTimeWeights at = s->at[k] = spring_time_weights(&sim->clock, &sim->weights, tendon->theta, true);
    s->past[k] = 0;
    s->rate_now = sim->weights.rate_now;
    s->rate_old = sim->weights.rate_old;
    bool resists = tendon_resists(tendon->source);
    if (at.now > 0 || resists || sim->internal_forces)
      s->now[k] = tendon_length(s->model, tendon->source, sim->pose_now, sim->q_now);
    if (at.old > 0 || resists) s->old[k] = tendon_length(s->model, tendon->source, sim->pose_old, sim->q_old);
    if (at.now > 0) s->past[k] = at.now * s->now[k];
    if (at.old > 0) s->past[k] += at.old * s->old[k];
  }
}

double tendon_weighted_stretch(const TendonSystem* s, int k, double length) {
  assert(k >= 0 && k < s->model->tendon_count);
  return tendon_stretch(s->model->tendons[k].source, spring_weight_of_end(&s->at[k]) * length + s->past[k]);
}

/* Returns the fraction of the damping that acts beyond one limit: a cubic from 0 at the limit to 1 at the margin.
 * excess: distance of the length at t beyond the limit [m]. Sets *slope to the derivative of this fraction with respect
 * to `excess`. */
static double damping_fraction(double excess, double margin, double* slope) {
  double x = fmin(fmax(excess / margin, 0), 1);
  *slope = 6 * x * (1 - x) / margin;
  return x * x * (3 - 2 * x);
}

/* Returns the energy of the limits on a tendon's length and its derivatives. */
static LimitEnergy range_energy(const SceneTendon* tendon, double length) {
  Limits limits = {LIMIT_PENALTY, tendon->lower, tendon->upper, tendon->range_stiffness, tendon->range_margin, 0};
  LimitEnergy law;
  (void)limits_energy(&limits, length, &law); /* a penalty law never fails */
  return law;
}

/* Returns the energy, the force and the stiffness of the limits on a tendon's length, and the derivatives of the force
 * with respect to earlier lengths (L94). rate: of the length [m/s]. */
static TendonLimit length_limit(const TendonSystem* s, int k, double length, double rate) {
  const SceneTendon* tendon = s->model->tendons[k].source;
  LimitEnergy law = range_energy(tendon, length);
  double a = s->rate_now, b = s->rate_old, low, high;
  double share = damping_fraction(s->now[k] - tendon->upper, tendon->range_margin, &high) +
                 damping_fraction(tendon->lower - s->now[k], tendon->range_margin, &low);
  double damping = tendon->range_damping * share, by_share = tendon->range_damping * rate;
  return (TendonLimit){law.value + 0.5 * damping / a * rate * rate,
                       law.first + damping * rate,
                       law.second + a * damping,
                       fabs(law.first) + fabs(damping * rate),
                       by_share * (high - low) - (a + b) * damping,
                       b * damping,
                       0};
}

TendonStartPull tendon_start_pull(const TendonSystem* s, int k) {
  assert(k >= 0 && k < s->model->tendon_count);
  const SceneTendon* tendon = s->model->tendons[k].source;
  LimitEnergy law = tendon->limited ? range_energy(tendon, s->now[k]) : (LimitEnergy){0};
  TendonStartPull out = {.stretch = tendon_stretch(tendon, s->now[k])};
  double stiffness = out.stretch > 0 ? tendon->stiffness : 0, part = 1 - s->at[k].missing;
  out.target = s->tension[k] + tendon->stiffness * out.stretch + law.first;
  out.step = s->tension[k] + part * tendon->stiffness * out.stretch + law.first;
  out.target_by_length = stiffness + law.second;
  out.step_by_length = part * stiffness + law.second;
  return out;
}

/* Adds the friction energy F / a (sqrt(r^2 + v^2) - v), its force and the derivatives of this force. r: rate of the
 * length; the friction law is the same as for joints (drives.md, M5, L97). */
static void add_friction(const TendonSystem* s, int k, double rate, TendonLimit* out) {
  const SceneTendon* tendon = s->model->tendons[k].source;
  double a = s->rate_now, b = s->rate_old, force = tendon->friction, speed = tendon->friction_speed;
  double root = sqrt(rate * rate + speed * speed), by_rate = force * (speed / root) * (speed / root) / root;
  out->value += force / a * (rate * rate / (root + speed));
  out->by_friction = rate / root;
  out->first += force * out->by_friction;
  out->second += a * by_rate;
  out->force_magnitude += force * fabs(out->by_friction);
  out->by_now -= (a + b) * by_rate;
  out->by_old += b * by_rate;
}

TendonLimit tendon_limit(const TendonSystem* s, int k, double length) {
  assert(k >= 0 && k < s->model->tendon_count);
  const SceneTendon* tendon = s->model->tendons[k].source;
  TendonLimit out = {0};
  if (!tendon_resists(tendon)) return out;
  double rate = s->rate_now * (length - s->now[k]) - s->rate_old * (s->now[k] - s->old[k]);
  if (tendon->limited) out = length_limit(s, k, length, rate);
  if (tendon->friction > 0) add_friction(s, k, rate, &out);
  return out;
}

void tendons_energies(const TendonSystem* s, const Pose* poses, const double* q, double* energies) {
  assert(s && poses && q && energies);
  for (int k = 0; k < s->model->tendon_count; k++) {
    const SceneTendon* tendon = s->model->tendons[k].source;
    double length = tendon_length(s->model, tendon, poses, q), stretch = tendon_weighted_stretch(s, k, length);
    double stiffness = (1 - s->at[k].missing) * tendon->stiffness / spring_weight_of_end(&s->at[k]);
    energies[k] = s->tension[k] * length + 0.5 * stiffness * stretch * stretch + tendon_limit(s, k, length).value;
  }
}

double tendon_rounding(const TendonSystem* s, int k) {
  assert(k >= 0 && k < s->model->tendon_count);
  return LENGTH_ROUNDING_ERROR * s->force_magnitude[k] * s->extent[k];
}

/* ---------------------------------------------------------------- forces and Hessian of a tendon (L6) */

/* Sets slope to sign times the derivative of a link point's velocity with respect to the twist of the link. arm: vector
 * from the link's centre of mass to the point. */
static void velocity_jacobian(Vec3 arm, double sign, double slope[3][6]) {
  /* the velocity by a rotation w is w x arm, minus the cross product matrix of arm times w */
  Mat3 turn = mat3_scale(mat3_cross(arm), -sign);
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) {
      slope[i][k] = turn.m[i][k];
      slope[i][3 + k] = i == k ? sign : 0;
    }
}

/* Sets t->hessian to the tendon force times the second derivative of the segment's length with respect to the twists of
 * both links. */
static void set_hessian(TendonSegment* t, double pull) {
  double slope[3][12], of[3][6];
  for (int side = 0; side < 2; side++) {
    velocity_jacobian(t->arm[side], side == 0 ? 1 : -1, of);
    for (int i = 0; i < 3; i++) memcpy(slope[i] + 6 * side, of[i], sizeof of[i]);
  }
  for (int j = 0; j < 12; j++) {
    Vec3 column = vec3(slope[0][j], slope[1][j], slope[2][j]);
    Vec3 curved = vec3_scale(mat3_mul_vec(t->curvature, column), pull);
    for (int i = 0; i < 12; i++)
      t->hessian[i][j] = slope[0][i] * curved.x + slope[1][i] * curved.y + slope[2][i] * curved.z;
  }
}

static Vec3 lever_arm(int link, Vec3 at, const Vec3* reference) {
  return vec3_sub(at, link < 0 ? vec3(0, 0, 0) : reference[link]);
}

static void set_straight_term(TendonSegment* t, const Vec3 end[2], double eyelet, const Vec3* reference) {
  for (int side = 0; side < 2; side++) t->arm[side] = lever_arm(t->link[side], end[side], reference);
  TendonPiece piece = tendon_piece(vec3_sub(end[0], end[1]), eyelet);
  t->slope = piece.slope;
  t->curvature = piece.curvature;
}

static void set_forces_and_hessian(TendonSegment* t, double pull) {
  for (int side = 0; side < 2; side++) {
    t->force[side] = vec3_scale(t->slope, side == 0 ? pull : -pull);
    t->moment[side] = mat3_outer(t->force[side], t->arm[side]);
  }
  set_hessian(t, pull);
}

/* Adds the terms to the Hessian that arise because the direction t->slope rotates with the wrap. */
static void add_wrap_rotation_hessian(TendonSegment* t, double pull) {
  double of[2][3][6];
  Mat3 cross = mat3_cross(t->slope);
  velocity_jacobian(t->arm[0], 1, of[0]);
  velocity_jacobian(t->arm[1], -1, of[1]);
  for (int i = 0; i < 3; i++)
    for (int side = 0; side < 2; side++)
      for (int j = 0; j < 6; j++) {
        double value = 0;
        for (int k = 0; k < 3; k++) value += pull * cross.m[i][k] * of[side][k][j];
        t->hessian[6 + i][6 * side + j] += value;
        t->hessian[6 * side + j][6 + i] += value;
      }
}

/* Adds pull u^T C v to the 6 x 6 block of the Hessian at (row, column), and its transpose at (column, row). u, v:
 * derivatives of a point's displacement with respect to a twist; C: curvature matrix of the length. */
static void add_hessian_block(TendonSegment* t, int row, int column, const Mat3* c, const double (*u)[6],
                              const double (*v)[6], double pull) {
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) {
      double value = 0;
      for (int r = 0; r < 3; r++)
        for (int k = 0; k < 3; k++) value += pull * u[r][i] * c->m[r][k] * v[k][j];
      t->hessian[row + i][column + j] += value;
      t->hessian[column + j][row + i] += value;
    }
}

/* Sets the three terms of a wrapped segment (L8): one between each end and the wrap, and one between the two ends. */
static void set_wrapped_terms(TendonSegment t[3], const TendonWrap* path, const Vec3 end[2], double pull,
                              const Vec3* reference) {
  double of[2][2][3]
           [6]; /* for each end: derivatives with respect to the twists of its own link and of the wrap's link */
  for (int k = 0; k < 2; k++) {
    t[k].slope = path->slope[k];
    t[k].curvature = path->curvature[k];
    for (int side = 0; side < 2; side++) {
      t[k].arm[side] = lever_arm(t[k].link[side], end[k], reference);
      velocity_jacobian(t[k].arm[side], side == 0 ? 1 : -1, of[k][side]);
    }
    set_forces_and_hessian(&t[k], pull);
    add_wrap_rotation_hessian(&t[k], pull);
  }
  TendonSegment* both = &t[2];
  both->slope = vec3(0, 0, 0);
  both->curvature = mat3_zero();
  for (int side = 0; side < 2; side++) both->arm[side] = t[side].arm[0];
  set_forces_and_hessian(both, 0);
  const Mat3 *cross = &path->curvature[2], mirrored = mat3_transpose(*cross);
  add_hessian_block(both, 0, 6, cross, of[0][0], of[1][0], pull);
  add_hessian_block(&t[0], 0, 6, cross, of[0][0], of[1][1], pull);
  add_hessian_block(&t[1], 0, 6, &mirrored, of[1][0], of[0][1], pull);
  add_hessian_block(&t[1], 6, 6, cross, of[0][1], of[1][1], pull);
}

/* Sets the terms of the segment from a point of tendon k to the next point. Returns the number of terms. */
static int set_segment_terms(const TendonSystem* s, int k, int point, int term, const Pose* poses,
                             const Vec3* reference) {
  assert(point >= 0 && term >= 0);
  const SceneTendon* tendon = s->model->tendons[k].source;
  const SceneTendonWrap* wrap = scene_tendon_wrap(tendon, point);
  TendonSegment* t = &s->segment[term];
  Vec3 end[2] = {tendon_point(&tendon->points[point], poses), tendon_point(&tendon->points[point + 1], poses)};
  TendonWrap path = {0};
  if (wrap) path = tendon_wrap(wrap, tendon_wrap_pose(wrap, poses), end[0], end[1]);
  if (path.touches) {
    set_wrapped_terms(t, &path, end, s->pull[k], reference);
    return TENDON_TERMS_WRAPPED;
  }
  for (int n = 0; wrap && n < 2; n++, t++) {
    t->slope = vec3(0, 0, 0);
    t->curvature = mat3_zero();
    for (int side = 0; side < 2; side++) t->arm[side] = lever_arm(t->link[side], end[n], reference);
    set_forces_and_hessian(t, 0);
  }
  set_straight_term(t, end, tendon->eyelet, reference);
  set_forces_and_hessian(t, s->pull[k]);
  return tendon_terms(tendon, point);
}

/* Adds slope . (velocity of the link's world point x at a unit rate of dof) to out[at[dof]] for each dof that moves the
 * link. at NULL: adds to out[dof]. */
static void add_point_derivatives(const Model* m, int link, Vec3 slope, Vec3 x, const Screw* screws, const int* at,
                                  double* out) {
  for (int up = link; up >= 0; up = m->links[up].parent)
    for (int d = m->links[up].dof_first; d < m->links[up].dof_first + m->links[up].dof_count; d++)
      out[at ? at[d] : d] += vec3_dot(slope, screw_velocity(&screws[d], x));
}

/* Adds slope . (velocity of a wrap's point at a unit rate of dof) to out[at[dof]], for all wraps of tendon k. at
 * NULL: adds to out[dof]. */
static void add_wrap_derivatives(const TendonSystem* s, int k, double factor, const Pose* poses, const Screw* screws,
                                 const int* at, double* out) {
  const SceneTendon* tendon = s->model->tendons[k].source;
  const TendonSegment* t = &s->segment[s->first[k]];
  for (int i = 0; i + 1 < tendon->count; t += tendon_terms(tendon, i), i++)
    for (int side = 0; side < 2 && tendon->points[i].wrap > 0; side++)
      add_point_derivatives(s->model, t[side].link[1], vec3_scale(t[side].slope, -factor),
                            tendon_point(&tendon->points[i + side], poses), screws, at, out);
}

/* Adds factor times the derivative of the length of tendon k with respect to each degree of freedom to out[at[dof]],
 * for the points and the wraps of the tendon but not for its joints. at NULL: adds to out[dof]. */
static void add_path_derivatives(const TendonSystem* s, int k, double factor, const Pose* poses, const Screw* screws,
                                 const int* at, double* out) {
  const SceneTendon* tendon = s->model->tendons[k].source;
  const TendonSegment* t = &s->segment[s->first[k]];
  Vec3 before =
      vec3(0, 0, 0); /* minus the derivative of the length of the previous segment with respect to its end point */
  for (int i = 0; i < tendon->count; i++) {
    Vec3 x = tendon_point(&tendon->points[i], poses), slope = vec3(0, 0, 0), end = slope;
    if (i + 1 < tendon->count) {
      bool wrap = tendon->points[i].wrap > 0;
      slope = wrap ? vec3_add(t[0].slope, t[2].slope) : t->slope;
      end = wrap ? vec3_sub(t[2].slope, t[1].slope) : t->slope;
      t += tendon_terms(tendon, i);
    }
    if (i > 0) slope = vec3_sub(slope, before);
    before = end;
    add_point_derivatives(s->model, tendon->points[i].link, vec3_scale(slope, factor), x, screws, at, out);
  }
  if (tendon->wrap_count > 0) add_wrap_derivatives(s, k, factor, poses, screws, at, out);
}

/* Sets the stiffness term of tendon k. stiffness: derivative of the tendon force with respect to the length [N/m].
 * */
static void set_stiffness_term(TendonSystem* s, int k, double stiffness, const Pose* poses, const Screw* screws) {
  const SceneTendon* tendon = s->model->tendons[k].source;
  int first = s->dof_first[k], count = s->dof_first[k + 1] - first;
  s->stretched[k] = (CouplingTerms){0};
  if (!(stiffness > 0)) return;
  for (int n = 0; n < count; n++) {
    s->place[s->dof[first + n]] = n;
    s->slope[first + n] = 0;
  }
  add_path_derivatives(s, k, 1, poses, screws, s->place, s->slope + first);
  for (int i = 0; i < tendon->joint_count; i++) s->slope[first + i] = tendon->joints[i].ratio;
  s->stretched[k] = (CouplingTerms){count, s->dof + first, s->slope + first, 0, stiffness};
}

static void assemble_tendon(TendonSystem* s, int k, const Pose* poses, const double* q, const Vec3* reference,
                            const Screw* screws) {
  const SceneTendon* tendon = s->model->tendons[k].source;
  double length = tendon_length(s->model, tendon, poses, q), stretch = tendon_weighted_stretch(s, k, length);
  double spring = (1 - s->at[k].missing) * tendon->stiffness;
  TendonLimit limit = tendon_limit(s, k, length);
  s->pull[k] = s->tension[k] + spring * stretch + limit.first;
  s->force_magnitude[k] =
      tendon_resists(tendon) ? fabs(s->tension[k]) + spring * stretch + limit.force_magnitude : fabs(s->pull[k]);
  s->extent[k] = fabs(length);
  for (int i = 0, n = s->first[k]; i + 1 < tendon->count; i++) {
    n += set_segment_terms(s, k, i, n, poses, reference);
    s->extent[k] += vec3_norm(tendon_point(&tendon->points[i], poses));
  }
  set_stiffness_term(s, k, (stretch > 0 ? spring * spring_weight_of_end(&s->at[k]) : 0) + limit.second, poses, screws);
}

void tendons_assemble(TendonSystem* s, const Pose* poses, const double* q, const Vec3* reference, const Screw* screws) {
  assert(s && poses && q && reference && screws);
  for (int k = 0; k < s->model->tendon_count; k++) assemble_tendon(s, k, poses, q, reference, screws);
}

void tendons_add_joint_gradient(const TendonSystem* s, double* gradient) {
  for (int k = 0; s && k < s->model->tendon_count; k++)
    for (int i = 0; i < s->model->tendons[k].source->joint_count; i++) {
      const SceneCouplingTerm* joint = &s->model->tendons[k].source->joints[i];
      gradient[tendon_dof(s->model, joint)] += s->pull[k] * joint->ratio;
    }
}

void tendons_add_force_magnitudes(const TendonSystem* s, double* force_scale) {
  for (int k = 0; s && k < s->model->tendon_count; k++) {
    const SceneTendon* tendon = s->model->tendons[k].source;
    const CouplingTerms* t = &s->stretched[k];
    for (int i = 0; i < tendon->joint_count; i++)
      force_scale[tendon_dof(s->model, &tendon->joints[i])] += fabs(s->force_magnitude[k] * tendon->joints[i].ratio);
    for (int i = 0; tendon_resists(tendon) && tendon->joint_count == 0 && i < t->count; i++)
      force_scale[t->dof[i]] += (s->force_magnitude[k] - fabs(s->pull[k])) * fabs(t->slope[i]);
  }
}

static int term_count(const void* link_of_entry) { return ((const TendonSystem*)link_of_entry)->count; }

static ContactTerms term_at(const void* link_of_entry, int index) {
  const TendonSystem* s = link_of_entry;
  const TendonSegment* t = &s->segment[index];
  return (ContactTerms){t->link[0], t->link[1], t->force, t->moment, t->hessian, false, false};
}

ContactTermList tendons_terms(const TendonSystem* s) {
  return s ? (ContactTermList){s, term_count, term_at} : (ContactTermList){0};
}

void tendons_set_assembly_terms(const TendonSystem* s, Assembly* assembly) {
  if (!s) return;
  assembly->stretched = s->stretched;
  assembly->stretched_count = s->model->tendon_count;
}

/* Adds factor times the derivative of the length of tendon k with respect to each degree of freedom to out[nv], for the
 * points, the wraps and the joints of the tendon. */
static void add_length_derivatives(const TendonSystem* s, int k, double factor, const Pose* poses, const Screw* screws,
                                   double* out) {
  const SceneTendon* tendon = s->model->tendons[k].source;
  add_path_derivatives(s, k, factor, poses, screws, NULL, out);
  for (int i = 0; i < tendon->joint_count; i++)
    out[tendon_dof(s->model, &tendon->joints[i])] += factor * tendon->joints[i].ratio;
}

void tendon_add_slope(const TendonSystem* s, int k, const Pose* poses, const Screw* screws, double* slope) {
  assert(k >= 0 && k < s->model->tendon_count);
  add_length_derivatives(s, k, 1, poses, screws, slope);
}

void tendons_add_force(const TendonSystem* s, const Pose* poses, const Screw* screws, double* force) {
  for (int k = 0; s && k < s->model->tendon_count; k++) add_length_derivatives(s, k, -s->pull[k], poses, screws, force);
}
