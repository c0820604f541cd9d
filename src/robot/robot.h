/* robot: converts robots in URDF (docs/urdf.md) and MJCF (docs/mjcf.md) to scenes. Remarks list unsupported features
 * and changed values. SI units, radians, z up. */
#ifndef SDRS_ROBOT_H
#define SDRS_ROBOT_H

#include "model/model.h"

/* A package of mesh files: package://name/... in a robot file is the file folder/... */
typedef struct {
  const char *name, *folder;
} RobotPackage;

typedef struct {
  const char* joint; /* name of the joint in the file */
  double value;      /* initial coordinate of the joint [m or rad] */
} RobotStart;

/* Options of an import. Zero members mean: fixed base at the origin, collision shapes, masses of the file, and fixed
 * joints merged. */
typedef struct {
  const RobotPackage* packages;
  int package_count;
  const RobotStart*
      starts; /* initial coordinates of joints; other joints start at zero, or inside their limits if zero is outside */
  int start_count;
  bool free_base;
  bool has_height;       /* false: the height is 0, or with free_base and ground the robot stands on the ground */
  double height;         /* height of the root link's frame [m] */
  bool ground;           /* true: adds the ground, a half-space below z = 0 */
  bool keep_fixed;       /* true: child links of fixed joints are not merged into their parents */
  bool visual;           /* true: a link without collision shapes gets its visual shapes */
  bool skip_unsupported; /* true: meshes of unsupported formats are left out; false: they are errors */
  bool lenient; /* true: invalid limits, inertias and masses are replaced, with warnings; implies skip_unsupported */
  bool no_self_collision; /* true: links of the robot do not collide with one another */
  bool from_shapes; /* true: `mass_model` distributes each mass over the shapes; false: the file's inertia is used */
  MassModel mass_model; /* with from_shapes: MASS_VERTICES or MASS_UNIFORM */
  double density;       /* density of links without mass [kg/m^3]; 0: a missing mass is an error */
  bool hull_per_group;  /* true: a mesh becomes one convex hull for each of its groups */
  bool decompose;       /* true: a mesh is decomposed into convex hulls; without both options it becomes one hull */
  bool primitives;      /* true: meshes that are nearly solids of revolution become round solids (robot_round_shape) */
  int max_vertices;     /* largest number of vertices of a hull; 0: no limit, or with `decompose` the limit of the
                           decomposition */
  const char* key; /* MJCF: name of the keyframe of the initial state, or "none"; NULL: the keyframe `home`, otherwise
                      the first */
  double hold; /* natural frequency of springs that hold every joint at its initial coordinate [Hz]; 0: no springs */
  int threads;
} RobotOptions;

/* A joint of the file with one degree of freedom, and the link and degree of freedom of the scene that represent it. */
typedef struct {
  char* name; /* name of the joint in the file, owned */
  int link, dof;
  double effort; /* force limit of a drive of the joint [N, N m]; 0: no limit */
} RobotJointPlace;

typedef struct {
  RobotJointPlace* joints;
  int joint_count;
  char** files; /* paths of included files, to which places of the scene point (size: file_count) */
  int file_count;
  Text remarks; /* changed values and omitted features, one line each; the diagnostics contain them as notes */
} RobotReport;
/* Frees the data of a report and zeroes it. Accepts a zeroed report. */
void robot_report_free(RobotReport* report);
/* Adds a note to the diagnostics and a line to report->remarks, in printf style. The text is one line without line end,
 * and is copied. */
void robot_remark(RobotReport* report, Diagnostics* diagnostics, SourcePosition place, const char* format, ...)
    __attribute__((format(printf, 4, 5)));
/* Adds a warning to the diagnostics and a line to report->remarks, in printf style, about a difference between scene
 * and file. Copies the text. */
void robot_warn(RobotReport* report, Diagnostics* diagnostics, SourcePosition place, const char* format, ...)
    __attribute__((format(printf, 4, 5)));
/* Shortens a list of names, separated by ", ", to the first ten and appends the number of omitted names. */
void robot_shorten_names(Text* names);

/* Converts a URDF text to a scene for model_create and scene_write_yaml. text has `length` bytes and ends with NUL.
 * path: file of the text, for messages and relative paths. `center` and `inertia` of a scene link with mass are those
 * of the file, for every mass model. Returns STATUS_BAD_INPUT, with a diagnostic for every error. Keeps no pointer to
 * text or options. The caller frees scene and report in any case. */
Status robot_parse_urdf(Scene* scene, const char* path, const char* text, size_t length, const RobotOptions* options,
                        RobotReport* report, Diagnostics* diagnostics);

/* Converts an MJCF text to a scene. text has `length` bytes and ends with NUL. path: file of the text, for messages and
 * relative paths. free_base and height have no effect, because the file defines its bases. With options->hold,
 * actuators are omitted. Returns STATUS_BAD_INPUT, with a diagnostic for every error. Places of the scene may point to
 * report->files, so the report must outlive messages about the scene. The caller frees scene and report in any case. */
Status robot_parse_mjcf(Scene* scene, const char* path, const char* text, size_t length, const RobotOptions* options,
                        RobotReport* report, Diagnostics* diagnostics);
/* Returns true if the first element of the text is <mujoco>. The text ends with NUL and need not be valid XML. */
bool robot_is_mjcf(const char* text);
/* Excludes contact between two links or groups, given by name. The names are copied and not checked. */
void robot_exclude(Scene* scene, const char* a, const char* b);

/* A solid of revolution that approximates a hull. Lengths in m; those that the type does not have are unused. */
typedef struct {
  ShapeType type; /* type of the round solid, SHAPE_SPHERE to SHAPE_CONE */
  double radius, length, width, rim, bottom_radius, top_radius;
  Vec3 position; /* origin of the solid's frame in the frame of the hull or shape [m] */
  Quat rotation;
  double deviation; /* largest distance of a hull vertex outside the solid, or of the solid beyond a face of the hull
                       [m] */
  double relative;  /* deviation divided by the largest radius */
} RobotRound;
/* Returns true if the hull is nearly a solid of revolution: a round solid deviates by less than a hundredth of its
 * radius. Sets *fit to the solid with the smallest deviation, in the hull's frame. */
bool robot_round_fit(const ConvexHull* hull, RobotRound* fit);
/* Fits a round solid to a shape of the scene, a mesh or a list of points. shape: index of the shape. Returns the first
 * link with the shape, whose hull is used. Returns -1 if no round solid fits or the shape has several hulls. Sets *fit
 * in the frame of the shape. */
int robot_round_shape(const Scene* scene, const Model* model, int shape, RobotRound* fit);
/* Appends a round solid as YAML keys with six digits, such as `type: cylinder, radius: 0.1, length: 0.05`. */
void robot_append_round_yaml(const RobotRound* fit, Text* out);

/* An imported robot, which owns its members. robot_free accepts a zeroed or partly built robot. */
typedef struct {
  Scene scene;
  Model model; /* model of the scene, without the controllers of options->hold */
  RobotReport report;
  bool is_mjcf;
} Robot;

/* Returns true if the root of the kinematic tree of a link has a free joint. */
bool robot_stands_free(const Model* model, int link);

/* Shrinks bodies that touch at the start, so that gaps separate them. Each of two bodies is shrunk by half of the sum
 * of overlap and equilibrium gap. Free bodies are raised by half of the equilibrium gap. Jointed bodies in contact with
 * fixed bodies are shrunk until no contact force acts. Appends each shrunk body with its distance to names, such as
 * "brick 0.0001 m". Returns false, and changes nothing, if a face would move by more than a fiftieth of the smallest
 * half extent. robot->model must be the model of robot->scene, and is not rebuilt. */
bool robot_shrink_touching(Robot* robot, Text* names);

/* Rebuilds robot->model from robot->scene without messages. The scene may be one that model_create rejects. */
void robot_rebuild_model(Robot* robot);
/* Moves free bodies out of half-spaces that they penetrate at the start by at most `largest_depth` [m]. A body moves
 * along the normal by its depth plus the equilibrium gap. Free bodies that would then touch a moved body move in the
 * same direction. Appends each moved body with its distance to names, such as "ball 0.01 m". Returns false, and changes
 * nothing, if no body is moved or a moved body would touch another body. Rebuilds robot->model, which must exist. */
bool robot_move_out_of_half_spaces(Robot* robot, double largest_depth, Text* names);
/* Separates free bodies that overlap or nearly touch other bodies at the start along the contact normals, to the
 * equilibrium gap where the other bodies leave this space. largest_depth: largest overlap that is removed [m]. Appends
 * each moved body with its distance to names. Returns false, and changes nothing, if an overlap is larger or remains.
 * Rebuilds robot->model, which must exist. */
bool robot_separate_bodies(Robot* robot, double largest_depth, Text* names);
/* Multiplies the pose of a shape in all links that use it from the right by `transform`. */
void robot_transform_uses(Scene* scene, int shape, Pose transform);

/* Imports a robot file. Places a free robot on the ground, excludes contact between links that touch at the start, and
 * adds the springs of options->hold. Returns STATUS_IO if the file cannot be read and STATUS_BAD_INPUT if it is
 * invalid, both with diagnostics. The caller frees the robot with robot_free in any case. */
Status robot_import(Robot* robot, const char* path, const RobotOptions* options, Diagnostics* diagnostics);
/* Frees the data of a robot and zeroes it. Accepts a zeroed robot. */
void robot_free(Robot* robot);
/* Appends the scene as YAML for the file `path` in `folder`. The comments at its head contain `source`, the remarks,
 * and the scene's link and degree of freedom of each joint in the robot file. Returns STATUS_BAD_INPUT if the text
 * cannot be read back. `out` must be empty; the caller owns it. */
Status robot_write_yaml(const Robot* robot, const char* source, const char* path, const char* folder, Text* out,
                        Diagnostics* diagnostics);
/* Returns the distance of a link's centre of mass by the mass model from that in the file [m], or 0 if both are
 * bit-identical. link: index in the scene and in the model. */
double robot_center_error(const Robot* robot, int link);
/* Returns the relative error of a link's inertia by the mass model: the largest entry of the difference from the file's
 * inertia, divided by the largest entry of the file's inertia. Returns HUGE_VAL if only the file's inertia is zero. */
double robot_inertia_error(const Robot* robot, int link);

#endif
