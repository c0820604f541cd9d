/* Penetration depth of overlapping convex bodies a and b with proven bounds (H6). A polytope inside the Minkowski
 * difference A - B is refined at its face nearest to the origin. A heap orders the faces by distance.
 * docs/derivations/growth.md */
#include <assert.h>

#include "query/deep.h"

/* A face is visible from a point that lies beyond the face's plane by more than this value, relative to the size of A -
 * B. */
#define VISIBILITY_TOLERANCE 1e-13
/* A face is rejected if twice its area is below this value, relative to the squared size, because its normal is then
 * dominated by rounding. */
#define AREA_MIN 1e-13
enum { DEEP_FACES = 8 * DEPTH_POINTS_MAX };

typedef struct {
  Vec3 normal;
  double height;              /* signed distance of the plane from the origin [m] */
  int corner[3], neighbor[3]; /* neighbor[k]: neighbouring face at the edge from corner k to the next corner */
  bool is_removed;
} DeepFace;

typedef struct {
  double height;
  int face;
} DeepEntry;

typedef struct {
  const ConvexBody* body;
  const Pose* pose;
  double core; /* sum of the core radii of both bodies [m] (core_radius), which minkowski_support subtracts */
  Vec3* point;
  DeepFace* face;
  DeepEntry* heap;   /* min-heap by height; removed faces stay in it until popped */
  int* stack;        /* faces that remove_visible_faces still has to visit */
  int (*horizon)[3]; /* edges around the visible faces: first vertex, second vertex, face outside */
  int* rim_at;       /* for each point: index of the rim edge that begins there */
  int points, faces, entries, rims;
  double size;
} RefinedPolytope;

/* Returns the radius [m] of a ball such that the body is the Minkowski sum of a convex body and this ball. For an
 * ellipsoid this is the least radius of curvature. Returns 0 for every other shape. */
static double core_radius(const ConvexBody* body) {
  const Shape* s = body->shape;
  if (!s || s->kind != SMOOTH_SUPERELLIPSOID || s->exponent != 1) return 0;
  double least = fmin(s->size[0], fmin(s->size[1], s->size[2])), most = fmax(s->size[0], fmax(s->size[1], s->size[2]));
  return least * least / most;
}

/* Returns the support point of A - B along the unit direction n, moved inward by d->core. */
static Vec3 minkowski_support(const RefinedPolytope* d, Vec3 n) {
  Vec3 whole = vec3_sub(convex_support_point(&d->body[0], d->pose[0], n),
                        convex_support_point(&d->body[1], d->pose[1], vec3_scale(n, -1)));
  return vec3_add_scaled(whole, -d->core, n);
}

static void push_face(RefinedPolytope* d, int face) {
  DeepEntry entry = {d->face[face].height, face};
  int at = d->entries++;
  for (; at > 0 && d->heap[(at - 1) / 2].height > entry.height; at = (at - 1) / 2) d->heap[at] = d->heap[(at - 1) / 2];
  d->heap[at] = entry;
}

static void pop_face(RefinedPolytope* d) {
  DeepEntry last = d->heap[--d->entries];
  int at = 0;
  for (int child = 1; child < d->entries; child = 2 * at + 1) {
    if (child + 1 < d->entries && d->heap[child + 1].height < d->heap[child].height) child++;
    if (!(d->heap[child].height < last.height)) break;
    d->heap[at] = d->heap[child];
    at = child;
  }
  d->heap[at] = last;
}

/* Returns the index of the polytope's face nearest to the origin, or -1 if there is none. */
static int find_lowest_face(RefinedPolytope* d) {
  while (d->entries > 0 && d->face[d->heap[0].face].is_removed) pop_face(d);
  return d->entries > 0 ? d->heap[0].face : -1;
}

static bool add_face(RefinedPolytope* d, int a, int b, int c) {
  Vec3 normal = vec3_cross(vec3_sub(d->point[b], d->point[a]), vec3_sub(d->point[c], d->point[a]));
  double area = vec3_norm(normal);
  if (!(area > AREA_MIN * d->size * d->size)) return false;
  DeepFace* face = &d->face[d->faces];
  *face = (DeepFace){.normal = vec3_scale(normal, 1 / area), .corner = {a, b, c}};
  face->height = vec3_dot(face->normal, d->point[a]);
  push_face(d, d->faces++);
  return true;
}

static void connect_faces(RefinedPolytope* d, int from, int to, int face, int other) {
  for (int k = 0; k < 3; k++)
    if (d->face[face].corner[k] == from && d->face[face].corner[(k + 1) % 3] == to) d->face[face].neighbor[k] = other;
}

/* Creates the initial polytope, the hull of the support points in 26 directions. Returns false if there is no hull or a
 * face is degenerate. */
static bool create_initial_polytope(RefinedPolytope* d) {
  Vec3 place[26];
  int count = 0;
  for (int i = 0; i < 27; i++) {
    Vec3 direction = vec3(i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1); /* NOLINT(bugprone-integer-division) */
    if (i != 13) place[count++] = minkowski_support(d, vec3_normalized(direction));
  }
  for (int i = 0; i < count; i++) d->size = fmax(d->size, vec3_norm(place[i]));
  ConvexHull hull;
  if (hull_create(&hull, place, count) != HULL_OK) return false;
  bool good = true;
  for (int i = 0; i < hull.vertex_count; i++) d->point[d->points++] = hull.vertices[i];
  for (int i = 0; i < hull.triangle_count && good; i++)
    good = add_face(d, hull.triangles[i][0], hull.triangles[i][1], hull.triangles[i][2]);
  for (int i = 0; i < 3 * hull.triangle_count && good; i++)
    for (int j = 0; j < hull.triangle_count; j++)
      connect_faces(d, hull.triangles[i / 3][(i + 1) % 3], hull.triangles[i / 3][i % 3], j, i / 3);
  hull_free(&hull);
  return good;
}

static bool is_visible_from(const RefinedPolytope* d, int face, Vec3 point) {
  return vec3_dot(d->face[face].normal, point) > d->face[face].height + VISIBILITY_TOLERANCE * d->size;
}

/* Removes all faces visible from a point and collects the edges around them in d->horizon. first: a visible face. */
static void remove_visible_faces(RefinedPolytope* d, int first, Vec3 point) {
  int count = 0;
  d->rims = 0;
  d->face[first].is_removed = true;
  d->stack[count++] = first;
  while (count > 0) {
    int f = d->stack[--count];
    for (int k = 0; k < 3; k++) {
      int other = d->face[f].neighbor[k];
      if (d->face[other].is_removed) continue;
      if (is_visible_from(d, other, point)) {
        d->face[other].is_removed = true;
        d->stack[count++] = other;
      } else {
        int* edge = d->horizon[d->rims++];
        edge[0] = d->face[f].corner[k];
        edge[1] = d->face[f].corner[(k + 1) % 3];
        edge[2] = other;
      }
    }
  }
}

/* Adds a point to the polytope and joins it to every rim edge by a new face. Drops rim edges whose outer face was
 * removed later. Returns false if the remaining rim edges are not a single loop, or if a new face has no area. */
static bool add_point_to_polytope(RefinedPolytope* d, Vec3 point) {
  int kept = 0, first = d->faces, last = d->points;
  for (int i = 0; i < d->rims; i++) {
    if (d->face[d->horizon[i][2]].is_removed) continue;
    for (int k = 0; k < 3; k++) d->horizon[kept][k] = d->horizon[i][k];
    d->rim_at[d->horizon[kept][0]] = kept;
    kept++;
  }
  if (kept < 3 || d->faces + kept > DEEP_FACES) return false;
  d->point[d->points++] = point;
  for (int i = 0; i < kept; i++) {
    if (!add_face(d, d->horizon[i][0], d->horizon[i][1], last)) return false;
    d->face[first + i].neighbor[0] = d->horizon[i][2];
    connect_faces(d, d->horizon[i][1], d->horizon[i][0], d->horizon[i][2], first + i);
  }
  int at = 0, walked = 0;
  do { /* along the loop */
    int next = d->rim_at[d->horizon[at][1]];
    if (next < 0 || next >= kept || d->horizon[next][0] != d->horizon[at][1]) return false;
    d->face[first + at].neighbor[1] = first + next;
    d->face[first + next].neighbor[2] = first + at;
    at = next;
  } while (++walked < kept && at != 0);
  return at == 0 && walked == kept;
}

/* Refines the polytope until the bounds are sufficiently tight. The height of the lowest face is a lower bound of the
 * depth, because the polytope lies inside A - B. The support value in any direction is an upper bound. */
static void refine(RefinedPolytope* d, double width_max, DepthBounds* out) {
  while (d->points < DEPTH_POINTS_MAX && out->high - out->low > width_max) {
    int face = find_lowest_face(d);
    if (face < 0) return;
    Vec3 n = d->face[face].normal, point = minkowski_support(d, n);
    double height = d->face[face].height, reach = vec3_dot(point, n);
    if (height >= 0) out->low = fmax(out->low, height + d->core); /* the origin lies inside the polytope */
    if (reach + d->core < out->high) {
      out->high = reach + d->core;
      out->normal = n;
    }
    if (!is_visible_from(d, face, point)) return;
    remove_visible_faces(d, face, point);
    if (!add_point_to_polytope(d, point)) return;
  }
}

static void refine_bounds(const ConvexBody body[2], const Pose pose[2], double core, double width_max,
                          DepthBounds* out) {
  RefinedPolytope d = {.body = body, .pose = pose, .core = core};
  d.point = MEMORY_NEW(Vec3, DEPTH_POINTS_MAX + 64);
  d.face = MEMORY_NEW(DeepFace, DEEP_FACES);
  d.heap = MEMORY_NEW(DeepEntry, DEEP_FACES);
  d.stack = MEMORY_NEW(int, DEEP_FACES);
  d.horizon = (int(*)[3])MEMORY_NEW(int, 3 * DEEP_FACES);
  d.rim_at = MEMORY_NEW(int, DEPTH_POINTS_MAX + 64);
  if (create_initial_polytope(&d)) refine(&d, width_max, out);
  memory_free(d.point);
  memory_free(d.face);
  memory_free(d.heap);
  memory_free(d.stack);
  memory_free(d.horizon);
  memory_free(d.rim_at);
}

bool depth_bounds(const ConvexBody body[2], const Pose pose[2], double width_max, DepthBounds* out) {
  assert(!(width_max < 0));
  const double core[2] = {core_radius(&body[0]), core_radius(&body[1])};
  DepthBounds found = {0, HUGE_VAL, {0, 0, 1}};
  if (core[0] > 0 && core[1] > 0 && core[0] == body[0].shape->outer &&
      core[1] == body[1].shape->outer) { /* both bodies are balls */
    Vec3 apart = vec3_sub(pose[1].t, pose[0].t);
    double length = vec3_norm(apart);
    found.low = found.high = core[0] + core[1] - length;
    if (length > 0) found.normal = vec3_scale(apart, 1 / length);
  } else if (core[0] + core[1] > 0) {
    refine_bounds(body, pose, core[0] + core[1], width_max, &found);
  }
  if (found.high - found.low > width_max) refine_bounds(body, pose, 0, width_max, &found);
  if (!isfinite(found.high)) return false;
  *out = found;
  return true;
}
