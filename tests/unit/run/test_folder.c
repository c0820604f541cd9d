#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "expect.h"
#include "fixture.h"

static void write_run(Fixture* f, int steps) {
  Diagnostics diagnostics = {0};
  RunFolder* output;
  assert_non_null(mkdtemp(f->folder));
  assert_int_equal(run_folder_open(&output, f->folder, &f->model, &diagnostics), STATUS_OK);
  for (int step = 0; step <= steps; step++) {
    RunFrame frame = fixture_frame(f, step);
    assert_int_equal(run_folder_add(output, &frame, &diagnostics), STATUS_OK);
  }
  assert_int_equal(run_folder_close(output, &diagnostics), STATUS_OK);
  assert_int_equal(diagnostics.count, 0);
}

static void expect_file(const Fixture* f, const char* name, const char* expected) {
  char* text = fixture_read(f, name);
  assert_non_null(text);
  assert_string_equal(text, expected);
  memory_free(text);
}

static void trajectory_has_header_initial_state_and_a_row_per_step(void** state) {
  (void)state;
  Fixture f;
  fixture_init(&f);
  write_run(&f, 1);
  CsvTable table;
  Diagnostics diagnostics = {0};
  Text path = {0};
  text_add(&path, "%s/trajectory.csv", f.folder);
  assert_int_equal(csv_read(&table, path.data, &diagnostics), STATUS_OK);
  assert_int_equal(table.column_count, 1 + 2 * 10);
  assert_int_equal(table.row_count, 2);
  assert_string_equal(table.names[0], "time");
  assert_string_equal(table.names[1], "ground/px");
  assert_string_equal(table.names[4], "ground/qw");
  assert_string_equal(table.names[10], "ground/cz");
  assert_string_equal(table.names[11], "box,\"1\"/px");
  assert_string_equal(table.cells[0], "0");
  assert_string_equal(table.cells[21], "0.01");
  /* Every number reads back to the same double, denormal ones too. */
  const double written[10] = {0.1, -1.0 / 3.0, 1e-300, 1, 0, 0, 0, 0.2, 0, 5e-324};
  for (int k = 0; k < 10; k++) {
    double read = strtod(table.cells[11 + k], NULL);
    assert_memory_equal(&read, &written[k], sizeof read);
  }
  text_free(&path);
  csv_free(&table);
  fixture_remove(&f);
}

static void quaternions_do_not_jump_in_sign(void** state) {
  (void)state;
  Fixture f;
  fixture_init(&f);
  Diagnostics diagnostics = {0};
  RunFolder* output;
  assert_non_null(mkdtemp(f.folder));
  assert_int_equal(run_folder_open(&output, f.folder, &f.model, &diagnostics), STATUS_OK);
  for (int step = 0; step < 100; step++) {
    double angle = 0.2 * step; /* three turns about z */
    double c = cos(angle), s = sin(angle);
    f.pose[1].r = (Mat3){{{c, -s, 0}, {s, c, 0}, {0, 0, 1}}};
    RunFrame frame = fixture_frame(&f, step);
    assert_int_equal(run_folder_add(output, &frame, &diagnostics), STATUS_OK);
  }
  assert_int_equal(run_folder_close(output, &diagnostics), STATUS_OK);
  CsvTable table;
  Text path = {0};
  text_add(&path, "%s/trajectory.csv", f.folder);
  assert_int_equal(csv_read(&table, path.data, &diagnostics), STATUS_OK);
  for (int row = 0; row < table.row_count; row++) {
    const char* const* cells = (const char* const*)&table.cells[row * table.column_count];
    double w = strtod(cells[14], NULL), z = strtod(cells[17], NULL), angle = 0.2 * row;
    expect_near(w, cos(angle / 2), 1e-12); /* the continuous branch, not the one with w >= 0 */
    expect_near(z, sin(angle / 2), 1e-12);
  }
  text_free(&path);
  csv_free(&table);
  fixture_remove(&f);
}

static void joints_contacts_and_solver_hold_what_the_contract_says(void** state) {
  (void)state;
  Fixture f;
  fixture_init(&f);
  write_run(&f, 1);
  char* joints = fixture_read(&f, "joints.csv");
  assert_non_null(joints);
  assert_memory_equal(joints, "time,\"box,\"\"1\"\"/", 16);
  char* rows = strchr(joints, '\n') + 1;
  assert_string_equal(rows,
                      "0,0.1,0.2,0.30000000000000004,0.4,0.5,0.6000000000000001,0.7000000000000001\n"
                      "0.01,0.1,0.2,0.30000000000000004,0.4,0.5,0.6000000000000001,0.7000000000000001\n");
  memory_free(joints);
  expect_file(&f, "contacts.csv", "time,a,b,gap,fx,fy,fz\n0.01,ground,\"box,\"\"1\"\"\",0.001,0,0,9.81\n");
  expect_file(
      &f, "solver.csv",
      "step,time,iterations,trials,residual,outcome,inertia,gravity,controller,limit,damping,contact,friction,"
      "kinetic,potential,total,smallest_gap,active_pairs,candidate_pairs,certified_intervals,factor_retries,"
      "substeps,px,py,pz,lx,ly,lz,scheme_work\n"
      "1,0.01,3,4,1e-05,rounding_floor,1,2,3,4,5,6,7,0.5,-0.25,0.25,inf,8,9,10,11,12,1.5,-2,0,0,0.1,1e-300,0\n");
  fixture_remove(&f);
}

static void nothing_stands_under_the_real_name_before_the_end(void** state) {
  (void)state;
  Fixture f;
  fixture_init(&f);
  Diagnostics diagnostics = {0};
  RunFolder* output;
  assert_non_null(mkdtemp(f.folder));
  assert_int_equal(run_folder_open(&output, f.folder, &f.model, &diagnostics), STATUS_OK);
  RunFrame frame = fixture_frame(&f, 0);
  assert_int_equal(run_folder_add(output, &frame, &diagnostics), STATUS_OK);
  assert_null(fixture_read(&f, "trajectory.csv"));
  run_folder_discard(output);
  assert_null(fixture_read(&f, "trajectory.csv~"));
  fixture_remove(&f);
  run_folder_discard(NULL);
  assert_int_equal(run_folder_close(NULL, &diagnostics), STATUS_OK);
}

static void a_folder_has_one_run_at_a_time(void** state) {
  (void)state;
  Fixture f;
  fixture_init(&f);
  Diagnostics diagnostics = {0};
  RunFolder *first, *second;
  assert_non_null(mkdtemp(f.folder));
  assert_int_equal(run_folder_open(&first, f.folder, &f.model, &diagnostics), STATUS_OK);
  assert_int_equal(run_folder_open(&second, f.folder, &f.model, &diagnostics), STATUS_IO);
  assert_null(second);
  assert_string_equal(diagnostics.items[0].file, f.folder);
  assert_non_null(strstr(diagnostics.items[0].text, "another run is writing to the folder"));
  run_folder_discard(first);
  assert_int_equal(run_folder_open(&second, f.folder, &f.model, &diagnostics), STATUS_OK);
  run_folder_discard(second);
  fixture_remove(&f);
  diagnostics_free(&diagnostics);
}

static void a_folder_that_cannot_be_made_is_named(void** state) {
  (void)state;
  Fixture f;
  fixture_init(&f);
  Diagnostics diagnostics = {0};
  RunFolder* output;
  assert_int_equal(run_folder_open(&output, "/dev/null/run", &f.model, &diagnostics), STATUS_IO);
  assert_null(output);
  assert_int_equal(diagnostics.error_count, 1);
  assert_string_equal(diagnostics.items[0].file, "/dev/null/run");
  assert_string_equal(diagnostics.items[0].text, "cannot make the folder: Not a directory");
  diagnostics_free(&diagnostics);
}

/* A full device under one of the four names: no file gets its real name. */
static void a_full_disk_is_reported_and_leaves_no_file(void** state) {
  (void)state;
  Fixture f;
  fixture_init(&f);
  Diagnostics diagnostics = {0};
  RunFolder* output;
  assert_non_null(mkdtemp(f.folder));
  Text path = {0};
  text_add(&path, "%s/solver.csv", f.folder);
  assert_int_equal(symlink("/dev/full", path.data), 0);
  assert_int_equal(run_folder_open(&output, f.folder, &f.model, &diagnostics), STATUS_OK);
  RunFrame frame = fixture_frame(&f, 1);
  assert_int_equal(run_folder_add(output, &frame, &diagnostics), STATUS_OK); /* still in the buffer */
  assert_int_equal(run_folder_close(output, &diagnostics), STATUS_IO);
  assert_int_equal(diagnostics.error_count, 1);
  assert_string_equal(diagnostics.items[0].text, "cannot write: No space left on device");
  assert_null(fixture_read(&f, "trajectory.csv"));
  assert_null(fixture_read(&f, "trajectory.csv~"));
  diagnostics_free(&diagnostics);
  text_free(&path);
  fixture_remove(&f);
}

static void a_long_run_stops_at_the_first_lost_write(void** state) {
  (void)state;
  Fixture f;
  fixture_init(&f);
  Diagnostics diagnostics = {0};
  RunFolder* output;
  assert_non_null(mkdtemp(f.folder));
  Text path = {0};
  text_add(&path, "%s/trajectory.csv", f.folder);
  assert_int_equal(symlink("/dev/full", path.data), 0);
  assert_int_equal(run_folder_open(&output, f.folder, &f.model, &diagnostics), STATUS_OK);
  Status status = STATUS_OK;
  int step = 0;
  for (; step < 10000 && status == STATUS_OK; step++) {
    RunFrame frame = fixture_frame(&f, step);
    status = run_folder_add(output, &frame, &diagnostics);
  }
  assert_int_equal(status, STATUS_IO);
  assert_true(step < 10000);
  run_folder_discard(output);
  diagnostics_free(&diagnostics);
  text_free(&path);
  fixture_remove(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(trajectory_has_header_initial_state_and_a_row_per_step),
      cmocka_unit_test(quaternions_do_not_jump_in_sign),
      cmocka_unit_test(joints_contacts_and_solver_hold_what_the_contract_says),
      cmocka_unit_test(nothing_stands_under_the_real_name_before_the_end),
      cmocka_unit_test(a_folder_has_one_run_at_a_time),
      cmocka_unit_test(a_folder_that_cannot_be_made_is_named),
      cmocka_unit_test(a_full_disk_is_reported_and_leaves_no_file),
      cmocka_unit_test(a_long_run_stops_at_the_first_lost_write),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
