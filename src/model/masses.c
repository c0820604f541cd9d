/* Masses of links: S = sum m X~ X~^T from the mass model, scaled to the total mass. */
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

/* ---------------------------------------------------------------- mass models: moments of mass 1 or of the volume */

/* All hull vertices weigh the same. */
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

/* Overlapping hulls count twice where they overlap, in the volume too. */
static MassMoment solid_moment(const Model* model, const ModelLink* link) {
  MassMoment sum = mass_moment_zero();
  for (int k = 0; k < link->hull_count; k++) {
    const ModelHull* hull = &model->hulls[link->hull_first + k];
    MassMoment solid = hull->kind->moment(hull);
    mass_moment_add(&sum, &solid, 1);
  }
  return sum;
}

/* ---------------------------------------------------------------- one link */

/* Extreme lengths and densities leave the range of doubles; NaN fails too. */
static bool mass_usable(Builder* builder, const ModelLink* link, const SceneLink* source, double mass) {
  if (mass > 0 && isfinite(mass)) return true;
  diagnostics_add(builder->diagnostics, SEVERITY_ERROR, source->place, "mass of link '%s' must be > 0 kg, got %.6g",
                  link->name, mass);
  return false;
}

static void weigh_shapes(Builder* builder, ModelLink* link, const SceneLink* source) {
  const Model* model = builder->model;
  double volume = link_volume(model, link), mass = source->has_mass ? source->mass : source->density * volume;
  if (!mass_usable(builder, link, source, volume > 0 ? mass : volume)) return;
  bool uniform = source->mass_model == MASS_UNIFORM;
  MassMoment shape = uniform ? solid_moment(model, link) : vertex_moment(model, link);
  mass_moment_add(&link->moment, &shape, mass / mass_moment_mass(&shape));
  link->mass = mass;
}

/* The scene gives every link that forces can move a mass and something to carry it; others may lack either. */
static void weigh_link(Builder* builder, int index) {
  ModelLink* link = &builder->model->links[index];
  const SceneLink* source = &builder->scene->links[index];
  if (!source->has_mass && !source->has_density) return;
  if (source->mass_model == MASS_GIVEN) {
    link->mass = source->mass;
    link->moment = mass_moment_inertia(source->mass, source->center, source->inertia);
  } else if (link_vertices(builder->model, link) > 0) {
    weigh_shapes(builder, link, source);
  }
}

/* Centre of the box around the boxes of all bounded hulls; the frame's origin without any. */
static Vec3 box_center(const Model* model, const ModelLink* link) {
  Vec3 low = vec3(HUGE_VAL, HUGE_VAL, HUGE_VAL), high = vec3_scale(low, -1);
  for (int k = 0; k < link->hull_count; k++) {
    const ModelHull* hull = &model->hulls[link->hull_first + k];
    if (!hull->kind->bounded) continue;
    low = vec3_min(low, vec3_sub(hull->center, hull->half_extent));
    high = vec3_max(high, vec3_add(hull->center, hull->half_extent));
  }
  return low.x <= high.x ? vec3_scale(vec3_add(low, high), 0.5) : vec3(0, 0, 0);
}

static void measure_link(const Model* model, ModelLink* link) {
  link->center = link->mass > 0 ? mass_moment_center(&link->moment) : box_center(model, link);
  link->reach = vec3_norm(link->center);
  for (int k = 0; k < link->hull_count; k++) {
    const ConvexHull* solid = &model->hulls[link->hull_first + k].solid;
    for (int i = 0; i < solid->vertex_count; i++) link->reach = fmax(link->reach, vec3_norm(solid->vertices[i]));
  }
}

void build_masses(Builder* builder) {
  for (int i = 0; i < builder->model->link_count; i++) {
    weigh_link(builder, i);
    measure_link(builder->model, &builder->model->links[i]);
  }
}
