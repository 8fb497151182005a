// Only in builds for tests, with RSK_FAULTS: every operator new of this library is counted, and one of them may fail.
#include "faults.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <system_error>

using namespace nb::literals;

static std::atomic<long> n_allocations{0}, n_starts{0}, failing_allocation{0}, failing_start{0}; // 0: none fails
static std::atomic<bool> is_scribbling{false};

static void *allocate(size_t nbytes, size_t alignment) {
    if (++n_allocations == failing_allocation) throw std::bad_alloc();
    void *memory = nullptr;
    if (posix_memalign(&memory, alignment < sizeof(void *) ? sizeof(void *) : alignment, nbytes ? nbytes : 1) != 0)
        throw std::bad_alloc();
    return memory;
}

void *operator new(size_t nbytes) { return allocate(nbytes, alignof(std::max_align_t)); }
void *operator new[](size_t nbytes) { return allocate(nbytes, alignof(std::max_align_t)); }
void *operator new(size_t nbytes, std::align_val_t alignment) { return allocate(nbytes, size_t(alignment)); }
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete[](void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
void operator delete[](void *memory, size_t) noexcept { std::free(memory); }
void operator delete(void *memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void *memory, size_t, std::align_val_t) noexcept { std::free(memory); }

void before_thread_start() {
    if (++n_starts == failing_start) throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
}

void after_copy(const void *ends, size_t ends_nbytes, const void *columns, size_t columns_nbytes) {
    if (!is_scribbling) return;
    std::memset(const_cast<void *>(ends), 0x5A, ends_nbytes);
    std::memset(const_cast<void *>(columns), 0x5A, columns_nbytes);
}

void define_faults(nb::module_ &m) {
    m.def(
        "fail_at",
        [](long allocation, long start) {
            n_allocations = n_starts = 0;
            failing_allocation = allocation;
            failing_start = start;
        },
        "allocation"_a = 0, "start"_a = 0);
    m.def("scribble", [](bool is_on) { is_scribbling = is_on; }, "is_on"_a);
    m.def("counts", [] { return nb::make_tuple(n_allocations.load(), n_starts.load()); });
}
