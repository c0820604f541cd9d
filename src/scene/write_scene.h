/* Private to scene/: a scene as YAML, part by part (write_scene.c, write_shapes.c, write_link.c). All append to the
 * writer's text, which is the caller's; none fails. */
#ifndef SDRS_SCENE_WRITE_SCENE_H
#define SDRS_SCENE_WRITE_SCENE_H

#include <string.h>

#include "scene/parts.h"
#include "scene/write_text.h"

/* State of writing a scene to YAML. Borrows everything except the names. */
typedef struct {
  const Scene* scene;
  const char* folder; /* that paths are seen from */
  Text* out;
  char** shape_names; /* owned; one per shape */
} SceneWriter;

/* Returns true if both are bit-identical; size in bytes. */
static inline bool same_bits(const void* a, const void* b, size_t size) { return memcmp(a, b, size) == 0; }
/* Returns true if values[count] are all +0. count: at most JOINT_MAX_COORDINATE. */
static inline bool all_zero(const double* values, int count) {
  const double zero[JOINT_MAX_COORDINATE] = {0};
  return same_bits(values, zero, sizeof(double) * (size_t)count);
}

/* ---- scene/schema_write.c */
/* A struct of the scene, or a member of it, that the rows of an object are read into. */
typedef struct {
  const char* object;  /* name in SCENE_SCHEMA */
  size_t offset, size; /* of the member in the struct that the object is read into [bytes] */
  const void* values;  /* the member; borrowed */
  bool defaults;       /* values that are the default are written, too */
} SchemaValues;
/* The member `member` of Form, which the rows of the object name are read into; pointer: that of the scene. */
#define SCHEMA_VALUES(name, Form, member, pointer) \
  { .object = (name), .offset = offsetof(Form, member), .size = sizeof(((Form*)0)->member), .values = (pointer) }
/* Appends each number, vector, word, list of words and switch that the struct holds as a key: those that are required
 * for its type and those that differ from the default. indent: each key is a line of its own behind this; NULL: keys
 * are separated by commas, inside { }. Values that are read into other members are the caller's. */
void schema_write(Text* out, const char* indent, const SchemaValues* values);
/* Appends one row, whose value stands at `value`, by the same rules. defaults: also a default. */
void schema_write_row(Text* out, const char* indent, const SchemaRow* row, const void* value, bool defaults);

/* ---- scene/write_scene.c */
/* Appends the given values of a material, each key between `before` and `after`. */
void write_material(Text* out, const SceneMaterial* material, const char* before, const char* after);

/* ---- scene/write_shapes.c */
/* Sets shape_names to a name for every shape, its own if it can be a key. Allocates the names and their array, which
 * the caller frees. */
void write_shape_names(SceneWriter* writer);
/* Writes `shapes:` with all shapes; nothing without shapes. */
void write_shapes(const SceneWriter* writer);
/* `, position: ..., rotation: ...` inside { }, as far as they differ from none [m]. */
void write_pose(Text* out, Vec3 position, Quat rotation);

/* ---- scene/write_link.c */
/* `links:` with all of them, their joints, masses and uses of shapes. */
void write_links(const SceneWriter* writer);

#endif
