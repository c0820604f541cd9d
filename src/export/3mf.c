/* Writes 3MF files by the core specification 1.3: a zip package with one model part. */
#include <assert.h>
#include "export/format.h"

#define MILLIMETRES 1000.0

static const char CONTENT_TYPES[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">\n"
    " <Default Extension=\"rels\" ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>\n"
    " <Default Extension=\"model\" ContentType=\"application/vnd.ms-package.3dmanufacturing-3dmodel+xml\"/>\n"
    "</Types>\n";

static const char RELATIONSHIPS[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">\n"
    " <Relationship Target=\"/3D/3dmodel.model\" Id=\"rel0\" "
    "Type=\"http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel\"/>\n"
    "</Relationships>\n";

/* Writes a vertex with nine digits, from which readers restore the same float. */
static void add_vertex(Text* out, Vec3 p) {
  text_add(out, "     <vertex x=\"%.9g\" y=\"%.9g\" z=\"%.9g\"/>\n", p.x, p.y, p.z);
}

/* Writes the object of a link: one mesh with the points of all its solids, then their triangles. */
static void add_object(Text* out, const char* name, int id, const ExportSolid* solids, int count) {
  text_add(out, "  <object id=\"%d\" type=\"model\"", id);
  xml_text(out, "name", name);
  text_add(out, ">\n   <mesh>\n    <vertices>\n");
  for (int s = 0; s < count; s++)
    for (int i = 0; i < solids[s].surface.point_count; i++) add_vertex(out, solids[s].surface.points[i]);
  text_add(out, "    </vertices>\n    <triangles>\n");
  for (int s = 0, first = 0; s < count; first += solids[s++].surface.point_count)
    for (int t = 0; t < solids[s].surface.triangle_count; t++) {
      const int* corner = solids[s].surface.triangles[t];
      text_add(out, "     <triangle v1=\"%d\" v2=\"%d\" v3=\"%d\"/>\n", first + corner[0], first + corner[1],
               first + corner[2]);
    }
  text_add(out, "    </triangles>\n   </mesh>\n  </object>\n");
}

/* Writes the build item that places an object. 3MF multiplies row vectors by the matrix, so its rows are the rotated
 * axes and the translation [mm]. */
static void add_item(Text* out, int id, Pose pose) {
  double numbers[12];
  for (int i = 0; i < 9; i++) numbers[i] = pose.r.m[i % 3][i / 3];
  numbers[9] = MILLIMETRES * pose.t.x, numbers[10] = MILLIMETRES * pose.t.y, numbers[11] = MILLIMETRES * pose.t.z;
  text_add(out, "  <item objectid=\"%d\"", id);
  xml_numbers(out, "transform", numbers, 12);
  text_add(out, "/>\n");
}

static int count_solids_of_link(const ExportSolid* solids, int count) {
  int same = 1;
  while (same < count && solids[same].link == solids[0].link) same++;
  return same;
}

static void add_model(Text* out, const Model* model, const ExportSolid* solids, int count, const Pose* poses) {
  Text items = {0};
  text_add(out,
           "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<model unit=\"millimeter\" xml:lang=\"en-US\" "
           "xmlns=\"http://schemas.microsoft.com/3dmanufacturing/core/2015/02\">\n"
           " <metadata name=\"Application\">sdrs</metadata>\n <resources>\n");
  for (int first = 0, id = 1; first < count; id++) {
    int same = count_solids_of_link(solids + first, count - first), link = solids[first].link;
    add_object(out, model->links[link].name, id, solids + first, same);
    add_item(&items, id, poses[link]);
    first += same;
  }
  text_add(out, " </resources>\n <build>\n");
  text_add_bytes(out, items.data ? items.data : "", items.length);
  text_add(out, " </build>\n</model>\n");
  text_free(&items);
}

void export_3mf(Text* out, const Model* model, const ExportSolid* solids, int count, const Pose* poses) {
  assert(count >= 0);
  Text types = {0}, relationships = {0}, part = {0};
  text_add_bytes(&types, CONTENT_TYPES, sizeof CONTENT_TYPES - 1);
  text_add_bytes(&relationships, RELATIONSHIPS, sizeof RELATIONSHIPS - 1);
  add_model(&part, model, solids, count, poses);
  const ArchiveFile files[] = {
      {"[Content_Types].xml", &types}, {"_rels/.rels", &relationships}, {"3D/3dmodel.model", &part}};
  archive_write(out, files, sizeof files / sizeof files[0]);
  text_free(&types);
  text_free(&relationships);
  text_free(&part);
}
