/* export: writes a model or a recorded run in formats of other programs: MJCF, URDF, glTF, OBJ, STL, 3MF; feedback as
 * JSON and C. Output is appended to the caller's texts. */
#ifndef SDRS_EXPORT_H
#define SDRS_EXPORT_H

#include "render/render.h"

/* Exports the model as one self-contained MJCF file for MuJoCo 2.2.2 or later; SI units, radians. controls: controls of
 * the actuators over the run as CSV, empty if constant. feedback: CSV rows
 * `actuator,sensor,component,factor,delay,period` of the feedback of drives, empty if there is none: factor times that
 * sensor component, delayed, sampled once per period (rates: averaged over it) [s]. Differences in MuJoCo are reported
 * as notes with `path` as the file. Never fails. No text may be NULL. */
void export_mjcf(const Model* model, const char* path, Text* mjcf, Text* controls, Text* feedback,
                 Diagnostics* diagnostics);

/* Exports the model as URDF with all joints at zero; SI units, radians (docs/urdf.md). meshes: prefix of mesh file
 * references ("robot_meshes/"); the files are named by export_urdf_mesh. Features that URDF lacks are omitted, reported
 * as notes with `path` as the file, and listed in a comment. without: true for links that are left out (links; NULL:
 * none), among them every link that one of them carries. STATUS_BAD_INPUT, with one error per link whose joint has no
 * URDF counterpart and nothing appended. */
Status export_urdf(const Model* model, const bool* without, const char* path, const char* meshes, Text* urdf,
                   Diagnostics* diagnostics);
/* Name of the mesh file of a hull (content: run_hull_obj), unique per hull; overwrites name. False: the hull needs no
 * file. hull: index into model->hulls, not checked. */
bool export_urdf_mesh(const Model* model, int hull, Text* name);

/* Appends the feedback of a drive as JSON with the keys of `feedback` in a scene. controller: index into
 * model->controllers. Never fails. */
void export_policy_json(const Model* model, int controller, Text* out);
/* Appends the feedback of all drives, or of one (controller >= 0), as a C header: its numbers and a function that
 * evaluates it in the scene's units. Never fails. */
void export_policy_c(const Model* model, int controller, Text* out);

/* A recorded run for a glTF file. All pointers are borrowed. */
typedef struct {
  const char* name; /* name among several parts; NULL for a single one */
  const Model* model;
  const RunPoses* run;
} GlbPart;
/* Appends recorded runs or designs, parts (count), as a binary glTF 2.0 file: the bounded hulls of every link under a
 * node with its name and colour, its motion as an animation at about `fps` frames per second, half-spaces as squares as
 * wide as the run. Several parts are placed side by side under a node each; their links are named `name/link`. Metres,
 * Y up (the root node rotates Z to Y). *moments: frames of the longest animation. Never fails; allocates temporarily.
 */
void export_glb_parts(Text* out, const GlbPart* parts, int count, double fps, int* moments);

typedef enum { SURFACE_OBJ, SURFACE_STL, SURFACE_3MF } SurfaceFormat;

typedef struct {
  SurfaceFormat format;
  bool pieces; /* export every convex piece as a separate solid instead of the union per link */
  int threads;
  double grow; /* displacement of the pieces' corners away from their centres before the union [m] */
} SurfaceOptions;

/* Properties of a written file, measured from its numbers. */
typedef struct {
  int pieces, triangles; /* number of solids (one per link, or one per hull without union) and triangles */
  bool united;           /* the hulls of each link form one surface; false with `pieces` */
  const char* reason; /* reason why a link's union failed (static text), or NULL; its hulls are then separate solids */
  int reason_link;
  double snap;              /* distance within which the union merged points [m] */
  bool closed;              /* every edge has a triangle on both sides */
  bool manifold;            /* every edge has exactly one triangle on each side */
  int pinches;              /* points where a surface touches itself */
  bool oriented;            /* triangles are oriented consistently and outward */
  int components;           /* connected groups of touching hulls */
  int cavities;             /* number of voids inside solids */
  int overlaps;             /* pairs of hulls with common volume; without union `volume` counts it twice */
  Vec3 low, high;           /* box [m] */
  double volume;            /* sum of the solids [m^3] */
  double mass;              /* mass of the links by their mass model [kg] */
  double thickness;         /* thinnest wall [m] (surface_thickness); without union the thinnest hull */
  double thickness_spacing; /* sampling distance of the thickness [m]; 0 without union */
} SurfaceReport;

/* Appends the bounded hulls of a link (-1 = all links) at poses (links) as OBJ in metres, or binary STL or 3MF in
 * millimetres. Never fails: defects of the surface are in the report, which owns nothing. */
SurfaceReport export_surface(Text* out, const Model* model, int link, const Pose* poses, const SurfaceOptions* options);

/* ---------------------------------------------------------------- assembly (export/assembly.c) */

enum { REMOVAL_LEGS_MAX = 32 };
/* Path of a link out of the assembly: straight translations, each proven free of all other links (also jointed ones and
 * excluded pairs), which stay fixed. */
typedef struct {
  bool apart;                 /* the link intersects nothing initially; otherwise there is no path */
  bool found;                 /* false: not found among the positions tried */
  int legs;                   /* number of segments; 0: nothing to be removed from */
  Vec3 way[REMOVAL_LEGS_MAX]; /* displacement from the start after each segment, world [m]  (legs) */
  double gap;                 /* smallest gap at the ends of the segments [m]; INFINITY: nothing is near */
  int places;                 /* positions tried */
} RemovalReport;
/* Finds a path for link 0 ... links - 1. poses (links): world poses of all links. The report owns nothing. Never fails;
 * allocates temporarily. */
RemovalReport export_removal(const Model* model, const Pose* poses, int link, int threads);

/* ---------------------------------------------------------------- bytes of files (export/text.c) */

/* Appends text with & < > " escaped for XML and HTML. */
void xml_add_escaped(Text* out, const char* text);
/* Appends the low `bytes` (1 to 4, not checked) bytes of an integer, little-endian. */
void bytes_add_integer(Text* out, uint32_t value, int bytes);
/* Appends a number as a 4-byte little-endian float; values out of range become infinite. */
void bytes_add_float(Text* out, double value);

#endif
