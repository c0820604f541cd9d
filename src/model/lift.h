/* Positions of links at the start. (model/lift.c) */
#ifndef SDRS_MODEL_LIFT_H
#define SDRS_MODEL_LIFT_H

#include "model/model.h"

/* Copies changed joint positions of the scene into the model, sufficient for model_touching only: for everything else
 * the caller must create the model again. Rebuilds the model if its initial state depends on the joint positions
 * (closures, couplings, a stored state). Discards messages. */
void model_move_links(Model* model, const Scene* scene);

#endif
