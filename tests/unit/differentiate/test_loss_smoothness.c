/* Tests the smoothness loss: rates of the controllers' targets. */
#include "loss_testing.h"

#define DRIVEN                                                                                                      \
  "simulation: {dt: 0.1, steps: 4, integrator: first_order}\n"                                                      \
  "links:\n"                                                                                                        \
  "  - {name: a, joint: {type: universal, axes: [[1, 0, 0], [0, 1, 0]]}, mass: 1, shape: {type: sphere, radius: "   \
  "0.1}}\n"                                                                                                         \
  "  - {name: b, joint: {type: slide, axis: [1, 0, 0], position: [9, 0, 0]}, shape: {type: sphere, radius: 0.1}}\n" \
  "controllers:\n"                                                                                                  \
  "  - {link: a, type: pd, position_gain: 1, target: {type: keyframes, times: [0, 0.2, 1], values: [[0, 0], [0.6, " \
  "0.8], [0.6, 0.8]]}}\n"                                                                                           \
  "  - {link: a, type: pd, position_gain: 1, target: [3, 4]}\n"                                                     \
  "  - {link: b, type: prescribed, target: {type: sines, terms: [{amplitude: 0.1, frequency: 2.5}]}}\n"

/* a: rates (3, 4) at t = 0 and 0.1 s, 0 at 0.2 s (where the held span begins), 0.3 and 0.4 s. b: 0.1 (5 pi) cos(5 pi
 * t), which is 0.5 pi times 1, 0, -1, 0, 1. */
static void all_states_and_channels_count(void** state) {
  (void)state;
  LossRun* run = loss_run_create(4, DRIVEN);
  TaskLoss loss = loss_of(LOSS_SMOOTHNESS, "a");
  compare_near(loss_value(run, &loss), 2 * 25 / 5.0, 1e-12, "a");
  loss.link.text = name_text("b");
  compare_near(loss_value(run, &loss), 3 * pow(0.5 * M_PI, 2) / 5, 1e-12, "b");
  loss.link.text = NULL;
  compare_near(loss_value(run, &loss), (50 + 3 * pow(0.5 * M_PI, 2)) / 5, 1e-12, "both");
  loss.from = loss.to = 0.1;
  compare_near(loss_value(run, &loss), 25, 1e-12, "at 0.1 s");
  loss_run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_states_and_channels_count),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
