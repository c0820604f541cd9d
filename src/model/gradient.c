/* Derivatives with respect to the parameters of a model, and their conversion from mass moments to mass parameters
 * (docs/derivations/adjoint.md, A9). */
#include <assert.h>
#include <string.h>

#include "model/build.h"

static size_t material_size(const Model* model) {
  return sizeof(double[MATERIAL_NUMBERS]) * (size_t)(1 + model->link_count + model->scene->contact.pair_count);
}

void model_gradient_create(ModelGradient* g, const Model* model) {
  assert(g && model);
  *g = (ModelGradient){.vertices = MEMORY_NEW(Vec3, model->vertex_count),
                       .attachments = MEMORY_NEW(Vec3, model->link_count),
                       .turns = MEMORY_NEW(Vec3, model->link_count),
                       .axes = MEMORY_NEW(Vec3, model->link_count),
                       .mass = MEMORY_NEW(double, model->link_count),
                       .control = MEMORY_NEW(double, model->parameter_count),
                       .joint = memory_alloc(sizeof(double[JOINT_OWN_COUNT]) * (size_t)model->dof_count),
                       .center = MEMORY_NEW(Vec3, model->link_count),
                       .inertia = memory_alloc(sizeof(double[6]) * (size_t)model->link_count),
                       .material = memory_alloc(material_size(model)),
                       .gains = MEMORY_NEW(double, model->gain_count),
                       .closures = memory_alloc(sizeof(double[CLOSURE_NUMBERS]) * (size_t)model->closure_count),
                       .ratios = memory_alloc(sizeof(double[COUPLING_TERMS]) * (size_t)model->coupling_count),
                       .tendons = memory_alloc(sizeof(double[TENDON_NUMBER_POINTS]) * (size_t)model->tendon_count),
                       .bushings = memory_alloc(sizeof(double[BUSHING_NUMBERS]) * (size_t)model->bushing_count),
                       .thetas = MEMORY_NEW(double, model_theta_count(model)),
                       .tendon_points = MEMORY_NEW(Vec3, model->tendon_point_count),
                       .tendon_wraps = memory_alloc(sizeof(double[WRAP_NUMBERS]) * (size_t)model->tendon_wrap_count),
                       .shapes = MEMORY_NEW(double, model->shape_parameter_count),
                       .coordinates = MEMORY_NEW(double, model->dof_count),
                       .velocities = MEMORY_NEW(double, model->dof_count),
                       .moment = MEMORY_NEW(MassMoment, model->link_count)};
}

void model_gradient_destroy(ModelGradient* g) {
  assert(g);
  memory_free(g->vertices);
  memory_free(g->attachments);
  memory_free(g->turns);
  memory_free(g->axes);
  memory_free(g->mass);
  memory_free(g->control);
  memory_free(g->joint);
  memory_free(g->center);
  memory_free(g->inertia);
  memory_free(g->material);
  memory_free(g->gains);
  memory_free(g->closures);
  memory_free(g->ratios);
  memory_free(g->tendons);
  memory_free(g->bushings);
  memory_free(g->thetas);
  memory_free(g->tendon_points);
  memory_free(g->tendon_wraps);
  memory_free(g->shapes);
  memory_free(g->coordinates);
  memory_free(g->velocities);
  memory_free(g->moment);
  *g = (ModelGradient){0};
}

void model_gradient_clear(ModelGradient* g, const Model* model) {
  assert(g->vertices || model->vertex_count == 0);
  size_t links = (size_t)model->link_count, dofs = (size_t)model->dof_count;
  memset(g->vertices, 0, sizeof(Vec3) * (size_t)model->vertex_count);
  memset(g->attachments, 0, sizeof(Vec3) * links);
  memset(g->turns, 0, sizeof(Vec3) * links);
  memset(g->axes, 0, sizeof(Vec3) * links);
  memset(g->mass, 0, sizeof(double) * links);
  memset(g->control, 0, sizeof(double) * (size_t)model->parameter_count);
  memset(g->shapes, 0, sizeof(double) * (size_t)model->shape_parameter_count);
  memset(g->gains, 0, sizeof(double) * (size_t)model->gain_count);
  memset(g->closures, 0, sizeof(double[CLOSURE_NUMBERS]) * (size_t)model->closure_count);
  memset(g->ratios, 0, sizeof(double[COUPLING_TERMS]) * (size_t)model->coupling_count);
  memset(g->tendons, 0, sizeof(double[TENDON_NUMBER_POINTS]) * (size_t)model->tendon_count);
  memset(g->bushings, 0, sizeof(double[BUSHING_NUMBERS]) * (size_t)model->bushing_count);
  memset(g->thetas, 0, sizeof(double) * (size_t)model_theta_count(model));
  memset(g->tendon_points, 0, sizeof(Vec3) * (size_t)model->tendon_point_count);
  memset(g->tendon_wraps, 0, sizeof(double[WRAP_NUMBERS]) * (size_t)model->tendon_wrap_count);
  memset(g->contact, 0, sizeof(g->contact));
  memset(g->joint, 0, sizeof(double[JOINT_OWN_COUNT]) * dofs);
  memset(g->center, 0, sizeof(Vec3) * links);
  memset(g->inertia, 0, sizeof(double[6]) * links);
  g->gravity = vec3(0, 0, 0);
  memset(g->fluid, 0, sizeof g->fluid);
  memset(g->material, 0, material_size(model));
  memset(g->coordinates, 0, sizeof(double) * dofs);
  memset(g->velocities, 0, sizeof(double) * dofs);
  memset(g->moment, 0, sizeof(MassMoment) * links);
}

double model_gradient_tendon(const Model* model, const ModelGradient* g, int tendon, int index) {
  assert(tendon >= 0 && tendon < model->tendon_count);
  assert(tendon >= 0 && tendon < model->tendon_count && index >= 0);
  if (index < TENDON_NUMBER_POINTS) return g->tendons[tendon][index];
  index -= TENDON_NUMBER_POINTS;
  double by[3];
  vec3_store(g->tendon_points[model->tendons[tendon].point_first + index / 3], by);
  return by[index % 3];
}

static double* component(Vec3* v, int axis) { return axis == 0 ? &v->x : axis == 1 ? &v->y : &v->z; }

/* Returns the index in the model of the vertex that is farthest along a coordinate axis, among all hulls of a link; -1
 * without hulls. sign -1: along the negative axis. */
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
  assert(link >= 0 && link < model->link_count);
  assert(link >= 0 && link < model->link_count);
  const ModelLink* body = &model->links[link];
  if (body->mass > 0) { /* the center is S_x / m */
    MassMoment* moment = &gradient->moment[link];
    Vec3 by = vec3_scale(bar, 1 / body->mass);
    moment->s[0][3] += by.x;
    moment->s[1][3] += by.y;
    moment->s[2][3] += by.z;
    moment->s[3][3] -= vec3_dot(by, body->center);
    return;
  }
  for (int axis = 0; axis < 3; axis++)
    for (int side = -1; side <= 1; side += 2) {
      int vertex = outermost_vertex(model, body, axis, side);
      if (vertex >= 0) *component(&gradient->vertices[vertex], axis) += 0.5 * *component(&bar, axis);
    }
}

/* Derivative of a scalar with respect to the 4 x 4 mass moment of a body, symmetrized. second: derivative with respect
 * to the 3 x 3 block of second moments. first: sum of the derivatives with respect to the last row and the last column,
 * the first moments. mass: derivative with respect to the last entry, the mass. */
typedef struct {
  Mat3 second;
  Vec3 first;
  double mass;
} MomentDerivative;

static MomentDerivative symmetrize(const MassMoment* m) {
  MomentDerivative bar;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) bar.second.m[i][j] = 0.5 * (m->s[i][j] + m->s[j][i]);
  bar.first = vec3(m->s[0][3] + m->s[3][0], m->s[1][3] + m->s[3][1], m->s[2][3] + m->s[3][2]);
  bar.mass = m->s[3][3];
  return bar;
}

static double inner_product(const MomentDerivative* bar, const MassMoment* m) {
  double sum = bar->mass * m->s[3][3] + vec3_dot(bar->first, vec3(m->s[0][3], m->s[1][3], m->s[2][3]));
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) sum += bar->second.m[i][k] * m->s[i][k];
  return sum;
}

static double point_value(const MomentDerivative* bar, Vec3 x) {
  return vec3_dot(x, mat3_mul_vec(bar->second, x)) + vec3_dot(bar->first, x) + bar->mass;
}

static Vec3 point_gradient(const MomentDerivative* bar, Vec3 x) {
  return vec3_add(vec3_scale(mat3_mul_vec(bar->second, x), 2), bar->first);
}

/* Adds the inner product bar : S (sum of products of entries) of a tetrahedron's mass moment S at unit density to
 * *value. Adds its derivatives with respect to the corners to slope[3]. The corners are the origin and p[3] = a, b, c.
 * With the volume V, s = a + b + c and Q = bar->second, bar : S = V h. The factor is h = bar->mass + bar->first . s / 4
 * + (aQa + bQb + cQc + sQs) / 20. */
static void add_tetrahedron(const MomentDerivative* bar, const Vec3 p[3], double* value, Vec3 slope[3]) {
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

/* Adds the same quantities as add_tetrahedron for the pyramid over a face with more than three corners (A9). The face
 * is divided into a fan of triangles about the mean of its corners, because this division is symmetric. The derivatives
 * depend on the division, the value does not. */
static void add_fan(const MomentDerivative* bar, const ConvexHull* solid, const FlatFaces* faces, int face,
                    double* value, double factor, Vec3* out) {
  const int* corners = faces->corners + faces->corner_first[face];
  int count = faces->corner_first[face + 1] - faces->corner_first[face];
  Vec3 o = solid->vertices[0], middle = {0, 0, 0}, by_middle = {0, 0, 0};
  for (int i = 0; i < count; i++) middle = vec3_add(middle, vec3_sub(solid->vertices[corners[i]], o));
  middle = vec3_scale(middle, 1.0 / count);
  for (int e = faces->edge_first[face]; e < faces->edge_first[face + 1]; e++) {
    const int* edge = faces->edges[e];
    Vec3 p[3] = {vec3_sub(solid->vertices[edge[0]], o), vec3_sub(solid->vertices[edge[1]], o), middle};
    Vec3 slope[3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    add_tetrahedron(bar, p, value, slope);
    for (int k = 0; k < 2; k++) out[edge[k]] = vec3_add_scaled(out[edge[k]], factor, slope[k]);
    by_middle = vec3_add(by_middle, slope[2]);
  }
  for (int i = 0; i < count; i++) out[corners[i]] = vec3_add_scaled(out[corners[i]], factor / count, by_middle);
}

static void add_triangle(const MomentDerivative* bar, const ConvexHull* solid, const int corner[3], double* value,
                         double factor, Vec3* out) {
  Vec3 p[3], slope[3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
  for (int k = 0; k < 3; k++) p[k] = vec3_sub(solid->vertices[corner[k]], solid_origin(solid));
  add_tetrahedron(bar, p, value, slope);
  for (int k = 0; k < 3; k++) out[corner[k]] = vec3_add_scaled(out[corner[k]], factor, slope[k]);
}

/* Returns the inner product of bar and the mass moment of a polyhedron of unit density. Adds factor times its
 * derivatives with respect to the polyhedron's vertices to `out`. Vertices are relative to the first vertex, which
 * avoids cancellation far from the link's origin. */
static double add_solid(const MomentDerivative* bar, const ConvexHull* solid, double factor, Vec3* out) {
  if (solid->vertex_count == 0) return 0;
  Vec3 o = solid_origin(solid);
  /* converts bar from mass moments about the link's origin to mass moments about the point o: bar' = T^T bar T with the
   * 4 x 4 translation T by o */
  Vec3 qo = mat3_mul_vec(bar->second, o);
  MomentDerivative moved = {bar->second, vec3_add_scaled(bar->first, 2, qo),
                            bar->mass + vec3_dot(bar->first, o) + vec3_dot(o, qo)};
  double value = 0;
  FlatFaces faces;
  flat_faces_create(&faces, solid);
  for (int f = 0; f < faces.count; f++) {
    const int(*edge)[2] = (const int(*)[2])faces.edges + faces.edge_first[f];
    if (faces.corner_first[f + 1] - faces.corner_first[f] > 3)
      add_fan(&moved, solid, &faces, f, &value, factor, out);
    else
      add_triangle(&moved, solid, (const int[3]){edge[0][0], edge[0][1], edge[1][1]}, &value, factor, out);
  }
  flat_faces_free(&faces);
  return value;
}

/* ---------------------------------------------------------------- mass models, the backward pass of model/masses.c */

typedef struct {
  const Model* model;
  const ModelLink* link;
  const SceneLink* source;
  MomentDerivative bar;
  ModelGradient* gradient;
} LinkBackward;

static const ModelHull* link_hull(const LinkBackward* r, int k) { return &r->model->hulls[r->link->hull_first + k]; }

static Vec3* vertex_derivatives(const LinkBackward* r, int k) {
  return r->gradient->vertices + link_hull(r, k)->vertex_first;
}

/* Backward pass of the mass moment of a link whose mass m is divided equally among the vertices of its hulls. Adds the
 * derivatives of the scalar with respect to the vertices. Returns the derivative with respect to m. */
static double backward_vertices(const LinkBackward* r) {
  int count = 0;
  double value = 0;
  for (int k = 0; k < r->link->hull_count; k++) count += link_hull(r, k)->solid.vertex_count;
  double share = r->link->mass / count;
  for (int k = 0; k < r->link->hull_count; k++) {
    const ConvexHull* solid = &link_hull(r, k)->solid;
    Vec3* out = vertex_derivatives(r, k);
    for (int i = 0; i < solid->vertex_count; i++) {
      value += point_value(&r->bar, solid->vertices[i]);
      out[i] = vec3_add_scaled(out[i], share, point_gradient(&r->bar, solid->vertices[i]));
    }
  }
  return value / count;
}

/* Returns the inner product of bar and the mass moment of a smooth shape of unit density. Adds factor times its
 * derivatives with respect to the shape's parameters to `out`. */
static double add_smooth_shape(const ModelHull* hull, const MomentDerivative* bar, double factor, double* out) {
  const ModelSmooth* smooth = hull->smooth;
  for (int k = 0; hull_is_round(hull) && k < hull_parameter_count(hull); k++)
    out[smooth->parameter_first + k] += factor * inner_product(bar, &smooth->moment_slope[k]);
  if (hull_is_convex_smooth(hull) && factor != 0) {
    int count = shape_parameter_count(&smooth->field.shape);
    MassMoment* slopes = MEMORY_NEW(MassMoment, count);
    shape_mass_derivatives(&smooth->field.shape, slopes);
    for (int k = 0; k < count; k++) {
      MassMoment turned = mass_moment_transform(&slopes[k], smooth->pose);
      out[smooth->parameter_first + k] += factor * inner_product(bar, &turned);
    }
    memory_free(slopes);
  }
  return inner_product(bar, &smooth->moment);
}

static const MomentDerivative VOLUME_DERIVATIVE = {{{{0}}}, {0, 0, 0}, 1};

void model_volume_derivatives(const ModelHull* hull, double* out) {
  assert(hull->smooth);
  (void)add_smooth_shape(hull, &VOLUME_DERIVATIVE, 1, out);
}

static double add_link_solids(const LinkBackward* r, const MomentDerivative* bar, double factor) {
  double value = 0;
  for (int k = 0; k < r->link->hull_count; k++) {
    if (!link_hull(r, k)->kind->bounded) continue;
    if (link_hull(r, k)->smooth) {
      value += add_smooth_shape(link_hull(r, k), bar, factor, r->gradient->shapes);
      continue;
    }
    value += add_solid(bar, &link_hull(r, k)->solid, factor, vertex_derivatives(r, k));
  }
  return value;
}

/* Backward pass of the mass moment of a link whose mass m is distributed evenly over the volume of its hulls. Adds the
 * derivatives of the scalar with respect to the vertices. Returns the derivative with respect to m. */
static double backward_solids(const LinkBackward* r) {
  double volume = add_link_solids(r, &VOLUME_DERIVATIVE, 0),
         value = add_link_solids(r, &r->bar, r->link->mass / volume);
  add_link_solids(r, &VOLUME_DERIVATIVE, -r->link->mass * value / (volume * volume));
  return value / volume;
}

/* Backward pass of the mass moment of a link with given mass m, centre of mass c and inertia I. The mass moment is m
 * (c, 1) (c, 1)^T, plus tr(I) / 2 - I in its 3 x 3 block. Adds the derivatives of the scalar with respect to c and I to
 * *center and inertia[6]. Returns the derivative with respect to m. */
static double backward_given(const LinkBackward* r, Vec3* center, double inertia[6]) {
  static const int axis[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
  const Mat3* q = &r->bar.second;
  double half_trace = 0.5 * mat3_trace(*q);
  for (int k = 0; k < 6; k++) inertia[k] += k < 3 ? half_trace - q->m[k][k] : -2 * q->m[axis[k][0]][axis[k][1]];
  *center = vec3_add_scaled(*center, r->link->mass, point_gradient(&r->bar, r->source->center));
  return point_value(&r->bar, r->source->center);
}

static double backward_link(const LinkBackward* r, ModelGradient* gradient) {
  ptrdiff_t link = r->link - r->model->links;
  if (r->link->mass_model == MASS_GIVEN) return backward_given(r, &gradient->center[link], gradient->inertia[link]);
  double by_mass = r->link->mass_model == MASS_UNIFORM ? backward_solids(r) : backward_vertices(r);
  if (!r->source->has_mass) add_link_solids(r, &VOLUME_DERIVATIVE, by_mass * r->source->density); /* m = density V */
  return by_mass;
}

void model_gradient_masses(const Model* model, ModelGradient* gradient) {
  for (int i = 0; i < model->link_count; i++) {
    const ModelLink* link = &model->links[i];
    const SceneLink* source = &model->scene->links[i];
    if (!(link->mass > 0)) continue;
    LinkBackward r = {model, link, source, symmetrize(&gradient->moment[i]), gradient};
    gradient->mass[i] += backward_link(&r, gradient);
    gradient->moment[i] = mass_moment_zero();
  }
}

/* ---------------------------------------------------------------- vertices of smooth shapes to their parameters (A9)
 */

static void convert_vertices(const ModelHull* hull, ModelGradient* gradient) {
  const Vec3* bar = gradient->vertices + hull->vertex_first;
  int count = shape_parameter_count(&hull->smooth->field.shape);
  bool any = false;
  for (int m = 0; m < hull->solid.vertex_count; m++) any = any || vec3_dot(bar[m], bar[m]) > 0;
  if (!any) return;
  int directions;
  Vec3* sphere = primitive_sphere_points(hull->smooth->resolution, &directions);
  for (int m = 0; m < hull->solid.vertex_count; m++) {
    if (!(vec3_dot(bar[m], bar[m]) > 0)) continue;
    for (int k = 0; k < count; k++)
      gradient->shapes[hull->smooth->parameter_first + k] += vec3_dot(bar[m], smooth_vertex_slope(hull, sphere, m, k));
  }
  memory_free(sphere);
}

static void convert_round(const ModelHull* hull, ModelGradient* gradient) {
  const Vec3* bar = gradient->vertices + hull->vertex_first;
  for (int m = 0; m < hull->solid.vertex_count; m++)
    for (int k = 0; k < hull_parameter_count(hull) && vec3_dot(bar[m], bar[m]) > 0; k++)
      gradient->shapes[hull->smooth->parameter_first + k] += vec3_dot(bar[m], round_vertex_slope(hull, m, k));
}

void model_gradient_shapes(const Model* model, ModelGradient* gradient) {
  for (int k = 0; k < model->hull_count; k++) {
    if (hull_is_convex_smooth(&model->hulls[k])) convert_vertices(&model->hulls[k], gradient);
    if (hull_is_round(&model->hulls[k])) convert_round(&model->hulls[k], gradient);
  }
}
