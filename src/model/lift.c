/* Lifts bodies that touch others in the initial state, because a run must start with gaps between bodies. */
#include "model/lift.h"

#include "model/build.h"
#include "model/tree.h"

/* Largest number of passes, and of layers of a stack that can be lifted. */
enum { PASSES_MAX = 30 };
/* Cosine of the largest angle between the vertical and a joint's displacement that lifts its body. */
#define LIFT_COSINE 0.1

/* Returns the change of a root link's joint position in the scene that lifts the link by 1 m, or zero if its joint
 * cannot lift it. up: unit vector against gravity, world frame. */
static Vec3 lift_direction(const Model* model, int link, Vec3 up) {
  const SceneJoint* joint = &model->scene->links[link].joint;
  Mat3 turn = mat3_from_quat(joint->rotation);
  Vec3 local = mat3_tmul_vec(turn, up), along = {0, 0, 0};
  if (model->links[link].tree < 0) return along;
  if (joint_is_floating(&model->links[link].joint)) return up;
  if (joint->type == JOINT_SLIDE) along = vec3_scale(joint->axes[0], vec3_dot(joint->axes[0], local));
  if (joint->type == JOINT_FREE) {
    if (joint->free_axes & FREE_X) along.x = local.x;
    if (joint->free_axes & FREE_Y) along.y = local.y;
    if (joint->free_axes & FREE_Z) along.z = local.z;
  }
  double length = vec3_norm(along);
  if (!(length > LIFT_COSINE)) return vec3(0, 0, 0);
  return mat3_mul_vec(turn, vec3_scale(along, 1 / (length * length)));
}

static bool can_be_lifted(const Model* model, int link, Vec3 up) {
  return vec3_norm(lift_direction(model, link, up)) > 0;
}

/* Returns the root link to lift for two links that touch. If both roots can be lifted, returns the higher root. Returns
 * -1 if neither can be lifted, if both links have the same root, or if the overlap is above overlap_max [m]. */
static int choose_root(const Model* model, const ModelTouch* touch, double overlap_max, Vec3 up) {
  int a = model_root(model, touch->a), b = model_root(model, touch->b);
  if (a == b || touch->depth > overlap_max) return -1;
  bool rises[2] = {can_be_lifted(model, a, up), can_be_lifted(model, b, up)};
  if (!rises[0] || !rises[1]) return rises[0] ? a : rises[1] ? b : -1;
  Vec3 at = model->scene->links[a].joint.position, bt = model->scene->links[b].joint.position;
  if (joint_is_floating(&model->links[a].joint) && joint_is_floating(&model->links[b].joint)) {
    const double *qa = model->initial_coordinates + model->links[a].coordinate_first,
                 *qb = model->initial_coordinates + model->links[b].coordinate_first;
    at = vec3_add(at, vec3(qa[0], qa[1], qa[2]));
    bt = vec3_add(bt, vec3(qb[0], qb[1], qb[2]));
  }
  return vec3_dot(vec3_sub(at, bt), up) > 0 ? a : b;
}

/* Lifts every root link whose body touches another body, once. Adds the displacements [m] to lift[links]. Returns the
 * number of lifted roots. */
static int lift_once(const Model* model, Scene* scene, double overlap_max, Vec3 up, double* lift) {
  ModelTouch* touches;
  int count = model_touching(model, &touches), lifted = 0;
  double* more = MEMORY_NEW(double, model->link_count + 1);
  for (int k = 0; k < count; k++) {
    int root = choose_root(model, &touches[k], overlap_max, up);
    if (root >= 0) more[root] = fmax(more[root], touches[k].depth + model->contact.gap_at_rest);
  }
  for (int i = 0; i < model->link_count; i++) {
    if (!(more[i] > 0)) continue;
    SceneJoint* joint = &scene->links[i].joint;
    joint->position = vec3_add_scaled(joint->position, more[i], lift_direction(model, i, up));
    lift[i] += more[i];
    lifted++;
  }
  memory_free(touches);
  memory_free(more);
  return lifted;
}

void model_move_links(Model* model, const Scene* scene) {
  Diagnostics unsaid = {0};
  bool only_origins = model->closure_count == 0 && model->coupling_count == 0 && !model->start;
  for (int i = 0; i < model->link_count && only_origins; i++) model->links[i].origin.t = scene->links[i].joint.position;
  if (only_origins) return;
  model_destroy(model);
  model_create(model, scene, &unsaid);
  diagnostics_free(&unsaid);
}

/* Undoes the lift of bodies that still touch others: restores their joint positions from given[links] and sets
 * lift[links] to 0. */
static void undo_lifts(Model* model, Scene* scene, double overlap_max, Vec3 up, const Vec3* given, double* lift) {
  ModelTouch* touches;
  int count = model_touching(model, &touches), undone = 0;
  for (int k = 0; k < count; k++) {
    int root = choose_root(model, &touches[k], overlap_max, up);
    if (root < 0 || !(lift[root] > 0)) continue;
    scene->links[root].joint.position = given[root];
    lift[root] = 0;
    undone++;
  }
  memory_free(touches);
  if (undone > 0) model_move_links(model, scene);
}

static Vec3* joint_positions(const Scene* scene) {
  Vec3* positions = MEMORY_NEW(Vec3, scene->link_count + 1);
  for (int i = 0; i < scene->link_count; i++) positions[i] = scene->links[i].joint.position;
  return positions;
}

bool model_lift(Model* model, Scene* scene, double overlap_max, Text* names) {
  double pull = vec3_norm(scene->simulation.gravity);
  if (!model->links || !(pull > 0)) return false;
  Vec3 up = vec3_scale(scene->simulation.gravity, -1 / pull);
  int links = model->link_count;
  double* lift = MEMORY_NEW(double, links + 1);
  Vec3* given = joint_positions(scene);
  for (int n = 0; n < PASSES_MAX && model->links && lift_once(model, scene, overlap_max, up, lift) > 0; n++)
    model_move_links(model, scene);
  if (model->links) undo_lifts(model, scene, overlap_max, up, given, lift);
  bool any = false;
  for (int i = 0; i < links; i++) {
    if (!(lift[i] > 0)) continue;
    text_add(names, "%s%s %.2g m", any ? ", " : "", scene->links[i].name, lift[i]);
    any = true;
  }
  memory_free(lift);
  memory_free(given);
  return any;
}

Status model_create_lifted(Model* model, Scene* scene, Diagnostics* diagnostics) {
  Diagnostics first = {0}, after = {0};
  Text names = {0};
  Status status = model_create(model, scene, &first);
  bool lifts = status == STATUS_BAD_INPUT && !scene->start.run;
  Vec3* given = lifts ? joint_positions(scene) : NULL;
  if (lifts && model_lift(model, scene, touch_depth(model), &names)) {
    model_destroy(model);
    status = model_create(model, scene, &after);
    if (status == STATUS_OK) {
      diagnostics_free(&first);
      diagnostics_add(
          &after, SEVERITY_NOTE, (SourcePosition){scene->path, 0, 0},
          "links that touched others at the start were raised by the overlap plus the equilibrium gap of contact: %s",
          names.data);
    } else { /* errors refer to the scene as written */
      for (int i = 0; i < scene->link_count; i++) scene->links[i].joint.position = given[i];
      diagnostics_free(&after);
    }
  }
  diagnostics_merge(diagnostics, &first);
  diagnostics_merge(diagnostics, &after);
  diagnostics_free(&first);
  diagnostics_free(&after);
  memory_free(given);
  text_free(&names);
  return status;
}
