#include "support/paths.h"

#include <string.h>

#include "simulate/terms.h"

JointPath joint_path_create(const Model* model) {
  JointPath path = {model, MEMORY_NEW(double, model->coordinate_count), MEMORY_NEW(double, model->dof_count),
                    MEMORY_NEW(double, model->coordinate_count)};
  memcpy(path.q, model->initial_coordinates, sizeof(double) * (size_t)model->coordinate_count);
  return path;
}

void joint_path_free(JointPath* path) {
  memory_free(path->q);
  memory_free(path->delta);
  memory_free(path->there);
}

void joint_path_poses(const JointPath* path, double alpha, Pose* poses) {
  model_increment(path->model, path->q, path->delta, alpha, path->there);
  model_poses(path->model, path->there, poses);
}

static void poses_at(void* context, double alpha, int link, int from, Pose* poses) {
  (void)link, (void)from; /* all of them: model_displaced_link_pose is not to prove itself */
  joint_path_poses(context, alpha, poses);
}

static PathVerdict certify(const JointPath* path, ContactSystem* contact, Pose* poses, int* intervals) {
  const Model* m = path->model;
  joint_path_poses(path, 0, poses);
  if (!contact_reset(contact, poses)) return PATH_ENDS_MEET;
  MotionBounds bounds = {MEMORY_NEW(MotionBound, m->link_count), MEMORY_NEW(JointBound, m->link_count)};
  Screw* screws = MEMORY_NEW(Screw, m->dof_count);
  model_screws(m, path->q, poses, screws);
  motion_bounds(m, path->q, poses, screws, path->delta, &bounds);
  contact_prepare(contact, &bounds);
  joint_path_poses(path, 1, poses);
  PathVerdict verdict = PATH_ENDS_MEET;
  ContactFailure failure;
  if (contact_evaluate(contact, poses)) {
    JointPath copy = *path;
    verdict = contact_certify(contact, &bounds, poses_at, &copy, intervals, &failure) ? PATH_CERTIFIED : PATH_REFUSED;
  }
  memory_free(bounds.link);
  memory_free(bounds.joint);
  memory_free(screws);
  return verdict;
}

PathVerdict joint_path_certify(const JointPath* path, int* intervals) {
  Pose* poses = MEMORY_NEW(Pose, path->model->link_count);
  ContactSystem* contact = contact_create(path->model, 1, 1e-9);
  *intervals = 0;
  PathVerdict verdict = certify(path, contact, poses, intervals);
  contact_destroy(contact);
  memory_free(poses);
  return verdict;
}

static double height_over(const ModelHull* ground, Pose ground_pose, const ModelHull* hull, Pose pose) {
  Vec3 normal = mat3_mul_vec(ground_pose.r, ground->normal);
  double level = ground->offset + vec3_dot(normal, ground_pose.t), least = HUGE_VAL;
  for (int k = 0; k < hull->points.count; k++) {
    Vec3 x = pose_apply(pose, vec3(hull->points.x[k], hull->points.y[k], hull->points.z[k]));
    least = fmin(least, vec3_dot(normal, x) - level);
  }
  return fmax(least, 0);
}

static double hull_distance(const ModelHull* a, const Pose* poses, const ModelHull* b, GjkCache* cache) {
  if (!a->kind->bounded) return height_over(a, poses[a->link], b, poses[b->link]);
  if (!b->kind->bounded) return height_over(b, poses[b->link], a, poses[a->link]);
  return gjk_distance(a->points, poses[a->link], b->points, poses[b->link], cache).distance;
}

double joint_path_least_distance(const JointPath* path, int samples) {
  const Model* m = path->model;
  Pose* poses = MEMORY_NEW(Pose, m->link_count);
  double least = HUGE_VAL;
  for (int k = 0; k <= samples && least > 0; k++) {
    joint_path_poses(path, (double)k / samples, poses);
    for (int i = 0; i < m->hull_count; i++)
      for (int j = i + 1; j < m->hull_count; j++) {
        const ModelHull *a = &m->hulls[i], *b = &m->hulls[j];
        if ((!a->kind->bounded && !b->kind->bounded) || !model_pair_allowed(m, a->link, b->link)) continue;
        least = fmin(least, hull_distance(a, poses, b, NULL));
      }
  }
  memory_free(poses);
  return least;
}
