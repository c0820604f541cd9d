/* Derivatives with respect to numbers on which the next step of a run depends besides poses (contact/replay.c). */
#ifndef SDRS_CONTACT_CARRIED_H
#define SDRS_CONTACT_CARRIED_H

#include "contact/contact.h"

/* Returns the sum over pairs of Payment.left, the force that friction passes to the next step
 * (docs/derivations/friction.md, F14), times the derivative with respect to this force. Uses the force_ratio of the
 * last contact_replay_refresh. Allocates nothing. */
double contact_replay_left(const ContactReplay* replay);

#endif
