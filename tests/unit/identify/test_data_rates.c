/* Tests measured velocities that are backward differences: they are reported and corrected. The data is a brick in free
 * flight, whose positions and velocities have closed forms. */
#include "identify/data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/compare.h"
#include "unit/scene/task_testing.h"

#include <cmocka.h>

#define TASK                                                                                                       \
  "{scene: {simulation: {dt: 0.01, steps: 10, integrator: first_order}, shapes: {s: {type: box, size: [0.2, 0.1, " \
  "0.1]}}, links: [{name: b, "                                                                                     \
  "shape: s, mass: 1}]}, parameters: [{type: gravity}], data: {files: [none], measured: [{link: b, position: [x, " \
  "y, z], quaternion: [w, a, b, c], velocity: [u, v, r], angular_velocity: [d, e, f]%s}]}}"

enum { ROWS = 12 };
static const double GRAVITY = -9.81, SPEED = 1.5, SPIN = 4;

/* Rows that are not equally far apart. */
static double time_of(int row) { return row * 0.01 + 0.002 * (row % 3); }

static double height(double t) { return 1 + SPEED * t + 0.5 * GRAVITY * t * t; }

/* late: velocities from the row before, which for the first is as long before it as the next one is after. */
static void write_flight(const char* path, bool late) {
  FILE* file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file, "time,x,y,z,w,a,b,c,u,v,r,d,e,f\n");
  for (int k = 0; k < ROWS; k++) {
    double t = time_of(k), before = k > 0 ? time_of(k - 1) : 2 * t - time_of(1);
    double speed = late ? (height(t) - height(before)) / (t - before) : SPEED + GRAVITY * t;
    fprintf(file, "%.17g,0,0,%.17g,%.17g,%.17g,0,0,0,0,%.17g,%.17g,0,0\n", t, height(t), cos(0.5 * SPIN * t),
            sin(0.5 * SPIN * t), speed, SPIN);
  }
  fclose(file);
}

typedef struct {
  Task task;
  Model model;
  MeasuredData data;
  Diagnostics diagnostics;
} Flight;

static Flight* flight_of(const char* key, bool late) {
  char path[] = "/tmp/sdrs-rates-XXXXXX.csv", text[1000];
  int file = mkstemps(path, 4);
  assert_true(file >= 0);
  close(file);
  write_flight(path, late);
  Flight* f = MEMORY_NEW(Flight, 1);
  snprintf(text, sizeof text, TASK, key);
  f->task = load_task(text);
  const char* files[1] = {path};
  assert_int_equal(model_create(&f->model, &f->task.scenarios[0].scene, &f->diagnostics), STATUS_OK);
  Status status = measured_read(&f->data, &f->task, files, 1, &f->model, &f->diagnostics);
  remove(path);
  if (status != STATUS_OK) fail_msg("%s", told(&f->diagnostics));
  return f;
}

static void flight_free(Flight* f) {
  measured_free(&f->data);
  model_destroy(&f->model);
  task_free(&f->task);
  diagnostics_free(&f->diagnostics);
  memory_free(f);
}

static void late_velocities_are_put_right_Q11(void** state) {
  (void)state;
  Flight* f = flight_of(", rates_at: before", true);
  const MeasuredRun* run = &f->data.runs[0];
  double q[7], v[6];
  for (int k = 0; k + 1 < ROWS; k++) {
    measured_state(run, k, &f->model, q, v);
    compare_near(v[2], SPEED + GRAVITY * time_of(k), 1e-12, "velocity in row %d", k);
    compare_near(v[3], SPIN, 1e-12, "angular velocity in row %d", k);
  }
  assert_true(isnan(run->links[0].velocity[ROWS - 1].z)); /* there is no next row to tell it */
  assert_int_equal(f->diagnostics.warning_count, 0);
  flight_free(f);
}

static void late_velocities_are_told_Q11(void** state) {
  (void)state;
  Flight* f = flight_of("", true);
  double q[7], v[6];
  assert_int_equal(f->diagnostics.warning_count, 1);
  char* found = told(&f->diagnostics);
  assert_non_null(strstr(found, "rates_at: before"));
  memory_free(found);
  measured_state(&f->data.runs[0], 0, &f->model, q, v);
  compare_near(v[2], SPEED - 0.5 * GRAVITY * time_of(1), 1e-12, "as the file has it");
  flight_free(f);
}

static void velocities_at_their_rows_stay(void** state) {
  (void)state;
  Flight* f = flight_of("", false);
  double q[7], v[6];
  assert_int_equal(f->diagnostics.warning_count, 0);
  measured_state(&f->data.runs[0], 5, &f->model, q, v);
  compare_near(v[2], SPEED + GRAVITY * time_of(5), 1e-12, "as the file has it");
  flight_free(f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(late_velocities_are_put_right_Q11),
      cmocka_unit_test(late_velocities_are_told_Q11),
      cmocka_unit_test(velocities_at_their_rows_stay),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
