/* Tests friction at contact points against a closed form and against finite differences, for normals of length 1 and
 * below. A small law with two contact points stands for a contact law. */
#include <string.h>

#include "contact/law.h"
#include "support/compare.h"

enum { POINTS = 2 };

/* Contact points of the small law: body a has the points 0 and 1 in its frame, body b others. The normal force is the
 * cube of their distance, the normal their direction times 0.9, or a fixed unit vector. */
typedef struct {
  Vec3 local[2][POINTS];
  bool unit;
} Small;

static Vec3 at(const Pose* pose, const Small* law, int side, int i) { return pose_apply(*pose, law->local[side][i]); }

static void points(const LawPair* p, bool reverses, FrictionPoints* out) {
  (void)reverses;
  const Small* law = p->law;
  const Pose* pose[2] = {&p->a->pose, &p->b->pose};
  for (int i = 0; i < POINTS; i++) {
    Vec3 a = at(pose[0], law, 0, i), b = at(pose[1], law, 1, i), d = vec3_sub(b, a);
    double length = vec3_norm(d);
    friction_points_add(out, pose, length * length * length, vec3_scale(d, (law->unit ? 1 : 0.9) / length), a, b);
  }
}

static void reverse_points(const LawReplay* p, PairShares* out) {
  const Small* law = p->law;
  for (int i = 0; i < POINTS; i++) {
    const PointBar* bar = &p->bars[i];
    Vec3 x[2];
    for (int k = 0; k < 2; k++) x[k] = at(&p->now[k].hull.pose, law, k, i);
    Vec3 d = vec3_sub(x[1], x[0]);
    double length = vec3_norm(d), factor = law->unit ? 1 : 0.9;
    Vec3 u = vec3_scale(d, 1 / length), across = vec3_add_scaled(bar->n, -vec3_dot(bar->n, u), u);
    Vec3 by_d = vec3_add_scaled(vec3_scale(u, 3 * length * length * bar->load), factor / length, across);
    for (int k = 0; k < 2; k++) {
      Vec3 by = vec3_add(bar->x[k], vec3_scale(by_d, k == 0 ? -1 : 1));
      VertexShare* share = &out->share[k][i];
      *share = (VertexShare){.vertex = i, .now = by};
      out->count[k] = POINTS;
      law_add_motion_now(p, k, x[k], by, vec3(0, 0, 0), out);
    }
  }
}

static bool derive(const LawPair* p) {
  (void)p;
  return true;
}

static void reverse(const LawReplay* p, const double twist[2][6], const PairCarry* carry, PairShares* out) {
  (void)p;
  (void)twist;
  (void)carry;
  (void)out;
}

static const ContactLaw small_law = {
    .points = points, .reverse_points = reverse_points, .derive = derive, .reverse = reverse};

/* A step of two bodies. */
typedef struct {
  Small law;
  ModelContact contact;
  LawStep step;
  PairMaterial material;
  PairBody now[2], next[2];
  double twist[2][6];
  bool half_space;
} Step;

static Vec3 random_vec3(Random* random, double size) {
  double x = random_uniform(random, -size, size), y = random_uniform(random, -size, size);
  return vec3(x, y, random_uniform(random, -size, size));
}

static Pose random_pose(Random* random) {
  return (Pose){mat3_from_quat(quat_exp(random_vec3(random, 2))), random_vec3(random, 1)};
}

/* Pose that a rotation vector and a displacement about the pose's origin change. */
static Pose pushed(Pose pose, const double twist[6]) {
  pose.r = mat3_mul(mat3_from_quat(quat_exp(vec3_at(twist))), pose.r);
  pose.t = vec3_add(pose.t, vec3_at(twist + 3));
  return pose;
}

static Step random_step(Random* random, bool unit, bool half_space) {
  Step s = {.law = {.unit = unit}, .contact = {.stiffness = 3, .smoothing = 0.2}, .step = {.dt = 0.1}};
  s.half_space = half_space;
  s.material.value[MATERIAL_FRICTION] = 0.7;
  for (int k = 0; k < 2; k++) {
    double motion[6];
    for (int i = 0; i < POINTS; i++) s.law.local[k][i] = random_vec3(random, 1);
    s.now[k].hull.pose = random_pose(random);
    for (int i = 0; i < 6; i++) motion[i] = random_uniform(random, -0.1, 0.1);
    s.next[k].hull.pose = pushed(s.now[k].hull.pose, motion);
    s.next[k].reference = random_vec3(random, 1);
    for (int i = 0; i < 6; i++) s.twist[k][i] = k == 1 && half_space ? 0 : random_uniform(random, -1, 1);
  }
  s.now[1].hull.half_space = s.next[1].hull.half_space = half_space;
  return s;
}

static LawPair pair_at(Step* s, const PairBody body[2], PairState* state, FrictionPoints* list) {
  return (LawPair){.row = &small_law,
                   .law = &s->law,
                   .contact = &s->contact,
                   .step = &s->step,
                   .a = &body[0].hull,
                   .b = &body[1].hull,
                   .reference = {body[0].reference, body[1].reference},
                   .material = &s->material,
                   .lagged = true,
                   .has_points = list->count > 0,
                   .points = list->list,
                   .point_count = list->count,
                   .state = state};
}

static double energy_of(Step* s) {
  FrictionPoints list = {.count = 0};
  PairState state = {.outcome = PAIR_PRESSED};
  LawPair now = pair_at(s, s->now, &state, &list);
  law_find_points(&now, &list);
  LawPair next = pair_at(s, s->next, &state, &list);
  assert_true(law_friction_acts(&next));
  assert_true(law_evaluate_friction(&next, NULL));
  friction_points_free(&list);
  return state.friction_energy;
}

static LawReplay replay_of(Step* s, const ContactRecord* record, FrictionPoints* room) {
  return (LawReplay){.row = &small_law,
                     .law = &s->law,
                     .contact = &s->contact,
                     .step = &s->step,
                     .room = room,
                     .record = record,
                     .material = &s->material,
                     .now = s->now,
                     .next = s->next};
}

/* A point that slides by 0.3 m in 0.1 s at the normal force 1: E = kappa mu dt (sqrt(9 + eps) - sqrt(eps)). */
static void friction_G14_worked_example(void** state) {
  (void)state;
  Step s = {.law = {.local = {{{0, 0, 0}, {0, 0, 0}}, {{0, 0, 1}, {0, 0, 1}}}, .unit = true},
            .contact = {.stiffness = 3, .smoothing = 0.2},
            .step = {.dt = 0.1}};
  s.material.value[MATERIAL_FRICTION] = 0.7;
  for (int k = 0; k < 2; k++) s.now[k].hull.pose = s.next[k].hull.pose = pose_identity();
  compare_near(energy_of(&s), 0, 0, "energy without slip");
  s.next[1].hull.pose.t = vec3(0.3, 0, 0.4);
  compare_near(energy_of(&s), 2 * 3 * 0.7 * 0.1 * (sqrt(9.2) - sqrt(0.2)), 1e-13, "energy of two equal points");
}

/* The error of central differences is in proportion to the size of the derivatives. */
static void check(double found, double wanted, const char* what, int index) {
  compare_near(found, wanted, 1e-7 * fmax(10, fabs(wanted)), "%s %d", what, index);
}

static PairDerivatives derivatives_of(Step* s) {
  FrictionPoints room = {.count = 0};
  ContactRecord record = {.has_friction = true};
  LawReplay replay = replay_of(s, &record, &room);
  PairDerivatives d = {.energy = 0};
  assert_true(law_derive_recorded(&replay, &d));
  friction_points_free(&room);
  return d;
}

/* The step that ends with body `side` moved by h along component i of its twist about the reference point. */
static Step moved_end(const Step* s, int side, int i, double h) {
  Step out = *s;
  double twist[6] = {0};
  twist[i] = h;
  Pose* pose = &out.next[side].hull.pose;
  Vec3 arm = vec3_sub(pose->t, s->next[side].reference);
  *pose = pushed(*pose, twist);
  if (i < 3) pose->t = vec3_add(s->next[side].reference, mat3_mul_vec(mat3_from_quat(quat_exp(vec3_at(twist))), arm));
  return out;
}

/* The wrench against differences of the energy, and the rows of forces of the Hessian against differences of the
 * forces. */
static void derivatives_G14_of_friction(void** state) {
  (void)state;
  Random random = {36};
  double h = 1e-5;
  for (int trial = 0; trial < 8; trial++) {
    Step s = random_step(&random, trial % 2 == 0, trial % 4 >= 2);
    PairDerivatives d = derivatives_of(&s);
    for (int k = 0; k < (s.half_space ? 6 : 12); k++) {
      Step low = moved_end(&s, k / 6, k % 6, -h), high = moved_end(&s, k / 6, k % 6, h);
      PairDerivatives before = derivatives_of(&low), after = derivatives_of(&high);
      Vec3 by = k % 6 < 3 ? mat3_axial(d.moment[k / 6]) : d.force[k / 6];
      check(vec3_dot(by, vec3_axis(k)), (energy_of(&high) - energy_of(&low)) / (2 * h), "wrench", k);
      for (int side = 0; side < (s.half_space ? 1 : 2); side++) {
        Vec3 change = vec3_scale(vec3_sub(after.force[side], before.force[side]), 1 / (2 * h));
        Vec3 column = vec3(d.hessian[6 * side + 3][k], d.hessian[6 * side + 4][k], d.hessian[6 * side + 5][k]);
        compare_vec3(column, change, 1e-7 * fmax(10, vec3_norm(change)), "Hessian, column %d", k);
      }
    }
  }
}

static double phi_of(Step* s) {
  PairDerivatives d = derivatives_of(s);
  double phi = 0;
  for (int k = 0; k < 2; k++)
    phi += vec3_dot(mat3_axial(d.moment[k]), vec3_at(s->twist[k])) + vec3_dot(d.force[k], vec3_at(s->twist[k] + 3));
  return phi / s->contact.stiffness;
}

static double central(const Step* s, void (*change)(Step* s, int input, double by), int input, double h) {
  Step low = *s, high = *s;
  change(&low, input, -h);
  change(&high, input, h);
  return (phi_of(&high) - phi_of(&low)) / (2 * h);
}

/* Central differences of two steps, extrapolated: the error is of fourth order if each has an error of second order. */
static double difference(const Step* s, void (*change)(Step* s, int input, double by), int input) {
  return (4 * central(s, change, input, 1e-5) - central(s, change, input, 2e-5)) / 3;
}

static void change_pose_now(Step* s, int input, double by) {
  double twist[6] = {0};
  twist[input % 6] = by;
  s->now[input / 6].hull.pose = pushed(s->now[input / 6].hull.pose, twist);
}

static void change_ground_next(Step* s, int input, double by) {
  double twist[6] = {0};
  twist[input] = by;
  s->next[1].hull.pose = pushed(s->next[1].hull.pose, twist);
}

static void change_vertex(Step* s, int input, double by) {
  Vec3* x = &s->law.local[input / 6][input / 3 % 2];
  *x = vec3_add_scaled(*x, by, vec3_axis(input));
}

static void change_number(Step* s, int input, double by) {
  *(input == 0 ? &s->material.value[MATERIAL_FRICTION] : &s->contact.smoothing) += by;
}

static void reverse_G15_of_friction(void** state) {
  (void)state;
  Random random = {15};
  for (int trial = 0; trial < 8; trial++) {
    Step s = random_step(&random, trial % 2 == 0, trial % 4 >= 2);
    FrictionPoints room = {.count = 0};
    ContactRecord record = {.has_friction = true};
    LawReplay replay = replay_of(&s, &record, &room);
    VertexShare share[2][POINTS];
    PairShares out = {.share = {share[0], share[1]}};
    law_reverse(&replay, (const double(*)[6])s.twist, &(PairCarry){.y = 0}, &out);
    compare_near(out.value, phi_of(&s), 1e-12, "value");
    check(out.friction, difference(&s, change_number, 0), "by number", 0);
    check(out.smoothing, difference(&s, change_number, 1), "by number", 1);
    for (int i = 0; i < 12; i++) {
      int side = i / 6;
      Vec3 torque = out.turn_now[side], force = out.move_now[side];
      if (side == 1 && s.half_space) torque = out.ground_now.torque, force = out.ground_now.force;
      Vec3 by = i % 6 < 3 ? torque : force;
      check(vec3_dot(by, vec3_axis(i)), difference(&s, change_pose_now, i), "by a pose at t", i);
      Vec3 local = mat3_tmul_vec(s.now[side].hull.pose.r, share[side][i / 3 % 2].now);
      check(vec3_dot(local, vec3_axis(i)), difference(&s, change_vertex, i), "by a point", i);
    }
    for (int i = 0; i < 6 && s.half_space; i++) {
      Vec3 by = i < 3 ? out.ground_next.torque : out.ground_next.force;
      check(vec3_dot(by, vec3_axis(i)), difference(&s, change_ground_next, i), "by a half-space", i);
    }
    friction_points_free(&room);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(friction_G14_worked_example),
      cmocka_unit_test(derivatives_G14_of_friction),
      cmocka_unit_test(reverse_G15_of_friction),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
