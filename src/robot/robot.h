/* robot: robots in formats of other programs as scenes: URDF (docs/urdf.md) and MJCF (docs/mjcf.md). Unsupported
 * features and changes are reported in remarks. SI units, radians, z up. */
#ifndef SDRS_ROBOT_H
#define SDRS_ROBOT_H

#include "model/model.h"

/* Maps package://name/... to folder/... */
typedef struct {
  const char *name, *folder;
} RobotPackage;

typedef struct {
  const char* joint; /* name in the file */
  double value;      /* m or rad */
} RobotStart;

/* Options of an import. Zeroed: base fixed at the origin, collision shapes, masses as given, fixed joints merged. */
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
  char** files; /* included files, to which places of the scene point  (file_count) */
  int file_count;
  Text remarks; /* changes and omissions, one line each; also notes in the diagnostics */
} RobotReport;
/* Frees the report's data and zeroes it. Accepts a zeroed report, but not NULL. */
void robot_report_free(RobotReport* report);
/* Adds a note to the diagnostics and a line to the report. printf style, one line without line end. Not an error.
 * Copies the text. */
void robot_remark(RobotReport* report, Diagnostics* diagnostics, SourcePlace place, const char* format, ...)
    __attribute__((format(printf, 4, 5)));
/* As robot_remark, but adds a warning: what is imported differs from the file. */
void robot_warn(RobotReport* report, Diagnostics* diagnostics, SourcePlace place, const char* format, ...)
    __attribute__((format(printf, 4, 5)));
/* Cuts a list of names separated by ", " after the first ten, and appends how many more there are. */
void robot_shorten(Text* names);

/* Converts a URDF text to a scene ready for model_create and scene_write_yaml. text: `length` bytes and a NUL behind;
 * neither text nor options are kept. `path` names the text in messages and anchors relative paths. A link with mass
 * keeps its centre and inertia in `center` and `inertia` whatever its mass model. Returns STATUS_BAD_INPUT after
 * errors, all with their places; never STATUS_IO for the text itself. The caller frees scene and report in any case. */
Status robot_parse_urdf(Scene* scene, const char* path, const char* text, size_t length, const RobotOptions* options,
                        RobotReport* report, Diagnostics* diagnostics);

/* As robot_parse_urdf for a MuJoCo file (MJCF). The file itself defines its bases: free_base and height have no effect.
 * With hold its actuators are left out. Places of the scene may point to report->files, which must outlive messages
 * about it. Errors and ownership as of robot_parse_urdf. */
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
/* As robot_round_fit for a mesh or a list of points of the scene, in the shape's frame, by the first link of the model
 * that has it. Returns that link; -1 if none fits or the shape has several hulls. model: of that scene. Allocates
 * temporarily. */
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

/* Returns the link without a parent from which joints lead to a link. Allocates nothing. */
int robot_root(const Model* model, int link);
/* Returns true if the root of the tree of a link of the model has a free joint. Allocates nothing. */
bool robot_stands_free(const Model* model, int link);

/* Shrinks the shapes of bodies that touch at the start by half of the overlap plus the equilibrium gap on each side,
 * and raises free ones by half of that gap. Jointed bodies that touch what stands still leave the range of contact. The
 * model must be that of the scene, and is not rebuilt. Appends to names, such as "brick 0.0001 m". Returns false, and
 * changes nothing, if no face may move that far: a fiftieth of the smallest half extent (robot/shrink.c). Allocates
 * temporarily. */
bool robot_shrink_touching(Robot* robot, Text* names);

/* Rebuilds the model of the robot's scene, without messages. The scene may be one that model_create refuses. */
void robot_rebuild(Robot* robot);
/* Moves free bodies that start inside of half-spaces by at most `deepest` [m] out of them, along their normals and by
 * the equilibrium gap more, and free bodies that are then in the way of these. Rebuilds the model, which must exist.
 * Appends to names, such as "ball 0.01 m". Returns false, and changes nothing, if a moved body would touch another one,
 * or none is moved (robot/aside.c). */
bool robot_move_aside(Robot* robot, double deepest, Text* names);
/* Moves a shape of the scene in the frames of all links that have it: use = use * by (robot/shrink.c). */
void robot_move_uses(Scene* scene, int shape, Pose by);

/* Reads the file, puts a free robot on the ground, excludes contact between parts that touch at the start, and holds
 * its joints. Returns STATUS_IO, or STATUS_BAD_INPUT with diagnostics. The caller frees it with robot_free in any case.
 */
Status robot_import(Robot* robot, const char* path, const RobotOptions* options, Diagnostics* diagnostics);
/* Frees the robot's data and zeroes it. Accepts a zeroed robot, but not NULL. */
void robot_free(Robot* robot);
/* Appends to `out` the scene as YAML for the file `path` in `folder`, after a header with `source`, the remarks and the
 * new place of each joint. Returns STATUS_BAD_INPUT if the text cannot be read back. `out` must be empty on entry; the
 * caller owns it. Allocates temporarily. */
Status robot_write_yaml(const Robot* robot, const char* source, const char* path, const char* folder, Text* out,
                        Diagnostics* diagnostics);
/* Returns the distance between a link's centre of mass by the mass model and by the file [m]; 0 if bit-identical. link:
 * valid number of the scene and the model, not checked. Allocates nothing. */
double robot_center_error(const Robot* robot, int link);
/* Returns the largest entry of the difference of the inertias over the largest of the file's; HUGE_VAL if only that is
 * zero. link is not checked. Allocates nothing. */
double robot_inertia_error(const Robot* robot, int link);

#endif
