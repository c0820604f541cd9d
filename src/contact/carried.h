/* Numbers that recorded pairs pass on to the next step (contact/replay.c). */
#ifndef SDRS_CONTACT_CARRIED_H
#define SDRS_CONTACT_CARRIED_H

#include "contact/contact.h"

/* Returns the sum over pairs of what their friction passes on to the next step (docs/derivations/friction.md, F14)
 * times the derivative with respect to it, at the force_ratio of the last contact_replay_refresh. Allocates nothing. */
double contact_replay_left(const ContactReplay* replay);

#endif
