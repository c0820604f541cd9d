/* Private to geometry/: splits an OBJ or STL text into words with line and column, and adds error messages. */
#ifndef SDRS_GEOMETRY_OBJ_TEXT_H
#define SDRS_GEOMETRY_OBJ_TEXT_H

#include "base/base.h"

/* Position in the text. The column is computed only for messages. */
typedef struct {
  const char* at;
  const char* line_start;
  int line;
} ObjPlace;

typedef struct {
  ObjPlace place;
  int length;
} ObjWord;

typedef struct {
  const char* name; /* name of the file, for messages */
  const char* end;
  ObjPlace place; /* position of the next character */
  Diagnostics* diagnostics;
  int error_count; /* number of errors in the text */
} ObjText;

/* Largest coordinate [m]. The fifth power of a coordinate must be finite for moments of inertia. */
#define COORDINATE_MAX 1e30
/* The rest of the file is not read after this many errors. */
#define OBJ_ERRORS_MAX 20

/* Returns a reader at the first character after a byte order mark. Borrows name, text (length bytes) and diagnostics.
 * Allocates nothing. */
ObjText obj_text_start(const char* name, const char* text, size_t length, Diagnostics* diagnostics);
/* Returns true if the text has no NUL byte. Otherwise adds an error, because the file is an image, an archive or
 * UTF-16. */
bool obj_text_is_text(ObjText* text);
/* Reads the first word of the next statement, skipping empty lines and comments. Returns false at the end of the text
 * or after OBJ_ERRORS_MAX errors. */
bool obj_text_statement(ObjText* text, ObjWord* word);
/* Reads the next word of the statement, across continued lines. Returns false at the end of the statement. The word
 * points into the text and is not NUL-terminated. */
bool obj_text_word(ObjText* text, ObjWord* word);
/* Skips the rest of the statement. The next call of obj_text_statement begins after the statement. */
void obj_text_skip(ObjText* text);
/* Returns the rest of the line as a name that may contain blanks. Surrounding blanks are removed, and so is a comment
 * after a blank. The length is 0 if there is no name. */
ObjWord obj_text_rest(ObjText* text);

/* Adds an error at a position. After OBJ_ERRORS_MAX errors a note is added, and obj_text_statement returns false. */
void obj_text_error(ObjText* text, ObjPlace place, const char* format, ...) __attribute__((format(printf, 3, 4)));
/* A word for a message, printable and shortened. */
typedef struct {
  char text[44];
} ObjQuote;
/* Returns at most 40 bytes of the word, for a message. */
ObjQuote obj_quote(ObjWord word);

/* Returns true if the word equals `text` (NUL-terminated), byte by byte. */
bool obj_word_is(ObjWord word, const char* text);
/* Reads a finite decimal number. Returns false, with an error and *value undefined, if the word is not a number or has
 * 512 bytes or more. */
bool obj_word_number(ObjText* text, ObjWord word, double* value);
/* Reads an integer at the start of the word `at` (length), limited to +-INT_MAX. Returns the number of characters read.
 * Returns 0, with *value unchanged, if the word does not start with an integer. */
int obj_word_integer(const char* at, int length, int* value);

#endif
