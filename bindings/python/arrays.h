// What the files here share: arrays of NumPy, and aligned memory.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <new>

namespace nb = nanobind;

template <typename T, size_t N>
using Array = nb::ndarray<T, nb::numpy, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
using Rows = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;                // any type, any strides
using Indices = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>; // int32 or int64
using Outputs = Array<float, 2>;

/* Memory aligned to 64, which a plan and its working memory need. */
class Aligned {
  public:
    explicit Aligned(size_t nbytes) : memory_(::operator new(nbytes, std::align_val_t(64))) {}
    ~Aligned() { ::operator delete(memory_, std::align_val_t(64)); }
    Aligned(const Aligned &) = delete;
    Aligned &operator=(const Aligned &) = delete;
    void *get() const { return memory_; }

  private:
    void *memory_;
};
