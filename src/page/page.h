/* page: writes one HTML file that shows a run or an optimized design in a browser. */
#ifndef SDRS_PAGE_H
#define SDRS_PAGE_H

#include "export/export.h"

/* Sets *version to the version of three.js in the page's template. *version is borrowed and not NUL-terminated. Returns
 * its length in bytes, or 0 if the build has no template (scripts/make_page.sh). */
int page_library_version(const char** version);

/* Checks that the build has a page template. Returns STATUS_IO, with an error that says what to do, if it has none. */
Status page_available(Diagnostics* diagnostics);

/* A page of a running simulation. It requests /moments?version=V&from=K from its server. A moment is the state at one
 * time: the time, position and rotation (x y z, x y z w) of every movable link, and one number per column. */
typedef struct {
  int version;
  const char* const* columns; /* columns of solver.csv  (column_count) */
  int column_count;
} PageLive;

/* Contents of a page. All pointers are borrowed from the caller. */
typedef struct {
  const Model* model;
  const RunPoses* run;
  const char* folder;      /* run folder with CSV files and summary.json; NULL for a scene without a run */
  const char* design;      /* folder of sdrs optimize whose best design the run shows; NULL if there is none. The folder
                              contains convergence.csv, design/ and summary.json */
  const RunPoses* initial; /* run of the initial design, with the same links; NULL if it is not shown */
  const PageLive* live;    /* NULL if the run has ended */
  double fps; /* moments per simulated second; 0 selects all recorded moments, limited by a page size of 5 MB */
} PageSource;

/* Content of a written page: moments shown, moments recorded, and designs shown. */
typedef struct {
  int moments, recorded;
  int designs; /* number of designs with shapes */
} PageExtent;

/* Writes one self-contained HTML file. Appends to out only if the result is STATUS_OK. Sets *extent in any case.
 * Returns STATUS_IO or STATUS_BAD_INPUT with errors, STATUS_IO also for a build without template. */
Status page_write(Text* out, const PageSource* source, PageExtent* extent, Diagnostics* diagnostics);

#endif
