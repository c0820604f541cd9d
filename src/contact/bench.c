/* `sdrs bench pair`: measures the time per evaluation of one pair [ns], for several numbers of vertices. */
#include <stdlib.h>
#include <string.h>

#include "contact/contact.h"
#include "contact/friction.h"
#include "contact/ring.h"

enum { PAIRS = 64, MOVES = 16, REPEATS = 7 };
static const double bench_support = 0.01; /* barrier distance [m]; the hulls have a radius of 0.5 m */
static const double bench_motion = 2e-4;  /* length and angle of the motion between two evaluations [m, rad] */

/* Values of the column `vertices` that stand for round bodies. */
enum {
  BALL = 1,
  WHEEL = 0,
  WHEEL_PARTNER = 8
}; /* WHEEL_PARTNER: number of vertices of the hull with which a wheel is paired */

typedef struct {
  HullInstance hull; /* owns its points */
  Circle rings[ROUND_RINGS_MAX];
  int move;
  Pose moved[MOVES];
  double twist[MOVES][6]; /* motion since the previous move as rotation vector [rad] and displacement [m] */
} BenchHull;

typedef struct {
  BenchHull a, b;
  GjkCache gjk;
} BenchPair;

static Vec3 random_direction(Random* random) { return vec3_normalized(vec3_random_normal(random)); }

/* Sets *h to a wheel: two parallel circles of radius 0.4 m, 0.2 m apart, with a rounding of 0.1 m. */
static void fill_wheel(BenchHull* h) {
  for (int k = 0; k < 2; k++) h->rings[k] = (Circle){vec3(0, 0, k ? 0.1 : -0.1), vec3(0, 0, 1), 0.4};
  h->hull =
      (HullInstance){.rings = h->rings, .ring_count = 2, .rounding = 0.1, .pose = pose_identity(), .radius = 0.52};
}

/* Sets *h to the convex hull of `vertices` random points on a sphere of radius 0.5 m. For vertices = BALL, sets *h to a
 * ball; for WHEEL, to a wheel. */
static void fill_hull(BenchHull* h, int vertices, Random* random) {
  if (vertices == WHEEL) {
    fill_wheel(h);
    return;
  }
  Vec3* points = MEMORY_NEW(Vec3, vertices);
  double rounding = vertices == BALL ? 0.5 : 0;
  for (int k = 0; k < vertices; k++) points[k] = vec3_scale(random_direction(random), 0.5 - rounding);
  h->hull = (HullInstance){
      .points = point_view_create(points, vertices), .rounding = rounding, .pose = pose_identity(), .radius = 0.5};
  memory_free(points);
}

static void place(BenchHull* h, Pose pose, Random* random) {
  for (int k = 0; k < MOVES; k++) {
    Quat turn = quat_exp(vec3_scale(random_direction(random), 0.5 * bench_motion));
    h->moved[k].r = mat3_mul(mat3_from_quat(turn), pose.r);
    h->moved[k].t = vec3_add(pose.t, vec3_scale(random_direction(random), 0.5 * bench_motion));
  }
  for (int k = 0; k < MOVES; k++) {
    const Pose* before = &h->moved[(k + MOVES - 1) % MOVES];
    motion_twist(before->r, h->moved[k].r, vec3_sub(h->moved[k].t, before->t), h->twist[k]);
  }
}

static void set_move(BenchHull* h, int move) {
  h->hull.pose = h->moved[move];
  h->hull.center = h->moved[move].t;
  h->move = move;
}

/* Sets *p to two random hulls with a gap of 40 % of the contact range. Finds the gap by moving hull b along the
 * direction between the closest points. */
static void fill_pair(BenchPair* p, int vertices, Random* random) {
  fill_hull(&p->a, vertices, random);
  fill_hull(&p->b, vertices == WHEEL ? WHEEL_PARTNER : vertices, random);
  Pose pa = {mat3_from_quat(quat_exp(random_direction(random))), vec3(0, 0, 0)},
       pb = {mat3_identity(), vec3_scale(random_direction(random), 3.0)};
  for (int k = 0; k < 8; k++) {
    p->a.hull.pose = pa;
    p->b.hull.pose = pb;
    GjkResult found;
    double gap = pair_distance(&p->a.hull, &p->b.hull, NULL, &found);
    pb.t = vec3_add(pb.t, vec3_scale(found.normal, 0.4 * plane_range(bench_support) - gap));
  }
  place(&p->a, pa, random);
  place(&p->b, pb, random);
}

typedef struct {
  PlaneScratch scratch;
  PlaneSolution solution[PAIRS];
  PlaneResponse response[PAIRS];
  FrictionLag lag[PAIRS];
  FrictionVertex* vertices;
  PairDerivatives out;
  double sink;
} BenchState;

static void solve_from(BenchPair* p, Plane start, BenchState* s, int k) {
  plane_solve(&p->a.hull, &p->b.hull, bench_support, start, &s->scratch, &s->solution[k]);
  plane_derivatives(&s->solution[k], false, p->a.hull.center, p->b.hull.center, &s->out, &s->response[k]);
  s->sink += s->out.hessian[0][0];
}

static void contact_cold(BenchPair* p, BenchState* s, int k) {
  GjkResult found;
  pair_distance(&p->a.hull, &p->b.hull, NULL, &found);
  solve_from(p,
             plane_from_witness(&p->a.hull, &p->b.hull, bench_support, found.witness_a, found.witness_b, found.normal),
             s, k);
}

/* Solves the separating plane as a time step does: the start plane is predicted from the previous solution and its
 * derivatives with respect to the motion. */
static void contact_warm(BenchPair* p, BenchState* s, int k) {
  solve_from(p, plane_predict(s->solution[k].plane, &s->response[k], p->a.twist[p->a.move], p->b.twist[p->b.move]), s,
             k);
}

static void friction_once(BenchPair* p, BenchState* s, int k) {
  FrictionParameters parameters = {0.5, 1e-6, 0.01, 0, false};
  double energy;
  friction_evaluate(&s->lag[k], &parameters, &p->a.hull.pose, &p->b.hull.pose, p->a.hull.center, p->b.hull.center,
                    &s->out, &energy);
  s->sink += energy;
}

static void gjk_cold(BenchPair* p, BenchState* s, int k) {
  (void)k;
  GjkResult found;
  s->sink += pair_distance(&p->a.hull, &p->b.hull, NULL, &found);
}

static void gjk_warm(BenchPair* p, BenchState* s, int k) {
  (void)k;
  GjkResult found;
  s->sink += pair_distance(&p->a.hull, &p->b.hull, &p->gjk, &found);
}

typedef void (*BenchBody)(BenchPair*, BenchState*, int);

/* Returns the mean time of one call of `body` [ns], as the median over REPEATS repetitions. */
static double time_body(BenchBody body, BenchPair* pairs, BenchState* s) {
  double times[REPEATS] = {0};
  for (int r = 0; r < REPEATS; r++) {
    double start = timer_now();
    for (int move = 0; move < MOVES; move++)
      for (int k = 0; k < PAIRS; k++) {
        set_move(&pairs[k].a, move);
        set_move(&pairs[k].b, move);
        body(&pairs[k], s, k);
      }
    double t = (timer_now() - start) * 1e9 / (MOVES * PAIRS);
    int at = r;
    for (; at > 0 && times[at - 1] > t; at--) times[at] = times[at - 1];
    times[at] = t;
  }
  return times[REPEATS / 2];
}

static void prepare_friction(BenchPair* pairs, BenchState* s, int room) {
  for (int k = 0; k < PAIRS; k++) {
    set_move(&pairs[k].a, 0);
    set_move(&pairs[k].b, 0);
    contact_cold(&pairs[k], s, k);
    friction_lag(&pairs[k].a.hull, &pairs[k].b.hull, bench_support, &s->solution[k].plane, NULL, NULL, NULL, NULL,
                 s->vertices + (size_t)k * (size_t)room, &s->lag[k]);
  }
}

static void bench_row(FILE* out, int vertices, Random* random) {
  BenchPair* pairs = MEMORY_NEW(BenchPair, PAIRS);
  BenchState* s = MEMORY_NEW(BenchState, 1);
  int room = vertices == WHEEL ? WHEEL_PARTNER + RING_POINTS * ROUND_RINGS_MAX : 2 * vertices;
  int capacity = 2 * ((room / 2 + 7) / 8 * 8);
  double* memory = MEMORY_NEW(double, 3 * capacity);
  s->scratch = (PlaneScratch){memory, memory + capacity, memory + 2 * capacity, capacity, 1e-11};
  s->vertices = MEMORY_NEW(FrictionVertex, PAIRS * room);
  for (int k = 0; k < PAIRS; k++) fill_pair(&pairs[k], vertices, random);
  double cold = time_body(contact_cold, pairs, s);
  prepare_friction(pairs, s, room);
  double warm = time_body(contact_warm, pairs, s);
  prepare_friction(pairs, s, room);
  double friction = time_body(friction_once, pairs, s);
  double cold_gjk = time_body(gjk_cold, pairs, s), warm_gjk = time_body(gjk_warm, pairs, s);
  if (vertices == WHEEL) fprintf(out, "wheel and ");
  fprintf(out, "%d,%.0f,%.0f,%.0f,%.0f,%.0f\n", vertices == WHEEL ? WHEEL_PARTNER : vertices, cold, warm, friction,
          cold_gjk, warm_gjk);
  for (int k = 0; k < PAIRS; k++) {
    point_view_free(&pairs[k].a.hull.points);
    point_view_free(&pairs[k].b.hull.points);
  }
  memory_free(memory);
  memory_free(s->vertices);
  memory_free(s);
  memory_free(pairs);
}

void contact_bench_pair(FILE* out) {
  static const int sizes[] = {8, 16, 32, 64, 128, 256, 512, BALL, WHEEL};
  Random random = {20240607};
  fprintf(out, "vertices,contact_cold_ns,contact_warm_ns,friction_ns,gjk_cold_ns,gjk_warm_ns\n");
  for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) bench_row(out, sizes[k], &random);
}
