#include "scene/expression.h"

#include <string.h>

/* Brackets and signs nested deeper than this are no name of a link. */
#define NESTING_MAX 30
/* Larger than any index; keeps products inside 64 bits. */
#define VALUE_MAX ((int64_t)1 << 31)

typedef struct {
  const char* cursor;
  const Indices* indices;
  const char* problem; /* the first, or NULL */
  int nesting;
} ExpressionParser;

static int64_t fail(ExpressionParser* parser, const char* problem) {
  if (!parser->problem) parser->problem = problem;
  return 0;
}

static char peek(ExpressionParser* parser) {
  while (*parser->cursor == ' ') parser->cursor++;
  return *parser->cursor;
}

static int64_t bounded(ExpressionParser* parser, int64_t value) {
  return value > -VALUE_MAX && value < VALUE_MAX ? value : fail(parser, "the number in {} is too large");
}

static int64_t read_number(ExpressionParser* parser) {
  int64_t value = 0;
  while (*parser->cursor >= '0' && *parser->cursor <= '9')
    value = bounded(parser, 10 * value + (*parser->cursor++ - '0'));
  return value;
}

static int64_t read_variable(ExpressionParser* parser) {
  const Indices* indices = parser->indices;
  char name = *parser->cursor++;
  if (name == 'n') return indices->n;
  int axis = name - 'i';
  if (axis < 0 || axis > 2) return fail(parser, "expected a number, i, j, k or n inside {}");
  if (axis >= indices->axis_count) return fail(parser, "{} names an index that the repeat's count does not have");
  return (int64_t)indices->step[axis] + indices->start;
}

static int64_t read_sum(ExpressionParser* parser);

static int64_t read_factor(ExpressionParser* parser) {
  char c = peek(parser);
  if (parser->nesting >= NESTING_MAX) return fail(parser, "the expression in {} is nested too deeply");
  if (c >= '0' && c <= '9') return read_number(parser);
  if (c != '(' && c != '-') return c ? read_variable(parser) : fail(parser, "the text in {} ends too early");
  parser->cursor++;
  parser->nesting++;
  int64_t value = c == '-' ? -read_factor(parser) : read_sum(parser);
  parser->nesting--;
  if (c == '(' && peek(parser) != ')') return fail(parser, "a bracket in {} is not closed");
  if (c == '(') parser->cursor++;
  return value;
}

static int64_t divide_down(int64_t a, int64_t b) {
  int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

static int64_t read_product(ExpressionParser* parser) {
  int64_t value = read_factor(parser);
  for (char c = peek(parser); !parser->problem && (c == '*' || c == '/' || c == '%'); c = peek(parser)) {
    parser->cursor++;
    int64_t other = read_factor(parser);
    if (c != '*' && other == 0) return fail(parser, "division by zero in {}");
    if (c == '*') value = bounded(parser, value * other);
    if (c == '/') value = divide_down(value, other);
    if (c == '%') value -= other * divide_down(value, other);
  }
  return value;
}

static int64_t read_sum(ExpressionParser* parser) {
  int64_t value = read_product(parser);
  for (char c = peek(parser); !parser->problem && (c == '+' || c == '-'); c = peek(parser)) {
    parser->cursor++;
    int64_t other = read_product(parser);
    value = bounded(parser, c == '+' ? value + other : value - other);
  }
  return value;
}

bool expression_expand(const char* text, const Indices* indices, Text* out, const char** problem) {
  text_add_bytes(out, "", 0);
  for (;;) {
    size_t plain = strcspn(text, "{}");
    text_add_bytes(out, text, plain);
    text += plain;
    *problem = NULL;
    if (*text == '\0') return true;
    if (*text == '}') *problem = "a } without its {";
    if (*text == '{' && !indices) *problem = "{} has a meaning only inside a repeat";
    if (*problem) return false;
    ExpressionParser parser = {.cursor = text + 1, .indices = indices};
    int64_t value = read_sum(&parser);
    if (!parser.problem && peek(&parser) != '}') fail(&parser, "expected + - * / % or } inside {}");
    *problem = parser.problem;
    if (*problem) return false;
    text_add(out, "%lld", (long long)value);
    text = parser.cursor + 1;
  }
}
