// The Python face of the C core: checks arrays, calls rsk_*, nothing else.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "rsk.h"
#include "rsk_hash.h"
#include "rsk_kernel.h"
#include "rsk_plan.h"
#include "rsk_train.h"

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

/* A value that is NaN or infinite, and where. */
struct NotFinite : std::runtime_error {
    NotFinite(size_t row, size_t column)
        : std::runtime_error(std::to_string(row) + " " + std::to_string(column)) {}
};

using Rows = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;
using Outputs = Array<float, 2>;
using Whole = Array<const int32_t, 1>;

/* A checked file with its plan. Calls may come from many threads at once: nothing here changes after it is made. */
class Model {
    static constexpr size_t LARGEST_PLAN = size_t(1) << 29;

  public:
    /* compact: 1 draws hash functions from the seed when they are needed, 0 unpacks them, -1 unpacks them if they fit. */
    Model(nb::bytes data, size_t max_nbytes, int compact, int level) : data_(data) {
        /* No limit on memory and work: sketches made in this process have none, files have met theirs when read. */
        const rsk_limits limits = {max_nbytes, UINT64_MAX, UINT64_MAX};
        check(rsk_open(data.c_str(), data.size(), &limits, &model_));
        if (compact < 0) compact = rsk_plan_nbytes(&model_, 0) > LARGEST_PLAN;
        const size_t nbytes = rsk_plan_nbytes(&model_, compact);
        memory_ = std::make_unique<Aligned>(nbytes);
        check(rsk_plan_make(&model_, compact, level, memory_->get(), nbytes, &plan_));
    }

    static void check(rsk_status status) {
        if (status == RSK_OK) return;
        throw nb::value_error((std::to_string(int(status)) + ": " + rsk_status_text(status)).c_str());
    }

    rsk_rows dense(const Rows &x) const {
        if (x.shape(1) != model_.n_features) throw nb::value_error("wrong number of columns");
        if (x.shape(1) > 1 && x.stride(1) != 1) throw nb::value_error("rows must be contiguous");
        const bool is_float = x.dtype() == nb::dtype<float>();
        if (!is_float && x.dtype() != nb::dtype<uint8_t>()) throw nb::value_error("rows must be float32 or uint8");
        return {x.data(), x.shape(0) > 1 ? size_t(x.stride(0)) : x.shape(1), nullptr, nullptr, uint8_t(!is_float)};
    }

    void predict(Rows x, Outputs out, int n_threads) const {
        check_outputs(out, x.shape(0));
        run(dense(x), x.shape(0), out.data(), n_threads);
    }

    void predict_sparse(Array<const float, 1> data, Whole ends, Whole columns, Outputs out, int n_threads) const {
        if (ends.shape(0) == 0 || data.shape(0) != columns.shape(0)) throw nb::value_error("not a CSR matrix");
        const size_t n = ends.shape(0) - 1;
        for (size_t i = 0; i < n; i++)
            if (ends.data()[i] > ends.data()[i + 1]) throw nb::value_error("not a CSR matrix");
        if (ends.data()[0] < 0 || size_t(ends.data()[n]) > data.shape(0)) throw nb::value_error("not a CSR matrix");
        check_outputs(out, n);
        run({data.data(), 0, ends.data(), columns.data(), 0}, n, out.data(), n_threads);
    }

    void trace(Rows x, Outputs out, Array<int32_t, 2> buckets, Array<int32_t, 3> accumulators, bool one_by_one) const {
        check_outputs(out, x.shape(0));
        if (buckets.shape(0) != x.shape(0) || accumulators.shape(0) != x.shape(0)) throw nb::value_error("wrong shape");
        size_t n_rows = 0;
        for (uint32_t i = 0; i < model_.n_parts; i++) n_rows += model_.parts[i].n_rows;
        if (buckets.shape(1) != n_rows || accumulators.shape(1) != model_.n_parts ||
            accumulators.shape(2) != model_.n_outputs)
            throw nb::value_error("wrong shape");
        const rsk_trace trace = {buckets.data(), accumulators.data()};
        const rsk_rows rows = dense(x);
        Aligned scratch(rsk_scratch_nbytes(plan_, 1));
        size_t where[2] = {0, 0};
        rsk_status status = RSK_OK;
        if (!one_by_one) {
            status = rsk_predict_batch(plan_, &rows, x.shape(0), out.data(), scratch.get(), &trace, where);
        } else {
            for (size_t i = 0; i < x.shape(0) && status == RSK_OK; i++)
                status = rsk_block_row(plan_, &rows, i, 1, out.data(), scratch.get(), &trace, where);
        }
        finish(status, where);
    }

    /* The smallest call: one row of floats. */
    void predict_row(Array<const float, 1> x, Array<float, 1> out) const {
        if (x.shape(0) != model_.n_features || out.shape(0) != model_.n_outputs) throw nb::value_error("wrong shape");
        const rsk_status status = rsk_predict(plan_, x.data(), out.data(), scratch(0));
        if (status != RSK_OK) finish(status, nullptr);
    }

    /* The output of one row, where there is one. */
    double output_of(Array<const float, 1> x) const {
        if (x.shape(0) != model_.n_features) throw nb::value_error("wrong number of columns");
        if (model_.n_outputs != 1) throw nb::value_error("more than one output");
        float y = 0.0f;
        const rsk_status status = rsk_predict(plan_, x.data(), &y, scratch(0));
        if (status != RSK_OK) finish(status, nullptr);
        return y;
    }

    /* Row by row in C, as a program would that has one at a time. */
    void predict_each(Array<const float, 2> x, Outputs out) const {
        check_outputs(out, x.shape(0));
        if (x.shape(1) != model_.n_features) throw nb::value_error("wrong number of columns");
        void *memory = scratch(0);
        for (size_t i = 0; i < x.shape(0); i++) {
            const float *row = x.data() + i * model_.n_features;
            const rsk_status status = rsk_predict(plan_, row, out.data() + i * model_.n_outputs, memory);
            if (status != RSK_OK) finish(status, nullptr);
        }
    }

    uint32_t n_features() const { return model_.n_features; }
    uint32_t n_outputs() const { return model_.n_outputs; }

  private:
    void check_outputs(const Outputs &out, size_t n) const {
        if (out.shape(0) != n || out.shape(1) != model_.n_outputs) throw nb::value_error("outputs have the wrong shape");
    }

    /* Working memory of this thread, kept for its next call. */
    void *scratch(int batch) const {
        thread_local std::unique_ptr<Aligned> memory;
        thread_local size_t size = 0;
        const size_t needed = rsk_scratch_nbytes(plan_, batch);
        if (needed > size) {
            memory = std::make_unique<Aligned>(needed);
            size = needed;
        }
        return memory->get();
    }

    void run(const rsk_rows &rows, size_t n, float *out, int n_threads) const {
        size_t where[2] = {0, 0};
        rsk_status status = RSK_OK;
        {
            nb::gil_scoped_release release;
            const size_t n_blocks = (n + 63) / 64, threads = std::min(n_blocks, size_t(n_threads > 1 ? n_threads : 1));
            if (threads <= 1) {
                status = rsk_predict_batch(plan_, &rows, n, out, scratch(1), nullptr, where);
            } else {
                run_threads(rows, n, out, threads, n_blocks, &status, where);
            }
        }
        finish(status, where);
    }

    void run_threads(const rsk_rows &rows, size_t n, float *out, size_t threads, size_t n_blocks, rsk_status *status,
                     size_t *where) const {
        struct Piece {
            rsk_status status = RSK_OK;
            size_t where[2] = {0, 0};
        };
        std::vector<Piece> pieces(threads);
        std::vector<std::thread> pool;
        for (size_t t = 0; t < threads; t++)
            pool.emplace_back([&, t] {
                const size_t first = t * n_blocks / threads * 64, last = std::min(n, (t + 1) * n_blocks / threads * 64);
                rsk_rows part = rows;
                if (rows.ends) part.ends += first;
                else part.data = static_cast<const char *>(rows.data) + first * rows.stride * (rows.is_uint8 ? 1 : 4);
                pieces[t].status = rsk_predict_batch(plan_, &part, last - first, out + first * model_.n_outputs,
                                                     scratch(1), nullptr, pieces[t].where);
                pieces[t].where[0] += first;
            });
        for (auto &thread : pool) thread.join();
        for (const auto &piece : pieces)
            if (piece.status != RSK_OK) { /* the first bad row, as one thread would have found it */
                *status = piece.status;
                where[0] = piece.where[0];
                where[1] = piece.where[1];
                return;
            }
    }

    static void finish(rsk_status status, const size_t *where) {
        if (status == RSK_INPUT_NOT_FINITE) throw NotFinite(where ? where[0] : 0, where ? where[1] : 0);
        check(status);
    }

    nb::bytes data_;
    rsk_model model_;
    std::unique_ptr<Aligned> memory_;
    const rsk_plan *plan_ = nullptr;
};

NB_MODULE(_native, m) {
    m.doc() = "The C core of repsketch.";

    nb::exception<NotFinite>(m, "NotFinite", PyExc_ValueError);
    nb::class_<Model>(m, "Model")
        .def(nb::init<nb::bytes, size_t, int, int>(), "data"_a, "max_nbytes"_a = 0, "compact"_a = -1, "level"_a = -1)
        .def("predict", &Model::predict, "x"_a, "out"_a, "n_threads"_a = 1)
        .def("predict_sparse", &Model::predict_sparse, "data"_a, "ends"_a, "columns"_a, "out"_a, "n_threads"_a = 1)
        .def("predict_row", &Model::predict_row, "x"_a, "out"_a)
        .def("predict_each", &Model::predict_each, "x"_a, "out"_a)
        .def("output_of", &Model::output_of, "x"_a)
        .def("trace", &Model::trace, "x"_a, "out"_a, "buckets"_a, "accumulators"_a, "one_by_one"_a = false)
        .def_prop_ro("n_features", &Model::n_features)
        .def_prop_ro("n_outputs", &Model::n_outputs);
    m.def(
        "file_status",
        [](nb::bytes data, uint64_t max_nbytes, uint64_t max_memory, uint64_t max_work) {
            const rsk_limits limits = {max_nbytes, max_memory, max_work};
            rsk_model model;
            return int(rsk_open(data.c_str(), data.size(), &limits, &model));
        },
        "data"_a, "max_nbytes"_a = 0, "max_memory"_a = 0, "max_work"_a = 0);
    /* For tests: memory and work that the reader allows for, and the memory that a plan and one thread really take. */
    m.def(
        "file_totals",
        [](nb::bytes data) {
            const rsk_limits limits = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
            rsk_model model;
            Model::check(rsk_open(data.c_str(), data.size(), &limits, &model));
            const rsk_totals totals = rsk_totals_find(&model);
            return nb::make_tuple(totals.memory, totals.work, rsk_memory_count(&model));
        },
        "data"_a);
    m.def("status_text", [](int status) { return rsk_status_text(rsk_status(status)); }, "status"_a);
    m.def("levels", [] {
        std::vector<int> found;
        for (int level = 0; level < RSK_N_LEVELS; level++)
            if (rsk_level_exists(level)) found.push_back(level);
        nb::dict names;
        for (int level : found) names[rsk_level_name(level)] = level;
        return names;
    });

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
