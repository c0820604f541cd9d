#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "app/command.h"

bool stream_has_color(FILE* stream) {
  const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
  if (no_color && *no_color) return false;
  if (!terminal || strcmp(terminal, "dumb") == 0) return false;
  return isatty(fileno(stream)) == 1;
}

void print_diagnostics(const Options* options, Diagnostics* diagnostics) {
  if (diagnostics->count == 0) return;
  if (!options->quiet) {
    diagnostics_print(diagnostics, stderr, stream_has_color(stderr));
    return;
  }
  Diagnostics errors = {0};
  for (int i = 0; i < diagnostics->count; i++) {
    const Diagnostic* item = &diagnostics->items[i];
    if (item->severity != SEVERITY_ERROR) continue;
    diagnostics_add(&errors, item->severity, (SourcePosition){item->file, item->line, item->column}, "%s", item->text);
  }
  diagnostics_print(&errors, stderr, stream_has_color(stderr));
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
  text_add_va_list(&text, format, arguments);
  fprintf(stderr, "%s\n", text.data);
  text_free(&text);
}

/* Relative imbalances of forces up to this value are not reported, because gradients are not more accurate. */
#define IMBALANCE_REPORTED 1e-8
/* The warning calls a relative imbalance of forces below this value harmless (docs/tutorials/first-design.md). */
#define IMBALANCE_HARMLESS 1e-6

/* An imbalance is not reported if it changes speeds by less than tolerance * rest_speed. A robot at rest without
 * gravity has only forces from rounding errors. */
void warn_unconverged(const Options* options, const char* name, const Model* model, const UnconvergedSteps* u,
                      double tolerance) {
  assert(tolerance > 0);
  double ignored = tolerance * model->contact.rest_speed;
  if (options->quiet || u->steps == 0 || !(u->residual > fmax(tolerance, IMBALANCE_REPORTED)) || u->speed <= ignored)
    return;
  fprintf(stderr,
          "%s: warning: %d step%s did not reach the tolerance %.3g: rounding errors leave a relative imbalance of "
          "forces of up to %.3g",
          name, u->steps, u->steps == 1 ? "" : "s", tolerance, u->residual);
  if (u->dof >= 0) fprintf(stderr, " at link '%s'", model->links[model->dof_link[u->dof]].name);
  fprintf(stderr,
          " at t = %.6g s (outcome rounding_floor in solver.csv).%s To accept the imbalance, raise the tolerance above "
          "the imbalance; to reduce the imbalance, move bodies nearer to the origins of their joints and of the world, "
          "or raise simulation.dt or contact.barrier_distance\n",
          u->time, u->residual < IMBALANCE_HARMLESS ? " An imbalance below 1e-6 is harmless." : "");
}

void warn_friction_open(const Options* options, const char* name, const Model* model, const UnconvergedSteps* u) {
  if (options->quiet || u->friction_open == 0) return;
  fprintf(stderr,
          "%s: warning: in %d step%s, first at t = %.6g s between '%s' and '%s', friction did not converge within "
          "contact.friction_iterations = %d, so the last iterate was used: reduce simulation.dt or raise "
          "contact.friction_iterations\n",
          name, u->friction_open, u->friction_open == 1 ? "" : "s", u->friction_time,
          model->links[u->friction_links[0]].name, model->links[u->friction_links[1]].name,
          model->contact.friction_iterations);
}

/* Late friction (friction that acts one step late) is reported if it changes a speed by more than this multiple of the
 * rest speed. The default rest speed is 0.002 of the scene's typical speed, so this is 5 % of the typical speed. */
#define LATE_FRICTION_REPORTED 25.0

void warn_late_friction(const Options* options, const char* name, const Model* model, const UnconvergedSteps* u) {
  double rest = model->contact.rest_speed;
  if (options->quiet || !(rest > 0) || !(u->late_friction > LATE_FRICTION_REPORTED * rest)) return;
  bool pays = contact_keeps_account(model);
  const char* what = pays ? "bodies leave contact before friction has applied its full impulse"
                          : "friction acts one time step late in impacts, so that bodies may tip or hop";
  bool given = model->contact.friction_iterations > 0; /* friction acts one step late if bodies rotate too far in a step
                                                          for the solves with updated normal forces (friction.md, F8) */
  const char* remedy = given ? "A body rotated too far in the step for friction iterations: reduce simulation.dt, or "
                               "give --set contact.friction_iterations=null (the default)"
                       : !pays && model->contact.friction_iterations == 0 && !model->contact.bounces
                           ? "Give --set contact.friction_iterations=null (the default) to compute friction from the "
                             "contact force of the same step"
                           : "Give --set contact.friction_iterations=20 to compute friction from the contact force of "
                             "the same step; scenes with many impacts then take up to 2.5 times as long";
  fprintf(stderr, "%s: warning: %s (change of speed up to %.3g m/s, between '%s' and '%s' at t = %.6g s). %s\n", name,
          what, u->late_friction, model->links[u->late_links[0]].name, model->links[u->late_links[1]].name,
          u->late_time, remedy);
}

void warn_overridden_tolerance(const Options* options, const char* rule) {
  static const char key[] = "simulation.tolerance=";
  for (int k = 0; k < options->override_count && !options->quiet; k++) {
    const char *text = options->overrides[k].text, *found = strstr(text, key);
    if (!found || strcspn(text, "=") != (size_t)(found - text) + strlen(key) - 1) continue;
    fprintf(stderr, "sdrs %s: warning: --set %s has no effect: %s\n", options->verb->name, text, rule);
  }
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
