/* Creates the bodies of questions from their parsed shapes. */
#include <assert.h>
#include <string.h>
#include "ask/reader.h"

/* Default smoothing length of a hull, relative to the size of the hull. */
#define SMOOTHING_FRACTION 0.01
/* Largest relative difference between the volume of a convex mesh and that of its hull. */
#define CONVEX_TOLERANCE 1e-6
/* Subdivision level of the triangulated surfaces of smooth shapes (shape_mesh). */
enum { SURFACE_LEVEL = 2 };

/* ---------------------------------------------------------------- meshes */

/* Returns the triangles of a mesh. Faces with more corners are split into fans of triangles. */
static TriangleSurface triangulate_mesh(const Mesh* mesh) {
  TriangleSurface out = {.points = MEMORY_NEW(Vec3, mesh->position_count), .point_count = mesh->position_count};
  memcpy(out.points, mesh->positions, sizeof(Vec3) * (size_t)mesh->position_count);
  out.triangles = (int(*)[3])MEMORY_NEW(int, 3 * mesh->corner_count);
  for (int f = 0; f < mesh->face_count; f++)
    for (int k = mesh->face_first[f] + 1; k + 1 < mesh->face_first[f + 1]; k++) {
      const int triangle[3] = {mesh->corners[mesh->face_first[f]], mesh->corners[k], mesh->corners[k + 1]};
      memcpy(out.triangles[out.triangle_count++], triangle, sizeof triangle);
    }
  surface_remove_unused(&out, NULL);
  return out;
}

static double enclosed_volume(const TriangleSurface* surface) {
  double sum = 0;
  for (int i = 0; i < surface->triangle_count; i++)
    sum += vec3_dot(surface->points[surface->triangles[i][0]], surface_double_area(surface, i)) / 6;
  return sum;
}

/* Creates a convex piece of the body, the hull, for each group of the mesh. Reports an error and returns false if a
 * group has no hull. */
static bool create_pieces(QueryReader* reader, const Mesh* mesh, QueryBody* body) {
  body->pieces = MEMORY_NEW(ConvexHull, mesh->group_count);
  Vec3* corner = MEMORY_NEW(Vec3, mesh->corner_count);
  bool good = true;
  for (int g = 0; g < mesh->group_count && good; g++) {
    const MeshGroup* group = &mesh->groups[g];
    int first = mesh->face_first[group->first_face], count = 0;
    for (int k = first; k < mesh->face_first[group->first_face + group->face_count]; k++)
      corner[count++] = mesh->positions[mesh->corners[k]];
    HullResult result = hull_create(&body->pieces[g], corner, count);
    good = result == HULL_OK;
    if (good)
      body->piece_count++;
    else
      query_reader_error(reader, false, "group '%.60s' of the mesh %s", group->name, hull_result_text(result));
  }
  memory_free(corner);
  return good;
}

/* Reads a mesh file. Sets the surface of the body to the triangles of the mesh, and text->points to its vertices. */
static bool read_mesh(QueryReader* reader, ParsedShape* text, QueryBody* body) {
  char* path = file_resolve(reader->file, text->file);
  Mesh mesh = {0};
  int errors = reader->diagnostics->error_count;
  bool good = mesh_read(&mesh, path, text->scale, reader->diagnostics) == STATUS_OK;
  if (good) {
    body->surface = triangulate_mesh(&mesh);
    text->points = MEMORY_NEW(Vec3, mesh.position_count);
    text->point_count = mesh.position_count;
    memcpy(text->points, mesh.positions, sizeof(Vec3) * (size_t)mesh.position_count);
    if (text->in_pieces) good = create_pieces(reader, &mesh, body);
  } else {
    if (reader->diagnostics->error_count == errors)
      query_reader_error(reader, false, "cannot read the mesh %.200s", path);
    reader->problems++;
  }
  mesh_free(&mesh);
  memory_free(path);
  return good;
}

/* ---------------------------------------------------------------- fields */

static bool is_convex(const QueryBody* body) {
  MassMoment solid = mass_moment_solid(&body->hull);
  double volume = mass_moment_mass(&solid);
  return body->surface.triangle_count == 0 ||
         fabs(enclosed_volume(&body->surface) - volume) <= CONVEX_TOLERANCE * volume;
}

/* Creates the signed distance field of a hull or mesh: from the face planes if convex, otherwise from surface points
 * with normals. */
static void create_hull_field(const ParsedShape* text, QueryBody* body) {
  if (!is_convex(body) || (text->radius > 0 && body->surface.triangle_count > 0)) {
    field_of_triangles(body->field, &body->surface, text->radius);
    return;
  }
  double smoothing = text->smoothing > 0 ? text->smoothing : SMOOTHING_FRACTION * hull_size(&body->hull);
  body->no_field = field_of_hull(body->field, &body->hull, smoothing);
  if (body->no_field) *body->field = (Field){.kind = FIELD_POINTS};
}

static void set_point_field(ParsedShape* text, Field* field) {
  *field = (Field){.kind = FIELD_POINTS, .pose = pose_identity(), .radius = text->radius};
  field->points = MEMORY_NEW(Vec3, text->point_count);
  field->normals = MEMORY_NEW(Vec3, text->point_count);
  field->count = text->point_count;
  for (int i = 0; i < text->point_count; i++) {
    field->points[i] = text->points[i];
    field->normals[i] = vec3_scale(text->normals[i], 1 / vec3_norm(text->normals[i]));
  }
}

static bool create_compound_field(QueryReader* reader, ParsedShape* text, QueryBody* body) {
  int problems = reader->problems;
  if (text->type == TEXT_POINTS) {
    if (text->normal_count != text->point_count)
      query_reader_error(reader, false, "the numbers of normals and of points must be equal, got %d and %d",
                         text->normal_count, text->point_count);
    for (int i = 0; i < text->normal_count; i++)
      if (!(vec3_norm(text->normals[i]) > 0))
        query_reader_error(reader, false, "normal %d is zero: give a vector with a length above 0", i);
    const char* rule = problems == reader->problems
                           ? field_check_points(text->points, text->normals, text->point_count, text->radius)
                           : NULL;
    if (rule) query_reader_error(reader, false, "normals: %s", rule);
    if (problems == reader->problems) set_point_field(text, body->field);
    return problems == reader->problems;
  }
  *body->field = (Field){.kind = text->type == TEXT_UNION ? FIELD_UNION : FIELD_SUBTRACTION,
                         .pose = pose_identity(),
                         .smoothing = text->smoothing,
                         .parts = text->parts,
                         .part_count = text->part_count};
  text->parts = NULL;
  text->part_count = 0;
  return true;
}

/* ---------------------------------------------------------------- bodies */

/* Joins the normals and offsets of a shape into the parameters of a polytope. */
static bool join_faces(QueryReader* reader, ParsedShape* text) {
  if (text->normal_count != text->offset_count) {
    query_reader_error(reader, false, "the numbers of offsets and of normals must be equal, got %d and %d",
                       text->offset_count, text->normal_count);
    return false;
  }
  text->faces = (double(*)[4])MEMORY_NEW(double, 4 * text->normal_count);
  for (int i = 0; i < text->normal_count; i++) {
    Vec3 n = text->normals[i];
    const double face[4] = {n.x, n.y, n.z, text->offsets[i]};
    memcpy(text->faces[i], face, sizeof face);
  }
  text->form.faces = (const double(*)[4])text->faces;
  text->form.face_count = text->normal_count;
  return true;
}

static bool create_smooth(QueryReader* reader, ParsedShape* text, QueryBody* body) {
  body->smooth = true;
  text->form.kind = (SmoothKind)text->type;
  if (text->type == SMOOTH_POLYTOPE && !join_faces(reader, text)) return false;
  *body->field = (Field){.kind = FIELD_SHAPE, .pose = pose_identity()};
  const char* rule = shape_create(&body->field->shape, &text->form);
  if (rule) query_reader_error(reader, false, "%s", rule);
  body->shape = body->field->shape;
  return rule == NULL;
}

static bool create_hull(QueryReader* reader, ParsedShape* text, QueryBody* body) {
  if (text->type == TEXT_MESH && !read_mesh(reader, text, body)) return false;
  HullResult result = hull_create(&body->hull, text->points, text->point_count);
  if (result != HULL_OK) {
    query_reader_error(reader, false, "the body %s", hull_result_text(result));
    return false;
  }
  body->hulled = true;
  body->given = text->points;
  body->given_count = text->point_count;
  text->points = NULL;
  body->points = point_view_create(body->hull.vertices, body->hull.vertex_count);
  create_hull_field(text, body);
  return true;
}

bool query_body_create(QueryReader* reader, ParsedShape* text, QueryBody* body) {
  assert(text && body);
  *body = (QueryBody){.field = MEMORY_NEW(Field, 1)};
  bool good;
  if (text->type < SMOOTH_KINDS)
    good = create_smooth(reader, text, body);
  else if (text->type == TEXT_HULL || text->type == TEXT_MESH)
    good = create_hull(reader, text, body);
  else
    good = create_compound_field(reader, text, body);
  if (!good) query_body_free(body);
  return good;
}

void query_body_free(QueryBody* body) {
  if (body->hull.vertices) hull_free(&body->hull);
  point_view_free(&body->points);
  for (int i = 0; i < body->piece_count; i++) hull_free(&body->pieces[i]);
  memory_free(body->pieces);
  witness_body_free(&body->witness);
  surface_free(&body->surface);
  manifold_body_free(&body->manifold);
  memory_free(body->point_slopes);
  memory_free(body->point_corner);
  memory_free(body->triangles);
  field_corners_free(&body->corners);
  memory_free(body->given);
  if (body->field) field_free(body->field);
  memory_free(body->field);
  *body = (QueryBody){0};
}

bool query_body_create_manifold(QueryReader* reader, const char* key, QueryBody* body) {
  if (body->manifold.field) return true;
  if (body->no_field) {
    query_reader_error(reader, false, "%s: the hull has no smooth field: %s", key, body->no_field);
    return false;
  }
  if (body->surface.triangle_count == 0)
    body->surface = body->hulled ? surface_of_hull(&body->hull) : field_surface(body->field, SURFACE_LEVEL);
  if (body->surface.point_count == 0) {
    surface_free(&body->surface); /* the next question may use the same body */
    query_reader_error(reader, false, "%s: the body has no surface: its parts cover one another", key);
    return false;
  }
  if (body->hulled) {
    body->triangle_count = body->surface.triangle_count;
    body->triangles = (int(*)[3])MEMORY_NEW(int, 3 * body->triangle_count);
    memcpy(body->triangles, body->surface.triangles, sizeof(int[3]) * (size_t)body->triangle_count);
  }
  body->manifold = manifold_body_create(body->field, &body->surface);
  return true;
}

/* Returns the index of the equal given point for each of points (count), or -1 if there is none. Returns the first of
 * several equal points. The caller frees the result. */
static int* match_given_points(const QueryBody* body, const Vec3* points, int count) {
  int given = body->given_count;
  Vec3* all = MEMORY_NEW(Vec3, given + count);
  memcpy(all, body->given, sizeof(Vec3) * (size_t)given);
  memcpy(all + given, points, sizeof(Vec3) * (size_t)count);
  int *first = find_equal_points(all, given + count), *out = MEMORY_NEW(int, count);
  for (int i = 0; i < count; i++) out[i] = first[given + i] < given ? first[given + i] : -1;
  memory_free(first);
  memory_free(all);
  return out;
}

static void create_corners(QueryBody* body) {
  ManifoldBody* manifold = &body->manifold;
  TriangleSurface surface = {.points = manifold->points, .point_count = manifold->point_count};
  surface.triangles = body->triangles;
  surface.triangle_count = body->triangle_count;
  body->point_corner = match_given_points(body, manifold->points, manifold->point_count);
  if (body->field->kind == FIELD_POINTS) {
    body->corners = field_corners_of_triangles(body->field, &surface, body->point_corner, body->given_count);
  } else {
    int* number = match_given_points(body, body->hull.vertices, body->hull.vertex_count);
    body->corners = field_corners_of_hull(body->field, &body->hull, number, body->given_count);
    memory_free(number);
  }
  manifold->corners = &body->corners;
  manifold->point_corner = body->point_corner;
}

void query_body_create_slopes(QueryBody* body) {
  if (body->point_slopes || body->point_corner || !body->manifold.field) return;
  if (body->hulled) {
    create_corners(body);
    return;
  }
  body->point_slopes = manifold_surface_slopes(&body->manifold);
  body->manifold.point_slopes = body->point_slopes;
}
