/* Writes an answer in one of three forms: the rest of a JSON object, a row of numbers, or the names of these numbers.
 * Private to ask/. */
#ifndef SDRS_ASK_ANSWER_H
#define SDRS_ASK_ANSWER_H

#include "ask/ask.h"

/* Bytes of a key with its NUL; largest number of answers in a row. */
enum { ANSWER_KEY = 64, ANSWER_NAMES = 96 };

/* Names of the answers in a row, in their order. */
typedef struct {
  char key[ANSWER_NAMES][ANSWER_KEY];
  int numbers[ANSWER_NAMES]; /* numbers per answer */
  int count;
} AnswerNames;

/* Output form of an answer. Zero it, then set one of: line (borrowed), to which `, "key": value` is appended; names
 * (borrowed), which collects the answers of a row; row with in_row (room for all numbers, or NULL to count them). Texts
 * and lists of varying length appear in lines only. */
typedef struct {
  Text* line;
  AnswerNames* names;
  double* row;
  const int* places; /* offset in the row of each answer, by its index in names; -1: omitted. NULL: consecutive */
  bool in_row;
  int answers, count; /* answers and numbers written to the row so far */
  int slots;          /* contact slots per row; 0: as many as there are contacts */
} AnswerForm;

/* Returns true for a row or its names, whose layout is fixed: an unknown value is NaN. In a line it is null or omitted.
 */
static inline bool answer_keeps_places(const AnswerForm* out) { return out->names || out->in_row; }

/* Returns the memory of `numbers` numbers in the row, which owns it; NULL: they are not requested. */
double* answer_room(AnswerForm* out, const char* key, int numbers);
void answer_number(AnswerForm* out, const char* key, double value);
/* Writes a list of `count` numbers, or a bare number for count 1; values NULL: unknown. */
void answer_numbers(AnswerForm* out, const char* key, const double* values, int count);
/* Writes a vector as a list of three numbers (3); value NULL: unknown. */
void answer_vector(AnswerForm* out, const char* key, const Vec3* value);
/* Writes a matrix (rows x columns) whose rows are `stride` numbers apart; a single row is a flat list. values NULL:
 * unknown. */
void answer_table(AnswerForm* out, const char* key, const double* values, int rows, int columns, int stride);
/* Writes true or false; 1 or 0 in a row. */
void answer_truth(AnswerForm* out, const char* key, bool value);
/* Writes a text; nothing unless the form is JSON. */
void answer_text(AnswerForm* out, const char* key, const char* text);
/* Writes points[count]; nothing unless the form is JSON. */
void answer_points(AnswerForm* out, const char* key, const Vec3* points, int count);

/* Writes the answer to a question with a method other than QUERY_POTENTIAL (ask/answer.c), as query_answer does. */
void answer_question(AnswerForm* out, const QueryList* list, const QueryItem* item, QueryMemory* memory);
/* Lists the answers of a row for this question and returns their number of columns. slots: as in AnswerForm. */
int answer_names(const QueryList* list, const QueryItem* item, int slots, AnswerNames* names);
/* Writes the answer to the question at other poses: x, y, z [m], qw, qx, qy, qz (7 numbers each), which must be valid.
 */
void answer_row(AnswerForm* out, const QueryList* list, const QueryItem* item, const double* pose_a,
                const double* pose_b, QueryMemory* memory);
/* Returns the number of contacts in the answer to a question with QUERY_MANIFOLD. */
int64_t answer_contact_count(const QueryList* list, const QueryItem* item);
/* Returns true for a usable position and a quaternion of length 1. pose: 7 numbers. */
bool answer_pose_good(const double* pose);
/* Appends the rule that an invalid pose violates; returns the index of the invalid number. of: "a" or "b". */
int answer_pose_problem(const double* pose, const char* of, Text* out);
/* Writes the answer of QUERY_TOUCH (ask/answer_touch.c). For names no descent is done. */
void answer_touch(AnswerForm* out, const QueryList* list, const QueryItem* item);

#endif
