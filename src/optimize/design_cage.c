/* Cages: grids of control points in a box, whose displacements displace the hull vertices in the box
 * (docs/derivations/design.md, D12). A cage is an alternative to free vertices that preserves the topology of a
 * shape. */
#include <string.h>

#include "optimize/design_build.h"

/* A position counts as on a control point within this distance, in cells. The tolerance covers the rounding of
 * decimals in a file. */
#define ON_POINT 1e-9
/* Tolerance for vertices outside a side of the box, relative to its size. */
#define ON_SIDE 1e-9

typedef struct {
  DesignBuild* build;
  const TaskCage* wish;
  int link;           /* link in whose frame the box is given */
  SymmetryGroup maps; /* maps under which that link is symmetric */
  double low[3], high[3];
  bool still[3][2]; /* true if the points on the low or high side of an axis are fixed */
  int* variable;    /* variable of each coordinate of the control points (3 points); -1: fixed */
} Cage;

/* Weights of the control points at a position. The weights are hat functions, which sum to 1. */
typedef struct {
  int point[8];
  double weight[8];
  int count; /* number of control points with a weight; 0: the position is outside the cage */
} CagePlace;

static int point_count(const Cage* c, int axis) { return c->wish->cells[axis] + 1; }

/* ---------------------------------------------------------------- weights */

/* Sets *cell to the cell along an axis that contains coordinate p, and *within to the position in this cell, from 0
 * to 1. Returns false if p is outside the cage. */
static bool cell_at(const Cage* c, int axis, double p, int* cell, double* within) {
  double size = c->high[axis] - c->low[axis], t = (p - c->low[axis]) / size * c->wish->cells[axis];
  if (!(t >= -ON_SIDE * c->wish->cells[axis] && t <= (1 + ON_SIDE) * c->wish->cells[axis])) return false;
  double nearest = floor(t + 0.5);
  if (fabs(t - nearest) < ON_POINT) t = nearest;
  *cell = (int)fmax(0, fmin(floor(t), c->wish->cells[axis] - 1));
  *within = fmax(0, fmin(t - *cell, 1));
  return true;
}

/* Returns the weights of the control points at a position p (D12). p: frame of the leading link [m]. */
static CagePlace place_in(const Cage* c, Vec3 p) {
  CagePlace place = {.count = 0};
  int cell[3];
  double within[3];
  for (int axis = 0; axis < 3; axis++)
    if (!cell_at(c, axis, design_component(p, axis), &cell[axis], &within[axis])) return place;
  for (int corner = 0; corner < 8; corner++) {
    double weight = 1;
    int point = 0;
    for (int axis = 2; axis >= 0; axis--) {
      int side = corner >> axis & 1;
      weight *= side ? within[axis] : 1 - within[axis];
      point = point * point_count(c, axis) + cell[axis] + side;
    }
    if (weight == 0) continue;
    place.point[place.count] = point;
    place.weight[place.count++] = weight;
  }
  return place;
}

/* ---------------------------------------------------------------- vertices that follow */

typedef void (*CageBody)(Cage* c, int link, int hull, int vertex);

static bool at_joint(const DesignBuild* b, int link, int hull, int vertex) {
  for (int k = b->shared_first[link]; k >= 0; k = b->shared_next[k]) {
    const SharedVertex* s = &b->design->shared.items[k];
    if (s->child >= 0 && s->hull[0] == hull && s->vertex[0] == vertex) return true;
  }
  return false;
}

/* Calls `body` for each vertex of a link that is not attached to a joint. */
static void each_vertex(Cage* c, int link, CageBody body) {
  for (int h = 0; h < c->build->scene->links[link].shape_count; h++) {
    const SceneShape* shape = design_hull(c->build->scene, link, h);
    for (int m = 0; shape->type == SHAPE_POINTS && m < shape->point_count; m++)
      if (!at_joint(c->build, link, h, m)) body(c, link, h, m);
  }
}

static Vec3 vertex_at(const Cage* c, int link, int hull, int vertex) {
  return design_hull(c->build->scene, link, hull)->points[vertex];
}

static void grow_box(Cage* c, int link, int hull, int vertex) {
  Vec3 p = vertex_at(c, link, hull, vertex);
  for (int axis = 0; axis < 3; axis++) {
    c->low[axis] = fmin(c->low[axis], design_component(p, axis));
    c->high[axis] = fmax(c->high[axis], design_component(p, axis));
  }
}

static void look_beyond(Cage* c, int link, int hull, int vertex) {
  Vec3 p = vertex_at(c, link, hull, vertex);
  for (int axis = 0; axis < 3; axis++) {
    double rounding = ON_SIDE * (c->high[axis] - c->low[axis]);
    if (design_component(p, axis) < c->low[axis] - rounding) c->still[axis][0] = true;
    if (design_component(p, axis) > c->high[axis] + rounding) c->still[axis][1] = true;
  }
}

/* Sets the box of the cage, by default the box around the link's vertices. Returns false, with a message, if the box
 * is empty. */
static bool place_box(Cage* c) {
  const TaskCage* wish = c->wish;
  for (int axis = 0; axis < 3; axis++) {
    c->low[axis] = wish->has_box ? design_component(wish->box_low, axis) : HUGE_VAL;
    c->high[axis] = wish->has_box ? design_component(wish->box_high, axis) : -HUGE_VAL;
  }
  if (!wish->has_box) each_vertex(c, c->link, grow_box);
  each_vertex(c, c->link, look_beyond);
  for (int axis = 0; axis < 3; axis++) {
    if (c->high[axis] > c->low[axis]) continue;
    diagnostics_add(c->build->diagnostics, SEVERITY_ERROR, wish->place,
                    "the cage of link '%s' has no extent along %c: set or enlarge its box", wish->link.text,
                    "xyz"[axis]);
    return false;
  }
  return true;
}

/* ---------------------------------------------------------------- variables */

static bool stands_still(const Cage* c, const int at[3]) {
  for (int axis = 0; axis < 3; axis++)
    if ((at[axis] == 0 && c->still[axis][0]) || (at[axis] == c->wish->cells[axis] && c->still[axis][1])) return true;
  return false;
}

/* Returns true if a vertex of the leading link is frozen, or an image of the vertex under a symmetry of the link. */
static bool is_frozen(const Cage* c, int hull, Vec3 p) {
  bool frozen = design_is_frozen(c->build, c->link, hull, p);
  for (int k = 0; k < c->maps.count && !frozen; k++)
    frozen = design_is_frozen(c->build, c->link, hull, mat3_mul_vec(c->maps.maps[k], p));
  return frozen;
}

/* Values of Cage.variable for points without a variable. WANTED marks a point that has a weight at some vertex and
 * becomes a variable. */
enum { NO_VARIABLE = -1, WANTED = -2 };

static void want_points(Cage* c, int link, int hull, int vertex) {
  Vec3 p = vertex_at(c, link, hull, vertex);
  if (is_frozen(c, hull, p)) return;
  for (int k = -1; k < c->maps.count; k++) {
    CagePlace place = place_in(c, k < 0 ? p : mat3_mul_vec(c->maps.maps[k], p));
    for (int i = 0; i < place.count; i++)
      for (int axis = 0; axis < 3; axis++) c->variable[3 * place.point[i] + axis] = WANTED;
  }
}

static void make_variables(Cage* c) {
  const TaskBounds* bounds = &c->wish->bounds;
  int at[3], point = 0;
  for (at[2] = 0; at[2] < point_count(c, 2); at[2]++)
    for (at[1] = 0; at[1] < point_count(c, 1); at[1]++)
      for (at[0] = 0; at[0] < point_count(c, 0); at[0]++, point++)
        for (int axis = 0; axis < 3; axis++) {
          int* variable = &c->variable[3 * point + axis];
          bool moves = *variable == WANTED && c->wish->axes[axis] && !stands_still(c, at);
          *variable = NO_VARIABLE;
          if (!moves) continue;
          double share = (double)at[axis] / c->wish->cells[axis];
          double initial = c->low[axis] + share * (c->high[axis] - c->low[axis]);
          VariableSpec wish = {c->wish->place, bounds->within, bounds->low[axis], bounds->high[axis], 0,
                               bounds->prior,  bounds->step};
          *variable =
              design_new_variable(c->build, &wish, initial, "%s/cage/%d/%c", c->wish->link.text, point, "xyz"[axis]);
        }
}

/* ---------------------------------------------------------------- numbers */

/* Adds the terms of coordinate `axis` of a vertex to the last number. place: weights of the control points at vertex
 * q of the leading link. map: maps displacements of q to displacements of the vertex. */
static void add_terms(const Cage* c, const CagePlace* place, Mat3 map, int axis, double factor) {
  for (int i = 0; i < place->count; i++)
    for (int j = 0; j < 3; j++) {
      int variable = c->variable[3 * place->point[i] + j];
      if (variable >= 0) design_add_term(c->build->design, variable, factor * place->weight[i] * map.m[axis][j]);
    }
}

/* Adds the numbers of a vertex p (D3, D12). The displacement of p is F mean over M of M^T u(M q), with q = F^T p. F
 * maps the leading link to the link of p, M are the symmetries of the leading link, and u is the displacement field
 * of the cage. */
static void number_vertex(Cage* c, int link, int hull, int vertex) {
  Design* d = c->build->design;
  Mat3 to_link = link == c->link ? mat3_identity() : c->build->map[link];
  Vec3 p = vertex_at(c, link, hull, vertex), q = mat3_mul_vec(mat3_transpose(to_link), p);
  if (is_frozen(c, hull, q)) return;
  for (int axis = 0; axis < 3; axis++) {
    design_add_number(d, OVERRIDE_VERTEX, link, hull, 3 * vertex + axis, design_component(p, axis));
    for (int k = -1; k < c->maps.count; k++) {
      Mat3 map = k < 0 ? mat3_identity() : c->maps.maps[k];
      CagePlace place = place_in(c, mat3_mul_vec(map, q));
      add_terms(c, &place, mat3_mul(to_link, mat3_transpose(map)), axis, 1.0 / (1 + c->maps.count));
    }
    if (d->numbers[d->number_count - 1].term_count == 0) d->number_count--; /* the vertex is fixed */
  }
}

/* ---------------------------------------------------------------- a link */

static bool has_vertices(const DesignBuild* b, const char* name) {
  for (int k = 0; k < b->task->vertices_count; k++)
    if (strcmp(b->task->vertices[k].link.text, name) == 0) return true;
  return false;
}

static void list_points(Cage* c) {
  DesignBuild* b = c->build;
  int count = point_count(c, 0) * point_count(c, 1) * point_count(c, 2), before = b->design->variable_count;
  c->variable = MEMORY_NEW(int, 3 * count);
  for (int k = 0; k < 3 * count; k++) c->variable[k] = NO_VARIABLE;
  each_vertex(c, c->link, want_points);
  make_variables(c);
  if (b->design->variable_count == before)
    diagnostics_add(b->diagnostics, SEVERITY_ERROR, c->wish->place,
                    "the cage of link '%s' contains no vertex that can move: enlarge its box or unfreeze vertices",
                    c->wish->link.text);
  for (int i = 0; i < b->scene->link_count; i++)
    if (i == c->link || b->follows[i] == c->link) each_vertex(c, i, number_vertex);
  memory_free(c->variable);
}

void design_add_cage_variables(DesignBuild* b, const TaskCage* item) {
  int link = design_find_link(b->scene, item->link.text);
  if (link < 0) return; /* an earlier check has already reported the missing link */
  design_check_follower(b, &item->link);
  if (b->follows[link] >= 0) return; /* the cage of the leader also moves this link */
  if (has_vertices(b, item->link.text)) {
    diagnostics_add(b->diagnostics, SEVERITY_ERROR, item->place,
                    "link '%s' has both free vertices and a cage: choose one of them", item->link.text);
    return;
  }
  Cage cage = {.build = b, .wish = item, .link = link, .maps = design_symmetry_group(b, link)};
  if (place_box(&cage)) list_points(&cage);
  symmetry_group_free(&cage.maps);
}
