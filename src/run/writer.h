/* Writers of the CSV files in the run folder. Each writer gives the header and the rows of one file. Private to
 * run/. */
#ifndef SDRS_RUN_WRITER_H
#define SDRS_RUN_WRITER_H

#include "run/run.h"

/* Data that the writers share during a run. */
typedef struct {
  const Model* model;
  Quat* rotations; /* quaternion of each link in the last written row (links). Of the two signs of a quaternion, the
                      next row gets the one nearest to it */
} WriterContext;

typedef struct {
  const char* file;
  bool initial; /* true if the initial state has a row */
  void (*header)(Text* row, const Model* model);
  void (*rows)(Text* rows, WriterContext* context, const RunFrame* frame);
  unsigned requested_output; /* OUTPUT_... flag that requests the file; 0 if the file is always written */
} RunWriter;

extern const RunWriter WRITER_TRAJECTORY, WRITER_JOINTS, WRITER_CONTACTS, WRITER_SOLVER, WRITER_PATH, WRITER_VELOCITIES,
    WRITER_FORCES, WRITER_CLOSURES, WRITER_PRESSURE, WRITER_REACTIONS, WRITER_IMU, WRITER_RANGE;

/* Appends a comma and a field, quoted if necessary (run/columns.c). Never fails. */
void run_add_field(Text* row, const char* field);
/* Appends a comma and the field `<name>/<column>` for each of columns (count). */
void run_add_fields(Text* row, const char* name, const char* const* columns, int count);
/* Appends a comma and a number for each of values (count). A number is the shortest text that reads back to the same
 * double. */
void run_add_numbers(Text* row, const double* values, int count);

/* Contents of the columns after the time (run/columns.c): joint coordinates, or joint increments, in the order of the
 * links. The column of an increment has the name of the coordinate. The increments of a ball joint are named rx, ry, rz
 * and are rotations about the link's axes, applied in sequence. */
typedef enum { RUN_COORDINATES, RUN_INCREMENTS } RunColumns;
/* Appends the name of column k of a link: `<link>/<coordinate>`. */
void run_columns_name(Text* name, const Model* model, int link, int k, RunColumns columns);
/* Appends the header line: the time, and the column name of every coordinate or increment. */
void run_columns_header(Text* row, const Model* model, RunColumns columns);
/* Appends a row: the time [s], then all numbers [m, rad] in the order of the columns. numbers (nq coordinates or nv
 * increments) is in the model's order of joints, tree by tree. */
void run_columns_write(Text* row, double time, const double* numbers, const Model* model, RunColumns columns);
/* Returns true if the table has the columns of this model. Otherwise returns false with a diagnostic at line 1 of the
 * file. */
bool run_columns_match_model(const CsvTable* table, const char* path, const Model* model, RunColumns columns,
                             Diagnostics* diagnostics);
/* Sets numbers (nq coordinates or nv increments), in the model's order of joints, to the values of a row.
 * run_columns_match_model must be true for the table. Returns false with a diagnostic if a value is invalid; some
 * numbers may then be set. */
bool run_columns_read(double* numbers, int row, const CsvTable* table, const char* path, const Model* model,
                      RunColumns columns, Diagnostics* diagnostics);
/* Opens a file with the columns of this model for reading row by row. The caller closes *rows with csv_rows_close.
 * Returns STATUS_IO with a diagnostic if the file cannot be read. Returns STATUS_BAD_INPUT with a diagnostic if
 * run_columns_match_model is false or a number is not finite. *rows is NULL after an error. */
Status run_columns_open(CsvRows** rows, const char* path, const Model* model, RunColumns columns,
                        Diagnostics* diagnostics);
/* Sets numbers (nq coordinates or nv increments) [m, rad], in the model's order of joints, to the values of a row. */
void run_columns_read_row(CsvRows* rows, int row, const Model* model, RunColumns columns, double* numbers);

#endif
