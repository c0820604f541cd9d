/* Builds the surfaces of MJCF meshes that have no file with triangles: `builtin` meshes, the torus of the plugin
 * mujoco.sdf.torus, and OBJ files with points only. Vertices and triangles equal those of MuJoCo 3.12 (user_mesh.cc).
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "robot/mjcf.h"

/* TORUS_RESOLUTION: number of vertices around a torus and around its tube, for its mass; MuJoCo uses marching cubes.
 * RESOLUTION_MAX: largest resolution of a builtin mesh. */
enum { TORUS_RESOLUTION = 64, RESOLUTION_MAX = 200 };

const char* mjcf_find_plugin(const MjcfModel* model, const XmlElement* element, const XmlElement** settings) {
  const XmlElement* plugin = element ? xml_child(element, "plugin") : NULL;
  const XmlAttribute* name = plugin ? xml_attribute(plugin, "plugin") : NULL;
  const XmlAttribute* instance = plugin ? xml_attribute(plugin, "instance") : NULL;
  *settings = plugin;
  if (name || !instance) return name ? name->value : NULL;
  for (const XmlElement* e = xml_child(model->root, "extension"); e; e = xml_next(e))
    for (const XmlElement* p = xml_child(e, "plugin"); p; p = xml_next(p))
      for (const XmlElement* i = xml_child(p, "instance"); i; i = xml_next(i)) {
        const XmlAttribute* instance_name = xml_attribute(i, "name");
        name = xml_attribute(p, "plugin");
        *settings = i;
        if (instance_name && name && strcmp(instance_name->value, instance->value) == 0) return name->value;
      }
  *settings = NULL;
  return instance->value;
}

bool mjcf_is_torus(const XmlElement* plugin) {
  const XmlAttribute* name = xml_attribute(plugin, "plugin");
  return name && strcmp(name->value, "mujoco.sdf.torus") == 0;
}

bool mjcf_read_torus(MjcfModel* model, const XmlElement* mesh, double radii[2]) {
  static const char KEYS[] = "radius1|radius2";
  const XmlElement* settings;
  const char* plugin = mjcf_find_plugin(model, mesh, &settings);
  radii[0] = 0.35;
  radii[1] = 0.15;
  if (!plugin || !settings || strcmp(plugin, "mujoco.sdf.torus") != 0 || xml_attribute(mesh, "scale")) return false;
  for (const XmlElement* item = xml_child(settings, "config"); item; item = xml_next(item)) {
    const XmlAttribute *key = xml_attribute(item, "key"), *value = xml_attribute(item, "value");
    int k = key && value ? words_index(KEYS, key->value) : -1;
    if (k >= 0) mjcf_numbers(model, (MjcfElement){item, ""}, "value", 1, 1, &radii[k]);
  }
  if (radii[1] > 0 && radii[0] > radii[1]) return true;
  mjcf_error(model, mesh->place, "the torus of a plugin needs radius1 > radius2 > 0, got %g and %g", radii[0],
             radii[1]);
  return false;
}

/* Returns sign(x) |x|^power. */
static double signed_power(double x, double power) { return copysign(math_pow(fabs(x), power), x); }

static void add_triangle(ConvexHull* solid, int a, int b, int c) {
  int* triangle = solid->triangles[solid->triangle_count++];
  triangle[0] = a;
  triangle[1] = b;
  triangle[2] = c;
}

/* Allocates vertices and triangles of a surface: unused vertex 0, `rings` rings of `around` vertices, and `poles`
 * further vertices (0 or 2). */
static void reserve(ConvexHull* solid, int rings, int around, int poles) {
  assert(rings >= 1 && around >= 3 && (poles == 0 || poles == 2));
  solid->vertex_count = 1 + rings * around + poles;
  solid->vertices = MEMORY_NEW(Vec3, solid->vertex_count);
  solid->triangles = memory_alloc(sizeof(int[3]) * 2 * ((size_t)(rings + 1) * (size_t)around));
}

/* Builds a superellipsoid with radii of 1 from n - 1 rings of vertices and two poles on the z axis. Vertex 1 is the
 * lower pole, the last vertex the upper pole. around, along: exponents of the sections across z and along z. */
static void make_supersphere(ConvexHull* solid, int n, double around, double along) {
  reserve(solid, n - 1, n, 2);
  int north = solid->vertex_count - 1;
  solid->vertices[1] = vec3(0, 0, -1);
  solid->vertices[north] = vec3(0, 0, 1);
  for (int i = 1; i < n; i++)
    for (int j = 0; j < n; j++) {
      double v = -M_PI / 2 + i * M_PI / n, u = -M_PI + j * 2 * M_PI / n, radius = signed_power(math_cos(v), along);
      solid->vertices[2 + (i - 1) * n + j] =
          vec3(radius * signed_power(math_cos(u), around), radius * signed_power(math_sin(u), around),
               signed_power(math_sin(v), along));
    }
  for (int j = 0; j < n; j++) {
    int next = (j + 1) % n, last = 2 + (n - 2) * n;
    add_triangle(solid, 1, 2 + next, 2 + j);
    add_triangle(solid, last + j, last + next, north);
    for (int i = 0; i < n - 2; i++) {
      int low = 2 + i * n, high = low + n;
      add_triangle(solid, low + j, low + next, high + j);
      add_triangle(solid, low + next, high + next, high + j);
    }
  }
}

/* Builds a supertorus of major radius 1 about z with n rings of n vertices. tube: radius of the tube; section: exponent
 * of the cross section; around: exponent about z. */
static void make_supertorus(ConvexHull* solid, int n, double tube, double section, double around) {
  reserve(solid, n, n, 0);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double u = 2 * M_PI * i / n, v = 2 * M_PI * j / n, radius = 1 + tube * signed_power(math_cos(v), section);
      int along = (i + 1) % n * n + 1, next = (j + 1) % n, here = i * n + 1;
      solid->vertices[here + j] =
          vec3(radius * signed_power(math_cos(u), around), radius * signed_power(math_sin(u), around),
               tube * signed_power(math_sin(v), section));
      add_triangle(solid, here + j, along + j, here + next);
      add_triangle(solid, along + j, along + next, here + next);
    }
}

/* Reads values[count], the parameters of a built-in mesh. Returns false, with a report, if they are invalid. */
static bool read_parameters(MjcfModel* model, const XmlElement* mesh, int count, double* values) {
  const XmlAttribute *given = xml_attribute(mesh, "params"), *builtin = xml_attribute(mesh, "builtin");
  if (!given) {
    mjcf_error(model, builtin->place, "<mesh builtin=\"%s\"> needs 'params'", builtin->value);
    return false;
  }
  if (mjcf_numbers(model, (MjcfElement){mesh, ""}, "params", count, count, values) != count) return false;
  bool good = values[0] >= 3 && values[0] <= RESOLUTION_MAX && values[0] == floor(values[0]);
  for (int k = 1; k < count; k++) good = good && (count == 3 ? values[k] >= 0 : values[k] > 0);
  good = good && (count == 3 || values[1] <= 1);
  if (!good)
    mjcf_error(model, given->place,
               "params of <mesh builtin=\"%s\"> must be a resolution (whole number from 3 to %d) and %s, got '%s'",
               builtin->value, RESOLUTION_MAX,
               count == 3 ? "two exponents >= 0" : "a radius from 0 to 1 and two exponents > 0",
               text_excerpt(given->value).text);
  return good;
}

MjcfMeshResult mjcf_build_mesh(MjcfModel* model, const XmlElement* mesh, Vec3 scale, ConvexHull* solid) {
  const XmlAttribute* builtin = xml_attribute(mesh, "builtin");
  double v[4], radii[2];
  int type = builtin ? words_index("supersphere|supertorus", builtin->value) : -1;
  *solid = (ConvexHull){0};
  if (xml_attribute(mesh, "file") || xml_attribute(mesh, "vertex")) return MESH_NOT_BUILTIN;
  if (builtin && type < 0) return MESH_NOT_BUILTIN;
  if (builtin && !read_parameters(model, mesh, type == 0 ? 3 : 4, v)) return MESH_INVALID;
  if (!builtin && !mjcf_read_torus(model, mesh, radii)) return MESH_NOT_BUILTIN;
  if (builtin && type == 0)
    make_supersphere(solid, (int)v[0], v[1], v[2]);
  else if (builtin)
    make_supertorus(solid, (int)v[0], v[1], v[2], v[3]);
  else
    make_supertorus(solid, TORUS_RESOLUTION, radii[1] / radii[0], 1, 1);
  if (!builtin) scale = vec3(radii[0], radii[0], radii[0]);
  for (int i = 0; i < solid->vertex_count; i++) {
    Vec3 p = solid->vertices[i];
    solid->vertices[i] = vec3(p.x * scale.x, p.y * scale.y, p.z * scale.z);
  }
  return MESH_BUILT;
}

/* Returns the next line of a text without leading blanks, or NULL at the end. Starts at *cursor and moves *cursor to
 * the end of the line. */
static const char* next_line(const char** cursor) {
  const char* line = *cursor + strspn(*cursor, " \t\r\n");
  *cursor = line + strcspn(line, "\n");
  return *line ? line : NULL;
}

Vec3* mjcf_read_obj_points(const char* path, Vec3 scale, int* count) {
  const char *dot = strrchr(path, '.'), *line, *cursor;
  char* text;
  size_t length;
  Vec3* points = NULL;
  int capacity = 0;
  *count = 0;
  if (!dot || strcasecmp(dot, ".obj") != 0 || file_read(path, &text, &length) != STATUS_OK) return NULL;
  bool only_points = true;
  for (cursor = text; only_points && (line = next_line(&cursor));) only_points = line[0] != 'f' && line[0] != 'l';
  for (cursor = text; only_points && (line = next_line(&cursor));) {
    char *x_end, *y_end, *z_end;
    if (line[0] != 'v' || (line[1] != ' ' && line[1] != '\t')) continue;
    double x = strtod(line + 1, &x_end), y = strtod(x_end, &y_end), z = strtod(y_end, &z_end);
    only_points = x_end > line + 1 && y_end > x_end && z_end > y_end && z_end <= cursor && isfinite(x + y + z);
    points = memory_grow_array(points, sizeof(Vec3), *count, &capacity);
    points[(*count)++] = vec3(x * scale.x, y * scale.y, z * scale.z);
  }
  memory_free(text);
  if (only_points && *count > 0) return points;
  memory_free(points);
  *count = 0;
  return NULL;
}
