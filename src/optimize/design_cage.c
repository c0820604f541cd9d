/* Cages: grids of control points in a box, whose displacements move the hull vertices in the box
 * (docs/derivations/design.md, D12). Unlike free vertices, a cage preserves the topology of a shape. */
#include <string.h>

#include "optimize/design_build.h"

/* Tolerance within which a position counts as equal to a control point, in units of a cell. It covers the rounding of
 * decimals in a file. */
#define POINT_TOLERANCE 1e-9
/* Distance by which vertices may be outside the box of the cage, relative to the size of the box. */
#define SIDE_TOLERANCE 1e-9

typedef struct {
  DesignBuild* build;
  const TaskCage* item;
  int link;           /* link whose frame defines the box */
  SymmetryGroup maps; /* symmetry maps of the link */
  double low[3], high[3];
  bool is_fixed_side[3][2]; /* true if the control points on the low or the high side of an axis are fixed */
  int* variable; /* index of the variable of each coordinate of the control points; -1: the coordinate is fixed (3
                    points) */
} Cage;

/* Weights of the control points at a position: hat functions, whose sum is 1. */
typedef struct {
  int point[8];
  double weight[8];
  int count; /* number of control points with a weight; 0 if the position is outside the cage */
} CageWeights;

static int point_count(const Cage* c, int axis) { return c->item->cells[axis] + 1; }

/* Finds the cell along an axis that contains the coordinate p, and the position in the cell from 0 to 1. Returns false
 * outside the cage. */
static bool find_cell(const Cage* c, int axis, double p, int* cell, double* fraction) {
  double size = c->high[axis] - c->low[axis], t = (p - c->low[axis]) / size * c->item->cells[axis];
  if (!(t >= -SIDE_TOLERANCE * c->item->cells[axis] && t <= (1 + SIDE_TOLERANCE) * c->item->cells[axis])) return false;
  double nearest = floor(t + 0.5);
  if (fabs(t - nearest) < POINT_TOLERANCE) t = nearest;
  *cell = (int)fmax(0, fmin(floor(t), c->item->cells[axis] - 1));
  *fraction = fmax(0, fmin(t - *cell, 1));
  return true;
}

/* Computes with which weights the control points move a vertex at the position p, frame of the cage's link [m] (D12).
 */
static CageWeights compute_weights(const Cage* c, Vec3 p) {
  CageWeights weights = {.count = 0};
  int cell[3];
  double fraction[3];
  for (int axis = 0; axis < 3; axis++)
    if (!find_cell(c, axis, design_component(p, axis), &cell[axis], &fraction[axis])) return weights;
  for (int corner = 0; corner < 8; corner++) {
    double weight = 1;
    int point = 0;
    for (int axis = 2; axis >= 0; axis--) {
      int side = corner >> axis & 1;
      weight *= side ? fraction[axis] : 1 - fraction[axis];
      point = point * point_count(c, axis) + cell[axis] + side;
    }
    if (weight == 0) continue;
    weights.point[weights.count] = point;
    weights.weight[weights.count++] = weight;
  }
  return weights;
}

typedef void (*VertexCallback)(Cage* c, int link, int hull, int vertex);

static bool is_at_joint(const DesignBuild* b, int link, int hull, int vertex) {
  for (int k = b->shared_first[link]; k >= 0; k = b->shared_next[k]) {
    const SharedVertex* s = &b->design->shared.items[k];
    if (s->child >= 0 && s->hull[0] == hull && s->vertex[0] == vertex) return true;
  }
  return false;
}

/* Calls callback for each vertex of a link that is not at a joint. */
static void for_each_vertex(Cage* c, int link, VertexCallback callback) {
  for (int h = 0; h < c->build->scene->links[link].shape_count; h++) {
    const SceneShape* shape = design_hull(c->build->scene, link, h);
    for (int m = 0; shape->type == SHAPE_POINTS && m < shape->point_count; m++)
      if (!is_at_joint(c->build, link, h, m)) callback(c, link, h, m);
  }
}

static Vec3 vertex_at(const Cage* c, int link, int hull, int vertex) {
  return design_hull(c->build->scene, link, hull)->points[vertex];
}

static void extend_box(Cage* c, int link, int hull, int vertex) {
  Vec3 p = vertex_at(c, link, hull, vertex);
  for (int axis = 0; axis < 3; axis++) {
    c->low[axis] = fmin(c->low[axis], design_component(p, axis));
    c->high[axis] = fmax(c->high[axis], design_component(p, axis));
  }
}

static void warn_outside(Cage* c, int link, int hull, int vertex) {
  Vec3 p = vertex_at(c, link, hull, vertex);
  for (int axis = 0; axis < 3; axis++) {
    double rounding = SIDE_TOLERANCE * (c->high[axis] - c->low[axis]);
    if (design_component(p, axis) < c->low[axis] - rounding) c->is_fixed_side[axis][0] = true;
    if (design_component(p, axis) > c->high[axis] + rounding) c->is_fixed_side[axis][1] = true;
  }
}

/* Sets the box of the cage, by default the bounding box of the link's vertices. Returns false with a message if it is
 * empty. */
static bool set_box(Cage* c) {
  const TaskCage* item = c->item;
  for (int axis = 0; axis < 3; axis++) {
    c->low[axis] = item->has_box ? design_component(item->box_low, axis) : HUGE_VAL;
    c->high[axis] = item->has_box ? design_component(item->box_high, axis) : -HUGE_VAL;
  }
  if (!item->has_box) for_each_vertex(c, c->link, extend_box);
  for_each_vertex(c, c->link, warn_outside);
  for (int axis = 0; axis < 3; axis++) {
    if (c->high[axis] > c->low[axis]) continue;
    diagnostics_add(c->build->diagnostics, SEVERITY_ERROR, item->place,
                    "the cage of link '%s' has no extent along %c: set or enlarge its box", item->link.text,
                    "xyz"[axis]);
    return false;
  }
  return true;
}

static bool is_fixed_point(const Cage* c, const int at[3]) {
  for (int axis = 0; axis < 3; axis++)
    if ((at[axis] == 0 && c->is_fixed_side[axis][0]) || (at[axis] == c->item->cells[axis] && c->is_fixed_side[axis][1]))
      return true;
  return false;
}

/* Returns true if a vertex or an image of it under a symmetry of the link is frozen. */
static bool has_frozen_image(const Cage* c, int hull, Vec3 p) {
  bool frozen = design_is_frozen(c->build, c->link, hull, p);
  for (int k = 0; k < c->maps.count && !frozen; k++)
    frozen = design_is_frozen(c->build, c->link, hull, mat3_mul_vec(c->maps.maps[k], p));
  return frozen;
}

/* Values of Cage.variable for points that have no variable yet. NEEDED marks a point that gets a variable, because it
 * has a weight at some vertex. */
enum { NO_VARIABLE = -1, NEEDED = -2 };

static void mark_points(Cage* c, int link, int hull, int vertex) {
  Vec3 p = vertex_at(c, link, hull, vertex);
  if (has_frozen_image(c, hull, p)) return;
  for (int k = -1; k < c->maps.count; k++) {
    CageWeights weights = compute_weights(c, k < 0 ? p : mat3_mul_vec(c->maps.maps[k], p));
    for (int i = 0; i < weights.count; i++)
      for (int axis = 0; axis < 3; axis++) c->variable[3 * weights.point[i] + axis] = NEEDED;
  }
}

static void add_point_variables(Cage* c) {
  const TaskBounds* bounds = &c->item->bounds;
  int at[3], point = 0;
  for (at[2] = 0; at[2] < point_count(c, 2); at[2]++)
    for (at[1] = 0; at[1] < point_count(c, 1); at[1]++)
      for (at[0] = 0; at[0] < point_count(c, 0); at[0]++, point++)
        for (int axis = 0; axis < 3; axis++) {
          int* variable = &c->variable[3 * point + axis];
          bool moves = *variable == NEEDED && c->item->axes[axis] && !is_fixed_point(c, at);
          *variable = NO_VARIABLE;
          if (!moves) continue;
          double share = (double)at[axis] / c->item->cells[axis];
          double initial = c->low[axis] + share * (c->high[axis] - c->low[axis]);
          VariableSpec item = {c->item->place, bounds->within, bounds->low[axis], bounds->high[axis], 0,
                               bounds->prior,  bounds->step};
          *variable =
              design_new_variable(c->build, &item, initial, "%s/cage/%d/%c", c->item->link.text, point, "xyz"[axis]);
        }
}

/* Adds the terms of one coordinate of a vertex to the last scene value. weights: control points at the image q of the
 * vertex in the cage. map: maps displacements of q to displacements of the vertex. */
static void add_weight_terms(const Cage* c, const CageWeights* weights, Mat3 map, int axis, double factor) {
  for (int i = 0; i < weights->count; i++)
    for (int j = 0; j < 3; j++) {
      int variable = c->variable[3 * weights->point[i] + j];
      if (variable >= 0) design_add_term(c->build->design, variable, factor * weights->weight[i] * map.m[axis][j]);
    }
}

/* Adds the coordinates of a vertex p (D3, D12). Its displacement is F mean over M of M^T u(M q), with q = F^T p. F: map
 * from the cage's link to the link of p. M: symmetries of the cage's link. u: displacement field of the cage. */
static void add_vertex_values(Cage* c, int link, int hull, int vertex) {
  Design* d = c->build->design;
  Mat3 to_link = link == c->link ? mat3_identity() : c->build->map[link];
  Vec3 p = vertex_at(c, link, hull, vertex), q = mat3_mul_vec(mat3_transpose(to_link), p);
  if (has_frozen_image(c, hull, q)) return;
  for (int axis = 0; axis < 3; axis++) {
    design_add_number(d, OVERRIDE_VERTEX, link, hull, 3 * vertex + axis, design_component(p, axis));
    for (int k = -1; k < c->maps.count; k++) {
      Mat3 map = k < 0 ? mat3_identity() : c->maps.maps[k];
      CageWeights weights = compute_weights(c, mat3_mul_vec(map, q));
      add_weight_terms(c, &weights, mat3_mul(to_link, mat3_transpose(map)), axis, 1.0 / (1 + c->maps.count));
    }
    if (d->numbers[d->number_count - 1].term_count == 0) d->number_count--; /* the vertex is fixed */
  }
}

static bool has_vertices(const DesignBuild* b, const char* name) {
  for (int k = 0; k < b->task->vertices_count; k++)
    if (strcmp(b->task->vertices[k].link.text, name) == 0) return true;
  return false;
}

static void add_cage(Cage* c) {
  DesignBuild* b = c->build;
  int count = point_count(c, 0) * point_count(c, 1) * point_count(c, 2), before = b->design->variable_count;
  c->variable = MEMORY_NEW(int, 3 * count);
  for (int k = 0; k < 3 * count; k++) c->variable[k] = NO_VARIABLE;
  for_each_vertex(c, c->link, mark_points);
  add_point_variables(c);
  if (b->design->variable_count == before)
    diagnostics_add(b->diagnostics, SEVERITY_ERROR, c->item->place,
                    "the cage of link '%s' contains no vertex that can move: enlarge its box or unfreeze vertices",
                    c->item->link.text);
  for (int i = 0; i < b->scene->link_count; i++)
    if (i == c->link || b->leader[i] == c->link) for_each_vertex(c, i, add_vertex_values);
  memory_free(c->variable);
}

void design_add_cage_variables(DesignBuild* b, const TaskCage* item) {
  int link = design_find_link(b->scene, item->link.text);
  if (link < 0) return; /* an unknown link was reported earlier */
  design_check_follower(b, &item->link);
  if (b->leader[link] >= 0) return; /* the cage of the link of which this link is a mirror image also moves this link */
  if (has_vertices(b, item->link.text)) {
    diagnostics_add(b->diagnostics, SEVERITY_ERROR, item->place,
                    "link '%s' has both free vertices and a cage: choose one of them", item->link.text);
    return;
  }
  Cage cage = {.build = b, .item = item, .link = link, .maps = design_symmetry_group(b, link)};
  if (set_box(&cage)) add_cage(&cage);
  symmetry_group_free(&cage.maps);
}
