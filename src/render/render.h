/* render: draws images and films of a run with a software rasterizer, and plots with gnuplot. Functions borrow their
 * inputs and write files atomically. */
#ifndef SDRS_RENDER_H
#define SDRS_RENDER_H

#include "run/run.h"

typedef enum { RENDER_ISO, RENDER_FRONT, RENDER_SIDE, RENDER_TOP } RenderView;

/* A model and its run. All pointers are borrowed. */
typedef struct {
  const Model* model;
  const RunPoses* run;
  const RunContacts* contacts; /* contact forces for RENDER_FORCES, or NULL */
  const Model* initial;        /* initial design with corresponding hulls for RENDER_DISPLACEMENT, or NULL */
  const char* caption;         /* title; NULL: the scene's name */
} RenderSubject;

enum { RENDER_PATH_NONE = -1, RENDER_PATH_ALL = -2 };

/* Overlays of a picture, bits of RenderOptions.show. */
enum {
  RENDER_CONTACTS = 1 << 0,     /* a dot where two hulls are in contact */
  RENDER_FORCES = 1 << 1,       /* an arrow for the force of every pair of links in contact */
  RENDER_PLANES = 1 << 2,       /* separating planes of nearby hulls */
  RENDER_EDGES = 1 << 3,        /* all edges of all hulls, not only sharp ones */
  RENDER_DISPLACEMENT = 1 << 4, /* hulls coloured by the displacement of their vertices from the initial design */
};

typedef struct {
  int width, height; /* size of one panel [px] */
  RenderView view;
  bool has_azimuth, has_elevation;
  double azimuth, elevation; /* view direction that replaces the direction of `view`, if has_azimuth or has_elevation is
                                true [degrees]: azimuth about up from the x axis, elevation above the ground */
  double zoom;               /* > 0; at 1 the whole run fits into the image */
  bool has_look_at;          /* true if look_at [m] is at the image centre */
  Vec3 look_at;
  int follow;     /* link that the camera moves with; -1: fixed camera */
  double time;    /* time of the image [s], rounded to a recorded time; NAN: the last recorded time */
  int strip;      /* number of panels side by side, from the first recorded time to `time`; 0: one image */
  int path;       /* link whose centre of mass has a path, RENDER_PATH_NONE, or RENDER_PATH_ALL for all movable links */
  int trail;      /* number of earlier states drawn as ghosts */
  double fps;     /* images per simulated second of films and series of frames */
  bool labels;    /* title, ticks and names */
  unsigned show;  /* sum of RENDER_CONTACTS, RENDER_FORCES, ... */
  double newtons; /* force that the arrow in the image's key represents [N]; 0 selects a round number from the forces of
                     the run */
  int threads;
} RenderOptions;
/* Returns the default options: one image of 960 x 720 px of the last recorded row, with a fixed camera. */
RenderOptions render_defaults(void);

/* One or two subjects side by side with the same camera and scale. Links of the options must have the same index in
 * both models. */
typedef struct {
  const RenderSubject* subjects; /* runs to draw, from left to right (size: count) */
  int count;
} RenderSubjects;
enum { RENDER_SUBJECTS_MAX = 2 };

/* Writes one PNG: an image, or a strip of images of one subject. Returns STATUS_IO, with an error and the file
 * unchanged, if this fails. */
Status render_picture(const char* path, RenderSubjects subjects, const RenderOptions* options,
                      Diagnostics* diagnostics);
/* Writes images frame_00000.png, frame_00001.png, ... to `folder`, which is created, with options->fps images per
 * simulated second. Removes frames of an earlier call with higher numbers. Sets *count to the number of images. Returns
 * STATUS_IO, with an error and *count 0, if an image cannot be written. */
Status render_frames(const char* folder, RenderSubjects subjects, const RenderOptions* options, int* count,
                     Diagnostics* diagnostics);
/* Writes a film with ffmpeg, with options->fps images per simulated second. Sets *count to the number of images.
 * Returns STATUS_IO, with an error and the file unchanged, if ffmpeg is not installed or fails. */
Status render_film(const char* path, RenderSubjects subjects, const RenderOptions* options, int* count,
                   Diagnostics* diagnostics);
/* Computing times of one image [s]. */
typedef struct {
  double bodies, marks, words, png; /* drawing bodies, overlays and text; compression */
  size_t bytes;                     /* size of the PNG */
} RenderTimes;
/* Measures the computing time of `count` images, equally spaced over the run, without writing them. Sets times[count].
 * Returns the time of the preparation before the first image [s]. */
double render_measure(const RenderSubject* subject, const RenderOptions* options, int count, RenderTimes* times);
/* Returns true if the hulls of two models correspond: equal numbers of hulls, on the same links, with equal numbers of
 * vertices. */
bool render_hulls_correspond(const Model* model, const Model* initial);

/* A shape and its convex decomposition in three panels: surface, coloured hulls, and hulls moved apart. Coordinates may
 * have any size. up: index of the upward axis, 0, 1, 2 for x, y, z. */
typedef struct {
  const ConvexHull* surface; /* triangles of the shape's surface, which is not convex */
  const ConvexHull* hulls;
  int hull_count;
  int up;
  const char* hull_term; /* word for one hull in the image, such as "convex hull" */
} HullPicture;
/* Writes the image of a decomposition as PNG. Returns STATUS_IO, with an error and the file unchanged, if this fails.
 */
Status render_hulls(const char* path, const HullPicture* picture, int threads, Diagnostics* diagnostics);

/* Rectangle of the ground below all visible hulls over the run: points origin + u axis[0] + v axis[1] with low[0] <= u
 * <= high[0] and low[1] <= v <= high[1]. */
typedef struct {
  Vec3 origin;            /* point of the ground plane nearest to the world origin [m] */
  Vec3 axis[2];           /* unit vectors in the ground plane along which u and v are measured */
  double low[2], high[2]; /* bounds of u and v [m] */
} GroundPatch;

/* Ground and extent of a run. */
typedef struct {
  Vec3 up;           /* unit vector against gravity */
  Vec3 lower, upper; /* bounding box of all hulls except terrain over the run [m] */
  bool has_ground;
  GroundPatch ground; /* ground at the first row */
} RenderSurroundings;
/* Returns ground and extent of a run with at least one row, in the world frame [m]. */
RenderSurroundings render_surroundings(const Model* model, const RunPoses* run);

/* Sets *u and *v to the unit axes of the grid on a plane with the unit normal `normal`. (*u, *v, normal) is a
 * right-handed frame, as near to world axes as possible. A zero normal gives NaN. */
void plane_axes(Vec3 normal, Vec3* u, Vec3* v);
/* Returns the spacing of grid lines with 8 to 20 lines over `length` > 0 [m]: 1, 2 or 5 times a power of ten. */
double grid_spacing(double length);
/* Returns the spacing of the major grid lines [m]. spacing: result of grid_spacing. The result is 5 or 10 times the
 * power of ten in `spacing`. */
double grid_major_spacing(double spacing);
/* Sets color to the default colour of link `index` in linear light, 0 to 1. Uses the palette of Okabe and Ito, whose
 * colours colour-blind readers can distinguish. The palette repeats, first darker, then lighter. */
void palette_color(int index, float color[3]);
/* Sets color (links x 3) to the colours of all links in linear light, 0 to 1. A link without colour in the scene is
 * light grey if fixed, and has a colour of the palette if movable. */
void link_colors(const Model* model, float (*color)[3]);
/* Converts a value of sRGB (0 to 1) to linear light (0 to 1). NaN and negative values give 0; values above 1 continue
 * the curve. */
float linear_from_srgb(double value);
/* Converts linear light (0 to 1) to a value of sRGB (0 to 1). Other values continue the curve. */
double srgb_from_linear(double value);
/* Returns true if the arrow of a contact shows the force on link a, and false if it shows the force on link b, which
 * contacts.csv contains. The arrow shows the force on a if only a can move, or if both can move and only b is part of a
 * mechanism. */
bool is_force_shown_on_a(const Model* model, const RunContact* contact);
extern const uint8_t FORCE_COLOR[3]; /* sRGB colour of force arrows */

/* Options of a plot. Texts are borrowed. A text that is NULL is replaced by the name in the table or run. */
typedef struct {
  int width, height; /* size of the image [px] */
  bool log_y;        /* logarithmic y axis */
  bool log_x;
  const char *title, *x_label, *y_label;
  /* for plot_columns only: column of the abscissa, and column whose distinct values give one curve each */
  const char *x, *by;
} PlotOptions;
/* Returns the default options of a plot: 1200 x 800 px with `overview`, otherwise 800 x 500 px. */
PlotOptions plot_defaults(bool overview);

/* Returns the static name of plot `index` of a run, such as "energy", or NULL after the last plot. */
const char* plot_name(int index);
/* Draws a plot of folders[folder_count], one or several runs, with gnuplot. name: name of the plot, or NULL for every
 * plot with data. The extension of `path` selects PNG, SVG or PDF. With several folders, names of curves contain the
 * name of the folder. Returns STATUS_IO with an error if gnuplot is not installed or a file cannot be written. Returns
 * STATUS_BAD_INPUT with an error if there is nothing to plot or a file is invalid. */
Status plot_runs(const char* path, const char* const* folders, int folder_count, const char* name,
                 const PlotOptions* options, Diagnostics* diagnostics);
/* Draws the columns of a CSV file that match the patterns. patterns: comma-separated shell patterns, or NULL for all
 * columns. The abscissa is options->x if given, otherwise `time` if it exists, otherwise the first column. Points are
 * joined in row order. Returns STATUS_IO if the file cannot be read or the plot cannot be drawn, and STATUS_BAD_INPUT
 * if a column does not exist. */
Status plot_columns(const char* path, const char* file, const char* patterns, const PlotOptions* options,
                    Diagnostics* diagnostics);
/* Returns the path of the first CSV file of a run in which most of the patterns match a column. Adds notes about this
 * file, other matching files, and patterns without a column. Returns NULL, with an error, if no file has a matching
 * column. The caller frees the path with memory_free. */
char* plot_find_file(const char* folder, const char* patterns, Diagnostics* diagnostics);

#endif
