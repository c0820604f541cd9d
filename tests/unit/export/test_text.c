#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "export/format.h"

static void attributes_are_escaped_and_exact(void** state) {
  (void)state;
  Text out = {0};
  xml_text(&out, "name", "a<b> & \"c\"");
  xml_vector(&out, "pos", vec3(-0.0, 0.1, 1.0 / 3));
  xml_quat(&out, "quat", (Quat){1, 0, -0.5, 0});
  assert_string_equal(out.data,
                      " name=\"a&lt;b&gt; &amp; &quot;c&quot;\" pos=\"0 0.1 0.3333333333333333\" quat=\"1 0 -0.5 0\"");
  text_free(&out);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(attributes_are_escaped_and_exact)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
