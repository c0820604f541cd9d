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

/* Starts the program words[0], found along PATH, with the arguments `words` (NULL-terminated), without a shell. output
 * and errors are the file descriptors of the program's standard output and error; -1 means /dev/null. The caller ends
 * the program with program_finish. Returns 0, or the errno of the failure (ENOENT: not installed) if nothing was
 * started. */
int program_start(Program* program, const char* const* words, int output, int errors);
/* Writes data (size bytes) to the program's standard input. Returns false if the program no longer reads; no signal is
 * raised. */
bool program_send(const Program* program, const void* data, size_t size);
/* Closes the program's standard input and waits for the program to end. Returns true for exit code 0. */
bool program_finish(const Program* program);

/* Returns the first control character of a UTF-8 text (U+0000 ... U+001F, U+007F ... U+009F), borrowed from the text,
 * or NULL if there is none. */
const char* text_control(const char* text);
/* Returns true if the name has an extension of scenes, robots, meshes, tables or pictures (any case), or if the file is
 * not a regular file. Lines of other files are never printed, because a scene may name any file of the machine. */
bool file_is_data(const char* path);
/* Returns true if the name has the extension of a robot, .urdf or .xml (any case). NULL: false. */
bool file_is_robot(const char* path);

/* Does the same as file_is_data, and adds an error that says what to do if the result is false. */
bool file_check_data(const char* path, Diagnostics* diagnostics);
/* Message for a name that file_is_data rejects; it says what to do. */
extern const char FILE_NOT_DATA[];
/* Returns true if a later column has the same name, so that the name is ambiguous. */
bool csv_repeated(const CsvTable* table, int column);

/* A suggestion at the end of a message. */
typedef struct {
  char text[96];
} Meant;
/* Returns " (did you mean 'nearest'?)" with the excerpt of `nearest` (text_excerpt), or the empty text for NULL. Does
 * not allocate. */
Meant text_meant(const char* nearest);

#endif
