/* Private to differentiate/: the numbers of a scene as vectors, and a loss for scenes without one. */
#ifndef SDRS_DIFFERENTIATE_GRADCHECK_H
#define SDRS_DIFFERENTIATE_GRADCHECK_H

#include "differentiate/differentiate.h"

/* Largest difference step, relative to a number's scale. */
#define GRADCHECK_LARGEST_STEP 1e-2

/* Returns the number of numbers in the block; 0 if the scene has none. */
int block_size(const Model* model, GradcheckBlock block);
/* Sets scale[block_size]: a large change of each number. Lengths: the link's reach. Masses and contact parameters:
 * their value. Coordinates and velocities: 1; 0 if prescribed. Exponents at the end of their range: 0. Joint position
 * signals: 0.1. Other signals: a tenth of the largest value; for loads and tensions at least a tenth of the force that
 * moves the link by its size within the run. Frequencies: 0.1 / duration. Gains: a tenth, or a tenth of gain_unit. */
void block_scale(const Model* model, GradcheckBlock block, double* scale);
/* Sets out[block_size] to the derivatives, in the order of block_numbers. */
void block_gradient(const Model* model, GradcheckBlock block, const ModelGradient* gradient, double* out);
/* Returns the numbers of an expanded scene (model_expand_shapes) with their values (block_size). Entries of the state,
 * which is changed by increments, are zero. The caller frees them with memory_free. */
ModelOverride* block_numbers(const Scene* scene, const Model* model, GradcheckBlock block);
/* Changes the initial state. values (2 nv): increments of coordinates [m, rad], then changes of velocities [m/s,
 * rad/s]. */
void state_move(Model* model, const double* values);

typedef struct Probe Probe;
/* Returns a probe relative to base, which must outlive it. The weights depend on `seed` only. Freed with probe_destroy.
 */
Probe* probe_create(const Recording* base, uint64_t seed);
/* Frees the probe, not the recording. Accepts NULL. */
void probe_destroy(Probe* probe);
/* Adds the rows that the probe reads in a run of `steps` steps. */
void probe_keep(int steps, RowKeep* keep);
/* Returns the root of the sum of squares of all summands at base; the rounding error is an epsilon of it. Rotation
 * entries [1] and positions [m] count equally. */
double probe_size(const Probe* probe);
/* Returns the value at a recording and adds derivatives to seeds unless NULL. */
double probe_evaluate(const Probe* probe, const Recording* recording, LossSeeds* seeds);

#endif
