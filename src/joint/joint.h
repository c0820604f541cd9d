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

/* A joint as it moves. */
typedef struct {
  const JointKind* kind; /* of the motion M that follows the slides */
  int dof_count, coordinate_count;
  int slide_count;                         /* the first degrees of freedom, in m; all others are in rad */
  int hinge_count;                         /* rotations about one axis each that follow them */
  int plain_count;                         /* coordinates that add: all, but for the quaternion */
  bool quaternion;                         /* the last three degrees of freedom, the last four coordinates */
  Vec3 slide_axis[3];                      /* unit, joint frame  (slide_count) */
  Vec3 axis[2];                            /* of M: unit, joint frame (second: after the first hinge) */
  double parameters[JOINT_MAX_PARAMETER];  /* of M, see JOINT_NUMBER_ROWS */
  const char* names[JOINT_MAX_COORDINATE]; /* as in joints.csv: "x", "angle", "qw"  (coordinate_count) */
} Joint;

/* A one-degree-of-freedom screw in world axes: dx/dtheta = w x (x - p) + v for a point x of every link below. */
typedef struct {
  Vec3 w; /* unit axis of a rotation; slide: 0 */
  Vec3 v; /* slide: unit direction; hinge: 0; along w: a thread [m/rad] */
  Vec3 p; /* point on the axis [m] */
} Screw;
/* Velocity of a point at `at` under a screw of rate one. [m/s] for a rate in 1/s. By value. */
static inline Vec3 screw_velocity(const Screw* screw, Vec3 at) {
  return vec3_add(screw->v, vec3_cross(screw->w, vec3_sub(at, screw->p)));
}

/* Bounds on the motion of the link frame in the joint frame along q + alpha d, alpha in [0, 1] (certificate.md, P1). */
typedef struct {
  double length;          /* distance of the origins [m] */
  double slide;           /* speed of the link's origin [m]; its direction is constant */
  double spin, spin_rate; /* angular speed and its rate [rad] */
} JointReach;

/* Operations of a type of joint. r: the coordinates after the slides. NULL: no coordinates after the slides. */
struct JointKind {
  /* Calls joint_add_slide, _turn, _quaternion in the order of the coordinates. axes: unit, as many as the type's key
   * says. May choose another row as the joint's `kind`. The numbers of the type are in joint->parameters. */
  void (*make)(Joint* joint, const Vec3 axes[2], unsigned free_axes);
  /* motion: on entry the slides' translation, on return times M(r). */
  void (*move)(const Joint* joint, const double* r, Pose* motion);
  /* The screws of M in world axes, one per degree of freedom; later ones are carried by earlier ones. frame: the joint
   * frame's rotation in the world; link: the pose of the link frame in the world. */
  void (*screws)(const Joint* joint, const double* r, Mat3 frame, Pose link, Screw* out);
  /* Adds what M contributes; d: the increments after the slides. */
  void (*reach)(const Joint* joint, const double* r, const double* d, JointReach* reach);
};

#define JOINT_ROW_DECLARED(NAME, ...) extern const JointKind JOINT_KIND_##NAME;
JOINT_TYPE_ROWS(JOINT_ROW_DECLARED)
#undef JOINT_ROW_DECLARED

/* Row of kinds.h for a type. */
typedef struct {
  const char* word;           /* in YAML */
  bool axis, axes, free_axes; /* the keys that tell its directions */
  const JointKind* kind;
} JointTypeRow;
extern const JointTypeRow JOINT_TABLE[JOINT_TYPE_COUNT];

/* A number that single types ask for. */
typedef struct {
  int slot; /* in Joint.parameters */
  const char *key, *types;
} JointNumber;
extern const JointNumber JOINT_NUMBERS[]; /* up to one without key */

/* axes, free_axes: what the type has of them; parameters (JOINT_MAX_PARAMETER numbers). Returned by value; the axes are
 * copied. Cannot fail on what the reader let through. */
Joint joint_make(JointType type, const Vec3 axes[2], unsigned free_axes, const double* parameters);
/* For JointKind.make: the next degree of freedom, one coordinate in m along `axis` (unit, joint frame). Borrows the
 * name, which must outlive the joint. At most three. More than three, or not before hinges, write beyond or out of
 * order: not checked. Allocates nothing. */
void joint_add_slide(Joint* joint, Vec3 axis, const char* name);
/* The same in rad about `axis` (unit, joint frame). At most two; after the slides. More than two are an error of the
 * caller that nothing checks. Allocates nothing. */
void joint_add_hinge(Joint* joint, Vec3 axis, const char* name);
/* its name must outlive the joint; how many there are is not checked, an error of the caller */
void joint_add_turn(Joint* joint, const char* name); /* one plain coordinate in rad that is no hinge */
/* Three degrees of freedom [rad] and four coordinates w x y z, the last of the joint. Twice is an error of the
 * caller that nothing checks. Allocates nothing. */
void joint_add_quaternion(Joint* joint);
/* Nothing but slides, hinges and at most a quaternion: what formats of other programs can say. False for a
 * screw (joint_add_turn). joint must not be NULL; nothing is allocated. */
bool joint_is_elementary(const Joint* joint);
/* Has it all six degrees of freedom of a body: three slides and a quaternion? joint must not be NULL; nothing is
 * allocated. */
static inline bool joint_floats(const Joint* joint) { return joint->slide_count == 3 && joint->quaternion; }

/* ---------------------------------------------------------------- motion. q: the joint's coordinates */
/* Pose of the link frame in the joint frame. q[coordinate_count]: m and rad; its quaternion must be unit. Translation
 * in m. One that is not is no error, but no rotation either. By value. */
Pose joint_motion(const Joint* joint, const double* q);
/* Screws in world axes (dof_count); frame, link: as in JointKind.screws. q[coordinate_count]; out is set, slides
 * first. Axes without unit, points in m; of the quaternion's three each turns about a current link axis. Cannot
 * fail, allocates nothing. */
void joint_screws(const Joint* joint, const double* q, Mat3 frame, Pose link, Screw* out);
/* Bounds along q + alpha d: q[coordinate_count], d[dof_count], m and rad. Upper bounds, not the least ones. By
 * value. Cannot fail, allocates nothing. */
JointReach joint_reach(const Joint* joint, const double* q, const double* d);

/* ---------------------------------------------------------------- coordinates */
/* out = q moved by the increment d[dof]: plain ones add, a quaternion is multiplied on the right. out may be q. q, out
 * (coordinate_count). The quaternion is made unit again; where its three increments are 0 it stays to the bit.
 * Cannot fail, allocates nothing. */
void joint_increment(const Joint* joint, const double* q, const double* d, double* out);
/* d[dof] from q_from to q_to; for a quaternion the rotation vector of q_from^-1 q_to, in link axes. q_from, q_to
 * (coordinate_count); m and rad, the rotation at most pi. Both quaternions must be unit, which is not checked.
 * Cannot fail, allocates nothing. */
void joint_difference(const Joint* joint, const double* q_from, const double* q_to, double* d);
/* out = q moved on by factor times d[dof], of which a quaternion's three are a rotation vector in link axes: what
 * joint_difference tells. out may be q. q[coordinate_count], out[coordinate_count]; factor without unit. Cannot fail,
 * allocates nothing. */
void joint_continue(const Joint* joint, const double* q, const double* d, double factor, double* out);
/* Joint coordinates from values of a signal (dof numbers; a quaternion's three are a rotation vector). target
 * (dof_count): m and rad; q[coordinate_count], set. Cannot fail, allocates nothing. */
void joint_coordinates_from_target(const Joint* joint, const double* target, double* q);
/* rate[dof_count] from a signal's value[dof_count] and value_rate[dof_count]: of a rotation vector the angular velocity
 * in link axes. In m, rad and m/s, rad/s. Cannot fail, allocates nothing. */
void joint_rates_from_target(const Joint* joint, const double* value, const double* value_rate, double* rate);
/* Zero coordinates (identity quaternion). q[coordinate_count], set. Cannot fail, allocates nothing. */
void joint_zero(const Joint* joint, double* q);

#endif
