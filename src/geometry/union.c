/* Computes the union of convex hulls as one surface (docs/derivations/union.md). */
#include <assert.h>
#include <stdlib.h>

#include "geometry/facets.h"
#include "geometry/union.h"

/* Smallest cosine of the angle between the normals of two faces that count as coplanar. The vertices of a small face
 * lie near many planes, so that distances alone do not decide. */
#define COPLANAR_COSINE 0.999
/* Margin around the bounding box of a hull [unit frame]. Merging moves planes by less. */
#define BOX_MARGIN 1e-4

/* Tolerances for merging planes and points, relative to the diagonal of all hulls. The tolerance of points, `weld`, is
 * larger, because planes can intersect at small angles. The rows are tried in this order until the surface is closed.
 */
static const struct {
  double plane, weld;
} TOLERANCES[] = {{1e-7, 1e-6}, {1e-9, 1e-8}, {1e-11, 1e-10}, {1e-8, 1e-7}, {1e-6, 1e-5}};

/* Facet of a hull and the plane of the facet, in floating-point numbers. */
typedef struct {
  int hull, index; /* index among all facets, which decides between equal areas */
  Vec3 normal;
  double offset, area;
  const int* corners; /* indices into the hull's points */
  int corner_count;
} HullFacet;

typedef struct {
  Vec3** points; /* points of each hull, unit frame */
  const ConvexHull* hulls;
  int hull_count;
  Facets* facets;
  HullFacet* raw; /* sorted by decreasing area */
  int raw_count;
  Vec3 center;
  double scale, diagonal; /* scale of the unit frame; diagonal of all hulls in it */
} UnionInput;

static void set_unit_frame(UnionInput* input) {
  Vec3 low = vec3(HUGE_VAL, HUGE_VAL, HUGE_VAL), high = vec3_scale(low, -1);
  for (int h = 0; h < input->hull_count; h++)
    for (int i = 0; i < input->hulls[h].vertex_count; i++) {
      low = vec3_min(low, input->hulls[h].vertices[i]);
      high = vec3_max(high, input->hulls[h].vertices[i]);
    }
  double diagonal = vec3_norm(vec3_sub(high, low));
  int exponent;
  frexp(diagonal, &exponent);
  input->center = vec3_scale(vec3_add(low, high), 0.5);
  input->scale = ldexp(1.0, exponent);
  input->diagonal = diagonal / input->scale;
}

static Vec3 to_unit(const UnionInput* input, Vec3 x) {
  return vec3_scale(vec3_sub(x, input->center), 1 / input->scale);
}

static double facet_area(const HullFacet* raw, const Vec3* points) {
  Vec3 sum = {0, 0, 0};
  for (int i = 1; i + 1 < raw->corner_count; i++) {
    Vec3 o = points[raw->corners[0]];
    sum = vec3_add(sum, vec3_cross(vec3_sub(points[raw->corners[i]], o), vec3_sub(points[raw->corners[i + 1]], o)));
  }
  return 0.5 * vec3_norm(sum);
}

static int compare_areas(const void* left, const void* right) {
  const HullFacet *a = left, *b = right;
  if (a->area != b->area) return a->area > b->area ? -1 : 1;
  return a->index - b->index;
}

static void collect_facets(UnionInput* input) {
  int total = 0;
  for (int h = 0; h < input->hull_count; h++) total += input->facets[h].facet_count;
  input->raw = MEMORY_NEW(HullFacet, total + 1);
  for (int h = 0; h < input->hull_count; h++) {
    const Facets* facets = &input->facets[h];
    for (int f = 0; f < facets->facet_count; f++) {
      HullFacet* raw = &input->raw[input->raw_count];
      const double* plane = facets->planes[f];
      *raw = (HullFacet){.hull = h, .index = input->raw_count++, .normal = vec3(plane[0], plane[1], plane[2])};
      raw->offset = plane[3];
      raw->corners = facets->corners + facets->first[f];
      raw->corner_count = facets->first[f + 1] - facets->first[f];
      raw->area = facet_area(raw, input->points[h]);
    }
  }
  qsort(input->raw, (size_t)input->raw_count, sizeof *input->raw, compare_areas);
}

static void input_free(UnionInput* input) {
  for (int h = 0; h < input->hull_count; h++) {
    memory_free(input->points[h]);
    facets_free(&input->facets[h]);
  }
  memory_free(input->points);
  memory_free(input->facets);
  memory_free(input->raw);
}

static bool input_create(UnionInput* input, const ConvexHull* hulls, int hull_count) {
  *input = (UnionInput){.hulls = hulls, .hull_count = hull_count};
  input->points = MEMORY_NEW(Vec3*, hull_count + 1);
  input->facets = MEMORY_NEW(Facets, hull_count + 1);
  set_unit_frame(input);
  for (int h = 0; h < hull_count; h++) {
    int count = hulls[h].vertex_count;
    input->points[h] = MEMORY_NEW(Vec3, count + 1);
    for (int i = 0; i < count; i++) input->points[h][i] = to_unit(input, hulls[h].vertices[i]);
    if (facets_create(&input->facets[h], input->points[h], count) != HULL_OK) return false;
  }
  collect_facets(input);
  return true;
}

/* The hulls as intersections of half-spaces, whose planes are stored exactly. The arrays are owned. */
typedef struct {
  ExactPlane* planes; /* planes of the hulls, then the walls of the box */
  Vec3* normals;
  double* offsets;
  int plane_count;
  PlaneHull* hulls;
  int hull_count;
} Planes;

static bool facet_is_on_plane(const HullFacet* raw, const Vec3* points, Vec3 normal, double offset, double tolerance) {
  if (fabs(vec3_dot(raw->normal, normal)) < COPLANAR_COSINE) return false;
  for (int i = 0; i < raw->corner_count; i++)
    if (!(fabs(vec3_dot(normal, points[raw->corners[i]]) + offset) <= tolerance)) return false;
  return true;
}

static int find_plane(Planes* planes, const HullFacet* raw, const Vec3* points, double tolerance) {
  for (int p = 0; p < planes->plane_count; p++)
    if (facet_is_on_plane(raw, points, planes->normals[p], planes->offsets[p], tolerance)) return p;
  int p = planes->plane_count++;
  planes->normals[p] = raw->normal;
  planes->offsets[p] = raw->offset;
  planes->planes[p] = exact_plane(raw->normal, raw->offset);
  return p;
}

/* Adds a half-space to a hull. Returns false if the hull has both half-spaces of one plane and is therefore flat. */
static bool add_half_space(PlaneHull* hull, PlaneSide side) {
  for (int i = 0; i < hull->side_count; i++)
    if (hull->sides[i].plane == side.plane) return hull->sides[i].flipped == side.flipped;
  hull->sides[hull->side_count++] = side;
  return true;
}

static void add_walls(Planes* planes) {
  for (int k = 0; k < 3; k++)
    for (int s = 0; s < 2; s++) {
      Vec3 normal = vec3(k == 0, k == 1, k == 2);
      planes->planes[planes->plane_count + 2 * k + s] = exact_plane(vec3_scale(normal, s ? -1 : 1), -1);
    }
}

static void set_box(PlaneHull* hull, const Vec3* points, int count) {
  Vec3 room = vec3(BOX_MARGIN, BOX_MARGIN, BOX_MARGIN), low = points[0], high = points[0];
  for (int i = 1; i < count; i++) low = vec3_min(low, points[i]), high = vec3_max(high, points[i]);
  hull->low = vec3_sub(low, room);
  hull->high = vec3_add(high, room);
}

static void planes_free(Planes* planes) {
  for (int h = 0; h < planes->hull_count; h++) memory_free(planes->hulls[h].sides);
  memory_free(planes->hulls);
  memory_free(planes->planes);
  memory_free(planes->normals);
  memory_free(planes->offsets);
}

/* Assigns a plane to every facet. The largest facet without a plane defines a plane, and all facets that lie on this
 * plane share it. Returns false if a hull is flat. */
static bool planes_create(Planes* planes, const UnionInput* input, double tolerance) {
  *planes = (Planes){.hull_count = input->hull_count};
  planes->planes = MEMORY_NEW(ExactPlane, input->raw_count + BOX_WALLS);
  planes->normals = MEMORY_NEW(Vec3, input->raw_count + 1);
  planes->offsets = MEMORY_NEW(double, input->raw_count + 1);
  planes->hulls = MEMORY_NEW(PlaneHull, input->hull_count + 1);
  for (int h = 0; h < input->hull_count; h++) {
    planes->hulls[h].sides = MEMORY_NEW(PlaneSide, input->facets[h].facet_count + 1);
    set_box(&planes->hulls[h], input->points[h], input->hulls[h].vertex_count);
  }
  bool solid = true;
  for (int i = 0; i < input->raw_count; i++) {
    const HullFacet* raw = &input->raw[i];
    int p = find_plane(planes, raw, input->points[raw->hull], tolerance);
    PlaneSide side = {p, vec3_dot(raw->normal, planes->normals[p]) < 0};
    solid = add_half_space(&planes->hulls[raw->hull], side) && solid;
  }
  add_walls(planes);
  return solid;
}

static FaceList collect_faces(const Planes* planes) {
  PlaneTable table = {planes->planes, planes->plane_count};
  FaceList faces = {0};
  for (int h = 0; h < planes->hull_count; h++)
    for (int k = 0; k < planes->hulls[h].side_count; k++) {
      UnionFace face = hull_face(&table, &planes->hulls[h], k);
      if (face.count > 0) add_union_face(&table, face, h, planes->hulls, planes->hull_count, &faces);
    }
  return faces;
}

static TriangleSurface surface_of_faces(const UnionInput* input, const Planes* planes, const FaceList* faces,
                                        double weld) {
  WeldInput given = {.faces = faces, .planes = planes->planes, .normals = planes->normals, .weld = weld};
  for (int h = 0; h < input->hull_count; h++) given.corner_count += input->hulls[h].vertex_count;
  Vec3 *unit = MEMORY_NEW(Vec3, given.corner_count + 1), *corners = MEMORY_NEW(Vec3, given.corner_count + 1);
  int count = 0;
  for (int h = 0; h < input->hull_count; h++)
    for (int i = 0; i < input->hulls[h].vertex_count; i++, count++) {
      unit[count] = input->points[h][i];
      corners[count] = input->hulls[h].vertices[i];
    }
  given.corners = unit;
  int* corner;
  TriangleSurface surface = weld_faces(&given, &corner);
  for (int i = 0; i < surface.point_count; i++)
    surface.points[i] =
        corner[i] >= 0 ? corners[corner[i]] : vec3_add_scaled(input->center, input->scale, surface.points[i]);
  memory_free(corner);
  memory_free(unit);
  memory_free(corners);
  return surface;
}

static UnionResult check_result(const SurfaceCheck* check) {
  if (!check->closed || !check->oriented) return UNION_FAILED;
  if (check->branching_edges > 0) return UNION_TOUCHES_IN_EDGE;
  return check->shells > check->groups ? UNION_TOUCHES_IN_POINT : UNION_OK;
}

static UnionResult try_union(TriangleSurface* surface, const UnionInput* input, double plane, double weld) {
  Planes planes;
  UnionResult result = UNION_FAILED;
  if (planes_create(&planes, input, plane * input->diagonal)) {
    FaceList faces = collect_faces(&planes);
    *surface = surface_of_faces(input, &planes, &faces, weld * input->diagonal);
    SurfaceCheck check = surface_check(surface);
    result = check_result(&check);
    if (result != UNION_OK) surface_free(surface);
    face_list_free(&faces);
  }
  planes_free(&planes);
  return result;
}

UnionResult hulls_union(TriangleSurface* surface, double* snap, const ConvexHull* hulls, int hull_count) {
  assert(hulls || hull_count == 0);
  UnionInput input;
  *surface = (TriangleSurface){0};
  UnionResult first = UNION_FAILED, result = UNION_FAILED;
  bool solid = hull_count > 0 && input_create(&input, hulls, hull_count);
  for (size_t i = 0; solid && i < sizeof TOLERANCES / sizeof TOLERANCES[0]; i++) {
    result = try_union(surface, &input, TOLERANCES[i].plane, TOLERANCES[i].weld);
    *snap = TOLERANCES[i].weld * input.diagonal * input.scale;
    if (i == 0) first = result;
    if (result == UNION_OK) break;
  }
  if (hull_count > 0) input_free(&input);
  return result == UNION_OK ? UNION_OK : first;
}

const char* union_result_text(UnionResult result) {
  switch (result) {
    case UNION_OK:
      return "united";
    case UNION_TOUCHES_IN_EDGE:
      return "the union is not a manifold: pieces touch along an edge only";
    case UNION_TOUCHES_IN_POINT:
      return "the union is not a manifold: pieces touch in a point only";
    case UNION_FAILED:
      break;
  }
  return "the union did not pass its check";
}
