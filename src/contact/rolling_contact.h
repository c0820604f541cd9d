/* Rolling contacts: contacts that do work only by slip. The time-stepping scheme removes or adds energy at these
 * contacts (docs/derivations/step.md, S23). */
#ifndef SDRS_CONTACT_ROLLING_CONTACT_H
#define SDRS_CONTACT_ROLLING_CONTACT_H

#include "contact/contact.h"

/* Returns true if term `index` < contact_term_count is a rolling contact. In a rolling contact a body of balls or
 * circles, which does not lie flat, touches a fixed body, and the pair has neither rolling nor spinning friction.
 * Returns false under laws that represent round bodies by polyhedra. If the result is true, sets three values.
 * *along_gap: sum over balls and circles of the normal force times half of the change of the gap [J]. *approach: mean
 * of the absolute changes of the gap, weighted by force [m]. *slip: friction energy of the step [J], which is at least
 * half of the energy that slip dissipates. pose: poses of all links at t + dt and at t - dt. Cannot fail, allocates
 * nothing. */
bool contact_term_rolls(const ContactSystem* system, int index, const Pose* const pose[2], double* along_gap,
                        double* approach, double* slip);

#endif
