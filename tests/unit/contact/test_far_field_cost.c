/* Tests the cost of the long-range law for two parallel square grids of triangles (LRI, appendix A.2;
 * docs/derivations/law-long_range.md, N8). The cost is the number of terms, which is the same on every computer.
 * benchmarks/results/laws-grid.csv holds the output lines that begin with "csv,". */
#include <time.h>

#include "contact/far_field.h"
#include "support/runs.h"

enum { SMALLEST = 2, LARGEST = 64 };
static const double cell_gap = 0.01; /* of cells of 1 m */

static void add_triangle(Text* text, int i, int j, int upper) {
  static const int corner[2][3][2] = {{{0, 0}, {1, 0}, {0, 1}}, {{1, 1}, {0, 1}, {1, 0}}};
  for (int k = 0; k < 3; k++)
    text_add(text, "%s[%d, %d, 0]", text->data[text->length - 1] == '[' ? "" : ", ", i + corner[upper][k][0],
             j + corner[upper][k][1]);
}

/* Two links, each a grid of n x n cells of two triangles. */
static Run* two_grids(int n) {
  Text text = {0};
  text_add(&text,
           "simulation: {dt: 0.01, steps: 1, integrator: first_order}\ncontact: {model: none}\nshapes:\n"
           "  grid: {type: points, pieces: triangles, points: [");
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int upper = 0; upper < 2; upper++) add_triangle(&text, i, j, upper);
  text_add(&text,
           "]}\nlinks:\n  - {name: below, mass: 1, shape: grid}\n  - {name: above, mass: 1, shape: grid, "
           "position: [0, 0, 1]}\n");
  Run* run = run_model("%s", text.data);
  text_free(&text);
  return run;
}

/* Of the walk over both hierarchies (terms), of which pairs of triangles (pieces); processor time of value, gradient
 * and Hessian [s]. */
typedef struct {
  double triangles, terms, pieces, seconds;
} Cost;

static Cost cost_of(int n) {
  Run* run = two_grids(n);
  Hierarchy hierarchy;
  FieldWork work;
  PairDerivatives derivatives;
  hierarchy_create(&hierarchy, &run->model);
  FarField field = {&run->model, &hierarchy, 1, false};
  field_work_create(&work, &run->model, &hierarchy);
  FieldPair pair = {.link = {0, 1}, .pose = {pose_identity(), {mat3_identity(), vec3(0, 0, cell_gap)}}};
  clock_t begin = clock();
  assert_true(field_derivatives(&field, &work, &pair, &derivatives));
  Cost cost = {2.0 * n * n, work.count, work.piece_count, (double)(clock() - begin) / CLOCKS_PER_SEC};
  field_work_destroy(&work);
  hierarchy_destroy(&hierarchy);
  run_free(run);
  return cost;
}

/* Twice as many triangles, twice the terms; all pairs of them would be four times as many. */
static void cost_N8_grows_with_the_triangles(void** state) {
  (void)state;
  Cost before = {0};
  double exponent = INFINITY;
  print_message("csv,triangles,terms,pairs_of_triangles,all_pairs,seconds\n");
  for (int n = SMALLEST; n <= LARGEST; n *= 2) {
    Cost cost = cost_of(n);
    print_message("csv,%.0f,%.0f,%.0f,%.0f,%.3g\n", cost.triangles, cost.terms, cost.pieces,
                  cost.triangles * cost.triangles, cost.seconds);
    exponent = log(cost.terms / before.terms) / log(cost.triangles / before.triangles);
    before = cost;
  }
  print_message("the last exponent: %.3f\n", exponent);
  assert_true(exponent < 1.1);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(cost_N8_grows_with_the_triangles)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
