/* sdrs: simulation of robots in contact, with exact gradients of whole runs, as a library (docs/library.md).
 *
 * An sdrs object holds a scene, or a task with its scene, and one run of it. Different objects may be used concurrently
 * by different threads; one object may not. Results are bit-identical to those of the command line and independent of
 * the number of threads. SI units, radians, z up; arrays of double, row-major.
 *
 * Every call that can fail returns an sdrs_status; sdrs_error describes the error in the words of the command line. An
 * argument that is NULL where this is not allowed, or a count without its array, gives SDRS_USAGE, and nothing is done.
 * No call ends the process or prints. After SDRS_NO_MEMORY the object is in the state after loading or cloning.
 * Pointers returned belong to the object and are valid until the next non-const call on it, unless said otherwise. */
#ifndef SDRS_H
#define SDRS_H

#include <stddef.h>

#if defined(__GNUC__)
#define SDRS_API __attribute__((visibility("default")))
#else
#define SDRS_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sdrs sdrs;

/* Every struct below begins with its size, sizeof(sdrs_...), set by the caller: SDRS_INIT(sdrs_array) is a zeroed
 * sdrs_array with its size. A struct shorter than the library's is rejected with SDRS_USAGE, and so is one that the
 * library reads if it has nonzero bytes beyond the library's size. In a struct that the library writes it sets the size
 * to that of its own version. */
#ifdef __cplusplus
#define SDRS_INIT(type)         \
  ([] {                         \
    type empty_ = type();       \
    empty_.size = sizeof(type); \
    return empty_;              \
  }())
#else
#define SDRS_INIT(type) ((type){.size = sizeof(type)})
#endif

typedef enum sdrs_status {
  SDRS_OK = 0,
  SDRS_BAD_INPUT,   /* invalid file or value */
  SDRS_IO,          /* file cannot be read */
  SDRS_SOLVER,      /* a step was not solved; the state is that before the step */
  SDRS_NO_GRADIENT, /* the run has no gradient, because of a step that sdrs_error names */
  SDRS_NO_MEMORY,
  SDRS_USAGE /* invalid call: wrong sizes, a gradient before a run */
} sdrs_status;

/* ---------------------------------------------------------------- loading */

typedef struct sdrs_options {
  size_t size;
  const char* const* overrides; /* "path.to.key=value" as for --set */
  int override_count;
  int threads;  /* threads within one run, 0 = 1; an error if the system allows fewer */
  int scenario; /* scenario of a task: 0, 1, ... */
} sdrs_options;

/* Version "x.y.z", static text. */
SDRS_API const char* sdrs_version(void);
/* Loads a scene or task (YAML or JSON) from a file. *out is set even after an error, for sdrs_error, and must be freed;
 * it is NULL only if there is no memory for it. options (may be NULL) are copied. SDRS_IO: no such file;
 * SDRS_BAD_INPUT: sdrs_error lists all mistakes. */
SDRS_API sdrs_status sdrs_load(sdrs** out, const char* path, const sdrs_options* options);
/* Loads a scene or task from a text, which is copied. path: name in messages, base of relative paths in the text, and
 * `.json` selects JSON; NULL = a YAML scene in the working folder. *out and errors as for sdrs_load. */
SDRS_API sdrs_status sdrs_parse(sdrs** out, const char* text, const char* path, const sdrs_options* options);
/* New object with another run of the same scene, at its beginning, with the initial state and the inputs that were set;
 * scene data are shared. Original and clone may be freed in any order. *out is NULL after SDRS_NO_MEMORY for the object
 * itself. SDRS_USAGE: the original was not loaded. */
SDRS_API sdrs_status sdrs_clone(sdrs** out, sdrs* original);
/* Frees the object; data shared with clones are freed with the last of them. Accepts NULL. Everything borrowed from the
 * object becomes invalid. */
SDRS_API void sdrs_free(sdrs* object);

/* Error of the last call that failed on this object, "" if none did; for NULL an out-of-memory text. Not to be freed;
 * valid until the next non-const call on the object. */
SDRS_API const char* sdrs_error(const sdrs* object);

typedef struct sdrs_diagnostic {
  size_t size;
  int severity;     /* 0 error, 1 warning, 2 note */
  const char* file; /* NULL = no file */
  int line, column; /* from 1; 0 = unknown */
  const char* text;
} sdrs_diagnostic;
/* Number of errors, warnings and notes of loading and of the last call; 0 for NULL. */
SDRS_API int sdrs_diagnostic_count(const sdrs* object);
/* Gets message `index`. Its texts belong to the object, until the next non-const call. SDRS_USAGE: NULL, a wrong size,
 * or no such index, for which *out is zeroed. sdrs_error is not set. */
SDRS_API sdrs_status sdrs_diagnostic_at(const sdrs* object, int index, sdrs_diagnostic* out);

/* ---------------------------------------------------------------- description */

typedef struct sdrs_info {
  size_t size;
  const char* name;
  double dt;       /* s */
  int steps;       /* of the scene or scenario */
  int links;       /* bodies, in the order of the scene */
  int coordinates; /* nq: displacements [m], angles [rad], quaternions w x y z, link by link as in joints.csv */
  int velocities;  /* nv: their rates; for a quaternion the angular velocity in the link's axes [rad/s] */
  int inputs;      /* nu: channels of all controllers, in the order of the scene */
  int parameters;  /* parameters of the controllers' signals */
  int vertices;    /* vertices of all hulls */
  int design;      /* design variables of the task; 0 for a scene */
} sdrs_info;
/* Sizes of all blocks. name belongs to the object. SDRS_USAGE: a wrong size; or NULL or an object that was not loaded,
 * for which *out has zeros and an empty name. sdrs_error is not set. */
SDRS_API sdrs_status sdrs_describe(const sdrs* object, sdrs_info* out);
/* Name of link 0 .. links - 1; owned by the object, valid as long as it. */
SDRS_API const char* sdrs_link_name(const sdrs* object, int link); /* NULL: no such link */
/* Index of a link by its exact name; -1 too if an argument is NULL. */
SDRS_API int sdrs_link_find(const sdrs* object, const char* name); /* -1: no such link */

/* Blocks: named arrays of numbers. Letters: operations on the block: V sdrs_view, S sdrs_set, R sdrs_record, D as a
 * seed of sdrs_gradient, G sdrs_gradient_view. In brackets: columns of a row. */
typedef enum sdrs_block {
  SDRS_TIME,        /* V R      [1] s */
  SDRS_COORDINATES, /* V S R D  [nq];   G: by the initial state, as joint increments [nv] */
  SDRS_VELOCITIES,  /* V S R D  [nv];   G: by the initial velocities [nv] */
  SDRS_INPUT,       /* V S      [nu] targets of the controllers, see sdrs_set;   G: one row per step */
  SDRS_POSITION,    /* V R D    [3] origin of a link's frame, world */
  SDRS_ORIENTATION, /* V R D    [4] orientation of a link's frame: quaternion w x y z; in a record continuous in time */
  SDRS_CENTER,      /* V R D    [3] centre of mass of a link, world */
  SDRS_FORCE,       /* V R D    [3] contact and friction force on a link, N */
  SDRS_CONTACTS,    /* V        [6] one row per pair of links in contact: a, b, gap, force on b */
  SDRS_DESIGN,      /* V S   G  [design] design variables of the task */
  SDRS_CONTROL,     /* V     G  [parameters] of the controllers' signals */
  SDRS_VERTICES,    /* V     G  [3] one row per vertex of every hull, in the link's frame */
  SDRS_ATTACHMENTS, /* V     G  [3] one row per link: origin of its joint in the parent's frame */
  SDRS_MASS,        /* V     G  [links] kg; zero where a link has none */
  SDRS_CONTACT,     /* V     G  [13] barrier_distance, stiffness, friction, smoothing, rest_speed, the law's own */
  SDRS_REACTIONS,   /* V R D    [6] force [N] and torque [N m] of the parent on a link about the origin of the link's
                       frame, world; requires simulation.output: [reactions]; NaN in the first row; D only for links that
                       can move */
  SDRS_IMU, /* R D      [6] acceleration minus gravity [m/s^2] of a link's frame and angular velocity [rad/s], in the
               link's axes; NaN in the first and last row, which have one neighbour */
  SDRS_NO_BLOCK = -1
} sdrs_block;
/* Number of blocks; block values are 0 .. count - 1. Later versions may have more. */
SDRS_API int sdrs_block_count(void);
/* Name of a block, static text. */
SDRS_API const char* sdrs_block_name(sdrs_block block); /* "time", "coordinates", ...; NULL: no such block */
/* Block with this name; name may be NULL. */
SDRS_API sdrs_block sdrs_block_find(const char* name); /* SDRS_NO_BLOCK: no such name */
/* Name of a column: of the blocks with nq, nv, nu or `design` columns "box/x", "hip/0", "box/velocity/0"; of
 * SDRS_CONTROL "hip/amplitude/0", as in design.csv; of SDRS_MASS the link; of SDRS_CONTACT the key of the scene,
 * "friction", or "unused/9" where the law has no such number. NULL: none. Valid as long as the object. */
SDRS_API const char* sdrs_entry_name(sdrs* object, sdrs_block block, int index);

typedef struct sdrs_array {
  size_t size;
  const double* data; /* [row * stride + column] */
  size_t rows, columns, stride;
} sdrs_array;
/* Values of the present state, or of the scene. link: for POSITION, ORIENTATION, CENTER, FORCE and REACTIONS; -1 = one
 * row per link. *out borrows its numbers (SI units) and has rows, columns and stride in doubles; zeroed on failure.
 * Begins the simulation if needed, with the errors of sdrs_step for the initial state. SDRS_USAGE: no such block or
 * link, or a wrong out->size. */
SDRS_API sdrs_status sdrs_view(sdrs* object, sdrs_block block, int link, sdrs_array* out);

/* ---------------------------------------------------------------- running */

/* Sets a block; values are copied.
 * COORDINATES, VELOCITIES (count nq, nv): initial state of a new run; quaternions are normalized.
 * INPUT (count k nu): targets of the controllers from the present step on, one row per step, the last one held, with
 * zero rates; count 0: the scene's signals again.
 * DESIGN (count design): the scene is rebuilt with these variables; not while there are clones.
 * SDRS_USAGE: wrong count, or a block that cannot be set. SDRS_BAD_INPUT: not finite, a zero quaternion, or a design
 * without a valid model. On failure nothing changes. */
SDRS_API sdrs_status sdrs_set(sdrs* object, sdrs_block block, const double* values, size_t count);
/* Returns to the initial state, of the scene or as set; inputs stay. SDRS_BAD_INPUT: invalid initial state (bodies
 * intersect, or a loop is open). Frees the present simulation, so its views become invalid. */
SDRS_API sdrs_status sdrs_reset(sdrs* object);
/* Returns to the state after loading: start, inputs, record, gradient and views are discarded. A design that was set
 * stays, because it belongs to the scene. SDRS_USAGE: not loaded. */
SDRS_API sdrs_status sdrs_clear(sdrs* object);
/* Advances `steps` steps of dt; none for 0 or fewer. Begins the simulation if needed: SDRS_BAD_INPUT if bodies
 * intersect or a loop is open. SDRS_SOLVER: the state is that before the failed step, which sdrs_error names. Allocates
 * at the beginning and when the number of contact pairs grows. */
SDRS_API sdrs_status sdrs_step(sdrs* object, int steps);

/* Advances several objects in parallel: objects (count), all different; threads across them, SDRS_USAGE if negative.
 * Returns SDRS_OK, or the first failure in their order; each object has its own error. */
SDRS_API sdrs_status sdrs_step_all(sdrs* const* objects, int count, int steps, int threads);

/* Runs of one scene from many initial states, in parallel. NULL arrays: not given, or not requested. */
typedef struct sdrs_rollouts {
  size_t size;
  int count, steps, threads;
  const double* coordinates; /* initial coordinates (count x nq); NULL: those of the object */
  const double* velocities;  /* (count x nv) */
  const double* input;       /* (count x steps x nu) */
  double* record;            /* coordinates at the start and after every step (count x (steps + 1) x nq) */
  double* record_velocities; /* (count x (steps + 1) x nv) */
  double* final_coordinates; /* (count x nq) */
  double* final_velocities;  /* (count x nv) */
  int* steps_done;           /* completed steps (count); after a failed step the arrays repeat the last state */
} sdrs_rollouts;
/* Runs the rollouts; the object's present state is unchanged. SDRS_SOLVER: a run failed, named by sdrs_error; the
 * others are complete. SDRS_USAGE: count < 0, steps < 1 or threads < 0. SDRS_BAD_INPUT: an input that is not finite, or
 * an invalid initial state; that run's arrays are not written. Arrays are the caller's, with the sizes in
 * sdrs_rollouts. */
SDRS_API sdrs_status sdrs_rollout(sdrs* object, const sdrs_rollouts* rollouts);

/* ---------------------------------------------------------------- recorded runs and gradients */

/* Runs from the initial state and records everything; steps 0 = the scene's. The present state of sdrs_view is
 * unchanged. SDRS_SOLVER: the record ends before the failed step. SDRS_BAD_INPUT: invalid initial state, no record.
 * Frees the previous record and gradient. */
SDRS_API sdrs_status sdrs_run(sdrs* object, int steps);
/* Runs several objects in parallel, as sdrs_run: objects (count), all different; threads across them, SDRS_USAGE if
 * negative. Returns SDRS_OK, or the first failure in their order; each object has its own error. */
SDRS_API sdrs_status sdrs_run_all(sdrs* const* objects, int count, int steps, int threads);
/* Recorded values of a block: one row per state of the run, the initial state first (steps + 1 rows). link as in
 * sdrs_view; -1 = all links in each row. *out borrows its numbers until the next sdrs_run, sdrs_clear, sdrs_set of the
 * design or sdrs_free; zeroed on failure. SDRS_USAGE: no run, no such block or link. */
SDRS_API sdrs_status sdrs_record(sdrs* object, sdrs_block block, int link, sdrs_array* out);

/* Derivatives of a loss by one recorded block: as many numbers as sdrs_record returns for it, (rows x columns) without
 * gaps. The blocks count as independent variables of the loss. */
typedef struct sdrs_seed {
  size_t size; /* the same in all elements of an array */
  sdrs_block block;
  int link; /* -1 = all links */
  const double* values;
  size_t count;
} sdrs_seed;
/* Computes the gradient of the loss with these derivatives (the sum of all seeds) by the adjoint method. seeds (count):
 * only read. SDRS_USAGE: no run, or a wrong count; SDRS_BAD_INPUT: not finite; SDRS_NO_GRADIENT: a singular step. After
 * an error there is no gradient. Frees the previous gradient and its views. */
SDRS_API sdrs_status sdrs_gradient(sdrs* object, const sdrs_seed* seeds, int count);
/* Computes the gradients of several objects in parallel, as sdrs_gradient: objects (count), all different; seeds (count
 * x seed_count), those of the first object first. threads and the returned status as for sdrs_run_all. */
SDRS_API sdrs_status sdrs_gradient_all(sdrs* const* objects, int count, const sdrs_seed* seeds, int seed_count,
                                       int threads);
/* Sets *value to a loss of the run and passes its derivatives to sdrs_add_seed. May read the record. Returns 0; another
 * value reports that there is no loss. */
typedef int (*sdrs_loss_callback)(void* context, sdrs* object, double* value);
/* Adds a seed to the loss, within a callback of sdrs_loss. Its numbers must stay valid until sdrs_loss returns.
 * SDRS_USAGE: outside a callback, or a wrong size. */
SDRS_API sdrs_status sdrs_add_seed(sdrs* object, const sdrs_seed* seed);
/* Evaluates a loss of the run and its gradient. callback NULL: the loss of the task in its scenario, without the
 * scenario's weight; the run must be long enough for it. *value is NaN on failure. SDRS_USAGE: no run, too short a run,
 * or a scene without callback; SDRS_BAD_INPUT: the callback failed; otherwise the errors of sdrs_gradient. */
SDRS_API sdrs_status sdrs_loss(sdrs* object, sdrs_loss_callback callback, void* context, double* value);
/* Derivatives by a block in the last gradient, per SI unit of the block, in the shapes listed at sdrs_block. *out
 * borrows its numbers; zeroed on failure. SDRS_USAGE: no gradient, or none by this block. */
SDRS_API sdrs_status sdrs_gradient_view(sdrs* object, sdrs_block block, sdrs_array* out);

/* ---------------------------------------------------------------- queries and proofs */

typedef struct sdrs_distance {
  size_t size;
  double distance;                   /* m; 0: the hulls intersect, and the other members are zero */
  double witness_a[3], witness_b[3]; /* nearest points [m] */
  double potential;                  /* contact potential for stiffness 1 */
  double plane[4];                   /* separating plane: n x + o < 0 on the side of a */
} sdrs_distance;
/* Distance and contact potential of two convex hulls of points, a (a_count x 3) and b (b_count x 3), world [m]; support
 * [m]. grad_a, grad_b (as long as a, b): derivatives of the potential by the points, or NULL. SDRS_BAD_INPUT: no
 * points, invalid numbers, or support not > 0. SDRS_USAGE: a wrong out->size. Needs no object. */
SDRS_API sdrs_status sdrs_query(const double* a, size_t a_count, const double* b, size_t b_count, double support,
                                sdrs_distance* out, double* grad_a, double* grad_b);

/* Answers questions in the JSON format of `sdrs query` (docs/queries.md): growth, distance, witness, touch and manifold
 * of shapes, hulls and meshes, and pairs of point sets. *out: the answers, one JSON line each, byte-identical to the
 * command line's; after SDRS_BAD_INPUT and SDRS_IO the error text; NULL after SDRS_NO_MEMORY. Owned by the caller,
 * freed by sdrs_free_text. path: name in messages and base of mesh paths; NULL = the working folder. SDRS_USAGE:
 * questions is NULL. */
SDRS_API sdrs_status sdrs_query_text(const char* questions, const char* path, char** out);
/* Frees a text of sdrs_query_text; accepts NULL. */
SDRS_API void sdrs_free_text(char* text);

/* Shapes that are created once and queried at many poses. Different objects may be used concurrently, one object may
 * not. */
typedef struct sdrs_shapes sdrs_shapes;
/* Creates shapes from a JSON list as in questions of `sdrs query`, without position and quaternion. *out is set even
 * after an error, for sdrs_shapes_error, and must be freed; it is NULL only if there is no memory for it. path: name in
 * messages and base of mesh paths; NULL = the working folder. SDRS_BAD_INPUT: sdrs_shapes_error lists all mistakes.
 * SDRS_USAGE: out or shapes is NULL. */
SDRS_API sdrs_status sdrs_shapes_new(sdrs_shapes** out, const char* shapes, const char* path);
/* Frees the shapes; accepts NULL. */
SDRS_API void sdrs_shapes_free(sdrs_shapes* shapes);
/* Error of the last call that failed on these shapes, "" if none did; for NULL an out-of-memory text. Not to be freed;
 * valid until the next call on them. */
SDRS_API const char* sdrs_shapes_error(const sdrs_shapes* shapes);
/* Number of shapes; 0 for NULL and after an error. */
SDRS_API int sdrs_shapes_count(const sdrs_shapes* shapes);

/* One query of many pairs of shapes. All arrays are the caller's. */
typedef struct sdrs_pairs {
  size_t size;
  const char* method;         /* "growth", "distance", "manifold", "witness", "touch": docs/queries.md */
  const char* options;        /* further keys of the question as a JSON object: {"smoothing": 0.01}; NULL: none */
  const char* const* answers; /* names as in the answers of `sdrs query`: "gap", "d_gap_a", ... (answer_count) */
  int answer_count;
  size_t count;          /* number of pairs, one row each */
  const int* shapes;     /* (count x 2): indices of shapes a and b, from 0 */
  const double* poses_a; /* (count x 7): x y z [m], quaternion qw qx qy qz of length 1 within 1e-6 */
  const double* poses_b; /* (count x 7) */
  double* out;           /* row i begins at out + i * stride */
  size_t stride;         /* doubles, at least the length of a row */
  int threads;           /* 0 = 1 */
} sdrs_pairs;
/* columns (answer_count): how many numbers each answer takes in a row, in the order of `answers`. Tables are row-major,
 * as in the JSON answer; booleans are 1 or 0. For manifold each answer is a list with one element per contact, sized
 * for the pair with most contacts; `kind` is 0 vertex_a, 1 vertex_b, 2 edge_a, 3 edge_b. poses_a, poses_b, out and
 * stride are not used. Errors as sdrs_shapes_query. */
SDRS_API sdrs_status sdrs_shapes_layout(sdrs_shapes* shapes, const sdrs_pairs* pairs, size_t* columns);
/* Writes the answers of every pair. NaN: no such answer, unknown, or no contact in this element. Results are
 * independent of threads and repeatable: the rows of one pair are evaluated in sequence with a warm start from the row
 * before, and every 64th row starts cold. SDRS_BAD_INPUT: invalid method, option, answer, shape or pose, listed by
 * sdrs_shapes_error; out is then unchanged. SDRS_USAGE: a wrong size, NULL, a stride shorter than a row, or negative
 * threads. Allocates once per call, and for deeply overlapping hulls. */
SDRS_API sdrs_status sdrs_shapes_query(sdrs_shapes* shapes, const sdrs_pairs* pairs);

typedef struct sdrs_proof {
  size_t size;
  int proved;          /* 1: no two hulls intersect in the recorded states or on the motions between them */
  int row;             /* first row without proof: the end of its motion; -1: none */
  int link_a, link_b;  /* the links concerned; -1: none */
  int meets;           /* 1: they intersect; 0: neither proof nor intersection was found */
  double smallest_gap; /* smallest gap in the recorded states [m]; infinite: no pair is near */
} sdrs_proof;
/* Proves that no two bodies intersect in the recorded run, in its states and on the motions between them. A run that is
 * not proved is SDRS_OK too: see *out. SDRS_USAGE: no record; *out is then meaningless. */
SDRS_API sdrs_status sdrs_certify(sdrs* object, sdrs_proof* out);

#ifdef __cplusplus
}
#endif
#endif
