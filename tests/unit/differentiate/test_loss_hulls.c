/* Tests the initial design that shape losses store. */
#include "differentiate/loss.h"
#include "loss_testing.h"

static LossTerm remembered(const LossRun* run, int link) {
  Task task = {0};
  TaskLoss source = loss_of(LOSS_SHAPE, NULL);
  Diagnostics diagnostics = {0};
  LossContext origin = {&task, &source, 0, 0, &run->run->model, 1, &diagnostics};
  LossTerm term = {.link = link};
  loss_hulls_prepare(&term, &origin);
  assert_int_equal(diagnostics.count, 0);
  return term;
}

/* Euler: a closed surface of triangles has 3 V - 6 edges, each with two triangles, none twice. */
static void edges_by_euler(void** state) {
  (void)state;
  LossRun* run = loss_run_create(1, LOSS_SCENE, ", integrator: first_order");
  LossTerm term = remembered(run, -1);
  assert_int_equal(term.hull_count, 7); /* cart has two, ground none that counts */
  int edges = 0;
  for (int h = 0; h < term.hull_count; h++) {
    const HullReference* hull = &term.hulls[h];
    assert_int_equal(hull->edge_count, 3 * hull->vertex_count - 6);
    for (int e = 0; e < hull->edge_count; e++) {
      const int* edge = hull->edges[e];
      assert_true(0 <= edge[0] && edge[0] < edge[1] && edge[1] < hull->vertex_count);
      assert_true(e == 0 || edge[-2] < edge[0] || (edge[-2] == edge[0] && edge[-1] < edge[1]));
    }
    edges += hull->edge_count;
  }
  assert_int_equal(term.edge_count, edges);
  loss_hulls_free(&term);
  loss_run_free(run);
}

static void hulls_of_one_link(void** state) {
  (void)state;
  LossRun* run = loss_run_create(1, LOSS_SCENE, ", integrator: first_order");
  const Model* m = &run->run->model;
  int cart = run_link(run->run, "cart");
  LossTerm term = remembered(run, cart);
  assert_int_equal(term.hull_count, 2);
  assert_int_equal(term.vertex_count, 8 + 5);
  for (int h = 0; h < 2; h++) {
    assert_int_equal(m->hulls[term.hulls[h].hull].link, cart);
    assert_int_equal(term.hulls[h].first_vertex, m->hulls[term.hulls[h].hull].vertex_first);
  }
  compare_near(term.hulls[0].volume, 0.1 * 0.16 * 0.3, 1e-17, "volume of the brick");
  loss_hulls_free(&term);
  loss_run_free(run);
}

/* A copy: the model may change its vertices where they are. */
static void the_reference_stays(void** state) {
  (void)state;
  LossRun* run = loss_run_create(1, LOSS_SCENE, ", integrator: first_order");
  LossTerm term = remembered(run, run_link(run->run, "arm"));
  Vec3* vertices = run->run->model.hulls[term.hulls[0].hull].solid.vertices;
  Vec3 before = vertices[2];
  vertices[2] = vec3(7, 8, 9);
  compare_vec3(term.hulls[0].vertices[2], before, 0, "the initial vertex");
  loss_hulls_free(&term);
  loss_run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(edges_by_euler),
      cmocka_unit_test(hulls_of_one_link),
      cmocka_unit_test(the_reference_stays),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
