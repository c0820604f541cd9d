/* Gradients through impacts against what mechanics says of them (docs/derivations/impact.md): velocities after by
 * velocities before, and where a body is afterwards by where it was before, which no time step decides. */
#include "differentiate/differentiate.h"

#include <string.h>

#include "support/runs.h"

typedef struct {
  Run* run;
  Recording recording;
  LossSeeds seeds;
  ModelGradient gradient;
  RunAdjoint* adjoint;
  int steps;
} Rig;

static Rig* rig_create(Run* run, int steps) {
  Rig* r = MEMORY_NEW(Rig, 1);
  r->run = run;
  r->steps = steps;
  RecordOptions options = {.threads = 1, .tolerance = 1e-10};
  RecordReport report;
  recording_create(&r->recording, &run->model, steps);
  assert_int_equal(recording_run(&r->recording, &run->model, &options, &report, &run->diagnostics), STATUS_OK);
  r->seeds = loss_seeds_create(&run->model, steps);
  model_gradient_create(&r->gradient, &run->model);
  r->adjoint = run_adjoint_create(&run->model, 1);
  return r;
}

static void rig_free(Rig* r) {
  run_adjoint_destroy(r->adjoint);
  model_gradient_destroy(&r->gradient);
  loss_seeds_destroy(&r->seeds);
  recording_destroy(&r->recording);
  run_free(r->run);
  memory_free(r);
}

/* Derivatives of one number of the last row. */
static void derive(Rig* r, int dof, bool rate) {
  loss_seeds_clear(&r->seeds);
  int at = r->steps * r->run->model.dof_count + dof;
  (rate ? r->seeds.rate : r->seeds.q)[at] = 1;
  assert_true(run_adjoint(r->adjoint, &r->recording, &r->seeds, 1, &r->gradient).sound);
}

static const char* const INTEGRATORS[] = {"first_order", "momentum", "second_order"};

/* Two equal bodies head-on: d(out)/d(in) is (1 - e)/2 and (1 + e)/2. */
static void check_head_on(const char* integrator, double dt, double e) {
  Rig* r = rig_create(
      run_model("simulation: {dt: %g, steps: %d, gravity: [0, 0, 0], integrator: %s}\n"
                "contact: {restitution: %g, rest_speed: 0.003}\n"
                "links:\n"
                "  - {name: a, mass: 0.3, shape: {type: box, size: [0.2, 0.2, 0.2]}, position: [-0.15, 0, 0]}\n"
                "  - {name: b, mass: 0.3, shape: {type: box, size: [0.2, 0.2, 0.2]}, position: [0.15, 0, 0]}\n"
                "initial:\n"
                "  - {link: a, velocities: [2, 0, 0, 0, 0, 0]}\n"
                "  - {link: b, velocities: [-1, 0, 0, 0, 0, 0]}\n",
                dt, (int)(0.06 / dt), integrator, e),
      (int)(0.06 / dt));
  for (int body = 0; body < 2; body++) {
    derive(r, 6 * body, true);
    for (int other = 0; other < 2; other++)
      compare_near(r->gradient.velocities[6 * other], other == body ? (1 - e) / 2 : (1 + e) / 2, 0.004,
                   "%s, dt = %g, e = %g: speed of %d by that of %d", integrator, dt, e, body, other);
    for (int other = 0; other < 2; other++)
      compare_near(r->gradient.coordinates[6 * other], 0, 0.1,
                   "%s, dt = %g, e = %g: speed of %d by the place of %d [1/s]", integrator, dt, e, body, other);
  }
  rig_free(r);
}

static void impact_velocities_after_by_velocities_before(void** state) {
  (void)state;
  for (int k = 0; k < 3; k++)
    for (double dt = 1e-2; dt > 5e-5; dt *= 0.1) {
      check_head_on(INTEGRATORS[k], dt, 0.5);
      check_head_on(INTEGRATORS[k], dt, 0.9);
    }
}

/* Thrown at the ground from h at speed v, without weight: z(T) = e (v T - h) + what is left between them. Moved up by
 * dh it is lower by e dh afterwards; a step that turns a velocity round would leave it higher by dh. */
static void check_place(const char* integrator, double dt, double e) {
  double speed = 3, span = 0.1, height = 0.43 * span * speed;
  Rig* r = rig_create(
      run_model("simulation: {dt: %g, steps: %d, gravity: [0, 0, 0], integrator: %s}\n"
                "contact: {restitution: %g, rest_speed: 0.003}\n"
                "links:\n"
                "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
                "  - {name: box, mass: 0.3, shape: {type: box, size: [0.2, 0.2, 0.2]}, position: [0, 0, %g]}\n"
                "initial: [{link: box, velocities: [0, 0, -%g, 0, 0, 0]}]\n",
                dt, (int)(span / dt + 0.5), integrator, e, 0.1 + height, speed),
      (int)(span / dt + 0.5));
  derive(r, 2, false);
  compare_near(r->gradient.coordinates[2], -e, 0.01, "%s, dt = %g, e = %g: place by place", integrator, dt, e);
  compare_near(r->gradient.velocities[2], -e * span, 0.01 * span, "%s, dt = %g, e = %g: place by speed", integrator, dt,
               e);
  const double* q = r->recording.q + (size_t)r->steps * (size_t)r->run->model.coordinate_count;
  compare_near(q[2] + height, e * (speed * span - height), 2 * r->run->model.contact.support,
               "%s, dt = %g, e = %g: place", integrator, dt, e);
  rig_free(r);
}

static void impact_place_after_by_place_before(void** state) {
  (void)state;
  for (int k = 0; k < 3; k++)
    for (double dt = 1e-2; dt > 5e-5; dt *= 0.1) {
      check_place(INTEGRATORS[k], dt, 0.5);
      check_place(INTEGRATORS[k], dt, 1);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(impact_velocities_after_by_velocities_before),
      cmocka_unit_test(impact_place_after_by_place_before),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
