/* write_text: scalars and lists of YAML that read back to the same text and the same bits. */
#ifndef SDRS_SCENE_WRITE_TEXT_H
#define SDRS_SCENE_WRITE_TEXT_H

#include "linalg/linalg.h"

/* Plain where every reader of YAML sees a text, else in quotes. */
void write_text(Text* out, const char* text);
/* Shortest decimal of the same bits, with a point before an exponent: YAML 1.1 takes 1e-3 for a text. */
void write_number(Text* out, double value);
/* "[1, 2.5]" */
void write_numbers(Text* out, const double* values, int count);
/* ", key: value" inside { }. */
void write_key_text(Text* out, const char* key, const char* text);
void write_key_number(Text* out, const char* key, double value);
void write_key_numbers(Text* out, const char* key, const double* values, int count);
void write_key_vector(Text* out, const char* key, Vec3 v);

#endif
