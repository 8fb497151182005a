// Sparse rows as bindings/python/csr.cpp copies and checks them, also behind 2^31 entries.
#include <sys/mman.h>

#include <cstdio>
#include <vector>

#include "csr.h"

static int n_failures = 0;

static void expect(bool is_good, const char *what) {
    if (is_good) return;
    std::printf("%s\n", what);
    n_failures++;
}

/* How many rows are copied before the first bad one. */
template <typename Index>
static size_t copied(const std::vector<Index> &ends, const std::vector<Index> &columns, uint32_t n_features, bool *is_bad) {
    const std::vector<float> data(columns.size(), 1.0f);
    const Csr csr({data.data(), data.size()}, {ends.data(), ends.size(), sizeof(Index)},
                  {columns.data(), columns.size(), sizeof(Index)}, n_features);
    Csr::Copy copy = csr.room();
    csr.copy(0, csr.n_rows(), &copy);
    *is_bad = copy.is_bad;
    for (size_t i = 0; i < size_t(copy.ends[copy.n_rows]); i++)
        expect(copy.columns[i] == int32_t(columns[i]), "a copied column");
    return copy.n_rows;
}

template <typename Index> static void test_rows() {
    bool is_bad = true;
    expect(copied<Index>({0, 2, 2, 5}, {0, 3, 0, 1, 4}, 5, &is_bad) == 3 && !is_bad, "good rows");
    expect(copied<Index>({0, 2, 2, 5}, {0, 4, 0, 1, 4}, 4, &is_bad) == 0 && is_bad, "a column of one too many");
    expect(copied<Index>({0, 2, 2, 5}, {0, 3, 0, 1, 1}, 5, &is_bad) == 2 && is_bad, "a column twice");
    expect(copied<Index>({0, 2, 2, 5}, {0, 3, 2, 1, 4}, 5, &is_bad) == 2 && is_bad, "columns that fall");
    expect(copied<Index>({0, 2, 4, 5}, {0, 3, 3, 4, 2}, 5, &is_bad) == 3 && !is_bad, "columns fall between rows");
    expect(copied<Index>({0, 2, 1, 5}, {0, 3, 0, 1, 4}, 5, &is_bad) == 1 && is_bad, "ends that fall");
    expect(copied<Index>({0, 2, 6}, {0, 3, 0, 1, 4}, 5, &is_bad) == 1 && is_bad, "an end behind the numbers");
    expect(copied<Index>({1, 2, 5}, {0, 3, 0, 1, 4}, 5, &is_bad) == 0 && is_bad, "a first end other than 0");
    expect(copied<Index>({0, 1, 2}, {0, Index(-1)}, 5, &is_bad) == 1 && is_bad, "a negative column");
}

/* Of 8 GiB of columns one page is touched. */
static void test_long() {
    const int64_t begin = (int64_t(1) << 31) + 5, n = begin + 3;
    const std::vector<int64_t> ends = {0, begin, n};
    void *memory = mmap(nullptr, size_t(n) * 4, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        std::printf("no room for 2^31 entries\n");
        return;
    }
    int32_t *columns = static_cast<int32_t *>(memory);
    for (int i = 0; i < 3; i++) columns[begin + i] = 2 * i + 1;
    const float *data = static_cast<const float *>(memory);
    const Csr csr({data, size_t(n)}, {ends.data(), ends.size(), 8}, {columns, size_t(n), 4}, 9);
    Csr::Copy copy = csr.room();
    csr.copy(1, 1, &copy);
    expect(!copy.is_bad && copy.n_rows == 1, "a row behind 2^31 entries");
    expect(copy.rows.data == data + begin && copy.begin == size_t(begin), "where its numbers are");
    for (int i = 0; i < 3; i++) expect(copy.columns[i] == 2 * i + 1, "its columns");
    munmap(memory, size_t(n) * 4);
}

/* Columns and ends beyond 32 bits are not cut to those that fit. */
static void test_wide_indices() {
    bool is_bad = false;
    const int64_t wide = int64_t(1) << 32;
    expect(copied<int64_t>({0, 1, 2}, {0, wide + 1}, 5, &is_bad) == 1 && is_bad, "a column beyond 32 bits");
    expect(copied<int64_t>({0, 1, wide + 2}, {0, 1}, 5, &is_bad) == 1 && is_bad, "an end beyond 32 bits");
}

int main() {
    test_rows<int32_t>();
    test_rows<int64_t>();
    test_wide_indices();
    test_long();
    if (n_failures == 0) std::printf("test_csr: ok\n");
    return n_failures != 0;
}
