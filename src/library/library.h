/* Private to library/: what an object of sdrs.h holds, and how a call enters it.
 * What is constant after loading is shared between clones (Shared), everything else is an object's own (ObjectState).
 * Each lives in a memory pool: an allocation that fails in a call throws the object's own pool away, whatever state it
 * is in, and the object begins anew from what is shared. */
#ifndef SDRS_LIBRARY_LIBRARY_H
#define SDRS_LIBRARY_LIBRARY_H

#include <stdatomic.h>
#include "library/sdrs.h"
#include "optimize/optimize.h"

/* A model with its own start and, where driven, its own inputs. All other data belongs to the shared model. */
typedef struct {
  Model model;                  /* owns initial_coordinates and initial_velocities, and when driven the controllers */
  bool driven;                  /* controllers follow `signals` */
  const double* placed_at;      /* the shared model's start: where closures stay when this one is set elsewhere (nq) */
  int rows, room;               /* of inputs: given, allocated */
  SceneSignal* signals;         /* HELD, one for every controller; owns their values */
  ModelController* controllers; /* the model's, when driven */
} DrivenModel;

typedef struct {
  MemoryPool* pool;
  atomic_int owners;
  int threads, scenario;
  bool is_task;
  Scene own_scene; /* unless it is a task */
  Task task;
  Optimization* optimization;
  Loss* loss;
  double* design; /* values of the task's variables */
  Model model;
  int inputs; /* channels of all controllers */
  Diagnostics diagnostics;
} Shared;

/* Arrays that are made when they are asked for. */
enum { BUFFER_VIEW, BUFFER_RECORD, BUFFER_SLOPE, BUFFER_KINDS };

enum { SDRS_BLOCKS = SDRS_IMU + 1 };

typedef struct {
  Text error;
  Diagnostics diagnostics; /* of the last call */
  DrivenModel live;
  Sim* sim; /* of live.model; NULL: not begun */
  DrivenModel ran;
  Recording recording;
  bool recorded, has_gradient;
  bool asking; /* for seeds, in a callback of sdrs_loss */
  sdrs_seed* seeds;
  int seed_count;
  ModelGradient gradient;
  double* buffer[BUFFER_KINDS][SDRS_BLOCKS];
  char** names[SDRS_BLOCKS]; /* of entries */
} ObjectState;

struct sdrs {
  Shared* shared;    /* NULL: loading failed */
  MemoryPool* pool;  /* memory of `own` and all that it refers to */
  ObjectState* own;  /* NULL: to be made by the next call */
  const char* error; /* instead of own->error: there is no memory for words */
};

/* ---------------------------------------------------------------- calls (library/object.c) */

typedef sdrs_status (*LibraryWork)(sdrs* s, void* arguments);
/* One call on an object: work with its pool, in the C locale, errors cleared before. The status of the work;
 * SDRS_NO_MEMORY when memory ran out, after which the object's own part is gone; SDRS_USAGE for s = NULL and for an
 * object that was never loaded. */
sdrs_status library_call(sdrs* s, LibraryWork work, void* arguments);
/* Work with this pool, in the C locale; false: there was no memory for it. What the work had allocated then stays in
 * the pool, in no certain state. Returns false only then: errors of the work are the work's to tell. */
bool library_try(MemoryPool* pool, void (*work)(void*), void* context);
/* Text of the errors as the command line prints them, without the last end of line. Warnings and notes are left out.
 * Only appends. Allocates in out, which is the caller's. */
void library_add_errors(Text* out, const Diagnostics* diagnostics);
/* Sets the error text; returns the status. The words are formatted into the object's own text, in place of those
 * before. */
sdrs_status library_fail(sdrs* s, sdrs_status status, const char* format, ...) __attribute__((format(printf, 3, 4)));
/* SDRS_USAGE with the error that this argument is NULL. name is constant. */
sdrs_status library_missing(sdrs* s, const char* name);
/* From own->diagnostics, as the command line prints errors. */
sdrs_status library_fail_diagnosed(sdrs* s, Status status);
/* The public number of a status; SDRS_SOLVER for STATUS_INTERRUPTED. Never fails; nothing is allocated. */
sdrs_status library_status(Status status);

/* ---------------------------------------------------------------- structs with their size (library/sized.c) */

/* The caller's struct as this library knows it, `known` bytes; both begin with their size. false: NULL, too short, or
 * it holds more that is not zero. Never allocates. */
bool library_take(void* own, size_t known, const void* given);
/* Writes `known` bytes to the caller's struct, the size included. false: NULL or too short, and nothing is written.
 * Never allocates. */
bool library_give(void* given, const void* own, size_t known);
/* SDRS_USAGE, and which struct has a wrong size in the object's words. NULL is allowed. */
sdrs_status library_wrong_size(sdrs* s, const char* type);
/* Number of variables of the task; 0 for a scene. */
int library_design_count(const sdrs* s);

/* ---------------------------------------------------------------- arrays */

/* A block of the object in a buffer that is as large as asked for; zeroed. count doubles; the one before of this
 * kind and block is freed. The object owns it; no memory does not return, but ends the call. Never NULL. */
double* library_buffer(sdrs* s, int kind, sdrs_block block, size_t count);

/* ---------------------------------------------------------------- drives (library/drive.c) */

/* A copy of the model's start, q[nq] and v[nv]; all the rest is borrowed. Freed with drive_free, which accepts a zeroed
 * one. Never fails but for memory, which ends the call. */
void drive_create(DrivenModel* drive, const Model* model);
/* As `from` is now, with its inputs for rows [0, steps). `drive` is overwritten, so free it before; owns copies of
 * all it has. Beyond the rows of `from` its last one is held. Never fails but for memory, which ends the call. */
void drive_copy(DrivenModel* drive, const DrivenModel* from, int steps);
/* Frees what it owns and zeroes it; the shared model stays. NULL is not accepted. */
void drive_free(DrivenModel* drive);
/* Inputs of `rows` rows (rows x inputs) from row `first` on; what is missing before it is what the signals say.
 * values are copied, row by row, in the order of the controllers. Allocates when there is no room. values must be
 * finite: an error that the caller has reported. shared is only read. */
void drive_input(DrivenModel* drive, const Model* shared, int first, const double* values, int rows);
/* The controllers follow the shared model's signals again; inputs are freed. Never fails. */
void drive_undriven(DrivenModel* drive, const Model* shared);
/* Coordinates as a start: finite, quaternions of unit length. false: they cannot be one. q[nq], in metres, radians
 * and quaternions w x y z, is copied; nothing changes on failure. */
bool drive_set_coordinates(DrivenModel* drive, const double* q);
/* v[nv], m/s and rad/s, is copied. false: a number that is not finite, and nothing changes. */
bool drive_set_velocities(DrivenModel* drive, const double* v);
/* Channels of all controllers: nu. */
int model_input_count(const Model* model);

/* The simulation of the present state, begun if need be. On failure the error is reported. */
sdrs_status library_sim(sdrs* s);

/* Quaternions of all links in all rows of the record (rows x links x 4), continuous in time (library/record.c). w x
 * y z; belongs to the object, made once a run. There must be a record. */
const double* library_orientations(sdrs* s);
/* Fails unless the scene asks for the observable of this block, SDRS_REACTIONS or SDRS_IMU. */
sdrs_status library_has_observable(sdrs* s, sdrs_block block, const Model* model);

#endif
