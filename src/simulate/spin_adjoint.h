/* Private to simulate/: spinning bodies backwards (docs/derivations/spin.md, W3-W9). The chain of the momenta lives
 * here from one step to the one before. */
#ifndef SDRS_SIMULATE_SPIN_ADJOINT_H
#define SDRS_SIMULATE_SPIN_ADJOINT_H

#include "simulate/spin.h"

typedef struct SpinAdjoint SpinAdjoint;

/* NULL when no link of the model spins: every function below then does nothing. Freed with spin_adjoint_destroy. */
SpinAdjoint* spin_adjoint_create(const Sim* sim);
/* Frees it and all that it owns; NULL is accepted. */
void spin_adjoint_destroy(SpinAdjoint* adjoint);
/* Forget the derivatives by momenta. */
void spin_adjoint_begin(SpinAdjoint* adjoint);
/* One scalar, the component `axis` of the momentum of a spinning link at t + dt: its derivative by itself is 1, all
 * others are 0. */
void spin_adjoint_seed(SpinAdjoint* adjoint, int link, int axis);
/* Adds the derivatives by the momenta at t times sensitivities of these (3 links x columns, row-major) to row
 * (columns). Nothing for NULL. */
void spin_adjoint_add_product(const SpinAdjoint* adjoint, const double* sensitivity, int columns, double* row);
/* Derivatives by momenta times a factor: what is handed on is discounted. */
void spin_adjoint_discount(SpinAdjoint* adjoint, double factor);
/* Moves the derivatives by momenta to aside[links], for a solve that hands nothing on from its end. Nothing for NULL.
 */
void spin_adjoint_set_aside(SpinAdjoint* adjoint, Vec3* aside);
/* Adds aside[links] to the derivatives by momenta. Nothing for NULL. */
void spin_adjoint_add_aside(SpinAdjoint* adjoint, const Vec3* aside);

/* Before the step's equations are solved: from the derivatives by the rates (nv) and momenta at t + dt to those by the
 * poses there and at t, by the targets' rotations and by the pairs' forces (W8). sim: holds the step's targets;
 * contact: its pairs. Steps must come from the last to the first. Allocates while pairs grow. */
void spin_adjoint_advance(SpinAdjoint* adjoint, Sim* sim, const RecordedStep* step, const double* rate,
                          ContactTermList contact, StateBar next, StateBar now, ModelGradient* gradient);
/* A scalar that grows by derivatives by the momenta at t + dt, and by the rates (nv) through them, times the momenta
 * that the step makes of those at t with the sim's clock, targets and contact as they stand: before
 * spin_adjoint_advance, for its derivatives by the clock. 0 for NULL. */
double spin_adjoint_account(const SpinAdjoint* adjoint, Sim* sim, const RecordedStep* step, const double* rate,
                            ContactTermList contact);
/* By the force of every pair on its first link, in the order of the terms; NULL: none. (pairs), world axes; borrowed
 * until the next spin_adjoint_advance. NULL also between spin_adjoint_begin and spin_adjoint_advance. */
const Vec3* spin_adjoint_pairs(const SpinAdjoint* adjoint);
/* After that: target_bar, derivatives of the whole by the target of a spinning link but for those that advance has
 * found, becomes the derivatives by the affine extrapolation, of which only the centre of mass counts; the rest goes to
 * the pose at t, the momentum there and the masses (W9). Leaves other links alone. */
void spin_adjoint_aim(SpinAdjoint* adjoint, const Sim* sim, int link, double target_bar[3][4], StateBar now,
                      ModelGradient* gradient);
/* By the momenta at the start: to poses, velocities and masses. pose[links]: of the first state. Added to first.pose
 * and gradient. */
void spin_adjoint_start(SpinAdjoint* adjoint, const Sim* sim, const Pose* pose, StateBar first,
                        ModelGradient* gradient);

#endif
