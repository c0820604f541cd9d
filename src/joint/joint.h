/* joint: the types of joints. A type is a row of functions, JointKind, in a file of its own; kinds.h lists them. What a
 * joint's coordinates mean stands here too; what acts on them (limits, damping, controllers) in simulate/. Everything
 * is a value: nothing is allocated, and nothing can fail on what the reader of scenes let through.
 *
 * Frames (K1, docs/derivations/kinematics.md): the pose of the link frame in the joint frame is
 *   Trans(sum_k q_k slide_axis_k)  M(r)
 * with up to three slides along fixed axes and the kind's own motion M of the coordinates r that follow.
 * Coordinates are plain, m or rad, and add; or, after these, one unit quaternion w x y z with three degrees of freedom:
 * rotations about the current link axes, applied in the order R <- R Rx(d1) Ry(d2) Rz(d3). Increments, differences,
 * targets, limits and energies follow from these two sorts, whatever the type. */
#ifndef SDRS_JOINT_H
#define SDRS_JOINT_H

#include <stdbool.h>

#include "joint/kinds.h"
#include "linalg/linalg.h"

enum { JOINT_MAX_DOF = 6, JOINT_MAX_COORDINATE = 7, JOINT_MAX_PARAMETER = 2 };

#define JOINT_CONSTANT(NAME, ...) JOINT_##NAME,
typedef enum { JOINT_TYPE_ROWS(JOINT_CONSTANT) JOINT_TYPE_COUNT } JointType;
#undef JOINT_CONSTANT

/* Bits of free_axes: translation x y z, rotation x y z of the joint frame. */
enum { FREE_X = 1, FREE_Y = 2, FREE_Z = 4, FREE_RX = 8, FREE_RY = 16, FREE_RZ = 32, FREE_ALL = 63 };

typedef struct JointKind JointKind;

/* Kinematic description of a joint. */
typedef struct {
  const JointKind* kind; /* functions of the motion M after the slides */
  int dof_count, coordinate_count;
  int slide_count;    /* number of translations [m], the first degrees of freedom; all others are rotations [rad] */
  int hinge_count;    /* number of single-axis rotations after the slides */
  int plain_count;    /* number of coordinates that add: all but the quaternion */
  bool quaternion;    /* true if the last three degrees of freedom, and the last four coordinates, are a quaternion */
  Vec3 slide_axis[3]; /* unit, joint frame  (slide_count) */
  Vec3 axis[2];       /* axes of M, unit, joint frame (the second one after the first rotation) */
  double parameters[JOINT_MAX_PARAMETER]; /* parameters of M, see JOINT_NUMBER_ROWS */
  const char*
      names[JOINT_MAX_COORDINATE]; /* names of the coordinates in joints.csv: "x", "angle", "qw"  (coordinate_count) */
} Joint;

/* Screw of one degree of freedom in world axes: dx/dtheta = w x (x - p) + v for a point x of every descendant link. */
typedef struct {
  Vec3 w; /* unit axis of a rotation; slide: 0 */
  Vec3 v; /* slide: unit direction; hinge: 0; screw joint: pitch times w [m/rad] */
  Vec3 p; /* point on the axis [m] */
} Screw;
/* Returns the velocity of the point `at` for a rate of 1 [m/s per 1/s]. */
static inline Vec3 screw_velocity(const Screw* screw, Vec3 at) {
  return vec3_add(screw->v, vec3_cross(screw->w, vec3_sub(at, screw->p)));
}

/* Bounds on the motion of the link frame in the joint frame along q + alpha d, alpha in [0, 1] (certificate.md, P1). */
typedef struct {
  double length;          /* distance of the origins of both frames [m] */
  double slide;           /* speed of the link's origin [m]; its direction is constant */
  double spin, spin_rate; /* angular speed and its rate [rad] */
} JointReach;

/* Operations of a type of joint. r: the coordinates after the slides. NULL: no coordinates after the slides. */
struct JointKind {
  /* Calls joint_add_slide, _turn and _quaternion in the order of the coordinates. axes: unit vectors, as many as the
   * type has. May set joint->kind to another row. The parameters of the type are in joint->parameters. */
  void (*make)(Joint* joint, const Vec3 axes[2], unsigned free_axes);
  /* motion: on entry the translation of the slides, on return multiplied by M(r). */
  void (*move)(const Joint* joint, const double* r, Pose* motion);
  /* Sets the screws of M in world axes, one per degree of freedom; earlier ones move the axes of later ones. frame:
   * rotation of the joint frame in the world; link: pose of the link frame in the world. */
  void (*screws)(const Joint* joint, const double* r, Mat3 frame, Pose link, Screw* out);
  /* Adds the bounds on the motion of M; d: increments of the degrees of freedom after the slides. */
  void (*reach)(const Joint* joint, const double* r, const double* d, JointReach* reach);
};

#define JOINT_ROW_DECLARED(NAME, ...) extern const JointKind JOINT_KIND_##NAME;
JOINT_TYPE_ROWS(JOINT_ROW_DECLARED)
#undef JOINT_ROW_DECLARED

/* Row of kinds.h for a type. */
typedef struct {
  const char* word;           /* in YAML */
  bool axis, axes, free_axes; /* keys that give its directions */
  const JointKind* kind;
} JointTypeRow;
extern const JointTypeRow JOINT_TABLE[JOINT_TYPE_COUNT];

/* A parameter of some joint types. */
typedef struct {
  int slot; /* index in Joint.parameters */
  const char *key, *types;
} JointNumber;
extern const JointNumber JOINT_NUMBERS[]; /* ends with a row without key */

/* Returns a joint of a type. axes, free_axes: as far as the type has them, copied; parameters: JOINT_MAX_PARAMETER
 * numbers. Cannot fail on input that the scene reader accepts. */
Joint joint_make(JointType type, const Vec3 axes[2], unsigned free_axes, const double* parameters);
/* For JointKind.make: adds a translation along `axis` (unit, joint frame) with one coordinate [m]. Borrows the name,
 * which must outlive the joint. At most three, before all rotations; this is not checked. Allocates nothing. */
void joint_add_slide(Joint* joint, Vec3 axis, const char* name);
/* Adds a rotation about `axis` (unit, joint frame) with one coordinate [rad]. At most two, after the slides; this is
 * not checked. Allocates nothing. */
void joint_add_hinge(Joint* joint, Vec3 axis, const char* name);
/* the name must outlive the joint; their number is not checked */
void joint_add_turn(Joint* joint, const char* name); /* adds a coordinate [rad] that is not a hinge's */
/* Adds three rotational degrees of freedom [rad] with a quaternion w x y z as coordinates. Call it at most once, and
 * after all other joint_add functions; this is not checked. Allocates nothing. */
void joint_add_quaternion(Joint* joint);
/* Returns true if the joint has slides, hinges and a quaternion only, which URDF and MJCF can express. False for a
 * screw (joint_add_turn). joint must not be NULL; nothing is allocated. */
bool joint_is_elementary(const Joint* joint);
/* Returns true if the joint has six degrees of freedom: three slides and a quaternion. joint must not be NULL; nothing
 * is allocated. */
static inline bool joint_floats(const Joint* joint) { return joint->slide_count == 3 && joint->quaternion; }

/* ---------------------------------------------------------------- motion. q: the joint's coordinates */
/* Returns the pose of the link frame in the joint frame, translation in m. q[coordinate_count]: m and rad; its
 * quaternion must be unit, which is not checked. */
Pose joint_motion(const Joint* joint, const double* q);
/* Sets out[dof_count] to the screws in world axes, slides first. frame, link: as in JointKind.screws;
 * q[coordinate_count]. The three of a quaternion are rotations about the current link axes. Points in m. Cannot fail,
 * allocates nothing. */
void joint_screws(const Joint* joint, const double* q, Mat3 frame, Pose link, Screw* out);
/* Returns upper bounds on the motion along q + alpha d, not the least ones. q[coordinate_count], d[dof_count] in m and
 * rad. Cannot fail, allocates nothing. */
JointReach joint_reach(const Joint* joint, const double* q, const double* d);

/* ---------------------------------------------------------------- coordinates */
/* Sets out to q moved by the increment d[dof_count]: plain coordinates add, a quaternion is multiplied on the right and
 * normalized. A quaternion with zero increments is unchanged to the bit. q, out (coordinate_count); out may be q.
 * Cannot fail, allocates nothing. */
void joint_increment(const Joint* joint, const double* q, const double* d, double* out);
/* Sets d[dof_count] to the difference from q_from to q_to [m, rad]; for a quaternion the rotation vector of q_from^-1
 * q_to in link axes, at most pi long. q_from, q_to (coordinate_count). Both quaternions must be unit, which is not
 * checked. Cannot fail, allocates nothing. */
void joint_difference(const Joint* joint, const double* q_from, const double* q_to, double* d);
/* Sets out to q moved by factor times d[dof_count], a difference as of joint_difference: the three entries of a
 * quaternion are a rotation vector in link axes. q, out (coordinate_count); out may be q. Cannot fail, allocates
 * nothing. */
void joint_continue(const Joint* joint, const double* q, const double* d, double factor, double* out);
/* Sets q[coordinate_count] to the joint coordinates for target[dof_count], values of a signal in m and rad; the three
 * of a quaternion are a rotation vector. Cannot fail, allocates nothing. */
void joint_coordinates_from_target(const Joint* joint, const double* target, double* q);
/* Sets rate[dof_count] [m/s, rad/s] from a signal's value[dof_count] and value_rate[dof_count]; for a rotation vector
 * the angular velocity in link axes. Cannot fail, allocates nothing. */
void joint_rates_from_target(const Joint* joint, const double* value, const double* value_rate, double* rate);
/* Sets q[coordinate_count] to zero coordinates, with the identity quaternion. Cannot fail, allocates nothing. */
void joint_zero(const Joint* joint, double* q);

#endif
