/* Compares the masses of links with those of the meshes that convex hulls replace. */
#include "model/build.h"

/* Largest difference of the mass, in fractions, and of the centre of mass, in fractions of the link's size, between the
 * hulls of a link and the meshes that they replace. Above it the motion differs by more than 1 %. */
#define HULL_MASS_ERROR_MAX 0.01

/* Products of inertia below this fraction of the trace, and coordinates below this fraction of the link's size, are
 * rounding errors. */
#define VALUE_ROUNDING 1e-12

static double rounded(double value, double scale) { return fabs(value) <= VALUE_ROUNDING * scale ? 0 : value; }

/* Returns the mass moment for density 1 kg/m^3 of the solids that the closed meshes of a link enclose, and of all other
 * pieces of the link. */
static MassMoment enclosed_moment_of_link(const Builder* builder, const ModelLink* link, const SceneLink* source) {
  MassMoment sum = mass_moment_zero();
  for (int k = 0; k < source->shape_count; k++) {
    const SceneShapeUse* use = &source->shapes[k];
    const MassMoment* enclosed = &builder->solids[use->shape].enclosed;
    if (!(mass_moment_mass(enclosed) > 0)) continue;
    MassMoment placed = mass_moment_transform(enclosed, shape_use_pose(use));
    mass_moment_add(&sum, &placed, 1);
  }
  for (int k = 0; k < link->hull_count; k++) {
    const ModelHull* hull = &builder->model->hulls[link->hull_first + k];
    if (mass_moment_mass(&builder->solids[hull->shape].enclosed) > 0) continue;
    MassMoment solid = hull->kind->moment(hull);
    mass_moment_add(&sum, &solid, 1);
  }
  return sum;
}

/* Warns if the mass or the centre of mass of a movable link differs from that of its meshes, because overlaps of hulls
 * count twice, or because hulls fill hollows. Gives the values of the meshes. */
static void check_link(Builder* builder, int index) {
  const ModelLink* link = &builder->model->links[index];
  const SceneLink* source = &builder->scene->links[index];
  if (link->mass_model != MASS_UNIFORM || !link_is_dynamic(builder->model, index)) return;
  bool any = false;
  for (int k = 0; k < source->shape_count; k++)
    any = any || mass_moment_mass(&builder->solids[source->shapes[k].shape].enclosed) > 0;
  if (!any) return;
  MassMoment exact = enclosed_moment_of_link(builder, link, source), moment = mass_moment_zero();
  double mass = source->has_mass ? source->mass : source->density * mass_moment_mass(&exact);
  mass_moment_add(&moment, &exact, mass / mass_moment_mass(&exact));
  Vec3 c = mass_moment_center(&moment);
  double size = link_size(builder->model, link), off = vec3_norm(vec3_sub(link->center, c));
  if (fabs(link->mass / mass - 1) <= HULL_MASS_ERROR_MAX && off <= HULL_MASS_ERROR_MAX * size) return;
  Mat3 i = mass_moment_inertia_tensor(&moment);
  double inertia[6] = {i.m[0][0], i.m[1][1], i.m[2][2], i.m[0][1], i.m[0][2], i.m[1][2]};
  for (int k = 3; k < 6; k++) inertia[k] = rounded(inertia[k], mat3_trace(i));
  diagnostics_add(
      builder->diagnostics, SEVERITY_WARNING, source->place,
      "link '%s' has the mass of the hulls that replace its mesh: %.6g kg instead of %.6g kg, with a centre of mass "
      "%.3g m away, because the hulls overlap, fill hollows or have fewer vertices: for the mesh, set mass_model: "
      "given, mass: %.9g, center: [%.9g, %.9g, %.9g], inertia: [%.9g, %.9g, %.9g, %.9g, %.9g, %.9g]",
      link->name, link->mass, mass, off, mass, rounded(c.x, size), rounded(c.y, size), rounded(c.z, size), inertia[0],
      inertia[1], inertia[2], inertia[3], inertia[4], inertia[5]);
}

void check_hull_masses(Builder* builder) {
  for (int i = 0; i < builder->model->link_count; i++) check_link(builder, i);
}
