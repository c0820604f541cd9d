#include "contact/hierarchy.h"

#include <assert.h>
#include <stdlib.h>

/* Pieces are sorted by the cells of a grid in which their centres lie. GRID_CELLS: number of cells across the body.
 * GRID_SHIFT: offset of the grid in cells. Without the offset, centres of symmetric bodies would lie on cell
 * boundaries. */
#define GRID_CELLS 4096.0
#define GRID_SHIFT 0.37

/* power returns x^32 and root returns x^(1/32). They use only products and square roots, so that results are
 * bit-identical on all machines. */
static double power_32(double x) {
  for (int k = 0; k < 5; k++) x *= x;
  return x;
}

static double root_32(double x) {
  for (int k = 0; k < 5; k++) x = sqrt(x);
  return x;
}

/* ---------------------------------------------------------------- radii of bounding spheres (law-long_range.md, N5,
 * N6) */

/* Smooth maximum (sum x_k^32)^(1/32) of distances x_k. It is stored as the largest distance and the sum of (x_k /
 * largest)^32, which cannot overflow. */
typedef struct {
  double largest, sum;
} SmoothMax;

static double smooth_max(const SmoothMax* m) { return m->largest > 0 ? m->largest * root_32(m->sum) : 0; }

/* Returns the derivative of the smooth maximum with respect to one of its distances x_k. x: value of this distance. */
static double smooth_max_derivative(const SmoothMax* m, double x) {
  if (!(m->largest > 0) || !(x > 0)) return 0;
  double part = x / m->largest;
  return power_32(part) / part * root_32(m->sum) / m->sum;
}

static SmoothMax leaf_extent(const ModelHull* hull, Vec3 center) {
  SmoothMax m = {0, 0};
  for (int k = 0; k < hull->points.count; k++)
    m.largest = fmax(m.largest, vec3_norm(vec3_sub(point_at(hull->points, k), center)));
  for (int k = 0; k < hull->points.count && m.largest > 0; k++)
    m.sum += power_32(vec3_norm(vec3_sub(point_at(hull->points, k), center)) / m.largest);
  return m;
}

/* Returns the distance from the centre of a node to the farthest point of the bounding sphere of one child [m]. which:
 * index of the child, 0 or 1. */
static double child_extent(const BodyTree* tree, const TreeNode* node, int which) {
  const TreeNode* child = &tree->nodes[node->child[which]];
  return vec3_norm(vec3_sub(child->center, node->center)) + child->radius;
}

static SmoothMax inner_extent(const BodyTree* tree, const TreeNode* node) {
  double a = child_extent(tree, node, 0), b = child_extent(tree, node, 1), largest = fmax(a, b);
  if (!(largest > 0)) return (SmoothMax){0, 0};
  return (SmoothMax){largest, power_32(a / largest) + power_32(b / largest)};
}

/* ---------------------------------------------------------------- building a tree */

typedef struct {
  int hull;
  Vec3 center;
  double cell;
} TreePiece;

static int compare_pieces(const void* x, const void* y) {
  const TreePiece *a = x, *b = y;
  if (a->cell != b->cell) return a->cell < b->cell ? -1 : 1;
  return (a->hull > b->hull) - (a->hull < b->hull);
}

static double component(Vec3 v, int axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }

/* Sorts pieces[count] by their grid cells along one axis. It is the axis along which the bounding box of the pieces'
 * centres is longest. */
static void sort_pieces(TreePiece* pieces, int count, double cell) {
  Vec3 low = pieces[0].center, high = low;
  for (int k = 1; k < count; k++) {
    low = vec3_min(low, pieces[k].center);
    high = vec3_max(high, pieces[k].center);
  }
  double size[3];
  for (int i = 0; i < 3; i++) size[i] = floor((component(high, i) - component(low, i)) / cell + GRID_SHIFT);
  int axis = size[0] >= size[1] && size[0] >= size[2] ? 0 : size[1] >= size[2] ? 1 : 2;
  for (int k = 0; k < count; k++) pieces[k].cell = floor(component(pieces[k].center, axis) / cell + GRID_SHIFT);
  qsort(pieces, (size_t)count, sizeof(TreePiece), compare_pieces);
}

static int build_node(const Model* model, BodyTree* tree, int* leaf, TreePiece* pieces, int count, double cell) {
  int index = tree->count++;
  TreeNode* node = &tree->nodes[index];
  *node = (TreeNode){.child = {-1, -1}, .hull = -1, .piece_count = count};
  if (count == 1) {
    const ModelHull* hull = &model->hulls[pieces[0].hull];
    node->hull = pieces[0].hull;
    node->center = pieces[0].center;
    SmoothMax extent = leaf_extent(hull, node->center);
    node->radius = smooth_max(&extent);
    leaf[node->hull] = index;
    return index;
  }
  sort_pieces(pieces, count, cell);
  int half = count / 2;
  node->child[0] = build_node(model, tree, leaf, pieces, half, cell);
  node->child[1] = build_node(model, tree, leaf, pieces + half, count - half, cell);
  const TreeNode *left = &tree->nodes[node->child[0]], *right = &tree->nodes[node->child[1]];
  double share = (double)left->piece_count / count;
  node->center = vec3_add(vec3_scale(left->center, share), vec3_scale(right->center, 1 - share));
  SmoothMax extent = inner_extent(tree, node);
  node->radius = smooth_max(&extent);
  return index;
}

static Vec3 mean_vertex(const ModelHull* hull) {
  Vec3 sum = {0, 0, 0};
  for (int m = 0; m < hull->points.count; m++) sum = vec3_add(sum, point_at(hull->points, m));
  return vec3_scale(sum, 1.0 / hull->points.count);
}

static void build_tree(const Model* model, int link, BodyTree* tree, int* leaf) {
  const ModelLink* l = &model->links[link];
  TreePiece* pieces = MEMORY_NEW(TreePiece, l->hull_count + 1);
  int count = 0;
  double size = 0;
  if (l->hull_count > 0) tree->vertex_first = model->hulls[l->hull_first].vertex_first;
  for (int k = l->hull_first; k < l->hull_first + l->hull_count; k++) {
    const ModelHull* hull = &model->hulls[k];
    if (!hull->kind->bounded) continue;
    tree->vertex_count += hull->points.count;
    pieces[count++] = (TreePiece){.hull = k, .center = mean_vertex(hull)};
    size = fmax(size, vec3_norm(hull->center) + hull->radius);
  }
  if (count > 0 && l->collide) {
    /* The cell size is a power of two, so that small changes of the body's size do not change the tree. */
    double cell = ldexp(1.0, ilogb(size > 0 ? size : 1.0)) / GRID_CELLS;
    tree->nodes = MEMORY_NEW(TreeNode, 2 * count - 1);
    build_node(model, tree, leaf, pieces, count, cell);
  }
  memory_free(pieces);
}

void hierarchy_create(Hierarchy* h, const Model* model) {
  *h = (Hierarchy){.trees = MEMORY_NEW(BodyTree, model->link_count + 1),
                   .leaf = MEMORY_NEW(int, model->hull_count + 1),
                   .link_count = model->link_count};
  for (int k = 0; k < model->hull_count; k++) h->leaf[k] = -1;
  for (int i = 0; i < model->link_count; i++) {
    build_tree(model, i, &h->trees[i], h->leaf);
    if (h->trees[i].count > h->largest) h->largest = h->trees[i].count;
  }
}

void hierarchy_destroy(Hierarchy* h) {
  for (int i = 0; i < h->link_count; i++) memory_free(h->trees[i].nodes);
  memory_free(h->trees);
  memory_free(h->leaf);
}

/* ---------------------------------------------------------------- traversal of two trees */

static bool walk_nodes(const BodyTree* a, const BodyTree* b, const int node[2], const PieceTraversal* w) {
  const TreeNode *first = &a->nodes[node[0]], *second = &b->nodes[node[1]];
  if (first->hull >= 0 && second->hull >= 0) return w->visit(w->context, first->hull, second->hull);
  int side = second->hull >= 0 || (first->hull < 0 && first->radius >= second->radius) ? 0 : 1, next[2][2];
  double least[2];
  for (int k = 0; k < 2; k++) {
    next[k][0] = side == 0 ? first->child[k] : node[0];
    next[k][1] = side == 1 ? second->child[k] : node[1];
    least[k] = w->lower_bound(w->context, &a->nodes[next[k][0]], &b->nodes[next[k][1]]);
  }
  int nearer = least[1] < least[0];
  if (!(least[nearer] > 0) && !walk_nodes(a, b, next[nearer], w)) return false;
  int other = 1 - nearer; /* the lower bound of the other child is computed again below, because the visit of the nearer
                             child may have increased it */
  if (least[other] > 0) return true;
  if (w->lower_bound(w->context, &a->nodes[next[other][0]], &b->nodes[next[other][1]]) > 0) return true;
  return walk_nodes(a, b, next[other], w);
}

bool hierarchy_traverse(const BodyTree* a, const BodyTree* b, const PieceTraversal* walk) {
  const int roots[2] = {0, 0};
  return walk->lower_bound(walk->context, a->nodes, b->nodes) > 0 || walk_nodes(a, b, roots, walk);
}

/* ---------------------------------------------------------------- adjoint of centres and radii */

static Vec3 direction(Vec3 x, double length) { return length > 0 ? vec3_scale(x, 1 / length) : vec3(0, 0, 0); }

void hierarchy_leaf_to_vertices(const Model* model, const BodyTree* tree, int index, Mat3 rotation,
                                const NodeBars* bars, Vec3* out) {
  assert(index >= 0 && index < tree->count);
  const TreeNode* node = &tree->nodes[index];
  const ModelHull* hull = &model->hulls[node->hull];
  int count = hull->points.count;
  Vec3 center = bars->center[index];
  double bar = bars->radius[index];
  if (bar != 0) {
    SmoothMax extent = leaf_extent(hull, node->center);
    for (int m = 0; m < count; m++) {
      Vec3 arm = vec3_sub(point_at(hull->points, m), node->center);
      double length = vec3_norm(arm);
      Vec3 pull =
          vec3_scale(direction(mat3_mul_vec(rotation, arm), length), bar * smooth_max_derivative(&extent, length));
      out[m] = vec3_add(out[m], pull);
      center = vec3_sub(center, pull);
    }
  }
  for (int m = 0; m < count; m++) out[m] = vec3_add_scaled(out[m], 1.0 / count, center);
}

static void inner_to_children(const BodyTree* tree, int index, Mat3 rotation, const NodeBars* bars) {
  const TreeNode* node = &tree->nodes[index];
  Vec3 center = bars->center[index];
  double bar = bars->radius[index];
  if (bar != 0) {
    SmoothMax extent = inner_extent(tree, node);
    for (int k = 0; k < 2; k++) {
      int child = node->child[k];
      double slope = bar * smooth_max_derivative(&extent, child_extent(tree, node, k));
      Vec3 arm = vec3_sub(tree->nodes[child].center, node->center);
      Vec3 pull = vec3_scale(direction(mat3_mul_vec(rotation, arm), vec3_norm(arm)), slope);
      bars->radius[child] += slope;
      bars->center[child] = vec3_add(bars->center[child], pull);
      center = vec3_sub(center, pull);
    }
  }
  for (int k = 0; k < 2; k++) {
    int child = node->child[k];
    double share = (double)tree->nodes[child].piece_count / node->piece_count;
    bars->center[child] = vec3_add_scaled(bars->center[child], share, center);
  }
}

void hierarchy_to_vertices(const Model* model, const BodyTree* tree, Mat3 rotation, const NodeBars* bars,
                           Vec3* vertices) {
  for (int k = 0; k < tree->count; k++) {
    int hull = tree->nodes[k].hull;
    if (hull >= 0) {
      Vec3* hull_vertices = vertices + (model->hulls[hull].vertex_first - tree->vertex_first);
      hierarchy_leaf_to_vertices(model, tree, k, rotation, bars, hull_vertices);
    } else
      inner_to_children(tree, k, rotation, bars);
  }
}
