/* Private to simulate/: drag on a link in one step, and its derivatives (docs/derivations/fluid.md, L9, L12, L13). */
#ifndef SDRS_SIMULATE_FLUID_DRAG_H
#define SDRS_SIMULATE_FLUID_DRAG_H

#include "model/model.h"

/* Drag force of a step. Let V be the time derivative of the link's rotation matrix and position [R | t] in the step,
 * minus the fluid's velocity, row by row. The derivative of the drag's energy with respect to [R | t] at t + dt is
 * matrix V + constant. */
typedef struct {
  double matrix[12][12], constant[3][4];
} DragForce;

/* Variables of the drag on all faces of a hull. now: pose at t. v, w: velocity matrices of this step and of the
 * previous one; the point p of the link has the velocities v (p, 1) and w (p, 1) relative to the fluid. slowing: 3 / (2
 * r) [1/m]. up: unit vector against gravity; level: height of the fluid's surface, used if has_level. */
typedef struct {
  Pose now;
  double v[3][4], w[3][4];
  double density, viscosity, slowing, mass, dt;
  Vec3 up;
  double level;
  bool has_level;
} DragInput;

/* Derivatives of a scalar with respect to the variables of DragInput. */
typedef struct {
  double now[3][4], v[3][4], w[3][4];
  double density, viscosity, slowing, mass, level;
  Vec3 up;
} DragBar;

/* Adds the drag on the triangle p, counter-clockwise seen from outside, to *force. in->v is not used. */
void drag_add_face(const DragInput* in, const Vec3 p[3], DragForce* force);
/* Differentiates the product of `motion` and the derivative of the energy of the drag on the triangle p with respect to
 * [R | t] at t + dt. Adds the derivatives of this product to *bar and p_bar[3]. */
void drag_face_adjoint(const DragInput* in, const Vec3 p[3], const double motion[3][4], DragBar* bar, Vec3 p_bar[3]);

#endif
