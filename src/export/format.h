/* Private to export/. Functions that exporters share: numbers and names, boxes and cylinders, 3MF and zip files. */
#ifndef SDRS_EXPORT_FORMAT_H
#define SDRS_EXPORT_FORMAT_H

#include "export/export.h"

/* Appends the XML attribute ` key="1 2 3"` with values[count]. Readers restore the same doubles, except that -0 becomes
 * 0. */
void xml_numbers(Text* out, const char* key, const double* values, int count);
/* Appends a vector as the XML attribute ` key="x y z"`. */
void xml_vector(Text* out, const char* key, Vec3 value);
/* Appends a quaternion as the XML attribute ` key="w x y z"`. */
void xml_quat(Text* out, const char* key, Quat value);
/* Appends the XML attribute ` key="text"` with `text` escaped. */
void xml_text(Text* out, const char* key, const char* text);
/* Appends values[count] as text, each after a space. */
void text_add_numbers(Text* out, const double* values, int count);

/* Returns true if the hull is a box. If true, sets *pose to the pose of the box in the link's frame, and *half to the
 * half extents of the box [m]. */
bool hull_is_box(const ConvexHull* solid, Pose* pose, Vec3* half);
/* Returns true if the hull is a round cylinder: two equal rings of vertices, no further vertices, no rounding radius.
 */
bool hull_is_cylinder(const ModelHull* hull);

/* Appends how many round solids become meshes, and how far the faces of the meshes lie inside of them. is_mesh: true
 * for hulls that the file describes by a mesh. omitted[links]: true for omitted links; NULL: none. Appends nothing if
 * there are no such solids. */
void append_mesh_deviation(Text* text, const Model* model, bool (*is_mesh)(const ModelHull*), const bool* omitted);

/* A closed surface of a link in the length unit of the file. hull: index of the hull, or -1 for the union of the link's
 * hulls. */
typedef struct {
  TriangleSurface surface;
  int link, hull;
} ExportSolid;

/* Appends a 3MF package: for each link, a named object with its solids, and a build item that places it. solids[count]:
 * in millimetres, with the solids of a link adjacent. poses[links]: world poses [m]. Equal input gives equal bytes. */
void export_3mf(Text* out, const Model* model, const ExportSolid* solids, int count, const Pose* poses);

/* A file for a zip archive. The name must be ASCII. */
typedef struct {
  const char* name;
  const Text* content;
} ArchiveFile;
/* Appends a zip archive of files[count]. Every date is 1980-01-01, so that equal content gives equal bytes. */
void archive_write(Text* out, const ArchiveFile* files, int count);

#endif
