/* Losses clearance, removal and keep_out: margin minus the smallest distance between the hulls of a link and other
 * hulls. A distance is negative where hulls overlap. The link moves, all other links stay at their initial poses. The
 * link's positions are all joint coordinates within their limits (clearance), a straight path (removal), or the initial
 * position (keep_out).
 * Pose of the moving link: T(q) = T_0 M(q_0)^-1 M(q), with M the motion of the joint, and T_0, q_0 the initial pose and
 * coordinates.
 * The search is branch and bound over boxes of coordinates. The distance at the centre of a box gives a lower bound for
 * the box (docs/derivations/certificate.md, P1, P8). The box with the lowest bound is halved until no box can contain a
 * smaller distance. At the minimum the derivative of the distance with respect to q is zero, or q is at a limit. */
#include <assert.h>
#include <string.h>

#include "differentiate/nearest.h"
#include "differentiate/sweep.h"

/* Boxes are discarded if their lower bound is above the smallest distance minus this tolerance. Unit: size of the link.
 */
#define SWEEP_TOLERANCE 1e-3
/* Distances count as equal if they differ by less. Unit: size of the link. */
#define DISTANCE_TOLERANCE 1e-6
/* Final step length of the refinement of a minimum, relative to the range of the coordinate. */
#define REFINEMENT_END 1e-14
/* A minimum may be a kink (fold). FOLD_OFFSET: distance from the minimum at which both one-sided slopes are measured,
 * relative to the range of the coordinate. FOLD_SLOPE_MIN: with smaller slopes the minimum is smooth. Unit: size of the
 * link per unit of the coordinate. */
#define FOLD_OFFSET 1e-7
#define FOLD_SLOPE_MIN 1e-3
/* EVALUATIONS_MAX: largest number of evaluated positions. GRID: grid points per coordinate, by number of coordinates.
 */
enum { EVALUATIONS_MAX = 20000 };
static const int GRID[SWEEP_DOF_MAX + 1] = {1, 33, 9, 5};

typedef struct {
  const LossTerm* term;
  const Model* model;
  const Recording* recording;
  const ModelHull* box; /* box of keep_out, which replaces the other links, with link -1 */
  const Joint* joint;   /* NULL: straight path along the direction of the term */
  Pose start, base;     /* start: initial pose of the link; base: world pose of the link's joint frame if all joint
                           coordinates are zero */
  double low[SWEEP_DOF_MAX], high[SWEEP_DOF_MAX],
      radius; /* lowest and highest value of each coordinate; radius: of the link about its frame [m] */
  int count, evaluations;
} Sweep;

static Pose swept_pose(const Sweep* s, const double* q) {
  Pose out = s->start;
  if (s->joint) return pose_mul(s->base, joint_motion(s->joint, q));
  if (s->count > 0) out.t = vec3_add_scaled(out.t, q[0], s->term->direction);
  return out;
}

static Pose other_pose(const Sweep* s, const ModelHull* other) {
  return s->box ? s->start : recording_link_pose(s->recording, 0, other->link);
}

static bool is_other_hull(const Sweep* s, const ModelHull* hull) {
  const LossTerm* term = s->term;
  return s->box || (term->other >= 0 ? hull->link == term->other : hull->link != term->link);
}

typedef struct {
  double middle[SWEEP_DOF_MAX], half[SWEEP_DOF_MAX];
  double lower_bound; /* lower bound of the distance in the box */
} SweepBox;

/* Bounds on the motion of the link from the centre of a box of coordinates to any point of the box. */
typedef struct {
  SweepBox* box;
  double displacement; /* largest displacement of a vertex [m] */
  double curvature;    /* deviation of a vertex from a straight path, relative to its distance from the link frame */
  JointMotionBound reach;
  Screw screws[JOINT_MAX_DOF];
} BoxMotion;

/* Returns the largest displacement [m] of a vertex of the link within a box of coordinates. middle, half: centre and
 * half widths of the box (count). */
static double largest_displacement(const Sweep* s, const double* middle, const double* half) {
  if (s->count == 0) return 0;
  if (!s->joint) return half[0];
  JointMotionBound reach = joint_bound_motion(s->joint, middle, half);
  return reach.slide + reach.spin * s->radius;
}

static BoxMotion compute_box_motion(const Sweep* s, SweepBox* box, Pose pose) {
  BoxMotion a = {.box = box, .displacement = largest_displacement(s, box->middle, box->half)};
  if (s->joint) {
    a.reach = joint_bound_motion(s->joint, box->middle, box->half);
    a.curvature = (a.reach.spin * a.reach.spin + a.reach.spin_rate) / 2;
    joint_screws(s->joint, box->middle, s->base.r, pose, a.screws);
  } else if (s->count > 0) {
    a.reach.slide = box->half[0];
    a.screws[0] = (Screw){.v = s->term->direction};
  }
  return a;
}

/* Returns a lower bound of the distance of two hulls over a box of coordinates (P8): their gap along the direction of
 * the nearest points at the centre. pose: pose of the link at the centre. */
static double pair_lower_bound(const Sweep* s, const BoxMotion* a, const NearestPoints* nearest, Pose pose) {
  const ModelHull* hull = nearest->a->link == s->term->link ? nearest->a : nearest->b;
  Vec3 out = vec3_scale(nearest->normal, hull == nearest->a ? -1 : 1);
  double lowest = HUGE_VAL, lowest_around = HUGE_VAL;
  for (int i = 0; i < hull->points.count; i++) {
    Vec3 point = point_at(hull->points, i), x = pose_apply(pose, point);
    double height = vec3_dot(out, vec3_sub(x, pose.t)), arm = vec3_norm(point), straight = a->curvature * arm;
    for (int k = 0; k < s->count; k++)
      straight += fabs(vec3_dot(out, screw_velocity(&a->screws[k], x))) * a->box->half[k];
    lowest = fmin(lowest, height);
    lowest_around = fmin(lowest_around, height - fmin(straight, a->reach.slide + a->reach.spin * arm));
  }
  if (!(vec3_dot(out, out) > 0) || hull->points.count == 0) return nearest->distance - a->displacement;
  return nearest->distance + lowest_around - lowest;
}

/* Replaces *best by the nearest points of the link and another hull if they are nearer. Also updates the lower bound of
 * the box `a` unless NULL. Returns false if a pose is not finite. */
static bool update_nearest(const Sweep* s, const ModelHull* other, Pose pose, NearestPoints* best, BoxMotion* a) {
  const ModelLink* link = &s->model->links[s->term->link];
  Pose pose_other = other_pose(s, other);
  for (int i = 0; i < link->hull_count; i++) {
    const ModelHull* hull = &s->model->hulls[link->hull_first + i];
    if (!hull->kind->bounded && !other->kind->bounded) continue;
    double bound = distance_lower_bound(hull, other, pose, pose_other);
    if (isnan(bound)) return false;
    if (bound >= best->distance + (a ? a->displacement : 0)) continue;
    NearestPoints found = find_signed_nearest_points(hull, other, pose, pose_other);
    if (a && found.distance - a->displacement < a->box->lower_bound)
      a->box->lower_bound = fmin(a->box->lower_bound, pair_lower_bound(s, a, &found, pose));
    if (found.distance < best->distance) *best = found;
  }
  return true;
}

static NearestPoints find_nearest_at_pose(Sweep* s, Pose pose, double limit, BoxMotion* a) {
  NearestPoints best = {.distance = limit};
  bool sound = true;
  s->evaluations++;
  if (s->box) sound = update_nearest(s, s->box, pose, &best, a);
  for (int h = 0; h < s->model->hull_count && sound && !s->box; h++) {
    const ModelHull* hull = &s->model->hulls[h];
    if (is_other_hull(s, hull)) sound = update_nearest(s, hull, pose, &best, a);
  }
  if (!sound) best = (NearestPoints){.distance = NAN};
  return best;
}

/* Returns the nearest points of the link at coordinates q and the other hulls. Distances above `limit` may be inexact.
 */
static NearestPoints find_nearest_at(Sweep* s, const double* q, double limit) {
  return find_nearest_at_pose(s, swept_pose(s, q), limit, NULL);
}

/* Returns the nearest points at the centre of a box. Sets box->lower_bound to the lower bound in the box, at most
 * `limit`. */
static NearestPoints find_nearest_in_box(Sweep* s, SweepBox* box, double limit) {
  Pose pose = swept_pose(s, box->middle);
  BoxMotion a = compute_box_motion(s, box, pose);
  box->lower_bound = limit;
  return find_nearest_at_pose(s, pose, limit, &a);
}

static void update_minimum(NearestPoints* best, double* at, NearestPoints found, const double* q) {
  if (!(found.distance < best->distance)) return;
  *best = found;
  memcpy(at, q, sizeof(double) * SWEEP_DOF_MAX);
}

/* Searches the smallest distance on a grid of coordinates with both ends of each range. Sets *best and its coordinates
 * `at`. */
static void search_grid(Sweep* s, NearestPoints* best, double* at) {
  int side = GRID[s->count], count = 1;
  for (int k = 0; k < s->count; k++) count *= side;
  for (int i = 0; i < count; i++) {
    double q[SWEEP_DOF_MAX] = {0};
    for (int k = 0, rest = i; k < s->count; k++, rest /= side)
      q[k] = s->low[k] + (s->high[k] - s->low[k]) * (rest % side) / (side - 1);
    NearestPoints found = find_nearest_at(s, q, best->distance);
    if (isnan(found.distance)) {
      *best = found;
      return;
    }
    update_minimum(best, at, found, q);
  }
}

/* Refines a minimum by steps along single coordinates, which are halved if none is an improvement. */
static void refine_minimum(Sweep* s, NearestPoints* best, double* at) {
  for (double part = 1.0 / (GRID[s->count] - 1); s->count > 0 && part > REFINEMENT_END;) {
    bool moved = false;
    for (int k = 0; k < 2 * s->count; k++) {
      double q[SWEEP_DOF_MAX], step = (k % 2 ? -part : part) * (s->high[k / 2] - s->low[k / 2]);
      memcpy(q, at, sizeof q);
      q[k / 2] = fmin(fmax(q[k / 2] + step, s->low[k / 2]), s->high[k / 2]);
      double before = best->distance;
      update_minimum(best, at, find_nearest_at(s, q, before), q);
      moved = moved || best->distance < before;
    }
    if (!moved) part /= 2;
  }
}

/* Returns the coordinate whose range in the box moves the link most. */
static int find_widest_side(const Sweep* s, const SweepBox* box) {
  int widest = 0;
  double most = -1;
  for (int k = 0; k < s->count; k++) {
    double alone[SWEEP_DOF_MAX] = {0};
    alone[k] = box->half[k];
    double displacement = largest_displacement(s, box->middle, alone);
    if (displacement > most) most = displacement, widest = k;
  }
  return widest;
}

/* Binary heap of boxes by lower bound. The children of box k are 2k + 1 and 2k + 2. */
typedef struct {
  SweepBox* box;
  int count, capacity;
} BoxHeap;

static void heap_push(BoxHeap* heap, const SweepBox* box) {
  heap->box = memory_grow_array(heap->box, sizeof *box, heap->count, &heap->capacity);
  int k = heap->count++;
  for (; k > 0 && heap->box[(k - 1) / 2].lower_bound > box->lower_bound; k = (k - 1) / 2)
    heap->box[k] = heap->box[(k - 1) / 2];
  heap->box[k] = *box;
}

static SweepBox heap_pop(BoxHeap* heap) {
  assert(heap->count > 0);
  SweepBox top = heap->box[0], last = heap->box[--heap->count];
  int k = 0;
  for (int child; (child = 2 * k + 1) < heap->count; k = child) {
    if (child + 1 < heap->count && heap->box[child + 1].lower_bound < heap->box[child].lower_bound) child++;
    if (heap->box[child].lower_bound >= last.lower_bound) break;
    heap->box[k] = heap->box[child];
  }
  heap->box[k] = last;
  return top;
}

/* Returns a lower bound of the distance over the whole range by branch and bound. Updates *best and its coordinates
 * `at`. */
static double search_boxes(Sweep* s, NearestPoints* best, double* at) {
  if (s->count == 0) return best->distance;
  BoxHeap heap = {0};
  SweepBox box = {.lower_bound = -HUGE_VAL};
  double rounding = SWEEP_TOLERANCE * s->radius;
  for (int k = 0; k < s->count; k++) {
    box.middle[k] = (s->low[k] + s->high[k]) / 2;
    box.half[k] = (s->high[k] - s->low[k]) / 2;
  }
  heap_push(&heap, &box);
  while (s->evaluations < EVALUATIONS_MAX && heap.box[0].lower_bound < best->distance - rounding) {
    box = heap_pop(&heap);
    int k = find_widest_side(s, &box);
    box.half[k] /= 2;
    for (int side = -1; side <= 1; side += 2) {
      SweepBox half = box;
      half.middle[k] += side * box.half[k];
      update_minimum(best, at, find_nearest_in_box(s, &half, best->distance), half.middle);
      heap_push(&heap, &half);
    }
  }
  double least = heap.box[0].lower_bound;
  memory_free(heap.box);
  return fmin(least, best->distance);
}

static NearestPoints find_smallest_distance(Sweep* s, double* at, double* at_least) {
  NearestPoints best = {.distance = HUGE_VAL};
  memset(at, 0, sizeof(double) * SWEEP_DOF_MAX);
  search_grid(s, &best, at);
  *at_least = best.distance;
  if (isnan(best.distance)) return best;
  refine_minimum(s, &best, at);
  double refined = best.distance;
  *at_least = search_boxes(s, &best, at);
  if (best.distance < refined) refine_minimum(s, &best, at);
  return best;
}

static double link_radius(const Model* model, int link) {
  double reach = 0;
  for (int i = 0; i < model->links[link].hull_count; i++) {
    const ModelHull* hull = &model->hulls[model->links[link].hull_first + i];
    for (int k = 0; k < hull->points.count; k++) reach = fmax(reach, vec3_norm(point_at(hull->points, k)));
  }
  return reach;
}

static const double* coordinates(const Recording* recording, int link) {
  return recording->q + row_index(recording->selection, recording->model, 0, link).coordinate;
}

/* Sets the joint of the sweep and the range of its coordinates. A hinge without limits makes a full revolution; other
 * joints have limits (loss_clearance_prepare). */
static void set_joint(Sweep* s) {
  const ModelLink* link = &s->model->links[s->term->link];
  s->joint = &link->joint;
  s->count = link->joint.dof_count;
  Pose motion = joint_motion(&link->joint, coordinates(s->recording, s->term->link));
  s->base = pose_mul(s->start, pose_inverse(motion));
  for (int k = 0; k < s->count; k++) {
    bool limited = link->limited[k] && isfinite(link->lower[k]) && isfinite(link->upper[k]);
    s->low[k] = limited ? link->lower[k] : -M_PI;
    s->high[k] = limited ? link->upper[k] : M_PI;
  }
}

static Sweep create_sweep(const LossTerm* term, const Recording* recording, bool box, bool joint) {
  assert(term->link >= 0);
  Sweep s = {.term = term, .model = recording->model, .recording = recording};
  s.start = box ? pose_identity() : recording_link_pose(recording, 0, term->link);
  s.radius = link_radius(s.model, term->link);
  if (joint) {
    set_joint(&s);
  } else if (!box) {
    s.count = 1;
    s.high[0] = term->length;
  }
  return s;
}

/* Adds the derivatives of the loss with respect to the link's initial pose and coordinates. g: derivative of the loss
 * with respect to a point of the moved link. point: this point in the link frame [m]. pose: moved pose. The motion
 * starts at the initial coordinates, which therefore enter with the opposite sign. */
static void add_link_seeds(const Sweep* s, Pose pose, Vec3 point, Vec3 g, LossSeeds* seeds) {
  int link = s->term->link;
  Vec3 at = pose_apply(pose, point);
  if (!s->joint) { /* on a straight path all points have equal displacements */
    loss_seed_pose(s->recording, link, 0, point, g, seeds);
    return;
  }
  const ModelLink* l = &s->model->links[link];
  Screw screws[JOINT_MAX_DOF];
  double* rates = seeds->q + row_index(s->recording->selection, s->model, 0, link).dof;
  joint_screws(s->joint, coordinates(s->recording, link), s->base.r, s->start, screws);
  for (int k = 0; k < l->dof_count; k++) rates[k] -= vec3_dot(g, screw_velocity(&screws[k], at));
  loss_seed_pose(s->recording, link, 0, pose_apply_inverse(s->start, at), g, seeds);
}

static void add_nearest_seeds(const Sweep* s, Pose link_pose, const NearestPoints* nearest, double weight,
                              LossSeeds* seeds) {
  Pose pose[2];
  const ModelHull* hulls[2] = {nearest->a, nearest->b};
  WeightedVertices side[2];
  for (int k = 0; k < 2; k++) pose[k] = hulls[k]->link == s->term->link ? link_pose : other_pose(s, hulls[k]);
  find_nearest_vertices(nearest, pose, side);
  for (int k = 0; k < 2; k++) {
    if (side[k].count == 0 || hulls[k]->link < 0) continue;
    Vec3 g = vec3_scale(nearest->normal, k == 0 ? weight : -weight);
    add_nearest_vertex_seeds(hulls[k], &side[k], mat3_tmul_vec(pose[k].r, g), seeds);
    if (s->box) continue;
    if (hulls[k]->link == s->term->link)
      add_link_seeds(s, pose[k], side[k].point, g, seeds);
    else
      loss_seed_pose(s->recording, hulls[k]->link, 0, side[k].point, g, seeds);
  }
}

/* Counts the pairs of a hull of the link and another hull that have the smallest distance. Unless seeds is NULL, adds
 * the derivatives of -weight times the distance of each pair. All pairs contribute, because moving one side of a pin
 * centred in a slot does not increase the clearance. */
static int add_shared_seeds(const Sweep* s, Pose link_pose, double nearest, double weight, LossSeeds* seeds) {
  const ModelLink* link = &s->model->links[s->term->link];
  int count = 0, others = s->box ? 1 : s->model->hull_count;
  for (int i = 0; i < link->hull_count; i++)
    for (int h = 0; h < others; h++) {
      const ModelHull *hull = &s->model->hulls[link->hull_first + i], *other = s->box ? s->box : &s->model->hulls[h];
      if (!is_other_hull(s, other) || (!hull->kind->bounded && !other->kind->bounded)) continue;
      Pose at = other_pose(s, other);
      if (distance_lower_bound(hull, other, link_pose, at) > nearest + DISTANCE_TOLERANCE * s->radius) continue;
      NearestPoints found = find_signed_nearest_points(hull, other, link_pose, at);
      if (found.distance > nearest + DISTANCE_TOLERANCE * s->radius) continue;
      count++;
      if (seeds) add_nearest_seeds(s, link_pose, &found, weight, seeds);
    }
  return count;
}

/* Adds the derivatives of -weight times the smallest distance at coordinates q, shared by all pairs with this distance.
 * distance: smallest distance at q [m]. */
static void add_seeds_at(const Sweep* s, const double* q, double distance, double weight, LossSeeds* seeds) {
  Pose link_pose = swept_pose(s, q);
  add_shared_seeds(s, link_pose, distance, weight / add_shared_seeds(s, link_pose, distance, 0, NULL), seeds);
}

/* Adds derivatives at a kink of the minimum, where two directions of separation have equal depths and opposite slopes
 * with respect to a coordinate. Both sides of the kink have weights with which their slopes cancel. Returns false, and
 * adds nothing, if the minimum is smooth. */
static bool add_fold_seeds(Sweep* s, const double* at, double distance, LossSeeds* seeds) {
  double step = FOLD_OFFSET * (s->high[0] - s->low[0]), slope[2], side[2] = {at[0] - step, at[0] + step}, distances[2];
  if (s->count != 1 || !(distance < 0) || side[0] - step < s->low[0] || side[1] + step > s->high[0]) return false;
  for (int k = 0; k < 2; k++) { /* the kink is near `at` */
    double beyond = side[k] + (k == 0 ? -step : step);
    distances[k] = find_nearest_at(s, &side[k], HUGE_VAL).distance;
    slope[k] = (find_nearest_at(s, &beyond, HUGE_VAL).distance - distances[k]) / step;
  }
  double flat = FOLD_SLOPE_MIN * s->radius;
  if (!(slope[0] > flat && slope[1] > flat)) return false;
  for (int k = 0; k < 2; k++) {
    double weight = s->term->weight * slope[1 - k] / (slope[0] + slope[1]);
    add_seeds_at(s, &side[k], distances[k], weight, seeds);
  }
  return true;
}

static double evaluate_sweep(Sweep* s, LossSeeds* seeds) {
  double at[SWEEP_DOF_MAX], at_least;
  NearestPoints nearest = find_smallest_distance(s, at, &at_least);
  if (seeds && nearest.a && !add_fold_seeds(s, at, nearest.distance, seeds))
    add_seeds_at(s, at, nearest.distance, s->term->weight, seeds);
  return s->term->weight * (s->term->margin - nearest.distance);
}

double loss_clearance(const LossTerm* term, const Recording* recording, LossSeeds* seeds) {
  Sweep s = create_sweep(term, recording, false, true);
  return evaluate_sweep(&s, seeds);
}

double loss_removal(const LossTerm* term, const Recording* recording, LossSeeds* seeds) {
  Sweep s = create_sweep(term, recording, false, false);
  return evaluate_sweep(&s, seeds);
}

double loss_keep_out(const LossTerm* term, const Recording* recording, LossSeeds* seeds) {
  double room[3][8] __attribute__((aligned(64)));
  Vec3 low = term->box_low, high = term->box_high, half = vec3_scale(vec3_sub(high, low), 0.5);
  for (int i = 0; i < 8; i++) {
    room[0][i] = i & 1 ? high.x : low.x;
    room[1][i] = i & 2 ? high.y : low.y;
    room[2][i] = i & 4 ? high.z : low.z;
  }
  ModelHull box = {.kind = recording->model->hulls[term->hulls[0].hull].kind,
                   .link = -1,
                   .points = {room[0], room[1], room[2], 8, 8},
                   .center = vec3_add(low, half),
                   .radius = vec3_norm(half)};
  Sweep s = create_sweep(term, recording, true, false);
  s.box = &box;
  return evaluate_sweep(&s, seeds);
}

SweepReport loss_clearance_report(const LossTerm* term, const Recording* recording) {
  Sweep s = create_sweep(term, recording, false, true);
  SweepReport report = {.count = s.count};
  NearestPoints nearest = find_smallest_distance(&s, report.coordinates, &report.lower_bound);
  report.clearance = nearest.distance;
  return report;
}

/* Returns the reason why a link's joint cannot be swept (static text), or NULL. */
static const char* find_sweep_obstacle(const ModelLink* link) {
  const Joint* joint = &link->joint;
  if (joint->dof_count == 0) return "the joint is fixed: name another link";
  if (joint->quaternion) return "the joint has three rotations: replace the joint by hinges, or use the loss removal";
  if (joint->dof_count > SWEEP_DOF_MAX)
    return "the joint has more than three degrees of freedom: name another link, or use the loss removal";
  for (int k = 0; k < joint->dof_count; k++)
    if (k < joint->slide_count && !(link->limited[k] && isfinite(link->upper[k] - link->lower[k])))
      return "a slide of the joint has no limits: give the slide limits";
  if (joint->kind == &JOINT_KIND_SCREW && !(link->limited[0] && isfinite(link->upper[0] - link->lower[0])))
    return "the joint is a screw without limits: give the screw limits";
  return NULL;
}

bool sweep_is_possible(const Model* model, int link) { return !find_sweep_obstacle(&model->links[link]); }

void loss_clearance_prepare(LossTerm* term, const LossContext* context) {
  const Model* model = context->model;
  const TaskLoss* source = context->source;
  const ModelLink* link = &model->links[term->link];
  const char* why = find_sweep_obstacle(link);
  if (why) {
    loss_report_error(context, source->link.place, "clearance cannot sweep the joint of '%.60s': %s", link->name, why);
    return;
  }
  if (term->other < 0) term->other = link->parent;
  if (term->other < 0) {
    loss_report_error(context, source->place, "'%.60s' has no parent to keep clear of: name another link in 'other'",
                      link->name);
    return;
  }
  for (int k = 0; k < context->task->parameter_count; k++) {
    const TaskParameter* item = &context->task->parameters[k];
    for (int i = 0; i < item->link_count && item->type == PARAMETER_AXIS; i++)
      if (item->links[i].text && strcmp(item->links[i].text, link->name) == 0)
        loss_report_error(
            context, source->place,
            "the axis of '%.60s' is a design variable, and clearance has no derivative with respect to it: "
            "remove the variable",
            link->name);
  }
  loss_gap_prepare(term, context);
}

void loss_removal_prepare(LossTerm* term, const LossContext* context) {
  loss_normalize_direction(context, "direction", &term->direction);
  if (term->other >= 0) {
    loss_gap_prepare(term, context);
    return;
  }
  loss_hulls_prepare(term, context); /* reports a link without vertices */
  for (int h = 0; h < context->model->hull_count; h++)
    if (context->model->hulls[h].link != term->link) return;
  loss_report_error(context, context->source->place,
                    "the scene has no other link from which '%.60s' could be removed: add a link, or remove the loss",
                    context->model->links[term->link].name);
}
