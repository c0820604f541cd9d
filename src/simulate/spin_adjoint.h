/* Private to simulate/: adjoint of the time step of bodies that integrate their angular momentum
 * (docs/derivations/spin.md, W3-W9). A SpinAdjoint stores the derivatives with respect to momenta at t, which are the
 * input of the adjoint of the previous step. */
#ifndef SDRS_SIMULATE_SPIN_ADJOINT_H
#define SDRS_SIMULATE_SPIN_ADJOINT_H

#include "simulate/spin.h"

typedef struct SpinAdjoint SpinAdjoint;

/* Returns a new adjoint, which the caller frees with spin_adjoint_destroy. Returns NULL if no link of the model
 * integrates its momentum; all functions below then do nothing. */
SpinAdjoint* spin_adjoint_create(const Sim* sim);
/* Frees the adjoint and everything that the adjoint owns. Accepts NULL. */
void spin_adjoint_destroy(SpinAdjoint* adjoint);
/* Sets the stored derivatives with respect to the angular momenta to 0. */
void spin_adjoint_begin(SpinAdjoint* adjoint);
/* Sets the derivative with respect to component `axis` (0 to 2) of a link's momentum at t + dt to 1, and all others to
 * 0. */
void spin_adjoint_seed(SpinAdjoint* adjoint, int link, int axis);
/* Adds to row[columns] the product of the derivatives with respect to the momenta at t (3 per link) and the matrix
 * sensitivity (3 links x columns, row-major). Does nothing if adjoint is NULL. */
void spin_adjoint_add_product(const SpinAdjoint* adjoint, const double* sensitivity, int columns, double* row);
/* Multiplies the derivatives with respect to momenta by factor. */
void spin_adjoint_discount(SpinAdjoint* adjoint, double factor);
/* Moves the derivatives with respect to the angular momenta to aside[links] and sets them to 0. Call before the adjoint
 * of a solve whose final momenta are not used. Does nothing for NULL. */
void spin_adjoint_move_momentum_bars(SpinAdjoint* adjoint, Vec3* aside);
/* Adds aside[links] to the derivatives with respect to momenta. Does nothing for NULL. */
void spin_adjoint_add_momentum_bars(SpinAdjoint* adjoint, const Vec3* aside);

/* Call before the step's equations are solved. Converts the derivatives with respect to rates at t + dt, rate[nv], and
 * momenta at t + dt into derivatives with respect to poses at t + dt and t, rotations of the targets and forces of the
 * pairs (W8). Adds those with respect to poses to next and now. sim must hold the targets of the step. contact: pair
 * terms of the step, from contact_replay_terms. Steps must be processed from last to first. Allocates as the number of
 * pairs grows. */
void spin_adjoint_advance(SpinAdjoint* adjoint, Sim* sim, const RecordedStep* step, const double* rate,
                          ContactTermList contact, StateBar next, StateBar now, ModelGradient* gradient);
/* Returns sum g . (change of the angular momentum in the step) over the links. g: derivatives of the scalar with
 * respect to the momentum at t + dt, directly and through rate[nv]. The change is evaluated with the present clock,
 * targets and contact (contact_replay_terms), so that differences of the result give derivatives with respect to the
 * clock. Call before spin_adjoint_advance. Returns 0 if adjoint is NULL. */
double spin_adjoint_momentum_product(const SpinAdjoint* adjoint, Sim* sim, const RecordedStep* step, const double* rate,
                                     ContactTermList contact);
/* Returns the derivatives of the scalar with respect to the force of each pair of hulls on the first link of the pair,
 * world axes, in the order of the contact terms (pairs). Borrowed until the next spin_adjoint_advance. Returns NULL if
 * there are no such derivatives, and between spin_adjoint_begin and spin_adjoint_advance. */
const Vec3* spin_adjoint_pairs(const SpinAdjoint* adjoint);
/* Returns the derivatives of the scalar with respect to the members of ContactWork of each pair, in the order of the
 * contact terms (pairs). Borrowed until the next spin_adjoint_advance. Returns NULL as spin_adjoint_pairs does. */
const ContactWork* spin_adjoint_work_bars(const SpinAdjoint* adjoint);
/* Call after spin_adjoint_advance. On entry target_bar holds the derivatives with respect to the target pose of the
 * link, except those found by spin_adjoint_advance. On return target_bar holds the derivatives with respect to the
 * target before spin_set_targets replaced it. They depend on the centre of mass only. Adds the derivatives with respect
 * to the pose and momentum at t and to the masses (W9). Does nothing for links that do not integrate their momentum. */
void spin_adjoint_target(SpinAdjoint* adjoint, const Sim* sim, int link, double target_bar[3][4], StateBar now,
                         ModelGradient* gradient);
/* Converts bar, the derivative of a scalar with respect to the inverse inertia tensor `mobility` of a link, into its
 * derivative with respect to the second moment of the mass about the frame origin, and adds the result to out. */
void spin_adjoint_mobility(Mat3 mobility, const ModelLink* link, Mat3 bar, MassMoment* out);
/* Converts the derivatives with respect to the initial angular momenta into derivatives with respect to poses,
 * velocities and masses, and adds them to first.pose and gradient. pose[links]: of the first state. */
void spin_adjoint_start(SpinAdjoint* adjoint, const Sim* sim, const Pose* pose, StateBar first,
                        ModelGradient* gradient);

#endif
