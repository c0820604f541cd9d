/* Estimates the highest frequency of a tree due to its joint forces, such as the lateral vibration of a cable under
 * tension (docs/derivations/spin.md, W50). */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "simulate/tree_flight.h"

/* Number of iterations of the power method. The highest frequencies of a chain lie close together, so few iterations
 * suffice. */
enum { POWER_STEPS = 6 };
/* Largest coordinate change in the central differences of the joint forces [m, rad]. */
#define FORCE_DIFFERENCE_STEP 1e-4

/* Sets out[nv] to the constant forces f->bar on the links minus the loads that the target contains, projected onto the
 * joint coordinates. The joints are at the present coordinates moved by `by` times x. */
static void project_at(Sim* s, LinkSpan span, const double* x, double by, double* out) {
  const Model* m = s->model;
  TreeFlight* f = s->flight;
  for (int k = 0; k < span.count; k++) {
    const ModelLink* link = &m->links[span.links[k]];
    joint_extrapolate(&link->joint, s->q_now + link->coordinate_first, x + link->dof_first, by,
                      f->side + link->coordinate_first);
    model_link_pose(m, span.links[k], f->side, f->pose_side);
    model_link_screws(m, span.links[k], f->side, f->pose_side, f->screws_side);
    memset(out + link->dof_first, 0, sizeof(double) * (size_t)link->dof_count);
  }
  pose_bars_sum_forces(m, span, f->pose_side, f->bar, f->force, f->moment);
  pose_bars_reduce(m, span, f->pose_side, f->screws_side, f->force, f->moment, out);
  if (f->contains_loads[m->links[span.links[0]].tree])
    flight_loads_add_forces(s, span, f->pose_side, f->screws_side, -f->gravity_time, out);
}

double flight_oscillation_angle(Sim* sim, int tree, LinkSpan span) {
  assert(tree >= 0 && tree < sim->model->tree_count);
  TreeFlight* f = sim->flight;
  const FlightTree* t = &f->tree[tree];
  const int* free = f->free + t->free_first;
  double *v = f->change, *force = f->reduced, square = 0;
  for (int k = 0; k < span.count; k++) {
    const ModelLink* link = &sim->model->links[span.links[k]];
    double d[3][4];
    tree_flight_displacement(sim, span.links[k], d);
    inertia_second_moment_product(link, d, f->bar[span.links[k]]);
    for (int dof = link->dof_first; dof < link->dof_first + link->dof_count; dof++) {
      v[dof] = 0;
      force[dof] = f->is_steady_wheel[span.links[k]] ? 0 : k % 2 == 0 ? 1 : -1;
    }
  }
  int steps = t->free_count < POWER_STEPS ? t->free_count + 1 : POWER_STEPS;
  for (int step = 0; step <= steps; step++) {
    double norm = 0, most = 0;
    for (int k = 0; k < t->free_count; k++) v[free[k]] = force[free[k]];
    flight_tree_solve(f, tree, v);
    for (int k = 0; k < t->free_count; k++) norm += v[free[k]] * force[free[k]];
    norm = sqrt(fabs(norm));
    if (!(norm > 0)) return 0;
    for (int k = 0; k < t->free_count; k++) most = fmax(most, fabs(v[free[k]] /= norm));
    square = step > 0 ? norm : 0;
    double by = FORCE_DIFFERENCE_STEP / most;
    project_at(sim, span, v, by, force);
    project_at(sim, span, v, -by, f->less);
    for (int k = 0; k < t->free_count; k++) {
      bool steady = f->is_steady_wheel[sim->model->dof_link[free[k]]];
      force[free[k]] = steady ? 0 : (force[free[k]] - f->less[free[k]]) / (2 * by);
    }
  }
  return sqrt(square);
}
