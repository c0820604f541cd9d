/* urdf: a robot read from a URDF file, with the place of every element for messages. Private to robot/. SI units; the
 * pose of a frame is relative to the parent frame. A UrdfRobot owns its arrays. Its texts are borrowed from the
 * XmlDocument, which must outlive the robot. urdf_free accepts a partly read robot. */
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
  URDF_BALL, /* extension: `ball` of MuJoCo, `spherical` of Bullet */
} UrdfJointType;
#define URDF_JOINT_TYPES "fixed|revolute|continuous|prismatic|floating|planar|spherical"

/* A joint limit of at least this magnitude [m or rad] means no limit. The exporter writes this value for a missing
 * limit. */
#define URDF_OPEN 1e10

typedef struct {
  Vec3 position;
  Quat rotation;
} UrdfPose;

/* Kinds of geometry. URDF_HALF_SPACE: half-space with outward normal z, of MuJoCo and Bullet. URDF_POINTS: convex hull
 * of points; URDF_HEIGHT_FIELD: terrain from an image; both only in MJCF. */
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
  SourcePosition place; /* position of the geometry's element */
  UrdfGeometry kind;
  UrdfPose origin;
  Vec3 size;          /* for a box: edge lengths; for a height field: extents along x, y and z [m] */
  double level, base; /* height field: height of its zero level, thickness of the ground below its lowest point [m] */
  /* cylinder, capsule: radius and length of the cylindrical part; sphere: radius [m] */
  double radius, length;
  const char* file; /* path of the mesh file, as written in the robot file */
  SourcePosition file_place;
  Vec3 scale;
  bool concave; /* true: the mesh is decomposed into convex hulls, whatever RobotOptions.decompose is */
  Vec3* points; /* for URDF_POINTS: the points whose convex hull is the shape, owned (size: point_count) */
  int point_count;
} UrdfShape;

typedef struct {
  UrdfShape* items;
  int count, capacity;
} UrdfShapes;

typedef struct {
  const char* name;
  SourcePosition place;
  SourcePosition inertial_place;
  double mass;  /* mass [kg], at least 0 */
  Vec3 center;  /* centre of mass in the link's frame [m] */
  Mat3 inertia; /* inertia about the centre of mass, in the link's axes [kg m^2] */
  UrdfShapes visual, collision;
  double color[3]; /* sRGB colour of the first visual that has a colour; negative: no colour */
  bool has_visual; /* true if the link has a <visual>, read or not */
  int joint;       /* joint whose child this link is, or -1 */
  double gravity_compensation;
  const char*
      left_out; /* reason why shapes of the link are missing, for messages about its mass; NULL: none are missing */
  SourcePosition left_out_place;
} UrdfLink;

typedef struct {
  const char* name;
  SourcePosition place;
  UrdfJointType type;
  int parent, child; /* indices of the parent and the child link, or -1 after an error */
  SourcePosition parent_place, child_place;
  const char *parent_name, *child_name;
  UrdfPose origin;
  Vec3 axis;           /* joint axis, unit vector in the joint frame */
  double lower, upper; /* limits [m or rad]; -INFINITY and INFINITY if there is no limit */
  double damping, friction;
  /* spring stiffness, equilibrium coordinate and rotor inertia of the joint; only in MJCF files */
  double stiffness, rest, armature;
  double start[4];    /* URDF_BALL: initial rotation, quaternion w x y z */
  double velocity[6]; /* initial velocities of the degrees of freedom in their order in a scene [m/s, rad/s] */
  double effort;      /* largest force or torque of a drive [N, N m]; 0: no limit */
  double speed;       /* largest speed [m/s, rad/s]; 0: no limit */
  bool has_safety;    /* true if the joint has the unsupported <safety_controller> or <calibration> */
  const char* mimic;  /* name of the followed joint: q = ratio * (its coordinate) + offset; NULL: none */
  SourcePosition mimic_place;
  double ratio, offset;
} UrdfJoint;

typedef struct {
  const char* name; /* name of the robot; "" if the file gives no name */
  UrdfLink* links;
  int link_count, link_capacity;
  UrdfJoint* joints;
  int joint_count, joint_capacity;
  int* order;      /* indices of the links, each link after its parent (size: link_count) */
  int root;        /* index of the root link of the tree, or -1 after an error */
  Text ignored;    /* names of omitted elements, separated by commas */
  Text remarks;    /* values that were replaced, one line each */
  bool has_drives; /* true if the file defines drives (MJCF only), which are added after the links */
} UrdfRobot;

/* Reads the links and joints of a URDF file into *robot. root: root element of a document that must outlive the robot.
 * visual: false if only the colours of visual shapes are used; their geometry is then neither read nor checked. Reports
 * every error. Returns false if there is an error. The caller frees the robot with urdf_free in any case. */
bool urdf_read(UrdfRobot* robot, const XmlElement* root, bool visual, Diagnostics* diagnostics);
/* Connects links and joints: resolves the names of links, checks that the joints form a tree, and sets robot->order.
 * Call after urdf_read. lenient: true if joints with undefined links are omitted and reported; otherwise they are
 * errors. Returns false if there is an error. */
bool urdf_connect(UrdfRobot* robot, bool lenient, Diagnostics* diagnostics);
/* Frees the arrays of the robot and zeroes it. Accepts a partly read robot. */
void urdf_free(UrdfRobot* robot);

/* Total mass of the robot links merged into one scene link, in the frame of the scene link. */
typedef struct {
  double mass; /* total mass [kg]; 0 before a link with mass is merged */
  Vec3 center;
  Mat3 inertia;         /* inertia about the centre of mass [kg m^2] */
  const UrdfLink* from; /* first robot link that was merged into the scene link */
} UrdfBody;

typedef struct {
  const UrdfRobot* robot;
  const RobotOptions* options;
  Scene* scene;
  RobotReport* report;
  Diagnostics* diagnostics;
  Scene defaults;   /* scene whose shapes hold the default values, one shape for each UrdfGeometry */
  int* carrier;     /* for each robot link, the scene link that contains it; -1: the world (one entry per robot link) */
  UrdfPose* pose;   /* pose of each robot link's frame in the frame of the scene link that contains it (one entry per
                       robot link) */
  int* children;    /* for each robot link, the number of joints whose parent it is (one entry per robot link) */
  int* child_joint; /* for each robot link, one of the joints whose parent it is (one entry per robot link) */
  bool* has_no_content; /* for each robot link, true if neither the link nor a descendant has a mass or a shape; false
                           for MJCF (one entry per robot link) */
  bool* deferred; /* true for a link without mass and shape between two joints that become one joint (one entry per
                     robot link) */
  int *shape_first, *shape_number; /* index of a robot link's first shape among the shapes of its scene link, and number
                                      of its shapes (one entry per robot link) */
  UrdfBody* body;                  /* total mass of the robot links in each scene link (one entry per scene link) */
  bool* moves; /* true if the joint of the link or of one of its ancestors is not fixed (one entry per scene link) */
  int* link_shape_capacity; /* number of shapes for which each scene link has memory (one entry per scene link) */
  int shape_capacity;
  const UrdfShape** mesh_sources; /* meshes that have become shapes of the scene (size: mesh_count) */
  int* mesh_shapes;               /* scene shape of each mesh, shared by all links with the mesh (size: mesh_count) */
  int mesh_count, mesh_capacity, mesh_shape_capacity;
  Names names; /* names of the scene's links, which own the texts */
} UrdfBuild;

/* Adds the links and joints of a robot to `scene`, which must have the values of urdf_load_defaults. Sets
 * carrier[robot's links] to the scene link of each robot link, or -1 for the world. Sets carrier_poses[robot's links]
 * to the pose of each robot link's frame in the frame of its scene link. Both arrays may be NULL. Returns false if
 * there is an error. The caller owns the scene and the report's joints, also after an error. */
bool urdf_scene(const UrdfRobot* robot, const RobotOptions* options, Scene* scene, RobotReport* report, int* carrier,
                UrdfPose* carrier_poses, Diagnostics* diagnostics);
/* Returns true if consecutive joints can become one joint of a scene. chain[count]: the joints from the root outward,
 * connected by links without mass and shape. */
bool urdf_is_one_joint(const UrdfJoint* const* chain, int count);
/* Sets *scene to a scene without links, with the default values of the scene format. Returns STATUS_OK, or
 * STATUS_BAD_INPUT with diagnostics. The caller frees the scene with scene_free. */
Status urdf_load_defaults(Scene* scene, const char* path);
/* Sets the scene's name to a copy of `name`, or leaves it unchanged if `name` is not valid. */
void urdf_set_scene_name(Scene* scene, const char* name);

/* Reports errors of mesh files. Called if other errors prevent the conversion, so that all errors are reported. */
void urdf_check_mesh_files(const UrdfRobot* robot, const RobotOptions* options, Scene* scene, Diagnostics* diagnostics);
/* Fills build->defaults with one shape for each UrdfGeometry. The caller frees build->defaults with scene_free. */
void urdf_load_shape_defaults(UrdfBuild* build);
/* Returns the shapes of a robot link that become shapes of the scene, borrowed from the link. */
const UrdfShapes* urdf_used_shapes(const UrdfBuild* build, const UrdfLink* link);
/* Adds the shapes of a robot link to the scene link `target`. pose: pose of the robot link in the frame of `target`. A
 * shape whose mesh has errors is omitted, and the errors are reported. */
void urdf_add_shapes(UrdfBuild* build, const UrdfLink* link, int target, UrdfPose pose);

/* Returns the mass moment of shapes first ... first + count - 1 of scene link `target`, in its frame, at uniform
 * `density` [kg/m^3]. Returns zero if the shapes have no volume or cannot be read; the model of the complete scene then
 * reports the error. */
MassMoment urdf_shapes_moment(const UrdfBuild* build, int target, int first, int count, double density);

/* Density of links without mass, as in MuJoCo [kg/m^3]. */
#define DEFAULT_DENSITY 1000.0
/* Returns mass, centre and inertia of a robot link in the frame in which the link has the pose `pose`. */
UrdfBody urdf_transformed_body(const UrdfLink* link, UrdfPose pose);
/* Adds the mass of a robot link to the body of the scene link `target`. pose: pose of the robot link in the frame of
 * `target`. Adds nothing for a link without mass. */
void urdf_add_mass(UrdfBuild* build, const UrdfLink* link, int target, UrdfPose pose);
/* Adds masses of robot links without mass, computed from their shapes, to scene links in which another robot link has a
 * mass. Applies to links on moving joints and, with a given density, to links on fixed joints. Other links on fixed
 * joints add no mass, which is reported. */
void urdf_add_shape_masses(UrdfBuild* build);

/* Returns true if the pose is the identity. */
bool urdf_is_identity(const UrdfPose* pose);
/* Returns the product a b of two poses: a pose b in the frame a, expressed in the parent frame of a. Its position is
 * p_a + R_a p_b [m]. */
UrdfPose urdf_pose_mul(UrdfPose a, UrdfPose b);

#endif
