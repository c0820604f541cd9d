/* sdrs bench query: time of a query without warm start, with warm start along a path, and of its derivatives. */
#include <time.h>
#include "app/bench.h"
#include "query/query.h"

enum { POSES = 2000, ROUNDS = 7, PATH = 200, HULL_POINTS = 32 };
/* Displacement per step along a path [m], for bodies of about 1 m, and rotation per step [rad]. */
#define PATH_STEP 0.002
#define PATH_TURN 0.005

typedef struct {
  const char* name;
  ShapeDefinition form; /* form of a smooth shape, unless `hull` */
  bool hull;
} BenchBody;

static const double FACES[8][4] = {{1, 1, 1, 1},        {1, -1, -1, 1},        {-1, 1, -1, 1},
                                   {-1, -1, 1, 1},      {-1, -1, -1, 5.0 / 3}, {-1, 1, 1, 5.0 / 3},
                                   {1, -1, 1, 5.0 / 3}, {1, 1, -1, 5.0 / 3}};

static const BenchBody BODIES[] = {
    {"smooth_polytope", {.kind = SMOOTH_POLYTOPE, .beta = 20, .faces = FACES, .face_count = 8}, false},
    {"truncated_cone", {.kind = SMOOTH_CONE, .beta = 20, .size = {1, 0.5, 1, 1}}, false},
    {"superellipsoid", {.kind = SMOOTH_SUPERELLIPSOID, .exponent = 8, .size = {0.5, 1, 1.5}}, false},
    {"superelliptic_cylinder", {.kind = SMOOTH_CYLINDER, .exponent = 8, .size = {1, 2}}, false},
    {"superquadric", {.kind = SMOOTH_SUPERQUADRIC, .exponents = {0.3, 0.6}, .size = {0.5, 1, 1.5}}, false},
    {"ellipsoid", {.kind = SMOOTH_SUPERELLIPSOID, .exponent = 1, .size = {0.5, 1, 1.5}}, false},
    {"points", {.kind = SMOOTH_KINDS}, true},
};
enum { BODY_COUNT = sizeof BODIES / sizeof BODIES[0] };

static Vec3 random_direction(Random* random) {
  Vec3 v;
  do v = vec3_random_normal(random);
  while (vec3_norm(v) < 1e-3);
  return vec3_normalized(v);
}

/* A pair of bodies and its poses: independent random poses in `random`, and short paths of PATH poses in `path`. */
typedef struct {
  Shape shape[2];
  PointView points[2];
  bool hull;
  Pose cold[POSES][2], path[POSES][2];
} QueryBenchPair;

static void draw_poses(QueryBenchPair* pair, Random* random) {
  Vec3 axis = vec3(0, 0, 1), direction = vec3(1, 0, 0);
  for (int i = 0; i < POSES; i++) {
    for (int k = 0; k < 2; k++) {
      Quat q = quat_random_normal(random);
      pair->cold[i][k].r = mat3_from_quat(quat_normalized(q));
      double distance = k ? random_uniform(random, pair->hull ? 2.1 : 0.5, 4) : 0;
      pair->cold[i][k].t = k ? vec3_scale(random_direction(random), distance) : vec3(0, 0, 0);
      pair->path[i][k] = i % PATH == 0 ? pair->cold[i][k] : pair->path[i - 1][k];
    }
    if (i % PATH == 0) {
      axis = random_direction(random);
      direction = random_direction(random);
    }
    Pose* b = &pair->path[i][1];
    b->t = vec3_add_scaled(b->t, PATH_STEP, direction);
    b->r = mat3_mul(mat3_from_quat(quat_about(axis, PATH_TURN)), b->r);
  }
}

/* Returns the processor time of this process [s], which does not depend on the load of the machine. */
static double processor_time(void) { return (double)clock() / CLOCKS_PER_SEC; }

/* Receives the results, so that the compiler does not remove their computation. */
static volatile double result_sink;

static double time_cold(const QueryBenchPair* pair) {
  double start = processor_time();
  for (int i = 0; i < POSES; i++) {
    const Pose* p = pair->cold[i];
    if (pair->hull)
      result_sink = distance_query(pair->points[0], p[0], pair->points[1], p[1], NULL).distance;
    else
      result_sink = growth_query(&pair->shape[0], p[0], &pair->shape[1], p[1], NULL).alpha;
  }
  return (processor_time() - start) / POSES;
}

static double time_warm(const QueryBenchPair* pair) {
  GrowthCache growth = {.warm = 0};
  GjkCache gjk = {.count = 0};
  double start = processor_time();
  for (int i = 0; i < POSES; i++) {
    const Pose* p = pair->path[i];
    if (i % PATH == 0) {
      growth.warm = 0;
      gjk.count = 0;
    }
    if (pair->hull)
      result_sink = distance_query(pair->points[0], p[0], pair->points[1], p[1], &gjk).distance;
    else
      result_sink = growth_query(&pair->shape[0], p[0], &pair->shape[1], p[1], &growth).alpha;
  }
  return (processor_time() - start) / POSES;
}

static double time_derivatives(const QueryBenchPair* pair) {
  double out[GROWTH_ROWS * QUERY_POSE_COLUMNS], condition = 0;
  const Pose* p = pair->cold[0];
  Growth g = {0};
  Distance d = {0};
  if (pair->hull)
    d = distance_query(pair->points[0], p[0], pair->points[1], p[1], NULL);
  else
    g = growth_query(&pair->shape[0], p[0], &pair->shape[1], p[1], NULL);
  double start = processor_time();
  for (int i = 0; i < POSES; i++) {
    if (pair->hull)
      distance_derivatives(pair->points[0], p[0], pair->points[1], p[1], &d, out);
    else
      growth_derivatives(&pair->shape[0], p[0], &pair->shape[1], p[1], &g, false, out, &condition);
    result_sink = out[0];
  }
  return (processor_time() - start) / POSES;
}

static double median_ns(double (*measure)(const QueryBenchPair*), const QueryBenchPair* pair) {
  double seconds[ROUNDS];
  for (int k = 0; k < ROUNDS; k++) seconds[k] = measure(pair);
  return 1e9 * bench_median(seconds, ROUNDS);
}

static void make_body(QueryBenchPair* pair, int k, const BenchBody* body, Random* random) {
  if (!body->hull) {
    shape_create(&pair->shape[k], &body->form);
    return;
  }
  Vec3 points[HULL_POINTS];
  for (int i = 0; i < HULL_POINTS; i++) points[i] = random_direction(random);
  pair->points[k] = point_view_create(points, HULL_POINTS);
}

static void bench_bodies(const BenchBody* a, const BenchBody* b) {
  Random random = {1};
  QueryBenchPair* pair = MEMORY_NEW(QueryBenchPair, 1);
  pair->hull = a->hull;
  make_body(pair, 0, a, &random);
  make_body(pair, 1, b, &random);
  draw_poses(pair, &random);
  double cold = median_ns(time_cold, pair), warm = median_ns(time_warm, pair);
  printf("%s,%s,%s,%.0f,%.0f,%.0f\n", a->hull ? "distance" : "growth", a->name, b->name, cold, warm,
         median_ns(time_derivatives, pair));
  for (int k = 0; k < 2; k++) {
    shape_free(&pair->shape[k]);
    point_view_free(&pair->points[k]);
  }
  memory_free(pair);
}

ExitCode bench_query(const Options* options) {
  (void)options;
  printf("method,shape_a,shape_b,cold_ns,warm_ns,derivatives_ns\n");
  for (int a = 0; a < BODY_COUNT; a++)
    for (int b = a; b < BODY_COUNT; b++)
      if (BODIES[a].hull == BODIES[b].hull) bench_bodies(&BODIES[a], &BODIES[b]);
  bench_contacts();
  return EXIT_DONE;
}
