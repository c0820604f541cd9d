#include <assert.h>

#include "contact/mesh_barrier.h"

/* (law-ipc.md, N19) Squared sine of the angle between two edges below which a factor reduces their energy. */
#define PARALLEL_SINE 1e-3

LogBarrier log_barrier(double d, double support) {
  assert(d > 0 && support > 0);
  double t = d - support, l = math_log(d / support);
  if (!(t < 0)) return (LogBarrier){0};
  return (LogBarrier){-t * t * l, -2 * t * l - t * t / d, -2 * l - 4 * t / d + t * t / (d * d),
                      2 * t * l + t * t / support, 2 * l + 2 * t / support + 2 * t / d};
}

/* Sets m[0] to the factor m(s) = 2 s / e - (s / e)^2 that damps the energy of nearly parallel edges (N19). Sets m[1]
 * and m[2] to its first and second derivatives. s: squared sine of the angle of two edges. e: PARALLEL_SINE. For s >=
 * e, m = 1. */
static void damping(double s, double m[3]) {
  double t = s / PARALLEL_SINE;
  m[0] = t < 1 ? t * (2 - t) : 1;
  m[1] = t < 1 ? 2 * (1 - t) / PARALLEL_SINE : 0;
  m[2] = t < 1 ? -2 / (PARALLEL_SINE * PARALLEL_SINE) : 0;
}

static double sine_of(const Stencil* s) {
  return s->is_edge_pair ? edges_sine_squared(vec3_sub(s->x[1], s->x[0]), vec3_sub(s->x[3], s->x[2]), NULL, NULL) : 1;
}

StencilEnergy mesh_barrier(const Stencil* s, double support) {
  LogBarrier b = log_barrier(s->d, support);
  double m[3];
  damping(sine_of(s), m);
  return (StencilEnergy){m[0] * b.value,  m[0] * b.first, m[1] * b.value,
                         m[0] * b.second, m[1] * b.first, m[2] * b.value};
}

StencilEnergy mesh_barrier_by_support(const Stencil* s, double support) {
  LogBarrier b = log_barrier(s->d, support);
  double m[3];
  damping(sine_of(s), m);
  return (StencilEnergy){m[0] * b.by_support, m[0] * b.first_by_support, m[1] * b.by_support, 0, 0, 0};
}

StencilEnergy mesh_reciprocal(const Stencil* s) {
  double m[3], value = 1 / s->d, first = -value * value, second = -2 * value * first;
  damping(sine_of(s), m);
  return (StencilEnergy){m[0] * value, m[0] * first, m[1] * value, m[0] * second, m[1] * first, m[2] * value};
}
