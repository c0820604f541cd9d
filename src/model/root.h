/* root: the link at the root of the tree of joints that a link hangs on. */
#ifndef SDRS_MODEL_ROOT_H
#define SDRS_MODEL_ROOT_H

#include "model/model.h"

/* link must be valid. Returns the link itself if it has no parent. */
static inline int model_root(const Model* model, int link) {
  while (model->links[link].parent >= 0) link = model->links[link].parent;
  return link;
}

#endif
