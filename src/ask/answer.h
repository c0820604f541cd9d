/* Writes an answer in one of three forms: the rest of a JSON object, a row of numbers, or the names of these numbers.
 * Private to ask/. */
#ifndef SDRS_ASK_ANSWER_H
#define SDRS_ASK_ANSWER_H

#include "ask/ask.h"

/* ANSWER_KEY: size of a key with its NUL [bytes]. ANSWER_NAMES: largest number of answers in a row. */
enum { ANSWER_KEY = 64, ANSWER_NAMES = 96 };

/* Names of the answers in a row, in their order. */
typedef struct {
  char key[ANSWER_NAMES][ANSWER_KEY];
  int numbers[ANSWER_NAMES]; /* numbers per answer */
  int count;
} AnswerNames;

/* Output form of an answer. Zero it, then set one of three. `line` (borrowed): `, "key": value` is appended for each
 * answer. `names` (borrowed): collects the names of the answers in a row. `in_row` and `row`: the numbers are written
 * to row, which must have space for all of them; with row NULL they are only counted. Texts and lists of varying length
 * appear only in `line`. */
typedef struct {
  Text* line;
  AnswerNames* names;
  double* row;
  const int* places; /* offset in the row of each answer, by its index in names; -1: omitted. NULL: consecutive */
  bool in_row;
  int answers, count; /* answers and numbers written to the row so far */
  int slots;          /* contact slots per row; 0: as many as there are contacts */
} AnswerForm;

/* Returns true if the form is a row or the names of a row. Their layout is fixed, so an unknown value is NaN; in a line
 * an unknown value is null or omitted. */
static inline bool answer_keeps_places(const AnswerForm* out) { return out->names || out->in_row; }

/* Returns a pointer to the next `numbers` numbers of the row, owned by the row; the caller must set them. Returns NULL
 * if the answer `key` is not requested. */
double* answer_room(AnswerForm* out, const char* key, int numbers);
void answer_number(AnswerForm* out, const char* key, double value);
/* Writes values (count) as a list, or as a bare number if count is 1. values NULL: the numbers are unknown. */
void answer_numbers(AnswerForm* out, const char* key, const double* values, int count);
/* Writes a vector as a list of three numbers (3). value NULL: the vector is unknown. */
void answer_vector(AnswerForm* out, const char* key, const Vec3* value);
/* Writes a matrix (rows x columns) whose rows are `stride` numbers apart in values. A matrix of one row becomes a flat
 * list. values NULL: the matrix is unknown. */
void answer_table(AnswerForm* out, const char* key, const double* values, int rows, int columns, int stride);
/* Writes true or false in a line, 1 or 0 in a row. */
void answer_truth(AnswerForm* out, const char* key, bool value);
/* Writes a text to a line. Does nothing in the other forms. */
void answer_text(AnswerForm* out, const char* key, const char* text);
/* Writes points (count) to a line. Does nothing in the other forms. */
void answer_points(AnswerForm* out, const char* key, const Vec3* points, int count);

/* Writes the answer to a question with a method other than QUERY_POTENTIAL (ask/answer.c), as query_answer does. */
void answer_question(AnswerForm* out, const QueryList* list, const QueryItem* item, QueryMemory* memory);
/* Sets *names to the names of the answers in a row for this question. Returns the number of columns of the row. slots:
 * as in AnswerForm. */
int answer_names(const QueryList* list, const QueryItem* item, int slots, AnswerNames* names);
/* Writes the answer to the question at the poses pose_a and pose_b instead of its own. Each is x, y, z [m], qw, qx, qy,
 * qz (7 numbers) and must be valid. */
void answer_row(AnswerForm* out, const QueryList* list, const QueryItem* item, const double* pose_a,
                const double* pose_b, QueryMemory* memory);
/* Returns the number of contacts in the answer to a question with QUERY_MANIFOLD. */
int64_t answer_contact_count(const QueryList* list, const QueryItem* item);
/* Returns true if the position of a pose is in the allowed range and its quaternion has length 1. pose: 7 numbers. */
bool answer_pose_good(const double* pose);
/* Appends to *out the rule that an invalid pose violates. Returns the index of the invalid number. of: "a" or "b", the
 * body of the pose (7 numbers), for the message. */
int answer_pose_problem(const double* pose, const char* of, Text* out);
/* Writes the answer to a question with QUERY_TOUCH (ask/answer_touch.c). If only names are requested, the descent is
 * not computed. */
void answer_touch(AnswerForm* out, const QueryList* list, const QueryItem* item);

#endif
