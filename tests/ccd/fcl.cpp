// Distances of hulls by FCL, for times.c. Poses: rotation by rows, then position.
#include <fcl/fcl.h>
#include <memory>
#include <vector>

static fcl::Transform3d placed(const double pose[12]) {
  fcl::Transform3d out = fcl::Transform3d::Identity();
  for (int r = 0; r < 3; r++) {
    for (int c = 0; c < 3; c++) out.matrix()(r, c) = pose[3 * r + c];
    out.matrix()(r, 3) = pose[9 + r];
  }
  return out;
}

extern "C" void* fcl_hull_create(const double* points, int count, const int* triangles, int triangle_count) {
  auto corners = std::make_shared<std::vector<fcl::Vector3d>>();
  auto faces = std::make_shared<std::vector<int>>();
  for (int i = 0; i < count; i++) corners->push_back({points[3 * i], points[3 * i + 1], points[3 * i + 2]});
  for (int i = 0; i < triangle_count; i++) {
    faces->push_back(3);
    for (int k = 0; k < 3; k++) faces->push_back(triangles[3 * i + k]);
  }
  auto* hull = new fcl::Convexd(corners, triangle_count, faces);
  hull->computeLocalAABB();
  return hull;
}

extern "C" void fcl_hull_free(void* hull) { delete static_cast<fcl::Convexd*>(hull); }

// Distance [m] and nearest points; minus the depth where the hulls overlap. libccd: by that, else by FCL's own GJK, whose
// depths fail an assertion inside FCL 0.7, so that they are not asked for.
extern "C" double fcl_hull_distance(const void* a, const double pose_a[12], const void* b, const double pose_b[12],
                                    int libccd) {
  fcl::DistanceRequestd request(true, libccd != 0, 0, 0, 1e-6, libccd ? fcl::GST_LIBCCD : fcl::GST_INDEP);
  fcl::DistanceResultd result;
  fcl::distance(static_cast<const fcl::Convexd*>(a), placed(pose_a), static_cast<const fcl::Convexd*>(b), placed(pose_b),
                request, result);
  return result.min_distance;
}
