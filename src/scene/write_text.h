/* write_text: writes YAML scalars and lists that read back to the same texts and the same bits. All functions append to
 * the caller's text. */
#ifndef SDRS_SCENE_WRITE_TEXT_H
#define SDRS_SCENE_WRITE_TEXT_H

#include "linalg/linalg.h"

/* Appends a text as a YAML scalar. Writes quotes unless every YAML reader takes the scalar for a text without
 * quotes. */
void write_text(Text* out, const char* text);
/* Appends the shortest decimal number that reads back to the same bits. The number has a decimal point before an
 * exponent, because YAML 1.1 reads 1e-3 as a text. The value must be finite. */
void write_number(Text* out, double value);
/* Appends a list of numbers, such as "[1, 2.5]". values: `count` finite numbers. */
void write_numbers(Text* out, const double* values, int count);
/* Appends `, key: text` to a map in braces. Quotes the text unless every YAML reader takes it for a text without
 * quotes. */
void write_key_text(Text* out, const char* key, const char* text);
/* Appends `, key: value` to a map in braces. The value must be finite. */
void write_key_number(Text* out, const char* key, double value);
/* Appends `, key: [1, 2.5]` to a map in braces. values: `count` finite numbers. */
void write_key_numbers(Text* out, const char* key, const double* values, int count);
/* Appends `, key: [x, y, z]` to a map in braces. */
void write_key_vector(Text* out, const char* key, Vec3 v);

#endif
