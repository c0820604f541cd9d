/* Convex pieces of the shapes of a scene: primitives, point lists and meshes. Each shape is built once, even if many
 * links use it. */
#include <string.h>
#include "model/build.h"

/* Returns the name of a shape, of its mesh file, or "(unnamed)". */
static const char* shape_name(const SceneShape* shape) {
  if (shape->name[0]) return shape->name;
  if (!shape->file) return "(unnamed)";
  const char* slash = strrchr(shape->file, '/');
  return slash ? slash + 1 : shape->file;
}

static void report_hull(Builder* builder, const SceneShape* shape, const char* part, HullResult result) {
  bool named = part && part[0], flat = result == HULL_FLAT || result == HULL_TOO_FEW_POINTS;
  const char* remedy = shape->file ? " and encloses no volume; give the mesh a thickness, or use a thin box"
                                   : " and encloses no volume; give the points a thickness";
  diagnostics_add(builder->diagnostics, SEVERITY_ERROR, shape->place, "shape '%s'%s%s%s: %s%s", shape_name(shape),
                  named ? ", group '" : "", named ? part : "", named ? "'" : "", hull_result_text(result),
                  flat ? remedy : "");
}

/* Statistics of the import of a shape, summed over its pieces. */
typedef struct {
  int points, vertices, vertices_before_reduction;
  double error; /* largest distance of a removed vertex from its hull [m] */
} ImportStatistics;

static bool append_piece(Builder* builder, const SceneShape* shape, const char* part, ShapeSolid* solid,
                         const Vec3* points, int count, ImportStatistics* import) {
  ConvexHull* hull = &solid->pieces[solid->piece_count];
  HullResult result =
      shape->keep_interior ? hull_create_with_interior(hull, points, count) : hull_create(hull, points, count);
  import->points += count;
  import->vertices_before_reduction += result == HULL_OK ? hull->vertex_count : 0;
  if (result == HULL_OK && shape->max_vertices > 0 && hull->vertex_count > shape->max_vertices) {
    double error = 0;
    result = hull_reduce(hull, shape->max_vertices, &error);
    import->error = fmax(import->error, error);
  }
  if (result != HULL_OK) {
    report_hull(builder, shape, part, result);
    hull_free(hull);
    return false;
  }
  import->vertices += hull->vertex_count;
  solid->piece_count++;
  return true;
}

static void report_import(Builder* builder, const SceneShape* shape, const ImportStatistics* import) {
  int inside = import->points - import->vertices_before_reduction;
  if (import->vertices == 0) return; /* an error was added */
  if (inside > 0)
    text_add(&builder->note, "shape '%s': %d of %d points lie inside its hull or repeat a vertex and were dropped\n",
             shape_name(shape), inside, import->points);
  if (import->vertices < import->vertices_before_reduction)
    text_add(&builder->note, "shape '%s': hull reduced from %d to %d vertices, error %.3g m\n", shape_name(shape),
             import->vertices_before_reduction, import->vertices, import->error);
}

/* Collects the positions that faces first..first + count - 1 use, each once: points[]. Returns their number.
 * used[position_count]: workspace, false before and after the call. */
static int collect_face_points(const Mesh* mesh, int first, int count, bool* used, Vec3* points) {
  int found = 0;
  for (int pass = 0; pass < 2; pass++)
    for (int k = mesh->face_first[first]; k < mesh->face_first[first + count]; k++) {
      int position = mesh->corners[k];
      if (pass == 0 && !used[position]) points[found++] = mesh->positions[position];
      used[position] = pass == 0;
    }
  return found;
}

static void solid_from_groups(Builder* builder, const SceneShape* shape, const Mesh* mesh, ShapeSolid* solid,
                              ImportStatistics* import) {
  MeshGroup whole = {NULL, 0, mesh->face_count};
  bool split = shape->hull_per_group && mesh->group_count > 0;
  const MeshGroup* groups = split ? mesh->groups : &whole;
  int group_count = split ? mesh->group_count : 1;
  bool* used = MEMORY_NEW(bool, mesh->position_count);
  Vec3* points = MEMORY_NEW(Vec3, mesh->position_count);
  solid->pieces = MEMORY_NEW(ConvexHull, group_count);
  for (int g = 0; g < group_count; g++) {
    if (groups[g].face_count == 0) continue;
    int count = collect_face_points(mesh, groups[g].first_face, groups[g].face_count, used, points);
    append_piece(builder, shape, groups[g].name, solid, points, count, import);
  }
  memory_free(points);
  memory_free(used);
}

static void warn_shape(Builder* builder, const SceneShape* shape, const char* format, ...)
    __attribute__((format(printf, 3, 4)));
static void warn_shape(Builder* builder, const SceneShape* shape, const char* format, ...) {
  Text text = {0};
  va_list arguments;
  va_start(arguments, format);
  text_add_va_list(&text, format, arguments);
  va_end(arguments);
  diagnostics_add(builder->diagnostics, SEVERITY_WARNING, shape->place, "shape '%s': %s", shape_name(shape), text.data);
  text_free(&text);
}

/* Warns of requirements that a convex decomposition does not meet. */
static void check_decomposition(Builder* builder, const SceneShape* shape, const Decomposition* d) {
  if (!d->covers && d->inside)
    warn_shape(builder, shape,
               "decompose.inside is not satisfied: the hulls protrude from the mesh, or leave parts uncovered, by %.3g "
               "m; thicken thin parts of the mesh, or remove 'inside'",
               fmax(d->depth, d->covered_miss * d->diagonal) * shape->scale);
  if (!d->covers && !d->inside)
    warn_shape(builder, shape,
               "the hulls do not cover a point of the surface, at a distance of %.3g m: raise decompose.max_vertices "
               "or decompose.resolution",
               d->covered_miss * d->diagonal * shape->scale);
  if (!d->connected)
    warn_shape(builder, shape,
               "the hulls of %d of %d components of the mesh are not connected: raise decompose.max_hulls or "
               "decompose.resolution",
               d->apart, d->mesh_pieces);
  if (!d->symmetric)
    warn_shape(
        builder, shape,
        "the hulls are not mirror-symmetric, error %.3g m: raise decompose.resolution, or set decompose.symmetry: none",
        d->mirror_error * d->diagonal * shape->scale);
  if (!d->within_tolerance)
    warn_shape(builder, shape,
               "the hulls extend beyond the mesh by more than decompose.tolerance: raise decompose.max_hulls");
  if (!d->within_budget)
    warn_shape(builder, shape,
               "the decomposition exceeds decompose.max_hulls or decompose.max_vertices: raise both limits");
}

/* Decomposes a mesh in the unit of its file, and scales the pieces afterwards. The pieces then equal the pieces of
 * `sdrs decompose`. */
static void solid_from_decomposition(Builder* builder, const SceneShape* shape, const Mesh* mesh, ShapeSolid* solid,
                                     ImportStatistics* import) {
  Decomposition d;
  DecomposeOptions options = shape->decomposition;
  options.threads = builder->scene->threads;
  options.tolerance /= fabs(shape->scale);
  HullResult result = mesh_decompose_cached(&d, mesh, &options, builder->hull_folder);
  if (result != HULL_OK) {
    report_hull(builder, shape, NULL, result);
    return;
  }
  check_decomposition(builder, shape, &d);
  solid->pieces = MEMORY_NEW(ConvexHull, d.hull_count);
  for (int h = 0; h < d.hull_count; h++) {
    Text name = {0};
    text_add(&name, "hull_%d", h);
    for (int i = 0; i < d.hulls[h].vertex_count; i++)
      d.hulls[h].vertices[i] = vec3_scale(d.hulls[h].vertices[i], shape->scale);
    append_piece(builder, shape, name.data, solid, d.hulls[h].vertices, d.hulls[h].vertex_count, import);
    text_free(&name);
  }
  text_add(&builder->note,
           "shape '%s': %d hulls in %d connected component%s, total volume %.4g times that of the mesh\n",
           shape_name(shape), d.hull_count, d.pieces, d.pieces == 1 ? "" : "s", d.hull_volume / d.mesh_volume);
  decomposition_free(&d);
}

/* Returns the smallest size that contact has to resolve for a shape made of triangles [m] (R3). This is the least of 6
 * volume / area and the sides of the bounding box. Without volume it is the largest side of the box. */
static double triangle_set_feature(const ShapeSolid* solid) {
  double volume = 0, area = 0;
  Vec3 low = solid->pieces[0].vertices[0], high = low;
  for (int i = 0; i < solid->piece_count; i++) {
    const Vec3* p = solid->pieces[i].vertices;
    volume += vec3_dot(p[0], vec3_cross(p[1], p[2])) / 6;
    area += 0.5 * vec3_norm(vec3_cross(vec3_sub(p[1], p[0]), vec3_sub(p[2], p[0])));
    for (int k = 0; k < 3; k++) {
      low = vec3_min(low, p[k]);
      high = vec3_max(high, p[k]);
    }
  }
  Vec3 size = vec3_sub(high, low);
  double largest = fmax(size.x, fmax(size.y, size.z)), least = fmin(size.x, fmin(size.y, size.z));
  return !(volume > 0) ? largest : fmin(6 * volume / area, least);
}

static void add_triangle(ShapeSolid* solid, Vec3 a, Vec3 b, Vec3 c) {
  ConvexHull* piece = &solid->pieces[solid->piece_count];
  if (!(vec3_norm(vec3_cross(vec3_sub(b, a), vec3_sub(c, a))) > 0)) return; /* the triangle has no area */
  *piece = (ConvexHull){.vertex_count = 3, .triangle_count = 1};
  piece->vertices = MEMORY_NEW(Vec3, 3);
  piece->triangles = memory_alloc(sizeof *piece->triangles);
  piece->vertices[0] = a;
  piece->vertices[1] = b;
  piece->vertices[2] = c;
  for (int k = 0; k < 3; k++) piece->triangles[0][k] = k;
  solid->piece_count++;
}

/* Returns a normal of a polygon with the length of twice its area (Newell's method). */
static Vec3 polygon_normal(const Mesh* mesh, const int* corners, int count) {
  Vec3 sum = {0, 0, 0};
  for (int k = 0; k < count; k++)
    sum = vec3_add(sum, vec3_cross(mesh->positions[corners[k]], mesh->positions[corners[(k + 1) % count]]));
  return sum;
}

static void triangles_of_mesh(const Mesh* mesh, ShapeSolid* solid) {
  solid->pieces = MEMORY_NEW(ConvexHull, mesh->corner_count + 1);
  int(*cut)[3] = memory_alloc(sizeof *cut * (size_t)(mesh->corner_count + 1));
  for (int f = 0; f < mesh->face_count; f++) {
    const int* corners = mesh->corners + mesh->face_first[f];
    int count = mesh->face_first[f + 1] - mesh->face_first[f];
    int found = polygon_triangulate(mesh->positions, corners, count, polygon_normal(mesh, corners, count), cut);
    for (int k = 0; k < found; k++)
      add_triangle(solid, mesh->positions[cut[k][0]], mesh->positions[cut[k][1]], mesh->positions[cut[k][2]]);
  }
  memory_free(cut);
}

/* Repairs a mesh surface and uses its triangles, which then face outward. */
static void triangles_of_repaired(Builder* builder, const SceneShape* shape, const Mesh* mesh, ShapeSolid* solid) {
  ConvexHull surface;
  MeshCondition c;
  bool any = mesh_surface(&surface, &c, mesh);
  solid->pieces = MEMORY_NEW(ConvexHull, any ? surface.triangle_count : 1);
  if (!any) return; /* finish_triangles reports the error */
  for (int k = 0; k < surface.triangle_count; k++) {
    const int* t = surface.triangles[k];
    add_triangle(solid, surface.vertices[t[0]], surface.vertices[t[1]], surface.vertices[t[2]]);
  }
  hull_free(&surface);
  if (c.closed_borders > 0)
    warn_shape(builder, shape,
               "the surface of the mesh is open: 'orient: fix' closed %d border%s with triangles; check the result, or "
               "close the mesh in its file",
               c.closed_borders, c.closed_borders == 1 ? "" : "s");
  text_add(&builder->note, "shape '%s': orient: fix reversed %d triangles that disagreed with their neighbours%s\n",
           shape_name(shape), c.turned_triangles, c.inside_out ? ", and the whole surface, which faced inward" : "");
}

static void finish_triangles(Builder* builder, const SceneShape* shape, ShapeSolid* solid) {
  solid->triangles = true;
  if (solid->piece_count == 0) {
    diagnostics_add(builder->diagnostics, SEVERITY_ERROR, shape->place,
                    "shape '%s': all triangles have zero area: check the vertices and 'scale'", shape_name(shape));
    return;
  }
  if (shape->type == SHAPE_MESH)
    text_add(&builder->note, "shape '%s': %d triangles\n", shape_name(shape), solid->piece_count);
}

/* Adds an error for a file that cannot be read. what: kind of the file. */
static void report_unreadable(Builder* builder, const SceneShape* shape, Status status, const char* what) {
  builder->unreadable |= status == STATUS_IO;
  diagnostics_add(builder->diagnostics, status == STATUS_IO ? SEVERITY_ERROR : SEVERITY_NOTE, shape->place,
                  "shape '%s' cannot use the %s %s", shape_name(shape), what, shape->file);
}

/* Returns the mass moment of the solid that a mesh encloses, for density 1 kg/m^3 and with lengths multiplied by
 * `scale`. Returns zero if the surface is not closed and oriented outward. */
static MassMoment enclosed_moment(const Mesh* mesh, double scale) {
  ShapeSolid triangles = {0};
  triangles_of_mesh(mesh, &triangles);
  MassMoment sum = mass_moment_zero();
  TriangleSurface surface = {.points = MEMORY_NEW(Vec3, 3 * triangles.piece_count + 1)};
  for (int k = 0; k < triangles.piece_count; k++)
    for (int i = 0; i < 3; i++)
      surface.points[surface.point_count++] = vec3_scale(triangles.pieces[k].vertices[i], scale);
  surface_join_corners(&surface);
  SurfaceCheck check = surface_check(&surface);
  if (check.closed && check.oriented && check.volume > 0) {
    ConvexHull solid = {.vertices = surface.points,
                        .vertex_count = surface.point_count,
                        .triangles = surface.triangles,
                        .triangle_count = surface.triangle_count};
    sum = mass_moment_solid(&solid);
  }
  surface_free(&surface);
  for (int k = 0; k < triangles.piece_count; k++) hull_free(&triangles.pieces[k]);
  memory_free(triangles.pieces);
  return sum;
}

static void solid_from_mesh(Builder* builder, const SceneShape* shape, ShapeSolid* solid) {
  Mesh mesh = {0};
  ImportStatistics import = {0};
  Status status = mesh_read(&mesh, shape->file, shape->decompose ? 1.0 : shape->scale, builder->diagnostics);
  if (status == STATUS_OK) {
    if (shape->decompose)
      solid_from_decomposition(builder, shape, &mesh, solid, &import);
    else if (shape->orient_fix)
      triangles_of_repaired(builder, shape, &mesh, solid);
    else if (shape->triangles)
      triangles_of_mesh(&mesh, solid);
    else
      solid_from_groups(builder, shape, &mesh, solid, &import);
    if (!shape->orient_fix && !shape->triangles)
      solid->enclosed = enclosed_moment(&mesh, shape->decompose ? shape->scale : 1);
    if (mesh.degenerate_face_count > 0)
      text_add(&builder->note, "shape '%s': %d degenerate faces were dropped\n", shape_name(shape),
               mesh.degenerate_face_count);
    report_import(builder, shape, &import);
  } else {
    report_unreadable(builder, shape, status, "mesh");
  }
  mesh_free(&mesh);
}

/* Largest number of convex pieces of a height field; more are too slow to be useful. */
enum { HEIGHT_PIECES_MAX = 400000 };

static void solid_from_heights(Builder* builder, const SceneShape* shape, ShapeSolid* solid) {
  HeightGrid grid;
  Status status = height_grid_read(&grid, shape->file, builder->diagnostics);
  if (status != STATUS_OK) {
    report_unreadable(builder, shape, status, "height field");
    return;
  }
  HeightFieldFrame place = {shape->size, shape->origin, shape->base};
  if (!(place.base > 0)) place.base = fmax(shape->size.x / (grid.columns - 1), shape->size.y / (grid.rows - 1));
  solid->piece_count = height_field_pieces(&grid, &place, &solid->pieces);
  if (solid->piece_count > HEIGHT_PIECES_MAX)
    diagnostics_add(builder->diagnostics, SEVERITY_ERROR, shape->place,
                    "shape '%s': the height field needs %d convex pieces, but at most %d are allowed: use a file with "
                    "fewer samples",
                    shape_name(shape), solid->piece_count, HEIGHT_PIECES_MAX);
  text_add(&builder->note, "shape '%s': %d x %d samples as %d convex pieces\n", shape_name(shape), grid.columns,
           grid.rows, solid->piece_count);
  height_grid_free(&grid);
}

static void solid_from_points(Builder* builder, const SceneShape* shape, ShapeSolid* solid) {
  ImportStatistics import = {0};
  solid->pieces = MEMORY_NEW(ConvexHull, 1 + (shape->triangles ? shape->point_count / 3 : 0));
  for (int k = 0; shape->triangles && k + 2 < shape->point_count; k += 3)
    add_triangle(solid, shape->points[k], shape->points[k + 1], shape->points[k + 2]);
  if (shape->triangles) return;
  if (append_piece(builder, shape, NULL, solid, shape->points, shape->point_count, &import))
    report_import(builder, shape, &import);
}

static HullResult create_rounded_points(ConvexHull* hull, const SceneShape* shape) {
  ConvexHull core;
  *hull = (ConvexHull){0};
  HullResult result = rounded_core_create(&core, shape->points, shape->point_count);
  if (result != HULL_OK) return result;
  result = rounded_core_tessellate(hull, &core, shape->radius, shape->segments);
  hull_free(&core);
  return result;
}

HullResult draw_primitive(ConvexHull* hull, const SceneShape* shape) {
  switch (shape->type) {
    case SHAPE_BOX:
      return primitive_box(hull, shape->size);
    case SHAPE_SPHERE:
      return primitive_sphere(hull, shape->radius, shape->resolution);
    case SHAPE_CYLINDER:
      return primitive_cylinder(hull, shape->radius, shape->length, shape->segments);
    case SHAPE_CAPSULE:
      return primitive_capsule(hull, shape->radius, shape->length, shape->segments);
    case SHAPE_WHEEL:
    case SHAPE_DISC:
    case SHAPE_CONE:
      return draw_round(hull, shape);
    case SHAPE_ROUNDED_BOX:
      return primitive_rounded_box(hull, shape->radius, shape->size, shape->segments);
    case SHAPE_ROUNDED_POINTS:
      return create_rounded_points(hull, shape);
    case SHAPE_POINTS:
    case SHAPE_MESH:
    case SHAPE_HEIGHT_FIELD:
    case SHAPE_HALF_SPACE:
    default:
      break;
  }
  return HULL_FAILED;
}

/* Returns the first short-range law of the scene that does not support exact round solids, or CONTACT_NONE. */
static ContactModel find_law_without_round(const Scene* scene) {
  ContactModel law = scene->contact.model;
  for (int i = 0; i <= scene->contact.pair_count; i++) {
    if (i > 0) law = scene->contact.pairs[i - 1].has_model ? scene->contact.pairs[i - 1].model : CONTACT_NONE;
    if (!contact_supports_round_solids(law) && law != CONTACT_LONG_RANGE) return law;
  }
  return CONTACT_NONE;
}

/* Adds a note that a round solid is represented by a polyhedron, because a law of the scene does not support round
 * solids. */
static void report_polyhedron(Builder* builder, const SceneShape* shape, const ConvexHull* solid) {
  ContactModel law = find_law_without_round(builder->scene);
  const char* key = shape->type == SHAPE_SPHERE ? "resolution" : "segments";
  double inside = polyhedron_deviation(shape, solid);
  if (law == CONTACT_NONE)
    text_add(&builder->note,
             "shape '%s': represented by a polyhedron with faces up to %.3g m inside the round solid, because only the "
             "law separating_plane supports the exact solid; '%s' sets the number of faces\n",
             shape_name(shape), inside, key);
  else
    warn_shape(
        builder, shape,
        "the law %s represents the round solid by a polyhedron with faces up to %.3g m inside, so a rolling body loses "
        "speed: use contact.model separating_plane for the exact solid, or set '%s' to accept the polyhedron",
        contact_model_name(law), inside, key);
}

static void solid_from_primitive(Builder* builder, const SceneShape* shape, ShapeSolid* solid) {
  solid->pieces = MEMORY_NEW(ConvexHull, 1);
  SceneShape drawn = *shape;
  bool taken = model_uses_round_solid(builder->scene, shape);
  if (taken) {
    drawn.resolution = DRAWN_RESOLUTION;
    drawn.segments = DRAWN_SEGMENTS;
  }
  HullResult result = draw_primitive(&solid->pieces[0], &drawn);
  if (result == HULL_OK) {
    solid->piece_count = 1;
    if (shape_is_exact(shape) && !taken) report_polyhedron(builder, shape, &solid->pieces[0]);
  } else
    report_hull(builder, shape, NULL, result);
}

static void build_solid(Builder* builder, const SceneShape* shape, ShapeSolid* solid) {
  if (shape->type == SHAPE_HALF_SPACE || shape_is_smooth(shape) || shape->replaced) return;
  if (shape->type == SHAPE_MESH)
    solid_from_mesh(builder, shape, solid);
  else if (shape->type == SHAPE_HEIGHT_FIELD)
    solid_from_heights(builder, shape, solid);
  else if (shape->type == SHAPE_POINTS)
    solid_from_points(builder, shape, solid);
  else
    solid_from_primitive(builder, shape, solid);
  if (shape->triangles && solid->pieces) finish_triangles(builder, shape, solid);
  solid->feature = MEMORY_NEW(double, solid->piece_count);
  double whole = solid->triangles && solid->piece_count > 0 ? triangle_set_feature(solid) : 0;
  for (int i = 0; i < solid->piece_count; i++)
    solid->feature[i] = solid->triangles ? whole : hull_feature(&solid->pieces[i]);
}

/* Writes a key that contains all lengths of a primitive. Equal keys mean equal solids. An empty key means that the
 * solid cannot be shared. */
static void primitive_key(const Builder* builder, const SceneShape* shape, Text* key) {
  bool taken = model_uses_round_solid(builder->scene, shape);
  bool plain = shape->type == SHAPE_BOX || shape->type == SHAPE_SPHERE || shape->type == SHAPE_CYLINDER ||
               shape->type == SHAPE_CAPSULE || shape->type == SHAPE_ROUNDED_BOX;
  key->length = 0;
  if (!plain || shape->triangles || shape->replaced || (shape_is_exact(shape) && !taken)) return;
  text_add(key, "%d %d %d %d %a %a %a %a %a", (int)shape->type, taken, shape->resolution, shape->segments,
           shape->size.x, shape->size.y, shape->size.z, shape->radius, shape->length);
}

static void* copy_memory(const void* from, size_t size) { return memcpy(memory_resize(NULL, 0, size), from, size); }

/* Copies a solid of one piece. */
static void copy_solid(const ShapeSolid* from, ShapeSolid* solid) {
  const ConvexHull* hull = &from->pieces[0];
  solid->pieces = MEMORY_NEW(ConvexHull, 1);
  solid->pieces[0] = *hull;
  solid->pieces[0].vertices = copy_memory(hull->vertices, sizeof *hull->vertices * (size_t)hull->vertex_count);
  solid->pieces[0].triangles = copy_memory(hull->triangles, sizeof *hull->triangles * (size_t)hull->triangle_count);
  solid->piece_count = 1;
  solid->feature = copy_memory(from->feature, sizeof *from->feature);
}

/* Primitives with equal keys are computed once, because imported robots have many. */
void build_solids(Builder* builder) {
  if (builder->solids) return; /* the solids are borrowed and complete */
  int count = builder->scene->shape_count;
  Names made = {0};
  char** keys = MEMORY_NEW(char*, count + 1); /* `made` refers to the texts */
  builder->solids = MEMORY_NEW(ShapeSolid, count);
  builder->hull_folder = decompose_cache_folder();
  for (int i = 0; i < count; i++) {
    Text key = {0};
    primitive_key(builder, &builder->scene->shapes[i], &key);
    int same = key.length > 0 ? names_find(&made, key.data) : -1;
    if (same >= 0)
      copy_solid(&builder->solids[same], &builder->solids[i]);
    else
      build_solid(builder, &builder->scene->shapes[i], &builder->solids[i]);
    bool first = same < 0 && key.length > 0 && builder->solids[i].piece_count == 1;
    if (first && names_add(&made, key.data, i))
      keys[i] = key.data;
    else
      text_free(&key);
  }
  names_free(&made);
  for (int i = 0; i < count; i++) memory_free(keys[i]);
  memory_free(keys);
}

void free_solids(Builder* builder) {
  for (int i = 0; builder->solids && i < builder->scene->shape_count; i++) {
    ShapeSolid* solid = &builder->solids[i];
    for (int k = 0; k < solid->piece_count; k++) hull_free(&solid->pieces[k]);
    memory_free(solid->pieces);
    memory_free(solid->feature);
  }
  memory_free(builder->solids);
  memory_free(builder->hull_folder);
}
