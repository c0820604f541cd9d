/* The schema table of scenes. The order of objects and rows is that of the documentation. */
#include "scene/forms.h"
#include "scene/schema.h"

#define AT(type, member) offsetof(type, member)

#define MOVING_JOINTS JOINT_TYPE_NAMES(MOVES)
/* Text of one joint type in a list, such as ", fixed 0". The list in the documentation leaves out the first two
 * characters. */
// NOLINTNEXTLINE(bugprone-macro-parentheses): adjacent string literals
#define FREEDOM(NAME, word, freedom, ...) ", " word " " freedom
// NOLINTBEGIN(bugprone-macro-parentheses): literals
#define NUMBER_ROW(slot, name, types, measure, text)                                                                \
  {"joint",          name,           VALUE_NUMBER, AT(JointForm, parameters[slot]), .only = types, .unit = measure, \
   .required = true, .meaning = text},
// NOLINTEND(bugprone-macro-parentheses)

/* Words for smooth shapes: the convex ones, and all of them. */
#define CONVEX "superellipsoid|superelliptic_cylinder|truncated_cone|smooth_polytope|superquadric"
#define SMOOTH CONVEX "|oriented_points|union|subtraction"
#define FORM(member) AT(SceneShapeForm, shape.smooth.member)
// NOLINTBEGIN(bugprone-macro-parentheses): literals
#define LENGTH_ROW(key_name, types, member, text)                                                                 \
  {                                                                                                               \
    "shape", key_name, VALUE_NUMBER, FORM(member), .only = types, .unit = "m", .range = RANGE_BETWEEN(1e-6, 1e6), \
                                                   .required = true, .meaning = text                              \
  }
// NOLINTEND(bugprone-macro-parentheses)

static const SchemaRow ROWS[] = {
    /* ---------------------------------------------------------------- the file */
    {"scene", "name", VALUE_TEXT, AT(SceneForm, name), .fallback = "(the file's name without extension)",
     .meaning = "Name of the scene and of its run folder."},
    {"scene", "variables", VALUE_VARIABLES, AT(SceneForm, variables), .nullable = true,
     .meaning =
         "Numbers by name, for expressions: `{leg: 0.3, half: \"{leg / 2}\"}`. A variable may use the variables before "
         "it."},
    {"scene", "include", VALUE_LIST, AT(SceneForm, include), .of = "include", .nullable = true,
     .meaning = "Scenes and robots of other files that this scene contains."},
    {"scene", "simulation", VALUE_OBJECT, AT(SceneForm, simulation), .of = "simulation", .nullable = true,
     .meaning = "Time step, duration, gravity and solver."},
    {"scene", "fluid", VALUE_OBJECT, AT(SceneForm, fluid), .of = "fluid", .nullable = true,
     .meaning = "Air or water around all links: drag, buoyancy, wind."},
    {"scene", "contact", VALUE_OBJECT, AT(SceneForm, contact), .of = "contact", .nullable = true,
     .meaning = "Contact law and its parameters, friction, excluded pairs."},
    {"scene", "shapes", VALUE_MAP, AT(SceneForm, shapes), .of = "shape", .nullable = true,
     .meaning = "Shapes by name, for links to use."},
    {"scene", "rods", VALUE_LIST, AT(SceneForm, rods), .of = "rod", .nullable = true,
     .meaning = "Elastic rods: cables, springs of wire, soft fingers."},
    {"scene", "links", VALUE_LIST, AT(SceneForm, links), .of = "link", .required = true, .unless = "include|rods",
     .meaning = "Rigid bodies, each after its parent."},
    {"scene", "controllers", VALUE_LIST, AT(SceneForm, controllers), .of = "controller", .nullable = true,
     .meaning = "Motors and other drives of joints."},
    {"scene", "loads", VALUE_LIST, AT(SceneForm, loads), .of = "load", .nullable = true,
     .meaning = "Forces and torques on links."},
    {"scene", "tendons", VALUE_LIST, AT(SceneForm, tendons), .of = "tendon", .nullable = true,
     .meaning = "Tendons: cables that pull points of links towards each other."},
    {"scene", "bushings", VALUE_LIST, AT(SceneForm, bushings), .of = "bushing", .nullable = true,
     .meaning = "Springs and dampers in all six directions between two links: mounts, torsion bars, gas springs."},
    {"scene", "closures", VALUE_LIST, AT(SceneForm, closures), .of = "closure", .nullable = true,
     .meaning = "Loop closures: constraints that hold two links together at a point, along an axis or at a distance."},
    {"scene", "couplings", VALUE_LIST, AT(SceneForm, couplings), .of = "coupling", .nullable = true,
     .meaning = "Joints whose coordinates follow from others: mimics, gears, racks, screws, differentials."},
    {"scene", "initial", VALUE_LIST, AT(SceneForm, initial), .of = "initial", .nullable = true,
     .meaning = "Joint coordinates and velocities at the start; zero by default."},
    {"scene", "start", VALUE_OBJECT, AT(SceneForm, start), .of = "start_state", .nullable = true,
     .meaning = "Start from a state of a recorded run instead of `initial`."},

    /* ---------------------------------------------------------------- fluid */
    {"fluid", "density", VALUE_NUMBER, AT(FluidForm, fluid.density), .unit = "kg/m^3", .required = true,
     .range = RANGE_BETWEEN(0, 1e5), .meaning = "Water has 1000, air 1.2."},
    {"fluid", "viscosity", VALUE_NUMBER, AT(FluidForm, fluid.viscosity), .unit = "Pa s", .fallback = "0",
     .range = RANGE_BETWEEN(0, 1e6), .meaning = "Dynamic viscosity. Water has 0.001, air 1.8e-5, honey 10."},
    {"fluid", "velocity", VALUE_VECTOR, AT(FluidForm, fluid.velocity), .unit = "m/s", .fallback = "[0, 0, 0]",
     .meaning = "Wind or stream, world axes."},
    {"fluid", "level", VALUE_NUMBER, AT(FluidForm, level), .unit = "m", .fallback = "(everywhere)",
     .meaning = "Height of the fluid's surface above the world's origin, measured against gravity. There is no fluid "
                "above it."},

    /* ---------------------------------------------------------------- include */
    {"include", "file", VALUE_TEXT, AT(IncludeForm, file), .required = true,
     .meaning = "A scene, or a robot in URDF (.urdf) or MJCF (.xml), relative to this file."},
    {"include", "prefix", VALUE_TEXT, AT(IncludeForm, prefix), .fallback = "(none)",
     .meaning = "Prefix of all names of its links, shapes and groups."},
    {"include", "attach", VALUE_TEXT, AT(IncludeForm, attach), .fallback = "(the world)",
     .meaning = "Link of this scene to which its roots are attached."},
    {"include", "set", VALUE_NAMES, AT(IncludeForm, set), .nullable = true,
     .meaning = "Changes to the included scene, written as for `--set`: `[variables.leg=0.4]`."},
    {"include", "without", VALUE_NAMES, AT(IncludeForm, without), .nullable = true,
     .meaning = "Links of the file that are omitted, with all their descendants: `[ground]`."},

    /* ---------------------------------------------------------------- simulation */
    {"simulation", "dt", VALUE_NUMBER, AT(SimulationForm, simulation.dt), .unit = "s", .fallback = "0.01",
     .range = RANGE_UP_TO(0, 1000), .meaning = "Time step."},
    {"simulation", "duration", VALUE_NUMBER, AT(SimulationForm, duration), .unit = "s", .fallback = "2.0",
     .range = RANGE_ABOVE(0), .group = "length", .meaning = "Length of the run; rounded to whole steps."},
    {"simulation", "steps", VALUE_INTEGER, AT(SimulationForm, steps), .range = RANGE_BETWEEN(1, STEPS_MAX),
     .group = "length", .meaning = "Length of the run in steps, instead of duration."},
    {"simulation", "gravity", VALUE_VECTOR, AT(SimulationForm, simulation.gravity), .unit = "m/s^2",
     .fallback = "[0, 0, -9.81]", .meaning = "Acceleration of gravity, world axes."},
    {"simulation", "integrator", VALUE_CHOICE, AT(SimulationForm, simulation.integrator),
     .of = "first_order|second_order|momentum", .fallback = "momentum",
     .meaning = "Time integration. momentum conserves the angular momentum of free bodies, and the energy of "
                "articulated mechanisms and springs. It has no numerical damping. first_order (used in the SDRS paper) "
                "damps rotation strongly. second_order damps rotation weakly."},
    {"simulation", "tolerance", VALUE_NUMBER, AT(SimulationForm, simulation.tolerance), .fallback = "1e-5",
     .range = RANGE_UP_TO(0, 0.1),
     .meaning = "Relative tolerance of a step. This is the largest imbalance of forces and torques, divided by the "
                "forces that act on the same bodies (inertia, weight, drives, contact). force_tolerance is the "
                "absolute tolerance in newtons."},
    {"simulation", "force_tolerance", VALUE_NUMBER, AT(SimulationForm, simulation.force_tolerance), .unit = "N",
     .fallback = "0", .range = RANGE_AT_LEAST(0),
     .meaning = "Absolute tolerance of forces. The tolerance of torques is this value times the size of the link."},
    {"simulation", "max_iterations", VALUE_INTEGER, AT(SimulationForm, simulation.max_iterations), .fallback = "1000",
     .range = RANGE_BETWEEN(1, 100000),
     .meaning = "Largest number of Newton iterations of a step. A step that needs more iterations fails."},
    {"simulation", "certificate", VALUE_BOOL, AT(SimulationForm, simulation.certificate), .fallback = "true",
     .meaning = "Prove for every step that no two bodies intersect during it."},
    {"simulation", "record_every", VALUE_INTEGER, AT(SimulationForm, simulation.record_every), .fallback = "1",
     .range = RANGE_BETWEEN(1, STEPS_MAX), .meaning = "Number of steps between two rows of the CSV files."},
    {"simulation", "output", VALUE_WORDS, AT(SimulationForm, simulation.output), .of = OUTPUT_WORDS,
     .fallback = "(none)",
     .meaning =
         "Additional files. velocities: velocities.csv, velocities of links and joints. forces: forces.csv, "
         "generalized forces of drives, loads, friction, springs, limits and closures. closures: closures.csv, error "
         "and force of each closure and coupling. pressure: pressure.csv, centre of pressure, force and moment of the "
         "contacts of each moving link (nan without contact). reactions: reactions.csv, force and torque of every "
         "joint on its link. imu: imu.csv, acceleration minus gravity and angular velocity of every link. "
         "range: range.csv, distances from the origin of every link's frame to the surfaces of other links along its "
         "axes (nan where nothing is hit). "
         "contact_points: columns of contacts.csv with the centre of pressure and the moment of each contact."},
    {"simulation", "substeps", VALUE_INTEGER, AT(SimulationForm, simulation.substeps), .fallback = "1",
     .range = RANGE_BETWEEN(1, SUBSTEPS_MAX),
     .meaning = "Number of equal substeps of every step. Rows of files and losses refer to whole steps. A step that "
                "fails is repeated with twice as many substeps, up to 512."},
    {"simulation", "keep_states", VALUE_SERIES, AT(SimulationForm, keep_states), .unit = "s",
     .fallback = "(the end alone)", .range = RANGE_ABOVE(0), .nullable = true,
     .meaning = "Times, multiples of dt, at which the complete state is saved in the run folder for `start`. The final "
                "state is always saved."},

    /* ---------------------------------------------------------------- start */
    {"start_state", "run", VALUE_TEXT, AT(StartStateForm, run), .required = true,
     .meaning = "Run folder, relative to the scene file, otherwise to the current folder."},
    {"start_state", "time", VALUE_NUMBER, AT(StartStateForm, time), .unit = "s", .fallback = "(the end of that run)",
     .range = RANGE_ABOVE(0),
     .meaning = "Time of the saved state: the end of that run, or one of its simulation.keep_states. The time of this "
                "run continues from this time."},

    /* ---------------------------------------------------------------- contact */
    /* the contact laws define the other rows (contact_schema_row) */
    {"contact", "friction_iterations", VALUE_INTEGER, AT(ContactForm, contact.friction_iterations),
     .only = "none|separating_plane", .fallback = "null", .nullable = true, .range = RANGE_BETWEEN(0, 1000),
     .meaning =
         "Largest number of repetitions of a step with updated normal forces for friction. With 0, friction uses the "
         "normal force of the previous step, and acts one step late in an impact. With null, a step is repeated once "
         "if the repetition changes the speed of a pair by more than 0.1 rest_speed. The weight of the updated force "
         "is 0 up to this change and 1/2 at 0.5 rest_speed, and approaches 1 for larger changes. The remaining "
         "friction "
         "impulse acts in the next steps. null is equal to 0 in the first step with contact at its start, in steps "
         "shortened by an event, and for pairs in an impact with restitution."},
    {"contact", "exclude", VALUE_NAME_PAIRS, AT(ContactForm, exclude), .nullable = true,
     .meaning = "Pairs of links or groups without contact. A link and its parent never have contact."},
    {"contact", "pairs", VALUE_LIST, AT(ContactForm, pairs), .of = "contact_pair", .nullable = true,
     .meaning = "Friction and restitution between two links, or all links of two groups. These values override the "
                "values of the links. The last matching item applies. Without a matching item, the values of the links "
                "apply. If both links have a coefficient, the square root of the product applies. If one has it, that "
                "value applies. Otherwise the value in `contact` applies."},

    {"contact_pair", "a", VALUE_TEXT, AT(ContactPairForm, a), .required = true, .meaning = "A link or a group."},
    {"contact_pair", "b", VALUE_TEXT, AT(ContactPairForm, b), .required = true,
     .meaning = "The other link or group. If `a` and `b` are the same group, the item applies to all pairs within the "
                "group."},
    {"contact_pair", "friction", VALUE_PER_DOF, AT(ContactPairForm, friction),
     .fallback = "(from the links, else contact.friction)", .range = RANGE_BETWEEN(0, 100),
     .meaning = "Coulomb coefficient between them. Two numbers, [along, across], are the coefficients along and across "
                "friction_axis. They override the values of the links. Only for the law separating_plane."},
    {"contact_pair", "friction_axis", VALUE_VECTOR, AT(ContactPairForm, friction_axis), .fallback = "(none)",
     .meaning = "Direction of the first of two numbers of friction, in the axes of the link `a`, of any length but 0. "
                "This axis is projected onto the contact plane like friction_axis of a link. `a` and `b` must differ."},
    {"contact_pair", "restitution", VALUE_NUMBER, AT(ContactPairForm, material.value[MATERIAL_RESTITUTION]),
     .fallback = "(from the links, else contact.restitution)", .range = RANGE_BETWEEN(0, 1),
     .meaning = "Coefficient of restitution between them."},
    {"contact_pair", "rolling", VALUE_NUMBER, AT(ContactPairForm, material.value[MATERIAL_ROLLING]), .unit = "m",
     .fallback = "(from the links, else contact.rolling)", .range = RANGE_AT_LEAST(0),
     .meaning = "Rolling friction between them."},
    {"contact_pair", "spinning", VALUE_NUMBER, AT(ContactPairForm, material.value[MATERIAL_SPINNING]), .unit = "m",
     .fallback = "(from the links, else contact.spinning)", .range = RANGE_AT_LEAST(0),
     .meaning = "Spinning friction between them."},
    {"contact_pair", "static_friction", VALUE_NUMBER, AT(ContactPairForm, material.value[MATERIAL_STATIC_FRICTION]),
     .fallback = "(friction of this item, else from the links, else contact.static_friction)",
     .range = RANGE_BETWEEN(0, 100), .meaning = "Coulomb coefficient at rest between them, at least `friction`."},
    {"contact_pair", "stribeck_speed", VALUE_NUMBER, AT(ContactPairForm, material.value[MATERIAL_STRIBECK_SPEED]),
     .unit = "m/s", .fallback = "(from the links, else contact.stribeck_speed)", .range = RANGE_ABOVE(0),
     .meaning = "Slip over which `static_friction` falls to `friction` between them."},
    {"contact_pair", "model", VALUE_CHOICE, AT(ContactPairForm, model), .of = contact_model_words,
     .fallback = "(contact.model)",
     .meaning =
         "Contact law between them instead of contact.model. none: no contact. The parameters of the law below, "
         "barrier_distance and stiffness apply to this pair. If a key is missing, the value in `contact` is used when "
         "both have the same law; otherwise the default. Friction smoothing and rest speed are always the values in "
         "`contact`."},
    {"contact_pair", "barrier_distance", VALUE_NUMBER, AT(ContactPairForm, material.value[MATERIAL_SUPPORT]),
     .unit = "m", .fallback = "(derived from the scene)", .range = RANGE_ABOVE(0),
     .meaning = "Barrier distance of the law `model`, if the law has this key."},
    {"contact_pair", "stiffness", VALUE_NUMBER, AT(ContactPairForm, material.value[MATERIAL_STIFFNESS]),
     .fallback = "(derived from the scene)", .range = RANGE_ABOVE(0),
     .meaning = "Stiffness of the law `model`, in the unit of this law."},

    /* ---------------------------------------------------------------- shape */
    {"shape", "type", VALUE_CHOICE, AT(SceneShapeForm, shape.type),
     .of = "box|sphere|cylinder|capsule|wheel|disc|cone|rounded_box|rounded_points|points|mesh|height_field|half_"
           "space|" CONVEX "|oriented_points|"
           "union|subtraction",
     .required = true, .meaning = "Kind of solid; [smooth shapes](smooth-shapes.md) describes the smooth ones."},
    {"shape", "size", VALUE_VECTOR, AT(SceneShapeForm, shape.size), .only = "box", .unit = "m", .range = RANGE_ABOVE(0),
     .required = true, .meaning = "Full edge lengths, centred at the origin."},
    {"shape", "size", VALUE_VECTOR, AT(SceneShapeForm, shape.size), .only = "rounded_box", .unit = "m",
     .range = RANGE_AT_LEAST(0), .required = true,
     .meaning =
         "Distance between the centres of the rounded corners along x, y, z. The outer size is 2 radius larger."},
    {"shape", "radius", VALUE_NUMBER, AT(SceneShapeForm, shape.radius),
     .only = "sphere|cylinder|capsule|wheel|disc|rounded_box", .unit = "m", .range = RANGE_ABOVE(0), .required = true,
     .meaning = "Largest radius of the solid. separating_plane treats spheres, capsules, cylinders, cones, wheels, "
                "discs and rounded boxes exactly, so these solids roll without facets. Other laws use the inscribed "
                "polyhedron. If resolution or segments is given, separating_plane also uses the polyhedron."},
    {"shape", "radius", VALUE_NUMBER, AT(SceneShapeForm, shape.radius), .only = "rounded_points", .unit = "m",
     .range = RANGE_ABOVE(0), .required = true,
     .meaning =
         "Radius of the balls around all positions in the convex hull of the points. separating_plane treats the solid "
         "exactly unless segments is given. A task can design the radius (parameters of type size), but not the "
         "points."},
    {"shape", "length", VALUE_NUMBER, AT(SceneShapeForm, shape.length), .only = "cylinder|capsule|cone", .unit = "m",
     .range = RANGE_ABOVE(0), .required = true,
     .meaning = "Length along z, centred; for a capsule the length of its straight part."},
    {"shape", "width", VALUE_NUMBER, AT(SceneShapeForm, shape.width), .only = "wheel", .unit = "m",
     .range = RANGE_ABOVE(0), .required = true,
     .meaning = "Width along z (the axle), centred. The width must be larger than twice the rim."},
    {"shape", "rim", VALUE_NUMBER, AT(SceneShapeForm, shape.rim), .only = "wheel|disc", .unit = "m",
     .range = RANGE_ABOVE(0), .required = true,
     .meaning = "Radius of the rounded edge (the tyre of a wheel), smaller than the radius. A disc is 2 rim thick."},
    {"shape", "bottom_radius", VALUE_NUMBER, AT(SceneShapeForm, shape.bottom_radius), .only = "cone", .unit = "m",
     .range = RANGE_ABOVE(0), .required = true, .meaning = "Radius at z = -length / 2."},
    {"shape", "top_radius", VALUE_NUMBER, AT(SceneShapeForm, shape.top_radius), .only = "cone", .unit = "m",
     .range = RANGE_AT_LEAST(0), .required = true, .meaning = "Radius at z = length / 2. 0 gives a tip."},
    {"shape", "resolution", VALUE_INTEGER, AT(SceneShapeForm, shape.resolution), .only = "sphere", .fallback = "1",
     .range = RANGE_BETWEEN(0, 6),
     .meaning = "Subdivisions of the icosahedron: 12, 42, 162, 642, 2562, 10242, 40962 vertices. If given, every law "
                "uses this polyhedron. Without this key, separating_plane uses the exact solid."},
    {"shape", "segments", VALUE_INTEGER, AT(SceneShapeForm, shape.segments), .only = "cylinder", .fallback = "16",
     .range = RANGE_BETWEEN(3, 1024),
     .meaning = "Vertices on each rim. If given, every law uses this polyhedron. Without this key, separating_plane "
                "uses the exact solid."},
    {"shape", "segments", VALUE_INTEGER, AT(SceneShapeForm, shape.segments), .only = "capsule", .fallback = "12",
     .range = RANGE_BETWEEN(3, 1024),
     .meaning = "Vertices around the axis. Each cap has a quarter of this number of rings. If given, every law uses "
                "this polyhedron. Without this key, separating_plane uses the exact solid."},
    {"shape", "segments", VALUE_INTEGER, AT(SceneShapeForm, shape.segments), .only = "wheel|disc|cone",
     .fallback = "24", .range = RANGE_BETWEEN(3, 1024),
     .meaning = "Vertices around each circle. If given, every law uses this polyhedron. Without this key, "
                "separating_plane uses the exact solid."},
    {"shape", "segments", VALUE_INTEGER, AT(SceneShapeForm, shape.segments), .only = "rounded_box", .fallback = "16",
     .range = RANGE_BETWEEN(8, 128),
     .meaning = "Vertices around the rounded corners, in multiples of eight. 16 gives 96 vertices in total. If given, "
                "every law uses this polyhedron. Without this key, separating_plane uses the exact solid."},
    {"shape", "segments", VALUE_INTEGER, AT(SceneShapeForm, shape.segments), .only = "rounded_points", .fallback = "16",
     .range = RANGE_BETWEEN(8, 128),
     .meaning = "Vertices around a full circle of the rounding. If given, every law uses this polyhedron. Without this "
                "key, separating_plane uses the exact solid."},
    {"shape", "points", VALUE_POINTS, AT(SceneShapeForm, points), .only = "rounded_points", .unit = "m",
     .required = true,
     .meaning = "One or more points. The solid contains all positions within the radius from the convex hull of the "
                "points. One point gives a ball, two points a capsule, a polygon a plate with round edges."},
    {"shape", "points", VALUE_POINTS, AT(SceneShapeForm, points), .only = "points", .unit = "m", .required = true,
     .meaning = "At least four points; the solid is their convex hull."},
    {"shape", "keep_interior", VALUE_BOOL, AT(SceneShapeForm, shape.keep_interior), .only = "points",
     .fallback = "false",
     .meaning = "Keep points inside the hull. They carry mass with `mass_model: vertices`, and an optimization may "
                "move them out of the hull. By default they are dropped."},
    {"shape", "file", VALUE_TEXT, AT(SceneShapeForm, file), .only = "mesh", .required = true,
     .meaning = "OBJ or STL file, relative to the scene file; also .dae, .ply, .off, .gltf, .glb, .3ds, .fbx, .3mf, "
                ".x3d by libassimp."},
    {"shape", "scale", VALUE_NUMBER, AT(SceneShapeForm, shape.scale), .only = "mesh", .unit = "m per unit",
     .fallback = "1.0", .range = RANGE_ABOVE(0), .meaning = "Length of the file's unit: 0.001 for millimetres."},
    {"shape", "hulls", VALUE_CHOICE, AT(SceneShapeForm, hulls), .only = "mesh", .of = "whole|groups",
     .fallback = "whole", .group = "hulls",
     .meaning = "One convex hull of the whole mesh, or one hull per `o` or `g` group."},
    {"shape", "pieces", VALUE_CHOICE, AT(SceneShapeForm, pieces), .only = "mesh|points", .of = "hulls|triangles",
     .fallback = "hulls",
     .meaning = "Geometry for contact. hulls: convex hulls. triangles: the triangles of the mesh, closed or open; for "
                "points, every three points are a triangle. With triangles, density and `mass_model: uniform` use the "
                "enclosed volume."},
    {"shape", "orient", VALUE_CHOICE, AT(SceneShapeForm, orient), .only = "mesh", .of = "keep|fix", .fallback = "keep",
     .meaning = "For `pieces: triangles`. keep: the surface is not changed. fix: the surface is repaired as by `sdrs "
                "decompose`. The repair makes the orientation consistent, turns closed surfaces outward and closes "
                "open borders."},
    {"shape", "max_vertices", VALUE_INTEGER, AT(SceneShapeForm, shape.max_vertices), .only = "mesh",
     .fallback = "(all)", .range = RANGE_BETWEEN(4, 1000000),
     .meaning = "Largest number of vertices of each hull. Hulls with more vertices are simplified. The error is "
                "reported."},
    {"shape", "decompose", VALUE_OBJECT, AT(SceneShapeForm, decompose), .of = "decompose", .only = "mesh",
     .group = "hulls", .meaning = "Replace the mesh by convex hulls that cover it; {} for the default options."},
    {"shape", "file", VALUE_TEXT, AT(SceneShapeForm, file), .only = "height_field", .required = true,
     .meaning = "PNG picture (dark is low, white is high) or table of heights (CSV), relative to the scene file. The "
                "first row has the largest y, as in a picture seen from above."},
    {"shape", "size", VALUE_VECTOR, AT(SceneShapeForm, shape.size), .only = "height_field", .unit = "m",
     .range = RANGE_ABOVE(0), .required = true,
     .meaning = "Length along x and y from the first sample to the last, and height of white (or of 1 in the table)."},
    {"shape", "origin", VALUE_VECTOR, AT(SceneShapeForm, shape.origin), .only = "height_field", .unit = "m",
     .fallback = "[0, 0, 0]", .meaning = "Position of the centre of the field at height 0."},
    {"shape", "base", VALUE_NUMBER, AT(SceneShapeForm, shape.base), .only = "height_field", .unit = "m",
     .range = RANGE_ABOVE(0), .fallback = "(the longer edge of a cell)",
     .meaning = "Thickness of the ground below its lowest point."},
    {"shape", "normal", VALUE_VECTOR, AT(SceneShapeForm, shape.normal), .only = "half_space", .fallback = "[0, 0, 1]",
     .meaning = "Outward normal, of any length but zero. The solid is where normal . x <= offset, for a unit normal."},
    {"shape", "offset", VALUE_NUMBER, AT(SceneShapeForm, shape.offset), .only = "half_space", .unit = "m",
     .fallback = "0", .meaning = "Distance of the surface from the origin along the normal."},
    {"shape", "size", VALUE_VECTOR, FORM(size), .only = "superellipsoid|superquadric", .unit = "m",
     .range = RANGE_BETWEEN(1e-6, 1e6), .required = true, .meaning = "Semi-axes a, b, c along x, y, z."},
    LENGTH_ROW("radius", "superelliptic_cylinder", size[0], "Radius about x."),
    LENGTH_ROW("half_length", "superelliptic_cylinder", size[1], "Half the length along x."),
    LENGTH_ROW("bottom_radius", "truncated_cone", size[0], "Radius about x of the end at x = -below."),
    LENGTH_ROW("top_radius", "truncated_cone", size[1], "Radius about x of the end at x = above."),
    LENGTH_ROW("below", "truncated_cone", size[2], "Length from the origin along -x."),
    LENGTH_ROW("above", "truncated_cone", size[3], "Length from the origin along +x."),
    {"shape", "exponent", VALUE_NUMBER, FORM(exponent), .only = "superellipsoid|superelliptic_cylinder",
     .range = RANGE_BETWEEN(1, 64), .required = true,
     .meaning = "n in ((x/a)^2n + ...)^(1/2n) = 1: 1 is an ellipsoid, 8 nearly a box or a cylinder."},
    {"shape", "exponents", VALUE_NUMBERS, AT(SceneShapeForm, exponents), .only = "superquadric",
     .range = RANGE_BETWEEN(0.03125, 1), .required = true,
     .meaning = "[e1, e2]: ((x/a)^(2/e2) + (y/b)^(2/e2))^(e2/e1) + (z/c)^(2/e1) = 1; both 1 is an ellipsoid."},
    {"shape", "sharpness", VALUE_NUMBER, FORM(beta), .only = "truncated_cone|smooth_polytope",
     .range = RANGE_UP_TO(0, 1e6), .required = true,
     .meaning = "beta. Edges are rounded over a length of about 1/beta of the body's size."},
    {"shape", "normals", VALUE_POINTS, AT(SceneShapeForm, normals), .only = "smooth_polytope|oriented_points",
     .required = true, .meaning = "Outward normals of the faces, or at the points, of any length but zero."},
    {"shape", "offsets", VALUE_SERIES, AT(SceneShapeForm, offsets), .only = "smooth_polytope", .unit = "m",
     .range = RANGE_ABOVE(0), .required = true,
     .meaning = "Faces normal . x <= offset, one for every normal; the origin lies inside."},
    {"shape", "length", VALUE_NUMBER, FORM(length), .only = "smooth_polytope", .unit = "m",
     .fallback = "(the largest offset)", .range = RANGE_BETWEEN(1e-6, 1e6), .meaning = "Length scale of sharpness."},
    {"shape", "points", VALUE_POINTS, AT(SceneShapeForm, points), .only = "oriented_points", .unit = "m",
     .required = true, .meaning = "Points of a surface."},
    {"shape", "radius", VALUE_NUMBER, AT(SceneShapeForm, shape.radius), .only = "oriented_points", .unit = "m",
     .range = RANGE_ABOVE(0), .required = true, .meaning = "Radius of influence of a point."},
    {"shape", "of", VALUE_SHAPES, AT(SceneShapeForm, of), .only = "union|subtraction", .required = true,
     .meaning = "Smooth shapes, each with a position and a rotation. A subtraction has two; the second is removed from "
                "the first."},
    {"shape", "smoothing", VALUE_NUMBER, AT(SceneShapeForm, shape.smoothing), .only = "union|subtraction", .unit = "m",
     .range = RANGE_ABOVE(0), .required = true, .meaning = "Length over which one surface blends into the other."},
    {"shape", "resolution", VALUE_INTEGER, AT(SceneShapeForm, shape.resolution), .only = SMOOTH, .fallback = "3",
     .range = RANGE_BETWEEN(0, 5),
     .meaning = "Resolution of the polyhedron for pictures, files and contact laws of polyhedra: 12, 42, 162, 642, "
                "2562, 10242 points of a convex shape."},

    /* ---------------------------------------------------------------- decompose */
    {"decompose", "max_hulls", VALUE_INTEGER, AT(DecomposeForm, options.max_hulls), .fallback = "16",
     .range = RANGE_BETWEEN(1, 10000), .meaning = "Largest number of hulls."},
    {"decompose", "max_vertices", VALUE_INTEGER, AT(DecomposeForm, options.max_vertices), .fallback = "64",
     .range = RANGE_BETWEEN(8, 1000000), .meaning = "Largest number of vertices of a hull."},
    {"decompose", "error", VALUE_NUMBER, AT(DecomposeForm, options.error), .fallback = "1e-3", .range = RANGE_ABOVE(0),
     .meaning = "The search ends when the hulls' excess volume is below this fraction of the mesh's volume."},
    {"decompose", "tolerance", VALUE_NUMBER, AT(DecomposeForm, options.tolerance), .unit = "m", .fallback = "(none)",
     .range = RANGE_ABOVE(0),
     .meaning = "Use the fewest hulls that extend at most this far beyond the mesh. max_hulls is then 256 by default."},
    {"decompose", "resolution", VALUE_INTEGER, AT(DecomposeForm, options.resolution), .fallback = "1200",
     .range = RANGE_BETWEEN(1, 10000000),
     .meaning = "Number of triangles of the coarse copy on which cutting planes are searched."},
    {"decompose", "grid", VALUE_INTEGERS, AT(DecomposeForm, grid), .fallback = "(a search)",
     .range = RANGE_BETWEEN(1, 1000),
     .meaning = "Three counts. The bounding box of the mesh is cut into equal blocks along x, y, z, instead of a "
                "search. Neighbours share corners."},
    {"decompose", "tie", VALUE_CHOICE, AT(DecomposeForm, tie), .of = "corners|vertex|none", .fallback = "corners",
     .meaning =
         "Vertices of neighbouring grid blocks that stay together in a design. corners: all shared corners, so no hole "
         "can open through the solid. vertex: one vertex in the middle of the common face, so the blocks may separate "
         "around this vertex. none: no vertices."},
    {"decompose", "symmetry", VALUE_CHOICE, AT(DecomposeForm, symmetry), .of = SYMMETRY_WORDS, .fallback = "auto",
     .meaning = "Mirror planes that the hulls keep. auto: the mirror planes of the mesh. none: no mirror planes. "
                "Letters: the mirror planes normal to these axes."},
    {"decompose", "inside", VALUE_BOOL, AT(DecomposeForm, options.inside), .fallback = "false",
     .meaning = "The hulls lie inside the mesh instead of covering it. Not with a grid."},

    /* ---------------------------------------------------------------- pose: part of link, joint and placed shape */
    {"pose", "position", VALUE_VECTOR, AT(PoseForm, position), .unit = "m", .fallback = "[0, 0, 0]",
     .meaning = "Origin."},
    {"pose", "rotation", VALUE_QUATERNION, AT(PoseForm, rotation), .fallback = "[1, 0, 0, 0]", .group = "rotation",
     .meaning = "Unit quaternion w, x, y, z."},
    {"pose", "rotation_vector", VALUE_VECTOR, AT(PoseForm, rotation_vector), .unit = "rad", .group = "rotation",
     .meaning = "Axis times angle, instead of rotation."},
    {"pose", "rpy", VALUE_VECTOR, AT(PoseForm, rpy), .unit = "rad", .group = "rotation",
     .meaning = "Roll, pitch, yaw about the fixed axes x, y, z as in URDF, instead of rotation."},

    /* ---------------------------------------------------------------- placed shape */
    {"shape_use", "shape", VALUE_TEXT, AT(ShapeUseForm, name),
     .meaning = "Name of a shape. Alternatively, the item has the keys of the shape. In a repeat the name may contain "
                "{expressions}."},

    /* ---------------------------------------------------------------- link */
    {"link", "name", VALUE_TEXT, AT(LinkForm, name), .required = true,
     .meaning = "Unique name. In a repeat the name may contain {expressions}."},
    {"link", "parent", VALUE_TEXT, AT(LinkForm, parent), .fallback = "(the world)", .nullable = true,
     .meaning = "Parent link. The parent must precede this link in the list."},
    {"link", "joint", VALUE_OBJECT, AT(LinkForm, joint), .of = "joint", .fallback = "(free, for a link without parent)",
     .meaning = "Joint between the link and its parent."},
    {"link", "fixed", VALUE_BOOL, AT(LinkForm, fixed), .fallback = "false",
     .meaning = "Short for joint: {type: fixed}."},
    {"link", "shapes", VALUE_SHAPES, AT(LinkForm, shapes), .group = "shapes", .nullable = true,
     .meaning = "Shapes whose union is the link. Overlaps count twice in a mass by density."},
    {"link", "shape", VALUE_SHAPE, AT(LinkForm, shape), .group = "shapes",
     .meaning = "Short for shapes with one item."},
    {"link", "mass", VALUE_NUMBER, AT(LinkForm, mass), .unit = "kg", .range = RANGE_ABOVE(0), .group = "mass",
     .meaning =
         "Total mass. The mass is uniform over the volume of the shapes unless mass_model has another value. A link "
         "that moves needs mass or density."},
    {"link", "density", VALUE_NUMBER, AT(LinkForm, density), .unit = "kg/m^3", .range = RANGE_ABOVE(0), .group = "mass",
     .meaning = "Mass per volume of the convex pieces."},
    {"link", "mass_model", VALUE_CHOICE, AT(LinkForm, mass_model), .of = "vertices|uniform|given",
     .fallback = "(uniform; given where inertia is; vertices where the shapes enclose no volume)",
     .meaning = "uniform: constant density over the volume. vertices: equal lumped masses at the vertices. The inertia "
                "of a box is then three times the inertia of a solid box. given: the keys center and inertia."},
    {"link", "center", VALUE_VECTOR, AT(LinkForm, center), .unit = "m", .fallback = "[0, 0, 0]",
     .meaning = "Centre of mass in the link's frame, for mass_model given."},
    {"link", "inertia", VALUE_NUMBERS, AT(LinkForm, inertia), .unit = "kg m^2",
     .meaning = "Inertia about the centre of mass, [ixx, iyy, izz, ixy, ixz, iyz] in the link's axes."},
    {"link", "gravity_compensation", VALUE_NUMBER, AT(LinkForm, gravity_compensation), .range = RANGE_AT_LEAST(0),
     .fallback = "(the parent's, 0 for a link without parent)",
     .meaning = "Fraction of the weight that is compensated. The value applies to the link and to all descendants "
                "without their own value. 1 at the base carries a whole robot."},
    {"link", "collide", VALUE_BOOL, AT(LinkForm, collide), .fallback = "true",
     .meaning = "false: the link has no contact."},
    {"link", "friction", VALUE_PER_DOF, AT(LinkForm, friction), .fallback = "(the other link's, else contact.friction)",
     .range = RANGE_BETWEEN(0, 100),
     .meaning = "Coulomb coefficient. If both links have a coefficient, the square root of the product applies. If one "
                "has it, that value applies. Otherwise the value in `contact` applies. contact.pairs overrides this "
                "rule. Two numbers, [along, across], are the coefficients along and across friction_axis (skates, "
                "snakes, omni wheels). The same rule combines each number. If both links have a friction_axis, the "
                "coefficient across applies in all directions. Two numbers are only for the law separating_plane."},
    {"link", "friction_axis", VALUE_VECTOR, AT(LinkForm, friction_axis), .fallback = "(none)",
     .meaning = "Direction of the first of two numbers of friction, link axes, of any length but 0. This axis is "
                "projected onto the contact plane without normalization. If the axis leans out of the plane, friction "
                "changes smoothly to the coefficient across. If the axis is normal to the plane, the coefficient "
                "across applies in all directions."},
    {"link", "restitution", VALUE_NUMBER, AT(LinkForm, material.value[MATERIAL_RESTITUTION]),
     .fallback = "(the other link's, else contact.restitution)", .range = RANGE_BETWEEN(0, 1),
     .meaning = "Coefficient of restitution, combined by the rule of `friction`."},
    {"link", "rolling", VALUE_NUMBER, AT(LinkForm, material.value[MATERIAL_ROLLING]), .unit = "m",
     .fallback = "(the other link's, else contact.rolling)", .range = RANGE_AT_LEAST(0),
     .meaning = "Rolling friction, combined by the rule of `friction`."},
    {"link", "spinning", VALUE_NUMBER, AT(LinkForm, material.value[MATERIAL_SPINNING]), .unit = "m",
     .fallback = "(the other link's, else contact.spinning)", .range = RANGE_AT_LEAST(0),
     .meaning = "Spinning friction, combined by the rule of `friction`."},
    {"link", "static_friction", VALUE_NUMBER, AT(LinkForm, material.value[MATERIAL_STATIC_FRICTION]),
     .fallback = "(friction of this link, else the other link's, else contact.static_friction)",
     .range = RANGE_BETWEEN(0, 100),
     .meaning =
         "Coulomb coefficient at rest, at least `friction`. If both links have a coefficient, the square root of the "
         "product applies. If one has it, that value applies. Otherwise the value in `contact` applies. At the slip v "
         "friction is friction + (static_friction - friction) exp(-(v / stribeck_speed)^2). Only for the law "
         "separating_plane."},
    {"link", "stribeck_speed", VALUE_NUMBER, AT(LinkForm, material.value[MATERIAL_STRIBECK_SPEED]), .unit = "m/s",
     .fallback = "(the other link's, else contact.stribeck_speed)", .range = RANGE_ABOVE(0),
     .meaning = "Slip over which `static_friction` falls to `friction`, combined by the rule of `friction`."},
    {"link", "groups", VALUE_NAMES, AT(LinkForm, groups), .nullable = true,
     .meaning = "Names that contact.exclude and contact.pairs may use for this link."},
    {"link", "color", VALUE_COLOR, AT(LinkForm, color), .fallback = "(from a palette)",
     .meaning = "Colour in pictures, sRGB."},
    {"link", "ties", VALUE_TABLE, AT(LinkForm, ties), .fallback = "(none)",
     .meaning =
         "Pairs of coincident vertices of two lists of points, [shape, vertex, shape, vertex], counted from 0. `sdrs "
         "optimize` writes these pairs. A later task with `connect: keep` uses the pairs."},
    {"link", "repeat", VALUE_OBJECT, AT(LinkForm, repeat), .of = "repeat", .nullable = true,
     .meaning = "Many links from this one."},

    /* ---------------------------------------------------------------- joint */
    {"joint", "type", VALUE_CHOICE, AT(JointForm, type), .of = JOINT_TYPE_NAMES(ANY), .required = true,
     .meaning = &(JOINT_TYPE_ROWS(FREEDOM) " degrees of freedom.")[2]},
    {"joint", "name", VALUE_TEXT, AT(JointForm, name), .fallback = "(none)",
     .meaning = "Name of the joint in URDF files. `sdrs import` keeps the file's name, and `sdrs export` writes it."},
    {"joint", "axis", VALUE_VECTOR, AT(JointForm, axis), .only = JOINT_TYPE_NAMES(AXIS), .required = true,
     .meaning = "Direction in the joint's frame, of any length but zero."},
    {"joint", "axes", VALUE_TABLE, AT(JointForm, axes), .only = JOINT_TYPE_NAMES(AXES), .required = true,
     .meaning = "Two directions in the joint's frame, the one nearer the parent first."},
    {"joint", "free_axes", VALUE_AXES, AT(JointForm, free_axes), .only = JOINT_TYPE_NAMES(FREE_AXES),
     .fallback = "[x, y, z, rx, ry, rz]",
     .meaning = "The translations x, y, z and rotations rx, ry, rz of the joint's frame that are free."},
    JOINT_PARAMETER_ROWS(NUMBER_ROW){
        "joint", "limits", VALUE_LIMITS, AT(JointForm, limits), .only = MOVING_JOINTS, .unit = "m or rad",
        .nullable = true, .fallback = "(none)",
        .meaning =
            "[low, high], null for an open end. With several degrees of freedom: a list with one pair or null for "
            "each. A ball joint has [null, high] for its whole angle."},
    {"joint", "swing", VALUE_NUMBER, AT(JointForm, swing), .only = "ball", .unit = "rad", .fallback = "(no limit)",
     .range = RANGE_ABOVE(0),
     .meaning = "Largest angle between `twist_axis` and its direction at zero coordinates (a cone), below pi. The "
                "limit acts like `limits`."},
    {"joint", "twist", VALUE_LIMITS, AT(JointForm, twist), .only = "ball", .unit = "rad", .nullable = true,
     .fallback = "(no limit)",
     .meaning = "[low, high], null for an open end, between -pi and pi. The twist is the rotation about `twist_axis` "
                "that remains without the swing. This key needs `swing`, because the twist is undefined at a swing of "
                "pi."},
    {"joint", "twist_axis", VALUE_VECTOR, AT(JointForm, twist_axis), .only = "ball", .fallback = "[0, 0, 1]",
     .meaning = "Axis of swing and twist, in the frames of both joint and link, of any length but zero."},
    {"joint", "limit_law", VALUE_CHOICE, AT(JointForm, limit_law), .only = MOVING_JOINTS, .of = "barrier|penalty",
     .fallback = "barrier",
     .meaning = "barrier: the coordinate never exceeds the limit. penalty: a spring acts beyond the limit. An impact "
                "at the limit follows `limit_restitution`."},
    {"joint", "limit_stiffness", VALUE_NUMBER, AT(JointForm, limit_stiffness), .only = MOVING_JOINTS,
     .unit = "barrier: J; penalty: N/m or N m/rad", .fallback = "(1 for a barrier, 1000 for a penalty)",
     .range = RANGE_ABOVE(0), .meaning = "Stiffness of the limit."},
    {"joint", "limit_margin", VALUE_NUMBER, AT(JointForm, limit_margin), .only = MOVING_JOINTS, .unit = "m or rad",
     .fallback = "(0.05, at most a hundredth of the range)", .range = RANGE_ABOVE(0),
     .meaning = "Distance from the limit at which its force begins to act."},
    {"joint", "limit_restitution", VALUE_NUMBER, AT(JointForm, limit_restitution), .only = MOVING_JOINTS,
     .fallback = "0", .range = RANGE_BETWEEN(0, 1),
     .meaning =
         "Coefficient of restitution of the limit. 0 is exact for every time step. With `limit_law: barrier` a value "
         "above 0 is also exact, at speeds above 0.01 m/s or rad/s. Below 0.005 m/s or rad/s the restitution is 0. The "
         "impact is at 0.995 `limit_margin` before the limit. With `limit_law: penalty` the value is an upper bound. "
         "The joint reaches nine tenths of the value with 300 steps within `limit_margin`. With 30 steps the joint "
         "reaches half of the value, with one step almost nothing. `sdrs simulate` warns if fewer than 300 steps fall "
         "within `limit_margin`. For a ball joint with a barrier, the value applies to the rates of the whole angle, "
         "the swing and the twist. For a ball joint with a penalty, the limit returns all energy."},
    {"joint", "damping", VALUE_PER_DOF, AT(JointForm, damping), .only = MOVING_JOINTS, .unit = "N s/m or N m s/rad",
     .fallback = "0", .range = RANGE_AT_LEAST(0),
     .meaning = "Viscous damping, one number or one per degree of freedom."},
    {"joint", "stiffness", VALUE_PER_DOF, AT(JointForm, stiffness), .only = MOVING_JOINTS, .unit = "N/m or N m/rad",
     .fallback = "0", .range = RANGE_AT_LEAST(0), .meaning = "Spring towards `rest`."},
    {"joint", "rest", VALUE_PER_DOF, AT(JointForm, rest), .only = MOVING_JOINTS, .unit = "m or rad", .fallback = "0",
     .meaning = "Rest position of the spring; a rotation vector for three rotations."},
    {"joint", "friction", VALUE_PER_DOF, AT(JointForm, friction), .only = MOVING_JOINTS, .unit = "N or N m",
     .fallback = "0", .range = RANGE_AT_LEAST(0),
     .meaning = "Dry (Coulomb) friction, independent of the load. Three rotations have one value, which acts against "
                "the magnitude of the angular velocity."},
    {"joint", "friction_speed", VALUE_NUMBER, AT(JointForm, friction_speed), .only = MOVING_JOINTS,
     .unit = "m/s or rad/s", .fallback = "1e-4", .range = RANGE_ABOVE(0),
     .meaning = "Smoothing width. At the rate r the friction is r / sqrt(r^2 + friction_speed^2) of its full value. A "
                "joint held by friction therefore creeps. The rate is 0.58 friction_speed under half of the full "
                "value, and 2.06 friction_speed under 0.9 of the full value."},
    {"joint", "static_friction", VALUE_PER_DOF, AT(JointForm, static_friction), .only = MOVING_JOINTS,
     .unit = "N or N m", .fallback = "0", .range = RANGE_AT_LEAST(0),
     .meaning = "Dry friction at rest, at least `friction`. 0: `friction` applies at any rate. At the rate r the "
                "friction is friction + (static_friction - friction) exp(-(r / stribeck_speed)^2). Not for three "
                "rotations."},
    {"joint", "stribeck_speed", VALUE_NUMBER, AT(JointForm, stribeck_speed), .only = MOVING_JOINTS,
     .unit = "m/s or rad/s", .fallback = "0.01", .range = RANGE_ABOVE(0),
     .meaning = "Rate over which `static_friction` decreases to `friction`; at least `friction_speed`."},
    {"joint", "armature", VALUE_PER_DOF, AT(JointForm, armature), .only = MOVING_JOINTS, .unit = "kg or kg m^2",
     .fallback = "0", .range = RANGE_AT_LEAST(0),
     .meaning = "Additional inertia of this coordinate: the inertia of a rotor times the square of the gear ratio. Not "
                "for three rotations."},
    {"joint", "velocity_limit", VALUE_PER_DOF, AT(JointForm, velocity_limit), .only = MOVING_JOINTS,
     .unit = "m/s or rad/s", .fallback = "0", .range = RANGE_AT_LEAST(0),
     .meaning = "Rated speed (<limit velocity> of URDF). 0: no rated speed. This speed is not enforced. `sdrs "
                "simulate` reports joints that exceed it."},

    /* ---------------------------------------------------------------- repeat */
    {"repeat", "count", VALUE_COUNT, AT(RepeatForm, count), .required = true, .range = RANGE_BETWEEN(0, REPEAT_MAX),
     .meaning = "Number of items, or [nx, ny, nz] for a grid. The last index runs fastest."},
    {"repeat", "start", VALUE_INTEGER, AT(RepeatForm, start), .fallback = "0",
     .range = RANGE_BETWEEN(-1000000, 1000000),
     .meaning = "First value of the indices i, j, k in {expressions}; n counts all items from 0."},
    {"repeat", "first", VALUE_OBJECT, AT(RepeatForm, first), .of = "first_link",
     .meaning = "Keys that are different for the first item."},
    {"repeat", "position", VALUE_STEPS, AT(RepeatForm, position), .unit = "m",
     .meaning = "Increment of the joint's position from item to item. For a grid: one vector per axis, or one vector "
                "whose x, y, z are the increments of the three axes."},
    {"repeat", "rotation_vector", VALUE_STEPS, AT(RepeatForm, rotation_vector), .unit = "rad",
     .meaning = "Increment of the joint's rotation from item to item, about axes parallel to the parent's."},
    {"repeat", "around", VALUE_VECTOR, AT(RepeatForm, around), .unit = "m", .fallback = "(the joint turns in place)",
     .meaning =
         "Point of the parent's frame around which rotation_vector moves the joint, for instance for a ring of legs."},

    {"repeat_controller", "count", VALUE_COUNT, AT(RepeatForm, count), .required = true,
     .range = RANGE_BETWEEN(0, REPEAT_MAX), .meaning = "As for links."},
    {"repeat_controller", "start", VALUE_INTEGER, AT(RepeatForm, start), .fallback = "0",
     .range = RANGE_BETWEEN(-1000000, 1000000), .meaning = "As for links."},
    {"repeat_controller", "first", VALUE_OBJECT, AT(RepeatForm, first), .of = "first_controller",
     .meaning = "Keys that are different for the first item."},

    {"repeat_tendon_point", "count", VALUE_COUNT, AT(RepeatForm, count), .required = true,
     .range = RANGE_BETWEEN(0, REPEAT_MAX), .meaning = "As for links."},
    {"repeat_tendon_point", "start", VALUE_INTEGER, AT(RepeatForm, start), .fallback = "0",
     .range = RANGE_BETWEEN(-1000000, 1000000), .meaning = "As for links."},
    {"repeat_load", "count", VALUE_COUNT, AT(RepeatForm, count), .required = true,
     .range = RANGE_BETWEEN(0, REPEAT_MAX), .meaning = "As for links."},
    {"repeat_load", "start", VALUE_INTEGER, AT(RepeatForm, start), .fallback = "0",
     .range = RANGE_BETWEEN(-1000000, 1000000), .meaning = "As for links."},
    {"repeat_load", "first", VALUE_OBJECT, AT(RepeatForm, first), .of = "first_load",
     .meaning = "Keys that are different for the first item."},

    {"repeat_initial", "count", VALUE_COUNT, AT(RepeatForm, count), .required = true,
     .range = RANGE_BETWEEN(0, REPEAT_MAX), .meaning = "As for links."},
    {"repeat_initial", "start", VALUE_INTEGER, AT(RepeatForm, start), .fallback = "0",
     .range = RANGE_BETWEEN(-1000000, 1000000), .meaning = "As for links."},
    {"repeat_initial", "first", VALUE_OBJECT, AT(RepeatForm, first), .of = "first_initial",
     .meaning = "Keys that are different for the first item."},
    {"repeat_initial", "coordinates", VALUE_INCREMENTS, AT(RepeatForm, coordinates), .unit = "m or rad",
     .meaning = "Increment of the coordinates from item to item. For a grid: also a list of such lists, one per axis."},
    {"repeat_initial", "velocities", VALUE_INCREMENTS, AT(RepeatForm, velocities), .unit = "m/s or rad/s",
     .meaning = "Increment of the velocities from item to item. For a grid: also a list of such lists, one per axis."},

    /* ---------------------------------------------------------------- controller */
    {"controller", "link", VALUE_TEXT, AT(ControllerForm, link), .required = true,
     .meaning = "The link whose joint is driven."},
    {"controller", "type", VALUE_CHOICE, AT(ControllerForm, controller.type), .of = "pd|prescribed|torque|velocity",
     .required = true,
     .meaning = "pd: a spring and a damper act towards the target and its rate. prescribed: the joint follows the "
                "target exactly, at any force. torque: the target is the force or torque. velocity: the target is the "
                "rate, and a damper acts towards this rate."},
    {"controller", "position_gain", VALUE_PER_DOF, AT(ControllerForm, position_gain), .only = "pd",
     .unit = "N/m or N m/rad", .range = RANGE_AT_LEAST(0), .required = true,
     .meaning = "Stiffness: the force is position_gain times (target - coordinate)."},
    {"controller", "damping_gain", VALUE_PER_DOF, AT(ControllerForm, damping_gain), .only = "velocity",
     .unit = "N s/m or N m s/rad", .range = RANGE_ABOVE(0), .required = true,
     .meaning = "Damping: the force is damping_gain times (target - rate), independent of dt."},
    {"controller", "damping_gain", VALUE_PER_DOF, AT(ControllerForm, damping_gain), .only = "pd|torque",
     .unit = "N s/m or N m s/rad", .fallback = "0", .range = RANGE_AT_LEAST(0),
     .meaning = "Damping, independent of dt. pd: the force is damping_gain times (target rate - rate). torque: the "
                "force is target - damping_gain times rate, so the no-load speed is target / damping_gain."},
    {"controller", "velocity_gain", VALUE_PER_DOF, AT(ControllerForm, velocity_gain), .only = "pd",
     .unit = "N s^2/m or N m s^2/rad", .fallback = "0", .range = RANGE_AT_LEAST(0),
     .meaning = "Damping as in the SDRS paper. The energy of the step contains k_d/2 |target rate - rate|^2. The force "
                "is k_d/dt times the rate error, with dt of a substep. The damping therefore depends on dt. Use "
                "damping_gain for a damping that does not depend on dt."},
    {"controller", "max_force", VALUE_PER_DOF, AT(ControllerForm, max_force), .only = "pd|torque|velocity",
     .unit = "N or N m", .fallback = "(no limit)", .range = RANGE_ABOVE(0),
     .meaning =
         "Largest force or torque of the drive. The drive delivers demands up to 0.95 max_force exactly. Demands above "
         "1.05 max_force give max_force. The transition is smooth. For three rotations max_force limits the magnitude "
         "of the torque."},
    {"controller", "limit_width", VALUE_NUMBER, AT(ControllerForm, controller.limit_width),
     .only = "pd|torque|velocity", .fallback = "0.05", .range = RANGE_BETWEEN(1e-4, 0.5),
     .meaning = "Half the width of the smooth transition at max_force, relative to max_force. A smaller value is "
                "closer to a sharp limit. At a demand of max_force the drive gives (1 - 0.16 limit_width) max_force."},
    {"controller", "target", VALUE_SIGNAL, AT(ControllerForm, target), .only = "pd|torque|velocity",
     .unit = "m or rad; m/s or rad/s; N or N m", .required = true,
     .meaning = "Target position (pd), rate (velocity) or force (torque), with one channel per degree of freedom. The "
                "target of three rotations is a rotation vector. For velocity it is the angular velocity, for torque "
                "the torque in the link's axes."},
    {"controller", "target", VALUE_SIGNAL, AT(ControllerForm, target), .only = "prescribed", .unit = "m or rad",
     .group = "course",
     .meaning = "Joint coordinates over time, one channel per degree of freedom. A free link has x, y, z relative to "
                "its position, and a rotation vector."},
    {"controller", "velocity", VALUE_SIGNAL, AT(ControllerForm, velocity), .only = "prescribed", .unit = "m/s or rad/s",
     .group = "course",
     .meaning = "Joint rates over time, instead of target. The coordinates start at zero and are the exact integral of "
                "the rates. Splines are not allowed. For three rotations the value is the rate of the rotation vector. "
                "This rate is equal to the angular velocity if the axis is constant."},
    {"controller", "feedback", VALUE_OBJECT, AT(ControllerForm, feedback), .of = "feedback",
     .only = "pd|torque|velocity", .nullable = true,
     .meaning =
         "Feedback that is added to the target: a matrix times measurements of the state, or a small neural network."},
    {"controller", "delay", VALUE_NUMBER, AT(ControllerForm, controller.delay), .only = "pd|torque|velocity",
     .unit = "s", .fallback = "0", .range = RANGE_BETWEEN(0, 1000),
     .meaning = "Delay of target and measurements. The delay need not be a multiple of the time step. Measurements "
                "between two states are interpolated linearly. Before the start target and measurements have their "
                "initial values."},
    {"controller", "repeat", VALUE_OBJECT, AT(ControllerForm, repeat), .of = "repeat_controller", .nullable = true,
     .meaning = "Many controllers from this one."},

    /* ---------------------------------------------------------------- feedback */
    {"feedback", "type", VALUE_CHOICE, AT(FeedbackForm, type), .of = "matrix|mlp", .fallback = "matrix",
     .meaning = "matrix: linear feedback. mlp: a small neural network with tanh hidden layers and linear outputs."},
    {"feedback", "measures", VALUE_NAMES, AT(FeedbackForm, measures), .required = true, .unless = "file",
     .meaning = "Measurements, named as above. An mlp has at most 128 measurements."},
    {"feedback", "matrix", VALUE_TABLE, AT(FeedbackForm, matrix), .only = "matrix", .fallback = "(zero)",
     .unit = "unit of the target per unit of the measurement",
     .meaning = "One row per degree of freedom, one number per measurement; a flat list for one degree of freedom."},
    {"feedback", "layers", VALUE_INTEGERS, AT(FeedbackForm, layers), .only = "mlp", .fallback = "[8]",
     .range = RANGE_BETWEEN(1, 128), .meaning = "Neurons of each hidden layer, at most four layers."},
    {"feedback", "scale", VALUE_NUMBER, AT(FeedbackForm, scale), .only = "mlp", .fallback = "1",
     .unit = "unit of the target", .range = RANGE_ABOVE(0),
     .meaning =
         "Factor on the outputs. Choose about the largest force or angle wanted, so that weights of about 1 suffice."},
    {"feedback", "weights", VALUE_SERIES, AT(FeedbackForm, weights), .only = "mlp", .fallback = "(drawn)",
     .meaning = "Weights layer by layer, with the output layer last. Each layer has the weights of every neuron, then "
                "the biases. By default the output layer is zero, so the feedback is zero. The other layers are "
                "random, uniform within 1 / sqrt(inputs of a neuron)."},
    {"feedback", "seed", VALUE_INTEGER, AT(FeedbackForm, seed), .only = "mlp", .fallback = "1",
     .range = RANGE_BETWEEN(0, 2147483647), .meaning = "Seed of random weights."},
    {"feedback", "file", VALUE_TEXT, AT(FeedbackForm, file),
     .meaning = "JSON file with these keys, as written by `sdrs export SCENE -o policy.json`, instead of all other "
                "keys. Relative to the scene file."},

    /* ---------------------------------------------------------------- load */
    {"load", "link", VALUE_TEXT, AT(LoadForm, link), .required = true, .meaning = "Link on which the load acts."},
    {"load", "force", VALUE_SIGNAL, AT(LoadForm, force), .unit = "N", .fallback = "(none)",
     .meaning = "Three numbers, or a signal of three channels."},
    {"load", "torque", VALUE_SIGNAL, AT(LoadForm, torque), .unit = "N m", .fallback = "(none)",
     .meaning = "Torque: three numbers, or a signal of three channels. The torque is added to the moment of the force "
                "about the centre of mass."},
    {"load", "point", VALUE_VECTOR, AT(LoadForm, point), .unit = "m", .fallback = "(the centre of mass)",
     .meaning = "Point of the link, in its frame, at which the force acts."},
    {"load", "axes", VALUE_CHOICE, AT(LoadForm, axes), .of = "world|link", .fallback = "world",
     .meaning = "world: components along the world's axes. link: components along the link's axes. The load then "
                "rotates with the link, as the thrust of a propeller does."},
    {"load", "field", VALUE_OBJECT, AT(LoadForm, field), .of = "field", .nullable = true,
     .meaning = "A force that acts at a distance, at `point`, instead of force and torque."},
    {"load", "repeat", VALUE_OBJECT, AT(LoadForm, repeat), .of = "repeat_load", .nullable = true,
     .meaning = "Many loads from this one."},

    /* ---------------------------------------------------------------- field */
    {"field", "type", VALUE_CHOICE, AT(FieldForm, type), .of = "point|dipole|uniform", .required = true,
     .meaning = "point: a central force. dipole: two magnets. uniform: a magnet in a uniform magnetic field."},
    {"field", "to", VALUE_TEXT, AT(FieldForm, to), .only = "point|dipole", .fallback = "(world)",
     .meaning = "The other link, which receives the opposite force, or world. In a repeat the name may contain "
                "{expressions}."},
    {"field", "at", VALUE_VECTOR, AT(FieldForm, at), .only = "point|dipole", .unit = "m",
     .fallback = "(the other's centre of mass; the world's origin)",
     .meaning = "Point of the other link at which the force acts, in the frame of the other link."},
    {"field", "strength", VALUE_SIGNAL, AT(FieldForm, strength), .required = true, .unit = "N m^power or A m^2",
     .meaning = "A number, or a signal of one channel. point: positive attracts, negative repels. dipole, uniform: the "
                "magnetic moment of the link's magnet."},
    {"field", "power", VALUE_NUMBER, AT(FieldForm, field.power), .only = "point", .fallback = "2",
     .range = RANGE_BETWEEN(-10, 10),
     .meaning = "Exponent of the distance. The force is strength / distance^power. 2 is gravity, -1 a spring with zero "
                "rest length."},
    {"field", "softening", VALUE_NUMBER, AT(FieldForm, field.softening), .only = "point", .unit = "m", .fallback = "0",
     .range = RANGE_AT_LEAST(0),
     .meaning = "Distance below which the force decreases to zero. The force at the distance d is strength d / (d^2 + "
                "softening^2)^((power + 1)/2)."},
    {"field", "axis", VALUE_VECTOR, AT(FieldForm, axis), .only = "dipole|uniform", .required = true,
     .meaning = "Direction of the link's magnetic moment, in its frame; its length does not matter."},
    {"field", "moment", VALUE_VECTOR, AT(FieldForm, moment), .only = "dipole", .unit = "A m^2", .required = true,
     .meaning = "Magnetic moment of the other magnet, in its link's frame."},
    {"field", "flux_density", VALUE_VECTOR, AT(FieldForm, flux_density), .only = "uniform", .unit = "T",
     .required = true, .meaning = "Flux density of the field, in the world's axes."},

    /* ---------------------------------------------------------------- tendon */
    {"tendon", "points", VALUE_LIST, AT(TendonForm, points), .of = "tendon_point", .group = "length",
     .meaning = "Two or more points. The tendon is fastened at the first and the last point. It runs without friction "
                "through the other points."},
    {"tendon", "joints", VALUE_LIST, AT(TendonForm, joints), .of = "coupling_term", .group = "length",
     .meaning =
         "Coordinates of joints, instead of points. The length is the sum of the coordinates, each times its ratio. "
         "This is a tendon over pulleys that are fixed to joints. For hinges the ratios are in m/rad. A ratio without "
         "unit makes the length an angle and the tension a torque."},
    {"tendon", "tension", VALUE_SIGNAL, AT(TendonForm, tension), .unit = "N", .fallback = "0",
     .meaning = "Tension that is independent of the length: a number, or a signal of one channel."},
    {"tendon", "stiffness", VALUE_NUMBER, AT(TendonForm, tendon.stiffness), .unit = "N/m", .fallback = "0",
     .range = RANGE_AT_LEAST(0), .meaning = "Additional tension per metre of length beyond `rest_length`."},
    {"tendon", "rest_length", VALUE_NUMBER, AT(TendonForm, rest_length), .unit = "m", .fallback = "0",
     .range = RANGE_AT_LEAST(0), .meaning = "Length up to which the elastic tension is zero. Requires `stiffness`."},
    {"tendon", "eyelet", VALUE_NUMBER, AT(TendonForm, eyelet), .unit = "m",
     .fallback = "(1e-2 of the mean distance of its points from the origins of their links; points of the world count "
                 "from their mean)",
     .range = RANGE_AT_LEAST(0),
     .meaning = "Distance of two neighbouring points below which their pull decreases. Without this distance a tendon "
                "that draws two points together would have no equilibrium."},
    {"tendon", "wrap", VALUE_LIST, AT(TendonForm, wrap), .of = "tendon_wrap", .nullable = true,
     .meaning = "Pulleys and bones: solids that the tendon wraps around without friction."},
    {"tendon", "range", VALUE_LIMITS, AT(TendonForm, range), .unit = "m", .nullable = true,
     .meaning = "[low, high] of the length, null for an open end. Springs act beyond the limits, as for a joint with "
                "`limit_law: penalty`. Below the low limit the tendon pushes. Requires `range_stiffness`."},
    {"tendon", "range_stiffness", VALUE_NUMBER, AT(TendonForm, tendon.range_stiffness), .unit = "N/m",
     .range = RANGE_ABOVE(0), .fallback = "(none)", .meaning = "Stiffness of the limits of `range`."},
    {"tendon", "range_margin", VALUE_NUMBER, AT(TendonForm, tendon.range_margin), .unit = "m", .range = RANGE_ABOVE(0),
     .fallback = "(a hundredth of the range, or of its only end; at most 0.05)",
     .meaning = "Distance beyond a limit over which its stiffness rises from 0."},
    {"tendon", "range_damping", VALUE_NUMBER, AT(TendonForm, tendon.range_damping), .unit = "N s/m", .fallback = "0",
     .range = RANGE_AT_LEAST(0),
     .meaning = "Damping beyond the limits, in both directions. 2 sqrt(range_stiffness x mass) is the critical "
                "damping: the mass comes to rest at the limit without a rebound. With 0, time integration still damps "
                "the rebound: half of the height is lost if the spring acts for 16 steps, a sixth if it acts for 63."},
    {"tendon", "friction", VALUE_NUMBER, AT(TendonForm, tendon.friction), .unit = "N", .fallback = "0",
     .range = RANGE_AT_LEAST(0),
     .meaning = "Dry friction against changes of the length, independent of the tension. With `joints` over two "
                "pulleys the tendon is a belt that slips. The friction of a belt is 2 T tanh(mu angle / 2) "
                "(Euler-Eytelwein). T is the tension in both strands at rest, mu the coefficient, angle the smaller "
                "angle of wrap."},
    {"tendon", "friction_speed", VALUE_NUMBER, AT(TendonForm, tendon.friction_speed), .unit = "m/s", .fallback = "1e-4",
     .range = RANGE_ABOVE(0),
     .meaning = "Smoothing width of `friction`. At the rate r of the length the friction is r / sqrt(r^2 + "
                "friction_speed^2) of its full value. A belt creeps at 0.58 friction_speed under half of the full "
                "value."},
    {"tendon_wrap", "type", VALUE_CHOICE, AT(TendonWrapForm, wrap.type), .of = "cylinder|sphere", .required = true,
     .meaning = "Kind of the solid. A cylinder is infinitely long. The tendon runs on a cylinder as a helix."},
    {"tendon_wrap", "link", VALUE_TEXT, AT(TendonWrapForm, link), .fallback = "(world)",
     .meaning = "Link to which the solid is fixed, or world. The link needs no shape at this position."},
    {"tendon_wrap", "radius", VALUE_NUMBER, AT(TendonWrapForm, wrap.radius), .unit = "m", .required = true,
     .range = RANGE_ABOVE(0),
     .meaning = "Distance of the tendon's centre line from the axis of the cylinder or the centre of the sphere."},
    {"tendon_wrap", "position", VALUE_VECTOR, AT(TendonWrapForm, wrap.position), .unit = "m", .fallback = "[0, 0, 0]",
     .meaning = "The centre, or a point of the axis, in the link's frame."},
    {"tendon_wrap", "axis", VALUE_VECTOR, AT(TendonWrapForm, wrap.axis), .only = "cylinder", .fallback = "[0, 0, 1]",
     .meaning = "Axis of the cylinder in the link's frame; any length but 0."},
    {"tendon_wrap", "side", VALUE_VECTOR, AT(TendonWrapForm, side), .unit = "m", .fallback = "(the shorter way)",
     .meaning =
         "A point in the link's frame. The tendon passes the axis or centre on the side of this point, even if "
         "that path is longer. Give this point if the tendon may wrap half a circle or more. The path jumps where an "
         "end of the wrapped part crosses the ray from the axis that is opposite to this point, so place the "
         "point in the middle of the arc."},
    {"tendon_wrap", "after", VALUE_INTEGER, AT(TendonWrapForm, after), .fallback = "(its own number in `wrap`, from 0)",
     .range = RANGE_AT_LEAST(0),
     .meaning = "Number of the tendon's point, counted from 0, that precedes the solid on "
                "the path."},
    {"tendon_point", "link", VALUE_TEXT, AT(TendonPointForm, link), .fallback = "(world)",
     .meaning = "The link, or world. In a repeat the name may contain {expressions}."},
    {"tendon_point", "point", VALUE_VECTOR, AT(TendonPointForm, point), .unit = "m", .fallback = "[0, 0, 0]",
     .meaning = "The point in the link's frame."},
    {"tendon_point", "repeat", VALUE_OBJECT, AT(TendonPointForm, repeat), .of = "repeat_tendon_point", .nullable = true,
     .meaning = "Many points from this one, in their order."},

    /* ---------------------------------------------------------------- bushing */
    {"bushing", "a", VALUE_TEXT, AT(BushingForm, a), .required = true, .meaning = "A link."},
    {"bushing", "b", VALUE_TEXT, AT(BushingForm, b), .fallback = "(world)",
     .meaning = "Another link, of the same tree or of another, or world."},
    {"bushing", "frame_a", VALUE_OBJECT, AT(BushingForm, frame_a), .of = "bushing_frame",
     .fallback = "(the frame of a)", .meaning = "Pose of the bushing's frame on a, relative to the frame of a."},
    {"bushing", "frame_b", VALUE_OBJECT, AT(BushingForm, frame_b), .of = "bushing_frame", .required = true,
     .meaning = "Pose of the bushing's frame on b, relative to the frame of b, or to the world. The springs are at "
                "rest where both frames coincide."},
    {"bushing", "stiffness", VALUE_TABLE, AT(BushingForm, stiffness), .unit = "N/m, N m/rad", .required = true,
     .meaning = "Six numbers for x, y, z and the rotations about x, y, z, in the axes of frame_a. Alternatively, the "
                "rows of a symmetric 6 x 6 matrix without negative eigenvalues."},
    {"bushing", "damping", VALUE_TABLE, AT(BushingForm, damping), .unit = "N s/m, N m s/rad", .fallback = "(zero)",
     .meaning = "Damping of the rates: six numbers or the rows of a matrix, as for stiffness."},
    {"bushing", "preload", VALUE_NUMBERS, AT(BushingForm, preload), .unit = "N, N m", .fallback = "(zero)",
     .meaning = "Six numbers: force and torque on b where the frames coincide, in the axes of frame_a. A gas spring "
                "has a preload along its axis and a low stiffness."},

    /* ---------------------------------------------------------------- rod */
    {"rod", "name", VALUE_TEXT, AT(RodForm, name), .required = true,
     .meaning = "Name of the rod. Its links are called name_0, name_1 and so on, from the first point. The name is "
                "also a group of these links."},
    {"rod", "points", VALUE_TABLE, AT(RodForm, points), .unit = "m", .required = true,
     .meaning = "Two or more points of the axis, in the world at the start. The axis is straight between two points."},
    {"rod", "segments", VALUE_INTEGER, AT(RodForm, segments), .fallback = "(16, or one between two points)",
     .range = RANGE_BETWEEN(1, LINK_MAX),
     .meaning = "Number of links, at least one between two points. Errors decrease with the square of this number. A "
                "cantilever of n segments bends too far by the fraction 1/(2 n^2)."},
    {"rod", "radius", VALUE_NUMBER, AT(RodForm, radius), .unit = "m", .required = true, .range = RANGE_UP_TO(0, 1e9),
     .meaning = "Radius of the round, solid section."},
    {"rod", "young", VALUE_NUMBER, AT(RodForm, young), .unit = "Pa", .required = true, .range = RANGE_UP_TO(0, 1e15),
     .meaning =
         "Young's modulus. Steel has 2.1e11, nylon 3e9, rubber 1e6 to 1e8, silicone of soft fingers 1e5 to 1e6."},
    {"rod", "shear", VALUE_NUMBER, AT(RodForm, shear), .unit = "Pa", .fallback = "(young / 2.6)",
     .range = RANGE_UP_TO(0, 1e15), .meaning = "Shear modulus. The default corresponds to a Poisson's ratio of 0.3."},
    {"rod", "density", VALUE_NUMBER, AT(RodForm, density), .unit = "kg/m^3", .required = true,
     .range = RANGE_UP_TO(0, 1e6), .meaning = "Mass per volume. Steel has 7850, rubber 1100."},
    {"rod", "damping", VALUE_NUMBER, AT(RodForm, damping), .unit = "s", .fallback = "0", .range = RANGE_BETWEEN(0, 1e6),
     .meaning =
         "Internal damping over stiffness. An oscillation of w rad/s decays by the damping ratio w damping / 2."},
    {"rod", "rest", VALUE_CHOICE, AT(RodForm, rest), .of = "points|straight", .fallback = "points",
     .meaning = "Shape without stress. points: the polyline through the points. straight: straight and without twist."},
    {"rod", "from", VALUE_OBJECT, AT(RodForm, from), .of = "rod_end", .fallback = "(free)",
     .meaning = "Support of the end at the first point. {} clamps this end in the world."},
    {"rod", "to", VALUE_OBJECT, AT(RodForm, to), .of = "rod_end", .fallback = "(free)",
     .meaning = "Support of the end at the last point. {} clamps this end in the world."},
    {"rod", "friction", VALUE_NUMBER, AT(RodForm, friction), .fallback = "(as of links)",
     .range = RANGE_BETWEEN(0, 100), .meaning = "Coulomb coefficient of its links."},
    {"rod", "collide", VALUE_BOOL, AT(RodForm, collide), .fallback = "true",
     .meaning = "false: the rod has no contact."},
    {"rod", "color", VALUE_COLOR, AT(RodForm, color), .fallback = "(#c77b30)", .meaning = "Colour in pictures, sRGB."},
    {"rod_end", "link", VALUE_TEXT, AT(RodEndForm, link), .fallback = "(world)",
     .meaning = "Link to which the end is fastened at their poses at the start, or world."},
    {"rod_end", "type", VALUE_CHOICE, AT(RodEndForm, type), .of = "clamped|pinned", .fallback = "clamped",
     .meaning = "clamped: position and direction of the end are fixed in the link. pinned: the end rotates freely "
                "about the point."},

    /* ---------------------------------------------------------------- closure */
    {"closure", "type", VALUE_CHOICE, AT(ClosureForm, closure.type), .of = "weld|ball|hinge|slide|distance",
     .required = true,
     .meaning = "Kind of constraint. weld: no relative motion. ball: a common point. hinge: a common point and axis. "
                "slide: free displacement along an axis only. distance: a constant distance between a point of `a` and "
                "a point of `b`."},
    {"closure", "a", VALUE_TEXT, AT(ClosureForm, a), .required = true, .meaning = "A link."},
    {"closure", "b", VALUE_TEXT, AT(ClosureForm, b), .fallback = "(world)",
     .meaning = "Another link, of the same tree or of another, or world."},
    {"closure", "axes", VALUE_CHOICE, AT(ClosureForm, axes), .of = "world|link", .fallback = "world",
     .meaning = "Frame of `point` and `axis`: world (at the start), or link (frame of `a`, independent of the initial "
                "coordinates)."},
    {"closure", "point", VALUE_VECTOR, AT(ClosureForm, point), .only = "ball|hinge|distance", .unit = "m",
     .required = true, .meaning = "The common point of both links; for distance, the end on `a`."},
    {"closure", "point", VALUE_VECTOR, AT(ClosureForm, point), .only = "weld|slide", .unit = "m",
     .fallback = "(the origin of a's frame)",
     .meaning = "Point to which the reported force and torque of the closure refer."},
    {"closure", "axis", VALUE_VECTOR, AT(ClosureForm, axis), .only = "hinge|slide", .required = true,
     .meaning = "Direction, any length."},
    {"closure", "axis", VALUE_VECTOR, AT(ClosureForm, axis), .only = "distance", .fallback = "(towards b's frame)",
     .meaning = "Direction from the end on `a` to the end on `b`, at the distance `length`. By default the end on `b` "
                "is the origin of its frame."},
    {"closure", "length", VALUE_NUMBER, AT(ClosureForm, closure.length), .only = "distance", .unit = "m",
     .fallback = "(as far as the ends are apart)", .range = RANGE_ABOVE(0),
     .meaning = "Distance between the two ends."},
    {"closure", "break_force", VALUE_NUMBER, AT(ClosureForm, closure.break_force), .unit = "N", .fallback = "(none)",
     .range = RANGE_ABOVE(0),
     .meaning = "Force at which the closure breaks and stays open for the rest of the run. The closure opens one "
                "substep after its force exceeds this value. With `momentum` and springs, it opens after two substeps. "
                "Gradients include this time. The impulse of closing is ignored."},
    {"closure", "release_force", VALUE_NUMBER, AT(ClosureForm, closure.release_force), .unit = "N",
     .fallback = "(none)", .range = RANGE_ABOVE(0),
     .meaning = "Force at which the closure opens. Unlike with `break_force`, the closure may close again. With "
                "`within`, it closes when its points have been farther apart and approach again. With `active`, it "
                "closes when the signal has been below 1/2 and rises again. Requires `within` or `active`."},
    {"closure", "active", VALUE_SIGNAL, AT(ClosureForm, active), .fallback = "(always)",
     .meaning = "Signal that switches the closure on at values of 1/2 and more. Not for a distance. The closure closes "
                "at the current relative pose, so positions do not jump. The relative motion ends in one step, and "
                "momentum is conserved. A broken closure stays open. The links of the closure may have contact."},
    {"closure", "within", VALUE_NUMBER, AT(ClosureForm, closure.within), .unit = "m", .fallback = "(at any distance)",
     .range = RANGE_ABOVE(0),
     .meaning = "Distance of the points `near_a` and `near_b` below which the closure closes while `active` is 1/2 or "
                "more. By default `active` is always 1. Not for a distance. A substep ends at the time at which the "
                "points reach this distance. The closure holds until `active` falls below 1/2, or until its force "
                "exceeds `release_force` or `break_force`."},
    {"closure", "near_a", VALUE_VECTOR, AT(ClosureForm, closure.near[0]), .unit = "m",
     .fallback = "(the origin of a's frame)", .meaning = "Point of `a` for `within`, in the frame of `a`."},
    {"closure", "near_b", VALUE_VECTOR, AT(ClosureForm, closure.near[1]), .unit = "m",
     .fallback = "(the origin of b's frame)",
     .meaning = "Point of `b` for `within`, in the frame of `b`, or in the world if `b` is the world."},

    /* ---------------------------------------------------------------- coupling */
    {"coupling", "link", VALUE_TEXT, AT(CouplingForm, link), .required = true,
     .meaning = "Link whose joint is coupled. Its coordinate is ratio x coordinate of `of` + offset. With `terms`, its "
                "coordinate is the sum of all terms + offset. Forces are transmitted in both directions."},
    {"coupling", "coordinate", VALUE_TEXT, AT(CouplingForm, coordinate), .fallback = "(the only one)",
     .meaning = "Coordinate of the joint, by the name in joints.csv. Not for three rotations."},
    {"coupling", "of", VALUE_TEXT, AT(CouplingForm, of), .group = "of",
     .meaning = "Link whose joint coordinate is followed. The joint of this link must have one coordinate."},
    {"coupling", "ratio", VALUE_NUMBER, AT(CouplingForm, ratio), .unit = "1, m/rad or rad/m", .fallback = "1",
     .meaning =
         "Ratio. Gear: minus the ratio of the numbers of teeth. Rack: radius of the pinion. Screw: lead over 2 pi."},
    {"coupling", "terms", VALUE_LIST, AT(CouplingForm, terms), .of = "coupling_term", .group = "of",
     .meaning =
         "Several coordinates that the joint follows. Example: the carrier of a differential follows half of one side "
         "plus half of the other side."},
    {"coupling", "offset", VALUE_NUMBER, AT(CouplingForm, offset), .unit = "m or rad",
     .fallback = "(as they stand at the start)",
     .meaning = "Constant term. If given, it must agree with the initial coordinates."},
    {"coupling_term", "link", VALUE_TEXT, AT(CouplingTermForm, link), .required = true, .meaning = "A link."},
    {"coupling_term", "coordinate", VALUE_TEXT, AT(CouplingTermForm, coordinate), .fallback = "(the only one)",
     .meaning = "Coordinate of its joint."},
    {"coupling_term", "ratio", VALUE_NUMBER, AT(CouplingTermForm, ratio), .unit = "1, m/rad or rad/m", .fallback = "1",
     .meaning = "Factor in the sum."},

    /* ---------------------------------------------------------------- signal */
    {"signal", "type", VALUE_CHOICE, AT(SignalForm, type), .of = "constant|keyframes|spline|sines|sequence|csv",
     .required = true, .meaning = "Kind of signal."},
    {"signal", "value", VALUE_PER_DOF, AT(SignalForm, value), .only = "constant", .unit = "m, rad, N ...",
     .required = true, .meaning = "The value: one number, or one per channel."},
    {"signal", "times", VALUE_SERIES, AT(SignalForm, times), .only = "keyframes|spline", .unit = "s", .group = "times",
     .meaning = "Times of the knots, in increasing order. The value is constant before the first and after the last."},
    {"signal", "duration", VALUE_NUMBER, AT(SignalForm, duration), .only = "spline", .unit = "s",
     .range = RANGE_ABOVE(0), .group = "times",
     .meaning = "Time of the last of evenly spaced knots that begin at 0, instead of times."},
    {"signal", "interval", VALUE_NUMBER, AT(SignalForm, interval), .only = "sequence", .unit = "s",
     .range = RANGE_ABOVE(0), .required = true, .meaning = "Time between two rows of values."},
    {"signal", "values", VALUE_TABLE, AT(SignalForm, values), .only = "keyframes|spline|sequence",
     .unit = "m, rad, N ...", .required = true,
     .meaning = "One row per knot, with one number per channel. For one channel: a flat list. keyframes and sequence "
                "are interpolated linearly, spline by a natural cubic spline."},
    {"signal", "rows", VALUE_INTEGER, AT(SignalForm, rows), .only = "sequence", .range = RANGE_BETWEEN(1, 10000000),
     .fallback = "(those of values)", .meaning = "Total number of rows; the last row of values is repeated."},
    {"signal", "offset", VALUE_PER_DOF, AT(SignalForm, offset), .only = "sines", .unit = "m, rad, N ...",
     .fallback = "0", .meaning = "Mean value of the sines, one number or one per channel."},
    {"signal", "terms", VALUE_TERMS, AT(SignalForm, terms), .of = "sine", .only = "sines", .required = true,
     .meaning = "The sines to add: a list for one channel, or a list of such lists, one per channel."},
    {"signal", "ramp", VALUE_NUMBER, AT(SignalForm, ramp), .only = "sines", .unit = "s", .range = RANGE_AT_LEAST(0),
     .fallback = "0",
     .meaning = "Time over which the amplitudes rise from 0. The factor is 10 x^3 - 15 x^4 + 6 x^5 with x = t / ramp. "
                "Value and rate are continuous, so a gait starts without a jolt. 0: full amplitude from the start."},

    {"signal", "file", VALUE_TEXT, AT(SignalForm, file), .only = "csv", .required = true,
     .meaning = "CSV file with a header line, relative to the scene file."},
    {"signal", "time", VALUE_TEXT, AT(SignalForm, time), .only = "csv", .unit = "s", .fallback = "(time)",
     .meaning = "Name of the column of times, in increasing order. The value is constant before the first and after "
                "the last."},
    {"signal", "column", VALUE_TEXT, AT(SignalForm, column), .only = "csv", .group = "columns",
     .meaning = "Name of the column of values, for one channel."},
    {"signal", "columns", VALUE_NAMES, AT(SignalForm, columns), .only = "csv", .group = "columns",
     .meaning = "Names of the columns, one per channel. Three rotations have three columns of a rotation vector, or "
                "four of a quaternion w, x, y, z of any length but zero. With a quaternion, a free link has seven "
                "columns."},
    {"signal", "interpolation", VALUE_CHOICE, AT(SignalForm, interpolation), .only = "csv", .of = "linear|cubic",
     .fallback = "linear", .meaning = "Between rows: linear, as keyframes, or cubic, as a spline."},

    {"sine", "amplitude", VALUE_NUMBER, AT(SineForm, amplitude), .unit = "m, rad, N ...", .required = true,
     .meaning = "Amplitude of amplitude * sin(2 pi frequency t + phase)."},
    {"sine", "frequency", VALUE_NUMBER, AT(SineForm, frequency), .unit = "Hz", .required = true,
     .range = RANGE_AT_LEAST(0), .meaning = "Frequency."},
    {"sine", "phase", VALUE_NUMBER, AT(SineForm, phase), .unit = "rad", .fallback = "0", .meaning = "Phase at time 0."},

    /* ---------------------------------------------------------------- initial */
    {"initial", "link", VALUE_TEXT, AT(InitialForm, link), .required = true, .meaning = "Link of the joint."},
    {"initial", "coordinates", VALUE_NUMBERS, AT(InitialForm, coordinates), .unit = "m or rad",
     .meaning = "One number per degree of freedom, translations first. Three rotations are given as a rotation vector, "
                "or as a quaternion w, x, y, z."},
    {"initial", "velocities", VALUE_NUMBERS, AT(InitialForm, velocities), .unit = "m/s or rad/s",
     .meaning = "One number per degree of freedom. Three rotations are given as the angular velocity in the link's "
                "axes at the start, as in velocities.csv. World axes and the axes of the joint's frame are not used."},
    {"initial", "repeat", VALUE_OBJECT, AT(InitialForm, repeat), .of = "repeat_initial", .nullable = true,
     .meaning = "Many items from this one."},
};

const SchemaTable SCENE_SCHEMA = {
    .objects = SCENE_OBJECTS,
    .object_count = SCENE_OBJECT_COUNT,
    .rows = ROWS,
    .row_count = (int)(sizeof ROWS / sizeof ROWS[0]),
    .external_row = contact_schema_row,
    .root = "scene",
    .title = "sdrs scene",
    .id = "scene.schema.json",
    .command = "sdrs schema --markdown",
    .overrides =
        "`--set contact.friction=0.2`, `--set links.chain.repeat.count=16`, `--set simulation.gravity.2=-1.62`. "
        "Items of a list are addressed by `name` or `link` (without its `{expressions}`) or by index from 0. `*` and "
        "`?` match several names, `+` adds an item: `--set 'controllers.*.position_gain=5'`, "
        "`--set 'links.leg?.mass=0.2'`, `--set 'links.+={name: ball, mass: 1, shape: {type: sphere, radius: 0.1}}'`. A "
        "key that excludes others, like `steps` and `duration`, replaces them.",
};
