/* One answer in three forms: the rest of a JSON object, a row of numbers, or the names of that row's numbers. Private
 * to ask/. */
#ifndef SDRS_ASK_ANSWER_H
#define SDRS_ASK_ANSWER_H

#include "ask/ask.h"

/* Room for a key with its end. */
enum { ANSWER_KEY = 64 };

/* Zero, then set one: line, which gets `, "key": value` for each (borrowed); names, which gets `, ["key", count]` for
 * each that a row holds (borrowed); or row (room for all its numbers, or NULL to count them, with in_row). Texts and
 * lists of changing length are in lines alone. */
typedef struct {
  Text *line, *names;
  double* row;
  bool in_row;
  int count; /* numbers of the row so far */
} AnswerForm;

/* A row's numbers keep their places: what is not known is NaN there, and null, or left out, in a line. */
static inline bool answer_keeps_places(const AnswerForm* out) { return out->names || out->in_row; }

void answer_number(AnswerForm* out, const char* key, double value);
/* A list of `count`, a bare number for 1; values NULL: not known. */
void answer_numbers(AnswerForm* out, const char* key, const double* values, int count);
/* Three numbers of one vector; value NULL: not known. */
void answer_vector(AnswerForm* out, const char* key, const Vec3* value);
/* A list of rows x columns of a matrix whose rows lie `stride` apart, one row as a bare list; values NULL: not known.
 */
void answer_table(AnswerForm* out, const char* key, const double* values, int rows, int columns, int stride);
/* true, false; 1, 0 in a row. */
void answer_truth(AnswerForm* out, const char* key, bool value);
/* Lines only. */
void answer_text(AnswerForm* out, const char* key, const char* text);
/* points[count]; lines only. */
void answer_points(AnswerForm* out, const char* key, const Vec3* points, int count);

/* The whole answer to a question with a method, which is not QUERY_POTENTIAL (ask/answer.c). As query_answer; in_row
 * and names: `growth`, `distance`, `witness`, `manifold` with mean only. */
void answer_question(AnswerForm* out, const QueryList* list, const QueryItem* item, QueryMemory* memory);
/* The part of `touch` (ask/answer_touch.c). Lines only. */
void answer_touch(AnswerForm* out, const QueryList* list, const QueryItem* item);

#endif
