/* Tests the fit of superquadrics to meshes of known superquadrics. The references are the parametric surface, the
 * volume in closed form and the implicit function, all without code of the program. */
#include "decompose/superquadric.h"
#include "support/long.h"
#include "unit/decompose/decompose_testing.h"

enum { AROUND = 48, UP = 24 };

static double signed_power(double x, double e) { return x < 0 ? -pow(-x, e) : pow(x, e); }

/* Barr's form: latitude and longitude. */
static Vec3 surface_at(const Superquadric* q, double latitude, double longitude) {
  double c = signed_power(cos(latitude), q->exponents[0]);
  Vec3 x = vec3(q->size[0] * c * signed_power(cos(longitude), q->exponents[1]),
                q->size[1] * c * signed_power(sin(longitude), q->exponents[1]),
                q->size[2] * signed_power(sin(latitude), q->exponents[0]));
  return vec3_add(mat3_mul_vec(mat3_from_quat(q->rotation), x), q->position);
}

/* F^(e1 / 2) of the usual inside-outside function: 1 on the surface. */
static double scale_at(const Superquadric* q, Vec3 place) {
  Vec3 x = mat3_tmul_vec(mat3_from_quat(q->rotation), vec3_sub(place, q->position));
  double round = pow(fabs(x.x / q->size[0]), 2 / q->exponents[1]) + pow(fabs(x.y / q->size[1]), 2 / q->exponents[1]);
  double whole = pow(round, q->exponents[1] / q->exponents[0]) + pow(fabs(x.z / q->size[2]), 2 / q->exponents[0]);
  return pow(whole, q->exponents[0] / 2);
}

static double beta(double a, double b) { return tgamma(a) * tgamma(b) / tgamma(a + b); }

static double volume_of(const Superquadric* q) {
  double e1 = q->exponents[0], e2 = q->exponents[1];
  return 2 * q->size[0] * q->size[1] * q->size[2] * e1 * e2 * beta(e1 / 2 + 1, e1) * beta(e2 / 2, e2 / 2);
}

static void add_superquadric(Text* text, const Superquadric* q, int before) {
  int first = before + 1, poles = first + AROUND * (UP - 1);
  for (int j = 1; j < UP; j++)
    for (int i = 0; i < AROUND; i++) {
      Vec3 p = surface_at(q, M_PI * ((double)j / UP - 0.5), 2 * M_PI * i / AROUND);
      text_add(text, "v %.17g %.17g %.17g\n", p.x, p.y, p.z);
    }
  for (int k = -1; k < 2; k += 2) {
    Vec3 p = surface_at(q, k * M_PI / 2, 0);
    text_add(text, "v %.17g %.17g %.17g\n", p.x, p.y, p.z);
  }
  for (int i = 0; i < AROUND; i++) {
    int next = (i + 1) % AROUND, last = first + AROUND * (UP - 2);
    text_add(text, "f %d %d %d\nf %d %d %d\n", poles, first + next, first + i, poles + 1, last + i, last + next);
    for (int j = 0; j < UP - 2; j++)
      text_add(text, "f %d %d %d %d\n", first + j * AROUND + i, first + j * AROUND + next,
               first + (j + 1) * AROUND + next, first + (j + 1) * AROUND + i);
  }
}

static Mesh mesh_of(const Superquadric* list, int count) {
  Text text = {0};
  for (int k = 0; k < count; k++) add_superquadric(&text, &list[k], k * (AROUND * (UP - 1) + 2));
  Mesh mesh = mesh_of_text(text.data);
  text_free(&text);
  return mesh;
}

/* Returns the largest distance between both surfaces, relative to the distance from the centre. */
static double difference(const Superquadric* a, const Superquadric* b) {
  double worst = 0;
  for (int j = 1; j < 40; j++)
    for (int i = 0; i < 60; i++)
      worst = fmax(worst, fabs(scale_at(b, surface_at(a, M_PI * (j / 40.0 - 0.5), 2 * M_PI * (i + 0.3) / 60)) - 1));
  return worst;
}

static const Superquadric EGG = {{0.5, 0.8, 1.3}, {0.9, 0.6}, {0.8, 0.36, -0.48, 0}, {3, -2, 1}};
static const Superquadric BRICK = {{0.6, 0.4, 1.1}, {0.25, 0.35}, {0.6, 0, 0.64, 0.48}, {0, 0, 0}};
static const Superquadric PAIR[2] = {{{0.4, 0.5, 1.4}, {0.5, 0.8}, {1, 0, 0, 0}, {0, 0, 0}},
                                     {{1.2, 0.35, 0.3}, {0.8, 0.5}, {1, 0, 0, 0}, {0.9, 0, 1.0}}};

static void one_comes_back(const Superquadric* truth) {
  Mesh mesh = mesh_of(truth, 1);
  SuperquadricUnion found;
  assert_int_equal(mesh_superquadrics(&found, &mesh, &(SuperquadricOptions){.threads = 2}), HULL_OK);
  assert_int_equal(found.count, 1);
  assert_true(difference(truth, &found.list[0]) < 0.02); /* the mesh itself is 0.005 within */
  assert_true(fabs(volume_of(&found.list[0]) / volume_of(truth) - 1) < 0.015);
  assert_true(fabs(found.union_volume / volume_of(&found.list[0]) - 1) < 0.01);
  assert_true(found.intersection_over_union > 0.975);
  superquadrics_free(&found);
  mesh_free(&mesh);
}

static void an_egg_comes_back_B11(void** state) {
  (void)state;
  one_comes_back(&EGG);
}

static void a_brick_comes_back(void** state) {
  (void)state;
  one_comes_back(&BRICK);
}

/* Each of the two is one of those found; the same bits for any number of threads. */
static void two_that_overlap_come_back_B12(void** state) {
  (void)state;
  if (!tests_are_long()) skip();
  Mesh mesh = mesh_of(PAIR, 2);
  SuperquadricUnion found, again;
  assert_int_equal(mesh_superquadrics(&found, &mesh, &(SuperquadricOptions){.max = 2, .threads = 3}), HULL_OK);
  assert_int_equal(found.count, 2);
  for (int k = 0; k < 2; k++)
    assert_true(fmin(difference(&PAIR[k], &found.list[0]), difference(&PAIR[k], &found.list[1])) < 0.04);
  if (tests_are_long()) { /* the same bits with one thread */
    assert_int_equal(mesh_superquadrics(&again, &mesh, &(SuperquadricOptions){.max = 2, .threads = 1}), HULL_OK);
    assert_memory_equal(found.list, again.list, 2 * sizeof *found.list);
    assert_memory_equal(&found.mesh_to_union, &again.mesh_to_union, sizeof found.mesh_to_union);
    assert_true(found.intersection_over_union == again.intersection_over_union);
    superquadrics_free(&again);
  }
  assert_true(found.mesh_to_union.largest < 0.05 && found.union_to_mesh.mean < 0.01);
  superquadrics_free(&found);
  mesh_free(&mesh);
}

/* One superquadric cannot fit two separate boxes. The report must show the large error. */
static void what_is_bad_is_told(void** state) {
  (void)state;
  Text text = {0};
  add_box(&text, 0, vec3(0, 0, 0), vec3(1, 1, 1));
  add_box(&text, 1, vec3(3, 0, 0), vec3(4, 1, 1));
  Mesh mesh = mesh_of_text(text.data);
  SuperquadricUnion found;
  assert_int_equal(mesh_superquadrics(&found, &mesh, &(SuperquadricOptions){.max = 1}), HULL_OK);
  assert_int_equal(found.count, 1);
  assert_true(fabs(found.mesh_volume - 2) < 0.02);
  assert_true(found.intersection_over_union < 0.51);
  assert_true(found.mesh_to_union.largest > 2);
  superquadrics_free(&found);
  mesh_free(&mesh);
  text_free(&text);
}

static void a_flat_mesh_is_refused(void** state) {
  (void)state;
  Mesh mesh = mesh_of_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 4 3\n");
  SuperquadricUnion found;
  assert_int_not_equal(mesh_superquadrics(&found, &mesh, &(SuperquadricOptions){.max = 1}), HULL_OK);
  assert_null(found.list);
  mesh_free(&mesh);
}

/* (B10): radial distance against the implicit function written out, slopes against its central differences. */
static void distances_and_slopes_B10(void** state) {
  (void)state;
  const Vec3 places[3] = {{3.9, -1.2, 1.7}, {2.8, -2.3, 1.2}, {3.1, -3.5, 2.2}};
  Primitive egg = primitive_create(&EGG);
  for (int p = 0; p < 3; p++) {
    double way = vec3_norm(vec3_sub(places[p], EGG.position)), slope[SUPERQUADRIC_VARIABLES];
    double distance = way * (1 - 1 / scale_at(&EGG, places[p]));
    assert_true(fabs(primitive_distance(&egg, places[p], 100) - distance) < 1e-12);
    primitive_derivatives(&egg, places[p], slope);
    for (int k = 0; k < SUPERQUADRIC_VARIABLES; k++) {
      double value[2], step[SUPERQUADRIC_VARIABLES] = {0};
      for (int side = 0; side < 2; side++) {
        step[k] = (side ? -1 : 1) * 1e-5;
        Superquadric moved = superquadric_add_step(&EGG, step, 1e-3, 100);
        value[side] = vec3_norm(vec3_sub(places[p], moved.position)) * (1 - 1 / scale_at(&moved, places[p]));
      }
      assert_true(fabs(slope[k] - (value[0] - value[1]) / 2e-5) < 1e-7 * (1 + fabs(slope[k])));
    }
  }
}

/* The distance of overlapping superquadrics is the smallest one, in any order, also inside several of them. */
static void distances_of_a_union(void** state) {
  (void)state;
  const Primitive list[2][2] = {{primitive_create(&PAIR[0]), primitive_create(&PAIR[1])},
                                {primitive_create(&PAIR[1]), primitive_create(&PAIR[0])}};
  Random random = {12};
  int in_both = 0;
  for (int n = 0; n < 3000; n++) {
    Vec3 point = vec3(random_uniform(&random, -0.6, 2.2), random_uniform(&random, -0.6, 0.6),
                      random_uniform(&random, -1.5, 1.5));
    double distance[2];
    for (int k = 0; k < 2; k++)
      distance[k] = vec3_norm(vec3_sub(point, PAIR[k].position)) * (1 - 1 / scale_at(&PAIR[k], point));
    in_both += distance[0] < 0 && distance[1] < 0;
    double wanted = fmax(-0.25, fmin(0.25, fmin(distance[0], distance[1])));
    for (int order = 0; order < 2; order++)
      assert_float_equal(primitives_distance(list[order], 2, point, 0.25), wanted, 1e-12);
  }
  assert_true(in_both >= 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(distances_and_slopes_B10), cmocka_unit_test(an_egg_comes_back_B11),
      cmocka_unit_test(a_brick_comes_back),       cmocka_unit_test(two_that_overlap_come_back_B12),
      cmocka_unit_test(what_is_bad_is_told),      cmocka_unit_test(a_flat_mesh_is_refused),
      cmocka_unit_test(distances_of_a_union),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
