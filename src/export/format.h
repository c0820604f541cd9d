/* Private to export/: functions shared by the exporters: numbers and names in XML, box detection, solids, zip archives.
 */
#ifndef SDRS_EXPORT_FORMAT_H
#define SDRS_EXPORT_FORMAT_H

#include "export/export.h"

/* ---------------------------------------------------------------- numbers in text (export/text.c) */

/* Appends ` key="1 2 3"`; values (count) read back to the same doubles; -0 is written as 0. */
void xml_numbers(Text* out, const char* key, const double* values, int count);
/* Appends ` key="x y z"`. */
void xml_vector(Text* out, const char* key, Vec3 value);
/* Appends ` key="w x y z"`. */
void xml_quat(Text* out, const char* key, Quat value);
/* Appends ` key="text"`, escaped. */
void xml_text(Text* out, const char* key, const char* text);
/* Appends values (count), each after a space. */
void text_add_numbers(Text* out, const double* values, int count);

/* ---------------------------------------------------------------- solids (export/solid.c) */

/* True if the hull is a box; pose then receives its centre and axes in the link's frame, half its half extents [m]. */
bool hull_is_box(const ConvexHull* solid, Pose* pose, Vec3* half);
/* True for a round hull of two equal rings without points and rounding. */
bool hull_is_cylinder(const ModelHull* hull);

/* ---------------------------------------------------------------- surfaces of links */

/* A closed surface in the file's unit; hull -1: the union of the link's hulls. */
typedef struct {
  TriangleSurface surface;
  int link, hull;
} ExportSolid;

/* Appends a 3MF package (export/3mf.c): one named object per link with its solids, and a build item that places it.
 * solids (count): millimetres, those of a link contiguous; poses (links): metres, world. Equal input gives equal bytes.
 */
void export_3mf(Text* out, const Model* model, const ExportSolid* solids, int count, const Pose* poses);

/* A file for a zip archive (export/archive.c). Names are ASCII. */
typedef struct {
  const char* name;
  const Text* content;
} ArchiveFile;
/* Appends a zip archive of files (count). All dates are 1980-01-01, so that equal content gives equal bytes. */
void archive_add(Text* out, const ArchiveFile* files, int count);

#endif
