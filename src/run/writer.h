/* Writers of the CSV files in the run folder: header and rows of each file. Private to run/. */
#ifndef SDRS_RUN_WRITER_H
#define SDRS_RUN_WRITER_H

#include "run/run.h"

/* Shared data of the writers during a run. */
typedef struct {
  const Model* model;
  Quat* rotations; /* last written quaternion of each link (links); the next one gets the nearer sign */
} WriterContext;

typedef struct {
  const char* file;
  bool initial; /* writes a row for the initial state */
  void (*header)(Text* row, const Model* model);
  void (*rows)(Text* rows, WriterContext* context, const RunFrame* frame);
  unsigned asked; /* OUTPUT_... flag that requests the file; 0: always written */
} RunWriter;

extern const RunWriter WRITER_TRAJECTORY, WRITER_JOINTS, WRITER_CONTACTS, WRITER_SOLVER, WRITER_PATH, WRITER_VELOCITIES,
    WRITER_FORCES, WRITER_CLOSURES, WRITER_PRESSURE, WRITER_REACTIONS, WRITER_IMU;

/* Appends a comma and the field, quoted if necessary (run/columns.c). Never fails. */
void run_add_field(Text* row, const char* field);
/* Appends a comma and `<name>/<column>` for each of columns[count]. */
void run_add_fields(Text* row, const char* name, const char* const* columns, int count);
/* Appends a comma and the shortest text that reads back to the same double for each of values[count]. */
void run_add_numbers(Text* row, const double* values, int count);

/* Content of the columns after the time, in the order of the links (run/columns.c): joint coordinates or increments. An
 * increment has the name of its coordinate. The increments of a ball, rotations about the link's axes in sequence, are
 * rx, ry, rz. */
typedef enum { RUN_COORDINATES, RUN_INCREMENTS } RunColumns;
/* Appends the name of the k-th column of a link: `<link>/<coordinate>`. */
void run_columns_name(Text* name, const Model* model, int link, int k, RunColumns columns);
/* Appends the header line: time and a column for every coordinate or increment. */
void run_columns_header(Text* row, const Model* model, RunColumns columns);
/* Appends a row: time [s] and numbers (nq or nv) [m, rad], given in the order of the trees. */
void run_columns_write(Text* row, double time, const double* numbers, const Model* model, RunColumns columns);
/* Returns true if the columns are those of this model. False with a diagnostic at the first line. */
bool run_columns_fit(const CsvTable* table, const char* path, const Model* model, RunColumns columns,
                     Diagnostics* diagnostics);
/* Reads a row into numbers (nq or nv), in the order of the trees. Requires run_columns_fit. False with a diagnostic;
 * some numbers may then be set. */
bool run_columns_read(double* numbers, int row, const CsvTable* table, const char* path, const Model* model,
                      RunColumns columns, Diagnostics* diagnostics);
/* Opens such a file for reading row by row. Checks run_columns_fit and that all numbers are finite. Returns STATUS_IO
 * or STATUS_BAD_INPUT with a diagnostic; *rows is then NULL. The caller closes it. */
Status run_columns_open(CsvRows** rows, const char* path, const Model* model, RunColumns columns,
                        Diagnostics* diagnostics);
/* Sets numbers (nq or nv) [m, rad] to those of a row. */
void run_columns_at(CsvRows* rows, int row, const Model* model, RunColumns columns, double* numbers);

#endif
