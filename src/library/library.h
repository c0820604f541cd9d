/* Private to library/: the data of an sdrs object, and library_call, through which every public call enters. Shared
 * holds the data that are constant after loading and shared between clones. LibraryState holds all other data of one
 * object. Shared and LibraryState have one memory pool each. If an allocation fails in a call, the pool of the object
 * is destroyed, and the next call creates the LibraryState again from the shared data. */
#ifndef SDRS_LIBRARY_LIBRARY_H
#define SDRS_LIBRARY_LIBRARY_H

#include <stdatomic.h>
#include "library/sdrs.h"
#include "model/inputs.h"
#include "optimize/optimize.h"

typedef struct {
  MemoryPool* pool;
  atomic_int owners;     /* number of objects that share the data */
  int threads, scenario; /* as in sdrs_options */
  bool is_task;          /* true: the object was loaded from a task; false: from a scene */
  Scene own_scene;       /* scene of an object that is not a task */
  Task task;
  Optimization* optimization;
  Loss* loss;
  double* design; /* values of the task's design variables */
  Model model;
  int inputs;              /* number of input channels of all controllers (size: nu) */
  Diagnostics diagnostics; /* messages of loading */
} Shared;

/* Kinds of value buffers of each sdrs_block: current values (sdrs_view), recorded values (sdrs_record), gradient
 * (sdrs_gradient_view). */
enum { BUFFER_VIEW, BUFFER_RECORD, BUFFER_GRADIENT, BUFFER_KINDS };

enum { LIBRARY_BLOCK_COUNT = SDRS_RANGE + 1 };

typedef struct {
  Text error;
  Diagnostics diagnostics; /* messages of the last call */
  DrivenModel live;        /* model of the current simulation, advanced by sdrs_step */
  Sim* sim;                /* simulation of live.model; NULL before it begins */
  DrivenModel ran;         /* model of the recorded run (sdrs_run) */
  Recording recording;
  bool recorded, has_gradient;
  bool has_moments; /* true: the chain rule from the links' mass moments to masses and vertices is still to be applied
                       (LossSeeds.keep_moments) */
  bool in_loss_callback; /* true during a callback of sdrs_loss, when sdrs_add_seed is allowed */
  sdrs_seed* seeds;
  int seed_count;
  ModelGradient gradient;
  double* buffer[BUFFER_KINDS][LIBRARY_BLOCK_COUNT];
  char** names[LIBRARY_BLOCK_COUNT]; /* names[block]: names of the entries of this sdrs_block; NULL until requested */
} LibraryState;

struct sdrs {
  Shared* shared;      /* NULL if loading failed */
  MemoryPool* pool;    /* memory of `state` and of all its data */
  LibraryState* state; /* NULL until the next call creates the state */
  const char* error;   /* static text if there is no memory for state->error; otherwise NULL */
};

/* ---------------------------------------------------------------- calls (library/object.c) */

typedef sdrs_status (*LibraryWork)(sdrs* s, void* arguments);
/* Runs `work` as one public call on an object. The call uses the object's pool and the C locale, and clears the
 * diagnostics of the last call. Returns the status of the work. Returns SDRS_NO_MEMORY if memory ran out; s->state is
 * then destroyed. Returns SDRS_USAGE if s is NULL or was not loaded. */
sdrs_status library_call(sdrs* s, LibraryWork work, void* arguments);
/* Calls work(context, k) for every k from 0 to count - 1, in parallel on `threads` threads. With threads 0 or 1 only
 * the calling thread works. A failure does not stop the other calls. Returns the status of the failed call with the
 * smallest k, or SDRS_OK if none failed. Allocates nothing itself. */
sdrs_status library_parallel_for(int count, int threads, sdrs_status (*work)(const void* context, int index),
                                 const void* context);
/* Runs work(context) with allocation from `pool`, in the C locale. Returns false if memory ran out; the pool is then in
 * an undefined state and can only be destroyed. `work` reports all other errors itself. */
bool library_try(MemoryPool* pool, void (*work)(void*), void* context);
/* Appends the errors among the diagnostics, in the format of the command line, without the last line end. Omits
 * warnings and notes. */
void library_add_errors(Text* out, const Diagnostics* diagnostics);
/* Sets the object's error text to the formatted text. Returns `status`. */
sdrs_status library_fail(sdrs* s, sdrs_status status, const char* format, ...) __attribute__((format(printf, 3, 4)));
/* Sets the object's error text to a message that the argument `name` must not be NULL. Returns SDRS_USAGE. If s is
 * NULL, only returns SDRS_USAGE. */
sdrs_status library_report_null(sdrs* s, const char* name);
/* Sets the object's error text to the errors in state->diagnostics, as the command line prints them. Returns `status`
 * converted to an sdrs_status. */
sdrs_status library_fail_diagnosed(sdrs* s, Status status);
/* Sets the message for a call that needs a recorded run and returns SDRS_USAGE. */
sdrs_status library_fail_unrecorded(sdrs* s);
/* Converts a status of the internal functions to an sdrs_status; STATUS_INTERRUPTED gives SDRS_SOLVER. Cannot fail. */
sdrs_status library_status(Status status);

/* ---------------------------------------------------------------- structs with their size (library/sized.c) */

/* Copies a struct that a caller passes: the first `known` bytes of `given` to `copy`. Both structs begin with their
 * size. Returns false if `given` is NULL, is shorter than `known`, or has nonzero bytes beyond `known`, because the
 * caller then uses a newer version. */
bool library_copy_argument(void* copy, size_t known, const void* given);
/* Copies a result to a struct of the caller: the first `known` bytes of `result` to `given`, and sets its size. Returns
 * false, with nothing written, if `given` is NULL or shorter than `known`. */
bool library_copy_result(void* given, const void* result, size_t known);
/* Sets the object's error text to a message that a struct of the caller has a wrong size. type: name of the struct.
 * Returns SDRS_USAGE. If s is NULL, only returns SDRS_USAGE. */
sdrs_status library_wrong_size(sdrs* s, const char* type);
/* Returns the number of design variables of the task, or 0 for a scene. */
int library_design_count(const sdrs* s);

/* ---------------------------------------------------------------- arrays */

/* Returns a zeroed buffer of `count` doubles for the values of a block, owned by the object. kind: BUFFER_VIEW,
 * BUFFER_RECORD or BUFFER_GRADIENT. Frees the previous buffer of this kind and block. Never returns NULL: if memory
 * runs out, the call ends with SDRS_NO_MEMORY. */
double* library_buffer(sdrs* s, int kind, sdrs_block block, size_t count);

/* Creates the simulation of the object if there is none. Returns SDRS_OK, or another status with the object's error
 * text set. */
sdrs_status library_create_sim(sdrs* s);

/* Returns the orientations of all links in all rows of the record, quaternions w x y z (rows x links x 4)
 * (library/record.c). Signs are chosen so that the quaternions are continuous in time. The object owns the array, which
 * is computed once per run. A record must exist. */
const double* library_orientations(sdrs* s);
/* Returns the observable that a block shows, or OBSERVABLES if the block shows none. */
ObservableKind library_observable_kind(sdrs_block block);
/* Returns SDRS_OK if the scene provides the values of `block`, which shows an observable. SDRS_IMU and SDRS_RANGE are
 * always available, SDRS_REACTIONS only with simulation.output. Otherwise sets the error text and returns SDRS_USAGE.
 */
sdrs_status library_has_observable(sdrs* s, sdrs_block block, const Model* model);

#endif
