/* Tests renamed keys and words. Old names are read as the present ones; both together are an error. */
#include "scene/alias.h"
#include "scene_testing.h"

#define OLD                                                                                         \
  "'support' is the old name of 'barrier_distance' and will be refused from version 0.2 on: write " \
  "'barrier_distance'\n"
#define WARNINGS "1:11: warning: contact: " OLD "1:67: warning: contact.pairs[0]: " OLD

static void the_old_key_is_the_present_one(void** state) {
  (void)state;
  static const char* const KEYS[] = {"support", "barrier_distance"};
  for (int i = 0; i < 2; i++) {
    Text text = {0};
    text_add(&text,
             "contact: {%s: 0.003, pairs: [{a: ball, b: other, model: ipc, %s: 0.004}]}\nlinks:\n" BALL_LINK
             "  - {name: other, shape: {type: sphere, radius: 1}, mass: 1}\n",
             KEYS[i], KEYS[i]);
    Diagnostics diagnostics = {0};
    Scene scene;
    assert_int_equal(parse_with(&scene, &diagnostics, text.data, NULL), STATUS_OK);
    char* found = told(&diagnostics);
    assert_string_equal(found, i == 0 ? WARNINGS : "");
    memory_free(found);
    diagnostics_free(&diagnostics);
    compare_near(scene.contact.support, 0.003, 0, KEYS[i]);
    compare_near(scene.contact.pairs[0].material.value[MATERIAL_SUPPORT], 0.004, 0, KEYS[i]);
    assert_true(scene.contact.pairs[0].material.given[MATERIAL_SUPPORT]);
    assert_int_equal(scene.contact.support_place.line, 1);
    scene_free(&scene);
    text_free(&text);
  }
}

static void both_keys_are_a_mistake(void** state) {
  (void)state;
  expect_problems("contact: {support: 0.003, barrier_distance: 0.003}\nlinks:\n" BALL_LINK,
                  "1:11: error: contact: give 'barrier_distance' or 'support' (its old name), not both\n");
}

/* An override replaces the value, whichever name the file and the override use. */
static void overrides_know_both_keys(void** state) {
  (void)state;
  static const char* const FILES[] = {"contact: {support: 0.003}\nlinks:\n" BALL_LINK,
                                      "contact: {barrier_distance: 0.003}\nlinks:\n" BALL_LINK, "links:\n" BALL_LINK};
  static const SceneOverride OVERRIDES[] = {{"contact.support=0.005"}, {"contact.barrier_distance=0.005"}};
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 2; k++) {
      Scene scene;
      Diagnostics diagnostics = {0};
      assert_int_equal(scene_parse(&scene, "t.yaml", FILES[i], strlen(FILES[i]), false, &OVERRIDES[k], 1, &diagnostics),
                       STATUS_OK);
      assert_int_equal(diagnostics.count, (i == 0) + (k == 0)); /* a warning for each old name */
      compare_near(scene.contact.support, 0.005, 0, OVERRIDES[k].text);
      scene_free(&scene);
      diagnostics_free(&diagnostics);
    }
}

/* An old word that has a meaning of its own at present is not replaced. */
static void old_words_are_present_ones_where_these_belong(void** state) {
  (void)state;
  assert_string_equal(alias_word("mass|joint_stiffness", "spring"), "joint_stiffness");
  assert_string_equal(alias_word("mass|joint_friction", "dry_friction"), "joint_friction");
  assert_string_equal(alias_word("mass|tendon_rest_length", "tendon_rest"), "tendon_rest_length");
  assert_string_equal(alias_word("spring|joint_stiffness", "spring"), "spring");
  assert_string_equal(alias_word("drive|damping", "spring"), "spring");
  assert_string_equal(alias_key("contact", "support"), "barrier_distance");
  assert_string_equal(alias_key("links", "support"), "support");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_old_key_is_the_present_one),
      cmocka_unit_test(both_keys_are_a_mistake),
      cmocka_unit_test(overrides_know_both_keys),
      cmocka_unit_test(old_words_are_present_ones_where_these_belong),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
