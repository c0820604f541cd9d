#include <signal.h>
#include <unistd.h>
#include "app/command.h"

/* Number of the signal received, or 0. This is the only mutable global, because a signal handler can access nothing
 * else. */
static volatile sig_atomic_t signal_received = 0;

static void on_signal(int number) {
  if (signal_received) _exit(EXIT_INTERRUPTED);
  signal_received = number;
}

void interrupt_install(void) {
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  sigaction(SIGUSR1, &action, NULL);
  struct sigaction hangup;
  sigaction(SIGHUP, NULL, &hangup);
  if (hangup.sa_handler != SIG_IGN)
    sigaction(SIGHUP, &action, NULL); /* under nohup SIGHUP is ignored and stays ignored */
  /* With SIGXFSZ ignored, a write beyond the file-size limit fails with an error, as on a full disk. */
  signal(SIGXFSZ, SIG_IGN);
}

int interrupt_signal(void) { return signal_received; }

const char* interrupt_name(int signal_number) {
  switch (signal_number) {
    case SIGINT:
      return "SIGINT";
    case SIGTERM:
      return "SIGTERM";
    case SIGHUP:
      return "SIGHUP";
    case SIGUSR1:
      return "SIGUSR1";
    default:
      return "a signal";
  }
}
