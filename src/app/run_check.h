/* Checks the files of a run against each other and against its scene. cmd_certify.c proves that no bodies intersected.
 * Private to app/. The proof is derived in docs/derivations/certificate.md, P7. */
#ifndef SDRS_APP_RUN_CHECK_H
#define SDRS_APP_RUN_CHECK_H

#include "app/command.h"

/* A CSV file of the run. */
typedef struct {
  char* path;
  CsvRows* rows;
} RunFile;

/* Contacts of one state: rows first ... first + count - 1 of contacts.csv. state: index of the state, or -1 if no state
 * is loaded. */
typedef struct {
  int state, first, count, capacity;
  RunContact* list;
} StateContacts;

/* State of the check. Borrows `recorded` and owns the other members. Holds at most two states of the files in memory.
 * run_check_free accepts a zeroed struct. */
typedef struct {
  const Recorded* recorded;
  int steps;           /* number of steps in summary.json */
  double smallest_gap; /* smallest gap in summary.json [m]; INFINITY if it has none */
  char* summary_path;
  RunFile trajectory, joints, contacts, solver;
  RunPoseRows* poses; /* reader of the poses in trajectory.csv */
  RunContactRows* contact_rows;
  int states;                    /* number of rows of joints.csv */
  double* q;                     /* workspace: coordinates of one state (size: nq) */
  StateContacts* state_contacts; /* contacts of the last even and the last odd state that was read (2) */
  int* contact_first_row; /* first row of contacts.csv for each state (states + 1); NULL if the rows are not in order */
  Diagnostics findings;   /* errors in the files */
} RunCheck;

/* Opens the files of the run in `folder` and reads their headers. Returns STATUS_IO or STATUS_BAD_INPUT, with
 * diagnostics, if a file is missing or malformed. The caller calls run_check_free in any case. */
Status run_check_read(RunCheck* check, const Recorded* recorded, const char* folder, Diagnostics* diagnostics);
/* Closes the files, and frees tables and findings. */
void run_check_free(RunCheck* check);

/* Checks every recorded state: times, steps, poses, centres of mass, energies, momenta, and the balance of forces and
 * motion. Also checks the initial state and the numbers of rows. Adds errors to check->findings. */
void run_check_states(RunCheck* check);

/* Pairs of nearby bodies in a recorded row (`pairs`, size: count) and in the row before it (`before`, size:
 * before_count). row >= 1, because contacts.csv and solver.csv do not contain the initial state, row 0. */
typedef struct {
  int row;
  const ProofPair *pairs, *before;
  int count, before_count;
} RowPairs;
/* Checks the recorded contacts and gaps of a row against the exact distances and forces of the pairs. Adds errors to
 * check->findings. */
void run_check_row_pairs(RunCheck* check, const RowPairs* row);

/* Returns the number in a cell of a file, or NAN if the cell is not a number. */
double run_check_number(const RunFile* file, int row, int column);
/* Returns the time of a state in joints.csv [s]. */
double run_check_time(const RunCheck* check, int state);
/* Returns the joint coordinates of a state (nq). The array belongs to `check` and is overwritten by the next call. */
const double* run_check_coordinates(const RunCheck* check, int state);
/* Returns the recorded contacts of a state, or an empty list if check->contact_first_row is NULL. `check` owns the list
 * and keeps those of the last even and the last odd state. */
const StateContacts* run_check_contacts(const RunCheck* check, int state);
/* Returns the step number of a recorded row, counted from t = 0. Row 0 has the start_step of the run. */
int run_check_step(const RunCheck* check, int row);
/* Returns the number of substeps of the step that ends at `row`, or 1 if the file has no such number. */
int run_check_substeps(const RunCheck* check, int row);
/* Adds an error to check->findings, located at a cell of the file. column: -1 for the whole row; row: -1 for the
 * header. */
__attribute__((format(printf, 5, 6))) void run_check_add_error(RunCheck* check, const RunFile* file, int row,
                                                               int column, const char* format, ...);

#endif
