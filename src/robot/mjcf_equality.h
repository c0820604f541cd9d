/* What MuJoCo's equality constraints and fixed tendons say of joints and links of a scene. Private to robot/: between
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

/* A fixed tendon by its name; false where there is none, or where it has joints of other kinds. */
bool mjcf_fixed_tendon(MjcfModel* model, const char* name, JointSum* sum);

/* The coordinates of a start at which all hold, from the model's own and as near to them as the limits allow, in q
 * (nq); how far they are open there [m, rad] (robot/mjcf_close.c). */
double mjcf_close(const Model* model, const Equalities* equalities, const RobotReport* report, double* q);

#endif
