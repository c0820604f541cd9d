/* Writes surfaces of links as OBJ [m], binary STL [mm] and 3MF [mm]. A surface is the union of a link's convex pieces,
 * or each piece is a separate closed solid (docs/export.md). */
#include <assert.h>
#include <float.h>
#include <string.h>

#include "export/format.h"
#include "model/drawn.h"

/* Tolerance relative to the size of all pieces. Two pieces touch if their distance is below the tolerance, and overlap
 * if their depth is above it. */
#define TOUCH_TOLERANCE 1e-6
/* Number of rays that measure the wall thickness of a link. */
enum { WALL_SAMPLES = 4096 };
/* Sizes in a binary STL file [bytes]: header, which the number of triangles follows, and triangle. */
enum { STL_HEAD = 80, STL_TRIANGLE = 50 };
#define MILLIMETRES 1000.0
/* Points closer than this multiple of a coordinate's rounding error may be merged to keep a surface manifold. */
#define ROUNDING_FACTOR 50

/* Returns a coordinate in the unit and precision of the file. Without volatile, gcc 12.2 at -O3 omits the rounding to
 * float in some vector lanes of the caller's loop (tests/unit/export/test_surface). */
static double round_to_format(double value, SurfaceFormat format) {
  volatile float single = (float)(MILLIMETRES * value);
  return (format == SURFACE_OBJ ? value : (double)single) + 0.0;
}

/* Rounds a surface to the file's precision and merges points that become equal. If the surface then touches itself
 * along an edge of a few rounding errors, merges that edge, too. */
static void round_surface(TriangleSurface* surface, Pose pose, SurfaceFormat format) {
  double largest = 0;
  for (int i = 0; i < surface->point_count; i++) {
    Vec3 p = pose_apply(pose, surface->points[i]);
    surface->points[i] = vec3(round_to_format(p.x, format), round_to_format(p.y, format), round_to_format(p.z, format));
    largest = fmax(largest, vec3_norm(surface->points[i]));
  }
  int* number = find_equal_points(surface->points, surface->point_count);
  surface_merge_points(surface, number);
  surface_collapse_short_edges(surface,
                               ROUNDING_FACTOR * largest * (format == SURFACE_OBJ ? DBL_EPSILON : (double)FLT_EPSILON));
  surface_remove_unused(surface, NULL);
  memory_free(number);
}

typedef struct {
  ExportSolid* items;
  int count;
} SolidList;

/* Returns the hull with every vertex moved by `distance` [m] away from the mean of the vertices. Pieces that touch
 * along an edge or at a point then overlap. Returns the unchanged hull if the moved vertices form no solid. */
static ConvexHull grown_hull(const ConvexHull* hull, double distance) {
  assert(distance > 0);
  Vec3* corners = MEMORY_NEW(Vec3, hull->vertex_count);
  Vec3 middle = vec3(0, 0, 0);
  for (int i = 0; i < hull->vertex_count; i++) middle = vec3_add(middle, hull->vertices[i]);
  middle = vec3_scale(middle, 1.0 / hull->vertex_count);
  for (int i = 0; i < hull->vertex_count; i++)
    corners[i] = vec3_add_scaled(hull->vertices[i], distance, vec3_normalized(vec3_sub(hull->vertices[i], middle)));
  ConvexHull out;
  if (hull_create(&out, corners, hull->vertex_count) != HULL_OK &&
      hull_create(&out, hull->vertices, hull->vertex_count) != HULL_OK)
    out = (ConvexHull){0};
  memory_free(corners);
  return out;
}

/* Adds the union of a link's pieces to the list, in the link's frame. Returns false, and sets report->reason, if the
 * union failed. */
static bool add_union(SolidList* list, const Model* model, const int* hulls, int count, const SurfaceOptions* options,
                      SurfaceReport* report) {
  ConvexHull* solids = MEMORY_NEW(ConvexHull, count);
  const bool grown = options->grow > 0; /* grown solids are owned, others borrowed */
  for (int i = 0; i < count; i++) {
    const ConvexHull* solid = &model->hulls[hulls[i]].solid;
    solids[i] = grown ? grown_hull(solid, options->grow) : *solid;
  }
  int link = model->hulls[hulls[0]].link;
  ExportSolid solid = {.link = link, .hull = -1};
  double snap = 0, spacing = 0;
  UnionResult result = UNION_OK;
  if (count == 1)
    solid.surface = surface_of_hull(&solids[0]);
  else
    result = hulls_union(&solid.surface, &snap, solids, count);
  for (int i = 0; grown && i < count; i++) hull_free(&solids[i]);
  memory_free(solids);
  if (result != UNION_OK) {
    report->united = false;
    report->reason = union_result_text(result);
    report->reason_link = link;
    return false;
  }
  report->snap = fmax(report->snap, snap);
  report->thickness =
      fmin(report->thickness, surface_thickness(&solid.surface, WALL_SAMPLES, options->threads, &spacing));
  report->thickness_spacing = fmax(report->thickness_spacing, spacing);
  list->items[list->count++] = solid;
  return true;
}

static void add_pieces(SolidList* list, const Model* model, const int* hulls, int count, SurfaceReport* report) {
  for (int i = 0; i < count; i++) {
    const ModelHull* hull = &model->hulls[hulls[i]];
    list->items[list->count++] = (ExportSolid){surface_of_hull(&hull->solid), hull->link, hulls[i]};
    report->thickness = fmin(report->thickness, hull->kind->thickness(hull));
  }
}

/* Returns the solids to export. The hulls of a link are contiguous in the model. */
static SolidList list_solids(const Model* model, const int* hulls, int count, const SurfaceOptions* options,
                             SurfaceReport* report) {
  SolidList list = {.items = MEMORY_NEW(ExportSolid, count + 1)};
  report->united = !options->pieces;
  for (int i = 0; i < count; i++) report->deviation = fmax(report->deviation, model_drawn_deviation(model, hulls[i]));
  for (int first = 0, end; first < count; first = end) {
    const ModelLink* link = &model->links[model->hulls[hulls[first]].link];
    for (end = first; end < count && &model->links[model->hulls[hulls[end]].link] == link; end++) {}
    const SceneLink* source = &model->scene->links[link - model->links];
    double mass = link->mass;
    report->mass += mass;
    if (options->pieces || !add_union(&list, model, hulls + first, end - first, options, report))
      add_pieces(&list, model, hulls + first, end - first, report);
    else if (source->has_density && !source->has_mass && mass > 0)
      mass = source->density * surface_check(&list.items[list.count - 1].surface).volume;
    report->part_mass += mass;
  }
  return list;
}

/* Checks one solid and adds its properties to the report. placed: pose that the file applies to the points. unit: file
 * units per metre. */
static void check_solid(const ExportSolid* solid, Pose placed, double unit, SurfaceReport* report) {
  SurfaceCheck check = surface_check(&solid->surface);
  report->pieces++;
  report->triangles += solid->surface.triangle_count;
  report->closed = report->closed && check.closed;
  report->manifold = report->manifold && check.closed && check.branching_edges == 0;
  report->pinches += check.branching_points;
  report->oriented = report->oriented && check.oriented && check.volume > 0;
  report->cavities += check.cavities;
  report->volume += check.volume / (unit * unit * unit);
  for (int i = 0; i < solid->surface.point_count; i++) {
    Vec3 p = pose_apply(placed, vec3_scale(solid->surface.points[i], 1 / unit));
    report->low = vec3_min(report->low, p);
    report->high = vec3_max(report->high, p);
  }
}

static bool are_boxes_separate(const ModelHull* a, Pose pose_a, const ModelHull* b, Pose pose_b, double tolerance) {
  Vec3 d = vec3_sub(pose_apply(pose_a, a->center), pose_apply(pose_b, b->center));
  return vec3_norm(d) > a->radius + b->radius + tolerance;
}

/* Sets the numbers of connected groups of touching pieces and of overlapping pairs in the report. */
static void check_touching(const Model* model, const int* hulls, int count, const Pose* poses, SurfaceReport* report) {
  int* set = MEMORY_NEW(int, count + 1);
  double tolerance = TOUCH_TOLERANCE * vec3_norm(vec3_sub(report->high, report->low));
  disjoint_sets_init(set, count);
  for (int i = 0; i < count; i++) {
    for (int j = i + 1; j < count; j++) {
      const ModelHull *a = &model->hulls[hulls[i]], *b = &model->hulls[hulls[j]];
      Pose pose_a = poses[a->link], pose_b = poses[b->link];
      Vec3 normal;
      if (are_boxes_separate(a, pose_a, b, pose_b, tolerance)) continue;
      if (gjk_distance(a->points, pose_a, b->points, pose_b, NULL).distance > tolerance) continue;
      disjoint_sets_unite(set, i, j);
      report->overlaps += hull_penetration(a->points, pose_a, b->points, pose_b, &normal) > tolerance;
    }
  }
  for (int i = 0; i < count; i++) report->components += disjoint_sets_find(set, i) == i;
  memory_free(set);
}

static void add_obj(Text* out, const Model* model, const ExportSolid* solid, int first) {
  const ModelLink* link = &model->links[solid->link];
  if (solid->hull < 0)
    text_add(out, "o %s\n", link->name);
  else
    text_add(out, "o %s/%d\n", link->name, solid->hull - link->hull_first);
  for (int i = 0; i < solid->surface.point_count; i++) {
    text_add(out, "v");
    text_add_numbers(out, &solid->surface.points[i].x, 3);
    text_add(out, "\n");
  }
  for (int t = 0; t < solid->surface.triangle_count; t++) {
    const int* corner = solid->surface.triangles[t];
    text_add(out, "f %d %d %d\n", first + corner[0], first + corner[1], first + corner[2]);
  }
}

static void write_obj(Text* out, const Model* model, const ExportSolid* solids, int count, bool united) {
  text_add(out, "# %s: %s; metres\n", model->scene->name,
           united ? "each link's surface" : "convex pieces, each a closed surface of its own");
  for (int i = 0, first = 1; i < count; i++) {
    add_obj(out, model, &solids[i], first);
    first += solids[i].surface.point_count;
  }
}

static void add_stl(Text* out, const TriangleSurface* surface) {
  for (int t = 0; t < surface->triangle_count; t++) {
    const int* corner = surface->triangles[t];
    Vec3 p[3] = {surface->points[corner[0]], surface->points[corner[1]], surface->points[corner[2]]};
    Vec3 normal = vec3_cross(vec3_sub(p[1], p[0]), vec3_sub(p[2], p[0]));
    double length = vec3_norm(normal);
    normal = length > 0 ? vec3_scale(normal, 1 / length)
                        : vec3(0, 0, 0); /* a zero normal means that readers compute it from the corners */
    const Vec3 four[4] = {normal, p[0], p[1], p[2]};
    for (int k = 0; k < 4; k++)
      bytes_add_float(out, four[k].x), bytes_add_float(out, four[k].y), bytes_add_float(out, four[k].z);
    bytes_add_integer(out, 0, 2);
  }
}

/* Writes binary STL. The header must not begin with "solid", which marks the text format. */
static void write_stl(Text* out, const ExportSolid* solids, int count) {
  char head[STL_HEAD] = "binary STL, millimetres, written by sdrs";
  int triangles = 0;
  for (int i = 0; i < count; i++) triangles += solids[i].surface.triangle_count;
  text_add_bytes(out, head, sizeof head);
  bytes_add_integer(out, (uint32_t)triangles, 4);
  for (int i = 0; i < count; i++) add_stl(out, &solids[i].surface);
}

static int list_hulls(const Model* model, int link, int* hulls) {
  int count = 0;
  for (int h = 0; h < model->hull_count; h++)
    if (model->hulls[h].kind->bounded && (link < 0 || model->hulls[h].link == link)) hulls[count++] = h;
  return count;
}

/* Rounds and checks all solids. 3MF files have link coordinates and a pose per link. OBJ and STL files have world
 * coordinates. */
static void round_and_check(SolidList* list, const Pose* poses, SurfaceFormat format, SurfaceReport* report) {
  double unit = format == SURFACE_OBJ ? 1.0 : MILLIMETRES;
  for (int i = 0; i < list->count; i++) {
    Pose pose = poses[list->items[i].link], identity = pose_identity();
    round_surface(&list->items[i].surface, format == SURFACE_3MF ? identity : pose, format);
    check_solid(&list->items[i], format == SURFACE_3MF ? pose : identity, unit, report);
  }
}

SurfaceReport export_surface(Text* out, const Model* model, int link, const Pose* poses,
                             const SurfaceOptions* options) {
  assert(link >= -1 && link < model->link_count);
  SurfaceReport report = {.closed = true, .manifold = true, .oriented = true, .thickness = HUGE_VAL};
  int* hulls = MEMORY_NEW(int, model->hull_count + 1);
  int count = list_hulls(model, link, hulls);
  report.low = vec3(HUGE_VAL, HUGE_VAL, HUGE_VAL);
  report.high = vec3_scale(report.low, -1);
  SolidList list = list_solids(model, hulls, count, options, &report);
  round_and_check(&list, poses, options->format, &report);
  if (options->format == SURFACE_STL)
    write_stl(out, list.items, list.count);
  else if (options->format == SURFACE_3MF)
    export_3mf(out, model, list.items, list.count, poses);
  else
    write_obj(out, model, list.items, list.count, report.united);
  check_touching(model, hulls, count, poses, &report);
  for (int i = 0; i < list.count; i++) surface_free(&list.items[i].surface);
  memory_free(list.items);
  memory_free(hulls);
  return report;
}
