/* Normal forces that limit friction, and what friction owes of them (docs/derivations/friction.md, F14). */
#ifndef SDRS_CONTACT_ACCOUNT_H
#define SDRS_CONTACT_ACCOUNT_H

#include "contact/contact.h"

/* Forces of one or more pairs of hulls in the last substep [N]. With N the normal force at its end,
 * owed = (owed - lost of the substep before) + N - load. */
typedef struct {
  double load; /* sum of the normal forces that limited friction, g S B (F6, F14) */
  double owed; /* sum of what friction owes after the substep, e' */
  double lost; /* part of `owed` of pairs that do not carry it on: they have left the range, or never pay */
} FrictionAccount;

/* Returns true if some pairs of the model keep an account: contact.friction_iterations is null, friction is above 0,
 * and there is no restitution. Cannot fail, allocates nothing. */
bool contact_keeps_account(const Model* model);
/* Returns true if friction between some hulls of two links pays in the next step what it owes. Without that it rests on
 * the normal force at the start of the step. Undefined for link numbers out of range. Allocates nothing. */
bool contact_friction_pays(const Model* model, int link_a, int link_b);
/* Returns the account of candidate `index` in the last substep; zeros under laws without an account. Undefined for
 * index >= contact_candidate_count. Allocates nothing. */
FrictionAccount contact_account(const ContactSystem* system, int index);

#endif
