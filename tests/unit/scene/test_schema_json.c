/* The JSON Schema is judged by a small validator of its own, written from the draft-07 specification. */
#include <cjson/cJSON.h>
#include <regex.h>
#include <stdlib.h>
#include "scene/schema.h"
#include "scene_testing.h"

/* ---------------------------------------------------------------- a validator of draft 07, for documents of ours */

static const cJSON* member(const cJSON* schema, const char* key) {
  return cJSON_GetObjectItemCaseSensitive(schema, key);
}

static bool is_type(const Node* node, const char* type) {
  ScalarKind kind = node->kind == NODE_SCALAR ? node_scalar_kind(node) : SCALAR_TEXT;
  double value = 0;
  bool number = node->kind == NODE_SCALAR && kind == SCALAR_NUMBER && node_number(node, &value);
  if (strcmp(type, "object") == 0) return node->kind == NODE_MAP;
  if (strcmp(type, "array") == 0) return node->kind == NODE_LIST;
  if (strcmp(type, "number") == 0) return number;
  if (strcmp(type, "integer") == 0) return number && value == floor(value);
  if (strcmp(type, "null") == 0) return node_is_null(node);
  if (strcmp(type, "boolean") == 0) return node->kind == NODE_SCALAR && kind == SCALAR_BOOL;
  if (strcmp(type, "string") == 0) return node->kind == NODE_SCALAR && kind == SCALAR_TEXT;
  fail_msg("unknown type '%s' in the schema", type);
  return false;
}

static bool check_type(const cJSON* type, const Node* node) {
  if (cJSON_IsString(type)) return is_type(node, type->valuestring);
  for (const cJSON* one = type->child; one; one = one->next)
    if (is_type(node, one->valuestring)) return true;
  return false;
}

static bool equals_text(const cJSON* word, const Node* node) {
  return node->kind == NODE_SCALAR && cJSON_IsString(word) && strcmp(word->valuestring, node->text) == 0;
}

static bool is_among(const cJSON* words, const Node* node) {
  for (const cJSON* word = words->child; word; word = word->next)
    if (equals_text(word, node)) return true;
  return false;
}

static bool validate(const cJSON* root, const cJSON* schema, const Node* node);

static int count_valid(const cJSON* root, const cJSON* schemas, const Node* node) {
  int count = 0;
  for (const cJSON* one = schemas->child; one; one = one->next) count += validate(root, one, node);
  return count;
}

static bool check_map(const cJSON* root, const cJSON* schema, const Node* node) {
  const cJSON *properties = member(schema, "properties"), *others = member(schema, "additionalProperties");
  const cJSON* required = member(schema, "required");
  for (const cJSON* key = required ? required->child : NULL; key; key = key->next)
    if (!node_find(node, key->valuestring)) return false;
  for (const Node* child = node->first; child; child = child->next) {
    const cJSON* own = properties ? member(properties, child->key) : NULL;
    if (own && !validate(root, own, child)) return false;
    if (!own && others && !validate(root, others, child)) return false;
  }
  return true;
}

static bool check_list(const cJSON* root, const cJSON* schema, const Node* node) {
  const cJSON *items = member(schema, "items"), *low = member(schema, "minItems"), *high = member(schema, "maxItems");
  if (low && node->count < low->valueint) return false;
  if (high && node->count > high->valueint) return false;
  for (const Node* child = node->first; child; child = child->next) {
    if (items && !validate(root, items, child)) return false;
    for (const Node* other = child->next; other && member(schema, "uniqueItems"); other = other->next)
      if (strcmp(child->text, other->text) == 0) return false;
  }
  return true;
}

static bool check_number(const cJSON* schema, const Node* node) {
  double value;
  node_number(node, &value);
  const cJSON *low = member(schema, "minimum"), *high = member(schema, "maximum");
  const cJSON *above = member(schema, "exclusiveMinimum"), *below = member(schema, "exclusiveMaximum");
  return !(low && value < low->valuedouble) && !(high && value > high->valuedouble) &&
         !(above && value <= above->valuedouble) && !(below && value >= below->valuedouble);
}

static bool check_pattern(const cJSON* pattern, const Node* node) {
  regex_t regex;
  assert_int_equal(regcomp(&regex, pattern->valuestring, REG_EXTENDED | REG_NOSUB), 0);
  bool good = regexec(&regex, node->text, 0, NULL, 0) == 0;
  regfree(&regex);
  return good;
}

static bool check_combinations(const cJSON* root, const cJSON* schema, const Node* node) {
  const cJSON *all = member(schema, "allOf"), *any = member(schema, "anyOf"), *one = member(schema, "oneOf");
  const cJSON* not = member(schema, "not"), *condition = member(schema, "if");
  if (all && count_valid(root, all, node) < cJSON_GetArraySize(all)) return false;
  if (any && count_valid(root, any, node) < 1) return false;
  if (one && count_valid(root, one, node) != 1) return false;
  if (not &&validate(root, not, node)) return false;
  return !condition || !validate(root, condition, node) || validate(root, member(schema, "then"), node);
}

static bool validate(const cJSON* root, const cJSON* schema, const Node* node) {
  if (cJSON_IsBool(schema)) return cJSON_IsTrue(schema);
  const cJSON *ref = member(schema, "$ref"), *type = member(schema, "type"), *words = member(schema, "enum");
  if (ref) return validate(root, member(member(root, "definitions"), strrchr(ref->valuestring, '/') + 1), node);
  if (type && !check_type(type, node)) return false;
  if (words && !is_among(words, node)) return false;
  if (member(schema, "const") && !equals_text(member(schema, "const"), node)) return false;
  if (node->kind == NODE_MAP && !check_map(root, schema, node)) return false;
  if (node->kind == NODE_LIST && !check_list(root, schema, node)) return false;
  if (is_type(node, "number") && !check_number(schema, node)) return false;
  if (member(schema, "pattern") && is_type(node, "string") && !check_pattern(member(schema, "pattern"), node))
    return false;
  return check_combinations(root, schema, node);
}

/* ---------------------------------------------------------------- tests */

static cJSON* parse_schema(void) {
  Text text = {0};
  scene_schema_json(&text);
  cJSON* root = cJSON_ParseWithOpts(text.data, NULL, true);
  assert_non_null(root);
  text_free(&text);
  return root;
}

/* Every keyword is one the validator knows, every reference ends somewhere, every property is described. */
static void check_schema(const cJSON* root, const cJSON* schema, const char* name) {
  static const char* const KEYWORDS[] = {"$schema", "$id",      "title",       "definitions",
                                         "$ref",    "type",     "enum",        "const",
                                         "if",      "then",     "required",    "properties",
                                         "items",   "minItems", "maxItems",    "additionalProperties",
                                         "allOf",   "anyOf",    "oneOf",       "not",
                                         "minimum", "maximum",  "uniqueItems", "exclusiveMinimum",
                                         "pattern", "default",  "description", "exclusiveMaximum"};
  if (cJSON_IsBool(schema)) return;
  for (const cJSON* key = schema->child; key; key = key->next) {
    bool known = false;
    for (int i = 0; i < COUNT(KEYWORDS); i++) known = known || strcmp(key->string, KEYWORDS[i]) == 0;
    if (!known) fail_msg("%s: unknown keyword '%s'", name, key->string);
    bool map = strcmp(key->string, "properties") == 0 || strcmp(key->string, "definitions") == 0;
    bool list =
        strcmp(key->string, "allOf") == 0 || strcmp(key->string, "anyOf") == 0 || strcmp(key->string, "oneOf") == 0;
    bool one = strcmp(key->string, "items") == 0 || strcmp(key->string, "not") == 0 || strcmp(key->string, "if") == 0 ||
               strcmp(key->string, "then") == 0 || strcmp(key->string, "additionalProperties") == 0;
    for (const cJSON* below = map || list ? key->child : NULL; below; below = below->next)
      check_schema(root, below, below->string ? below->string : name);
    if (one) check_schema(root, key, name);
    if (strcmp(key->string, "$ref") == 0) {
      assert_int_equal(strncmp(key->valuestring, "#/definitions/", 14), 0);
      if (!member(member(root, "definitions"), key->valuestring + 14)) fail_msg("no %s", key->valuestring);
    }
  }
}

static void the_schema_is_a_schema(void** state) {
  (void)state;
  cJSON* root = parse_schema();
  assert_string_equal(member(root, "$schema")->valuestring, "http://json-schema.org/draft-07/schema#");
  check_schema(root, root, "root");
  for (const cJSON* object = member(root, "definitions")->child; object; object = object->next) {
    assert_true(cJSON_IsFalse(member(object, "additionalProperties")));
    assert_true(cJSON_IsString(member(object, "description")));
  }
  const cJSON* dt = member(member(member(member(root, "definitions"), "simulation"), "properties"), "dt");
  assert_non_null(strstr(member(dt, "description")->valuestring, "Unit: s."));
  compare_near(member(dt, "default")->valuedouble, 0.01, 0, "default of dt");
  cJSON_Delete(root);
}

static bool accepts(const cJSON* root, const char* text) {
  Document document = {0};
  Diagnostics diagnostics = {0};
  Node* node = document_read_yaml(&document, "t", text, strlen(text), &diagnostics);
  assert_non_null(node);
  bool good = validate(root, root, node);
  document_free(&document);
  diagnostics_free(&diagnostics);
  return good;
}

static void what_the_reader_accepts_the_schema_accepts(void** state) {
  (void)state;
  cJSON* root = parse_schema();
  for (int i = 0; i < SCENE_SCHEMA.object_count; i++) {
    const char* example = SCENE_SCHEMA.objects[i].example;
    if (example && !accepts(root, example))
      fail_msg("the schema refuses the example of %s", SCENE_SCHEMA.objects[i].name);
  }
  assert_true(accepts(root, "simulation:\nlinks: [{name: a, parent: ~, shapes: , groups: [b], color: '#00ff00'}]"));
  cJSON_Delete(root);
}

static void what_the_table_forbids_the_schema_refuses(void** state) {
  (void)state;
  static const char* const REFUSED[] = {
      "{}",
      "links: {}",
      "links: [5]",
      "links: [{mass: 1}]",
      "links: [{name: 5}]",
      "links: [{name: a, masss: 1}]",
      "links: [{name: a, mass: 0}]",
      "links: [{name: a, mass: 1, density: 1}]",
      "links: [{name: a, color: red}]",
      "links: [{name: a, color: [0, 0, 1.5]}]",
      "links: [{name: a, shape: {}}]",
      "links: [{name: a, shape: {shape: b, type: box, size: [1, 1, 1]}}]",
      "links: [{name: a, shape: {type: box}}]",
      "links: [{name: a, shape: {type: box, size: [1, 1, 0]}}]",
      "links: [{name: a, shape: {type: box, size: [1, 1, 1], radius: 1}}]",
      "links: [{name: a, shape: {type: rounded_box, size: [1, 1, 0]}}]",
      "links: [{name: a, joint: {axis: [1, 0, 0]}}]",
      "links: [{name: a, joint: {type: hinge}}]",
      "links: [{name: a, joint: {type: ball, axis: [1, 0, 0]}}]",
      "links: [{name: a, joint: {type: free, free_axes: [x, x]}}]",
      "links: [{name: a, joint: {type: ball, rpy: [0, 0, 0], rotation: [1, 0, 0, 0]}}]",
      "links: [{name: a, repeat: {}}]",
      "links: [{name: a, repeat: {count: -1}}]",
      "links: [{name: a, repeat: {count: [1, 2, 3, 4]}}]",
      "links: [{name: a, repeat: {count: 1, first: {nme: b}}}]",
      "{links: [], simulation: {duration: 1, steps: 5}}",
      "{links: [], simulation: {steps: 1.5}}",
      "{links: [], simulation: {dt: '0.1'}}",
      "{links: [], simulation: {integrator: third_order}}",
      "{links: [], contact: {exclude: [[a]]}}",
      "{links: [], controllers: [{link: a, type: prescribed, target: 0, position_gain: 1}]}",
      "{links: [], controllers: [{link: a, type: pd, target: 0}]}",
      "{links: [], controllers: [{link: a, type: prescribed, target: {type: sines, values: [1]}}]}",
      "{links: [], initial: [{}]}",
  };
  cJSON* root = parse_schema();
  for (int i = 0; i < COUNT(REFUSED); i++) {
    if (accepts(root, REFUSED[i])) fail_msg("the schema accepts %s", REFUSED[i]);
    Scene scene; /* and so does the reader */
    Diagnostics diagnostics = {0};
    if (parse_with(&scene, &diagnostics, REFUSED[i], NULL) == STATUS_OK) fail_msg("the reader accepts %s", REFUSED[i]);
    scene_free(&scene);
    diagnostics_free(&diagnostics);
  }
  cJSON_Delete(root);
}

static void the_stored_schema_is_current(void** state) {
  (void)state;
  static const char PATH[] = "docs/scene.schema.json";
  Text text = {0};
  char* stored;
  size_t length;
  scene_schema_json(&text);
  if (getenv("SDRS_UPDATE_DOCS")) assert_int_equal(file_write(PATH, text.data, text.length), STATUS_OK);
  assert_int_equal(file_read(PATH, &stored, &length), STATUS_OK);
  if (strcmp(stored, text.data) != 0)
    fail_msg("%s is not what the table says; run this test with SDRS_UPDATE_DOCS=1 to write it anew", PATH);
  memory_free(stored);
  text_free(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_schema_is_a_schema),
      cmocka_unit_test(what_the_reader_accepts_the_schema_accepts),
      cmocka_unit_test(what_the_table_forbids_the_schema_refuses),
      cmocka_unit_test(the_stored_schema_is_current),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
