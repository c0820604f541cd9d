/* What the exporters share: numbers and names in XML, boxes recognised, surfaces checked. Private to output/. */
#ifndef SDRS_OUTPUT_EXPORT_H
#define SDRS_OUTPUT_EXPORT_H

#include "output/output.h"

/* ---------------------------------------------------------------- numbers in text (output/export_text.c) */

/* ` key="1 2 3"`: numbers that read back to the same doubles. */
void xml_numbers(Text* out, const char* key, const double* values, int count);
void xml_vector(Text* out, const char* key, Vec3 value);
void xml_quat(Text* out, const char* key, Quat value);
/* The text with & < > " escaped, which XML and HTML understand alike. */
void xml_add_escaped(Text* out, const char* text);
/* ` key="text"`, escaped. */
void xml_text(Text* out, const char* key, const char* text);
/* Numbers after a space each. */
void text_add_numbers(Text* out, const double* values, int count);

/* Little-endian, of 1 to 4 bytes. */
void bytes_add_integer(Text* out, uint32_t value, int bytes);
void bytes_add_float(Text* out, double value);

/* ---------------------------------------------------------------- solids (output/export_solid.c) */

/* Is the hull a box? Then its centre and axes in the link's frame, and half its edges [m]. */
bool hull_is_box(const ConvexHull* solid, Pose* pose, Vec3* half);

#endif
