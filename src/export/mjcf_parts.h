/* Private to export/: a model on its way to MJCF, and what its parts share. */
#ifndef SDRS_EXPORT_MJCF_PARTS_H
#define SDRS_EXPORT_MJCF_PARTS_H

#include "export/format.h"

typedef struct {
  const Model* model;
  Diagnostics* diagnostics;
  SourcePlace place;
  Text* out;
  Text qpos, qvel, actuators, control, names; /* gathered in MuJoCo's order; names: CSV header of the controls */
  int *first_child, *next_sibling;            /* (links); first_child[link_count] = first root */
  double* carried;                            /* mass of a link and all that hangs on it [kg]  (links) */
  float (*color)[3];                          /* linear  (links) */
  double step;                                /* s */
  int depth;
} Mjcf;

/* A note about a link: what is different in MuJoCo. */
void mjcf_note(Mjcf* m, const char* name, const char* text);
void mjcf_indent(Mjcf* m);
/* `link/coordinate`, as the columns of joints.csv; a ball is `link/rotation`. */
void mjcf_joint_name(Text* name, const Mjcf* m, int index, int dof);
bool mjcf_is_free(const Mjcf* m, int index);
/* Anchors of MuJoCo's closures are where bodies are in its reference, qpos0: then that is the start, else zero
 * coordinates. */
bool mjcf_refers_to_start(const Mjcf* m);
/* And this link stands there as it does at the start. */
bool mjcf_starts_there(const Mjcf* m, int index);
/* Way along the axis per angle of a screw, which MuJoCo does not know [m/rad]; 0: the joint is none. */
static inline double mjcf_thread(const ModelLink* link) {
  return link->joint.kind == &JOINT_KIND_SCREW ? link->joint.parameters[0] : 0;
}
/* Is anything held together? */
bool mjcf_has_equality(const Mjcf* m);

/* Closures and couplings as equality constraints (export/mjcf_closures.c). Sites that they need on a link, or in the
 * world
 * (-1); then tendons and equalities, which hold as they do in the reference. */
void mjcf_add_closure_sites(Mjcf* m, int index);
void mjcf_add_closures(Mjcf* m);

/* Tendons (export/mjcf_tendons.c): sites on a link, or in the world (-1); the cords; motors, one for each that has a
 * tension, and a row of what these are told. */
void mjcf_add_tendon_sites(Mjcf* m, int index);
void mjcf_add_tendons(Mjcf* m);
void mjcf_add_tendon_motors(Mjcf* m);
void mjcf_add_tendon_controls(Text* out, const Model* model, double time);
bool mjcf_tendons_vary(const Model* model);

#endif
