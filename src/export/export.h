/* export: writes models and recorded runs in the formats MJCF, URDF, glTF, OBJ, STL and 3MF, and feedback networks as
 * JSON and C. All functions append to texts of the caller. */
#ifndef SDRS_EXPORT_H
#define SDRS_EXPORT_H

#include "render/render.h"

/* Appends the model to *mjcf as one self-contained MJCF file for MuJoCo 2.2.2 or later, in SI units and radians.
 * Appends the controls of the actuators over the run to *controls as CSV, or nothing if all controls are constant.
 * Appends the feedback of drives to *feedback as CSV rows `actuator,sensor,component,factor,delay,period`, or nothing
 * without feedback. A row adds factor times the sensor component to the control after `delay` [s], sampled once per
 * `period` [s]; rates are averaged over the period. Adds a note for each feature that behaves differently in MuJoCo.
 * path: file name for these notes. */
void export_mjcf(const Model* model, const char* path, Text* mjcf, Text* controls, Text* feedback,
                 Diagnostics* diagnostics);

/* Appends the model to *urdf as a URDF file with all joints at zero, in SI units and radians (docs/urdf.md). meshes:
 * prefix of references to mesh files, such as "robot_meshes/"; export_urdf_mesh gives the names of the files.
 * omitted[links]: true for links to leave out, together with all their descendants; NULL exports all links. Features
 * that URDF lacks are omitted, reported as notes with the file `path`, and listed in an XML comment. Returns
 * STATUS_BAD_INPUT, with an error per link and nothing appended, if joints have no URDF counterpart. */
Status export_urdf(const Model* model, const bool* omitted, const char* path, const char* meshes, Text* urdf,
                   Diagnostics* diagnostics);
/* Sets *name to the unique name of a hull's mesh file, which contains the text of run_hull_obj. Returns false if the
 * hull needs no file. hull: index in model->hulls. */
bool export_urdf_mesh(const Model* model, int hull, Text* name);

/* Appends the feedback of a drive as JSON, with the keys of `feedback` in a scene. controller: index in
 * model->controllers. */
void export_policy_json(const Model* model, int controller, Text* out);
/* Appends the feedback of a drive as a C header with its parameters and a function that evaluates it in the scene's
 * units. controller: index in model->controllers, or negative for all drives. */
void export_policy_c(const Model* model, int controller, Text* out);

/* A recorded run for a glTF file. All pointers are borrowed. */
typedef struct {
  const char* name; /* name of the part; NULL if it is the only part */
  const Model* model;
  const RunPoses* run;
} GlbPart;
/* Appends parts[count], recorded runs or designs, as one binary glTF 2.0 file in metres. Y is up; the root node rotates
 * Z to Y. Each link becomes a node with its name, colour and bounded hulls. The motion of the link becomes an animation
 * with about `fps` frames per second. Half-spaces become squares as wide as the run. Several parts stand side by side,
 * each under its own node, with links named `name/link`. Sets *moments to the number of frames of the longest
 * animation. */
void export_glb_parts(Text* out, const GlbPart* parts, int count, double fps, int* moments);

typedef enum { SURFACE_OBJ, SURFACE_STL, SURFACE_3MF } SurfaceFormat;

typedef struct {
  SurfaceFormat format;
  bool pieces; /* true: every convex hull is a separate solid; false: the hulls of a link are united */
  int threads;
  double grow; /* displacement of hull vertices away from the hull's centre before the union [m] */
} SurfaceOptions;

/* Properties of a written surface, from the rounded coordinates in the file. */
typedef struct {
  int pieces,
      triangles;      /* numbers of solids and of triangles; a solid is a link, or a hull if the hulls are not united */
  bool united;        /* true if the hulls of each link form one surface; false with SurfaceOptions.pieces */
  const char* reason; /* reason why the union of the hulls of link `reason_link` failed (static text), which are then
                         separate solids; NULL: no union failed */
  int reason_link;
  double snap;    /* distance within which the union merged points [m] */
  bool closed;    /* true if every edge has a triangle on both sides */
  bool manifold;  /* true if every edge has exactly one triangle on each side */
  int pinches;    /* number of points where a surface touches itself */
  bool oriented;  /* true if all triangles are oriented consistently and outward */
  int components; /* number of groups of hulls that touch each other, directly or through other hulls */
  int cavities;   /* number of voids inside solids */
  int overlaps; /* number of overlapping pairs of hulls; `volume` counts their common volumes twice if the hulls are not
                   united */
  Vec3 low, high;   /* corners of the bounding box [m] */
  double volume;    /* total volume of the solids [m^3] */
  double mass;      /* mass of the links by their mass model [kg] */
  double part_mass; /* mass of the united solids of links with a density, otherwise of the links [kg] */
  double thickness; /* smallest wall thickness of the links [m] (surface_thickness); without union, smallest thickness
                       of a hull */
  double
      deviation; /* largest distance of the faces of round solids from the exact solids [m]; 0 without round solids */
  double thickness_spacing; /* sampling distance of the thickness [m]; 0 without union */
} SurfaceReport;

/* Appends the bounded hulls of a link, or of all links if link is -1, as a surface file. poses[links]: poses of the
 * links. The format is OBJ in metres, or binary STL or 3MF in millimetres. Returns a report of properties and defects,
 * which owns nothing. */
SurfaceReport export_surface(Text* out, const Model* model, int link, const Pose* poses, const SurfaceOptions* options);

enum { REMOVAL_SEGMENTS_MAX = 32 };
/* A path that removes one link from the assembly: straight translations, each proven free of collision with all other
 * links, which stay fixed. The proof includes links connected by a joint and pairs excluded from contact. */
typedef struct {
  bool apart;        /* true if the link initially intersects no other link; if false, no path is searched */
  bool found;        /* true if a path was found */
  int segment_count; /* number of segments; 0 without other links */
  Vec3 waypoints[REMOVAL_SEGMENTS_MAX]; /* displacement from the initial position after each segment, world axes [m]
 (size: segment_count) */
  double gap; /* smallest gap to other links at the ends of the segments [m]; INFINITY if no other link is near */
  int visited_count; /* number of positions that the search visited */
} PartRemoval;
/* Searches a path that removes a link from the assembly. link: index of the link. poses[links]: world poses. Returns a
 * report, which owns nothing. */
PartRemoval export_removal(const Model* model, const Pose* poses, int link, int threads);

/* Appends `text` with the characters & < > " escaped for XML and HTML. */
void xml_add_escaped(Text* out, const char* text);
/* Appends the low 1 to 4 bytes of an integer, little-endian. bytes: their number. */
void bytes_add_integer(Text* out, uint32_t value, int bytes);
/* Appends a number as a 4-byte little-endian float. Values outside the range of a float become infinite. */
void bytes_add_float(Text* out, double value);

#endif
