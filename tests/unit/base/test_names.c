#include "base/base.h"
#include "unit/scene/scene_testing.h"

static void thousands_of_names_are_found(void** state) {
  (void)state;
  enum { N = 3000 };
  static char texts[N][16];
  Names names = {0};
  assert_int_equal(names_find(&names, "link0"), -1);
  for (int i = 0; i < N; i++) {
    snprintf(texts[i], sizeof texts[i], "link%d", i);
    assert_true(names_add(&names, texts[i], 7 * i));
  }
  for (int i = 0; i < N; i++) {
    assert_int_equal(names_find(&names, texts[i]), 7 * i);
    assert_false(names_add(&names, texts[i], 0));
  }
  assert_int_equal(names_find(&names, "link3000"), -1);
  assert_int_equal(names_find(&names, ""), -1);
  assert_int_equal(names.count, N);
  names_free(&names);
}

static void the_nearest_name_is_told(void** state) {
  (void)state;
  Names names = {0};
  names_add(&names, "ground", 0);
  names_add(&names, "brick", 1);
  assert_string_equal(names_nearest(&names, "brik"), "brick");
  assert_null(names_nearest(&names, "wheel"));
  names_free(&names);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(thousands_of_names_are_found),
      cmocka_unit_test(the_nearest_name_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
