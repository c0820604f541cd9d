/* Private to differentiate/: numbers of a scene as vectors, and a test loss for scenes without a loss. */
#ifndef SDRS_DIFFERENTIATE_GRADCHECK_H
#define SDRS_DIFFERENTIATE_GRADCHECK_H

#include "differentiate/differentiate.h"

/* Largest difference step, as a fraction of a number's scale. */
#define GRADCHECK_LARGEST_STEP 1e-2

/* Returns the number of entries of a block, or 0 if the scene has none. */
int block_size(const Model* model, GradcheckBlock block);
/* Sets scale[block_size] to a large change of each number of a block. Lengths: the link's reach. Masses and contact
 * parameters: their value. Coordinates and velocities: 1, or 0 if prescribed. Exponents at the end of their range: 0.
 * Signals of joint positions: 0.1. Other signals: a tenth of the largest value. Loads and tensions: at least a tenth of
 * the force that moves the link by its size within the run. Frequencies: 0.1 / duration. Gains: a tenth of the value,
 * or of gain_unit. */
void block_scale(const Model* model, GradcheckBlock block, double* scale);
/* Sets out[block_size] to the derivatives of a block, in the order of block_parameters. */
void block_gradient(const Model* model, GradcheckBlock block, const ModelGradient* gradient, double* out);
/* Returns the numbers of a block with their values (block_size). scene: expanded by model_expand_shapes. Entries of the
 * state are zero, because the state is changed by increments. The caller frees the array with memory_free. */
ModelOverride* block_parameters(const Scene* scene, const Model* model, GradcheckBlock block);
/* Changes the initial state by values (2 nv): increments of coordinates [m, rad], then of velocities [m/s, rad/s]. */
void perturb_state(Model* model, const double* values);

typedef struct Probe Probe;
/* Returns a test loss relative to the recording `base`, which must outlive it. The weights depend on `seed` only. The
 * caller frees the probe with probe_destroy. */
Probe* probe_create(const Recording* base, uint64_t seed);
/* Frees the probe, not the recording. Accepts NULL. */
void probe_destroy(Probe* probe);
/* Selects in `keep` the rows that a probe reads in a run of `steps` steps. */
void probe_select_rows(int steps, RowSelection* keep);
/* Returns the root of the sum of squares of all summands at the base run. The rounding error of the value is this times
 * the machine epsilon. Rotation entries [1] and positions [m] count equally. */
double probe_size(const Probe* probe);
/* Returns the value for a recording, and adds derivatives to seeds unless NULL. */
double probe_evaluate(const Probe* probe, const Recording* recording, LossSeeds* seeds);

#endif
