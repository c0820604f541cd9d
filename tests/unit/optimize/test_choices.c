/* Tests which combinations of discrete choices are evaluated: none twice, in order or at random. */
#include <math.h>

#include "optimize/optimize.h"
#include "support/compare.h"

enum { CHOICES = 3, ALL = 2 * 3 * 4 };
static const int COUNTS[CHOICES] = {2, 3, 4};

static Task task_of(TaskChoiceMethod method, int tries, int seed, TaskChoice choices[CHOICES]) {
  for (int k = 0; k < CHOICES; k++) choices[k] = (TaskChoice){.count = COUNTS[k]};
  return (Task){.choices = choices,
                .choice_count = CHOICES,
                .choice_method = method,
                .choice_tries = tries,
                .seed = (uint64_t)seed};
}

static int number_of(const int* pick) { return (pick[0] * COUNTS[1] + pick[1]) * COUNTS[2] + pick[2]; }

static int differences(const int* a, const int* b) { return (a[0] != b[0]) + (a[1] != b[1]) + (a[2] != b[2]); }

static void choices_O19_all_in_order(void** state) {
  (void)state;
  TaskChoice choices[CHOICES];
  Task task = task_of(CHOICE_ALL, 1, 1, choices);
  ChoiceSearch* s = choice_search_create(&task);
  int pick[CHOICES], count = 0;
  assert_int_equal(choice_search_count(s), ALL);
  for (; choice_search_next(s, pick); count++) assert_int_equal(number_of(pick), count);
  assert_int_equal(count, ALL);
  choice_search_destroy(s);
}

/* As the page says, from its own words: the j-th of those that are left, evenly by the stream (seed, j). */
static void choices_O19_random_by_its_stream(void** state) {
  (void)state;
  for (int seed = 1; seed <= 20; seed++) {
    TaskChoice choices[CHOICES];
    Task task = task_of(CHOICE_RANDOM, 10, seed, choices);
    ChoiceSearch* s = choice_search_create(&task);
    int pick[CHOICES], left[ALL], lefts = ALL, count = 0;
    for (int k = 0; k < ALL; k++) left[k] = k;
    for (; choice_search_next(s, pick); count++) {
      Random random = {(uint64_t)seed};
      random.state = random_bits(&random) + (uint64_t)count;
      int at = count == 0 ? 0 : (int)floor(random_uniform(&random, 0, 1) * lefts);
      assert_int_equal(number_of(pick), left[at]);
      for (lefts--; at < lefts; at++) left[at] = left[at + 1];
    }
    assert_int_equal(count, 10);
    choice_search_destroy(s);
  }
}

/* The loss is convex in the choices. Each evaluation is a neighbour of the best combination so far, while the best has
 * unevaluated neighbours. The search finds the minimum. Infeasible combinations rank after feasible ones. */
static void choices_O19_climb_beside_the_best(void** state) {
  (void)state;
  for (int seed = 1; seed <= 50; seed++) {
    TaskChoice choices[CHOICES];
    Task task = task_of(CHOICE_CLIMB, ALL, seed, choices);
    ChoiceSearch* s = choice_search_create(&task);
    int pick[CHOICES], best[CHOICES] = {0}, count = 0;
    bool tried[ALL] = {false};
    double least = HUGE_VAL;
    for (; choice_search_next(s, pick); count++) {
      assert_false(tried[number_of(pick)]);
      bool beside = count == 0;
      for (int k = 0; k < CHOICES && count > 0; k++)
        for (int i = 0; i < COUNTS[k]; i++) {
          int near[CHOICES] = {best[0], best[1], best[2]};
          near[k] = i;
          beside = beside || !tried[number_of(near)];
        }
      if (count > 0 && beside) assert_int_equal(differences(pick, best), 1);
      tried[number_of(pick)] = true;
      double loss = pow(pick[0] - 1, 2) + pow(pick[1] - 2, 2) + pow(pick[2] - 1, 2);
      bool broken = pick[2] == 1, better = !broken && loss < least;
      assert_int_equal(choice_search_report(s, loss, broken ? 0.5 : -1, true), better);
      if (!better) continue;
      least = loss;
      for (int k = 0; k < CHOICES; k++) best[k] = pick[k];
    }
    assert_int_equal(count, ALL);
    compare_near(least, 1, 0, "seed %d: the least that keeps its bounds", seed);
    choice_search_destroy(s);
  }
}

/* A combination without a loss is never the best. */
static void choices_O19_failures_are_passed_over(void** state) {
  (void)state;
  TaskChoice choices[CHOICES];
  Task task = task_of(CHOICE_CLIMB, 3, 7, choices);
  ChoiceSearch* s = choice_search_create(&task);
  int pick[CHOICES];
  assert_true(choice_search_next(s, pick));
  assert_false(choice_search_report(s, NAN, -HUGE_VAL, true));
  assert_true(choice_search_next(s, pick));
  assert_true(choice_search_report(s, 5, -HUGE_VAL, true));
  assert_true(choice_search_next(s, pick));
  assert_false(choice_search_report(s, 5, -HUGE_VAL, true));
  assert_false(choice_search_next(s, pick));
  choice_search_destroy(s);
}

/* A successful combination ranks before a failed one with less loss, unless it violates a bound. */
static void choices_O19_success_ranks_before_the_loss(void** state) {
  (void)state;
  TaskChoice choices[CHOICES];
  Task task = task_of(CHOICE_ALL, ALL, 1, choices);
  ChoiceSearch* s = choice_search_create(&task);
  const struct {
    double loss, violation;
    bool meets, best;
  } results[] = {{1, -1, false, true}, {3, -1, true, true},   {0, -1, false, false},
                 {2, -1, true, true},  {1, 0.5, true, false}, {2, -1, true, false}};
  for (size_t k = 0; k < sizeof results / sizeof results[0]; k++) {
    int pick[CHOICES];
    assert_true(choice_search_next(s, pick));
    assert_int_equal(choice_search_report(s, results[k].loss, results[k].violation, results[k].meets), results[k].best);
  }
  choice_search_destroy(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(choices_O19_all_in_order),
      cmocka_unit_test(choices_O19_success_ranks_before_the_loss),
      cmocka_unit_test(choices_O19_random_by_its_stream),
      cmocka_unit_test(choices_O19_climb_beside_the_best),
      cmocka_unit_test(choices_O19_failures_are_passed_over),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
