/* Test loss for scenes without a loss: a random linear function of the run's deviation from the base run. Subtracting
 * the base run preserves the digits of difference quotients. */
#include "differentiate/gradcheck.h"

/* Number of states whose poses are used. They are distributed over the run and include the last state. */
enum { PROBE_STATES = 4 };

struct Probe {
  uint64_t seed;
  const Recording* base;
};

Probe* probe_create(const Recording* base, uint64_t seed) {
  Probe* p = MEMORY_NEW(Probe, 1);
  *p = (Probe){seed, base};
  return p;
}

void probe_destroy(Probe* p) { memory_free(p); }

void probe_select_rows(int steps, RowSelection* keep) {
  for (int s = 1; s <= PROBE_STATES; s++) row_selection_add_all_links(keep, steps * s / PROBE_STATES);
}

static double pose_entry(Pose pose, int k) {
  if (k % 4 < 3) return pose.r.m[k / 4][k % 4];
  return k == 3 ? pose.t.x : k == 7 ? pose.t.y : pose.t.z;
}

double probe_size(const Probe* p) {
  const Recording* r = p->base;
  double sum = 0;
  for (int s = 1; s <= PROBE_STATES; s++)
    for (int i = 0; i < r->model->link_count; i++)
      for (int k = 0; k < 12; k++) {
        double entry = pose_entry(recording_link_pose(r, r->steps * s / PROBE_STATES, i), k);
        sum += entry * entry; /* the weights are of order one */
      }
  return sqrt(sum);
}

/* Returns the index of the rate of a degree of freedom in the arrays of a recording or seeds, at `row`. */
static size_t rate_place(const RowSelection* keep, const Model* m, int row, int dof) {
  int link = 0;
  while (dof < m->links[link].dof_first || dof >= m->links[link].dof_first + m->links[link].dof_count) link++;
  return row_index(keep, m, row, link).dof + (size_t)(dof - m->links[link].dof_first);
}

double probe_evaluate(const Probe* p, const Recording* r, LossSeeds* seeds) {
  const Model* m = r->model;
  Random random = {p->seed};
  double sum = 0;
  for (int s = 1; s <= PROBE_STATES; s++) {
    int row = r->steps * s / PROBE_STATES;
    for (int i = 0; i < m->link_count; i++) {
      Pose now = recording_link_pose(r, row, i), base = recording_link_pose(p->base, row, i);
      for (int k = 0; k < 12; k++) {
        double w = random_normal(&random);
        sum += w * (pose_entry(now, k) - pose_entry(base, k));
        if (seeds) seeds->pose[row_index(seeds->keep, m, row, i).pose][k / 4][k % 4] += w;
      }
    }
  }
  for (int k = 0; k < m->dof_count; k++) {
    double w = 0.1 * random_normal(&random);
    sum +=
        w * (r->rate[rate_place(r->keep, m, r->steps, k)] - p->base->rate[rate_place(p->base->keep, m, r->steps, k)]);
    if (seeds) seeds->rate[rate_place(seeds->keep, m, r->steps, k)] += w;
  }
  return sum;
}
