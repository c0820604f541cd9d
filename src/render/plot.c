#include "render/plot.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/outside.h"

/* Margins above and below the curves. MARGIN: for a linear axis, relative to the height of the curves. MARGIN_FACTOR:
 * for a logarithmic axis, ratio of the axis limit to the extreme value. */
#define MARGIN 0.05
#define MARGIN_FACTOR 1.5
/* Smallest ratio of the largest to the smallest value of a logarithmic axis. Below this ratio the axis could have no
 * numbers. */
#define LOG_RATIO_MIN 10.0
/* Curves with at most this many points have markers. */
enum { MARKS_MAX = 20 };
/* A logarithmic x axis with at most this many distinct values has a number at each value. */
enum { X_TICS_MAX = 12 };
/* Largest number of numbers that gnuplot writes at a y axis, whatever the panel's height. */
enum { Y_TICS_MAX = 10 };
/* LINES_AROUND: lines of text outside the axes of a panel (titles, names, key). LINES_BETWEEN: smallest distance of two
 * numbers at the y axis, in lines of text. */
#define LINES_AROUND 6.0
#define LINES_BETWEEN 1.2
/* Height of a line of text [px] per point of the font size. */
#define PIXELS_PER_POINT 1.6
/* Panel height above which the font size is 11 instead of 9 points [px]. */
enum { HEIGHT_FOR_LARGE_LETTERS = 250 };
/* Largest number of panels in one column. More panels are placed in two columns. */
enum { PANELS_IN_A_COLUMN = 2 };

PlotOptions plot_defaults(bool overview) {
  return overview ? (PlotOptions){.width = 1200, .height = 800} : (PlotOptions){.width = 800, .height = 500};
}

void plot_panel_start(PlotPanel* panel, const char* title, const char* x_label, const char* y_label, bool log_y) {
  *panel = (PlotPanel){.title = memory_copy_text(title), .log_y = log_y};
  panel->x_label = memory_copy_text(x_label);
  panel->y_label = memory_copy_text(y_label);
}

void plot_panel_free(PlotPanel* panel) {
  for (int i = 0; i < panel->curve_count; i++) {
    memory_free(panel->curves[i].name);
    memory_free(panel->curves[i].x);
    memory_free(panel->curves[i].y);
  }
  memory_free(panel->curves);
  memory_free(panel->title);
  memory_free(panel->x_label);
  memory_free(panel->y_label);
  *panel = (PlotPanel){0};
}

PlotCurve* plot_panel_add(PlotPanel* panel, const char* name, int count) {
  assert(count >= 0);
  panel->curves = memory_grow_array(panel->curves, sizeof(PlotCurve), panel->curve_count, &panel->capacity);
  PlotCurve* curve = &panel->curves[panel->curve_count++];
  *curve = (PlotCurve){memory_copy_text(name), MEMORY_NEW(double, count + 1), MEMORY_NEW(double, count + 1), count};
  return curve;
}

static bool is_shown(const PlotPanel* panel, const PlotCurve* curve, int i) {
  return isfinite(curve->x[i]) && isfinite(curve->y[i]) && (!panel->log_y || curve->y[i] > 0.0) &&
         (!panel->log_x || curve->x[i] > 0.0);
}

bool plot_curve_visible(const PlotPanel* panel, const PlotCurve* curve) {
  for (int i = 0; i < curve->count; i++)
    if (is_shown(panel, curve, i)) return true;
  return false;
}

static int visible_count(const PlotPanel* panel) {
  int count = 0;
  for (int i = 0; i < panel->curve_count; i++) count += plot_curve_visible(panel, &panel->curves[i]);
  return count;
}

/* Appends a gnuplot string in single quotes, whose content gnuplot does not interpret; in double quotes it would
 * execute `commands`. Doubles single quotes. gnuplot does not accept doubled quotes at the start of a string, so quotes
 * at the start become strings of their own. Control characters become spaces, because they could end the line. */
static void add_string(Text* out, const char* text) {
  for (; *text == '\''; text++) text_add(out, "\"'\".");
  text_add(out, "'");
  for (; *text; text++) text_add(out, *text == '\'' ? "''" : "%c", (unsigned char)*text < 0x20 ? ' ' : *text);
  text_add(out, "'");
}

/* Writes a number at each x value of a logarithmic axis if there are few values. gnuplot may otherwise write only one
 * number per decade. */
static void add_x_tics(Text* out, const PlotPanel* panel) {
  double seen[X_TICS_MAX];
  int count = 0;
  for (int c = 0; panel->log_x && c < panel->curve_count && count <= X_TICS_MAX; c++)
    for (int i = 0; i < panel->curves[c].count && count <= X_TICS_MAX; i++) {
      if (!is_shown(panel, &panel->curves[c], i)) continue;
      int k = 0;
      while (k < count && k < X_TICS_MAX && seen[k] != panel->curves[c].x[i]) k++;
      if (k < count) continue;
      if (count < X_TICS_MAX) seen[count] = panel->curves[c].x[i];
      count++;
    }
  bool few = count > 0 && count <= X_TICS_MAX;
  text_add(out, few ? "set xtics (" : "set xtics autofreq");
  for (int k = 0; few && k < count; k++) text_add(out, "%s\"%g\" %.17g", k ? ", " : "", seen[k], seen[k]);
  text_add(out, few ? ")\n" : "\n");
}

/* Returns value > 0 rounded up to 1, 2 or 5 times a power of ten. */
static double round_step(double value) {
  double power = math_pow(10.0, floor(math_log10(value)));
  for (int i = 0; i < 3; i++) {
    static const double digits[] = {1.0, 2.0, 5.0};
    if (digits[i] * power >= value * (1.0 - 1e-9)) return digits[i] * power;
  }
  return 10.0 * power;
}

/* Limits the y axis to `largest_count` numbers, because more would overlap in a low panel. y: range of the axis. On a
 * logarithmic axis the numbers are powers of ten. */
static void add_y_tics(Text* out, const double y[2], bool log_y, int largest_count) {
  if (largest_count >= Y_TICS_MAX)
    text_add(out, "set ytics autofreq\n");
  else
    text_add(out, "set ytics %g\n",
             log_y ? math_pow(10.0, ceil(math_log10(y[1] / y[0]) / largest_count))
                   : round_step((y[1] - y[0]) / largest_count));
}

/* Sets the ranges of both axes, because gnuplot rejects a curve of zero extent. */
static void add_ranges(Text* out, const PlotPanel* panel, int y_tics) {
  double x[2] = {INFINITY, -INFINITY}, y[2] = {INFINITY, -INFINITY};
  for (int c = 0; c < panel->curve_count; c++) {
    const PlotCurve* curve = &panel->curves[c];
    for (int i = 0; i < curve->count; i++) {
      if (!is_shown(panel, curve, i)) continue;
      x[0] = fmin(x[0], curve->x[i]), x[1] = fmax(x[1], curve->x[i]);
      y[0] = fmin(y[0], curve->y[i]), y[1] = fmax(y[1], curve->y[i]);
    }
  }
  if (!(x[1] > x[0])) x[0] -= 0.5, x[1] += 0.5;
  double margin = y[1] > y[0] ? MARGIN * (y[1] - y[0]) : fmax(MARGIN * fabs(y[0]), 1e-12);
  bool log_y = panel->log_y && y[1] >= LOG_RATIO_MIN * y[0];
  if (log_y)
    y[0] /= MARGIN_FACTOR, y[1] *= MARGIN_FACTOR;
  else
    y[0] -= margin, y[1] += margin;
  text_add(out, log_y ? "set logscale y\nset format y \"%%.0e\"\n" : "unset logscale y\nset format y \"%%g\"\n");
  if (panel->log_x) x[0] /= MARGIN_FACTOR, x[1] *= MARGIN_FACTOR;
  text_add(out, panel->log_x ? "set logscale x\n" : "unset logscale x\n");
  add_x_tics(out, panel);
  add_y_tics(out, y, log_y, y_tics);
  text_add(out, "set xrange [%.17g:%.17g]\nset yrange [%.17g:%.17g]\n", x[0], x[1], y[0], y[1]);
}

/* Returns the gnuplot style of a curve. Curves with few points have markers. */
static const char* curve_style(const PlotCurve* curve) {
  if (curve->count < 2) return "points";
  return curve->count <= MARKS_MAX ? "linespoints" : "lines";
}

static void add_panel(Text* out, const PlotPanel* panel, int number, int y_tics) {
  int shown = 0;
  text_add(out,
           panel->curve_count > 1 ? "set key outside below center horizontal\nset title " : "unset key\nset title ");
  add_string(out, panel->title);
  text_add(out, "\nset xlabel ");
  add_string(out, panel->x_label);
  /* an empty line, because gnuplot draws the key over the last line of the label */
  text_add(out, "%s offset 0,0.7\nset ylabel ", panel->curve_count > 1 ? ".\"\\n \"" : "");
  add_string(out, panel->y_label);
  text_add(out, "\n");
  add_ranges(out, panel, y_tics);
  text_add(out, "plot");
  for (int c = 0; c < panel->curve_count; c++) {
    if (!plot_curve_visible(panel, &panel->curves[c])) continue;
    text_add(out, "%s $d%d_%d using 1:2 with %s linewidth 1.5%s title ", shown++ ? "," : "", number, c,
             curve_style(&panel->curves[c]), panel->alternate && c % 2 == 1 ? " dashtype 2" : "");
    add_string(out, panel->curves[c].name);
  }
  text_add(out, "\n");
}

static void add_data(Text* out, const PlotPanel* panel, int number) {
  for (int c = 0; c < panel->curve_count; c++) {
    const PlotCurve* curve = &panel->curves[c];
    if (!plot_curve_visible(panel, curve)) continue;
    text_add(out, "$d%d_%d << END\n", number, c);
    for (int i = 0; i < curve->count; i++) {
      if (is_shown(panel, curve, i)) {
        text_add_double(out, curve->x[i]);
        text_add(out, " ");
        text_add_double(out, curve->y[i]);
      } /* an empty line interrupts the curve */
      text_add(out, "\n");
    }
    text_add(out, "END\n");
  }
}

static bool ends_with(const char* text, const char* end) {
  size_t length = strlen(text), tail = strlen(end);
  return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* Appends the styles of lines, and a right margin for the last number of the x axis. The first lines have the colours
 * of Okabe and Ito, which colour-blind readers can distinguish. Further lines are dashed. */
static void add_style(Text* out) {
  static const char* const colors[] = {"#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#000000"};
  /* gnuplot's numbers of marker shapes: filled shapes before open ones */
  static const int points[] = {7, 5, 9, 13, 11, 6, 4};
  enum { COLORS = sizeof colors / sizeof colors[0] };
  for (int i = 0; i < 2 * COLORS; i++)
    text_add(out, "set linetype %d linecolor rgb \"%s\" dashtype %d pointtype %d pointsize 0.8\n", i + 1,
             colors[i % COLORS], 1 + i / COLORS, points[i % COLORS]);
  text_add(
      out,
      "set linetype cycle %d\nset rmargin 4\nset grid linecolor rgb \"#bbbbbb\"\nset border 3\nset tics nomirror\n",
      2 * COLORS);
}

void plot_script(Text* out, const PlotPanel* panels, int count, const char* name, const PlotOptions* options) {
  assert(count >= 1);
  int shown = 0;
  for (int i = 0; i < count; i++) shown += visible_count(&panels[i]) > 0;
  int columns = shown > PANELS_IN_A_COLUMN ? 2 : 1, rows = (shown + columns - 1) / columns;
  bool svg = ends_with(name, ".svg"), pdf = ends_with(name, ".pdf");
  int letters = shown == 1 || options->height > HEIGHT_FOR_LARGE_LETTERS * rows ? 11 : 9;
  double lines = options->height / (rows * PIXELS_PER_POINT * letters);
  int y_tics = (int)fmax(3.0, (lines - LINES_AROUND) / LINES_BETWEEN);
  if (pdf) /* for print, 96 pixels are an inch */
    text_add(out, "set terminal pdfcairo noenhanced size %.4gin,%.4gin font \"Sans,%d\"\n", options->width / 96.0,
             options->height / 96.0, letters);
  else
    text_add(out, "set terminal %s noenhanced size %d,%d font \"Sans,%d\"%s\n", svg ? "svg" : "pngcairo",
             options->width, options->height, letters, svg ? " background rgb \"white\"" : "");
  add_style(out);
  for (int i = 0; i < count; i++) add_data(out, &panels[i], i);
  if (shown > 1) text_add(out, "set multiplot layout %d,%d\n", rows, columns);
  for (int i = 0; i < count; i++)
    if (visible_count(&panels[i]) > 0) add_panel(out, &panels[i], i, y_tics);
  text_add(out, "%s", shown > 1 ? "unset multiplot\n" : "");
}

/* Runs gnuplot with `picture` as its standard output, so that its commands contain no path. Discards its messages,
 * which refer to generated commands. The option -d disables start-up files. Returns false, with an error, on failure.
 */
static bool run_gnuplot(const Text* script, FILE* picture, const char* path, Diagnostics* diagnostics) {
  static const char* const WORDS[] = {"gnuplot", "-d", "-", NULL};
  SourcePosition place = {path, 0, 0};
  Program gnuplot;
  int error = program_start(&gnuplot, WORDS, fileno(picture), -1);
  if (error == ENOENT)
    diagnostics_add(diagnostics, SEVERITY_ERROR, place,
                    "plots are made by the program gnuplot, which is not installed (Debian: apt install gnuplot-nox)");
  else if (error != 0)
    diagnostics_add(diagnostics, SEVERITY_ERROR, place, "cannot start gnuplot: %s", strerror(error));
  if (error != 0) return false;
  bool sent = program_send(&gnuplot, script->data, script->length);
  if (program_finish(&gnuplot) && sent) return true;
  diagnostics_add(diagnostics, SEVERITY_ERROR, place,
                  "gnuplot failed to draw the plot: check the free space of the disk, and that gnuplot has the "
                  "terminals pngcairo, svg and pdfcairo");
  return false;
}

/* Returns true if the file at `path` ends as a complete picture of its format does. gnuplot does not report a full
 * disk. name: path of the picture, whose ending tells the format. */
static bool picture_is_complete(const char* path, const char* name) {
  const char* last = ends_with(name, ".svg") ? "</svg>" : ends_with(name, ".pdf") ? "%%EOF" : "IEND";
  char tail[33] = {0};
  FILE* file = fopen(path, "rbe");
  if (!file) return false;
  bool read = fseek(file, -32, SEEK_END) == 0 && fread(tail, 1, 32, file) == 32;
  fclose(file);
  size_t length = strlen(last);
  for (size_t i = 0; read && i + length <= 32; i++)
    if (memcmp(tail + i, last, length) == 0) return true;
  return false;
}

Status plot_draw(const char* path, const PlotPanel* panels, int count, const PlotOptions* options,
                 Diagnostics* diagnostics) {
  FileStream picture;
  Text script = {0};
  plot_script(&script, panels, count, path, options);
  bool opened = file_stream_open(&picture, path) == STATUS_OK;
  bool drawn = opened && run_gnuplot(&script, picture.stream, path, diagnostics);
  text_free(&script);
  if (drawn && picture.temporary && !picture_is_complete(picture.temporary, path)) {
    diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){path, 0, 0},
                    "gnuplot wrote an incomplete picture: check the free space of the disk");
    drawn = false;
  }
  if (drawn && file_stream_close(&picture) == STATUS_OK) return STATUS_OK;
  if (!opened || drawn)
    diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){path, 0, 0}, "cannot write: %s", strerror(errno));
  if (opened && !drawn) file_stream_discard(&picture);
  return STATUS_IO;
}
