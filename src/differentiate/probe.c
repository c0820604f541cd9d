/* Random loss for the gradient check of scenes without a loss: a random linear function of the deviation from a base
 * run. The deviation is small, so that differences of the loss have small rounding errors. */
#include "differentiate/gradcheck.h"

/* Number of rows whose poses are used, from the whole run and including the last. */
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

void probe_select_rows(int steps, RowSelection* selection) {
  for (int s = 1; s <= PROBE_STATES; s++) row_selection_add_all_links(selection, steps * s / PROBE_STATES);
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

/* Returns the index of a joint velocity at a row in the arrays of a recording or of seeds. */
static size_t rate_index(const RowSelection* selection, const Model* m, int row, int dof) {
  int link = 0;
  while (dof < m->links[link].dof_first || dof >= m->links[link].dof_first + m->links[link].dof_count) link++;
  return row_index(selection, m, row, link).dof + (size_t)(dof - m->links[link].dof_first);
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
        if (seeds) seeds->pose[row_index(seeds->selection, m, row, i).pose][k / 4][k % 4] += w;
      }
    }
  }
  for (int k = 0; k < m->dof_count; k++) {
    double w = 0.1 * random_normal(&random);
    sum += w * (r->rate[rate_index(r->selection, m, r->steps, k)] -
                p->base->rate[rate_index(p->base->selection, m, r->steps, k)]);
    if (seeds) seeds->rate[rate_index(seeds->selection, m, r->steps, k)] += w;
  }
  return sum;
}
