/* Plots: panels of curves, drawn by the gnuplot program. Private to render/. */
#ifndef SDRS_RENDER_PLOT_H
#define SDRS_RENDER_PLOT_H

#include "render/render.h"

typedef struct {
  char* name;
  double *x, *y; /* (count); what is not finite leaves a hole */
  int count;
} PlotCurve;

/* One diagram. Owns everything; plot_panel_free accepts a zeroed one. */
typedef struct {
  char *title, *x_label, *y_label;
  bool log_y, log_x;
  bool alternate; /* every second curve dashed: of two that lie on each other both are seen */
  PlotCurve* curves;
  int curve_count, capacity;
} PlotPanel;

/* A diagram without curves; texts are copied. Overwrites the panel; freed with plot_panel_free. */
void plot_panel_start(PlotPanel* panel, const char* title, const char* x_label, const char* y_label, bool log_y);
/* Frees curves and texts; accepts a zeroed one. */
void plot_panel_free(PlotPanel* panel);
/* A curve with room for `count` points, zeroed; the name is copied. It belongs to the panel, until the next one is
 * added. */
PlotCurve* plot_panel_add(PlotPanel* panel, const char* name, int count);
/* Commands for gnuplot, which draw all panels with something to show as one picture to its standard output. The ending
 * of `name` chooses the format: .svg, .pdf, else PNG. Texts of panels are constants: nothing in them is interpreted.
 * Appended to out; panels[count] are only read. */
void plot_script(Text* out, const PlotPanel* panels, int count, const char* name, const PlotOptions* options);
/* Has a curve something to show? Only finite numbers count, on a logarithmic axis only positive ones. */
bool plot_curve_visible(const PlotPanel* panel, const PlotCurve* curve);

/* One picture of all panels that have something to show. STATUS_IO with a diagnostic. panels[count] are only read;
 * waits for gnuplot. On failure what was at `path` stays. */
Status plot_draw(const char* path, const PlotPanel* panels, int count, const PlotOptions* options,
                 Diagnostics* diagnostics);

/* A column as a curve of its own name; x < 0: against the number of the row. Cells that are no numbers are NaN. */
void plot_add_column(PlotPanel* panel, const CsvTable* table, int x, int y);
/* Has one of the curves something to show? */
bool plot_panel_visible(const PlotPanel* panel);
/* Adds the error that there is nothing to plot of a file or folder, STATUS_BAD_INPUT. */
Status plot_refuse_empty(const char* place, const char* what, Diagnostics* diagnostics);
/* "name [unit]", never NULL, freed by the caller with memory_free; the unit may be "" or NULL. */
char* plot_label(const char* name, const char* unit);

#endif
