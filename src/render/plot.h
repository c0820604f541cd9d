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

/* Initializes a panel without curves; texts are copied. Freed by plot_panel_free. */
void plot_panel_start(PlotPanel* panel, const char* title, const char* x_label, const char* y_label, bool log_y);
/* Frees curves and texts; accepts a zeroed one. */
void plot_panel_free(PlotPanel* panel);
/* Adds a zeroed curve of `count` points; the name is copied. Owned by the panel; valid until the next one is added. */
PlotCurve* plot_panel_add(PlotPanel* panel, const char* name, int count);
/* Appends gnuplot commands that draw all visible panels (count) as one image to standard output. The extension of
 * `name` selects the format: .svg, .pdf, else PNG. Texts of panels are not interpreted. */
void plot_script(Text* out, const PlotPanel* panels, int count, const char* name, const PlotOptions* options);
/* True if a curve has visible points: finite, and positive on a logarithmic axis. */
bool plot_curve_visible(const PlotPanel* panel, const PlotCurve* curve);

/* Draws all visible panels (count) to a file with gnuplot. STATUS_IO with an error; an existing file is then unchanged.
 */
Status plot_draw(const char* path, const PlotPanel* panels, int count, const PlotOptions* options,
                 Diagnostics* diagnostics);

/* Adds a column as a curve with its name; x < 0: against the row number. Cells that are not numbers are NaN. */
void plot_add_column(PlotPanel* panel, const CsvTable* table, int x, int y);
/* True if a curve of the panel is visible. */
bool plot_panel_visible(const PlotPanel* panel);
/* Adds the error that a file or folder has nothing to plot; returns STATUS_BAD_INPUT. */
Status plot_refuse_empty(const char* place, const char* what, Diagnostics* diagnostics);
/* "name [unit]", never NULL, freed by the caller with memory_free; the unit may be "" or NULL. */
char* plot_label(const char* name, const char* unit);

#endif
