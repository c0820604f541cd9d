/* Private to model/: sizes, forces and accelerations of a scene from which its contact parameters are derived. */
#ifndef SDRS_MODEL_CONTACT_SCALES_H
#define SDRS_MODEL_CONTACT_SCALES_H

#include "model/build.h"

/* Number of vertices per side assumed to carry a resting face: those of a box face. */
enum { REST_VERTICES = 4 };

typedef struct {
  double acceleration; /* |gravity|; without gravity feature / (10 dt)^2 [m/s^2] */
  double speed;        /* characteristic speed sqrt(|gravity| feature); without gravity from the initial speed [m/s] */
  double way;          /* displacement per step at the speed sqrt(|gravity| feature) [m] */
  double extent;       /* largest coordinate of a bounded link at the start [m] */
  int tree_count;      /* number of trees that move and collide; if 0, the following forces are 0 */
  double lightest, median, heaviest; /* least, median and greatest weight of one such tree [N] */
  double total;                      /* weight of all such trees, the heaviest possible pile [N] */
} ContactScales;

/* Returns the scales of the initial state. feature: smallest size that contact has to resolve [m]. Allocates and frees.
 */
ContactScales contact_scales(const Model* model, double feature);

#endif
