/* Helpers for the tests of both document readers: one document with its reported problems. The test file defines
 * read_text. */
#ifndef SDRS_TESTS_UNIT_DOCUMENT_TESTING_H
#define SDRS_TESTS_UNIT_DOCUMENT_TESTING_H

#include "scene/document.h"
#include "scene_testing.h"

static Document document;
static Diagnostics diagnostics;

/* Into `document`. */
static Node* read_text(const char* text);

static int teardown(void** state) {
  (void)state;
  document_free(&document);
  diagnostics_free(&diagnostics);
  return 0;
}

static void expect(const char* text, const char* wanted) {
  document_free(&document);
  diagnostics_free(&diagnostics);
  Node* root = read_text(text);
  char* found = told(&diagnostics);
  if (strcmp(found, wanted) != 0) fail_msg("for\n%s\ntold\n%s\nwanted\n%s", text, found, wanted);
  if (*wanted && !strstr(wanted, "twice")) assert_null(root);
  memory_free(found);
}

#endif
