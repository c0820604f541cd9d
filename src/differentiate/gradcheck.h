/* Private to differentiate/: a scene's numbers as vectors, and the loss of scenes that have none. */
#ifndef SDRS_DIFFERENTIATE_GRADCHECK_H
#define SDRS_DIFFERENTIATE_GRADCHECK_H

#include "differentiate/differentiate.h"

/* Of a number's scale, the largest step that differences are taken over. */
#define GRADCHECK_LARGEST_STEP 1e-2

/* How many numbers the block has; 0: there is nothing of the kind. */
int block_size(const Model* model, GradcheckBlock block);
/* A change of each number that counts as large: lengths of the link's reach, whole masses, whole contact parameters,
 * 1 for coordinates and velocities (0 where they are prescribed; and for exponents at the end of their range), 0.1 for
 * signals that say where a joint is; a tenth of the largest value of others, of a load and a tension at least of the
 * force that takes its link as far as it is large within the run; 0.1 / duration for frequencies; a tenth of gains, or
 * of what would matter where they are 0. scale (block_size),
 * set. */
void block_scale(const Model* model, GradcheckBlock block, double* scale);
/* Derivatives by each number. out (block_size), set, in the order of block_numbers. */
void block_gradient(const Model* model, GradcheckBlock block, const ModelGradient* gradient, double* out);
/* Numbers of an expanded scene (model_expand_shapes) with the values they have there (block_size), owned by the caller.
 * The state, which is moved by increments, has none: its places are zero. Freed with memory_free. */
ModelOverride* block_numbers(const Scene* scene, const Model* model, GradcheckBlock block);
/* Move initial coordinates by increments, and velocities. values (2 nv): increments [m, rad], then changes of
 * velocities [m/s, rad/s]. */
void state_move(Model* model, const double* values);

typedef struct Probe Probe;
/* base must outlive the probe. The function's weights follow from `seed` alone. Freed with probe_destroy. */
Probe* probe_create(const Recording* base, uint64_t seed);
/* Frees it; NULL is accepted; the recording stays. */
void probe_destroy(Probe* probe);
/* The rows that it looks at in a run of so many steps. */
void probe_keep(int steps, RowKeep* keep);
/* Root of the squares of all terms that it is summed from, at base: its rounding is an epsilon of it. Entries of
 * rotations, without unit, and of places [m] count alike. */
double probe_size(const Probe* probe);
/* Value at a recording; seeds NULL: no derivatives, else they are added. */
double probe_evaluate(const Probe* probe, const Recording* recording, LossSeeds* seeds);

#endif
