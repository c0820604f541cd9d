/* The schema table of tasks. The order of objects and rows is that of the documentation. */
#include "scene/task_parts.h"

#define INSIDE(x, y) \
  { true, x, y, true, true } /* allows the numbers x < value < y */
#define BELOW(x, y) \
  { true, x, y, false, true } /* allows the numbers x <= value < y */
#define AT(type, member) offsetof(type, member)

/* Words for the types of loss terms, in the order of TaskLossType. */
#define LOSSES                                                                                       \
  "point|travel|relative|reach|orientation|velocity|effort|smoothness|force|gap|shape|volume|"       \
  "roughness|approach|touch|closure|pose|neck|wall|overhang|extent|keep_out|clearance|removal|mass|" \
  "coordinate"
/* Words for the types of parameters, in the order of TaskParameterType. */
#define PARAMETERS                                                                                                    \
  "mass|center|inertia|size|damping|joint_stiffness|joint_friction|armature|joint_static_friction|"                   \
  "lower_limit|upper_limit|limit_restitution|axis|rotation|"                                                          \
  "shape_size|shape_form|link_friction|"                                                                              \
  "link_restitution|link_rolling|link_spinning|link_friction_along|link_static_friction|link_stribeck_speed|"         \
  "pair_friction|pair_restitution|pair_rolling|pair_spinning|pair_friction_along|pair_static_friction|pair_stribeck_" \
  "speed|"                                                                                                            \
  "closure_point|closure_axis|closure_length|ratio|offset|tendon_point|tendon_stiffness|tendon_rest_length|"          \
  "tendon_friction|tendon_wrap_radius|tendon_wrap_position|tendon_wrap_axis|bushing_stiffness|bushing_damping|"       \
  "bushing_preload|"                                                                                                  \
  "bushing_position_a|bushing_position_b|gravity|"                                                                    \
  "fluid_density|fluid_viscosity|fluid_velocity|fluid_level|"                                                         \
  "friction|barrier_distance|"                                                                                        \
  "stiffness|smoothing|rest_speed|restitution|rolling|spinning|static_friction|stribeck_speed"
#define PARAMETERS_OF_PAIRS                                                                                           \
  "pair_friction|pair_restitution|pair_rolling|pair_spinning|pair_friction_along|pair_static_friction|pair_stribeck_" \
  "speed"
#define PARAMETERS_OF_CLOSURES "closure_point|closure_axis|closure_length"
#define LOSSES_OF_A_LINK                                                                                              \
  "point|travel|relative|reach|orientation|velocity|force|gap|approach|touch|closure|pose|neck|wall|overhang|extent|" \
  "mass|coordinate"
#define LOSSES_OF_ANY_LINK "effort|smoothness|shape|volume|roughness"
#define LOSSES_IN_TIME                                                                                        \
  "point|travel|relative|reach|orientation|velocity|effort|smoothness|force|gap|approach|touch|closure|pose|" \
  "coordinate"
#define LOSSES_WITH_TARGET "point|reach|orientation|velocity|force|pose"
#define OWN_SCENARIOS                                                                                     \
  "Names of scenarios with separate variables, `link/values/3@scenario`. `\"*\"` selects all scenarios. " \
  "The other scenarios keep the values of their scenes."

#define PLAN_SHAPES "superellipsoid|superquadric|superelliptic_cylinder|truncated_cone|smooth_polytope"
#define PLAN_LENGTH RANGE_BETWEEN(1e-6, 1e6)
#define PLAN_LENGTH_ROW(name, types, text)                                                                          \
  {                                                                                                                 \
    "plan_shape", #name, VALUE_NUMBER, AT(PlanShapeForm, name), .only = (types), .unit = "m", .range = PLAN_LENGTH, \
                                                                .required = true, .meaning = (text)                 \
  }

const char TASK_PARAMETER_WORDS[] = PARAMETERS;

static const SchemaRow ROWS[] = {
    /* ---------------------------------------------------------------- the file */
    {"task", "name", VALUE_TEXT, AT(TaskForm, name), .fallback = "(the file's name without extension)",
     .meaning = "Name of the task and of its run folder."},
    {"task", "seed", VALUE_INTEGER, AT(TaskForm, seed), .fallback = "0", .range = RANGE_BETWEEN(0, 2147483647),
     .meaning = "Seed of random targets (spread), starts and samples. The same seed gives the same results."},
    {"task", "scene", VALUE_SCENE, AT(TaskForm, scene), .group = "scenarios",
     .meaning = "The scene: its path relative to this file, or the scene itself. Short for scenarios with one item."},
    {"task", "scenarios", VALUE_LIST, AT(TaskForm, scenarios), .of = "scenario", .group = "scenarios",
     .meaning = "Several scenes in which one design and one control are evaluated. The loss is the weighted sum over "
                "the scenes."},
    {"task", "steps", VALUE_INTEGER, AT(TaskForm, steps), .range = RANGE_BETWEEN(0, STEPS_MAX),
     .fallback = "(the scene's own length)",
     .meaning = "Number of time steps, for scenarios without `steps`. 0: the losses are evaluated in the initial "
                "state, without simulation."},
    {"task", "set", VALUE_NAMES, AT(TaskForm, set), .nullable = true,
     .meaning = "Changes to the scene of every scenario, written as for `--set`: `[contact.friction=0.2]`."},
    {"task", "design", VALUE_OBJECT, AT(TaskForm, design), .of = "design", .nullable = true,
     .meaning = "Which shapes and joint origins may change, and how."},
    {"task", "control", VALUE_LIST, AT(TaskForm, control), .of = "control", .nullable = true,
     .meaning = "Which parameters of controllers and loads may change."},
    {"task", "initial", VALUE_LIST, AT(TaskForm, initial), .of = "start", .nullable = true,
     .meaning = "Which initial coordinates and velocities may change."},
    {"task", "parameters", VALUE_LIST, AT(TaskForm, parameters), .of = "parameter", .nullable = true,
     .meaning = "Which physical parameters may change: masses, inertias, friction, sizes, joints, gravity."},
    {"task", "loss", VALUE_LIST, AT(TaskForm, loss), .of = "loss", .fallback = "(none: then data)",
     .meaning = "Objective: terms whose weighted sum is minimized."},
    {"task", "data", VALUE_OBJECT, AT(TaskForm, data), .of = "data", .nullable = true,
     .meaning = "Measured runs, which `sdrs identify` fits."},
    {"task", "identify", VALUE_OBJECT, AT(TaskForm, identify), .of = "identify", .nullable = true,
     .meaning = "Options of the fit of `sdrs identify`."},
    {"task", "subject_to", VALUE_LIST, AT(TaskForm, subject_to), .of = "subject", .nullable = true,
     .meaning = "Constraints: terms with the same keys as `loss`, each with an upper bound `max`."},
    {"task", "success", VALUE_LIST, AT(TaskForm, success), .of = "success", .nullable = true,
     .meaning = "Criteria for the result: terms with the same keys as `loss`, each with an upper bound `max`."},
    {"task", "optimizer", VALUE_OBJECT, AT(TaskForm, optimizer), .of = "optimizer", .nullable = true,
     .meaning = "Optimization method, its steps and its end."},
    {"task", "gradient", VALUE_OBJECT, AT(TaskForm, gradient), .of = "gradient", .nullable = true,
     .meaning = "Options of the gradients."},
    {"task", "schedule", VALUE_OBJECT, AT(TaskForm, schedule), .of = "schedule", .nullable = true,
     .meaning = "Contact parameters that change over the iterations (continuation)."},
    {"task", "from", VALUE_OBJECT, AT(TaskForm, from), .of = "from", .nullable = true,
     .meaning = "Initial values from the result of another run of `sdrs optimize`."},
    {"task", "draws", VALUE_OBJECT, AT(TaskForm, draws), .of = "draws", .nullable = true,
     .meaning = "Random targets and starts, drawn anew during the optimization. Not with `receding`."},
    {"task", "validation", VALUE_OBJECT, AT(TaskForm, validation), .of = "validation", .nullable = true,
     .meaning =
         "Separate random draws on which the result is tested; summary.json has the outcome of `success` for each."},
    {"task", "multistart", VALUE_INTEGER, AT(TaskForm, multistart), .fallback = "1", .range = RANGE_BETWEEN(1, 100000),
     .meaning = "Number of optimizations. The first starts from the values of the scene (or of `from`). The others "
                "start from random values, uniform between the bounds. Variables without bounds start within 10 steps "
                "of the block. The best result is the result of the task. `iterations` and `stall` apply to each "
                "optimization. Not with `receding` or `schedule`."},
    {"task", "choices", VALUE_OBJECT, AT(TaskForm, choices), .of = "choices", .nullable = true,
     .meaning = "Discrete choices; every combination is optimized separately. Not with `receding`."},
    {"task", "receding", VALUE_OBJECT, AT(TaskForm, receding), .of = "receding", .nullable = true,
     .meaning = "Receding horizon: optimize one window of time after the other, and execute the first steps of each."},

    {"task", "plan", VALUE_OBJECT, AT(TaskForm, plan), .of = "plan", .nullable = true,
     .meaning = "A path past obstacles. With this key, only `name` is allowed in addition."},

    /* ---------------------------------------------------------------- plan */
    {"plan", "body", VALUE_OBJECT, AT(PlanForm, body), .of = "plan_shape", .required = true,
     .meaning = "The moving body. Its quaternion is the fixed orientation, and its position is ignored. `body` must "
                "precede `obstacles`."},
    {"plan", "from", VALUE_VECTOR, AT(PlanForm, from), .unit = "m", .required = true,
     .meaning = "Start position of the body's origin."},
    {"plan", "to", VALUE_VECTOR, AT(PlanForm, to), .unit = "m", .required = true,
     .meaning = "Goal position of the body's origin."},
    {"plan", "low", VALUE_VECTOR, AT(PlanForm, low), .unit = "m", .required = true,
     .meaning = "Lowest corner of the search box; it must contain `from` and `to`. The smoothed path may leave it."},
    {"plan", "high", VALUE_VECTOR, AT(PlanForm, high), .unit = "m", .required = true,
     .meaning = "Highest corner of that box."},
    {"plan", "obstacles", VALUE_LIST, AT(PlanForm, obstacles), .of = "plan_shape", .fallback = "(none)",
     .meaning = "Obstacles."},
    {"plan", "clearance", VALUE_NUMBER, AT(PlanForm, clearance), .fallback = "0.05", .range = RANGE_BETWEEN(1e-6, 10),
     .meaning = "Clearance epsilon. The growth distance is alpha >= 1 + epsilon along the whole path."},
    {"plan", "smoothness", VALUE_NUMBER, AT(PlanForm, smoothness), .unit = "m^2", .fallback = "0.01",
     .range = RANGE_BETWEEN(0, 1e6), .meaning = "Weight of the integral of the squared curvature beside the length."},
    {"plan", "points", VALUE_INTEGER, AT(PlanForm, points), .fallback = "60", .range = RANGE_BETWEEN(3, 2000),
     .meaning = "Points of the path."},
    {"plan", "seed", VALUE_INTEGER, AT(PlanForm, seed), .fallback = "1", .range = RANGE_BETWEEN(0, 1000000000),
     .meaning = "Seed of the search."},
    {"plan_shape", "type", VALUE_CHOICE, AT(PlanShapeForm, type), .of = PLAN_SHAPES, .required = true,
     .meaning = "Kind of shape."},
    {"plan_shape", "position", VALUE_VECTOR, AT(PlanShapeForm, position), .unit = "m", .fallback = "[0, 0, 0]",
     .meaning = "Position of its origin."},
    {"plan_shape", "quaternion", VALUE_QUATERNION, AT(PlanShapeForm, quaternion), .fallback = "[1, 0, 0, 0]",
     .meaning = "Orientation [w, x, y, z], a unit quaternion."},
    {"plan_shape", "size", VALUE_NUMBERS, AT(PlanShapeForm, size), .only = "superellipsoid|superquadric", .unit = "m",
     .range = PLAN_LENGTH, .required = true, .meaning = "Semi-axes [a, b, c] along x, y, z."},
    {"plan_shape", "exponent", VALUE_NUMBER, AT(PlanShapeForm, exponent),
     .only = "superellipsoid|superelliptic_cylinder", .range = RANGE_BETWEEN(1, 64), .required = true,
     .meaning = "n: 1 is an ellipsoid, 8 nearly a box or a cylinder."},
    {"plan_shape", "exponents", VALUE_NUMBERS, AT(PlanShapeForm, exponents), .only = "superquadric",
     .range = RANGE_BETWEEN(0.03125, 1), .required = true, .meaning = "[e1, e2]; both 1 is an ellipsoid."},
    PLAN_LENGTH_ROW(radius, "superelliptic_cylinder", "Radius about x."),
    PLAN_LENGTH_ROW(half_length, "superelliptic_cylinder", "Half the length along x."),
    PLAN_LENGTH_ROW(bottom_radius, "truncated_cone", "Radius about x of the end at x = -below."),
    PLAN_LENGTH_ROW(top_radius, "truncated_cone", "Radius about x of the end at x = above."),
    PLAN_LENGTH_ROW(below, "truncated_cone", "Length from the origin along -x."),
    PLAN_LENGTH_ROW(above, "truncated_cone", "Length from the origin along +x."),
    {"plan_shape", "sharpness", VALUE_NUMBER, AT(PlanShapeForm, sharpness), .only = "truncated_cone|smooth_polytope",
     .range = RANGE_BETWEEN(1e-6, 1e6), .required = true,
     .meaning = "beta: edges are rounded over about 1/beta of the body's size."},
    {"plan_shape", "normals", VALUE_POINTS, AT(PlanShapeForm, normals), .only = "smooth_polytope", .required = true,
     .meaning = "Outward normals of the faces, of any length but zero."},
    {"plan_shape", "offsets", VALUE_SERIES, AT(PlanShapeForm, offsets), .only = "smooth_polytope", .unit = "m",
     .range = RANGE_ABOVE(0), .required = true,
     .meaning = "Faces normal . x <= offset, one for every normal; the origin lies inside."},
    {"plan_shape", "length", VALUE_NUMBER, AT(PlanShapeForm, length), .only = "smooth_polytope", .unit = "m",
     .range = PLAN_LENGTH, .fallback = "(the largest offset)", .meaning = "Length scale of sharpness."},

    /* ---------------------------------------------------------------- subject_to */
    {"subject", "max", VALUE_NUMBER, AT(SubjectForm, max), .required = true,
     .meaning = "Upper bound of the term (weight times value)."},

    /* ---------------------------------------------------------------- success */
    {"success", "max", VALUE_NUMBER, AT(SubjectForm, max), .required = true,
     .meaning = "Upper bound of the term (weight times value)."},

    /* ---------------------------------------------------------------- draws */
    {"draws", "every", VALUE_INTEGER, AT(DrawsForm, every), .fallback = "1", .range = RANGE_BETWEEN(0, 100000000),
     .meaning = "Number of iterations between two draws; 0: draw once."},
    {"draws", "numbers", VALUE_LIST, AT(DrawsForm, numbers), .of = "draw", .required = true,
     .meaning = "What is drawn."},
    {"draw", "link", VALUE_TEXT, AT(DrawForm, link), .required = true, .meaning = "The link."},
    {"draw", "of", VALUE_CHOICE, AT(DrawForm, of), .of = "target|start", .fallback = "target",
     .meaning = "Quantity to which the number is added. target: the target of the link's first controller. start: the "
                "initial coordinates of the joint. For three rotations the numbers are a rotation vector about the "
                "axes of the joint's frame, and `dof` must list these rotations."},
    {"draw", "dof", VALUE_INTEGERS, AT(DrawForm, dof), .fallback = "(all)",
     .range = RANGE_BETWEEN(0, JOINT_MAX_DOF - 1),
     .meaning = "Degrees of freedom, numbered from 0, translations first. Each degree of freedom has an independent "
                "random number."},
    {"draw", "knots", VALUE_INTEGERS, AT(DrawForm, knots), .fallback = "(all)", .range = RANGE_BETWEEN(0, 1000000),
     .meaning = "Knots of the target, numbered from 0. All knots receive the same random number."},
    {"draw", "low", VALUE_NUMBER, AT(DrawForm, low), .unit = "m or rad", .required = true,
     .meaning = "Lower bound of the number that is added."},
    {"draw", "high", VALUE_NUMBER, AT(DrawForm, high), .unit = "m or rad", .required = true,
     .meaning = "Upper bound of the number that is added."},

    /* ---------------------------------------------------------------- validation */
    {"validation", "tries", VALUE_INTEGER, AT(ValidationForm, tries), .fallback = "20",
     .range = RANGE_BETWEEN(1, 1000000), .meaning = "Number of draws for every scenario."},

    /* ---------------------------------------------------------------- choices */
    {"choices", "of", VALUE_LIST, AT(ChoicesForm, of), .of = "choice", .required = true,
     .meaning = "The choices; the first value of each is tried first."},
    {"choices", "method", VALUE_CHOICE, AT(ChoicesForm, method), .of = "all|random|climb", .fallback = "all",
     .meaning = "all: every combination, the last choice changing fastest. random: combinations drawn without "
                "repetition. climb: an untried combination that differs from the best so far in one choice. If no such "
                "combination is left, any untried combination."},
    {"choices", "tries", VALUE_INTEGER, AT(ChoicesForm, tries), .fallback = "16", .range = RANGE_BETWEEN(1, 100000),
     .meaning = "`random`, `climb`: Number of combinations to try, at most all."},
    {"choice", "key", VALUE_TEXT, AT(ChoiceForm, key), .required = true,
     .meaning = "A key, written as for `--set` of `sdrs optimize`: a key of the task, or `scene.` and a key of the "
                "scenes of all scenarios."},
    {"choice", "values", VALUE_ANYTHING, AT(ChoiceForm, values), .required = true,
     .meaning = "Values to try: numbers, words, lists or maps."},

    /* ---------------------------------------------------------------- from */
    {"from", "run", VALUE_TEXT, AT(FromForm, run), .fallback = "(none)",
     .meaning = "Run folder, relative to this file or else to the current folder."},
    {"from", "task", VALUE_TEXT, AT(FromForm, task), .fallback = "(none)",
     .meaning =
         "Another task, relative to this file, instead of `run`. `sdrs optimize` runs this task first, without "
         "changes, in the folder `from` of this run folder. The other task may have `from`, but no `choices` and no "
         "`receding`."},

    /* ---------------------------------------------------------------- receding */
    {"receding", "horizon", VALUE_INTEGER, AT(RecedingForm, receding.horizon), .required = true,
     .range = RANGE_BETWEEN(1, STEPS_MAX), .meaning = "Number of steps of a window."},
    {"receding", "apply", VALUE_INTEGER, AT(RecedingForm, receding.apply), .fallback = "1",
     .range = RANGE_BETWEEN(1, STEPS_MAX), .meaning = "Number of executed steps of each window, at most the horizon."},
    {"receding", "iterations", VALUE_INTEGER, AT(RecedingForm, receding.iterations), .fallback = "(the optimizer's)",
     .range = RANGE_BETWEEN(0, 1000000000), .meaning = "Iterations of each window."},
    {"receding", "warm_start", VALUE_CHOICE, AT(RecedingForm, warm_start), .of = "shift|keep", .fallback = "shift",
     .meaning = "Initial control of a window. shift: the previous result at the same time, with its last row repeated. "
                "keep: the previous result at the same position in the window."},

    /* ---------------------------------------------------------------- scenario */
    {"scenario", "name", VALUE_TEXT, AT(ScenarioForm, name), .fallback = "(its number, from 0)",
     .meaning = "Name, unlike all others."},
    {"scenario", "scene", VALUE_SCENE, AT(ScenarioForm, scene), .required = true,
     .meaning = "Path of the scene relative to this file, or the scene itself."},
    {"scenario", "steps", VALUE_INTEGER, AT(ScenarioForm, steps), .range = RANGE_BETWEEN(0, STEPS_MAX),
     .fallback = "(the task's steps, else the scene's own length)", .meaning = "Number of time steps."},
    {"scenario", "weight", VALUE_NUMBER, AT(ScenarioForm, weight), .fallback = "1", .range = RANGE_ABOVE(0),
     .meaning = "Weight of its losses in the sum."},
    {"scenario", "set", VALUE_NAMES, AT(ScenarioForm, set), .nullable = true,
     .meaning = "Changes to the scene of the scenario, after the changes of the task: `[contact.friction=0.2, "
                "links.box.mass=2]`."},

    /* ---------------------------------------------------------------- design */
    {"design", "mass", VALUE_CHOICE, AT(DesignForm, mass), .of = "fixed|density", .fallback = "fixed",
     .meaning =
         "Quantity of a link with `density` that stays constant while its vertices move. fixed: the mass. density: the "
         "density. A link with a given `mass` keeps this mass. A link with given `center` and `inertia`, as in "
         "imported robots, also keeps these values. A warning names such links."},
    {"design", "min_thickness", VALUE_NUMBER, AT(DesignForm, min_thickness), .unit = "m", .fallback = "0",
     .range = RANGE_AT_LEAST(0),
     .meaning = "Minimum thickness of hulls that change. 0: these hulls must only not "
                "become flat."},
    {"design", "connect", VALUE_CONNECT, AT(DesignForm, connect), .fallback = "(true)",
     .meaning = "true: shared vertices keep overlapping hulls of a link together, and a link together with the origins "
                "of its joints. keep: only the shared vertices of an earlier design are used (`ties` in its "
                "best.scene.yaml). With keep, a link of several hulls without `ties` is an error."},
    {"design", "vertices", VALUE_LIST, AT(DesignForm, vertices), .of = "vertices", .nullable = true,
     .meaning = "Hull vertices that move."},
    {"design", "cage", VALUE_LIST, AT(DesignForm, cage), .of = "cage", .nullable = true,
     .meaning = "Boxes of control points that deform the hulls inside."},
    {"design", "frozen", VALUE_LIST, AT(DesignForm, frozen), .of = "frozen", .nullable = true,
     .meaning = "Vertices that do not move, even if vertices or cage select them."},
    {"design", "attachments", VALUE_LIST, AT(DesignForm, attachments), .of = "attachment", .nullable = true,
     .meaning = "Joint origins that move."},
    {"design", "symmetry", VALUE_LIST, AT(DesignForm, symmetry), .of = "symmetry", .nullable = true,
     .meaning = "Symmetries of links, and links with equal designs."},
    {"design", "constraints", VALUE_LIST, AT(DesignForm, constraints), .of = "constraint", .nullable = true,
     .meaning = "Linear conditions on the variables."},

    /* ---------------------------------------------------------------- parts: which links, and bounds */
    {"which", "link", VALUE_TEXT, AT(LinkSelectionForm, link), .group = "link", .meaning = "The link."},
    {"which", "links", VALUE_NAMES, AT(LinkSelectionForm, links), .group = "link",
     .meaning = "Several links, as one item for each link. `arm*` matches all names that begin with arm."},
    {"bounds", "within", VALUE_NUMBER, AT(BoundsForm, within), .unit = "m", .fallback = "(unbounded)",
     .range = RANGE_AT_LEAST(0), .meaning = "Largest change of each coordinate from its initial value."},
    {"bounds", "low", VALUE_BOUND, AT(BoundsForm, low), .unit = "m", .fallback = "(unbounded)",
     .meaning = "Smallest value of the coordinates, one number or one for x, y, z."},
    {"bounds", "high", VALUE_BOUND, AT(BoundsForm, high), .unit = "m", .fallback = "(unbounded)",
     .meaning = "Largest value of the coordinates."},
    {"bounds", "prior", VALUE_NUMBER, AT(BoundsForm, prior), .unit = "m", .fallback = "(none)", .range = RANGE_ABOVE(0),
     .meaning = "Standard deviation of the prior of each coordinate, for `sdrs identify`."},
    {"bounds", "step", VALUE_NUMBER, AT(BoundsForm, step), .unit = "m", .fallback = "(optimizer.design_step)",
     .range = RANGE_ABOVE(0),
     .meaning =
         "Step of these coordinates. The largest power of two times design_step that does not exceed this value is "
         "used."},
    {"interval", "within", VALUE_NUMBER, AT(IntervalForm, within), .fallback = "(unbounded)",
     .range = RANGE_AT_LEAST(0), .meaning = "Largest change of each variable from its initial value, in its own unit."},
    {"interval", "low", VALUE_NUMBER, AT(IntervalForm, low), .fallback = "(unbounded)",
     .meaning = "Smallest value of each variable."},
    {"interval", "high", VALUE_NUMBER, AT(IntervalForm, high), .fallback = "(unbounded)",
     .meaning = "Largest value of each variable."},
    {"interval", "prior", VALUE_NUMBER, AT(IntervalForm, prior), .fallback = "(none)", .range = RANGE_ABOVE(0),
     .meaning =
         "Standard deviation of the prior around the initial value, in the unit of the variable, for `sdrs identify`."},
    {"interval", "step", VALUE_NUMBER, AT(IntervalForm, step), .fallback = "(optimizer.control_step)",
     .range = RANGE_ABOVE(0),
     .meaning = "Step of these variables, in their own unit. Use it for variables whose magnitude differs from the "
                "other variables (gains beside angles). The largest power of two times control_step that does not "
                "exceed this value is used."},

    /* ---------------------------------------------------------------- vertices, attachment */
    {"vertices", "hulls", VALUE_INTEGERS, AT(VerticesForm, hulls), .fallback = "(all)",
     .range = RANGE_BETWEEN(0, 1000000), .meaning = "Numbers of the link's hulls, from 0 in the order of its shapes."},
    {"vertices", "box", VALUE_OBJECT, AT(VerticesForm, box), .of = "box", .fallback = "(everywhere)",
     .meaning = "Only vertices whose initial position lies in this box."},
    {"vertices", "axes", VALUE_WORDS, AT(VerticesForm, axes), .of = "x|y|z", .fallback = "[x, y, z]",
     .meaning = "Coordinates that are variables, in the link's frame."},
    {"box", "low", VALUE_VECTOR, AT(BoxForm, low), .unit = "m", .required = true,
     .meaning = "Corner with the smallest coordinates."},
    {"box", "high", VALUE_VECTOR, AT(BoxForm, high), .unit = "m", .required = true,
     .meaning = "Corner with the largest coordinates."},
    {"frozen", "hulls", VALUE_INTEGERS, AT(FrozenForm, hulls), .fallback = "(all)", .range = RANGE_BETWEEN(0, 1000000),
     .meaning = "Numbers of the link's hulls, from 0. Not for a link that a cage moves."},
    {"frozen", "box", VALUE_OBJECT, AT(FrozenForm, box), .of = "box", .fallback = "(everywhere)",
     .meaning = "Only vertices whose initial position lies in this box."},
    {"cage", "cells", VALUE_INTEGERS, AT(CageForm, cells), .required = true, .range = RANGE_BETWEEN(1, CAGE_CELLS_MAX),
     .meaning = "Number of cells along x, y, z. The number of control points along each axis is one larger."},
    {"cage", "box", VALUE_OBJECT, AT(CageForm, box), .of = "box", .fallback = "(around the link's vertices)",
     .meaning = "Box of the cage. Vertices outside of the box do not move. Control points on a side with vertices "
                "beyond this side do not move either."},
    {"cage", "axes", VALUE_WORDS, AT(CageForm, axes), .of = "x|y|z", .fallback = "[x, y, z]",
     .meaning = "Coordinates of control points that are variables, in the link's frame."},
    {"attachment", "axes", VALUE_WORDS, AT(AttachmentForm, axes), .of = "x|y|z", .fallback = "[x, y, z]",
     .meaning = "Coordinates that are variables, in the parent's frame."},

    /* ---------------------------------------------------------------- symmetry, constraint */
    {"symmetry", "type", VALUE_CHOICE, AT(SymmetryForm, type), .of = "mirror|rotation|copy", .required = true,
     .meaning = "Map from the design of the first link to the designs of the other links, each in its own frame."},
    {"symmetry", "links", VALUE_NAMES, AT(SymmetryForm, links), .required = true,
     .meaning = "copy: two or more links. mirror: one link that is symmetric in itself, or one link and its mirror "
                "images. rotation: one link that is symmetric in itself."},
    {"symmetry", "normal", VALUE_VECTOR, AT(SymmetryForm, normal), .only = "mirror", .required = true,
     .meaning = "Normal of the mirror plane through the origin of the link's frame, of any length but zero."},
    {"symmetry", "axis", VALUE_VECTOR, AT(SymmetryForm, axis), .only = "rotation", .required = true,
     .meaning = "Axis through the origin of the link's frame, of any length but zero."},
    {"symmetry", "count", VALUE_INTEGER, AT(SymmetryForm, count), .only = "rotation", .required = true,
     .range = RANGE_BETWEEN(2, 1000),
     .meaning = "Order of the rotational symmetry: the design repeats after 2 pi / count."},
    {"constraint", "variables", VALUE_NAMES, AT(ConstraintForm, variables), .required = true,
     .meaning = "Variables by the names they have in design.csv: `leg/attachment/x`, `hip/values/3`, "
                "`box/velocity/0`."},
    {"constraint", "coefficients", VALUE_SERIES, AT(ConstraintForm, coefficients), .fallback = "(1 each)",
     .meaning = "One number per variable."},
    {"constraint", "relation", VALUE_CHOICE, AT(ConstraintForm, relation), .of = "at_most|equal|at_least",
     .required = true, .meaning = "Relation between the sum of coefficient times variable and the value."},
    {"constraint", "value", VALUE_NUMBER, AT(ConstraintForm, value), .fallback = "0", .meaning = "Right-hand side."},

    /* ---------------------------------------------------------------- control, start */
    {"control", "of", VALUE_WORDS, AT(ControlForm, of), .of = "drives|forces|torques|tensions",
     .fallback = "(all that there are)",
     .meaning = "Owner of the parameters. drives: the controllers of the link's joint. forces: the forces of loads on "
                "the link, and the strengths of its fields. torques: the torques of loads on the link. tensions: the "
                "tendons that end on the link."},
    {"control", "parameters", VALUE_WORDS, AT(ControlForm, parameters),
     .of = "values|amplitude|frequency|phase|delay|position_gain|velocity_gain|damping_gain|max_force|feedback",
     .fallback = "(values; of sines values, amplitude and phase)",
     .meaning = "Parameters that are variables. values: constants, knots, rows of a sequence, or the offset of sines. "
                "The parameters after phase belong to the drive itself. Gains stay non-negative. max_force and delay "
                "must be given in the scene. feedback is the matrix or the weights of the network (without dof)."},
    {"control", "dof", VALUE_INTEGERS, AT(ControlForm, dof), .fallback = "(all)",
     .range = RANGE_BETWEEN(0, JOINT_MAX_DOF - 1),
     .meaning = "Only these degrees of freedom, numbered from 0, translations first (of loads x, y, z). Several items "
                "can thus have different bounds."},
    {"start", "coordinates", VALUE_BOOL, AT(StartForm, coordinates), .fallback = "false",
     .meaning = "The initial coordinates are variables, except for three rotations."},
    {"start", "turns", VALUE_BOOL, AT(StartForm, turns), .fallback = "false",
     .meaning = "The initial orientation of a free or ball joint is variable. It is the orientation in the scene, "
                "rotated by a rotation vector in the link's axes [rad]. The variables are link/turn/x, y, z."},
    {"start", "velocities", VALUE_BOOL, AT(StartForm, velocities), .fallback = "false",
     .meaning = "The initial velocities are variables."},
    {"control", "tie", VALUE_BOOL, AT(ControlForm, tie), .fallback = "false",
     .meaning = "One variable for parameters of the same name of all links of the item. All links take the initial "
                "value of the first."},
    {"control", "scenarios", VALUE_NAMES, AT(ControlForm, scenarios), .fallback = "(one variable for all)",
     .meaning = OWN_SCENARIOS},
    {"start", "dof", VALUE_INTEGERS, AT(StartForm, dof), .fallback = "(all)",
     .range = RANGE_BETWEEN(0, JOINT_MAX_DOF - 1),
     .meaning = "Degrees of freedom, numbered from 0, translations first."},
    {"start", "scenarios", VALUE_NAMES, AT(StartForm, scenarios), .fallback = "(one variable for all)",
     .meaning = OWN_SCENARIOS},

    /* ---------------------------------------------------------------- parameter */
    {"parameter", "type", VALUE_CHOICE, AT(ParameterForm, type), .of = PARAMETERS, .required = true,
     .meaning = "Kind of parameter, as above."},
    {"parameter", "form", VALUE_CHOICE, AT(ParameterForm, form), .only = "inertia", .of = "scale|diagonal|full",
     .fallback = "full",
     .meaning = "Variables of the inertia. scale: one common factor. diagonal: three variables for the principal "
                "moments, with fixed principal axes. full: all six."},
    {"parameter", "dof", VALUE_INTEGERS, AT(ParameterForm, dof),
     .only = "damping|joint_stiffness|joint_friction|armature|joint_static_friction|lower_limit|upper_limit",
     .fallback = "(all)", .range = RANGE_BETWEEN(0, JOINT_MAX_DOF - 1),
     .meaning = "Degrees of freedom of the joint, numbered from 0, translations first."},
    {"parameter", "dof", VALUE_INTEGERS, AT(ParameterForm, dof),
     .only = "bushing_stiffness|bushing_damping|bushing_preload", .fallback = "(all)",
     .range = RANGE_BETWEEN(0, JOINT_MAX_DOF - 1),
     .meaning = "Directions of the bushing that are variables: 0 to 2 along x, y, z, 3 to 5 about them."},
    {"parameter", "axes", VALUE_WORDS, AT(ParameterForm, axes), .only = "center|size", .of = "x|y|z",
     .fallback = "[x, y, z]", .meaning = "Coordinates, or edges of the box, that are variables."},
    {"parameter", "anchor", VALUE_VECTOR, AT(ParameterForm, anchor), .only = "size", .range = RANGE_BETWEEN(-1, 1),
     .fallback = "[0, 0, 0]",
     .meaning = "Point of the box that stays in place: -1, 0 or 1 along x, y and z for the face on the negative side, "
                "the centre, or the face on the positive side, in the box's axes. Values between are allowed."},
    {"parameter", "lengths", VALUE_WORDS, AT(ParameterForm, lengths), .only = "size|shape_size",
     .of = "radius|width|rim|length|bottom_radius|top_radius|size", .fallback = "(all)",
     .meaning =
         "Lengths of the link's round solids that are variables, by their keys in the scene: `[radius]` keeps the "
         "width of a wheel."},
    {"parameter", "axes", VALUE_WORDS, AT(ParameterForm, axes), .only = "axis|rotation", .of = "x|y|z",
     .fallback = "[x, y, z]",
     .meaning = "Axes of the joint's frame about which the axis or frame is rotated. The default for axis is the two "
                "axes of the frame that are not along the joint's axis."},
    {"parameter", "axes", VALUE_WORDS, AT(ParameterForm, axes), .only = "closure_point", .of = "x|y|z",
     .fallback = "[x, y, z]", .meaning = "Components of the point that are variables, in the `axes` of the closure."},
    {"parameter", "axes", VALUE_WORDS, AT(ParameterForm, axes), .only = "tendon_point", .of = "x|y|z",
     .fallback = "[x, y, z]", .meaning = "Components of the points that are variables, in their links' frames."},
    {"parameter", "axes", VALUE_WORDS, AT(ParameterForm, axes), .only = "tendon_wrap_position|tendon_wrap_axis",
     .of = "x|y|z", .fallback = "[x, y, z]",
     .meaning =
         "Components that are variables, in the frames of the wraps' links. The length of an axis has no effect."},
    {"parameter", "axes", VALUE_WORDS, AT(ParameterForm, axes), .only = "bushing_position_a|bushing_position_b",
     .of = "x|y|z", .fallback = "[x, y, z]",
     .meaning = "Components of the position that are variables, in the frame of `a` or `b`."},
    {"parameter", "axes", VALUE_WORDS, AT(ParameterForm, axes), .only = "closure_axis", .of = "x|y|z",
     .fallback = "(those it does not lie along)",
     .meaning = "Components of the axis that are variables. The length of the axis has no effect."},
    {"parameter", "axes", VALUE_WORDS, AT(ParameterForm, axes), .only = "gravity|fluid_velocity", .of = "x|y|z",
     .fallback = "[x, y]",
     .meaning = "Components that are variables, world axes. x and y model a support that is not level."},
    {"parameter", "tie", VALUE_BOOL, AT(ParameterForm, tie), .fallback = "false",
     .meaning =
         "One variable for all links, degrees of freedom and axes of the item. All parameters take the initial value "
         "of the first. Round solids have one variable for each kind of length. bushing_stiffness and bushing_damping "
         "have one common factor, initially 1. For the links of a rod the factor is relative to the scene. It scales "
         "Young's modulus with dof [2, 3, 4], the shear modulus with dof [0, 1, 5], or both moduli with all dof. The "
         "last link of the rod may have no bushing."},
    {"parameter", "a", VALUE_TEXT, AT(ParameterForm, pair[0]), .only = PARAMETERS_OF_PAIRS, .required = true,
     .meaning = "One link or group of the item of contact.pairs, as it is written there."},
    {"parameter", "b", VALUE_TEXT, AT(ParameterForm, pair[1]), .only = PARAMETERS_OF_PAIRS, .required = true,
     .meaning = "The other link or group of the item of contact.pairs."},
    {"parameter", "a", VALUE_TEXT, AT(ParameterForm, pair[0]), .only = PARAMETERS_OF_CLOSURES, .required = true,
     .meaning = "The closure's `a`. Several closures of the same two links have separate variables."},
    {"parameter", "b", VALUE_TEXT, AT(ParameterForm, pair[1]), .only = PARAMETERS_OF_CLOSURES, .fallback = "(world)",
     .meaning = "The closure's `b`."},

    /* ---------------------------------------------------------------- loss */
    {"loss", "type", VALUE_CHOICE, AT(LossForm, type), .of = LOSSES, .required = true,
     .meaning = "Kind of term, as above."},
    {"loss", "name", VALUE_TEXT, AT(LossForm, name), .fallback = "(the type, with _2, _3, ... when repeated)",
     .meaning = "Name of its column in convergence.csv."},
    {"loss", "weight", VALUE_NUMBER, AT(LossForm, loss.weight), .fallback = "1", .range = RANGE_ABOVE(0),
     .meaning = "Factor in the sum. Its unit makes the term comparable with the others."},
    {"loss", "link", VALUE_TEXT, AT(LossForm, link), .only = LOSSES_OF_A_LINK, .group = "link", .meaning = "The link."},
    {"loss", "link", VALUE_TEXT, AT(LossForm, link), .only = "keep_out|clearance|removal", .required = true,
     .meaning = "The link whose distance counts."},
    {"loss", "links", VALUE_NAMES, AT(LossForm, links), .only = LOSSES_OF_A_LINK, .group = "link",
     .meaning = "Several links instead of one: names, groups of links, or patterns like `cube*`. The term is the sum "
                "over them."},
    {"loss", "link", VALUE_TEXT, AT(LossForm, link), .only = LOSSES_OF_ANY_LINK, .fallback = "(all links)",
     .meaning = "The link."},
    {"loss", "other", VALUE_TEXT, AT(LossForm, other), .only = "relative|gap|approach|touch|closure", .required = true,
     .meaning = "The other link."},
    {"loss", "other", VALUE_TEXT, AT(LossForm, other), .only = "point", .fallback = "(the world)",
     .meaning = "The link in whose frame the target is given, so that it moves with this link."},
    {"loss", "other", VALUE_TEXT, AT(LossForm, other), .only = "coordinate", .fallback = "(none)",
     .meaning = "A link whose joint coordinate of the same number is subtracted."},
    {"loss", "dof", VALUE_INTEGER, AT(LossForm, loss.dof), .only = "coordinate", .fallback = "0",
     .range = RANGE_BETWEEN(0, 5), .meaning = "Degree of freedom of the joint, numbered from 0, translations first."},
    {"loss", "value", VALUE_NUMBER, AT(LossForm, loss.value), .only = "coordinate", .unit = "m or rad", .fallback = "0",
     .meaning = "Target value of the coordinate."},
    {"loss", "other", VALUE_TEXT, AT(LossForm, other), .only = "force", .fallback = "(whatever touches it)",
     .meaning = "The link that exerts the force. By default all links in contact."},
    {"loss", "other", VALUE_TEXT, AT(LossForm, other), .only = "clearance", .fallback = "(its parent)",
     .meaning = "The link from which the distance is measured, at its initial pose."},
    {"loss", "other", VALUE_TEXT, AT(LossForm, other), .only = "removal", .fallback = "(all others)",
     .meaning = "The links from which the link is removed, at their initial poses."},
    {"loss", "point", VALUE_VECTOR, AT(LossForm, loss.point), .only = "point|travel|reach|velocity|pose", .unit = "m",
     .fallback = "(the centre of mass)", .meaning = "The point, in the link's frame."},
    {"loss", "point", VALUE_VECTOR, AT(LossForm, loss.point), .only = "relative", .unit = "m",
     .fallback = "(the centre of mass)",
     .meaning = "The point of `other` whose position is measured, in the frame of `other`."},
    {"loss", "point", VALUE_VECTOR, AT(LossForm, loss.point), .only = "touch", .unit = "m", .fallback = "(anywhere)",
     .meaning = "Target contact point of the link, in its frame. Required between links of hulls."},
    {"loss", "target", VALUE_VECTOR, AT(LossForm, loss.target), .only = "touch", .unit = "m", .fallback = "(anywhere)",
     .meaning = "Target contact point of `other`, in its frame. Required between links of hulls."},
    {"loss", "friction", VALUE_NUMBER, AT(LossForm, loss.friction), .only = "closure", .fallback = "0.5",
     .range = RANGE_UP_TO(0, 10), .meaning = "Coulomb coefficient of the friction cones."},
    {"loss", "quality", VALUE_NUMBER, AT(LossForm, loss.quality), .only = "closure", .fallback = "0.1",
     .range = RANGE_AT_LEAST(0),
     .meaning = "Target of the grasp quality. The quality is the wrench that unit normal forces can resist in every "
                "direction, with torques scaled by the size of `other`. A higher quality has no effect."},
    {"loss", "length", VALUE_NUMBER, AT(LossForm, loss.length), .only = "closure", .unit = "m", .fallback = "0.01",
     .range = RANGE_ABOVE(0), .meaning = "Gap that weighs as much as a deficit of 1 in quality."},
    {"loss", "margin", VALUE_NUMBER, AT(LossForm, loss.margin), .only = "touch|closure", .unit = "m", .fallback = "0",
     .meaning = "Target gap. A negative value requests contact."},
    {"loss", "target", VALUE_VECTOR, AT(LossForm, loss.target), .only = "point|reach|pose", .unit = "m",
     .required = true,
     .meaning = "Target position of the point, world axes. For `point` with `other`: in the frame of `other`."},
    {"loss", "target_motion", VALUE_SIGNAL, AT(LossForm, motion), .only = "point|reach|velocity|pose",
     .fallback = "(it stays)",
     .meaning = "Signal of three channels that is added to the target, so that it moves with the time of the run."},
    {"loss", "rotation", VALUE_QUATERNION, AT(LossForm, loss.rotation), .only = "pose", .fallback = "[1, 0, 0, 0]",
     .meaning = "Target orientation of the link's frame, quaternion w x y z."},
    {"loss", "length", VALUE_NUMBER, AT(LossForm, loss.length), .only = "pose", .unit = "m", .fallback = "0.1",
     .range = RANGE_ABOVE(0), .meaning = "Distance that weighs as much as a rotation by one radian."},
    {"loss", "smoothing", VALUE_NUMBER, AT(LossForm, loss.smoothing), .only = "approach", .unit = "m",
     .fallback = "0.02", .range = RANGE_ABOVE(0),
     .meaning = "Length of the smooth minimum. A vertex contributes if its distance exceeds the smallest distance by "
                "less than about this length."},
    {"loss", "target", VALUE_VECTOR, AT(LossForm, loss.target), .only = "velocity", .unit = "m/s", .required = true,
     .meaning = "Target velocity of the point, world axes."},
    {"loss", "target", VALUE_VECTOR, AT(LossForm, loss.target), .only = "force", .unit = "N", .fallback = "[0, 0, 0]",
     .meaning = "Target contact force, world axes."},
    {"loss", "target", VALUE_VECTOR, AT(LossForm, loss.target), .only = "orientation", .required = true,
     .meaning = "Target direction of the axis, world axes; any length but zero, normalized."},
    {"loss", "axis", VALUE_VECTOR, AT(LossForm, loss.axis), .only = "orientation", .required = true,
     .meaning = "The axis in the link's frame; any length but zero, normalized."},
    {"loss", "direction", VALUE_VECTOR, AT(LossForm, loss.direction), .only = "travel", .required = true,
     .meaning = "Direction of travel, world axes; any length but zero, normalized."},
    {"loss", "margin", VALUE_NUMBER, AT(LossForm, loss.margin), .only = "reach|approach", .unit = "m", .fallback = "0",
     .range = RANGE_AT_LEAST(0), .meaning = "Distance below which the term is zero."},
    {"loss", "direction", VALUE_VECTOR, AT(LossForm, loss.direction), .only = "overhang", .fallback = "[0, 0, 1]",
     .meaning = "Build direction of the printed part, in the link's frame; any length but zero."},
    {"loss", "direction", VALUE_VECTOR, AT(LossForm, loss.direction), .only = "removal", .required = true,
     .meaning = "Direction of removal, world axes; any length but zero."},
    {"loss", "length", VALUE_NUMBER, AT(LossForm, loss.length), .only = "removal", .unit = "m", .required = true,
     .range = RANGE_ABOVE(0), .meaning = "Displacement of the removal. It must be long enough to separate the links."},
    {"loss", "box", VALUE_OBJECT, AT(LossForm, box), .only = "keep_out", .of = "box", .required = true,
     .meaning = "Box that the link must not enter, in its frame."},
    {"loss", "direction", VALUE_VECTOR, AT(LossForm, loss.direction), .only = "extent", .required = true,
     .meaning = "Direction of measurement, in the link's frame; any length but zero."},
    {"loss", "angle", VALUE_NUMBER, AT(LossForm, loss.angle), .only = "overhang", .unit = "rad",
     .fallback = "0.7853981633974483", .range = RANGE_BETWEEN(0, M_PI_2),
     .meaning = "Largest overhang angle from the vertical that needs no support."},
    {"loss", "margin", VALUE_NUMBER, AT(LossForm, loss.margin), .only = "neck|wall|keep_out|clearance|removal",
     .unit = "m", .fallback = "0", .range = RANGE_AT_LEAST(0),
     .meaning = "Required width or distance. The term is the deficit. A negative term is a surplus."},
    {"loss", "margin", VALUE_NUMBER, AT(LossForm, loss.margin), .only = "gap", .unit = "m", .required = true,
     .range = RANGE_ABOVE(0), .meaning = "Gap above which the term is zero."},
    {"loss", "power", VALUE_INTEGER, AT(LossForm, loss.power), .only = "point", .fallback = "2",
     .range = RANGE_BETWEEN(1, 2), .meaning = "1 for the distance, 2 for its square."},
    {"loss", "over", VALUE_CHOICE, AT(LossForm, over), .only = LOSSES_IN_TIME, .of = "mean|best|worst",
     .fallback = "mean",
     .meaning = "mean: the mean over the states of the window (travel: its last state). best: the state with the least "
                "value of the term, for example the highest point of a jump. worst: the state with the largest value. "
                "best and worst use the whole run unless `from` or `to` is given."},
    {"loss", "from", VALUE_NUMBER, AT(LossForm, loss.from), .only = LOSSES_IN_TIME, .unit = "s",
     .fallback = "(the type's own: the end of the run, or its beginning)", .range = RANGE_AT_LEAST(0),
     .meaning = "Start of the time window of the term."},
    {"loss", "to", VALUE_NUMBER, AT(LossForm, loss.to), .only = LOSSES_IN_TIME, .unit = "s",
     .fallback = "(the end of the run)", .range = RANGE_AT_LEAST(0), .meaning = "End of the time window."},
    {"loss", "spread", VALUE_VECTOR, AT(LossForm, loss.spread), .only = LOSSES_WITH_TARGET, .unit = "as the target",
     .fallback = "[0, 0, 0]", .range = RANGE_AT_LEAST(0),
     .meaning = "Range of random targets. A random number between -spread and spread is added to each component of the "
                "target. The numbers differ in each scenario."},
    {"loss", "scenarios", VALUE_NAMES, AT(LossForm, scenarios), .fallback = "(all)",
     .meaning = "Names of the scenarios in which the term counts. The term is 0 in the other scenarios."},

    /* ---------------------------------------------------------------- optimizer */
    {"optimizer", "type", VALUE_CHOICE, AT(OptimizerForm, type),
     .of = "auto|adam|step_bounded|gradient|lbfgs|cma_es|levenberg_marquardt", .fallback = "auto",
     .meaning =
         "auto: starts with lbfgs. If gradients are zero or do not predict the decrease, auto changes to cma_es, then "
         "to adam with shorter steps. Every change is reported. With draws, auto is adam throughout. adam: momentum "
         "and a scale per variable. step_bounded: the best linear step within a trust radius. gradient: steps along "
         "the gradient. lbfgs: a quasi-Newton method. cma_es: samples of a normal distribution that adapts to the best "
         "samples, without gradient. One iteration is one sample. levenberg_marquardt: only for `sdrs identify`, where "
         "it is the default."},
    {"optimizer", "iterations", VALUE_INTEGER, AT(OptimizerForm, optimizer.iterations), .fallback = "100",
     .range = RANGE_BETWEEN(1, 100000000), .meaning = "Number of iterations."},
    {"optimizer", "design_step", VALUE_NUMBER, AT(OptimizerForm, optimizer.design_step), .unit = "m",
     .fallback = "0.01", .range = RANGE_ABOVE(0),
     .meaning = "Step of the design's variables: learning rate (adam, gradient), first trust radius (step_bounded) or "
                "first standard deviation (cma_es). The default applies to variables without two bounds. The default "
                "for variables with two bounds is a twentieth of their range, with cma_es a fifth."},
    {"optimizer", "control_step", VALUE_NUMBER, AT(OptimizerForm, optimizer.control_step), .fallback = "0.05",
     .range = RANGE_ABOVE(0),
     .meaning = "Step of parameters of controllers and initial states, in their own units, as for `design_step`."},
    {"optimizer", "norm", VALUE_CHOICE, AT(OptimizerForm, norm), .only = "step_bounded", .of = "infinity|euclidean",
     .fallback = "infinity",
     .meaning = "Length of a step. infinity: the largest component. euclidean: the root of the "
                "sum of squares."},
    {"optimizer", "beta1", VALUE_NUMBER, AT(OptimizerForm, optimizer.beta1), .only = "auto|adam", .fallback = "0.9",
     .range = BELOW(0, 1), .meaning = "Decay rate of the mean gradient."},
    {"optimizer", "beta2", VALUE_NUMBER, AT(OptimizerForm, optimizer.beta2), .only = "auto|adam", .fallback = "0.999",
     .range = BELOW(0, 1), .meaning = "Decay rate of the mean squared gradient."},
    {"optimizer", "epsilon", VALUE_NUMBER, AT(OptimizerForm, optimizer.epsilon), .only = "auto|adam",
     .fallback = "1e-8", .range = RANGE_ABOVE(0), .meaning = "Added to the root of the mean squared gradient."},
    {"optimizer", "memory", VALUE_INTEGER, AT(OptimizerForm, optimizer.memory), .only = "auto|lbfgs", .fallback = "10",
     .range = RANGE_BETWEEN(1, 1000), .meaning = "Number of stored steps."},
    {"optimizer", "population", VALUE_INTEGER, AT(OptimizerForm, optimizer.population), .only = "auto|cma_es",
     .fallback = "(4 + 3 log(variables))", .range = RANGE_BETWEEN(2, 100000),
     .meaning = "Samples per generation. More samples suit rough landscapes."},
    {"optimizer", "schedule", VALUE_CHOICE, AT(OptimizerForm, schedule), .of = "constant|step|cosine",
     .fallback = "constant", .meaning = "Decrease of the steps over the iterations."},
    {"optimizer", "decay", VALUE_NUMBER, AT(OptimizerForm, optimizer.decay), .fallback = "0.1",
     .range = RANGE_UP_TO(0, 1),
     .meaning = "schedule step: factor every decay_every iterations. cosine: factor at the last iteration."},
    {"optimizer", "decay_every", VALUE_INTEGER, AT(OptimizerForm, optimizer.decay_every), .fallback = "50",
     .range = RANGE_BETWEEN(1, 100000000), .meaning = "Iterations between two decays of schedule step."},
    {"optimizer", "clip", VALUE_NUMBER, AT(OptimizerForm, optimizer.clip), .fallback = "(off)", .range = RANGE_ABOVE(0),
     .meaning = "Largest Euclidean norm of the gradient. A longer gradient is scaled down."},
    {"optimizer", "discount", VALUE_NUMBER, AT(OptimizerForm, optimizer.discount), .fallback = "1",
     .range = RANGE_UP_TO(0, 1),
     .meaning = "Factor on the adjoint at each time step. Below 1 the gradient is not exact, but grows less over long "
                "runs."},
    {"optimizer", "shrink", VALUE_NUMBER, AT(OptimizerForm, optimizer.shrink), .fallback = "0.5", .range = INSIDE(0, 1),
     .meaning = "Factor on the step after a rejected trial."},
    {"optimizer", "grow", VALUE_NUMBER, AT(OptimizerForm, optimizer.grow), .fallback = "1.2",
     .range = RANGE_AT_LEAST(1), .meaning = "Factor on the step after an accepted trial."},
    {"optimizer", "stop_loss", VALUE_NUMBER, AT(OptimizerForm, optimizer.stop_loss), .fallback = "(off)",
     .meaning = "The optimization stops when the loss is at most this value."},
    {"optimizer", "stall", VALUE_INTEGER, AT(OptimizerForm, optimizer.stall), .fallback = "0",
     .range = RANGE_BETWEEN(0, 100000000),
     .meaning = "The optimization stops after this number of iterations without a new best loss. 0: no such stop."},
    {"optimizer", "stall_decrease", VALUE_NUMBER, AT(OptimizerForm, optimizer.stall_decrease), .fallback = "1e-4",
     .range = BELOW(0, 1), .meaning = "Relative decrease of the loss that counts as a new best for `stall`."},
    {"optimizer", "save_every", VALUE_INTEGER, AT(OptimizerForm, optimizer.save_every), .fallback = "10",
     .range = RANGE_BETWEEN(1, 100000000),
     .meaning = "Iterations between two checkpoints and folders design/<iteration>/."},
    {"optimizer", "tolerance", VALUE_NUMBER, AT(OptimizerForm, optimizer.tolerance), .fallback = "1e-10",
     .range = RANGE_UP_TO(0, 0.1),
     .meaning =
         "Tolerance of the time steps, instead of the tolerance of the scene. The accuracy of the gradient follows "
         "from this tolerance."},

    /* ---------------------------------------------------------------- schedule */
    {"schedule", "contact.barrier_distance", VALUE_OBJECT, AT(ScheduleForm, support), .of = "ramp", .nullable = true,
     .meaning = "The barrier distance over the iterations."},
    {"schedule", "contact.stiffness", VALUE_OBJECT, AT(ScheduleForm, stiffness), .of = "ramp", .nullable = true,
     .meaning = "The stiffness over the iterations."},
    {"schedule", "contact.model", VALUE_OBJECT, AT(ScheduleForm, model), .of = "switch", .nullable = true,
     .meaning =
         "Another contact law from a given iteration on. The parameters of this law are derived from the scene."},
    {"ramp", "from", VALUE_NUMBER, AT(RampForm, from), .required = true, .range = RANGE_ABOVE(0),
     .meaning = "Value of the first iteration, in the unit of the key."},
    {"ramp", "to", VALUE_NUMBER, AT(RampForm, to), .required = true, .range = RANGE_ABOVE(0),
     .meaning = "Value of the last of these iterations, and of all later iterations."},
    {"ramp", "iterations", VALUE_INTEGER, AT(RampForm, iterations), .required = true,
     .range = RANGE_BETWEEN(1, 1000000), .meaning = "Number of iterations, with the same factor in each."},
    {"switch", "to", VALUE_CHOICE, AT(SwitchForm, to), .of = contact_model_words, .required = true,
     .meaning = "The law."},
    {"switch", "at", VALUE_INTEGER, AT(SwitchForm, at), .required = true, .range = RANGE_BETWEEN(1, 1000000),
     .meaning = "First iteration with this law."},

    /* ---------------------------------------------------------------- data */
    {"data", "files", VALUE_NAMES, AT(DataForm, files), .nullable = true,
     .meaning = "CSV files, one run each: paths relative to this file, or patterns like `tosses/*.csv`. `--data` of "
                "the command line replaces them."},
    {"data", "time", VALUE_TEXT, AT(DataForm, time), .fallback = "(the column `time`)",
     .meaning = "Column of the time of a row, in increasing order. The run begins with the first row."},
    {"data", "time_scale", VALUE_NUMBER, AT(DataForm, time_scale), .fallback = "1", .unit = "s",
     .range = RANGE_ABOVE(0), .meaning = "Seconds per unit of that column: 0.001 for milliseconds."},
    {"data", "measured", VALUE_LIST, AT(DataForm, measured), .of = "measured", .required = true,
     .meaning = "Measured columns, link by link. An empty cell is a missing sample."},
    {"data", "inputs", VALUE_LIST, AT(DataForm, inputs), .of = "input",
     .meaning = "Recorded inputs of each run instead of the scene's signals: columns of targets, torques and forces."},
    {"input", "link", VALUE_TEXT, AT(InputForm, link), .required = true, .meaning = "The link."},
    {"input", "of", VALUE_CHOICE, AT(InputForm, of), .of = "drive|force|torque|tension", .fallback = "drive",
     .meaning = "Signal that the columns replace. drive: the target of a controller of the link's joint. force: the "
                "force of a load on the link, or the strength of a field. torque: the torque of a load on the link. "
                "tension: the tension of a tendon that ends on the link."},
    {"input", "number", VALUE_INTEGER, AT(InputForm, number), .fallback = "0", .range = RANGE_BETWEEN(0, 1000000),
     .meaning = "Number of the controller or load of the link, from 0."},
    {"input", "columns", VALUE_NAMES, AT(InputForm, columns), .required = true,
     .meaning = "Columns of the signal, one per channel, instead of the scene's signal. The signal is constant before "
                "the first and after the last row with values."},
    {"input", "interpolation", VALUE_CHOICE, AT(InputForm, interpolation), .of = "linear|cubic", .fallback = "linear",
     .meaning = "Interpolation between rows: linear, or a cubic spline with continuous rate. Use the spline if a delay "
                "is fitted."},
    {"input", "scale", VALUE_NUMBER, AT(InputForm, scale), .fallback = "1",
     .meaning = "Unit of the signal per unit of the columns: 0.001 for columns in N mm."},
    {"measured", "link", VALUE_TEXT, AT(MeasuredForm, link), .required = true, .meaning = "The link."},
    {"measured", "position", VALUE_NAMES, AT(MeasuredForm, position), .nullable = true,
     .meaning = "Columns of the position of the link's frame, x, y, z in the world."},
    {"measured", "quaternion", VALUE_NAMES, AT(MeasuredForm, quaternion), .nullable = true,
     .meaning = "Columns of the unit quaternion w, x, y, z that rotates link axes to world axes."},
    {"measured", "velocity", VALUE_NAMES, AT(MeasuredForm, velocity), .nullable = true,
     .meaning = "Columns of the velocity of the frame's origin, world axes: the initial velocity of runs and windows. "
                "By default the velocity is estimated from the first positions."},
    {"measured", "angular_velocity", VALUE_NAMES, AT(MeasuredForm, angular_velocity), .nullable = true,
     .meaning = "Columns of the angular velocity, in `rate_axes`: the initial angular velocity of runs and windows. By "
                "default the angular velocity is estimated from the first rotations."},
    {"measured", "rate_axes", VALUE_CHOICE, AT(MeasuredForm, rate_axes), .of = "link|world", .fallback = "link",
     .meaning = "Axes of the angular velocity."},
    {"measured", "rates_at", VALUE_CHOICE, AT(MeasuredForm, rates_at), .of = "row|before", .fallback = "row",
     .meaning = "Time of velocities, angular velocities and rates in a row. row: the time of the row. before: the "
                "midpoint between the previous row and this row (backward differences). With before, the value at the "
                "time of a row is the mean of this row and the next."},
    {"measured", "coordinates", VALUE_NAMES, AT(MeasuredForm, coordinates), .nullable = true,
     .meaning = "Columns of the coordinates of the link's joint, without the coordinates of three rotations."},
    {"measured", "rates", VALUE_NAMES, AT(MeasuredForm, rates), .nullable = true,
     .meaning = "Columns of the rates of these coordinates."},
    {"measured", "length_scale", VALUE_NUMBER, AT(MeasuredForm, length_scale), .fallback = "1", .unit = "m",
     .range = RANGE_ABOVE(0), .meaning = "Metres per unit of lengths: 0.001 for millimetres."},
    {"measured", "angle_scale", VALUE_NUMBER, AT(MeasuredForm, angle_scale), .fallback = "1", .unit = "rad",
     .range = RANGE_ABOVE(0),
     .meaning = "Radians per unit of angles and their rates: 0.017453292519943295 for degrees."},
    {"measured", "weight", VALUE_NUMBER, AT(MeasuredForm, weight), .fallback = "1", .range = RANGE_ABOVE(0),
     .meaning = "Factor on the residuals of this link."},

    /* ---------------------------------------------------------------- identify */
    {"identify", "window", VALUE_NUMBER, AT(TaskIdentify, window), .unit = "s", .fallback = "(whole runs)",
     .range = RANGE_ABOVE(0),
     .meaning = "Length of the windows of a run. Each window is simulated separately from its own measured state."},
    {"identify", "stride", VALUE_NUMBER, AT(TaskIdentify, stride), .unit = "s", .fallback = "(the window)",
     .range = RANGE_ABOVE(0), .meaning = "Time between the starts of two windows."},
    {"identify", "position", VALUE_NUMBER, AT(TaskIdentify, position), .unit = "m", .fallback = "0.001",
     .range = RANGE_ABOVE(0), .meaning = "Standard deviation of measured positions."},
    {"identify", "rotation", VALUE_NUMBER, AT(TaskIdentify, rotation), .unit = "rad", .fallback = "0.01",
     .range = RANGE_ABOVE(0), .meaning = "Standard deviation of measured rotations."},
    {"identify", "coordinate", VALUE_NUMBER, AT(TaskIdentify, coordinate), .unit = "m or rad", .fallback = "0.01",
     .range = RANGE_ABOVE(0), .meaning = "Standard deviation of measured coordinates of joints."},
    {"identify", "velocity", VALUE_NUMBER, AT(TaskIdentify, velocity), .unit = "m/s", .fallback = "(not compared)",
     .range = RANGE_ABOVE(0),
     .meaning = "Standard deviation of measured velocities. If given, velocities are also fitted at every sample, "
                "against differences of the neighbouring rows."},
    {"identify", "angular_velocity", VALUE_NUMBER, AT(TaskIdentify, angular_velocity), .unit = "rad/s",
     .fallback = "(not compared)", .range = RANGE_ABOVE(0),
     .meaning = "Standard deviation of measured angular velocities. If given, angular velocities are also fitted at "
                "every sample, against differences of the neighbouring rows."},
    {"identify", "rate", VALUE_NUMBER, AT(TaskIdentify, rate), .unit = "m/s or rad/s", .fallback = "(not compared)",
     .range = RANGE_ABOVE(0),
     .meaning = "Standard deviation of measured rates of joints. If given, rates are also "
                "fitted at every sample, against differences of the neighbouring rows."},
    {"identify", "huber", VALUE_NUMBER, AT(TaskIdentify, huber), .fallback = "(off)", .range = RANGE_ABOVE(0),
     .meaning = "Threshold of Huber's loss in standard deviations. Larger residuals count linearly."},
    {"identify", "train", VALUE_NUMBER, AT(TaskIdentify, train), .fallback = "0.5", .range = RANGE_UP_TO(0, 1),
     .meaning = "Fraction of the runs that is fitted, drawn by the task's seed. The other runs validate the result."},
    {"identify", "iterations", VALUE_INTEGER, AT(TaskIdentify, iterations), .fallback = "30",
     .range = RANGE_BETWEEN(1, 100000), .meaning = "Largest number of Levenberg-Marquardt iterations."},
    {"identify", "fit_initial", VALUE_BOOL, AT(TaskIdentify, fit_initial), .fallback = "false",
     .meaning = "Also fit the initial state of every run or window, within its noise."},
    {"identify", "initial_velocity", VALUE_NUMBER, AT(TaskIdentify, initial_velocity), .unit = "m/s",
     .fallback = "0.05", .range = RANGE_ABOVE(0), .meaning = "Standard deviation of the initial velocities."},
    {"identify", "initial_rate", VALUE_NUMBER, AT(TaskIdentify, initial_rate), .unit = "rad/s", .fallback = "0.2",
     .range = RANGE_ABOVE(0), .meaning = "Standard deviation of the initial angular velocities and joint rates."},
    {"identify", "keep_undetermined", VALUE_BOOL, AT(TaskIdentify, keep_undetermined), .fallback = "false",
     .meaning = "true: fit the parameter combinations that the data determine, and keep the others at their initial "
                "values. false: fit nothing if some are undetermined."},

    /* ---------------------------------------------------------------- gradient */
    {"gradient", "bundle", VALUE_INTEGER, AT(GradientForm, bundle), .fallback = "0", .range = RANGE_BETWEEN(0, 10000),
     .meaning = "Number of nearby designs of a gradient bundle. The mean of their gradients replaces the gradient of "
                "the design. The designs are drawn anew in every iteration, by the seed."},
    {"gradient", "spread", VALUE_NUMBER, AT(GradientForm, spread), .fallback = "0.01", .range = RANGE_ABOVE(0),
     .meaning = "Standard deviation of the designs of a bundle, in the unit of each variable."},
    {"gradient", "memory", VALUE_NUMBER, AT(GradientForm, memory), .unit = "GiB", .fallback = "(runs are kept whole)",
     .range = RANGE_UP_TO(0, 1048576),
     .meaning =
         "Largest memory for the gradient of one design, for all scenarios together. Sections of a run that do not fit "
         "are simulated again when the adjoint needs them. The result is bit-identical. The gradient takes about the "
         "time of one more run. Quantities that losses use (from, to) are always stored. The task is refused if these "
         "quantities need more than this memory."},
};

const SchemaTable TASK_SCHEMA = {
    .objects = TASK_OBJECTS,
    .object_count = TASK_OBJECT_COUNT,
    .rows = ROWS,
    .row_count = (int)(sizeof ROWS / sizeof ROWS[0]),
    .root = "task",
    .title = "sdrs task",
    .id = "task.schema.json",
    .command = "sdrs schema task --markdown",
    .overrides =
        "`--set optimizer.iterations=20`, `--set loss.forward.weight=2`, `--set design.vertices.foot.within=0.02`. "
        "Paths that begin with `scene.` change the scene of every scenario, after its own `set`: "
        "`--set scene.contact.friction=0.2`. Items of a list are addressed by `name` or `link`, losses without a "
        "name by their type as in convergence.csv (`loss.point.target`, `loss.point_2.target`), or by index from 0. "
        "`*` and `?` match several names, `+` adds an item: `--set 'loss.+={type: effort, weight: 1.0e-6}'`. A key "
        "that excludes others, like `scene` and `scenarios`, replaces them.",
    .embeds = &SCENE_SCHEMA,
};
