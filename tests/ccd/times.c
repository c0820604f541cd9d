/* Times of hull distances in sdrs, FCL and libccd for the same pairs in one run: CSV, a row for each kind of hull,
 * apart and overlapping, and program. benchmarks/measure_peers.sh */
#include <ccd/ccd.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "query/query.h"

void* fcl_hull_create(const double* points, int count, const int* triangles, int triangle_count);
void fcl_hull_free(void* hull);
double fcl_hull_distance(const void* a, const double pose_a[12], const void* b, const double pose_b[12], int libccd);

enum { PAIRS = 300, ROUNDS = 5, PEERS = 4 };
static const char* const peer_name[PEERS] = {"sdrs distance", "FCL distance (libccd)", "FCL distance (own GJK)",
                                             "libccd meet or depth"};

typedef struct {
  ConvexHull hull;
  PointView view;
  void* fcl;
  Pose pose;
  double numbers[12];
} Body;

static double seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

static Vec3 direction(Random* random) {
  return vec3_normalized(vec3(random_normal(random), random_normal(random), random_normal(random)));
}

/* On the unit ball; eight are a cube's corners. */
static void make_body(Body* body, int points, double apart, Random* random) {
  Vec3 place[512];
  for (int i = 0; i < points; i++)
    place[i] = points == 8 ? vec3_scale(vec3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1), 0.57735026918962576)
                           : direction(random);
  if (hull_create(&body->hull, place, points) != HULL_OK) return;
  body->view = point_view_create(body->hull.vertices, body->hull.vertex_count);
  body->fcl = fcl_hull_create(&body->hull.vertices[0].x, body->hull.vertex_count, &body->hull.triangles[0][0],
                              body->hull.triangle_count);
  Quat q = {random_normal(random), random_normal(random), random_normal(random), random_normal(random)};
  body->pose = (Pose){mat3_from_quat(quat_normalized(q)), vec3_scale(direction(random), apart)};
  memcpy(body->numbers, body->pose.r.m, sizeof body->pose.r.m);
  memcpy(body->numbers + 9, &body->pose.t, sizeof body->pose.t);
}

static void free_body(Body* body) {
  fcl_hull_free(body->fcl);
  point_view_free(&body->view);
  hull_free(&body->hull);
}

static void support(const void* object, const ccd_vec3_t* towards, ccd_vec3_t* out) {
  const Body* body = object;
  Vec3 d = mat3_tmul_vec(body->pose.r, vec3(towards->v[0], towards->v[1], towards->v[2]));
  int best = 0;
  for (int i = 1; i < body->hull.vertex_count; i++)
    if (vec3_dot(body->hull.vertices[i], d) > vec3_dot(body->hull.vertices[best], d)) best = i;
  Vec3 p = pose_apply(body->pose, body->hull.vertices[best]);
  ccdVec3Set(out, p.x, p.y, p.z);
}

/* libccd has no distance: whether they meet; of pairs that overlap the depth. */
static double libccd_answer(const Body* a, const Body* b, bool deep) {
  ccd_t ccd;
  CCD_INIT(&ccd);
  ccd.support1 = ccd.support2 = support;
  ccd.max_iterations = 500;
  ccd.epa_tolerance = 1e-6;
  if (!deep) return ccdGJKIntersect(a, b, &ccd);
  ccd_real_t depth = 0;
  ccd_vec3_t normal, place;
  return ccdGJKPenetration(a, b, &ccd, &depth, &normal, &place) == 0 ? -depth : NAN;
}

static double answer(int peer, const Body* a, const Body* b, bool deep) {
  if (peer == 0) return distance_query(a->view, a->pose, b->view, b->pose, NULL).distance;
  if (peer == 3) return libccd_answer(a, b, deep);
  return fcl_hull_distance(a->fcl, a->numbers, b->fcl, b->numbers, peer == 1);
}

/* The most that the other differs from ours, and in how many pairs by more than 1e-5. */
static void compare(const double* ours, const double* theirs, double* most, int* differ) {
  *most = 0;
  *differ = 0;
  for (int i = 0; i < PAIRS; i++) {
    double apart = fabs(ours[i] - theirs[i]);
    *most = fmax(*most, apart);
    *differ += !(apart <= 1e-5);
  }
}

static int by_size(const void* a, const void* b) {
  const double *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

static void race(int points, bool deep, Random* random) {
  static Body a[PAIRS], b[PAIRS];
  static double answers[PEERS][PAIRS];
  double times[PEERS][ROUNDS];
  for (int i = 0; i < PAIRS; i++) {
    make_body(&a[i], points, 0, random);
    double apart = deep ? random_uniform(random, 0.6, 1.1) : random_uniform(random, 2.05, 3);
    make_body(&b[i], points, apart, random);
  }
  for (int round = 0; round < ROUNDS; round++)
    for (int peer = 0; peer < PEERS; peer++) {
      if (deep && peer == 2) continue;
      double start = seconds();
      for (int i = 0; i < PAIRS; i++) answers[peer][i] = answer(peer, &a[i], &b[i], deep);
      times[peer][round] = (seconds() - start) / PAIRS;
    }
  for (int peer = 0; peer < PEERS; peer++) qsort(times[peer], ROUNDS, sizeof(double), by_size);
  for (int peer = 0; peer < PEERS; peer++) {
    if (deep && peer == 2) continue;
    double most;
    int differ;
    compare(answers[0], answers[peer], &most, &differ);
    printf("%d,%s,%s,%.2f,%.2f", points, deep ? "overlapping" : "apart", peer_name[peer], 1e6 * times[peer][0],
           times[peer][0] / times[0][0]);
    if (peer == 3 && !deep)
      printf(",,\n"); /* yes or no */
    else
      printf(",%.1e,%d\n", most, differ);
  }
  for (int i = 0; i < PAIRS; i++) {
    free_body(&a[i]);
    free_body(&b[i]);
  }
}

int main(void) {
  Random random = {15};
  printf("points,pairs,program,us,of_sdrs,largest_difference_m,pairs_that_differ\n");
  const int points[] = {8, 32, 128};
  for (int k = 0; k < 3; k++)
    for (int deep = 0; deep < 2; deep++) race(points[k], deep, &random);
  return 0;
}
