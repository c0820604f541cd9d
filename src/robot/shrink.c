/* Shrinks bodies that touch at the start and cannot be lifted apart, such as the bricks of a wall. A scene needs gaps
 * between bodies; a MuJoCo file does not. */
#include <assert.h>
#include <string.h>

#include "robot/robot.h"

/* Largest displacement of a face, relative to the smallest half extent of the shape. */
#define SHRINK_MAX 0.02
/* Bodies farther apart than this multiple of the barrier distance have no contact force. At 1, a thousandth of the
 * equilibrium force remains. */
#define RANGE_FACTOR 1.1
/* Largest number of shapes that a warning names. */
enum { NAMES_MAX = 10 };

/* Axis-aligned bounding box of a shape's hulls in the shape's frame. */
typedef struct {
  Vec3 low, high;
} BoundingBox;

static BoundingBox compute_bounding_box(const Robot* robot, int shape) {
  const Model* model = &robot->model;
  BoundingBox e = {vec3(HUGE_VAL, HUGE_VAL, HUGE_VAL), vec3(-HUGE_VAL, -HUGE_VAL, -HUGE_VAL)};
  int link = -1;
  for (int h = 0; h < model->hull_count; h++) {
    const ModelHull* hull = &model->hulls[h];
    if (hull->shape != shape || (link >= 0 && hull->link != link)) continue;
    const SceneLink* owner = &robot->scene.links[hull->link];
    const SceneShapeUse* use = NULL;
    for (int k = owner->shape_count - 1; k >= 0; k--)
      if (owner->shapes[k].shape == shape) use = &owner->shapes[k];
    if (!use) continue;
    link = hull->link;
    Mat3 turn = mat3_from_quat(use->rotation);
    for (int i = 0; i < hull->solid.vertex_count; i++) {
      Vec3 p = mat3_tmul_vec(turn, vec3_sub(hull->solid.vertices[i], use->position));
      e.low = vec3(fmin(e.low.x, p.x), fmin(e.low.y, p.y), fmin(e.low.z, p.z));
      e.high = vec3(fmax(e.high.x, p.x), fmax(e.high.y, p.y), fmax(e.high.z, p.z));
    }
  }
  return e;
}

void robot_transform_uses(Scene* scene, int shape, Pose transform) {
  assert(shape >= 0 && shape < scene->shape_count);
  for (int i = 0; i < scene->link_count; i++)
    for (int k = 0; k < scene->links[i].shape_count; k++) {
      SceneShapeUse* use = &scene->links[i].shapes[k];
      if (use->shape != shape) continue;
      use->position = vec3_add(use->position, mat3_mul_vec(mat3_from_quat(use->rotation), transform.t));
      use->rotation = quat_normalized(quat_mul(use->rotation, quat_from_mat3(transform.r)));
    }
}

/* Moves all faces of a shape inward by `distance` [m]. The faces of a mesh or a list of points move by at least this
 * distance along the shortest half extent. Returns false, and changes nothing, if SHRINK_MAX is exceeded or the type is
 * not supported. */
static bool shrink_shape(Robot* robot, int index, double distance) {
  assert(distance >= 0);
  SceneShape* shape = &robot->scene.shapes[index];
  BoundingBox e = compute_bounding_box(robot, index);
  Vec3 size = vec3_sub(e.high, e.low), center = vec3_scale(vec3_add(e.low, e.high), 0.5);
  double half = 0.5 * fmin(size.x, fmin(size.y, size.z)), factor = 1 - distance / half;
  if (!(half > 0) || !(distance <= SHRINK_MAX * half)) return false;
  switch (shape->type) {
    case SHAPE_BOX:
      shape->size = vec3_sub(shape->size, vec3(2 * distance, 2 * distance, 2 * distance));
      return true;
    case SHAPE_CYLINDER:
      shape->length -= 2 * distance;
      shape->radius -= distance;
      return true;
    case SHAPE_SPHERE:
    case SHAPE_CAPSULE:
      shape->radius -= distance;
      return true;
    case SHAPE_POINTS:
      for (int i = 0; i < shape->point_count; i++)
        shape->points[i] = vec3_add_scaled(center, factor, vec3_sub(shape->points[i], center));
      return true;
    case SHAPE_MESH:
      shape->scale *= factor;
      robot_transform_uses(&robot->scene, index, (Pose){mat3_identity(), vec3_scale(center, 1 - factor)});
      return true;
    default:
      return false;
  }
}

static bool is_fixed(const Model* model, int link) { return model->links[link].tree < 0; }

/* Returns how far the faces of both links of a pair move inward [m]: half of the sum of overlap and equilibrium gap. If
 * a joint may prevent a link from leaving a fixed link, the faces move out of the contact range, because MuJoCo has no
 * force at distance 0. */
static double shrink_distance(const Model* model, const ModelTouch* pair) {
  const int link[2] = {pair->a, pair->b};
  double depth = fmax(pair->depth, 0);
  for (int side = 0; side < 2; side++)
    if (is_fixed(model, link[1 - side]) && !robot_stands_free(model, link[side]))
      return depth + RANGE_FACTOR * model->contact.support;
  return 0.5 * (depth + model->contact.gap_at_rest);
}

/* Sets shrink[shapes] to the distance by which the faces of each shape must move inward [m]. Sets raise[links] to true
 * for moving links of touching pairs. */
static void find_distances(const Robot* robot, double* shrink, bool* raise) {
  const Model* model = &robot->model;
  ModelTouch* pairs = NULL;
  int count = model_touching(model, &pairs);
  for (int k = 0; k < count; k++) {
    const int link[2] = {pairs[k].a, pairs[k].b};
    double distance = shrink_distance(model, &pairs[k]);
    for (int side = 0; side < 2; side++) {
      const SceneLink* owner = &robot->scene.links[link[side]];
      if (is_fixed(model, link[side])) continue;
      raise[link[side]] = true;
      for (int i = 0; i < owner->shape_count; i++)
        shrink[owner->shapes[i].shape] = fmax(shrink[owner->shapes[i].shape], distance);
    }
  }
  memory_free(pairs);
}

bool robot_shrink_touching(Robot* robot, Text* names) {
  Scene* scene = &robot->scene;
  const Model* model = &robot->model;
  double* shrink = MEMORY_NEW(double, scene->shape_count + 1);
  bool* raise = MEMORY_NEW(bool, scene->link_count + 1);
  int count = 0;
  double pull = vec3_norm(scene->simulation.gravity);
  find_distances(robot, shrink, raise);
  for (int i = 0; i < scene->shape_count; i++) {
    if (!(shrink[i] > 0) || !shrink_shape(robot, i, shrink[i])) continue;
    if (count++ < NAMES_MAX) text_add(names, "%s%s %.2g m", count > 1 ? ", " : "", scene->shapes[i].name, shrink[i]);
  }
  if (count > NAMES_MAX) text_add(names, " and %d more", count - NAMES_MAX);
  /* Shrinking alone leaves half the equilibrium gap to a floor, so free bodies are raised by the other half. */
  for (int i = 0; i < scene->link_count && count > 0 && pull > 0; i++)
    if (raise[i] && joint_is_floating(&model->links[i].joint))
      scene->links[i].joint.position = vec3_add_scaled(
          scene->links[i].joint.position, -0.5 * model->contact.gap_at_rest / pull, scene->simulation.gravity);
  memory_free(shrink);
  memory_free(raise);
  return count > 0;
}
