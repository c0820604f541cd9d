/* Searches a path that removes a part (one link) from an assembly. The path consists of straight segments, each proven
 * free of collision by the certificate (docs/derivations/certificate.md). If no axis direction leads straight out,
 * breadth-first search on a lattice follows. The proof uses a separate scene in which the part can translate along x, y
 * and z and all other links are fixed. So pairs excluded from contact are checked too. */
#include <string.h>

#include "export/export.h"

/* CELLS: lattice cells per size of the part. PLACES_MAX: largest number of positions that are tried. AXES: number of
 * axis directions. */
enum { CELLS = 4, PLACES_MAX = 1500, AXES = 6 };
/* Final distance of a removed part from the bounding box of the other links, relative to the size of the part. */
#define CLEAR 0.01

typedef struct {
  int cell[3], before; /* lattice cell; index of the position from which this position was reached, -1: none, the
                          initial position */
} Place;

typedef struct {
  Scene scene;
  Model model;
  Proof* proof;
  Vec3 low, high, rest_low, rest_high; /* initial bounding boxes of the part and of the other links [m] */
  double step, largest;
  Place* places;
  int count;
  double gap; /* smallest proven gap [m] */
} Removal;

/* ---------------------------------------------------------------- the scene */

static void add_vector(Text* text, Vec3 v) { text_add(text, "[%.17g, %.17g, %.17g]", v.x, v.y, v.z); }

static void grow(Vec3 x, Vec3* low, Vec3* high) {
  *low = vec3(fmin(low->x, x.x), fmin(low->y, x.y), fmin(low->z, x.z));
  *high = vec3(fmax(high->x, x.x), fmax(high->y, x.y), fmax(high->z, x.z));
}

static void add_hull(Text* text, const ModelHull* hull, Pose pose, Vec3* low, Vec3* high) {
  if (!hull->kind->bounded) {
    Vec3 normal = mat3_mul_vec(pose.r, hull->normal);
    text_add(text, "      - {type: half_space, normal: ");
    add_vector(text, normal);
    text_add(text, ", offset: %.17g}\n", hull->offset + vec3_dot(normal, pose.t));
    return;
  }
  text_add(text, "      - {type: points, points: [");
  for (int i = 0; i < hull->solid.vertex_count; i++) {
    Vec3 x = pose_apply(pose, hull->solid.vertices[i]);
    grow(x, low, high);
    if (i > 0) text_add(text, ", ");
    add_vector(text, x);
  }
  text_add(text, "]}\n");
}

/* Appends the hulls of the part to the scene, or of all other links if `rest` is true. Sets *low and *high to their
 * bounding box [m]. Returns the number of hulls. */
static int add_hulls(Text* text, const Model* model, const Pose* poses, int part, bool rest, Vec3* low, Vec3* high) {
  int count = 0;
  *low = vec3(HUGE_VAL, HUGE_VAL, HUGE_VAL);
  *high = vec3(-HUGE_VAL, -HUGE_VAL, -HUGE_VAL);
  for (int h = 0; h < model->hull_count; h++)
    if ((model->hulls[h].link == part) != rest) {
      add_hull(text, &model->hulls[h], poses[model->hulls[h].link], low, high);
      count++;
    }
  return count;
}

/* Builds the scene and its proof. Returns false if the part intersects another link initially. Also returns false, and
 * sets *alone, if there are no other hulls. */
static bool set_up(Removal* a, const Model* model, const Pose* poses, int part, int threads, bool* alone) {
  Text text = {0};
  Diagnostics diagnostics = {0};
  text_add(&text,
           "simulation: {dt: 0.01, steps: 1, gravity: [0, 0, 0]}\ncontact: {model: separating_plane, friction: 0}\n"
           "links:\n  - name: part\n    mass: 1\n    joint: {type: free, free_axes: [x, y, z]}\n    shapes:\n");
  add_hulls(&text, model, poses, part, false, &a->low, &a->high);
  text_add(&text, "  - name: rest\n    fixed: true\n    shapes:\n");
  *alone = add_hulls(&text, model, poses, part, true, &a->rest_low, &a->rest_high) == 0;
  bool built = !*alone && scene_parse(&a->scene, "assembly.yaml", text.data, text.length, false, NULL, 0,
                                      &diagnostics) == STATUS_OK;
  built = built && model_create(&a->model, &a->scene, &diagnostics) == STATUS_OK;
  if (built) a->proof = proof_create(&a->model, threads);
  diagnostics_free(&diagnostics);
  text_free(&text);
  return built;
}

static void tear_down(Removal* a) {
  proof_destroy(a->proof);
  model_destroy(&a->model);
  scene_free(&a->scene);
  memory_free(a->places);
}

/* ---------------------------------------------------------------- paths */

static bool is_free(Removal* a, Vec3 from, Vec3 to) {
  const double q[2][3] = {{from.x, from.y, from.z}, {to.x, to.y, to.z}};
  if (proof_restart(a->proof, q[0]).outcome != PROOF_DISJOINT) return false;
  ProofReport report = proof_next_straight(a->proof, q[1]);
  if (report.outcome != PROOF_DISJOINT) return false;
  a->gap = fmin(a->gap, report.gap);
  return true;
}

static Vec3 axis_of(int k) {
  double sign = k % 2 ? -1 : 1;
  return vec3(k / 2 == 0 ? sign : 0, k / 2 == 1 ? sign : 0, k / 2 == 2 ? sign : 0);
}

/* Returns the distance [m] to move the part along axis direction k until its bounding box is beyond the bounding box of
 * the other links. at: displacement from which the motion starts. Not finite if the other links are unbounded. */
static double way_out(const Removal* a, Vec3 at, int k) {
  Vec3 n = axis_of(k);
  double own = k % 2 ? -vec3_dot(n, vec3_add(a->high, at)) : vec3_dot(n, vec3_add(a->low, at));
  double rest = k % 2 ? -vec3_dot(n, a->rest_low) : vec3_dot(n, a->rest_high);
  double way = k % 2 ? own - rest : rest - own;
  return fmax(way, 0) + CLEAR * a->largest;
}

static bool goes_straight_out(Removal* a, Vec3 from, Vec3* out) {
  for (int k = 0; k < AXES; k++) {
    double way = way_out(a, from, k);
    if (!isfinite(way)) way = a->largest;
    *out = vec3_add_scaled(from, way, axis_of(k));
    if (is_free(a, from, *out)) return true;
  }
  return false;
}

static Vec3 place_of(const Removal* a, const Place* p) {
  return vec3(a->step * p->cell[0], a->step * p->cell[1], a->step * p->cell[2]);
}

static bool is_known(const Removal* a, const int cell[3]) {
  for (int i = 0; i < a->count; i++)
    if (memcmp(a->places[i].cell, cell, sizeof a->places[i].cell) == 0) return true;
  return false;
}

/* Appends a corner to the path. If the last segment has the same direction, the corner extends this segment. Returns
 * false if there are too many segments. */
static bool add_corner(PartRemoval* report, Vec3 to) {
  Vec3 last = report->legs > 0 ? report->way[report->legs - 1] : vec3(0, 0, 0);
  Vec3 before = report->legs > 1 ? report->way[report->legs - 2] : vec3(0, 0, 0), leg = vec3_sub(last, before);
  Vec3 turn = vec3_cross(leg, vec3_sub(to, last));
  bool straight =
      report->legs > 0 && turn.x == 0 && turn.y == 0 && turn.z == 0 && vec3_dot(leg, vec3_sub(to, last)) > 0;
  if (straight) report->legs--;
  if (report->legs == REMOVAL_SEGMENTS_MAX) return false;
  report->way[report->legs++] = to;
  return true;
}

/* Sets report->way to the path to a position of the search. Returns false if there are too many segments. */
static bool tell_way(const Removal* a, int place, PartRemoval* report) {
  int* chain = MEMORY_NEW(int, a->count);
  int count = 0;
  for (int i = place; a->places[i].before >= 0; i = a->places[i].before) chain[count++] = i;
  bool told = true;
  while (told && count > 0) told = add_corner(report, place_of(a, &a->places[chain[--count]]));
  memory_free(chain);
  return told;
}

static bool search(Removal* a, PartRemoval* report) {
  a->places = MEMORY_NEW(Place, PLACES_MAX);
  a->places[a->count++] = (Place){.before = -1};
  for (int i = 0; i < a->count; i++) {
    Vec3 from = place_of(a, &a->places[i]);
    Vec3 out;
    if (goes_straight_out(a, from, &out)) return tell_way(a, i, report) && add_corner(report, out);
    for (int k = 0; k < AXES && a->count < PLACES_MAX; k++) {
      Place next = a->places[i];
      next.cell[k / 2] += k % 2 ? -1 : 1;
      next.before = i;
      if (is_known(a, next.cell) || !is_free(a, from, place_of(a, &next))) continue;
      a->places[a->count++] = next;
    }
  }
  return false;
}

PartRemoval export_removal(const Model* model, const Pose* poses, int link, int threads) {
  Removal a = {.gap = INFINITY};
  PartRemoval report = {0};
  bool alone;
  report.apart = set_up(&a, model, poses, link, threads, &alone) || alone;
  report.found = alone;
  if (report.apart && !alone) {
    Vec3 size = vec3_sub(a.high, a.low);
    a.largest = fmax(size.x, fmax(size.y, size.z));
    a.step = fmin(size.x, fmin(size.y, size.z)) / CELLS;
    report.found = search(&a, &report);
  }
  report.gap = a.gap;
  report.places = a.count;
  tear_down(&a);
  return report;
}
