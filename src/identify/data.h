/* Private to identify/: checks of measured runs. */
#ifndef SDRS_IDENTIFY_DATA_H
#define SDRS_IDENTIFY_DATA_H

#include "identify/identify.h"

/* Reading stops after this number of faults. */
enum { MEASURED_FAULTS_MAX = 20 };

/* Checks that times increase, quaternions have unit length and motions are plausible. Normalizes quaternions and
 * converts angular velocities to link axes, in place. Returns false with a message for each fault
 * (identify/data_check.c). */
bool measured_check(MeasuredRun* run, const Task* task, const Model* model, Diagnostics* diagnostics);

/* Converts measured velocities that are backward differences of positions (TaskMeasured.rates_before) to velocities at
 * the times of the samples [m/s, rad/s]. Interpolates in place. Backward differences are velocities at the midpoints
 * between two samples. The velocities of the last sample become NaN (identify/data_rates.c). */
void measured_rates_to_rows(MeasuredRun* run);
/* Warns if measured velocities are backward differences although the task declares them as velocities at the times of
 * the samples. */
void measured_check_rates(const MeasuredData* data, const Task* task, Diagnostics* diagnostics);

#define TURN 6.283185307179586
/* Returns the angle in [-pi, pi) that differs from `angle` by whole turns [rad]. */
static inline double wrap_angle(double angle) { return angle - TURN * floor(angle / TURN + 0.5); }
static inline bool vec3_known(Vec3 v) { return !isnan(v.x); }
static inline bool quat_known(Quat q) { return !isnan(q.w); }

#endif
