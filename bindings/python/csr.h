// Sparse rows (CSR) of the caller, copied piece by piece while they are checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "arrays.h"
#include "rsk.h"

/* The caller's arrays. Another Python thread may write to them while they are read here without the interpreter's lock,
 * so nothing read from them is trusted twice: row ends and columns are copied first and checked in the copy, which no
 * other thread knows. The numbers may change too, but any number is a number: they move no bounds. */
class Csr {
  public:
    static constexpr size_t MOST_ROWS = 256; // of a copy, which the nearer caches then hold

    /* Some of the rows, and where they lie: private to a worker. */
    struct Copy {
        std::unique_ptr<int32_t[]> ends, columns;
        size_t room = 0;     // for columns
        size_t begin = 0;    // of its numbers among all
        size_t n_rows = 0;   // copied, all of them in order
        bool is_bad = false; // the row after them is not: see copy
        rsk_rows rows = {};
    };

    Csr(const Array<const float, 1> &data, const Indices &ends, const Indices &columns, uint32_t n_features);
    size_t n_rows() const { return n_rows_; }
    Copy room() const;

    /* Copies at most n rows from `first` on, at least one if it is good. A row is bad whose ends fall or leave the
     * numbers, or whose columns do not rise strictly from 0 to n_features - 1. */
    void copy(size_t first, size_t n, Copy *copy) const;

  private:
    int64_t end(size_t row) const;
    bool copy_ends(size_t first, size_t n, Copy *copy) const;
    void copy_columns(Copy *copy) const;

    const float *data_;
    const void *ends_, *columns_;
    size_t n_rows_, n_numbers_;
    uint32_t n_features_;
    bool has_long_ends_, has_long_columns_;
};
