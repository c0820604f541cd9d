/* mjcf: a MuJoCo model read from an MJCF file. Private to robot/. Bodies and joints become links and joints of urdf.h,
 * so that URDF and MJCF files become scenes in the same way. An MjcfModel owns its documents, its arrays and the texts
 * that the reader creates. mjcf_free accepts a partly read model. */
#ifndef SDRS_ROBOT_MJCF_H
#define SDRS_ROBOT_MJCF_H

#include "robot/urdf.h"

/* Settings of the elements <compiler> and <option> of a MuJoCo file. */
typedef struct {
  bool degrees;     /* angles are in degrees, MuJoCo's default; otherwise in radians */
  bool auto_limits; /* autolimits: a joint with `range` is limited; otherwise only a joint with `limited` */
  int from_geoms;   /* inertiafromgeom: masses come from geoms always (1), never (0), or for bodies without <inertial>
                       (-1) */
  char euler[4];    /* eulerseq, NUL-terminated: xyz rotates about moving axes, XYZ about fixed axes */
  const char* mesh_folder;
  const char* folder;     /* folder of the model's file relative to that of the first file: "" or ending with a slash */
  bool strips_paths;      /* strippath: directories in file names are ignored */
  bool exact_meshes;      /* exactmeshinertia: the enclosed volume of a mesh gives its mass */
  double total_mass;      /* settotalmass: masses and inertias are scaled to this total mass [kg]; 0: no scaling */
  double mass_minimum;    /* boundmass: lower bound of the mass of a body [kg] */
  double inertia_minimum; /* boundinertia: lower bound of a body's principal moments of inertia [kg m^2] */
  bool balances_inertia;  /* balanceinertia: principal moments A, B, C with A + B < C are replaced by their mean */
  double group_minimum, group_maximum; /* inertiagrouprange: geoms of groups outside this range have no mass */
  double timestep;                     /* time step [s] */
  Vec3 gravity;
} MjcfCompiler;

/* Compiler settings of a file of an attached model, for the elements of this file. */
typedef struct {
  const char* file;       /* name of the file; SourcePosition.file of its elements is this pointer */
  const XmlElement* root; /* root element of the attached model */
  MjcfCompiler compiler;
} MjcfFileCompiler;

/* A keyframe of an attached model, with coordinates, velocities and controls of its elements only. */
typedef struct {
  const char* name; /* name with the prefix of the attached model */
  const XmlElement* key;
} MjcfAttachedKey;

/* Collision masks of a geom (contype and conaffinity). Two geoms can collide if the type of one and the affinity of the
 * other have a common bit. */
typedef struct {
  int link; /* robot link of the geom, index in MjcfModel.robot.links */
  unsigned type, affinity;
} MjcfMask;

/* Sliding friction and solref of a geom. Of two geoms in contact, the geom of higher priority determines both values.
 * With equal priorities the larger friction applies, and solref is mixed. */
typedef struct {
  int link; /* robot link of the geom, index in MjcfModel.robot.links */
  double value;
  int priority;
  double solref[2]; /* solref[0] > 0: 1 and the damping ratio, as the time constant is ignored; otherwise -stiffness
                       [1/s^2] and -damping [1/s] */
  double mix;       /* solmix: weight of this geom's solref in the mean of the solref of two geoms in contact */
  bool is_ground;   /* true for a plane or height field, whose values apply to its whole link */
} MjcfFriction;

/* A joint of the file. MjcfModel.coordinates contains the joints in the order of qpos, MuJoCo's vector of joint
 * coordinates. */
typedef struct {
  int joint;        /* index in MjcfModel.robot.joints */
  const char* name; /* name of the joint in the file; "" for a joint without name */
  double reference; /* value of MuJoCo's coordinate where the scene's coordinate is 0 [m or rad] */
  Quat start;       /* initial rotation of the body, only used for a free joint (`relative`) */
  bool relative;    /* true for a free joint made of three slides and a ball; its coordinates are relative to the body's
                       position */
} MjcfCoordinate;

/* A <site>: a named frame of a body. */
typedef struct {
  int link;      /* robot link of the body, index in MjcfModel.robot.links */
  UrdfPose pose; /* pose of the site in the body's frame [m] */
} MjcfSite;

/* A named cylinder or sphere around which tendons may wrap. */
typedef struct {
  int link;      /* robot link of the geom, index in MjcfModel.robot.links */
  UrdfPose pose; /* pose of the solid in the link's frame [m] */
  bool sphere;   /* true: sphere; false: cylinder about the z axis of `pose` */
  double radius; /* radius of the cylinder or sphere [m] */
} MjcfWrapGeom;

/* A mesh and its mass moment at unit density, computed once for all geoms with the mesh. */
typedef struct {
  const XmlElement* mesh;
  MassMoment moment;
} MjcfMeshMoment;

/* Elasticity of the joint between two segments of a cable. The torque on a segment is -stiffness * (w - rest) in the
 * axes of the previous segment. w: rotation vector of the segment relative to the previous one [rad]. */
typedef struct {
  SourcePosition place;
  int link, before; /* links of the robot: segment and previous segment */
  Vec3 stiffness;   /* torsional and bending stiffness, one value per axis of the previous segment [N m/rad] */
  Vec3 rest;        /* rotation vector `w` without torque [rad] */
} MjcfElasticity;

/* Number of actuator groups, 0 to 30, that an <option> can disable. */
enum { MJCF_ACTUATOR_GROUPS = 31 };

typedef struct {
  XmlDocument* documents; /* the model file, then all included and attached files (size: document_count) */
  int document_count;
  char** texts; /* texts created by the reader: names, paths (size: text_count) */
  int text_count, text_capacity;
  const XmlElement* root;
  Diagnostics* diagnostics;
  RobotReport* report;
  const RobotOptions* options;
  const char* path;
  MjcfCompiler compiler;       /* settings of the first file */
  MjcfFileCompiler* compilers; /* settings of attached models */
  int compiler_count, compiler_capacity;
  Names defaults; /* names of default classes; each gives an index in default_elements */
  const XmlElement** default_elements;
  int default_count, default_capacity;
  Names meshes, materials, height_fields; /* names of assets; each gives an index in `assets` */
  const XmlElement** assets;
  int asset_count, asset_capacity;
  UrdfRobot robot;
  Names bodies;         /* names of bodies; each gives an index in robot.links */
  Names written_bodies; /* names of bodies in the file. Bodies without a name get other names */
  Vec3* anchors;        /* origin of each robot link's frame in its body's frame (size: links) */
  int anchor_capacity;
  UrdfPose* placed; /* pose of each robot link in the frame of its scene link, or in the world for links of the world
 (size: links) */
  Names paired;     /* names of geoms in <pair> elements; each gives an index in paired_link */
  int* paired_link; /* robot link of each geom; -1: geom not read yet */
  int paired_count, paired_capacity;
  Names joint_names; /* names of joints in the file, and names given to joints without name */
  Names site_names;  /* names of sites; each gives an index in `sites` */
  MjcfSite* sites;
  int site_count, site_capacity;
  Names wrap_geom_names; /* names of geoms around which tendons may wrap; each gives an index in wrap_geoms */
  MjcfWrapGeom* wrap_geoms;
  int wrap_geom_count, wrap_geom_capacity;
  MjcfMeshMoment* mesh_moments;
  int mesh_moment_count, mesh_moment_capacity;
  MjcfMask* masks;
  int mask_count, mask_capacity;
  MjcfCoordinate* coordinates;
  int coordinate_count, coordinate_capacity;
  MjcfFriction* frictions;
  int friction_count, friction_capacity;
  MjcfElasticity* elasticities; /* elasticities of the joints between cable segments */
  int elasticity_count, elasticity_capacity;
  bool small_restitution;   /* true if damping ratios from 1 to 5 mean restitutions below exp(-2), as in files of `sdrs
                               export` */
  bool no_contact;          /* <flag contact="disable">: no body collides */
  int integrator;           /* 1 + Integrator in a file of `sdrs export`; 0: not given */
  unsigned disabled_groups; /* bit g is set if actuator group g is disabled */
  Text dropped_list;        /* names of elements and attributes that are not imported, separated by commas */
  Text lost_list;           /* names of forces and constraints that are not imported, separated by commas */
  Names dropped_names;      /* names in both lists, and places of unknown names that are reported */
  MjcfAttachedKey* attached_keys;
  int attached_key_count, attached_key_capacity;
  const XmlElement* key; /* keyframe of the initial state; NULL: none */
  RobotStart* starts;    /* initial coordinates of joints (size: start_count) */
  int start_count;
} MjcfModel;

/* ---------------------------------------------------------------- elements (robot/mjcf_file.c) */

/* Reports an error at `place`, in printf style. After a fixed number of diagnostics, errors are only counted. */
void mjcf_error(MjcfModel* model, SourcePosition place, const char* format, ...) __attribute__((format(printf, 3, 4)));
/* Moves `text` into the model, which owns the returned characters. Leaves `text` empty. */
const char* mjcf_own_text(MjcfModel* model, Text* text);
/* Adds the name of an element or attribute that is not imported to the report. The report lists each name once. Copies
 * the name. */
void mjcf_report_dropped(MjcfModel* model, const char* name);
/* Adds the name of a force or constraint that is not imported to the warning of lost forces. Each name is listed once.
 * Copies the name. */
void mjcf_report_lost_force(MjcfModel* model, const char* name);
/* Reports elements and attributes that are not imported but affect motion, in `element` and its descendants. Reports an
 * error for each element and attribute that MJCF does not have, with the nearest name. */
void mjcf_report_unsupported(MjcfModel* model, const XmlElement* element);
/* Returns the end of a message about a missing body: bodies of a <composite> or <flexcomp> are not supported. Returns
 * "" if the file has no such element. The text is static. */
const char* mjcf_missing_body_hint(const MjcfModel* model);
/* Reads the file's elements, included files, compiler settings, defaults and assets. text has `length` bytes. The
 * caller sets path, options, report and diagnostics of the model and zeroes all other members. Returns false after an
 * error. The caller frees the model with mjcf_free in any case. */
bool mjcf_open(MjcfModel* model, const char* text, size_t length);
/* Frees the model's documents, arrays and texts. Accepts a partly read model. */
void mjcf_free(MjcfModel* model);
/* Returns the compiler settings of the file that contains `place`, borrowed from the model. The pointer is valid until
 * the next file is attached. */
const MjcfCompiler* mjcf_compiler(const MjcfModel* model, SourcePosition place);
/* Returns true if the initial keyframe sets the state of the element at `place`. A keyframe of an attached model sets
 * the elements of this model only; any other keyframe sets all. model->key must not be NULL. */
bool mjcf_keyframe_applies(const MjcfModel* model, SourcePosition place);
/* Reads the file of an attached model and its included files, and returns the root element. The path is relative to
 * `base`. folder: relative to the folder of the first file, "" or ending with a slash. Returns NULL after an error. The
 * model owns the document, and the report owns the path. */
XmlElement* mjcf_read_model(MjcfModel* model, const XmlAttribute* file, const char* base, const char* folder,
                            SourcePosition from);
/* Registers a <default> element and all nested <default> elements by their class names. Borrows the element. */
void mjcf_add_default(MjcfModel* model, const XmlElement* element);

/* ---------------------------------------------------------------- meta-elements (robot/mjcf_expand.c) */

/* Expands <replicate>, <attach> and <composite> in the documents' trees. <replicate> becomes frames with copies;
 * <attach> becomes a frame with the elements of another model. Elements that refer to copied elements are copied, too.
 * Returns false after an error. */
bool mjcf_expand(MjcfModel* model);
/* Converts a <composite> of type cable to bodies and returns an element with the bodies as children. Adds the excluded
 * pairs of the bodies to the root in a new <contact>. Reports other types and returns an empty frame for them. Returns
 * NULL after an error. The model owns the result. */
XmlElement* mjcf_expand_composite(MjcfModel* model, XmlElement* root, const XmlElement* element);
#define MJCF_CABLE_PLUGIN "mujoco.elasticity.cable"
/* Name of the internal element with the elasticity of a cable joint: stiffness [N m/rad] and rest [rad], three numbers
 * each. With its space it cannot be the name of a file's element. */
#define MJCF_ELASTICITY "cable elasticity"
/* Adds the elasticities of cables to the scene as bushings. Call after the scene is created. carrier[links of the
 * robot]: scene link of each robot link, or -1. */
void mjcf_add_elasticities(MjcfModel* model, Scene* scene, const int* carrier);

/* An element and its default class, which applies if the element names no class. */
typedef struct {
  const XmlElement* element;
  const char* class_name; /* name of the default class; "" for the class `main` */
} MjcfElement;

/* Returns an attribute of the element, else of its class or of an enclosing class. Returns NULL if none has it. The
 * pointer is borrowed. */
const XmlAttribute* mjcf_attribute(const MjcfModel* model, MjcfElement element, const char* name);
/* Returns true if the text from p to end is a decimal number, with optional leading blanks. Rejects hexadecimal
 * numbers, which strtod accepts. */
bool mjcf_is_decimal(const char* p, const char* end);
/* Reads an attribute into values[maximum] and returns its count of numbers. Returns 0 if the attribute is absent. Fewer
 * than `minimum` or more than `maximum` numbers are an error: reports it, returns 0 and changes no value. */
int mjcf_numbers(MjcfModel* model, MjcfElement element, const char* name, int minimum, int maximum, double* values);
/* Returns the points of the attribute `vertex`, which must exist, multiplied by `scale`. Sets *count to their number.
 * Returns NULL after an error. The caller frees the array with memory_free. */
Vec3* mjcf_read_vertices(MjcfModel* model, const XmlElement* element, Vec3 scale, int* count);
/* Returns the number of an attribute, or `fallback` if it is absent or invalid. Reports an invalid attribute. */
double mjcf_number(MjcfModel* model, MjcfElement element, const char* name, double fallback);
/* Returns the text of an attribute, borrowed, or "" if it is absent. */
const char* mjcf_text(const MjcfModel* model, MjcfElement element, const char* name);
/* Returns 1 if the attribute is "true", 0 if it is "false", and -1 otherwise. */
int mjcf_flag(const MjcfModel* model, MjcfElement element, const char* name);
/* Returns the pose of an element in its parent's frame [m]: `pos` and a rotation, or the midpoint of `fromto` with z
 * from its end to its start. Without these attributes the pose is the identity. Reports errors. */
UrdfPose mjcf_pose(MjcfModel* model, MjcfElement element);
/* Returns the rotation of angles[3], Euler angles. The compiler settings at `place` give the unit and the sequence of
 * axes. */
Quat mjcf_euler(const MjcfModel* model, SourcePosition place, const double* angles);
/* Returns an angle in radians. value: the angle in the unit of the file that contains `place`. */
double mjcf_angle(const MjcfModel* model, SourcePosition place, double value);
/* Returns the asset `name`, borrowed, or NULL if there is none. names: model->meshes, materials or height_fields. */
const XmlElement* mjcf_asset(const MjcfModel* model, const Names* names, const char* name);

/* ---------------------------------------------------------------- shapes (robot/mjcf_geom.c) */

/* Adds a geom to a link of the robot: shape, collision masks, colour and mass. moment: receives the mass, or NULL.
 * frame: pose of the geom's parent frame in the link's frame. Reports errors and then omits the geom. */
void mjcf_read_geom(MjcfModel* model, MjcfElement element, int link, UrdfPose frame, MassMoment* moment);

/* Returns the mass moment of a mesh at unit density in the geom's frame [m^3, m^4, m^5], for a shell [m^2, m^3, m^4].
 * The attribute `inertia` of the mesh selects the rule. shape: file or points of the mesh. name: name of the mesh for
 * messages. Reports errors and then returns zero. */
MassMoment mjcf_mesh_moment(MjcfModel* model, const XmlElement* mesh, const UrdfShape* shape, const char* name);

/* Returns the name of the plugin of a mesh or geom, which names it directly or by an <instance> in <extension>. Sets
 * *settings to the element with the plugin's <config> elements. Returns NULL, with *settings NULL, if there is no
 * plugin. */
const char* mjcf_find_plugin(const MjcfModel* model, const XmlElement* element, const XmlElement** settings);
/* Returns true if the <plugin> element names mujoco.sdf.torus. */
bool mjcf_is_torus(const XmlElement* plugin);
/* Returns true if a mesh is a torus about z, of the plugin mujoco.sdf.torus without scale. Sets radii to the major and
 * minor radius [m]. Reports invalid radii. */
bool mjcf_read_torus(MjcfModel* model, const XmlElement* mesh, double radii[2]);
typedef enum { MESH_NOT_BUILTIN, MESH_INVALID, MESH_BUILT } MjcfMeshResult;
/* Builds the surface of a `builtin` supersphere or supertorus, or of a torus of the plugin mujoco.sdf.torus. Vertex 0
 * of *solid is unused. Returns MESH_NOT_BUILTIN for other meshes, MESH_INVALID after an error, which is reported, and
 * MESH_BUILT otherwise. The caller frees *solid with hull_free. */
MjcfMeshResult mjcf_build_mesh(MjcfModel* model, const XmlElement* mesh, Vec3 scale, ConvexHull* solid);
/* Returns the points of an OBJ file without faces, multiplied by `scale`. The mesh is their convex hull. Sets *count to
 * their number. Returns NULL for any other file. The caller frees the array with memory_free. */
Vec3* mjcf_read_obj_points(const char* path, Vec3 scale, int* count);

/* Sets mass, centre of mass and inertia of a body's link from `inertial` or, if that is NULL, from the mass moment of
 * its geoms. moment: mass moment of the geoms, or NULL. frame: pose of the body in the link's frame. Applies boundmass,
 * boundinertia and balanceinertia. */
void mjcf_set_body_mass(MjcfModel* model, const XmlElement* body, const XmlElement* inertial, const MassMoment* moment,
                        UrdfPose frame, UrdfLink* link);

/* ---------------------------------------------------------------- bodies (robot/mjcf_body.c) */

/* Converts <worldbody> to links and joints of model->robot. Returns false after errors, which are reported with their
 * places. */
bool mjcf_read_bodies(MjcfModel* model);

/* ---------------------------------------------------------------- other sections (robot/mjcf_scene.c) */

/* Collects the names of geoms that <pair> elements use. Call before mjcf_read_bodies. */
void mjcf_find_pairs(MjcfModel* model);
/* Adds the contact filters of the file to the scene: pairs of links that can collide and pairs that cannot. Call after
 * the scene is created. carrier[links of the robot]: scene link of each robot link, or -1. */
void mjcf_read_contact(MjcfModel* model, Scene* scene, const int* carrier);
/* Returns all numbers of an attribute of the keyframe and sets *count. Returns NULL and sets *count to 0 if the
 * attribute is absent or invalid. The caller frees the array with memory_free. */
double* mjcf_key_numbers(MjcfModel* model, const char* name, int* count);
/* Adds the actuators, and the springs, limits and friction of tendons, to the scene. Call after the scene is created.
 * carrier[links of the robot]: scene link of each robot link, or -1. */
void mjcf_add_actuators(MjcfModel* model, Scene* scene, const int* carrier);
/* Returns the pose of a site in the frame of the scene link that contains its body [m], or in the world if there is no
 * such link. model->placed must be set. */
UrdfPose mjcf_site_pose(const MjcfModel* model, const MjcfSite* site);

/* Reports names that no element has (robot/mjcf_reference.c). These are names of joints, tendons and sites in
 * actuators, fixed tendons and equality constraints, and names of default classes. Call after mjcf_read_bodies. */
void mjcf_check_references(MjcfModel* model);
/* Sets model->starts and the initial state of joints from the keyframe. Call before the scene is created. */
void mjcf_read_keyframe(MjcfModel* model);
/* Adds the equality constraints to the scene, and changes the initial state so that all constraints hold. Call after
 * the scene is created. carrier[links of the robot]: scene link of each robot link, or -1. */
void mjcf_read_equality(MjcfModel* model, Scene* scene, const int* carrier);
/* Returns the coefficient of restitution of solref: time constant [s] and damping ratio z, or -stiffness [1/s^2] and
 * -damping [1/s]. MuJoCo's contact is a linear spring and damper, which a body leaves at zero force. With s = sqrt(1 -
 * z^2) and f = atan2(2 z s, 2 z^2 - 1) the restitution is exp(-z f / s). Returns 0 for z >= 1, unless small_restitution
 * is set. */
double mjcf_restitution(const MjcfModel* model, const double solref[2]);
/* Sets friction and restitution of links and pairs of the scene. Call after the scene is created. carrier[links of the
 * robot]: scene link of each robot link, or -1. */
void mjcf_read_frictions(MjcfModel* model, Scene* scene, const int* carrier);
/* Adds the armature of free joints to the masses and inertias of the bodies. Call before the scene is created. */
void mjcf_add_armatures(MjcfModel* model);
/* Adds loads that cancel the weight of the masses from mjcf_add_armatures, and reports them. carrier[links of the
 * robot]: scene link of each robot link, or -1. */
void mjcf_cancel_armature_weights(MjcfModel* model, const int* carrier, Scene* scene);
/* Appends a copy of *load to the loads of the scene, which then owns the arrays of the load. */
void mjcf_add_load(Scene* scene, const SceneLoad* load);
/* Returns a constant signal with the components of v. The caller owns the signal. */
SceneSignal mjcf_constant_vector(Vec3 v);

/* Completes the scene after its creation: adds actuators, contact filters, options and friction. carrier[links of the
 * robot]: scene link of each robot link, or -1 for the world. */
void mjcf_complete_scene(MjcfModel* model, const int* carrier, Scene* scene);

#endif
