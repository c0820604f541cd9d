#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "base/base.h"

enum { COUNT = 60 };

static void members_begin_alone(void** state) {
  (void)state;
  int parent[4] = {3, 3, 3, 3};
  disjoint_sets_init(parent, 4);
  for (int k = 0; k < 4; k++) assert_int_equal(disjoint_sets_find(parent, k), k);
}

static void joined_sets_have_their_smallest_member_as_root(void** state) {
  (void)state;
  int parent[6];
  disjoint_sets_init(parent, 6);
  disjoint_sets_unite(parent, 5, 3);
  disjoint_sets_unite(parent, 4, 2);
  disjoint_sets_unite(parent, 5, 5); /* already together */
  const int two[6] = {0, 1, 2, 3, 2, 3};
  for (int k = 0; k < 6; k++) assert_int_equal(disjoint_sets_find(parent, k), two[k]);
  disjoint_sets_unite(parent, 5, 4);
  disjoint_sets_unite(parent, 3, 2); /* already together */
  const int one[6] = {0, 1, 2, 2, 2, 2};
  for (int k = 0; k < 6; k++) assert_int_equal(disjoint_sets_find(parent, k), one[k]);
}

/* Reference: labels each member with the smallest member that the joins connect it to, by iteration to a fixed point.
 */
static void spread(int joins, const int (*join)[2], int* smallest) {
  for (int k = 0; k < COUNT; k++) smallest[k] = k;
  for (bool changed = true; changed;) {
    changed = false;
    for (int j = 0; j < joins; j++) {
      int a = join[j][0], b = join[j][1], low = smallest[a] < smallest[b] ? smallest[a] : smallest[b];
      changed = changed || smallest[a] != low || smallest[b] != low;
      smallest[a] = smallest[b] = low;
    }
  }
}

/* Random joins, from none to nearly all in one set, in the given order and in the reverse. */
static void random_joins_agree_with_spreading_marks(void** state) {
  (void)state;
  Random random = {17};
  for (int trial = 0; trial < 200; trial++) {
    int joins = trial % 80, join[80][2], smallest[COUNT], forth[COUNT], back[COUNT];
    for (int j = 0; j < joins; j++)
      for (int side = 0; side < 2; side++) join[j][side] = (int)(random_bits(&random) % COUNT);
    spread(joins, join, smallest);
    disjoint_sets_init(forth, COUNT);
    disjoint_sets_init(back, COUNT);
    for (int j = 0; j < joins; j++) {
      disjoint_sets_unite(forth, join[j][0], join[j][1]);
      disjoint_sets_unite(back, join[joins - 1 - j][1], join[joins - 1 - j][0]);
    }
    for (int k = 0; k < COUNT; k++) {
      assert_int_equal(disjoint_sets_find(forth, k), smallest[k]);
      assert_int_equal(disjoint_sets_find(back, k), smallest[k]);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(members_begin_alone),
      cmocka_unit_test(joined_sets_have_their_smallest_member_as_root),
      cmocka_unit_test(random_joins_agree_with_spreading_marks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
