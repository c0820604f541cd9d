/* Runs of smooth shapes against central differences, block by block. */
#ifndef SDRS_TESTS_GRADIENT_ROWS_H
#define SDRS_TESTS_GRADIENT_ROWS_H

#include "differentiate/differentiate.h"
#include "support/long.h"
#include "support/runs.h"

/* An ellipsoid-like shape of so many points (`resolution`, a string). */
#define EGG_OF(resolution) "{type: superellipsoid, size: [0.1, 0.12, 0.15], exponent: 2, resolution: " resolution "}"
#define EGG_FLIES "initial: [{link: egg, velocities: [1, 0, 0, 2, 1, 0]}]\n"

/* It meets a half-space that swings, under a law (`model: ..., ...`). */
#define EGG_ON_A_MOVING_HALF_SPACE(law, egg)                                                    \
  "simulation: {dt: 0.005, tolerance: 1e-10, integrator: second_order}\n"                       \
  "contact: {" law                                                                              \
  ", stiffness: 1e5, friction: 0.3}\n"                                                          \
  "links:\n"                                                                                    \
  "  - {name: ground, shape: {type: half_space}, joint: {type: hinge, axis: [0, 1, 0]}}\n"      \
  "  - {name: egg, density: 1000, position: [0.1, 0, 0.145], rpy: [0.1, 0.2, 0.3], shape: " egg \
  "}\n"                                                                                         \
  "controllers:\n"                                                                              \
  "  - {link: ground, type: prescribed, target: {type: sines, terms: [{amplitude: 0.05, frequency: 3}]}}\n" EGG_FLIES

enum { ALL_BLOCKS = (1 << GRADCHECK_BLOCKS) - 1 };

/* blocks: a bit for each GradcheckBlock that is asked for; that of shapes, or else those of state and vertices, must
 * not vanish. */
static inline void check_gradients(const char* name, int steps, const char* scene, unsigned blocks, double bound) {
  Run* run = run_model("%s", scene);
  GradcheckOptions options = {.blocks = blocks,
                              .seed = 1,
                              .directions = tests_count(1, 2),
                              .steps = steps,
                              .tolerance = 1e-10,
                              .bound = bound,
                              .threads = 1};
  GradcheckReport report;
  model_expand_shapes(&run->model, &run->scene);
  model_destroy(&run->model);
  assert_int_equal(model_create(&run->model, &run->scene, &run->diagnostics), STATUS_OK);
  assert_int_equal(gradcheck_scene(&run->scene, &run->model, NULL, &options, &report, &run->diagnostics), STATUS_OK);
  assert_true(report.adjoint.sound);
  for (int b = 0; b < GRADCHECK_BLOCKS; b++) {
    const GradcheckBlockReport* block = &report.block[b];
    if (!(blocks & 1U << b)) continue;
    if (block->count > 0 && (block->verdict == GRADCHECK_WRONG || !(block->error <= bound)) && block->norm > 1e-9)
      fail_msg("%s: gradient by the %s: relative error %.3g, resolution %.3g", name,
               gradcheck_block_name((GradcheckBlock)b), block->error, block->resolution);
  }
  bool asked = blocks & 1U << GRADCHECK_SHAPES, vertices = !asked && blocks & 1U << GRADCHECK_VERTICES;
  assert_true(report.block[asked ? GRADCHECK_SHAPES : GRADCHECK_STATE].norm > 1e-6);
  assert_true(!vertices || report.block[GRADCHECK_VERTICES].norm > 1e-6);
  run_free(run);
}

#endif
