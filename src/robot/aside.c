/* Moves bodies that start inside half-spaces, such as the walls of a container, out of them. model_lift, in contrast,
 * moves bodies only against gravity. */
#include <assert.h>

#include "model/lift.h"
#include "model/tree.h"
#include "robot/robot.h"

/* Largest number of rounds. In each round the bodies that touch moved bodies are moved too, so this limits the length
 * of a row of bodies at a plane. */
enum { ASIDE_ROUNDS = 30 };
/* Largest number of bodies that the warning names. */
enum { ASIDE_NAMES = 10 };

/* State of moving bodies out of half-spaces. */
typedef struct {
  Robot* robot;
  double deepest; /* largest penetration at which a body is moved [m] */
  Vec3* along;    /* unit direction in which a root link was moved; zero: not moved  (links) */
  Vec3* more;     /* displacement of a root link in this round [m]  (links) */
} Aside;

static bool is_moved(const Aside* x, int root) { return vec3_norm(x->along[root]) > 0; }

/* Adds a displacement of a root link in this round. Of several displacements the largest applies. Does nothing if the
 * root was moved in another direction. along: unit direction; distance [m]. */
static void push(Aside* x, int root, Vec3 along, double distance) {
  if (is_moved(x, root) && vec3_dot(x->along[root], along) < 1 - 1e-9) return;
  x->along[root] = along;
  if (distance > vec3_norm(x->more[root])) x->more[root] = vec3_scale(along, distance);
}

/* Moves a body out of the half-spaces of a fixed link. touch: the pair of body and fixed link. poses (links): initial
 * poses. */
static void push_off_planes(Aside* x, const ModelTouch* touch, const Pose* poses) {
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
    if (depth > 0 && depth <= x->deepest) push(x, model_root(model, other), normal, depth + model->contact.gap_at_rest);
  }
}

/* Moves the other body of a pair in the same direction if exactly one of both bodies was moved. */
static void push_neighbour(Aside* x, const ModelTouch* touch) {
  const Model* model = &x->robot->model;
  int a = model_root(model, touch->a), b = model_root(model, touch->b);
  if (is_moved(x, a) == is_moved(x, b)) return;
  int from = is_moved(x, a) ? a : b, to = from == a ? b : a;
  push(x, to, x->along[from], fmax(touch->depth, 0) + model->contact.gap_at_rest);
}

/* Carries out one round. Returns the number of root links that were moved. */
static int push_once(Aside* x) {
  const Model* model = &x->robot->model;
  ModelTouch* touches;
  Pose* poses = MEMORY_NEW(Pose, model->link_count + 1);
  int count = model_touching(model, &touches), moved = 0;
  model_poses(model, model->initial_coordinates, poses);
  for (int i = 0; i < model->link_count; i++) x->more[i] = vec3(0, 0, 0);
  for (int k = 0; k < count; k++) {
    bool still[2] = {model->links[touches[k].a].tree < 0, model->links[touches[k].b].tree < 0};
    if ((!still[0] && !robot_stands_free(model, touches[k].a)) ||
        (!still[1] && !robot_stands_free(model, touches[k].b)))
      continue;
    if (still[0] != still[1])
      push_off_planes(x, &touches[k], poses);
    else if (!still[0])
      push_neighbour(x, &touches[k]);
  }
  for (int i = 0; i < model->link_count; i++) {
    if (!(vec3_norm(x->more[i]) > 0)) continue;
    SceneJoint* joint = &x->robot->scene.links[i].joint;
    joint->position = vec3_add(joint->position, x->more[i]);
    moved++;
  }
  memory_free(touches);
  memory_free(poses);
  return moved;
}

/* Returns true if a moved body touches another body. */
static bool is_stuck(const Aside* x) {
  ModelTouch* touches;
  const Model* model = &x->robot->model;
  int count = model_touching(model, &touches);
  bool stuck = false;
  for (int k = 0; k < count; k++)
    stuck = stuck || is_moved(x, model_root(model, touches[k].a)) || is_moved(x, model_root(model, touches[k].b));
  memory_free(touches);
  return stuck;
}

bool robot_move_out_of_half_spaces(Robot* robot, double deepest, Text* names) {
  assert(robot->model.links);
  int links = robot->model.link_count, moved = 0;
  Aside x = {robot, deepest, MEMORY_NEW(Vec3, links + 1), MEMORY_NEW(Vec3, links + 1)};
  Vec3* given = MEMORY_NEW(Vec3, links + 1);
  for (int i = 0; i < links; i++) given[i] = robot->scene.links[i].joint.position;
  for (int n = 0; n < ASIDE_ROUNDS && robot->model.links && push_once(&x) > 0; n++)
    model_move_links(&robot->model, &robot->scene);
  bool good = robot->model.links && !is_stuck(&x);
  for (int i = 0; i < links; i++) {
    double distance = vec3_norm(vec3_sub(robot->scene.links[i].joint.position, given[i]));
    if (!(distance > 0)) continue;
    if (!good) robot->scene.links[i].joint.position = given[i];
    if (moved++ < ASIDE_NAMES)
      text_add(names, "%s%s %.2g m", moved > 1 ? ", " : "", robot->scene.links[i].name, distance);
  }
  if (moved > ASIDE_NAMES) text_add(names, " and %d more", moved - ASIDE_NAMES);
  if (!good) model_move_links(&robot->model, &robot->scene);
  memory_free(given);
  memory_free(x.along);
  memory_free(x.more);
  return good && moved > 0;
}
