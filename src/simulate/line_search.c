/* Line search and certificate, island by island (docs/derivations/step.md, S10). Newton's quadratic model does not
 * couple bodies without contact or friction at the accepted state. With one common step length, the first pair that
 * collides would limit every other body of the scene. Therefore each island of coupled trees has its own step length.
 * Islands that come into contact in a trial pass or fail the test of decrease together. */
#include <assert.h>
#include <string.h>

#include "simulate/bushings.h"
#include "simulate/spin.h"
#include "simulate/tendons.h"
#include "simulate/tree_flight.h"

/* Constant of Armijo's rule: the energy must decrease by this fraction of the predicted decrease. */
#define ARMIJO 1e-4
/* Estimated rounding error of the summed energies, relative to the sum of their magnitudes. */
#define ENERGY_ROUNDING 1e-14
/* Rounding error of a link's pose, relative to the distance of the link from the origin. It is larger than an epsilon
 * because the pose is a product of poses along the chain of parents. */
#define POSITION_ROUNDING 1e-15
/* Shortest step length that is evaluated, as a fraction of Newton's step. */
#define STEP_LENGTH_MIN 1e-9
/* The motion of the last step is repeated only if its predicted decrease exceeds this many rounding errors of the
 * energy. Below this threshold, one Newton iteration from the present state solves the step. With 1 in its place, a
 * stack of twenty planks comes to rest 30 times less exactly: the force on the top plank is wrong by 3e-5 N for 1e-6 N.
 */
#define REPEAT_DECREASE_ROUNDINGS 1e6

/* ---------------------------------------------------------------- islands */

/* Computes the islands of the accepted state: trees that contact, closures, tendons or bushings couple. The islands
 * stay valid while the candidate list grows, because new candidates have no terms. */
static void find_islands(Sim* s) {
  const Model* m = s->model;
  const SolveScope* in = &s->scope;
  for (int n = 0; n < in->tree_count; n++) s->island_set.of_tree[in->trees[n]] = in->trees[n];
  int count = s->contact ? contact_term_count(s->contact) : 0;
  for (int k = 0; k < count; k++) {
    ContactTerms pair = contact_term(s->contact, k);
    int a = m->link_tree[pair.link_a], b = m->link_tree[pair.link_b];
    if (a >= 0 && b >= 0) disjoint_sets_unite(s->island_set.of_tree, a, b);
  }
  for (int k = 0; s->closures && k < s->closures->pair_count; k++)
    disjoint_sets_unite(s->island_set.of_tree, (int)(s->closures->pairs[k] >> 32),
                        (int)(s->closures->pairs[k] & UINT32_MAX));
  for (int k = 0; s->tendons && k < s->tendons->pair_count; k++)
    disjoint_sets_unite(s->island_set.of_tree, (int)(s->tendons->pairs[k] >> 32),
                        (int)(s->tendons->pairs[k] & UINT32_MAX));
  for (int k = 0; s->bushings && k < s->bushings->pair_count; k++)
    disjoint_sets_unite(s->island_set.of_tree, (int)(s->bushings->pairs[k] >> 32),
                        (int)(s->bushings->pairs[k] & UINT32_MAX));
  for (int n = 0; n < in->tree_count; n++)
    s->island_set.of_tree[in->trees[n]] = disjoint_sets_find(s->island_set.of_tree, in->trees[n]);
  s->island_set.count = 0;
  /* number the islands: the root of an island precedes its other members */
  for (int n = 0; n < in->tree_count; n++) {
    int k = in->trees[n];
    s->island_set.of_tree[k] =
        s->island_set.of_tree[k] == k ? s->island_set.count++ : s->island_set.of_tree[s->island_set.of_tree[k]];
  }
  for (int n = 0; n < in->link_count; n++) {
    int i = in->links[n];
    s->island_set.of_link[i] = m->link_tree[i] < 0 ? -1 : s->island_set.of_tree[m->link_tree[i]];
  }
}

static Island* island_of_link(Sim* s, int link) {
  int island = s->island_set.of_link[link];
  return island < 0 ? NULL : &s->island_set.list[island];
}

/* Marks the pairs of links in islands that are not balanced, so that they are evaluated. Pairs between balanced islands
 * are not evaluated, because these islands do not move. Call after `find_islands` and record_tree_balances. */
static void mark_pairs_of_unbalanced_islands(Sim* s, bool arrived) {
  const SolveScope* in = &s->scope;
  if (!s->contact) return;
  for (int k = 0; k < s->island_set.count; k++) s->island_set.refused[k] = false;
  for (int n = 0; n < in->tree_count; n++)
    if (!balance_tree_is_reached(s, in->trees[n], arrived))
      s->island_set.refused[s->island_set.of_tree[in->trees[n]]] = true;
  for (int k = 0; s->closures && k < s->closures->count; k++)
    if (!closure_is_satisfied(s->closures, k))
      s->island_set.refused[s->island_set.of_link[closure_link(s->closures, k)]] = true;
  for (int n = 0; n < in->link_count; n++) {
    int i = in->links[n];
    s->marks.link[i] =
        s->tendons || s->bushings || (s->island_set.of_link[i] >= 0 && s->island_set.refused[s->island_set.of_link[i]]);
  }
  contact_wake(s->contact, s->marks.link);
}

/* Returns the rounding error of a joint's energies [J], which is due to rounding of the energies and of the coordinates
 * q. */
static double joint_rounding(const ModelLink* link, const JointTerms* joint, const double* q) {
  double rounding = ENERGY_ROUNDING * (fabs(joint->controller) + joint->limit + joint->damping + fabs(joint->inertia));
  for (int k = 0; k < link->dof_count; k++) {
    double position_error =
        POSITION_ROUNDING * (k < link->joint.scalar_count ? fabs(q[link->coordinate_first + k]) : 1);
    rounding += position_error * (fabs(joint->gradient[k]) + fabs(joint->hessian[k][k]) * position_error);
  }
  return rounding;
}

static void compute_link_rounding(Sim* s, int i) {
  const ModelLink* link = &s->model->links[i];
  const Configuration* c = &s->configuration[s->current];
  double weight = step_inertia_weight(s) * link->mass;
  double size = vec3_norm(c->pose[i].t) + link->reach;
  s->trial.rounding[i].inertia =
      ENERGY_ROUNDING * fabs(c->inertia[i]) + POSITION_ROUNDING * size * sqrt(2 * weight * fabs(c->inertia[i]));
  if (link->dof_count > 0) s->trial.rounding[i].joint = joint_rounding(link, &c->joints[i], c->q);
}

static void record_tree_balance(void* context, int index, int thread) {
  (void)thread;
  Sim* s = context;
  int tree = s->scope.trees[index];
  if (s->marks.is_balance_current[tree] && !s->closures) return;
  s->marks.is_balance_current[tree] = true;
  balance_test_tree(s, tree);
  for (int n = s->trees.first[tree]; n < s->trees.first[tree + 1]; n++) compute_link_rounding(s, s->trees.links[n]);
}

/* Records for each tree whether it is balanced, and the rounding error of its energies. The balance can change even if
 * no term was assembled, because the multipliers of closures change. */
static void record_tree_balances(Sim* s) {
  parallel_for(s->options.threads, s->scope.tree_count, TREES_PARALLEL, TREES_GRAIN, record_tree_balance, s);
}

/* Sets slope, curvature and rounding error of each island, and whether the island is settled. Call after `find_islands`
 * and record_tree_balances. */
static void compute_island_slopes(Sim* s, bool arrived) {
  const Model* m = s->model;
  for (int k = 0; k < s->island_set.count; k++) s->island_set.list[k] = (Island){.alpha = 1.0, .settled = true};
  for (int n = 0; n < s->scope.tree_count; n++) {
    int k = s->scope.trees[n];
    Island* island = &s->island_set.list[s->island_set.of_tree[k]];
    for (int d = m->trees[k].dof_first; d < m->trees[k].dof_first + m->trees[k].dof_count; d++)
      island->slope += s->newton.gradient[d] * s->newton.delta[d];
    island->curvature += s->newton.curvature[k];
    island->settled = island->settled && balance_tree_is_reached(s, k, arrived);
  }
  for (int n = 0; n < s->scope.link_count; n++) {
    int i = s->scope.links[n];
    Island* island = island_of_link(s, i);
    if (!island) continue;
    island->rounding += s->trial.rounding[i].inertia;
    island->rounding += s->trial.rounding[i].joint;
  }
  int count = s->contact ? contact_term_count(s->contact) : 0;
  if (s->contact) contact_compute_rounding_errors(s->contact);
  for (int k = 0; k < count; k++) {
    double rounding = contact_term_rounding_error(s->contact, k);
    if (!(rounding > 0)) continue;
    ContactTerms pair = contact_term(s->contact, k);
    Island *a = island_of_link(s, pair.link_a), *b = island_of_link(s, pair.link_b);
    if (a) a->rounding += rounding;
    if (b && b != a) b->rounding += rounding;
  }
  for (int k = 0; s->closures && k < s->closures->count; k++) {
    Island* island = island_of_link(s, closure_link(s->closures, k));
    island->rounding += closure_rounding(s->closures, k);
    island->settled = island->settled && closure_is_satisfied(s->closures, k);
  }
  for (int k = 0; s->tendons && k < s->model->tendon_count; k++)
    if (s->model->tendons[k].home >= 0)
      island_of_link(s, s->model->tendons[k].home)->rounding += tendon_rounding(s->tendons, k);
  for (int k = 0; s->bushings && k < s->model->bushing_count; k++)
    if (s->model->bushings[k].home >= 0)
      island_of_link(s, s->model->bushings[k].home)->rounding += bushing_rounding(s->bushings, k);
  for (int k = 0; k < s->island_set.count; k++) {
    Island* island = &s->island_set.list[k];
    if (island->settled) island->alpha = 0;
    island->below_rounding = island->settled || -island->slope <= island->rounding;
  }
}

/* ---------------------------------------------------------------- evaluation of a trial */

static void discard_trial(Sim* s) {
  for (int n = 0; n < s->scope.tree_count; n++) s->trial.step_length[s->scope.trees[n]] = (double)NAN;
  for (int k = 0; k < s->island_set.count; k++) s->island_set.list[k].moved = true;
}

/* Sets s->newton.scaled to delta times the step length of each island. Trees of islands whose length is unchanged keep
 * the poses of the last trial. */
static void scale_direction(Sim* s) {
  const Model* m = s->model;
  s->trial.moved_count = 0;
  for (int n = 0; n < s->scope.tree_count; n++) {
    int k = s->scope.trees[n];
    Island* island = &s->island_set.list[s->island_set.of_tree[k]];
    double alpha = island->alpha;
    if (alpha == s->trial.step_length[k]) continue;
    s->trial.step_length[k] = alpha;
    s->trial.moved_trees[s->trial.moved_count++] = k;
    island->moved = true;
    for (int d = m->trees[k].dof_first; d < m->trees[k].dof_first + m->trees[k].dof_count; d++)
      s->newton.scaled[d] = alpha * s->newton.delta[d];
  }
}

static void mark_island_of_link(Sim* s, int link) {
  Island* island = island_of_link(s, link);
  if (island) island->shorten = true;
}

/* Evaluates configuration and contact at the scaled step. If the trial is infeasible, marks the responsible islands and
 * returns false. */
static bool is_trial_feasible(Sim* s) {
  Configuration* trial = &s->configuration[1 - s->current];
  if (!configuration_set_trial(s, trial)) {
    for (int n = 0; n < s->scope.link_count; n++) {
      int i = s->scope.links[n];
      if (s->model->links[i].dof_count > 0 && trial->joints[i].outside) mark_island_of_link(s, i);
    }
    return false;
  }
  if (!s->contact) return true;
  bool feasible = contact_evaluate_trial(s->contact, trial->pose, s->trial.moved_link, s->island_set.of_link,
                                         s->island_set.count, s->island_set.refused);
  for (int n = 0; n < s->scope.link_count; n++) s->trial.moved_link[s->scope.links[n]] = false;
  for (int k = 0; k < s->island_set.count; k++)
    s->island_set.list[k].shorten = s->island_set.list[k].shorten || s->island_set.refused[k];
  return feasible;
}

/* Sets the energy change of each island. The energy change of a pair between two islands is attributed to an island
 * that is not settled, because settled islands do not test their energy. */
static void compute_energy_changes(Sim* s) {
  const Configuration *old = &s->configuration[s->current], *new = &s->configuration[1 - s->current];
  disjoint_sets_init(s->island_set.group, s->island_set.count);
  for (int k = 0; k < s->island_set.count; k++)
    if (s->island_set.list[k].moved) s->island_set.list[k].local_change = 0;
  for (int n = 0; n < s->scope.link_count; n++) {
    int i = s->scope.links[n];
    Island* island = island_of_link(s, i);
    if (!island || !island->moved) continue;
    island->local_change += s->trial.change[i].inertia;
    island->local_change += s->trial.change[i].joint;
  }
  for (int k = 0; k < s->island_set.count; k++) {
    s->island_set.list[k].moved = false;
    s->island_set.list[k].change = s->island_set.list[k].local_change;
  }
  for (int k = 0; s->closures && k < s->closures->count; k++)
    island_of_link(s, closure_link(s->closures, k))->change +=
        closure_energy(s->closures, k, new->closures) - s->closures->energy[k];
  for (int k = 0; s->tendons && k < s->model->tendon_count; k++)
    if (s->model->tendons[k].home >= 0)
      island_of_link(s, s->model->tendons[k].home)->change += new->tendons[k] - old->tendons[k];
  for (int k = 0; s->bushings && k < s->model->bushing_count; k++)
    if (s->model->bushings[k].home >= 0)
      island_of_link(s, s->model->bushings[k].home)->change += new->bushings[k] - old->bushings[k];
  int count = s->contact ? contact_awake_count(s->contact) : 0;
  for (int k = 0; k < count; k++) {
    int link_a, link_b;
    double change = contact_awake_energy_change(s->contact, k, &link_a, &link_b);
    Island *a = island_of_link(s, link_a), *b = island_of_link(s, link_b);
    Island* judge = a && !(a->settled && b) ? a : b;
    if (judge) judge->change += change;
    if (a && b && a != b && change != 0)
      disjoint_sets_unite(s->island_set.group, (int)(a - s->island_set.list), (int)(b - s->island_set.list));
  }
}

/* Tests the decrease of the energy in each group of islands. Marks the groups without sufficient decrease. Returns true
 * if all groups pass. */
static bool has_sufficient_decrease(Sim* s) {
  bool all = true;
  compute_energy_changes(s);
  for (int k = 0; k < s->island_set.count; k++) { /* the root has the smallest index, so its sum is initialized first */
    Island *island = &s->island_set.list[k], *root = &s->island_set.list[disjoint_sets_find(s->island_set.group, k)];
    double allowed = island->allowed_increase + ARMIJO * (island->slope - island->allowed_increase);
    double excess = island->change - island->alpha * allowed - island->rounding;
    if (island->below_rounding) excess = fmin(excess, 0);
    root->excess = root == island ? excess : root->excess + excess;
  }
  for (int k = 0; k < s->island_set.count; k++) {
    Island* island = &s->island_set.list[k];
    if (s->island_set.list[disjoint_sets_find(s->island_set.group, k)].excess <= 0 || island->alpha == 0) continue;
    island->shorten = true;
    all = false;
  }
  return all;
}

static void compute_poses_on_path(void* context, double fraction, int link, int from, Pose* poses) {
  Sim* s = context;
  model_displaced_link_pose(s->model, link, from, s->configuration[s->current].q, s->newton.scaled, fraction,
                            s->certificate.q, poses);
}

typedef struct {
  Sim* s;
  const double* delta;
} BoundTask;

static void bound_tree_motion(void* context, int index, int thread) {
  (void)thread;
  Sim* s = ((BoundTask*)context)->s;
  int tree = s->scope.trees[index];
  const Configuration* c = &s->configuration[s->current];
  bool still = step_tree_is_still(s, tree, ((BoundTask*)context)->delta),
       known = still && s->certificate.is_still[tree];
  s->certificate.is_still[tree] = still;
  for (int n = s->trees.first[tree]; n < s->trees.first[tree + 1] && !known; n++)
    motion_bounds_of_link(s->model, s->trees.links[n], c->q, c->pose, s->assembly.screws, ((BoundTask*)context)->delta,
                          &s->certificate.bounds);
}

/* Sets s->certificate.bounds, bounds on the motion of all links along `delta` from the accepted configuration. */
static void bound_motion(Sim* s, const double* delta) {
  const Model* m = s->model;
  const Configuration* c = &s->configuration[s->current];
  BoundTask task = {s, delta};
  for (int i = 0; i < m->link_count && s->scope.whole; i++)
    if (m->links[i].tree < 0)
      motion_bounds_of_link(m, i, c->q, c->pose, s->assembly.screws, delta, &s->certificate.bounds);
  parallel_for(s->options.threads, s->scope.tree_count, TREES_PARALLEL, TREES_GRAIN, bound_tree_motion, &task);
}

/* Returns true if the links of a subsystem provably stay in the regions of the subsystem, by the bounds on their
 * motion. Always true for the whole scene. */
static bool stays_in_region(Sim* s) {
  if (s->scope.whole) return true;
  s->subsystems.leaves_region = !contact_subsystem_stays(s->contact, &s->certificate.bounds);
  return !s->subsystems.leaves_region;
}

static bool certify_trial_path(Sim* s, StepReport* report) {
  if (!s->contact || (!s->model->simulation.certificate && s->scope.whole)) return true;
  double start = timer_now();
  ContactFailure failure;
  int link_a, link_b;
  bound_motion(s, s->newton.scaled);
  if (!stays_in_region(s)) return false;
  if (!s->model->simulation.certificate) return true;
  bool ok = contact_certify(s->contact, &s->certificate.bounds, compute_poses_on_path, s, &report->certified_intervals,
                            &failure);
  if (!ok) {
    contact_candidate(s->contact, failure.candidate, &link_a, &link_b);
    mark_island_of_link(s, link_a);
    mark_island_of_link(s, link_b);
  }
  s->times.certificate += timer_now() - start;
  return ok;
}

static void accept_trial(Sim* s) {
  path_append_move(s);
  step_mark_moved_stale(s);
  s->current = 1 - s->current;
  if (s->contact) contact_accept(s->contact);
  step_mark_moved_stale(s);
}

/* Shortens delta of each island that contains links with very many triangles, so that the candidate list stays small
 * (contact_path_fraction). */
static void limit_step_of_dense_links(Sim* s) {
  const Model* m = s->model;
  bool any = false;
  for (int k = 0; k < s->island_set.count; k++) s->island_set.list[k].share = 1;
  for (int n = 0; n < s->scope.link_count; n++) {
    int i = s->scope.links[n];
    if (s->island_set.of_link[i] < 0) continue;
    Island* island = &s->island_set.list[s->island_set.of_link[i]];
    island->share = fmin(island->share, contact_path_fraction(s->contact, &s->certificate.bounds, i));
    any = any || island->share < 1;
  }
  for (int n = 0; any && n < s->scope.tree_count; n++) {
    int k = s->scope.trees[n];
    for (int d = m->trees[k].dof_first; d < m->trees[k].dof_first + m->trees[k].dof_count; d++)
      s->newton.delta[d] *= s->island_set.list[s->island_set.of_tree[k]].share;
    s->newton.curvature[k] *= s->island_set.list[s->island_set.of_tree[k]].share;
  }
  if (any) bound_motion(s, s->newton.delta);
}

/* Sets the bounds on the motion along the full step and updates the candidate pairs for these bounds. */
static void prepare_path(Sim* s) {
  bound_motion(s, s->newton.delta);
  if (!s->contact) return;
  limit_step_of_dense_links(s);
  contact_prepare(s->contact, &s->certificate.bounds);
}

/* Halves the step length of all marked islands; of all islands if none is marked. Returns false if a length falls below
 * STEP_LENGTH_MIN. */
static bool halve_marked_steps(Sim* s) {
  bool any = false;
  for (int k = 0; k < s->island_set.count; k++) any = any || s->island_set.list[k].shorten;
  for (int k = 0; k < s->island_set.count; k++) {
    Island* island = &s->island_set.list[k];
    if (island->settled || (any && !island->shorten)) continue;
    island->shorten = false;
    island->alpha *= 0.5;
    if (island->alpha < STEP_LENGTH_MIN) return false;
  }
  return true;
}

/* Sets the admissible energy increase `allowed_increase` of each island while prescribed joints move. The increase is
 * an exact penalty on the remaining motion of these joints, and its weight follows from the slope along delta
 * (docs/derivations/step.md, S10). */
static void set_allowed_increases(Sim* s) {
  for (int k = 0; k < s->island_set.count; k++) {
    Island* island = &s->island_set.list[k];
    island->allowed_increase = 2 * fmax(island->slope + 0.5 * fmax(island->curvature, 0), 0);
    island->below_rounding = island->settled || island->allowed_increase - island->slope <= island->rounding;
  }
}

LineSearchResult line_search_run(Sim* s, bool arrived, StepReport* report) {
  assert(report && s->clock.dt > 0);
  find_islands(s);
  record_tree_balances(s);
  mark_pairs_of_unbalanced_islands(s, arrived);
  prepare_path(s);
  mark_pairs_of_unbalanced_islands(s, arrived);
  compute_island_slopes(s, arrived);
  if (!arrived) set_allowed_increases(s);
  discard_trial(s);
  do {
    report->trials++;
    scale_direction(s);
    if (!is_trial_feasible(s)) continue;
    if (!has_sufficient_decrease(s)) continue;
    if (!certify_trial_path(s, report)) continue;
    accept_trial(s);
    bool below_rounding = true;
    for (int k = 0; k < s->island_set.count; k++)
      below_rounding = below_rounding && s->island_set.list[k].below_rounding;
    return below_rounding ? SEARCH_AT_ROUNDING : SEARCH_ACCEPTED;
  } while (!s->subsystems.leaves_region && halve_marked_steps(s));
  return s->subsystems.leaves_region ? SEARCH_LEAVES_REGION : SEARCH_FAILED;
}

/* Corrects the slopes of islands with free spinning bodies or trees in free flight (tree_flight.h). At their targets
 * such bodies have no inertial energy left, so this energy is the predicted decrease. The slope at the start does not
 * predict it: it can be positive for a rotation by more than a right angle. */
static void correct_slopes_of_free_bodies(Sim* s) {
  const Configuration* c = &s->configuration[s->current];
  for (int n = 0; (s->spin_bodies || s->flight) && n < s->scope.link_count; n++) {
    int i = s->scope.links[n];
    const ModelLink* link = &s->model->links[i];
    bool spins = s->spin_bodies && s->spin_bodies[i].spins && !s->spin_bodies[i].has_forces;
    if (!spins && !tree_flight_starts_at_target(s->flight, link)) continue;
    Island* island = island_of_link(s, i);
    island->slope -= c->inertia[i];
    for (int k = link->dof_first; k < link->dof_first + link->dof_count; k++)
      island->slope -= s->newton.gradient[k] * s->newton.delta[k];
  }
}

/* Marks the islands of trees that a subsystem already solved as settled. line_search_repeat_last_step then does not
 * move these islands again. */
static void settle_solved_subsystems(Sim* s) {
  for (int n = 0; s->subsystems.solved_in && n < s->scope.tree_count; n++)
    if (s->subsystems.solved_in[s->scope.trees[n]] >= 0)
      s->island_set.list[s->island_set.of_tree[s->scope.trees[n]]].settled = true;
}

/* Stops the islands that failed in a rejected trial of line_search_repeat_last_step. Returns true if an island was
 * stopped and other islands still move. */
static bool settle_refused_islands(Sim* s) {
  bool refused = false, others = false;
  s->subsystems.leaves_region = false;
  for (int k = 0; k < s->island_set.count; k++) {
    Island* island = &s->island_set.list[k];
    refused = refused || (island->shorten && island->alpha != 0);
    if (island->shorten) island->alpha = 0;
    others = others || island->alpha != 0;
  }
  scale_direction(s);
  return refused && others;
}

/* Marks the islands of joints that rotate by more than half a turn in the direction s->newton.delta. The energy test of
 * these islands is left out (S8). The energy of a link is periodic in its rotation. The present state may therefore
 * have as little energy as the solution, which is whole turns away. */
static void mark_fast_turning_islands(Sim* s) {
  for (int n = 0; n < s->scope.link_count; n++) {
    int i = s->scope.links[n];
    const ModelLink* link = &s->model->links[i];
    if (s->subsystems.solved_in && link->tree >= 0 && s->subsystems.solved_in[link->tree] >= 0) continue;
    for (int k = 0; k < link->joint.scalar_count; k++) {
      int dof = link->dof_first + k;
      double turn = fabs(s->newton.delta[dof]) * vec3_norm(s->assembly.screws[dof].w);
      if (turn > M_PI) island_of_link(s, i)->below_rounding = island_of_link(s, i)->turns_fast = true;
    }
  }
}

/* Predicts the state by repeating the motion of the last step, scaled to the length of this one. Bodies and trees that
 * conserve momentum start at their predicted poses, and prescribed joints move to their targets. A moving body is then
 * near its solution, where the Hessian is positive definite. Bodies at rest do not move. Returns true if the prediction
 * was accepted. */
bool line_search_repeat_last_step(Sim* s, StepReport* report) {
  assert(report && s->clock.dt > 0);
  double lengths = step_length_ratio(s);
  for (int n = 0; n < s->scope.tree_count; n++) {
    const ModelTree* tree = &s->model->trees[s->scope.trees[n]];
    for (int k = tree->dof_first; k < tree->dof_first + tree->dof_count; k++)
      s->newton.delta[k] = lengths * s->difference_old[k];
  }
  if (s->closures && lengths == 1) closures_extrapolate(s->closures, s->newton.delta);
  for (int k = 0; s->prescribed_joints.count > 0 && k < s->model->dof_count; k++)
    if (s->prescribed_joints.is_fixed[k]) s->newton.delta[k] = s->newton.rhs[k];
  spin_set_start_increments(s, s->newton.delta);
  tree_flight_set_start_increments(s, s->newton.delta);
  find_islands(s);
  record_tree_balances(s);
  compute_island_slopes(s, false);
  correct_slopes_of_free_bodies(s);
  mark_fast_turning_islands(s);
  settle_solved_subsystems(s);
  bool any = false;
  for (int k = 0; k < s->island_set.count; k++) {
    Island* island = &s->island_set.list[k];
    bool decreases = !island->settled && island->slope < -REPEAT_DECREASE_ROUNDINGS * island->rounding;
    bool worth = decreases || island->turns_fast;
    if (!worth) island->alpha = 0;
    any = any || worth;
  }
  if (!any) return false;
  discard_trial(s);
  scale_direction(s);
  solve_scope_copy(s, s->newton.delta, s->newton.scaled);
  prepare_path(s);
  if (s->contact) contact_wake(s->contact, NULL);
  bool fine = false, any_left = true;
  while (!fine && any_left) { /* stops the islands whose trial fails and evaluates the other islands again */
    report->trials++;
    fine = is_trial_feasible(s) && has_sufficient_decrease(s) && certify_trial_path(s, report);
    if (!fine) any_left = settle_refused_islands(s);
  }
  if (fine) accept_trial(s);
  return fine;
}
