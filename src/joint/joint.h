/* joint: joint types and operations on joint coordinates. Each type is one file with a table of functions, JointKind;
 * kinds.h lists the types. Limits, damping and controllers of joints are in simulate/. No function allocates, and none
 * fails on input that the scene reader accepts.
 *
 * Frames (K1, docs/derivations/kinematics.md): the pose of the link frame in the joint frame is
 *   Trans(sum_k q_k slide_axis_k)  M(r)
 * with up to three slides along fixed axes, followed by the motion M of the joint type with the coordinates r.
 *
 * Coordinates are of two sorts. Coordinates in m or rad add. They come first and may be followed by one unit quaternion
 * w x y z with three degrees of freedom: rotations about the current link axes, applied in the order
 * R <- R Rx(d1) Ry(d2) Rz(d3). Increments, differences, targets, limits and energies depend only on the sort of the
 * coordinates, not on the joint type. */
#ifndef SDRS_JOINT_H
#define SDRS_JOINT_H

#include <stdbool.h>

#include "joint/kinds.h"
#include "linalg/linalg.h"

enum { JOINT_MAX_DOF = 6, JOINT_MAX_COORDINATE = 7, JOINT_MAX_PARAMETER = 2 };

#define JOINT_CONSTANT(NAME, ...) JOINT_##NAME,
typedef enum { JOINT_TYPE_ROWS(JOINT_CONSTANT) JOINT_TYPE_COUNT } JointType;
#undef JOINT_CONSTANT

/* Bits of the argument free_axes of joint_make. FREE_X allows the translation along x, FREE_RX the rotation about x;
 * axes of the joint frame. */
enum { FREE_X = 1, FREE_Y = 2, FREE_Z = 4, FREE_RX = 8, FREE_RY = 16, FREE_RZ = 32, FREE_ALL = 63 };

typedef struct JointKind JointKind;

/* Kinematic description of a joint. */
typedef struct {
  const JointKind* kind; /* functions of the joint type, for the motion M that follows the slides */
  int dof_count, coordinate_count;
  int slide_count; /* number of translations [m], which are the first degrees of freedom; all others are rotations [rad]
                    */
  int hinge_count; /* number of single-axis rotations, which follow the slides */
  int scalar_count;   /* number of coordinates in m or rad: all except the four of the quaternion */
  bool quaternion;    /* true if the last three degrees of freedom are rotations with a unit quaternion as the last four
                         coordinates */
  Vec3 slide_axis[3]; /* unit, joint frame  (slide_count) */
  Vec3 axis[2]; /* axes of the motion M after the slides, at zero coordinates; unit vectors in the joint frame. The
                   first rotation of M rotates axis[1] */
  double parameters[JOINT_MAX_PARAMETER]; /* numeric parameters of the joint type, listed in JOINT_PARAMETER_ROWS
                                             (kinds.h) */
  const char*
      names[JOINT_MAX_COORDINATE]; /* names of the coordinates in joints.csv: "x", "angle", "qw"  (coordinate_count) */
} Joint;

/* Screw axis of one degree of freedom theta, world axes. A point x of every descendant link moves by dx/dtheta = w x (x
 * - p) + v. */
typedef struct {
  Vec3 w; /* unit vector along the axis of rotation; 0 for a slide */
  Vec3 v; /* velocity of the point p per unit rate of theta: unit direction for a slide, 0 for a hinge, pitch times w
             for a screw joint [m/rad] */
  Vec3 p; /* point on the axis [m] */
} Screw;
/* Returns the velocity of the point `at` when the degree of freedom moves at unit rate: [m/s] per [m/s] or [rad/s]. */
static inline Vec3 screw_velocity(const Screw* screw, Vec3 at) {
  return vec3_add(screw->v, vec3_cross(screw->w, vec3_sub(at, screw->p)));
}

/* Upper bounds on the motion of the link frame relative to the joint frame, while the joint coordinates move from q to
 * q + d (certificate.md, P1). The coordinates are q + alpha d, 0 <= alpha <= 1. Speeds are derivatives with respect to
 * alpha. */
typedef struct {
  double length;          /* distance between the origins of both frames [m] */
  double slide;           /* speed of the link frame's origin due to the slides [m]; its direction is constant */
  double spin, spin_rate; /* angular speed, and the rate of change of the angular velocity [rad] */
} JointMotionBound;

/* Functions of a joint type. r: joint coordinates that follow the coordinates of the slides. A function may be NULL if
 * the joint has no coordinates after the slides. */
struct JointKind {
  /* Adds the coordinates of the joint in their order by joint_add_slide, joint_add_hinge, joint_add_rotation_coordinate
   * and joint_add_quaternion. axes: unit vectors in the joint frame; a joint type uses none, one or both. free_axes:
   * bits FREE_X to FREE_RZ. May set joint->kind to another type's functions. joint->parameters is set before the call.
   */
  void (*make)(Joint* joint, const Vec3 axes[2], unsigned free_axes);
  /* Multiplies *motion on the right by the motion M(r) after the slides. On entry *motion is the translation of the
   * slides. */
  void (*move)(const Joint* joint, const double* r, Pose* motion);
  /* Sets out to the screw axes of the motion M in world axes, one per degree of freedom after the slides. Each axis is
   * rotated by the degrees of freedom before it. frame: rotation of the joint frame in the world. link: pose of the
   * link frame in the world. */
  void (*screws)(const Joint* joint, const double* r, Mat3 frame, Pose link, Screw* out);
  /* Adds upper bounds of the motion M to *reach, while the coordinates move from r to r + d. d: increments of the
   * degrees of freedom after the slides. */
  void (*reach)(const Joint* joint, const double* r, const double* d, JointMotionBound* reach);
};

#define JOINT_ROW_DECLARED(NAME, ...) extern const JointKind JOINT_KIND_##NAME;
JOINT_TYPE_ROWS(JOINT_ROW_DECLARED)
#undef JOINT_ROW_DECLARED

/* Properties of a joint type from the table in kinds.h. */
typedef struct {
  const char* word;           /* name of the type in scene files */
  bool axis, axes, free_axes; /* true if the joint accepts the key of this name */
  const JointKind* kind;
} JointTypeRow;
extern const JointTypeRow JOINT_TABLE[JOINT_TYPE_COUNT];

/* A numeric parameter that some joint types have, for example the pitch of a screw joint. */
typedef struct {
  int slot; /* index into Joint.parameters */
  const char *key, *types;
} JointParameterRow;
extern const JointParameterRow JOINT_PARAMETERS[]; /* the last entry has key NULL */

/* Returns a joint of the given type. axes[2], unit vectors, and free_axes are copied; entries that the type does not
 * have are ignored. parameters[JOINT_MAX_PARAMETER]: parameters of the type. Cannot fail on input that the scene reader
 * accepts. */
Joint joint_make(JointType type, const Vec3 axes[2], unsigned free_axes, const double* parameters);
/* Adds to the joint a translation along `axis` (unit vector in the joint frame) with one coordinate [m]. Called by
 * JointKind.make. Borrows name, which must outlive the joint. A joint has at most three slides, before all rotations;
 * this is not checked. */
void joint_add_slide(Joint* joint, Vec3 axis, const char* name);
/* Adds to the joint a rotation about `axis` (unit vector in the joint frame) with one coordinate [rad]. A joint has at
 * most two hinges, after the slides; this is not checked. Borrows name, which must outlive the joint. */
void joint_add_hinge(Joint* joint, Vec3 axis, const char* name);
/* Adds a coordinate [rad] of a rotation that is not a hinge, for example of a screw joint. Borrows name, which must
 * outlive the joint. The number of coordinates is not checked. */
void joint_add_rotation_coordinate(Joint* joint, const char* name);
/* Adds three rotational degrees of freedom [rad] with a quaternion w x y z as coordinates. A joint has at most one
 * quaternion, after all other coordinates; this is not checked. */
void joint_add_quaternion(Joint* joint);
/* Returns true if URDF and MJCF can express the joint. Such a joint has only slides, hinges and a quaternion. Returns
 * false for a screw joint. joint must not be NULL. */
bool joint_is_elementary(const Joint* joint);
/* Returns true if the joint has six degrees of freedom: three slides and a quaternion. joint must not be NULL. */
static inline bool joint_is_floating(const Joint* joint) { return joint->slide_count == 3 && joint->quaternion; }

/* ---------------------------------------------------------------- motion. q: the joint's coordinates */
/* Returns the pose of the link frame in the joint frame; the translation is in m. q[coordinate_count] in m and rad. A
 * quaternion in q must have unit length; this is not checked. */
Pose joint_motion(const Joint* joint, const double* q);
/* Sets out[dof_count] to the screws of the joint in world axes, slides first; points in m. frame, link: as in
 * JointKind.screws. q[coordinate_count]. The three screws of a quaternion are rotations about the current link axes.
 * Cannot fail, allocates nothing. */
void joint_screws(const Joint* joint, const double* q, Mat3 frame, Pose link, Screw* out);
/* Returns upper bounds, not necessarily tight, on the motion of the link frame while the joint coordinates move along q
 * + alpha d, 0 <= alpha <= 1. q[coordinate_count], d[dof_count] in m and rad. Cannot fail, allocates nothing. */
JointMotionBound joint_bound_motion(const Joint* joint, const double* q, const double* d);

/* ---------------------------------------------------------------- coordinates */
/* Sets out to the coordinates q moved by the increment d[dof_count]. Coordinates in m and rad add; a quaternion is
 * multiplied on the right by the rotation and normalized. If the three increments of a quaternion are 0, the quaternion
 * is copied bit-identically. q and out have coordinate_count entries; out may be q. */
void joint_increment(const Joint* joint, const double* q, const double* d, double* out);
/* Sets d[dof_count] to the difference between the coordinates q_from and q_to [m, rad]. For a quaternion d is the
 * rotation vector of q_from^-1 q_to in link axes, at most pi long. q_from and q_to have coordinate_count entries. Both
 * quaternions must have unit length; this is not checked. */
void joint_difference(const Joint* joint, const double* q_from, const double* q_to, double* d);
/* Sets out to the coordinates q moved by factor times the difference d[dof_count]. The three entries of d for a
 * quaternion are a rotation vector in link axes, as joint_difference returns it. q and out have coordinate_count
 * entries; out may be q. */
void joint_extrapolate(const Joint* joint, const double* q, const double* d, double factor, double* out);
/* Converts the value target[dof_count] of a signal [m, rad] to joint coordinates q[coordinate_count]. The three entries
 * of a quaternion in target are a rotation vector. */
void joint_coordinates_from_target(const Joint* joint, const double* target, double* q);
/* Sets rate[dof_count] [m/s, rad/s] to the joint velocity of a signal with value[dof_count] and value_rate[dof_count].
 * For a rotation vector, rate is the angular velocity in link axes. */
void joint_rates_from_target(const Joint* joint, const double* value, const double* value_rate, double* rate);
/* Sets all joint coordinates q[coordinate_count] to zero, and the quaternion among them to the identity. */
void joint_zero(const Joint* joint, double* q);

#endif
