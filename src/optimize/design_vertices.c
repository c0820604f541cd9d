/* Variables of hull vertices. A vertex has its own variables or follows another vertex: by a symmetry, as a shared
 * vertex, or because its link follows another link. */
#include <string.h>

#include "optimize/design_build.h"

/* A symmetry maps one vertex onto another if they agree to this tolerance, relative to the size of the link. */
#define SAME_PLACE 1e-6
/* A component of a unit vector counts as zero below this tolerance, which covers the rounding of decimals in a file. */
#define ALIGNED 1e-9

typedef struct {
  int hull, vertex; /* hull -1: none */
} VertexPlace;

/* The vertices of one link. */
typedef struct {
  int link, hull_count;
  SymmetryGroup maps;
  double tolerance; /* m */
  bool** asked;     /* per hull: selected by an item of the task (vertices) */
  int** shared;     /* per hull: index of the vertex's first entry in Design.shared, or -1 (vertices) */
  int** variable;   /* per hull: variable of each coordinate; -1: dependent or fixed (3 vertices) */
  bool told;        /* true if a message about this link was given */
} LinkVertices;

/* ---------------------------------------------------------------- memory */

/* Sets v->shared to the first shared vertex at each vertex of the link, so that no search is needed later. */
static void index_vertices(const DesignBuild* b, LinkVertices* v) {
  for (int k = b->shared_first[v->link]; k >= 0; k = b->shared_next[k]) {
    const SharedVertex* s = &b->design->shared.items[k];
    for (int side = 0; side < 2 && s->hull[side] >= 0; side++) {
      int* first = &v->shared[s->hull[side]][s->vertex[side]];
      if (*first < 0) *first = k;
    }
  }
}

static LinkVertices link_vertices_create(DesignBuild* b, int link) {
  LinkVertices v = {.link = link, .hull_count = b->scene->links[link].shape_count};
  v.maps = design_symmetry_group(b, link);
  v.tolerance = SAME_PLACE * b->model->links[link].reach;
  v.asked = MEMORY_NEW(bool*, v.hull_count);
  v.shared = MEMORY_NEW(int*, v.hull_count);
  v.variable = MEMORY_NEW(int*, v.hull_count);
  for (int h = 0; h < v.hull_count; h++) {
    const SceneShape* shape = design_hull(b->scene, link, h);
    v.asked[h] = MEMORY_NEW(bool, shape->point_count);
    v.variable[h] = MEMORY_NEW(int, 3 * shape->point_count);
    for (int k = 0; k < 3 * shape->point_count; k++) v.variable[h][k] = -1;
    v.shared[h] = MEMORY_NEW(int, shape->point_count);
    for (int k = 0; k < shape->point_count; k++) v.shared[h][k] = -1;
  }
  index_vertices(b, &v);
  return v;
}

static void link_vertices_free(LinkVertices* v) {
  for (int h = 0; h < v->hull_count; h++) {
    memory_free(v->asked[h]);
    memory_free(v->shared[h]);
    memory_free(v->variable[h]);
  }
  memory_free(v->asked);
  memory_free(v->shared);
  memory_free(v->variable);
  symmetry_group_free(&v->maps);
}

/* ---------------------------------------------------------------- selection of vertices */

bool vertex_range_contains(const VertexRange* range, int hull, Vec3 p) {
  bool listed = !range->hulls;
  for (int k = 0; k < range->hull_count && !listed; k++) listed = range->hulls[k] == hull;
  Vec3 low = range->low, high = range->high;
  bool inside = !range->has_box ||
                (p.x >= low.x && p.y >= low.y && p.z >= low.z && p.x <= high.x && p.y <= high.y && p.z <= high.z);
  return listed && inside;
}

static const SharedVertex* shared_at(const DesignBuild* b, const LinkVertices* v, VertexPlace at) {
  int k = v->shared[at.hull][at.vertex];
  return k < 0 ? NULL : &b->design->shared.items[k];
}

/* Returns true if the vertex is at a joint and moves with the joint. */
static bool is_attachment(const SharedVertex* shared) { return shared && shared->child >= 0; }

/* Returns true if the task selects all vertices at the position of `group`. Entries of one position are consecutive
 * in the link's list of shared vertices and have equal hull[0] and vertex[0]. */
static bool all_asked(const DesignBuild* b, const LinkVertices* v, const SharedVertex* group) {
  for (int k = v->shared[group->hull[0]][group->vertex[0]]; k >= 0; k = b->shared_next[k]) {
    const SharedVertex* s = &b->design->shared.items[k];
    if (s->hull[0] != group->hull[0] || s->vertex[0] != group->vertex[0]) break;
    if (!v->asked[s->hull[0]][s->vertex[0]] || !v->asked[s->hull[1]][s->vertex[1]]) return false;
  }
  return true;
}

static bool selects(const DesignBuild* b, const LinkVertices* v, const TaskVertices* wish, VertexPlace at) {
  Vec3 p = design_hull(b->scene, v->link, at.hull)->points[at.vertex];
  const VertexRange range = {wish->hulls, wish->hull_count, wish->has_box, wish->box_low, wish->box_high};
  return vertex_range_contains(&range, at.hull, p) && !is_attachment(shared_at(b, v, at)) &&
         !design_is_frozen(b, v->link, at.hull, p);
}

/* Function that is called for each vertex that the item `wish` selects. */
typedef void (*VertexBody)(DesignBuild* b, LinkVertices* v, VertexPlace at, const TaskVertices* wish);

static int each_selected(DesignBuild* b, LinkVertices* v, const TaskVertices* wish, VertexBody body) {
  int count = 0;
  for (int h = 0; h < v->hull_count; h++) {
    const SceneShape* shape = design_hull(b->scene, v->link, h);
    for (int m = 0; shape->type == SHAPE_POINTS && m < shape->point_count; m++) {
      VertexPlace at = {h, m};
      if (!selects(b, v, wish, at)) continue;
      body(b, v, at, wish);
      count++;
    }
  }
  return count;
}

static void ask(DesignBuild* b, LinkVertices* v, VertexPlace at, const TaskVertices* wish) {
  (void)b, (void)wish;
  v->asked[at.hull][at.vertex] = true;
}

/* ---------------------------------------------------------------- representatives */

/* Returns the first vertex of the link within `tolerance` of p [m, link frame]. Returns hull -1 if there is none. */
static VertexPlace vertex_near(const DesignBuild* b, int link, Vec3 p, double tolerance) {
  for (int h = 0; h < b->scene->links[link].shape_count; h++) {
    const SceneShape* shape = design_hull(b->scene, link, h);
    for (int m = 0; shape->type == SHAPE_POINTS && m < shape->point_count; m++)
      if (vec3_norm(vec3_sub(shape->points[m], p)) <= tolerance) return (VertexPlace){h, m};
  }
  return (VertexPlace){-1, -1};
}

static bool before(VertexPlace a, VertexPlace b) {
  return a.hull < b.hull || (a.hull == b.hull && a.vertex < b.vertex);
}

/* Returns the vertex whose variables move vertex `at` (D3). Of vertices at the same position it is the first. Of
 * vertices that symmetries of the link map onto each other it is the first image, in order. Sets *map to the matrix
 * that maps the displacement of that vertex to the displacement of `at`. Returns hull -1 if an image has no vertex. */
static VertexPlace representative(const DesignBuild* b, const LinkVertices* v, VertexPlace at, Mat3* map) {
  *map = mat3_identity();
  const SharedVertex* s = shared_at(b, v, at);
  Vec3 p = design_hull(b->scene, v->link, at.hull)->points[at.vertex];
  VertexPlace best = s ? (VertexPlace){s->hull[0], s->vertex[0]} : at;
  for (int k = 0; k < v->maps.count; k++) {
    VertexPlace image = vertex_near(b, v->link, mat3_mul_vec(v->maps.maps[k], p), v->tolerance);
    if (image.hull < 0 || is_attachment(shared_at(b, v, image))) return (VertexPlace){-1, -1};
    if (!before(image, best)) continue;
    best = image;
    *map = mat3_transpose(v->maps.maps[k]); /* image = M p, so p = M^T image */
  }
  return best;
}

static void tell_once(DesignBuild* b, LinkVertices* v, SourcePosition place, VertexPlace at, const char* what) {
  if (!v->told)
    diagnostics_add(b->diagnostics, SEVERITY_ERROR, place, "link '%s': vertex %d of hull %d %s",
                    b->scene->links[v->link].name, at.vertex, at.hull, what);
  v->told = true;
}

/* ---------------------------------------------------------------- variables */

static int vertex_variable(DesignBuild* b, int link, VertexPlace at, int axis, const TaskVertices* item) {
  const TaskBounds* bounds = &item->bounds;
  VariableSpec wish = {item->place, bounds->within, bounds->low[axis], bounds->high[axis],
                       0,           bounds->prior,  bounds->step};
  double initial = design_component(design_hull(b->scene, link, at.hull)->points[at.vertex], axis);
  return design_new_variable(b, &wish, initial, "%s/%d/%d/%c", b->scene->links[link].name, at.hull, at.vertex,
                             "xyz"[axis]);
}

/* Warns if bounds let vertices move farther than the size of the link. */
static void warn_within(DesignBuild* b, const LinkVertices* v, const TaskVertices* item) {
  Vec3 low = vec3(HUGE_VAL, HUGE_VAL, HUGE_VAL), high = vec3_scale(low, -1);
  double within = item->bounds.within;
  for (int h = 0; h < v->hull_count; h++) {
    const SceneShape* shape = design_hull(b->scene, v->link, h);
    for (int m = 0; shape->type == SHAPE_POINTS && m < shape->point_count; m++) {
      Vec3 p = shape->points[m];
      low = vec3(fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z));
      high = vec3(fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z));
    }
  }
  double size = vec3_norm(vec3_sub(high, low));
  if (!isfinite(within) || !isfinite(size) || !(within > size)) return;
  diagnostics_add(b->diagnostics, SEVERITY_WARNING, item->place,
                  "within: %.6g m lets vertices of link '%s' move farther than the size of the link, %.3g m: give "
                  "metres (for millimetres write %.6g)",
                  within, b->scene->links[v->link].name, size, within / 1000);
}

/* Adds variables for vertex `at` unless the vertex follows another one (representative). A vertex shared by several
 * hulls becomes a variable only if the task selects it in all of them. */
static void make_variables(DesignBuild* b, LinkVertices* v, VertexPlace at, const TaskVertices* wish) {
  Mat3 map;
  const SharedVertex* s = shared_at(b, v, at);
  VertexPlace first = representative(b, v, at, &map);
  if (first.hull < 0 && !s)
    tell_once(b, v, wish->place, at,
              "has no image under the link's symmetry: make the shape symmetric, or remove the symmetry");
  if (first.hull < 0 || (s && !all_asked(b, v, s))) return;
  if (!v->asked[first.hull][first.vertex])
    tell_once(b, v, wish->place, at,
              "is a variable, but its image under the link's symmetry is not: select both vertices");
  if (first.hull != at.hull || first.vertex != at.vertex) return;
  bool axes[3] = {wish->axes[0], wish->axes[1], wish->axes[2]};
  if (!design_clear_fixed_axes(&v->maps, design_hull(b->scene, v->link, at.hull)->points[at.vertex], v->tolerance,
                               axes))
    tell_once(b, v, wish->place, at,
              "lies on a plane or axis of symmetry that is not along the axes of the frame: turn the frame");
  for (int axis = 0; axis < 3; axis++) {
    int* variable = &v->variable[at.hull][3 * at.vertex + axis];
    if (axes[axis] && *variable < 0) *variable = vertex_variable(b, v->link, at, axis, wish);
  }
}

/* ---------------------------------------------------------------- numbers */

static bool moves_along(const int variable[3], Mat3 map, int axis, int j) {
  return variable[j] >= 0 && fabs(map.m[axis][j]) > ALIGNED;
}

/* Adds the scene numbers of vertex `at` (D3). Its displacement is map times the displacement of the vertex with the
 * variables. */
static void add_vertex_numbers(DesignBuild* b, int link, VertexPlace at, const int variable[3], Mat3 map) {
  Vec3 p = design_hull(b->scene, link, at.hull)->points[at.vertex];
  for (int axis = 0; axis < 3; axis++) {
    bool moves = false;
    for (int j = 0; j < 3; j++) moves = moves || moves_along(variable, map, axis, j);
    if (!moves) continue;
    design_add_number(b->design, OVERRIDE_VERTEX, link, at.hull, 3 * at.vertex + axis, design_component(p, axis));
    for (int j = 0; j < 3; j++)
      if (moves_along(variable, map, axis, j)) design_add_term(b->design, variable[j], map.m[axis][j]);
  }
}

/* Returns the vertex of a following link at position `image`. Prefers the vertex with the same number as `at` in the
 * same hull, then another vertex of that hull, then a vertex of any hull. image, tolerance: frame of the following
 * link [m]. */
static VertexPlace image_in(const DesignBuild* b, int link, VertexPlace at, Vec3 image, double tolerance) {
  const SceneShape* shape = design_hull(b->scene, link, at.hull);
  if (at.vertex < shape->point_count && vec3_norm(vec3_sub(shape->points[at.vertex], image)) <= tolerance) return at;
  for (int m = 0; m < shape->point_count; m++)
    if (vec3_norm(vec3_sub(shape->points[m], image)) <= tolerance) return (VertexPlace){at.hull, m};
  return vertex_near(b, link, image, tolerance);
}

static void follow(DesignBuild* b, LinkVertices* v, int follower, VertexPlace at, const int variable[3], Mat3 map) {
  Vec3 p = design_hull(b->scene, v->link, at.hull)->points[at.vertex];
  VertexPlace image = image_in(b, follower, at, mat3_mul_vec(b->map[follower], p), v->tolerance);
  if (image.hull >= 0) {
    add_vertex_numbers(b, follower, image, variable, mat3_mul(b->map[follower], map));
    return;
  }
  if (!v->told)
    diagnostics_add(b->diagnostics, SEVERITY_ERROR, b->scene->links[follower].place,
                    "link '%s' cannot follow '%s', because no vertex lies at the image of vertex %d of hull %d: give "
                    "both links the same shape",
                    b->scene->links[follower].name, b->scene->links[v->link].name, at.vertex, at.hull);
  v->told = true;
}

static void number_vertex(DesignBuild* b, LinkVertices* v, VertexPlace at) {
  Mat3 map;
  if (is_attachment(shared_at(b, v, at))) return;
  VertexPlace first = representative(b, v, at, &map);
  if (first.hull < 0) return;
  const int* variable = &v->variable[first.hull][3 * first.vertex];
  if (variable[0] < 0 && variable[1] < 0 && variable[2] < 0) return;
  add_vertex_numbers(b, v->link, at, variable, map);
  for (int i = 0; i < b->scene->link_count; i++)
    if (b->follows[i] == v->link) follow(b, v, i, at, variable, map);
}

/* ---------------------------------------------------------------- a link */

static void vertices_of_link(DesignBuild* b, int link) {
  LinkVertices v = link_vertices_create(b, link);
  for (int pass = 0; pass < 2; pass++) /* the first pass marks all selected vertices, the second makes variables */
    for (int k = 0; k < b->task->vertices_count; k++) {
      const TaskVertices* wish = &b->task->vertices[k];
      if (strcmp(wish->link.text, b->scene->links[link].name) != 0) continue;
      int count = each_selected(b, &v, wish, pass == 0 ? ask : make_variables);
      if (pass == 0) warn_within(b, &v, wish);
      if (count == 0 && pass == 0)
        diagnostics_add(
            b->diagnostics, SEVERITY_ERROR, wish->place,
            "link '%s' has no free vertex in the given 'hulls' and 'box': enlarge the box, or choose other hulls",
            wish->link.text);
    }
  for (int h = 0; h < v.hull_count; h++) {
    const SceneShape* shape = design_hull(b->scene, link, h);
    for (int m = 0; shape->type == SHAPE_POINTS && m < shape->point_count; m++)
      number_vertex(b, &v, (VertexPlace){h, m});
  }
  link_vertices_free(&v);
}

/* An item for a following link is redundant if the leader has variables. Otherwise the item is an error. */
void design_check_follower(DesignBuild* b, const TaskName* name) {
  int link = design_find_link(b->scene, name->text), leader = link < 0 ? -1 : b->follows[link];
  if (leader >= 0 && !b->shapes[leader])
    diagnostics_add(
        b->diagnostics, SEVERITY_ERROR, name->place,
        "link '%s' follows '%s', whose vertices are not variables: name the second link in 'vertices' instead",
        name->text, b->scene->links[leader].name);
}

void design_add_vertex_variables(DesignBuild* b) {
  for (int k = 0; k < b->task->vertices_count; k++) design_check_follower(b, &b->task->vertices[k].link);
  for (int i = 0; i < b->scene->link_count; i++)
    if (b->shapes[i] && b->follows[i] < 0) vertices_of_link(b, i);
}
