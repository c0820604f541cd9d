/* robot: converts robots in the formats URDF (docs/urdf.md) and MJCF (docs/mjcf.md) to scenes. Unsupported features and
 * changes are reported in remarks. SI units, radians, z up. */
#ifndef SDRS_ROBOT_H
#define SDRS_ROBOT_H

#include "model/model.h"

/* A package of mesh files: package://name/... is read from folder/... */
typedef struct {
  const char *name, *folder;
} RobotPackage;

typedef struct {
  const char* joint; /* name in the file */
  double value;      /* m or rad */
} RobotStart;

/* Options of an import. If all are zero, the base is fixed at the origin, collision shapes are used, masses are those
 * of the file, and fixed joints are merged. */
typedef struct {
  const RobotPackage* packages;
  int package_count;
  const RobotStart* starts; /* initial coordinates of joints; the others start at zero, or inside their limits */
  int start_count;
  bool free_base;
  bool has_height;        /* false: 0, or on the ground with free_base and ground */
  double height;          /* height of the root link's frame [m] */
  bool ground;            /* a half-space below z = 0 */
  bool keep_fixed;        /* fixed joints stay links of their own */
  bool visual;            /* visual shapes where a link has no collision shapes */
  bool skip_unsupported;  /* leave out meshes of other formats, instead of an error */
  bool lenient;           /* repair limits, inertias and masses, each with a warning; implies skip_unsupported */
  bool no_self_collision; /* links of the robot never touch one another */
  bool from_shapes;       /* masses as given, distributed over the shapes by `mass_model` instead of by the inertia */
  MassModel mass_model;   /* with from_shapes: MASS_VERTICES or MASS_UNIFORM */
  double density;         /* density of links without mass [kg/m^3]; 0 = a missing mass is an error */
  bool hull_per_group;    /* meshes become one hull per group ... */
  bool decompose;         /* ... or several hulls that cover them; neither: one hull */
  bool primitives;        /* replace meshes by round solids that fit them (robot_round_shape) */
  int max_vertices;       /* largest number of vertices of a hull; 0 = no limit, with `decompose` its default */
  const char* key;        /* MJCF: keyframe of the initial state; NULL = home or the first, "none" */
  double hold; /* natural frequency of springs that hold every joint at its initial coordinate [Hz]; 0 = none */
  int threads;
} RobotOptions;

/* A joint of the file with one degree of freedom, and the scene's link and degree of freedom that it became. */
typedef struct {
  char* name; /* owned */
  int link, dof;
  double effort; /* force limit of a drive of the joint [N, N m]; 0: none */
} RobotJointPlace;

typedef struct {
  RobotJointPlace* joints;
  int joint_count;
  char** files; /* paths of included files; places of the scene point to these texts  (file_count) */
  int file_count;
  Text remarks; /* changes and omissions, one line each; also notes in the diagnostics */
} RobotReport;
/* Frees the report's data and zeroes it. Accepts a zeroed report, but not NULL. */
void robot_report_free(RobotReport* report);
/* Adds a note to the diagnostics and a line to the report. printf style, one line without line end. Not an error.
 * Copies the text. */
void robot_remark(RobotReport* report, Diagnostics* diagnostics, SourcePlace place, const char* format, ...)
    __attribute__((format(printf, 4, 5)));
/* As robot_remark, but adds a warning, for an import that differs from the file. */
void robot_warn(RobotReport* report, Diagnostics* diagnostics, SourcePlace place, const char* format, ...)
    __attribute__((format(printf, 4, 5)));
/* Cuts a list of names separated by ", " after the first ten, and appends how many more there are. */
void robot_shorten(Text* names);

/* Converts a URDF text to a scene ready for model_create and scene_write_yaml. text: `length` bytes, followed by a NUL.
 * Neither text nor options are kept. `path` names the text in messages and anchors relative paths. The scene link of a
 * link with mass has the file's centre of mass and inertia in `center` and `inertia`, for every mass model. Returns
 * STATUS_BAD_INPUT if there are errors; all are reported with their places. The caller frees scene and report in any
 * case. */
Status robot_parse_urdf(Scene* scene, const char* path, const char* text, size_t length, const RobotOptions* options,
                        RobotReport* report, Diagnostics* diagnostics);

/* As robot_parse_urdf for a MuJoCo file (MJCF). The file itself defines its bases: free_base and height have no effect.
 * With options->hold > 0 the actuators of the file are left out. Places of the scene may point to report->files, which
 * must outlive messages about it. Errors and ownership as of robot_parse_urdf. */
Status robot_parse_mjcf(Scene* scene, const char* path, const char* text, size_t length, const RobotOptions* options,
                        RobotReport* report, Diagnostics* diagnostics);
/* Returns true if the text's first element is <mujoco>. text must not be NULL, ends with NUL and need not be XML.
 * Allocates nothing. */
bool robot_is_mjcf(const char* text);
/* Excludes contact of two links or groups by name: appends copies of the names to scene->contact, which owns them. The
 * names are not checked. Never fails. */
void robot_exclude(Scene* scene, const char* a, const char* b);

/* ---------------------------------------------------------------- round solids that fit (robot/revolution.c) */

/* A round solid and its lengths [m]; those that the type lacks are unused. */
typedef struct {
  ShapeType type; /* SHAPE_SPHERE .. SHAPE_CONE */
  double radius, length, width, rim, bottom_radius, top_radius;
  Vec3 position; /* position of its frame in that of the hull or shape [m] */
  Quat rotation;
  double deviation; /* largest distance of a hull vertex outside the solid, or of the solid beyond a facet of the hull
                       [m] */
  double relative;  /* deviation over the largest radius */
} RobotRound;
/* Returns true if the hull is nearly a solid of revolution, so that a round solid fits within a hundredth of its
 * radius. Sets fit to the solid that deviates least, in the hull's frame. Allocates nothing. */
bool robot_round_fit(const ConvexHull* hull, RobotRound* fit);
/* As robot_round_fit for shape `shape` of the scene, a mesh or a list of points, with fit in the frame of the shape.
 * model: the model of the scene. Uses the hull of the shape in the first link that has it, and returns this link.
 * Returns -1 if no round solid fits or the shape has several hulls. Allocates temporarily. */
int robot_round_shape(const Scene* scene, const Model* model, int shape, RobotRound* fit);
/* Appends `type: cylinder, radius: 0.1, length: 0.05`, six digits. Never fails. */
void robot_round_text(const RobotRound* fit, Text* out);

/* ---------------------------------------------------------------- import of a robot (robot/import.c) */

/* An imported robot. Owns its members; robot_free accepts a zeroed or partly built one. */
typedef struct {
  Scene scene;
  Model model; /* model of the scene, without the controllers that hold joints */
  RobotReport report;
  bool is_mjcf;
} Robot;

/* Returns true if the root of the kinematic tree that contains `link` has a free joint. Allocates nothing. */
bool robot_stands_free(const Model* model, int link);

/* Shrinks the shapes of bodies that touch at the start: each of the two bodies by half of the sum of the overlap and
 * the equilibrium gap. Raises free bodies by half of the equilibrium gap. Shapes of jointed bodies in contact with
 * fixed bodies are shrunk until they are outside the range of contact. Appends every shrunk body with the distance to
 * names, such as "brick 0.0001 m". Returns false, and changes nothing, if a face would move by more than a fiftieth of
 * the smallest half extent (robot/shrink.c). robot->model must be the model of robot->scene; it is not rebuilt.
 * Allocates temporarily. */
bool robot_shrink_touching(Robot* robot, Text* names);

/* Rebuilds the model of the robot's scene, without messages. The scene may be one that model_create refuses. */
void robot_rebuild(Robot* robot);
/* Moves free bodies out of half-spaces that they penetrate at the start by at most `deepest` [m]. A body is moved along
 * the normal of the half-space by its depth plus the equilibrium gap. Free bodies that would then touch a moved body
 * are moved in the same direction. Rebuilds robot->model, which must exist. Appends every moved body with the distance
 * to names, such as "ball 0.01 m". Returns false, and changes nothing, if no body is moved or if a moved body would
 * touch another body (robot/aside.c). */
bool robot_move_aside(Robot* robot, double deepest, Text* names);
/* Moves free bodies that overlap others at the start, by at most `deepest` [m] each pair, apart along the normals of
 * their contacts, until there is the equilibrium gap between all of them. Rebuilds robot->model, which must exist.
 * Appends every moved body with the distance to names. Returns false, and changes nothing, if an overlap is deeper or
 * remains (robot/separate.c). */
bool robot_separate(Robot* robot, double deepest, Text* names);
/* Moves a shape of the scene in all links that use it: multiplies the pose of each use by the pose `by`, from the right
 * (robot/shrink.c). */
void robot_move_uses(Scene* scene, int shape, Pose by);

/* Reads the file `path`, puts a free robot on the ground, excludes contact between links that touch at the start, and
 * adds the springs of options->hold. Returns STATUS_IO if the file cannot be read, STATUS_BAD_INPUT if it is invalid,
 * both with diagnostics. The caller frees the robot with robot_free in any case. */
Status robot_import(Robot* robot, const char* path, const RobotOptions* options, Diagnostics* diagnostics);
/* Frees the robot's data and zeroes it. Accepts a zeroed robot, but not NULL. */
void robot_free(Robot* robot);
/* Appends to `out` the scene as YAML for the file `path` in `folder`. A header gives `source`, the remarks, and for
 * each joint of the file the link and degree of freedom of the scene. Returns STATUS_BAD_INPUT if the text cannot be
 * read back. `out` must be empty on entry; the caller owns it. Allocates temporarily. */
Status robot_write_yaml(const Robot* robot, const char* source, const char* path, const char* folder, Text* out,
                        Diagnostics* diagnostics);
/* Returns the distance [m] between the centre of mass of a link that the mass model gives and the one in the file; 0 if
 * both are bit-identical. link: index of a link of the scene and the model, not checked. Allocates nothing. */
double robot_center_error(const Robot* robot, int link);
/* Returns the relative error of the inertia that the mass model gives a link: the largest entry of its difference from
 * the file's inertia, divided by the largest entry of the file's inertia. HUGE_VAL if only the file's inertia is zero.
 * link is not checked. Allocates nothing. */
double robot_inertia_error(const Robot* robot, int link);

#endif
