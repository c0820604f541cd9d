/* Tests links of very many convex pieces (contact/dense.c) and the pair lists of each contact law (pair_list.c). */
#include <stdio.h>
#include <string.h>

#include "contact/system.h"
#include "support/paths.h"
#include "support/runs.h"

enum { CELLS = 6, TRIANGLES = 2 * CELLS * CELLS, DRAWS = 40, SEED = 20262, TEXT = 20000 };
#define CELL 0.02
#define EDGE (CELLS * CELL)

/* A square sheet of 72 triangles. */
static void write_sheet(char* text) {
  static const int CORNERS[6][2] = {{0, 0}, {1, 0}, {0, 1}, {1, 0}, {1, 1}, {0, 1}};
  int at = 0;
  for (int cell = 0; cell < CELLS * CELLS; cell++)
    for (int k = 0; k < 6; k++) {
      int row = cell / CELLS, column = cell % CELLS;
      double x = (column + CORNERS[k][0]) * CELL, y = (row + CORNERS[k][1]) * CELL;
      at += snprintf(text + at, (size_t)(TEXT - at), "%s[%g, %g, 0]", cell + k > 0 ? ", " : "", x, y);
    }
}

/* Two sheets and a box beside them. */
static Run* sheets(const char* contact, double gap) {
  static char text[TEXT];
  write_sheet(text);
  return run_model(
      "contact: {%s}\nshapes:\n  sheet: {type: points, pieces: triangles, points: [%s]}\nlinks:\n"
      "  - {name: one, mass: 1, shape: sheet}\n  - {name: two, mass: 1, position: [0, 0, %g], shape: sheet}\n"
      "  - {name: box, mass: 1, position: [1, 0, 0], shape: {type: box, size: [0.1, 0.1, 0.1]}}\n",
      contact, text, gap);
}

static ContactSystem* placed(const Model* m) {
  ContactSystem* s = contact_create(m, 1, 1e-9);
  JointPath path = joint_path_create(m);
  Pose poses[3];
  joint_path_poses(&path, 0, poses);
  assert_true(contact_reset(s, poses));
  joint_path_free(&path);
  return s;
}

static void crowds_go_no_farther_than_their_pieces_are_large(void** state) {
  (void)state;
  Run* run = sheets("support: 1.0e-3", 0.05);
  ContactSystem* s = placed(&run->model);
  MotionBound link[3] = {{.speed = 0.5}, {.speed = 0.5}, {.speed = 0.5}};
  MotionBounds bounds = {link, NULL};
  double most = 2 * CELL / sqrt(2); /* two radii of a right triangle: half of its longest edge each */
  double share = contact_path_fraction(s, &bounds, 0);
  assert_true(share * 0.5 <= most * (1 + 1e-12) && share > 0);
  assert_true(2 * share * 0.5 > 0.5 * most);
  assert_true(contact_path_fraction(s, &bounds, 1) == share);
  assert_true(contact_path_fraction(s, &bounds, 2) == 1); /* a box is one piece */
  contact_prepare(s, &bounds);
  assert_true(s->list_count >= TRIANGLES * TRIANGLES); /* what the share is there against */
  contact_destroy(s);
  s = placed(&run->model);
  link[0].speed = link[1].speed = share * 0.5;
  contact_prepare(s, &bounds);
  assert_true(s->list_count < TRIANGLES * TRIANGLES / 2);
  contact_destroy(s);
  run_free(run);
}

/* A body may make its full displacement if it is out of range, spins slowly or is represented by an aggregate pair. */
static void crowds_alone_go_on(void** state) {
  (void)state;
  static const struct {
    const char* contact;
    double gap, speed;
  } CASES[] = {{"support: 1.0e-3", 2, 0.5}, {"support: 1.0e-3", 0.05, 0.01}, {"model: long_range", 0.05, 0.5}};
  for (size_t k = 0; k < sizeof(CASES) / sizeof(CASES[0]); k++) {
    Run* run = sheets(CASES[k].contact, CASES[k].gap);
    ContactSystem* s = placed(&run->model);
    MotionBound link[3] = {{.speed = CASES[k].speed}, {.speed = CASES[k].speed}, {.speed = 0}};
    MotionBounds bounds = {link, NULL};
    assert_true(contact_path_fraction(s, &bounds, 0) == 1);
    contact_destroy(s);
    run_free(run);
  }
}

static bool is_listed(const ContactSystem* s, int a, int b) {
  for (int k = 0; k < s->list_count; k++)
    if (contact_pair(s, k)->key == ((uint64_t)a << 32 | (uint32_t)b)) return true;
  return false;
}

/* Pairs of sheets use the separating-plane law. Pairs with the box use the long-range law. */
static void pairs_are_listed_by_their_own_law(void** state) {
  (void)state;
  Run* run = sheets("barrier_distance: 1.0e-3, pairs: [{a: box, b: one, model: long_range}]", 0.05);
  const Model* m = &run->model;
  Random random = {SEED};
  double range = contact_law_of_links(m, 0, 1)->range(m);
  int near = 0, left_out = 0;
  for (int draw = 0; draw < DRAWS; draw++) {
    ContactSystem* s = contact_create(m, 1, 1e-9);
    JointPath path = joint_path_create(m);
    Pose poses[3];
    for (int k = 0; k < 3; k++) path.q[m->links[1].coordinate_first + k] = random_uniform(&random, -0.2, 0.2);
    joint_path_poses(&path, 0, poses);
    MotionBound link[3] = {{.speed = random_uniform(&random, 0, 0.02)}, {.speed = random_uniform(&random, 0, 0.02)}};
    MotionBounds bounds = {link, NULL};
    if (contact_reset(s, poses)) {
      contact_prepare(s, &bounds);
      for (int a = 0; a < TRIANGLES; a++)
        for (int b = TRIANGLES; b < 2 * TRIANGLES; b++) {
          GjkResult found = gjk_distance(m->hulls[a].points, poses[0], m->hulls[b].points, poses[1], NULL);
          bool may_press = found.distance < range + link[0].speed + link[1].speed, listed = is_listed(s, a, b);
          if (may_press && !listed) fail_msg("seed %d, draw %d: triangles %d and %d are not listed", SEED, draw, a, b);
          near += may_press;
          left_out += !listed && found.distance < s->reach[a] + s->reach[b];
        }
    }
    joint_path_free(&path);
    contact_destroy(s);
  }
  assert_true(near > DRAWS && left_out > DRAWS);
  run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(crowds_go_no_farther_than_their_pieces_are_large),
      cmocka_unit_test(crowds_alone_go_on),
      cmocka_unit_test(pairs_are_listed_by_their_own_law),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
