/* Private to render/. Draws images of a scene with a software rasterizer. Lengths are in m in the world frame. Image
 * coordinates are in pixels, x to the right and y down; pixel (i, j) covers [i, i + 1) x [j, j + 1). Colours are linear
 * light unless a name says sRGB. Images do not depend on the number of threads. */
#ifndef SDRS_RENDER_PICTURE_H
#define SDRS_RENDER_PICTURE_H

#include "render/render.h"

/* ---------------------------------------------------------------- picture (image.c) */

/* An image in sRGB with 3 bytes per pixel, rows from the top; owned. */
typedef struct {
  int width, height;
  uint8_t* rgb;
} RenderImage;

/* Creates a black image of width x height pixels. The caller frees it with image_destroy. */
void image_create(RenderImage* image, int width, int height);
/* Frees the bytes and zeroes the image. Accepts a zeroed image. */
void image_destroy(RenderImage* image);
/* Copies `source` into `image` with its upper left corner at (x, y) [px]. Clips pixels outside of `image`. The images
 * must differ. */
void image_paste(RenderImage* image, const RenderImage* source, int x, int y);
/* Appends the image as PNG to *file. Returns STATUS_NO_MEMORY, with *file unchanged, if the compressor has no memory.
 */
Status image_append_png(const RenderImage* image, Text* file);
/* Writes a PNG file atomically. Returns STATUS_IO, with errno set, if the file cannot be written, and STATUS_NO_MEMORY
 * if the compressor has no memory. */
Status image_write_png(const RenderImage* image, const char* path);
/* Writes a PNG file atomically. Returns STATUS_IO or STATUS_NO_MEMORY, with an error in diagnostics, if this fails. */
Status image_write_png_reported(const RenderImage* image, const char* path, Diagnostics* diagnostics);

/* ---------------------------------------------------------------- camera (camera.c) */

/* A pinhole camera. The image position (x, y) [px] of a point p with d = p - eye is x = width/2 + focal (right . d) /
 * (forward . d), y = height/2 - focal (up . d) / (forward . d). */
typedef struct {
  Vec3 eye;                /* position of the camera's centre of projection, world frame [m] */
  Vec3 right, up, forward; /* unit vectors of the camera axes, in the world frame */
  double width, height;    /* size of the image [px] */
  double focal;            /* focal length: image distance of two points one unit apart at unit distance [px] */
  double half_view;        /* tangent of half the field of view of the image's smaller side at zoom 1 */
  Vec3 target;             /* centre of the visible region [m] */
  double reach;            /* half of the length at the target that the image's smaller side shows [m] */
} RenderCamera;

/* Returns a camera for a standard view of a scene, with axes and field of view but without eye. up: unit vector against
 * gravity. width, height: size of the image [px]. zoom > 0.
 * The camera owns nothing. */
RenderCamera camera_create(RenderView view, Vec3 up, int width, int height, double zoom);
/* Returns a camera with axes and field of view but without eye, whose view direction two angles give [degrees].
 * azimuth: about `up` from the x axis; elevation: above the ground. */
RenderCamera camera_create_at_angles(RenderView view, double azimuth, double elevation, Vec3 up, int width, int height,
                                     double zoom);
/* Sets *azimuth and *elevation to the angles of a standard view [degrees]. */
void camera_angles(RenderView view, double* azimuth, double* elevation);
/* Projects a point [m, world] into the image. Sets *x and *y to its image position [px] and *distance to its distance
 * from the eye along `forward` [m]. Returns false, with *x and *y unchanged, if the point is not in front of the eye.
 */
bool camera_project(const RenderCamera* camera, Vec3 point, double* x, double* y, double* distance);
/* Returns the camera translated by `offset` [m, world]. */
RenderCamera camera_translated(RenderCamera camera, Vec3 offset);

/* Extent of the points that a camera must show. normal[k]: outward normals of the view pyramid's sides right, left, up
 * and down. side[k]: maximum of normal[k] . p over the points p. near, far: smallest and largest value of forward . p.
 */
typedef struct {
  Vec3 normal[4], forward;
  double tangent[4], side[4], near, far;
} CameraFit;
/* Returns a fit without points. margin[4]: fraction of half the image that stays empty at the right, left, top and
 * bottom, in [0, 1). The fit owns nothing. */
CameraFit camera_fit_create(const RenderCamera* camera, const double margin[4]);
/* Adds a point [m, world] to the fit. */
void camera_fit_add_point(CameraFit* fit, Vec3 point);
/* Adds a hull at a world pose to the fit. The bounding box and sphere replace the hull, so the fit may be too large but
 * not too small. Half-spaces add nothing. */
void camera_fit_add_hull(CameraFit* fit, const ModelHull* hull, Pose pose);
/* Moves the camera as close as possible such that every point of the fit is visible. Sets eye, target and reach.
 * Without points, the camera shows a region of one metre about the origin. */
void camera_fit_place(const CameraFit* fit, RenderCamera* camera);
/* Moves the camera as close as possible such that every point of the fit is visible, with `target` [m, world] at the
 * image centre. Sets eye, target and reach. */
void camera_fit_look_at(const CameraFit* fit, RenderCamera* camera, Vec3 target);
/* Returns an upper bound of direction . x over the points x of a hull at a world pose, from its bounding box and
 * sphere. direction: vector of any length in the world frame. */
double hull_extent_bound(const ModelHull* hull, Pose pose, Vec3 direction);

/* ---------------------------------------------------------------- stage (stage.c) */

/* Role of a hull in an image. */
typedef enum {
  HULL_BODY,    /* is shown completely and casts a shadow */
  HULL_FLOOR,   /* fixed and at least as wide as the moving links; its upward faces carry the grid */
  HULL_TERRAIN, /* floor much larger than the moving links, which need not be completely visible */
} HullPart;

/* Constant data of a run's images: colours, sharp edges and floors. Borrows the model. */
typedef struct {
  const Model* model;
  Vec3 up;           /* unit vector against gravity */
  HullPart* part;    /* role of each hull (size: hulls) */
  float (*color)[3]; /* colour of each link (size: links) */
  int* edge_first;   /* for each hull, the index in `edges` of the entry of its first triangle (size: hulls + 1) */
  uint8_t*
      edges; /* one entry per triangle of all hulls; bit k is set if the edge from corner k to corner k + 1 is sharp */
  Vec3 lower, upper;    /* bounding box of all hulls except terrain over the run [m] */
  uint8_t* srgb;        /* conversion table from linear light to sRGB (size: STAGE_TONES) */
  double* displacement; /* displacement of every vertex from the initial design [m] (size: vertices); NULL: hulls have
                           the colours of links */
  double largest_displacement; /* largest displacement, the end of the colour scale [m] */
} RenderStage;

enum { STAGE_TONES = 4096 };

/* A plane carries the grid if the cosine of its normal with `up` is at least this value. */
#define STAGE_FLOOR_COSINE 0.3

/* Creates the stage of a run with at least one row. Borrows the model, which must outlive the stage. The caller frees
 * the stage with stage_destroy. */
void stage_create(RenderStage* stage, const Model* model, const RunPoses* run);
/* Frees the stage's arrays and zeroes the stage. */
void stage_destroy(RenderStage* stage);
/* Makes every edge between non-coplanar faces count as sharp, so that it is drawn. */
void stage_mark_all_edges(RenderStage* stage);
/* Colours the hulls by the displacement of their vertices from the initial design, in link frames. initial: a model
 * with corresponding hulls. Allocates stage->displacement, which stage_destroy frees. */
void stage_color_by_displacement(RenderStage* stage, const Model* initial);
/* Sets color to the colour of the displacement scale in linear light. share: displacement relative to the largest one,
 * clamped to 0..1. The scale runs from pale grey through yellow and red to dark purple; its brightness decreases
 * monotonically. */
void displacement_color(double share, float color[3]);
/* Finds the ground plane at poses[links]. Sets *normal to its outward unit normal and *point to a point on it [m], in
 * the world frame. Returns false, with both unchanged, if there is none. */
bool stage_ground(const RenderStage* stage, const Pose* poses, Vec3* normal, Vec3* point);

/* Sets *patch to the rectangle of the ground plane below all visible hulls at poses[links] [m]. Returns false if there
 * is no ground plane. */
bool stage_ground_patch(const RenderStage* stage, const Pose* poses, GroundPatch* patch);
/* Returns the world position of the point with the patch coordinates u and v [m]. */
Vec3 ground_point(const GroundPatch* patch, double u, double v);
/* ---------------------------------------------------------------- rasteriser (raster.c) */

/* Depth samples of some rows of an image. A pixel row has rows_per_pixel sample rows with one sample per pixel. Sample
 * i of row r is at x = i + offset[r mod rows_per_pixel], y = (r + 1/2) / rows_per_pixel [px]. */
typedef struct {
  int width, first_row, row_count, rows_per_pixel;
  const double* offset;
  float* nearness; /* 1 / distance of the nearest triangle at each sample (size: row_count x width) */
  uint32_t* face;  /* index of the nearest triangle at each sample (size: row_count x width), or NULL */
} RenderTarget;

/* Rasterizes a triangle with the corners (x, y) [px], clipped to the target. Its nearness at (x, y) is plane[0] +
 * plane[1] x + plane[2] y. face: value for target->face where the triangle is the nearest. A sample on a shared edge
 * belongs to exactly one triangle. */
void raster_triangle(const RenderTarget* target, const double x[3], const double y[3], const double plane[3],
                     uint32_t face);
/* Sets plane[3] to the linear function plane[0] + plane[1] x + plane[2] y with the values w at the corners (x, y) of a
 * triangle. Returns false, with plane undefined, if the triangle has no area or the plane is not finite. */
bool raster_plane(const double x[3], const double y[3], const double w[3], double plane[3]);

/* ---------------------------------------------------------------- shadows (shadow.c) */

/* Shadow map: heights towards the light of all hulls that cast shadows, the casters. Map coordinates of a point p: x =
 * s . (p - origin) / texel, y = t . (p - origin) / texel, height = light . (p - origin) / texel. */
typedef struct {
  Vec3 light, s, t;        /* unit vectors: direction to the light, and axes of the map */
  Vec3 origin;             /* point with the shadow map's coordinates x = y = height = 0 [m] */
  double texel;            /* width of a texel, a cell of the shadow map [m] */
  int size;                /* texels per side; 0 without casters */
  int blur;                /* half width of the penumbra, the soft border of a shadow [texel] */
  float* height;           /* height of the uppermost caster, or -INFINITY (size: size x size) */
  float *lowest, *highest; /* extremes of `height` over the penumbra square about each texel (size: size x size) */
  float* owner; /* index of the only hull that covers the penumbra square about each texel, or -1 if there is none or
                   several (size x size) */
} ShadowMap;

/* Creates the shadow map of the bodies at poses[links], with the resolution that the camera needs. light: unit vector
 * towards the light. map->size is 0 if no body casts a shadow. The caller frees the map with shadow_destroy. */
void shadow_create(ShadowMap* map, const RenderStage* stage, const Pose* poses, const RenderCamera* camera, Vec3 light);
/* Frees the map's arrays and zeroes the map. */
void shadow_destroy(ShadowMap* map);
/* Returns the fraction of the light, 0 to 1, that reaches a point on the surface of a hull; 1 outside the map.
 * point[3]: map coordinates x, y and height [texel]. slope[2]: derivatives of the surface's height with respect to the
 * map coordinates x and y. */
float shadow_visibility(const ShadowMap* map, const float point[3], const float slope[2], int hull);

/* ---------------------------------------------------------------- scene (scene.c) */

/* Bodies at poses[links]. Layer 0 is opaque. Later layers are transparent ghosts of the moving links, drawn with
 * `opacity` where they are nearer to the camera than layer 0. */
typedef struct {
  const Pose* poses;
  double opacity; /* opacity of the bodies in this layer, 0 to 1 */
} RenderLayer;

/* Draws bodies, floors with grid, and soft shadows, but no text. layers[layer_count], layer_count >= 1. Overwrites the
 * whole image, which must have the camera's size. */
void render_scene(RenderImage* image, const RenderStage* stage, const RenderCamera* camera, const RenderLayer* layers,
                  int layer_count, int threads);

/* ---------------------------------------------------------------- words and marks (label.c) */

/* Overlays that render_marks draws, with their scales. */
typedef struct {
  unsigned show;  /* sum of RENDER_CONTACTS, RENDER_FORCES, ... */
  double newtons; /* force [N] that the arrow in the image's key represents, for a force perpendicular to the view at
                     the target */
  double metres_per_newton; /* length of a force arrow in the scene divided by the force [m/N] */
  const char* path;         /* label of the drawn path, or NULL */
} RenderMarks;
/* Length of the key's arrow relative to the image's smaller side. */
#define KEY_ARROW_SHARE 0.09

/* Text over an image. Empty texts are not drawn. */
typedef struct {
  const char *title, *time;
  bool ground;              /* ticks in metres along the ground grid, or a scale bar without ground */
  bool legend;              /* colours and names of the moving links, if there are few */
  const RenderMarks* marks; /* overlays listed in the key, or NULL */
} RenderLabels;

/* Draws the key of the overlays at the height `top` [px], with line breaks. letter: height of a capital and left margin
 * [px]. */
void render_key(RenderImage* image, const RenderStage* stage, const RenderCamera* camera, const RenderMarks* marks,
                double top, double letter);

/* Writes the title, time, ticks and legend of `labels` over the image. poses: (links). */
void render_labels(RenderImage* image, const RenderStage* stage, const RenderCamera* camera, const Pose* poses,
                   const RenderLabels* labels);

/* ---------------------------------------------------------------- hulls of a decomposed shape (hulls.c) */

/* Moves the hulls of a decomposed shape apart until gaps separate them. Sets the positions in poses[hulls] and keeps
 * the rotations. The model has one hull per link; the shape has about unit size. More than 64 hulls are only moved away
 * from the centre. */
void separate_hulls(const Model* model, Pose* poses);
/* Returns the gap between the moved hulls relative to the size of the shape. count: number of hulls. */
double hulls_gap(int count);

/* ---------------------------------------------------------------- text and lines (text.c) */

/* Writes text with its upper left corner at (x, y) [px]. scale: pixels per unit; capitals are 7 units high. Bytes
 * outside printable ASCII become '?'. Cuts a long text. */
void image_text(RenderImage* image, double x, double y, double scale, const char* text);
/* Returns the width of a text [px]. */
double image_text_width(double scale, const char* text);
/* Draws a pale background for text, slightly larger than the given rectangle [px] and clipped to the image. */
void image_backing(RenderImage* image, double x, double y, double width, double height);
#define TEXT_CAPITAL 7.0 /* height of a capital in units of `scale` */
/* Callback for a pixel that a letter covers partly. share: covered fraction, 0 to 1. */
typedef void (*LetterPixel)(void* context, int x, int y, double share);
/* Draws antialiased text by calling `put` for each covered pixel, also for pixels outside the image. x: left edge; y:
 * top of the capitals; capital: height of a capital [px]. Returns false if the program has no font. */
bool letters_draw(double x, double y, double capital, const char* text, LetterPixel put, void* context);
/* Returns the width of antialiased text [px], or 0 without a font. capital: height of a capital [px]. */
double letters_width(double capital, const char* text);
/* Draws a straight dark line. All lengths are in pixels. */
void image_line(RenderImage* image, double x0, double y0, double x1, double y1, double width);
/* Draws a line, or a dot if it has zero length. Lengths are in pixels. color[3]: sRGB; opacity: 0 to 1. */
void image_stroke(RenderImage* image, double x0, double y0, double x1, double y1, double width, const uint8_t color[3],
                  double opacity);
/* Fills a convex polygon, antialiased. corner (count x 2): corners in either orientation [px]. color[3]: sRGB; opacity:
 * 0 to 1. */
void image_polygon(RenderImage* image, const double (*corner)[2], int count, const uint8_t color[3], double opacity);
/* Blends a rectangle with a colour, antialiased. Lengths are in pixels. color[3]: sRGB; opacity: 0 to 1. */
void image_rectangle(RenderImage* image, double x0, double y0, double x1, double y1, const uint8_t color[3],
                     double opacity);

/* ---------------------------------------------------------------- overlays (overlay.c) */

/* Draws the path of a link's centre of mass up to the recorded state `row`, with a cross at its end. link: index, or
 * RENDER_PATH_ALL for all movable links. */
void render_path(RenderImage* image, const RenderCamera* camera, const Model* model, const RunPoses* run, int row,
                 int link);

/* Draws an arrow with a pale rim from (x0, y0) to its tip at (x1, y1) [px], unless it is shorter than two pixels.
 * color[3]: sRGB. */
void image_arrow(RenderImage* image, double x0, double y0, double x1, double y1, const uint8_t color[3]);
/* Draws a contact dot at (x, y) [px]. */
void image_contact_dot(RenderImage* image, double x, double y);
/* Draws the square that represents a separating plane. corner (4 x 2): its corners [px]. */
void image_plane_square(RenderImage* image, const double corner[4][2]);
/* Draws the overlays of marks->show: separating planes, contact points and contact forces. time: time of the forces
 * [s]. contacts: contacts of the whole run, or NULL. poses: (links). */
void render_marks(RenderImage* image, const RenderCamera* camera, const Model* model, const Pose* poses, double time,
                  const RunContacts* contacts, const RenderMarks* marks);
/* Returns the force [N], a round number, that the arrow in the image's key represents. Nearly all forces of the run
 * then have arrows of at most FORCE_SPAN times the length of the key's arrow. Returns 1 without forces. */
double force_unit(const RunContacts* contacts);
#define FORCE_SPAN 2.5

/* ---------------------------------------------------------------- panels (panel.c) */

/* A run with its stage and a camera that shows the whole run. Borrows subject and options. */
typedef struct {
  const RenderSubject* subject;
  const RenderOptions* options;
  RenderStage stage;
  RenderCamera camera; /* relative to the followed link if options->follow >= 0 */
  RenderMarks marks;
} RenderRun;

/* Creates stage, camera and scales of a run. Borrows subject and options. The caller frees *render with
 * render_run_destroy. */
void render_run_create(RenderRun* render, const RenderSubject* subject, const RenderOptions* options);
/* Frees the stage of *render. */
void render_run_destroy(RenderRun* render);

/* Panels of an image, from left to right, with the same camera and scales. Borrows the subjects. */
typedef struct {
  RenderRun panels[RENDER_SUBJECTS_MAX];
  int count;
  const RenderOptions* options;
} RenderSheet;
/* Creates a sheet with one panel per subject, at most RENDER_SUBJECTS_MAX. Borrows subjects and options. The caller
 * frees the sheet with sheet_destroy. */
void sheet_create(RenderSheet* sheet, RenderSubjects subjects, const RenderOptions* options);
/* Frees all panels. */
void sheet_destroy(RenderSheet* sheet);
/* Creates an image of the sheet's size. The caller frees it with image_destroy. */
void sheet_create_image(const RenderSheet* sheet, RenderImage* image);
/* Draws all runs of the sheet at a time after their start [s], at the nearest recorded row of each run. NAN selects the
 * last row. Overwrites the whole image, which must come from sheet_create_image. */
void sheet_draw(const RenderSheet* sheet, double time, int threads, RenderImage* image);
/* Returns the duration of the longest run, from its first to its last row [s]. */
double sheet_duration(const RenderSheet* sheet);
/* Returns the camera at a row. If options->follow >= 0, the camera moves with the followed link. */
RenderCamera render_run_camera(const RenderRun* render, int row);
/* Draws the bodies at a row and the ghosts of options->trail. Overwrites the whole image, which must have the size
 * options->width x options->height. */
void render_run_bodies(const RenderRun* render, int row, int threads, RenderImage* image);
/* Draws the overlays and the path of the centre of mass at a row over the image. */
void render_run_marks(const RenderRun* render, int row, RenderImage* image);
/* Draws title, time and ticks of a row over the image, if options->labels is true. titled: false to omit title, legend
 * and key. */
void render_run_labels(const RenderRun* render, int row, bool titled, RenderImage* image);
/* Draws bodies, overlays and text of a row over the whole image, which must have the size options->width x
 * options->height. titled: false to omit title, legend and key. */
void render_run_panel(const RenderRun* render, int row, bool titled, int threads, RenderImage* image);

#endif
