/* Tests point-triangle and edge-edge distances with their derivatives (docs/derivations/law-ipc.md). */
#include <stdio.h>
#include <string.h>

#include "contact/stencil.h"
#include "support/bodies.h"
#include "support/sweep.h"

static Stencil random_stencil(Random* random, bool edges) {
  Stencil s = {.count = 4};
  for (int i = 0; i < 4; i++)
    s.x[i] = vec3(random_uniform(random, -1, 1), random_uniform(random, -1, 1), random_uniform(random, -1, 1));
  if (edges)
    stencil_edge_edge(&s);
  else
    stencil_point_triangle(&s);
  return s;
}

/* The least distance of points of a fine grid on both features: from above, and not much. */
static double searched(const Stencil* s) {
  enum { GRID = 200 };
  double least = INFINITY;
  for (int i = 0; i <= GRID; i++)
    for (int j = 0; j <= (s->is_edge_pair ? GRID : GRID - i); j++) {
      double p = (double)i / GRID, q = (double)j / GRID;
      Vec3 y;
      if (s->is_edge_pair)
        y = vec3_sub(vec3_add(vec3_scale(s->x[0], 1 - p), vec3_scale(s->x[1], p)),
                     vec3_add(vec3_scale(s->x[2], 1 - q), vec3_scale(s->x[3], q)));
      else
        y = vec3_sub(s->x[0], vec3_add(vec3_add(vec3_scale(s->x[1], 1 - p - q), vec3_scale(s->x[2], p)),
                                       vec3_scale(s->x[3], q)));
      least = fmin(least, vec3_norm(y));
    }
  return least;
}

static void distances_N17_against_a_search(void** state) {
  (void)state;
  Random random = {511};
  int seen[2][3] = {{0}};
  for (int n = 0; n < 400; n++) {
    Stencil s = random_stencil(&random, n % 2);
    double found = searched(&s);
    if (!(s.d <= found * (1 + 1e-12) && s.d >= found - 0.03))
      fail_msg("seed 511, draw %d: %g, search %g", n, s.d, found);
    seen[n % 2][s.free_count]++;
  }
  for (int k = 0; k < 6; k++) assert_true(seen[k / 3][k % 3] > 5); /* corners, edges, insides */
}

/* An energy d^3 (2 + s) with all its derivatives: by x. */
static bool energy_at(const Stencil* at, const double* x, Stencil* s, StencilEnergy* e) {
  *s = *at;
  for (int i = 0; i < 12; i++) (i % 3 == 0 ? &s->x[i / 3].x : i % 3 == 1 ? &s->x[i / 3].y : &s->x[i / 3].z)[0] += x[i];
  if (at->is_edge_pair)
    stencil_edge_edge(s);
  else
    stencil_point_triangle(s);
  double d = s->d, q = 0;
  if (at->is_edge_pair) q = edges_sine_squared(vec3_sub(s->x[1], s->x[0]), vec3_sub(s->x[3], s->x[2]), NULL, NULL);
  *e = (StencilEnergy){d * d * d * (2 + q),
                       3 * d * d * (2 + q),
                       at->is_edge_pair ? d * d * d : 0,
                       6 * d * (2 + q),
                       at->is_edge_pair ? 3 * d * d : 0,
                       0};
  return s->free_count == at->free_count;
}

static bool value_at(void* context, const double* x, double* y) {
  Stencil s;
  StencilEnergy e;
  bool same = energy_at(context, x, &s, &e);
  *y = e.value;
  return same;
}

static bool gradient_at(void* context, const double* x, double* y) {
  Stencil s;
  StencilEnergy e;
  StencilDerivatives d;
  bool same = energy_at(context, x, &s, &e);
  stencil_derivatives(&s, &e, &d);
  for (int i = 0; i < 4; i++) vec3_store(d.gradient[i], y + 3 * i);
  return same;
}

/* y_bar . y + c_bar . c. */
static const double c_bar[4] = {0.3, -0.7, 0.2, 1.1};
static bool scalar_at(void* context, const double* x, double* y) {
  Stencil s;
  StencilEnergy e;
  bool same = energy_at(context, x, &s, &e);
  *y = 0.4 * s.y.x - 0.9 * s.y.y + 0.6 * s.y.z;
  for (int i = 0; i < 4; i++) *y += c_bar[i] * s.c[i];
  return same;
}

static void derivatives_N18_N19_N20_of_all_kinds(void** state) {
  (void)state;
  Random random = {512};
  static const double zero[12] = {0};
  int checked = 0;
  for (int n = 0; n < 200; n++) {
    Stencil at = random_stencil(&random, n % 2), s;
    StencilEnergy e;
    StencilDerivatives d;
    double g[12], h[144], r[12];
    Vec3 back[4] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    energy_at(&at, zero, &s, &e);
    if (s.d < 0.1) continue;
    stencil_derivatives(&s, &e, &d);
    stencil_reverse(&s, vec3(0.4, -0.9, 0.6), c_bar, back);
    for (int i = 0; i < 4; i++) {
      vec3_store(d.gradient[i], g + 3 * i);
      vec3_store(back[i], r + 3 * i);
    }
    memcpy(h, d.hessian, sizeof(h));
    Sweep value = {value_at, &at, 12, 1, NULL, NULL, NULL, 1e-3, 4, 5};
    Sweep gradient = {gradient_at, &at, 12, 12, NULL, NULL, NULL, 1e-3, 4, 5};
    Sweep scalar = {scalar_at, &at, 12, 1, NULL, NULL, NULL, 1e-3, 4, 5};
    double moved[12], y;
    bool near_border = false; /* features that change within the steps have kinks */
    for (int i = 0; i < 24; i++) {
      memset(moved, 0, sizeof(moved));
      moved[i / 2] = i % 2 ? 2e-3 : -2e-3;
      near_border |= !value_at(&at, moved, &y);
    }
    if (near_border) continue;
    SweepResult a = sweep_jacobian(&value, g, 1e-3), b = sweep_jacobian(&gradient, h, 1e-3),
                c = sweep_jacobian(&scalar, r, 1e-3);
    if (!(a.error[a.best] < 1e-7 && b.error[b.best] < 1e-6 && c.error[c.best] < 1e-6))
      fail_msg("seed 512, draw %d, %s, %d free: errors %g %g %g", n, n % 2 ? "edges" : "triangle", at.free_count,
               a.error[a.best], b.error[b.best], c.error[c.best]);
    checked++;
  }
  assert_true(checked > 100);
}

/* The rest of a box by its barrier: Z5's derivative against differences. */
static void rest_N21_stiffness_is_the_slope_of_the_force(void** state) {
  (void)state;
  double support = 1e-3, gap = 4e-4, h = 1e-8;
  ContactEquilibrium at = contact_rest_at_gap(CONTACT_IPC, support, 4, 4, gap);
  double up = contact_rest_at_gap(CONTACT_IPC, support, 4, 4, gap + h).force;
  double down = contact_rest_at_gap(CONTACT_IPC, support, 4, 4, gap - h).force;
  compare_relative(at.stiffness, (down - up) / (2 * h), 1e-7, "slope");
  compare_relative(contact_rest_under_force(CONTACT_IPC, support, 4, 4, at.force).gap, gap, 1e-12, "gap");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(distances_N17_against_a_search),
      cmocka_unit_test(derivatives_N18_N19_N20_of_all_kinds),
      cmocka_unit_test(rest_N21_stiffness_is_the_slope_of_the_force),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
