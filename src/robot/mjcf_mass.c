/* Sets masses and inertias of MuJoCo's bodies. */
#include <string.h>

#include "linalg/dense.h"
#include "robot/mjcf.h"

static void read_inertial(MjcfModel* model, const XmlElement* element, UrdfPose frame, UrdfLink* link) {
  MjcfElement e = {element, ""};
  double i[6] = {0}, diagonal[3] = {0};
  UrdfPose pose = urdf_pose_mul(frame, mjcf_pose(model, e));
  bool full = mjcf_numbers(model, e, "fullinertia", 6, 6, i) > 0;
  if (!full && mjcf_numbers(model, e, "diaginertia", 3, 3, diagonal) > 0) memcpy(i, diagonal, sizeof diagonal);
  const Mat3 tensor = {{{i[0], i[3], i[4]}, {i[3], i[1], i[5]}, {i[4], i[5], i[2]}}};
  Mat3 turn = mat3_from_quat(pose.rotation);
  bool turned = pose.rotation.x != 0 || pose.rotation.y != 0 || pose.rotation.z != 0;
  link->inertial_place = element->place;
  link->mass = mjcf_number(model, e, "mass", 0);
  if (!(link->mass >= 0)) mjcf_error(model, element->place, "mass of <inertial> must be >= 0, got %.10g", link->mass);
  link->center = pose.position;
  link->inertia = turned ? mat3_mul(turn, mat3_mul(tensor, mat3_transpose(turn))) : tensor;
}

static void set_mass_from_geoms(const MassMoment* moment, UrdfLink* link) {
  double mass = mass_moment_mass(moment);
  if (!(mass > 0)) return;
  link->mass = mass;
  link->center = mass_moment_center(moment);
  link->inertia = mass_moment_inertia_tensor(moment);
}

/* Applies boundinertia, a lower bound of the principal moments of inertia, and balanceinertia. The latter replaces
 * moments A, B, C with A + B < C by their mean. */
static void bound_inertia(const MjcfCompiler* compiler, UrdfLink* link) {
  Mat3 axes = link->inertia; /* each row is a principal axis */
  double moments[3];
  if (!dense_eigen(3, axes.m[0], moments)) return;
  for (int k = 0; k < 3; k++) moments[k] = fmax(moments[k], compiler->inertia_minimum);
  if (compiler->balances_inertia && moments[0] + moments[1] < moments[2])
    moments[0] = moments[1] = moments[2] = (moments[0] + moments[1] + moments[2]) / 3;
  link->inertia = mat3_zero();
  for (int k = 0; k < 3; k++) {
    Vec3 axis = vec3(axes.m[k][0], axes.m[k][1], axes.m[k][2]);
    link->inertia = mat3_add(link->inertia, mat3_scale(mat3_outer(axis, axis), moments[k]));
  }
}

void mjcf_set_body_mass(MjcfModel* model, const XmlElement* body, const XmlElement* inertial, const MassMoment* moment,
                        UrdfPose frame, UrdfLink* link) {
  const MjcfCompiler* compiler = mjcf_compiler(model, body->place);
  if (inertial) read_inertial(model, inertial, frame, link);
  if (moment) set_mass_from_geoms(moment, link);
  link->mass = fmax(link->mass, compiler->mass_minimum);
  if (compiler->inertia_minimum > 0 || compiler->balances_inertia) bound_inertia(compiler, link);
}
