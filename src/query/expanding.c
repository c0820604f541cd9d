/* Penetration depth by an expanding polytope (EPA) in fixed-size arrays. The polytope lies inside the Minkowski
 * difference C = A - B of the hulls, and the depth is the distance of the origin from the surface of C.
 * hull_penetration (geometry/penetration.c) is the slower reference, which rebuilds the hull in every iteration. */
#include <assert.h>
#include "query/expanding.h"

enum { POINTS_MAX = 160, FACES_MAX = 640, VISIBLE_MAX = 96 };
/* A face of the polytope is a face of C if no vertex of C lies beyond the face by more than this value, relative to the
 * size of C. */
#define FACE_TOLERANCE 1e-13
/* A face is visible from a point that lies beyond the face's plane by more than this value, relative to the size of
 * C. */
#define VISIBILITY_TOLERANCE (0.25 * FACE_TOLERANCE)
/* A face is rejected if twice its area is below this value, relative to the squared size, because its normal is then
 * dominated by rounding. */
#define AREA_TOLERANCE 1e-13

typedef struct {
  Vec3 normal;   /* unit normal of the face, pointing out of the polytope */
  double height; /* signed distance of the plane from the origin [m] */
  int corner[3]; /* indices of the face's points, counter-clockwise seen from outside */
} PolytopeFace;

typedef struct {
  PointView a, b;
  Pose pose_a, pose_b; /* relative to B's origin, which avoids cancellation between large coordinates */
  Vec3 point[POINTS_MAX];
  PolytopeFace face[FACES_MAX];
  int points, faces;
  double size; /* largest |point| [m] */
} ExpandingPolytope;

static Vec3 farthest(PointView view, Pose pose, Vec3 direction) {
  double height;
  return pose_apply(pose, point_at(view, support_index(view, mat3_tmul_vec(pose.r, direction), &height)));
}

static bool add_point(ExpandingPolytope* e, Vec3 point) {
  if (e->points == POINTS_MAX) return false;
  e->point[e->points++] = point;
  e->size = fmax(e->size, vec3_norm(point));
  return true;
}

static bool add_face(ExpandingPolytope* e, int a, int b, int c) {
  if (e->faces == FACES_MAX) return false;
  Vec3 normal = vec3_cross(vec3_sub(e->point[b], e->point[a]), vec3_sub(e->point[c], e->point[a]));
  double area = vec3_norm(normal);
  if (!(area > AREA_TOLERANCE * e->size * e->size)) return false;
  PolytopeFace* face = &e->face[e->faces++];
  face->normal = vec3_scale(normal, 1 / area);
  face->height = vec3_dot(face->normal, e->point[a]);
  face->corner[0] = a, face->corner[1] = b, face->corner[2] = c;
  return true;
}

/* Creates the initial polytope from GJK's final simplex, a tetrahedron that contains the origin. Returns false if the
 * simplex is not a tetrahedron or a face is degenerate. */
static bool create_initial_polytope(ExpandingPolytope* e, const GjkCache* simplex) {
  if (simplex->count != 4) return false;
  for (int i = 0; i < 4; i++)
    add_point(e, vec3_sub(pose_apply(e->pose_a, point_at(e->a, simplex->a[i])),
                          pose_apply(e->pose_b, point_at(e->b, simplex->b[i]))));
  Vec3 side[3];
  for (int k = 0; k < 3; k++) side[k] = vec3_sub(e->point[k + 1], e->point[0]);
  bool turned = vec3_dot(vec3_cross(side[0], side[1]), side[2]) > 0;
  static const int faces[4][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 1}, {1, 3, 2}};
  for (int k = 0; k < 4; k++) {
    const int* f = faces[k];
    if (!(turned ? add_face(e, f[0], f[2], f[1]) : add_face(e, f[0], f[1], f[2]))) return false;
  }
  return true;
}

static bool is_edge_in_list(const int (*edge)[2], int count, int from, int to) {
  for (int i = 0; i < count; i++)
    if (edge[i][0] == from && edge[i][1] == to) return true;
  return false;
}

/* Replaces the faces visible from the last point by faces that join the point to the rim of the visible region. Returns
 * false if the rim is not a single loop (two edges begin at one vertex), a face is degenerate or an array is full. */
static bool replace_visible_faces(ExpandingPolytope* e) {
  int edge[3 * VISIBLE_MAX][2], edges = 0, last = e->points - 1, kept = 0;
  for (int f = 0; f < e->faces; f++) {
    const PolytopeFace* face = &e->face[f];
    if (!(vec3_dot(face->normal, e->point[last]) > face->height + VISIBILITY_TOLERANCE * e->size)) {
      e->face[kept++] = *face;
      continue;
    }
    if (edges == 3 * VISIBLE_MAX) return false;
    for (int k = 0; k < 3; k++, edges++) {
      edge[edges][0] = face->corner[k];
      edge[edges][1] = face->corner[(k + 1) % 3];
    }
  }
  e->faces = kept;
  bool met[POINTS_MAX] = {false};
  for (int i = 0; i < edges; i++) {
    if (is_edge_in_list(edge, edges, edge[i][1], edge[i][0])) continue;
    if (met[edge[i][0]] || !add_face(e, edge[i][0], edge[i][1], last)) return false;
    met[edge[i][0]] = true;
  }
  return true;
}

static const PolytopeFace* find_lowest_face(const ExpandingPolytope* e) {
  int best = 0;
  for (int f = 1; f < e->faces; f++)
    if (e->face[f].height < e->face[best].height) best = f;
  return &e->face[best];
}

double hull_depth(PointView a, Pose pose_a, PointView b, Pose pose_b, const GjkCache* simplex, Vec3* normal) {
  assert(a.count > 0 && b.count > 0 && normal);
  ExpandingPolytope e;
  e.a = a, e.b = b, e.pose_a = pose_a, e.pose_b = pose_b;
  e.pose_a.t = vec3_sub(pose_a.t, pose_b.t);
  e.pose_b.t = vec3(0, 0, 0);
  e.points = e.faces = 0;
  e.size = 0;
  if (!create_initial_polytope(&e, simplex)) return -1;
  while (e.faces > 0) {
    *normal = find_lowest_face(&e)->normal;
    double height = find_lowest_face(&e)->height;
    Vec3 beyond = vec3_sub(farthest(a, e.pose_a, *normal), farthest(b, e.pose_b, vec3_scale(*normal, -1)));
    double reach = vec3_dot(beyond, *normal);
    if (height < -FACE_TOLERANCE * e.size) return -1; /* the origin lies outside, because of rounding */
    if (reach <= height + FACE_TOLERANCE * e.size) return reach;
    if (!add_point(&e, beyond) || !replace_visible_faces(&e)) return -1;
  }
  return -1;
}
