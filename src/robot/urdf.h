/* urdf: a robot as read from its URDF file, with the place of every element for messages. Private to robot/. A
 * UrdfRobot owns its arrays and borrows all texts from the XmlDocument, which must outlive it. urdf_free accepts a
 * partly read robot. SI units. As in URDF, the pose of a frame is relative to the parent frame. */
#ifndef SDRS_ROBOT_URDF_H
#define SDRS_ROBOT_URDF_H

#include "robot/robot.h"
#include "robot/xml.h"

typedef enum {
  URDF_FIXED,
  URDF_REVOLUTE,
  URDF_CONTINUOUS,
  URDF_PRISMATIC,
  URDF_FLOATING,
  URDF_PLANAR,
  URDF_BALL, /* extension: 'ball' of MuJoCo, 'spherical' of Bullet */
} UrdfJointType;
#define URDF_JOINT_TYPES "fixed|revolute|continuous|prismatic|floating|planar|spherical"

/* A limit of at least this size means no limit. export writes it for a side without a limit. */
#define URDF_OPEN 1e10

typedef struct {
  Vec3 position;
  Quat rotation;
} UrdfPose;

/* Kinds of geometry. URDF_HALF_SPACE: plane with outward normal z, in files for MuJoCo and Bullet. URDF_POINTS: convex
 * hull of points, and URDF_HEIGHT_FIELD: terrain from an image, both in MJCF only. */
typedef enum {
  URDF_BOX,
  URDF_CYLINDER,
  URDF_SPHERE,
  URDF_CAPSULE,
  URDF_MESH,
  URDF_HALF_SPACE,
  URDF_POINTS,
  URDF_HEIGHT_FIELD,
} UrdfGeometry;

typedef struct {
  SourcePlace place; /* position of the geometry's element */
  UrdfGeometry kind;
  UrdfPose origin;
  Vec3 size;             /* box, height field [m] */
  double level, base;    /* height field: height of its zero level, thickness below the lowest point [m] */
  double radius, length; /* m */
  const char* file;      /* mesh, as written */
  SourcePlace file_place;
  Vec3 scale;
  bool concave; /* mesh: decomposed into convex hulls regardless of RobotOptions.decompose */
  Vec3* points; /* owned (point_count) */
  int point_count;
} UrdfShape;

typedef struct {
  UrdfShape* items;
  int count, capacity;
} UrdfShapes;

typedef struct {
  const char* name;
  SourcePlace place;
  SourcePlace inertial_place;
  double mass;  /* kg, >= 0 */
  Vec3 center;  /* m */
  Mat3 inertia; /* about the centre, in the link's axes [kg m^2] */
  UrdfShapes visual, collision;
  double color[3]; /* sRGB of the first visual with one; negative = none */
  int joint;       /* joint whose child this link is, or -1 */
  double gravity_compensation;
  const char* left_out; /* reason why shapes of the link are missing, for messages about the mass of the link; NULL:
                           none are missing */
  SourcePlace left_out_place;
} UrdfLink;

typedef struct {
  const char* name;
  SourcePlace place;
  UrdfJointType type;
  int parent, child; /* links, or -1 after an error */
  SourcePlace parent_place, child_place;
  const char *parent_name, *child_name;
  UrdfPose origin;
  Vec3 axis;           /* unit */
  double lower, upper; /* -INFINITY, INFINITY when open */
  double damping, friction;
  double stiffness, rest, armature; /* of MuJoCo alone */
  double start[4];                  /* BALL: w x y z */
  double velocity[6];               /* velocities of its degrees of freedom, as in initial velocities of a scene */
  double effort;                    /* largest force or torque of a drive [N, N m]; 0: no limit */
  double speed;                     /* largest speed [m/s, rad/s]; 0: no limit */
  bool has_safety;                  /* unsupported elements */
  const char* mimic; /* name of the joint that this joint follows: q = ratio * (coordinate of that joint) + offset;
                        NULL: none */
  SourcePlace mimic_place;
  double ratio, offset;
} UrdfJoint;

typedef struct {
  const char* name; /* "" when not given */
  UrdfLink* links;
  int link_count, link_capacity;
  UrdfJoint* joints;
  int joint_count, joint_capacity;
  int* order;      /* links, each after its parent, in the order of the file  (link_count) */
  int root;        /* link, or -1 after an error */
  Text ignored;    /* names of omitted elements, separated by commas */
  Text remarks;    /* values that were replaced, one line each */
  bool has_drives; /* true if the file defines drives (MJCF), which are added after the links */
} UrdfRobot;

/* Sets *robot to the links and joints below root, the root element of a document that must outlive the robot. Reports
 * every problem. Returns false if there is an error. The caller frees the robot with urdf_free in any case. */
bool urdf_read(UrdfRobot* robot, const XmlElement* root, Diagnostics* diagnostics);
/* Resolves the names of links, checks that the joints form a tree, and sets robot->order (robot/urdf_tree.c). Call
 * after urdf_read. lenient: joints whose links are undefined are left out and reported, instead of an error. Returns
 * false if there is an error. */
bool urdf_connect(UrdfRobot* robot, bool lenient, Diagnostics* diagnostics);
/* Frees the arrays, not the texts, and zeroes the robot. Accepts a partly read robot. */
void urdf_free(UrdfRobot* robot);

/* ---------------------------------------------------------------- construction of the scene (robot/urdf_scene.c) */

/* Mass of the elements merged into one link, in that link's frame. */
typedef struct {
  double mass; /* kg; 0 = none so far */
  Vec3 center;
  Mat3 inertia;         /* about the centre [kg m^2] */
  const UrdfLink* from; /* first of the merged links */
} UrdfBody;

typedef struct {
  const UrdfRobot* robot;
  const RobotOptions* options;
  Scene* scene;
  RobotReport* report;
  Diagnostics* diagnostics;
  Scene defaults;   /* its shapes: one for each UrdfGeometry, with the scene's default values */
  int* carrier;     /* link of the scene that a link of the robot is part of, -1 = the world   (robot's links) */
  UrdfPose* pose;   /* pose of each link's frame in the frame of its carrier  (robot's links) */
  int* children;    /* number of child joints                                              (robot's links) */
  int* child_joint; /* one of the child joints  (robot's links) */
  bool* hollow;     /* true if neither the link nor one below it has a mass or a shape (links of the robot; of MuJoCo's
                       false) */
  bool* deferred; /* true for a link without mass and shape between two joints that are merged into one  (robot's links)
                   */
  int *shape_first, *shape_number; /* index of the first of the link's shapes among the carrier's shapes, and number of
                                      the link's shapes (robot's links) */
  UrdfBody* body;  /*                                                                         (scene's links) */
  bool* moves;     /*                                                                         (scene's links) */
  int* shape_room; /* capacity for shapes of a link (scene's links) */
  int shape_capacity;
  const UrdfShape** mesh_sources; /* meshes that have become shapes of the scene ...                (mesh_count) */
  int* mesh_shapes;               /* ... and these shapes, which links with the same mesh share     (mesh_count) */
  int mesh_count, mesh_capacity, mesh_shape_capacity;
  Names names; /* names of the scene's links, which own the texts */
} UrdfBuild;

/* Adds the robot to `scene`, which must have the defaults. Sets carrier (links of the robot) to the scene link of each
 * robot link, -1 for the world. Sets placed (links of the robot), unless it is NULL, to the pose of each robot link's
 * frame in the frame of its carrier. Returns false if there is an error. The caller owns the scene and the report's
 * joints, after a failure too. */
bool urdf_scene(const UrdfRobot* robot, const RobotOptions* options, Scene* scene, RobotReport* report, int* carrier,
                UrdfPose* placed, Diagnostics* diagnostics);
/* Returns true if these consecutive joints, connected by links without mass and shape, can become one joint of a scene.
 * chain: (count). */
bool urdf_is_one_joint(const UrdfJoint* const* chain, int count);
/* Sets *scene to the default values of the scene format, without links. Returns STATUS_OK or an error as scene_parse
 * (robot/urdf_import.c). The caller frees the scene with scene_free. */
Status urdf_take_defaults(Scene* scene, const char* path);
/* Sets the scene's name to a copy of `name` if it is a valid name of a scene; otherwise leaves the scene's name
 * unchanged. */
void urdf_take_name(Scene* scene, const char* name);

/* Reports errors of mesh files, for a robot that cannot become a scene for other reasons. */
void urdf_check_files(const UrdfRobot* robot, const RobotOptions* options, Scene* scene, Diagnostics* diagnostics);
/* Fills build->defaults with one shape of each UrdfGeometry; the caller frees them by scene_free. */
void urdf_shape_defaults(UrdfBuild* build);
/* Returns the shapes that a robot link contributes to the scene. Borrowed from the link (robot/urdf_shapes.c). */
const UrdfShapes* urdf_used_shapes(const UrdfBuild* build, const UrdfLink* link);
/* Adds the shapes to link `target` of the scene. pose: of the robot link in the target's frame. Errors of a mesh file
 * are reported, and its shape is left out. */
void urdf_add_shapes(UrdfBuild* build, const UrdfLink* link, int target, UrdfPose pose);

/* Returns the mass moment, in the frame of scene link `target`, of `count` shapes of this link from `first` on, as
 * uniform solids of `density` [kg/m^3]. Zero if the shapes have no volume or cannot be read; the model of the complete
 * scene reports the error (robot/urdf_mass.c). */
MassMoment urdf_shapes_moment(const UrdfBuild* build, int target, int first, int count, double density);

/* Density of links without mass, as in MuJoCo [kg/m^3]. */
#define DEFAULT_DENSITY 1000.0
/* Returns the mass, centre and inertia of a robot link in a frame in which the link has this pose (robot/urdf_mass.c).
 */
UrdfBody urdf_turned_body(const UrdfLink* link, UrdfPose pose);
/* Adds the mass of a robot link to the body of scene link `target`. pose: of the robot link in the target's frame. Adds
 * nothing for a link without mass. */
void urdf_add_mass(UrdfBuild* build, const UrdfLink* link, int target, UrdfPose pose);
/* Weighs the shapes of links without mass in bodies of which other links have a mass: of the links of joints that move,
 * and, if the density is given, of links on fixed joints; otherwise the latter add no mass, which is reported. Bodies
 * without any mass are weighed by weigh_without_mass. */
void urdf_weigh_parts(UrdfBuild* build);

/* Returns true if the pose moves nothing. */
bool urdf_is_identity(const UrdfPose* pose);
/* Returns the product a b of two poses: position a + R_a b [m], rotation a b. */
UrdfPose urdf_pose_mul(UrdfPose a, UrdfPose b);

#endif
