/* Finds hulls that intersect, touch or nearly touch in the initial state. A sweep along one axis selects pairs of
 * overlapping boxes. The gap of a pair is computed by GJK. */
#include <assert.h>
#include <stdlib.h>
#include "model/build.h"
#include "model/contact_fits.h"
#include "model/lift.h"
#include "model/tree.h"

enum { MESSAGES_MAX = 20 }; /* largest number of messages of one kind */

/* Limits for the gaps of two hulls in the initial state, because contact forces grow without limit at zero gap.
 * GAP_TOUCH is relative to the barrier distance; a smaller gap is an error, because the forces overflow. GAP_NARROW is
 * relative to the equilibrium gap; a smaller gap gives a warning, because the forces are thousands of times the weight.
 */
#define GAP_TOUCH 1e-3
#define GAP_NARROW 0.25
/* Gap below which a warning is given, relative to the equilibrium gap under the weight of all bodies. This fraction is
 * larger than GAP_NARROW because under some laws the equilibrium gap falls with the square root of the load. */
#define GAP_NARROW_UNDER_ALL 0.5

typedef struct {
  int hull;
  Vec3 low, high;
} HullBox;

typedef struct {
  int link_a, link_b; /* a < b */
  int hull_a, hull_b;
  double gap; /* gap [m]; 0 if two bounded hulls intersect; for a half-space, minus the depth of the overlap */
} HullPair;

typedef struct {
  const Model* model;
  Diagnostics* diagnostics;
  Pose* poses;
  double touch, narrow; /* gaps below which hulls touch, or nearly touch [m] */
  HullPair* pairs;      /* pairs of hulls with a gap below `narrow` */
  int count, capacity;
} TouchSearch;

double touch_depth(const Model* model) { return GAP_TOUCH * model->contact.support; }

static void append_pair(TouchSearch* search, int hull_a, int hull_b, double gap) {
  const ModelHull* hulls = search->model->hulls;
  if (!(gap < search->narrow)) return;
  search->pairs = memory_grow_array(search->pairs, sizeof(HullPair), search->count, &search->capacity);
  bool swap = hulls[hull_a].link > hulls[hull_b].link;
  int first = swap ? hull_b : hull_a, second = swap ? hull_a : hull_b;
  search->pairs[search->count++] = (HullPair){hulls[first].link, hulls[second].link, first, second, gap};
}

static HullBox world_box(const ModelHull* hull, int index, Pose pose, double margin) {
  RoundBody body = hull_contact_geometry(hull);
  double reach[6];
  for (int k = 0; k < 6; k++) {
    double side = k < 3 ? 1 : -1;
    Vec3 axis = vec3(k % 3 == 0 ? side : 0, k % 3 == 1 ? side : 0, k % 3 == 2 ? side : 0);
    reach[k] = vec3_dot(axis, pose.t) + round_support(&body, mat3_tmul_vec(pose.r, axis), NULL) + margin;
  }
  return (HullBox){index, vec3(-reach[3], -reach[4], -reach[5]), vec3(reach[0], reach[1], reach[2])};
}

static int collect_boxes(const TouchSearch* search, HullBox* boxes) {
  int count = 0;
  for (int i = 0; i < search->model->hull_count; i++) {
    const ModelHull* hull = &search->model->hulls[i];
    if (!hull->kind->bounded || !search->model->links[hull->link].collide) continue;
    boxes[count++] = world_box(hull, i, search->poses[hull->link], 0.5 * search->narrow);
  }
  return count;
}

/* Permutes the components of v cyclically, so that the component along `axis` is first. The search for pairs sorts
 * boxes along this axis, the axis of largest extent. */
static Vec3 permute_axes(Vec3 v, int axis) {
  return axis == 0 ? v : axis == 1 ? vec3(v.y, v.z, v.x) : vec3(v.z, v.x, v.y);
}

static int widest_axis(const HullBox* boxes, int count) {
  Vec3 sum = {0, 0, 0}, squares = {0, 0, 0};
  for (int i = 0; i < count; i++) {
    Vec3 center = vec3_scale(vec3_add(boxes[i].low, boxes[i].high), 0.5);
    sum = vec3_add(sum, center);
    squares = vec3_add(squares, vec3(center.x * center.x, center.y * center.y, center.z * center.z));
  }
  double n = count > 0 ? count : 1;
  Vec3 spread = vec3(squares.x - sum.x * sum.x / n, squares.y - sum.y * sum.y / n, squares.z - sum.z * sum.z / n);
  if (spread.x >= spread.y && spread.x >= spread.z) return 0;
  return spread.y >= spread.z ? 1 : 2;
}

static int compare_boxes(const void* left, const void* right) {
  const HullBox *a = left, *b = right;
  if (a->low.x != b->low.x) return a->low.x < b->low.x ? -1 : 1;
  return (a->hull > b->hull) - (a->hull < b->hull);
}

static bool boxes_overlap(const HullBox* a, const HullBox* b) {
  return a->low.y <= b->high.y && b->low.y <= a->high.y && a->low.z <= b->high.z && b->low.z <= a->high.z;
}

/* Returns the gap between two hulls [m]: distance of their cores minus both rounding radii, negative for an overlap.
 * Overlapping cores have the distance 0. */
static double hull_gap(const TouchSearch* search, const ModelHull* a, const ModelHull* b) {
  RoundBody core_a = hull_contact_geometry(a), core_b = hull_contact_geometry(b);
  double round = core_a.rounding + core_b.rounding;
  core_a.rounding = core_b.rounding = 0;
  return round_distance(&core_a, search->poses[a->link], &core_b, search->poses[b->link], NULL).distance - round;
}

static void test_hulls(TouchSearch* search, int index_a, int index_b) {
  const Model* model = search->model;
  const ModelHull *a = &model->hulls[index_a], *b = &model->hulls[index_b];
  if (!model_pair_allowed(model, a->link, b->link)) return;
  append_pair(search, index_a, index_b, fmax(0, hull_gap(search, a, b)));
}

static void sweep_boxes(TouchSearch* search) {
  HullBox* boxes = MEMORY_NEW(HullBox, search->model->hull_count);
  int count = collect_boxes(search, boxes), axis = widest_axis(boxes, count);
  for (int i = 0; i < count; i++) {
    boxes[i].low = permute_axes(boxes[i].low, axis);
    boxes[i].high = permute_axes(boxes[i].high, axis);
  }
  qsort(boxes, (size_t)count, sizeof *boxes, compare_boxes);
  for (int i = 0; i < count; i++)
    for (int j = i + 1; j < count && boxes[j].low.x <= boxes[i].high.x; j++)
      if (boxes_overlap(&boxes[i], &boxes[j])) test_hulls(search, boxes[i].hull, boxes[j].hull);
  memory_free(boxes);
}

/* Returns the height of the lowest point of a hull above the surface of a half-space [m]. */
static double height_above(const ModelHull* ground, Pose ground_pose, const ModelHull* hull, Pose pose) {
  Vec3 normal = mat3_mul_vec(ground_pose.r, ground->normal);
  RoundBody body = hull_contact_geometry(hull);
  double below = round_support(&body, mat3_tmul_vec(pose.r, vec3_scale(normal, -1)), NULL);
  return vec3_dot(normal, vec3_sub(pose.t, ground_pose.t)) - ground->offset - below;
}

static void test_half_space(TouchSearch* search, int index) {
  const Model* model = search->model;
  const ModelHull* ground = &model->hulls[index];
  for (int i = 0; i < model->hull_count; i++) {
    const ModelHull* hull = &model->hulls[i];
    if (!hull->kind->bounded || !model_pair_allowed(model, ground->link, hull->link)) continue;
    append_pair(search, index, i, height_above(ground, search->poses[ground->link], hull, search->poses[hull->link]));
  }
}

static int compare_pairs(const void* left, const void* right) {
  const HullPair *a = left, *b = right;
  if (a->link_a != b->link_a) return a->link_a < b->link_a ? -1 : 1;
  if (a->link_b != b->link_b) return a->link_b < b->link_b ? -1 : 1;
  if (a->hull_a != b->hull_a) return a->hull_a < b->hull_a ? -1 : 1;
  return (a->hull_b > b->hull_b) - (a->hull_b < b->hull_b);
}

double model_hull_overlap(const ModelHull* a, Pose pose_a, const ModelHull* b, Pose pose_b, Vec3* normal) {
  assert(a && b && normal && (a->kind->bounded || b->kind->bounded));
  if (!a->kind->bounded || !b->kind->bounded) {
    bool first = !a->kind->bounded;
    const ModelHull* ground = first ? a : b;
    *normal = vec3_scale(mat3_mul_vec((first ? pose_a : pose_b).r, ground->normal), first ? 1 : -1);
    return first ? -height_above(a, pose_a, b, pose_b) : -height_above(b, pose_b, a, pose_a);
  }
  RoundBody core_a = hull_contact_geometry(a), core_b = hull_contact_geometry(b);
  const double rounding[2] = {core_a.rounding, core_b.rounding};
  core_a.rounding = core_b.rounding = 0;
  GjkResult apart = round_distance(&core_a, pose_a, &core_b, pose_b, NULL);
  *normal = apart.normal;
  double round = rounding[0] + rounding[1], gap = apart.distance - round;
  if (gap > -round) return -gap; /* the cores do not intersect */
  bool rings[2] = {core_a.ring_count > 0, core_b.ring_count > 0};
  double depth = hull_penetration(rings[0] ? a->points : core_a.points, pose_a, rings[1] ? b->points : core_b.points,
                                  pose_b, normal);
  return depth + (rings[0] ? 0 : rounding[0]) + (rings[1] ? 0 : rounding[1]);
}

static double hull_pair_depth(const TouchSearch* search, const HullPair* pair) {
  const ModelHull *a = &search->model->hulls[pair->hull_a], *b = &search->model->hulls[pair->hull_b];
  Vec3 normal;
  if (pair->gap > 0) return 0;
  return model_hull_overlap(a, search->poses[a->link], b, search->poses[b->link], &normal);
}

/* Intersections of a pair of links: entries first..first + count - 1 of TouchSearch.pairs. */
typedef struct {
  int first, count;
  double gap; /* smallest gap of the pair [m] */
} OverlappingLinks;

static double link_pair_depth(const TouchSearch* search, const OverlappingLinks* pair) {
  double depth = 0;
  for (int i = pair->first; i < pair->first + pair->count; i++)
    depth = fmax(depth, hull_pair_depth(search, &search->pairs[i]));
  return depth + 0.0; /* replaces -0 by 0 */
}

/* Appends the name of a hull's link, and the number of the hull if the link has several. */
static void append_hull_name(const Model* model, int hull, Text* out) {
  const ModelLink* link = &model->links[model->hulls[hull].link];
  text_add(out, "'%s'", link->name);
  if (link->hull_count > 1) text_add(out, " (hull %d)", hull - link->hull_first);
}

/* Returns a text with the hulls of the deepest intersection of two links, for example "'box' (hull 2) and 'ball'". The
 * caller frees it with memory_free. */
static char* format_pair(const TouchSearch* search, const OverlappingLinks* pair) {
  const HullPair *first = search->pairs + pair->first, *deepest = first;
  for (const HullPair* m = first; m < first + pair->count; m++)
    if (hull_pair_depth(search, m) > hull_pair_depth(search, deepest)) deepest = m;
  Text text = {0};
  append_hull_name(search->model, deepest->hull_a, &text);
  text_add(&text, " and ");
  append_hull_name(search->model, deepest->hull_b, &text);
  return text.data;
}

/* Returns the root of the link's tree if it is another link with a free joint, otherwise -1. */
static int find_free_root(const Model* model, int link) {
  int root = model_root(model, link);
  return root != link && model->scene->links[root].joint.type == JOINT_FREE ? root : -1;
}

/* Appends the advice to move a root link by `distance` [m], if one of the links has a free root and the links belong to
 * different trees. */
static void append_root_advice(const Model* model, const HullPair* pair, double distance, Text* out) {
  int tree_a = model->links[pair->link_a].tree, other = model->links[pair->link_b].tree;
  int link = find_free_root(model, pair->link_b) >= 0 ? pair->link_b : pair->link_a, root = find_free_root(model, link);
  if (root < 0 || tree_a == other) return;
  text_add(out, " (link '%s' is in the tree of '%s': move '%s' by %.4g m)", model->links[link].name,
           model->links[root].name, model->links[root].name, distance);
}

static void report_error(const TouchSearch* search, const OverlappingLinks* pair) {
  const HullPair* pairs = search->pairs + pair->first;
  const Model* model = search->model;
  SourcePosition place = model->scene->links[pairs->link_b].place;
  double depth = link_pair_depth(search, pair), rest = model->contact.gap_at_rest;
  char* names = format_pair(search, pair);
  Text root = {0};
  append_root_advice(model, pairs, depth + rest, &root);
  if (depth > search->touch)
    diagnostics_add(search->diagnostics, SEVERITY_ERROR, place,
                    "links %s intersect at the start, depth %.6g m: move the links apart to a gap of about %.2g m (the "
                    "equilibrium gap)%s, or exclude the pair with contact.exclude",
                    names, depth, rest, root.data ? root.data : "");
  else
    diagnostics_add(search->diagnostics, SEVERITY_ERROR, place,
                    "links %s touch at the start (depth %.6g m): move the links apart to a gap of about %.2g m (the "
                    "equilibrium gap)",
                    names, depth, rest);
  text_free(&root);
  memory_free(names);
}

static void warn_small_gap(const TouchSearch* search, const OverlappingLinks* links) {
  const HullPair* pair = search->pairs + links->first;
  const Model* model = search->model;
  diagnostics_add(search->diagnostics, SEVERITY_WARNING, model->scene->links[pair->link_b].place,
                  "links '%s' and '%s' start only %.3g m apart, less than the equilibrium gap of about %.2g m: contact "
                  "will push the links apart; increase the gap",
                  model->links[pair->link_a].name, model->links[pair->link_b].name, links->gap,
                  model->contact.gap_at_rest);
}

static OverlappingLinks find_next_pair(const TouchSearch* search, int first) {
  const HullPair* pairs = search->pairs;
  OverlappingLinks pair = {first, 0, HUGE_VAL};
  int i = first;
  for (; i < search->count; i++) {
    if (pairs[i].link_a != pairs[first].link_a || pairs[i].link_b != pairs[first].link_b) break;
    pair.gap = fmin(pair.gap, pairs[i].gap);
  }
  pair.count = i - first;
  return pair;
}

static void report_omitted(const TouchSearch* search, Severity severity, int more, const char* what) {
  if (more <= 0) return;
  SourcePosition place = {search->model->scene->path, 0, 0};
  diagnostics_add(search->diagnostics, severity, place,
                  "%d more pairs of links %s at the start (not listed): move the links of each pair apart", more, what);
}

static void report_pairs(const TouchSearch* search) {
  int errors = 0, narrow = 0;
  for (int first = 0; first < search->count;) {
    OverlappingLinks pair = find_next_pair(search, first);
    bool touching = pair.gap <= search->touch;
    if (touching && errors++ < MESSAGES_MAX) report_error(search, &pair);
    if (!touching && narrow++ < MESSAGES_MAX) warn_small_gap(search, &pair);
    first += pair.count;
  }
  report_omitted(search, SEVERITY_ERROR, errors - MESSAGES_MAX, "intersect");
  report_omitted(search, SEVERITY_WARNING, narrow - MESSAGES_MAX, "nearly touch");
}

/* Finds all pairs of hulls that intersect or nearly touch, sorted by links. The caller frees the members pairs and
 * poses. */
static TouchSearch find_pairs(const Model* model, Diagnostics* diagnostics) {
  TouchSearch search = {
      .model = model, .diagnostics = diagnostics, .poses = initial_poses(model), .touch = touch_depth(model)};
  const ModelContact* contact = &model->contact;
  search.narrow = fmin(GAP_NARROW * contact->gap_at_rest, GAP_NARROW_UNDER_ALL * contact->gap_under_all);
  search.narrow = fmax(search.narrow, 2 * search.touch);
  sweep_boxes(&search);
  for (int i = 0; i < model->hull_count; i++)
    if (!model->hulls[i].kind->bounded) test_half_space(&search, i);
  if (search.count > 0) qsort(search.pairs, (size_t)search.count, sizeof *search.pairs, compare_pairs);
  return search;
}

/* Writes advice to text[size] for a shape that the contact law does not support: the smooth shape of the same extents
 * that can replace it, or general advice. */
static void write_smooth_equivalent(const SceneShape* shape, char* text, size_t size) {
  double r = shape->radius;
  if (shape->type == SHAPE_BOX)
    snprintf(text, size, "write {type: superellipsoid, size: [%.9g, %.9g, %.9g], exponent: 8}, a box with round edges",
             0.5 * shape->size.x, 0.5 * shape->size.y, 0.5 * shape->size.z);
  else if (shape->type == SHAPE_SPHERE)
    snprintf(text, size, "write {type: superellipsoid, size: [%.9g, %.9g, %.9g], exponent: 1}, the same sphere", r, r,
             r);
  else if (shape->type == SHAPE_CYLINDER)
    snprintf(text, size,
             "write {type: superquadric, size: [%.9g, %.9g, %.9g], exponents: [0.125, 1]}, a cylinder with round edges",
             r, r, 0.5 * shape->length);
  else if (shape->type == SHAPE_MESH)
    snprintf(text, size,
             "replace the mesh by smooth shapes, which `sdrs decompose MESH --primitives superquadric` finds");
  else
    snprintf(text, size, "use one of these shapes");
}

/* Returns true if the hull is a triangle of a mesh and the law supports convex hulls. */
static bool convex_hull_suffices(ContactModel law, const ModelHull* hull) {
  return hull->kind == &SOLID_TRIANGLE && !contact_refusal_reason(law, &(ModelHull){.kind = &SOLID_HULL});
}

/* Adds an error for each shape that the contact law of the scene does not support. */
static void check_supported_shapes(const Model* model, Diagnostics* diagnostics) {
  for (int k = 0; k < model->hull_count; k++) {
    const ModelHull* hull = &model->hulls[k];
    const char* why = model->links[hull->link].collide ? contact_refusal_reason(model->contact_model, hull) : NULL;
    bool reported = false;
    for (int before = 0; before < k && why && !reported; before++) reported = model->hulls[before].shape == hull->shape;
    if (!why || reported) continue;
    const SceneShape* shape = &model->scene->shapes[hull->shape];
    char remedy[200];
    if (convex_hull_suffices(model->contact_model, hull))
      snprintf(
          remedy, sizeof remedy,
          "omit `pieces: triangles` to use the convex hull (`sdrs decompose` cuts a concave mesh into convex pieces)");
    else
      write_smooth_equivalent(shape, remedy, sizeof remedy);
    diagnostics_add(diagnostics, SEVERITY_ERROR, shape->place,
                    "contact.model %s %s, but link '%s' has another shape: %s, or set contact.model: separating_plane, "
                    "or set collide: false in the link",
                    contact_model_name(model->contact_model), why, model->links[hull->link].name, remedy);
  }
}

/* Returns the reason why a contact law does not support some hull of the link, or NULL. */
static const char* find_refusal(const Model* model, int link, ContactModel law) {
  const char* why = NULL;
  const ModelLink* l = &model->links[link];
  for (int k = 0; k < l->hull_count && l->collide && !why; k++)
    why = contact_refusal_reason(law, &model->hulls[l->hull_first + k]);
  return why;
}

/* Adds an error for each item of contact.pairs whose law does not support a shape of its links. */
static void check_supported_by_pairs(const Model* model, Diagnostics* diagnostics) {
  for (int p = 0; p < model->pair_law_count; p++) {
    const ModelPairLaw* pair = &model->pair_laws[p];
    bool reported = false;
    for (int k = 0; k < model->pair_item_count && !reported; k++) {
      const ModelPairItem* item = &model->pair_items[k];
      const int link[2] = {(int)(item->key >> 32), (int)(item->key & UINT32_MAX)};
      if (item->item != pair->item) continue;
      for (int side = 0; side < 2 && !reported; side++) {
        const char* why = find_refusal(model, link[side], pair->law);
        if (!why) continue;
        diagnostics_add(
            diagnostics, SEVERITY_ERROR, model->scene->contact.pairs[pair->item].place,
            "model %s %s, but link '%s' has another shape: change the shape, or set another 'model' in the pair",
            contact_model_name(pair->law), why, model->links[link[side]].name);
        reported = true;
      }
    }
  }
}

/* Adds an error if a hull of the link does not fit the parameters of the law. Returns true if there is one. */
static bool check_fits(const Model* model, int link, ContactModel law, const double* law_parameters,
                       SourcePosition place, const char* key, Diagnostics* diagnostics) {
  const ModelLink* l = &model->links[link];
  char text[240];
  for (int k = 0; k < l->hull_count && l->collide; k++) {
    if (contact_fits(law, &model->hulls[l->hull_first + k], law_parameters, text, sizeof text)) continue;
    diagnostics_add(diagnostics, SEVERITY_ERROR, place, "%s: %s: link '%s' %s", key, contact_model_name(law), l->name,
                    text);
    return true;
  }
  return false;
}

/* Adds one error for each link, and for each item of contact.pairs, whose hulls do not fit the parameters of the law.
 */
static void check_all_fit(const Model* model, Diagnostics* diagnostics) {
  for (int i = 0; i < model->link_count; i++)
    (void)check_fits(model, i, model->contact_model, model->contact.law_parameters, model->scene->contact.place,
                     "contact.model", diagnostics);
  for (int p = 0; p < model->pair_law_count; p++) {
    const ModelPairLaw* pair = &model->pair_laws[p];
    bool reported = false;
    for (int k = 0; k < model->pair_item_count && !reported; k++) {
      const ModelPairItem* item = &model->pair_items[k];
      const int link[2] = {(int)(item->key >> 32), (int)(item->key & UINT32_MAX)};
      for (int side = 0; side < 2 && item->item == pair->item && !reported; side++)
        reported = check_fits(model, link[side], pair->law, pair->contact.law_parameters,
                              model->scene->contact.pairs[pair->item].place, "contact.pairs", diagnostics);
    }
  }
}

void check_intersections(const Model* model, Diagnostics* diagnostics) {
  if (model->contact_model == CONTACT_NONE) return;
  check_supported_shapes(model, diagnostics);
  check_supported_by_pairs(model, diagnostics);
  check_all_fit(model, diagnostics);
  if (contact_allows_overlap(model->contact_model)) return;
  TouchSearch search = find_pairs(model, diagnostics);
  report_pairs(&search);
  memory_free(search.pairs);
  memory_free(search.poses);
}

/* Sets *pairs to all pairs of links with a gap of at most `largest` [m]. largest must not exceed search->narrow. Frees
 * the arrays of the search. Returns the number of pairs. */
static int take_link_pairs(TouchSearch* search, double largest, ModelTouch** pairs) {
  int count = 0;
  *pairs = MEMORY_NEW(ModelTouch, search->count + 1);
  for (int first = 0; first < search->count;) {
    OverlappingLinks links = find_next_pair(search, first);
    const HullPair* pair = &search->pairs[first];
    first += links.count;
    if (links.gap > largest) continue;
    (*pairs)[count++] = (ModelTouch){pair->link_a, pair->link_b, link_pair_depth(search, &links)};
  }
  memory_free(search->pairs);
  memory_free(search->poses);
  return count;
}

int model_touching(const Model* model, ModelTouch** pairs) {
  TouchSearch search = find_pairs(model, NULL);
  return take_link_pairs(&search, search.touch, pairs);
}

int model_nearly_touching(const Model* model, ModelTouch** pairs) {
  TouchSearch search = find_pairs(model, NULL);
  return take_link_pairs(&search, search.narrow, pairs);
}
