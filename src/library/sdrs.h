/* sdrs: a library that simulates robots in contact and computes exact gradients of whole runs (docs/library.md).
 *
 * An sdrs object holds a scene, or a task with its scene, and one run of it. Different threads may use different
 * objects at the same time, but not the same object. Results are bit-identical to the results of the command line and
 * independent of the number of threads. All quantities are in SI units and radians, with z up. Arrays are row-major
 * arrays of double.
 *
 * Every call that can fail returns an sdrs_status; sdrs_error describes the error. A call returns SDRS_USAGE and does
 * nothing if an argument is NULL where NULL is not allowed, or if a count has no array. No call ends the process or
 * prints. After SDRS_NO_MEMORY the object is in the state after loading or cloning. Returned pointers belong to the
 * object and are valid until the next non-const call on it, unless stated otherwise. */
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

/* SDRS_INIT(type) returns a zeroed struct with its member `size` set. The caller sets `size` of every struct below in
 * this way, so that programs and library versions with structs of different lengths work together. A struct shorter
 * than the library's is rejected with SDRS_USAGE. An input struct with nonzero bytes beyond the library's length is
 * rejected too. In an output struct the library sets `size` to its own length. */
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
  SDRS_BAD_INPUT,   /* a file or value is invalid */
  SDRS_IO,          /* a file cannot be read */
  SDRS_SOLVER,      /* a step could not be solved; the state is the one before the step */
  SDRS_NO_GRADIENT, /* a step has no derivative; sdrs_error names the step */
  SDRS_NO_MEMORY,
  SDRS_USAGE /* invalid call, such as a wrong size, or a gradient before a run */
} sdrs_status;

/* ---------------------------------------------------------------- loading */

typedef struct sdrs_options {
  size_t size;
  const char* const* overrides; /* texts "path.to.key=value", as for the option --set (size: override_count) */
  int override_count;
  int threads;  /* number of threads within one run; 0 means 1. Loading fails if the system allows fewer. */
  int scenario; /* index of the scenario of a task, from 0 */
} sdrs_options;

/* Returns the version of the library, "x.y.z", a static text. */
SDRS_API const char* sdrs_version(void);
/* Loads a scene or task (YAML or JSON) from the file `path` into a new object *out. The caller frees *out with
 * sdrs_free, also after an error; sdrs_error(*out) then describes the error. *out is NULL only if there was no memory
 * for it. options are copied and may be NULL. Returns SDRS_IO if the file cannot be read, and SDRS_BAD_INPUT if the
 * file has mistakes; sdrs_error then lists all of them. */
SDRS_API sdrs_status sdrs_load(sdrs** out, const char* path, const sdrs_options* options);
/* Loads a scene or task from `text`, which is copied. path: file name for messages, and base of relative paths in the
 * text. The text is read as JSON if `path` ends in `.json`, otherwise as YAML. path may be NULL; relative paths then
 * start in the working folder. *out and errors are as for sdrs_load. */
SDRS_API sdrs_status sdrs_parse(sdrs** out, const char* text, const char* path, const sdrs_options* options);
/* Copies an object: sets *out to a new object with the scene, initial state and inputs of `original`, at the beginning
 * of its run. The two objects share the data of the scene and may be freed in any order. The caller frees *out with
 * sdrs_free. Returns SDRS_USAGE if `original` was not loaded. Returns SDRS_NO_MEMORY, with *out NULL, if there is no
 * memory for the object. */
SDRS_API sdrs_status sdrs_clone(sdrs** out, sdrs* original);
/* Frees the object. Pointers that belong to the object become invalid. Data shared with clones are freed with the last
 * of the objects. Accepts NULL. */
SDRS_API void sdrs_free(sdrs* object);

/* Returns the error text of the last failed call on this object, or "" if no call failed. If `object` is NULL, returns
 * an out-of-memory text. The text belongs to the object and is valid until the next non-const call on it. */
SDRS_API const char* sdrs_error(const sdrs* object);

typedef struct sdrs_diagnostic {
  size_t size;
  int severity;     /* 0: error, 1: warning, 2: note */
  const char* file; /* NULL if the message concerns no file */
  int line, column; /* from 1; 0 if unknown */
  const char* text;
} sdrs_diagnostic;
/* Returns the number of messages (errors, warnings and notes) of loading and of the last call; 0 if `object` is
 * NULL. */
SDRS_API int sdrs_diagnostic_count(const sdrs* object);
/* Sets *out to message number `index`, 0 ... sdrs_diagnostic_count - 1. The texts in *out belong to the object and are
 * valid until the next non-const call on it. Returns SDRS_USAGE if `out` is NULL or out->size is wrong. Also returns
 * SDRS_USAGE, with *out zeroed, if `object` is NULL or has no message of this number. Does not set sdrs_error. */
SDRS_API sdrs_status sdrs_diagnostic_at(const sdrs* object, int index, sdrs_diagnostic* out);

/* ---------------------------------------------------------------- description */

typedef struct sdrs_info {
  size_t size;
  const char* name;
  double dt;       /* time step [s] */
  int steps;       /* number of steps of the scene or scenario */
  int links;       /* number of links (bodies), in the order of the scene */
  int coordinates; /* nq, number of coordinates: displacements [m], angles [rad] and quaternions w x y z, link by link
                      as in joints.csv */
  int velocities;  /* nv, number of velocities: rates of the coordinates; for a quaternion the angular velocity in the
                      link's axes [rad/s] */
  int inputs;      /* nu, number of channels of all controllers, in the order of the scene */
  int parameters;  /* number of parameters of the controllers' signals */
  int vertices;    /* number of vertices of all hulls */
  int design;      /* number of design variables of the task; 0 for a scene */
} sdrs_info;
/* Sets *out to the name, time step and sizes of the scene. out->name belongs to the object. Returns SDRS_USAGE if
 * out->size is wrong. Also returns SDRS_USAGE, with zeros and an empty name in *out, if `object` is NULL or was not
 * loaded. Does not set sdrs_error. */
SDRS_API sdrs_status sdrs_describe(const sdrs* object, sdrs_info* out);
/* Returns the name of link number `link`, 0 ... links - 1, or NULL if there is no such link. The name belongs to the
 * object and is valid until the object is freed. */
SDRS_API const char* sdrs_link_name(const sdrs* object, int link);
/* Returns the index of the link with the name `name`, or -1 if there is none or an argument is NULL. */
SDRS_API int sdrs_link_find(const sdrs* object, const char* name);

/* Blocks are named arrays of numbers of a scene or run. Letters list the functions that accept a block: V sdrs_view, S
 * sdrs_set, R sdrs_record, D derivatives of the loss given to sdrs_gradient, G sdrs_gradient_view. Brackets contain the
 * number of columns of a row; nq, nv, nu, design and parameters are counts of sdrs_info. */
typedef enum sdrs_block {
  SDRS_TIME,        /* V R      [1] time [s] */
  SDRS_COORDINATES, /* V S R D  [nq] joint coordinates;  G [nv]: derivatives of the loss with respect to the initial
                       coordinates, one per velocity */
  SDRS_VELOCITIES,  /* V S R D  [nv] joint velocities;  G [nv]: derivatives of the loss with respect to the initial
                       velocities */
  SDRS_INPUT,       /* V S      [nu] targets of the controllers, see sdrs_set;  G [nu]: one row per step */
  SDRS_POSITION,    /* V R D    [3] origin of a link's frame, world [m] */
  SDRS_ORIENTATION, /* V R D    [4] orientation of a link's frame, quaternion w x y z; continuous in time in a record */
  SDRS_CENTER,      /* V R D    [3] centre of mass of a link, world [m] */
  SDRS_FORCE,       /* V R D    [3] contact and friction force on a link, world [N] */
  SDRS_CONTACTS,    /* V        [6] one row per pair of links in contact: links a and b, gap [m], force on b [N] */
  SDRS_DESIGN,      /* V S   G  [design] design variables of the task */
  SDRS_CONTROL,     /* V     G  [parameters] parameters of the controllers' signals */
  SDRS_VERTICES,    /* V     G  [3] one row per vertex of every hull, in the link's frame [m] */
  SDRS_ATTACHMENTS, /* V     G  [3] one row per link: origin of the link's joint in the parent's frame [m] */
  SDRS_MASS,        /* V     G  [links] mass of each link [kg]; zero for a link without mass */
  SDRS_CONTACT,     /* V     G  [13] barrier_distance, stiffness, friction, smoothing, rest_speed, numbers of the law */
  SDRS_REACTIONS,   /* V R D    [6] force [N] and torque [N m] of the parent on a link, about the origin of the link's
                       frame, in the world frame. Requires simulation.output: [reactions]. NaN in the first row. D only
                       for links that can move. */
  SDRS_IMU, /* R D      [6] acceleration minus gravity [m/s^2] of a link's frame and angular velocity [rad/s], in the
               link's axes. NaN in the first and last row, because the value needs both neighbouring states. */
  SDRS_MATERIAL, /* V     G  [9] friction, restitution, rolling, spinning, friction_along, static_friction,
                    stribeck_speed, barrier_distance, stiffness. First row: values of `contact`, for pairs that have no
                    own values; then one row per link, and one per item of contact.pairs. V: NaN where a row gives no
                    value. G: zero there; the derivative by a value of 0 is one-sided. */
  SDRS_RANGE, /* V R D    [6] distances from the origin of a link's frame to the surfaces of other links along x, -x, y,
                 -y, z, -z of the frame [m]. NaN if nothing is hit. */
  SDRS_NO_BLOCK = -1
} sdrs_block;
/* Returns the number of blocks. Values of sdrs_block are 0 ... count - 1; later versions may have more blocks. */
SDRS_API int sdrs_block_count(void);
/* Returns the name of a block, such as "time" or "coordinates", or NULL if there is no such block. The text is
 * static. */
SDRS_API const char* sdrs_block_name(sdrs_block block);
/* Returns the block with the name `name`, or SDRS_NO_BLOCK if there is none or `name` is NULL. */
SDRS_API sdrs_block sdrs_block_find(const char* name);
/* Returns the name of column `index` of a block, or NULL if the column has no name. Blocks with nq, nv, nu or `design`
 * columns have names such as "box/x", "box/velocity/0" and "hip/0". Columns of SDRS_CONTROL are named as in design.csv,
 * such as "hip/amplitude/0". Columns of SDRS_MASS have the names of the links. Columns of SDRS_CONTACT have the keys of
 * the scene, such as "friction"; numbers that the contact law does not use are named like "unused/9". Columns of
 * SDRS_MATERIAL have the names listed there. The name is valid until the object is freed. */
SDRS_API const char* sdrs_entry_name(sdrs* object, sdrs_block block, int index);

typedef struct sdrs_array {
  size_t size;
  const double* data; /* data[row * stride + column] */
  size_t rows, columns, stride;
} sdrs_array;
/* Sets *out to the values of a block in the current state of the simulation; out->stride is the distance of rows in
 * doubles. out->data belongs to the object. link selects one link of POSITION, ORIENTATION, CENTER, FORCE and
 * REACTIONS; link -1 gives one row per link. The first call begins the simulation and may return the errors of
 * sdrs_step for the initial state. Returns SDRS_USAGE if there is no such block or link, or if out->size is wrong. *out
 * is zeroed on failure. */
SDRS_API sdrs_status sdrs_view(sdrs* object, sdrs_block block, int link, sdrs_array* out);

/* ---------------------------------------------------------------- running */

/* Sets a block to values[count], which are copied. On failure nothing changes.
 * SDRS_COORDINATES, SDRS_VELOCITIES: the initial state of a new run (count nq, nv). Quaternions are normalized. The
 * simulation returns to this initial state, at time 0: a block that is not set keeps its initial value, not the value
 * after the steps so far.
 * SDRS_INPUT: targets of the controllers from the present step on, one row of nu numbers per step (count: a multiple of
 * nu). Target rates are zero. The last row holds for all later steps. With count 0 the controllers follow the scene's
 * signals again. SDRS_DESIGN: design variables (count design), with which the scene is rebuilt. The object must have no
 * clones. Returns SDRS_USAGE if the count is wrong or the block cannot be set. Returns SDRS_BAD_INPUT if a value is not
 * finite, a quaternion is zero, the scene starts from a recorded state, or the design gives no valid model. */
SDRS_API sdrs_status sdrs_set(sdrs* object, sdrs_block block, const double* values, size_t count);
/* With on != 0, later runs from the initial state continue an earlier motion: with the integrator `momentum`, the
 * initial velocities are those of the middle of a step that ended in the initial state, as sdrs_view and sdrs_record
 * return them. The last coordinates and velocities of one run are then the start of the next. With on == 0, the value
 * after loading, the initial velocities belong to the initial state. Clones inherit the setting; sdrs_clear and a
 * new design reset it. Returns SDRS_USAGE for on != 0 with the integrator `second_order`. */
SDRS_API sdrs_status sdrs_continue(sdrs* object, int on);
/* Returns the simulation to its initial state, which is the scene's initial state or the state given to sdrs_set.
 * Controller inputs that were set are kept. Frees the current simulation, so views of it become invalid. Returns
 * SDRS_BAD_INPUT if the initial state is invalid (bodies intersect, or a kinematic loop does not close). */
SDRS_API sdrs_status sdrs_reset(sdrs* object);
/* Returns the object to its state after loading. Discards the initial state, inputs, record, gradient and views that
 * were set or computed. Keeps design variables that were set, because they belong to the scene. Returns SDRS_USAGE if
 * the object was not loaded. */
SDRS_API sdrs_status sdrs_clear(sdrs* object);
/* Advances the simulation by `steps` time steps dt; does nothing if steps <= 0. The first call begins the simulation
 * and returns SDRS_BAD_INPUT if bodies intersect or a kinematic loop does not close. Returns SDRS_SOLVER if a step
 * could not be solved; the state is then the one before this step, and sdrs_error names the step. Allocates at the
 * beginning and when the number of contact pairs grows. */
SDRS_API sdrs_status sdrs_step(sdrs* object, int steps);

/* Advances objects[count] by `steps` steps each, in parallel on `threads` threads. The objects must be different.
 * Returns SDRS_OK if all succeeded, otherwise the status of the first object that failed; every object has its own
 * sdrs_error. Returns SDRS_USAGE if threads < 0. */
SDRS_API sdrs_status sdrs_step_all(sdrs* const* objects, int count, int steps, int threads);

/* Input and output of many runs of one scene, each from its own initial state. An input array that is NULL is replaced
 * by the initial state or the inputs of the object. An output array that is NULL is not written. */
typedef struct sdrs_rollouts {
  size_t size;
  int count, steps, threads; /* number of runs, of time steps in each run, and of threads */
  const double* coordinates; /* initial coordinates (size: count x nq) */
  const double* velocities;  /* initial velocities (size: count x nv) */
  const double* input;       /* targets of the controllers in every step (count x steps x nu) */
  double* record;            /* coordinates at the start and after every step (size: count x (steps + 1) x nq) */
  double* record_velocities; /* velocities at the start and after every step (size: count x (steps + 1) x nv) */
  double* final_coordinates; /* coordinates after the last step (size: count x nq) */
  double* final_velocities;  /* velocities after the last step (size: count x nv) */
  int* steps_done; /* number of completed steps of each run (size: count). After a failed step the arrays repeat the
                      last state. */
} sdrs_rollouts;
/* Simulates all runs of `rollouts` in parallel. The current state of the object does not change. sdrs_continue of the
 * object applies to all runs. The caller owns all
 * arrays, with the sizes stated in sdrs_rollouts. Returns SDRS_SOLVER if a run failed; sdrs_error names the run, and
 * the other runs are complete. Returns SDRS_USAGE if count < 0, steps < 1 or threads < 0. Returns SDRS_BAD_INPUT,
 * without writing any array, if an input is not finite. Returns SDRS_BAD_INPUT if the initial state of a run is
 * invalid; the states of this run are then not written. */
SDRS_API sdrs_status sdrs_rollout(sdrs* object, const sdrs_rollouts* rollouts);

/* ---------------------------------------------------------------- recorded runs and gradients */

/* Simulates `steps` steps from the initial state and records all states, for sdrs_record and sdrs_gradient. With steps
 * <= 0 the number of steps of the scene is used. The current state of sdrs_view does not change. Frees the previous
 * record and gradient. Returns SDRS_SOLVER if a step could not be solved; the record then ends before this step.
 * Returns SDRS_BAD_INPUT, without a record, if the initial state is invalid. */
SDRS_API sdrs_status sdrs_run(sdrs* object, int steps);
/* Calls sdrs_run for each of objects[count], in parallel on `threads` threads. The objects must be different. Returns
 * SDRS_OK if all succeeded, otherwise the status of the first object that failed; every object has its own sdrs_error.
 * Returns SDRS_USAGE if threads < 0. */
SDRS_API sdrs_status sdrs_run_all(sdrs* const* objects, int count, int steps, int threads);
/* Sets *out to the recorded values of a block, one row per state, the initial state first (steps + 1 rows). link
 * selects one link as in sdrs_view; link -1 puts all links into each row. out->data is valid until the next sdrs_run,
 * sdrs_clear, sdrs_set of the design or sdrs_free. Returns SDRS_USAGE if there is no record, block or link; *out is
 * zeroed on failure. */
SDRS_API sdrs_status sdrs_record(sdrs* object, sdrs_block block, int link, sdrs_array* out);

/* Derivatives of a loss with respect to the recorded values of one block. values has the rows and columns that
 * sdrs_record returns for the block, stored without gaps. The derivatives treat the blocks as independent variables. */
typedef struct sdrs_seed {
  size_t size; /* must be equal in all elements of an array */
  sdrs_block block;
  int link; /* the link to which the values belong; -1 if they contain all links */
  const double* values;
  size_t count;
} sdrs_seed;
/* Computes the gradient of a loss by the adjoint method. seeds[count] contain the derivatives of the loss with respect
 * to recorded values; several seeds for one value add up. Frees the previous gradient and its views. Returns SDRS_USAGE
 * if there is no record or a count is wrong, and SDRS_BAD_INPUT if a value is not finite. Returns SDRS_NO_GRADIENT if a
 * step has no derivative. After an error there is no gradient. */
SDRS_API sdrs_status sdrs_gradient(sdrs* object, const sdrs_seed* seeds, int count);
/* Calls sdrs_gradient for each of objects[count], in parallel on `threads` threads. The objects must be different.
 * seeds (count x seed_count): derivatives of each object's loss, in the order of the objects. The returned status is as
 * for sdrs_run_all. */
SDRS_API sdrs_status sdrs_gradient_all(sdrs* const* objects, int count, const sdrs_seed* seeds, int seed_count,
                                       int threads);
/* Callback of sdrs_loss. It sets *value to the loss of the recorded run and passes the derivatives to sdrs_add_seed.
 * The callback may call sdrs_record. It returns 0, or another value if the loss cannot be evaluated. */
typedef int (*sdrs_loss_callback)(void* context, sdrs* object, double* value);
/* Adds the derivatives in `seed` to the derivatives of the loss. May be called only in a callback of sdrs_loss.
 * seed->values must stay valid until sdrs_loss returns. Returns SDRS_USAGE outside a callback, or if a size is
 * wrong. */
SDRS_API sdrs_status sdrs_add_seed(sdrs* object, const sdrs_seed* seed);
/* Computes a loss of the recorded run and the gradient of the loss. Sets *value to the loss, or to NaN on failure. The
 * callback evaluates the loss. If callback is NULL, the loss defined in the task is used for the object's scenario,
 * without the scenario's weight. Returns SDRS_USAGE if there is no record, or if the task's loss is not finite, for
 * example because the run is too short. Returns SDRS_USAGE if callback is NULL and the object is a scene. Returns
 * SDRS_BAD_INPUT if the callback fails. Also returns the errors of sdrs_gradient. */
SDRS_API sdrs_status sdrs_loss(sdrs* object, sdrs_loss_callback callback, void* context, double* value);
/* Sets *out to the derivatives of the loss with respect to a block, from the last gradient. The derivatives are per SI
 * unit of the block, with the rows and columns listed at sdrs_block. out->data belongs to the object. Returns
 * SDRS_USAGE if there is no gradient, or none with respect to this block; *out is zeroed on failure. */
SDRS_API sdrs_status sdrs_gradient_view(sdrs* object, sdrs_block block, sdrs_array* out);

/* ---------------------------------------------------------------- queries and proofs */

typedef struct sdrs_distance {
  size_t size;
  double distance;                   /* [m]; 0 if the hulls intersect; the other members are then zero */
  double witness_a[3], witness_b[3]; /* nearest points of the two hulls [m] */
  double potential;                  /* energy of the contact law for these hulls, for stiffness 1 */
  double plane[4]; /* plane between the hulls, the points x with n . x + o = 0, as nx, ny, nz, o; n . x + o < 0 on the
                      side of a */
} sdrs_distance;
/* Sets *out to the distance and the contact potential of two convex hulls. a (a_count x 3) and b (b_count x 3) are the
 * points of the hulls, world frame [m]. support is the distance of the hulls below which the contact potential acts
 * [m]. grad_a and grad_b, as long as a and b, receive the derivatives of the potential with respect to the points; each
 * may be NULL. Returns SDRS_BAD_INPUT if a set is empty, a number is invalid, or support is out of range. Returns
 * SDRS_USAGE if out->size is wrong. */
SDRS_API sdrs_status sdrs_query(const double* a, size_t a_count, const double* b, size_t b_count, double support,
                                sdrs_distance* out, double* grad_a, double* grad_b);

/* Answers distance and contact queries in the JSON format of `sdrs query` (docs/queries.md). Sets *out to the answers,
 * one JSON line each, byte-identical to the output of the command line. After SDRS_BAD_INPUT and SDRS_IO *out is the
 * error text, after SDRS_NO_MEMORY it is NULL. The caller frees *out with sdrs_free_text. path: file name for messages
 * and base of mesh paths; NULL means the working folder. Returns SDRS_USAGE if questions is NULL. */
SDRS_API sdrs_status sdrs_query_text(const char* questions, const char* path, char** out);
/* Frees a text returned by sdrs_query_text. Accepts NULL. */
SDRS_API void sdrs_free_text(char* text);

/* Shapes that are created once and queried at many poses. Different threads may use different objects at the same time,
 * but not the same object. */
typedef struct sdrs_shapes sdrs_shapes;
/* Creates shapes from a JSON list and sets *out to the new object. Each shape is written as in a question of `sdrs
 * query`, without position and quaternion. The caller frees *out with sdrs_shapes_free, also after an error. *out is
 * NULL only if there was no memory for it. path: file name for messages and base of mesh paths; NULL means the working
 * folder. Returns SDRS_BAD_INPUT if the list has mistakes; sdrs_shapes_error then lists all of them. Returns SDRS_USAGE
 * if out or shapes is NULL. */
SDRS_API sdrs_status sdrs_shapes_new(sdrs_shapes** out, const char* shapes, const char* path);
/* Frees the shapes. Accepts NULL. */
SDRS_API void sdrs_shapes_free(sdrs_shapes* shapes);
/* Returns the error text of the last failed call on these shapes, or "" if no call failed. If `shapes` is NULL, returns
 * an out-of-memory text. The text belongs to the shapes and is valid until the next call on them. */
SDRS_API const char* sdrs_shapes_error(const sdrs_shapes* shapes);
/* Returns the number of shapes; 0 if `shapes` is NULL or could not be created. */
SDRS_API int sdrs_shapes_count(const sdrs_shapes* shapes);

/* One query of many pairs of shapes. The caller owns all arrays. */
typedef struct sdrs_pairs {
  size_t size;
  const char*
      method; /* kind of query, described in docs/queries.md: "growth", "distance", "manifold", "witness" or "touch" */
  const char*
      options; /* further keys of the question as a JSON object, such as {"smoothing": 0.01}; NULL if there are none */
  const char* const*
      answers; /* names of the requested answers, as in `sdrs query`: "gap", "d_gap_a", ... (size: answer_count) */
  int answer_count;
  size_t count;      /* number of pairs, one row each */
  const int* shapes; /* indices of the shapes a and b of each pair, from 0 (size: count x 2) */
  const double*
      poses_a; /* poses of a (size: count x 7): position x y z [m], quaternion qw qx qy qz of length 1 within 1e-6 */
  const double* poses_b; /* poses of b (size: count x 7) */
  double* out;           /* answers; the row of pair i begins at out + i * stride */
  size_t stride;         /* distance between two rows in doubles, at least the length of a row */
  int threads;           /* number of threads; 0 means 1 */
} sdrs_pairs;
/* Sets columns[answer_count] to the number of values per row of each answer, in the order of `answers`. The caller
 * needs the sum for `stride`. Tables are row-major, as in the JSON answer; booleans are 1 or 0. For "manifold" each
 * answer is a list with one element per contact, sized for the pair with most contacts; `kind` is 0 vertex_a, 1
 * vertex_b, 2 edge_a, 3 edge_b. poses_a, poses_b, out and stride are not used. Errors are as for sdrs_shapes_query. */
SDRS_API sdrs_status sdrs_shapes_layout(sdrs_shapes* shapes, const sdrs_pairs* pairs, size_t* columns);
/* Computes the answers for every pair and writes them to pairs->out. A value is NaN if the pair has no such answer, if
 * the answer is unknown, or if a list element has no contact. Results are repeatable and do not depend on the number of
 * threads: the rows of one pair are evaluated in sequence, with a warm start from the row before, and every 64th row
 * starts cold. Returns SDRS_BAD_INPUT, with out unchanged, if a method, option, answer, shape or pose is invalid;
 * sdrs_shapes_error lists the mistakes. Returns SDRS_USAGE if a size is wrong, a pointer is NULL, stride is shorter
 * than a row, or threads < 0. Allocates once per call, and for deeply overlapping hulls. */
SDRS_API sdrs_status sdrs_shapes_query(sdrs_shapes* shapes, const sdrs_pairs* pairs);

typedef struct sdrs_proof {
  size_t size;
  int proved; /* 1 if no two hulls intersect in the recorded states or on the motions between them, otherwise 0 */
  int row; /* row of the record at the end of the first motion between states that is not proved; -1 if there is none */
  int link_a, link_b;  /* the two links for which the proof failed; -1 if there are none */
  int meets;           /* 1 if the two links intersect; 0 if neither a proof nor an intersection was found */
  double smallest_gap; /* smallest gap in the recorded states [m]; infinite if no pair is near */
} sdrs_proof;
/* Tries to prove that no two bodies intersect in the recorded states and on the motions between them. Sets out->proved
 * to the result; a missing proof is not an error. Returns SDRS_USAGE if there is no record; *out is then undefined. */
SDRS_API sdrs_status sdrs_certify(sdrs* object, sdrs_proof* out);

#ifdef __cplusplus
}
#endif
#endif
