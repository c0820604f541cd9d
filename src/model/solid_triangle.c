/* A triangle of a set that represents a solid or a sheet: a flat hull of three vertices. */
#include "model/build.h"

void place_triangle(ModelHull* hull, const ConvexHull* piece, Pose pose) {
  place_hull(hull, piece, pose);
  hull->kind = &SOLID_TRIANGLE;
}

static double support(const ModelHull* hull, Vec3 direction, int* vertex) {
  return SOLID_HULL.support(hull, direction, vertex);
}

/* Signed moment of the tetrahedron to the link frame's origin; the sum over a closed set is the moment of the enclosed
 * solid. */
static MassMoment moment(const ModelHull* hull) { return mass_moment_solid(&hull->solid); }

/* A triangle has no thickness of its own; the set has one (shapes.c). */
static double thickness(const ModelHull* hull) {
  (void)hull;
  return HUGE_VAL;
}

const SolidKind SOLID_TRIANGLE = {true, support, moment, thickness};
