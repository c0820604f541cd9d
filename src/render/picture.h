/* Pictures of a scene by a software rasteriser: no GPU, no display. Private to render/.
 * Lengths m, world frame; picture coordinates in pixels, x to the right, y down, pixel (i, j) covers
 * [i, i + 1) x [j, j + 1). Colours are linear light unless a name says sRGB.
 * The same input gives the same bytes for any number of threads. */
#ifndef SDRS_RENDER_PICTURE_H
#define SDRS_RENDER_PICTURE_H

#include "render/render.h"

/* ---------------------------------------------------------------- picture (image.c) */

/* sRGB, 3 bytes a pixel, rows from the top. Owns its bytes. */
typedef struct {
  int width, height;
  uint8_t* rgb;
} RenderImage;

/* A black picture of width x height pixels; freed with image_destroy. */
void image_create(RenderImage* image, int width, int height);
/* Frees its bytes and zeroes it; accepts a zeroed one. */
void image_destroy(RenderImage* image);
/* Copy `source` into `image`, another one, with its upper left corner at (x, y) [px]; what falls outside is dropped. */
void image_paste(RenderImage* image, const RenderImage* source, int x, int y);
/* Append the picture as PNG (png.c). STATUS_NO_MEMORY: nothing was added. file is the caller's. */
Status image_add_png(const RenderImage* image, Text* file);
/* PNG, written beside the name and renamed. STATUS_IO leaves errno set. Also STATUS_NO_MEMORY. */
Status image_write_png(const RenderImage* image, const char* path);
/* The same with a diagnostic. Also STATUS_NO_MEMORY. */
Status image_write_reported(const RenderImage* image, const char* path, Diagnostics* diagnostics);

/* ---------------------------------------------------------------- camera (camera.c) */

/* A pinhole: a point p lies at x = width/2 + focal (right . d) / (forward . d), y = height/2 - focal (up . d) /
 * (forward . d) with d = p - eye. */
typedef struct {
  Vec3 eye;                /* m */
  Vec3 right, up, forward; /* unit, world */
  double width, height;    /* px */
  double focal;            /* px */
  double half_view;        /* tangent of half the smaller field of view, without zoom */
  Vec3 target;             /* the middle of what is looked at [m] */
  double reach;            /* half the smaller side of the picture at the target [m] */
} RenderCamera;

/* Looking direction of a view about the scene's up axis (unit), with the picture's size [px], field of view and zoom
 * (> 0); the eye is not set yet. By value: nothing to free. */
RenderCamera camera_create(RenderView view, Vec3 up, int width, int height, double zoom);
/* The same from another direction [degrees]: azimuth from the x axis about up, elevation above the ground. */
RenderCamera camera_from(RenderView view, double azimuth, double elevation, Vec3 up, int width, int height,
                         double zoom);
/* Azimuth and elevation of the view itself [degrees]. */
void camera_angles(RenderView view, double* azimuth, double* elevation);
/* Picture position [px] and distance along forward [m]. False when the point is not in front of the eye. *x and *y
 * are set only with true. */
bool camera_project(const RenderCamera* camera, Vec3 point, double* x, double* y, double* distance);
/* The camera moved by `offset` [m, world] without turning. */
RenderCamera camera_moved(RenderCamera camera, Vec3 offset);

/* Extent that a camera must show, as four support values: of all points p added so far,
 *   side[k] = max n_k . p,   n_k the outward normals of the viewing pyramid (right, left, up, down),
 *   near and far = extreme forward . p. */
typedef struct {
  Vec3 normal[4], forward;
  double tangent[4], side[4], near, far;
} CameraFit;
/* Nothing is seen yet. margin: the share of the half picture that stays empty at the right, left, top, bottom; 0 <=
 * margin < 1. */
CameraFit camera_fit_begin(const RenderCamera* camera, const double margin[4]);
/* One more point that is to be seen [m, world frame]. */
void camera_fit_add_point(CameraFit* fit, Vec3 point);
/* Support of a hull under a pose, bounded by its box and its sphere: never less than the true one. Half-spaces add
 * nothing. pose: of the hull's link, in the world. */
void camera_fit_add(CameraFit* fit, const ModelHull* hull, Pose pose);
/* The closest eye from which every point lies inside the pyramid. Sets eye and reach; without any point, that of a
 * metre about the origin. */
void camera_fit_place(const CameraFit* fit, RenderCamera* camera);
/* The same with `target` in the middle of the picture. target in metres, world frame. */
void camera_fit_look_at(const CameraFit* fit, RenderCamera* camera, Vec3 target);
/* Largest direction . x over the hull under the pose, from its box and sphere (an upper bound). direction in the
 * world, of any length; metres for a unit one. */
double hull_extent(const ModelHull* hull, Pose pose, Vec3 direction);

/* ---------------------------------------------------------------- stage (stage.c) */

/* How a hull takes part in a picture. */
typedef enum {
  HULL_BODY,    /* seen whole, casts a shadow */
  HULL_FLOOR,   /* fixed and as wide as what moves: its upward faces carry the metric grid */
  HULL_TERRAIN, /* fixed and much larger than what moves: a floor that the camera need not show whole */
} HullPart;

/* Constants of a run: colours, edges, which hulls are ground. Borrows the model. */
typedef struct {
  const Model* model;
  Vec3 up;           /* unit, against gravity */
  HullPart* part;    /* (hulls) */
  float (*color)[3]; /* (links) */
  int* edge_first;   /* first triangle of a hull in `edges`  (hulls + 1) */
  uint8_t* edges;    /* bit k: the edge from corner k to k + 1 of the triangle is sharp  (triangles) */
  Vec3 lower, upper; /* box of everything but terrain over the whole run [m] */
  uint8_t* srgb;     /* linear light to sRGB  (STAGE_TONES) */
  double* moved;     /* distance of every vertex from the initial design [m]; NULL: links have their colours
                        (vertices) */
  double moved_most; /* m, of all vertices; the end of the colour scale */
} RenderStage;

enum { STAGE_TONES = 4096 };

/* A plane steeper than this against up carries no grid: cosine. */
#define STAGE_FLOOR_COSINE 0.3

/* poses: rows x links as in RunPoses. run has at least one row. Freed with stage_destroy; the model must outlive it. */
void stage_create(RenderStage* stage, const Model* model, const RunPoses* run);
/* Frees its arrays and zeroes it. */
void stage_destroy(RenderStage* stage);
/* Draw every edge where two faces of a hull meet at an angle. */
void stage_show_all_edges(RenderStage* stage);
/* Colour the hulls by how far their vertices lie from those of `initial`, in link frames (same_hulls). initial is
 * only read, and may go. Allocates stage->moved. */
void stage_show_displacement(RenderStage* stage, const Model* initial);
/* Linear light of a share 0..1 of the scale: from pale grey, nothing, over yellow and red to dark purple; its
 * brightness falls all the way, so that it reads without colours too. Shares outside are the nearest end. */
void scale_color(double share, float color[3]);
/* The plane that best serves as the ground at these poses: an outward unit normal and a point on it. False when there
 * is none. poses[links]; normal and point in the world [m], set only with true. */
bool stage_ground(const RenderStage* stage, const Pose* poses, Vec3* normal, Vec3* point);

/* The rectangle of that plane under everything that is seen, by poses[links] [m]; false when there is none. */
bool stage_ground_patch(const RenderStage* stage, const Pose* poses, GroundPatch* patch);
/* The point at u, v [m] of the patch, in the world [m]. */
Vec3 ground_point(const GroundPatch* patch, double u, double v);
/* ---------------------------------------------------------------- rasteriser (raster.c) */

/* Depth samples of some rows of a picture. Row r lies at y = (r + 1/2) / rows_per_pixel; its samples, one a pixel, at
 * x = i + offset[r mod rows_per_pixel]. */
typedef struct {
  int width, first_row, row_count, rows_per_pixel;
  const double* offset;
  float* nearness; /* larger wins  (row_count x width) */
  uint32_t* face;  /* which triangle won; NULL when only nearness counts */
} RenderTarget;

/* Enter a triangle with corners (x, y) [px] and nearness plane[0] + plane[1] x + plane[2] y. Samples on a shared edge
 * belong to exactly one of the two triangles. face: what stands in target->face where it wins. Parts outside of the
 * target's rows and columns are left out. No allocation. */
void raster_triangle(const RenderTarget* target, const double x[3], const double y[3], const double plane[3],
                     uint32_t face);
/* The plane through three corners with values w. False when the triangle has no area. w is plane[0] + plane[1] x +
 * plane[2] y; plane is of no use after false. */
bool raster_plane(const double x[3], const double y[3], const double w[3], double plane[3]);

/* ---------------------------------------------------------------- shadows (shadow.c) */

/* Heights against the light of everything that casts a shadow, seen from the light. Map coordinates of a point p:
 * x, y, height = (s, t, light) . (p - origin) / texel. */
typedef struct {
  Vec3 light, s, t;        /* unit: towards the light; the two axes of the map */
  Vec3 origin;             /* m */
  double texel;            /* m */
  int size;                /* texels a side; 0 = nothing casts a shadow */
  int blur;                /* half width of the penumbra [texel] */
  float* height;           /* of the uppermost caster; -INFINITY = none  (size x size) */
  float *lowest, *highest; /* extremes of height over the penumbra's square  (size x size) */
  float* owner;            /* the hull that alone fills the penumbra's square, else -1  (size x size) */
} ShadowMap;

/* The map of the casters at poses[links], as fine as the camera needs it; light: unit, towards it. Freed with
 * shadow_destroy; size 0 where nothing casts a shadow. */
void shadow_create(ShadowMap* map, const RenderStage* stage, const Pose* poses, const RenderCamera* camera, Vec3 light);
/* Frees its arrays and zeroes it. */
void shadow_destroy(ShadowMap* map);
/* Share of the light that reaches a point of a hull's surface; slope: d height / dx and / dy of the surface. point:
 * x, y, height in the map [texel]. 0 to 1; 1 outside of the map. */
float shadow_visibility(const ShadowMap* map, const float point[3], const float slope[2], int hull);

/* ---------------------------------------------------------------- scene (scene.c) */

/* One moment of a picture: poses of the links (links). Layer 0 is solid; later ones are ghosts: only what moves, laid
 * over the picture with the given opacity wherever they are nearer than layer 0. */
typedef struct {
  const Pose* poses;
  double opacity; /* 0..1 */
} RenderLayer;

/* Draw the scene: bodies, grounds with grid, soft shadows; no text. Every pixel is written. image has the camera's
 * size; layers (layer_count >= 1). Never fails. */
void render_scene(RenderImage* image, const RenderStage* stage, const RenderCamera* camera, const RenderLayer* layers,
                  int layer_count, int threads);

/* ---------------------------------------------------------------- words and marks (label.c) */

/* Marks that render_marks drew, and their scales. */
typedef struct {
  unsigned show;            /* RENDER_CONTACTS and so on */
  double newtons;           /* an arrow of this force, seen from the side at the target, is arrow_pixels long */
  double metres_per_newton; /* the same as a length in the scene */
  const char* path;         /* whose way is drawn; NULL = nobody's */
} RenderMarks;
/* Length of the arrow in the key [px], as a share of the picture's smaller side. */
#define KEY_ARROW_SHARE 0.09

/* Texts over a picture. Empty ones are omitted. */
typedef struct {
  const char *title, *time;
  bool ground; /* ticks with metres along the ground grid, or a bar of known length where there is no ground */
  bool legend; /* colours and names of the moving links, when they are few */
  const RenderMarks* marks; /* what lies over the picture: its key; NULL = none */
} RenderLabels;

/* The key of the marks (key.c): from x = letter and y = top [px] to the right, wrapped; letter: height of a
 * capital [px]. image is drawn over. */
void render_key(RenderImage* image, const RenderStage* stage, const RenderCamera* camera, const RenderMarks* marks,
                double top, double letter);

/* Writes title, time, ticks and legend over the picture, as labels ask for; poses[links]. */
void render_labels(RenderImage* image, const RenderStage* stage, const RenderCamera* camera, const Pose* poses,
                   const RenderLabels* labels);

/* ---------------------------------------------------------------- hulls of a part (hulls.c) */

/* Hulls of about unit size in all, a link each: poses that keep them near where they are, but apart by the gap. More
 * than 64 are only spread from the middle. poses[hulls]: the places are set, the turns kept. */
void hulls_move_apart(const Model* model, Pose* poses);
/* The gap that so many hulls (> 0) of a part of unit size are moved apart by. */
double hulls_gap(int count);

/* ---------------------------------------------------------------- text and lines (text.c) */

/* Text with its upper left corner at (x, y) [px]; scale: pixels per unit, capitals are 7 units high. Bytes outside
 * printable ASCII become '?'. text is borrowed, and cut where it is too long. */
void image_text(RenderImage* image, double x, double y, double scale, const char* text);
/* Width of the text at such a scale [px]. */
double image_text_width(double scale, const char* text);
/* Pale paper for words and their symbols, a little larger than the rectangle [px]. Edges outside the picture are
 * dropped. */
void image_backing(RenderImage* image, double x, double y, double width, double height);
#define TEXT_CAPITAL 7.0 /* units */
/* A pixel that a letter covers in part, 0 to 1. */
typedef void (*LetterPixel)(void* context, int x, int y, double share);
/* Smooth letters with capitals of this height [px] whose tops are at y; false in a build without a font. put is
 * called for each pixel that is covered, outside of a picture too. */
bool letters_draw(double x, double y, double capital, const char* text, LetterPixel put, void* context);
/* Width of the text in smooth letters with capitals of this height [px]; 0 without a font. */
double letters_width(double capital, const char* text);
/* A straight dark stroke of the given width; all in pixels. */
void image_line(RenderImage* image, double x0, double y0, double x1, double y1, double width);
/* The same in an sRGB colour; without length it is a dot. width in pixels; color: 3 bytes; opacity 0 to 1. */
void image_stroke(RenderImage* image, double x0, double y0, double x1, double y1, double width, const uint8_t color[3],
                  double opacity);
/* A convex polygon, corners either way round; edges between pixels are soft. corner (count x 2) [px]. */
void image_polygon(RenderImage* image, const double (*corner)[2], int count, const uint8_t color[3], double opacity);
/* Blend a rectangle with an sRGB colour; edges between pixels are soft. In pixels; color: 3 bytes; opacity 0 to 1. */
void image_rectangle(RenderImage* image, double x0, double y0, double x1, double y1, const uint8_t color[3],
                     double opacity);

/* ---------------------------------------------------------------- overlays (overlay.c) */

/* The way of a link's centre of mass (RENDER_PATH_ALL: of all that can move) from the first row to `row`, over all that
 * was drawn, with a cross at its end. row: 0 ... row_count - 1. */
void render_path(RenderImage* image, const RenderCamera* camera, const Model* model, const RunPoses* run, int row,
                 int link);

/* An arrow with its tip at (x1, y1) [px], on a pale rim. Nothing below two pixels. color: 3 bytes. */
void image_arrow(RenderImage* image, double x0, double y0, double x1, double y1, const uint8_t color[3]);
/* A dot of the contacts, about (x, y) [px]. */
void image_contact_dot(RenderImage* image, double x, double y);
/* A square of the planes: corners (4 x 2) [px]. */
void image_plane_square(RenderImage* image, const double corner[4][2]);
/* Planes, contact points and forces at a moment, as marks->show asks for. contacts: of the whole run, or NULL. poses
 * (links); time [s]. */
void render_marks(RenderImage* image, const RenderCamera* camera, const Model* model, const Pose* poses, double time,
                  const RunContacts* contacts, const RenderMarks* marks);
/* A round number of newtons for the arrow in the key: nearly all forces are at most FORCE_SPAN such arrows long. 1
 * where there are none. */
double force_unit(const RunContacts* contacts);
#define FORCE_SPAN 2.5

/* ---------------------------------------------------------------- panels (panel.c) */

/* A run with its stage and a camera that sees all of it. Borrows everything it is made from. */
typedef struct {
  const RenderSubject* subject;
  const RenderOptions* options;
  RenderStage stage;
  RenderCamera camera; /* for --follow: relative to the link */
  RenderMarks marks;
} RenderRun;

/* Its stage, its camera that sees all of the run, and the scales of its marks. Freed with render_run_destroy. */
void render_run_create(RenderRun* render, const RenderSubject* subject, const RenderOptions* options);
/* Frees its stage; subject and options are the caller's. */
void render_run_destroy(RenderRun* render);

/* The panels of a picture, left to right, with the same camera and scales. Borrows the subjects. */
typedef struct {
  RenderRun panels[RENDER_SUBJECTS_MAX];
  int count;
  const RenderOptions* options;
} RenderSheet;
/* For 1 ... RENDER_SUBJECTS_MAX subjects, asserted; options are borrowed. Freed with sheet_destroy. */
void sheet_create(RenderSheet* sheet, RenderSubjects subjects, const RenderOptions* options);
/* Frees all panels. */
void sheet_destroy(RenderSheet* sheet);
/* A picture of the sheet's size, which the caller frees with image_destroy. */
void sheet_image(const RenderSheet* sheet, RenderImage* image);
/* Draws the recorded row of each run nearest to the time [s] after its start; NAN = the last. image: of sheet_image,
 * every pixel is written. */
void sheet_draw(const RenderSheet* sheet, double time, int threads, RenderImage* image);
/* Duration of the longest run, from its first row to its last [s]. */
double sheet_duration(const RenderSheet* sheet);
/* Its camera at a row 0 ... row_count - 1: with the followed link. */
RenderCamera render_run_camera(const RenderRun* render, int row);
/* The bodies of a picture of the size in the options, at a row of the run, with the ghosts of options->trail. Every
 * pixel is written. */
void render_run_bodies(const RenderRun* render, int row, int threads, RenderImage* image);
/* Marks and way, over the picture. */
void render_run_marks(const RenderRun* render, int row, RenderImage* image);
/* Title, time and ticks, over the picture; nothing without options->labels. titled false: no title, legend or key. */
void render_run_words(const RenderRun* render, int row, bool titled, RenderImage* image);
/* Bodies, marks and words of a row, one after the other. */
void render_run_panel(const RenderRun* render, int row, bool titled, int threads, RenderImage* image);

#endif
