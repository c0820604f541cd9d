/* The benches of `sdrs bench`: one function per row of the table in cmd_bench.c. Private to app/. */
#ifndef SDRS_APP_BENCH_H
#define SDRS_APP_BENCH_H

#include "app/command.h"

/* Each prints CSV on standard output. */
ExitCode bench_step(const Options* options);
ExitCode bench_scale(const Options* options);
ExitCode bench_gradient(const Options* options);
ExitCode bench_render(const Options* options);

/* Sorts the values; 0 for none. */
double bench_median(double* values, int count);
double bench_mean(const double* values, int count);
/* Exponent p of y = c x^p by least squares of the logarithms, over the points with low <= x <= high; NAN with fewer
 * than two. */
double bench_exponent(const double* x, const double* y, int count, double low, double high);
/* Free boxes, spheres, cylinders and capsules above a half-space, four layers high, as YAML. */
void bench_pile_yaml(Text* yaml, int bodies);

#endif
