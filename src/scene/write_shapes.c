/* Shapes of a scene as YAML. */
#include "scene/write_scene.h"

/* Returns false for shapes in links, which have no name, and for a few names that cannot be keys. */
static bool is_usable_name(const char* name) {
  return *name && strlen(name) <= NAME_MAX_LENGTH && strcmp(name, "<<") != 0;
}

void write_shape_names(SceneWriter* writer) {
  const Scene* scene = writer->scene;
  Names names = {0};
  writer->shape_names = MEMORY_NEW(char*, scene->shape_count);
  for (int i = 0; i < scene->shape_count; i++)
    if (is_usable_name(scene->shapes[i].name) && names_add(&names, scene->shapes[i].name, i))
      writer->shape_names[i] = memory_text(scene->shapes[i].name);
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
  text_add(out, ", decompose: {max_hulls: %d, max_vertices: %d", o->max_hulls, o->max_vertices);
  write_key_number(out, "error", o->error);
  if (o->tolerance > 0) write_key_number(out, "tolerance", o->tolerance);
  text_add(out, ", resolution: %d", o->resolution);
  if (o->grid[0] > 0) text_add(out, ", grid: [%d, %d, %d]", o->grid[0], o->grid[1], o->grid[2]);
  char letters[4] = {0};
  for (int axis = 0, count = 0; axis < 3; axis++)
    if (o->symmetry[axis]) letters[count++] = "xyz"[axis];
  write_key_text(out, "symmetry", o->symmetry_auto ? "auto" : letters[0] ? letters : "none");
  if (o->inside) text_add(out, ", inside: true");
  if (tie != TIE_CORNERS) text_add(out, ", tie: %s", tie == TIE_VERTEX ? "vertex" : "none");
  text_add(out, "}");
}

static void write_mesh(const SceneWriter* writer, const SceneShape* shape) {
  char* file = file_relative(writer->folder, shape->file);
  write_key_text(writer->out, "file", file);
  write_key_number(writer->out, "scale", shape->scale);
  if (shape->decompose)
    write_decompose(writer->out, &shape->decomposition, shape->tie);
  else if (shape->triangles)
    text_add(writer->out, ", pieces: triangles%s", shape->orient_fix ? ", orient: fix" : "");
  else
    text_add(writer->out, ", hulls: %s", shape->hull_per_group ? "groups" : "whole");
  if (shape->max_vertices > 0) text_add(writer->out, ", max_vertices: %d", shape->max_vertices);
  memory_free(file);
}

static void write_height_field(const SceneWriter* writer, const SceneShape* shape) {
  char* file = file_relative(writer->folder, shape->file);
  write_key_text(writer->out, "file", file);
  write_key_vector(writer->out, "size", shape->size);
  write_key_vector(writer->out, "origin", shape->origin);
  if (shape->base > 0) write_key_number(writer->out, "base", shape->base);
  memory_free(file);
}

static void write_points(Text* out, const SceneShape* shape) {
  text_add(out, ", points: [");
  for (int i = 0; i < shape->point_count; i++) {
    text_add(out, "%s\n      ", i > 0 ? "," : "");
    write_numbers(out, (const double[3]){shape->points[i].x, shape->points[i].y, shape->points[i].z}, 3);
  }
  text_add(out, "]%s", shape->triangles ? ", pieces: triangles" : shape->keep_interior ? ", keep_interior: true" : "");
}

void write_pose(Text* out, Vec3 position, Quat rotation) {
  const Vec3 origin = vec3(0, 0, 0);
  const Quat identity = quat_identity();
  if (!same_bits(&position, &origin, sizeof position)) write_key_vector(out, "position", position);
  if (!same_bits(&rotation, &identity, sizeof rotation))
    write_key_numbers(out, "rotation", (const double[4]){rotation.w, rotation.x, rotation.y, rotation.z}, 4);
}

static void write_list(Text* out, const char* key, const double* values, int count) {
  text_add(out, ", %s: ", key);
  write_numbers(out, values, count);
}

static void write_faces(Text* out, const SmoothForm* form) {
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
  if (form->length > 0) write_key_number(out, "length", form->length);
}

static void write_joined(const SceneWriter* writer, const SceneShape* shape) {
  Text* out = writer->out;
  text_add(out, ", of: [");
  for (int i = 0; i < shape->part_count; i++) {
    text_add(out, "%s{shape: ", i > 0 ? ", " : "");
    write_text(out, writer->shape_names[shape->parts[i].shape]);
    write_pose(out, shape->parts[i].position, shape->parts[i].rotation);
    text_add(out, "}");
  }
  text_add(out, "]");
  write_key_number(out, "smoothing", shape->smoothing);
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
  write_key_number(out, "radius", shape->radius);
}

static void write_smooth(const SceneWriter* writer, const SceneShape* shape) {
  Text* out = writer->out;
  const SmoothForm* form = &shape->smooth;
  static const char* const CYLINDER[] = {"radius", "half_length"};
  static const char* const CONE[] = {"bottom_radius", "top_radius", "below", "above"};
  if (shape->type == SHAPE_SUPERELLIPSOID || shape->type == SHAPE_SUPERQUADRIC) write_list(out, "size", form->size, 3);
  for (int k = 0; k < 2 && shape->type == SHAPE_SUPERELLIPTIC_CYLINDER; k++)
    write_key_number(out, CYLINDER[k], form->size[k]);
  for (int k = 0; k < 4 && shape->type == SHAPE_TRUNCATED_CONE; k++) write_key_number(out, CONE[k], form->size[k]);
  if (shape->type == SHAPE_SUPERELLIPSOID || shape->type == SHAPE_SUPERELLIPTIC_CYLINDER)
    write_key_number(out, "exponent", form->exponent);
  if (shape->type == SHAPE_SUPERQUADRIC) write_list(out, "exponents", form->exponents, 2);
  if (shape->type == SHAPE_TRUNCATED_CONE || shape->type == SHAPE_SMOOTH_POLYTOPE)
    write_key_number(out, "sharpness", form->beta);
  if (shape->type == SHAPE_SMOOTH_POLYTOPE) write_faces(out, form);
  if (shape->type == SHAPE_ORIENTED_POINTS) write_oriented(out, shape);
  if (shape->type >= SHAPE_UNION) write_joined(writer, shape);
  text_add(out, ", resolution: %d", shape->resolution);
}

/* The keys that the type has. */
static void write_shape_keys(const SceneWriter* writer, const SceneShape* shape) {
  Text* out = writer->out;
  switch (shape->type) {
    case SHAPE_BOX:
      write_key_vector(out, "size", shape->size);
      break;
    case SHAPE_SPHERE:
      write_key_number(out, "radius", shape->radius);
      if (!shape->exact) text_add(out, ", resolution: %d", shape->resolution);
      break;
    case SHAPE_CYLINDER:
    case SHAPE_CAPSULE:
      write_key_number(out, "radius", shape->radius);
      write_key_number(out, "length", shape->length);
      if (!shape->exact) text_add(out, ", segments: %d", shape->segments);
      break;
    case SHAPE_WHEEL:
    case SHAPE_DISC:
      write_key_number(out, "radius", shape->radius);
      if (shape->type == SHAPE_WHEEL) write_key_number(out, "width", shape->width);
      write_key_number(out, "rim", shape->rim);
      if (!shape->exact) text_add(out, ", segments: %d", shape->segments);
      break;
    case SHAPE_CONE:
      write_key_number(out, "bottom_radius", shape->bottom_radius);
      write_key_number(out, "top_radius", shape->top_radius);
      write_key_number(out, "length", shape->length);
      if (!shape->exact) text_add(out, ", segments: %d", shape->segments);
      break;
    case SHAPE_ROUNDED_BOX:
      write_key_number(out, "radius", shape->radius);
      write_key_vector(out, "size", shape->size);
      if (!shape->exact) text_add(out, ", segments: %d", shape->segments);
      break;
    case SHAPE_ROUNDED_POINTS:
      write_key_number(out, "radius", shape->radius);
      if (!shape->exact) text_add(out, ", segments: %d", shape->segments);
      write_points(out, shape);
      break;
    case SHAPE_POINTS:
      write_points(out, shape);
      break;
    case SHAPE_MESH:
      write_mesh(writer, shape);
      break;
    case SHAPE_HEIGHT_FIELD:
      write_height_field(writer, shape);
      break;
    case SHAPE_HALF_SPACE:
      write_key_vector(out, "normal", shape->normal);
      write_key_number(out, "offset", shape->offset);
      break;
    default:
      write_smooth(writer, shape);
  }
}

void write_shapes(const SceneWriter* writer) {
  static const char* const TYPES[] = {"box",
                                      "sphere",
                                      "cylinder",
                                      "capsule",
                                      "wheel",
                                      "disc",
                                      "cone",
                                      "rounded_box",
                                      "rounded_points",
                                      "points",
                                      "mesh",
                                      "height_field",
                                      "half_space",
                                      "superellipsoid",
                                      "superelliptic_cylinder",
                                      "truncated_cone",
                                      "smooth_polytope",
                                      "superquadric",
                                      "oriented_points",
                                      "union",
                                      "subtraction"};
  const Scene* scene = writer->scene;
  bool any = false;
  for (int i = 0; i < scene->shape_count; i++) {
    if (scene->shapes[i].replaced) continue;
    if (!any) text_add(writer->out, "shapes:\n");
    any = true;
    text_add(writer->out, "  ");
    write_text(writer->out, writer->shape_names[i]);
    text_add(writer->out, ": {type: %s", TYPES[scene->shapes[i].type]);
    write_shape_keys(writer, &scene->shapes[i]);
    text_add(writer->out, "}\n");
  }
}
