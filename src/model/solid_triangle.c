/* Triangles: flat hulls of three vertices. A set of triangles represents a solid or a sheet. */
#include "model/build.h"

void place_triangle(ModelHull* hull, const ConvexHull* piece, Pose pose) {
  place_hull(hull, piece, pose);
  hull->kind = &SOLID_TRIANGLE;
}

static double support(const ModelHull* hull, Vec3 direction, int* vertex) {
  return SOLID_HULL.support(hull, direction, vertex);
}

/* Returns the signed mass moment of the tetrahedron between the triangle and the link frame's origin. The sum over a
 * closed surface is the moment of the enclosed solid. */
static MassMoment moment(const ModelHull* hull) { return mass_moment_solid(&hull->solid); }

/* Returns HUGE_VAL, because a single triangle has no thickness. The thickness of a set of triangles is computed in
 * shapes.c. */
static double thickness(const ModelHull* hull) {
  (void)hull;
  return HUGE_VAL;
}

const SolidKind SOLID_TRIANGLE = {true, support, moment, thickness};
