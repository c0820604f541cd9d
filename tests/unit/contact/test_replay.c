/* Tests the replay of recorded steps. Terms and forces equal those of the run, and products equal the terms' Hessians
 * times the field. Derivatives are linear in the field (A4). Records that do not fit are reported. */
#include "contact/system.h"

#include <string.h>

#include "simulate/sim.h"
#include "support/runs.h"

/* A box slides on the ground, a ball rolls on a plank, a block rests on a block. */
static const char scene[] =
    "simulation: {dt: 0.005, steps: 100, integrator: first_order}\n"
    "contact: {barrier_distance: 4.0e-3, stiffness: 1.0e-7, friction: 0.4, smoothing: 1.0e-4, friction_iterations: 0}\n"
    "links:\n"
    "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
    "  - {name: plank, fixed: true, shape: {type: box, size: [0.6, 0.4, 0.1]}, position: [2, 0, 0.2]}\n"
    "  - {name: box, mass: 0.5, shape: {type: box, size: [0.2, 0.16, 0.1]}, position: [0, 0, 0.053]}\n"
    "  - {name: ball, mass: 0.3, shape: {type: sphere, radius: 0.08, resolution: 1}, position: [2, 0, 0.331]}\n"
    "  - {name: low, mass: 1, shape: {type: box, size: [0.2, 0.2, 0.1]}, position: [-2, 0, 0.053]}\n"
    "  - {name: high, mass: 0.4, shape: {type: box, size: [0.1, 0.1, 0.1]}, position: [-2, 0.02, 0.157]}\n"
    "initial:\n"
    "  - {link: box, velocities: [0.7, 0.1, 0, 0, 0, 1]}\n"
    "  - {link: ball, velocities: [0.3, 0, 0, 0, 2, 0]}\n";

enum { LINKS = 6, RECORDS = 64 };

typedef struct {
  Pose pose[LINKS];
  ContactRecord records[RECORDS];
  int count;
} Kept;

static void keep(Run* run, Kept* k) {
  const ContactRecord* records = sim_contact_records(run->sim, &k->count);
  assert_int_equal(run->model.link_count, LINKS);
  assert_in_range(k->count, 0, RECORDS);
  if (k->count > 0) memcpy(k->records, records, sizeof(ContactRecord) * (size_t)k->count);
  memcpy(k->pose, sim_state(run->sim)->pose, sizeof k->pose);
}

static ContactMoment moment_of(const Kept* k) { return (ContactMoment){k->pose, k->records, k->count, 0}; }

typedef struct {
  Run* run;
  ContactReplay* replay;
  Kept kept[2]; /* before and after the last step */
} Rig;

static Rig* rig_create(void) {
  Rig* r = MEMORY_NEW(Rig, 1);
  r->run = run_create(1, 1e-10, "%s", scene);
  r->replay = contact_replay_create(&r->run->model, 2);
  keep(r->run, &r->kept[1]);
  return r;
}

static void rig_free(Rig* r) {
  contact_replay_destroy(r->replay);
  run_free(r->run);
  memory_free(r);
}

static void rig_step(Rig* r) {
  r->kept[0] = r->kept[1];
  run_steps(r->run, 1);
  keep(r->run, &r->kept[1]);
}

static bool rig_load(Rig* r) {
  ContactMoment now = moment_of(&r->kept[0]), next = moment_of(&r->kept[1]);
  contact_replay_begin(r->replay);
  return contact_replay_load(r->replay, &now, &next);
}

/* Checks that the force on each link is minus the sum of its pairs' gradients. */
static void check_forces(Rig* r, int step) {
  Vec3 wanted[LINKS], found[LINKS] = {{0, 0, 0}};
  sim_link_forces(r->run->sim, wanted);
  ContactTermList pairs = contact_replay_terms(r->replay);
  for (int k = 0; k < pairs.count(pairs.holder); k++) {
    ContactTerms t = pairs.at(pairs.holder, k);
    found[t.link_a] = vec3_sub(found[t.link_a], t.force[0]);
    found[t.link_b] = vec3_sub(found[t.link_b], t.force[1]);
  }
  compare_arrays(&found[0].x, &wanted[0].x, 3 * LINKS, 1e-7, "step %d: forces", step);
}

/* Both lists go by the pairs' keys. A half-space has no rows. */
static void check_terms(Rig* r, int step) {
  ContactTermList wanted = contact_term_list(r->run->sim->contact), found = contact_replay_terms(r->replay);
  assert_int_equal(found.count(found.holder), wanted.count(wanted.holder));
  for (int k = 0; k < wanted.count(wanted.holder); k++) {
    ContactTerms a = wanted.at(wanted.holder, k), b = found.at(found.holder, k);
    assert_int_equal(a.link_a, b.link_a);
    assert_int_equal(a.link_b, b.link_b);
    compare_arrays(&b.force[0].x, &a.force[0].x, 6, 1e-7, "step %d, pair %d: force", step, k);
    compare_arrays(&b.moment[0].m[0][0], &a.moment[0].m[0][0], 18, 1e-6, "step %d, pair %d: moment", step, k);
    compare_arrays(b.hessian[0], a.hessian[0], 144, 1e-5, "step %d, pair %d: Hessian", step, k);
  }
}

static void replay_gives_the_terms_of_the_run_again(void** state) {
  (void)state;
  Rig* r = rig_create();
  int rubbing = 0;
  for (int step = 1; step <= 40; step++) {
    rig_step(r);
    assert_true(rig_load(r));
    check_forces(r, step);
    check_terms(r, step);
    for (int k = 0; k < r->kept[1].count; k++) rubbing += r->kept[1].records[k].has_friction;
  }
  assert_true(rubbing > 60); /* friction was there */
  rig_free(r);
}

/* ---------------------------------------------------------------- products and derivatives along a field */

typedef struct {
  double twist[LINKS][6];
  Vec3 force[LINKS];
} PairField;

static PairField random_field(Random* random) {
  PairField f;
  for (int k = 0; k < 6 * LINKS; k++) f.twist[k / 6][k % 6] = random_normal(random);
  for (int k = 0; k < LINKS; k++)
    f.force[k] = vec3(random_normal(random), random_normal(random), random_normal(random));
  return f;
}

/* Displacements of forces are minus those of twists, and a half-space's are minus the body's. */
static void replay_product_is_the_hessian_times_the_field(void** state) {
  (void)state;
  Random random = {201};
  Rig* r = rig_create();
  for (int step = 0; step < 12; step++) rig_step(r);
  assert_true(rig_load(r));
  PairField f = random_field(&random);
  double found[LINKS][6] = {{0}}, wanted[LINKS][6] = {{0}};
  contact_replay_product(r->replay, &(ContactField){f.twist, f.force, NULL, {0}}, found);
  ContactTermList terms = contact_replay_terms(r->replay);
  for (int k = 0; k < terms.count(terms.holder); k++) {
    ContactTerms t = terms.at(terms.holder, k);
    int link[2] = {t.link_a, t.link_b};
    double x[12];
    for (int i = 0; i < 12; i++) {
      const double force[3] = {f.force[link[i / 6]].x, f.force[link[i / 6]].y, f.force[link[i / 6]].z};
      x[i] = f.twist[link[i / 6]][i % 6] - (i % 6 >= 3 ? force[i % 6 - 3] : 0);
    }
    int ground = run_link(r->run, "ground");
    for (int i = 0; i < 3 && t.link_b == ground; i++) x[3 + i] -= x[9 + i];
    for (int i = 0; i < 12; i++)
      for (int j = 0; j < 12; j++) wanted[link[i / 6]][i % 6] += t.hessian[i][j] * x[j];
  }
  compare_arrays(found[0], wanted[0], 6 * LINKS, 1e-12, "seed 201");
  rig_free(r);
}

typedef struct {
  double now[LINKS][3][4], ground[LINKS][3][4];
  ModelGradient gradient;
} Derivatives;

static void derive(Rig* r, const PairField* f, double twist, double force, Derivatives* d) {
  double scaled[LINKS][6];
  Vec3 pull[LINKS];
  for (int k = 0; k < 6 * LINKS; k++) scaled[k / 6][k % 6] = twist * f->twist[k / 6][k % 6];
  for (int k = 0; k < LINKS; k++) pull[k] = vec3_scale(f->force[k], force);
  memset(d->now, 0, sizeof d->now);
  memset(d->ground, 0, sizeof d->ground);
  model_gradient_create(&d->gradient, &r->run->model);
  contact_replay_adjoint(r->replay, &(ContactField){scaled, pull, NULL, {0}}, d->now, d->ground, &d->gradient);
}

static void compare_sum(Rig* r, const Derivatives* a, const Derivatives* b, const Derivatives* sum) {
  int vertices = 3 * r->run->model.vertex_count;
  double* added = MEMORY_NEW(double, vertices + 24 * LINKS);
  const double *va = &a->gradient.vertices[0].x, *vb = &b->gradient.vertices[0].x;
  for (int k = 0; k < vertices; k++) added[k] = va[k] + vb[k];
  compare_arrays(&sum->gradient.vertices[0].x, added, vertices, 1e-11, "vertices");
  for (int k = 0; k < 12 * LINKS; k++) added[k] = (&a->now[0][0][0])[k] + (&b->now[0][0][0])[k];
  compare_arrays(&sum->now[0][0][0], added, 12 * LINKS, 1e-11, "poses at t");
  for (int k = 0; k < 12 * LINKS; k++) added[k] = (&a->ground[0][0][0])[k] + (&b->ground[0][0][0])[k];
  compare_arrays(&sum->ground[0][0][0], added, 12 * LINKS, 1e-11, "half-spaces");
  for (int k = 0; k < CONTACT_PARAMETER_COUNT; k++)
    compare_relative(sum->gradient.contact[k], a->gradient.contact[k] + b->gradient.contact[k], 1e-10, "parameter %d",
                     k);
  memory_free(added);
}

static void replay_adjoint_A4_is_linear_in_the_field(void** state) {
  (void)state;
  Random random = {202};
  Rig* r = rig_create();
  for (int step = 0; step < 15; step++) rig_step(r);
  assert_true(rig_load(r));
  PairField f = random_field(&random);
  Derivatives a, b, sum;
  derive(r, &f, 2, 0, &a);
  derive(r, &f, 0, -3, &b);
  derive(r, &f, 2, -3, &sum);
  compare_sum(r, &a, &b, &sum);
  assert_true(a.gradient.contact[CONTACT_FRICTION] != 0 && a.gradient.contact[CONTACT_SUPPORT] != 0);
  model_gradient_destroy(&a.gradient);
  model_gradient_destroy(&b.gradient);
  model_gradient_destroy(&sum.gradient);
  rig_free(r);
}

/* ---------------------------------------------------------------- records that do not fit */

static void replay_tells_what_it_does_not_find(void** state) {
  (void)state;
  Rig* r = rig_create();
  for (int step = 0; step < 10; step++) rig_step(r);
  assert_true(rig_load(r));
  Kept good = r->kept[0];
  r->kept[0].count = 0; /* what rubs was not in contact before */
  assert_false(rig_load(r));
  r->kept[0] = good;
  r->kept[0].pose[run_link(r->run, "box")].t.z -= 0.02; /* inside the ground */
  assert_false(rig_load(r));
  r->kept[0] = good;
  r->kept[1].pose[run_link(r->run, "high")].t.z += 1; /* far from what its record says it touches */
  assert_false(rig_load(r));
  rig_free(r);
  contact_replay_destroy(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(replay_gives_the_terms_of_the_run_again),
      cmocka_unit_test(replay_product_is_the_hessian_times_the_field),
      cmocka_unit_test(replay_adjoint_A4_is_linear_in_the_field),
      cmocka_unit_test(replay_tells_what_it_does_not_find),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
