/* Private to identify/: checks of measured runs. */
#ifndef SDRS_IDENTIFY_DATA_H
#define SDRS_IDENTIFY_DATA_H

#include "identify/identify.h"

/* Reading ends after so many faults. */
enum { MEASURED_FAULTS = 20 };

/* Times that rise, quaternions of length 1, motions that bodies can make. Quaternions get their length, and angular
 * velocities the link's axes. false with a message for each fault. (identify/data_check.c) */
bool measured_check(MeasuredRun* run, const Task* task, const Model* model, Diagnostics* diagnostics);

static inline bool vec3_known(Vec3 v) { return !isnan(v.x); }
static inline bool quat_known(Quat q) { return !isnan(q.w); }

#endif
