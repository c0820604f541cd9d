/* Signed distance fields of convex polyhedra: smooth maxima of the distances from the planes of their faces
 * (docs/derivations/fields.md, Y13). Nearly coplanar triangles form one face. */
#ifndef SDRS_SHAPES_FIELD_FACES_H
#define SDRS_SHAPES_FIELD_FACES_H

#include "shapes/shapes.h"

/* Triangles of a hull whose unit normals differ by less than FACE_ANGLE form one face. */
#define FACE_ANGLE 1e-3

/* Creates the signed distance field of a convex polyhedron as the smooth maximum of the heights above the planes of its
 * faces (Y13). smoothing: length over which edges are rounded, > 0 [m]. The plane of a face goes through the mean of
 * the face's vertices and is perpendicular to the sum of the area vectors of its triangles. The plane is therefore a
 * smooth function of the vertices, even if a flat face has more than three vertices. The field keeps no pointer to the
 * hull. Returns NULL on success; the caller then frees the field with field_free. Otherwise returns the violated rule
 * (static text), with nothing to free. */
const char* field_of_faces(Field* field, const ConvexHull* hull, double smoothing);
/* Returns the derivatives of a field with respect to the vertices of its polyhedron, at constant smoothing. The field
 * was created by field_of_faces from this hull and must outlive the result, which borrows the field. The set of
 * triangles of each face is constant. The caller frees the result with field_corners_free. */
FieldCorners field_corners_of_faces(const Field* field, const ConvexHull* hull);
/* Computes the derivatives of a field of a polyhedron's planes with respect to its smoothing length [m]. Sets *value
 * and *outward to the derivatives of the field value and of the outward vector at `position` [m, body's frame]. Does
 * not allocate. */
void field_smoothing_derivative(const Field* field, Vec3 position, double* value, Vec3* outward);

#endif
