#include "fixture.h"

static bool allowed(const Model* model, const char* a, const char* b) {
  int i = (int)(link_named(model, a) - model->links), k = (int)(link_named(model, b) - model->links);
  assert_int_equal(model_pair_allowed(model, i, k), model_pair_allowed(model, k, i));
  return model_pair_allowed(model, i, k);
}

static void pairs_by_hand(void** state) {
  (void)state;
  Fixture f;
  fixture_load(&f,
               "shapes: {cube: {type: box, size: [0.1, 0.1, 0.1]}}\n"
               "contact: {exclude: [[legs, legs], [ghost, box], [ground, lamp]]}\n"
               "links:\n"
               "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
               "  - {name: lamp, fixed: true, shapes: [{shape: cube}], position: [0, 0, 9]}\n"
               "  - {name: box, mass: 1, shapes: [{shape: cube}], position: [0, 0, 1]}\n"
               "  - {name: tail, parent: box, mass: 1, shapes: [{shape: cube}], joint: {type: hinge, axis: [1, 0, 0], "
               "position: [1, 0, 0]}}\n"
               "  - {name: tip, parent: tail, mass: 1, shapes: [{shape: cube}], joint: {type: hinge, axis: [1, 0, 0], "
               "position: [1, 0, 0]}}\n"
               "  - {name: sign, parent: box, fixed: true, mass: 1, shapes: [{shape: cube}], position: [0, 0, 1]}\n"
               "  - {name: leg_a, mass: 1, groups: [legs], shapes: [{shape: cube}], position: [0, 1, 1]}\n"
               "  - {name: leg_b, mass: 1, groups: [legs, others], shapes: [{shape: cube}], position: [0, 2, 1]}\n"
               "  - {name: ghost, mass: 1, shapes: [{shape: cube}], position: [0, 3, 1]}\n"
               "  - {name: air, mass: 1, collide: false, shapes: [{shape: cube}], position: [0, 3, 1]}\n");
  check_clean(&f);
  const Model* m = &f.model;
  assert_true(allowed(m, "ground", "box"));
  assert_true(allowed(m, "box", "tip")); /* grandparents touch */
  assert_true(allowed(m, "sign", "tail"));
  assert_true(allowed(m, "ghost", "tail"));
  assert_true(allowed(m, "leg_a", "box"));
  assert_true(allowed(m, "leg_b", "ground"));
  assert_false(allowed(m, "box", "box"));
  assert_false(allowed(m, "box", "tail"));    /* parent and child */
  assert_false(allowed(m, "box", "sign"));    /* welded */
  assert_false(allowed(m, "ground", "lamp")); /* neither moves */
  assert_false(allowed(m, "leg_a", "leg_b")); /* group with itself */
  assert_false(allowed(m, "ghost", "box"));
  assert_false(allowed(m, "air", "ground"));
  assert_false(allowed(m, "air", "ghost"));
  fixture_free(&f);
}

/* Keys are sorted and each stands once, however the pairs were written. */
static void keys_are_sorted_and_unique(void** state) {
  (void)state;
  Fixture f;
  fixture_load(
      &f,
      "contact: {exclude: [[b3, b1], [b1, b3], [all, b0], [all, all]]}\n"
      "links:\n"
      "  - {name: \"b{i}\", mass: 1, groups: [all], shape: {type: box, size: [0.1, 0.1, 0.1]}, repeat: {count: "
      "40, position: [1, 0, 0]}}\n");
  check_clean(&f);
  assert_int_equal(f.model.excluded_count, 40 * 39 / 2);
  for (int i = 0; i < f.model.excluded_count; i++) {
    uint64_t key = f.model.excluded[i];
    assert_true((key >> 32) < (key & 0xffffffffu));
    if (i > 0) assert_true(f.model.excluded[i - 1] < key);
  }
  fixture_free(&f);
}

static int law_of(const Model* model, const char* a, const char* b) {
  int i = (int)(link_named(model, a) - model->links), k = (int)(link_named(model, b) - model->links);
  assert_int_equal(model_pair_law(model, i, k), model_pair_law(model, k, i));
  int own = model_pair_law(model, i, k);
  return own < 0 ? (int)model->contact_model : (int)model->pair_laws[own].law;
}

#define LAWS_OF_PAIRS(contact)                                                                                  \
  "contact: {" contact                                                                                          \
  "}\n"                                                                                                         \
  "links:\n"                                                                                                    \
  "  - {name: \"c{i}\", mass: 1, groups: [c], shape: {type: box, size: [0.1, 0.1, 0.1]}, position: [0, 0, 0], " \
  "repeat: {count: 4, position: [1, 0, 0]}}\n"                                                                  \
  "  - {name: rod, mass: 1, shape: {type: box, size: [0.1, 0.1, 0.1]}, position: [0, 1, 0]}\n"

/* The last item that names a contact law applies. An item without law changes nothing, and `none` disables contact. */
static void laws_of_pairs(void** state) {
  (void)state;
  Fixture f;
  fixture_load(
      &f, LAWS_OF_PAIRS("pairs: [{a: rod, b: c, model: long_range, stiffness: 2.0e-5}, {a: c1, b: rod, model: "
                        "ipc, barrier_distance: 3.0e-3}, {a: c, b: rod, friction: 0.1}, {a: c2, b: c3, model: none}, "
                        "{a: c0, b: c1, model: none}, {a: c0, b: c1, model: separating_plane}]"));
  check_clean(&f);
  const Model* m = &f.model;
  assert_int_equal(law_of(m, "rod", "c0"), CONTACT_LONG_RANGE);
  assert_int_equal(law_of(m, "rod", "c1"), CONTACT_IPC);
  assert_int_equal(law_of(m, "c0", "c2"), CONTACT_SEPARATING_PLANE);
  assert_int_equal(law_of(m, "c0", "c1"), CONTACT_SEPARATING_PLANE);
  assert_int_equal(m->pair_law_count, 3);
  assert_false(allowed(m, "c2", "c3"));
  assert_true(allowed(m, "c0", "c1"));
  assert_true(allowed(m, "c1", "c3"));
  const ModelContact *far = &m->pair_laws[0].contact, *mesh = &m->pair_laws[1].contact;
  assert_true(far->stiffness == 2e-5 && mesh->support == 3e-3);
  assert_true(far->law_parameters[0] == 1 && far->hierarchy); /* blend, by its default */
  assert_true(mesh->stiffness_derived && mesh->stiffness > 0 && far->smoothing == m->contact.smoothing);
  /* kappa f(gap) of the mesh law carries the reference weight at half the support */
  double force = contact_rest_at_gap(CONTACT_IPC, mesh->support, 4, 4, 0.5 * mesh->support).force * mesh->stiffness;
  assert_true(force >= m->contact.reference_force * 0.2 && force <= m->contact.reference_force * 5);
  fixture_free(&f);
}

/* A pair gets the support and stiffness parameters that its law has. The written scene can be read again. */
static void fixed_laws_of_pairs_are_read_again(void** state) {
  (void)state;
  Fixture f, again;
  fixture_load(&f, LAWS_OF_PAIRS("pairs: [{a: rod, b: c, model: long_range}, {a: c0, b: c1, model: ipc}, "
                                 "{a: c2, b: c3, model: separating_plane}, {a: c0, b: c2, model: none}]"));
  check_clean(&f);
  model_fix_pairs(&f.model, &f.scene);
  const ScenePair* pairs = f.scene.contact.pairs;
  assert_false(pairs[0].material.given[MATERIAL_SUPPORT]);
  assert_true(pairs[0].material.value[MATERIAL_STIFFNESS] == f.model.pair_laws[0].contact.stiffness);
  for (int i = 1; i < 3; i++)
    assert_true(pairs[i].material.given[MATERIAL_SUPPORT] && pairs[i].material.given[MATERIAL_STIFFNESS]);
  Text yaml = {0};
  scene_write_yaml(&f.scene, ".", &yaml);
  fixture_load(&again, yaml.data);
  check_clean(&again);
  assert_true(again.scene.contact.pairs[1].material.value[MATERIAL_SUPPORT] == f.model.pair_laws[1].contact.support);
  fixture_free(&again);
  text_free(&yaml);
  fixture_free(&f);
}

/* A pair's own law parameters apply first, then those of `contact` if the law is the same, then the defaults. */
static void laws_of_pairs_have_parameters(void** state) {
  (void)state;
  Fixture f;
  fixture_load(&f, LAWS_OF_PAIRS("model: long_range, blend: 3, hierarchy: false, pairs: [{a: rod, b: c0, model: "
                                 "long_range, blend: 0.5}, {a: rod, b: c1, model: long_range, hierarchy: true}, {a: "
                                 "rod, b: c2, model: ipc, far: 1.0e-3}, {a: rod, b: c3, model: ipc}]"));
  check_clean(&f);
  const ModelPairLaw* laws = f.model.pair_laws;
  assert_true(laws[0].contact.law_parameters[0] == 0.5 && !laws[0].contact.hierarchy);
  assert_true(laws[1].contact.law_parameters[0] == 3 && laws[1].contact.hierarchy);
  assert_true(laws[2].contact.law_parameters[0] == 1e-3 && laws[3].contact.law_parameters[0] == 0);
  fixture_free(&f);
}

static void a_law_of_pairs_needs_one_for_all(void** state) {
  (void)state;
  Fixture f;
  fixture_load(&f, LAWS_OF_PAIRS("model: none, pairs: [{a: rod, b: c, model: long_range}]"));
  assert_int_equal(f.status, STATUS_BAD_INPUT);
  check_message(&f, SEVERITY_ERROR, 1, "a pair with its own contact law needs a contact.model");
  fixture_free(&f);
}

/* Items without effect are reported. A group that has only one link at present is not reported. */
static void pairs_that_do_nothing(void** state) {
  (void)state;
  Fixture f;
  fixture_load(&f,
               "contact:\n"
               "  pairs:\n"
               "    - {a: a, b: a, friction: 1}\n"
               "    - {a: a, b: b}\n"
               "    - {a: pads, b: pads, friction: 1}\n"
               "  exclude:\n"
               "    - [b, b]\n"
               "    - [pads, pads]\n"
               "links:\n"
               "  - {name: a, mass: 1, groups: [pads], shape: {type: box, size: [0.1, 0.1, 0.1]}}\n"
               "  - {name: b, mass: 1, shape: {type: box, size: [0.1, 0.1, 0.1]}, position: [1, 0, 0]}\n");
  assert_int_equal(f.status, STATUS_OK);
  assert_int_equal(f.diagnostics.count, 3);
  check_message(&f, SEVERITY_WARNING, 3,
                "the pair has no effect, because both names are the link 'a': name two different links");
  check_message(&f, SEVERITY_WARNING, 4,
                "the pair has no effect, because no value is given for 'a' and 'b': give 'friction' or another key, or "
                "remove the pair");
  check_message(&f, SEVERITY_WARNING, 7,
                "the pair has no effect, because both names are the link 'b': name two different links");
  fixture_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pairs_by_hand),
      cmocka_unit_test(keys_are_sorted_and_unique),
      cmocka_unit_test(laws_of_pairs),
      cmocka_unit_test(fixed_laws_of_pairs_are_read_again),
      cmocka_unit_test(laws_of_pairs_have_parameters),
      cmocka_unit_test(a_law_of_pairs_needs_one_for_all),
      cmocka_unit_test(pairs_that_do_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
