/* Friction that is limited by the impulse of an impact with restitution, in the adjoint of a recorded step
 * (docs/derivations/impact.md, I16). */
#ifndef SDRS_CONTACT_SLIP_PRODUCT_H
#define SDRS_CONTACT_SLIP_PRODUCT_H

#include "contact/contact.h"

/* Evaluates the terms of the loaded step again. If `apart` is true, the terms leave out the Hessian of friction that is
 * limited by the impulse of an impact. contact_replay_product then adds the product with this Hessian separately, as
 * contact_replay_slip_product does. Each load of a step sets `apart` to false. Cannot fail, allocates nothing. */
void contact_replay_set_apart(ContactReplay* replay, bool apart);
/* Multiplies the Hessian of friction that is limited by the impulse of an impact by the twists of `field`, and adds the
 * product to wrench (links x 6: torque about the centre of mass, force) [N m, N]. The product has the same rounding
 * errors as in contact_replay_adjoint. Returns false if no pair has such friction. Allocates nothing. */
bool contact_replay_slip_product(const ContactReplay* replay, const ContactField* field, double (*wrench)[6]);

#endif
