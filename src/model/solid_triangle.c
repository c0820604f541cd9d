/* A triangle of a set that stands for a solid or a sheet: a flat hull of three vertices. */
#include "model/build.h"

void place_triangle(ModelHull* hull, const ConvexHull* piece, Pose pose) {
  place_hull(hull, piece, pose);
  hull->kind = &SOLID_TRIANGLE;
}

static double support(const ModelHull* hull, Vec3 direction, int* vertex) {
  return SOLID_HULL.support(hull, direction, vertex);
}

/* That of the tetrahedron to the origin of the link's frame, with its sign: the sum over a closed set is that of what
 * it encloses. */
static MassMoment moment(const ModelHull* hull) { return mass_moment_solid(&hull->solid); }

/* Of itself it has none; what the set encloses has (shapes.c). */
static double thickness(const ModelHull* hull) {
  (void)hull;
  return HUGE_VAL;
}

const SolidKind SOLID_TRIANGLE = {true, support, moment, thickness};
