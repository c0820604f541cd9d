/* outside: other programs, and texts that come from other people's files. */
#ifndef SDRS_BASE_OUTSIDE_H
#define SDRS_BASE_OUTSIDE_H

#include <sys/types.h>
#include "base/base.h"

/* A running program that reads its standard input from us. */
typedef struct {
  pid_t process;
  int input; /* write end of its standard input */
} Program;

/* Starts words[0], found along PATH, with these arguments (NULL-terminated). No shell takes part, so no argument is
 * interpreted. `output` and `errors` are the descriptors of its standard output and error; -1: /dev/null. Returns 0, or
 * the errno of the failure (ENOENT: not installed) with nothing started. Ended by program_finish. */
int program_start(Program* program, const char* const* words, int output, int errors);
/* Writes (size) bytes to its standard input. Returns false when it no longer reads; no signal is raised. */
bool program_send(const Program* program, const void* data, size_t size);
/* Closes its standard input and waits for its end. Returns true for exit code 0. */
bool program_finish(const Program* program);

/* The first control character of a UTF-8 text (U+0000 ... U+001F, U+007F ... U+009F), or NULL. Borrowed from text. */
const char* text_control(const char* text);
/* Returns whether the name has an ending of scenes, robots, meshes, tables or pictures (any case), or belongs to no
 * regular file. Lines of other files are not printed: a scene may name any file of the machine. */
bool file_is_data(const char* path);
/* Returns file_is_data; adds the error with its remedy otherwise. */
bool file_check_data(const char* path, Diagnostics* diagnostics);
/* The message about a name that file_is_data refuses, with the remedy. */
extern const char FILE_NOT_DATA[];
/* Returns whether a later column of the table has the same name, so that the name does not say which is meant. */
bool csv_repeated(const CsvTable* table, int column);

#endif
