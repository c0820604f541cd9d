/* Private to scene/: functions that write the sections of a scene as YAML (write_scene.c, write_shapes.c,
 * write_link.c). All append to the caller's text, and none fails. */
#ifndef SDRS_SCENE_WRITE_SCENE_H
#define SDRS_SCENE_WRITE_SCENE_H

#include <string.h>

#include "scene/parts.h"
#include "scene/write_text.h"

/* State while a scene is written as YAML. Borrows everything except shape_names. */
typedef struct {
  const Scene* scene;
  const char* folder; /* folder that written paths are relative to */
  Text* out;
  char** shape_names; /* name of each shape, owned  (shape_count) */
} SceneWriter;

/* Returns true if `size` bytes at a and b are the same. */
static inline bool same_bits(const void* a, const void* b, size_t size) { return memcmp(a, b, size) == 0; }
/* Returns true if all of values[count] are +0. count: at most JOINT_MAX_COORDINATE. */
static inline bool all_zero(const double* values, int count) {
  const double zero[JOINT_MAX_COORDINATE] = {0};
  return same_bits(values, zero, sizeof(double) * (size_t)count);
}

/* ---- scene/schema_write.c */
/* A struct of the scene that holds values of a schema object: the object's struct, or a member of the object's
 * struct. */
typedef struct {
  const char* object;  /* name of the object in SCENE_SCHEMA */
  size_t offset, size; /* offset and size of the member in the object's struct [bytes] */
  const void* values;  /* the member's value; borrowed */
  bool defaults;       /* true: values equal to the default are written, too */
} SchemaValues;
/* Values of the member `member` of Form, the struct of schema object `name`. pointer: address of this member in the
 * scene. */
#define SCHEMA_VALUES(name, Form, member, pointer) \
  { .object = (name), .offset = offsetof(Form, member), .size = sizeof(((Form*)0)->member), .values = (pointer) }
/* Appends a key for each number, vector, word, list of words and bool in the struct that is required for the object's
 * type or that differs from the default. indent: text before each key, which gets a line of its own; NULL: the keys are
 * separated by commas, for a map in braces. The caller writes values of other kinds, and those in other members. */
void schema_write(Text* out, const char* indent, const SchemaValues* values);
/* Appends the key of one row with the value at `value`, as schema_write does. defaults: also write a value equal to the
 * default. */
void schema_write_row(Text* out, const char* indent, const SchemaRow* row, const void* value, bool defaults);

/* ---- scene/write_scene.c */
/* Appends the given values of a material. Each key is written between the texts `before` and `after`. */
void write_material(Text* out, const SceneMaterial* material, const char* before, const char* after);

/* ---- scene/write_shapes.c */
/* Sets writer->shape_names to a name for every shape: its own name if this can be a key. The caller frees the names and
 * the array. */
void write_shape_names(SceneWriter* writer);
/* Writes the section `shapes` with all shapes; writes nothing if the scene has none. */
void write_shapes(const SceneWriter* writer);
/* Appends `, position: [x, y, z], rotation: [w, x, y, z]` ([m], unit quaternion) for a map in braces, leaving out a
 * zero position and an identity rotation. */
void write_pose(Text* out, Vec3 position, Quat rotation);

/* ---- scene/write_link.c */
/* Writes the section `links` with all links, their joints, masses and shapes. */
void write_links(const SceneWriter* writer);

#endif
