/*! \file
 *  What the command and the module that speaks MPI agree on. The module is loaded when a launcher has started several processes,
 *  so that nothing else needs MPI. Bytes are moved, none is read. */
#ifndef ETALON_TRAINING_RANKS_MODULE_H
#define ETALON_TRAINING_RANKS_MODULE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*! Of this interface. */
#define ETALON_RANKS_VERSION 1

/*! One process of a group. Each function returns 0, or what MPI_Error_string turns into words, as `error` does. */
typedef struct etalon_ranks {
  int version; /*!< ETALON_RANKS_VERSION of the module */
  int rank;    /*!< from 0 */
  int count;
  /*! MPI_Alltoallv. What goes to each rank lies behind what goes to the one before, and so does what comes. Numbers of bytes by rank. */
  int (*exchange)(const void* sent, const int64_t* sent_bytes, void* received, const int64_t* received_bytes);
  /*! MPI_Allgatherv. */
  int (*gather)(const void* own, int64_t own_bytes, void* received, const int64_t* received_bytes);
  /*! MPI_Bcast from rank 0. */
  int (*spread)(void* bytes, int64_t count);
  /*! MPI_Finalize. */
  int (*leave)(void);
  /*! \param text at least 512 characters */
  void (*error)(int code, char* text);
} etalon_ranks;

/*! The one function that the module has: MPI_Init, and who is there. \returns 0, or an error of MPI's */
int etalon_join_ranks(etalon_ranks* joined);

#ifdef __cplusplus
}
#endif
#endif
