/* One line-search path of a model's joints, q (+) alpha delta. Reports whether it is certified, and whether bodies
 * intersect on it by dense sampling. */
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
/* Returns the smallest distance of any allowed pair at `samples` + 1 evenly spaced points, or 0 if a pair intersects.
 */
double joint_path_least_distance(const JointPath* path, int samples);

#endif
