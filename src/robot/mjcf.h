/* mjcf: a MuJoCo model as read from its file. It becomes links and joints of urdf.h, from which the scene is made as
 * for a URDF file. Private to robot/. An MjcfModel owns its documents, arrays and the texts that it makes; mjcf_free
 * accepts a partly read one. */
#ifndef SDRS_ROBOT_MJCF_H
#define SDRS_ROBOT_MJCF_H

#include "robot/urdf.h"

/* Settings of <compiler> and of <option>. */
typedef struct {
  bool degrees;     /* angles of the file; the default of MuJoCo */
  bool auto_limits; /* a range alone limits a joint; otherwise `limited` must be set */
  int from_geoms;   /* masses of geoms: 1 always, 0 never, -1 where a body has no <inertial> */
  char euler[4];    /* xyz: about rotated axes; XYZ: about fixed ones */
  const char* mesh_folder;
  const char* folder; /* folder of the model's file relative to that of the first one: "", or with a slash at its end */
  bool strips_paths;  /* only the part of a file name behind its last slash counts */
  bool exact_meshes;  /* meshes have the mass of the volume they enclose */
  double total_mass;  /* of all bodies, to which masses and inertias are scaled [kg]; 0: as they are */
  double timestep;    /* s */
  Vec3 gravity;
} MjcfCompiler;

/* An attached model and the compiler settings with which its elements are read. */
typedef struct {
  const char* file; /* the very text of its places */
  MjcfCompiler compiler;
} MjcfOwnCompiler;

/* Masks of a geom. Two may touch if (contype_a & conaffinity_b) || (contype_b & conaffinity_a). */
typedef struct {
  int link; /* of the robot */
  unsigned type, affinity;
} MjcfMask;

/* Sliding friction of a geom; of two geoms the one of higher priority decides, of equal ones the larger friction. */
typedef struct {
  int link; /* of the robot */
  double value;
  int priority;
} MjcfFriction;

/* A joint in the order of qpos. */
typedef struct {
  int joint;        /* of the robot */
  const char* name; /* "" where it has none */
  double reference; /* MuJoCo's coordinate where ours is 0 [m or rad] */
  Quat start;       /* of one that is relative */
  bool relative;    /* for a free joint made of three slides and a ball: relative to the body's position */
} MjcfCoordinate;

/* A marked frame of a body. */
typedef struct {
  int link;      /* of the robot */
  UrdfPose pose; /* in the body's frame */
} MjcfSite;

/* A cylinder or a sphere with a name, which tendons may go round. */
typedef struct {
  int link;      /* of the robot */
  UrdfPose pose; /* in the link's frame */
  bool sphere;   /* else a cylinder about z */
  double radius; /* m */
} MjcfRound;

/* A mesh and its moment at unit density, which geoms share. */
typedef struct {
  const XmlElement* mesh;
  MassMoment moment;
} MjcfWeighedMesh;

/* The joint of a cable's segment resists bending and twisting: torque on the segment about the axes of the one before
 * it = -stiffness (w - rest), w: the segment's rotation vector in the frame of the one before it. */
typedef struct {
  SourcePlace place;
  int link, before; /* of the robot: the segment, the one before it */
  Vec3 stiffness;   /* N m/rad */
  Vec3 rest;        /* rad */
} MjcfElasticity;

typedef struct {
  XmlDocument* documents; /* the file, then those that it includes (document_count) */
  int document_count;
  char** texts; /* that were made: names, paths (text_count) */
  int text_count, text_capacity;
  const XmlElement* root;
  Diagnostics* diagnostics;
  RobotReport* report;
  const RobotOptions* options;
  const char* path;
  MjcfCompiler compiler;      /* of the first file */
  MjcfOwnCompiler* compilers; /* of files of attached models */
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
  UrdfPose* placed; /* links of the robot in the scene's links that carry them, in the world where none does  (links) */
  Names paired;     /* geoms that a <pair> names -> index in paired_link */
  int* paired_link; /* of the robot; -1 = not found so far */
  int paired_count, paired_capacity;
  Names site_names; /* names -> index in sites */
  MjcfSite* sites;
  int site_count, site_capacity;
  Names round_names; /* geoms that tendons may go round -> index in rounds */
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
  unsigned disabled_groups; /* of actuators, a bit each */
  Text dropped;             /* names of elements and attributes that a scene has no word for, with commas */
  Names dropped_names;
  const XmlElement* key; /* of keyframe that the model starts in; NULL = none */
  RobotStart* starts;    /* initial coordinates of its joints (start_count) */
  int start_count;
} MjcfModel;

/* ---------------------------------------------------------------- elements (robot/mjcf_file.c) */

/* Reports an error at a place, printf style; beyond a limit errors are only counted. */
void mjcf_error(MjcfModel* model, SourcePlace place, const char* format, ...) __attribute__((format(printf, 3, 4)));
/* A text that lives as long as the model. Takes the text over and leaves it empty. */
const char* mjcf_keep(MjcfModel* model, Text* text);
/* Reports once that elements of this name are left out; the name is copied. */
void mjcf_drop(MjcfModel* model, const char* what);
/* Reports elements and attributes, of an element and its descendants, that are neither read nor without effect on
 * motion (robot/mjcf_told.c). */
void mjcf_report(MjcfModel* model, const XmlElement* element);
/* Returns the end of a message about a missing body: that bodies of a <composite> or <flexcomp> are left out; "" if the
 * file has none. Static. */
const char* mjcf_why_missing(const MjcfModel* model);
/* Read the file's elements and those that it includes, its compiler, defaults and assets. False after an error. model:
 * path, options, report and diagnostics are set, the rest is zero; mjcf_free in any case. text: (length). */
bool mjcf_open(MjcfModel* model, const char* text, size_t length);
/* Frees what the model owns; accepts a partly read one. */
void mjcf_free(MjcfModel* model);
/* Returns the compiler settings of the file that a place is in. Borrowed from the model, until the next attached file.
 */
const MjcfCompiler* mjcf_compiler(const MjcfModel* model, SourcePlace place);
/* Reads another model's file, relative to `base`, with the files it includes, and returns its root; folder: as
 * MjcfCompiler's. NULL after an error. The model owns the document, the report its path. */
XmlElement* mjcf_read_model(MjcfModel* model, const XmlAttribute* file, const char* base, const char* folder,
                            SourcePlace from);
/* A <default> and those in it, by their classes. The element is borrowed. */
void mjcf_add_default(MjcfModel* model, const XmlElement* element);

/* ---------------------------------------------------------------- meta-elements (robot/mjcf_expand.c) */

/* Replaces <replicate> by frames with copies, <attach> by a frame with the other model's elements, and copies the
 * elements that refer to them. Returns false after an error. Changes the documents' trees. */
bool mjcf_expand(MjcfModel* model);
/* The bodies of a <composite> of type cable as children of a container; their excluded pairs go to the root, in a
 * <contact> of their own. Other types are reported and become an empty frame. NULL after an error
 * (robot/mjcf_composite.c). */
XmlElement* mjcf_composite(MjcfModel* model, XmlElement* root, const XmlElement* element);
#define MJCF_CABLE_PLUGIN "mujoco.elasticity.cable"
/* The element in a cable's segment that holds the elasticity of its joint: stiffness [N m/rad] and rest [rad], three
 * numbers each. No file can have an element of this name. */
#define MJCF_ELASTICITY "cable elasticity"
/* After the scene is made: elasticities of cables as bushings. carrier (links of the robot) as of mjcf_finish. */
void mjcf_add_elasticities(MjcfModel* model, Scene* scene, const int* carrier);

/* An element with the class that its body gives to elements without one. */
typedef struct {
  const XmlElement* element;
  const char* class_name; /* "" = main */
} MjcfElement;

/* The element's own attribute, else that of its class, else of the classes around it; borrowed. NULL when none of
 * them has it. */
const XmlAttribute* mjcf_attribute(const MjcfModel* model, MjcfElement element, const char* name);
/* Up to `most` numbers of an attribute, those that are not there left as they are; how many there were. Reported where
 * it is not `least` to `most` numbers. values: (most). 0 after an error too, then none is changed. */
/* Returns whether the text from p to end is a decimal number behind blanks: strtod takes hexadecimal ones, too. */
bool mjcf_is_decimal(const char* p, const char* end);
int mjcf_numbers(MjcfModel* model, MjcfElement element, const char* name, int least, int most, double* values);
/* The attribute `vertex`, which the element has: three numbers a point, times the scale. count: how many. The answer is
 * the caller's; NULL after an error (robot/mjcf_geom.c). */
Vec3* mjcf_vertices(MjcfModel* model, const XmlElement* element, Vec3 scale, int* count);
/* One number; fallback where it is absent, or after an error. */
double mjcf_number(MjcfModel* model, MjcfElement element, const char* name, double fallback);
/* The attribute's text, borrowed; "" when absent. */
const char* mjcf_text(const MjcfModel* model, MjcfElement element, const char* name);
/* true, false, or another word or none: 1, 0, -1. */
int mjcf_flag(const MjcfModel* model, MjcfElement element, const char* name);
/* Returns the pose of the element in its parent's frame [m]: pos and a rotation, or the middle of fromto with z from
 * its end to its start. Identity by default; errors are reported. */
UrdfPose mjcf_pose(MjcfModel* model, MjcfElement element);
/* Returns the rotation of three Euler angles in the unit and sequence of the file that a place is in. angles: (3). */
Quat mjcf_euler(const MjcfModel* model, SourcePlace place, const double* angles);
/* Converts an angle of the file that a place is in to radians. */
double mjcf_angle(const MjcfModel* model, SourcePlace place, double value);
/* The asset of that name, borrowed; names: model->meshes, materials or height_fields. NULL when there is none. */
const XmlElement* mjcf_asset(const MjcfModel* model, const Names* names, const char* name);

/* ---------------------------------------------------------------- shapes (robot/mjcf_geom.c) */

/* Reads a geom of the robot's link whose frame is `frame`: its shape, mask, colour, and mass, which is added to
 * `moment` unless that is NULL. frame: in the link's frame. After an error, which is reported, the geom is left out. */
void mjcf_read_geom(MjcfModel* model, MjcfElement element, int link, UrdfPose frame, MassMoment* moment);

/* Moment of a mesh at unit density by the rule of its `inertia`, in the geom's frame [m^3, m^4, m^5], of a shell
 * [m^2, m^3, m^4]; zero where there is none (robot/mjcf_mesh.c). An error is reported. shape: of the mesh, with its
 * file or points. */
MassMoment mjcf_mesh_moment(MjcfModel* model, const XmlElement* mesh, const UrdfShape* shape, const char* name);

/* ---------------------------------------------------------------- bodies (robot/mjcf_body.c) */

/* Reads worldbody into links and joints of model->robot. Returns false after errors, each reported with its place. */
bool mjcf_read_bodies(MjcfModel* model);

/* ---------------------------------------------------------------- other sections (robot/mjcf_scene.c) */

/* Before the bodies are read: the names of geoms in <pair>s (robot/mjcf_contact.c). */
void mjcf_find_pairs(MjcfModel* model);
/* After the scene is made: pairs of links that touch, or do not. carrier (links of the robot) as of mjcf_finish, here
 * and below. */
void mjcf_read_contact(MjcfModel* model, Scene* scene, const int* carrier);
/* All numbers of an attribute of the key (count), owned by the caller; NULL when it has none or after an error. Freed
 * by memory_free; *count is then 0. */
double* mjcf_key_numbers(MjcfModel* model, const char* name, int* count);
/* After the scene is made: controllers and loads, from <actuator> and springs of tendons (robot/mjcf_actuator.c).
 * carrier (links of the robot). */
void mjcf_add_actuators(MjcfModel* model, Scene* scene, const int* carrier);
/* A site, seen from the scene's link that carries its body (or from the world) [m]; model->placed must be there. */
UrdfPose mjcf_site_place(const MjcfModel* model, const MjcfSite* site);

/* Call before the scene is made: sets model->starts, and the positions of free bodies, from the keyframe. */
void mjcf_take_key(MjcfModel* model);
/* Call after the scene is made: reads equality constraints and moves the start to satisfy them (robot/mjcf_equality.c).
 * carrier (links of the robot). */
void mjcf_read_equality(MjcfModel* model, Scene* scene, const int* carrier);
/* After: frictions of links and pairs (robot/mjcf_friction.c). carrier (links of the robot). */
void mjcf_take_frictions(MjcfModel* model, Scene* scene, const int* carrier);
/* After: actuators, pairs that do not touch, option, friction. carrier: link of the scene of each link of the robot,
 * -1 for the world (links of the robot). */
void mjcf_finish(MjcfModel* model, const int* carrier, Scene* scene);

#endif
