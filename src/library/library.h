/* Private to library/: data of an object of sdrs.h, and the entry of every call.
 * Data that are constant after loading are shared between clones (Shared); everything else belongs to one object
 * (ObjectState). Each has a memory pool: if an allocation fails in a call, the object's pool is destroyed, and the next
 * call recreates the object's state from the shared data. */
#ifndef SDRS_LIBRARY_LIBRARY_H
#define SDRS_LIBRARY_LIBRARY_H

#include <stdatomic.h>
#include "library/sdrs.h"
#include "optimize/optimize.h"

/* A model with its own initial state and, if driven, its own inputs. All other data belongs to the shared model. */
typedef struct {
  Model model;             /* owns initial_coordinates, initial_velocities and, if driven, the controllers */
  bool driven;             /* controllers follow `signals` */
  const double* placed_at; /* initial coordinates of the shared model (nq): closures keep the lengths they have there */
  int rows, room;          /* input rows: given, allocated */
  SceneSignal* signals;    /* one HELD signal per controller; owns their values */
  ModelController* controllers; /* the model's controllers if driven */
} DrivenModel;

typedef struct {
  MemoryPool* pool;
  atomic_int owners;
  int threads, scenario;
  bool is_task;
  Scene own_scene; /* only without a task */
  Task task;
  Optimization* optimization;
  Loss* loss;
  double* design; /* values of the task's variables */
  Model model;
  int inputs; /* channels of all controllers */
  Diagnostics diagnostics;
} Shared;

/* Kinds of arrays that are computed on request. */
enum { BUFFER_VIEW, BUFFER_RECORD, BUFFER_SLOPE, BUFFER_KINDS };

enum { SDRS_BLOCKS = SDRS_IMU + 1 };

typedef struct {
  Text error;
  Diagnostics diagnostics; /* messages of the last call */
  DrivenModel live;
  Sim* sim; /* simulation of live.model; NULL: not begun */
  DrivenModel ran;
  Recording recording;
  bool recorded, has_gradient;
  bool has_moments; /* of the gradient: LossSeeds.keep_moments */
  bool asking;      /* within a callback of sdrs_loss, which may add seeds */
  sdrs_seed* seeds;
  int seed_count;
  ModelGradient gradient;
  double* buffer[BUFFER_KINDS][SDRS_BLOCKS];
  char** names[SDRS_BLOCKS]; /* names of the entries of each block */
} ObjectState;

struct sdrs {
  Shared* shared;    /* NULL: loading failed */
  MemoryPool* pool;  /* memory of `own` and all that it refers to */
  ObjectState* own;  /* NULL: created by the next call */
  const char* error; /* replaces own->error when there is no memory for it */
};

/* ---------------------------------------------------------------- calls (library/object.c) */

typedef sdrs_status (*LibraryWork)(sdrs* s, void* arguments);
/* Runs `work` as one call on an object: with its pool, in the C locale, with the diagnostics of the last call cleared.
 * Returns the status of the work; SDRS_NO_MEMORY if memory ran out, after which the object's own state is gone;
 * SDRS_USAGE for s = NULL and for an object that was not loaded. */
sdrs_status library_call(sdrs* s, LibraryWork work, void* arguments);
/* Calls work(context, k) for k = 0, ..., count - 1 on `threads` threads (0: all). Returns the first status by index
 * that is not SDRS_OK; all are called. Allocates nothing itself. */
sdrs_status library_each(int count, int threads, sdrs_status (*work)(const void* context, int index),
                         const void* context);
/* Runs `work` with this pool, in the C locale. False: out of memory; its allocations then stay in the pool, in an
 * undefined state. Other errors are reported by the work itself. */
bool library_try(MemoryPool* pool, void (*work)(void*), void* context);
/* Appends the errors as the command line prints them, without the last line end; no warnings and notes. */
void library_add_errors(Text* out, const Diagnostics* diagnostics);
/* Formats the object's error text, replacing the last one; returns `status`. */
sdrs_status library_fail(sdrs* s, sdrs_status status, const char* format, ...) __attribute__((format(printf, 3, 4)));
/* Reports that the argument `name` is NULL; returns SDRS_USAGE. */
sdrs_status library_missing(sdrs* s, const char* name);
/* Sets the error text from own->diagnostics, as the command line prints errors; returns the public status. */
sdrs_status library_fail_diagnosed(sdrs* s, Status status);
/* Public value of a status; SDRS_SOLVER for STATUS_INTERRUPTED. Never fails. */
sdrs_status library_status(Status status);

/* ---------------------------------------------------------------- structs with their size (library/sized.c) */

/* Copies the first `known` bytes of the caller's struct; both begin with their size. False: NULL, too short, or nonzero
 * bytes beyond `known`. */
bool library_take(void* own, size_t known, const void* given);
/* Writes `known` bytes to the caller's struct and sets its size. False, with nothing written: NULL or too short. */
bool library_give(void* given, const void* own, size_t known);
/* Reports that a struct of this type has a wrong size; returns SDRS_USAGE. s may be NULL. */
sdrs_status library_wrong_size(sdrs* s, const char* type);
/* Number of variables of the task; 0 for a scene. */
int library_design_count(const sdrs* s);

/* ---------------------------------------------------------------- arrays */

/* Zeroed buffer of `count` doubles for a block, owned by the object; replaces and frees the previous one of this kind
 * and block. Never NULL: running out of memory ends the call. */
double* library_buffer(sdrs* s, int kind, sdrs_block block, size_t count);

/* ---------------------------------------------------------------- drives (library/drive.c) */

/* Copies the model's initial state, q (nq) and v (nv), and borrows everything else. Freed by drive_free. Running out of
 * memory ends the call. */
void drive_create(DrivenModel* drive, const Model* model);
/* Copies `from` with its input rows [0, steps); beyond its rows the last one is held. Overwrites `drive` without
 * freeing it. Running out of memory ends the call. */
void drive_copy(DrivenModel* drive, const DrivenModel* from, int steps);
/* Frees what it owns and zeroes it; accepts a zeroed one, not NULL. */
void drive_free(DrivenModel* drive);
/* Sets `rows` input rows from row `first` on; missing rows before it follow the present inputs or signals. values (rows
 * x inputs): finite, copied, in the order of the controllers. May allocate. shared is only read. */
void drive_input(DrivenModel* drive, const Model* shared, int first, const double* values, int rows);
/* Frees the inputs: the controllers follow the shared model's signals again. Never fails. */
void drive_undriven(DrivenModel* drive, const Model* shared);
/* Sets the initial coordinates q (nq): m, rad, and quaternions w x y z, which are normalized. False, with nothing
 * changed: not finite, or a zero quaternion. */
bool drive_set_coordinates(DrivenModel* drive, const double* q);
/* Sets the initial velocities v (nv), m/s and rad/s. False, with nothing changed: not finite. */
bool drive_set_velocities(DrivenModel* drive, const double* v);
/* Number of channels of all controllers (nu). */
int model_input_count(const Model* model);

/* Creates the simulation of the present state if there is none. On failure the error is reported. */
sdrs_status library_sim(sdrs* s);

/* Quaternions w x y z of all links in all rows of the record (rows x links x 4), continuous in time (library/record.c).
 * Owned by the object, computed once per run. There must be a record. */
const double* library_orientations(sdrs* s);
/* Fails unless the scene outputs the observable of this block, SDRS_REACTIONS or SDRS_IMU. */
sdrs_status library_has_observable(sdrs* s, sdrs_block block, const Model* model);

#endif
