#include "geometry/support.h"

int support_index(PointView points, Vec3 direction, double* value) { return support_vertex(&points, direction, value); }
