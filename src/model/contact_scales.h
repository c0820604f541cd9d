/* Private to model/: sizes, forces and accelerations of a scene from which its contact parameters are derived. */
#ifndef SDRS_MODEL_CONTACT_SCALES_H
#define SDRS_MODEL_CONTACT_SCALES_H

#include "model/build.h"

/* Number of vertices per side assumed to carry a resting face: those of a box face. */
enum { REST_VERTICES = 4 };

typedef struct {
  double acceleration; /* |gravity|; without gravity feature / (10 dt)^2 [m/s^2] */
  double speed;        /* of the scene: sqrt(|gravity| feature); without gravity from the initial speed [m/s] */
  double way;          /* displacement per step at the speed sqrt(|gravity| feature) [m] */
  double extent;       /* largest coordinate of a bounded link at the start [m] */
  int tree_count;      /* number of trees that move and collide; without any the forces below are 0 */
  double lightest, median, heaviest; /* weight of one such tree: least, median, greatest [N] */
  double total;                      /* weight of all of them: the heaviest pile [N] */
} ContactScales;

/* Returns the scales of the initial state. feature: smallest size that contact has to resolve [m]. Allocates and frees.
 */
ContactScales contact_scales(const Model* model, double feature);

#endif
