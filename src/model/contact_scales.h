/* Private to model/: typical sizes, forces and accelerations of a scene, from which contact parameters are derived. */
#ifndef SDRS_MODEL_CONTACT_SCALES_H
#define SDRS_MODEL_CONTACT_SCALES_H

#include "model/build.h"

/* Number of vertices on each side that are assumed to carry a resting face, as of a box. */
enum { REST_VERTICES = 4 };

typedef struct {
  double acceleration; /* typical acceleration [m/s^2]: |gravity|, or feature / (10 dt)^2 without gravity */
  double speed;   /* typical speed [m/s]: sqrt(|gravity| feature), or a fraction of the initial speed without gravity */
  double way;     /* displacement per step at the speed sqrt(|gravity| feature) [m]; 0 without gravity */
  double extent;  /* largest coordinate of a bounded link at the start [m] */
  int tree_count; /* number of trees that move and can collide; if 0, the weights below are 0 */
  double lightest, median, heaviest; /* least, median and greatest weight of these trees [N] */
  double total;                      /* weight of all these trees together, the heaviest possible pile [N] */
} ContactScales;

/* Returns the typical sizes, forces and accelerations in the initial state. feature: smallest size that contact has to
 * resolve [m]. Allocates and frees. */
ContactScales contact_scales(const Model* model, double feature);

#endif
