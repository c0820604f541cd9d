/* The benches of `sdrs bench`: one function per row of the table in cmd_bench.c. Private to app/. */
#ifndef SDRS_APP_BENCH_H
#define SDRS_APP_BENCH_H

#include "app/command.h"

/* Each prints CSV on standard output. */
ExitCode bench_step(const Options* options);
ExitCode bench_scale(const Options* options);
ExitCode bench_gradient(const Options* options);
ExitCode bench_render(const Options* options);
ExitCode bench_query(const Options* options);
/* Rows of bench_query for `manifold` and `witness` (app/bench_contacts.c). */
void bench_contacts(void);

/* Sorts the values; 0 for none. */
double bench_median(double* values, int count);
double bench_mean(const double* values, int count);
/* Exponent p of y = c x^p by least squares of the logarithms, over the points with low <= x <= high; NAN with fewer
 * than two. */
double bench_exponent(const double* x, const double* y, int count, double low, double high);
/* Wall time of each of `count` steps [ms]; false when one failed. */
bool bench_time_steps(const Options* options, Sim* sim, double* milliseconds, int count);
/* Free boxes, spheres, cylinders and capsules above a half-space, four layers high, as YAML. */
void bench_pile_yaml(Text* yaml, int bodies);
/* Free boxes turned at random above an open box, as YAML. */
void bench_heap_yaml(Text* yaml, int bodies);
/* Mean of the fall while at least half the bodies hang together, median at rest [ms a step]; false: a step failed. */
bool bench_time_heap(const Options* options, Sim* sim, int bodies, double* rest_ms, double* fall_ms);

#endif
