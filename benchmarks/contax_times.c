/* Figs. 6 and 7 of the contact manifold paper: what a manifold costs by parts of the bodies, by pairs of edges and by
 * queries at a time, as CSV. Standard input: smoothing, then size, exponents, position, quaternion of every
 * superquadric of a body. benchmarks/measure_contax.py */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "query/query.h"

enum { PARTS_MAX = 64, POSES = 100, EDGES = 18 };
typedef struct {
  int count;
  double smoothing;
  double part[PARTS_MAX][12];
} Given;

typedef struct {
  Field field[2];
  ManifoldBody body[2];
  ManifoldOptions options;
} Pair;

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static Given read_given(void) {
  Given g = {0};
  if (scanf("%lf", &g.smoothing) != 1) exit(1);
  for (bool more = true; more && g.count < PARTS_MAX; g.count += more)
    for (int k = 0; k < 12 && more; k++) more = scanf("%lf", &g.part[g.count][k]) == 1;
  return g;
}

/* The first `parts` of them. */
static void make_pair(Pair* pair, const Given* g, int parts) {
  *pair = (Pair){.options = {.smoothing = g->smoothing, .softness = 0.02, .regularization = 0.001, .edges = EDGES}};
  for (int k = 0; k < 2; k++) {
    Field* field = &pair->field[k];
    *field = (Field){.kind = FIELD_UNION, .pose = pose_identity(), .smoothing = g->smoothing, .part_count = parts};
    field->parts = MEMORY_NEW(Field, parts);
    for (int i = 0; i < parts; i++) {
      const double* p = g->part[i];
      ShapeDefinition form = {.kind = SMOOTH_SUPERQUADRIC, .size = {p[0], p[1], p[2]}, .exponents = {p[3], p[4]}};
      field->parts[i] = (Field){.kind = FIELD_SHAPE};
      shape_create(&field->parts[i].shape, &form);
      Quat turn = {p[8], p[9], p[10], p[11]};
      field->parts[i].pose = (Pose){mat3_from_quat(quat_normalized(turn)), vec3(p[5], p[6], p[7])};
    }
    TriangleSurface surface = field_surface(field, 1);
    pair->body[k] = manifold_body_create(field, &surface);
  }
}

static void free_pair(Pair* pair) {
  for (int k = 0; k < 2; k++) {
    manifold_body_free(&pair->body[k]);
    field_free(&pair->field[k]);
  }
}

/* Any turn, centres half a body apart. */
static Pose random_pose(const Pair* pair, Random* random) {
  Quat q = {random_normal(random), random_normal(random), random_normal(random), random_normal(random)};
  Vec3 d = vec3_normalized(vec3(random_normal(random), random_normal(random), random_normal(random)));
  return (Pose){mat3_from_quat(quat_normalized(q)), vec3_scale(d, pair->body[0].outer)};
}

static int by_size(const void* a, const void* b) {
  const double *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

/* Median and spread of a query's times over random poses [us]. */
static void time_poses(Pair* pair, bool values, double* median, double* spread) {
  Random random = {5};
  double times[POSES], mean = 0, square = 0;
  pair->options.values = values;
  ManifoldContact* out = MEMORY_NEW(ManifoldContact, manifold_count(&pair->body[0], &pair->body[1], &pair->options));
  void* room = memory_alloc(manifold_room(&pair->body[0], &pair->body[1], &pair->options));
  for (int i = 0; i < POSES; i++) {
    Pose pose = random_pose(pair, &random);
    double start = seconds();
    manifold_query(&pair->body[0], pose_identity(), &pair->body[1], pose, &pair->options, out, room);
    times[i] = 1e6 * (seconds() - start);
    mean += times[i] / POSES;
  }
  for (int i = 0; i < POSES; i++) square += (times[i] - mean) * (times[i] - mean) / (POSES - 1);
  qsort(times, POSES, sizeof *times, by_size);
  *median = times[POSES / 2];
  *spread = sqrt(square);
  memory_free(out);
  memory_free(room);
}

static void row(const char* figure, const char* what, int number, Pair* pair) {
  double values[2], all[2];
  time_poses(pair, true, &values[0], &values[1]);
  time_poses(pair, false, &all[0], &all[1]);
  printf("%s,%s,%d,%d,%d,%.1f,%.1f,%.1f,%.1f\n", figure, what, number, pair->body[0].point_count,
         (int)manifold_count(&pair->body[0], &pair->body[1], &pair->options), values[0], values[1], all[0], all[1]);
  fflush(stdout);
}

/* Many queries one after the other. */
static void batch(const Given* g, int parts) {
  Pair pair;
  make_pair(&pair, g, parts);
  pair.options.values = true;
  int64_t contacts = manifold_count(&pair.body[0], &pair.body[1], &pair.options);
  ManifoldContact* out = MEMORY_NEW(ManifoldContact, contacts);
  void* room = memory_alloc(manifold_room(&pair.body[0], &pair.body[1], &pair.options));
  for (int queries = 1; queries <= 1024; queries *= 4) {
    Random random = {5};
    double start = seconds();
    for (int i = 0; i < queries; i++)
      manifold_query(&pair.body[0], pose_identity(), &pair.body[1], random_pose(&pair, &random), &pair.options, out,
                     room);
    printf("7b,queries of %d parts,%d,%d,%d,%.1f,,,\n", parts, queries, pair.body[0].point_count, (int)contacts,
           1e6 * (seconds() - start) / queries);
  }
  memory_free(out);
  memory_free(room);
  free_pair(&pair);
}

int main(void) {
  Given g = read_given();
  Pair pair;
  printf("figure,what,number,vertices,contacts,us,us_spread,us_with_derivatives,us_with_derivatives_spread\n");
  const int parts[] = {1, 2, 3, 5, 9, 14, 18};
  for (int k = 0; k < 7 && parts[k] <= g.count; k++) {
    make_pair(&pair, &g, parts[k]);
    row("7a", "superquadrics", parts[k], &pair);
    free_pair(&pair);
  }
  const int edges[] = {1, 4, 18, 64, 200};
  make_pair(&pair, &g, g.count);
  for (int k = 0; k < 5; k++) {
    pair.options.edges = edges[k];
    row("6", "edges of each body", edges[k], &pair);
  }
  free_pair(&pair);
  batch(&g, 5);
  batch(&g, g.count);
  return 0;
}
