/* Private to export/. State and functions of the MJCF export. */
#ifndef SDRS_EXPORT_MJCF_PARTS_H
#define SDRS_EXPORT_MJCF_PARTS_H

#include "export/format.h"

typedef struct {
  const Model* model;
  Diagnostics* diagnostics;
  SourcePosition place;
  Text *out, *feedback;                       /* text of the file, and CSV rows of feedback */
  Text qpos, qvel, actuators, control, names; /* texts of the keyframe (qpos, qvel, control) and of the actuators, in
                                                 MuJoCo's order; names: CSV header of the controls */
  int *first_child, *next_sibling;            /* first child and next sibling of each link, or -1 (size: links + 1);
                                                 first_child[link_count] is the first root link */
  double* subtree_mass;                       /* total mass of each link and its descendants [kg] (size: links) */
  float (*color)[3]; /* colour of each link, red, green and blue in linear light (size: links) */
  Pose* start;       /* initial world poses (size: links) */
  double step;       /* time step [s] */
  bool rotors;       /* true: rate gains of drives become rotor inertias (mjcf_rotor_inertia) */
  int depth;
} Mjcf;

/* Adds a note about a difference between the scene and the MJCF file. name: link of the difference, or NULL for the
 * whole scene. */
void mjcf_note(Mjcf* m, const char* name, const char* text);
/* Appends two spaces for each level of m->depth. */
void mjcf_indent(Mjcf* m);
/* Sets *name to the name of a joint in MJCF: `link/coordinate`, or `link/rotation` for a ball joint. index: link; dof:
 * degree of freedom of the link's joint. */
void mjcf_joint_name(Text* name, const Mjcf* m, int index, int dof);
/* Returns true if a <freejoint> can represent the joint of a root link: it has no drive, damping, limits or springs. */
bool mjcf_is_free(const Mjcf* m, int index);
/* Returns true if MuJoCo's reference configuration qpos0 is the initial state. This holds for models with closures,
 * because equality constraints hold in qpos0. Otherwise all coordinates of qpos0 are zero. */
bool mjcf_has_initial_reference(const Mjcf* m);
/* Returns true if the joint of a link has its initial coordinates in qpos0, MuJoCo's reference configuration. Returns
 * false if there are no closures. */
bool mjcf_has_initial_coordinates(const Mjcf* m, int index);
/* Returns the pitch of a screw joint [m/rad], or 0 for other joints. MuJoCo has no screw joints. */
static inline double mjcf_screw_pitch(const ModelLink* link) {
  return link->joint.kind == &JOINT_KIND_SCREW ? link->joint.parameters[0] : 0;
}
/* Returns true if the file needs equality constraints, for closures, couplings or screw joints. */
bool mjcf_has_equality(const Mjcf* m);

/* Appends the element <inertial> with the fraction `share` of a link's mass and inertia. */
void mjcf_add_inertial(Mjcf* m, const ModelLink* link, double share);
/* Returns the number of equal bodies into which a link is divided: one more than the number of slide closures that move
 * it, or 1 if it has no mass. */
int mjcf_body_count(const Mjcf* m, int index);
/* Appends the bodies that replace slide closures on a link, or on the world (-1), because MJCF has no such closure.
 * Each body has a fraction of the sliding link's mass, moves on slide joints and is welded to the sliding link. */
void mjcf_add_closure_bodies(Mjcf* m, int index);
/* Appends the sites of closures on a link, or on the world (-1), in the frame of the link [m]. */
void mjcf_add_closure_sites(Mjcf* m, int index);
/* Appends closures and couplings as tendons and equality constraints, which hold in the reference configuration. */
void mjcf_add_closures(Mjcf* m);

/* Adds the actuators of all controllers, with their names and controls at time 0. Adds a note for each controller that
 * behaves differently in MuJoCo. Sets m->rotors. */
void mjcf_add_drives(Mjcf* m);
/* Appends the controls of all drives at `time` [s], each after a comma: targets [m or rad], rates [m/s or rad/s] or
 * forces [N or N m]. */
void mjcf_add_drive_controls(Text* out, const Mjcf* m, double time);
/* Returns true if the target of a drive changes over time. */
bool mjcf_drives_vary(const Model* model);
/* Returns true if a controller acts on the joint of a link. */
bool mjcf_is_driven(const Mjcf* m, int index);
/* Returns true if a controller has a rate gain or prescribes a motion. */
bool mjcf_has_rate_gain(const Model* model);
/* Returns the rotor inertia of a degree of freedom of a link [kg or kg m^2]: time step times rate gain, for a ball
 * joint the largest of three. MuJoCo's explicit step then has the damping of an implicit step. Returns 0 if m->rotors
 * is false. */
double mjcf_rotor_inertia(const Mjcf* m, int index, int dof);

/* MuJoCo's contact parameter solimp. An impedance near 1 makes contacts almost rigid. */
#define MJCF_CONTACT_IMPEDANCE "0.9999 0.9999 0.0001"
/* Returns MuJoCo's contact dimension condim: 1 without friction, 3 with tangential, 4 also with spinning, 6 also with
 * rolling friction. */
int mjcf_contact_dimension(double friction, double spinning, double rolling);
/* Sets solref[2] to time constant [s] and damping ratio of a contact. The time constant is a few time steps, so that
 * the contact is as stiff as the time step resolves. */
void mjcf_contact_solref(const Mjcf* m, double restitution, double solref[2]);
/* Returns true if a pair of links has a restitution above 0 and below exp(-2). The damping ratio of its contact exceeds
 * 1, so in MuJoCo gravity keeps the bodies in contact. */
bool mjcf_has_small_restitution(const Model* model);
/* Returns true if a pair of links that can collide has a restitution below exp(-2). In MuJoCo such bodies penetrate
 * each other when they land. */
bool mjcf_has_soft_contact(const Model* model);
/* Appends the element <contact> with excluded pairs and with pairs that have their own friction. */
void mjcf_add_contacts(Mjcf* m);
/* Sets *name to the name of the MuJoCo geom of a hull. hull: index in model->hulls. */
void mjcf_hull_name(Text* name, const Model* model, int hull);

/* Appends a site for each load of a link, and one for its gravity compensation. */
void mjcf_add_load_sites(Mjcf* m, int index);
/* Returns true if a load or gravity compensation acts along world axes. */
bool mjcf_has_world_loads(const Mjcf* m);
/* Adds the motors that apply loads, with their names and controls at time 0. */
void mjcf_add_loads(Mjcf* m);
/* Adds the motors that apply gravity compensation, with their names and controls. */
void mjcf_add_compensation(Mjcf* m);
/* Append the controls, each after a comma [N, N m]: of the motors that replace loads, at `time` [s], and of the motors
 * of gravity compensation, which are constant. */
void mjcf_add_load_controls(Text* out, const Model* model, double time);
void mjcf_add_compensation_controls(Text* out, const Mjcf* m);
/* Returns true if a load changes over time. */
bool mjcf_loads_vary(const Model* model);

/* Appends sensors for the measurements that feedback uses. Reports measurements for which MuJoCo has no sensor. */
void mjcf_add_sensors(Mjcf* m);
/* Appends a row of feedback.csv for every measurement that affects an actuator. slope: derivative of the actuator's
 * control with respect to the feedback output that controller c adds to degree of freedom dof. */
void mjcf_add_feedback_rows(Mjcf* m, const ModelController* c, int dof, const char* actuator, double slope);

/* Appends the sites of tendons on a link, or on the world (-1), in the frame of the link [m]. */
void mjcf_add_tendon_sites(Mjcf* m, int index);
/* Appends the tendons, if there are any. */
void mjcf_add_tendons(Mjcf* m);
/* Adds a motor for each tendon with a tension signal, with its name and control at time 0 [N]. */
void mjcf_add_tendon_motors(Mjcf* m);
/* Appends the tensions of the tendons at `time` [s], each after a comma [N]. */
void mjcf_add_tendon_controls(Text* out, const Model* model, double time);
/* Returns true if the tension of a tendon changes over time. */
bool mjcf_tendons_vary(const Model* model);

#endif
