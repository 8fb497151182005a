#include "csr.h"

#include <algorithm>
#include <cstring>

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
    Copy copy;
    copy.ends.resize(std::min(n_rows_, MOST_ROWS) + 1);
    copy.columns.resize(std::min(n_numbers_, std::max(FEWEST_NUMBERS, size_t(n_features_))) + 1); // never without data()
    return copy;
}

/* Read once: a compiler that read it again, after a check, would read what another thread wrote meanwhile. */
int64_t Csr::end(size_t row) const {
    if (has_long_ends_) return static_cast<const volatile int64_t *>(ends_)[row];
    return static_cast<const volatile int32_t *>(ends_)[row];
}

/* Columns of a row, rising strictly from 0 to n_features - 1. */
static bool are_columns(const int32_t *columns, size_t n, uint32_t n_features) {
    if (n == 0) return true;
    bool falls = columns[0] < 0;
    for (size_t i = 1; i < n; i++) falls |= columns[i] <= columns[i - 1];
    return !falls && uint32_t(columns[n - 1]) < n_features;
}

void Csr::copy(size_t first, size_t n, Copy *copy) const {
    const size_t room = copy->columns.size() - 1;
    const int64_t begin = end(first);
    int64_t last = begin;
    int32_t *columns = copy->columns.data();
    copy->ends[0] = 0;
    copy->n_rows = 0;
    copy->is_bad = begin < 0 || (first == 0 && begin != 0);
    n = std::min(n, MOST_ROWS);
    for (size_t i = 0; i < n && !copy->is_bad; i++) {
        const int64_t next = end(first + i + 1);
        if (next < last || uint64_t(next) > n_numbers_ || size_t(next - last) > n_features_) {
            copy->is_bad = true;
            break;
        }
        const size_t length = size_t(next - last), at = size_t(last - begin);
        if (at + length > room) break; // not in the first row: there is room for n_features numbers, or for all
        if (has_long_columns_) {
            const int64_t *given = static_cast<const int64_t *>(columns_) + last;
            uint64_t any = 0;
            for (size_t k = 0; k < length; k++) {
                any |= uint64_t(given[k]);
                columns[at + k] = int32_t(given[k]);
            }
            copy->is_bad = any >> 31 != 0; // what 31 bits hold is then checked in the copy
        } else if (length > 0) {
            std::memcpy(columns + at, static_cast<const int32_t *>(columns_) + last, length * sizeof(int32_t));
        }
        copy->is_bad |= !are_columns(columns + at, length, n_features_);
        if (copy->is_bad) break;
        copy->ends[++copy->n_rows] = int32_t(next - begin);
        last = next;
    }
    if (!copy->is_bad || copy->n_rows > 0) copy->rows = {data_ + begin, 0, copy->ends.data(), columns, 0};
}
