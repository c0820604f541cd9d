#include "optimize/design.h"

#include <string.h>

/* Vertices that a symmetry maps onto each other lie this near, relative to the hull. */
#define SAME_PLACE 1e-6
/* A component of a unit vector below this is rounding of decimals in a file. */
#define ALIGNED 1e-9

static const char AXIS[3] = {'x', 'y', 'z'};

/* ---------------------------------------------------------------- growing arrays */

static void* grown(void* old, int count, int* capacity, size_t size) {
  if (count < *capacity) return old;
  int more = 2 * *capacity + 64;
  old = memory_resize(old, size * (size_t)*capacity, size * (size_t)more);
  *capacity = more;
  return old;
}

static int add_variable(Design* d, const char* name, double initial, double low, double high, int block) {
  d->variables = grown(d->variables, d->variable_count, &d->variable_capacity, sizeof(DesignVariable));
  d->variables[d->variable_count] = (DesignVariable){memory_text(name), initial, low, high, block};
  return d->variable_count++;
}

/* Terms of a number follow it directly. */
static void add_number(Design* d, TargetKind kind, int link, int hull, int index, double base) {
  d->numbers = grown(d->numbers, d->number_count, &d->number_capacity, sizeof(DesignNumber));
  d->numbers[d->number_count++] = (DesignNumber){kind, link, hull, index, base, d->term_count, 0};
}

static void add_term(Design* d, int variable, double coefficient) {
  if (coefficient == 0) return;
  d->terms = grown(d->terms, d->term_count, &d->term_capacity, sizeof(DesignTerm));
  d->terms[d->term_count++] = (DesignTerm){variable, coefficient};
  d->numbers[d->number_count - 1].term_count++;
}

/* ---------------------------------------------------------------- numbers of a scene */

static SceneShape* hull_shape(const Scene* scene, int link, int hull) {
  return &scene->shapes[scene->links[link].shapes[hull].shape];
}

static double* coordinate_of(Vec3* point, int axis) {
  return axis == 0 ? &point->x : axis == 1 ? &point->y : &point->z;
}

static SceneController* controller_of(const Scene* scene, int link, int number) {
  for (int c = 0; c < scene->controller_count; c++)
    if (scene->controllers[c].link == link && number-- == 0) return &scene->controllers[c];
  return NULL;
}

static int signal_values(const SceneSignal* s) {
  return s->type == SIGNAL_SINES || s->type == SIGNAL_CONSTANT ? s->channels : s->rows * s->channels;
}

/* In the order of signal_eval_vjp: values, amplitude, frequency, phase. */
static double* signal_parameter(SceneSignal* s, int index) {
  int values = signal_values(s), terms = s->channels * s->terms;
  if (index < values) return &s->values[index];
  index -= values;
  double* part[3] = {s->amplitude, s->frequency, s->phase};
  return &part[index / terms][index % terms];
}

static SceneInitial* initial_of(const Scene* scene, int link) {
  for (int k = 0; k < scene->initial_count; k++)
    if (scene->initials[k].link == link) return &scene->initials[k];
  return NULL;
}

static double* number_at(const Design* d, const DesignNumber* n, int scenario, Scene* scene) {
  int link = d->link_of[(size_t)scenario * (size_t)d->link_count + (size_t)n->link];
  switch (n->kind) {
    case TARGET_VERTEX:
      return coordinate_of(&hull_shape(scene, link, n->hull)->points[n->index / 3], n->index % 3);
    case TARGET_ATTACHMENT:
      return coordinate_of(&scene->links[link].joint.position, n->index);
    case TARGET_CONTROL:
      return signal_parameter(&controller_of(scene, link, n->hull)->target, n->index);
    case TARGET_COORDINATE:
      return &initial_of(scene, link)->coordinates[n->index];
    case TARGET_VELOCITY:
      return &initial_of(scene, link)->velocities[n->index];
  }
  return NULL;
}

void design_apply(const Design* d, const double* x, int scenario, Scene* scene) {
  for (int k = 0; k < d->number_count; k++) {
    const DesignNumber* n = &d->numbers[k];
    double value = n->base;
    for (int t = n->term_first; t < n->term_first + n->term_count; t++)
      value += d->terms[t].coefficient * (x[d->terms[t].variable] - d->variables[d->terms[t].variable].initial);
    *number_at(d, n, scenario, scene) = value;
  }
}

/* ---------------------------------------------------------------- derivatives */

static double vec3_component(Vec3 v, int axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }

/* By the scene's initial velocity: of three rotations it is given in the joint's axes, the model has link axes. */
static double velocity_slope(const Model* m, const ModelGradient* g, int link, int dof) {
  const ModelLink* l = &m->links[link];
  const double* v = g->velocities + l->dof_first;
  int rotation = dof - l->slide_count;
  if (l->rotation != ROTATION_BALL || rotation < 0) return v[dof];
  Mat3 r = joint_motion(l, m->initial_coordinates + l->coordinate_first).r;
  const double* w = v + l->slide_count;
  return vec3_component(mat3_mul_vec(r, vec3(w[0], w[1], w[2])), rotation);
}

static double slope_at(const Design* d, const DesignNumber* n, const Model* m, const ModelGradient* g, int scenario) {
  int link = d->link_of[(size_t)scenario * (size_t)d->link_count + (size_t)n->link];
  switch (n->kind) {
    case TARGET_VERTEX: {
      const ModelHull* hull = &m->hulls[m->links[link].hull_first + n->hull];
      return vec3_component(g->vertices[hull->vertex_first + n->index / 3], n->index % 3);
    }
    case TARGET_ATTACHMENT:
      return vec3_component(g->attachments[link], n->index);
    case TARGET_CONTROL: {
      const SceneController* c = controller_of(m->scene, link, n->hull);
      return g->control[m->controllers[c - m->scene->controllers].parameter_first + n->index];
    }
    case TARGET_COORDINATE:
      return g->coordinates[m->links[link].dof_first + n->index];
    case TARGET_VELOCITY:
      return velocity_slope(m, g, link, n->index);
  }
  return 0;
}

void design_gradient(const Design* d, const Model* model, const ModelGradient* gradient, int scenario, double factor,
                     double* out) {
  for (int k = 0; k < d->number_count; k++) {
    const DesignNumber* n = &d->numbers[k];
    double slope = factor * slope_at(d, n, model, gradient, scenario);
    for (int t = n->term_first; t < n->term_first + n->term_count; t++)
      out[d->terms[t].variable] += d->terms[t].coefficient * slope;
  }
}

/* ---------------------------------------------------------------- building: what is asked for */

typedef struct {
  Design* design;
  Task* task;
  Scene* scene; /* of the first scenario */
  const Model* model;
  Diagnostics* diagnostics;
  int* follows;          /* (links) */
  Mat3* map;             /* displacement of a follower for one of its leader  (links) */
  bool *shapes, *joints; /* links whose vertices, whose attachments move  (links) */
} DesignBuild;

static int link_named(const Scene* scene, const char* name) {
  for (int i = 0; i < scene->link_count; i++)
    if (strcmp(scene->links[i].name, name) == 0) return i;
  return -1;
}

/* The reader has checked the names; -1 only for a task that was not loaded by it. */
static int link_of_name(DesignBuild* b, const TaskName* name) {
  int link = link_named(b->scene, name->text);
  if (link < 0) diagnostics_add(b->diagnostics, SEVERITY_ERROR, name->place, "no link '%s' in the scene", name->text);
  return link;
}

static Mat3 reflection(Vec3 n) { return mat3_sub(mat3_identity(), mat3_scale(mat3_outer(n, n), 2)); }

/* Links that follow others, and links that move because their leader does. */
static void read_symmetries(DesignBuild* b) {
  const Task* task = b->task;
  for (int i = 0; i < b->scene->link_count; i++) b->follows[i] = -1;
  for (int k = 0; k < task->symmetry_count; k++) {
    const TaskSymmetry* s = &task->symmetries[k];
    if (s->type == SYMMETRY_ROTATION || s->link_count < 2) continue;
    int leader = link_of_name(b, &s->links[0]);
    for (int j = 1; j < s->link_count && leader >= 0; j++) {
      int link = link_of_name(b, &s->links[j]);
      if (link < 0) continue;
      if (link == leader || b->follows[link] >= 0 || b->follows[leader] >= 0) {
        diagnostics_add(b->diagnostics, SEVERITY_ERROR, s->links[j].place,
                        "link '%s' cannot follow '%s': one of them follows already", s->links[j].text,
                        s->links[0].text);
        continue;
      }
      b->follows[link] = leader;
      b->map[link] = s->type == SYMMETRY_MIRROR ? reflection(s->normal) : mat3_identity();
    }
  }
}

static void read_wishes(DesignBuild* b) {
  for (int k = 0; k < b->task->vertices_count; k++) {
    int link = link_of_name(b, &b->task->vertices[k].link);
    if (link >= 0) b->shapes[link] = true;
  }
  for (int k = 0; k < b->task->attachment_count; k++) {
    int link = link_of_name(b, &b->task->attachments[k].link);
    if (link >= 0) b->joints[link] = true;
  }
  for (int i = 0; i < b->scene->link_count; i++)
    if (b->follows[i] >= 0) b->shapes[i] = b->shapes[b->follows[i]];
}

/* ---------------------------------------------------------------- building: variables of vertices */

/* Which coordinates of a hull's vertices are variables, and which variable they are. */
typedef struct {
  bool* wanted; /* (3 vertices) */
  int* variable;
  double *low, *high;
} HullWish;

static const SharedVertex* shared_at(const Design* d, int link, int hull, int vertex) {
  for (int k = 0; k < d->shared.count; k++) {
    const SharedVertex* s = &d->shared.items[k];
    for (int side = 0; side < 2; side++)
      if (s->link == link && s->hull[side] == hull && s->vertex[side] == vertex) return s;
  }
  return NULL;
}

static bool hull_listed(const TaskVertices* v, int hull) {
  if (!v->hulls) return true;
  for (int k = 0; k < v->hull_count; k++)
    if (v->hulls[k] == hull) return true;
  return false;
}

static bool in_box(const TaskVertices* v, Vec3 p) {
  if (!v->has_box) return true;
  return p.x >= v->box_low.x && p.y >= v->box_low.y && p.z >= v->box_low.z && p.x <= v->box_high.x &&
         p.y <= v->box_high.y && p.z <= v->box_high.z;
}

static void bounds_of(const TaskBounds* bounds, double initial, int axis, double* low, double* high) {
  *low = fmax(bounds->low[axis], initial - bounds->within);
  *high = fmin(bounds->high[axis], initial + bounds->within);
}

static void check_bounds(DesignBuild* b, SourcePlace place, const char* name, double initial, double low, double high) {
  if (initial >= low && initial <= high) return;
  diagnostics_add(b->diagnostics, SEVERITY_ERROR, place, "%s starts at %.6g, outside its bounds [%.6g, %.6g]", name,
                  initial, low, high);
}

/* The variable of a vertex's coordinate, made when it is first asked for. */
static int vertex_variable(DesignBuild* b, int link, int hull, int vertex, int axis, const TaskVertices* wish) {
  Text name = {0};
  Vec3 p = hull_shape(b->scene, link, hull)->points[vertex];
  double initial = vec3_component(p, axis), low, high;
  text_add(&name, "%s/%d/%d/%c", b->scene->links[link].name, hull, vertex, AXIS[axis]);
  bounds_of(&wish->bounds, initial, axis, &low, &high);
  check_bounds(b, wish->place, name.data, initial, low, high);
  int variable = add_variable(b->design, name.data, initial, low, high, 0);
  text_free(&name);
  return variable;
}

/* ---- symmetry of a link in itself */

/* Turns or reflections under which the link of a symmetry is to be its own image, without the identity. */
static int self_maps(const DesignBuild* b, int link, Mat3* maps, int capacity) {
  int count = 0;
  for (int k = 0; k < b->task->symmetry_count; k++) {
    const TaskSymmetry* s = &b->task->symmetries[k];
    if (s->link_count != 1 || strcmp(s->links[0].text, b->scene->links[link].name) != 0) continue;
    if (s->type == SYMMETRY_MIRROR && count < capacity) maps[count++] = reflection(s->normal);
    for (int n = 1; s->type == SYMMETRY_ROTATION && n < s->count && count < capacity; n++)
      maps[count++] = mat3_from_quat(quat_about(s->axis, 2 * M_PI * n / s->count));
  }
  return count;
}

/* The vertex of the link at a place; hull -1 when there is none. */
typedef struct {
  int hull, vertex;
} VertexPlace;

static VertexPlace vertex_near(const DesignBuild* b, int link, Vec3 p, double tolerance) {
  for (int h = 0; h < b->scene->links[link].shape_count; h++) {
    const SceneShape* shape = hull_shape(b->scene, link, h);
    for (int m = 0; shape->type == SHAPE_POINTS && m < shape->point_count; m++)
      if (vec3_norm(vec3_sub(shape->points[m], p)) <= tolerance) return (VertexPlace){h, m};
  }
  return (VertexPlace){-1, -1};
}

enum { SELF_MAPS = 64 };

/* How far a displacement of the vertex is free: the maps that leave the vertex where it is must leave the displacement
 * as it is. Only whole axes: an oblique plane is refused. */
static void free_axes(const DesignBuild* b, const Mat3* maps, int count, Vec3 p, double tolerance, bool axes[3],
                      bool* oblique) {
  (void)b;
  for (int k = 0; k < count; k++) {
    if (vec3_norm(vec3_sub(mat3_mul_vec(maps[k], p), p)) > tolerance) continue;
    for (int i = 0; i < 3; i++) {
      bool kept = fabs(maps[k].m[i][i] - 1) < ALIGNED;
      if (!kept) axes[i] = false;
      for (int j = 0; j < 3; j++)
        if (i != j && kept && fabs(maps[k].m[i][j]) > ALIGNED) *oblique = true;
    }
  }
}

/* ---- one link */

/* Variables of all coordinates of the link's vertices; -1 where a coordinate does not move of itself. */
typedef struct {
  int hull_count;
  int** variable; /* of every hull  (3 vertices) */
} LinkVariables;

static LinkVariables link_variables_create(const Scene* scene, int link) {
  LinkVariables v = {scene->links[link].shape_count, MEMORY_NEW(int*, scene->links[link].shape_count)};
  for (int h = 0; h < v.hull_count; h++) {
    const SceneShape* shape = hull_shape(scene, link, h);
    v.variable[h] = MEMORY_NEW(int, 3 * shape->point_count);
    for (int k = 0; k < 3 * shape->point_count; k++) v.variable[h][k] = -1;
  }
  return v;
}

static void link_variables_free(LinkVariables* v) {
  for (int h = 0; h < v->hull_count; h++) memory_free(v->variable[h]);
  memory_free(v->variable);
}

/* The representative of a vertex: of a shared pair the first, of an orbit under self-maps the first in order. map:
 * takes the representative's displacement to the vertex's. */
static VertexPlace representative(const DesignBuild* b, int link, VertexPlace at, const Mat3* maps, int map_count,
                                  double tolerance, Mat3* map) {
  *map = mat3_identity();
  const SharedVertex* s = shared_at(b->design, link, at.hull, at.vertex);
  if (s) return (VertexPlace){s->hull[0], s->vertex[0]};
  Vec3 p = hull_shape(b->scene, link, at.hull)->points[at.vertex];
  VertexPlace best = at;
  for (int k = 0; k < map_count; k++) {
    VertexPlace image = vertex_near(b, link, mat3_mul_vec(maps[k], p), tolerance);
    if (image.hull < 0 || image.hull > best.hull || (image.hull == best.hull && image.vertex >= best.vertex)) continue;
    best = image;
    *map = mat3_transpose(maps[k]); /* image = M p, so p = M^T image */
  }
  return best;
}

static void want_vertex(DesignBuild* b, int link, VertexPlace at, const TaskVertices* wish, const Mat3* maps,
                        int map_count, double tolerance, LinkVariables* v) {
  const SharedVertex* s = shared_at(b->design, link, at.hull, at.vertex);
  if (s && s->child >= 0) return; /* an attachment goes with its joint */
  Mat3 map;
  VertexPlace first = representative(b, link, at, maps, map_count, tolerance, &map);
  if (first.hull != at.hull || first.vertex != at.vertex) return;
  Vec3 p = hull_shape(b->scene, link, at.hull)->points[at.vertex];
  bool axes[3] = {wish->axes[0], wish->axes[1], wish->axes[2]}, oblique = false;
  free_axes(b, maps, map_count, p, tolerance, axes, &oblique);
  if (oblique)
    diagnostics_add(b->diagnostics, SEVERITY_ERROR, wish->place,
                    "a vertex of link '%s' lies in a plane of symmetry that is not along the frame's axes: turn the "
                    "frame of the shape",
                    b->scene->links[link].name);
  for (int axis = 0; axis < 3; axis++) {
    int* variable = &v->variable[at.hull][3 * at.vertex + axis];
    if (axes[axis] && *variable < 0) *variable = vertex_variable(b, link, at.hull, at.vertex, axis, wish);
  }
}

static double link_tolerance(const DesignBuild* b, int link) { return SAME_PLACE * b->model->links[link].reach; }

/* Numbers of a vertex that moves with another: displacement = map (displacement of the other). */
static void add_vertex_numbers(DesignBuild* b, int link, VertexPlace at, const int variable[3], Mat3 map) {
  Vec3 p = hull_shape(b->scene, link, at.hull)->points[at.vertex];
  for (int axis = 0; axis < 3; axis++) {
    bool moves = false;
    for (int j = 0; j < 3; j++) moves = moves || (variable[j] >= 0 && fabs(map.m[axis][j]) > ALIGNED);
    if (!moves) continue;
    add_number(b->design, TARGET_VERTEX, link, at.hull, 3 * at.vertex + axis, vec3_component(p, axis));
    for (int j = 0; j < 3; j++)
      if (variable[j] >= 0 && fabs(map.m[axis][j]) > ALIGNED) add_term(b->design, variable[j], map.m[axis][j]);
  }
}

/* A follower's vertex: the same number in the same hull if it lies there, else the nearest image. */
static VertexPlace image_in(const DesignBuild* b, int link, VertexPlace at, Vec3 image, double tolerance) {
  const SceneShape* shape = at.hull < b->scene->links[link].shape_count ? hull_shape(b->scene, link, at.hull) : NULL;
  if (shape && at.vertex < shape->point_count && vec3_norm(vec3_sub(shape->points[at.vertex], image)) <= tolerance)
    return at;
  for (int m = 0; shape && m < shape->point_count; m++)
    if (vec3_norm(vec3_sub(shape->points[m], image)) <= tolerance) return (VertexPlace){at.hull, m};
  return vertex_near(b, link, image, tolerance);
}

static void follow(DesignBuild* b, int link, int leader, VertexPlace at, const int variable[3], Mat3 map) {
  Vec3 p = hull_shape(b->scene, leader, at.hull)->points[at.vertex];
  VertexPlace image = image_in(b, link, at, mat3_mul_vec(b->map[link], p), link_tolerance(b, link));
  if (image.hull < 0) {
    diagnostics_add(b->diagnostics, SEVERITY_ERROR, b->scene->links[link].place,
                    "link '%s' is to follow '%s', but has no vertex at the image of vertex %d of hull %d",
                    b->scene->links[link].name, b->scene->links[leader].name, at.vertex, at.hull);
    return;
  }
  add_vertex_numbers(b, link, image, variable, mat3_mul(b->map[link], map));
}

static void number_link(DesignBuild* b, int link, const Mat3* maps, int map_count, const LinkVariables* v) {
  for (int h = 0; h < v->hull_count; h++) {
    const SceneShape* shape = hull_shape(b->scene, link, h);
    for (int m = 0; shape->type == SHAPE_POINTS && m < shape->point_count; m++) {
      const SharedVertex* s = shared_at(b->design, link, h, m);
      if (s && s->child >= 0) continue;
      Mat3 map;
      VertexPlace at = {h, m}, first = representative(b, link, at, maps, map_count, link_tolerance(b, link), &map);
      const int* variable = &v->variable[first.hull][3 * first.vertex];
      if (variable[0] < 0 && variable[1] < 0 && variable[2] < 0) continue;
      add_vertex_numbers(b, link, at, variable, map);
      for (int i = 0; i < b->scene->link_count; i++)
        if (b->follows[i] == link) follow(b, i, link, at, variable, map);
    }
  }
}

static void vertices_of_link(DesignBuild* b, int link) {
  Mat3 maps[SELF_MAPS];
  int map_count = self_maps(b, link, maps, SELF_MAPS);
  LinkVariables v = link_variables_create(b->scene, link);
  for (int k = 0; k < b->task->vertices_count; k++) {
    const TaskVertices* wish = &b->task->vertices[k];
    if (link_named(b->scene, wish->link.text) != link) continue;
    for (int h = 0; h < v.hull_count; h++) {
      const SceneShape* shape = hull_shape(b->scene, link, h);
      if (shape->type != SHAPE_POINTS || !hull_listed(wish, h)) continue;
      for (int m = 0; m < shape->point_count; m++)
        if (in_box(wish, shape->points[m]))
          want_vertex(b, link, (VertexPlace){h, m}, wish, maps, map_count, link_tolerance(b, link), &v);
    }
  }
  number_link(b, link, maps, map_count, &v);
  link_variables_free(&v);
}

static void list_vertices(DesignBuild* b) {
  for (int i = 0; i < b->scene->link_count; i++)
    if (b->shapes[i] && b->follows[i] < 0) vertices_of_link(b, i);
}

/* ---------------------------------------------------------------- building: attachments, control, start */

static void list_attachment(DesignBuild* b, const TaskAttachment* wish) {
  int link = link_of_name(b, &wish->link);
  for (int axis = 0; axis < 3 && link >= 0; axis++) {
    if (!wish->axes[axis]) continue;
    Text name = {0};
    double initial = vec3_component(b->scene->links[link].joint.position, axis), low, high;
    text_add(&name, "%s/attachment/%c", wish->link.text, AXIS[axis]);
    bounds_of(&wish->bounds, initial, axis, &low, &high);
    check_bounds(b, wish->place, name.data, initial, low, high);
    int variable = add_variable(b->design, name.data, initial, low, high, 0);
    add_number(b->design, TARGET_ATTACHMENT, link, 0, axis, initial);
    add_term(b->design, variable, 1);
    for (int k = 0; k < b->design->shared.count; k++) { /* the parent's hull reaches to where the joint goes */
      const SharedVertex* s = &b->design->shared.items[k];
      if (s->child != link || s->link == link) continue;
      add_number(b->design, TARGET_VERTEX, s->link, s->hull[0], 3 * s->vertex[0] + axis, initial);
      add_term(b->design, variable, 1);
    }
    text_free(&name);
  }
}

static unsigned parameters_wanted(const TaskControl* wish, const SceneSignal* signal) {
  if (wish->has_parameters) return wish->parameters;
  return signal->type == SIGNAL_SINES ? CONTROL_AMPLITUDE | CONTROL_PHASE | CONTROL_VALUES : CONTROL_VALUES;
}

static void list_signal(DesignBuild* b, const TaskControl* wish, int link, int number, SceneSignal* s) {
  static const char* const part[4] = {"values", "amplitude", "frequency", "phase"};
  int values = signal_values(s), terms = s->type == SIGNAL_SINES ? s->channels * s->terms : 0;
  unsigned wanted = parameters_wanted(wish, s);
  for (int k = 0; k < values + 3 * terms; k++) {
    int kind = k < values ? 0 : 1 + (k - values) / terms, index = k < values ? k : (k - values) % terms;
    if (!(wanted & 1u << kind)) continue;
    Text name = {0};
    text_add(&name, "%s/%s%s/%d", wish->link.text, number > 0 ? "second_" : "", part[kind], index);
    double initial = *signal_parameter(s, k);
    double low = fmax(wish->low, initial - wish->within), high = fmin(wish->high, initial + wish->within);
    check_bounds(b, wish->place, name.data, initial, low, high);
    int variable = add_variable(b->design, name.data, initial, low, high, 1);
    add_number(b->design, TARGET_CONTROL, link, number, k, initial);
    add_term(b->design, variable, 1);
    text_free(&name);
  }
}

static void list_control(DesignBuild* b, const TaskControl* wish) {
  int link = link_of_name(b, &wish->link), number = 0;
  if (link < 0) return;
  for (; controller_of(b->scene, link, number); number++)
    list_signal(b, wish, link, number, &controller_of(b->scene, link, number)->target);
  if (number == 0)
    diagnostics_add(b->diagnostics, SEVERITY_ERROR, wish->link.place, "no controller drives the joint of link '%s'",
                    wish->link.text);
}

/* Scenes that say nothing about the joint get zeros to start from. */
static void ensure_initial(Scene* scene, int link) {
  SceneInitial* initial = initial_of(scene, link);
  if (!initial) {
    size_t old = sizeof(SceneInitial) * (size_t)scene->initial_count;
    scene->initials = memory_resize(scene->initials, old, old + sizeof(SceneInitial));
    initial = &scene->initials[scene->initial_count++];
    *initial = (SceneInitial){.place = scene->links[link].place, .link = link};
  }
  const SceneJoint* joint = &scene->links[link].joint;
  if (!initial->has_coordinates && scene_joint_coordinates(joint) > scene_joint_dof(joint))
    initial->coordinates[scene_joint_slides(joint)] = 1; /* identity quaternion */
  initial->has_coordinates = initial->has_velocities = true;
}

static void list_start(DesignBuild* b, const TaskStart* wish) {
  int link = link_of_name(b, &wish->link);
  if (link < 0) return;
  const ModelLink* l = &b->model->links[link];
  if (l->prescribed >= 0 || l->dof_count == 0) {
    diagnostics_add(b->diagnostics, SEVERITY_ERROR, wish->link.place,
                    "the joint of link '%s' %s: its start cannot be chosen", wish->link.text,
                    l->dof_count == 0 ? "cannot move" : "is prescribed");
    return;
  }
  for (int part = 0; part < 2; part++) /* coordinates, velocities */
    for (int dof = 0; dof < l->dof_count; dof++) {
      bool turns = l->rotation == ROTATION_BALL && dof >= l->slide_count;
      if (!wish->dof[dof] || !(part == 0 ? wish->coordinates : wish->velocities) || (part == 0 && turns)) continue;
      Text name = {0};
      text_add(&name, "%s/%s/%d", wish->link.text, part == 0 ? "coordinate" : "velocity", dof);
      const SceneInitial* start = initial_of(b->scene, link);
      double initial = part == 0 ? start->coordinates[dof] : start->velocities[dof];
      double low = fmax(wish->low, initial - wish->within), high = fmin(wish->high, initial + wish->within);
      check_bounds(b, wish->place, name.data, initial, low, high);
      int variable = add_variable(b->design, name.data, initial, low, high, 1);
      add_number(b->design, part == 0 ? TARGET_COORDINATE : TARGET_VELOCITY, link, 0, dof, initial);
      add_term(b->design, variable, 1);
      text_free(&name);
    }
}

/* ---------------------------------------------------------------- building: the feasible set */

static int variable_named(const Design* d, const char* name) {
  for (int k = 0; k < d->variable_count; k++)
    if (strcmp(d->variables[k].name, name) == 0) return k;
  return -1;
}

static const char* nearest_variable(const Design* d, const char* name) {
  const char** names = MEMORY_NEW(const char*, d->variable_count);
  for (int k = 0; k < d->variable_count; k++) names[k] = d->variables[k].name;
  const char* nearest = text_nearest(name, names, d->variable_count);
  memory_free(names);
  return nearest;
}

static void build_rows(DesignBuild* b) {
  Design* d = b->design;
  FeasibleSet* set = &d->set;
  int entries = 0, rows = b->task->constraint_count;
  for (int k = 0; k < rows; k++) entries += b->task->constraints[k].count;
  set->row_first = MEMORY_NEW(int, rows + 1);
  set->column = MEMORY_NEW(int, entries + 1);
  set->coefficient = MEMORY_NEW(double, entries + 1);
  set->row_low = MEMORY_NEW(double, rows + 1);
  set->row_high = MEMORY_NEW(double, rows + 1);
  for (int k = 0, next = 0; k < rows; k++) {
    const TaskConstraint* c = &b->task->constraints[k];
    for (int j = 0; j < c->count; j++) {
      int variable = variable_named(d, c->variables[j].text);
      const char* near = variable < 0 ? nearest_variable(d, c->variables[j].text) : NULL;
      if (variable < 0)
        diagnostics_add(b->diagnostics, SEVERITY_ERROR, c->variables[j].place, "no variable '%s'%s%s%s",
                        c->variables[j].text, near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
      set->column[next] = variable < 0 ? 0 : variable;
      set->coefficient[next++] = c->coefficients[j];
    }
    set->row_first[k + 1] = next;
    set->row_low[k] = c->relation == RELATION_AT_MOST ? -HUGE_VAL : c->value;
    set->row_high[k] = c->relation == RELATION_AT_LEAST ? HUGE_VAL : c->value;
  }
  set->row_count = rows;
}

static void build_set(DesignBuild* b) {
  Design* d = b->design;
  d->block = MEMORY_NEW(int, d->variable_count);
  d->low_high = MEMORY_NEW(double, 2 * (size_t)d->variable_count);
  d->set = (FeasibleSet){
      .count = d->variable_count, .block = d->block, .low = d->low_high, .high = d->low_high + d->variable_count};
  for (int k = 0; k < d->variable_count; k++) {
    d->block[k] = d->variables[k].block;
    d->set.low[k] = d->variables[k].low;
    d->set.high[k] = d->variables[k].high;
  }
  build_rows(b);
}

/* ---------------------------------------------------------------- building: scenes */

/* Nothing that is derived from shapes may change while shapes do. */
static void fix_masses(const Task* task, const Model* model, Scene* scene) {
  if (task->mass == TASK_MASS_DENSITY) return;
  for (int i = 0; i < scene->link_count; i++) {
    if (!(model->links[i].mass > 0)) continue;
    scene->links[i].has_mass = true;
    scene->links[i].has_density = false;
    scene->links[i].mass = model->links[i].mass;
  }
}

static Status prepare_scene(DesignBuild* b, TaskScenario* scenario, bool first, SharedVertices* shared) {
  Model model = {0};
  Scene* scene = &scenario->scene;
  if (scenario->steps > 0) scene->simulation.steps = scenario->steps;
  scene->simulation.tolerance = b->task->optimizer.tolerance;
  Status status = model_create(&model, scene, b->diagnostics);
  if (status == STATUS_OK) {
    model_expand_shapes(&model, scene);
    fix_masses(b->task, &model, scene);
    b->scene = scene;
    b->model = &model;
    if (first) {
      read_symmetries(b);
      read_wishes(b);
    }
    for (int k = 0; k < b->task->start_count; k++) {
      int link = link_named(scene, b->task->starts[k].link.text);
      if (link >= 0 && model.links[link].prescribed < 0) ensure_initial(scene, link);
    }
    ConnectRequest request = {b->shapes, b->joints, b->follows, b->map};
    if (b->task->optimizer.connect) connect_hulls(scene, &model, &request, shared);
  }
  model_destroy(&model);
  return status;
}

static bool map_links(DesignBuild* b) {
  Design* d = b->design;
  const Scene* first = &b->task->scenarios[0].scene;
  d->link_count = first->link_count;
  d->scenario_count = b->task->scenario_count;
  d->link_of = MEMORY_NEW(int, (size_t)d->scenario_count*(size_t)d->link_count);
  bool same = true;
  for (int s = 0; s < d->scenario_count; s++) {
    const Scene* scene = &b->task->scenarios[s].scene;
    same = same && scene->link_count == first->link_count;
    for (int i = 0; i < first->link_count; i++) {
      int link = link_named(scene, first->links[i].name);
      same = same && link == i && scene->links[link].shape_count == first->links[i].shape_count;
      d->link_of[(size_t)s * (size_t)d->link_count + (size_t)i] = link;
    }
    if (same) continue;
    diagnostics_add(b->diagnostics, SEVERITY_ERROR, b->task->scenarios[s].place,
                    "scenario '%s' has other links or hulls than the first: scenarios share one design",
                    b->task->scenarios[s].name);
    break;
  }
  return same;
}

static Status list_all(DesignBuild* b) {
  Task* task = b->task;
  Model model = {0};
  b->scene = &b->task->scenarios[0].scene;
  Status status = model_create(&model, b->scene, b->diagnostics);
  b->model = &model;
  if (status == STATUS_OK) {
    list_vertices(b);
    for (int k = 0; k < task->attachment_count; k++) list_attachment(b, &task->attachments[k]);
    for (int k = 0; k < task->control_count; k++) list_control(b, &task->controls[k]);
    for (int k = 0; k < task->start_count; k++) list_start(b, &task->starts[k]);
    build_set(b);
  }
  model_destroy(&model);
  return status;
}

Status design_create(Design* design, Task* task, Diagnostics* diagnostics) {
  *design = (Design){0};
  int links = task->scenarios[0].scene.link_count, errors = diagnostics->error_count;
  DesignBuild b = {.design = design, .task = task, .diagnostics = diagnostics};
  b.follows = MEMORY_NEW(int, links);
  b.map = MEMORY_NEW(Mat3, links);
  b.shapes = MEMORY_NEW(bool, links);
  b.joints = MEMORY_NEW(bool, links);
  Status status = map_links(&b) ? STATUS_OK : STATUS_BAD_INPUT;
  for (int s = 0; s < task->scenario_count && status == STATUS_OK; s++) {
    SharedVertices other = {0};
    status = prepare_scene(&b, &task->scenarios[s], s == 0, s == 0 ? &design->shared : &other);
    shared_vertices_free(&other);
  }
  if (status == STATUS_OK) status = list_all(&b);
  memory_free(b.follows);
  memory_free(b.map);
  memory_free(b.shapes);
  memory_free(b.joints);
  if (status == STATUS_OK && diagnostics->error_count > errors) status = STATUS_BAD_INPUT;
  return status;
}

void design_destroy(Design* d) {
  for (int k = 0; k < d->variable_count; k++) memory_free(d->variables[k].name);
  memory_free(d->variables);
  memory_free(d->numbers);
  memory_free(d->terms);
  memory_free(d->link_of);
  memory_free(d->block);
  memory_free(d->low_high);
  memory_free(d->set.row_first);
  memory_free(d->set.column);
  memory_free(d->set.coefficient);
  memory_free(d->set.row_low);
  memory_free(d->set.row_high);
  shared_vertices_free(&d->shared);
  *d = (Design){0};
}
