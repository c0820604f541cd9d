/* Flat faces of a hull. Triangles that share an edge and a plane form one face. */
#include <stdlib.h>

#include "geometry/geometry.h"

/* Two triangles count as coplanar if no corner is farther than this from the plane of the other triangle, relative to
 * the hull's size. The value is above the rounding of moved points and below any intended bend. */
#define COPLANAR_TOLERANCE 1e-11

typedef struct {
  int low, high; /* vertices */
  int triangle;
} TriangleEdge;

static int compare_edges(const void* left, const void* right) {
  const TriangleEdge *a = left, *b = right;
  if (a->low != b->low) return a->low < b->low ? -1 : 1;
  if (a->high != b->high) return a->high < b->high ? -1 : 1;
  return (a->triangle > b->triangle) - (a->triangle < b->triangle);
}

static double hull_extent_bound(const ConvexHull* hull) {
  double square = 0;
  for (int i = 1; i < hull->vertex_count; i++) {
    Vec3 d = vec3_sub(hull->vertices[i], hull->vertices[0]);
    square = fmax(square, vec3_dot(d, d));
  }
  return sqrt(square);
}

/* Returns true if all corners of triangle b lie in the plane of triangle a, and both normals point to the same side. */
static bool are_coplanar(const ConvexHull* hull, int a, int b, double height) {
  const int *s = hull->triangles[a], *t = hull->triangles[b];
  const Vec3* x = hull->vertices;
  Vec3 n = vec3_cross(vec3_sub(x[s[1]], x[s[0]]), vec3_sub(x[s[2]], x[s[0]]));
  Vec3 m = vec3_cross(vec3_sub(x[t[1]], x[t[0]]), vec3_sub(x[t[2]], x[t[0]]));
  double most = height * vec3_norm(n);
  for (int k = 0; k < 3; k++)
    if (!(fabs(vec3_dot(n, vec3_sub(x[t[k]], x[s[0]]))) <= most)) return false;
  return vec3_dot(n, m) > 0;
}

static void join_coplanar(const ConvexHull* hull, int* root) {
  int count = 3 * hull->triangle_count;
  double height = COPLANAR_TOLERANCE * hull_extent_bound(hull);
  TriangleEdge* sides = MEMORY_NEW(TriangleEdge, count);
  for (int i = 0; i < count; i++) {
    int a = hull->triangles[i / 3][i % 3], b = hull->triangles[i / 3][(i + 1) % 3];
    sides[i] = (TriangleEdge){a < b ? a : b, a < b ? b : a, i / 3};
  }
  qsort(sides, (size_t)count, sizeof *sides, compare_edges);
  for (int i = 0; i + 1 < count; i++) {
    if (sides[i].low != sides[i + 1].low || sides[i].high != sides[i + 1].high) continue;
    int a = sides[i].triangle, b = sides[i + 1].triangle;
    if (are_coplanar(hull, a, b, height) && are_coplanar(hull, b, a, height)) disjoint_sets_unite(root, a, b);
  }
  memory_free(sides);
}

/* Sorts the triangles by face, in the order of the first triangle of each face. Sets order (count) to the sorted
 * triangles, and first (faces + 1) to the position of each face in order. Returns the number of faces. */
static int order_triangles(int* root, int count, int* order, int* first) {
  int *face = MEMORY_NEW(int, count + 1), faces = 0;
  for (int i = 0; i < count; i++) face[i] = -1;
  for (int i = 0; i < count; i++) {
    int r = disjoint_sets_find(root, i);
    if (face[r] < 0) face[r] = faces++;
    first[face[r] + 1]++;
  }
  for (int f = 0; f < faces; f++) first[f + 1] += first[f];
  int* next = MEMORY_NEW(int, faces + 1);
  for (int f = 0; f < faces; f++) next[f] = first[f];
  for (int i = 0; i < count; i++) order[next[face[disjoint_sets_find(root, i)]]++] = i;
  memory_free(next);
  memory_free(face);
  return faces;
}

/* Appends the corners of a face, each once. seen[vertex]: last face that contained the vertex. */
static void append_corners(FlatFaces* out, const ConvexHull* hull, const int* triangles, int count, int* seen) {
  int face = out->count, at = out->corner_first[face];
  for (int i = 0; i < count; i++)
    for (int k = 0; k < 3; k++) {
      int v = hull->triangles[triangles[i]][k];
      if (seen[v] == face) continue;
      seen[v] = face;
      out->corners[at++] = v;
    }
  out->corner_first[face + 1] = at;
}

static bool has_edge(const int* triangle, int a, int b) {
  for (int k = 0; k < 3; k++)
    if (triangle[k] == a && triangle[(k + 1) % 3] == b) return true;
  return false;
}

/* Appends the boundary edges of a face: edges whose opposite edge does not occur in the face. chain and head list the
 * triangles at each vertex, so that faces of many triangles are searched fast. */
static void append_boundary(FlatFaces* out, const ConvexHull* hull, const int* triangles, int count, int* chain,
                            int* head) {
  int face = out->count, at = out->edge_first[face];
  for (int i = 0; i < count; i++)
    for (int k = 0; k < 3; k++) head[hull->triangles[triangles[i]][k]] = -1;
  for (int i = 0; i < count; i++)
    for (int k = 0; k < 3; k++) {
      int v = hull->triangles[triangles[i]][k];
      chain[3 * i + k] = head[v];
      head[v] = 3 * i + k;
    }
  for (int i = 0; i < count; i++)
    for (int k = 0; k < 3; k++) {
      int a = hull->triangles[triangles[i]][k], b = hull->triangles[triangles[i]][(k + 1) % 3];
      bool inner = false;
      for (int c = head[b]; c >= 0 && !inner; c = chain[c]) inner = has_edge(hull->triangles[triangles[c / 3]], b, a);
      if (inner) continue;
      out->edges[at][0] = a;
      out->edges[at++][1] = b;
    }
  out->edge_first[face + 1] = at;
}

void flat_faces_create(FlatFaces* out, const ConvexHull* hull) {
  int count = hull->triangle_count;
  *out = (FlatFaces){.edges = memory_alloc(sizeof *out->edges * (size_t)(3 * count + 1)),
                     .edge_first = MEMORY_NEW(int, count + 1),
                     .corners = MEMORY_NEW(int, 3 * count + 1),
                     .corner_first = MEMORY_NEW(int, count + 1)};
  int *root = MEMORY_NEW(int, count + 1), *order = MEMORY_NEW(int, count + 1), *first = MEMORY_NEW(int, count + 2);
  int *seen = MEMORY_NEW(int, hull->vertex_count + 1), *chain = MEMORY_NEW(int, 3 * count + 1);
  int* head = MEMORY_NEW(int, hull->vertex_count + 1);
  for (int i = 0; i < hull->vertex_count; i++) seen[i] = -1;
  disjoint_sets_init(root, count);
  join_coplanar(hull, root);
  int faces = order_triangles(root, count, order, first);
  for (; out->count < faces; out->count++) {
    append_corners(out, hull, order + first[out->count], first[out->count + 1] - first[out->count], seen);
    append_boundary(out, hull, order + first[out->count], first[out->count + 1] - first[out->count], chain, head);
  }
  memory_free(root);
  memory_free(order);
  memory_free(first);
  memory_free(seen);
  memory_free(chain);
  memory_free(head);
}

void flat_faces_free(FlatFaces* faces) {
  memory_free(faces->edges);
  memory_free(faces->edge_first);
  memory_free(faces->corners);
  memory_free(faces->corner_first);
  *faces = (FlatFaces){0};
}
