/* Choice of the surface samples whose weighted mean is a smoothed nearest point (witness.md, V1). */
#include <assert.h>

#include "query/witness.h"

/* A surface sample is used if the cosine of the angle between its normal and the normal at the nearest point exceeds
 * this: cos of 120 degrees. */
#define NORMAL_COSINE (-0.5)
/* Phase increment of the sample choice per unit of WitnessOptions.turn: the fractional part of the golden ratio. */
#define GOLDEN_FRACTION 0.6180339887498949
/* SAMPLES_MIN: the radius about the nearest point is increased, at most REACH_INCREASES_MAX times, until the ball
 * contains this many samples. RINGS: largest number of edges between a sample and the vertex nearest to the nearest
 * point. */
enum { SAMPLES_MIN = 4, REACH_INCREASES_MAX = 40, RINGS = 5, NEIGHBORS_MAX = 512 };
/* Default radius about the nearest point in which samples are taken, relative to the diagonal of the body. */
#define FIXED_REACH_FRACTION 0.25
/* Radius about the nearest point in which adaptive sampling takes samples, divided by the distance of the nearest point
 * from its target. With the factor 3 there are also samples beyond the target. */
#define ADAPTIVE_FACTOR 3

/* Returns entry k of `count` indices distributed evenly over 0 .. found - 1. `turn` shifts the set of indices. */
static int pick_evenly(int k, int count, int found, int turn) {
  assert(k >= 0 && k < count);
  double phase = fmod(0.5 + GOLDEN_FRACTION * turn, 1);
  int at = (int)((k + phase) * found / count);
  return at < found ? at : found - 1;
}

static int find_samples_within(const WitnessBody* body, Vec3 center, Vec3 normal, double reach, int* out) {
  int found = 0;
  double square = reach * reach;
  for (int i = 0; i < body->count; i++) {
    Vec3 apart = vec3_sub(body->points[i], center);
    out[found] = i;
    found += (vec3_dot(apart, apart) < square) & (vec3_dot(body->normals[i], normal) > NORMAL_COSINE);
  }
  return found;
}

static void choose_samples_within(const WitnessBody* body, Vec3 center, Vec3 normal, double reach, int turn,
                                  WitnessSide* side) {
  int number[WITNESS_SURFACE + 1], found = 0;
  for (int grown = 0; grown < REACH_INCREASES_MAX && found < SAMPLES_MIN; grown++, reach *= 1.5)
    found = find_samples_within(body, center, normal, reach, number);
  int others = found < WITNESS_SAMPLES - 1 ? found : WITNESS_SAMPLES - 1;
  for (int k = 0; k < others; k++) {
    int i = number[pick_evenly(k, others, found, turn)];
    side->samples[1 + k] = body->points[i];
    for (int part = 0; part < 2; part++) side->origins[1 + k][part] = body->origins[i][part];
  }
  side->count = 1 + others;
}

/* Chooses as samples the vertices at most RINGS edges away from the vertex nearest to the point `center`. of: index of
 * the convex piece. */
static void choose_neighbors(const WitnessBody* body, int of, Vec3 center, int turn, WitnessSide* side) {
  int number[NEIGHBORS_MAX], found = 1, ring = 0, nearest = 0;
  const WitnessPiece* piece = &body->pieces[of];
  const ConvexHull* hull = &piece->hull;
  for (int v = 1; v < hull->vertex_count; v++)
    if (vec3_norm(vec3_sub(hull->vertices[v], center)) < vec3_norm(vec3_sub(hull->vertices[nearest], center)))
      nearest = v;
  number[0] = nearest;
  for (int rings = 0; rings < RINGS; rings++) {
    int end = found;
    for (; ring < end; ring++)
      for (int i = piece->neighbor_first[number[ring]]; i < piece->neighbor_first[number[ring] + 1]; i++) {
        bool known = found == NEIGHBORS_MAX;
        for (int k = 0; k < found && !known; k++) known = number[k] == piece->neighbors[i];
        if (!known) number[found++] = piece->neighbors[i];
      }
  }
  int others = found < WITNESS_SAMPLES - 1 ? found : WITNESS_SAMPLES - 1;
  for (int k = 0; k < others; k++) {
    int v = number[pick_evenly(k, others, found, turn)];
    side->samples[1 + k] = hull->vertices[v];
    side->origins[1 + k][0] = of;
    side->origins[1 + k][1] = v;
  }
  side->count = 1 + others;
}

void witness_choose_samples(const WitnessBody* body, int piece, Vec3 center, Vec3 normal, const WitnessOptions* options,
                            const Vec3* target, WitnessSide* side) {
  assert(piece >= 0 && piece < body->piece_count);
  side->samples[0] = center;
  if (options->sampling == WITNESS_NEIGHBOR) {
    choose_neighbors(body, piece, center, options->turn, side);
    return;
  }
  double reach = options->reach > 0 ? options->reach : FIXED_REACH_FRACTION * body->diagonal;
  if (options->sampling == WITNESS_ADAPTIVE && target)
    reach = fmax(ADAPTIVE_FACTOR * vec3_norm(vec3_sub(center, *target)),
                 options->reach > 0 ? options->reach : body->spacing);
  choose_samples_within(body, center, normal, reach, options->turn, side);
}
