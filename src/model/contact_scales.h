/* Private to model/: sizes, forces and accelerations of a scene from which its contact parameters are derived. */
#ifndef SDRS_MODEL_CONTACT_SCALES_H
#define SDRS_MODEL_CONTACT_SCALES_H

#include "model/build.h"

/* Number of vertices per side that are assumed to carry a resting face: the face of a box. */
enum { REST_VERTICES = 4 };

typedef struct {
  double acceleration; /* |gravity|; without gravity feature / (10 dt)^2 [m/s^2] */
  double speed;        /* of the scene: sqrt(|gravity| feature); without gravity from the initial speed [m/s] */
  double way;          /* displacement per step at sqrt(|gravity| feature) [m] */
  double extent;       /* largest coordinate of a bounded link at the start [m] */
  int tree_count;      /* trees that move and collide; the forces are 0 without any */
  double lightest, median, heaviest; /* weight of one such tree: least, median, greatest [N] */
  double total;                      /* weight of all of them: the heaviest pile [N] */
} ContactScales;

/* Returns the scales of the initial state. feature: smallest size that contact has to resolve [m]. Allocates and frees.
 */
ContactScales contact_scales(const Model* model, double feature);

#endif
