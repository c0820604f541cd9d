/* Reads STL files, text and binary. */
#include <limits.h>
#include <string.h>
#include <strings.h>

#include "base/outside.h"
#include "geometry/geometry.h"
#include "geometry/obj_text.h"

/* Layout of a binary file: header, number of triangles, and for each triangle a normal, three corners and two more
 * bytes. */
enum { HEADER_BYTES = 80, PREFIX_BYTES = HEADER_BYTES + 4, TRIANGLE_BYTES = 50, CORNERS_OFFSET = 12 };

/* Triangles are in file order; equal corners are merged at the end. */
typedef struct {
  ObjText text; /* text of the file; also counts the errors if the file is binary */
  double scale;
  Vec3* corners; /* corners of all triangles (size: 3 x triangles) */
  int* lines;    /* line of each triangle (size: triangles) */
  int corner_count, corner_capacity, line_capacity;
  MeshGroup* groups;
  int group_count, group_capacity;
} StlReader;

static void add_corner(StlReader* reader, Vec3 corner) {
  reader->corners = memory_grow_array(reader->corners, sizeof(Vec3), reader->corner_count, &reader->corner_capacity);
  reader->corners[reader->corner_count++] = vec3(corner.x + 0.0, corner.y + 0.0, corner.z + 0.0); /* replaces -0 by 0 */
}

/* Stores the line of the triangle that consists of the last three corners. */
static void add_line(StlReader* reader, int line) {
  int triangle = reader->corner_count / 3 - 1;
  reader->lines = memory_grow_array(reader->lines, sizeof(int), triangle, &reader->line_capacity);
  reader->lines[triangle] = line;
}

/* Adds a group. An empty name is replaced by "default". */
static void add_group(StlReader* reader, const char* name, int length) {
  const char* text = length > 0 ? name : "default";
  size_t size = length > 0 ? (size_t)length : strlen(text);
  reader->groups = memory_grow_array(reader->groups, sizeof(MeshGroup), reader->group_count, &reader->group_capacity);
  MeshGroup* group = &reader->groups[reader->group_count++];
  *group = (MeshGroup){memory_alloc(size + 1), reader->corner_count / 3, 0};
  memcpy(group->name, text, size);
}

static bool is_word(ObjWord word, const char* text) {
  return (size_t)word.length == strlen(text) && strncasecmp(word.place.at, text, (size_t)word.length) == 0;
}

static void read_vertex(StlReader* reader, ObjPlace place) {
  double coordinate[3] = {0};
  ObjWord word;
  int count = 0;
  for (; count < 3 && obj_text_word(&reader->text, &word); count++) {
    if (!obj_word_number(&reader->text, word, &coordinate[count])) continue;
    coordinate[count] *= reader->scale;
    if (!(fabs(coordinate[count]) <= COORDINATE_MAX))
      obj_text_error(&reader->text, word.place, "coordinate '%s' is beyond %g m", obj_quote(word).text, COORDINATE_MAX);
  }
  if (count < 3) obj_text_error(&reader->text, place, "a vertex needs 3 coordinates, got %d", count);
  add_corner(reader, vec3(coordinate[0], coordinate[1], coordinate[2]));
}

/* Ends a facet. Reports a wrong number of corners and corrects it, so that reading can continue. */
static void end_facet(StlReader* reader, int first, ObjPlace place) {
  int count = reader->corner_count - first;
  if (count != 3) obj_text_error(&reader->text, place, "a facet needs 3 vertices, got %d", count);
  while (reader->corner_count - first < 3) add_corner(reader, vec3(0, 0, 0));
  reader->corner_count = first + 3;
  add_line(reader, place.line);
}

/* Reads the statements of a text file: solid, facet normal ..., outer loop, three times vertex x y z, endloop,
 * endfacet, endsolid. */
static void read_statements(StlReader* reader) {
  ObjText* text = &reader->text;
  ObjWord word;
  ObjPlace facet = {0};
  int first = -1; /* first corner of the open facet, -1 if none is open */
  for (; obj_text_statement(text, &word); obj_text_skip(text)) {
    if (is_word(word, "facet")) {
      if (first >= 0) end_facet(reader, first, facet);
      if (reader->group_count == 0) add_group(reader, NULL, 0);
      first = reader->corner_count;
      facet = word.place;
    } else if (is_word(word, "vertex")) {
      if (first >= 0)
        read_vertex(reader, word.place);
      else
        obj_text_error(text, word.place, "a vertex outside of a facet: write vertices between 'facet' and 'endfacet'");
    } else if (is_word(word, "endfacet")) {
      if (first >= 0) end_facet(reader, first, facet);
      first = -1;
    } else if (is_word(word, "solid")) {
      if (first >= 0) end_facet(reader, first, facet);
      first = -1;
      ObjWord name = obj_text_rest(text);
      add_group(reader, name.place.at, name.length);
    } else if (!is_word(word, "outer") && !is_word(word, "endloop") && !is_word(word, "endsolid")) {
      obj_text_error(text, word.place, "expected solid, facet, outer, vertex, endloop, endfacet or endsolid, got '%s'",
                     obj_quote(word).text);
    }
  }
  if (first >= 0) end_facet(reader, first, facet);
}

static uint32_t read_integer(const char* data) {
  uint32_t value = 0;
  for (int k = 0; k < 4; k++) value |= (uint32_t)(uint8_t)data[k] << 8 * k;
  return value;
}

static double read_float(const char* data) {
  uint32_t bits = read_integer(data);
  float value;
  memcpy(&value, &bits, sizeof value);
  return (double)value;
}

static void report_binary_error(StlReader* reader, const char* text, double triangle, double count) {
  diagnostics_add(reader->text.diagnostics, SEVERITY_ERROR, (SourcePosition){reader->text.name, 0, 0}, text, triangle,
                  count);
  reader->text.error_count++;
}

static void read_binary(StlReader* reader, const char* data, size_t length) {
  if (length < PREFIX_BYTES) {
    report_binary_error(reader, "not STL: a text begins with 'solid', a binary has at least %.0f bytes, this file %.0f",
                        PREFIX_BYTES, (double)length);
    return;
  }
  size_t count = read_integer(data + HEADER_BYTES), available = (length - PREFIX_BYTES) / TRIANGLE_BYTES;
  if (count > available) {
    report_binary_error(reader, "binary STL of %.0f triangles, but the file has bytes for %.0f: export the mesh again",
                        (double)count, (double)available);
    return;
  }
  add_group(reader, NULL, 0);
  for (size_t t = 0; t < count; t++) {
    const char* at = data + PREFIX_BYTES + TRIANGLE_BYTES * t + CORNERS_OFFSET;
    for (int k = 0; k < 3; k++, at += 12) {
      Vec3 p = vec3_scale(vec3(read_float(at), read_float(at + 4), read_float(at + 8)), reader->scale);
      bool small = fabs(p.x) <= COORDINATE_MAX && fabs(p.y) <= COORDINATE_MAX && fabs(p.z) <= COORDINATE_MAX;
      if (!small) {
        report_binary_error(reader, "triangle %.0f: a coordinate is not finite or beyond %g m", (double)t + 1,
                            COORDINATE_MAX);
        return;
      }
      add_corner(reader, p);
    }
    add_line(reader, 0);
  }
}

/* Returns true if the data are a text file. Binary files can begin with "solid" too: their length fits the number of
 * triangles, or the number contains a zero byte, which text does not. */
static bool is_text(const char* data, size_t length) {
  if (length < 5 || strncasecmp(data, "solid", 5) != 0) return false;
  if (length < PREFIX_BYTES) return true;
  if (length == PREFIX_BYTES + TRIANGLE_BYTES * (size_t)read_integer(data + HEADER_BYTES)) return false;
  return !memchr(data + HEADER_BYTES, '\0', PREFIX_BYTES - HEADER_BYTES);
}

/* Merges equal corners to positions, numbered in file order. Returns the position of every corner. The caller frees the
 * array with memory_free. */
static int* create_positions(Mesh* mesh, const StlReader* reader) {
  int *number = find_equal_points(reader->corners, reader->corner_count), count = reader->corner_count;
  mesh->positions = MEMORY_NEW(Vec3, count + 1);
  for (int i = 0; i < count; i++) {
    bool first_use = number[i] == i;
    if (first_use) mesh->positions[mesh->position_count] = reader->corners[i];
    number[i] = first_use ? mesh->position_count++ : number[number[i]];
  }
  return number;
}

/* Adds the triangles with three distinct corners to the mesh, and the groups that contain such triangles. */
static void create_faces(Mesh* mesh, StlReader* reader, const int* number) {
  int triangles = reader->corner_count / 3;
  mesh->corners = MEMORY_NEW(int, reader->corner_count + 1);
  mesh->face_first = MEMORY_NEW(int, triangles + 1);
  mesh->face_line = MEMORY_NEW(int, triangles + 1);
  mesh->groups = MEMORY_NEW(MeshGroup, reader->group_count + 1);
  for (int g = 0; g < reader->group_count; g++) {
    MeshGroup group = {reader->groups[g].name, mesh->face_count, 0};
    int end = g + 1 < reader->group_count ? reader->groups[g + 1].first_face : triangles;
    for (int t = reader->groups[g].first_face; t < end; t++) {
      const int* n = number + 3 * t;
      if (n[0] == n[1] || n[1] == n[2] || n[2] == n[0]) {
        mesh->degenerate_face_count++;
        continue;
      }
      for (int k = 0; k < 3; k++) mesh->corners[mesh->corner_count++] = n[k];
      mesh->face_line[mesh->face_count++] = reader->lines[t];
      mesh->face_first[mesh->face_count] = mesh->corner_count;
      group.face_count++;
    }
    if (group.face_count == 0) continue;
    mesh->groups[mesh->group_count++] = group;
    reader->groups[g].name = NULL; /* the mesh now owns the name */
  }
}

static void create_mesh(Mesh* mesh, StlReader* reader) {
  int* number = create_positions(mesh, reader);
  create_faces(mesh, reader, number);
  memory_free(number);
  if (mesh->face_count > 0) return;
  diagnostics_add(reader->text.diagnostics, SEVERITY_ERROR, (SourcePosition){reader->text.name, 0, 0},
                  "the file has no triangle with three different corners: export the mesh again");
  reader->text.error_count++;
}

Status mesh_parse_stl(Mesh* mesh, const char* name, const char* data, size_t length, double scale,
                      Diagnostics* diagnostics) {
  *mesh = (Mesh){0};
  if (length > INT_MAX) { /* limits all counts to the range of int */
    diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){name, 0, 0},
                    "the file is larger than 2 GiB: simplify the mesh");
    return STATUS_BAD_INPUT;
  }
  StlReader reader = {.text = obj_text_start(name, data, length, diagnostics), .scale = scale};
  if (!is_text(data, length))
    read_binary(&reader, data, length);
  else if (obj_text_is_text(&reader.text))
    read_statements(&reader);
  if (reader.text.error_count == 0) create_mesh(mesh, &reader);
  for (int g = 0; g < reader.group_count; g++) memory_free(reader.groups[g].name);
  memory_free(reader.groups);
  memory_free(reader.corners);
  memory_free(reader.lines);
  if (reader.text.error_count == 0) return STATUS_OK;
  mesh_free(mesh);
  return STATUS_BAD_INPUT;
}

Status mesh_read(Mesh* mesh, const char* path, double scale, Diagnostics* diagnostics) {
  size_t name = strlen(path), length;
  if (mesh_is_foreign(path)) return mesh_read_foreign(mesh, path, scale, diagnostics);
  bool stl = name >= 4 && strcasecmp(path + name - 4, ".stl") == 0;
  char* data;
  *mesh = (Mesh){0};
  if (!file_check_quotable(path, diagnostics)) return STATUS_BAD_INPUT;
  if (file_read_reported(path, &data, &length, diagnostics) != STATUS_OK) return STATUS_IO;
  Status status = stl ? mesh_parse_stl(mesh, path, data, length, scale, diagnostics)
                      : mesh_parse_obj(mesh, path, data, length, scale, diagnostics);
  memory_free(data);
  return status;
}
