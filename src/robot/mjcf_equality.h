/* Private to robot/: MuJoCo's equality constraints and fixed tendons as closures and couplings of a scene.
 * mjcf_equality.c reads them; mjcf_close.c finds an initial state that satisfies them. */
#ifndef SDRS_ROBOT_MJCF_EQUALITY_H
#define SDRS_ROBOT_MJCF_EQUALITY_H

#include "robot/mjcf.h"

enum { TENDON_JOINTS_MAX = 8 };

/* sum coefficient_k q_k over coordinates of a scene; q_k = 0 in MuJoCo's reference configuration. */
typedef struct {
  const RobotJointPlace* place[TENDON_JOINTS_MAX];
  double coefficient[TENDON_JOINTS_MAX];
  int count;
} JointSum;

/* A closure: the ends on two links coincide, or are `length` apart for a distance. */
typedef struct {
  SourcePlace place;
  ClosureType type; /* CLOSURE_BALL, _WELD or _DISTANCE */
  int link[2];      /* of the scene; -1 = the world, which is never first */
  Pose end[2];      /* in the links' frames */
  double length;    /* m */
} EqualityClosure;

/* A coupling: sum = constant. */
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
/* Returns the world pose of a body's own frame in the reference configuration. (The frame of its link is at the anchor
 * of its joint.) body: link of the robot; drawn: as of mjcf_draw. */
UrdfPose mjcf_body_frame(const MjcfModel* model, const UrdfPose* drawn, int body);

/* Returns the tendon of that name and kind ("fixed", "spatial"), borrowed; NULL if there is none. */
const XmlElement* mjcf_tendon(const MjcfModel* model, const char* kind, const char* name);
/* Sets *sum to the joint coordinates of a <fixed> tendon. Returns false, with *sum undefined, if tendon is NULL, or has
 * joints of other kinds or more than TENDON_JOINTS_MAX. */
bool mjcf_fixed_tendon(MjcfModel* model, const XmlElement* tendon, JointSum* sum);

/* A spatial tendon through sites, straight or wrapped around geoms. */
typedef struct {
  SceneTendonPoint* points; /* owned (count) */
  int count;
  SceneTendonWrap* wraps; /* owned (wrap_count) */
  int wrap_count;
  double reference; /* length in MuJoCo's reference configuration [m] */
} MjcfRoute;

/* Name of a property that tendons of a scene do not have, for the report. */
#define MJCF_NO_PUSH "push of spatial tendons shorter than at rest"

/* Sets a <spatial> tendon in terms of the scene's links; carrier (links of the robot) as in mjcf_finish. Returns false,
 * with nothing to free, if tendon is NULL, moves with no link, or uses pulleys or geoms that no wrap represents, which
 * is reported (robot/mjcf_tendon.c). */
bool mjcf_tendon_route(MjcfModel* model, const Scene* scene, const XmlElement* tendon, const int* carrier,
                       MjcfRoute* route);
/* Returns the tendon's length in the scene's initial state [m]; its reference length if no model can be created from
 * the scene. */
double mjcf_start_length(const Scene* scene, const MjcfRoute* route);
/* Appends an empty tendon to the scene and returns it. Borrowed until the next one is added. */
SceneTendon* mjcf_new_tendon(Scene* scene, SourcePlace place);
/* Appends a tendon without force to the scene, moves points and wraps to it, and returns it. Borrowed until the next
 * one is added. */
SceneTendon* mjcf_add_passive_tendon(Scene* scene, MjcfRoute* route, SourcePlace place);
/* As mjcf_add_passive_tendon, with a force along the length: force = push - stiffness length [N, N/m]. With stiffness
 * the force is a tension only. */
void mjcf_add_tendon(Scene* scene, MjcfRoute* route, SourcePlace place, double stiffness, double push);

/* Sets q (nq) to coordinates that satisfy all constraints, near the model's own and within limits, and returns the
 * largest remaining error [m, rad] (robot/mjcf_close.c). Cannot fail: constraints that cannot be satisfied stay open.
 * Allocates temporarily. */
double mjcf_close(const Model* model, const Equalities* equalities, const RobotReport* report, double* q);

#endif
