/* Convex bodies without a scene: owned hull instances, random hulls, poses, twists. */
#ifndef SDRS_TESTS_SUPPORT_BODIES_H
#define SDRS_TESTS_SUPPORT_BODIES_H

#include "contact/plane.h"

typedef struct {
  Vec3 middle;       /* centre of the bounding sphere, local */
  HullInstance hull; /* owns its points */
} Body;

/* Instance at the identity; the points are copied. */
Body body_create(const Vec3* points, int count);
Body body_box(Vec3 size);
/* count points on a sphere of this radius, squashed along z by `flatness` (1 = round). */
Body body_random(Random* random, int count, double radius, double flatness);
/* The solid below a plane. */
Body body_half_space(Vec3 normal, double offset);
/* All within this radius of what it was. */
void body_round(Body* body, double radius);
void body_free(Body* body);
void body_place(Body* body, Pose pose);
Vec3 body_vertex(const Body* body, int index); /* world */
double body_distance(const Body* a, const Body* b);
/* Shift b along the shortest line until the hulls are exactly `gap` apart; they must be apart before. */
void body_bring_near(const Body* a, Body* b, double gap);

Vec3 random_direction(Random* random);
Mat3 random_rotation(Random* random);
Pose random_pose(Random* random, double extent);

/* x -> c + v + exp(w)(x - c) after `pose`: a finite twist (w, v) about the world point c. */
Pose pose_twisted(Pose pose, Vec3 c, const double twist[6]);

/* Space for plane_solve of the two bodies. */
typedef struct {
  double* memory;
  PlaneScratch scratch;
} Workspace;
Workspace workspace_create(const Body* a, const Body* b);
void workspace_free(Workspace* workspace);

#endif
