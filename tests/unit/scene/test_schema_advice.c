#include "scene/schema.h"
#include "scene_testing.h"

static void check_key(const SchemaTable* table, const char* object, const char* type, const char* key,
                      const char* wanted) {
  Text advice = {0};
  schema_add_key_advice(table, schema_object(table, object), type, key, &advice);
  assert_string_equal(advice.length > 0 ? advice.data : "", wanted);
  text_free(&advice);
}

static void check_choice(const char* words, const char* word, const char* wanted) {
  Text advice = {0};
  schema_add_choice_advice(words, word, &advice);
  assert_string_equal(advice.length > 0 ? advice.data : "", wanted);
  text_free(&advice);
}

static void slips_of_the_keyboard_are_told_with_the_key(void** state) {
  (void)state;
  check_key(&SCENE_SCHEMA, "shape", "sphere", "radus", " (did you mean 'radius'?)");
  check_key(&SCENE_SCHEMA, "shape", "box", "radus", " (there are type and size)");
  check_choice("adam|lbfgs", "lbgfs", " (did you mean 'lbfgs'?)");
  check_choice("adam|lbfgs", "simplex", "");
}

/* A row's first word wins, wherever it stands among the keys. */
static void words_of_other_programs_are_known(void** state) {
  (void)state;
  check_key(&SCENE_SCHEMA, "joint", "hinge", "upper", " (did you mean 'limits'?)");
  check_key(&SCENE_SCHEMA, "repeat", NULL, "offset", " (did you mean 'position'?)");
  check_key(&TASK_SCHEMA, "optimizer", "adam", "learning_rate", " (did you mean 'design_step'?)");
  check_choice("fixed|hinge|ball", "revolute", " (did you mean 'hinge'?)");
  check_choice("box|sphere", "cube", " (did you mean 'box'?)");
  check_choice("sphere|box", "ball", " (did you mean 'sphere'?)");
}

static void keys_that_stand_elsewhere_are_told_with_their_place(void** state) {
  (void)state;
  check_key(&SCENE_SCHEMA, SCENE_SCHEMA.root, NULL, "dt", " (the key belongs to 'simulation': write simulation.dt)");
  check_key(&SCENE_SCHEMA, "link", NULL, "dt", "");
  check_key(&SCENE_SCHEMA, "link", NULL, "initial_velocity",
            " (write initial: [{link: NAME, velocities: [...]}] at the top level of the file)");
  check_key(&SCENE_SCHEMA, "joint", "hinge", "angle",
            " (write initial: [{link: NAME, coordinates: [...]}] at the top level of the file)");
  check_key(&TASK_SCHEMA, TASK_SCHEMA.root, NULL, "simulation",
            " (for a key of the scene, write --set scene.simulation...)");
}

static void few_keys_are_told_in_full(void** state) {
  (void)state;
  check_key(&SCENE_SCHEMA, "repeat", NULL, "zzzzzz",
            " (there are count, start, first, position, rotation_vector and around)");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(slips_of_the_keyboard_are_told_with_the_key),
      cmocka_unit_test(words_of_other_programs_are_known),
      cmocka_unit_test(keys_that_stand_elsewhere_are_told_with_their_place),
      cmocka_unit_test(few_keys_are_told_in_full),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
