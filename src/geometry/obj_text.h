/* Private to geometry/: the words of an OBJ or STL text with their places, and its error messages. */
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
  ObjPlace place; /* of the next character */
  Diagnostics* diagnostics;
  int error_count; /* of this text */
} ObjText;

/* Largest coordinate [m]: the fifth power, needed by moments of inertia, must be finite. */
#define COORDINATE_MAX 1e30
/* After this many errors the rest of the file is not read. */
#define OBJ_ERRORS_MAX 20

/* Returns a reader at the first character after a byte order mark. Borrows name, text (length bytes) and diagnostics;
 * allocates nothing. */
ObjText obj_text_start(const char* name, const char* text, size_t length, Diagnostics* diagnostics);
/* Returns true if the text has no NUL byte; otherwise adds an error: it is a picture, an archive or UTF-16. */
bool obj_text_is_text(ObjText* text);
/* Reads the first word of the next statement, skipping empty lines and comments. Returns false at the end of the text
 * or after OBJ_ERRORS_MAX errors. */
bool obj_text_statement(ObjText* text, ObjWord* word);
/* Reads the next word of the statement, across continued lines. Returns false at its end. The word points into the text
 * and is not NUL-terminated. */
bool obj_text_word(ObjText* text, ObjWord* word);
/* Skips the rest of the statement; the next obj_text_statement begins after it. */
void obj_text_skip(ObjText* text);
/* Returns the rest of the line as a name that may contain blanks: without surrounding blanks, and without a comment,
 * which a blank must precede. Length 0 if empty. */
ObjWord obj_text_rest(ObjText* text);

/* Adds an error at a position. After OBJ_ERRORS_MAX errors a note is added, and obj_text_statement returns false. */
void obj_text_error(ObjText* text, ObjPlace place, const char* format, ...) __attribute__((format(printf, 3, 4)));
/* A word for a message: printable and shortened. */
typedef struct {
  char text[44];
} ObjQuote;
/* Returns at most 40 bytes of the word. */
ObjQuote obj_quote(ObjWord word);

/* Returns true if the word equals `text` (NUL-terminated), byte by byte. */
bool obj_word_is(ObjWord word, const char* text);
/* Reads a finite decimal number. Returns false, with an error and *value undefined, for another word or one of 512
 * bytes or more. */
bool obj_word_number(ObjText* text, ObjWord word, double* value);
/* Reads an integer at the start of a word, limited to +-INT_MAX. Returns the number of characters read; 0, with *value
 * unchanged, if there is none. at: (length). */
int obj_word_integer(const char* at, int length, int* value);

#endif
