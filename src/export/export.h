/* export: writes models and recorded runs for other programs. The formats are MJCF, URDF, glTF, OBJ, STL and 3MF, and
 * JSON and C for feedback. All functions append to texts of the caller. */
#ifndef SDRS_EXPORT_H
#define SDRS_EXPORT_H

#include "render/render.h"

/* Appends the model to *mjcf as one self-contained MJCF file for MuJoCo 2.2.2 or later, in SI units and radians.
 * Appends the controls of the actuators over the run to *controls as CSV, or nothing if the controls are constant.
 * Appends the feedback of drives to *feedback as CSV rows `actuator,sensor,component,factor,delay,period`, or nothing
 * if there is no feedback. A row adds factor times the sensor component to the control after `delay` [s], sampled once
 * per `period` [s]; rates are averaged over the period. Notes with `path` as the file report differences in MuJoCo.
 * Never fails. No text may be NULL. */
void export_mjcf(const Model* model, const char* path, Text* mjcf, Text* controls, Text* feedback,
                 Diagnostics* diagnostics);

/* Appends the model to *urdf as a URDF file with all joints at zero, in SI units and radians (docs/urdf.md). meshes:
 * prefix of references to mesh files, such as "robot_meshes/"; export_urdf_mesh gives the names of the files. Features
 * that URDF lacks are omitted, reported as notes with `path` as the file, and listed in an XML comment. without
 * (links): true for links that are left out; descendants of an omitted link must be omitted too. NULL exports all
 * links. Returns STATUS_BAD_INPUT, with nothing appended, if joints have no URDF counterpart; each such link is an
 * error. */
Status export_urdf(const Model* model, const bool* without, const char* path, const char* meshes, Text* urdf,
                   Diagnostics* diagnostics);
/* Sets *name to the name of a hull's mesh file, which is unique for each hull. run_hull_obj gives the content of the
 * file. Returns false if the hull needs no file. hull: index into model->hulls, not checked. */
bool export_urdf_mesh(const Model* model, int hull, Text* name);

/* Appends the feedback of a drive as JSON, with the keys of `feedback` in a scene. controller: index into
 * model->controllers. Never fails. */
void export_policy_json(const Model* model, int controller, Text* out);
/* Appends the feedback of a drive as a C header. The header contains the parameters of the feedback and a function that
 * evaluates the feedback in the scene's units. controller: index into model->controllers, or negative for all drives.
 * Never fails. */
void export_policy_c(const Model* model, int controller, Text* out);

/* A recorded run that becomes part of a glTF file. All pointers are borrowed. */
typedef struct {
  const char* name; /* name of the part; NULL if the file has only one part */
  const Model* model;
  const RunPoses* run;
} GlbPart;
/* Appends recorded runs or designs, parts (count), as one binary glTF 2.0 file. Units are metres, Y is up (the root
 * node rotates Z to Y). Each link becomes a node with the link's name, colour and bounded hulls. The motion of a link
 * becomes an animation with about `fps` frames per second. Half-spaces become squares as wide as the run. Several parts
 * are placed side by side, each under its own node, with links named `name/link`. Sets *moments to the number of frames
 * of the longest animation. Never fails. Allocates temporary memory. */
void export_glb_parts(Text* out, const GlbPart* parts, int count, double fps, int* moments);

typedef enum { SURFACE_OBJ, SURFACE_STL, SURFACE_3MF } SurfaceFormat;

typedef struct {
  SurfaceFormat format;
  bool pieces; /* true: every convex hull is a separate solid; false: the hulls of a link are united */
  int threads;
  double grow; /* displacement of hull vertices away from the centre of the hull before the union [m] */
} SurfaceOptions;

/* Properties of a written surface, computed from the rounded coordinates in the file. */
typedef struct {
  int pieces, triangles; /* number of solids (one per link, or one per hull without union) and triangles */
  bool united;           /* true if the hulls of each link form one surface; always false with `pieces` */
  const char* reason; /* static text: reason why the union of link `reason_link` failed, whose hulls are then separate
                         solids; NULL: no union failed */
  int reason_link;
  double snap;    /* distance within which the union merged points [m] */
  bool closed;    /* true if every edge has a triangle on both sides */
  bool manifold;  /* true if every edge has exactly one triangle on each side */
  int pinches;    /* number of points where a surface touches itself */
  bool oriented;  /* true if all triangles are oriented consistently and outward */
  int components; /* number of connected groups of touching hulls */
  int cavities;   /* number of voids inside solids */
  int overlaps; /* number of overlapping pairs of hulls; if the hulls are not united, `volume` counts the common volume
                   twice */
  Vec3 low, high;   /* corners of the bounding box [m] */
  double volume;    /* total volume of the solids [m^3] */
  double mass;      /* mass of the links by their mass model [kg] */
  double thickness; /* smallest wall thickness of the links [m] (surface_thickness), or smallest thickness of a hull if
                       the hulls are not united */
  double
      deviation; /* largest distance of the faces of round solids from the exact solids [m]; 0 without round solids */
  double thickness_spacing; /* sampling distance of the thickness [m]; 0 if the hulls are not united */
} SurfaceReport;

/* Appends the bounded hulls of a link, or of all links if link is -1, as a surface file. The links are at poses
 * (links). The format is OBJ in metres, or binary STL or 3MF in millimetres. Returns a report of the properties and
 * defects of the surface; the report owns nothing. Never fails. */
SurfaceReport export_surface(Text* out, const Model* model, int link, const Pose* poses, const SurfaceOptions* options);

/* ---------------------------------------------------------------- assembly (export/assembly.c) */

enum { REMOVAL_SEGMENTS_MAX = 32 };
/* A path that removes one link from the assembly. The path consists of straight translations, each proven free of
 * collision with all other links. This includes links connected by a joint and pairs excluded from contact. The other
 * links stay fixed. */
typedef struct {
  bool apart; /* true if the link intersects no other link initially; if false, no path is searched */
  bool found; /* true if a path was found */
  int legs;   /* number of segments; 0 if there are no other links */
  Vec3
      way[REMOVAL_SEGMENTS_MAX]; /* displacement from the initial position after each segment, world axes [m]  (legs) */
  double gap; /* smallest gap to other links at the ends of the segments [m]; INFINITY if no other link is near */
  int places; /* number of positions that the search tried */
} PartRemoval;
/* Searches a path that removes a link from the assembly. link: index of the link, 0 to links - 1. poses (links): world
 * poses of all links. Returns a report, which owns nothing. Never fails. Allocates temporary memory. */
PartRemoval export_removal(const Model* model, const Pose* poses, int link, int threads);

/* ---------------------------------------------------------------- bytes of files (export/text.c) */

/* Appends `text` with the characters & < > " escaped for XML and HTML. */
void xml_add_escaped(Text* out, const char* text);
/* Appends the low `bytes` (1 to 4, not checked) bytes of an integer, little-endian. */
void bytes_add_integer(Text* out, uint32_t value, int bytes);
/* Appends a number as a 4-byte little-endian float. Values outside the range of a float become infinite. */
void bytes_add_float(Text* out, double value);

#endif
