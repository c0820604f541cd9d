/* Checks that a run's files describe one motion of the scene that they name, except for the proof in cmd_certify.c.
 * Private to app/; docs/derivations/certificate.md, P7. */
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
  int state, first, count, capacity; /* rows of contacts.csv from `first` on; state -1: none yet */
  RunContact* list;
} StateContacts;

/* State of the check; run_check_free accepts it zeroed. Borrows `recorded`, owns the rest. Holds one or two states of
 * the files at a time, and one number per state. */
typedef struct {
  const Recorded* recorded;
  int steps;           /* number of steps in summary.json */
  double smallest_gap; /* smallest gap in it; INFINITY: none [m] */
  char* summary_path;
  RunFile trajectory, joints, contacts, solver;
  RunPoseRows* poses; /* rows of the trajectory */
  RunContactRows* contact_rows;
  int states;           /* rows of joints.csv */
  double* q;            /* buffer for one row  (nq) */
  StateContacts* at;    /* contacts of two consecutive states  (2) */
  int* contact_first;   /* first row of contacts.csv of each state  (states + 1); NULL: rows out of order */
  Diagnostics findings; /* errors in the files */
} RunCheck;

/* Reads the files. Returns STATUS_IO or STATUS_BAD_INPUT with diagnostics if one is missing or malformed. Wrong but
 * well-formed content is a finding of run_check_states. The caller calls run_check_free in any case. */
Status run_check_read(RunCheck* check, const Recorded* recorded, const char* folder, Diagnostics* diagnostics);
/* Frees files, tables and findings. */
void run_check_free(RunCheck* check);

/* Checks all states: numbers of rows, times, steps, the initial state, poses, centres, energies, momenta, and forces
 * against motion (app/run_check.c). Adds errors to check->findings. */
void run_check_states(RunCheck* check);

/* Context of the check of a row of contacts.csv and solver.csv (row >= 1; 0: the initial state, which they do not
 * contain): the pairs near each other in the row (count) and in the row before (before_count)
 * (app/run_check_contacts.c). */
typedef struct {
  int row;
  const ProofPair *pairs, *before;
  int count, before_count;
} RowPairs;
/* Adds an error to check->findings. */
void run_check_row_pairs(RunCheck* check, const RowPairs* row);

/* Returns the number in a cell of a row; NAN if the cell is not a number. */
double run_check_value(const RunFile* file, int row, int column);
/* Returns the time of a state in joints.csv [s]. */
double run_check_time(const RunCheck* check, int state);
/* Returns the coordinates of a state (nq), valid until the next call. */
const double* run_check_coordinates(const RunCheck* check, int state);
/* Returns the recorded contacts of a state, valid until the call after the next one; none if contact_first is NULL. */
const StateContacts* run_check_contacts(const RunCheck* check, int state);
/* Returns the step of a recorded row, 0 ... rows - 1, counted from the start_step of the run. */
int run_check_step(const RunCheck* check, int row);
/* Returns the number of substeps of the step to a row; 1 if the file does not give it. */
int run_check_parts(const RunCheck* check, int row);
/* Adds a finding at a cell; column -1: the whole row; row -1: the header. */
__attribute__((format(printf, 5, 6))) void run_check_find(RunCheck* check, const RunFile* file, int row, int column,
                                                          const char* format, ...);

#endif
