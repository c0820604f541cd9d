/* Tests the long-range law (docs/derivations/law-long_range.md) on pairs of pieces, compound bodies and a half-space.
 * The bodies are random. Every draw prints its seed. */
#include <stdio.h>
#include <string.h>

#include "contact/far_field.h"
#include "support/bodies.h"
#include "support/long.h"
#include "support/runs.h"
#include "support/sweep.h"

/* ---------------------------------------------------------------- bodies: links of a model */

enum { PIECES = 4 };
static const char TWO_BODIES[] =
    "simulation: {dt: 0.01, steps: 1, integrator: first_order}\n"
    "contact: {model: none}\n"
    "shapes:\n"
    "  ground: {type: half_space}\n"
    "  roof: {type: points, points: [[0, 0, 0], [0.3, 0, 0], [0, 0.2, 0], [0.3, 0.2, 0.02], [0.1, 0.1, 0.25]]}\n"
    "  box: {type: box, size: [0.2, 0.15, 0.1]}\n"
    "  wedge: {type: points, points: [[0, 0, 0], [0.2, 0.01, 0], [0.05, 0.25, 0.02], [0.02, 0.03, 0.2]]}\n"
    "links:\n"
    "  - {name: ground, fixed: true, shape: ground}\n"
    "  - {name: one, mass: 1, shapes: [{shape: box}, {shape: box, position: [0.25, 0.02, 0.03]}, {shape: roof, "
    "position: [0.5, 0, 0]}, {shape: wedge, position: [0.1, 0.3, 0.1]}]}\n"
    "  - {name: two, mass: 1, position: [9, 0, 0], shapes: [{shape: roof}, {shape: wedge, position: [-0.3, 0.1, "
    "0.05]}, "
    "{shape: box, position: [0.1, 0.4, 0]}]}\n";

/* The same of triangles, three to seven of them, and a hull among them. */
static const char TWO_MESHES[] =
    "simulation: {dt: 0.01, steps: 1, integrator: first_order}\n"
    "contact: {model: none}\n"
    "shapes:\n"
    "  ground: {type: half_space}\n"
    "  stone: {type: points, pieces: triangles, points: [[0, 0, 0], [0, 0.2, 0], [0.3, 0, 0], [0, 0, 0], [0.3, 0, 0], "
    "[0.1, 0.1, 0.2], [0, 0, 0], [0.1, 0.1, 0.2], [0, 0.2, 0], [0, 0.2, 0], [0.1, 0.1, 0.2], [0.3, 0, 0]]}\n"
    "  sheet: {type: points, pieces: triangles, points: [[0, 0, 0], [0.2, 0, 0.05], [0, 0.2, 0.02], [0.2, 0, 0.05], "
    "[0.2, 0.2, 0], [0, 0.2, 0.02], [0.2, 0, 0.05], [0.4, 0, 0], [0.2, 0.2, 0]]}\n"
    "  box: {type: box, size: [0.2, 0.15, 0.1]}\n"
    "links:\n"
    "  - {name: ground, fixed: true, shape: ground}\n"
    "  - {name: one, mass: 1, shapes: [{shape: stone}, {shape: box, position: [0.5, 0, 0]}, {shape: sheet, position: "
    "[-0.4, 0, 0.1]}]}\n"
    "  - {name: two, mass: 1, position: [9, 0, 0], shapes: [{shape: sheet}, {shape: stone, position: [0.3, 0.3, "
    "0]}]}\n";
static const char* const SCENES[] = {TWO_BODIES, TWO_MESHES};

typedef struct {
  Run* run;
  Hierarchy hierarchy;
  FarField field;
  FieldWork work;
} Bench;

static void bench_create_of(Bench* b, const char* scene, double blend, bool plain) {
  b->run = run_model("%s", scene);
  hierarchy_create(&b->hierarchy, &b->run->model);
  b->field = (FarField){&b->run->model, &b->hierarchy, blend, plain};
  field_work_create(&b->work, &b->run->model, &b->hierarchy);
}

static void bench_create(Bench* b, double blend, bool plain) { bench_create_of(b, TWO_BODIES, blend, plain); }

static void bench_free(Bench* b) {
  field_work_destroy(&b->work);
  hierarchy_destroy(&b->hierarchy);
  run_free(b->run);
}

static FieldPair random_pair(Random* random, double apart) {
  Vec3 way = vec3_scale(random_direction(random), apart);
  FieldPair pair = {.link = {1, 2}, .pose = {random_pose(random, 0.1), random_pose(random, 0.1)}};
  pair.pose[1].t = vec3_add(pair.pose[1].t, way);
  for (int k = 0; k < 2; k++) pair.reference[k] = vec3_add(pair.pose[k].t, vec3_scale(random_direction(random), 0.1));
  return pair;
}

/* From overlapping to far away, each scale as likely. */
static double random_distance(Random* random) { return 0.3 * exp(random_uniform(random, 0, 3)); }

/* ---------------------------------------------------------------- the definition, written down again */

static double phi_at(double r, double d, double blend) {
  double t = fmin(fmax((r - d) / (blend * d), 0), 1);
  return 6 * t * t * t * t * t - 15 * t * t * t * t + 10 * t * t * t;
}

/* Eq. 6 and 8 of the paper: no term is left out, weights of zero included; a piece's potential counts as `exact` says.
 */
static double unpruned(Bench* b, const FieldPair* pair, int i, int j) {
  const TreeNode *one = &b->hierarchy.trees[1].nodes[i], *two = &b->hierarchy.trees[2].nodes[j];
  double r = vec3_norm(vec3_sub(pose_apply(pair->pose[0], one->center), pose_apply(pair->pose[1], two->center)));
  double phi = phi_at(r, one->radius + two->radius, b->field.blend), inner = 0;
  bool leaf_one = one->hull >= 0, leaf_two = two->hull >= 0;
  for (int k = 0; k < (leaf_one ? 1 : 2) && !(leaf_one && leaf_two); k++)
    for (int l = 0; l < (leaf_two ? 1 : 2); l++)
      inner += unpruned(b, pair, leaf_one ? i : one->child[k], leaf_two ? j : two->child[l]);
  if (leaf_one && leaf_two) {
    HullInstance a = pair_hull_at(&b->run->model.hulls[one->hull], &pair->pose[0]);
    HullInstance c = pair_hull_at(&b->run->model.hulls[two->hull], &pair->pose[1]);
    GjkResult found;
    PlaneSolution solution;
    if (!(pair_distance(&a, &c, NULL, &found) > 0)) return INFINITY;
    assert_true(reciprocal_solve(&a, &c, &found, &b->work.scratch, &solution));
    inner = solution.energy;
  }
  return (1 - phi) * inner + phi * 12 * pow(1 + 1 / sqrt(r), 2);
}

static void pruned_N8_is_the_definition(void** state) {
  (void)state;
  static const double blends[] = {0.1, 0.5, 1, 3};
  Random random = {421};
  int compared = 0;
  for (int k = 0; k < 8; k++) {
    Bench b;
    bench_create_of(&b, SCENES[k / 4], blends[k % 4], false);
    for (int n = 0; n < 300; n++) {
      FieldPair pair = random_pair(&random, random_distance(&random));
      double found, wanted = unpruned(&b, &pair, 0, 0);
      bool apart = field_value(&b.field, &b.work, &pair, &found);
      if (apart != isfinite(wanted)) fail_msg("seed 421, draw %d: apart %d, wanted %g", n, apart, wanted);
      if (!apart) continue;
      compare_relative(found, wanted, 1e-12, "seed 421, blend %g, draw %d", blends[k % 4], n);
      compared++;
    }
    bench_free(&b);
  }
  assert_true(compared > 1800);
}

/* ---------------------------------------------------------------- two pieces */

/* The objective of N1 at a plane. */
static double objective(const Vec3* a, int na, const Vec3* b, int nb, const double p[4]) {
  Vec3 n = vec3(p[0], p[1], p[2]);
  double sum = 12 / (1 - vec3_norm(n));
  if (!(vec3_norm(n) < 1)) return INFINITY;
  for (int m = 0; m < na + nb; m++) {
    double c = m < na ? -(vec3_dot(n, a[m]) + p[3]) : vec3_dot(n, b[m - na]) + p[3];
    if (!(c > 0)) return INFINITY;
    sum += 3.0 / (m < na ? na : nb) / c;
  }
  return sum;
}

/* Is no plane near by better, along 8 directions? A strictly convex objective then has its minimum within `step`. */
static void expect_minimum(const Vec3* a, int na, const Vec3* b, int nb, const PlaneSolution* s, const char* what) {
  const Plane* plane = &s->plane;
  const double p[4] = {plane->n.x, plane->n.y, plane->n.z, plane->o - vec3_dot(plane->n, plane->origin)};
  double value = objective(a, na, b, nb, p);
  compare_relative(s->energy, value, 1e-10, "%s: value", what); /* clearances of 1e-5 among coordinates of 1 */
  for (int k = 0; k < 8; k++) {
    double q[4];
    memcpy(q, p, sizeof(q));
    q[k / 2] += (k % 2 ? 1 : -1) * 1e-6;
    if (objective(a, na, b, nb, q) < value * (1 - 1e-14)) fail_msg("%s: a plane near by is better", what);
  }
}

static void pieces_N1_N3_minimum_and_cone(void** state) {
  (void)state;
  Random random = {422};
  for (int n = 0; n < 200; n++) {
    int na = 3 + (int)random_uniform(&random, 0, 9), nb = n % 2 ? 3 : 3 + (int)random_uniform(&random, 0, 60);
    Body a = body_random(&random, na, 0.2, 1), b = body_random(&random, nb, 0.3, 0.5);
    body_place(&a, random_pose(&random, 0.1));
    body_place(&b, (Pose){random_rotation(&random), vec3_scale(random_direction(&random), 0.8)});
    double gap = pow(10, random_uniform(&random, -5, 0));
    body_bring_near(&a, &b, gap);
    Vec3 xa[16], xb[80];
    for (int m = 0; m < na; m++) xa[m] = body_vertex(&a, m);
    for (int m = 0; m < nb; m++) xb[m] = body_vertex(&b, m);
    Workspace w = workspace_create(&a, &b);
    GjkResult found;
    PlaneSolution s;
    char what[60];
    snprintf(what, sizeof what, "seed 422, draw %d, gap %g", n, gap);
    assert_true(pair_distance(&a.hull, &b.hull, NULL, &found) > 0);
    if (!reciprocal_solve(&a.hull, &b.hull, &found, &w.scratch, &s)) fail_msg("%s: not solved", what);
    expect_minimum(xa, na, xb, nb, &s, what);
    /* N3: n is a positive multiple of (b - a), means with the weights 1/c^2 */
    Vec3 mean[2] = {{0, 0, 0}, {0, 0, 0}};
    double sum[2] = {0, 0};
    for (int m = 0; m < na + nb; m++) {
      int side = m >= na;
      Vec3 x = side ? xb[m - na] : xa[m];
      double c = (side ? 1 : -1) * (vec3_dot(s.plane.n, vec3_sub(x, s.plane.origin)) + s.plane.o);
      mean[side] = vec3_add_scaled(mean[side], 1 / (c * c), x);
      sum[side] += 1 / (c * c);
    }
    Vec3 way = vec3_sub(vec3_scale(mean[1], 1 / sum[1]), vec3_scale(mean[0], 1 / sum[0]));
    double cosine = vec3_dot(way, s.plane.n) / (vec3_norm(way) * vec3_norm(s.plane.n));
    if (!(cosine > 1 - 1e-8)) fail_msg("%s: the force leaves the cone, cosine %.12g", what, cosine);
    workspace_free(&w);
    body_free(&a);
    body_free(&b);
  }
}

static void centred_N2_closed_form_and_bound(void** state) {
  (void)state;
  Random random = {423};
  for (int n = 0; n < 100; n++) {
    double r = exp(random_uniform(&random, -6, 4)), h = 1e-5 * r;
    CentredPotential c = centred_potential(r), up = centred_potential(r + h), down = centred_potential(r - h);
    compare_relative(c.value, 12 * pow(1 + 1 / sqrt(r), 2), 1e-14, "r = %g", r);
    compare_relative(c.first, (up.value - down.value) / (2 * h), 1e-8, "first, r = %g", r);
    compare_relative(c.second, (up.first - down.first) / (2 * h), 1e-8, "second, r = %g", r);
    double least = INFINITY; /* the minimum over a, by search */
    for (int k = 1; k < 20000; k++) least = fmin(least, 12 / (1 - k / 20000.0) + 12 / (k / 20000.0 * r));
    if (!(c.value <= least * (1 + 1e-12) && c.value > least * (1 - 1e-2 - 1e-4 / fmin(r, 1))))
      fail_msg("r = %g: %g, search %g", r, c.value, least);
  }
}

/* ---------------------------------------------------------------- derivatives, with differences across every border */

typedef struct {
  Bench* bench;
  FieldPair pair;
} Motion;

static FieldPair twisted(const FieldPair* pair, const double* x) {
  FieldPair out = *pair;
  for (int k = 0; k < (pair->ground ? 1 : 2); k++) {
    out.pose[k] = pose_twisted(pair->pose[k], pair->reference[k], x + 6 * k);
  }
  return out;
}

static bool value_at(void* context, const double* x, double* y) {
  Motion* m = context;
  FieldPair pair = twisted(&m->pair, x);
  return field_value(&m->bench->field, &m->bench->work, &pair, y);
}

/* Gradient by a twist about the moving reference, as torque and force about the first reference. */
static bool gradient_at(void* context, const double* x, double* y) {
  Motion* m = context;
  FieldPair pair = twisted(&m->pair, x);
  PairDerivatives d;
  if (!field_derivatives(&m->bench->field, &m->bench->work, &pair, &d)) return false;
  for (int side = 0; side < 2; side++) {
    Vec3 torque = {d.moment[side].m[2][1] - d.moment[side].m[1][2], d.moment[side].m[0][2] - d.moment[side].m[2][0],
                   d.moment[side].m[1][0] - d.moment[side].m[0][1]};
    vec3_store(torque, y + 6 * side);
    vec3_store(d.force[side], y + 6 * side + 3);
  }
  return true;
}

/* Expected derivatives of torque and force with respect to the twists. Torques are taken about fixed points, so the
 * derivatives are the Hessian plus, in the torque rows, the change of the lever arms: d(r x g) = (w x r + v) x g. */
static void expected_slopes(const PairDerivatives* d, double* out) {
  memcpy(out, d->hessian, sizeof(d->hessian));
  for (int side = 0; side < 2; side++)
    for (int k = 0; k < 3; k++) {
      Vec3 w = {k == 0, k == 1, k == 2};
      /* sum (w x r) x g = sum r (w . g) - w (r . g) */
      Mat3 m = d->moment[side]; /* sum g r^T */
      Vec3 add = vec3_sub(mat3_tmul_vec(m, w), vec3_scale(w, mat3_trace(m)));
      double row[3] = {add.x, add.y, add.z};
      Vec3 lever = vec3_cross(w, d->force[side]);
      double moved[3] = {lever.x, lever.y, lever.z};
      for (int i = 0; i < 3; i++) {
        out[(6 * side + i) * 12 + 6 * side + k] += row[i];
        out[(6 * side + i) * 12 + 6 * side + 3 + k] += moved[i];
      }
    }
}

static void check_derivatives(Motion* m, const char* what) {
  PairDerivatives d;
  double g[12], slopes[144];
  assert_true(field_derivatives(&m->bench->field, &m->bench->work, &m->pair, &d));
  double zero[12] = {0};
  gradient_at(m, zero, g);
  Sweep first = {value_at, m, 12, 1, NULL, NULL, NULL, 1e-3, 4, 8};
  /* the third derivative jumps at a border: of first order there, so down to small steps */
  Sweep second = {gradient_at, m, 12, 12, NULL, NULL, NULL, 1e-3, 5, 8};
  SweepResult by_value = sweep_jacobian(&first, g, 0);
  expected_slopes(&d, slopes);
  SweepResult by_gradient = sweep_jacobian(&second, slopes, 0);
  if (!(by_value.error[by_value.best] < 1e-7)) fail_msg("%s: gradient off by %g", what, by_value.error[by_value.best]);
  if (!(by_gradient.error[by_gradient.best] < 1e-5))
    fail_msg("%s: Hessian off by %g", what, by_gradient.error[by_gradient.best]);
}

/* Moves the second body along the line of two nodes' centres until these are r apart. */
static void set_distance(Bench* b, FieldPair* pair, int i, int j, double r) {
  Vec3 one = pose_apply(pair->pose[0], b->hierarchy.trees[1].nodes[i].center);
  Vec3 two = pose_apply(pair->pose[1], b->hierarchy.trees[2].nodes[j].center), way = vec3_sub(two, one);
  Vec3 shift = vec3_sub(vec3_add_scaled(one, r / vec3_norm(way), way), two);
  pair->pose[1].t = vec3_add(pair->pose[1].t, shift);
  pair->reference[1] = vec3_add(pair->reference[1], shift);
}

static void check_borders(const char* scene) {
  Random random = {424};
  int checked = 0;
  Bench b;
  bench_create_of(&b, scene, 1, false);
  const BodyTree *one = &b.hierarchy.trees[1], *two = &b.hierarchy.trees[2];
  for (int i = 0; i < one->count; i++)
    for (int j = 0; j < two->count; j++)
      for (int border = 0; border < 4; border++) { /* at both ends of the passage, and beside them */
        Motion m = {&b, random_pair(&random, 1.5)};
        double d = one->nodes[i].radius + two->nodes[j].radius, at[4] = {d, 2 * d, d * (1 + 1e-4), d * (2 - 1e-4)},
               value;
        set_distance(&b, &m.pair, i, j, at[border]);
        if (!field_value(&b.field, &b.work, &m.pair, &value) || value > 5e3) continue; /* they meet, or nearly */
        char what[80];
        snprintf(what, sizeof what, "seed 424, nodes %d %d, border %d", i, j, border);
        check_derivatives(&m, what);
        checked++;
      }
  assert_true(checked > 60);
  bench_free(&b);
}

static void derivatives_N7_N9_N10_across_every_border(void** state) {
  (void)state;
  for (int k = 0; k < 2; k++) check_borders(SCENES[k]);
}

static void derivatives_N13_before_a_half_space(void** state) {
  (void)state;
  Random random = {425};
  Bench b;
  bench_create(&b, 1, false);
  const BodyTree* tree = &b.hierarchy.trees[1];
  for (int n = 0; n < 40; n++) {
    int leaf = b.hierarchy.leaf[1 + n % PIECES];
    Pose pose = random_pose(&random, 0.2), ground = random_pose(&random, 0.2);
    HullInstance space = pair_hull_at(&b.run->model.hulls[0], &ground);
    Motion m = {&b, {.link = {1, 0}, .root = {leaf, -1}, .pose = {pose, ground}, .ground = &space}};
    double height = tree->nodes[leaf].radius * random_uniform(&random, 0.8, 2.1);
    Vec3 center = pose_apply(pose, tree->nodes[leaf].center);
    double lift = height - (vec3_dot(space.normal, center) - space.offset), value;
    m.pair.pose[0].t = vec3_add_scaled(m.pair.pose[0].t, lift, space.normal);
    m.pair.reference[0] = vec3_add(m.pair.pose[0].t, vec3(0.1, 0, 0));
    if (!field_value(&b.field, &b.work, &m.pair, &value)) continue;
    char what[60];
    snprintf(what, sizeof what, "seed 425, draw %d", n);
    if (height >= 2 * tree->nodes[leaf].radius) {
      assert_true(value == 0);
      continue;
    }
    if (value < 1e-3 || value > 1e3) continue;
    PairDerivatives d;
    assert_true(field_derivatives(&b.field, &b.work, &m.pair, &d));
    if (!(vec3_dot(d.force[0], space.normal) < 0)) fail_msg("%s: it pulls", what); /* gradient down, force up */
    double zero[12] = {0}, g[12];
    gradient_at(&m, zero, g);
    Sweep first = {value_at, &m, 6, 1, NULL, NULL, NULL, 1e-2, 4, 7};
    SweepResult by_value = sweep_jacobian(&first, g, 0);
    if (!(by_value.error[by_value.best] < 1e-7)) fail_msg("%s: off by %g", what, by_value.error[by_value.best]);
  }
  bench_free(&b);
}

/* ---------------------------------------------------------------- the four properties, at random states */

/* Checks that the force is repulsive and never zero. If the bodies are far apart, the force lies along the line of the
 * roots' centres. It grows without bound as they approach contact. Its component along any separating direction is
 * positive. */
static void check_properties(const char* scene) {
  Random random = {426};
  Bench b;
  bench_create_of(&b, scene, 1, false);
  int apart = 0, met = 0, states = tests_count(30000, 100000);
  for (int n = 0; n < states; n++) {
    FieldPair pair = random_pair(&random, random_distance(&random));
    PairDerivatives d;
    double gap = INFINITY;
    for (int i = 1, second = b.run->model.links[2].hull_first; i < second; i++)
      for (int j = second; j < b.run->model.hull_count; j++) {
        HullInstance one = pair_hull_at(&b.run->model.hulls[i], &pair.pose[0]);
        HullInstance two = pair_hull_at(&b.run->model.hulls[j], &pair.pose[1]);
        GjkResult found;
        gap = fmin(gap, pair_distance(&one, &two, NULL, &found));
      }
    bool finite = field_derivatives(&b.field, &b.work, &pair, &d);
    if (finite != (gap > 0)) fail_msg("seed 426, draw %d: gap %g, finite %d", n, gap, finite);
    met += !finite;
    if (!finite) continue;
    apart++;
    if (!(d.energy >= 12) || !isfinite(d.energy)) fail_msg("seed 426, draw %d: P = %g", n, d.energy);
    if (!(vec3_norm(d.force[0]) > 0)) fail_msg("seed 426, draw %d: no force", n);
    if (gap < 1e-4 && !(d.energy > 1.5 / gap)) fail_msg("seed 426, draw %d: gap %g, P = %g", n, gap, d.energy);
    /* a direction that separates the roots' spheres separates their content, so every force has a component along it */
    const TreeNode *one = &b.hierarchy.trees[1].nodes[0], *two = &b.hierarchy.trees[2].nodes[0];
    Vec3 way = vec3_sub(pose_apply(pair.pose[0], one->center), pose_apply(pair.pose[1], two->center));
    if (vec3_norm(way) <= one->radius + two->radius) continue;
    if (!(vec3_dot(d.force[0], way) < 0)) fail_msg("seed 426, draw %d: they attract", n);
  }
  assert_true(apart > states / 2 && met > states / 40);
  bench_free(&b);
}

static void properties_N4_N8_at_random_states(void** state) {
  (void)state;
  for (size_t k = 0; k < sizeof SCENES / sizeof SCENES[0]; k++) check_properties(SCENES[k]);
}

/* ---------------------------------------------------------------- backwards */

/* Phi by one number of the model: a vertex of a link, or the blend. */
typedef struct {
  Bench* bench;
  FieldPair pair;
  double twist[2][6];
  int hull, vertex, axis;
} Nudge;

static double rate_of(const PairDerivatives* d, const double twist[2][6]) {
  double rate = 0;
  for (int side = 0; side < 2; side++) {
    const Mat3* m = &d->moment[side];
    Vec3 torque = {m->m[2][1] - m->m[1][2], m->m[0][2] - m->m[2][0], m->m[1][0] - m->m[0][1]};
    rate += vec3_dot(torque, vec3_at(twist[side])) + vec3_dot(d->force[side], vec3_at(twist[side] + 3));
  }
  return rate;
}

static bool nudged(void* context, const double* x, double* y) {
  Nudge* n = context;
  Bench* b = n->bench;
  const ModelHull* hull = n->hull >= 0 ? &b->run->model.hulls[n->hull] : NULL;
  double* place = NULL;
  if (hull)
    place = (double*)(n->axis == 0 ? hull->points.x : n->axis == 1 ? hull->points.y : hull->points.z) + n->vertex;
  FarField field = b->field;
  double before = place ? *place : 0;
  if (place)
    *place += *x;
  else
    field.blend += *x;
  Hierarchy hierarchy;
  hierarchy_create(&hierarchy, &b->run->model);
  field.hierarchy = &hierarchy;
  PairDerivatives d;
  bool found = field_derivatives(&field, &b->work, &n->pair, &d);
  *y = rate_of(&d, (const double(*)[6])n->twist);
  if (place) *place = before;
  hierarchy_destroy(&hierarchy);
  return found;
}

static void check_reverse(const char* scene) {
  Random random = {427};
  Bench b;
  bench_create_of(&b, scene, 1, false);
  int blended = 0;
  for (int n = 0; n < 30; n++) {
    Nudge nudge = {.bench = &b, .pair = random_pair(&random, random_uniform(&random, 0.6, 2))};
    double value;
    if (!field_value(&b.field, &b.work, &nudge.pair, &value) || value > 3e3) continue;
    for (int k = 0; k < 12; k++) nudge.twist[k / 6][k % 6] = random_uniform(&random, -1, 1);
    Vec3 bars[2][64];
    memset(bars, 0, sizeof(bars));
    FieldShares shares = {.vertices = {bars[0], bars[1]}};
    assert_true(field_reverse(&b.field, &b.work, &nudge.pair, (const double(*)[6])nudge.twist, &shares));
    PairDerivatives d;
    field_derivatives(&b.field, &b.work, &nudge.pair, &d);
    compare_relative(shares.value, rate_of(&d, (const double(*)[6])nudge.twist), 1e-9, "seed 427, draw %d", n);
    blended += b.work.blend_count;
    double scale = 0;
    for (int side = 0; side < 2; side++)
      for (int m = 0; m < 64; m++) scale = fmax(scale, vec3_norm(bars[side][m]));
    for (int hull = 1; hull < b.run->model.hull_count; hull++) {
      const ModelHull* h = &b.run->model.hulls[hull];
      int side = h->link - 1;
      nudge.hull = hull;
      nudge.vertex = (int)random_uniform(&random, 0, h->points.count - 1e-9);
      nudge.axis = (int)random_uniform(&random, 0, 3 - 1e-9);
      Vec3 local = mat3_tmul_vec(nudge.pair.pose[side].r,
                                 bars[side][h->vertex_first - b.hierarchy.trees[h->link].vertex_first + nudge.vertex]);
      double found = nudge.axis == 0 ? local.x : nudge.axis == 1 ? local.y : local.z;
      Sweep sweep = {nudged, &nudge, 1, 1, NULL, NULL, NULL, 2e-4, 4, 5};
      SweepResult r = sweep_jacobian(&sweep, &found, scale);
      if (!(r.error[r.best] < 1e-6))
        fail_msg("seed 427, draw %d, hull %d, vertex %d: %.12g, error %g", n, hull, nudge.vertex, found,
                 r.error[r.best]);
    }
    nudge.hull = -1;
    Sweep sweep = {nudged, &nudge, 1, 1, NULL, NULL, NULL, 1e-2, 4, 6};
    SweepResult r = sweep_jacobian(&sweep, &shares.by_blend, 1e-6);
    if (!(r.error[r.best] < 1e-6)) fail_msg("seed 427, draw %d: by blend, error %g", n, r.error[r.best]);
  }
  assert_true(blended > 30);
  bench_free(&b);
}

static void reverse_N5_N6_N11_N12_by_vertices_and_blend(void** state) {
  (void)state;
  for (int k = 0; k < 2; k++) check_reverse(SCENES[k]);
}

/* ---------------------------------------------------------------- stored results */

/* Evaluates value, derivatives or adjoint in any order, about one point or another. */
static void ask(Bench* b, const FieldPair* pair, int what, double* answer) {
  const double twist[2][6] = {{0.3, -0.2, 0.5, 1, 0, -1}, {-0.1, 0.4, 0.2, 0, 1, 2}};
  FieldPair asked = *pair;
  PairDerivatives d;
  Vec3 bars[2][64];
  memset(bars, 0, sizeof(bars));
  FieldShares shares = {.vertices = {bars[0], bars[1]}};
  if (what % 2) asked.reference[0].x += 0.5;
  if (what < 2)
    assert_true(field_value(&b->field, &b->work, &asked, answer));
  else if (what < 4) {
    assert_true(field_derivatives(&b->field, &b->work, &asked, &d));
    memcpy(answer, &d, sizeof(d));
  } else {
    assert_true(field_reverse(&b->field, &b->work, &asked, twist, &shares));
    memcpy(answer, bars, sizeof(bars));
  }
}

static void kept_N10_has_the_bits_of_a_search(void** state) {
  (void)state;
  Random random = {433};
  for (int k = 0; k < 2; k++) {
    Bench b;
    bench_create_of(&b, SCENES[k], 1, false);
    FieldCache kept = {0};
    for (int n = 0; n < 60; n++) {
      FieldPair pair = random_pair(&random, random_uniform(&random, 0.4, 2));
      double value, found[400] = {0}, wanted[400] = {0};
      pair.cache = &kept; /* of other poses until now */
      if (!field_value(&b.field, &b.work, &pair, &value)) continue;
      for (int question = 0; question < 12; question++) {
        int what = (int)random_uniform(&random, 0, 5.999);
        ask(&b, &pair, what, found);
        pair.cache = NULL;
        ask(&b, &pair, what, wanted);
        pair.cache = &kept;
        if (memcmp(found, wanted, sizeof(found)) != 0) fail_msg("seed 433, draw %d, question %d: other bits", n, what);
      }
    }
    field_cache_destroy(&kept);
    bench_free(&b);
  }
}

/* ---------------------------------------------------------------- the local part, and rest */

static void local_N14_is_one_minus_the_blend(void** state) {
  (void)state;
  Random random = {428};
  Bench b;
  bench_create(&b, 0.7, false);
  for (int n = 0; n < 50; n++) {
    FieldPair pair = random_pair(&random, random_uniform(&random, 0.5, 1.5));
    const int leaf[2] = {b.hierarchy.leaf[1], b.hierarchy.leaf[1 + PIECES]};
    const TreeNode *one = &b.hierarchy.trees[1].nodes[leaf[0]], *two = &b.hierarchy.trees[2].nodes[leaf[1]];
    double r = vec3_norm(vec3_sub(pose_apply(pair.pose[0], one->center), pose_apply(pair.pose[1], two->center)));
    FieldFrictionFactor local = field_friction_factor(&b.field, leaf, &pair);
    compare_relative(1 + local.value, 2 - phi_at(r, one->radius + two->radius, 0.7), 1e-13, "seed 428, draw %d", n);
  }
  bench_free(&b);
}

/* N15 against a box that stands over another: half of the vertices of either are on the face. */
static void rest_N15_of_two_boxes(void** state) {
  (void)state;
  static const double gaps[] = {1e-4, 1e-3};
  for (int k = 0; k < 2; k++) {
    Body a = body_box(vec3(0.2, 0.2, 0.2)), b = body_box(vec3(0.2, 0.2, 0.2));
    body_place(&a, (Pose){mat3_identity(), {0, 0, 0.2 + gaps[k]}});
    Workspace w = workspace_create(&a, &b);
    GjkResult found;
    PlaneSolution s;
    assert_true(pair_distance(&a.hull, &b.hull, NULL, &found) > 0);
    assert_true(reciprocal_solve(&a.hull, &b.hull, &found, &w.scratch, &s));
    double force = fabs(s.side[0].first[3]) * vec3_norm(s.plane.n);
    compare_relative(contact_rest_at_gap(CONTACT_LONG_RANGE, 1, 4, 4, gaps[k]).force, force, 0.05, "gap %g", gaps[k]);
    ContactEquilibrium rest = contact_rest_under_force(CONTACT_LONG_RANGE, 1, 4, 4, force);
    compare_relative(rest.gap, gaps[k], 0.03, "gap under its force");
    workspace_free(&w);
    body_free(&a);
    body_free(&b);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pruned_N8_is_the_definition),
      cmocka_unit_test(pieces_N1_N3_minimum_and_cone),
      cmocka_unit_test(centred_N2_closed_form_and_bound),
      cmocka_unit_test(derivatives_N7_N9_N10_across_every_border),
      cmocka_unit_test(derivatives_N13_before_a_half_space),
      cmocka_unit_test(properties_N4_N8_at_random_states),
      cmocka_unit_test(reverse_N5_N6_N11_N12_by_vertices_and_blend),
      cmocka_unit_test(kept_N10_has_the_bits_of_a_search),
      cmocka_unit_test(local_N14_is_one_minus_the_blend),
      cmocka_unit_test(rest_N15_of_two_boxes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
