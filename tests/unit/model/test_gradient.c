/* Tests derivatives by second moments, passed on to vertices and total masses (A9), for every mass model. The reference
 * is central differences of models rebuilt from moved scenes. */
#include "fixture.h"
#include "support/long.h"
#include "support/sweep.h"

enum { POINTS = 8, HULLS = 2, INSIDE = 2 };

/* Bars of every link's moment, and a scene whose vertices are moved. */
typedef struct {
  Fixture f;
  ModelGradient bars, found;
  double* x; /* vertices, then masses or densities of the links */
  int count;
} Case;

static void add_points(Text* text, Random* random) {
  for (int k = 0; k < POINTS; k++) {
    double size = k < INSIDE ? 0.1 : 1;
    Vec3 p = vec3(random_normal(random), random_normal(random), random_normal(random));
    p = vec3_scale(p, size / vec3_norm(p));
    text_add(text, "%s[%.17g, %.17g, %.17g]", k ? ", " : "", 0.7 + p.x, p.y - 0.2, p.z + 0.4);
  }
}

/* Two links of every mass model, of two generic hulls each with some vertices inside. */
static void case_create(Case* c, const char* mass, Random* random) {
  Text text = {0};
  text_add(&text, "shapes:\n");
  for (int k = 0; k < HULLS; k++) {
    text_add(&text, "  s%d: {type: points, keep_interior: true, points: [", k);
    add_points(&text, random);
    text_add(&text, "]}\n");
  }
  text_add(&text, "links:\n");
  for (int k = 0; k < 2; k++)
    text_add(&text,
             "  - {name: l%d, %s, position: [%d, 0, 0], shapes: [{shape: s0, position: [0.3, 0, 0.1], rpy: [0.1, "
             "0.5, 0]}, {shape: s1}]}\n",
             k, mass, 10 * k);
  memset(c, 0, sizeof *c);
  fixture_load(&c->f, text.data);
  text_free(&text);
  assert_int_equal(c->f.status, STATUS_OK);
  model_expand_shapes(&c->f.model, &c->f.scene);
}

static double* number_of(Case* c, int index) {
  Scene* s = &c->f.scene;
  for (int i = 0; i < 2; i++)
    for (int k = 0; k < HULLS; k++) {
      SceneShape* shape = &s->shapes[s->links[i].shapes[k].shape];
      if (index < 3 * shape->point_count) {
        Vec3* p = &shape->points[index / 3];
        return index % 3 == 0 ? &p->x : index % 3 == 1 ? &p->y : &p->z;
      }
      index -= 3 * shape->point_count;
    }
  return s->links[index].has_mass ? &s->links[index].mass : &s->links[index].density;
}

/* sum bar : S of the links of the model built with these numbers. */
static bool moment_value(void* context, const double* x, double* y) {
  Case* c = context;
  Model model;
  Diagnostics diagnostics = {0};
  for (int k = 0; k < c->count; k++) *number_of(c, k) = x[k];
  bool built = model_create(&model, &c->f.scene, &diagnostics) == STATUS_OK;
  *y = 0;
  for (int i = 0; built && i < 2; i++)
    for (int k = 0; k < 16; k++) *y += c->bars.moment[i].s[k / 4][k % 4] * model.links[i].moment.s[k / 4][k % 4];
  model_destroy(&model);
  diagnostics_free(&diagnostics);
  return built;
}

static void check_case(const char* mass, uint64_t seed) {
  Random random = {seed};
  Case c;
  case_create(&c, mass, &random);
  const Model* m = &c.f.model;
  model_gradient_create(&c.bars, m);
  model_gradient_create(&c.found, m);
  for (int i = 0; i < 2; i++)
    for (int k = 0; k < 16; k++)
      c.bars.moment[i].s[k / 4][k % 4] = c.found.moment[i].s[k / 4][k % 4] = random_normal(&random);
  model_gradient_masses(m, &c.found);
  c.count = 3 * m->vertex_count + 2;
  assert_int_equal(m->vertex_count, 2 * HULLS * POINTS);
  double *x = MEMORY_NEW(double, c.count), *wanted = MEMORY_NEW(double, c.count);
  for (int k = 0; k < c.count; k++) x[k] = *number_of(&c, k);
  memcpy(wanted, c.found.vertices, sizeof(Vec3) * (size_t)m->vertex_count);
  for (int i = 0; i < 2; i++) {
    const SceneLink* link = &c.f.scene.links[i];
    wanted[c.count - 2 + i] = c.found.mass[i] * (link->has_mass ? 1 : m->links[i].mass / link->density);
  }
  Sweep sweep = {moment_value, &c, c.count, 1, x, NULL, NULL, 1e-2, 10, 4};
  sweep_expect(&sweep, wanted, 0, 1e-8, "seed %d, %s", (int)seed, mass);
  for (int k = 0; k < 16; k++) assert_true(c.found.moment[0].s[k / 4][k % 4] == 0); /* spent */
  memory_free(x);
  memory_free(wanted);
  model_gradient_destroy(&c.bars);
  model_gradient_destroy(&c.found);
  fixture_free(&c.f);
}

static void masses_A9_on_the_vertices(void** state) {
  (void)state;
  check_case("mass: 1.7, mass_model: vertices", 1);
  check_case("density: 0.8, mass_model: vertices", 2);
}

static void masses_A9_uniform_in_the_hulls(void** state) {
  (void)state;
  check_case("mass: 1.7, mass_model: uniform", 3);
  check_case("density: 0.8", 7);
  if (!tests_are_long()) return;
  check_case("density: 0.8, mass_model: uniform", 4);
  check_case("mass: 1.7", 6);
}

static void masses_A9_given(void** state) {
  (void)state;
  check_case("mass: 1.7, center: [0.1, 0.2, -0.3], inertia: [0.3, 0.4, 0.5, 0.01, 0.02, 0.03]", 5);
}

/* A box's volume has a kink at each corner, because each face has four corners. The derivative is the mean of both
 * one-sided derivatives, as in a central difference of the hulls' volume. A mirrored box has the mirrored derivative.
 */
static void masses_A9_of_flat_faces(void** state) {
  (void)state;
  const double step = 1e-4, density = 30, size[3] = {0.2, 0.5, 0.3};
  Fixture f;
  fixture_load(&f,
               "links: [{name: box, density: 30, mass_model: uniform, shape: {type: box, size: [0.2, 0.5, 0.3]}}]\n");
  check_clean(&f);
  const ConvexHull* solid = &f.model.hulls[0].solid;
  ModelGradient g;
  model_gradient_create(&g, &f.model);
  g.moment[0].s[3][3] = 1; /* the mass */
  model_gradient_masses(&f.model, &g);
  for (int i = 0; i < 24; i++) {
    Vec3 points[8];
    double mass[2], *coordinate = i % 3 == 0 ? &points[i / 3].x : i % 3 == 1 ? &points[i / 3].y : &points[i / 3].z;
    for (int side = 0; side < 2; side++) {
      ConvexHull moved;
      memcpy(points, solid->vertices, sizeof points);
      *coordinate += side ? step : -step;
      assert_int_equal(hull_create(&moved, points, 8), HULL_OK);
      MassMoment moment = mass_moment_solid(&moved);
      mass[side] = density * mass_moment_mass(&moment);
      hull_free(&moved);
    }
    Vec3 slope = g.vertices[i / 3], place = solid->vertices[i / 3];
    double found = i % 3 == 0 ? slope.x : i % 3 == 1 ? slope.y : slope.z, area = 1;
    double sign = (i % 3 == 0 ? place.x : i % 3 == 1 ? place.y : place.z) > 0 ? 1 : -1;
    for (int k = 0; k < 3; k++) area *= k == i % 3 ? 1 : size[k];
    check_near(found, (mass[1] - mass[0]) / (2 * step), 1e-3 * density * area, "slope of a box");
    check_near(found, sign * density * area / 4, 1e-12, "slope of a box is a quarter of its face");
  }
  model_gradient_destroy(&g);
  fixture_free(&f);
}

/* A link that nothing can move may have no mass: nothing is passed on. */
static void massless_links_have_no_share(void** state) {
  (void)state;
  Fixture f;
  fixture_load(&f, "links: [{name: wall, fixed: true, shape: {type: box, size: [1, 1, 1]}}]\n");
  check_clean(&f);
  ModelGradient g;
  model_gradient_create(&g, &f.model);
  g.moment[0].s[0][0] = 1;
  model_gradient_masses(&f.model, &g);
  for (int k = 0; k < 8; k++) check_vec3(g.vertices[k], vec3(0, 0, 0), 0, "vertex");
  check_near(g.mass[0], 0, 0, "mass");
  model_gradient_clear(&g, &f.model);
  check_near(g.moment[0].s[0][0], 0, 0, "cleared");
  model_gradient_destroy(&g);
  model_gradient_destroy(&g); /* a zeroed one is accepted */
  fixture_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(masses_A9_on_the_vertices),
      cmocka_unit_test(masses_A9_uniform_in_the_hulls),
      cmocka_unit_test(masses_A9_given),
      cmocka_unit_test(masses_A9_of_flat_faces),
      cmocka_unit_test(massless_links_have_no_share),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
