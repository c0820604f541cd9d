/* Private to differentiate/: the loss of scenes that have none. */
#ifndef SDRS_DIFFERENTIATE_GRADCHECK_H
#define SDRS_DIFFERENTIATE_GRADCHECK_H

#include "differentiate/differentiate.h"

typedef struct Probe Probe;
/* base must outlive the probe. */
Probe* probe_create(const Recording* base, uint64_t seed);
void probe_destroy(Probe* probe);
double probe_evaluate(const Probe* probe, const Recording* recording, LossSeeds* seeds);

#endif
