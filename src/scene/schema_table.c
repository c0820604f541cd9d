/* The table. Order of objects and rows is the order of the documentation. */
#include "scene/forms.h"
#include "scene/schema.h"

#define AT(type, member) offsetof(type, member)

#define MOVING_JOINTS JOINT_WORDS(MOVES)
/* ", fixed 0": the page's list begins behind the first two. */
// NOLINTNEXTLINE(bugprone-macro-parentheses): literals that stand side by side
#define FREEDOM(NAME, word, freedom, ...) ", " word " " freedom
// NOLINTBEGIN(bugprone-macro-parentheses): literals
#define NUMBER_ROW(slot, name, types, measure, text)                                                                \
  {"joint",          name,           VALUE_NUMBER, AT(JointForm, parameters[slot]), .only = types, .unit = measure, \
   .required = true, .meaning = text},
// NOLINTEND(bugprone-macro-parentheses)

/* Smooth shapes: convex ones, all. */
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
     .meaning = "Name of the scene; the run folder is called after it."},
    {"scene", "variables", VALUE_VARIABLES, AT(SceneForm, variables), .nullable = true,
     .meaning =
         "Numbers by name, for expressions: `{leg: 0.3, half: \"{leg / 2}\"}`. Later ones may use earlier ones."},
    {"scene", "include", VALUE_LIST, AT(SceneForm, include), .of = "include", .nullable = true,
     .meaning = "Scenes and robots of other files as parts of this one."},
    {"scene", "simulation", VALUE_OBJECT, AT(SceneForm, simulation), .of = "simulation", .nullable = true,
     .meaning = "Time step, length of the run, gravity, solver."},
    {"scene", "fluid", VALUE_OBJECT, AT(SceneForm, fluid), .of = "fluid", .nullable = true,
     .meaning = "Air or water that all links move in: drag, buoyancy, wind."},
    {"scene", "contact", VALUE_OBJECT, AT(SceneForm, contact), .of = "contact", .nullable = true,
     .meaning = "Contact model, its parameters, friction, pairs left out."},
    {"scene", "shapes", VALUE_MAP, AT(SceneForm, shapes), .of = "shape", .nullable = true,
     .meaning = "Shapes by name, for links to use."},
    {"scene", "links", VALUE_LIST, AT(SceneForm, links), .of = "link", .required = true, .unless = "include",
     .meaning = "Rigid bodies, each after its parent."},
    {"scene", "controllers", VALUE_LIST, AT(SceneForm, controllers), .of = "controller", .nullable = true,
     .meaning = "What drives the joints."},
    {"scene", "loads", VALUE_LIST, AT(SceneForm, loads), .of = "load", .nullable = true,
     .meaning = "Forces and torques on links."},
    {"scene", "tendons", VALUE_LIST, AT(SceneForm, tendons), .of = "tendon", .nullable = true,
     .meaning = "Cords that pull points of links towards each other."},
    {"scene", "bushings", VALUE_LIST, AT(SceneForm, bushings), .of = "bushing", .nullable = true,
     .meaning = "Springs and dampers in all six directions between two links: mounts, torsion bars, gas springs."},
    {"scene", "closures", VALUE_LIST, AT(SceneForm, closures), .of = "closure", .nullable = true,
     .meaning = "What closes loops: two links held together at a point, along an axis, at a distance."},
    {"scene", "couplings", VALUE_LIST, AT(SceneForm, couplings), .of = "coupling", .nullable = true,
     .meaning = "Joints whose coordinates follow from others: mimics, gears, racks, screws, differentials."},
    {"scene", "initial", VALUE_LIST, AT(SceneForm, initial), .of = "initial", .nullable = true,
     .meaning = "Joint coordinates and velocities at the start; zero where nothing is said."},
    {"scene", "start", VALUE_OBJECT, AT(SceneForm, start), .of = "start_state", .nullable = true,
     .meaning = "The state of a recorded run that this one begins in, instead of what initial says."},

    /* ---------------------------------------------------------------- fluid */
    {"fluid", "density", VALUE_NUMBER, AT(SceneFluid, density), .unit = "kg/m^3", .required = true,
     .range = RANGE_BETWEEN(0, 1e5), .meaning = "Water has 1000, air 1.2."},
    {"fluid", "viscosity", VALUE_NUMBER, AT(SceneFluid, viscosity), .unit = "Pa s", .fallback = "0",
     .range = RANGE_BETWEEN(0, 1e6), .meaning = "Dynamic viscosity. Water has 0.001, air 1.8e-5, honey 10."},
    {"fluid", "velocity", VALUE_VECTOR, AT(SceneFluid, velocity), .unit = "m/s", .fallback = "[0, 0, 0]",
     .meaning = "Wind or stream, world axes."},
    {"fluid", "level", VALUE_NUMBER, AT(SceneFluid, level), .unit = "m", .fallback = "(everywhere)",
     .meaning = "Height of its surface above the world's origin, measured against gravity. There is none above it."},

    /* ---------------------------------------------------------------- include */
    {"include", "file", VALUE_TEXT, AT(IncludeForm, file), .required = true,
     .meaning = "A scene, or a robot in URDF (.urdf) or MJCF (.xml), relative to this file."},
    {"include", "prefix", VALUE_TEXT, AT(IncludeForm, prefix), .fallback = "(none)",
     .meaning = "Stands before all names of its links, shapes and groups."},
    {"include", "attach", VALUE_TEXT, AT(IncludeForm, attach), .fallback = "(the world)",
     .meaning = "Link of this scene that its roots hang on."},
    {"include", "set", VALUE_NAMES, AT(IncludeForm, set), .nullable = true,
     .meaning = "Changes to the scene, like those of `--set`: `[variables.leg=0.4]`."},
    {"include", "without", VALUE_NAMES, AT(IncludeForm, without), .nullable = true,
     .meaning = "Links of the file that are left out, with all that hangs on them: `[ground]`."},

    /* ---------------------------------------------------------------- simulation */
    {"simulation", "dt", VALUE_NUMBER, AT(SimulationForm, simulation.dt), .unit = "s", .fallback = "0.01",
     .range = RANGE_UP_TO(0, 1000), .meaning = "Time step."},
    {"simulation", "duration", VALUE_NUMBER, AT(SimulationForm, duration), .unit = "s", .fallback = "2.0",
     .range = RANGE_ABOVE(0), .group = "length", .meaning = "Length of the run; rounded to whole steps."},
    {"simulation", "steps", VALUE_INTEGER, AT(SimulationForm, simulation.steps), .range = RANGE_BETWEEN(1, STEPS_MAX),
     .group = "length", .meaning = "Length of the run in steps, instead of duration."},
    {"simulation", "gravity", VALUE_VECTOR, AT(SimulationForm, simulation.gravity), .unit = "m/s^2",
     .fallback = "[0, 0, -9.81]", .meaning = "Acceleration of gravity, world axes."},
    {"simulation", "integrator", VALUE_CHOICE, AT(SimulationForm, integrator),
     .of = "first_order|second_order|momentum", .fallback = "momentum",
     .meaning =
         "How a step goes on from the last: momentum neither brakes nor drives, it keeps the angular momentum of free "
         "bodies and the energy of trees of joints, of their springs, and of the mechanisms that closures, couplings "
         "and prescribed joints make of them. first_order (the SDRS paper's) damps whatever rotates, second_order far "
         "less."},
    {"simulation", "tolerance", VALUE_NUMBER, AT(SimulationForm, simulation.tolerance), .fallback = "1e-5",
     .range = RANGE_UP_TO(0, 0.1),
     .meaning =
         "A step is solved when no force or torque is out of balance by more than this part of the forces at "
         "work on the same bodies: inertia, weight, drives, contact. A number; see force_tolerance for newtons."},
    {"simulation", "force_tolerance", VALUE_NUMBER, AT(SimulationForm, simulation.force_tolerance), .unit = "N",
     .fallback = "0", .range = RANGE_AT_LEAST(0),
     .meaning = "An imbalance that is allowed in any case; of a torque, this times the link's size."},
    {"simulation", "max_iterations", VALUE_INTEGER, AT(SimulationForm, simulation.max_iterations), .fallback = "1000",
     .range = RANGE_BETWEEN(1, 100000), .meaning = "Newton iterations after which a step counts as failed."},
    {"simulation", "certificate", VALUE_BOOL, AT(SimulationForm, simulation.certificate), .fallback = "true",
     .meaning = "Prove for every step that nothing passes through anything on the way."},
    {"simulation", "record_every", VALUE_INTEGER, AT(SimulationForm, simulation.record_every), .fallback = "1",
     .range = RANGE_BETWEEN(1, STEPS_MAX), .meaning = "Steps from one row of the CSV files to the next."},
    {"simulation", "output", VALUE_WORDS, AT(SimulationForm, simulation.output), .of = OUTPUT_WORDS,
     .fallback = "(none)",
     .meaning =
         "What the run folder has only when it is asked for: velocities.csv (of links and joints), forces.csv (of "
         "drives, loads, friction, springs, limits, closures along joint coordinates), closures.csv (how far each "
         "closure and coupling is open, and its force), pressure.csv (of every link that moves the centre of pressure "
         "of all its contacts, their force and their moment about there; nan where nothing touches), reactions.csv "
         "(force and torque of every joint on its link), imu.csv (acceleration less gravity and angular velocity of "
         "every link), and in contacts.csv where each contact acts, its centre of pressure, and its moment about "
         "there."},
    {"simulation", "substeps", VALUE_INTEGER, AT(SimulationForm, simulation.substeps), .fallback = "1",
     .range = RANGE_BETWEEN(1, SUBSTEPS_MAX),
     .meaning = "Equal parts that every step is taken in; rows and losses keep to whole steps. A step that fails is "
                "taken in twice as many, four times ..., up to 512."},
    {"simulation", "keep_states", VALUE_SERIES, AT(SimulationForm, keep_states), .unit = "s",
     .fallback = "(the end alone)", .range = RANGE_ABOVE(0), .nullable = true,
     .meaning =
         "Times, multiples of dt, at which the whole state is kept in the run folder for start, besides the end."},

    /* ---------------------------------------------------------------- start */
    {"start_state", "run", VALUE_TEXT, AT(StartStateForm, run), .required = true,
     .meaning = "Run folder, relative to the scene file or else to where the program is started."},
    {"start_state", "time", VALUE_NUMBER, AT(StartStateForm, time), .unit = "s", .fallback = "(the end of that run)",
     .range = RANGE_ABOVE(0),
     .meaning = "A time at which that run kept its state: its end, and simulation.keep_states. This run's clock goes "
                "on from there."},

    /* ---------------------------------------------------------------- contact */
    /* its other rows are the laws' (contact_schema_row) */
    {"contact", "friction_iterations", VALUE_INTEGER, AT(ContactForm, contact.friction_iterations),
     .only = "none|separating_plane", .fallback = "0", .range = RANGE_BETWEEN(0, 1000),
     .meaning =
         "How often at most a step is solved again because the force that friction rests on has changed in it. 0: "
         "friction rests on the force of the step before, and acts one step late in a landing."},
    {"contact", "exclude", VALUE_NAME_PAIRS, AT(ContactForm, exclude), .nullable = true,
     .meaning = "Pairs of links or groups that do not touch. A link and its parent never do."},
    {"contact", "pairs", VALUE_LIST, AT(ContactForm, pairs), .of = "contact_pair", .nullable = true,
     .meaning = "Friction and restitution between two links, or all links of two groups, whatever the links say; of "
                "several items the last counts. Else two links that both have a value of their own meet with the root "
                "of the product, one alone decides for both, and where neither has one the values here hold."},

    {"contact_pair", "a", VALUE_TEXT, AT(ContactPairForm, a), .required = true, .meaning = "A link or a group."},
    {"contact_pair", "b", VALUE_TEXT, AT(ContactPairForm, b), .required = true,
     .meaning = "The other; twice the same group: all pairs within it."},
    {"contact_pair", "friction", VALUE_NUMBER, AT(ContactPairForm, material.value[MATERIAL_FRICTION]),
     .fallback = "(from the links, else contact.friction)", .range = RANGE_BETWEEN(0, 100),
     .meaning = "Coulomb coefficient between them."},
    {"contact_pair", "restitution", VALUE_NUMBER, AT(ContactPairForm, material.value[MATERIAL_RESTITUTION]),
     .fallback = "(from the links, else contact.restitution)", .range = RANGE_BETWEEN(0, 1),
     .meaning = "Part of the normal speed that is left after an impact between them."},
    {"contact_pair", "rolling", VALUE_NUMBER, AT(ContactPairForm, material.value[MATERIAL_ROLLING]), .unit = "m",
     .fallback = "(from the links, else contact.rolling)", .range = RANGE_AT_LEAST(0),
     .meaning = "Rolling friction between them."},
    {"contact_pair", "spinning", VALUE_NUMBER, AT(ContactPairForm, material.value[MATERIAL_SPINNING]), .unit = "m",
     .fallback = "(from the links, else contact.spinning)", .range = RANGE_AT_LEAST(0),
     .meaning = "Spinning friction between them."},
    {"contact_pair", "model", VALUE_CHOICE, AT(ContactPairForm, model), .of = contact_model_words,
     .fallback = "(contact.model)",
     .meaning =
         "Contact law between them instead of contact.model; none: they do not touch. What it has to itself (below, "
         "with barrier_distance and stiffness) holds for this pair; what is not given is contact's where that has the "
         "same "
         "law, else the default. Friction's smoothing and the rest speed are contact's."},
    {"contact_pair", "barrier_distance", VALUE_NUMBER, AT(ContactPairForm, material.value[MATERIAL_SUPPORT]),
     .unit = "m", .fallback = "(derived from the scene)", .range = RANGE_ABOVE(0),
     .meaning = "Support of the law that model names, where it has one."},
    {"contact_pair", "stiffness", VALUE_NUMBER, AT(ContactPairForm, material.value[MATERIAL_STIFFNESS]),
     .fallback = "(derived from the scene)", .range = RANGE_ABOVE(0),
     .meaning = "Stiffness of the law that model names, in its unit."},

    /* ---------------------------------------------------------------- shape */
    {"shape", "type", VALUE_CHOICE, AT(SceneShapeForm, type),
     .of = "box|sphere|cylinder|capsule|wheel|disc|cone|rounded_box|points|mesh|height_field|half_space|" CONVEX
           "|oriented_points|"
           "union|subtraction",
     .required = true, .meaning = "Kind of solid; smooth ones stand in [smooth shapes](smooth-shapes.md)."},
    {"shape", "size", VALUE_VECTOR, AT(SceneShapeForm, shape.size), .only = "box", .unit = "m", .range = RANGE_ABOVE(0),
     .required = true, .meaning = "Full edge lengths, centred at the origin."},
    {"shape", "size", VALUE_VECTOR, AT(SceneShapeForm, shape.size), .only = "rounded_box", .unit = "m",
     .range = RANGE_AT_LEAST(0), .required = true,
     .meaning = "Distance of the rounded corners' centres along x, y, z: the radius comes on top at both ends."},
    {"shape", "radius", VALUE_NUMBER, AT(SceneShapeForm, shape.radius),
     .only = "sphere|cylinder|capsule|wheel|disc|rounded_box", .unit = "m", .range = RANGE_ABOVE(0), .required = true,
     .meaning = "Radius of the round solid, the largest of it. separating_plane takes spheres, capsules, cylinders, "
                "cones, wheels and discs as they are: they roll without facets. Other laws, and shapes with resolution "
                "or segments, take the inscribed polyhedron."},
    {"shape", "length", VALUE_NUMBER, AT(SceneShapeForm, shape.length), .only = "cylinder|capsule|cone", .unit = "m",
     .range = RANGE_ABOVE(0), .required = true,
     .meaning = "Length along z, centred; for a capsule that of its straight part."},
    {"shape", "width", VALUE_NUMBER, AT(SceneShapeForm, shape.width), .only = "wheel", .unit = "m",
     .range = RANGE_ABOVE(0), .required = true, .meaning = "Extent along z, the axle, centred; above twice the rim."},
    {"shape", "rim", VALUE_NUMBER, AT(SceneShapeForm, shape.rim), .only = "wheel|disc", .unit = "m",
     .range = RANGE_ABOVE(0), .required = true,
     .meaning = "Radius of the rounded edge, below the radius: a disc is 2 rim thick. It is the tyre of a wheel."},
    {"shape", "bottom_radius", VALUE_NUMBER, AT(SceneShapeForm, shape.bottom_radius), .only = "cone", .unit = "m",
     .range = RANGE_ABOVE(0), .required = true, .meaning = "Radius at z = -length / 2."},
    {"shape", "top_radius", VALUE_NUMBER, AT(SceneShapeForm, shape.top_radius), .only = "cone", .unit = "m",
     .range = RANGE_AT_LEAST(0), .required = true, .meaning = "Radius at z = length / 2; 0: a tip."},
    {"shape", "resolution", VALUE_INTEGER, AT(SceneShapeForm, shape.resolution), .only = "sphere", .fallback = "1",
     .range = RANGE_BETWEEN(0, 6),
     .meaning = "Subdivisions of the icosahedron: 12, 42, 162, 642, 2562, 10242, 40962 vertices. If given, every law "
                "takes this polyhedron; otherwise separating_plane takes the ball."},
    {"shape", "segments", VALUE_INTEGER, AT(SceneShapeForm, shape.segments), .only = "cylinder", .fallback = "16",
     .range = RANGE_BETWEEN(3, 1024),
     .meaning = "Vertices on each rim. If given, every law takes this polyhedron; otherwise separating_plane takes the "
                "cylinder."},
    {"shape", "segments", VALUE_INTEGER, AT(SceneShapeForm, shape.segments), .only = "capsule", .fallback = "12",
     .range = RANGE_BETWEEN(3, 1024),
     .meaning = "Vertices around; a quarter as many rings on each cap. If given, every law takes this polyhedron; "
                "otherwise separating_plane takes the capsule."},
    {"shape", "segments", VALUE_INTEGER, AT(SceneShapeForm, shape.segments), .only = "wheel|disc|cone",
     .fallback = "24", .range = RANGE_BETWEEN(3, 1024),
     .meaning = "Vertices around each circle. If given, every law takes this polyhedron; otherwise separating_plane "
                "takes the solid."},
    {"shape", "points", VALUE_POINTS, AT(SceneShapeForm, points), .only = "points", .unit = "m", .required = true,
     .meaning = "At least four points; the solid is their convex hull."},
    {"shape", "keep_interior", VALUE_BOOL, AT(SceneShapeForm, shape.keep_interior), .only = "points",
     .fallback = "false",
     .meaning =
         "Keep points that lie inside the hull: they carry mass with mass_model vertices, and an optimization may "
         "bring them out. Else they are dropped."},
    {"shape", "file", VALUE_TEXT, AT(SceneShapeForm, file), .only = "mesh", .required = true,
     .meaning = "OBJ or STL file, relative to the scene file; also .dae, .ply, .off, .gltf, .glb, .3ds, .fbx, .3mf, "
                ".x3d by libassimp."},
    {"shape", "scale", VALUE_NUMBER, AT(SceneShapeForm, shape.scale), .only = "mesh", .unit = "m per unit",
     .fallback = "1.0", .range = RANGE_ABOVE(0), .meaning = "Length of the file's unit: 0.001 for millimetres."},
    {"shape", "hulls", VALUE_CHOICE, AT(SceneShapeForm, hulls), .only = "mesh", .of = "whole|groups",
     .fallback = "whole", .group = "hulls",
     .meaning = "One convex hull of the whole mesh, or one of each o or g group."},
    {"shape", "pieces", VALUE_CHOICE, AT(SceneShapeForm, pieces), .only = "mesh|points", .of = "hulls|triangles",
     .fallback = "hulls",
     .meaning = "What contact sees: convex hulls, or the triangles of the mesh as they are (of points: every three), "
                "closed or "
                "open. Density and mass_model uniform then go by the enclosed volume."},
    {"shape", "orient", VALUE_CHOICE, AT(SceneShapeForm, orient), .only = "mesh", .of = "keep|fix", .fallback = "keep",
     .meaning = "With pieces: triangles. fix repairs the surface as sdrs decompose does: neighbours are turned alike, "
                "closed surfaces are turned outward and open borders are closed."},
    {"shape", "max_vertices", VALUE_INTEGER, AT(SceneShapeForm, shape.max_vertices), .only = "mesh",
     .fallback = "(all)", .range = RANGE_BETWEEN(4, 1000000),
     .meaning = "Thin each hull to at most so many vertices; the error is reported."},
    {"shape", "decompose", VALUE_OBJECT, AT(SceneShapeForm, decompose), .of = "decompose", .only = "mesh",
     .group = "hulls", .meaning = "Cut the mesh into convex hulls that cover it, and take these; {} for the defaults."},
    {"shape", "file", VALUE_TEXT, AT(SceneShapeForm, file), .only = "height_field", .required = true,
     .meaning = "PNG picture, dark is low and white high, or a table of heights (CSV), relative to the scene file. Its "
                "first row is that of the largest y, as one looks at it."},
    {"shape", "size", VALUE_VECTOR, AT(SceneShapeForm, shape.size), .only = "height_field", .unit = "m",
     .range = RANGE_ABOVE(0), .required = true,
     .meaning = "Extent along x and along y, from the first sample to the last, and the height of white or of a 1 in "
                "the table."},
    {"shape", "origin", VALUE_VECTOR, AT(SceneShapeForm, shape.origin), .only = "height_field", .unit = "m",
     .fallback = "[0, 0, 0]", .meaning = "Where the middle of the field stands, at height 0."},
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
    LENGTH_ROW("below", "truncated_cone", size[2], "How far it reaches against x."),
    LENGTH_ROW("above", "truncated_cone", size[3], "How far it reaches along x."),
    {"shape", "exponent", VALUE_NUMBER, FORM(exponent), .only = "superellipsoid|superelliptic_cylinder",
     .range = RANGE_BETWEEN(1, 64), .required = true,
     .meaning = "n in ((x/a)^2n + ...)^(1/2n) = 1: 1 is an ellipsoid, 8 nearly a box or a cylinder."},
    {"shape", "exponents", VALUE_NUMBERS, AT(SceneShapeForm, exponents), .only = "superquadric",
     .range = RANGE_BETWEEN(0.03125, 1), .required = true,
     .meaning = "[e1, e2]: ((x/a)^(2/e2) + (y/b)^(2/e2))^(e2/e1) + (z/c)^(2/e1) = 1; both 1 is an ellipsoid."},
    {"shape", "sharpness", VALUE_NUMBER, FORM(beta), .only = "truncated_cone|smooth_polytope",
     .range = RANGE_UP_TO(0, 1e6), .required = true,
     .meaning = "beta: edges are rounded over a length of about 1/beta of the body's size."},
    {"shape", "normals", VALUE_POINTS, AT(SceneShapeForm, normals), .only = "smooth_polytope|oriented_points",
     .required = true, .meaning = "Outward normals of the faces, or at the points, of any length but zero."},
    {"shape", "offsets", VALUE_SERIES, AT(SceneShapeForm, offsets), .only = "smooth_polytope", .unit = "m",
     .range = RANGE_ABOVE(0), .required = true,
     .meaning = "Faces normal . x <= offset, one for every normal; the origin lies inside."},
    {"shape", "length", VALUE_NUMBER, FORM(length), .only = "smooth_polytope", .unit = "m",
     .fallback = "(the largest offset)", .range = RANGE_BETWEEN(1e-6, 1e6),
     .meaning = "What sharpness counts against."},
    {"shape", "points", VALUE_POINTS, AT(SceneShapeForm, points), .only = "oriented_points", .unit = "m",
     .required = true, .meaning = "Points of a surface."},
    {"shape", "radius", VALUE_NUMBER, AT(SceneShapeForm, shape.radius), .only = "oriented_points", .unit = "m",
     .range = RANGE_ABOVE(0), .required = true, .meaning = "How far a point is felt."},
    {"shape", "of", VALUE_SHAPES, AT(SceneShapeForm, of), .only = "union|subtraction", .required = true,
     .meaning = "Smooth shapes, each with a position and a rotation; of a subtraction two, the second is taken away."},
    {"shape", "smoothing", VALUE_NUMBER, AT(SceneShapeForm, shape.smoothing), .only = "union|subtraction", .unit = "m",
     .range = RANGE_ABOVE(0), .required = true, .meaning = "Over which length one surface goes over into another."},
    {"shape", "resolution", VALUE_INTEGER, AT(SceneShapeForm, shape.resolution), .only = SMOOTH, .fallback = "3",
     .range = RANGE_BETWEEN(0, 5),
     .meaning = "Fineness of the surface that pictures, files, and contact laws of polyhedra take: 12, 42, 162, 642, "
                "2562, 10242 points of a convex shape."},

    /* ---------------------------------------------------------------- decompose */
    {"decompose", "max_hulls", VALUE_INTEGER, AT(DecomposeForm, options.max_hulls), .fallback = "16",
     .range = RANGE_BETWEEN(1, 10000), .meaning = "At most so many hulls."},
    {"decompose", "max_vertices", VALUE_INTEGER, AT(DecomposeForm, options.max_vertices), .fallback = "64",
     .range = RANGE_BETWEEN(8, 1000000), .meaning = "At most so many vertices of a hull."},
    {"decompose", "error", VALUE_NUMBER, AT(DecomposeForm, options.error), .fallback = "1e-3", .range = RANGE_ABOVE(0),
     .meaning = "The search ends when the hulls' excess volume is below this fraction of the mesh's volume."},
    {"decompose", "tolerance", VALUE_NUMBER, AT(DecomposeForm, options.tolerance), .unit = "m", .fallback = "(none)",
     .range = RANGE_ABOVE(0),
     .meaning = "As few hulls as reach at most so far out of the mesh; max_hulls is then 256 when not given."},
    {"decompose", "resolution", VALUE_INTEGER, AT(DecomposeForm, options.resolution), .fallback = "1200",
     .range = RANGE_BETWEEN(1, 10000000),
     .meaning = "Triangles of the coarse copy that cutting planes are searched on."},
    {"decompose", "grid", VALUE_INTEGERS, AT(DecomposeForm, grid), .fallback = "(a search)",
     .range = RANGE_BETWEEN(1, 1000),
     .meaning = "Three counts: even blocks along x, y, z of the mesh's box instead of a search. Neighbours share "
                "corners."},
    {"decompose", "tie", VALUE_CHOICE, AT(DecomposeForm, tie), .of = "corners|vertex|none", .fallback = "corners",
     .meaning = "What a design keeps together of a grid's neighbouring blocks: all corners that they share, so that no "
                "hole can open through the whole; one vertex in the middle of their common face, around which they may "
                "part; or nothing."},
    {"decompose", "symmetry", VALUE_CHOICE, AT(DecomposeForm, symmetry), .of = SYMMETRY_WORDS, .fallback = "auto",
     .meaning = "Axes whose mirror planes the hulls keep: those that the mesh has, none, or these."},
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
     .meaning = "Name of a shape; or write the shape's own keys here. In a repeat it may hold {expressions}."},

    /* ---------------------------------------------------------------- link */
    {"link", "name", VALUE_TEXT, AT(LinkForm, name), .required = true,
     .meaning = "Name, unlike all others. In a repeat it may hold {expressions}."},
    {"link", "parent", VALUE_TEXT, AT(LinkForm, parent), .fallback = "(the world)", .nullable = true,
     .meaning = "The link this one hangs on, which stands earlier in the list."},
    {"link", "joint", VALUE_OBJECT, AT(LinkForm, joint), .of = "joint", .fallback = "(free, for a link without parent)",
     .meaning = "How the link moves against its parent."},
    {"link", "fixed", VALUE_BOOL, AT(LinkForm, fixed), .fallback = "false",
     .meaning = "Short for joint: {type: fixed}."},
    {"link", "shapes", VALUE_SHAPES, AT(LinkForm, shapes), .group = "shapes", .nullable = true,
     .meaning = "What the link consists of; overlaps count twice in a mass by density."},
    {"link", "shape", VALUE_SHAPE, AT(LinkForm, shape), .group = "shapes",
     .meaning = "Short for shapes with one item."},
    {"link", "mass", VALUE_NUMBER, AT(LinkForm, mass), .unit = "kg", .range = RANGE_ABOVE(0), .group = "mass",
     .meaning =
         "Total mass, uniform over the volume of the shapes unless mass_model says otherwise. A link that moves needs "
         "mass or density."},
    {"link", "density", VALUE_NUMBER, AT(LinkForm, density), .unit = "kg/m^3", .range = RANGE_ABOVE(0), .group = "mass",
     .meaning = "Mass per volume of the convex pieces."},
    {"link", "mass_model", VALUE_CHOICE, AT(LinkForm, mass_model), .of = "vertices|uniform|given",
     .fallback = "(uniform; given where inertia is; vertices where the shapes enclose no volume)",
     .meaning =
         "Mass uniform over the volume, spread evenly over the vertices, or given by center and inertia. A box whose "
         "mass is on its eight vertices has three times the inertia of a solid one."},
    {"link", "center", VALUE_VECTOR, AT(LinkForm, center), .unit = "m", .fallback = "[0, 0, 0]",
     .meaning = "Centre of mass in the link's frame, for mass_model given."},
    {"link", "inertia", VALUE_NUMBERS, AT(LinkForm, inertia), .unit = "kg m^2",
     .meaning = "Inertia about the centre of mass, [ixx, iyy, izz, ixy, ixz, iyz] in the link's axes."},
    {"link", "gravity_compensation", VALUE_NUMBER, AT(LinkForm, gravity_compensation), .range = RANGE_AT_LEAST(0),
     .fallback = "(the parent's, 0 for a link without parent)",
     .meaning = "Part of its weight that is taken off the link, and off all links below that say nothing else: 1 on "
                "its base holds a robot up."},
    {"link", "collide", VALUE_BOOL, AT(LinkForm, collide), .fallback = "true",
     .meaning = "false: the link touches nothing."},
    {"link", "friction", VALUE_NUMBER, AT(LinkForm, material.value[MATERIAL_FRICTION]),
     .fallback = "(the other link's, else contact.friction)", .range = RANGE_BETWEEN(0, 100),
     .meaning = "Coulomb coefficient: two links that both have one meet with the root of the product, one alone "
                "decides for both. contact.pairs goes before it."},
    {"link", "restitution", VALUE_NUMBER, AT(LinkForm, material.value[MATERIAL_RESTITUTION]),
     .fallback = "(the other link's, else contact.restitution)", .range = RANGE_BETWEEN(0, 1),
     .meaning = "Part of the normal speed that is left after an impact; the same rule."},
    {"link", "rolling", VALUE_NUMBER, AT(LinkForm, material.value[MATERIAL_ROLLING]), .unit = "m",
     .fallback = "(the other link's, else contact.rolling)", .range = RANGE_AT_LEAST(0),
     .meaning = "Rolling friction; the same rule."},
    {"link", "spinning", VALUE_NUMBER, AT(LinkForm, material.value[MATERIAL_SPINNING]), .unit = "m",
     .fallback = "(the other link's, else contact.spinning)", .range = RANGE_AT_LEAST(0),
     .meaning = "Spinning friction; the same rule."},
    {"link", "groups", VALUE_NAMES, AT(LinkForm, groups), .nullable = true,
     .meaning = "Names that contact.exclude and contact.pairs may use for this link."},
    {"link", "color", VALUE_COLOR, AT(LinkForm, color), .fallback = "(from a palette)",
     .meaning = "Colour in pictures, sRGB."},
    {"link", "ties", VALUE_TABLE, AT(LinkForm, ties), .fallback = "(none)",
     .meaning =
         "Written by `sdrs optimize`: vertices of its lists of points that are one, [shape, vertex, shape, vertex], "
         "counted from 0; for `connect: keep` of a task that goes on from here."},
    {"link", "repeat", VALUE_OBJECT, AT(LinkForm, repeat), .of = "repeat", .nullable = true,
     .meaning = "Many links from this one."},

    /* ---------------------------------------------------------------- joint */
    {"joint", "type", VALUE_CHOICE, AT(JointForm, type), .of = JOINT_WORDS(ANY), .required = true,
     .meaning = &(JOINT_TYPE_ROWS(FREEDOM) " degrees of freedom.")[2]},
    {"joint", "axis", VALUE_VECTOR, AT(JointForm, axis), .only = JOINT_WORDS(AXIS), .required = true,
     .meaning = "Direction in the joint's frame, of any length but zero."},
    {"joint", "axes", VALUE_TABLE, AT(JointForm, axes), .only = JOINT_WORDS(AXES), .required = true,
     .meaning = "Two directions in the joint's frame, the one nearer the parent first."},
    {"joint", "free_axes", VALUE_AXES, AT(JointForm, free_axes), .only = JOINT_WORDS(FREE_AXES),
     .fallback = "[x, y, z, rx, ry, rz]",
     .meaning = "The translations x, y, z and rotations rx, ry, rz of the joint's frame that are free."},
    JOINT_NUMBER_ROWS(NUMBER_ROW){
        "joint", "limits", VALUE_LIMITS, AT(JointForm, limits), .only = MOVING_JOINTS, .unit = "m or rad",
        .nullable = true, .fallback = "(none)",
        .meaning =
            "[low, high], null for an open end; or a list of one such pair or null per degree of freedom. A ball has "
            "[null, high] for its whole angle."},
    {"joint", "swing", VALUE_NUMBER, AT(JointForm, swing), .only = "ball", .unit = "rad", .fallback = "(no limit)",
     .range = RANGE_ABOVE(0),
     .meaning = "Largest angle between `twist_axis` and where it stands at zero coordinates: a cone. Below pi. It is "
                "felt as `limits` are."},
    {"joint", "twist", VALUE_LIMITS, AT(JointForm, twist), .only = "ball", .unit = "rad", .nullable = true,
     .fallback = "(no limit)",
     .meaning = "[low, high], null for an open end: the angle about `twist_axis` that is left when the swing is taken "
                "off. Between -pi and pi. It needs `swing`: a joint bent by pi has no twist."},
    {"joint", "twist_axis", VALUE_VECTOR, AT(JointForm, twist_axis), .only = "ball", .fallback = "[0, 0, 1]",
     .meaning = "Axis of swing and twist in the joint's frame, and in the link's; of any length but zero."},
    {"joint", "limit_law", VALUE_CHOICE, AT(JointForm, limit_law), .only = MOVING_JOINTS, .of = "barrier|penalty",
     .fallback = "barrier",
     .meaning = "barrier is never passed, penalty is a spring beyond the limit. Both take up the impact of a joint as "
                "`limit_restitution` says."},
    {"joint", "limit_stiffness", VALUE_NUMBER, AT(JointForm, limit_stiffness), .only = MOVING_JOINTS,
     .unit = "barrier: J; penalty: N/m or N m/rad", .fallback = "(1 for a barrier, 1000 for a penalty)",
     .range = RANGE_ABOVE(0), .meaning = "Strength of the limits."},
    {"joint", "limit_margin", VALUE_NUMBER, AT(JointForm, limit_margin), .only = MOVING_JOINTS, .unit = "m or rad",
     .fallback = "(0.05, at most a hundredth of the range)", .range = RANGE_ABOVE(0),
     .meaning = "Distance from the limit where it begins to be felt."},
    {"joint", "limit_restitution", VALUE_NUMBER, AT(JointForm, limit_restitution), .only = MOVING_JOINTS,
     .fallback = "0", .range = RANGE_BETWEEN(0, 1),
     .meaning =
         "Speed at which a coordinate leaves its limit, as a part of the speed at which it came. 0 holds for every "
         "time step. A value above 0 is an upper bound, which steps reach that resolve the impact: ten or more within "
         "`limit_margin`. Limits of three rotations always return what the step leaves."},
    {"joint", "damping", VALUE_PER_DOF, AT(JointForm, damping), .only = MOVING_JOINTS, .unit = "N s/m or N m s/rad",
     .fallback = "0", .range = RANGE_AT_LEAST(0),
     .meaning = "Viscous damping, one number or one per degree of freedom."},
    {"joint", "stiffness", VALUE_PER_DOF, AT(JointForm, stiffness), .only = MOVING_JOINTS, .unit = "N/m or N m/rad",
     .fallback = "0", .range = RANGE_AT_LEAST(0), .meaning = "Spring towards `rest`."},
    {"joint", "rest", VALUE_PER_DOF, AT(JointForm, rest), .only = MOVING_JOINTS, .unit = "m or rad", .fallback = "0",
     .meaning = "Where the spring pulls; three rotations take a rotation vector."},
    {"joint", "friction", VALUE_PER_DOF, AT(JointForm, friction), .only = MOVING_JOINTS, .unit = "N or N m",
     .fallback = "0", .range = RANGE_AT_LEAST(0),
     .meaning = "Dry (Coulomb) friction against the rate, whatever the load. Three rotations have one, against the "
                "size of their rate."},
    {"joint", "friction_speed", VALUE_NUMBER, AT(JointForm, friction_speed), .only = MOVING_JOINTS,
     .unit = "m/s or rad/s", .fallback = "1e-4", .range = RANGE_ABOVE(0),
     .meaning =
         "Width of the friction's smoothing: it is r / sqrt(r^2 + friction_speed^2) of its value at the rate r. What "
         "it holds creeps: at 0.58 of this under half of what it can hold, at 2.06 of this under 0.9 of it."},
    {"joint", "static_friction", VALUE_PER_DOF, AT(JointForm, static_friction), .only = MOVING_JOINTS,
     .unit = "N or N m", .fallback = "0", .range = RANGE_AT_LEAST(0),
     .meaning = "Dry friction at rest, at least `friction`; 0: `friction` at any rate. At the rate r it is friction + "
                "(static_friction - friction) exp(-(r / stribeck_speed)^2). Not for three rotations."},
    {"joint", "stribeck_speed", VALUE_NUMBER, AT(JointForm, stribeck_speed), .only = MOVING_JOINTS,
     .unit = "m/s or rad/s", .fallback = "0.01", .range = RANGE_ABOVE(0),
     .meaning = "Rate over which `static_friction` falls to `friction`, at least `friction_speed`."},
    {"joint", "armature", VALUE_PER_DOF, AT(JointForm, armature), .only = MOVING_JOINTS, .unit = "kg or kg m^2",
     .fallback = "0", .range = RANGE_AT_LEAST(0),
     .meaning =
         "Inertia that only this coordinate feels: a rotor's, times the square of its gear's ratio. Not for three "
         "rotations."},
    {"joint", "velocity_limit", VALUE_PER_DOF, AT(JointForm, velocity_limit), .only = MOVING_JOINTS,
     .unit = "m/s or rad/s", .fallback = "0", .range = RANGE_AT_LEAST(0),
     .meaning =
         "The fastest that the machine may go there, 0: no limit. Nothing holds it back; simulate tells which joints "
         "went faster, and URDF has it as <limit velocity>."},

    /* ---------------------------------------------------------------- repeat */
    {"repeat", "count", VALUE_COUNT, AT(RepeatForm, count), .required = true, .range = RANGE_BETWEEN(0, REPEAT_MAX),
     .meaning = "How many: a number, or [nx, ny, nz] for a grid, the last running fastest."},
    {"repeat", "start", VALUE_INTEGER, AT(RepeatForm, start), .fallback = "0",
     .range = RANGE_BETWEEN(-1000000, 1000000),
     .meaning = "First value of the indices i, j, k in {expressions}; n counts all items from 0."},
    {"repeat", "first", VALUE_OBJECT, AT(RepeatForm, first), .of = "first_link",
     .meaning = "Keys that are different for the first item."},
    {"repeat", "position", VALUE_STEPS, AT(RepeatForm, position), .unit = "m",
     .meaning =
         "Added to the joint's position for every step: for a grid one vector per axis, or one vector whose x, y, z "
         "belong to the axes in turn."},
    {"repeat", "rotation_vector", VALUE_STEPS, AT(RepeatForm, rotation_vector), .unit = "rad",
     .meaning = "Rotation of the joint's frame for every step, about axes parallel to the parent's."},
    {"repeat", "around", VALUE_VECTOR, AT(RepeatForm, around), .unit = "m", .fallback = "(the joint turns in place)",
     .meaning = "Point of the parent's frame around which rotation_vector carries the joint: a ring of legs."},

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
     .meaning = "Added to the coordinates for every item; for a grid also a list of such lists, one per axis."},
    {"repeat_initial", "velocities", VALUE_INCREMENTS, AT(RepeatForm, velocities), .unit = "m/s or rad/s",
     .meaning = "The same for the velocities."},

    /* ---------------------------------------------------------------- controller */
    {"controller", "link", VALUE_TEXT, AT(ControllerForm, link), .required = true,
     .meaning = "The link whose joint is driven."},
    {"controller", "type", VALUE_CHOICE, AT(ControllerForm, type), .of = "pd|prescribed|torque|velocity",
     .required = true,
     .meaning = "pd: a spring and damper to the target and its rate. prescribed: the joint follows the target exactly, "
                "whatever that takes. torque: the target is the force or torque itself. velocity: a damper to the rate "
                "that is the target."},
    {"controller", "position_gain", VALUE_PER_DOF, AT(ControllerForm, position_gain), .only = "pd",
     .unit = "N/m or N m/rad", .range = RANGE_AT_LEAST(0), .required = true,
     .meaning = "Stiffness: the force is this times what is left to the target."},
    {"controller", "damping_gain", VALUE_PER_DOF, AT(ControllerForm, damping_gain), .only = "velocity",
     .unit = "N s/m or N m s/rad", .range = RANGE_ABOVE(0), .required = true,
     .meaning = "The force is this times the rate error, for every dt."},
    {"controller", "damping_gain", VALUE_PER_DOF, AT(ControllerForm, damping_gain), .only = "pd|torque",
     .unit = "N s/m or N m s/rad", .fallback = "0", .range = RANGE_AT_LEAST(0),
     .meaning = "Damping for every dt: the force is this times target rate less rate; of torque, less this times the "
                "rate, so that the speed without load is target over damping_gain."},
    {"controller", "velocity_gain", VALUE_PER_DOF, AT(ControllerForm, velocity_gain), .only = "pd",
     .unit = "N s^2/m or N m s^2/rad", .fallback = "0", .range = RANGE_AT_LEAST(0),
     .meaning = "Damping as in the SDRS paper, k_d/2 |target rate - rate|^2 in the step's energy: the force is k_d/dt "
                "times the rate error, dt over simulation.substeps. Another dt is another controller; damping_gain is "
                "not so."},
    {"controller", "max_force", VALUE_PER_DOF, AT(ControllerForm, max_force), .only = "pd|torque|velocity",
     .unit = "N or N m", .fallback = "(no limit)", .range = RANGE_ABOVE(0),
     .meaning =
         "The drive does no more than this in either direction: what it wants up to 0.95 of it, this from 1.05 of "
         "it on, and smoothly in between. Of three rotations it limits the size of their torque."},
    {"controller", "limit_width", VALUE_NUMBER, AT(ControllerForm, limit_width), .only = "pd|torque|velocity",
     .fallback = "0.05", .range = RANGE_BETWEEN(1e-4, 0.5),
     .meaning = "Half the width of the smooth corner of max_force, as a part of it: 0.05 is what max_force says. The "
                "narrower, the nearer to a corner: the drive misses 0.16 of this times max_force where it wants "
                "max_force itself."},
    {"controller", "target", VALUE_SIGNAL, AT(ControllerForm, target), .only = "pd|torque|velocity",
     .unit = "m or rad; m/s or rad/s; N or N m", .required = true,
     .meaning = "Where to, how fast, or with what force: one channel per degree of freedom. Three rotations take a "
                "rotation vector, of velocity the angular velocity and of torque the torque in the link's axes."},
    {"controller", "target", VALUE_SIGNAL, AT(ControllerForm, target), .only = "prescribed", .unit = "m or rad",
     .group = "course",
     .meaning = "Where the joint is: one channel per degree of freedom; of a free link x, y, z from where its position "
                "puts it and a rotation vector."},
    {"controller", "velocity", VALUE_SIGNAL, AT(ControllerForm, course), .only = "prescribed", .unit = "m/s or rad/s",
     .group = "course",
     .meaning = "How fast it goes, instead of target: the joint starts at zero and is where the integral of this is, "
                "exactly (not of splines). Three rotations: the rate of the rotation vector, which is the angular "
                "velocity as long as its axis stays."},
    {"controller", "feedback", VALUE_OBJECT, AT(ControllerForm, feedback), .of = "feedback",
     .only = "pd|torque|velocity", .nullable = true,
     .meaning = "What is added to the target: a matrix times measurements of the state, or a small network of them."},
    {"controller", "delay", VALUE_NUMBER, AT(ControllerForm, delay), .only = "pd|torque|velocity", .unit = "s",
     .fallback = "0", .range = RANGE_BETWEEN(0, 1000),
     .meaning =
         "The drive follows the target, and feedback measures the state, of so long ago: any fraction of a step, "
         "measurements in between two states linearly. Before the start both are what they were there."},
    {"controller", "repeat", VALUE_OBJECT, AT(ControllerForm, repeat), .of = "repeat_controller", .nullable = true,
     .meaning = "Many controllers from this one."},

    /* ---------------------------------------------------------------- feedback */
    {"feedback", "type", VALUE_CHOICE, AT(FeedbackForm, type), .of = "matrix|mlp", .fallback = "matrix",
     .meaning =
         "matrix: linear. mlp: a small neural network, whose hidden neurons are tanh and whose outputs are linear."},
    {"feedback", "measures", VALUE_NAMES, AT(FeedbackForm, measures), .required = true, .unless = "file",
     .meaning = "What is measured, as below; an mlp takes at most 128."},
    {"feedback", "matrix", VALUE_TABLE, AT(FeedbackForm, matrix), .only = "matrix", .fallback = "(zero)",
     .unit = "unit of the target per unit of the measurement",
     .meaning = "One row per degree of freedom, one number per measurement; a flat list for one degree of freedom."},
    {"feedback", "layers", VALUE_INTEGERS, AT(FeedbackForm, layers), .only = "mlp", .fallback = "[8]",
     .range = RANGE_BETWEEN(1, 128), .meaning = "Neurons of each hidden layer, at most four layers."},
    {"feedback", "scale", VALUE_NUMBER, AT(FeedbackForm, scale), .only = "mlp", .fallback = "1",
     .unit = "unit of the target", .range = RANGE_ABOVE(0),
     .meaning =
         "The outputs are multiplied by this: about the largest force or angle that is wanted, so that weights of "
         "about 1 suffice."},
    {"feedback", "weights", VALUE_SERIES, AT(FeedbackForm, weights), .only = "mlp", .fallback = "(drawn)",
     .meaning =
         "Layer by layer, the output last: of every neuron its weights, then the biases of the layer. Drawn: the "
         "output layer is zero, so the network says nothing yet, and the others are uniform within one over the "
         "root of a neuron's inputs."},
    {"feedback", "seed", VALUE_INTEGER, AT(FeedbackForm, seed), .only = "mlp", .fallback = "1",
     .range = RANGE_BETWEEN(0, 2147483647), .meaning = "Of weights that are drawn; another seed gives other weights."},
    {"feedback", "file", VALUE_TEXT, AT(FeedbackForm, file),
     .meaning =
         "A JSON file with these keys, as `sdrs export SCENE -o policy.json` writes it; then no other key stands "
         "here. Relative to the scene's file."},

    /* ---------------------------------------------------------------- load */
    {"load", "link", VALUE_TEXT, AT(LoadForm, link), .required = true, .meaning = "The link that is acted on."},
    {"load", "force", VALUE_SIGNAL, AT(LoadForm, force), .unit = "N", .fallback = "(none)",
     .meaning = "Three numbers, or a signal of three channels."},
    {"load", "torque", VALUE_SIGNAL, AT(LoadForm, torque), .unit = "N m", .fallback = "(none)",
     .meaning = "The same; besides what the force has about the centre of mass."},
    {"load", "point", VALUE_VECTOR, AT(LoadForm, point), .unit = "m", .fallback = "(the centre of mass)",
     .meaning = "Point of the link, in its frame, that the force acts on."},
    {"load", "axes", VALUE_CHOICE, AT(LoadForm, axes), .of = "world|link", .fallback = "world",
     .meaning = "world: force and torque keep their direction. link: they are given in the link's axes and turn with "
                "it, as the thrust of a propeller does."},
    {"load", "field", VALUE_OBJECT, AT(LoadForm, field), .of = "field", .nullable = true,
     .meaning = "Instead of force and torque: what acts from afar, at `point`."},
    {"load", "repeat", VALUE_OBJECT, AT(LoadForm, repeat), .of = "repeat_load", .nullable = true,
     .meaning = "Many loads from this one."},

    /* ---------------------------------------------------------------- field */
    {"field", "type", VALUE_CHOICE, AT(FieldForm, type), .of = "point|dipole|uniform", .required = true,
     .meaning = "point: a central force. dipole: two magnets. uniform: a magnet in a uniform magnetic field."},
    {"field", "to", VALUE_TEXT, AT(FieldForm, to), .only = "point|dipole", .fallback = "(world)",
     .meaning = "The other link, which the opposite force acts on, or world. In a repeat it may hold {expressions}."},
    {"field", "at", VALUE_VECTOR, AT(FieldForm, at), .only = "point|dipole", .unit = "m",
     .fallback = "(the other's centre of mass; the world's origin)", .meaning = "Where the other acts, in its frame."},
    {"field", "strength", VALUE_SIGNAL, AT(FieldForm, strength), .required = true, .unit = "N m^power or A m^2",
     .meaning = "A number, or a signal of one channel. point: positive attracts, negative repels. dipole, uniform: the "
                "magnetic moment of the link's magnet."},
    {"field", "power", VALUE_NUMBER, AT(FieldForm, power), .only = "point", .fallback = "2",
     .range = RANGE_BETWEEN(-10, 10),
     .meaning = "The force is strength / distance^power: 2 is gravity, -1 a spring without length."},
    {"field", "softening", VALUE_NUMBER, AT(FieldForm, softening), .only = "point", .unit = "m", .fallback = "0",
     .range = RANGE_AT_LEAST(0),
     .meaning = "Below this distance the force fades to zero: it is strength d / (d^2 + softening^2)^((power + 1)/2)."},
    {"field", "axis", VALUE_VECTOR, AT(FieldForm, axis), .only = "dipole|uniform", .required = true,
     .meaning = "Direction of the link's magnetic moment, in its frame; its length does not matter."},
    {"field", "moment", VALUE_VECTOR, AT(FieldForm, moment), .only = "dipole", .unit = "A m^2", .required = true,
     .meaning = "The other's magnetic moment, in its frame."},
    {"field", "flux_density", VALUE_VECTOR, AT(FieldForm, flux_density), .only = "uniform", .unit = "T",
     .required = true, .meaning = "Of the field, in the world's axes."},

    /* ---------------------------------------------------------------- tendon */
    {"tendon", "points", VALUE_LIST, AT(TendonForm, points), .of = "tendon_point", .required = true,
     .meaning = "Where it is fastened, what it runs through without friction, where it ends: two or more."},
    {"tendon", "tension", VALUE_SIGNAL, AT(TendonForm, tension), .unit = "N", .fallback = "0",
     .meaning = "The force that it pulls with, however long it is: a number, or a signal of one channel."},
    {"tendon", "stiffness", VALUE_NUMBER, AT(TendonForm, stiffness), .unit = "N/m", .fallback = "0",
     .range = RANGE_AT_LEAST(0), .meaning = "Besides, what it pulls with per metre beyond `rest_length`."},
    {"tendon", "rest_length", VALUE_NUMBER, AT(TendonForm, rest_length), .unit = "m", .fallback = "0",
     .range = RANGE_AT_LEAST(0), .meaning = "Up to here it hangs loose. With `stiffness` only."},
    {"tendon", "eyelet", VALUE_NUMBER, AT(TendonForm, eyelet), .unit = "m",
     .fallback = "(1e-2 of how far its points are from their frames' origins, in the mean)", .range = RANGE_AT_LEAST(0),
     .meaning = "Where two neighbouring points come nearer than this the pull between them fades; without that a cord "
                "that draws them together would have no balance there."},
    {"tendon", "wrap", VALUE_LIST, AT(TendonForm, wrap), .of = "tendon_wrap", .nullable = true,
     .meaning = "Pulleys and bones: solids that it goes round, without friction, where they are in its way."},
    {"tendon_wrap", "type", VALUE_CHOICE, AT(TendonWrapForm, type), .of = "cylinder|sphere", .required = true,
     .meaning = "A cylinder has no ends: the cord runs on it as a helix."},
    {"tendon_wrap", "link", VALUE_TEXT, AT(TendonWrapForm, link), .fallback = "(world)",
     .meaning = "The link that it is part of, or world. No shape is needed there."},
    {"tendon_wrap", "radius", VALUE_NUMBER, AT(TendonWrapForm, radius), .unit = "m", .required = true,
     .range = RANGE_ABOVE(0), .meaning = "The cord's middle line is so far from the axis, or from the centre."},
    {"tendon_wrap", "position", VALUE_VECTOR, AT(TendonWrapForm, position), .unit = "m", .fallback = "[0, 0, 0]",
     .meaning = "The centre, or a point of the axis, in the link's frame."},
    {"tendon_wrap", "axis", VALUE_VECTOR, AT(TendonWrapForm, axis), .only = "cylinder", .fallback = "[0, 0, 1]",
     .meaning = "Of the cylinder, in the link's frame; of any length but 0."},
    {"tendon_wrap", "side", VALUE_VECTOR, AT(TendonWrapForm, side), .unit = "m", .fallback = "(the shorter way)",
     .meaning = "A point, in the link's frame: the cord passes on its side of the axis or the centre, also where that "
                "is the longer way. Give it where the cord may turn by half a circle or more."},
    {"tendon_wrap", "after", VALUE_INTEGER, AT(TendonWrapForm, after), .fallback = "(its own number in `wrap`, from 0)",
     .range = RANGE_AT_LEAST(0), .meaning = "It stands between this one of the points, counted from 0, and the next."},
    {"tendon_point", "link", VALUE_TEXT, AT(TendonPointForm, link), .fallback = "(world)",
     .meaning = "The link, or world. In a repeat it may hold {expressions}."},
    {"tendon_point", "point", VALUE_VECTOR, AT(TendonPointForm, point), .unit = "m", .fallback = "[0, 0, 0]",
     .meaning = "The point in the link's frame."},
    {"tendon_point", "repeat", VALUE_OBJECT, AT(TendonPointForm, repeat), .of = "repeat_tendon_point", .nullable = true,
     .meaning = "Many points from this one, in their order."},

    /* ---------------------------------------------------------------- bushing */
    {"bushing", "a", VALUE_TEXT, AT(BushingForm, a), .required = true, .meaning = "A link."},
    {"bushing", "b", VALUE_TEXT, AT(BushingForm, b), .fallback = "(world)",
     .meaning = "Another link, of the same tree or of another, or world."},
    {"bushing", "frame_a", VALUE_OBJECT, AT(BushingForm, frame_a), .of = "bushing_frame",
     .fallback = "(the frame of a)", .meaning = "Where the bushing is fastened on a, and its axes: in a's frame."},
    {"bushing", "frame_b", VALUE_OBJECT, AT(BushingForm, frame_b), .of = "bushing_frame", .required = true,
     .meaning = "The same on b: in b's frame, or in the world. Both frames coincide where the springs are at rest."},
    {"bushing", "stiffness", VALUE_TABLE, AT(BushingForm, stiffness), .unit = "N/m, N m/rad", .required = true,
     .meaning = "Six numbers, of x, y, z and of the rotations about them, in the axes of frame_a; or the rows of a "
                "symmetric 6 x 6 matrix without negative eigenvalues."},
    {"bushing", "damping", VALUE_TABLE, AT(BushingForm, damping), .unit = "N s/m, N m s/rad", .fallback = "(zero)",
     .meaning = "The same of the rates."},
    {"bushing", "preload", VALUE_NUMBERS, AT(BushingForm, preload), .unit = "N, N m", .fallback = "(zero)",
     .meaning = "Six numbers: force and torque on b where the frames coincide, in the axes of frame_a. A gas spring is "
                "a preload along its axis and little stiffness."},

    /* ---------------------------------------------------------------- closure */
    {"closure", "type", VALUE_CHOICE, AT(ClosureForm, type), .of = "weld|ball|hinge|slide|distance", .required = true,
     .meaning = "What stays together. weld: everything. ball: a point of both. hinge: a point and an axis. slide: all "
                "but the way along an axis. distance: how far a point of a is from a point of b."},
    {"closure", "a", VALUE_TEXT, AT(ClosureForm, a), .required = true, .meaning = "A link."},
    {"closure", "b", VALUE_TEXT, AT(ClosureForm, b), .fallback = "(world)",
     .meaning = "Another link, of the same tree or of another, or world."},
    {"closure", "axes", VALUE_CHOICE, AT(ClosureForm, axes), .of = "world|link", .fallback = "world",
     .meaning =
         "Where `point` and `axis` are given: in the world at the start, or in the frame of `a`, with which they "
         "then go wherever the machine starts."},
    {"closure", "point", VALUE_VECTOR, AT(ClosureForm, point), .only = "ball|hinge|distance", .unit = "m",
     .required = true, .meaning = "The point that both links share from the start on; of distance, the end on a."},
    {"closure", "point", VALUE_VECTOR, AT(ClosureForm, point), .only = "weld|slide", .unit = "m",
     .fallback = "(the origin of a's frame)", .meaning = "Where the force of the closure is told."},
    {"closure", "axis", VALUE_VECTOR, AT(ClosureForm, axis), .only = "hinge|slide", .required = true,
     .meaning = "Direction, any length."},
    {"closure", "axis", VALUE_VECTOR, AT(ClosureForm, axis), .only = "distance", .fallback = "(towards b's frame)",
     .meaning = "Direction from the end on a to the end on b, which is `length` away; without it the end on b is the "
                "origin of b's frame."},
    {"closure", "length", VALUE_NUMBER, AT(ClosureForm, length), .only = "distance", .unit = "m",
     .fallback = "(as far as the ends are apart)", .range = RANGE_ABOVE(0), .meaning = "Distance of the two ends."},
    {"closure", "break_force", VALUE_NUMBER, AT(ClosureForm, break_force), .unit = "N", .fallback = "(none)",
     .range = RANGE_ABOVE(0),
     .meaning = "The closure is gone after the step in which its force is larger than this: up to one dt late, and "
                "what follows is off in proportion to dt."},
    {"closure", "active", VALUE_SIGNAL, AT(ClosureForm, active), .fallback = "(always)",
     .meaning =
         "Signal that switches the closure, not of a distance: it holds in steps that begin at a value of 1/2 or "
         "more. It closes where it finds its links (no jump of positions), the motion between them ends in one "
         "step and momentum is kept. One that has broken stays open. Its links may touch each other."},

    /* ---------------------------------------------------------------- coupling */
    {"coupling", "link", VALUE_TEXT, AT(CouplingForm, link), .required = true,
     .meaning =
         "The link whose joint follows: its coordinate = ratio x that of `of` + offset, or the sum of all terms + "
         "offset. Either side carries forces to the other."},
    {"coupling", "coordinate", VALUE_TEXT, AT(CouplingForm, coordinate), .fallback = "(the only one)",
     .meaning = "Which of its joint's coordinates, by its name in joints.csv. Not of three rotations."},
    {"coupling", "of", VALUE_TEXT, AT(CouplingForm, of), .group = "of",
     .meaning = "The link that it follows, whose joint has one coordinate."},
    {"coupling", "ratio", VALUE_NUMBER, AT(CouplingForm, ratio), .unit = "1, m/rad or rad/m", .fallback = "1",
     .meaning = "Of a gear minus teeth over teeth, of a rack its pinion's radius, of a screw its lead over 2 pi."},
    {"coupling", "terms", VALUE_LIST, AT(CouplingForm, terms), .of = "coupling_term", .group = "of",
     .meaning = "Several that it follows: of a differential the carrier is half of one side and half of the other."},
    {"coupling", "offset", VALUE_NUMBER, AT(CouplingForm, offset), .unit = "m or rad",
     .fallback = "(as they stand at the start)", .meaning = "Must be what they have at the start when it is given."},
    {"coupling_term", "link", VALUE_TEXT, AT(CouplingTermForm, link), .required = true, .meaning = "A link."},
    {"coupling_term", "coordinate", VALUE_TEXT, AT(CouplingTermForm, coordinate), .fallback = "(the only one)",
     .meaning = "Which of its joint's coordinates."},
    {"coupling_term", "ratio", VALUE_NUMBER, AT(CouplingTermForm, ratio), .unit = "1, m/rad or rad/m", .fallback = "1",
     .meaning = "Its part in the sum."},

    /* ---------------------------------------------------------------- signal */
    {"signal", "type", VALUE_CHOICE, AT(SignalForm, type), .of = "constant|keyframes|spline|sines|sequence|csv",
     .required = true, .meaning = "How the value follows from time."},
    {"signal", "value", VALUE_PER_DOF, AT(SignalForm, value), .only = "constant", .unit = "m, rad, N ...",
     .required = true, .meaning = "The value: one number, or one per channel."},
    {"signal", "times", VALUE_SERIES, AT(SignalForm, times), .only = "keyframes|spline", .unit = "s", .group = "times",
     .meaning = "Times of the knots, rising. Before the first and after the last the value is held."},
    {"signal", "duration", VALUE_NUMBER, AT(SignalForm, duration), .only = "spline", .unit = "s",
     .range = RANGE_ABOVE(0), .group = "times", .meaning = "Evenly spaced knots from 0 to here, instead of times."},
    {"signal", "interval", VALUE_NUMBER, AT(SignalForm, interval), .only = "sequence", .unit = "s",
     .range = RANGE_ABOVE(0), .required = true, .meaning = "Time from one row of values to the next."},
    {"signal", "values", VALUE_TABLE, AT(SignalForm, values), .only = "keyframes|spline|sequence",
     .unit = "m, rad, N ...", .required = true,
     .meaning = "One row per knot, each with one number per channel; a flat list for one channel. Linear between "
                "keyframes and in a sequence, a natural cubic through the knots of a spline."},
    {"signal", "rows", VALUE_INTEGER, AT(SignalForm, rows), .only = "sequence", .range = RANGE_BETWEEN(1, 10000000),
     .fallback = "(those of values)", .meaning = "Rows in all: the last one of values stands for all that follow it."},
    {"signal", "offset", VALUE_PER_DOF, AT(SignalForm, offset), .only = "sines", .unit = "m, rad, N ...",
     .fallback = "0", .meaning = "Value around which the sines swing, one number or one per channel."},
    {"signal", "terms", VALUE_TERMS, AT(SignalForm, terms), .of = "sine", .only = "sines", .required = true,
     .meaning = "The sines to add: a list for one channel, or a list of such lists, one per channel."},
    {"signal", "ramp", VALUE_NUMBER, AT(SignalForm, ramp), .only = "sines", .unit = "s", .range = RANGE_AT_LEAST(0),
     .fallback = "0",
     .meaning = "The sines grow to their size over so long, times 10 x^3 - 15 x^4 + 6 x^5 of x = t / ramp: value and "
                "rate begin with those of the offset, so a gait starts without a jolt. 0: they have it at once."},

    {"signal", "file", VALUE_TEXT, AT(SignalForm, file), .only = "csv", .required = true,
     .meaning = "CSV file with a header line, relative to the scene file."},
    {"signal", "time", VALUE_TEXT, AT(SignalForm, time), .only = "csv", .unit = "s", .fallback = "(time)",
     .meaning = "Name of its column of times, which rise. Before the first and after the last the value is held."},
    {"signal", "column", VALUE_TEXT, AT(SignalForm, column), .only = "csv", .group = "columns",
     .meaning = "Name of the column of values, for one channel."},
    {"signal", "columns", VALUE_NAMES, AT(SignalForm, columns), .only = "csv", .group = "columns",
     .meaning = "Names of the columns, one per channel. Three rotations take a rotation vector, or four columns of a "
                "quaternion w, x, y, z, of any length but zero: of a free link seven columns in all."},
    {"signal", "interpolation", VALUE_CHOICE, AT(SignalForm, interpolation), .only = "csv", .of = "linear|cubic",
     .fallback = "linear", .meaning = "Between rows: linear, as keyframes, or cubic, as a spline."},

    {"sine", "amplitude", VALUE_NUMBER, AT(SineForm, amplitude), .unit = "m, rad, N ...", .required = true,
     .meaning = "Amplitude of amplitude * sin(2 pi frequency t + phase)."},
    {"sine", "frequency", VALUE_NUMBER, AT(SineForm, frequency), .unit = "Hz", .required = true,
     .range = RANGE_AT_LEAST(0), .meaning = "Frequency."},
    {"sine", "phase", VALUE_NUMBER, AT(SineForm, phase), .unit = "rad", .fallback = "0", .meaning = "Phase at time 0."},

    /* ---------------------------------------------------------------- initial */
    {"initial", "link", VALUE_TEXT, AT(InitialForm, link), .required = true,
     .meaning = "The link whose joint starts so."},
    {"initial", "coordinates", VALUE_NUMBERS, AT(InitialForm, coordinates), .unit = "m or rad",
     .meaning = "One number per degree of freedom, translations first; three rotations as a rotation vector, or as a "
                "quaternion w, x, y, z."},
    {"initial", "velocities", VALUE_NUMBERS, AT(InitialForm, velocities), .unit = "m/s or rad/s",
     .meaning =
         "One number per degree of freedom; three rotations as the angular velocity in the link's own axes at "
         "the start, as velocities.csv has it: not the world's, nor those of the joint's frame where `coordinates` "
         "rotate the link."},
    {"initial", "repeat", VALUE_OBJECT, AT(InitialForm, repeat), .of = "repeat_initial", .nullable = true,
     .meaning = "Many items from this one."},
};

const SchemaTable SCENE_SCHEMA = {
    .objects = SCENE_OBJECTS,
    .object_count = SCENE_OBJECT_COUNT,
    .rows = ROWS,
    .row_count = (int)(sizeof ROWS / sizeof ROWS[0]),
    .foreign = contact_schema_row,
    .root = "scene",
    .title = "sdrs scene",
    .id = "scene.schema.json",
    .command = "sdrs schema --markdown",
    .overrides =
        "`--set contact.friction=0.2`, `--set links.chain.repeat.count=16`, `--set simulation.gravity.2=-1.62`. "
        "Items of a list go by their `name` or `link` (its `{expressions}` may be left out) or by number from 0; `*` "
        "and `?` in a name stand for every item like it, `+` for one more: `--set 'controllers.*.position_gain=5'`, "
        "`--set 'links.leg?.mass=0.2'`, `--set 'links.+={name: ball, mass: 1, shape: {type: sphere, radius: 0.1}}'`. A "
        "key that excludes others, like `steps` and `duration`, replaces them.",
};
