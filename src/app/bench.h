/* The benches of `sdrs bench`: one function per row of the table in cmd_bench.c. Private to app/. */
#ifndef SDRS_APP_BENCH_H
#define SDRS_APP_BENCH_H

#include "app/command.h"

/* `sdrs bench step SCENE`: time of steps [ms]. All benches print CSV on standard output and errors on standard error,
 * and return the exit code. */
ExitCode bench_step(const Options* options);
/* `sdrs bench scale`: time of a step at rest and while falling, by the number of bodies [ms]. Reports errors; returns
 * the exit code, as all functions here. */
ExitCode bench_scale(const Options* options);
/* `sdrs bench gradient TASK`: time of a run and of its adjoint. Reports errors. */
ExitCode bench_gradient(const Options* options);
/* `sdrs bench render RUN`: time of a picture, by the layers drawn. Reports errors. */
ExitCode bench_render(const Options* options);
/* `sdrs bench query`: time of queries for pairs of shapes [ns]. Reports errors. */
ExitCode bench_query(const Options* options);
/* Rows of bench_query for `manifold` and `witness` (app/bench_contacts.c). */
void bench_contacts(void);

/* Sorts values[count] and returns their median; 0 for none. */
double bench_median(double* values, int count);
/* Returns the mean of values[count]; 0 if count is 0. */
double bench_mean(const double* values, int count);
/* Returns the exponent p of y = c x^p by least squares of the logarithms, over the points with low <= x <= high; NAN
 * for fewer than two. x[count], y[count] positive in that range. */
double bench_exponent(const double* x, const double* y, int count, double low, double high);
/* Sets milliseconds[count] to the wall time of each step [ms]. Returns false, after reporting it, if a step failed;
 * later entries are then not set. */
bool bench_time_steps(const Options* options, Sim* sim, double* milliseconds, int count);
/* Appends a scene in YAML: free boxes, spheres, cylinders and capsules above a half-space, four layers high; metres.
 * The same for the same number of bodies. */
void bench_pile_yaml(Text* yaml, int bodies);
/* Appends a scene in YAML: free boxes, randomly rotated, above an open box; metres. The same for the same number of
 * bodies. */
void bench_heap_yaml(Text* yaml, int bodies);
/* Sets the mean time of the fall while at least half the bodies are in one island, and the median at rest [ms a step];
 * the heap comes to rest with a tenth of the smoothing. Returns false, with both unset, if a step failed. `sim` is
 * one of `model`. Prints a line on standard error. */
bool bench_time_heap(const Options* options, Sim* sim, const Model* model, int bodies, double* rest_ms,
                     double* fall_ms);

#endif
