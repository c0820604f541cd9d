/* Variables of hull vertices. A vertex has its own variables or moves with another vertex: as its mirror image, as a
 * shared vertex, or because its link is the image of another link. */
#include <string.h>

#include "optimize/design_build.h"

/* Tolerance for the image of a vertex under a symmetry, relative to the size of the link. */
#define POSITION_TOLERANCE 1e-6
/* Tolerance for a zero component of a unit vector. It covers the rounding of decimals in a file. */
#define ALIGNMENT_TOLERANCE 1e-9

typedef struct {
  int hull, vertex; /* index of the hull, or -1 for no vertex, and index of the vertex in the hull */
} VertexIndex;

/* Vertices of one link. */
typedef struct {
  int link, hull_count;
  SymmetryGroup maps;
  double tolerance; /* distance within which two positions count as equal [m] */
  bool** selected;  /* vertices that items of the task select, per hull (size: vertices) */
  int** shared;     /* first entry of each vertex in Design.shared, or -1, per hull (size: vertices) */
  int** variable;   /* variable of each coordinate, -1: dependent or fixed, per hull (3 vertices) */
  bool is_reported; /* true if a message about the link was reported */
} LinkVertices;

static void index_shared_vertices(const DesignBuild* b, LinkVertices* v) {
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
  v.tolerance = POSITION_TOLERANCE * b->model->links[link].reach;
  v.selected = MEMORY_NEW(bool*, v.hull_count);
  v.shared = MEMORY_NEW(int*, v.hull_count);
  v.variable = MEMORY_NEW(int*, v.hull_count);
  for (int h = 0; h < v.hull_count; h++) {
    const SceneShape* shape = design_hull(b->scene, link, h);
    v.selected[h] = MEMORY_NEW(bool, shape->point_count);
    v.variable[h] = MEMORY_NEW(int, 3 * shape->point_count);
    for (int k = 0; k < 3 * shape->point_count; k++) v.variable[h][k] = -1;
    v.shared[h] = MEMORY_NEW(int, shape->point_count);
    for (int k = 0; k < shape->point_count; k++) v.shared[h][k] = -1;
  }
  index_shared_vertices(b, &v);
  return v;
}

static void link_vertices_free(LinkVertices* v) {
  for (int h = 0; h < v->hull_count; h++) {
    memory_free(v->selected[h]);
    memory_free(v->shared[h]);
    memory_free(v->variable[h]);
  }
  memory_free(v->selected);
  memory_free(v->shared);
  memory_free(v->variable);
  symmetry_group_free(&v->maps);
}

bool vertex_range_contains(const VertexRange* range, int hull, Vec3 p) {
  bool listed = !range->hulls;
  for (int k = 0; k < range->hull_count && !listed; k++) listed = range->hulls[k] == hull;
  Vec3 low = range->low, high = range->high;
  bool inside = !range->has_box ||
                (p.x >= low.x && p.y >= low.y && p.z >= low.z && p.x <= high.x && p.y <= high.y && p.z <= high.z);
  return listed && inside;
}

static const SharedVertex* find_shared(const DesignBuild* b, const LinkVertices* v, VertexIndex at) {
  int k = v->shared[at.hull][at.vertex];
  return k < 0 ? NULL : &b->design->shared.items[k];
}

/* Returns true if the vertex moves with a joint. */
static bool is_attachment(const SharedVertex* shared) { return shared && shared->child >= 0; }

/* Returns true if the task selects all vertices at the position of a shared vertex. Entries of one position are
 * consecutive and have equal hull[0] and vertex[0]. */
static bool all_are_selected(const DesignBuild* b, const LinkVertices* v, const SharedVertex* group) {
  for (int k = v->shared[group->hull[0]][group->vertex[0]]; k >= 0; k = b->shared_next[k]) {
    const SharedVertex* s = &b->design->shared.items[k];
    if (s->hull[0] != group->hull[0] || s->vertex[0] != group->vertex[0]) break;
    if (!v->selected[s->hull[0]][s->vertex[0]] || !v->selected[s->hull[1]][s->vertex[1]]) return false;
  }
  return true;
}

static bool item_selects(const DesignBuild* b, const LinkVertices* v, const TaskVertices* item, VertexIndex at) {
  Vec3 p = design_hull(b->scene, v->link, at.hull)->points[at.vertex];
  const VertexRange range = {item->hulls, item->hull_count, item->has_box, item->box_low, item->box_high};
  return vertex_range_contains(&range, at.hull, p) && !is_attachment(find_shared(b, v, at)) &&
         !design_is_frozen(b, v->link, at.hull, p);
}

/* Callback for each vertex that an item selects. */
typedef void (*VertexCallback)(DesignBuild* b, LinkVertices* v, VertexIndex at, const TaskVertices* item);

static int for_each_selected(DesignBuild* b, LinkVertices* v, const TaskVertices* item, VertexCallback callback) {
  int count = 0;
  for (int h = 0; h < v->hull_count; h++) {
    const SceneShape* shape = design_hull(b->scene, v->link, h);
    for (int m = 0; shape->type == SHAPE_POINTS && m < shape->point_count; m++) {
      VertexIndex at = {h, m};
      if (!item_selects(b, v, item, at)) continue;
      callback(b, v, at, item);
      count++;
    }
  }
  return count;
}

static void select_vertex(DesignBuild* b, LinkVertices* v, VertexIndex at, const TaskVertices* item) {
  (void)b, (void)item;
  v->selected[at.hull][at.vertex] = true;
}

/* Returns the first vertex of a link within `tolerance` of p [m, link frame], or hull -1. */
static VertexIndex find_vertex(const DesignBuild* b, int link, Vec3 p, double tolerance) {
  for (int h = 0; h < b->scene->links[link].shape_count; h++) {
    const SceneShape* shape = design_hull(b->scene, link, h);
    for (int m = 0; shape->type == SHAPE_POINTS && m < shape->point_count; m++)
      if (vec3_norm(vec3_sub(shape->points[m], p)) <= tolerance) return (VertexIndex){h, m};
  }
  return (VertexIndex){-1, -1};
}

static bool precedes(VertexIndex a, VertexIndex b) {
  return a.hull < b.hull || (a.hull == b.hull && a.vertex < b.vertex);
}

/* Returns the vertex whose variables move vertex `at` (design.md, D3): the first vertex at the same position, or the
 * first image under the symmetries of the link. *map: maps its displacement to that of `at`. Returns hull -1 if an
 * image has no vertex. */
static VertexIndex representative(const DesignBuild* b, const LinkVertices* v, VertexIndex at, Mat3* map) {
  *map = mat3_identity();
  const SharedVertex* s = find_shared(b, v, at);
  Vec3 p = design_hull(b->scene, v->link, at.hull)->points[at.vertex];
  VertexIndex best = s ? (VertexIndex){s->hull[0], s->vertex[0]} : at;
  for (int k = 0; k < v->maps.count; k++) {
    VertexIndex image = find_vertex(b, v->link, mat3_mul_vec(v->maps.maps[k], p), v->tolerance);
    if (image.hull < 0 || is_attachment(find_shared(b, v, image))) return (VertexIndex){-1, -1};
    if (!precedes(image, best)) continue;
    best = image;
    *map = mat3_transpose(v->maps.maps[k]); /* the symmetry matrix M maps p to its image, so that p = M^T image */
  }
  return best;
}

static void report_once(DesignBuild* b, LinkVertices* v, SourcePosition place, VertexIndex at, const char* what) {
  if (!v->is_reported)
    diagnostics_add(b->diagnostics, SEVERITY_ERROR, place, "link '%s': vertex %d of hull %d %s",
                    b->scene->links[v->link].name, at.vertex, at.hull, what);
  v->is_reported = true;
}

static int add_vertex_variable(DesignBuild* b, int link, VertexIndex at, int axis, const TaskVertices* item) {
  const TaskBounds* bounds = &item->bounds;
  VariableSpec spec = {item->place, bounds->within, bounds->low[axis], bounds->high[axis],
                       0,           bounds->prior,  bounds->step};
  double initial = design_component(design_hull(b->scene, link, at.hull)->points[at.vertex], axis);
  return design_new_variable(b, &spec, initial, "%s/%d/%d/%c", b->scene->links[link].name, at.hull, at.vertex,
                             "xyz"[axis]);
}

/* Warns if bounds let vertices move farther than the size of the link. */
static void warn_wide_bounds(DesignBuild* b, const LinkVertices* v, const TaskVertices* item) {
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

/* Adds the variables of vertex `at` unless it moves with another one. A shared vertex becomes a variable only if the
 * task selects it in all hulls. */
static void add_variables(DesignBuild* b, LinkVertices* v, VertexIndex at, const TaskVertices* item) {
  Mat3 map;
  const SharedVertex* s = find_shared(b, v, at);
  VertexIndex first = representative(b, v, at, &map);
  if (first.hull < 0 && !s)
    report_once(b, v, item->place, at,
                "has no image under the link's symmetry: make the shape symmetric, or remove the symmetry");
  if (first.hull < 0 || (s && !all_are_selected(b, v, s))) return;
  if (!v->selected[first.hull][first.vertex])
    report_once(b, v, item->place, at,
                "is a variable, but its image under the link's symmetry is not: select both vertices");
  if (first.hull != at.hull || first.vertex != at.vertex) return;
  bool axes[3] = {item->axes[0], item->axes[1], item->axes[2]};
  if (!design_clear_fixed_axes(&v->maps, design_hull(b->scene, v->link, at.hull)->points[at.vertex], v->tolerance,
                               axes))
    report_once(b, v, item->place, at,
                "lies on a plane or axis of symmetry that is not along the axes of the frame: turn the frame");
  for (int axis = 0; axis < 3; axis++) {
    int* variable = &v->variable[at.hull][3 * at.vertex + axis];
    if (axes[axis] && *variable < 0) *variable = add_vertex_variable(b, v->link, at, axis, item);
  }
}

static bool moves_along(const int variable[3], Mat3 map, int axis, int j) {
  return variable[j] >= 0 && fabs(map.m[axis][j]) > ALIGNMENT_TOLERANCE;
}

/* Adds the coordinates of vertex `at` (D3), whose displacement is map times the displacement of the vertex with the
 * variables. */
static void add_vertex_numbers(DesignBuild* b, int link, VertexIndex at, const int variable[3], Mat3 map) {
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

/* Returns the vertex of a mirrored link at the position `image`: the same vertex of the same hull, another vertex of
 * that hull, or a vertex of any hull. image, tolerance: frame of that link [m]. */
static VertexIndex find_image(const DesignBuild* b, int link, VertexIndex at, Vec3 image, double tolerance) {
  const SceneShape* shape = design_hull(b->scene, link, at.hull);
  if (at.vertex < shape->point_count && vec3_norm(vec3_sub(shape->points[at.vertex], image)) <= tolerance) return at;
  for (int m = 0; m < shape->point_count; m++)
    if (vec3_norm(vec3_sub(shape->points[m], image)) <= tolerance) return (VertexIndex){at.hull, m};
  return find_vertex(b, link, image, tolerance);
}

static void add_image_values(DesignBuild* b, LinkVertices* v, int follower, VertexIndex at, const int variable[3],
                             Mat3 map) {
  Vec3 p = design_hull(b->scene, v->link, at.hull)->points[at.vertex];
  VertexIndex image = find_image(b, follower, at, mat3_mul_vec(b->map[follower], p), v->tolerance);
  if (image.hull >= 0) {
    add_vertex_numbers(b, follower, image, variable, mat3_mul(b->map[follower], map));
    return;
  }
  if (!v->is_reported)
    diagnostics_add(b->diagnostics, SEVERITY_ERROR, b->scene->links[follower].place,
                    "link '%s' cannot follow '%s', because no vertex lies at the image of vertex %d of hull %d: give "
                    "both links the same shape",
                    b->scene->links[follower].name, b->scene->links[v->link].name, at.vertex, at.hull);
  v->is_reported = true;
}

static void add_vertex_values(DesignBuild* b, LinkVertices* v, VertexIndex at) {
  Mat3 map;
  if (is_attachment(find_shared(b, v, at))) return;
  VertexIndex first = representative(b, v, at, &map);
  if (first.hull < 0) return;
  const int* variable = &v->variable[first.hull][3 * first.vertex];
  if (variable[0] < 0 && variable[1] < 0 && variable[2] < 0) return;
  add_vertex_numbers(b, v->link, at, variable, map);
  for (int i = 0; i < b->scene->link_count; i++)
    if (b->leader[i] == v->link) add_image_values(b, v, i, at, variable, map);
}

static void add_link_variables(DesignBuild* b, int link) {
  LinkVertices v = link_vertices_create(b, link);
  for (int pass = 0; pass < 2; pass++) /* first all vertices are selected, then variables are added */
    for (int k = 0; k < b->task->vertices_count; k++) {
      const TaskVertices* item = &b->task->vertices[k];
      if (strcmp(item->link.text, b->scene->links[link].name) != 0) continue;
      int count = for_each_selected(b, &v, item, pass == 0 ? select_vertex : add_variables);
      if (pass == 0) warn_wide_bounds(b, &v, item);
      if (count == 0 && pass == 0)
        diagnostics_add(
            b->diagnostics, SEVERITY_ERROR, item->place,
            "link '%s' has no free vertex in the given 'hulls' and 'box': enlarge the box, or choose other hulls",
            item->link.text);
    }
  for (int h = 0; h < v.hull_count; h++) {
    const SceneShape* shape = design_hull(b->scene, link, h);
    for (int m = 0; shape->type == SHAPE_POINTS && m < shape->point_count; m++)
      add_vertex_values(b, &v, (VertexIndex){h, m});
  }
  link_vertices_free(&v);
}

/* A task entry for a mirrored link is redundant if the link of which it is the image has variables. Otherwise it is an
 * error. */
void design_check_follower(DesignBuild* b, const TaskName* name) {
  int link = design_find_link(b->scene, name->text), leader = link < 0 ? -1 : b->leader[link];
  if (leader >= 0 && !b->shapes[leader])
    diagnostics_add(
        b->diagnostics, SEVERITY_ERROR, name->place,
        "link '%s' follows '%s', whose vertices are not variables: name the second link in 'vertices' instead",
        name->text, b->scene->links[leader].name);
}

void design_add_vertex_variables(DesignBuild* b) {
  for (int k = 0; k < b->task->vertices_count; k++) design_check_follower(b, &b->task->vertices[k].link);
  for (int i = 0; i < b->scene->link_count; i++)
    if (b->shapes[i] && b->leader[i] < 0) add_link_variables(b, i);
}
