/* Rounded points: all positions within a radius of the convex hull of points. Moments are exact (contact.md, C6b). */
#include <assert.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "geometry/geometry.h"

/* A height or width of the point set below this fraction of its extent counts as zero: the points then lie in a plane
 * or on a line. */
#define FLAT_TOLERANCE 1e-10
/* Outward directions at a vertex of the core that differ by less than this give one point of the polyhedron. */
#define NORMAL_TOLERANCE 1e-6

typedef struct {
  double x, y;
  int index;
} PlanePoint;

static int compare_positions(const void* a, const void* b) {
  const PlanePoint *p = a, *q = b;
  if (p->x != q->x) return p->x < q->x ? -1 : 1;
  if (p->y != q->y) return p->y < q->y ? -1 : 1;
  return p->index - q->index;
}

static double signed_area(const PlanePoint* a, const PlanePoint* b, const PlanePoint* c) {
  return (b->x - a->x) * (c->y - a->y) - (b->y - a->y) * (c->x - a->x);
}

/* Computes the convex hull of sorted points as a polygon, counter-clockwise, without points on its sides. points
 * (count): sorted by x, then y. area: three points count as collinear if twice the area of their triangle is smaller
 * than this. corner: receives the polygon; it has space for count + 1 points. Returns the number of corners. */
static int polygon_hull(const PlanePoint* points, int count, double area, PlanePoint* corner) {
  int found = 0;
  for (int side = 0; side < 2; side++) {
    int first = found;
    for (int i = 0; i < count; i++) {
      const PlanePoint* p = &points[side == 0 ? i : count - 1 - i];
      while (found >= first + 2 && !(signed_area(&corner[found - 2], &corner[found - 1], p) > area)) found--;
      corner[found++] = *p;
    }
    found--; /* the last corner is the first corner of the other side */
  }
  return found;
}

static void set_vertices(ConvexHull* core, const Vec3* points, const int* index, int count) {
  core->vertex_count = count;
  core->vertices = MEMORY_NEW(Vec3, count);
  for (int i = 0; i < count; i++) core->vertices[i] = points[index[i]];
}

static void set_polygon(ConvexHull* core, const Vec3* points, int count, Vec3 e, Vec3 f, double area) {
  PlanePoint* sorted = memory_alloc(sizeof *sorted * (size_t)count);
  PlanePoint* corner = memory_alloc(sizeof *corner * (size_t)(2 * count + 1));
  int* index = MEMORY_NEW(int, 2 * count + 1);
  for (int i = 0; i < count; i++) sorted[i] = (PlanePoint){vec3_dot(e, points[i]), vec3_dot(f, points[i]), i};
  qsort(sorted, (size_t)count, sizeof *sorted, compare_positions);
  int corners = polygon_hull(sorted, count, area, corner);
  for (int i = 0; i < corners; i++) index[i] = corner[i].index;
  set_vertices(core, points, index, corners);
  core->triangles = memory_alloc(sizeof *core->triangles * (size_t)(2 * (corners - 2)));
  for (int i = 1; i + 1 < corners; i++) {
    const int front[3] = {0, i, i + 1}, back[3] = {0, i + 1, i};
    memcpy(core->triangles[core->triangle_count++], front, sizeof front);
    memcpy(core->triangles[core->triangle_count++], back, sizeof back);
  }
  memory_free(index);
  memory_free(corner);
  memory_free(sorted);
}

static int farthest_from(const Vec3* points, int count, Vec3 place) {
  int best = 0;
  for (int i = 1; i < count; i++)
    if (vec3_norm(vec3_sub(points[i], place)) > vec3_norm(vec3_sub(points[best], place))) best = i;
  return best;
}

static Vec3 distance_vector(Vec3 point, Vec3 on, Vec3 axis) {
  Vec3 d = vec3_sub(point, on);
  return vec3_add_scaled(d, -vec3_dot(d, axis), axis);
}

HullResult rounded_core_create(ConvexHull* core, const Vec3* points, int count) {
  assert(points && count > 0);
  *core = (ConvexHull){0};
  for (int i = 0; i < count; i++)
    if (!isfinite(vec3_dot(points[i], points[i]))) return HULL_FAILED;
  int end[2] = {farthest_from(points, count, points[0]), 0};
  end[1] = farthest_from(points, count, points[end[0]]);
  Vec3 origin = points[end[0]], along = vec3_sub(points[end[1]], origin);
  double length = vec3_norm(along);
  if (!(length > 4 * DBL_EPSILON * vec3_norm(origin))) {
    set_vertices(core, points, end, 1);
    return HULL_OK;
  }
  Vec3 axis = vec3_scale(along, 1 / length), beside = {0, 0, 0};
  for (int i = 0; i < count; i++) {
    Vec3 off = distance_vector(points[i], origin, axis);
    if (vec3_norm(off) > vec3_norm(beside)) beside = off;
  }
  double width = vec3_norm(beside);
  if (!(width >
        FLAT_TOLERANCE * length)) { /* otherwise hull_create could return a hull that consists of rounding errors */
    set_vertices(core, points, end, 2);
    return HULL_OK;
  }
  HullResult result = hull_create(core, points, count);
  if (result == HULL_OK || result == HULL_FAILED) return result;
  set_polygon(core, points, count, axis, vec3_scale(beside, 1 / width), FLAT_TOLERANCE * length * width);
  return HULL_OK;
}

/* A directed edge of the core. along: unit direction from tail to head. normal: outward unit normal of the face on the
 * left. angle: angle from this normal to the normal of the face on the right [rad]. A segment has two directed edges
 * with an angle of 360 degrees. */
typedef struct {
  int tail, head;
  Vec3 along, normal;
  double angle;
  int next; /* next directed edge with the same tail, -1 if there is none */
} CoreEdge;
typedef struct {
  CoreEdge* edges; /* three for each triangle, in the order of the triangles */
  int count;
  int* first; /* one directed edge with each vertex as tail, -1 if there is none (size: vertex_count) */
} CoreEdges;

static Vec3 outward_direction(const CoreEdge* e) { return vec3_cross(e->along, e->normal); }

/* Returns the smallest angle from the face on the left of edge e to a face on its right. A diagonal of a flat polygon
 * has two faces on the right, one on each side of the polygon. The smallest angle selects the face on the same side as
 * the left face. */
static double edge_angle(const CoreEdges* all, const CoreEdge* e) {
  double least = 2 * M_PI;
  for (int k = all->first[e->head]; k >= 0; k = all->edges[k].next) {
    const CoreEdge* other = &all->edges[k];
    if (other->head != e->tail) continue;
    double across = vec3_dot(other->normal, outward_direction(e)); /* negative only by rounding */
    least = fmin(least, math_atan2(fmax(across, 0), vec3_dot(other->normal, e->normal)));
  }
  return least;
}

static CoreEdges create_edges(const ConvexHull* core) {
  bool segment = core->vertex_count == 2;
  CoreEdges all = {.count = segment ? 2 : 3 * core->triangle_count};
  all.edges = memory_alloc(sizeof *all.edges * (size_t)(all.count + 1));
  all.first = MEMORY_NEW(int, core->vertex_count);
  for (int i = 0; i < core->vertex_count; i++) all.first[i] = -1;
  for (int k = 0; k < all.count; k++) {
    CoreEdge* e = &all.edges[k];
    *e = (CoreEdge){.tail = k, .head = 1 - k};
    const int* t = segment ? NULL : core->triangles[k / 3];
    if (t) {
      e->tail = t[k % 3];
      e->head = t[(k + 1) % 3];
    }
    const Vec3* v = core->vertices;
    e->along = vec3_normalized(vec3_sub(v[e->head], v[e->tail]));
    e->normal = t ? vec3_normalized(vec3_cross(vec3_sub(v[t[1]], v[t[0]]), vec3_sub(v[t[2]], v[t[0]])))
                  : vec3_perpendicular(e->along);
    e->next = all.first[e->tail];
    all.first[e->tail] = k;
  }
  for (int k = 0; k < all.count; k++) all.edges[k].angle = segment ? 2 * M_PI : edge_angle(&all, &all.edges[k]);
  return all;
}

static void free_edges(CoreEdges* all) {
  memory_free(all->edges);
  memory_free(all->first);
}

/* Integrals of 1, u and u u^T over the outward unit directions u at a part of the core. A face has one direction, an
 * edge an arc of directions, a vertex a region of the sphere. */
typedef struct {
  double one;
  Vec3 first;
  Mat3 second;
} Directions;

static Mat3 symmetric_outer(Vec3 a, Vec3 b) { return mat3_add(mat3_outer(a, b), mat3_outer(b, a)); }

/* Adds the second moment of the rounded layer around a face, an edge or a vertex of the core. The layer consists of the
 * points y + t u, with y in the simplex corners (corner_count), 0 <= t <= radius and u in the directions. size: area,
 * length or 1. The moment is the integral of X X^T t^(k - 1) dt du dy, X = (y + t u, 1), for k = 4 - corner_count = 1
 * (face), 2 (edge), 3 (vertex). slope: true to add the derivative with respect to the radius. */
static void add_layer(MassMoment* sum, const Vec3* corners, int corner_count, double size, const Directions* u,
                      double radius, bool slope) {
  double total[4] = {0}, base[4][4] = {{0}}, power[3], weight = size / (corner_count * (corner_count + 1));
  int k = 4 - corner_count;
  for (int i = 0; i < 3; i++) {
    power[i] = 1;
    for (int n = slope ? 1 : 0; n < k + i; n++) power[i] *= radius;
    if (!slope) power[i] /= k + i;
  }
  for (int c = 0; c < corner_count; c++) {
    const double x[4] = {corners[c].x, corners[c].y, corners[c].z, 1};
    for (int i = 0; i < 4; i++) {
      total[i] += x[i];
      for (int j = 0; j < 4; j++) base[i][j] += weight * x[i] * x[j];
    }
  }
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) base[i][j] += weight * total[i] * total[j];
  const double first[4] = {u->first.x, u->first.y, u->first.z, 0};
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) {
      sum->s[i][j] += power[0] * u->one * base[i][j] + power[1] * (base[i][3] * first[j] + first[i] * base[j][3]);
      if (i < 3 && j < 3) sum->s[i][j] += power[2] * base[3][3] * u->second.m[i][j];
    }
}

/* Returns the directions at an edge: the arc from the normal of the left face to the normal of the right face. */
static Directions edge_directions(const CoreEdge* e) {
  double s = math_sin(e->angle), c = math_cos(e->angle);
  Vec3 n = e->normal, t = outward_direction(e);
  Mat3 second = mat3_add(mat3_scale(mat3_outer(n, n), 0.5 * (e->angle + s * c)),
                         mat3_scale(mat3_outer(t, t), 0.5 * (e->angle - s * c)));
  return (Directions){e->angle, vec3_add(vec3_scale(n, s), vec3_scale(t, 1 - c)),
                      mat3_add(second, mat3_scale(symmetric_outer(n, t), 0.5 * s * s))};
}

/* Returns the directions at a vertex: the spherical polygon of its outward normals. The area of the polygon is 2 pi
 * minus the faces' angles, and the integral of u follows from the divergence theorem. The integral of u u^T is set to
 * its multiple of the identity only, because the remainders cancel in the sum over all vertices. */
static Directions vertex_directions(const ConvexHull* core, const CoreEdges* all, int vertex) {
  Directions fan = {core->vertex_count == 1 ? 4 * M_PI : 2 * M_PI, {0, 0, 0}, mat3_zero()};
  for (int k = all->first[vertex]; k >= 0; k = all->edges[k].next) {
    const CoreEdge* e = &all->edges[k];
    fan.first = vec3_add_scaled(fan.first, -0.5 * e->angle, e->along);
    if (core->triangle_count == 0) continue;
    Vec3 back = vec3_scale(all->edges[k % 3 == 0 ? k + 2 : k - 1].along, -1);
    fan.one -= math_atan2(vec3_norm(vec3_cross(e->along, back)), vec3_dot(e->along, back));
  }
  fan.second = mat3_scale(mat3_identity(), fan.one / 3);
  return fan;
}

/* Adds the moment of the layer of thickness `radius` around the core. slope: true to add the derivative with respect to
 * the radius instead. */
static void add_layers(MassMoment* sum, const ConvexHull* core, const CoreEdges* all, double radius, bool slope) {
  const Vec3* v = core->vertices;
  for (int k = 0; k < core->triangle_count; k++) {
    const Vec3 corners[3] = {v[core->triangles[k][0]], v[core->triangles[k][1]], v[core->triangles[k][2]]};
    Vec3 n = all->edges[3 * k].normal;
    Directions up = {1, n, mat3_outer(n, n)};
    double area = 0.5 * vec3_norm(vec3_cross(vec3_sub(corners[1], corners[0]), vec3_sub(corners[2], corners[0])));
    add_layer(sum, corners, 3, area, &up, radius, slope);
  }
  for (int k = 0; k < all->count; k++) {
    const CoreEdge* e = &all->edges[k];
    if (e->tail > e->head) continue; /* every edge is processed once */
    const Vec3 ends[2] = {v[e->tail], v[e->head]};
    Directions arc = edge_directions(e);
    add_layer(sum, ends, 2, vec3_norm(vec3_sub(ends[1], ends[0])), &arc, radius, slope);
  }
  for (int i = 0; i < core->vertex_count; i++) {
    Directions fan = vertex_directions(core, all, i);
    add_layer(sum, &v[i], 1, 1, &fan, radius, slope);
  }
}

MassMoment rounded_core_moment(const ConvexHull* core, double radius, MassMoment* by_radius) {
  assert(core && core->vertex_count > 0 && radius >= 0);
  CoreEdges all = create_edges(core);
  MassMoment moment = core->triangle_count > 0 ? mass_moment_solid(core) : mass_moment_zero();
  add_layers(&moment, core, &all, radius, false);
  if (by_radius) {
    *by_radius = mass_moment_zero();
    add_layers(by_radius, core, &all, radius, true);
  }
  free_edges(&all);
  return moment;
}

typedef struct {
  Vec3* points;
  int count, capacity;
} Tessellation;

/* Adds the surface point in direction u from `place`. Skips the point if an equal point was added since index `first`.
 */
static void add_to_tessellation(Tessellation* made, Vec3 place, Vec3 u, double radius, int first) {
  Vec3 p = vec3_add_scaled(place, radius, u);
  for (int i = first; i < made->count; i++)
    if (vec3_norm(vec3_sub(made->points[i], p)) < NORMAL_TOLERANCE * radius) return;
  made->points = memory_grow_array(made->points, sizeof *made->points, made->count, &made->capacity);
  made->points[made->count++] = p;
}

HullResult rounded_core_tessellate(ConvexHull* hull, const ConvexHull* core, double radius, int segments) {
  assert(core && core->vertex_count > 0 && radius > 0);
  *hull = (ConvexHull){0};
  if (segments < 8 || segments > 4096) return HULL_FAILED;
  double step = 2 * M_PI / segments;
  int resolution = 0, ball_count;
  /* The triangles of the ball have sides of 63 degrees / 2^resolution, at most 1.5 times as long as the arcs of the
   * edges. */
  for (double side = 1.1072; resolution < 6 && side > 1.5 * step; side *= 0.5) resolution++;
  Vec3* ball = primitive_sphere_points(resolution, &ball_count);
  CoreEdges all = create_edges(core);
  Tessellation made = {0};
  for (int i = 0; i < core->vertex_count; i++) {
    int first = made.count;
    for (int k = all.first[i]; k >= 0; k = all.edges[k].next) {
      const CoreEdge* e = &all.edges[k];
      int arcs = (int)ceil(e->angle / step - 1e-9);
      for (int j = 0; j < arcs || j == 0; j++) {
        double angle = arcs > 0 ? j * e->angle / arcs : 0;
        Vec3 u = vec3_add_scaled(vec3_scale(e->normal, math_cos(angle)), math_sin(angle), outward_direction(e));
        add_to_tessellation(&made, core->vertices[i], u, radius, first);
      }
    }
    for (int b = 0; b < ball_count; b++) {
      bool within = true; /* true if the direction is an outward normal at the vertex and not near an arc */
      for (int k = all.first[i]; k >= 0 && within; k = all.edges[k].next)
        within = vec3_dot(ball[b], all.edges[k].along) < -0.25 * step;
      if (within) add_to_tessellation(&made, core->vertices[i], ball[b], radius, first);
    }
  }
  HullResult result = hull_create(hull, made.points, made.count);
  memory_free(made.points);
  free_edges(&all);
  memory_free(ball);
  return result;
}
