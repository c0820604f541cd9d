#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "app/command.h"

bool color_wanted(FILE* stream) {
  const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
  if (no_color && *no_color) return false;
  if (!terminal || strcmp(terminal, "dumb") == 0) return false;
  return isatty(fileno(stream)) == 1;
}

void print_diagnostics(const Options* options, Diagnostics* diagnostics) {
  if (diagnostics->count == 0) return;
  if (!options->quiet) {
    diagnostics_print(diagnostics, stderr, color_wanted(stderr));
    return;
  }
  Diagnostics errors = {0};
  for (int i = 0; i < diagnostics->count; i++) {
    const Diagnostic* item = &diagnostics->items[i];
    if (item->severity != SEVERITY_ERROR) continue;
    diagnostics_add(&errors, item->severity, (SourcePlace){item->file, item->line, item->column}, "%s", item->text);
  }
  diagnostics_print(&errors, stderr, color_wanted(stderr));
  diagnostics_free(&errors);
}

void json_diagnostics(Json* json, const char* key, const Diagnostics* diagnostics) {
  static const char* const names[] = {
      [SEVERITY_ERROR] = "error", [SEVERITY_WARNING] = "warning", [SEVERITY_NOTE] = "note"};
  json_open(json, key, '[');
  for (int i = 0; i < diagnostics->count; i++) {
    const Diagnostic* item = &diagnostics->items[i];
    json_open(json, NULL, '{');
    json_text(json, "severity", names[item->severity]);
    json_text(json, "file", item->file);
    json_integer(json, "line", item->line);
    json_integer(json, "column", item->column);
    json_text(json, "message", item->text);
    json_close(json, '}');
  }
  json_close(json, ']');
}

static void print_message(const Options* options, const char* format, va_list arguments) {
  Text text = {0};
  text_add(&text, "sdrs %s: error: ", options->verb->name);
  text_add_v(&text, format, arguments);
  fprintf(stderr, "%s\n", text.data);
  text_free(&text);
}

void command_error(const Options* options, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_message(options, format, arguments);
  va_end(arguments);
}

ExitCode usage_error(const Options* options, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_message(options, format, arguments);
  va_end(arguments);
  fprintf(stderr, "See 'sdrs %s --help'.\n", options->verb->name);
  return EXIT_USAGE;
}
