/* Newton's method for one step (docs/derivations/step.md, S8-S9). */
#include <stdlib.h>
#include <string.h>

#include "simulate/sim.h"

/* Smallest eigenvalue left after lifting (SDRS section V). */
#define EIGENVALUE_FLOOR 1e-3
/* A direction from another model than the objective's own must promise this part of the Newton step's decrease. */
#define LEAST_DESCENT 0.1

JointInput step_joint_input(const Sim* s, const Configuration* c, int link) {
  const ModelLink* l = &s->model->links[link];
  return (JointInput){l,
                      c->q + l->coordinate_first,
                      s->q_now + l->coordinate_first,
                      s->difference_old + l->dof_first,
                      s->drives + s->drive_first[link],
                      s->drive_first[link + 1] - s->drive_first[link],
                      s->gain_dt,
                      s->weights};
}

bool configuration_evaluate(Sim* s, Configuration* c) {
  bool inside = true;
  const Model* m = s->model;
  double weight = step_inertia_weight(s);
  for (int i = 0; i < m->link_count; i++) {
    const ModelLink* link = &m->links[i];
    c->inertia[i] = link->tree < 0 ? 0 : inertia_energy(link, c->pose[i], s->target[i], weight);
    if (link->dof_count == 0) continue;
    JointInput in = step_joint_input(s, c, i);
    inside = joint_terms(&in, true, &c->joints[i]) && inside;
  }
  return inside;
}

/* ---------------------------------------------------------------- linear system */

/* Room for two lists of `count` keys: the known ones and fresh ones. */
static uint64_t* room_for_couplings(Sim* s, int count) {
  if (count > s->candidate_capacity) {
    int capacity = count + count / 2 + 16;
    s->couplings = memory_resize(s->couplings, 2 * sizeof(uint64_t) * (size_t)s->candidate_capacity,
                                 2 * sizeof(uint64_t) * (size_t)capacity);
    s->candidate_capacity = capacity;
    s->known_couplings = 0; /* the halves have moved */
    s->pattern_set = false;
  }
  return s->couplings + s->candidate_capacity;
}

static int add_coupling(const Model* m, int link_a, int link_b, uint64_t* keys, int count) {
  int a = m->links[link_a].tree, b = m->links[link_b].tree;
  if (a < 0 || b < 0 || a == b) return count;
  keys[count] = a < b ? (uint64_t)a << 32 | (uint32_t)b : (uint64_t)b << 32 | (uint32_t)a;
  return count + 1;
}

/* A new analysis only when a coupling appears that the pattern lacks; the pattern is then the new list. */
static void adopt_couplings(Sim* s, uint64_t* keys, int count) {
  if (count > 1) qsort(keys, (size_t)count, sizeof(uint64_t), order_uint64);
  int unique = 0;
  for (int k = 0; k < count; k++)
    if (unique == 0 || keys[unique - 1] != keys[k]) keys[unique++] = keys[k];
  bool known = s->pattern_set;
  for (int k = 0, j = 0; k < unique && known; k++) {
    while (j < s->known_couplings && s->couplings[j] < keys[k]) j++;
    known = j < s->known_couplings && s->couplings[j] == keys[k];
  }
  if (known) return;
  if (unique > 0) memcpy(s->couplings, keys, sizeof(uint64_t) * (size_t)unique);
  s->known_couplings = unique;
  s->pattern_set = true;
  block_solver_pattern(s->solver, s->couplings, unique);
}

static void update_pattern(Sim* s) {
  int version = s->contact ? contact_version(s->contact) : 0;
  if (version == s->pattern_version) return;
  int count = 0, candidates = s->contact ? contact_candidate_count(s->contact) : 0;
  uint64_t* keys = room_for_couplings(s, candidates);
  for (int k = 0; k < candidates; k++) {
    int a, b;
    contact_candidate(s->contact, k, &a, &b);
    count = add_coupling(s->model, a, b, keys, count);
  }
  adopt_couplings(s, keys, count);
  s->pattern_version = version;
}

void step_pattern(Sim* s, ContactTermList contact) {
  int count = 0, terms = contact.holder ? contact.count(contact.holder) : 0;
  uint64_t* keys = room_for_couplings(s, terms);
  for (int k = 0; k < terms; k++) {
    ContactTerms t = contact.at(contact.holder, k);
    count = add_coupling(s->model, t.link_a, t.link_b, keys, count);
  }
  adopt_couplings(s, keys, count);
}

void step_assemble(Sim* s, ContactTermList contact, Assembly* a) {
  const Model* m = s->model;
  Configuration* c = &s->configuration[s->current];
  double weight = step_inertia_weight(s);
  model_screws(m, c->q, c->pose, s->screws);
  for (int i = 0; i < m->link_count; i++) {
    s->reference[i] = pose_apply(c->pose[i], m->links[i].center);
    if (m->links[i].tree >= 0)
      inertia_terms(&m->links[i], c->pose[i], s->target[i], weight, &s->link_terms[i]);
    else
      memset(&s->link_terms[i], 0, sizeof(LinkTerms));
  }
  balance_measure(s, contact);
  *a = (Assembly){m, s->screws, s->reference, s->link_terms, c->joints, contact};
  assemble_gradient(a, s->gradient);
}

static void assemble(Sim* s, Assembly* a) { step_assemble(s, contact_term_list(s->contact), a); }

/* How far the prescribed joints still have to go; returns whether they have arrived. */
static bool prescribed_step(Sim* s, double* step) {
  bool arrived = true;
  const double* q = s->configuration[s->current].q;
  for (int i = 0; i < s->model->link_count; i++) {
    const ModelLink* link = &s->model->links[i];
    if (link->prescribed < 0) continue;
    joint_difference(link, q + link->coordinate_first, s->prescribed + link->coordinate_first, step + link->dof_first);
    for (int k = 0; k < link->dof_count; k++)
      arrived = arrived && fabs(step[link->dof_first + k]) < 1e-13 * (1 + fabs(q[link->coordinate_first + k]));
  }
  return arrived;
}

/* H delta = -g with the prescribed increments of `pushed` (NULL: none), factored as asked. */
static bool try_direction(Sim* s, const Assembly* a, bool curvature, bool lifted) {
  double start = timer_now();
  assemble_hessian(a, curvature, s->solver);
  for (int k = 0; k < s->model->dof_count; k++) s->delta[k] = -s->gradient[k];
  if (s->fixed_count > 0) block_solver_constrain(s->solver, s->fixed, s->rhs, s->delta);
  double middle = timer_now();
  s->times.assembly += middle - start;
  bool ok = lifted ? block_solver_factor_lifted(s->solver, EIGENVALUE_FLOOR) : block_solver_factor(s->solver);
  if (ok) block_solver_solve(s->solver, s->delta);
  s->times.factor += timer_now() - middle;
  return ok;
}

/* Twist (w, v) of every link about its centre of mass while the joints go along s->delta. */
static void find_twists(Sim* s) {
  const Model* m = s->model;
  for (int i = 0; i < m->link_count; i++) {
    const ModelLink* link = &m->links[i];
    Vec3 w = {0, 0, 0}, v = {0, 0, 0};
    if (link->parent >= 0) {
      const double* up = s->twist[link->parent];
      w = vec3(up[0], up[1], up[2]);
      v = vec3_add(vec3(up[3], up[4], up[5]), vec3_cross(w, vec3_sub(s->reference[i], s->reference[link->parent])));
    }
    for (int k = link->dof_first; k < link->dof_first + link->dof_count; k++) {
      w = vec3_add_scaled(w, s->delta[k], s->screws[k].w);
      v = vec3_add_scaled(v, s->delta[k], screw_velocity(&s->screws[k], s->reference[i]));
    }
    double own[6] = {w.x, w.y, w.z, v.x, v.y, v.z};
    memcpy(s->twist[i], own, sizeof(own));
  }
}

/* Islands in which delta does not descend well keep the Newton step, which does. */
static void keep_descent(Sim* s) {
  for (int k = 0; k < s->island_count; k++) s->islands[k].slope = s->islands[k].change = 0;
  for (int k = 0; k < s->model->tree_count; k++) {
    const ModelTree* tree = &s->model->trees[k];
    Island* island = &s->islands[s->island[k]];
    for (int d = tree->dof_first; d < tree->dof_first + tree->dof_count; d++) {
      island->slope += s->gradient[d] * s->delta[d];
      island->change += s->gradient[d] * s->newton_delta[d];
    }
  }
  for (int k = 0; k < s->model->tree_count; k++) {
    const ModelTree* tree = &s->model->trees[k];
    const Island* island = &s->islands[s->island[k]];
    if (island->slope < LEAST_DESCENT * island->change) continue;
    memcpy(s->delta + tree->dof_first, s->newton_delta + tree->dof_first, sizeof(double) * (size_t)tree->dof_count);
  }
}

void step_relieve(Sim* s) {
  if (!s->contact) return;
  find_twists(s);
  if (contact_relieve(s->contact, (const double(*)[6])s->twist) == 0) return;
  Assembly a;
  size_t size = sizeof(double) * (size_t)s->model->dof_count;
  memcpy(s->newton_delta, s->delta, size);
  memcpy(s->true_gradient, s->gradient, size);
  memcpy(s->true_work, s->at_work, size);
  step_assemble(s, contact_model_list(s->contact), &a);
  bool ok = try_direction(s, &a, true, false);
  memcpy(s->gradient, s->true_gradient, size);
  memcpy(s->at_work, s->true_work, size);
  for (int k = 0; k < s->model->dof_count; k++) ok = ok && isfinite(s->delta[k]);
  if (ok)
    keep_descent(s);
  else
    memcpy(s->delta, s->newton_delta, size);
}

/* Newton direction in s->delta. An indefinite Hessian is first made definite where it is cheap and tells most: the
 * curvature of the motion is left out (Gauss-Newton) and each pair of bodies gets its nearest semidefinite Hessian.
 * Only if that is not enough are eigenvalues of the whole lifted. */
static bool solve_direction(Sim* s, Assembly* a, StepReport* report) {
  double start = timer_now();
  update_pattern(s);
  s->times.assembly += timer_now() - start;
  if (!try_direction(s, a, true, false)) {
    report->factor_retries++;
    if (s->contact) contact_project(s->contact, NULL);
    assemble(s, a);
    if (!try_direction(s, a, false, false) && !try_direction(s, a, false, true)) return false;
  }
  for (int k = 0; k < s->model->dof_count; k++)
    if (!isfinite(s->delta[k])) return false;
  return true;
}

/* ---------------------------------------------------------------- the loop */

static void report_terms(Sim* s, StepReport* report) {
  const Configuration* c = &s->configuration[s->current];
  const Model* m = s->model;
  for (int i = 0; i < m->link_count; i++) {
    const ModelLink* link = &m->links[i];
    if (link->tree >= 0) {
      Vec3 center = pose_apply(c->pose[i], link->center);
      report->terms.gravity -= link->mass * vec3_dot(m->simulation.gravity, center);
      report->terms.inertia += c->inertia[i];
    }
    if (link->dof_count == 0) continue;
    report->terms.controller += c->joints[i].controller;
    report->terms.limit += c->joints[i].limit;
    report->terms.damping += c->joints[i].damping;
  }
  if (!s->contact) return;
  contact_energy(s->contact, &report->terms.contact, &report->terms.friction);
  report->active_pairs = contact_active_count(s->contact);
  report->candidate_pairs = contact_candidate_count(s->contact);
}

/* One round: residual, direction, search. Returns true when the loop is over. */
static bool newton_round(Sim* s, StepReport* report, double* before) {
  Assembly a;
  double start = timer_now();
  bool arrived = prescribed_step(s, s->rhs);
  assemble(s, &a);
  s->times.assembly += timer_now() - start;
  report->residual = balance_residual(s, &report->residual_dof);
  report->residual_force = report->residual_dof < 0 ? 0 : fabs(s->gradient[report->residual_dof]);
  if (!isfinite(report->residual)) {
    report->outcome = STEP_NOT_FINITE;
    return true;
  }
  if (arrived && report->residual <= s->tolerance) {
    report->outcome = STEP_CONVERGED;
    return true;
  }
  if (arrived && report->outcome == STEP_ROUNDING_FLOOR && report->residual > 0.5 * *before) return true;
  bool first = isinf(*before);
  *before = report->residual;
  if (first && s->model->simulation.max_iterations > 0 && step_repeat_last(s, report)) return false;
  report->outcome = STEP_NOT_FINITE;
  if (!solve_direction(s, &a, report)) return true;
  SearchResult found = step_search(s, arrived, report);
  report->outcome = arrived ? STEP_LINE_SEARCH : STEP_BLOCKED;
  if (found == SEARCH_FAILED) return true;
  report->iterations++;
  report->outcome = found == SEARCH_AT_ROUNDING ? STEP_ROUNDING_FLOOR : STEP_MAX_ITERATIONS;
  return false;
}

StepReport step_solve(Sim* s) {
  StepReport report = {.outcome = STEP_MAX_ITERATIONS, .residual_dof = -1};
  if (s->model->dof_count == 0) {
    report.outcome = STEP_CONVERGED;
    return report;
  }
  Configuration* c = &s->configuration[s->current];
  memcpy(s->configuration[1 - s->current].q, c->q, sizeof(double) * (size_t)s->model->coordinate_count);
  if (!configuration_evaluate(s, c)) {
    report.outcome = STEP_NOT_FINITE;
    return report;
  }
  double before = INFINITY;
  for (int k = 0; k <= s->model->simulation.max_iterations; k++)
    if (newton_round(s, &report, &before)) break;
  report_terms(s, &report);
  return report;
}
