/* Numbers that recorded pairs pass on to the next step (contact/replay.c). */
#ifndef SDRS_CONTACT_CARRIED_H
#define SDRS_CONTACT_CARRIED_H

#include "contact/contact.h"

/* Returns the sum over pairs of the number that friction carries to the next step (Payment.left;
 * docs/derivations/friction.md, F14) times the derivative with respect to this number, for the force_ratio of the last
 * contact_replay_refresh. Allocates nothing. */
double contact_replay_left(const ContactReplay* replay);

#endif
