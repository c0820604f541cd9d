#include "base/base.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "support/compare.h"
#include "support/long.h"

static const char KIND[] = "checkpoint";
static const char PATH[] = "run/checkpoint";

/* Numbers whose bits an ordinary text would lose. */
static void fill_awkward(double values[8]) {
  const uint64_t payload = 0x7ff8dead0000beefu;
  const double some[] = {0.1, -0.0, 5e-324, INFINITY, -INFINITY, 1.7976931348623157e308, 1.0 / 3.0};
  memcpy(values, some, sizeof some);
  memcpy(&values[7], &payload, sizeof payload);
}

static const int64_t INTEGERS[] = {INT64_MIN, -1, 0, 1, INT64_MAX};

static Text make_text(void) {
  double doubles[8];
  fill_awkward(doubles);
  NumberFile built = {.kind = KIND};
  number_file_add_doubles(&built, "design/x", doubles, 8);
  number_file_add_integers(&built, "run.iteration", INTEGERS, 5);
  number_file_add_doubles(&built, "nothing", NULL, 0);
  Text text = {0};
  number_file_format(&built, &text);
  number_file_free(&built);
  return text;
}

/* One message that names the file, and an empty checkpoint. */
static void expect_refused(const char* data, size_t length, const char* words, const char* what, size_t where) {
  NumberFile checkpoint;
  Diagnostics diagnostics = {0};
  char* exact = memory_alloc(length); /* so that the sanitizer sees a read past the end */
  if (length > 0) memcpy(exact, data, length);
  Status status = number_file_parse(&checkpoint, KIND, PATH, exact, length, &diagnostics);
  if (status != STATUS_BAD_INPUT) fail_msg("%s at %zu was accepted", what, where);
  assert_int_equal(diagnostics.error_count, 1);
  assert_string_equal(diagnostics.items[0].file, PATH);
  if (words && !strstr(diagnostics.items[0].text, words))
    fail_msg("%s: '%s' does not say '%s'", what, diagnostics.items[0].text, words);
  assert_int_equal(checkpoint.count, 0);
  assert_null(checkpoint.arrays);
  diagnostics_free(&diagnostics);
  number_file_free(&checkpoint);
  memory_free(exact);
}

static void every_bit_comes_back(void** state) {
  (void)state;
  Text text = make_text();
  NumberFile read;
  Diagnostics diagnostics = {0};
  assert_int_equal(number_file_parse(&read, KIND, PATH, text.data, text.length, &diagnostics), STATUS_OK);
  assert_int_equal(diagnostics.count, 0);
  double wanted[8], found[8];
  int64_t integers[5];
  fill_awkward(wanted);
  assert_int_equal(number_file_doubles_count(&read, "design/x"), 8);
  assert_int_equal(number_file_integers_count(&read, "run.iteration"), 5);
  assert_int_equal(number_file_doubles_count(&read, "nothing"), 0);
  assert_true(number_file_get_doubles(&read, "design/x", found, 8, &diagnostics));
  assert_true(number_file_get_integers(&read, "run.iteration", integers, 5, &diagnostics));
  assert_true(number_file_get_doubles(&read, "nothing", NULL, 0, &diagnostics));
  assert_memory_equal(found, wanted, sizeof wanted);
  assert_memory_equal(integers, INTEGERS, sizeof INTEGERS);
  /* Written again it is the same file. */
  Text again = {0};
  number_file_format(&read, &again);
  assert_string_equal(again.data, text.data);
  text_free(&again);
  text_free(&text);
  number_file_free(&read);
}

/* The layout the header promises, with the hash of `printf 'doubles x 2\n3ff0000000000000\nc000000000000000\n'
 * 'integers n 1\nfffffffffffffffd\nend\n' | sha256sum`. */
static void layout_is_the_documented_one(void** state) {
  (void)state;
  NumberFile built = {.kind = KIND};
  number_file_add_doubles(&built, "x", (double[]){1.0, -2.0}, 2);
  number_file_add_integers(&built, "n", (int64_t[]){-3}, 1);
  Text text = {0};
  number_file_format(&built, &text);
  assert_string_equal(text.data,
                      "sdrs checkpoint 1\n"
                      "sha256 836b94084c0b3bebbaad266492f6492c6ecddeae0936000f0ecc55f0081f3660\n"
                      "doubles x 2\n3ff0000000000000\nc000000000000000\n"
                      "integers n 1\nfffffffffffffffd\nend\n");
  text_free(&text);
  number_file_free(&built);
}

static void every_truncation_is_refused(void** state) {
  (void)state;
  Text text = make_text();
  for (size_t length = 0; length < text.length; length++)
    expect_refused(text.data, length, NULL, "a file cut short", length);
  text_free(&text);
}

static void every_changed_byte_is_refused(void** state) {
  (void)state;
  Text text = make_text();
  for (size_t at = 0; at < text.length; at++)
    for (int change = 1; change < 256; change += tests_count(17, 1)) {
      char kept = text.data[at];
      text.data[at] = (char)(kept ^ change);
      expect_refused(text.data, text.length, NULL, "a changed byte", at);
      text.data[at] = kept;
    }
  text_free(&text);
}

static void every_inserted_and_lost_byte_is_refused(void** state) {
  (void)state;
  Text text = make_text();
  char* other = memory_alloc(text.length + 1);
  for (size_t at = 0; at <= text.length; at++) {
    memcpy(other, text.data, at);
    memcpy(other + at + 1, text.data + at, text.length - at);
    for (const char* byte = "\n 0f"; *byte; byte++) {
      other[at] = *byte;
      expect_refused(other, text.length + 1, NULL, "an inserted byte", at);
    }
    if (at == text.length) break;
    memcpy(other + at, text.data + at + 1, text.length - at - 1);
    expect_refused(other, text.length - 1, NULL, "a lost byte", at);
  }
  memory_free(other);
  text_free(&text);
}

/* With a right hash, as a foreign writer could make it. */
static void expect_content_refused(const char* content, const char* words) {
  char hash[65];
  hash_sha256(content, strlen(content), hash);
  Text text = {0};
  text_add(&text, "sdrs checkpoint 1\nsha256 %s\n%s", hash, content);
  expect_refused(text.data, text.length, words, content, 0);
  text_free(&text);
}

static void wrong_content_under_a_right_hash_is_refused(void** state) {
  (void)state;
  expect_content_refused("", "without the last line 'end'");
  expect_content_refused("end", "without the last line 'end'");
  expect_content_refused("end\nend\n", "after 'end'");
  expect_content_refused("floats x 0\nend\n", "expected 'doubles");
  expect_content_refused("doubles \nend\n", "name");
  expect_content_refused("doubles x\nend\n", "name");
  expect_content_refused("doubles  0\nend\n", "name");
  expect_content_refused("doubles a*b 0\nend\n", "name");
  expect_content_refused("doubles x \nend\n", "count");
  expect_content_refused("doubles x 00\nend\n", "count");
  expect_content_refused("doubles x -1\nend\n", "count");
  expect_content_refused("doubles x 0 \nend\n", "count");
  expect_content_refused("doubles x 999999999\nend\n", "count");
  expect_content_refused("doubles x 99999999999999999999\nend\n", "count");
  expect_content_refused("doubles x 1\nend\n3ff0000000000000\n", "numbers");
  expect_content_refused("doubles x 1\n3FF0000000000000\nend\n", "numbers");
  expect_content_refused("doubles x 1\n3ff000000000000\nend\nnnnnnnnnnnn\n", "numbers");
  expect_content_refused("doubles x 0\nintegers x 0\nend\n", "twice");
  Text name = {0};
  text_add(&name, "doubles %064d 0\nend\n", 0);
  expect_content_refused(name.data, "name");
  text_free(&name);
}

static void foreign_files_are_named_so(void** state) {
  (void)state;
  expect_refused("links:\n- name: box\n", 19, "the file is no sdrs checkpoint", "a scene", 0);
  expect_refused("sdrs checkpoint 2\nsha256 ", 25, "the version of the checkpoint is not", "a newer file", 0);
  expect_refused("sdrs checkpoint 01\nsha256 ", 26, "the version of the checkpoint is not", "a version with a zero", 0);
}

static void what_is_not_there_is_said(void** state) {
  (void)state;
  Text text = make_text();
  NumberFile read;
  Diagnostics diagnostics = {0};
  assert_int_equal(number_file_parse(&read, KIND, PATH, text.data, text.length, &diagnostics), STATUS_OK);
  double doubles[9] = {7};
  int64_t integers[9] = {7};
  assert_false(number_file_get_doubles(&read, "absent", doubles, 1, &diagnostics));
  assert_false(number_file_get_doubles(&read, "design/x", doubles, 9, &diagnostics));
  assert_false(number_file_get_integers(&read, "design/x", integers, 8, &diagnostics));
  assert_int_equal(diagnostics.error_count, 3);
  assert_string_equal(diagnostics.items[0].file, PATH);
  assert_string_equal(diagnostics.items[0].text,
                      "the checkpoint has no array of doubles named 'absent': create the file again");
  assert_non_null(strstr(diagnostics.items[1].text, "has 8 doubles in array 'design/x', but 9 are required"));
  assert_int_equal(number_file_doubles_count(&read, "run.iteration"), -1);
  assert_true(doubles[0] == 7 && integers[0] == 7);
  diagnostics_free(&diagnostics);
  number_file_free(&read);
  text_free(&text);
}

static void files_are_written_and_read(void** state) {
  (void)state;
  char folder[] = "/tmp/sdrs-test-XXXXXX";
  assert_non_null(mkdtemp(folder));
  Text path = {0}, absent = {0};
  text_add(&path, "%s/checkpoint", folder);
  text_add(&absent, "%s/absent/checkpoint", folder);
  double value = 1.0 / 3.0, found = 0;
  NumberFile built = {.kind = KIND}, read;
  Diagnostics diagnostics = {0};
  number_file_add_doubles(&built, "x", &value, 1);
  assert_int_equal(number_file_write(&built, path.data), STATUS_OK);
  assert_int_equal(number_file_read(&read, KIND, path.data, &diagnostics), STATUS_OK);
  assert_true(number_file_get_doubles(&read, "x", &found, 1, &diagnostics));
  assert_memory_equal(&found, &value, sizeof value);
  number_file_free(&read);
  assert_int_equal(number_file_write(&built, absent.data), STATUS_IO);
  assert_int_equal(errno, ENOENT);
  assert_int_equal(number_file_read(&read, KIND, absent.data, &diagnostics), STATUS_IO);
  assert_int_equal(diagnostics.error_count, 1);
  assert_int_equal(read.count, 0);
  remove(path.data);
  remove(folder);
  diagnostics_free(&diagnostics);
  number_file_free(&built);
  text_free(&path);
  text_free(&absent);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_bit_comes_back),
      cmocka_unit_test(layout_is_the_documented_one),
      cmocka_unit_test(every_truncation_is_refused),
      cmocka_unit_test(every_changed_byte_is_refused),
      cmocka_unit_test(every_inserted_and_lost_byte_is_refused),
      cmocka_unit_test(wrong_content_under_a_right_hash_is_refused),
      cmocka_unit_test(foreign_files_are_named_so),
      cmocka_unit_test(what_is_not_there_is_said),
      cmocka_unit_test(files_are_written_and_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
