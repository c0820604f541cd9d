/* Writes the shapes of a scene as YAML. */
#include "scene/forms.h"
#include "scene/write_scene.h"

/* Returns true if a shape's name can be a key in YAML. A shape written inside a link has an empty name. */
static bool is_valid_key(const char* name) {
  return *name && strlen(name) <= NAME_MAX_LENGTH && strcmp(name, "<<") != 0;
}

void write_shape_names(SceneWriter* writer) {
  const Scene* scene = writer->scene;
  Names names = {0};
  writer->shape_names = MEMORY_NEW(char*, scene->shape_count);
  for (int i = 0; i < scene->shape_count; i++)
    if (is_valid_key(scene->shapes[i].name) && names_add(&names, scene->shapes[i].name, i))
      writer->shape_names[i] = memory_copy_text(scene->shapes[i].name);
  int number = 0;
  for (int i = 0; i < scene->shape_count; i++)
    while (!writer->shape_names[i]) {
      Text name = {0};
      text_add(&name, "shape%d", number++);
      if (names_find(&names, name.data) < 0)
        writer->shape_names[i] = name.data;
      else
        text_free(&name);
    }
  names_free(&names);
}

static void write_decompose(Text* out, const DecomposeOptions* o, HullTie tie) {
  SchemaValues values = SCHEMA_VALUES("decompose", DecomposeForm, options, o);
  values.defaults = true;
  text_add(out, ", decompose: {");
  schema_write(out, NULL, &values);
  if (o->grid[0] > 0) text_add(out, ", grid: [%d, %d, %d]", o->grid[0], o->grid[1], o->grid[2]);
  char letters[4] = {0};
  for (int axis = 0, count = 0; axis < 3; axis++)
    if (o->symmetry[axis]) letters[count++] = "xyz"[axis];
  write_key_text(out, "symmetry", o->symmetry_auto ? "auto" : letters[0] ? letters : "none");
  if (tie != TIE_CORNERS) text_add(out, ", tie: %s", tie == TIE_VERTEX ? "vertex" : "none");
  text_add(out, "}");
}

static void write_mesh(const SceneWriter* writer, const SceneShape* shape) {
  char* file = file_relative_path(writer->folder, shape->file);
  write_key_text(writer->out, "file", file);
  if (shape->decompose)
    write_decompose(writer->out, &shape->decomposition, shape->tie);
  else if (shape->triangles)
    text_add(writer->out, ", pieces: triangles%s", shape->orient_fix ? ", orient: fix" : "");
  else
    text_add(writer->out, ", hulls: %s", shape->hull_per_group ? "groups" : "whole");
  memory_free(file);
}

static void write_height_field(const SceneWriter* writer, const SceneShape* shape) {
  char* file = file_relative_path(writer->folder, shape->file);
  write_key_text(writer->out, "file", file);
  memory_free(file);
}

static void write_points(Text* out, const SceneShape* shape) {
  text_add(out, ", points: [");
  for (int i = 0; i < shape->point_count; i++) {
    text_add(out, "%s\n      ", i > 0 ? "," : "");
    write_numbers(out, (const double[3]){shape->points[i].x, shape->points[i].y, shape->points[i].z}, 3);
  }
  text_add(out, "]%s", shape->triangles ? ", pieces: triangles" : "");
}

void write_pose(Text* out, Vec3 position, Quat rotation) {
  const Vec3 origin = vec3(0, 0, 0);
  const Quat identity = quat_identity();
  if (!is_bitwise_equal(&position, &origin, sizeof position)) write_key_vector(out, "position", position);
  if (!is_bitwise_equal(&rotation, &identity, sizeof rotation))
    write_key_numbers(out, "rotation", (const double[4]){rotation.w, rotation.x, rotation.y, rotation.z}, 4);
}

static void write_faces(Text* out, const ShapeDefinition* form) {
  text_add(out, ", normals: [");
  for (int i = 0; i < form->face_count; i++) {
    text_add(out, "%s", i > 0 ? ", " : "");
    write_numbers(out, form->faces[i], 3);
  }
  text_add(out, "], offsets: [");
  for (int i = 0; i < form->face_count; i++) {
    text_add(out, "%s", i > 0 ? ", " : "");
    text_add_double(out, form->faces[i][3]);
  }
  text_add(out, "]");
}

static void write_parts(const SceneWriter* writer, const SceneShape* shape) {
  Text* out = writer->out;
  text_add(out, ", of: [");
  for (int i = 0; i < shape->part_count; i++) {
    text_add(out, "%s{shape: ", i > 0 ? ", " : "");
    write_text(out, writer->shape_names[shape->parts[i].shape]);
    write_pose(out, shape->parts[i].position, shape->parts[i].rotation);
    text_add(out, "}");
  }
  text_add(out, "]");
}

static void write_oriented(Text* out, const SceneShape* shape) {
  for (int list = 0; list < 2; list++) {
    text_add(out, list == 0 ? ", points: [" : ", normals: [");
    const Vec3* v = list == 0 ? shape->points : shape->normals;
    for (int i = 0; i < shape->point_count; i++) {
      text_add(out, "%s", i > 0 ? ", " : "");
      write_numbers(out, (const double[3]){v[i].x, v[i].y, v[i].z}, 3);
    }
    text_add(out, "]");
  }
}

/* Writes the keys of a shape that schema_write does not write: files, lists, and the resolution of a polyhedron if it
 * is given. */
static void write_lists(const SceneWriter* writer, const SceneShape* shape) {
  Text* out = writer->out;
  if (shape->type == SHAPE_ROUNDED_POINTS || shape->type == SHAPE_POINTS) write_points(out, shape);
  if (shape->type == SHAPE_MESH) write_mesh(writer, shape);
  if (shape->type == SHAPE_HEIGHT_FIELD) write_height_field(writer, shape);
  if (shape->type == SHAPE_SUPERQUADRIC) write_key_numbers(out, "exponents", shape->smooth.exponents, 2);
  if (shape->type == SHAPE_SMOOTH_POLYTOPE) write_faces(out, &shape->smooth);
  if (shape->type == SHAPE_ORIENTED_POINTS) write_oriented(out, shape);
  if (shape->type == SHAPE_UNION || shape->type == SHAPE_SUBTRACTION) write_parts(writer, shape);
}

void write_shapes(const SceneWriter* writer) {
  const Scene* scene = writer->scene;
  bool any = false;
  for (int i = 0; i < scene->shape_count; i++) {
    const SceneShape* shape = &scene->shapes[i];
    if (shape->replaced) continue;
    if (!any) text_add(writer->out, "shapes:\n");
    any = true;
    text_add(writer->out, "  ");
    write_text(writer->out, writer->shape_names[i]);
    text_add(writer->out, ": {");
    SchemaValues values = SCHEMA_VALUES("shape", SceneShapeForm, shape, shape);
    values.defaults =
        !shape
             ->exact; /* also the default number of vertices must be written, because it makes the shape a polyhedron */
    schema_write(writer->out, NULL, &values);
    write_lists(writer, shape);
    text_add(writer->out, "}\n");
  }
}
