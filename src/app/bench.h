/* Benchmarks of `sdrs bench`, one function per row of the table in cmd_bench.c. Private to app/. */
#ifndef SDRS_APP_BENCH_H
#define SDRS_APP_BENCH_H

#include "app/command.h"

/* Runs `sdrs bench step SCENE`, which measures the time of each phase of a step [ms]. Prints CSV on standard output and
 * errors on standard error. Returns the exit code. */
ExitCode bench_step(const Options* options);
/* Runs `sdrs bench scale`, which measures the time per step [ms] against the number of bodies, while the bodies fall
 * and when they are at rest. Prints CSV on standard output and errors on standard error. Returns the exit code. */
ExitCode bench_scale(const Options* options);
/* Runs `sdrs bench gradient TASK`, which measures the time of a run and of its adjoint [ms]. Prints CSV on standard
 * output and errors on standard error. Returns the exit code. */
ExitCode bench_gradient(const Options* options);
/* Runs `sdrs bench render RUN`, which measures the time per picture by phase of the drawing [ms]. Prints CSV on
 * standard output and errors on standard error. Returns the exit code. */
ExitCode bench_render(const Options* options);
/* Runs `sdrs bench query`, which measures the time of queries for pairs of shapes [ns]. Prints CSV on standard output.
 * Returns EXIT_DONE; it cannot fail. */
ExitCode bench_query(const Options* options);
/* Prints the rows of `sdrs bench query` for the queries `manifold` and `witness`. */
void bench_contacts(void);

/* Sorts values[count] in ascending order and returns their median, or 0 if count is 0. */
double bench_median(double* values, int count);
/* Returns the mean of values[count]; 0 if count is 0. */
double bench_mean(const double* values, int count);
/* Returns the exponent p of the power law y = c x^p with a constant c, fitted by least squares of the logarithms. Uses
 * the points x[count], y[count] with low <= x <= high, which must be positive. Returns NAN if there are fewer than two
 * such points. */
double bench_exponent(const double* x, const double* y, int count, double low, double high);
/* Simulates `count` steps and sets milliseconds[count] to the wall time of each step [ms]. Returns false, after
 * printing an error, if a step failed; later entries are then not set. */
bool bench_time_steps(const Options* options, Sim* sim, double* milliseconds, int count);
/* Appends a scene in YAML in which `bodies` free boxes fall onto a plane, in four layers. Lengths are in metres. The
 * same number of bodies always gives the same scene. */
void bench_pile_yaml(Text* yaml, int bodies);
/* Appends a scene in YAML in which `bodies` free, randomly rotated boxes fall into an open box. Lengths are in metres.
 * The same number of bodies always gives the same scene. */
void bench_heap_yaml(Text* yaml, int bodies);
/* Measures the time per step of a heap of `bodies` boxes while it falls and at rest. Sets *fall_ms to the mean over the
 * steps of the fall [ms]. These are the steps in which at least half the boxes form one contact island, or all steps if
 * there are none. Sets *rest_ms to the median of the last steps of the settling [ms]. Returns false, with both times
 * unset, if a step failed. Prints a summary on standard error. */
bool bench_time_heap(const Options* options, Sim* sim, const Model* model, int bodies, double* rest_ms,
                     double* fall_ms);

#endif
