#include "csr.h"

#include <algorithm>
#include <cstring>

#include "faults.h"

static bool is_long(const Indices &array) {
    if (array.dtype() == nb::dtype<int64_t>()) return true;
    if (array.dtype() == nb::dtype<int32_t>()) return false;
    throw nb::value_error("indices must be int32 or int64");
}

Csr::Csr(const Array<const float, 1> &data, const Indices &ends, const Indices &columns, uint32_t n_features)
    : data_(data.data()), ends_(ends.data()), columns_(columns.data()), n_rows_(ends.shape(0) - 1),
      n_numbers_(data.shape(0)), n_features_(n_features), has_long_ends_(is_long(ends)),
      has_long_columns_(is_long(columns)) {
    if (ends.shape(0) == 0 || data.shape(0) != columns.shape(0)) throw nb::value_error("not a CSR matrix");
}

Csr::Copy Csr::room() const {
    // 64 rows are predicted together, so there is room for as many; for wide ones that are full, at least for one.
    const size_t d = n_features_, block = std::min(64 * d, size_t(1) << 20);
    Copy copy;
    copy.room = std::min(n_numbers_, std::max({size_t(1) << 16, block, d}));
    copy.ends.reset(new int32_t[MOST_ROWS + 1]);
    copy.columns.reset(new int32_t[copy.room]);
    return copy;
}

/* Read once: a compiler that read it again, after a check, would read what another thread wrote meanwhile. */
int64_t Csr::end(size_t row) const {
    if (has_long_ends_) return static_cast<const volatile int64_t *>(ends_)[row];
    return static_cast<const volatile int32_t *>(ends_)[row];
}

/* Ends of as many rows as there is room for; false if the row after them is bad. */
bool Csr::copy_ends(size_t first, size_t n, Copy *copy) const {
    const int64_t begin = end(first);
    copy->n_rows = 0;
    copy->ends[0] = 0;
    if (begin < 0 || uint64_t(begin) > n_numbers_ || (first == 0 && begin != 0)) return false;
    copy->rows = {data_ + begin, 0, copy->ends.get(), copy->columns.get(), 0};
    copy->begin = size_t(begin);
    for (int64_t last = begin; copy->n_rows < std::min(n, MOST_ROWS);) {
        const int64_t next = end(first + copy->n_rows + 1);
        if (next < last || uint64_t(next) > n_numbers_ || uint64_t(next - last) > n_features_) return false;
        if (size_t(next - begin) > copy->room) return true; // never the first row
        copy->ends[++copy->n_rows] = int32_t(next - begin);
        last = next;
    }
    return true;
}

/* Columns of the rows of a copy. What does not fit 31 bits becomes -1, which no row may have. */
void Csr::copy_columns(Copy *copy) const {
    const size_t n = size_t(copy->ends[copy->n_rows]);
    if (n == 0) return;
    if (!has_long_columns_) {
        std::memcpy(copy->columns.get(), static_cast<const int32_t *>(columns_) + copy->begin, n * sizeof(int32_t));
        return;
    }
    const int64_t *given = static_cast<const int64_t *>(columns_) + copy->begin;
    for (size_t i = 0; i < n; i++) {
        const int64_t column = given[i];
        copy->columns[i] = column >> 31 ? -1 : int32_t(column);
    }
}

/* Within each row columns rise strictly, from 0 at least to n_features - 1 at most: they fall only between rows. */
static bool are_columns(const Csr::Copy &copy, uint32_t n_features) {
    const int32_t *columns = copy.columns.get(), *ends = copy.ends.get();
    const size_t n = size_t(ends[copy.n_rows]);
    uint32_t n_falls = 0; // counted without a branch, so that compilers make vectors of it
    for (size_t i = 1; i < n; i++) n_falls += columns[i] <= columns[i - 1];
    bool is_outside = false;
    for (size_t row = 0; row < copy.n_rows; row++) {
        const int32_t begin = ends[row], end = ends[row + 1];
        if (begin == end) continue;
        is_outside |= columns[begin] < 0 || uint32_t(columns[end - 1]) >= n_features;
        if (begin > 0) n_falls -= columns[begin] <= columns[begin - 1];
    }
    return n_falls == 0 && !is_outside;
}

void Csr::copy(size_t first, size_t n, Copy *copy) const {
    copy->is_bad = !copy_ends(first, n, copy);
    copy_columns(copy);
    after_copy(ends_, (n_rows_ + 1) * (has_long_ends_ ? 8 : 4), columns_, n_numbers_ * (has_long_columns_ ? 8 : 4));
    if (are_columns(*copy, n_features_)) return;
    copy->is_bad = true;
    while (!are_columns(*copy, n_features_)) copy->n_rows--; // what is left is good
}
