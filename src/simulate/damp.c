/* Levenberg-Marquardt damping of large islands: inertia counts several times in Newton's model, so that bodies that
 * nothing holds go less far while contact is what it is (docs/derivations/step.md, S21). */
#include "simulate/sim.h"

/* Islands of fewer trees are not damped: halving costs them little. */
enum { TREES_LEAST = 16 };
/* The step length that factors are chosen for: a shorter one has them rise, a longer one fall. With 1/4 and 1/16 steps
 * of heaps take as long within 10 %. */
#define LENGTH_MEANT 0.125
/* Times inertia, at most. A power of two, as all lengths are: so are the factors, without rounding. */
#define FACTOR_MOST 128.0

void damp_create(Sim* s) {
  if (!step_crowded(s->model) || s->closures || s->tendons) return;
  s->damping = MEMORY_NEW(double, s->model->tree_count);
  for (int k = 0; k < s->model->tree_count; k++) s->damping[k] = 1;
}

void damp_reset(Sim* s) {
  if (!s->damping || !s->scope.whole) return;
  s->damped = false;
  for (int k = 0; k < s->model->tree_count; k++) s->damping[k] = 1;
}

/* What stays where it is keeps its factor. */
static double factor_after(const Island* island, double factor) {
  if (island->alpha == 0) return factor;
  if (island->trees < TREES_LEAST) return 1;
  return fmin(fmax(factor * LENGTH_MEANT / island->alpha, 1), FACTOR_MOST);
}

void damp_adapt(Sim* s) {
  if (!s->damping || !s->scope.whole || s->fixed_count > 0) return;
  s->damped = false;
  for (int k = 0; k < s->model->tree_count; k++) {
    double after = factor_after(&s->islands[s->island[k]], s->damping[k]);
    s->damped = s->damped || s->damping[k] > 1;
    if (after != s->damping[k]) s->stale[k] = true;
    s->damping[k] = after;
  }
}

void damp_terms(const Sim* s, int link, LinkTerms* terms) {
  double factor = s->damping ? s->damping[s->model->link_tree[link]] : 1;
  if (factor == 1) return;
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) terms->hessian[i][j] *= factor;
}
