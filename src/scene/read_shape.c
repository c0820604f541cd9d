#include <assert.h>
#include <string.h>

#include "base/outside.h"
#include "scene/parts.h"

/* ---------------------------------------------------------------- a shape */

static void read_points(Reader* reader, const Node* list, SceneShape* shape) {
  static const ValueRange ANY = {0};
  size_t mark = reader_enter_key(reader, "points");
  if (shape->triangles && (list->count < 3 || list->count % 3 != 0))
    reader_error(reader, list->place, "'points' needs three points per triangle, got %d points: give a multiple of 3",
                 list->count);
  bool rounded = shape->type == SHAPE_ROUNDED_POINTS;
  if (rounded && list->count < 1) reader_error(reader, list->place, "a rounded solid needs at least one point, got 0");
  if (!rounded && !shape->triangles && list->count < 4)
    reader_error(reader, list->place, "a solid needs at least 4 points, got %d", list->count);
  shape->points = MEMORY_NEW(Vec3, list->count);
  for (const Node* item = list->first; item && !reader->exhausted; item = item->next) {
    double v[3] = {0};
    size_t below = reader_enter_index(reader, shape->point_count);
    reader_numbers(reader, item, &ANY, "m", 3, v);
    reader_leave(reader, below);
    shape->points[shape->point_count++] = vec3(v[0], v[1], v[2]);
  }
  reader_leave(reader, mark);
}

static void check_normal(Reader* reader, const Node* node, SceneShape* shape) {
  if (shape->type != SHAPE_HALF_SPACE) return;
  double length = vec3_norm(shape->normal);
  if (!(length > 0) || !isfinite(length)) shape->normal = unit_vector(shape->normal);
  if (vec3_norm(shape->normal) > 0) return;
  const Node* normal = node_find(node, "normal");
  size_t mark = reader_enter_key(reader, "normal");
  reader_error(reader, normal ? normal->place : node->place,
               "must not be the zero vector: give a direction such as [0, 0, 1]");
  reader_leave(reader, mark);
}

/* ---------------------------------------------------------------- decompose */

/* Largest number of blocks in a grid. Each block becomes a hull. */
#define GRID_CELLS_MAX 100000

static void read_grid(Reader* reader, const Node* list, DecomposeOptions* options) {
  static const ValueRange CELLS = {.given = true, .low = 1, .high = 1000};
  int count, before = reader->problem_count;
  int* cells = reader_integers(reader, list, "grid", &CELLS, &count);
  size_t mark = reader_enter_key(reader, "grid");
  if (reader->problem_count > before) {
    count = 0;
  } else if (count != 3) {
    reader_error(reader, list->place, "expected 3 whole numbers, got %d", count);
  } else if ((int64_t)cells[0] * cells[1] * cells[2] > GRID_CELLS_MAX) {
    reader_error(reader, list->place, "a grid may have at most %d blocks, got %lld: lower the three numbers",
                 GRID_CELLS_MAX, (long long)cells[0] * cells[1] * cells[2]);
    count = 0;
  }
  for (int k = 0; k < 3 && count == 3; k++) options->grid[k] = cells[k];
  reader_leave(reader, mark);
  memory_free(cells);
}

static void read_symmetry(const char* word, DecomposeOptions* options) {
  options->symmetry_auto = strcmp(word, "auto") == 0;
  if (options->symmetry_auto || strcmp(word, "none") == 0) return;
  for (; *word; word++) options->symmetry[*word - 'x'] = true;
}

static void read_decompose(Reader* reader, const Node* shape_node, const Node* node, SceneShape* shape) {
  DecomposeForm form;
  size_t mark = reader_enter_key(reader, "decompose");
  if (schema_read(reader, node, "decompose", &form)) {
    shape->decompose = true;
    shape->tie = (HullTie)form.tie;
    shape->decomposition = form.options;
    if (form.grid) read_grid(reader, form.grid, &shape->decomposition);
    read_symmetry(words_at(SYMMETRY_WORDS, form.symmetry).text, &shape->decomposition);
    if (form.grid && form.options.inside)
      reader_error(reader, node->place,
                   "'grid' and 'inside' exclude each other, because the blocks of a grid extend beyond the mesh: "
                   "remove one of the two");
  }
  reader_leave(reader, mark);
  const Node* thinning = node_find(shape_node, "max_vertices");
  if (thinning)
    reader_error(reader, node_key_place(thinning),
                 "with 'max_vertices' beside 'decompose' the hulls would not cover the mesh: move 'max_vertices' into "
                 "'decompose'");
}

/* Reports keys that the pieces of the shape do not allow. Some keys apply to convex hulls only, `orient: fix` to
 * triangles only. */
static void check_triangles(Reader* reader, const Node* node, const SceneShape* shape) {
  static const char* const KEYS[] = {"hulls", "decompose", "max_vertices", "keep_interior"};
  for (size_t k = 0; shape->triangles && k < sizeof KEYS / sizeof *KEYS; k++) {
    const Node* key = node_find(node, KEYS[k]);
    if (key)
      reader_error(
          reader, node_key_place(key),
          "'%s' applies only to hulls, but the shape has pieces: triangles: remove the key, or remove 'pieces'",
          KEYS[k]);
  }
  if (shape->orient_fix && !shape->triangles)
    reader_error(reader, node_key_place(node_find(node, "orient")),
                 "'orient: fix' applies only to pieces: triangles: remove 'orient', because convex hulls do not depend "
                 "on the orientation of the faces");
}

/* ---------------------------------------------------------------- smooth shapes */

static void read_shape_use(Reader* reader, const Node* node, SceneShapeUse* use);

/* Reads a list of nonzero vectors into an array. Sets *count to the length of the array. The caller frees the array. */
static Vec3* read_normals(Reader* reader, const Node* list, int* count) {
  static const ValueRange ANY = {0};
  size_t mark = reader_enter_key(reader, "normals");
  Vec3* normals = MEMORY_NEW(Vec3, list->count);
  *count = 0;
  for (const Node* item = list->first; item && !reader->exhausted; item = item->next) {
    double v[3] = {0};
    size_t below = reader_enter_index(reader, *count);
    if (reader_numbers(reader, item, &ANY, NULL, 3, v) && !(vec3_norm(vec3(v[0], v[1], v[2])) > 0))
      reader_error(reader, item->place, "must not be the zero vector: give a direction such as [0, 0, 1]");
    reader_leave(reader, below);
    normals[(*count)++] = vec3(v[0], v[1], v[2]);
  }
  reader_leave(reader, mark);
  return normals;
}

/* Reads the offsets of a polytope's faces, one per normal. Sets shape->faces to {normal, offset} for each face. */
static void read_faces(Reader* reader, const Node* list, const Vec3* normals, int count, SceneShape* shape) {
  assert(count >= 0);
  static const ValueRange POSITIVE = RANGE_ABOVE(0);
  size_t mark = reader_enter_key(reader, "offsets");
  if (list->count != count)
    reader_error(reader, list->place, "the number of offsets, %d, must equal the number of normals, %d", list->count,
                 count);
  double(*faces)[4] = memory_alloc(sizeof *faces * (size_t)(count > 0 ? count : 1));
  int k = 0;
  for (const Node* item = list->first; item && k < count && !reader->exhausted; item = item->next, k++) {
    size_t below = reader_enter_index(reader, k);
    faces[k][0] = normals[k].x;
    faces[k][1] = normals[k].y;
    faces[k][2] = normals[k].z;
    reader_number(reader, item, &POSITIVE, "m", &faces[k][3]);
    reader_leave(reader, below);
  }
  shape->faces = faces;
  shape->smooth.faces = (const double(*)[4])faces;
  shape->smooth.face_count = k;
  reader_leave(reader, mark);
}

static void read_exponents(Reader* reader, const Node* node, const NumberList* list, ShapeDefinition* form) {
  const Node* key = node_find(node, "exponents");
  int written_count = key ? key->count : 0; /* if one of two entries is invalid, its error has been reported */
  if (written_count != 2)
    reader_error(reader, key ? key->place : node->place, "expected two exponents [e1, e2], got %d", written_count);
  for (int k = 0; k < 2 && list->count == 2; k++) form->exponents[k] = list->values[k];
}

/* Checks the parameters of a convex smooth shape together. Does nothing if an earlier error was reported. */
static void check_convex(Reader* reader, const Node* node, SceneShape* shape, int problems_before) {
  static const SmoothKind KINDS[] = {SMOOTH_SUPERELLIPSOID, SMOOTH_CYLINDER, SMOOTH_CONE, SMOOTH_POLYTOPE,
                                     SMOOTH_SUPERQUADRIC};
  shape->smooth.kind = KINDS[shape->type - SHAPE_SUPERELLIPSOID];
  if (reader->problem_count > problems_before) return;
  Shape made;
  const char* rule = shape_create(&made, &shape->smooth);
  if (rule) reader_error(reader, node->place, "invalid %s: %s", shape_kind_name(shape->smooth.kind), rule);
  shape_free(&made);
}

static void check_oriented(Reader* reader, const SceneShapeForm* form, const SceneShape* shape, int problems_before) {
  if (!form->normals || !form->points) return;
  if (form->normals->count != form->points->count)
    reader_error(reader, form->normals->place, "the number of normals, %d, must equal the number of points, %d",
                 form->normals->count, form->points->count);
  if (reader->problem_count > problems_before || shape->point_count == 0) return;
  const char* rule = field_check_points(shape->points, shape->normals, shape->point_count, shape->radius);
  if (rule) reader_error(reader, form->normals->place, "%s", rule);
}

/* Reads the shapes of a union or subtraction. Shapes that are written inside the list are added to the scene. */
static void read_parts(Reader* reader, const Node* list, SceneShape* shape) {
  size_t mark = reader_enter_key(reader, "of");
  bool needs_two = shape->type == SHAPE_SUBTRACTION;
  if (list->count < 1 || (needs_two && list->count != 2))
    reader_error(reader, list->place, "expected %s, got %d", needs_two ? "two shapes" : "one or more shapes",
                 list->count);
  shape->parts = MEMORY_NEW(SceneShapeUse, list->count);
  for (const Node* node = list->first; node && !reader->exhausted; node = node->next) {
    size_t below = reader_enter_index(reader, shape->part_count);
    SceneShapeUse* use = &shape->parts[shape->part_count++];
    read_shape_use(reader, node, use);
    if (use->shape >= 0 && !shape_is_smooth(&reader->scene->shapes[use->shape]))
      reader_error(reader, node->place,
                   "a shape in 'of' must be smooth: use superellipsoid, superelliptic_cylinder, truncated_cone, "
                   "smooth_polytope, superquadric, oriented_points, union or subtraction");
    reader_leave(reader, below);
  }
  reader_leave(reader, mark);
}

static void read_smooth(Reader* reader, const Node* node, const SceneShapeForm* form, SceneShape* shape) {
  int normal_count = 0, before = reader->problem_count;
  if (form->normals) shape->normals = read_normals(reader, form->normals, &normal_count);
  if (shape->type == SHAPE_SMOOTH_POLYTOPE && form->normals && form->offsets) {
    read_faces(reader, form->offsets, shape->normals, normal_count, shape);
    memory_free(shape->normals);
    shape->normals = NULL;
  }
  if (shape->type == SHAPE_SUPERQUADRIC) read_exponents(reader, node, &form->exponents, &shape->smooth);
  if (shape_is_convex_smooth(shape)) check_convex(reader, node, shape, before);
  if (form->of) read_parts(reader, form->of, shape);
}

/* ---------------------------------------------------------------- round solids */

static void check_round(Reader* reader, const Node* node, const SceneShape* shape) {
  bool wheel = shape->type == SHAPE_WHEEL, rim = wheel || shape->type == SHAPE_DISC;
  if (rim && shape->rim > 0 && !(shape->radius > shape->rim))
    reader_error(reader, node->place, "'rim' %g m must be below the radius %g m: reduce 'rim', or use type: sphere",
                 shape->rim, shape->radius);
  if (wheel && shape->rim > 0 && !(shape->width > 2 * shape->rim))
    reader_error(reader, node->place,
                 "'width' %g m must be above twice the rim %g m: increase 'width', or use type: disc", shape->width,
                 shape->rim);
}

/* ---------------------------------------------------------------- all keys */

/* Adds the shape of a form to the scene, which then owns the texts and points of the shape. Returns the index of the
 * shape. */
static int add_shape(Reader* reader, const Node* node, const char* name, const SceneShapeForm* form) {
  Scene* scene = reader->scene;
  SceneShape parsed = form->shape;
  /* shapes inside a union are appended to the scene first */
  if (shape_is_smooth(&parsed) && node->kind == NODE_MAP) read_smooth(reader, node, form, &parsed);
  scene->shapes = memory_grow_array(scene->shapes, sizeof(SceneShape), scene->shape_count, &reader->shape_capacity);
  SceneShape* shape = &scene->shapes[scene->shape_count];
  *shape = parsed;
  shape->name = memory_copy_text(name);
  shape->place = node->place;
  shape->exact = !node_has_key(node, "resolution") && !node_has_key(node, "segments");
  shape->hull_per_group = form->hulls == 1;
  shape->triangles = form->pieces == 1;
  shape->orient_fix = form->orient == 1;
  if (form->file) shape->file = file_resolve(scene->path, form->file->text);
  int before = reader->problem_count;
  if (form->points) read_points(reader, form->points, shape);
  if (shape->type == SHAPE_ORIENTED_POINTS) check_oriented(reader, form, shape, before);
  if (form->decompose) read_decompose(reader, node, form->decompose, shape);
  check_triangles(reader, node, shape);
  check_normal(reader, node, shape);
  if (reader->problem_count == before) check_round(reader, node, shape);
  return scene->shape_count++;
}

void read_shapes(Reader* reader, const Node* map) {
  if (!map) return;
  size_t mark = reader_enter_key(reader, "shapes");
  for (const Node* node = map->first; node; node = node->next) {
    size_t below = reader_enter_key(reader, node->key);
    SceneShapeForm form;
    if (!*node->key) reader_error(reader, node_key_place(node), "a shape's name must not be empty");
    if (text_find_control_character(node->key))
      reader_error(reader, node_key_place(node),
                   "a shape's name must not contain a control character: remove the character");
    if (!schema_read_partial(reader, node, "shape", &form)) form = (SceneShapeForm){0};
    int index = add_shape(reader, node, node->key, &form);
    names_add(&reader->shape_names, node->key, index);
    reader_leave(reader, below);
  }
  reader_leave(reader, mark);
}

/* ---------------------------------------------------------------- shapes in a link */

/* Only rotations that the scene gives are multiplied. A product with the identity may turn -0 into 0 and change the
 * written file. */
Quat pose_form_rotation(const PoseForm* pose) {
  if (vec3_is_zero(pose->rotation_vector) && vec3_is_zero(pose->rpy)) return pose->rotation;
  Quat other = quat_mul(quat_exp(pose->rotation_vector), quat_from_rpy(pose->rpy));
  return quat_mul(pose->rotation, other);
}

static int find_shape(Reader* reader, const Node* node) {
  assert(node);
  char* name = reader_name(reader, node);
  if (!name) return -1;
  int index = names_find(&reader->shape_names, name);
  if (index < 0) {
    const char* nearest = names_nearest(&reader->shape_names, name);
    reader_error(reader, node->place, "no shape is named '%s'%s", text_excerpt(name).text,
                 text_suggestion(nearest).text);
  }
  memory_free(name);
  return index;
}

/* Returns true if a node or a descendant is an {expression}. Such a shape is read again for each item of a repeat. */
static bool has_expression(const Node* node) {
  if (node->kind == NODE_SCALAR) return node->text[0] == '{';
  for (const Node* child = node->first; child; child = child->next)
    if (has_expression(child)) return true;
  return false;
}

static int find_or_add_inline_shape(Reader* reader, const Node* node, const SceneShapeForm* form) {
  if (node->object_index >= 0) return node->object_index;
  if (reader->indices && has_expression(node))
    return add_shape(reader, node, "", form); /* an expression may differ from item to item */
  int index = add_shape(reader, node, "", form);
  ((Node*)node)->object_index = index; /* the document is not const; only the node is */
  return index;
}

/* Reports shape keys that stand beside the name of a shape. Such keys would have no effect. */
static void report_shape_keys(Reader* reader, const Node* node) {
  const SchemaObject *shape = schema_object(reader->table, "shape"), *pose = schema_object(reader->table, "pose");
  for (const Node* entry = node->first; entry; entry = entry->next) {
    const char* key = entry->key;
    if (strcmp(key, "shape") == 0 || schema_row(reader->table, pose, key, NULL)) continue;
    if (schema_row(reader->table, shape, key, NULL))
      reader_error(
          reader, node_key_place(entry),
          "'%s' belongs to the named shape: change the named shape, or give 'type' and its keys instead of 'shape'",
          key);
  }
}

static void read_shape_map(Reader* reader, const Node* node, SceneShapeUse* use) {
  ShapeUseForm form;
  if (!schema_read_partial(reader, node, "shape_use", &form)) return;
  const Node* type = node_find(node, "type");
  if (node_has_key(node, "shape") && type)
    reader_error(reader, node_key_place(type), "give 'shape' or 'type', not both");
  if (node_has_key(node, "shape") && !type) report_shape_keys(reader, node);
  warn_if_pose_degrees(reader, node, &form.pose);
  use->position = form.pose.position;
  use->rotation = pose_form_rotation(&form.pose);
  if (form.name) {
    size_t mark = reader_enter_key(reader, "shape");
    use->shape = find_shape(reader, form.name);
    reader_leave(reader, mark);
  } else if (type) {
    use->shape = find_or_add_inline_shape(reader, node, &form.shape);
  }
}

static void read_shape_use(Reader* reader, const Node* node, SceneShapeUse* use) {
  *use = (SceneShapeUse){.shape = -1, .place = node->place, .rotation = quat_identity()};
  if (node->kind == NODE_SCALAR)
    use->shape = find_shape(reader, node);
  else
    read_shape_map(reader, node, use);
}

void read_shape_uses(Reader* reader, const LinkForm* form, SceneLink* link) {
  if (form->shape) {
    size_t mark = reader_enter_key(reader, "shape");
    link->shapes = MEMORY_NEW(SceneShapeUse, 1);
    read_shape_use(reader, form->shape, &link->shapes[link->shape_count++]);
    reader_leave(reader, mark);
  } else if (form->shapes) {
    size_t mark = reader_enter_key(reader, "shapes");
    int64_t size = 16 * (int64_t)form->shapes->count; /* size of a SceneShapeUse in numbers, for the limit */
    if (reader_count_values(reader, form->shapes->place, size))
      link->shapes = MEMORY_NEW(SceneShapeUse, form->shapes->count);
    for (const Node* node = form->shapes->first; node && !reader->exhausted; node = node->next) {
      size_t below = reader_enter_index(reader, link->shape_count);
      read_shape_use(reader, node, &link->shapes[link->shape_count++]);
      reader_leave(reader, below);
    }
    reader_leave(reader, mark);
  }
}
