/**
 * \file
 * A tensor backend as a plug-in, in C99: a library that exports one function, `etalon_backend_table`.
 *
 *     cc -std=c99 -shared -fPIC -I ETALON -o mine.so mine.c
 *     etalon adapter check plugin:./mine.so
 *     etalon conform --backend plugin:./mine.so
 *
 * It is loaded in a process of its own, which speaks Protocol 1 (docs/protocol.md) for it: names, base64 and JSON stay
 * there, and what the words below mean is said there. A crash or a hang is one finding. What the library prints goes to the log.
 * docs/writing-a-plug-in.md builds an example. All memory that the host passes is the host's and lives until `run` returns.
 */
#ifndef ETALON_BACKEND_H
#define ETALON_BACKEND_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Tables of version 1 end before `script`; those of versions that there are not are refused. */
#define ETALON_BACKEND_VERSION 2

/** Element types; a bool is one byte, 0 or 1. */
enum etalon_dtype { ETALON_F16, ETALON_BF16, ETALON_F32, ETALON_F64, ETALON_I32, ETALON_I64, ETALON_BOOL };

enum etalon_mode { ETALON_FORWARD, ETALON_JVP, ETALON_VJP, ETALON_JVP_OF_VJP };

/** At most eight axes; `data` is element (0, …, 0), strides count elements. Tensors with `dtype` -1 are not there. */
typedef struct etalon_tensor {
  int32_t dtype;
  int32_t rank;
  const int64_t *shape;
  const int64_t *strides;
  const void *data;
} etalon_tensor;

enum etalon_kind {
  ETALON_INTEGER,  /**< `integer`, and `real` with the same value */
  ETALON_REAL,     /**< `real` */
  ETALON_BOOLEAN,  /**< `integer`, 0 or 1 */
  ETALON_SYMBOL,   /**< `symbol` */
  ETALON_INTEGERS, /**< `integers`, and `reals` with the same values: `count` of each */
  ETALON_REALS,    /**< `reals`: `count` */
  ETALON_VALUE     /**< `integer`: the number of the value, a scalar, that holds it */
};

/** Every attribute of the operation is given, in order of the names; defaults are filled in. */
typedef struct etalon_attribute {
  const char *name;
  int32_t kind;
  int32_t count;
  int64_t integer;
  double real;
  const char *symbol;
  const int64_t *integers;
  const double *reals;
} etalon_attribute;

/** Values are numbered: the inputs 0, 1, …, then the results of the calls in order. */
typedef struct etalon_call {
  const char *operation;
  int32_t operand_count;
  const int32_t *operands; /**< values; -1 where an optional operand is absent */
  int32_t pack_count;
  const int32_t *packs; /**< lengths, where an operation takes more than one pack */
  int32_t attribute_count;
  const etalon_attribute *attributes;
  int32_t result_count;
  const int32_t *results; /**< values */
} etalon_call;

typedef struct etalon_request {
  int32_t mode;
  int32_t value_count;
  int32_t input_count;
  const etalon_tensor *inputs;
  int32_t call_count;
  const etalon_call *calls;
  int32_t output_count;
  const int32_t *outputs;                 /**< values */
  const uint8_t *wrt;                     /**< per input: whether to differentiate by it */
  const etalon_tensor *tangents;          /**< per input; one that is not there makes no term */
  const etalon_tensor *cotangents;        /**< per output; one that is not there makes no term */
  const etalon_tensor *cotangent_tangents; /**< per output; one that is not there makes no term */
} etalon_request;

enum etalon_list {
  ETALON_OUTPUTS,           /**< per output, in every mode */
  ETALON_TANGENTS,          /**< per output, in jvp; none for integers and truth values */
  ETALON_COTANGENTS,        /**< per input that `wrt` marks, in vjp and jvp_of_vjp */
  ETALON_COTANGENT_TANGENTS /**< per input that `wrt` marks, in jvp_of_vjp */
};

/** An element of an answer: of `outputs` by the output's place, of `cotangents` by the input's. */
typedef struct etalon_element {
  int32_t list;
  int32_t tensor;
  int64_t element;
} etalon_element;

/** How `run` answers. A refusal replaces what was added before. */
typedef struct etalon_answer {
  void *host; /**< not yours */
  /** Room for a dense tensor, filled with zeros, to be written before `run` returns; NULL for what cannot be. */
  void *(*add)(struct etalon_answer *answer, int32_t list, int32_t position, int32_t dtype, int32_t rank, const int64_t *shape);
  /** What is not offered: operation, dtype, mode, attribute, shape, layout, generator or size; and why. */
  void (*unsupported)(struct etalon_answer *answer, const char *what, const char *why);
  /** The program is ill-typed or breaks a constraint. */
  void (*rejected)(struct etalon_answer *answer, const char *why);
  /** The backend failed. */
  void (*error)(struct etalon_answer *answer, const char *why);
} etalon_answer;

typedef struct etalon_backend {
  int32_t version; /**< ETALON_BACKEND_VERSION */
  /** What the others get as `self`; may be NULL, and give NULL. Called once. */
  void *(*create)(void);
  /** The answer to `describe`, as JSON: {"etalon":1,"name":…}. It lives as long as `self`. */
  const char *(*describe)(void *self);
  /** Answers one request; called from one thread. */
  void (*run)(void *self, const etalon_request *request, etalon_answer *answer);
  /** May be NULL. */
  void (*destroy)(void *self);
  /** May be NULL, and give NULL. The request as a program of the library's users, without Etalon, that prints the element,
      or all where that is NULL: docs/protocol.md. The text lives until the next call. Since version 2; a backend that
      writes any says "scripts":true in its description. */
  const char *(*script)(void *self, const etalon_request *request, const etalon_element *shown);
} etalon_backend;

#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const etalon_backend *etalon_backend_table(void);

#ifdef __cplusplus
}
#endif

#endif
