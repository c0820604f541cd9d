/* Checks that the files of a run agree with each other and with the scene that they name. The proof of non-intersection
 * is in cmd_certify.c. Private to app/; docs/derivations/certificate.md, P7. */
#ifndef SDRS_APP_RUN_CHECK_H
#define SDRS_APP_RUN_CHECK_H

#include "app/command.h"

/* A file of the run. */
typedef struct {
  char* path;
  CsvRows* rows;
} RunFile;

/* The contacts of one state. */
typedef struct {
  int state, first, count, capacity; /* rows first ... first + count - 1 of contacts.csv; state -1: none loaded yet */
  RunContact* list;
} StateContacts;

/* State of the check. Borrows `recorded` and owns the rest. Keeps only one or two states of the files in memory, and
 * one number per state. run_check_free accepts a zeroed struct. */
typedef struct {
  const Recorded* recorded;
  int steps;           /* number of steps in summary.json */
  double smallest_gap; /* smallest gap in summary.json [m]; INFINITY: the file gives none */
  char* summary_path;
  RunFile trajectory, joints, contacts, solver;
  RunPoseRows* poses; /* rows of the trajectory */
  RunContactRows* contact_rows;
  int states;           /* number of rows of joints.csv */
  double* q;            /* buffer for one row  (nq) */
  StateContacts* at;    /* contacts of two consecutive states  (2) */
  int* contact_first;   /* first row of contacts.csv of each state  (states + 1); NULL: rows out of order */
  Diagnostics findings; /* errors in the files */
} RunCheck;

/* Opens the files of the run in `folder`. Returns STATUS_IO or STATUS_BAD_INPUT, with diagnostics, if a file is missing
 * or malformed. Wrong values in a well-formed file are found by run_check_states. The caller calls run_check_free in
 * any case. */
Status run_check_read(RunCheck* check, const Recorded* recorded, const char* folder, Diagnostics* diagnostics);
/* Closes the files, and frees tables and findings. */
void run_check_free(RunCheck* check);

/* Checks all states: the numbers of rows, times, steps, the initial state, poses, centres of mass, energies, momenta,
 * and the forces against the motion (app/run_check.c). Adds errors to check->findings. */
void run_check_states(RunCheck* check);

/* The pairs of bodies near each other in a row of contacts.csv and solver.csv (pairs, count) and in the previous row
 * (before, before_count). row >= 1, because both files do not contain the initial state, row 0
 * (app/run_check_contacts.c). */
typedef struct {
  int row;
  const ProofPair *pairs, *before;
  int count, before_count;
} RowPairs;
/* Checks the contacts and gaps of one row against the exact distances of the pairs. Adds errors to check->findings. */
void run_check_row_pairs(RunCheck* check, const RowPairs* row);

/* Returns the number in a cell of the file; NAN if the cell is not a number. */
double run_check_value(const RunFile* file, int row, int column);
/* Returns the time of a state in joints.csv [s]. */
double run_check_time(const RunCheck* check, int state);
/* Returns the joint coordinates of a state (nq). The array belongs to `check` and is valid until the next call. */
const double* run_check_coordinates(const RunCheck* check, int state);
/* Returns the recorded contacts of a state, or none if contact_first is NULL. They belong to `check` and are valid
 * until the call after the next one. */
const StateContacts* run_check_contacts(const RunCheck* check, int state);
/* Returns the number of steps from t = 0 to recorded row `row` (0 ... rows - 1); for row 0 this is the start_step of
 * the run. */
int run_check_step(const RunCheck* check, int row);
/* Returns the number of substeps of the step that ends at a row; 1 if the file does not give the number. */
int run_check_parts(const RunCheck* check, int row);
/* Adds an error to check->findings, at a cell of the file. column -1: the whole row; row -1: the header. */
__attribute__((format(printf, 5, 6))) void run_check_find(RunCheck* check, const RunFile* file, int row, int column,
                                                          const char* format, ...);

#endif
