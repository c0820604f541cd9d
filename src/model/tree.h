/* Ancestors of links. Parents have smaller indices than their children. */
#ifndef SDRS_MODEL_TREE_H
#define SDRS_MODEL_TREE_H

#include "model/model.h"

/* Returns the root of the link's tree: the ancestor without a parent, or the link itself. */
static inline int model_root(const Model* model, int link) {
  while (model->links[link].parent >= 0) link = model->links[link].parent;
  return link;
}
/* Returns true if `link` is `ancestor` or a descendant of it. */
static inline bool model_descends(const Model* model, int link, int ancestor) {
  while (link > ancestor) link = model->links[link].parent;
  return link == ancestor;
}

#endif
