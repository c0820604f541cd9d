/* Tests world poses and joint screws of a mixed tree (K1, K2). Poses are compared with composition by hand, screws with
 * central differences of points, second derivatives along two increments with K4. */
#include <string.h>

#include "support/bodies.h"
#include "support/runs.h"
#include "support/sweep.h"

static const char scene[] =
    "contact: {model: none}\n"
    "shapes:\n"
    "  bar: {type: box, size: [0.6, 0.05, 0.03]}\n"
    "links:\n"
    "  - {name: root, mass: 1, shape: bar, position: [0.1, 0.2, 0.3], rotation_vector: [0.3, -0.2, 0.5]}\n"
    "  - {name: b, parent: root, mass: 1, joint: {type: hinge, axis: [0.2, 0.3, 1], position: [0.4, 0, 0.1], rpy: "
    "[0.1, 0.2, -0.3]}, shape: bar}\n"
    "  - {name: c, parent: b, mass: 1, joint: {type: universal, axes: [[0.3, 0, 1], [0, 1, 0.4]], position: [0.6, 0.1, "
    "0]}, shape: bar}\n"
    "  - {name: d, parent: c, mass: 1, joint: {type: ball, position: [0.5, 0, 0]}, shape: bar}\n"
    "  - {name: e, parent: d, fixed: true, position: [0.6, 0, 0.2], rotation_vector: [1, 0, 0.2], mass: 1, shape: "
    "bar}\n"
    "  - {name: f, parent: root, mass: 1, joint: {type: slide, axis: [1, 1, 0], position: [0, 0.3, 0]}, shape: bar}\n"
    "  - {name: g, parent: f, mass: 1, joint: {type: free, free_axes: [x, z, rx, rz], position: [0.2, 0, 0]}, shape: "
    "bar}\n"
    "  - {name: post, fixed: true, position: [3, 0, 0], shape: bar}\n"
    "  - {name: lone, parent: post, mass: 1, joint: {type: free, free_axes: [y, ry]}, shape: bar}\n";

typedef struct {
  const Run* run;
  double *base, *at; /* (nq) */
  Pose* poses;       /* (links) */
  Vec3 point;        /* in every link's frame */
} Tree;

static Tree tree_create(const Run* run, Random* random) {
  const Model* m = &run->model;
  Tree t = {run,
            MEMORY_NEW(double, m->coordinate_count),
            MEMORY_NEW(double, m->coordinate_count),
            MEMORY_NEW(Pose, m->link_count),
            {0.2, -0.1, 0.3}};
  for (int i = 0; i < m->link_count; i++) {
    double d[JOINT_MAX_DOF];
    const ModelLink* link = &m->links[i];
    for (int k = 0; k < link->dof_count; k++) d[k] = random_normal(random);
    if (link->dof_count > 0)
      joint_increment(&link->joint, m->initial_coordinates + link->coordinate_first, d,
                      t.base + link->coordinate_first);
  }
  return t;
}

static void tree_free(Tree* t) {
  memory_free(t->base);
  memory_free(t->at);
  memory_free(t->poses);
}

static void move_to(Tree* t, const double* increments) {
  const Model* m = &t->run->model;
  model_increment(m, t->base, increments, 1, t->at);
  model_poses(m, t->at, t->poses);
}

/* y = world positions of the point of every link */
static bool points_at(void* context, const double* increments, double* y) {
  Tree* t = context;
  move_to(t, increments);
  for (int i = 0; i < t->run->model.link_count; i++) {
    Vec3 x = pose_apply(t->poses[i], t->point);
    y[3 * i] = x.x, y[3 * i + 1] = x.y, y[3 * i + 2] = x.z;
  }
  return true;
}

static bool hangs_on(const Model* m, int link, int joint) {
  for (int up = link; up >= 0; up = m->links[up].parent)
    if (up == joint) return true;
  return false;
}

static void kinematics_K1_poses_compose(void** state) {
  (void)state;
  Random random = {111};
  Run* run = run_model("%s", scene);
  Tree t = tree_create(run, &random);
  model_poses(&run->model, t.base, t.poses);
  for (int i = 0; i < run->model.link_count; i++) {
    /* carry the point from the link's frame to the world by hand */
    Vec3 x = t.point;
    for (int up = i; up >= 0; up = run->model.links[up].parent) {
      const ModelLink* link = &run->model.links[up];
      x = pose_apply(link->origin, pose_apply(joint_motion(&link->joint, t.base + link->coordinate_first), x));
    }
    compare_vec3(pose_apply(t.poses[i], t.point), x, 1e-14, "seed 111, link %s", run->model.links[i].name);
  }
  tree_free(&t);
  run_free(run);
}

/* Updates one link with its ancestors, from the root or from below a link with known pose. The results are
 * bit-identical to those of an update of all links, and other links stay unchanged. */
static void kinematics_way_of_a_link_is_that_of_all(void** state) {
  (void)state;
  Random random = {114};
  Run* run = run_model("%s", scene);
  const Model* m = &run->model;
  size_t poses = sizeof(Pose) * (size_t)m->link_count;
  Tree t = tree_create(run, &random);
  double* d = MEMORY_NEW(double, m->dof_count);
  Pose *blank = MEMORY_NEW(Pose, m->link_count), *way = MEMORY_NEW(Pose, m->link_count);
  memset(blank, 0x5a, poses);
  for (int k = 0; k < m->dof_count; k++) d[k] = random_normal(&random);
  for (int i = 0; i < m->link_count; i++)
    for (int from = i; from >= -1; from--) {
      if (from >= 0 && !hangs_on(m, i, from)) continue;
      model_increment(m, t.base, d, 0.3, t.at);
      model_poses(m, t.at, t.poses);
      memcpy(way, blank, poses);
      if (from >= 0) way[from] = t.poses[from];
      model_displaced_link_pose(m, i, from, t.base, d, 0.3, t.at, way);
      for (int k = 0; k < m->link_count; k++) {
        bool carries = hangs_on(m, i, k) && (from < 0 || hangs_on(m, k, from));
        const Pose* wanted = carries ? &t.poses[k] : &blank[k];
        assert_memory_equal(&way[k], wanted, sizeof(Pose));
      }
    }
  memory_free(d);
  memory_free(blank);
  memory_free(way);
  tree_free(&t);
  run_free(run);
}

static void kinematics_K2_screws_match_central_differences(void** state) {
  (void)state;
  Random random = {112};
  Run* run = run_model("%s", scene);
  const Model* m = &run->model;
  for (int trial = 0; trial < 5; trial++) {
    Tree t = tree_create(run, &random);
    Screw* screws = MEMORY_NEW(Screw, m->dof_count);
    double* jacobian = MEMORY_NEW(double, 3 * m->link_count * m->dof_count);
    model_poses(m, t.base, t.poses);
    model_screws(m, t.base, t.poses, screws);
    for (int i = 0; i < m->link_count; i++)
      for (int k = 0; k < m->dof_count; k++) {
        Vec3 dx = vec3(0, 0, 0);
        if (hangs_on(m, i, m->dof_link[k]))
          dx = vec3_add(screws[k].v, vec3_cross(screws[k].w, vec3_sub(pose_apply(t.poses[i], t.point), screws[k].p)));
        jacobian[(3 * i) * m->dof_count + k] = dx.x;
        jacobian[(3 * i + 1) * m->dof_count + k] = dx.y;
        jacobian[(3 * i + 2) * m->dof_count + k] = dx.z;
      }
    Sweep sweep = {points_at, &t, m->dof_count, 3 * m->link_count, NULL, NULL, NULL, 0.1, 5, 8};
    sweep_expect(&sweep, jacobian, 0, 1e-9, "seed 112, trial %d", trial);
    memory_free(screws);
    memory_free(jacobian);
    tree_free(&t);
  }
  run_free(run);
}

/* K4: d2x / dtheta_j dtheta_k = w_j x dx/dtheta_k for j nearer the root than k or j = k; for axes of one ball in the
 * order of the increments. By mixed central differences. */
static void kinematics_K4_second_derivatives(void** state) {
  (void)state;
  Random random = {113};
  Run* run = run_model("%s", scene);
  const Model* m = &run->model;
  Tree t = tree_create(run, &random);
  Screw* screws = MEMORY_NEW(Screw, m->dof_count);
  double *d = MEMORY_NEW(double, m->dof_count), *y = MEMORY_NEW(double, 4 * 3 * m->link_count);
  model_poses(m, t.base, t.poses);
  model_screws(m, t.base, t.poses, screws);
  Pose* base = MEMORY_NEW(Pose, m->link_count);
  memcpy(base, t.poses, sizeof(Pose) * (size_t)m->link_count);
  const double h = 1e-3;
  for (int j = 0; j < m->dof_count; j++)
    for (int k = j; k < m->dof_count; k++) {
      for (int corner = 0; corner < 4; corner++) {
        memset(d, 0, sizeof(double) * (size_t)m->dof_count);
        d[j] += corner & 1 ? h : -h;
        d[k] += corner & 2 ? h : -h;
        points_at(&t, d, y + corner * 3 * m->link_count);
      }
      for (int i = 0; i < m->link_count; i++) {
        Vec3 wanted = vec3(0, 0, 0);
        if (hangs_on(m, i, m->dof_link[k]) && hangs_on(m, m->dof_link[k], m->dof_link[j])) {
          Vec3 x = pose_apply(base[i], t.point);
          Vec3 dx = vec3_add(screws[k].v, vec3_cross(screws[k].w, vec3_sub(x, screws[k].p)));
          wanted = vec3_cross(screws[j].w, dx);
        }
        double found[3];
        for (int c = 0; c < 3; c++) {
          const double* p = y + 3 * i + c;
          int n = 3 * m->link_count;
          found[c] = (p[3 * n] - p[2 * n] - p[n] + p[0]) / (4 * h * h);
        }
        compare_vec3(wanted, vec3(found[0], found[1], found[2]), 2e-5, "seed 113, link %s, dof %d and %d",
                     m->links[i].name, j, k);
      }
    }
  memory_free(screws);
  memory_free(d);
  memory_free(y);
  memory_free(base);
  tree_free(&t);
  run_free(run);
}

/* Worked example of kinematics.md: two hinges about z, 1 m apart, at 90 degrees each. The second link's frame is at (0,
 * 1, 0), its point (1, 0, 0) at (-1, 1, 0). dx/dq1 = z x (-1, 1, 0) = (-1, -1, 0), dx/dq2 = z x (-1, 0, 0) = (0, -1,
 * 0). */
static void kinematics_K2_worked_example(void** state) {
  (void)state;
  Run* run = run_model(
      "contact: {model: none}\n"
      "links:\n"
      "  - {name: a, mass: 1, joint: {type: hinge, axis: [0, 0, 1]}, shape: {type: box, size: [1, 1, 1]}}\n"
      "  - {name: b, parent: a, mass: 1, joint: {type: hinge, axis: [0, 0, 1], position: [1, 0, 0]}, shape: {type: "
      "box, size: [1, 1, 1]}}\n");
  const double q[2] = {M_PI / 2, M_PI / 2};
  Pose poses[2];
  Screw s[2];
  model_poses(&run->model, q, poses);
  model_screws(&run->model, q, poses, s);
  Vec3 x = pose_apply(poses[1], vec3(1, 0, 0));
  compare_vec3(x, vec3(-1, 1, 0), 1e-15, "x");
  compare_vec3(vec3_cross(s[0].w, vec3_sub(x, s[0].p)), vec3(-1, -1, 0), 1e-15, "dx/dq1");
  compare_vec3(vec3_cross(s[1].w, vec3_sub(x, s[1].p)), vec3(0, -1, 0), 1e-15, "dx/dq2");
  run_free(run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(kinematics_K1_poses_compose),
      cmocka_unit_test(kinematics_way_of_a_link_is_that_of_all),
      cmocka_unit_test(kinematics_K2_screws_match_central_differences),
      cmocka_unit_test(kinematics_K4_second_derivatives),
      cmocka_unit_test(kinematics_K2_worked_example),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
