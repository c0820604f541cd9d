#include "fixture.h"
#include "support/compare.h"

static double value(const Model* model, const char* a, const char* b, int which) {
  int i = (int)(link_named(model, a) - model->links), k = (int)(link_named(model, b) - model->links);
  double one = model_pair_material(model, i, k).value[which], other = model_pair_material(model, k, i).value[which];
  assert_true(one == other);
  return one;
}

static const char SCENE[] =
    "shapes: {cube: {type: box, size: [0.1, 0.1, 0.1]}}\n"
    "contact:\n"
    "  friction: 0.3\n"
    "  restitution: 0.1\n"
    "  pairs:\n"
    "    - {a: rubber, b: rubber, friction: 1.5, restitution: 0.7}\n"
    "    - {a: foot, b: ball, friction: 1.2}\n"
    "    - {a: ice, b: rubber, restitution: 0}\n"
    "links:\n"
    "  - {name: ice, friction: 0, shapes: [{shape: cube}], mass: 1}\n"
    "  - {name: steel, friction: 0.4, static_friction: 0.6, restitution: 0.9, shapes: [{shape: cube}], mass: 1, "
    "position: [1, 0, 0]}\n"
    "  - {name: foot, groups: [rubber], friction: [0.5, 0.9], friction_axis: [1, 0, 0], shapes: [{shape: cube}], mass: "
    "1, position: [2, 0, 0]}\n"
    "  - {name: ball, groups: [rubber], restitution: 0.5, shapes: [{shape: cube}], mass: 1, position: [3, 0, 0]}\n"
    "  - {name: plain, shapes: [{shape: cube}], mass: 1, position: [4, 0, 0]}\n"
    "  - {name: other, shapes: [{shape: cube}], mass: 1, position: [5, 0, 0]}\n";

static void material_of_pairs_by_hand(void** state) {
  (void)state;
  Fixture f;
  fixture_load(&f, SCENE);
  check_clean(&f);
  const Model* m = &f.model;
  static const struct {
    const char *a, *b;
    double friction, restitution;
  } rows[] = {
      {"plain", "other", 0.3, 0.1}, /* nobody says anything */
      {"plain", "steel", 0.4, 0.9}, /* one decides */
      {"foot", "steel", 0.6, 0.9},  /* sqrt(0.9 * 0.4) */
      {"ice", "steel", 0, 0.9},     /* sqrt(0 * 0.4) */
      {"foot", "ball", 1.2, 0.7},   /* the last item that says it, value by value */
      {"ice", "foot", 0, 0},        /* an item that says one of the two */
      {"ice", "ball", 0, 0},        {"ball", "plain", 0.3, 0.5},
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    compare_near(value(m, rows[k].a, rows[k].b, MATERIAL_FRICTION), rows[k].friction, 1e-15, "friction of %s and %s",
                 rows[k].a, rows[k].b);
    compare_near(value(m, rows[k].a, rows[k].b, MATERIAL_RESTITUTION), rows[k].restitution, 1e-15,
                 "restitution of %s and %s", rows[k].a, rows[k].b);
  }
  compare_near(value(m, "foot", "steel", MATERIAL_FRICTION_ALONG), sqrt(0.5 * 0.4), 1e-15, "along the axis of foot");
  compare_near(value(m, "foot", "ball", MATERIAL_FRICTION_ALONG), 1.2, 0, "an item is the same in all directions");
  compare_near(value(m, "foot", "steel", MATERIAL_STATIC_FRICTION), sqrt(0.9 * 0.6), 1e-15,
               "static of one, friction of the other");
  compare_near(value(m, "foot", "ball", MATERIAL_STATIC_FRICTION), 1.2, 0, "an item without static friction");
  compare_near(value(m, "plain", "other", MATERIAL_STATIC_FRICTION), 0.3, 0, "nobody gives static friction");
  compare_near(model_largest_material(m, MATERIAL_FRICTION), 1.5, 0, "largest friction");
  compare_near(model_largest_material(m, MATERIAL_RESTITUTION), 0.9, 0, "largest restitution");
  assert_true(m->contact.bounces);
  fixture_free(&f);
}

/* d(pair)/d(number) against central differences of model_pair_material over scenes with the number moved. */
static void material_gradient_against_differences(void** state) {
  (void)state;
  Fixture f;
  fixture_load(&f, SCENE);
  const Model* m = &f.model;
  ModelGradient g;
  model_gradient_create(&g, m);
  int numbers = 0;
  for (int a = 0; a < m->link_count; a++)
    for (int b = 0; b < m->link_count; b++)
      for (int which = 0; a != b && which < MATERIAL_SUPPORT; which++) {
        double by[MATERIAL_COUNT] = {0};
        by[which] = 1;
        model_gradient_clear(&g, m);
        model_gradient_material(m, a, b, by, &g);
        for (int row = 0; row < 1 + m->link_count + m->scene->contact.pair_count; row++) {
          bool of_link = row > 0 && row <= m->link_count;
          ModelOverride o = {OVERRIDE_MATERIAL, of_link ? row - 1 : -1,
                             row > m->link_count ? row - 1 - m->link_count : -1, which, 0};
          if (row == 0 && which == MATERIAL_FRICTION_ALONG) continue; /* contact has none */
          double base = *model_scene_number(m->scene, &o), h = 1e-6, side[2], *slope = &g.material[row][which];
          if (!(base > 0)) continue; /* a derivative on one side only */
          for (int k = 0; k < 2; k++) {
            Model moved;
            Diagnostics diagnostics = {0};
            o.value = base + (k ? h : -h);
            assert_int_equal(model_create_with(&moved, m->scene, &o, 1, &diagnostics), STATUS_OK);
            side[k] = model_pair_material(&moved, a, b).value[which];
            model_destroy(&moved);
            diagnostics_free(&diagnostics);
          }
          if (row == 0 && which == MATERIAL_FRICTION) slope = &g.contact[CONTACT_FRICTION];
          compare_near(*slope, (side[1] - side[0]) / (2 * h), 1e-9, "links %d and %d, value %d, row %d", a, b, which,
                       row);
          numbers += *slope != 0;
        }
      }
  assert_true(numbers > 30);
  model_gradient_destroy(&g);
  fixture_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(material_of_pairs_by_hand),
      cmocka_unit_test(material_gradient_against_differences),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
