/* The whole objective of a time step (S1 to S7 over K2 to K5): the assembled gradient against central differences of
 * the energies, and the assembled Hessian against central differences of the assembled gradient. Mixed trees: chains of
 * hinges, universals, balls, free joints and parts of them, welded children; contact across and within trees, friction,
 * controllers, limits, damping; both integrators; away from the solution, so that every curvature term counts. */
#include <string.h>

#include "simulate/sim.h"
#include "support/runs.h"
#include "support/sweep.h"

/* A tree of everything above another, both over a ground, near each other everywhere. */
static const char* const mixed_scene =
    "simulation: {dt: 0.01, integrator: %s, gravity: [0.3, -0.2, -9.81]}\n"
    "contact: {barrier_distance: 0.02, stiffness: 1.0e-4, friction: %s, smoothing: 1.0e-4, rest_speed: 0.5}\n"
    "shapes:\n"
    "  bone: {type: capsule, radius: 0.05, length: 0.2, segments: 6}\n"
    "  brick: {type: box, size: [0.3, 0.25, 0.1]}\n"
    "  ground: {type: %s}\n"
    "links:\n"
    "  - {name: ground, fixed: true, position: [0, 0, %s], shape: ground}\n"
    "  - {name: base, shape: brick, mass: 2, joint: {type: free, position: [0, 0, 0.07]}}\n"
    "  - {name: plate, parent: base, fixed: true, position: [0.12, 0.02, 0.08], mass: 0.3, shape: {type: box, size: "
    "[0.1, 0.1, 0.06]}}\n"
    "  - {name: arm, parent: plate, mass: 0.5, shapes: [{shape: bone, position: [0, 0, 0.17]}], "
    "joint: {type: universal, axes: [[1, 0.1, 0], [0, 1, 0.3]], position: [0, 0.01, 0.05], damping: [0.2, 0.1], "
    "limits: [[-0.5, 0.5], [-1, 0.4]]}}\n"
    "  - {name: fore, parent: arm, mass: 0.4, shapes: [{shape: bone, position: [0, 0, 0.16]}], "
    "joint: {type: hinge, axis: [0, 1, 0.2], position: [0.02, 0, 0.33], limits: [-3, 0.5], limit_law: penalty}}\n"
    "  - {name: hand, parent: fore, mass: 0.2, shape: {type: sphere, radius: 0.06, resolution: 0}, "
    "joint: {type: ball, position: [0, 0, 0.38], limits: [null, 0.9], limit_margin: 0.3, damping: 0.05}}\n"
    "  - {name: slider, mass: 1, shape: brick, joint: {type: free, free_axes: [x, z, ry], position: [0.36, 0.05, "
    "0.075], rotation_vector: [0, 0, 0.4]}}\n"
    "  - {name: lid, parent: slider, mass: 0.3, mass_model: uniform, shape: {type: box, size: [0.1, 0.2, 0.08]}, "
    "joint: {type: slide, axis: [0.1, 0, 1], position: [0.02, 0, 0.15]}}\n"
    "  - {name: spinner, mass: 0.7, shape: {type: cylinder, radius: 0.08, length: 0.1, segments: 7}, "
    "joint: {type: free, free_axes: [x, y, z, rz], position: [-0.27, 0.03, 0.075]}}\n"
    "controllers:\n"
    "  - {link: arm, type: pd, position_gain: [20, 30], velocity_gain: 0.02, target: [0.2, -0.3]}\n"
    "  - {link: fore, type: pd, position_gain: 40, target: -0.9}\n"
    "  - {link: hand, type: pd, position_gain: [3, 2, 1], velocity_gain: [0.003, 0.002, 0.001], target: [0.4, -0.2, "
    "0.3]}\n"
    "initial:\n"
    "  - {link: base, velocities: [0.4, -0.3, -0.1, 0.3, -0.2, 0.5]}\n"
    "  - {link: arm, coordinates: [0.1, -0.05], velocities: [0.5, -0.7]}\n"
    "  - {link: fore, coordinates: [-2.4], velocities: [-1]}\n"
    "  - {link: hand, coordinates: [0.3, 0.2, -0.4], velocities: [1, 0.5, -0.8]}\n"
    "  - {link: slider, velocities: [-0.5, 0, 0.1]}\n"
    "  - {link: spinner, velocities: [0.3, 0.1, -0.2, 2]}\n";

/* ---------------------------------------------------------------- the objective at q (+) increments */

typedef struct {
  const char *shape, *height;
} Ground;
static const Ground half_space = {"half_space", "0"}, slab = {"box, size: [3, 3, 1]", "-0.5"};

typedef struct {
  Run* run;
  Sim* s;
  double *base, *at; /* coordinates the differences are taken about; the coordinates in force (nq) */
} Objective;

static void set_coordinates(Objective* o, const double* q) {
  Configuration* c = &o->s->configuration[o->s->current];
  memcpy(c->q, q, sizeof(double) * (size_t)o->run->model.coordinate_count);
  model_poses(&o->run->model, c->q, c->pose);
}

/* Make q the accepted state of everything, with derivatives. */
static bool accept_at(Objective* o, const double* q) {
  set_coordinates(o, q);
  Configuration* c = &o->s->configuration[o->s->current];
  if (!configuration_evaluate(o->s, c)) return false;
  if (!contact_evaluate(o->s->contact, c->pose)) return false;
  contact_accept(o->s->contact);
  return true;
}

static double total_energy(Objective* o) {
  const Configuration* c = &o->s->configuration[o->s->current];
  double sum = 0, contact, friction;
  for (int i = 0; i < o->run->model.link_count; i++) {
    sum += c->inertia[i];
    if (o->run->model.links[i].dof_count > 0)
      sum += c->joints[i].controller + c->joints[i].limit + c->joints[i].damping;
  }
  contact_energy(o->s->contact, &contact, &friction);
  return sum + contact + friction;
}

static Assembly assemble_at(Objective* o, double* gradient) {
  Sim* s = o->s;
  const Model* m = &o->run->model;
  Configuration* c = &s->configuration[s->current];
  model_screws(m, c->q, c->pose, s->assembly.screws);
  for (int i = 0; i < m->link_count; i++) {
    s->assembly.reference[i] = pose_apply(c->pose[i], m->links[i].center);
    memset(&s->assembly.terms[i], 0, sizeof(LinkTerms));
    if (m->links[i].tree >= 0)
      inertia_terms(&m->links[i], c->pose[i], s->target[i], s->weights.factor / (m->simulation.dt * m->simulation.dt),
                    &s->assembly.terms[i]);
  }
  Assembly a = {.model = m,
                .scope = &s->scope,
                .tree_first = s->trees.first,
                .tree_links = s->trees.links,
                .sides = &s->assembly.sides,
                .screws = s->assembly.screws,
                .reference = s->assembly.reference,
                .links = s->assembly.terms,
                .joints = c->joints,
                .contact = contact_term_list(s->contact)};
  assembly_list_tree_terms(&a, &s->assembly.sides);
  assemble_gradient(&a, gradient);
  return a;
}

static bool energy_at(void* context, const double* d, double* y) {
  Objective* o = context;
  model_increment(&o->run->model, o->base, d, 1, o->at);
  if (!accept_at(o, o->at)) return false;
  y[0] = total_energy(o);
  return true;
}

static bool gradient_at(void* context, const double* d, double* y) {
  Objective* o = context;
  model_increment(&o->run->model, o->base, d, 1, o->at);
  if (!accept_at(o, o->at)) return false;
  assemble_at(o, y);
  return true;
}

/* All couplings: every pair of trees. */
static void full_pattern(Objective* o) {
  int trees = o->run->model.tree_count, count = 0;
  uint64_t* keys = MEMORY_NEW(uint64_t, trees * trees);
  for (int a = 0; a < trees; a++)
    for (int b = a + 1; b < trees; b++) keys[count++] = (uint64_t)a << 32 | (uint32_t)b;
  block_solver_pattern(o->s->solver, keys, count);
  memory_free(keys);
}

/* Dense symmetric matrix out of the blocks. */
static void read_hessian(Objective* o, double* h) {
  const Model* m = &o->run->model;
  int n = m->dof_count;
  for (int a = 0; a < m->tree_count; a++)
    for (int b = a; b < m->tree_count; b++) {
      int stride;
      const double* block = block_solver_block(o->s->solver, a, b, &stride);
      for (int r = 0; r < m->trees[a].dof_count; r++)
        for (int c = a == b ? r : 0; c < m->trees[b].dof_count; c++) {
          int i = m->trees[a].dof_first + r, j = m->trees[b].dof_first + c;
          h[i * n + j] = h[j * n + i] = block[r * stride + c];
        }
    }
}

static Objective objective_create(const char* integrator, const char* friction, const Ground* ground, int steps) {
  Objective o = {.run = run_create(1, 1e-9, mixed_scene, integrator, friction, ground->shape, ground->height)};
  o.s = o.run->sim;
  o.base = MEMORY_NEW(double, o.run->model.coordinate_count);
  o.at = MEMORY_NEW(double, o.run->model.coordinate_count);
  run_steps(o.run, steps);
  step_prepare(o.s);
  assert_true(contact_lag(o.s->contact));
  memcpy(o.base, o.s->q_now, sizeof(double) * (size_t)o.run->model.coordinate_count);
  return o;
}

static void objective_free(Objective* o) {
  memory_free(o->base);
  memory_free(o->at);
  run_free(o->run);
}

/* Somewhere near t, not the solution: the gradient there is large, and so is the curvature of the motion. */
static void move_away(Objective* o, Random* random, double size) {
  const Model* m = &o->run->model;
  double* d = MEMORY_NEW(double, m->dof_count);
  for (int attempt = 0;; attempt++) {
    for (int k = 0; k < m->dof_count; k++) d[k] = size * random_normal(random);
    model_increment(m, o->s->q_now, d, 1, o->base);
    if (accept_at(o, o->base)) break;
    if (attempt > 200) fail_msg("no feasible state near by");
  }
  memory_free(d);
}

/* dof that share a ball: entries (row, column) with the column before the row hold for the order R Rx Ry Rz; the others
 * differ by a commutator with the gradient, which the differences of the gradient show too. */
static double commutator(const Model* m, const double* gradient, int row, int column) {
  const ModelLink* link = &m->links[m->dof_link[row]];
  if (m->dof_link[row] != m->dof_link[column] || !link->joint.quaternion || column <= row) return 0;
  int first = link->dof_first + link->joint.scalar_count, i = row - first, j = column - first;
  if (i < 0) return 0;
  /* exp(e_j) exp(e_i) against exp(e_i) exp(e_j): [e_j, e_i] = e_j x e_i */
  int third = 3 - i - j;
  double sign = (i == (j + 1) % 3) ? 1 : -1;
  return sign * gradient[first + third];
}

/* Friction's Hessian follows the state it comes from (friction.md, F5): coming from next to here it is the energy's
 * own, to 1e-9: a slip of 1e-13 m in dt against sqrt(eps). Twice, so that nothing is left of how q was reached before.
 */
static bool accept_from_near(Objective* o, const double* q) {
  const Model* m = &o->run->model;
  double *near = MEMORY_NEW(double, m->coordinate_count), *away = MEMORY_NEW(double, m->dof_count);
  for (int k = 0; k < m->dof_count; k++) away[k] = 1e-13;
  bool sound = true;
  for (int k = 2; k > 0; k--) {
    model_increment(m, q, away, k, near);
    sound = sound && accept_at(o, near);
  }
  sound = sound && accept_at(o, q);
  memory_free(near);
  memory_free(away);
  return sound;
}

static void check_objective(Objective* o, const char* what) {
  int n = o->run->model.dof_count;
  double *gradient = MEMORY_NEW(double, n), *h = MEMORY_NEW(double, n*n), *unit = MEMORY_NEW(double, n),
         *inverse = MEMORY_NEW(double, n);
  assert_true(accept_from_near(o, o->base));
  Assembly a = assemble_at(o, gradient);
  full_pattern(o);
  assemble_hessian(&a, true, o->s->solver);
  read_hessian(o, h);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) h[i * n + j] += commutator(&o->run->model, gradient, i, j);
  for (int k = 0; k < n; k++) {
    unit[k] = 1e-3; /* a twentieth of the support, a tenth of sqrt(eps) dt */
    inverse[k] = 1;
  }
  Sweep energy = {energy_at, o, n, 1, NULL, unit, NULL, 1, 6, 7};
  sweep_expect(&energy, gradient, 0, 1e-7, "%s: gradient", what);
  Sweep force = {gradient_at, o, n, n, NULL, unit, inverse, 1, 6, 7};
  sweep_expect(&force, h, 0, 1e-7, "%s: Hessian", what);
  memory_free(gradient);
  memory_free(h);
  memory_free(unit);
  memory_free(inverse);
}

/* ---------------------------------------------------------------- the rows */

typedef struct {
  const char *integrator, *friction;
  const Ground* ground;
  int steps;
} Row;

static void check_row(const Row* row, uint64_t seed) {
  Random random = {seed};
  Objective o = objective_create(row->integrator, row->friction, row->ground, row->steps);
  ContactSystem* contact = o.s->contact;
  char what[160];
  for (int k = 0; k < 3; k++) {
    snprintf(what, sizeof what, "seed %d, %s, friction %s, after %d steps, state %d", (int)seed, row->integrator,
             row->friction, row->steps, k);
    move_away(&o, &random, k == 0 ? 0 : 3e-4 * k);
    int active = contact_active_count(contact);
    if (active < 4) fail_msg("%s: only %d pairs touch", what, active);
    check_objective(&o, what);
  }
  objective_free(&o);
}

static void objective_K3_K4_K5_first_order_with_friction(void** state) {
  (void)state;
  check_row(&(Row){"first_order", "0.5", &half_space, 0}, 41);
  check_row(&(Row){"first_order", "0.5", &slab, 3}, 42);
}

static void objective_K3_K4_K5_first_order_without_friction(void** state) {
  (void)state;
  check_row(&(Row){"first_order", "0", &half_space, 3}, 43);
}

static void objective_K3_K4_K5_second_order_start_and_later(void** state) {
  (void)state;
  check_row(&(Row){"second_order", "0.5", &half_space, 0}, 44);
  check_row(&(Row){"second_order", "0.5", &slab, 1}, 45);
  check_row(&(Row){"second_order", "0.5", &half_space, 3}, 46);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(objective_K3_K4_K5_first_order_with_friction),
      cmocka_unit_test(objective_K3_K4_K5_first_order_without_friction),
      cmocka_unit_test(objective_K3_K4_K5_second_order_start_and_later),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
