/* Private to model/: the sizes, forces and accelerations of a scene that its contact parameters are measured against.
 */
#ifndef SDRS_MODEL_CONTACT_SCALES_H
#define SDRS_MODEL_CONTACT_SCALES_H

#include "model/build.h"

/* Faces at rest are assumed to carry their load on this many vertices a side: the face of a box. */
enum { REST_VERTICES = 4 };

typedef struct {
  double acceleration; /* |gravity|; without gravity feature / (10 dt)^2 [m/s^2] */
  double speed;        /* of the scene: sqrt(|gravity| feature), without gravity that of the start [m/s] */
  double way;          /* at sqrt(|gravity| feature) in a step [m] */
  double extent;       /* largest coordinate of a bounded link at the start [m] */
  int tree_count;      /* trees that move and collide; the forces are 0 without any */
  double lightest, median, heaviest; /* weight of one such tree [N] */
  double total;                      /* weight of all of them: the heaviest pile [N] */
} ContactScales;

/* feature: smallest size that contact has to resolve [m]. Of the initial state; allocates and frees. */
ContactScales contact_scales(const Model* model, double feature);

#endif
