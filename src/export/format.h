/* Functions that the exporters share: numbers and names in XML, boxes recognised, solids, zip archives. Private to
 * export/. */
#ifndef SDRS_EXPORT_FORMAT_H
#define SDRS_EXPORT_FORMAT_H

#include "export/export.h"

/* ---------------------------------------------------------------- numbers in text (export/text.c) */

/* ` key="1 2 3"`: numbers that read back to the same doubles. values[count], appended; -0 is written as 0. */
void xml_numbers(Text* out, const char* key, const double* values, int count);
/* ` key="x y z"`, appended. */
void xml_vector(Text* out, const char* key, Vec3 value);
/* ` key="w x y z"`, appended. */
void xml_quat(Text* out, const char* key, Quat value);
/* ` key="text"`, escaped. */
void xml_text(Text* out, const char* key, const char* text);
/* Appends values[count] after a space each. */
void text_add_numbers(Text* out, const double* values, int count);

/* ---------------------------------------------------------------- solids (export/solid.c) */

/* Is the hull a box? Then its centre and axes in the link's frame, and half its edges [m]; else neither is set. */
bool hull_is_box(const ConvexHull* solid, Pose* pose, Vec3* half);

/* ---------------------------------------------------------------- surfaces of links */

/* One closed surface in a file's unit; hull -1 = the union of all of the link's. */
typedef struct {
  TriangleSurface surface;
  int link, hull;
} ExportSolid;

/* A 3MF package (export/3mf.c): an object per link with its solids in millimetres and its name, and a build item
 * that places it. Solids of a link stand together. The same bytes at every repeat. poses[links] in metres, in the
 * world; solids[count] in millimetres, only read. */
void export_3mf(Text* out, const Model* model, const ExportSolid* solids, int count, const Pose* poses);

/* Append a zip archive (export/archive.c). Names are ASCII; every file has the earliest date there is, so that equal
 * content gives equal bytes. */
typedef struct {
  const char* name;
  const Text* content;
} ArchiveFile;
/* Appends a zip archive of files[count], whose contents are only read. */
void archive_add(Text* out, const ArchiveFile* files, int count);

#endif
