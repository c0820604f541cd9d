/* Private to scene/: functions that write the sections of a scene as YAML (write_scene.c, write_shapes.c,
 * write_link.c). All functions append to the caller's text. No function fails. */
#ifndef SDRS_SCENE_WRITE_SCENE_H
#define SDRS_SCENE_WRITE_SCENE_H

#include <string.h>

#include "scene/parts.h"
#include "scene/write_text.h"

/* State of the writer of a scene. The struct borrows everything except shape_names. */
typedef struct {
  const Scene* scene;
  const char* folder; /* folder that written paths are relative to */
  Text* out;
  char** shape_names; /* name of each shape, owned (size: shape_count) */
} SceneWriter;

/* Returns true if a and b have the same bytes (size). */
static inline bool is_bitwise_equal(const void* a, const void* b, size_t size) { return memcmp(a, b, size) == 0; }
/* Returns true if all values (count) are +0. count: at most JOINT_MAX_COORDINATE. */
static inline bool all_zero(const double* values, int count) {
  const double zero[JOINT_MAX_COORDINATE] = {0};
  return is_bitwise_equal(values, zero, sizeof(double) * (size_t)count);
}

/* ---- scene/schema_write.c */
/* Values of a schema object that are written as YAML. The values are read from the object's struct, or from one member
 * of this struct. */
typedef struct {
  const char* object;  /* name of the object in SCENE_SCHEMA */
  size_t offset, size; /* offset and size of the member in the object's struct [bytes] */
  const void* values;  /* the member's value; borrowed */
  bool defaults;       /* true: values equal to the default are written, too */
} SchemaValues;
/* Makes a SchemaValues for one member of an object's struct. name: name of the schema object. Form: type of its struct.
 * member: the member. pointer: address of the member's value in the scene. */
#define SCHEMA_VALUES(name, Form, member, pointer) \
  { .object = (name), .offset = offsetof(Form, member), .size = sizeof(((Form*)0)->member), .values = (pointer) }
/* Appends the keys and values of a struct that are required for the object's type or differ from the default. Writes
 * numbers, vectors, words, lists of words and bools. The caller writes values of other kinds, and values in other
 * members. indent: text before each key, which gets a line of its own. If indent is NULL, commas separate the keys, for
 * a map in braces. */
void schema_write(Text* out, const char* indent, const SchemaValues* values);
/* Appends the key of one schema row with its value, if the value differs from the default or `defaults` is true. value:
 * address of the value. indent: text before the key, which gets a line of its own; NULL: a comma separates the key, for
 * a map in braces. */
void schema_write_row(Text* out, const char* indent, const SchemaRow* row, const void* value, bool defaults);

/* ---- scene/write_scene.c */
/* Appends the material values that the scene gives. before, after: texts before and after each key with its value. */
void write_material(Text* out, const SceneMaterial* material, const char* before, const char* after);

/* ---- scene/write_shapes.c */
/* Sets writer->shape_names to a unique name for each shape. A shape keeps its own name if this name can be a key. The
 * caller frees the names and the array. */
void write_shape_names(SceneWriter* writer);
/* Writes the section `shapes` with all shapes; writes nothing if the scene has none. */
void write_shapes(const SceneWriter* writer);
/* Appends a pose to a map in braces: `, position: [x, y, z], rotation: [w, x, y, z]` ([m], unit quaternion). Leaves out
 * a zero position and an identity rotation. */
void write_pose(Text* out, Vec3 position, Quat rotation);

/* ---- scene/write_link.c */
/* Writes the section `links` with all links, their joints, masses and shapes. */
void write_links(const SceneWriter* writer);

#endif
