/* Private to library/: the data of an sdrs object, and the function through which every call enters.
 * Data that are constant after loading are shared between clones (Shared); all other data belong to one object
 * (ObjectState). Shared and ObjectState have a memory pool each. If an allocation fails in a call, the object's pool is
 * destroyed, and the next call recreates the object's state from the shared data. */
#ifndef SDRS_LIBRARY_LIBRARY_H
#define SDRS_LIBRARY_LIBRARY_H

#include <stdatomic.h>
#include "library/sdrs.h"
#include "optimize/optimize.h"

/* A model with its own initial state and, if driven, its own inputs. All other data belongs to the shared model. */
typedef struct {
  Model model;             /* owns initial_coordinates, initial_velocities and, if driven, the controllers */
  bool driven;             /* the controllers follow `signals` */
  const double* placed_at; /* initial coordinates of the shared model (nq): closures keep the lengths they have there */
  int rows, room;          /* number of input rows given; number allocated */
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
  bool has_moments; /* the gradient was computed with LossSeeds.keep_moments */
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
/* Runs `work` as one call on an object: with the object's pool, in the C locale, after clearing the diagnostics of the
 * last call. Returns the status of the work. Returns SDRS_NO_MEMORY if memory ran out; the object's own state is then
 * destroyed. Returns SDRS_USAGE if s is NULL or was not loaded. */
sdrs_status library_call(sdrs* s, LibraryWork work, void* arguments);
/* Calls work(context, k) for k = 0, ..., count - 1 on `threads` threads (0 or 1: the calling thread alone). Calls it
 * for every k, also after a failure. Returns the status that is not SDRS_OK with the smallest k, else SDRS_OK.
 * Allocates nothing itself. */
sdrs_status library_each(int count, int threads, sdrs_status (*work)(const void* context, int index),
                         const void* context);
/* Runs `work` with this pool, in the C locale. Returns false if memory ran out; the allocations of the work then stay
 * in the pool, in an undefined state. The work reports other errors itself. */
bool library_try(MemoryPool* pool, void (*work)(void*), void* context);
/* Appends the errors as the command line prints them, without the last line end. Warnings and notes are omitted. */
void library_add_errors(Text* out, const Diagnostics* diagnostics);
/* Replaces the object's error text by a formatted one. Returns `status`. */
sdrs_status library_fail(sdrs* s, sdrs_status status, const char* format, ...) __attribute__((format(printf, 3, 4)));
/* Sets the object's error text, unless s is NULL: the argument `name` is NULL. Returns SDRS_USAGE. */
sdrs_status library_missing(sdrs* s, const char* name);
/* Sets the object's error text to the errors in own->diagnostics, as the command line prints them. Returns the public
 * value of `status`. */
sdrs_status library_fail_diagnosed(sdrs* s, Status status);
/* Returns the public value of a status; SDRS_SOLVER for STATUS_INTERRUPTED. Never fails. */
sdrs_status library_status(Status status);

/* ---------------------------------------------------------------- structs with their size (library/sized.c) */

/* Copies the first `known` bytes of the caller's struct `given` to `own`; both begin with their size. Returns false if
 * `given` is NULL, shorter than `known`, or has nonzero bytes beyond `known`. */
bool library_take(void* own, size_t known, const void* given);
/* Writes `known` bytes of `own` to the caller's struct `given` and sets its size. Returns false, with nothing written,
 * if `given` is NULL or shorter than `known`. */
bool library_give(void* given, const void* own, size_t known);
/* Sets the object's error text, unless s is NULL: a struct of this type has a wrong size. Returns SDRS_USAGE. */
sdrs_status library_wrong_size(sdrs* s, const char* type);
/* Returns the number of design variables of the task; 0 for a scene. */
int library_design_count(const sdrs* s);

/* ---------------------------------------------------------------- arrays */

/* Returns a zeroed buffer of `count` doubles for a block, owned by the object. Frees the previous buffer of this kind
 * and block. Never NULL: if memory runs out the call ends. */
double* library_buffer(sdrs* s, int kind, sdrs_block block, size_t count);

/* ---------------------------------------------------------------- drives (library/drive.c) */

/* Sets *drive to a model with copies of the initial state q (nq) and v (nv) of `model`; all other data are borrowed.
 * The caller frees it with drive_free. If memory runs out the call ends. */
void drive_create(DrivenModel* drive, const Model* model);
/* Sets *drive to a copy of `from` with its input rows [0, steps). Beyond the rows of `from` its last row is repeated.
 * Overwrites *drive without freeing it. If memory runs out the call ends. */
void drive_copy(DrivenModel* drive, const DrivenModel* from, int steps);
/* Frees the data that `drive` owns and zeroes it. Accepts a zeroed struct, not NULL. */
void drive_free(DrivenModel* drive);
/* Sets the input rows first .. first + rows - 1. Missing rows before `first` are filled with the present inputs or
 * signals. values (rows x inputs): finite, copied, in the order of the controllers. May allocate. shared is only
 * read. */
void drive_input(DrivenModel* drive, const Model* shared, int first, const double* values, int rows);
/* Frees the inputs. The controllers follow the signals of the shared model again. Never fails. */
void drive_undriven(DrivenModel* drive, const Model* shared);
/* Sets the initial coordinates q (nq) [m, rad], with quaternions w x y z, which are normalized. Returns false, with
 * nothing changed, if a number is not finite or a quaternion is zero. */
bool drive_set_coordinates(DrivenModel* drive, const double* q);
/* Sets the initial velocities v (nv) [m/s, rad/s]. Returns false, with nothing changed, if a number is not finite. */
bool drive_set_velocities(DrivenModel* drive, const double* v);
/* Returns the number of channels of all controllers (nu). */
int model_input_count(const Model* model);

/* Creates the simulation of the present state if there is none. Returns SDRS_OK, or another status with the object's
 * error text set. */
sdrs_status library_sim(sdrs* s);

/* Returns the quaternions w x y z of all links in all rows of the record (rows x links x 4), continuous in time
 * (library/record.c). Owned by the object, computed once per run. There must be a record. */
const double* library_orientations(sdrs* s);
/* Returns SDRS_OK if the observable of this block, SDRS_REACTIONS or SDRS_IMU, is available: SDRS_IMU always,
 * SDRS_REACTIONS if the scene outputs it. Otherwise sets the error text and returns SDRS_USAGE. */
sdrs_status library_has_observable(sdrs* s, sdrs_block block, const Model* model);

#endif
