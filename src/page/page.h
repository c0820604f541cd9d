/* page: one HTML file that shows a run or an optimized design in a browser. */
#ifndef SDRS_PAGE_H
#define SDRS_PAGE_H

#include "export/export.h"

/* Version of three.js in the page's template: *version is borrowed and not NUL-terminated; returns its length in bytes,
 * 0 (and "") if the build has no template (scripts/make_page.sh). */
int page_library_version(const char** version);

/* Checks that the build has a template. STATUS_IO otherwise, with an error that says what to do. */
Status page_available(Diagnostics* diagnostics);

/* A page of a running simulation: it requests /moments?version=V&from=K from its server. A moment holds time, position
 * and rotation (x y z, x y z w) of every movable link, and one number per column. */
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
  const char* design;      /* folder of sdrs optimize whose best design the run shows: convergence.csv, design/,
                              summary.json; NULL = none */
  const RunPoses* initial; /* run of the initial design, with the same links; NULL = not shown */
  const PageLive* live;    /* NULL = the run has ended */
  double fps;              /* moments per simulated second; 0 = all recorded ones, limited by a page size of 5 MB */
} PageSource;

/* Content of a written page. */
typedef struct {
  int moments, recorded;
  int designs; /* designs with shapes */
} PageExtent;

/* Writes one self-contained HTML file. STATUS_IO (also for a build without template) or STATUS_BAD_INPUT with errors.
 * out is appended to only with STATUS_OK; *extent is always set. */
Status page_write(Text* out, const PageSource* source, PageExtent* extent, Diagnostics* diagnostics);

#endif
