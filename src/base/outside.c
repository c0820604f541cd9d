#include "base/outside.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Connects the child's descriptor `to` with this program's descriptor `from`, or with /dev/null if from < 0. */
static void redirect_descriptor(posix_spawn_file_actions_t* actions, int from, int to) {
  if (from < 0)
    posix_spawn_file_actions_addopen(actions, to, "/dev/null", O_WRONLY, 0);
  else
    posix_spawn_file_actions_adddup2(actions, from, to);
}

int program_start(Program* program, const char* const* words, int output, int errors) {
  assert(words && words[0]);
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) return errno;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  redirect_descriptor(&actions, sockets[1], STDIN_FILENO);
  redirect_descriptor(&actions, output, STDOUT_FILENO);
  redirect_descriptor(&actions, errors, STDERR_FILENO);
  int error = posix_spawnp(&program->process, words[0], &actions, NULL, (char* const*)words, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(sockets[1]);
  program->input = sockets[0];
  if (error != 0) close(sockets[0]);
  return error;
}

/* The program's input is a socket, not a pipe: a write to a closed pipe would raise SIGPIPE, but send to a closed
 * socket only fails. */
bool program_send(const Program* program, const void* data, size_t size) {
  assert(data || size == 0);
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

const char* text_find_control_character(const char* text) {
  for (const unsigned char* c = (const unsigned char*)text; *c; c++)
    if (*c < 0x20 || *c == 0x7f || (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0)) return (const char*)c;
  return NULL;
}

const char FILE_NOT_QUOTABLE[] =
    "the file was not read, because its name has no extension of a scene, robot, mesh, table or picture: give the file "
    "such an extension (.yaml, .obj, .csv, .png, ...)";

bool file_is_quotable(const char* path) {
  static const char* const EXTENSIONS[] = {"yaml", "yml", "json", "xml", "mjcf", "urdf", "csv", "tsv",  "txt",
                                           "dat",  "log", "obj",  "stl", "ply",  "off",  "png", "jsonl"};
  const char* dot = strrchr(path, '.');
  for (size_t i = 0; dot && i < sizeof EXTENSIONS / sizeof EXTENSIONS[0]; i++)
    if (strcasecmp(dot + 1, EXTENSIONS[i]) == 0) return true;
  return !file_is_regular(path);
}

bool file_is_robot(const char* path) {
  const char* dot = path ? strrchr(path, '.') : NULL;
  return dot && (strcasecmp(dot, ".urdf") == 0 || strcasecmp(dot, ".xml") == 0);
}

Suggestion text_suggestion(const char* nearest) {
  Suggestion suggestion = {{0}};
  if (nearest)
    (void)snprintf(suggestion.text, sizeof suggestion.text, " (did you mean '%s'?)", text_excerpt(nearest).text);
  return suggestion;
}

bool file_check_quotable(const char* path, Diagnostics* diagnostics) {
  bool quotable = file_is_quotable(path);
  if (!quotable) diagnostics_add(diagnostics, SEVERITY_ERROR, (SourcePosition){path, 0, 0}, "%s", FILE_NOT_QUOTABLE);
  return quotable;
}
