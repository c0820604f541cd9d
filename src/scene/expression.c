#include "scene/expression.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Largest nesting depth of brackets and signs in an expression. */
#define DEPTH_MAX 30
/* Largest absolute value in an integer expression. Products of two such values fit in 64 bits. */
#define INTEGER_MAX ((int64_t)1 << 31)

#define WORD_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"

/* ---------------------------------------------------------------- variables */

void variables_free(Variables* variables) {
  for (int i = 0; i < variables->names.count; i++) memory_free((char*)variables->names.texts[i]);
  names_free(&variables->names);
  memory_free(variables->values);
  *variables = (Variables){0};
}

bool variables_add(Variables* variables, const char* name, double value) {
  assert(name);
  static const char RESERVED[] = "i|j|k|n|pi|sqrt|sin|cos|tan|abs|min|max|floor";
  bool word = *name && !name[strspn(name, WORD_LETTERS)] && !(*name >= '0' && *name <= '9');
  if (!word || words_index(RESERVED, name) >= 0 || names_find(&variables->names, name) >= 0) return false;
  variables->values = memory_grow_array(variables->values, sizeof(double), variables->count, &variables->capacity);
  variables->values[variables->count] = value;
  names_add(&variables->names, memory_copy_text(name), variables->count++);
  return true;
}

enum { NAME_SIZE = 64 };

static bool find_variable(const Variables* variables, const char* name, size_t length, double* value) {
  char text[NAME_SIZE];
  if (!variables || length == 0 || length >= NAME_SIZE) return false;
  memcpy(text, name, length);
  text[length] = '\0';
  int index = names_find(&variables->names, text);
  if (index >= 0) *value = variables->values[index];
  return index >= 0;
}

/* ---------------------------------------------------------------- integer expressions, in names */

typedef struct {
  const char* cursor;
  const RepeatIndices* indices;
  const Variables* variables;
  const char* problem; /* message about the first error, or NULL */
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

static int64_t check_bounds(ExpressionParser* parser, int64_t value) {
  return value > -INTEGER_MAX && value < INTEGER_MAX ? value : fail(parser, "the number in {} is too large");
}

static int64_t read_number(ExpressionParser* parser) {
  int64_t value = 0;
  while (*parser->cursor >= '0' && *parser->cursor <= '9')
    value = check_bounds(parser, 10 * value + (*parser->cursor++ - '0'));
  return value;
}

/* Reads the name of a variable and returns its integer value. Returns -INTEGER_MAX if no variable name begins at the
 * cursor. */
static int64_t read_variable_name(ExpressionParser* parser) {
  size_t length = strspn(parser->cursor, WORD_LETTERS);
  double value;
  if (!find_variable(parser->variables, parser->cursor, length, &value)) return -INTEGER_MAX;
  parser->cursor += length;
  if (value != floor(value) || !(fabs(value) < (double)INTEGER_MAX))
    return fail(parser, "a variable inside the {} of a name must be a whole number");
  return (int64_t)value;
}

static int64_t read_variable(ExpressionParser* parser) {
  const RepeatIndices* indices = parser->indices;
  int64_t named = read_variable_name(parser);
  if (named != -INTEGER_MAX) return named;
  if (!indices) return fail(parser, "an expression in {} needs 'repeat' in the same item");
  char name = *parser->cursor++;
  if (name == 'n') return indices->n;
  int axis = name - 'i';
  if (axis < 0 || axis > 2) return fail(parser, "expected a number, i, j, k or n inside {}");
  if (axis >= indices->axis_count) return fail(parser, "the index in {} needs a repeat.count with more axes");
  return (int64_t)indices->step[axis] + indices->start;
}

static int64_t read_sum(ExpressionParser* parser);

static int64_t read_factor(ExpressionParser* parser) {
  char c = peek(parser);
  if (parser->nesting >= DEPTH_MAX) return fail(parser, "the expression in {} is nested too deeply");
  if (c >= '0' && c <= '9') return read_number(parser);
  if (c != '(' && c != '-') return c ? read_variable(parser) : fail(parser, "the expression in {} is incomplete");
  parser->cursor++;
  parser->nesting++;
  int64_t value = c == '-' ? -read_factor(parser) : read_sum(parser);
  parser->nesting--;
  if (c == '(' && peek(parser) != ')') return fail(parser, "a bracket in {} is not closed");
  if (c == '(') parser->cursor++;
  return value;
}

static int64_t floor_divide(int64_t a, int64_t b) {
  assert(b != 0);
  int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

static int64_t read_product(ExpressionParser* parser) {
  int64_t value = read_factor(parser);
  for (char c = peek(parser); !parser->problem && (c == '*' || c == '/' || c == '%'); c = peek(parser)) {
    parser->cursor++;
    int64_t other = read_factor(parser);
    if (c != '*' && other == 0) return fail(parser, "division by zero in {}");
    if (c == '*') value = check_bounds(parser, value * other);
    if (c == '/') value = floor_divide(value, other);
    if (c == '%') value -= other * floor_divide(value, other);
  }
  return value;
}

static int64_t read_sum(ExpressionParser* parser) {
  int64_t value = read_product(parser);
  for (char c = peek(parser); !parser->problem && (c == '+' || c == '-'); c = peek(parser)) {
    parser->cursor++;
    int64_t other = read_product(parser);
    value = check_bounds(parser, c == '+' ? value + other : value - other);
  }
  return value;
}

bool expression_expand(const char* text, const RepeatIndices* indices, const Variables* variables, Text* out,
                       const char** problem) {
  assert(text && out && problem);
  text_add_bytes(out, "", 0);
  for (;;) {
    size_t plain = strcspn(text, "{}");
    text_add_bytes(out, text, plain);
    text += plain;
    *problem = NULL;
    if (*text == '\0') return true;
    if (*text == '}') *problem = "a } has no matching {";
    bool bare = !indices && (!variables || variables->count == 0);
    if (*text == '{' && bare) *problem = "an expression in {} needs 'repeat' in the same item";
    if (*problem) return false;
    ExpressionParser parser = {.cursor = text + 1, .indices = indices, .variables = variables};
    int64_t value = read_sum(&parser);
    if (!parser.problem && peek(&parser) != '}') fail(&parser, "expected + - * / % or } inside {}");
    *problem = parser.problem;
    if (*problem) return false;
    text_add(out, "%lld", (long long)value);
    text = parser.cursor + 1;
  }
}

/* ---------------------------------------------------------------- number expressions */

static double fail_number(ExpressionParser* parser, const char* problem) { return (double)fail(parser, problem); }

static double read_terms(ExpressionParser* parser);

/* Reads the arguments of a function into arguments[], at most two. Returns the number of arguments in the text. */
static int read_arguments(ExpressionParser* parser, double arguments[2]) {
  int count = 0;
  if (peek(parser) != '(') return 0;
  do {
    parser->cursor++;
    double value = read_terms(parser);
    if (count < 2) arguments[count] = value;
    count++;
  } while (!parser->problem && peek(parser) == ',');
  if (peek(parser) == ')')
    parser->cursor++;
  else
    fail_number(parser, "a bracket in {} is not closed");
  return count;
}

static double call_function(ExpressionParser* parser, int function) {
  double a[2] = {0, 0};
  int count = read_arguments(parser, a), wanted = function == 5 || function == 6 ? 2 : 1;
  if (count != wanted) return fail_number(parser, "a function in {} has the wrong number of arguments");
  switch (function) {
    case 0:
      return sqrt(a[0]);
    case 1:
      return math_sin(a[0]);
    case 2:
      return math_cos(a[0]);
    case 3:
      return math_sin(a[0]) / math_cos(a[0]);
    case 4:
      return fabs(a[0]);
    case 5:
      return fmin(a[0], a[1]);
    case 6:
      return fmax(a[0], a[1]);
    default:
      return floor(a[0]);
  }
}

/* Sets *value to an index of the repeat if a name (length characters) is i, j, k or n. Otherwise returns false. */
static bool find_repeat_index(ExpressionParser* parser, const char* name, size_t length, double* value) {
  const RepeatIndices* indices = parser->indices;
  if (length != 1 || !indices) return false;
  int axis = *name - 'i';
  if (*name == 'n') *value = indices->n;
  if (*name == 'n') return true;
  if (axis < 0 || axis > 2) return false;
  if (axis >= indices->axis_count) {
    fail_number(parser, "the index in {} needs a repeat.count with more axes");
    return true;
  }
  *value = (double)indices->step[axis] + indices->start;
  return true;
}

static double read_word_value(ExpressionParser* parser) {
  const char* name = parser->cursor;
  size_t length = strspn(name, WORD_LETTERS);
  char word[NAME_SIZE] = "";
  double value = 0;
  if (length == 0) return fail_number(parser, "expected a number or a name inside {}");
  parser->cursor += length;
  if (length < NAME_SIZE) memcpy(word, name, length);
  int function = words_index("sqrt|sin|cos|tan|abs|min|max|floor", word);
  if (function >= 0) return call_function(parser, function);
  if (strcmp(word, "pi") == 0) return 3.14159265358979324;
  if (find_repeat_index(parser, name, length, &value) || find_variable(parser->variables, name, length, &value))
    return value;
  return fail_number(parser, "{} contains a name that 'variables' does not define");
}

static double read_signed(ExpressionParser* parser);

static double read_atom(ExpressionParser* parser) {
  char c = peek(parser);
  if ((c >= '0' && c <= '9') || c == '.') {
    char* end;
    double value = strtod(parser->cursor, &end);
    if (end == parser->cursor) return fail_number(parser, "expected a number inside {}");
    parser->cursor = end;
    return value;
  }
  if (c != '(') return read_word_value(parser);
  parser->cursor++;
  double value = read_terms(parser);
  if (peek(parser) != ')') return fail_number(parser, "a bracket in {} is not closed");
  parser->cursor++;
  return value;
}

static double read_power(ExpressionParser* parser) {
  double base = read_atom(parser);
  if (peek(parser) != '^') return base;
  parser->cursor++;
  return math_pow(base, read_signed(parser));
}

static double read_signed(ExpressionParser* parser) {
  if (parser->nesting >= DEPTH_MAX) return fail_number(parser, "the expression in {} is nested too deeply");
  parser->nesting++;
  double value;
  if (peek(parser) == '-') {
    parser->cursor++;
    value = -read_signed(parser);
  } else {
    value = read_power(parser);
  }
  parser->nesting--;
  return value;
}

static double read_factors(ExpressionParser* parser) {
  double value = read_signed(parser);
  for (char c = peek(parser); !parser->problem && (c == '*' || c == '/' || c == '%'); c = peek(parser)) {
    parser->cursor++;
    double other = read_signed(parser);
    if (c == '*') value *= other;
    if (c == '/') value /= other;
    if (c == '%') value -= other * floor(value / other);
  }
  return value;
}

static double read_terms(ExpressionParser* parser) {
  double value = read_factors(parser);
  for (char c = peek(parser); !parser->problem && (c == '+' || c == '-'); c = peek(parser)) {
    parser->cursor++;
    double other = read_factors(parser);
    value = c == '+' ? value + other : value - other;
  }
  return value;
}

bool expression_evaluate(const char* text, const RepeatIndices* indices, const Variables* variables, double* value,
                         const char** problem) {
  assert(text && value && problem);
  ExpressionParser parser = {.cursor = text + 1, .indices = indices, .variables = variables};
  *value = *text == '{' ? read_terms(&parser) : 0;
  if (!parser.problem && (peek(&parser) != '}' || parser.cursor[1]))
    fail_number(&parser, "expected an operator or } at the end of {}");
  if (!parser.problem && !isfinite(*value)) fail_number(&parser, "the value of {} is not finite");
  *problem = parser.problem;
  return !parser.problem;
}
