/* Friction that is limited by the impulse of an impact, in the adjoint of a recorded step
 * (docs/derivations/impact.md, I16). */
#ifndef SDRS_CONTACT_SLIP_PRODUCT_H
#define SDRS_CONTACT_SLIP_PRODUCT_H

#include "contact/contact.h"

/* Evaluates the terms of the loaded step again. apart: true leaves out the Hessian of friction that is limited by the
 * impulse of an impact; contact_replay_product then adds its product as contact_replay_slip_product does. Each load
 * sets apart to false. Cannot fail, allocates nothing. */
void contact_replay_set_apart(ContactReplay* replay, bool apart);
/* Adds to wrench (links x 6: torque about the centre of mass, force) [N m, N] the Hessian of friction that is limited
 * by the impulse of an impact, times the twists of `field`. It uses the same products as contact_replay_adjoint.
 * Returns false if no pair has such friction. Allocates nothing. */
bool contact_replay_slip_product(const ContactReplay* replay, const ContactField* field, double (*wrench)[6]);

#endif
