/* Plots: panels of curves, drawn by the gnuplot program. Private to render/. */
#ifndef SDRS_RENDER_PLOT_H
#define SDRS_RENDER_PLOT_H

#include "render/render.h"

typedef struct {
  char* name;
  double *x, *y; /* (count); non-finite values interrupt the curve */
  int count;
} PlotCurve;

/* One diagram. Owns everything; plot_panel_free accepts a zeroed one. */
typedef struct {
  char *title, *x_label, *y_label;
  bool log_y, log_x;
  bool alternate; /* every second curve is dashed, so that coinciding curves are both visible */
  PlotCurve* curves;
  int curve_count, capacity;
} PlotPanel;

/* Initializes a panel without curves. Copies the texts. The caller frees the panel with plot_panel_free. */
void plot_panel_start(PlotPanel* panel, const char* title, const char* x_label, const char* y_label, bool log_y);
/* Frees curves and texts; accepts a zeroed one. */
void plot_panel_free(PlotPanel* panel);
/* Adds a curve of `count` zeroed points and returns it. Copies the name. The panel owns the curve; the pointer is valid
 * until the next curve is added. */
PlotCurve* plot_panel_add(PlotPanel* panel, const char* name, int count);
/* Appends to *out the gnuplot commands that draw all visible panels of panels (count) as one image to gnuplot's
 * standard output. The extension of `name` selects the format: .svg, .pdf, else PNG. gnuplot does not interpret the
 * texts of the panels. */
void plot_script(Text* out, const PlotPanel* panels, int count, const char* name, const PlotOptions* options);
/* Returns true if the curve has a visible point: both coordinates are finite, and positive on a logarithmic axis. */
bool plot_curve_visible(const PlotPanel* panel, const PlotCurve* curve);

/* Draws all visible panels of panels (count) with gnuplot to the file `path`. Returns STATUS_IO with an error in
 * diagnostics if this fails; an existing file is then unchanged. */
Status plot_draw(const char* path, const PlotPanel* panels, int count, const PlotOptions* options,
                 Diagnostics* diagnostics);

/* Adds column y of the table as a curve over column x, named after column y. If x < 0, the abscissa is the row number.
 * Cells that are not numbers become NaN. */
void plot_add_column(PlotPanel* panel, const CsvTable* table, int x, int y);
/* Returns true if at least one curve of the panel is visible. */
bool plot_panel_visible(const PlotPanel* panel);
/* Adds the error that the file or folder `place` contains nothing to plot (`what`), and returns STATUS_BAD_INPUT. */
Status plot_refuse_empty(const char* place, const char* what, Diagnostics* diagnostics);
/* Returns the text "name [unit]", or only the name if the unit is "" or NULL. Never NULL. The caller frees it with
 * memory_free. */
char* plot_label(const char* name, const char* unit);

#endif
