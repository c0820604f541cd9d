/* Moves bodies that start inside half-spaces, such as the walls of a container, along the normals. model_lift moves
 * bodies against gravity only. */
#include <assert.h>

#include "model/lift.h"
#include "model/tree.h"
#include "robot/robot.h"

/* Largest number of iterations. Each iteration also moves the bodies that touch moved bodies, so the number limits the
 * length of a row of bodies at a plane. */
enum { ITERATIONS_MAX = 30 };
/* Largest number of bodies that the warning names. */
enum { NAMES_MAX = 10 };

/* State of moving bodies out of half-spaces. */
typedef struct {
  Robot* robot;
  double largest_depth; /* largest penetration that is removed [m] */
  Vec3* direction;      /* for each root link, the unit direction in which it was moved, or zero (size: links) */
  Vec3* displacement;   /* for each root link, its displacement in the present iteration [m] (size: links) */
} PlaneExit;

static bool is_moved(const PlaneExit* x, int root) { return vec3_norm(x->direction[root]) > 0; }

/* Adds a displacement [m] of a root link in the unit direction `direction` to the present iteration. The largest
 * displacement of an iteration applies. Does nothing if the root was moved in another direction. */
static void add_displacement(PlaneExit* x, int root, Vec3 direction, double distance) {
  assert(root >= 0);
  assert(fabs(vec3_norm(direction) - 1) < 1e-6);
  if (is_moved(x, root) && vec3_dot(x->direction[root], direction) < 1 - 1e-9) return;
  x->direction[root] = direction;
  if (distance > vec3_norm(x->displacement[root])) x->displacement[root] = vec3_scale(direction, distance);
}

/* Moves a body out of the half-spaces of a fixed link. touch: pair that consists of the body and the fixed link.
 * poses[links]: initial poses. */
static void move_out_of_half_spaces(PlaneExit* x, const ModelTouch* touch, const Pose* poses) {
  const Model* model = &x->robot->model;
  int still = model->links[touch->a].tree < 0 ? touch->a : touch->b, other = still == touch->a ? touch->b : touch->a;
  for (int h = 0; h < model->hull_count; h++) {
    const ModelHull* plane = &model->hulls[h];
    if (plane->link != still || plane->kind != &SOLID_HALF_SPACE) continue;
    Vec3 normal = mat3_mul_vec(poses[still].r, plane->normal);
    double level = plane->offset + vec3_dot(normal, poses[still].t), depth = 0;
    for (int k = 0; k < model->hull_count; k++) {
      const ModelHull* hull = &model->hulls[k];
      if (hull->link != other || !hull->kind->bounded) continue;
      int vertex;
      Vec3 down = mat3_tmul_vec(poses[other].r, vec3_scale(normal, -1));
      double low = vec3_dot(normal, poses[other].t) - hull->kind->support(hull, down, &vertex);
      depth = fmax(depth, level - low);
    }
    if (depth > 0 && depth <= x->largest_depth)
      add_displacement(x, model_root(model, other), normal, depth + model->contact.gap_at_rest);
  }
}

/* Moves the second body of a pair in the same direction, if exactly one of both bodies was moved. */
static void move_touching_body(PlaneExit* x, const ModelTouch* touch) {
  const Model* model = &x->robot->model;
  int a = model_root(model, touch->a), b = model_root(model, touch->b);
  if (is_moved(x, a) == is_moved(x, b)) return;
  int from = is_moved(x, a) ? a : b, to = from == a ? b : a;
  add_displacement(x, to, x->direction[from], fmax(touch->depth, 0) + model->contact.gap_at_rest);
}

/* Performs one iteration. Returns the number of moved root links. */
static int run_iteration(PlaneExit* x) {
  const Model* model = &x->robot->model;
  ModelTouch* touches;
  Pose* poses = MEMORY_NEW(Pose, model->link_count + 1);
  int count = model_touching(model, &touches), moved = 0;
  model_poses(model, model->initial_coordinates, poses);
  for (int i = 0; i < model->link_count; i++) x->displacement[i] = vec3(0, 0, 0);
  for (int k = 0; k < count; k++) {
    bool still[2] = {model->links[touches[k].a].tree < 0, model->links[touches[k].b].tree < 0};
    if ((!still[0] && !robot_stands_free(model, touches[k].a)) ||
        (!still[1] && !robot_stands_free(model, touches[k].b)))
      continue;
    if (still[0] != still[1])
      move_out_of_half_spaces(x, &touches[k], poses);
    else if (!still[0])
      move_touching_body(x, &touches[k]);
  }
  for (int i = 0; i < model->link_count; i++) {
    if (!(vec3_norm(x->displacement[i]) > 0)) continue;
    SceneJoint* joint = &x->robot->scene.links[i].joint;
    joint->position = vec3_add(joint->position, x->displacement[i]);
    moved++;
  }
  memory_free(touches);
  memory_free(poses);
  return moved;
}

static bool has_contact(const PlaneExit* x) {
  ModelTouch* touches;
  const Model* model = &x->robot->model;
  int count = model_touching(model, &touches);
  bool stuck = false;
  for (int k = 0; k < count; k++)
    stuck = stuck || is_moved(x, model_root(model, touches[k].a)) || is_moved(x, model_root(model, touches[k].b));
  memory_free(touches);
  return stuck;
}

bool robot_move_out_of_half_spaces(Robot* robot, double largest_depth, Text* names) {
  assert(largest_depth >= 0);
  assert(robot->model.links);
  int links = robot->model.link_count, moved = 0;
  PlaneExit x = {robot, largest_depth, MEMORY_NEW(Vec3, links + 1), MEMORY_NEW(Vec3, links + 1)};
  Vec3* given = MEMORY_NEW(Vec3, links + 1);
  for (int i = 0; i < links; i++) given[i] = robot->scene.links[i].joint.position;
  for (int n = 0; n < ITERATIONS_MAX && robot->model.links && run_iteration(&x) > 0; n++)
    model_move_links(&robot->model, &robot->scene);
  bool good = robot->model.links && !has_contact(&x);
  for (int i = 0; i < links; i++) {
    double distance = vec3_norm(vec3_sub(robot->scene.links[i].joint.position, given[i]));
    if (!(distance > 0)) continue;
    if (!good) robot->scene.links[i].joint.position = given[i];
    if (moved++ < NAMES_MAX)
      text_add(names, "%s%s %.2g m", moved > 1 ? ", " : "", robot->scene.links[i].name, distance);
  }
  if (moved > NAMES_MAX) text_add(names, " and %d more", moved - NAMES_MAX);
  if (!good) model_move_links(&robot->model, &robot->scene);
  memory_free(given);
  memory_free(x.direction);
  memory_free(x.displacement);
  return good && moved > 0;
}
