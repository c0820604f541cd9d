/* Tests the broad phase: overlapping boxes against a check of all pairs. */
#include "contact/broad_phase.h"

#include "support/compare.h"

static bool overlap(const Box* a, const Box* b) {
  if (a->low.x > a->high.x || b->low.x > b->high.x) return false;
  return a->low.x <= b->high.x && b->low.x <= a->high.x && a->low.y <= b->high.y && b->low.y <= a->high.y &&
         a->low.z <= b->high.z && b->low.z <= a->high.z;
}

static bool strange(const BroadGroups* groups, int i, int j) {
  if (!groups->group_of || groups->group_of[i] < 0 || groups->group_of[j] < 0) return false;
  return groups->excluded[groups->group_of[i] * groups->count + groups->group_of[j]];
}

/* still: for each box, true if the box is at rest. NULL if no box is at rest. */
static void check_keys(const BroadPhase* broad, const Box* boxes, const bool* still, int count, const char* what) {
  int at = 0;
  for (int i = 0; i < count; i++)
    for (int j = i + 1; j < count; j++) {
      if (!overlap(&boxes[i], &boxes[j]) || (still && still[i] && still[j]) || strange(&broad->groups, i, j)) continue;
      uint64_t key = (uint64_t)i << 32 | (uint32_t)j;
      if (at >= broad->key_count || broad->keys[at] != key)
        fail_msg("%s: pair (%d, %d) is missing or out of order", what, i, j);
      at++;
    }
  if (at != broad->key_count) fail_msg("%s: %d pairs found, wanted %d", what, broad->key_count, at);
}

static void check_all_pairs(BroadPhase* broad, const Box* boxes, int count, const char* what) {
  broad_phase_find_moving(broad, boxes, NULL, count);
  check_keys(broad, boxes, NULL, count, what);
}

static Box random_box(Random* random, double spread, double size) {
  Vec3 low = vec3(random_uniform(random, -spread, spread), random_uniform(random, -spread, spread),
                  random_uniform(random, -spread, spread));
  return (Box){low, vec3_add(low, vec3(random_uniform(random, 0, size), random_uniform(random, 0, size),
                                       random_uniform(random, 0, size)))};
}

static void broad_phase_finds_all_overlaps(void** state) {
  (void)state;
  Random random = {141};
  BroadPhase broad = {0};
  static const int counts[] = {0, 1, 2, 3, 5, 17, 100, 600, 50};
  Box* boxes = MEMORY_NEW(Box, 600);
  for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
    for (double size = 0.01; size < 3; size *= 5) {
      for (int i = 0; i < counts[k]; i++) {
        boxes[i] = random_box(&random, 1, size);
        if (i % 11 == 3) boxes[i] = (Box){vec3(1, 1, 1), vec3(-1, -1, -1)}; /* empty */
        if (i % 13 == 5) boxes[i] = boxes[i / 2];                           /* the same box twice */
        if (i % 50 == 9) boxes[i] = random_box(&random, 1, 20);             /* a large one */
      }
      char what[80];
      snprintf(what, sizeof what, "seed 141, %d boxes of size %g", counts[k], size);
      check_all_pairs(&broad, boxes, counts[k], what);
    }
  memory_free(boxes);
  broad_phase_free(&broad);
}

/* Boxes at rest are sorted once while other boxes move among them. */
static void broad_phase_of_boxes_at_rest(void** state) {
  (void)state;
  enum { COUNT = 400 };
  for (uint64_t seed = 1; seed <= 8; seed++) {
    Random random = {seed};
    BroadPhase broad = {0};
    Box boxes[COUNT];
    bool rests[COUNT];
    int still[COUNT], moving[COUNT], still_count = 0, moving_count = 0;
    double part = (double)(seed - 1) / 7; /* none to all of them */
    for (int i = 0; i < COUNT; i++) {
      boxes[i] = random_box(&random, 1, 0.3);
      if (i % 11 == 3) boxes[i] = (Box){vec3(1, 1, 1), vec3(-1, -1, -1)};
      rests[i] = random_uniform(&random, 0, 1) < part;
      if (rests[i])
        still[still_count++] = i;
      else
        moving[moving_count++] = i;
    }
    broad_phase_rest(&broad, boxes, still, still_count);
    for (int round = 0; round < 4; round++) {
      char what[80];
      snprintf(what, sizeof what, "seed %d, round %d", (int)seed, round);
      broad_phase_find_moving(&broad, boxes, moving, moving_count);
      check_keys(&broad, boxes, rests, COUNT, what);
      for (int k = 0; k < moving_count; k++) boxes[moving[k]] = random_box(&random, 1, 0.3);
    }
    broad_phase_free(&broad);
  }
}

/* Bodies of many boxes, some of which are nobody's business; boxes of no group are everybody's. */
static void broad_phase_of_groups(void** state) {
  (void)state;
  enum { COUNT = 500, GROUPS = 6 };
  for (uint64_t seed = 11; seed <= 16; seed++) {
    Random random = {seed};
    Box boxes[COUNT];
    int of[COUNT], still[COUNT], moving[COUNT], still_count = 0, moving_count = 0;
    bool strangers[GROUPS * GROUPS], rests[COUNT];
    for (int a = 0; a < GROUPS; a++)
      for (int b = 0; b <= a; b++)
        strangers[a * GROUPS + b] = strangers[b * GROUPS + a] = a == b || random_uniform(&random, 0, 1) < 0.3;
    for (int i = 0; i < COUNT; i++) {
      boxes[i] = random_box(&random, 0.3, 0.3);
      of[i] = i % 7 == 3 ? BROAD_MIXED : (int)random_uniform(&random, 0, GROUPS);
      Vec3 apart = vec3(0.4 * of[i], 0, 0);
      boxes[i] = (Box){vec3_add(boxes[i].low, apart), vec3_add(boxes[i].high, apart)};
      rests[i] = of[i] == 0 || i % 29 == 0;
      if (rests[i])
        still[still_count++] = i;
      else
        moving[moving_count++] = i;
    }
    BroadPhase broad = {.groups = {of, strangers, GROUPS}};
    char what[80];
    snprintf(what, sizeof what, "seed %d", (int)seed);
    broad_phase_rest(&broad, boxes, still, still_count);
    broad_phase_find_moving(&broad, boxes, moving, moving_count);
    assert_true(broad.key_count > 0);
    check_keys(&broad, boxes, rests, COUNT, what);
    broad_phase_free(&broad);
  }
}

/* All in one place, and all in a row: the tree must neither end nor grow deep. */
static void broad_phase_of_degenerate_sets(void** state) {
  (void)state;
  BroadPhase broad = {0};
  Box boxes[200];
  for (int i = 0; i < 200; i++) boxes[i] = (Box){vec3(0, 0, 0), vec3(0, 0, 0)};
  check_all_pairs(&broad, boxes, 200, "200 times the same point");
  for (int i = 0; i < 200; i++) boxes[i] = (Box){vec3(i, 0, 0), vec3(i + 1, 1, 1)};
  check_all_pairs(&broad, boxes, 200, "a row that touches");
  for (int i = 0; i < 200; i++) boxes[i] = (Box){vec3(0, 0, 1e-300 * i), vec3(1, 1, 1e-300 * i)};
  check_all_pairs(&broad, boxes, 200, "sheets almost in one plane");
  broad_phase_free(&broad);
}

/* Several threads build the tree that one builds, node by node, and find the same keys. */
static void broad_phase_by_several_threads(void** state) {
  (void)state;
  enum { COUNT = 1000 };
  static Box boxes[COUNT];
  static const int counts[] = {127, 128, 129, 255, 257, 511, 777, COUNT};
  Random random = {143};
  BroadPhase one = {.threads = 1}, four = {.threads = 4};
  for (int n = 0; n < 8; n++) {
    int count = counts[n];
    for (int i = 0; i < count; i++) boxes[i] = random_box(&random, 1, 0.2);
    broad_phase_find_moving(&one, boxes, NULL, count);
    broad_phase_find_moving(&four, boxes, NULL, count);
    assert_int_equal(four.key_count, one.key_count);
    assert_true(one.key_count > 0);
    assert_memory_equal(four.keys, one.keys, sizeof(uint64_t) * (size_t)one.key_count);
    assert_int_equal(four.moving.node_count, one.moving.node_count);
    assert_memory_equal(four.moving.order, one.moving.order, sizeof(int) * (size_t)count);
    for (int k = 0; k < one.moving.node_count; k++) {
      assert_int_equal(four.moving.nodes[k].first, one.moving.nodes[k].first);
      assert_int_equal(four.moving.nodes[k].count, one.moving.nodes[k].count);
    }
  }
  broad_phase_free(&one);
  broad_phase_free(&four);
}

static void broad_phase_does_not_allocate_again(void** state) {
  (void)state;
  Random random = {142};
  BroadPhase broad = {0};
  Box boxes[300];
  for (int i = 0; i < 300; i++) boxes[i] = random_box(&random, 1, 0.3);
  broad_phase_find_moving(&broad, boxes, NULL, 300);
  uint64_t before = memory_allocation_count();
  broad_phase_find_moving(&broad, boxes, NULL, 300);
  broad_phase_find_moving(&broad, boxes, NULL, 100);
  assert_int_equal(memory_allocation_count() - before, 0);
  broad_phase_free(&broad);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(broad_phase_finds_all_overlaps), cmocka_unit_test(broad_phase_of_boxes_at_rest),
      cmocka_unit_test(broad_phase_of_groups),          cmocka_unit_test(broad_phase_of_degenerate_sets),
      cmocka_unit_test(broad_phase_by_several_threads), cmocka_unit_test(broad_phase_does_not_allocate_again),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
