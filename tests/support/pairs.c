#include "support/pairs.h"
#include "support/compare.h"

const char* pair_kind_name(PairKind kind) {
  static const char* const name[PAIR_KINDS_WITH_ROUNDED] = {"tetrahedra",
                                                            "vertex on face",
                                                            "edge on edge",
                                                            "faces",
                                                            "nearly parallel faces",
                                                            "random 8",
                                                            "random 17",
                                                            "random 64",
                                                            "random 512",
                                                            "6 on 200 large",
                                                            "face on half-space",
                                                            "random 40 on half-space",
                                                            "rounded 8",
                                                            "rounded 3 on half-space",
                                                            "balls"};
  return name[kind];
}

static Mat3 about(Vec3 axis, double angle) { return mat3_from_quat(quat_about(vec3_normalized(axis), angle)); }

/* Body b is above a along z, without rotation. */
static void make_bodies(PairKind kind, Random* random, double size, Pair* pair) {
  Vec3 box = vec3(1.1 * size, 1.3 * size, 0.9 * size);
  Mat3 turn_a = mat3_identity(), turn_b = mat3_identity();
  static const int counts[PAIR_KINDS_WITH_ROUNDED] = {
      [PAIR_TETRAHEDRA] = 4,         [PAIR_RANDOM_8] = 8, [PAIR_RANDOM_17] = 17,         [PAIR_RANDOM_64] = 64,
      [PAIR_RANDOM_512] = 512,       [PAIR_UNEQUAL] = 6,  [PAIR_HALF_SPACE_RANDOM] = 40, [PAIR_ROUNDED] = 8,
      [PAIR_ROUNDED_HALF_SPACE] = 3, [PAIR_BALLS] = 1};
  if (counts[kind] > 0) {
    pair->a = body_random(random, counts[kind], size, 0.8);
    if (kind == PAIR_UNEQUAL)
      pair->b = body_random(random, 200, 20 * size, 1.0);
    else if (kind != PAIR_HALF_SPACE_RANDOM && kind != PAIR_ROUNDED_HALF_SPACE)
      pair->b = body_random(random, counts[kind], 0.9 * size, 1.0);
    turn_a = random_rotation(random);
    turn_b = random_rotation(random);
  } else {
    pair->a = body_box(box);
    if (kind != PAIR_HALF_SPACE_FACE) pair->b = body_box(vec3(1.7 * size, 1.2 * size, 0.5 * size));
    if (kind == PAIR_VERTEX_FACE) turn_a = about(vec3(1, -0.8, 0.1), 0.9);
    if (kind == PAIR_EDGE_EDGE) {
      turn_a = about(vec3(1, 0, 0), 0.7);
      turn_b = about(vec3(0, 1, 0), 0.8);
    }
    if (kind == PAIR_NEARLY_FACES) turn_b = about(vec3(1, 2, 0), 1e-4);
  }
  if (kind >= PAIR_ROUNDED) {
    body_round(&pair->a, 0.3 * size);
    if (kind != PAIR_ROUNDED_HALF_SPACE) body_round(&pair->b, 0.4 * size);
  }
  bool ground = kind == PAIR_HALF_SPACE_FACE || kind == PAIR_HALF_SPACE_RANDOM || kind == PAIR_ROUNDED_HALF_SPACE;
  body_place(&pair->a, (Pose){turn_a, vec3(0, 0, 0)});
  if (ground)
    pair->b = body_half_space(vec3(0, 0, -1), -3 * size); /* solid above z = 3 size */
  else
    body_place(&pair->b,
               (Pose){turn_b, vec3(0.31 * size, -0.17 * size, pair->a.hull.radius + pair->b.hull.radius + size)});
}

Pair pair_create(PairKind kind, Random* random, double size, double support, double gap) {
  Pair pair = {.support = support, .size = size};
  make_bodies(kind, random, size, &pair);
  Pose world = random_pose(random, size);
  body_place(&pair.a, pose_mul(world, pair.a.hull.pose));
  if (pair.b.hull.half_space) {
    pair.b.hull.offset += vec3_dot(mat3_mul_vec(world.r, pair.b.hull.normal), world.t);
    pair.b.hull.normal = mat3_mul_vec(world.r, pair.b.hull.normal);
  } else
    body_place(&pair.b, pose_mul(world, pair.b.hull.pose));
  body_bring_near(&pair.a, &pair.b, gap * support);
  return pair;
}

void pair_free(Pair* pair) {
  body_free(&pair->a);
  body_free(&pair->b);
}

Plane pair_start(const Pair* pair) {
  const HullInstance *a = &pair->a.hull, *b = &pair->b.hull;
  if (b->half_space) return plane_from_half_space(a, b, pair->support, body_distance(&pair->a, &pair->b));
  GjkResult found;
  pair_distance(a, b, NULL, &found);
  return plane_from_witness(a, b, pair->support, found.witness_a, found.witness_b, found.normal);
}

PlaneOutcome pair_solve(const Pair* pair, Plane start, PlaneSolution* solution) {
  Workspace w = workspace_create(&pair->a, &pair->b);
  PlaneOutcome outcome = plane_solve(&pair->a.hull, &pair->b.hull, pair->support, start, &w.scratch, solution);
  workspace_free(&w);
  return outcome;
}

PlaneSolution pair_solution(const Pair* pair, const char* what) {
  PlaneSolution solution;
  PlaneOutcome outcome = pair_solve(pair, pair_start(pair), &solution);
  if (outcome != PLANE_ACTIVE)
    fail_msg("%s: plane_solve returned %d, wanted %d (active)", what, (int)outcome, (int)PLANE_ACTIVE);
  return solution;
}
