#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "geometry/geometry.h"
#include "geometry/obj_text.h"

/* Largest number of values in a `v` statement: coordinates x y z, then up to four of weight w and colour r, g, b, a. */
#define POSITION_NUMBERS_MAX 7

/* `o` or `g` statement with its names, which apply to the faces up to the next one. Equal names denote the same group.
 */
typedef struct {
  ObjWord object, group;
  int index;
  int first; /* index of the first statement of the same group */
  int face_count;
} GroupStatement;

typedef struct {
  ObjText text;
  double scale;
  int position_total;  /* number of positions in the file; face indices may refer to later positions */
  Mesh* mesh;          /* faces in file order; the arrays are larger than needed */
  int* face_statement; /* index of each face's group statement */
  int face_capacity, corner_capacity;
  GroupStatement* statements;
  int statement_count, statement_capacity;
} ObjReader;

static bool read_coordinate(ObjReader* reader, ObjWord word, double* coordinate) {
  double number;
  if (!obj_word_number(&reader->text, word, &number)) return false;
  *coordinate = number * reader->scale;
  if (fabs(*coordinate) <= COORDINATE_MAX) return true;
  obj_text_error(&reader->text, word.place, "coordinate '%s' is beyond %g m", obj_quote(word).text, COORDINATE_MAX);
  return false;
}

/* Reads `v x y z [w]` or `v x y z r g b [a]`. Values after the coordinates are checked and ignored. */
static void read_position(ObjReader* reader) {
  ObjText* text = &reader->text;
  double coordinate[3] = {0}, unused;
  ObjWord word;
  int count = 0;
  for (; obj_text_word(text, &word); count++) {
    if (count < 3) {
      read_coordinate(reader, word, &coordinate[count]);
    } else if (count < POSITION_NUMBERS_MAX) {
      obj_word_number(text, word, &unused);
    } else {
      obj_text_error(text, word.place, "a vertex has at most %d numbers", POSITION_NUMBERS_MAX);
      break;
    }
  }
  if (count < 3) obj_text_error(text, text->place, "a vertex needs 3 coordinates, got %d", count);
  assert(reader->mesh->position_count < reader->position_total);
  reader->mesh->positions[reader->mesh->position_count++] = vec3(coordinate[0], coordinate[1], coordinate[2]);
}

/* Skips the optional index of a texture or normal, "/" or "/7". Returns the number of characters. */
static int skip_unused_index(const char* at, int length) {
  int unused;
  return length > 0 && *at == '/' ? 1 + obj_word_integer(at + 1, length - 1, &unused) : 0;
}

/* Reads a face corner: v, v/t, v//n or v/t/n. */
static bool parse_index(ObjReader* reader, ObjWord word, int* index) {
  const char* at = word.place.at;
  int used = obj_word_integer(at, word.length, index);
  if (used > 0) used += skip_unused_index(at + used, word.length - used);
  if (used > 0) used += skip_unused_index(at + used, word.length - used);
  if (used > 0 && used == word.length) return true;
  obj_text_error(&reader->text, word.place, "expected a face corner such as 7, 7/1 or 7/1/3, got '%s'",
                 obj_quote(word).text);
  return false;
}

/* Reads the position index of a face corner: from 1 on, or backwards from the last position if negative. */
static bool read_corner(ObjReader* reader, ObjWord word, int* corner) {
  int index, before = reader->mesh->position_count, total = reader->position_total;
  if (!parse_index(reader, word, &index)) return false;
  *corner = index > 0 ? index - 1 : before + index;
  if (index != 0 && *corner >= 0 && *corner < total) return true;
  if (index == 0)
    obj_text_error(&reader->text, word.place, "the face names vertex 0, but vertices are numbered from 1");
  else if (index > 0)
    obj_text_error(&reader->text, word.place, "the face names vertex '%s', but the file has only %d vertices",
                   obj_quote(word).text, total);
  else
    obj_text_error(&reader->text, word.place,
                   "the face names vertex '%s', but only %d vertices are defined before the face", obj_quote(word).text,
                   before);
  return false;
}

static void add_face(ObjReader* reader, int first_corner, int line) {
  Mesh* mesh = reader->mesh;
  int count = mesh->face_count, for_first = reader->face_capacity, for_line = for_first;
  mesh->face_first = memory_grow_array(mesh->face_first, sizeof(int), count, &for_first);
  mesh->face_line = memory_grow_array(mesh->face_line, sizeof(int), count, &for_line);
  reader->face_statement = memory_grow_array(reader->face_statement, sizeof(int), count, &reader->face_capacity);
  mesh->face_first[count] = first_corner;
  mesh->face_line[count] = line;
  reader->face_statement[count] = reader->statement_count - 1;
  mesh->face_count++;
}

static void read_face(ObjReader* reader, int line) {
  Mesh* mesh = reader->mesh;
  int first = mesh->corner_count, corner;
  ObjWord word;
  while (obj_text_word(&reader->text, &word)) {
    if (!read_corner(reader, word, &corner)) continue;
    mesh->corners = memory_grow_array(mesh->corners, sizeof(int), mesh->corner_count, &reader->corner_capacity);
    mesh->corners[mesh->corner_count++] = corner;
  }
  add_face(reader, first, line);
}

/* Adds a group statement. Replaces the last one if it has no faces. */
static void add_group_statement(ObjReader* reader, ObjWord object, ObjWord group) {
  const Mesh* mesh = reader->mesh;
  int last = reader->statement_count - 1;
  bool used = mesh->face_count > 0 && reader->face_statement[mesh->face_count - 1] == last;
  if (last >= 0 && !used) reader->statement_count--;
  reader->statements = memory_grow_array(reader->statements, sizeof(GroupStatement), reader->statement_count,
                                         &reader->statement_capacity);
  int index = reader->statement_count++;
  reader->statements[index] = (GroupStatement){object, group, index, index, 0};
}

/* Reads the name of a group or object. A new object starts without a group. */
static void read_group(ObjReader* reader, bool is_object, ObjWord name) {
  ObjWord none = {name.place, 0};
  if (is_object)
    add_group_statement(reader, name, none);
  else
    add_group_statement(reader, reader->statements[reader->statement_count - 1].object, name);
}

static int compare_words(ObjWord a, ObjWord b) {
  int common = a.length < b.length ? a.length : b.length;
  int index = memcmp(a.place.at, b.place.at, (size_t)common);
  return index != 0 ? index : (a.length > b.length) - (a.length < b.length);
}

static int compare_names(const GroupStatement* a, const GroupStatement* b) {
  int index = compare_words(a->object, b->object);
  return index != 0 ? index : compare_words(a->group, b->group);
}

static int compare_marks(const void* left, const void* right) {
  const GroupStatement *a = left, *b = right;
  int index = compare_names(a, b);
  return index != 0 ? index : (a->index > b->index) - (a->index < b->index);
}

/* Sets the member `first` of each group statement to the index of the first statement of the same group. */
static void join_equal_groups(ObjReader* reader) {
  GroupStatement* sorted = MEMORY_NEW(GroupStatement, reader->statement_count);
  memcpy(sorted, reader->statements, sizeof *sorted * (size_t)reader->statement_count);
  qsort(sorted, (size_t)reader->statement_count, sizeof *sorted, compare_marks);
  for (int i = 1; i < reader->statement_count; i++) {
    if (compare_names(&sorted[i], &sorted[i - 1]) == 0) sorted[i].first = sorted[i - 1].first;
    reader->statements[sorted[i].index].first = sorted[i].first;
  }
  memory_free(sorted);
}

static char* group_name(const GroupStatement* mark) {
  ObjWord word = mark->group.length > 0 ? mark->group : mark->object;
  if (word.length == 0) return memory_copy_text("default");
  char* name = memory_alloc((size_t)word.length + 1);
  memcpy(name, word.place.at, (size_t)word.length);
  return name;
}

static bool positions_are_equal(const Mesh* mesh, int a, int b) {
  Vec3 p = mesh->positions[a], q = mesh->positions[b];
  return p.x == q.x && p.y == q.y && p.z == q.z;
}

/* Returns true if the face has fewer than three distinct corners. */
static bool is_degenerate(const Mesh* mesh, int first, int end) {
  int second = first;
  while (second < end && positions_are_equal(mesh, mesh->corners[first], mesh->corners[second])) second++;
  for (int i = second; i < end; i++)
    if (!positions_are_equal(mesh, mesh->corners[i], mesh->corners[first]) &&
        !positions_are_equal(mesh, mesh->corners[i], mesh->corners[second]))
      return false;
  return true;
}

static int face_end(const Mesh* mesh, int face) {
  return face + 1 < mesh->face_count ? mesh->face_first[face + 1] : mesh->corner_count;
}

/* Counts the faces of each group. Degenerate faces get the statement -1. */
static void count_faces(ObjReader* reader) {
  Mesh* mesh = reader->mesh;
  for (int face = 0; face < mesh->face_count; face++) {
    if (is_degenerate(mesh, mesh->face_first[face], face_end(mesh, face))) {
      reader->face_statement[face] = -1;
      mesh->degenerate_face_count++;
    } else {
      int first = reader->statements[reader->face_statement[face]].first;
      reader->face_statement[face] = first;
      reader->statements[first].face_count++;
    }
  }
}

/* Creates a group for every statement with faces. face_count becomes the index of its first face. */
static void create_groups(ObjReader* reader) {
  Mesh* mesh = reader->mesh;
  mesh->groups = MEMORY_NEW(MeshGroup, reader->statement_count);
  int place = 0;
  for (int i = 0; i < reader->statement_count; i++) {
    GroupStatement* mark = &reader->statements[i];
    int count = mark->face_count;
    if (count > 0) mesh->groups[mesh->group_count++] = (MeshGroup){group_name(mark), place, count};
    mark->face_count = place;
    place += count;
  }
}

/* Sorts the faces by group. Faces of a group keep the file index. */
static void sort_faces(ObjReader* reader) {
  Mesh* mesh = reader->mesh;
  int kept = mesh->face_count - mesh->degenerate_face_count;
  int* index = MEMORY_NEW(int, kept);
  for (int face = 0; face < mesh->face_count; face++)
    if (reader->face_statement[face] >= 0) index[reader->statements[reader->face_statement[face]].face_count++] = face;
  int *corners = MEMORY_NEW(int, mesh->corner_count), *first = MEMORY_NEW(int, kept + 1), *line = MEMORY_NEW(int, kept);
  int corner_count = 0;
  for (int i = 0; i < kept; i++) {
    int begin = mesh->face_first[index[i]], count = face_end(mesh, index[i]) - begin;
    memcpy(corners + corner_count, mesh->corners + begin, sizeof(int) * (size_t)count);
    line[i] = mesh->face_line[index[i]];
    corner_count += count;
    first[i + 1] = corner_count;
  }
  memory_free(index);
  memory_free(mesh->corners);
  memory_free(mesh->face_first);
  memory_free(mesh->face_line);
  mesh->corners = corners;
  mesh->face_first = first;
  mesh->face_line = line;
  mesh->face_count = kept;
  mesh->corner_count = corner_count;
}

typedef enum { STATEMENT_POSITION, STATEMENT_FACE, STATEMENT_OBJECT, STATEMENT_GROUP, STATEMENT_OTHER } StatementKind;

typedef struct {
  StatementKind kind;
  int line;
  ObjWord name; /* of an object or group */
} Statement;

static StatementKind statement_kind(ObjWord word) {
  if (obj_word_is(word, "v")) return STATEMENT_POSITION;
  if (obj_word_is(word, "f")) return STATEMENT_FACE;
  if (obj_word_is(word, "o")) return STATEMENT_OBJECT;
  return obj_word_is(word, "g") ? STATEMENT_GROUP : STATEMENT_OTHER;
}

/* Finds the next statement, in both passes over the file. Reads names, which can contain blanks and '#'. */
static bool next_statement(ObjText* text, Statement* statement) {
  ObjWord word;
  if (!obj_text_statement(text, &word)) return false;
  *statement = (Statement){statement_kind(word), word.place.line, {word.place, 0}};
  if (statement->kind == STATEMENT_OBJECT || statement->kind == STATEMENT_GROUP) statement->name = obj_text_rest(text);
  return true;
}

/* Counts the positions of the file, so that the array has its final size and faces can refer to later positions. */
static int count_positions(ObjText text) {
  Statement statement;
  int count = 0;
  for (; next_statement(&text, &statement); obj_text_skip(&text)) count += statement.kind == STATEMENT_POSITION;
  return count;
}

static void read_statements(ObjReader* reader) {
  ObjText* text = &reader->text;
  Statement statement;
  add_group_statement(reader, (ObjWord){text->place, 0}, (ObjWord){text->place, 0});
  for (; next_statement(text, &statement); obj_text_skip(text)) {
    switch (statement.kind) {
      case STATEMENT_POSITION:
        read_position(reader);
        break;
      case STATEMENT_FACE:
        read_face(reader, statement.line);
        break;
      case STATEMENT_OBJECT:
      case STATEMENT_GROUP:
        read_group(reader, statement.kind == STATEMENT_OBJECT, statement.name);
        break;
      case STATEMENT_OTHER:
        break;
    }
  }
}

/* Adds an error at the last line if the mesh has no faces. */
static void check_faces(ObjReader* reader) {
  const Mesh* mesh = reader->mesh;
  ObjPlace end = reader->text.place;
  if (end.at == end.line_start && end.line > 1) end.line--;
  SourcePosition place = {reader->text.name, end.line, 0};
  if (mesh->face_count > mesh->degenerate_face_count) return;
  reader->text.error_count++;
  if (mesh->face_count == 0)
    diagnostics_add(reader->text.diagnostics, SEVERITY_ERROR, place,
                    "no face: the file has no 'f' statement: export the mesh with faces");
  else
    diagnostics_add(reader->text.diagnostics, SEVERITY_ERROR, place,
                    "no face of the %d has three different corners: export the mesh again", mesh->face_count);
}

static void read_text(ObjReader* reader) {
  if (!obj_text_is_text(&reader->text)) return;
  reader->position_total = count_positions(reader->text);
  reader->mesh->positions = MEMORY_NEW(Vec3, reader->position_total);
  read_statements(reader);
  if (reader->text.error_count > 0) return;
  join_equal_groups(reader);
  count_faces(reader);
  check_faces(reader);
  if (reader->text.error_count > 0) return;
  create_groups(reader);
  sort_faces(reader);
}

Status mesh_parse_obj(Mesh* mesh, const char* name, const char* text, size_t length, double scale,
                      Diagnostics* diagnostics) {
  *mesh = (Mesh){0};
  if (length > INT_MAX) { /* limits all counts to the range of int */
    diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){name, 0, 0},
                    "the file is larger than 2 GiB: simplify the mesh");
    return STATUS_BAD_INPUT;
  }
  ObjReader reader = {.text = obj_text_start(name, text, length, diagnostics), .scale = scale, .mesh = mesh};
  read_text(&reader);
  memory_free(reader.face_statement);
  memory_free(reader.statements);
  if (reader.text.error_count == 0) return STATUS_OK;
  mesh_free(mesh);
  return STATUS_BAD_INPUT;
}

void mesh_free(Mesh* mesh) {
  assert(mesh);
  for (int i = 0; i < mesh->group_count; i++) memory_free(mesh->groups[i].name);
  memory_free(mesh->groups);
  memory_free(mesh->positions);
  memory_free(mesh->corners);
  memory_free(mesh->face_first);
  memory_free(mesh->face_line);
  *mesh = (Mesh){0};
}
