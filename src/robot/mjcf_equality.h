/* MuJoCo's equality constraints and fixed tendons as closures and couplings of a scene. Private to robot/: between
 * mjcf_equality.c, which reads them, and mjcf_close.c, which finds a start at which they hold. */
#ifndef SDRS_ROBOT_MJCF_EQUALITY_H
#define SDRS_ROBOT_MJCF_EQUALITY_H

#include "robot/mjcf.h"

enum { TENDON_JOINTS_MAX = 8 };

/* sum coefficient_k q_k over coordinates of a scene; q_k = 0 at MuJoCo's reference. */
typedef struct {
  const RobotJointPlace* place[TENDON_JOINTS_MAX];
  double coefficient[TENDON_JOINTS_MAX];
  int count;
} JointSum;

/* Ends on two links that coincide, or for a distance are that far apart. */
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

/* Sets drawn (links of the robot) to the world poses of its links in MuJoCo's reference [m]. */
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

/* Sets a <spatial> tendon in terms of the scene's links; carrier (links of the robot) as in mjcf_finish. Returns false,
 * with nothing to free, if tendon is NULL, moves with no link, or uses pulleys or geoms that no wrap represents, which
 * is reported (robot/mjcf_tendon.c). */
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

/* Sets q (nq) to coordinates that satisfy all constraints, near the model's own and within limits, and returns the
 * largest remaining error [m, rad] (robot/mjcf_close.c). Cannot fail: constraints that cannot be satisfied stay open.
 * Allocates temporarily. */
double mjcf_close(const Model* model, const Equalities* equalities, const RobotReport* report, double* q);

#endif
