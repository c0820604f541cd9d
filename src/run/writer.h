/* One CSV file of the run folder: what its header and rows are. Private to run/. */
#ifndef SDRS_RUN_WRITER_H
#define SDRS_RUN_WRITER_H

#include "run/run.h"

/* What the writers share over a run. */
typedef struct {
  const Model* model;
  Quat* rotations; /* last quaternion written of each link: the next one takes the nearer sign  (links) */
} WriterContext;

typedef struct {
  const char* file;
  bool initial; /* has a row for the initial state */
  void (*header)(Text* row, const Model* model);
  void (*rows)(Text* rows, WriterContext* context, const RunFrame* frame);
} RunWriter;

extern const RunWriter WRITER_TRAJECTORY, WRITER_JOINTS, WRITER_CONTACTS, WRITER_SOLVER, WRITER_PATH;

/* Append the column of increment k of a link's joint: its coordinate, and for a ball's turns about the link's own axes,
 * one after the other, rx, ry, rz. */
void run_increment_name(Text* name, const Model* model, int link, int k);

/* Which numbers of every link's joint stand after the time, in the order of the links (run/read_columns.c). */
typedef enum { RUN_COORDINATES, RUN_INCREMENTS } RunColumns;
/* Are the columns those of this model? If not, a diagnostic. */
bool run_columns_fit(const CsvTable* table, const char* path, const Model* model, RunColumns columns,
                     Diagnostics* diagnostics);
/* One row into numbers, which stand in the order of the trees (nq or nv); false with a diagnostic. */
bool run_columns_read(double* numbers, int row, const CsvTable* table, const char* path, const Model* model,
                      RunColumns columns, Diagnostics* diagnostics);

#endif
