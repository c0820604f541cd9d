/* MuJoCo's equality constraints and fixed tendons as closures and couplings of a scene. Private to robot/: between
 * mjcf_equality.c, which reads them, and mjcf_close.c, which finds a start at which they hold. */
#ifndef SDRS_ROBOT_MJCF_EQUALITY_H
#define SDRS_ROBOT_MJCF_EQUALITY_H

#include "robot/mjcf.h"

enum { TENDON_JOINTS_MAX = 8 };

/* sum coefficient_k q_k of a scene's coordinates; q_k = 0 where MuJoCo's stands at its reference. */
typedef struct {
  const RobotJointPlace* place[TENDON_JOINTS_MAX];
  double coefficient[TENDON_JOINTS_MAX];
  int count;
} JointSum;

/* Ends of two links that stand together; of a distance that far apart. */
typedef struct {
  SourcePlace place;
  ClosureType type; /* CLOSURE_BALL, _WELD or _DISTANCE */
  int link[2];      /* of the scene; -1 = the world, which is never first */
  Pose end[2];      /* in the links' frames */
  double length;    /* m */
} EqualityClosure;

/* The sum is `constant`. */
typedef struct {
  SourcePlace place;
  JointSum sum;
  double constant;
} EqualityCoupling;

typedef struct {
  EqualityClosure* closures;
  int closure_count, closure_capacity;
  EqualityCoupling* couplings;
  int coupling_count, coupling_capacity;
} Equalities;

/* Where the robot's links are in MuJoCo's reference, in the world [m], to drawn (links of the robot). */
void mjcf_draw(const MjcfModel* model, UrdfPose* drawn);
/* A body's own frame there, in the world: its link's is at the anchor of its joint. body: link of the robot. */
UrdfPose mjcf_body_frame(const MjcfModel* model, const UrdfPose* drawn, int body);

/* The tendon of that name and kind ("fixed", "spatial"), borrowed; NULL when there is none. */
const XmlElement* mjcf_tendon(const MjcfModel* model, const char* kind, const char* name);
/* Sum of joint coordinates of a <fixed> tendon. False where tendon is NULL, or where it has joints of other kinds or
 * more than TENDON_JOINTS_MAX: *sum has no meaning then. */
bool mjcf_fixed_tendon(MjcfModel* model, const XmlElement* tendon, JointSum* sum);

/* A spatial tendon from site to site, straight or round geoms. */
typedef struct {
  SceneTendonPoint* points; /* owned (count) */
  int count;
  SceneTendonWrap* wraps; /* owned (wrap_count) */
  int wrap_count;
  double reference; /* its length in MuJoCo's reference [m] */
} MjcfCord;

/* Reports properties that tendons of a scene do not have. */
#define MJCF_NO_PUSH "push of spatial tendons shorter than at rest"

/* A <spatial> tendon in the links of the scene; carrier (links of the robot) as of mjcf_finish. False, nothing to free:
 * tendon is NULL, it moves with no link, or it goes over pulleys or round geoms as no wrap does, which is reported
 * (robot/mjcf_tendon.c). */
bool mjcf_cord(MjcfModel* model, const Scene* scene, const XmlElement* tendon, const int* carrier, MjcfCord* cord);
/* Its length where the scene starts [m]. Its reference where the scene is no model. */
double mjcf_start_length(const Scene* scene, const MjcfCord* cord);
/* A tendon of the scene that has nothing yet. Borrowed until the next one. */
SceneTendon* mjcf_new_tendon(Scene* scene, SourcePlace place);
/* A tendon of the scene without a force, which takes the points and wraps. Borrowed until the next one. */
SceneTendon* mjcf_add_cord(Scene* scene, MjcfCord* cord, SourcePlace place);
/* The same with a force: force = push - stiffness length along its length [N, N/m],
 * never pushing where it has stiffness. */
void mjcf_add_tendon(Scene* scene, MjcfCord* cord, SourcePlace place, double stiffness, double push);

/* The coordinates of a start at which all hold, from the model's own and as near to them as the limits allow, in q
 * (nq); how far they are open there [m, rad] (robot/mjcf_close.c). Never
 * fails: what cannot be closed stays open. Allocates for the time of the call. */
double mjcf_close(const Model* model, const Equalities* equalities, const RobotReport* report, double* q);

#endif
