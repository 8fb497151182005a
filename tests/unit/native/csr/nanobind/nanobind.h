// What bindings/python/csr.cpp needs of nanobind, so that its checks can be tested without Python.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace nanobind {

struct ro {};
struct numpy {};
struct c_contig {};
template <size_t> struct ndim {};
namespace device {
struct cpu {};
} // namespace device
class module_;
using value_error = std::invalid_argument;

template <typename T> struct element { using type = T; };
template <> struct element<ro> { using type = const void; };

template <typename T> size_t dtype() { return sizeof(T); } // enough to tell int32 and int64 apart

/* A plain array of numbers; an array of any type says the size of one. */
template <typename T, typename...> class ndarray {
  public:
    using pointer = typename element<T>::type *;
    ndarray(pointer data, size_t n, size_t nbytes = 0) : data_(data), n_(n), nbytes_(nbytes) {}
    pointer data() const { return data_; }
    size_t shape(size_t) const { return n_; }
    size_t dtype() const { return nbytes_; }

  private:
    pointer data_;
    size_t n_, nbytes_;
};

} // namespace nanobind
