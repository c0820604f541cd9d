/* Tests exact spheres and capsules in contact (contact.md, C6; adjoint.md, A8b). Runs are compared with closed forms.
 * Gradients by radii, lengths and all other numbers are compared with central differences. */
#include "gradient/rows.h"
#include "gradient/variables.h"

#define RADIUS 0.05
#define SPHERE "{type: sphere, radius: 0.05}"
#define CAPSULE "{type: capsule, radius: 0.04, length: 0.12}"

/* ---------------------------------------------------------------- closed forms, dt 10 ms */

/* A ball on level ground or on a large box, thrown with a speed along x and a spin about y. */
static Run* thrown(const char* ground, double dt, double speed, double spin) {
  return run_create(1, 0,
                    "simulation: {dt: %g, duration: 2, integrator: momentum}\n"
                    "contact: {friction: 0.2}\n"
                    "links:\n"
                    "  - {name: ground, fixed: true, shape: %s}\n"
                    "  - {name: ball, mass: 0.17, position: [0, 0, 0.05022], shape: " SPHERE
                    "}\n"
                    "initial: [{link: ball, velocities: [%g, 0, 0, 0, %g, 0]}]\n",
                    dt, ground, speed, spin);
}

static double speed_of(Run* run, double seconds) {
  double dt = run->model.simulation.dt;
  int ball = run_link(run, "ball"), steps = (int)(seconds / dt + 0.5);
  run_steps(run, steps - 1);
  double before = sim_state(run->sim)->pose[ball].t.x;
  run_steps(run, 1);
  return (sim_state(run->sim)->pose[ball].t.x - before) / dt;
}

static const char* const GROUNDS[] = {"{type: half_space}", "{type: box, size: [9, 9, 0.1], position: [0, 0, -0.05]}"};

/* Friction brings r w and v together while mu g slows the ball: (5 v0 + 2 r w0) / 7, whatever the friction. Over a hull
 * the point that friction acts at is fixed in the ball during a substep: its lever is r cos(turn), which a spin of 80
 * rad/s feels at 10 ms, not at 1 ms. */
static void ball_C6_rolls_after_sliding(void** state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    Run* run = thrown(GROUNDS[k], 0.01, 2, 0);
    compare_relative(speed_of(run, 1.5), 10.0 / 7, 5e-3, "from 2 m/s without spin, ground %d", k);
    run_free(run);
    for (int fine = 0; fine < 2; fine++) {
      run = thrown(GROUNDS[k], fine ? 0.001 : 0.01, 1, -4 / RADIUS);
      compare_relative(speed_of(run, 2), -3.0 / 7, fine ? 5e-3 : 2.5e-2, "draw shot, ground %d", k);
      run_free(run);
    }
  }
}

/* Over a half-space the lever is r at any turn. */
static void draw_shot_F13_at_a_long_step(void** state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    Run* run = thrown(GROUNDS[0], k ? 0.002 : 0.01, 1, -4 / RADIUS);
    compare_relative(speed_of(run, 2), -3.0 / 7, 5e-4, "draw shot, step %d", k);
    run_free(run);
  }
}

/* A rolling ball, and a capsule that rolls across its axis, keep their speeds. */
static void rolling_C6_keeps_energy(void** state) {
  (void)state;
  for (int k = 0; k < 4; k++) {
    double radius = k / 2 ? 0.04 : 0.05;
    Run* run = run_create(1, 0,
                          "simulation: {dt: 0.01, duration: 10, integrator: momentum}\n"
                          "links:\n"
                          "  - {name: ground, fixed: true, shape: %s}\n"
                          "  - {name: ball, density: 1000, position: [0, 0, %.17g], rpy: [%.17g, 0, 0], shape: %s}\n"
                          "initial: [{link: ball, velocities: [1.5, 0, 0, 0, %.17g, %.17g]}]\n",
                          k % 2 ? "{type: box, size: [40, 9, 0.1], position: [0, 0, -0.05]}" : GROUNDS[0],
                          radius + 2.2e-4, k / 2 ? 1.57079632679489661923 : 0.0, k / 2 ? CAPSULE : SPHERE,
                          k / 2 ? 0.0 : 1.5 / radius, k / 2 ? -1.5 / radius : 0.0);
    compare_relative(speed_of(run, 5), 1.5, 2e-3, "speed after 5 s, body %d", k);
    run_free(run);
  }
}

/* ---------------------------------------------------------------- masses */

/* Of density 1000: a ball 4/3 pi r^3 and 2/5 m r^2; a capsule against the polyhedron of 1024 segments inscribed. */
static void masses_are_those_of_the_solid(void** state) {
  (void)state;
  const char* const text =
      "links:\n"
      "  - {name: ball, density: 1000, shape: {type: sphere, radius: 0.05}}\n"
      "  - {name: exact, density: 1000, shape: {type: capsule, radius: 0.04, length: 0.12}, position: [1, "
      "0, 0]}\n"
      "  - {name: fine, density: 1000, mass_model: uniform, shape: {type: capsule, radius: 0.04, length: 0.12, "
      "segments: 512}, position: [2, 0, 0]}\n";
  Run* run = run_model("%s", text);
  const ModelLink* l = run->model.links;
  double mass = 4.0 / 3 * 3.14159265358979323846 * RADIUS * RADIUS * RADIUS * 1000;
  compare_relative(l[0].mass, mass, 1e-14, "mass of the ball");
  compare_relative(l[0].moment.s[0][0], mass * RADIUS * RADIUS / 5, 1e-14, "sum m x^2 of the ball");
  compare_relative(l[1].mass, l[2].mass, 2e-4, "mass of the capsule");
  compare_relative(l[1].moment.s[0][0], l[2].moment.s[0][0], 3e-4, "sum m x^2 of the capsule");
  compare_relative(l[1].moment.s[2][2], l[2].moment.s[2][2], 3e-4, "sum m z^2 of the capsule");
  run_free(run);
}

/* A rounded box against the polyhedron of 128 segments inscribed; a size of 0 along x and z makes a capsule of it, of 0
 * along all axes a ball. */
static void masses_of_rounded_boxes(void** state) {
  (void)state;
  Run* run = run_model(
      "links:\n"
      "  - {name: exact, density: 1000, shape: {type: rounded_box, radius: 0.03, size: [0.1, 0.05, 0.02]}}\n"
      "  - {name: fine, density: 1000, position: [1, 0, 0], shape: {type: rounded_box, radius: 0.03, size: [0.1, 0.05, "
      "0.02], segments: 128}}\n"
      "  - {name: rod, density: 1000, position: [2, 0, 0], shape: {type: rounded_box, radius: 0.04, size: [0, 0.12, "
      "0]}}\n"
      "  - {name: pin, density: 1000, position: [3, 0, 0], shape: " CAPSULE
      "}\n"
      "  - {name: ball, density: 1000, position: [4, 0, 0], shape: {type: rounded_box, radius: 0.05, size: [0, 0, "
      "0]}}\n"
      "  - {name: sphere, density: 1000, position: [5, 0, 0], shape: " SPHERE "}\n");
  const ModelLink* l = run->model.links;
  for (int i = 0; i < 4; i++)
    compare_relative(l[0].moment.s[i][i], l[1].moment.s[i][i], 3e-3, "moment %d of a rounded box", i);
  for (int i = 0; i < 4; i++) {
    static const int TURNED[4] = {0, 2, 1, 3};
    compare_relative(l[2].moment.s[i][i], l[3].moment.s[TURNED[i]][TURNED[i]], 1e-14, "moment %d of a capsule", i);
    compare_relative(l[4].moment.s[i][i], l[5].moment.s[i][i], 1e-14, "moment %d of a ball", i);
  }
  run_free(run);
}

/* Rounded points that are a capsule or a rounded box have their masses, contact parameters and motion. */
static void rounded_points_C6b_are_the_other_solids(void** state) {
  (void)state;
  static const char* const SHAPES[][2] = {
      {CAPSULE ", rpy: [1.5, 0.1, 0.2]",
       "{type: rounded_points, radius: 0.04, points: [[0, 0, 0.06], [0, 0, -0.06], [0, 0, "
       "0.01]]}, rpy: [1.5, 0.1, 0.2]"},
      {"{type: rounded_box, radius: 0.02, size: [0.1, 0.08, 0.06]}, rpy: [0.1, 0, 0.3]",
       "{type: rounded_points, radius: 0.02, points: [[0.05, 0.04, 0.03], [-0.05, 0.04, 0.03], [0.05, -0.04, 0.03], "
       "[-0.05, -0.04, 0.03], [0.05, 0.04, -0.03], [-0.05, 0.04, -0.03], [0.05, -0.04, -0.03], [-0.05, -0.04, -0.03], "
       "[0, 0.01, 0]]}, rpy: [0.1, 0, 0.3]"}};
  for (int k = 0; k < 2; k++) {
    Run* run[2];
    for (int form = 0; form < 2; form++) {
      run[form] = run_create(1, 0,
                             "simulation: {dt: 0.005, duration: 1}\n"
                             "contact: {friction: 0.3}\n"
                             "links:\n"
                             "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
                             "  - {name: body, density: 1000, position: [0, 0, 0.07], shape: %s}\n"
                             "initial: [{link: body, velocities: [0.5, 0.2, 0, 1, 2, 1]}]\n",
                             SHAPES[k][form]);
      run_steps(run[form], 100);
    }
    const ModelLink *a = &run[0]->model.links[1], *b = &run[1]->model.links[1];
    for (int i = 0; i < 4; i++)
      compare_relative(b->moment.s[i][i], a->moment.s[i][i], 1e-13, "moment %d, body %d", i, k);
    compare_relative(run[1]->model.contact.support, run[0]->model.contact.support, 1e-12, "support, body %d", k);
    Vec3 at[2];
    for (int form = 0; form < 2; form++) at[form] = sim_state(run[form]->sim)->pose[1].t;
    compare_vec3(at[1], at[0], 1e-7, "position after 0.5 s");
    for (int form = 0; form < 2; form++) run_free(run[form]);
  }
}

/* ---------------------------------------------------------------- gradients */

/* A foot lands on an edge, tips and slides on level ground and on a box; a ball and a capsule of points that are not
 * centred roll. */
static void gradients_A8b_of_rounded_points(void** state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    Text scene = {0};
    text_add(
        &scene,
        "simulation: {dt: 0.005, tolerance: 1e-11}\n"
        "contact: {friction: 0.3, barrier_distance: 0.0005}\n"
        "links:\n"
        "  - {name: ground, fixed: true, shape: %s}\n"
        "  - {name: foot, density: 900, position: [0, 0, 0.0232], rpy: [0, 0.02, 0.3], shape: {type: rounded_points, "
        "radius: 0.02, points: [[-0.08, -0.03, 0], [-0.08, 0.03, 0], [0.1, -0.045, 0], [0.1, 0.045, 0], [-0.02, 0, "
        "0.06], [0.03, 0.01, 0.05], [0, 0.01, 0.05], [-0.01, -0.01, 0.055], [0, 0, 0.03]]}}\n"
        "  - {name: pin, density: 900, position: [0.5, 0, 0.0104], shape: {type: rounded_points, radius: 0.01, points: "
        "[[0.02, 0, 0], [0.1, 0.03, 0]]}}\n"
        "  - {name: ball, density: 900, position: [1, 0, 0], shape: {type: rounded_points, radius: 0.03, points: "
        "[[0.02, 0.01, 0.0304]]}}\n"
        "initial: [{link: foot, velocities: [0.5, 0.2, -0.3, 0, 2, 1]}, {link: pin, velocities: [0.4, 0, 0, 0, 0, "
        "3]}, {link: ball, velocities: [0.4, 0, 0, 0, 4, 3]}]\n",
        k ? "{type: box, size: [4, 4, 0.2], position: [0, 0, -0.1]}" : "{type: half_space}");
    check_gradients("rounded points", 8, scene.data, ALL_BLOCKS, 1e-6);
    text_free(&scene);
  }
}

/* A rounded box with eight corners tumbles on an edge, a plate with four slides, on level ground and on a box. */
static void gradients_A8b_of_rounded_boxes(void** state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    Text scene = {0};
    text_add(
        &scene,
        "simulation: {dt: 0.005, tolerance: 1e-11}\n"
        "contact: {friction: 0.3, barrier_distance: 0.0005}\n"
        "links:\n"
        "  - {name: ground, fixed: true, shape: %s}\n"
        "  - {name: box, density: 1000, position: [0, 0, 0.0504], rpy: [0, 0.002, 0.3], shape: {type: rounded_box, "
        "radius: 0.02, size: [0.1, 0.08, 0.06]}}\n"
        "  - {name: plate, density: 900, position: [0.5, 0, 0.0104], shape: {type: rounded_box, radius: 0.01, "
        "size: [0.1, 0.08, 0]}}\n"
        "initial: [{link: box, velocities: [0.5, 0.2, 0, 0, 2, 1]}, {link: plate, velocities: [0.4, 0, 0, 0, 0, "
        "3]}]\n",
        k ? "{type: box, size: [4, 4, 0.2], position: [0, 0, -0.1]}" : "{type: half_space}");
    check_gradients("rounded boxes", 8, scene.data, ALL_BLOCKS, 1e-6);
    text_free(&scene);
  }
}

static void gradients_A8b_of_a_ball_on_the_ground(void** state) {
  (void)state;
  check_gradients("a ball that slides and rolls", 8,
                  "simulation: {dt: 0.005, tolerance: 1e-11, integrator: first_order}\n"
                  "contact: {friction: 0.3}\n"
                  "links:\n"
                  "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
                  "  - {name: ball, density: 1000, position: [0, 0, 0.05022], shape: " SPHERE
                  "}\n"
                  "initial: [{link: ball, velocities: [1, 0.2, 0, 1, 2, 3]}]\n",
                  ALL_BLOCKS, 1e-6);
}

/* A ball turns by 0.15 rad a step, about all axes, beside a capsule. The rotation that friction expects rests on
 * momenta, and on the two or three states before under the other integrators. */
static void gradients_A8d_of_fast_spin(void** state) {
  (void)state;
  static const char* const INTEGRATORS[] = {"momentum", "first_order", "second_order"};
  for (int k = 0; k < 3; k++) {
    Text scene = {0};
    text_add(&scene,
             "simulation: {dt: 0.005, tolerance: 1e-11, integrator: %s}\n"
             "contact: {friction: 0.3}\n"
             "links:\n"
             "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
             "  - {name: ball, density: 1000, position: [0, 0, 0.05022], shape: " SPHERE
             "}\n"
             "  - {name: pin, density: 1000, position: [0.5, 0, 0.04022], rpy: [1.5707963, 0, 0.2], shape: " CAPSULE
             "}\n"
             "initial: [{link: ball, velocities: [1, 0.2, 0, 12, 25, 8]}, {link: pin, velocities: [0.5, 0, 0, 0, 3, "
             "-20]}]\n",
             INTEGRATORS[k]);
    check_gradients(INTEGRATORS[k], 6, scene.data, ALL_BLOCKS, 1e-6);
    text_free(&scene);
  }
}

/* (F15) A car with a steered axle in a fast curve: axle and lever of its wheels change within a step. On a half-space
 * vertices change the mass of the body only, and rounding hides their derivatives. */
static void gradients_F15_of_a_car(void** state) {
  (void)state;
  static const char* const CAR_GROUNDS[] = {"shape: {type: half_space}",
                                            "shape: {type: box, size: [6, 6, 0.2]}, position: [0, 0, -0.1]"};
  for (int k = 0; k < 2; k++) {
    Text scene = {0};
    text_add(&scene,
             "simulation: {dt: 0.02, tolerance: 1e-12}\n"
             "contact: {friction: 2, smoothing: 1.0e-7}\n"
             "links:\n"
             "  - {name: ground, fixed: true, %s}\n"
             "  - {name: body, density: 300, position: [0, 0, 0.0604], shape: {type: box, size: [0.2, 0.1, 0.06], "
             "position: [0.12, 0.02, 0.02]}}\n"
             "  - {name: left, parent: body, density: 2000, joint: {type: hinge, axis: [0, 1, 0], position: [0, 0.15, "
             "0]}, shape: {type: sphere, radius: 0.06}}\n"
             "  - {name: right, parent: body, density: 900, joint: {type: hinge, axis: [0, 1, 0], position: [0, -0.15, "
             "0]}, shape: {type: disc, radius: 0.06, rim: 0.01, rpy: [1.5707963, 0, 0]}}\n"
             "  - {name: front, parent: body, density: 2000, joint: {type: hinge, axis: [0, 1, 0], position: [0.3, 0, "
             "0], rpy: [0.1, 0, 0.6]}, shape: {type: sphere, radius: 0.06}}\n"
             "initial: [{link: body, velocities: [1, 0, 0, 0, 0, 2.5]}, {link: left, velocities: [10]}, {link: right, "
             "velocities: [23]}, {link: front, velocities: [20]}]\n",
             CAR_GROUNDS[k]);
    check_gradients(CAR_GROUNDS[k], 8, scene.data, k == 0 ? ALL_BLOCKS & ~(1 << GRADCHECK_VERTICES) : ALL_BLOCKS, 1e-6);
    text_free(&scene);
  }
}

/* A ball, a capsule and a leaning cylinder turn fast on a box that moves. */
/* The smoothing is ten times the derived one, with which rounding hides differences to 3e-5. */
static void gradients_A8d_on_a_moving_box(void** state) {
  (void)state;
  static const char* const INTEGRATORS[] = {"momentum", "first_order", "second_order"};
  for (int k = 0; k < 3; k++) {
    Text scene = {0};
    text_add(&scene,
             "simulation: {dt: 0.005, tolerance: 1e-11, integrator: %s}\n"
             "contact: {friction: 0.3, smoothing: 1.0e-7, friction_iterations: 0}\n"
             "links:\n"
             "  - {name: ground, fixed: true, shape: {type: half_space}}\n"
             "  - {name: cart, density: 500, position: [0, 0, 0.05022], shape: {type: box, size: [1, 0.6, 0.1]}}\n"
             "  - {name: ball, density: 1000, position: [0, 0, 0.15044], shape: {type: sphere, radius: 0.05}}\n"
             "  - {name: pin, density: 1000, position: [0.3, 0, 0.14044], rpy: [1.5707963, 0, 0.2],\n"
             "     shape: {type: capsule, radius: 0.04, length: 0.1}}\n"
             "  - {name: wheel, density: 1000, position: [-0.3, 0, 0.15226], rpy: [1.4, 0, 0.2],\n"
             "     shape: {type: cylinder, radius: 0.05, length: 0.03}}\n"
             "initial: [{link: cart, velocities: [0.3, 0.1, 0, 0, 0, 0.5]},\n"
             "          {link: ball, velocities: [1, 0.2, 0, 12, 25, 8]},\n"
             "          {link: pin, velocities: [0.5, 0, 0, 0, 3, -20]},\n"
             "          {link: wheel, velocities: [0.5, 0, 0, 1, 5, 2]}]\n",
             INTEGRATORS[k]);
    check_gradients(INTEGRATORS[k], 6, scene.data, ALL_BLOCKS, 1e-6);
    text_free(&scene);
  }
}

static void gradients_A8b_on_a_moving_half_space(void** state) {
  (void)state;
  check_gradients(
      "a half-space that swings under a capsule", 8,
      "simulation: {dt: 0.005, tolerance: 1e-11, integrator: first_order}\n"
      "contact: {friction: 0.3}\n"
      "links:\n"
      "  - {name: ground, shape: {type: half_space}, joint: {type: hinge, axis: [0, 1, 0]}}\n"
      "  - {name: pin, density: 1000, position: [0.1, 0, 0.04022], rpy: [1.5707963, 0, 0.2], shape: " CAPSULE
      "}\n"
      "controllers:\n"
      "  - {link: ground, type: prescribed, target: {type: sines, terms: [{amplitude: 0.05, frequency: 3}]}}\n"
      "initial: [{link: pin, velocities: [0.5, 0, 0, 0, 3, 1]}]\n",
      ALL_BLOCKS, 1e-6);
}

static void gradients_A8b_among_boxes(void** state) {
  (void)state;
  check_gradients(
      "a ball, a capsule and a box that touch", 8,
      "simulation: {dt: 0.005, tolerance: 1e-11, integrator: first_order}\n"
      "contact: {friction: 0.3, barrier_distance: 0.001}\n"
      "links:\n"
      "  - {name: ball, density: 1000, position: [0, 0, 0.0508], shape: " SPHERE
      "}\n"
      "  - {name: block, density: 900, position: [0.01, 0.02, -0.05], rpy: [0.01, 0.02, 0.3], shape: {type: points, "
      "points: [[-0.1, -0.1, -0.05], [0.1, -0.1, -0.05], [0.1, 0.1, -0.05], [-0.1, 0.1, -0.05], [-0.1, -0.1, 0.05], "
      "[0.1, -0.1, 0.05], [0.1, 0.1, 0.0502], [-0.1, 0.1, 0.05]]}}\n"
      "  - {name: pin, density: 800, position: [0.0902, 0.01, 0.0625], rpy: [1.2, 0, 0.1], shape: " CAPSULE
      "}\n"
      "initial: [{link: ball, velocities: [0.3, 0, -0.2, 1, 2, 0.5]}]\n",
      ALL_BLOCKS & ~(1 << GRADCHECK_VERTICES), 1e-6);
}

/* Radius and length as variables of a task. */
static void sizes_are_variables(void** state) {
  (void)state;
  Task task = load_task(
      "steps: 8\n"
      "scene:\n"
      "  simulation: {dt: 0.005, steps: 8, tolerance: 1e-10, integrator: first_order}\n"
      "  contact: {friction: 0.3}\n"
      "  links:\n"
      "    - {name: ground, fixed: true, shape: {type: half_space}}\n"
      "    - {name: ball, density: 1000, position: [0, 0, 0.0505], shape: " SPHERE
      "}\n"
      "    - {name: pin, density: 1000, position: [0.3, 0, 0.0405], rpy: [1.5707963, 0, 0], shape: " CAPSULE
      "}\n"
      "    - {name: box, density: 1000, position: [0.6, 0, 0.0405], shape: {type: rounded_box, radius: 0.02, size: "
      "[0.1, "
      "0, 0.04]}}\n"
      "    - {name: foot, density: 1000, position: [0.9, 0, 0.0205], shape: {type: rounded_points, radius: 0.02, "
      "points: "
      "[[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0.02, 0.03, 0.05]]}}\n"
      "  initial:\n"
      "    - {link: ball, velocities: [0.3, 0, 0, 0, 0, 0]}\n"
      "    - {link: box, velocities: [0.3, 0.1, 0, 0, 0, 2]}\n"
      "    - {link: foot, velocities: [0.3, 0.1, 0, 0, 0, 2]}\n"
      "    - {link: pin, velocities: [0.3, 0.1, 0, 0, 2, 0]}\n"
      "loss:\n"
      "  - {type: point, link: ball, point: [0, 0, 0.02], target: [0.4, 0.2, 0.1]}\n"
      "  - {type: point, link: pin, point: [0, 0.01, 0.02], target: [0.4, 0.2, 0.1]}\n"
      "  - {type: point, link: foot, point: [0.02, 0.01, 0.02], target: [0.4, 0.2, 0.1]}\n"
      "  - {type: point, link: box, point: [0.02, 0.01, 0.02], target: [0.4, 0.2, 0.1]}\n"
      "optimizer: {tolerance: 1.0e-12}\n"
      "parameters: [{type: shape_size, links: [ball, pin, box, foot]}]\n");
  expect_variables(&task, "radius and length", 1e-4);
  task_free(&task);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ball_C6_rolls_after_sliding),
      cmocka_unit_test(draw_shot_F13_at_a_long_step),
      cmocka_unit_test(rolling_C6_keeps_energy),
      cmocka_unit_test(masses_are_those_of_the_solid),
      cmocka_unit_test(masses_of_rounded_boxes),
      cmocka_unit_test(rounded_points_C6b_are_the_other_solids),
      cmocka_unit_test(gradients_A8b_of_rounded_boxes),
      cmocka_unit_test(gradients_A8b_of_rounded_points),
      cmocka_unit_test(gradients_A8b_of_a_ball_on_the_ground),
      cmocka_unit_test(gradients_A8d_of_fast_spin),
      cmocka_unit_test(gradients_F15_of_a_car),
      cmocka_unit_test(gradients_A8d_on_a_moving_box),
      cmocka_unit_test(gradients_A8b_on_a_moving_half_space),
      cmocka_unit_test(gradients_A8b_among_boxes),
      cmocka_unit_test(sizes_are_variables),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
