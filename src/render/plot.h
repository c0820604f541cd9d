/* Plots: panels of curves, drawn by the gnuplot program. Private to render/. */
#ifndef SDRS_RENDER_PLOT_H
#define SDRS_RENDER_PLOT_H

#include "render/render.h"

typedef struct {
  char* name;
  double *x, *y; /* (count); a curve is interrupted at non-finite values */
  int count;
} PlotCurve;

/* One diagram. Owns all its members. plot_panel_free accepts a zeroed panel. */
typedef struct {
  char *title, *x_label, *y_label;
  bool log_y, log_x;
  bool alternate; /* every second curve is dashed, so that two coinciding curves remain visible */
  PlotCurve* curves;
  int curve_count, capacity;
} PlotPanel;

/* Initializes a panel without curves. Copies the texts. The caller frees the panel with plot_panel_free. */
void plot_panel_start(PlotPanel* panel, const char* title, const char* x_label, const char* y_label, bool log_y);
/* Frees curves and texts. Accepts a zeroed panel. */
void plot_panel_free(PlotPanel* panel);
/* Adds a curve of `count` zeroed points to the panel and returns the curve. Copies the name. The panel owns the curve.
 * The pointer is valid until the next curve is added. */
PlotCurve* plot_panel_add(PlotPanel* panel, const char* name, int count);
/* Appends to *out the gnuplot commands that draw all visible panels as one image. panels (count). gnuplot writes the
 * image to its standard output. The extension of `name` selects the format: SVG for .svg, PDF for .pdf, otherwise PNG.
 * gnuplot does not interpret the texts of the panels. */
void plot_script(Text* out, const PlotPanel* panels, int count, const char* name, const PlotOptions* options);
/* Returns true if the curve has a visible point. Both coordinates of a visible point are finite, and positive on a
 * logarithmic axis. */
bool plot_curve_visible(const PlotPanel* panel, const PlotCurve* curve);

/* Draws all visible panels with gnuplot to the file `path`. panels (count). If this fails, returns STATUS_IO with an
 * error in diagnostics and leaves an existing file unchanged. */
Status plot_draw(const char* path, const PlotPanel* panels, int count, const PlotOptions* options,
                 Diagnostics* diagnostics);

/* Adds a curve of column y of the table over column x. The curve has the name of column y. If x < 0, the abscissa is
 * the row number. Cells that are not numbers become NaN. */
void plot_add_column(PlotPanel* panel, const CsvTable* table, int x, int y);
/* Returns true if at least one curve of the panel is visible. */
bool plot_panel_visible(const PlotPanel* panel);
/* Adds an error that the file or folder `place` has nothing to plot. Returns STATUS_BAD_INPUT. what: the missing data,
 * for the message. */
Status plot_report_empty(const char* place, const char* what, Diagnostics* diagnostics);
/* Returns the text "name [unit]", or only the name if the unit is "" or NULL. Never NULL. The caller frees it with
 * memory_free. */
char* plot_label(const char* name, const char* unit);

#endif
