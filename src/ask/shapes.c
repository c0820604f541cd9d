/* Parses the shapes in questions, including their poses. */
#include <assert.h>
#include <string.h>
#include "ask/reader.h"

/* Smallest and largest length of a shape [m]. */
#define LENGTH_MIN 1e-6
#define LENGTH_MAX 1e6
#define SHARPNESS_MAX 1e6
#define SMOOTHING_MIN 1e-9 /* m */
/* Largest deviation of a quaternion's length from 1. The quaternion is then normalized. */
#define UNIT_TOLERANCE 1e-6

static double quaternion_length(const double q[4]) {
  return sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
}

bool query_is_unit_quaternion(const double q[4]) { return fabs(quaternion_length(q) - 1) <= UNIT_TOLERANCE; }

bool query_rotation(const double q[4], Mat3* rotation) {
  if (!query_is_unit_quaternion(q)) return false;
  *rotation = mat3_from_quat(quat_normalized((Quat){q[0], q[1], q[2], q[3]}));
  return true;
}

/* ---------------------------------------------------------------- shapes */

typedef enum {
  VALUE_SHARPNESS,
  VALUE_EXPONENT,
  VALUE_LENGTH, /* index in `size` */
  VALUE_AXES,   /* three lengths */
  VALUE_EXPONENTS,
  VALUE_NORMALS,
  VALUE_OFFSETS,
  VALUE_UNIT,
  VALUE_POINTS,
  VALUE_FILE,
  VALUE_SCALE,
  VALUE_RADIUS,
  VALUE_SMOOTHING,
  VALUE_PARTS,
  VALUE_PIECES,
} BodyValue;

typedef struct {
  const char* name;
  BodyValue kind;
  int index;
  bool optional;
} ShapeKey;

enum { KEYS_MAX = 6, TEXT_BOX = TEXT_TYPES, TEXT_SPHERE, TYPES };

typedef struct {
  const char* name;
  ShapeKey keys[KEYS_MAX]; /* the last entry has no name */
} BodyType;

/* Table of the types of shapes with their keys. A new type needs one entry here. */
static const BodyType TYPE[TYPES] = {
    [SMOOTH_POLYTOPE] = {"smooth_polytope",
                         {{"normals", VALUE_NORMALS, 0, false},
                          {"offsets", VALUE_OFFSETS, 0, false},
                          {"sharpness", VALUE_SHARPNESS, 0, false},
                          {"length", VALUE_UNIT, 0, true}}},
    [SMOOTH_CONE] = {"truncated_cone",
                     {{"bottom_radius", VALUE_LENGTH, 0, false},
                      {"top_radius", VALUE_LENGTH, 1, false},
                      {"below", VALUE_LENGTH, 2, false},
                      {"above", VALUE_LENGTH, 3, false},
                      {"sharpness", VALUE_SHARPNESS, 0, false}}},
    [SMOOTH_SUPERELLIPSOID] = {"superellipsoid",
                               {{"size", VALUE_AXES, 0, false}, {"exponent", VALUE_EXPONENT, 0, false}}},
    [SMOOTH_CYLINDER] = {"superelliptic_cylinder",
                         {{"radius", VALUE_LENGTH, 0, false},
                          {"half_length", VALUE_LENGTH, 1, false},
                          {"exponent", VALUE_EXPONENT, 0, false}}},
    [SMOOTH_SUPERQUADRIC] = {"superquadric",
                             {{"size", VALUE_AXES, 0, false}, {"exponents", VALUE_EXPONENTS, 0, false}}},
    [TEXT_HULL] = {"points", {{"points", VALUE_POINTS, 0, false}, {"smoothing", VALUE_SMOOTHING, 0, true}}},
    [TEXT_MESH] = {"mesh",
                   {{"file", VALUE_FILE, 0, false},
                    {"scale", VALUE_SCALE, 0, true},
                    {"pieces", VALUE_PIECES, 0, true},
                    {"radius", VALUE_RADIUS, 0, true},
                    {"smoothing", VALUE_SMOOTHING, 0, true}}},
    [TEXT_POINTS] = {"oriented_points",
                     {{"points", VALUE_POINTS, 0, false},
                      {"normals", VALUE_NORMALS, 0, false},
                      {"radius", VALUE_RADIUS, 0, false}}},
    [TEXT_UNION] = {"union", {{"of", VALUE_PARTS, 0, false}, {"smoothing", VALUE_SMOOTHING, 0, false}}},
    [TEXT_SUBTRACTION] = {"subtraction", {{"of", VALUE_PARTS, 0, false}, {"smoothing", VALUE_SMOOTHING, 0, false}}},
    /* synonyms of shapes above */
    [TEXT_BOX] = {"box", {{"size", VALUE_AXES, 0, false}}},
    [TEXT_SPHERE] = {"sphere", {{"radius", VALUE_LENGTH, 0, false}}},
};

/* Replaces a box by the hull of its corners, and a sphere by the superellipsoid of exponent 1, which is the same solid.
 */
static void replace_synonym(ParsedShape* text) {
  double* size = text->form.size;
  if (text->type == TEXT_SPHERE) {
    size[1] = size[2] = size[0];
    text->form.exponent = 1;
    text->type = SMOOTH_SUPERELLIPSOID;
  } else if (text->type == TEXT_BOX) {
    text->points = MEMORY_NEW(Vec3, text->point_count = 8);
    for (int k = 0; k < 8; k++)
      text->points[k] = (Vec3){size[0] * ((k & 1) - 0.5), size[1] * ((k >> 1 & 1) - 0.5), size[2] * ((k >> 2) - 0.5)};
    text->type = TEXT_HULL;
  }
}

static void read_parts(QueryReader* reader, const cJSON* item, ParsedShape* text);

static void read_numbers(QueryReader* reader, const cJSON* item, int count, const char* what, double low, double high,
                         const char* unit, double* out) {
  if (!cJSON_IsArray(item) || cJSON_GetArraySize(item) != count) {
    query_reader_error(reader, false, "expected %s", what);
    return;
  }
  const cJSON* child = item->child;
  for (int k = 0; k < count; k++, child = child->next) {
    size_t mark = query_reader_enter(reader, k);
    out[k] = query_reader_number_in_unit(reader, child, low, high, unit);
    query_reader_leave(reader, mark);
  }
}

static void read_offsets(QueryReader* reader, const cJSON* item, ParsedShape* text) {
  int count = cJSON_GetArraySize(item), index = 0;
  if (!cJSON_IsArray(item) || count == 0) {
    query_reader_error(reader, false, "expected a list of lengths, one for every normal");
    return;
  }
  text->offsets = MEMORY_NEW(double, count);
  text->offset_count = count;
  for (const cJSON* child = item->child; child; child = child->next, index++) {
    size_t mark = query_reader_enter(reader, index);
    text_add(&reader->trail, "[%d]", index);
    text->offsets[index] = query_reader_length(reader, child, -READER_COORDINATE_MAX, READER_COORDINATE_MAX);
    query_reader_leave(reader, mark);
  }
}

static void read_quaternion(QueryReader* reader, const cJSON* item, Pose* pose) {
  double q[4] = {0};
  if (!cJSON_IsArray(item) || cJSON_GetArraySize(item) != 4) {
    query_reader_error(reader, false, "a quaternion must be [w, x, y, z]");
    return;
  }
  const cJSON* child = item->child;
  for (int k = 0; k < 4; k++, child = child->next) {
    size_t mark = query_reader_enter(reader, k);
    q[k] = query_reader_number_in_unit(reader, child, -2, 2, "");
    query_reader_leave(reader, mark);
  }
  if (!query_rotation(q, &pose->r))
    query_reader_error(reader, false, "a quaternion must have length 1, got %g", quaternion_length(q));
}

static void read_value(QueryReader* reader, const cJSON* item, const ShapeKey* key, ParsedShape* text) {
  switch (key->kind) {
    case VALUE_SHARPNESS:
      text->form.beta = query_reader_number_in_unit(reader, item, 1e-6, SHARPNESS_MAX, "");
      break;
    case VALUE_EXPONENT:
      text->form.exponent = query_reader_number_in_unit(reader, item, 1, 64, "");
      break;
    case VALUE_LENGTH:
      text->form.size[key->index] = query_reader_length(reader, item, LENGTH_MIN, LENGTH_MAX);
      break;
    case VALUE_AXES:
      read_numbers(reader, item, 3, "three lengths [a, b, c]", LENGTH_MIN, LENGTH_MAX, " m", text->form.size);
      break;
    case VALUE_EXPONENTS:
      read_numbers(reader, item, 2, "two exponents [e1, e2]", 0, 2, "", text->form.exponents);
      break;
    case VALUE_NORMALS:
      query_reader_points(reader, item, &text->normals, &text->normal_count);
      break;
    case VALUE_OFFSETS:
      read_offsets(reader, item, text);
      break;
    case VALUE_UNIT:
      text->form.length = query_reader_length(reader, item, LENGTH_MIN, LENGTH_MAX);
      break;
    case VALUE_POINTS:
      query_reader_points(reader, item, &text->points, &text->point_count);
      break;
    case VALUE_FILE:
      if (cJSON_IsString(item))
        text->file = item->valuestring;
      else
        query_reader_error(reader, false, "expected the name of a mesh file, got %s", query_reader_kind_name(item));
      break;
    case VALUE_SCALE:
      text->scale = query_reader_number_in_unit(reader, item, 1e-9, 1e9, "");
      break;
    case VALUE_RADIUS:
      text->radius = query_reader_length(reader, item, LENGTH_MIN, LENGTH_MAX);
      break;
    case VALUE_SMOOTHING:
      text->smoothing = query_reader_length(reader, item, SMOOTHING_MIN, LENGTH_MAX);
      break;
    case VALUE_PIECES:
      text->in_pieces = cJSON_IsString(item) && strcmp(item->valuestring, "hulls") == 0;
      if (!text->in_pieces && !(cJSON_IsString(item) && strcmp(item->valuestring, "hull") == 0))
        query_reader_error(reader, false,
                           "must be hull (one convex hull of the mesh) or hulls (one convex hull per group), got %.60s",
                           cJSON_IsString(item) ? item->valuestring : query_reader_kind_name(item));
      break;
    case VALUE_PARTS:
      read_parts(reader, item, text);
      break;
  }
}

/* Keys of every shape, which precede the keys of its type. */
static const char* const COMMON_KEYS[] = {"type", "position", "quaternion"};
enum { COMMON_TYPE, COMMON_POSITION, COMMON_QUATERNION, COMMON_COUNT };

static void read_shape_member(QueryReader* reader, const cJSON* item, int key, void* context) {
  ParsedShape* text = context;
  if (key == COMMON_POSITION) text->pose->t = query_reader_point(reader, item);
  if (key == COMMON_QUATERNION) read_quaternion(reader, item, text->pose);
  if (key >= COMMON_COUNT) read_value(reader, item, &TYPE[text->type].keys[key - COMMON_COUNT], text);
}

/* Returns the type of a shape. Reports an error and returns -1 if the type is unknown. */
static int read_type(QueryReader* reader, const cJSON* item) {
  const cJSON* type = cJSON_GetObjectItemCaseSensitive(item, "type");
  if (!cJSON_IsString(type)) {
    query_reader_error(reader, false, type ? "'type' must be a text" : "the key 'type' is missing");
    return -1;
  }
  const char* names[TYPES];
  Text known = {0};
  for (int k = 0; k < TYPES; k++) {
    names[k] = TYPE[k].name;
    text_add(&known, "%s%s", k > 0 ? ", " : "", names[k]);
  }
  int found = query_reader_find_key(type->valuestring, names, TYPES);
  if (found < 0) query_reader_error(reader, false, "unknown type '%.60s' (known: %s)", type->valuestring, known.data);
  text_free(&known);
  return found;
}

/* Reads the keys of a shape from a JSON object. moves: true if the object has no `type`, and only gives a new pose of a
 * body. Returns false after a reported error. */
static bool read_keys(QueryReader* reader, const cJSON* item, bool moves, ParsedShape* text) {
  const char* names[COMMON_COUNT + KEYS_MAX] = {COMMON_KEYS[0], COMMON_KEYS[1], COMMON_KEYS[2]};
  bool seen[COMMON_COUNT + KEYS_MAX] = {0};
  int count = COMMON_COUNT, problems = reader->problems;
  const ShapeKey* keys = TYPE[text->type].keys;
  for (; !moves && count < COMMON_COUNT + KEYS_MAX && keys[count - COMMON_COUNT].name; count++)
    names[count] = keys[count - COMMON_COUNT].name;
  query_reader_object(reader, item, names, count, read_shape_member, text, seen);
  for (int k = COMMON_COUNT; k < count; k++)
    if (!seen[k] && !keys[k - COMMON_COUNT].optional)
      query_reader_error(reader, false, "the key '%s' is missing", names[k]);
  if (problems == reader->problems) replace_synonym(text);
  return problems == reader->problems;
}

static void parsed_shape_free(ParsedShape* text) {
  memory_free(text->normals);
  memory_free(text->offsets);
  memory_free(text->faces);
  memory_free(text->points);
  for (int i = 0; i < text->part_count; i++) field_free(&text->parts[i]);
  memory_free(text->parts);
}

/* Reads a shape in the list `of` of a union or subtraction. Moves its field to *out and frees the rest of the shape. */
static void read_part(QueryReader* reader, const cJSON* item, Field* out) {
  Pose pose = pose_identity();
  ParsedShape text = {.scale = 1, .pose = &pose};
  QueryBody body = {.smooth = false};
  if (!cJSON_IsObject(item)) {
    query_reader_error(reader, false, "expected a shape {\"type\": ...}, got %s", query_reader_kind_name(item));
    return;
  }
  text.type = read_type(reader, item);
  if (text.type >= 0 && read_keys(reader, item, false, &text) && query_body_create(reader, &text, &body)) {
    if (body.no_field) query_reader_error(reader, false, "the hull has no smooth field: %s", body.no_field);
    *out = *body.field;
    out->pose = pose_mul(pose, out->pose);
    memory_free(body.field);
    body.field = NULL;
    body.shape = (Shape){0};
  }
  query_body_free(&body);
  parsed_shape_free(&text);
}

static void read_parts(QueryReader* reader, const cJSON* item, ParsedShape* text) {
  int count = cJSON_GetArraySize(item), index = 0;
  bool two = text->type == TEXT_SUBTRACTION;
  if (!cJSON_IsArray(item) || count < 1 || (two && count != 2)) {
    query_reader_error(
        reader, false,
        two ? "expected two shapes: the second is subtracted from the first" : "expected a list of one or more shapes");
    return;
  }
  if (reader->depth > READER_DEPTH_MAX - 8 || ++reader->shape_depth > READER_SHAPE_DEPTH_MAX) {
    query_reader_error(reader, false, "shapes may be nested at most %d levels deep", READER_SHAPE_DEPTH_MAX);
    return;
  }
  text->parts = MEMORY_NEW(Field, count);
  text->part_count = count;
  for (const cJSON* child = item->child; child; child = child->next, index++) {
    size_t mark = query_reader_enter(reader, index);
    text_add(&reader->trail, "[%d]", index);
    read_part(reader, child, &text->parts[index]);
    query_reader_leave(reader, mark);
  }
  reader->shape_depth--;
}

int query_reader_body(QueryReader* reader, const cJSON* item, QueryList* list, int before, Pose* pose) {
  assert(list && pose);
  if (!cJSON_IsObject(item)) {
    query_reader_error(reader, false, "expected a shape {\"type\": ...}, got %s", query_reader_kind_name(item));
    return -1;
  }
  ParsedShape text = {.scale = 1, .pose = pose};
  int made = before;
  bool moves = before >= 0 && !cJSON_HasObjectItem(item, "type");
  if (!moves) {
    *pose = pose_identity();
    made = -1;
    text.type = read_type(reader, item);
    if (text.type < 0) return -1;
  }
  QueryBody body = {.smooth = false};
  bool good = read_keys(reader, item, moves, &text);
  if (!moves && good && query_body_create(reader, &text, &body)) {
    list->bodies = memory_grow_array(list->bodies, sizeof(QueryBody), list->body_count, &list->body_capacity);
    made = list->body_count++;
    list->bodies[made] = body;
  }
  parsed_shape_free(&text);
  return made;
}
