/* Tests spatial tendons, tendon springs, and actuators on tendons, also several on one tendon. */
#include "unit/robot/mjcf_testing.h"

/* Two sliders on x, sites on both and on the world at (0, 0, 1); more of the file follows. */
#define SLIDERS                                                                                            \
  "<mujoco><compiler angle='radian'/><worldbody><site name='nail' pos='0 0 1'/>"                           \
  "<body name='a' pos='1 0 0'><joint name='j' type='slide' axis='1 0 0' pos='0 0 0.5'/><geom size='0.1'/>" \
  "<site name='left' pos='0.1 0.2 1'/><body pos='0 0 0.25'><site name='inner'/></body></body>"             \
  "<body name='b' pos='3 0 0'><joint name='k' type='slide' axis='1 0 0'/><geom size='0.1'/>"               \
  "<site name='right' pos='0 0 1'/></body></worldbody>"
#define CORD(name, attributes) \
  "<spatial name='" name "' " attributes "><site site='nail'/><site site='right'/></spatial>"

static int link_index(const UrdfCase* c, const char* name) { return (int)(link_named(c, name) - c->scene.links); }

static void check_cord(const UrdfCase* c, int index, double stiffness, double rest, double tension) {
  assert_true(index < c->scene.tendon_count);
  const SceneTendon* t = &c->scene.tendons[index];
  compare_near(t->stiffness, stiffness, 1e-14, "stiffness of %d", index);
  compare_near(t->rest_length, rest, 1e-12, "rest length of %d", index);
  compare_near(t->tension.channels > 0 ? t->tension.values[0] : 0, tension, 1e-13, "tension of %d", index);
}

/* Sites of the world, of bodies whose frame is not their link's, and of bodies that are part of others. */
static void cords_run_from_site_to_site(void** state) {
  (void)state;
  UrdfCase c = mjcf_load(SLIDERS
                         "<tendon><spatial stiffness='7' name='t' springlength='0.5'><site site='nail'/>"
                         "<site site='left'/><site site='inner'/></spatial></tendon></mujoco>",
                         NULL);
  assert_int_equal(c.scene.tendon_count, 1);
  const SceneTendon* t = &c.scene.tendons[0];
  int a = link_index(&c, "a");
  assert_int_equal(t->count, 3);
  assert_int_equal(t->points[0].link, -1);
  assert_int_equal(t->points[1].link, a);
  assert_int_equal(t->points[2].link, a);
  compare_vec3(t->points[0].point, vec3(0, 0, 1), 0, "on the world");
  compare_vec3(t->points[1].point, vec3(0.1, 0.2, 0.5), 1e-15, "seen from the joint's anchor");
  compare_vec3(t->points[2].point, vec3(0, 0, -0.25), 1e-15, "on a part of the link");
  check_cord(&c, 0, 7, 0.5, 0);
  urdf_case_free(&c);
}

/* Rest lengths of springs: a number, a range in which the tendon is slack, or the reference length by default. */
static void springs_rest_where_they_say(void** state) {
  (void)state;
  UrdfCase c = mjcf_load(SLIDERS
                         "<default><tendon stiffness='4'/></default>"
                         "<tendon>" CORD("one", "springlength='2'") CORD("slack", "springlength='0 2.5'")
                             CORD("drawn", "") CORD("none", "stiffness='0'") "</tendon></mujoco>",
                         NULL);
  assert_int_equal(c.scene.tendon_count, 3);
  check_cord(&c, 0, 4, 2, 0);
  check_cord(&c, 1, 4, 2.5, 0);
  check_cord(&c, 2, 4, 3, 0);
  urdf_case_free(&c);
}

/* f = gain u + b0 + b1 gear L, and gear f lengthens: the pull is minus that, whatever of it is a spring. */
static void actuators_pull_at_cords(void** state) {
  (void)state;
  UrdfCase c = mjcf_load(SLIDERS
                         "<tendon>" CORD("t", "") "</tendon><actuator>"
                         "<motor tendon='t' gear='-2' ctrlrange='0 3'/>"
                         "<position tendon='t' kp='5' gear='2'/>"
                         "<general tendon='t' gainprm='10' biastype='affine' biasprm='1 -4 0'/>"
                         "<motor tendon='t' gear='-1' forcerange='-0.5 0.5'/></actuator>"
                         "<keyframe><key qpos='0 0' ctrl='4 3 -0.6 9'/></keyframe></mujoco>",
                         NULL);
  assert_int_equal(c.scene.tendon_count, 4);
  check_cord(&c, 0, 0, 0, 6);    /* 2 x 3 */
  check_cord(&c, 1, 20, 1.5, 0); /* 2 x 5 (3 - 2 L) = 20 (1.5 - L) */
  check_cord(&c, 2, 4, 0, 5);    /* -6 + 1 - 4 L */
  check_cord(&c, 3, 0, 0, 0.5);
  urdf_case_free(&c);
}

/* A keyframe without controls keeps the tendon at its length in the keyframe, 3.5 - 0.2. */
static void cords_hold_a_key_without_controls(void** state) {
  (void)state;
  UrdfCase c = mjcf_load(SLIDERS
                         "<tendon>" CORD("t", "") "</tendon><actuator><position tendon='t' kp='5'/></actuator>"
                         "<keyframe><key qpos='0 0.3'/></keyframe></mujoco>",
                         NULL);
  check_cord(&c, 0, 5, 3.3, 0);
  urdf_case_free(&c);
}

/* The tendon wraps around a cylinder of a body with a side site, and around a sphere of the world. Its reference length
 * is that of this path. */
static void cords_go_round_geoms(void** state) {
  (void)state;
  UrdfCase c = mjcf_load(
      "<mujoco><compiler angle='radian'/><worldbody><site name='nail' pos='-2 0 0.5'/>"
      "<geom name='bead' type='sphere' size='0.2' pos='5 0 0' contype='0' conaffinity='0'/>"
      "<body name='a' pos='0 0 0'><joint name='j' type='hinge' axis='0 1 0'/>"
      "<geom name='drum' type='cylinder' size='0.5 0.1' euler='1.5707963267948966 0 0'/><site name='top' pos='1 0 1'/>"
      "<site name='rim' pos='0.5 0 -1.5'/></body></worldbody>"
      "<tendon><spatial stiffness='3' springlength='1'><site site='nail'/><geom geom='drum' sidesite='top'/><site "
      "site='rim'/><geom geom='bead'/><site site='nail'/></spatial>"
      "<spatial stiffness='3'><site site='nail'/><geom geom='drum' sidesite='top'/><site site='rim'/></spatial>"
      "</tendon></mujoco>",
      NULL);
  assert_int_equal(c.scene.tendon_count, 2);
  const SceneTendon* t = &c.scene.tendons[0];
  assert_int_equal(t->wrap_count, 2);
  assert_int_equal(t->wraps[0].type, WRAP_CYLINDER);
  assert_int_equal(t->wraps[0].link, link_index(&c, "a"));
  compare_near(t->wraps[0].radius, 0.5, 0, "radius");
  compare_vec3(vec3_scale(t->wraps[0].axis, t->wraps[0].axis.y < 0 ? -1 : 1), vec3(0, 1, 0), 1e-15, "axis");
  assert_true(t->wraps[0].has_side);
  compare_vec3(t->wraps[0].side, vec3(1, 0, 1), 1e-15, "side");
  assert_int_equal(t->wraps[1].type, WRAP_SPHERE);
  assert_int_equal(t->wraps[1].link, -1);
  assert_int_equal(t->wraps[1].after, 1);
  assert_int_equal(t->points[1].wrap, 2);
  compare_vec3(t->wraps[1].position, vec3(5, 0, 0), 0, "position");
  check_cord(&c, 0, 3, 1, 0);
  check_cord(&c, 1, 3, 2 + 0.5 * M_PI / 2 + 1.5, 0);
  urdf_case_free(&c);
}

static void other_ways_are_told(void** state) {
  (void)state;
  expect_told(
      SLIDERS
      "<tendon><spatial name='t' stiffness='1'><site site='nail'/><geom geom='g'/><site site='right'/></spatial>"
      "<spatial name='u' stiffness='1'><site site='nail'/><pulley divisor='2'/><site site='right'/></spatial>"
      "</tendon></mujoco>",
      NULL, "tendons around geoms that are no sphere and no cylinder, tendons over pulleys");
  expect_told(SLIDERS
              "<tendon><spatial stiffness='1' name='t'><site site='nail'/><site site='far'/></spatial></tendon>"
              "</mujoco>",
              NULL, "error: <spatial>: no site is named 'far'");
  expect_told(SLIDERS "<tendon>" CORD("t", "range='0 2' limited='true' damping='1'") "</tendon><actuator>"
                      "<muscle tendon='t'/><position tendon='t' kp='1' kv='1' forcerange='-2 2'/></actuator>"
                      "<keyframe><key qpos='0 0' ctrl='0 1'/></keyframe></mujoco>",
              NULL,
              "actuator/muscle, damping, friction and limits of tendons, limits of force of springs of spatial tendons, "
              "push of spatial tendons shorter than at rest, damping of spatial tendons");
}

/* Dry friction of a fixed and of a spatial tendon, with and without a spring. */
static void friction_comes_in(void** state) {
  (void)state;
  UrdfCase c = mjcf_load(SLIDERS "<tendon>" CORD("t", "stiffness='7' springlength='0 2' frictionloss='3'")
                             "<fixed name='f' frictionloss='4'><joint joint='j' coef='2'/></fixed></tendon></mujoco>",
                         NULL);
  assert_int_equal(c.scene.tendon_count, 3);
  const SceneTendon *t = &c.scene.tendons[1], *f = &c.scene.tendons[2];
  assert_true(c.scene.tendons[0].friction == 0 && t->friction == 3 && t->count == 2 && t->stiffness == 0);
  assert_true(f->friction == 4 && f->joint_count == 1 && f->joints[0].ratio == 2 && f->friction_speed == 1e-4);
  assert_null(strstr(c.report.remarks.data, "left out"));
  urdf_case_free(&c);
}

/* Limits are stiff and critically damped. Their stiffness is that of MuJoCo's default constraint for the effective
 * mass. A lower limit of 0 has no effect. */
static void limits_are_ranges(void** state) {
  (void)state;
  UrdfCase c = mjcf_load(
      SLIDERS "<tendon>" CORD("t", "range='0 3.5' stiffness='7' springlength='0 2'") CORD("u", "range='1 2'")
          "<fixed name='f' range='-1 2' limited='true'><joint joint='j' coef='2'/></fixed></tendon></mujoco>",
      NULL);
  const double mass = 1000 * 4 / 3.0 * 3.14159265358979323846 * 0.001; /* of b; a is another tree */
  const double rate = 0.81 / (0.9025 * 0.0004 * 0.1);
  assert_int_equal(c.scene.tendon_count, 4);
  check_cord(&c, 0, 7, 2, 0);
  const SceneTendon *t = &c.scene.tendons[1], *u = &c.scene.tendons[2], *f = &c.scene.tendons[3];
  assert_true(t->limited && t->count == 2 && t->stiffness == 0);
  assert_true(isinf(t->lower) && t->lower < 0);
  compare_near(t->upper, 3.5, 1e-12, "upper limit");
  compare_near(t->range_stiffness, rate * mass, 1e-6, "stiffness");
  compare_near(t->range_damping, 2 * mass * sqrt(rate), 1e-6, "critical damping");
  assert_true(u->lower == 1 && u->upper == 2);
  assert_true(f->limited && f->count == 0 && f->joint_count == 1 && f->joints[0].ratio == 2);
  assert_true(f->lower == -1 && f->upper == 2);
  assert_null(strstr(c.report.remarks.data, "left out"));
  urdf_case_free(&c);
}

static const SceneController* pd_of(const UrdfCase* c, const char* link) {
  for (int i = 0; i < c->scene.controller_count; i++)
    if (c->scene.controllers[i].type == CONTROLLER_PD && c->scene.controllers[i].link == link_index(c, link))
      return &c->scene.controllers[i];
  fail_msg("no spring at '%s'", link);
  return NULL;
}

static double pull_of(const SceneController* c, double own, double other) {
  double target = c->target.values[0];
  for (int k = 0; k < c->measure_count; k++) target += c->feedback[k] * other;
  return c->position_gain[0] * (target - own);
}

/* The energy 3/2 (q + 2 p - 0.4)^2 of a fixed tendon, beside springs of the joints' own. */
static void fixed_tendons_have_springs(void** state) {
  (void)state;
  UrdfCase c =
      mjcf_load(SLIDERS
                "<tendon><fixed name='t' stiffness='3' springlength='0.4'><joint joint='j' coef='1'/>"
                "<joint joint='k' coef='2'/></fixed></tendon>"
                "<actuator><position joint='j' kp='5'/><position joint='j' kp='2'/><position joint='k' kp='7'/>"
                "</actuator><keyframe><key qpos='0 0' ctrl='0.3 -1 0.6'/></keyframe></mujoco>",
                NULL);
  for (int trial = 0; trial < 3; trial++) {
    double q = 0.2 * trial - 0.1, p = 0.7 - 0.5 * trial, shared = 3 * (0.4 - q - 2 * p);
    compare_near(pull_of(pd_of(&c, "a"), q, p), shared + 5 * (0.3 - q) + 2 * (-1 - q), 1e-14, "on a, %d", trial);
    compare_near(pull_of(pd_of(&c, "b"), p, q), 2 * shared + 7 * (0.6 - p), 1e-14, "on b, %d", trial);
  }
  urdf_case_free(&c);
}

/* Integrators hold the key's act, dampers have their control's strength, motors side by side add up, limits too. */
static void other_actuators_of_joints(void** state) {
  (void)state;
  UrdfCase c = mjcf_load(SLIDERS
                         "<default><general gear='3'/></default><actuator>"
                         "<motor joint='k' gear='2' forcerange='-1 1'/><motor joint='k' ctrlrange='-4 4'/>"
                         "<damper joint='k' kv='5' gear='2' ctrlrange='0 1'/>"
                         "<intvelocity joint='j' kp='6' gear='1' actrange='-1 1'/>"
                         "<cylinder joint='j' area='2' gear='1' bias='0.5 -1 0'/></actuator>"
                         "<keyframe><key qpos='0 0' ctrl='0.25 1.5 0.75 0 4' act='0.2 4'/></keyframe></mujoco>",
                         NULL);
  const SceneController *torque = NULL, *damper = NULL, *spring = pd_of(&c, "a");
  for (int i = 0; i < c.scene.controller_count; i++) {
    if (c.scene.controllers[i].type == CONTROLLER_TORQUE) torque = &c.scene.controllers[i];
    if (c.scene.controllers[i].type == CONTROLLER_VELOCITY) damper = &c.scene.controllers[i];
  }
  if (!torque || !damper) {
    fail_msg("no torque or no damper");
    return;
  }
  compare_near(torque->target.values[0], 2 * 0.25 + 3 * 1.5, 1e-15, "sum, with the default's gear");
  compare_near(torque->max_force[0], 2 + 12, 1e-15, "limits add up");
  compare_near(damper->damping_gain[0], 4 * 5 * 0.75, 1e-15, "damper");
  compare_near(spring->position_gain[0], 7, 1e-15, "two springs");
  compare_near(spring->target.values[0], (6 * 0.2 + 8.5) / 7, 1e-15, "integrator and cylinder");
  urdf_case_free(&c);
  expect_told(SLIDERS
              "<actuator><intvelocity joint='j' actrange='-1 1'/></actuator>"
              "<keyframe><key qpos='0 0' ctrl='0.3'/></keyframe></mujoco>",
              NULL, "controls that are rates");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cords_run_from_site_to_site), cmocka_unit_test(springs_rest_where_they_say),
      cmocka_unit_test(actuators_pull_at_cords),     cmocka_unit_test(cords_hold_a_key_without_controls),
      cmocka_unit_test(cords_go_round_geoms),        cmocka_unit_test(other_ways_are_told),
      cmocka_unit_test(limits_are_ranges),           cmocka_unit_test(friction_comes_in),
      cmocka_unit_test(fixed_tendons_have_springs),  cmocka_unit_test(other_actuators_of_joints),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
