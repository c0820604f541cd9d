/* Reads the numbers of a gradient-check block from a scene, and writes them. */
#ifndef SDRS_TEST_BLOCKS_H
#define SDRS_TEST_BLOCKS_H

#include "differentiate/gradcheck.h"

/* Zeros for the state, which is no number of a scene. */
static inline void block_read(const Scene* scene, const Model* model, GradcheckBlock block, double* values) {
  ModelOverride* numbers = block_parameters(scene, model, block);
  for (int k = 0; k < block_size(model, block); k++) values[k] = numbers[k].value;
  memory_free(numbers);
}

/* Nothing for the state. */
static inline void block_write(Scene* scene, const Model* model, GradcheckBlock block, const double* values) {
  ModelOverride* numbers = block_parameters(scene, model, block);
  for (int k = 0; k < block_size(model, block) && block != GRADCHECK_STATE; k++)
    *model_scene_number(scene, &numbers[k]) = values[k];
  memory_free(numbers);
}

#endif
