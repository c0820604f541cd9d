/* Private to model/: moves links in the initial state (model/lift.c) and measures overlaps. */
#ifndef SDRS_MODEL_LIFT_H
#define SDRS_MODEL_LIFT_H

#include "model/model.h"

/* Copies the joint positions from the scene into the model. Afterwards only model_touching may use the model; for any
 * other use the caller must create the model again. Builds the model anew if its initial state depends on the joint
 * positions (closures, couplings, a stored state). Discards messages. */
void model_move_links(Model* model, const Scene* scene);

/* Finds all pairs of links that intersect, touch, or start so close that model_create warns of their contact force. The
 * member `depth` of a pair with a gap is 0. Returns the number of pairs. Sets *pairs to the list, never NULL, which the
 * caller frees with memory_free (model/checks.c). */
int model_nearly_touching(const Model* model, ModelTouch** pairs);

/* Returns the depth of the overlap of two hulls [m], negative for a gap (model/checks.c). At most one hull is
 * unbounded. Sets *normal to the unit direction, world frame, in which moving hull b by the depth ends the overlap. A
 * round solid with circles is replaced by its inscribed polyhedron if its core overlaps the core of the other hull.
 * Allocates temporary memory. */
double model_hull_overlap(const ModelHull* a, Pose pose_a, const ModelHull* b, Pose pose_b, Vec3* normal);

/* Returns the depth of the deepest overlap of the hulls of two links [m], negative for a gap. Returns -INFINITY if
 * every pair of hulls consists of two unbounded hulls (model/overlap.c). Sets *normal to the unit direction, world
 * frame, in which moving link b by the depth ends this overlap. Allocates temporary memory. */
double model_link_overlap(const Model* model, const Pose* poses, int a, int b, Vec3* normal);

#endif
