/* Tests rare MJCF features of robot collections: contact pairs, height fields, thrusters, damping ratios, inherited
 * ranges, force limits, springs of tendons, connected sites, and omitted attributes. */
#include "unit/robot/mjcf_testing.h"

static const SceneController* controller_on(const UrdfCase* c, const char* link) {
  for (int i = 0; i < c->scene.controller_count; i++)
    if (strcmp(c->scene.links[c->scene.controllers[i].link].name, link) == 0) return &c->scene.controllers[i];
  fail_msg("no controller on '%s'", link);
  return NULL;
}

/* Geoms without masks touch only where a <pair> says so, excluded or not. */
static void pairs_touch_whatever_masks_say(void** state) {
  (void)state;
  UrdfCase c = mjcf_load(
      "<mujoco><default><geom contype='0' conaffinity='0'/></default><worldbody>"
      "<geom name='floor' type='plane' size='1 1 1'/>"
      "<body name='a' pos='0 0 1'><freejoint/><geom name='ga' size='0.1'/></body>"
      "<body name='b' pos='0 0 2'><freejoint/><geom name='gb' size='0.1'/></body>"
      "<body name='c' pos='0 0 3'><freejoint/><geom name='gc' size='0.1'/></body></worldbody>"
      "<contact><exclude body1='a' body2='b'/><pair geom1='ga' geom2='floor' friction='0.3 0.3'/>"
      "<pair geom1='ga' geom2='gb'/></contact></mujoco>",
      NULL);
  assert_int_equal(link_named(&c, "a")->shape_count, 1);
  assert_int_equal(link_named(&c, "c")->shape_count, 0); /* touches nothing */
  assert_false(is_excluded(&c, "a", "ground"));
  assert_false(is_excluded(&c, "a", "b"));
  assert_true(is_excluded(&c, "b", "ground"));
  const SceneContact* contact = &c.scene.contact;
  const ScenePair* last = &contact->pairs[contact->pair_count - 1];
  assert_string_equal(last->name[0], "a");
  assert_string_equal(last->name[1], "ground");
  compare_near(last->material.value[MATERIAL_FRICTION], 0.3, 0, "friction of the pair");
  urdf_case_free(&c);
  expect_told(
      "<mujoco><worldbody><body><freejoint/><geom name='a' size='1'/></body></worldbody>"
      "<contact><pair geom1='a' geom2='z'/></contact></mujoco>",
      NULL, "error: <pair>: geom2: no geom is named 'z'");
}

/* Bounds of masses and principal moments, geoms without mass by their group; numbers of MuJoCo 3.3.8. */
static void compiler_bounds_masses(void** state) {
  (void)state;
  UrdfCase c = mjcf_load(
      "<mujoco><compiler boundmass='0.02' boundinertia='2e-5' balanceinertia='true' inertiagrouprange='0 2'/>"
      "<worldbody><body name='light'><freejoint/><geom type='box' size='0.01 0.02 0.01' density='100'/></body>"
      "<body name='thin' pos='1 0 1'><joint/>"
      "<inertial pos='0.1 0 0' mass='1' quat='1 0.3 0.2 0' diaginertia='0.1 0.2 0.9'/><geom size='0.1'/></body>"
      "<body name='empty' pos='2 0 1'><joint/><body name='tip' pos='0 0 0.2'><joint axis='1 0 0'/>"
      "<geom size='0.05'/><geom size='0.05' pos='0.2 0 0' group='3'/></body></body></worldbody></mujoco>",
      NULL);
  const SceneLink *light = link_named(&c, "light"), *thin = link_named(&c, "thin");
  const SceneLink *empty = link_named(&c, "empty"), *tip = link_named(&c, "tip");
  compare_near(light->mass, 0.02, 0, "boundmass");
  compare_near(empty->mass, 0.02, 0, "boundmass of a body without geoms");
  for (int k = 0; k < 6; k++) {
    compare_near(light->inertia[k], k < 3 ? 2e-5 : 0, 1e-18, "boundinertia");
    compare_near(empty->inertia[k], k < 3 ? 2e-5 : 0, 1e-18, "boundinertia of a body without geoms");
    compare_near(thin->inertia[k], k < 3 ? 0.4 : 0, 1e-14, "balanceinertia");
  }
  compare_near(tip->mass, 0.5235987755982989, 1e-14, "mass of the geom in the range of groups");
  compare_near(vec3_norm(tip->center), 0, 1e-15, "centre of the geom in the range of groups");
  urdf_case_free(&c);
}

/* Masses and principal moments as MuJoCo 3.3.8 has them for this file, in double precision here. */
static void built_in_meshes_have_mass(void** state) {
  (void)state;
  UrdfCase c = mjcf_load(
      "<mujoco><asset><mesh name='a' builtin='supersphere' params='32 .3 .4' scale='.2 .13 .085'/>"
      "<mesh name='b' builtin='supertorus' params='24 .2 .4 1' scale='1.7 1.7 .9'/>"
      "<mesh name='c' builtin='supertorus' params='24 .2 .4 1' scale='1.7 1.7 .9' inertia='exact'/>"
      "<mesh name='d' builtin='supersphere' params='9 1 1' scale='.1 .1 .1' inertia='shell'/></asset><worldbody>"
      "<body name='a' pos='0 0 1'><freejoint/><geom type='mesh' mesh='a'/></body>"
      "<body name='b' pos='5 0 1'><freejoint/><geom type='mesh' mesh='b'/></body>"
      "<body name='c' pos='10 0 1'><freejoint/><geom type='mesh' mesh='c'/></body>"
      "<body name='d' pos='15 0 1'><freejoint/><geom type='mesh' mesh='d'/></body></worldbody></mujoco>",
      NULL);
  static const double WANTED[][4] = {{15.54870340751835, 0.11046435940185001, 0.216994731561741, 0.2624059816405854},
                                     {4957.805502353384, 5052.466454753643, 5052.466454753648, 10028.778073694635},
                                     {2435.382356885081, 3631.271667747487, 3631.271667747487, 7214.184415447527},
                                     {118.82358909739499, 0.7425707144019253, 0.7425707016163033, 0.7215057144378084}};
  static const char* const NAMES[] = {"a", "b", "c", "d"};
  for (int k = 0; k < 4; k++) {
    const SceneLink* link = link_named(&c, NAMES[k]);
    compare_near(link->mass, WANTED[k][0], 1e-7 * WANTED[k][0], "mass");
    for (int i = 0; i < 3; i++) compare_near(link->inertia[i], WANTED[k][i + 1], 1e-7 * WANTED[k][i + 1], "moment");
  }
  urdf_case_free(&c);
  expect_told(
      "<mujoco><asset><mesh name='a' builtin='supersphere' params='2 1 1'/></asset><worldbody><body><joint/>"
      "<geom type='mesh' mesh='a'/></body></worldbody></mujoco>",
      NULL, "a resolution (whole number from 3 to 200) and two exponents >= 0, got '2 1 1'");
  expect_told(
      "<mujoco><asset><mesh name='a' builtin='cone' params='8 1'/></asset><worldbody><body><joint/>"
      "<geom type='mesh' mesh='a'/></body></worldbody></mujoco>",
      NULL, "the built-in mesh 'a' (cone) is not supported");
}

/* A torus of radii R, r has the volume 2 pi^2 R r^2. Its moments per unit mass are R^2 + 3/4 r^2 about its axis and
 * R^2/2 + 5/8 r^2. With 64 facets around both circles the volume is at least 1 - (2 pi/64)^2/2 = 0.995 of it. */
static void a_torus_is_a_ring_of_capsules(void** state) {
  (void)state;
  UrdfCase c = mjcf_load(
      "<mujoco><extension><plugin plugin='mujoco.sdf.torus'><instance name='t'><config key='radius1' value='0.4'/>"
      "<config key='radius2' value='0.1'/></instance></plugin></extension>"
      "<asset><mesh name='m' inertia='exact'><plugin instance='t'/></mesh></asset><worldbody>"
      "<body name='ring' pos='0 0 1'><freejoint/><geom type='sdf' mesh='m'><plugin instance='t'/></geom></body>"
      "</worldbody></mujoco>",
      NULL);
  const SceneLink* ring = link_named(&c, "ring");
  double pi = acos(-1), mass = 1000 * 2 * pi * pi * 0.4 * 0.01;
  compare_near(ring->mass, 0.997 * mass, 0.003 * mass, "mass");
  compare_near(ring->inertia[2] / ring->mass, 0.16 + 0.0075, 0.005 * 0.1675, "about its axis");
  compare_near(ring->inertia[0] / ring->mass, 0.08 + 0.00625, 0.005 * 0.08625, "across");
  assert_int_equal(ring->shape_count, 16);
  for (int k = 0; k < 16; k++) {
    const SceneShapeUse* use = &ring->shapes[k];
    const SceneShape* shape = &c.scene.shapes[use->shape];
    Vec3 along = mat3_mul_vec(mat3_from_quat(use->rotation), vec3(0, 0, 1));
    compare_near(shape->radius, 0.1, 1e-15, "radius of the tube");
    compare_near(use->position.z, 0, 1e-15, "in its plane");
    compare_near(vec3_dot(along, use->position), 0, 1e-15, "along the circle");
    double middle = vec3_norm(use->position), end = hypot(middle, shape->length / 2);
    compare_near(middle + end, 0.8, 1e-15, "inside as much as outside");
    compare_near(end - middle, 2 * 0.4 * tan(pi / 32) * tan(pi / 32), 1e-15, "closed"); /* (1 - c)/(1 + c) = tan^2 */
  }
  assert_null(strstr(c.report.remarks.data, "left out"));
  urdf_case_free(&c);
}

/* Returns the restitution of the pair of groups of two links; 0 if no pair has one. */
static double restitution_of(const UrdfCase* c, const char* a, const char* b) {
  const SceneLink *first = link_named(c, a), *second = link_named(c, b);
  double found = 0;
  for (int i = 0; i < c->scene.contact.pair_count; i++) {
    const ScenePair* pair = &c->scene.contact.pairs[i];
    for (int side = 0; side < 2; side++)
      for (int k = 0; k < first->group_count; k++)
        for (int n = 0; n < second->group_count; n++)
          if (strcmp(pair->name[side], first->groups[k]) == 0 && strcmp(pair->name[1 - side], second->groups[n]) == 0)
            found = pair->material.value[MATERIAL_RESTITUTION];
  }
  return found;
}

/* Restitution of balls of 0.056 kg that fall on a plane at 3 m/s in MuJoCo 3.3.8, with steps of 0.5 ms. It is 0.896 for
 * stiffness 5000 and damping 5, 0.644 for 10000 and 30, 0.575 for a damping ratio of 0.2. */
static void solref_is_restitution(void** state) {
  (void)state;
  UrdfCase c = mjcf_load(
      "<mujoco><worldbody><geom type='plane' size='1 1 1'/>"
      "<body name='a' pos='0 0 1'><freejoint/><geom size='0.1' solref='-5000 -5'/></body>"
      "<body name='b' pos='0 0 2'><freejoint/><geom size='0.1' priority='1' solref='-10000 -30'/></body>"
      "<body name='c' pos='0 0 3'><freejoint/><geom size='0.1' priority='2' solref='0.02 0.2'/></body>"
      "<body name='d' pos='0 0 4'><freejoint/><geom size='0.1' priority='3' solref='0.005'/></body>"
      "<body name='e' pos='0 0 5'><freejoint/><geom size='0.1' priority='3' solref='0.01 0.2' solmix='3'/></body>"
      "</worldbody></mujoco>",
      NULL);
  compare_near(restitution_of(&c, "a", "ground"), 0.896, 0.005, "stiffness and damping");
  compare_near(restitution_of(&c, "b", "a"), 0.644, 0.01, "that of higher priority");
  compare_near(restitution_of(&c, "c", "b"), 0.575, 0.01, "damping ratio");
  compare_near(restitution_of(&c, "d", "a"), 0, 0, "MuJoCo's default damping ratio");
  /* (1 + 3 * 0.2) / 4 = 0.4: s = 0.916515, f = atan2(0.733212, -0.68) = 2.318559 */
  compare_near(restitution_of(&c, "d", "e"), exp(-0.4 / 0.916515 * 2.318559), 1e-6, "mean by solmix");
  urdf_case_free(&c);
}

/* A plane and a box of the world are one link. */
static void differences_of_friction_within_a_link_are_told(void** state) {
  (void)state;
  static const char* const GEOMS[] = {"", " friction='0.3'", " solref='0.02 0.2'"};
  for (int k = 0; k < 3; k++) {
    Text text = {0};
    text_add(&text,
             "<mujoco><worldbody><geom type='plane' size='1 1 1'/><geom type='box' size='1 1 1' pos='0 0 1'%s/><body "
             "pos='0 0 4'><freejoint/><geom size='0.1'/></body></worldbody></mujoco>",
             GEOMS[k]);
    UrdfCase c = mjcf_load(text.data, NULL);
    bool told = c.report.remarks.data && strstr(c.report.remarks.data, "friction and solref that differ within a link");
    assert_int_equal(told, k > 0);
    urdf_case_free(&c);
    text_free(&text);
  }
}

/* solref of a <pair> decides over that of its geoms, as in MuJoCo. Its values are those of solref_is_restitution: 0.575
 * is the measured ratio of speeds in MuJoCo 3.3.8. */
static void solref_of_pairs_decides(void** state) {
  (void)state;
  UrdfCase c = mjcf_load(
      "<mujoco><default><default class='soft'><pair solref='0.02 0.2'/></default></default><worldbody>"
      "<geom name='floor' type='plane' size='1 1 1'/>"
      "<body name='a' pos='0 0 1'><freejoint/><geom name='ga' size='0.1'/></body>"
      "<body name='b' pos='0 0 2'><freejoint/><geom name='gb' size='0.1' solref='-5000 -5'/></body></worldbody>"
      "<contact><pair class='soft' geom1='ga' geom2='floor'/>"
      "<pair geom1='gb' geom2='floor' solref='0.02 1' friction='0.3 0.3'/></contact></mujoco>",
      NULL);
  const SceneContact* contact = &c.scene.contact;
  const ScenePair* pair = &contact->pairs[contact->pair_count - 2];
  assert_string_equal(pair[0].name[0], "a");
  assert_true(pair[0].material.given[MATERIAL_RESTITUTION]);
  assert_false(pair[0].material.given[MATERIAL_FRICTION]);
  compare_near(pair[0].material.value[MATERIAL_RESTITUTION], 0.575, 0.01, "restitution by the class of the pair");
  assert_string_equal(pair[1].name[0], "b");
  assert_true(pair[1].material.given[MATERIAL_RESTITUTION]);
  compare_near(pair[1].material.value[MATERIAL_RESTITUTION], 0, 0, "a pair without restitution of a geom with");
  compare_near(pair[1].material.value[MATERIAL_FRICTION], 0.3, 0, "friction beside solref");
  urdf_case_free(&c);
}

/* Only in exported files a damping ratio above 1 is a restitution. z = 2: s = sqrt(3), e = exp(-2/s artanh(4 s / 7)).
 */
static void exports_keep_small_restitutions(void** state) {
  (void)state;
  static const char* const TEXTS[] = {"<custom><numeric name='sdrs_restitution' data='1'/></custom>", ""};
  static const double WANTED[] = {0.04776873250562, 0};
  for (int k = 0; k < 2; k++) {
    Text text = {0};
    text_add(&text,
             "<mujoco>%s<worldbody><geom type='plane' size='1 1 1' solref='0.02 2'/><body name='a' pos='0 0 1'>"
             "<freejoint/><geom size='0.1' solref='0.02 2'/></body></worldbody></mujoco>",
             TEXTS[k]);
    UrdfCase c = mjcf_load(text.data, NULL);
    double found = fmax(c.scene.contact.restitution, restitution_of(&c, "a", "ground"));
    compare_near(found, WANTED[k], 1e-12, "restitution");
    urdf_case_free(&c);
    text_free(&text);
  }
}

/* MuJoCo adds armature/2 |w|^2 to the energy, with w relative to the parent. For a fixed parent, armature is an inertia
 * about all axes. Without it the inertia is 0.4 m r^2 = 0.4 * 2 * 0.01 = 0.008. */
static void armature_of_balls_is_inertia(void** state) {
  (void)state;
  static const char* const BODY =
      "<body name='%s' pos='0 0 1'><joint type='ball' armature='0.5'/><geom size='0.1' mass='2'/>";
  Text text = {0};
  text_add(&text, "<mujoco><worldbody>");
  text_add(&text, BODY, "a");
  text_add(&text, BODY, "b");
  text_add(&text, "</body></body></worldbody></mujoco>");
  UrdfCase c = mjcf_load(text.data, NULL);
  for (int k = 0; k < 3; k++) {
    compare_near(link_named(&c, "a")->inertia[k], 0.508, 1e-15, "at the world");
    compare_near(link_named(&c, "b")->inertia[k], 0.008, 1e-15, "between links that move");
  }
  assert_non_null(strstr(c.report.remarks.data, "the armature of 1 ball joints between moving links is left out"));
  urdf_case_free(&c);
  text_free(&text);
}

/* Armature adds a point mass at the body's origin and an inertia about all axes. A force carries the weight of this
 * mass, minus the share that gravcomp carries. Moments about the origin are sums of both. */
static void armature_of_free_joints_is_mass_without_weight(void** state) {
  (void)state;
  UrdfCase c = mjcf_load(
      "<mujoco><worldbody><body name='a' pos='0 0 1' gravcomp='0.25'><joint type='free' armature='0.5'/>"
      "<inertial pos='0.3 0 0.1' mass='2' diaginertia='0.1 0.2 0.15'/></body></worldbody></mujoco>",
      NULL);
  const SceneLink* link = link_named(&c, "a");
  Vec3 given = vec3(0.3, 0, 0.1);
  compare_near(link->mass, 2.5, 1e-15, "mass");
  compare_vec3(vec3_scale(link->center, 2.5), vec3_scale(given, 2), 1e-15, "first moment");
  const double about_center[3] = {0.1, 0.2, 0.15}, own[3] = {0.3, 0, 0.1}, both[3] = {0.24, 0, 0.08};
  for (int k = 0; k < 3; k++) {
    double wanted = about_center[k] + 0.5 + 2 * (0.1 - own[k] * own[k]), shift = 2.5 * (0.064 - both[k] * both[k]);
    compare_near(link->inertia[k] + shift, wanted, 1e-15, "moment of inertia about the origin");
  }
  compare_near(link->inertia[4] - 2.5 * 0.24 * 0.08, -2 * 0.3 * 0.1, 1e-15, "product of inertia about the origin");
  assert_int_equal(c.scene.load_count, 1);
  const SceneLoad* load = &c.scene.loads[0];
  assert_true(load->has_point && !load->link_axes && vec3_norm(load->point) == 0);
  compare_near(load->force.values[2], 0.5 * 9.81 * 0.75, 1e-15, "force");
  urdf_case_free(&c);
}

/* A motor at a site with a refsite in the world pulls along the axes of the refsite; with one that moves it is left
 * out. */
static void refsites_of_the_world_give_world_axes(void** state) {
  (void)state;
  UrdfCase c = mjcf_load(
      "<mujoco><option><flag contact='disable'/></option>"
      "<custom><numeric name='sdrs_integrator' data='1'/></custom><worldbody>"
      "<site name='w' euler='0 0 90'/>"
      "<body name='a' pos='0 0 1'><freejoint/><geom size='0.1'/><site name='s' pos='0.1 0 0' euler='90 0 0'/></body>"
      "<body name='b' pos='1 0 1'><freejoint/><geom size='0.1'/><site name='t'/></body></worldbody>"
      "<actuator><motor site='s' refsite='w' gear='2 0 0'/><motor site='s' refsite='t' gear='2 0 0'/></actuator>"
      "<keyframe><key ctrl='3 3'/></keyframe></mujoco>",
      NULL);
  assert_int_equal(c.scene.load_count, 1);
  const SceneLoad* load = &c.scene.loads[0];
  assert_false(load->link_axes);
  compare_vec3(load->point, vec3(0.1, 0, 0), 1e-15, "point");
  const double* force = load->force.values;
  compare_vec3(vec3(force[0], force[1], force[2]), vec3(0, 6, 0), 1e-14, "force");
  assert_non_null(strstr(c.report.remarks.data, "actuators with a moving refsite"));
  assert_int_equal(c.scene.contact.model, CONTACT_NONE);
  assert_int_equal(c.scene.simulation.integrator, INTEGRATOR_SECOND_ORDER);
  urdf_case_free(&c);
}

/* MuJoCo takes the darkest sample as 0 and the lightest as 1; here white is 1. */
static void height_fields_are_ground(void** state) {
  (void)state;
  UrdfCase c = mjcf_load_at("tests/unit/robot/main.xml",
                            "<mujoco><compiler meshdir='../../../assets'/><asset>"
                            "<hfield name='h' file='rubble.png' size='2 1.5 0.4 0.1'/></asset><worldbody>"
                            "<geom type='hfield' hfield='h' pos='0 0 0.5'/>"
                            "<body pos='0 0 3'><freejoint/><geom size='0.1'/></body></worldbody></mujoco>",
                            NULL);
  const SceneShape* shape = &c.scene.shapes[link_named(&c, "ground")->shapes[0].shape];
  HeightGrid grid;
  Diagnostics none = {0};
  assert_int_equal(shape->type, SHAPE_HEIGHT_FIELD);
  assert_int_equal(height_grid_read(&grid, shape->file, &none), STATUS_OK);
  double low = 1, high = 0;
  for (int i = 0; i < grid.columns * grid.rows; i++) {
    double height = shape->origin.z + shape->size.z * grid.values[i];
    low = fmin(low, height);
    high = fmax(high, height);
  }
  compare_near(shape->size.x, 4, 0, "width");
  compare_near(low, 0, 1e-15, "lowest");
  compare_near(high, 0.4, 1e-15, "highest");
  compare_near(shape->base, 0.1, 0, "thickness");
  height_grid_free(&grid);
  urdf_case_free(&c);
  expect_told(
      "<mujoco><asset><hfield name='h' nrow='2' ncol='2' elevation='0 1 0 1' size='1 1 1 1'/></asset><worldbody>"
      "<geom type='hfield' hfield='h'/><body><freejoint/><geom size='1'/></body></worldbody></mujoco>",
      NULL, "hfield without a PNG file");
  expect_told("<mujoco><worldbody><body><freejoint/><geom type='hfield' hfield='h'/></body></worldbody></mujoco>", NULL,
              "no <hfield> in <asset> is named 'h'");
}

/* A thruster at a site that is rotated by 90 degrees about x, so the site's z is the body's -y. The torque has the same
 * axis. */
static void motors_at_sites_are_loads(void** state) {
  (void)state;
  UrdfCase c = mjcf_load(
      "<mujoco><worldbody><body name='b' pos='0 0 1'><freejoint/><geom size='0.1' mass='1'/>"
      "<site name='s' pos='0.1 0.2 0.3' euler='90 0 0'/></body></worldbody>"
      "<actuator><motor site='s' gear='0 0 2 0 0 0.5' ctrlrange='0 3'/></actuator>"
      "<keyframe><key qpos='0 0 1 1 0 0 0' ctrl='4'/></keyframe></mujoco>",
      NULL);
  assert_int_equal(c.scene.load_count, 1);
  const SceneLoad* load = &c.scene.loads[0];
  assert_true(load->link_axes && load->has_point);
  compare_vec3(load->point, vec3(0.1, 0.2, 0.3), 1e-15, "where it acts");
  const double* force = load->force.values;
  const double* torque = load->torque.values;
  compare_vec3(vec3(force[0], force[1], force[2]), vec3(0, -6, 0), 1e-14, "force, its control within the range");
  compare_vec3(vec3(torque[0], torque[1], torque[2]), vec3(0, -1.5, 0), 1e-14, "torque");
  urdf_case_free(&c);
}

/* MuJoCo has the actuator groups 0 to 30. `actuatorgroupdisable` lists up to all 31 of them. Other groups stay enabled.
 */
#define ACTUATOR_GROUPS_MODEL(disabled)                                               \
  "<mujoco><option actuatorgroupdisable='" disabled                                   \
  "'/><worldbody>"                                                                    \
  "<body name='a'><joint name='j'/><geom size='0.1'/></body>"                         \
  "<body name='b' pos='1 0 0'><joint name='k'/><geom size='0.1'/></body>"             \
  "<body name='c' pos='2 0 0'><joint name='l'/><geom size='0.1'/></body></worldbody>" \
  "<actuator><motor joint='j'/><motor joint='k' group='17'/><motor joint='l' group='30'/></actuator></mujoco>"
#define GROUPS_1_TO_29 "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29"
static void disabled_actuator_groups(void** state) {
  (void)state;
  UrdfCase c = mjcf_load(ACTUATOR_GROUPS_MODEL(GROUPS_1_TO_29), NULL);
  assert_int_equal(c.scene.controller_count, 2);
  controller_on(&c, "a");
  controller_on(&c, "c");
  urdf_case_free(&c);
  c = mjcf_load(ACTUATOR_GROUPS_MODEL("0 " GROUPS_1_TO_29 " 30"), NULL);
  assert_int_equal(c.scene.controller_count, 0);
  urdf_case_free(&c);
  expect_told(ACTUATOR_GROUPS_MODEL("0 " GROUPS_1_TO_29 " 30 30"), NULL,
              "actuatorgroupdisable of <option>: expected 0 to 31 numbers");
}

/* damping = ratio 2 sqrt(kp I): I of two rods about the hinge where all joints stand at zero, with the armature. */
static void damping_by_ratio(void** state) {
  (void)state;
  UrdfCase c = mjcf_load(
      "<mujoco><worldbody><body name='a'><joint name='j' axis='0 1 0' armature='0.05'/>"
      "<inertial mass='2' pos='0.5 0 0' diaginertia='0.01 0.02 0.02'/>"
      "<body name='b' pos='1 0 0'><joint name='s' type='slide' axis='1 0 0'/>"
      "<inertial mass='3' pos='0.5 0 0' diaginertia='0.01 0.03 0.03'/></body></body></worldbody>"
      "<actuator><position joint='j' kp='50' dampratio='0.7'/>"
      "<position joint='s' kp='40' dampratio='1' gear='2'/></actuator></mujoco>",
      NULL);
  double inertia = 0.02 + 2 * 0.25 + 0.03 + 3 * 2.25 + 0.05;
  compare_near(controller_on(&c, "a")->damping_gain[0], 0.7 * 2 * sqrt(50 * inertia), 1e-12, "hinge");
  /* gear 2: 40 N per metre of the actuator's length are 160 N/m of the slide; critical for 3 kg */
  compare_near(controller_on(&c, "b")->damping_gain[0], 2 * sqrt(160 * 3), 1e-12, "slide with a gear");
  urdf_case_free(&c);
}

/* The reference is the centre of the joint's range if the range excludes zero. The smaller of two force limits applies.
 */
static void inherited_ranges_and_efforts(void** state) {
  (void)state;
  UrdfCase c = mjcf_load(
      "<mujoco><compiler angle='radian'/><worldbody>"
      "<body name='a'><joint name='j' range='-3 -1' actuatorfrcrange='-87 87'/><geom size='0.1'/></body>"
      "<body name='b' pos='1 0 0'><joint name='k' actuatorfrcrange='-5 5'/><geom size='0.1'/></body></worldbody>"
      "<actuator><position joint='j' kp='10' inheritrange='0.5' forcerange='-90 90'/><motor joint='k'/></actuator>"
      "</mujoco>",
      NULL);
  compare_near(controller_on(&c, "a")->target.values[0], -1.5, 1e-15, "upper end of the inner half");
  compare_near(controller_on(&c, "a")->max_force[0], 87, 0, "the joint's limit");
  compare_near(controller_on(&c, "b")->max_force[0], 5, 0, "of a motor without one");
  assert_null(c.report.remarks.data ? strstr(c.report.remarks.data, "effort") : NULL);
  urdf_case_free(&c);
}

/* F = 0.5 (u - q1 - 2 q2) acts with the ratios 1 and 2. The target of each joint's spring is the tendon length without
 * the other joint's share. */
static void springs_of_tendons_whose_joints_are_free(void** state) {
  (void)state;
  UrdfCase c = mjcf_load(
      "<mujoco><compiler angle='radian'/><worldbody><body name='a'><joint name='j'/><geom size='0.1'/>"
      "<body name='b' pos='1 0 0'><joint name='k'/><geom size='0.1'/></body></body></worldbody>"
      "<tendon><fixed name='t'><joint joint='j' coef='1'/><joint joint='k' coef='2'/></fixed></tendon>"
      "<actuator><position tendon='t' kp='0.5' kv='0.1' forcerange='-1 1'/></actuator>"
      "<keyframe><key qpos='0 0' ctrl='0.8'/></keyframe></mujoco>",
      NULL);
  const SceneController *first = controller_on(&c, "a"), *second = controller_on(&c, "b");
  for (int trial = 0; trial < 3; trial++) {
    double q[2] = {0.3 * trial, 0.2 - 0.1 * trial}, v[2] = {0.4, -0.7 * trial};
    double force = 0.5 * (0.8 - q[0] - 2 * q[1]) - 0.1 * (v[0] + 2 * v[1]);
    for (int k = 0; k < 2; k++) {
      const SceneController* own = k == 0 ? first : second;
      int other = 1 - k;
      assert_int_equal(own->measure_count, 2);
      double target = own->target.values[0] + own->feedback[0] * q[other] + own->feedback[1] * v[other];
      double pull = own->position_gain[0] * (target - q[k]) - own->damping_gain[0] * v[k];
      compare_near(pull, (k + 1) * force, 1e-15, "trial %d, joint %d", trial, k);
      compare_near(own->max_force[0], k + 1, 0, "limit");
    }
  }
  assert_string_equal(first->measures[0].name, "b/angle");
  assert_string_equal(first->measures[1].name, "b/angle/rate");
  urdf_case_free(&c);
}

/* Sites hold together wherever their bodies are drawn: the start moves to where they do. */
static void sites_that_are_held_together(void** state) {
  (void)state;
  UrdfCase c = mjcf_load(
      "<mujoco><compiler angle='radian'/><worldbody><site name='nail' pos='0 0 0'/>"
      "<body name='a' pos='-1 0 0.1'><joint name='x' type='slide' axis='1 0 0'/><joint name='z' type='slide' "
      "axis='0 0 1'/><geom size='0.1'/><site name='hook' pos='0.5 0 0'/></body></worldbody>"
      "<equality><connect site1='hook' site2='nail'/></equality></mujoco>",
      NULL);
  assert_int_equal(c.scene.closure_count, 1);
  const SceneInitial* initial = &c.scene.initials[0];
  compare_near(initial->coordinates[0], 0.5, 1e-8, "along x");
  compare_near(initial->coordinates[1], -0.1, 1e-8, "along z");
  urdf_case_free(&c);
}

static void attributes_without_counterpart_are_named(void** state) {
  (void)state;
  static const char text[] =
      "<mujoco><option density='1.2'><flag limit='disable' energy='enable'/></option><default>"
      "<joint springdamper='1 1'/></default><worldbody><body><freejoint align='true'/>"
      "<geom size='1' shellinertia='true'/></body></worldbody></mujoco>";
  expect_told(text, NULL,
              "warning: forces and constraints left out: option/density, option/flag/limit, joint/springdamper\n");
  expect_told(text, NULL, "note: left out: freejoint/align, geom/shellinertia\n");
  UrdfCase c = mjcf_load(
      "<mujoco><option><flag gravity='disable'/></option><worldbody><body><freejoint/>"
      "<geom size='1'/></body></worldbody></mujoco>",
      NULL);
  compare_vec3(c.scene.simulation.gravity, vec3(0, 0, 0), 0, "switched off");
  urdf_case_free(&c);
  expect_told(
      "<mujoco><worldbody><body><joint name='j'/><geom size='1'/></body></worldbody><actuator>"
      "<general joint='j' gaintype='muscle'/></actuator></mujoco>",
      NULL, "warning: forces and constraints left out: actuator/general\n");
  expect_told(WORLD("<body name='a'><joint name='j' type='ball'/><geom size='1'/></body></worldbody><actuator>"
                    "<position joint='j'/></actuator><worldbody>"),
              NULL,
              "warning: forces and constraints left out: actuators with feedback on balls, free joints or sites\n");
}

/* The torque of a ball's motor acts about the body's axes; the force of a free joint's motor along the world's axes at
 * the body's origin, its torque about the body's axes. Two motors of one ball add up, each clamped to its forcerange.
 */
static void motors_of_balls_and_free_joints(void** state) {
  (void)state;
  UrdfCase c = mjcf_load(
      WORLD(
          "<body name='a'><joint name='j' type='ball'/><geom size='1'/></body>"
          "<body name='b' pos='9 0 0'><freejoint name='f'/><geom size='1' pos='0.2 0 0'/></body></worldbody><actuator>"
          "<motor joint='j' gear='2 0 1'/><motor joint='j' gear='0 3 0' forcerange='-0.5 0.5'/>"
          "<motor joint='f' gear='1 2 3 4 5 6'/></actuator><keyframe><key ctrl='0.5 4 2'/></keyframe><worldbody>"),
      NULL);
  assert_int_equal(c.scene.controller_count, 1);
  const SceneController* drive = &c.scene.controllers[0];
  assert_int_equal(drive->type, CONTROLLER_TORQUE);
  for (int k = 0; k < 3; k++) compare_near(drive->target.values[k], (const double[]){1, 1.5, 0.5}[k], 0, "torque");
  assert_int_equal(c.scene.load_count, 2);
  const SceneLoad *force = &c.scene.loads[0], *torque = &c.scene.loads[1];
  assert_true(force->has_point && vec3_norm(force->point) == 0 && !force->link_axes && torque->link_axes);
  for (int k = 0; k < 3; k++) {
    compare_near(force->force.values[k], 2 * (k + 1), 0, "force");
    compare_near(torque->torque.values[k], 2 * (k + 4), 0, "torque");
  }
  urdf_case_free(&c);
}

/* MuJoCo refuses them too ("Schema violation"). Each is reported once, at its place, though an element is repeated. */
static void misspelled_names_are_errors(void** state) {
  (void)state;
  expect_told(WORLD("<body><joint dampign='1'/><geom size='1'/></body>"), NULL,
              "error: unknown attribute 'dampign' of <joint> (did you mean 'damping'?)\n");
  expect_told(WORLD("<body><joint/><geom size='1' colour='1'/></body>"), NULL,
              "error: unknown attribute 'colour' of <geom>\n");
  expect_told(WORLD("<body><jiont/><geom size='1'/></body>"), NULL,
              "error: unknown element 'jiont' (did you mean 'joint'?)\n");
  UrdfCase c = mjcf_import(
      WORLD("<replicate count='3' offset='1 0 0'><body><joint dampign='1'/><geom size='0.1'/></body></replicate>"),
      NULL);
  assert_int_equal(c.status, STATUS_BAD_INPUT);
  assert_int_equal(c.diagnostics.error_count, 1);
  urdf_case_free(&c);
}

/* A range of 4 cm is felt in its last 0.4 mm, not over a centimetre as where nobody says how wide. */
static void limits_are_felt_near_them(void** state) {
  (void)state;
  UrdfCase c = mjcf_load(WORLD("<body name='a'><joint type='slide' range='0 0.04'/><geom size='0.1'/></body>"), NULL);
  compare_near(link_named(&c, "a")->joint.limit_margin, 4e-4, 1e-18, "margin");
  urdf_case_free(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(compiler_bounds_masses),
      cmocka_unit_test(pairs_touch_whatever_masks_say),
      cmocka_unit_test(height_fields_are_ground),
      cmocka_unit_test(motors_at_sites_are_loads),
      cmocka_unit_test(disabled_actuator_groups),
      cmocka_unit_test(damping_by_ratio),
      cmocka_unit_test(inherited_ranges_and_efforts),
      cmocka_unit_test(springs_of_tendons_whose_joints_are_free),
      cmocka_unit_test(sites_that_are_held_together),
      cmocka_unit_test(attributes_without_counterpart_are_named),
      cmocka_unit_test(limits_are_felt_near_them),
      cmocka_unit_test(misspelled_names_are_errors),
      cmocka_unit_test(motors_of_balls_and_free_joints),
      cmocka_unit_test(built_in_meshes_have_mass),
      cmocka_unit_test(a_torus_is_a_ring_of_capsules),
      cmocka_unit_test(solref_is_restitution),
      cmocka_unit_test(differences_of_friction_within_a_link_are_told),
      cmocka_unit_test(exports_keep_small_restitutions),
      cmocka_unit_test(solref_of_pairs_decides),
      cmocka_unit_test(armature_of_balls_is_inertia),
      cmocka_unit_test(refsites_of_the_world_give_world_axes),
      cmocka_unit_test(armature_of_free_joints_is_mass_without_weight),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
