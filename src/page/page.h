/* page: one HTML file that shows a run, or a design that was optimized, in a browser. */
#ifndef SDRS_PAGE_H
#define SDRS_PAGE_H

#include "export/export.h"

/* Length of the version of three.js in the page's template, at *version, borrowed and not NUL-terminated; 0 where this
 * build has no template (scripts/make_page.sh). Length in bytes; *version is "" then. version must not be NULL; not
 * to be freed. */
int page_library_version(const char** version);

/* STATUS_OK, or STATUS_IO where this build has no template, with a diagnostic that says what to do. Allocates
 * nothing but the diagnostic. */
Status page_available(Diagnostics* diagnostics);

/* A page of a run that goes on: it asks for /moments?version=V&from=K where it comes from, and adds them: time, place
 * and turn (x y z, x y z w) of every link that can move, and a number a column. */
typedef struct {
  int version;
  const char* const* columns; /* of solver.csv  (column_count) */
  int column_count;
} PageLive;

/* Contents of a page. All pointers are borrowed from the caller. */
typedef struct {
  const Model* model;
  const RunPoses* run;
  const char* folder; /* of the run: its CSV files and summary.json; NULL for a scene by itself */
  const char* design; /* of sdrs optimize, whose best design the run is: its convergence.csv, design/, summary.json;
                         NULL = none */
  const RunPoses* initial; /* of the optimization's initial design, with the same links; NULL = not shown */
  const PageLive* live;    /* NULL = the run is over */
  double fps; /* moments per simulated second; 0 = all recorded ones, or as many as a page of 5 MB can hold */
} PageSource;

/* How much of the run the page holds. */
typedef struct {
  int moments, recorded;
  int designs; /* with their shapes */
} PageExtent;

/* One HTML file that needs no other and no network. STATUS_IO or STATUS_BAD_INPUT with diagnostics; STATUS_IO also
 * where the build has no template. out is the caller's, appended to only with STATUS_OK; *extent is set in any case. */
Status page_write(Text* out, const PageSource* source, PageExtent* extent, Diagnostics* diagnostics);

#endif
