/* page: writes one HTML file that shows a run or an optimized design in a browser. */
#ifndef SDRS_PAGE_H
#define SDRS_PAGE_H

#include "export/export.h"

/* Sets *version to the version of three.js in the page's template, borrowed and not NUL-terminated. Returns its length
 * in bytes, or 0 if the build has no template (scripts/make_page.sh). */
int page_library_version(const char** version);

/* Returns STATUS_OK if the build has a page template, otherwise STATUS_IO with an error that names the remedy. */
Status page_available(Diagnostics* diagnostics);

/* Settings of a page that shows a running simulation. The page requests /moments?version=V&from=K from its server. A
 * moment is the state at one time: time, position and rotation (x y z, x y z w) of every movable link, and one number
 * per column. */
typedef struct {
  int version;
  const char* const* columns; /* columns of solver.csv (size: column_count) */
  int column_count;
} PageLive;

/* Contents of a page. All pointers are borrowed from the caller. */
typedef struct {
  const Model* model;
  const RunPoses* run;
  const char* folder; /* run folder with CSV files and summary.json; NULL for a scene without a run */
  const char* design; /* folder of `sdrs optimize` with convergence.csv, design/ and summary.json, whose best design the
                         run shows; NULL: none */
  const RunPoses* initial; /* run of the initial design with the same links; NULL: not shown */
  const PageLive* live;    /* NULL if the run has ended */
  double fps;              /* moments per simulated second; 0: all recorded moments that fit into 5 MB */
} PageSource;

/* Content of a written page. moments: number of moments on the page. recorded: number of recorded moments. designs:
 * number of designs with shapes. */
typedef struct {
  int moments, recorded;
  int designs;
} PageExtent;

/* Appends one self-contained HTML file to `out`, if the result is STATUS_OK. Sets *extent in any case. Returns
 * STATUS_IO or STATUS_BAD_INPUT with errors, and STATUS_IO for a build without template. */
Status page_write(Text* out, const PageSource* source, PageExtent* extent, Diagnostics* diagnostics);

#endif
