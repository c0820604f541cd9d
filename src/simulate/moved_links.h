/* Private to simulate/: the links that a degree of freedom moves. */
#ifndef SDRS_SIMULATE_MOVED_LINKS_H
#define SDRS_SIMULATE_MOVED_LINKS_H

#include "model/model.h"

/* Returns true if `link` is the link `own` or a descendant of `own`. Parents have smaller indices than their children.
 */
static inline bool link_is_moved(const Model* model, int own, int link) {
  while (link > own) link = model->links[link].parent;
  return link == own;
}

#endif
