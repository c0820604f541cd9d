#include "base/outside.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---------------------------------------------------------------- programs */

static void add_descriptor(posix_spawn_file_actions_t* actions, int from, int to) {
  if (from < 0)
    posix_spawn_file_actions_addopen(actions, to, "/dev/null", O_WRONLY, 0);
  else
    posix_spawn_file_actions_adddup2(actions, from, to);
}

int program_start(Program* program, const char* const* words, int output, int errors) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return errno;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  add_descriptor(&actions, ends[1], STDIN_FILENO);
  add_descriptor(&actions, output, STDOUT_FILENO);
  add_descriptor(&actions, errors, STDERR_FILENO);
  int error = posix_spawnp(&program->process, words[0], &actions, NULL, (char* const*)words, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  program->input = ends[0];
  if (error != 0) close(ends[0]);
  return error;
}

/* The input is a socket, because a socket, unlike a pipe, reports a closed reader without a signal. */
bool program_send(const Program* program, const void* data, size_t size) {
  for (const char* at = data; size > 0;) {
    ssize_t sent = send(program->input, at, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    at += sent;
    size -= (size_t)sent;
  }
  return true;
}

bool program_finish(const Program* program) {
  int state;
  close(program->input);
  while (waitpid(program->process, &state, 0) < 0)
    if (errno != EINTR) return false;
  return WIFEXITED(state) && WEXITSTATUS(state) == 0;
}

/* ---------------------------------------------------------------- texts */

const char* text_find_control_character(const char* text) {
  for (const unsigned char* c = (const unsigned char*)text; *c; c++)
    if (*c < 0x20 || *c == 0x7f || (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0)) return (const char*)c;
  return NULL;
}

/* ---------------------------------------------------------------- files that a scene names */

const char FILE_NOT_QUOTABLE[] =
    "the file was not read, because its name has no extension of a scene, robot, mesh, table or picture: give the file "
    "such an extension (.yaml, .obj, .csv, .png, ...)";

bool file_is_quotable(const char* path) {
  static const char* const ENDINGS[] = {"yaml", "yml", "json", "xml", "mjcf", "urdf", "csv", "tsv",  "txt",
                                        "dat",  "log", "obj",  "stl", "ply",  "off",  "png", "jsonl"};
  const char* dot = strrchr(path, '.');
  for (size_t i = 0; dot && i < sizeof ENDINGS / sizeof ENDINGS[0]; i++)
    if (strcasecmp(dot + 1, ENDINGS[i]) == 0) return true;
  return !file_is_regular(path);
}

bool file_is_robot(const char* path) {
  const char* dot = path ? strrchr(path, '.') : NULL;
  return dot && (strcasecmp(dot, ".urdf") == 0 || strcasecmp(dot, ".xml") == 0);
}

Suggestion text_suggestion(const char* nearest) {
  Suggestion meant = {{0}};
  if (nearest) (void)snprintf(meant.text, sizeof meant.text, " (did you mean '%s'?)", text_excerpt(nearest).text);
  return meant;
}

bool file_check_quotable(const char* path, Diagnostics* diagnostics) {
  bool is = file_is_quotable(path);
  if (!is) diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){path, 0, 0}, "%s", FILE_NOT_QUOTABLE);
  return is;
}
