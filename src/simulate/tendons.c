/* Tendons in a step (docs/derivations/loads.md, L5-L6). */
#include "simulate/tendons.h"

#include <float.h>
#include <string.h>

/* Roundings of a length that no energy can do without. */
#define LENGTH_ROUNDINGS (16 * DBL_EPSILON)

/* ---------------------------------------------------------------- what never changes */

/* The degrees of freedom that move a point of the tendon, each once; returns how many. dof NULL: counts only. */
static int list_dofs(const Model* m, const SceneTendon* tendon, bool* seen, int* dof) {
  int count = 0;
  memset(seen, 0, sizeof(bool) * (size_t)m->dof_count);
  for (int i = 0; i < tendon->count; i++)
    for (int up = tendon->points[i].link; up >= 0; up = m->links[up].parent)
      for (int d = m->links[up].dof_first; d < m->links[up].dof_first + m->links[up].dof_count; d++) {
        if (!seen[d] && dof) dof[count] = d;
        count += !seen[d];
        seen[d] = true;
      }
  return count;
}

static void create_lists(TendonSystem* s) {
  const Model* m = s->model;
  bool* seen = MEMORY_NEW(bool, m->dof_count);
  s->dof_first = MEMORY_NEW(int, m->tendon_count + 1);
  s->first = MEMORY_NEW(int, m->tendon_count + 1);
  for (int k = 0; k < m->tendon_count; k++) {
    s->dof_first[k + 1] = s->dof_first[k] + list_dofs(m, m->tendons[k].source, seen, NULL);
    s->first[k + 1] = s->first[k] + m->tendons[k].source->count - 1;
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

/* Every pair of different trees that a tendon passes. */
static void create_pairs(TendonSystem* s) {
  const Model* m = s->model;
  int capacity = 0;
  for (int k = 0; k < m->tendon_count; k++) {
    const SceneTendon* tendon = m->tendons[k].source;
    for (int i = 0; i < tendon->count; i++)
      for (int j = 0; j < i; j++) {
        int a = tendon->points[i].link, b = tendon->points[j].link;
        a = a < 0 ? -1 : m->links[a].tree;
        b = b < 0 ? -1 : m->links[b].tree;
        if (a < 0 || b < 0 || a == b) continue;
        uint64_t low = (uint64_t)(a < b ? a : b), high = (uint64_t)(a < b ? b : a);
        s->pairs = memory_grown(s->pairs, sizeof(uint64_t), s->pair_count, &capacity);
        s->pairs[s->pair_count++] = low << 32 | high;
      }
  }
  s->pair_count = order_distinct(s->pairs, s->pair_count);
}

TendonSystem* tendons_create(const Model* m) {
  if (m->tendon_count == 0) return NULL;
  TendonSystem* s = MEMORY_NEW(TendonSystem, 1);
  s->model = m;
  s->tension = MEMORY_NEW(double, m->tendon_count);
  s->past = MEMORY_NEW(double, m->tendon_count);
  s->at = MEMORY_NEW(SpringTime, m->tendon_count);
  s->pull = MEMORY_NEW(double, m->tendon_count);
  s->extent = MEMORY_NEW(double, m->tendon_count);
  s->stretched = MEMORY_NEW(CouplingTerms, m->tendon_count);
  s->place = MEMORY_NEW(int, m->dof_count);
  create_lists(s);
  s->segment = MEMORY_NEW(TendonSegment, s->count);
  create_pairs(s);
  return s;
}

void tendons_destroy(TendonSystem* s) {
  if (!s) return;
  void* owned[] = {s->tension, s->past, s->at,    s->pull,   s->extent,  s->stretched, s->place, s->dof_first,
                   s->first,   s->dof,  s->slope, s->tendon, s->segment, s->pairs,     s};
  for (size_t k = 0; k < sizeof(owned) / sizeof(owned[0]); k++) memory_free(owned[k]);
}

/* ---------------------------------------------------------------- energy */

void tendons_aim(Sim* sim) {
  TendonSystem* s = sim->tendons;
  for (int k = 0; s && k < s->model->tendon_count; k++) {
    const Signal* signal = &s->model->tendons[k].tension;
    double rate;
    s->tension[k] = 0;
    if (signal->source->channels > 0) signal_eval(signal, sim->clock.time, &s->tension[k], &rate);
    const ModelTendon* tendon = &s->model->tendons[k];
    SpringTime at = s->at[k] = spring_time(&sim->clock, &sim->weights, tendon->theta, true);
    s->past[k] = 0;
    if (at.now > 0) s->past[k] = at.now * tendon_length(tendon->source, sim->pose_now);
    if (at.old > 0) s->past[k] += at.old * tendon_length(tendon->source, sim->pose_old);
  }
}

double tendon_stretch_in_step(const TendonSystem* s, int k, double length) {
  return tendon_stretch(s->model->tendons[k].source, spring_ahead(&s->at[k]) * length + s->past[k]);
}

void tendons_energies(const TendonSystem* s, const Pose* poses, double* energies) {
  for (int k = 0; k < s->model->tendon_count; k++) {
    const SceneTendon* tendon = s->model->tendons[k].source;
    double length = tendon_length(tendon, poses), stretch = tendon_stretch_in_step(s, k, length);
    double stiffness = (1 - s->at[k].missing) * tendon->stiffness / spring_ahead(&s->at[k]);
    energies[k] = s->tension[k] * length + 0.5 * stiffness * stretch * stretch;
  }
}

double tendon_rounding(const TendonSystem* s, int k) { return LENGTH_ROUNDINGS * fabs(s->pull[k]) * s->extent[k]; }

/* ---------------------------------------------------------------- terms (L6) */

/* H += pull J^T C J, C the curvature, J the slope of d by both twists (w, v): +-(w x arm + v). */
static void set_hessian(TendonSegment* t, double pull) {
  double slope[3][12];
  for (int side = 0; side < 2; side++) {
    double sign = side == 0 ? 1 : -1;
    Mat3 turn = mat3_scale(mat3_cross(t->arm[side]), -sign); /* w x arm = -[arm]x w */
    for (int i = 0; i < 3; i++)
      for (int k = 0; k < 3; k++) {
        slope[i][6 * side + k] = turn.m[i][k];
        slope[i][6 * side + 3 + k] = i == k ? sign : 0;
      }
  }
  for (int j = 0; j < 12; j++) {
    Vec3 column = vec3(slope[0][j], slope[1][j], slope[2][j]);
    Vec3 own = vec3_scale(mat3_mul_vec(t->curvature, column), pull);
    for (int i = 0; i < 12; i++) t->hessian[i][j] = slope[0][i] * own.x + slope[1][i] * own.y + slope[2][i] * own.z;
  }
}

static void place_segment(TendonSegment* t, const SceneTendon* tendon, int index, const Pose* poses,
                          const Vec3* reference) {
  const SceneTendonPoint* point = &tendon->points[index];
  Vec3 end[2];
  for (int side = 0; side < 2; side++) {
    end[side] = tendon_point(&point[side], poses);
    t->arm[side] = vec3_sub(end[side], point[side].link < 0 ? vec3(0, 0, 0) : reference[point[side].link]);
  }
  TendonPiece piece = tendon_piece(vec3_sub(end[0], end[1]), tendon->eyelet);
  t->slope = piece.slope;
  t->curvature = piece.curvature;
}

static void set_terms(TendonSegment* t, double pull) {
  for (int side = 0; side < 2; side++) {
    t->force[side] = vec3_scale(t->slope, side == 0 ? pull : -pull);
    t->moment[side] = mat3_outer(t->force[side], t->arm[side]);
  }
  set_hessian(t, pull);
}

/* Slope of the length by a point. */
static Vec3 point_slope(const TendonSystem* s, int k, int point) {
  Vec3 sum = vec3(0, 0, 0);
  if (point < s->model->tendons[k].source->count - 1) sum = s->segment[s->first[k] + point].slope;
  if (point > 0) sum = vec3_sub(sum, s->segment[s->first[k] + point - 1].slope);
  return sum;
}

/* out[at[dof]] += factor x d length / d dof; at NULL: out[dof]. */
static void add_slope(const TendonSystem* s, int k, double factor, const Pose* poses, const Screw* screws,
                      const int* at, double* out) {
  const Model* m = s->model;
  const SceneTendon* tendon = m->tendons[k].source;
  for (int i = 0; i < tendon->count; i++) {
    Vec3 slope = vec3_scale(point_slope(s, k, i), factor), x = tendon_point(&tendon->points[i], poses);
    for (int up = tendon->points[i].link; up >= 0; up = m->links[up].parent)
      for (int d = m->links[up].dof_first; d < m->links[up].dof_first + m->links[up].dof_count; d++)
        out[at ? at[d] : d] += vec3_dot(slope, screw_velocity(&screws[d], x));
  }
}

static void set_stiffness(TendonSystem* s, int k, bool stretched, const Pose* poses, const Screw* screws) {
  int first = s->dof_first[k], count = s->dof_first[k + 1] - first;
  s->stretched[k] = (CouplingTerms){0};
  if (!stretched) return;
  for (int n = 0; n < count; n++) {
    s->place[s->dof[first + n]] = n;
    s->slope[first + n] = 0;
  }
  add_slope(s, k, 1, poses, screws, s->place, s->slope + first);
  s->stretched[k] =
      (CouplingTerms){count, s->dof + first, s->slope + first, 0,
                      (1 - s->at[k].missing) * spring_ahead(&s->at[k]) * s->model->tendons[k].source->stiffness};
}

static void assemble_tendon(TendonSystem* s, int k, const Pose* poses, const Vec3* reference, const Screw* screws) {
  const SceneTendon* tendon = s->model->tendons[k].source;
  double length = tendon_length(tendon, poses), stretch = tendon_stretch_in_step(s, k, length);
  s->pull[k] = s->tension[k] + (1 - s->at[k].missing) * tendon->stiffness * stretch;
  s->extent[k] = length;
  for (int n = s->first[k]; n < s->first[k + 1]; n++) {
    place_segment(&s->segment[n], tendon, n - s->first[k], poses, reference);
    set_terms(&s->segment[n], s->pull[k]);
    s->extent[k] += vec3_norm(tendon_point(&tendon->points[n - s->first[k]], poses));
  }
  set_stiffness(s, k, stretch > 0, poses, screws);
}

void tendons_assemble(TendonSystem* s, const Pose* poses, const Vec3* reference, const Screw* screws) {
  for (int k = 0; k < s->model->tendon_count; k++) assemble_tendon(s, k, poses, reference, screws);
}

static int term_count(const void* holder) { return ((const TendonSystem*)holder)->count; }

static ContactTerms term_at(const void* holder, int index) {
  const TendonSystem* s = holder;
  const TendonSegment* t = &s->segment[index];
  const SceneTendonPoint* point =
      &s->model->tendons[s->tendon[index]].source->points[index - s->first[s->tendon[index]]];
  return (ContactTerms){point[0].link, point[1].link, t->force, t->moment, t->hessian, false};
}

ContactTermList tendons_terms(const TendonSystem* s) {
  return s ? (ContactTermList){s, term_count, term_at} : (ContactTermList){0};
}

void tendons_couple(const TendonSystem* s, Assembly* assembly) {
  if (!s) return;
  assembly->stretched = s->stretched;
  assembly->stretched_count = s->model->tendon_count;
}

void tendons_add_force(const TendonSystem* s, const Pose* poses, const Screw* screws, double* force) {
  for (int k = 0; s && k < s->model->tendon_count; k++) add_slope(s, k, -s->pull[k], poses, screws, NULL, force);
}
