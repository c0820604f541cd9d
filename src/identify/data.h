/* Private to identify/: checks of measured runs. */
#ifndef SDRS_IDENTIFY_DATA_H
#define SDRS_IDENTIFY_DATA_H

#include "identify/identify.h"

/* Reading ends after so many faults. */
enum { MEASURED_FAULTS = 20 };

/* Times that rise, quaternions of length 1, motions that bodies can make. Quaternions get their length, and angular
 * velocities the link's axes. false with a message for each fault. (identify/data_check.c) The run is changed in
 * place; the model and task are only read. */
bool measured_check(MeasuredRun* run, const Task* task, const Model* model, Diagnostics* diagnostics);

/* Rates that are differences from the row before (TaskMeasured.rates_before) become those at the rows: what stands
 * half way to the rows beside, linear between them. The last row's are not known then. (identify/data_rates.c) In
 * place, [m/s, rad/s]; NaN: not known. */
void measured_rates_to_rows(MeasuredRun* run);
/* A warning where velocities are such differences, and the task takes them for those at the rows. Nothing is
 * changed. */
void measured_judge_rates(const MeasuredData* data, const Task* task, Diagnostics* diagnostics);

#define TURN 6.283185307179586
/* The nearest angle to 0 that is the same turn [rad]: angles are measured modulo one. */
static inline double same_turn(double angle) { return angle - TURN * floor(angle / TURN + 0.5); }
static inline bool vec3_known(Vec3 v) { return !isnan(v.x); }
static inline bool quat_known(Quat q) { return !isnan(q.w); }

#endif
