/* One trial path of a model's joints, q (+) alpha delta, as the line search takes it: certified or not, and whether
 * anything meets on it, by dense sampling. */
#ifndef SDRS_TESTS_SUPPORT_PATHS_H
#define SDRS_TESTS_SUPPORT_PATHS_H

#include "contact/contact.h"

typedef struct {
  const Model* model;
  double *q, *delta; /* (nq), (nv) */
  double* there;     /* workspace (nq) */
} JointPath;

typedef enum {
  PATH_CERTIFIED,
  PATH_REFUSED,
  PATH_ENDS_MEET, /* the hulls intersect at one of the two ends */
} PathVerdict;

/* At the model's initial coordinates, with delta zero. */
JointPath joint_path_create(const Model* model);
void joint_path_free(JointPath* path);
void joint_path_poses(const JointPath* path, double alpha, Pose* poses);
PathVerdict joint_path_certify(const JointPath* path, int* intervals);
/* Least distance of any allowed pair at `samples` + 1 evenly spaced points; 0 when some pair meets there. */
double joint_path_least_distance(const JointPath* path, int samples);

#endif
