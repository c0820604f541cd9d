/* Friction that is limited by the impulse of an impact, in the adjoint of a recorded step
 * (docs/derivations/impact.md, I16). */
#ifndef SDRS_CONTACT_SLIP_PRODUCT_H
#define SDRS_CONTACT_SLIP_PRODUCT_H

#include "contact/contact.h"

/* Evaluates the terms of the loaded step again. apart: without the Hessian of such friction, which
 * contact_replay_product then multiplies as contact_replay_slip_product does. False after each load. Cannot fail,
 * allocates nothing. */
void contact_replay_set_apart(ContactReplay* replay, bool apart);
/* Adds to wrench (links x 6: torque about the centre of mass, force) [N m, N] the Hessian of such friction times the
 * field's twists, with the products of which contact_replay_adjoint is made. Half-spaces have no share. Returns false
 * if no pair has such friction. Cannot fail, allocates nothing. */
bool contact_replay_slip_product(const ContactReplay* replay, const ContactField* field, double (*wrench)[6]);

#endif
