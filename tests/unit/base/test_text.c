#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"

/* And of the doubles on either side. */
static void with_neighbours(double value, void (*check)(double)) {
  check(value);
  check(nextafter(value, 0.0));
  check(nextafter(value, INFINITY));
}

static void text_grows_without_losing_anything(void** state) {
  (void)state;
  Text text = {0};
  for (int i = 0; i < 1000; i++) text_add(&text, "%04d", i);
  assert_int_equal(text.length, 4000);
  assert_int_equal(strlen(text.data), 4000);
  assert_memory_equal(text.data + 4 * 777, "0777", 4);
  text_free(&text);
  assert_null(text.data);
  text_free(&text);
}

/* The end of the buffer falls at every place inside the added piece. */
static void a_piece_may_end_anywhere_in_the_buffer(void** state) {
  (void)state;
  for (int before = 0; before < 200; before++) {
    Text text = {0};
    for (int i = 0; i < before; i++) text_add_bytes(&text, "x", 1);
    text_add(&text, "%s-%d", "some text of thirty letters ..", 42);
    assert_int_equal(text.length, (size_t)before + 33);
    assert_string_equal(text.data + before, "some text of thirty letters ..-42");
    text_free(&text);
  }
}

static void empty_pieces_make_an_empty_string(void** state) {
  (void)state;
  Text text = {0};
  text_add(&text, "%s", "");
  assert_string_equal(text.data, "");
  text_free(&text);
  text_add_bytes(&text, NULL, 0);
  assert_string_equal(text.data, "");
  text_free(&text);
}

static void check_double(double value, const char* expected) {
  Text text = {0};
  text_add_double(&text, value);
  assert_string_equal(text.data, expected);
  text_free(&text);
}

static void known_numbers_are_shortest(void** state) {
  (void)state;
  const struct {
    double value;
    const char* text;
  } rows[] = {
      {0.0, "0"},
      {-0.0, "-0"},
      {1.0, "1"},
      {-1.0, "-1"},
      {10.0, "10"},
      {0.1, "0.1"},
      {0.3, "0.3"},
      {0.1 + 0.2, "0.30000000000000004"},
      {1.0 / 3.0, "0.3333333333333333"},
      {9.81, "9.81"},
      {-0.001, "-0.001"},
      {0.0001, "0.0001"},
      {0.00001, "1e-05"},
      {0.000012345, "1.2345e-05"},
      {1e-10, "1e-10"},
      {1e-11, "1e-11"},
      {123456.0, "123456"},
      {1e14, "100000000000000"},
      {999999999999999.0, "999999999999999"},
      {999999999999999.9, "999999999999999.9"},
      {1e15, "1e+15"},
      {9007199254740993.0, "9007199254740992"},
      {1e300, "1e+300"},
      {5e-324, "5e-324"},
      {DBL_MAX, "1.7976931348623157e+308"},
      {DBL_MIN, "2.2250738585072014e-308"},
      {DBL_EPSILON, "2.220446049250313e-16"},
      {(double)NAN, "nan"},
      {(double)INFINITY, "inf"},
      {(double)-INFINITY, "-inf"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) check_double(rows[i].value, rows[i].text);
}

/* The C library as judge: it reads back the same bits, and no number of fewer digits would do. */
static void check_against_library(double value) {
  Text text = {0};
  text_add_double(&text, value);
  double back = strtod(text.data, NULL);
  if (memcmp(&back, &value, sizeof value) != 0) fail_msg("%a printed as %s reads back as %a", value, text.data, back);
  char judge[40];
  int precision = 15;
  do snprintf(judge, sizeof judge, "%.*g", precision, value);
  while (strtod(judge, NULL) != value && ++precision <= 17);
  if (strlen(text.data) > strlen(judge)) fail_msg("%a printed as %s, shorter is %s", value, text.data, judge);
  text_free(&text);
}

/* Reference: prints with increasing precision and compares the value that is read back. */
static void check_is_shortest_of_library(double value) {
  char judge[40];
  int precision = 15;
  do snprintf(judge, sizeof judge, "%.*g", precision, value);
  while (strtod(judge, NULL) != value && ++precision <= 17);
  check_double(value, judge);
}

static void small_numbers_are_those_of_the_library(void** state) {
  (void)state;
  Random random = {20261126};
  print_message("seed %llu\n", (unsigned long long)random.state);
  for (int i = 0; i < 200000; i++) {
    double value = exp(random_uniform(&random, -145.0, -20.0));
    check_is_shortest_of_library(i % 2 ? value : -value);
  }
  for (int e = -205; e < -28; e++)
    for (int side = -1; side <= 1; side++)
      check_is_shortest_of_library(ldexp(side < 0 ? 1 - 0.5 * DBL_EPSILON : 1 + side * DBL_EPSILON, e));
  for (int e = -63; e < -8; e++)
    for (int digits = 1; digits < 100000; digits = 7 * digits + 1) {
      char decimal[32];
      snprintf(decimal, sizeof decimal, "%de%d", digits, e);
      double value = strtod(decimal, NULL);
      with_neighbours(value, check_is_shortest_of_library);
    }
}

static void random_numbers_read_back(void** state) {
  (void)state;
  Random random = {20240517};
  print_message("seed %llu\n", (unsigned long long)random.state);
  for (int i = 0; i < 200000; i++) {
    double value = exp(random_uniform(&random, -30.0, 40.0));
    check_against_library(i % 2 ? value : -value);
  }
  for (int i = 0; i < 50000; i++) { /* any bit pattern */
    uint64_t bits = random_bits(&random);
    double value;
    memcpy(&value, &bits, sizeof value);
    if (isfinite(value)) check_against_library(value);
  }
}

/* Where the spacing of doubles or the number of digits changes. */
static void edges_read_back(void** state) {
  (void)state;
  for (int e = -1074; e < 1024; e++) {
    double power = ldexp(1.0, e);
    with_neighbours(power, check_against_library);
  }
  for (int e = -30; e < 30; e++)
    for (int digit = 1; digit < 10; digit++) {
      char decimal[32];
      snprintf(decimal, sizeof decimal, "%de%d", digit, e);
      double value = strtod(decimal, NULL);
      with_neighbours(value, check_against_library);
    }
}

static void json_strings_are_escaped(void** state) {
  (void)state;
  Text text = {0};
  text_add_json_string(&text, "a\"b\\c\n\t\r\b\f\x01 \xc3\xa9/");
  assert_string_equal(text.data, "\"a\\\"b\\\\c\\n\\t\\r\\b\\f\\u0001 \xc3\xa9/\"");
  text_free(&text);
}

/* The test vectors of RFC 4648, section 10, and bytes that use the last two digits. */
static void base64_is_that_of_the_standard(void** state) {
  (void)state;
  static const char* const vectors[][2] = {{"", ""},
                                           {"f", "Zg=="},
                                           {"fo", "Zm8="},
                                           {"foo", "Zm9v"},
                                           {"foob", "Zm9vYg=="},
                                           {"fooba", "Zm9vYmE="},
                                           {"foobar", "Zm9vYmFy"}};
  for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
    Text text = {0};
    text_add(&text, ">");
    text_add_base64(&text, vectors[i][0], strlen(vectors[i][0]));
    assert_string_equal(text.data + 1, vectors[i][1]);
    text_free(&text);
  }
  Text text = {0};
  text_add_base64(&text, "\xfb\xff\x00", 3);
  assert_string_equal(text.data, "+/8A");
  text_free(&text);
}

static void distance_is_levenshtein(void** state) {
  (void)state;
  assert_int_equal(text_distance("", ""), 0);
  assert_int_equal(text_distance("", "abc"), 3);
  assert_int_equal(text_distance("abc", ""), 3);
  assert_int_equal(text_distance("kitten", "sitting"), 3);
  assert_int_equal(text_distance("flaw", "lawn"), 2);
  assert_int_equal(text_distance("frction", "friction"), 1);
  assert_int_equal(text_distance("plam", "palm"), 1);
  assert_int_equal(text_distance("ca", "abc"), 3); /* with edits of exchanged letters it would be 2 */
}

static void the_nearest_word_is_offered(void** state) {
  (void)state;
  const char* const keys[] = {"friction", "support", "stiffness", "dt", "kappa", "mass", "model"};
  const int count = sizeof keys / sizeof *keys;
  assert_string_equal(text_nearest("frction", keys, count), "friction");
  assert_string_equal(text_nearest("stifness", keys, count), "stiffness");
  assert_string_equal(text_nearest("supprot", keys, count), "support");
  assert_string_equal(text_nearest("dtt", keys, count), "dt");
  assert_string_equal(text_nearest("mas", keys, count), "mass");
  assert_null(text_nearest("colour", keys, count));
  assert_null(text_nearest("x", keys, count));
  assert_null(text_nearest("", keys, count));
  assert_null(text_nearest("dt", keys, 0));
  char endless[5001];
  memset(endless, 'a', 5000);
  endless[5000] = '\0';
  assert_null(text_nearest(endless, keys, count));
}

/* A POSIX shell must read the quoted text as one word. */
static void words_for_a_shell_are_quoted(void** state) {
  (void)state;
  static const char* const WORDS[][2] = {{"a/b.yaml", "a/b.yaml"},
                                         {"links.box.mass=2", "links.box.mass=2"},
                                         {"", "''"},
                                         {"my run", "'my run'"},
                                         {"it's", "'it'\\''s'"},
                                         {"$HOME", "'$HOME'"}};
  for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++) {
    Text text = {0};
    text_add_shell(&text, WORDS[i][0]);
    assert_string_equal(text.data, WORDS[i][1]);
    text_free(&text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(text_grows_without_losing_anything),
      cmocka_unit_test(words_for_a_shell_are_quoted),
      cmocka_unit_test(a_piece_may_end_anywhere_in_the_buffer),
      cmocka_unit_test(empty_pieces_make_an_empty_string),
      cmocka_unit_test(known_numbers_are_shortest),
      cmocka_unit_test(random_numbers_read_back),
      cmocka_unit_test(small_numbers_are_those_of_the_library),
      cmocka_unit_test(edges_read_back),
      cmocka_unit_test(json_strings_are_escaped),
      cmocka_unit_test(base64_is_that_of_the_standard),
      cmocka_unit_test(distance_is_levenshtein),
      cmocka_unit_test(the_nearest_word_is_offered),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
