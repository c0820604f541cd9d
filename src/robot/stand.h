/* What makes a robot that was read stand. Private to robot/. */
#ifndef SDRS_ROBOT_STAND_H
#define SDRS_ROBOT_STAND_H

#include "robot/robot.h"

/* A URDF file as robot_parse_urdf takes its text; STATUS_IO with a diagnostic. (robot/urdf_import.c) */
Status robot_read_urdf(Scene* scene, const char* path, const RobotOptions* options, RobotReport* report,
                       Diagnostics* diagnostics);
/* Add a controller of that frequency [Hz] to the scene for each joint of the report with one degree of freedom:
 * critically damped with what the joint carries at the start, everything else held. Needs the model. (robot/hold.c) */
void robot_hold(Robot* robot, double frequency);

#endif
