// A model for Python: arrays are checked, then rsk_* is called.
#include "model.h"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>

#include "arrays.h"
#include "batch.h"
#include "csr.h"
#include "rsk.h"
#include "rsk_plan.h"

using namespace nb::literals;

namespace {

/* A value that is NaN or infinite, and where. */
struct NotFinite : std::runtime_error {
    NotFinite(size_t row, size_t column)
        : std::runtime_error(std::to_string(row) + " " + std::to_string(column)) {}
};

/* Row ends or columns that are none of a CSR matrix, and the first row they spoil. */
struct NotCsr : std::runtime_error {
    explicit NotCsr(size_t row) : std::runtime_error(std::to_string(row)) {}
};

void check(rsk_status status) {
    if (status == RSK_OK) return;
    throw nb::value_error((std::to_string(int(status)) + ": " + rsk_status_text(status)).c_str());
}

/* A file, checked once; models are made from it without reading it again. */
class File {
  public:
    File(nb::bytes data, uint64_t max_nbytes, uint64_t max_memory, uint64_t max_work) : data_(data) {
        const rsk_limits limits = {max_nbytes, max_memory, max_work};
        status_ = rsk_open(data.c_str(), data.size(), &limits, &model_);
    }

    int status() const { return int(status_); }
    nb::bytes data() const { return data_; }
    const rsk_model &model() const {
        check(status_);
        return model_;
    }

  private:
    nb::bytes data_;
    rsk_status status_;
    rsk_model model_;
};

PyTypeObject *numpy_array = nullptr; // numpy.ndarray, referenced for as long as the process runs

/* A checked file with its plan. Calls may come from many threads at once: nothing here changes after it is made. */
class Model {
    static constexpr size_t LARGEST_PLAN = size_t(1) << 29;

  public:
    /* compact: 1 draws hash functions from the seed when they are needed, 0 unpacks them, -1 unpacks them if they fit. */
    Model(nb::bytes data, size_t max_nbytes, int compact, int isa) : data_(data) {
        /* No limit on memory and work: sketches made in this process have none. */
        const rsk_limits limits = {max_nbytes, UINT64_MAX, UINT64_MAX};
        check(rsk_open(data.c_str(), data.size(), &limits, &model_));
        make_plan(compact, isa);
    }

    Model(const File &file, int compact, int isa) : data_(file.data()), model_(file.model()) { make_plan(compact, isa); }

    rsk_rows dense(const Rows &x) const {
        if (x.shape(1) != model_.n_features) throw nb::value_error("wrong number of columns");
        if (x.shape(1) > 1 && x.stride(1) != 1) throw nb::value_error("rows must be contiguous");
        if (x.shape(0) > 1 && x.stride(0) < 0) throw nb::value_error("rows must follow each other");
        const bool is_float = x.dtype() == nb::dtype<float>();
        if (!is_float && x.dtype() != nb::dtype<uint8_t>()) throw nb::value_error("rows must be float32 or uint8");
        if (is_float && reinterpret_cast<uintptr_t>(x.data()) % alignof(float)) throw nb::value_error("not aligned");
        return {x.data(), x.shape(0) > 1 ? size_t(x.stride(0)) : x.shape(1), nullptr, nullptr, uint8_t(!is_float)};
    }

    void predict(Rows x, Outputs out, int n_threads) const {
        check_outputs(out, x.shape(0));
        run(batch(x.shape(0), out, dense(x)), n_threads);
    }

    void predict_sparse(Array<const float, 1> data, Indices ends, Indices columns, Outputs out, int n_threads) const {
        const Csr csr(data, ends, columns, model_.n_features);
        check_outputs(out, csr.n_rows());
        Batch all = batch(csr.n_rows(), out, {});
        all.csr = &csr;
        run(all, n_threads);
    }

    /* Row by row in C, as a program would that has one at a time. */
    void predict_each(Array<const float, 2> x, Outputs out) const {
        check_outputs(out, x.shape(0));
        if (x.shape(1) != model_.n_features) throw nb::value_error("wrong number of columns");
        Batch all = batch(x.shape(0), out, {x.data(), model_.n_features, nullptr, nullptr, 0});
        all.is_one_by_one = true;
        all.unit = 1;
        run(all, 1);
    }

    void trace(Rows x, Outputs out, Array<int32_t, 2> buckets, Array<int32_t, 3> accumulators, bool one_by_one) const {
        check_outputs(out, x.shape(0));
        if (buckets.shape(0) != x.shape(0) || accumulators.shape(0) != x.shape(0)) throw nb::value_error("wrong shape");
        size_t n_rows = 0;
        for (uint32_t i = 0; i < model_.n_row_groups; i++) n_rows += model_.row_groups[i].n_rows;
        if (buckets.shape(1) != n_rows || accumulators.shape(1) != model_.n_row_groups ||
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
        finish({status, false, where[0], where[1]});
    }

    /* The smallest call: one row of floats. It keeps the interpreter's lock, which costs more than most rows. */
    void predict_row(nb::handle x, Array<float, 1> out) const {
        const Array<const float, 1> row = row_of(x);
        if (out.shape(0) != model_.n_outputs) throw nb::value_error("wrong shape");
        finish({rsk_predict(plan_, row.data(), out.data(), scratch(0)), false, 0, 0});
    }

    /* The output of one row, where there is one. */
    double output_of(nb::handle x) const {
        const Array<const float, 1> row = row_of(x);
        if (model_.n_outputs != 1) throw nb::value_error("more than one output");
        float y = 0.0f;
        finish({rsk_predict(plan_, row.data(), &y, scratch(0)), false, 0, 0});
        return y;
    }

    uint32_t n_features() const { return model_.n_features; }
    uint32_t n_outputs() const { return model_.n_outputs; }

  private:
    void make_plan(int compact, int isa) {
        nb::gil_scoped_release release; // a plan may take seconds
        if (compact < 0) compact = rsk_plan_nbytes(&model_, 0) > LARGEST_PLAN;
        const size_t nbytes = rsk_plan_nbytes(&model_, compact);
        memory_ = std::make_unique<Aligned>(nbytes);
        check(rsk_plan_make(&model_, compact, isa, memory_->get(), nbytes, &plan_));
    }

    void check_outputs(const Outputs &out, size_t n) const {
        if (out.shape(0) != n || out.shape(1) != model_.n_outputs) throw nb::value_error("outputs have the wrong shape");
    }

    /* NumPy's own arrays only: of a masked one this would read what is masked. */
    Array<const float, 1> row_of(nb::handle x) const {
        Array<const float, 1> row;
        if (Py_TYPE(x.ptr()) != numpy_array || !nb::try_cast(x, row)) throw nb::type_error("not an array of numbers");
        if (row.shape(0) != model_.n_features) throw nb::value_error("wrong number of columns");
        if (reinterpret_cast<uintptr_t>(row.data()) % alignof(float)) throw nb::value_error("not aligned");
        return row;
    }

    Batch batch(size_t n, const Outputs &out, const rsk_rows &rows) const {
        const bool is_wide = std::max(model_.n_values, model_.n_components) > RSK_WIDEST_BLOCK; // read row by row
        return {plan_, is_wide ? 1u : size_t(RSK_LANES), model_.n_outputs, rows, nullptr, false, n, out.data()};
    }

    /* Working memory of this thread, reused by its next call. */
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

    void run(const Batch &batch, int n_threads) const {
        if (n_threads < 1) throw nb::value_error("n_threads must be at least 1");
        finish(predict_in_pieces(batch, size_t(n_threads), scratch(!batch.is_one_by_one)));
    }

    static void finish(const Refusal &refusal) {
        if (refusal.is_csr) throw NotCsr(refusal.row);
        if (refusal.status == RSK_INPUT_NOT_FINITE) throw NotFinite(refusal.row, refusal.column);
        check(refusal.status);
    }

    nb::bytes data_;
    rsk_model model_;
    std::unique_ptr<Aligned> memory_;
    const rsk_plan *plan_ = nullptr;
};

} // namespace

void define_model(nb::module_ &m) {
    numpy_array = reinterpret_cast<PyTypeObject *>(nb::module_::import_("numpy").attr("ndarray").inc_ref().ptr());
    nb::exception<NotFinite>(m, "NotFinite", PyExc_ValueError);
    nb::exception<NotCsr>(m, "NotCsr", PyExc_ValueError);
    // Without conversion a truth value is no number of threads.
    const auto n_threads = nb::arg("n_threads").noconvert() = 1;
    nb::class_<File>(m, "File")
        .def(nb::init<nb::bytes, uint64_t, uint64_t, uint64_t>(), "data"_a, "max_nbytes"_a = 0, "max_memory"_a = 0,
             "max_work"_a = 0)
        .def_prop_ro("status", &File::status)
        /* A copy meets no limits: the file it is of has met them. */
        .def("__reduce__", [](nb::handle self) {
            const nb::bytes data = nb::cast<const File &>(self).data();
            return nb::make_tuple(self.type(), nb::make_tuple(data, UINT64_MAX, UINT64_MAX, UINT64_MAX));
        });
    nb::class_<Model>(m, "Model")
        .def(nb::init<const File &, int, int>(), "file"_a, "compact"_a = -1, "isa"_a = -1)
        .def(nb::init<nb::bytes, size_t, int, int>(), "data"_a, "max_nbytes"_a = 0, "compact"_a = -1, "isa"_a = -1)
        .def("predict", &Model::predict, "x"_a, "out"_a.noconvert(), n_threads)
        .def("predict_sparse", &Model::predict_sparse, "data"_a, "ends"_a, "columns"_a, "out"_a.noconvert(), n_threads)
        .def("predict_row", &Model::predict_row, "x"_a, "out"_a.noconvert())
        .def("predict_each", &Model::predict_each, "x"_a, "out"_a.noconvert())
        .def("output_of", &Model::output_of, "x"_a)
        .def("trace", &Model::trace, "x"_a, "out"_a.noconvert(), "buckets"_a.noconvert(), "accumulators"_a.noconvert(),
             "one_by_one"_a = false)
        .def_prop_ro("n_features", &Model::n_features)
        .def_prop_ro("n_outputs", &Model::n_outputs);
    /* For tests: memory and work that the reader allows for, and the memory that a plan and one thread really take. */
    m.def(
        "file_totals",
        [](nb::bytes data) {
            const rsk_limits limits = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
            rsk_model model;
            check(rsk_open(data.c_str(), data.size(), &limits, &model));
            const rsk_totals totals = rsk_totals_find(&model);
            return nb::make_tuple(totals.memory, totals.work, rsk_memory_count(&model));
        },
        "data"_a);
}
