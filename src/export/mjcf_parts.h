/* Private to export/: state of an MJCF export, shared by its files. */
#ifndef SDRS_EXPORT_MJCF_PARTS_H
#define SDRS_EXPORT_MJCF_PARTS_H

#include "export/format.h"

typedef struct {
  const Model* model;
  Diagnostics* diagnostics;
  SourcePlace place;
  Text *out, *feedback;                       /* MJCF text; CSV text of the feedback terms of controls */
  Text qpos, qvel, actuators, control, names; /* texts in MuJoCo's order; names: CSV header of the controls */
  int *first_child, *next_sibling;            /* (links); first_child[link_count] = first root */
  double* carried;                            /* total mass of each link and its descendants [kg]  (links) */
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
/* Sets *name to the name of a joint in MJCF: `link/coordinate` as in joints.csv, `link/rotation` for a ball. index:
 * link; dof: degree of freedom of the joint of this link. */
void mjcf_joint_name(Text* name, const Mjcf* m, int index, int dof);
/* Returns true if MuJoCo's freejoint can represent the joint of root link `index`, which then has no drive, damping,
 * limits or springs. */
bool mjcf_is_free(const Mjcf* m, int index);
/* Returns true if the model has closures. MuJoCo defines equality constraints in its reference configuration qpos0.
 * With closures qpos0 is the initial state, otherwise all coordinates are zero in qpos0. */
bool mjcf_refers_to_start(const Mjcf* m);
/* Returns true if the joint of link `index` has its initial coordinates in the reference configuration qpos0. Always
 * false if there are no closures. */
bool mjcf_starts_there(const Mjcf* m, int index);
/* Returns the pitch of a screw joint [m/rad]; 0 for other joints. MuJoCo has no screw joints. */
static inline double mjcf_thread(const ModelLink* link) {
  return link->joint.kind == &JOINT_KIND_SCREW ? link->joint.parameters[0] : 0;
}
/* Returns true if the file needs equality constraints, for closures, couplings or screw joints. */
bool mjcf_has_equality(const Mjcf* m);

/* Appends <inertial> with the fraction `part` (0 to 1) of the link's mass and inertia. */
void mjcf_add_inertial(Mjcf* m, const ModelLink* link, double part);
/* Returns the number of equal bodies into which link `index` is divided: one more than the number of slide closures
 * that move the link; 1 if the link has no mass. */
int mjcf_parts_of(const Mjcf* m, int index);
/* Appends the bodies for slide closures on link `index`, or on the world (-1). Each body is a fraction of a sliding
 * link on slide joints, welded to the rest of that link. */
void mjcf_add_closure_bodies(Mjcf* m, int index);
/* Appends the sites of closures on link `index`, or on the world (-1), in the frame of that link [m]
 * (export/mjcf_closures.c). */
void mjcf_add_closure_sites(Mjcf* m, int index);
/* Appends closures and couplings, if there are any, as tendons and equality constraints that hold in the reference
 * configuration. */
void mjcf_add_closures(Mjcf* m);

/* Adds the actuators of all controllers, their controls at time 0 and their names to *m. Reports differences in MuJoCo,
 * and sets m->rotors (export/mjcf_drives.c). */
void mjcf_add_drives(Mjcf* m);
/* Appends the controls of all drives at a time [s], each after a comma: targets [m or rad], rates [m/s or rad/s],
 * forces [N or N m]. */
void mjcf_add_drive_controls(Text* out, const Mjcf* m, double time);
/* Returns true if the target of a drive changes over time. */
bool mjcf_drives_vary(const Model* model);
/* Returns true if a controller acts on the joint of link `index`. */
bool mjcf_is_driven(const Mjcf* m, int index);
/* Returns true if a controller has a rate gain or prescribes a motion. */
bool mjcf_has_rate_gain(const Model* model);
/* Returns the rotor inertia of degree of freedom `dof` of link `index` [kg or kg m^2]: the time step times the rate
 * gain, for a ball the largest of three. With this inertia an explicit step equals an implicit one. Returns 0 if
 * m->rotors is false. */
double mjcf_rotor(const Mjcf* m, int index, int dof);

/* Contact impedance: close to 1. */
#define MJCF_CONTACT_IMPEDANCE "0.9999 0.9999 0.0001"
/* Returns MuJoCo's condim: 1 without friction, 3 with tangential, 4 with spinning, 6 with rolling friction
 * (export/mjcf_contacts.c). */
int mjcf_contact_dimension(double friction, double spinning, double rolling);
/* Sets out (2) to the solref of a contact: time constant [s] and damping ratio. The time constant is a few time steps,
 * so that a contact with restitution oscillates as fast as the time step resolves. */
void mjcf_contact_solref(const Mjcf* m, double restitution, double out[2]);
/* Returns true if two links have a restitution above 0 and below exp(-2). The damping ratio of such a contact exceeds
 * 1, so in MuJoCo gravity keeps the bodies in contact instead of letting them rebound (export/mjcf_contacts.c). */
bool mjcf_has_small_restitution(const Model* model);
/* Returns true if two links that may touch have a restitution below exp(-2). Bodies that land on each other in MuJoCo
 * then penetrate. */
bool mjcf_has_soft_contact(const Model* model);
/* Appends <contact>: excluded pairs, and pairs with their own friction. */
void mjcf_add_contacts(Mjcf* m);
/* Sets *name to the name of a hull's geom. */
void mjcf_hull_name(Text* name, const Model* model, int hull);

/* Appends a site for each load of link `index`, and one for the gravity compensation of the link (export/mjcf_loads.c).
 * */
void mjcf_add_load_sites(Mjcf* m, int index);
/* Returns true if a load or a gravity compensation acts along world axes. */
bool mjcf_has_world_loads(const Mjcf* m);
/* Adds the motors of loads, the controls of these motors at time 0, and their names to *m. */
void mjcf_add_loads(Mjcf* m);
/* Adds the motors of gravity compensation, the controls of these motors, and their names to *m. */
void mjcf_add_lifts(Mjcf* m);
/* The next two functions append the controls of the loads at a time [s] and the constant controls of gravity
 * compensation, each after a comma [N, N m]. */
void mjcf_add_load_controls(Text* out, const Model* model, double time);
void mjcf_add_lift_controls(Text* out, const Mjcf* m);
/* Returns true if a load changes over time. */
bool mjcf_loads_vary(const Model* model);

/* Appends sensors for the measurements that feedback uses, if there are any. Reports measurements for which MuJoCo has
 * no sensor (export/mjcf_feedback.c). */
void mjcf_add_sensors(Mjcf* m);
/* Appends a feedback row for every measurement that affects the actuator. slope: derivative of the actuator's control
 * by the input of drive c on degree of freedom dof. */
void mjcf_add_feedback_rows(Mjcf* m, const ModelController* c, int dof, const char* actuator, double slope);

/* Appends the sites of tendons on link `index`, or on the world (-1), in the frame of that link [m]
 * (export/mjcf_tendons.c). */
void mjcf_add_tendon_sites(Mjcf* m, int index);
/* Appends the tendons, if there are any. */
void mjcf_add_tendons(Mjcf* m);
/* Adds a motor for each tendon that has a tension, with its control at time 0 [N] and its name, to *m. */
void mjcf_add_tendon_motors(Mjcf* m);
/* Appends the tensions of the tendons at a time [s], each after a comma [N]. */
void mjcf_add_tendon_controls(Text* out, const Model* model, double time);
/* Returns true if a tension changes over time. */
bool mjcf_tendons_vary(const Model* model);

#endif
