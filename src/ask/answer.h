/* Writes the answer to a query about two bodies as members of a JSON object or as a row of numbers. Also lists the
 * names of these numbers. Private to ask/. */
#ifndef SDRS_ASK_ANSWER_H
#define SDRS_ASK_ANSWER_H

#include "ask/ask.h"

/* Size of the name of an answer with its NUL [bytes], and largest number of answers in a row. */
enum { ANSWER_KEY = 64, ANSWER_NAMES = 96 };

/* Names of the answers that make up a row of numbers, in the order of the row. */
typedef struct {
  char key[ANSWER_NAMES][ANSWER_KEY];
  int numbers[ANSWER_NAMES]; /* numbers[i]: how many numbers answer i has: 1 for a scalar, 3 for a vector */
  int count;
} AnswerNames;

/* Output form of an answer. Zero it, then set `line`, `names`, or `in_row` with `row`.
 * line (borrowed): `, "key": value` is appended for each answer. names (borrowed): collects the names of the answers in
 * a row. in_row and row: the numbers are written to `row`, which must have space for all numbers. If `row` is NULL, the
 * numbers are only counted. Texts and lists of varying length appear only in `line`. */
typedef struct {
  Text* line;
  AnswerNames* names;
  double* row;
  const int* places; /* places[i]: offset in the row at which answer number i is written; -1 omits the answer; NULL:
                        answers are consecutive */
  bool in_row;
  int answers, count; /* number of answers and number of numbers written to the row so far */
  int slots;          /* number of contacts for which each row has space; 0: as many as there are contacts */
} AnswerForm;

/* Returns true if the output form has a fixed layout: a row of numbers, or the names of a row. An unknown value is then
 * NaN. In a line of JSON an unknown value is null or omitted. */
static inline bool answer_has_fixed_layout(const AnswerForm* out) { return out->names || out->in_row; }

/* Returns a pointer into the row, to which the caller must write the `numbers` numbers of the answer `key`. The row
 * owns them. Returns NULL if this answer is not requested. */
double* answer_reserve_numbers(AnswerForm* out, const char* key, int numbers);
void answer_number(AnswerForm* out, const char* key, double value);
/* Writes the answer `key` with values (count): a list, or a number if count is 1. values is NULL if the numbers are
 * unknown. */
void answer_numbers(AnswerForm* out, const char* key, const double* values, int count);
/* Writes the answer `key`, a vector, as a list of three numbers. value is NULL if the vector is unknown. */
void answer_vector(AnswerForm* out, const char* key, const Vec3* value);
/* Writes the answer `key`, a matrix (rows x columns). The rows start `stride` numbers apart in `values`. A matrix of
 * one row becomes a flat list. values is NULL if the matrix is unknown. */
void answer_table(AnswerForm* out, const char* key, const double* values, int rows, int columns, int stride);
/* Writes the answer `key` as true or false in a line of JSON, as 1 or 0 in a row of numbers. */
void answer_bool(AnswerForm* out, const char* key, bool value);
/* Writes a text as the answer `key` to a line of JSON. Does nothing in the other output forms. */
void answer_text(AnswerForm* out, const char* key, const char* text);
/* Writes points (count) as the answer `key` to a line of JSON. Does nothing in the other output forms. */
void answer_points(AnswerForm* out, const char* key, const Vec3* points, int count);

/* Writes the answer to the question `item` of the list, whose method is not QUERY_POTENTIAL. memory: warm start from
 * the previous answer; query_memory_create() before the first answer. */
void answer_question(AnswerForm* out, const QueryList* list, const QueryItem* item, QueryMemory* memory);
/* Sets *names to the column names of an answer in a table of numbers. slots: contacts per row; 0: as many as the answer
 * has. Returns the number of columns. */
int answer_names(const QueryList* list, const QueryItem* item, int slots, AnswerNames* names);
/* Writes the answer to a question at other poses than the question gives. pose_a and pose_b have 7 numbers each: x, y,
 * z [m], qw, qx, qy, qz. The poses must be valid. */
void answer_row(AnswerForm* out, const QueryList* list, const QueryItem* item, const double* pose_a,
                const double* pose_b, QueryMemory* memory);
/* Returns the number of contacts in the answer to a question with QUERY_MANIFOLD. */
int64_t answer_contact_count(const QueryList* list, const QueryItem* item);
/* Returns true if a pose x, y, z [m], qw, qx, qy, qz is valid: the position is within READER_COORDINATE_MAX, and the
 * quaternion has length 1. */
bool answer_pose_is_valid(const double* pose);
/* Appends to *out an error text: the rule that an invalid pose (7 numbers) violates. Returns the index of the invalid
 * number. of: name of the body in the message, "a" or "b". */
int answer_append_pose_error(const double* pose, const char* of, Text* out);
/* Writes the answer to a question with QUERY_TOUCH: poses, found by gradient descent, at which given points touch. If
 * out->names is set, only the names are written, without the descent. */
void answer_touch(AnswerForm* out, const QueryList* list, const QueryItem* item);

#endif
