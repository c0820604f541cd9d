/* `sdrs bench pair --law NAME`: measures the time of contact and of friction of one pair under a law, for several
 * numbers of vertices. One evaluation is the work of a time step for the pair. It computes the energy of a trial state
 * that starts from an accepted state. It then computes the gradient and the Hessian with respect to the twists of both
 * bodies. */
#include <stdlib.h>
#include <time.h>

#include "contact/law.h"

enum { PAIRS = 24, MOVES = 16, REPEATS = 7 };
/* Contact range and gap [m], and length and angle of the motion between two evaluations [m, rad]. The hulls have a
 * radius of 0.5 m. */
static const double bench_range = 0.02, bench_gap = 0.008, bench_motion = 2e-4;

/* A pair of two links with one hull each, and all data that the law stores for the pair. */
typedef struct {
  Scene scene;
  Model model;
  const ContactLaw* law;
  LawStep step;
  void* own_law;
  Pose pose[MOVES][2];
  PairState state[2];
  PairDerivatives derivatives[2];
  char *memory, *data[2], *room;
  FrictionPoints points;
  GjkCache gjk;
  PairMaterial material;
  int which; /* index of the accepted state in `state` */
  bool lagged;
  double sink;
} LawBench;

static Vec3 random_direction(Random* random) { return vec3_normalized(vec3_random_normal(random)); }

static void add_points(Text* yaml, const char* name, int count, Random* random) {
  text_add(yaml, "  %s: {type: points, points: [", name);
  for (int k = 0; k < count; k++) {
    Vec3 x = vec3_scale(random_direction(random), 0.5);
    text_add(yaml, "%s[%.17g, %.17g, %.17g]", k > 0 ? ", " : "", x.x, x.y, x.z);
  }
  text_add(yaml, "]}\n");
}

static void scene_text(Text* yaml, const char* law, double support, int vertices, Random* random) {
  text_add(yaml, "name: pair\nsimulation: {dt: 0.01, steps: 1}\ncontact: {model: %s, friction: 0.5", law);
  if (support > 0) text_add(yaml, ", support: %.17g", support);
  text_add(yaml, ", stiffness: 1, smoothing: 1.0e-6}\nshapes:\n");
  add_points(yaml, "a", vertices, random);
  add_points(yaml, "b", vertices, random);
  text_add(yaml, "links:\n  - {name: a, shape: a, mass: 1}\n  - {name: b, shape: b, mass: 1, position: [3, 0, 0]}\n");
}

/* Returns the barrier distance [m] with which a law has the contact range bench_range. Returns 0 for the long-range
 * law, which has no barrier distance. */
static double support_of(ContactModel model) {
  return model == CONTACT_SEPARATING_PLANE ? 0.5 * bench_range : model == CONTACT_LONG_RANGE ? 0 : bench_range;
}

static void bring_near(LawBench* p, Random* random) {
  PointView a = p->model.hulls[0].points, b = p->model.hulls[1].points;
  Pose pose[2] = {{mat3_from_quat(quat_exp(random_direction(random))), vec3(0, 0, 0)},
                  {mat3_identity(), vec3_scale(random_direction(random), 3)}};
  for (int k = 0; k < 8; k++) {
    GjkResult found = gjk_distance(a, pose[0], b, pose[1], NULL);
    pose[1].t = vec3_add_scaled(pose[1].t, bench_gap - found.distance, found.normal);
  }
  for (int k = 0; k < MOVES; k++)
    for (int side = 0; side < 2; side++) {
      Quat turn = quat_exp(vec3_scale(random_direction(random), 0.5 * bench_motion));
      Vec3 shift = vec3_scale(random_direction(random), 0.5 * bench_motion);
      p->pose[k][side] = (Pose){mat3_mul(mat3_from_quat(turn), pose[side].r), vec3_add(pose[side].t, shift)};
    }
}

static bool bench_create(LawBench* p, ContactModel model, int vertices, Random* random) {
  *p = (LawBench){0};
  Text yaml = {0};
  Diagnostics diagnostics = {0};
  scene_text(&yaml, contact_model_name(model), support_of(model), vertices, random);
  bool made = scene_parse(&p->scene, "pair", yaml.data, yaml.length, false, NULL, 0, &diagnostics) == STATUS_OK &&
              model_create(&p->model, &p->scene, &diagnostics) == STATUS_OK;
  text_free(&yaml);
  diagnostics_free(&diagnostics);
  if (!made) return false;
  p->law = contact_law(&p->model);
  p->step = (LawStep){.dt = p->model.simulation.dt, .force_ratio = 1};
  p->own_law = p->law->create(&p->model, 1, 1e-6, &p->step);
  p->memory = memory_alloc(p->law->pair_size + 1);
  for (int k = 0; k < 2; k++) p->data[k] = memory_alloc(p->law->state_size + 1);
  p->material = model_pair_material(&p->model, 0, 1);
  bring_near(p, random);
  return true;
}

static void bench_destroy(LawBench* p) {
  if (p->own_law) p->law->destroy(p->own_law);
  memory_free(p->memory);
  memory_free(p->room);
  friction_points_free(&p->points);
  for (int k = 0; k < 2; k++) memory_free(p->data[k]);
  model_destroy(&p->model);
  scene_free(&p->scene);
}

/* The hulls of the pair at the poses of one move, and the LawPair that the law's functions receive. */
typedef struct {
  HullInstance instance[2];
  LawPair pair;
} Standing;

static void stand(LawBench* p, int move, int which, Standing* out) {
  LawPair* pair = &out->pair;
  *pair = (LawPair){.row = p->law,
                    .law = p->own_law,
                    .contact = &p->model.contact,
                    .step = &p->step,
                    .has_points = p->points.count > 0,
                    .points = p->points.list,
                    .point_count = p->points.count,
                    .a = &out->instance[0],
                    .b = &out->instance[1],
                    .material = &p->material,
                    .gjk = &p->gjk,
                    .memory = p->memory,
                    .lagged = p->lagged,
                    .which = which,
                    .state = &p->state[which],
                    .derivatives = &p->derivatives[which],
                    .data = p->data[which]};
  for (int side = 0; side < 2; side++) {
    out->instance[side] = pair_hull_at(&p->model.hulls[side], &p->pose[move][side]);
    pair->reference[side] = pose_apply(p->pose[move][side], p->model.links[side].center);
    pair->item[side] = p->law->links ? p->model.hull_count + side : side;
  }
}

/* Evaluates the pair at the poses `move` as a trial state, with derivatives, and then accepts this state. The trial
 * starts from the accepted state at the poses `from`. follows: LawOrigin.follows, true if both states have the same
 * friction reference. */
static void step(LawBench* p, int from, int move, bool follows) {
  Standing now;
  stand(p, move, 1 - p->which, &now);
  double twist[2][6];
  for (int side = 0; side < 2; side++) {
    const Pose *old = &p->pose[from][side], *new = &p->pose[move][side];
    motion_twist(old->r, new->r, vec3_sub(new->t, old->t), twist[side]);
  }
  LawOrigin origin = {&p->state[p->which], p->data[p->which], {twist[0], twist[1]}, false, follows, false};
  PairState* state = now.pair.state;
  state->contact_energy = state->friction_energy = state->spent_energy = 0;
  state->has_terms = state->has_friction = state->derived = false;
  p->law->evaluate(&now.pair, &origin);
  if (p->lagged && law_friction_acts(&now.pair)) (void)law_evaluate_friction(&now.pair, &origin);
  if (state->has_terms) (void)law_derive(&now.pair);
  p->which = 1 - p->which;
  p->sink += now.pair.derivatives->hessian[0][0] + state->friction_energy;
}

/* Makes the accepted state the friction reference of the evaluations that follow. */
static void lag(LawBench* p) {
  Standing now;
  p->lagged = true;
  stand(p, 0, p->which, &now);
  size_t size = p->law->history ? p->law->history->lag(&now.pair, NULL) : 0;
  p->room = memory_alloc(size + 1);
  if (p->law->history) p->law->history->lag(&now.pair, p->room);
  if (p->law->points) law_find_points(&now.pair, &p->points);
  step(p, 0, 0, false);
}

/* Returns the mean processor time of one evaluation [ns], as the median over REPEATS repetitions. */
static double time_steps(LawBench* pairs) {
  double times[REPEATS] = {0};
  for (int r = 0; r < REPEATS; r++) {
    clock_t start = clock();
    for (int move = 0; move < MOVES; move++)
      for (int k = 0; k < PAIRS; k++) step(&pairs[k], (move + MOVES - 1) % MOVES, move, true);
    double t = (double)(clock() - start) / CLOCKS_PER_SEC * 1e9 / (MOVES * PAIRS);
    int at = r;
    for (; at > 0 && times[at - 1] > t; at--) times[at] = times[at - 1];
    times[at] = t;
  }
  return times[REPEATS / 2];
}

static bool bench_row(FILE* out, ContactModel model, int vertices, Random* random) {
  LawBench* pairs = MEMORY_NEW(LawBench, PAIRS);
  bool made = true;
  for (int k = 0; k < PAIRS && made; k++) made = bench_create(&pairs[k], model, vertices, random);
  for (int k = 0; k < PAIRS && made; k++) {
    pairs[k].state[0].outcome = PAIR_APART;
    step(&pairs[k], 0, 0, false);
  }
  double contact = made ? time_steps(pairs) : 0;
  for (int k = 0; k < PAIRS && made; k++) {
    step(&pairs[k], MOVES - 1, 0, true);
    lag(&pairs[k]);
  }
  double both = made ? time_steps(pairs) : 0;
  if (made) fprintf(out, "%s,%d,%.0f,%.0f\n", contact_model_name(model), vertices, contact, fmax(both - contact, 0));
  for (int k = 0; k < PAIRS; k++) bench_destroy(&pairs[k]);
  memory_free(pairs);
  return made;
}

bool contact_bench_law(FILE* out, ContactModel model) {
  static const int sizes[] = {8, 16, 32, 64, 128, 256, 512};
  Random random = {20240607};
  fprintf(out, "law,vertices,contact_ns,friction_ns\n");
  for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
    if (!bench_row(out, model, sizes[k], &random)) return false;
    fflush(out);
  }
  return true;
}
