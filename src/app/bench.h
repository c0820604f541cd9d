/* Benchmarks of `sdrs bench`: one function for each row of the table in cmd_bench.c. Private to app/. */
#ifndef SDRS_APP_BENCH_H
#define SDRS_APP_BENCH_H

#include "app/command.h"

/* Runs `sdrs bench step SCENE`: measures the time of steps [ms]. Every bench_ function with options prints CSV on
 * standard output and errors on standard error, and returns the exit code. */
ExitCode bench_step(const Options* options);
/* Runs `sdrs bench scale`: measures the time of a step while bodies fall and when they are at rest, for several numbers
 * of bodies [ms]. Reports errors and returns the exit code. */
ExitCode bench_scale(const Options* options);
/* Runs `sdrs bench gradient TASK`: measures the time of a run and of its adjoint. Reports errors and returns the exit
 * code. */
ExitCode bench_gradient(const Options* options);
/* Runs `sdrs bench render RUN`: measures the time of a picture for several sets of drawn layers. Reports errors and
 * returns the exit code. */
ExitCode bench_render(const Options* options);
/* Runs `sdrs bench query`: measures the time of queries for pairs of shapes [ns]. Reports errors and returns the exit
 * code. */
ExitCode bench_query(const Options* options);
/* Prints the rows of bench_query for the queries `manifold` and `witness` (app/bench_contacts.c). */
void bench_contacts(void);

/* Sorts values[count] and returns their median; 0 if count is 0. */
double bench_median(double* values, int count);
/* Returns the mean of values[count]; 0 if count is 0. */
double bench_mean(const double* values, int count);
/* Returns the exponent p of y = c x^p, fitted by least squares of the logarithms to the points with low <= x <= high.
 * Returns NAN if fewer than two points are in this range. x[count] and y[count] must be positive in the range. */
double bench_exponent(const double* x, const double* y, int count, double low, double high);
/* Sets milliseconds[count] to the wall time of each of the next `count` steps [ms]. Returns false, after reporting it,
 * if a step failed; the entries from this step on are then not set. */
bool bench_time_steps(const Options* options, Sim* sim, double* milliseconds, int count);
/* Appends a scene in YAML with `bodies` free boxes, spheres, cylinders and capsules in four layers above a half-space.
 * Lengths in metres. The same number of bodies always gives the same scene. */
void bench_pile_yaml(Text* yaml, int bodies);
/* Appends a scene in YAML with `bodies` free, randomly rotated boxes above an open box. Lengths in metres. The same
 * number of bodies always gives the same scene. */
void bench_heap_yaml(Text* yaml, int bodies);
/* Measures a heap. Sets *fall_ms to the mean time of a step of the fall in which at least half the bodies are in one
 * island, and *rest_ms to the median time of a step at rest [ms]. The heap comes to rest with a tenth of the smoothing
 * of friction. `sim` is a simulation of `model`. Returns false, with both times unset, if a step failed. Prints a line
 * on standard error. */
bool bench_time_heap(const Options* options, Sim* sim, const Model* model, int bodies, double* rest_ms,
                     double* fall_ms);

#endif
