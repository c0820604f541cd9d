/* outside: runs other programs, and checks texts and file names that come from users' files. */
#ifndef SDRS_BASE_OUTSIDE_H
#define SDRS_BASE_OUTSIDE_H

#include <sys/types.h>
#include "base/base.h"

/* A child process that reads data of this program from its standard input. */
typedef struct {
  pid_t process;
  int input; /* write end of the child's standard input */
} Program;

/* Starts a program without a shell.
 * words (NULL-terminated): name of the program, which is searched along PATH, then its arguments. output, errors: file
 * descriptors of the program's standard output and error; -1 selects /dev/null. Returns 0 on success; the caller ends
 * the program with program_finish. Otherwise starts nothing and returns the errno of the failure, ENOENT if the program
 * is not installed. */
int program_start(Program* program, const char* const* words, int output, int errors);
/* Writes data (size bytes) to the program's standard input. Returns false if the program no longer reads. Raises no
 * signal. */
bool program_send(const Program* program, const void* data, size_t size);
/* Closes the program's standard input and waits for the program to end. Returns true if the exit code is 0. */
bool program_finish(const Program* program);

/* Returns the first control character of a UTF-8 text, borrowed from the text, or NULL if there is none. Control
 * characters are U+0000 ... U+001F and U+007F ... U+009F. */
const char* text_find_control_character(const char* text);
/* Returns true if the lines of a file may be printed in messages. Lines may be printed if the name has an extension of
 * scenes, robots, meshes, tables or pictures (any case), or if the file is not a regular file. Lines of other files are
 * never printed, because a scene may name any file of the machine. */
bool file_is_quotable(const char* path);
/* Returns true if the name has the extension of a robot file, .urdf or .xml (any case). Returns false if path is NULL.
 */
bool file_is_robot(const char* path);

/* Does the same as file_is_quotable. If the result is false, adds an error that says what to do. */
bool file_check_quotable(const char* path, Diagnostics* diagnostics);
/* Message about a file name that file_is_quotable rejects. It says what to do. */
extern const char FILE_NOT_QUOTABLE[];
/* Returns true if a column's name is ambiguous, because a column to the right has the same name. */
bool csv_name_is_duplicate(const CsvTable* table, int column);

/* A suggestion at the end of a message. */
typedef struct {
  char text[96];
} Suggestion;
/* Returns the text " (did you mean 'nearest'?)" with the excerpt of `nearest` (text_excerpt). Returns an empty text if
 * nearest is NULL. Allocates nothing. */
Suggestion text_suggestion(const char* nearest);

#endif
