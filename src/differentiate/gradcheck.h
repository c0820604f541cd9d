/* Private to differentiate/: for the gradient check, the parameters of a scene as vectors, and a random loss for scenes
 * without a loss. */
#ifndef SDRS_DIFFERENTIATE_GRADCHECK_H
#define SDRS_DIFFERENTIATE_GRADCHECK_H

#include "differentiate/differentiate.h"

/* Largest difference step, relative to the scale of a parameter. */
#define GRADCHECK_LARGEST_STEP 1e-2

/* Returns the number of parameters of one kind (block) that the gradient check varies, or 0 if the scene has none.
 * Returns 0 for GRADCHECK_INPUT, whose parameters belong to a run (input_scale). */
int block_size(const Model* model, GradcheckBlock block);
/* Sets scale[block_size] to a typical large change of each parameter of a block; 0: the parameter is not varied. The
 * largest difference step is GRADCHECK_LARGEST_STEP times this scale. Lengths: reach of the link. Masses and contact
 * parameters: their value. Coordinates and velocities: 1, or 0 if prescribed. Signals and gains: a tenth of the value.
 */
void block_scale(const Model* model, GradcheckBlock block, double* scale);
/* Copies the derivatives of the loss with respect to the parameters of a block into out[block_size], in the order of
 * block_parameters. */
void block_gradient(const Model* model, GradcheckBlock block, const ModelGradient* gradient, double* out);
/* Returns the parameters of a block with their values (block_size). scene: expanded by model_expand_shapes. Coordinates
 * and velocities are zero, because the check changes them by increments. The caller frees the array with memory_free.
 */
ModelOverride* block_parameters(const Scene* scene, const Model* model, GradcheckBlock block);
/* Adds increments to the initial state of the model. values (2 nv, with nv degrees of freedom): increments of all joint
 * coordinates [m, rad], then of all joint velocities [m/s, rad/s]. */
void perturb_state(Model* model, const double* values);

/* Sets scale[steps * nu] to a typical large change of each input, in the order of DrivenModel. A tenth of the largest
 * value of the controller's signal; 0.1 for positions and where that value is zero. */
void input_scale(const Model* model, int steps, double* scale);

typedef struct Probe Probe;
/* Creates a random loss that measures the deviation of a run from the recording `base`, which must outlive the loss.
 * The caller frees it with probe_destroy. */
Probe* probe_create(const Recording* base, uint64_t seed);
/* Frees the probe. Accepts NULL. */
void probe_destroy(Probe* probe);
/* Adds the rows that a probe reads in a run of `steps` steps to the selection. */
void probe_select_rows(int steps, RowSelection* selection);
/* Returns the square root of the sum of the squared summands of the loss at the base run. Times machine epsilon, this
 * estimates the rounding error of the loss. Entries of rotations [1] and positions [m] count equally. */
double probe_size(const Probe* probe);
/* Returns the value of the random loss for a recording, and adds its derivatives to `seeds` unless NULL. */
double probe_evaluate(const Probe* probe, const Recording* recording, LossSeeds* seeds);

#endif
