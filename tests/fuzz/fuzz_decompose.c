/* libFuzzer target: a small mesh, however bad, becomes hulls that keep what is said of them, or is refused. Bytes that
 * begin with a letter or # are an OBJ file; others are options, a unit, corners on a lattice of 8 and triangles of
 * them: corners in one place or plane, faces twice, turned, open and crossing come up by themselves. */
#include "decompose/decompose.h"
#include "fuzz/fuzzing.h"

enum { CORNERS_MAX = 12, FACES_MAX = 14 };

static DecomposeOptions options_of(unsigned bits) {
  DecomposeOptions o = {.max_hulls = 1 + (int)(bits & 1), .max_vertices = 8 + (int)(bits >> 2 & 7), .resolution = 40};
  o.symmetry_auto = bits >> 5 & 1;
  if ((bits >> 6 & 3) == 3) o.grid[0] = 2, o.grid[1] = 1 + (int)(bits & 1), o.grid[2] = 2;
  o.inside = (bits >> 1 & 1) && o.grid[0] == 0;
  return o;
}

/* ---------------------------------------------------------------- bytes to a mesh */

/* Lattice of 8, unit 1e-6 to 1e7, far away when bit 7 is set. */
static void lattice_text(Text* out, const uint8_t* data, size_t size) {
  static const double units[] = {1, 0.001, 1e-6, 1e7, 0.37, 1, 1, 1000};
  double unit = units[data[0] & 7], far = data[0] >> 7 ? 1e6 * unit : 0;
  size_t corners = 4 + data[1] % (CORNERS_MAX - 3), used = 2;
  for (size_t k = 0; k < corners && used + 1 < size; k++, used += 2) {
    unsigned bits = data[used] | (unsigned)data[used + 1] << 8;
    text_add(out, "v %.17g %.17g %.17g\n", far + unit * (bits & 7), unit * (bits >> 3 & 7), unit * (bits >> 6 & 7));
  }
  for (int k = 0; k < FACES_MAX && used + 2 < size; k++, used += 3)
    text_add(out, "f %zu %zu %zu\n", 1 + data[used] % corners, 1 + data[used + 1] % corners,
             1 + data[used + 2] % corners);
}

static bool read_mesh(Mesh* mesh, const uint8_t* data, size_t size) {
  Text text = {0};
  Diagnostics diagnostics = {0};
  if (strchr("vfog#", data[0]))
    text_add_bytes(&text, (const char*)data, size);
  else if (size > 4)
    lattice_text(&text, data, size);
  else
    text_add(&text, "\n");
  bool good = mesh_parse_obj(mesh, "fuzz", text.data, text.length, 1.0, &diagnostics) == STATUS_OK;
  text_free(&text);
  diagnostics_free(&diagnostics);
  return good;
}

/* ---------------------------------------------------------------- what must hold */

static void check_hull(const ConvexHull* hull, const DecomposeOptions* o) {
  require(hull->vertex_count >= 4 && (o->grid[0] > 0 || hull->vertex_count <= o->max_vertices));
  require(hull->triangle_count >= 4);
  for (int i = 0; i < hull->vertex_count; i++)
    require(isfinite(hull->vertices[i].x) && isfinite(hull->vertices[i].y) && isfinite(hull->vertices[i].z));
  for (int t = 0; t < hull->triangle_count; t++)
    for (int k = 0; k < 3; k++) require(hull->triangles[t][k] >= 0 && hull->triangles[t][k] < hull->vertex_count);
}

/* The largest signed distance from a face of the hull, by its triangles that are no needles. */
static double beyond(const ConvexHull* hull, Vec3 p, double size) {
  double most = -HUGE_VAL;
  for (int t = 0; t < hull->triangle_count; t++) {
    Vec3 a = hull->vertices[hull->triangles[t][0]];
    Vec3 n = vec3_cross(vec3_sub(hull->vertices[hull->triangles[t][1]], a),
                        vec3_sub(hull->vertices[hull->triangles[t][2]], a));
    if (vec3_norm(n) > 1e-6 * size * size) most = fmax(most, vec3_dot(n, vec3_sub(p, a)) / vec3_norm(n));
  }
  return most;
}

/* What is said to lie inside does: no corner of a face lies deep in a hull. Of bodies that overlap, one may. */
static void check_inside(const Mesh* mesh, const Decomposition* d) {
  for (int i = 0; i < mesh->corner_count && d->condition.components == 1; i++)
    for (int h = 0; h < d->hull_count; h++)
      require(beyond(&d->hulls[h], mesh->positions[mesh->corners[i]], d->diagonal) >= -1e-5 * d->diagonal);
}

/* What is said to be covered is: every corner of a face lies in a hull. */
static void check_corners(const Mesh* mesh, const Decomposition* d) {
  for (int i = 0; i < mesh->corner_count; i++) {
    double least = HUGE_VAL;
    for (int h = 0; h < d->hull_count; h++)
      least = fmin(least, beyond(&d->hulls[h], mesh->positions[mesh->corners[i]], d->diagonal));
    require(least <= 1e-5 * d->diagonal);
  }
}

static void check(const Mesh* mesh, const DecomposeOptions* o) {
  Decomposition d;
  HullResult result = mesh_decompose(&d, mesh, o);
  if (result != HULL_OK) {
    require(d.hull_count == 0 && !d.hulls);
    return;
  }
  require((d.hull_count >= 1 || o->inside) && (o->grid[0] > 0 || d.hull_count <= o->max_hulls));
  for (int h = 0; h < d.hull_count; h++) check_hull(&d.hulls[h], o);
  for (int j = 0; j < d.joint_count; j++)
    require(d.joints[j].a < d.joints[j].b && d.joints[j].b < d.hull_count && d.joints[j].depth > 0);
  require(d.convex && d.within_budget);
  if (d.covers && o->inside) check_inside(mesh, &d);
  if (d.covers && !o->inside)
    check_corners(mesh, &d); /* an open shell that crosses itself may be missed in part: that is told */
  decomposition_free(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Mesh mesh;
  if (size < 2 || !read_mesh(&mesh, data, size)) return 0;
  DecomposeOptions options = options_of(data[size - 1]);
  if (mesh.position_count <= CORNERS_MAX && mesh.corner_count <= 3 * FACES_MAX) check(&mesh, &options);
  mesh_free(&mesh);
  return 0;
}
