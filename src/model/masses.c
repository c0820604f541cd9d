/* Mass moments of links from their mass models: the sum over mass points of mass times X X^T, with X = (x, y, z, 1). */
#include "model/build.h"

static double link_volume(const Model* model, const ModelLink* link) {
  double volume = 0;
  for (int k = 0; k < link->hull_count; k++) volume += hull_volume(&model->hulls[link->hull_first + k]);
  return volume;
}

static int link_vertices(const Model* model, const ModelLink* link) {
  int count = 0;
  for (int k = 0; k < link->hull_count; k++) count += model->hulls[link->hull_first + k].points.count;
  return count;
}

static bool has_triangles(const Model* model, const ModelLink* link) {
  for (int k = link->hull_first; k < link->hull_first + link->hull_count; k++)
    if (model->hulls[k].kind == &SOLID_TRIANGLE) return true;
  return false;
}

/* Returns the moment of equal masses at all hull vertices, for a total mass of 1 kg. */
static MassMoment vertex_moment(const Model* model, const ModelLink* link) {
  MassMoment sum = mass_moment_zero();
  double vertices = link_vertices(model, link);
  for (int k = 0; k < link->hull_count; k++) {
    const ConvexHull* solid = &model->hulls[link->hull_first + k].solid;
    if (solid->vertex_count == 0) continue;
    MassMoment hull = mass_moment_points(solid->vertices, solid->vertex_count);
    mass_moment_add(&sum, &hull, solid->vertex_count / vertices);
  }
  return sum;
}

/* Returns true if the link has a round solid, whose mass is distributed over its volume because it has no vertices. */
static bool has_round_solid(const Model* model, const ModelLink* link) {
  bool round = false;
  for (int k = 0; k < link->hull_count; k++) round = round || hull_is_round(&model->hulls[link->hull_first + k]);
  return round;
}

/* Returns the moment of the link's hulls for density 1 kg/m^3. Overlaps of hulls count twice. */
static MassMoment solid_moment(const Model* model, const ModelLink* link) {
  MassMoment sum = mass_moment_zero();
  for (int k = 0; k < link->hull_count; k++) {
    const ModelHull* hull = &model->hulls[link->hull_first + k];
    MassMoment solid = hull->kind->moment(hull);
    mass_moment_add(&sum, &solid, 1);
  }
  return sum;
}

/* Returns true if the mass is positive and finite, otherwise adds an error. Extreme lengths and densities can overflow.
 */
static bool mass_is_valid(Builder* builder, const ModelLink* link, const SceneLink* source, double mass) {
  if (mass > 0 && isfinite(mass)) return true;
  diagnostics_add(builder->diagnostics, SEVERITY_ERROR, source->place, "mass of link '%s' must be > 0 kg, got %.6g",
                  link->name, mass);
  return false;
}

/* Returns the first shape of the link that consists of triangles; there must be one. */
static const SceneShape* triangle_shape(const Builder* builder, const SceneLink* source) {
  int k = 0;
  while (k + 1 < source->shape_count && !builder->scene->shapes[source->shapes[k].shape].triangles) k++;
  return &builder->scene->shapes[source->shapes[k].shape];
}

/* Adds an error for a closed surface with a negative volume, whose triangles face inward. */
static void report_inward(Builder* builder, const SceneLink* source, double volume) {
  const SceneShape* shape = triangle_shape(builder, source);
  diagnostics_add(builder->diagnostics, SEVERITY_ERROR, source->place,
                  "the triangles of link '%s' face inward (%s), so the enclosed volume is %.6g m^3: %s",
                  text_excerpt(source->name).text, shape->file ? shape->file : "its points", volume,
                  shape->file ? "set 'orient: fix' in the shape"
                              : "list the corners of each triangle counterclockwise, seen from outside");
}

/* Returns true unless the triangles of the link form a closed, consistently oriented surface. Corners at the same
 * position count as one corner. */
static bool surface_is_open(const Model* model, const ModelLink* link) {
  TriangleSurface surface = {.points = MEMORY_NEW(Vec3, 3 * link->hull_count + 1)};
  for (int k = link->hull_first; k < link->hull_first + link->hull_count; k++) {
    if (model->hulls[k].kind != &SOLID_TRIANGLE) continue;
    for (int i = 0; i < 3; i++) surface.points[surface.point_count++] = model->hulls[k].solid.vertices[i];
  }
  bool open = false;
  if (surface.point_count > 0) {
    surface_join_corners(&surface);
    SurfaceCheck check = surface_check(&surface);
    open = !check.closed || !check.oriented;
  }
  surface_free(&surface);
  return open;
}

static void set_vertex_mass(Builder* builder, ModelLink* link, const SceneLink* source) {
  MassMoment sheet = vertex_moment(builder->model, link);
  if (!mass_is_valid(builder, link, source, source->mass)) return;
  mass_moment_add(&link->moment, &sheet, source->mass);
  link->mass = source->mass;
}

static void set_shape_mass(Builder* builder, ModelLink* link, const SceneLink* source) {
  const Model* model = builder->model;
  bool open = !model->own_scene &&
              surface_is_open(model, link); /* with overrides, the surface was checked in the given scene */
  if (source->mass_model == MASS_BY_SHAPE) link->mass_model = open ? MASS_VERTICES : MASS_UNIFORM;
  if (has_round_solid(model, link)) link->mass_model = MASS_UNIFORM;
  if (open) {
    if (source->has_mass && link->mass_model == MASS_VERTICES)
      set_vertex_mass(builder, link, source);
    else
      diagnostics_add(
          builder->diagnostics, SEVERITY_ERROR, source->place,
          "the triangles of link '%s' form no closed surface, so the volume is unknown: set orient: fix in the shape, "
          "or give 'mass' with mass_model: vertices, or 'mass' and 'inertia' with mass_model: given",
          link->name);
    return;
  }
  double volume = link_volume(model, link), mass = source->has_mass ? source->mass : source->density * volume;
  bool by_volume = !source->has_mass || link->mass_model == MASS_UNIFORM || !has_triangles(model, link);
  if (by_volume && volume < 0 && has_triangles(model, link)) {
    report_inward(builder, source, volume);
    return;
  }
  if (!mass_is_valid(builder, link, source, volume > 0 || !by_volume ? mass : volume)) return;
  bool uniform = link->mass_model == MASS_UNIFORM;
  MassMoment shape = uniform ? solid_moment(model, link) : vertex_moment(model, link);
  mass_moment_add(&link->moment, &shape, mass / mass_moment_mass(&shape));
  link->mass = mass;
}

/* Sets mass, mass moment and centre of a link. A link that forces can move must have a mass, and a shape or an inertia.
 * Other links may be massless. */
static void set_link_mass(Builder* builder, int index) {
  ModelLink* link = &builder->model->links[index];
  const SceneLink* source = &builder->scene->links[index];
  link->mass_model = source->mass_model;
  if (!source->has_mass && !source->has_density) return;
  if (source->mass_model == MASS_GIVEN) {
    link->mass = source->mass;
    link->moment = mass_moment_inertia(source->mass, source->center, source->inertia);
  } else if (link_vertices(builder->model, link) > 0) {
    set_shape_mass(builder, link, source);
  }
}

/* Returns the centre of the bounding box of all bounded hulls, link frame, or zero if there is none. */
static Vec3 bounding_box_center(const Model* model, const ModelLink* link) {
  Vec3 low = vec3(HUGE_VAL, HUGE_VAL, HUGE_VAL), high = vec3_scale(low, -1);
  for (int k = 0; k < link->hull_count; k++) {
    const ModelHull* hull = &model->hulls[link->hull_first + k];
    if (!hull->kind->bounded) continue;
    low = vec3_min(low, vec3_sub(hull->center, hull->half_extent));
    high = vec3_max(high, vec3_add(hull->center, hull->half_extent));
  }
  return low.x <= high.x ? vec3_scale(vec3_add(low, high), 0.5) : vec3(0, 0, 0);
}

static void set_reference_point(const Model* model, ModelLink* link) {
  link->center = link->mass > 0 ? mass_moment_center(&link->moment) : bounding_box_center(model, link);
  link->reach = vec3_norm(link->center);
  for (int k = 0; k < link->hull_count; k++) {
    const ConvexHull* solid = &model->hulls[link->hull_first + k].solid;
    const ModelHull* hull = &model->hulls[link->hull_first + k];
    for (int i = 0; i < solid->vertex_count; i++) link->reach = fmax(link->reach, vec3_norm(solid->vertices[i]));
    if (hull_is_round(hull)) link->reach = fmax(link->reach, vec3_norm(hull->center) + hull->radius);
  }
}

void build_masses(Builder* builder) {
  for (int i = 0; i < builder->model->link_count; i++) {
    set_link_mass(builder, i);
    set_reference_point(builder->model, &builder->model->links[i]);
  }
}

bool link_principal_moments(const ModelLink* link, double moments[3]) {
  double a[9], work[3];
  Mat3 inertia = mass_moment_inertia_tensor(&link->moment);
  for (int i = 0; i < 9; i++) a[i] = inertia.m[i / 3][i % 3];
  return symmetric_eigen(3, 3, a, moments, work);
}
