/* Tests all pairs of a scene over random motion. No pair within the contact range is missed, and each stored distance
 * is exact or a lower bound. Energies are sums over pairs and forces sum to zero. Friction uses the given reference
 * state. */
#include "contact/plane.h"
#include "contact/system.h"

#include <string.h>

#include "support/pairs.h"
#include "support/paths.h"
#include "support/reference_plane.h"
#include "support/runs.h"

static const char crowd[] =
    "contact: {barrier_distance: 0.01, stiffness: 1.0e-6, friction: 0.3, smoothing: 1.0e-4, restitution: null, "
    "exclude: "
    "[[stone0, stone1]]}\n"
    "links:\n"
    "  - {name: ground, fixed: true, shape: {type: half_space}, position: [0, 0, -1.5]}\n"
    "  - {name: post, fixed: true, shape: {type: box, size: [0.2, 0.2, 1]}}\n"
    "  - {name: \"stone{i}\", mass: 1, shape: {type: sphere, radius: 0.15, resolution: 1}, position: [0.4, 0, 0], "
    "repeat: {count: 6, position: [0.35, 0.1, 0.05]}}\n"
    "  - {name: arm, mass: 1, joint: {type: hinge, axis: [0, 0, 1], position: [-0.5, 0, 0]}, shapes: [{type: box, "
    "size: [0.4, 0.1, 0.1], position: [-0.25, 0, 0]}]}\n"
    "  - {name: hand, parent: arm, mass: 1, joint: {type: ball, position: [-0.5, 0, 0]}, shapes: [{type: box, size: "
    "[0.3, 0.1, 0.1], position: [-0.2, 0, 0]}]}\n"
    "  - {name: twin, mass: 1, position: [0, 0.6, 0], shapes: [{type: box, size: [0.2, 0.2, 0.2]}, {type: box, size: "
    "[0.2, 0.2, 0.2], position: [0.25, 0, 0]}]}\n";

typedef struct {
  Run* run;
  ContactSystem* contact;
  JointPath path;
  Pose *from, *to;
  MotionBounds bounds;
  Screw* screws;
} Rig;

static Rig rig_create(void) {
  Rig r = {.run = run_model("%s", crowd)};
  const Model* m = &r.run->model;
  r.contact = contact_create(m, 1, 1e-9);
  r.path = joint_path_create(m);
  r.from = MEMORY_NEW(Pose, m->link_count);
  r.to = MEMORY_NEW(Pose, m->link_count);
  r.bounds = (MotionBounds){MEMORY_NEW(MotionBound, m->link_count), MEMORY_NEW(JointBound, m->link_count)};
  r.screws = MEMORY_NEW(Screw, m->dof_count);
  joint_path_poses(&r.path, 0, r.from);
  assert_true(contact_reset(r.contact, r.from));
  return r;
}

static void rig_free(Rig* r) {
  contact_destroy(r->contact);
  joint_path_free(&r->path);
  memory_free(r->from);
  memory_free(r->to);
  memory_free(r->bounds.link);
  memory_free(r->bounds.joint);
  memory_free(r->screws);
  run_free(r->run);
}

/* Sets the motion bounds to the actual motion of each body, slightly rounded up. In the program, simulate's
 * motion_bounds sets them. */
static void bound_motion(Rig* r) {
  const Model* m = &r->run->model;
  for (int i = 0; i < m->link_count; i++) {
    Mat3 change = mat3_sub(r->to[i].r, r->from[i].r);
    double turn = 0;
    for (int k = 0; k < 9; k++) turn += (&change.m[0][0])[k] * (&change.m[0][0])[k];
    r->bounds.link[i] = (MotionBound){vec3_norm(vec3_sub(r->to[i].t, r->from[i].t)) * 1.0001, 0, 1.2 * sqrt(turn), 0};
  }
}

/* Bring one free body within about the contact range of another hull. */
static void approach(Rig* r, Random* random) {
  const Model* m = &r->run->model;
  for (int attempt = 0; attempt < 20; attempt++) {
    const ModelHull *a = &m->hulls[(int)random_uniform(random, 0, m->hull_count)],
                    *b = &m->hulls[(int)random_uniform(random, 0, m->hull_count)];
    const ModelLink* link = &m->links[b->link];
    if (!a->kind->bounded || link->dof_count < 6 || link->parent >= 0 || !model_pair_allowed(m, a->link, b->link))
      continue;
    GjkResult found = gjk_distance(a->points, r->from[a->link], b->points, r->from[b->link], NULL);
    double shift = m->contact.support * random_uniform(random, 0.3, 2.5) - found.distance;
    for (int k = 0; k < m->dof_count; k++) r->path.delta[k] *= 0.01;
    r->path.delta[link->dof_first] += shift * found.normal.x;
    r->path.delta[link->dof_first + 1] += shift * found.normal.y;
    r->path.delta[link->dof_first + 2] += shift * found.normal.z;
    return;
  }
}

static bool random_step(Rig* r, Random* random, double size) {
  const Model* m = &r->run->model;
  for (int k = 0; k < m->dof_count; k++) r->path.delta[k] = size * random_normal(random);
  if (random_uniform(random, 0, 1) < 0.5) approach(r, random);
  joint_path_poses(&r->path, 1, r->to);
  bound_motion(r);
  contact_prepare(r->contact, &r->bounds);
  if (!contact_evaluate(r->contact, r->to)) return false;
  contact_accept(r->contact);
  memcpy(r->path.q, r->path.there, sizeof(double) * (size_t)m->coordinate_count);
  memcpy(r->from, r->to, sizeof(Pose) * (size_t)m->link_count);
  return true;
}

static Body body_of(const ModelHull* hull, Pose pose) {
  if (!hull->kind->bounded) {
    Vec3 n = mat3_mul_vec(pose.r, hull->normal);
    return body_half_space(n, hull->offset + vec3_dot(n, pose.t));
  }
  Vec3* points = MEMORY_NEW(Vec3, hull->points.count);
  for (int k = 0; k < hull->points.count; k++)
    points[k] = vec3(hull->points.x[k], hull->points.y[k], hull->points.z[k]);
  Body body = body_create(points, hull->points.count);
  body_place(&body, pose);
  memory_free(points);
  return body;
}

/* The candidate of two hulls, or -1. */
static int find_candidate(const ContactSystem* s, int i, int j) {
  for (int k = 0; k < s->list_count; k++) {
    const ContactPair* p = contact_pair(s, k);
    if ((p->hull_a == i && p->hull_b == j) || (p->hull_a == j && p->hull_b == i)) return k;
  }
  return -1;
}

/* Returns the number of pairs within the range; adds their reference energy. */
static int check_pairs(Rig* r, double* energy, int step) {
  const Model* m = &r->run->model;
  double range = plane_range(m->contact.support);
  int near = 0;
  for (int i = 0; i < m->hull_count; i++)
    for (int j = i + 1; j < m->hull_count; j++) {
      if (!model_pair_allowed(m, m->hulls[i].link, m->hulls[j].link)) {
        if (find_candidate(r->contact, i, j) >= 0)
          fail_msg("step %d: hulls %d and %d must not touch but are candidates", step, i, j);
        continue;
      }
      if (!m->hulls[i].kind->bounded && !m->hulls[j].kind->bounded) continue;
      bool swap = !m->hulls[i].kind->bounded;
      Body a = body_of(&m->hulls[swap ? j : i], r->from[m->hulls[swap ? j : i].link]);
      Body b = body_of(&m->hulls[swap ? i : j], r->from[m->hulls[swap ? i : j].link]);
      double distance = body_distance(&a, &b);
      int k = find_candidate(r->contact, i, j);
      if (distance < range && k < 0)
        fail_msg("seed 161, step %d: hulls %d and %d are %g m apart and no candidates", step, i, j, distance);
      if (k >= 0) {
        const PairState* state = &contact_pair(r->contact, k)->state[r->contact->current];
        compare_at_most(state->separation, distance + 1e-12,
                        "seed 161, step %d, hulls %d and %d: separation is a lower bound", step, i, j);
        compare_at_most(contact_gap(r->contact, k), distance + 1e-12, "seed 161, step %d: gap", step);
        if (distance < range)
          compare_near(contact_gap(r->contact, k), distance, 1e-12, "seed 161, step %d: exact gap within the range",
                       step);
      }
      if (distance < range) {
        near++;
        ReferencePlane plane = reference_plane(&a, &b, m->contact.support, a.hull.center);
        *energy += m->contact.stiffness * plane.energy;
      }
      body_free(&a);
      body_free(&b);
    }
  return near;
}

static void system_never_misses_a_pair(void** state) {
  (void)state;
  Random random = {161};
  Rig r = rig_create();
  int near = 0, accepted = 0;
  for (int step = 0; step < 400; step++) {
    double size = pow(10, random_uniform(&random, -3.5, -0.7));
    if (!random_step(&r, &random, size)) continue;
    accepted++;
    double wanted = 0, contact, friction;
    near += check_pairs(&r, &wanted, step);
    contact_energy(r.contact, &contact, &friction);
    compare_near(contact, wanted, 1e-7 * wanted + 1e-18, "seed 161, step %d: contact energy", step);
    compare_near(friction, 0, 0, "seed 161, step %d: friction before anything was lagged", step);
  }
  print_message("%d steps, %d pairs within the range\n", accepted, near);
  assert_true(accepted > 100 && near > 100);
  rig_free(&r);
}

/* Slow motion that goes on for long: the reserve of the broad phase is used up step by step, never at once. */
static void system_never_misses_a_pair_in_slow_motion(void** state) {
  (void)state;
  Random random = {165};
  Rig r = rig_create();
  const Model* m = &r.run->model;
  for (int way = 0; way < 3; way++) {
    double* velocity = MEMORY_NEW(double, m->dof_count);
    for (int k = 0; k < m->dof_count; k++) velocity[k] = 2e-3 * random_normal(&random);
    for (int step = 0; step < 150; step++) {
      memcpy(r.path.delta, velocity, sizeof(double) * (size_t)m->dof_count);
      joint_path_poses(&r.path, 1, r.to);
      bound_motion(&r);
      contact_prepare(r.contact, &r.bounds);
      if (!contact_evaluate(r.contact, r.to)) break; /* something is in the way */
      contact_accept(r.contact);
      memcpy(r.path.q, r.path.there, sizeof(double) * (size_t)m->coordinate_count);
      memcpy(r.from, r.to, sizeof(Pose) * (size_t)m->link_count);
      double energy = 0;
      if (step % 5 == 0) check_pairs(&r, &energy, step);
    }
    memory_free(velocity);
  }
  rig_free(&r);
}

/* Force on one body of a pair is minus that on the other; forces of immovable bodies included. */
static void system_forces_cancel(void** state) {
  (void)state;
  Random random = {162};
  Rig r = rig_create();
  int seen = 0;
  for (int step = 0; step < 300; step++) {
    if (step % 5 == 0 && !contact_lag(r.contact)) fail_msg("friction cannot be lagged");
    if (!random_step(&r, &random, pow(10, random_uniform(&random, -3.5, -1)))) continue;
    for (int k = 0; k < contact_term_count(r.contact); k++, seen++) {
      ContactTerms t = contact_term(r.contact, k);
      double size = vec3_norm(t.force[0]);
      compare_vec3(vec3_add(t.force[0], t.force[1]), vec3(0, 0, 0), 1e-10 * size + 1e-16,
                   "seed 162, step %d, term %d: sum of forces", step, k);
    }
  }
  assert_true(seen > 100);
  rig_free(&r);
}

/* Lagging is evaluating the same state again: contact as before, friction without motion zero where no elastic slip is
 * carried (F16), and never below zero. */
static void system_lag_rests_on_the_accepted_state(void** state) {
  (void)state;
  Random random = {163};
  Rig r = rig_create();
  int rubbed = 0;
  for (int step = 0; step < 200; step++) {
    random_step(&r, &random, pow(10, random_uniform(&random, -3.5, -1.5)));
    double before, after, friction;
    contact_energy(r.contact, &before, &friction);
    assert_true(contact_lag(r.contact));
    contact_energy(r.contact, &after, &friction);
    compare_near(after, before, 0, "seed 163, step %d: contact energy", step);
    assert_true(friction >= 0);
    ContactSystem* fresh = contact_create(&r.run->model, 1, 1e-9);
    assert_true(contact_reset(fresh, r.from) && contact_lag(fresh));
    contact_energy(fresh, &after, &friction);
    compare_near(friction, 0, 1e-10 * before + 1e-20, "seed 163, step %d: friction without motion", step);
    contact_destroy(fresh);
    if (!random_step(&r, &random, 1e-4)) continue;
    contact_energy(r.contact, &after, &friction);
    assert_true(friction >= 0);
    rubbed += friction > 0;
  }
  assert_true(rubbed > 20);
  rig_free(&r);
}

/* The result depends on the state only, not on previous states: stored planes have no influence. */
static void system_does_not_depend_on_the_way(void** state) {
  (void)state;
  Random random = {164};
  Rig r = rig_create();
  for (int step = 0; step < 100; step++) {
    if (!random_step(&r, &random, pow(10, random_uniform(&random, -3, -1)))) continue;
    double warm, cold, friction;
    contact_energy(r.contact, &warm, &friction);
    ContactSystem* fresh = contact_create(&r.run->model, 1, 1e-9);
    assert_true(contact_reset(fresh, r.from));
    contact_energy(fresh, &cold, &friction);
    compare_near(warm, cold, 1e-9 * cold + 1e-20, "seed 164, step %d: energy", step);
    contact_destroy(fresh);
  }
  rig_free(&r);
}

/* ---------------------------------------------------------------- who stays is not looked at again */

/* Every second link goes on; the others stay where they are. */
static void some_move(Rig* r, Random* random, double size) {
  const Model* m = &r->run->model;
  for (int i = 0; i < m->link_count; i++)
    for (int k = 0; k < m->links[i].dof_count; k++)
      r->path.delta[m->links[i].dof_first + k] = i % 2 ? size * random_normal(random) : 0;
  joint_path_poses(&r->path, 1, r->to);
  bound_motion(r);
}

static bool link_stays(const Rig* r, int link) { return memcmp(&r->from[link], &r->to[link], sizeof(Pose)) == 0; }

/* Checks the stored values of a pair in the line-search evaluation, and whether they are bit-identical to the accepted
 * state's. */
static void check_pair_kept(const Rig* r, int candidate, int step) {
  const ContactPair* p = contact_pair(r->contact, candidate);
  const PairState *old = &p->state[r->contact->current], *new = &p->state[1 - r->contact->current];
  ContactTrial trial = contact_candidate_trial(r->contact, candidate);
  compare_near(trial.change, 0, 0, "seed 166, step %d, pair %d: energy of a pair that stays", step, candidate);
  assert_int_equal(new->derived, old->derived);
  if (!old->derived) return;
  PairDerivatives* const* derivatives = r->contact->derivatives;
  int slot = r->contact->list[candidate], current = r->contact->current;
  compare_bytes(&derivatives[1 - current][slot], &derivatives[current][slot], sizeof(PairDerivatives),
                "seed 166, step %d, pair %d", step, candidate);
}

/* Pairs of links that both stay have the accepted state's numbers to the bit; pairs that moved those of an evaluation
 * from scratch, to the accuracy of planes. */
static void system_pairs_that_stay_keep_their_numbers(void** state) {
  (void)state;
  Random random = {166};
  Rig r = rig_create();
  int kept = 0, moved = 0;
  for (int step = 0; step < 300; step++) {
    random_step(&r, &random, pow(10, random_uniform(&random, -3.5, -1.5)));
    if (!contact_lag(r.contact)) fail_msg("seed 166, step %d: friction cannot be lagged", step);
    some_move(&r, &random, 1e-4);
    contact_prepare(r.contact, &r.bounds);
    if (!contact_evaluate(r.contact, r.to)) continue;
    ContactSystem* fresh = contact_create(&r.run->model, 1, 1e-9);
    assert_true(contact_reset(fresh, r.to));
    for (int k = 0; k < r.contact->list_count; k++) {
      const ContactPair* p = contact_pair(r.contact, k);
      if (!p->state[r.contact->current].has_terms) continue;
      if (link_stays(&r, p->link_a) && link_stays(&r, p->link_b)) {
        check_pair_kept(&r, k, step);
        kept++;
        continue;
      }
      moved++;
      int other = find_candidate(fresh, p->hull_a, p->hull_b);
      const PairState *warm = &p->state[1 - r.contact->current],
                      *cold = other < 0 ? NULL : &contact_pair(fresh, other)->state[fresh->current];
      double wanted = cold ? cold->contact_energy : 0;
      compare_near(warm->contact_energy, wanted, 1e-9 * wanted + 1e-20, "seed 166, step %d: energy", step);
    }
    contact_destroy(fresh);
  }
  print_message("%d pairs kept, %d evaluated\n", kept, moved);
  assert_true(kept > 20 && moved > 20);
  rig_free(&r);
}

/* Reference: marks the groups that contain a refused pair, by a check of every pair. */
static void refused_by_all_pairs(ContactSystem* s, const Pose* poses, const int* groups, bool* refused) {
  (void)contact_evaluate(s, poses);
  for (int k = 0; k < s->list_count; k++) {
    ContactTrial pair = contact_candidate_trial(s, k);
    if (pair.feasible) continue;
    if (groups[pair.link_a] >= 0) refused[groups[pair.link_a]] = true;
    if (groups[pair.link_b] >= 0) refused[groups[pair.link_b]] = true;
  }
}

/* Omitting pairs changes neither the refused groups nor, if no group is refused, any energy. Two systems follow the
 * same trajectory, with shorter and shorter evaluations of the same step. One of them is evaluated group by group. */
static void system_try_refuses_whom_all_pairs_refuse(void** state) {
  (void)state;
  Random random = {168};
  Rig r = rig_create();
  const Model* m = &r.run->model;
  ContactSystem* whole = contact_create(m, 1, 1e-9);
  assert_true(contact_reset(whole, r.from));
  int groups[64], refusals = 0, passes = 0;
  for (int i = 0; i < m->link_count; i++) groups[i] = m->links[i].tree < 0 ? -1 : m->links[i].tree / 2;
  for (int step = 0; step < 200; step++) {
    double size = pow(10, random_uniform(&random, -3, -0.7));
    for (int k = 0; k < m->dof_count; k++) r.path.delta[k] = size * random_normal(&random);
    if (step % 2) approach(&r, &random);
    bool accepted = false;
    joint_path_poses(&r.path, 1, r.to);
    bound_motion(&r);
    contact_prepare(r.contact, &r.bounds);
    contact_prepare(whole, &r.bounds);
    for (double alpha = 1; alpha > 1e-3 && !accepted; alpha *= 0.5) {
      bool found[64] = {false}, wanted[64] = {false};
      joint_path_poses(&r.path, alpha, r.to);
      accepted = contact_evaluate_trial(r.contact, r.to, NULL, groups, m->tree_count, found);
      refused_by_all_pairs(whole, r.to, groups, wanted);
      for (int k = 0; k < m->tree_count; k++) {
        if (found[k] != wanted[k])
          fail_msg("seed 168, step %d, alpha %g: group %d is refused: %d", step, alpha, k, found[k]);
        refusals += found[k];
      }
    }
    if (!accepted) continue;
    passes++;
    for (int k = 0; k < whole->list_count; k++) {
      double change = contact_candidate_trial(whole, k).change;
      compare_near(contact_candidate_trial(r.contact, k).change, change, 1e-9 * fabs(change) + 1e-20,
                   "seed 168, step %d", step);
    }
    contact_accept(r.contact);
    contact_accept(whole);
    if (!contact_lag(r.contact) || !contact_lag(whole)) fail_msg("seed 168, step %d: friction cannot be lagged", step);
    memcpy(r.from, r.to, sizeof(Pose) * (size_t)m->link_count);
    memcpy(r.path.q, r.path.there, sizeof(double) * (size_t)m->coordinate_count);
  }
  print_message("%d refusals, %d steps accepted\n", refusals, passes);
  assert_true(refusals > 50 && passes > 50);
  contact_destroy(whole);
  rig_free(&r);
}

static double total_change(const ContactSystem* s) {
  double sum = 0;
  for (int k = 0; k < s->list_count; k++) sum += contact_candidate_trial(s, k).change;
  return sum;
}

/* Every link moves or stays by the toss of a coin. */
static void move_some_links(Rig* r, Random* random, bool* links) {
  const Model* m = &r->run->model;
  for (int i = 0; i < m->link_count; i++) links[i] = false;
  for (int k = 0; k < m->tree_count; k++) {
    bool moves = random_bits(random) % 2;
    for (int d = m->trees[k].dof_first; d < m->trees[k].dof_first + m->trees[k].dof_count; d++)
      r->path.delta[d] = moves ? 1e-3 * random_normal(random) : 0;
    for (int i = 0; i < m->link_count; i++) links[i] = links[i] || (moves && m->links[i].tree == k);
  }
  joint_path_poses(&r->path, 1, r->to);
  bound_motion(r);
}

/* A pair of links at rest has the same values whether the pair is skipped or evaluated. Two systems follow the same
 * trajectory. Only one of them knows which links move. */
static void system_pairs_that_sleep_are_as_if_awake(void** state) {
  (void)state;
  Random random = {169};
  Rig r = rig_create();
  const Model* m = &r.run->model;
  ContactSystem* awake = contact_create(m, 1, 1e-9);
  assert_true(contact_reset(awake, r.from));
  int groups[64], slept = 0, passes = 0;
  bool links[64], refused[64];
  for (int i = 0; i < m->link_count; i++) groups[i] = m->links[i].tree;
  for (int step = 0; step < 200; step++) {
    move_some_links(&r, &random, links);
    contact_prepare(r.contact, &r.bounds);
    contact_prepare(awake, &r.bounds);
    contact_wake(r.contact, links);
    contact_wake(awake, NULL);
    bool passed = contact_evaluate_trial(r.contact, r.to, NULL, groups, m->tree_count, refused);
    if (passed != contact_evaluate_trial(awake, r.to, NULL, groups, m->tree_count, refused))
      fail_msg("seed 169, step %d: refusal", step);
    if (!passed) continue;
    slept += contact_candidate_count(r.contact) - contact_awake_count(r.contact);
    compare_near(total_change(r.contact), total_change(awake), 0, "seed 169, step %d: change", step);
    contact_accept(r.contact);
    contact_accept(awake);
    assert_int_equal(contact_term_count(r.contact), contact_term_count(awake));
    for (int k = 0; k < contact_term_count(awake); k++) {
      ContactTerms a = contact_term(r.contact, k), b = contact_term(awake, k);
      assert_true(a.link_a == b.link_a && a.link_b == b.link_b);
      assert_memory_equal(a.hessian, b.hessian, sizeof(double[12][12]));
    }
    if (step % 3 == 2 && (!contact_lag(r.contact) || !contact_lag(awake))) fail_msg("seed 169, step %d: lag", step);
    memcpy(r.from, r.to, sizeof(Pose) * (size_t)m->link_count);
    memcpy(r.path.q, r.path.there, sizeof(double) * (size_t)m->coordinate_count);
    passes++;
  }
  print_message("%d pairs slept, %d steps accepted\n", slept, passes);
  assert_true(slept > 50 && passes > 50);
  contact_destroy(awake);
  rig_free(&r);
}

/* The accepted poses as a trial: nothing changes. The same trial twice: the same bits, whatever was tried between as
 * far as planes are exact. */
static void system_the_same_trial_again_is_the_same(void** state) {
  (void)state;
  Random random = {167};
  Rig r = rig_create();
  int seen = 0;
  Pose* other = MEMORY_NEW(Pose, r.run->model.link_count);
  for (int step = 0; step < 200; step++) {
    random_step(&r, &random, pow(10, random_uniform(&random, -3.5, -1.5)));
    if (!contact_lag(r.contact)) fail_msg("seed 167, step %d: friction cannot be lagged", step);
    assert_true(contact_evaluate(r.contact, r.from));
    compare_near(total_change(r.contact), 0, 0, "seed 167, step %d: the accepted state again", step);
    some_move(&r, &random, 1e-4);
    contact_prepare(r.contact, &r.bounds);
    if (!contact_evaluate(r.contact, r.to)) continue;
    double energy, friction, first = total_change(r.contact);
    contact_energy(r.contact, &energy, &friction);
    assert_true(contact_evaluate(r.contact, r.to));
    compare_near(total_change(r.contact), first, 0, "seed 167, step %d: the same trial", step);
    joint_path_poses(&r.path, 0.5, other);
    if (!contact_evaluate(r.contact, other)) continue;
    assert_true(contact_evaluate(r.contact, r.to));
    compare_near(total_change(r.contact), first, 1e-9 * (energy + fabs(first)) + 1e-20,
                 "seed 167, step %d: after another trial", step);
    seen += first != 0;
  }
  assert_true(seen > 20);
  memory_free(other);
  rig_free(&r);
}

/* Some links have the same poses as in the previous line-search evaluation. All results must be bit-identical to those
 * of a system without the previous evaluation. */
static void system_a_shorter_trial_is_measured_as_a_first_one(void** state) {
  (void)state;
  Random random = {170};
  Rig r = rig_create();
  const Model* m = &r.run->model;
  size_t links = (size_t)m->link_count;
  ContactSystem* once = contact_create(m, 1, 1e-9);
  assert_true(contact_reset(once, r.from));
  Pose* half = MEMORY_NEW(Pose, links);
  int kept = 0;
  for (int step = 0; step < 100; step++) {
    some_move(&r, &random, 1e-3);
    joint_path_poses(&r.path, 0.5, half);
    contact_prepare(r.contact, &r.bounds);
    contact_prepare(once, &r.bounds);
    (void)contact_evaluate(r.contact, r.to);
    for (size_t i = 0; i < links; i++)
      if ((i + (size_t)step) % 3 == 0) half[i] = r.to[i];
    for (size_t i = 0; i < links; i++) kept += (i + (size_t)step) % 3 == 0 && !link_stays(&r, (int)i);
    bool passed = contact_evaluate(r.contact, half);
    assert_true(passed == contact_evaluate(once, half));
    assert_memory_equal(r.contact->twist, once->twist, sizeof(double[6]) * links);
    assert_memory_equal(r.contact->moved, once->moved, sizeof(double) * (size_t)m->hull_count);
    int now = once->current;
    assert_int_equal(r.contact->current, now);
    assert_memory_equal(r.contact->stays[now], once->stays[now], sizeof(bool) * links);
    assert_memory_equal(r.contact->reference[1 - now], once->reference[1 - now], sizeof(Vec3) * links);
    assert_memory_equal(r.contact->pose[1 - now], half, sizeof(Pose) * links);
    for (int i = 0; i < m->hull_count; i++) {
      const HullInstance *a = &r.contact->instance[1 - now][i], *b = &once->instance[1 - now][i];
      assert_memory_equal(&a->pose, &b->pose, sizeof(Pose));
      assert_memory_equal(&a->center, &b->center, sizeof(Vec3));
    }
    if (!passed || step % 4 != 0) continue;
    contact_accept(r.contact);
    contact_accept(once);
    memcpy(r.from, half, sizeof(Pose) * links);
  }
  assert_true(kept > 50);
  memory_free(half);
  contact_destroy(once);
  rig_free(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(system_never_misses_a_pair),
      cmocka_unit_test(system_never_misses_a_pair_in_slow_motion),
      cmocka_unit_test(system_forces_cancel),
      cmocka_unit_test(system_lag_rests_on_the_accepted_state),
      cmocka_unit_test(system_does_not_depend_on_the_way),
      cmocka_unit_test(system_pairs_that_stay_keep_their_numbers),
      cmocka_unit_test(system_pairs_that_sleep_are_as_if_awake),
      cmocka_unit_test(system_the_same_trial_again_is_the_same),
      cmocka_unit_test(system_a_shorter_trial_is_measured_as_a_first_one),
      cmocka_unit_test(system_try_refuses_whom_all_pairs_refuse),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
