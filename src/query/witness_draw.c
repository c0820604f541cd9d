/* Random surface points of bodies, and random pairs that can be brought into contact. */
#include <assert.h>
#include "query/witness.h"

/* Largest number of random draws until a point lies outside of all other pieces, or until a pair of points can be
 * brought into contact. */
enum { DRAW_LIMIT = 1000 };
/* Weight of all faces together in the choice of a random point. Each vertex has the weight 1. */
enum { FACES_WEIGHT = 512 };
/* A pair of surface points can be brought into contact if the nearest points of the bodies lie near the pair. The
 * bodies are placed so that the points coincide with opposite normals. The distances of the two nearest points from the
 * coincident point must sum to less than this [m]. */
#define CONTACT_DISTANCE 0.01

/* A surface point in the body frame: a vertex, or a point of a face. normal: unit outward normal; at a vertex, the
 * normalized mean of the normals of the adjacent triangles. */
typedef struct {
  int piece;
  Vec3 point, normal;
} SurfacePoint;

static Vec3 vertex_normal(const ConvexHull* hull, int corner) {
  Vec3 sum = {0, 0, 0};
  for (int i = 0; i < hull->triangle_count; i++)
    for (int k = 0; k < 3; k++)
      if (hull->triangles[i][k] == corner) sum = vec3_add(sum, vec3_normalized(witness_area_vector(hull, i)));
  return vec3_normalized(sum);
}

static int count_vertices(const WitnessBody* body) {
  int total = 0;
  for (int p = 0; p < body->piece_count; p++) total += body->pieces[p].hull.vertex_count;
  return total;
}

static SurfacePoint draw_vertex(const WitnessBody* body, Random* random) {
  int at = (int)random_uniform(random, 0, count_vertices(body)), piece = 0;
  for (; at >= body->pieces[piece].hull.vertex_count; ++piece) at -= body->pieces[piece].hull.vertex_count;
  const ConvexHull* hull = &body->pieces[piece].hull;
  return (SurfacePoint){piece, hull->vertices[at], vertex_normal(hull, at)};
}

static SurfacePoint draw_on_face(const WitnessBody* body, Random* random) {
  double wanted = random_uniform(random, 0, witness_twice_surface_area(body)), u = random_uniform(random, 0, 1),
         v = random_uniform(random, 0, 1);
  for (int piece = 0; piece < body->piece_count; ++piece) {
    const ConvexHull* hull = &body->pieces[piece].hull;
    for (int i = 0; i < hull->triangle_count; i++) {
      Vec3 area = witness_area_vector(hull, i);
      wanted -= vec3_norm(area);
      if (wanted < 0) return (SurfacePoint){piece, witness_point_on_triangle(hull, i, u, v), vec3_normalized(area)};
    }
  }
  return draw_vertex(body, random); /* reached only by rounding */
}

static SurfacePoint draw_surface_point(const WitnessBody* body, Random* random, bool corner) {
  SurfacePoint place = {0, {0, 0, 0}, {0, 0, 0}};
  for (int draw = 0; draw < DRAW_LIMIT; draw++) {
    place = corner ? draw_vertex(body, random) : draw_on_face(body, random);
    if (!witness_is_inside_other_piece(body, place.piece, place.point)) break;
  }
  return place;
}

Vec3 witness_random_point(const WitnessBody* body, Random* random) {
  assert(body->piece_count > 0);
  int corners = count_vertices(body);
  return draw_surface_point(body, random, random_uniform(random, 0, corners + FACES_WEIGHT) < corners).point;
}

/* Returns a rotation whose first column is the unit vector x. vec3_perpendicular is not used, because seeded draws
 * depend on this construction. */
static Mat3 rotation_with_first_axis(Vec3 x) {
  Vec3 beside = fabs(x.z) < 0.9 ? vec3(0, 0, 1) : vec3(0, 1, 0);
  Vec3 y = vec3_normalized(vec3_cross(beside, x)), z = vec3_cross(x, y);
  return (Mat3){{{x.x, y.x, z.x}, {x.y, y.y, z.y}, {x.z, y.z, z.z}}};
}

/* Returns true if a pair of surface points can be brought into contact (CONTACT_DISTANCE). */
static bool can_be_in_contact(const WitnessBody* a, const WitnessBody* b, const SurfacePoint place[2]) {
  Mat3 turn = mat3_mul(rotation_with_first_axis(place[0].normal),
                       mat3_transpose(rotation_with_first_axis(vec3_scale(place[1].normal, -1))));
  Pose pose = {turn, vec3_sub(place[0].point, mat3_mul_vec(turn, place[1].point))};
  int piece[2];
  Distance d = witness_nearest(a, pose_identity(), b, pose, NULL, piece);
  return vec3_norm(vec3_sub(d.witness_a, place[0].point)) + vec3_norm(vec3_sub(d.witness_b, place[0].point)) <
         CONTACT_DISTANCE;
}

void witness_random_pair(const WitnessBody* a, const WitnessBody* b, Random* random, Vec3 targets[2]) {
  assert(a->piece_count > 0 && b->piece_count > 0);
  int kind =
      (int)random_uniform(random, 0, 3); /* 0: vertex of a, face of b; 1: face of a, vertex of b; 2: two vertices */
  for (int draw = 0; draw < DRAW_LIMIT; draw++) {
    SurfacePoint place[2];
    place[0] = draw_surface_point(a, random, kind != 1);
    place[1] = draw_surface_point(b, random, kind != 0);
    targets[0] = place[0].point;
    targets[1] = place[1].point;
    if (can_be_in_contact(a, b, place)) break;
  }
}
