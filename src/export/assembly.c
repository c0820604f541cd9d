/* Searches a path that removes a part, one link, from an assembly. The path consists of straight segments, each proven
 * free of collision by the certificate (docs/derivations/certificate.md). If no axis direction leads straight out,
 * breadth-first search on a lattice follows. The proof uses a scene in which the part translates along x, y and z, and
 * all other links are fixed. The proof therefore includes pairs that are excluded from contact. */
#include <assert.h>
#include <string.h>

#include "export/export.h"

/* CELLS: number of lattice cells along the size of the part. NODES_MAX: largest number of visited lattice nodes. AXES:
 * number of axis directions. */
enum { CELLS = 4, NODES_MAX = 1500, AXES = 6 };
/* Final distance of the removed part from the bounding box of the other links, relative to the size of the part. */
#define CLEARANCE_RATIO 0.01

typedef struct {
  int cell[3];
  int parent; /* index of the node from which this node was reached; -1: initial position */
} LatticeNode;

typedef struct {
  Scene scene;
  Model model;
  Proof* proof;
  Vec3 low, high, others_low, others_high; /* initial bounding boxes of the part and of the other links [m] */
  double step, largest;
  LatticeNode* nodes;
  int count;
  double gap; /* smallest proven gap [m] */
} Removal;

static void add_vector(Text* text, Vec3 v) { text_add(text, "[%.17g, %.17g, %.17g]", v.x, v.y, v.z); }

static void extend_box(Vec3 x, Vec3* low, Vec3* high) {
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
    extend_box(x, low, high);
    if (i > 0) text_add(text, ", ");
    add_vector(text, x);
  }
  text_add(text, "]}\n");
}

/* Appends the hulls of the part to the scene, or the hulls of all other links if `others` is true. Sets *low and *high
 * to the bounding box of these hulls [m]. Returns the number of hulls. */
static int add_hulls(Text* text, const Model* model, const Pose* poses, int part, bool others, Vec3* low, Vec3* high) {
  int count = 0;
  *low = vec3(HUGE_VAL, HUGE_VAL, HUGE_VAL);
  *high = vec3(-HUGE_VAL, -HUGE_VAL, -HUGE_VAL);
  for (int h = 0; h < model->hull_count; h++)
    if ((model->hulls[h].link == part) != others) {
      add_hull(text, &model->hulls[h], poses[model->hulls[h].link], low, high);
      count++;
    }
  return count;
}

/* Builds the scene and its proof. Returns false if the part intersects another link initially, or if there are no other
 * hulls. Sets *is_alone to true in the second case. */
static bool create_proof(Removal* a, const Model* model, const Pose* poses, int part, int threads, bool* is_alone) {
  Text text = {0};
  Diagnostics diagnostics = {0};
  text_add(&text,
           "simulation: {dt: 0.01, steps: 1, gravity: [0, 0, 0]}\ncontact: {model: separating_plane, friction: 0}\n"
           "links:\n  - name: part\n    mass: 1\n    joint: {type: free, free_axes: [x, y, z]}\n    shapes:\n");
  add_hulls(&text, model, poses, part, false, &a->low, &a->high);
  text_add(&text, "  - name: rest\n    fixed: true\n    shapes:\n");
  *is_alone = add_hulls(&text, model, poses, part, true, &a->others_low, &a->others_high) == 0;
  bool built = !*is_alone && scene_parse(&a->scene, "assembly.yaml", text.data, text.length, false, NULL, 0,
                                         &diagnostics) == STATUS_OK;
  built = built && model_create(&a->model, &a->scene, &diagnostics) == STATUS_OK;
  if (built) a->proof = proof_create(&a->model, threads);
  diagnostics_free(&diagnostics);
  text_free(&text);
  return built;
}

static void destroy_proof(Removal* a) {
  proof_destroy(a->proof);
  model_destroy(&a->model);
  scene_free(&a->scene);
  memory_free(a->nodes);
}

static bool is_collision_free(Removal* a, Vec3 from, Vec3 to) {
  const double q[2][3] = {{from.x, from.y, from.z}, {to.x, to.y, to.z}};
  if (proof_restart(a->proof, q[0]).outcome != PROOF_DISJOINT) return false;
  ProofReport report = proof_next_straight(a->proof, q[1]);
  if (report.outcome != PROOF_DISJOINT) return false;
  a->gap = fmin(a->gap, report.gap);
  return true;
}

static Vec3 axis_direction(int k) {
  assert(k >= 0 && k < AXES);
  double sign = k % 2 ? -1 : 1;
  return vec3(k / 2 == 0 ? sign : 0, k / 2 == 1 ? sign : 0, k / 2 == 2 ? sign : 0);
}

/* Returns the distance that the part must move along axis direction k until its bounding box is beyond the bounding box
 * of the other links [m]. k: 0 to 5 for +x, -x, +y, -y, +z, -z. start: initial displacement. The result is not finite
 * if the other links are unbounded. */
static double exit_distance(const Removal* a, Vec3 start, int k) {
  Vec3 n = axis_direction(k);
  double boundary = k % 2 ? -vec3_dot(n, vec3_add(a->high, start)) : vec3_dot(n, vec3_add(a->low, start));
  double others = k % 2 ? -vec3_dot(n, a->others_low) : vec3_dot(n, a->others_high);
  double distance = k % 2 ? boundary - others : others - boundary;
  return fmax(distance, 0) + CLEARANCE_RATIO * a->largest;
}

static bool exits_straight(Removal* a, Vec3 from, Vec3* out) {
  for (int k = 0; k < AXES; k++) {
    double distance = exit_distance(a, from, k);
    if (!isfinite(distance)) distance = a->largest;
    *out = vec3_add_scaled(from, distance, axis_direction(k));
    if (is_collision_free(a, from, *out)) return true;
  }
  return false;
}

static Vec3 node_position(const Removal* a, const LatticeNode* p) {
  return vec3(a->step * p->cell[0], a->step * p->cell[1], a->step * p->cell[2]);
}

static bool is_visited(const Removal* a, const int cell[3]) {
  for (int i = 0; i < a->count; i++)
    if (memcmp(a->nodes[i].cell, cell, sizeof a->nodes[i].cell) == 0) return true;
  return false;
}

/* Appends a waypoint to the path, or extends the last segment if the direction is the same. Returns false if there are
 * too many segments. */
static bool add_waypoint(PartRemoval* report, Vec3 to) {
  Vec3 last = report->segment_count > 0 ? report->waypoints[report->segment_count - 1] : vec3(0, 0, 0);
  Vec3 before = report->segment_count > 1 ? report->waypoints[report->segment_count - 2] : vec3(0, 0, 0),
       leg = vec3_sub(last, before);
  Vec3 turn = vec3_cross(leg, vec3_sub(to, last));
  bool straight =
      report->segment_count > 0 && turn.x == 0 && turn.y == 0 && turn.z == 0 && vec3_dot(leg, vec3_sub(to, last)) > 0;
  if (straight) report->segment_count--;
  if (report->segment_count == REMOVAL_SEGMENTS_MAX) return false;
  report->waypoints[report->segment_count++] = to;
  return true;
}

/* Sets report->waypoints to the path to a node of the search. Returns false if there are too many segments. */
static bool store_path(const Removal* a, int node, PartRemoval* report) {
  int* chain = MEMORY_NEW(int, a->count);
  int count = 0;
  for (int i = node; a->nodes[i].parent >= 0; i = a->nodes[i].parent) chain[count++] = i;
  bool complete = true;
  while (complete && count > 0) complete = add_waypoint(report, node_position(a, &a->nodes[chain[--count]]));
  memory_free(chain);
  return complete;
}

static bool search_path(Removal* a, PartRemoval* report) {
  a->nodes = MEMORY_NEW(LatticeNode, NODES_MAX);
  a->nodes[a->count++] = (LatticeNode){.parent = -1};
  for (int i = 0; i < a->count; i++) {
    Vec3 from = node_position(a, &a->nodes[i]);
    Vec3 out;
    if (exits_straight(a, from, &out)) return store_path(a, i, report) && add_waypoint(report, out);
    for (int k = 0; k < AXES && a->count < NODES_MAX; k++) {
      LatticeNode next = a->nodes[i];
      next.cell[k / 2] += k % 2 ? -1 : 1;
      next.parent = i;
      if (is_visited(a, next.cell) || !is_collision_free(a, from, node_position(a, &next))) continue;
      a->nodes[a->count++] = next;
    }
  }
  return false;
}

PartRemoval export_removal(const Model* model, const Pose* poses, int link, int threads) {
  assert(link >= 0 && link < model->link_count && threads >= 1);
  Removal a = {.gap = INFINITY};
  PartRemoval report = {0};
  bool is_alone;
  report.apart = create_proof(&a, model, poses, link, threads, &is_alone) || is_alone;
  report.found = is_alone;
  if (report.apart && !is_alone) {
    Vec3 size = vec3_sub(a.high, a.low);
    a.largest = fmax(size.x, fmax(size.y, size.z));
    a.step = fmin(size.x, fmin(size.y, size.z)) / CELLS;
    report.found = search_path(&a, &report);
  }
  report.gap = a.gap;
  report.visited_count = a.count;
  destroy_proof(&a);
  return report;
}
