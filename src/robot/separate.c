/* Separates free bodies that overlap at the start. MuJoCo's keyframes have such bodies, because its contacts are soft.
 */
#include <assert.h>

#include "model/lift.h"
#include "model/tree.h"
#include "robot/robot.h"

/* Largest number of iterations. Each moves every body once, so a heap needs about the square of its number of layers.
 */
enum { ITERATIONS_MAX = 200 };
/* Number of bodies that the warning names. */
enum { NAMES_MAX = 10 };

static bool is_free(const Model* model, int link) {
  return model->links[link].tree >= 0 && robot_stands_free(model, link);
}

/* Moves each free body that overlaps or nearly touches others by the mean of the displacements that give these pairs
 * the equilibrium gap. Returns the number of moved bodies, or -1 if an overlap exceeds `largest_depth` [m]. sum, count:
 * workspace (links). */
static int run_iteration(Robot* robot, double largest_depth, Vec3* sum, int* count) {
  const Model* model = &robot->model;
  ModelTouch* touches;
  Pose* poses = MEMORY_NEW(Pose, model->link_count + 1);
  int touching = model_nearly_touching(model, &touches), moved = 0;
  model_poses(model, model->initial_coordinates, poses);
  for (int i = 0; i < model->link_count; i++) sum[i] = vec3(0, 0, 0), count[i] = 0;
  for (int k = 0; k < touching && moved >= 0; k++) {
    int a = model_root(model, touches[k].a), b = model_root(model, touches[k].b);
    bool free_a = is_free(model, touches[k].a), free_b = is_free(model, touches[k].b);
    if (a == b || (!free_a && !free_b)) continue;
    Vec3 normal;
    double depth = model_link_overlap(model, poses, touches[k].a, touches[k].b, &normal);
    if (depth > largest_depth) moved = -1;
    double by = fmax(depth + model->contact.gap_at_rest, 0) / (free_a + free_b);
    if (free_a) sum[a] = vec3_add_scaled(sum[a], -by, normal), count[a]++;
    if (free_b) sum[b] = vec3_add_scaled(sum[b], by, normal), count[b]++;
  }
  for (int i = 0; i < model->link_count && moved >= 0; i++) {
    if (count[i] == 0) continue;
    SceneJoint* joint = &robot->scene.links[i].joint;
    joint->position = vec3_add_scaled(joint->position, 1.0 / count[i], sum[i]);
    moved++;
  }
  memory_free(touches);
  memory_free(poses);
  return moved;
}

/* Returns true if a free body touches a body of another tree. */
static bool has_touching_free_body(const Model* model) {
  ModelTouch* touches;
  bool found = false;
  int count = model_touching(model, &touches);
  for (int k = 0; k < count && !found; k++) {
    bool free = is_free(model, touches[k].a) || is_free(model, touches[k].b);
    found = free && model_root(model, touches[k].a) != model_root(model, touches[k].b);
  }
  memory_free(touches);
  return found;
}

bool robot_separate_bodies(Robot* robot, double largest_depth, Text* names) {
  assert(robot->model.links);
  int links = robot->model.link_count, moved = 1, named = 0;
  Vec3 *sum = MEMORY_NEW(Vec3, links + 1), *given = MEMORY_NEW(Vec3, links + 1);
  int* count = MEMORY_NEW(int, links + 1);
  for (int i = 0; i < links; i++) given[i] = robot->scene.links[i].joint.position;
  for (int n = 0; n < ITERATIONS_MAX && moved > 0 && robot->model.links; n++) {
    moved = run_iteration(robot, largest_depth, sum, count);
    if (moved > 0) model_move_links(&robot->model, &robot->scene);
  }
  /* Bodies between fixed walls can keep gaps below the equilibrium gap, but must not touch. */
  bool good = moved >= 0 && robot->model.links && (moved == 0 || !has_touching_free_body(&robot->model));
  for (int i = 0; i < links; i++) {
    double distance = vec3_norm(vec3_sub(robot->scene.links[i].joint.position, given[i]));
    if (!good) robot->scene.links[i].joint.position = given[i];
    if (!good || !(distance > 0)) continue;
    if (named++ < NAMES_MAX)
      text_add(names, "%s%s %.2g m", named > 1 ? ", " : "", robot->scene.links[i].name, distance);
  }
  if (named > NAMES_MAX) text_add(names, " and %d more", named - NAMES_MAX);
  if (!good) model_move_links(&robot->model, &robot->scene);
  memory_free(sum);
  memory_free(given);
  memory_free(count);
  return good && named > 0;
}
