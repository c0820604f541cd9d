/* Private to app/: free bodies that tip over only because contact has a gap (docs/derivations/contact.md, section
 * "Bodies that lean"). */
#ifndef SDRS_APP_TIPPING_H
#define SDRS_APP_TIPPING_H

#include "simulate/simulate.h"

typedef struct Tipping Tipping;

/* Returns the state of the detector. The caller frees it with tipping_destroy. Returns NULL if the scene has no body
 * that the detector can judge. Borrows the model. */
Tipping* tipping_create(const Model* model);
/* Frees the state. Accepts NULL. */
void tipping_destroy(Tipping* tipping);
/* Examines a recorded state. contacts[count]: contacts of this state (sim_contacts). Accepts NULL. */
void tipping_update(Tipping* tipping, const SimState* state, const SimContact* contacts, int count);
/* Prints a warning for the first body that tipped over although rigid bodies stand. Accepts NULL. */
void tipping_warn(const Tipping* tipping);

#endif
