/* Objects of task files in the order of the documentation, each with its meaning and an example. The keys of the
 * objects are in task_table.c. */
#include "scene/task_parts.h"

#define AT(type, member) offsetof(type, member)

const SchemaObject TASK_OBJECTS[] = {
    {.name = "task",
     .title = "The file",
     .size = sizeof(TaskForm),
     .meaning =
         "A task is a YAML (or JSON) map with these keys: scenes, variables, objective and optimizer. At least one of "
         "design, control, initial and parameters must define variables. design defines variables by vertices, a cage "
         "or attachments.",
     .example = "# the end of a double pendulum is to be at a point after two seconds\n"
                "name: reach\n"
                "scene: ../scenes/double-pendulum.yaml\n"
                "steps: 200\n"
                "design:\n"
                "  vertices: [{link: lower, axes: [x, z], within: 0.05}]\n"
                "  attachments: [{link: lower, axes: [z], within: 0.1}]\n"
                "loss:\n"
                "  - {type: point, link: lower, point: [0, 0, -1], target: [0.5, 0, -1.5]}\n"
                "  - {type: volume, weight: 0.01}\n"
                "optimizer: {type: adam, iterations: 50}\n"},
    {.name = "scenario",
     .title = "scenario",
     .size = sizeof(ScenarioForm),
     .meaning = "One scene in which design and control are evaluated.",
     .example = "scenarios:\n"
                "  - {name: smooth, scene: ../scenes/slide.yaml, steps: 100, set: [contact.friction=0.1]}\n"
                "  - {name: rough, scene: ../scenes/slide.yaml, steps: 50, weight: 0.5}\n"
                "  - name: short\n"
                "    scene:\n"
                "      simulation: {dt: 0.01, steps: 20}\n"
                "      links: [{name: box, mass: 1, shape: {type: box, size: [0.2, 0.2, 0.2]}}]\n"
                "initial: [{link: box, velocities: true, dof: [0]}]\n"
                "loss: [{type: point, link: box, target: [0.3, 0, 0.1]}]\n"},
    {.name = "design",
     .title = "design",
     .size = sizeof(DesignForm),
     .meaning = "Variables of shapes and joint origins.",
     .example = "scene: ../scenes/pendulum.yaml\n"
                "design:\n"
                "  min_thickness: 0.005\n"
                "  connect: true\n"
                "  vertices: [{link: rod8}]\n"
                "loss: [{type: travel, link: rod8, direction: [1, 0, 0]}]\n"},
    {.name = "which",
     .title = "which links",
     .size = sizeof(LinkSelectionForm),
     .part = true,
     .meaning = "Links of the scene."},
    {.name = "bounds",
     .title = "bounds",
     .size = sizeof(BoundsForm),
     .part = true,
     .meaning = "Bounds of coordinates."},
    {.name = "interval",
     .title = "interval",
     .size = sizeof(IntervalForm),
     .part = true,
     .meaning = "Bounds of variables."},
    {.name = "vertices",
     .title = "vertices",
     .size = sizeof(VerticesForm),
     .includes = {{"which", AT(VerticesForm, which)}, {"bounds", AT(VerticesForm, bounds)}},
     .meaning =
         "Hull vertices of a link as variables, in the link's frame. A hull is the convex hull of its moved vertices.",
     .example = "scene: ../scenes/chains.yaml\n"
                "design:\n"
                "  vertices:\n"
                "    - links: [chain0link0, chain0link1]\n"
                "      box: {low: [-1, -1, -1], high: [1, 1, 0]}\n"
                "      axes: [x, y]\n"
                "      within: 0.02\n"
                "    - {link: chain0link2, hulls: [0], low: -0.2, high: [0.05, 0.05, 0.1]}\n"
                "loss: [{type: shape}]\n"},
    {.name = "cage",
     .title = "cage",
     .size = sizeof(CageForm),
     .includes = {{"which", AT(CageForm, which)}, {"bounds", AT(CageForm, bounds)}},
     .meaning = "A box of control points around a link. The variables are `link/cage/0/x`, with the first axis running "
                "fastest. Vertices of the link follow by trilinear interpolation in each cell. Coincident vertices "
                "therefore stay together, and the topology does not change. Bounds apply to control points, so no "
                "vertex moves farther than `within`. A link has either vertices or a cage.",
     .example = "scene: ../scenes/chains.yaml\n"
                "design:\n"
                "  cage: [{links: [chain0link0, chain0link1], cells: [2, 2, 4], within: 0.02}]\n"
                "loss: [{type: shape}]\n"},
    {.name = "frozen",
     .title = "frozen",
     .size = sizeof(FrozenForm),
     .includes = {{"which", AT(FrozenForm, which)}},
     .meaning = "Vertices of a link's hulls that do not move: mounting faces, bearings. Vertices tied to them do not "
                "move either. For links that follow another link by symmetry, freeze the vertices of that other link.",
     .example = "scene: ../scenes/chains.yaml\n"
                "design:\n"
                "  vertices: [{link: chain0link0, within: 0.02}]\n"
                "  frozen: [{link: chain0link0, box: {low: [-1, -1, 0.1], high: [1, 1, 1]}}]\n"
                "loss: [{type: shape}]\n"},
    {.name = "box",
     .title = "box",
     .size = sizeof(BoxForm),
     .meaning = "A box with edges along the axes of the link's frame."},
    {.name = "attachment",
     .title = "attachment",
     .size = sizeof(AttachmentForm),
     .includes = {{"which", AT(AttachmentForm, which)}, {"bounds", AT(AttachmentForm, bounds)}},
     .meaning = "The origin of a link's joint, in its parent's frame, as a variable. All descendants of the link move "
                "with it.",
     .example = "scene: ../scenes/double-pendulum.yaml\n"
                "design: {attachments: [{link: lower, axes: [x], within: 0.05}]}\n"
                "loss: [{type: point, link: lower, target: [0.5, 0, -1]}]\n"},
    {.name = "symmetry",
     .title = "symmetry",
     .size = sizeof(SymmetryForm),
     .type_key = "type",
     .meaning = "Links with equal or symmetric designs. The first link has the variables, and the other links follow.",
     .example = "scene: ../scenes/chains.yaml\n"
                "design:\n"
                "  vertices: [{links: [chain0link0, chain0link1, chain0link2], within: 0.02}]\n"
                "  symmetry:\n"
                "    - {type: copy, links: [chain0link0, chain0link1, chain0link2]}\n"
                "    - {type: mirror, links: [chain0link0], normal: [0, 1, 0]}\n"
                "    - {type: rotation, links: [chain0link0], axis: [0, 0, 1], count: 2}\n"
                "loss: [{type: travel, link: chain0link2, direction: [1, 0, 0]}]\n"},
    {.name = "constraint",
     .title = "constraint",
     .size = sizeof(ConstraintForm),
     .meaning = "A linear condition on coordinates of attachments, controller parameters and initial values.",
     .example = "scene: ../scenes/double-pendulum.yaml\n"
                "design:\n"
                "  attachments: [{links: [upper, lower], axes: [z]}]\n"
                "  constraints:\n"
                "    - variables: [upper/attachment/z, lower/attachment/z]\n"
                "      coefficients: [1, -1]\n"
                "      relation: at_least\n"
                "      value: 0.1\n"
                "loss: [{type: point, link: lower, target: [0.5, 0, -1]}]\n"},
    {.name = "control",
     .title = "control",
     .size = sizeof(ControlForm),
     .includes = {{"which", AT(ControlForm, which)}, {"interval", AT(ControlForm, interval)}},
     .meaning =
         "Parameters of the controllers of a link's joint, and of the loads on the link, as variables. Variables of "
         "the first controller are called `link/values/3`, of further controllers `link/controller2_values/3`, of "
         "loads `link/force_values/0`.",
     .example = "scene: ../scenes/spider.yaml\n"
                "control: [{links: [upper0, upper1], parameters: [amplitude, phase], within: 0.5}]\n"
                "loss: [{type: travel, link: body, direction: [1, 0, 0]}, {type: effort, weight: 1e-6}]\n"},
    {.name = "start",
     .title = "initial",
     .size = sizeof(StartForm),
     .includes = {{"which", AT(StartForm, which)}, {"interval", AT(StartForm, interval)}},
     .meaning = "Initial values of a joint as variables.",
     .example = "scene: ../scenes/slide.yaml\n"
                "initial: [{link: box, velocities: true, dof: [0], within: 3}]\n"
                "loss: [{type: point, link: box, target: [0.3, 0, 0.1]}]\n"},
    {.name = "parameter",
     .title = "parameters",
     .size = sizeof(ParameterForm),
     .type_key = "type",
     .includes = {{"which", AT(ParameterForm, which)}, {"interval", AT(ParameterForm, interval)}},
     .meaning =
         "Physical parameters as variables. The variables are called `link/mass`, `link/damping/0`, "
         "`contact/friction`. Names of smooth shapes and round solids contain the number of the shape in the link and "
         "the key in the scene: `link/shape/0/radius`, `link/shape/1/size/x`. Former names, such as `link/size/0.1`, "
         "are accepted, in constraints with a warning.\n"
         "\n"
         "* `mass` [kg] of links (kg/m^3 where a density is given); the mass distribution does not change\n"
         "* `center` [m]: the centre of mass in the link's frame; the link's mass properties then no longer follow its "
         "shape\n"
         "* `inertia` about the centre of mass; the link's mass properties then no longer follow its shape. Every "
         "value of these variables is physically possible (docs/derivations/design.md, D9)\n"
         "* `size` [m]: the edges of the link's box. If the link has no box: the lengths of its round solids, as with "
         "shape_size. These are radius, width, rim, length, size, in the order of their keys; a size of 0 does not "
         "change. `lengths` selects some of these lengths\n"
         "* `damping`, `joint_stiffness`, `joint_friction`, `armature`, `joint_static_friction` of the links' joints\n"
         "* `axis` [rad]: tilt of a joint's axis from the axis in the scene, about axes of the joint's frame; "
         "`rotation` [rad]: rotation of the joint's frame with all descendants of the link. Both are rotation vectors "
         "(docs/derivations/design.md, D11)\n"
         "* `shape_size` [m]: lengths of the convex smooth shapes (sizes, offsets of faces) and the exact round solids "
         "that links have; `shape_form`: their exponents and sharpness\n"
         "* `link_friction` (if two numbers are given, the coefficient across), `link_friction_along`, "
         "`link_static_friction`, `link_stribeck_speed` [m/s], `link_restitution`, `link_rolling` [m], `link_spinning` "
         "[m] that links have of their own\n"
         "* `pair_friction` (of two numbers the coefficient across), `pair_friction_along`, `pair_static_friction`, "
         "`pair_stribeck_speed` [m/s], `pair_restitution`, `pair_rolling` [m], `pair_spinning` [m] of an item of "
         "contact.pairs. `a` and `b` name the item.\n"
         "* `closure_point` [m], `closure_axis`, `closure_length` [m] of the scene's closures, with their `a` and `b`; "
         "`ratio` of the couplings of these links, if the coupling has no `offset`; `offset` [m or rad] of couplings "
         "that have an `offset`. The initial coordinate of the coupled joint changes with `offset`. All loops stay "
         "closed at the start. A planar linkage locks if an axis leaves its plane\n"
         "* `tendon_point` [m], `tendon_stiffness` [N/m], `tendon_rest_length` [m], `tendon_friction` [N]: all points, "
         "stiffness, rest length and friction of the tendons that end on the links; `tendon_wrap_radius` [m], "
         "`tendon_wrap_position` [m], `tendon_wrap_axis` of their wraps\n"
         "* `bushing_stiffness` [N/m, N m/rad], `bushing_damping` [N s/m, N m s/rad]: entries above 0 on the "
         "diagonals; `bushing_preload` [N, N m], `bushing_position_a` [m], `bushing_position_b` [m], of the bushings "
         "whose `a` is one of the links\n"
         "* `gravity` [m/s^2], of the scene. This and all following types take no link\n"
         "* `fluid_density` [kg/m^3], `fluid_viscosity` [Pa s], `fluid_velocity` [m/s], `fluid_level` [m] of the "
         "scene's fluid\n"
         "* `friction`, `barrier_distance` [m], `stiffness`, `smoothing` [(m/s)^2], `rest_speed` [m/s], `restitution`, "
         "`rolling` [m], `spinning` [m], `static_friction`, `stribeck_speed` [m/s] of the contact",
     .example = "scene: ../scenes/slide.yaml\n"
                "steps: 50\n"
                "parameters:\n"
                "  - {type: friction, low: 0.05, high: 1}\n"
                "  - {type: mass, link: box, within: 0.5}\n"
                "  - {type: inertia, link: box, form: diagonal}\n"
                "  - {type: size, link: box, axes: [x, y], tie: true, within: 0.02}\n"
                "  - {type: gravity, within: 0.3}\n"
                "loss: [{type: point, link: box, target: [0.04, 0, 0.1]}]\n"},
    {.name = "loss",
     .title = "loss",
     .size = sizeof(LossForm),
     .type_key = "type",
     .meaning =
         "A term of the objective, which is minimized.\n"
         "\n"
         "* `point`: distance of a point of the link from its target (power 1), or its square (power 2)\n"
         "* `travel`: minus the displacement of the centre of mass along the direction, from the beginning to the end "
         "of the window\n"
         "* `relative`: squared change of the position of the other link's centre in this link's frame, since the "
         "beginning of the window\n"
         "* `reach`: max(distance^2 - margin^2, 0), of a point of the link from its target\n"
         "* `orientation`: squared difference of the link's axis and the target\n"
         "* `velocity`: squared difference of the velocity of a point of the link and the target\n"
         "* `effort`: squared forces of the controllers, summed over degrees of freedom\n"
         "* `smoothness`: squared rates of the controllers' targets\n"
         "* `force`: squared difference of the contact force on the link and the target\n"
         "* `gap`: max(margin - smallest gap of the link and the other, 0)^2\n"
         "* `shape`: squared distance of the vertices from their initial positions, mean over vertices\n"
         "* `volume`: (volume / initial volume - 1)^2, summed over hulls\n"
         "* `roughness`: squared difference of the displacements of neighbouring vertices, mean over edges\n"
         "* `approach`: max(D - margin^2, 0), D the squared distance between the two links, a smooth minimum over "
         "their vertices\n"
         "* `pose`: squared distance of a point of the link from its target, and length^2 times about the square of "
         "the angle between its frame and the rotation\n"
         "* `neck`: margin - diameter of the widest ball that fits through the overlaps from each hull of the link to "
         "each other\n"
         "* `wall`: margin - width of the link's thinnest hull\n"
         "* `overhang`: area of surfaces that overhang by more than an angle, times the square of the excess of its "
         "sine\n"
         "* `extent`: size of the link along a direction\n"
         "* `keep_out`: margin - distance of the link's hulls from a box in its frame\n"
         "* `clearance`: margin - smallest distance of the link from the other over the whole range of its joint\n"
         "* `removal`: margin - smallest distance of the link from the others while it is removed along a direction\n"
         "* `mass`: mass of the link, or total mass of all `links`\n"
         "* `coordinate`: squared difference of a coordinate of the link's joint and a value",
     .example =
         "seed: 1\n"
         "scene: ../scenes/spider.yaml\n"
         "control: [{link: upper0}]\n"
         "loss:\n"
         "  - {type: travel, name: forward, link: body, direction: [1, 0, 0], weight: 2}\n"
         "  - {type: orientation, link: body, axis: [0, 0, 1], target: [0, 0, 1], from: 0, to: 1}\n"
         "  - {type: reach, link: body, point: [0.1, 0, 0], target: [1, 0, 0.3], margin: 0.05, spread: [0.1, 0.1, "
         "0]}\n"
         "  - {type: effort, weight: 1e-6}\n"},
    {.name = "subject",
     .title = "subject_to",
     .size = sizeof(SubjectForm),
     .type_key = "type",
     .includes = {{"loss", AT(SubjectForm, loss)}},
     .meaning = "A constraint: a term with an upper bound. It accepts the same types and keys as `loss`. An augmented "
                "Lagrangian enforces the bound (docs/derivations/update.md, O11). With several scenarios the weighted "
                "sum is bounded.",
     .example = "scene: ../scenes/slide.yaml\n"
                "initial: [{link: box, velocities: true, dof: [0], within: 3}]\n"
                "loss: [{type: velocity, link: box, target: [0, 0, 0], to: 0.01}]\n"
                "subject_to: [{type: travel, link: box, direction: [1, 0, 0], max: -0.1}]\n"},
    {.name = "success",
     .title = "success",
     .size = sizeof(SubjectForm),
     .type_key = "type",
     .includes = {{"loss", AT(SubjectForm, loss)}},
     .meaning = "A criterion for the result. A criterion accepts the same types and keys as `loss`. At the end `sdrs "
                "optimize` evaluates each criterion on the best run. With receding, it uses the executed run and the "
                "times of that run. A criterion is met if the term is at most `max`. With several scenarios the "
                "largest term counts. `success` of summary.json is true if all criteria are met, and `success_terms` "
                "has the values. Designs that meet all criteria rank before all other designs, whatever their loss. "
                "This order does not apply with draws or receding, nor with a force between two links as a criterion. "
                "The gradient is the gradient of the loss alone.",
     .example = "scene: ../scenes/slide.yaml\n"
                "initial: [{link: box, velocities: true, dof: [0], within: 3}]\n"
                "loss: [{type: point, link: box, target: [0.3, 0, 0.1]}]\n"
                "success: [{type: point, link: box, target: [0.3, 0, 0.1], power: 1, max: 0.02}]\n"},
    {.name = "optimizer",
     .title = "optimizer",
     .size = sizeof(OptimizerForm),
     .type_key = "type",
     .meaning = "Optimization method. The design (vertices and attachments) and the other variables (controllers, "
                "initial values, parameters) have separate steps.",
     .example = "scene: ../scenes/slide.yaml\n"
                "initial: [{link: box, velocities: true}]\n"
                "loss: [{type: point, link: box, target: [0.3, 0, 0.1]}]\n"
                "optimizer:\n"
                "  type: step_bounded\n"
                "  iterations: 200\n"
                "  control_step: 0.1\n"
                "  norm: euclidean\n"
                "  schedule: cosine\n"
                "  decay: 0.01\n"
                "  stop_loss: 1e-6\n"
                "  stall: 20\n"},
    {.name = "schedule",
     .title = "schedule",
     .size = sizeof(ScheduleForm),
     .meaning =
         "Continuation: contact with a longer range in the first iterations than in the last. The current design is "
         "evaluated again whenever the contact changes. Stopping conditions and the best design refer to the final "
         "contact law. Every window of `receding` runs the whole schedule and is executed with the final law.",
     .example = "scene: ../scenes/slide.yaml\n"
                "initial: [{link: box, velocities: true}]\n"
                "loss: [{type: point, link: box, target: [0.3, 0, 0.1]}]\n"
                "schedule:\n"
                "  contact.barrier_distance: {from: 0.02, to: 0.001, iterations: 20}\n"
                "optimizer: {type: adam, iterations: 40}\n"},
    {.name = "ramp",
     .title = "ramp, of a schedule",
     .size = sizeof(RampForm),
     .meaning = "A number that goes from one value to another, by the same factor in every iteration.",
     .example = "scene: ../scenes/slide.yaml\n"
                "initial: [{link: box, velocities: true}]\n"
                "loss: [{type: point, link: box, target: [0.3, 0, 0.1]}]\n"
                "schedule: {contact.stiffness: {from: 1.0e-6, to: 1.0e-9, iterations: 20}}\n"
                "optimizer: {type: adam, iterations: 40}\n"},
    {.name = "switch",
     .title = "switch, of a schedule",
     .size = sizeof(SwitchForm),
     .meaning = "A contact law instead of the law of the scene. Friction and smoothing do not change. Barrier "
                "distance, stiffness, rest speed and parameters of the law are derived again.",
     .example = "scene: ../scenes/slide.yaml\n"
                "initial: [{link: box, velocities: true}]\n"
                "loss: [{type: point, link: box, target: [0.3, 0, 0.1]}]\n"
                "schedule: {contact.model: {to: long_range, at: 20}}\n"
                "optimizer: {type: adam, iterations: 40}\n"},
    {.name = "from",
     .title = "from",
     .size = sizeof(FromForm),
     .meaning =
         "Initial values from another run. Variables with the same name in design.csv of that run start from its best "
         "values, within the bounds of this task. Other variables start from the scene. The two sets of variables may "
         "differ. Bounds by `within` refer to the values of the scene. The run exists already (`run`), or an easier "
         "task is optimized first (`task`). `gradcheck` and `validate` do not run that task and use the values of the "
         "scene.",
     .example = "scene: ../scenes/slide.yaml\n"
                "from: {task: slide-first.yaml}\n"
                "initial: [{link: box, velocities: true}]\n"
                "loss: [{type: point, link: box, target: [0.3, 0, 0.1]}]\n"},
    {.name = "draws",
     .title = "draws",
     .size = sizeof(DrawsForm),
     .meaning = "Random numbers that are added to numbers of the scenes (docs/derivations/update.md, O18). They are "
                "uniform between two bounds and different in every scenario and iteration. The loss of an iteration is "
                "the loss with the draws of this iteration. The best design has the least mean loss over its iteration "
                "and the nine before it. Written scenes and `success` are without draws.",
     .example = "seed: 1\n"
                "scene: ../scenes/motor.yaml\n"
                "control: [{link: runs}]\n"
                "loss: [{type: effort}]\n"
                "draws: {every: 5, numbers: [{link: stalls, of: start, low: -0.1, high: 0.1}]}\n"},
    {.name = "draw",
     .title = "draw",
     .size = sizeof(DrawForm),
     .meaning = "Numbers of one link.",
     .example = "scene: ../scenes/motor.yaml\n"
                "control: [{link: runs}]\n"
                "loss: [{type: effort}]\n"
                "draws: {numbers: [{link: stalls, of: start, low: -0.1, high: 0.1}]}\n"},
    {.name = "validation",
     .title = "validation",
     .size = sizeof(ValidationForm),
     .meaning = "Tests the best design on draws that were not used in the optimization. summary.json has validation: "
                "{tried, held, objects: [{name, tried, held}]}, with one object for every scenario. `held` counts the "
                "runs that meet every term of `success`.",
     .example = "scene: ../scenes/motor.yaml\n"
                "control: [{link: runs}]\n"
                "loss: [{type: effort}]\n"
                "success: [{type: effort, max: 1000}]\n"
                "draws: {numbers: [{link: stalls, of: start, low: -0.1, high: 0.1}]}\n"
                "validation: {tries: 20}\n"},
    {.name = "choices",
     .title = "choices",
     .size = sizeof(ChoicesForm),
     .meaning = "A search over discrete choices, such as the number of links of a `repeat` or the type of a joint. "
                "Every combination is optimized by the task, in its own folder (1, 2, ... in the run folder; "
                "docs/co-design.md). choices.csv has a row for each combination. The run folder has the results of the "
                "best combination. Combinations that satisfy `subject_to` rank first, then combinations that meet "
                "`success`, then the least loss. Combinations that cannot be simulated are skipped. Random draws "
                "follow `seed` (docs/derivations/update.md, O19).",
     .example = "scene: ../scenes/chains.yaml\n"
                "control: [{link: chain1link0}]\n"
                "loss: [{type: effort}]\n"
                "choices: {of: [{key: scene.links.chainlink.repeat.count.1, values: [3, 5, 7]}]}\n"},
    {.name = "choice",
     .title = "choice",
     .size = sizeof(ChoiceForm),
     .meaning = "One choice.",
     .example = "scene: ../scenes/motor.yaml\n"
                "control: [{link: runs}]\n"
                "loss: [{type: effort}]\n"
                "choices: {of: [{key: scene.links.runs.joint.axis, values: [[0, 1, 0], [1, 0, 0]]}]}\n"},
    {.name = "receding",
     .title = "receding",
     .size = sizeof(RecedingForm),
     .meaning = "Receding horizon control (docs/receding.md). The control of the next `horizon` steps is optimized "
                "from the current state, then its first `apply` steps are executed. Both are repeated until the end. "
                "Time windows of losses count from the start of the horizon. The task must have one scenario, and "
                "control variables only.",
     .example = "scene: ../scenes/motor.yaml\n"
                "steps: 40\n"
                "control: [{link: runs}]\n"
                "loss: [{type: effort}]\n"
                "receding: {horizon: 20, apply: 5, iterations: 10, warm_start: shift}\n"},
    {.name = "plan",
     .title = "plan",
     .size = sizeof(PlanForm),
     .meaning = "A path of a body with fixed orientation past obstacles. Such a task has only `name` and `plan`, for "
                "`sdrs optimize` and `validate` (docs/planning.md)."},
    {.name = "plan_shape",
     .title = "a shape of plan",
     .size = sizeof(PlanShapeForm),
     .type_key = "type",
     .meaning = "The body, or an obstacle: a smooth convex shape (docs/smooth-shapes.md)."},
    {.name = "data",
     .title = "data",
     .size = sizeof(DataForm),
     .meaning = "Measured runs.",
     .example = "scene: ../scenes/slide.yaml\n"
                "parameters: [{type: friction, low: 0}]\n"
                "data:\n"
                "  files: [slides/*.csv]\n"
                "  measured:\n"
                "    - {link: box, position: [px, py, pz], quaternion: [qw, qx, qy, qz]}\n"
                "identify: {window: 0.2, train: 0.5}\n"},
    {.name = "measured",
     .title = "measured",
     .size = sizeof(MeasuredForm),
     .meaning = "Measured quantities of a link.",
     .example = "scene: ../scenes/pendulum.yaml\n"
                "parameters: [{type: damping, link: rod8}]\n"
                "data: {files: [swing.csv], measured: [{link: rod8, coordinates: [angle], angle_scale: "
                "0.017453292519943295}]}\n"},
    {.name = "input",
     .title = "input, of data",
     .size = sizeof(InputForm),
     .meaning = "A recorded signal that replaces one of the scene in each run: a target, a torque, a force.",
     .example = "scene: ../scenes/motor.yaml\n"
                "parameters: [{type: damping, link: runs}]\n"
                "data:\n"
                "  files: [tests/*.csv]\n"
                "  measured: [{link: runs, coordinates: [angle]}]\n"
                "  inputs: [{link: runs, columns: [current], scale: 0.35}]\n"},
    {.name = "identify",
     .title = "identify",
     .size = sizeof(TaskIdentify),
     .meaning = "Options of the fit of measured runs (docs/identify.md).",
     .example = "scene: ../scenes/slide.yaml\n"
                "parameters: [{type: friction, low: 0}]\n"
                "data: {files: [slides/*.csv], measured: [{link: box, position: [px, py, pz]}]}\n"
                "identify: {position: 0.002, huber: 3, train: 0.5, fit_initial: true}\n"},
    {.name = "gradient",
     .title = "gradient",
     .size = sizeof(GradientForm),
     .meaning = "Options of the gradients. The quantities that the losses depend on are always stored for all steps.",
     .example = "scene: ../scenes/slide.yaml\n"
                "initial: [{link: box, velocities: true}]\n"
                "loss: [{type: point, link: box, target: [0.3, 0, 0.1]}]\n"
                "gradient: {memory: 2}\n"},
};

_Static_assert(sizeof TASK_OBJECTS / sizeof TASK_OBJECTS[0] == TASK_OBJECT_COUNT, "all of them are counted");
