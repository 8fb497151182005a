// The trainer of stages: owns its memory, checks arrays, and lets other Python threads run while it does.
#include "trainer.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "arrays.h"
#include "rsk_trainer.h"

using namespace nb::literals;

using Values = Array<const int16_t, 2>;
using Matrix = Array<const float, 2>;
using Vector = Array<const float, 1>;

namespace {

template <typename T>
nb::ndarray<nb::numpy, T> owned(std::unique_ptr<T[]> data, std::initializer_list<size_t> shape) {
    T *pointer = data.release();
    nb::capsule owner(pointer, [](void *p) noexcept { delete[] static_cast<T *>(p); });
    return nb::ndarray<nb::numpy, T>(pointer, shape, owner);
}

bool are_finite(const float *numbers, size_t n) {
    return std::all_of(numbers, numbers + n, [](float number) { return std::isfinite(number); });
}

// LabelledRows of data, and the arrays that they point into.
struct LabelledRows {
    Values values;
    Matrix labels;
    std::optional<Matrix> soft_labels;
    std::optional<Vector> weights;

    rsk_trainer_rows get() const {
        return {uint32_t(values.shape(0)), values.data(), labels.data(), soft_labels ? soft_labels->data() : nullptr,
                weights ? weights->data() : nullptr};
    }
};

class Trainer {
  public:
    Trainer(const std::vector<std::vector<uint32_t>> &stages, const std::vector<float> &sparsities,
            const std::vector<uint32_t> &head, uint32_t largest_value, Vector means, Vector deviations,
            const LabelledRows &train, const LabelledRows &validation,
            uint32_t n_steps, uint32_t n_batch, uint32_t loss, float level, float learning_rate, float decay,
            float noise, float mixture, float rounding_from, uint64_t seed, std::optional<Matrix> first_matrix, int isa)
        : means_(means), deviations_(deviations), train_(train), validation_(validation) {
        if (stages.empty() || stages.size() > RSK_TRAINER_MAX_STAGES || sparsities.size() != stages.size() ||
            head.size() != 5)
            throw nb::value_error("1 to 4 stages, each with a sparsity, and five numbers of a head");
        shape_.n_values = uint32_t(train.values.shape(1));
        shape_.n_outputs = uint32_t(train.labels.shape(1));
        shape_.n_stages = uint32_t(stages.size());
        for (size_t k = 0; k < stages.size(); k++) {
            if (stages[k].size() != 5) throw nb::value_error("five numbers of a stage");
            shape_.stages[k] = {stages[k][0], stages[k][1], stages[k][2], stages[k][3], stages[k][4], sparsities[k]};
        }
        shape_.has_rows = head[0];
        shape_.n_levels = head[1];
        shape_.is_factored = head[2];
        shape_.has_linear = head[3];
        shape_.has_offset = head[4];
        shape_.largest_value = largest_value;
        shape_.means = means.data();
        shape_.deviations = deviations.data();
        const rsk_trainer_settings settings = {n_steps, n_batch, loss,    level,         learning_rate,
                                               decay,   noise,   mixture, rounding_from, seed};
        n_batch_ = n_batch;
        n_parameters_ = rsk_trainer_n_parameters(&shape_);
        const auto rows = train_.get(), others = validation_.get();
        const uint64_t nbytes = rsk_trainer_nbytes(&shape_, &settings, rows.n);
        if (n_parameters_ == 0 || nbytes == 0) throw nb::value_error("a shape or a setting that is refused");
        check_arrays();
        check(train_);
        check(validation_);
        const uint32_t width = shape_.stages[0].width;
        if (first_matrix && (first_matrix->shape(0) != shape_.n_values || first_matrix->shape(1) != width ||
                             !are_finite(first_matrix->data(), first_matrix->size())))
            throw nb::value_error("the first matrix must be (values, width), all finite");
        memory_ = std::make_unique<Aligned>(nbytes);
        trainer_ = rsk_trainer_make(&shape_, &settings, &rows, &others, first_matrix ? first_matrix->data() : nullptr,
                                    isa, memory_->get(), nbytes);
        if (!trainer_) throw nb::value_error("no such instruction set, or no validation rows");
    }

    uint32_t run(uint32_t n_steps) {
        nb::gil_scoped_release release;
        return rsk_trainer_run(trainer_, n_steps);
    }

    nb::list checks() const {
        const double *losses;
        const uint32_t *steps;
        nb::list found;
        const uint32_t n = rsk_trainer_checks(trainer_, &losses, &steps);
        for (uint32_t i = 0; i < n; i++) found.append(nb::make_tuple(steps[i], losses[i]));
        return found;
    }

    auto parameters() const { return copy(rsk_trainer_parameters(trainer_)); }

    void set_parameters(Vector parameters) {
        if (parameters.shape(0) != n_parameters_ || !are_finite(parameters.data(), n_parameters_))
            throw nb::value_error("as many parameters as the shape has, all finite");
        std::copy_n(parameters.data(), n_parameters_, rsk_trainer_parameters(trainer_));
    }

    nb::dict rounded() {
        auto integers = std::make_unique<float[]>(n_parameters_);
        rsk_trainer_scales scales;
        rsk_trainer_round(trainer_, integers.get(), &scales);
        nb::list stages;
        for (uint32_t k = 0; k < shape_.n_stages; k++) {
            nb::dict stage;
            const uint32_t width = shape_.stages[k].width;
            auto multipliers = std::make_unique<int32_t[]>(width);
            std::copy_n(scales.multipliers[k], width, multipliers.get());
            stage["multipliers"] = owned(std::move(multipliers), {width});
            stage["right_shift"] = scales.right_shift[k];
            stage["shift_bits"] = scales.shift_bits[k];
            stage["output_step"] = scales.output_step[k];
            stage["linear_step"] = scales.linear_step[k];
            stages.append(stage);
        }
        nb::dict found;
        found["stages"] = stages;
        found["integers"] = owned(std::move(integers), {size_t(n_parameters_)});
        found["counter_step"] = scales.counter_step;
        found["decode_step"] = scales.decode_step;
        found["linear_step"] = scales.head_linear_step;
        return found;
    }

    double mean_loss(const LabelledRows &rows, bool is_rounded) {
        check(rows);
        const auto some = rows.get();
        nb::gil_scoped_release release;
        return rsk_trainer_mean_loss(trainer_, &some, is_rounded);
    }

    auto gradients(const LabelledRows &rows, bool is_rounded) {
        check(rows);
        if (rows.values.shape(0) > n_batch_) throw nb::value_error("more rows than a batch has");
        const auto some = rows.get();
        return copy(rsk_trainer_gradients(trainer_, &some, is_rounded));
    }

    nb::tuple outputs(Values values, bool is_rounded) {
        check_values(values);
        const size_t n = values.shape(0), n_outputs = shape_.n_outputs, n_terms = rsk_trainer_n_terms(trainer_);
        auto found = std::make_unique<float[]>(n * n_outputs);
        auto sums = std::make_unique<int32_t[]>(n_terms * n * n_outputs);
        {
            nb::gil_scoped_release release;
            rsk_trainer_outputs(trainer_, values.data(), uint32_t(n), is_rounded, found.get(), sums.get());
        }
        return nb::make_tuple(owned(std::move(found), {n, n_outputs}),
                              owned(std::move(sums), {n_terms, n, n_outputs}));
    }

  private:
    nb::ndarray<nb::numpy, float> copy(const float *from) const {
        auto numbers = std::make_unique<float[]>(n_parameters_);
        std::copy_n(from, n_parameters_, numbers.get());
        return owned(std::move(numbers), {size_t(n_parameters_)});
    }

    void check_values(const Values &values) const {
        const int32_t largest = int32_t(shape_.largest_value);
        if (values.shape(1) != shape_.n_values || values.shape(0) > UINT32_MAX)
            throw nb::value_error("values must be (rows, values)");
        if (std::any_of(values.data(), values.data() + values.size(),
                        [&](int16_t value) { return value > largest || value < -largest; }))
            throw nb::value_error("a value is beyond the largest");
    }

    void check(const LabelledRows &rows) const {
        check_values(rows.values);
        const size_t n = rows.values.shape(0);
        if (n == 0 || rows.labels.shape(0) != n || rows.labels.shape(1) != shape_.n_outputs ||
            !are_finite(rows.labels.data(), rows.labels.size()))
            throw nb::value_error("labels must be (rows, outputs), all finite");
        if (rows.soft_labels && (rows.soft_labels->shape(0) != n || rows.soft_labels->shape(1) != shape_.n_outputs ||
                                 !are_finite(rows.soft_labels->data(), rows.soft_labels->size())))
            throw nb::value_error("soft labels must have the shape of the labels, all finite");
        if (rows.weights && (rows.weights->shape(0) != n || !are_finite(rows.weights->data(), n)))
            throw nb::value_error("weights must be one finite number a row");
    }

    void check_arrays() const {
        const size_t n_values = shape_.n_values;
        if (means_.shape(0) != n_values || deviations_.shape(0) != n_values || !are_finite(means_.data(), n_values) ||
            !std::all_of(deviations_.data(), deviations_.data() + n_values,
                         [](float deviation) { return deviation > 0.0f && std::isfinite(deviation); }))
            throw nb::value_error("means and deviations must be one finite number a value, deviations above 0");
    }

    rsk_trainer_shape shape_{};
    Vector means_, deviations_;
    LabelledRows train_, validation_;
    uint32_t n_batch_ = 0;
    uint64_t n_parameters_ = 0;
    std::unique_ptr<Aligned> memory_;
    rsk_trainer *trainer_ = nullptr;
};

}  // namespace

void define_trainer(nb::module_ &m) {
    nb::class_<LabelledRows>(m, "TrainerRows")
        .def(
            "__init__",
            [](LabelledRows *self, Values values, Matrix labels, std::optional<Matrix> soft_labels,
               std::optional<Vector> weights) { new (self) LabelledRows{values, labels, soft_labels, weights}; },
            "values"_a, "labels"_a, "soft_labels"_a = nb::none(), "weights"_a = nb::none());
    nb::class_<Trainer>(m, "Trainer")
        .def(nb::init<const std::vector<std::vector<uint32_t>> &, const std::vector<float> &,
                      const std::vector<uint32_t> &, uint32_t, Vector, Vector, const LabelledRows &,
                      const LabelledRows &, uint32_t, uint32_t, uint32_t, float, float, float, float, float, float,
                      uint64_t, std::optional<Matrix>, int>(),
             "stages"_a, "sparsities"_a, "head"_a, "largest_value"_a, "means"_a, "deviations"_a, "train"_a,
             "validation"_a, "n_steps"_a, "n_batch"_a, "loss"_a, "level"_a,
             "learning_rate"_a, "decay"_a, "noise"_a, "mixture"_a, "rounding_from"_a, "seed"_a,
             "first_matrix"_a = nb::none(), "isa"_a = -1)
        .def("run", &Trainer::run, "n_steps"_a)
        .def("checks", &Trainer::checks)
        .def("parameters", &Trainer::parameters)
        .def("set_parameters", &Trainer::set_parameters, "parameters"_a)
        .def("rounded", &Trainer::rounded)
        .def("mean_loss", &Trainer::mean_loss, "rows"_a, "is_rounded"_a)
        .def("gradients", &Trainer::gradients, "rows"_a, "is_rounded"_a)
        .def("outputs", &Trainer::outputs, "values"_a, "is_rounded"_a);
}
