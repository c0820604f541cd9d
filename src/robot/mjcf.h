/* mjcf: a MuJoCo model as read from its file. It becomes links and joints of urdf.h, from which the scene is made as
 * for a URDF file. Private to robot/. An MjcfModel owns its documents, arrays and the texts that it makes; mjcf_free
 * accepts a partly read one. */
#ifndef SDRS_ROBOT_MJCF_H
#define SDRS_ROBOT_MJCF_H

#include "robot/urdf.h"

/* Settings of <compiler> and of <option>. */
typedef struct {
  bool degrees;     /* angles of the file are in degrees, the default of MuJoCo */
  bool auto_limits; /* a range alone limits a joint; otherwise `limited` must be set */
  int from_geoms;   /* masses of geoms: 1 always, 0 never, -1 where a body has no <inertial> */
  char euler[4];    /* xyz: about rotated axes; XYZ: about fixed ones */
  const char* mesh_folder;
  const char* folder; /* folder of the model's file relative to that of the first one: "", or with a slash at its end */
  bool strips_paths;  /* true: directories in file names are ignored (strippath) */
  bool exact_meshes;  /* meshes have the mass of the volume they enclose */
  double total_mass;  /* total mass of all bodies to which masses and inertias are scaled [kg]; 0: not scaled */
  double least_mass;  /* boundmass: lower bound of the mass of a body [kg] */
  double least_inertia;           /* boundinertia: lower bound of its principal moments of inertia [kg m^2] */
  bool balances_inertia;          /* principal moments A + B < C are replaced by their mean */
  double least_group, most_group; /* inertiagrouprange: geoms of other groups have no mass */
  double timestep;                /* s */
  Vec3 gravity;
} MjcfCompiler;

/* An attached model and the compiler settings with which its elements are read. */
typedef struct {
  const char* file;       /* the same pointer as `file` of its SourcePlaces */
  const XmlElement* root; /* root of the attached model that this file belongs to */
  MjcfCompiler compiler;
} MjcfOwnCompiler;

/* A keyframe of an attached model: the coordinates, velocities and controls of what is attached. */
typedef struct {
  const char* name; /* with the prefix of the attached model */
  const XmlElement* key;
} MjcfAttachedKey;

/* Masks of a geom. Two may touch if (contype_a & conaffinity_b) || (contype_b & conaffinity_a). */
typedef struct {
  int link; /* of the robot */
  unsigned type, affinity;
} MjcfMask;

/* Sliding friction and solref of a geom. Of two geoms in contact, that of higher priority determines both. At equal
 * priority the larger friction counts, and solref is mixed. */
typedef struct {
  int link; /* of the robot */
  double value;
  int priority;
  double solref[2]; /* 1 (for every time constant) and the damping ratio, or -stiffness [1/s^2] and -damping [1/s] */
  double mix;       /* solmix: weight of solref */
  bool is_ground;   /* true: plane or height field, on which bodies rest; decides for its link */
} MjcfFriction;

/* A joint in the order of qpos. */
typedef struct {
  int joint;        /* of the robot */
  const char* name; /* "" if it has none */
  double reference; /* MuJoCo's coordinate at which the scene's is 0 [m or rad] */
  Quat start;       /* initial rotation, for `relative` */
  bool relative;    /* for a free joint made of three slides and a ball: relative to the body's position */
} MjcfCoordinate;

/* A <site>: a named frame of a body. */
typedef struct {
  int link;      /* of the robot */
  UrdfPose pose; /* in the body's frame */
} MjcfSite;

/* A named cylinder or sphere around which tendons may wrap. */
typedef struct {
  int link;      /* of the robot */
  UrdfPose pose; /* in the link's frame */
  bool sphere;   /* else a cylinder about z */
  double radius; /* m */
} MjcfRound;

/* A mesh, shared by geoms, and its mass moment at unit density. */
typedef struct {
  const XmlElement* mesh;
  MassMoment moment;
} MjcfWeighedMesh;

/* Elasticity of the joint between two segments of a cable: torque on the segment = -stiffness (w - rest), in the axes
 * of the previous segment. w: rotation vector of the segment relative to the previous one. */
typedef struct {
  SourcePlace place;
  int link, before; /* links of the robot: the segment and the previous one */
  Vec3 stiffness;   /* N m/rad */
  Vec3 rest;        /* rad */
} MjcfElasticity;

typedef struct {
  XmlDocument* documents; /* the file, then those that it includes (document_count) */
  int document_count;
  char** texts; /* texts created by the reader: names, paths (text_count) */
  int text_count, text_capacity;
  const XmlElement* root;
  Diagnostics* diagnostics;
  RobotReport* report;
  const RobotOptions* options;
  const char* path;
  MjcfCompiler compiler;      /* settings of the first file */
  MjcfOwnCompiler* compilers; /* settings of attached models */
  int compiler_count, compiler_capacity;
  Names defaults; /* classes -> index in default_elements */
  const XmlElement** default_elements;
  int default_count, default_capacity;
  Names meshes, materials, height_fields; /* names -> index in assets */
  const XmlElement** assets;
  int asset_count, asset_capacity;
  UrdfRobot robot;
  Names bodies;  /* names -> link of the robot */
  Vec3* anchors; /* origin of each robot link's frame in its body's frame  (links) */
  int anchor_capacity;
  UrdfPose* placed; /* pose of each robot link in its scene link, or in the world without one (links) */
  Names paired;     /* names of geoms in a <pair> -> index in paired_link */
  int* paired_link; /* link of the robot; -1 = not found yet */
  int paired_count, paired_capacity;
  Names site_names; /* names -> index in sites */
  MjcfSite* sites;
  int site_count, site_capacity;
  Names round_names; /* geoms around which tendons may wrap -> index in rounds */
  MjcfRound* rounds;
  int round_count, round_capacity;
  MjcfWeighedMesh* weighed;
  int weighed_count, weighed_capacity;
  MjcfMask* masks;
  int mask_count, mask_capacity;
  MjcfCoordinate* coordinates;
  int coordinate_count, coordinate_capacity;
  MjcfFriction* frictions;
  int friction_count, friction_capacity;
  MjcfElasticity* elasticities; /* of cables */
  int elasticity_count, elasticity_capacity;
  bool small_restitution;   /* damping ratios from 1 to 5 are restitutions below exp(-2): the file is an export */
  bool no_contact;          /* <flag contact="disable">: bodies do not collide */
  int integrator;           /* of an export: 1 + its Integrator; 0: not given */
  unsigned disabled_groups; /* actuator groups that are disabled, one bit each */
  Text dropped;             /* names of elements and attributes that are not imported, separated by commas */
  Names dropped_names;
  MjcfAttachedKey* attached_keys;
  int attached_key_count, attached_key_capacity;
  const XmlElement* key; /* keyframe of the initial state; NULL = none */
  RobotStart* starts;    /* initial coordinates of its joints (start_count) */
  int start_count;
} MjcfModel;

/* ---------------------------------------------------------------- elements (robot/mjcf_file.c) */

/* Reports an error at a place, printf style; beyond a limit errors are only counted. */
void mjcf_error(MjcfModel* model, SourcePlace place, const char* format, ...) __attribute__((format(printf, 3, 4)));
/* Returns the text, owned by the model from now on. Leaves `text` empty. */
const char* mjcf_keep(MjcfModel* model, Text* text);
/* Reports once that elements of this name are left out; the name is copied. */
void mjcf_drop(MjcfModel* model, const char* what);
/* Reports elements and attributes, of an element and its descendants, that are neither read nor without effect on
 * motion (robot/mjcf_left_out.c). */
void mjcf_report(MjcfModel* model, const XmlElement* element);
/* Returns the end of a message about a missing body: that bodies of a <composite> or <flexcomp> are left out; "" if the
 * file has none. Static. */
const char* mjcf_why_missing(const MjcfModel* model);
/* Reads the file's elements, included files, compiler settings, defaults and assets. path, options, report and
 * diagnostics of the model must be set, the rest zero. text: (length). Returns false after an error. The caller frees
 * the model with mjcf_free in any case. */
bool mjcf_open(MjcfModel* model, const char* text, size_t length);
/* Frees the model's documents, arrays and texts. Accepts a partly read model. */
void mjcf_free(MjcfModel* model);
/* Returns the compiler settings of the file that a place is in. Borrowed from the model, until the next attached file.
 */
const MjcfCompiler* mjcf_compiler(const MjcfModel* model, SourcePlace place);
/* Returns true if the initial keyframe has an entry for the element at a place: always, unless the keyframe is that of
 * an attached model and the element is not. There must be a keyframe. */
bool mjcf_key_has(const MjcfModel* model, SourcePlace place);
/* Reads another model's file, relative to `base`, with the files it includes, and returns its root; folder: as
 * MjcfCompiler's. NULL after an error. The model owns the document, the report its path. */
XmlElement* mjcf_read_model(MjcfModel* model, const XmlAttribute* file, const char* base, const char* folder,
                            SourcePlace from);
/* Registers a <default> element and those inside it under their classes. Borrows the element. */
void mjcf_add_default(MjcfModel* model, const XmlElement* element);

/* ---------------------------------------------------------------- meta-elements (robot/mjcf_expand.c) */

/* Replaces <replicate> by frames with copies, <attach> by a frame with the other model's elements, and copies the
 * elements that refer to them. Returns false after an error. Changes the documents' trees. */
bool mjcf_expand(MjcfModel* model);
/* Returns the bodies of a <composite> of type cable as children of a container; the model owns them. Adds their
 * excluded pairs to the root in a new <contact>. Reports other types and returns an empty frame for them. Returns NULL
 * after an error (robot/mjcf_composite.c). */
XmlElement* mjcf_composite(MjcfModel* model, XmlElement* root, const XmlElement* element);
#define MJCF_CABLE_PLUGIN "mujoco.elasticity.cable"
/* Name of the element of a cable's segment with the elasticity of its joint: stiffness [N m/rad] and rest [rad], three
 * numbers each. The space in it excludes elements of a file. */
#define MJCF_ELASTICITY "cable elasticity"
/* Adds the elasticities of cables to the scene as bushings. Call after the scene is created. carrier (links of the
 * robot) as of mjcf_finish. */
void mjcf_add_elasticities(MjcfModel* model, Scene* scene, const int* carrier);

/* An element, with the class that applies if the element names none. */
typedef struct {
  const XmlElement* element;
  const char* class_name; /* "" = main */
} MjcfElement;

/* Returns the attribute of the element, else of its class or an enclosing class. Borrowed; NULL if none has it. */
const XmlAttribute* mjcf_attribute(const MjcfModel* model, MjcfElement element, const char* name);
/* Returns true if the text from p to end is a decimal number after blanks. strtod alone would also accept hexadecimal
 * numbers. */
bool mjcf_is_decimal(const char* p, const char* end);
/* Reads up to `most` numbers of an attribute into values (most) and returns how many there were; the others keep their
 * values. 0 if the attribute is absent. Fewer than `least` or more than `most` numbers are an error: reported, 0 is
 * returned, and no value is changed. */
int mjcf_numbers(MjcfModel* model, MjcfElement element, const char* name, int least, int most, double* values);
/* Returns the points of the attribute `vertex`, which the element must have, times the scale. Sets *count. The caller
 * frees the array; NULL after an error (robot/mjcf_geom.c). */
Vec3* mjcf_vertices(MjcfModel* model, const XmlElement* element, Vec3 scale, int* count);
/* Returns the number of an attribute; `fallback` if it is absent, or after an error, which is reported. */
double mjcf_number(MjcfModel* model, MjcfElement element, const char* name, double fallback);
/* Returns the attribute's text, borrowed; "" if absent. */
const char* mjcf_text(const MjcfModel* model, MjcfElement element, const char* name);
/* Returns 1 for "true", 0 for "false", -1 for another word or an absent attribute. */
int mjcf_flag(const MjcfModel* model, MjcfElement element, const char* name);
/* Returns the pose of the element in its parent's frame [m]: pos and a rotation, or the middle of fromto with z from
 * its end to its start. Identity by default; errors are reported. */
UrdfPose mjcf_pose(MjcfModel* model, MjcfElement element);
/* Returns the rotation of three Euler angles in the unit and sequence of the file that a place is in. angles: (3). */
Quat mjcf_euler(const MjcfModel* model, SourcePlace place, const double* angles);
/* Converts an angle of the file that a place is in to radians. */
double mjcf_angle(const MjcfModel* model, SourcePlace place, double value);
/* Returns the asset of that name, borrowed; NULL if there is none. names: model->meshes, materials or height_fields. */
const XmlElement* mjcf_asset(const MjcfModel* model, const Names* names, const char* name);

/* ---------------------------------------------------------------- shapes (robot/mjcf_geom.c) */

/* Reads a geom of a link of the robot: shape, mask, colour and mass, which is added to `moment` unless that is NULL.
 * frame: pose in the link's frame of the frame in which the geom is defined. Errors are reported, and the geom is then
 * left out. */
void mjcf_read_geom(MjcfModel* model, MjcfElement element, int link, UrdfPose frame, MassMoment* moment);

/* Returns the mass moment of a mesh at unit density by the rule of its attribute `inertia`, in the geom's frame: [m^3,
 * m^4, m^5], for a shell [m^2, m^3, m^4] (robot/mjcf_mesh.c). Zero if it cannot be computed; errors are reported.
 * shape: of the mesh, with its file or points. */
MassMoment mjcf_mesh_moment(MjcfModel* model, const XmlElement* mesh, const UrdfShape* shape, const char* name);

/* Returns the name of the plugin that a mesh or geom names, by itself or by an instance of <extension>, and sets the
 * element with its <config>; NULL for both: none (robot/mjcf_made.c). */
const char* mjcf_plugin(const MjcfModel* model, const XmlElement* element, const XmlElement** settings);
/* Returns true for a <plugin> that names mujoco.sdf.torus. */
bool mjcf_is_torus(const XmlElement* plugin);
/* Returns true for a mesh of the plugin mujoco.sdf.torus, without a scale, and sets its major and minor radius [m]:
 * a torus about z. Wrong radii are reported. */
bool mjcf_torus(MjcfModel* model, const XmlElement* mesh, double radii[2]);
typedef enum { MADE_NOT, MADE_WRONG, MADE_MESH } MjcfMade;
/* Makes the surface of a mesh without file and vertices: `builtin` supersphere or supertorus, or mjcf_torus. Vertex 0
 * is free. MADE_NOT: it is none of these; MADE_WRONG: an error is reported. Frees with hull_free. */
MjcfMade mjcf_make_mesh(MjcfModel* model, const XmlElement* mesh, Vec3 scale, ConvexHull* solid);
/* Returns the scaled points of an OBJ file without faces, whose hull is the mesh; NULL for any other file. The caller
 * frees the array. */
Vec3* mjcf_obj_points(const char* path, Vec3 scale, int* count);

/* Sets the mass of a body's link from <inertial>, else from the mass moment of its geoms, and applies boundmass,
 * boundinertia and balanceinertia. inertial, moment: NULL = not given. frame: pose of the body in the link's frame
 * (robot/mjcf_mass.c). */
void mjcf_weigh_body(MjcfModel* model, const XmlElement* body, const XmlElement* inertial, const MassMoment* moment,
                     UrdfPose frame, UrdfLink* link);

/* ---------------------------------------------------------------- bodies (robot/mjcf_body.c) */

/* Reads worldbody into links and joints of model->robot. Returns false after errors, each reported with its place. */
bool mjcf_read_bodies(MjcfModel* model);

/* ---------------------------------------------------------------- other sections (robot/mjcf_scene.c) */

/* Collects the names of geoms in <pair> elements (robot/mjcf_contact.c). Call before mjcf_read_bodies. */
void mjcf_find_pairs(MjcfModel* model);
/* Adds the pairs of links that may or may not collide to the scene. Call after the scene is created. carrier (links of
 * the robot) as of mjcf_finish, here and below. */
void mjcf_read_contact(MjcfModel* model, Scene* scene, const int* carrier);
/* Returns all numbers of an attribute of the keyframe and sets *count. The caller frees the array with memory_free.
 * NULL, with *count 0, without the attribute or after an error. */
double* mjcf_key_numbers(MjcfModel* model, const char* name, int* count);
/* Adds controllers and loads to the scene, from <actuator> and springs of tendons (robot/mjcf_actuator.c). Call after
 * the scene is created. carrier (links of the robot). */
void mjcf_add_actuators(MjcfModel* model, Scene* scene, const int* carrier);
/* Returns the pose of a site in the scene link that carries its body, or in the world [m]. model->placed must be
 * set. */
UrdfPose mjcf_site_place(const MjcfModel* model, const MjcfSite* site);

/* Call before the scene is made: sets model->starts, and the positions of free bodies, from the keyframe. */
void mjcf_take_key(MjcfModel* model);
/* Call after the scene is made: reads equality constraints and moves the start to satisfy them (robot/mjcf_equality.c).
 * carrier (links of the robot). */
void mjcf_read_equality(MjcfModel* model, Scene* scene, const int* carrier);
/* Returns the coefficient of restitution of a solref, that of a linear spring and damper without gravity which bodies
 * leave when its force is zero, as export has it: exp(-z f / s) with the damping ratio z, s = sqrt(1 - z^2),
 * f = atan2(2 z s, 2 z^2 - 1). 0 for z >= 1, where gravity keeps bodies in MuJoCo's contact,
 * unless small_restitution is set. solref: time constant [s]
 * and z, or -stiffness [1/s^2] and -damping [1/s]. */
double mjcf_restitution(const MjcfModel* model, const double solref[2]);
/* Sets the friction of links and pairs of the scene (robot/mjcf_friction.c). Call after the scene is created. carrier
 * (links of the robot). */
void mjcf_take_frictions(MjcfModel* model, Scene* scene, const int* carrier);
/* Adds the armature of free joints to masses and inertias of their bodies, before the scene is made
 * (robot/mjcf_armature.c). */
void mjcf_add_armatures(MjcfModel* model);
/* Adds the loads that remove the weight of these armatures, and reports them. carrier (links of the robot): as of
 * mjcf_finish. */
void mjcf_balance_armatures(MjcfModel* model, const int* carrier, Scene* scene);
/* Appends a load to those of the scene, which owns it then. */
void mjcf_add_load(Scene* scene, const SceneLoad* load);
/* Returns a constant signal of three channels, owned by the caller. */
SceneSignal mjcf_constant_vector(Vec3 v);

/* Completes the scene after its creation: actuators, excluded pairs, options, friction. carrier: scene link of each
 * robot link, -1 for the world (links of the robot). */
void mjcf_finish(MjcfModel* model, const int* carrier, Scene* scene);

#endif
