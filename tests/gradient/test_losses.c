/* Every kind of loss: seeds against central differences by every array that a loss could depend on, over a run with
 * contact, on both sides of every branch, for both integrators. */
#include "support/losses.h"

#include <stdio.h>

#include "support/bodies.h"
#include "support/long.h"

static const char* const INTEGRATORS[] = {", integrator: first_order", ", integrator: second_order"};

/* The same checks on a run of each integrator; the short form takes the one with more terms. */
static void on_runs(void (*body)(LossRun* run)) {
  for (int i = tests_are_long() ? 0 : 1; i < 2; i++) {
    LossRun* run = loss_run_create(6, LOSS_SCENE, INTEGRATORS[i]);
    body(run);
    loss_run_free(run);
  }
}

static void check(LossRun* run, const TaskLoss* loss, unsigned moved, bool rigid, double first, const char* what) {
  Loss* made = loss_make(run, loss);
  loss_check_seeds(run, made, moved, rigid, first, what);
  loss_destroy(made);
}

/* Windows of a loss over time: the default, one inside the run, one with a start only, one with an end only. */
static const double WINDOWS[][2] = {{-1, -1}, {0.02, 0.04}, {0.03, -1}, {-1, 0.03}};
enum { WINDOW_COUNT = sizeof WINDOWS / sizeof WINDOWS[0] };

static void check_windows(LossRun* run, TaskLoss loss, unsigned moved, const char* what) {
  loss.weight = 1.7;
  for (int w = 0; w < WINDOW_COUNT; w++) {
    loss.from = WINDOWS[w][0];
    loss.to = WINDOWS[w][1];
    char text[160];
    snprintf(text, sizeof text, "%s, window %g to %g", what, loss.from, loss.to);
    check(run, &loss, moved, false, 1e-3, text);
  }
}

/* Checks losses of the best and the worst state. Their derivatives are those of this state only. */
static void check_extremes(LossRun* run, TaskLoss loss, unsigned moved, const char* what) {
  for (int over = OVER_BEST; over <= OVER_WORST; over++) {
    loss.over = (LossOver)over;
    check_windows(run, loss, moved, what);
  }
}

/* With a point the centre does not matter. */
static void check_points(LossRun* run, TaskLoss loss, const char* what) {
  char text[60];
  loss.target = vec3(0.3, -0.2, 0.9);
  check_windows(run, loss, SEED_POSE | SEED_CENTER, what);
  snprintf(text, sizeof text, "%s of a point", what);
  loss.has_point = true;
  loss.point = vec3(0.1, 0.2, -0.3);
  check_windows(run, loss, SEED_POSE, text);
}

static void points(LossRun* run) {
  TaskLoss loss = loss_of(LOSS_POINT, "hand");
  check_points(run, loss, "point");
  loss.power = 1;
  check_points(run, loss, "point, power 1");
}
static void point(void** state) {
  (void)state;
  on_runs(points);
}

/* A target that moves with another link: derivatives by both poses. */
static void points_of_others(LossRun* run) {
  TaskLoss loss = loss_of(LOSS_POINT, "hand");
  loss.other.text = name_text("drone");
  check_points(run, loss, "point of another link");
  loss.power = 1;
  check_points(run, loss, "point of another link, power 1");
}
static void point_of_another_link(void** state) {
  (void)state;
  on_runs(points_of_others);
}

/* A hinge, a slide and a plane's angle; the difference of two of them. */
static void coordinates(LossRun* run) {
  static const struct {
    const char *link, *other;
    int dof;
  } rows[] = {{"arm", NULL, 0}, {"cart", NULL, 2}, {"drone", NULL, 1}, {"arm", "piston", 0}};
  for (int k = 0; k < 4; k++) {
    TaskLoss loss = loss_of(LOSS_COORDINATE, rows[k].link);
    if (rows[k].other) loss.other.text = name_text(rows[k].other);
    loss.dof = rows[k].dof;
    loss.value = 0.7;
    check_windows(run, loss, SEED_Q, "coordinate");
  }
}
static void coordinate(void** state) {
  (void)state;
  on_runs(coordinates);
}

/* Near the tip of the cone, where the curvature is 1 / distance. */
static void near_points(LossRun* run) {
  const Pose pose = recording_pose(&run->recording, 6)[run_link(run->run, "drone")];
  TaskLoss loss = loss_of(LOSS_POINT, "drone");
  loss.power = 1;
  for (int k = 0; k < 3; k++) {
    double distance = (const double[]){1e-2, 1e-3, 1e-4}[k]; /* nearer, coordinates of 1 m leave too few digits */
    Vec3 center = run->run->model.links[run_link(run->run, "drone")].center;
    loss.target = vec3_add(pose_apply(pose, center), vec3_scale(vec3(0.6, 0, -0.8), distance));
    check(run, &loss, SEED_POSE | SEED_CENTER, false, 0.1 * distance, "point, power 1, near");
  }
}
static void point_near_its_target(void** state) {
  (void)state;
  on_runs(near_points);
}

static void travels(LossRun* run) {
  TaskLoss loss = loss_of(LOSS_TRAVEL, "crate");
  loss.direction = vec3(1, -2, 0.5);
  check_points(run, loss, "travel");
}
static void travel(void** state) {
  (void)state;
  on_runs(travels);
}

static void relatives(LossRun* run) {
  TaskLoss loss = loss_of(LOSS_RELATIVE, "hand");
  loss.other.text = name_text("drone");
  check_points(run, loss, "relative");
}
static void relative(void** state) {
  (void)state;
  on_runs(relatives);
}

/* Outside the margin, and inside, where there is nothing. */
static void reaches(LossRun* run) {
  TaskLoss loss = loss_of(LOSS_REACH, "drone");
  loss.margin = 0.1;
  check_points(run, loss, "reach");
  loss.margin = 10;
  check(run, &loss, 0, false, 1e-3, "reach, inside");
}
static void reach(void** state) {
  (void)state;
  on_runs(reaches);
}

/* A millionth of the margin off the kink: on either side its own formula. */
static void near_reaches(LossRun* run) {
  int drone = run_link(run->run, "drone");
  Vec3 x = pose_apply(recording_pose(&run->recording, 6)[drone], run->run->model.links[drone].center);
  TaskLoss loss = loss_of(LOSS_REACH, "drone");
  loss.margin = 0.5;
  loss.target = vec3_add_scaled(x, 0.5 * (1 + 1e-6), vec3(0, 0.6, 0.8));
  check(run, &loss, SEED_POSE | SEED_CENTER, false, 1e-8, "reach, just outside");
  loss.target = vec3_add_scaled(x, 0.5 * (1 - 1e-6), vec3(0, 0.6, 0.8));
  check(run, &loss, 0, false, 1e-8, "reach, just inside");
}
static void reach_near_its_margin(void** state) {
  (void)state;
  on_runs(near_reaches);
}

static void orientations(LossRun* run) {
  TaskLoss loss = loss_of(LOSS_ORIENTATION, "drone");
  loss.axis = vec3(1, 2, -2);
  loss.target = vec3(0, 3, 4);
  check_windows(run, loss, SEED_POSE, "orientation");
}
static void orientation(void** state) {
  (void)state;
  on_runs(orientations);
}

static void velocities(LossRun* run) { check_points(run, loss_of(LOSS_VELOCITY, "hand"), "velocity"); }
static void velocity(void** state) {
  (void)state;
  on_runs(velocities);
}

static void efforts(LossRun* run) {
  static const char* const links[] = {NULL, "arm", "hand", "cart", "drone"};
  for (int k = 0; k < 5; k++)
    check_windows(run, loss_of(LOSS_EFFORT, links[k]), SEED_Q | SEED_RATE | SEED_CONTROL | SEED_GAINS,
                  links[k] ? links[k] : "all");
}
static void effort(void** state) {
  (void)state;
  on_runs(efforts);
}

/* Every reading of the recording, by the best and the worst state. */
static void extremes(LossRun* run) {
  TaskLoss point = loss_of(LOSS_POINT, "hand"), travel = loss_of(LOSS_TRAVEL, "crate");
  TaskLoss relative = loss_of(LOSS_RELATIVE, "hand"), turn = loss_of(LOSS_ORIENTATION, "drone");
  TaskLoss joint = loss_of(LOSS_COORDINATE, "arm");
  point.target = vec3(0.3, -0.2, 0.9);
  travel.direction = vec3(1, -2, 0.5);
  relative.other.text = name_text("drone");
  turn.axis = vec3(1, 2, -2);
  turn.target = vec3(0, 3, 4);
  joint.value = 0.7;
  check_extremes(run, point, SEED_POSE | SEED_CENTER, "extreme point");
  check_extremes(run, travel, SEED_POSE | SEED_CENTER, "extreme travel");
  check_extremes(run, relative, SEED_POSE | SEED_CENTER, "extreme relative");
  check_extremes(run, turn, SEED_POSE, "extreme orientation");
  check_extremes(run, joint, SEED_Q, "extreme coordinate");
  check_extremes(run, loss_of(LOSS_VELOCITY, "hand"), SEED_POSE | SEED_CENTER, "extreme velocity");
  check_extremes(run, loss_of(LOSS_EFFORT, "cart"), SEED_Q | SEED_RATE | SEED_CONTROL | SEED_GAINS, "extreme effort");
}
static void best_and_worst_states(void** state) {
  (void)state;
  on_runs(extremes);
}

/* Drives of the other types: below their limits, in the blend and at their limits. */
static const char MOTORS[] =
    "simulation: {dt: 0.01, steps: 6%s}\n"
    "contact: {model: none}\n"
    "links:\n"
    "  - {name: arm, mass: 1, center: [0.1, 0, 0], inertia: [0.1, 0.1, 0.1, 0, 0, 0], joint: {type: universal, axes: "
    "[[1, "
    "0, 0], [0, 1, 0]]}}\n"
    "  - {name: lift, mass: 1, center: [0, 0, 0], inertia: [0.1, 0.1, 0.1, 0, 0, 0], joint: {type: slide, axis: [0, 0, "
    "1]}}\n"
    "  - {name: ball, mass: 1, center: [0, 0, 0.1], inertia: [0.1, 0.1, 0.1, 0, 0, 0], joint: {type: ball}}\n"
    "controllers:\n"
    "  - {link: arm, type: pd, position_gain: [10, 4], velocity_gain: 0.001, damping_gain: 0.2, delay: 0.0042, "
    "max_force: [1.3, 2], "
    "target: {type: sines, offset: [0.1, 0.5], terms: [[{amplitude: 0.2, frequency: 10}], []]}}\n"
    "  - {link: lift, type: torque, damping_gain: 2, max_force: 9, target: {type: keyframes, times: [0, 0.06], values: "
    "[[7], [12]]}}\n"
    "  - {link: lift, type: velocity, damping_gain: 3, target: 0.5}\n"
    "  - {link: ball, type: velocity, damping_gain: [1, 2, 3], target: [1, -1, 2]}\n"
    "initial: [{link: ball, coordinates: [0.3, 0.2, 0.1], velocities: [1, 0, 1]}]\n";

static void effort_of_motors(void** state) {
  (void)state;
  static const char* const links[] = {NULL, "arm", "lift", "ball"};
  for (int i = 0; i < 2; i++) {
    LossRun* run = loss_run_create(6, MOTORS, INTEGRATORS[i]);
    for (int k = 0; k < 4; k++)
      check_windows(run, loss_of(LOSS_EFFORT, links[k]), (k < 2 ? SEED_Q : 0) | SEED_RATE | SEED_CONTROL | SEED_GAINS,
                    links[k] ? links[k] : "all");
    loss_run_free(run);
  }
}

/* Drives of each type with feedback: the effort depends on the input from measurements. */
static void effort_of_feedback_E8(void** state) {
  (void)state;
  static const char SCENE[] =
      "simulation: {dt: 0.01, steps: 6%s}\n"
      "contact: {model: none}\n"
      "links:\n"
      "  - {name: arm, mass: 1, center: [0.1, 0, 0], inertia: [0.1, 0.1, 0.1, 0, 0, 0], joint: {type: hinge, axis: [0, "
      "1, 0]}}\n"
      "  - {name: ball, mass: 1, center: [0, 0, 0.1], inertia: [0.1, 0.1, 0.1, 0, 0, 0], joint: {type: ball}}\n"
      "controllers:\n"
      "  - {link: arm, type: torque, damping_gain: 2, max_force: 4, target: 3, feedback: {measures: [arm/angle, "
      "arm/vx], matrix: [3, -1]}}\n"
      "  - {link: arm, type: velocity, damping_gain: 2, target: 0.5, feedback: {measures: [ball/zx], matrix: [0.7]}}\n"
      "  - {link: ball, type: pd, position_gain: [1, 2, 3], damping_gain: 0.1, target: [0.1, 0.2, -0.3], feedback: "
      "{measures: [arm/angle, ball/wx], matrix: [[0.2, 0.1], [0.3, -0.1], [0.1, 0.2]]}}\n"
      "initial: [{link: arm, coordinates: [0.3]}, {link: ball, coordinates: [0.3, 0.2, 0.1], velocities: [1, 0, 1]}]\n";
  static const char* const links[] = {NULL, "arm", "ball"};
  LossRun* run = loss_run_create(6, SCENE, INTEGRATORS[1]);
  for (int k = 0; k < 3; k++)
    check_windows(run, loss_of(LOSS_EFFORT, links[k]),
                  (k != 1 ? SEED_Q : 0) | SEED_RATE | SEED_CONTROL | SEED_GAINS | SEED_FEEDBACK,
                  links[k] ? links[k] : "all");
  loss_run_free(run);
}

static void smoothnesses(LossRun* run) {
  static const char* const links[] = {NULL, "arm", "hand", "cart", "drone", "piston"};
  for (int k = 0; k < 6; k++)
    check_windows(run, loss_of(LOSS_SMOOTHNESS, links[k]), SEED_CONTROL, links[k] ? links[k] : "all");
}
static void smoothness(void** state) {
  (void)state;
  on_runs(smoothnesses);
}

static void forces(LossRun* run) {
  TaskLoss loss = loss_of(LOSS_FORCE, "crate");
  loss.target = vec3(1, 2, 15);
  check_windows(run, loss, SEED_FORCE, "force");
}
static void force(void** state) {
  (void)state;
  on_runs(forces);
}

/* Hull over half-space both ways round, hulls of one and of two pieces; far away there is nothing. */
static void gaps(LossRun* run) {
  static const char* const pairs[][2] = {{"crate", "ground"}, {"ground", "hand"}, {"arm", "hand"},
                                         {"arm", "crate"},    {"cart", "drone"},  {"drone", "cart"}};
  for (int k = 0; k < 6; k++) {
    char what[80];
    TaskLoss loss = loss_of(LOSS_GAP, pairs[k][0]);
    loss.other.text = name_text(pairs[k][1]);
    loss.weight = 1.7;
    loss.margin = 9;
    snprintf(what, sizeof what, "gap of %s and %s", pairs[k][0], pairs[k][1]);
    check(run, &loss, SEED_POSE | SEED_VERTICES, true, 1e-4, what);
    loss.from = 0.02, loss.to = 0.04;
    check(run, &loss, SEED_POSE | SEED_VERTICES, true, 1e-4, what);
    loss.margin = 1e-9;
    check(run, &loss, 0, true, 1e-4, what);
  }
}
static void gap(void** state) {
  (void)state;
  on_runs(gaps);
}

/* Bodies in random rotations at a distance, with nearest points at vertices, edges and faces. */
static void random_gaps(LossRun* run) {
  Random random = {72};
  int links = run->run->model.link_count, drone = run_link(run->run, "drone");
  TaskLoss loss = loss_of(LOSS_GAP, "drone");
  loss.margin = 3;
  static const char* const others[] = {"crate", "cart", "hand", "ground"};
  for (int trial = 0; trial < 3; trial++) {
    for (int i = 0; i < links * (run->recording.steps + 1); i++) {
      if (i % links == run_link(run->run, "ground")) continue;
      Vec3 near = vec3_scale(random_direction(&random), i % links == drone ? 0.01 : 0.8);
      run->recording.pose[i] = (Pose){random_rotation(&random), vec3_add(near, vec3(0, 0, 2))};
    }
    loss_run_rebase(run);
    for (int k = 0; k < 4; k++) {
      loss.other.text = name_text(others[k]);
      char what[60];
      snprintf(what, sizeof what, "gap, seed 72, trial %d, against %s", trial, others[k]);
      check(run, &loss, SEED_POSE | SEED_VERTICES, true, 1e-5, what);
    }
  }
}
static void gap_of_bodies_in_any_position(void** state) {
  (void)state;
  LossRun* run = loss_run_create(6, LOSS_SCENE, ", integrator: first_order");
  random_gaps(run);
  loss_run_free(run);
}

/* At the initial design there is no slope; a deformed one has one. */
static void shapes_of(LossRun* run, TaskLossType type, const char* what) {
  static const char* const links[] = {NULL, "arm", "hand", "cart"};
  Random random = {71};
  for (int k = 0; k < 4; k++) {
    TaskLoss loss = loss_of(type, links[k]);
    loss.weight = 1.7;
    Loss* made = loss_make(run, &loss);
    loss_run_deform(run, &random, 0.02);
    loss_check_seeds(run, made, SEED_VERTICES, false, 1e-3, what);
    loss_destroy(made);
  }
}

static void shapes(LossRun* run) { shapes_of(run, LOSS_SHAPE, "shape, seed 71"); }
static void shape(void** state) {
  (void)state;
  on_runs(shapes);
}

static void volumes(LossRun* run) { shapes_of(run, LOSS_VOLUME, "volume, seed 71"); }
static void volume(void** state) {
  (void)state;
  on_runs(volumes);
}

static void roughnesses(LossRun* run) { shapes_of(run, LOSS_ROUGHNESS, "roughness, seed 71"); }
static void roughness(void** state) {
  (void)state;
  on_runs(roughnesses);
}

/* Of fabrication: what is narrowest, thinnest, leans out most, and lies farthest, of hulls that were bent. */
static void fabrications(LossRun* run) {
  static const struct {
    TaskLossType type;
    const char* link;
  } CASES[] = {{LOSS_NECK, "cart"},     {LOSS_WALL, "arm"},      {LOSS_WALL, "hand"},  {LOSS_WALL, "cart"},
               {LOSS_OVERHANG, "hand"}, {LOSS_OVERHANG, "cart"}, {LOSS_EXTENT, "arm"}, {LOSS_EXTENT, "cart"}};
  Random random = {79};
  for (int k = 0; k < (int)(sizeof CASES / sizeof CASES[0]); k++) {
    TaskLoss loss = loss_of(CASES[k].type, CASES[k].link);
    char what[40];
    snprintf(what, sizeof what, "fabrication %d of %s, seed 79", (int)CASES[k].type, CASES[k].link);
    loss.weight = 1.7;
    loss.margin = 0.1;
    loss.angle = 0.3;
    loss.direction = vec3_normalized(vec3(0.3, -0.2, 0.9));
    Loss* made = loss_make(run, &loss);
    loss_run_deform(run, &random, 0.01);
    loss_check_seeds(run, made, SEED_VERTICES, false, 1e-4, what);
    loss_destroy(made);
  }
}
static void fabrication(void** state) {
  (void)state;
  on_runs(fabrications);
}

/* A part among others: over the range of its joint, on its way out, and beside a box. Bent hulls and bodies turned, so
 * that nothing is level; `deep` ones are in each other. */
static void clearances_of(LossRun* run, double apart, unsigned seed) {
  Random random = {seed};
  int links = run->run->model.link_count, own = run_link(run->run, "arm");
  ModelLink* arm = &run->run->model.links[own];
  /* a range so narrow that the least is at one of its ends, which moves with the pose at the start */
  arm->limited[0] = true, arm->lower[0] = 1.4, arm->upper[0] = 1.5;
  for (int i = 0; i < links * (run->recording.steps + 1); i++) {
    if (i % links == run_link(run->run, "ground")) continue;
    Vec3 away = vec3_scale(random_direction(&random), i % links == own ? 0.01 : apart);
    run->recording.pose[i] = (Pose){random_rotation(&random), vec3_add(away, vec3(0, 0, 2))};
  }
  loss_run_deform(run, &random, 0.01);
  static const struct {
    TaskLossType type;
    const char* other;
    unsigned moved;
  } CASES[] = {{LOSS_CLEARANCE, "cart", SEED_POSE | SEED_Q | SEED_VERTICES},
               {LOSS_CLEARANCE, "ground", SEED_POSE | SEED_Q | SEED_VERTICES},
               {LOSS_REMOVAL, "drone", SEED_POSE | SEED_VERTICES},
               {LOSS_REMOVAL, NULL, SEED_POSE | SEED_VERTICES},
               {LOSS_KEEP_OUT, NULL, SEED_VERTICES}};
  int first = apart < 0.1 ? 0 : tests_count(1, 0); /* the short form takes the odd cases apart, the even ones deep */
  for (int k = first; k < (int)(sizeof CASES / sizeof CASES[0]); k += tests_count(2, 1)) {
    TaskLoss loss = loss_of(CASES[k].type, "arm");
    char what[60];
    snprintf(what, sizeof what, "clearance %d, %g apart, seed %u", k, apart, seed);
    if (CASES[k].other) loss.other.text = name_text(CASES[k].other);
    loss.weight = 1.7;
    loss.margin = 0.1;
    loss.length = 2;
    loss.direction = vec3_normalized(vec3(0.3, -0.2, 0.9));
    loss.box_low = vec3(apart - 0.1, 0.1, 0.2), loss.box_high = vec3(apart + 0.2, 0.3, 0.5);
    check(run, &loss, CASES[k].moved, true, 1e-5, what);
  }
}
static void clearances_apart(LossRun* run) { clearances_of(run, 0.6, 81); }
static void clearances_deep(LossRun* run) { clearances_of(run, 0.05, 82); }
static void clearance(void** state) {
  (void)state;
  on_runs(clearances_apart);
  on_runs(clearances_deep);
}

/* Vertices against hulls and half-spaces both ways round; near enough there is nothing. Flat faces of more than three
 * vertices have a kink by each of them: there are none. */
static void approaches(LossRun* run) {
  Random random = {73};
  loss_run_deform(run, &random, 0.02);
  static const char* const pairs[][2] = {{"crate", "ground"}, {"ground", "hand"}, {"arm", "crate"}, {"cart", "drone"}};
  for (int k = 0; k < 4; k += tests_count(3, 1)) {
    char what[80];
    TaskLoss loss = loss_of(LOSS_APPROACH, pairs[k][0]);
    loss.other.text = name_text(pairs[k][1]);
    loss.weight = 1.7;
    snprintf(what, sizeof what, "approach of %s and %s", pairs[k][0], pairs[k][1]);
    for (int n = 0; n < 2; n++) {
      loss.smoothing = (const double[]){0.3, 0.02}[n];
      check(run, &loss, SEED_POSE | SEED_VERTICES, true, 1e-5, what);
    }
    loss.from = 0.02, loss.to = 0.04;
    check(run, &loss, SEED_POSE | SEED_VERTICES, true, 1e-5, what);
    loss.margin = 20;
    check(run, &loss, 0, true, 1e-4, what);
  }
}
static void approach(void** state) {
  (void)state;
  on_runs(approaches);
}

static void poses(LossRun* run) {
  TaskLoss loss = loss_of(LOSS_POSE, "drone");
  loss.rotation = quat_normalized((Quat){0.9, 0.3, -0.2, 0.1});
  loss.length = 0.7;
  check_points(run, loss, "pose");
}
static void pose(void** state) {
  (void)state;
  on_runs(poses);
}

/* A target that moves, and terms that are sums over links: as many rows of derivatives. */
static void moving_targets_of_groups(LossRun* run) {
  double times[2] = {0, 0.06}, values[6] = {0.1, 0.2, -0.3, 1, -2, 3};
  TaskName links[2] = {{.text = name_text("dr*")}, {.text = name_text("crate")}};
  static const TaskLossType types[] = {LOSS_POINT, LOSS_REACH, LOSS_VELOCITY, LOSS_POSE};
  for (int k = 0; k < 4; k++) {
    TaskLoss loss = loss_of(types[k], NULL);
    loss.links = links;
    loss.links_count = 2;
    loss.power = 2;
    loss.rotation = quat_identity();
    loss.length = 0.3;
    loss.target = vec3(0.3, 0.2, 0.9);
    loss.motion = (SceneSignal){.type = SIGNAL_KEYFRAMES, .channels = 3, .times = times, .values = values, .rows = 2};
    loss.from = 0.01, loss.to = 0.05;
    check(run, &loss, SEED_POSE | SEED_CENTER, false, 1e-3, "moving target of a group");
  }
}
static void moving_target_of_a_group(void** state) {
  (void)state;
  on_runs(moving_targets_of_groups);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(point),
      cmocka_unit_test(point_near_its_target),
      cmocka_unit_test(travel),
      cmocka_unit_test(relative),
      cmocka_unit_test(reach),
      cmocka_unit_test(reach_near_its_margin),
      cmocka_unit_test(orientation),
      cmocka_unit_test(velocity),
      cmocka_unit_test(effort),
      cmocka_unit_test(best_and_worst_states),
      cmocka_unit_test(effort_of_motors),
      cmocka_unit_test(effort_of_feedback_E8),
      cmocka_unit_test(smoothness),
      cmocka_unit_test(force),
      cmocka_unit_test(gap),
      cmocka_unit_test(gap_of_bodies_in_any_position),
      cmocka_unit_test(shape),
      cmocka_unit_test(volume),
      cmocka_unit_test(roughness),
      cmocka_unit_test(approach),
      cmocka_unit_test(fabrication),
      cmocka_unit_test(clearance),
      cmocka_unit_test(pose),
      cmocka_unit_test(moving_target_of_a_group),
      cmocka_unit_test(coordinate),
      cmocka_unit_test(point_of_another_link),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
