// Many rows: in pieces, in several threads, until they are done, one is refused or a signal comes.
#pragma once

#include <cstddef>

#include "csr.h"
#include "rsk.h"

enum { RSK_MOST_THREADS = 256 };

/* Rows to predict, and where the outputs go. */
struct Batch {
    const rsk_plan *plan;
    size_t unit;         // rows that are predicted together
    size_t n_outputs;
    rsk_rows rows;       // dense ones
    const Csr *csr;      // or sparse ones; else NULL
    bool is_one_by_one;  // by rsk_predict, row by row
    size_t n;
    float *out;          // (n, n_outputs)
};

/* The first row that is refused. */
struct Refusal {
    rsk_status status = RSK_OK;
    bool is_csr = false; // its ends or columns, not its numbers
    size_t row = 0, column = 0;
};

/* Predicts all rows without the interpreter's lock. scratch: of the calling thread. Starts at most one thread for each
 * processor, RSK_MOST_THREADS in all; where the system refuses more, those that run do the work. Throws std::bad_alloc,
 * and nb::python_error where a signal's handler raised. */
Refusal predict_in_pieces(const Batch &batch, size_t n_threads, void *scratch);
