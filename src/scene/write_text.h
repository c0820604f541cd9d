/* write_text: writes YAML scalars and lists that read back to the same texts and the same bits. All functions append to
 * the caller's text. */
#ifndef SDRS_SCENE_WRITE_TEXT_H
#define SDRS_SCENE_WRITE_TEXT_H

#include "linalg/linalg.h"

/* Appends a text, in quotes unless every YAML reader takes it for a text without them. */
void write_text(Text* out, const char* text);
/* Appends the shortest decimal number that reads back to the same bits. It has a decimal point before an exponent,
 * because YAML 1.1 reads 1e-3 as a text. The value must be finite. */
void write_number(Text* out, double value);
/* Appends values[count] as a list such as "[1, 2.5]". The values must be finite. */
void write_numbers(Text* out, const double* values, int count);
/* Appends `, key: text` for a map in braces, with quotes as for write_text. */
void write_key_text(Text* out, const char* key, const char* text);
/* Appends `, key: value` for a map in braces. */
void write_key_number(Text* out, const char* key, double value);
/* Appends values[count] as `, key: [1, 2.5]` for a map in braces. */
void write_key_numbers(Text* out, const char* key, const double* values, int count);
/* Appends `, key: [x, y, z]` for a map in braces. */
void write_key_vector(Text* out, const char* key, Vec3 v);

#endif
