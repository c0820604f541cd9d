/* Private to robot/. Converts MuJoCo's equality constraints and tendons to closures, couplings and tendons of a scene.
 */
#ifndef SDRS_ROBOT_MJCF_EQUALITY_H
#define SDRS_ROBOT_MJCF_EQUALITY_H

#include "robot/mjcf.h"

enum { TENDON_JOINTS_MAX = 8 };

/* A linear combination of joint coordinates: the sum of coefficient[k] * q_k over k < count. q_k is the coordinate of
 * place[k], which is 0 in MuJoCo's reference configuration. */
typedef struct {
  const RobotJointPlace* place[TENDON_JOINTS_MAX];
  double coefficient[TENDON_JOINTS_MAX];
  int count;
} JointCombination;

/* A closure between two links: the frames or points `end` on both links coincide. For CLOSURE_DISTANCE the points are
 * `length` apart. */
typedef struct {
  SourcePosition place;
  ClosureType type; /* CLOSURE_BALL, _WELD or _DISTANCE */
  int link[2];      /* scene links; link[1] is -1 for the world */
  Pose end[2];      /* pose of the frame or point on each link, in the link's frame [m] */
  double length;    /* for CLOSURE_DISTANCE: distance of the two ends [m] */
} EqualityClosure;

/* A coupling of joint coordinates: the linear combination `sum` of coordinates equals `constant`. */
typedef struct {
  SourcePosition place;
  JointCombination sum;
  double constant;
} EqualityCoupling;

typedef struct {
  EqualityClosure* closures;
  int closure_count, closure_capacity;
  EqualityCoupling* couplings;
  int coupling_count, coupling_capacity;
} Equalities;

/* Sets drawn[links of the robot] to the world poses of the links in MuJoCo's reference configuration [m]. */
void mjcf_reference_poses(const MjcfModel* model, UrdfPose* drawn);
/* Returns the world pose of a body's frame in the reference configuration [m]. It differs from the pose of the link,
 * because the frame of a link is at the anchor of its joint. body: link of the robot. drawn: result of
 * mjcf_reference_poses. */
UrdfPose mjcf_body_frame(const MjcfModel* model, const UrdfPose* drawn, int body);

/* Returns the tendon with this name and kind ("fixed" or "spatial"), borrowed, or NULL if there is none. */
const XmlElement* mjcf_find_tendon(const MjcfModel* model, const char* kind, const char* name);
/* Sets *sum to the length of a <fixed> tendon. Returns false, with *sum undefined, if tendon is NULL, has no or more
 * than TENDON_JOINTS_MAX joints, or has a joint that does not have exactly one degree of freedom. */
bool mjcf_fixed_tendon_length(MjcfModel* model, const XmlElement* tendon, JointCombination* sum);

/* Path of a spatial tendon: straight between sites, or wrapped around geoms. */
typedef struct {
  SceneTendonPoint* points; /* points of the path, owned (size: count) */
  int count;
  SceneTendonWrap* wraps; /* solids around which the tendon bends, owned (size: wrap_count) */
  int wrap_count;
  double reference; /* length in MuJoCo's reference configuration [m] */
} MjcfRoute;

/* Name in the report of a property that tendons of a scene cannot represent. */
#define MJCF_DROPPED_PUSH "push of spatial tendons shorter than at rest"

/* Sets *route to the path of a <spatial> tendon on the scene's links. carrier[links of the robot]: scene link of each
 * robot link, or -1. Returns false, with nothing to free, if the tendon is NULL, moves with no link, or uses pulleys or
 * geoms that cannot be wrapped. Reports unsupported features. */
bool mjcf_tendon_route(MjcfModel* model, const Scene* scene, const XmlElement* tendon, const int* carrier,
                       MjcfRoute* route);
/* Returns a tendon's length in the scene's initial state [m], or the reference length if no model can be created from
 * the scene. */
double mjcf_start_length(const Scene* scene, const MjcfRoute* route);
/* Appends an empty tendon to the scene. Returns a borrowed pointer, valid until the next tendon is added. */
SceneTendon* mjcf_append_tendon(Scene* scene, SourcePosition place);
/* Appends a tendon without force to the scene and moves points and wraps from *route to it. Returns a borrowed pointer,
 * valid until the next tendon is added. */
SceneTendon* mjcf_add_passive_tendon(Scene* scene, MjcfRoute* route, SourcePosition place);
/* Appends a tendon with the force push - stiffness * length (push [N], stiffness [N/m]) and moves points and wraps from
 * *route to it. If stiffness > 0, the tendon can only pull. */
void mjcf_add_tendon(Scene* scene, MjcfRoute* route, SourcePosition place, double stiffness, double push);

/* Changes q[model->coordinate_count], the initial guess, to coordinates that satisfy all constraints within the joint
 * limits. Translations of free bodies change, too. Returns the largest remaining error [m, rad], which stays large if
 * the constraints cannot be satisfied. Sets *worst to the constraint with this error: closures first, then couplings.
 */
double mjcf_solve_closures(const Model* model, const Equalities* equalities, const RobotReport* report, double* q,
                           int* worst);

#endif
