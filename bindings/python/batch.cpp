#include "batch.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include "faults.h"

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

// A thread looks up between pieces only: they take a few milliseconds, so that one stops soon when it is told to.
constexpr auto SHORTEST = 4ms, LONGEST = 16ms;
// Looking for signals needs the interpreter's lock, which another thread may keep for 5 ms.
constexpr auto BETWEEN_SIGNALS = 100ms;

/* Who predicts what. Pieces are handed out in order, and each is finished that was handed out: so when a row is
 * refused, every row before it was looked at. */
class Schedule {
  public:
    Schedule(size_t n, size_t unit, size_t n_workers) : n_(n), unit_(unit), n_workers_(n_workers) {}

    /* The next rows, about as many as wanted; fewer towards the end, so that all workers finish together. */
    bool take(size_t wanted, size_t *first, size_t *last) {
        size_t at = next_.load();
        do {
            if (at >= n_ || is_stopped_.load()) return false;
            const size_t share = (n_ - at) / (2 * n_workers_) / unit_ * unit_;
            const size_t piece = n_workers_ == 1 ? wanted : std::min(wanted, std::max(unit_, share));
            *first = at;
            *last = at + std::min(piece, n_ - at);
        } while (!next_.compare_exchange_weak(at, *last));
        return true;
    }

    void stop() { is_stopped_.store(true); }

  private:
    const size_t n_, unit_, n_workers_;
    std::atomic<size_t> next_{0};
    std::atomic<bool> is_stopped_{false};
};

/* One thread's memory and what it found. All is allocated before any thread starts. */
struct Worker {
    std::unique_ptr<Aligned> own; // NULL: the calling thread's
    void *scratch = nullptr;
    std::optional<Csr::Copy> copy;
    Refusal refusal;
    std::exception_ptr failure;
};

Refusal predict_rows(const Batch &batch, const rsk_rows &rows, size_t first, size_t n, void *scratch) {
    Refusal refusal;
    float *out = batch.out + first * batch.n_outputs;
    size_t where[2] = {0, 0};
    if (batch.is_one_by_one) {
        for (size_t i = 0; i < n && refusal.status == RSK_OK; i++) {
            const float *row = static_cast<const float *>(rows.data) + i * rows.stride;
            refusal.status = rsk_predict(batch.plan, row, out + i * batch.n_outputs, scratch);
            where[0] = i;
        }
    } else {
        refusal.status = rsk_predict_batch(batch.plan, &rows, n, out, scratch, nullptr, where);
    }
    refusal.row = first + where[0];
    refusal.column = where[1];
    return refusal;
}

Refusal predict_piece(const Batch &batch, size_t first, size_t last, Worker *worker) {
    if (!batch.csr) {
        rsk_rows rows = batch.rows;
        rows.data = static_cast<const char *>(rows.data) + first * rows.stride * (rows.is_uint8 ? 1 : sizeof(float));
        return predict_rows(batch, rows, first, last - first, worker->scratch);
    }
    Csr::Copy *copy = &*worker->copy;
    for (Refusal refusal; first < last; first += copy->n_rows) {
        batch.csr->copy(first, last - first, copy);
        if (copy->n_rows > 0) refusal = predict_rows(batch, copy->rows, first, copy->n_rows, worker->scratch);
        if (refusal.status != RSK_OK) return refusal;
        if (copy->is_bad) return {RSK_OK, true, first + copy->n_rows, 0};
    }
    return {};
}

/* Predicts until nothing is left. between: called after every piece with the time; false stops all. */
template <typename Between>
void work(const Batch &batch, Schedule *schedule, Worker *worker, const Between &between) noexcept {
    try {
        size_t wanted = batch.unit, first = 0, last = 0;
        auto began = Clock::now();
        while (schedule->take(wanted, &first, &last)) {
            worker->refusal = predict_piece(batch, first, last, worker);
            const auto now = Clock::now();
            if (worker->refusal.status != RSK_OK || worker->refusal.is_csr || !between(now)) {
                schedule->stop();
                return;
            }
            if (now - began < SHORTEST) wanted *= 2;
            else if (now - began > LONGEST) wanted = std::max(batch.unit, wanted / 2 / batch.unit * batch.unit);
            began = now;
        }
    } catch (...) {
        worker->failure = std::current_exception();
        schedule->stop();
    }
}

/* Threads that are joined on every path. */
class Pool {
  public:
    Pool(size_t n, Schedule *schedule) : schedule_(schedule) { threads_.reserve(n); }
    ~Pool() {
        schedule_->stop();
        join();
    }
    /* False where the system has no thread left. */
    template <typename Function>
    bool start(Function function) {
        try {
            before_thread_start();
            threads_.emplace_back(function);
            return true;
        } catch (const std::system_error &) {
            return false;
        }
    }
    void join() {
        for (auto &thread : threads_) thread.join();
        threads_.clear();
    }

  private:
    Schedule *schedule_;
    std::vector<std::thread> threads_;
};

size_t count_workers(const Batch &batch, size_t n_threads) {
    if (n_threads <= 1) return 1;
    const size_t n_units = (batch.n + batch.unit - 1) / batch.unit;
    return std::max(size_t(1), std::min({n_threads, n_units, count_processors(), size_t(RSK_MOST_THREADS)}));
}

/* Runs all workers, this thread among them; true if a handler of a signal raised: the error is set. */
bool run(const Batch &batch, std::vector<Worker> *workers) {
    nb::gil_scoped_release release;
    Schedule schedule(batch.n, batch.unit, workers->size());
    Pool pool(workers->size(), &schedule);
    for (size_t i = 1; i < workers->size(); i++) {
        Worker *worker = &(*workers)[i];
        if (!pool.start([&batch, &schedule, worker] { work(batch, &schedule, worker, [](auto) { return true; }); }))
            break;
    }
    bool is_interrupted = false;
    auto looked = Clock::now();
    work(batch, &schedule, &(*workers)[0], [&](Clock::time_point now) {
        if (now - looked < BETWEEN_SIGNALS) return true;
        nb::gil_scoped_acquire acquire;
        is_interrupted = PyErr_CheckSignals() != 0;
        looked = Clock::now();
        return !is_interrupted;
    });
    pool.join();
    return is_interrupted;
}

} // namespace

Refusal predict_in_pieces(const Batch &batch, size_t n_threads, void *scratch) {
    if (batch.n <= batch.unit && !batch.csr) { // soon done: no clock, no signals
        nb::gil_scoped_release release;
        return predict_rows(batch, batch.rows, 0, batch.n, scratch);
    }
    std::vector<Worker> workers(count_workers(batch, n_threads));
    for (Worker &worker : workers) {
        if (&worker != &workers[0])
            worker.own = std::make_unique<Aligned>(rsk_scratch_nbytes(batch.plan, !batch.is_one_by_one));
        worker.scratch = worker.own ? worker.own->get() : scratch;
        if (batch.csr) worker.copy = batch.csr->room();
    }
    if (run(batch, &workers)) throw nb::python_error();
    Refusal first;
    for (const Worker &worker : workers) {
        if (worker.failure) std::rethrow_exception(worker.failure);
        const Refusal &other = worker.refusal;
        const bool is_refused = other.status != RSK_OK || other.is_csr, none = first.status == RSK_OK && !first.is_csr;
        if (is_refused && (none || other.row < first.row)) first = other;
    }
    return first;
}
