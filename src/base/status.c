#include "base/base.h"

ExitCode status_exit_code(Status status) {
  switch (status) {
    case STATUS_OK:
      return EXIT_DONE;
    case STATUS_BAD_INPUT:
      return EXIT_BAD_INPUT;
    case STATUS_IO:
      return EXIT_IO;
    case STATUS_SOLVER:
      return EXIT_SOLVER;
    case STATUS_INTERRUPTED:
      return EXIT_INTERRUPTED;
    case STATUS_NO_MEMORY:
      return EXIT_IO;
  }
  return EXIT_IO;
}
