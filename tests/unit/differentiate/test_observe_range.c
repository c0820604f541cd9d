/* Tests range sensors: readings against closed forms of rays, derivatives by poses and shapes against differences
 * (docs/derivations/observables.md, O30). */
#include <string.h>

#include "differentiate/observe.h"
#include "loss_testing.h"

enum { SENSOR = 5, TIP = 6, LINKS = 8 };
static const double RADIUS = 0.5, CAN = 0.4, EDGE = 0.2;

/* A sensor among a floor, a turned wall, a ball, a leaning can and a rounded box. %g: radius of the ball, radius and
 * length of the can, thickness of the wall, size and radius of the rounded box. */
static LossRun* room(double radius, double can, double length, double edge, double side, double rounding) {
  return loss_run_create(
      1,
      "simulation: {dt: 0.1, steps: 1, gravity: [0, 0, 0], integrator: first_order}\n"
      "contact: {model: none}\n"
      "links:\n"
      "  - {name: floor, fixed: true, shape: {type: half_space, offset: -1}}\n"
      "  - {name: wall, fixed: true, position: [2, 0, 0], rotation_vector: [0, 0, 0.3], shape: {type: box, size: "
      "[%.17g, "
      "3, 3]}}\n"
      "  - {name: ball, mass: 1, position: [0, 1.5, 0.1], shape: {type: sphere, radius: %.17g}}\n"
      "  - {name: can, mass: 1, position: [-1.5, 0.1, 0.05], rotation_vector: [0.2, 0.1, 0], shape: {type: cylinder, "
      "radius: %.17g, length: %.17g}}\n"
      "  - {name: lid, mass: 1, position: [0.05, 0.02, 1.5], rotation_vector: [0.9, 0.6, 0.2], shape: {type: "
      "rounded_box, size: [%.17g, 0.3, 0.4], radius: %.17g}}\n"
      "  - {name: sensor, mass: 1, shape: {type: sphere, radius: 0.05}}\n"
      "  - {name: tip, parent: sensor, fixed: true, mass: 0.001, center: [0, 0, 0], inertia: [1.0e-7, 1.0e-7, 1.0e-7, "
      "0, 0, 0]}\n"
      "  - {name: peg, mass: 1, position: [0, -1, 0], shape: {type: points, points: [[0, 0, 1], [1, 0, -1], [-1, 0.5, "
      "-1], [-1, -0.5, -1]]}}\n",
      edge, radius, can, length, side, rounding);
}

static LossRun* usual_room(void) { return room(RADIUS, CAN, 2, EDGE, 0.2, 0.1); }

static void read_at(const LossRun* run, int link, double out[6]) {
  const Observation in = {.model = &run->run->model, .pose = {NULL, run->recording.pose, NULL}};
  observable_at(OBSERVABLE_RANGE)->value(&in, link, out);
}

static void readings_O30_are_those_of_rays(void** state) {
  (void)state;
  LossRun* run = usual_room();
  double out[6];
  read_at(run, TIP, out);
  compare_near(out[0], 2 - EDGE / 2 / cos(0.3), 1e-12, "a plane turned by 0.3 rad");
  Pose can = *pose_at(run, 0, 3);
  Vec3 axis = mat3_mul_vec(can.r, vec3(0, 0, 1)), along = vec3(-1, 0, 0), from = vec3_scale(can.t, -1);
  Vec3 d = vec3_project(along, axis), o = vec3_project(from, axis);
  double a = vec3_dot(d, d), b = vec3_dot(d, o), c = vec3_dot(o, o) - CAN * CAN;
  compare_near(out[1], (-b - sqrt(b * b - a * c)) / a, 1e-10, "an oblique cylinder: a quadratic equation");
  compare_near(out[2], 1.5 - sqrt(RADIUS * RADIUS - 0.1 * 0.1), 1e-12, "a sphere beside its centre");
  compare_near(out[5], 1, 1e-15, "a half-space");
  read_at(run, SENSOR, out);
  compare_near(out[5], 1, 1e-15, "its own sphere is not seen");
  pose_at(run, 0, TIP)->t = vec3(0, 1.5, 0.3);
  read_at(run, TIP, out);
  compare_near(out[3], 0, 0, "inside of the ball");
  pose_at(run, 0, TIP)->t = vec3(0, 0, 9);
  read_at(run, TIP, out);
  assert_true(isnan(out[4]) && isnan(out[0]));
  compare_near(out[5], 9 - 1.5, 0.4, "the lid, before the floor");
  loss_run_free(run);
}

/* Weighted sum of the readings of the tip. */
static double sum_of(const LossRun* run, const double* weight) {
  double out[6], sum = 0;
  read_at(run, TIP, out);
  for (int k = 0; k < 6; k++) sum += weight[k] == 0 ? 0 : weight[k] * out[k];
  return sum;
}

static LossSeeds seeds_of(const LossRun* run, const double* weight) {
  const Model* m = &run->run->model;
  LossSeeds seeds = loss_seeds_create(m, 1);
  const Observation in = {.model = m, .pose = {NULL, run->recording.pose, NULL}};
  const ObservationBars bars = {.pose = {NULL, seeds.pose, NULL}, .seeds = &seeds};
  observable_at(OBSERVABLE_RANGE)->seed(&in, TIP, weight, &bars);
  return seeds;
}

static const double WEIGHT[6] = {0.7, -1.3, 0.4, 1.1, 0.9, -0.6};

static void derivatives_by_poses(void** state) {
  (void)state;
  LossRun* run = usual_room();
  LossSeeds seeds = seeds_of(run, WEIGHT);
  for (int link = 0; link < LINKS; link++)
    for (int k = 0; k < 6; k++) {
      Pose start = *pose_at(run, 0, link), moved[2];
      double slope = 0, value[2], h = 1e-5;
      for (int side = 0; side < 2; side++) {
        Vec3 by = vec3_scale(vec3_axis(k), side ? -h : h);
        moved[side] = start;
        if (k < 3) moved[side].t = vec3_add(start.t, by);
        if (k >= 3) moved[side].r = mat3_mul(mat3_from_quat(quat_exp(by)), start.r);
        *pose_at(run, 0, link) = moved[side];
        value[side] = sum_of(run, WEIGHT);
      }
      *pose_at(run, 0, link) = start;
      const double dt[3] = {moved[0].t.x - moved[1].t.x, moved[0].t.y - moved[1].t.y, moved[0].t.z - moved[1].t.z};
      for (int i = 0; i < 3; i++) {
        slope += seeds.pose[link][i][3] * dt[i];
        for (int j = 0; j < 3; j++) slope += seeds.pose[link][i][j] * (moved[0].r.m[i][j] - moved[1].r.m[i][j]);
      }
      compare_near(slope / (2 * h), (value[0] - value[1]) / (2 * h), 3e-7, "link %d, motion %d", link, k);
    }
  loss_seeds_destroy(&seeds);
  loss_run_free(run);
}

static double sum_in_room(const double* x) {
  LossRun* run = room(x[0], x[1], x[2], x[3], x[4], x[5]);
  double sum = sum_of(run, WEIGHT);
  loss_run_free(run);
  return sum;
}

static double difference_by(int parameter) {
  double value[2], x[6], h = 1e-5;
  for (int side = 0; side < 2; side++) {
    memcpy(x, (const double[]){RADIUS, CAN, 2, EDGE, 0.2, 0.1}, sizeof(x));
    x[parameter] += side ? -h : h;
    value[side] = sum_in_room(x);
  }
  return (value[0] - value[1]) / (2 * h);
}

static void derivatives_by_shapes(void** state) {
  (void)state;
  LossRun* run = usual_room();
  LossSeeds seeds = seeds_of(run, WEIGHT);
  const Model* m = &run->run->model;
  double by_edge = 0;
  for (int h = 0; h < m->hull_count; h++) {
    const ModelHull* hull = &m->hulls[h];
    const double* slope = seeds.shapes + (hull_is_round(hull) ? hull->smooth->parameter_first : 0);
    for (int i = 0; hull->link == 1 && i < hull->points.count; i++)
      by_edge += seeds.vertices[hull->vertex_first + i].x * (point_at(hull->points, i).x > 0 ? 0.5 : -0.5);
    if (hull->link == 2) compare_near(slope[0], difference_by(0), 1e-8, "radius of the ball");
    if (hull->link == 3) compare_near(slope[0], difference_by(1), 1e-7, "radius of the can");
    if (hull->link == 3) compare_near(slope[1], difference_by(2), 1e-7, "length of the can");
    if (hull->link == 4) compare_near(slope[0], difference_by(5), 1e-7, "radius of the rounded box");
    if (hull->link == 4) compare_near(slope[1], difference_by(4), 1e-7, "width of the rounded box");
  }
  compare_near(by_edge, difference_by(3), 1e-8, "thickness of the wall");
  loss_seeds_destroy(&seeds);
  loss_run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(readings_O30_are_those_of_rays),
      cmocka_unit_test(derivatives_by_poses),
      cmocka_unit_test(derivatives_by_shapes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
