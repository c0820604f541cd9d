/* Connects the links and joints of a URDF file to a kinematic tree. */
#include <string.h>

#include "base/outside.h"
#include "robot/urdf.h"

static int find_link(const Names* names, const char* name, SourcePosition place, Diagnostics* diagnostics) {
  int index = names_find(names, name);
  const char* nearest = index < 0 && *name ? names_nearest(names, name) : NULL;
  if (index < 0 && *name)
    diagnostics_add(diagnostics, SEVERITY_ERROR, place, "no link is named '%s'%s", text_excerpt(name).text,
                    text_suggestion(nearest).text);
  return index;
}

/* Removes joints whose parent or child link is undefined, and reports them. Files that are parts of other files have
 * such joints. */
static void remove_joints_of_undefined_links(UrdfRobot* robot, Diagnostics* diagnostics, const Names* names) {
  int kept = 0;
  for (int k = 0; k < robot->joint_count; k++) {
    const UrdfJoint* joint = &robot->joints[k];
    bool parent = names_find(names, joint->parent_name) >= 0, child = names_find(names, joint->child_name) >= 0;
    if (parent && child)
      robot->joints[kept++] = *joint;
    else
      diagnostics_add(diagnostics, SEVERITY_WARNING, joint->place, "joint '%s' is left out: no link is named '%s'",
                      text_excerpt(joint->name).text,
                      text_excerpt(parent ? joint->child_name : joint->parent_name).text);
  }
  robot->joint_count = kept;
}

/* Sets parent and child of each joint from the names of the links. Returns false if a link is undefined. Reports
 * undefined links; absent names were reported before. */
static bool resolve_links(UrdfRobot* robot, bool lenient, Diagnostics* diagnostics) {
  Names names = {0};
  bool whole = true;
  for (int i = 0; i < robot->link_count; i++) names_add(&names, robot->links[i].name, i);
  if (lenient) remove_joints_of_undefined_links(robot, diagnostics, &names);
  for (int k = 0; k < robot->joint_count; k++) {
    UrdfJoint* joint = &robot->joints[k];
    joint->parent = find_link(&names, joint->parent_name, joint->parent_place, diagnostics);
    joint->child = find_link(&names, joint->child_name, joint->child_place, diagnostics);
    whole = whole && joint->parent >= 0 && joint->child >= 0;
  }
  names_free(&names);
  return whole;
}

static void find_parents(UrdfRobot* robot, Diagnostics* diagnostics) {
  for (int k = 0; k < robot->joint_count; k++) {
    const UrdfJoint* joint = &robot->joints[k];
    if (joint->child < 0) continue;
    UrdfLink* child = &robot->links[joint->child];
    if (child->joint >= 0)
      diagnostics_add(diagnostics, SEVERITY_ERROR, joint->child_place,
                      "link '%s' is also the child of joint '%s': a link has one parent; remove one of the joints",
                      text_excerpt(child->name).text, text_excerpt(robot->joints[child->joint].name).text);
    else
      child->joint = k;
  }
}

static void find_root(UrdfRobot* robot, Diagnostics* diagnostics) {
  for (int i = 0; i < robot->link_count; i++) {
    if (robot->links[i].joint >= 0) continue;
    if (robot->root >= 0)
      diagnostics_add(
          diagnostics, SEVERITY_ERROR, robot->links[i].place,
          "a robot must be one tree, but neither link '%s' nor link '%s' has a parent: connect them by joints",
          text_excerpt(robot->links[i].name).text, text_excerpt(robot->links[robot->root].name).text);
    else
      robot->root = i;
  }
  if (robot->root < 0)
    diagnostics_add(diagnostics, SEVERITY_ERROR, robot->links[0].place,
                    "the joints form a loop: every link has a parent; remove the joint whose child is to be the root");
}

/* Sets robot->order to depth-first order, with children in the order of their joints. first[link]: last joint whose
 * parent is the link; next[joint]: previous joint with the same parent; -1 ends the list. */
static void order_links(UrdfRobot* robot) {
  int *first = MEMORY_NEW(int, robot->link_count + 1), *next = MEMORY_NEW(int, robot->joint_count + 1), count = 0;
  int *stack = MEMORY_NEW(int, robot->link_count + 1), depth = 0;
  for (int i = 0; i < robot->link_count; i++) first[i] = robot->order[i] = -1;
  for (int k = 0; k < robot->joint_count;
       k++) { /* the last joint is pushed first, so the first joint is popped first */
    next[k] = first[robot->joints[k].parent];
    first[robot->joints[k].parent] = k;
  }
  stack[depth++] = robot->root;
  while (depth > 0) {
    int link = stack[--depth];
    robot->order[count++] = link;
    for (int k = first[link]; k >= 0; k = next[k]) stack[depth++] = robot->joints[k].child;
  }
  robot->root = count == robot->link_count ? robot->root : -1;
  memory_free(first);
  memory_free(next);
  memory_free(stack);
}

/* Reports links that the root does not reach. They form a loop, because each link has one parent. */
static void report_loops(const UrdfRobot* robot, Diagnostics* diagnostics) {
  bool* reached = MEMORY_NEW(bool, robot->link_count + 1);
  for (int i = 0; i < robot->link_count && robot->order[i] >= 0; i++) reached[robot->order[i]] = true;
  for (int i = 0; i < robot->link_count; i++) {
    if (reached[i]) continue;
    diagnostics_add(diagnostics, SEVERITY_ERROR, robot->joints[robot->links[i].joint].place,
                    "the joints form a loop: link '%s' is its own ancestor; remove a joint of the loop",
                    text_excerpt(robot->links[i].name).text);
    break;
  }
  memory_free(reached);
}

bool urdf_connect(UrdfRobot* robot, bool lenient, Diagnostics* diagnostics) {
  int errors_before = diagnostics->error_count;
  bool whole = resolve_links(robot, lenient, diagnostics);
  find_parents(robot, diagnostics);
  if (!whole || diagnostics->error_count > errors_before) return false;
  find_root(robot, diagnostics);
  if (diagnostics->error_count > errors_before) return false;
  robot->order = MEMORY_NEW(int, robot->link_count + 1);
  order_links(robot);
  if (robot->root < 0) report_loops(robot, diagnostics);
  return robot->root >= 0;
}
