#include <assert.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "run/run.h"

/* ---------------------------------------------------------------- choice of columns */

/* Returns true if a name matches one of the comma-separated shell patterns. `*` also matches '/'. */
static bool is_selected(const char* name, const char* patterns) {
  if (!patterns) return true;
  char *copy = memory_copy_text(patterns), *rest = copy;
  bool selected = false;
  for (char* pattern; !selected && (pattern = strsep(&rest, ","));) selected = fnmatch(pattern, name, 0) == 0;
  memory_free(copy);
  return selected;
}

/* Returns the index of the column of `table` with this name. Tries the index `position` first, because the columns of
 * two compared files nearly always have the same order. */
static int find_column(const CsvTable* table, const char* name, int position) {
  if (position < table->column_count && strcmp(table->names[position], name) == 0) return position;
  return csv_find_column(table, name);
}

/* Columns that one of the two tables lacks: their number, and the names of the first few columns. */
typedef struct {
  Text names;
  int count;
} MissingColumns;

enum { LISTED_NAMES_MAX = 3 };

static void append_missing(MissingColumns* missing, const char* name) {
  if (missing->count < LISTED_NAMES_MAX) text_add(&missing->names, "%s'%s'", missing->count > 0 ? ", " : "", name);
  missing->count++;
}

/* Reports all columns that a table lacks in one message, and frees the names. Returns true if no column is missing. */
static bool report_missing(MissingColumns* missing, const char* file, const char* other, Diagnostics* diagnostics) {
  int count = missing->count, more = count - LISTED_NAMES_MAX;
  if (count > 0) {
    if (more > 0) text_add(&missing->names, " and %d more", more);
    diagnostics_add(
        diagnostics, SEVERITY_ERROR, (SourcePosition){file, 1, 0},
        "no column%s %s, which %s has: compare tables with the same columns, or select common columns by --columns",
        count > 1 ? "s" : "", missing->names.data, other);
  }
  text_free(&missing->names);
  return count == 0;
}

/* Pairs the columns of two tables by name. partner[i] becomes the column of b with the name of column i of a, or -1 if
 * column i is not compared. Returns false if the selected columns of the tables differ. */
static bool match_columns(int* partner, const CsvTable* a, const char* name_a, const CsvTable* b, const char* name_b,
                          const char* patterns, Diagnostics* diagnostics) {
  MissingColumns in_a = {0}, in_b = {0};
  int selected = 0;
  for (int i = 0; i < a->column_count; i++) {
    partner[i] = -1;
    if (!is_selected(a->names[i], patterns)) continue;
    selected++;
    partner[i] = find_column(b, a->names[i], i);
    if (partner[i] < 0) append_missing(&in_b, a->names[i]);
  }
  for (int i = 0; i < b->column_count; i++)
    if (is_selected(b->names[i], patterns) && find_column(a, b->names[i], i) < 0) append_missing(&in_a, b->names[i]);
  if (selected == 0 && in_a.count == 0)
    diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){name_a, 1, 0},
                    "no column matches '%s': line 1 of the file lists the columns", patterns);
  bool all_in_b = report_missing(&in_b, name_b, name_a, diagnostics);
  bool all_in_a = report_missing(&in_a, name_a, name_b, diagnostics);
  return selected > 0 && all_in_a && all_in_b;
}

/* ---------------------------------------------------------------- one cell */

static bool read_number(const char* cell, double* value) {
  char* end;
  *value = strtod(cell, &end);
  return end != cell && *end == '\0';
}

/* Returns |a - b| for the numbers in two cells. Sets *size to the larger of |a| and |b|. Returns infinity for different
 * values that cannot be subtracted. */
static double cell_difference(const char* a, const char* b, double* size) {
  double x, y;
  *size = 0.0;
  if (strcmp(a, b) == 0) return 0.0;
  if (!read_number(a, &x) || !read_number(b, &y)) return INFINITY;
  if (isnan(x) || isnan(y)) return isnan(x) && isnan(y) ? 0.0 : (double)INFINITY;
  if (x == y) return 0.0;
  if (isinf(x) || isinf(y)) return INFINITY;
  *size = fmax(fabs(x), fabs(y));
  return fabs(x - y);
}

static void update_worst(CompareWorst* worst, double value, int column, int row) {
  if (worst->column < 0 || value > worst->value) *worst = (CompareWorst){value, column, row};
}

static void compare_cell(Comparison* comparison, const char* a, const char* b, int column, int row) {
  double size, difference = cell_difference(a, b, &size);
  comparison->values++;
  if (difference == 0.0) return;
  double allowed = comparison->abs + comparison->rel * size;
  comparison->different++;
  comparison->outside += !(difference <= allowed);
  update_worst(&comparison->worst_absolute, difference, column, row);
  update_worst(&comparison->worst_relative, size > 0.0 ? difference / size : (double)INFINITY, column, row);
  update_worst(&comparison->worst, allowed > 0.0 ? difference / allowed : (double)INFINITY, column, row);
}

/* ---------------------------------------------------------------- comparison of two tables */

Status csv_compare(Comparison* comparison, const CsvTable* a, const char* name_a, const CsvTable* b, const char* name_b,
                   const char* columns, double abs, double rel, Diagnostics* diagnostics) {
  const CompareWorst nowhere = {0.0, -1, -1};
  *comparison =
      (Comparison){.abs = abs, .rel = rel, .worst_absolute = nowhere, .worst_relative = nowhere, .worst = nowhere};
  int* partner = MEMORY_NEW(int, a->column_count);
  bool matched = match_columns(partner, a, name_a, b, name_b, columns, diagnostics);
  if (a->row_count != b->row_count) {
    matched = false;
    diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){name_b, 0, 0},
                    "the file has %d rows, but %s has %d: compare tables with the same number of rows", b->row_count,
                    name_a, a->row_count);
  }
  for (int row = 0; matched && row < a->row_count; row++)
    for (int i = 0; i < a->column_count; i++)
      if (partner[i] >= 0)
        compare_cell(comparison, a->cells[(size_t)row * (size_t)a->column_count + (size_t)i],
                     b->cells[(size_t)row * (size_t)b->column_count + (size_t)partner[i]], i, row);
  memory_free(partner);
  return matched ? STATUS_OK : STATUS_BAD_INPUT;
}
