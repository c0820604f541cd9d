/* Hulls in sdrs and in libccd in one run: whether they meet must agree, and no depth of libccd's may beat ours, times
 * are printed side by side. The points come from a linear congruence, so every run has the same. */
#include <ccd/ccd.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "query/query.h"

enum { POINTS = 32, PAIRS = 4000, DEEP = 200 };
/* libccd's polytope ends this near to the surface. */
#define CCD_TOLERANCE 1e-10
#define DEPTH_TOLERANCE 1e-6

typedef struct {
  Vec3 points[POINTS];
  Pose pose;
} Hull;

static double seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

static void support(const void* object, const ccd_vec3_t* direction, ccd_vec3_t* out) {
  const Hull* hull = object;
  Vec3 d = mat3_tmul_vec(hull->pose.r, vec3(direction->v[0], direction->v[1], direction->v[2]));
  int best = 0;
  for (int i = 1; i < POINTS; i++)
    if (vec3_dot(hull->points[i], d) > vec3_dot(hull->points[best], d)) best = i;
  Vec3 p = pose_apply(hull->pose, hull->points[best]);
  ccdVec3Set(out, p.x, p.y, p.z);
}

static void center(const void* object, ccd_vec3_t* out) {
  const Hull* hull = object;
  ccdVec3Set(out, hull->pose.t.x, hull->pose.t.y, hull->pose.t.z);
}

static Vec3 direction(Random* random) {
  return vec3_normalized(vec3(random_normal(random), random_normal(random), random_normal(random)));
}

static Hull random_hull(Random* random) {
  Hull hull;
  for (int i = 0; i < POINTS; i++) hull.points[i] = direction(random);
  Quat q = {random_normal(random), random_normal(random), random_normal(random), random_normal(random)};
  hull.pose = (Pose){mat3_from_quat(quat_normalized(q)), {0, 0, 0}};
  return hull;
}

static ccd_t method(void) {
  ccd_t ccd;
  CCD_INIT(&ccd);
  ccd.support1 = ccd.support2 = support;
  ccd.center1 = ccd.center2 = center;
  ccd.max_iterations = 1000;
  ccd.epa_tolerance = CCD_TOLERANCE;
  return ccd;
}

/* Do the hulls meet? Both say so, and how long both take. */
static int compare_meeting(Random* random) {
  ccd_t ccd = method();
  int differ = 0, meet = 0;
  double times[2] = {0, 0};
  for (int i = 0; i < PAIRS; i++) {
    Hull a = random_hull(random), b = random_hull(random);
    b.pose.t = vec3_scale(direction(random), random_uniform(random, 1.6, 2.4));
    PointView va = point_view_create(a.points, POINTS), vb = point_view_create(b.points, POINTS);
    double start = seconds();
    double distance = gjk_distance(va, a.pose, vb, b.pose, NULL).distance;
    double middle = seconds();
    int theirs = ccdGJKIntersect(&a, &b, &ccd);
    times[1] += seconds() - middle;
    times[0] += middle - start;
    differ += (distance == 0) != (theirs != 0);
    meet += theirs;
    point_view_free(&va);
    point_view_free(&vb);
  }
  printf("meeting: %d pairs, %d meet, %d differ; sdrs (distance and points) %.0f ns, libccd (yes or no) %.0f ns\n",
         PAIRS, meet, differ, 1e9 * times[0] / PAIRS, 1e9 * times[1] / PAIRS);
  return differ == 0 && meet > PAIRS / 10 && meet < PAIRS * 9 / 10;
}

/* How far b must go along a unit vector to leave a, from all points: never less than the depth. */
static double way_out(const Hull* a, const Hull* b, Vec3 n) {
  double top = -HUGE_VAL, bottom = HUGE_VAL;
  for (int i = 0; i < POINTS; i++) {
    top = fmax(top, vec3_dot(n, pose_apply(a->pose, a->points[i])));
    bottom = fmin(bottom, vec3_dot(n, pose_apply(b->pose, b->points[i])));
  }
  return top - bottom;
}

/* The depth is the least way out. Ours must be the way out along our normal, and no longer than that along theirs (up
 * or down, whichever is shorter). How often libccd's depth is its own way out is told, not judged. */
static int compare_depth(Random* random) {
  ccd_t ccd = method();
  double wrong = 0, longer = 0, times[2] = {0, 0};
  int answered = 0, theirs_holds = 0;
  for (int i = 0; i < DEEP; i++) {
    Hull a = random_hull(random), b = random_hull(random);
    b.pose.t = vec3_scale(direction(random), random_uniform(random, 0.8, 1.6));
    PointView va = point_view_create(a.points, POINTS), vb = point_view_create(b.points, POINTS);
    double start = seconds();
    Distance ours = distance_query(va, a.pose, vb, b.pose, NULL);
    double middle = seconds();
    ccd_real_t depth = 0;
    ccd_vec3_t normal, place;
    int found = ccdGJKPenetration(&a, &b, &ccd, &depth, &normal, &place);
    times[1] += seconds() - middle;
    times[0] += middle - start;
    if (found == 0 && ours.distance < 0) {
      Vec3 n = vec3_normalized(vec3(normal.v[0], normal.v[1], normal.v[2]));
      double theirs = fmin(way_out(&a, &b, n), way_out(&a, &b, vec3_scale(n, -1)));
      wrong = fmax(wrong, fabs(way_out(&a, &b, ours.normal) + ours.distance));
      longer = fmax(longer, -ours.distance - theirs);
      theirs_holds += fabs(theirs - depth) <= DEPTH_TOLERANCE;
      answered++;
    }
    point_view_free(&va);
    point_view_free(&vb);
  }
  printf(
      "depth: %d of %d pairs overlap; ours differs from its way out by %.2g m, is longer than theirs by %.2g m; "
      "libccd's is "
      "its own way out in %d; sdrs %.1f us, libccd %.1f us\n",
      answered, DEEP, wrong, longer, theirs_holds, 1e6 * times[0] / DEEP, 1e6 * times[1] / DEEP);
  return wrong <= 1e-12 && longer <= 1e-12 && answered > DEEP / 2;
}

int main(void) {
  Random random = {61};
  int passed = compare_meeting(&random) + compare_depth(&random);
  printf("%d passed, %d failed\n", passed, 2 - passed);
  return passed == 2 ? 0 : 1;
}
