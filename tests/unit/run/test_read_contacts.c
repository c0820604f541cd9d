/* Tests the reader of contacts.csv: values, and messages for invalid files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "fixture.h"

static void same_refusal(const Diagnostics* a, const Diagnostics* b) {
  assert_int_equal(a->count, b->count);
  for (int k = 0; k < a->count; k++) {
    assert_string_equal(a->items[k].text, b->items[k].text);
    assert_int_equal(a->items[k].line, b->items[k].line);
  }
}

/* Row by row, from the last to the first. */
static void compare_rows(Fixture* f, const char* path, const RunContacts* contacts, Status wanted,
                         const Diagnostics* said) {
  RunContactRows* rows;
  Diagnostics diagnostics = {0};
  assert_int_equal(run_contact_rows_open(&rows, path, &f->model, &diagnostics), wanted);
  same_refusal(&diagnostics, said);
  diagnostics_free(&diagnostics);
  if (!rows) return;
  assert_int_equal(csv_rows_count(run_contact_rows_table(rows)), contacts->count);
  for (int k = contacts->count - 1; k >= 0; k--) {
    RunContact one;
    memset(&one, 0, sizeof one);
    assert_true(run_contact_rows_read(rows, k, &one));
    const RunContact* other = &contacts->rows[k];
    assert_true(one.time == other->time && one.gap == other->gap && one.a == other->a && one.b == other->b);
    assert_memory_equal(&one.force, &other->force, sizeof(Vec3));
    assert_memory_equal(&one.moment, &other->moment, sizeof(Vec3));
  }
  run_contact_rows_close(rows);
}

static Status read_text(Fixture* f, const char* text, RunContacts* contacts, Diagnostics* diagnostics) {
  Text path = {0};
  text_add(&path, "%s/contacts.csv", f->folder);
  assert_int_equal(file_write(path.data, text, strlen(text)), STATUS_OK);
  Status status = run_contacts_read(contacts, path.data, &f->model, diagnostics);
  compare_rows(f, path.data, contacts, status, diagnostics);
  text_free(&path);
  return status;
}

#define HEADER "time,a,b,gap,fx,fy,fz\n"

static void rows_are_read(void** state) {
  (void)state;
  Fixture f;
  fixture_init(&f);
  assert_non_null(mkdtemp(f.folder));
  RunContacts contacts;
  Diagnostics diagnostics = {0};
  assert_int_equal(read_text(&f,
                             HEADER "0.01,ground,\"box,\"\"1\"\"\",1e-3,1,-2,3.5\n"
                                    "0.02,\"box,\"\"1\"\"\",ground,1e-3,0,0,9\n",
                             &contacts, &diagnostics),
                   STATUS_OK);
  assert_int_equal(contacts.count, 2);
  assert_true(contacts.rows[0].time == 0.01 && contacts.rows[0].a == 0 && contacts.rows[0].b == 1);
  assert_true(contacts.rows[0].force.x == 1 && contacts.rows[0].force.y == -2 && contacts.rows[0].force.z == 3.5);
  assert_true(isnan(contacts.rows[0].moment.x));
  assert_true(contacts.rows[1].a == 1 && contacts.rows[1].b == 0 && contacts.rows[1].force.z == 9);
  run_contacts_free(&contacts);
  assert_int_equal(read_text(&f, "time,a,b,gap,fx,fy,fz,mx,my,mz\n0.01,ground,ground,1e-3,1,-2,3.5,4,5,6\n", &contacts,
                             &diagnostics),
                   STATUS_OK);
  assert_true(contacts.rows[0].moment.x == 4 && contacts.rows[0].moment.y == 5 && contacts.rows[0].moment.z == 6);
  assert_true(isnan(contacts.rows[0].friction_load));
  run_contacts_free(&contacts);
  assert_int_equal(
      read_text(
          &f,
          "time,a,b,gap,fx,fy,fz,friction_load,friction_owed,friction_lost\n0.01,ground,ground,1e-3,1,-2,3.5,7,-8,9\n",
          &contacts, &diagnostics),
      STATUS_OK);
  assert_true(isnan(contacts.rows[0].moment.x));
  assert_true(contacts.rows[0].friction_load == 7 && contacts.rows[0].friction_owed == -8);
  assert_true(contacts.rows[0].friction_lost == 9);
  run_contacts_free(&contacts);
  assert_int_equal(read_text(&f, HEADER, &contacts, &diagnostics), STATUS_OK);
  assert_int_equal(contacts.count, 0);
  run_contacts_free(&contacts);
  assert_int_equal(diagnostics.count, 0);
  fixture_remove(&f);
}

static void mistakes_are_named(void** state) {
  (void)state;
  static const struct {
    const char *text, *says;
    int line;
  } CASES[] = {{"time,a,b,gap,fx,fy\n", "no column 'fz'", 1},
               {HEADER "0,ground,ground,0,0,0,0\n0,ground,wall,0,1,2,3\n", "the scene has no link 'wall'", 3},
               {HEADER "0,ground,ground,0,1,nan,3\n", "'nan' is not a finite decimal number", 2},
               {HEADER "0,ground,ground,0,1,,3\n", "column 'fy'", 2}};
  for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
    Fixture f;
    fixture_init(&f);
    assert_non_null(mkdtemp(f.folder));
    RunContacts contacts;
    Diagnostics diagnostics = {0};
    assert_int_equal(read_text(&f, CASES[i].text, &contacts, &diagnostics), STATUS_BAD_INPUT);
    assert_int_equal(diagnostics.count, 1);
    if (!strstr(diagnostics.items[0].text, CASES[i].says)) fail_msg("'%s'", diagnostics.items[0].text);
    assert_int_equal(diagnostics.items[0].line, CASES[i].line);
    run_contacts_free(&contacts);
    diagnostics_free(&diagnostics);
    fixture_remove(&f);
  }
  RunContacts contacts;
  Diagnostics diagnostics = {0};
  Fixture f;
  fixture_init(&f);
  assert_int_equal(run_contacts_read(&contacts, "/nowhere/contacts.csv", &f.model, &diagnostics), STATUS_IO);
  run_contacts_free(&contacts);
  diagnostics_free(&diagnostics);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(rows_are_read), cmocka_unit_test(mistakes_are_named)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
