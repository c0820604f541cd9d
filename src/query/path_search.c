/* Collision-free polyline by RRT-Connect: two random trees grow towards random positions and towards each other. Random
 * shortcuts then shorten the polyline. */
#include <assert.h>
#include <string.h>
#include "query/path.h"

enum { NODES_MAX = 4000, SHORTCUTS = 200 };
/* Longest extension of a tree in one step, relative to the diagonal of the workspace. */
#define STEP_FRACTION 0.1

typedef struct {
  Vec3 place[NODES_MAX];
  int parent[NODES_MAX];
  int count;
} PathTree;

typedef struct {
  const PathProblem* problem;
  PathTree tree[2];
  Random random;
  double stride;
  int* queries;
} PathSearch;

static int find_nearest_node(const PathTree* tree, Vec3 to) {
  int best = 0;
  for (int i = 1; i < tree->count; i++)
    if (vec3_norm(vec3_sub(tree->place[i], to)) < vec3_norm(vec3_sub(tree->place[best], to))) best = i;
  return best;
}

/* Extends a random tree of positions by at most one step from the node nearest to `to`. Sets *reached to true if the
 * new node is at `to`. Returns false if an obstacle blocks the extension or the tree is full. */
static bool extend_tree(PathSearch* search, PathTree* tree, Vec3 to, bool* reached) {
  if (tree->count == NODES_MAX) return false;
  int from = find_nearest_node(tree, to);
  Vec3 offset = vec3_sub(to, tree->place[from]);
  double length = vec3_norm(offset);
  *reached = length <= search->stride;
  Vec3 next = *reached ? to : vec3_add_scaled(tree->place[from], search->stride / length, offset);
  if (!path_is_segment_free(search->problem, tree->place[from], next, search->queries)) return false;
  tree->place[tree->count] = next;
  tree->parent[tree->count++] = from;
  return true;
}

/* Copies the positions on the path between a tree's root and its last node to out. The path begins with the root if
 * `forwards` is true. Returns the number of nodes. */
static int trace_path(const PathTree* tree, bool forwards, Vec3* out) {
  int count = 0;
  for (int i = tree->count - 1; i >= 0; i = tree->parent[i]) out[count++] = tree->place[i];
  for (int i = 0; forwards && i < count / 2; i++) {
    Vec3 swap = out[i];
    out[i] = out[count - 1 - i];
    out[count - 1 - i] = swap;
  }
  return count;
}

/* Draws a random position in the workspace. Each coordinate is drawn in its own statement, because C leaves the order
 * of evaluation of arguments open. */
static Vec3 draw_position(PathSearch* search) {
  const PathProblem* p = search->problem;
  double z = random_uniform(&search->random, p->low.z, p->high.z);
  double y = random_uniform(&search->random, p->low.y, p->high.y);
  double x = random_uniform(&search->random, p->low.x, p->high.x);
  return vec3(x, y, z);
}

static bool grow_trees(PathSearch* search) {
  for (int round = 0; search->tree[0].count < NODES_MAX && round < 4 * NODES_MAX; round++) {
    PathTree *grows = &search->tree[round % 2], *follows = &search->tree[1 - round % 2];
    Vec3 to = draw_position(search);
    bool reached = false;
    if (!extend_tree(search, grows, to, &reached)) continue;
    Vec3 meet = grows->place[grows->count - 1];
    reached = false;
    while (!reached && extend_tree(search, follows, meet, &reached)) continue;
    if (reached) return true;
  }
  return false;
}

/* Returns the point at a given arc length `distance` [m] along a polyline. Sets *at to the segment that contains the
 * point. */
static Vec3 point_at_arc_length(const Vec3* corners, int count, double distance, int* at) {
  assert(count >= 2);
  for (*at = 0;; ++*at) {
    Vec3 side = vec3_sub(corners[*at + 1], corners[*at]);
    double length = vec3_norm(side);
    if (distance <= length || *at + 2 == count)
      return vec3_add_scaled(corners[*at], length > 0 ? fmin(1, distance / length) : 0, side);
    distance -= length;
  }
}

/* Shortens the polyline by shortcuts. The section between two random points is replaced by a straight segment if the
 * segment is free. Each shortcut adds at most one vertex. Returns the number of vertices. */
static int shorten_by_shortcuts(PathSearch* search, Vec3* corners, int count) {
  for (int i = 0; i < SHORTCUTS && count > 2; i++) {
    double total = path_length(corners, count);
    double a = random_uniform(&search->random, 0, total), b = random_uniform(&search->random, 0, total);
    int first, last;
    Vec3 from = point_at_arc_length(corners, count, fmin(a, b), &first),
         to = point_at_arc_length(corners, count, fmax(a, b), &last);
    if (first == last || !path_is_segment_free(search->problem, from, to, search->queries)) continue;
    memmove(&corners[first + 3], &corners[last + 1], sizeof(Vec3) * (size_t)(count - last - 1));
    corners[first + 1] = from;
    corners[first + 2] = to;
    count += first - last + 2;
  }
  return count;
}

Vec3* path_search(const PathProblem* problem, int* count, int* queries) {
  PathSearch* search = MEMORY_NEW(PathSearch, 1);
  search->problem = problem;
  search->random.state = problem->seed;
  search->stride = STEP_FRACTION * vec3_norm(vec3_sub(problem->high, problem->low));
  search->queries = queries;
  for (int k = 0; k < 2; k++) {
    search->tree[k].place[0] = k ? problem->to : problem->from;
    search->tree[k].parent[0] = -1;
    search->tree[k].count = 1;
  }
  Vec3* corners = NULL;
  if (grow_trees(search)) {
    corners = MEMORY_NEW(Vec3, 2 * NODES_MAX + SHORTCUTS);
    int first = trace_path(&search->tree[0], true, corners);
    *count =
        first - 1 +
        trace_path(&search->tree[1], false, corners + first - 1); /* both trees contain the node at which they join */
    *count = shorten_by_shortcuts(search, corners, *count);
  }
  memory_free(search);
  return corners;
}
