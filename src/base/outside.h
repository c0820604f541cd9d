/* outside: running other programs, and checks of texts and file names that come from users' files. */
#ifndef SDRS_BASE_OUTSIDE_H
#define SDRS_BASE_OUTSIDE_H

#include <sys/types.h>
#include "base/base.h"

/* A child process that reads its standard input from this program. */
typedef struct {
  pid_t process;
  int input; /* write end of its standard input */
} Program;

/* Starts the program words[0], found along PATH, with the arguments `words` (NULL-terminated), without a shell. output,
 * errors: file descriptors of its standard output and error; -1: /dev/null. Returns 0, or the errno of the failure
 * (ENOENT: not installed) with nothing started. Ended by program_finish. */
int program_start(Program* program, const char* const* words, int output, int errors);
/* Writes data (size bytes) to its standard input. False if it no longer reads; no signal is raised. */
bool program_send(const Program* program, const void* data, size_t size);
/* Closes its standard input and waits for its end. True for exit code 0. */
bool program_finish(const Program* program);

/* The first control character of a UTF-8 text (U+0000 ... U+001F, U+007F ... U+009F), or NULL. Borrowed from text. */
const char* text_control(const char* text);
/* True if the name has an extension of scenes, robots, meshes, tables or pictures (any case), or is not a regular file.
 * Lines of other files are never printed, because a scene may name any file of the machine. */
bool file_is_data(const char* path);
/* file_is_data that adds an error with a remedy if false. */
bool file_check_data(const char* path, Diagnostics* diagnostics);
/* Message, with its remedy, for a name that file_is_data rejects. */
extern const char FILE_NOT_DATA[];
/* True if a later column has the same name, so that the name is ambiguous. */
bool csv_repeated(const CsvTable* table, int column);

#endif
