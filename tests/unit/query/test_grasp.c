/* Tests grasp quality against linear programs, a closed form, and derivatives against finite differences. */
#include <glpk.h>

#include "query/query.h"
#include "support/bodies.h"
#include "support/long.h"
#include "support/sweep.h"

enum { MOST = 6 };

typedef struct {
  GraspContact contact[MOST];
  int count;
  GraspSettings settings;
} Grasp;

/* Contacts on a ball of radius 0.1, normals tilted. */
static Grasp random_grasp(Random* random, int count) {
  Grasp g = {.count = count, .settings = {0.3 + 0.4 * random_uniform(random, 0, 1), 0.1}};
  for (int i = 0; i < count; i++) {
    Vec3 out = random_direction(random);
    g.contact[i].arm = vec3_scale(out, 0.1);
    g.contact[i].normal = vec3_normalized(vec3_add_scaled(vec3_scale(out, -1), 0.3, random_direction(random)));
  }
  return g;
}

/* Returns the extent of the wrench hull from zero along a direction: the largest s with s u = sum lambda w, sum lambda
 * = 1, lambda >= 0. Returns -1 if the hull does not intersect the ray. */
static double reach_along(const Grasp* g, const double u[GRASP_WRENCH]) {
  double w[MOST * GRASP_EDGES][GRASP_WRENCH];
  int count = grasp_wrenches(g->contact, g->count, &g->settings, w);
  glp_prob* lp = glp_create_prob();
  glp_smcp settings;
  glp_init_smcp(&settings);
  settings.msg_lev = GLP_MSG_OFF;
  glp_set_obj_dir(lp, GLP_MAX);
  glp_add_rows(lp, GRASP_WRENCH + 1);
  glp_add_cols(lp, count + 1);
  for (int i = 1; i <= GRASP_WRENCH + 1; i++) glp_set_row_bnds(lp, i, GLP_FX, i > GRASP_WRENCH, i > GRASP_WRENCH);
  for (int j = 1; j <= count + 1; j++) {
    int rows[GRASP_WRENCH + 2];
    double values[GRASP_WRENCH + 2];
    glp_set_col_bnds(lp, j, GLP_LO, 0, 0);
    for (int i = 1; i <= GRASP_WRENCH + 1; i++) {
      rows[i] = i;
      values[i] = j > count ? (i > GRASP_WRENCH ? 0 : -u[i - 1]) : i > GRASP_WRENCH ? 1 : w[j - 1][i - 1];
    }
    glp_set_mat_col(lp, j, GRASP_WRENCH + 1, rows, values);
  }
  glp_set_obj_coef(lp, count + 1, 1);
  double out = glp_simplex(lp, &settings) == 0 && glp_get_status(lp) == GLP_OPT ? glp_get_obj_val(lp) : -1;
  glp_delete_prob(lp);
  return out;
}

/* No direction goes less far than epsilon, and the one that was found goes just so far. */
static void quality_is_the_least_of_linear_programs_V9(void** state) {
  (void)state;
  Random random = {91};
  int closed = 0;
  for (int round = 0; round < 40; round++) {
    Grasp g = random_grasp(&random, 3 + round % 4);
    GraspQuality q = grasp_quality(g.contact, g.count, &g.settings);
    assert_true(q.known);
    if (q.epsilon < 1e-3) { /* along the normal the hull ends at once */
      compare_at_most(reach_along(&g, q.normal), 1e-3 + fmax(0, q.epsilon), "seed 91, round %d: no closure", round);
      continue;
    }
    closed++;
    compare_near(reach_along(&g, q.normal), q.epsilon, 1e-9, "seed 91, round %d: along the nearest facet", round);
    for (int k = 0; k < 50; k++) {
      double u[GRASP_WRENCH], square = 0;
      for (int i = 0; i < GRASP_WRENCH; i++) u[i] = random_uniform(&random, -1, 1);
      for (int i = 0; i < GRASP_WRENCH; i++) square += u[i] * u[i];
      for (int i = 0; i < GRASP_WRENCH; i++) u[i] /= sqrt(square);
      assert_true(reach_along(&g, u) > q.epsilon - 1e-9);
    }
  }
  assert_true(closed > 5);
}

/* Forces that all point up cannot pull down. */
static void three_from_below_hold_nothing_V9(void** state) {
  (void)state;
  Grasp g = {.count = 3, .settings = {0.5, 0.1}};
  for (int i = 0; i < 3; i++) g.contact[i] = (GraspContact){{0.05 * cos(2 * i), 0.05 * sin(2 * i), -0.05}, {0, 0, 1}};
  assert_true(grasp_quality(g.contact, g.count, &g.settings).epsilon <= 1e-12);
}

static bool quality_there(void* context, const double* x, double* y) {
  Grasp g = *(const Grasp*)context;
  for (int i = 0; i < g.count; i++) {
    g.contact[i].arm = vec3_add(g.contact[i].arm, vec3_at(x + 6 * i));
    g.contact[i].normal = vec3_normalized(vec3_add(g.contact[i].normal, vec3_at(x + 6 * i + 3)));
  }
  *y = grasp_quality(g.contact, g.count, &g.settings).epsilon;
  return true;
}

static void derivatives_V8_V10(void** state) {
  (void)state;
  Random random = {92};
  for (int round = 0; round < tests_count(1, 10); round++) {
    Grasp g = random_grasp(&random, 4);
    GraspQuality q = grasp_quality(g.contact, g.count, &g.settings);
    double jacobian[6 * MOST];
    for (int k = 0; k < 6 * g.count; k++) {
      Vec3 e = {k % 3 == 0, k % 3 == 1, k % 3 == 2}, none = {0, 0, 0}, n = g.contact[k / 6].normal;
      Vec3 turned = vec3_add_scaled(e, -vec3_dot(n, e), n);
      jacobian[k] =
          grasp_quality_slope(&q, g.contact, &g.settings, k / 6, k % 6 < 3 ? e : none, k % 6 < 3 ? none : turned);
    }
    const double unit[6 * MOST] = {0.1, 0.1, 0.1, 1, 1, 1, 0.1, 0.1, 0.1, 1, 1, 1,
                                   0.1, 0.1, 0.1, 1, 1, 1, 0.1, 0.1, 0.1, 1, 1, 1};
    Sweep sweep = {quality_there, &g, 6 * g.count, 1, NULL, unit, NULL, 1e-4, 3, 7};
    sweep_expect(&sweep, jacobian, 1e-3, 1e-6, "seed 92, round %d", round);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(quality_is_the_least_of_linear_programs_V9),
      cmocka_unit_test(three_from_below_hold_nothing_V9),
      cmocka_unit_test(derivatives_V8_V10),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
