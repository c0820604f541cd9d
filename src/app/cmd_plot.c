/* sdrs plot RUN...|FILE.csv: draws diagrams of recorded quantities with gnuplot. */
#include <string.h>
#include <unistd.h>
#include "app/command.h"

/* Smallest and largest side of a picture [px]. */
enum { SIDE_MIN = 100, SIDE_MAX = 8192 };

static bool ends_with(const char* text, const char* end) {
  size_t length = strlen(text), tail = strlen(end);
  return length >= tail && strcmp(text + length - tail, end) == 0;
}

static bool is_plot(const char* name) {
  for (int i = 0; plot_name(i); i++)
    if (strcmp(plot_name(i), name) == 0) return true;
  return false;
}

/* Returns the name of the requested plot: the last operand, unless it is a run folder. Returns NULL if all plots are
 * requested. */
static const char* requested_plot(const Options* options) {
  const char* last = options->operands[options->operand_count - 1];
  return options->operand_count > 1 && (is_plot(last) || !path_is_folder(last)) ? last : NULL;
}

static ExitCode report_unknown_plot(const Options* options, const char* name) {
  Text known = {0};
  for (int i = 0; plot_name(i); i++) text_add(&known, "%s%s", i ? ", " : "", plot_name(i));
  ExitCode code =
      usage_error(options, "no plot is named '%s': use one of %s, or no name for all of them", name, known.data);
  text_free(&known);
  return code;
}

static ExitCode read_options(const Options* options, PlotOptions* plot) {
  const char *size = option_text(options, "size"), *target = options->folder;
  const char* what = requested_plot(options);
  char tail;
  *plot = plot_defaults(what == NULL && !option_given(options, "columns"));
  plot->log_y = option_given(options, "log");
  plot->log_x = option_given(options, "log-x");
  plot->x = option_text(options, "x");
  plot->by = option_text(options, "by");
  plot->title = option_text(options, "title");
  plot->x_label = option_text(options, "x-label");
  plot->y_label = option_text(options, "y-label");
  if (size && (sscanf(size, "%dx%d%c", &plot->width, &plot->height, &tail) != 2 || plot->width < SIDE_MIN ||
               plot->height < SIDE_MIN || plot->width > SIDE_MAX || plot->height > SIDE_MAX))
    return usage_error(options, "--size needs WIDTHxHEIGHT in pixels, %d to %d each, got '%s'", SIDE_MIN, SIDE_MAX,
                       size);
  if (target && !ends_with(target, ".png") && !ends_with(target, ".svg") && !ends_with(target, ".pdf"))
    return usage_error(options, "-o must name a picture (.png, .svg or .pdf), got '%s'", target);
  if (what && !is_plot(what)) return report_unknown_plot(options, what);
  if (what && option_given(options, "columns"))
    return usage_error(options, "'%s' and --columns exclude each other: remove one of the two", what);
  static const char* const of_columns[] = {"x", "by", "log-x", "title", "x-label", "y-label"};
  for (size_t i = 0; i < sizeof of_columns / sizeof of_columns[0]; i++)
    if (option_given(options, of_columns[i]) && !option_given(options, "columns"))
      return usage_error(options, "--%s applies to --columns only: add --columns", of_columns[i]);
  if (!path_is_folder(options->operands[0]) && !option_given(options, "columns"))
    return usage_error(options,
                       file_exists(options->operands[0])
                           ? "'%s' is a file, not a run folder: choose columns of the file with --columns"
                           : "'%s' does not exist: give the output folder of a run",
                       options->operands[0]);
  int runs = options->operand_count - (what != NULL);
  if (runs > 1 && option_given(options, "columns"))
    return usage_error(options, "--columns reads a single run or file, got %d: plot one run at a time", runs);
  for (int i = 1; i < runs; i++)
    if (!path_is_folder(options->operands[i]))
      return usage_error(options, "'%s' is no run folder: give the output folder of a run", options->operands[i]);
  return EXIT_DONE;
}

/* Returns the default path of the picture: <plot>.png in the run folder, or the CSV file's name with .png. The caller
 * frees the text with memory_free. */
static char* default_target(const Options* options) {
  const char* operand = options->operands[0];
  const char* what = requested_plot(options);
  if (!what) what = option_given(options, "columns") ? "columns" : "overview";
  Text name = {0};
  if (path_is_folder(operand)) {
    text_add(&name, "%s.png", what);
    char* path = file_join(operand, name.data);
    text_free(&name);
    return path;
  }
  size_t stem = strlen(operand) - (ends_with(operand, ".csv") ? 4 : 0);
  text_add(&name, "%.*s.png", (int)stem, operand);
  return name.data;
}

static Status plot_matching(const Options* options, const char* target, const PlotOptions* plot,
                            Diagnostics* diagnostics) {
  const char *operand = options->operands[0], *columns = option_text(options, "columns");
  if (!path_is_folder(operand)) return plot_columns(target, operand, columns, plot, diagnostics);
  char* file = plot_find_file(operand, columns, diagnostics);
  if (!file) return STATUS_BAD_INPUT;
  Status status = plot_columns(target, file, columns, plot, diagnostics);
  memory_free(file);
  return status;
}

static ExitCode plot(const Options* options) {
  PlotOptions settings;
  Diagnostics diagnostics = {0};
  ExitCode code = read_options(options, &settings);
  if (code != EXIT_DONE) return code;
  char* target = options->folder ? memory_copy_text(options->folder) : default_target(options);
  const char* what = requested_plot(options);
  Status status = file_make_folder_of(target, &diagnostics);
  if (status == STATUS_OK)
    status = option_given(options, "columns")
                 ? plot_matching(options, target, &settings, &diagnostics)
                 : plot_runs(target, options->operands, options->operand_count - (what != NULL), what, &settings,
                             &diagnostics);
  if (status == STATUS_OK) printf("%s\n", target);
  print_diagnostics(options, &diagnostics);
  diagnostics_free(&diagnostics);
  memory_free(target);
  return status_exit_code(status);
}

void write_overview_picture(const Options* options, const char* folder) {
  bool watched = isatty(STDERR_FILENO) && !options->quiet;
  if (option_given(options, "no-overview") || !(watched || option_given(options, "overview"))) return;
  Diagnostics diagnostics = {0};
  PlotOptions settings = plot_defaults(true);
  char* target = file_join(folder, "overview.png");
  if (plot_runs(target, &folder, 1, NULL, &settings, &diagnostics) != STATUS_OK && diagnostics.count > 0)
    fprintf(stderr, "overview.png was not written: %s\n", diagnostics.items[0].text);
  memory_free(target);
  diagnostics_free(&diagnostics);
}

static const OptionRow OPTIONS[] = {
    {"columns", 0, OPTION_TEXT, "LIST", "columns of a CSV file against time: names and shell patterns between commas"},
    {"x", 0, OPTION_TEXT, "COLUMN", "against this column instead"},
    {"by", 0, OPTION_TEXT, "COLUMN", "a curve for each value of this column"},
    {"log", 0, OPTION_FLAG, NULL, "logarithmic axis upwards"},
    {"log-x", 0, OPTION_FLAG, NULL, "logarithmic axis across"},
    {"title", 0, OPTION_TEXT, "TEXT", "title, of plots with --columns (default: the file's name)"},
    {"x-label", 0, OPTION_TEXT, "TEXT", "name of the axis across (default: the column's, with its unit)"},
    {"y-label", 0, OPTION_TEXT, "TEXT", "name of the axis upwards"},
    {"size", 0, OPTION_TEXT, "WxH", "pixels (default 800x500, all plots 1200x800)"},
};

const Verb VERB_PLOT = {
    .name = "plot",
    .operands = "RUN...|FILE.csv [PLOT]",
    .operand_min = 1,
    .operand_max = OPERANDS_UNBOUNDED,
    .summary = "diagrams of a run: energy, forces, gaps, convergence, any columns",
    .examples =
        "  sdrs plot out/wall                                  writes out/wall/overview.png: all that there is\n"
        "  sdrs plot out/wall forces -o forces.svg\n"
        "  sdrs plot out/throw convergence\n"
        "  sdrs plot out/a out/b convergence -o both.pdf       several runs in one diagram\n"
        "  sdrs plot out/spider --columns 'body/px,body/py' -o way.png\n"
        "  sdrs plot benchmarks/results/orders.csv --columns error --log -o orders.png\n"
        "  sdrs plot benchmarks/results/batch-slide.csv --columns '*px' --x contact.friction --by "
        "contact.barrier_distance\n",
    .details =
        "Plots of simulate's runs: energy, forces (size of each pair's contact force), gap, iterations, and where\n"
        "simulation.output asked for them speeds, joint-forces, closures, pressure, contact-moments;\n"
        "of optimize's: convergence, gradients, steps; of identify's: position-error, rotation-error, joint-error\n"
        "by the time since a run began.\n"
        "-o names a picture, .png, .svg or .pdf; its name is printed on standard output. Drawn by\n"
        "the program gnuplot, which must be installed; no display is needed.\n"
        "Exit codes: 0 done, 2 wrong usage, 3 bad input, 5 cannot read or write (also: gnuplot is missing).\n",
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof OPTIONS[0],
    .writes_folder = true,
    .serial = true,
    .run = plot,
};
