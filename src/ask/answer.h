/* One answer in three forms: the rest of a JSON object, a row of numbers, or the names of that row's numbers. Private
 * to ask/. */
#ifndef SDRS_ASK_ANSWER_H
#define SDRS_ASK_ANSWER_H

#include "ask/ask.h"

/* Room for a key with its end; answers of a row, at most. */
enum { ANSWER_KEY = 64, ANSWER_NAMES = 96 };

/* The answers of a row, in their order. */
typedef struct {
  char key[ANSWER_NAMES][ANSWER_KEY];
  int numbers[ANSWER_NAMES]; /* of each */
  int count;
} AnswerNames;

/* Zero, then set one: line, which gets `, "key": value` for each (borrowed); names, which lists the answers of a row
 * (borrowed); or row (room for all its numbers, or NULL to count them, with in_row). Texts and lists of changing length
 * are in lines alone. */
typedef struct {
  Text* line;
  AnswerNames* names;
  double* row;
  const int* places; /* where in the row the numbers of each answer go, by its number in names; -1: nowhere. NULL: one
                        answer after the other */
  bool in_row;
  int answers, count; /* of the row so far: answers, numbers */
  int slots;          /* of contacts in a row; 0: as many as there are */
} AnswerForm;

/* A row's numbers keep their places: what is not known is NaN there, and null, or left out, in a line. */
static inline bool answer_keeps_places(const AnswerForm* out) { return out->names || out->in_row; }

/* Room for so many numbers of a row, which owns it; NULL: they are not wanted. */
double* answer_room(AnswerForm* out, const char* key, int numbers);
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

/* Writes the answer to a question with a method other than QUERY_POTENTIAL (ask/answer.c), as query_answer does. */
void answer_question(AnswerForm* out, const QueryList* list, const QueryItem* item, QueryMemory* memory);
/* Lists the answers that a row has to this question; returns how many numbers they are. slots: as in the form. */
int answer_names(const QueryList* list, const QueryItem* item, int slots, AnswerNames* names);
/* The answer to the same question at these poses, x, y, z [m], qw, qx, qy, qz: 7 numbers each, which are good. */
void answer_row(AnswerForm* out, const QueryList* list, const QueryItem* item, const double* pose_a,
                const double* pose_b, QueryMemory* memory);
/* Contacts that a question of manifold is answered with. */
int64_t answer_contact_count(const QueryList* list, const QueryItem* item);
/* Is it a position that can be used, and a quaternion of length 1? pose: 7 numbers. */
bool answer_pose_good(const double* pose);
/* Appends the rule that a pose which is not good breaks; returns the number of the pose that does. of: "a" or "b". */
int answer_pose_problem(const double* pose, const char* of, Text* out);
/* The part of `touch` (ask/answer_touch.c). Nothing is descended for names. */
void answer_touch(AnswerForm* out, const QueryList* list, const QueryItem* item);

#endif
