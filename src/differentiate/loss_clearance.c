/* Losses clearance, removal and keep_out: margin minus the smallest distance between the hulls of a link and other
 * hulls. A distance is negative where hulls overlap. The smallest distance is taken over positions of the link, while
 * all other links stay at their initial poses. The positions are all joint coordinates within their limits (clearance),
 * a straight path (removal), or the initial position (keep_out).
 * Pose of a swept link: T(q) = T_0 M(q_0)^-1 M(q), with M the motion of the joint at coordinates q, and T_0, q_0 the
 * initial pose and coordinates.
 * The search halves boxes of coordinates. The distance at the centre of a box gives a lower bound for the whole box
 * (docs/derivations/certificate.md, P1, P8). The box with the lowest bound is halved until no box can contain a smaller
 * distance than the smallest found. At the minimum the derivative of the distance with respect to q is zero, or q is at
 * a limit. */
#include <string.h>

#include "differentiate/nearest.h"
#include "differentiate/sweep.h"

/* The search discards a box if its lower bound is above the smallest distance found, minus this tolerance. Unit: size
 * of the link. */
#define SWEEP_ROUNDING 1e-3
/* Two distances count as equal if they differ by less than this tolerance. Unit: size of the link. */
#define LEVEL 1e-6
/* The refinement of a minimum ends when the step length is at most this fraction of the coordinate range. */
#define REFINED 1e-14
/* Parameters of the test for a kink at the minimum. FOLD: offset from the minimum at which the distance is evaluated on
 * both sides, as a fraction of the coordinate range. FOLD_FLAT: if both slopes are smaller, the minimum is smooth.
 * Unit: size of the link per unit of the coordinate. */
#define FOLD 1e-7
#define FOLD_FLAT 1e-3
/* PLACES_MAX: largest number of evaluated positions. GRID: grid points per coordinate, by number of coordinates. */
enum { PLACES_MAX = 20000 };
static const int GRID[SWEEP_DOF_MAX + 1] = {1, 33, 9, 5};

typedef struct {
  const LossTerm* term;
  const Model* model;
  const Recording* recording;
  const ModelHull* box; /* box that replaces other links for keep_out, with link -1 */
  const Joint* joint;   /* joint of the sweep; NULL for a straight path along the term's direction */
  Pose start, base;     /* start: initial pose of the link; base: pose of its joint frame without the joint's motion */
  double low[SWEEP_DOF_MAX], high[SWEEP_DOF_MAX],
      radius; /* range of the coordinates; radius of the link's vertices about its frame [m] */
  int count, places;
} Sweep;

/* ---------------------------------------------------------------- poses */

static Pose pose_of(const Sweep* s, const double* q) {
  Pose out = s->start;
  if (s->joint) return pose_mul(s->base, joint_motion(s->joint, q));
  if (s->count > 0) out.t = vec3_add_scaled(out.t, q[0], s->term->direction);
  return out;
}

static Pose pose_of_other(const Sweep* s, const ModelHull* other) {
  return s->box ? s->start : recording_link_pose(s->recording, 0, other->link);
}

static bool is_other(const Sweep* s, const ModelHull* hull) {
  const LossTerm* term = s->term;
  return s->box || (term->other >= 0 ? hull->link == term->other : hull->link != term->link);
}

/* ---------------------------------------------------------------- bounding boxes */

typedef struct {
  double middle[SWEEP_DOF_MAX], half[SWEEP_DOF_MAX];
  double below; /* lower bound of the distance over the box */
} SweepBox;

/* Bounds on the motion of the link from the centre of a box to any point of the box. */
typedef struct {
  SweepBox* box;
  double way;  /* largest displacement of a vertex [m] */
  double bend; /* deviation of a vertex from its straight path, relative to its distance from the link frame */
  JointReach reach;
  Screw screws[JOINT_MAX_DOF];
} Around;

/* Returns the largest displacement [m] of a vertex of the link, from the centre of a box of coordinates to any point of
 * the box. middle, half: centre and half widths of the box (count). */
static double way_within(const Sweep* s, const double* middle, const double* half) {
  if (s->count == 0) return 0;
  if (!s->joint) return half[0];
  JointReach reach = joint_reach(s->joint, middle, half);
  return reach.slide + reach.spin * s->radius;
}

static Around around(const Sweep* s, SweepBox* box, Pose pose) {
  Around a = {.box = box, .way = way_within(s, box->middle, box->half)};
  if (s->joint) {
    a.reach = joint_reach(s->joint, box->middle, box->half);
    a.bend = (a.reach.spin * a.reach.spin + a.reach.spin_rate) / 2;
    joint_screws(s->joint, box->middle, s->base.r, pose, a.screws);
  } else if (s->count > 0) {
    a.reach.slide = box->half[0];
    a.screws[0] = (Screw){.v = s->term->direction};
  }
  return a;
}

/* (P8) Returns a lower bound of the distance of two hulls over a box of coordinates. The bound is the gap along the
 * normal of the nearest points at the centre of the box. pose: pose of the link at the centre. */
static double pair_below(const Sweep* s, const Around* a, const NearestPoints* nearest, Pose pose) {
  const ModelHull* own = nearest->a->link == s->term->link ? nearest->a : nearest->b;
  Vec3 out = vec3_scale(nearest->normal, own == nearest->a ? -1 : 1);
  double lowest = HUGE_VAL, lowest_around = HUGE_VAL;
  for (int i = 0; i < own->points.count; i++) {
    Vec3 point = point_at(own->points, i), x = pose_apply(pose, point);
    double height = vec3_dot(out, vec3_sub(x, pose.t)), arm = vec3_norm(point), straight = a->bend * arm;
    for (int k = 0; k < s->count; k++)
      straight += fabs(vec3_dot(out, screw_velocity(&a->screws[k], x))) * a->box->half[k];
    lowest = fmin(lowest, height);
    lowest_around = fmin(lowest_around, height - fmin(straight, a->reach.slide + a->reach.spin * arm));
  }
  if (!(vec3_dot(out, out) > 0) || own->points.count == 0) return nearest->distance - a->way;
  return nearest->distance + lowest_around - lowest;
}

/* ---------------------------------------------------------------- distances */

/* Updates *best if a hull of the link at `pose` is nearer to `other` than best->distance. If a is not NULL, also
 * updates the lower bound of its box. Returns false if a pose is not finite. */
static bool look_at(const Sweep* s, const ModelHull* other, Pose pose, NearestPoints* best, Around* a) {
  const ModelLink* link = &s->model->links[s->term->link];
  Pose pose_other = pose_of_other(s, other);
  for (int i = 0; i < link->hull_count; i++) {
    const ModelHull* own = &s->model->hulls[link->hull_first + i];
    if (!own->kind->bounded && !other->kind->bounded) continue;
    double bound = distance_lower_bound(own, other, pose, pose_other);
    if (isnan(bound)) return false;
    if (bound >= best->distance + (a ? a->way : 0)) continue;
    NearestPoints found = find_signed_nearest_points(own, other, pose, pose_other);
    if (a && found.distance - a->way < a->box->below)
      a->box->below = fmin(a->box->below, pair_below(s, a, &found, pose));
    if (found.distance < best->distance) *best = found;
  }
  return true;
}

static NearestPoints look_from(Sweep* s, Pose pose, double limit, Around* a) {
  NearestPoints best = {.distance = limit};
  bool sound = true;
  s->places++;
  if (s->box) sound = look_at(s, s->box, pose, &best, a);
  for (int h = 0; h < s->model->hull_count && sound && !s->box; h++) {
    const ModelHull* hull = &s->model->hulls[h];
    if (is_other(s, hull)) sound = look_at(s, hull, pose, &best, a);
  }
  if (!sound) best = (NearestPoints){.distance = NAN};
  return best;
}

/* Places the link at coordinates q and returns the smallest distance of its hulls from the other hulls. Distances above
 * `limit` may be inexact. */
static NearestPoints distance_at(Sweep* s, const double* q, double limit) {
  return look_from(s, pose_of(s, q), limit, NULL);
}

/* Places the link at the centre of a box and returns the smallest distance of its hulls from the other hulls. Sets
 * box->below to the lower bound over the box, or to `limit` if the bound is larger. */
static NearestPoints distance_in(Sweep* s, SweepBox* box, double limit) {
  Pose pose = pose_of(s, box->middle);
  Around a = around(s, box, pose);
  box->below = limit;
  return look_from(s, pose, limit, &a);
}

/* ---------------------------------------------------------------- smallest clearance */

static void keep_less(NearestPoints* best, double* at, NearestPoints found, const double* q) {
  if (!(found.distance < best->distance)) return;
  *best = found;
  memcpy(at, q, sizeof(double) * SWEEP_DOF_MAX);
}

/* Evaluates the distance on a grid that includes both ends of each coordinate. Sets *best and `at` to the smallest
 * distance and its coordinates. */
static void look_at_grid(Sweep* s, NearestPoints* best, double* at) {
  int side = GRID[s->count], count = 1;
  for (int k = 0; k < s->count; k++) count *= side;
  for (int i = 0; i < count; i++) {
    double q[SWEEP_DOF_MAX] = {0};
    for (int k = 0, rest = i; k < s->count; k++, rest /= side)
      q[k] = s->low[k] + (s->high[k] - s->low[k]) * (rest % side) / (side - 1);
    NearestPoints found = distance_at(s, q, best->distance);
    if (isnan(found.distance)) {
      *best = found;
      return;
    }
    keep_less(best, at, found, q);
  }
}

/* Refines a minimum by steps along single coordinates. Halves the steps if none gives a smaller distance. */
static void refine(Sweep* s, NearestPoints* best, double* at) {
  for (double part = 1.0 / (GRID[s->count] - 1); s->count > 0 && part > REFINED;) {
    bool moved = false;
    for (int k = 0; k < 2 * s->count; k++) {
      double q[SWEEP_DOF_MAX], step = (k % 2 ? -part : part) * (s->high[k / 2] - s->low[k / 2]);
      memcpy(q, at, sizeof q);
      q[k / 2] = fmin(fmax(q[k / 2] + step, s->low[k / 2]), s->high[k / 2]);
      double before = best->distance;
      keep_less(best, at, distance_at(s, q, before), q);
      moved = moved || best->distance < before;
    }
    if (!moved) part /= 2;
  }
}

/* Returns the coordinate along which the link moves most within a box. */
static int widest_side(const Sweep* s, const SweepBox* box) {
  int widest = 0;
  double most = -1;
  for (int k = 0; k < s->count; k++) {
    double alone[SWEEP_DOF_MAX] = {0};
    alone[k] = box->half[k];
    double way = way_within(s, box->middle, alone);
    if (way > most) most = way, widest = k;
  }
  return widest;
}

/* Binary heap of boxes, ordered by lower bound. The children of entry k are 2k + 1 and 2k + 2. */
typedef struct {
  SweepBox* box;
  int count, capacity;
} BoxHeap;

static void heap_push(BoxHeap* heap, const SweepBox* box) {
  heap->box = memory_grow_array(heap->box, sizeof *box, heap->count, &heap->capacity);
  int k = heap->count++;
  for (; k > 0 && heap->box[(k - 1) / 2].below > box->below; k = (k - 1) / 2) heap->box[k] = heap->box[(k - 1) / 2];
  heap->box[k] = *box;
}

static SweepBox heap_pop(BoxHeap* heap) {
  SweepBox top = heap->box[0], last = heap->box[--heap->count];
  int k = 0;
  for (int below; (below = 2 * k + 1) < heap->count; k = below) {
    if (below + 1 < heap->count && heap->box[below + 1].below < heap->box[below].below) below++;
    if (heap->box[below].below >= last.below) break;
    heap->box[k] = heap->box[below];
  }
  heap->box[k] = last;
  return top;
}

/* Returns a lower bound of the distance over the whole range of the coordinates. Updates *best and `at` if it finds a
 * smaller distance. */
static double bound_all(Sweep* s, NearestPoints* best, double* at) {
  if (s->count == 0) return best->distance;
  BoxHeap heap = {0};
  SweepBox box = {.below = -HUGE_VAL};
  double rounding = SWEEP_ROUNDING * s->radius;
  for (int k = 0; k < s->count; k++) {
    box.middle[k] = (s->low[k] + s->high[k]) / 2;
    box.half[k] = (s->high[k] - s->low[k]) / 2;
  }
  heap_push(&heap, &box);
  while (s->places < PLACES_MAX && heap.box[0].below < best->distance - rounding) {
    box = heap_pop(&heap);
    int k = widest_side(s, &box);
    box.half[k] /= 2;
    for (int side = -1; side <= 1; side += 2) {
      SweepBox half = box;
      half.middle[k] += side * box.half[k];
      keep_less(best, at, distance_in(s, &half, best->distance), half.middle);
      heap_push(&heap, &half);
    }
  }
  double least = heap.box[0].below;
  memory_free(heap.box);
  return fmin(least, best->distance);
}

static NearestPoints least_of(Sweep* s, double* at, double* at_least) {
  NearestPoints best = {.distance = HUGE_VAL};
  memset(at, 0, sizeof(double) * SWEEP_DOF_MAX);
  look_at_grid(s, &best, at);
  *at_least = best.distance;
  if (isnan(best.distance)) return best;
  refine(s, &best, at);
  double refined = best.distance;
  *at_least = bound_all(s, &best, at);
  if (best.distance < refined) refine(s, &best, at);
  return best;
}

/* ---------------------------------------------------------------- swept links */

static double reach_of(const Model* model, int link) {
  double reach = 0;
  for (int i = 0; i < model->links[link].hull_count; i++) {
    const ModelHull* hull = &model->hulls[model->links[link].hull_first + i];
    for (int k = 0; k < hull->points.count; k++) reach = fmax(reach, vec3_norm(point_at(hull->points, k)));
  }
  return reach;
}

static const double* coordinates(const Recording* recording, int link) {
  return recording->q + row_index(recording->keep, recording->model, 0, link).coordinate;
}

/* Sets the joint of the sweep and the range of its coordinates. A hinge without limits makes a full revolution.
 * loss_clearance_prepare excludes other joints without limits. */
static void take_joint(Sweep* s) {
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

static Sweep sweep_of(const LossTerm* term, const Recording* recording, bool box, bool joint) {
  Sweep s = {.term = term, .model = recording->model, .recording = recording};
  s.start = box ? pose_identity() : recording_link_pose(recording, 0, term->link);
  s.radius = reach_of(s.model, term->link);
  if (joint) {
    take_joint(&s);
  } else if (!box) {
    s.count = 1;
    s.high[0] = term->length;
  }
  return s;
}

/* ---------------------------------------------------------------- slopes */

/* Applies the chain rule to g = dL/dx, x: a point of the link at the swept pose. Adds the derivative with respect to
 * the link's initial pose, on which the swept pose depends, and to its initial coordinates, with the opposite sign.
 * point: x in the link frame [m]. pose: swept pose. */
static void seed_link(const Sweep* s, Pose pose, Vec3 point, Vec3 g, LossSeeds* seeds) {
  int link = s->term->link;
  Vec3 at = pose_apply(pose, point);
  if (!s->joint) { /* on a straight path all points have equal displacements */
    loss_seed_pose(s->recording, link, 0, point, g, seeds);
    return;
  }
  const ModelLink* l = &s->model->links[link];
  Screw screws[JOINT_MAX_DOF];
  double* rates = seeds->q + row_index(s->recording->keep, s->model, 0, link).dof;
  joint_screws(s->joint, coordinates(s->recording, link), s->base.r, s->start, screws);
  for (int k = 0; k < l->dof_count; k++) rates[k] -= vec3_dot(g, screw_velocity(&screws[k], at));
  loss_seed_pose(s->recording, link, 0, pose_apply_inverse(s->start, at), g, seeds);
}

static void seed(const Sweep* s, Pose own, const NearestPoints* nearest, double weight, LossSeeds* seeds) {
  Pose pose[2];
  const ModelHull* hulls[2] = {nearest->a, nearest->b};
  WeightedVertices side[2];
  for (int k = 0; k < 2; k++) pose[k] = hulls[k]->link == s->term->link ? own : pose_of_other(s, hulls[k]);
  find_nearest_vertices(nearest, pose, side);
  for (int k = 0; k < 2; k++) {
    if (side[k].count == 0 || hulls[k]->link < 0) continue;
    Vec3 g = vec3_scale(nearest->normal, k == 0 ? weight : -weight);
    add_nearest_vertex_seeds(hulls[k], &side[k], mat3_tmul_vec(pose[k].r, g), seeds);
    if (s->box) continue;
    if (hulls[k]->link == s->term->link)
      seed_link(s, pose[k], side[k].point, g, seeds);
    else
      loss_seed_pose(s->recording, hulls[k]->link, 0, side[k].point, g, seeds);
  }
}

/* Distributes the derivative equally over all pairs of hulls with the smallest distance, up to rounding. For a pin
 * centred in a slot, moving one side alone does not increase the clearance. Returns the number of these pairs. Unless
 * seeds is NULL, adds the derivatives of -weight times the distance of each pair. */
static int share(const Sweep* s, Pose own, double nearest, double weight, LossSeeds* seeds) {
  const ModelLink* link = &s->model->links[s->term->link];
  int count = 0, others = s->box ? 1 : s->model->hull_count;
  for (int i = 0; i < link->hull_count; i++)
    for (int h = 0; h < others; h++) {
      const ModelHull *hull = &s->model->hulls[link->hull_first + i], *other = s->box ? s->box : &s->model->hulls[h];
      if (!is_other(s, other) || (!hull->kind->bounded && !other->kind->bounded)) continue;
      Pose at = pose_of_other(s, other);
      if (distance_lower_bound(hull, other, own, at) > nearest + LEVEL * s->radius) continue;
      NearestPoints found = find_signed_nearest_points(hull, other, own, at);
      if (found.distance > nearest + LEVEL * s->radius) continue;
      count++;
      if (seeds) seed(s, own, &found, weight, seeds);
    }
  return count;
}

/* Adds the derivatives of -weight times the smallest distance with the link at coordinates q. distance: smallest
 * distance at q [m]. */
static void seed_at(const Sweep* s, const double* q, double distance, double weight, LossSeeds* seeds) {
  Pose own = pose_of(s, q);
  share(s, own, distance, weight / share(s, own, distance, 0, NULL), seeds);
}

/* Adds derivatives at a fold: a minimum over a coordinate where two directions of separation have the same depth and
 * opposite slopes. A penetration depth is a maximum over directions, so such minima occur. The weights of both sides,
 * (a) and (b), cancel the slope with respect to the coordinate. Returns false, and adds nothing, if there is no fold.
 */
static bool seed_fold(Sweep* s, const double* at, double distance, LossSeeds* seeds) {
  double step = FOLD * (s->high[0] - s->low[0]), slope[2], side[2] = {at[0] - step, at[0] + step}, there[2];
  if (s->count != 1 || !(distance < 0) || side[0] - step < s->low[0] || side[1] + step > s->high[0]) return false;
  for (int k = 0; k < 2; k++) { /* `at` is within a fraction of a step of the fold */
    double beyond = side[k] + (k == 0 ? -step : step);
    there[k] = distance_at(s, &side[k], HUGE_VAL).distance;
    slope[k] = (distance_at(s, &beyond, HUGE_VAL).distance - there[k]) / step;
  }
  double flat = FOLD_FLAT * s->radius;
  if (!(slope[0] > flat && slope[1] > flat)) return false;
  for (int k = 0; k < 2; k++) {
    double weight = s->term->weight * slope[1 - k] / (slope[0] + slope[1]);
    seed_at(s, &side[k], there[k], weight, seeds);
  }
  return true;
}

static double evaluate(Sweep* s, LossSeeds* seeds) {
  double at[SWEEP_DOF_MAX], at_least;
  NearestPoints nearest = least_of(s, at, &at_least);
  if (seeds && nearest.a && !seed_fold(s, at, nearest.distance, seeds))
    seed_at(s, at, nearest.distance, s->term->weight, seeds);
  return s->term->weight * (s->term->margin - nearest.distance);
}

double loss_clearance(const LossTerm* term, const Recording* recording, LossSeeds* seeds) {
  Sweep s = sweep_of(term, recording, false, true);
  return evaluate(&s, seeds);
}

double loss_removal(const LossTerm* term, const Recording* recording, LossSeeds* seeds) {
  Sweep s = sweep_of(term, recording, false, false);
  return evaluate(&s, seeds);
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
  Sweep s = sweep_of(term, recording, true, false);
  s.box = &box;
  return evaluate(&s, seeds);
}

SweepReport loss_clearance_report(const LossTerm* term, const Recording* recording) {
  Sweep s = sweep_of(term, recording, false, true);
  SweepReport report = {.count = s.count};
  NearestPoints nearest = least_of(&s, report.at, &report.at_least);
  report.clearance = nearest.distance;
  return report;
}

/* ---------------------------------------------------------------- checks */

/* Returns the reason why the joint of a link cannot be swept (static text), or NULL if it can. */
static const char* cannot_sweep(const ModelLink* link) {
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

bool sweep_is_possible(const Model* model, int link) { return !cannot_sweep(&model->links[link]); }

void loss_clearance_prepare(LossTerm* term, const LossContext* origin) {
  const Model* model = origin->model;
  const TaskLoss* source = origin->source;
  const ModelLink* link = &model->links[term->link];
  const char* why = cannot_sweep(link);
  if (why) {
    loss_report_error(origin, source->link.place, "clearance cannot sweep the joint of '%.60s': %s", link->name, why);
    return;
  }
  if (term->other < 0) term->other = link->parent;
  if (term->other < 0) {
    loss_report_error(origin, source->place, "'%.60s' has no parent: give the link to clear as 'other'", link->name);
    return;
  }
  for (int k = 0; k < origin->task->parameter_count; k++) {
    const TaskParameter* item = &origin->task->parameters[k];
    for (int i = 0; i < item->link_count && item->type == PARAMETER_AXIS; i++)
      if (item->links[i].text && strcmp(item->links[i].text, link->name) == 0)
        loss_report_error(
            origin, source->place,
            "the axis of '%.60s' is a design variable, and clearance has no derivative with respect to it: "
            "remove the variable",
            link->name);
  }
  loss_gap_prepare(term, origin);
}

void loss_removal_prepare(LossTerm* term, const LossContext* origin) {
  loss_normalize_direction(origin, "direction", &term->direction);
  if (term->other >= 0) {
    loss_gap_prepare(term, origin);
    return;
  }
  loss_hulls_prepare(term, origin); /* reports a link without vertices */
  for (int h = 0; h < origin->model->hull_count; h++)
    if (origin->model->hulls[h].link != term->link) return;
  loss_report_error(origin, origin->source->place,
                    "the scene has no other link from which '%.60s' could be removed: add a link, or remove the loss",
                    origin->model->links[term->link].name);
}
