/* write_text: scalars and lists of YAML that read back to the same text and the same bits. */
#ifndef SDRS_SCENE_WRITE_TEXT_H
#define SDRS_SCENE_WRITE_TEXT_H

#include "linalg/linalg.h"

/* Plain where every reader of YAML sees a text, else in quotes. All of these append to the caller's text. */
void write_text(Text* out, const char* text);
/* Shortest decimal of the same bits, with a point before an exponent: YAML 1.1 takes 1e-3 for a text. Finite values
 * only. */
void write_number(Text* out, double value);
/* "[1, 2.5]" values[count], finite. */
void write_numbers(Text* out, const double* values, int count);
/* `, key: text` inside { }, the text in quotes where it must be. */
void write_key_text(Text* out, const char* key, const char* text);
/* `, key: value` inside { }. */
void write_key_number(Text* out, const char* key, double value);
/* `, key: [1, 2.5]` inside { }; values[count]. */
void write_key_numbers(Text* out, const char* key, const double* values, int count);
/* `, key: [x, y, z]` inside { }. */
void write_key_vector(Text* out, const char* key, Vec3 v);

#endif
