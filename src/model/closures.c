/* Builds closures: attachment points and directions in the link frames, from the initial poses
 * (docs/derivations/closures.md, Z1). */
#include <assert.h>

#include "model/build.h"

/* Relative tolerance between a given length and the length at the start, because decimals in a file are rounded. */
#define SAME_LENGTH 1e-6

/* Sets *first and *second to unit vectors that are perpendicular to each other and to the unit vector `axis`. first is
 * perpendicular to the coordinate axis farthest from `axis`. */
static void perpendiculars(Vec3 axis, Vec3* first, Vec3* second) {
  double x = fabs(axis.x), y = fabs(axis.y), z = fabs(axis.z);
  Vec3 away = x <= y && x <= z ? vec3(1, 0, 0) : y <= z ? vec3(0, 1, 0) : vec3(0, 0, 1);
  *first = vec3_normalized(vec3_cross(axis, away));
  *second = vec3_cross(axis, *first);
}

/* Sets the directions along which the attachment points are compared: the hinge axis and two perpendicular directions,
 * world frame. In a planar linkage, only the equations of the two perpendicular directions then change. If the hinge
 * axis is a world axis, the directions are the world axes. */
static void set_frame(ModelClosure* c, Vec3 axis, const Vec3 across[2]) {
  c->framed = axis.x != 0 ? axis.y != 0 || axis.z != 0 : axis.y != 0 && axis.z != 0;
  const Vec3 f[3] = {across[0], across[1], axis};
  for (int k = 0; c->framed && k < 3; k++) vec3_store(f[k], c->frame.m[k]);
}

/* Appends an equation to a closure. u, v: directions that become fixed to the first and second link, given in the
 * initial state, world frame. at[2]: initial world poses of these links. */
static void add_row(ModelClosure* c, const Pose at[2], ClosureEquation kind, int axis, Vec3 u, Vec3 v) {
  c->rows[c->row_count++] = (ClosureRow){kind, axis, mat3_tmul_vec(at[0].r, u), mat3_tmul_vec(at[1].r, v)};
}

static void add_points(ModelClosure* c, const Pose at[2]) {
  Vec3 zero = vec3(0, 0, 0);
  for (int k = 0; k < 3; k++) add_row(c, at, CLOSURE_POINT, k, zero, zero);
}

/* Appends three equations to a closure that fix the relative rotation of its two links. Each axis of the first link
 * stays perpendicular to the next axis of the second link. */
static void add_turns(ModelClosure* c, const Pose at[2]) {
  const Vec3 e[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  for (int k = 0; k < 3; k++) add_row(c, at, CLOSURE_ALIGN, 0, e[k], e[(k + 1) % 3]);
}

static void add_rows(ModelClosure* c, const SceneClosure* source, const ClosureStart* start, const Pose at[2]) {
  Vec3 across[2], zero = vec3(0, 0, 0);
  if (source->has_axis) perpendiculars(start->axis, &across[0], &across[1]);
  switch (c->type) {
    case CLOSURE_WELD:
      add_points(c, at);
      add_turns(c, at);
      break;
    case CLOSURE_BALL:
      add_points(c, at);
      break;
    case CLOSURE_HINGE:
      set_frame(c, start->axis, across);
      add_points(c, at);
      for (int k = 0; k < 2; k++) add_row(c, at, CLOSURE_ALIGN, 0, start->axis, across[k]);
      break;
    case CLOSURE_SLIDE:
      add_turns(c, at);
      for (int k = 0; k < 2; k++) add_row(c, at, CLOSURE_ACROSS, 0, zero, across[k]);
      break;
    case CLOSURE_DISTANCE:
      add_row(c, at, CLOSURE_LENGTH, 0, zero, zero);
      break;
  }
}

ClosureStart model_closure_start(const SceneClosure* source, const Pose at[2]) {
  assert(source && at);
  bool link = source->link_axes;
  double length = vec3_norm(source->axis);
  Vec3 axis = is_unit_length(length) || !source->has_axis ? source->axis : vec3_scale(source->axis, 1 / length);
  ClosureStart s = {.axis = link ? mat3_mul_vec(at[0].r, axis) : axis, .end = {at[0].t, at[0].t}};
  if (source->has_point) s.end[0] = s.end[1] = link ? pose_apply(at[0], source->point) : source->point;
  if (source->type == CLOSURE_DISTANCE)
    s.end[1] = source->has_axis ? vec3_add_scaled(s.end[0], source->length, s.axis) : at[1].t;
  return s;
}

static void place_ends(const ClosureStart* start, const Pose at[2], ModelClosure* c) {
  c->length = vec3_norm(vec3_sub(start->end[0], start->end[1]));
  for (int side = 0; side < 2; side++) c->end[side] = pose_apply_inverse(at[side], start->end[side]);
}

static void check_length(Builder* builder, const SceneClosure* source, const ModelClosure* c) {
  if (c->type != CLOSURE_DISTANCE) return;
  if (!(c->length > 0))
    diagnostics_add(builder->diagnostics, SEVERITY_ERROR, source->place,
                    "both ends of the closure of type distance coincide at the start: use type ball");
  else if (source->length > 0 && !(fabs(c->length - source->length) <= SAME_LENGTH * source->length))
    diagnostics_add(builder->diagnostics, SEVERITY_ERROR, source->place,
                    "'length' is %.9g m, but the ends are %.9g m apart at the start: correct 'length', or omit "
                    "'length' to use the distance at the start",
                    source->length, c->length);
}

/* Adds an error for a closure if forces can move neither of its two links. */
static void check_closure(Builder* builder, const SceneClosure* source, const ModelClosure* c) {
  const Model* model = builder->model;
  bool moves = false;
  for (int side = 0; side < 2; side++) moves = moves || (c->link[side] >= 0 && link_is_dynamic(model, c->link[side]));
  if (moves) return;
  diagnostics_add(builder->diagnostics, SEVERITY_ERROR, source->place,
                  "the closure has no effect, because forces can move neither of its links: remove the closure");
}

static void place_closure(const SceneClosure* source, const Pose* poses, ModelClosure* c) {
  Pose at[2] = {model_closure_pose(c, 0, poses), model_closure_pose(c, 1, poses)};
  ClosureStart start = model_closure_start(source, at);
  place_ends(&start, at, c);
  c->row_count = 0;
  c->framed = false;
  c->frame = mat3_identity();
  add_rows(c, source, &start, at);
}

void model_place_closures(Model* model) {
  place_couplings(model);
  if (model->closure_count == 0) return;
  Pose* poses = initial_poses(model);
  for (int k = 0; k < model->closure_count; k++) place_closure(&model->scene->closures[k], poses, &model->closures[k]);
  memory_free(poses);
}

void build_closures(Builder* builder) {
  Model* model = builder->model;
  const Scene* scene = builder->scene;
  model->closure_count = scene->closure_count;
  model->closures = MEMORY_NEW(ModelClosure, scene->closure_count);
  for (int k = 0; k < scene->closure_count; k++) {
    const SceneClosure* source = &scene->closures[k];
    model->closures[k] = (ModelClosure){.type = source->type, .link = {source->a, source->b}};
    model->closures[k].releases = source->release_force > 0;
    model->closures[k].force_limit = source->release_force > 0 ? source->release_force : source->break_force;
    if (source->active.channels > 0) signal_create(&model->closures[k].active, &source->active);
  }
  model_place_closures(model);
  for (int k = 0; k < model->closure_count; k++) {
    ModelClosure* c = &model->closures[k];
    c->row_first = model->closure_row_count;
    model->closure_row_count += c->row_count;
    check_length(builder, &scene->closures[k], c);
    check_closure(builder, &scene->closures[k], c);
  }
}

/* Returns the size of a link without a shape [m]: the radius of gyration of the link, or 1 m without inertia. */
static double size_without_shape(const ModelLink* link) {
  Mat3 inertia = link->mass > 0 ? mass_moment_inertia_tensor(&link->moment) : mat3_zero();
  double trace = inertia.m[0][0] + inertia.m[1][1] + inertia.m[2][2];
  return trace > 0 ? sqrt(trace / (2 * link->mass)) : 1;
}

void build_closure_sizes(Builder* builder) {
  Model* model = builder->model;
  for (int k = 0; k < model->coupling_count; k++) {
    ModelCoupling* c = &model->couplings[k];
    const ModelLink* link = &model->links[model->dof_link[c->dof[0]]];
    c->size = c->dof[0] - link->dof_first < link->joint.slide_count ? link->reach : 1;
    if (!(c->size > 0)) c->size = size_without_shape(link);
  }
  for (int k = 0; k < model->closure_count; k++) {
    ModelClosure* c = &model->closures[k];
    c->size = c->length;
    for (int side = 0; side < 2; side++) {
      if (c->link[side] < 0) continue;
      const ModelLink* link = &model->links[c->link[side]];
      c->size = fmax(c->size, fmax(link->reach, vec3_norm(vec3_sub(c->end[side], link->center))));
    }
    if (!(c->size > 0)) c->size = size_without_shape(&model->links[c->link[0]]);
  }
}
