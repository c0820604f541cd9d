/* Contacts that do no work but by slip, for the energy that the scheme takes or gives there (docs/derivations/step.md,
 * S23). */
#ifndef SDRS_CONTACT_ROLLING_CONTACT_H
#define SDRS_CONTACT_ROLLING_CONTACT_H

#include "contact/contact.h"

/* Returns true if term `index` < contact_term_count belongs to a body of balls or circles, not flat, on a body that is
 * fixed, without rolling or spinning friction. pose: of the links at t + dt and at t - dt. *along_gap: sum over balls
 * and circles of normal force times half of the change of their gap [J]. *approach: mean of these changes by force [m].
 * *slip: energy of friction in the step, at least half of what slip dissipates [J]. Not for laws that represent round
 * bodies by polyhedra. Cannot fail, allocates nothing. */
bool contact_term_rolls(const ContactSystem* system, int index, const Pose* const pose[2], double* along_gap,
                        double* approach, double* slip);

#endif
