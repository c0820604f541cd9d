/* sdrs compare A.csv B.csv: the largest difference between two tables. */
#include <stdlib.h>
#include <string.h>
#include "app/command.h"

/* Returns the time of a row as text, or NULL if the table has no column `time`. */
static const char* row_time(const CsvTable* table, int row) {
  int column = csv_find_column(table, "time");
  return column < 0 ? NULL : table->cells[(size_t)row * (size_t)table->column_count + (size_t)column];
}

typedef struct {
  const CsvTable *a, *b;
  const Comparison* comparison;
} Report;

static const char* cell_of_b(const Report* report, CompareWorst at) {
  int column = csv_find_column(report->b, report->a->names[at.column]);
  return report->b->cells[(size_t)at.row * (size_t)report->b->column_count + (size_t)column];
}

static const char* cell_of_a(const Report* report, CompareWorst at) {
  return report->a->cells[(size_t)at.row * (size_t)report->a->column_count + (size_t)at.column];
}

static void print_worst(const Report* report, const char* name, CompareWorst at) {
  const char* time = row_time(report->a, at.row);
  printf("%s difference %.6g in %s, row %d%s%s: %s, %s\n", name, at.value, report->a->names[at.column], at.row,
         time ? ", time " : "", time ? time : "", cell_of_a(report, at), cell_of_b(report, at));
}

static void print_text(const Report* report) {
  const Comparison* comparison = report->comparison;
  if (comparison->different == 0) {
    printf("identical: %lld values in %d rows\n", (long long)comparison->values, report->a->row_count);
    return;
  }
  print_worst(report, "largest absolute", comparison->worst_absolute);
  print_worst(report, "largest relative", comparison->worst_relative);
  if (comparison->abs > 0.0 && comparison->rel > 0.0) print_worst(report, "largest in tolerances:", comparison->worst);
  printf("%lld of %lld values differ, %lld by more than %g + %g max(|a|, |b|)\n", (long long)comparison->different,
         (long long)comparison->values, (long long)comparison->outside, comparison->abs, comparison->rel);
}

static void json_worst(Json* json, const char* key, const Report* report, CompareWorst at) {
  if (at.column < 0) {
    json_text(json, key, NULL);
    return;
  }
  const char* time = row_time(report->a, at.row);
  json_open(json, key, '{');
  json_number(json, "difference", at.value);
  json_text(json, "column", report->a->names[at.column]);
  json_integer(json, "row", at.row);
  if (time) json_number(json, "time", strtod(time, NULL));
  json_text(json, "a", cell_of_a(report, at));
  json_text(json, "b", cell_of_b(report, at));
  json_close(json, '}');
}

static void print_json(const Report* report) {
  const Comparison* comparison = report->comparison;
  Text text = {0};
  Json json = {.out = &text};
  json_open(&json, NULL, '{');
  json_bool(&json, "within_tolerance", comparison->outside == 0);
  json_number(&json, "abs", comparison->abs);
  json_number(&json, "rel", comparison->rel);
  json_integer(&json, "values", comparison->values);
  json_integer(&json, "different", comparison->different);
  json_integer(&json, "outside", comparison->outside);
  json_worst(&json, "largest_absolute", report, comparison->worst_absolute);
  json_worst(&json, "largest_relative", report, comparison->worst_relative);
  json_worst(&json, "largest_in_tolerances", report, comparison->worst);
  json_close(&json, '}');
  fputs(text.data, stdout);
  text_free(&text);
}

/* Returns false, with an error, if `path` is a folder. */
static bool is_table(const char* path, Diagnostics* diagnostics) {
  if (!path_is_folder(path)) return true;
  char* table = file_join(path, "trajectory.csv");
  diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){path, 0, 0},
                  "a CSV file is needed, not a folder: give a file of the folder, such as %s", table);
  memory_free(table);
  return false;
}

static Status compare_files(const Options* options, CsvTable* a, CsvTable* b, Comparison* comparison,
                            Diagnostics* diagnostics) {
  bool tables = is_table(options->operands[0], diagnostics);
  if (!is_table(options->operands[1], diagnostics) || !tables) return STATUS_IO;
  Status status_a = csv_read(a, options->operands[0], diagnostics);
  Status status_b = csv_read(b, options->operands[1], diagnostics);
  if (status_a == STATUS_IO || status_b == STATUS_IO) return STATUS_IO;
  if (status_a != STATUS_OK || status_b != STATUS_OK) return STATUS_BAD_INPUT;
  return csv_compare(comparison, a, options->operands[0], b, options->operands[1], option_text(options, "columns"),
                     option_number(options, "abs", 0.0), option_number(options, "rel", 0.0), diagnostics);
}

static ExitCode compare(const Options* options) {
  CsvTable a = {0}, b = {0};
  Comparison comparison = {0};
  Diagnostics diagnostics = {0};
  Status status = compare_files(options, &a, &b, &comparison, &diagnostics);
  Report report = {&a, &b, &comparison};
  print_diagnostics(options, &diagnostics);
  if (status == STATUS_OK && options->json)
    print_json(&report);
  else if (status == STATUS_OK && !options->quiet)
    print_text(&report);
  bool outside = comparison.outside > 0;
  diagnostics_free(&diagnostics);
  csv_free(&a);
  csv_free(&b);
  if (status != STATUS_OK) return status_exit_code(status);
  return outside ? EXIT_CHECK_FAILED : EXIT_DONE;
}

static const OptionRow OPTIONS[] = {
    {"abs", 0, OPTION_NUMBER, "X", "allowed absolute difference (default: 0)"},
    {"rel", 0, OPTION_NUMBER, "X", "allowed relative difference (default: 0)"},
    {"columns", 0, OPTION_TEXT, "LIST", "only these columns: names or patterns, e.g. 'time,box/*'"},
};

const Verb VERB_COMPARE = {
    .name = "compare",
    .operands = "A.csv B.csv",
    .operand_min = 2,
    .operand_max = 2,
    .summary = "worst difference of two CSV files",
    .examples =
        "  sdrs compare out/a/trajectory.csv out/b/trajectory.csv\n"
        "  sdrs compare a.csv b.csv --abs 1e-6 --rel 1e-9\n"
        "  sdrs compare a/solver.csv b/solver.csv --columns 'kinetic,potential' --rel 1e-6 --json\n",
    .details =
        "Two values agree when |a - b| <= abs + rel max(|a|, |b|); without --abs and --rel they must be equal.\n"
        "NaN agrees with NaN only, an infinity with itself only; cells that are not numbers must be the same text.\n"
        "Columns are matched by name. Row 0 is the first row after the header. -q prints nothing but errors.\n"
        "Exit codes: 0 within the tolerance, 1 not, 3 not CSV or other columns or rows, 5 cannot read.\n",
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof OPTIONS[0],
    .serial = true,
    .run = compare,
};
