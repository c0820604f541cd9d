/* A loss for scenes that have none: a random linear function of what a run comes to. Differences from the run it was
 * made for keep the digits that a difference quotient needs. */
#include "differentiate/gradcheck.h"

/* Poses of all links at so many states spread over the run, the last among them. */
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

static double pose_entry(const Pose* pose, int k) {
  if (k % 4 < 3) return pose->r.m[k / 4][k % 4];
  return k == 3 ? pose->t.x : k == 7 ? pose->t.y : pose->t.z;
}

double probe_size(const Probe* p) {
  const Recording* r = p->base;
  double sum = 0;
  for (int s = 1; s <= PROBE_STATES; s++)
    for (int i = 0; i < r->model->link_count; i++)
      for (int k = 0; k < 12; k++) {
        double entry = pose_entry(recording_pose(r, r->steps * s / PROBE_STATES) + i, k);
        sum += entry * entry; /* the weights are of size one */
      }
  return sqrt(sum);
}

double probe_evaluate(const Probe* p, const Recording* r, LossSeeds* seeds) {
  const Model* m = r->model;
  Random random = {p->seed};
  double sum = 0;
  for (int s = 1; s <= PROBE_STATES; s++) {
    int row = r->steps * s / PROBE_STATES;
    for (int i = 0; i < m->link_count; i++)
      for (int k = 0; k < 12; k++) {
        double w = random_normal(&random);
        size_t at = (size_t)row * (size_t)m->link_count + (size_t)i;
        sum += w * (pose_entry(&r->pose[at], k) - pose_entry(&p->base->pose[at], k));
        if (seeds) seeds->pose[at][k / 4][k % 4] += w;
      }
  }
  for (int k = 0; k < m->dof_count; k++) {
    double w = 0.1 * random_normal(&random);
    size_t at = (size_t)r->steps * (size_t)m->dof_count + (size_t)k;
    sum += w * (r->rate[at] - p->base->rate[at]);
    if (seeds) seeds->rate[at] += w;
  }
  return sum;
}
