/* Private to export/: a model on its way to MJCF, and what its parts share. */
#ifndef SDRS_EXPORT_MJCF_PARTS_H
#define SDRS_EXPORT_MJCF_PARTS_H

#include "export/format.h"

typedef struct {
  const Model* model;
  Diagnostics* diagnostics;
  SourcePlace place;
  Text *out, *feedback;                       /* feedback: CSV of what measurements add to controls */
  Text qpos, qvel, actuators, control, names; /* gathered in MuJoCo's order; names: CSV header of the controls */
  int *first_child, *next_sibling;            /* (links); first_child[link_count] = first root */
  double* carried;                            /* mass of a link and all that hangs on it [kg]  (links) */
  float (*color)[3];                          /* linear  (links) */
  Pose* start;                                /* world poses at the start  (links) */
  double step;                                /* s */
  bool rotors;                                /* do rotors bear the rate gains of drives? (export/mjcf_drives.c) */
  int depth;
} Mjcf;

/* A note about a link, with the file as its place: what is different in MuJoCo. */
void mjcf_note(Mjcf* m, const char* name, const char* text);
/* Appends two blanks for each level of depth. */
void mjcf_indent(Mjcf* m);
/* `link/coordinate`, as the columns of joints.csv; a ball is `link/rotation`. index: of the link; dof: of its joint,
 * from 0. What was in name goes. */
void mjcf_joint_name(Text* name, const Mjcf* m, int index, int dof);
/* Is the link a root that MuJoCo's freejoint can stand for: without drive, damping, limits or springs? */
bool mjcf_is_free(const Mjcf* m, int index);
/* true: there are closures. Their anchors in MuJoCo are where bodies are in its reference, qpos0: then that is the
 * start, else zero coordinates. */
bool mjcf_refers_to_start(const Mjcf* m);
/* And this link stands there as it does at the start. false without closures. */
bool mjcf_starts_there(const Mjcf* m, int index);
/* Way along the axis per angle of a screw, which MuJoCo does not know [m/rad]; 0: the joint is none. */
static inline double mjcf_thread(const ModelLink* link) {
  return link->joint.kind == &JOINT_KIND_SCREW ? link->joint.parameters[0] : 0;
}
/* Is anything held together, by closures, couplings or screws? */
bool mjcf_has_equality(const Mjcf* m);

/* Appends <inertial> of a part (0 to 1) of the link's mass and inertia, where its own are. */
void mjcf_add_inertial(Mjcf* m, const ModelLink* link, double part);
/* Into how many bodies of equal parts a link is cut: one more than slides that are closures move it; only for links
 * with a mass is it more than 1. */
int mjcf_parts_of(const Mjcf* m, int index);
/* Appends the bodies of links that slides hold to a link, or to the world (-1): parts of theirs on slide joints, which
 * are welded to the rest. */
void mjcf_add_closure_bodies(Mjcf* m, int index);
/* Appends the sites that closures need on a link, or in the world (-1), in its frame [m] (export/mjcf_closures.c). */
void mjcf_add_closure_sites(Mjcf* m, int index);
/* Appends closures and couplings as tendons and equalities, which hold as they do in the reference; nothing without
 * any. */
void mjcf_add_closures(Mjcf* m);

/* Adds the actuators of all controllers, their controls at time 0 and their names, and says what is different; decides
 * about rotors (export/mjcf_drives.c). */
void mjcf_add_drives(Mjcf* m);
/* Appends their controls at a time [s], after a comma each: targets [m or rad], rates, forces. */
void mjcf_add_drive_controls(Text* out, const Mjcf* m, double time);
/* Does a target change over time? */
bool mjcf_drives_vary(const Model* model);
/* Does a controller act on the link's joint? */
bool mjcf_is_driven(const Mjcf* m, int index);
/* Does a controller act on a rate, or prescribe one? */
bool mjcf_has_rate_gain(const Model* model);
/* Inertia on a degree of freedom that makes an explicit step of its drive an implicit one: the step times the rate gain
 * [kg or kg m^2], of a ball the largest of its three; 0 without rotors. */
double mjcf_rotor(const Mjcf* m, int index, int dof);

/* Impedance of contacts: nearly all of the force at once. */
#define MJCF_CONTACT_IMPEDANCE "0.9999 0.9999 0.0001"
/* condim of MuJoCo: 1 without friction, 3 with that of points, 4 with spinning, 6 with rolling
 * (export/mjcf_contacts.c). */
int mjcf_contact_dimension(double friction, double spinning, double rolling);
/* solref: time constant [s] and damping ratio. A contact that gives back swings, as fast as the step lets it. */
void mjcf_contact_solref(const Mjcf* m, double restitution, double out[2]);
/* Appends <contact>: the pairs that MuJoCo would let touch and the model does not, and the pairs with friction of
 * their own. */
void mjcf_add_contacts(Mjcf* m);
/* The name of a hull's geometry. What was in name goes. */
void mjcf_hull_name(Text* name, const Model* model, int hull);

/* Appends where the loads of a link act: a site each, and one where its weight is borne (export/mjcf_loads.c). */
void mjcf_add_load_sites(Mjcf* m, int index);
/* Does a load, or what bears a link, act along the axes of the world? */
bool mjcf_has_world_loads(const Mjcf* m);
/* Adds the motors of loads, their controls at time 0, and their names. */
void mjcf_add_loads(Mjcf* m);
/* The same of gravity compensation. */
void mjcf_add_lifts(Mjcf* m);
/* Appends their controls at a time [s], after a comma each [N, N m]; those of gravity compensation stay [N]. */
void mjcf_add_load_controls(Text* out, const Model* model, double time);
void mjcf_add_lift_controls(Text* out, const Mjcf* m);
/* Does a load change over time? */
bool mjcf_loads_vary(const Model* model);

/* Appends sensors for what the drives' feedback measures, and says what MuJoCo has none for; nothing without any
 * (export/mjcf_feedback.c). */
void mjcf_add_sensors(Mjcf* m);
/* Appends a row for every measurement that moves the actuator's control: slope is that of the control by the drive's
 * input on degree of freedom dof. */
void mjcf_add_feedback_rows(Mjcf* m, const ModelController* c, int dof, const char* actuator, double slope);

/* Appends the sites of tendons on a link, or in the world (-1), in its frame [m] (export/mjcf_tendons.c). */
void mjcf_add_tendon_sites(Mjcf* m, int index);
/* Appends the tendons; nothing without any. */
void mjcf_add_tendons(Mjcf* m);
/* Adds a motor for each tendon that has a tension, its control at time 0 [N], and its name. */
void mjcf_add_tendon_motors(Mjcf* m);
/* Appends the tensions at a time [s], after a comma each [N]. */
void mjcf_add_tendon_controls(Text* out, const Model* model, double time);
/* Does a tension change over time? */
bool mjcf_tendons_vary(const Model* model);

#endif
