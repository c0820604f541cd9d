/* render: draws images and films of a run with a software rasterizer, and plots with the gnuplot program. Functions
 * borrow their inputs and write files atomically. */
#ifndef SDRS_RENDER_H
#define SDRS_RENDER_H

#include "run/run.h"

/* ---------------------------------------------------------------- pictures */

typedef enum { RENDER_ISO, RENDER_FRONT, RENDER_SIDE, RENDER_TOP } RenderView;

/* A model and a run to be drawn. All pointers are borrowed. */
typedef struct {
  const Model* model;
  const RunPoses* run;
  const RunContacts* contacts; /* contact forces, drawn with RENDER_FORCES; NULL if they were not recorded */
  const Model* initial; /* the initial design with the same hulls, used by RENDER_DISPLACEMENT; NULL if displacements
                           are not drawn */
  const char* caption;  /* title; NULL selects the scene's name */
} RenderSubject;

enum { RENDER_PATH_NONE = -1, RENDER_PATH_ALL = -2 };

/* Overlays of a picture, combined in RenderOptions.show. */
enum {
  RENDER_CONTACTS = 1 << 0,     /* a dot where two hulls are in contact */
  RENDER_FORCES = 1 << 1,       /* an arrow for the force of every pair of links in contact */
  RENDER_PLANES = 1 << 2,       /* separating planes of nearby hulls */
  RENDER_EDGES = 1 << 3,        /* all edges of all hulls, not only sharp ones */
  RENDER_DISPLACEMENT = 1 << 4, /* hulls coloured by the displacement of their vertices since the initial design */
};

typedef struct {
  int width, height; /* size of one panel [px] */
  RenderView view;
  bool has_azimuth, has_elevation;
  double azimuth, elevation; /* view direction [degrees], replaces the direction of `view`: azimuth about up from the x
                                axis, elevation above the ground */
  double zoom;               /* > 0; at 1 the whole run fits into the image */
  bool has_look_at;          /* look_at [m] is at the image centre */
  Vec3 look_at;
  int follow;  /* link that the camera moves with; -1 for a fixed camera */
  double time; /* time of the image [s], rounded to the nearest recorded time; NAN selects the last */
  int strip;   /* number of panels side by side, from the first recorded time to `time`; 0 for one image */
  int path;    /* link whose centre-of-mass path is drawn, RENDER_PATH_NONE, or RENDER_PATH_ALL for all movable links */
  int trail;   /* number of earlier states drawn as ghosts */
  double fps;  /* images per simulated second of films and series of frames */
  bool labels; /* draws title, ticks and names */
  unsigned show;  /* sum of the flags RENDER_CONTACTS, RENDER_FORCES, ... */
  double newtons; /* force represented by the key's arrow [N]; 0 selects a round number from the forces of the run */
  int threads;
} RenderOptions;
/* Returns the default options. The default is one image of 960 x 720 px of the last recorded row, with a fixed
 * camera. */
RenderOptions render_defaults(void);

/* One or two subjects drawn side by side with the same camera and scale. A link that the options name must have the
 * same index in both models. */
typedef struct {
  const RenderSubject* subjects; /* (count) */
  int count;
} RenderSubjects;
enum { RENDER_SUBJECTS_MAX = 2 };

/* Writes one PNG: an image, or a strip of images of one subject. If this fails, returns STATUS_IO with an error in
 * diagnostics and leaves an existing file unchanged. */
Status render_picture(const char* path, RenderSubjects subjects, const RenderOptions* options,
                      Diagnostics* diagnostics);
/* Writes images frame_00000.png, frame_00001.png, ... to `folder`, options->fps images per simulated second.
 * Creates the folder. Removes frames of an earlier call with higher numbers. Sets *count to the number of images. If an
 * image cannot be written, returns STATUS_IO with an error in diagnostics and sets *count to 0. */
Status render_frames(const char* folder, RenderSubjects subjects, const RenderOptions* options, int* count,
                     Diagnostics* diagnostics);
/* Writes a film with the program ffmpeg, options->fps images per simulated second. Sets *count to the number of images.
 * Returns STATUS_IO with an error in diagnostics if ffmpeg is not installed or fails. An existing file is then
 * unchanged. */
Status render_film(const char* path, RenderSubjects subjects, const RenderOptions* options, int* count,
                   Diagnostics* diagnostics);
/* Computing times of one image [s]. */
typedef struct {
  double bodies, marks, words, png;
  size_t bytes; /* size of the PNG */
} RenderTimes;
/* Measures the computing time of images without writing them. Draws `count` images, equally spaced over the run, and
 * sets times (count) to their computing times. Returns the time [s] of the preparation before the first image. Never
 * fails. */
double render_measure(const RenderSubject* subject, const RenderOptions* options, int count, RenderTimes* times);
/* Returns true if the hulls of two models correspond. Corresponding models have the same number of hulls, on the same
 * links, with the same numbers of vertices. The positions of the vertices may differ. */
bool render_hulls_correspond(const Model* model, const Model* initial);

/* A shape and its convex decomposition, drawn in three panels (render/hulls.c). The panels show the shape's surface,
 * the coloured hulls, and the hulls moved apart. Coordinates may have any size. up: index of the upward axis, 0, 1, 2
 * for x, y, z. */
typedef struct {
  const ConvexHull* surface; /* surface of the shape as triangles; not convex */
  const ConvexHull* hulls;
  int hull_count;
  int up;
  const char* piece; /* word for one hull in the image, such as "convex hull" */
} HullPicture;
/* Writes the image of a decomposition as PNG. Borrows the hulls during the call. If this fails, returns STATUS_IO with
 * an error in diagnostics and leaves an existing file unchanged. */
Status render_hulls(const char* path, const HullPicture* picture, int threads, Diagnostics* diagnostics);

/* ---------------------------------------------------------------- shared by images, pages and models */

/* Rectangle of the ground below all visible hulls over the run. Its points are origin + u axis[0] + v axis[1], with
 * low[0] <= u <= high[0] and low[1] <= v <= high[1]. */
typedef struct {
  Vec3 origin;            /* the point of the ground plane nearest to the world origin [m] */
  Vec3 axis[2];           /* unit vectors */
  double low[2], high[2]; /* bounds of u and v [m] */
} GroundPatch;

/* Ground and extent of a run. */
typedef struct {
  Vec3 up;           /* unit vector against gravity */
  Vec3 lower, upper; /* bounding box of all hulls except terrain over the run [m] */
  bool has_ground;
  GroundPatch ground; /* ground at the first row */
} RenderSurroundings;
/* Returns the ground and the extent of a run with at least one row, in the world frame [m]. Allocates temporary
 * memory. */
RenderSurroundings render_surroundings(const Model* model, const RunPoses* run);

/* Sets *u and *v to the unit axes of the grid on a plane. normal: unit normal of the plane. (*u, *v, normal) is a
 * right-handed frame, and *u and *v are as near to world axes as possible. A zero normal gives NaN. */
void plane_axes(Vec3 normal, Vec3* u, Vec3* v);
/* Returns the spacing of grid lines [m] that gives 8 to 20 lines over `length` > 0 [m]. The spacing is 1, 2 or 5 times
 * a power of ten. */
double grid_spacing(double length);
/* Returns the spacing of the major grid lines [m]. spacing: result of grid_spacing. The result is 5 or 10 times the
 * power of ten in `spacing`. */
double grid_major_spacing(double spacing);
/* Sets color (linear light, 0 to 1) to the default colour of link `index` >= 0. The palette by Okabe and Ito is used,
 * whose colours colour-blind readers can distinguish. After the last colour the palette repeats, first darker, then
 * lighter. */
void palette_color(int index, float color[3]);
/* Sets color (links x 3) to the colours of all links in linear light, 0 to 1. A colour given in the scene has priority.
 * Otherwise fixed links are light grey and movable links have a colour of the palette. */
void link_colors(const Model* model, float (*color)[3]);
/* Converts a value of sRGB (0 to 1) to linear light (0 to 1). NaN and negative values give 0. Values above 1 continue
 * the curve. */
float linear_from_srgb(double value);
/* Converts linear light (0 to 1) to a value of sRGB (0 to 1). Other values continue the curve. */
double srgb_from_linear(double value);
/* Returns true if the arrow of a contact force shows the force on link a. The arrow shows the force on a if only a can
 * move, or if both links can move and only a is not part of a mechanism. Otherwise the arrow shows the force on link b,
 * as contacts.csv does. */
bool is_force_shown_on_a(const Model* model, const RunContact* contact);
extern const uint8_t FORCE_COLOR[3]; /* sRGB colour of force arrows */

/* ---------------------------------------------------------------- plots (render/plot*.c) */

/* Options of a plot. Texts are borrowed. A text NULL is replaced by the name in the table or run. */
typedef struct {
  int width, height; /* px */
  bool log_y;        /* logarithmic y axis */
  bool log_x;
  const char *title, *x_label, *y_label;
  /* only for plot_columns: column of the abscissa, and column whose distinct values give one curve each */
  const char *x, *by;
} PlotOptions;
/* Returns the default options of a plot. The size is 1200 x 800 px if `overview` is true, otherwise 800 x 500 px. */
PlotOptions plot_defaults(bool overview);

/* Returns the name of plot `index` >= 0 of a run, such as "energy". Returns NULL after the last plot. The text is
 * static. */
const char* plot_name(int index);
/* Draws a plot of one or several runs with gnuplot.
 * folders (folder_count): run folders. what: name of the plot, or NULL for every plot that has data. The extension of
 * `path` selects PNG, SVG or PDF. With several folders, the names of the curves contain the name of the folder. Returns
 * STATUS_IO with an error if gnuplot is not installed or a file cannot be written. Returns STATUS_BAD_INPUT if there is
 * nothing to plot or a file is invalid. */
Status plot_runs(const char* path, const char* const* folders, int folder_count, const char* what,
                 const PlotOptions* options, Diagnostics* diagnostics);
/* Draws the columns of a CSV file whose names match the patterns.
 * patterns: comma-separated shell patterns, or NULL for all columns. The abscissa is the column options->x if given,
 * otherwise `time` if it exists, otherwise the first column. Points are joined in row order. Returns STATUS_IO if the
 * file cannot be read or the plot cannot be drawn. Returns STATUS_BAD_INPUT if a column does not exist. */
Status plot_columns(const char* path, const char* file, const char* patterns, const PlotOptions* options,
                    Diagnostics* diagnostics);
/* Finds the CSV file of a run in which most of the patterns match a column. Returns its path, which the caller frees
 * with memory_free. If several files match equally many patterns, the first file is chosen. Adds notes about the chosen
 * file, other files that match, and patterns without a column. Returns NULL with an error if no file has a matching
 * column. */
char* plot_find_file(const char* folder, const char* patterns, Diagnostics* diagnostics);

#endif
