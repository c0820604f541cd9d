/* Plots: panels of curves, drawn by the gnuplot program. Private to render/. */
#ifndef SDRS_RENDER_PLOT_H
#define SDRS_RENDER_PLOT_H

#include "render/render.h"

typedef struct {
  char* name;
  double *x, *y; /* points (size: count); non-finite values interrupt the curve */
  int count;
} PlotCurve;

/* One diagram, which owns all its members. plot_panel_free accepts a zeroed panel. */
typedef struct {
  char *title, *x_label, *y_label;
  bool log_y, log_x;
  bool alternate; /* every second curve is dashed, so that coinciding curves remain visible */
  PlotCurve* curves;
  int curve_count, capacity;
} PlotPanel;

/* Initializes a panel without curves. Copies the texts. The caller frees the panel with plot_panel_free. */
void plot_panel_start(PlotPanel* panel, const char* title, const char* x_label, const char* y_label, bool log_y);
/* Frees curves and texts. Accepts a zeroed panel. */
void plot_panel_free(PlotPanel* panel);
/* Adds a curve of `count` zeroed points, which the panel owns, and returns it. Copies the name. The pointer is valid
 * until the next curve is added. */
PlotCurve* plot_panel_add(PlotPanel* panel, const char* name, int count);
/* Appends the gnuplot commands that draw all visible panels of panels[count] as one image to standard output. The
 * extension of `name` selects the format: SVG for .svg, PDF for .pdf, otherwise PNG. gnuplot does not interpret the
 * texts of the panels. */
void plot_script(Text* out, const PlotPanel* panels, int count, const char* name, const PlotOptions* options);
/* Returns true if the curve has a visible point: both coordinates finite, and positive on a logarithmic axis. */
bool plot_curve_visible(const PlotPanel* panel, const PlotCurve* curve);

/* Draws all visible panels of panels[count] with gnuplot to the file `path`. Returns STATUS_IO, with an error and the
 * file unchanged, if this fails. */
Status plot_draw(const char* path, const PlotPanel* panels, int count, const PlotOptions* options,
                 Diagnostics* diagnostics);

/* Adds a curve of column y of the table over column x, or over the row number if x < 0. The curve has the name of
 * column y. Cells that are not numbers become NaN. */
void plot_add_column(PlotPanel* panel, const CsvTable* table, int x, int y);
/* Returns true if at least one curve of the panel is visible. */
bool plot_panel_visible(const PlotPanel* panel);
/* Adds an error: the file or folder `place` has nothing to plot. missing: the missing data. Returns STATUS_BAD_INPUT.
 */
Status plot_report_empty(const char* place, const char* missing, Diagnostics* diagnostics);
/* Returns the text "name [unit]", or the name if the unit is "" or NULL. The caller frees it with memory_free. */
char* plot_label(const char* name, const char* unit);

#endif
