/* Tests the certificate (P1-P4). Tunnelling in one step is refused although both end states are disjoint. Paths without
 * intersection are nearly always certified. Paths with an intersection, by dense exact distances, are never certified.
 */
#include <string.h>

#include "support/paths.h"
#include "support/runs.h"

#define CONTACT "contact: {barrier_distance: 1.0e-3, stiffness: 1.0e-8}\n"

static const char* const verdict_name[] = {"certified", "refused", "ends meet"};

static void set_delta(JointPath* path, const char* unused, int link, const double* d) {
  (void)unused;
  const ModelLink* l = &path->model->links[link];
  memcpy(path->delta + l->dof_first, d, sizeof(double) * (size_t)l->dof_count);
}

/* ---------------------------------------------------------------- tunnelling */

typedef struct {
  const char* name;
  const char* links;
  const char* mover; /* link whose joint moves */
  double delta[6];
} Tunnel;

static const Tunnel tunnels[] = {
    {"plate through plate",
     "  - {name: wall, fixed: true, shape: {type: box, size: [1, 1, 0.01]}}\n"
     "  - {name: mover, mass: 1, shape: {type: box, size: [1, 1, 0.01]}, position: [0.3, 0.2, 0.1]}\n",
     "mover",
     {0, 0, -0.2, 0, 0, 0}},
    {"plate through plate, tilted, ends far away",
     "  - {name: wall, fixed: true, shape: {type: box, size: [1, 1, 0.001]}}\n"
     "  - {name: mover, mass: 1, shapes: [{type: box, size: [0.5, 0.5, 0.001], rotation_vector: [0.2, 0.1, 0]}], "
     "position: [0.1, 0, 5]}\n",
     "mover",
     {-0.2, 0.1, -11, 0.1, 0, 0.2}},
    {"two thin plates, corner to corner",
     "  - {name: wall, fixed: true, shape: {type: box, size: [1, 1, 0.01]}}\n"
     "  - {name: mover, mass: 1, shape: {type: box, size: [1, 1, 0.01]}, position: [0.98, 0.98, 0.1]}\n",
     "mover",
     {0, 0, -0.2, 0, 0, 0}},
    {"bar swings through a post",
     "  - {name: post, fixed: true, shape: {type: box, size: [0.02, 0.02, 2]}, position: [0.7, 0.7, 0]}\n"
     "  - {name: mover, mass: 1, joint: {type: hinge, axis: [0, 0, 1]}, shapes: [{type: box, size: [1.6, 0.02, 0.02], "
     "position: [0.8, 0, 0]}]}\n",
     "mover",
     {1.6, 0, 0, 0, 0, 0}},
    {"bar makes a whole turn",
     "  - {name: post, fixed: true, shape: {type: box, size: [0.02, 0.02, 2]}, position: [-0.7, 0, 0]}\n"
     "  - {name: mover, mass: 1, joint: {type: hinge, axis: [0, 0, 1]}, shapes: [{type: box, size: [1, 0.02, 0.02], "
     "position: [0.6, 0, 0]}]}\n",
     "mover",
     {6.283185307179586, 0, 0, 0, 0, 0}},
    {"a free bar spins through a pin beside it",
     "  - {name: pin, fixed: true, shape: {type: box, size: [0.01, 0.01, 1]}, position: [0, 0.3, 0]}\n"
     "  - {name: mover, mass: 1, shape: {type: box, size: [1, 0.05, 0.05]}}\n",
     "mover",
     {0, 0, 0, 0, 0, 3.0}},
    {"ball dives through a half-space and comes back in one arc",
     "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
     "  - {name: mover, mass: 1, joint: {type: hinge, axis: [0, 1, 0], position: [0, 0, 0.5]}, shapes: [{type: sphere, "
     "radius: 0.05, position: [1, 0, 0]}]}\n",
     "mover",
     {3.141592653589793, 0, 0, 0, 0, 0}},
    {"far end of a chain crosses a thin wall",
     "  - {name: wall, fixed: true, shape: {type: box, size: [0.4, 0.002, 0.4]}, position: [1.8, 0.5, 0]}\n"
     "  - {name: mover, mass: 1, joint: {type: universal, axes: [[0, 1, 0], [0, 0, 1]]}, shapes: [{type: box, size: "
     "[0.8, 0.02, 0.02], position: [0.45, 0, 0]}]}\n"
     "  - {name: fore, parent: mover, mass: 1, joint: {type: ball, position: [0.95, 0, 0]}, shapes: [{type: box, size: "
     "[0.9, 0.02, 0.02], position: [0.5, 0, 0]}]}\n",
     "mover",
     {0, 0.7, 0, 0, 0, 0}},
    {"a grain cuts the tip of a wedge, near one face at the start and near the other at the end",
     "  - {name: wedge, fixed: true, shape: {type: points, points: [[0, 0, -1], [-1, 1, -1], [-1, -1, -1], [0, 0, 1], "
     "[-1, 1, 1], [-1, -1, 1]]}}\n"
     "  - {name: mover, mass: 1, shape: {type: box, size: [0.001, 0.001, 0.001]}, position: [-0.018793, 0.021207, "
     "0]}\n",
     "mover",
     {0, -0.042414, 0, 0, 0, 0}},
    {"a falling leaf turns over through a plate",
     "  - {name: wall, fixed: true, shape: {type: box, size: [2, 2, 0.01]}}\n"
     "  - {name: mover, mass: 1, shape: {type: box, size: [0.4, 0.4, 0.005]}, position: [0, 0, 0.3]}\n",
     "mover",
     {0.1, 0, -0.6, 2.9, 0.4, 0.3}},
};

static void certificate_P4_refuses_tunnelling(void** state) {
  (void)state;
  for (size_t k = 0; k < sizeof tunnels / sizeof *tunnels; k++) {
    const Tunnel* t = &tunnels[k];
    Run* run = run_model(CONTACT "links:\n%s", t->links);
    JointPath path = joint_path_create(&run->model);
    set_delta(&path, t->name, run_link(run, t->mover), t->delta);
    int intervals;
    double least = joint_path_least_distance(&path, 4000);
    if (least > 0) fail_msg("%s: the test is wrong, nothing meets (least distance %g)", t->name, least);
    PathVerdict verdict = joint_path_certify(&path, &intervals);
    if (verdict != PATH_REFUSED) fail_msg("%s: %s, wanted refused", t->name, verdict_name[verdict]);
    joint_path_free(&path);
    run_free(run);
  }
}

/* Both bodies move, fast and far, and would pass through each other while a third carries both. */
static void certificate_P4_refuses_tunnelling_of_bodies_on_a_common_carrier(void** state) {
  (void)state;
  Run* run = run_model(CONTACT
                       "links:\n"
                       "  - {name: carrier, mass: 1, shape: {type: box, size: [0.1, 0.1, 0.1]}, position: [0, 0, -2]}\n"
                       "  - {name: a, parent: carrier, mass: 1, joint: {type: slide, axis: [0, 0, 1], position: [0, 0, "
                       "1]}, shape: {type: box, size: [1, 1, 0.01]}}\n"
                       "  - {name: b, parent: carrier, mass: 1, joint: {type: slide, axis: [0, 0, 1], position: [0, 0, "
                       "1.2]}, shape: {type: box, size: [1, 1, 0.01]}}\n");
  JointPath path = joint_path_create(&run->model);
  const double carrier[6] = {3, -2, 5, 0.5, -0.7, 2}, up[1] = {0.3}, down[1] = {-0.2};
  set_delta(&path, "", run_link(run, "carrier"), carrier);
  set_delta(&path, "", run_link(run, "a"), up);
  set_delta(&path, "", run_link(run, "b"), down);
  assert_true(joint_path_least_distance(&path, 1000) == 0);
  int intervals;
  PathVerdict verdict = joint_path_certify(&path, &intervals);
  if (verdict != PATH_REFUSED) fail_msg("two plates on a carrier: %s, wanted refused", verdict_name[verdict]);
  /* carried along without moving against each other: nothing can happen, however wild the carrier's motion */
  path.delta[run->model.links[run_link(run, "a")].dof_first] = 0;
  path.delta[run->model.links[run_link(run, "b")].dof_first] = 0;
  verdict = joint_path_certify(&path, &intervals);
  if (verdict != PATH_CERTIFIED)
    fail_msg("two plates at rest on a carrier: %s, wanted certified", verdict_name[verdict]);
  joint_path_free(&path);
  run_free(run);
}

/* A half-space that shifts along itself while it turns and rises: its surface near the body dives and rises by far more
 * than its turning alone could bring about at the arm it starts with. */
static void certificate_P4_refuses_tunnelling_through_a_moving_half_space(void** state) {
  (void)state;
  Run* run = run_model(CONTACT
                       "links:\n"
                       "  - {name: ground, joint: {type: free, free_axes: [x, z, ry]}, shape: {type: half_space}}\n"
                       "  - {name: ball, mass: 1, shape: {type: sphere, radius: 0.1}, position: [0, 0, 1]}\n"
                       "controllers:\n"
                       "  - {link: ground, type: prescribed, target: 0}\n");
  for (int sign = -1; sign < 2; sign += 2) {
    JointPath path = joint_path_create(&run->model);
    const double shift[3] = {100, 10, sign * 0.1};
    set_delta(&path, "", run_link(run, "ground"), shift);
    double least = joint_path_least_distance(&path, 1000);
    int intervals;
    PathVerdict verdict = joint_path_certify(&path, &intervals);
    if (least == 0 && verdict == PATH_CERTIFIED)
      fail_msg("ground shifts, rises and turns by %g rad: certified, wanted refused", shift[2]);
    joint_path_free(&path);
  }
  run_free(run);
}

/* ---------------------------------------------------------------- ordinary motion */

typedef struct {
  const char* name;
  const char* links;
  const char* mover;
  double delta[6];
  int most; /* intervals */
} Ordinary;

static const Ordinary ordinaries[] = {
    {"box slides 10 cm at a gap of 0.1 mm",
     "  - {name: ground, fixed: true, position: [0, 0, -0.5], shape: {type: box, size: [100, 100, 1]}}\n"
     "  - {name: mover, mass: 1, shape: {type: box, size: [0.2, 0.2, 0.2]}, position: [0, 0, 0.1001]}\n",
     "mover",
     {0.1, 0.05, 0, 0, 0, 0},
     2},
    {"box slides 10 cm over a half-space at a gap of 0.1 mm",
     "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
     "  - {name: mover, mass: 1, shape: {type: box, size: [0.2, 0.2, 0.2]}, position: [0, 0, 0.1001]}\n",
     "mover",
     {0.1, 0.05, 0, 0, 0, 0},
     2},
    {"box slides and turns slowly on a half-space",
     "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
     "  - {name: mover, mass: 1, shape: {type: box, size: [0.2, 0.2, 0.2]}, position: [0, 0, 0.1005]}\n",
     "mover",
     {0.01, 0, 0, 0, 0, 0.02},
     20},
    {"cylinder rolls by a tenth of a radian",
     "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
     "  - {name: mover, mass: 1, shape: {type: cylinder, radius: 0.1, length: 0.3, segments: 24}, position: [0, 0, "
     "0.1008], rotation_vector: [1.5707963267948966, 0, 0]}\n",
     "mover",
     {0.01, 0, 0, 0, 0, -0.1},
     200},
    {"box falls 5 cm from 10",
     "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
     "  - {name: mover, mass: 1, shape: {type: box, size: [0.2, 0.2, 0.2]}, position: [0, 0, 0.2]}\n",
     "mover",
     {0, 0, -0.05, 0.2, 0.1, 0},
     2},
    {"bar turns beside a wall",
     "  - {name: wall, fixed: true, shape: {type: box, size: [0.01, 1, 1]}, position: [0.115, 0, 0]}\n"
     "  - {name: mover, mass: 1, shape: {type: box, size: [0.2, 0.02, 0.02]}}\n",
     "mover",
     {0, 0, 0, 0, 0, 0.5},
     200},
};

static void certificate_P4_passes_ordinary_motion(void** state) {
  (void)state;
  for (size_t k = 0; k < sizeof ordinaries / sizeof *ordinaries; k++) {
    const Ordinary* t = &ordinaries[k];
    Run* run = run_model(CONTACT "links:\n%s", t->links);
    JointPath path = joint_path_create(&run->model);
    set_delta(&path, t->name, run_link(run, t->mover), t->delta);
    int intervals;
    PathVerdict verdict = joint_path_certify(&path, &intervals);
    if (verdict != PATH_CERTIFIED)
      fail_msg("%s: %s after %d intervals, wanted certified", t->name, verdict_name[verdict], intervals);
    if (intervals > t->most) fail_msg("%s: %d intervals, at most %d expected", t->name, intervals, t->most);
    joint_path_free(&path);
    run_free(run);
  }
}

/* ---------------------------------------------------------------- random paths */

static const char crowd[] =
    "contact: {barrier_distance: 1.0e-3, stiffness: 1.0e-8, exclude: [[post, ground]]}\n"
    "shapes:\n"
    "  bar: {type: box, size: [0.6, 0.03, 0.03]}\n"
    "  leaf: {type: box, size: [0.5, 0.5, 0.01]}\n"
    "links:\n"
    "  - {name: post, fixed: true, shape: {type: box, size: [0.05, 0.05, 2]}, position: [0.5, 0.3, 0]}\n"
    "  - {name: ground, joint: {type: free, free_axes: [x, z, rx, ry], position: [0, 0, -0.8]}, shape: {type: "
    "half_space}}\n"
    "  - {name: a1, mass: 1, joint: {type: hinge, axis: [0.1, 0, 1]}, shapes: [{shape: bar, position: [0.3, 0, 0]}]}\n"
    "  - {name: a2, parent: a1, mass: 1, joint: {type: universal, axes: [[0, 0, 1], [0, 1, 0]], position: [0.65, 0, "
    "0]}, shapes: [{shape: bar, position: [0.3, 0, 0]}]}\n"
    "  - {name: a3, parent: a2, mass: 1, joint: {type: ball, position: [0.65, 0, 0]}, shapes: [{shape: bar, position: "
    "[0.3, 0, 0]}]}\n"
    "  - {name: a4, parent: a3, fixed: true, position: [0.63, 0, 0], mass: 0.1, shape: {type: box, size: [0.02, 0.3, "
    "0.3]}}\n"
    "  - {name: leaf, mass: 1, shape: leaf, position: [0, 0, 0.5]}\n"
    "  - {name: sled, mass: 1, joint: {type: free, free_axes: [x, y, ry], position: [0, 0, 1]}, shape: {type: sphere, "
    "radius: 0.2}}\n"
    "controllers:\n"
    "  - {link: ground, type: prescribed, target: 0}\n";

static void random_state(JointPath* path, Random* random) {
  const Model* m = path->model;
  double d[64];
  memcpy(path->q, m->initial_coordinates, sizeof(double) * (size_t)m->coordinate_count);
  for (int i = 0; i < m->link_count; i++) {
    const ModelLink* link = &m->links[i];
    for (int k = 0; k < link->dof_count; k++) d[k] = (k < link->joint.slide_count ? 0.4 : 0.9) * random_normal(random);
    if (strcmp(link->name, "ground") == 0)
      for (int k = 0; k < link->dof_count; k++) d[k] *= 0.3;
    if (link->dof_count > 0)
      joint_increment(&link->joint, m->initial_coordinates + link->coordinate_first, d,
                      path->q + link->coordinate_first);
  }
}

static void certificate_P4_never_certifies_what_meets(void** state) {
  (void)state;
  Random random = {51};
  Run* run = run_model("%s", crowd);
  JointPath path = joint_path_create(&run->model);
  int met = 0, clear = 0, certified = 0, most = 0, wanted = 700;
  for (int tried = 0; tried < 20000 && met + clear < wanted; tried++) {
    random_state(&path, &random);
    double size = pow(10, random_uniform(&random, -1.5, 0.5));
    for (int k = 0; k < run->model.dof_count; k++) path.delta[k] = size * random_normal(&random);
    int intervals;
    PathVerdict verdict = joint_path_certify(&path, &intervals);
    if (verdict == PATH_ENDS_MEET) continue;
    double least = joint_path_least_distance(&path, 300);
    if (least == 0) {
      met++;
      if (verdict == PATH_CERTIFIED)
        fail_msg("seed 51, path %d (size %g): certified although bodies meet on it", tried, size);
      continue;
    }
    clear++;
    certified += verdict == PATH_CERTIFIED;
    if (verdict == PATH_REFUSED && least > 1e-3)
      fail_msg("seed 51, path %d (size %g): refused although nothing comes nearer than %g m", tried, size, least);
    if (verdict == PATH_CERTIFIED && intervals > most) most = intervals;
  }
  print_message("%d paths meet something, none certified; of %d clear ones %d certified, with at most %d intervals\n",
                met, clear, certified, most);
  assert_true(met > 50 && clear > 200);
  compare_at_most(clear - certified, 0.02 * clear, "clear paths that were refused");
  joint_path_free(&path);
  run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(certificate_P4_refuses_tunnelling),
      cmocka_unit_test(certificate_P4_refuses_tunnelling_of_bodies_on_a_common_carrier),
      cmocka_unit_test(certificate_P4_refuses_tunnelling_through_a_moving_half_space),
      cmocka_unit_test(certificate_P4_passes_ordinary_motion),
      cmocka_unit_test(certificate_P4_never_certifies_what_meets),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
