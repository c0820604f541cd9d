#include <assert.h>
#include <string.h>

#include "scene/schema.h"

enum { ACCEPT_SCALAR = 1, ACCEPT_LIST = 2, ACCEPT_MAP = 4 };

/* Properties of a kind of value. json: JSON Schema of a value, in which @R stands for the range of the schema row, @O
 * for a reference to the object SchemaRow.of, and @C for the allowed words. */
typedef struct {
  const char *title, *expected;
  unsigned accepts;
  const char* json;
} Kind;

/* JSON Schema pattern of an {expression} in place of a number. */
#define JSON_PATTERN "\"pattern\": \"^[{].*[}]$\""
#define JSON_ANY_NUMBER "\"type\": [\"number\", \"string\"], " JSON_PATTERN
#define JSON_VECTOR "\"type\": \"array\", \"items\": {" JSON_ANY_NUMBER "@R}, \"minItems\": 3, \"maxItems\": 3"
#define JSON_NUMBERS "\"type\": \"array\", \"items\": {" JSON_ANY_NUMBER "@R}"
#define JSON_NAME_OR_USE "\"anyOf\": [{\"type\": \"string\"}, {\"$ref\": \"#/definitions/shape_use\"}]"
#define JSON_COUNT "\"type\": [\"integer\", \"string\"]@R, " JSON_PATTERN
#define JSON_OPEN_NUMBER "\"type\": [\"number\", \"string\", \"null\"], " JSON_PATTERN

static const Kind KINDS[VALUE_KIND_COUNT] = {
    [VALUE_NUMBER] = {"number", "a number", ACCEPT_SCALAR, JSON_ANY_NUMBER "@R"},
    [VALUE_INTEGER] = {"integer", "a whole number", ACCEPT_SCALAR, JSON_COUNT},
    [VALUE_BOOL] = {"true or false", "true or false", ACCEPT_SCALAR, "\"type\": \"boolean\""},
    [VALUE_CHOICE] = {"word", "a word", ACCEPT_SCALAR | ACCEPT_LIST | ACCEPT_MAP, "\"enum\": [@C]"},
    [VALUE_VECTOR] = {"3 numbers", "a list of 3 numbers", ACCEPT_LIST, JSON_VECTOR},
    [VALUE_QUATERNION] = {"4 numbers", "a list of 4 numbers", ACCEPT_LIST,
                          "\"type\": \"array\", \"items\": {" JSON_ANY_NUMBER "}, \"minItems\": 4, \"maxItems\": 4"},
    [VALUE_NUMBERS] = {"list of numbers", "a list of numbers", ACCEPT_LIST,
                       JSON_NUMBERS ", \"minItems\": 1, \"maxItems\": 7"},
    [VALUE_PER_DOF] = {"number or list", "a number or a list of numbers", ACCEPT_SCALAR | ACCEPT_LIST,
                       "\"type\": [\"number\", \"string\", \"array\"]@R, " JSON_PATTERN ", \"items\": {" JSON_ANY_NUMBER
                       "@R}, \"minItems\": 1, "
                       "\"maxItems\": 6"},
    [VALUE_BOUND] = {"number or 3 numbers", "a number or a list of 3 numbers", ACCEPT_SCALAR | ACCEPT_LIST,
                     "\"type\": [\"number\", \"string\", \"array\"]@R, " JSON_PATTERN ", \"items\": {" JSON_ANY_NUMBER
                     "@R}, \"minItems\": 3, "
                     "\"maxItems\": 3"},
    [VALUE_WORDS] = {"list of words", "a list of words", ACCEPT_LIST,
                     "\"type\": \"array\", \"items\": {\"enum\": [@C]}, \"minItems\": 1, \"uniqueItems\": true"},
    [VALUE_TEXT] = {"text", "a text", ACCEPT_SCALAR, "\"type\": \"string\""},
    [VALUE_OBJECT] = {"map", "a map", ACCEPT_MAP, "\"allOf\": [@O]"},
    [VALUE_LIST] = {"list", "a list", ACCEPT_LIST, "\"type\": \"array\", \"items\": @O"},
    [VALUE_MAP] = {"map by name", "a map", ACCEPT_MAP, "\"type\": \"object\", \"additionalProperties\": @O"},
    [VALUE_SHAPE] = {"name or shape", "the name of a shape, or a shape", ACCEPT_SCALAR | ACCEPT_MAP, JSON_NAME_OR_USE},
    [VALUE_SHAPES] = {"list of shapes", "a list of shapes", ACCEPT_LIST,
                      "\"type\": \"array\", \"items\": {" JSON_NAME_OR_USE "}"},
    [VALUE_POINTS] = {"list of points", "a list of points", ACCEPT_LIST,
                      "\"type\": \"array\", \"items\": {" JSON_VECTOR "}, \"minItems\": 4"},
    [VALUE_NAMES] = {"list of names", "a list of names", ACCEPT_LIST,
                     "\"type\": \"array\", \"items\": {\"type\": \"string\"}"},
    [VALUE_AXES] = {"list of x, y, z, rx, ry, rz", "a list of axes", ACCEPT_LIST,
                    "\"type\": \"array\", \"items\": {\"enum\": [\"x\", \"y\", \"z\", \"rx\", \"ry\", \"rz\"]}, "
                    "\"minItems\": 1, \"uniqueItems\": true"},
    [VALUE_NAME_PAIRS] = {"list of pairs of names", "a list of pairs of names", ACCEPT_LIST,
                          "\"type\": \"array\", \"items\": {\"type\": \"array\", \"items\": {\"type\": \"string\"}, "
                          "\"minItems\": 2, \"maxItems\": 2}"},
    [VALUE_LIMITS] = {"pair, or list of pairs", "a pair [low, high], or a list of pairs", ACCEPT_LIST,
                      "\"type\": \"array\", \"minItems\": 1, \"maxItems\": 6, \"items\": {\"anyOf\": "
                      "[{" JSON_OPEN_NUMBER "}, {\"type\": \"array\", \"items\": {" JSON_OPEN_NUMBER
                      "}, \"minItems\": 2, \"maxItems\": 2}]}"},
    [VALUE_COLOR] = {"[r, g, b] or \"#rrggbb\"", "[r, g, b] or \"#rrggbb\"", ACCEPT_SCALAR | ACCEPT_LIST,
                     "\"anyOf\": [{\"type\": \"string\", \"pattern\": \"^#[0-9a-fA-F]{6}$\"}, {\"type\": \"array\", "
                     "\"items\": {\"type\": \"number\", \"minimum\": 0, \"maximum\": 1}, \"minItems\": 3, "
                     "\"maxItems\": 3}]"},
    [VALUE_COUNT] = {"integer, or list of up to 3", "a whole number, or a list of up to 3 whole numbers",
                     ACCEPT_SCALAR | ACCEPT_LIST,
                     "\"anyOf\": [{" JSON_COUNT "}, {\"type\": \"array\", \"items\": {" JSON_COUNT
                     "}, \"minItems\": 1, \"maxItems\": 3}]"},
    [VALUE_STEPS] = {"3 numbers, or list of such", "a list of 3 numbers, or a list of such lists", ACCEPT_LIST,
                     "\"anyOf\": [{" JSON_VECTOR "}, {\"type\": \"array\", \"items\": {" JSON_VECTOR
                     "}, \"minItems\": 1, \"maxItems\": 3}]"},
    [VALUE_INCREMENTS] = {"list of numbers, or list of such", "a list of numbers, or a list of such lists", ACCEPT_LIST,
                          "\"anyOf\": [{" JSON_NUMBERS "}, {\"type\": \"array\", \"items\": {" JSON_NUMBERS "}}]"},
    [VALUE_SIGNAL] = {"number, list or signal", "a number, a list of numbers or a map",
                      ACCEPT_SCALAR | ACCEPT_LIST | ACCEPT_MAP,
                      "\"anyOf\": [{" JSON_ANY_NUMBER "}, {" JSON_NUMBERS
                      ", \"minItems\": 1, \"maxItems\": 6}, {\"$ref\": \"#/definitions/signal\"}]"},
    [VALUE_SERIES] = {"list of numbers", "a list of numbers", ACCEPT_LIST, JSON_NUMBERS ", \"minItems\": 1"},
    [VALUE_TABLE] = {"list of lists of numbers", "a list of numbers, or of lists of numbers", ACCEPT_LIST,
                     "\"type\": \"array\", \"minItems\": 1, \"items\": {\"type\": [\"number\", \"string\", "
                     "\"array\"], " JSON_PATTERN ", \"items\": "
                     "{" JSON_ANY_NUMBER "}}"},
    [VALUE_TERMS] = {"list of sines, or list of such", "a list of sines, or a list of such lists", ACCEPT_LIST,
                     "\"type\": \"array\", \"items\": {\"anyOf\": [@O, {\"type\": \"array\", \"items\": @O}]}"},
    [VALUE_INTEGERS] = {"list of integers", "a list of whole numbers", ACCEPT_LIST,
                        "\"type\": \"array\", \"items\": {\"type\": \"integer\"@R}, \"minItems\": 1"},
    [VALUE_CONNECT] = {"true, false or `keep`", "true, false or keep", ACCEPT_SCALAR,
                       "\"anyOf\": [{\"type\": \"boolean\"}, {\"enum\": [\"keep\"]}]"},
    [VALUE_ANYTHING] = {"list of values", "a list", ACCEPT_LIST, "\"type\": \"array\", \"minItems\": 1"},
    [VALUE_VARIABLES] = {"map of numbers by name", "a map", ACCEPT_MAP,
                         "\"type\": \"object\", \"additionalProperties\": {" JSON_ANY_NUMBER "}"},
    [VALUE_SCENE] = {"path, or [scene](scene-format.md)", "the path of a scene, or a scene", ACCEPT_SCALAR | ACCEPT_MAP,
                     "\"anyOf\": [{\"type\": \"string\"}, {\"$ref\": \"#/definitions/scene\"}]"},
};

const char* value_kind_title(ValueKind kind) {
  assert((unsigned)kind < VALUE_KIND_COUNT);
  return KINDS[kind].title;
}

const char* value_kind_expected(ValueKind kind) {
  assert((unsigned)kind < VALUE_KIND_COUNT);
  return KINDS[kind].expected;
}

bool value_kind_accepts(ValueKind kind, const Node* node) {
  assert((unsigned)kind < VALUE_KIND_COUNT);
  unsigned accepted = node->kind == NODE_SCALAR ? ACCEPT_SCALAR : node->kind == NODE_LIST ? ACCEPT_LIST : ACCEPT_MAP;
  return (KINDS[kind].accepts & accepted) != 0;
}

/* ---------------------------------------------------------------- JSON Schema */

static void add_bound(Text* out, const char* name, const char* open_name, bool open, double value) {
  if (!isfinite(value)) return;
  text_add(out, ", \"%s\": ", open ? open_name : name);
  text_add_double(out, value);
}

static void add_range(const ValueRange* range, Text* out) {
  if (!range->given) return;
  add_bound(out, "minimum", "exclusiveMinimum", range->low_open, range->low);
  add_bound(out, "maximum", "exclusiveMaximum", range->high_open, range->high);
}

static void add_words(const char* words, Text* out) {
  for (int i = 0; i < words_count(words); i++) {
    if (i > 0) text_add(out, ", ");
    text_add_json_string(out, words_at(words, i).text);
  }
}

void value_kind_add_json(const SchemaRow* row, Text* out) {
  for (const char* p = KINDS[row->kind].json; *p;) {
    size_t plain = strcspn(p, "@");
    text_add_bytes(out, p, plain);
    p += plain;
    if (*p == '\0') return;
    if (p[1] == 'R') add_range(&row->range, out);
    if (p[1] == 'O') text_add(out, "{\"$ref\": \"#/definitions/%s\"}", row->of);
    if (p[1] == 'C') add_words(row->of, out);
    p += 2;
  }
}
