#include <cjson/cJSON.h>
#include "scene/document.h"
#include "scene_testing.h"

static bool accepts(const char* text) {
  Diagnostics diagnostics = {0};
  bool good = document_check_json("t", text, strlen(text), &diagnostics);
  assert_int_equal(diagnostics.count, good ? 0 : 1);
  diagnostics_free(&diagnostics);
  return good;
}

static bool cjson_accepts(const char* text) {
  cJSON* root = cJSON_ParseWithOpts(text, NULL, true);
  cJSON_Delete(root);
  return root != NULL;
}

static const char SAMPLE[] =
    " {\"a\": [1, -0.5e+3, true, false , null, []], \"b\\u00e4\\\"\": {}, \"\": \"x\\/\\\\y\\n\", \"c\": {\"d\": "
    "[[0]]}} \n";

static void a_valid_text_is_accepted_and_no_part_of_it(void** state) {
  (void)state;
  assert_true(accepts(SAMPLE));
  char text[sizeof SAMPLE];
  for (size_t length = 0; length + 3 < sizeof SAMPLE; length++) {
    memcpy(text, SAMPLE, length);
    text[length] = 0;
    if (accepts(text)) fail_msg("accepted '%s'", text);
  }
}

/* cJSON accepts every text that our reader accepts. cJSON also accepts a few texts that are not JSON. */
static void mutated_texts_agree_with_cjson(void** state) {
  (void)state;
  Random random = {31};
  static const char POOL[] = "{}[]\",:\\u01e.-+tfn \n\tx";
  int accepted = 0, refused_by_both = 0;
  for (int trial = 0; trial < 20000; trial++) {
    char text[sizeof SAMPLE];
    memcpy(text, SAMPLE, sizeof SAMPLE);
    int changes = 1 + (int)(random_bits(&random) % 3);
    for (int i = 0; i < changes; i++)
      text[random_bits(&random) % (sizeof SAMPLE - 1)] = POOL[random_bits(&random) % (sizeof POOL - 1)];
    bool ours = accepts(text), theirs = cjson_accepts(text);
    if (ours && !theirs) fail_msg("seed 31, trial %d: only we accept\n%s", trial, text);
    accepted += ours;
    refused_by_both += !ours && !theirs;
  }
  assert_in_range(accepted, 500, 19000);
  assert_in_range(refused_by_both, 500, 19500);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_valid_text_is_accepted_and_no_part_of_it),
      cmocka_unit_test(mutated_texts_agree_with_cjson),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
