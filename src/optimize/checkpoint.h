/* Private to optimize/: named arrays of numbers in a file, exact to the bit, so that a stopped optimization goes on as
 * if it had never stopped. Text, one number a line by its 64 bits:
 *
 *     sdrs checkpoint 1
 *     sha256 <64 hexadecimal digits>          of everything after this line
 *     doubles <name> <count>
 *     <16 hexadecimal digits>                 count lines; bits of an IEEE 754 double
 *     integers <name> <count>
 *     <16 hexadecimal digits>                 two's complement
 *     end
 *
 * Names are 1 to 63 of A-Z a-z 0-9 . _ - / and occur once. A file that is cut short, changed in any byte or not of this
 * kind is refused with a message. A Checkpoint owns its arrays; start with {0}. */
#ifndef SDRS_OPTIMIZE_CHECKPOINT_H
#define SDRS_OPTIMIZE_CHECKPOINT_H

#include "base/base.h"

enum { CHECKPOINT_NAME_SIZE = 64 };

typedef struct {
  char name[CHECKPOINT_NAME_SIZE];
  bool is_integers;
  int count;
  uint64_t* bits; /* (count) */
} CheckpointArray;

typedef struct {
  CheckpointArray* arrays;
  int count, capacity;
  char* path; /* of the file read, for messages; NULL when built */
} Checkpoint;

/* Copies. The name must be of the kind above and new. */
void checkpoint_add_doubles(Checkpoint* checkpoint, const char* name, const double* values, int count);
void checkpoint_add_integers(Checkpoint* checkpoint, const char* name, const int64_t* values, int count);

/* The length of an array; -1 when there is none of this name and kind. */
int checkpoint_doubles_count(const Checkpoint* checkpoint, const char* name);
int checkpoint_integers_count(const Checkpoint* checkpoint, const char* name);
/* The values of an array that must have this length; false, with a message and nothing written, when it has not. */
bool checkpoint_get_doubles(const Checkpoint* checkpoint, const char* name, double* values, int count,
                            Diagnostics* diagnostics);
bool checkpoint_get_integers(const Checkpoint* checkpoint, const char* name, int64_t* values, int count,
                             Diagnostics* diagnostics);

/* Atomic: the file holds the old content or the new. STATUS_IO leaves errno set. */
Status checkpoint_write(const Checkpoint* checkpoint, const char* path);
/* STATUS_IO or STATUS_BAD_INPUT with a message; then the checkpoint is empty. */
Status checkpoint_read(Checkpoint* checkpoint, const char* path, Diagnostics* diagnostics);
/* The text of the file; `path` for messages only. `data` need not end with NUL. */
Status checkpoint_parse(Checkpoint* checkpoint, const char* path, const char* data, size_t length,
                        Diagnostics* diagnostics);
void checkpoint_format(const Checkpoint* checkpoint, Text* out);
void checkpoint_free(Checkpoint* checkpoint);

#endif
