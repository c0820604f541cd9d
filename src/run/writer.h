/* One CSV file of the run folder: what its header and rows are. Private to run/. */
#ifndef SDRS_RUN_WRITER_H
#define SDRS_RUN_WRITER_H

#include "run/run.h"

/* Data that the writers share during a run. */
typedef struct {
  const Model* model;
  Quat* rotations; /* last quaternion written of each link: the next one takes the nearer sign  (links) */
} WriterContext;

typedef struct {
  const char* file;
  bool initial; /* has a row for the initial state */
  void (*header)(Text* row, const Model* model);
  void (*rows)(Text* rows, WriterContext* context, const RunFrame* frame);
  unsigned asked; /* OUTPUT_...: written when the scene asks for it; 0: always */
} RunWriter;

extern const RunWriter WRITER_TRAJECTORY, WRITER_JOINTS, WRITER_CONTACTS, WRITER_SOLVER, WRITER_PATH, WRITER_VELOCITIES,
    WRITER_FORCES, WRITER_CLOSURES, WRITER_PRESSURE, WRITER_REACTIONS, WRITER_IMU;

/* Appends a comma and the field, quoted where it must be (run/columns.c). Nothing here fails. */
void run_add_field(Text* row, const char* field);
/* `<name>/<column>` of each of columns[count], after a comma each. */
void run_add_fields(Text* row, const char* name, const char* const* columns, int count);
/* values[count], after a comma each, in the shortest text that reads back to the same double. */
void run_add_numbers(Text* row, const double* values, int count);

/* Which numbers of every link's joint stand after the time, in the order of the links (run/columns.c). An increment has
 * the name of its coordinate, and for a ball's turns about the link's own axes, one after the other, rx, ry, rz. */
typedef enum { RUN_COORDINATES, RUN_INCREMENTS } RunColumns;
/* Append the name of the k-th column of a link: `<link>/<coordinate>`. */
void run_columns_name(Text* name, const Model* model, int link, int k, RunColumns columns);
/* Appends the header line: time and a column for every coordinate or increment. */
void run_columns_header(Text* row, const Model* model, RunColumns columns);
/* Appends a row: time [s] and numbers (nq or nv) [m, rad], which stand in the order of the trees. */
void run_columns_write(Text* row, double time, const double* numbers, const Model* model, RunColumns columns);
/* Are the columns those of this model? If not, a diagnostic at the first line. */
bool run_columns_fit(const CsvTable* table, const char* path, const Model* model, RunColumns columns,
                     Diagnostics* diagnostics);
/* One row into numbers, which stand in the order of the trees (nq or nv), after run_columns_fit; false with a
 * diagnostic, and numbers read in part. */
bool run_columns_read(double* numbers, int row, const CsvTable* table, const char* path, const Model* model,
                      RunColumns columns, Diagnostics* diagnostics);
/* A file of such columns, row by row: run_columns_fit, and every cell is a finite number. STATUS_IO, STATUS_BAD_INPUT
 * with a diagnostic; *rows is NULL then, else to be closed. */
Status run_columns_open(CsvRows** rows, const char* path, const Model* model, RunColumns columns,
                        Diagnostics* diagnostics);
/* A row of it: numbers (nq or nv) [m, rad] are set. */
void run_columns_at(CsvRows* rows, int row, const Model* model, RunColumns columns, double* numbers);

#endif
