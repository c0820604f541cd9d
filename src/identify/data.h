/* Private to identify/: checks of measured runs. */
#ifndef SDRS_IDENTIFY_DATA_H
#define SDRS_IDENTIFY_DATA_H

#include "identify/identify.h"

/* Reading stops after this number of faults. */
enum { MEASURED_FAULTS = 20 };

/* Checks a run: increasing times, unit quaternions, plausible motions. Normalizes quaternions and converts angular
 * velocities to link axes, in place. False, with a message for each fault (identify/data_check.c). Only reads model and
 * task. */
bool measured_check(MeasuredRun* run, const Task* task, const Model* model, Diagnostics* diagnostics);

/* Converts rates given as backward differences (TaskMeasured.rates_before) to rates at the rows, by linear
 * interpolation between the midpoints of intervals. Those of the last row become NaN, unknown (identify/data_rates.c).
 * In place [m/s, rad/s]. */
void measured_rates_to_rows(MeasuredRun* run);
/* Warns if velocities are backward differences but the task takes them as rates at the rows. Changes nothing. */
void measured_judge_rates(const MeasuredData* data, const Task* task, Diagnostics* diagnostics);

#define TURN 6.283185307179586
/* Returns the angle nearest to 0 of the same rotation [rad]: angles are measured modulo one turn. */
static inline double same_turn(double angle) { return angle - TURN * floor(angle / TURN + 0.5); }
static inline bool vec3_known(Vec3 v) { return !isnan(v.x); }
static inline bool quat_known(Quat q) { return !isnan(q.w); }

#endif
