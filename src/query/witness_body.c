/* Bodies of witness queries: convex pieces with sample points on their surface. */
#include <assert.h>
#include <string.h>
#include "query/query.h"

/* Increments of the R2 low-discrepancy sequence over a triangle: powers of the inverse of the plastic number. */
#define R2_FIRST 0.7548776662466927
#define R2_SECOND 0.5698402909980532
/* A point is inside a piece if it lies at least this far behind all faces of the piece, relative to the body's
 * diagonal. */
#define INSIDE_DEPTH 1e-6

static ConvexHull copy_hull(const ConvexHull* hull) {
  ConvexHull out = {MEMORY_NEW(Vec3, hull->vertex_count), hull->vertex_count,
                    (int(*)[3])MEMORY_NEW(int, 3 * hull->triangle_count), hull->triangle_count};
  memcpy(out.vertices, hull->vertices, sizeof(Vec3) * (size_t)hull->vertex_count);
  memcpy(out.triangles, hull->triangles, sizeof(int[3]) * (size_t)hull->triangle_count);
  return out;
}

/* Builds the adjacency lists of a piece. A closed surface contains every edge once in each direction. The neighbours of
 * a vertex are therefore the ends of the edges that begin at the vertex. */
static void find_neighbors(WitnessPiece* piece) {
  const ConvexHull* hull = &piece->hull;
  int* first = piece->neighbor_first = MEMORY_NEW(int, hull->vertex_count + 2);
  piece->neighbors = MEMORY_NEW(int, 3 * hull->triangle_count);
  for (int i = 0; i < hull->triangle_count; i++)
    for (int k = 0; k < 3; k++) first[hull->triangles[i][k] + 2]++;
  for (int v = 0; v < hull->vertex_count; v++) first[v + 2] += first[v + 1];
  for (int i = 0; i < hull->triangle_count; i++)
    for (int k = 0; k < 3; k++) piece->neighbors[first[hull->triangles[i][k] + 1]++] = hull->triangles[i][(k + 1) % 3];
}

static WitnessPiece create_piece(const ConvexHull* hull) {
  WitnessPiece out = {.hull = copy_hull(hull), .points = point_view_create(hull->vertices, hull->vertex_count)};
  Vec3 low = hull->vertices[0], high = low;
  for (int i = 1; i < hull->vertex_count; i++) {
    low = vec3_min(low, hull->vertices[i]);
    high = vec3_max(high, hull->vertices[i]);
  }
  out.center = vec3_scale(vec3_add(low, high), 0.5);
  for (int i = 0; i < hull->vertex_count; i++)
    out.radius = fmax(out.radius, vec3_norm(vec3_sub(hull->vertices[i], out.center)));
  find_neighbors(&out);
  return out;
}

Vec3 witness_area_vector(const ConvexHull* hull, int i) {
  assert(i >= 0 && i < hull->triangle_count);
  Vec3 a = hull->vertices[hull->triangles[i][0]];
  return vec3_cross(vec3_sub(hull->vertices[hull->triangles[i][1]], a),
                    vec3_sub(hull->vertices[hull->triangles[i][2]], a));
}

static bool is_inside_hull(const ConvexHull* hull, Vec3 point, double deep) {
  for (int i = 0; i < hull->triangle_count; i++) {
    Vec3 n = vec3_normalized(witness_area_vector(hull, i));
    if (vec3_dot(n, vec3_sub(point, hull->vertices[hull->triangles[i][0]])) > -deep) return false;
  }
  return true;
}

bool witness_is_inside_other_piece(const WitnessBody* body, int piece, Vec3 point) {
  for (int p = 0; p < body->piece_count; p++)
    if (p != piece && vec3_norm(vec3_sub(point, body->pieces[p].center)) < body->pieces[p].radius &&
        is_inside_hull(&body->pieces[p].hull, point, INSIDE_DEPTH * body->diagonal))
      return true;
  return false;
}

/* Adds a sample point of the surface of one piece, unless the point lies inside another piece. origin: vertex v of the
 * piece, or -1 - t for triangle t. */
static void add_sample(WitnessBody* body, int piece, int origin, Vec3 point, Vec3 normal) {
  if (witness_is_inside_other_piece(body, piece, point)) return;
  body->origins[body->count][0] = piece;
  body->origins[body->count][1] = origin;
  body->points[body->count] = point;
  body->normals[body->count++] = normal;
}

/* Adds up to `count_max` vertices as samples, distributed evenly over all pieces. */
static void sample_vertices(WitnessBody* body, int count_max) {
  int total = 0, at = 0;
  for (int p = 0; p < body->piece_count; p++) total += body->pieces[p].hull.vertex_count;
  int wanted = total < count_max ? total : count_max;
  for (int p = 0; p < body->piece_count; p++) {
    const ConvexHull* hull = &body->pieces[p].hull;
    Vec3* normal = MEMORY_NEW(Vec3, hull->vertex_count);
    for (int i = 0; i < hull->triangle_count; i++)
      for (int k = 0; k < 3; k++) {
        Vec3* n = &normal[hull->triangles[i][k]];
        *n = vec3_add(*n, vec3_normalized(witness_area_vector(hull, i)));
      }
    for (int v = 0; v < hull->vertex_count; v++, at++)
      if ((int64_t)(at + 1) * wanted / total > (int64_t)at * wanted / total)
        add_sample(body, p, v, hull->vertices[v], vec3_normalized(normal[v]));
    memory_free(normal);
  }
  body->corners = body->count;
}

Vec3 witness_point_on_triangle(const ConvexHull* hull, int i, double u, double v) {
  double s = u + v > 1 ? 1 - u : u, t = u + v > 1 ? 1 - v : v;
  Vec3 a = hull->vertices[hull->triangles[i][0]], b = hull->vertices[hull->triangles[i][1]],
       c = hull->vertices[hull->triangles[i][2]];
  return vec3_add_scaled(vec3_add_scaled(a, s, vec3_sub(b, a)), t, vec3_sub(c, a));
}

/* Adds `count` sample points on the faces of all pieces, distributed evenly by area. The R2 low-discrepancy sequence
 * gives the position within a triangle. total: twice the area of all triangles. Sets body->spacing. */
static void sample_faces(WitnessBody* body, int count, double total) {
  double passed = 0, u = 0.5, v = 0.5, covered = 0;
  int taken = 0;
  for (int p = 0; p < body->piece_count; p++) {
    const ConvexHull* hull = &body->pieces[p].hull;
    for (int i = 0; i < hull->triangle_count; i++) {
      Vec3 area = witness_area_vector(hull, i);
      passed += vec3_norm(area);
      for (; taken < count && (taken + 0.5) / count * total < passed; taken++) {
        u = fmod(u + R2_FIRST, 1);
        v = fmod(v + R2_SECOND, 1);
        int before = body->count;
        add_sample(body, p, -1 - i, witness_point_on_triangle(hull, i, u, v), vec3_normalized(area));
        covered += body->count > before ? total / count : 0;
      }
    }
  }
  body->spacing = 2 * sqrt(WITNESS_SAMPLES * 0.5 * covered / (3.14159265358979323846 * body->count));
}

double witness_twice_surface_area(const WitnessBody* body) {
  double sum = 0;
  for (int p = 0; p < body->piece_count; p++)
    for (int i = 0; i < body->pieces[p].hull.triangle_count; i++)
      sum += vec3_norm(witness_area_vector(&body->pieces[p].hull, i));
  return sum;
}

WitnessBody witness_body_create(const ConvexHull* hulls, int count, int samples) {
  assert(samples >= 2 * WITNESS_SAMPLES);
  assert(hulls && count > 0 && samples > 0);
  WitnessBody body = {.pieces = MEMORY_NEW(WitnessPiece, count),
                      .piece_count = count,
                      .points = MEMORY_NEW(Vec3, samples),
                      .normals = MEMORY_NEW(Vec3, samples),
                      .origins = (int(*)[2])MEMORY_NEW(int, 2 * samples)};
  Vec3 low = hulls[0].vertices[0], high = low;
  for (int p = 0; p < count; p++) {
    body.pieces[p] = create_piece(&hulls[p]);
    for (int i = 0; i < hulls[p].vertex_count; i++) {
      low = vec3_min(low, hulls[p].vertices[i]);
      high = vec3_max(high, hulls[p].vertices[i]);
    }
  }
  body.diagonal = vec3_norm(vec3_sub(high, low));
  sample_vertices(&body, samples / 2);
  sample_faces(&body, samples - body.count, witness_twice_surface_area(&body));
  return body;
}

void witness_body_free(WitnessBody* body) {
  for (int p = 0; p < body->piece_count; p++) {
    WitnessPiece* piece = &body->pieces[p];
    hull_free(&piece->hull);
    point_view_free(&piece->points);
    memory_free(piece->neighbor_first);
    memory_free(piece->neighbors);
  }
  memory_free(body->pieces);
  memory_free(body->points);
  memory_free(body->normals);
  memory_free(body->origins);
  *body = (WitnessBody){0};
}
