// What training calls: hash functions, the kernel of the hashes really used, gains of codes, counters fitted to slopes.
#include "training.h"

#include <algorithm>
#include <vector>

#include "arrays.h"
#include "rsk_hash.h"
#include "rsk_kernel.h"
#include "rsk_train.h"

using namespace nb::literals;
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

void define_training(nb::module_ &m) {
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

    m.def(
        "train_gains",
        [](Array<const uint64_t, 1> starts, Array<const uint32_t, 1> rows, Array<const uint8_t, 1> bins,
           Array<const uint8_t, 1> usual, Array<const uint32_t, 1> codes, Array<const uint8_t, 1> is_category,
           Array<const uint8_t, 1> buckets, uint32_t n_buckets, Matrix numbers, double strength,
           Array<double, 1> gains) {
            const size_t n_columns = usual.shape(0);
            if (starts.shape(0) != n_columns + 1 || codes.shape(0) != n_columns + 1 ||
                is_category.shape(0) != n_columns)
                throw nb::value_error("starts, codes, usual and is_category differ in columns");
            if (!std::is_sorted(starts.data(), starts.data() + n_columns + 1) ||
                !std::is_sorted(codes.data(), codes.data() + n_columns + 1) || codes.data()[0] != 0)
                throw nb::value_error("starts and codes must rise, codes from 0");
            if (starts.data()[n_columns] > rows.shape(0) || rows.shape(0) != bins.shape(0) ||
                codes.data()[n_columns] != gains.shape(0))
                throw nb::value_error("starts, rows, bins, codes and gains disagree");
            if (buckets.shape(0) != numbers.shape(0) || numbers.shape(1) % 2)
                throw nb::value_error("numbers must be (rows, slopes and curvatures)");
            const rsk_train_columns columns = {uint32_t(n_columns), uint32_t(buckets.shape(0)), starts.data(),
                                               rows.data(), bins.data(), usual.data(), codes.data(),
                                               is_category.data()};
            const rsk_train_slopes slopes = {n_buckets, uint32_t(numbers.shape(1) / 2), buckets.data(),
                                             numbers.data(), strength};
            nb::gil_scoped_release release;
            std::vector<double> work(rsk_train_work(&columns, &slopes));
            rsk_train_gains(&columns, &slopes, work.data(), gains.data());
        },
        "starts"_a, "rows"_a, "bins"_a, "usual"_a, "codes"_a, "is_category"_a, "buckets"_a, "n_buckets"_a,
        "numbers"_a, "strength"_a, "gains"_a.noconvert());

    m.def(
        "train_fit_rows",
        [](Array<const uint8_t, 2> buckets, Array<const double, 3> wanted, Array<double, 3> values,
           Array<double, 2> outputs, Array<double, 2> slope, Array<const double, 2> curvature, double strength,
           double longest, double grid, double largest) {
            const size_t n_rows = buckets.shape(0), n_data = buckets.shape(1);
            const size_t n_buckets = values.shape(1), n_outputs = values.shape(2);
            for (size_t axis = 0; axis < 3; axis++)
                if (wanted.shape(axis) != values.shape(axis)) throw nb::value_error("wanted and values differ");
            if (values.shape(0) != n_rows) throw nb::value_error("buckets and values differ in rows");
            for (const auto *shape : {outputs.shape_ptr(), slope.shape_ptr(), curvature.shape_ptr()})
                if (size_t(shape[0]) != n_data || size_t(shape[1]) != n_outputs)
                    throw nb::value_error("outputs, slope and curvature must be (data, outputs)");
            if (std::any_of(buckets.data(), buckets.data() + n_rows * n_data,
                            [&](uint8_t bucket) { return bucket >= n_buckets; }))
                throw nb::value_error("a bucket is too large");
            const rsk_train_fit fit = {uint32_t(n_rows), uint32_t(n_data), uint32_t(n_buckets), uint32_t(n_outputs),
                                       strength, longest, grid, largest};
            nb::gil_scoped_release release;
            std::vector<double> work(2 * n_buckets * n_outputs);
            rsk_train_fit_rows(&fit, buckets.data(), wanted.data(), values.data(), outputs.data(), slope.data(),
                               curvature.data(), work.data());
        },
        "buckets"_a, "wanted"_a, "values"_a.noconvert(), "outputs"_a.noconvert(), "slope"_a.noconvert(),
        "curvature"_a, "strength"_a, "longest"_a, "grid"_a, "largest"_a);
}
