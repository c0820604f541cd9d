#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <cjson/cJSON.h>
#include <math.h>
#include "run/run.h"

static void nested_values_are_laid_out_and_valid(void** state) {
  (void)state;
  Text text = {0};
  Json json = {.out = &text};
  json_open(&json, NULL, '{');
  json_text(&json, "name", "a \"b\"\n");
  json_text(&json, "none", NULL);
  json_open(&json, "list", '[');
  json_integer(&json, NULL, -3);
  json_number(&json, NULL, 0.1);
  json_open(&json, NULL, '{');
  json_close(&json, '}');
  json_close(&json, ']');
  json_vector(&json, "v", (const double[]){1, 2.5, (double)NAN}, 3);
  json_bool(&json, "yes", true);
  json_number(&json, "infinite", (double)INFINITY);
  json_close(&json, '}');
  assert_string_equal(text.data,
                      "{\n"
                      "  \"name\": \"a \\\"b\\\"\\n\",\n"
                      "  \"none\": null,\n"
                      "  \"list\": [\n"
                      "    -3,\n"
                      "    0.1,\n"
                      "    {}\n"
                      "  ],\n"
                      "  \"v\": [1, 2.5, null],\n"
                      "  \"yes\": true,\n"
                      "  \"infinite\": null\n"
                      "}\n");
  cJSON* read = cJSON_Parse(text.data); /* a second opinion */
  assert_non_null(read);
  assert_string_equal(cJSON_GetObjectItem(read, "name")->valuestring, "a \"b\"\n");
  assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(read, "list")), 3);
  cJSON_Delete(read);
  text_free(&text);
}

static void an_empty_list_is_one_line(void** state) {
  (void)state;
  Text text = {0};
  Json json = {.out = &text};
  json_open(&json, NULL, '[');
  json_close(&json, ']');
  assert_string_equal(text.data, "[]\n");
  text_free(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nested_values_are_laid_out_and_valid),
      cmocka_unit_test(an_empty_list_is_one_line),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
