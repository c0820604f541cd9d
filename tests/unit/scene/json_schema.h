/* A small JSON Schema validator after the draft-07 specification. It tests the schemas that sdrs prints. */
#ifndef SDRS_TESTS_UNIT_SCENE_JSON_SCHEMA_H
#define SDRS_TESTS_UNIT_SCENE_JSON_SCHEMA_H

#include <cjson/cJSON.h>
#include <regex.h>
#include "scene/schema.h"
#include "scene_testing.h"

/* ---------------------------------------------------------------- of documents of ours */

static inline const cJSON* member(const cJSON* schema, const char* key) {
  return cJSON_GetObjectItemCaseSensitive(schema, key);
}

static inline bool is_type(const Node* node, const char* type) {
  ScalarKind kind = node->kind == NODE_SCALAR ? node_scalar_type(node) : SCALAR_TEXT;
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

static inline bool check_type(const cJSON* type, const Node* node) {
  if (cJSON_IsString(type)) return is_type(node, type->valuestring);
  for (const cJSON* one = type->child; one; one = one->next)
    if (is_type(node, one->valuestring)) return true;
  return false;
}

static inline bool equals_text(const cJSON* word, const Node* node) {
  return node->kind == NODE_SCALAR && cJSON_IsString(word) && strcmp(word->valuestring, node->text) == 0;
}

static inline bool is_among(const cJSON* words, const Node* node) {
  for (const cJSON* word = words->child; word; word = word->next)
    if (equals_text(word, node)) return true;
  return false;
}

static inline bool validate(const cJSON* root, const cJSON* schema, const Node* node);

static inline int count_valid(const cJSON* root, const cJSON* schemas, const Node* node) {
  int count = 0;
  for (const cJSON* one = schemas->child; one; one = one->next) count += validate(root, one, node);
  return count;
}

static inline bool check_map(const cJSON* root, const cJSON* schema, const Node* node) {
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

static inline bool check_list(const cJSON* root, const cJSON* schema, const Node* node) {
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

static inline bool check_number(const cJSON* schema, const Node* node) {
  double value;
  node_number(node, &value);
  const cJSON *low = member(schema, "minimum"), *high = member(schema, "maximum");
  const cJSON *above = member(schema, "exclusiveMinimum"), *below = member(schema, "exclusiveMaximum");
  return !(low && value < low->valuedouble) && !(high && value > high->valuedouble) &&
         !(above && value <= above->valuedouble) && !(below && value >= below->valuedouble);
}

static inline bool check_pattern(const cJSON* pattern, const Node* node) {
  regex_t regex;
  assert_int_equal(regcomp(&regex, pattern->valuestring, REG_EXTENDED | REG_NOSUB), 0);
  bool good = regexec(&regex, node->text, 0, NULL, 0) == 0;
  regfree(&regex);
  return good;
}

static inline bool check_combinations(const cJSON* root, const cJSON* schema, const Node* node) {
  const cJSON *all = member(schema, "allOf"), *any = member(schema, "anyOf"), *one = member(schema, "oneOf");
  const cJSON* not = member(schema, "not"), *condition = member(schema, "if");
  if (all && count_valid(root, all, node) < cJSON_GetArraySize(all)) return false;
  if (any && count_valid(root, any, node) < 1) return false;
  if (one && count_valid(root, one, node) != 1) return false;
  if (not &&validate(root, not, node)) return false;
  return !condition || !validate(root, condition, node) || validate(root, member(schema, "then"), node);
}

static inline bool validate(const cJSON* root, const cJSON* schema, const Node* node) {
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

/* ---------------------------------------------------------------- of schemas */

/* Every keyword is one the validator knows, every reference ends somewhere, every property is described. */
static inline void check_schema(const cJSON* root, const cJSON* schema, const char* name) {
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

static inline bool accepts(const cJSON* root, const char* text) {
  Document document = {0};
  Diagnostics diagnostics = {0};
  Node* node = document_read_yaml(&document, "t", text, strlen(text), &diagnostics);
  assert_non_null(node);
  bool good = validate(root, root, node);
  document_free(&document);
  diagnostics_free(&diagnostics);
  return good;
}

#endif
