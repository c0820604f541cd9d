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

/* Starts a program without a shell. words (NULL-terminated): name of the program, which is searched along PATH, then
 * its arguments. output, errors: file descriptors for the program's standard output and standard error; -1 selects
 * /dev/null. Returns 0 on success; the caller then ends the program with program_finish. Otherwise starts nothing and
 * returns an errno value, ENOENT if the program is not installed. */
int program_start(Program* program, const char* const* words, int output, int errors);
/* Writes data (size bytes) to the program's standard input. Returns false if the program no longer reads. Raises no
 * SIGPIPE. */
bool program_send(const Program* program, const void* data, size_t size);
/* Closes the program's standard input and waits for the program to end. Returns true if the exit code is 0. */
bool program_finish(const Program* program);

/* Returns a pointer to the first control character of a UTF-8 text, borrowed from the text. Returns NULL if there is
 * none. Control characters are U+0000 ... U+001F and U+007F ... U+009F. */
const char* text_find_control_character(const char* text);
/* Returns true if messages may quote lines of a file. A scene may name any file of the machine, so lines of private
 * files must not be printed. Lines may be quoted if the file has an extension of scenes, robots, meshes, tables or
 * pictures (any case). They may also be quoted if the file is not a regular file. */
bool file_is_quotable(const char* path);
/* Returns true if a path has the extension of a robot file, .urdf or .xml (any case). Returns false if path is NULL. */
bool file_is_robot(const char* path);

/* Returns true if messages may quote lines of a file (file_is_quotable). Otherwise adds an error that says what to do
 * and returns false. */
bool file_check_quotable(const char* path, Diagnostics* diagnostics);
/* Error message for a file that file_is_quotable rejects. */
extern const char FILE_NOT_QUOTABLE[];
/* Returns true if a column to the right has the same name, so that the name is ambiguous. column: inside the table
 * (asserted). */
bool csv_name_is_duplicate(const CsvTable* table, int column);

/* A suggestion that is appended to a message, " (did you mean 'dt'?)". */
typedef struct {
  char text[96];
} Suggestion;
/* Returns the text " (did you mean 'nearest'?)". A long name is shortened by text_excerpt. Returns an empty text if
 * nearest is NULL. Allocates nothing. */
Suggestion text_suggestion(const char* nearest);

#endif
