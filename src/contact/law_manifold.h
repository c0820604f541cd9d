/* Private to contact/: data of bodies for the law `manifold`, shared by law_manifold.c and law_manifold_bodies.c. */
#ifndef SDRS_CONTACT_LAW_MANIFOLD_H
#define SDRS_CONTACT_LAW_MANIFOLD_H

#include "contact/law.h"
#include "query/query.h"

enum { MANIFOLD_COLUMNS = QUERY_POSE_COLUMNS, MANIFOLD_CAUSES = 6 };

/* Surface of a hull, link frame. */
typedef struct {
  Field field; /* of a smooth shape: borrows the data of the model's field; of a polyhedron: owned */
  ManifoldBody body;
  Vec3* point_slopes; /* (parameters x points): derivatives of points with respect to parameters, owned; NULL: none */
  int parameters;
  bool polyhedron;          /* the parameters are the coordinates of the vertices, three each */
  FieldCorners corners;     /* derivatives of the field of a polyhedron, owned */
  int* numbers;             /* 0, 1, 2, ...: number of the vertex at each point of a polyhedron, owned */
  double sag;               /* how deep the polyhedron of its points lies below its surface [m] */
  Vec3 center, half_extent; /* centre and half extents of its bounding box [m] */
} ManifoldSurface;

/* Workspace of one thread. */
typedef struct {
  ManifoldContact *contacts, *slopes;
  int* points[2]; /* points that may be in contact */
  int (*edges[2])[2];
  double* depth; /* depth of each selected edge */
  void* room;
} ManifoldWork;

typedef struct {
  const Model* model;
  double stiffness, exponent, reach, smoothing, dt;
  ManifoldOptions options;
  int most_edges;
  ManifoldSurface* surfaces; /* (hulls) */
  ManifoldWork* work;
  int threads;
} ManifoldLaw;

typedef struct {
  const ManifoldSurface* surface[2]; /* NULL: the half-space, which is b */
  Pose pose[2];                      /* of the links */
  Vec3 reference[2];
  Vec3 normal; /* of the half-space */
  double offset;
} ManifoldBodies;

/* Returns two bodies at the poses of their links. item: hull numbers of both bodies. The result borrows surfaces of the
 * law. Asserts that the law has surfaces. */
ManifoldBodies manifold_bodies(const ManifoldLaw* law, const int item[2], const HullInstance* a, const HullInstance* b,
                               const Vec3 reference[2]);
/* Finds the contacts of the points and edges that are near the other body, and returns the number of contacts. Cause
 * MANIFOLD_BY_MOTION writes the contacts to work->contacts, with derivatives unless `values`. Other causes write the
 * derivatives with respect to MANIFOLD_CAUSES parameters, from number `first` on, to work->slopes. The next call of the
 * thread overwrites the workspace. */
int manifold_contacts(const ManifoldLaw* law, int thread, const ManifoldBodies* b, bool values, ManifoldCause cause,
                      int first);
/* Returns the smallest distance over all contact points [m]; it is negative for overlapping bodies. Sets *point to the
 * contact point with this distance, world [m], and *normal to the unit normal from a to b at this point, world axes.
 * Returns HUGE_VAL if there are no contact points. */
double manifold_least_distance(const ManifoldLaw* law, const ManifoldBodies* b, Vec3* point, Vec3* normal);

#endif
