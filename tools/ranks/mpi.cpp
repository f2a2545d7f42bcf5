// Moves bytes between processes by MPI: the module of training/ranks/module.h. It reads none of them.
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <ctime>
#include <vector>

#include "training/ranks/module.h"

namespace {

int count = 1;

/// Numbers of bytes as MPI takes them, and where each part begins. Together they fit, which the caller sees to.
struct Parts {
  explicit Parts(const int64_t* bytes) {
    int at = 0;
    for (int r = 0; r < count; ++r) {
      counts.push_back(static_cast<int>(bytes[r]));
      begins.push_back(at);
      at += counts.back();
    }
  }
  std::vector<int> counts, begins;
};

/// Asks often at first, and then so that others on the same core get on: who sleeps is woken before who only gives way.
int completed(int code, MPI_Request* request) {
  constexpr int often = 1000;
  const timespec a_while{0, 50'000};
  int done = 0;
  for (int asked = 0; code == MPI_SUCCESS && done == 0; ++asked) {
    code = MPI_Test(request, &done, MPI_STATUS_IGNORE);
    if (done == 0 && asked > often) nanosleep(&a_while, nullptr);
  }
  return code;
}

int exchange(const void* sent, const int64_t* sent_bytes, void* received, const int64_t* received_bytes) {
  const Parts to(sent_bytes), from(received_bytes);
  MPI_Request request = MPI_REQUEST_NULL;
  return completed(MPI_Ialltoallv(sent, to.counts.data(), to.begins.data(), MPI_BYTE, received, from.counts.data(), from.begins.data(),
                                  MPI_BYTE, MPI_COMM_WORLD, &request),
                   &request);
}

int gather(const void* own, int64_t own_bytes, void* received, const int64_t* received_bytes) {
  const Parts from(received_bytes);
  MPI_Request request = MPI_REQUEST_NULL;
  return completed(MPI_Iallgatherv(own, static_cast<int>(own_bytes), MPI_BYTE, received, from.counts.data(), from.begins.data(), MPI_BYTE,
                                   MPI_COMM_WORLD, &request),
                   &request);
}

int spread(void* bytes, int64_t number) {
  MPI_Request request = MPI_REQUEST_NULL;
  return completed(MPI_Ibcast(bytes, static_cast<int>(number), MPI_BYTE, 0, MPI_COMM_WORLD, &request), &request);
}

int leave() { return MPI_Finalize(); }

void error(int code, char* text) {
  static_assert(MPI_MAX_ERROR_STRING <= 512);
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) text[0] = '\0';
}

}  // namespace

extern "C" int etalon_join_ranks(etalon_ranks* joined) {
  // Leaves are computed in threads of their own; bytes are moved by the one that began.
  int provided = 0;
  int code = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  int rank = 0;
  if (code == MPI_SUCCESS) code = MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (code == MPI_SUCCESS) code = MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (code == MPI_SUCCESS) code = MPI_Comm_size(MPI_COMM_WORLD, &count);
  *joined = {ETALON_RANKS_VERSION, rank, count, exchange, gather, spread, leave, error};
  return code;
}
