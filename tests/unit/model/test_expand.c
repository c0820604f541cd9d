/* Tests that a scene rewritten as point lists gives the same model. */
#include "fixture.h"

static const char* SCENE =
    "contact: {friction: 0.3}\n"
    "shapes:\n"
    "  gear: {type: mesh, file: ../../../assets/gear.obj, hulls: groups}\n"
    "  whole: {type: mesh, file: ../../../assets/bracket.obj, hulls: whole, max_vertices: 9}\n"
    "  corner: {type: mesh, file: ../../../assets/bracket.obj, scale: 0.7, decompose: {max_vertices: 24}}\n"
    "  brick: {type: box, size: [0.2, 0.4, 0.6]}\n"
    "  ball: {type: sphere, radius: 0.1, resolution: 1}\n"
    "  cloud: {type: points, keep_interior: true, points: [[0, 0, 0], [0.1, 0, 0], [0, 0.2, 0], [0, 0, 0.3], [0.02, "
    "0.03, 0.04], [0.1, 0.1, 0.1]]}\n"
    "  ground: {type: half_space, normal: [0, 0.1, 1], offset: -1}\n"
    "links:\n"
    "  - {name: ground, fixed: true, shapes: [{shape: ground, position: [0, 0, 0.1]}, {shape: brick, position: [9, 0, "
    "0]}, {shape: ground, rotation_vector: [0, 0.3, 0], position: [0, 0, -3]}]}\n"
    "  - {name: corners, mass: 3, mass_model: vertices, position: [2, 0, 0], shapes: [{shape: brick, position: [0.1, "
    "0.2, 0.3], rpy: [0.1, "
    "0.2, 0.3]}, {shape: ball}, {shape: brick, position: [0, 0, 1]}]}\n"
    "  - {name: wheel, density: 700, mass_model: vertices, shape: gear, position: [4, 0, 0], joint: {type: hinge, "
    "axis: [0, 0, 1]}}\n"
    "  - {name: arm, parent: wheel, mass: 0.4, mass_model: uniform, shape: whole, joint: {type: ball, position: [0.3, "
    "0, 0.1]}}\n"
    "  - {name: cloud, mass: 1, mass_model: vertices, shape: cloud, position: [6, 0, 0]}\n"
    "  - {name: given, mass: 2, center: [0.1, 0, 0], inertia: [0.3, 0.4, 0.5, 0.01, 0.02, 0.03], shape: ball, "
    "position: [8, 0, 0]}\n"
    "  - {name: corner, density: 500, mass_model: vertices, shape: corner, position: [10, 0, 0]}\n";

static void load(Fixture* f) {
  setenv("SDRS_CACHE", "off", 1);
  fixture_load(f, SCENE);
  if (f->status != STATUS_OK) print_diagnostics(&f->diagnostics);
  assert_int_equal(f->status, STATUS_OK);
}

static void check_same(const void* a, const void* b, size_t size, const char* what, const char* whose) {
  if (size == 0 || memcmp(a, b, size) == 0) return;
  fail_msg("%s of %s: not the same bytes", what, whose);
}

static void check_hull(const ModelHull* a, const ModelHull* b, const char* whose) {
  size_t count = (size_t)a->solid.vertex_count;
  assert_int_equal(a->solid.vertex_count, b->solid.vertex_count);
  assert_int_equal(a->points.count, b->points.count);
  assert_int_equal(a->vertex_first, b->vertex_first);
  check_same(a->solid.vertices, b->solid.vertices, sizeof(Vec3) * count, "vertices", whose);
  check_same(a->points.x, b->points.x, sizeof(double) * count, "x", whose);
  check_same(a->points.z, b->points.z, sizeof(double) * count, "z", whose);
  check_same(&a->center, &b->center, sizeof a->center, "centre", whose);
  check_same(&a->radius, &b->radius, sizeof a->radius, "radius", whose);
  check_same(&a->half_extent, &b->half_extent, sizeof a->half_extent, "box", whose);
  assert_true(a->kind == b->kind);
  check_same(&a->normal, &b->normal, sizeof a->normal, "normal", whose);
  check_same(&a->offset, &b->offset, sizeof a->offset, "offset", whose);
}

static void check_link(const ModelLink* a, const ModelLink* b, const char* what) {
  assert_int_equal(a->hull_first, b->hull_first);
  assert_int_equal(a->hull_count, b->hull_count);
  check_same(&a->origin, &b->origin, sizeof a->origin, "origin", what);
  check_same(&a->center, &b->center, sizeof a->center, "centre", what);
  check_same(&a->reach, &b->reach, sizeof a->reach, "reach", what);
  check_same(&a->mass, &b->mass, sizeof a->mass, "mass", what);
  check_same(&a->moment, &b->moment, sizeof a->moment, "moment", what);
}

static void expanded_scene_gives_the_same_model(void** state) {
  (void)state;
  Fixture f;
  load(&f);

  model_expand_shapes(&f.model, &f.scene);
  Model again;
  Diagnostics diagnostics = {0};
  assert_int_equal(model_create(&again, &f.scene, &diagnostics), STATUS_OK);
  assert_int_equal(again.link_count, f.model.link_count);
  assert_int_equal(again.hull_count, f.model.hull_count);
  assert_int_equal(again.vertex_count, f.model.vertex_count);
  assert_true(f.model.hull_count > 15); /* the gear alone has 13 */
  for (int i = 0; i < again.link_count; i++) check_link(&f.model.links[i], &again.links[i], again.links[i].name);
  for (int k = 0; k < again.hull_count; k++)
    check_hull(&f.model.hulls[k], &again.hulls[k], again.links[again.hulls[k].link].name);
  const ModelContact *a = &f.model.contact, *b = &again.contact;
  check_same(&a->support, &b->support, sizeof a->support, "support", "contact");
  check_same(&a->stiffness, &b->stiffness, sizeof a->stiffness, "stiffness", "contact");
  check_same(&a->friction, &b->friction, sizeof a->friction, "friction", "contact");
  check_same(&a->smoothing, &b->smoothing, sizeof a->smoothing, "smoothing", "contact");
  model_destroy(&again);
  diagnostics_free(&diagnostics);
  fixture_free(&f);
}

/* Hull k of a link is its shape use k. Each hull has a point list of its own, which a design can move. */
static void every_hull_has_a_list_of_points_of_its_own(void** state) {
  (void)state;
  Fixture f;
  load(&f);
  model_expand_shapes(&f.model, &f.scene);
  for (int k = 0; k < f.model.hull_count; k++) {
    const ModelHull* hull = &f.model.hulls[k];
    const SceneLink* link = &f.scene.links[hull->link];
    const SceneShape* shape = &f.scene.shapes[link->shapes[k - f.model.links[hull->link].hull_first].shape];
    if (!hull->kind->bounded) {
      assert_int_equal(shape->type, SHAPE_HALF_SPACE);
      continue;
    }
    assert_int_equal(shape->type, SHAPE_POINTS);
    assert_true(shape->keep_interior && !shape->replaced);
    assert_int_equal(shape->decomposed, f.scene.shapes[hull->shape].decompose);
    assert_true(f.scene.shapes[hull->shape].replaced);
    assert_int_equal(shape->point_count, hull->solid.vertex_count);
    for (int j = 0; j < k; j++)
      assert_ptr_not_equal(shape->points, f.scene
                                              .shapes[f.scene.links[f.model.hulls[j].link]
                                                          .shapes[j - f.model.links[f.model.hulls[j].link].hull_first]
                                                          .shape]
                                              .points);
  }
  fixture_free(&f);
}

/* Exact balls: the first use keeps the shape of the scene, the second has a copy, so that none is left over. */
static void a_round_shape_is_written_once_for_each_use(void** state) {
  (void)state;
  Fixture f;
  fixture_load(&f,
               "shapes: {ball: {type: sphere, radius: 0.1}}\n"
               "links:\n"
               "  - {name: a, mass: 1, shape: ball}\n"
               "  - {name: b, mass: 1, shape: ball, position: [1, 0, 0]}\n");
  assert_int_equal(f.status, STATUS_OK);
  model_expand_shapes(&f.model, &f.scene);
  assert_int_equal(f.scene.shape_count, 2);
  assert_int_equal(f.scene.links[0].shapes[0].shape, 0);
  assert_int_equal(f.scene.links[1].shapes[0].shape, 1);
  assert_string_equal(f.scene.shapes[0].name, "ball");
  assert_string_equal(f.scene.shapes[1].name, "");
  assert_true(f.scene.shapes[1].radius == 0.1);
  fixture_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(expanded_scene_gives_the_same_model),
      cmocka_unit_test(every_hull_has_a_list_of_points_of_its_own),
      cmocka_unit_test(a_round_shape_is_written_once_for_each_use),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
