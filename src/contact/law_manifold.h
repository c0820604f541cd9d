/* Private to contact/: data of bodies for the law `manifold`, shared by law_manifold.c and law_manifold_bodies.c. */
#ifndef SDRS_CONTACT_LAW_MANIFOLD_H
#define SDRS_CONTACT_LAW_MANIFOLD_H

#include "contact/law.h"
#include "query/query.h"

enum { MANIFOLD_COLUMNS = QUERY_POSE_COLUMNS, MANIFOLD_CAUSES = 6 };

/* Surface of a hull in the frame of its link. */
typedef struct {
  Field field; /* distance field of the hull; borrowed from the model for a smooth shape, owned for a polyhedron */
  ManifoldBody body;
  Vec3* point_slopes; /* derivatives of the surface's contact points with respect to its shape parameters, owned; NULL
                         if there are none (parameters x points) */
  int parameters;
  bool polyhedron;          /* true if the parameters are the vertex coordinates, three for each vertex */
  FieldCorners corners;     /* derivatives of the distance field of a polyhedron with respect to its vertices, owned */
  int* numbers;             /* 0, 1, 2, ...: index of the vertex at each point of a polyhedron, owned */
  double sag;               /* largest depth below the surface of the hull of the polyhedron that the points span [m] */
  Vec3 center, half_extent; /* centre and half extents of the bounding box of the hull [m] */
} ManifoldSurface;

/* Workspace of one thread. */
typedef struct {
  ManifoldContact *contacts, *slopes;
  int* points[2]; /* indices of the points of each body that may be in contact */
  int (*edges[2])[2];
  double* depth; /* depth of each selected edge [m] */
  void* room;
} ManifoldWork;

typedef struct {
  const Model* model;
  double stiffness, exponent, reach;
  ManifoldOptions options;
  int most_edges;
  ManifoldSurface* surfaces; /* surface of each hull (size: hulls) */
  ManifoldWork* work;
  int threads;
} ManifoldLaw;

typedef struct {
  const ManifoldSurface* surface[2]; /* NULL for a half-space, which is always b */
  Pose pose[2];                      /* poses of both links */
  Vec3 reference[2];
  Vec3 normal; /* outward normal of the half-space */
  double offset;
} ManifoldBodies;

/* Returns the data of two bodies for the contact query. item: numbers of both hulls. a, b: hulls at their poses.
 * reference: reference points of the twists. The result borrows the surface meshes that the law stores for each
 * hull. Asserts that the law has them. */
ManifoldBodies manifold_bodies(const ManifoldLaw* law, const int item[2], const HullInstance* a, const HullInstance* b,
                               const Vec3 reference[2]);
/* Finds the contacts of the points and edges of each body that are near the other body, and returns the number of
 * contacts. For MANIFOLD_BY_MOTION, writes the contacts to work->contacts, with derivatives unless `values` is true.
 * For other causes, writes the derivatives with respect to MANIFOLD_CAUSES parameters to work->slopes, starting with
 * number `first`. The next call of the thread overwrites the workspace. */
int manifold_contacts(const ManifoldLaw* law, int thread, const ManifoldBodies* b, bool values, ManifoldCause cause,
                      int first);
/* Returns the smallest distance over all contact points [m], negative for overlapping bodies. Sets *point to the
 * contact point with this distance, world [m], and *normal to its unit normal from a to b, world axes. Returns HUGE_VAL
 * if there are no contact points. */
double manifold_least_distance(const ManifoldLaw* law, const ManifoldBodies* b, Vec3* point, Vec3* normal);

#endif
