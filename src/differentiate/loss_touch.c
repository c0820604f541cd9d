/* Losses touch and closure.
 * Touch: (delta - margin)^2 + |x_a - t_a|^2 + |x_b - t_b|^2, with delta the distance of two links, x_a and x_b their
 * nearest points (witness.md, V4), and t_a, t_b the targets, if given. For two convex smooth shapes the points are
 * those of the growth distance (growth.md, G5), with exact derivatives. For hulls the derivatives are smoothed (V3) and
 * are not those of the value. Closure: sum over fingers of (gap_i - margin)^2 / length^2, plus max(quality - epsilon,
 * 0)^2, with epsilon the quality of the grasp (grasp.md, V8-V10). */
#include <assert.h>
#include <string.h>

#include "differentiate/loss.h"
#include "query/query.h"

enum { POSE_COLUMNS = QUERY_POSE_COLUMNS };

/* Adds the derivatives of the loss with respect to the pose of a link to `seeds`. slope[6]: derivatives of the loss
 * with respect to a small rotation about `center` (world, [m]) and a translation of the link. */
static void add_twist_seeds(const Recording* r, int link, int step, const double slope[6], Vec3 center,
                            LossSeeds* seeds) {
  assert(step >= 0 && link >= 0 && link < r->model->link_count);
  Pose pose = recording_link_pose(r, step, link);
  Vec3 move = vec3_at(slope + 3), turn = vec3_add(vec3_at(slope), vec3_cross(vec3_sub(center, pose.t), move));
  /* a small rotation w changes the rotation matrix R by the cross-product matrix of w times R */
  Mat3 half = mat3_mul(mat3_scale(mat3_cross(turn), 0.5), pose.r);
  pose_matrix_add(seeds->pose[row_index(seeds->selection, r->model, step, link).pose], half, move);
}

static const ModelHull* smooth_hull(const Model* model, int link) {
  const ModelLink* l = &model->links[link];
  const ModelHull* hull = &model->hulls[l->hull_first];
  return l->hull_count == 1 && hull_is_convex_smooth(hull) ? hull : NULL;
}

/* Nearest points of two convex smooth shapes, and their derivatives with respect to the twist of each shape about
 * its origin. */
typedef struct {
  bool sound,
      known; /* sound: distance and nearest points are defined; known: derivatives of the nearest points exist */
  double gap;
  Vec3 normal, at[2]; /* normal: unit vector from the first to the second shape, world; at: nearest points of both
                         shapes [m, world] */
  Pose pose[2];       /* world poses of both shapes */
  double slope[GAP_ROWS][POSE_COLUMNS];
} SmoothContact;

static SmoothContact find_contact(const Recording* r, int step, const int link[2], bool slopes) {
  const Shape* shape[2];
  SmoothContact m = {.sound = true};
  double work[GROWTH_ROWS * POSE_COLUMNS];
  for (int k = 0; k < 2; k++) {
    const ModelHull* hull = smooth_hull(r->model, link[k]);
    shape[k] = &hull->smooth->field.shape;
    m.pose[k] = pose_mul(recording_link_pose(r, step, link[k]), hull->smooth->pose);
  }
  Growth found = growth_query(shape[0], m.pose[0], shape[1], m.pose[1], NULL);
  m.sound = !found.coincident;
  m.gap = found.gap;
  m.normal = found.normal;
  m.at[0] = found.witness_a;
  m.at[1] = found.witness_b;
  if (!slopes || !m.sound) return m;
  m.known = !growth_gap_derivatives(shape[0], m.pose[0], shape[1], m.pose[1], &found, false, work, m.slope[0]);
  if (m.known) return m;
  growth_gap_gradient(m.pose[0], m.pose[1], &found,
                      m.slope[GAP_VALUE]); /* flat faces: the nearest points count as constant */
  return m;
}

static Vec3 contact_derivative(const SmoothContact* m, int row, int column) {
  assert(row >= 0 && row + 2 < GAP_ROWS && column >= 0 && column < POSE_COLUMNS);
  return vec3(m->slope[row][column], m->slope[row + 1][column], m->slope[row + 2][column]);
}

/* Returns the velocity of the point x, fixed to shape `side`, for unit velocity of a twist component (column).
 * Components of the other shape give zero. */
static Vec3 point_velocity(const SmoothContact* m, int side, Vec3 x, int column) {
  Vec3 e = vec3_axis(column);
  if (column / 6 != side) return vec3(0, 0, 0);
  return column % 6 >= 3 ? e : vec3_cross(e, vec3_sub(x, m->pose[side].t));
}

static double evaluate_smooth(const LossTerm* term, const Recording* r, int step, double share, LossSeeds* seeds) {
  const int link[2] = {term->link, term->other};
  SmoothContact m = find_contact(r, step, link, seeds != NULL);
  if (!m.sound) return NAN;
  double off = m.gap - term->margin, sum = off * off, slope[POSE_COLUMNS];
  Vec3 wanted[2], apart[2] = {{0, 0, 0}, {0, 0, 0}};
  for (int k = 0; k < 2; k++) {
    wanted[k] = pose_apply(recording_link_pose(r, step, link[k]), k == 0 ? term->point : term->target);
    if (k == 0 ? term->has_point : term->has_target) apart[k] = vec3_sub(m.at[k], wanted[k]);
    sum += vec3_dot(apart[k], apart[k]);
  }
  if (!seeds) return sum;
  for (int c = 0; c < POSE_COLUMNS; c++) {
    slope[c] = 2 * off * m.slope[GAP_VALUE][c];
    for (int k = 0; k < 2; k++) {
      Vec3 dx = contact_derivative(&m, k == 0 ? GAP_WITNESS_A : GAP_WITNESS_B, c);
      slope[c] += 2 * vec3_dot(apart[k], vec3_sub(dx, point_velocity(&m, k, wanted[k], c)));
    }
    slope[c] *= share;
  }
  for (int k = 0; k < 2; k++) add_twist_seeds(r, link[k], step, slope + 6 * k, m.pose[k].t, seeds);
  return sum;
}

static double evaluate_hulls(const LossTerm* term, const Recording* r, int step, double share, LossSeeds* seeds) {
  const int link[2] = {term->link, term->other};
  Pose pose[2];
  for (int k = 0; k < 2; k++) pose[k] = recording_link_pose(r, step, link[k]);
  const Vec3 targets[2] = {term->point, term->target};
  WitnessOptions options = {
      .score = WITNESS_BY_DISTANCE, .sampling = WITNESS_ADAPTIVE, .estimate = WITNESS_SMOOTHED, .margin = term->margin};
  Witness found = witness_query(&term->bodies[0], pose[0], &term->bodies[1], pose[1], &options, targets, NULL);
  WitnessLoss loss = witness_loss(&found, pose[0], pose[1], targets, term->margin);
  for (int k = 0; seeds && k < 2; k++) {
    double slope[6];
    for (int i = 0; i < 6; i++) slope[i] = share * loss.gradient[k][i];
    add_twist_seeds(r, link[k], step, slope, pose[k].t, seeds);
  }
  return loss.value;
}

double loss_touch(const LossTerm* term, const Recording* recording, LossSeeds* seeds) {
  double sum = 0, share = loss_state_weight(term);
  for (int k = term->first; k <= term->last; k++)
    sum += (term->bodies ? evaluate_hulls : evaluate_smooth)(term, recording, k, share, seeds);
  return share * sum;
}

static WitnessBody create_body(const Model* model, int link) {
  const ModelLink* l = &model->links[link];
  ConvexHull* hulls = MEMORY_NEW(ConvexHull, l->hull_count);
  for (int k = 0; k < l->hull_count; k++) hulls[k] = model->hulls[l->hull_first + k].solid;
  WitnessBody body = witness_body_create(hulls, l->hull_count, WITNESS_SURFACE);
  memory_free(hulls);
  return body;
}

/* Returns true if no shape is a design variable. Otherwise adds an error, because the loss has no derivatives with
 * respect to shapes. */
static bool shapes_are_constant(const LossContext* context) {
  bool stay = context->task->vertices_count == 0;
  for (int k = 0; k < context->task->parameter_count; k++) {
    TaskParameterType type = context->task->parameters[k].type;
    stay = stay && type != PARAMETER_SHAPE_SIZE && type != PARAMETER_SHAPE_FORM;
  }
  if (!stay)
    loss_report_error(
        context, context->source->place,
        "the loss has no derivatives with respect to shapes: remove shapes from the design variables of the task");
  return stay;
}

static bool has_bounded_hulls(const Model* model, int link) {
  const ModelLink* l = &model->links[link];
  bool all = l->hull_count > 0;
  for (int k = 0; k < l->hull_count; k++) all = all && model->hulls[l->hull_first + k].kind == &SOLID_HULL;
  return all;
}

void loss_touch_prepare(LossTerm* term, const LossContext* context) {
  const Model* model = context->model;
  if (!shapes_are_constant(context)) return;
  if (term->links) loss_report_error(context, context->source->place, "the loss touch takes one 'link', not 'links'");
  if (smooth_hull(model, term->link) && smooth_hull(model, term->other)) return;
  if (!has_bounded_hulls(model, term->link) || !has_bounded_hulls(model, term->other))
    loss_report_error(context, context->source->place,
                      "the loss touch needs one smooth convex shape on each link, or convex hulls on both links (no "
                      "half_space, no triangles)");
  else if (!term->has_point || !term->has_target)
    loss_report_error(
        context, context->source->place,
        "the loss touch needs both 'point' and 'target', because the links have hulls instead of one smooth shape");
  if (context->diagnostics->error_count > 0) return;
  term->bodies = MEMORY_NEW(WitnessBody, 2);
  term->bodies[0] = create_body(model, term->link);
  term->bodies[1] = create_body(model, term->other);
}

void loss_touch_free(LossTerm* term) {
  for (int k = 0; term->bodies && k < 2; k++) witness_body_free(&term->bodies[k]);
  memory_free(term->bodies);
}

enum { FINGERS_MAX = 16 };

typedef struct {
  SmoothContact finger_contact[FINGERS_MAX]; /* from finger to object */
  GraspContact contact[FINGERS_MAX];
  GraspSettings settings;
  GraspQuality quality;
} Grasp;

static bool find_grasp(const LossTerm* term, const Recording* r, int step, bool slopes, Grasp* h) {
  h->settings = (GraspSettings){term->friction, smooth_hull(r->model, term->other)->smooth->field.shape.outer};
  for (int i = 0; i < term->link_count; i++) {
    const int link[2] = {term->links[i], term->other};
    h->finger_contact[i] = find_contact(r, step, link, slopes);
    if (!h->finger_contact[i].sound) return false;
    h->contact[i] = (GraspContact){vec3_sub(h->finger_contact[i].at[1], h->finger_contact[i].pose[1].t),
                                   h->finger_contact[i].normal};
  }
  h->quality = grasp_quality(h->contact, term->link_count, &h->settings);
  return true;
}

static void add_grasp_seeds(const LossTerm* term, const Recording* r, int step, double share, const Grasp* h,
                            double deficit, LossSeeds* seeds) {
  double square = term->length * term->length;
  for (int i = 0; i < term->link_count; i++) {
    const SmoothContact* m = &h->finger_contact[i];
    double slope[POSE_COLUMNS];
    for (int c = 0; c < POSE_COLUMNS; c++) {
      Vec3 arm = vec3_sub(contact_derivative(m, GAP_WITNESS_B, c),
                          c >= 9 ? point_velocity(m, 1, m->pose[1].t, c) : vec3(0, 0, 0));
      slope[c] = 2 * (m->gap - term->margin) / square * m->slope[GAP_VALUE][c];
      if (deficit > 0)
        slope[c] -=
            2 * deficit *
            grasp_quality_slope(&h->quality, h->contact, &h->settings, i, arm, contact_derivative(m, GAP_NORMAL, c));
      slope[c] *= share;
    }
    add_twist_seeds(r, term->links[i], step, slope, m->pose[0].t, seeds);
    add_twist_seeds(r, term->other, step, slope + 6, m->pose[1].t, seeds);
  }
}

double loss_closure(const LossTerm* term, const Recording* recording, LossSeeds* seeds) {
  assert(term->links);
  if (term->link != term->links[0]) return 0; /* the call for the first link evaluates the term for all links */
  double sum = 0, share = loss_state_weight(term);
  for (int k = term->first; k <= term->last; k++) {
    Grasp h;
    if (!find_grasp(term, recording, k, seeds != NULL, &h)) return NAN;
    double deficit = fmax(0, term->quality - h.quality.epsilon);
    sum += deficit * deficit;
    for (int i = 0; i < term->link_count; i++) {
      double off = (h.finger_contact[i].gap - term->margin) / term->length;
      sum += off * off;
    }
    if (seeds) add_grasp_seeds(term, recording, k, share, &h, deficit, seeds);
  }
  return share * sum;
}

void loss_closure_prepare(LossTerm* term, const LossContext* context) {
  const Model* model = context->model;
  if (!shapes_are_constant(context)) return;
  if (term->link_count < 2 || term->link_count > FINGERS_MAX) {
    loss_report_error(context, context->source->place,
                      "the loss closure needs 2 to %d 'links' that hold 'other', got %d", FINGERS_MAX,
                      term->link_count);
    return;
  }
  bool smooth = smooth_hull(model, term->other);
  for (int k = 0; k < term->link_count; k++) smooth = smooth && smooth_hull(model, term->links[k]);
  if (!smooth)
    loss_report_error(context, context->source->place,
                      "the loss closure needs exactly one smooth convex shape on each link");
}
