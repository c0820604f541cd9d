/* Private to simulate/: reverse derivatives of bodies that integrate their angular momentum (docs/derivations/spin.md,
 * W3-W9). Stores the derivatives with respect to momenta, which pass from one step to the step before. */
#ifndef SDRS_SIMULATE_SPIN_ADJOINT_H
#define SDRS_SIMULATE_SPIN_ADJOINT_H

#include "simulate/spin.h"

typedef struct SpinAdjoint SpinAdjoint;

/* Returns NULL if no link of the model integrates its momentum; all functions below then do nothing. Freed with
 * spin_adjoint_destroy. */
SpinAdjoint* spin_adjoint_create(const Sim* sim);
/* Frees it and all that it owns; NULL is accepted. */
void spin_adjoint_destroy(SpinAdjoint* adjoint);
/* Clears the derivatives with respect to momenta. */
void spin_adjoint_begin(SpinAdjoint* adjoint);
/* Sets the derivative with respect to one component `axis` of a link's momentum at t + dt to 1, all others to 0. */
void spin_adjoint_seed(SpinAdjoint* adjoint, int link, int axis);
/* row (columns) += (derivatives with respect to the momenta at t) times sensitivity (3 links x columns, row-major).
 * Does nothing for NULL. */
void spin_adjoint_add_product(const SpinAdjoint* adjoint, const double* sensitivity, int columns, double* row);
/* Multiplies the derivatives with respect to momenta by factor. */
void spin_adjoint_discount(SpinAdjoint* adjoint, double factor);
/* Moves the derivatives with respect to momenta to aside[links] and clears them, before the adjoint of a solve whose
 * final momenta are not used. Does nothing for NULL. */
void spin_adjoint_set_aside(SpinAdjoint* adjoint, Vec3* aside);
/* Adds aside[links] to the derivatives with respect to momenta. Does nothing for NULL. */
void spin_adjoint_add_aside(SpinAdjoint* adjoint, const Vec3* aside);

/* Call before the step's equations are solved. Converts the derivatives with respect to rates (nv) and momenta at t +
 * dt into derivatives with respect to poses at t + dt and t, the targets' rotations and the pairs' forces (W8). sim
 * holds the step's targets, contact its pairs. Steps must be processed from last to first. Allocates as the number of
 * pairs grows. */
void spin_adjoint_advance(SpinAdjoint* adjoint, Sim* sim, const RecordedStep* step, const double* rate,
                          ContactTermList contact, StateBar next, StateBar now, ModelGradient* gradient);
/* Returns sum (derivatives with respect to the momenta at t + dt, directly and through the rates (nv)) . (change of the
 * momenta in the step), evaluated with the sim's present clock, targets and contact. Differences of it give the
 * derivatives with respect to the clock. Call before spin_adjoint_advance. 0 for NULL. */
double spin_adjoint_account(const SpinAdjoint* adjoint, Sim* sim, const RecordedStep* step, const double* rate,
                            ContactTermList contact);
/* Returns the derivatives with respect to each pair's force on its first link, world axes, in the order of the contact
 * terms (pairs). Borrowed until the next spin_adjoint_advance. NULL if there are none, and between spin_adjoint_begin
 * and spin_adjoint_advance. */
const Vec3* spin_adjoint_pairs(const SpinAdjoint* adjoint);
/* Call after spin_adjoint_advance. On entry target_bar holds the derivatives with respect to the target of the link,
 * except those found by spin_adjoint_advance. On return it holds those with respect to the affine extrapolation, of
 * which only the centre of mass matters. Adds the rest to the pose and momentum at t and to the masses (W9). Does
 * nothing for other links. */
void spin_adjoint_aim(SpinAdjoint* adjoint, const Sim* sim, int link, double target_bar[3][4], StateBar now,
                      ModelGradient* gradient);
/* Adds the derivatives through the momenta at the start, L = R I w, to first.pose, velocities and masses. pose[links]:
 * of the first state. */
void spin_adjoint_start(SpinAdjoint* adjoint, const Sim* sim, const Pose* pose, StateBar first,
                        ModelGradient* gradient);

#endif
