// The Python face of the C core: checks arrays, calls rsk_*, nothing else.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "rsk_hash.h"
#include "rsk_kernel.h"

namespace nb = nanobind;
using namespace nb::literals;

template <typename T, size_t N>
using Array = nb::ndarray<T, nb::numpy, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
using Positions = Array<const float, 4>;  // (blocks, points, n_concat, lanes)
using Matrix = Array<const float, 2>;

static rsk_kernel_shape shape_of(const Positions &u, const Positions &v) {
    if (u.shape(0) != v.shape(0) || u.shape(2) != v.shape(2)) throw nb::value_error("u and v differ in rows or codes");
    if (u.shape(3) != RSK_KERNEL_LANES || v.shape(3) != RSK_KERNEL_LANES) throw nb::value_error("blocks have 16 rows");
    if (u.shape(0) == 0 || u.shape(2) == 0 || u.shape(2) > RSK_KERNEL_MAX_CONCAT)
        throw nb::value_error("at least one block, and 1 to 16 codes");
    return {uint32_t(u.shape(1)), uint32_t(v.shape(1)), uint32_t(u.shape(0)), uint32_t(u.shape(2))};
}

template <typename Grad, typename Of>
static void check_same_shape(const Grad &grad, const Of &of) {
    for (size_t axis = 0; axis < 4; axis++)
        if (grad.shape(axis) != of.shape(axis)) throw nb::value_error("gradients must have the shapes of u and v");
}

NB_MODULE(_native, m) {
    m.doc() = "The C core of repsketch.";
    m.attr("KERNEL_LANES") = int(RSK_KERNEL_LANES);
    m.attr("KERNEL_MAX_CONCAT") = int(RSK_KERNEL_MAX_CONCAT);

    m.def("word", &rsk_word, "seed"_a, "stream"_a, "row"_a, "code"_a, "index"_a);

    m.def(
        "draw_ternary",
        [](uint32_t seed, Array<int8_t, 3> out) {
            const auto n_codes = uint32_t(out.shape(1)), n_features = uint32_t(out.shape(2));
            nb::gil_scoped_release release;
            for (uint32_t row = 0; row < out.shape(0); row++)
                for (uint32_t code = 0; code < n_codes; code++)
                    rsk_ternary_draw(seed, row, code, n_features,
                                     out.data() + (size_t(row) * n_codes + code) * n_features);
        },
        "seed"_a, "out"_a);

    m.def(
        "fold",
        [](uint32_t seed, uint32_t row, Array<const int32_t, 2> codes, uint32_t n_buckets, Array<int64_t, 1> out) {
            if (codes.shape(0) != out.shape(0)) throw nb::value_error("codes and out differ in length");
            if (n_buckets == 0 || n_buckets > 65536) throw nb::value_error("n_buckets must be 1 to 65536");
            const auto n_concat = uint32_t(codes.shape(1));
            nb::gil_scoped_release release;
            for (size_t i = 0; i < codes.shape(0); i++)
                out.data()[i] = rsk_fold(seed, row, codes.data() + i * n_concat, n_concat, n_buckets);
        },
        "seed"_a, "row"_a, "codes"_a, "n_buckets"_a, "out"_a);

    m.def(
        "kernel_forward",
        [](Positions u, Positions v, Array<float, 2> kernel) {
            const auto shape = shape_of(u, v);
            if (kernel.shape(0) != u.shape(1) || kernel.shape(1) != v.shape(1))
                throw nb::value_error("kernel must be (queries, points)");
            nb::gil_scoped_release release;
            rsk_kernel_forward(&shape, u.data(), v.data(), kernel.data());
        },
        "u"_a, "v"_a, "kernel"_a);

    m.def(
        "kernel_backward",
        [](Positions u, Positions v, Matrix grad_kernel, Array<float, 4> grad_u, Array<float, 4> grad_v) {
            const auto shape = shape_of(u, v);
            if (grad_kernel.shape(0) != u.shape(1) || grad_kernel.shape(1) != v.shape(1))
                throw nb::value_error("grad_kernel must be (queries, points)");
            check_same_shape(grad_u, u);
            check_same_shape(grad_v, v);
            nb::gil_scoped_release release;
            rsk_kernel_backward(&shape, u.data(), v.data(), grad_kernel.data(), grad_u.data(), grad_v.data());
        },
        "u"_a, "v"_a, "grad_kernel"_a, "grad_u"_a, "grad_v"_a);
}
