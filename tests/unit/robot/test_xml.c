#include "robot/xml.h"
#include "unit/scene/scene_testing.h"

static bool read_text(XmlDocument* document, const char* text, Diagnostics* diagnostics) {
  return xml_read(document, "robot.urdf", text, strlen(text), diagnostics);
}

static void expect_refused(const char* text, const char* wanted) {
  XmlDocument document;
  Diagnostics diagnostics = {0};
  if (read_text(&document, text, &diagnostics)) fail_msg("accepted: %s", text);
  char* found = told(&diagnostics);
  if (strcmp(found, wanted) != 0) fail_msg("for\n%s\ntold\n%s\nwanted\n%s", text, found, wanted);
  assert_null(document.root);
  memory_free(found);
  diagnostics_free(&diagnostics);
}

/* Lines and columns counted by hand, in characters. */
static void elements_and_values_have_their_places(void** state) {
  (void)state;
  XmlDocument document;
  Diagnostics diagnostics = {0};
  assert_true(read_text(&document,
                        "<?xml version=\"1.0\"?>\n"
                        "<robot name='a &amp; b'>\n"
                        "  <!-- <link/> -->\n"
                        "  <link name=\"\xc3\xa4\"  other\n"
                        "    = '&#65;\"'/><link/>\n"
                        "  text <joint/>\n"
                        "</robot>\n",
                        &diagnostics));
  const XmlElement* robot = document.root;
  assert_string_equal(robot->name, "robot");
  assert_int_equal(robot->place.line, 2);
  assert_int_equal(robot->place.column, 1);
  assert_string_equal(xml_attribute(robot, "name")->value, "a & b");
  assert_int_equal(xml_attribute(robot, "name")->place.column, 14);
  assert_null(xml_attribute(robot, "other"));
  const XmlElement* link = xml_child(robot, "link");
  assert_int_equal(link->place.line, 4);
  assert_int_equal(link->place.column, 3);
  assert_string_equal(xml_attribute(link, "other")->value, "A\"");
  assert_int_equal(xml_attribute(link, "other")->place.line, 5);
  assert_int_equal(xml_attribute(link, "other")->place.column, 8);
  const XmlElement* second = xml_next(link);
  assert_int_equal(second->place.line, 5);
  assert_int_equal(second->place.column, 17);
  assert_null(xml_next(second));
  assert_string_equal(xml_child(robot, "joint")->name, "joint");
  assert_ptr_equal(xml_child(robot, "joint")->parent, robot);
  xml_free(&document);
  diagnostics_free(&diagnostics);
}

static void a_byte_order_mark_moves_no_column(void** state) {
  (void)state;
  XmlDocument document;
  Diagnostics diagnostics = {0};
  assert_true(read_text(&document, "\xef\xbb\xbf<a><b/></a>", &diagnostics));
  assert_int_equal(document.root->place.column, 1);
  assert_int_equal(document.root->first->place.column, 4);
  xml_free(&document);
  /* an empty line before the declaration, which a file of several lines may have */
  assert_true(read_text(&document, "\n <?xml\n version='1.0'?>\n  <a/>", &diagnostics));
  assert_int_equal(document.root->place.line, 4);
  assert_int_equal(document.root->place.column, 3);
  xml_free(&document);
  assert_int_equal(diagnostics.count, 0);
}

static void what_is_no_xml_is_refused_with_its_place(void** state) {
  (void)state;
  expect_refused("", "1:1: error: not well-formed XML: no element found\n");
  expect_refused("<robot>\n  <link>\n</robot>\n", "3:3: error: not well-formed XML: mismatched tag\n");
  expect_refused("<robot a='1' a='2'/>", "1:14: error: not well-formed XML: duplicate attribute\n");
  expect_refused("<robot>&other;</robot>", "1:8: error: not well-formed XML: undefined entity\n");
  expect_refused("\n<?xml version='1.0'?><a>", "2:25: error: not well-formed XML: no element found\n");
  expect_refused("<robot/>\n<robot/>", "2:1: error: not well-formed XML: junk after document element\n");
  expect_refused("<robot>\n\xff</robot>", "2:1: error: the byte 0xff is not valid in UTF-8: save the file as UTF-8\n");
}

/* Ten entities of ten of the one before: 10^9 letters, if they were expanded. */
static void entities_are_never_expanded(void** state) {
  (void)state;
  Text text = {0};
  text_add(&text, "<?xml version=\"1.0\"?>\n<!DOCTYPE robot [\n<!ENTITY e0 \"a\">\n");
  for (int i = 1; i < 10; i++) {
    text_add(&text, "<!ENTITY e%d \"", i);
    for (int k = 0; k < 10; k++) text_add(&text, "&e%d;", i - 1);
    text_add(&text, "\">\n");
  }
  text_add(&text, "]>\n<robot name=\"&e9;\"/>\n");
  expect_refused(text.data, "2:1: error: a document type (DOCTYPE) is not supported: remove it\n");
  text_free(&text);
  expect_refused("<robot><link name=\"a&#10;b\"/></robot>",
                 "1:20: error: a name must not have a control character: remove the character\n");
  expect_refused("<!DOCTYPE robot SYSTEM \"file:///etc/passwd\"><robot/>",
                 "1:1: error: a document type (DOCTYPE) is not supported: remove it\n");
}

static void deep_nesting_ends_with_a_message(void** state) {
  (void)state;
  Text text = {0};
  for (int i = 0; i < XML_DEPTH_MAX + 1; i++) text_add(&text, "<a>");
  for (int i = 0; i < XML_DEPTH_MAX + 1; i++) text_add(&text, "</a>");
  expect_refused(text.data, "1:193: error: elements are nested more than 64 levels deep: reduce the nesting\n");
  text.length = 0;
  for (int i = 0; i < XML_DEPTH_MAX; i++) text_add(&text, "<a>");
  for (int i = 0; i < XML_DEPTH_MAX; i++) text_add(&text, "</a>");
  XmlDocument document;
  Diagnostics diagnostics = {0};
  assert_true(read_text(&document, text.data, &diagnostics));
  assert_int_equal(document.count, XML_DEPTH_MAX);
  xml_free(&document);
  text_free(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(elements_and_values_have_their_places),    cmocka_unit_test(a_byte_order_mark_moves_no_column),
      cmocka_unit_test(what_is_no_xml_is_refused_with_its_place), cmocka_unit_test(entities_are_never_expanded),
      cmocka_unit_test(deep_nesting_ends_with_a_message),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
