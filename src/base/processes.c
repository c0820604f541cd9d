/* Interface to MPI. No other file uses MPI. */
#include "base/base.h"

#ifdef SDRS_MPI
#include <assert.h>
#include <mpi.h>
#include <stdlib.h>

/* MPI is initialized only in a program that mpirun started, because otherwise MPI_Init would start a daemon. */
static bool is_started_by_mpirun(void) {
  return getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMIX_RANK") || getenv("PMI_RANK");
}

/* Returns true between MPI_Init and MPI_Finalize. An error of MPI ends all processes with a message, which is MPI's
 * default. */
static bool is_mpi_active(void) {
  int started, finished;
  MPI_Initialized(&started);
  MPI_Finalized(&finished);
  return started && !finished;
}

void processes_init(void) {
  int level;
  if (is_started_by_mpirun() && !is_mpi_active()) MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
}

void processes_finish(void) {
  if (is_mpi_active()) MPI_Finalize();
}

int processes_count(void) {
  int count = 1;
  if (is_mpi_active()) MPI_Comm_size(MPI_COMM_WORLD, &count);
  return count;
}

int processes_rank(void) {
  int rank = 0;
  if (is_mpi_active()) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

void processes_broadcast(void* data, size_t size, int owner) {
  assert(data || size == 0);
  const size_t broadcast_max = (size_t)1 << 30; /* MPI counts bytes in an int */
  char* bytes = data;
  if (!is_mpi_active()) return;
  for (size_t done = 0; done < size; done += broadcast_max) {
    size_t part = size - done < broadcast_max ? size - done : broadcast_max;
    MPI_Bcast(bytes + done, (int)part, MPI_BYTE, owner, MPI_COMM_WORLD);
  }
}

int processes_max(int value) {
  int largest = value;
  if (is_mpi_active()) MPI_Allreduce(&value, &largest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return largest;
}

#else

void processes_init(void) {}
void processes_finish(void) {}
int processes_count(void) { return 1; }
int processes_rank(void) { return 0; }
void processes_broadcast(void* data, size_t size, int owner) { (void)data, (void)size, (void)owner; }
int processes_max(int value) { return value; }

#endif
