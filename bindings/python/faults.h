// Failures on demand, for tests: allocations and thread starts that fail when their turn comes (CMake: RSK_FAULTS).
#pragma once

#include <algorithm>
#include <cstddef>
#include <thread>

#include "arrays.h"

#ifdef RSK_FAULTS
/* Throws std::system_error if this thread start is to fail. */
void before_thread_start();
/* Overwrites the caller's row ends and columns, if a test wants it: what another thread could do at this moment. */
void after_copy(const void *ends, size_t ends_nbytes, const void *columns, size_t columns_nbytes);
/* As many as the tests want threads for, on any machine. */
inline size_t count_processors() { return 4; }
void define_faults(nb::module_ &m);
#else
inline void before_thread_start() {}
inline void after_copy(const void *, size_t, const void *, size_t) {}
inline size_t count_processors() { return std::max(1u, std::thread::hardware_concurrency()); }
inline void define_faults(nb::module_ &) {}
#endif
