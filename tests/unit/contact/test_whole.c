/* Tests aggregate pairs, which represent all triangle pairs of two links (contact/whole.c). Distances, friction pairs
 * and displacements from the traversal of both trees are compared with all triangle pairs. */
#include <string.h>

#include "contact/reciprocal.h"
#include "contact/system.h"
#include "support/paths.h"
#include "support/runs.h"

/* An open sheet of six triangles, a closed stone of four and a stick that is a hull. */
static const char SCENE[] =
    "contact: {model: long_range, stiffness: 1.0e-5, friction: 0.3, listed_range: 0.4, hierarchy: %s}\n"
    "shapes:\n"
    "  stone: {type: points, pieces: triangles, points: [[0, 0, 0], [0, 0.2, 0], [0.3, 0, 0], [0, 0, 0], [0.3, 0, 0], "
    "[0.1, 0.1, 0.2], [0, 0, 0], [0.1, 0.1, 0.2], [0, 0.2, 0], [0, 0.2, 0], [0.1, 0.1, 0.2], [0.3, 0, 0]]}\n"
    "  sheet: {type: points, pieces: triangles, points: [[0, 0, 0], [0.2, 0, 0.05], [0, 0.2, 0.02], [0.2, 0, 0.05], "
    "[0.2, 0.2, 0], [0, 0.2, 0.02], [0.2, 0, 0.05], [0.4, 0, 0], [0.2, 0.2, 0], [0.4, 0, 0], [0.4, 0.2, 0.04], [0.2, "
    "0.2, 0], [0, 0.2, 0.02], [0.2, 0.2, 0], [0, 0.4, 0], [0.2, 0.2, 0], [0.2, 0.4, 0.05], [0, 0.4, 0]]}\n"
    "links:\n"
    "  - {name: sheet, mass: 1, shape: sheet}\n"
    "  - {name: stone, mass: 1, position: [0.1, 0.1, 0.2], shape: stone}\n"
    "  - {name: stick, mass: 1, position: [0, 0, -0.4], shape: {type: box, size: [0.5, 0.02, 0.02]}}\n";

enum { DRAWS = 200, SAMPLES = 60, SEED = 20261 };
static const int LINKS[3][2] = {{0, 1}, {0, 2}, {1, 2}};
/* Of the potential: the walks are the same for both. */
static const char* const HIERARCHY[] = {"true", "false"};

/* Sets q to random poses near each other. */
static void draw_state(JointPath* path, Random* random) {
  for (int link = 0; link < 3; link++) {
    const ModelLink* l = &path->model->links[link];
    for (int k = 0; k < 3; k++) path->q[l->coordinate_first + k] = random_uniform(random, -0.25, 0.25);
    double length = 0, *turn = path->q + l->coordinate_first + 3;
    for (int k = 0; k < 4; k++) {
      turn[k] = random_normal(random);
      length += turn[k] * turn[k];
    }
    for (int k = 0; k < 4; k++) turn[k] /= sqrt(length);
  }
}

static double brute_distance(const Model* m, const int link[2], const Pose* poses) {
  double least = INFINITY;
  for (int i = m->links[link[0]].hull_first; i < m->links[link[0]].hull_first + m->links[link[0]].hull_count; i++)
    for (int j = m->links[link[1]].hull_first; j < m->links[link[1]].hull_first + m->links[link[1]].hull_count; j++) {
      GjkResult found = gjk_distance(m->hulls[i].points, poses[link[0]], m->hulls[j].points, poses[link[1]], NULL);
      least = fmin(least, found.distance);
    }
  return least;
}

static void check_distances_are_those_of_all_triangles(const char* hierarchy) {
  Run* run = run_model(SCENE, hierarchy);
  const Model* m = &run->model;
  ContactSystem* s = contact_create(m, 1, 1e-9);
  JointPath path = joint_path_create(m);
  Pose poses[3];
  Random random = {SEED};
  int known = 0;
  for (int draw = 0; draw < DRAWS; draw++) {
    draw_state(&path, &random);
    joint_path_poses(&path, 0, poses);
    for (int k = 0; k < 3; k++) {
      ContactPair pair = {.is_link_pair = true, .link_a = LINKS[k][0], .link_b = LINKS[k][1]};
      assert_true(contact_is_aggregate_pair(s, pair.link_a, pair.link_b));
      double found = contact_aggregate_distance(s, &pair, poses), right = brute_distance(m, LINKS[k], poses);
      if (isinf(found) && right > s->range) continue;
      known++;
      if (fabs(found - right) > 1e-12) fail_msg("seed %d, draw %d: %.17g m, not %.17g", SEED, draw, found, right);
    }
  }
  assert_true(known > DRAWS);
  joint_path_free(&path);
  contact_destroy(s);
  run_free(run);
}

static void whole_N26_distances_are_those_of_all_triangles(void** state) {
  (void)state;
  for (int k = 0; k < 2; k++) check_distances_are_those_of_all_triangles(HIERARCHY[k]);
}

/* Are the hulls' spheres nearer than twice their radii (blend 1)? */
static bool rubs(const Model* m, const Hierarchy* h, int a, int b, const Pose* poses) {
  int la = m->hulls[a].link, lb = m->hulls[b].link;
  const TreeNode *x = &h->trees[la].nodes[h->leaf[a]], *y = &h->trees[lb].nodes[h->leaf[b]];
  double r = vec3_norm(vec3_sub(pose_apply(poses[la], x->center), pose_apply(poses[lb], y->center)));
  return r < 2 * (x->radius + y->radius);
}

static bool is_listed(const ContactSystem* s, int a, int b) {
  for (int k = 0; k < s->list_count; k++)
    if (contact_pair(s, k)->key == ((uint64_t)a << 32 | (uint32_t)b)) return true;
  return false;
}

/* After a friction lag, exactly the pairs with friction are listed. */
static void check_pairs_list_who_rubs(const char* how) {
  Run* run = run_model(SCENE, how);
  const Model* m = &run->model;
  ContactSystem* s = contact_create(m, 1, 1e-9);
  JointPath path = joint_path_create(m);
  Hierarchy hierarchy;
  Pose poses[3];
  Random random = {SEED};
  int rubbing = 0, others = 0;
  hierarchy_create(&hierarchy, m);
  for (int draw = 0; draw < DRAWS; draw++) {
    draw_state(&path, &random);
    joint_path_poses(&path, 0, poses);
    if (!contact_reset(s, poses)) continue; /* they meet */
    contact_find_records(s);
    assert_int_equal(contact_active_count(s), s->list_count); /* pairs of links press, too */
    assert_true(contact_lag(s));
    for (int a = 0; a < m->hull_count; a++)
      for (int b = a + 1; b < m->hull_count; b++) {
        if (m->hulls[a].link == m->hulls[b].link) continue;
        bool right = rubs(m, &hierarchy, a, b, poses);
        rubbing += right;
        others += !right;
        if (is_listed(s, a, b) != right) fail_msg("seed %d, draw %d: hulls %d and %d, %d", SEED, draw, a, b, right);
      }
  }
  assert_true(rubbing > DRAWS && others > DRAWS);
  hierarchy_destroy(&hierarchy);
  joint_path_free(&path);
  contact_destroy(s);
  run_free(run);
}

static void whole_N26_pairs_list_who_rubs(void** state) {
  (void)state;
  for (int k = 0; k < 2; k++) check_pairs_list_who_rubs(HIERARCHY[k]);
}

/* Certified motions have no intersection at dense samples. Most motions without intersection are certified. */
static void check_ways_are_proved_rightly(const char* hierarchy) {
  Run* run = run_model(SCENE, hierarchy);
  JointPath path = joint_path_create(&run->model);
  Random random = {SEED};
  int clear = 0, certified = 0, hit = 0;
  for (int draw = 0; draw < DRAWS; draw++) {
    int intervals = 0;
    draw_state(&path, &random);
    for (int k = 0; k < run->model.dof_count; k++) path.delta[k] = (k % 6 < 3 ? 0.3 : 0.8) * random_normal(&random);
    PathVerdict verdict = joint_path_certify(&path, &intervals);
    if (verdict == PATH_ENDS_MEET) continue;
    double least = joint_path_least_distance(&path, SAMPLES);
    if (verdict == PATH_CERTIFIED && !(least > 0)) fail_msg("seed %d, draw %d: certified, but meets", SEED, draw);
    hit += !(least > 0);
    clear += least > 0.02;
    certified += least > 0.02 && verdict == PATH_CERTIFIED;
  }
  print_message("%d ways meet something, %d of %d that stay 2 cm clear are certified\n", hit, certified, clear);
  assert_true(hit > 10 && clear > 10);
  assert_int_equal(certified, clear);
  joint_path_free(&path);
  run_free(run);
}

static void whole_N26_ways_are_proved_rightly(void** state) {
  (void)state;
  for (int k = 0; k < 2; k++) check_ways_are_proved_rightly(HIERARCHY[k]);
}

/* hierarchy: false is Eq. 3 of the paper: all pairs of triangles, each with its exact potential. */
static double sum_of_all(const Model* m, const Pose* poses, PlaneScratch* scratch) {
  double sum = 0;
  for (int a = 0; a < m->hull_count; a++)
    for (int b = a + 1; b < m->hull_count; b++) {
      if (m->hulls[a].link == m->hulls[b].link) continue;
      HullInstance x = pair_hull_at(&m->hulls[a], &poses[m->hulls[a].link]);
      HullInstance y = pair_hull_at(&m->hulls[b], &poses[m->hulls[b].link]);
      GjkResult found;
      PlaneSolution solution;
      assert_true(pair_distance(&x, &y, NULL, &found) > 0);
      assert_true(reciprocal_solve(&x, &y, &found, scratch, &solution));
      sum += m->contact.stiffness * solution.energy;
    }
  return sum;
}

static void whole_N3_the_plain_sum_is_that_of_all_triangles(void** state) {
  (void)state;
  Run* run = run_model(SCENE, "false");
  const Model* m = &run->model;
  ContactSystem* s = contact_create(m, 1, 1e-9);
  JointPath path = joint_path_create(m);
  double room[3][64];
  PlaneScratch scratch = {room[0], room[1], room[2], 64, 0};
  Pose poses[3];
  Random random = {SEED};
  int apart = 0;
  for (int draw = 0; draw < DRAWS; draw++) {
    draw_state(&path, &random);
    joint_path_poses(&path, 0, poses);
    if (!contact_reset(s, poses)) continue; /* they meet */
    double contact, friction, right = sum_of_all(m, poses, &scratch);
    contact_energy(s, &contact, &friction);
    apart++;
    if (fabs(contact - right) > 1e-12 * right)
      fail_msg("seed %d, draw %d: %.17g J, not %.17g", SEED, draw, contact, right);
  }
  assert_true(apart > DRAWS / 4);
  joint_path_free(&path);
  contact_destroy(s);
  run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(whole_N26_distances_are_those_of_all_triangles),
      cmocka_unit_test(whole_N26_pairs_list_who_rubs),
      cmocka_unit_test(whole_N26_ways_are_proved_rightly),
      cmocka_unit_test(whole_N3_the_plain_sum_is_that_of_all_triangles),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
