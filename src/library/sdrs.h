/* sdrs: a simulator of robots in contact with exact gradients of whole runs, as a library (docs/library.md).
 *
 * An sdrs object is a scene, or a task with its scene, and one run of it. Calls on different objects may run at the
 * same time on different threads, calls on one object may not. Numbers are those of the command line, bit for bit: one
 * binary gives the same whatever the number of threads. SI units, radians, z up; arrays of double, row by row.
 *
 * NULL where it is not allowed, and a count without its array, is SDRS_USAGE; nothing is done then. Every call that can
 * fail returns an sdrs_status; sdrs_error says in words what was wrong, in those of the command
 * line. Nothing ends the process or prints. After SDRS_NO_MEMORY the object is as it was when it was loaded or cloned.
 * Pointers handed out belong to the object and hold until the next call on it that is not const, unless said otherwise.
 */
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

/* Every struct below begins with its size, sizeof(sdrs_...), which the program sets: SDRS_INIT(sdrs_array) is an
 * sdrs_array of zeros with its size. A struct that is shorter than the library's, or one that the library reads and
 * that holds more than it knows, is refused with SDRS_USAGE. In a struct that it writes the library sets the size to
 * the bytes that it knows. */
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
  SDRS_BAD_INPUT,   /* a file or a value that cannot be used */
  SDRS_IO,          /* a file that cannot be read */
  SDRS_SOLVER,      /* a step that was not solved; the state is that before it */
  SDRS_NO_GRADIENT, /* the run has none, at a step that sdrs_error names */
  SDRS_NO_MEMORY,
  SDRS_USAGE /* a call that makes no sense: sizes that do not fit, a gradient before a run */
} sdrs_status;

/* ---------------------------------------------------------------- loading */

typedef struct sdrs_options {
  size_t size;
  const char* const* overrides; /* "path.to.key=value" as for --set */
  int override_count;
  int threads;  /* within one run; 0 = 1; fewer are refused */
  int scenario; /* of a task: 0, 1, ... */
} sdrs_options;

/* A constant text, "x.y.z"; not to be freed. Never NULL. */
SDRS_API const char* sdrs_version(void);
/* From a scene or task in YAML or JSON. *out is set in any case, to be asked for sdrs_error and freed, unless there was
 * no memory for it: then it is NULL. options may be NULL. Everything is copied: options and overrides may go.
 * SDRS_IO: no such file; SDRS_BAD_INPUT: all mistakes are in sdrs_error. */
SDRS_API sdrs_status sdrs_load(sdrs** out, const char* path, const sdrs_options* options);
/* From a text. path stands for it in messages, tells by `.json` what it is, and anchors the paths in it; NULL = a scene
 * in the working folder. text is not kept. *out and errors as of sdrs_load; both are freed with sdrs_free. */
SDRS_API sdrs_status sdrs_parse(sdrs** out, const char* text, const char* path, const sdrs_options* options);
/* Another run of the same scene, at its beginning, with the start and the inputs that were set; what the scene holds is
 * shared. *out is freed with sdrs_free, in any order with the original; NULL after SDRS_NO_MEMORY for the object
 * itself. SDRS_USAGE: the original was not loaded. */
SDRS_API sdrs_status sdrs_clone(sdrs** out, sdrs* original);
/* Frees the object; what clones share goes with the last of them. NULL is nothing. What was borrowed from it is
 * invalid then. */
SDRS_API void sdrs_free(sdrs* object);

/* Error of the last call that failed on this object, "" if none did. For NULL: that there is no memory.
 * Not to be freed; holds until the object's next call that is not const. */
SDRS_API const char* sdrs_error(const sdrs* object);

typedef struct sdrs_diagnostic {
  size_t size;
  int severity;     /* 0 error, 1 warning, 2 note */
  const char* file; /* NULL = none */
  int line, column; /* from 1; 0 = unknown */
  const char* text;
} sdrs_diagnostic;
/* Number of errors, warnings and notes of loading and of the last call. 0 for NULL. Asking allocates nothing, never
 * fails. */
SDRS_API int sdrs_diagnostic_count(const sdrs* object);
/* Texts belong to the object, until its next call that is not const; not to be freed. SDRS_USAGE: NULL, a wrong size,
 * or no such index, for which *out is zeroed. sdrs_error is not set. */
SDRS_API sdrs_status sdrs_diagnostic_at(const sdrs* object, int index, sdrs_diagnostic* out);

/* ---------------------------------------------------------------- what there is */

typedef struct sdrs_info {
  size_t size;
  const char* name;
  double dt;       /* s */
  int steps;       /* of the scene or scenario */
  int links;       /* bodies, in the order of the scene */
  int coordinates; /* nq: slides [m], angles [rad], quaternions w x y z, link by link as in joints.csv */
  int velocities;  /* nv: their rates; of a quaternion the angular velocity in the link's axes [rad/s] */
  int inputs;      /* nu: channels of all controllers, in the order of the scene */
  int parameters;  /* of the controllers' own signals */
  int vertices;    /* of all hulls */
  int design;      /* variables of the task; 0 for a scene */
} sdrs_info;
/* Counts of rows and columns. name belongs to the object. SDRS_USAGE: a wrong size; or NULL or an object that was not
 * loaded, for which *out has zeros and an empty name. sdrs_error is not set. */
SDRS_API sdrs_status sdrs_describe(const sdrs* object, sdrs_info* out);
/* Name of a link 0 .. links - 1; belongs to the object and holds as long as it. */
SDRS_API const char* sdrs_link_name(const sdrs* object, int link); /* NULL: no such link */
/* Index of a link 0 .. links - 1 by its exact name. -1 too where either is NULL. Allocates nothing. */
SDRS_API int sdrs_link_find(const sdrs* object, const char* name); /* -1: no such link */

/* Arrays of numbers by name. What can be done with each: V sdrs_view, S sdrs_set, R sdrs_record, D a seed of
 * sdrs_gradient, G sdrs_gradient_view. In brackets the columns of a row. */
typedef enum sdrs_block {
  SDRS_TIME,        /* V R      [1] s */
  SDRS_COORDINATES, /* V S R D  [nq];   G: by the start, as increments of the joints [nv] */
  SDRS_VELOCITIES,  /* V S R D  [nv];   G: by the start [nv] */
  SDRS_INPUT,       /* V S      [nu] targets of the controllers, see sdrs_set;   G: a row for every step */
  SDRS_POSITION,    /* V R D    [3] of a link's frame, in the world */
  SDRS_ORIENTATION, /* V R D    [4] of a link's frame: quaternion w x y z; in a record continuous in time */
  SDRS_CENTER,      /* V R D    [3] of a link's mass, in the world */
  SDRS_FORCE,       /* V R D    [3] on a link: contact and friction, N */
  SDRS_CONTACTS,    /* V        [6] a row for every touching pair of links: a, b, gap, force on b */
  SDRS_DESIGN,      /* V S   G  [design] variables of the task */
  SDRS_CONTROL,     /* V     G  [parameters] of the controllers' own signals */
  SDRS_VERTICES,    /* V     G  [3] a row for every vertex of every hull, in the link's frame */
  SDRS_ATTACHMENTS, /* V     G  [3] a row for every link: origin of its joint in the parent's frame */
  SDRS_MASS,        /* V     G  [links] kg; zero where a link has none */
  SDRS_CONTACT,     /* V     G  [13] support, stiffness, friction, smoothing, rest_speed, the law's own */
  SDRS_REACTIONS,   /* V R D    [6] force [N] and torque [N m] of the parent on a link about its frame, in the world;
                                asked for by simulation.output: [reactions]; NaN in the first row; D not of links that
                                cannot move */
  SDRS_IMU,         /* R D      [6] acceleration less gravity [m/s^2] of a link's frame, angular velocity [rad/s], in
                                the link's axes; NaN in the first and the last row, which have one neighbour */
  SDRS_NO_BLOCK = -1
} sdrs_block;
/* Number of blocks of this library, 0 .. count - 1; later ones may have more. Never fails. */
SDRS_API int sdrs_block_count(void);
/* Name of a block, constant. */
SDRS_API const char* sdrs_block_name(sdrs_block block); /* "time", "coordinates", ...; NULL: no such block */
/* The block of such a name, which may be NULL. */
SDRS_API sdrs_block sdrs_block_find(const char* name); /* SDRS_NO_BLOCK: no such name */
/* Name of a column of the blocks that have nq, nv, nu or `design` columns: "box/x", "hip/0", "box/velocity/0". NULL:
 * none. Holds as long as the object. */
SDRS_API const char* sdrs_entry_name(sdrs* object, sdrs_block block, int index);

typedef struct sdrs_array {
  size_t size;
  const double* data; /* [row * stride + column] */
  size_t rows, columns, stride;
} sdrs_array;
/* Numbers of the present state, or of the scene. link: of POSITION, ORIENTATION, CENTER and FORCE; -1 = a row each.
 * *out has rows, columns and stride, in doubles, and borrows its numbers (m, rad, m/s, rad/s, N, kg); zeroed
 * on failure. Begins the simulation if need be, with the errors of sdrs_step for a start. SDRS_USAGE: no such
 * block or link, or a wrong out->size. */
SDRS_API sdrs_status sdrs_view(sdrs* object, sdrs_block block, int link, sdrs_array* out);

/* ---------------------------------------------------------------- running */

/* COORDINATES, VELOCITIES (count nq, nv): a run begins anew there. Quaternions are brought to unit length.
 * INPUT (count k nu): from the present step on the controllers' targets are these, row after row, the last one held,
 * their rates zero; count 0: the scene's own signals again. DESIGN (count design): the scene becomes that of these
 * variables; not while there are clones. values are copied. SDRS_USAGE: a count that does not fit, or a block that
 * cannot be set; SDRS_BAD_INPUT: a number that is not finite, a zero quaternion, or a design that makes no model.
 * What was there stays on failure. */
SDRS_API sdrs_status sdrs_set(sdrs* object, sdrs_block block, const double* values, size_t count);
/* To the start: of the scene, or what was set. Inputs stay. SDRS_BAD_INPUT: it cannot start there: bodies intersect,
 * or a loop is open. Frees the present simulation; views that were borrowed from it are invalid. */
SDRS_API sdrs_status sdrs_reset(sdrs* object);
/* To where it was after loading: nothing set. Also the record, the gradient and all views are gone. A design that
 * was set stays, as it is the scene's. Frees them; fails with SDRS_USAGE where nothing was loaded. */
SDRS_API sdrs_status sdrs_clear(sdrs* object);
/* Advances so many steps of dt; none for 0 or fewer. Begins the simulation if need be: SDRS_BAD_INPUT when bodies
 * intersect there, or a loop is open. SDRS_SOLVER: it stands before the step that failed, which sdrs_error names.
 * Allocates when it begins, and while pairs grow. */
SDRS_API sdrs_status sdrs_step(sdrs* object, int steps);

/* Every step of all these objects, side by side. SDRS_OK, or the first failure in their order; each has its own error.
 * objects[count], all different; threads across them, SDRS_USAGE below 0. Allocates nothing of its own. */
SDRS_API sdrs_status sdrs_step_all(sdrs* const* objects, int count, int steps, int threads);

/* Runs of one scene from many starts, side by side. NULL: not given, not wanted. */
typedef struct sdrs_rollouts {
  size_t size;
  int count, steps, threads;
  const double* coordinates; /* starts (count x nq); NULL: as the object starts */
  const double* velocities;  /* (count x nv) */
  const double* input;       /* (count x steps x nu) */
  double* record;            /* coordinates after every step, the start first (count x (steps + 1) x nq) */
  double* record_velocities; /* (count x (steps + 1) x nv) */
  double* final_coordinates; /* (count x nq) */
  double* final_velocities;  /* (count x nv) */
  int* steps_done;           /* fewer than `steps` where a step failed; what follows in its arrays is its last state */
} sdrs_rollouts;
/* SDRS_SOLVER when a run failed, and which; the others are whole. The present state is not moved. SDRS_USAGE: count
 * < 0, steps < 1 or threads < 0; SDRS_BAD_INPUT: an input that is not finite, or a start that none can begin in, whose
 * arrays are not written. Its arrays are the caller's own, of the sizes that sdrs_rollouts tells. */
SDRS_API sdrs_status sdrs_rollout(sdrs* object, const sdrs_rollouts* rollouts);

/* ---------------------------------------------------------------- recorded runs and gradients */

/* From the start, keeping everything; steps 0 = the scene's. After SDRS_SOLVER the record ends before the step that
 * failed. The present state of sdrs_view is not moved. SDRS_BAD_INPUT: it cannot start there, and there is no
 * record. Frees the record and gradient before. */
SDRS_API sdrs_status sdrs_run(sdrs* object, int steps);
/* A row for every state of the run, the start first. link as in sdrs_view, -1 = all of them in a row. Holds until the
 * next sdrs_run, sdrs_set of the design, or sdrs_free. *out borrows its numbers (steps + 1 rows); zeroed on failure.
 * SDRS_USAGE: no run, no such block or link. */
SDRS_API sdrs_status sdrs_record(sdrs* object, sdrs_block block, int link, sdrs_array* out);

/* Derivatives of a loss by one block of the record, as many numbers as sdrs_record shows for it: (rows x columns),
 * without gaps. Each block counts as independent of the others. */
typedef struct sdrs_seed {
  size_t size; /* the same in all of an array */
  sdrs_block block;
  int link; /* -1 = all */
  const double* values;
  size_t count;
} sdrs_seed;
/* The gradient of that loss by everything, by the adjoint method; several seeds add up. seeds[count] are read only.
 * SDRS_USAGE: no run, or a count that does not fit; SDRS_BAD_INPUT: a number that is not finite; SDRS_NO_GRADIENT: a
 * singular step. There is no gradient after any of them. Frees the gradient before, and its views. */
SDRS_API sdrs_status sdrs_gradient(sdrs* object, const sdrs_seed* seeds, int count);
/* Sets *value to a loss of the run and gives its derivatives to sdrs_add_seed. Any number but 0: there is none. The
 * record may be looked at. */
typedef int (*sdrs_loss_callback)(void* context, sdrs* object, double* value);
/* Within a callback of sdrs_loss: one more seed of its loss. Its numbers must hold until sdrs_loss returns. SDRS_USAGE:
 * outside of a callback, or a wrong size. */
SDRS_API sdrs_status sdrs_add_seed(sdrs* object, const sdrs_seed* seed);
/* The loss of the run and its gradient; callback NULL: the loss of the task in its scenario, without the scenario's
 * weight. The run must be as long as the task wants it. *value is NaN where there is none. SDRS_USAGE: no run, too
 * short a run, or a scene without callback; SDRS_BAD_INPUT: the callback refused; else the errors of sdrs_gradient. */
SDRS_API sdrs_status sdrs_loss(sdrs* object, sdrs_loss_callback callback, void* context, double* value);
/* The gradient that was computed last. *out borrows its numbers, per SI unit of the block, in the shapes that
 * sdrs_block tells; zeroed on failure. SDRS_USAGE: no gradient, or not by this block. Not to be freed. */
SDRS_API sdrs_status sdrs_gradient_view(sdrs* object, sdrs_block block, sdrs_array* out);

/* ---------------------------------------------------------------- queries and proofs */

typedef struct sdrs_distance {
  size_t size;
  double distance;                   /* m; 0: they meet, and the rest is zero */
  double witness_a[3], witness_b[3]; /* nearest points */
  double potential;                  /* of the contact, for stiffness 1 */
  double plane[4];                   /* n x + o < 0 on the side of a */
} sdrs_distance;
/* Contact of two convex hulls of points in the world (a_count x 3), (b_count x 3) [m], with a support [m]. grad_a,
 * grad_b, as long as these: derivatives of the potential by the points, or NULL. SDRS_BAD_INPUT: no points, numbers
 * that are none, or no support > 0. SDRS_USAGE: a wrong out->size. No object is needed, and nothing is kept. */
SDRS_API sdrs_status sdrs_query(const double* a, size_t a_count, const double* b, size_t b_count, double support,
                                sdrs_distance* out, double* grad_a, double* grad_b);

/* Questions in JSON as `sdrs query` takes them (docs/queries.md): growth, distance, witness, touch and manifold of
 * shapes, hulls and meshes, and pairs of point sets. *out: the answers, a line of JSON each, byte for byte those of the
 * command line; after SDRS_BAD_INPUT and SDRS_IO what was wrong, in its words; NULL after SDRS_NO_MEMORY. It is the
 * caller's, for sdrs_free_text. path stands for the questions in messages, and meshes are sought beside it; NULL = the
 * working folder. SDRS_USAGE: questions is NULL. Allocates for the time of the call, but for *out. */
SDRS_API sdrs_status sdrs_query_text(const char* questions, const char* path, char** out);
/* Frees what sdrs_query_text gave; NULL is nothing. */
SDRS_API void sdrs_free_text(char* text);

/* Shapes that are made once, to be asked about at many poses. Calls on different objects may run at the same time,
 * calls on one object may not. */
typedef struct sdrs_shapes sdrs_shapes;
/* From a JSON list of shapes as in questions of `sdrs query`, without position and quaternion. *out is set in any case,
 * to be asked for sdrs_shapes_error and freed, unless there was no memory for it: then it is NULL. path stands for the
 * text in messages, and meshes are sought beside it; NULL = the working folder. shapes is not kept. SDRS_BAD_INPUT: all
 * mistakes are in sdrs_shapes_error. SDRS_USAGE: out or shapes is NULL. */
SDRS_API sdrs_status sdrs_shapes_new(sdrs_shapes** out, const char* shapes, const char* path);
/* Frees the shapes; NULL is nothing. */
SDRS_API void sdrs_shapes_free(sdrs_shapes* shapes);
/* Error of the last call that failed on these shapes, "" if none did. For NULL: that there is no memory. Not
 * to be freed; holds until the next call on them. */
SDRS_API const char* sdrs_shapes_error(const sdrs_shapes* shapes);
/* Number of shapes; 0 for NULL and for a list that was refused. */
SDRS_API int sdrs_shapes_count(const sdrs_shapes* shapes);

/* One question about many pairs of shapes. Everything is the caller's. */
typedef struct sdrs_pairs {
  size_t size;
  const char* method;         /* "growth", "distance", "manifold", "witness", "touch": docs/queries.md */
  const char* options;        /* further keys of the question, as a JSON object: {"smoothing": 0.01}; NULL: none */
  const char* const* answers; /* names as in the answers of `sdrs query`: "gap", "d_gap_a", ... (answer_count) */
  int answer_count;
  size_t count;          /* rows */
  const int* shapes;     /* (count x 2): which shapes are a and b, from 0 */
  const double* poses_a; /* (count x 7): x y z [m], qw qx qy qz, of length 1 within 1e-6 */
  const double* poses_b; /* (count x 7) */
  double* out;           /* row i at out + i * stride */
  size_t stride;         /* doubles, at least a row's */
  int threads;           /* 0 = 1 */
} sdrs_pairs;
/* Numbers of each answer in a row (answer_count), which follow one another in the order of `answers`. Tables are row by
 * row, as in the JSON answer of the name; truth is 1 or 0. Of manifold each answer is a list with a slot for every
 * contact, as many as the pair with most contacts has; `kind` is 0 vertex_a, 1 vertex_b, 2 edge_a, 3 edge_b. poses_a,
 * poses_b, out, stride are not looked at. Errors as of sdrs_shapes_query. */
SDRS_API sdrs_status sdrs_shapes_layout(sdrs_shapes* shapes, const sdrs_pairs* pairs, size_t* columns);
/* Answers every row. NaN: there is no such answer for the pair, it is not known, or the slot has no contact. The
 * numbers are the same for any number of threads, and in every call: rows of one pair follow each other, each begins
 * from what the one before has found, and every 64th row begins cold. SDRS_BAD_INPUT: a method, option, answer, shape
 * or pose that cannot be; all of it is in sdrs_shapes_error, and out is untouched. SDRS_USAGE: a wrong size, NULL, a
 * stride that is shorter than a row, or threads below 0. Allocates once a call, and where hulls overlap deeply. */
SDRS_API sdrs_status sdrs_shapes_query(sdrs_shapes* shapes, const sdrs_pairs* pairs);

typedef struct sdrs_proof {
  size_t size;
  int proved;          /* no two hulls meet in the recorded states, nor on the ways between them */
  int row;             /* where that fails first: the end of the way; -1 */
  int link_a, link_b;  /* who; -1 */
  int meets;           /* 1: they do; 0: neither a proof nor a meeting was found */
  double smallest_gap; /* of a recorded state [m]; infinite: nobody is near anybody */
} sdrs_proof;
/* Is the recorded run free of meetings, states and ways between them? A run that is not proved is SDRS_OK too: see
 * *out. SDRS_USAGE: there is no record, and *out tells nothing. Allocates for the time of the call, in the object's
 * own memory. */
SDRS_API sdrs_status sdrs_certify(sdrs* object, sdrs_proof* out);

#ifdef __cplusplus
}
#endif
#endif
