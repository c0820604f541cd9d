/* Converts shapes of a URDF file to shapes of a scene. Finds mesh files, and applies scales that a scene cannot
 * express. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "robot/urdf.h"

void urdf_load_shape_defaults(UrdfBuild* build) {
  static const char TEXT[] =
      "shapes:\n"
      "  box: {type: box, size: [1, 1, 1]}\n"
      "  cylinder: {type: cylinder, radius: 1, length: 1}\n"
      "  sphere: {type: sphere, radius: 1}\n"
      "  capsule: {type: capsule, radius: 1, length: 1}\n"
      "  mesh: {type: mesh, file: mesh.obj, decompose: {}}\n"
      "  half_space: {type: half_space}\n"
      "  points: {type: points, points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]}\n"
      "  height_field: {type: height_field, file: heights.png, size: [1, 1, 1]}\n"
      "links: []\n";
  Diagnostics none = {0};
  scene_parse(&build->defaults, "defaults", TEXT, strlen(TEXT), false, NULL, 0, &none);
  assert(build->defaults.shape_count == URDF_HEIGHT_FIELD + 1 && none.count == 0);
  diagnostics_free(&none);
}

const UrdfShapes* urdf_used_shapes(const UrdfBuild* build, const UrdfLink* link) {
  return link->collision.count == 0 && build->options->visual ? &link->visual : &link->collision;
}

/* Number of parent folders of the robot file that are searched for a package. */
enum { FOLDERS_ABOVE = 8 };

/* Returns the path of a package file without --package, or NULL if there is none. inside: "name/rest". The package
 * folder `name` is a folder above the robot file or a subfolder of such a folder. The caller frees the path. */
static char* find_in_parent_folders(const UrdfBuild* build, const char* inside) {
  const char *file = build->scene->path, *slash = strrchr(file, '/');
  size_t length = strcspn(inside, "/");
  char* found = NULL;
  Text above = {0};
  text_add(&above, "%.*s", slash ? (int)(slash - file) : 1, slash ? file : ".");
  for (int k = 0; k < FOLDERS_ABOVE && !found; k++, text_add(&above, "/..")) {
    char* real_path = realpath(above.data, NULL);
    const char* last = real_path ? strrchr(real_path, '/') + 1 : "";
    bool same_folder = strlen(last) == length && strncmp(last, inside, length) == 0;
    Text path = {0};
    text_add(&path, "%s%s%s", above.data, same_folder ? "" : "/", same_folder ? inside + length : inside);
    if (real_path && file_is_regular(path.data)) found = memory_copy_text(path.data);
    text_free(&path);
    free(real_path);
  }
  text_free(&above);
  return found;
}

static bool is_reported(const Diagnostics* diagnostics, const char* text) {
  for (int i = 0; i < diagnostics->count; i++)
    if (strcmp(diagnostics->items[i].text, text) == 0) return true;
  return false;
}

/* Returns the path of package://name/rest or model://name/rest, or NULL if the package is unknown. inside: "name/rest".
 * An unknown package is reported once, as an error unless unreadable meshes are omitted. The caller frees the path. */
static char* find_package_path(UrdfBuild* build, const UrdfShape* shape, const char* inside) {
  size_t length = strcspn(inside, "/");
  for (int i = 0; i < build->options->package_count; i++) {
    const RobotPackage* package = &build->options->packages[i];
    if (strlen(package->name) != length || strncmp(package->name, inside, length) != 0) continue;
    Text path = {0};
    text_add(&path, "%s%s", package->folder, inside + length);
    return path.data;
  }
  char *found = find_in_parent_folders(build, inside), *name = memory_copy_text(inside);
  name[length] = '\0';
  Text what = {0};
  text_add(&what, "the folder of package '%s' is not known: give --package %s=DIR", text_excerpt(name).text,
           text_excerpt(name).text);
  if (!found && !build->options->lenient && !is_reported(build->diagnostics, what.data))
    diagnostics_add(build->diagnostics, SEVERITY_ERROR, shape->file_place, "%s", what.data);
  text_free(&what);
  memory_free(name);
  return found;
}

static bool begins_with(const char* text, const char* head) { return strncmp(text, head, strlen(head)) == 0; }

/* Returns the path of a mesh file, or NULL after an error. The caller frees the path. */
static char* find_mesh_path(UrdfBuild* build, const UrdfShape* shape) {
  const char* file = shape->file;
  if (begins_with(file, "package://") || begins_with(file, "model://"))
    return find_package_path(build, shape, strstr(file, "://") + 3);
  if (begins_with(file, "file://")) return memory_copy_text(file + strlen("file://"));
  if (!strstr(file, "://")) return file_resolve(build->scene->path, file);
  diagnostics_add(build->diagnostics, SEVERITY_ERROR, shape->file_place,
                  "the file of a mesh must be a path, file://... or package://..., got '%s'", text_excerpt(file).text);
  return NULL;
}

/* Returns the extension of a file name without the dot, or "" if there is none. */
static const char* file_extension(const char* file) {
  const char *dot = strrchr(file, '.'), *slash = strrchr(file, '/');
  return dot && (!slash || dot > slash) ? dot + 1 : "";
}

/* Returns true if the mesh file exists. Otherwise warns that the mesh is left out. */
static bool mesh_exists(UrdfBuild* build, const UrdfLink* link, const UrdfShape* shape) {
  char* path = find_mesh_path(build, shape);
  bool exists = path && file_is_regular(path);
  if (!exists)
    diagnostics_add(build->diagnostics, SEVERITY_WARNING, shape->file_place,
                    "link '%s': the mesh '%s' does not exist and is left out", text_excerpt(link->name).text,
                    text_excerpt(shape->file).text);
  memory_free(path);
  return exists;
}

/* Returns true if the format of the mesh file is supported and, with options->lenient, the file exists. Otherwise
 * reports the mesh. */
static bool is_readable(UrdfBuild* build, const UrdfLink* link, const UrdfShape* shape) {
  const char* ending = file_extension(shape->file);
  bool format = strcasecmp(ending, "obj") == 0 || strcasecmp(ending, "stl") == 0 || mesh_is_foreign(shape->file);
  if (format) return !build->options->lenient || mesh_exists(build, link, shape);
  bool skip = build->options->skip_unsupported || build->options->lenient;
  diagnostics_add(
      build->diagnostics, skip ? SEVERITY_WARNING : SEVERITY_ERROR, shape->file_place,
      "link '%s': the mesh '%s' has an unsupported format (supported: OBJ, STL, Collada, ...: docs/urdf.md)%s",
      text_excerpt(link->name).text, text_excerpt(shape->file).text,
      skip ? " and is left out" : ": convert it, or leave such meshes out by --skip-unsupported");
  return false;
}

void urdf_check_mesh_files(const UrdfRobot* robot, const RobotOptions* options, Scene* scene,
                           Diagnostics* diagnostics) {
  UrdfBuild build = {.robot = robot, .options = options, .scene = scene, .diagnostics = diagnostics};
  for (int i = 0; i < robot->link_count; i++) {
    const UrdfShapes* shapes = urdf_used_shapes(&build, &robot->links[i]);
    for (int k = 0; k < shapes->count; k++)
      if (shapes->items[k].kind == URDF_MESH && *shapes->items[k].file &&
          is_readable(&build, &robot->links[i], &shapes->items[k]))
        memory_free(find_mesh_path(&build, &shapes->items[k]));
  }
}

/* Replaces a mesh with mirroring or unequal scales by the vertices of its scaled convex hull. Returns false after an
 * error. */
static bool make_scaled_points(UrdfBuild* build, const UrdfShape* from, SceneShape* shape) {
  Mesh mesh = {0};
  ConvexHull hull = {0};
  bool good = mesh_read(&mesh, shape->file, 1.0, build->diagnostics) == STATUS_OK;
  for (int i = 0; i < mesh.position_count; i++) {
    Vec3* p = &mesh.positions[i];
    *p = vec3(from->scale.x * p->x, from->scale.y * p->y, from->scale.z * p->z);
  }
  HullResult result = good ? hull_create(&hull, mesh.positions, mesh.position_count) : HULL_OK;
  if (result == HULL_OK && build->options->max_vertices > 0 && hull.vertex_count > build->options->max_vertices) {
    double miss;
    result = hull_reduce(&hull, build->options->max_vertices, &miss);
  }
  if (!good || result != HULL_OK)
    diagnostics_add(build->diagnostics, SEVERITY_ERROR, from->file_place, "the mesh '%s'%s%s",
                    text_excerpt(from->file).text, good ? ": " : " cannot be used",
                    good ? hull_result_text(result) : "");
  if (build->options->decompose || build->options->hull_per_group || from->concave)
    robot_remark(build->report, build->diagnostics, from->file_place,
                 "the mesh '%s' has different scales along its axes and becomes one convex hull: scale the mesh file "
                 "itself to keep its pieces",
                 text_excerpt(from->file).text);
  shape->type = SHAPE_POINTS;
  shape->decompose = false;
  shape->points = hull.vertices;
  shape->point_count = hull.vertex_count;
  hull.vertices = NULL;
  hull_free(&hull);
  mesh_free(&mesh);
  memory_free(shape->file);
  shape->file = NULL;
  return good && result == HULL_OK;
}

static bool add_mesh(UrdfBuild* build, const UrdfShape* from, SceneShape* shape) {
  Vec3 scale = from->scale;
  const RobotOptions* options = build->options;
  shape->file = find_mesh_path(build, from);
  if (!shape->file) return false;
  shape->scale = scale.x;
  shape->hull_per_group = options->hull_per_group;
  shape->decompose = options->decompose || from->concave;
  if (!shape->decompose)
    shape->max_vertices = options->max_vertices;
  else if (options->max_vertices > 0)
    shape->decomposition.max_vertices = options->max_vertices;
  return (scale.x > 0 && scale.x == scale.y && scale.x == scale.z) || make_scaled_points(build, from, shape);
}

static bool fill_shape(UrdfBuild* build, const UrdfShape* from, SceneShape* shape) {
  shape->size = from->size;
  shape->radius = from->radius;
  shape->length = from->length;
  shape->points = NULL;
  shape->point_count = 0;
  if (from->kind == URDF_POINTS) {
    shape->point_count = from->point_count;
    shape->points = MEMORY_NEW(Vec3, from->point_count);
    memcpy(shape->points, from->points, sizeof(Vec3) * (size_t)from->point_count);
  }
  if (from->kind == URDF_HEIGHT_FIELD) {
    shape->file = file_resolve(build->scene->path, from->file);
    shape->origin = vec3(0, 0, from->level);
    shape->base = from->base;
  }
  return from->kind != URDF_MESH || add_mesh(build, from, shape);
}

/* Returns the index of the scene shape with the same mesh file and scale, or -1. Links share such a shape, and the mesh
 * is read once. */
static int find_shared_mesh(const UrdfBuild* build, const UrdfShape* from) {
  for (int i = 0; i < build->mesh_count; i++) {
    const UrdfShape* other = build->mesh_sources[i];
    bool scaled = vec3_norm(vec3_sub(other->scale, from->scale)) == 0;
    if (scaled && other->concave == from->concave && strcmp(other->file, from->file) == 0) return build->mesh_shapes[i];
  }
  return -1;
}

static void register_mesh(UrdfBuild* build, const UrdfShape* from, int shape) {
  build->mesh_sources =
      memory_grow_array(build->mesh_sources, sizeof(UrdfShape*), build->mesh_count, &build->mesh_capacity);
  build->mesh_shapes =
      memory_grow_array(build->mesh_shapes, sizeof(int), build->mesh_count, &build->mesh_shape_capacity);
  build->mesh_sources[build->mesh_count] = from;
  build->mesh_shapes[build->mesh_count++] = shape;
}

/* Adds a shape to the scene and returns its index. Returns -1 after an error. */
static int add_shape(UrdfBuild* build, const UrdfShape* from, const char* name) {
  Scene* scene = build->scene;
  int shared = from->kind == URDF_MESH ? find_shared_mesh(build, from) : -1;
  if (shared >= 0) return shared;
  scene->shapes = memory_grow_array(scene->shapes, sizeof(SceneShape), scene->shape_count, &build->shape_capacity);
  SceneShape* shape = &scene->shapes[scene->shape_count++];
  *shape = build->defaults.shapes[from->kind];
  shape->name = memory_copy_text(name);
  shape->place = from->place;
  shape->file = NULL;
  if (!fill_shape(build, from, shape)) return -1;
  if (from->kind == URDF_MESH) register_mesh(build, from, scene->shape_count - 1);
  return scene->shape_count - 1;
}

void urdf_add_shapes(UrdfBuild* build, const UrdfLink* link, int target, UrdfPose pose) {
  const UrdfShapes* shapes = urdf_used_shapes(build, link);
  SceneLink* to = &build->scene->links[target];
  for (int i = 0; i < shapes->count; i++) {
    const UrdfShape* from = &shapes->items[i];
    if (from->kind == URDF_MESH && !is_readable(build, link, from)) continue;
    if (from->kind == URDF_HALF_SPACE && build->moves[target]) {
      diagnostics_add(build->diagnostics, SEVERITY_ERROR, from->place,
                      "link '%s' moves and cannot contain a plane: fix the link (--base fixed), or use a box",
                      text_excerpt(link->name).text);
      continue;
    }
    Text name = {0};
    text_add(&name, "%s_%d", to->name, to->shape_count);
    int shape = add_shape(build, from, name.data);
    text_free(&name);
    if (shape < 0) continue;
    UrdfPose placed = urdf_pose_mul(pose, from->origin);
    to->shapes =
        memory_grow_array(to->shapes, sizeof(SceneShapeUse), to->shape_count, &build->link_shape_capacity[target]);
    to->shapes[to->shape_count++] = (SceneShapeUse){shape, from->place, placed.position, placed.rotation};
  }
}
