/* Private to export/: state of an MJCF export, shared by its files. */
#ifndef SDRS_EXPORT_MJCF_PARTS_H
#define SDRS_EXPORT_MJCF_PARTS_H

#include "export/format.h"

typedef struct {
  const Model* model;
  Diagnostics* diagnostics;
  SourcePlace place;
  Text *out, *feedback;                       /* feedback: CSV of the feedback terms of controls */
  Text qpos, qvel, actuators, control, names; /* collected in MuJoCo's order; names: CSV header of the controls */
  int *first_child, *next_sibling;            /* (links); first_child[link_count] = first root */
  double* carried;                            /* mass of a link and all its descendants [kg]  (links) */
  float (*color)[3];                          /* linear RGB  (links) */
  Pose* start;                                /* initial world poses  (links) */
  double step;                                /* s */
  bool rotors;                                /* rate gains are represented by rotors (export/mjcf_drives.c) */
  int depth;
} Mjcf;

/* Reports a difference in MuJoCo as a note about a link, or the whole scene if name is NULL, with the file as its
 * place. */
void mjcf_note(Mjcf* m, const char* name, const char* text);
/* Appends two spaces per level of depth. */
void mjcf_indent(Mjcf* m);
/* Name of a joint: `link/coordinate` as in joints.csv, for a ball `link/rotation`. index: link; dof: degree of freedom
 * of its joint. Overwrites name. */
void mjcf_joint_name(Text* name, const Mjcf* m, int index, int dof);
/* True if MuJoCo's freejoint can represent the root joint: no drive, damping, limits or springs. */
bool mjcf_is_free(const Mjcf* m, int index);
/* True if there are closures. MuJoCo anchors them in its reference configuration qpos0, which is then the initial
 * state; otherwise zero coordinates. */
bool mjcf_refers_to_start(const Mjcf* m);
/* True if this link has its initial coordinates in the reference; false without closures. */
bool mjcf_starts_there(const Mjcf* m, int index);
/* Pitch of a screw joint [m/rad], which MuJoCo lacks; 0 for other joints. */
static inline double mjcf_thread(const ModelLink* link) {
  return link->joint.kind == &JOINT_KIND_SCREW ? link->joint.parameters[0] : 0;
}
/* True if there are equality constraints: closures, couplings or screws. */
bool mjcf_has_equality(const Mjcf* m);

/* Appends <inertial> with a fraction (0 to 1) of the link's mass and inertia. */
void mjcf_add_inertial(Mjcf* m, const ModelLink* link, double part);
/* Number of equal bodies a link is divided into: one more than the slide closures that move it; 1 without mass. */
int mjcf_parts_of(const Mjcf* m, int index);
/* Appends bodies for slide closures on a link, or on the world (-1): fractions of the sliding links on slide joints,
 * welded to the rest. */
void mjcf_add_closure_bodies(Mjcf* m, int index);
/* Appends the sites of closures on a link, or on the world (-1), in its frame [m] (export/mjcf_closures.c). */
void mjcf_add_closure_sites(Mjcf* m, int index);
/* Appends closures and couplings as tendons and equalities, satisfied in the reference; nothing if there are none. */
void mjcf_add_closures(Mjcf* m);

/* Adds the actuators of all controllers, their controls at time 0 and their names, reports differences, and decides on
 * rotors (export/mjcf_drives.c). */
void mjcf_add_drives(Mjcf* m);
/* Appends the controls of drives at a time [s], each after a comma: targets [m or rad], rates, forces. */
void mjcf_add_drive_controls(Text* out, const Mjcf* m, double time);
/* True if a target changes over time. */
bool mjcf_drives_vary(const Model* model);
/* True if a controller acts on the link's joint. */
bool mjcf_is_driven(const Mjcf* m, int index);
/* True if a controller has a rate gain or prescribes a motion. */
bool mjcf_has_rate_gain(const Model* model);
/* Rotor inertia on a degree of freedom, the step times the rate gain [kg or kg m^2] (a ball: the largest of three),
 * which makes an explicit step equal to an implicit one; 0 without rotors. */
double mjcf_rotor(const Mjcf* m, int index, int dof);

/* Contact impedance: close to 1. */
#define MJCF_CONTACT_IMPEDANCE "0.9999 0.9999 0.0001"
/* MuJoCo's condim: 1 without friction, 3 with tangential, 4 with spinning, 6 with rolling friction
 * (export/mjcf_contacts.c). */
int mjcf_contact_dimension(double friction, double spinning, double rolling);
/* solref: time constant [s] and damping ratio. A contact with restitution oscillates as fast as the step resolves. */
void mjcf_contact_solref(const Mjcf* m, double restitution, double out[2]);
/* True if two links have a restitution above 0 and below exp(-2), where the damping ratio of a contact exceeds 1:
 * bodies do not leave such a contact in MuJoCo, since gravity keeps them in it (export/mjcf_contacts.c). */
bool mjcf_has_small_restitution(const Model* model);
/* True if two links that may touch have a restitution below exp(-2): bodies that land there penetrate. */
bool mjcf_has_soft_contact(const Model* model);
/* Appends <contact>: excluded pairs, and pairs with their own friction. */
void mjcf_add_contacts(Mjcf* m);
/* Name of a hull's geom; overwrites name. */
void mjcf_hull_name(Text* name, const Model* model, int hull);

/* Appends a site for each load of a link, and one for its gravity compensation (export/mjcf_loads.c). */
void mjcf_add_load_sites(Mjcf* m, int index);
/* True if a load or a gravity compensation acts along world axes. */
bool mjcf_has_world_loads(const Mjcf* m);
/* Adds the motors of loads, their controls at time 0, and their names. */
void mjcf_add_loads(Mjcf* m);
/* Adds the motors of gravity compensation, their controls and their names. */
void mjcf_add_lifts(Mjcf* m);
/* Append the controls of loads at a time [s] and of gravity compensation (constant), each after a comma [N, N m]. */
void mjcf_add_load_controls(Text* out, const Model* model, double time);
void mjcf_add_lift_controls(Text* out, const Mjcf* m);
/* True if a load changes over time. */
bool mjcf_loads_vary(const Model* model);

/* Appends sensors for the measurements of feedback and reports those that MuJoCo lacks; nothing if there are none
 * (export/mjcf_feedback.c). */
void mjcf_add_sensors(Mjcf* m);
/* Appends a feedback row for every measurement that affects the actuator. slope: derivative of its control by the
 * drive's input on degree of freedom dof. */
void mjcf_add_feedback_rows(Mjcf* m, const ModelController* c, int dof, const char* actuator, double slope);

/* Appends the sites of tendons on a link, or on the world (-1), in its frame [m] (export/mjcf_tendons.c). */
void mjcf_add_tendon_sites(Mjcf* m, int index);
/* Appends the tendons; nothing if there are none. */
void mjcf_add_tendons(Mjcf* m);
/* Adds a motor for each tendon that has a tension, its control at time 0 [N], and its name. */
void mjcf_add_tendon_motors(Mjcf* m);
/* Appends the tensions at a time [s], each after a comma [N]. */
void mjcf_add_tendon_controls(Text* out, const Model* model, double time);
/* True if a tension changes over time. */
bool mjcf_tendons_vary(const Model* model);

#endif
