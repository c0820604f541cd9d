/* Derivatives with respect to a model's numbers, and how masses pass theirs on (docs/derivations/adjoint.md, A9). */
#include <string.h>

#include "model/build.h"

void model_gradient_create(ModelGradient* g, const Model* model) {
  *g = (ModelGradient){.vertices = MEMORY_NEW(Vec3, model->vertex_count),
                       .attachments = MEMORY_NEW(Vec3, model->link_count),
                       .mass = MEMORY_NEW(double, model->link_count),
                       .control = MEMORY_NEW(double, model->parameter_count),
                       .coordinates = MEMORY_NEW(double, model->dof_count),
                       .velocities = MEMORY_NEW(double, model->dof_count),
                       .moment = MEMORY_NEW(MassMoment, model->link_count)};
}

void model_gradient_destroy(ModelGradient* g) {
  memory_free(g->vertices);
  memory_free(g->attachments);
  memory_free(g->mass);
  memory_free(g->control);
  memory_free(g->coordinates);
  memory_free(g->velocities);
  memory_free(g->moment);
  *g = (ModelGradient){0};
}

void model_gradient_clear(ModelGradient* g, const Model* model) {
  size_t links = (size_t)model->link_count, dofs = (size_t)model->dof_count;
  memset(g->vertices, 0, sizeof(Vec3) * (size_t)model->vertex_count);
  memset(g->attachments, 0, sizeof(Vec3) * links);
  memset(g->mass, 0, sizeof(double) * links);
  memset(g->control, 0, sizeof(double) * (size_t)model->parameter_count);
  memset(g->contact, 0, sizeof(g->contact));
  memset(g->coordinates, 0, sizeof(double) * dofs);
  memset(g->velocities, 0, sizeof(double) * dofs);
  memset(g->moment, 0, sizeof(MassMoment) * links);
}

/* ---------------------------------------------------------------- centres */

static double* component(Vec3* v, int axis) { return axis == 0 ? &v->x : axis == 1 ? &v->y : &v->z; }

/* Of all hulls of a link the vertex farthest along an axis, or against it; -1: there are none. */
static int outermost_vertex(const Model* model, const ModelLink* link, int axis, double sign) {
  int found = -1;
  double farthest = -HUGE_VAL;
  for (int k = link->hull_first; k < link->hull_first + link->hull_count; k++)
    for (int m = 0; m < model->hulls[k].solid.vertex_count; m++) {
      double at = sign * *component(&model->hulls[k].solid.vertices[m], axis);
      if (!(at > farthest)) continue;
      farthest = at;
      found = model->hulls[k].vertex_first + m;
    }
  return found;
}

void model_gradient_center(const Model* model, int link, Vec3 bar, ModelGradient* gradient) {
  const ModelLink* own = &model->links[link];
  if (own->mass > 0) { /* S_x / m */
    MassMoment* moment = &gradient->moment[link];
    Vec3 by = vec3_scale(bar, 1 / own->mass);
    moment->s[0][3] += by.x;
    moment->s[1][3] += by.y;
    moment->s[2][3] += by.z;
    moment->s[3][3] -= vec3_dot(by, own->center);
    return;
  }
  for (int axis = 0; axis < 3; axis++)
    for (int side = -1; side <= 1; side += 2) {
      int vertex = outermost_vertex(model, own, axis, side);
      if (vertex >= 0) *component(&gradient->vertices[vertex], axis) += 0.5 * *component(&bar, axis);
    }
}

/* ---------------------------------------------------------------- moments to vertices */

/* The derivative of a scalar by S, made symmetric: second (3x3), first (twice the entries of the column), mass. */
typedef struct {
  Mat3 second;
  Vec3 first;
  double mass;
} MomentBar;

static MomentBar symmetric_bar(const MassMoment* m) {
  MomentBar bar;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) bar.second.m[i][j] = 0.5 * (m->s[i][j] + m->s[j][i]);
  bar.first = vec3(m->s[0][3] + m->s[3][0], m->s[1][3] + m->s[3][1], m->s[2][3] + m->s[3][2]);
  bar.mass = m->s[3][3];
  return bar;
}

/* bar : X~ X~^T and its derivative by X. */
static double point_value(const MomentBar* bar, Vec3 x) {
  return vec3_dot(x, mat3_mul_vec(bar->second, x)) + vec3_dot(bar->first, x) + bar->mass;
}

static Vec3 point_slope(const MomentBar* bar, Vec3 x) {
  return vec3_add(vec3_scale(mat3_mul_vec(bar->second, x), 2), bar->first);
}

/* bar : S of the tetrahedron (0, a, b, c) is V h with V = det / 6 and
 * h = mass + first . s / 4 + (aQa + bQb + cQc + sQs) / 20,  s = a + b + c,  Q = second. */
static void tetrahedron_slope(const MomentBar* bar, const Vec3 p[3], double* value, Vec3 slope[3]) {
  Vec3 s = vec3_add(p[0], vec3_add(p[1], p[2])), qs = mat3_mul_vec(bar->second, s);
  double volume = vec3_dot(p[0], vec3_cross(p[1], p[2])) / 6;
  double h = bar->mass + vec3_dot(bar->first, s) / 4 + vec3_dot(s, qs) / 20;
  for (int k = 0; k < 3; k++) h += vec3_dot(p[k], mat3_mul_vec(bar->second, p[k])) / 20;
  *value += volume * h;
  for (int k = 0; k < 3; k++) {
    Vec3 by_h = vec3_add(vec3_scale(bar->first, 0.25), vec3_scale(vec3_add(mat3_mul_vec(bar->second, p[k]), qs), 0.1));
    Vec3 by_volume = vec3_scale(vec3_cross(p[(k + 1) % 3], p[(k + 2) % 3]), 1.0 / 6);
    slope[k] = vec3_add(slope[k], vec3_add(vec3_scale(by_volume, h), vec3_scale(by_h, volume)));
  }
}

/* bar : S of a solid of unit density and its derivative by the vertices, times `factor`, added. The vertices are taken
 * from the hull's first, so that digits do not cancel far from the link's origin. */
static double solid_slope(const MomentBar* bar, const ConvexHull* solid, double factor, Vec3* out) {
  if (solid->vertex_count == 0) return 0;
  Vec3 o = solid_origin(solid);
  /* S about the link's origin from S about o: bar' = (I o; 0 1)^T bar (I o; 0 1) */
  Vec3 qo = mat3_mul_vec(bar->second, o);
  MomentBar moved = {bar->second, vec3_add_scaled(bar->first, 2, qo),
                     bar->mass + vec3_dot(bar->first, o) + vec3_dot(o, qo)};
  double value = 0;
  for (int t = 0; t < solid->triangle_count; t++) {
    const int* corner = solid->triangles[t];
    Vec3 p[3], slope[3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    for (int k = 0; k < 3; k++) p[k] = vec3_sub(solid->vertices[corner[k]], o);
    tetrahedron_slope(&moved, p, &value, slope);
    for (int k = 0; k < 3; k++) out[corner[k]] = vec3_add_scaled(out[corner[k]], factor, slope[k]);
  }
  return value;
}

/* ---------------------------------------------------------------- mass models, the reverse of model/masses.c */

typedef struct {
  const Model* model;
  const ModelLink* link;
  const SceneLink* source;
  MomentBar bar;
  Vec3* vertices; /* of the link's first hull */
} LinkReverse;

static const ModelHull* hull_of(const LinkReverse* r, int k) { return &r->model->hulls[r->link->hull_first + k]; }

static Vec3* slopes_of(const LinkReverse* r, int k) { return r->vertices + hull_of(r, k)->vertex_first; }

/* S = m / N sum X~ X~^T; returns the derivative by m. */
static double reverse_vertices(const LinkReverse* r) {
  int count = 0;
  double value = 0;
  for (int k = 0; k < r->link->hull_count; k++) count += hull_of(r, k)->solid.vertex_count;
  double share = r->link->mass / count;
  for (int k = 0; k < r->link->hull_count; k++) {
    const ConvexHull* solid = &hull_of(r, k)->solid;
    Vec3* out = slopes_of(r, k);
    for (int i = 0; i < solid->vertex_count; i++) {
      value += point_value(&r->bar, solid->vertices[i]);
      out[i] = vec3_add_scaled(out[i], share, point_slope(&r->bar, solid->vertices[i]));
    }
  }
  return value / count;
}

static const MomentBar VOLUME_BAR = {{{{0}}}, {0, 0, 0}, 1};

static double add_solids(const LinkReverse* r, const MomentBar* bar, double factor) {
  double value = 0;
  for (int k = 0; k < r->link->hull_count; k++) {
    if (!hull_of(r, k)->kind->bounded) continue;
    value += solid_slope(bar, &hull_of(r, k)->solid, factor, slopes_of(r, k));
  }
  return value;
}

/* S = m / V sum S_hull. */
static double reverse_solids(const LinkReverse* r) {
  double volume = add_solids(r, &VOLUME_BAR, 0), value = add_solids(r, &r->bar, r->link->mass / volume);
  add_solids(r, &VOLUME_BAR, -r->link->mass * value / (volume * volume));
  return value / volume;
}

static double reverse_link(const LinkReverse* r) {
  if (r->source->mass_model == MASS_GIVEN) return point_value(&r->bar, r->source->center);
  double by_mass = r->source->mass_model == MASS_UNIFORM ? reverse_solids(r) : reverse_vertices(r);
  if (!r->source->has_mass) add_solids(r, &VOLUME_BAR, by_mass * r->source->density); /* m = density V */
  return by_mass;
}

void model_gradient_masses(const Model* model, ModelGradient* gradient) {
  for (int i = 0; i < model->link_count; i++) {
    const ModelLink* link = &model->links[i];
    const SceneLink* source = &model->scene->links[i];
    if (!(link->mass > 0)) continue;
    LinkReverse r = {model, link, source, symmetric_bar(&gradient->moment[i]), gradient->vertices};
    gradient->mass[i] += reverse_link(&r);
    gradient->moment[i] = mass_moment_zero();
  }
}
