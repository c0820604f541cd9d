/* Private to geometry/: the words of an OBJ or STL text with their places, and its error messages. */
#ifndef SDRS_GEOMETRY_OBJ_TEXT_H
#define SDRS_GEOMETRY_OBJ_TEXT_H

#include "base/base.h"

/* Where in the text something stands; the column is counted only when a message needs it. */
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
  const char* name; /* of the file, for messages */
  const char* end;
  ObjPlace place; /* of the next character */
  Diagnostics* diagnostics;
  int error_count; /* of this text */
} ObjText;

/* Coordinates beyond this have no fifth power, which moments of inertia need; no robot is that large. [m] */
#define COORDINATE_MAX 1e30
/* After this many errors the rest of the file is not read. */
#define OBJ_ERRORS_MAX 20

/* At the first character, behind a byte order mark. Borrows name, text (length bytes) and diagnostics; allocates
 * nothing. */
ObjText obj_text_start(const char* name, const char* text, size_t length, Diagnostics* diagnostics);
/* No NUL byte: neither a picture nor an archive nor UTF-16. Else adds an error. */
bool obj_text_is_text(ObjText* text);
/* First word of the next statement, past empty lines and comments. False at the end of the text. Nor is there one after
 * OBJ_ERRORS_MAX errors. */
bool obj_text_statement(ObjText* text, ObjWord* word);
/* Next word of the statement, across continued lines. False at its end. The word points into the text and has no NUL at
 * its end. */
bool obj_text_word(ObjText* text, ObjWord* word);
/* The rest of the statement is not wanted. The next obj_text_statement begins behind it. */
void obj_text_skip(ObjText* text);
/* The rest of the line without blanks at both ends and without a comment (which a blank must precede): a name with
 * blanks. Length 0 when empty. */
ObjWord obj_text_rest(ObjText* text);

/* Add an error at a place. After the last one allowed a note follows and obj_text_statement finds nothing more. */
void obj_text_error(ObjText* text, ObjPlace place, const char* format, ...) __attribute__((format(printf, 3, 4)));
/* The word as it may stand in a message: printable, not too long. */
typedef struct {
  char text[44];
} ObjQuote;
/* At most 40 bytes of it, by value. */
ObjQuote obj_quote(ObjWord word);

/* Is it the very same bytes? text ends with NUL. */
bool obj_word_is(ObjWord word, const char* text);
/* A decimal number that is finite; else adds an error and returns false. Then *value is of no use. A word of 512 bytes
 * or more is none. */
bool obj_word_number(ObjText* text, ObjWord word, double* value);
/* A whole number at the start of a word, limited to +-INT_MAX; returns the characters taken, 0 when there is none.
 * *value is then as it was. at: (length). */
int obj_word_integer(const char* at, int length, int* value);

#endif
