/* Tests every scene and task of the repository with one key removed, or one value replaced by nothing, a list or a map.
 * The text is refused or gives a consistent scene. SDRS_MUTATIONS=all tries every change
 * (tests/long/test_mutations.sh). A number tries so many changes, chosen by SDRS_SEED. */
#include <glob.h>
#include <stdlib.h>
#include <unistd.h>

#include "scene/document.h"
#include "task_consistency.h"
#include "task_testing.h"

/* Number of sampled changes: about five seconds under the address sanitizer. tests/long/test_mutations.sh tries all. */
enum { MUTATIONS = 1500 };

typedef enum { CHANGE_REMOVE, CHANGE_NULL, CHANGE_LIST, CHANGE_MAP, CHANGE_COUNT } Change;

static const char* const CHANGE_NAME[] = {"removed", "set to null", "set to []", "set to {}"};

/* ---------------------------------------------------------------- texts */

static void add_json(Text* out, const Node* node, const Node* changed, Change change) {
  if (node == changed) {
    text_add(out, "%s", change == CHANGE_NULL ? "null" : change == CHANGE_LIST ? "[]" : "{}");
  } else if (node->kind == NODE_SCALAR) {
    if (node->quoted)
      text_add_json_string(out, node->text);
    else
      text_add(out, "%s", *node->text ? node->text : "null");
  } else {
    bool map = node->kind == NODE_MAP, first = true;
    text_add(out, map ? "{" : "[");
    for (const Node* child = node->first; child; child = child->next) {
      if (child == changed && change == CHANGE_REMOVE) continue;
      if (!first) text_add(out, ", ");
      first = false;
      if (map) text_add_json_string(out, child->key);
      if (map) text_add(out, ": ");
      add_json(out, child, changed, change);
    }
    text_add(out, map ? "}" : "]");
  }
}

/* ---------------------------------------------------------------- one change */

static void fail_at(const char* path, const Node* node, Change change, const char* fault) {
  fail_msg("%s:%d: '%s' %s: not %s", path, node->place.line, node->key ? node->key : "item", CHANGE_NAME[change],
           fault);
}

/* All that is expected of any reading; the places of messages may be in other files as well. */
static const char* result_fault(Status status, const Diagnostics* diagnostics) {
  HOLDS((status == STATUS_OK) == (diagnostics->error_count == 0));
  HOLDS(status == STATUS_OK || status == STATUS_BAD_INPUT);
  return NULL;
}

static void try_change(const char* path, const Node* root, bool is_task, const Node* changed, Change change) {
  Text text = {0};
  Diagnostics diagnostics = {0};
  Task task = {0};
  Scene scene = {0};
  add_json(&text, root, changed, change);
  Status status = is_task ? task_parse(&task, path, text.data, text.length, false, NULL, 0, &diagnostics)
                          : scene_parse(&scene, path, text.data, text.length, false, NULL, 0, &diagnostics);
  const char* fault = result_fault(status, &diagnostics);
  bool whole = !fault && status == STATUS_OK;
  if (whole && !is_task) fault = scene_fault(&scene);
  if (whole && is_task) fault = scenario_list_fault(&task);
  if (fault) fail_at(path, changed, change, fault);
  task_free(&task);
  scene_free(&scene);
  diagnostics_free(&diagnostics);
  text_free(&text);
}

/* ---------------------------------------------------------------- all of them */

/* A choice of the changes: the numbers from `offset` on, `stride` apart. */
typedef struct {
  long next, offset, stride;
} Choice;

static bool is_chosen(Choice* choice) {
  long number = choice->next++;
  return choice->stride > 0 && number >= choice->offset && (number - choice->offset) % choice->stride == 0;
}

/* The first item of a list of plain numbers stands for all. */
static void try_below(const char* path, const Node* root, bool is_task, const Node* parent, Choice* choice) {
  for (const Node* node = parent->first; node; node = node->next) {
    bool alike = parent->kind == NODE_LIST && node->kind == NODE_SCALAR && node != parent->first;
    for (int change = 0; change < CHANGE_COUNT && !alike; change++)
      if (is_chosen(choice)) try_change(path, root, is_task, node, (Change)change);
    try_below(path, root, is_task, node, choice);
  }
}

static void try_file(const char* path, Choice* choice) {
  char* text;
  size_t length;
  Document document = {0};
  Diagnostics diagnostics = {0};
  assert_int_equal(file_read(path, &text, &length), STATUS_OK);
  const Node* root = document_read(&document, path, text, length, path_is_json(path), &diagnostics);
  assert_non_null(root);
  try_below(path, root, task_recognise(path), root, choice);
  document_free(&document);
  diagnostics_free(&diagnostics);
  memory_free(text);
}

/* Returns how many changes there are. */
static long try_files(const glob_t* files, Choice choice) {
  for (size_t i = 0; i < files->gl_pathc; i++) try_file(files->gl_pathv[i], &choice);
  return choice.next;
}

static void no_change_of_a_shipped_file_breaks_the_reader(void** state) {
  (void)state;
  static const char* const PATTERNS[] = {"scenes/*.yaml", "scenes/tasks/*.yaml", "scenes/identify/*.yaml",
                                         "scenes/*.json"};
  const char *asked = getenv("SDRS_MUTATIONS"), *seed_given = getenv("SDRS_SEED");
  glob_t files = {0};
  for (size_t i = 0; i < sizeof PATTERNS / sizeof PATTERNS[0]; i++)
    glob(PATTERNS[i], i > 0 ? GLOB_APPEND : 0, NULL, &files);
  assert_true(files.gl_pathc > 80);
  long count = try_files(&files, (Choice){0}), seed = seed_given ? atol(seed_given) : (long)getpid();
  bool all = asked && strcmp(asked, "all") == 0;
  long wanted = asked && !all ? atol(asked) : MUTATIONS, stride = all || count <= wanted ? 1 : count / wanted;
  print_message("%ld changes of %zu files, every %ld. of them, SDRS_SEED=%ld\n", count, files.gl_pathc, stride, seed);
  try_files(&files, (Choice){.offset = seed % stride, .stride = stride});
  globfree(&files);
}

/* Objects that were read without their required keys must not be used. */
static void closures_without_their_keys_are_refused(void** state) {
  (void)state;
  static const char LINK[] = "links: [{name: a, mass: 1, shape: {type: box, size: [1, 1, 1]}}]\n";
  static const char* const CLOSURES[] = {"{type: hinge}",
                                         "{a: a}",
                                         "{}",
                                         "{type: ball, a: null, point: [0, 0, 0]}",
                                         "{type: foo, a: a}",
                                         "{type: ball, a: [], point: [0, 0, 0]}"};
  for (size_t i = 0; i < sizeof CLOSURES / sizeof CLOSURES[0]; i++) {
    Text text = {0};
    Diagnostics diagnostics = {0};
    Scene scene;
    text_add(&text, "%sclosures: [%s]\n", LINK, CLOSURES[i]);
    assert_int_equal(scene_parse(&scene, "x.yaml", text.data, text.length, false, NULL, 0, &diagnostics),
                     STATUS_BAD_INPUT);
    scene_free(&scene);
    diagnostics_free(&diagnostics);
    text_free(&text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(closures_without_their_keys_are_refused),
      cmocka_unit_test(no_change_of_a_shipped_file_breaks_the_reader),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
