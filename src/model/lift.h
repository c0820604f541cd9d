/* Positions of links at the start. (model/lift.c) */
#ifndef SDRS_MODEL_LIFT_H
#define SDRS_MODEL_LIFT_H

#include "model/model.h"

/* Takes over changed joint positions of the scene, for model_touching only: the caller must create the model again for
 * everything else. Builds the model again if its start depends on them (closures, couplings, a start run). Discards
 * messages. */
void model_move_links(Model* model, const Scene* scene);

#endif
