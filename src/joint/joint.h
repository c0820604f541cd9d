/* joint: joint types and operations on joint coordinates. Each type is one file with a table of functions, JointKind;
 * kinds.h lists the types. Limits, damping and controllers of joints are in simulate/. No function allocates, and none
 * fails on input that the scene reader accepts.
 *
 * The pose of the link frame in the joint frame is Trans(sum_k q_k slide_axis_k) M(r) (K1,
 * docs/derivations/kinematics.md). The first coordinates q_k are translations along up to three fixed axes, the slides.
 * M is the motion of the joint type with the remaining coordinates r.
 *
 * A coordinate is a scalar in m or rad, or one of the four components w x y z of a unit quaternion. Scalar coordinates
 * come first. A quaternion has three degrees of freedom: rotations about the current link axes. Increments d1, d2, d3
 * [rad] replace the rotation R of the link frame in the joint frame by R Rx(d1) Ry(d2) Rz(d3). */
#ifndef SDRS_JOINT_H
#define SDRS_JOINT_H

#include <stdbool.h>

#include "joint/kinds.h"
#include "linalg/linalg.h"

enum { JOINT_MAX_DOF = 6, JOINT_MAX_COORDINATE = 7, JOINT_MAX_PARAMETER = 2 };

#define JOINT_CONSTANT(NAME, ...) JOINT_##NAME,
typedef enum { JOINT_TYPE_ROWS(JOINT_CONSTANT) JOINT_TYPE_COUNT } JointType;
#undef JOINT_CONSTANT

/* Bits of the argument free_axes of joint_make. FREE_X allows the translation along the x axis of the joint frame,
 * FREE_RX the rotation about this axis. */
enum { FREE_X = 1, FREE_Y = 2, FREE_Z = 4, FREE_RX = 8, FREE_RY = 16, FREE_RZ = 32, FREE_ALL = 63 };

typedef struct JointKind JointKind;

/* Kinematic description of a joint. */
typedef struct {
  const JointKind* kind; /* functions of the joint type for the motion M after the translations */
  int dof_count, coordinate_count;
  int slide_count; /* number of translations [m], which are the first degrees of freedom; all further degrees of freedom
                      are rotations [rad] */
  int hinge_count; /* number of single-axis rotations, which follow the slides */
  int scalar_count; /* number of scalar coordinates [m, rad], without the four of the quaternion */
  bool quaternion;  /* true if the last four coordinates are a unit quaternion, with three rotational degrees of freedom
                     */
  Vec3 slide_axis[3]; /* unit vectors of the translations, joint frame (size: slide_count) */
  Vec3 axis[2]; /* rotation axes of the joint at zero coordinates, unit vectors in the joint frame. The rotation about
                   axis[0] also rotates axis[1] */
  double parameters[JOINT_MAX_PARAMETER];  /* numeric parameters of the joint type (JOINT_PARAMETER_ROWS) */
  const char* names[JOINT_MAX_COORDINATE]; /* column names in joints.csv, for example "x", "angle", "qw" (size:
                                              coordinate_count) */
} Joint;

/* Screw axis of one degree of freedom theta, in world axes: the axis about and along which a joint moves its descendant
 * links. A point y of a descendant link moves by dy/dtheta = w x (y - p) + v. */
typedef struct {
  Vec3 w; /* unit vector along the axis of rotation; 0 for a slide */
  Vec3 v; /* velocity of the point p per unit rate of theta: unit direction for a slide, 0 for a hinge, pitch times w
             for a screw joint [m/rad] */
  Vec3 p; /* point on the axis [m] */
} Screw;
/* Returns the velocity of a descendant link's point per unit rate of the degree of freedom [m/s per m/s or rad/s]. at:
 * world position of the point [m]. */
static inline Vec3 screw_velocity(const Screw* screw, Vec3 at) {
  return vec3_add(screw->v, vec3_cross(screw->w, vec3_sub(at, screw->p)));
}

/* Upper bounds on the motion of the link frame in the joint frame along a path of the joint coordinates
 * (certificate.md, P1). The path leads from coordinates q to q + d; the path parameter is alpha in [0, 1]. Speeds are
 * derivatives with respect to alpha. */
typedef struct {
  double length; /* distance between the origins of both frames [m] */
  double
      slide; /* speed of the link frame's origin due to translations [m]; the direction of this velocity is constant */
  double spin, spin_rate; /* angular speed [rad], and magnitude of the derivative of the angular velocity [rad] */
} JointMotionBound;

/* Functions of a joint type for its motion M after the translations. r: joint coordinates of M, which follow the
 * coordinates of the translations. Functions that use r are NULL if the type has only translations. */
struct JointKind {
  /* Adds the coordinates of the joint in their order by the functions joint_add_*. axes: up to two unit vectors in the
   * joint frame. free_axes: bits FREE_X to FREE_RZ. A function may replace joint->kind. joint->parameters is set before
   * the call. */
  void (*add_coordinates)(Joint* joint, const Vec3 axes[2], unsigned free_axes);
  /* Multiplies *motion on the right by M(r). On entry *motion is the translation by the slides. */
  void (*apply_motion)(const Joint* joint, const double* r, Pose* motion);
  /* Sets out to the screw axes of the motion M in world axes, one per degree of freedom of M. Each axis is rotated by
   * the preceding degrees of freedom. frame: rotation of the joint frame in the world. link: pose of the link frame in
   * the world. */
  void (*compute_screws)(const Joint* joint, const double* r, Mat3 frame, Pose link, Screw* out);
  /* Adds upper bounds of the motion M to *bound, while its coordinates move from r to r + d along a straight path. */
  void (*bound_motion)(const Joint* joint, const double* r, const double* d, JointMotionBound* bound);
};

#define JOINT_ROW_DECLARED(NAME, ...) extern const JointKind JOINT_KIND_##NAME;
JOINT_TYPE_ROWS(JOINT_ROW_DECLARED)
#undef JOINT_ROW_DECLARED

/* Row of a joint type in JOINT_TYPE_ROWS (kinds.h). */
typedef struct {
  const char* word;           /* name of the type in scene files */
  bool axis, axes, free_axes; /* true if a joint of this type accepts the key of this name in scene files */
  const JointKind* kind;
} JointTypeRow;
extern const JointTypeRow JOINT_TABLE[JOINT_TYPE_COUNT];

/* A numeric parameter that some joint types have, for example the pitch of a screw joint. key: its name in scene files.
 * types: names of these joint types, separated by bars. */
typedef struct {
  int slot; /* index into Joint.parameters */
  const char *key, *types;
} JointParameterRow;
extern const JointParameterRow JOINT_PARAMETERS[]; /* the last entry has key NULL */

/* Returns a joint of the given type. axes[2] (unit vectors in the joint frame), free_axes and
 * parameters[JOINT_MAX_PARAMETER] are copied. Arguments that the type does not use are ignored. */
Joint joint_make(JointType type, const Vec3 axes[2], unsigned free_axes, const double* parameters);
/* Adds to the joint a translation along `axis` (unit vector in the joint frame) with one coordinate [m]. A joint has at
 * most three slides (asserted), before all rotations. Borrows the static text `name`. */
void joint_add_slide(Joint* joint, Vec3 axis, const char* name);
/* Adds to the joint a rotation about `axis` (unit vector in the joint frame) with one coordinate [rad]. A joint has at
 * most two hinges (asserted), after the slides. Borrows the static text `name`. */
void joint_add_hinge(Joint* joint, Vec3 axis, const char* name);
/* Adds one scalar coordinate [rad] of a motion that is not a hinge, for example of a screw joint. Borrows the static
 * text `name`. */
void joint_add_rotation_coordinate(Joint* joint, const char* name);
/* Adds three rotational degrees of freedom [rad] with a quaternion w x y z as coordinates. A joint has at most one
 * quaternion (asserted), after all other coordinates. */
void joint_add_quaternion(Joint* joint);
/* Returns true if URDF and MJCF can express the joint: it has only slides, hinges and a quaternion. Returns false for a
 * screw joint. */
bool joint_is_elementary(const Joint* joint);
/* Returns true if the joint has three slides and a quaternion (six degrees of freedom). */
static inline bool joint_is_floating(const Joint* joint) { return joint->slide_count == 3 && joint->quaternion; }
/* Returns true if the joint has one hinge, and translations in all directions perpendicular to the hinge's axis. A
 * translation along the axis is optional. */
bool joint_is_free_in_plane(const Joint* joint);
/* Returns the angular velocity of the link in link axes [rad/s]. rate: rates (size: dof_count) of a joint that is
 * floating or free in a plane. */
Vec3 joint_free_angular_velocity(const Joint* joint, const double* rate);
/* Sets the rotations' entries of rate[dof_count] to the components of w, a vector in link axes, along the axes of the
 * rotations. Other entries are unchanged. The joint is floating or free in a plane. */
void joint_set_free_rotation_rates(const Joint* joint, Vec3 w, double* rate);

/* ---------------------------------------------------------------- motion */
/* Returns the pose of the link frame in the joint frame [m] for the joint coordinates q[coordinate_count] [m, rad]. A
 * quaternion in q has unit length (not checked, because recorded files can be damaged). */
Pose joint_motion(const Joint* joint, const double* q);
/* Sets out[dof_count] to the screw axes of the joint in world axes, slides first, for the joint coordinates
 * q[coordinate_count]. frame: rotation of the joint frame in the world. link: pose of the link frame in the world. The
 * three screws of a quaternion are rotations about the current link axes. */
void joint_screws(const Joint* joint, const double* q, Mat3 frame, Pose link, Screw* out);
/* Returns upper bounds, not necessarily tight, on the motion of the link frame while the joint moves from coordinates q
 * to q + d. The path is q + alpha d with alpha from 0 to 1. q[coordinate_count], d[dof_count] in m and rad. */
JointMotionBound joint_bound_motion(const Joint* joint, const double* q, const double* d);

/* ---------------------------------------------------------------- coordinates */
/* Sets out to the joint coordinates q plus the increment d[dof_count] [m, rad]. A quaternion is multiplied on the right
 * by the rotations Rx(d1) Ry(d2) Rz(d3), with its three increments d1, d2, d3, and normalized; increments of 0 keep it
 * bit-identical. q and out have coordinate_count entries; out may be q. */
void joint_increment(const Joint* joint, const double* q, const double* d, double* out);
/* Sets d[dof_count] to the difference between the joint coordinates q_from and q_to [m, rad]. For a quaternion the
 * difference is the rotation vector of q_from^-1 q_to in link axes, at most pi long. Both quaternions have unit length
 * (not checked). */
void joint_difference(const Joint* joint, const double* q_from, const double* q_to, double* d);
/* Sets out to the joint coordinates q plus factor times the difference d[dof_count] from joint_difference. The three
 * entries of d for a quaternion are a rotation vector in link axes. q and out have coordinate_count entries; out may be
 * q. */
void joint_extrapolate(const Joint* joint, const double* q, const double* d, double factor, double* out);
/* Sets q[coordinate_count] to the joint coordinates of a control target[dof_count] [m, rad]. The three entries of
 * target for a quaternion are a rotation vector. */
void joint_coordinates_from_target(const Joint* joint, const double* target, double* q);
/* Sets rate[dof_count] [m/s, rad/s] to the joint velocity of a control target with value[dof_count] and time derivative
 * value_rate[dof_count]. For a rotation vector, rate is the angular velocity in link axes. */
void joint_rates_from_target(const Joint* joint, const double* value, const double* value_rate, double* rate);
/* Sets the joint coordinates q[coordinate_count] to zero, and a quaternion to the identity. */
void joint_zero(const Joint* joint, double* q);

#endif
