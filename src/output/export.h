/* What the exporters share: numbers and names in XML, boxes recognised, solids, zip archives. Private to output/. */
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

/* ---------------------------------------------------------------- surfaces of links */

/* One closed surface in a file's unit; hull -1 = the union of all of the link's. */
typedef struct {
  TriangleSurface surface;
  int link, hull;
} ExportSolid;

/* A 3MF package (output/export_3mf.c): an object per link with its solids in millimetres and its name, and a build item
 * that places it. Solids of a link stand together. The same bytes at every repeat. */
void export_3mf(Text* out, const Model* model, const ExportSolid* solids, int count, const Pose* poses);

/* Append a zip archive (output/archive.c). Names are ASCII; every file has the earliest date there is, so that equal
 * content gives equal bytes. */
typedef struct {
  const char* name;
  const Text* content;
} ArchiveFile;
void archive_add(Text* out, const ArchiveFile* files, int count);

#endif
