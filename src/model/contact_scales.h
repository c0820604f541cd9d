/* Private to model/: typical sizes, forces and accelerations of a scene, from which contact parameters are derived. */
#ifndef SDRS_MODEL_CONTACT_SCALES_H
#define SDRS_MODEL_CONTACT_SCALES_H

#include "model/build.h"

/* Assumed number of vertices on each of two faces that rest on each other: the four corners of a box's face. */
enum { REST_VERTICES = 4 };

typedef struct {
  double acceleration; /* typical acceleration [m/s^2]: |gravity|; without gravity, the smallest thickness of a hull
                          divided by the square of ten time steps */
  double speed;        /* typical speed [m/s]: square root of |gravity| times the smallest thickness of a hull; without
                          gravity, a fraction of the initial speed */
  double displacement; /* displacement in one substep at the typical speed [m]; 0 without gravity */
  double extent;       /* largest coordinate of a bounded link at the start [m] */
  int tree_count;      /* number of trees that move and can collide. If the number is 0, all weights below are 0 */
  double lightest, median, heaviest; /* least, median and greatest weight of the trees that move and can collide [N] */
  double total; /* sum of the weights of all trees that move and can collide: the heaviest possible pile [N] */
} ContactScales;

/* Returns the typical sizes, forces and accelerations in the initial state. feature: smallest size that contact has to
 * resolve [m]. Allocates and frees. */
ContactScales contact_scales(const Model* model, double feature);

#endif
